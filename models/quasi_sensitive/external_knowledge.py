"""A public table of what items give away: sensitive labels, and the items that go with each."""

import math
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.quasi_sensitive.items import is_missing, item_set
from foreknow.models.tables.plain_columns import is_hashable, plain_value
from foreknow.models.tables.required_columns import check_columns
from foreknow.models.tables.table_files import read_table

NONE = "none"
"""What a record links to that links to no label."""


@dataclass(frozen=True, eq=False)
class ExternalKnowledge:
    """Items that go with each sensitive label: diseases and their symptoms, say (Shi, Xiong, Fung, section 2.1: E).

    Parameters
    ----------
    items_of : mapping of label to collection of items
        Every label once, each with an item or more, as `Items.of` takes them. A record can be linked to the labels that go
        with all of its items. Items that nobody has are of no consequence.
    prevalence : mapping of label to number, optional
        Frequency of each label, relative to the others; over 0. Of the labels that a record links to, each is then as
        likely as it is common: an extension. Left out, all are equally likely, as the paper has it. Other labels than those
        of ``items_of`` are not read. It is kept relative to the most common label.

    Raises
    ------
    ValueError
        If there is no label; a label is empty, stands twice once blanks are stripped, is called ``"none"``, or has no item; or
        a prevalence is missing or not over 0.
    TypeError
        If ``items_of`` or ``prevalence`` is no mapping, or a cell of items is no collection and no text.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, Anonymizing Data with Quasi-Sensitive Attribute Values, CIKM 2010.

    Examples
    --------
    >>> ExternalKnowledge({"flu": ["cough", "headache"], "hepatitis B": "vomiting, dark urine"})
    ExternalKnowledge(2 labels, 4 items)
    """

    items_of: Mapping[Hashable, Iterable[Hashable]]
    prevalence: Mapping[Hashable, float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.items_of, Mapping):
            raise TypeError(
                f"ExternalKnowledge: labels are given as a {type(self.items_of).__name__}; give a mapping of each to its items, or "
                "ExternalKnowledge.read a table."
            )
        listed: dict[Hashable, tuple[Hashable, ...]] = {}
        for given, cell in self.items_of.items():
            label = _check_label(given, listed)
            listed[label] = item_set(cell, whose=f"the label {label!r}")
            if not listed[label]:
                raise ValueError(
                    f"ExternalKnowledge: the label {label!r} has no item, so that no item could lead to it; give it one, or leave "
                    "it out."
                )
        if not listed:
            raise ValueError("ExternalKnowledge: there is no label; name one, with the items that go with it.")
        object.__setattr__(self, "items_of", listed)
        if self.prevalence is not None:
            object.__setattr__(self, "prevalence", _relative(self.prevalence, list(listed)))

    @classmethod
    def read(
        cls, table: "str | Path | pd.DataFrame", label: str = "label", items: str = "items", separator: str = ","
    ) -> "ExternalKnowledge":
        """Read labels and items from a table, or a CSV or Parquet file: a row per label, or a row per label and item.

        Parameters
        ----------
        table : DataFrame or path
            Of a CSV file everything is text.
        label, items : str
            The columns. A cell of items is as `Items.of` takes it.
        separator : str
            What stands between the items of a cell.

        Raises
        ------
        ValueError
            If a column is missing, a row has no label or no item, or two rows of one label do not have one item each: then
            either one was meant for another label, or they must be joined.
        TypeError
            If a cell of items is no collection and no text.

        Examples
        --------
        >>> rows = pd.DataFrame({"label": ["flu", "flu", "cold"], "items": ["cough", "headache", "cough"]})
        >>> ExternalKnowledge.read(rows).items_of
        {'flu': ('cough', 'headache'), 'cold': ('cough',)}
        """
        frame = table if isinstance(table, pd.DataFrame) else read_table(table, [label, items])
        check_columns(frame, [label, items])
        names = [_stripped(name) for name in frame[label].tolist()]
        read = [item_set(cell, separator, _row(row)) for row, cell in enumerate(frame[items].tolist())]
        for row, name in enumerate(names):
            if not is_hashable(name):
                raise ValueError(
                    f"{_row(row)} has the label {name!r}, a {type(name).__name__}; a label is one text or number."
                )
        rows = Counter(names)
        found: dict[Hashable, tuple[Hashable, ...]] = {}
        for row, (name, listed) in enumerate(zip(names, read, strict=True)):
            if is_missing(name) or not listed:
                raise ValueError(
                    f"{_row(row)} has no {'label' if is_missing(name) else 'item'}; write it, or drop the row."
                )
            if rows[name] > 1 and len(listed) > 1:
                raise ValueError(
                    f"the label {name!r} has {rows[name]} rows in the external knowledge, and row {row} lists {len(listed)} "
                    "items; give a label one row, or each of its items one."
                )
            found[name] = found.get(name, ()) + listed
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
        """The prevalence of each label, over that of the most common one; 1 where none is given: float array, shape ``(e,)``."""
        if self.prevalence is None:
            return np.ones(len(self))
        return np.array([float(self.prevalence[label]) for label in self.labels])

    @property
    def every(self) -> NDArray[np.uint64]:
        """The set of all labels, as in `bits`: array, shape ``(w,)``."""
        number = np.arange(len(self))
        return _sets(np.zeros_like(number), number, 1, len(self)).ravel()

    def bits(self, vocabulary: Sequence[Hashable]) -> NDArray[np.uint64]:
        """The set of labels that each item of a vocabulary goes with: array, shape ``(u, w)``; empty for an item of no label.

        Label b is bit ``b % 64`` of word ``b // 64``. Cost: O(u + pairs of a label and an item).
        """
        place = {item: code for code, item in enumerate(vocabulary)}
        pairs = [
            (place[item], number)
            for number, items in enumerate(self.items_of.values())
            for item in items
            if item in place
        ]
        item, number = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return _sets(item, number, len(vocabulary), len(self))


