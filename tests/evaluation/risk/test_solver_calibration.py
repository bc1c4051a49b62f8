"""Calibration in redrawn worlds: an exact solver is calibrated, others are found, and a world keeps the groups."""

from dataclasses import dataclass, replace

import joint_oracle
import numpy as np
import pandas as pd
import pytest
from joint_oracle import MAX_ASSIGNMENTS
from strategies import history_of

from foreknow.attacks import JointAttack, LearnedAttack, SequentialAttack, SignatureAttack, SnapshotAttack
from foreknow.evaluation import solver_calibration
from foreknow.evaluation.risk.solver_calibration import drawn_values, redrawn_releases
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    CompromisedRecords,
    Enumeration,
    Exact,
    GhostChain,
    GivenPrior,
    Grouping,
    MarkovChain,
    PriorCascade,
    Release,
    joint_history,
)
from foreknow.models.joint.problem import JointProblem

HISTORY = history_of(("ABCDEF", "abbcca"), ("ABCDF", "bbaca"), ("ABCDEF", "cabbca"))
GROUPS = ([0, 0, 1, 1, 2, 2], [3, 1, 3, 1, 1], [1, 0, 1, 0, -1, 0])
RELEASES = tuple(Release(view, labels) for view, labels in zip(HISTORY, GROUPS, strict=True))
ROWS = np.random.default_rng(3).dirichlet(np.ones(3), size=6)
PRIOR = GivenPrior(pd.DataFrame(ROWS, list("ABCDEF"), list("abc")))
CHAIN = MarkovChain(1, np.array([[0.85, 0.1, 0.05], [0.0, 0.8, 0.2], [0.3, 0.1, 0.6]]))
TWICE = MarkovChain(2, np.random.default_rng(4).dirichlet(np.ones(3), size=(3, 3)), shorter=(CHAIN.probabilities,))
KNOWN = CompromisedRecords(
    pd.DataFrame({"respondent": ["A", "B"], "value": ["a", "c"], "time": [1, 3], "confidence": [0.7, 1.0]})
)
ADVERSARY = Adversary(PRIOR, CHAIN)
EXACT = JointAttack(ADVERSARY, Enumeration())
WITH_COUNTERFEITS = (
    Release(HISTORY[0], Grouping(GROUPS[0], counterfeits=[[0, 1], [2, 2], [2, 0]])),
    *RELEASES[1:],
)


@dataclass(frozen=True)
class Changed:
    """An attack whose beliefs are those of another one, raised to a power."""

    attack: JointAttack
    power: float

    @property
    def adversary(self):
        return self.attack.adversary

    def __call__(self, releases):
        found = []
        for each in self.attack(releases):
            raised = each.posterior.probabilities**self.power
            raised /= raised.sum(axis=1, keepdims=True)
            found.append(replace(each, posterior=replace(each.posterior, probabilities=raised)))
        return Beliefs(tuple(found))


# --- an exact posterior is calibrated ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("adversary", "releases", "hindsight"),
    [
        (ADVERSARY, RELEASES, True),
        (ADVERSARY, RELEASES, False),
        (replace(ADVERSARY, gaps="power"), RELEASES, True),
        (Adversary(PRIOR, TWICE), RELEASES, True),
        (Adversary(PRIOR, TWICE, gaps="power"), RELEASES, True),
        (replace(ADVERSARY, compromised=KNOWN, cascade=PriorCascade()), RELEASES, True),
        (ADVERSARY, WITH_COUNTERFEITS, True),
    ],
    ids=["chain", "forward", "steps", "order 2", "order 2, steps", "compromised", "counterfeits"],
)
def test_enumeration_is_calibrated(adversary, releases, hindsight):
    """Standard errors are too small by at most a quarter: members of a group are dependent."""
    attack = JointAttack(adversary, Enumeration(), hindsight=hindsight)
    found = solver_calibration(attack, releases, worlds=150, sure=0.7, rng=1)
    assert found.worlds == 150
    assert found.beliefs == 150 * 16
    assert found.sure > 200
    assert abs(found.z) < 1.25 * 3
    assert abs(found.difference) < 1.25 * 3 * found.standard_error
    assert 0 < found.standard_error < 0.05


def test_an_exact_snapshot_is_calibrated_without_transitions():
    attack = SnapshotAttack(Adversary(PRIOR, estimator=Exact()))
    found = solver_calibration(attack, RELEASES, worlds=150, sure=0.6, rng=1)
    assert abs(found.z) < 1.25 * 3
    assert abs(found.difference) < 1.25 * 3 * found.standard_error


@pytest.mark.parametrize(("power", "sign"), [(3.0, -1), (0.4, 1)], ids=["overconfident", "underconfident"])
def test_wrong_confidence_is_found(power, sign):
    found = solver_calibration(Changed(EXACT, power), RELEASES, worlds=100, sure=0.6, rng=1)
    assert sign * found.z > 4
    assert sign * found.difference > 6 * found.standard_error


