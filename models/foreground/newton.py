"""The global distribution that solves the foreground-knowledge paper's equations, by Newton's method."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.conjugate_gradients import conjugate_gradients
from foreknow.models.foreground.covariance import movement
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import Expectation, Expected, closed_form, expectation
from foreknow.models.foreground.expectation_maximization import check_rounds
from foreknow.models.foreground.fit import Fit, Solution, best_of, starting_points
from foreknow.models.problem import Estimator

FAINTEST = 1e-12
"""How near to 0 and 1 an iteration goes."""

CERTAIN = 1e-8
"""A solution this near to 0 or 1 is put there."""

EDGE_SLACK = 1e-3
"""By how much the equation may be missed, as a factor, where a probability is that near: 1 - f is known no better."""

ROUNDS = 10
"""So many rounds of expectation-maximization lead near to a solution: far from any, Newton's steps lead anywhere."""

LEAP = 64.0
"""How many steps long the first try is where the likelihood is not concave: away from a saddle, a step alone is tiny."""

HALVINGS = 14
"""After so many halvings of a step, a round of expectation-maximization is taken instead."""

NEARER = 0.1
"""To which part of its distance from 0 or 1 a probability falls in one step, at the most."""


@dataclass(frozen=True)
class Newton:
    """Solve the equations of the foreground-knowledge paper as it does, by Newton's method, damped and kept in [0, 1].

    ``f_i - sum_k c_k(s_i:x) / sum_k |L_k(s_i)| = 0`` (Equation 4), of a sensitive set against all other values. How the
    expected number of signature i moves with the log-odds of signature l is their covariance, so that the Jacobian is known
    exactly. A step is shortened until it makes the groups likelier, and a round of expectation-maximization is taken where
    no length does: what is found is a solution of the equations that the groups speak for, and no root where they are
    least likely. Solutions with probabilities of 0 or 1 are met exactly.

    Parameters
    ----------
    tolerance : float
        It stops where no equation is missed by more, as a difference of probabilities.
    iterations : int
        The most steps, from each start.
    starts : int
        From how many points it begins: the groups' shares, and others all over, the same in every run.

    Raises
    ------
    ValueError
        If a setting is out of its range; when called, unless there are two values and an estimator computed in closed form
        (`Auto`, `Exact`): for others there is `ExpectationMaximization`.

    Notes
    -----
    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, "Can the Utility of Anonymized Data be Used for Privacy Breaches?",
    arXiv:0905.1755, section 4.1. Whenever a probability is 0 its equation holds, whatever the groups say: the printed system has
    such roots in plenty, and the damping is what passes them by.

    From one start it may stop where the groups are likelier to either side, at a saddle. Signatures that nothing tells apart
    begin alike and stay alike; and without any such, where the groups are symmetric in another way: of
    ``Evidence([0, 1, 2, 2, 0, 1], [1, 0, 0, 0, 1, 1], [[1, 2], [2, 1]], [.5, .5])`` it says (1, 1/2, 0), and (1, 0, 1/2) is
    twice as likely. Its status is no warning of it, and several ``starts`` are the way to know (`FitStatus.SEVERAL`).

    The linear system of a step is symmetric in the log-odds, and solved by conjugate gradients, apart for each part of the
    evidence; they begin with the step of expectation-maximization, and stop where the likelihood is not concave. No matrix
    is built.

    Cost: a step is about as many rounds of expectation-maximization as conjugate gradients it takes (tens), and there are
    some ten to thirty.
    """

    tolerance: float = 1e-10
    iterations: int = 100
    starts: int = 1

    def __post_init__(self) -> None:
        check_rounds("Newton", self.tolerance, self.iterations, self.starts)

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """The global distribution of one attribute set."""
        if not closed_form(evidence, estimator):
            raise ValueError(
                f"Newton solves for a sensitive set against all other values, in closed form (Auto, Exact); there are "
                f"{evidence.counts.shape[1]} values and {estimator!r}. Name a sensitive set, or use ExpectationMaximization."
            )
        people = evidence.support[:-1].astype(np.float64)
        equations = _Equations(evidence, expectation(evidence, estimator), people, evidence.part[:-1])
        solutions = [self._from(start[:, 0], equations) for start in starting_points(evidence, self.starts)]
        return best_of(solutions, evidence.part, max(1e-3, 10 * self.tolerance))

    def _from(self, start: FloatArray, equations: "_Equations") -> Solution:
        now = equations.at(np.where(equations.people > 0, _inside(start), equations.evidence.rest[0]))
        for _ in range(ROUNDS):
            now = equations.at(equations.round_from(now))
        for steps in range(int(self.iterations)):
            if equations.hold(now, self.tolerance):
                return equations.settled(now, steps, True)
            now = equations.stepped(now)
        return equations.settled(now, int(self.iterations), equations.hold(now, self.tolerance))


