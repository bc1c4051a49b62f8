"""The Bethe approximation of the exact posterior, by passing messages between people and published values."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import pair_shares, put
from foreknow.models.estimators.support import shown_and_possible
from foreknow.models.group_rows import group_rows
from foreknow.models.problem import CONTRADICTED, UNCONVERGED, Posterior, Problem


@dataclass(frozen=True)
class BeliefPropagation:
    """Messages between a group's k people and its k published values, until they agree; beliefs from the last ones.

    A person says to a published value how much it wants it against what the others offer, a value to a person how little
    the others want it::

        nu[i, j] = A[i, j] / sum over j' != j of A[i, j'] mu[j', i]        mu[j, i] = 1 / sum over i' != i of nu[i', j]
        belief[i, j] = nu[i, j] mu[j, i] / (1 + nu[i, j] mu[j, i])

    At a fixed point the belief is a minimum of the Bethe free energy, which is convex here. Equal published values send
    equal messages and are kept once. Everything is done with logarithms. Pairs that no possible assignment contains, and
    people who can only have one value, are set aside first; people who share no possible value with the others are a part
    by themselves, and a part of two people, or one in which the values can only go round in a circle, is computed exactly:
    there the free energy has no single minimum.

    It is overconfident where people are few or knowledge is sharp. It takes an assignment for certain, at finite odds, as
    soon as the matrix of odds against it, ``A[i, value of j] / A[i, value of i]`` off the diagonal, has a spectral radius
    below 1: three people of .8 for their own value and .1 for each other's are sure of it, where `Exact` says .967.

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    tolerance : float
        The largest change of a belief in a round at which it stops.
    iterations : int
        The most rounds; a group that needs more is reported as `Status.UNCONVERGED`.
    damping : float
        How much of the old message is kept in each round, 0 up to but not 1.

    Notes
    -----
    An approximation, closer than `Sinkhorn` where priors are sharp; exact for two people or fewer. P. Vontobel, "The Bethe
    permanent of a nonnegative matrix", IEEE Transactions on Information Theory 59 (2013); B. Huang, T. Jebara (2009). Cost:
    O(k d) per round for k people and d distinct values.
    """

    tolerance: float = 1e-10
    iterations: int = 2_000
    damping: float = 0.2
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.tolerance > 0 or self.iterations < 1:
            raise ValueError(
                f"{self!r}: the tolerance must be positive and the iterations 1 or more; the defaults are 1e-10 and 2,000."
            )
        if not 0 <= self.damping < 1:
            raise ValueError(f"{self!r}: damping must be 0 or more and below 1; the default is 0.2.")

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        problem.refuse_evidence(self)
        order, starts = group_rows(problem.group, len(problem.counts))
        settings = (self.tolerance, int(self.iterations), float(self.damping))
        return Posterior(*_posteriors(problem.prior, problem.counts, order, starts, *settings))


@compiled
def _posteriors(
    prior: FloatArray,
    counts: IntArray,
    order: IntArray,
    starts: IntArray,
    tolerance: float,
    iterations: int,
    damping: float,
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        values = np.flatnonzero(counts[j])
        found, weights, pairs = shown_and_possible(prior, rows, values, counts[j][values])
        if not found:
            status[j] |= CONTRADICTED
        agreed, shares = _group(weights, pairs, counts[j][values], tolerance, iterations, damping)
        if not agreed:
            status[j] |= UNCONVERGED
        put(shares, rows, values, belief)
    return belief, status


@compiled
def _group(
    weights: FloatArray, pairs: BoolArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """A group's beliefs: who can have one value only is set aside, the others pass messages, part by part."""
    shares = np.zeros(weights.shape)
    left = capacity.copy()
    undecided = np.zeros(len(weights), dtype=np.bool_)
    for i in range(len(weights)):
        undecided[i] = pairs[i].sum() > 1
        if not undecided[i]:
            only = int(np.argmax(pairs[i]))
            shares[i, only] = 1.0
            left[only] -= 1
    part = _parts(pairs, undecided)
    agreed = True
    for number in range(part.max() + 1 if len(part) else 0):
        rows = np.flatnonzero(part == number)
        reached = np.zeros(len(capacity), dtype=np.bool_)
        for row in range(len(rows)):
            reached |= pairs[rows[row]]
        values = np.flatnonzero(reached & (left > 0))
        open_weights = np.zeros((len(rows), len(values)))
        for row in range(len(rows)):
            for place in range(len(values)):
                if pairs[rows[row], values[place]]:
                    open_weights[row, place] = weights[rows[row], values[place]]
        met, found = _part(open_weights, left[values], tolerance, iterations, damping)
        agreed = agreed and met
        for row in range(len(rows)):
            for place in range(len(values)):
                shares[rows[row], values[place]] = found[row, place]
    return agreed, shares


@compiled
def _parts(pairs: BoolArray, undecided: BoolArray) -> IntArray:
    """A number per undecided person, equal for those whom shared possible values connect; -1 for the others."""
    part = np.full(len(pairs), -1, dtype=np.int64)
    number = 0
    for first in range(len(pairs)):
        if part[first] >= 0 or not undecided[first]:
            continue
        reached = pairs[first].copy()
        part[first] = number
        grown = True
        while grown:
            grown = False
            for i in range(len(pairs)):
                if undecided[i] and part[i] < 0 and (pairs[i] & reached).any():
                    part[i] = number
                    reached |= pairs[i]
                    grown = True
        number += 1
    return part


@compiled
def _part(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """The beliefs of people who share values with nobody else; every one of them may have several."""
    if len(weights) <= 2 or len(capacity) == 1:
        return pair_shares(weights, capacity)
    open_pairs = weights > 0.0
    if len(capacity) == len(weights) and np.all(open_pairs.sum(axis=1) == 2) and np.all(open_pairs.sum(axis=0) == 2):
        return True, _circle(weights, open_pairs)
    return _messages(np.log(weights), capacity, tolerance, iterations, damping)


@compiled
def _circle(weights: FloatArray, open_pairs: BoolArray) -> FloatArray:
    """The two assignments of a circle of people, each of whom may have one of two values that are shown once."""
    taken = np.zeros(weights.shape, dtype=np.bool_)
    person, odds = 0, 0.0
    value = int(np.argmax(open_pairs[0]))
    for _ in range(len(weights)):
        taken[person, value] = True
        other = int(np.argmax(open_pairs[person] & (np.arange(len(weights)) != value)))
        odds += np.log(weights[person, value]) - np.log(weights[person, other])
        rivals = open_pairs[:, other].copy()
        rivals[person] = False
        person, value = int(np.argmax(rivals)), other
    chance = 1.0 / (1.0 + np.exp(-odds)) if odds > -700.0 else 0.0
    shares = np.zeros(weights.shape)
    for i in range(len(weights)):
        for s in range(len(weights)):
            if open_pairs[i, s]:
                shares[i, s] = chance if taken[i, s] else 1.0 - chance
    return shares


@compiled
def _messages(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """Rounds of messages between people and values; ``weights`` and messages are logarithms."""
    k, d = weights.shape
    wanted, offered = np.zeros((k, d)), np.zeros((k, d))
    belief = np.zeros((k, d))
    for _ in range(iterations):
        _want(weights, offered, capacity, wanted)
        _offer(wanted, damping, offered)
        change = 0.0
        for i in range(k):
            for s in range(d):
                together = wanted[i, s] + offered[i, s]
                one = 1.0 / (1.0 + np.exp(-together)) if together > -700.0 else 0.0
                change = max(change, abs(one * capacity[s] - belief[i, s]))
                belief[i, s] = one * capacity[s]
        if change <= tolerance:
            return True, _rows_to_one(belief)
    return False, _rows_to_one(belief)


@compiled
def _want(weights: FloatArray, offered: FloatArray, capacity: IntArray, wanted: FloatArray) -> None:
    """Messages of the people: the weight of a value against all other published values, those equal to it included.

    Sums over the values before and behind each one leave it out without a subtraction, in O(k d).
    """
    k, d = weights.shape
    times, equal = np.zeros(d), np.zeros(d)
    for s in range(d):
        times[s] = np.log(capacity[s])
        equal[s] = np.log(capacity[s] - 1.0) if capacity[s] > 1 else -np.inf
    before, behind = np.full(d + 1, -np.inf), np.full(d + 1, -np.inf)
    for i in range(k):
        for s in range(d):
            before[s + 1] = np.logaddexp(before[s], weights[i, s] + offered[i, s] + times[s])
        for s in range(d - 1, -1, -1):
            behind[s] = np.logaddexp(behind[s + 1], weights[i, s] + offered[i, s] + times[s])
        for s in range(d):
            others = np.logaddexp(before[s], behind[s + 1])
            wanted[i, s] = weights[i, s] - np.logaddexp(others, weights[i, s] + offered[i, s] + equal[s])


@compiled
def _offer(wanted: FloatArray, damping: float, offered: FloatArray) -> None:
    """Values' messages: how little all the other people want one, mixed with what was said before."""
    k, d = wanted.shape
    before, behind = np.zeros(k + 1), np.zeros(k + 1)
    for s in range(d):
        before[0], behind[k] = -np.inf, -np.inf
        for i in range(k):
            before[i + 1] = np.logaddexp(before[i], wanted[i, s])
        for i in range(k - 1, -1, -1):
            behind[i] = np.logaddexp(behind[i + 1], wanted[i, s])
        for i in range(k):
            said = -np.logaddexp(before[i], behind[i + 1])
            offered[i, s] = damping * offered[i, s] + (1.0 - damping) * said


@compiled
def _rows_to_one(belief: FloatArray) -> FloatArray:
    for i in range(len(belief)):
        belief[i] /= belief[i].sum()
    return belief
