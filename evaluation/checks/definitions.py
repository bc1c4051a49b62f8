"""Definitions of the requirements, written independently for the checker, group by group, in plain Python where it is fast enough.

Nothing here calls the code that enforces a requirement: senses, tolerance and divergence are written out a second time.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import entr

from foreknow.defenses import (
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
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.models import Categorical, ExternalKnowledge, Hierarchy, Numeric, Problem, Release, View
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


type Belief = Mapping[Hashable, float]
"""Probability of each label and of none; labels of probability 0 may be left out."""


class ShownItems(NamedTuple):
    """Public table with a column of items, and the prior belief in labels."""

    table: pd.DataFrame  # the public table
    # column, separator: its column of items, and the text between two items of a cell
    column: str
    separator: str
    original: Iterable[Any]  # cells of that column before any item was removed, for a prior that is computed from them
    prior: Belief | None  # prior belief in each label and none; None if it is computed


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


def is_defined(part: Requirement) -> bool:
    """Return whether `level_of` has a definition of a requirement on a table without items."""
    if isinstance(part, AllOf | AnyOf):
        return all(map(is_defined, part.parts))
    on_items = isinstance(part, QSDiversity | QSCloseness)
    return type(part) in OF_GROUP_ALONE or (isinstance(part, (*AT_MOST, RecursiveDiversity)) and not on_items)


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
        return lambda group: _divergence(group.priors, part.base)
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


OF_GROUP_ALONE: dict[type[Requirement], Callable[[Sequence[Hashable]], float]] = {
    KAnonymity: len,
    DistinctDiversity: lambda values: len(set(values)),
    FrequencyDiversity: lambda values: 1 / max(_shares(values).values()),
    EntropyDiversity: lambda values: math.exp(-sum(q * math.log(q) for q in _shares(values).values())),
}
"""Levels that depend on the values of the group alone."""


def _of_values(part: Requirement, published: CheckedTable) -> Level:
    """Level of a requirement on sensitive values alone."""
    if type(part) in OF_GROUP_ALONE:
        return lambda group: float(OF_GROUP_ALONE[type(part)](group.values))
    if isinstance(part, RecursiveDiversity):
        return lambda group: _recursive(sorted(Counter(group.values).values(), reverse=True), int(part.l) - 1)
    table = _shares(published.shown) if published.shares is None else published.shares
    if isinstance(part, TCloseness):
        return lambda group: _transport(_shares(group.values), table, published.domain, part.distance)
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
    levels = (
        posterior_gains(part, problem, members, published.domain)
        if isinstance(part, PosteriorBound)
        else belief_divergences(part, problem, members, published.domain)
    )
    by_group = dict[Hashable, float](enumerate(levels))
    return lambda group: by_group[group.name]


def _member_problem(part: BTPrivacy | PosteriorBound, published: CheckedTable) -> tuple[Problem, int]:
    """Priors, groups and counts by which a requirement judges the members, and the number of members, without counterfeits."""
    if published.problem is not None:
        return published.problem, len(published.problem.group)
    release, prior = published.release, published.prior
    bandwidth = part.bandwidth if isinstance(part, BTPrivacy) else None
    if release is not None and bandwidth is not None:
        prior = kernel_prior(release.view, bandwidth)
    if release is None or prior is None:
        raise ValueError(
            f"{type(part).__name__} speaks of beliefs, which no published table shows; use verify with the release and the prior."
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


def posterior_gains(part: PosteriorBound, problem: Problem, members: int, domain: Sequence[Hashable]) -> list[float]:
    """Level of a posterior bound for each group: the largest bounded posterior of a member, or gain over the group's share.

    The first ``members`` rows of the problem are people; those after them are counterfeits.
    """
    group, bounded = problem.group[:members].tolist(), len(domain)
    if part.sensitive_set is not None:
        classes = np.array(
            [[int(value in part.sensitive_set), int(value not in part.sensitive_set)] for value in domain]
        )
        problem, bounded = Problem(problem.prior @ classes, problem.group, problem.counts @ classes), 1
    posterior, shown = part.estimator(problem).probabilities.tolist(), problem.counts.tolist()
    gains = [-math.inf] * len(shown)
    for row, own in enumerate(group):
        if own >= 0:
            shares = [n / sum(shown[own]) if part.quantity == "gain" else 0.0 for n in shown[own]]
            beyond = (p - share for p, share in zip(posterior[row][:bounded], shares[:bounded], strict=True))
            gains[own] = max(gains[own], *beyond)
    return gains


def belief_divergences(part: BTPrivacy, problem: Problem, members: int, values: Sequence[Hashable]) -> list[float]:
    """Level of (B, t)-privacy for each group: the largest divergence of a member's prior and posterior, both smoothed.

    The prior of the problem is that of the kernel, or the given one where the requirement has no bandwidth. Its first ``members``
    rows are people. Cost: O(n m^2).
    """
    prior, posterior = problem.prior.tolist(), part.estimator(problem).probabilities.tolist()
    weights = [[_kernel(_value_distance(values, r, s, part.distance), part.smoothing) for s in values] for r in values]
    largest = [-math.inf] * len(problem.counts)
    for row, own in enumerate(problem.group[:members].tolist()):
        if own >= 0:
            before, after = _smoothed(prior[row], weights), _smoothed(posterior[row], weights)
            largest[own] = max(largest[own], _jensen_shannon(before, after, part.base))
    return largest


def kernel_prior(view: View, bandwidth: "float | Mapping[str, float]") -> FloatArray:
    """Kernel prior of a view: for each record, shares of the values, every record weighted by its kernel: shape ``(n, m)``.

    Cost: O(n N) for N distinct vectors of quasi-identifiers among the n records.
    """
    columns = {name: view.people.frame[name].tolist() for name in view.schema.quasi_identifiers}
    cells = {name: list(dict.fromkeys(column)) for name, column in columns.items()}
    number = {name: {cell: i for i, cell in enumerate(some)} for name, some in cells.items()}
    places = {name: np.array([number[name][cell] for cell in column]) for name, column in columns.items()}
    shares: dict[tuple[Any, ...], FloatArray] = {}
    records = list(zip(*columns.values(), strict=True))
    for vector in dict.fromkeys(records):
        weights = np.ones(len(view))
        for (name, kind), cell in zip(view.schema.quasi_identifiers.items(), vector, strict=True):
            size = bandwidth[name] if isinstance(bandwidth, Mapping) else bandwidth
            weights *= np.array([_kernel(_cell_distance(kind, cell, other), size) for other in cells[name]])[
                places[name]
            ]
        sums = np.array([weights[view.sensitive == s].sum() for s in range(len(view.schema.values))])
        shares[vector] = sums / sums.sum()
    return np.array([shares[vector] for vector in records])


def _kernel(distance: float, size: float) -> float:
    return 1 - (distance / size) ** 2 if distance < size else 0.0


def _cell_distance(kind: Numeric | Categorical, cell: Any, other: Any) -> float:
    """Distance of two cells of a quasi-identifier, from 0 to 1."""
    if isinstance(kind, Categorical):
        return float(cell != other) if kind.hierarchy is None else _common_height(kind.hierarchy, cell, other)
    low, high = kind.bounds
    return float(abs(cell - other) / (high - low)) if high > low else 0.0


def _value_distance(values: Sequence[Hashable], r: Hashable, s: Hashable, distance: "str | Hierarchy") -> float:
    """Distance of two sensitive values, from 0 to 1."""
    if isinstance(distance, Hierarchy):
        return _common_height(distance, r, s)
    return float(r != s) if distance == "equal" else abs(values.index(r) - values.index(s)) / max(len(values) - 1, 1)


def _common_height(hierarchy: Hierarchy, r: Hashable, s: Hashable) -> float:
    """Height of the lowest common label of two values, over the root's height."""
    first, second = (next(row for row in hierarchy.rows if row[0] == str(value)) for value in (r, s))
    return next(h for h in range(len(first)) if first[h] == second[h]) / (len(first) - 1)


