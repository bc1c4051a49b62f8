"""Groups grown along an order and enforced on the published table: the common part of JS-reduce and BKAA."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from foreknow.defenses.algorithms.growth import RunningSums, grow, join_nearest, relax, with_group_replaced
from foreknow.defenses.publish import READS, SizedDefense
from foreknow.defenses.requirements.requirement import GroupPredicate, Infeasible, Requirement
from foreknow.defenses.requirements.summary import Summary, TableCounts, summarize_groups, summarize_records
from foreknow.models import Grouping, People, Release, View
from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.notes import Note
from foreknow.models.settings import check_choice, check_whole

type Leftovers = Literal["join", "suppress", "relax", "counterfeit"]

RELAXATION_FACTOR = 1.25  # factor by which a threshold is multiplied in each round of relaxation

MIN_RELAXED_THRESHOLD = 1e-3  # value from which relaxation starts for smaller thresholds


class GrowingDefense(SizedDefense):
    """Grow groups along an order, place the leftovers, and enforce the requirement on the published table.

    The settings of a subclass are those of `foreknow.defenses.JSReduce`, with a closeness of its own in place of t. ``"join"`` is
    ``"counterfeit"`` without changed values.
    """

    k: int
    j: float
    base: float
    also: Requirement | None
    leftovers: Leftovers
    patience: int | None
    judged: Literal["published", "view"]

    reads: ClassVar[tuple[str, ...]] = READS  # J-similarity bounds the divergence of the prior within a group
    ignores: ClassVar[tuple[str, ...]] = ()

    _treatments: ClassVar[tuple[Leftovers, ...]]
    _bounded: ClassVar[str]  # setting that bounds the closeness, and is loosened after j
    # True to merge a group that fails against the published table with several neighbours where no single one suffices
    _merges_several: ClassVar[bool]

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_whole(owner, "k", self.k, "records")
        check_choice(owner, "judged", self.judged, ("published", "view"))
        check_choice(owner, "leftovers", self.leftovers, self._treatments)
        if self.patience is not None:
            check_whole(owner, "patience", self.patience, "records, as no group has fewer than k", int(self.k))
        self.requirement  # noqa: B018 - its parts check the other settings

    @property
    def requirement(self) -> Requirement:
        """Requirement of every group."""
        return self._requirement(getattr(self, self._bounded), self.j, self.also)

    @abstractmethod
    def _looser(self, n: int) -> list[Any]:
        """Looser bounds of the closeness, for the rounds of relaxation of n records."""

    @abstractmethod
    def _requirement(self, closeness: Any, j: float, also: Requirement | None) -> Requirement:
        """Requirement with some thresholds."""

    @staticmethod
    @abstractmethod
    def _order(people: People) -> IntArray:
        """Order along which groups grow."""

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view, given the revised prior, shape ``(n, m)``; rows are probabilities."""
        rows = self._checked_prior(view, prior)
        also = None if self.also is None else self.also.bind(view, rows)
        own = getattr(self, self._bounded)
        requirement = self._requirement(own, self.j, also).bind(view, rows)
        records, order = summarize_records(view, rows, requirement.reads_members), self._order(view.people)
        labels = np.full(len(view), -1, dtype=np.int64)
        for number, members in enumerate(grow(records, order, requirement, self.patience).groups):
            labels[members] = number
        rank = np.argsort(order)
        if self.leftovers == "relax":
            js = loosened(self.j, math.log(rows.shape[1], self.base))
            rounds = [*((own, j) for j in js[:-1]), *((bound, js[-1]) for bound in self._looser(len(view)))]
            looser = [self._requirement(bound, j, also).bind(view, rows) for bound, j in rounds]
            return self._relaxed(records, labels, rank, requirement, looser)
        return self._enforced(records, labels, rank, requirement)

    def _enforced(self, records: Summary, labels: IntArray, rank: IntArray, requirement: GroupPredicate) -> Grouping:
        """Put leftovers into groups, or suppress them; then every published group satisfies the requirement."""
        distort, values = self.leftovers == "counterfeit", None
        notes: list[Note] = []
        if self.leftovers != "suppress":
            labels, values, notes = join_nearest(records, labels, rank, requirement, distort)
            counts = np.eye(records.counts.shape[1], dtype=np.int64)[values]
            table = records.table.counts - records.counts.sum(axis=0) + counts.sum(axis=0)
            records = replace(records, counts=counts, table=TableCounts(records.table.values, table))
        left = int((labels < 0).sum())
        if left:
            value = " with any value" if distort else ""
            kind = "{records:,} {records:record fits|records fit} no group{value} and {records:is|are} suppressed."
            notes.append(Note(kind, records=left, value=value))
        if self.judged == "published":
            labels, more = enforce_on_published(records, labels, rank, requirement, self._merges_several)
            notes += more
        return Grouping(labels, values=values if distort else None, notes=tuple(notes))

    def _relaxed(
        self,
        records: Summary,
        labels: IntArray,
        rank: IntArray,
        requirement: GroupPredicate,
        looser: Sequence[GroupPredicate],
    ) -> Grouping:
        """Group the leftovers under loosened requirements, and put the last few into other groups; none is suppressed."""
        labels, notes = relax(records, labels, rank, looser, self.patience)
        last = int((labels < 0).sum())
        labels, _, _ = join_nearest(records, labels, rank, looser[-1], distort=False)
        if (labels < 0).any():
            raise Infeasible(
                Advice(
                    f"{int((labels < 0).sum())} records fit no group of {requirement.smallest} or more, even with "
                    f"{self._bounded} and j loosened all the way; leave out {self.also!r}, or suppress them with ",
                    Setting("leftovers", "suppress"),
                    ".",
                )
            )
        if last:
            kind = "the last {records:,} leftover {records:record|records} joined the nearest group, whatever its {thresholds}."
            notes.append(Note(kind, records=last, thresholds=f"{self._bounded} and j"))
        groups = summarize_groups(records, labels)
        failing = np.flatnonzero(~requirement(groups))
        if len(failing):
            kind = "{failing:,} of {groups:,} groups do not satisfy {requirement}."
            notes.append(Note(kind, failing=len(failing), groups=len(groups), requirement=repr(requirement)))
        return Grouping(labels, notes=tuple(notes))


