"""Views in a Parquet file: a table of all records that any program reads, and what is needed to restore them exactly."""

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models.equality import same
from foreknow.models.settings import check_kind
from foreknow.models.tables.attributes import Categorical, Numeric
from foreknow.models.tables.files.atomic_file import atomic_file
from foreknow.models.tables.files.notation import Notation
from foreknow.models.tables.files.text_encodings import existing_file
from foreknow.models.tables.hierarchy import Hierarchy
from foreknow.models.tables.schema import Schema
from foreknow.models.tables.view import View

NOTATION = Notation({each.__name__: each for each in (Schema, Numeric, Categorical, Hierarchy)})
KEY = b"foreknow"
"""Key of the Parquet file's metadata."""
TIME = "foreknow:time"
"""Column with the time of each record, for readers of the table."""
NATIVE: dict[type, Any] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
"""Cells of one of these types are a Parquet column of the same type; other cells are JSON text."""


def write_views(
    owner: str,
    path: "str | Path",
    views: Sequence[View],
    overwrite: bool,
    columns: Mapping[str, Sequence[int]] | None = None,
    **more: Any,
) -> None:
    """Write views to a Parquet file, with further columns of whole numbers and further values in the metadata.

    Raises
    ------
    TypeError, ValueError
        As `atomic_file`; or if a column cannot be restored exactly, or two columns of a view have one name.
    """
    kind = owner.split(".")[0]
    table = _table(owner, views, columns or {}, {"kind": kind, **more})
    for view, back in zip(views, _views(table, _content(table)), strict=True):
        for name in view.frame.columns:
            if not same(view.frame[name], back.frame[name]):
                raise ValueError(
                    f"{owner}: the column {name!r} of the view at {view.time!r} cannot be restored exactly; convert it to "
                    "numbers or texts, or drop it."
                )
    with atomic_file(owner, path, ".parquet", overwrite) as scratch:
        pq.write_table(table, scratch)


def read_views(owner: str, path: "str | Path") -> tuple[list[View], dict[str, Any], dict[str, list[int]]]:
    """Views of a Parquet file, the further values, and the further columns.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        If the path is neither a text nor a path.
    ValueError
        If the file holds something else.
    """
    kind = owner.split(".")[0]
    check_kind(owner, "path", path, (str, PathLike), f"is the path of a .parquet file that {kind}.save wrote")
    path = existing_file(path, f"name a file that {kind}.save wrote")
    with as_saved(owner, path):
        table = pq.read_table(path, partitioning=None)
        content = _content(table)
        found = content["kind"]
    if found != kind:
        raise ValueError(f"{owner}: {path} holds a {found}; read it with {found}.load.")
    with as_saved(owner, path):
        further = [name for name in table.column_names if name.startswith("foreknow:") and name != TIME]
        return _views(table, content), content, {name[9:]: table.column(name).to_pylist() for name in further}


@contextmanager
def as_saved(owner: str, path: "str | Path") -> Iterator[None]:
    """Context manager in which any error of reading is one ValueError: the file is damaged, or was not written by ``save``."""
    try:
        yield
    except (pa.ArrowException, OSError, LookupError, AttributeError, ValueError, TypeError):
        kind = owner.split(".")[0]
        raise ValueError(
            f"{owner}: {path} is not a file that {kind}.save wrote; read other tables with History.read."
        ) from None


def _table(
    owner: str, views: Sequence[View], columns: Mapping[str, Sequence[int]], more: Mapping[str, Any]
) -> pa.Table:
    names = list(dict.fromkeys(name for view in views for name in view.frame.columns))
    for view in views:
        if not view.frame.columns.is_unique:
            raise ValueError(f"{owner}: two columns of the view at {view.time!r} have one name; rename or drop one.")
    arrays = {TIME: _array([view.time for view in views for _ in range(len(view))])[0]}
    arrays |= {f"foreknow:{name}": pa.array(cells, pa.int64()) for name, cells in columns.items()}
    coded: list[tuple[str, bool]] = []
    for place, name in enumerate(names):
        array, is_text = _array([cell for view in views for cell in _cells(view, name)])
        title = str(name) if str(name) not in arrays else f"foreknow-column-{place}"
        arrays[title], coded = array, [*coded, (title, is_text)]
    content = {
        "program": f"foreknow {importlib.metadata.version('foreknow')}",
        "names": names,
        "columns": coded,
        "schema": views[0].schema,
        "views": [
            {
                "time": view.time,
                "records": len(view),
                "frame": [(names.index(name), _dtype(view.frame[name])) for name in view.frame.columns],
                "labels": (str(view.frame.columns.dtype), view.frame.columns.name),
            }
            for view in views
        ],
        **more,
    }
    return pa.table(arrays).replace_schema_metadata({KEY: NOTATION.text(content).encode()})


def _content(table: pa.Table) -> dict[str, Any]:
    content: dict[str, Any] = NOTATION.value((table.schema.metadata or {})[KEY].decode())
    return content


def _views(table: pa.Table, content: Mapping[str, Any]) -> list[View]:
    columns = [_values(table.column(title), is_text) for title, is_text in content["columns"]]
    views, start = [], 0
    for each in content["views"]:
        stop = start + each["records"]
        frame = pd.DataFrame(
            {place: _series(columns[place][start:stop], dtype) for place, dtype in each["frame"]},
            index=range(stop - start),
        )
        dtype, name = each["labels"]
        frame.columns = pd.Index(
            [content["names"][place] for place, _ in each["frame"]], dtype=dtype, name=name, tupleize_cols=False
        )
        views.append(View(frame, content["schema"], each["time"]))
        start = stop
    return views


def _cells(view: View, name: Any) -> list[Any]:
    return view.frame[name].tolist() if name in view.frame.columns else [None] * len(view)


def _array(cells: list[Any]) -> tuple[pa.Array, bool]:
    """Cells as a Parquet column, and whether they are written as JSON text."""
    kinds = set(map(type, cells))
    if len(kinds) == 1 and (kind := kinds.pop()) in NATIVE:
        try:
            return pa.array(cells, NATIVE[kind], from_pandas=False), False
        except (OverflowError, pa.ArrowException):  # Integers beyond 64 bits, and text that is no Unicode.
            pass
    return pa.array([NOTATION.text(cell) for cell in cells], pa.string()), True


def _values(column: pa.ChunkedArray, is_text: bool) -> list[Any]:
    cells: list[Any] = column.to_pylist()
    return [NOTATION.value(cell) for cell in cells] if is_text else cells


def _dtype(column: "pd.Series[Any]") -> Any:
    """Notation of a dtype: its name, or the categories and whether they are ordered."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.dtype.categories.tolist(), bool(column.dtype.ordered)
    return str(column.dtype)


def _series(cells: list[Any], dtype: Any) -> "pd.Series[Any]":
    if isinstance(dtype, tuple):
        return pd.Series(cells, dtype=pd.CategoricalDtype(dtype[0], dtype[1]))
    if dtype == "object":
        objects = np.empty(len(cells), dtype=object)
        objects[:] = cells
        return pd.Series(objects, dtype=object)
    column: pd.Series[Any] = pd.Series(cells, dtype=dtype)
    return column
