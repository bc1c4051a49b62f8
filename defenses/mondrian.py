"""Mondrian: recursive median cuts of a table while every part satisfies the requirement."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.publish import RequirementDefense
from foreknow.defenses.requirements.requirement import (
    GroupPredicate,
    Infeasible,
    Requirement,
    check_requirement,
    check_smallest,
    shortfall,
)
from foreknow.defenses.requirements.summary import Summary, TableCounts, entropy, prior_of, slices
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled


@dataclass(frozen=True)
class Mondrian(RequirementDefense):
    """Cut the table at the median of its widest quasi-identifier, and each half again, while both halves satisfy.

    Parameters
    ----------
    requirement : Requirement
        Requirement of every group.
    strict : bool
        If True, equal values stay in one half: the halves are the records up to the median and those above it. If False, the
        records at the median are divided such that the halves' sizes differ by at most one.
    below_median : bool
        If True, a strict cut may also be just below the median, where too few records lie above it. The paper has no such cut
        and stops at larger groups: it makes a third as many groups on Adult.

    Raises
    ------
    Infeasible
        When called, if the whole view does not satisfy the requirement.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, ICDE 2006. Attributes are tried from the widest to the narrowest: by the range in the part
    over the range in the table, with ties in the schema's order. Categorical values are cut in the order of their codes, which
    is the traversal of their hierarchy. The median of an even number of values is the lower one. For a requirement that is not
    monotone the search is a heuristic: a part without a satisfying cut is final, although a further cut of its halves might
    satisfy. No record is suppressed.

    All parts of one depth are measured, cut and evaluated together. Cost: O(n d log n) where cuts are balanced, as
    medians are except for ties; without ``strict``, a sort for each cut in addition.

    Examples
    --------
    >>> from foreknow.defenses import DistinctDiversity, KAnonymity
    >>> Mondrian(KAnonymity(5) & DistinctDiversity(2))
    Mondrian(requirement=KAnonymity(k=5) & DistinctDiversity(l=2), strict=True, below_median=True)
    """

    requirement: Requirement
    strict: bool = True
    below_median: bool = True

    def __post_init__(self) -> None:
        check_requirement("Mondrian", self.requirement)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, matters only to requirements that depend on it."""
        prior = prior_of(view, prior)
        check_smallest(self.requirement, view)
        requirement = self.requirement.bind(view, prior)
        table = _Table.from_view(view, prior)
        n = len(view)
        whole = table.summary(np.zeros(1, dtype=np.int64), np.array([n]), requirement)
        if not requirement(whole)[0]:
            raise Infeasible.of_view(
                "the ",
                view.time,
                f" as one group does not satisfy {shortfall(requirement, whole)}, and Mondrian begins with "
                "one group. Lower the requirement. Where smaller groups may satisfy what a large one does not, as with "
                "beliefs, use a defense that grows groups, as JSReduce.",
            )
        first = np.zeros(n, dtype=np.int64)
        first[self._starts(table, requirement)] = 1
        labels = np.empty(n, dtype=np.int64)
        labels[table.rows.record] = np.cumsum(first) - 1
        return Grouping(labels)

    def _starts(self, table: "_Table", requirement: GroupPredicate) -> IntArray:
        """First rows of the parts that no cut divides further."""
        span = np.ptp(table.rows.codes, axis=0)
        parts = _new_parts(table, np.zeros(1, dtype=np.int64), np.array([len(table.rows.codes)]), span)
        done: list[IntArray] = []
        while len(parts.starts):
            middles = cut_parts(table.rows, parts, self.strict, self.below_median, requirement.smallest)
            final = middles < 0
            done.append(parts.starts[final])
            parts, middles = Parts._make(column[~final] for column in parts), middles[~final]
            starts, ends = np.concatenate([parts.starts, middles]), np.concatenate([middles, parts.ends])
            lower, upper = np.split(requirement(table.summary(starts, ends, requirement)), 2)
            accepted = lower & upper
            again = Parts._make(column[~accepted] for column in parts)
            again.tries[:] += 1
            halves = np.concatenate([accepted, accepted])
            new = _new_parts(table, starts[halves], ends[halves], span)
            parts = Parts._make(np.concatenate(pair) for pair in zip(again, new, strict=True))
        return np.concatenate(done)


