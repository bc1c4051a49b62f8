"""What requirements on labels say, written out again for the checker: sets of items, one published record after the other."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from foreknow.defenses import QSCloseness, QSDiversity
from foreknow.models import ExternalKnowledge

NONE = "none"
"""No label: no label is called so."""

type Belief = Mapping[Hashable, float]
"""How likely each label is, none among them."""


class ShownItems(NamedTuple):
    """What the checker has of items: the public table, with the column that lists them; and what was believed of labels.

    ``original`` are the cells of that column before any item was left out, for a prior that is made of them.
    """

    table: pd.DataFrame
    column: str
    separator: str
    original: Iterable[Any]
    prior: Belief | None


def levels_of_labels(part: QSDiversity | QSCloseness, shown: ShownItems) -> dict[Hashable, float]:
    """Per group: what it attains of a requirement on labels, by its published items and the public knowledge alone.

    Cost: O(e) for each item of a record.
    """
    if part.linking.items != shown.column:
        raise ValueError(
            f"{part!r} is about the items of {part.linking.items!r}, and those of {shown.column!r} are published; ask about these."
        )
    linked = _Linked(part.linking.knowledge, shown.separator)
    groups: dict[Hashable, list[Belief]] = {}
    for group, cell in zip(shown.table["group"].tolist(), shown.table[shown.column].tolist(), strict=True):
        groups.setdefault(group, []).append(linked.belief(cell))
    if isinstance(part, QSDiversity):
        l, printed = int(part.l), part.as_printed  # noqa: E741
        return {group: _ratio(_mean(members), l, printed) for group, members in groups.items()}
    before = shown.prior if shown.prior is not None else _before(linked, shown.original, part.prior)
    return {group: _distance(_mean(members), before) for group, members in groups.items()}


class _Linked:
    """What the public makes of a cell of items."""

    def __init__(self, knowledge: ExternalKnowledge, separator: str) -> None:
        self.every = set(knowledge.items_of)
        self.goes_with: dict[str, set[Hashable]] = defaultdict(set)
        for label, items in knowledge.items_of.items():
            for item in items:
                self.goes_with[str(item)].add(label)
        self.prevalence = knowledge.prevalence or dict.fromkeys(self.every, 1.0)
        self.separator = separator

    def labels(self, cell: Any) -> set[Hashable]:
        """The labels that go with every item of a cell."""
        return self.every.intersection(*(self.goes_with.get(item, set()) for item in self._items(cell)))

    def belief(self, cell: Any) -> Belief:
        """How likely each label is of whoever has the items of a cell."""
        labels = self.labels(cell)
        total = math.fsum(self.prevalence[label] for label in labels)
        return {label: self.prevalence[label] / total for label in labels} if labels else {NONE: 1.0}

    def _items(self, cell: Any) -> list[str]:
        if isinstance(cell, str):
            return [part.strip() for part in cell.split(self.separator) if part.strip()]
        return [str(item) for item in cell] if isinstance(cell, Iterable) else []


def _before(linked: _Linked, original: Iterable[Any], reading: str) -> Belief:
    """The prior belief in each label, in one of the readings of `LinkingAttack`."""
    if reading == "uniform":
        total = math.fsum(linked.prevalence[label] for label in linked.every)
        return {label: linked.prevalence[label] / total for label in linked.every}
    if reading == "fractional":
        return _mean([linked.belief(cell) for cell in original])
    counted: dict[Hashable, int] = defaultdict(int)
    for cell in original:
        for label in linked.labels(cell) or {NONE}:
            counted[label] += 1
    return {label: count / sum(counted.values()) for label, count in counted.items()}


def _mean(members: list[Belief]) -> Belief:
    found: dict[Hashable, list[float]] = defaultdict(list)
    for belief in members:
        for label, p in belief.items():
            found[label].append(p)
    return {label: math.fsum(some) / len(members) for label, some in found.items()}


def _ratio(belief: Belief, l: int, as_printed: bool) -> float:  # noqa: E741
    p = sorted(belief.values(), reverse=True)
    right = p[0] + math.fsum(p[l:]) if as_printed else math.fsum(p[l - 1 :])
    return p[0] / right if right else math.inf


def _distance(belief: Belief, before: Belief) -> float:
    return math.dist(*zip(*((belief.get(one, 0.0), before.get(one, 0.0)) for one in {*belief, *before}), strict=True))
