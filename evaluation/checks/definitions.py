"""Every requirement's definition, written out again for the checker: in plain Python, group by group."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

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
from foreknow.evaluation.checks.belief_definitions import beliefs_moved, gained_over_the_share
from foreknow.evaluation.checks.label_definitions import ShownItems, levels_of_labels
from foreknow.models import Hierarchy, Release
from foreknow.models.arrays import FloatArray

SLACK = 1e-9

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


class Group(NamedTuple):
    """One group, as the checker sees it: its name, its published values and, where they were given, its members' priors."""

    name: Hashable
    values: list[Hashable]
    priors: list[list[float]] | None


class Published(NamedTuple):
    """All that the checker has: the published values and their domain; perhaps the release with its people, a prior, items."""

    everything: Sequence[Hashable]
    domain: Sequence[Hashable]
    release: Release | None
    prior: FloatArray | None
    items: ShownItems | None = None


type Level = Callable[[Group], float]


def holds(part: Requirement, level: float) -> bool:
    """Whether a level keeps to a requirement's bound."""
    if isinstance(part, RecursiveDiversity):
        return level < part.bound
    return level <= part.bound + SLACK if isinstance(part, AT_MOST) else level >= part.bound - SLACK


def attained(part: Requirement, published: Published) -> Level:
    """What a group attains of a requirement, as a function of the group.

    Raises
    ------
    ValueError
        If the requirement speaks of beliefs, and what it needs to know of them is not there.
    TypeError
        If the requirement is not one of those above, or about items, and none are published.
    """
    if isinstance(part, AllOf | AnyOf):
        inner = [(one, attained(one, published)) for one in part.parts]
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


def _of_values(part: Requirement, published: Published) -> Level:
    """What a group attains by its values alone."""
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
    whole = _shares(published.everything)
    if isinstance(part, TCloseness):
        distance = part.distance
        return lambda group: _transport(_shares(group.values), whole, published.domain, distance)
    if isinstance(part, BasicBetaLikeness | BetaLikeness):
        enhanced = isinstance(part, BetaLikeness)
        return lambda group: max(_smallest_beta(q, whole[s], enhanced) for s, q in _shares(group.values).items())
    raise TypeError(f"the checker does not know {part!r}; it knows the requirements of foreknow.defenses.")


def _of_members(part: BTPrivacy | PosteriorBound, published: Published) -> Level:
    """What a group attains by what is believed of each of its members."""
    release, prior = published.release, published.prior
    if release is None:
        raise ValueError(
            f"{type(part).__name__} speaks of beliefs about people, whom no published table shows; use verify with the release."
        )
    if isinstance(part, BTPrivacy):
        levels = beliefs_moved(part, release)
    elif prior is None:
        raise ValueError(
            "PosteriorBound speaks of beliefs, which no published table shows; give the checker the prior as well."
        )
    else:
        levels = gained_over_the_share(part, release, prior)
    by_group = dict[Hashable, float](enumerate(levels))
    return lambda group: by_group[group.name]


def _shares(members: Sequence[Hashable]) -> dict[Hashable, float]:
    return {value: count / len(members) for value, count in Counter(members).items()}


def _recursive(ranked: list[int], tail_from: int) -> float:
    tail = sum(ranked[tail_from:])
    return ranked[0] / tail if tail else math.inf


def _smallest_beta(q: float, p: float, enhanced: bool) -> float:
    """The smallest beta that allows a share q of a value whose share of the table is p; none does past the cap of -ln p."""
    if q <= p:
        return 0.0
    gain = (q - p) / p
    return math.inf if enhanced and gain > -math.log(p) + SLACK else gain


def _transport(
    group: Mapping[Hashable, float],
    whole: Mapping[Hashable, float],
    values: Sequence[Hashable],
    distance: "str | Hierarchy",
) -> float:
    """The earth mover's distance between two distributions."""
    excess = {value: group.get(value, 0.0) - whole.get(value, 0.0) for value in values}
    if distance == "equal":
        return sum(e for e in excess.values() if e > 0)
    if distance == "ordered":
        carried = total = 0.0
        for value in values[:-1]:
            carried += excess[value]
            total += abs(carried)
        return total / max(len(values) - 1, 1)
    assert isinstance(distance, Hierarchy)
    return _up_the_tree({str(value): e for value, e in excess.items()}, distance)


def _up_the_tree(excess: dict[str, float], hierarchy: Hierarchy) -> float:
    """What stays uneven below each node must be carried across it: half of the unevenness that its own children cancel."""
    tree, height, cost = hierarchy.tree, hierarchy.height, 0.0
    strangers = [value for value in excess if (0, value) not in tree]
    if strangers:
        raise ValueError(
            f"the requirement's hierarchy has no row for {strangers[0]!r}, a sensitive value; it must name them all."
        )
    net: dict[object, float] = {(0, value): e for value, e in excess.items()}
    for level in range(1, height + 1):
        for node in [node for node in tree if node[0] == level]:
            children = [net.get(child, 0.0) for child in tree.successors(node)]
            net[node] = sum(children)
            cost += (sum(map(abs, children)) - abs(net[node])) / 2 * level / height
    return cost


def _divergence(rows: list[list[float]] | None, base: float) -> float:
    if rows is None:
        raise ValueError(
            "JSimilarity speaks of beliefs, which no published table shows; give the checker the prior as well."
        )
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return max(0.0, _entropy(mean, base) - sum(_entropy(row, base) for row in rows) / len(rows))


def _entropy(row: Sequence[float], base: float) -> float:
    return -sum(p * math.log(p, base) for p in row if p > 0)
