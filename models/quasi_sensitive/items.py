"""The quasi-sensitive items of records: symptoms, purchases, search terms."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Items:
    """A set of items for each of n records.

    Attributes
    ----------
    vocabulary : tuple, length u
        Every item there is, in the order of its first appearance, or as given.
    codes : int array
        The items of one record after another, as positions in the vocabulary, each record's in increasing order.
    starts : int array, shape (n + 1,)
        Where each record's items start.
    """

    vocabulary: tuple[Hashable, ...]
    codes: IntArray
    starts: IntArray

    @classmethod
    def of(cls, cells: Iterable[Any], separator: str = ",") -> "Items":
        """The items of the cells of a column.

        Parameters
        ----------
        cells : iterable
            Of each record a collection of items; or a text, cut at the separator, its parts stripped of blanks. None, NaN and
            an empty text are no items; an item named twice counts once.
        separator : str
            What stands between the items of a text.

        Raises
        ------
        TypeError
            If a cell is neither.
        """
        place: dict[Hashable, int] = {}
        codes: list[int] = []
        starts = [0]
        for row, cell in enumerate(cells):
            chosen = {place.setdefault(item, len(place)) for item in _items(cell, separator, row)}
            codes += sorted(chosen)
            starts.append(len(codes))
        return cls(tuple(place), np.array(codes, dtype=np.int64), np.array(starts, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"Items({len(self)} records, {len(self.codes)} items of {len(self.vocabulary)})"

    def __getitem__(self, record: int) -> tuple[Hashable, ...]:
        """The items of one record."""
        own = self.codes[self.starts[record] : self.starts[record + 1]]
        return tuple(self.vocabulary[code] for code in own)

    @cached_property
    def sizes(self) -> IntArray:
        """How many items each record has: int array, shape ``(n,)``."""
        return np.diff(self.starts)

    def without(self, removed: BoolArray) -> "Items":
        """The same records with some items left out; ``removed`` says which of ``codes``."""
        record = np.repeat(np.arange(len(self)), self.sizes)
        left = np.bincount(record[~removed], minlength=len(self))
        return Items(self.vocabulary, self.codes[~removed], np.concatenate([[0], np.cumsum(left)]).astype(np.int64))


def _items(cell: Any, separator: str, row: int) -> list[Hashable]:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)) or cell is pd.NA:
        return []
    if isinstance(cell, str):
        return [part.strip() for part in cell.split(separator) if part.strip()]
    if isinstance(cell, Iterable):
        return list(cell)
    raise TypeError(
        f"row {row} has the items {cell!r}; they are a collection, as ['cough', 'fever'], or a text, as 'cough{separator} fever'."
    )
