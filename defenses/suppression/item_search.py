"""The search for the cheapest removal of items after which a group satisfies; it can be stopped, and gone on with."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from foreknow.defenses.suppression.adaptive_descent import descend, open_node, strip
from foreknow.defenses.suppression.claims import Claims
from foreknow.defenses.suppression.label_shortfall import shortfall
from foreknow.defenses.suppression.label_state import LabelState, unmoved
from foreknow.defenses.suppression.plain_descent import descend_plainly
from foreknow.defenses.suppression.search_path import SearchPath, search_path
from foreknow.models.arrays import BoolArray, IntArray

type Order = Literal["adaptive", "plain"]
ORDERS: tuple[Order, ...] = ("adaptive", "plain")
"""In which order the children of a node are visited."""

AT_ONCE = 10_000
"""How many removals are examined without a return from compiled code: there must be room for as many children."""


@dataclass(frozen=True, eq=False)
class ItemSearch:
    """A search of the tree of all removals from a group: the root removes nothing, a child one cell more (section 2.2).

    Every removal is one node: under a child may be removed only what comes after it among its siblings. No node is visited
    under which none can cost less than the best solution so far.

    Attributes
    ----------
    state, claims
        The group, at the node that the search is at, and what is asked of it.
    path : SearchPath
    order : int array
        The children at all depths of the path, in the order of their visits; unused by the plain search.
    search : "adaptive" or "plain"
    opened : bool
        Whether the adaptive search has examined the root's children.
    depth : int
        How many cells are removed at its node; -1 once the tree has been searched.
    lowest : float
        What the best solution costs, in the units of ``1/w``; infinite where there is none yet.
    stripped : int
        Of how many records it has been tried to begin with them.
    apart : LabelState, optional
        The group once more, while it is being tried with the next record.
    examined : int
        Of how many removals it has been seen whether they satisfy; some may have been seen twice.
    """

    state: LabelState
    claims: Claims
    path: SearchPath
    order: IntArray
    search: Order
    opened: bool = False
    depth: int = 0
    lowest: float = np.inf
    stripped: int = 0
    apart: LabelState | None = None
    examined: int = 0

    @property
    def finished(self) -> bool:
        """Whether the tree has been searched: then the best solution is the cheapest there is, or there is none."""
        return self.depth < 0

    @property
    def best(self) -> BoolArray | None:
        """The cells of the best solution so far, shape ``(s,)``."""
        return self.path.best if self.lowest < np.inf else None


def item_search(state: LabelState, claims: Claims, search: Order = "adaptive") -> ItemSearch:
    """A search that has not begun, of a group that does not satisfy and of which nothing has been removed."""
    path = search_path(len(state.owner), shortfall(state, claims))
    return ItemSearch(state, claims, path, np.empty(0, dtype=np.int64), search)


def compile_search(search: ItemSearch) -> None:
    """Have the machine code of a search that has not begun made, which moves it nowhere; so that no clock counts it."""
    state, claims, path, nothing = search.state, search.claims, search.path, np.empty(0, dtype=np.int64)
    if search.search == "plain":
        descend_plainly(state, claims, path, 0, np.inf, 0, True)
    else:
        open_node(state, claims, path, nothing, 0, nothing, np.inf)
        strip(state, claims, path, 0, 0.0)
        descend(state, claims, path, nothing, 0, np.inf, 0, True)


def advanced(search: ItemSearch, nodes: int, first: bool = False) -> ItemSearch:
    """The same search once it has examined so many more removals, or as many as there are.

    The one that is passed in is spent: both share their arrays. With ``first``, it stops at its first solution. The adaptive
    search examines the siblings of a node together, and may examine more by one node's children.
    """
    goal = search.examined + nodes
    while search.examined < goal and not search.finished and not (first and search.lowest < np.inf):
        search = _advanced(search, min(goal - search.examined, AT_ONCE), first or search.lowest == np.inf)
    return search


def _advanced(search: ItemSearch, nodes: int, first: bool) -> ItemSearch:
    if search.search == "plain":
        return _plainly(search, nodes, first)
    if search.lowest < np.inf and search.stripped < len(search.state.left):
        return _record_first(search)
    return _adaptively(_with_room(search, nodes), nodes, first)


def _plainly(search: ItemSearch, nodes: int, first: bool) -> ItemSearch:
    depth, lowest, more = descend_plainly(
        search.state, search.claims, search.path, search.depth, search.lowest, nodes, first
    )
    return replace(search, depth=depth, lowest=lowest, examined=search.examined + more)


def _record_first(search: ItemSearch) -> ItemSearch:
    apart = unmoved(search.state) if search.apart is None else search.apart
    lowest, more, done = strip(apart, search.claims, search.path, search.stripped, search.lowest)
    return replace(
        search,
        stripped=search.stripped + done,
        apart=None if done else apart,
        lowest=lowest,
        examined=search.examined + more,
    )


def _with_room(search: ItemSearch, nodes: int) -> ItemSearch:
    """The same search, with room for as many more children as it may examine."""
    room, needed = len(search.order), int(search.path.ends[search.depth]) + nodes + len(search.state.owner)
    if needed <= room:
        return search
    more = np.empty(max(needed, 2 * room) - room, dtype=np.int64)
    return replace(search, order=np.concatenate([search.order, more]))


def _adaptively(search: ItemSearch, nodes: int, first: bool) -> ItemSearch:
    state, claims, path, order = search.state, search.claims, search.path, search.order
    if not search.opened:
        lowest, more = open_node(state, claims, path, order, 0, np.arange(len(state.owner)), search.lowest)
        return replace(search, opened=True, lowest=lowest, examined=more)
    depth, lowest, more = descend(state, claims, path, order, search.depth, search.lowest, nodes, first)
    return replace(search, depth=depth, lowest=lowest, examined=search.examined + more)
