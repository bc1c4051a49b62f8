"""The separator of the cells of a CSV file, found from its first records."""

import csv
import io
from pathlib import Path

from foreknow.models.advice import Advice, Wording

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""Separators that are recognized, and their names in the plural."""

SAMPLE_CHARACTERS, SAMPLE_RECORDS = 65_536, 50
"""Size of the part of a file from which its separator is found."""


def check_separator(separator: str | None) -> None:
    """Raise ValueError unless a separator is one character that can separate cells, or None."""
    if separator is not None and not (
        isinstance(separator, str) and len(separator) == 1 and separator not in '"\r\n\0'
    ):
        name = Wording("separator", "--separator")
        raise ValueError(Advice(name, f" is {separator!r}; it is one character, as ';' or '\\t'."))


def separator_of(path: Path, encoding: str) -> str:
    """The separator of a CSV file: the one that gives its first record the most cells, and the others as many.

    A comma if none does. Cost: O(1) in the size of the file.
    """
    with path.open(encoding=encoding, newline="") as file:
        sample = file.read(SAMPLE_CHARACTERS)
    if len(sample) == SAMPLE_CHARACTERS and (end := sample.rfind("\n")) > 0:
        sample = sample[:end]
    return max(SEPARATORS, key=lambda separator: _fit(sample, separator))


def _fit(sample: str, separator: str) -> tuple[bool, int]:
    """Return whether all records have as many cells as the first, if it has several; and the number of these."""
    rows = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
    try:
        cells = [len(row) for row, _ in zip((row for row in rows if row), range(SAMPLE_RECORDS), strict=False)]
    except csv.Error:
        return False, 0
    first = cells[0] if cells else 0
    return first > 1 and all(number == first for number in cells), first
