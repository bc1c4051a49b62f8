"""Pairs of related records in the joint law: each solver that reads them against sums over all assignments, and refusals."""

import joint_oracle
import numpy as np
import pytest

from foreknow.models.joint.enumeration import Enumeration
from foreknow.models.joint.problem import JointProblem, components, first_releases


def all_rows(posterior):
    return posterior.rows(np.arange(len(posterior.problem.path)))


def without(arrays):
    return {name: array for name, array in arrays.items() if not name.startswith("pair")}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("emission", [False, True])
def test_enumeration_is_the_sum_over_all_assignments(seed, emission):
    rng = np.random.default_rng([31, seed])
    for _ in range(30):
        arrays = joint_oracle.related(rng, joint_oracle.random_arrays(rng, emission))
        values, weight = joint_oracle.joint_law(arrays)
        expected = joint_oracle.shares(values, weight, arrays["counts"].shape[1])
        posterior = Enumeration()(JointProblem(**arrays))
        np.testing.assert_allclose(all_rows(posterior), expected, atol=1e-12)
        if not emission:
            assert posterior.log_evidence == pytest.approx(np.log(weight.sum()), abs=1e-9)


def test_a_prefix_keeps_the_pairs_of_its_releases():
    rng = np.random.default_rng(32)
    for _ in range(30):
        problem = JointProblem(**joint_oracle.related(rng, joint_oracle.random_arrays(rng)))
        for t in range(1, problem.releases + 1):
            first = first_releases(problem, t)
            when = problem.release[problem.group[problem.pairs[:, 0]]]
            np.testing.assert_array_equal(first.pairs, problem.pairs[when < t])
        inside = np.concatenate(components(problem))
        assert sorted(inside) == list(range(len(problem.path)))
