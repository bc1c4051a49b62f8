"""Exact posterior by Markov chain Monte Carlo over assignments, for groups with too many states for `Exact`."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.arguments import check_problem
from foreknow.models.estimators.assignments.group_beliefs import group_beliefs, write_group_beliefs
from foreknow.models.estimators.assignments.support import weights_and_possible_pairs
from foreknow.models.estimators.assignments.swap_moves import sample_probabilities, summarize_chains
from foreknow.models.estimators.convergence import MAX_RHAT, MIN_DRAWS
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, Posterior, Problem
from foreknow.models.settings import as_generator, is_whole

MIN_RELATIVE_PRIOR = 1e-100
"""Smallest positive prior, relative to the member's largest; smaller ones are raised to it, so that products of three do not
underflow."""

MAX_STORED_PROBABILITIES = 2**31
"""Largest number of probabilities that are stored for a group: chains * draws * k * d, of 8 bytes each, 16 GiB."""


@equal_by_fields
@dataclass(frozen=True)
class SwapChain:
    """Markov chains over the assignments of each group, with the posterior of `Exact` as their stationary law.

    Every chain starts at the assignment with the largest product of priors. A move takes three members and redraws which of
    them has which of their three values, with probabilities proportional to the products of their priors: the six outcomes
    are the identity, three transpositions and two 3-cycles. A draw is a sweep of k moves, in which each member is once the
    first of the three. The estimate averages not the values drawn but their probabilities at each move, given the values of
    all other members (Rao-Blackwell).

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`. Groups of up to three members, or with one distinct value, are
    computed exactly.

    Parameters
    ----------
    draws : int
        Number of sweeps that each chain keeps, at least `MIN_DRAWS`.
    chains : int
        Number of chains, at least 2.
    warmup : int, optional
        Number of sweeps that each chain discards first; a third of ``draws`` by default.
    rng : numpy.random.Generator or int
        Random generator, or an integer seed that makes one. Each call continues the generator, so that two calls differ.

    Raises
    ------
    ValueError
        If draws, chains or warm-up are not whole numbers of at least their minimum. When called with a problem that has
        evidence.
    TypeError
        If ``rng`` is neither a generator nor an integer. When called with anything but a `Problem`.
    TooLarge
        When called, if a group has more than `MAX_STORED_PROBABILITIES` probabilities to store.

    Notes
    -----
    Consistent as the number of draws grows. The posterior has a standard error, an effective sample size and an R-hat for each
    belief (`mean_diagnostics`). A group is reported as `Status.UNCONVERGED` in three cases: an R-hat exceeds `MAX_RHAT`; a
    possible pair has probability 0 in all draws; a prior was raised to `MIN_RELATIVE_PRIOR`. Standard errors of beliefs below
    about .001 are too small, because rare values vary little in the draws.

    Not checked: if two sets of assignments are connected only by permutations of four or more members, or only by improbable
    moves, the chains may miss one of them. All chains start at the same assignment, so R-hat and standard error cannot show it.

    Cost: O(chains * (draws + warmup) * k) for each group and O(k^3) for its first assignment; memory is 8 bytes for each of
    chains * draws * k * d numbers of the largest group.
    """

    draws: int = 250
    chains: int = 4
    warmup: int | None = None
    rng: "np.random.Generator | int" = field(kw_only=True)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", as_generator("SwapChain", self.rng))
        least = {"draws": MIN_DRAWS, "chains": 2} | ({} if self.warmup is None else {"warmup": 0})
        for name, fewest in least.items():
            number = getattr(self, name)
            if not is_whole(number, fewest) or number > MAX_STORED_PROBABILITIES:
                raise ValueError(
                    f"SwapChain: {name} is {number!r}; it is a number of {'chains' if name == 'chains' else 'sweeps'}, from "
                    f"{fewest} to 2^31."
                )

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        check_problem(self, problem)
        order, starts = group_rows(problem.group, len(problem.counts))
        belief, status = problem.prior.copy(), np.zeros(len(problem.counts), dtype=np.int64)
        diagnostics = {name: np.full(belief.shape, default) for name, default in self._without_draws.items()}
        for j in np.flatnonzero(problem.sizes):
            rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(problem.counts[j])
            capacity = problem.counts[j][values]
            possible, weights, pairs = weights_and_possible_pairs(problem.prior, rows, values, capacity)
            status[j] = 0 if possible else CONTRADICTED
            if len(rows) <= 3 or len(values) == 1:
                write_group_beliefs(group_beliefs(weights, capacity)[1], rows, values, belief)
                continue
            mean, *of_group = self._sample_group(weights, capacity, int(j))
            write_group_beliefs(mean, rows, values, belief)
            unseen = (pairs & (mean == 0)).any() or _is_below_least(weights).any()
            status[j] |= UNCONVERGED * bool(unseen or (of_group[2] > MAX_RHAT).any())
            for name, numbers in zip(diagnostics, of_group, strict=True):
                diagnostics[name][np.ix_(rows, values)] = numbers
        return Posterior(belief, status, **diagnostics)

    @property
    def _without_draws(self) -> dict[str, float]:
        """Diagnostics of a belief that does not depend on the draws."""
        return {"standard_error": 0.0, "ess": float(self.draws * self.chains), "rhat": 1.0}

    def _sample_group(
        self, weights: FloatArray, capacity: IntArray, j: int
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Beliefs of one group, their standard errors, effective sample sizes and R-hats."""
        draws, chains = int(self.draws), int(self.chains)
        warmup = draws // 3 if self.warmup is None else int(self.warmup)
        stored = draws * chains * weights.size
        if stored > MAX_STORED_PROBABILITIES:
            raise TooLarge(
                f"group {j} has {weights.size} pairs of respondent and shown value; with {chains} chains of {draws} draws "
                f"SwapChain would store {stored:.3g} probabilities, more than {MAX_STORED_PROBABILITIES} (8 bytes each). Use "
                "fewer draws, or Sinkhorn()."
            )
        relative = weights / weights.max(axis=1, keepdims=True)
        weights = np.where(_is_below_least(weights), MIN_RELATIVE_PRIOR, relative)
        start = _likeliest_assignment(weights, np.repeat(np.arange(len(capacity)), capacity))
        rng = as_generator("SwapChain", self.rng)
        return summarize_chains(sample_probabilities(weights, start, draws, chains, warmup, rng))


def _is_below_least(weights: FloatArray) -> BoolArray:
    """True for possible pairs whose prior, relative to the member's largest, is below `MIN_RELATIVE_PRIOR`."""
    return np.asarray((weights > 0) & (weights < MIN_RELATIVE_PRIOR * weights.max(axis=1, keepdims=True)))


def _likeliest_assignment(weights: FloatArray, published: IntArray) -> IntArray:
    """Value of each member in the assignment with the largest product: int array, shape ``(k,)``."""
    from scipy.optimize import linear_sum_assignment

    with np.errstate(divide="ignore"):
        _, place = linear_sum_assignment(np.log(weights)[:, published], maximize=True)
    return np.asarray(published[place])
