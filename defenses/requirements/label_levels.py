"""Compiled kernels for the levels of requirements on beliefs in labels.

A row of beliefs has a probability for each of e labels and, at its end, for no label. No label is ranked and summed as one
more label, our reading of Shi, Xiong, Fung, CIKM 2010. The search of `ItemSuppression` evaluates millions of rows one by
one, inside compiled code: the kernels are compiled for it.
"""

import math

import numpy as np

from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.quasi_sensitive.label_sets import Words, add_record

NEGLIGIBLE_BELIEF = 1e-12
"""Largest belief that counts as 0: adding and removing records leaves rounding errors of this size."""

UNBOUNDED_L = 2**62
"""Stands for an unbounded l: the largest l of a row that is (c, l)-diverse for every l."""


@compiled
def diversity_ratio(belief: FloatArray, l: int, as_printed: bool) -> float:  # noqa: E741
    """Smallest c for which a row of beliefs, shape ``(e + 1,)``, is (c, l)-diverse: ``p_1 / (p_l + p_(l+1) + ...)``.

    The p are the beliefs over `NEGLIGIBLE_BELIEF`, in decreasing order. The level is infinite if there are fewer than l. As
    printed, it is ``p_1 / (p_1 + p_(l+1) + ...)``, at most 1. Cost: O(e).
    """
    above = _positive_beliefs(belief)
    if len(above) == 0:
        return np.inf
    first = l + 1 if as_printed else l
    tail, most = 0.0, above.max()
    if first <= len(above):
        for p in np.partition(above, len(above) - first)[: len(above) - first + 1]:
            tail += p
    if as_printed:
        return most / (most + tail)
    return most / tail if tail > 0.0 else np.inf


@compiled
def largest_l(belief: FloatArray, c: float, as_printed: bool) -> int:
    """Largest l for which a row of beliefs, shape ``(e + 1,)``, is (c, l)-diverse; 0 if there is none.

    The row is (c, l)-diverse for every smaller l as well. `UNBOUNDED_L` if it is for every l, which only the printed formula
    allows, with c of at least 1. Cost: O(e log e).
    """
    if as_printed and c + LEVEL_TOLERANCE >= 1.0:
        return UNBOUNDED_L
    above = np.sort(_positive_beliefs(belief))
    tail = 0.0
    for place in range(len(above)):
        most = above[-1]
        tail += above[place]
        rank = len(above) - place
        if as_printed and most <= (c + LEVEL_TOLERANCE) * (most + tail):
            return rank - 1
        if not as_printed and most <= (c + LEVEL_TOLERANCE) * tail:
            return rank
    return 0


@compiled
def label_distance(belief: FloatArray, prior: FloatArray) -> float:
    """Euclidean distance of two rows of beliefs, shape ``(e + 1,)``; at most the root of 2. Cost: O(e)."""
    total = 0.0
    for label in range(len(belief)):
        total += (belief[label] - prior[label]) ** 2
    return math.sqrt(total)


@compiled
def diversity_ratios(
    bits: Words,
    weight: FloatArray,
    prevalence: FloatArray,
    records: IntArray,
    starts: IntArray,
    l: int,  # noqa: E741
    as_printed: bool,
) -> FloatArray:
    """`diversity_ratio` of each of b groups, shape ``(b,)``; ``records`` and ``starts`` are those of `GroupMembers`."""
    level, belief = np.empty(len(starts) - 1), np.empty(len(prevalence) + 1)
    for g in range(len(level)):
        _write_beliefs(bits, weight, prevalence, records[starts[g] : starts[g + 1]], belief)
        level[g] = diversity_ratio(belief, l, as_printed)
    return level


@compiled
def label_distances(
    bits: Words, weight: FloatArray, prevalence: FloatArray, records: IntArray, starts: IntArray, prior: FloatArray
) -> FloatArray:
    """`label_distance` from a prior, shape ``(e + 1,)``, of each of b groups, shape ``(b,)``."""
    level, belief = np.empty(len(starts) - 1), np.empty(len(prevalence) + 1)
    for g in range(len(level)):
        _write_beliefs(bits, weight, prevalence, records[starts[g] : starts[g + 1]], belief)
        level[g] = label_distance(belief, prior)
    return level


@compiled
def _write_beliefs(
    bits: Words, weight: FloatArray, prevalence: FloatArray, members: IntArray, belief: FloatArray
) -> None:
    """Write the mean of the members' label probabilities into ``belief``."""
    belief[:] = 0.0
    for record in members:
        add_record(bits[record], weight[record], prevalence, 1.0 / len(members), belief)


@compiled
def _positive_beliefs(belief: FloatArray) -> FloatArray:
    """Beliefs over `NEGLIGIBLE_BELIEF`, in the order of the labels."""
    count = 0
    for p in belief:
        count += p > NEGLIGIBLE_BELIEF
    above, count = np.empty(count), 0
    for p in belief:
        if p > NEGLIGIBLE_BELIEF:
            above[count] = p
            count += 1
    return above