class Rows(NamedTuple):
    """Rows of the table in their present order. Cuts reorder the arrays in place."""

    codes: FloatArray  # (n, d): quasi-identifiers
    sensitive: IntArray  # (n,): codes of the sensitive values
    record: IntArray  # (n,): row of the view of each record


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows of the view, which cuts reorder in place, and the data of summaries.

    ``prior`` has shape ``(n, m)`` and ``entropy`` shape ``(n, 1)``; both are in the order of the view.
    """

    rows: Rows
    prior: FloatArray
    entropy: FloatArray
    counts: TableCounts

    @classmethod
    def from_view(cls, view: View, prior: FloatArray) -> "_Table":
        rows = Rows(view.people.quasi_identifiers.copy(), view.sensitive.copy(), np.arange(len(view)))
        return cls(rows, prior, entropy(prior)[:, None], TableCounts(view.schema.values, view.table_counts))

    def summary(self, starts: IntArray, ends: IntArray, requirement: GroupPredicate) -> Summary:
        """Summaries of ranges of rows; only what the requirement reads is computed."""
        m = len(self.counts.values)
        counts = count_values(self.rows.sensitive, starts, ends, m)
        prior, bits = np.zeros(counts.shape), np.zeros(len(starts))
        if requirement.reads_prior:
            prior = sum_by_part(self.prior, self.rows.record, starts, ends)
            bits = sum_by_part(self.entropy, self.rows.record, starts, ends)[:, 0]
        members = slices(self.rows.record, starts, ends) if requirement.reads_members else None
        return Summary(ends - starts, counts, prior, bits, self.counts, members)


class Parts(NamedTuple):
    """Parts that may be cut further."""

    # starts, ends (p,): range of rows of each part
    starts: IntArray
    ends: IntArray
    width: FloatArray  # (p, d): range in each attribute, over the table's
    ranking: IntArray  # (p, d): attributes in the order in which they are tried
    tries: IntArray  # (p,): number of attributes that were tried without success


def _new_parts(table: _Table, starts: IntArray, ends: IntArray, span: FloatArray) -> Parts:
    """Parts without tried attributes; the attributes are ranked from the widest to the narrowest."""
    width = relative_widths(table.rows.codes, starts, ends, span)
    return Parts(starts, ends, width, np.argsort(-width, axis=1, kind="stable"), np.zeros(len(starts), dtype=np.int64))


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
def cut_parts(rows: Rows, parts: Parts, strict: bool, below: bool, smallest: int) -> IntArray:
    """Cut each part at the median of the next attribute that can be cut, and return where the second halves start.

    The start is -1 for a part without such an attribute. ``parts.tries`` advances past attributes that cannot be cut into
    halves of ``smallest`` rows. ``rows`` and ``parts.tries`` are overwritten.
    """
    middles = np.full(len(parts.starts), -1, dtype=np.int64)
    d = rows.codes.shape[1]
    lower = np.empty(len(rows.record), dtype=np.bool_)
    for p in range(len(parts.starts)):
        start, end = parts.starts[p], parts.ends[p]
        if end - start < 2 * smallest:
            parts.tries[p] = d
        while parts.tries[p] < d and middles[p] < 0:
            a = parts.ranking[p, parts.tries[p]]
            size = 0
            if not strict or parts.width[p, a] > 0.0:
                size = _mark_lower(rows.codes[start:end, a], lower, strict, below, smallest)
            if smallest <= size <= end - start - smallest:
                _move_to_front(rows, start, end, lower[: end - start])
                middles[p] = start + size
            else:
                parts.tries[p] += 1
    return middles


@compiled
def _mark_lower(values: FloatArray, lower: BoolArray, strict: bool, below: bool, smallest: int) -> int:
    """Mark the rows of a part below a cut at the median of an attribute in ``lower``, and return their number.

    A strict cut is just above the median. If ``below``, it is just below the median where fewer than ``smallest`` rows lie
    above it.
    """
    n = len(values)
    if not strict:
        lower[:n] = False
        lower[np.argsort(values, kind="mergesort")[: n // 2]] = True
        return n // 2
    median = np.partition(values.copy(), (n - 1) // 2)[(n - 1) // 2]
    size = 0
    for row in range(n):
        lower[row] = values[row] <= median
        size += lower[row]
    if not below or n - size >= smallest:
        return size
    size = 0
    for row in range(n):
        lower[row] = values[row] < median
        size += lower[row]
    return size


@compiled
def _move_to_front(rows: Rows, start: int, end: int, lower: BoolArray) -> None:
    """Put the marked rows of a part before the others; each half keeps its order."""
    upper = np.flatnonzero(~lower) + start
    codes, sensitive, record = rows.codes[upper], rows.sensitive[upper], rows.record[upper]
    # A marked row moves towards the front only, so that none is overwritten before it has moved.
    to = start
    for row in range(start, end):
        if lower[row - start]:
            for a in range(rows.codes.shape[1]):
                rows.codes[to, a] = rows.codes[row, a]
            rows.sensitive[to] = rows.sensitive[row]
            rows.record[to] = rows.record[row]
            to += 1
    for u in range(len(upper)):
        for a in range(rows.codes.shape[1]):
            rows.codes[to + u, a] = codes[u, a]
        rows.sensitive[to + u] = sensitive[u]
        rows.record[to + u] = record[u]


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
