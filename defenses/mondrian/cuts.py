"""The array work of Mondrian: parts of a table, held as runs of rows, measured and cut in two.

A part is the rows ``starts[p]`` to ``ends[p]`` of the table; cutting moves its rows so that each half is a run again.
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled


class Rows(NamedTuple):
    """The table's rows in their present order. Cutting moves them: the arrays are the caller's own.

    Attributes
    ----------
    codes : float array, shape (n, d)
    sensitive : int array, shape (n,)
    record : int array, shape (n,)
        Which record each row is.
    """

    codes: FloatArray
    sensitive: IntArray
    record: IntArray


class Parts(NamedTuple):
    """The parts that may yet be cut.

    Attributes
    ----------
    starts, ends : int array, shape (p,)
    ranking : int array, shape (p, d)
        The attributes in the order in which they are tried.
    tries : int array, shape (p,)
        How many of them have been tried in vain.
    """

    starts: IntArray
    ends: IntArray
    ranking: IntArray
    tries: IntArray


@compiled
def widths(codes: FloatArray, starts: IntArray, ends: IntArray, span: FloatArray) -> FloatArray:
    """Each part's range in each attribute, over the table's range ``span``: shape ``(p, d)``."""
    d = codes.shape[1]
    found = np.zeros((len(starts), d))
    for p in range(len(starts)):
        for a in range(d):
            low = high = codes[starts[p], a]
            for row in range(starts[p] + 1, ends[p]):
                value = codes[row, a]
                if value < low:
                    low = value
                elif value > high:
                    high = value
            if span[a] > 0.0:
                found[p, a] = (high - low) / span[a]
    return found


@compiled
def propose(rows: Rows, parts: Parts, width: FloatArray, strict: bool, below: bool, smallest: int) -> IntArray:
    """Cut every part at the median of the next attribute that can be cut; say where the second halves start.

    A strict cut falls just above the median or, if ``below``, just below it where too few rows lie above. -1 stands for a
    part that no attribute is left for. ``parts.tries`` moves on past attributes that cannot be cut into halves of
    ``smallest`` rows.
    """
    middles = np.full(len(parts.starts), -1, dtype=np.int64)
    d = rows.codes.shape[1]
    for p in range(len(parts.starts)):
        start, end = parts.starts[p], parts.ends[p]
        if end - start < 2 * smallest:
            parts.tries[p] = d
        while parts.tries[p] < d:
            a = parts.ranking[p, parts.tries[p]]
            values = rows.codes[start:end, a].copy()
            if strict:
                low = np.zeros(end - start, dtype=np.bool_)
                if width[p, a] > 0.0:
                    median = np.partition(values, (end - start - 1) // 2)[(end - start - 1) // 2]
                    low = values <= median
                    if below and end - start - low.sum() < smallest:
                        low = values < median
            else:
                low = np.zeros(end - start, dtype=np.bool_)
                low[np.argsort(values, kind="mergesort")[: (end - start) // 2]] = True
            first = low.sum()
            if smallest <= first <= end - start - smallest:
                _move(rows, start, end, low)
                middles[p] = start + first
                break
            parts.tries[p] += 1
    return middles


@compiled
def _move(rows: Rows, start: int, end: int, low: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> None:
    """Put a part's marked rows before the others, both in their order."""
    order = np.concatenate((np.flatnonzero(low), np.flatnonzero(~low)))
    rows.codes[start:end] = rows.codes[start:end][order]
    rows.sensitive[start:end] = rows.sensitive[start:end][order]
    rows.record[start:end] = rows.record[start:end][order]


@compiled
def counted(sensitive: IntArray, starts: IntArray, ends: IntArray, values: int) -> IntArray:
    """How often each value occurs in each part: shape ``(p, m)``."""
    counts = np.zeros((len(starts), values), dtype=np.int64)
    for p in range(len(starts)):
        for row in range(starts[p], ends[p]):
            counts[p, sensitive[row]] += 1
    return counts


@compiled
def summed(rows: FloatArray, record: IntArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """The sum over each part of its records' rows: shape ``(p, m)``."""
    sums = np.zeros((len(starts), rows.shape[1]))
    for p in range(len(starts)):
        for row in range(starts[p], ends[p]):
            for s in range(rows.shape[1]):
                sums[p, s] += rows[record[row], s]
    return sums
