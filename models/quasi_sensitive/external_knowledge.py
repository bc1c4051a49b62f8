"""External knowledge: a public table of sensitive labels and the items associated with each."""

import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.quasi_sensitive.items import check_separator, is_missing, item_set
from foreknow.models.settings import check_kind, check_positive
from foreknow.models.tables.columns import check_columns, is_hashable, plain_value
from foreknow.models.tables.table_files import read_table

NONE = "none"
"""Name of the outcome that a record links to no label."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ExternalKnowledge:
    """Items associated with each sensitive label, as the symptoms of diseases (Shi, Xiong, Fung, section 2.1: E).

    Parameters
    ----------
    items_of : mapping of label to collection of items
        Each label once, with at least one item, in the form that `Items.from_cells` reads. A record can be linked to the
        labels whose items include all of the record's items. Items that no record has do not matter.
    prevalence : mapping of label to number, optional
        Frequency of each label, relative to the others; above 0. The probability of each label that a record links to is then
        proportional to its prevalence: an extension. By default all are equally likely, as in the paper. Labels that are not
        in ``items_of`` are ignored. Stored relative to the most common label.

    Raises
    ------
    ValueError
        If there is no label; a label is empty, occurs twice after blanks are stripped, is ``"none"``, or has no item; or a
        prevalence is missing or not above 0.
    TypeError
        If ``items_of`` or ``prevalence`` is no mapping, or a cell of items is neither a collection nor a text.

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
        takes = "maps each label to its items; ExternalKnowledge.read reads a table"
        check_kind("ExternalKnowledge", "items_of", self.items_of, Mapping, takes)
        items_of: dict[Hashable, tuple[Hashable, ...]] = {}
        for given, cell in self.items_of.items():
            label = _check_label(given, items_of)
            items_of[label] = item_set(cell, whose=f"the label {label!r}")
            if not items_of[label]:
                raise ValueError(f"ExternalKnowledge: the label {label!r} has no item; give it one, or leave it out.")
        if not items_of:
            raise ValueError("ExternalKnowledge: there is no label; give at least one, with its items.")
        object.__setattr__(self, "items_of", items_of)
        if self.prevalence is not None:
            object.__setattr__(self, "prevalence", _relative(self.prevalence, list(items_of)))

    @classmethod
    def read(
        cls, table: "str | Path | pd.DataFrame", label: str = "label", items: str = "items", separator: str = ","
    ) -> "ExternalKnowledge":
        """Read labels and items from a table, with one row per label, or one row per label and item.

        Parameters
        ----------
        table : DataFrame, or path of a CSV or Parquet file
            All cells of a CSV file are text.
        label, items : str
            The columns. A cell of items has the form that `Items.from_cells` reads.
        separator : str
            Text between two items of a cell.

        Raises
        ------
        ValueError
            If a column is missing; a row has no label or no item; or a label has several rows, of which one has several items:
            that row may belong to another label, or the rows must be joined.
        TypeError
            If ``table`` is neither a DataFrame nor a path, or a cell of items is neither a collection nor a text.

        Examples
        --------
        >>> rows = pd.DataFrame({"label": ["flu", "flu", "cold"], "items": ["cough", "headache", "cough"]})
        >>> ExternalKnowledge.read(rows).items_of
        {'flu': ('cough', 'headache'), 'cold': ('cough',)}
        """
        takes = "is a DataFrame, or the path of a .csv or .parquet file"
        check_kind("ExternalKnowledge.read", "table", table, (str, Path, pd.DataFrame), takes)
        check_separator(separator)
        frame = table if isinstance(table, pd.DataFrame) else read_table(table, [label, items])
        check_columns(frame, [label, items])
        labels = [_stripped(name) for name in frame[label].tolist()]
        item_sets = [item_set(cell, separator, _row(row)) for row, cell in enumerate(frame[items].tolist())]
        return cls(_joined(labels, item_sets))

    def __repr__(self) -> str:
        return f"ExternalKnowledge({len(self)} labels, {len(self.vocabulary)} items)"

    def __len__(self) -> int:
        return len(self.items_of)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """Sensitive labels, in the order given."""
        return tuple(self.items_of)

    @property
    def vocabulary(self) -> tuple[Hashable, ...]:
        """All items of all labels, each once."""
        return tuple(dict.fromkeys(item for items in self.items_of.values() for item in items))

    @property
    def weights(self) -> FloatArray:
        """Prevalence of each label relative to the most common one, 1 by default: float array, shape ``(e,)``."""
        if self.prevalence is None:
            return np.ones(len(self))
        return np.array([float(self.prevalence[label]) for label in self.labels])

    @property
    def all_labels(self) -> NDArray[np.uint64]:
        """Set of all labels, in the form of `bits`: array, shape ``(w,)``."""
        number = np.arange(len(self))
        return _bit_sets(np.zeros_like(number), number, 1, len(self)).ravel()

    def bits(self, vocabulary: Sequence[Hashable]) -> NDArray[np.uint64]:
        """Set of labels of each item of a vocabulary: array, shape ``(u, w)``; empty for an item of no label.

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
        return _bit_sets(item, number, len(vocabulary), len(self))


def _bit_sets(row: IntArray, number: IntArray, rows: int, labels: int) -> NDArray[np.uint64]:
    """Sets of labels, one for each of ``rows`` rows, from pairs of a row and the number of a label."""
    sets = np.zeros((rows, -(-labels // 64)), dtype=np.uint64)
    np.bitwise_or.at(sets, (row, number // 64), np.uint64(1) << (number % 64).astype(np.uint64))
    return sets


def _joined(
    labels: Sequence[Hashable], item_sets: Sequence[tuple[Hashable, ...]]
) -> dict[Hashable, tuple[Hashable, ...]]:
    """Items of each label, from the rows of a table."""
    for row, label in enumerate(labels):
        if not is_hashable(label):
            raise ValueError(f"{_row(row)} has the label {label!r}; a label is one text or number.")
    rows = Counter(labels)
    items_of: dict[Hashable, tuple[Hashable, ...]] = {}
    for row, (label, items) in enumerate(zip(labels, item_sets, strict=True)):
        if is_missing(label) or not items:
            raise ValueError(
                f"{_row(row)} has no {'label' if is_missing(label) else 'item'}; write it, or drop the row."
            )
        if rows[label] > 1 and len(items) > 1:
            raise ValueError(
                f"the label {label!r} has {rows[label]} rows in the external knowledge, and row {row} lists {len(items)} items; "
                "give a label one row, or one row for each item."
            )
        items_of[label] = items_of.get(label, ()) + items
    return items_of


def _check_label(given: Hashable, before: Mapping[Hashable, object]) -> Hashable:
    """The label without surrounding blanks. ValueError if it is missing, `NONE`, or one of those before it."""
    label = _stripped(given)
    if is_missing(label) or label == NONE or label in before:
        raise ValueError(
            f"ExternalKnowledge: a label is {given!r}; without surrounding blanks each has a name of its own, other than {NONE!r} "
            "(linking to no label). Rename it, or leave it out."
        )
    return label


def _relative(prevalence: Mapping[Hashable, float], labels: Sequence[Hashable]) -> dict[Hashable, float]:
    """Prevalence of each label relative to the most common one."""
    takes = "maps each label to its frequency"
    check_kind("ExternalKnowledge", "prevalence", prevalence, (Mapping, pd.Series), takes)
    numbers = {_stripped(label): number for label, number in prevalence.items()}
    for label in labels:
        number = numbers.get(label)
        check_positive("ExternalKnowledge", f"the prevalence of {label!r}", number, "one for each label")
    largest = max(float(numbers[label]) for label in labels)
    # A tiny prevalence must not become 0, which would rule the label out.
    return {label: max(float(numbers[label]) / largest, sys.float_info.min) for label in labels}


def _stripped(label: Hashable) -> Hashable:
    """A label as a Python value, without surrounding blanks."""
    plain = plain_value(label)
    return plain.strip() if isinstance(plain, str) else plain


def _row(row: int) -> str:
    """A row in messages."""
    return f"row {row} of the external knowledge"
