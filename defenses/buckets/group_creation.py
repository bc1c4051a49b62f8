"""Group creation and residue assignment of Anatomy (Xiao, Tao, VLDB 2006, Figure 3)."""

import heapq

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

GOLDEN_RATIO = (5**0.5 - 1) / 2
"""Fractional part of the golden ratio; the multiples of any run of integers, modulo 1, are spread evenly."""


def create_groups(classes: IntArray, order: IntArray, l: int, rng: np.random.Generator | None) -> IntArray:  # noqa: E741
    """Group of each record, such that no group has two records of one class.

    Parameters
    ----------
    classes : int array, shape (n,)
        Class of each record's value; -1 if the value is free.
    order : int array, shape (n,)
        Order in which the records of a class are taken.
    l : int
        Least number of records of a group, at most n. No class has more than n / l records.
    rng : numpy.random.Generator, optional
        Draws the group of each residue. Without it, a residue joins the nearest group along the order among the smallest.

    Returns
    -------
    int array, shape (n,)
        Groups are numbered from 0.

    Notes
    -----
    Each step takes one record of each of the l largest classes. Free records are classes of one record. At most l - 1 records
    remain, the residues; each joins a group without its class. Cost: O(n log n).
    """
    rank = np.empty(len(classes), dtype=np.int64)
    rank[order] = np.arange(len(classes))
    bounded = int(classes.max()) + 1
    free = order[classes[order] < 0]
    own_class = classes.copy()
    own_class[free] = bounded + np.arange(len(free))
    groups = _spread_steps(_steps(np.bincount(own_class), l))
    # Within a class, records in the order join groups in theirs. All free records are one class here.
    by_group = np.lexsort((groups, np.minimum(np.sort(own_class), bounded)))
    labels = np.empty(len(classes), dtype=np.int64)
    labels[np.lexsort((rank, np.minimum(own_class, bounded)))] = groups[by_group]
    return _assign_residues(labels, own_class, rank, len(classes) // l, rng)


def _assign_residues(
    labels: IntArray, classes: IntArray, rank: IntArray, groups: int, rng: np.random.Generator | None
) -> IntArray:
    """Assign each residue, which has a label of at least ``groups``, to a group without its class."""
    placed = labels < groups
    size = np.bincount(labels[placed], minlength=groups)
    mean_rank = np.bincount(labels[placed], weights=rank[placed], minlength=groups) / size
    by_class = np.argsort(classes, kind="stable")
    residues = np.flatnonzero(~placed)
    for record in residues[np.argsort(rank[residues])]:
        first, last = np.searchsorted(classes[by_class], [classes[record], classes[record] + 1])
        candidates = np.setdiff1d(np.arange(groups), labels[by_class[first:last]])
        labels[record] = (
            _nearest_smallest(candidates, size, mean_rank, int(rank[record])) if rng is None else rng.choice(candidates)
        )
        size[labels[record]] += 1
    return labels


def _nearest_smallest(candidates: IntArray, size: IntArray, mean_rank: FloatArray, rank: int) -> int:
    """The group of the smallest size among candidates, and of these the one with the nearest mean rank."""
    smallest = candidates[size[candidates] == size[candidates].min()]
    return int(smallest[np.abs(mean_rank[smallest] - rank).argmin()])


def _spread_steps(step: IntArray) -> IntArray:
    """Steps renumbered so that the steps which take a class are spread evenly over all groups.

    A class is taken in a run of steps, or in every other one. After the renumbering, the records of each class along the order
    meet those of other classes at a similar place. Records that no step took get the number of steps.
    """
    steps = int(step.max()) + 1
    group = np.empty(steps + 1, dtype=np.int64)
    group[np.argsort(np.arange(steps) * GOLDEN_RATIO % 1.0)] = np.arange(steps)
    group[steps] = steps
    return group[step]


@compiled
def _steps(sizes: IntArray, l: int) -> IntArray:  # noqa: E741
    """Step that takes each record, with the records of class 0 first, in their order; -1 if no step takes it."""
    step = np.full(sizes.sum(), -1)
    next_record = np.cumsum(sizes) - sizes
    # The key of a class is -left * classes + class: the smallest key has the most records left, then the lowest class.
    heap = [-sizes[number] * len(sizes) + number for number in range(len(sizes)) if sizes[number] > 0]
    heapq.heapify(heap)
    largest = np.empty(l, dtype=np.int64)
    now = 0
    while len(heap) >= l:
        for i in range(l):
            largest[i] = heapq.heappop(heap)
        for key in largest:
            number = key % len(sizes)
            step[next_record[number]] = now
            next_record[number] += 1
            if key + len(sizes) < 0:
                heapq.heappush(heap, key + len(sizes))
        now += 1
    return step
