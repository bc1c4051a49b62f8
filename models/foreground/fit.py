"""Maximum-likelihood global distributions by expectation-maximization, and the choice among several solutions."""

from dataclasses import dataclass
from enum import IntFlag
from typing import Any, NamedTuple, Protocol

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.convergence import MAX_RHAT
from foreknow.models.estimators.swap_chain import summarize_chains
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import Expectation, Expected, expectation, step_operations
from foreknow.models.knowledge.posterior_variable import VALUE, divergences, posterior_dataset, posterior_variable
from foreknow.models.problem import Estimator, probability_rows
from foreknow.models.settings import check_array_size, check_flag, check_iteration, check_kind, check_whole

BOUNDARY_DISTANCE = 1e-6
"""Distance from 0 or 1 below which a probability is reported as being on the boundary."""

LIKELIHOOD_DIGITS = 8
"""Number of decimals of a log-likelihood by which solutions are ranked."""


class FitStatus(IntFlag):
    """Flags of a fitted global distribution."""

    FINE = 0
    BOUNDARY = 1
    """A probability is 0 or 1: under the fit, all records of a signature have a value, or none has."""
    SEVERAL = 2
    """Other starting points led to other solutions. The most likely one is given, the others are in ``others``. Only fits with
    several starting points can have this flag."""
    UNCONVERGED = 4
    """An iteration reached its limit before its tolerance, or chains of draws disagree."""
    LARGE_GROUPS = 8
    """Groups were computed by the law of large numbers, with the error in ``error``."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted global distribution, as arrays.

    Attributes
    ----------
    probabilities : float array, shape (s, m)
        Distribution of each signature.
    status : FitStatus
    log_likelihood : float
        Log-likelihood of the published groups, natural logarithm; NaN for estimators without a likelihood.
    iterations : int
        Largest number of iterations over the starting points.
    others : float array, shape (o, s, m)
        Other solutions, in descending order of likelihood. Signatures that share no group, directly or through others, have
        solutions of their own; those without another one have the values of ``probabilities``.
    draws : float array, shape (d, s, m), optional
        Draws from the posterior of the distribution, for methods that sample.
    ess, rhat : float array, shape (s, m), optional
        Their effective sample size and R-hat.
    starts : int
        Number of starting points.
    error : float
        Largest first-order term of a probability in groups computed by the saddlepoint approximation. The probabilities include
        this term; what they leave out is of second order. 0 without such groups.
    """

    probabilities: FloatArray
    status: FitStatus
    log_likelihood: float
    iterations: int
    others: FloatArray
    draws: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None
    starts: int = 1
    error: float = 0.0

    @classmethod
    def from_posterior(cls, tree: Any, variable: str = "global_distribution") -> "Fit":
        """Posterior of the global distribution of a sampled `foreground_model`: its mean, and all draws.

        Errors and warnings are those of `MarkovChain.from_posterior`.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        variable : str
            With the dimensions chain, draw, ``signature`` and ``value``.

        Returns
        -------
        Fit
            With effective sample sizes and R-hats where there are at least 4 draws per chain. The status is
            `FitStatus.UNCONVERGED` where an R-hat is over `MAX_RHAT`, or a draw diverged. The log-likelihood is NaN.
        """
        found = posterior_variable(tree, variable, [("signature", VALUE)])
        mean, draws = probability_rows(found.mean, "the distribution of signature"), found.draws
        ess = rhat = None
        array = posterior_dataset(tree)[variable].transpose("chain", "draw", "signature", VALUE).to_numpy()
        if array.shape[1] >= 4:
            by_entry = np.ascontiguousarray(np.moveaxis(array.astype(np.float64), (0, 1), (2, 3)))
            _, _, ess, rhat = summarize_chains(by_entry)
        is_fine = not divergences(tree) and not (rhat is not None and (rhat > MAX_RHAT).any())
        status = FitStatus.FINE if is_fine else FitStatus.UNCONVERGED
        return cls(mean, status, float("nan"), len(draws), np.zeros((0, *mean.shape)), draws, ess, rhat)


class Fitting(Protocol):
    """A method that fits a global distribution; a frozen settings object."""

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """Fit the global distribution of one attribute set; the estimator computes posteriors within groups."""
        ...


class Solution(NamedTuple):
    """Result of one starting point."""

    probabilities: FloatArray  # (s, m)
    # (p + 1,): log-likelihood of the groups of each component of the evidence; NaN for estimators without a likelihood
    log_weights: FloatArray
    iterations: int
    converged: bool
    error: float = 0.0  # as `Fit.error`


