"""Maximum-likelihood global distributions by a damped Newton method on the equations of the foreground-knowledge paper."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import Expectation, Expected, expectation, has_closed_form
from foreknow.models.foreground.expectation_maximization import check_evidence, check_iterations
from foreknow.models.foreground.fit import Fit, Solution, best_of, starting_points
from foreknow.models.foreground.newton_direction import conjugate_gradients, covariance_product
from foreknow.models.problem import Estimator

MIN_INTERIOR_DISTANCE = 1e-12
"""Smallest distance from 0 and 1 that the iteration allows."""

SNAP_DISTANCE = 1e-8
"""Distance from 0 or 1 within which a solution is moved there."""

NEAR_BOUNDARY = 1e-6
"""Distance from 0 or 1 within which an equation is also checked relative to that distance."""

BOUNDARY_TOLERANCE = 1e-3
"""Relative error of an equation that is tolerated near 0 or 1, where 1 - f has few correct digits."""

EM_ROUNDS = 10
"""Number of rounds of expectation-maximization before the first Newton step."""

NONCONCAVE_STEP = 64.0
"""Length of the first trial step where the likelihood is not concave: a step of length 1 leaves a saddle slowly."""

MAX_HALVINGS = 14
"""Largest number of halvings of a step; after them a round of expectation-maximization replaces the step."""

MIN_BOUNDARY_RATIO = 0.1
"""Smallest ratio of the distances of a probability from 0 or 1 after and before one step."""


@dataclass(frozen=True)
class Newton:
    """Solve the equations of the foreground-knowledge paper by Newton's method, damped and kept within [0, 1].

    ``f_i - sum_k c_k(s_i:x) / sum_k |L_k(s_i)| = 0`` (Equation 4), for a sensitive set against all other values. The derivative of
    the expected number of signature i by the log-odds of signature l is their covariance, so that the Jacobian is exact. A step is
    halved until it increases the likelihood of the groups; where no length does, a round of expectation-maximization replaces it.
    The solution is therefore a root with high likelihood, not one at which the groups are least likely. Solutions at 0 or 1
    are met exactly.

    Parameters
    ----------
    tolerance : float
        The fit stops where no equation is missed by more, as a difference of probabilities.
    iterations : int
        Largest number of steps from each starting point.
    starts : int
        Number of starting points: the groups' shares, and others over the whole simplex, the same in every run.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its range. When called, unless there are two values and the estimator is computed in closed form
        (`Auto`, `Exact`); `ExpectationMaximization` takes the others.

    Notes
    -----
    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, "Can the Utility of Anonymized Data be Used for Privacy Breaches?",
    arXiv:0905.1755, section 4.1. Where a probability is 0 its equation holds, whatever the groups show. The printed system thus has
    many such roots; the damping avoids them.

    From one starting point the iteration may stop at a saddle of the likelihood. Signatures that occur in the same groups start
    equal and stay equal. Other symmetries of the groups act alike: for
    ``Evidence([0, 1, 2, 2, 0, 1], [1, 0, 0, 0, 1, 1], [[1, 2], [2, 1]], [.5, .5])`` the result is (1, 1/2, 0), and (1, 0, 1/2) is
    twice as likely. The status gives no warning of a saddle; several ``starts`` reveal it (`FitStatus.SEVERAL`).

    The linear system of a step is symmetric in the log-odds. Conjugate gradients solve it separately in each component of the
    evidence, begin with the step of expectation-maximization, and stop where the likelihood is not concave. No matrix is built.

    Cost: a step takes about as many rounds of expectation-maximization as it has conjugate-gradient iterations (tens); a fit
    takes ten to thirty steps.
    """

    tolerance: float = 1e-10
    iterations: int = 100
    starts: int = 1

    def __post_init__(self) -> None:
        check_iterations("Newton", self.tolerance, self.iterations, self.starts)

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """Fit the global distribution of one attribute set."""
        check_evidence("Newton", evidence)
        if not has_closed_form(evidence, estimator):
            raise ValueError(
                f"Newton solves for a sensitive set against all other values, in closed form (Auto, Exact); there are "
                f"{evidence.counts.shape[1]} values and {estimator!r}. Name a sensitive set, or use ExpectationMaximization."
            )
        support = evidence.support[:-1].astype(np.float64)
        equations = _Equations(evidence, expectation(evidence, estimator), support, evidence.component[:-1])
        solutions = [self._solve(start[:, 0], equations) for start in starting_points(evidence, self.starts)]
        return best_of(solutions, evidence.component, max(1e-3, 10 * self.tolerance))

    def _solve(self, start: FloatArray, equations: "_Equations") -> Solution:
        now = equations.point(np.where(equations.support > 0, _clipped(start), equations.evidence.rest[0]))
        for _ in range(EM_ROUNDS):
            now = equations.point(equations.em_round(now))
        for steps in range(int(self.iterations)):
            if equations.hold(now, self.tolerance):
                return equations.solution(now, steps, True)
            now = equations.step(now)
        return equations.solution(now, int(self.iterations), equations.hold(now, self.tolerance))


class _Point(NamedTuple):
    """Probabilities of x, shape ``(s,)``, and the expected counts under them."""

    first: FloatArray
    expected: Expected


class _Equations(NamedTuple):
    """Equation 4 for some evidence, with the support and the component of each signature."""

    evidence: Evidence
    expect: Expectation
    support: FloatArray
    component: IntArray

    def point(self, first: FloatArray) -> _Point:
        """Evaluate the expectation step at some probabilities."""
        return _Point(first, self.expect(_with_complement(first)))

    def em_round(self, now: _Point) -> FloatArray:
        """Probabilities after a round of expectation-maximization."""
        return self._bounded(now.expected.counts[:-1, 0] / np.maximum(self.support, 1), now)

    def hold(self, now: _Point, tolerance: float) -> bool:
        """Return whether all equations hold; near 0 and 1 also that the expected counts are as near."""
        n, f, (holders, others) = self.support, now.first, now.expected.counts[:-1].T
        missed = np.abs(holders - n * f) > n * tolerance
        missed |= (f < NEAR_BOUNDARY) & (holders > (1 + BOUNDARY_TOLERANCE) * n * f)
        missed |= (f > 1 - NEAR_BOUNDARY) & (others > (1 + BOUNDARY_TOLERANCE) * n * (1 - f))
        return not (missed & (n > 0)).any()

    def step(self, now: _Point) -> _Point:
        """Take a Newton step in the log-odds, halved in each component until the component's likelihood increases."""
        before, after_round = now.expected.log_weights, self.em_round(now)
        variance = self.support * now.first * (1 - now.first)
        residual = np.where(self.support > 0, now.expected.counts[:-1, 0] - self.support * now.first, 0.0)
        direction, is_concave = conjugate_gradients(
            np.maximum(variance, 1e-300),
            residual,
            covariance_product(self.evidence, now.first),
            self.component,
            len(before),
        )
        gain = np.bincount(self.component, residual * direction, minlength=len(before))
        length = np.where(is_concave, 1.0, NONCONCAVE_STEP)
        for halvings in range(MAX_HALVINGS + 2):
            far = now.first + length[self.component] * now.first * (1 - now.first) * direction
            far = np.clip(far, MIN_BOUNDARY_RATIO * now.first, 1 - MIN_BOUNDARY_RATIO * (1 - now.first))
            # A component of length 0 takes the round of expectation-maximization.
            trial = self.point(np.where(length[self.component] > 0, self._bounded(far, now), after_round))
            required = before + 1e-4 * length * gain - 1e-12 * (1 + np.abs(before))
            too_long = (trial.expected.log_weights < required) & (length > 0)
            if not too_long.any():
                break
            length = np.where(too_long, length / 2 if halvings < MAX_HALVINGS else 0.0, length)
        return trial

    def solution(self, now: _Point, steps: int, converged: bool) -> Solution:
        """The result, with probabilities near 0 or 1 moved there in components whose likelihood does not decrease."""
        snapped = np.where(now.first <= SNAP_DISTANCE, 0.0, np.where(now.first >= 1 - SNAP_DISTANCE, 1.0, now.first))
        worse = self.point(snapped).expected.log_weights < now.expected.log_weights - 1e-6
        first, expected = self.point(np.where(worse[self.component], now.first, snapped))
        return Solution(_with_complement(first), expected.log_weights, steps, converged, expected.error)

    def _bounded(self, first: FloatArray, now: _Point) -> FloatArray:
        """Probabilities within the bounds; signatures without published records keep theirs."""
        return np.where(self.support > 0, _clipped(first), now.first)


def _clipped(first: FloatArray) -> FloatArray:
    return np.clip(first, MIN_INTERIOR_DISTANCE, 1 - MIN_INTERIOR_DISTANCE)


def _with_complement(first: FloatArray) -> FloatArray:
    return np.column_stack([first, 1 - first])
