"""Expectation-maximization against its definition over all assignments, slopes of the likelihood, and grids."""

import re

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from strategies import evidences

from foreknow.models import Auto, Evidence, Exact, ExpectationMaximization, Omega, Sinkhorn, TooLarge
from foreknow.models.foreground.fit import FitStatus
from foreknow.models.foreground.global_distribution import posterior_beliefs

EXAMPLE_2 = Evidence(
    np.array([0, 1, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2]), np.array([[1, 1], [1, 1], [0, 2]]), np.array([0.5, 0.5])
)
"""Foreground knowledge, Table 8."""

PAIR = Evidence(np.array([0, 1]), np.array([0, 0]), np.array([[1, 1]]), np.array([0.5, 0.5]))
"""One group of two records of two signatures, of which one has x."""


def groups(evidence, table):
    """Rows of priors, counts and signatures of each group."""
    rows = np.vstack([table, evidence.rest])[evidence.signature]
    for j, counts in enumerate(evidence.counts):
        inside = evidence.group == j
        yield rows[inside], counts, evidence.signature[inside]


def log_likelihood(evidence, table):
    """Log-likelihood of two values, over all assignments of each group."""
    with np.errstate(divide="ignore"):
        return sum(np.log(oracle.worlds(rows[:, 0], counts[0])[1].sum()) for rows, counts, _ in groups(evidence, table))


def expected_counts(evidence, table):
    """Expected number of each signature with each value, over all assignments of each group."""
    sums = np.zeros(table.shape)
    for rows, counts, signature in groups(evidence, table):
        belief = oracle.product_posterior(rows, counts)
        for person, row in zip(signature, belief, strict=True):
            if person >= 0:
                sums[person] += row
    return sums


def both(first):
    return np.column_stack([first, 1 - np.asarray(first)])


def more_than_one_value(evidence):
    return (evidence.counts > 0).sum(axis=1).max() > 1


