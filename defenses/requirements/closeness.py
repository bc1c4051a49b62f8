"""t-closeness: a group's values are distributed as the table's (Li, Li, Venkatasubramanian, ICDE 2007)."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary
from foreknow.models import Hierarchy
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.settings import is_number


@dataclass(frozen=True)
class TCloseness(Requirement):
    """The earth mover's distance between a group's distribution of values and the whole table's is at most t.

    Parameters
    ----------
    t : float
        0 or more; distances are at most 1.
    distance : "equal", "ordered" or Hierarchy
        What it costs to move a unit of probability between two values: 1 (JS-reduce states no form; its values have no
        order); their distance in the order of the sensitive domain, over m - 1; or the height of their lowest common
        ancestor over the tree's.
    """

    t: float
    distance: "Literal['equal', 'ordered'] | Hierarchy" = "equal"

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        if not is_number(self.t, 0):
            raise ValueError(f"TCloseness: t is {self.t}; it is a distance, 0 or more.")
        if not (self.distance in ("equal", "ordered") or isinstance(self.distance, Hierarchy)):
            raise ValueError(f"TCloseness: distance is {self.distance!r}; it is 'equal', 'ordered' or a Hierarchy.")

    def __repr__(self) -> str:
        kind = "Hierarchy" if isinstance(self.distance, Hierarchy) else repr(self.distance)
        return f"TCloseness(t={self.t})" if self.distance == "equal" else f"TCloseness(t={self.t}, distance={kind})"

    @property
    def bound(self) -> float:
        """The distance t."""
        return float(self.t)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The earth mover's distance of each group."""
        table = summary.whole.counts / summary.whole.counts.sum()
        if self.distance == "equal":
            return equal_distance(summary.counts, summary.size, table)
        excess = summary.counts / np.maximum(summary.size, 1)[:, None] - table
        if isinstance(self.distance, Hierarchy):
            return hierarchical_distance(excess, self.distance, tuple(map(str, summary.whole.values)))
        return ordered_distance(excess)


@compiled
def equal_distance(counts: IntArray, size: IntArray, table: FloatArray) -> FloatArray:
    """Half the sum of the absolute differences of shares: the distance where any move costs 1. ``(b, m)`` to ``(b,)``."""
    distance = np.zeros(len(counts))
    for i in range(len(counts)):
        for s in range(len(table)):
            distance[i] += abs(counts[i, s] / max(size[i], 1) - table[s]) / 2
    return distance


def ordered_distance(excess: FloatArray) -> FloatArray:
    """The mean absolute running sum of the excesses, over m - 1: a move costs the ranks it passes."""
    steps = max(excess.shape[1] - 1, 1)
    return np.asarray(np.abs(np.cumsum(excess, axis=1)[:, :-1]).sum(axis=1) / steps)


def hierarchical_distance(excess: FloatArray, hierarchy: Hierarchy, values: tuple[str, ...]) -> FloatArray:
    """What it costs to even out the excesses over a tree: at each node, what its children exchange.

    Each inner node costs its height over the tree's, times the smaller of the children's surplus and deficit (Li, Li,
    Venkatasubramanian, section 5.2).
    """
    return _up_the_tree(np.ascontiguousarray(excess), *_parents(hierarchy, values))


@lru_cache(maxsize=64)
def _parents(hierarchy: Hierarchy, values: tuple[str, ...]) -> tuple[IntArray, IntArray]:
    """The parent of each node of a tree, shape ``(height, m)``, and each height's number of nodes; those at 0 are the values.

    Defenses judge thousands of batches by one tree.
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
def _up_the_tree(excess: FloatArray, parents: IntArray, nodes: IntArray) -> FloatArray:
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
