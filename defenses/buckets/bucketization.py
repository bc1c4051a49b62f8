"""Buckets of records with different values, any of which each of them may have for all that is known."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, IntArray, compiled


class Kinds(NamedTuple):
    """Records of equal value that are denied equal values, and are interchangeable but for where they stand.

    Kinds are in the order of their values, and of one value those that are denied most come first.

    Attributes
    ----------
    value : int array, shape (c,)
        The sensitive code of each kind.
    denied : bool array, shape (c, m)
        The values that are ruled out for it.
    together : bool array, shape (c, c)
        Whether records of two kinds may be in a bucket: they have different values, and nothing denies either its own or
        the other's.
    starts : int array, shape (c + 1,)
        Where each kind's records stand in ``records``.
    records : int array, shape (n,)
        The records, by kind and then by rank.
    kind : int array, shape (n,)
        Each record's kind.
    rank : int array, shape (n,)
        Each record's place in an order in which those who are alike stand close.
    """

    value: IntArray
    denied: BoolArray
    together: BoolArray
    starts: IntArray
    records: IntArray
    kind: IntArray
    rank: IntArray


def kinds_of(forbidden: BoolArray, values: IntArray, order: IntArray) -> Kinds:
    """The kinds of records with some values, shape ``(n,)``, forbidden ones ``(n, m)``, and an order."""
    keys = np.column_stack([values, -forbidden.sum(axis=1), np.packbits(forbidden, axis=1)])
    distinct, kind = np.unique(keys, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    records = np.lexsort((rank, kind))
    starts = np.searchsorted(kind[records], np.arange(len(distinct) + 1))
    value, denied = values[records[starts[:-1]]], forbidden[records[starts[:-1]]]
    takes = ~denied[:, value]
    possible = takes.diagonal()
    together = takes & takes.T & (value[:, None] != value) & possible[:, None] & possible
    return Kinds(value, denied, together, starts, records, kind, rank)


@compiled
def bucketize(kinds: Kinds, l: int) -> IntArray:  # noqa: E741 - the field's own letter
    """Buckets of l records that may all have each other's values: each record's bucket, -1 for those left over.

    A kind that could not be completed to a bucket starts no other, but may join one. Cost: O(n (l c + m) + n log n), with c kinds.
    """
    c, m = kinds.denied.shape
    n = len(kinds.records)
    labels = np.full(n, -1, dtype=np.int64)
    left = kinds.starts[1:] - kinds.starts[:-1]
    after, before = np.arange(n + 1), np.arange(n + 1)
    urgency = np.zeros(m, dtype=np.int64)
    seeds = left.copy()
    for kind in range(c):
        _count(urgency, kinds, kind, left[kind])
        if kinds.denied[kind, kinds.value[kind]]:
            seeds[kind] = 0
    bucket = np.empty(l, dtype=np.int64)
    buckets = 0
    while True:
        seed = _seed(kinds, urgency, seeds, after)
        if seed < 0:
            return labels
        if not _complete(kinds, urgency, left, after, before, seed, bucket):
            seeds[kinds.kind[kinds.records[seed]]] = 0
            continue
        for place in bucket:
            record = kinds.records[place]
            kind = kinds.kind[record]
            labels[record] = buckets
            after[place], before[place + 1] = place + 1, place
            left[kind] -= 1
            seeds[kind] = min(seeds[kind], left[kind])
            _count(urgency, kinds, kind, -1)
        buckets += 1


@compiled
def _count(urgency: IntArray, kinds: Kinds, kind: int, records: int) -> None:
    """Add some records of a kind to how many have each value, plus how many are denied it."""
    urgency[kinds.value[kind]] += records
    for value in range(len(urgency)):
        if kinds.denied[kind, value]:
            urgency[value] += records


@compiled
def _root(links: IntArray, place: int) -> int:
    """Follow links to their end, shortening them on the way."""
    end = place
    while links[end] != end:
        end = links[end]
    while links[place] != end:
        links[place], place = end, links[place]
    return end


@compiled
def _seed(kinds: Kinds, urgency: IntArray, seeds: IntArray, after: IntArray) -> int:
    """The first record of the first kind, of those that can start a bucket, with the most urgent value; -1 if none can."""
    best = -1
    for kind in range(len(seeds)):
        if seeds[kind] > 0 and (best < 0 or urgency[kinds.value[kind]] > urgency[kinds.value[best]]):
            best = kind
    return -1 if best < 0 else _root(after, kinds.starts[best])


@compiled
def _complete(
    kinds: Kinds, urgency: IntArray, left: IntArray, after: IntArray, before: IntArray, seed: int, bucket: IntArray
) -> bool:
    """Fill a bucket from its seed on: always the most urgent value that fits all in it, of the record nearest to the seed."""
    at = kinds.rank[kinds.records[seed]]
    fits = left > 0
    bucket[0] = seed
    for size in range(1, len(bucket)):
        last = kinds.kind[kinds.records[bucket[size - 1]]]
        value = -1
        for kind in range(len(fits)):
            fits[kind] = fits[kind] and kinds.together[last, kind]
            if fits[kind] and (value < 0 or urgency[kinds.value[kind]] > urgency[value]):
                value = kinds.value[kind]
        if value < 0:
            return False
        nearest = -1
        for kind in range(len(fits)):
            if fits[kind] and kinds.value[kind] == value:
                place = _nearest(kinds, after, before, kind, at)
                if nearest < 0 or _far(kinds, place, at) < _far(kinds, nearest, at):
                    nearest = place
        bucket[size] = nearest
    return True


@compiled
def _far(kinds: Kinds, place: int, rank: int) -> int:
    return int(abs(kinds.rank[kinds.records[place]] - rank))


@compiled
def _nearest(kinds: Kinds, after: IntArray, before: IntArray, kind: int, rank: int) -> int:
    """The remaining record of a kind that stands nearest to a rank; there must be one."""
    low, high = kinds.starts[kind], kinds.starts[kind + 1]
    while low < high:
        middle = (low + high) // 2
        if kinds.rank[kinds.records[middle]] < rank:
            low = middle + 1
        else:
            high = middle
    later = _root(after, low)
    earlier = _root(before, low) - 1
    if later >= kinds.starts[kind + 1]:
        return earlier
    if earlier < kinds.starts[kind]:
        return later
    return earlier if _far(kinds, earlier, rank) <= _far(kinds, later, rank) else later
