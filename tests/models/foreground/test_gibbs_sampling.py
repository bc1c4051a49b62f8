"""The posterior over the global distribution, against prior times enumerated likelihood, summed over grids and samples."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from oracle import product_posterior
from scipy import special, stats

from foreknow.attacks import ForegroundAttack
from foreknow.models import (
    Auto,
    Evidence,
    Exact,
    ExpectationMaximization,
    FitStatus,
    GibbsSampling,
    PublishedTable,
    Sinkhorn,
)
from foreknow.models.estimators.convergence import mean_diagnostics
from foreknow.models.foreground import gibbs_sampling, sampled_beliefs
from foreknow.models.foreground.expectation import believed
from foreknow.models.foreground.urns import dealing

ERRORS = 4.5
"""How many standard errors a mean may be off: by chance once in 150,000 numbers."""

SMALL = Evidence(
    np.array([0, 1, 0, 0, 1, -1, 1, 1, 0, 1, 1, -1, 0, 0, 1, 0]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, -1]),
    np.array([[1, 1], [1, 3], [0, 2], [3, 1], [2, 1]]),
    np.array([0.4, 0.6]),
)
"""Two signatures and the rest in five groups, one of which shows one value, with one person outside."""

MANY = Evidence(
    np.array([0, 1, 0, 0, 1, -1, 1, 1, 0, 1]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2, 3, 3]),
    np.array([[1, 1, 0], [2, 1, 1], [0, 0, 2], [0, 1, 1]]),
    np.array([0.5, 0.2, 0.3]),
)
"""The same for three values."""


def sampled(evidence, seed=1, concentration=4.0, estimator=None, **settings):
    settings = {"draws": 1000, "kept": 4000} | settings
    return GibbsSampling(concentration, rng=np.random.default_rng(seed), **settings)(evidence, estimator or Auto())


def likelihood(evidence, tables):
    """How likely the published groups are under each of some distributions, (d, s, m): over all sequences of values."""
    d, _, m = tables.shape
    rows = np.concatenate([tables, np.broadcast_to(evidence.rest, (d, 1, m))], axis=1)
    total = np.ones(d)
    for j, counts in enumerate(evidence.counts):
        people = evidence.place[evidence.group == j]
        worlds = set(itertools.permutations(np.repeat(np.arange(m), counts).tolist()))
        total = total * sum(rows[:, people, list(world)].prod(axis=1) for world in worlds)
    return total


def on_a_grid(evidence, concentrations, n=120):
    """Points of two unknown probabilities, evenly many in equal shares of the prior, and the posterior's weight of each."""
    points, weights = [], []
    middle = (np.arange(n) + 0.5) / n
    for concentration in concentrations:
        axis = stats.beta.ppf(middle, concentration * evidence.rest[0], concentration * evidence.rest[1])
        pairs = np.array(list(itertools.product(axis, repeat=2)))
        points.append(pairs)
        weights.append(likelihood(evidence, np.stack([pairs, 1 - pairs], axis=2)))
    weights = np.concatenate(weights)
    return np.concatenate(points), weights / weights.sum()


def chains(fit, number=4):
    """All draws by chain: (chains, draws, s, m)."""
    return fit.draws.reshape(number, -1, *fit.draws.shape[1:])


def assert_mean(values, expected, slack=0.0):
    """The mean over chains and draws is the expected one, up to the error that its effective sample size leaves."""
    values = np.ascontiguousarray(values, dtype=float)
    ess, rhat = mean_diagnostics(values)
    assert rhat < 1.02
    assert abs(values.mean() - expected) <= ERRORS * values.std(ddof=1) / math.sqrt(ess) + slack


