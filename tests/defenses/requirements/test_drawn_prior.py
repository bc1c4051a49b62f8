"""Levels of a requirement over the draws of uncertain knowledge, by hand."""

import numpy as np
import pytest
from strategies import view_of

from foreknow.defenses import GroupPredicate, summarize_groups, summarize_records
from foreknow.defenses.requirements.requirement import bind_draws
from foreknow.defenses.requirements.summary import DrawnPrior

DRAWS = np.array([[[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], [[1, 0], [0, 1], [0.5, 0.5]], [[0, 1], [0, 1], [0, 1]]])
WEIGHTS, FIRST = np.array([0.25, 0.75, 0.0]), np.array([0.5, 0.5, 0.0])
VIEW = view_of("ABC", "aba", domain="ab")


class MeanOfFirst(GroupPredicate):
    """Mean prior of the first value, at least or at most 1/4."""

    bound = 0.25

    def __init__(self, sense):
        self._sense = sense

    @property
    def sense(self):
        return self._sense

    def level(self, summary):
        return summary.prior[:, 0] / summary.size


@pytest.mark.parametrize(
    ("groups", "sense", "expected"),
    [
        ("mean", "at least", [0.25 * 0.5 + 0.75 * 1, 0.25 * 0.5 + 0.75 * 0.25]),
        ("worst", "at least", [0.5, 0.25]),
        ("worst", "at most", [1, 0.5]),
        ("worst", "below", [1, 0.5]),
    ],
)
def test_the_worst_draw_is_the_smallest_level_of_at_least(groups, sense, expected):
    """The third draw has no weight before any release, and is left out of the worst case."""
    assert levels([0, 1, 1], groups, sense) == pytest.approx(expected)


def levels(labels, groups, sense):
    prior = DrawnPrior.of(DRAWS, WEIGHTS, FIRST, groups)
    records = summarize_records(VIEW, prior, members=True)
    return bind_draws(MeanOfFirst(sense), VIEW, prior).level(summarize_groups(records, np.array(labels))).tolist()
