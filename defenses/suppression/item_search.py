"""Resumable search for the cheapest removal of items from a group, and searches of several groups within a time limit."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from foreknow.defenses.suppression.item_descent import (
    PathWorkspace,
    adaptive_descent,
    expand_node,
    path_workspace,
    plain_descent,
    strip_record,
)
from foreknow.defenses.suppression.label_shortfall import LabelBounds, shortfall
from foreknow.defenses.suppression.label_workspace import LabelWorkspace, fresh_workspace
from foreknow.models.arrays import BoolArray, IntArray

type SearchOrder = Literal["adaptive", "plain"]
SEARCH_ORDERS: tuple[SearchOrder, ...] = ("adaptive", "plain")
"""Orders in which the children of a node can be visited."""

type Progress = Callable[[list[int]], Iterable[int]]
"""A function that yields the groups it is given while they are searched, as ``rich.progress.track``."""

NODES_PER_CALL = 10_000
"""Largest number of removals examined in one call of compiled code, which needs room for as many children."""

NODES_PER_CLOCK_READING = 100
"""Largest number of removals of a group examined between two readings of the clock."""


@dataclass(eq=False)
class RunningSearch:
    """Mutable search of all removals from one group; `advance` continues it in place.

    No node is visited below which no removal can cost less than the best solution so far. The tree is described in
    `item_descent`.

    Attributes
    ----------
    work : LabelWorkspace
        The group, at the present node.
    bounds : LabelBounds
        The requirements.
    path : PathWorkspace
    order : {"adaptive", "plain"}
    children : int array
        Children at all depths of the path, in the order of their visits; unused by the plain search.
    expanded : bool
        True if the adaptive search has examined the root's children.
    depth : int
        Number of cells removed at the present node; -1 once the tree has been searched.
    lowest : float
        Cost of the best solution, in units of ``1 / w``; infinite without one.
    records_tried : int
        Number of records that the search has begun with (adaptive search, after its first solution).
    record_work : LabelWorkspace, optional
        Separate workspace of the group while the search begins with the next record.
    examined : int
        Number of removals examined; some may have been examined twice.
    """

    work: LabelWorkspace
    bounds: LabelBounds
    path: PathWorkspace
    order: SearchOrder
    children: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    expanded: bool = False
    depth: int = 0
    lowest: float = np.inf
    records_tried: int = 0
    record_work: LabelWorkspace | None = None
    examined: int = 0

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
        if self.order == "plain":
            self.depth, self.lowest, more = plain_descent(
                self.work, self.bounds, self.path, self.depth, self.lowest, nodes, first
            )
        elif self.lowest < np.inf and self.records_tried < len(self.work.left):
            more = self._strip_next_record()
        elif not self.expanded:
            more = self._expand_root(nodes)
        else:
            self._reserve(nodes)
            self.depth, self.lowest, more = adaptive_descent(
                self.work, self.bounds, self.path, self.children, self.depth, self.lowest, nodes, first
            )
        self.examined += more

    def _expand_root(self, nodes: int) -> int:
        """Examine the children of the root; return their number."""
        self._reserve(nodes)
        cells = np.arange(len(self.work.owner))
        self.lowest, more = expand_node(self.work, self.bounds, self.path, self.children, 0, cells, self.lowest)
        self.expanded = True
        return more

    def _strip_next_record(self) -> int:
        """Remove one item more of the record that the search begins with; return the number of removals examined."""
        work = fresh_workspace(self.work) if self.record_work is None else self.record_work
        self.lowest, more, done = strip_record(work, self.bounds, self.path, self.records_tried, self.lowest)
        self.records_tried += done
        self.record_work = None if done else work
        return more

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
        expand_node(work, bounds, path, empty, 0, empty, np.inf)
        strip_record(work, bounds, path, 0, 0.0)
        adaptive_descent(work, bounds, path, empty, 0, np.inf, 0, True)


@dataclass(eq=False)
class TimedSearch:
    """Mutable search of one group, with the time it has taken.

    Attributes
    ----------
    search : RunningSearch
    seconds : float
        Time spent on the search.
    first_cost, first_seconds : float
        Cost of its first solution, in units of ``1 / w``, and the time after which it was found; NaN without one.
    """

    search: RunningSearch
    seconds: float = 0.0
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
    searches: Mapping[int, TimedSearch], until: float, nodes: float, first: bool, progress: Progress
) -> None:
    """Advance the searches of several groups, in place, within a time limit.

    Each group gets an equal part of the time left. Time that it does not use goes to the groups after it, and then to a further
    round.

    Parameters
    ----------
    searches : mapping of group to TimedSearch
    until : float
        End of the time, on the clock of ``time.perf_counter``.
    nodes : float
        Number of removals to examine in each group.
    first : bool
        Stop at the first solution of a group.
    progress : Progress
        Called once for each round.

    Raises
    ------
    ValueError
        If ``progress`` yields something else than the groups it was given, or none of them.
    """
    while time.perf_counter() < until and (
        open_ := [g for g, one in searches.items() if not one.is_done(nodes, first)]
    ):
        place = -1
        for place, group in enumerate(progress(open_)):
            if place >= len(open_) or group != open_[place]:
                raise ValueError(
                    f"progress yields {group!r} for the groups {open_}; it yields each group it is given, in order, as iter does."
                )
            now = time.perf_counter()
            end = now + (until - now) / (len(open_) - place)
            while time.perf_counter() < end and not searches[group].is_done(nodes, first):
                searches[group].advance(nodes)
        if place < 0:
            raise ValueError(
                f"progress yields nothing for the groups {open_}; it yields each group it is given, as iter does."
            )
