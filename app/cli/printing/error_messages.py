"""Error messages of the command line: advice given in Python is replaced by options of the command."""

import errno
import re
import shlex
from collections.abc import Callable

from foreknow.models import InputFaults

ADVICE: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r" Use [^.]*(SwapChain|Auto)\(.*", " Choose --estimator auto."),
    (
        r" Round them, as .*",
        " Round them in the file, or name a column of weeks, months or years, as --time month.",
    ),
    (r"\b(encoding|separator|time_format) is ('[^']*')", lambda match: f"--{_option(match[1])} is {match[2]}"),
    (r"\bmissing_texts=\['([^']*)'\]", r"--missing-value \1"),
    (r"\b(categorical|number)s?=\[(['\"])(.*?)\2\]", lambda match: f"--{match[1]} {quoted(match[3])}"),
    (r"\btime_format=\[([^]]*)\]", lambda match: _repeated("--time-format", match[1])),
    (r"\btime_format=('[^']*')", r"--time-format \1"),
    (r"\b(separator|decimal)=('[^']*')", r"--\1 \2"),
    (r"\bset another time_format", "set another --time-format"),
    (r"\btime='([a-z]+)'", r"--time \1"),
    (
        r"\b(equal_values|missing|duplicates)='([a-z]+)'",
        lambda match: f"--{_option(match[1])} {match[2]}",
    ),
    (r"\bGive the defense tolerance=([0-9.e-]*[0-9])", r"Say --tolerance \1"),
    (r"\bthe view at\b", "the release at"),
    (r"\b(of \d+|these) views\b", r"\1 releases"),
    (r"^SignatureAttack needs transitions of order 1;.*", "The signature attack needs --order 1."),
    (r"^SignatureAttack\b", "The signature attack"),
    (r"\bUse SequentialAttack\b", "Use --attack sequential"),
    (r"\b(revision|gaps|leftovers|infeasible|encoding)=['\"]([a-z0-9-]+)['\"]", r"--\1 \2"),
)
"""Pairs of a regular expression, which matches advice in Python, and its replacement."""

SUGGESTION = r"set (--(?:equal-values|missing|duplicates|number) \S+|--time-format '[^']*'(?: --time-format '[^']*')+(?=[.,;]|$))"
"""Pattern of an option that settles a fault by itself; formats of times do unless one of them has two readings."""

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
    text = str(error).strip()
    for python, option in ADVICE:
        text = re.sub(python, option, text)
    if len(text) > MAX_MESSAGE_LENGTH:
        text = f"{text[: MAX_MESSAGE_LENGTH // 2]} [...] {text[-MAX_MESSAGE_LENGTH // 2 :]}"
    return text


def fault_lines(faults: InputFaults) -> list[str]:
    """The faults of a file, one line each, with settings written as options; the last line counts them."""
    lines = [message_in_options(ValueError(line)) for line in faults.lines]
    if len(lines) == 1:
        return lines
    options = " ".join(dict.fromkeys(_suggested(lines)))
    together = f" In one step: {options}" if options else ""
    return [
        *(f"{number}. {line}" for number, line in enumerate(lines, 1)),
        f"{len(lines)} faults in the file.{together} (foreknow describe FILE shows each column.)",
    ]


def _suggested(lines: list[str]) -> list[str]:
    """The first option that each line suggests to set."""
    found = [re.search(SUGGESTION, line) for line in lines]
    return [match[1].rstrip(";,.") for match in found if match]


def quoted(text: str) -> str:
    """A text as one argument of a shell.

    >>> quoted("birth year")
    "'birth year'"
    """
    return shlex.quote(text)


def _repeated(option: str, texts: str) -> str:
    """An option once for each of some texts in quotes."""
    return " ".join(f"{option} {text}" for text in re.findall(r"'[^']*'", texts))


def _option(name: str) -> str:
    return name.replace("_", "-")
