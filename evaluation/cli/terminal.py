"""Output to a terminal: text of files with control characters shown, not obeyed, and progress bars."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)]}
"""Characters that move the cursor, clear the screen or begin such a command."""

DIRECTION = {
    code: f"\\u{code:04x}"
    for code in [0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
}
"""Characters that turn the direction of a line or break it, and halves of characters, which no terminal takes."""


def visible(text: str) -> str:
    r"""The text with control characters written as codes.

    >>> print(visible("\x1b[2Jflu"))
    \x1b[2Jflu
    """
    return text.translate(CONTROL | DIRECTION)


def literal(text: str) -> Text:
    """The text as Rich prints it unchanged: control characters as codes, and no brackets taken for styles."""
    return Text(visible(text))


def tracked[T](things: Iterable[T], description: str, console: Console) -> Iterator[T]:
    """The things, one after another, behind a progress bar that vanishes at the end.

    The bar is drawn at each step, by no thread of its own: `rich.progress.track` has a thread, and deadlocks if its iterator
    is collected after an error while another bar is drawn.
    """
    with Progress(console=console, transient=True, auto_refresh=False) as bar:
        yield from bar.track(things, description=description)
