"""Log-probability of a release's published multisets as a PyTensor operation; its gradient is the exact posterior."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from pytensor.gradient import DisconnectedType, disconnected_type, grad_not_implemented
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key
from pytensor.tensor import as_tensor, matrix, vector, zeros_like

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_state_limit
from foreknow.models.estimators.assignments.forward_backward import state_count
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.group_rows import group_rows
from foreknow.models.programs.group_weights import called_weights_and_beliefs


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
    TypeError
        If groups or rows are no whole numbers. When called with other arguments than a log-prior and whole counts.
    ValueError
        If the numbers of rows and respondents differ, a row is negative or a group below -1, or the limit is out of its range.
        When called with constant counts, if they lack a group.
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
        self.group = _whole_numbers("group", group)
        self.row = tuple(range(len(self.group))) if row is None else _whole_numbers("row", row)
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
        if len(inputs) != 2:
            raise TypeError(f"LogPermanent is called with {len(inputs)} arguments; it takes a log-prior and counts.")
        log_prior = _matrix("log_prior", inputs[0], "it is a float array, shape (r, m)", dtype="float64")
        counts = _matrix("counts", inputs[1], "it is an int array, shape (g, m)")
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


def _matrix(name: str, value: Any, takes: str, **settings: str) -> Any:
    """A PyTensor matrix; TypeError, saying what the argument takes, where PyTensor cannot make one."""
    try:
        if isinstance(value, complex) or (isinstance(value, np.ndarray) and value.dtype.kind == "c"):
            raise TypeError
        return as_tensor(value, ndim=2, **settings)
    except (TypeError, ValueError, NotImplementedError, OverflowError, AttributeError) as error:
        raise TypeError(f"LogPermanent: {name} is {value!r:.60}; {takes}, or a PyTensor matrix.") from error


def _whole_numbers(name: str, values: Any) -> tuple[int, ...]:
    """A tuple of Python integers from a sequence; TypeError if it holds anything else."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(
            f"LogPermanent: {name} is {values!r:.60}; it is a sequence with one whole number per respondent."
        )
    return tuple(map(int, array))


def _for_numba(op: LogPermanent, node: Any, **_: Any) -> Any:  # noqa: ARG001
    row, kind, order, starts = op.layout()

    def log_permanent(log_prior: FloatArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
        return called_weights_and_beliefs(log_prior, counts, row, kind, order, starts)

    return numba_njit(log_permanent)


cast(Any, register_funcify_default_op_cache_key)(LogPermanent)(_for_numba)
