"""Faults of a table that are refused, and changes that were made, each with columns, counts and examples."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import check_kind
from foreknow.models.tables.arguments import as_list

MAX_EXAMPLES = 3
"""Number of examples of a fault that are named."""

MAX_SHOWN = 40
"""Number of characters of a cell that an example shows."""

type Places = Callable[[Sequence[int]], Sequence[str]]
"""A function from positions of rows to their places in words, as "line 7"."""


class Example(NamedTuple):
    """One row of a fault, and what it holds; the text is empty if the place alone is named."""

    row: int
    text: str = ""


class Fault(NamedTuple):
    """A fault of a table.

    Attributes
    ----------
    column : str
        The column; empty if records as a whole are at fault.
    problem : str
        The rule that is broken and the number of cells, as a clause.
    examples : tuple of Example
        At most a few.
    records : int
        Number of records at fault.
    way_out : str
        What to write or to set, in Python: ``missing='drop'``. `Advice` where it names a setting.
    every_kind : bool
        True if the examples are the first of each kind, so that there are no others.
    """

    column: str
    problem: str
    examples: tuple[Example, ...]
    records: int
    way_out: str
    every_kind: bool = False


class Change(NamedTuple):
    """A change of a table: the column, or empty for whole records; the number of cells or records; and a sentence."""

    column: str
    cells: int
    sentence: str


class InputFaults(ValueError):  # noqa: N818 - it holds several
    """A table with faults, all of them in one error.

    Parameters
    ----------
    faults : sequence of Fault
    lines : sequence of str
        One sentence per fault.

    Attributes
    ----------
    faults : tuple of Fault
    lines : tuple of str

    Raises
    ------
    TypeError
        If an argument is something else.
    ValueError
        If there is not one sentence for each fault.
    """

    def __init__(self, faults: Sequence[Fault], lines: Sequence[str]) -> None:
        self.faults = tuple(as_list("InputFaults", "faults", faults, "is a list of faults"))
        self.lines = tuple(as_list("InputFaults", "lines", lines, "is a list of sentences"))
        for fault in self.faults:
            check_kind("InputFaults", "one of faults", fault, Fault, "is a Fault")
        for line in self.lines:
            check_kind("InputFaults", "one of lines", line, str, "is a sentence")
        if len(self.faults) != len(self.lines):
            raise ValueError(f"InputFaults: {len(self.lines)} lines for {len(self.faults)} faults; give one for each.")
        super().__init__(self.faults, self.lines)

    def __str__(self) -> str:
        return "\n".join([*([f"{len(self.lines)} faults:"] if len(self.lines) > 1 else []), *self.lines])


def faults_in(faults: Sequence[Fault], places: Places) -> InputFaults:
    """The error of some faults, with the places of their rows in words."""
    rows = [example.row for fault in faults for example in fault.examples]
    named = dict(zip(rows, places(rows), strict=True))
    return InputFaults(faults, [_sentence(fault, named) for fault in faults])


def rows_in_words(rows: Sequence[int]) -> list[str]:
    """The places of rows of a table that was not read from a file: positions from 0."""
    return [f"row {row}" for row in rows]


def shown(cell: Any) -> str:
    """A cell in quotes, shortened to `MAX_SHOWN` characters."""
    text = str(cell)
    return repr(text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}...")


def first_rows(chosen: "pd.Series[bool] | BoolArray", texts: "pd.Series[Any] | None" = None) -> tuple[Example, ...]:
    """The first rows of a mask as examples, with their cells if a column is given."""
    rows = np.flatnonzero(np.asarray(chosen))[:MAX_EXAMPLES].tolist()
    return tuple(Example(row, "" if texts is None else shown(texts.iloc[row])) for row in rows)


def _sentence(fault: Fault, places: dict[int, str]) -> str:
    where = [
        f"{example.text} ({places[example.row]})" if example.text else places[example.row] for example in fault.examples
    ]
    more = ", ..." if fault.records > len(fault.examples) and not fault.every_kind else ""
    listed = f": {', '.join(where)}{more}" if where else ""
    owner = f"{fault.column!r} " if fault.column else ""
    return Advice(f"{owner}{fault.problem}{listed}; ", fault.way_out, ".")
