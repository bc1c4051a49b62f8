"""Tables in CSV and Parquet files: encodings, separators, and the lines of records."""

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models.advice import Advice, Setting, Wording, message_of
from foreknow.models.settings import as_list, check_kind
from foreknow.models.tables.columns import MAX_EXACT_INTEGER, repeated
from foreknow.models.tables.faults import stripped

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

    A folder whose name ends in .parquet is read as one table of all Parquet files below it, in the order of their names.

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
    _, mark = file_notation(path := Path(path), encoding, separator)
    with _in_place(path, encoding, separator):
        return read_parquet(path, absent) if mark is None else read_csv(path, columns, encoding, absent, mark)


def text_blocks(path: Path, names: Collection[str], encoding: str, separator: str | None) -> Iterator[pd.DataFrame]:
    """Yield the records of a CSV file in blocks, with columns of text alone; arguments and errors as of `read_table`.

    Spaces around the names of the columns are removed, and columns that ``names`` lacks are left out.
    """
    codec, mark = file_notation(path, encoding, separator)
    assert codec is not None
    assert mark is not None
    with _in_place(path, encoding, separator):
        _check_first_lines(path, text_codec(codec), mark)
        written = [name for name in columns_of(path, encoding, separator) if stripped(name) in names]
        types: dict[Hashable, str] = dict.fromkeys(written, "str")
        blocks = _cells(path, text_codec(codec), [""], mark, types, usecols=written, chunksize=BLOCK_RECORDS)
        for block in blocks:
            yield block.rename(columns=stripped)


BLOCK_RECORDS = 2**18
"""Number of records of a block of `text_blocks`."""


def file_notation(path: Path, encoding: str, separator: str | None) -> tuple[str, str] | tuple[None, None]:
    """The encoding and the separator with which `read_table` reads a file; None and None for Parquet."""
    suffix = path.suffix.lower()
    if suffix not in (*TEXT_SUFFIXES, ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix!r}; a table is read from .csv, .tsv, .txt or .parquet.")
    # A Parquet table may be a folder of parts.
    if not (suffix == ".parquet" and path.is_dir()):
        existing_file(path, "name a table")
    if suffix == ".parquet":
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
            return [str(name) for name in pq.read_schema(files_of(path)[0]).names]
        return next((cells for _, cells in csv_records(path, codec, mark) if cells), [])


@contextmanager
def _in_place(path: Path, encoding: str, separator: str | None = None) -> Iterator[None]:
    """Errors of reading a file, with its name and in plain words."""
    kind = "parquet" if path.suffix.lower() == ".parquet" else "csv"
    try:
        yield
    except UnicodeError:
        raise ValueError(Advice(f"{path} cannot be read as csv: ", undecodable(path, encoding))) from None
    except (ValueError, OSError, pa.ArrowException) as error:
        ragged = "Expected" in str(error) and kind == "csv"
        words = (uneven_lines(path, encoding, separator) if ragged else "") or message_of(error)
        if quote := re.search(r"EOF inside string starting at row (\d+)", words):
            words = f"a quote is opened in line {int(quote[1]) + 1} and never closed; close it."
        words = words if isinstance(words, Advice) else words.strip().partition("\n")[0]
        raise ValueError(Advice(f"{path} cannot be read as {kind}: ", words)) from None


def _texts(name: str, texts: Iterable[str]) -> list[str]:
    """A list of texts; raises TypeError if it is one text or holds other values."""
    listed = as_list("read_table", name, texts, "is a list of texts, as ['id']")
    for one in listed:
        check_kind("read_table", f"one of {name}", one, str, "is a text")
    return listed


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
    frame: pd.DataFrame = _cells(path, encoding, missing, separator, dict.fromkeys(names, "str"))
    large = [name for name in frame.columns if name not in names and _may_be_inexact(frame[name])]
    if large:
        cells = _cells(path, encoding, missing, separator, dict.fromkeys(frame.columns, "str"))
        frame = frame.assign(**{name: _integers(cells[name], frame[name]) for name in large})
    return frame


def _cells(
    path: Path, encoding: str, missing: list[str], separator: str, types: Mapping[Hashable, str], **more: Any
) -> Any:
    return pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
        dtype=types,
        keep_default_na=False,
        na_values=missing,
        index_col=False,
        low_memory=False,
        **more,
    )


LONGEST_CELL = 2**24
"""Largest number of characters of a cell of a CSV file; a longer one is a quote that is never closed."""


