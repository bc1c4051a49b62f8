"""Definitions of the requirements, written independently for the checker, group by group, in plain Python where it is fast enough.

Nothing here calls the code that enforces a requirement: senses, tolerance and divergence are written out a second time.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from foreknow.defenses import (
    AllOf,
    AnyOf,
    BasicBetaLikeness,
    BetaLikeness,
    BTPrivacy,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    JSimilarity,
    KAnonymity,
    PosteriorBound,
    QSCloseness,
    QSDiversity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from foreknow.evaluation.checks.belief_definitions import belief_divergences, kernel_prior, posterior_gains
from foreknow.evaluation.checks.label_definitions import ShownItems, levels_of_labels
from foreknow.models import Hierarchy, Problem, Release
from foreknow.models.arrays import FloatArray

LEVEL_TOLERANCE = 1e-9
"""Largest distance by which a level may miss its bound and still satisfy."""

AT_MOST = (
    TCloseness,
    JSimilarity,
    BasicBetaLikeness,
    BetaLikeness,
    BTPrivacy,
    PosteriorBound,
    QSDiversity,
    QSCloseness,
)
"""Requirements whose level is at most the bound. `RecursiveDiversity` is below it; all others are at least the bound."""


class Group(NamedTuple):
    """A group as the checker reads it: its name, its published values and, if given, the priors of its members."""

    name: Hashable
    values: list[Hashable]
    priors: ArrayLike | None


class CheckedTable(NamedTuple):
    """Input of the checker: the published values, their domain and, if given, the release, a prior and published items.

    ``shares`` are those of the values in the whole table, where ``shown`` is a part of it. ``problem`` has the priors, groups and
    counts of the members where there is no release: the names of the groups are their numbers.
    """

    shown: Sequence[Hashable]
    domain: Sequence[Hashable]
    release: Release | None
    prior: FloatArray | None
    items: ShownItems | None = None
    shares: Mapping[Hashable, float] | None = None
    problem: Problem | None = None


type Level = Callable[[Group], float]


def holds(part: Requirement, level: float) -> bool:
    """Return whether a level satisfies the bound of a requirement."""
    if isinstance(part, RecursiveDiversity):
        return level < part.bound
    return level <= part.bound + LEVEL_TOLERANCE if isinstance(part, AT_MOST) else level >= part.bound - LEVEL_TOLERANCE


def level_of(part: Requirement, published: CheckedTable) -> Level:
    """Level of a requirement, as a function of a group.

    Raises
    ------
    ValueError
        If the requirement is on beliefs and the release or the prior is missing.
    TypeError
        If the requirement has no definition here, or it is on items and none are published.
    """
    if isinstance(part, AllOf | AnyOf):
        inner = [(one, level_of(one, published)) for one in part.parts]
        return lambda group: float(sum(holds(one, level(group)) for one, level in inner))
    if isinstance(part, JSimilarity):
        base = part.base
        return lambda group: _divergence(group.priors, base)
    if isinstance(part, BTPrivacy | PosteriorBound):
        return _of_members(part, published)
    if isinstance(part, QSDiversity | QSCloseness):
        if published.items is None:
            raise TypeError(
                f"{part!r} is about items, which this release does not show; use verify_items with an ItemRelease."
            )
        of_labels = levels_of_labels(part, published.items)
        return lambda group: of_labels[group.name]
    return _of_values(part, published)


def _of_values(part: Requirement, published: CheckedTable) -> Level:
    """Level of a requirement on sensitive values alone."""
    if isinstance(part, KAnonymity):
        return lambda group: float(len(group.values))
    if isinstance(part, DistinctDiversity):
        return lambda group: float(len(set(group.values)))
    if isinstance(part, FrequencyDiversity):
        return lambda group: 1 / max(_shares(group.values).values())
    if isinstance(part, EntropyDiversity):
        return lambda group: math.exp(-sum(q * math.log(q) for q in _shares(group.values).values()))
    if isinstance(part, RecursiveDiversity):
        tail_from = int(part.l) - 1
        return lambda group: _recursive(sorted(Counter(group.values).values(), reverse=True), tail_from)
    table = _shares(published.shown) if published.shares is None else published.shares
    if isinstance(part, TCloseness):
        distance = part.distance
        return lambda group: _transport(_shares(group.values), table, published.domain, distance)
    if isinstance(part, BasicBetaLikeness | BetaLikeness):
        enhanced = isinstance(part, BetaLikeness)
        return lambda group: max(_smallest_beta(q, table[s], enhanced) for s, q in _shares(group.values).items())
    raise TypeError(
        f"the checker does not know {part!r}; it has the requirements of foreknow.defenses. To check a defense against a "
        "requirement of your own, call foreknow.testing.check_defense(..., promises=...)."
    )


def _of_members(part: BTPrivacy | PosteriorBound, published: CheckedTable) -> Level:
    """Level of a requirement on the beliefs about each member."""
    problem, members = _member_problem(part, published)
    if isinstance(part, PosteriorBound):
        levels = posterior_gains(part, problem, members, published.domain)
    else:
        levels = belief_divergences(part, problem, members, published.domain)
    by_group = dict[Hashable, float](enumerate(levels))
    return lambda group: by_group[group.name]


def _member_problem(part: BTPrivacy | PosteriorBound, published: CheckedTable) -> tuple[Problem, int]:
    """Priors, groups and counts by which a requirement judges the members, and the number of members, without counterfeits."""
    if published.problem is not None:
        return published.problem, len(published.problem.group)
    release, prior = published.release, published.prior
    if release is None:
        raise ValueError(
            f"{type(part).__name__} speaks of beliefs about people, whom no published table shows; use verify with the release."
        )
    if isinstance(part, BTPrivacy) and part.bandwidth is not None:
        prior = kernel_prior(release.view, part.bandwidth)
    if prior is None:
        raise ValueError(
            f"{type(part).__name__} speaks of beliefs, which no published table shows; give the checker the prior as well."
        )
    return release.observation.problem(prior), len(release.group)


def _shares(members: Sequence[Hashable]) -> dict[Hashable, float]:
    return {value: count / len(members) for value, count in Counter(members).items()}


def _recursive(ranked: list[int], tail_from: int) -> float:
    tail = sum(ranked[tail_from:])
    return ranked[0] / tail if tail else math.inf


def _smallest_beta(q: float, p: float, enhanced: bool) -> float:
    """Smallest beta that allows a share q of a value with share p of the table; infinite if enhanced and over -ln p."""
    if q <= p:
        return 0.0
    gain = (q - p) / p
    return math.inf if enhanced and gain > -math.log(p) + LEVEL_TOLERANCE else gain


def _transport(
    group: Mapping[Hashable, float],
    table: Mapping[Hashable, float],
    values: Sequence[Hashable],
    distance: "str | Hierarchy",
) -> float:
    """Earth mover's distance between two distributions."""
    excess = {value: group.get(value, 0.0) - table.get(value, 0.0) for value in values}
    if distance == "equal":
        return sum(e for e in excess.values() if e > 0)
    if distance == "ordered":
        carried = total = 0.0
        for value in values[:-1]:
            carried += excess[value]
            total += abs(carried)
        return total / max(len(values) - 1, 1)
    assert isinstance(distance, Hierarchy)
    return _tree_transport({str(value): e for value, e in excess.items()}, distance)


