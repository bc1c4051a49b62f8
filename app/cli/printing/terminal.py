"""Output to a terminal: the two consoles, text from files with control characters escaped, progress bars."""

import re
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, RenderableType
from rich.progress import Progress
from rich.text import Text

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
    indent = "    " if text.startswith(" ") else ""
    width = max(console.width, 40)
    for line in textwrap.wrap(
        visible(text), width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def continued(command: str) -> list[str]:
    """The lines of a command as a shell reads them: broken at options, with backslashes, to the width of the terminal."""
    lines = [""]
    for part in re.split(r" (?=--)", command):
        if lines[-1] and len(lines[-1]) + len(part) + 4 > max(console.width, 40):
            lines.append("")
        lines[-1] += f" {part}"
    return [
        f"{'    ' if place else '  '}{line.strip()}" + (" \\" if place < len(lines) - 1 else "")
        for place, line in enumerate(lines)
    ]


def say(*lines: str) -> None:
    """Print lines on standard output, with control characters escaped and without wrapping."""
    for line in lines:
        console.print(visible(line), markup=False, highlight=False, soft_wrap=True)


def say_sentences(*lines: str) -> None:
    """Print sentences on standard output, with control characters escaped; a terminal gets them wrapped at spaces."""
    for line in lines:
        console.print(visible(line), markup=False, highlight=False, soft_wrap=not console.is_terminal)


def say_verdict(*lines: str) -> None:
    """Print the verdict of a command above its tables, where its reader begins; it is repeated below them, before the end."""
    say_sentences(*lines, "")


def notice(line: str) -> None:
    """Print a line on standard error, with control characters escaped and without wrapping."""
    error_console.print(visible(line), markup=False, highlight=False, soft_wrap=True)


def show_hanging(line: str) -> None:
    """Print a numbered line on standard error, wrapped at spaces to the terminal, with the later lines indented."""
    width = max(error_console.width, 40)
    wrapped = textwrap.wrap(
        visible(line), width, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False
    )
    for part in wrapped:
        error_console.print(part, markup=False, highlight=False, soft_wrap=True)


def show_error(message: str) -> None:
    """Print an error message on standard error."""
    text = Text.assemble(("error:", "bold red"), " ", visible(message))
    error_console.print(text, highlight=False, soft_wrap=True)


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


class Costed(Protocol):
    """A step with a title and a cost, in any unit."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def cost(self) -> float: ...  # noqa: D102


@dataclass(frozen=True)
class PresentStep:
    """Text of a step: its title, details in parentheses, and the time left.

    Attributes
    ----------
    title : str
    details : tuple of str
    ends : float or None
        Time at which the step is expected to end, by `time.monotonic`; None if no time is told.
    later : float
        Expected seconds of the later steps.
    later_cost : float
        Cost of the later steps over that of this one.
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

    def steps[T: Costed](self, steps: Sequence[T]) -> Iterator[T]:
        """Yield the steps one after another, with their number and the time left."""
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
