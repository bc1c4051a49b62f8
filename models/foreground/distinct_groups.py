"""Groups that nothing tells apart but who is in them: one of each kind is weighed for all."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.group_rows import group_rows


class DistinctGroups(NamedTuple):
    """One group of each kind: groups of as many people of each signature, that show the same values.

    Attributes
    ----------
    place : int array, shape (n',)
        Of each person of these groups, the row in the table of distributions.
    group : int array, shape (n',)
        The person's group, 0 to k - 1.
    counts : int array, shape (k, m)
        The multiset of each group.
    times : int array, shape (k,)
        How many groups are of each kind.
    """

    place: IntArray
    group: IntArray
    counts: IntArray
    times: IntArray


def distinct_groups(evidence: Evidence) -> DistinctGroups:
    """One group of each kind, in the order of their first appearance; empty groups are none. Cost: O(n log n)."""
    order, starts = group_rows(evidence.group, len(evidence.counts))
    sorted_by_place = order[np.lexsort((evidence.place[order], evidence.group[order]))]
    place = evidence.place[sorted_by_place]
    kinds: dict[tuple[bytes, bytes], int] = {}
    example: list[int] = []
    times: list[int] = []
    for group, counts in enumerate(evidence.counts):
        people = place[starts[group] : starts[group + 1]]
        if not len(people):
            continue
        kind = kinds.setdefault((people.tobytes(), counts.tobytes()), len(kinds))
        if kind == len(example):
            example.append(group)
            times.append(0)
        times[kind] += 1
    chosen = np.array(example, dtype=np.int64)
    sizes = (starts[1:] - starts[:-1])[chosen]
    rows = np.arange(sizes.sum()) + np.repeat(starts[chosen] - np.cumsum(sizes) + sizes, sizes)
    return DistinctGroups(
        place[rows], np.repeat(np.arange(len(chosen)), sizes), evidence.counts[chosen], np.array(times, dtype=np.int64)
    )
