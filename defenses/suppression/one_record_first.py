"""Removals that begin with one record: labels multiply as its items go, which no single step shows."""

import numpy as np

from foreknow.defenses.suppression.adaptive_descent import keep_cheapest
from foreknow.defenses.suppression.claims import Claims
from foreknow.defenses.suppression.label_state import LabelState, move, set_removed, shortfall, shortfalls
from foreknow.defenses.suppression.search_path import SLIGHT, SearchPath, removed_cost, step_costs
from foreknow.models.arrays import compiled


@compiled
def stripped(state: LabelState, claims: Claims, path: SearchPath, i: int, lowest: float) -> tuple[float, int]:
    """Take the most promising item of record i, and the next, until one more cell of any record is enough, or costs too much.

    Once the record has none left, those of the others follow. It begins at the root, and leaves the state where it was.

    Returns
    -------
    lowest : float
        What the best solution so far costs; its cells are in ``path.best``.
    examined : int
    """
    examined, before = 0, lowest
    kept = state.removed.copy()
    set_removed(state, np.zeros_like(kept))
    while lowest == before:
        cost = removed_cost(state)
        cells = np.flatnonzero(~state.removed)
        steps = step_costs(state, cells)
        cheap = cost + steps < lowest - SLIGHT
        cells, steps = cells[cheap], steps[cheap]
        if len(cells) == 0:
            break
        now = shortfall(state, claims)
        found = shortfalls(state, claims, cells, now)
        examined += len(cells)
        lowest = keep_cheapest(state, claims, path, cells, steps, found, lowest)
        promise = (now - found) / steps
        own = state.owner[cells] == i
        if own.any():
            promise[~own] = -np.inf
        move(state, cells[np.argmax(promise)], True)
    set_removed(state, kept)
    return lowest, examined
