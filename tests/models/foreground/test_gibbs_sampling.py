"""Posterior of the global distribution, against prior times enumerated likelihood on grids and samples."""

import itertools
import math

import numpy as np
import pytest
from sampled_evidence import ERRORS, MANY, SMALL, assert_mean
from scipy import stats

from foreknow.models import Auto, Evidence, Exact, GibbsSampling, Sinkhorn
from foreknow.models.foreground import gibbs_sampling
from foreknow.models.foreground.fit import FitStatus
from foreknow.models.foreground.global_distribution import posterior_beliefs, sampled_beliefs


def sampled(evidence, seed=1, concentration=4.0, estimator=None, **settings):
    settings = {"draws": 1000, "kept": 4000} | settings
    return GibbsSampling(concentration, rng=np.random.default_rng(seed), **settings)(evidence, estimator or Auto())


def likelihood(evidence, tables):
    """Likelihood of the published groups under distributions of shape (d, s, m), over all sequences of values."""
    d, _, m = tables.shape
    rows = np.concatenate([tables, np.broadcast_to(evidence.rest, (d, 1, m))], axis=1)
    total = np.ones(d)
    for j, counts in enumerate(evidence.counts):
        people = evidence.row[evidence.group == j]
        worlds = set(itertools.permutations(np.repeat(np.arange(m), counts).tolist()))
        total = total * sum(rows[:, people, list(world)].prod(axis=1) for world in worlds)
    return total


def on_a_grid(evidence, concentrations, n=120):
    """Grid of two unknown probabilities at quantiles of the prior, and the posterior weight of each point."""
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
    """Draws by chain: shape (chains, draws, s, m)."""
    return fit.draws.reshape(number, -1, *fit.draws.shape[1:])


class TestPosterior:
    @pytest.mark.slow
    @pytest.mark.parametrize("concentration", [4.0, 0.5, None])
    def test_two_values_are_those_of_the_grid(self, concentration):
        """Means, and the fraction of draws under each of nine quantiles of the grid."""
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

    @pytest.mark.slow
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
        """A value that no group shows changes nothing, although another kernel draws the values."""
        wide = Evidence(
            SMALL.signature, SMALL.group, np.pad(SMALL.counts, ((0, 0), (0, 1))), np.append(SMALL.rest, 0.0)
        )
        points, weights = on_a_grid(SMALL, [4.0])
        drawn = chains(sampled(wide, draws=3000, kept=12000))
        for i in range(2):
            assert_mean(drawn[:, :, i, 0], weights @ points[:, i], 1e-4)
        assert not drawn[..., 2].any()

    def test_decided_groups_have_a_known_posterior(self):
        """Of 8 records in groups of one value, 6 have x: the posterior is Beta(2 + 6, 3 + 2)."""
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

    @pytest.mark.slow
    def test_the_likelihood_is_that_of_the_mean(self):
        fit, wide = sampled(SMALL), sampled(MANY, estimator=Exact())
        assert fit.log_likelihood == pytest.approx(math.log(likelihood(SMALL, fit.probabilities[None])[0]), abs=1e-9)
        assert wide.log_likelihood == pytest.approx(math.log(likelihood(MANY, wide.probabilities[None])[0]), abs=1e-9)
        assert math.isnan(sampled(MANY, estimator=Sinkhorn()).log_likelihood)


