"""Exact posterior by Markov chain Monte Carlo over assignments, for groups with too many states for `Exact`."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.assignments import group_beliefs, weights_and_possible_pairs, write_group_beliefs
from foreknow.models.estimators.convergence import MAX_RHAT, MIN_DRAWS, mean_diagnostics
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.problem import CONTRADICTED, ROW_PARTS, UNCONVERGED, Posterior, Problem, group_rows
from foreknow.models.settings import as_generator, check_whole

MIN_RELATIVE_PRIOR = 1e-100
"""Smallest positive prior, relative to the member's largest; smaller ones are raised to it, so that products of three do not
underflow."""

MAX_STORED_PROBABILITIES = 2**31
"""Largest number of probabilities that are stored for a group: chains * draws * k * d, of 8 bytes each, 16 GiB."""


def check_chains(owner: str, draws: Any, chains: Any, warmup: Any) -> None:
    """Raise ValueError unless chains are long enough for their diagnostics; a warm-up may be None."""
    check_whole(owner, "draws", draws, "draws", MIN_DRAWS, MAX_STORED_PROBABILITIES)
    check_whole(owner, "chains", chains, "chains", 2, MAX_STORED_PROBABILITIES)
    check_whole(owner, "warmup", 0 if warmup is None else warmup, "draws", 0, MAX_STORED_PROBABILITIES)


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
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", as_generator("SwapChain", self.rng))
        check_chains("SwapChain", self.draws, self.chains, self.warmup)

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        order, starts = group_rows(problem.group, len(problem.counts))
        belief, status = problem.prior.copy(), np.zeros(len(problem.counts), dtype=np.int64)
        diagnostics: dict[str, Any] = {
            name: np.full(belief.shape, default) for name, default in self._without_draws.items()
        }
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


@compiled
def sample_probabilities(
    weights: FloatArray, start: IntArray, draws: int, chains: int, warmup: int, rng: np.random.Generator
) -> FloatArray:
    """Conditional probabilities of each member's values, averaged over each sweep: shape ``(k, d, chains, draws)``.

    ``weights``, shape ``(k, d)``, are the priors of the k members, at least 4, for the d values; ``start``, shape ``(k,)``, is
    the value of each member at the start of every chain.
    """
    k, d = weights.shape
    kept = np.zeros((k, d, chains, draws))
    sums, moves = np.zeros((k, d)), np.zeros(k)
    for chain in range(chains):
        value = start.copy()
        for draw in range(-warmup, draws):
            _sweep(weights, value, sums, moves, rng)
            if draw >= 0:
                kept[:, :, chain, draw] = sums / moves.reshape((k, 1))
    return kept


@compiled
def _sweep(weights: FloatArray, value: IntArray, sums: FloatArray, moves: FloatArray, rng: np.random.Generator) -> None:
    """One move with each member as the first of three; write the sums of probabilities and the number of moves of each."""
    k = len(weights)
    sums[:] = 0.0
    moves[:] = 0.0
    for one in range(k):
        # Two further members, distinct and uniformly distributed.
        two = (one + 1 + int(rng.random() * (k - 1))) % k
        three = int(rng.random() * (k - 2))
        three += three >= min(one, two)
        three += three >= max(one, two)
        _redraw(weights, value, (one, two, three), sums, rng.random())
        moves[one] += 1.0
        moves[two] += 1.0
        moves[three] += 1.0


@compiled
def _redraw(weights: FloatArray, value: IntArray, trio: tuple[int, int, int], sums: FloatArray, uniform: float) -> None:
    """Redraw the values a, b and c of three members i, j and h among them, and add the probability of each to ``sums``.

    The weights are named by the values that i, j and h get: ``bca`` is the weight of i having b, j having c and h having a.
    ``uniform`` is a random number from 0 to 1.
    """
    i, j, h = trio
    a, b, c = value[i], value[j], value[h]
    # Weight of each outcome, a product of three priors: abc is the identity, bca and cab are 3-cycles, the others transpositions.
    abc = weights[i, a] * weights[j, b] * weights[h, c]
    acb = weights[i, a] * weights[j, c] * weights[h, b]
    cba = weights[i, c] * weights[j, b] * weights[h, a]
    bac = weights[i, b] * weights[j, a] * weights[h, c]
    bca = weights[i, b] * weights[j, c] * weights[h, a]
    cab = weights[i, c] * weights[j, a] * weights[h, b]
    total = abc + acb + cba + bac + bca + cab
    if total == 0.0:
        abc = total = 1.0  # no outcome is possible: the values stay
    # Probability that i has a: the outcomes with a in the place of i, over all six. The same for each member and value.
    sums[i, a] += (abc + acb) / total
    sums[i, b] += (bac + bca) / total
    sums[i, c] += (cba + cab) / total
    sums[j, a] += (bac + cab) / total
    sums[j, b] += (abc + cba) / total
    sums[j, c] += (acb + bca) / total
    sums[h, a] += (cba + bca) / total
    sums[h, b] += (acb + cab) / total
    sums[h, c] += (abc + bac) / total
    # Draw an outcome: the one in whose part of (0, total) the number ``uniform * total`` lies.
    rest = uniform * total - abc
    if rest < 0.0:
        return
    if rest < acb:
        value[j], value[h] = c, b
    elif rest < acb + cba:
        value[i], value[h] = c, a
    elif rest < acb + cba + bac:
        value[i], value[j] = b, a
    elif rest < acb + cba + bac + bca:
        value[i], value[j], value[h] = b, c, a
    elif cab > 0.0:
        value[i], value[j], value[h] = c, a, b


@compiled
def summarize_chains(kept: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mean of each belief over all chains, its standard error, effective sample size and R-hat, each of shape ``(k, d)``."""
    k, d = kept.shape[:2]
    mean, error, ess, rhat = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for i in range(k):
        for s in range(d):
            mean[i, s] = kept[i, s].mean()
            ess[i, s], rhat[i, s] = mean_diagnostics(kept[i, s])
            error[i, s] = np.sqrt(kept[i, s].var() / ess[i, s])
        mean[i] /= mean[i].sum()
    return mean, error, ess, rhat
