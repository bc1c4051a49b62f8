"""Log-probability of all published counts of a history, against enumeration of all joint assignments."""

import numpy as np
import pytest
from joint_oracle import cohorts, joint_law, random_arrays

from foreknow.models import Enumeration, GroupGraph, GroupMessages, JointAuto, MaxEntropy, PathSampler
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

    def test_the_graph_of_groups_is_exact_without_cycles(self):
        """Histories with gaps, arrivals, claims and groups without counts; the second limit keeps counts by sums over blocks."""
        rng, exact = np.random.default_rng(8), 0
        for _ in range(60):
            arrays = random_arrays(rng)
            if len(arrays["tables"]) > 1 or not len(arrays["path"]) or joint_law(arrays)[1].sum() <= 0:
                continue
            for solver in (GroupGraph(), GroupGraph(limit=6)):
                posterior = solver(JointProblem(**arrays))
                if (posterior.status == 0).all():
                    exact += 1
                    assert posterior.log_evidence == pytest.approx(enumerated(arrays), abs=1e-8)
        assert exact > 30

    @pytest.mark.parametrize("kind", ["closed", "exchanged", "drawn"])
    def test_the_free_energy_of_the_graph_of_groups_is_near_with_cycles(self, kind):
        rng, errors, before = np.random.default_rng(9), [], []
        for _ in range(15):
            problem = JointProblem(**cohorts(rng, 6, 4, 3, kind))
            wanted = joint_log_evidence(Enumeration(2**22)(problem))
            errors.append(joint_log_evidence(GroupGraph()(problem)) - wanted)
            before.append(joint_log_evidence(MaxEntropy()(problem)) - wanted)
        if kind == "closed":
            assert np.abs(errors).max() < 1e-9
        assert np.abs(errors).mean() < 0.1 * np.abs(before).mean()

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