def csv_records(path: Path, encoding: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of a CSV file with the lines on which they begin; the first line of a file is 1.

    Raises
    ------
    ValueError
        If a cell has over `LONGEST_CELL` characters.
    """
    end = 0
    with path.open(encoding=text_codec(encoding), newline="") as text:
        reader = csv.reader(text, delimiter=separator)
        while True:
            limit = csv.field_size_limit(LONGEST_CELL)  # it is one for all readers of the process
            try:
                cells = next(reader, None)
            except csv.Error:
                long = f"a cell of the record in line {end + 1} has over {LONGEST_CELL:,} characters"
                raise ValueError(f"{long}; close the quote that opens it.") from None
            finally:
                csv.field_size_limit(limit)
            if cells is None:
                return
            start, end = end + 1, reader.line_num
            yield start, cells


def _check_first_lines(path: Path, encoding: str, separator: str) -> None:
    """Raise ValueError unless the first line names columns and the second has at most as many cells."""
    lines = (cells for _, cells in csv_records(path, encoding, separator) if cells)
    names, first = next(lines, []), next(lines, None)
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
    if twice := repeated(names):
        raise ValueError(f"the column {twice[0]!r} appears twice in its first line; rename or drop one.")


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


NULLABLE_DTYPES = {
    pa.type_for_alias(dtype.name.lower()): dtype
    for dtype in (
        *(pd.Int8Dtype(), pd.Int16Dtype(), pd.Int32Dtype(), pd.Int64Dtype()),
        *(pd.UInt8Dtype(), pd.UInt16Dtype(), pd.UInt32Dtype(), pd.UInt64Dtype()),
    )
}
"""The pandas dtype of a column of integers with missing cells."""


def read_parquet(path: Path, missing: list[str]) -> pd.DataFrame:
    """Read a Parquet file; arguments and errors as of `read_table`."""
    tables = []
    for part in files_of(path):
        with pq.ParquetFile(part) as file:
            if len(file.schema_arrow) > MAX_COLUMNS:
                raise ValueError(f"it has {len(file.schema_arrow):,} columns, and at most {MAX_COLUMNS:,} are read.")
            tables.append(file.read())
    table = pa.concat_tables(tables)
    columns = [_decoded(column) for column in table.columns]
    frame = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(table.num_rows))
    frame.columns = pd.Index(table.column_names, dtype=object)
    frame = _with_range_index(frame, table.schema.metadata or {})
    marks = [text for text in missing if text]
    for name in frame.columns[[isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes]] if marks else []:
        frame[name] = frame[name].mask(frame[name].isin(marks))
    return frame


def files_of(path: Path) -> list[Path]:
    """The files of a table: those below a folder, in the order of their names, or the file itself.

    Raises
    ------
    ValueError
        If a folder has no Parquet file.
    """
    files = sorted(path.rglob("[!.]*.parquet")) if path.is_dir() else [path]
    if not files:
        raise ValueError("the folder has no .parquet file.")
    return files


def _decoded(array: "pa.ChunkedArray") -> "pd.Series[Any]":
    """A column without a dictionary; decimals of at most 15 digits as floats, which represent them closely enough."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_decimal(array.type) and array.type.precision <= 15:
        array = array.cast(pa.float64())
    dtype = NULLABLE_DTYPES.get(array.type) if array.null_count else None
    column: pd.Series[Any] = array.to_pandas(types_mapper=lambda _: dtype)
    return column


def _with_range_index(frame: pd.DataFrame, metadata: dict[bytes, bytes]) -> pd.DataFrame:
    """The table with each named range index, for which pandas stores no column, as a column: it is in the metadata."""
    stored = json.loads(metadata.get(b"pandas", b"{}"))
    for level in stored.get("index_columns", []) if isinstance(stored, dict) else []:
        is_range = isinstance(level, dict) and {"name", "start", "stop", "step"} <= level.keys()
        if is_range and level["name"] and level["name"] not in frame.columns:
            frame.insert(0, level["name"], np.arange(level["start"], level["stop"], level["step"]))
    return frame


def places_in(
    files: Sequence[tuple[Path, int]], encoding: str, separator: str | None, rows: Sequence[int]
) -> list[str]:
    """The places of rows, numbered through some files: "line 7", or "line 7 of corpus.csv" after the first file.

    ``files`` are paths and numbers of records. A line is that on which the record begins; the first line of a file is 1. The
    records of a Parquet file are numbered from 1. Cost: a second reading of each file.
    """
    ends = np.cumsum([records for _, records in files])
    places = np.searchsorted(ends, rows, side="right").tolist()
    lines = {place: _lines(*file, encoding, separator) for place, file in enumerate(files) if place in places}
    named = []
    for row, place in zip(rows, places, strict=True):
        (path, records), listed = files[place], lines[place]
        within = row - int(ends[place]) + records
        text = f"record {within + 1}" if listed is None else f"line {listed[within]}"
        named.append(f"{text} of {path.name}" if place else text)
    return named


def _lines(path: Path, records: int, encoding: str, separator: str | None) -> list[int] | None:
    """The first line of each record; None if the file has no lines, or another number of records than was read."""
    codec, mark = file_notation(path, encoding, separator)
    if codec is None or mark is None:
        return None
    read = csv_records(path, codec, mark)
    lines = [line for line, cells in read if len(cells) > 1 or (cells and cells[0].strip())]
    return lines[1:] if len(lines) == records + 1 else None


def uneven_lines(path: Path, encoding: str, separator: str | None) -> str:
    """A clause that lists the lines with more cells than the first line has; empty if there is none."""
    mark = separator or separator_of(path, text_codec(encoding))
    records = [(line, len(cells)) for line, cells in csv_records(path, encoding, mark) if cells]
    columns = records[0][1] if records else 0
    found = [(line, number) for line, number in records if number > columns]
    if not found:
        return ""
    line, number = found[0]
    listed = ", ".join(str(one) for one, _ in found[:5])
    others = f" ({len(found):,} such lines: {listed}{', ...' if len(found) > 5 else ''})" if len(found) > 1 else ""
    return (
        f"line {line} has {number} cells, and the table {columns} columns{others}; put cells that hold "
        f"{SEPARATORS.get(mark, repr(mark))} in quotes."
    )


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


LATIN, UTF16, WINDOWS = (Setting("encoding", name) for name in ("latin-1", "utf-16", "cp1252"))

NAME_ENCODING = Advice("name its encoding, as ", LATIN, " or ", UTF16, ", or save the file as UTF-8.")
"""The way out of a wrong encoding, for messages."""


def existing_file(path: "str | PathLike[str]", way_out: str) -> Path:
    """Return the path of a file that exists; raise FileNotFoundError otherwise.

    Parameters
    ----------
    path : str or path
    way_out : str
        The end of the message: "name a hierarchy file".
    """
    if not os.path.isfile(path):  # False, as opposed to `Path.is_file`, for a name that is too long.
        raise FileNotFoundError(f"there is no file {str(path)[:200]}; {way_out}.")
    return Path(path)


def text_codec(encoding: str) -> str:
    """The codec of an encoding that skips a byte order mark of UTF-8."""
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def check_encoding(encoding: str) -> None:
    """Raise ValueError unless Python has a text encoding of this name."""
    try:
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            Advice(
                Wording("encoding", "--encoding"),
                f" is {encoding!r}, and Python has no encoding of text by this name; name another, as ",
                LATIN,
                ".",
            )
        ) from None


