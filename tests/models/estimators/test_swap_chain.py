"""The sampler against enumeration, within its standard errors, and the standard errors against its deviations."""

import numpy as np
import oracle
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from scipy import stats
from strategies import problems

from foreknow.models import DirichletMultinomial, Exact, Problem, Status, SwapChain
from foreknow.models.estimators import swap_chain
from foreknow.models.estimators import swap_chain as swap_moves

RISK = 1e-4
"""Probability that a test of standard errors fails by chance, over random seeds."""


def far(comparisons):
    """Largest deviation in standard errors, over a number of comparisons (Bonferroni)."""
    return stats.norm.isf(RISK / (2 * comparisons))


def sample(prior, counts, seed=0, **settings):
    problem = Problem(np.asarray(prior, float), np.zeros(len(prior), int), np.array([counts]))
    return SwapChain(rng=np.random.default_rng(seed), **settings)(problem)


def group_of(case, k, rng):
    """Priors and counts of k members: distinct values, repeated values, or pairs ruled out."""
    d = {"distinct": k, "repeated": 3, "zeros": k}[case]
    counts = np.bincount(np.concatenate([np.arange(d), rng.integers(0, d, size=k - d)]), minlength=d)
    prior = rng.dirichlet(np.full(d, 1.0), size=k) + 0.02
    if case == "zeros":
        # One value each is ruled out, which leaves ways of three people between all assignments that remain.
        prior[np.arange(k), (np.arange(k) + 1) % k] = 0
    return prior / prior.sum(axis=1, keepdims=True), counts


class TestEnumeration:
    @pytest.mark.parametrize("k", [4, 5, 6, 7])
    @pytest.mark.parametrize("case", ["distinct", "repeated", "zeros"])
    def test_beliefs_are_within_their_errors(self, case, k):
        rng = np.random.default_rng(k)
        for seed in range(3):
            prior, counts = group_of(case, k, rng)
            posterior = sample(prior, counts, seed, draws=1000)
            expected = oracle.product_posterior(prior, counts)
            off = np.abs(posterior.probabilities - expected)
            assert (off <= far(3 * off.size) * posterior.standard_error + 1e-12).all()
            assert posterior.standard_error.max() < 0.02
            assert (posterior.rhat < 1.05).all()
            assert posterior.status.tolist() == [Status.FINE]

    def test_a_larger_group_against_the_exact_posterior(self):
        """Thirty members and three values: 30!/(8! 10! 12!) assignments."""
        prior = np.random.default_rng(1).dirichlet(np.full(3, 0.6), size=30) * 0.97 + 0.01
        counts = [8, 10, 12]
        posterior = sample(prior, counts, draws=1000)
        expected = Exact()(Problem(prior, np.zeros(30, int), np.array([counts]))).probabilities
        off = np.abs(posterior.probabilities - expected)
        assert (off <= far(off.size) * posterior.standard_error).all()

    def test_more_draws_are_nearer(self):
        """The error falls with the root of the draws: to a tenth for a hundred times the draws."""
        prior, counts = group_of("distinct", 5, np.random.default_rng(2))
        few, many = (sample(prior, counts, draws=draws).standard_error for draws in (50, 5000))
        assert np.median(few / many) == pytest.approx(10, rel=0.3)

    def test_columns_sum_to_the_counts_within_their_errors(self):
        """The standard error of a sum is at most the sum of the standard errors."""
        for case, k in (("distinct", 6), ("repeated", 12), ("zeros", 7)):
            prior, counts = group_of(case, k, np.random.default_rng(3))
            posterior = sample(prior, counts)
            off = np.abs(posterior.probabilities.sum(axis=0) - counts)
            assert (off <= far(3 * len(counts)) * posterior.standard_error.sum(axis=0)).all()
            assert np.allclose(posterior.probabilities.sum(axis=1), 1, atol=1e-12)


