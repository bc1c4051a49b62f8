"""Laws of the three readings of confidence against enumeration of their stories, and when each cascade is exact."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from foreknow.attacks import SequentialAttack
from foreknow.evaluation import compare_cascades
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    DirichletMultinomial,
    Enumeration,
    EvidenceCascade,
    Exact,
    GivenPrior,
    MarkovChain,
    Numeric,
    Posterior,
    PosteriorCascade,
    PriorCascade,
    Release,
    RemoveKnown,
    Schema,
    UniformPrior,
    View,
)

# --- stories, by enumeration ------------------------------------------------------------------------------------------


class World:
    """Some respondents, their values at some releases, their groups and claims: (respondent, time, value, confidence)."""

    def __init__(self, prior, chain, values, groups, claims):
        self.prior, self.chain, self.values, self.groups, self.claims = prior, chain, values, groups, claims
        self.n, self.m = prior.shape
        self.times = len(values)

    def adversary(self, estimator=None):
        frame = pd.DataFrame(self.claims, columns=["respondent", "time", "value", "confidence"])
        known = CompromisedRecords(frame, contradicted="report")
        chain = MarkovChain(1, self.chain)
        return Adversary(GivenPrior(pd.DataFrame(self.prior)), chain, known, estimator or Exact(), PriorCascade())

    def releases(self):
        schema = Schema({"age": Numeric(0, 9)}, "result", tuple(range(self.m)))
        people = {"id": range(self.n), "age": range(self.n)}
        views = [View(pd.DataFrame(people | {"result": row}), schema, t) for t, row in enumerate(self.values)]
        return [Release(view, groups) for view, groups in zip(views, self.groups, strict=True)]

    def table(self, cascades=None, estimator=None):
        return compare_cascades(self.releases(), cascades or {}, {"a": self.adversary(estimator)}, solver=Enumeration())

    def lost(self, cascade, reading, estimator=None):
        """Largest error and bits lost of a cascade over all records."""
        table = self.table({"c": cascade}, estimator)
        table = table[(table["cascade"] == "c") & (table["reading"] == reading)]
        return max(table["largest_error"].max(), table["bits_lost"].max())

    def paths(self, until):
        """Values of all respondents up to a release that its groups allow, with their weights."""
        for each in itertools.product(range(self.m), repeat=self.n * (until + 1)):
            x = np.array(each).reshape(until + 1, self.n)
            fits = all(
                sorted(x[t][groups == g]) == sorted(self.values[t][groups == g])
                for t, groups in enumerate(self.groups[: until + 1])
                for g in np.unique(groups[groups >= 0])
            )
            if fits:
                yield (
                    x,
                    math.prod(
                        self.prior[i, x[0, i]] * math.prod(self.chain[x[t, i], x[t + 1, i]] for t in range(until))
                        for i in range(self.n)
                    ),
                )

    def believed(self, cascade, estimator=None):
        """Beliefs about the last release by a cascade."""
        adversary = self.adversary(estimator)
        adversary = replace(adversary, cascade=cascade) if cascade else adversary.without("compromised")
        return list(SequentialAttack(adversary)(self.releases()))[-1].posterior.probabilities

    def before(self, i, t):
        """Law of a value before all releases."""
        return self.prior[i] @ np.linalg.matrix_power(self.chain, t)

    def told(self, reading, x, claim):
        """Probability that the source names the value: of each of its two cases, the probability of the case and of the name."""
        i, t, value, c = claim
        if reading == "mixture":
            return c * (x[t, i] == value) + (1 - c) * self.before(i, t)[value]
        return c * (x[t, i] == value) + (1 - c) * (x[t, i] != value) / (self.m - 1)

    def law(self, reading, until):
        """Beliefs about the last of some releases."""
        claims = [claim for claim in self.claims if claim[1] <= until]
        paths, weight = zip(*self.paths(until), strict=True)
        weight = np.array(weight)
        if reading == "Jeffrey":
            weight = weight / weight.sum()
            for _ in range(2000):  # one claim after the other, until all have their confidence
                for i, t, value, c in claims:
                    right = np.array([x[t, i] == value for x in paths])
                    share = weight[right].sum()
                    weight = weight * np.where(right, c / share, (1 - c) / (1 - share))
        else:
            weight = weight * [math.prod(self.told(reading, x, claim) for claim in claims) for x in paths]
        belief = np.zeros((self.n, self.m))
        for x, w in zip(paths, weight, strict=True):
            belief[range(self.n), x[until]] += w
        return belief / belief.sum(axis=1, keepdims=True)


class Replay:
    """Estimator that returns given beliefs, release by release."""

    exact = False

    def __init__(self, beliefs):
        self.beliefs = iter(beliefs)

    def __call__(self, problem):
        return Posterior(next(self.beliefs), np.zeros(len(problem.counts), dtype=int))


@st.composite
def worlds(draw, releases=2, claims=2, at=None, n=None, m=None, meet=True):
    """Random respondents in groups drawn anew; without ``meet`` one of each group stays at a second release."""
    n, m = (n or draw(st.integers(2, 4))) if meet else 4, m or draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    prior, chain = rng.dirichlet(np.full(m, 2.0), n), rng.dirichlet(np.full(m, 2.0), m)
    truth = np.array([rng.permutation(np.arange(n) % m) for _ in range(releases)])
    groups = np.array([rng.permutation(np.arange(n) // draw(st.sampled_from([2, 4]))) for _ in range(releases)])
    if not meet:
        groups = np.array([[0, 0, 1, 1], [0, -1, 0, -1]])
    who = rng.permutation(n if meet else [0, 2])[: draw(st.integers(1, min(claims, n)))]
    stated = []
    for i in who.tolist():
        t = int(rng.integers(releases)) if at is None else at
        shown = truth[t][groups[t] == groups[t][i]]
        stated.append((i, t, int(rng.choice(shown)), float(rng.uniform(0.05, 0.95))))
    return World(prior, chain, truth, groups, stated)


# --- the laws ---------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(worlds(), st.sampled_from(["mixture", "likelihood", "Jeffrey"]))
def test_laws_are_those_of_the_stories(world, reading):
    """An adversary who believes what the enumeration of the story says has no error under its reading."""
    assume(world.table().attrs["unmet"] == {"a": 0})
    laws = [world.law(reading, t) for t in range(world.times)]
    table = world.table({"replay": (None, Replay(laws))})
    own = table.query("cascade == 'replay' and reading == @reading")
    assert own["largest_error"].max() < 1e-5
    assert own["measured"].sum() == world.n * world.times


def test_columns_by_hand():
    """One claim of .7 about A among two members with the values 0 and 1, whose prior odds of the two assignments are 1 to 1.

    The belief of an adversary without claims is 1/2; the mixture is .85 for A, the likelihood and Jeffrey .7.
    """
    half = np.full((2, 2), 0.5)
    world = World(half, half, np.array([[0, 1]]), np.array([[0, 0]]), [(0, 0, 0, 0.7)])
    table = world.table({"none": None, "sure": RemoveKnown()}).set_index(["cascade", "reading", "about"])
    for reading, right in (("mixture", 0.85), ("likelihood", 0.7), ("Jeffrey", 0.7)):
        for about in ("claimed record", "others"):
            none, sure = table.loc[("none", reading, about)], table.loc[("sure", reading, about)]
            entropy = -right * math.log2(right) - (1 - right) * math.log2(1 - right)
            assert none["largest_error"] == pytest.approx(right - 0.5)
            assert none["bits_lost"] == pytest.approx(1 - entropy)
            assert sure["overstated"] == pytest.approx(1 - right)
            assert sure["bits_lost"] == pytest.approx(20 * (1 - right) - entropy)
    assert table["measured"].eq(1).all()


def test_claims_that_no_law_of_the_releases_has_are_counted():
    """A group of one value proves it, and a value that it does not show is excluded."""
    half = np.full((3, 2), 0.5)
    world = World(half, np.eye(2), np.array([[0, 0, 1]]), np.array([[0, 0, -1]]), [(0, 0, 0, 0.7), (1, 0, 1, 0.6)])
    table = world.table({"none": None})
    assert table.attrs["unmet"] == {"a": 2}
    assert table["largest_error"].max() == pytest.approx(0, abs=1e-9)
    assert table["measured"].sum() == 4 * 3 * 2


def test_kinds_of_records():
    half = np.full((4, 2), 0.5)
    groups = np.array([[0, 0, 1, 1], [0, 0, 1, -1]])
    world = World(half, np.full((2, 2), 0.5), np.array([[0, 1, 0, 1]] * 2), groups, [(2, 1, 0, 0.7)])
    table = (
        world.table().query("cascade == 'joint law, mixture' and reading == 'mixture'").set_index("about")["measured"]
    )
    assert table.to_dict() == {"claimed record": 1, "claimed respondent": 1, "others": 5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cascades": [PriorCascade()]}, "cascades"),
        ({"cascades": {"a": "prior"}}, "cascades"),
        ({"adversaries": {"a": None}}, "adversaries"),
        ({"adversaries": {"a": Adversary(UniformPrior())}}, "no compromised records"),
        ({"solver": Exact()}, "solver"),
        ({"least": 0}, "least"),
        ({"releases": 3}, "releases"),
        ({"cascades": {"a": PosteriorCascade()}}, "evidence"),
    ],
)
def test_wrong_arguments(change, message):
    half = np.full((2, 2), 0.5)
    world = World(half, half, np.array([[0, 1]]), np.array([[0, 0]]), [(0, 0, 0, 0.7)])
    given_all = {"releases": world.releases(), "cascades": {}, "adversaries": {"a": world.adversary()}} | change
    with pytest.raises((TypeError, ValueError), match=message):
        compare_cascades(
            given_all.pop("releases"), given_all.pop("cascades"), given_all.pop("adversaries"), **given_all
        )


# --- the conditions of docs/methods/cascades.md -----------------------------------------------------------------------


@settings(max_examples=30)
@given(worlds(releases=1, claims=3))
def test_1_the_prior_cascade_is_the_mixture_at_the_first_release(world):
    assert world.lost(PriorCascade(), "mixture") < 1e-9


@settings(max_examples=30)
@given(worlds(releases=2, claims=2, at=0, meet=False))
def test_1_also_later_where_members_have_not_met(world):
    assert world.lost(PriorCascade(), "mixture") < 1e-9


@pytest.mark.parametrize(("cascade", "factor"), [(PriorCascade(), 11), (PriorCascade(normalized=False), 5.5)])
def test_1_counterexample_a_claim_at_the_second_release(cascade, factor):
    """A was 0 at the first release, surely, and never changes; the claim says 1 at the second, where half of all are 1."""
    half, stays = np.full((3, 2), 0.5), np.array([[0.9, 0.1], [0.1, 0.9]])
    groups = np.array([[0, 1, 2], [0, 0, 1]])
    world = World(half, stays, np.array([[0, 1, 0], [0, 1, 0]]), groups, [(0, 1, 1, 0.5)])
    # belief before the release: .1; odds times 1 + .5 / (.5 * .1) = 11, as printed 1 + .5 * .9 / .1, by the law 1 + .5 / (.5 * .5)
    odds = 0.1 / 0.9 * 0.1 / 0.9  # of A = 1 and B = 0 after the release, without the claim
    error = factor * odds / (1 + factor * odds) - 3 * odds / (1 + 3 * odds)
    table = world.table({"c": cascade}).query("cascade == 'c' and reading == 'mixture' and about == 'claimed record'")
    assert table["largest_error"].item() == pytest.approx(error, abs=1e-9)


@settings(max_examples=30)
@given(worlds(releases=1, claims=1))
def test_2_the_printed_cascade_is_the_mixture_of_a_smaller_confidence(world):
    (i, t, value, c), r = world.claims[0], world.prior[world.claims[0][0], world.claims[0][2]]
    smaller = c * (1 - r) / (1 + c * (1 - r))
    assert smaller < min(c, 0.5)
    other = World(world.prior, world.chain, world.values, world.groups, [(i, t, value, smaller)])
    printed = Replay([other.law("mixture", 0)])
    same = world.table({"printed": PriorCascade(normalized=False), "other": (None, printed)})
    both = same.pivot_table("bits_lost", ["reading", "about"], "cascade")
    np.testing.assert_allclose(both["printed"], both["other"], atol=1e-9)


@settings(max_examples=30)
@given(worlds(releases=1, claims=3))
def test_3_the_evidence_cascade_is_the_likelihood(world):
    assert world.lost(EvidenceCascade(), "likelihood") < 1e-9


@settings(max_examples=30)
@given(worlds(releases=2, claims=2, meet=False))
def test_3_at_any_release_where_members_have_not_met(world):
    assert world.lost(EvidenceCascade(), "likelihood") < 1e-9


@settings(max_examples=20)
@given(worlds(releases=1, claims=3), st.floats(0.01, 0.99))
def test_3_equal_priors_make_the_mixture_a_likelihood(world, c):
    """A source that saw the value with probability c, of m equally likely ones, is right with probability c + (1 - c) / m."""
    flat = np.full(world.prior.shape, 1 / world.m)
    claims = [(i, t, value, c) for i, t, value, _ in world.claims]
    right = [(i, t, value, c + (1 - c) / world.m) for i, t, value, _ in world.claims]
    one, other = (World(flat, world.chain, world.values, world.groups, told) for told in (claims, right))
    np.testing.assert_allclose(one.law("mixture", 0), other.law("likelihood", 0), atol=1e-12)


@settings(max_examples=20)
@given(st.integers(2, 4), st.integers(0, 2), st.floats(0.01, 2), st.integers(0, 2**32))
def test_4_the_posterior_cascade_is_the_mixture_of_another_confidence(k, absent, a, seed):
    """Equal priors, k distinct values: below c times the prior of the value with a = 1; that of c with one other a."""
    world, c, before = equal_priors(k, k + absent, seed)
    weight = a + 1 / math.factorial(k)
    other = World(*vars_of(world), [(*world.claims[0][:3], c * before / (weight + c * before))])
    believed = world.believed(PosteriorCascade(), DirichletMultinomial(a))
    np.testing.assert_allclose(believed, other.law("mixture", 0), atol=1e-9)
    assert c * before / (1 + 1 / math.factorial(k) + c * before) < c * before
    exact = (1 - c) * before - 1 / math.factorial(k)
    if exact > 1e-6:
        assert world.lost(PosteriorCascade(), "mixture", DirichletMultinomial(exact)) < 1e-9


def test_4_two_claims_are_pooled():
    """The weight of an assignment has the sum of the claims that it matches, not their product."""
    flat, claims = np.full((3, 3), 1 / 3), [(0, 0, 0, 0.5), (1, 0, 1, 0.7)]
    world = World(flat, flat, np.arange(3)[None], np.zeros((1, 3), dtype=int), claims)
    belief = np.zeros((3, 3))
    for x in itertools.permutations(range(3)):
        belief[range(3), x] += 1 + 1 / 6 + sum(c for i, _, s, c in claims if x[i] == s)
    expected = belief / belief.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(world.believed(PosteriorCascade(), DirichletMultinomial()), expected, atol=1e-9)


@settings(max_examples=20)
@given(worlds(releases=1, claims=2))
def test_5_removal_is_exact_for_certain_claims_in_all_readings(world):
    sure = [(i, t, int(world.values[t][i]), 1.0) for i, t, *_ in world.claims]
    table = World(world.prior, world.chain, world.values, world.groups, sure).table(
        {
            "remove": RemoveKnown(),
            "prior": PriorCascade(),
            "printed": PriorCascade(False),
            "evidence": EvidenceCascade(),
        }
    )
    assert table["largest_error"].max() < 1e-9


@settings(max_examples=20)
@given(worlds(releases=1, claims=1))
def test_6_a_claim_of_the_belief_after_the_release_says_nothing_under_jeffrey(world):
    (i, t, value, _), none = world.claims[0], World(*vars_of(world), []).law("likelihood", 0)
    assume(0.01 < none[i, value] < 0.99)
    told = World(*vars_of(world), [(i, t, value, float(none[i, value]))])
    assert told.lost(None, "Jeffrey") < 1e-6
    if none[i, value] > world.prior[i, value] + 1e-6:
        assert told.table({"c": PriorCascade()}).query("cascade == 'c' and reading == 'Jeffrey'")["bits_lost"].max() > 0


# --- which one overstates ---------------------------------------------------------------------------------------------

ONE_CLAIM = st.one_of(worlds(releases=1, claims=1), worlds(releases=2, claims=1, at=1, meet=False))


def overstated(c, m, before, r, q):
    """The conditions of docs/methods/cascades.md: a cascade overstates where its number is positive, and is exact where it is 0."""
    return {
        ("none", "mixture"): -c,
        ("none", "likelihood"): 1 - c * m,
        ("none", "Jeffrey"): q - c,
        ("prior", "mixture"): before - r,
        ("prior", "likelihood"): c - (c * m - 1) * r,
        ("prior", "Jeffrey"): 1 / r + 1 / c - 1 / q,
        ("printed", "mixture"): (1 - c) * before * (1 - r) - r,
        ("printed", "likelihood"): c * (1 - c) * (1 - r) - (c * m - 1) * r,
        ("printed", "Jeffrey"): q * (r + c * (1 - c) * (1 - r)) - c * r,
        ("evidence", "mixture"): (c * m - 1) * before - c,
        ("evidence", "likelihood"): 0.0,
        ("evidence", "Jeffrey"): q * m - 1,
    }


RULES = {
    "none": None,
    "prior": PriorCascade(),
    "printed": PriorCascade(normalized=False),
    "evidence": EvidenceCascade(),
}
READINGS = ("mixture", "likelihood", "Jeffrey")


def agree(error, condition):
    if abs(condition) < 1e-6:
        assert error == pytest.approx(0, abs=1e-5)
    else:
        assert (error > 0) == (condition > 0)


def one_claim(world):
    """The probability of the claimed value before all releases, before its own, and after it without the claim."""
    (i, t, s, _), none = world.claims[0], World(*vars_of(world), [])
    r = none.law("likelihood", t - 1)[i] @ world.chain if t else world.prior[i]
    return world.before(i, t)[s], r[s], none.law("likelihood", t)[i, s]


def sure(world, c=1.0):
    """The claim with another confidence."""
    return World(*vars_of(world), [(*world.claims[0][:3], c)])


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("cascade", [*RULES, "removal"])
@settings(max_examples=30)
@given(world=ONE_CLAIM)
def test_a_cascade_overstates_where_its_condition_says(cascade, reading, world):
    (i, t, s, c), (before, r, q) = world.claims[0], one_claim(world)
    assume(t == world.times - 1 and 1e-3 < q < 1 - 1e-3)
    told = sure(world).believed(RemoveKnown()) if cascade == "removal" else world.believed(RULES[cascade])
    condition = overstated(c, world.m, before, r, q) | {("removal", reading): 1.0}
    agree(told[i, s] - world.law(reading, t)[i, s], condition[cascade, reading])
    if (cascade, reading) == ("printed", "mixture") and t == 0:
        assert told[i, s] < world.law(reading, t)[i, s]


@pytest.mark.parametrize("cascade", RULES)
@settings(max_examples=20)
@given(world=ONE_CLAIM)
def test_the_errors_about_the_others_follow_from_that_about_the_claim(cascade, world):
    """A belief about another member is that given the value, with the weight of the belief in it, and that without the value."""
    (i, t, s, _), (_, _, q) = world.claims[0], one_claim(world)
    assume(t == world.times - 1 and 1e-3 < q < 1 - 1e-3)
    told, given_it, without = (
        world.believed(RULES[cascade]),
        sure(world).law("likelihood", t),
        sure(world, 0.0).law("likelihood", t),
    )
    others = (np.arange(world.n) != i) & (world.groups[t] >= 0)
    expected = told[i, s] * given_it + (1 - told[i, s]) * without
    np.testing.assert_allclose(told[others], expected[others], atol=1e-9)


def equal_priors(k, m, seed):
    """Members of equal priors and distinct values, with one claim above its prior; the confidence, and that prior."""
    rng = np.random.default_rng(seed)
    prior, shown = rng.dirichlet(np.full(m, 2.0)), rng.permutation(m)[:k]
    i, before = int(rng.integers(k)), float(prior[shown[0]])
    c = float(rng.uniform(before + 0.01 * (1 - before), 0.99))
    claim = (i, 0, int(shown[0]), c)
    return World(np.tile(prior, (k, 1)), np.eye(m), shown[None], np.zeros((1, k), dtype=int), [claim]), c, before


@pytest.mark.parametrize("reading", READINGS)
@settings(max_examples=30)
@given(st.integers(2, 4), st.integers(0, 2), st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 2**32))
def test_the_posterior_cascade_overstates_where_its_condition_says(reading, k, absent, a, seed):
    world, c, before = equal_priors(k, k + absent, seed)
    i, _, s, _ = world.claims[0]
    weight = a + 1 / math.factorial(k)
    condition = {
        "mixture": (1 - c) * before - weight,
        "likelihood": c * (1 - c) - weight * (c * world.m - 1),
        "Jeffrey": c * (1 - c) - weight * (c * k - 1),
    }[reading]
    error = world.believed(PosteriorCascade(), DirichletMultinomial(a)) - world.law(reading, 0)
    agree(error[i, s], condition)
    if reading == "mixture" and a == 1:
        assert error[i, s] < 0


@pytest.mark.parametrize(
    ("reading", "law", "r", "c", "rule", "estimator", "factor"),
    [
        ("likelihood", 2.0, 0.2, 0.5, PriorCascade(normalized=False), None, 3.0),
        ("likelihood", 2.0, 1 / 3, 0.5, PosteriorCascade(), DirichletMultinomial(0.01), 1 + 0.5 / (0.01 + 1 / 6)),
        ("likelihood", 4 / 3, 1 / 3, 0.4, PosteriorCascade(), DirichletMultinomial(), 1 + 0.4 / (1 + 1 / 6)),
        ("mixture", 12.25, 0.8, 0.9, EvidenceCascade(), None, 18.0),
    ],
)
def test_counterexamples(reading, law, r, c, rule, estimator, factor):
    """Three members, three values: factors of the odds of the claimed value, whose prior is r, by a law and by a rule over it."""
    prior = np.tile([r, (1 - r) / 2, (1 - r) / 2], (3, 1))
    world = World(prior, np.eye(3), np.arange(3)[None], np.zeros((1, 3), dtype=int), [(0, 0, 0, c)])
    for belief, expected in ((world.believed(rule, estimator), factor), (world.law(reading, 0), law)):
        assert belief[0, 0] / (1 - belief[0, 0]) / (1 / 2) == pytest.approx(expected)
    assert factor > law


def vars_of(world):
    return world.prior, world.chain, world.values, world.groups
