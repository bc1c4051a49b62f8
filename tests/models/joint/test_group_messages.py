"""Exact counts in each group after the law of maximum entropy: one release, published counts, small histories, calibration."""

import joint_oracle
import numpy as np
import pytest

from foreknow.attacks import JointAttack, SnapshotAttack
from foreknow.defenses import DistinctDiversity, Mondrian, publish
from foreknow.evaluation import exams
from foreknow.models import Adversary, Enumeration, Exact, MaxEntropy, Problem, Status
from foreknow.models.joint import JointProblem
from foreknow.models.joint.group_messages import GroupMessages, member_beliefs


def problems(number, seed=0):
    rng = np.random.default_rng([17, seed])
    return [joint_oracle.random_arrays(rng) for _ in range(number)]


def test_one_release_is_exact():
    simulation = exams(1, 60, rng=1)
    adversary = Adversary(simulation.prior, simulation.transitions, estimator=Exact())
    releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
    found = JointAttack(adversary, GroupMessages())(releases)
    np.testing.assert_allclose(found.posterior(1), SnapshotAttack(adversary)(releases).posterior(1), atol=1e-6)


@pytest.mark.parametrize(("count", "error"), [(2, 1e-12), (8, 0.01)])
def test_a_visited_group_with_too_many_states_has_the_bethe_approximation(count, error):
    """Of 4 values with equal counts: 3^4 = 81 states are computed exactly, 9^4 = 6,561 are more than 2^12."""
    prior, counts = np.random.default_rng(2).dirichlet(np.ones(4), 4 * count), np.full((1, 4), count)
    exact = Exact()(Problem(prior, np.zeros(len(prior), dtype=int), counts)).probabilities
    found = member_beliefs(prior, counts[0])
    np.testing.assert_allclose(found, exact, atol=error)
    assert (np.abs(found - exact).max() > 1e-4) == (count == 8)


def test_a_group_that_publishes_noise_tells_nothing():
    """Published values that do not depend on the own ones: beliefs are priors, and expected counts not the published ones."""
    prior, nothing = np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2, dtype=int)
    problem = JointProblem(
        *(prior, (), np.arange(2), nothing, nothing, np.array([[2, 0]]), np.zeros(1, dtype=int)),
        emission=np.full((1, 2, 2), 0.5),
        emission_row=np.zeros(1, dtype=int),
    )
    posterior = GroupMessages()(problem)
    np.testing.assert_allclose(posterior.rows(np.arange(2)), prior, atol=1e-6)
    assert posterior.gap.tolist() == [0.0]


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
    errors = {MaxEntropy(): [], GroupMessages(): []}
    for arrays in problems(30, seed=1):
        problem = JointProblem(**arrays)
        records = np.arange(len(problem.path))
        if Enumeration(2**20)(problem).status.any():
            continue
        exact = joint_oracle.joint_beliefs(arrays)
        for solver, found in errors.items():
            found.append(np.abs(solver(problem).rows(records) - exact).sum(axis=1).mean() / 2)
    relaxed, default = errors.values()
    assert len(relaxed) > 10
    assert np.mean(default) < 0.7 * np.mean(relaxed)


def pairs(rng, groups, releases=4):
    """Problem of a history in pairs of different values, where each group but the first has one new respondent.

    Each further group has one earlier respondent. So the graph of respondents and groups is a tree.
    """
    m, members, when = 3, [(0, 1)], [0]
    for t in sorted(rng.integers(1, releases, size=groups - 1)):
        there = {i for pair, time in zip(members, when, strict=True) if time == t for i in pair}
        earlier = sorted({i for pair in members for i in pair} - there)
        if earlier:
            members.append((int(rng.choice(earlier)), max(map(max, members)) + 1))
            when.append(int(t))
    _, when = np.unique(when, return_inverse=True)
    people, counts = max(map(max, members)) + 1, np.ones((len(members), m), dtype=int)
    counts[np.arange(len(members)), rng.integers(m, size=len(members))] = 0
    return JointProblem(
        rng.dirichlet(np.ones(m), people),
        (rng.dirichlet(np.ones(m), (1, m)),),
        np.concatenate(members),
        np.repeat(np.arange(len(members)), 2),
        np.zeros(2 * len(members), dtype=int),
        counts,
        when,
    )


def test_log_odds_in_a_pair_are_twice_those_of_maximum_entropy():
    """One release, two members with the odds o and q of the two values, by hand.

    Exact odds of the first are o / q. `MaxEntropy` multiplies both odds by one tilt, 1 / sqrt(o q), so that they become inverse
    to each other; its odds of the first are sqrt(o / q).
    """
    rng = np.random.default_rng(2)
    for _ in range(20):
        problem = pairs(rng, groups=1)
        x, y = np.flatnonzero(problem.counts[0])
        given = np.log(problem.prior[0, x] / problem.prior[0, y]) - np.log(problem.prior[1, x] / problem.prior[1, y])
        for solver, share in ((MaxEntropy(1e-9), 0.5), (GroupMessages(), 1.0)):
            belief = solver(problem).rows(np.array([0]))[0]
            assert np.log(belief[x] / belief[y]) == pytest.approx(share * given, abs=1e-6)


def test_forward_beliefs_are_those_of_the_prefixes():
    """The laws of the prefixes are fitted one from the other, to the tolerance."""
    solver = GroupMessages(tolerance=1e-7)
    simulation = exams(3, 60, rng=1)
    adversary = Adversary(simulation.prior, simulation.transitions)
    releases = publish(simulation.history, Mondrian(DistinctDiversity(2)))
    forward = JointAttack(adversary, solver, hindsight=False)(releases)
    for t, time in enumerate(forward.times):
        prefix = JointAttack(adversary, solver)(releases[: t + 1])
        np.testing.assert_allclose(forward.posterior(time), prefix.posterior(time), atol=1e-5)
