"""Depth-first search among removals, the most promising first (Shi, Xiong, Fung, CIKM 2010, section 2.2)."""

import numpy as np

from foreknow.defenses.suppression.claims import Claims
from foreknow.defenses.suppression.label_shortfall import shortfall, shortfalls
from foreknow.defenses.suppression.label_state import LabelState, move, set_removed
from foreknow.defenses.suppression.search_path import SLIGHT, SearchPath, removed_cost, step_costs, worth_opening
from foreknow.models.arrays import FloatArray, IntArray, compiled


@compiled
def open_node(
    state: LabelState, claims: Claims, path: SearchPath, order: IntArray, depth: int, tail: IntArray, lowest: float
) -> tuple[float, int]:
    """Examine the children of the node that the state is at, and put those to be visited in the order of their promise.

    A child's promise is how much of the shortfall it takes away, over what it costs; ties go to the cheaper child, then to the
    earlier cell: a reconstruction. Children that satisfy are solutions; they, and those that cost no less than the best
    solution so far, are left out here and below, since nothing under them costs less.

    Returns
    -------
    lowest : float
        What the best solution so far costs; its cells are in ``path.best``.
    examined : int
    """
    now, cost = path.missing[depth], removed_cost(state)
    cells = np.sort(tail[cost + step_costs(state, tail) < lowest - SLIGHT])
    steps = step_costs(state, cells)
    found = shortfalls(state, claims, cells, now)
    lowest = keep_cheapest(state, claims, path, cells, steps, found, lowest)
    end = path.nexts[depth]
    by_cost = ranked(steps)
    for child in by_cost[ranked((found[by_cost] - now) / steps[by_cost])]:
        if found[child] > 0.0:
            order[end] = cells[child]
            end += 1
    path.ends[depth] = end
    return lowest, len(cells)


@compiled
def ranked(keys: FloatArray) -> IntArray:
    """The places of some numbers from the smallest; equal ones as they stand."""
    return np.argsort(keys, kind="mergesort")


@compiled
def keep_cheapest(
    state: LabelState,
    claims: Claims,
    path: SearchPath,
    cells: IntArray,
    steps: FloatArray,
    found: FloatArray,
    lowest: float,
) -> float:
    """Keep the cheapest of some children that satisfies, lightened, as the best solution, if one does; returns the lowest cost.

    All must cost less than the best so far. ``found`` are their shortfalls.
    """
    solved = np.flatnonzero(found == 0.0)
    if len(solved) == 0:
        return lowest
    cheapest = cells[solved[np.argmin(steps[solved])]]
    move(state, cheapest, True)
    lowest = lighten(state, claims, path)
    move(state, cheapest, False)
    return lowest


@compiled
def lighten(state: LabelState, claims: Claims, path: SearchPath) -> float:
    """Keep what the state has removed as the best solution, without what it can do without; returns what it costs.

    Cells are put back one after the other, those that save most first, if the group still satisfies. The state ends as it was.
    """
    taken = np.flatnonzero(state.removed)
    for cell in taken[ranked(-step_costs(state, taken))]:
        move(state, int(cell), False)
        if shortfall(state, claims) > 0.0:
            move(state, int(cell), True)
    path.best[:] = state.removed
    cost = removed_cost(state)
    removed = np.zeros_like(state.removed)
    removed[taken] = True
    set_removed(state, removed)
    return cost


@compiled
def descend(
    state: LabelState,
    claims: Claims,
    path: SearchPath,
    order: IntArray,
    depth: int,
    lowest: float,
    nodes: int,
    first: bool,
) -> tuple[int, float, int]:
    """Go on with a search whose root is open, until it has examined so many nodes, or to the first solution if that is asked.

    ``order`` must have room for as many more as ``nodes`` and the group has cells. The last node's children are all examined, so
    that it may be more.

    Returns
    -------
    depth : int
        Where it stands; -1 where the whole tree has been searched, but for what costs more than the best.
    lowest : float
    examined : int
    """
    examined = 0
    while depth >= 0 and examined < nodes and not (first and lowest < np.inf):
        place, end = path.nexts[depth], path.ends[depth]
        if place == end:
            if depth > 0:
                move(state, path.cells[depth], False)
            depth -= 1
            continue
        cell, tail = order[place], order[place + 1 : end]
        path.nexts[depth] += 1
        if worth_opening(state, cell, tail, lowest):
            move(state, cell, True)
            depth += 1
            path.cells[depth], path.nexts[depth] = cell, end
            path.missing[depth] = shortfall(state, claims)
            lowest, more = open_node(state, claims, path, order, depth, tail, lowest)
            examined += more
    return depth, lowest, examined


@compiled
def strip(state: LabelState, claims: Claims, path: SearchPath, i: int, lowest: float) -> tuple[float, int, bool]:
    """Examine whether one more cell is enough, and if none is, take the most promising item of record i.

    The most promising child first sees only one step ahead, and labels multiply as all of a record's items go.

    Returns
    -------
    lowest : float
        What the best solution so far costs; its cells are in ``path.best``.
    examined : int
    done : bool
        Whether a better solution was found, or the record has no item left that may be taken.
    """
    cells = np.flatnonzero(~state.removed)
    steps = step_costs(state, cells)
    cheap = removed_cost(state) + steps < lowest - SLIGHT
    cells, steps = cells[cheap], steps[cheap]
    if len(cells) == 0:
        return lowest, 0, True
    now = shortfall(state, claims)
    found = shortfalls(state, claims, cells, now)
    best = keep_cheapest(state, claims, path, cells, steps, found, lowest)
    own = state.owner[cells] == i
    if best < lowest or not own.any():
        return best, len(cells), True
    move(state, cells[own][np.argmax(((now - found) / steps)[own])], True)
    return lowest, len(cells), False