class TestPosterior:
    @pytest.mark.parametrize("concentration", [4.0, 0.5, None])
    def test_two_values_are_those_of_the_grid(self, concentration):
        """Means, and the share of draws under each of nine quantiles of the grid."""
        points, weights = on_a_grid(SMALL, gibbs_sampling.CONCENTRATIONS if concentration is None else [concentration])
        fit = sampled(SMALL, concentration=concentration, draws=3000, kept=12000)
        drawn = chains(fit)
        for i in range(2):
            assert_mean(drawn[:, :, i, 0], weights @ points[:, i], 1e-4)
            assert fit.probabilities[i, 0] == pytest.approx(weights @ points[:, i], abs=0.01)
            order = np.argsort(points[:, i])
            below = np.cumsum(weights[order])
            for q in np.arange(1, 10) / 10:
                at = np.searchsorted(below, q)
                # The share under a point of the grid is known up to the weights of points beside it.
                near = np.isclose(points[:, i], points[order[at], i], rtol=1e-9)
                share = below[at] if concentration is None else weights[points[:, i] <= points[order[at], i]].sum()
                assert_mean(drawn[:, :, i, 0] <= points[order[at], i], share, 2 * weights[near].sum())

    def test_many_values_are_those_of_weighted_draws_from_the_prior(self):
        rng = np.random.default_rng(2)
        tables = rng.dirichlet(4.0 * MANY.rest, size=(100_000, 2))
        weights = likelihood(MANY, tables)
        weights /= weights.sum()
        fit = sampled(MANY, draws=3000, kept=12000)
        for i, s in itertools.product(range(2), range(3)):
            x = tables[:, i, s]
            mean = weights @ x
            error = math.sqrt((weights**2) @ (x - mean) ** 2)
            assert_mean(chains(fit)[:, :, i, s], mean, ERRORS * error)
            spread = math.sqrt(weights @ (x - mean) ** 2)
            assert fit.draws[:, i, s].std() == pytest.approx(spread, rel=0.06)

    def test_two_of_three_values_are_as_two(self):
        """A value that nobody shows changes nothing, though other code deals the values."""
        wide = Evidence(
            SMALL.signature, SMALL.group, np.pad(SMALL.counts, ((0, 0), (0, 1))), np.append(SMALL.rest, 0.0)
        )
        points, weights = on_a_grid(SMALL, [4.0])
        drawn = chains(sampled(wide, draws=3000, kept=12000))
        for i in range(2):
            assert_mean(drawn[:, :, i, 0], weights @ points[:, i], 1e-4)
        assert not drawn[..., 2].any()

    def test_people_whose_values_are_shown_have_a_known_posterior(self):
        """Of 8 people in groups of one value, 6 have x: Beta(2 + 6, 3 + 2), whatever is drawn."""
        group = np.arange(8) // 2
        evidence = Evidence(np.zeros(8, int), group, np.array([[2, 0]] * 3 + [[0, 2]]), np.array([0.4, 0.6]))
        fit = sampled(evidence, concentration=5.0)
        assert np.allclose(fit.probabilities, [[8 / 13, 5 / 13]])
        assert stats.kstest(fit.draws[:, 0, 0], stats.beta(8, 5).cdf).pvalue > 1e-4

    def test_without_signatures_there_is_nothing_to_learn(self):
        evidence = Evidence(np.full(2, -1), np.zeros(2, int), np.array([[1, 1]]), np.array([0.5, 0.5]))
        fit = sampled(evidence)
        assert fit.probabilities.shape == (0, 2)
        assert fit.status == FitStatus.FINE

    def test_the_likelihood_is_that_of_the_mean(self):
        fit, wide = sampled(SMALL), sampled(MANY, estimator=Exact())
        assert fit.log_likelihood == pytest.approx(math.log(likelihood(SMALL, fit.probabilities[None])[0]), abs=1e-9)
        assert wide.log_likelihood == pytest.approx(math.log(likelihood(MANY, wide.probabilities[None])[0]), abs=1e-9)
        assert math.isnan(sampled(MANY, estimator=Sinkhorn()).log_likelihood)


def urn_weights(evidence, pseudo_counts):
    """Of one group's assignments, the probability of the counts by signature: rising factorials, and the rest's powers."""
    people = evidence.place
    found = Counter()
    m = evidence.counts.shape[1]
    for world in set(itertools.permutations(np.repeat(np.arange(m), evidence.counts[0]).tolist())):
        counts = np.zeros((evidence.signatures + 1, m), int)
        np.add.at(counts, (people, list(world)), 1)
        weight = special.poch(pseudo_counts, counts[:-1]).prod() * (evidence.rest ** counts[-1]).prod()
        found[tuple(counts[:-1].ravel().tolist())] += weight
    total = sum(found.values())
    return {counts: weight / total for counts, weight in found.items()}


