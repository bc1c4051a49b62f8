"""Mondrian: halve the table again and again, while both halves keep the requirement."""

from dataclasses import dataclass

import numpy as np

from foreknow.defenses.mondrian.cuts import Parts, Rows, counted, propose, summed, widths
from foreknow.defenses.requirements.membership import slices
from foreknow.defenses.requirements.requirement import (
    GroupPredicate,
    Infeasible,
    Requirement,
    check_requirement,
    shortfall,
)
from foreknow.defenses.requirements.summary import Summary, TableCounts, entropy, prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Mondrian:
    """Cut the table at the median of its widest quasi-identifier, and each half again, while both halves satisfy.

    Parameters
    ----------
    requirement : Requirement
        What every group satisfies.
    strict : bool
        Strictly, equal values stay together: the halves are those up to the median and those above it. Otherwise records
        at the median are dealt so that the halves' sizes differ by at most one.
    below_median : bool
        Whether a strict cut may also fall just below the median, where too few records lie above it. The paper has no cut
        there, and stops at larger groups: a third as many on Adult.

    Raises
    ------
    Infeasible
        When called, if the whole view does not satisfy the requirement.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, ICDE 2006. Attributes are tried from the widest (the range in the part over the range
    in the table; ties in the schema's order) to the narrowest. Categorical values are cut in the order of their codes,
    which is the traversal of their hierarchy. The median of an even number is the lower one. Where a requirement is not
    monotone, a part that could be cut further after an unsatisfying cut is not: it is a heuristic. Nothing is suppressed.

    All parts of one depth are measured, cut and judged together. Cost: O(n d log n) where cuts are balanced, as
    medians make them but for ties, and a sort per cut more without ``strict``.

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

    @property
    def smallest(self) -> int:
        """The fewest records of a group that can satisfy the requirement."""
        return self.requirement.smallest

    @property
    def weighs_beliefs(self) -> bool:
        """True if the requirement depends on the prior given to the defense."""
        return self.requirement.weighs_beliefs

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, matters only to requirements that read it."""
        if self.requirement.smallest > len(view):
            raise Infeasible(
                f"{self.requirement!r} needs groups of {self.requirement.smallest} records, and the view at {view.time!r} has "
                f"{len(view)}; ask for less, or publish more at once."
            )
        rows = prior_of(view, prior)
        requirement = self.requirement.bind(view, rows)
        table = _Table.of(view, rows)
        n = len(view)
        whole = table.summary(np.zeros(1, dtype=np.int64), np.array([n]), requirement)
        if not requirement(whole)[0]:
            raise Infeasible(
                f"the view at {view.time!r} as one group does not satisfy {shortfall(requirement, whole)}, and Mondrian begins "
                "with one group. Ask for less, or, where smaller groups may satisfy what a large one does not (as with beliefs), "
                "grow groups, as JSReduce does."
            )
        labels = np.empty(n, dtype=np.int64)
        for number, (first, last) in enumerate(sorted(self._groups(table, requirement))):
            labels[table.rows.record[first:last]] = number
        return Grouping(labels)

    def _groups(self, table: "_Table", requirement: GroupPredicate) -> list[tuple[int, int]]:
        """The runs of rows that no cut can halve any further."""
        span = np.ptp(table.rows.codes, axis=0)
        parts = _parts(table, np.zeros(1, dtype=np.int64), np.array([len(table.rows.codes)]), span)
        done: list[tuple[int, int]] = []
        while len(parts.starts):
            width = widths(table.rows.codes, parts.starts, parts.ends, span)
            middles = propose(table.rows, parts, width, self.strict, self.below_median, requirement.smallest)
            final = middles < 0
            done += zip(parts.starts[final].tolist(), parts.ends[final].tolist(), strict=True)
            parts, middles = Parts(*(column[~final] for column in parts)), middles[~final]
            starts, ends = np.concatenate([parts.starts, middles]), np.concatenate([middles, parts.ends])
            halves = requirement(table.summary(starts, ends, requirement))
            accepted = halves.reshape(2, -1).all(axis=0)
            again = Parts(*(column[~accepted] for column in parts))
            new = _parts(table, starts[np.tile(accepted, 2)], ends[np.tile(accepted, 2)], span)
            parts = Parts(
                np.concatenate([again.starts, new.starts]),
                np.concatenate([again.ends, new.ends]),
                np.concatenate([again.ranking, new.ranking]),
                np.concatenate([again.tries + 1, new.tries]),
            )
        return done


@dataclass(frozen=True, eq=False)
class _Table:
    """The view's rows, which cutting moves about, and what summaries are made of."""

    rows: Rows
    prior: FloatArray
    entropy: FloatArray
    whole: TableCounts

    @classmethod
    def of(cls, view: View, prior: FloatArray) -> "_Table":
        rows = Rows(view.people.quasi_identifiers.copy(), view.sensitive.copy(), np.arange(len(view)))
        values = view.schema.values
        whole = TableCounts(values, np.bincount(view.sensitive, minlength=len(values)))
        return cls(rows, prior, entropy(prior)[:, None], whole)

    def summary(self, starts: IntArray, ends: IntArray, requirement: GroupPredicate) -> Summary:
        """The summaries of some runs of rows, with as much in them as a requirement reads."""
        m = len(self.whole.values)
        counts = counted(self.rows.sensitive, starts, ends, m)
        prior, bits = np.zeros(counts.shape), np.zeros(len(starts))
        if requirement.reads_prior:
            prior = summed(self.prior, self.rows.record, starts, ends)
            bits = summed(self.entropy, self.rows.record, starts, ends)[:, 0]
        members = slices(self.rows.record, starts, ends) if requirement.reads_members else None
        return Summary(ends - starts, counts, prior, bits, self.whole, members)


def _parts(table: _Table, starts: IntArray, ends: IntArray, span: FloatArray) -> Parts:
    """Parts that have not been tried, with their attributes from the widest to the narrowest."""
    ranking = np.argsort(-widths(table.rows.codes, starts, ends, span), axis=1, kind="stable")
    return Parts(starts, ends, ranking, np.zeros(len(starts), dtype=np.int64))
