"""Belief propagation by the properties of its fixed point: the minimum of the convex Bethe free energy.

For a doubly stochastic table gamma of k members and k published values, and their priors A (Vontobel 2013)::

    F(gamma) = sum of gamma log(gamma / A) - (1 - gamma) log(1 - gamma)        perm_B(A) = exp(-min F)
"""

import numpy as np
import oracle
import pytest
from hypothesis import given
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy
from strategies import problems

from foreknow.models import BeliefPropagation, Exact, Problem, Status
from foreknow.models.estimators import belief_propagation
from foreknow.models.estimators.belief_propagation import plain_messages


def solve(prior, counts, **settings):
    problem = Problem(np.asarray(prior, float), np.zeros(len(prior), int), np.array([counts]))
    posterior = BeliefPropagation(**settings)(problem)
    return posterior.probabilities, Status(int(posterior.status[0]))


def expanded(belief, prior, counts):
    """Belief and priors for published values, with equal ones distinguished: gamma and A."""
    published = np.repeat(np.arange(len(counts)), counts)
    return belief[:, published] / np.asarray(counts)[published], np.asarray(prior)[:, published]


def free_energy(gamma, a):
    return (xlogy(gamma, gamma) - xlogy(gamma, np.where(gamma > 0, a, 1)) - xlogy(1 - gamma, 1 - gamma)).sum()


def permanent(a):
    return a[np.arange(len(a)), oracle.permutations(len(a))].prod(axis=1).sum()


