"""Logarithm of the permanent of published groups and its gradient, as an operation of PyTensor."""

import operator
from collections.abc import Sequence
from typing import Any, cast

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from pytensor.gradient import DisconnectedType, disconnected_type, grad_not_implemented
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key
from pytensor.tensor import as_tensor, matrix, vector, zeros_like

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.compilation_cache import compiled_callback, sources_stamp
from foreknow.models.estimators.assignments import log_weight_and_beliefs, state_count, write_group_beliefs
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.problem import group_rows
from foreknow.models.settings import check_state_limit


class LogPermanent(Op):
    """Logarithm of the weight of all assignments of every group, as a function of priors and counts.

    ``LogPermanent(group, row)(log_prior, counts)`` is, for every group j::

        log sum over pi of prod over i in group j of exp(log_prior[row[i], pi(i)])

    where pi runs over the distinct assignments of the group's published values to its members. This is the log-probability
    of the multiset, if each member's value is drawn from the member's prior. (It is the permanent of the group's matrix of
    priors over the product of the factorials of its counts.) Its gradient is the exact posterior, summed over the
    respondents who share a row::

        d / d log_prior[r, s] = sum over i with row[i] = r of belief[i, s]

    Parameters
    ----------
    group : sequence of int, length n
        Group of each respondent, or -1 outside all groups.
    row : sequence of int, length n, optional
        Row of ``log_prior`` of each respondent; by default respondent i has row i. Respondents of one row are of one kind, so
        that groups with few rows have fewer states.
    limit : int
        Largest number of states of a group, as for `Exact`.

    Raises
    ------
    TooLarge
        When called with constant counts, if a group exceeds the limit.

    Notes
    -----
    Called with ``log_prior``, float, shape ``(r, m)``, and ``counts``, int, shape ``(g, m)``, it returns a vector of
    shape ``(g,)``; `belief` gives the posterior. Logarithms may be -inf. A group without a possible assignment, or whose counts
    do not sum to its size, has -inf and a gradient of zeros; an empty group has 0. ``exp(log_prior)`` need not sum to 1.

    Exact to rounding; sums are kept as logarithms. Cost: O(states * distinct values) per group, as `Exact`: ``prod_s
    (n_s + 1)`` states, or those of kinds of respondents where these are fewer. Value and posterior come from the same
    forward-backward pass, so the gradient costs almost nothing beside the value; each is computed whenever the other is.
    The posterior's own gradient is not implemented. PyTensor's Numba and Python linkers can run the operation, others cannot.

    Two operations are equal if their settings are equal. In a program of your own use `observe_groups`, which adds this
    log-probability to the model.

    Examples
    --------
    Two members, both values shown once: ``.9 * .6 + .1 * .4``.

    >>> import numpy as np
    >>> prior, counts = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[1, 1]])
    >>> permanent = LogPermanent(group=[0, 0])
    >>> np.exp(permanent(np.log(prior), counts).eval()).round(6)
    array([0.58])
    >>> permanent.belief(np.log(prior), counts).eval().round(3)
    array([[0.931, 0.069],
           [0.069, 0.931]])
    """

    __props__ = ("group", "row", "limit")
    default_output = 0

    def __init__(
        self, group: "Sequence[int] | IntArray", row: "Sequence[int] | IntArray | None" = None, limit: int = 2**22
    ) -> None:
        check_state_limit("LogPermanent", limit)
        self.group = tuple(map(operator.index, group))
        self.row = tuple(range(len(self.group))) if row is None else tuple(map(operator.index, row))
        self.limit = limit
        if len(self.row) != len(self.group):
            raise ValueError(
                f"LogPermanent has {len(self.group)} respondents by their groups and {len(self.row)} by their rows; give "
                "each of them one of both."
            )
        if min(self.group, default=0) < -1 or min(self.row, default=0) < 0:
            raise ValueError(
                f"LogPermanent has the group {min(self.group)} or row {min(self.row)}; groups go from -1, rows from 0."
            )

    def belief(self, log_prior: Any, counts: Any) -> Any:
        """Exact posterior of every respondent, shape ``(n, m)``; the prior outside all groups.

        In a group without a possible assignment the beliefs are 0.
        """
        return self.make_node(log_prior, counts).outputs[1]

    def make_node(self, *inputs: Any) -> Any:
        """Apply the operation to a log-prior and counts (PyTensor's interface)."""
        log_prior: Any = as_tensor(inputs[0], ndim=2, dtype="float64")
        counts: Any = as_tensor(inputs[1], ndim=2)
        if np.dtype(counts.dtype).kind not in "iu":
            raise TypeError(f"counts are {counts.dtype}; how often a value is shown is a whole number.")
        if isinstance(counts, Constant):
            self.check_counts(np.asarray(counts.data, dtype=np.int64))
        counts = counts.astype("int64")
        shape = counts.type.shape
        outputs = [
            vector(shape=(shape[0],), dtype="float64"),
            matrix(shape=(len(self.group), shape[1]), dtype="float64"),
        ]
        return Apply(self, [log_prior, counts], outputs)

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:  # noqa: ARG002
        """Compute both outputs (PyTensor's interface)."""
        output_storage[0][0], output_storage[1][0] = called_weights_and_beliefs(inputs[0], inputs[1], *self.layout())

    def infer_shape(self, node: Any, shapes: list[Any]) -> list[Any]:  # noqa: ARG002
        """Return the shapes of both outputs (PyTensor's interface)."""
        return [(shapes[1][0],), (len(self.group), shapes[1][1])]

    def connection_pattern(self, node: Any) -> list[list[bool]]:  # noqa: ARG002
        """Return the pairs of input and output with a gradient: the counts have none (PyTensor's interface)."""
        return [[True, True], [False, False]]

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Return the gradient, from the posterior (PyTensor's interface)."""
        if not isinstance(cotangents[1].type, DisconnectedType):
            comment = "the gradient of the posterior; only that of the log-probability is known."
            return [cast(Any, grad_not_implemented)(self, 0, inputs[0], comment), disconnected_type()]
        group, row = np.array(self.group, dtype=np.int64), np.array(self.row, dtype=np.int64)
        in_group = np.flatnonzero(group >= 0)
        weighted = cotangents[0][group[in_group]][:, None] * outputs[1][in_group]
        return [cast(Any, zeros_like)(inputs[0])[row[in_group]].inc(weighted), disconnected_type()]

    def layout(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Settings as arrays for the kernels: row, kind, order and starts of `weights_and_beliefs`."""
        group, row = np.array(self.group, dtype=np.int64), np.array(self.row, dtype=np.int64)
        order, starts = group_rows(group, int(group.max(initial=-1)) + 1)
        kind = np.zeros_like(row)
        for rows in np.split(order, starts[1:])[:-1]:
            kind[rows] = np.unique(row[rows], return_inverse=True)[1]
        return row, kind, order, starts

    def check_counts(self, counts: IntArray) -> None:
        """Raise ValueError if counts lack a group, and TooLarge if a group exceeds the limit."""
        _, kind, order, starts = self.layout()
        if len(counts) < len(starts) - 1:
            raise ValueError(f"there are {len(starts) - 1} groups and counts of {len(counts)}; give a row for each.")
        for j, rows in enumerate(np.split(order, starts[1:])[:-1]):
            states = min(state_count(counts[j]), state_count(np.bincount(kind[rows])))
            if states > self.limit:
                raise TooLarge(
                    f"group {j} has {len(rows)} respondents and {states:.3g} states, more than the limit of {self.limit}; the "
                    "gradient visits them all at every step. Leave its respondents out (group -1), give more of them one row, "
                    "or give SwapChain one prior at a time."
                )


def _for_numba(op: LogPermanent, node: Any, **_: Any) -> Any:  # noqa: ARG001
    row, kind, order, starts = op.layout()

    def log_permanent(log_prior: FloatArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        return called_weights_and_beliefs(log_prior, counts, row, kind, order, starts)

    return numba_njit(log_permanent), CODE_VERSION


CODE_VERSION = int.from_bytes(sources_stamp("models")[:8])
"""Part of the key by which PyTensor keeps code that calls this operation: another one for each state of the sources.

Code kept for an earlier state may name a module that no longer exists."""

cast(Any, register_funcify_default_op_cache_key)(LogPermanent)(_for_numba)


@compiled
def weights_and_beliefs(
    log_prior: FloatArray, counts: IntArray, row: IntArray, kind: IntArray, order: IntArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Log-weight of all assignments of every group, shape ``(g,)``, and belief of each respondent, shape ``(n, m)``.

    As `LogPermanent` describes, with its settings as arrays: ``row``, shape ``(n,)``, is the row of ``log_prior`` of each
    respondent; ``kind``, shape ``(n,)``, numbers respondents from 0 within each group, equally for one row; ``order`` and
    ``starts`` are those of `group_rows`, and groups after the last of them have no respondent.
    """
    log_weight, belief = np.zeros(len(counts)), np.exp(log_prior)[row]
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]] if j + 1 < len(starts) else order[:0]
        values = np.flatnonzero(counts[j])
        if counts[j].sum() != len(rows) or (counts[j] < 0).any():
            # No assignment: a count is negative, or they do not sum to the number of members.
            log_weight[j] = -np.inf
            for i in rows:
                belief[i] = 0.0
        elif len(rows) > 0:
            # log A[i, y] of the members i of the group and its shown values y, then log sum over pi of prod A[i, pi(i)].
            weights = np.zeros((len(rows), len(values)))
            for i in range(len(rows)):
                for s in range(len(values)):
                    weights[i, s] = log_prior[row[rows[i]], values[s]]
            log_weight[j], of_group = log_weight_and_beliefs(weights, counts[j][values], kind[rows])
            write_group_beliefs(of_group, rows, values, belief)
    return log_weight, belief


_pointer: Any = types.CPointer
FLOATS, INTS, LENGTH = _pointer(types.float64), _pointer(types.int64), types.int64
FUNCTION_TYPE = types.void(
    *(FLOATS, LENGTH, INTS, LENGTH, LENGTH, INTS, INTS, LENGTH, INTS, LENGTH, INTS, LENGTH, FLOATS, FLOATS)
)
"""C types of the arguments of `_at_addresses`."""

FUNCTION_SYMBOL = "foreknow_weights_and_beliefs_1"
"""Name of the machine code."""


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
    """`weights_and_beliefs` through its address, for arrays of any memory layout."""
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
