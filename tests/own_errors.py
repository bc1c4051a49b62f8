"""Errors that this package raises itself, as opposed to those of a library underneath."""

import linecache
import traceback
from pathlib import Path

import foreknow.attacks
import foreknow.defenses
import foreknow.models

FOLDERS = {
    Path(package.__file__).resolve().parent for package in (foreknow.models, foreknow.defenses, foreknow.attacks)
}


def is_own(error):
    """Return whether an error is a TypeError or ValueError from a ``raise`` statement of this package."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    here = FOLDERS.intersection(Path(last.filename).resolve().parents)
    lines = [
        linecache.getline(last.filename, line) for line in range(last.lineno, (last.end_lineno or last.lineno) + 1)
    ]
    return bool(here) and isinstance(error, ValueError | TypeError) and "raise" in "".join(lines)
