"""t-closeness."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, override

import numpy as np

from foreknow.defenses.requirements.requirement import GroupPredicate, Sense, check_summary
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Hierarchy
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.settings import is_number


@dataclass(frozen=True)
class TCloseness(GroupPredicate):
    """t-closeness: the earth mover's distance between the values of a group and of the whole table is at most t.

    Parameters
    ----------
    t : float
        At least 0; distances are at most 1.
    distance : "equal", "ordered" or Hierarchy
        Ground distance, the cost of moving a unit of probability between two values. It is 1 for "equal"; the difference of
        their ranks in the sensitive domain over m - 1 for "ordered"; the height of their lowest common ancestor over the
        tree's height for a hierarchy.

    Raises
    ------
    ValueError
        If a setting is out of range. When evaluated, if the hierarchy lacks a sensitive value.

    Notes
    -----
    Monotone: the distance is convex, and the shares of a union are a mean of its parts' shares. Exact. JS-reduce states no
    ground distance; its values have no order, as in "equal". Cost of a level: O(m) for each group, O(m h) with a hierarchy
    of height h.

    References
    ----------
    N. Li, T. Li, S. Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity", ICDE 2007.

    Examples
    --------
    >>> TCloseness(0.5)
    TCloseness(t=0.5)
    """

    t: float
    distance: "Literal['equal', 'ordered'] | Hierarchy" = "equal"

    sense: ClassVar[Sense] = "at most"
    reads_prior: ClassVar[bool] = False
    is_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_number(self.t, 0):
            raise ValueError(f"TCloseness: t is {self.t!r}; it is a distance, 0 or more.")
        check_distance("TCloseness", self.distance)

    def __repr__(self) -> str:
        kind = "Hierarchy" if isinstance(self.distance, Hierarchy) else repr(self.distance)
        return f"TCloseness(t={self.t})" if self.distance == "equal" else f"TCloseness(t={self.t}, distance={kind})"

    @property
    @override
    def bound(self) -> float:
        return float(self.t)

    def level(self, summary: Summary) -> FloatArray:
        """Earth mover's distance of each group from the table."""
        check_summary(self, summary)
        table = summary.table.counts / summary.table.counts.sum()
        if self.distance == "equal":
            return equal_distance(summary.counts, summary.size, table)
        excess = summary.counts / np.maximum(summary.size, 1)[:, None] - table
        if isinstance(self.distance, Hierarchy):
            return hierarchical_distance(excess, self.distance, tuple(map(str, summary.table.values)))
        return ordered_distance(excess)


def check_distance(owner: str, distance: Any) -> None:
    """Raise ValueError unless a ground distance is "equal", "ordered" or a hierarchy."""
    if not (isinstance(distance, Hierarchy) or (isinstance(distance, str) and distance in ("equal", "ordered"))):
        raise ValueError(f"{owner}: distance is {distance!r}; it is 'equal', 'ordered' or a Hierarchy.")


@compiled
def equal_distance(counts: IntArray, size: IntArray, table: FloatArray) -> FloatArray:
    """Total variation distance between groups' shares and the table's: ``(b, m)`` to ``(b,)``.

    Compiled, since growing groups evaluates it for every candidate; it makes no array of shares.
    """
    distance = np.zeros(len(counts))
    for i in range(len(counts)):
        for s in range(len(table)):
            distance[i] += abs(counts[i, s] / max(size[i], 1) - table[s]) / 2
    return distance


def ordered_distance(excess: FloatArray) -> FloatArray:
    """Sum of the absolute cumulative sums of excess shares, over m - 1: ``(b, m)`` to ``(b,)``."""
    steps = max(excess.shape[1] - 1, 1)
    return np.asarray(np.abs(np.cumsum(excess, axis=1)[:, :-1]).sum(axis=1) / steps)


def hierarchical_distance(excess: FloatArray, hierarchy: Hierarchy, values: tuple[str, ...]) -> FloatArray:
    """Earth mover's distance over a tree, from excess shares: ``(b, m)`` to ``(b,)``.

    Each inner node costs its height over the tree's height, times the smaller of its children's surplus and deficit (Li, Li,
    Venkatasubramanian, 2007, section 5.2).
    """
    return _tree_cost(np.ascontiguousarray(excess), *_parents(hierarchy, values))


@lru_cache(maxsize=64)
def _parents(hierarchy: Hierarchy, values: tuple[str, ...]) -> tuple[IntArray, IntArray]:
    """Parent of each node of a tree, shape ``(height, m)``, and the number of nodes at each height; height 0 has the values.

    Cached: defenses evaluate thousands of batches over one tree.
    """
    place = {leaf: position for position, leaf in enumerate(hierarchy.leaves)}
    missing = [value for value in values if value not in place]
    if missing:
        raise ValueError(f"the hierarchy of TCloseness has no row for the sensitive value {missing[0]!r}; add it.")
    levels = hierarchy.levels()[:, [place[value] for value in values]]
    levels[0] = np.arange(len(values))
    parents = np.zeros((hierarchy.height, len(hierarchy.leaves)), dtype=np.int64)
    for below, above, children in zip(levels[:-1], levels[1:], parents, strict=True):
        children[below] = above
    return parents, levels.max(axis=1) + 1


@compiled
def _tree_cost(excess: FloatArray, parents: IntArray, nodes: IntArray) -> FloatArray:
    """Cost of each group, height by height: surplus and deficit of the children cancel at their parent."""
    cost = np.zeros(len(excess))
    for i in range(len(excess)):
        children = excess[i]
        for h in range(len(parents)):
            surplus, deficit = np.zeros(nodes[h + 1]), np.zeros(nodes[h + 1])
            for child in range(nodes[h]):
                if children[child] > 0.0:
                    surplus[parents[h, child]] += children[child]
                else:
                    deficit[parents[h, child]] -= children[child]
            for node in range(nodes[h + 1]):
                cost[i] += min(surplus[node], deficit[node]) * (h + 1) / len(parents)
            children = surplus - deficit
    return cost
