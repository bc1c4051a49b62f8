"""Definitions of the requirements on labels for the independent checker: sets of items, one published record after the other."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from foreknow.defenses import QSCloseness, QSDiversity
from foreknow.models import ExternalKnowledge

NONE = "none"
"""Name of the outcome that a record links to no label; no label has this name."""

type Belief = Mapping[Hashable, float]
"""Probability of each label and of none; labels of probability 0 may be left out."""


class ShownItems(NamedTuple):
    """Public table with a column of items, and the prior belief in labels.

    Attributes
    ----------
    table : DataFrame
        The public table.
    column, separator : str
        Its column of items, and the text between two items of a cell.
    original : iterable
        Cells of that column before any item was removed, for a prior that is computed from them.
    prior : mapping of label to float, optional
        Prior belief in each label and none; None if it is computed.
    """

    table: pd.DataFrame
    column: str
    separator: str
    original: Iterable[Any]
    prior: Belief | None


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
        return self.all_labels.intersection(*(self.labels_of.get(item, set()) for item in self._items(cell)))

    def belief(self, cell: Any) -> Belief:
        """Probability of each label for a record with the items of a cell."""
        labels = self.labels(cell)
        total = math.fsum(self.prevalence[label] for label in labels)
        return {label: self.prevalence[label] / total for label in labels} if labels else {NONE: 1.0}

    def _items(self, cell: Any) -> list[str]:
        """Texts of the items of a cell."""
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
    return math.dist(*zip(*((belief.get(one, 0.0), prior.get(one, 0.0)) for one in {*belief, *prior}), strict=True))