class TestRounds:
    """Definition and monotonicity of rounds."""

    @given(evidences(values=3), st.integers(1, 4))
    def test_many_values_over_all_assignments(self, evidence, rounds):
        """The first rounds by definition: each signature's expected counts over its number of records."""
        assume(evidence.signatures > 0)
        seen = np.bincount(
            evidence.signature[(evidence.signature >= 0) & (evidence.group >= 0)], minlength=evidence.signatures
        )
        shares = np.zeros((evidence.signatures, 3))
        for signature, group in zip(evidence.signature, evidence.group, strict=True):
            if signature >= 0 and group >= 0:
                shares[signature] += evidence.counts[group] / evidence.counts[group].sum()
        table = np.where(seen[:, None] > 0, shares / np.maximum(seen, 1)[:, None], evidence.rest)
        table = np.maximum(table, 1e-9) / np.maximum(table, 1e-9).sum(axis=1, keepdims=True)
        for _ in range(rounds):
            counts = expected_counts(evidence, table)
            table = np.where(seen[:, None] > 0, counts / np.maximum(seen, 1)[:, None], evidence.rest)
        fit = ExpectationMaximization(tolerance=1e-300, starts=1, iterations=rounds, accelerated=False)(
            evidence, Exact()
        )
        assert np.allclose(fit.probabilities, table, rtol=0, atol=1e-9)

    @given(evidences(), st.booleans())
    def test_no_round_makes_the_groups_less_likely(self, evidence, accelerated):
        assume(evidence.signatures > 0)
        fits = [
            ExpectationMaximization(tolerance=1e-300, starts=1, iterations=rounds, accelerated=accelerated)(
                evidence, Auto()
            )
            for rounds in (2, 4, 6, 10, 20)
        ]
        likelihoods = [fit.log_likelihood for fit in fits]
        assert (np.diff(likelihoods) >= -1e-9).all()
        assert likelihoods[-1] == pytest.approx(log_likelihood(evidence, fits[-1].probabilities), abs=1e-9)

    @given(evidences(values=3))
    def test_nor_with_many_values(self, evidence):
        assume(evidence.signatures > 0)
        likelihoods = [
            ExpectationMaximization(tolerance=1e-300, starts=1, iterations=rounds)(evidence, Exact()).log_likelihood
            for rounds in (2, 4, 8, 16)
        ]
        assert (np.diff(likelihoods) >= -1e-9).all()

    @given(evidences())
    def test_two_values_are_a_case_of_many(self, evidence):
        """A third value that no group shows turns the closed form into the estimator's general rule."""
        assume(evidence.signatures > 0)
        wider = Evidence(
            evidence.signature,
            evidence.group,
            np.column_stack([evidence.counts, np.zeros(len(evidence.counts), dtype=int)]),
            np.append(evidence.rest, 0.0),
        )
        method = ExpectationMaximization(tolerance=1e-300, starts=1, iterations=9, accelerated=False)
        two, three = method(evidence, Auto()), method(wider, Exact())
        assert np.allclose(two.probabilities, three.probabilities[:, :2], rtol=0, atol=1e-8)
        assert two.log_likelihood == pytest.approx(three.log_likelihood, abs=1e-7)
        assert np.allclose(
            posterior_beliefs(evidence, Auto(), two.probabilities),
            posterior_beliefs(wider, Exact(), three.probabilities)[:, :2],
            rtol=0,
            atol=1e-7,
        )

    @given(evidences(values=3), evidences(), st.integers(1, 4))
    def test_repeated_groups_are_counted_each_time(self, three, two, rounds):
        for once in (three, two):
            groups = len(once.counts)
            thrice = Evidence(
                np.tile(once.signature, 3),
                np.concatenate([np.where(once.group < 0, -1, once.group + copy * groups) for copy in range(3)]),
                np.tile(once.counts, (3, 1)),
                once.rest,
            )
            for estimator in (Exact(), Auto()):
                fit = ExpectationMaximization(starts=1, iterations=rounds, accelerated=False)
                one, three_times = fit(once, estimator), fit(thrice, estimator)
                assert three_times.probabilities == pytest.approx(one.probabilities, abs=1e-9)
                assert three_times.log_likelihood == pytest.approx(3 * one.log_likelihood, abs=1e-9)

    def test_a_group_of_too_many_states_is_approximated_or_refused_by_its_number(self):
        """At the start its records have equal priors and count as one kind; later their priors differ."""
        values = 30
        counts = np.zeros((3, values), dtype=np.int64)
        counts[:2, :2], counts[2] = 1, 1
        group = np.repeat([0, 1, 2], [2, 2, values])
        evidence = Evidence(np.arange(len(group)) % 17, group, counts, np.full(values, 1 / values))
        fit = ExpectationMaximization(iterations=2)
        assert np.isnan(fit(evidence, Auto(limit=100)).log_likelihood)
        with pytest.raises(TooLarge, match="group 2 has 30 respondents"):
            fit(evidence, Exact(limit=100))