def _smoothed(row: Sequence[float], weights: Sequence[Sequence[float]]) -> list[float]:
    means = [sum(w * p for w, p in zip(line, row, strict=True)) / sum(line) for line in weights]
    return [mean / sum(means) for mean in means]


def _jensen_shannon(before: Sequence[float], after: Sequence[float], base: float) -> float:
    """Mean of the relative entropies of two distributions to their mean."""
    mean = [(p + q) / 2 for p, q in zip(before, after, strict=True)]
    return sum(
        p * math.log(p / m, base) / 2 for row in (before, after) for p, m in zip(row, mean, strict=True) if p > 0
    )


NONE = "none"
"""Name of the outcome that a record links to no label; no label has this name."""


def levels_of_labels(part: QSDiversity | QSCloseness, shown: ShownItems) -> dict[Hashable, float]:
    """Level of each group in a requirement on labels, from its published items and the external knowledge alone.

    Cost: O(e) for each item of a record.
    """
    if part.linking.items != shown.column:
        raise ValueError(
            f"{part!r} is about the items of {part.linking.items!r}, and those of {shown.column!r} are published; ask about these."
        )
    linker = _Linker(part.linking.knowledge, shown.separator)
    groups: dict[Hashable, list[Belief]] = {}
    for group, cell in zip(shown.table["group"].tolist(), shown.table[shown.column].tolist(), strict=True):
        groups.setdefault(group, []).append(linker.belief(cell))
    if isinstance(part, QSDiversity):
        l, printed = int(part.l), part.as_printed  # noqa: E741
        return {group: _ratio(_mean(members), l, printed) for group, members in groups.items()}
    prior = shown.prior if shown.prior is not None else _prior(linker, shown.original, part.prior)
    return {group: _distance(_mean(members), prior) for group, members in groups.items()}


