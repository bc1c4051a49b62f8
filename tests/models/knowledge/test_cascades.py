"""Cascades against their definitions, written out over all assignments of a group."""

import itertools
import math

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import problems, view_of

from foreknow.attacks import SequentialAttack
from foreknow.models import (
    ESTIMATORS,
    Adversary,
    CompromisedRecords,
    DirichletMultinomial,
    EvidenceCascade,
    Exact,
    Grouping,
    MarkovChain,
    Memory,
    PosteriorCascade,
    PriorCascade,
    Problem,
    RandomWorlds,
    Release,
    RemoveKnown,
    Status,
    UniformPrior,
)
from foreknow.models.estimators import ConfidenceSum
from foreknow.models.knowledge.compromised_records import Claims

UNSURE = {
    "prior": PriorCascade(),
    "as printed": PriorCascade(normalized=False),
    "posterior": PosteriorCascade(),
    "to the letter": PosteriorCascade(keep_stated=True),
    "evidence": EvidenceCascade(),
}
CASCADES = {"remove": RemoveKnown()} | UNSURE
READS_EVIDENCE = {"dirichlet-multinomial", "mixed"}
PAIRS = [
    pytest.param(cascade, estimator, id=f"{name}-{estimator}")
    for name, cascade in CASCADES.items()
    for estimator in ESTIMATORS
    if estimator in READS_EVIDENCE
    or name == "remove"
    or (estimator == "exact" and name in ("prior", "as printed", "evidence"))
]
"""Removal with every estimator; the others, whose sure claims go the same way, with two, or the one that can serve."""

FEWER = settings(max_examples=15)

LEVELS = (1e-6, 0.02, 0.1, 0.25, 1 / 3, 0.5, 0.8, 0.95, 1 - 1e-9)


# --- plain definitions ------------------------------------------------------------------------------------------------


def worlds(counts):
    """All assignments of a group's published values, equal ones distinguished: a tuple of values for each."""
    shown = [s for s, n in enumerate(counts) for _ in range(n)]
    return list(itertools.permutations(shown))


def shares(k, m, weighed):
    """Share of the weight of the worlds in which each respondent has each value; ``weighed`` are (world, weight)."""
    belief = np.zeros((k, m))
    for world, weight in weighed:
        for i, s in enumerate(world):
            belief[i, s] += weight
    return belief / sum(weight for _, weight in weighed)


def dirichlet_by_worlds(prior, counts, worth=None, concentration=1.0):
    """The three steps of BayFrame: the parameter of a world is a plus the claims that it matches; the best worlds share one draw.

    ``worth`` is {(person, value): pseudo-count}.
    """
    listed = worlds(counts)
    confidences = [sum(prior[i][s] for i, s in enumerate(world)) for world in listed]
    level = max(confidences) - 1e-12 * len(prior)
    draw = 1 / sum(c >= level for c in confidences)
    matched = [sum((worth or {}).get(pair, 0.0) for pair in enumerate(world)) for world in listed]
    weights = [
        concentration + known + (draw if c >= level else 0) for known, c in zip(matched, confidences, strict=True)
    ]
    return shares(len(prior), len(counts), list(zip(listed, weights, strict=True)))


def definition_6(prior, counts, stated, keep_stated):
    """Confidence of each claim: {(person, value): confidence}, of ``stated`` = {person: {value: CR}} within a group."""
    worth = {}
    for person, claims in stated.items():
        over = {s: c for s, c in claims.items() if c > prior[person][s] + 1e-12}
        if any(c < prior[person][s] - 1e-12 for s, c in claims.items()):
            rest = [s for s, n in enumerate(counts) if n and s not in claims]
            if rest:
                left, believed = 1 - sum(claims.values()), sum(prior[person][s] for s in rest)
                derived = {s: left * (prior[person][s] / believed if believed else 1 / len(rest)) for s in rest}
                derived = {s: c for s, c in derived.items() if c > prior[person][s] + 1e-12}
                over = derived | (over if keep_stated or not derived else {})
        worth |= {(person, s): c for s, c in over.items()}
    return worth


