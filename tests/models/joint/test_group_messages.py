"""Exact counts in each group after the law of maximum entropy: one release, published counts, small histories, calibration."""

import joint_oracle
import numpy as np
import pytest

from foreknow.attacks import JointAttack, SnapshotAttack
from foreknow.defenses import DistinctDiversity, MInvariance, Mondrian, publish
from foreknow.evaluation import exams, log_score
from foreknow.models import Adversary, Enumeration, Exact, JointProblem, MaxEntropy, Status
from foreknow.models.joint.group_messages import GroupMessages


def problems(number, seed=0):
    rng = np.random.default_rng([17, seed])
    return [joint_oracle.random_arrays(rng) for _ in range(number)]


@pytest.mark.parametrize("passes", [0, 1, 3])
def test_one_release_is_exact(passes):
    simulation = exams(1, 60, rng=1)
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Exact())
    releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
    found = JointAttack(adversary, GroupMessages(passes=passes))(releases)
    np.testing.assert_allclose(found.posterior(1), SnapshotAttack(adversary)(releases).posterior(1), atol=1e-6)


def test_beliefs_are_distributions_and_keep_the_published_counts():
    for arrays in problems(20):
        problem = JointProblem(**arrays)
        posterior = GroupMessages()(problem)
        found = posterior.rows(np.arange(len(problem.path)))
        assert (found >= 0).all()
        np.testing.assert_allclose(found.sum(axis=1), 1)
        for g, counts in enumerate(arrays["counts"]):
            if counts.any() and posterior.status[g] == Status.FINE:
                np.testing.assert_allclose(found[arrays["group"] == g].sum(axis=0), counts, atol=1e-6)


def test_nearer_to_the_exact_law_than_maximum_entropy():
    """Mean total variation from enumeration, over histories without contradiction."""
    errors = {MaxEntropy: [], GroupMessages: []}
    for arrays in problems(30, seed=1):
        problem = JointProblem(**arrays)
        records = np.arange(len(problem.path))
        if Enumeration(2**20)(problem).status.any():
            continue
        exact = joint_oracle.joint_beliefs(arrays)
        for kind, found in errors.items():
            found.append(np.abs(kind()(problem).rows(records) - exact).sum(axis=1).mean() / 2)
    assert len(errors[MaxEntropy]) > 10
    assert np.mean(errors[GroupMessages]) < 0.7 * np.mean(errors[MaxEntropy])


def test_the_log_score_in_pairs_is_better_than_that_of_maximum_entropy():
    simulation = exams(5, 200, rng=1)
    adversary = Adversary(simulation.prior, simulation.transitions)
    releases = publish(simulation.history, MInvariance(2, rng=1), rng=np.random.default_rng(1))
    scores = [
        log_score(JointAttack(adversary, solver, signatures=True)(releases), simulation.history)["log_score"].mean()
        for solver in (MaxEntropy(), GroupMessages())
    ]
    assert scores[1] > 0.9 * scores[0]


def test_forward_beliefs_are_those_of_the_prefixes():
    simulation = exams(3, 60, rng=1)
    adversary = Adversary(simulation.prior, simulation.transitions)
    releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
    forward = JointAttack(adversary, GroupMessages(), hindsight=False)(releases)
    for t, time in enumerate(forward.times):
        prefix = JointAttack(adversary, GroupMessages())(releases[: t + 1])
        np.testing.assert_allclose(forward.posterior(time), prefix.posterior(time), atol=1e-9)


@pytest.mark.parametrize("passes", [-1, 1.5, "2", None])
def test_wrong_passes(passes):
    with pytest.raises(ValueError, match="GroupMessages: passes is"):
        GroupMessages(passes=passes)
