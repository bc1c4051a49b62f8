"""Sinkhorn scaling, by the conditions that characterize its limit."""

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import distributions, problems

from foreknow.models import Exact, Omega, Problem, Sinkhorn, Status


def solve(prior, counts, **settings):
    posterior = Sinkhorn(**settings)(Problem(np.asarray(prior, float), np.zeros(len(prior), int), np.array([counts])))
    return posterior.probabilities, Status(int(posterior.status[0]))


def random_group(seed, largest=40, sharpness=0.5):
    """Positive priors of some members, and counts in which each value is shown at least once."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 8))
    k = int(rng.integers(d, largest))
    counts = np.bincount(np.concatenate([np.arange(d), rng.integers(0, d, size=k - d)]), minlength=d)
    return np.maximum(rng.dirichlet(np.full(d, sharpness), size=k), 1e-6), counts


def not_additive(table, where):
    """Largest residual of a table, on some cells, from the best sum of a row term and a column term."""
    k, d = table.shape
    rows, columns = np.nonzero(where)
    terms = np.zeros((len(rows), k + d))
    terms[np.arange(len(rows)), rows] = terms[np.arange(len(rows)), k + columns] = 1
    fit = np.linalg.lstsq(terms, table[where], rcond=None)[0]
    return np.abs(terms @ fit - table[where]).max()


class TestOneTurnIsOmega:
    @pytest.mark.parametrize("seed", range(5))
    def test_where_nothing_is_ruled_out(self, seed):
        prior, counts = random_group(seed)
        prior /= prior.sum(axis=1, keepdims=True)
        problem = Problem(prior, np.zeros(len(prior), int), counts[None])
        once = Sinkhorn(iterations=1)(problem)
        assert np.allclose(once.probabilities, Omega()(problem).probabilities, rtol=1e-12)
        assert once.status.tolist() == [Status.UNCONVERGED]

    def test_not_where_something_is(self):
        """Only the first member can have a; Omega still gives it a belief in b."""
        prior, counts = [[0.5, 0.5], [0.0, 1.0]], [1, 1]
        assert np.array_equal(solve(prior, counts, iterations=1)[0], np.eye(2))
        problem = Problem(np.array(prior), np.zeros(2, int), np.array([counts]))
        assert Omega()(problem).probabilities[0, 1] == pytest.approx(0.25)


class TestCertificate:
    """The nearest table in Kullback-Leibler divergence is the only one with both margins and the form x_i P[i,s] y_s."""

    @pytest.mark.parametrize("seed", range(20))
    def test_positive_priors(self, seed):
        prior, counts = random_group(seed)
        prior /= prior.sum(axis=1, keepdims=True)
        belief, status = solve(prior, counts)
        assert status == Status.FINE
        assert np.allclose(belief.sum(axis=1), 1, rtol=0, atol=1e-12)
        assert np.allclose(belief.sum(axis=0), counts, rtol=0, atol=len(prior) * 1e-9)
        assert not_additive(np.log(belief / prior), np.ones(prior.shape, bool)) < 1e-9

    @given(problem=problems(possible=True, groups=1))
    def test_with_pairs_ruled_out(self, problem):
        """Converged or not, it is 0 exactly for pairs in no assignment, and has the right form elsewhere."""
        posterior = Sinkhorn()(problem)
        inside = problem.group == 0
        belief, prior = posterior.probabilities[inside], problem.prior[inside]
        pairs = oracle.possible(prior, problem.counts[0])
        assert np.array_equal(belief > 0, pairs)
        form = np.log(np.where(pairs, belief, 1) / np.where(pairs, prior, 1))
        assert not_additive(form, pairs) < 1e-8
        if posterior.status[0] == Status.FINE:
            assert np.allclose(belief.sum(axis=0), problem.counts[0], rtol=0, atol=len(prior) * 1e-9)

    @pytest.mark.parametrize("seed", range(5))
    def test_no_other_table_with_these_margins_is_nearer(self, seed):
        """Neither the exact posterior nor a mixture of it and the answer is nearer."""
        prior, counts = random_group(seed, largest=12)
        prior /= prior.sum(axis=1, keepdims=True)
        belief, _ = solve(prior, counts)
        exact = Exact()(Problem(prior, np.zeros(len(prior), int), counts[None])).probabilities
        distances = [
            (table * np.log(table / prior)).sum()
            for table in ((1 - weight) * belief + weight * exact for weight in (0.0, 0.01, 0.1, 0.5, 1.0))
        ]
        assert (np.diff(distances) > 0).all()


class TestWithoutTotalSupport:
    """A pair in no assignment slows plain scaling to 1 / iterations; here it is set to 0 first."""

    def test_a_chain_has_one_assignment(self):
        prior = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]
        belief, status = solve(prior, [1, 1, 1])
        assert np.array_equal(belief, np.eye(3))
        assert status == Status.FINE

    def test_a_known_member_takes_its_value_from_the_others(self):
        """The third member has a, so b and c remain for the first two, with the odds of Omega's limit."""
        prior = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]
        belief, status = solve(prior, [1, 1, 1])
        odds = np.sqrt((0.3 * 0.5) / (0.2 * 0.3))
        assert status == Status.FINE
        assert np.allclose(belief[:2], [[0, odds / (1 + odds), 1 / (1 + odds)], [0, 1 / (1 + odds), odds / (1 + odds)]])
        assert (belief[:2, 0] == 0).all()
        assert np.array_equal(belief[2], [1, 0, 0])

    def test_two_blocks_do_not_mix(self):
        """Values a and b are for the first two members, because the last two can have only c and d."""
        prior = np.array([[0.3, 0.3, 0.3, 0.1], [0.4, 0.2, 0.2, 0.2], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.9, 0.1]])
        belief, status = solve(prior, [1, 1, 1, 1])
        assert status == Status.FINE
        assert (belief[:2, 2:] == 0).all()
        odds = np.sqrt((0.3 * 0.2) / (0.3 * 0.4))
        assert belief[0, 0] == pytest.approx(odds / (1 + odds), abs=4e-9)


