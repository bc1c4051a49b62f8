"""Tables for a terminal, in which no word and no number is split."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from foreknow.app.cli.printing.terminal import literal

SMALL, ZERO = 1e-2, 1e-9
"""Absolute values below which a fraction has two significant digits, and below which it is a rounding error of 0."""

COLUMN_GAP = 2
"""Spaces between two columns: the padding of a cell, and the box's empty divider."""


@dataclass(frozen=True, eq=False)
class PrintedTable:
    """A data frame as Rich prints it: numbers to the right, fractions with three digits, small ones with two significant ones.

    Cells and headings wrap at spaces only. If the longest words of all columns are wider together than the terminal, the columns
    are printed in several tables, each with the key columns. If the key columns and one other do not fit, each row is printed as
    lines of ``heading: cell``; only there, a word longer than the terminal is folded.

    Parameters
    ----------
    frame : DataFrame
    title : str
    keys : int
        Number of leading columns that identify a row.
    """

    frame: pd.DataFrame
    title: str
    keys: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Yield the title and the tables that fit the console."""
        columns = [_Column.from_series(self.frame[name]) for name in self.frame.columns]
        yield literal(self.title)
        yield Text()
        blocks = _blocks([column.longest_word for column in columns], options.max_width, self.keys)
        if blocks is None:
            yield from _as_lines(columns)
            return
        for block in blocks:
            yield _table([columns[place] for place in block], options.max_width)
            yield Text()


@dataclass(frozen=True, eq=False)
class _Column:
    """Heading and cells of a column, as text."""

    heading: Text
    cells: tuple[Text, ...]
    is_number: bool

    @classmethod
    def from_series(cls, series: "pd.Series[Any]") -> "_Column":
        cells = tuple(literal(_as_text(cell)) for cell in series)
        return cls(literal(str(series.name)), cells, pd.api.types.is_numeric_dtype(series))

    @property
    def width(self) -> int:
        return max(cell_len(text.plain) for text in (self.heading, *self.cells))

    @property
    def longest_word(self) -> int:
        words = [word for text in (self.heading, *self.cells) for word in text.plain.split()]
        return max(map(cell_len, words), default=0)


def definitions(terms: Mapping[str, str]) -> Table:
    """The headings of a table and their meanings, one below the other."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for term, meaning in terms.items():
        grid.add_row(literal(term), literal(meaning))
    return grid


def _as_text(cell: object) -> str:
    """A cell as text: a fraction as `_fraction`, the day of a time at midnight."""
    if isinstance(cell, float):
        return _fraction(cell)
    if isinstance(cell, pd.Timestamp) and cell == cell.normalize():
        return str(cell.date())
    return str(cell)


def _fraction(number: float) -> str:
    """Three digits of a fraction; two significant digits of a small one.

    >>> [_fraction(number) for number in (0.3333, 0.0023, 0.00002, -1e-17)]
    ['0.333', '0.0023', '2.0e-05', '0.000']
    """
    if abs(number) < ZERO:
        return "0.000"
    return f"{number:#.2g}" if abs(number) < SMALL else f"{number:.3f}"


def _table(columns: Sequence[_Column], width: int) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, pad_edge=False)
    widths = _shrunk([c.width for c in columns], [c.longest_word for c in columns], width - _overhead(len(columns)))
    for column, wide in zip(columns, widths, strict=True):
        justify = "right" if column.is_number else "left"
        table.add_column(column.heading, justify=justify, width=wide, overflow="fold")  # type: ignore[arg-type]
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


def _overhead(columns: int) -> int:
    """Characters of a line that are not cells."""
    return COLUMN_GAP * (columns - 1)


def _shrunk(widths: Sequence[int], longest_words: Sequence[int], available: int) -> list[int]:
    """Widths of columns with a sum of at most ``available``; the widest column that can wrap loses a character at a time."""
    shrunk = list(widths)
    while sum(shrunk) > available:
        spare = [place for place, width in enumerate(shrunk) if width > longest_words[place]]
        if not spare:
            break
        shrunk[max(spare, key=shrunk.__getitem__)] -= 1
    return shrunk


def _blocks(longest_words: Sequence[int], width: int, keys: int) -> list[list[int]] | None:
    """Columns of each table, the key columns first in each; None if the keys and one other column do not fit."""
    keys = min(keys, len(longest_words))
    first = list(range(keys))
    blocks: list[list[int]] = []
    for place in range(keys, len(longest_words)):
        grown = [*(blocks[-1] if blocks else first), place]
        if not _fits(grown, longest_words, width):
            grown = [*first, place]
            blocks.append(grown)
        elif blocks:
            blocks[-1] = grown
        else:
            blocks = [grown]
        if not _fits(grown, longest_words, width):
            return None
    return blocks or [first]


def _fits(columns: Sequence[int], longest_words: Sequence[int], width: int) -> bool:
    return sum(longest_words[place] for place in columns) + _overhead(len(columns)) <= width


def _as_lines(columns: Sequence[_Column]) -> Iterator[Text]:
    for row in zip(*(column.cells for column in columns), strict=True):
        for column, cell in zip(columns, row, strict=True):
            yield Text.assemble("  ", column.heading, ": ", cell)
        yield Text()
