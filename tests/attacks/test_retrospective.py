"""Retrospective attack against enumeration of all paths of values of one respondent in groups of others."""

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import RetrospectiveAttack, SequentialAttack
from foreknow.models import (
    Adversary,
    ChainByRelease,
    CompromisedRecords,
    DirichletMultinomial,
    EvidenceCascade,
    GivenPrior,
    MarkovChain,
    PosteriorCascade,
    PriorCascade,
    Release,
    RemoveKnown,
    SwapChain,
    UniformPrior,
)

STRANGERS = "STUVWXYZ"
FEWER = settings(max_examples=20)


def rows_of(seed, alike):
    """Prior of all respondents; the others have one row, or a row each."""
    rng = np.random.default_rng(seed)
    rows = {name: rng.dirichlet(np.ones(3)) * 0.97 + 0.01 for name in "AQ" + STRANGERS}
    return rows | ({name: np.full(3, 1 / 3) for name in STRANGERS} if alike else {})


def adversary_of(rows, chain, **settings):
    return Adversary(GivenPrior(pd.DataFrame(rows, index=list("abc")).T), chain, **settings)


def chain_of(seed):
    return MarkovChain(1, np.random.default_rng([seed, 1]).dirichlet(np.full(3, 0.7), size=3))


@st.composite
def followed(draw, longest=4, gaps=False):
    """For each release: None where A is absent; else one or two others who are in no later release, the group's values, and
    whether A is published at all. A is there at the first and the last."""
    seen, names = [], iter(STRANGERS)
    t = draw(st.integers(2, longest))
    for number in range(t):
        if gaps and 0 < number < t - 1 and draw(st.booleans()):
            seen.append(None)
            continue
        others_present = [next(names) for _ in range(draw(st.integers(1, 2)))]
        results = draw(
            st.lists(st.sampled_from("abc"), min_size=len(others_present) + 1, max_size=len(others_present) + 1)
        )
        seen.append((others_present, "".join(results)))
    return seen


def released(seen):
    return [
        Release(view_of(["A", *s[0]], s[1], time=t), np.zeros(len(s[1]), int))
        if s
        else Release(view_of("Q", "a", time=t), [0])
        for t, s in enumerate(seen, 1)
    ]


def likelihood_of(others_present, results, rows):
    """Likelihood of a group for each value of A: the weight of all assignments of the remaining values to the others."""
    found = []
    for s in "abc":
        left = list(results)
        ways = set()
        if s in left:
            left.remove(s)
            ways = set(itertools.permutations(left))
        found.append(
            sum(math.prod(rows[n]["abc".index(v)] for n, v in zip(others_present, way, strict=True)) for way in ways)
        )
    return found


def smoothed(first, tables, likelihoods):
    """Distribution of a respondent's value at every release, given all releases: (t, m); ``tables[i]`` leads into release i."""
    t, m = len(likelihoods), len(first)
    found = np.zeros((t, m))
    for path in itertools.product(range(m), repeat=t):
        weight = first[path[0]] * likelihoods[0][path[0]]
        for i in range(1, t):
            weight *= tables[i][path[i - 1], path[i]] * likelihoods[i][path[i]]
        for i, s in enumerate(path):
            found[i, s] += weight
    return found / found.sum(axis=1, keepdims=True)