class TestConvergence:
    SHARP = np.array([[0.999999, 1e-6, 0.0], [5e-7, 0.5, 0.4999995], [0.3, 0.3, 0.4]])

    def test_too_few_turns_are_reported_of_that_group_alone(self):
        prior = np.vstack([self.SHARP, np.full((2, 3), 1 / 3)])
        problem = Problem(prior, np.array([0, 0, 0, 1, 1]), np.array([[1, 1, 1], [1, 0, 1]]))
        posterior = Sinkhorn(iterations=1)(problem)
        assert posterior.status.tolist() == [Status.UNCONVERGED, Status.FINE]
        assert np.allclose(posterior.probabilities.sum(axis=1), 1)

    def test_a_contradiction_can_be_unconverged_too(self):
        prior = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]
        assert solve(prior, [1, 1, 1], iterations=1)[1] == Status.CONTRADICTED | Status.UNCONVERGED

    @pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-12])
    def test_the_tolerance_bounds_how_far_the_answer_is(self, tolerance):
        """Half of the total deviation of the columns: k members, each row off by the tolerance (see test_estimators)."""
        rng = np.random.default_rng(3)
        for _ in range(20):
            prior = rng.dirichlet(np.full(3, 0.4), size=6)
            belief, status = solve(prior, [1, 2, 3], tolerance=tolerance)
            assert status == Status.FINE
            assert np.abs(belief - oracle.sinkhorn_posterior(prior, [1, 2, 3])).max() <= 3 * tolerance + 2e-12

    def test_a_thousand_people(self):
        prior = np.random.default_rng(4).dirichlet(np.full(5, 0.3), size=1000)
        counts = np.array([400, 300, 200, 99, 1])
        belief, status = solve(prior, counts)
        assert status == Status.FINE
        assert np.allclose(belief.sum(axis=0), counts, rtol=0, atol=1e-6)

    @pytest.mark.parametrize("factor", [0.3, 1e-100, 1e-300])
    @given(row=distributions(3), counts=st.tuples(*[st.integers(1, 3)] * 3))
    def test_only_ratios_within_a_row_matter(self, factor, row, counts):
        """The rest of a row that is scaled down is the prior of a value that is not shown."""
        k = sum(counts)
        prior = np.full((k, 4), [0.2, 0.3, 0.5, 0.0])
        prior[0, :3] = row / 4 + 0.25
        prior[0] /= prior[0].sum()
        before, _ = solve(prior, [*counts, 0])
        prior[0, :3] *= factor
        prior[0, 3] = 1 - factor
        assert np.allclose(solve(prior, [*counts, 0])[0], before, rtol=0, atol=k * 1e-9)


@pytest.mark.parametrize(
    "settings", [{"tolerance": 0}, {"tolerance": -1e-9}, {"tolerance": np.nan}, {"iterations": 0}, {"iterations": -5}]
)
def test_settings_that_never_stop_are_refused(settings):
    with pytest.raises(ValueError, match=r"Sinkhorn: .*; it is a (positive finite number|number of iterations)"):
        Sinkhorn(**settings)
