"""Check that a table has the columns that are read."""

from collections.abc import Hashable, Iterable

import pandas as pd

from foreknow.models.settings import check_kind
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.plain_columns import is_hashable


def check_columns(frame: pd.DataFrame, names: Iterable[Hashable]) -> None:
    """Raise an error unless the table has each column exactly once.

    The message names the column, and the columns that the table has.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, or a name cannot be hashed.
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
    for name in names:
        if not is_hashable(name):
            raise TypeError(f"a column is named by {name!r}; a column's name is one text, as 'age'.")
        if name not in columns:
            raise ValueError(
                f"the table has no column {name!r}; it has {', '.join(map(repr, columns))}.{lookalike(name, columns)} Rename the "
                "column, or name another in the schema."
            )
        if columns.count(name) > 1:
            raise ValueError(f"the column {name!r} appears twice in the table; rename or drop one.")


def column_list(owner: str, name: str, columns: Iterable[Hashable]) -> list[Hashable]:
    """Return a list of column names; raise TypeError if one text, or no list, is given.

    Parameters
    ----------
    owner, name : str
        The function and its parameter, for messages.
    columns : iterable of str
    """
    if isinstance(columns, str):
        raise TypeError(f"{owner}: {name} is the text {columns!r}; it is a list of columns, as [{columns!r}].")
    check_kind(owner, name, columns, Iterable, "is a list of columns, as ['age']")
    return list(columns)
