"""Logarithm of the weight of the tilted law, against the sum over all paths of values."""

import joint_oracle
import numpy as np
import pytest

from foreknow.models.joint.messages import log_weight
from foreknow.models.joint.problem import JointProblem


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("shown", [False, True])
def test_one_path_with_evidence(order, shown):
    """Four releases with one record each, whose likelihoods are far from 1; the second release shows its value or nothing."""
    rng, m = np.random.default_rng(order), 3
    counts = np.zeros((4, m), dtype=int)
    counts[1, 2] = shown
    arrays = {
        "prior": rng.dirichlet(np.ones(m), 1),
        "tables": tuple(rng.dirichlet(np.ones(m), (1, *(m,) * length)) for length in range(1, order + 1)),
        "path": np.zeros(4, dtype=int),
        "group": np.arange(4),
        "chain": np.zeros(4, dtype=int),
        "counts": counts,
        "release": np.arange(4),
        "evidence": 0.1 * rng.random((4, m)),
        "evidence_row": np.arange(4),
    }
    problem = JointProblem(**arrays)
    found = log_weight(problem.layout, np.ones(problem.layout.value_starts[-1]))
    assert found == pytest.approx(np.log(joint_oracle.joint_law(arrays)[1].sum()))


@pytest.mark.parametrize("row", [0, 1])
def test_a_distorted_value(row):
    """One record that publishes the last of three values: the sum over its own values."""
    rng, nothing = np.random.default_rng(3), np.zeros(1, dtype=int)
    prior, emission = rng.dirichlet(np.ones(3), 1), rng.dirichlet(np.ones(3), (2, 3))
    problem = JointProblem(
        *(prior, (), nothing, nothing, nothing, np.array([[0, 0, 1]]), nothing),
        emission=emission,
        emission_row=np.array([row]),
    )
    found = log_weight(problem.layout, np.array([0.0, 0.0, 0.7]))
    assert found == pytest.approx(np.log(0.7 * prior[0] @ emission[row][:, 2]) - np.log(0.7))
