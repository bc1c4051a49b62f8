"""Compiled kernels of Mondrian: parts of a table, held as ranges of rows, are measured and cut in two.

A part is the rows ``starts[p]`` to ``ends[p]``, excluded, of the table. A cut reorders the rows of a part so that each half is a
range.
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled


class Rows(NamedTuple):
    """Rows of the table in their present order. Cuts reorder the arrays in place.

    Attributes
    ----------
    codes : float array, shape (n, d)
        Quasi-identifiers.
    sensitive : int array, shape (n,)
        Codes of the sensitive values.
    record : int array, shape (n,)
        Row of the view of each record.
    """

    codes: FloatArray
    sensitive: IntArray
    record: IntArray


class Parts(NamedTuple):
    """Parts that may be cut further.

    Attributes
    ----------
    starts, ends : int array, shape (p,)
        Range of rows of each part.
    ranking : int array, shape (p, d)
        Attributes in the order in which they are tried.
    tries : int array, shape (p,)
        Number of attributes that were tried without success.
    """

    starts: IntArray
    ends: IntArray
    ranking: IntArray
    tries: IntArray


@compiled
def relative_widths(codes: FloatArray, starts: IntArray, ends: IntArray, span: FloatArray) -> FloatArray:
    """Range of each part in each attribute, over the table's range ``span``: shape ``(p, d)``."""
    d = codes.shape[1]
    width = np.zeros((len(starts), d))
    for p in range(len(starts)):
        for a in range(d):
            if span[a] > 0.0:
                width[p, a] = _range(codes[starts[p] : ends[p], a]) / span[a]
    return width


@compiled
def _range(values: FloatArray) -> float:
    """Largest minus smallest value; one pass, in which `numpy.ptp` takes two."""
    low = high = values[0]
    for value in values:
        if value < low:
            low = value
        elif value > high:
            high = value
    return float(high - low)


@compiled
def cut_parts(rows: Rows, parts: Parts, width: FloatArray, strict: bool, below: bool, smallest: int) -> IntArray:
    """Cut each part at the median of the next attribute that can be cut, and return where the second halves start.

    The start is -1 for a part without such an attribute. ``parts.tries`` advances past attributes that cannot be cut into
    halves of ``smallest`` rows. ``rows`` and ``parts.tries`` are overwritten.
    """
    middles = np.full(len(parts.starts), -1, dtype=np.int64)
    d = rows.codes.shape[1]
    for p in range(len(parts.starts)):
        start, end = parts.starts[p], parts.ends[p]
        if end - start < 2 * smallest:
            parts.tries[p] = d
        while parts.tries[p] < d and middles[p] < 0:
            a = parts.ranking[p, parts.tries[p]]
            lower = _lower_half(rows.codes[start:end, a].copy(), width[p, a], strict, below, smallest)
            size = lower.sum()
            if smallest <= size <= end - start - smallest:
                _move_to_front(rows, start, end, lower)
                middles[p] = start + size
            else:
                parts.tries[p] += 1
    return middles


@compiled
def _lower_half(values: FloatArray, width: float, strict: bool, below: bool, smallest: int) -> BoolArray:
    """Rows of a part that are below a cut at the median of an attribute: bool array; none if a strict cut is impossible.

    A strict cut is just above the median. If ``below``, it is just below the median where fewer than ``smallest`` rows lie
    above it.
    """
    n = len(values)
    lower = np.zeros(n, dtype=np.bool_)
    if not strict:
        lower[np.argsort(values, kind="mergesort")[: n // 2]] = True
    elif width > 0.0:
        median = np.partition(values, (n - 1) // 2)[(n - 1) // 2]
        lower = values <= median
        if below and n - lower.sum() < smallest:
            lower = values < median
    return lower


@compiled
def _move_to_front(rows: Rows, start: int, end: int, lower: BoolArray) -> None:
    """Put the marked rows of a part before the others; each half keeps its order."""
    order = np.concatenate((np.flatnonzero(lower), np.flatnonzero(~lower)))
    rows.codes[start:end] = rows.codes[start:end][order]
    rows.sensitive[start:end] = rows.sensitive[start:end][order]
    rows.record[start:end] = rows.record[start:end][order]


@compiled
def count_values(sensitive: IntArray, starts: IntArray, ends: IntArray, values: int) -> IntArray:
    """Number of records with each sensitive value in each part: shape ``(p, m)``."""
    counts = np.zeros((len(starts), values), dtype=np.int64)
    for p in range(len(starts)):
        for row in range(starts[p], ends[p]):
            counts[p, sensitive[row]] += 1
    return counts


@compiled
def sum_by_part(of_records: FloatArray, record: IntArray, starts: IntArray, ends: IntArray) -> FloatArray:
    """Sum over the records of each part, of an array with a row per record: ``(n, c)`` to ``(p, c)``."""
    sums = np.zeros((len(starts), of_records.shape[1]))
    for p in range(len(starts)):
        for row in range(starts[p], ends[p]):
            for s in range(of_records.shape[1]):
                sums[p, s] += of_records[record[row], s]
    return sums
