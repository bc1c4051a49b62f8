"""Groups grown along an order of the records, and the treatment of leftovers: the common part of JS-reduce and BKAA."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from foreknow.defenses.growing.enforce_on_published import enforce_on_published
from foreknow.defenses.growing.growth import grow
from foreknow.defenses.growing.leftovers import join_nearest, relax
from foreknow.defenses.requirements.feasibility import Infeasible
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, TableCounts, summarize_groups, summarize_records
from foreknow.models import Grouping, View
from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.notes import Note
from foreknow.models.settings import check_choice, check_whole

type Leftovers = Literal["join", "suppress", "relax", "counterfeit"]

RELAXATION_FACTOR = 1.25
"""Factor by which a threshold is multiplied in each round of relaxation."""

MIN_RELAXED_THRESHOLD = 1e-3
"""Value from which relaxation starts for smaller thresholds."""


@dataclass(frozen=True)
class OrderedGrowth:
    """Grow groups along an order, place the leftovers, and enforce the requirement on the published table.

    Parameters
    ----------
    requirement : GroupPredicate
        The requirement of every group, bound to the view.
    loosened : tuple of GroupPredicate
        For ``"relax"``: the requirement of the leftovers' own groups in each round; the last one is the loosest.
    thresholds : str
        Names of the thresholds that are loosened, for messages.
    also : GroupPredicate, optional
        The part of the requirement, besides k, that is not loosened.
    leftovers, patience, judged
        As in `foreknow.defenses.JSReduce`; ``"join"`` is ``"counterfeit"`` without changed values.
    merge_several : bool
        If True, a group that fails against the published table may be merged with several neighbours where no single one
        suffices.
    """

    requirement: GroupPredicate
    loosened: tuple[GroupPredicate, ...]
    thresholds: str
    also: GroupPredicate | None
    leftovers: Leftovers
    patience: int | None
    judged: Literal["published", "view"]
    merge_several: bool

    def __call__(self, view: View, prior: FloatArray, order: IntArray) -> Grouping:
        """Group a view, given the revised prior, shape ``(n, m)``, and an order of the rows, shape ``(n,)``."""
        records = summarize_records(view, prior, self.requirement.reads_members)
        labels = np.full(len(view), -1, dtype=np.int64)
        for number, members in enumerate(grow(records, order, self.requirement, self.patience).groups):
            labels[members] = number
        rank = np.empty(len(view), dtype=np.int64)
        rank[order] = np.arange(len(view))
        return (self._relaxed if self.leftovers == "relax" else self._enforced)(records, labels, rank)

    def _enforced(self, records: Summary, labels: IntArray, rank: IntArray) -> Grouping:
        """Put leftovers into groups, or suppress them; then every published group satisfies the requirement."""
        distort, values = self.leftovers == "counterfeit", None
        notes: list[Note] = []
        if self.leftovers != "suppress":
            labels, values, notes = join_nearest(records, labels, rank, self.requirement, distort)
            records = _with_values(records, values)
        left = int((labels < 0).sum())
        if left:
            value = " with any value" if distort else ""
            kind = "{records:,} {records:record fits|records fit} no group{value} and {records:is|are} suppressed."
            notes.append(Note(kind, records=left, value=value))
        if self.judged == "published":
            labels, more = enforce_on_published(records, labels, rank, self.requirement, self.merge_several)
            notes += more
        return Grouping(labels, values=values if distort else None, notes=tuple(notes))

    def _relaxed(self, records: Summary, labels: IntArray, rank: IntArray) -> Grouping:
        """Group the leftovers under loosened requirements, and put the last few into other groups; none is suppressed."""
        labels, notes = relax(records, labels, rank, self.loosened, self.patience)
        last = int((labels < 0).sum())
        labels, _, _ = join_nearest(records, labels, rank, self.loosened[-1], distort=False)
        if (labels < 0).any():
            raise Infeasible(
                Advice(
                    f"{int((labels < 0).sum())} records fit no group of {self.requirement.smallest} or more, even with "
                    f"{self.thresholds} loosened all the way; leave out {self.also!r}, or suppress them with ",
                    Setting("leftovers", "suppress"),
                    ".",
                )
            )
        if last:
            kind = "the last {records:,} leftover {records:record|records} joined the nearest group, whatever its {thresholds}."
            notes.append(Note(kind, records=last, thresholds=self.thresholds))
        groups = summarize_groups(records, labels)
        failing = np.flatnonzero(~self.requirement(groups))
        if len(failing):
            kind = "{failing:,} of {groups:,} groups do not satisfy {requirement}."
            notes.append(Note(kind, failing=len(failing), groups=len(groups), requirement=repr(self.requirement)))
        return Grouping(labels, notes=tuple(notes))


def _with_values(records: Summary, values: IntArray) -> Summary:
    """Records with the values, shape ``(n,)``, that are published, in the table that then counts them."""
    counts = np.eye(records.counts.shape[1], dtype=np.int64)[values]
    table = records.table.counts - records.counts.sum(axis=0) + counts.sum(axis=0)
    return replace(records, counts=counts, table=TableCounts(records.table.values, table))


def check_growing(
    owner: str, k: int, leftovers: str, allowed: Sequence[Leftovers], patience: int | None, judged: str
) -> None:
    """Raise ValueError unless the settings of a defense that grows groups along an order are allowed."""
    check_whole(owner, "k", k, "records")
    check_choice(owner, "judged", judged, ("published", "view"))
    check_choice(owner, "leftovers", leftovers, allowed)
    if patience is not None:
        check_whole(owner, "patience", patience, "records")
        if patience < k:
            raise ValueError(f"{owner}: patience is {patience}, and no group has fewer than k = {k} records; raise it.")


def loosened(start: float, end: float) -> list[float]:
    """Thresholds of the rounds of relaxation, up to the largest level of any group and one step over it, for rounding."""
    start = max(start, MIN_RELAXED_THRESHOLD)
    steps = math.ceil(math.log(end / start, RELAXATION_FACTOR)) if start < end else 0
    return [start * RELAXATION_FACTOR**i for i in range(1, steps + 2)]