class TestErrors:
    def test_standard_errors_are_as_large_as_the_errors(self):
        """Two hundred equal groups, sampled independently: squares of deviations over standard errors average to 1.

        Were these normal, the sum of squares would be chi-squared with 200 degrees of freedom, whose quantiles bound the
        average; and the average error, which is the bias, would be normal with variance 1/200.
        """
        runs = 200
        rng = np.random.default_rng(4)
        prior, counts = group_of("distinct", 5, rng)
        problem = Problem(np.tile(prior, (runs, 1)), np.repeat(np.arange(runs), 5), np.tile(counts, (runs, 1)))
        posterior = SwapChain(rng=rng)(problem)
        z = (
            posterior.probabilities - np.tile(oracle.product_posterior(prior, counts), (runs, 1))
        ) / posterior.standard_error
        z = z.reshape(runs, -1)
        low, high = stats.chi2.ppf([RISK / (2 * z.shape[1]), 1 - RISK / (2 * z.shape[1])], runs) / runs
        assert low < (z**2).mean(axis=0).min()
        assert (z**2).mean(axis=0).max() < high
        assert np.abs(z.mean(axis=0)).max() * np.sqrt(runs) < far(z.shape[1])

    @pytest.mark.parametrize("draws", [200, 1000])
    def test_effective_sizes_are_those_of_independent_draws_where_all_priors_are_equal(self, draws):
        """Four members with equal priors, one a and three b: the chain has no memory.

        The averaged conditional probabilities vary less than a draw would: p (1 - p) / draws is the variance of the mean of
        independent draws, and the standard error must be below its root.
        """
        posterior = sample(np.full((4, 2), 0.5), [1, 3], draws=draws)
        assert (posterior.standard_error < np.sqrt(0.25 * 0.75 / (4 * draws))).all()
        off = np.abs(posterior.probabilities - [[0.25, 0.75]])
        assert (off <= far(off.size) * posterior.standard_error).all()

    def test_they_are_arviz_s(self):
        """Mean, standard error by the effective sample size, and R-hat of the chains that the sampler averages."""
        prior, counts = group_of("repeated", 6, np.random.default_rng(5))
        values = np.repeat(np.arange(3), counts)
        start = swap_chain._likeliest_assignment(prior, values)
        kept = swap_moves.sample_probabilities(prior, start, 250, 4, 83, np.random.default_rng(6))
        posterior = sample(prior, counts, 6)
        axes = {"chain_axis": -2, "draw_axis": -1}
        ess = array_stats.ess(kept, method="mean", **axes)
        assert np.allclose(posterior.ess, ess, rtol=1e-9)
        assert np.allclose(posterior.rhat, array_stats.rhat(kept, method="split", **axes), rtol=1e-9)
        assert np.allclose(posterior.standard_error, kept.std(axis=(-2, -1)) / np.sqrt(ess), rtol=1e-9)
        assert np.allclose(posterior.probabilities, kept.mean(axis=(-2, -1)), rtol=1e-9)


class TestCertainty:
    def test_a_certain_row_is_unchanged(self):
        prior = np.vstack([np.full((4, 4), 0.25), [[0.0, 0.0, 1.0, 0.0]]])
        posterior = sample(prior, [1, 1, 2, 1])
        assert np.array_equal(posterior.probabilities[4], prior[4])
        assert np.array_equal(posterior.standard_error[4], np.zeros(4))

    def test_groups_of_three_are_exact(self):
        """Groups of any size with one shown value are exact too."""
        prior = np.random.default_rng(7).dirichlet(np.ones(3), size=11)
        group, counts = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, -1]), [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 4, 0]]
        posterior = SwapChain(draws=8, chains=2, rng=np.random.default_rng(8))(Problem(prior, group, np.array(counts)))
        for j in range(4):
            expected = oracle.product_posterior(prior[group == j], counts[j])
            assert np.allclose(posterior.probabilities[group == j], expected, rtol=0, atol=1e-12)
        assert np.allclose(posterior.probabilities[10], prior[10], rtol=0, atol=1e-15)
        assert (posterior.standard_error == 0).all()
        assert (posterior.ess == 16).all()
        assert (posterior.rhat == 1).all()