def _sets(row: IntArray, number: IntArray, rows: int, labels: int) -> NDArray[np.uint64]:
    """One set of labels for each of some rows, from pairs of a row and a label's number."""
    sets = np.zeros((rows, -(-labels // 64)), dtype=np.uint64)
    np.bitwise_or.at(sets, (row, number // 64), np.uint64(1) << (number % 64).astype(np.uint64))
    return sets


def _check_label(given: Hashable, before: Mapping[Hashable, object]) -> Hashable:
    """The label without blanks around it; it must be one, and another than those before it and `NONE`."""
    label = _stripped(given)
    if is_missing(label):
        raise ValueError(f"ExternalKnowledge: a label is {given!r}, which is no name; write it, or leave it out.")
    if label == NONE:
        raise ValueError(
            f"ExternalKnowledge: a label is called {NONE!r}, as what a record links to that links to no label; rename it."
        )
    if label in before:
        raise ValueError(
            f"ExternalKnowledge: the label {label!r} stands twice, but for blanks; join the two, or rename one."
        )
    return label


def _relative(prevalence: Mapping[Hashable, float], labels: Sequence[Hashable]) -> dict[Hashable, float]:
    """Frequency of each label, relative to the most common one."""
    if not isinstance(prevalence, Mapping | pd.Series):
        raise TypeError(
            f"ExternalKnowledge: prevalence is a {type(prevalence).__name__}; give a mapping of each label to how common it is."
        )
    numbers = {_stripped(label): number for label, number in prevalence.items()}
    for label in labels:
        if not (isinstance(numbers.get(label), Real) and 0 < float(numbers[label]) < math.inf):
            raise ValueError(
                f"ExternalKnowledge: the prevalence of {label!r} is {numbers.get(label)}; every label needs one, over 0 and finite."
            )
    most = max(float(numbers[label]) for label in labels)
    # However rare, it is no 0, which would be none.
    return {label: max(float(numbers[label]) / most, sys.float_info.min) for label in labels}


def _stripped(label: Hashable) -> Hashable:
    plain = plain_value(label)
    return plain.strip() if isinstance(plain, str) else plain


def _row(row: int) -> str:
    return f"row {row} of the external knowledge"
