"""Groups of a cluster before refinement, and its leftovers (UHRA, Algorithm 2, step 1)."""

import numpy as np

from foreknow.defenses.clusters.group_index import index_groups
from foreknow.defenses.clusters.refinement import GroupRule, place_leftovers
from foreknow.defenses.growing.growth import grow
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import FloatArray, IntArray


def utility_groups(
    records: Summary,
    points: FloatArray,
    order: IntArray,
    requirement: GroupPredicate,
    rule: GroupRule,
    repaired: bool,
    patience: int | None = None,
) -> IntArray:
    """Grow groups along an order, and put leftovers, one by one, into the nearest group that may take them.

    Parameters
    ----------
    records : Summary
        Each record of a cluster as a group of its own.
    points : float array, shape (n, D)
        Coordinates of the records, by `foreknow.models.tables.distance.points`.
    order : int array, shape (n,)
        The records, first to last.
    requirement : GroupPredicate
        Requirement that every group satisfies.
    rule : GroupRule
        The same requirement, as `refine` reads it.
    repaired : bool
        If True, leftovers that no group may take are merged with the nearest groups (`merge_leftovers`).
    patience : int, optional
        Largest number of records of an unsatisfied group, as in `grow`.

    Returns
    -------
    int array, shape (n,)
        Group of each record, 0 to g - 1; -1 for leftovers.
    """
    growth = grow(records, order, requirement, patience)
    labels = np.full(len(order), -1, dtype=np.int64)
    for number, members in enumerate(growth.groups):
        labels[members] = number
    labels = place_leftovers(records, points, labels, growth.left, rule)
    return merge_leftovers(records, points, labels, requirement) if repaired else labels


def merge_leftovers(records: Summary, points: FloatArray, labels: IntArray, requirement: GroupPredicate) -> IntArray:
    """Merge all leftovers into one group, with the nearest other groups in turn, until it satisfies.

    Distances are between the centroids of the groups and that of the leftovers; ties go to the lowest group. If all records
    together do not satisfy, the labels are unchanged. So a cluster that satisfies as a whole is published, as one group at worst.
    """
    left = labels < 0
    if not left.any():
        return labels
    trial = summarize_groups(records[left], np.zeros(int(left.sum()), dtype=np.int64))
    if requirement(trial)[0]:
        return np.where(left, labels.max() + 1, labels)
    if left.all():
        return labels
    groups = summarize_groups(records, labels)
    centroids = index_groups(points, records.counts.argmax(axis=1), labels, records.counts.shape[1]).centroids
    merged = np.zeros(len(groups), dtype=bool)
    for group in np.argsort(((centroids - points[left].mean(axis=0)) ** 2).sum(axis=1), kind="stable"):
        trial, merged[group] = trial + groups[int(group)], True
        if requirement(trial)[0]:
            return np.unique(np.where(left | merged[labels], len(groups), labels), return_inverse=True)[1]
    return labels