def _tree_transport(excess: dict[str, float], hierarchy: Hierarchy) -> float:
    """Earth mover's distance over a tree: at each node, half of the excess that cancels among its children, times its height."""
    tree, height, cost = hierarchy.tree, hierarchy.height, 0.0
    missing = [value for value in excess if (0, value) not in tree]
    if missing:
        raise ValueError(
            f"the requirement's hierarchy has no row for {missing[0]!r}, a sensitive value; it must name them all."
        )
    net: dict[object, float] = {(0, value): e for value, e in excess.items()}
    for level in range(1, height + 1):
        for node in [node for node in tree if node[0] == level]:
            children = [net.get(child, 0.0) for child in tree.successors(node)]
            net[node] = sum(children)
            cost += (sum(map(abs, children)) - abs(net[node])) / 2 * level / height
    return cost


def _divergence(priors: ArrayLike | None, base: float) -> float:
    """Jensen-Shannon divergence of equally weighted distributions: entropy of their mean less the mean of their entropies."""
    if priors is None:
        raise ValueError(
            "JSimilarity speaks of beliefs, which no published table shows; give the checker the prior as well."
        )
    rows = np.asarray(priors, dtype=np.float64)
    nats = entr(rows.mean(axis=0)).sum() - entr(rows).sum() / len(rows)
    return max(0.0, float(nats) / math.log(base))
