"""Removal of items from a release until every group satisfies a requirement on labels: search, result and publication."""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses.publish import Defense, publish
from foreknow.defenses.requirements.quasi_sensitive import (
    NEGLIGIBLE_BELIEF,
    QSCloseness,
    QSDiversity,
    diversity_ratio,
    label_distance,
    largest_l,
)
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, AllOf, Infeasible, Requirement
from foreknow.models import Adversary, ItemRelease, Items, Linking, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.problem import group_rows
from foreknow.models.quasi_sensitive.links import Links, Words, add_record, links, total_prevalence
from foreknow.models.settings import check_choice, check_range, check_whole

type SearchOrder = Literal["adaptive", "printed", "plain"]
SEARCH_ORDERS: tuple[SearchOrder, ...] = (
    "adaptive",
    "printed",
    "plain",
)  # orders in which the children of a node can be visited

type LabelRequirement = QSDiversity | QSCloseness  # a requirement that the search for items to remove can enforce

# A function that yields the groups it is given while they are searched, as `rich.progress.track`
type Progress = Callable[[list[int]], Iterable[int]]


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SuppressedItems:
    """Result of `ItemSuppression`: a release to publish, and a report for the publisher alone.

    Attributes
    ----------
    release : ItemRelease
        The release to publish. Every group satisfies the requirement.
    groups : DataFrame
        For the publisher: one row per group, in the order of their numbers. Columns:

        - ``group``; ``members``, their number; ``items``, the number of items before; ``satisfied``, whether the group satisfied
          before;
        - ``removed``, the number of items removed; ``cost``, T of `removal_cost`, from 0 to 1;
        - ``proven``: whether no other choice of items costs less;
        - ``nodes``, the number of removals examined; ``seconds``, the time of the search;
        - ``first_cost`` and ``first_seconds``: T of the first solution, and the time after which it was found. NaN where no search
          was needed, or no solution was found in time and every item is removed.
    """

    release: ItemRelease
    groups: pd.DataFrame

    def __repr__(self) -> str:
        failing = int((~self.groups["satisfied"]).sum())
        return (
            f"SuppressedItems({len(self.groups)} groups, {failing} changed, {int(self.groups['removed'].sum())} of "
            f"{int(self.groups['items'].sum())} items removed)"
        )


@dataclass(frozen=True)
class ItemSuppression:
    """Remove from each group that fails a requirement the items that cost least, so that it satisfies; keep the other groups.

    The removals of a group are searched depth first, in the order of their gain: the decrease of the group's shortfall over the
    cost. Removals that cost no less than the best solution are skipped. Once none is left, the best solution is optimal.

    Parameters
    ----------
    requirement : Requirement
        A `QSDiversity` or a `QSCloseness`, or several joined by ``&``, of one `Linking`.
    seconds : float
        Time limit of the search, over all groups; at least 0, may be infinite. All groups get a first solution before any is
        improved. With 0 nothing is searched: a group that fails loses all its items.
    nodes : int, optional
        Number of removals to examine in each group, exceeded by at most the children of one node. With infinite ``seconds``
        results are repeatable, on every machine.
    search : {"adaptive", "printed", "plain"}
        For reproduction of the paper: ``"printed"`` is its search, without the two additions below; ``"plain"`` is its baseline,
        the same tree in lexicographic order.

    Raises
    ------
    ValueError
        When called, if the argument is not a `Release`.
    Infeasible
        When called, if a group satisfies after none of the removals examined, nor after the removal of all items.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, section 2.2. The gain is of l', the largest l for which the group is (c, l)-diverse, or of
    the distance of QS t-closeness; for several requirements, of the sum of their shortfalls. Ties go to the cheaper item, then to
    the earlier one: a reconstruction. The adaptive search has two additions. Items that a solution need not remove are
    restored. After the first solution the search also begins once with each record, because the removal of several items of
    one record multiplies its labels, which no single step shows.

    Neither requirement is monotone in the items: after further removals a group can fail. Not checked: what the release shows
    together with earlier releases. An adversary who knows this algorithm may infer removed items (minimality); nothing prevents it.

    With time as the only limit, two calls may give different results, both valid. The time of linking, of the first check of each
    group and of compiling at the first call is not counted. The clock is read between two steps of a search; for a
    group of thousands of records the limit can be exceeded by a second. Cost of one removal: O(e) for e labels in the worst
    case, usually the number of labels its record links to.

    Examples
    --------
    The patients of figure 1. Both of the first group have the flu. Once one shows no item, both diseases are possible, 3 to 1.

    >>> import pandas as pd
    >>> from foreknow.defenses import QSDiversity
    >>> from foreknow.models import ExternalKnowledge, Linking, Numeric, Schema, View
    >>> symptoms = ["cough, headache, sore throat", "cough, headache", "headache, vomiting", "headache, sore throat"]
    >>> patients = pd.DataFrame({"id": range(4), "age": [22, 25, 30, 35], "symptoms": symptoms})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(symptoms)))
    >>> known = {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    >>> requirement = QSDiversity(3, 2, Linking(ExternalKnowledge(known), "symptoms"))
    >>> result = ItemSuppression(requirement)(Release(view, [0, 0, 1, 1]))
    >>> result.groups[["satisfied", "items", "removed", "cost", "proven"]].round(3)
       satisfied  items  removed  cost  proven
    0      False      5        2  0.45    True
    1       True      4        0  0.00    True
    >>> result.release.table["symptoms"].tolist()
    ['', 'cough, headache, sore throat', 'headache, sore throat', 'headache, vomiting']
    """

    requirement: Requirement
    seconds: float = 10.0
    nodes: int | None = None
    search: SearchOrder = "adaptive"

    def __post_init__(self) -> None:
        _label_requirements(self.requirement)
        check_range("ItemSuppression", "seconds", self.seconds, 0, what="a time limit, which may be math.inf")
        if self.nodes is not None:
            check_whole("ItemSuppression", "nodes", self.nodes, "nodes, or None", 0)
        check_choice("ItemSuppression", "search", self.search, SEARCH_ORDERS)

    def __call__(self, release: Release, progress: Progress = iter) -> SuppressedItems:
        """Remove items from a release.

        Parameters
        ----------
        release : Release
            Its groups do not change. Counterfeits have no items and are not counted.
        progress : callable, optional
            Yields the failing groups it is given, once for the first solutions and then for each round of improvements; as
            ``rich.progress.track``.
        """
        parts = _label_requirements(self.requirement)
        linking = parts[0].linking
        group_items = GroupItems.from_release(release, linking)
        searches = self._search(group_items, label_bounds(parts, group_items.links), progress)
        removed = np.repeat(release.group < 0, group_items.items.sizes)
        for group, timed in searches.items():
            where = f"group {group} of the view at {release.time!r}"
            removed[group_items.cells(group)] = _removed_cells(timed.search, where, parts)
        published = ItemRelease(release, linking, group_items.items.without(removed))
        return SuppressedItems(published, group_report(group_items, published.published, searches))

    def _search(self, group_items: "GroupItems", bounds: "LabelBounds", progress: Progress) -> "dict[int, TimedSearch]":
        """The searches of the groups that fail, after they have ended."""
        work = ((group, group_items.workspace(group)) for group in range(len(group_items.members)))
        failing = [(group, one) for group, one in work if shortfall(one, bounds) > 0]
        searches = {group: TimedSearch(item_search(one, bounds, self.search)) for group, one in failing}
        for timed in list(searches.values())[:1]:
            compile_search(timed.search)
        nodes, until = math.inf if self.nodes is None else self.nodes, time.perf_counter() + self.seconds
        for first in (True, False):
            share_time(searches, until, nodes, first, progress)
        return searches