def loosened(start: float, end: float) -> list[float]:
    """Thresholds of the rounds of relaxation, up to the largest level of any group and one step over it, for rounding."""
    start = max(start, MIN_RELAXED_THRESHOLD)
    steps = math.ceil(math.log(end / start, RELAXATION_FACTOR)) if start < end else 0
    return [start * RELAXATION_FACTOR**i for i in range(1, steps + 2)]


MAX_PARTNERS = 32  # largest number of nearest groups that are tried as partners of a failing group

MERGED = (
    "{groups:,} {groups:group was|groups were} merged with a neighbour, so that {groups:it satisfies|they satisfy} the "
    "requirement against the distribution of the published table."
)
NOT_SAVED = "{records:,} {records:record|records} of groups that no merging saves {records:is|are} suppressed."


def enforce_on_published(
    records: Summary,  # every record as a group of its own
    labels: IntArray,  # (n,): group of each record; -1 for suppressed records
    # (n,): position of each record in the order along which groups were grown. The position of a group is that of its
    # first member.
    rank: IntArray,
    requirement: GroupPredicate,  # the requirement of every published group
    # If True, a failing group without a single partner is merged with the smallest number of nearest groups that
    # together satisfy
    several: bool = False,
) -> tuple[IntArray, list[Note]]:
    """Merge or suppress groups until all satisfy the requirement against the table that is published.

    Groups are grown until they satisfy against the distribution of the view, with little to spare. Leaving out a few records
    changes that distribution, and many groups then fail. A failing group is merged with the nearest of `MAX_PARTNERS` groups
    with which it satisfies. A group without such a partner is suppressed. All groups are then evaluated again, because the
    published table has changed. Requirements that protect rare values fail again as long as a record with one of these values
    is published; for such requirements, merging with several groups is better.

    Cost: O(n m) per round, and O(m) for each failing group and each partner that is tried.

    Returns
    -------
    labels : int array, shape (n,)
    notes : list of Note
    """
    merged = suppressed = 0
    labels = _renumbered(labels)
    while (labels >= 0).any():
        suppressed_counts = records.counts[labels < 0].sum(axis=0)
        published = TableCounts(records.table.values, records.table.counts - suppressed_counts)
        groups = summarize_groups(records, labels, published)
        if requirement(groups).all():
            break
        first_rank = np.full(len(groups), len(rank), dtype=np.int64)
        np.minimum.at(first_rank, labels[labels >= 0], rank[labels >= 0])
        target, failing = _merge_targets(groups, first_rank, requirement, several)
        merged += int((target != np.arange(len(groups))).sum())
        suppressed += int(groups.size[failing].sum())
        target[failing] = -1
        labels = _renumbered(np.where(labels >= 0, target[labels], -1))
    notes = [Note(MERGED, groups=merged)] if merged else []
    return labels, notes + ([Note(NOT_SAVED, records=suppressed)] if suppressed else [])