class TestReach:
    def test_a_3_cycle_is_reached(self):
        """Two assignments without a transposition between them: .6 .5 .7 against .4 .5 .3. The fourth member is known."""
        prior = np.array([[0.6, 0.4, 0, 0], [0, 0.5, 0.5, 0], [0.3, 0, 0.7, 0], [0, 0, 0, 1.0]])
        posterior = sample(prior, [1, 1, 1, 1], draws=1000)
        expected = oracle.product_posterior(prior, [1, 1, 1, 1])
        assert expected[0, 0] == pytest.approx(0.21 / 0.27)
        off = np.abs(posterior.probabilities - expected)
        assert (off <= far(4) * posterior.standard_error).all()
        assert (posterior.standard_error[:3].max(axis=1) > 0).all()

    def test_a_4_cycle_is_not_reached_and_the_status_says_so(self):
        """The limit stated in the docstring: .51 becomes certain with R-hat 1, and a possible pair is never drawn."""
        likelier = np.array([0.6, 0.5, 0.5, 0.51 / (0.51 + 0.49 * 1.5)])
        prior = np.diag(likelier) + np.roll(np.diag(1 - likelier), 1, axis=1)
        expected = oracle.product_posterior(prior, [1, 1, 1, 1])
        assert expected[0, 0] == pytest.approx(0.51)
        posterior = sample(prior, [1, 1, 1, 1])
        assert np.array_equal(posterior.probabilities, np.eye(4))
        assert (posterior.standard_error == 0).all()
        assert (posterior.rhat == 1).all()
        assert posterior.status.tolist() == [Status.UNCONVERGED]

    def test_a_4_cycle_is_reached_through_a_fifth_member(self):
        """A fifth member with all values possible connects all assignments."""
        prior = np.full((5, 5), 0.0)
        prior[np.arange(4), np.arange(4)], prior[np.arange(4), (np.arange(4) + 1) % 4] = 0.5, 0.3
        prior[:4, 4], prior[4] = 0.2, 0.2
        posterior = sample(prior, [1] * 5, draws=2000)
        off = np.abs(posterior.probabilities - oracle.product_posterior(prior, [1] * 5))
        assert (off <= far(25) * posterior.standard_error + 1e-12).all()

    @pytest.mark.parametrize("small", [1e-110, 1e-200])
    def test_only_ratios_within_a_row_matter(self, small):
        """Four members with equal, tiny priors for the shown values: each has belief 1/4 in each."""
        prior = np.column_stack([np.full((4, 4), small), np.ones(4)])
        posterior = sample(prior, [1, 1, 1, 1, 0])
        off = np.abs(posterior.probabilities[:, :4] - 0.25)
        assert (off <= far(16) * posterior.standard_error[:, :4]).all()


class TestContradiction:
    def test_is_reported_of_that_group_alone(self):
        prior = np.vstack([np.full((5, 3), [0.5, 0.5, 0.0]), np.full((4, 3), 1 / 3), [[0.1, 0.2, 0.7]]])
        group = np.array([0] * 5 + [1] * 4 + [-1])
        posterior = SwapChain(rng=np.random.default_rng(9))(Problem(prior, group, np.array([[2, 2, 1], [2, 1, 1]])))
        assert posterior.status.tolist() == [Status.CONTRADICTED, Status.FINE]
        assert np.allclose(posterior.probabilities.sum(axis=1), 1)
        assert np.array_equal(posterior.probabilities[9], prior[9])

    def test_the_doubt_gives_what_is_ruled_out_to_all_alike(self):
        """Five equal members rule out a shown value: belief 1/5 each, as in the exact posterior."""
        prior = np.full((5, 3), [0.5, 0.5, 0.0])
        posterior = sample(prior, [2, 2, 1])
        off = np.abs(posterior.probabilities - [[0.4, 0.4, 0.2]])
        assert (off <= far(15) * posterior.standard_error + 1e-9).all()


