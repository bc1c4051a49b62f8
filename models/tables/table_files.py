"""Tables from CSV and Parquet files, every cell as the file has it."""

import codecs
import csv
import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models.tables.plain_columns import LARGEST_WHOLE

MOST_COLUMNS = 16_384
"""The most columns of a table, as in spreadsheets: pandas takes minutes to read a line of a million commas."""

WHOLE = r"\s*[+-]?[0-9]{1,4000}\s*"
"""A whole number as it is written."""

EXTENSIONS = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}
"""The pandas type of whole numbers of which some are missing."""


def read_table(
    path: "str | Path", text: Iterable[str] = (), encoding: str = "utf-8", missing: Iterable[str] = ("",)
) -> pd.DataFrame:
    """Read a CSV or Parquet file, chosen by its ending.

    Parameters
    ----------
    path : path
        The file. Cells of a CSV are separated by commas, and its first line names the columns.
    text : iterable of str
        Columns of a CSV whose cells are text even where they look like numbers: ``007`` is not 7 there.
    encoding : str
        The encoding of a CSV. A byte order mark of UTF-8 is skipped.
    missing : iterable of str
        The cells of text that are missing. By default only the empty cell of a CSV: ``NA``, ``None`` and ``null`` are text.

    Returns
    -------
    DataFrame
        Whole numbers are exact: where a cell is missing or a number does not fit 64 bits, as Python or pandas integers. Of a
        Parquet file, dictionary-encoded columns are decoded, a named index is a column, and what else pandas carries in the
        file (``attrs``, types of its own) is left aside.

    Raises
    ------
    ValueError
        If the ending is another, the encoding of a CSV is none that Python knows, the file cannot be read as what it
        says it is, in that encoding, the lines of a CSV do not have the same number of cells, or there are more than
        `MOST_COLUMNS` columns.
    FileNotFoundError
        If there is no such file.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix!r}; a table is read from .csv or .parquet.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if kind == ".csv":
        check_encoding(encoding)
    try:
        return _read_csv(path, text, encoding, missing) if kind == ".csv" else _read_parquet(path, missing)
    except UnicodeError:
        raise ValueError(f"{path} cannot be read as csv: {undecodable(path, encoding)}") from None
    except (ValueError, OSError, pa.ArrowException) as error:
        raise ValueError(f"{path} cannot be read as {kind[1:]}: {_in_words(str(error))}") from None


def _read_csv(path: Path, text: Iterable[str], encoding: str, missing: Iterable[str]) -> pd.DataFrame:
    encoding = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    _check_shape(path, encoding)
    names, absent = set(text), list(missing)
    frame = _cells(path, encoding, absent, dict.fromkeys(names, "str"))
    large = [name for name in frame.columns if name not in names and _may_be_inexact(frame[name])]
    if large:
        cells = _cells(path, encoding, absent, dict.fromkeys(frame.columns, "str"))
        frame = frame.assign(**{name: _whole(cells[name], frame[name]) for name in large})
    return frame


def _cells(path: Path, encoding: str, missing: list[str], types: Mapping[Hashable, str]) -> pd.DataFrame:
    return pd.read_csv(
        path,
        encoding=encoding,
        dtype=types,
        keep_default_na=False,
        na_values=missing,
        index_col=False,
        low_memory=False,
    )


def _check_shape(path: Path, encoding: str) -> None:
    """Raise ValueError unless the first line names columns, each once, and the second has as many cells."""
    with path.open(encoding=encoding, newline="") as file:
        lines = (cells for cells in csv.reader(file) if cells)
        try:
            names, first = next(lines, []), next(lines, None)
        except csv.Error:
            raise ValueError(
                f"one of its first cells has over {csv.field_size_limit():,} characters; close the quote that opens it."
            ) from None
    if not names:
        raise ValueError("it is empty; its first line must name the columns.")
    if any("\0" in name for name in names):
        raise ValueError(f"it holds NUL characters, as UTF-16 does when read as {encoding}; {_NAME_ENCODING}")
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"it has {len(names):,} columns, and at most {MOST_COLUMNS:,} are read; leave some out.")
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise ValueError(f"its only column is {names[0][:80]!r}; cells are separated by commas. Save it with commas.")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"the column {twice!r} stands twice in its first line; rename or drop one.")
    if first is not None and len(first) > len(names):
        raise ValueError(
            f"its first line names {len(names)} columns, and the next has {len(first)} cells; give every cell a column."
        )


_NAME_ENCODING = "name its encoding, as encoding='latin-1' or encoding='utf-16', or save the file as UTF-8."


def check_encoding(encoding: str) -> None:
    """Raise ValueError unless Python has an encoding of text by this name."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding is {encoding!r}, and Python has no encoding of text by this name; name another, as encoding='latin-1'."
        ) from None


