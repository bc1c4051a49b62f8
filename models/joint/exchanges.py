"""Exchange of the values of two records of a group, and the buffers of the moves that draw exchanges."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, inlined
from foreknow.models.joint.path_factors import FOLLOWING, PREVIOUS


class Workspace(NamedTuple):
    """Buffers of a move, allocated once for each chain.

    Attributes
    ----------
    pair : int array, shape (T + d, 2)
        Records of the pair at each meeting.
    forward : float array, shape (T + d, 2^d)
        Filtered weights of the last d decisions.
    weight : float array, shape (T + d, 2^d, 2)
        Weight of each decision given the last d ones.
    own : float array, shape (2, m)
        Weights of the own values of two records.
    codes : float array, shape (T, m^d)
        Filtered weights of the last d own values of a path; no row if multisets fix all own values.
    cursor : int array, shape (1,)
        Record that the next move visits.
    """

    pair: IntArray
    forward: FloatArray
    weight: FloatArray
    own: FloatArray
    codes: FloatArray
    cursor: IntArray


def workspace(releases: int, order: int, values: int, some_open: bool) -> Workspace:
    """Buffers for histories of a number of releases and chains of an order; ``some_open`` if not all own values are published."""
    length, states = releases + max(order, 1), 2 ** max(order, 1)
    return Workspace(
        np.zeros((length, 2), dtype=np.int64),
        np.zeros((length, states)),
        np.zeros((length, states, 2)),
        np.zeros((2, values)),
        np.zeros((releases if some_open else 0, values ** max(order, 1))),
        np.zeros(1, dtype=np.int64),
    )


@inlined
def exchange(records: IntArray, value: IntArray, published: IntArray, beside: IntArray, a: int, b: int) -> None:
    """Exchange the values of two records of a group."""
    if len(published):
        published[a], published[b] = published[b], published[a]
    if value[a] != value[b]:
        value[a], value[b] = value[b], value[a]
        write_beside(records, value, beside, a)
        write_beside(records, value, beside, b)


@inlined
def write_beside(records: IntArray, value: IntArray, beside: IntArray, r: int) -> None:
    """Write the own value of a record to its neighbours on the path."""
    if records[r, PREVIOUS] >= 0:
        beside[records[r, PREVIOUS], 1] = value[r]
    if records[r, FOLLOWING] >= 0:
        beside[records[r, FOLLOWING], 0] = value[r]
