"""Layout of a joint problem: neighbours of each record on its path, and the states over which messages are passed."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

MAX_STATES = 2**31
"""Largest number of states of all records together; three arrays of 8 bytes each take 48 GiB."""


class Layout(NamedTuple):
    """Arrays derived from a `JointProblem`, as compiled kernels read them.

    The values of a record are those that its group shows, or the whole domain where no multiset restricts them. The states of a
    record are the sequences of the values of the last d records of its path, oldest first; the last value varies fastest.

    Attributes
    ----------
    previous, following : int array, shape (R,)
        Record before and after each record on its path; -1 where there is none.
    group_starts : int array, shape (G + 1,)
        Records of group g: ``group_starts[g]`` to ``group_starts[g + 1]``.
    release_starts : int array, shape (T + 1,)
        Groups of release t: ``release_starts[t]`` to ``release_starts[t + 1]``.
    value_starts : int array, shape (G + 1,)
        Values of the records of group g: positions ``value_starts[g]`` to ``value_starts[g + 1]`` of ``values``.
    values : int array, shape (V,)
        Values, as codes of the domain.
    shown : float array, shape (V,)
        Published count of each value; 0 in groups that publish none.
    state_starts : int array, shape (R + 1,)
        States of record r: positions ``state_starts[r]`` to ``state_starts[r + 1]``.
    state_rows : int array, shape (S,)
        Row of ``table`` that each state selects for the transition to the next record; 0 for the last record of a path.
    table : float array, shape (Q, m)
        Rows of all transition tables.
    """

    previous: IntArray
    following: IntArray
    group_starts: IntArray
    release_starts: IntArray
    value_starts: IntArray
    values: IntArray
    shown: FloatArray
    state_starts: IntArray
    state_rows: IntArray
    table: FloatArray


def layout(
    path: IntArray,
    group: IntArray,
    chain: IntArray,
    counts: IntArray,
    release: IntArray,
    free: BoolArray,
    tables: tuple[FloatArray, ...],
) -> Layout:
    """Layout of the records of a problem; ``free`` is True for groups whose records can have any value of the domain.

    Raises
    ------
    ValueError
        If the states are more than `MAX_STATES`.

    Notes
    -----
    Cost: O(R log R + S).
    """
    (groups, m), order = counts.shape, max(len(tables), 1)
    previous, following, known = _neighbours(path, release[group], order)
    possible = (counts > 0) | free[:, None]
    value_starts = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
    owner, values = np.nonzero(possible)
    states = _numbers_of_states(previous, group, np.diff(value_starts), order)
    state_starts = np.concatenate([[0], np.cumsum(states, dtype=np.float64)])
    if state_starts[-1] > MAX_STATES:
        raise ValueError(
            f"JointProblem: {len(path)} records have {state_starts[-1]:.3g} states over sequences of {order} values, more than "
            f"{MAX_STATES}. Use a chain of a smaller order, as transitions.truncate(1), or fewer records."
        )
    state_starts = state_starts.astype(np.int64)
    sizes = np.array([table.size // (m * len(table)) for table in tables], dtype=np.int64)
    offsets = np.cumsum([0, *(table.size // m for table in tables)])[:-1]
    arguments = (previous, following, known, state_starts, value_starts, values.astype(np.int64), group, chain)
    return Layout(
        previous,
        following,
        np.searchsorted(group, np.arange(groups + 1)),
        np.searchsorted(release, np.arange((release[-1] + 1 if groups else 0) + 1)),
        value_starts,
        values.astype(np.int64),
        counts[owner, values].astype(np.float64),
        state_starts,
        _state_rows(*arguments, offsets.astype(np.int64), sizes, m),
        np.vstack([np.zeros((0, m)), *(np.reshape(table, (-1, m)) for table in tables)]),
    )


def _neighbours(path: IntArray, when: IntArray, order: int) -> tuple[IntArray, IntArray, IntArray]:
    """Previous and following record of each record, and the number of values in its state, at most ``order``."""
    by_path = np.lexsort((when, path))
    same = path[by_path][1:] == path[by_path][:-1]
    previous, following = np.full(len(path), -1, dtype=np.int64), np.full(len(path), -1, dtype=np.int64)
    previous[by_path[1:][same]] = by_path[:-1][same]
    following[by_path[:-1][same]] = by_path[1:][same]
    first = (
        np.maximum.accumulate(np.where(np.concatenate([[True], ~same]), np.arange(len(path)), 0))
        if len(path)
        else by_path
    )
    known = np.zeros(len(path), dtype=np.int64)
    known[by_path] = np.minimum(np.arange(len(path)) - first + 1, order)
    return previous, following, known


@compiled
def _numbers_of_states(previous: IntArray, group: IntArray, width: IntArray, order: int) -> FloatArray:
    """Number of states of each record: product of the numbers of values of the last ``order`` records of its path."""
    states = np.zeros(len(group))
    for r in range(len(group)):
        states[r] = 1.0
        at = r
        for _ in range(order):
            if at >= 0:
                states[r] *= width[group[at]]
                at = previous[at]
    return states


@compiled
def _state_rows(
    previous: IntArray,
    following: IntArray,
    known: IntArray,
    state_starts: IntArray,
    value_starts: IntArray,
    values: IntArray,
    group: IntArray,
    chain: IntArray,
    offsets: IntArray,
    sizes: IntArray,
    m: int,
) -> IntArray:
    """Row of the transition tables that each state selects.

    The states are mixed-radix numbers of positions among the possible values; the rows are numbers of base m of values.
    """
    rows = np.zeros(state_starts[-1], dtype=np.int64)
    for r in range(len(group)):
        if following[r] < 0:
            continue
        base = offsets[known[r] - 1] + chain[following[r]] * sizes[known[r] - 1]
        for state in range(state_starts[r + 1] - state_starts[r]):
            rest, at, place, code = state, r, 1, 0
            for _ in range(known[r]):
                start = value_starts[group[at]]
                width = value_starts[group[at] + 1] - start
                code += place * values[start + rest % width]
                rest //= width
                place *= m
                at = previous[at]
            rows[state_starts[r] + state] = base + code
    return rows