class TestOracle:
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    @pytest.mark.parametrize("alike", [True, False])
    @pytest.mark.parametrize("revision", ["product", "filter"])
    @given(seen=followed(gaps=True), seed=st.integers(0, 50))
    @FEWER
    def test_is_forward_backward_over_all_paths(self, gaps, alike, revision, seen, seed):
        rows, chain = rows_of(seed, alike), chain_of(seed)
        found = RetrospectiveAttack(adversary_of(rows, chain, gaps=gaps, revision=revision))(released(seen))
        times = [t for t, s in enumerate(seen, 1) if s or gaps == "power"]
        likelihoods = [likelihood_of(*seen[t - 1], rows) if seen[t - 1] else [1.0] * 3 for t in times]
        expected = smoothed(rows["A"], [chain.probabilities] * len(times), likelihoods)
        for t, row in zip(times, expected, strict=True):
            if seen[t - 1]:
                assert np.allclose(found.posterior(t).loc["A"], row)

    @given(seen=followed(gaps=True), seed=st.integers(0, 50))
    @FEWER
    def test_knowledge_that_grows_leads_into_each_release_as_it_was_known_then(self, seen, seed):
        rows = rows_of(seed, False)
        chains = tuple(chain_of(seed * 100 + i) for i in range(len(seen)))
        adversary = adversary_of(rows, ChainByRelease.of_views(chains, inclusive=True), gaps="power")
        found = RetrospectiveAttack(adversary)(released(seen))
        likelihoods = [likelihood_of(*s, rows) if s else [1.0] * 3 for s in seen]
        expected = smoothed(rows["A"], [chain.probabilities for chain in chains], likelihoods)
        for t, row in enumerate(expected, 1):
            if seen[t - 1]:
                assert np.allclose(found.posterior(t).loc["A"], row)

    @given(seen=followed(), seed=st.integers(0, 50), at=st.integers(0, 3))
    @FEWER
    def test_belief_about_a_suppressed_record_follows_from_releases_before_and_after(self, seen, seed, at):
        """Belief about a release that does not publish A, with a step of the chain at every release."""
        at = at % len(seen)
        rows, chain = rows_of(seed, False), chain_of(seed)
        releases = released(seen)
        view = releases[at].view
        releases[at] = Release(view, np.where(view.people.respondents == "A", -1, 0))
        found = RetrospectiveAttack(adversary_of(rows, chain, gaps="power"))(releases)
        if at == 0:
            return  # a respondent who was never published is not remembered
        likelihoods = [likelihood_of(*s, rows) if t != at else [1.0] * 3 for t, s in enumerate(seen)]
        expected = smoothed(rows["A"], [chain.probabilities] * len(seen), likelihoods)
        for t, row in enumerate(expected, 1):
            assert np.allclose(found.posterior(t).loc["A"], row)

    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_a_release_that_suppresses_a_record_is_no_observation(self, gaps):
        """A is suppressed at 2; as in the papers, the chain leads from 1 to 3 in one step."""
        seen = [(["S"], "ab"), (["T"], "bc"), (["U", "V"], "abc")]
        rows, chain = rows_of(5, False), chain_of(5)
        releases = released(seen)
        releases[1] = Release(releases[1].view, [-1, 0])
        found = RetrospectiveAttack(adversary_of(rows, chain, gaps=gaps))(releases)
        likelihoods = [likelihood_of(*seen[0], rows), [1.0] * 3, likelihood_of(*seen[2], rows)]
        likelihoods = likelihoods if gaps == "power" else likelihoods[::2]
        expected = smoothed(rows["A"], [chain.probabilities] * 3, likelihoods)
        assert np.allclose(found.posterior(1).loc["A"], expected[0])
        assert np.allclose(found.posterior(3).loc["A"], expected[-1])

    def test_respondents_of_one_release_gain_no_evidence(self):
        seen = [(["S"], "ab"), (["T", "U"], "abc"), (["V"], "cc")]
        rows, chain = rows_of(3, False), chain_of(3)
        adversary = adversary_of(rows, chain)
        held, found = (attack(adversary)(released(seen)) for attack in (SequentialAttack, RetrospectiveAttack))
        for t in (1, 2, 3):
            assert np.allclose(held.posterior(t).drop("A"), found.posterior(t).drop("A"))

    def test_by_hand(self):
        """a and b are equally likely at first; a is kept with .9 and b with .6. Later A alone shows a: 9 : 4."""
        chain = MarkovChain(1, np.array([[0.9, 0.1], [0.4, 0.6]]))
        releases = [
            Release(view_of("AS", "ab", domain="ab"), [0, 0]),
            Release(view_of("A", "a", time=2, domain="ab"), [0]),
        ]
        found = RetrospectiveAttack(Adversary(UniformPrior(), chain))(releases)
        assert np.allclose(found.posterior(1).loc["A"], [9 / 13, 4 / 13])
        assert np.allclose(found.posterior(1).loc["S"], 0.5)
        assert np.allclose(found.posterior(2).loc["A"], [1, 0])


