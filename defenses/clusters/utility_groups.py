"""The groups of a cluster before refinement, and what becomes of its leftovers (UHRA, Algorithm 2, step 1)."""

import numpy as np

from foreknow.defenses.clusters.nearest_group import gather
from foreknow.defenses.clusters.refinement import Rule, place
from foreknow.defenses.growing.growth import grow
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models.arrays import FloatArray, IntArray


def utility_groups(
    records: Summary,
    points: FloatArray,
    order: IntArray,
    requirement: GroupPredicate,
    rule: Rule,
    repaired: bool,
    patience: int | None = None,
) -> IntArray:
    """Grow groups along an order; put leftovers, one by one, into the nearest group that may take them.

    Parameters
    ----------
    records : Summary
        Every record of a cluster as a group of its own.
    points : float array, shape (n, D)
        Where records lie, by `foreknow.models.tables.distance.points`.
    order : int array, shape (n,)
        The records, first to last.
    requirement : GroupPredicate
        What every group must satisfy.
    rule : Rule
        The same, as `refine` reads it.
    repaired : bool
        Whether leftovers that no group may take make one with as many of the nearest groups as they need.
    patience : int, optional
        The most records a group may reach unsatisfied, as in `grow`.

    Returns
    -------
    int array, shape (n,)
        Each record's group, 0 to g - 1, and -1 for those that are left over.
    """
    growth = grow(records, order, requirement, patience)
    labels = np.full(len(order), -1, dtype=np.int64)
    for number, members in enumerate(growth.groups):
        labels[members] = number
    labels = place(records, points, labels, growth.left, rule)
    return repair(records, points, labels, requirement) if repaired else labels


def repair(records: Summary, points: FloatArray, labels: IntArray, requirement: GroupPredicate) -> IntArray:
    """Make leftovers one group with the nearest of the others, one after another, until it satisfies.

    Distances are those of the groups' centroids from the leftovers'; ties go to the lowest group. Where even all records
    together do not satisfy, nothing is changed, so that what satisfies as a whole is published as a whole at worst.
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
    centroids = gather(points, records.counts.argmax(axis=1), labels, records.counts.shape[1]).centroids
    merged = np.zeros(len(groups), dtype=bool)
    for group in np.argsort(((centroids - points[left].mean(axis=0)) ** 2).sum(axis=1), kind="stable"):
        trial, merged[group] = trial + groups[int(group)], True
        if requirement(trial)[0]:
            return np.unique(np.where(left | merged[labels], len(groups), labels), return_inverse=True)[1]
    return labels