def best_of(solutions: list[Solution], component: IntArray, min_distance: float) -> Fit:
    """Combine solutions into the most likely one, separately in each component: the components' likelihoods multiply.

    Solutions of a component are distinct if some probability differs by more than ``min_distance``. The first of ``others`` has the
    second most likely distinct solution of each component, and so on; components without a further one keep the most likely.
    Solutions of equal or unknown likelihood stand in the order of the starting points.

    Parameters
    ----------
    solutions : list of Solution
        One or more.
    component : int array, shape (s + 1,)
        `Evidence.component`.
    min_distance : float
    """
    weights = np.array([solution.log_weights for solution in solutions])
    order = np.argsort(-np.round(np.where(np.isnan(weights), 0.0, weights), LIKELIHOOD_DIGITS), axis=0, kind="stable")
    rows, of_row = np.arange(len(component) - 1), component[:-1]
    ranked = np.array([solution.probabilities for solution in solutions])[order[:, of_row], rows]
    place = _places(ranked, of_row, len(weights[0]), min_distance)
    chosen = [ranked[0]]
    for number in range(1, int(place.max(initial=0)) + 1):
        chosen.append(chosen[0].copy())
        for rank in range(1, len(solutions)):
            takes = place[rank, of_row] == number
            chosen[-1][takes] = ranked[rank, takes]
    converged = all(solutions[start].converged for start in np.unique(order[0]))
    error = max(solution.error for solution in solutions)
    flags = {
        FitStatus.UNCONVERGED: not converged,
        FitStatus.BOUNDARY: (np.minimum(chosen[0], 1 - chosen[0]) < BOUNDARY_DISTANCE).any(),
        FitStatus.SEVERAL: len(chosen) > 1,
        FitStatus.LARGE_GROUPS: error > 0,
    }
    return Fit(
        chosen[0],
        FitStatus(sum(flag for flag, is_set in flags.items() if is_set)),
        float(np.take_along_axis(weights, order[:1], 0).sum()),
        max(solution.iterations for solution in solutions),
        np.array(chosen[1:]).reshape(len(chosen) - 1, *chosen[0].shape),
        starts=len(solutions),
        error=error,
    )


def _places(ranked: FloatArray, component: IntArray, components: int, min_distance: float) -> IntArray:
    """Number of each solution among its component's distinct ones, most likely first; -1 for repeats: ``(starts, p + 1)``."""
    place = np.full((len(ranked), components), -1, dtype=np.int64)
    distinct = np.zeros(components, dtype=np.int64)
    for rank in range(len(ranked)):
        is_distinct = np.ones(components, dtype=np.bool_)
        for earlier in range(rank):
            gap = np.zeros(components)
            np.maximum.at(gap, component, np.abs(ranked[rank] - ranked[earlier]).max(axis=1))
            is_distinct &= (gap > min_distance) | (place[earlier] < 0)
        place[rank] = np.where(is_distinct, distinct, -1)
        distinct += is_distinct
    return place


def starting_points(evidence: Evidence, starts: int) -> list[FloatArray]:
    """Starting distributions, shape ``(s, m)`` each: the shares of the groups, then points over the whole simplex.

    Signatures whose records are in the same groups have the same shares. The further points are quasi-random: fractional parts
    of multiples of irrational numbers, one number for each signature and value, the same in every run.
    """
    first = np.maximum(evidence.shares, 1e-9)
    check_array_size("starts", starting_points=int(starts), signatures=first.shape[0], values=first.shape[1])
    golden = (5**0.5 - 1) / 2
    irrational = golden * np.sqrt(2.0 + np.arange(first.size).reshape(first.shape))
    others = [-np.log(np.maximum(np.modf(start * irrational)[0], 1e-9)) for start in range(1, int(starts))]
    return [np.asarray(point / point.sum(axis=1, keepdims=True)) for point in (first, *others)]


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
        check_iteration("ExpectationMaximization", self.tolerance, self.iterations)
        if self.starts is not None:
            check_whole("ExpectationMaximization", "starts", self.starts, "starting points")
        check_flag("ExpectationMaximization", "accelerated", self.accelerated)

    def __call__(self, evidence: Evidence, estimator: Estimator) -> Fit:
        """Fit the global distribution of one attribute set."""
        check_kind("ExpectationMaximization", "evidence", evidence, Evidence)
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
    support = evidence.support[:, None]
    return np.asarray(np.where(support > 0, expected.counts[: len(support)] / np.maximum(support, 1), evidence.rest))


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
