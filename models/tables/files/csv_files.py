"""CSV files as tables, with exact integers."""

import csv
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.tables.columns.plain_columns import MAX_EXACT_INTEGER
from foreknow.models.tables.files.text_encodings import NAME_ENCODING, text_codec

MAX_COLUMNS = 16_384
"""Largest number of columns of a table, as in spreadsheets: pandas takes minutes to read a line of a million commas."""

INTEGER_PATTERN = r"\s*[+-]?[0-9]+\s*"
"""Text of an integer. PyArrow, which pandas asks, takes no repetition over 1,000: the length is checked apart."""

MAX_INTEGER_TEXT = 4000
"""Largest number of characters of an integer; Python reads 4,300 digits."""


def read_csv(path: Path, text: Iterable[str], encoding: str, missing: list[str], separator: str) -> pd.DataFrame:
    """Read a CSV file; arguments and errors as of `read_table`."""
    encoding = text_codec(encoding)
    _check_first_lines(path, encoding, separator)
    names = set(text)
    frame = _cells(path, encoding, missing, separator, dict.fromkeys(names, "str"))
    large = [name for name in frame.columns if name not in names and _may_be_inexact(frame[name])]
    if large:
        cells = _cells(path, encoding, missing, separator, dict.fromkeys(frame.columns, "str"))
        frame = frame.assign(**{name: _integers(cells[name], frame[name]) for name in large})
    return frame


def _cells(
    path: Path, encoding: str, missing: list[str], separator: str, types: Mapping[Hashable, str]
) -> pd.DataFrame:
    return pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
        dtype=types,
        keep_default_na=False,
        na_values=missing,
        index_col=False,
        low_memory=False,
    )


def column_names(path: Path, encoding: str, separator: str) -> list[str]:
    """The cells of the first line of a CSV file that is not empty."""
    with path.open(encoding=text_codec(encoding), newline="") as file:
        return next((cells for cells in csv.reader(file, delimiter=separator) if cells), [])


def _check_first_lines(path: Path, encoding: str, separator: str) -> None:
    """Raise ValueError unless the first line names columns and the second has at most as many cells."""
    with path.open(encoding=encoding, newline="") as file:
        lines = (cells for cells in csv.reader(file, delimiter=separator) if cells)
        try:
            names, first = next(lines, []), next(lines, None)
        except csv.Error:
            raise ValueError(
                f"one of its first cells has over {csv.field_size_limit():,} characters; close the quote that opens it."
            ) from None
    _check_names(names, encoding)
    if first is not None and len(first) > len(names):
        raise ValueError(
            f"its first line names {len(names)} columns, and the next has {len(first)} cells; give every cell a column."
        )


def _check_names(names: list[str], encoding: str) -> None:
    """Raise ValueError unless a first line names columns, each once."""
    if not names:
        raise ValueError("it is empty; its first line must name the columns.")
    if any("\0" in name for name in names):
        raise ValueError(Advice(f"it holds NUL characters, as UTF-16 does when read as {encoding}; ", NAME_ENCODING))
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"it has {len(names):,} columns, and at most {MAX_COLUMNS:,} are read; leave some out.")
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
        raise ValueError(
            Advice(
                f"its only column is {names[0][:80]!r}; name the character between its cells, as ",
                Setting("separator", ";"),
                ", or leave it out.",
            )
        )
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"the column {twice!r} appears twice in its first line; rename or drop one.")


def _may_be_inexact(column: "pd.Series[Any]") -> bool:
    """Return whether a column may hold integers that pandas rounded to floats or left as text."""
    known = column[column.notna()]
    if isinstance(column.dtype, pd.StringDtype):
        return bool(len(known)) and _are_integers(known.iloc[:1])
    if column.dtype != np.float64 or not len(known):
        return False
    return bool((np.abs(known) >= MAX_EXACT_INTEGER).any() and np.isfinite(known).all() and (known % 1 == 0).all())


def _are_integers(texts: "pd.Series[Any]") -> bool:
    """Return whether every text is that of an integer."""
    return bool((texts.str.fullmatch(INTEGER_PATTERN) & (texts.str.len() <= MAX_INTEGER_TEXT)).all())


def _integers(cells: "pd.Series[Any]", otherwise: "pd.Series[Any]") -> "pd.Series[Any]":
    """Text as Python integers if every cell is the text of one; ``otherwise`` if not."""
    known = cells.notna()
    if not _are_integers(cells[known]):
        return otherwise
    numbers = [int(cell) if there else None for cell, there in zip(cells, known, strict=True)]
    return pd.Series(numbers, index=cells.index, dtype=object)