def test_evidence_that_is_counted_twice_is_found():
    """The same pair in the same group: the sequential attack takes each release for a new observation of who is who."""
    history = history_of(*[("AB", "ab")] * 4, domain="ab")
    releases = [Release(view, [0, 0]) for view in history]
    stays = MarkovChain(1, np.array([[0.98, 0.02], [0.02, 0.98]]))
    rows = pd.DataFrame([[0.7, 0.3], [0.4, 0.6]], list("AB"), list("ab"))
    adversary = Adversary(GivenPrior(rows), stays, estimator=Exact())
    twice = solver_calibration(SequentialAttack(adversary), releases, worlds=150, sure=0.8, rng=1)
    once = solver_calibration(
        JointAttack(adversary, Enumeration(), hindsight=False), releases, worlds=150, sure=0.8, rng=1
    )
    assert twice.difference < once.difference - 4 * once.standard_error
    assert abs(once.difference) < 4 * once.standard_error


# --- the numbers ------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """An attack that keeps what it was given and found."""

    attack: object
    made: list

    @property
    def adversary(self):
        return self.attack.adversary

    def __call__(self, releases):
        self.made.append((releases, self.attack(releases)))
        return self.made[-1][1]


def test_the_numbers_are_those_of_the_definition():
    seen = Seen(EXACT, [])
    found = solver_calibration(seen, RELEASES, worlds=5, sure=0.7, least=0.1, rng=2)
    sure, right, expected, binomial, scores, entropies, variance = 0, 0, 0.0, 0.0, [], [], 0.0
    apart, apart_scores = {}, {}
    for world, (releases, beliefs) in enumerate(seen.made):
        for release, each in zip(releases, beliefs, strict=True):
            for row, name in enumerate(release.view.people.respondents):
                if release.group[row] < 0:
                    continue
                belief, true, key = each.posterior.probabilities[row], release.view.sensitive[row], (world, name)
                logs = [np.log2(max(p, 0.1)) for p in belief]
                scores.append(logs[true])
                entropies.append(sum(p * log for p, log in zip(belief, logs, strict=True)))
                variance += sum(p * log**2 for p, log in zip(belief, logs, strict=True)) - entropies[-1] ** 2
                apart_scores[key] = apart_scores.get(key, 0.0) + scores[-1] - entropies[-1]
                if max(belief) >= 0.7:
                    hit = int(np.argmax(belief) == true)
                    sure, right, expected = sure + 1, right + hit, expected + max(belief)
                    binomial += max(belief) * (1 - max(belief))
                    apart[key] = apart.get(key, 0.0) + hit - max(belief)
    assert len(seen.made) == 5
    assert (found.sure, found.right, found.beliefs) == (sure, right, len(scores))
    deviation = max(binomial, sum(each**2 for each in apart.values())) ** 0.5
    error = max(variance, sum(each**2 for each in apart_scores.values())) ** 0.5 / len(scores)
    assert found.expected == pytest.approx(expected)
    assert found.z == pytest.approx((right - expected) / deviation)
    assert (found.log_score, found.expected_log_score) == pytest.approx((np.mean(scores), np.mean(entropies)))
    assert (found.difference, found.standard_error) == pytest.approx((np.mean(scores) - np.mean(entropies), error))


def test_nothing_published_and_nothing_uncertain():
    hidden = [Release(HISTORY[0], [-1] * 6)]
    found = solver_calibration(EXACT, hidden, worlds=2, rng=1)
    assert (found.beliefs, found.sure, found.z, found.log_score, found.standard_error) == (0, 0, 0.0, 0.0, 0.0)
    assert solver_calibration(EXACT, [], worlds=2, rng=1).beliefs == 0
    alone = solver_calibration(EXACT, [Release(HISTORY[0], range(6))], worlds=3, rng=1)
    assert (alone.sure, alone.right, alone.expected, alone.z, alone.difference) == (18, 18, 18.0, 0.0, 0.0)


# --- worlds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("releases", [RELEASES, WITH_COUNTERFEITS])
def test_a_world_keeps_groups_and_counts_drawn_values(releases):
    history, rng = joint_history(ADVERSARY, [each.observation for each in releases]), np.random.default_rng(1)
    for _ in range(20):
        for old, new in zip(releases, redrawn_releases(history, releases, rng), strict=True):
            assert new.time == old.time
            assert np.array_equal(new.group, old.group)
            assert np.array_equal(new.counts.sum(axis=1), old.counts.sum(axis=1))
            assert new.observation.people == old.observation.people
            assert new.observation.distorted == 0
            own = np.zeros_like(new.counts)
            np.add.at(own, (new.group[new.group >= 0], new.view.sensitive[new.group >= 0]), 1)
            assert (new.counts >= own).all()
            invented = old.grouping.counterfeits
            numbers = np.bincount([] if invented is None else invented[:, 0], minlength=len(own))
            assert np.array_equal((new.counts - own).sum(axis=1), numbers)