BLOCK_BYTES = 2**24
"""Size of the blocks in which a file is searched for a byte that is not in an encoding."""


def undecodable(path: Path, encoding: str) -> str:
    """Return a clause that names the first byte of a file that is not in an encoding."""
    before, line, position = 0, 1, 0
    with path.open("rb") as file:
        is_wide = b"\0" in file.read(100)
        file.seek(0)
        # In blocks: unless characters are two bytes wide, the end of a line is the end of a character.
        while data := file.read(-1 if is_wide else BLOCK_BYTES) + file.readline():
            try:
                data.decode(encoding)
            except UnicodeError as error:
                position = getattr(error, "start", 0)
                break
            before, line = before + len(data), line + data.count(b"\n")
    line += data.count(b"\n", 0, position)
    byte = f"0x{data[position]:02x}, " if position < len(data) else ""
    where = f"byte {before + position} ({byte}in line {line}) is not {encoding}; "
    return Advice(where, _likely(data, position) or NAME_ENCODING)


def likely_encoding(path: Path) -> str:
    """The likely encoding of a file: UTF-8 if it can be read so, UTF-16 by its first bytes, else that of Windows."""
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252" if path.suffix.lower() != ".parquet" else "utf-8"
    return "utf-8"


def _likely(data: bytes, position: int) -> str:
    """The word around a byte as the likely encoding reads it: UTF-16 by its mark, else that of Windows."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Advice("its first bytes are those of UTF-16; name ", UTF16, ", or save the file as UTF-8.")
    if b"\0" in data[:100]:
        return ""
    try:
        before = data[max(0, position - 20) : position].decode("cp1252")
        after = data[position : position + 20].decode("cp1252")
    except UnicodeError:
        return ""
    word = re.split(r"\W", before)[-1] + re.split(r"\W", after)[0]
    if not word.isalpha():
        return ""
    likely = f", that of Excel on Windows, it reads {word!r}. Name it if that is right, or another as "
    return Advice("with ", WINDOWS, likely, LATIN, ", or save the file as UTF-8.")