def likelihood(claims, m):
    """Likelihood of the claims about one respondent for each value: ``claims`` = {value: CR}."""
    others = m - len(claims)
    return [claims.get(s, (1 - sum(claims.values())) / others if others else 0.0) for s in range(m)]


def joint_posterior(prior, counts, stated):
    """Bayes over worlds and claims at once."""
    m = len(counts)
    said = {person: likelihood(claims, m) for person, claims in stated.items()}
    weighed = [
        (w, math.prod(prior[i][s] * (said[i][s] if i in said else 1.0) for i, s in enumerate(w)))
        for w in worlds(counts)
    ]
    return shares(len(prior), m, weighed)


# --- what is drawn ----------------------------------------------------------------------------------------------------


def claims_of(stated):
    """The same as arrays."""
    listed = [(row, s, c) for row, claims in stated.items() for s, c in claims.items()]
    rows, values, confidence = zip(*listed, strict=True) if listed else ((), (), ())
    return Claims(np.array(rows, dtype=np.int64), np.array(values, dtype=np.int64), np.array(confidence, dtype=float))


@st.composite
def unsure(draw, problem, equal=True):
    """Claims about some respondents, several about one; some equal the prior, and some leave no probability for other values."""
    n, m = problem.prior.shape
    stated = {}
    for row in draw(st.lists(st.integers(0, n - 1), max_size=4, unique=True)):
        values = draw(st.lists(st.integers(0, m - 1), min_size=1, max_size=3, unique=True))
        claims = {}
        for s in values:
            left = 1 - sum(claims.values())
            believed = [problem.prior[row, s]] if equal else []
            possible = [c for c in [*LEVELS, *believed] if 0 < c < 1 and c <= left]
            if possible:
                claims[s] = float(draw(st.sampled_from(possible)))
        if claims:
            stated[row] = claims
    return stated


@st.composite
def surely(draw, problem, fitting=True):
    """Claims of confidence 1 about some respondents; fitting ones agree with an assignment of the groups."""
    truth = np.full(len(problem.group), -1)
    for j, counts in enumerate(problem.counts):
        truth[problem.group == j] = draw(st.permutations(np.repeat(np.arange(len(counts)), counts).tolist()))
    m = problem.counts.shape[1]
    rows = draw(st.lists(st.integers(0, len(truth) - 1), max_size=4, unique=True))
    chosen = [int(truth[row]) if fitting and truth[row] >= 0 else draw(st.integers(0, m - 1)) for row in rows]
    return dict(zip(rows, chosen, strict=True))


def sure_claims(known):
    return claims_of({row: {s: 1.0} for row, s in known.items()})


def softened(problem):
    """The same problem with positive priors."""
    m = problem.prior.shape[1]
    return Problem(0.9 * problem.prior + 0.1 / m, problem.group, problem.counts)


def posterior(cascade, estimator, problem, claims):
    """Both moments of a cascade."""
    revised = Problem(cascade.revise(problem.prior, claims), problem.group, problem.counts)
    return cascade.posterior(revised, claims, estimator)


def assert_distributions(belief):
    assert np.isfinite(belief).all()
    assert (belief >= 0).all()
    assert np.allclose(belief.sum(axis=1), 1, atol=1e-9)


def within(problem, stated):
    """For each group: its rows, its counts, and the claims about its members, by position."""
    for j, counts in enumerate(problem.counts):
        rows = np.flatnonzero(problem.group == j)
        yield rows, counts, {i: stated[row] for i, row in enumerate(rows) if row in stated}


# --- sure claims ------------------------------------------------------------------------------------------------------

DEFINITIONS = {
    "random-worlds": oracle.share_posterior,
    "confidence-sum": oracle.sum_posterior,
    "omega": oracle.omega_posterior,
    "exact": oracle.product_posterior,
    "dirichlet-multinomial": dirichlet_by_worlds,
    "mixed": dirichlet_by_worlds,
}