class _Linker:
    """External knowledge by item, to link the cells of a public table."""

    def __init__(self, knowledge: ExternalKnowledge, separator: str) -> None:
        self.all_labels = set(knowledge.items_of)
        self.labels_of: dict[str, set[Hashable]] = defaultdict(set)
        for label, items in knowledge.items_of.items():
            for item in items:
                self.labels_of[str(item)].add(label)
        self.prevalence = knowledge.prevalence or dict.fromkeys(self.all_labels, 1.0)
        self.separator = separator

    def labels(self, cell: Any) -> set[Hashable]:
        """Labels whose items include every item of a cell."""
        return self.all_labels.intersection(
            *sorted((self.labels_of.get(item, set()) for item in self._items(cell)), key=len)
        )

    def belief(self, cell: Any) -> Belief:
        """Probability of each label for a record with the items of a cell."""
        labels = self.labels(cell)
        total = math.fsum(self.prevalence[label] for label in labels)
        return {label: self.prevalence[label] / total for label in labels} if labels else {NONE: 1.0}

    def _items(self, cell: Any) -> list[str]:
        if isinstance(cell, str):
            return [part.strip() for part in cell.split(self.separator) if part.strip()]
        return [str(item) for item in cell] if isinstance(cell, Iterable) else []


def _prior(linker: _Linker, original: Iterable[Any], reading: str) -> Belief:
    """Prior belief in each label, in one of the readings of `LinkingAttack`."""
    if reading == "uniform":
        total = math.fsum(linker.prevalence[label] for label in linker.all_labels)
        return {label: linker.prevalence[label] / total for label in linker.all_labels}
    if reading == "fractional":
        return _mean([linker.belief(cell) for cell in original])
    counted: dict[Hashable, int] = defaultdict(int)
    for cell in original:
        for label in linker.labels(cell) or {NONE}:
            counted[label] += 1
    return {label: count / sum(counted.values()) for label, count in counted.items()}


def _mean(members: list[Belief]) -> Belief:
    """Mean belief of the records of a group."""
    by_label: dict[Hashable, list[float]] = defaultdict(list)
    for belief in members:
        for label, p in belief.items():
            by_label[label].append(p)
    return {label: math.fsum(values) / len(members) for label, values in by_label.items()}


def _ratio(belief: Belief, l: int, as_printed: bool) -> float:  # noqa: E741
    """Smallest c for which a belief is (c, l)-diverse (Definition 3)."""
    p = sorted(belief.values(), reverse=True)
    right = p[0] + math.fsum(p[l:]) if as_printed else math.fsum(p[l - 1 :])
    return p[0] / right if right else math.inf


def _distance(belief: Belief, prior: Belief) -> float:
    """Euclidean distance of two beliefs (Definition 4)."""
    labels = {*belief, *prior}
    return math.dist([belief.get(one, 0.0) for one in labels], [prior.get(one, 0.0) for one in labels])
