"""Differences within groups, against counts by hand."""

import math

import numpy as np
import pytest
from mined_beliefs import GROUPS, TOWNS, VIEW, beliefs_with, mined

from foreknow.attacks import ForegroundAttack, SnapshotAttack
from foreknow.evaluation import greatest_differences
from foreknow.models import Adversary, Exact, Release, UniformPrior


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


def test_by_hand():
    """A B C have .3 .3 .5, D E F .5 .5 .3, and G alone .8."""
    assert only(greatest_differences(beliefs_with(TOWNS))) == {
        "time": 1, "greatest_difference": pytest.approx((0.2 + 0.2 + 0) / 3), "compared": 3, "left_out": 0,
    }  # fmt: skip


def test_records_without_support_are_not_compared():
    """With support 3 only Milan and Rome: no member of G's group; with support 2 and age, A and F, D and E."""
    some = mined(["town"], [0.5, 0.3], min_support=3)
    pairs = mined(["town", "age"], [0.9, 0.4], min_support=2)
    table = greatest_differences(beliefs_with(some, pairs), by_attribute_set=True)
    assert table["attributes"].tolist() == ["town", "town, age"]
    np.testing.assert_allclose(table["greatest_difference"], [(0.2 + 0.2) / 2, (0 + 0.5) / 2])  # A alone; D, E and F
    assert table["left_out"].tolist() == [1, 1]
    whole = only(greatest_differences(beliefs_with(some, pairs)))
    assert whole["greatest_difference"] == pytest.approx((0.2 + 0.2 + 0 + 0.5) / 4)
    assert (whole["compared"], whole["left_out"]) == (4, 2)


def test_of_an_attack_on_all_values_the_set_is_named():
    whole = mined(["town"], [[0.2, 0.3, 0.5], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]], sensitive_set=None)
    found = only(greatest_differences(beliefs_with(whole), {"y", "z"}))
    assert found["greatest_difference"] == pytest.approx((0.3 + 0.3 + 0) / 3)
    with pytest.raises(ValueError, match=r"no one sensitive set; name it, as sensitive_set=\{\.\.\.\}"):
        greatest_differences(beliefs_with(whole))


def test_of_an_attack_on_a_set_it_is_that_set():
    assert only(greatest_differences(beliefs_with(TOWNS), {"x"})) == only(greatest_differences(beliefs_with(TOWNS)))
    with pytest.raises(
        ValueError, match=r"greatest_differences: the set asked for is {'y'}, and the attack was given {'x'}"
    ):
        greatest_differences(beliefs_with(TOWNS), {"y"})


def test_nothing_mined():
    found = only(greatest_differences(beliefs_with()))
    assert (found["compared"], found["left_out"]) == (0, 0)
    assert math.isnan(found["greatest_difference"])


def test_one_signature_has_no_difference():
    single = ForegroundAttack([["town"]], {"x"}, support=3)([Release(VIEW, [-1, -1, 0, 0, 0, -1, -1, -1])])
    assert only(greatest_differences(single))["greatest_difference"] == 0


def test_beliefs_that_mined_nothing():
    counted = SnapshotAttack(Adversary(UniformPrior(), estimator=Exact()))([Release(VIEW, GROUPS)])
    with pytest.raises(TypeError, match="give what a ForegroundAttack returned"):
        greatest_differences(counted)
