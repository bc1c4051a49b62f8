"""Errors that this package raises itself, as opposed to those of a library underneath."""

import linecache
import traceback
from pathlib import Path

import foreknow.app
import foreknow.attacks
import foreknow.defenses
import foreknow.evaluation
import foreknow.models
import foreknow.testing

PACKAGES = (foreknow.models, foreknow.defenses, foreknow.attacks, foreknow.evaluation, foreknow.app, foreknow.testing)
FOLDERS = {Path(package.__file__).resolve().parent for package in PACKAGES}


def is_own(error):
    """Return whether an error is a TypeError, ValueError or FileNotFoundError from a ``raise`` statement of this package."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    here = FOLDERS.intersection(Path(last.filename).resolve().parents)
    lines = [
        linecache.getline(last.filename, line) for line in range(last.lineno, (last.end_lineno or last.lineno) + 1)
    ]
    kinds = ValueError | TypeError | FileNotFoundError
    return bool(here) and isinstance(error, kinds) and "raise" in "".join(lines)