def test_values_follow_prior_chain_and_claims():
    """Shares of the values of A at the first release, and of the pairs of values of A, among 1,500 worlds."""
    known = replace(ADVERSARY, compromised=replace(KNOWN, contradicted="report"), cascade=PriorCascade())
    history, rng = joint_history(known, [each.observation for each in RELEASES]), np.random.default_rng(1)
    drawn = np.array(
        [[release.view.sensitive[0] for release in redrawn_releases(history, RELEASES[:2], rng)] for _ in range(1500)]
    )
    prior = PRIOR(HISTORY[0].people)[0]
    first = 0.3 * prior + 0.7 * np.array([1, 0, 0])
    law = first[:, None] * CHAIN.probabilities
    found = np.bincount(drawn @ [3, 1], minlength=9).reshape(3, 3) / len(drawn)
    assert np.all(np.abs(found - law) < 4 * np.sqrt(law * (1 - law) / len(drawn)) + 1e-9)


def test_draws_follow_the_law_of_the_paths():
    """Shares of each value among 2,000 draws, and those by enumeration without multisets: order 0 to 2, claims, zeros."""
    rng, furthest, seen = np.random.default_rng(1), 0.0, set()
    while len(seen) < 12:
        arrays = joint_oracle.random_arrays(rng)
        arrays["counts"] = np.zeros_like(arrays["counts"])
        exact = (
            joint_oracle.joint_beliefs(arrays)
            if joint_oracle.number_of_assignments(arrays) <= MAX_ASSIGNMENTS
            else None
        )
        if exact is not None:
            problem = JointProblem(**arrays)
            drawn = np.array([drawn_values(problem, rng) for _ in range(2000)])
            found = (drawn[:, :, None] == np.arange(problem.values)).mean(axis=0)
            assert np.all(found[exact == 0] == 0)
            deviation = np.sqrt(np.maximum(exact * (1 - exact), 0) / len(drawn)) + 1e-9
            furthest = max(furthest, np.abs((found - exact) / deviation).max())
            seen.add((problem.order, len(problem.evidence), len(problem.path)))
    assert {order for order, *_ in seen} == {0, 1, 2}
    assert max(claims for _, claims, _ in seen) > 0
    assert 1 < furthest < 5


def test_the_seed_decides_and_the_truth_does_not():
    first = solver_calibration(EXACT, RELEASES, worlds=3, rng=5)
    assert first == solver_calibration(EXACT, RELEASES, worlds=3, rng=np.random.default_rng(5))
    assert first != solver_calibration(EXACT, RELEASES, worlds=3, rng=6)
    other = history_of(("ABCDEF", "cccaab"), ("ABCDF", "acbbc"), ("ABCDEF", "aabcba"))
    published = [Release(view, labels) for view, labels in zip(other, GROUPS, strict=True)]
    assert first == solver_calibration(EXACT, published, worlds=3, rng=5)


def test_progress_sees_each_world():
    seen = []
    solver_calibration(EXACT, RELEASES, worlds=3, rng=1, progress=lambda worlds: map(seen.append, worlds))
    assert seen == [0, 1, 2]


# --- what cannot be redrawn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attack", "error", "text"),
    [
        (LearnedAttack(), TypeError, "the adversary of the attack is None"),
        (JointAttack(Averaged([ADVERSARY, ADVERSARY])), TypeError, "not Averaged"),
        (JointAttack(ADVERSARY, signatures=True), ValueError, "m-invariance"),
        (SignatureAttack(ADVERSARY), ValueError, "m-invariance"),
    ],
)
def test_attacks_without_a_law_of_their_own(attack, error, text):
    with pytest.raises(error, match=text):
        solver_calibration(attack, RELEASES, rng=1)


def test_distorted_values_are_refused_unless_they_are_taken_as_true():
    shown = Grouping(GROUPS[0], values=[0, 2, 1, 2, 2, 0])
    distorted = [Release(HISTORY[0], shown)]
    with pytest.raises(ValueError, match=r"Release\(release.view, release.group\)"):
        solver_calibration(EXACT, distorted, rng=1)
    ignored = JointAttack(replace(ADVERSARY, distortion="ignored"), Enumeration())
    plain = [Release(HISTORY[0], GROUPS[0])]
    assert solver_calibration(ignored, distorted, rng=1) == solver_calibration(ignored, plain, rng=1)


def test_ghosts_are_refused():
    people = replace(HISTORY[0].people, respondents=np.array([f"gone {i}" for i in range(6)], dtype=object))[:1]
    with_ghost = Release(HISTORY[0], Grouping(GROUPS[0], counterfeits=[[0, 1, 0]], places=people))
    known = JointAttack(replace(ADVERSARY, mechanism=GhostChain()), Enumeration())
    with pytest.raises(ValueError, match="solver_calibration: the releases have ghosts"):
        solver_calibration(known, [with_ghost], rng=1)


@pytest.mark.parametrize("option", [{"worlds": 0}, {"sure": 1.5}, {"least": 0}, {"rng": "seed"}, {"progress": 3}])
def test_options_are_checked(option):
    with pytest.raises((TypeError, ValueError), match="solver_calibration"):
        solver_calibration(EXACT, RELEASES, **option)