class TestDealing:
    @pytest.mark.parametrize(
        "counts", [[1, 6], [2, 5], [3, 4], [4, 3], [6, 1], [3, 2, 2], [1, 5, 1], [2, 0, 5], [0, 3, 4]]
    )
    def test_assignments_are_dealt_as_often_as_they_are_likely(self, counts):
        signature = np.array([0, 1, 0, -1, 2, -1, 1])
        rest = np.array([0.2, 0.8]) if len(counts) == 2 else np.array([0.2, 0.5, 0.3])
        evidence = Evidence(signature, np.zeros(7, int), np.array([counts]), rest)
        expected = urn_weights(evidence, 1.7 * rest)
        deal = dealing(evidence, np.random.default_rng(3))
        rounds = [tuple(deal(1.7 * rest).ravel().tolist()) for _ in range(8000)]
        assert set(rounds) <= set(expected)
        for drawn, share in expected.items():
            assert_mean(np.array([one == drawn for one in rounds]).reshape(4, -1), share, 1e-9)

    @pytest.mark.parametrize(("people", "c"), [((4000, 6000), 5000), ((4000, 6000), 9000), ((9000, 1000), 20)])
    def test_groups_of_ten_thousand(self, people, c):
        """Of two signatures in one group, the number with the value has a law in rising factorials."""
        rest, concentration = np.array([0.01, 0.99]), 3.0
        evidence = Evidence(np.repeat([0, 1], people), np.zeros(10_000, int), np.array([[c, 10_000 - c]]), rest)
        b = np.arange(max(0, c - people[1]), min(people[0], c) + 1)
        weight = _log_ways(people[0], b, concentration * rest) + _log_ways(people[1], c - b, concentration * rest)
        share = np.exp(weight - special.logsumexp(weight))
        deal = dealing(evidence, np.random.default_rng(4))
        drawn = np.array([deal(concentration * rest)[0, 0] for _ in range(100)])
        assert ((b[0] <= drawn) & (drawn <= b[-1])).all()
        below = np.cumsum(share)[drawn - b[0]] - share[drawn - b[0]] * np.random.default_rng(5).random(100)
        assert stats.kstest(below, "uniform").pvalue > 1e-4

    def test_everybody_is_counted(self):
        for evidence in (SMALL, MANY):
            counts = dealing(evidence, np.random.default_rng(6))(10 * evidence.rest)
            assert np.array_equal(counts.sum(axis=1), evidence.support[:-1])


def _log_ways(n, b, alpha):
    """The logarithm of n over b, times the probability of b given people under a Beta distribution."""
    return (
        special.gammaln(n + 1)
        - special.gammaln(b + 1)
        - special.gammaln(n - b + 1)
        + special.betaln(*_added(n, b, alpha))
    )


def _added(n, b, alpha):
    return alpha[0] + b, alpha[1] + n - b


