"""Recognition of a generalization hierarchy: a file without a header, whose rows form a tree with one root."""

from pathlib import Path

from foreknow.app.cli.files.input_files import InputFiles
from foreknow.models import Hierarchy

MIN_VALUES = 2
"""Number of values from which a file is recognized as a hierarchy."""


def hierarchy_in(path: Path, files: InputFiles) -> Hierarchy | None:
    """The hierarchy of a file, as `Hierarchy.read` reads it; None if it is none.

    A table of records has a header, which would be a second root. Cost: the first two lines for most tables.
    """
    if not _may_have_one_root(path, files.encoding):
        return None
    try:
        found = Hierarchy.read(path, files.separator, files.encoding)
    except ValueError:
        return None
    return found if len(found.leaves) >= MIN_VALUES else None


def _may_have_one_root(path: Path, encoding: str) -> bool:
    """Return whether the first two lines of a file of text end with the same characters."""
    try:
        with path.open(encoding=encoding) as file:
            first, second = (file.readline().strip() for _ in range(2))
    except (OSError, UnicodeError, LookupError):
        return False
    return bool(first) and first[-1:] == second[-1:]