def _label_requirements(requirement: Requirement) -> tuple[LabelRequirement, ...]:
    parts = requirement.parts if isinstance(requirement, AllOf) else (requirement,)
    known = tuple(part for part in parts if isinstance(part, QSDiversity | QSCloseness))
    if not known or len(known) < len(parts):
        wrong = next((part for part in parts if not isinstance(part, QSDiversity | QSCloseness)), requirement)
        raise TypeError(
            f"ItemSuppression: {wrong!r} is not about items; give a QSDiversity or a QSCloseness, or several joined by &, and "
            "leave the others to the defense that groups."
        )
    if any(part.linking != known[0].linking for part in known):
        raise ValueError(
            f"ItemSuppression: the parts of {requirement!r} link items to labels in different ways; give all of them one Linking."
        )
    return known


def _removed_cells(search: "RunningSearch", where: str, parts: tuple[LabelRequirement, ...]) -> BoolArray:
    """Cells to remove: the best solution, shape ``(s,)``; all cells if there is none and the removal of all satisfies.

    ``where`` names the group in messages; ``parts`` are the requirements of the search.
    """
    if search.best is not None:
        return search.best
    work = fresh_workspace(search.work)
    all_cells = np.ones(len(work.owner), dtype=np.bool_)
    set_removed(work, all_cells)
    if shortfall(work, search.bounds) == 0.0:
        return all_cells
    tried = (
        f"no choice of its {len(all_cells)} items to remove helps. Relax the requirement, or make larger groups."
        if search.finished
        else f"neither does the removal of all its items help, nor any of the {search.examined} removals examined. Allow more "
        "seconds or nodes, relax the requirement, or make larger groups."
    )
    whole, priors = fresh_workspace(search.work), iter(search.bounds.prior)
    levels = [
        diversity_ratio(whole.belief, int(part.l), part.as_printed)
        if isinstance(part, QSDiversity)
        else label_distance(whole.belief, next(priors))
        for part in parts
    ]
    failed = ", ".join(
        f"{part!r} (is {level:.4g}, must be {part.sense} {part.bound:g})"
        for part, level in zip(parts, levels, strict=True)
        if not level <= part.bound + LEVEL_TOLERANCE
    )
    raise Infeasible(f"ItemSuppression: {where} does not satisfy {failed}, and {tried}")


# Columns of `SuppressedItems.groups`
COLUMNS = (
    "group",
    "members",
    "items",
    "satisfied",
    "removed",
    "cost",
    "proven",
    "nodes",
    "seconds",
    "first_cost",
    "first_seconds",
)


