"""Error messages of the command line: advice given in Python is replaced by options of the command."""

import errno
import shlex
from collections.abc import Sequence
from typing import Any

from foreknow.models import InputFaults
from foreknow.models.advice import Advice, Setting, Wording, message_of, settings_in

OPTIONS = {"missing_texts": "missing-value", "numbers": "number"}
"""Options whose names differ from those of the settings."""

IN_QUOTES = ("separator", "decimal", "time_format")
"""Settings whose values are written in quotes: they hold characters that a shell reads."""

MAX_MESSAGE_LENGTH = 1000
"""Characters of an error message that are printed; a cell in a message may have any length."""


NO_SPACE = (
    "No space left on the disk of the output or of temporary files (with --from-disk, --scratch names their folder). Free some, "
    "and run the command again; with --from-disk it goes on after the last whole block."
)
"""Message where a disk is full, whatever wrote to it."""


def error_lines(error: Exception) -> list[str]:
    """The message of an error, or the faults of a file, one line each."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return [NO_SPACE]
    return fault_lines(error) if isinstance(error, InputFaults) else [message_in_options(error)]


def message_in_options(error: Exception) -> str:
    """The message of an error, with settings of Python objects written as options of the command."""
    return line_in_options(message_of(error))


def line_in_options(text: str) -> str:
    """A text for a reader in Python, with its settings written as options of the command."""
    text = (text.worded(_words) if isinstance(text, Advice) else text).strip()
    if len(text) > MAX_MESSAGE_LENGTH:
        text = f"{text[: MAX_MESSAGE_LENGTH // 2]} [...] {text[-MAX_MESSAGE_LENGTH // 2 :]}"
    return text


def fault_lines(faults: InputFaults) -> list[str]:
    """The faults of a file, one line each, with settings written as options; the last line counts them."""
    lines = [line_in_options(line) for line in faults.lines]
    if len(lines) == 1:
        return lines
    options = " ".join(dict.fromkeys(_suggested(faults.lines)))
    together = f" In one step: {options}" if options else ""
    return [
        *(f"{number}. {line}" for number, line in enumerate(lines, 1)),
        f"{len(lines)} faults in the file.{together} (foreknow describe FILE shows each column.)",
    ]


def _suggested(lines: Sequence[str]) -> list[str]:
    """The first option of each line that settles a fault by itself."""
    settling = [[setting for setting in settings_in(line) if setting.settles] for line in lines]
    return [option(*settings[0][:2]) for settings in settling if settings]


def _words(part: Any) -> str:
    """A part of advice in the words of the command line."""
    if isinstance(part, Setting):
        return option(part.name, part.value)
    if isinstance(part, Wording):
        return part.command
    from foreknow.app.cli.defense_choices import defense_text

    return defense_text(part.object)


def option(name: str, value: Any) -> str:
    """A setting in Python as an option of the command.

    >>> option("missing", "drop"), option("categorical", ["birth year"])
    ('--missing drop', "--categorical 'birth year'")
    """
    flag = f"--{OPTIONS.get(name, name.replace('_', '-'))}"
    if value is True:
        return flag
    values = value if isinstance(value, list) else [value]
    write = repr if name in IN_QUOTES else quoted if isinstance(value, list) else str
    return " ".join(f"{flag} {write(each)}" for each in values)


def quoted(text: str) -> str:
    """A text as one argument of a shell.

    >>> quoted("birth year")
    "'birth year'"
    """
    return shlex.quote(text)
