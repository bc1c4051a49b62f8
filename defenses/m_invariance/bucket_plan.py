"""Buckets of m-invariance: division of respondents by signature, contents of each bucket, and split into groups."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.m_invariance.assignment import allocate, assign, balance, eligibility_counterfeits
from foreknow.models.arrays import BoolArray, IntArray


class BucketPlan(NamedTuple):
    """Contents of the bucket of each signature.

    Attributes
    ----------
    signatures : bool array, shape (b, v)
        Signature of each bucket, a set of the v values.
    bucket : int array, shape (n,)
        Bucket of each survivor; -1 for new records.
    fresh : int array, shape (b, v)
        Number of new records of each value that go into each bucket.
    groups : int array, shape (b,)
        Number of groups that each bucket is split into.
    eligibility_counterfeits : int
        Number of counterfeits that are needed because too many new records share a value.
    """

    signatures: BoolArray
    bucket: IntArray
    fresh: IntArray
    groups: IntArray
    eligibility_counterfeits: int


def plan_buckets(sensitive: IntArray, kept: BoolArray, m: int, rng: np.random.Generator | None) -> BucketPlan:
    """Division, balancing and assignment.

    Parameters
    ----------
    sensitive : int array, shape (n,)
        Sensitive codes.
    kept : bool array, shape (n, v)
        Signature of each survivor; empty for new records.
    m : int
    rng : numpy.random.Generator, optional
        Draws the values of counterfeits.
    """
    survivors = np.flatnonzero(kept.any(axis=1))
    domain = kept.shape[1]
    divided, place = np.unique(kept[survivors], axis=0, return_inverse=True)
    counts = np.bincount(place * domain + sensitive[survivors], minlength=divided.size).reshape(divided.shape)
    frequency = np.bincount(sensitive, minlength=domain)
    fresh = frequency - counts.sum(axis=0)
    balancing = balance(divided, counts, fresh)
    rest = fresh - balancing.sum(axis=0)
    counterfeits = eligibility_counterfeits(rest, frequency, m, rng)
    assigned, records = assign(rest + counterfeits, m)
    assigned_fresh = allocate(assigned * records[:, None], rest)
    signatures, merged = np.unique(np.concatenate([divided, assigned]), axis=0, return_inverse=True)
    groups, joining = np.zeros(len(signatures), dtype=np.int64), np.zeros(signatures.shape, dtype=np.int64)
    np.add.at(groups, merged, np.concatenate([counts.max(axis=1, initial=0), records]))
    np.add.at(joining, merged, np.concatenate([balancing, assigned_fresh]))
    bucket = np.full(len(sensitive), -1, dtype=np.int64)
    bucket[survivors] = merged[place]
    return BucketPlan(signatures, bucket, joining, groups, int(counterfeits.sum()))


def fill_buckets(plan: BucketPlan, sensitive: IntArray, rank: IntArray) -> IntArray:
    """Bucket of each record, shape ``(n,)``; the new records of a value that a bucket takes are spread along the order."""
    bucket, value = np.nonzero(plan.fresh)
    size = plan.fresh[bucket, value]
    place = (np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + 0.5) / np.repeat(size, size)
    order = np.lexsort((np.repeat(bucket, size), place, np.repeat(value, size)))
    fresh = np.flatnonzero(plan.bucket < 0)
    filled = plan.bucket.copy()
    filled[fresh[np.lexsort((rank[fresh], sensitive[fresh]))]] = np.repeat(bucket, size)[order]
    return filled


def split_buckets(plan: BucketPlan, bucket: IntArray, sensitive: IntArray, rank: IntArray) -> IntArray:
    """Split: group of each record, shape ``(n,)``.

    The i-th group of a bucket has the i-th record, along the order, of each value. A value with fewer records than groups is
    spread evenly over them.
    """
    cell = bucket * plan.signatures.shape[1] + sensitive
    order = np.lexsort((rank, cell))
    size = np.bincount(cell)
    first = np.cumsum(size) - size
    place = np.empty(len(cell), dtype=np.int64)
    place[order] = np.arange(len(cell)) - first[cell[order]]
    return np.asarray((np.cumsum(plan.groups) - plan.groups)[bucket] + place * plan.groups[bucket] // size[cell])


def lacking_values(plan: BucketPlan, labels: IntArray, sensitive: IntArray) -> IntArray:
    """Counterfeits: the values of its signature that each group lacks, as pairs of group and code, shape ``(c, 2)``."""
    lacking = np.repeat(plan.signatures, plan.groups, axis=0)
    lacking[labels, sensitive] = False
    return np.argwhere(lacking)
