"""Text of files on a terminal: control characters are shown, not obeyed."""

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
