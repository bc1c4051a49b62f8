"""Log-probability of all published counts of a history, against enumeration of all joint assignments."""

import numpy as np
import pytest
from joint_oracle import joint_law, random_arrays

from foreknow.models import Enumeration, GroupMessages, JointAuto, MaxEntropy, PathSampler
from foreknow.models.joint import JointProblem, joint_log_evidence


def enumerated(arrays):
    return np.log(joint_law(arrays)[1].sum())


class TestJointLogEvidence:
    @pytest.mark.parametrize("solver", [Enumeration(), JointAuto()])
    def test_exact_solvers_have_that_of_enumeration(self, solver):
        rng = np.random.default_rng(3)
        for _ in range(40):
            arrays = random_arrays(rng)
            if joint_law(arrays)[1].sum() > 0:
                assert joint_log_evidence(solver(JointProblem(**arrays))) == pytest.approx(enumerated(arrays), abs=1e-8)

    def test_one_release_is_exact_by_maximum_entropy(self):
        rng = np.random.default_rng(4)
        prior = rng.dirichlet(np.ones(3), 4)
        problem = JointProblem(
            prior, (), np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, int), [[1, 1, 0], [0, 1, 1]], [0, 0]
        )
        wanted = joint_log_evidence(Enumeration()(problem))
        assert joint_log_evidence(MaxEntropy(1e-9)(problem)) == pytest.approx(wanted, abs=1e-6)

    def test_maximum_entropy_is_near_in_small_histories(self):
        rng = np.random.default_rng(5)
        errors = []
        while len(errors) < 40:
            arrays = random_arrays(rng)
            if joint_law(arrays)[1].sum() > 1e-9:
                errors.append(joint_log_evidence(MaxEntropy(1e-6)(JointProblem(**arrays))) - enumerated(arrays))
        assert np.median(np.abs(errors)) < 0.3

    @pytest.mark.parametrize("solver", [PathSampler(sweeps=20, chains=1, rng=1), GroupMessages()])
    def test_a_solver_without_evidence_is_completed_by_maximum_entropy(self, solver):
        rng = np.random.default_rng(6)
        problem = JointProblem(**random_arrays(rng))
        assert joint_log_evidence(solver(problem)) == pytest.approx(joint_log_evidence(MaxEntropy()(problem)))
