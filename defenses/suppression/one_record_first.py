"""Removals that begin with one record: labels multiply as its items go, which no single step shows."""

import numpy as np

from foreknow.defenses.suppression.adaptive_descent import keep_cheapest
from foreknow.defenses.suppression.claims import Claims
from foreknow.defenses.suppression.label_state import LabelState, move, shortfall, shortfalls
from foreknow.defenses.suppression.search_path import SLIGHT, SearchPath, removed_cost, step_costs
from foreknow.models.arrays import compiled


@compiled
def strip(state: LabelState, claims: Claims, path: SearchPath, i: int, lowest: float) -> tuple[float, int, bool]:
    """Examine whether one more cell is enough, and if none is, take the most promising item of record i.

    Once the record has none left, those of the others follow.

    Returns
    -------
    lowest : float
        What the best solution so far costs; its cells are in ``path.best``.
    examined : int
    done : bool
        Whether a better solution was found, or every further cell costs too much.
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
    if best < lowest:
        return best, len(cells), True
    promise = (now - found) / steps
    own = state.owner[cells] == i
    if own.any():
        promise[~own] = -np.inf
    move(state, cells[np.argmax(promise)], True)
    return lowest, len(cells), False