class TestRemoveKnown:
    @pytest.mark.parametrize(("cascade", "name"), [pair for pair in PAIRS if pair.values[1] in DEFINITIONS])
    @given(data=st.data())
    @FEWER
    def test_is_the_group_without_the_person_and_one_such_value(self, cascade, name, data):
        problem = softened(data.draw(problems(largest=4, groups=2)))
        known = data.draw(surely(problem))
        found = posterior(cascade, ESTIMATORS[name](), problem, sure_claims(known))
        assert (found.status == Status.FINE).all()
        for row, s in known.items():
            assert np.array_equal(found.probabilities[row], np.eye(problem.counts.shape[1])[s])
        for rows, counts, _ in within(problem, {}):
            others = [row for row in rows if row not in known]
            left = counts - np.bincount([known[row] for row in rows if row in known], minlength=len(counts))
            if others:
                expected = DEFINITIONS[name](problem.prior[others], left)
                assert np.allclose(found.probabilities[others], expected, rtol=1e-9, atol=1e-12)
        outside = [row for row in np.flatnonzero(problem.group < 0) if row not in known]
        assert np.allclose(found.probabilities[outside], problem.prior[outside], rtol=1e-12)

    @given(data=st.data())
    def test_with_exact_it_is_a_one_hot_row(self, data):
        problem = softened(data.draw(problems()))
        known = data.draw(surely(problem))
        prior = problem.prior.copy()
        for row, s in known.items():
            prior[row] = np.eye(prior.shape[1])[s]
        expected = Exact()(Problem(prior, problem.group, problem.counts))
        found = posterior(RemoveKnown(), Exact(), problem, sure_claims(known))
        assert np.allclose(found.probabilities, expected.probabilities, rtol=1e-9, atol=1e-12)

    def test_with_other_estimators_it_is_more(self):
        """A has a with certainty, so that B has b: removal gives this, and a share of one half or a sum does not."""
        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]))
        for estimator in (RandomWorlds(), ConfidenceSum(), DirichletMultinomial()):
            told = Problem(np.array([[1.0, 0.0], [0.5, 0.5]]), problem.group, problem.counts)
            assert estimator(told).probabilities[1, 1] < 0.9
            found = posterior(RemoveKnown(), estimator, problem, sure_claims({0: 0}))
            assert np.array_equal(found.probabilities, np.eye(2))

    def test_takes_only_what_is_sure(self):
        with pytest.raises(ValueError, match=r"confidence 0.9, and RemoveKnown takes only 1. Use PriorCascade"):
            RemoveKnown().revise(np.full((1, 2), 0.5), claims_of({0: {0: 0.9}}))

    @pytest.mark.parametrize(("cascade", "estimator"), PAIRS)
    def test_a_group_of_which_all_members_are_known(self, cascade, estimator):
        problem = Problem(np.full((5, 3), 1 / 3), np.array([0, 1, 0, 1, -1]), np.array([[1, 1, 0], [0, 1, 1]]))
        found = posterior(cascade, ESTIMATORS[estimator](), problem, sure_claims({0: 1, 2: 0}))
        assert np.array_equal(found.probabilities[[0, 2]], [[0, 1, 0], [1, 0, 0]])
        assert np.allclose(found.probabilities[[1, 3]], [[0, 0.5, 0.5]] * 2)
        assert found.status.tolist() == [Status.FINE, Status.FINE]

    @pytest.mark.parametrize(("cascade", "estimator"), PAIRS)
    @pytest.mark.parametrize("known", [{0: 0, 1: 0}, {1: 2}, {0: 0, 1: 1, 2: 1}])
    def test_claims_that_do_not_fit_are_reported(self, cascade, estimator, known):
        """Two claims of a value shown once, or of a value not shown; the other group is as without claims."""
        problem = Problem(np.full((5, 3), 1 / 3), np.array([0, 0, 0, 1, 1]), np.array([[1, 2, 0], [0, 1, 1]]))
        if known == {0: 0, 1: 1, 2: 1}:
            problem = Problem(problem.prior, problem.group, np.array([[2, 1, 0], [0, 1, 1]]))
        found = posterior(cascade, ESTIMATORS[estimator](), problem, sure_claims(known))
        assert found.status[0] & Status.CONTRADICTED
        assert not found.status[1] & Status.CONTRADICTED
        assert_distributions(found.probabilities)
        assert np.allclose(found.probabilities[3:], [[0, 0.5, 0.5]] * 2)

    @pytest.mark.parametrize("cascade", CASCADES)
    def test_counterfeits_stay_in_the_group(self, cascade):
        """A, B, C and one invented record; C surely has c: A and B share a, b, c with one unknown member."""
        release = Release(view_of("ABC", "abc"), Grouping(np.array([0, 0, 0]), counterfeits=np.array([[0, 2]])))
        known = CompromisedRecords(
            pd.DataFrame([("C", "c", 1, 1.0)], columns=["respondent", "value", "time", "confidence"])
        )
        adversary = Adversary(
            UniformPrior(), compromised=known, estimator=DirichletMultinomial(), cascade=CASCADES[cascade]
        )
        found, _ = adversary.observe(Memory(), release.observation)
        assert np.allclose(found.probabilities, [[1 / 3] * 3, [1 / 3] * 3, [0, 0, 1]])