class TestWithCompromisedRecords:
    """Three releases of A with others, and a claim about A at the second."""

    SEEN = ((["S"], "ab"), (["T"], "ab"), (["U"], "bc"))

    def found(self, cascade, confidence, estimator=None):
        self.rows, self.chain = rows_of(4, False), chain_of(4)
        frame = pd.DataFrame([("A", "a", 2, confidence)], columns=["respondent", "value", "time", "confidence"])
        known = {"compromised": CompromisedRecords(frame), "cascade": cascade}
        known |= {} if estimator is None else {"estimator": estimator}
        return RetrospectiveAttack(adversary_of(self.rows, self.chain, **known))(released(self.SEEN))

    def expected(self, told):
        likelihoods = [likelihood_of(*s, self.rows) for s in self.SEEN]
        likelihoods[1] = np.array(likelihoods[1]) * told
        return smoothed(self.rows["A"], [self.chain.probabilities] * 3, likelihoods)

    @pytest.mark.parametrize("cascade", [RemoveKnown(), PriorCascade(), EvidenceCascade()], ids=repr)
    def test_a_claim_of_confidence_1_affects_releases_before_and_after(self, cascade):
        found = self.found(cascade, 1.0)
        for t, row in enumerate(self.expected(np.array([1, 0, 0])), 1):
            assert np.allclose(found.posterior(t).loc["A"], row)

    def test_another_claim_affects_its_own_release_and_later_ones(self):
        found = self.found(EvidenceCascade(), 0.9)
        for t, row in enumerate(self.expected(np.array([0.9, 0.05, 0.05])), 1):
            assert t == 1 or np.allclose(found.posterior(t).loc["A"], row)

    def test_another_claim_affects_earlier_releases(self):
        found = self.found(EvidenceCascade(), 0.9)
        assert np.allclose(found.posterior(1).loc["A"], self.expected(np.array([0.9, 0.05, 0.05]))[0])

    def test_evidence_in_the_posterior_affects_earlier_releases(self):
        silent = self.found(PosteriorCascade(), 1e-9, DirichletMultinomial())
        told = self.found(PosteriorCascade(), 0.99, DirichletMultinomial())
        assert np.abs(silent.posterior(1).loc["A"] - told.posterior(1).loc["A"]).max() > 0.01


class TestLaws:
    RECORDS = (
        ("ABCDE", "abcab", [0, 0, 0, 1, 1]),
        ("ABDFG", "bbcaa", [1, 0, 0, 1, -1]),
        ("ABCFG", "cbaac", [2, 0, 2, 0, 2]),
    )

    def released(self):
        return [
            Release(view_of(ids, results, time=t), labels) for t, (ids, results, labels) in enumerate(self.RECORDS, 1)
        ]

    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_beliefs_about_the_last_release_are_the_sequential_attack_s(self, gaps):
        adversary = Adversary(UniformPrior(), chain_of(1), gaps=gaps)
        held, found = (attack(adversary)(self.released()) for attack in (SequentialAttack, RetrospectiveAttack))
        assert np.allclose(held.posterior(3), found.posterior(3), rtol=1e-12, atol=0)
        for t in (1, 2, 3):
            assert held.prior(t).equals(found.prior(t))
            assert held.revised(t).equals(found.revised(t))
        assert not np.allclose(held.posterior(1), found.posterior(1))
        assert [r.posterior.status.tolist() for r in held] == [r.posterior.status.tolist() for r in found]

    def test_one_release_equals_the_sequential_attack(self):
        adversary = Adversary(UniformPrior(), chain_of(1))
        held, found = (attack(adversary)(self.released()[:1]) for attack in (SequentialAttack, RetrospectiveAttack))
        assert np.allclose(held.posterior(1), found.posterior(1), rtol=1e-12, atol=0)

    def test_independent_values_gain_nothing_from_later_releases(self):
        adversary = Adversary(UniformPrior(), MarkovChain(1, np.tile([0.5, 0.3, 0.2], (3, 1))))
        held, found = (attack(adversary)(self.released()) for attack in (SequentialAttack, RetrospectiveAttack))
        for t in (1, 2, 3):
            assert np.allclose(held.posterior(t), found.posterior(t))

    @given(data=st.data(), gaps=st.sampled_from(["ignore", "power"]))
    @FEWER
    def test_rows_are_distributions_under_contradictions(self, data, gaps):
        """Certain priors, chains that keep or change every value, and releases that contradict them."""
        kinds = st.sampled_from([(1, 0, 0), (0, 1, 0), (0.5, 0.5, 0), (1 / 3, 1 / 3, 1 / 3)])
        rows = {name: np.array(data.draw(kinds), dtype=float) for name in "ABC"}
        chain = MarkovChain(1, np.array([data.draw(kinds) for _ in range(3)], dtype=float))
        releases = []
        for t in range(1, data.draw(st.integers(2, 5)) + 1):
            ids = data.draw(st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True))
            results = data.draw(st.lists(st.sampled_from("abc"), min_size=len(ids), max_size=len(ids)))
            labels = data.draw(st.lists(st.integers(-1, 1), min_size=len(ids), max_size=len(ids)))
            releases.append(Release(view_of(ids, results, time=t), np.array(labels)))
        found = RetrospectiveAttack(adversary_of(rows, chain, gaps=gaps))(releases)
        for release in found:
            belief = release.posterior.probabilities
            assert np.isfinite(belief).all()
            assert (belief >= 0).all()
            assert np.allclose(belief.sum(axis=1), 1)

    def test_beliefs_that_later_releases_contradict_are_kept(self):
        """No value changes by the chain, and A shows a, then b: the beliefs about the first release are kept."""
        chain = MarkovChain(1, np.eye(2))
        releases = [Release(view_of("A", r, time=t, domain="ab"), [0]) for t, r in enumerate("ab", 1)]
        found = RetrospectiveAttack(Adversary(UniformPrior(), chain))(releases)
        assert np.allclose(found.posterior(1).loc["A"], [1, 0])
        assert np.allclose(found.posterior(2).loc["A"], [0, 1])


