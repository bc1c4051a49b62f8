"""Search for the nearest group that keeps its limits with a further record."""

import numpy as np

from foreknow.defenses.clusters.group_index import (
    GroupIndex,
    GroupLimits,
    Partition,
    keeps_limits,
    move_record,
    squared_distance_within,
)
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled


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
    groups: GroupIndex, point: FloatArray, value: int, limits: GroupLimits, own: int = -1, within: float = np.inf
) -> int:
    """The group with the nearest centroid that keeps the limits with a further record, or -1; ties go to the lowest group.

    Parameters
    ----------
    groups : GroupIndex
    point : float array, shape (D,)
        Coordinates of the record.
    value : int
        Its sensitive code.
    limits : GroupLimits
    own : int
        A group that is left out.
    within : float
        Strict upper limit of the squared distance to the centroid.
    """
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
