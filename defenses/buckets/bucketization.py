"""Buckets of records with distinct values, each of which every member may have under the negative rules."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, IntArray, compiled


class RecordTypes(NamedTuple):
    """Types of records: records of one type have the same value and the same denied values.

    Records of one type are exchangeable, apart from their rank. Types are sorted by value; of one value, the types with more
    denied values come first.

    Attributes
    ----------
    value : int array, shape (c,)
        Sensitive code of each type.
    denied : bool array, shape (c, m)
        Values that are ruled out for it.
    compatible : bool array, shape (c, c)
        True if records of two types may share a bucket: their values differ, and neither type is denied its own value or the
        other's.
    starts : int array, shape (c + 1,)
        Start of each type's records in ``records``.
    records : int array, shape (n,)
        Records, by type and then by rank.
    type_of : int array, shape (n,)
        Type of each record.
    rank : int array, shape (n,)
        Place of each record in the order.
    """

    value: IntArray
    denied: BoolArray
    compatible: BoolArray
    starts: IntArray
    records: IntArray
    type_of: IntArray
    rank: IntArray


def record_types(forbidden: BoolArray, values: IntArray, order: IntArray) -> RecordTypes:
    """Types of some records.

    Parameters
    ----------
    forbidden : bool array, shape (n, m)
        Values that are ruled out for each record.
    values : int array, shape (n,)
        Sensitive codes.
    order : int array, shape (n,)
        Order in which similar records are close.
    """
    keys = np.column_stack([values, -forbidden.sum(axis=1), np.packbits(forbidden, axis=1)])
    distinct, type_of = np.unique(keys, axis=0, return_inverse=True)
    type_of = type_of.reshape(-1)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    records = np.lexsort((rank, type_of))
    starts = np.searchsorted(type_of[records], np.arange(len(distinct) + 1))
    value, denied = values[records[starts[:-1]]], forbidden[records[starts[:-1]]]
    may_have = ~denied[:, value]
    own = may_have.diagonal()
    compatible = may_have & may_have.T & (value[:, None] != value) & own[:, None] & own
    return RecordTypes(value, denied, compatible, starts, records, type_of, rank)


class _Remaining(NamedTuple):
    """Records that are in no bucket yet; changed in place.

    Places are positions in ``RecordTypes.records``. ``next_place`` and ``previous_place``, shape ``(n + 1,)``, are union-find
    forests: the root of a place is the nearest remaining place from it onwards, or one past the nearest before it.

    Attributes
    ----------
    left : int array, shape (c,)
        Number of remaining records of each type.
    seeds : int array, shape (c,)
        Number of records of each type that may start a bucket.
    priority : int array, shape (m,)
        N(s) of each value: number of records that have the value, plus number that are denied it.
    next_place, previous_place : int arrays, shape (n + 1,)
    """

    left: IntArray
    seeds: IntArray
    priority: IntArray
    next_place: IntArray
    previous_place: IntArray


@compiled
def bucketize(types: RecordTypes, l: int) -> IntArray:  # noqa: E741 - the field's own letter
    """Buckets of l records, each of which may have every value of its bucket.

    A type whose bucket could not be completed starts no other bucket, but may join one.

    Returns
    -------
    int array, shape (n,)
        Bucket of each record, numbered from 0; -1 for residues.

    Notes
    -----
    Cost: O(n (l c + m) + n log n), with c types.
    """
    labels = np.full(len(types.records), -1, dtype=np.int64)
    remaining = _all_remaining(types)
    bucket = np.empty(l, dtype=np.int64)
    buckets = 0
    while True:
        seed = _most_urgent_seed(types, remaining)
        if seed < 0:
            return labels
        if not _fill_bucket(types, remaining, seed, bucket):
            remaining.seeds[types.type_of[types.records[seed]]] = 0
            continue
        for place in bucket:
            labels[types.records[place]] = buckets
            _remove(types, remaining, int(place))
        buckets += 1


@compiled
def _all_remaining(types: RecordTypes) -> _Remaining:
    n, left = len(types.records), types.starts[1:] - types.starts[:-1]
    seeds, priority = left.copy(), np.zeros(types.denied.shape[1], dtype=np.int64)
    for number in range(len(left)):
        _add_priority(priority, types, number, left[number])
        if types.denied[number, types.value[number]]:
            seeds[number] = 0
    return _Remaining(left, seeds, priority, np.arange(n + 1), np.arange(n + 1))


@compiled
def _remove(types: RecordTypes, remaining: _Remaining, place: int) -> None:
    """Take the record at a place out of the remaining ones."""
    number = types.type_of[types.records[place]]
    remaining.next_place[place], remaining.previous_place[place + 1] = place + 1, place
    remaining.left[number] -= 1
    remaining.seeds[number] = min(remaining.seeds[number], remaining.left[number])
    _add_priority(remaining.priority, types, number, -1)


@compiled
def _add_priority(priority: IntArray, types: RecordTypes, number: int, records: int) -> None:
    """Add some records of a type to the priority of its own value and of the values it is denied."""
    priority[types.value[number]] += records
    for value in range(len(priority)):
        if types.denied[number, value]:
            priority[value] += records


@compiled
def _root(links: IntArray, place: int) -> int:
    """Root of a place in a union-find forest, with path compression."""
    end = place
    while links[end] != end:
        end = links[end]
    while links[place] != end:
        links[place], place = end, links[place]
    return end


@compiled
def _most_urgent_seed(types: RecordTypes, remaining: _Remaining) -> int:
    """Place of the first record of the first type with the value of the highest priority that can start a bucket, or -1."""
    best = -1
    for number in range(len(remaining.seeds)):
        is_higher = best < 0 or remaining.priority[types.value[number]] > remaining.priority[types.value[best]]
        if remaining.seeds[number] > 0 and is_higher:
            best = number
    return -1 if best < 0 else _root(remaining.next_place, types.starts[best])


@compiled
def _fill_bucket(types: RecordTypes, remaining: _Remaining, seed: int, bucket: IntArray) -> bool:
    """Fill a bucket with places, from its seed on; return whether it could be completed.

    Each further record has the value of the highest priority among the types that are compatible with all members. Of the
    records with that value, it is the nearest to the seed.
    """
    rank = types.rank[types.records[seed]]
    fits = remaining.left > 0
    bucket[0] = seed
    for size in range(1, len(bucket)):
        last = types.type_of[types.records[bucket[size - 1]]]
        value = -1
        for number in range(len(fits)):
            fits[number] = fits[number] and types.compatible[last, number]
            if fits[number] and (value < 0 or remaining.priority[types.value[number]] > remaining.priority[value]):
                value = types.value[number]
        if value < 0:
            return False
        bucket[size] = _nearest_of_value(types, remaining, fits, value, rank)
    return True


@compiled
def _nearest_of_value(types: RecordTypes, remaining: _Remaining, fits: BoolArray, value: int, rank: int) -> int:
    """Place of the record nearest to a rank among the types that fit and have a value; at least one does."""
    nearest = -1
    for number in range(len(fits)):
        if fits[number] and types.value[number] == value:
            place = _nearest_of_type(types, remaining, number, rank)
            if nearest < 0 or _rank_distance(types, place, rank) < _rank_distance(types, nearest, rank):
                nearest = place
    return nearest


@compiled
def _rank_distance(types: RecordTypes, place: int, rank: int) -> int:
    return int(abs(types.rank[types.records[place]] - rank))


@compiled
def _nearest_of_type(types: RecordTypes, remaining: _Remaining, number: int, rank: int) -> int:
    """Place of the remaining record of a type that is nearest to a rank; at least one remains."""
    low, high = types.starts[number], types.starts[number + 1]
    while low < high:
        middle = (low + high) // 2
        if types.rank[types.records[middle]] < rank:
            low = middle + 1
        else:
            high = middle
    later = _root(remaining.next_place, low)
    earlier = _root(remaining.previous_place, low) - 1
    if later >= types.starts[number + 1]:
        return earlier
    if earlier < types.starts[number]:
        return later
    return earlier if _rank_distance(types, earlier, rank) <= _rank_distance(types, later, rank) else later
