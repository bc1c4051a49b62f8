"""Additive summaries of groups, their members, and the draws of an uncertain prior, which requirements are evaluated on."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import probability_rows
from foreknow.models.settings import check_shape

LOG_FLOOR = 1e-300  # smallest argument of a logarithm; it replaces 0, so that 0 log 0 is 0


@equal_by_fields
@dataclass(frozen=True, eq=False)
class TableCounts:
    """Counts of the sensitive values in the table that groups are part of.

    Attributes
    ----------
    values : tuple
        The sensitive domain, of m values.
    counts : int array, shape (m,)
        Number of records of the table with each value.
    """

    values: tuple[Hashable, ...]
    counts: IntArray

    def __post_init__(self) -> None:
        check_shape("TableCounts: counts", self.counts, (len(self.values),), "one count for each value")

    @cached_property
    def shares(self) -> FloatArray:
        """Share of the table's records that have each value, shape ``(m,)``; 0 of an empty table."""
        return np.asarray(self.counts / max(int(self.counts.sum()), 1))


class GroupMembers(NamedTuple):
    """Records of each group of a batch of b groups."""

    records: IntArray  # rows of the view, group by group
    starts: IntArray  # (b + 1,): position in `records` of each group's first record, and last the number of records

    def select(self, which: "IntArray | BoolArray | slice") -> "GroupMembers":
        """Members of the selected groups."""
        chosen = np.arange(len(self.starts) - 1)[which]
        return slices(self.records, self.starts[chosen], self.starts[chosen + 1])

    def joined(self, other: "GroupMembers") -> "GroupMembers":
        """Members of the unions of two batches, pair by pair; one batch may have length 1."""
        return GroupMembers(*_joined(self.records, self.starts, other.records, other.starts))

    @property
    def group(self) -> IntArray:
        """Group of each of ``records``: int array."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Summary:
    """Summaries of a batch of b groups.

    Sizes, counts, priors and entropies add when groups merge: ``a + b`` is the summary of the unions, pair by pair.

    Attributes
    ----------
    size : int array, shape (b,)
        Number of records.
    counts : int array, shape (b, m)
        Number of records with each sensitive value.
    prior : float array, shape (b, m)
        Sum of the members' prior rows.
    entropy : float array, shape (b,)
        Sum of the entropies of the members' prior rows, in bits.
    table : TableCounts
        The table that the groups are part of.
    members : GroupMembers, optional
        Records of each group, for requirements that read them.
    """

    size: IntArray
    counts: IntArray
    prior: FloatArray
    entropy: FloatArray
    table: TableCounts
    members: GroupMembers | None = None

    @property
    def _sums(self) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Quantities that add when groups merge."""
        return self.size, self.counts, self.prior, self.entropy

    def __add__(self, other: "Summary") -> "Summary":
        """Summaries of the unions of two batches, pair by pair; one batch may have length 1."""
        members = None if self.members is None or other.members is None else self.members.joined(other.members)
        # By name rather than over `_sums`: requirements are evaluated on hundreds of thousands of small batches.
        return Summary(
            self.size + other.size,
            self.counts + other.counts,
            self.prior + other.prior,
            self.entropy + other.entropy,
            self.table,
            members,
        )

    def __getitem__(self, which: "NDArray[Any] | slice | int") -> "Summary":
        if isinstance(which, int | np.integer):
            row = range(len(self))[which]  # IndexError past the end, which ends an iteration
            which = slice(row, row + 1)
        members = None if self.members is None else self.members.select(which)
        return Summary(
            self.size[which], self.counts[which], self.prior[which], self.entropy[which], self.table, members
        )

    def replaced(self, which: int, by: "Summary") -> "Summary":
        """The batch with one group replaced by another, which is a batch of length 1."""
        order = np.arange(len(self))
        order[which] = len(self)
        members = None
        if self.members is not None and by.members is not None:
            starts = np.concatenate([self.members.starts, self.members.starts[-1] + by.members.starts[1:]])
            members = GroupMembers(np.concatenate([self.members.records, by.members.records]), starts)
        both = map(np.concatenate, zip(self._sums, by._sums, strict=True))
        return Summary(*both, self.table, members)[order]  # type: ignore[call-arg, arg-type]

    def __len__(self) -> int:
        return len(self.size)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        # Otherwise NumPy takes a batch for a sequence of sequences, without end.
        raise TypeError("a Summary is no array; take its fields, as summary.counts or summary.prior.")


def prior_of(view: View, prior: ArrayLike) -> FloatArray:
    """Prior of a view's records as a checked array of shape ``(n, m)``, whose rows sum to 1; a `DrawnPrior` stays one.

    Parameters
    ----------
    view : View
    prior : float array, shape (n, m)
        Or a sequence of rows. Rows are probabilities.
    """
    if isinstance(prior, DrawnPrior):
        draws = np.stack([prior_of(view, draw) for draw in prior.draws])
        return DrawnPrior.of(draws, prior.weights, prior.first_weights, prior.groups)
    rows = np.asarray(prior, dtype=np.float64)
    shape = (len(view), len(view.schema.values))
    why = "one row per record and one column per sensitive value, as prior(view.people)"
    check_shape(f"the prior of the view at {view.time!r}", rows, shape, why)
    return probability_rows(rows, "the prior of the record in row")


