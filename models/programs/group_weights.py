"""Kernel of `LogPermanent`: log-weights and beliefs of all groups, as machine code with an address.

PyTensor compiles each function of a model anew. Numba would then compile every kernel that the function calls into it, which
takes seconds each time. A call through an address keeps the kernels out: they are compiled once and kept on disk.
"""

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from numba import carray, types  # type: ignore[attr-defined]

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.compilation_cache import compiled_callback
from foreknow.models.estimators.assignments.group_beliefs import log_weight_and_beliefs, write_group_beliefs


@compiled
def weights_and_beliefs(
    log_prior: FloatArray, counts: IntArray, row: IntArray, kind: IntArray, order: IntArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Log-weight of all assignments of every group, and belief of each respondent.

    Parameters
    ----------
    log_prior : float array, shape (r, m)
    counts : int array, shape (g, m)
    row : int array, shape (n,)
        Row of ``log_prior`` of each respondent.
    kind : int array, shape (n,)
        Numbers from 0 within each group, equal for respondents of one row.
    order, starts : int array
        Rows of each group, as `group_rows` returns them; groups after the last of them have none.

    Returns
    -------
    tuple of float array, of shapes (g,) and (n, m)
        As `LogPermanent` describes.
    """
    log_weight, belief = np.zeros(len(counts)), np.exp(log_prior)[row]
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]] if j + 1 < len(starts) else order[:0]
        values = np.flatnonzero(counts[j])
        if counts[j].sum() != len(rows) or (counts[j] < 0).any():
            log_weight[j] = -np.inf
            for i in rows:
                belief[i] = 0.0
        elif len(rows) > 0:
            weights = _group_rows(log_prior, row[rows], values)
            log_weight[j], of_group = log_weight_and_beliefs(weights, counts[j][values], kind[rows])
            write_group_beliefs(of_group, rows, values, belief)
    return log_weight, belief


@compiled
def _group_rows(log_prior: FloatArray, row: IntArray, values: IntArray) -> FloatArray:
    """Log-priors of a group's members for its shown values: shape ``(k, d)``."""
    weights = np.zeros((len(row), len(values)))
    for i in range(len(row)):
        for s in range(len(values)):
            weights[i, s] = log_prior[row[i], values[s]]
    return weights


_pointer: Any = types.CPointer
FLOATS, INTS, LENGTH = _pointer(types.float64), _pointer(types.int64), types.int64
FUNCTION_TYPE = types.void(
    *(FLOATS, LENGTH, INTS, LENGTH, LENGTH, INTS, INTS, LENGTH, INTS, LENGTH, INTS, LENGTH, FLOATS, FLOATS)
)
"""C types of the arguments of `_at_addresses`."""

FUNCTION_SYMBOL = "foreknow_weights_and_beliefs_1"
"""Name of the machine code. PyTensor keeps code that calls it, so a new signature needs a new number."""


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
    members: int,
    starts: Any,
    ends: int,
    log_weight: Any,
    belief: Any,
) -> None:
    """`weights_and_beliefs` of arrays given by addresses and lengths; the results are written to the last two."""
    weights, beliefs = weights_and_beliefs(
        carray(log_prior, (r, m)),
        carray(counts, (g, m)),
        carray(row, (n,)),
        carray(kind, (n,)),
        carray(order, (members,)),
        carray(starts, (ends,)),
    )
    carray(log_weight, (g,))[:] = weights
    carray(belief, (n, m))[:] = beliefs


_machine_code = compiled_callback(_at_addresses, FUNCTION_TYPE)
llvm.add_symbol(FUNCTION_SYMBOL, _machine_code.address)
_called: Any = types.ExternalFunction(FUNCTION_SYMBOL, FUNCTION_TYPE)


@compiled
def called_weights_and_beliefs(
    log_prior: FloatArray, counts: IntArray, row: IntArray, kind: IntArray, order: IntArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """`weights_and_beliefs` through its address, for arrays of any memory layout.

    Raises
    ------
    ValueError
        If a respondent's row is not in the log-prior, or the counts lack a group or a value: the machine code does not check
        the bounds of arrays.
    """
    if row.size and row.max() >= len(log_prior):
        raise ValueError("a respondent's row is not in the log-prior; give as many rows as respondents name.")
    if len(starts) - 1 > len(counts) or log_prior.shape[1] != counts.shape[1]:
        raise ValueError("counts need a row for every group and a column for every value of the log-prior.")
    log_prior, counts = np.ascontiguousarray(log_prior), np.ascontiguousarray(counts)
    (g, m), n = counts.shape, len(row)
    log_weight, belief = np.full(g, np.nan), np.full((n, m), np.nan)
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
        log_weight.ctypes,
        belief.ctypes,
    )
    return log_weight, belief
