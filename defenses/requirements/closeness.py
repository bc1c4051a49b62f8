"""Requirements on distributions: t-closeness, beta-likeness, J-similarity."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from foreknow.defenses.requirements.requirement import (
    LEVEL_TOLERANCE,
    CountsPredicate,
    GroupPredicate,
    Sense,
    bind_draws,
)
from foreknow.defenses.requirements.summary import DrawnPrior, Summary, entropy
from foreknow.models import Hierarchy, View
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.settings import MAX_FLOAT, check_range


@dataclass(frozen=True)
class TCloseness(CountsPredicate):
    """t-closeness: the earth mover's distance between the values of a group and of the whole table is at most t.

    Parameters
    ----------
    t : float
        At least 0; distances are at most 1.
    distance : "equal", "ordered" or Hierarchy
        Ground distance, the cost of moving a unit of probability between two values. It is 1 for "equal"; the difference of
        their ranks in the sensitive domain over m - 1 for "ordered"; the height of their lowest common ancestor over the
        tree's height for a hierarchy.

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

    def __post_init__(self) -> None:
        check_range("TCloseness", "t", self.t, 0, what="a distance")
        check_distance("TCloseness", self.distance)

    def __repr__(self) -> str:
        kind = "Hierarchy" if isinstance(self.distance, Hierarchy) else repr(self.distance)
        return f"TCloseness(t={self.t})" if self.distance == "equal" else f"TCloseness(t={self.t}, distance={kind})"

    def level(self, summary: Summary) -> FloatArray:
        """Earth mover's distance of each group from the table."""
        table = summary.table.shares
        if self.distance == "equal":
            return equal_distance(summary.counts, summary.size, table)
        excess = summary.counts / np.maximum(summary.size, 1)[:, None] - table
        if isinstance(self.distance, Hierarchy):
            return hierarchical_distance(excess, self.distance, tuple(map(str, summary.table.values)))
        return np.asarray(np.abs(np.cumsum(excess, axis=1)[:, :-1]).sum(axis=1) / max(excess.shape[1] - 1, 1))


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


@dataclass(frozen=True)
class BasicBetaLikeness(CountsPredicate):
    """Basic beta-likeness: the relative gain ``(q - p) / p`` of every value is at most beta.

    Here q is the value's share of the group and p its share of the table.

    Parameters
    ----------
    beta : float
        At least 0, finite.

    Notes
    -----
    The gain is relative, unlike the distance of t-closeness, so that rare values are protected as frequent ones are. Losses
    are not bounded. A group of one value satisfies if ``p >= 1 / (1 + beta)``; `BetaLikeness` excludes it.

    Monotone: the shares of a union are a mean of its parts' shares. Exact. Cost of a level: O(m) for each group.

    References
    ----------
    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, definition 2.
    """

    beta: float

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        check_range("BasicBetaLikeness", "beta", self.beta, 0, MAX_FLOAT, "a relative gain")

    def level(self, summary: Summary) -> FloatArray:
        """Smallest beta that each group satisfies; infinite if it shows a value that the table lacks."""
        return np.asarray(gains(summary).max(axis=1, initial=0.0))


@dataclass(frozen=True)
class BetaLikeness(CountsPredicate):
    """Enhanced beta-likeness: the relative gain ``(q - p) / p`` of every value is at most ``min(beta, -ln p)``.

    Here q is the value's share of the group and p its share of the table.

    Parameters
    ----------
    beta : float
        At least 0, finite.

    Notes
    -----
    The second bound is the smaller one for values with ``p > exp(-beta)``; it keeps q below 1 wherever p is.

    Monotone: the shares of a union are a mean of its parts' shares. Exact. Cost of a level: O(m) for each group.

    References
    ----------
    J. Cao, P. Karras, "Publishing Microdata with a Robust Privacy Guarantee", PVLDB 5(11), 2012, definition 3.
    """

    beta: float

    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        check_range("BetaLikeness", "beta", self.beta, 0, MAX_FLOAT, "a relative gain")

    def level(self, summary: Summary) -> FloatArray:
        """Smallest beta that each group satisfies; infinite if a gain exceeds ``-ln p``, which no beta allows."""
        gain, table = gains(summary), summary.table.counts
        most = np.log(np.maximum(table.sum(), 1)) - np.log(np.maximum(table, 1))
        return np.asarray(np.where(gain > most + LEVEL_TOLERANCE, np.inf, gain).max(axis=1, initial=0.0))


def gains(summary: Summary) -> FloatArray:
    """Relative gain of each value's share of a group on its share of the table: float array, shape ``(b, m)``.

    At least -1. For a value that the table lacks it is infinite if the group shows the value, and 0 otherwise.
    """
    expected = np.maximum(summary.size, 1)[:, None] * summary.table.shares
    lacking = np.where(summary.counts > 0, np.inf, 0.0)
    return np.asarray(np.divide(summary.counts - expected, expected, out=lacking, where=expected > 0))


@dataclass(frozen=True)
class JSimilarity(GroupPredicate):
    """J-similarity: the Jensen-Shannon divergence of the group members' priors, equally weighted, is at most j.

    ``JS = H(mean of the rows) - mean of H(row)``, between 0 and log k for k members.

    Parameters
    ----------
    j : float
        At least 0, in units of ``base``.
    base : float
        Base of the logarithm, above 1. JS-reduce names none and cites Lin (1991), where it is 2. A bound of 0.6 nats equals
        0.87 bits.

    Notes
    -----
    Not monotone: the priors of a union may differ more than those of its parts. Exact. The divergence is a function of two
    sums over the members, which add when groups merge; SciPy's ``rel_entr`` would need the members' rows. Cost of a level: O(m)
    for each group.

    References
    ----------
    D. Riboni, L. Pareschi, C. Bettini, "JS-Reduce: Defending Your Data from Sequential Background Knowledge Attacks", TDSC
    2012, section 6.2.
    """

    j: float
    base: float = 2.0

    sense: ClassVar[Sense] = "at most"
    is_monotone: ClassVar[bool] = False
    weighs_beliefs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_range("JSimilarity", "j", self.j, 0, what="a divergence")
        check_base("JSimilarity", self.base)

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:
        """The predicate itself, or its level over the draws of a `DrawnPrior`."""
        return bind_draws(self, view, prior) if isinstance(prior, DrawnPrior) else self

    def level(self, summary: Summary) -> FloatArray:
        """Divergence of the prior rows of each group, in units of the base."""
        size = np.maximum(summary.size, 1)
        # With s the sum of k rows and h the sum of their entropies, H(s / k) - h / k = (H(s) - h) / k + log k.
        bits = (entropy(summary.prior) - summary.entropy) / size + np.log2(size)
        return np.asarray(np.maximum(bits, 0.0) / math.log2(self.base))


def check_base(owner: str, base: Any) -> None:
    """Raise ValueError unless the base of a logarithm is a finite number above 1."""
    check_range(owner, "the logarithm's base", base, 1, MAX_FLOAT, excluded=(1,))