class TestSmallSamples:
    rest = np.array([0.3, 0.7])

    def groups(self, pairs):
        """Pairs of signature 0 and the rest; half of the groups show x, once each."""
        counts = np.array([[1, 1] if j % 2 else [0, 2] for j in range(pairs)])
        return Evidence(np.tile([0, -1], pairs), np.repeat(np.arange(pairs), 2), counts, self.rest)

    @pytest.mark.slow
    def test_intervals_shrink_with_more_groups(self):
        """In proportion to the inverse square root of their number, once they outweigh the prior."""
        widths = [
            np.ptp(np.quantile(sampled(self.groups(pairs), draws=500, kept=2000).draws[:, 0, 0], [0.05, 0.95]))
            for pairs in (4, 16, 64, 256, 1024)
        ]
        assert (np.diff(widths) < 0).all()
        assert widths[3] / widths[4] == pytest.approx(2, rel=0.25)

    def test_one_group_hardly_changes_the_prior(self):
        """One of two records has x, with equal probability: a mixture of Beta(4, 7) and Beta(3, 8) from the prior Beta(3, 7)."""
        evidence = self.groups(2)
        evidence = Evidence(evidence.signature[2:], evidence.group[2:] - 1, evidence.counts[1:], self.rest)
        fit = sampled(evidence, concentration=10.0)
        low, high = stats.beta(3, 7).ppf([0.05, 0.95])
        assert np.quantile(fit.draws[:, 0, 0], [0.05, 0.95]) == pytest.approx([low, high], abs=0.04)
        assert fit.probabilities[0, 0] == pytest.approx((4 + 3) / 22, abs=0.005)

    @pytest.mark.slow
    def test_ninety_percent_intervals_hold_the_truth_in_ninety_percent(self):
        """Four hundred small populations from the prior in one release: coverage of the distributions, and of a belief."""
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
        truth = posterior_beliefs(evidence, Auto(), np.column_stack([f, 1 - f]))[:, 0]
        found = sampled_beliefs(evidence, Auto(), fit.draws)
        # One record of each population whose belief depends on the distribution: its group has records of two signatures.
        same = (signature.reshape(-1, 3) == signature.reshape(-1, 3)[:, :1]).all(axis=1)
        informative = np.flatnonzero((evidence.counts > 0).all(axis=1)[group] & ~same[group])
        _, first = np.unique(signature[informative] // 2, return_index=True)
        records = informative[first]
        assert len(records) > 0.9 * problems
        self.assert_covered((found.low[records, 0] <= truth[records]) & (truth[records] <= found.high[records, 0]))

    @staticmethod
    def assert_covered(inside):
        assert stats.binomtest(int(inside.sum()), len(inside), 0.9).pvalue > 1e-4


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

    @pytest.mark.slow
    def test_chains_that_disagree_are_said_to(self):
        """In one group either signature has all records of a value, and exchanges of two records seldom change which one."""
        evidence = Evidence(np.repeat([0, 1], 40), np.zeros(80, int), np.array([[40, 40, 0]]), np.full(3, 1 / 3))
        stuck, fine = sampled(evidence, concentration=0.01), sampled(SMALL)
        assert (stuck.rhat > 1.05).any()
        assert stuck.status == FitStatus.UNCONVERGED
        assert (fine.rhat <= 1.05).all()
        assert fine.status == FitStatus.FINE

    def test_faint_probabilities_are_no_contradiction(self):
        """With a concentration of .001 most draws are near 0 or 1, and every group remains possible."""
        fit = sampled(SMALL, concentration=0.001, draws=100)
        assert np.isfinite(fit.draws).all()
        assert np.isfinite(posterior_beliefs(SMALL, Auto(), fit.draws[0])).all()
        assert math.isfinite(fit.log_likelihood)

    def test_concentrations_are_learned(self):
        """Signatures from Beta(.6, .4), and from Beta(600, 400): the drawn concentrations are near the true ones."""
        rng = np.random.default_rng(11)
        for concentration in (1.0, 1000.0):
            f = rng.beta(0.6 * concentration, 0.4 * concentration, size=40)
            signature, group = np.repeat(np.arange(40), 50), np.arange(2000)
            x = rng.random(2000) < f[signature]
            evidence = Evidence(signature, group, np.column_stack([x, ~x]).astype(int), np.array([0.6, 0.4]))
            counts = np.column_stack([np.bincount(signature, x), np.bincount(signature, ~x)]).astype(int)
            drawn = [gibbs_sampling._draw_concentration(counts, evidence.rest, rng) for _ in range(200)]
            assert concentration / 3 < np.median(drawn) < 10 * concentration
            assert np.abs(sampled(evidence, concentration=None, draws=50).probabilities[:, 0] - f).mean() < 0.06


class TestSettings:
    @pytest.mark.parametrize("rng", [None, 1.0, "1", True, np.random.RandomState(1)])
    def test_rng_is_a_generator_or_a_seed(self, rng):
        with pytest.raises(TypeError, match=r"rng is .*; it is a generator, as numpy\.random\.default_rng\(1\)"):
            GibbsSampling(rng=rng)

    def test_a_negative_seed_is_refused(self):
        with pytest.raises(ValueError, match="GibbsSampling: rng is -1; a seed is an integer of at least 0"):
            GibbsSampling(rng=-1)

    def test_a_seed_is_a_generator(self):
        by_seed, by_generator = (GibbsSampling(draws=20, rng=rng) for rng in (3, np.random.default_rng(3)))
        for _ in range(2):
            assert np.array_equal(by_seed(SMALL, Auto()).draws, by_generator(SMALL, Auto()).draws)

    def test_rng_is_required(self):
        with pytest.raises(TypeError, match="rng"):
            GibbsSampling()

    @pytest.mark.parametrize("concentration", [0, -1.0, np.nan, np.inf, "a", True])
    def test_concentrations_are_numbers_of_records(self, concentration):
        with pytest.raises(
            ValueError, match=rf"concentration is {concentration!r}; it is a positive finite number, or None"
        ):
            GibbsSampling(concentration, rng=np.random.default_rng(1))

    @pytest.mark.parametrize("settings", [{"draws": 3}, {"draws": 7}, {"chains": 1}, {"kept": 0}, {"warmup": -1}])
    def test_too_few_are_refused(self, settings):
        (said,) = [f"GibbsSampling: {name} is {number!r}; it is a" for name, number in settings.items()]
        with pytest.raises(ValueError, match=said):
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
        with pytest.raises(ValueError, match=f"GibbsSampling: {name} is {number!r}; it is a"):
            GibbsSampling(rng=np.random.default_rng(1), **{name: number})

    def test_settings_may_be_whole_floats(self):
        one = sampled(SMALL, draws=20, chains=2, warmup=5, kept=10)
        other = sampled(SMALL, draws=20.0, chains=2.0, warmup=5.0, kept=10.0)
        assert np.array_equal(one.draws, other.draws)

    def test_a_prior_that_rules_out_what_is_shown_is_refused(self):
        evidence = Evidence(np.zeros(2, int), np.arange(2), np.array([[1, 0], [0, 1]]), np.array([0.0, 1.0]))
        with pytest.raises(ValueError, match=r"group 0 shows value 0, which evidence\.rest gives no probability"):
            sampled(evidence)