class TestSolutions:
    """Solutions."""

    def test_example_2(self):
        """The only root in the square: the branch inside leads to 6 f^2 - 3 f + 1 = 0, which has none (worked by hand)."""
        fit = ExpectationMaximization()(EXAMPLE_2, Auto())
        assert np.allclose(fit.probabilities[:, 0], [2 / 3, 0], atol=1e-7)
        assert fit.status == FitStatus.BOUNDARY
        assert fit.log_likelihood == pytest.approx(np.log(8 / 27), abs=1e-7)
        assert len(fit.others) == 0

    @given(evidences(largest=4, groups=5, signatures=2))
    def test_the_slope_vanishes_inside(self, evidence):
        """Finite differences of the likelihood over all assignments, at solutions without 0 and 1."""
        assume(evidence.signatures > 0)
        assume(more_than_one_value(evidence))
        fit = ExpectationMaximization(tolerance=1e-12, starts=1)(evidence, Auto())
        assume(fit.status == FitStatus.FINE)
        first, step = fit.probabilities[:, 0], 1e-5
        assume(((first > 1e-3) & (first < 1 - 1e-3)).all())
        for i in set(evidence.signature[(evidence.signature >= 0) & (evidence.group >= 0)]):
            move = step * (np.arange(len(first)) == i)
            rise = log_likelihood(evidence, both(first + move)) - log_likelihood(evidence, both(first - move))
            assert abs(rise / (2 * step)) < 1e-4

    @given(evidences(values=3))
    def test_equation_4_holds_where_it_converges(self, evidence):
        assume(evidence.signatures > 0)
        fit = ExpectationMaximization(tolerance=1e-10)(evidence, Exact())
        assume(not fit.status & FitStatus.UNCONVERGED)
        seen = np.bincount(
            evidence.signature[(evidence.signature >= 0) & (evidence.group >= 0)], minlength=evidence.signatures
        )
        counts = expected_counts(evidence, np.maximum(fit.probabilities, 1e-200))
        assert np.allclose(counts, seen[:, None] * fit.probabilities, rtol=0, atol=1e-7)

    def test_another_program_finds_the_same(self):
        """SciPy's L-BFGS-B, on the likelihood over all assignments."""
        rng = np.random.default_rng(3)
        signature, group = rng.integers(0, 4, 160), np.repeat(np.arange(40), 4)
        having = np.bincount(group, rng.random(160) < rng.uniform(0.02, 0.6, 4)[signature]).astype(np.int64)
        evidence = Evidence(signature, group, np.column_stack([having, 4 - having]), np.array([0.3, 0.7]))
        fit = ExpectationMaximization(tolerance=1e-11, starts=1)(evidence, Auto())
        other = minimize(
            lambda first: -log_likelihood(evidence, both(first)),
            np.full(4, 0.3),
            bounds=[(1e-9, 1 - 1e-9)] * 4,
            options={"ftol": 1e-15, "gtol": 1e-8},
        )
        assert fit.log_likelihood == pytest.approx(-other.fun, abs=1e-7)
        assert np.allclose(fit.probabilities[:, 0], other.x, rtol=0, atol=1e-4)

    def test_a_boundary_that_rounds_approach_slowly(self):
        """``a^5 (1 - a)^12 (1 - b) (a + b - 2 a b)`` is largest at a = 1/3, b = 0, where its slope along b is 0 as well."""
        decided = [[1, 0]] * 5 + [[0, 1]] * 12
        evidence = Evidence(
            np.array([0] * 17 + [0, 1] + [1]),
            np.append(np.arange(17), [17, 17, 18]),
            np.array([*decided, [1, 1], [0, 1]]),
            np.array([0.5, 0.5]),
        )
        assert ExpectationMaximization()(evidence, Auto()).probabilities[:, 0] == pytest.approx([1 / 3, 0], abs=5e-3)
        plain = ExpectationMaximization(accelerated=False)(evidence, Auto())
        assert plain.status == FitStatus.UNCONVERGED

    def test_a_signature_without_published_records_has_the_rest(self):
        evidence = Evidence(np.array([0, 1]), np.array([0, -1]), np.array([[1, 0]]), np.array([0.2, 0.8]))
        assert np.allclose(ExpectationMaximization()(evidence, Auto()).probabilities, [[1, 0], [0.2, 0.8]], atol=1e-8)

    def test_groups_of_one_value_decide(self):
        evidence = Evidence(
            np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), np.array([[2, 0], [0, 2]]), np.array([0.5, 0.5])
        )
        fit = ExpectationMaximization()(evidence, Auto())
        assert np.allclose(fit.probabilities[:, 0], [2 / 3, 0], atol=1e-8)
        assert fit.status == FitStatus.BOUNDARY

    def test_an_approximate_estimator_has_no_likelihood(self):
        for estimator in (Sinkhorn(), Omega()):
            fit = ExpectationMaximization()(EXAMPLE_2, estimator)
            assert np.isfinite(fit.probabilities).all()
            assert np.allclose(fit.probabilities.sum(axis=1), 1)
            assert np.isnan(fit.log_likelihood)


