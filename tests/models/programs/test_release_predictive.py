"""Predictive checks of releases against tails by hand and by enumeration."""

import itertools
import math
import re

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from xarray import DataTree

from foreknow.models import Problem, release_model
from foreknow.models.programs import release_predictive

PROBLEM = Problem(np.full((5, 2), 0.5), np.array([0, 0, 1, 1, -1]), np.array([[2, 0], [0, 2], [0, 0]]))
"""Two groups that show one value each, and an empty one."""


def test_tails_by_hand():
    """Of four draws, the largest counts of the first value are 1, 2, 2, 2; the published one is 2."""
    draws = np.array([[[1, 1], [1, 1], [0, 0]], *[[[2, 0], [1, 1], [0, 0]]] * 3])
    table = release_predictive(draws, PROBLEM, {"first": lambda counts: counts[:, 0].max(), "groups": len})
    expected = pd.DataFrame(
        {
            "statistic": ["first", "groups"],
            "published_statistic": [2.0, 2.0],
            "simulated_mean": [1.75, 2.0],
            "simulated_deviation": [math.sqrt(3) / 4, 0.0],
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
        assert row["published_statistic"] == published
        assert abs(row["simulated_mean"] - values.mean()) < 4 * values.std() / math.sqrt(2000)
        tail = min((values >= published).mean(), (values <= published).mean())
        assert abs(row["tail"] - tail) < 4 * math.sqrt(tail * (1 - tail) / 2000)


SIMULATED = np.array([[[1, 1], [1, 1], [0, 0]], [[2, 0], [1, 1], [0, 0]]])
"""Two draws: the mean number of distinct values of a group is 2 and 1.5."""


def tree_of(group="posterior_predictive", **variables):
    """A DataTree as PyMC returns it, with one chain."""
    return az.from_dict({group: {name: each[None] for name, each in variables.items()}})


def distinct(tree, **settings):
    return release_predictive(tree, PROBLEM, **settings).set_index("statistic").loc["distinct_values", "simulated_mean"]


class TestNameOfTheVariable:
    def test_published_is_preferred(self):
        assert distinct(tree_of(other=SIMULATED[[0, 0]], published=SIMULATED)) == 1.75

    def test_another_name_is_found_by_its_shape(self):
        assert distinct(tree_of("prior_predictive", registry=np.zeros(2), multisets=SIMULATED)) == 1.75

    def test_the_variable_is_named(self):
        tree = tree_of(own=SIMULATED[[0, 0]], published=SIMULATED)
        assert distinct(tree, variable="own") == 2

    def test_a_program_with_a_name_of_its_own(self):
        with pm.Model() as model:
            pm.Multinomial("shown", n=[2, 2, 0], p=np.full((3, 2), 0.5), observed=PROBLEM.counts)
        interpreted = {"mode": Mode(linker="py", optimizer=None)}
        draws = pm.sample_prior_predictive(20, model=model, random_seed=1, compile_kwargs=interpreted)
        drawn = draws["prior_predictive"]["shown"].values.reshape(-1, 3, 2)[:, :2]
        assert distinct(draws) == pytest.approx((drawn > 0).sum(axis=2).mean())

    @pytest.mark.parametrize(
        ("tree", "variable", "message"),
        [
            (tree_of(a=SIMULATED, b=SIMULATED), None, "no variable 'published'. It has the shape (..., 3, 2)"),
            (tree_of(a=np.zeros(2)), None, "of the variables 'a', none has this shape"),
            (tree_of(a=SIMULATED, b=SIMULATED), None, "those of this shape are 'a', 'b'. Name one by variable="),
            (tree_of(a=SIMULATED), "b", "no variable 'b'"),
            (DataTree(), None, "neither posterior_predictive nor prior_predictive"),
        ],
    )
    def test_no_variable_or_several(self, tree, variable, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            release_predictive(tree, PROBLEM, variable=variable)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.zeros((2, 2)), PROBLEM), ValueError, "draws have shape (2, 2); it ends in (3, 2)"),
        ((np.zeros((4, 1, 2)), PROBLEM), ValueError, "draws have shape (4, 1, 2); it ends in (3, 2)"),
        ((np.zeros((4, 3, 2)), []), ValueError, "problems are of no or several sensitive domains"),
    ],
)
def test_the_message_says_what_was_found(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        release_predictive(*arguments)
