"""Predictive checks of releases against tails by hand and by enumeration."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pymc as pm
import pytest
from xarray import DataTree

from foreknow.models import Problem, release_model, release_predictive

PROBLEM = Problem(np.full((5, 2), 0.5), np.array([0, 0, 1, 1, -1]), np.array([[2, 0], [0, 2], [0, 0]]))
"""Two groups that show one value each, and an empty one."""


def test_tails_by_hand():
    """Of four draws, the largest counts of the first value are 1, 2, 2, 2; the published one is 2."""
    draws = np.array([[[1, 1], [1, 1], [0, 0]], *[[[2, 0], [1, 1], [0, 0]]] * 3])
    table = release_predictive(draws, PROBLEM, {"first": lambda counts: counts[:, 0].max(), "groups": len})
    expected = pd.DataFrame(
        {
            "statistic": ["first", "groups"],
            "published": [2.0, 2.0],
            "simulated": [1.75, 2.0],
            "standard_deviation": [math.sqrt(3) / 4, 0.0],
            "tail": [0.75, 1.0],
        }
    )
    pd.testing.assert_frame_equal(table, expected)


def test_the_prior_predictive_of_a_program():
    """Four values drawn with known probabilities .5: the number of distinct values of two groups, by enumeration."""
    model = release_model([PROBLEM], [np.zeros(5, int)], concentration=1e8)
    draws = pm.sample_prior_predictive(2000, model=model, random_seed=1)
    table = release_predictive(draws, [PROBLEM]).set_index("statistic")
    worlds = list(itertools.product([0, 1], repeat=4))
    distinct = np.array([(len(set(world[:2])) + len(set(world[2:]))) / 2 for world in worlds])
    share = np.array([(2 if a == b else 1) / 4 + (2 if c == d else 1) / 4 for a, b, c, d in worlds])
    for name, values, published in (("distinct_values", distinct, 1.0), ("largest_share", share, 1.0)):
        row = table.loc[name]
        assert row["published"] == published
        assert abs(row["simulated"] - values.mean()) < 4 * values.std() / math.sqrt(2000)
        tail = min((values >= published).mean(), (values <= published).mean())
        assert abs(row["tail"] - tail) < 4 * math.sqrt(tail * (1 - tail) / 2000)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.zeros((2, 2)), PROBLEM), ValueError, "draws have shape (2, 2); it ends in (3, 2)"),
        ((np.zeros((4, 1, 2)), PROBLEM), ValueError, "draws have shape (4, 1, 2); it ends in (3, 2)"),
        ((np.full((4, 3, 2), np.nan), PROBLEM), ValueError, "draws hold a number that is no count"),
        ((np.zeros((0, 3, 2)), PROBLEM), ValueError, "there are 2 groups and 0 draws"),
        ((None, PROBLEM), TypeError, "draws is None; it is a DataTree"),
        ((np.zeros((4, 3, 2)), 3), TypeError, "problems is 3; it is a Problem"),
        ((np.zeros((4, 3, 2)), []), ValueError, "problems are of no or several sensitive domains"),
        ((np.zeros((4, 3, 2)), PROBLEM, [len]), TypeError, "statistics is [<built-in function len>]; it is a dict"),
        ((np.zeros((4, 3, 2)), PROBLEM, {"a": 3}), TypeError, "the statistic 'a' is 3; it is a function"),
        ((np.zeros((4, 3, 2)), PROBLEM, {"a": lambda _: np.nan}), ValueError, "the statistic 'a' is no finite number"),
        ((DataTree(), PROBLEM), ValueError, "no variable"),
    ],
)
def test_the_message_says_what_was_found(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        release_predictive(*arguments)