def undecodable(path: Path, encoding: str) -> str:
    """The first byte of a file that is not in an encoding, in words."""
    data = path.read_bytes()
    try:
        data.decode(encoding)
        at = 0
    except UnicodeError as error:
        at = getattr(error, "start", 0)
    line = data.count(b"\n", 0, at) + 1
    return f"byte {at} (0x{data[at]:02x}, in line {line}) is not {encoding}; {_NAME_ENCODING}"


def _in_words(error: str) -> str:
    """An error of pandas' parser in plain words, any other as it is."""
    if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", error):
        columns, line, cells = found.groups()
        return f"line {line} has {cells} cells, and the table {columns} columns; put cells that hold commas in quotes."
    if found := re.search(r"EOF inside string starting at row (\d+)", error):
        return f"a quote is opened in line {int(found[1]) + 1} and never closed; close it."
    return error.strip()


def _may_be_inexact(column: "pd.Series[Any]") -> bool:
    """Whether a column may be of whole numbers that pandas rounded to floats, or left as text."""
    known = column[column.notna()]
    if isinstance(column.dtype, pd.StringDtype):
        return bool(len(known)) and re.fullmatch(WHOLE, known.iloc[0]) is not None
    if column.dtype != np.float64 or not len(known):
        return False
    return bool((np.abs(known) >= LARGEST_WHOLE).any() and np.isfinite(known).all() and (known % 1 == 0).all())


def _whole(cells: "pd.Series[Any]", otherwise: "pd.Series[Any]") -> "pd.Series[Any]":
    """Text as Python integers, where all of it is written as whole numbers."""
    known = cells.notna()
    if not cells[known].str.fullmatch(WHOLE).all():
        return otherwise
    numbers = [int(cell) if there else None for cell, there in zip(cells, known, strict=True)]
    return pd.Series(numbers, index=cells.index, dtype=object)


def _read_parquet(path: Path, missing: Iterable[str]) -> pd.DataFrame:
    with pq.ParquetFile(path) as file:
        if len(file.schema_arrow) > MOST_COLUMNS:
            raise ValueError(f"it has {len(file.schema_arrow):,} columns, and at most {MOST_COLUMNS:,} are read.")
        table = file.read()
    told = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    arrays = [_decoded(column) for column in table.columns]
    exact = [EXTENSIONS.get(array.type) if array.null_count else None for array in arrays]
    columns = [
        array.to_pandas(types_mapper=lambda _, dtype=dtype: dtype) for array, dtype in zip(arrays, exact, strict=True)
    ]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(table.num_rows))
    frame.columns = pd.Index(table.column_names, dtype=object)
    frame = _with_range(frame, told.get("index_columns", []))
    named = [cell for cell in missing if cell]
    for name in frame.columns[[isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes]] if named else []:
        frame[name] = frame[name].mask(frame[name].isin(named))
    return frame


def _decoded(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """A column without a dictionary, and decimal numbers that floats hold exactly enough as floats."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) and column.type.precision <= 15:
        column = column.cast(pa.float64())
    return column


def _with_range(frame: pd.DataFrame, index: Sequence[Any]) -> pd.DataFrame:
    """The table with a named index that pandas wrote down as a range, which is no column of the file."""
    for level in index:
        if isinstance(level, dict) and level.get("name") and level["name"] not in frame.columns:
            frame.insert(0, level["name"], np.arange(level["start"], level["stop"], level["step"]))
    return frame
