"""Search for the cheapest removal of items from a group (Shi, Xiong, Fung, CIKM 2010, 2.2), resumable."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from foreknow.defenses.suppression.label_workspace import (
    LabelBounds,
    LabelWorkspace,
    fresh_workspace,
    set_cell,
    set_removed,
    shortfall,
    shortfalls_after_removal,
)
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

type SearchOrder = Literal["adaptive", "plain"]
SEARCH_ORDERS: tuple[SearchOrder, ...] = ("adaptive", "plain")  # orders in which the children of a node can be visited

# A function that yields the groups it is given while they are searched, as `rich.progress.track`
type Progress = Callable[[list[int]], Iterable[int]]

# Largest number of removals examined in one call of compiled code, which needs room for as many children
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
    order: SearchOrder  # {"adaptive", "plain"}
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
        group = (self.work, self.bounds, self.path)
        if self.order == "plain":
            self.depth, self.lowest, more = plain_descent(*group, self.depth, self.lowest, nodes, first)
        elif self.lowest < np.inf and self.records_tried < len(self.work.left):
            # Remove one item more of the record that the search begins with.
            work = fresh_workspace(self.work) if self.record_work is None else self.record_work
            self.lowest, more, done = strip_record(work, self.bounds, self.path, self.records_tried, self.lowest)
            self.records_tried += done
            self.record_work = None if done else work
        else:
            self._reserve(nodes)
            if self.expanded:
                self.depth, self.lowest, more = adaptive_descent(
                    *group, self.children, self.depth, self.lowest, nodes, first
                )
            else:
                cells, self.expanded = np.arange(len(self.work.owner)), True
                self.lowest, more = expand_node(*group, self.children, 0, cells, self.lowest)
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
        expand_node(work, bounds, path, empty, 0, empty, np.inf)
        strip_record(work, bounds, path, 0, 0.0)
        adaptive_descent(work, bounds, path, empty, 0, np.inf, 0, True)


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
) -> tuple[float, int]:
    """Examine the children of the present node, and append those to visit to ``children`` in the order of their gain.

    The gain of a child is the decrease of the shortfall over its cost. Ties go to the cheaper child, then to the earlier cell: a
    reconstruction of the paper. Children that satisfy, and children that cost no less than the best solution, are not
    visited: no removal below them costs less.

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
    lowest = record_cheapest_child(work, bounds, path, cells, steps, shortfalls, lowest)
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
) -> float:
    """Record the cheapest child that satisfies, reduced, as the best solution, if one satisfies; return the lowest cost.

    The children are the removals of ``cells``, of cost ``steps``, and leave ``shortfalls``. Each must cost less than ``lowest``.
    """
    solved = np.flatnonzero(shortfalls == 0.0)
    if len(solved) == 0:
        return lowest
    cheapest = cells[solved[np.argmin(steps[solved])]]
    set_cell(work, cheapest, True)
    lowest = record_reduced(work, bounds, path)
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
            lowest, more = expand_node(work, bounds, path, children, depth, tail, lowest)
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
    best = record_cheapest_child(work, bounds, path, cells, steps, shortfalls, lowest)
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
