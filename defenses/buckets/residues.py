"""Residue assignment of Injector: records without a bucket join one that stays diverse with them."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.buckets.bucketization import RecordTypes
from foreknow.models.arrays import IntArray, compiled
from foreknow.models.estimators.assignments.support import possible_pairs


class Buckets(NamedTuple):
    """Buckets as linked lists of records.

    Attributes
    ----------
    first : int array, shape (b,)
        First member of each bucket.
    following : int array, shape (n,)
        Member after each record; -1 after the last.
    by_position : int array, shape (b,)
        Buckets, sorted by position.
    position : int array, shape (b,)
        Lowest rank of the members of each of these, ascending.
    """

    first: IntArray
    following: IntArray
    by_position: IntArray
    position: IntArray


def assign_residues(types: RecordTypes, labels: IntArray, l: int) -> IntArray:  # noqa: E741 - the defense's own letter
    """Assign each residue to the nearest bucket without its value in which each record then has at least l possible values.

    Parameters
    ----------
    types : RecordTypes
    labels : int array, shape (n,)
        Bucket of each record, 0 to b - 1; -1 for residues.
    l : int
        Least number of possible values of each record, by `possible_pairs`.

    Returns
    -------
    int array, shape (n,)
        The labels; -1 for residues that fit no bucket.

    Notes
    -----
    Residues are taken type by type, each once. If a residue fits no bucket, no other residue of its type does. Cost: O(b l) for
    each residue that joins and each type that fails; O(k^3) for each bucket of k records that is tried.
    """
    placed = labels.copy()
    _assign(types, _linked_buckets(labels, types.rank), placed, l)
    return placed


def _linked_buckets(labels: IntArray, rank: IntArray) -> Buckets:
    order = np.lexsort((rank, labels))[np.count_nonzero(labels < 0) :]
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    following = np.full(len(labels), -1, dtype=np.int64)
    following[order[:-1]] = np.where(np.diff(labels[order]) == 0, order[1:], -1)
    lowest = rank[order[starts]]
    by_position = np.argsort(lowest)
    return Buckets(order[starts], following, by_position, lowest[by_position])


@compiled
def _assign(types: RecordTypes, buckets: Buckets, labels: IntArray, l: int) -> None:  # noqa: E741
    failed_type = -1
    for record in types.records:
        if labels[record] >= 0 or types.type_of[record] == failed_type:
            continue
        bucket = _nearest_bucket(types, buckets, record, l)
        if bucket < 0:
            failed_type = types.type_of[record]
            continue
        labels[record] = bucket
        buckets.following[record] = buckets.first[bucket]
        buckets.first[bucket] = record


@compiled
def _nearest_bucket(types: RecordTypes, buckets: Buckets, record: int, l: int) -> int:  # noqa: E741
    """The nearest bucket by position that a record may join, or -1. The search goes outwards in both directions."""
    rank = types.rank[record]
    later = np.searchsorted(buckets.position, rank)
    earlier = later - 1
    while earlier >= 0 or later < len(buckets.position):
        backwards = later == len(buckets.position)
        if not backwards and earlier >= 0:
            backwards = rank - buckets.position[earlier] <= buckets.position[later] - rank
        bucket = buckets.by_position[earlier] if backwards else buckets.by_position[later]
        if _may_join(types, buckets, record, bucket, l) and _stays_diverse(types, buckets, record, bucket, l):
            return int(bucket)
        if backwards:
            earlier -= 1
        else:
            later += 1
    return -1


@compiled
def _may_join(types: RecordTypes, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Return whether three necessary conditions of diversity hold, in O(k).

    No member has the record's value, some member may have it, and the record may have the values of at least l - 1 members.
    """
    newcomer = types.type_of[record]
    own, possible, is_possible_for_member, member = types.value[newcomer], 0, False, buckets.first[bucket]
    while member >= 0:
        number = types.type_of[member]
        if types.value[number] == own:
            return False
        if not types.denied[newcomer, types.value[number]]:
            possible += 1
        is_possible_for_member = is_possible_for_member or not types.denied[number, own]
        member = buckets.following[member]
    return is_possible_for_member and possible >= l - 1


@compiled
def _stays_diverse(types: RecordTypes, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Return whether each record of a bucket with a further record has at least l possible values.

    All values of the bucket differ, so that each has capacity 1.
    """
    members = [types.type_of[record]]
    member = buckets.first[bucket]
    while member >= 0:
        members.append(types.type_of[member])
        member = buckets.following[member]
    k = len(members)
    weights = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            weights[i, j] = 0.0 if types.denied[members[i], types.value[members[j]]] else 1.0
    exists, pairs = possible_pairs(weights, np.ones(k, dtype=np.int64))
    if not exists:
        return False
    return bool((pairs.sum(axis=1) >= l).all())