class _Point(NamedTuple):
    """The probabilities of x, shape ``(s,)``, and what is expected under them."""

    first: FloatArray
    expected: Expected


class _Equations(NamedTuple):
    """Equation 4 for some evidence; ``people`` is how many match each signature, ``part`` which part it is of."""

    evidence: Evidence
    expect: Expectation
    people: FloatArray
    part: IntArray

    def at(self, first: FloatArray) -> _Point:
        """A point."""
        return _Point(first, self.expect(_both(first)))

    def round_from(self, now: _Point) -> FloatArray:
        """Where a round of expectation-maximization leads."""
        return self._kept(now.expected.counts[:-1, 0] / np.maximum(self.people, 1), now)

    def hold(self, now: _Point, tolerance: float) -> bool:
        """Whether all equations do; next to 0 and 1 also that the groups do not pull away from there."""
        n, f, (having, lacking) = self.people, now.first, now.expected.counts[:-1].T
        missed = np.abs(having - n * f) > n * tolerance
        missed |= (f < 1e-6) & (having > (1 + EDGE_SLACK) * n * f)
        missed |= (f > 1 - 1e-6) & (lacking > (1 + EDGE_SLACK) * n * (1 - f))
        return not (missed & (n > 0)).any()

    def stepped(self, now: _Point) -> _Point:
        """A step of Newton's method, linearized from the log-odds; halved in each part until its groups are likelier."""
        before, rounded = now.expected.log_weights, self.round_from(now)
        spread = self.people * now.first * (1 - now.first)
        pull = np.where(self.people > 0, now.expected.counts[:-1, 0] - self.people * now.first, 0.0)
        moved = movement(self.evidence, now.first)
        ahead, is_concave = conjugate_gradients(np.maximum(spread, 1e-300), pull, moved, self.part, len(before))
        gain = np.bincount(self.part, pull * ahead, minlength=len(before))
        length = np.where(is_concave, 1.0, LEAP)
        for halvings in range(HALVINGS + 2):
            far = now.first + length[self.part] * now.first * (1 - now.first) * ahead
            far = self._kept(np.clip(far, NEARER * now.first, 1 - NEARER * (1 - now.first)), now)
            found = self.at(np.where(length[self.part] > 0, far, rounded))
            enough = before + 1e-4 * length * gain - 1e-12 * (1 + np.abs(before))
            short = (found.expected.log_weights < enough) & (length > 0)
            if not short.any():
                break
            length = np.where(short, length / 2 if halvings < HALVINGS else 0.0, length)
        return found

    def settled(self, now: _Point, steps: int, converged: bool) -> Solution:
        """The solution, with what is nearly 0 or 1 put there, in the parts whose groups do not mind."""
        near = np.where(now.first <= CERTAIN, 0.0, np.where(now.first >= 1 - CERTAIN, 1.0, now.first))
        minds = self.at(near).expected.log_weights < now.expected.log_weights - 1e-6
        first, expected = self.at(np.where(minds[self.part], now.first, near))
        return Solution(_both(first), expected.log_weights, steps, converged, expected.error)

    def _kept(self, first: FloatArray, now: _Point) -> FloatArray:
        return np.where(self.people > 0, _inside(first), now.first)


def _inside(first: FloatArray) -> FloatArray:
    return np.clip(first, FAINTEST, 1 - FAINTEST)


def _both(first: FloatArray) -> FloatArray:
    return np.column_stack([first, 1 - first])
