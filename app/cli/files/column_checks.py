"""Checks of columns of a user's table, each with an error that names a cell and an option of the command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import Numeric, Schema
from foreknow.models.tables.columns.plain_columns import MAX_EXACT_INTEGER, is_hashable
from foreknow.models.tables.columns.required_columns import check_columns

MAX_CODES = 10
"""A numeric quasi-identifier with at most this number of distinct values may hold codes."""


def check_encoding_used(encoding: str, paths: Sequence[Path]) -> None:
    """Raise ValueError if an encoding other than UTF-8 is given and no file is a CSV."""
    if encoding != "utf-8" and not any(path.suffix.lower() == ".csv" for path in paths):
        raise ValueError(
            f"--encoding {encoding} is not read: {', '.join(map(str, paths))} {'is' if len(paths) == 1 else 'are'} not CSV; "
            "leave the option out."
        )


def check_roles(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError unless the table holds records, and each name is one column of single values with one role."""
    check_columns(table, names)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the column {name!r} has two roles; give each role a column of its own.")
        if table[name].dtype == object and not table[name].map(is_hashable).all():
            raise ValueError(
                f"the column {name!r} holds lists; a cell is one value. Split the column, or join each list."
            )
    if table.empty:
        raise ValueError("the table has no record.")


def check_numbers(column: "pd.Series[Any]") -> None:
    """Raise ValueError, naming a cell, if a column of numbers holds a few words, or whole numbers that floats round."""
    known = column.dropna()
    if pd.api.types.infer_dtype(known) == "integer":
        large = next((int(cell) for cell in known.tolist() if abs(cell) > MAX_EXACT_INTEGER), None)
        if large is not None:
            raise ValueError(
                f"{column.name!r} holds {large}, and quasi-identifiers that are numbers are exact up to 2^53 = "
                f"{MAX_EXACT_INTEGER}; name it --categorical {column.name} if it is a code, or write it in a larger unit."
            )
    if pd.api.types.is_numeric_dtype(column):
        return
    words = known[pd.to_numeric(known.astype(str), errors="coerce").isna()]
    if 0 < len(words) < len(known) / 2:
        raise ValueError(
            f"{column.name!r} holds numbers, and {words.iloc[0]!r} in {len(words)} of {len(known)} cells; correct them, name the "
            f"cells that are missing, as --missing-value NA, or name it --categorical {column.name} if its numbers are codes."
        )


def possible_codes(schema: Schema, table: pd.DataFrame) -> list[str]:
    """Numeric quasi-identifiers that may be codes: whole numbers, at most `MAX_CODES` different ones."""
    names = [name for name, kind in schema.quasi_identifiers.items() if isinstance(kind, Numeric)]
    distinct = {name: table[name].dropna().unique() for name in names}
    return [name for name, values in distinct.items() if len(values) <= MAX_CODES and (values % 1 == 0).all()]


def column_varying_within_groups(published: pd.DataFrame, group: str, sensitive: str) -> str | None:
    """A column with several values in one group, or None: a published quasi-identifier has one value in each group."""
    for name in published.columns.drop([group, sensitive]):
        if published[[group, name]].astype(str).drop_duplicates()[group].duplicated().any():
            return str(name)
    return None


def holds_whole_numbers(column: "pd.Series[Any]") -> bool:
    """Return whether every cell is a whole number of 64 bits, or the text that such a number is written as."""
    if isinstance(column.dtype, pd.StringDtype):
        return bool(column.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all())
    return isinstance(column.dtype, np.dtype) and column.dtype.kind == "i"
