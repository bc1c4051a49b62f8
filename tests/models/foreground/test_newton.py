"""Newton's method: the printed equations, agreement with expectation-maximization, bounds, saddles."""

import re

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from scipy.optimize import minimize
from strategies import evidences

from foreknow.models import Auto, Evidence, Exact, ExpectationMaximization, FitStatus, Newton, Sinkhorn

EXAMPLE_2 = Evidence(
    np.array([0, 1, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 2, 2]), np.array([[1, 1], [1, 1], [0, 2]]), np.array([0.5, 0.5])
)


def likelihood_and_counts(evidence, first):
    """Log-likelihood and expected counts by signature, over all assignments of each group."""
    weight, counts = 0.0, np.zeros(evidence.signatures + 1)
    table = np.append(first, evidence.rest[0])
    for j, (c, _) in enumerate(evidence.counts):
        signature = evidence.signature[evidence.group == j]
        has, weights = oracle.worlds(table[signature], c)
        weight += np.log(weights.sum())
        np.add.at(counts, signature, weights @ has / weights.sum())
    return weight, counts[:-1]


def support(evidence):
    return np.bincount(
        evidence.signature[(evidence.signature >= 0) & (evidence.group >= 0)], minlength=evidence.signatures
    )


def release(rng, signatures, groups, size):
    """Records of signatures with different rates, in random groups."""
    rates = rng.uniform(0.02, 0.6, signatures)
    signature = rng.integers(0, signatures, groups * size)
    has = rng.random(len(signature)) < rates[signature]
    group = np.repeat(np.arange(groups), size)
    having = np.bincount(group, has, minlength=groups).astype(np.int64)
    return Evidence(signature, group, np.column_stack([having, size - having]), np.array([0.3, 0.7]))


class TestEquations:
    """Equation 4, over all assignments."""

    @given(evidences(groups=5))
    def test_they_hold(self, evidence):
        assume(evidence.signatures > 0)
        fit = Newton()(evidence, Auto())
        first = fit.probabilities[:, 0]
        assert ((first >= 0) & (first <= 1)).all()
        assert np.allclose(fit.probabilities.sum(axis=1), 1, rtol=0, atol=1e-15)
        assert not fit.status & FitStatus.UNCONVERGED
        weight, counts = likelihood_and_counts(evidence, first)
        assert fit.log_likelihood == pytest.approx(weight, abs=1e-9)
        assert np.allclose(counts, support(evidence) * first, rtol=0, atol=1e-7)

    @given(evidences(groups=5))
    def test_expectation_maximization_agrees(self, evidence):
        """The same likelihood from the same starting points, and the same numbers where both converge."""
        assume(evidence.signatures > 0)
        newton = Newton(starts=6)(evidence, Auto())
        rounds = ExpectationMaximization(tolerance=1e-12, starts=6)(evidence, Auto())
        assert newton.log_likelihood == pytest.approx(rounds.log_likelihood, abs=1e-6)
        if not (rounds.status | newton.status) & (FitStatus.SEVERAL | FitStatus.UNCONVERGED):
            # Where the slope vanishes at 0 or 1, an equation is missed by the square of the distance: 1e-10 leaves 1e-5.
            assert np.allclose(newton.probabilities, rounds.probabilities, rtol=0, atol=5e-5)

    def test_example_2_exactly(self):
        fit = Newton()(EXAMPLE_2, Auto())
        assert fit.probabilities[:, 0] == pytest.approx([2 / 3, 0], abs=1e-10)
        assert fit.probabilities[1, 0] == 0
        assert fit.status == FitStatus.BOUNDARY

    def test_example_2_has_no_other_root(self):
        """From forty starting points over the square."""
        assert len(Newton(starts=40)(EXAMPLE_2, Auto()).others) == 0


