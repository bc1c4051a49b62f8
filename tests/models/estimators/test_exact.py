"""The exact posterior beyond the reach of enumeration: large groups, kinds of members, sharp knowledge, limits."""

import re
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import problems

from foreknow.models import Exact, Problem, Status, TooLarge


def solve(prior, counts, **settings):
    posterior = Exact(**settings)(Problem(np.asarray(prior, float), np.zeros(len(prior), int), np.array([counts])))
    return posterior.probabilities, posterior.status[0]


@given(problem=problems(possible=True, hidden=True, largest=4), data=st.data())
def test_only_ratios_within_a_row_matter(problem, data):
    """A member's priors of shown values can be scaled, with the rest for a hidden value, without effect."""
    scaled = problem.prior.copy()
    for row in np.flatnonzero(problem.group >= 0):
        shown = problem.counts[problem.group[row]] > 0
        scaled[row, ~shown] = 0
        scaled[row] *= data.draw(st.sampled_from([1e-4, 0.3, 1.0])) / scaled[row].sum()
        scaled[row, -1] += max(0.0, 1 - scaled[row].sum())
    before = Exact()(problem).probabilities
    after = Exact()(Problem(scaled, problem.group, problem.counts)).probabilities
    inside = problem.group >= 0
    assert np.allclose(after[inside], before[inside], rtol=1e-7, atol=1e-10)


class TestByKinds:
    """Few kinds of members and many values: the sum runs over published values."""

    def test_forty_alike_with_twelve_values_have_the_shares(self):
        counts = [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 2]
        row = np.random.default_rng(1).dirichlet(np.ones(12))
        belief, status = solve(np.tile(row, (40, 1)), counts)
        assert np.allclose(belief, np.array(counts) / 40, atol=1e-12)
        assert status == Status.FINE

    def test_one_odd_person_among_many_alike(self):
        """One of k members has odds r_s of value s relative to the others: P(s) is n_s r_s over the sum."""
        counts = np.array([1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 2])
        rng = np.random.default_rng(2)
        common, odd = rng.dirichlet(np.ones(12), size=2)
        belief, _ = solve(np.vstack([np.tile(common, (39, 1)), odd]), counts)
        expected = counts * odd / common / (counts * odd / common).sum()
        assert np.allclose(belief[39], expected, rtol=1e-10)
        assert np.allclose(belief[:39], (counts - expected) / 39, rtol=1e-10)

    def test_three_kinds_and_seven_values(self):
        """Against whole-number arithmetic over the values."""
        rng = np.random.default_rng(3)
        kinds = rng.integers(0, 9, size=(3, 7)) + 1
        rows = [tuple(Fraction(int(w), int(kind.sum())) for w in kind) for kind in kinds]
        prior, counts = [rows[i % 3] for i in range(14)], [2] * 7
        belief, _ = solve([[float(p) for p in row] for row in prior], counts)
        assert np.allclose(belief, oracle.exact_posterior(prior, counts), rtol=1e-10)

    @pytest.mark.parametrize(("first", "second", "shown"), [(3, 4, 2), (30, 50, 25), (200, 100, 170)])
    def test_two_kinds_and_two_values_are_fisher_s_noncentral_hypergeometric(self, first, second, shown):
        p, q = 0.3, 0.12
        prior = np.array([[p, 1 - p]] * first + [[q, 1 - q]] * second)
        belief, _ = solve(prior, [shown, first + second - shown])
        odds = (p / (1 - p)) / (q / (1 - q))
        mean = stats.nchypergeom_fisher(first + second, first, shown, odds).mean()
        assert np.allclose(belief[:first, 0], mean / first, rtol=1e-8)
        assert np.allclose(belief[first:, 0], (shown - mean) / second, rtol=1e-8)