class TestSmallSamples:
    rest = np.array([0.3, 0.7])

    def groups(self, pairs):
        """Pairs of signature 0 and the rest; three in ten people have x, and half of the groups that show it show it once."""
        counts = np.array([[1, 1] if j % 2 else [0, 2] for j in range(pairs)])
        return Evidence(np.tile([0, -1], pairs), np.repeat(np.arange(pairs), 2), counts, self.rest)

    def test_intervals_shrink_with_more_groups(self):
        """About with the root of their number, once they outweigh the prior."""
        widths = [
            np.ptp(np.quantile(sampled(self.groups(pairs), draws=500, kept=2000).draws[:, 0, 0], [0.05, 0.95]))
            for pairs in (4, 16, 64, 256, 1024)
        ]
        assert (np.diff(widths) < 0).all()
        assert widths[3] / widths[4] == pytest.approx(2, rel=0.25)

    def test_one_person_leaves_the_prior_about_as_it_was(self):
        """One of two has x, this one as likely as the other: Beta(4, 7) or Beta(3, 8), each half, after Beta(3, 7)."""
        evidence = self.groups(2)
        evidence = Evidence(evidence.signature[2:], evidence.group[2:] - 1, evidence.counts[1:], self.rest)
        fit = sampled(evidence, concentration=10.0)
        low, high = stats.beta(3, 7).ppf([0.05, 0.95])
        assert np.quantile(fit.draws[:, 0, 0], [0.05, 0.95]) == pytest.approx([low, high], abs=0.04)
        assert fit.probabilities[0, 0] == pytest.approx((4 + 3) / 22, abs=0.005)

    def test_ninety_percent_intervals_hold_the_truth_in_ninety_percent(self):
        """Four hundred small populations from the prior, all in one release: of the distributions, and of somebody's belief."""
        rng = np.random.default_rng(7)
        problems, concentration = 400, 6.0
        f = rng.beta(*(concentration * self.rest), size=2 * problems)
        signature = (2 * np.arange(problems)[:, None] + rng.integers(0, 2, size=(problems, 18))).ravel()
        group = np.repeat(np.arange(problems * 6), 3)
        having = np.bincount(group, rng.random(len(group)) < f[signature]).astype(int)
        evidence = Evidence(signature, group, np.column_stack([having, 3 - having]), self.rest)
        fit = sampled(evidence, concentration=concentration, draws=250, kept=1000)
        low, high = np.quantile(fit.draws[:, ::2, 0], [0.05, 0.95], axis=0)
        self.assert_covered((low <= f[::2]) & (f[::2] <= high))
        truth = believed(evidence, Auto(), np.column_stack([f, 1 - f]))[:, 0]
        found = sampled_beliefs.sampled_beliefs(evidence, Auto(), fit.draws)
        # One person of each population whose belief the distribution changes: not all three of the group match one signature.
        same = (signature.reshape(-1, 3) == signature.reshape(-1, 3)[:, :1]).all(axis=1)
        told = np.flatnonzero((evidence.counts > 0).all(axis=1)[group] & ~same[group])
        _, first = np.unique(signature[told] // 2, return_index=True)
        who = told[first]
        assert len(who) > 0.9 * problems
        self.assert_covered((found.low[who, 0] <= truth[who]) & (truth[who] <= found.high[who, 0]))

    @staticmethod
    def assert_covered(inside):
        assert stats.binomtest(int(inside.sum()), len(inside), 0.9).pvalue > 1e-4


class TestSampledBeliefs:
    @pytest.mark.parametrize(("evidence", "estimator"), [(SMALL, Auto()), (SMALL, Sinkhorn()), (MANY, Exact())])
    @pytest.mark.parametrize("most", [2**24, 1])
    def test_they_are_the_beliefs_of_the_draws(self, evidence, estimator, most, monkeypatch):
        """All at once, or one group at a time."""
        monkeypatch.setattr(sampled_beliefs, "MOST", most)
        draws = np.random.default_rng(8).dirichlet(np.ones(evidence.counts.shape[1]), size=(50, 2))
        each = np.array([believed(evidence, estimator, draw) for draw in draws])
        found = sampled_beliefs.sampled_beliefs(evidence, estimator, draws)
        assert np.allclose(found.mean, each.mean(axis=0), atol=1e-12)
        assert np.allclose(found.low, np.quantile(each, 0.05, axis=0), atol=1e-12)
        assert np.allclose(found.high, np.quantile(each, 0.95, axis=0), atol=1e-12)

    def test_an_attack_reports_them(self):
        """Against enumeration, for each draw: the sensitive set's probability, or that of the value believed most."""
        frame = pd.DataFrame({"A": list("stststss"), "group": np.repeat([1, 2, 3], [3, 3, 2]), "X": list("xyxyxzyy")})
        table = PublishedTable(frame, sensitive="X")
        for sensitive in ({"x"}, None):
            fit = GibbsSampling(4.0, draws=50, rng=np.random.default_rng(9))
            beliefs = ForegroundAttack(sensitive=sensitive, support=1, fit=fit, estimator=Exact())([table])
            (known,) = beliefs.knowledge[0]
            rows = known.fit.draws[:, known.signatures.person]
            counts = np.array([[2, 1], [1, 2], [0, 2]]) if sensitive else np.array([[2, 1, 0], [1, 1, 1], [0, 2, 0]])
            each = np.concatenate(
                [
                    [product_posterior(draw[people], of_group) for draw in rows]
                    for people, of_group in zip(np.split(np.arange(8), [3, 6]), counts, strict=True)
                ],
                axis=1,
            )
            mean = each.mean(axis=0)
            value = np.zeros(8, int) if sensitive else mean.argmax(axis=1)
            ends = np.quantile(each[:, np.arange(8), value], [0.05, 0.95], axis=0).T
            assert np.allclose(beliefs.intervals[0], ends)
            assert np.allclose(beliefs.releases[0].posterior.probabilities[:, 0], mean[:, 0])
            assert {"low", "high"} <= set(known.frame.columns) or sensitive is None
        assert ForegroundAttack(support=1, fit=ExpectationMaximization())([table]).intervals is None


class TestChains:
    def test_the_same_seed_gives_the_same_answer_and_the_next_call_another(self):
        for evidence in (SMALL, MANY):
            fitting = GibbsSampling(draws=20, rng=np.random.default_rng(10))
            first, second = fitting(evidence, Auto()), fitting(evidence, Auto())
            again = GibbsSampling(draws=20, rng=np.random.default_rng(10))(evidence, Auto())
            for name in ("probabilities", "draws", "ess", "rhat"):
                assert np.array_equal(getattr(first, name), getattr(again, name))
                assert not np.array_equal(getattr(first, name), getattr(second, name))

    def test_draws_are_thinned_over_all_chains_and_no_more_than_there_are(self):
        whole = sampled(SMALL, draws=30, kept=1000)
        some = sampled(SMALL, draws=30, kept=4)
        assert whole.draws.shape == (120, 2, 2)
        assert np.array_equal(some.draws, whole.draws[[0, 39, 79, 119]])
        assert np.array_equal(some.ess, whole.ess)
        assert whole.iterations == 4 * 40
        assert np.allclose(whole.draws.sum(axis=2), 1)

    def test_chains_that_disagree_are_said_to(self):
        """Which signature has which value in one group is all or nothing, and exchanges of two seldom turn it round."""
        evidence = Evidence(np.repeat([0, 1], 40), np.zeros(80, int), np.array([[40, 40, 0]]), np.full(3, 1 / 3))
        stuck, fine = sampled(evidence, concentration=0.01), sampled(SMALL)
        assert (stuck.rhat > 1.05).any()
        assert stuck.status == FitStatus.UNCONVERGED
        assert (fine.rhat <= 1.05).all()
        assert fine.status == FitStatus.FINE

    def test_faint_probabilities_are_no_contradiction(self):
        """With a concentration of .001 most draws are all but certain, and every group is possible still."""
        fit = sampled(SMALL, concentration=0.001, draws=100)
        assert np.isfinite(fit.draws).all()
        assert np.isfinite(believed(SMALL, Auto(), fit.draws[0])).all()
        assert math.isfinite(fit.log_likelihood)

    def test_concentrations_are_learned(self):
        """Signatures that differ as Beta(.6, .4) do, or hardly: the draws are spread accordingly."""
        rng = np.random.default_rng(11)
        for concentration in (1.0, 1000.0):
            f = rng.beta(0.6 * concentration, 0.4 * concentration, size=40)
            signature, group = np.repeat(np.arange(40), 50), np.arange(2000)
            x = rng.random(2000) < f[signature]
            evidence = Evidence(signature, group, np.column_stack([x, ~x]).astype(int), np.array([0.6, 0.4]))
            counts = np.column_stack([np.bincount(signature, x), np.bincount(signature, ~x)]).astype(int)
            drawn = [gibbs_sampling._concentration(counts, evidence.rest, rng) for _ in range(200)]
            assert concentration / 3 < np.median(drawn) < 10 * concentration
            assert np.abs(sampled(evidence, concentration=None, draws=50).probabilities[:, 0] - f).mean() < 0.06


class TestSettings:
    @pytest.mark.parametrize("rng", [None, 1, np.random.RandomState(1)])
    def test_chance_comes_from_a_generator(self, rng):
        with pytest.raises(TypeError, match=r"rng is .*; it is a generator, as numpy\.random\.default_rng\(1\)"):
            GibbsSampling(rng=rng)

    def test_chance_must_come_from_somewhere(self):
        with pytest.raises(TypeError, match="rng"):
            GibbsSampling()

    @pytest.mark.parametrize("concentration", [0, -1.0, np.nan, np.inf, "a", True])
    def test_concentrations_are_numbers_of_people(self, concentration):
        with pytest.raises(ValueError, match=rf"concentration is {concentration!r}; it is a number of people, over 0"):
            GibbsSampling(concentration, rng=np.random.default_rng(1))

    @pytest.mark.parametrize("settings", [{"draws": 3}, {"draws": 7}, {"chains": 1}, {"kept": 0}, {"warmup": -1}])
    def test_too_few_are_refused(self, settings):
        (said,) = [f"{name}={number!r}" for name, number in settings.items()]
        with pytest.raises(ValueError, match=f"needs 8 draws or more, 2 chains or more, 1 kept or more .*{said}"):
            GibbsSampling(rng=np.random.default_rng(1), **settings)

    @pytest.mark.parametrize(
        ("name", "number"),
        [
            ("draws", 50.5),
            ("draws", None),
            ("chains", 2.5),
            ("chains", np.inf),
            ("warmup", 1.5),
            ("kept", 1.5),
            ("kept", "9"),
        ],
    )
    def test_numbers_of_rounds_are_whole(self, name, number):
        with pytest.raises(ValueError, match=f"no negative warm-up, in whole numbers; got .*{name}={number!r}"):
            GibbsSampling(rng=np.random.default_rng(1), **{name: number})

    def test_settings_may_be_whole_floats(self):
        one = sampled(SMALL, draws=20, chains=2, warmup=5, kept=10)
        other = sampled(SMALL, draws=20.0, chains=2.0, warmup=5.0, kept=10.0)
        assert np.array_equal(one.draws, other.draws)

    def test_a_prior_that_rules_out_what_is_shown_is_refused(self):
        evidence = Evidence(np.zeros(2, int), np.arange(2), np.array([[1, 0], [0, 1]]), np.array([0.0, 1.0]))
        with pytest.raises(ValueError, match=r"group 0 shows value 0, which evidence\.rest gives no probability"):
            sampled(evidence)
