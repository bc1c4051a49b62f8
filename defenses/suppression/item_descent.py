"""Compiled depth-first search for the cheapest removal of items, in adaptive or plain order (Shi, Xiong, Fung, CIKM 2010, 2.2).

The tree holds every removal once. Its root removes nothing; a child removes one cell more than its parent; below a child only the
cells that follow it among its siblings can be removed. A removal that satisfies is a solution. Costs are sums of ``1 / w``, where w
is the number of items that a record has before one of them is removed (Equation 1 without its denominator).
"""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.suppression.label_shortfall import LabelBounds, shortfall, shortfalls_after_removal
from foreknow.defenses.suppression.label_workspace import LabelWorkspace, set_cell, set_removed
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

COST_TOLERANCE = 1e-12
"""Smallest difference of two costs that is not rounding: sums of the same terms in another order differ by less."""


class PathWorkspace(NamedTuple):
    """Mutable work arrays of the path from the root to the present node, and the best solution, for a group of s cells.

    Attributes
    ----------
    cell : int array, shape (s + 1,)
        Cell that was removed to reach each depth; unused at depth 0.
    next_child : int array, shape (s + 1,)
        Next child to visit at each depth: a cell in the plain search, its position in ``children`` in the adaptive search.
    children_end : int array, shape (s + 1,)
        End of the children of each depth in ``children``; unused by the plain search.
    shortfall : float array, shape (s + 1,)
        Shortfall at each depth.
    best : bool array, shape (s,)
        Cells of the cheapest solution so far.
    """

    cell: IntArray
    next_child: IntArray
    children_end: IntArray
    shortfall: FloatArray
    best: BoolArray


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
    now, cost = path.shortfall[depth], removed_cost(work)
    cells = np.sort(tail[cost + step_costs(work, tail) < lowest - COST_TOLERANCE])
    steps = step_costs(work, cells)
    shortfalls = shortfalls_after_removal(work, bounds, cells, now)
    lowest = record_cheapest_child(work, bounds, path, cells, steps, shortfalls, lowest)
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
        if place == end:
            if depth > 0:
                set_cell(work, path.cell[depth], False)
            depth -= 1
            continue
        cell, tail = children[place], children[place + 1 : end]
        path.next_child[depth] += 1
        if can_improve(work, cell, tail, lowest):
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
        if cell == len(all_cells):
            if depth > 0:
                set_cell(work, path.cell[depth], False)
            depth -= 1
            continue
        path.next_child[depth] += 1
        cost = removed_cost(work) + 1.0 / work.left[work.owner[cell]]
        if cost >= lowest - COST_TOLERANCE:
            continue
        set_cell(work, cell, True)
        remaining = shortfall(work, bounds)
        examined += 1
        if remaining == 0.0:
            path.best[:], lowest = work.removed, cost
        set_cell(work, cell, False)
        if remaining > 0.0 and can_improve(work, cell, all_cells[cell + 1 :], lowest):
            set_cell(work, cell, True)
            depth += 1
            path.cell[depth], path.next_child[depth], path.shortfall[depth] = cell, cell + 1, remaining
    return depth, lowest, examined
