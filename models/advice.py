"""Advice in error messages, as data: Python writes a setting as an argument, the command line as an option."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """A setting, and a value to give it.

    Attributes
    ----------
    name : str
        The parameter in Python.
    value : object
    settles : bool
        True if the value alone settles a fault of a file.
    """

    name: str
    value: Any
    settles: bool = False

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}"


class Wording(NamedTuple):
    """Words that differ between Python and the command line."""

    python: str
    command: str

    def __str__(self) -> str:
        return self.python


class Named(NamedTuple):
    """An object that Python shows by its expression, as a defense."""

    object: Any

    def __str__(self) -> str:
        return repr(self.object)


VIEW = Wording("view", "release")
VIEWS = Wording("views", "releases")


class Advice(str):
    """Text for a reader in Python, with the settings and wordings in it.

    Parameters
    ----------
    *parts : object
        Texts, settings, wordings, named objects and other advice.

    Examples
    --------
    >>> text = Advice("fill them in, or set ", Setting("missing", "drop"))
    >>> text, [setting.value for setting in text.settings]
    ("fill them in, or set missing='drop'", ['drop'])
    """

    parts: tuple[Any, ...]

    def __new__(cls, *parts: Any) -> "Advice":
        """Make the text."""
        text = super().__new__(cls, "".join(map(str, parts)))
        text.parts = parts
        return text

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.parts

    def worded(self, word: Callable[[Any], str]) -> str:
        """The text, with each part that is no text in the words of a function."""
        return "".join(
            part.worded(word) if isinstance(part, Advice) else part if isinstance(part, str) else word(part)
            for part in self.parts
        )

    @property
    def settings(self) -> Iterator[Setting]:
        """The settings in it, in their order."""
        for part in self.parts:
            if isinstance(part, Advice):
                yield from part.settings
            elif isinstance(part, Setting):
                yield part


def settings_in(text: str) -> list[Setting]:
    """The settings that a text advises; none if it is no `Advice`."""
    return list(text.settings) if isinstance(text, Advice) else []


def message_of(error: BaseException) -> str:
    """The message of an error, as `Advice` where it was raised with one."""
    (message, *others) = error.args or ("",)
    return message if isinstance(message, Advice) and not others else str(error)
