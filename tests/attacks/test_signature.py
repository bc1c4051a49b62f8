"""Signature attack against enumeration of all tables and all orders of records."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import SequentialAttack, SignatureAttack
from foreknow.defenses import publish
from foreknow.defenses.m_invariance import MInvariance
from foreknow.models import Adversary, Exact, Grouping, History, MarkovChain, Problem, Release, Status, UniformPrior
from foreknow.models.joint.signatures import stay_probabilities
from foreknow.models.mechanisms import received_shares, signature_law

STICKY = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]])


def sticky(m=3, stay=0.7):
    return MarkovChain(1, np.full((m, m), (1 - stay) / (m - 1)) + np.eye(m) * (stay - (1 - stay) / (m - 1)))


@st.composite
def moving(draw, values=4, people=8):
    """Two to four views of respondents who come, go, return and change their value; and m."""
    m, held, views = draw(st.integers(1, 3)), {}, []
    for time in range(1, draw(st.integers(2, 4)) + 1):
        present = sorted(draw(st.sets(st.sampled_from("ABCDEFGH"[:people]), min_size=max(m, 2))))
        for who in present:
            if who not in held or draw(st.booleans()):
                held[who] = draw(st.sampled_from("abcd"[:values]))
        ages = [20 + ord(who) for who in present]
        views.append(view_of(present, [held[who] for who in present], [age % 99 for age in ages], time, "abcd"))
    return History(views), m


@settings(max_examples=60)
@given(drawn=moving())
def test_the_truth_is_never_ruled_out(drawn):
    history, m = drawn
    beliefs = SignatureAttack(Adversary(UniformPrior(), sticky(4), estimator=Exact()))(publish(history, MInvariance(m)))
    for belief, view in zip(beliefs, history, strict=True):
        assert (belief.posterior.probabilities[np.arange(len(view)), view.sensitive] > 0).all()
        assert np.allclose(belief.posterior.probabilities.sum(axis=1), 1)
        assert not (belief.posterior.status & Status.CONTRADICTED).any()


def test_a_new_signature_rules_out_the_old_value():
    """A alone shows a and then, with B, a and b; A had a, so that A has b now."""
    first = Release(view_of("AC", "ac"), [0, 1])
    second = Release(view_of("AB", "ba", time=2), [0, 0])
    beliefs = SignatureAttack(Adversary(UniformPrior(), MarkovChain(1, STICKY), estimator=Exact()))([first, second])
    assert np.allclose(beliefs.posterior(2).loc["A"], [0, 1, 0])
    assert (
        SequentialAttack(Adversary(UniformPrior(), MarkovChain(1, STICKY)))([first, second]).posterior(2).loc["A", "a"]
        > 0.7
    )


@pytest.mark.parametrize(("gaps", "steps"), [("ignore", 1), ("power", 2)])
def test_over_a_gap_the_rule_compares_the_values_when_published(gaps, steps):
    """A of the group ab, absent for a release, is with C in a group of ab again; C is new. The share of a and of b is 1."""
    releases = (
        Release(view_of("AB", "ab"), [0, 0]),
        Release(view_of("B", "b", time=2), [0]),
        Release(view_of("AC", "ab", time=3), [0, 0]),
    )
    prior = {"A": [0.6, 0.3, 0.1], "B": [0.3, 0.5, 0.2], "C": [0.2, 0.7, 0.1]}
    adversary = Adversary(
        lambda people: np.array([prior[who] for who in people.respondents]),
        MarkovChain(1, STICKY),
        estimator=Exact(),
        gaps=gaps,
    )
    found = SignatureAttack(adversary)(releases)
    first = np.array([0.6 * 0.5, 0.3 * 0.3])
    first /= first.sum()
    ahead = np.append(first, 0) @ np.linalg.matrix_power(STICKY, steps)
    weights = np.array([ahead[0] * 0.7, ahead[1] * 0.2])
    assert np.allclose(found.posterior(3).loc["A"], [*weights / weights.sum(), 0])


def test_kept_signatures_by_hand():
    """D stays in ab, E is new; of the new records of a, ab received as many as ac did: the shares are known by hand."""
    prior = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    problem = Problem(prior, np.array([0, 0, 1, 1]), np.array([[1, 1, 0], [1, 0, 1]]))
    kept, dealt = np.zeros((4, 3)), np.ones((4, 3))
    kept[0], dealt[0] = [0.9, 0.2, 0], [0.1, 0.8, 1]
    found = signature_law(problem, kept, dealt, Exact()).posterior.probabilities
    # Elsewhere one fresh record of a and none of b; the pseudo-record is halved between ab and ac, and b's is all ab's.
    share = np.array([0.5 / 2, 1.0])
    likelihood = np.array([0.9 + 0.1 * share[0], 0.2 + 0.8 * share[1]])
    ways = np.array([likelihood[0] * share[1], likelihood[1] * share[0]])
    assert np.allclose(found[0, :2], ways / ways.sum())


def test_received_shares_sum_to_one_over_signatures():
    counts = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    fresh = np.array([[0.6, 0.5, 0], [0.4, 0, 1], [0, 0.5, 0]])
    found = received_shares(counts, fresh, np.arange(3))
    # Each group of a signature of its own: none elsewhere, so the pseudo-record over what others received and one.
    assert np.allclose(found[0, :2], [0.5 / 1.4, 0.5 / 1.5])
    assert np.allclose(found[2, 1:], [0.5 / 1.5, 0.5 / 2])


def test_stays_by_bayes():
    belief = np.array([0.2, 0.3, 0.5])
    joint = belief[:, None] * STICKY
    assert np.allclose(stay_probabilities(belief, STICKY), joint.diagonal() / joint.sum(axis=0))
    assert stay_probabilities(np.array([1.0, 0, 0]), np.eye(3)).tolist() == [1, 0, 0]


# --- enumeration of the publisher --------------------------------------------------------------------------------------

RULE = MInvariance(2, deterministic=True)
"""It follows the order of the ages; all orders are equally likely here."""


def groups_of(release):
    """Observation of a release: the members of each group, and the values that it shows."""
    members = [[], *([] for _ in release.counts)]
    for who, group in zip(release.view.people.respondents, release.group, strict=True):
        members[group + 1].append(who)
    return {(tuple(who), tuple(shown)) for who, shown in zip(members[1:], release.counts, strict=True)}


def possible(release):
    """All tables of a release: the members of a group have different values that it shows."""
    ids = release.view.people.respondents
    for values in itertools.product(range(3), repeat=len(ids)):
        true = np.zeros_like(release.counts)
        np.add.at(true, (release.group, list(values)), 1)
        if (true <= release.counts).all():
            yield values, np.argwhere(release.counts - true)


def chance(release, values, past):
    """Share of all orders of the records in which the rule gives exactly these groups."""
    ids, results = release.view.people.respondents, ["abc"[v] for v in values]
    orders = list(itertools.permutations(range(len(ids))))
    hits = 0
    for ages in orders:
        view = view_of(ids, results, ages, release.time)
        hits += groups_of(Release(view, RULE(view, np.full((len(ids), 3), 1 / 3), past))) == groups_of(release)
    return hits / len(orders)


def of_all_tables(releases, prior, step):
    """Beliefs at the second of two releases of the same respondents, over all pairs of tables."""
    first, second = releases
    ids = first.view.people.respondents
    belief = np.zeros((len(ids), 3))
    for before, invented in possible(first):
        was = math.prod(prior[i, v] for i, v in enumerate(before)) * chance(first, before, ())
        if was:
            view = view_of(ids, ["abc"[v] for v in before], time=first.time)
            past = (Release(view, Grouping(first.group, counterfeits=invented)),)
            for now, _ in possible(second):
                weight = (
                    was * math.prod(step[v, w] for v, w in zip(before, now, strict=True)) * chance(second, now, past)
                )
                for i, v in enumerate(now):
                    belief[i, v] += weight
    return belief / belief.sum(axis=1, keepdims=True)


@pytest.mark.slow
def test_nearer_to_all_tables_than_without_the_rule_and_no_other_exclusion():
    prior, attacks = np.tile([0.5, 0.3, 0.2], (4, 1)), {SignatureAttack: [], SequentialAttack: []}
    for tables in (("aabc", "abbc"), ("abca", "acbb")):
        ids = "ABCD"
        releases = publish([view_of(ids, table, time=t) for t, table in enumerate(tables, 1)], RULE)
        expected = of_all_tables(releases, prior, STICKY)
        for attack, errors in attacks.items():
            adversary = Adversary(lambda people: prior[: len(people)], MarkovChain(1, STICKY), estimator=Exact())
            found = attack(adversary)(releases).posterior(2).to_numpy()
            errors.append(np.abs(found - expected).mean())
            assert (found[expected > 0] > 0).all()
    assert np.mean(attacks[SignatureAttack]) < np.mean(attacks[SequentialAttack])


# --- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "match"),
    [
        (
            Release(view_of("ABC", "aab"), [0, 0, 1]),
            "the group 0 of the release at 1 shows 'a' 2 times. Use Sequential",
        ),
        (
            Release(view_of("AB", "ab"), Grouping(np.array([0, 0]), values=np.array([1, 2]))),
            "there are 2 distorted ones",
        ),
    ],
)
def test_a_release_of_another_defense(release, match):
    with pytest.raises(ValueError, match=match):
        SignatureAttack(Adversary(UniformPrior(), MarkovChain(1, STICKY)))([release])


@pytest.mark.parametrize(
    ("transitions", "match"),
    [(None, "order 1; the adversary's are missing"), (MarkovChain(2, np.full((2, 2, 2), 0.5)), "are 2. Truncate")],
)
def test_transitions_of_another_order(transitions, match):
    with pytest.raises(ValueError, match=match):
        SignatureAttack(Adversary(UniformPrior(), transitions))


def test_what_chain_and_rule_rule_out_is_reported():
    """No value changes by the chain, and A has another signature: the signature is not read."""
    releases = (Release(view_of("AB", "ab"), [0, 0]), Release(view_of("AC", "ac", time=2), [0, 0]))
    found = SignatureAttack(Adversary(UniformPrior(), MarkovChain(1, np.eye(3)), estimator=Exact()))(releases)
    assert found.releases[1].posterior.status[0] & Status.CONTRADICTED
    assert np.allclose(found.posterior(2).sum(axis=1), 1)
