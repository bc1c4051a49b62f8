"""Rule of m-invariance in the joint law, against plain loops over all assignments."""

import itertools
import math
import string

import numpy as np
import pytest
from strategies import view_of

from foreknow.attacks import JointAttack, LearnedAttack
from foreknow.models import (
    Adversary,
    Enumeration,
    GroupGraph,
    Grouping,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
    Release,
    Status,
    UniformPrior,
    joint_history,
)
from foreknow.models.joint import JointProblem
from foreknow.models.joint.signatures import read_signatures, signature_rule
from foreknow.models.mechanisms import SignatureLaw

VALUES = "abcd"


def random_history(rng):
    """Releases whose groups show each value once, counterfeits included, of respondents who come, go and return."""
    releases, held = [], {}
    for time in range(1, int(rng.integers(2, 4)) + 1):
        present, labels, values, invented = rng.permutation(5)[: rng.integers(2, 5)].tolist(), [], [], []
        ids = sorted(string.ascii_uppercase[i] for i in present)
        for group, start in enumerate(range(0, len(ids), 2)):
            members = ids[start : start + 2]
            own = [
                held.get(who, int(rng.integers(4))) if rng.random() < 0.6 else int(rng.integers(4)) for who in members
            ]
            if len(set(own)) < len(own):
                own[1] = (own[0] + 1) % 4
            shown = set(own) | {int(rng.integers(4))}
            invented += [(group, value) for value in sorted(shown - set(own))]
            labels += [group] * len(members)
            values += own
            held.update(zip(members, own, strict=True))
        view = view_of(ids, [VALUES[v] for v in values], time=time, domain=VALUES)
        counterfeits = np.array(invented).reshape(-1, 2) if invented else None
        releases.append(Release(view, Grouping(np.array(labels), counterfeits=counterfeits)))
    return releases


def random_laws(rng, releases):
    """Shares of each signature, and laws of the counterfeits of each group."""
    laws = []
    for release in releases:
        by_signature = {}
        for shown in map(tuple, release.counts > 0):
            by_signature.setdefault(shown, rng.random(4))
        shares = np.array([by_signature[tuple(shown)] for shown in release.counts > 0])
        weights = rng.random(release.counts.shape) * (release.counts > 0)
        laws.append(SignatureLaw(None, shares, weights / weights.sum(axis=1, keepdims=True), None, 0.0))
    return laws


def assignments(release):
    """All own values of the members of each group, with the values that remain for the counterfeits."""
    shown = [np.flatnonzero(counts).tolist() for counts in release.counts]
    sizes = np.bincount(release.group, minlength=len(shown)).tolist()
    for each in itertools.product(*(itertools.permutations(s, k) for s, k in zip(shown, sizes, strict=True))):
        rows = [list(group) for group in each]
        own = [rows[g].pop(0) for g in release.group]
        yield own, [(g, v) for g, s in enumerate(shown) for v in s if v not in each[g]]


def weighted_assignments(releases, prior, step, laws):
    """All assignments of all releases with their weights, by the definition of the rule."""
    for joint in itertools.product(*(list(assignments(release)) for release in releases)):
        weight, last = 1.0, {}
        for release, law, (own, invented) in zip(releases, laws, joint, strict=True):
            for who, g, x in zip(release.view.people.respondents, release.group, own, strict=True):
                shown, share = tuple(release.counts[g] > 0), law.shares[g, x]
                if who not in last:
                    weight *= prior[x] * share
                else:
                    before, signature = last[who]
                    weight *= step[before, x] * ((shown == signature) if before == x else share)
                last[who] = (x, shown)
            weight *= np.prod([law.counterfeits[g, v] for g, v in invented])
        yield joint, weight