class TestSteps:
    """Number of steps, and special solutions."""

    @pytest.mark.parametrize(("signatures", "groups", "size"), [(12, 300, 4), (60, 200, 6), (40, 60, 25), (6, 3, 900)])
    def test_few_and_as_far_as_expectation_maximization(self, signatures, groups, size):
        evidence = release(np.random.default_rng(signatures), signatures, groups, size)
        newton = Newton()(evidence, Auto())
        rounds = ExpectationMaximization(tolerance=1e-11, iterations=20_000)(evidence, Exact())
        assert newton.iterations <= 30
        assert not (newton.status | rounds.status) & FitStatus.UNCONVERGED
        assert np.allclose(newton.probabilities, rounds.probabilities, rtol=0, atol=1e-6)
        assert newton.log_likelihood == pytest.approx(rounds.log_likelihood, abs=1e-7)

    def test_another_program_finds_the_same(self):
        """SciPy's L-BFGS-B, on the likelihood over all assignments."""
        evidence = release(np.random.default_rng(3), 4, 40, 4)
        fit = Newton()(evidence, Auto())
        other = minimize(
            lambda first: -likelihood_and_counts(evidence, first)[0],
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
        fit = Newton()(evidence, Auto())
        assert fit.status == FitStatus.FINE
        assert fit.probabilities[:, 0] == pytest.approx([1 / 3, 0], abs=5e-5)
        plain = ExpectationMaximization(accelerated=False)(evidence, Auto())
        assert plain.status == FitStatus.UNCONVERGED
        assert plain.probabilities[1, 0] > 10 * fit.probabilities[1, 0]

    def test_stopped_early(self):
        evidence = release(np.random.default_rng(1), 150, 400, 6)
        fit = Newton(iterations=1)(evidence, Auto())
        assert fit.status & FitStatus.UNCONVERGED
        assert fit.iterations == 1

    def test_several_solutions(self):
        """Pairs of records that show the product and the sum of two probabilities, but not their order."""
        evidence = Evidence(
            np.tile([0, 1], 10),
            np.repeat(np.arange(10), 2),
            np.array([[1, 1]] * 8 + [[2, 0], [0, 2]]),
            np.array([0.5, 0.5]),
        )
        fit = Newton(starts=5)(evidence, Auto())
        assert fit.status & FitStatus.SEVERAL
        swapped = fit.others[0]
        assert np.allclose(swapped, fit.probabilities[::-1], rtol=0, atol=1e-8)
        root = np.sqrt(1 - 4 * 0.1) / 2
        assert np.allclose(np.sort(fit.probabilities[:, 0]), [0.5 - root, 0.5 + root], rtol=0, atol=1e-8)

    def test_a_saddle_with_unequal_starting_values(self):
        """Likelihood 1/4 at the saddle (1, 1/2, 0), and 1/2 at (1, 0, 1/2) and (1/2, 1, 0)."""
        evidence = Evidence(
            np.array([0, 1, 2, 2, 0, 1]), np.array([1, 0, 0, 0, 1, 1]), np.array([[1, 2], [2, 1]]), np.array([0.5, 0.5])
        )
        assert len(set(evidence.shares[:, 0].tolist())) == 3
        alone, several = Newton()(evidence, Auto()), Newton(starts=6)(evidence, Auto())
        for fit, first, likelihood in ((alone, {(1, 0.5, 0)}, 1 / 4), (several, {(1, 0, 0.5), (0.5, 1, 0)}, 1 / 2)):
            assert tuple(np.round(fit.probabilities[:, 0], 6)) in first
            assert fit.log_likelihood == pytest.approx(np.log(likelihood), abs=1e-6)
        assert several.status & FitStatus.SEVERAL

    def test_settings_may_be_whole_floats(self):
        one, other = (
            Newton(iterations=steps, starts=starts)(EXAMPLE_2, Auto()) for steps, starts in ((50, 2), (50.0, 2.0))
        )
        assert np.array_equal(one.probabilities, other.probabilities)


class TestRefused:
    """Errors."""

    def test_many_values(self):
        evidence = Evidence(np.array([0, 0, 0]), np.zeros(3, dtype=int), np.array([[1, 1, 1]]), np.ones(3) / 3)
        with pytest.raises(ValueError, match=r"there are 3 values .* or use ExpectationMaximization\."):
            Newton()(evidence, Auto())

    def test_an_approximate_estimator(self):
        with pytest.raises(ValueError, match=r"Sinkhorn\(.* or use ExpectationMaximization\."):
            Newton()(EXAMPLE_2, Sinkhorn())

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"tolerance": 1.0}, "Newton: tolerance is 1.0; it is a change of a probability, over 0 and under 1."),
            ({"iterations": 0}, "Newton: iterations is 0; it is a number of iterations, 1 or more."),
            ({"starts": 0}, "Newton: starts is 0; it is a number of starting points, 1 or more."),
            ({"starts": None}, "Newton: starts is None; it is a number of starting points, 1 or more."),
        ],
    )
    def test_settings_out_of_range(self, settings, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            Newton(**settings)
