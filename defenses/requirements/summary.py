"""What a requirement needs to know of a group; it adds when groups merge."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from foreknow.defenses.requirements.membership import Members
from foreknow.models import View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import probability_rows

SMALLEST = 1e-300
"""What stands for 0 under a logarithm, so that 0 times it is 0."""


@dataclass(frozen=True, eq=False)
class TableCounts:
    """The table that groups are part of.

    Attributes
    ----------
    values : tuple
        The sensitive domain.
    counts : int array, shape (m,)
        How often each value occurs in the whole table.
    """

    values: tuple[Hashable, ...]
    counts: IntArray


@dataclass(frozen=True, eq=False)
class Summary:
    """The summaries of a batch of b groups.

    Attributes
    ----------
    size : int array, shape (b,)
    counts : int array, shape (b, m)
        How often each sensitive value occurs in the group.
    prior : float array, shape (b, m)
        The sum of the members' prior rows.
    entropy : float array, shape (b,)
        The sum of the entropies of the members' prior rows, in bits.
    whole : TableCounts
        The table the groups are part of.
    members : Members, optional
        Which records are in each group: there for requirements that read them, which sums cannot serve.
    """

    size: IntArray
    counts: IntArray
    prior: FloatArray
    entropy: FloatArray
    whole: TableCounts
    members: Members | None = None

    def __add__(self, other: "Summary") -> "Summary":
        """The summaries of groups merged pair by pair; one of the batches may have length 1."""
        members = None if self.members is None or other.members is None else self.members.joined(other.members)
        return Summary(
            self.size + other.size,
            self.counts + other.counts,
            self.prior + other.prior,
            self.entropy + other.entropy,
            self.whole,
            members,
        )

    def __getitem__(self, which: "NDArray[Any] | slice | int") -> "Summary":
        which = slice(which, which + 1) if isinstance(which, int) else which
        members = None if self.members is None else self.members.of(which)
        return Summary(
            self.size[which], self.counts[which], self.prior[which], self.entropy[which], self.whole, members
        )

    def replaced(self, which: int, by: "Summary") -> "Summary":
        """The same batch with one of its groups replaced by another, a batch of length 1."""
        order = np.arange(len(self))
        order[which] = len(self)
        both = Summary(
            np.concatenate([self.size, by.size]),
            np.concatenate([self.counts, by.counts]),
            np.concatenate([self.prior, by.prior]),
            np.concatenate([self.entropy, by.entropy]),
            self.whole,
            None if self.members is None or by.members is None else _appended(self.members, by.members),
        )
        return both[order]

    def __len__(self) -> int:
        return len(self.size)


def prior_of(view: View, prior: ArrayLike) -> FloatArray:
    """The prior that a defense was given, as an array whose rows sum to 1.

    Raises
    ------
    ValueError
        If it has not one row per record and one column per value, or a row is not a distribution.
    """
    rows = np.asarray(prior, dtype=np.float64)
    shape = (len(view), len(view.schema.values))
    if rows.shape != shape:
        raise ValueError(
            f"the prior has shape {rows.shape}; the view at {view.time!r} needs {shape}, one row per record and one column "
            "per sensitive value."
        )
    return probability_rows(rows, "the prior of the record in row")


def _appended(members: Members, more: Members) -> Members:
    return Members(
        np.concatenate([members.records, more.records]),
        np.concatenate([members.starts, members.starts[-1] + more.starts[1:]]),
    )


def summarize_records(view: View, prior: ArrayLike, members: bool = False) -> Summary:
    """The summary of every record as a group of its own: a batch of n.

    ``members`` says whether groups are to know who is in them, as a requirement's ``reads_members`` asks.
    """
    prior, values = prior_of(view, prior), view.schema.values
    whole = TableCounts(values, np.bincount(view.sensitive, minlength=len(values)))
    one_hot = np.zeros((len(view), len(values)), dtype=np.int64)
    one_hot[np.arange(len(view)), view.sensitive] = 1
    who = Members(np.arange(len(view)), np.arange(len(view) + 1)) if members else None
    return Summary(np.ones(len(view), dtype=np.int64), one_hot, prior, entropy(prior), whole, who)


def summarize_groups(records: Summary, labels: IntArray, whole: TableCounts | None = None) -> Summary:
    """The summaries of groups 0 to g - 1 of some records; records of label -1 are in none. Cost: O(n m).

    Every group must have a record, which is not checked.
    """
    groups = int(labels.max(initial=-1)) + 1
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    if not len(order):
        return records[order]
    starts = np.searchsorted(labels[order], np.arange(groups))
    return Summary(
        np.add.reduceat(records.size[order], starts),
        np.add.reduceat(records.counts[order], starts, axis=0),
        np.add.reduceat(records.prior[order], starts, axis=0),
        np.add.reduceat(records.entropy[order], starts),
        whole or records.whole,
        None if records.members is None else records.members.of(order).merged(starts),
    )


def entropy(distributions: FloatArray) -> FloatArray:
    """The Shannon entropy of each row, in bits: ``(b, m)`` to ``(b,)``; 0 log 0 is 0."""
    logs = np.log2(np.maximum(distributions, SMALLEST))
    return np.asarray(-np.einsum("bm,bm->b", distributions, logs))
