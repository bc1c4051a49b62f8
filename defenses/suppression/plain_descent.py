"""Depth-first search among removals in their lexicographic order: what the adaptive search is measured against."""

import numpy as np

from foreknow.defenses.suppression.claims import Claims
from foreknow.defenses.suppression.label_shortfall import shortfall
from foreknow.defenses.suppression.label_state import LabelState, move
from foreknow.defenses.suppression.search_path import SLIGHT, SearchPath, removed_cost, worth_opening
from foreknow.models.arrays import compiled


@compiled
def descend_plainly(
    state: LabelState, claims: Claims, path: SearchPath, depth: int, lowest: float, nodes: int, first: bool
) -> tuple[int, float, int]:
    """Go on with a search, as the adaptive `descend` does, but child after child as their cells stand (section 2.2, figure 3).

    A child is examined when it is visited. Branches that cannot cost less than the best solution so far are left out.
    """
    examined, every = 0, np.arange(len(state.owner))
    while depth >= 0 and examined < nodes and not (first and lowest < np.inf):
        cell = path.nexts[depth]
        if cell == len(every):
            if depth > 0:
                move(state, path.cells[depth], False)
            depth -= 1
            continue
        path.nexts[depth] += 1
        cost = removed_cost(state) + 1.0 / state.left[state.owner[cell]]
        if cost >= lowest - SLIGHT:
            continue
        move(state, cell, True)
        missing = shortfall(state, claims)
        examined += 1
        if missing == 0.0:
            path.best[:], lowest = state.removed, cost
        move(state, cell, False)
        if missing > 0.0 and worth_opening(state, cell, every[cell + 1 :], lowest):
            move(state, cell, True)
            depth += 1
            path.cells[depth], path.nexts[depth], path.missing[depth] = cell, cell + 1, missing
    return depth, lowest, examined
