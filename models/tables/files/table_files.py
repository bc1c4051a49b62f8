"""Tables read from CSV and Parquet files, without rounding and without guesses at missing cells."""

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models.advice import Advice, message_of
from foreknow.models.settings import check_kind
from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.files.csv_files import column_names, read_csv
from foreknow.models.tables.files.line_numbers import uneven_lines
from foreknow.models.tables.files.parquet_files import read_parquet
from foreknow.models.tables.files.separators import check_separator, separator_of
from foreknow.models.tables.files.text_encodings import check_encoding, text_codec, undecodable

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
"""Suffixes of files whose cells are text."""


def read_table(
    path: "str | Path",
    text: Iterable[str] = (),
    encoding: str = "utf-8",
    missing: Iterable[str] = ("",),
    separator: str | None = None,
) -> pd.DataFrame:
    """Read a CSV or Parquet file, chosen by its suffix: .csv, .tsv or .txt, or .parquet.

    Parameters
    ----------
    path : path
        The file. The first line of a CSV names the columns.
    text : iterable of str
        Columns of a CSV whose cells are text even if they have the form of numbers: ``007`` is not 7 there.
    encoding : str
        The encoding of a CSV. A byte order mark of UTF-8 is skipped.
    missing : iterable of str
        The texts that mark a missing cell. By default only the empty cell of a CSV: ``NA``, ``None`` and ``null`` are text.
    separator : str, optional
        The character between the cells of a CSV. By default the one of ``, ; |`` and the tab that gives its records the same
        number of cells; see `separator_of`.

    Returns
    -------
    DataFrame
        Integers are exact: where a cell is missing or a number needs more than 64 bits, as Python or pandas integers. Of a
        Parquet file, dictionary-encoded columns are decoded and a named index is a column; other pandas metadata of the file
        (``attrs``, extension types) is not read.

    Raises
    ------
    TypeError
        If the path is neither a text nor a path, or ``text`` or ``missing`` is no list of texts.
    ValueError
        If the suffix is another, Python has no such encoding, the file is not in its format or encoding, lines of a CSV
        differ in their number of cells, or there are more than `MAX_COLUMNS` columns.
    FileNotFoundError
        If there is no such file.
    """
    check_kind("read_table", "path", path, (str, PathLike), "is the path of a .csv or .parquet file")
    columns, absent = _texts("text", text), _texts("missing", missing)
    path, suffix = _checked_path(Path(path))
    if suffix not in TEXT_SUFFIXES:
        with _in_place(path, encoding):
            return read_parquet(path, absent)
    check_encoding(encoding)
    check_separator(separator)
    with _in_place(path, encoding, separator):
        return read_csv(path, columns, encoding, absent, separator or separator_of(path, text_codec(encoding)))


def file_notation(path: Path, encoding: str, separator: str | None) -> tuple[str, str] | tuple[None, None]:
    """The encoding and the separator with which `read_table` reads a file; None and None for Parquet."""
    path, suffix = _checked_path(path)
    if suffix not in TEXT_SUFFIXES:
        return None, None
    check_encoding(encoding)
    check_separator(separator)
    with _in_place(path, encoding):
        return encoding, separator or separator_of(path, text_codec(encoding))


def columns_of(path: Path, encoding: str = "utf-8", separator: str | None = None) -> list[str]:
    """The names of the columns of a file, without reading its records.

    Raises
    ------
    ValueError, FileNotFoundError
        As `read_table`.
    """
    codec, mark = file_notation(path, encoding, separator)
    with _in_place(path, encoding):
        if codec is None or mark is None:
            return [str(name) for name in pq.read_schema(path).names]
        return column_names(path, codec, mark)


def _checked_path(path: Path) -> tuple[Path, str]:
    """A path and its suffix, if tables are read from such files and there is one."""
    suffix = path.suffix.lower()
    if suffix not in (*TEXT_SUFFIXES, ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix!r}; a table is read from .csv, .tsv, .txt or .parquet.")
    _check_exists(path)
    return path, suffix


@contextmanager
def _in_place(path: Path, encoding: str, separator: str | None = None) -> Iterator[None]:
    """Errors of reading a file, with its name and in plain words."""
    kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    try:
        yield
    except UnicodeError:
        raise ValueError(Advice(f"{path} cannot be read as csv: ", undecodable(path, encoding))) from None
    except (ValueError, OSError, pa.ArrowException, csv.Error) as error:
        ragged = "Expected" in str(error) and kind == "csv"
        words = uneven_lines(path, encoding, separator) if ragged else ""
        raise ValueError(Advice(f"{path} cannot be read as {kind}: ", words or _in_words(message_of(error)))) from None


def _texts(name: str, texts: Iterable[str]) -> list[str]:
    """A list of texts; raises TypeError if it is one text or holds other values."""
    listed = as_list("read_table", name, texts, "is a list of texts, as ['id']")
    for one in listed:
        check_kind("read_table", f"one of {name}", one, str, "is a text")
    return listed


def _check_exists(path: Path) -> None:
    try:
        exists = path.exists()
    except OSError:  # A name that is too long.
        exists = False
    if not exists:
        raise FileNotFoundError(f"there is no file {str(path)[:200]}.")


def _in_words(error: str) -> str:
    """An error of pandas' parser in plain words; another error unchanged."""
    if cells := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", error):
        columns, line, number = cells.groups()
        return f"line {line} has {number} cells, and the table {columns} columns; put cells that hold commas in quotes."
    if quote := re.search(r"EOF inside string starting at row (\d+)", error):
        return f"a quote is opened in line {int(quote[1]) + 1} and never closed; close it."
    return error if isinstance(error, Advice) else error.strip()
