"""Removal of items from a release until every group satisfies a requirement on labels, at the least cost."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from foreknow.defenses.requirements.combinations import AllOf
from foreknow.defenses.requirements.feasibility import Infeasible
from foreknow.defenses.requirements.label_levels import diversity_ratio, label_distance
from foreknow.defenses.requirements.qs_closeness import QSCloseness
from foreknow.defenses.requirements.qs_diversity import QSDiversity
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, Requirement
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
from foreknow.defenses.suppression.label_shortfall import LabelBounds, LabelRequirement, label_bounds, shortfall
from foreknow.defenses.suppression.label_workspace import GroupItems, LabelWorkspace, fresh_workspace, set_removed
from foreknow.defenses.suppression.suppressed_items import SuppressedItems, group_report
from foreknow.models import ItemRelease, Release
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import MAX_FLOAT, check_choice, is_number, is_whole


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
    TypeError
        If the requirement has a part that is not about labels; when called, if the argument is not a `Release`.
    ValueError
        If a setting is out of its range, or parts of the requirement have different linkings.
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
        if not (is_number(self.seconds, 0, MAX_FLOAT) or (is_number(self.seconds, 0) and self.seconds == math.inf)):
            raise ValueError(
                f"ItemSuppression: seconds is {self.seconds!r}; it is a time limit of at least 0, and may be math.inf."
            )
        if self.nodes is not None and not is_whole(self.nodes, 0):
            raise ValueError(f"ItemSuppression: nodes is {self.nodes!r}; it is a whole number of at least 0, or None.")
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
        if not isinstance(release, Release):
            raise TypeError(
                f"ItemSuppression takes a Release, and got {type(release).__name__}; make one with publish, or use publish_items."
            )
        if not callable(progress):
            raise TypeError(
                f"ItemSuppression: progress is {progress!r}; it is a function of a list that yields its elements, as iter."
            )
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
    """Parts of a requirement on labels.

    Raises
    ------
    TypeError
        If the requirement, or a part of it, is not about labels.
    ValueError
        If its parts have different linkings.
    """
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

    Raises
    ------
    Infeasible
        If there is no solution, and the removal of all cells does not satisfy.
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
    failed = _failed_parts(fresh_workspace(search.work), search.bounds, parts)
    raise Infeasible(f"ItemSuppression: {where} does not satisfy {failed}, and {tried}")


def _failed_parts(work: LabelWorkspace, bounds: LabelBounds, parts: tuple[LabelRequirement, ...]) -> str:
    """The requirements that a group fails, in words, each with its level and its bound."""
    priors = iter(bounds.prior)
    levels = [(part, _level(part, work, priors)) for part in parts]
    failed = [(part, level) for part, level in levels if not level <= part.bound + LEVEL_TOLERANCE]
    return ", ".join(f"{part!r} (is {level:.4g}, must be {part.sense} {part.bound:g})" for part, level in failed)


def _level(part: LabelRequirement, work: LabelWorkspace, priors: Iterator[FloatArray]) -> float:
    """Level of a group in one requirement; ``priors`` yields the priors of the closenesses in order."""
    if isinstance(part, QSDiversity):
        return float(diversity_ratio(work.belief, int(part.l), part.as_printed))
    return float(label_distance(work.belief, next(priors)))