class TestStatus:
    """Statuses, starting points and several solutions."""

    def test_unconverged(self):
        fit = ExpectationMaximization(iterations=2)(EXAMPLE_2, Auto())
        assert fit.status & FitStatus.UNCONVERGED
        assert fit.iterations == 2

    def test_signatures_of_the_same_groups_stay_equal_from_one_start(self):
        """Both certain solutions are maxima; the start is the saddle between them."""
        fit = ExpectationMaximization(starts=1)(PAIR, Auto())
        assert np.allclose(fit.probabilities, 0.5)
        assert fit.status == FitStatus.FINE
        assert fit.log_likelihood == pytest.approx(np.log(1 / 2))

    def test_several_starts_find_both_and_the_saddle(self):
        fit = ExpectationMaximization(starts=6)(PAIR, Auto())
        assert fit.status == FitStatus.BOUNDARY | FitStatus.SEVERAL
        assert fit.log_likelihood == pytest.approx(0, abs=1e-6)
        found = {tuple(np.round(f[:, 0], 3)) for f in (fit.probabilities, *fit.others)}
        assert found == {(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)}

    def test_components_are_solved_separately(self):
        """Four such pairs have 16 best solutions, found pair by pair."""
        pairs = Evidence(np.arange(8), np.arange(8) // 2, np.ones((4, 2), dtype=int), np.array([0.5, 0.5]))
        assert len(set(pairs.component.tolist())) == 5
        fit = ExpectationMaximization(starts=6)(pairs, Auto())
        assert fit.log_likelihood == pytest.approx(0, abs=1e-5)
        assert len(fit.others) == 2
        assert np.allclose(fit.others[0][:, 0], 1 - fit.probabilities[:, 0], atol=1e-6)
        assert np.allclose(fit.others[1], 0.5)

    def test_a_cheap_fit_has_eight_starts_and_finds_both_and_the_saddle(self):
        fit = ExpectationMaximization()(PAIR, Auto())
        assert fit.starts == 8
        assert fit.status == FitStatus.BOUNDARY | FitStatus.SEVERAL
        assert fit.log_likelihood == pytest.approx(0, abs=1e-6)

    def test_a_costly_fit_has_one_start(self):
        """One group of 70 records, half of which have x: 70 * 35 operations a step, over 2^11."""
        evidence = Evidence(np.arange(70) % 2, np.zeros(70, int), np.array([[35, 35]]), np.array([0.5, 0.5]))
        assert ExpectationMaximization()(evidence, Auto()).starts == 1
        assert ExpectationMaximization(starts=2)(evidence, Auto()).starts == 2
        smaller = Evidence(np.arange(60) % 2, np.zeros(60, int), np.array([[30, 30]]), np.array([0.5, 0.5]))
        assert ExpectationMaximization()(smaller, Auto()).starts == 8

    def test_an_approximate_estimator_has_one_start(self):
        """Its number of operations is unknown."""
        assert ExpectationMaximization(iterations=2)(PAIR, Sinkhorn()).starts == 1

    @given(evidences(largest=3, groups=3, signatures=2))
    def test_no_better_answer_on_a_grid(self, evidence):
        """With two signatures, no point of an 11 by 11 grid has a higher likelihood."""
        assume(evidence.signatures == 2)
        fit = ExpectationMaximization()(evidence, Auto())
        grid = np.linspace(0, 1, 11)
        best = max(log_likelihood(evidence, both([a, b])) for a in grid for b in grid)
        assert fit.log_likelihood >= best - 1e-6
        weights = [log_likelihood(evidence, np.clip(other, 1e-300, 1)) for other in fit.others]
        assert (np.diff([fit.log_likelihood, *weights]) <= 1e-4).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"tolerance": 0},
            "ExpectationMaximization: tolerance is 0; it is a positive finite number, at which the iteration stops.",
        ),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"iterations": 0}, "iterations is 0; it is a number of iterations, from 1 to 9,223,372,036,854,775,807"),
        ({"starts": 1.5}, "starts is 1.5; it is a number of starting points, 1 or more."),
        ({"starts": True}, "starts is True; it is a number of starting points"),
        ({"iterations": float("inf")}, "iterations is inf; it is a number of iterations"),
        ({"iterations": None}, "iterations is None; it is a number of iterations"),
        ({"iterations": "9"}, "iterations is '9'; it is a number of iterations"),
        ({"tolerance": "a"}, "tolerance is 'a'; it is a positive finite number"),
        ({"tolerance": None}, "tolerance is None; it is a positive finite number"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ExpectationMaximization(**settings)
