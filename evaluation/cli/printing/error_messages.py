"""Error messages of the command line: advice given in Python is replaced by options of the command."""

import re

ADVICE = (
    (r" Use [^.]*(SwapChain|Auto)\(.*", " Choose --estimator auto."),
    (
        r" Round them, as .*",
        " Round them in the file, or name a column of weeks, months or years, as --time month.",
    ),
    (r"\bencoding is ('[^']*')", r"--encoding is \1"),
    (r"\bGive the defense tolerance=([0-9.e-]*[0-9])", r"Say --tolerance \1"),
    (r"^SignatureAttack needs transitions of order 1;.*", "The signature attack needs --order 1."),
    (r"^SignatureAttack\b", "The signature attack"),
    (r"\bUse SequentialAttack\b", "Use --attack sequential"),
    (r"\b(revision|gaps|leftovers|infeasible|encoding)=['\"]([a-z0-9-]+)['\"]", r"--\1 \2"),
)
"""Pairs of a regular expression, which matches advice in Python, and its replacement."""

MAX_MESSAGE_LENGTH = 1000
"""Characters of an error message that are printed; a cell in a message may have any length."""


def message_in_options(error: Exception) -> str:
    """The message of an error, with settings of Python objects written as options of the command."""
    text = str(error).strip()
    for python, option in ADVICE:
        text = re.sub(python, option, text)
    if len(text) > MAX_MESSAGE_LENGTH:
        text = f"{text[: MAX_MESSAGE_LENGTH // 2]} [...] {text[-MAX_MESSAGE_LENGTH // 2 :]}"
    return text
