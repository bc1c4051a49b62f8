"""Index of groups under change: members, summaries, and the search for the nearest group."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled


class GroupLimits(NamedTuple):
    """Conditions on a group that compiled kernels check."""

    smallest: int  # least number of records, 1 or more
    table: FloatArray  # (m,): share of each value in the whole table
    # Largest total variation distance of a group's shares from the table's: half the sum of absolute differences
    distance: float
    share: FloatArray  # (m,): largest share of each value


class GroupIndex(NamedTuple):
    """Groups that records leave and join, with centroids in the space of `foreknow.models.tables.distance.points`.

    Groups are sorted into cells of neighbouring groups. Each cell has a box that contains its groups' centroids. A search skips
    a cell whose box is farther away than the best group so far. When a group changes, the box of its cell grows to contain it.
    """

    size: IntArray  # (g,)
    counts: IntArray  # (g, m)
    # sums, centroids (g, D): sum and mean of the members' points
    sums: FloatArray
    centroids: FloatArray
    cell: IntArray  # (g,): cell of each group
    # starts, order (c + 1,) and (g,): start of each cell's groups in `order`, and the groups
    starts: IntArray
    order: IntArray
    # low, high (c, D): boxes of the cells
    low: FloatArray
    high: FloatArray


class Partition(NamedTuple):
    """Records and the groups they are in; changed in place when a record moves."""

    groups: GroupIndex
    points: FloatArray  # (n, D)
    values: IntArray  # (n,): sensitive codes
    labels: IntArray  # (n,): group of each record, 0 to g - 1; -1 for none


def partition_of(points: FloatArray, values: IntArray, labels: IntArray, m: int) -> Partition:
    """Partition with the groups of some labels, of m values. It changes ``labels`` in place."""
    return Partition(index_groups(points, values, labels, m), points, values, labels)


def index_groups(points: FloatArray, values: IntArray, labels: IntArray, m: int) -> GroupIndex:
    """Index of groups 0 to g - 1; records with label -1 are in none. Cost: O(n D + g D log g)."""
    groups = int(labels.max()) + 1
    kept = labels >= 0
    size = np.bincount(labels[kept], minlength=groups)
    counts = np.bincount(labels[kept] * m + values[kept], minlength=groups * m).reshape(groups, m)
    sums = np.zeros((groups, points.shape[1]))
    np.add.at(sums, labels[kept], points[kept])
    centroids = sums / size[:, None]
    cells = _cells(centroids, max(int(np.sqrt(groups)), 1))
    cell = np.empty(groups, dtype=np.int64)
    for number, members in enumerate(cells):
        cell[members] = number
    starts = np.concatenate([[0], np.cumsum([len(members) for members in cells])]).astype(np.int64)
    low = np.array([centroids[members].min(axis=0) for members in cells])
    high = np.array([centroids[members].max(axis=0) for members in cells])
    return GroupIndex(size, counts, sums, centroids, cell, starts, np.concatenate(cells), low, high)


def _cells(centroids: FloatArray, size: int) -> list[IntArray]:
    """Cells of at most ``size`` groups, by halving along the widest axis."""
    waiting, cells = [np.arange(len(centroids))], []
    while waiting:
        part = waiting.pop()
        if len(part) <= size:
            cells.append(part)
            continue
        widest = int(np.ptp(centroids[part], axis=0).argmax())
        sorted_part = part[np.argsort(centroids[part, widest], kind="stable")]
        waiting += [sorted_part[len(part) // 2 :], sorted_part[: len(part) // 2]]
    return cells


@compiled
def keeps_limits(groups: GroupIndex, group: int, value: int, change: int, limits: GroupLimits) -> bool:
    """Return whether a group keeps the limits after a record of a value joins (change 1) or leaves (-1). Cost: O(m)."""
    size = groups.size[group] + change
    if size < limits.smallest:
        return False
    distance = 0.0
    for s in range(len(limits.table)):
        share = (groups.counts[group, s] + (change if s == value else 0)) / size
        if share > limits.share[s]:
            return False
        distance += abs(share - limits.table[s]) / 2
    return distance <= limits.distance + LEVEL_TOLERANCE


@compiled
def squared_distance_within(point: FloatArray, other: FloatArray, most: float) -> float:
    """Squared Euclidean distance of two points; if it is over ``most``, some number over ``most``."""
    total = 0.0
    for a in range(len(point)):
        total += (point[a] - other[a]) ** 2
        if total > most:
            break
    return total


@compiled
def update_group(groups: GroupIndex, group: int, point: FloatArray, value: int, change: int) -> None:
    """Let a record join (change 1) or leave (-1) a group, in place."""
    groups.size[group] += change
    groups.counts[group, value] += change
    cell = groups.cell[group]
    for a in range(len(point)):
        groups.sums[group, a] += change * point[a]
        if groups.size[group] > 0:
            coordinate = groups.sums[group, a] / groups.size[group]
            groups.centroids[group, a] = coordinate
            groups.low[cell, a] = min(groups.low[cell, a], coordinate)
            groups.high[cell, a] = max(groups.high[cell, a], coordinate)


@compiled
def move_record(partition: Partition, row: int, group: int) -> None:
    """Move a record to a group, from its own one if it is in one."""
    own, point, value = partition.labels[row], partition.points[row], partition.values[row]
    if own >= 0:
        update_group(partition.groups, own, point, value, -1)
    update_group(partition.groups, group, point, value, 1)
    partition.labels[row] = group


@compiled
def _is_beyond(groups: GroupIndex, cell: int, point: FloatArray, most: float) -> bool:
    """Return whether the squared distance of a point to the box of a cell is over ``most``."""
    total = 0.0
    for a in range(len(point)):
        gap = max(groups.low[cell, a] - point[a], point[a] - groups.high[cell, a], 0.0)
        total += gap**2
        if total > most:
            return True
    return False


@compiled
def nearest_group(
    groups: GroupIndex,
    point: FloatArray,  # (D,): coordinates of the record
    value: int,  # its sensitive code
    limits: GroupLimits,
    own: int = -1,  # a group that is left out
    within: float = np.inf,  # strict upper limit of the squared distance to the centroid
) -> int:
    """The group with the nearest centroid that keeps the limits with a further record, or -1; ties go to the lowest group."""
    best, nearest = within, -1
    for cell in range(len(groups.low)):
        if _is_beyond(groups, cell, point, best):
            continue
        for place in range(groups.starts[cell], groups.starts[cell + 1]):
            group = groups.order[place]
            if group == own or groups.size[group] == 0:
                continue
            distance = squared_distance_within(point, groups.centroids[group], best)
            is_nearer = distance < best or (distance == best and 0 <= group < nearest)
            if is_nearer and keeps_limits(groups, group, value, 1, limits):
                best, nearest = distance, group
    return nearest


@compiled
def nearer_groups(
    groups: GroupIndex, point: FloatArray, value: int, limits: GroupLimits, own: int = -1, within: float = np.inf
) -> IntArray:
    """All groups that `nearest_group` chooses from, nearest first; ties in the order of the groups."""
    distances = np.empty(len(groups.size))
    candidates = np.empty(len(groups.size), dtype=np.int64)
    count = 0
    for group in range(len(groups.size)):
        if group == own or groups.size[group] == 0:
            continue
        distance = squared_distance_within(point, groups.centroids[group], within)
        if distance < within and keeps_limits(groups, group, value, 1, limits):
            distances[count], candidates[count] = distance, group
            count += 1
    return candidates[:count][np.argsort(distances[:count], kind="mergesort")]


@compiled
def join_nearest(partition: Partition, rows: IntArray, limits: GroupLimits) -> BoolArray:
    """Put records, one by one, into the nearest group that keeps the limits with them; True for each record that found one.

    The records are in no group before. The partition is changed in place.
    """
    joined = np.zeros(len(rows), dtype=np.bool_)
    for i in range(len(rows)):
        row = rows[i]
        group = nearest_group(partition.groups, partition.points[row], partition.values[row], limits)
        if group >= 0:
            move_record(partition, row, group)
            joined[i] = True
    return joined