# --- the four ways ----------------------------------------------------------------------------------------------------


class TestPriorCascade:
    @given(data=st.data())
    def test_equation_5_with_the_law_carried_through(self, data):
        problem = data.draw(problems())
        stated = data.draw(unsure(problem))
        found = PriorCascade().revise(problem.prior, claims_of(stated))
        for row, before in enumerate(problem.prior):
            claims = stated.get(row, {})
            left = 1 - sum(claims.values())
            expected = [claims.get(s, 0.0) + left * p for s, p in enumerate(before)]
            assert np.allclose(found[row], expected, atol=1e-12)

    @given(data=st.data())
    def test_equation_5_as_printed_and_divided_by_its_sum(self, data):
        problem = data.draw(problems())
        stated = data.draw(unsure(problem))
        found = PriorCascade(normalized=False).revise(problem.prior, claims_of(stated))
        for row, before in enumerate(problem.prior):
            expected = list(before)
            for s, c in stated.get(row, {}).items():
                expected[s] = c * 1 + (1 - c) * before[s]
            assert np.allclose(found[row], np.array(expected) / sum(expected), atol=1e-12)

    def test_one_claim_by_hand(self):
        """CR .6 over (.5, .3, .2): .8 .12 .08; as printed .8 .3 .2 over 1 + .6 (1 - .5) = 1.3."""
        prior, claims = np.array([[0.5, 0.3, 0.2]]), claims_of({0: {0: 0.6}})
        assert np.allclose(PriorCascade().revise(prior, claims), [[0.8, 0.12, 0.08]])
        assert np.allclose(PriorCascade(normalized=False).revise(prior, claims), [[0.8 / 1.3, 0.3 / 1.3, 0.2 / 1.3]])

    @given(data=st.data())
    def test_a_claim_only_raises_its_belief(self, data):
        problem = data.draw(problems())
        row, s = (
            data.draw(st.integers(0, len(problem.prior) - 1)),
            data.draw(st.integers(0, problem.prior.shape[1] - 1)),
        )
        claims = claims_of({row: {s: data.draw(st.sampled_from(LEVELS))}})
        for cascade in (PriorCascade(), PriorCascade(normalized=False)):
            assert cascade.revise(problem.prior, claims)[row, s] >= problem.prior[row, s] - 1e-15

    @pytest.mark.parametrize("name", DEFINITIONS)
    @given(data=st.data())
    def test_the_posterior_is_the_estimator_s_under_that_prior(self, name, data):
        problem = softened(data.draw(problems(largest=4, groups=2)))
        stated = data.draw(unsure(problem))
        found = posterior(PriorCascade(), ESTIMATORS[name](), problem, claims_of(stated)).probabilities
        for rows, counts, claims in within(problem, stated):
            prior = problem.prior[rows].copy()
            for i, said in claims.items():
                prior[i] = [said.get(s, 0.0) + (1 - sum(said.values())) * p for s, p in enumerate(prior[i])]
            assert np.allclose(found[rows], DEFINITIONS[name](prior, counts), rtol=1e-8, atol=1e-9)