def vague_groups(count, largest=9):
    """Positive priors without a dominant assignment, and counts with repetitions."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        k = int(rng.integers(3, largest))
        d = int(rng.integers(2, k + 1))
        counts = np.bincount(np.concatenate([np.arange(d), rng.integers(0, d, size=k - d)]), minlength=d)
        yield 0.5 * rng.dirichlet(np.full(d, 0.7), size=k) + 0.5 / d, counts


class TestSmallGroups:
    @given(problem=problems(possible=True, largest=2))
    def test_two_people_are_exact(self, problem):
        belief = BeliefPropagation()(problem).probabilities
        for j, counts in enumerate(problem.counts):
            rows = problem.group == j
            expected = oracle.product_posterior(problem.prior[rows], counts)
            assert np.allclose(belief[rows], expected, rtol=0, atol=1e-12)

    def test_two_undecided_members_are_exact(self):
        """The third and the fourth member have a and b; c and d remain, with odds .3 .4 against .1 .2."""
        prior = [[0.5, 0.1, 0.3, 0.1], [0.2, 0.2, 0.2, 0.4], [1.0, 0, 0, 0], [0, 1.0, 0, 0]]
        belief, status = solve(prior, [1, 1, 1, 1])
        one = 0.12 / (0.12 + 0.02)
        assert np.allclose(belief[:2, 2:], [[one, 1 - one], [1 - one, one]], rtol=0, atol=1e-12)
        assert np.array_equal(belief[2:], np.eye(4)[:2])
        assert status == Status.FINE

    def test_two_pairs_of_people_are_exact_too(self):
        """No member of one pair can have a value of the other pair, as if they were two groups."""
        pair = np.array([[0.6, 0.4], [0.5, 0.5]])
        prior = np.block([[pair, np.zeros((2, 2))], [np.zeros((2, 2)), pair]])
        belief, _ = solve(prior, [1, 1, 1, 1])
        assert np.allclose(belief, oracle.product_posterior(prior, [1, 1, 1, 1]), atol=1e-9)

    def test_a_single_turn_of_three_is_exact_too(self):
        """Two assignments, with odds .6 .5 .5 against .4 .5 .5."""
        prior = [[0.6, 0.4, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]]
        assert np.allclose(np.diag(solve(prior, [1, 1, 1])[0]), 0.6, atol=1e-9)


class TestCertificate:
    def test_it_is_doubly_stochastic_and_stationary(self):
        """At the minimum log(gamma (1 - gamma) / A) is a term per member plus a term per published value."""
        for prior, counts in vague_groups(40):
            belief, status = solve(prior, counts, tolerance=1e-13)
            gamma, a = expanded(belief, prior, counts)
            assert status == Status.FINE
            assert np.allclose(gamma.sum(axis=0), 1, rtol=0, atol=1e-9)
            assert gamma.min() > 1e-4
            slope = np.log(gamma * (1 - gamma) / a)
            additive = slope.mean(axis=0) + slope.mean(axis=1, keepdims=True) - slope.mean()
            assert np.abs(slope - additive).max() < 1e-7

    def test_no_doubly_stochastic_table_has_less_free_energy(self):
        """Convexity: F lies above its tangent, whose minimum is at an assignment (bound of Frank and Wolfe)."""
        for prior, counts in vague_groups(40, largest=30):
            belief, _ = solve(prior, counts)
            gamma, a = expanded(belief, prior, counts)
            slope = np.log(gamma * (1 - gamma) / a)
            corner = np.zeros_like(gamma)
            corner[linear_sum_assignment(slope)] = 1
            assert 0 <= (slope * (gamma - corner)).sum() + 1e-9 < 1e-6 * len(prior)

    @pytest.mark.parametrize("sharpness", [3.0, 0.5, 0.1])
    def test_the_permanent_lies_between_bethe_s_and_sqrt_2_per_person_more(self, sharpness):
        """Gurvits 2011; Anari and Rezaei 2018. The upper bound holds of the minimum only."""
        rng = np.random.default_rng(2)
        ratios = []
        for k in (2, 3, 4, 5, 6, 7, 7, 7):
            d = min(k, 5)
            counts = np.bincount(np.concatenate([np.arange(d), rng.integers(0, d, size=k - d)]), minlength=d)
            prior = np.maximum(rng.dirichlet(np.full(d, sharpness), size=k), 1e-12)
            gamma, a = expanded(solve(prior / prior.sum(axis=1, keepdims=True), counts)[0], prior, counts)
            ratios.append((np.log(permanent(a)) + free_energy(gamma, a)) / k)
        assert min(ratios[1:]) >= -1e-9
        assert max(ratios[1:]) <= np.log(2) / 2 + 1e-9

    @pytest.mark.parametrize("odds", [0.05, 0.3, 0.9, 1.1, 2.0])
    def test_it_is_certain_exactly_where_exchanges_do_not_feed_each_other(self, odds):
        """F decreases away from an assignment if the matrix of odds against it has a spectral radius over 1.

        A circulation e away from it costs ``sum of e log(e / E) - e log W``, where E has the row sums of e and W[i, j] the
        odds of member i for j's value. The least cost per unit is -log of W's spectral radius. Below 1 the belief is certain,
        however likely other assignments are.
        """
        rng = np.random.default_rng(3)
        for k in (3, 5, 8):
            w = rng.uniform(0.1, 1.0, size=(k, k))
            np.fill_diagonal(w, 0)
            w *= odds / np.abs(np.linalg.eigvals(w)).max()
            prior = w + np.eye(k)
            belief, status = solve(prior / prior.sum(axis=1, keepdims=True), [1] * k)
            assert status == Status.FINE
            assert np.allclose(belief, np.eye(k), atol=1e-6) == (odds < 1)


class TestApproximation:
    def test_it_is_nearer_to_exact_than_the_margins_alone_where_priors_are_sharp(self):
        """One draw of cubed uniform numbers for seven members, computed apart, gave .03 against .12 for Sinkhorn."""
        rng = np.random.default_rng(4)
        errors = []
        for _ in range(20):
            prior = rng.uniform(size=(7, 7)) ** 3
            prior /= prior.sum(axis=1, keepdims=True)
            answers = (solve(prior, [1] * 7)[0], oracle.sinkhorn_posterior(prior, [1] * 7))
            exact = oracle.product_posterior(prior, [1] * 7)
            errors.append([np.abs(answer - exact).max() for answer in answers])
        of_messages, of_margins = np.mean(errors, axis=0)
        assert of_messages < 0.05
        assert of_margins > 2 * of_messages

    def test_many_people_and_two_values_are_nearly_exact(self):
        share = np.random.default_rng(5).uniform(0.2, 0.8, size=200)
        prior = np.column_stack([share, 1 - share])
        problem = Problem(prior, np.zeros(200, int), np.array([[100, 100]]))
        assert np.abs(solve(prior, [100, 100])[0] - Exact()(problem).probabilities).max() < 1 / 200


class CountedReads(np.ndarray):
    """Array that counts the reads of its elements, in plain Python."""

    reads = 0

    def __getitem__(self, place):
        CountedReads.reads += 1
        return super().__getitem__(place)


class TestMessages:
    """Messages of members in one iteration: ``W[i, s]`` over the sum for the other published values."""

    @pytest.mark.parametrize("scale", [1.0, 50.0, 800.0])
    def test_they_are_sums_that_leave_one_out(self, scale):
        """Against sums over the published values one by one, with logarithms outside the range of doubles."""
        rng = np.random.default_rng(8)
        capacity = np.array([1, 3, 1, 2])
        published = np.repeat(np.arange(4), capacity)
        weights, from_values = scale * rng.normal(size=(5, 4)), scale * rng.normal(size=(5, 4))
        weights[0, 2] = -np.inf
        from_members = np.zeros((5, 4))
        belief_propagation.update_members(weights, from_values, capacity, from_members)
        for i in range(5):
            for s in range(4):
                others = np.delete(published, np.flatnonzero(published == s)[0])
                expected = weights[i, s] - np.logaddexp.reduce((weights + from_values)[i, others])
                assert from_members[i, s] == pytest.approx(expected, rel=1e-12, abs=1e-12)

    def test_their_cost_grows_with_the_values_and_not_with_their_square(self):
        """Reads of elements by the uncompiled function, for d and for 2 d values of three members."""
        reads = []
        for d in (20, 40):
            arrays = [np.zeros((3, d)).view(CountedReads) for _ in range(3)]
            capacity = np.ones(d, dtype=np.int64).view(CountedReads)
            CountedReads.reads = 0
            belief_propagation.update_members.py_func(arrays[0], arrays[1], capacity, arrays[2])
            reads.append(CountedReads.reads)
        assert reads[1] < 2.2 * reads[0]


class TestExtremes:
    @pytest.mark.parametrize("k", [3, 10, 60])
    @pytest.mark.parametrize("iterations", [1, 2, 2000])
    def test_nothing_overflows(self, k, iterations):
        """Priors from 1e-300 to 1 - 1e-16: an assignment, one value for all members, and a mixture."""
        rng = np.random.default_rng(k)
        sure = np.full((k, k), 1e-300)
        sure[np.arange(k), rng.permutation(k)] = 1 - 1e-16
        wanted = np.full((k, k), 1e-300)
        wanted[:, 0] = 1 - 1e-16
        mixed = 10.0 ** rng.uniform(-300, 0, size=(k, k))
        for prior in (sure, wanted, mixed / mixed.sum(axis=1, keepdims=True)):
            belief, status = solve(prior, [1] * k, iterations=iterations)
            assert np.isfinite(belief).all()
            assert np.allclose(belief.sum(axis=1), 1)
            assert not status & Status.CONTRADICTED
            if iterations == 2000 and prior is sure:
                assert np.array_equal(belief > 0.5, sure > 0.5)

    def test_only_ratios_within_a_row_matter(self):
        rng = np.random.default_rng(6)
        prior = np.column_stack([rng.dirichlet(np.ones(4), size=6), np.zeros(6)])
        before, _ = solve(prior, [2, 1, 1, 2, 0])
        for factor in (0.3, 1e-100, 1e-300):
            prior[0, :4] *= factor / prior[0, :4].sum()
            prior[0, 4] = 1 - factor
            assert np.allclose(solve(prior, [2, 1, 1, 2, 0])[0], before, rtol=0, atol=2e-7)


class TestSettings:
    def test_damping_changes_the_way_and_not_the_answer(self):
        for prior, counts in vague_groups(10):
            answers = [solve(prior, counts, damping=damping) for damping in (0.0, 0.2, 0.8)]
            assert all(status == Status.FINE for _, status in answers)
            assert np.allclose(answers[0][0], answers[1][0], rtol=0, atol=2e-7)
            assert np.allclose(answers[0][0], answers[2][0], rtol=0, atol=2e-7)

    def test_too_few_rounds_are_reported_of_that_group_alone(self):
        prior = np.vstack([np.random.default_rng(7).dirichlet(np.ones(3), size=3), np.full((2, 3), 1 / 3)])
        problem = Problem(prior, np.array([0, 0, 0, 1, 1]), np.array([[1, 1, 1], [1, 0, 1]]))
        posterior = BeliefPropagation(iterations=2)(problem)
        assert posterior.status.tolist() == [Status.UNCONVERGED, Status.FINE]
        assert np.allclose(posterior.probabilities.sum(axis=1), 1)

    @pytest.mark.parametrize(
        "settings",
        [{"tolerance": 0}, {"tolerance": -1e-9}, {"tolerance": np.nan}, {"iterations": 0}, {"iterations": -5}],
    )
    def test_settings_that_never_stop_are_refused(self, settings):
        with pytest.raises(
            ValueError, match=r"BeliefPropagation: .*; it is a (positive finite number|number of iterations)"
        ):
            BeliefPropagation(**settings)

    @pytest.mark.parametrize("damping", [-0.1, 1.0, 2.0, np.nan])
    def test_damping_that_keeps_everything_is_refused(self, damping):
        with pytest.raises(ValueError, match=r"it is a number from 0 to 1, but not 1, 0\.2 by default"):
            BeliefPropagation(damping=damping)


class TestPlainMessages:
    """Messages without logarithms: those of the definition, and a refusal where floats would leave their range."""

    @pytest.mark.parametrize("iterations", [1, 2, 9])
    def test_they_are_those_of_the_definition(self, iterations):
        """Against sums over the other published values and the other members, one by one, in logarithms."""
        rng = np.random.default_rng(3)
        capacity, damping = np.array([2, 1, 3]), 0.2
        published = np.repeat(np.arange(3), capacity)
        weights, from_values = 5 * rng.normal(size=(6, 3)), np.zeros((6, 3))
        for _ in range(iterations):
            from_members = np.array(
                [
                    [
                        weights[i, s]
                        - np.logaddexp.reduce(
                            (weights + from_values)[i, np.delete(published, np.flatnonzero(published == s)[0])]
                        )
                        for s in range(3)
                    ]
                    for i in range(6)
                ]
            )
            undamped = -np.array([np.logaddexp.reduce(np.delete(from_members, i, axis=0)) for i in range(6)])
            from_values = damping * from_values + (1 - damping) * undamped
        expected = capacity / (1 + np.exp(-from_members - from_values))
        in_range, _, belief = plain_messages(weights, capacity, 0.0, iterations, damping)
        assert in_range
        np.testing.assert_allclose(belief, expected, rtol=1e-12)

    def test_extremes_are_left_to_logarithms(self):
        weights = np.log(np.array([[1 - 1e-150, 1e-150], [0.5, 0.5], [0.5, 0.5]]))
        assert not plain_messages(weights, np.array([1, 2]), 1e-10, 2000, 0.2)[0]