def _merge_targets(
    groups: Summary, position: IntArray, requirement: GroupPredicate, several: bool
) -> tuple[IntArray, IntArray]:
    """Group into which each group is merged, itself where it stays, and the failing groups without a partner."""
    target, failing = np.arange(len(groups)), np.flatnonzero(~requirement(groups))
    order = np.argsort(position, kind="stable")
    place = np.argsort(order)
    merged, enlarged = np.zeros(len(groups), dtype=bool), np.zeros(len(groups), dtype=bool)
    for group in failing.tolist():
        if merged[group] or enlarged[group]:  # A group that others have joined satisfies by now.
            continue
        near = _nearest_groups(order, position, merged, place[group], MAX_PARTNERS)
        partner, *others = _partners(groups, group, near, requirement, several) or [group]
        for other in (group, *others) if partner != group else ():
            groups = with_group_replaced(groups, partner, groups[partner] + groups[other])
            target[other], merged[other], enlarged[partner] = partner, True, True
    while (target != target[target]).any():
        target = target[target]
    return target, failing[~merged[failing] & ~enlarged[failing]]


def _partners(groups: Summary, group: int, near: IntArray, requirement: GroupPredicate, several: bool) -> list[int]:
    """Nearest groups with which a failing one satisfies: one, else the first few if ``several``, else none."""
    if not len(near):
        return []
    satisfied = requirement(groups[near] + groups[group])
    if satisfied.any() or not several:
        return [int(near[satisfied.argmax()])] if satisfied.any() else []
    unions = RunningSums.along(groups, near).between(np.zeros_like(near), np.arange(len(near)) + 1)
    satisfied = requirement(unions + groups[group])
    return [int(other) for other in near[: satisfied.argmax() + 1]] if satisfied.any() else []


@compiled
def _nearest_groups(order: IntArray, position: IntArray, merged: BoolArray, place: int, most: int) -> IntArray:
    """At most ``most`` groups nearest to the one at a place of the order; merged ones are skipped, ties go to the lower.

    Two pointers move away from the place, below and above; the nearer of their groups is taken next.
    """
    nearest, size, here = np.empty(most, dtype=np.int64), 0, position[order[place]]
    below, above = place - 1, place + 1
    while size < most:
        while below >= 0 and merged[order[below]]:
            below -= 1
        while above < len(order) and merged[order[above]]:
            above += 1
        if below < 0 and above == len(order):
            break
        to_below = here - position[order[below]] if below >= 0 else np.inf
        to_above = position[order[above]] - here if above < len(order) else np.inf
        if to_below < to_above or (to_below == to_above and order[below] < order[above]):
            nearest[size] = order[below]
            below -= 1
        else:
            nearest[size] = order[above]
            above += 1
        size += 1
    return nearest[:size]


def _renumbered(labels: IntArray) -> IntArray:
    """Labels with the groups numbered from 0 without gaps."""
    kept = labels >= 0
    numbers = np.full(len(labels), -1, dtype=np.int64)
    numbers[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return numbers