class TestChance:
    def test_the_same_seed_gives_the_same_answer_and_the_next_call_another(self):
        prior, counts = group_of("distinct", 5, np.random.default_rng(10))
        problem = Problem(prior, np.zeros(5, int), counts[None])
        estimator = SwapChain(rng=np.random.default_rng(11))
        first, second, again = estimator(problem), estimator(problem), sample(prior, counts, 11)
        for name in ("probabilities", "standard_error", "ess", "rhat"):
            assert np.array_equal(getattr(first, name), getattr(again, name))
            assert not np.array_equal(getattr(first, name), getattr(second, name))

    def test_warming_up_costs_draws_of_chance_and_keeps_as_many(self):
        prior, counts = group_of("repeated", 6, np.random.default_rng(12))
        without, default, third = (sample(prior, counts, 13, draws=30, warmup=warmup) for warmup in (0, None, 10))
        assert np.array_equal(default.probabilities, third.probabilities)
        assert not np.array_equal(without.probabilities, default.probabilities)


class TestConformance:
    @given(problem=problems())
    def test_any_problem_has_an_answer(self, problem):
        """Rows are distributions over the shown values."""
        posterior = SwapChain(draws=8, chains=2, rng=np.random.default_rng(14))(problem)
        outside = problem.group < 0
        assert np.allclose(posterior.probabilities.sum(axis=1), 1, atol=1e-9)
        assert np.array_equal(posterior.probabilities[outside], problem.prior[outside])
        assert (posterior.probabilities[~outside][problem.counts[problem.group[~outside]] == 0] == 0).all()
        assert np.array_equal(posterior.status & Status.CONTRADICTED, Exact()(problem).status)
        assert (posterior.standard_error >= 0).all()
        assert (posterior.ess > 0).all()

    def test_without_groups_there_is_nothing_to_learn(self):
        prior = np.array([[0.2, 0.8], [1.0, 0.0]])
        posterior = SwapChain(rng=np.random.default_rng(15))(Problem(prior, np.array([-1, -1]), np.zeros((0, 2), int)))
        assert np.array_equal(posterior.probabilities, prior)

    def test_it_says_that_it_is_not_exact(self):
        assert not SwapChain.exact

    def test_evidence_is_refused(self):
        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]), np.zeros((2, 2)))
        with pytest.raises(ValueError, match=r"has evidence .*SwapChain"):
            SwapChain(rng=np.random.default_rng(16))(problem)
        assert np.allclose(DirichletMultinomial()(problem).probabilities, 0.5)


class TestSettings:
    def test_chance_must_come_from_somewhere(self):
        with pytest.raises(TypeError, match="rng"):
            SwapChain()

    @pytest.mark.parametrize("rng", [None, 1.5, np.random.RandomState(1)])
    def test_chance_comes_from_a_generator(self, rng):
        with pytest.raises(TypeError, match=r"rng is .*; it is a generator, as numpy\.random\.default_rng\(1\)"):
            SwapChain(rng=rng)

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"draws": 7}, "draws is 7; it is a number of draws, from 8"),
            ({"chains": 1}, "chains is 1; it is a number of chains, from 2"),
            ({"warmup": -1}, "warmup is -1; it is a number of draws, from 0"),
            ({"draws": 0}, "draws is 0"),
        ],
    )
    def test_too_few_are_refused(self, settings, match):
        with pytest.raises(ValueError, match=match):
            SwapChain(rng=np.random.default_rng(1), **settings)

    def test_the_fewest_work(self):
        posterior = sample(np.full((5, 5), 0.2), [1] * 5, draws=8, chains=2, warmup=0)
        assert np.isfinite(posterior.standard_error).all()
        assert np.isfinite(posterior.ess).all()