class TestPosteriorCascade:
    @pytest.mark.parametrize("keep_stated", [False, True])
    @pytest.mark.parametrize("concentration", [1.0, 0.3])
    @given(data=st.data())
    def test_is_definition_6_over_all_assignments(self, keep_stated, concentration, data):
        problem = data.draw(problems(groups=2))
        stated = data.draw(unsure(problem))
        cascade = PosteriorCascade(keep_stated)
        found = posterior(cascade, DirichletMultinomial(concentration), problem, claims_of(stated)).probabilities
        for rows, counts, claims in within(problem, stated):
            worth = definition_6(problem.prior[rows], counts, claims, keep_stated)
            expected = dirichlet_by_worlds(problem.prior[rows], counts, worth, concentration)
            assert np.allclose(found[rows], expected, rtol=1e-9, atol=1e-12)
        outside = problem.group < 0
        assert np.allclose(found[outside], problem.prior[outside], rtol=1e-12)

    @given(data=st.data())
    def test_with_a_claim_of_confidence_1_beside(self, data):
        problem = data.draw(problems(largest=4, groups=2))
        known = data.draw(surely(problem))
        stated = {row: claims for row, claims in data.draw(unsure(problem)).items() if row not in known}
        claims = claims_of(stated | {row: {s: 1.0} for row, s in known.items()})
        found = posterior(PosteriorCascade(), DirichletMultinomial(), problem, claims).probabilities
        for rows, counts, _ in within(problem, stated):
            others = [row for row in rows if row not in known]
            left = counts - np.bincount([known[row] for row in rows if row in known], minlength=len(counts))
            if not others:
                continue
            prior, said = problem.prior[others], {i: stated[row] for i, row in enumerate(others) if row in stated}
            worth = definition_6(prior, left, said, False)
            expected = dirichlet_by_worlds(prior, left, worth)
            assert np.allclose(found[others], expected, rtol=1e-9, atol=1e-12)

    def believed(self, claims, keep_stated=False, row=(0.2, 0.1, 0.3, 0.4), counts=(1, 1, 1, 1)):
        """Pseudo-counts that reach an estimator when four people have one prior and claims are about the first."""
        seen = []

        def estimator(problem):
            seen.append(problem.evidence)
            return DirichletMultinomial()(problem)

        problem = Problem(np.tile(row, (4, 1)), np.zeros(4, int), np.array([counts]))
        posterior(PosteriorCascade(keep_stated), estimator, problem, claims_of({0: claims}))
        assert not seen[0][1:].any()
        return seen[0][0]

    def test_a_claim_above_the_revised_prior_is_matched(self):
        assert self.believed({0: 0.21}) == pytest.approx([0.21, 0, 0, 0])
        assert self.believed({0: 0.21, 1: 0.5}) == pytest.approx([0.21, 0.5, 0, 0])

    def test_a_claim_equal_to_it_says_nothing(self):
        assert self.believed({0: 0.2}) == pytest.approx([0, 0, 0, 0])
        assert self.believed({0: 0.2, 1: 0.5}) == pytest.approx([0, 0.5, 0, 0])

    def test_a_claim_below_it_speaks_for_the_others(self):
        """.9 remains for b, c and d, in the ratio 1 : 3 : 4."""
        assert self.believed({0: 0.1}) == pytest.approx([0, 0.9 / 8, 2.7 / 8, 3.6 / 8])

    def test_the_others_are_those_that_the_group_shows(self):
        """.9 remains for b and d, in the ratio 1 : 4."""
        assert self.believed({0: 0.1}, counts=(2, 1, 0, 1)) == pytest.approx([0, 0.9 / 5, 0, 3.6 / 5])

    def test_where_none_of_the_others_was_believed_they_are_alike(self):
        found = self.believed({0: 0.4}, row=(0.5, 0, 0.5, 0), counts=(2, 1, 0, 1))
        assert found == pytest.approx([0, 0.3, 0, 0.3])

    def test_what_was_stated_of_other_values_goes_or_stays(self):
        """a below and b above: .4 remains for c and d, in the ratio 3 : 4; neither is over its prior."""
        assert self.believed({0: 0.1, 1: 0.5}, keep_stated=True) == pytest.approx([0, 0.5, 0, 0])
        # .85 is left over: c .85 * 3/7 = .364 > .3, d .486 > .4.
        assert self.believed({0: 0.03, 1: 0.12}) == pytest.approx([0, 0, 0.85 * 3 / 7, 0.85 * 4 / 7])
        assert self.believed({0: 0.03, 1: 0.12}, True) == pytest.approx([0, 0.12, 0.85 * 3 / 7, 0.85 * 4 / 7])

    def test_a_strong_claim_is_not_forgotten_for_a_weak_one_beside_it(self):
        """b has .8; a claim of .19 for a, whose prior is .2, should not undo it (the remaining .01 has no effect)."""
        assert self.believed({1: 0.8}) == pytest.approx([0, 0.8, 0, 0])
        assert self.believed({0: 0.19, 1: 0.8})[1] == pytest.approx(0.8)

    @pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in READS_EVIDENCE])
    @pytest.mark.parametrize("cascade", ["posterior", "to the letter"])
    def test_an_estimator_that_cannot_read_it_says_so(self, cascade, name):
        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]))
        with pytest.raises(ValueError, match=r"evidence .* cannot read it.*DirichletMultinomial.*PriorCascade"):
            posterior(CASCADES[cascade], ESTIMATORS[name](), problem, claims_of({0: {0: 0.9}}))