def group_report(group_items: "GroupItems", published: Items, searches: "Mapping[int, TimedSearch]") -> pd.DataFrame:
    """The table `SuppressedItems.groups`; ``searches`` are those of the groups that failed."""
    rows = []
    for group, members in enumerate(group_items.members):
        before, after, timed = group_items.items.sizes[members], published.sizes[members], searches.get(group)
        worth = harmonic_numbers(int(before.max(initial=0)))[before].sum()
        rows.append(
            {
                "group": group,
                "members": len(members),
                "items": int(before.sum()),
                "satisfied": timed is None,
                "removed": int((before - after).sum()),
                "cost": removal_cost(before, after),
                "proven": timed is None or timed.search.finished,
                "nodes": 0 if timed is None else timed.search.examined,
                "seconds": 0.0 if timed is None else timed.seconds,
                "first_cost": np.nan if timed is None else timed.first_cost / worth,
                "first_seconds": np.nan if timed is None else timed.first_seconds,
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def removal_cost(before: ArrayLike, after: ArrayLike) -> float:
    """Cost T of removing items from k records, as a fraction of the cost of removing all of them.

    The removal of an item from a record with w items costs ``1 / w``. A record reduced from w to u items costs
    ``1 / w + ... + 1 / (u + 1)``, whichever items are removed. T is the sum over the records, divided by the same sum for u = 0;
    it is 0 where there is no item.

    Return a float: from 0 to 1. Cost: O(k + w).

    P. Shi, L. Xiong, B. Fung, CIKM 2010, Equation 1.

    Parameters
    ----------
    before, after : int array, shape (k,)
        Number of items of each record before and after. Not checked: ``after <= before``.

    Examples
    --------
    >>> round(removal_cost([2, 3], [1, 3]), 4)  # 1/2 of 1/2 + 1 and 1/3 + 1/2 + 1
    0.15
    """
    first, left = np.asarray(before, dtype=np.int64), np.asarray(after, dtype=np.int64)
    worth = harmonic_numbers(int(first.max(initial=0)))
    total = worth[first].sum()
    return float((worth[first] - worth[left]).sum() / total) if total > 0 else 0.0


def harmonic_numbers(largest: int) -> FloatArray:
    """Harmonic numbers ``1 + 1/2 + ... + 1/w`` for w = 0 to ``largest``: float array, shape ``(largest + 1,)``."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, largest + 1))])


@overload
def publish_items(
    views: View,
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | int | None = None,
) -> SuppressedItems: ...


@overload
def publish_items(
    views: Iterable[View],
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | int | None = None,
) -> tuple[SuppressedItems, ...]: ...


def publish_items(
    views: View | Iterable[View],
    defense: Defense,
    suppression: ItemSuppression,
    adversary: Adversary | None = None,
    progress: Progress = iter,
    *,
    rng: np.random.Generator | int | None = None,
) -> SuppressedItems | tuple[SuppressedItems, ...]:
    """Publish one or several views with the items of their records, in two phases.

    Phase 1: a defense groups the records, as `publish` does. Phase 2: items are removed from the groups that fail the
    requirement on labels. A defense that does not read the items groups as if there were none. After a defense whose own
    requirement contains the `QSDiversity` or `QSCloseness` of phase 2, no group fails.

    Parameters
    ----------
    views : View, or iterable of View in the order of time
    defense : Defense
        Phase 1.
    suppression : ItemSuppression
        Phase 2. Its ``seconds`` apply to each view.
    adversary : Adversary, optional
        The adversary that the defense assumes, as in `publish`.
    progress : callable, optional
        As in `ItemSuppression`.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random order of records and of the groups' numbers, as in `publish`.

    Returns
    -------
    SuppressedItems or tuple of SuppressedItems
        One result for one view; a tuple, one per view, for an iterable.

    Raises
    ------
    ValueError, Infeasible
        As `publish` and `ItemSuppression` raise them. Then nothing is published.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, section 2.2. With one record per group (k = 1) phase 2 does all the work. Each view is
    protected on its own. Not checked: the items of one respondent that several releases show together.
    """
    releases = publish([views] if isinstance(views, View) else views, defense, adversary, rng=rng)
    published = tuple(suppression(release, progress) for release in releases)
    return published[0] if isinstance(views, View) else published


# Largest number of removals examined in one call of compiled code, which needs room for as many children
class LabelWorkspace(NamedTuple):
    """Mutable work arrays of a group of k records with s cells over e labels in w words.

    The first six arrays are read only, and may be shared by groups. `set_cell` writes the last five in place; each workspace
    owns them. It is a NamedTuple because compiled code takes no dataclass.
    """

    item_labels: Words  # (u, w): labels of each item of the vocabulary, as a bit set
    item: IntArray  # (s,): position in the vocabulary of each cell's item
    owner: IntArray  # (s,): record of each cell
    starts: IntArray  # (k + 1,): first cell of each record
    all_labels: Words  # (w,): set of all labels
    prevalence: FloatArray  # (e,)
    removed: BoolArray  # (s,): removed cells
    left: IntArray  # (k,): number of items that each record has left
    bits: Words  # (k, w): labels that each record links to, by the items left
    weight: FloatArray  # (k,): total prevalence of these labels
    belief: FloatArray  # (e + 1,): mean of the records' probabilities; the last entry is for no label


def label_workspace(
    item_labels: Words, item: IntArray, sizes: IntArray, all_labels: Words, prevalence: FloatArray
) -> LabelWorkspace:
    """Workspace of a group with nothing removed.

    ``item``, shape ``(s,)``, lists the items of one record after the other; ``sizes``, shape ``(k,)``, is the number of items
    of each record.
    """
    k = len(sizes)
    work = LabelWorkspace(
        item_labels,
        item,
        np.repeat(np.arange(k), sizes),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        all_labels,
        prevalence,
        np.zeros(len(item), dtype=np.bool_),
        sizes.astype(np.int64),
        np.empty((k, len(all_labels)), dtype=np.uint64),
        np.zeros(k),
        np.zeros(len(prevalence) + 1),
    )
    _link_group(work)
    return work


def fresh_workspace(work: LabelWorkspace) -> LabelWorkspace:
    """Separate workspace of the same group, with nothing removed."""
    return label_workspace(work.item_labels, work.item, np.diff(work.starts), work.all_labels, work.prevalence)


@dataclass(frozen=True, eq=False)
class GroupItems:
    """Items of a release, and the records of each group."""

    items: Items  # items of all n records of the view
    links: Links  # labels that these records link to
    item_labels: Words  # (u, w): labels of each item of the vocabulary, as a bit set
    members: tuple[IntArray, ...]  # records of each group

    @classmethod
    def from_release(cls, release: Release, linking: Linking) -> "GroupItems":
        """Items of a release. Cost: O(i e / 64) for i items and e labels."""
        items = linking.items_of(release.view)
        order, starts = group_rows(release.group, release.groups)
        own = tuple(np.split(order, starts)[1:-1])
        return cls(items, links(items, linking.knowledge), linking.knowledge.bits(items.vocabulary), own)

    def cells(self, group: int) -> IntArray:
        """Positions in ``items.codes`` of the items of a group, one record after the other: shape ``(s,)``."""
        sizes = self.items.sizes[self.members[group]]
        places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.items.starts[self.members[group]], sizes) + places

    def workspace(self, group: int) -> LabelWorkspace:
        """Workspace of a group with nothing removed."""
        item, sizes = self.items.codes[self.cells(group)], self.items.sizes[self.members[group]]
        knowledge = self.links.knowledge
        return label_workspace(self.item_labels, item, sizes, knowledge.all_labels, knowledge.weights)


@compiled
def _link_group(work: LabelWorkspace) -> None:
    """Link all records, and add their probabilities to the beliefs."""
    k = len(work.left)
    for i in range(k):
        _link_record(work, i)
        add_record(work.bits[i], work.weight[i], work.prevalence, 1.0 / k, work.belief)


@compiled
def _link_record(work: LabelWorkspace, i: int) -> None:
    """Write the labels of record i, by the items it has left, and their total prevalence."""
    bits = work.bits[i]
    bits[:] = work.all_labels
    for cell in range(work.starts[i], work.starts[i + 1]):
        if not work.removed[cell]:
            bits &= work.item_labels[work.item[cell]]
    work.weight[i] = total_prevalence(bits, work.prevalence)


@compiled
def set_cell(work: LabelWorkspace, cell: int, removed: bool) -> None:
    """Remove a cell or restore it, in place. Cost: O(w) for each item of the record, O(1) for each label it links to."""
    i, k = work.owner[cell], len(work.left)
    add_record(work.bits[i], work.weight[i], work.prevalence, -1.0 / k, work.belief)
    work.removed[cell] = removed
    work.left[i] += -1 if removed else 1
    _link_record(work, i)
    add_record(work.bits[i], work.weight[i], work.prevalence, 1.0 / k, work.belief)


@compiled
def set_removed(work: LabelWorkspace, removed: BoolArray) -> None:
    """Remove and restore cells, in place, until the removed cells are those of ``removed``, shape ``(s,)``."""
    for cell in np.flatnonzero(work.removed != removed):
        set_cell(work, int(cell), removed[cell])


# Squared distance below which a distance is recomputed from all beliefs: rounding of a small square shows in its root
MIN_UPDATED_SQUARE = 1e-8


class LabelBounds(NamedTuple):
    """Settings of a conjunction of a QS (c, l)-diversities and b QS t-closenesses, as arrays for compiled code."""

    c: FloatArray  # (a,)
    l: IntArray  # noqa: E741 - (a,)
    as_printed: BoolArray  # (a,)
    t: FloatArray  # (b,)
    prior: FloatArray  # (b, e + 1): prior belief in each label and, last, in none


def label_bounds(parts: tuple[LabelRequirement, ...], links: Links) -> LabelBounds:
    """Bounds of several requirements.

    ``links`` covers all records of the view with all their items; the priors are computed from it.
    """
    diversities = [part for part in parts if isinstance(part, QSDiversity)]
    closenesses = [part for part in parts if isinstance(part, QSCloseness)]
    priors = [links.prior(part.prior) for part in closenesses]
    return LabelBounds(
        np.array([part.c for part in diversities], dtype=np.float64),
        np.array([part.l for part in diversities], dtype=np.int64),
        np.array([part.as_printed for part in diversities], dtype=np.bool_),
        np.array([part.t for part in closenesses], dtype=np.float64),
        np.array(priors, dtype=np.float64).reshape(len(closenesses), len(links.knowledge) + 1),
    )


@compiled
def shortfall(work: LabelWorkspace, bounds: LabelBounds) -> float:
    """Shortfall of a group: the sum of ``1 - l' / l`` and of ``d - t`` over the requirements it fails; 0 only if it satisfies all.

    ``l'`` is the largest l for which the group is (c, l)-diverse, and ``d`` the distance of its beliefs from the prior.
    Cost: O(e log e).
    """
    total = 0.0
    for a in range(len(bounds.c)):
        total += _diversity_shortfall(largest_l(work.belief, bounds.c[a], bounds.as_printed[a]), bounds.l[a])
    for b in range(len(bounds.t)):
        total += _closeness_shortfall(label_distance(work.belief, bounds.prior[b]), bounds.t[b])
    return total


@compiled
def shortfalls_after_removal(work: LabelWorkspace, bounds: LabelBounds, cells: IntArray, now: float) -> FloatArray:
    """`shortfall` of the group after the removal of each one of q cells: float array, shape ``(q,)``.

    The workspace does not change.

    ``now`` is the present shortfall. Cost: O(e), and for each cell O(w) for each item of its record and O(1) for each label
    with a belief above 0.
    """
    result = np.empty(len(cells))
    # Labels with a belief above 0, and for each label its position among them, or -1.
    believed, place = np.flatnonzero(work.belief > NEGLIGIBLE_BELIEF), np.full(len(work.belief), -1)
    place[believed] = np.arange(len(believed))
    # d^2 of the present beliefs, for each closeness.
    squares = np.zeros(len(bounds.t))
    for b in range(len(squares)):
        squares[b] = label_distance(work.belief, bounds.prior[b]) ** 2
    beliefs, labels = np.empty(len(work.belief)), np.empty(len(work.belief), dtype=np.int64)
    for q in range(len(cells)):
        number = _labels_without(work, cells[q], labels)
        if number == 0:
            # The record still links to no label: no belief changes.
            result[q] = now
            continue
        changes = _belief_changes(work, cells[q], labels[:number])
        if work.weight[work.owner[cells[q]]] <= 0.0:
            # The record linked to no label and now links to some: the belief in none falls too.
            labels[number] = len(work.prevalence)
            number += 1
        total = 0.0
        if len(bounds.c):
            size = _changed_beliefs(work.belief, believed, place, labels[:number], changes, beliefs)
            for a in range(len(bounds.c)):
                total += _diversity_shortfall(largest_l(beliefs[:size], bounds.c[a], bounds.as_printed[a]), bounds.l[a])
        for b in range(len(bounds.t)):
            distance = _changed_distance(squares[b], work.belief, bounds.prior[b], labels[:number], changes)
            total += _closeness_shortfall(distance, bounds.t[b])
        result[q] = total
    return result


@compiled
def _labels_without(work: LabelWorkspace, cell: int, labels: IntArray) -> int:
    """Write the labels that the cell's record links to without the cell; return their number."""
    i, number = work.owner[cell], 0
    remaining = work.all_labels.copy()
    for other in range(work.starts[i], work.starts[i + 1]):
        if other != cell and not work.removed[other]:
            remaining &= work.item_labels[work.item[other]]
    for word in range(len(remaining)):
        left = remaining[word]
        while left != 0:
            lowest = left & (~left + np.uint64(1))
            labels[number] = 64 * word + int(np.log2(float(lowest)))  # exact: a power of 2
            number += 1
            left ^= lowest
    return number


@compiled
def _belief_changes(work: LabelWorkspace, cell: int, labels: IntArray) -> FloatArray:
    """Change of the belief in each of q labels, and last in none, if the record links to exactly these: shape ``(q + 1,)``."""
    i, k = work.owner[cell], len(work.left)
    before, after = work.weight[i], work.prevalence[labels].sum()
    changes = np.empty(len(labels) + 1)
    for which in range(len(labels)):
        label = labels[which]
        had = work.bits[i, label // 64] >> np.uint64(label % 64) & np.uint64(1)
        difference = 1.0 / after - (1.0 / before if had else 0.0)
        changes[which] = work.prevalence[label] * difference / k
    changes[-1] = -1.0 / k
    return changes


@compiled
def _changed_beliefs(
    belief: FloatArray, believed: IntArray, place: IntArray, labels: IntArray, changes: FloatArray, result: FloatArray
) -> int:
    """Write the beliefs above 0 after the changes, in no order, into ``result``; return their number."""
    size = len(believed)
    result[:size] = belief[believed]
    for which in range(len(labels)):
        label = labels[which]
        if place[label] >= 0:
            result[place[label]] += changes[which]
        else:
            result[size] = changes[which]
            size += 1
    return size


@compiled
def _changed_distance(
    square: float, belief: FloatArray, prior: FloatArray, labels: IntArray, changes: FloatArray
) -> float:
    """Distance from the prior after the changes, from its square before them. Cost: O(q), or O(e) where it is small."""
    for which in range(len(labels)):
        difference = belief[labels[which]] - prior[labels[which]]
        square += changes[which] * (2.0 * difference + changes[which])
    if square > MIN_UPDATED_SQUARE:
        return math.sqrt(square)
    row = belief.copy()
    for which in range(len(labels)):
        row[labels[which]] += changes[which]
    return label_distance(row, prior)


@compiled
def _diversity_shortfall(reached: int, wanted: int) -> float:
    """``1 - l' / l``, or 0 if l is reached."""
    return 0.0 if reached >= wanted else 1.0 - reached / wanted


@compiled
def _closeness_shortfall(distance: float, t: float) -> float:
    """``d - t``, or 0 if the distance is at most t."""
    return 0.0 if distance <= t + LEVEL_TOLERANCE else distance - t


NODES_PER_CALL = 10_000

NODES_PER_CLOCK_READING = 100  # largest number of removals of a group examined between two readings of the clock


class PathWorkspace(NamedTuple):
    """Mutable work arrays of the path from the root to the present node, and the best solution, for a group of s cells."""

    cell: IntArray  # (s + 1,): cell that was removed to reach each depth; unused at depth 0
    # (s + 1,): next child to visit at each depth: a cell in the plain search, its position in `children` in the
    # adaptive search
    next_child: IntArray
    children_end: IntArray  # (s + 1,): end of the children of each depth in `children`; unused by the plain search
    shortfall: FloatArray  # (s + 1,): shortfall at each depth
    best: BoolArray  # (s,): cells of the cheapest solution so far


@dataclass(eq=False)
class RunningSearch:
    """Mutable search of all removals from one group; `advance` continues it in place.

    No node is visited below which no removal can cost less than the best solution so far. The tree is described in
    `adaptive_descent`.
    """

    work: LabelWorkspace  # the group, at the present node
    bounds: LabelBounds  # the requirements
    path: PathWorkspace
    order: SearchOrder
    # Children at all depths of the path, in the order of their visits; unused by the plain search
    children: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    expanded: bool = False  # True if the adaptive search has examined the root's children
    depth: int = 0  # number of cells removed at the present node; -1 once the tree has been searched
    lowest: float = np.inf  # cost of the best solution, in units of `1 / w`; infinite without one
    # Number of records that the search has begun with (adaptive search, after its first solution)
    records_tried: int = 0
    # Separate workspace of the group while the search begins with the next record
    record_work: LabelWorkspace | None = None
    examined: int = 0  # number of removals examined; some may have been examined twice

    @property
    def finished(self) -> bool:
        """True once the tree has been searched: then the best solution is the cheapest one, or there is none."""
        return self.depth < 0

    @property
    def best(self) -> BoolArray | None:
        """Cells of the best solution so far, shape ``(s,)``; None without one."""
        return self.path.best if self.lowest < np.inf else None

    def advance(self, nodes: int, first: bool = False) -> None:
        """Examine at least ``nodes`` more removals, or all that are left; with ``first``, stop at the first solution.

        The adaptive search examines all children of a node together, and can exceed ``nodes`` by the children of one node.
        """
        goal = self.examined + nodes
        while self.examined < goal and not self.finished and not (first and self.lowest < np.inf):
            self._step(min(goal - self.examined, NODES_PER_CALL), first or self.lowest == np.inf)

    def _step(self, nodes: int, first: bool) -> None:
        """One call of compiled code."""
        group, adds = (self.work, self.bounds, self.path), self.order == "adaptive"
        if self.order == "plain":
            self.depth, self.lowest, more = plain_descent(*group, self.depth, self.lowest, nodes, first)
        elif adds and self.lowest < np.inf and self.records_tried < len(self.work.left):
            # Remove one item more of the record that the search begins with.
            work = fresh_workspace(self.work) if self.record_work is None else self.record_work
            self.lowest, more, done = strip_record(work, self.bounds, self.path, self.records_tried, self.lowest)
            self.records_tried += done
            self.record_work = None if done else work
        else:
            self._reserve(nodes)
            if self.expanded:
                self.depth, self.lowest, more = adaptive_descent(
                    *group, self.children, self.depth, self.lowest, nodes, first, adds
                )
            else:
                cells, self.expanded = np.arange(len(self.work.owner)), True
                self.lowest, more = expand_node(*group, self.children, 0, cells, self.lowest, adds)
        self.examined += more

    def _reserve(self, nodes: int) -> None:
        """Make room for the children that ``nodes`` more removals can append."""
        room = len(self.children)
        needed = int(self.path.children_end[self.depth]) + nodes + len(self.work.owner)
        if needed > room:
            more = np.empty(max(needed, 2 * room) - room, dtype=np.int64)
            self.children = np.concatenate([self.children, more])


def item_search(work: LabelWorkspace, bounds: LabelBounds, order: SearchOrder = "adaptive") -> RunningSearch:
    """Search at its root, of a group that does not satisfy and from which nothing has been removed."""
    return RunningSearch(work, bounds, path_workspace(len(work.owner), shortfall(work, bounds)), order)


def compile_search(search: RunningSearch) -> None:
    """Compile the code of a search at its root, without advancing it, so that its time limit does not include compiling."""
    work, bounds, path, empty = search.work, search.bounds, search.path, np.empty(0, dtype=np.int64)
    if search.order == "plain":
        plain_descent(work, bounds, path, 0, np.inf, 0, True)
    else:
        expand_node(work, bounds, path, empty, 0, empty, np.inf, True)
        strip_record(work, bounds, path, 0, 0.0)
        adaptive_descent(work, bounds, path, empty, 0, np.inf, 0, True, True)


@dataclass(eq=False)
class TimedSearch:
    """Mutable search of one group, with the time it has taken."""

    search: RunningSearch
    seconds: float = 0.0  # time spent on the search
    # first_cost, first_seconds: cost of its first solution, in units of `1 / w`, and the time after which it was found;
    # NaN without one
    first_cost: float = np.nan
    first_seconds: float = np.nan

    def is_done(self, nodes: float, first: bool) -> bool:
        """True if the tree has been searched, ``nodes`` removals were examined, or a first solution is wanted and known."""
        search = self.search
        return search.finished or search.examined >= nodes or (first and search.best is not None)

    def advance(self, nodes: float) -> None:
        """Continue the search until the next reading of the clock, to ``nodes`` removals in all at most."""
        began, without_solution = time.perf_counter(), self.search.best is None
        more = int(min(NODES_PER_CLOCK_READING, nodes - self.search.examined))
        self.search.advance(more, first=without_solution)
        self.seconds += time.perf_counter() - began
        if without_solution and self.search.best is not None:
            self.first_cost, self.first_seconds = self.search.lowest, self.seconds


def share_time(
    searches: Mapping[int, TimedSearch],
    until: float,  # end of the time, on the clock of `time.perf_counter`
    nodes: float,  # number of removals to examine in each group
    first: bool,  # stop at the first solution of a group
    progress: Progress,  # called once for each round
) -> None:
    """Advance the searches of several groups, in place, within a time limit.

    Each group gets an equal part of the time left. Time that it does not use goes to the groups after it, and then to a further
    round.
    """
    while time.perf_counter() < until and (
        open_ := [g for g, one in searches.items() if not one.is_done(nodes, first)]
    ):
        for place, (group, _) in enumerate(zip(open_, progress(open_), strict=True)):
            now = time.perf_counter()
            end = now + (until - now) / (len(open_) - place)
            while time.perf_counter() < end and not searches[group].is_done(nodes, first):
                searches[group].advance(nodes)


# Smallest difference of two costs that is not rounding: sums of the same terms in another order differ by less
COST_TOLERANCE = 1e-12


def path_workspace(cells: int, at_root: float) -> PathWorkspace:
    """Path at the root, for a group with a number of cells and a shortfall with nothing removed."""
    cell, next_child, children_end = np.zeros((3, cells + 1), dtype=np.int64)
    return PathWorkspace(cell, next_child, children_end, np.full(cells + 1, at_root), np.zeros(cells, dtype=np.bool_))


@compiled
def step_costs(work: LabelWorkspace, cells: IntArray) -> FloatArray:
    """Cost of removing each of q cells next, ``1 / w`` with w the items left to its record: shape ``(q,)``."""
    return 1.0 / work.left[work.owner[cells]]


@compiled
def removed_cost(work: LabelWorkspace) -> float:
    """Cost of all removed cells."""
    total = 0.0
    for i in range(len(work.left)):
        for w in range(work.left[i] + 1, work.starts[i + 1] - work.starts[i] + 1):
            total += 1.0 / w
    return total


@compiled
def can_improve(work: LabelWorkspace, cell: int, tail: IntArray, lowest: float) -> bool:
    """Return whether some child of a child costs less than the best solution.

    ``cell`` leads from the present node to the child; ``tail`` are the cells that can be removed below it.
    """
    i = work.owner[cell]
    cost = removed_cost(work) + 1.0 / work.left[i]
    for other in tail:
        left = work.left[work.owner[other]] - (1 if work.owner[other] == i else 0)
        if cost + 1.0 / left < lowest - COST_TOLERANCE:
            return True
    return False


@compiled
def stable_order(keys: FloatArray) -> IntArray:
    """Positions of numbers in increasing order; ties keep their order."""
    return np.argsort(keys, kind="mergesort")


@compiled
def expand_node(
    work: LabelWorkspace,
    bounds: LabelBounds,
    path: PathWorkspace,
    children: IntArray,
    depth: int,
    tail: IntArray,
    lowest: float,
    restore: bool,
) -> tuple[float, int]:
    """Examine the children of the present node, and append those to visit to ``children`` in the order of their gain.

    The gain of a child is the decrease of the shortfall over its cost. Ties go to the cheaper child, then to the earlier cell: a
    reconstruction of the paper. Children that satisfy, and children that cost no less than the best solution, are not
    visited: no removal below them costs less. With ``restore``, a new best solution is reduced (`record_reduced`).

    Returns
    -------
    lowest : float
        Cost of the best solution; its cells are in ``path.best``.
    examined : int
        Number of children examined.
    """
    # Children that cost less than the best solution, and the shortfall after each. The cheapest that satisfies is the new best.
    now, cost = path.shortfall[depth], removed_cost(work)
    cells = np.sort(tail[cost + step_costs(work, tail) < lowest - COST_TOLERANCE])
    steps = step_costs(work, cells)
    shortfalls = shortfalls_after_removal(work, bounds, cells, now)
    lowest = record_cheapest_child(work, bounds, path, cells, steps, shortfalls, lowest, restore)
    # Order by gain, (now - shortfall) / step, then by step, then by cell: both sorts are stable.
    end = path.next_child[depth]
    by_cost = stable_order(steps)
    for child in by_cost[stable_order((shortfalls[by_cost] - now) / steps[by_cost])]:
        if shortfalls[child] > 0.0:
            children[end] = cells[child]
            end += 1
    path.children_end[depth] = end
    return lowest, len(cells)


@compiled
def record_cheapest_child(
    work: LabelWorkspace,
    bounds: LabelBounds,
    path: PathWorkspace,
    cells: IntArray,
    steps: FloatArray,
    shortfalls: FloatArray,
    lowest: float,
    restore: bool,
) -> float:
    """Record the cheapest child that satisfies as the best solution, if one satisfies; return the lowest cost.

    With ``restore``, it is reduced (`record_reduced`). The children are the removals of ``cells``, of cost ``steps``, and leave
    ``shortfalls``. Each must cost less than ``lowest``.
    """
    solved = np.flatnonzero(shortfalls == 0.0)
    if len(solved) == 0:
        return lowest
    cheapest = cells[solved[np.argmin(steps[solved])]]
    set_cell(work, cheapest, True)
    if restore:
        lowest = record_reduced(work, bounds, path)
    else:
        path.best[:], lowest = work.removed, removed_cost(work)
    set_cell(work, cheapest, False)
    return lowest


@compiled
def record_reduced(work: LabelWorkspace, bounds: LabelBounds, path: PathWorkspace) -> float:
    """Record the removed cells, without those that are not needed, as the best solution; return its cost.

    Cells are restored one by one, the most expensive first, if the group still satisfies. The workspace ends as it was.
    """
    taken = np.flatnonzero(work.removed)
    for cell in taken[stable_order(-step_costs(work, taken))]:
        set_cell(work, int(cell), False)
        if shortfall(work, bounds) > 0.0:
            set_cell(work, int(cell), True)
    path.best[:] = work.removed
    cost = removed_cost(work)
    removed = np.zeros_like(work.removed)
    removed[taken] = True
    set_removed(work, removed)
    return cost


@compiled
def adaptive_descent(
    work: LabelWorkspace,
    bounds: LabelBounds,
    path: PathWorkspace,
    children: IntArray,
    depth: int,
    lowest: float,
    nodes: int,
    first: bool,
    restore: bool,
) -> tuple[int, float, int]:
    """Continue an adaptive search whose root is expanded, for at least ``nodes`` removals; with ``first``, to the first solution.

    ``children`` must have room for ``nodes`` and the number of cells more. All children of the last node are examined, so that the
    number can exceed ``nodes``.

    Returns
    -------
    depth : int
        Depth of the present node; -1 once the whole tree has been searched, except what costs more than the best solution.
    lowest : float
        Cost of the best solution.
    examined : int
        Number of removals examined.
    """
    examined = 0
    while depth >= 0 and examined < nodes and not (first and lowest < np.inf):
        place, end = path.next_child[depth], path.children_end[depth]
        if place == end:  # no child left: restore the cell, and return to the parent
            if depth > 0:
                set_cell(work, path.cell[depth], False)
            depth -= 1
            continue
        # Next child; below it the cells of the later children can be removed.
        cell, tail = children[place], children[place + 1 : end]
        path.next_child[depth] += 1
        if can_improve(work, cell, tail, lowest):
            # Descend: examine the children of the child.
            set_cell(work, cell, True)
            depth += 1
            path.cell[depth], path.next_child[depth] = cell, end
            path.shortfall[depth] = shortfall(work, bounds)
            lowest, more = expand_node(work, bounds, path, children, depth, tail, lowest, restore)
            examined += more
    return depth, lowest, examined


@compiled
def strip_record(
    work: LabelWorkspace, bounds: LabelBounds, path: PathWorkspace, i: int, lowest: float
) -> tuple[float, int, bool]:
    """Examine all removals of one more cell; if none satisfies, remove the item of record i with the largest gain.

    The order of the gain looks one removal ahead, but the labels of a record multiply only after several of its items are removed.

    Returns
    -------
    lowest : float
        Cost of the best solution; its cells are in ``path.best``.
    examined : int
        Number of removals examined.
    done : bool
        True if a better solution was found, or no item of the record can be removed at a lower cost.
    """
    cells = np.flatnonzero(~work.removed)
    steps = step_costs(work, cells)
    cheap = removed_cost(work) + steps < lowest - COST_TOLERANCE
    cells, steps = cells[cheap], steps[cheap]
    if len(cells) == 0:
        return lowest, 0, True
    now = shortfall(work, bounds)
    shortfalls = shortfalls_after_removal(work, bounds, cells, now)
    best = record_cheapest_child(work, bounds, path, cells, steps, shortfalls, lowest, True)
    own = work.owner[cells] == i
    if best < lowest or not own.any():
        return best, len(cells), True
    set_cell(work, cells[own][np.argmax(((now - shortfalls) / steps)[own])], True)
    return lowest, len(cells), False


@compiled
def plain_descent(
    work: LabelWorkspace, bounds: LabelBounds, path: PathWorkspace, depth: int, lowest: float, nodes: int, first: bool
) -> tuple[int, float, int]:
    """Continue a plain search, the paper's baseline: children in the order of their cells (section 2.2, figure 3).

    A child is examined when it is visited. Branches that cannot cost less than the best solution are skipped. Parameters and
    returns are those of `adaptive_descent`; at most ``nodes`` removals are examined.
    """
    examined, all_cells = 0, np.arange(len(work.owner))
    while depth >= 0 and examined < nodes and not (first and lowest < np.inf):
        cell = path.next_child[depth]
        if cell == len(all_cells):  # no child left: restore the cell, and return to the parent
            if depth > 0:
                set_cell(work, path.cell[depth], False)
            depth -= 1
            continue
        # Next child: its step costs 1 / w, with w the items left to its record.
        path.next_child[depth] += 1
        cost = removed_cost(work) + 1.0 / work.left[work.owner[cell]]
        if cost >= lowest - COST_TOLERANCE:
            continue
        # Examine it; if it satisfies, it is the cheapest solution so far.
        set_cell(work, cell, True)
        remaining = shortfall(work, bounds)
        examined += 1
        if remaining == 0.0:
            path.best[:], lowest = work.removed, cost
        set_cell(work, cell, False)
        # Descend where it does not satisfy and a child of it, a later cell, can cost less than the best solution.
        if remaining > 0.0 and can_improve(work, cell, all_cells[cell + 1 :], lowest):
            set_cell(work, cell, True)
            depth += 1
            path.cell[depth], path.next_child[depth], path.shortfall[depth] = cell, cell + 1, remaining
    return depth, lowest, examined
