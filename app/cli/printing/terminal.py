"""Output to a terminal: the two consoles, text from files with control characters escaped, progress bars."""

import re
import textwrap
from collections.abc import Iterable, Iterator

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
