"""Starts from paths: each group drawn given the values before it, and the messages from later releases."""

import itertools

import joint_oracle
import numpy as np
import pytest
from scipy import stats

from foreknow.models import PathSampler
from foreknow.models.joint import JointProblem
from foreknow.models.joint.path_factors import PREVIOUS, path_factors
from foreknow.models.joint.path_sampler import later_messages, path_start

UNPUBLISHED = {
    "prior": np.array([[0.2, 0.5, 0.3]]),
    "tables": (np.array([[[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]]]),),
    "path": np.array([0, 0, 0]),
    "group": np.array([0, 1, 2]),
    "chain": np.array([0, 0, 0]),
    "counts": np.zeros((3, 3), dtype=int),
    "release": np.array([0, 1, 2]),
}
"""One respondent at three releases that publish nothing: the law of the path is the chain."""


def problem_of(arrays):
    return JointProblem(**arrays)


def orders_up_to_one(number):
    rng, found = np.random.default_rng(3), []
    while len(found) < number:
        arrays = joint_oracle.random_arrays(rng)
        if len(arrays["tables"]) < 2:
            found.append(arrays)
    return found


def test_paths_are_drawn_from_the_chain_where_nothing_is_published():
    problem, rng = problem_of(UNPUBLISHED), np.random.default_rng(1)
    later = later_messages(problem)
    drawn = np.array([path_start(problem, later, rng).own for _ in range(4000)])
    prior, table = UNPUBLISHED["prior"][0], UNPUBLISHED["tables"][0][0]
    expected = np.einsum("a,ab,bc->abc", prior, table, table).ravel() * len(drawn)
    observed = np.bincount(drawn @ [9, 3, 1], minlength=27)
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_every_group_shows_its_multiset(seed):
    rng = np.random.default_rng(seed)
    for arrays in orders_up_to_one(40):
        problem = problem_of(arrays)
        start = path_start(problem, later_messages(problem), rng)
        for g in np.flatnonzero(problem.constrained):
            shown = np.bincount(start.own[problem.group == g], minlength=problem.values)
            assert shown.tolist() == problem.counts[g].tolist()
        previous = path_factors(problem).records[:, PREVIOUS]
        assert np.array_equal(start.beside[:, 0], np.where(previous >= 0, start.own[previous], -1))


@pytest.mark.slow
def test_a_group_is_drawn_from_its_exact_law():
    """One release: the probability of each arrangement of a group is in proportion to the product of its members' priors."""
    prior = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.3, 0.3, 0.4]])
    arrays = {
        "prior": prior,
        "tables": (),
        "path": np.arange(3),
        "group": np.zeros(3, dtype=int),
        "chain": np.zeros(3, dtype=int),
        "counts": np.array([[1, 1, 1]]),
        "release": np.array([0]),
    }
    problem, rng = problem_of(arrays), np.random.default_rng(2)
    later = later_messages(problem)
    drawn = [tuple(path_start(problem, later, rng).own.tolist()) for _ in range(4000)]
    orders = list(itertools.permutations(range(3)))
    weight = np.array([prior[np.arange(3), order].prod() for order in orders])
    observed = [drawn.count(order) for order in orders]
    assert stats.chisquare(observed, weight / weight.sum() * len(drawn)).pvalue > 1e-3


@pytest.mark.slow
def test_beliefs_agree_with_enumeration():
    """4,000 draws of two chains: the largest error of a history is below .02 in most, over twice a standard error at most .008."""
    errors = []
    for arrays in orders_up_to_one(25):
        exact = joint_oracle.joint_beliefs(arrays)
        if exact is None:
            continue
        problem = problem_of(arrays)
        posterior = PathSampler(sweeps=2000, chains=2, anneal=20, warmup=50, start="paths", rng=5)(problem)
        errors.append(np.abs(posterior.rows(np.arange(len(problem.path))) - exact).max())
    assert np.median(errors) < 0.02


def test_chains_of_order_two_are_refused():
    rng = np.random.default_rng(0)
    arrays = joint_oracle.random_arrays(rng)
    while len(arrays["tables"]) < 2:
        arrays = joint_oracle.random_arrays(rng)
    with pytest.raises(ValueError, match="PathSampler: start='paths' draws the paths of chains of order 1"):
        PathSampler(start="paths", rng=1)(problem_of(arrays))
