"""Maximum-likelihood global distributions by expectation-maximization, accelerated by extrapolation."""

from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import Expectation, Expected, expectation, step_operations
from foreknow.models.foreground.fit import Fit, Solution, best_of, starting_points
from foreknow.models.problem import Estimator
from foreknow.models.settings import check_flag, check_kind, check_whole, is_number

CHEAP_OPERATIONS = 2**11
"""Largest number of operations of an expectation step for which a fit has `CHEAP_STARTS` starting points by default."""

CHEAP_STARTS = 8
"""Number of starting points of a cheap fit: on 400 releases of two signatures, 1 missed the best solution in 79, 8 in none."""

LIMIT_GROWTH = 4
"""Factor by which the limit of an extrapolation grows when the limit was reached."""


@dataclass(frozen=True)
class ExpectationMaximization:
    """Maximize the likelihood of the published groups by expectation-maximization.

    A round computes the expected number of records of each signature with each value, and divides by the number of records of
    the signature. At a fixed point the equations of the foreground-knowledge paper hold (Equation 4). No round decreases the
    likelihood, so that no Jacobian, damping or bound is needed. Rounds are extrapolated (SQUAREM) separately in each component of
    the evidence; an extrapolation that decreases a component's likelihood is discarded.

    Parameters
    ----------
    tolerance : float
        The fit stops where no probability changes by more in a round.
    iterations : int
        Largest number of rounds from each starting point.
    starts : int, optional
        Number of starting points: the groups' shares, and others over the whole simplex, the same in every run. By default
        `CHEAP_STARTS` where an expectation step takes at most `CHEAP_OPERATIONS` operations, otherwise 1. `Fit.starts` has the
        number.
    accelerated : bool
        True to extrapolate rounds. Estimators without a likelihood are never extrapolated.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its range.

    Notes
    -----
    A. Dempster, N. Laird, D. Rubin, JRSS B 39, 1977; R. Varadhan, C. Roland, Scandinavian Journal of Statistics 35, 2008 (scheme
    S3). Under an approximate estimator the rounds are those of that estimator. They need not converge, nor increase a likelihood.

    A solution is a stationary point. From one starting point it need not be the most likely one; several ``starts`` find others
    (`FitStatus.SEVERAL`). Among equally likely solutions the first found is given. Signatures that occur in the same groups start
    equal at the groups' shares and stay equal, even where unequal solutions are more likely: for one group of two records of two
    signatures, of which one has x, both have probability 1/2.

    The maximum need not be unique: for two groups of the same four signatures, of which one shows x once and the other three times,
    ``(a, 1/2, 1/2, 1 - a)`` is a maximum for every a. The rounds approach a maximum at 0 with vanishing slope ever more slowly
    (`FitStatus.UNCONVERGED`).

    Cost: a round takes an expectation step (`foreknow.models.foreground.expectation`) and O(s m).
    """

    tolerance: float = 1e-8
    iterations: int = 2_000
    starts: int | None = None
    accelerated: bool = True

    def __post_init__(self) -> None:
        check_iterations(
            "ExpectationMaximization", self.tolerance, self.iterations, 1 if self.starts is None else self.starts
        )
        check_flag("ExpectationMaximization", "accelerated", self.accelerated)

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """Fit the global distribution of one attribute set."""
        check_evidence("ExpectationMaximization", evidence)
        expect = expectation(evidence, estimator)
        starts = self.starts
        if starts is None:
            starts = CHEAP_STARTS if step_operations(evidence, estimator) <= CHEAP_OPERATIONS else 1
        solutions = [self._solve(start, evidence, expect) for start in starting_points(evidence, starts)]
        return best_of(solutions, evidence.component, max(1e-3, 10 * self.tolerance))

    def _solve(self, start: FloatArray, evidence: Evidence, expect: Expectation) -> Solution:
        now, rounds, limit = start, 0, np.ones(int(evidence.component[-1]) + 1)
        expected, of_row = expect(now), evidence.component[:-1]
        while rounds < self.iterations:
            once, rounds = maximized(expected, evidence), rounds + 1
            if np.abs(once - now).max(initial=0.0) <= self.tolerance:
                last = expect(once)
                return Solution(once, last.log_weights, rounds, True, last.error)
            after = expect(once)
            if not self.accelerated or np.isnan(after.log_likelihood) or rounds >= self.iterations:
                now, expected = once, after
                continue
            twice, rounds = maximized(after, evidence), rounds + 1
            reach = _extrapolation_length(now, once, twice, limit, of_row)
            now = _extrapolated(now, once, twice, reach[of_row])
            expected = expect(now)
            worse = expected.log_weights < after.log_weights
            limit = np.where(worse, np.maximum(reach / 2, 1.0), np.where(reach == limit, LIMIT_GROWTH * limit, limit))
            if worse.any():
                now = np.where(worse[of_row, None], twice, now)
                expected = expect(now)
        return Solution(now, expected.log_weights, rounds, False, expected.error)


def maximized(expected: Expected, evidence: Evidence) -> FloatArray:
    """Maximization step: expected counts over supports, shape ``(s, m)``; ``rest`` for signatures without published records."""
    support = evidence.support[:-1, None]
    return np.asarray(np.where(support > 0, expected.counts[:-1] / np.maximum(support, 1), evidence.rest))


def _extrapolation_length(
    now: FloatArray, once: FloatArray, twice: FloatArray, limit: FloatArray, component: IntArray
) -> FloatArray:
    """Number of rounds to extrapolate in each component: the length of the step over that of its change, from 1 to the limit."""
    length = np.bincount(component, ((once - now) ** 2).sum(axis=1), minlength=len(limit))
    change = np.bincount(component, ((twice - 2 * once + now) ** 2).sum(axis=1), minlength=len(limit))
    return np.clip(np.sqrt(length / np.maximum(change, 1e-300)), 1.0, limit)


def _extrapolated(now: FloatArray, once: FloatArray, twice: FloatArray, reach: FloatArray) -> FloatArray:
    """Parabola through two rounds, ``reach`` rounds ahead; no probability falls below a tenth of that after two rounds."""
    ahead = reach[:, None]
    far = now + 2 * ahead * (once - now) + ahead**2 * (twice - 2 * once + now)
    far = np.maximum(far, 0.1 * twice)
    return np.asarray(far / far.sum(axis=1, keepdims=True))


def check_iterations(owner: str, tolerance: float, iterations: int, starts: int) -> None:
    """Raise ValueError unless a tolerance is between 0 and 1, and the numbers of iterations and starting points at least 1."""
    if not (is_number(tolerance, 0, 1) and 0 < tolerance < 1):
        raise ValueError(f"{owner}: tolerance is {tolerance!r}; it is a change of a probability, over 0 and under 1.")
    check_whole(owner, "iterations", iterations, "iterations")
    check_whole(owner, "starts", starts, "starting points")


def check_evidence(owner: str, evidence: object) -> None:
    """Raise TypeError unless a fit is given an `Evidence`."""
    check_kind(
        owner,
        "evidence",
        evidence,
        Evidence,
        "is an Evidence; make one by Evidence(signature, group, counts, rest), or attack releases by ForegroundAttack(fit=...)",
    )