def by_loops(releases, prior, step, laws):
    """Beliefs of each release, by the definition of the rule."""
    beliefs = [np.zeros((len(release.group), 4)) for release in releases]
    for joint, weight in weighted_assignments(releases, prior, step, laws):
        for belief, (own, _) in zip(beliefs, joint, strict=True):
            belief[np.arange(len(own)), own] += weight
    return [belief / belief.sum(axis=1, keepdims=True) for belief in beliefs]


@pytest.mark.parametrize("seed", range(8))
def test_equals_the_definition(seed):
    rng = np.random.default_rng(seed)
    drawn = (random_history(rng) for _ in range(1000))
    releases = next(r for r in drawn if math.prod(len(list(assignments(one))) for one in r) <= 2000)
    prior = rng.dirichlet(np.ones(4))
    step = rng.dirichlet(np.ones(4), 4)
    laws = random_laws(rng, releases)
    adversary = Adversary(lambda people: np.tile(prior, (len(people), 1)), MarkovChain(1, step))
    history = joint_history(adversary, [release.observation for release in releases])
    found = Enumeration(2**22)(signature_rule(history.problem, laws).under(history.problem))
    for record, expected in zip(history.record, by_loops(releases, prior, step, laws), strict=True):
        np.testing.assert_allclose(found.rows(record), expected, atol=1e-12)


def test_a_new_signature_rules_out_the_old_value_in_hindsight_too():
    """A shows a or c, and then a or b in a group with B: it had c, or has b, and not a twice."""
    first = Release(view_of("AC", "ac"), [0, 0])
    second = Release(view_of("AB", "ba", time=2), [0, 0])
    step = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]])
    attack = JointAttack(Adversary(UniformPrior(), MarkovChain(1, step)), Enumeration(), signatures=True)
    beliefs = attack([first, second])
    # Only a to b remains: c never changes, and a to a keeps the signature.
    assert np.allclose(beliefs.posterior(1).loc["A"], [1, 0, 0])
    assert np.allclose(beliefs.posterior(2).loc["A"], [0, 1, 0])


def test_what_the_rule_rules_out_is_reported():
    """No value changes, and A has another signature."""
    releases = (Release(view_of("AB", "ab"), [0, 0]), Release(view_of("AC", "ac", time=2), [0, 0]))
    beliefs = JointAttack(Adversary(UniformPrior(), MarkovChain(1, np.eye(3))), signatures=True)(releases)
    assert any(belief.posterior.status[0] & Status.CONTRADICTED for belief in beliefs)
    for belief in beliefs:
        assert np.allclose(belief.posterior.probabilities.sum(axis=1), 1)


SETS = np.array([[0, 1], [0, 2], [1, 2]])
"""Signatures of two of three values."""


def law_of_pairs(prior, step, rule):
    """Weight of the value, signature, next value and next signature of one respondent: float array, shape ``(3, 3, 3, 3)``."""
    weight = np.zeros((3, 3, 3, 3))
    for x, s, y, u in itertools.product(range(3), repeat=4):
        if x in SETS[s] and y in SETS[u]:
            again = 1.0 if not rule else float(u == s) if x == y else 0.5
            weight[x, s, y, u] = prior[x] * 0.5 * step[x, y] * again
    return weight


