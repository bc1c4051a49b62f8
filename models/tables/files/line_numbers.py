"""Line numbers of the records of a CSV file, for messages."""

import csv
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foreknow.models.tables.files.separators import SEPARATORS, separator_of
from foreknow.models.tables.files.text_encodings import text_codec


@dataclass(frozen=True)
class SourceFile:
    """A file of records, and the notation that it was read with.

    Attributes
    ----------
    path : Path
    records : int
        The number of its records.
    encoding, separator : str or None
        None for a Parquet file.
    """

    path: Path
    records: int
    encoding: str | None = None
    separator: str | None = None


def places_in(files: Sequence[SourceFile], rows: Sequence[int]) -> list[str]:
    """The places of rows, numbered through some files: "line 7", or "line 7 of corpus.csv" after the first file.

    A line is that on which the record begins; the first line of a file is 1. The records of a Parquet file are numbered from 1.
    Cost: a second reading of each file.
    """
    ends = list(itertools.accumulate(file.records for file in files))
    wanted = {row: next(place for place, end in enumerate(ends) if row < end) for row in rows}
    lines = {place: _lines(files[place]) for place in set(wanted.values())}
    named = []
    for row in rows:
        place = wanted[row]
        within = row - (ends[place] - files[place].records)
        listed = lines[place]
        text = f"record {within + 1}" if listed is None else f"line {listed[within]}"
        named.append(f"{text} of {files[place].path.name}" if place else text)
    return named


def _lines(file: SourceFile) -> list[int] | None:
    """The first line of each record; None if the file has no lines, or another number of records than was read."""
    if file.encoding is None:
        return None
    lines, end = [], 0
    with file.path.open(encoding=text_codec(file.encoding), newline="") as text:
        reader = csv.reader(text, delimiter=file.separator or ",")
        for cells in reader:
            start, end = end + 1, reader.line_num
            if len(cells) > 1 or (cells and cells[0].strip()):
                lines.append(start)
    return lines[1:] if len(lines) == file.records + 1 else None


def uneven_lines(path: Path, encoding: str, separator: str | None) -> str:
    """A clause that lists the lines with more cells than the first line has; empty if there is none."""
    mark = separator or separator_of(path, text_codec(encoding))
    found, end, columns = [], 0, 0
    with path.open(encoding=text_codec(encoding), newline="") as text:
        reader = csv.reader(text, delimiter=mark)
        for cells in reader:
            start, end = end + 1, reader.line_num
            columns = columns or len(cells)
            if len(cells) > columns:
                found.append((start, len(cells)))
    if not found:
        return ""
    line, number = found[0]
    listed = ", ".join(str(one) for one, _ in found[:5])
    others = f" ({len(found):,} such lines: {listed}{', ...' if len(found) > 5 else ''})" if len(found) > 1 else ""
    return (
        f"line {line} has {number} cells, and the table {columns} columns{others}; put cells that hold "
        f"{SEPARATORS.get(mark, repr(mark))} in quotes."
    )
