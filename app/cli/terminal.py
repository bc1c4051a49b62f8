"""Output to a terminal: the two consoles, text from files with control characters escaped, tables, progress bars."""

import shlex
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

CONTROL_CHARACTERS = {code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)]}
"""Escape codes of the characters that move the cursor, clear the screen or begin such a command."""

DIRECTION_CHARACTERS = {
    code: f"\\u{code:04x}"
    for code in [0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
}
"""Escape codes of the characters that change the direction of a line or break it, and of surrogates."""

console = Console()
"""Standard output."""

error_console = Console(stderr=True)
"""Standard error: notices, warnings, errors and progress."""


def visible(text: str) -> str:
    r"""Text with control characters written as escape codes.

    >>> print(visible("\x1b[2Jflu"))
    \x1b[2Jflu
    """
    return text.translate(CONTROL_CHARACTERS | DIRECTION_CHARACTERS)


def literal(text: str) -> Text:
    """Text that Rich prints unchanged: control characters are escaped, brackets are not read as markup."""
    return Text(visible(text))


def show(part: RenderableType) -> None:
    """Print a table or a paragraph on standard output, wrapped at spaces to the width of the terminal."""
    console.print(part, markup=False)


def paragraph(text: str) -> None:
    """Print a paragraph on standard output, wrapped at spaces to the terminal; a word is never split."""
    _print_wrapped(console, text, "    " if text.startswith(" ") else "")


def say(*lines: str) -> None:
    """Print lines on standard output, with control characters escaped and without wrapping."""
    _print_lines(console, lines)


def say_sentences(*lines: str) -> None:
    """Print sentences on standard output, with control characters escaped; a terminal gets them wrapped at spaces."""
    _print_lines(console, lines, soft_wrap=not console.is_terminal)


def say_verdict(*lines: str) -> None:
    """Print the verdict of a command above its tables, where its reader begins; it is repeated below them, before the end."""
    say_sentences(*lines, "")


def notice(line: str) -> None:
    """Print a line on standard error, with control characters escaped and without wrapping."""
    _print_lines(error_console, [line])


def show_hanging(line: str) -> None:
    """Print a numbered line on standard error, wrapped at spaces to the terminal, with the later lines indented."""
    _print_wrapped(error_console, line, "   ")


def show_error(message: str) -> None:
    """Print an error message on standard error."""
    text = Text.assemble(("error:", "bold red"), " ", visible(message))
    error_console.print(text, highlight=False, soft_wrap=True)


def _print_lines(to: Console, lines: Iterable[str], soft_wrap: bool = True) -> None:
    for line in lines:
        to.print(visible(line), markup=False, highlight=False, soft_wrap=soft_wrap)


def _print_wrapped(to: Console, text: str, indent: str) -> None:
    """Print a text wrapped at spaces, with the later lines indented; a word is never split."""
    wrap = textwrap.TextWrapper(
        max(to.width, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    _print_lines(to, wrap.wrap(visible(text)))


def continued(command: str) -> list[str]:
    """The lines of a command as a shell reads them: broken at options, with backslashes, to the width of the terminal."""
    lines = [""]
    for part in _parts(shlex.split(command)):
        if lines[-1] and len(lines[-1]) + len(part) + 4 > max(console.width, 40):
            lines.append("")
        lines[-1] += f" {part}"
    *others, last = (f"{'    ' if place else '  '}{line.strip()}" for place, line in enumerate(lines))
    return [*(f"{line} \\" for line in others), last]


def _parts(words: Iterable[str]) -> list[str]:
    """The words of a command, each option together with its values."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            parts.append([])
        parts[-1].append(word)
    return [shlex.join(part) for part in parts]


def tracked[T](things: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield the things one after another behind a progress bar on standard error, which vanishes at the end.

    ``total`` is their number, by default ``len(things)``. The bar is drawn at each step without a thread. `rich.progress.track`
    starts a thread, and deadlocks if its iterator is collected after an error while another bar is drawn.
    """
    # Where no bar can be drawn, it would print an empty line.
    is_hidden = not error_console.is_interactive
    with Progress(console=error_console, transient=True, auto_refresh=False, disable=is_hidden) as bar:
        yield from bar.track(things, total=total, description=description)


LEAST_DONE = 0.05
"""Share of the cost from which the time left is told; before, an estimate is little more than noise."""


@dataclass(frozen=True)
class PresentStep:
    """Text of a step: its title, details in parentheses, and the time left.

    ``ends`` is the time at which the step is expected to end, by `time.monotonic`, or None if no time is told; ``later`` are the
    expected seconds of the later steps, and ``later_cost`` is their cost over that of this one.
    """

    title: str
    details: tuple[str, ...] = ()
    ends: float | None = None
    later: float = 0.0
    later_cost: float = 0.0

    def text(self, now: float) -> str:
        """The text at a time."""
        details = self.details
        if self.ends is not None:
            seconds = round(max(self.ends - now, 0.0) + self.later)
            details = (*details, f"about {timedelta(seconds=seconds)} left")
        return f"{self.title} ({', '.join(details)})" if details else self.title


class TimeLeft:
    """A spinner on standard error with the present step and the time left, which counts down while the step lasts.

    Parameters
    ----------
    title : str
        Text before the first step.

    Notes
    -----
    The time left is that of the steps so far, times the cost of the later ones over that of these. A step that takes longer than
    its cost says keeps the time of the later ones.
    """

    def __init__(self, title: str) -> None:
        self._status = error_console.status("")
        self.update(title)

    def update(self, title: str) -> None:
        """Show a text without time."""
        self._begin(PresentStep(title))

    def steps(self, steps: Sequence[Any]) -> Iterator[Any]:
        """Yield the steps, each with a ``title`` and a ``cost``, one after another, with their number and the time left."""
        total, start, done = sum(step.cost for step in steps), time.monotonic(), 0.0
        for number, step in enumerate(steps, 1):
            rest, now = total - done - step.cost, time.monotonic()
            shown = PresentStep(step.title, (f"{number} of {len(steps)}",), later_cost=rest / step.cost)
            if done >= LEAST_DONE * total:
                unit = (now - start) / done
                shown = replace(shown, ends=now + unit * step.cost, later=unit * rest)
            self._begin(shown)
            yield step
            done += step.cost

    def parts[T](self, parts: Sequence[T]) -> Iterator[T]:
        """Yield parts of the present step, of about equal cost, with their number and the time left.

        The time of the parts so far is that of the others. A step that has other work beside these parts keeps its time by `steps`
        where that is longer. Parts of other work in the same step take the place of these.
        """
        step, start = self._step, time.monotonic()
        for number, each in enumerate(parts, 1):
            shown, now = replace(step, details=(*step.details, f"part {number} of {len(parts)}")), time.monotonic()
            if number > 1:
                length = (now - start) / (number - 1) * len(parts)
                later = length * step.later_cost if step.ends is None else step.later
                shown = replace(shown, ends=max(start + length, step.ends or 0.0), later=later)
            self._show(shown)
            yield each

    def _begin(self, step: PresentStep) -> None:
        """Show a step, whose parts may follow."""
        self._step = step
        self._show(step)

    def _show(self, step: PresentStep) -> None:
        """Replace the present step; the spinner reads it at each of its frames."""
        self._present = step
        self._status.update(self)

    def __rich__(self) -> Text:
        """The text at this moment."""
        return literal(self._present.text(time.monotonic()))

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()


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
    """

    frame: "pd.DataFrame"
    title: str
    keys: int = 1  # number of leading columns that identify a row

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


class ExplainedTable(NamedTuple):
    """Table with a title, and the meaning of its columns."""

    title: str
    frame: "pd.DataFrame"
    terms: Mapping[str, str] = {}


def show_explained(*tables: ExplainedTable) -> None:
    """Print tables, each with the meaning of its columns below."""
    for one in tables:
        show(PrintedTable(one.frame, one.title))
        if one.terms:
            show(definitions(one.terms))
            show("")


class _Column(NamedTuple):
    """Heading and cells of a column, as text."""

    heading: Text
    cells: tuple[Text, ...]
    is_number: bool

    @classmethod
    def from_series(cls, series: "pd.Series[Any]") -> "_Column":
        return cls(literal(str(series.name)), tuple(map(_as_text, series)), series.dtype.kind in "biufc")

    @property
    def width(self) -> int:
        return max(text.cell_len for text in (self.heading, *self.cells))

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


def _as_text(cell: object) -> Text:
    """A cell as text: a fraction as `_fraction`, the day of a time at midnight, a dash for a missing number."""
    from pandas import NA, Timestamp  # the help of the program needs no tables

    if cell is NA or cell != cell:
        return literal("–")
    if isinstance(cell, float):
        return literal(_fraction(cell))
    if isinstance(cell, Timestamp) and cell == cell.normalize():
        return literal(str(cell.date()))
    return literal(str(cell))


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
    available = width - COLUMN_GAP * (len(columns) - 1)
    widths = _shrunk([column.width for column in columns], [column.longest_word for column in columns], available)
    for column, wide in zip(columns, widths, strict=True):
        table.add_column(column.heading, justify="right" if column.is_number else "left", width=wide, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*row)
    return table


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

    def fits(columns: Sequence[int]) -> bool:
        return sum(longest_words[place] for place in columns) + COLUMN_GAP * (len(columns) - 1) <= width

    first = list(range(min(keys, len(longest_words))))
    blocks = [first]
    for place in range(len(first), len(longest_words)):
        if not fits([*blocks[-1], place]):
            blocks.append(first)
        blocks[-1] = [*blocks[-1], place]
        if not fits(blocks[-1]):
            return None
    return blocks


def _as_lines(columns: Sequence[_Column]) -> Iterator[Text]:
    for row in zip(*(column.cells for column in columns), strict=True):
        for column, cell in zip(columns, row, strict=True):
            yield Text.assemble("  ", column.heading, ": ", cell)
        yield Text()
