"""A public table of what items give away: sensitive labels, and the items that go with each."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.quasi_sensitive.items import Items


@dataclass(frozen=True, eq=False)
class ExternalKnowledge:
    """Which items go with which sensitive label: diseases and their symptoms, say (quasi-sensitive attributes, section 2.1).

    Parameters
    ----------
    items_of : mapping of label to collection of items
        Every label once, each with an item or more. A record with some items can be linked to the labels that go with all
        of them.
    prevalence : mapping of label to float, optional
        How common each label is, relative to the others; over 0. The labels that a record links to are as likely as they are
        common; left out, equally likely, as the paper has it.

    Raises
    ------
    ValueError
        If there is no label, a label has no item, or a prevalence is missing or not over 0.

    Examples
    --------
    >>> ExternalKnowledge({"flu": ["cough", "headache"], "hepatitis B": ["vomiting", "dark urine"]})
    ExternalKnowledge(2 labels, 4 items)
    """

    items_of: Mapping[Hashable, Iterable[Hashable]]
    prevalence: Mapping[Hashable, float] | None = None

    def __post_init__(self) -> None:
        listed = {label: tuple(dict.fromkeys(Items.of([items])[0])) for label, items in self.items_of.items()}
        if not listed:
            raise ValueError("ExternalKnowledge: there is no label; name one, with the items that go with it.")
        empty = [label for label, items in listed.items() if not items]
        if empty:
            raise ValueError(
                f"ExternalKnowledge: the label {empty[0]!r} has no item, so that only a record without items could link to it; "
                "give it one, or leave it out."
            )
        object.__setattr__(self, "items_of", listed)
        if self.prevalence is not None:
            wrong = [label for label in listed if not _positive(self.prevalence.get(label))]
            if wrong:
                raise ValueError(
                    f"ExternalKnowledge: the prevalence of {wrong[0]!r} is {self.prevalence.get(wrong[0])}; every label needs one, "
                    "over 0 and finite."
                )

    @classmethod
    def read(
        cls, table: "str | Path | pd.DataFrame", label: str = "label", items: str = "items", separator: str = ","
    ) -> "ExternalKnowledge":
        """Read labels and items from a table, or a CSV file of it: one row per label, or one per label and item.

        Parameters
        ----------
        table : DataFrame or path
        label, items : str
            The columns. A cell of items is as `Items.of` takes it.
        separator : str
            What stands between the items of a cell.

        Raises
        ------
        ValueError
            If a column or a label is missing, or two rows of one label both list several items: then one was meant for
            another, or they must be joined.
        """
        frame = table if isinstance(table, pd.DataFrame) else pd.read_csv(table)
        for name in (label, items):
            if name not in frame.columns:
                raise ValueError(
                    f"external knowledge has no column {name!r}; it has {', '.join(map(repr, frame.columns))}."
                )
        missing = frame[label].isna().to_numpy()
        if missing.any():
            raise ValueError(
                f"row {int(missing.argmax())} of the external knowledge has no label; write it, or drop the row."
            )
        read = Items.of(frame[items], separator)
        if frame[label].duplicated().any() and (read.sizes != 1).any():
            twice = frame[label][frame[label].duplicated()].iloc[0]
            raise ValueError(
                f"the label {twice!r} stands in two rows of the external knowledge, and rows list several items; give each label "
                "one row, or each of its items one."
            )
        found: dict[Hashable, list[Hashable]] = {}
        for row, name in enumerate(frame[label].tolist()):
            found.setdefault(name, []).extend(read[row])
        return cls(found)

    def __repr__(self) -> str:
        return f"ExternalKnowledge({len(self)} labels, {len(self.vocabulary)} items)"

    def __len__(self) -> int:
        return len(self.items_of)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The sensitive labels, in the order given."""
        return tuple(self.items_of)

    @property
    def vocabulary(self) -> tuple[Hashable, ...]:
        """Every item that goes with some label."""
        return tuple(dict.fromkeys(item for items in self.items_of.values() for item in items))

    @property
    def weights(self) -> FloatArray:
        """The prevalence of each label, or 1: float array, shape ``(e,)``."""
        if self.prevalence is None:
            return np.ones(len(self))
        return np.array([float(self.prevalence[label]) for label in self.labels])

    def bits(self, vocabulary: tuple[Hashable, ...]) -> "np.ndarray[Any, np.dtype[np.uint64]]":
        """Which labels each item of a vocabulary goes with, 64 labels to a word: array, shape ``(u, w)``."""
        place = {item: code for code, item in enumerate(vocabulary)}
        goes = np.zeros((len(vocabulary), words(len(self)) * 64), dtype=np.bool_)
        for number, items in enumerate(self.items_of.values()):
            known: IntArray = np.array([place[item] for item in items if item in place], dtype=np.int64)
            goes[known, number] = True
        return np.packbits(goes, axis=1, bitorder="little").view(np.uint64)


def words(labels: int) -> int:
    """How many words of 64 bits hold a bit for each label."""
    return -(-labels // 64)


def _positive(number: object) -> bool:
    return isinstance(number, int | float) and np.isfinite(number) and number > 0