class TestEvidenceCascade:
    @given(data=st.data())
    def test_is_bayes_over_assignments_and_claims(self, data):
        problem = softened(data.draw(problems(groups=2)))
        stated = data.draw(unsure(problem))
        found = posterior(EvidenceCascade(), Exact(), problem, claims_of(stated))
        for rows, counts, claims in within(problem, stated):
            assert np.allclose(
                found.probabilities[rows], joint_posterior(problem.prior[rows], counts, claims), rtol=1e-8, atol=1e-10
            )

    @given(data=st.data())
    def test_the_prior_is_bayes_person_by_person(self, data):
        problem = softened(data.draw(problems()))
        stated = data.draw(unsure(problem))
        found = EvidenceCascade().revise(problem.prior, claims_of(stated))
        for row, before in enumerate(problem.prior):
            weighed = before * likelihood(stated.get(row, {}), len(before))
            assert np.allclose(found[row], weighed / weighed.sum(), atol=1e-12)

    @given(data=st.data())
    def test_it_commutes_with_the_release(self, data):
        """For the respondent of the claim, the posterior without the claim times its likelihood is the posterior with it."""
        problem = softened(data.draw(problems()))
        stated = data.draw(unsure(problem).filter(lambda stated: len(stated) >= 1))
        row = min(stated)
        stated = {row: stated[row]}
        before = Exact()(problem).probabilities[row] * likelihood(stated[row], problem.prior.shape[1])
        assume(before.sum() > 1e-9)
        after = posterior(EvidenceCascade(), Exact(), problem, claims_of(stated)).probabilities[row]
        assert np.allclose(after, before / before.sum(), rtol=1e-8, atol=1e-10)

    @given(data=st.data(), m=st.integers(2, 5))
    def test_of_a_guess_nothing_is_learned(self, data, m):
        row = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=m, max_size=m)))
        prior = (row / row.sum())[None]
        s = data.draw(st.integers(0, m - 1))
        assert np.allclose(EvidenceCascade().revise(prior, claims_of({0: {s: 1 / m}})), prior)
        assert EvidenceCascade().revise(prior, claims_of({0: {s: 0.9 / m}}))[0, s] < prior[0, s]
        assert EvidenceCascade().revise(prior, claims_of({0: {s: 1.1 / m}}))[0, s] > prior[0, s]

    def test_by_hand(self):
        """CR .6 over (.5, .3, .2), the others .2 each: .3 .06 .04 over .4. Two claims .5 and .3 leave .2 for c."""
        prior = np.array([[0.5, 0.3, 0.2]])
        assert np.allclose(EvidenceCascade().revise(prior, claims_of({0: {0: 0.6}})), [[0.75, 0.15, 0.1]])
        found = EvidenceCascade().revise(prior, claims_of({0: {0: 0.5, 1: 0.3}}))
        assert np.allclose(found, np.array([[0.25, 0.09, 0.04]]) / 0.38)

    def test_a_claim_that_the_prior_rules_out(self):
        """b or c for sure, and only a was possible: the claim is believed, rows are still probabilities."""
        found = EvidenceCascade().revise(np.array([[1.0, 0, 0], [0.2, 0.3, 0.5]]), claims_of({0: {1: 0.75, 2: 0.25}}))
        assert np.allclose(found, [[0, 0.75, 0.25], [0.2, 0.3, 0.5]])
        # Only nearly ruled out, Bayes holds to the letter.
        found = EvidenceCascade().revise(np.array([[1.0, 0, 0]]), claims_of({0: {1: 0.9999}}))
        assert np.array_equal(found, [[1, 0, 0]])


