"""Parquet files as tables, with plain columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models.tables.files.csv_files import MAX_COLUMNS

NULLABLE_DTYPES = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint8(): pd.UInt8Dtype(),
    pa.uint16(): pd.UInt16Dtype(),
    pa.uint32(): pd.UInt32Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
}
"""The pandas dtype of a column of integers with missing cells."""


def read_parquet(path: Path, missing: list[str]) -> pd.DataFrame:
    """Read a Parquet file; arguments and errors as of `read_table`."""
    with pq.ParquetFile(path) as file:
        if len(file.schema_arrow) > MAX_COLUMNS:
            raise ValueError(f"it has {len(file.schema_arrow):,} columns, and at most {MAX_COLUMNS:,} are read.")
        table = file.read()
    arrays = [_decoded(column) for column in table.columns]
    frame = (
        pd.concat([_column(array) for array in arrays], axis=1) if arrays else pd.DataFrame(index=range(table.num_rows))
    )
    frame.columns = pd.Index(table.column_names, dtype=object)
    frame = _with_range_index(frame, _index_levels(table.schema.metadata or {}))
    marks = [text for text in missing if text]
    for name in frame.columns[[isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes]] if marks else []:
        frame[name] = frame[name].mask(frame[name].isin(marks))
    return frame


def _column(array: "pa.ChunkedArray") -> "pd.Series[Any]":
    dtype = NULLABLE_DTYPES.get(array.type) if array.null_count else None
    column: pd.Series[Any] = array.to_pandas(types_mapper=lambda _: dtype)
    return column


def _decoded(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """A column without a dictionary; decimals of at most 15 digits as floats, which represent them closely enough."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) and column.type.precision <= 15:
        column = column.cast(pa.float64())
    return column


def _index_levels(metadata: dict[bytes, bytes]) -> list[dict[str, Any]]:
    """The index levels that pandas stored as ranges in the metadata of a file."""
    stored = json.loads(metadata.get(b"pandas", b"{}"))
    levels = stored.get("index_columns", []) if isinstance(stored, dict) else []
    return [level for level in levels if isinstance(level, dict) and {"name", "start", "stop", "step"} <= level.keys()]


def _with_range_index(frame: pd.DataFrame, levels: list[dict[str, Any]]) -> pd.DataFrame:
    """The table with each named range index as a column: the file has no column for it."""
    for level in levels:
        if level["name"] and level["name"] not in frame.columns:
            frame.insert(0, level["name"], np.arange(level["start"], level["stop"], level["step"]))
    return frame
