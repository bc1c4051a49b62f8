"""The global distribution that makes the published groups likeliest, by expectation-maximization."""

from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import Expectation, Expected, expectation
from foreknow.models.foreground.fit import Fit, best_of, starting_points
from foreknow.models.problem import Estimator


@dataclass(frozen=True)
class ExpectationMaximization:
    """Give everybody the values that the groups and the distribution so far make likely, count, and begin again.

    The expected number of a signature's people who have a value, over the number of its people, is the next distribution;
    where that changes nothing, the equations of the foreground-knowledge paper hold (Equation 4). Each round makes the
    published groups likelier, so that no Jacobian, damping or bound is needed. Rounds are extrapolated (SQUAREM), and an
    extrapolation that makes the groups less likely is not taken.

    Parameters
    ----------
    tolerance : float
        It stops where no probability changes by more in a round.
    iterations : int
        The most rounds, from each start.
    starts : int
        From how many points it begins; the first is the groups' shares, the others are spread evenly, the same in every run.
    accelerated : bool
        Whether rounds are extrapolated. Estimators that do not say a likelihood are never extrapolated.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    A. Dempster, N. Laird, D. Rubin, JRSS B 39, 1977; R. Varadhan, C. Roland, Scandinavian Journal of Statistics 35, 2008 (scheme
    S3). With an approximate estimator the rounds are that estimator's, and need neither converge nor be likely. A solution
    is a stationary point: other starts may find others (`FitStatus.SEVERAL`). Where groups do not tell two signatures
    apart, a whole line of solutions is as likely as another.

    Cost: a round is an expectation step (`foreknow.models.foreground.expectation`), and O(s m).
    """

    tolerance: float = 1e-8
    iterations: int = 10_000
    starts: int = 1
    accelerated: bool = True

    def __post_init__(self) -> None:
        check_rounds("ExpectationMaximization", self.tolerance, self.iterations, self.starts)

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """The global distribution of one attribute set."""
        expect = expectation(evidence, estimator)
        solutions = [self._from(start, evidence, expect) for start in starting_points(evidence, self.starts)]
        return best_of(solutions, max(1e-3, 10 * self.tolerance))

    def _from(self, start: FloatArray, evidence: Evidence, expect: Expectation) -> tuple[FloatArray, float, int, bool]:
        now, rounds = start, 0
        expected = expect(now)
        while rounds < self.iterations:
            once, rounds = maximized(expected, evidence), rounds + 1
            if np.abs(once - now).max(initial=0.0) <= self.tolerance:
                return once, expect(once).log_likelihood, rounds, True
            after = expect(once)
            if not self.accelerated or np.isnan(after.log_likelihood) or rounds >= self.iterations:
                now, expected = once, after
                continue
            twice, rounds = maximized(after, evidence), rounds + 1
            now, expected = _further(now, once, twice, expect)
        return now, expected.log_likelihood, rounds, False


def maximized(expected: Expected, evidence: Evidence) -> FloatArray:
    """The distributions that make some expected counts likeliest: their shares. Of unpublished signatures, the rest's."""
    people = expected.counts[:-1].sum(axis=1, keepdims=True)
    return np.asarray(np.where(people > 0, expected.counts[:-1] / np.maximum(people, 1e-300), evidence.rest))


def _further(now: FloatArray, once: FloatArray, twice: FloatArray, expect: Expectation) -> tuple[FloatArray, Expected]:
    """Two rounds extrapolated along their line, or only taken where that makes the groups less likely."""
    step, bend = once - now, (twice - once) - (once - now)
    length, base = float(np.sqrt((step**2).sum())), expect(twice)
    if (turn := float(np.sqrt((bend**2).sum()))) == 0.0:
        return twice, base
    reach = -max(length / turn, 1.0)
    while reach < -1.0:
        far = now - 2 * reach * step + reach**2 * bend
        if (far >= 0).all():
            far = far / far.sum(axis=1, keepdims=True)
            if (found := expect(far)).log_likelihood >= base.log_likelihood:
                return far, found
        reach = -1.0 if reach > -1.5 else (reach - 1) / 2
    return twice, base


def check_rounds(owner: str, tolerance: float, iterations: int, starts: int) -> None:
    """Raise ValueError unless a tolerance is over 0, and the numbers of rounds and starts are 1 or more."""
    if not 0 < tolerance < 1:
        raise ValueError(f"{owner}: tolerance is {tolerance}; it is a change of a probability, over 0 and under 1.")
    for name, number in (("iterations", iterations), ("starts", starts)):
        if not (number >= 1 and number == int(number)):
            raise ValueError(f"{owner}: {name} is {number}; it is a whole number, 1 or more.")
