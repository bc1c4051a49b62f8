"""Grouping records along an order, and what becomes of those that fit no group: what JS-reduce and BKAA share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from foreknow.defenses.growing.enforce_on_published import enforce_on_published
from foreknow.defenses.growing.growth import grow
from foreknow.defenses.growing.leftovers import join_nearest, relax
from foreknow.defenses.requirements.requirement import GroupPredicate, Infeasible
from foreknow.defenses.requirements.summary import Summary, summarize_groups, summarize_records
from foreknow.models import Grouping, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_whole

type Leftovers = Literal["join", "suppress", "relax", "counterfeit"]

STEP = 1.25
"""By how much a threshold is multiplied in each round of relaxing."""

TIGHTEST = 1e-3
"""From where relaxing starts for thresholds that are smaller."""


@dataclass(frozen=True)
class AlongAnOrder:
    """Grow groups along an order, answer for the leftovers, and settle what is published.

    Parameters
    ----------
    requirement : GroupPredicate
        What every group satisfies, given the view that is grouped.
    loosened : tuple of GroupPredicate
        For ``"relax"``: what leftovers are grouped under among themselves, from round to round; the last is as loose as
        may be.
    thresholds : str
        What is loosened, in words.
    also : GroupPredicate, optional
        What is not, but for k.
    leftovers, patience, judged
        As in `foreknow.defenses.JSReduce`; ``"join"`` is ``"counterfeit"`` with nobody's value changed.
    several : bool
        Whether a group that fails in the end may be merged with several neighbours, if with none alone it satisfies.
    """

    requirement: GroupPredicate
    loosened: tuple[GroupPredicate, ...]
    thresholds: str
    also: GroupPredicate | None
    leftovers: Leftovers
    patience: int | None
    judged: Literal["published", "view"]
    several: bool

    def __call__(self, view: View, prior: FloatArray, order: IntArray) -> Grouping:
        """Group a view under the defender's revised prior, shape ``(n, m)``, along an order of its records, ``(n,)``."""
        records = summarize_records(view, prior, self.requirement.reads_members)
        labels = np.full(len(view), -1, dtype=np.int64)
        for number, members in enumerate(grow(records, order, self.requirement, self.patience).groups):
            labels[members] = number
        rank = np.empty(len(view), dtype=np.int64)
        rank[order] = np.arange(len(view))
        return (self._relax if self.leftovers == "relax" else self._settle)(records, labels, rank)

    def _settle(self, records: Summary, labels: IntArray, rank: IntArray) -> Grouping:
        """Leftovers join a group, if they may, or are suppressed; then all that is published satisfies."""
        distort, values = self.leftovers == "counterfeit", None
        notes: list[str] = []
        if self.leftovers != "suppress":
            labels, values, notes = join_nearest(records, labels, rank, self.requirement, distort)
            records = replace(records, counts=np.eye(records.counts.shape[1], dtype=np.int64)[values])
        left = int((labels < 0).sum())
        if left:
            notes.append(f"{left} records fit no group{' with any value' if distort else ''} and are suppressed.")
        if self.judged == "published":
            labels, more = enforce_on_published(records, labels, rank, self.requirement, self.several)
            notes += more
        return Grouping(labels, values=values if distort else None, notes=tuple(notes))

    def _relax(self, records: Summary, labels: IntArray, rank: IntArray) -> Grouping:
        """Leftovers are grouped among themselves, the last few join a group: nobody is suppressed."""
        labels, notes = relax(records, labels, rank, self.loosened, self.patience)
        last = int((labels < 0).sum())
        labels, _, _ = join_nearest(records, labels, rank, self.loosened[-1], distort=False)
        if (labels < 0).any():
            raise Infeasible(
                f"{int((labels < 0).sum())} records fit no group of {self.requirement.smallest} or more, even with "
                f"{self.thresholds} loosened all the way; leave out {self.also!r}, or suppress them with leftovers='suppress'."
            )
        if last:
            notes.append(f"the last {last} leftover records joined the nearest group, whatever its {self.thresholds}.")
        groups = summarize_groups(records, labels)
        failing = np.flatnonzero(~self.requirement(groups))
        if len(failing):
            notes.append(f"{len(failing)} of {len(groups)} groups do not satisfy {self.requirement!r}.")
        return Grouping(labels, notes=tuple(notes))


def check_growing(
    owner: str, k: int, leftovers: Leftovers, answers: Sequence[Leftovers], patience: int | None, judged: str
) -> None:
    """Raise ValueError unless the settings of a defense that grows groups along an order are among what they may be."""
    if judged not in ("published", "view"):
        raise ValueError(f"{owner}: judged is {judged!r}; it is 'published' or 'view'.")
    if leftovers not in answers:
        raise ValueError(
            f"{owner}: leftovers is {leftovers!r}; it is {', '.join(map(repr, answers[:-1]))} or {answers[-1]!r}."
        )
    if patience is not None:
        check_whole(owner, "patience", patience, "records")
        if patience < k:
            raise ValueError(f"{owner}: patience is {patience}, and no group has fewer than k = {k} records; raise it.")


def loosened(start: float, end: float) -> list[float]:
    """A threshold loosened round by round to the most that any group can have, and once more for the sake of rounding."""
    start = max(start, TIGHTEST)
    steps = math.ceil(math.log(end / start, STEP)) if start < end else 0
    return [start * STEP**i for i in range(1, steps + 2)]