@pytest.mark.slow
def test_knowing_the_rule_gains_what_the_law_says():
    """Respondents alone in a group with a counterfeit, of values and signatures drawn from the rule.

    The log score of each is by hand, with and without the rule. Its expected difference is the relative entropy of the two
    posteriors; the mean over the respondents, who are independent, is within 4 standard errors of it.
    """
    n, prior = 1000, np.array([0.5, 0.3, 0.2])
    step = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
    truth, scores = law_of_pairs(prior, step, rule=True), []
    assert truth.sum() == pytest.approx(1)
    for rule in (True, False):
        weight = law_of_pairs(prior, step, rule)
        with np.errstate(all="ignore"):
            shares = [
                np.log(weight.sum(axis=a, keepdims=True) / weight.sum(axis=(0, 2), keepdims=True)) for a in (2, 0)
            ]
        scores.append(np.where(truth > 0, sum(shares) / 2, 0.0))
    gain = scores[0] - scores[1]
    expected = (truth * gain).sum()
    error = np.sqrt((truth * (gain - expected) ** 2).sum() / n)
    assert expected > 10 * error

    drawn = np.random.default_rng(1).choice(81, p=truth.ravel() / truth.sum(), size=n)
    x, s, y, u = np.unravel_index(drawn, truth.shape)
    shown = np.eye(3, dtype=int)[SETS[np.concatenate([s, u])]].sum(axis=1)
    everyone, invented = np.arange(n), n + np.arange(2 * n)
    problem = JointProblem(
        np.concatenate([np.tile(prior, (n, 1)), np.full((2 * n, 3), 1 / 3)]),
        (step[None],),
        np.stack([np.tile(everyone, 2), invented], axis=1).ravel(),
        np.repeat(np.arange(2 * n), 2),
        np.zeros(4 * n, dtype=int),
        shown,
        np.repeat([0, 1], n),
        respondents=n,
    )
    laws = [SignatureLaw(None, part / 2, part / 2, None, 0.0) for part in np.split(shown, 2)]
    own, values = np.arange(0, 4 * n, 2), np.concatenate([x, y])
    found = [
        np.log(Enumeration()(one).rows(own)[np.arange(2 * n), values]).mean()
        for one in (signature_rule(problem, laws).under(problem), problem)
    ]
    assert abs(found[0] - found[1] - expected) < 4 * error


def test_transitions_of_order_1_are_needed():
    for transitions in (None, MarkovChain(2, np.full((2, 2, 2), 0.5))):
        with pytest.raises(ValueError, match="needs transitions of order 1"):
            JointAttack(Adversary(UniformPrior(), transitions), signatures=True)


def test_releases_of_another_defense():
    release = Release(view_of("ABC", "aab"), [0, 0, 1])
    with pytest.raises(ValueError, match="group 0 of the release at 1 shows 'a' 2 times"):
        JointAttack(Adversary(UniformPrior(), MarkovChain(1, np.eye(3))), signatures=True)([release])


# --- learning ---------------------------------------------------------------------------------------------------------


PSEUDO_COUNT = 0.5


def shares_of(adversary, releases):
    return read_signatures(adversary, [release.observation for release in releases])[1]


def first_shares(releases):
    """Laws of the signatures under the first law of the learning: published shares, and half staying."""
    shown = sum(release.counts.sum(axis=0) for release in releases)
    prior = shown / shown.sum()
    chain = MarkovChain(1, (np.eye(4) + prior) / 2)
    return shares_of(Adversary(lambda people: np.tile(prior, (len(people), 1)), chain), releases)


def maximized(releases, prior, step, laws):
    """One round of expectation-maximization by enumeration, and the penalized log-likelihood before it."""
    first, pairs, total = np.zeros(4), np.zeros((4, 4)), 0.0
    for joint, weight in weighted_assignments(releases, prior, step, laws):
        total, last = total + weight, {}
        for release, (own, _) in zip(releases, joint, strict=True):
            for who, x in zip(release.view.people.respondents, own, strict=True):
                (pairs[last[who]] if who in last else first)[x] += weight
                last[who] = x
    first, pairs = first / total + PSEUDO_COUNT, pairs / total + PSEUDO_COUNT
    density = PSEUDO_COUNT * (np.log(prior).sum() + np.log(step).sum())
    return first / first.sum(), pairs / pairs.sum(axis=1, keepdims=True), np.log(total) + density


