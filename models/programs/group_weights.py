"""The weight of every group's assignments and everybody's posterior from the same walk, as machine code with an address.

PyTensor compiles every function of a model anew, and Numba would compile all kernels that it calls into each of them,
some seconds every time. Called through an address they are compiled once, and kept on disk.
"""

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from numba import carray, types  # type: ignore[attr-defined]

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.compilation_cache import compiled_callback
from foreknow.models.estimators.assignments import weight_and_shares


@compiled
def weights_and_beliefs(
    log_prior: FloatArray, counts: IntArray, row: IntArray, kind: IntArray, order: IntArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """The log-weight of all assignments of every group, and everybody's belief.

    Parameters
    ----------
    log_prior : float array, shape (r, m)
    counts : int array, shape (g, m)
    row : int array, shape (n,)
        Which row of ``log_prior`` is each respondent's.
    kind : int array, shape (n,)
        Numbers from 0 within each group, equal for respondents of one row.
    order, starts : int array
        The groups' `Members`; groups behind the last of them have none.

    Returns
    -------
    tuple of float array, of shapes (g,) and (n, m)
        As `LogPermanent` describes.
    """
    weight, belief = np.zeros(len(counts)), np.zeros((len(row), counts.shape[1]))
    for i in range(len(row)):
        for s in range(counts.shape[1]):
            belief[i, s] = np.exp(log_prior[row[i], s])
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]] if j + 1 < len(starts) else order[:0]
        values = np.flatnonzero(counts[j])
        weights, capacity = np.zeros((len(rows), len(values))), counts[j][values]
        alike = kind[rows]
        for i in range(len(rows)):
            for s in range(counts.shape[1]):
                belief[rows[i], s] = 0.0
            for s in range(len(values)):
                weights[i, s] = log_prior[row[rows[i]], values[s]]
        shown, fewest = 0, 0
        for c in capacity:
            shown += c
            fewest = min(fewest, c)
        if shown != len(rows) or fewest < 0:
            weight[j] = -np.inf
        elif len(rows) > 0:
            weight[j], shares = weight_and_shares(weights, capacity, alike)
            for i in range(len(rows)):
                for s in range(len(values)):
                    belief[rows[i], values[s]] = shares[i, s]
    return weight, belief


_array: Any = types.CPointer
FLOATS, INTS, LENGTH = _array(types.float64), _array(types.int64), types.int64
SIGNATURE = types.void(
    *(FLOATS, LENGTH, INTS, LENGTH, LENGTH, INTS, INTS, LENGTH, INTS, LENGTH, INTS, LENGTH, FLOATS, FLOATS)
)
SYMBOL = "foreknow_weights_and_beliefs_1"
"""Under which the machine code is found; another number for another signature, as PyTensor keeps code that calls it."""


def _at_addresses(
    log_prior: Any,
    r: int,
    counts: Any,
    g: int,
    m: int,
    row: Any,
    kind: Any,
    n: int,
    order: Any,
    inside: int,
    starts: Any,
    ends: int,
    weight: Any,
    belief: Any,
) -> None:
    """`weights_and_beliefs` of arrays given by their addresses and lengths, written to two others."""
    weights, beliefs = weights_and_beliefs(
        carray(log_prior, (r, m)),
        carray(counts, (g, m)),
        carray(row, (n,)),
        carray(kind, (n,)),
        carray(order, (inside,)),
        carray(starts, (ends,)),
    )
    carray(weight, (g,))[:] = weights
    carray(belief, (n, m))[:] = beliefs


_machine_code = compiled_callback(_at_addresses, SIGNATURE)
llvm.add_symbol(SYMBOL, _machine_code.address)
_called: Any = types.ExternalFunction(SYMBOL, SIGNATURE)


@compiled
def called_weights_and_beliefs(
    log_prior: FloatArray, counts: IntArray, row: IntArray, kind: IntArray, order: IntArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """`weights_and_beliefs` through its address: what is compiled into a model's functions; any memory layout will do."""
    if row.size and row.max() >= len(log_prior):
        raise IndexError("a respondent's row is not in the log-prior; give as many rows as respondents name.")
    if len(starts) - 1 > len(counts) or log_prior.shape[1] != counts.shape[1]:
        raise IndexError("counts need a row for every group and a column for every value of the log-prior.")
    log_prior, counts = np.ascontiguousarray(log_prior), np.ascontiguousarray(counts)
    (g, m), n = counts.shape, len(row)
    weight, belief = np.full(g, np.nan), np.full((n, m), np.nan)
    _called(
        log_prior.ctypes,
        len(log_prior),
        counts.ctypes,
        g,
        m,
        row.ctypes,
        kind.ctypes,
        n,
        order.ctypes,
        len(order),
        starts.ctypes,
        len(starts),
        weight.ctypes,
        belief.ctypes,
    )
    return weight, belief
