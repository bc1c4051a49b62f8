"""Leaving out items of a release until every group satisfies a requirement on labels, at the least cost."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from foreknow.defenses.requirements.label_levels import diversity_ratio, label_distance
from foreknow.defenses.requirements.qs_diversity import QSDiversity
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, Infeasible, Requirement
from foreknow.defenses.suppression.claims import Claims, LabelRequirement, claims_of, parts_of
from foreknow.defenses.suppression.group_items import GroupItems
from foreknow.defenses.suppression.item_search import ORDERS, ItemSearch, Order, compile_search, item_search
from foreknow.defenses.suppression.label_shortfall import shortfall
from foreknow.defenses.suppression.label_state import LabelState, set_removed
from foreknow.defenses.suppression.suppressed_items import SuppressedItems, reported
from foreknow.defenses.suppression.time_sharing import Attempt, Progress, share_time
from foreknow.models import ItemRelease, Release
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import GREATEST_FLOAT, is_number


@dataclass(frozen=True)
class ItemSuppression:
    """Leave out of every group that fails the items whose loss costs least, so that it satisfies; leave the others alone.

    The removals of a group are searched depth first, the most promising first: those that bring the group nearest to what is
    asked for what they cost. What can cost no less than the best found is left out; once nothing is left, the best is
    the cheapest there is.

    Parameters
    ----------
    requirement : Requirement
        A `QSDiversity` or a `QSCloseness`, or several joined by ``&``, of one linking.
    seconds : float
        How long to search, in all groups together. All get a first solution before any is improved. With 0 nothing is
        searched: a group that fails loses every item.
    nodes : int, optional
        Of how many removals to examine, in each group, whether they satisfy; to within one node's children. It makes results
        repeatable where ``seconds`` are enough.
    search : "adaptive" or "plain"
        Plain is the paper's baseline: the same tree in lexicographic order, without what is not in the paper.

    Raises
    ------
    TypeError
        If the requirement has a part that is not about labels; when called, if what is given is no Release.
    ValueError
        If a setting is out of its range, or parts of the requirement link items in different ways.
    Infeasible
        When called, if a group satisfies with none of the removals examined, nor without any item.

    Notes
    -----
    Shi, Xiong, Fung, CIKM 2010, section 2.2. The gain is of l', the largest l of which the group is (c, l)-diverse, or of the
    distance of QS t-closeness (of several requirements, of the sum of what each is short of); ties go to the cheaper item, then to
    the earlier one: a reconstruction. Two things are added, to the adaptive search only: a solution is rid of the items
    it need not leave out, and after the first one the search also begins once with each record, since taking several items
    from one record multiplies its labels, which no single step shows.

    Neither requirement is monotone: leaving out more items can make a group fail. Not checked: what is published is not
    compared with earlier releases. An adversary who knows how items were chosen may learn from what is missing; nothing here
    keeps that from them.

    Clocks differ: with the time as the only bound, two calls may give different results, both valid. Linking, the first look at
    each group, and compiling at the first call, are not counted; the clock is read between two steps of a search, so that a
    group of thousands of records may take a second more. Cost of examining a removal: O(e) at worst of e labels, mostly that
    of the labels its record links to.

    Examples
    --------
    The patients of figure 1. Both of the first group have the flu; once one shows nothing, either disease is possible, 3 to 1.

    >>> import pandas as pd
    >>> from foreknow.defenses import QSDiversity
    >>> from foreknow.models import ExternalKnowledge, Linking, Numeric, Schema, View
    >>> symptoms = ["cough, headache, sore throat", "cough, headache", "headache, vomiting", "headache, sore throat"]
    >>> patients = pd.DataFrame({"id": range(4), "age": [22, 25, 30, 35], "symptoms": symptoms})
    >>> view = View(patients, Schema({"age": Numeric()}, "symptoms", tuple(symptoms)))
    >>> known = {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    >>> requirement = QSDiversity(3, 2, Linking(ExternalKnowledge(known), "symptoms"))
    >>> found = ItemSuppression(requirement)(Release(view, [0, 0, 1, 1]))
    >>> found.groups[["satisfied", "items", "removed", "cost", "proven"]].round(3)
       satisfied  items  removed  cost  proven
    0      False      5        2  0.45    True
    1       True      4        0  0.00    True
    >>> found.release.table["symptoms"].tolist()
    ['', 'cough, headache, sore throat', 'headache, sore throat', 'headache, vomiting']
    """

    requirement: Requirement
    seconds: float = 10.0
    nodes: int | None = None
    search: Order = "adaptive"

    def __post_init__(self) -> None:
        parts_of("ItemSuppression", self.requirement)
        if not is_number(self.seconds, 0):
            raise ValueError(
                f"ItemSuppression: seconds is {self.seconds!r}; it is a time, 0 or more, and may be infinite."
            )
        if self.nodes is not None and not (is_number(self.nodes, 0, GREATEST_FLOAT) and self.nodes == int(self.nodes)):
            raise ValueError(f"ItemSuppression: nodes is {self.nodes!r}; it is a whole number, 0 or more, or left out.")
        if self.search not in ORDERS:
            raise ValueError(
                f"ItemSuppression: search is {self.search!r}; it is one of {', '.join(map(repr, ORDERS))}."
            )

    def __call__(self, release: Release, progress: Progress = iter) -> SuppressedItems:
        """Leave out items of a release.

        Parameters
        ----------
        release : Release
            Its groups are kept as they are. Counterfeits have no items and count nowhere.
        progress : callable, optional
            What the failing groups go through, once for their first solutions and then for each round of improvements; as
            ``rich.progress.track``.
        """
        if not isinstance(release, Release):
            raise TypeError(
                f"ItemSuppression takes a Release, and got {type(release).__name__}; make one with publish, or use publish_items."
            )
        parts = parts_of("ItemSuppression", self.requirement)
        found = GroupItems.of(release, parts[0].linking)
        attempts = self._searched(found, claims_of(parts, found.links), progress)
        removed = np.repeat(release.group < 0, found.items.sizes)
        for group, attempt in attempts.items():
            whose = f"group {group} of the view at {release.time!r}"
            removed[found.cells(group)] = _chosen(attempt.search, whose, parts)
        published = found.items.without(removed)
        return SuppressedItems(ItemRelease(release, parts[0].linking, published), reported(found, published, attempts))

    def _searched(self, found: GroupItems, claims: Claims, progress: Progress) -> dict[int, Attempt]:
        """How the search of each group that fails went."""
        states = ((group, found.state(group)) for group in range(len(found.members)))
        failing = [(group, state) for group, state in states if shortfall(state, claims) > 0]
        attempts = {group: Attempt(item_search(state, claims, self.search)) for group, state in failing}
        for attempt in list(attempts.values())[:1]:
            compile_search(attempt.search)
        nodes, until = math.inf if self.nodes is None else self.nodes, time.perf_counter() + self.seconds
        for first in (True, False):
            attempts = share_time(attempts, until, nodes, first, progress)
        return attempts


def _chosen(search: ItemSearch, whose: str, parts: tuple[LabelRequirement, ...]) -> BoolArray:
    """The cells that are left out: the best solution, shape ``(s,)``; all cells where there is none and that satisfies.

    The search is spent. ``whose`` names the group in messages; ``parts`` are what it was searched for.

    Raises
    ------
    Infeasible
        If there is no solution, and not even the removal of everything satisfies.
    """
    if search.best is not None:
        return search.best
    state = search.state
    everything = state.removed | True
    set_removed(state, everything)
    if shortfall(state, search.claims) == 0.0:
        return everything
    set_removed(state, ~everything)
    tried = (
        f"no choice of its {len(everything)} items to leave out helps. Ask for less, or make larger groups."
        if search.finished
        else f"neither does leaving out all of its items help, nor any of the {search.examined} choices examined. Allow more "
        "seconds or nodes, ask for less, or make larger groups."
    )
    raise Infeasible(f"ItemSuppression: {whose} does not satisfy {_failed(state, search, parts)}, and {tried}")


def _failed(state: LabelState, search: ItemSearch, parts: tuple[LabelRequirement, ...]) -> str:
    """Which parts of what is asked a group fails, in words: each with its level and what that must be."""
    priors = iter(search.claims.prior)
    levels = [(part, _level(part, state, priors)) for part in parts]
    failed = [(part, level) for part, level in levels if not level <= part.bound + LEVEL_TOLERANCE]
    return ", ".join(f"{part!r} (is {level:.4g}, must be {part.sense} {part.bound:g})" for part, level in failed)


def _level(part: LabelRequirement, state: LabelState, priors: Iterator[FloatArray]) -> float:
    if isinstance(part, QSDiversity):
        return float(diversity_ratio(state.belief, int(part.l), part.as_printed))
    return float(label_distance(state.belief, next(priors)))
