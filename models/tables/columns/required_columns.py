"""Check that a table has the columns that are read."""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import pandas as pd

from foreknow.models.tables.columns.lookalikes import lookalike
from foreknow.models.tables.columns.plain_columns import is_hashable, is_missing


def check_columns(frame: pd.DataFrame, names: Iterable[Hashable]) -> None:
    """Raise an error unless the table has each column exactly once.

    The message names the column, and the columns that the table has.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, or a name cannot be that of a column, as None.
    ValueError
        If a column is missing or duplicated, or column names have several levels.
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"the table is a {type(frame).__name__}; it is a DataFrame with one row per record.")
    if frame.columns.nlevels > 1:
        raise ValueError(
            f"the table's column names have {frame.columns.nlevels} levels, the first {frame.columns[0]!r}; a column has one "
            "name. Flatten them, as frame.columns = ['_'.join(name) for name in frame.columns]."
        )
    columns = list(frame.columns)
    number: Counter[Hashable] = Counter(columns)
    for name in names:
        if not is_column_name(name):
            raise TypeError(f"a column is named by {name!r}; a column's name is one text, as 'age'.")
        if number[name] == 0:
            raise ValueError(
                f"the table has no column {name!r}; it has {', '.join(map(repr, columns))}.{lookalike(name, columns)} Rename the "
                "column, or name another in the schema."
            )
        if number[name] > 1:
            raise ValueError(f"the column {name!r} appears twice in the table; rename or drop one.")


def is_column_name(name: Any) -> bool:
    """Return whether a value can name a column: it is hashable and no missing value."""
    return is_hashable(name) and not is_missing(name)
