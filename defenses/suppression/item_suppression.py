"""Removal of items from a release until every group satisfies a requirement on labels, and its publication."""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses.publish import Defense, publish
from foreknow.defenses.requirements.quasi_sensitive import QSCloseness, QSDiversity, diversity_ratio, label_distance
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, AllOf, Infeasible, Requirement
from foreknow.defenses.suppression.item_search import (
    SEARCH_ORDERS,
    Progress,
    RunningSearch,
    SearchOrder,
    TimedSearch,
    compile_search,
    item_search,
    share_time,
)
from foreknow.defenses.suppression.label_workspace import (
    GroupItems,
    LabelBounds,
    LabelRequirement,
    fresh_workspace,
    label_bounds,
    set_removed,
    shortfall,
)
from foreknow.models import Adversary, ItemRelease, Items, Release, View
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_choice, check_range, check_whole


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
        Number of removals to examine in each group, exceeded by at most the children of one node. It makes results
        repeatable where ``seconds`` is large enough.
    search : {"adaptive", "plain"}
        ``"plain"`` is the paper's baseline: the same tree in lexicographic order, without the additions below.

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

    def _search(self, group_items: GroupItems, bounds: LabelBounds, progress: Progress) -> dict[int, TimedSearch]:
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
    """Parts of a requirement on labels."""
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


def _removed_cells(search: RunningSearch, where: str, parts: tuple[LabelRequirement, ...]) -> BoolArray:
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


def group_report(group_items: GroupItems, published: Items, searches: Mapping[int, TimedSearch]) -> pd.DataFrame:
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
