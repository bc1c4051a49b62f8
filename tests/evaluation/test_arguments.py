"""Errors of measures and figures that are given one release, or another table or other beliefs."""

import numpy as np
import pytest
from strategies import history_of, view_of

from foreknow.attacks import SnapshotAttack
from foreknow.evaluation import (
    Workload,
    adversary_gain,
    average_group_size,
    belief_over_time,
    discernibility,
    gain_over_time,
    gcp,
    kl_loss,
    query_error,
    record_linkage,
    suppressed,
)
from foreknow.evaluation.checks.verify import m_invariance
from foreknow.evaluation.plots.risk_utility import group_sizes
from foreknow.models import Adversary, Release, UniformPrior

RELEASE = Release(view_of("ABC", "abc"), [0, 0, 1])
WORKLOAD = Workload.draw(RELEASE.view, rng=np.random.default_rng(0), queries=1, sanity_bound=1)
HISTORY = history_of(("ABC", "abc"))
BELIEFS = SnapshotAttack(Adversary(UniformPrior()))([Release(HISTORY[0], [0, 0, 1])])


@pytest.mark.parametrize(
    ("measure", "more"),
    [
        (average_group_size, ()),
        (discernibility, ()),
        (gcp, ()),
        (kl_loss, ()),
        (m_invariance, (2,)),
        (query_error, (WORKLOAD,)),
        (record_linkage, ()),
        (suppressed, ()),
    ],
    ids=lambda measure: getattr(measure, "__name__", ""),
)
def test_one_release(measure, more):
    words = rf"{measure.__name__}: releases is .*; it takes several Release( or NoisyRelease)? objects; put a single one into a list\."
    with pytest.raises(TypeError, match=words):
        measure(RELEASE, *more)
    assert len(measure(iter([RELEASE]), *more)) == 1


def test_the_table_of_one_attack():
    with pytest.raises(ValueError, match=r"gain_over_time: the table has no column 'defense'; .* Comparison\.risk"):
        gain_over_time(adversary_gain(BELIEFS, HISTORY))
    titled = adversary_gain(BELIEFS, HISTORY).assign(defense="none", attack="snapshot")
    assert len(gain_over_time(titled).lines) == 2
    with pytest.raises(ValueError, match="has no column 'loss'"):
        gain_over_time(titled, measure="loss")


def test_beliefs_without_a_title():
    one, (other,) = belief_over_time(BELIEFS, HISTORY, "A"), belief_over_time({"title": BELIEFS}, HISTORY, "A")
    assert one.get_title().startswith("Beliefs about respondent A")
    assert other.get_title() == "title"
    assert np.array_equal(one.images[0].get_array(), other.images[0].get_array(), equal_nan=True)
    with pytest.raises(TypeError, match=r"belief_over_time: beliefs is .*; it is a mapping of titles"):
        belief_over_time([BELIEFS], HISTORY, "A")
    with pytest.raises(TypeError, match=r"group_sizes: releases is .*; it is a mapping of titles"):
        group_sizes([RELEASE])