def summarize_records(view: View, prior: ArrayLike, members: bool = False) -> Summary:
    """Summary of each record of a view as a group of its own: a batch of n.

    Parameters
    ----------
    view : View
    prior : float array, shape (n, m)
        Rows are probabilities.
    members : bool
        If True, the summaries hold the groups' members, as a requirement's ``reads_members`` asks.

    """
    prior, values = np.asarray(prior_of(view, prior)), view.schema.values
    table = TableCounts(values, view.table_counts)
    one_hot = np.zeros((len(view), len(values)), dtype=np.int64)
    one_hot[np.arange(len(view)), view.sensitive] = 1
    who = GroupMembers(np.arange(len(view)), np.arange(len(view) + 1)) if members else None
    return Summary(np.ones(len(view), dtype=np.int64), one_hot, prior, entropy(prior), table, who)


def summarize_groups(records: Summary, labels: IntArray, table: TableCounts | None = None) -> Summary:
    """Summaries of groups 0 to g - 1 of some records; records with label -1 are in no group. Cost: O(n (log n + m)).

    Parameters
    ----------
    records : Summary
        A batch of n records, or of n groups to merge.
    labels : int array, shape (n,)
        Group of each record.
    table : TableCounts, optional
        The table that the groups are part of. By default, that of ``records``.
    """
    check_shape("summarize_groups: labels", labels, (len(records),), "one for each record")
    groups = int(labels.max(initial=-1)) + 1
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    if not len(order):
        return records[order]
    starts = np.searchsorted(labels[order], np.arange(groups))
    if len(empty := np.flatnonzero(np.diff(starts) == 0)):
        raise ValueError(f"summarize_groups: group {empty[0]} has no record; number the groups from 0 without gaps.")
    members = None
    if records.members is not None:
        chosen = records.members.select(order)
        members = GroupMembers(chosen.records, np.append(chosen.starts[starts], chosen.starts[-1]))
    sums = (np.add.reduceat(array[order], starts, axis=0) for array in records._sums)
    return Summary(*sums, table or records.table, members)  # type: ignore[call-arg, arg-type]


def entropy(distributions: FloatArray) -> FloatArray:
    """Shannon entropy of each row, in bits: ``(b, m)`` to ``(b,)``; 0 log 0 is 0.

    The rows need not sum to 1, and entries may be negative by rounding. `scipy.special.entr` takes three times as long here.
    """
    logs = np.log2(np.maximum(distributions, LOG_FLOOR))
    return np.asarray(-np.einsum("bm,bm->b", distributions, logs))


def slices(records: IntArray, starts: IntArray, ends: IntArray) -> GroupMembers:
    """Groups that are slices of one sequence of records, each from its start to its end, excluded."""
    sizes = ends - starts
    into = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return GroupMembers(records[np.arange(into[-1]) + np.repeat(starts - into[:-1], sizes)], into)


@compiled
def _joined(
    left: IntArray, left_starts: IntArray, right: IntArray, right_starts: IntArray
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compiled, since defenses merge one group with each of many inside their loops; NumPy has no ragged concatenation."""
    a, b = len(left_starts) - 1, len(right_starts) - 1
    groups = max(a, b) if min(a, b) > 0 else 0
    starts = np.zeros(groups + 1, dtype=np.int64)
    for g in range(groups):
        i, j = g if a > 1 else 0, g if b > 1 else 0
        starts[g + 1] = starts[g] + left_starts[i + 1] - left_starts[i] + right_starts[j + 1] - right_starts[j]
    records = np.empty(starts[groups], dtype=np.int64)
    for g in range(groups):
        i, j = g if a > 1 else 0, g if b > 1 else 0
        middle = starts[g] + left_starts[i + 1] - left_starts[i]
        records[starts[g] : middle] = left[left_starts[i] : left_starts[i + 1]]
        records[middle : starts[g + 1]] = right[right_starts[j] : right_starts[j + 1]]
    return records, starts


class DrawnPrior(np.ndarray[tuple[int, int], np.dtype[np.float64]]):
    """Mean prior of the records of a view, shape ``(n, m)``, that holds the prior under each draw of the knowledge.

    It is the array of means for code that reads an array; requirements on beliefs and the clusters of priors read the draws.

    Attributes
    ----------
    draws : float array, shape (D, n, m)
        Prior of the records under each draw; rows are probabilities.
    weights : float array, shape (D,)
        Weight of each draw given the releases so far; they sum to 1.
    first_weights : float array, shape (D,)
        Weight of each draw before any release.
    groups : {"mean", "worst"}
        As in `Averaged`.
    """

    draws: FloatArray
    weights: FloatArray
    first_weights: FloatArray
    groups: Literal["mean", "worst"]

    @classmethod
    def of(
        cls, draws: FloatArray, weights: FloatArray, first_weights: FloatArray, groups: Literal["mean", "worst"]
    ) -> "DrawnPrior":
        """Mean prior of some draws, shape ``(D, n, m)``."""
        prior = np.tensordot(weights, draws, axes=1).view(cls)
        prior.draws, prior.weights, prior.first_weights, prior.groups = draws, weights, first_weights, groups
        return prior

    def __array_finalize__(self, obj: Any) -> None:
        for name in ("draws", "weights", "first_weights", "groups"):
            setattr(self, name, getattr(obj, name, None))

    def __array_wrap__(self, array: Any, *_: Any) -> Any:
        """Plain array: what is computed from means has no draws."""
        return np.asarray(array)

    def __getitem__(self, which: Any) -> Any:
        """Plain array of some means; `rows` keeps the draws."""
        return np.asarray(self)[which]

    def rows(self, order: Any) -> "DrawnPrior":
        """Prior of some records, in the given order."""
        return DrawnPrior.of(self.draws[:, order], self.weights, self.first_weights, self.groups)

    @property
    def counted(self) -> list[FloatArray]:
        """Prior under each draw that the worst level includes: those with a weight before any release, whatever the releases say.

        The weights given the releases choose one of several wrong laws, and would leave the others out.
        """
        return [draw for draw, weight in zip(self.draws, self.first_weights, strict=True) if weight > 0]
