"""The global distribution that makes the published groups likeliest, by expectation-maximization."""

from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import Expectation, Expected, expectation, operations
from foreknow.models.foreground.fit import Fit, Solution, best_of, starting_points
from foreknow.models.problem import Estimator
from foreknow.models.settings import is_number, is_whole

CHEAP = 2**11
"""The largest number of operations of an expectation step for which a fit begins from `STARTS` points."""

STARTS = 8
"""The number of starts of a cheap fit: of 400 releases of two signatures, 1 start missed the best solution in 79, 8 in none."""


@dataclass(frozen=True)
class ExpectationMaximization:
    """Give everybody the values that the groups and the distribution so far make likely, count, and begin again.

    The expected number of a signature's people who have a value, over the number of its people, is the next distribution;
    where that changes nothing, the equations of the foreground-knowledge paper hold (Equation 4). Each round makes the
    published groups likelier, so that no Jacobian, damping or bound is needed. Rounds are extrapolated (SQUAREM), apart for
    each part of the evidence, and an extrapolation that makes a part's groups less likely is not taken.

    Parameters
    ----------
    tolerance : float
        It stops where no probability changes by more in a round.
    iterations : int
        The most rounds, from each start.
    starts : int, optional
        The number of points from which it begins: the groups' shares, and others over the whole simplex, the same in every run.
        Left out, `STARTS` where an expectation step takes at most `CHEAP` operations, else 1; `Fit.starts` has the number.
    accelerated : bool
        Whether rounds are extrapolated. Estimators that do not say a likelihood are never extrapolated.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    A. Dempster, N. Laird, D. Rubin, JRSS B 39, 1977; R. Varadhan, C. Roland, Scandinavian Journal of Statistics 35, 2008 (scheme
    S3). With an approximate estimator the rounds are that estimator's, and need neither converge nor be likely.

    A solution is a stationary point, and from one start it need not be the likeliest; several ``starts`` find others
    (`FitStatus.SEVERAL`). Of equally likely solutions the one that is met first is given. From the groups' shares alone,
    signatures that nothing tells apart begin alike and stay alike, even where it is likelier to give one of them all: of one
    group of two people, each of a signature of its own, both are said to have x with probability 1/2.

    Answers may be equally likely along a line, and the one given is then one of them: of two groups of the same four
    signatures, of which one shows x once and the other three times, ``(a, 1/2, 1/2, 1 - a)`` for every a. A probability that
    the groups neither draw from 0 nor drive there nears it ever more slowly (`FitStatus.UNCONVERGED`); `Newton` is there soon.

    Cost: a round is an expectation step (`foreknow.models.foreground.expectation`), and O(s m).
    """

    tolerance: float = 1e-8
    iterations: int = 2_000
    starts: int | None = None
    accelerated: bool = True

    def __post_init__(self) -> None:
        check_rounds(
            "ExpectationMaximization", self.tolerance, self.iterations, 1 if self.starts is None else self.starts
        )

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """The global distribution of one attribute set."""
        expect = expectation(evidence, estimator)
        starts = self.starts
        if starts is None:
            starts = STARTS if operations(evidence, estimator) <= CHEAP else 1
        solutions = [self._from(start, evidence, expect) for start in starting_points(evidence, starts)]
        return best_of(solutions, evidence.part, max(1e-3, 10 * self.tolerance))

    def _from(self, start: FloatArray, evidence: Evidence, expect: Expectation) -> Solution:
        now, rounds, furthest = start, 0, np.ones(int(evidence.part[-1]) + 1)
        expected = expect(now)
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
            reach = _reach(now, once, twice, furthest, evidence.part)
            far = _extrapolated(now, once, twice, reach[evidence.part[:-1]])
            expected = expect(far)
            worse = expected.log_weights < after.log_weights
            furthest = np.where(worse, np.maximum(reach / 2, 1.0), np.where(reach == furthest, 4 * furthest, furthest))
            now = far
            if worse.any():
                now = np.where(worse[evidence.part[:-1], None], twice, far)
                expected = expect(now)
        return Solution(now, expected.log_weights, rounds, False, expected.error)


def maximized(expected: Expected, evidence: Evidence) -> FloatArray:
    """The distributions that make some expected counts likeliest: their shares. Of unpublished signatures, the rest's."""
    people = evidence.support[:-1, None]
    return np.asarray(np.where(people > 0, expected.counts[:-1] / np.maximum(people, 1), evidence.rest))


def _reach(now: FloatArray, once: FloatArray, twice: FloatArray, furthest: FloatArray, part: IntArray) -> FloatArray:
    """How many rounds ahead each part is extrapolated: the length of its step over that of its change, 1 or more."""
    length = np.bincount(part[:-1], ((once - now) ** 2).sum(axis=1), minlength=len(furthest))
    turn = np.bincount(part[:-1], ((twice - 2 * once + now) ** 2).sum(axis=1), minlength=len(furthest))
    return np.clip(np.sqrt(length / np.maximum(turn, 1e-300)), 1.0, furthest)


def _extrapolated(now: FloatArray, once: FloatArray, twice: FloatArray, reach: FloatArray) -> FloatArray:
    """Two rounds continued by the parabola through them; what would fall below a tenth of the second round stops there."""
    ahead = reach[:, None]
    far = now + 2 * ahead * (once - now) + ahead**2 * (twice - 2 * once + now)
    far = np.maximum(far, 0.1 * twice)
    return np.asarray(far / far.sum(axis=1, keepdims=True))


def check_rounds(owner: str, tolerance: float, iterations: int, starts: int) -> None:
    """Raise ValueError unless a tolerance is over 0, and the numbers of rounds and starts are 1 or more."""
    if not (is_number(tolerance, 0, 1) and 0 < tolerance < 1):
        raise ValueError(f"{owner}: tolerance is {tolerance!r}; it is a change of a probability, over 0 and under 1.")
    for name, number in (("iterations", iterations), ("starts", starts)):
        if not is_whole(number):
            raise ValueError(f"{owner}: {name} is {number!r}; it is a whole number, 1 or more.")
