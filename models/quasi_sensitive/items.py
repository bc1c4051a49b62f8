"""Quasi-sensitive items of records, as symptoms, purchases or search terms."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import as_list
from foreknow.models.tables.columns import is_hashable, plain_value


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Items:
    """Item sets of n records.

    Parameters
    ----------
    vocabulary : tuple, length u
        All items, each once; `Items.from_cells` lists them in the order of their first appearance.
    codes : int array, shape (i,)
        Items of one record after the other, as positions in the vocabulary; increasing within a record.
    starts : int array, shape (n + 1,)
        First position in ``codes`` of each record; the last entry is i.

    Examples
    --------
    >>> items = Items.from_cells(["cough, headache", ["headache"], None])
    >>> items
    Items(3 records, 3 items of 2)
    >>> list(items)
    [('cough', 'headache'), ('headache',), ()]
    """

    vocabulary: tuple[Hashable, ...]
    codes: IntArray
    starts: IntArray

    @classmethod
    def from_cells(cls, cells: Iterable[Any], separator: str = ",") -> "Items":
        """Items of the cells of a column, each read by `item_set`. Cost: O(i).

        Raises
        ------
        TypeError
            If ``cells`` is no list of cells, or a cell is neither a collection nor a text.
        ValueError
            If the separator is empty.
        """
        check_separator(separator)
        listed = as_list("Items.from_cells", "cells", cells, "is a column, or a list with one cell of items per record")
        place: dict[Hashable, int] = {}
        codes: list[int] = []
        starts = [0]
        for row, cell in enumerate(listed):
            items = item_set(cell, separator, f"row {row}")
            codes += sorted(place.setdefault(item, len(place)) for item in items)
            starts.append(len(codes))
        return cls(tuple(place), np.array(codes, dtype=np.int64), np.array(starts, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[tuple[Hashable, ...]]:
        return (self[record] for record in range(len(self)))

    def __repr__(self) -> str:
        return f"Items({len(self)} records, {len(self.codes)} items of {len(self.vocabulary)})"

    def __getitem__(self, record: int) -> tuple[Hashable, ...]:
        """Items of one record; IndexError if there is no such record, as sequences raise."""
        row = range(len(self))[record]
        return tuple(self.vocabulary[code] for code in self.codes[self.starts[row] : self.starts[row + 1]])

    @cached_property
    def sizes(self) -> IntArray:
        """Number of items of each record: int array, shape ``(n,)``."""
        return np.diff(self.starts)

    def without(self, removed: BoolArray) -> "Items":
        """Items of the same records without some of them.

        Parameters
        ----------
        removed : bool array, shape (i,)
            True for each of ``codes`` that is removed.
        """
        before = np.concatenate([[0], np.cumsum(removed)])
        return Items(self.vocabulary, self.codes[~removed], (self.starts - before[self.starts]).astype(np.int64))


def item_set(cell: Any, separator: str = ",", whose: str = "a record") -> tuple[Hashable, ...]:
    """Distinct items of one cell.

    Parameters
    ----------
    cell
        A collection of items, or a text that lists them between separators. None, NaN and an empty text are no items. Texts are
        stripped of blanks; an empty text is no item; an item named twice counts once.
    separator : str
        Text between two items.
    whose : str
        Owner of the items, for messages.

    Returns
    -------
    tuple
        In the order of the cell; for a set, which has no order, sorted by text.

    Raises
    ------
    TypeError
        If the cell is neither, or holds a value that is not hashable, as a list.

    Examples
    --------
    >>> item_set("cough,  headache, cough"), item_set({2, 1}), item_set(float("nan"))
    (('cough', 'headache'), (1, 2), ())
    """
    plain = map(plain_value, _parts(cell, separator, whose))
    parts = [part.strip() if isinstance(part, str) else part for part in plain]
    unhashable = [part for part in parts if not is_hashable(part)]
    if unhashable:
        raise TypeError(
            f"{whose} has the item {unhashable[0]!r}, a {type(unhashable[0]).__name__}; an item is a text or a number."
        )
    return tuple(dict.fromkeys(part for part in parts if not is_missing(part)))


def check_separator(separator: str) -> None:
    """Raise ValueError unless the separator of items is a text of one character or more."""
    if not isinstance(separator, str) or not separator:
        raise ValueError(f"the separator of items is {separator!r}; give the text between two items, as ',' or ';'.")


def is_missing(cell: Any) -> bool:
    """Return whether a cell, or an item, is None, NaN, NaT or an empty text."""
    return bool(pd.api.types.is_scalar(cell) and (pd.isna(cell) or cell == ""))


def _parts(cell: Any, separator: str, whose: str) -> list[Any]:
    """Items of a cell as they are written."""
    if isinstance(cell, str):
        return cell.split(separator)
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    if isinstance(cell, np.ndarray):
        return list(cell.reshape(-1) if cell.ndim == 0 else cell)
    if isinstance(cell, Collection) and not isinstance(cell, bytes):
        return list(cell)
    if is_missing(cell):
        return []
    raise TypeError(
        f"{whose} has the items {cell!r}; they are a collection, as ['cough', 'fever'], or a text, as 'cough{separator} fever'."
    )
