"""Views and releases in files: notation of labels, writing and reading back."""

import dataclasses
import datetime
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models.arrays import object_array
from foreknow.models.equality import same
from foreknow.models.notes import Note
from foreknow.models.program_version import program_version
from foreknow.models.settings import check_kind
from foreknow.models.tables.atomic_file import saved_file
from foreknow.models.tables.hierarchy import Hierarchy
from foreknow.models.tables.schema import Categorical, Numeric, Schema
from foreknow.models.tables.table_files import existing_file
from foreknow.models.tables.view import View

type Store = Callable[["np.ndarray[Any, Any]"], Any]
"""Function that keeps an array and returns its reference, of which JSON can be made."""
type Load = Callable[[Any], "np.ndarray[Any, Any]"]
"""Function that returns the array of a reference."""


@dataclass(frozen=True)
class Notation:
    """JSON notation of values, containers, and the records of some classes.

    A record is written as the name of its class and the fields that its constructor takes, and read by its constructor.

    Attributes
    ----------
    records : mapping of str to class
        Dataclasses by their names. No other class is read, so that a file cannot run code.
    """

    records: Mapping[str, type]

    def text(self, value: Any, store: Store | None = None) -> str:
        """JSON text of a value; raises ValueError for a value of a type without notation."""
        return json.dumps(self._plain(value, store))

    def value(self, text: str, load: Load | None = None) -> Any:
        """Value of a JSON text that `text` made."""
        return self._made(json.loads(text), load)

    def _plain(self, value: Any, store: Store | None) -> Any:
        kind = type(value)
        if value is None or kind in (bool, str, int) or (kind is float and np.isfinite(value)):
            return value
        if kind is Note:
            return str(value)
        name = kind.__name__
        if kind is np.ndarray and store is not None:
            return {"array": store(value)}
        if name in CONTAINERS and kind is CONTAINERS[name]:
            items = [self._plain(item, store) for item in value]
            return {name: sorted(items, key=json.dumps) if name in ("set", "frozenset") else items}
        if kind is dict:
            return {"dict": [[self._plain(key, store), self._plain(item, store)] for key, item in value.items()]}
        if name in TEXTS:
            return {name: TEXTS[name][0](value)}
        if self.records.get(name) is kind:
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
            return {"record": name, "fields": {key: self._plain(item, store) for key, item in fields.items()}}
        raise ValueError(f"{value!r} is a {name}, which cannot be saved; write it as a number, a date or a text.")

    def _made(self, plain: Any, load: Load | None) -> Any:
        if not isinstance(plain, dict):
            return plain
        if "record" in plain:
            return self.records[plain["record"]](
                **{name: self._made(item, load) for name, item in plain["fields"].items()}
            )
        ((name, kept),) = plain.items()
        if name == "array":
            assert load is not None
            return load(kept)
        if name == "dict":
            return {self._made(key, load): self._made(item, load) for key, item in kept}
        if name in CONTAINERS:
            return CONTAINERS[name](self._made(item, load) for item in kept)
        return TEXTS[name][1](kept)


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
        As `saved_file`; or if a column cannot be restored exactly, or two columns of a view have one name.
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
    with saved_file(owner, path, ".parquet", overwrite) as scratch:
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
        cells = [view.frame[name].tolist() if name in view.frame.columns else [None] * len(view) for view in views]
        array, is_text = _array(list(itertools.chain.from_iterable(cells)))
        title = str(name) if str(name) not in arrays else f"foreknow-column-{place}"
        arrays[title], coded = array, [*coded, (title, is_text)]
    content = {
        "program": program_version(),
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
        return pd.Series(object_array(cells), dtype=object)
    column: pd.Series[Any] = pd.Series(cells, dtype=dtype)
    return column


CONTAINERS: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
TEXTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "date": (datetime.date.isoformat, datetime.date.fromisoformat),
    "datetime": (datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "time": (datetime.time.isoformat, datetime.time.fromisoformat),
    "Decimal": (str, Decimal),
    "bytes": (bytes.hex, bytes.fromhex),
    "float": (repr, float),
    "complex": (repr, complex),
    "NAType": (str, lambda _: pd.NA),
    "NaTType": (str, lambda _: pd.NaT),
    "Timestamp": (
        lambda time: [time.isoformat(), None if time.tz is None else str(time.tz), time.unit],
        lambda kept: _timestamp(*kept),
    ),
    "Timedelta": (lambda span: [span.value, span.unit], lambda kept: pd.Timedelta(kept[0], "ns").as_unit(kept[1])),
    "Period": (lambda period: [str(period), period.freqstr], lambda kept: pd.Period(kept[0], kept[1])),
}
"""Types of single values that JSON lacks: each as text, and back."""


def _timestamp(text: str, zone: str | None, unit: Any) -> pd.Timestamp:
    time = pd.Timestamp(text)
    return (time if zone is None else time.tz_convert(zone)).as_unit(unit)
