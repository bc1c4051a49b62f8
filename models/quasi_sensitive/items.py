"""The quasi-sensitive items of records: symptoms, purchases, search terms."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, IntArray
from foreknow.models.tables.plain_columns import is_hashable, plain_values


@dataclass(frozen=True, eq=False)
class Items:
    """A set of items for each of n records.

    Attributes
    ----------
    vocabulary : tuple, length u
        Every item there is, in the order of its first appearance, or as given.
    codes : int array, shape (i,)
        The items of one record after another, as positions in the vocabulary, each record's in increasing order.
    starts : int array, shape (n + 1,)
        Where each record's items start.

    Examples
    --------
    >>> items = Items.of(["cough, headache", ["headache"], None])
    >>> items
    Items(3 records, 3 items of 2)
    >>> list(items)
    [('cough', 'headache'), ('headache',), ()]
    """

    vocabulary: tuple[Hashable, ...]
    codes: IntArray
    starts: IntArray

    @classmethod
    def of(cls, cells: Iterable[Any], separator: str = ",") -> "Items":
        """The items of the cells of a column, as `item_set` reads each. Cost: O(i).

        Raises
        ------
        TypeError
            If a cell is neither a collection nor a text.
        ValueError
            If the separator is empty.
        """
        place: dict[Hashable, int] = {}
        codes: list[int] = []
        starts = [0]
        for row, cell in enumerate(cells):
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
        """The items of one record; IndexError where there is none."""
        row = range(len(self))[record]
        return tuple(self.vocabulary[code] for code in self.codes[self.starts[row] : self.starts[row + 1]])

    @cached_property
    def sizes(self) -> IntArray:
        """Number of items of each record: int array, shape ``(n,)``."""
        return np.diff(self.starts)

    def without(self, removed: BoolArray) -> "Items":
        """The same records with some items left out; ``removed``, shape ``(i,)``, says which of ``codes``."""
        gone = np.concatenate([[0], np.cumsum(removed)])
        return Items(self.vocabulary, self.codes[~removed], (self.starts - gone[self.starts]).astype(np.int64))


def item_set(cell: Any, separator: str = ",", whose: str = "a record") -> tuple[Hashable, ...]:
    """The different items of one cell.

    Parameters
    ----------
    cell
        A collection of items; or a text, cut at the separator. None, NaN and an empty text are no items. What is text is
        stripped of blanks, and nothing left of it is no item; an item named twice counts once.
    separator : str
        What stands between the items of a text.
    whose : str
        Whose items they are, for messages.

    Returns
    -------
    tuple
        In the order of the cell; of a set, which has none, in the order of their texts.

    Raises
    ------
    TypeError
        If the cell is neither, or holds something that can be no item, such as a list.
    ValueError
        If the separator is empty.

    Examples
    --------
    >>> item_set("cough,  headache, cough"), item_set({2, 1}), item_set(float("nan"))
    (('cough', 'headache'), (1, 2), ())
    """
    check_separator(separator)
    plain = plain_values(_parts(cell, separator, whose))
    parts = [part.strip() if isinstance(part, str) else part for part in plain]
    loose = [part for part in parts if not is_hashable(part)]
    if loose:
        raise TypeError(
            f"{whose} has the item {loose[0]!r}, a {type(loose[0]).__name__}; an item is a text or a number."
        )
    return tuple(dict.fromkeys(part for part in parts if not is_missing(part)))


def check_separator(separator: str) -> None:
    """Raise ValueError if what should stand between the items of a text is empty."""
    if not isinstance(separator, str):
        raise TypeError(f"the separator of items is {separator!r}; it is a text, as ',' or ';'.")
    if not separator:
        raise ValueError("the separator of items is empty; name what stands between two items, as ',' or ';'.")


def is_missing(cell: Any) -> bool:
    """Whether a cell, or an item, is None, NaN, NaT or an empty text."""
    return bool(pd.api.types.is_scalar(cell) and (pd.isna(cell) or cell == ""))


def _parts(cell: Any, separator: str, whose: str) -> list[Any]:
    if isinstance(cell, str):
        return cell.split(separator)
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    if isinstance(cell, np.ndarray | Collection) and not isinstance(cell, bytes):
        return list(cell)
    if is_missing(cell):
        return []
    raise TypeError(
        f"{whose} has the items {cell!r}; they are a collection, as ['cough', 'fever'], or a text, as 'cough{separator} fever'."
    )
