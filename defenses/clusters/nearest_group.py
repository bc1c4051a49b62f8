"""The group nearest to a record that may take it in, while groups change."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled


class Limits(NamedTuple):
    """What compiled code can check of a group; what it cannot, it leaves open.

    Attributes
    ----------
    smallest : int
        The fewest records, 1 or more.
    table : float array, shape (m,)
        Each value's share of the whole table.
    distance : float
        The most that half the sum of the absolute differences of a group's shares from the table's may be.
    share : float array, shape (m,)
        Each value's largest share.
    """

    smallest: int
    table: FloatArray
    distance: float
    share: FloatArray


class Groups(NamedTuple):
    """Groups that records leave and join, as points in the space of `foreknow.models.tables.distance.points`.

    Groups stand in cells of neighbours, each with a box that contains their centroids, so that a cell whose box lies
    farther off than what is found already is passed over. When a group changes, its cell's box grows to contain it.

    Attributes
    ----------
    size : int array, shape (g,)
    counts : int array, shape (g, m)
    sums, centroids : float arrays, shape (g, D)
        The sum and the mean of the members' points.
    cell : int array, shape (g,)
        The cell of each group.
    starts, order : int arrays, shapes (c + 1,) and (g,)
        Where each cell's groups start in ``order``, and the groups.
    low, high : float arrays, shape (c, D)
        The cells' boxes.
    """

    size: IntArray
    counts: IntArray
    sums: FloatArray
    centroids: FloatArray
    cell: IntArray
    starts: IntArray
    order: IntArray
    low: FloatArray
    high: FloatArray


def gather(points: FloatArray, values: IntArray, labels: IntArray, m: int) -> Groups:
    """The groups 0 to g - 1 that labels say; records of label -1 are in none. Cost: O(n D + g D log g)."""
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
    return Groups(size, counts, sums, centroids, cell, starts, np.concatenate(cells), low, high)


def _cells(centroids: FloatArray, size: int) -> list[IntArray]:
    """Groups halved along their widest axis until no more than ``size`` of them are together."""
    waiting, done = [np.arange(len(centroids))], []
    while waiting:
        part = waiting.pop()
        if len(part) <= size:
            done.append(part)
            continue
        widest = int(np.ptp(centroids[part], axis=0).argmax())
        sorted_part = part[np.argsort(centroids[part, widest], kind="stable")]
        waiting += [sorted_part[len(part) // 2 :], sorted_part[: len(part) // 2]]
    return done


@compiled
def fits(groups: Groups, group: int, value: int, change: int, limits: Limits) -> bool:
    """Whether a group keeps the limits once a record of a value joins (change 1) or leaves (-1). Cost: O(m)."""
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
def squared(point: FloatArray, other: FloatArray, most: float) -> float:
    """The squared distance of two points; once it is over ``most``, anything over that."""
    total = 0.0
    for a in range(len(point)):
        total += (point[a] - other[a]) ** 2
        if total > most:
            break
    return total


@compiled
def _off(groups: Groups, cell: int, point: FloatArray, most: float) -> bool:
    """Whether every centroid of a cell is farther than ``most``, squared."""
    total = 0.0
    for a in range(len(point)):
        gap = max(groups.low[cell, a] - point[a], point[a] - groups.high[cell, a], 0.0)
        total += gap**2
        if total > most:
            return True
    return False


@compiled
def nearest_group(
    groups: Groups, point: FloatArray, value: int, limits: Limits, own: int = -1, within: float = np.inf
) -> int:
    """The nearest group that keeps the limits with a record, -1 if none does; ties go to the lowest group.

    Parameters
    ----------
    groups : Groups
    point, value
        The record.
    limits : Limits
    own : int
        A group not to be considered.
    within : float
        What the squared distance to the centroid must be below.
    """
    best, found = within, -1
    for cell in range(len(groups.low)):
        if _off(groups, cell, point, best):
            continue
        for place in range(groups.starts[cell], groups.starts[cell + 1]):
            group = groups.order[place]
            if group == own or groups.size[group] == 0:
                continue
            far = squared(point, groups.centroids[group], best)
            nearer = far < best or (far == best and 0 <= group < found)
            if nearer and fits(groups, group, value, 1, limits):
                best, found = far, group
    return found


@compiled
def nearer_groups(
    groups: Groups, point: FloatArray, value: int, limits: Limits, own: int = -1, within: float = np.inf
) -> IntArray:
    """All groups that `nearest_group` chooses from, nearest first; ties in the groups' order."""
    far = np.empty(len(groups.size))
    which = np.empty(len(groups.size), dtype=np.int64)
    count = 0
    for group in range(len(groups.size)):
        if group == own or groups.size[group] == 0:
            continue
        distance = squared(point, groups.centroids[group], within)
        if distance < within and fits(groups, group, value, 1, limits):
            far[count], which[count] = distance, group
            count += 1
    return which[:count][np.argsort(far[:count], kind="mergesort")]


@compiled
def change(groups: Groups, group: int, point: FloatArray, value: int, by: int) -> None:
    """Let a record join (1) or leave (-1) a group, in place."""
    groups.size[group] += by
    groups.counts[group, value] += by
    cell = groups.cell[group]
    for a in range(len(point)):
        groups.sums[group, a] += by * point[a]
        if groups.size[group] > 0:
            place = groups.sums[group, a] / groups.size[group]
            groups.centroids[group, a] = place
            groups.low[cell, a] = min(groups.low[cell, a], place)
            groups.high[cell, a] = max(groups.high[cell, a], place)


@compiled
def join_all(
    groups: Groups, points: FloatArray, values: IntArray, labels: IntArray, rows: IntArray, limits: Limits
) -> BoolArray:
    """Put records, one by one, into the nearest group that keeps the limits with them; which found one.

    Groups and labels are changed in place.
    """
    joined = np.zeros(len(rows), dtype=np.bool_)
    for i in range(len(rows)):
        row = rows[i]
        group = nearest_group(groups, points[row], values[row], limits)
        if group >= 0:
            change(groups, group, points[row], values[row], 1)
            labels[row] = group
            joined[i] = True
    return joined