@pytest.mark.parametrize("cascade", ["prior", "evidence"])
@given(data=st.data())
def test_nearly_sure_is_nearly_removed_under_exact(cascade, data):
    """Other values keep 1e-12 of their weight, and each of at most 24 worlds weighs over .02 ** 4: the error is below 1e-3."""
    problem = softened(data.draw(problems(largest=4, groups=2)))
    row = data.draw(st.integers(0, len(problem.group) - 1))
    shown = problem.counts[problem.group[row]] if problem.group[row] >= 0 else np.ones(problem.prior.shape[1], int)
    s = data.draw(st.sampled_from(np.flatnonzero(shown).tolist()))
    expected = posterior(RemoveKnown(), Exact(), problem, sure_claims({row: s}))
    found = posterior(CASCADES[cascade], Exact(), problem, claims_of({row: {s: 1 - 1e-12}}))
    assert np.allclose(found.probabilities, expected.probabilities, atol=1e-3)


# --- laws of all ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cascade", "estimator"), PAIRS)
class TestConformance:
    @given(data=st.data())
    @FEWER
    def test_rows_are_distributions_whatever_is_claimed(self, cascade, estimator, data):
        problem = data.draw(problems(largest=4, groups=2))
        stated = {row: {s: 1.0} for row, s in data.draw(surely(problem, fitting=data.draw(st.booleans()))).items()}
        if not isinstance(cascade, RemoveKnown):
            stated = data.draw(unsure(problem)) | stated
        claims = claims_of(stated)
        before = problem.prior.copy()
        revised = cascade.revise(problem.prior, claims)
        assert np.array_equal(problem.prior, before)
        assert_distributions(revised)
        found = posterior(cascade, ESTIMATORS[estimator](), problem, claims)
        assert_distributions(found.probabilities)
        assert found.status.shape == (len(problem.counts),)

    @given(problem=problems(largest=4, groups=2))
    @FEWER
    def test_no_claims_change_nothing(self, cascade, estimator, problem):
        found = posterior(cascade, ESTIMATORS[estimator](), problem, claims_of({}))
        expected = ESTIMATORS[estimator]()(problem)
        assert np.array_equal(cascade.revise(problem.prior, claims_of({})), problem.prior)
        assert np.allclose(found.probabilities, expected.probabilities, rtol=1e-12, atol=1e-15)
        assert np.array_equal(found.status, expected.status)

    @given(data=st.data())
    @FEWER
    def test_other_groups_learn_nothing(self, cascade, estimator, data):
        problem = data.draw(problems(largest=4, groups=3))
        j = data.draw(st.integers(0, len(problem.counts) - 1))
        known = {row: s for row, s in data.draw(surely(problem)).items() if problem.group[row] == j}
        found = posterior(cascade, ESTIMATORS[estimator](), problem, sure_claims(known))
        expected = ESTIMATORS[estimator]()(problem)
        others = problem.group != j
        assert np.allclose(found.probabilities[others], expected.probabilities[others], rtol=1e-12, atol=1e-15)

    @given(data=st.data())
    @FEWER
    def test_the_order_of_claims_does_not_matter(self, cascade, estimator, data):
        problem = data.draw(problems(largest=4, groups=2))
        stated = {row: {s: 1.0} for row, s in data.draw(surely(problem)).items()}
        if not isinstance(cascade, RemoveKnown):
            stated = data.draw(unsure(problem)) | stated
        claims = claims_of(stated)
        order = np.array(data.draw(st.permutations(range(len(claims.rows)))), dtype=np.int64)
        turned = Claims(claims.rows[order], claims.values[order], claims.confidence[order])
        one, other = (posterior(cascade, ESTIMATORS[estimator](), problem, told) for told in (claims, turned))
        assert np.allclose(one.probabilities, other.probabilities, rtol=1e-9, atol=1e-12)
        assert np.array_equal(one.status, other.status)


