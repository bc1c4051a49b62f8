"""The exact posterior by sampling assignments, for groups that are too large to be walked through."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import pair_shares, put
from foreknow.models.estimators.convergence import mean_diagnostics
from foreknow.models.estimators.support import shown_and_possible
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, Posterior, Problem

FEWEST_DRAWS = 8
"""How many draws a chain needs at least, for its halves to have a variance."""

LARGEST_RHAT = 1.05
"""Chains of a group with a belief of a larger R-hat do not agree. (1.01 is the usual bound for one number; a group has many.)"""

FAINTEST = 1e-100
"""What stands for a smaller prior, relative to the person's largest: products of three stay above underflow."""


@dataclass(frozen=True)
class SwapChain:
    """Markov chains over the assignments of each group, under the law of `Exact`.

    Every chain starts at the best assignment (the largest product of priors). A move takes three people, forgets which of
    them has which of their three values, and draws one of the six ways anew in proportion to the priors it uses: exchanges
    of two and turns of three. A draw is a round of as many moves as the group has
    people, each person once the first of the three. What is averaged are not the values drawn but their probabilities at
    each move, given everybody else's values (Rao-Blackwell).

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    draws : int
        How many rounds each chain keeps.
    chains : int
        How many chains, 2 or more.
    warmup : int, optional
        How many rounds each chain throws away first; as many as it keeps a third of, by default.
    rng : numpy.random.Generator
        Where chance comes from; each call goes on from where the last one stopped, so that two calls differ.

    Raises
    ------
    ValueError
        If there are fewer than `FEWEST_DRAWS` draws or two chains, or the warm-up is negative.

    Notes
    -----
    Unbiased in the long run; the posterior has a standard error, an effective sample size and an R-hat for each belief
    (`mean_diagnostics`). A group is reported as `Status.UNCONVERGED` if an R-hat is over `LARGEST_RHAT`, if a possible pair
    was never met, or if priors had to be raised to `FAINTEST` of the person's largest, so that products of three do not
    vanish. Standard errors of beliefs under some .001 are too small, because what was seldom drawn varies little. Not
    checked: where only exchanges among four or more people lead from one part of the assignments to another, or all but
    improbable ones do, no chain may get there, since all start at the same one; R-hat and standard error cannot tell.

    Groups of up to three people are computed exactly. Cost: O(chains * (draws + warmup) * k) per group, and 8 bytes for each
    of chains * draws * k * distinct values of the largest group; the best assignment takes O(k^3).
    """

    draws: int = 250
    chains: int = 4
    warmup: int | None = None
    rng: np.random.Generator = field(kw_only=True)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.rng, np.random.Generator):
            raise TypeError(f"SwapChain: rng is {self.rng!r}; it is a generator, as numpy.random.default_rng(1).")
        if self.draws < FEWEST_DRAWS or self.chains < 2 or (self.warmup is not None and self.warmup < 0):
            raise ValueError(
                f"SwapChain needs {FEWEST_DRAWS} draws or more, 2 chains or more and no negative warm-up; got draws="
                f"{self.draws}, chains={self.chains}, warmup={self.warmup}."
            )

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        order, starts = group_rows(problem.group, len(problem.counts))
        belief = problem.prior.copy()
        found = {name: np.full(belief.shape, still) for name, still in self._undrawn.items()}
        status = np.zeros(len(problem.counts), dtype=np.int64)
        for j in np.flatnonzero(problem.sizes):
            rows, values = order[starts[j] : starts[j + 1]], np.flatnonzero(problem.counts[j])
            capacity = problem.counts[j][values]
            possible, weights, pairs = shown_and_possible(problem.prior, rows, values, capacity)
            status[j] = 0 if possible else CONTRADICTED
            if len(rows) <= 3 or len(values) == 1:
                put(pair_shares(weights, capacity)[1], rows, values, belief)
                continue
            answers = self._group(weights, np.repeat(np.arange(len(values)), capacity))
            put(answers[0], rows, values, belief)
            # A possible pair that was never even offered: the chains did not get everywhere.
            unseen = (pairs & (answers[0] == 0)).any() or _floored(weights).any()
            status[j] |= UNCONVERGED * bool(unseen or (answers[3] > LARGEST_RHAT).any())
            for name, answer in zip(found, answers[1:], strict=True):
                found[name][np.ix_(rows, values)] = answer
        return Posterior(belief, status, **found)

    @property
    def _undrawn(self) -> dict[str, float]:
        """What is reported of a belief that no draw can change."""
        return {"standard_error": 0.0, "ess": float(self.draws * self.chains), "rhat": 1.0}

    def _group(self, weights: FloatArray, published: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The beliefs of one group, their standard errors, effective sample sizes and R-hats."""
        warmup = self.draws // 3 if self.warmup is None else self.warmup
        relative = weights / weights.max(axis=1, keepdims=True)
        weights = np.where(_floored(weights), FAINTEST, relative)
        start = _best(weights, published)
        return _summaries(_chains(weights, start, int(self.draws), int(self.chains), int(warmup), self.rng))


def _floored(weights: FloatArray) -> BoolArray:
    """Which possible pairs are fainter than `FAINTEST`."""
    return np.asarray((weights > 0) & (weights < FAINTEST * weights.max(axis=1, keepdims=True)))


def _best(weights: FloatArray, published: IntArray) -> IntArray:
    """Each person's value in the assignment with the largest product."""
    with np.errstate(divide="ignore"):
        _, place = linear_sum_assignment(np.log(weights)[:, published], maximize=True)
    return np.asarray(published[place])


@compiled
def _chains(
    weights: FloatArray, start: IntArray, draws: int, chains: int, warmup: int, rng: np.random.Generator
) -> FloatArray:
    """The probabilities of each person's values in each round: shape ``(k, d, chains, draws)``; k is over 3."""
    k, d = weights.shape
    kept = np.zeros((k, d, chains, draws))
    seen, moves = np.zeros((k, d)), np.zeros(k)
    for chain in range(chains):
        value = start.copy()
        for turn in range(-warmup, draws):
            seen[:] = 0.0
            moves[:] = 0.0
            for one in range(k):
                two = (one + 1 + int(rng.random() * (k - 1))) % k
                three = int(rng.random() * (k - 2))
                three += three >= min(one, two)
                three += three >= max(one, two)
                _move(weights, value, (one, two, three), seen, rng.random())
                moves[one] += 1.0
                moves[two] += 1.0
                moves[three] += 1.0
            if turn >= 0:
                for i in range(k):
                    for s in range(d):
                        kept[i, s, chain, turn] = seen[i, s] / moves[i]
    return kept


@compiled
def _move(weights: FloatArray, value: IntArray, people: tuple[int, int, int], seen: FloatArray, chance: float) -> None:
    """Draw the values of three people anew among themselves, and add up the probabilities of what each may get."""
    i, j, h = people
    a, b, c = value[i], value[j], value[h]
    stay = weights[i, a] * weights[j, b] * weights[h, c]
    first = weights[i, a] * weights[j, c] * weights[h, b]
    second = weights[i, c] * weights[j, b] * weights[h, a]
    third = weights[i, b] * weights[j, a] * weights[h, c]
    left = weights[i, b] * weights[j, c] * weights[h, a]
    right = weights[i, c] * weights[j, a] * weights[h, b]
    total = stay + first + second + third + left + right
    if total == 0.0:
        stay = total = 1.0
    seen[i, a] += (stay + first) / total
    seen[i, b] += (third + left) / total
    seen[i, c] += (second + right) / total
    seen[j, a] += (third + right) / total
    seen[j, b] += (stay + second) / total
    seen[j, c] += (first + left) / total
    seen[h, a] += (second + left) / total
    seen[h, b] += (first + right) / total
    seen[h, c] += (stay + third) / total
    chance = chance * total - stay
    if chance < 0.0:
        return
    if chance < first:
        value[j], value[h] = c, b
    elif chance < first + second:
        value[i], value[h] = c, a
    elif chance < first + second + third:
        value[i], value[j] = b, a
    elif chance < first + second + third + left:
        value[i], value[j], value[h] = b, c, a
    elif right > 0.0:
        value[i], value[j], value[h] = c, a, b


@compiled
def _summaries(kept: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The mean of every belief, its standard error, effective sample size and R-hat."""
    k, d = kept.shape[:2]
    mean, error, ess, rhat = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for i in range(k):
        for s in range(d):
            mean[i, s] = kept[i, s].mean()
            ess[i, s], rhat[i, s] = mean_diagnostics(kept[i, s])
            error[i, s] = np.sqrt(kept[i, s].var() / ess[i, s])
        mean[i] /= mean[i].sum()
    return mean, error, ess, rhat