class TestErrors:
    def test_it_needs_transitions(self):
        with pytest.raises(ValueError, match=r"needs transitions of order 1; the adversary's are missing"):
            RetrospectiveAttack(Adversary(UniformPrior()))

    def test_of_order_1(self):
        with pytest.raises(ValueError, match=r"needs transitions of order 1; the adversary's are 2. Truncate"):
            RetrospectiveAttack(Adversary(UniformPrior(), MarkovChain(2, np.full((3, 3, 3), 1 / 3))))
        chains = tuple(MarkovChain(2, np.full((3, 3, 3), 1 / 3)) for _ in range(2))
        with pytest.raises(ValueError, match="of order 1"):
            RetrospectiveAttack(Adversary(UniformPrior(), ChainByRelease.of_views(chains)))

    def test_is_frozen(self):
        attack = RetrospectiveAttack(Adversary(UniformPrior(), chain_of(1)))
        with pytest.raises(dataclasses.FrozenInstanceError):
            attack.adversary = None


@pytest.mark.parametrize("seed", range(30))
def test_a_suppressed_record_is_no_observation_whatever_the_numbers(seed):
    """A record that is not published adds no step of the chain: rounding must not count as evidence."""
    rng = np.random.default_rng(seed)
    chain = MarkovChain(1, rng.dirichlet(np.ones(3), size=3))
    rows = dict(zip("AB", rng.dirichlet(np.ones(3), size=2), strict=True))
    prior = GivenPrior(pd.DataFrame(rows, index=list("abc")).T)
    with_gap = [
        Release(view_of("AB", "ab", time=1), [0, 0]),
        Release(view_of("AB", "ab", time=2), [-1, -1]),
        Release(view_of("AB", "bc", time=3), [0, 0]),
    ]
    attack = RetrospectiveAttack(Adversary(prior, chain))
    one, other = attack(with_gap), attack([with_gap[0], with_gap[2]])
    assert np.allclose(one.posterior(1), other.posterior(1), rtol=0, atol=1e-12)


def test_standard_errors_are_not_carried_back():
    chain = MarkovChain(1, np.full((3, 3), 1 / 3))
    sampled = Adversary(UniformPrior(), chain, estimator=SwapChain(draws=8, rng=np.random.default_rng(1)))
    found = RetrospectiveAttack(sampled)([Release(view_of("ABCDE", "aabbc", time=1), [0] * 5)])
    assert found.releases[0].posterior.standard_error is None