RECORDS = (
    ("ABCDE", "abcab", [0, 0, 0, 1, 1]),
    ("ABDFG", "bbcaa", [1, 0, 0, 1, -1]),
    ("ABCFG", "cbaac", [2, 0, 2, 0, 2]),
)
CHAIN = MarkovChain(1, np.random.default_rng(9).dirichlet(np.ones(3), size=3))


def attacked(cascade, estimator, records, *claims):
    frame = pd.DataFrame(list(claims), columns=["respondent", "value", "time", "confidence"])
    known = None if cascade is None else CompromisedRecords(frame, contradicted="report")
    told = Adversary(UniformPrior(), CHAIN, known, ESTIMATORS[estimator](), cascade)
    return SequentialAttack(told)([Release(view_of(i, r, time=t), g) for t, (i, r, g) in enumerate(records, 1)])


@pytest.mark.parametrize(("cascade", "estimator"), PAIRS)
class TestInAnAttack:
    @pytest.mark.parametrize("seed", range(3))
    def test_who_in_a_group_truly_has_what_changes_no_belief(self, cascade, estimator, seed):
        rng = np.random.default_rng(seed)
        changed = []
        for ids, results, labels in RECORDS:
            results, labels = np.array(list(results)), np.array(labels)
            for label in set(labels.tolist()):
                inside = labels == label
                results[inside] = (
                    rng.permutation(results[inside]) if label >= 0 else rng.choice(list("abc"), inside.sum())
                )
            changed.append((ids, results, labels))
        level = 1.0 if isinstance(cascade, RemoveKnown) else 0.8
        claims = (("A", "a", 1, 1.0), ("B", "b", 2, level), ("D", "c", 2, level), ("C", "c", 3, level))
        one, other = (attacked(cascade, estimator, records, *claims) for records in (RECORDS, changed))
        for expected, found in zip(one, other, strict=True):
            for stage in ("prior", "revised", "posterior"):
                assert np.array_equal(expected.beliefs(stage), found.beliefs(stage))
            assert np.array_equal(expected.posterior.status, found.posterior.status)

    def test_before_a_claim_everything_is_as_without(self, cascade, estimator):
        found = attacked(cascade, estimator, RECORDS, ("A", "a", 3, 1.0))
        expected = attacked(None, estimator, RECORDS)
        for time in (1, 2):
            assert np.allclose(found.posterior(time), expected.posterior(time), rtol=1e-12, atol=1e-15)
        assert found.posterior(3).loc["A"].tolist() == [1, 0, 0]
        assert not np.allclose(found.posterior(3).loc["C"], expected.posterior(3).loc["C"])

    def test_a_sure_claim_is_carried_on_by_the_chain(self, cascade, estimator):
        found = attacked(cascade, estimator, RECORDS, ("A", "b", 1, 1.0))
        assert np.allclose(found.revised(2).loc["A"], CHAIN.probabilities[1])
