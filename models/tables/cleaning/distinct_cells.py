"""The distinct cells of a column: all checks and conversions work on these, not on every row."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.arrays import IntArray
from foreknow.models.settings import counted
from foreknow.models.tables.cleaning.faults import MAX_EXAMPLES, Example, Fault, shown


class DistinctCells(NamedTuple):
    """The distinct cells of a column.

    Attributes
    ----------
    name : str
    cells : list
        m distinct cells, in order of first appearance.
    codes : int array, shape (n,)
        The distinct cell of each row; -1 for a missing one.
    number : int array, shape (m,)
        Number of rows of each.
    first : int array, shape (m,)
        First row of each.
    """

    name: str
    cells: list[Any]
    codes: IntArray
    number: IntArray
    first: IntArray

    def example(self, code: int, records: int | None = None) -> Example:
        """A cell as an example, with a number of records if one is given."""
        text = shown(self.cells[code])
        return Example(int(self.first[code]), text if records is None else f"{text} in {counted(records, 'record')}")

    def fault(self, problem: str, among: list[int], way_out: str) -> Fault:
        """A fault of some of the cells."""
        examples = tuple(self.example(code) for code in sorted(among, key=lambda code: self.first[code])[:MAX_EXAMPLES])
        return Fault(self.name, problem, examples, self.records(among), way_out)

    def records(self, *among: list[int]) -> int:
        """Number of rows of some of the cells."""
        return sum(int(self.number[codes].sum()) for codes in among if codes)

    def first_of_each(self, kinds: Iterable[list[int]]) -> tuple[Example, ...]:
        """The first cell of each of some kinds, with the number of records of the kind."""
        return tuple(
            self.example(min(codes, key=lambda code: self.first[code]), self.records(codes)) for codes in kinds
        )[: MAX_EXAMPLES + 1]

    def replaced(self, column: "pd.Series[Any]", new: list[Any]) -> "pd.Series[Any]":
        """The column with a new value for each distinct cell; a missing cell stays missing."""
        values = np.empty(len(new) + 1, dtype=object)
        values[:-1], values[-1] = new, None
        return pd.Series(values[self.codes], index=column.index, name=column.name, dtype=object)


def distinct_cells(column: "pd.Series[Any]") -> DistinctCells:
    """The distinct cells of a column. Cost: O(n)."""
    codes, distinct = pd.factorize(column)
    known = np.flatnonzero(codes >= 0)
    number = np.bincount(codes[known], minlength=len(distinct))
    _, first = np.unique(codes[known], return_index=True)
    return DistinctCells(str(column.name), pd.Index(distinct).tolist(), codes, number, known[first])
