"""Where a depth-first search among removals stands: a path in the tree, and the best removal found so far."""

from typing import NamedTuple

import numpy as np

from foreknow.defenses.suppression.label_state import LabelState
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled

SLIGHT = 1e-12
"""By how much a removal must be cheaper to be so: sums of the same parts differ by rounding."""


class SearchPath(NamedTuple):
    """The way from the root, where nothing is removed, to a node, for a group of s cells. Searching moves it.

    Attributes
    ----------
    cells : int array, shape (s + 1,)
        The cell that was removed last at each depth; none at depth 0.
    nexts : int array, shape (s + 1,)
        The child to be visited next at each depth: a cell, or where it stands among the children in their order.
    ends : int array, shape (s + 1,)
        Where these children end.
    missing : float array, shape (s + 1,)
        The shortfall at each depth.
    best : bool array, shape (s,)
        The cells of the cheapest removal that satisfies.
    """

    cells: IntArray
    nexts: IntArray
    ends: IntArray
    missing: FloatArray
    best: BoolArray


def search_path(cells: int, missing: float) -> SearchPath:
    """A path at the root."""
    removed, nexts, ends = np.zeros((3, cells + 1), dtype=np.int64)
    return SearchPath(removed, nexts, ends, np.full(cells + 1, missing), np.zeros(cells, dtype=np.bool_))


@compiled
def step_costs(state: LabelState, cells: IntArray) -> FloatArray:
    """What it costs to remove each of some cells next: 1 over what its record has left."""
    return 1.0 / state.left[state.owner[cells]]


@compiled
def removed_cost(state: LabelState) -> float:
    """What all that is removed costs, not divided by what everything would."""
    total = 0.0
    for i in range(len(state.left)):
        for w in range(state.left[i] + 1, state.starts[i + 1] - state.starts[i] + 1):
            total += 1.0 / w
    return total


@compiled
def worth_opening(state: LabelState, cell: int, tail: IntArray, lowest: float) -> bool:
    """Whether a removal under a child could cost less than the best: whether the cheapest of its own children does.

    ``cell`` leads to the child from the node that the state is at, and ``tail`` are the cells that may be removed under it.
    """
    i = state.owner[cell]
    cost = removed_cost(state) + 1.0 / state.left[i]
    for other in tail:
        left = state.left[state.owner[other]] - (1 if state.owner[other] == i else 0)
        if cost + 1.0 / left < lowest - SLIGHT:
            return True
    return False
