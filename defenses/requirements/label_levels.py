"""Levels of certainty of rows of beliefs in labels: compiled, for thousands of rows.

A row has a belief for each of e labels, and at its end that in none of them, which is ranked and summed as one more label,
as we read Shi, Xiong, Fung, CIKM 2010.
"""

import math

import numpy as np

from foreknow.defenses.requirements.requirement import ROUNDING
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.quasi_sensitive.linking import Words, add_record

NEGLIGIBLE = 1e-12
"""A belief up to which a label counts as not believed in: what adding and taking away records leaves of it."""

ENDLESS = 2**62
"""The largest l of a row that keeps to every l."""


@compiled
def diversity_ratio(belief: FloatArray, l: int, as_printed: bool) -> float:  # noqa: E741
    """The least c with which a row of beliefs, shape ``(e + 1,)``, is (c, l)-diverse: ``p_1 / (p_l + p_(l+1) + ...)``.

    The p are those over `NEGLIGIBLE`, from the largest. Infinite where there are fewer than l. As printed it is
    ``p_1 / (p_1 + p_(l+1) + ...)``, at most 1. Cost: O(e).
    """
    above = _believed(belief)
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
    """The largest l for which a row of beliefs, shape ``(e + 1,)``, is (c, l)-diverse; 0 if it is for none.

    It is so for every smaller l as well. `ENDLESS` where it is for all, which only the printed formula makes possible, with
    c = 1 or more. Cost: O(e log e).
    """
    if as_printed and c + ROUNDING >= 1.0:
        return ENDLESS
    above = np.sort(_believed(belief))
    tail = 0.0
    for place in range(len(above)):
        most = above[-1]
        tail += above[place]
        rank = len(above) - place
        if as_printed and most <= (c + ROUNDING) * (most + tail):
            return rank - 1
        if not as_printed and most <= (c + ROUNDING) * tail:
            return rank
    return 0


@compiled
def label_distance(belief: FloatArray, prior: FloatArray) -> float:
    """The Euclidean distance of two rows of beliefs, shape ``(e + 1,)``; at most the root of 2. Cost: O(e)."""
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
    """`diversity_ratio` of each of b groups, shape ``(b,)``; the groups are runs of ``records``, as `Members` has them."""
    found, belief = np.empty(len(starts) - 1), np.empty(len(prevalence) + 1)
    for g in range(len(found)):
        _believe(bits, weight, prevalence, records[starts[g] : starts[g + 1]], belief)
        found[g] = diversity_ratio(belief, l, as_printed)
    return found


@compiled
def label_distances(
    bits: Words, weight: FloatArray, prevalence: FloatArray, records: IntArray, starts: IntArray, prior: FloatArray
) -> FloatArray:
    """`label_distance` from a prior, shape ``(e + 1,)``, of each of b groups, shape ``(b,)``."""
    found, belief = np.empty(len(starts) - 1), np.empty(len(prevalence) + 1)
    for g in range(len(found)):
        _believe(bits, weight, prevalence, records[starts[g] : starts[g + 1]], belief)
        found[g] = label_distance(belief, prior)
    return found


@compiled
def _believe(bits: Words, weight: FloatArray, prevalence: FloatArray, members: IntArray, belief: FloatArray) -> None:
    """Put the mean of the members' probabilities into ``belief``."""
    belief[:] = 0.0
    for record in members:
        add_record(bits[record], weight[record], prevalence, 1.0 / len(members), belief)


@compiled
def _believed(belief: FloatArray) -> FloatArray:
    """The beliefs that are not negligible, in the order of the labels."""
    count = 0
    for p in belief:
        count += p > NEGLIGIBLE
    above, count = np.empty(count), 0
    for p in belief:
        if p > NEGLIGIBLE:
            above[count] = p
            count += 1
    return above