def small_history(seed):
    """Releases without a cycle between groups, of few assignments, with a respondent who is published twice."""
    rng = np.random.default_rng(seed)
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((4, 4), 0.25)))
    while True:
        releases = random_history(rng)
        if len(releases) < 2 or math.prod(len(list(assignments(one))) for one in releases) > 2000:
            continue
        again = set(releases[0].view.people.respondents) & set(releases[1].view.people.respondents)
        beliefs = JointAttack(adversary, GroupGraph(), signatures=True)(releases)
        if len(again) > 1 and not any(belief.posterior.status.any() for belief in beliefs):
            return releases


@pytest.mark.parametrize("seed", range(6))
def test_the_learned_law_is_a_maximum_by_enumeration(seed):
    """No round by enumeration changes the law, and its likelihood is higher than at the start."""
    releases = small_history(seed)
    laws = first_shares(releases)
    learned = LearnedKnowledge.fit(
        releases, signatures=True, pseudo_count=PSEUDO_COUNT, tolerance=1e-7, rounds=1000, solver=MaxEntropy(1e-6)
    )
    assert learned.converged
    prior, step = learned.prior.probabilities.ravel(), learned.transitions.probabilities
    again, onward, reached = maximized(releases, prior, step, laws)
    np.testing.assert_allclose(again, prior, atol=1e-5)
    np.testing.assert_allclose(onward, step, atol=1e-5)
    before = -np.inf
    prior, step = np.full(4, 0.25), np.full((4, 4), 0.25)
    for _ in range(3):
        prior, step, objective = maximized(releases, prior, step, laws)
        assert objective >= before - 1e-12
        before = objective
    assert reached > before - 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_with_the_rule_does_not_decrease(seed):
    solver = MaxEntropy(1e-7, rounds=10_000)
    learned = LearnedKnowledge.fit(
        small_history(seed), signatures=True, counts="expected", solver=solver, tolerance=1e-7, rounds=200
    )
    # The solver of a round is as loose as the change of the round before: only late rounds have a precise objective.
    precise = [step.objective for step in learned.trace if step.change < 1e-4]
    assert len(precise) >= 3
    assert (np.diff(precise) > -1e-5).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_learned_attack_is_the_definition_under_the_learned_law(seed):
    releases = small_history(seed)
    learned = LearnedKnowledge.fit(releases, signatures=True)
    found = LearnedAttack(solver=Enumeration(2**22), signatures=True)(releases)
    laws = shares_of(Adversary(learned.prior, learned.transitions), releases)
    expected = by_loops(releases, learned.prior.probabilities.ravel(), learned.transitions.probabilities, laws)
    for belief, own in zip(found, expected, strict=True):
        np.testing.assert_allclose(belief.posterior.probabilities, own, atol=1e-9)
    assert any("the rule of m-invariance is in the law" in note for note in found.notes)


def test_known_values_are_counted_with_the_rule():
    """Groups of one respondent and no counterfeit have the values themselves, with gaps too."""
    rows = ["abca", "abba", "cbba"]
    releases = [Release(view_of("ABCD", row, time=t), [0, 1, 2, 3]) for t, row in enumerate(rows)]
    for gaps in ("ignore", "power"):
        learned, plain = (
            LearnedKnowledge.fit(releases, gaps=gaps, signatures=rule, pseudo_count=0.0) for rule in (True, False)
        )
        assert np.allclose(learned.prior.probabilities, plain.prior.probabilities)
        assert np.allclose(learned.transitions.probabilities, plain.transitions.probabilities, atol=1e-6)


def test_no_respondent_twice_leaves_no_rule():
    beliefs = LearnedAttack(signatures=True)([Release(view_of("AB", "ab"), [0, 0])])
    assert any("No respondent has two published records" in note for note in beliefs.notes)


def test_learning_with_the_rule_takes_order_1():
    release = Release(view_of("AB", "ab"), [0, 0])
    for call in (
        lambda: LearnedKnowledge.fit([release], order=2, signatures=True),
        lambda: LearnedAttack(order=2, signatures=True),
    ):
        with pytest.raises(ValueError, match="signatures=True needs order 1, and it is 2"):
            call()
