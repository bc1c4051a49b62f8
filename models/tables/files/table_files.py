"""Tables read from CSV and Parquet files, without rounding and without guesses at missing cells."""

import re
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import pandas as pd
import pyarrow as pa

from foreknow.models.settings import check_kind
from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.files.csv_files import read_csv
from foreknow.models.tables.files.parquet_files import read_parquet
from foreknow.models.tables.files.text_encodings import check_encoding, undecodable


def read_table(
    path: "str | Path", text: Iterable[str] = (), encoding: str = "utf-8", missing: Iterable[str] = ("",)
) -> pd.DataFrame:
    """Read a CSV or Parquet file, chosen by its suffix.

    Parameters
    ----------
    path : path
        The file. Cells of a CSV are separated by commas, and its first line names the columns.
    text : iterable of str
        Columns of a CSV whose cells are text even if they have the form of numbers: ``007`` is not 7 there.
    encoding : str
        The encoding of a CSV. A byte order mark of UTF-8 is skipped.
    missing : iterable of str
        The texts that mark a missing cell. By default only the empty cell of a CSV: ``NA``, ``None`` and ``null`` are text.

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
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix!r}; a table is read from .csv or .parquet.")
    _check_exists(path)
    if suffix == ".csv":
        check_encoding(encoding)
    try:
        return read_csv(path, columns, encoding, absent) if suffix == ".csv" else read_parquet(path, absent)
    except UnicodeError:
        raise ValueError(f"{path} cannot be read as csv: {undecodable(path, encoding)}") from None
    except (ValueError, OSError, pa.ArrowException) as error:
        raise ValueError(f"{path} cannot be read as {suffix[1:]}: {_in_words(str(error))}") from None


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
    return error.strip()
