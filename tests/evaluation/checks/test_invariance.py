"""The checker of m-invariance, on releases written by hand."""

import numpy as np
import pytest
from strategies import view_of

from foreknow.evaluation.checks.verify import m_invariance
from foreknow.models import Grouping, Release


def release_of(time, ids, results, labels, counterfeits=None):
    return Release(
        view_of(ids, results, time=time, domain="abcd"), Grouping(np.array(labels), counterfeits=counterfeits)
    )


FIRST = release_of(1, "ABCD", "abab", [0, 0, 1, 1])


def verdict(*releases, m=2):
    return m_invariance(releases, m).to_dict("records")


def test_one_release():
    expected = {"time": 1, "groups": 2, "unique": 2, "followed": 0, "kept": 0, "holds": True}
    assert verdict(FIRST) == [expected]


def test_too_few_values():
    assert verdict(FIRST, m=3) == [{"time": 1, "groups": 2, "unique": 0, "followed": 0, "kept": 0, "holds": False}]


def test_a_value_twice():
    assert not verdict(release_of(1, "ABC", "aab", [0, 0, 0]))[0]["holds"]


def test_other_partners_with_the_same_values_are_fine():
    last = verdict(FIRST, release_of(2, "AFGD", "abab", [0, 0, 1, 1]))[-1]
    assert last == {"time": 2, "groups": 2, "unique": 2, "followed": 2, "kept": 2, "holds": True}


def test_another_signature():
    last = verdict(FIRST, release_of(2, "ACBF", "aabc", [0, 1, 1, 0]))[-1]
    assert last == {"time": 2, "groups": 2, "unique": 2, "followed": 3, "kept": 2, "holds": False}


def test_a_counterfeit_fills_a_signature():
    assert not verdict(FIRST, release_of(2, "A", "a", [0]))[-1]["holds"]
    assert verdict(FIRST, release_of(2, "A", "a", [0], np.array([[0, 1]])))[-1]["holds"]
    assert not verdict(FIRST, release_of(2, "A", "a", [0], np.array([[0, 1], [0, 2]])))[-1]["holds"]


def test_respondents_with_a_changed_value_are_not_followed():
    last = verdict(FIRST, release_of(2, "AF", "cd", [0, 0]))[-1]
    assert last == {"time": 2, "groups": 1, "unique": 1, "followed": 0, "kept": 0, "holds": True}


def test_an_absence_or_suppression_is_looked_over():
    away, hidden = release_of(2, "FG", "ab", [0, 0]), release_of(3, "AFG", "aab", [-1, 0, 0])
    back = release_of(4, "AF", "ac", [0, 0])
    assert [row["followed"] for row in verdict(FIRST, away, hidden, back)] == [0, 0, 2, 1]
    assert [row["holds"] for row in verdict(FIRST, away, hidden, back)] == [True, True, True, False]


def test_bad_m():
    with pytest.raises(ValueError, match="m_invariance: m is 0; it is a number of values, 1 or more"):
        m_invariance([FIRST], 0)