class TestLargeGroups:
    @pytest.mark.parametrize("sharpness", [1.0, 0.05], ids=["vague", "sharp"])
    def test_a_thousand_people_and_two_values(self, sharpness):
        rng = np.random.default_rng(4)
        share = np.clip(rng.beta(sharpness, sharpness, size=1000), 1e-9, 1 - 1e-9)
        belief, status = solve(np.column_stack([share, 1 - share]), [500, 500])
        assert np.isfinite(belief).all()
        assert np.allclose(belief.sum(axis=1), 1)
        assert np.allclose(belief.sum(axis=0), 500)
        assert (np.diff(belief[np.argsort(share), 0]) >= -1e-12).all()
        assert status == Status.FINE

    def test_a_thousand_people_against_odds_that_reach_the_count(self):
        """With priors whose expected count is 500, conditioning changes the belief by order 1/1000."""
        share = np.random.default_rng(5).uniform(0.2, 0.8, size=1000)
        share = np.concatenate([share[:500], 1 - share[:500]])
        belief, _ = solve(np.column_stack([share, 1 - share]), [500, 500])
        assert np.abs(belief[:, 0] - share).max() < 1 / 1000

    @pytest.mark.parametrize("seed", range(6))
    def test_thirty_people_and_three_values_in_whole_numbers(self, seed):
        rng = np.random.default_rng(seed)
        weights = (
            np.maximum(rng.integers(-20, 1000, size=(30, 3)), 0)[rng.integers(0, 30, size=30)] + np.eye(3, dtype=int)[0]
        )
        prior = [tuple(Fraction(int(w), int(row.sum())) for w in row) for row in weights]
        truth = [rng.choice(np.flatnonzero(row)) for row in weights]
        counts = np.bincount(truth, minlength=3).tolist()
        belief, status = solve([[float(p) for p in row] for row in prior], counts)
        assert np.allclose(belief, oracle.exact_posterior(prior, counts), rtol=1e-9, atol=1e-14)
        assert status == Status.FINE

    @pytest.mark.parametrize("small", [1e-3, 1e-6])
    def test_sharp_knowledge_that_is_barely_possible(self, small):
        """A third nearly certainly has a but must have b, a third is uniform, a third has a: one assignment."""
        n = 60
        prior = [[1 - small, small]] * n + [[0.5, 0.5]] * n + [[1.0, 0.0]] * n
        belief, status = solve(prior, [n, 2 * n])
        assert np.allclose(belief[:, 0], [0] * n + [0] * n + [1] * n)
        assert status == Status.FINE

    @pytest.mark.parametrize(("n", "small"), [(50, 1e-12), (100, 1e-9), (300, 1e-9)])
    def test_sharper_knowledge_that_is_barely_possible(self, n, small):
        prior = [[1 - small, small]] * n + [[0.5, 0.5]] * n + [[1.0, 0.0]] * n
        belief, status = solve(prior, [n, 2 * n])
        assert np.allclose(belief.sum(axis=1), 1)
        assert np.allclose(belief[:, 0], [0] * n + [0] * n + [1] * n)
        assert status == Status.FINE

    def test_rows_are_distributions_whatever_is_asked(self):
        prior = [[1 - 1e-9, 1e-9]] * 100 + [[0.5, 0.5]] * 100 + [[1.0, 0.0]] * 100
        assert np.allclose(solve(prior, [100, 200])[0].sum(axis=1), 1)


class TestLimit:
    def test_too_large_names_the_group_and_the_way_out_before_any_work(self):
        """2**60 states are too many to enumerate."""
        k = 60
        prior = np.random.default_rng(6).dirichlet(np.ones(k), size=k)
        problem = Problem(
            np.vstack([np.full((2, k), 1 / k), prior]),
            np.array([0, 0, *[1] * k]),
            np.vstack([np.eye(k, dtype=int)[0] * 2, np.ones((1, k), int)]),
        )
        message = (
            r"group 1 has 60 respondents and 1\.15e\+18 states, more than the limit of 4194304\. "
            r"Use Auto\(\) \(--estimator auto\), which approximates such groups alone, or Exact\(limit"
        )
        with pytest.raises(TooLarge, match=message):
            Exact()(problem)
        assert issubclass(TooLarge, ValueError)

    def test_the_limit_is_inclusive(self):
        prior = np.array([[0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
        assert solve(prior, [1, 2], limit=6)[1] == Status.FINE
        with pytest.raises(TooLarge, match=re.escape("3 respondents and 6 states, more than the limit of 5")):
            solve(prior, [1, 2], limit=5)

    def test_kinds_of_people_count_where_they_are_fewer(self):
        """Sixty distinct values have 2**60 states, sixty equal members 61."""
        belief, status = solve(np.full((60, 60), 1 / 60), [1] * 60)
        assert np.allclose(belief, 1 / 60)
        assert status == Status.FINE

    def test_kinds_of_people_count_under_a_small_limit_too(self):
        """Ten distinct values have 1024 states, ten equal members 11."""
        assert solve(np.full((10, 10), 1 / 10), [1] * 10, limit=100)[1] == Status.FINE
