"""What becomes of records that no bucket was made for: they join one in which everybody still has enough values."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.buckets.bucketization import Kinds
from foreknow.defenses.buckets.matchings import in_matchings
from foreknow.models.arrays import IntArray, compiled


class Buckets(NamedTuple):
    """Who is in which bucket, as chains of records.

    ``first (b,)`` is a member of each bucket and ``following (n,)`` the member after each, -1 after the last; ``near (b,)``
    are the buckets in the order of their lowest ranks, which are ``position (b,)``.
    """

    first: IntArray
    following: IntArray
    near: IntArray
    position: IntArray


def insert(kinds: Kinds, labels: IntArray, l: int) -> IntArray:  # noqa: E741 - the defense's own letter
    """Put records left over into the nearest bucket without their value where each may still have l values.

    Parameters
    ----------
    kinds : Kinds
    labels : int array, shape (n,)
        Each record's bucket, 0 to b - 1; -1 for those left over.
    l : int
        How many values everybody in a bucket may have, by `in_matchings`.

    Returns
    -------
    int array, shape (n,)
        The labels with those who found a place. They are taken kind by kind, each once; where one finds none, no other of
        its kind does.

    Notes
    -----
    Cost: O(b l) for each of the b buckets, and O(k^3) for those of k that may have room, once for each record that joins
    and for each kind that fails.
    """
    placed = labels.copy()
    _insert(kinds, _chained(labels, kinds.rank), placed, l)
    return placed


def _chained(labels: IntArray, rank: IntArray) -> Buckets:
    order = np.lexsort((rank, labels))[np.count_nonzero(labels < 0) :]
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    following = np.full(len(labels), -1, dtype=np.int64)
    following[order[:-1]] = np.where(np.diff(labels[order]) == 0, order[1:], -1)
    lowest = rank[order[starts]]
    near = np.argsort(lowest)
    return Buckets(order[starts], following, near, lowest[near])


@compiled
def _insert(kinds: Kinds, buckets: Buckets, labels: IntArray, l: int) -> None:  # noqa: E741
    hopeless = -1
    for record in kinds.records:
        if labels[record] >= 0 or kinds.kind[record] == hopeless:
            continue
        bucket = _place(kinds, buckets, record, l)
        if bucket < 0:
            hopeless = kinds.kind[record]
            continue
        labels[record] = bucket
        buckets.following[record] = buckets.first[bucket]
        buckets.first[bucket] = record


@compiled
def _place(kinds: Kinds, buckets: Buckets, record: int, l: int) -> int:  # noqa: E741
    """The bucket, nearest first, that a record may join; -1 if there is none."""
    at = kinds.rank[record]
    later = np.searchsorted(buckets.position, at)
    earlier = later - 1
    while earlier >= 0 or later < len(buckets.position):
        back = later == len(buckets.position)
        if not back and earlier >= 0:
            back = at - buckets.position[earlier] <= buckets.position[later] - at
        bucket = buckets.near[earlier] if back else buckets.near[later]
        if _has_room(kinds, buckets, record, bucket, l) and _holds(kinds, buckets, record, bucket, l):
            return int(bucket)
        if back:
            earlier -= 1
        else:
            later += 1
    return -1


@compiled
def _has_room(kinds: Kinds, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Whether a bucket lacks a record's value, somebody in it may have that, and the record l - 1 of theirs."""
    newcomer = kinds.kind[record]
    own, takes, taken, member = kinds.value[newcomer], 0, False, buckets.first[bucket]
    while member >= 0:
        kind = kinds.kind[member]
        if kinds.value[kind] == own:
            return False
        if not kinds.denied[newcomer, kinds.value[kind]]:
            takes += 1
        taken = taken or not kinds.denied[kind, own]
        member = buckets.following[member]
    return taken and takes >= l - 1


@compiled
def _holds(kinds: Kinds, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Whether everybody in a bucket has l values with a record in there."""
    members = [kinds.kind[record]]
    member = buckets.first[bucket]
    while member >= 0:
        members.append(kinds.kind[member])
        member = buckets.following[member]
    k = len(members)
    allowed = np.empty((k, k), dtype=np.bool_)
    for i in range(k):
        for j in range(k):
            allowed[i, j] = not kinds.denied[members[i], kinds.value[members[j]]]
    possible = in_matchings(allowed)
    for i in range(k):
        values = 0
        for j in range(k):
            values += possible[i, j]
        if values < l:
            return False
    return True
