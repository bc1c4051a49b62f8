"""Domains of categorical columns: checked where they are listed, or inferred from a table."""

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import pandas as pd

from foreknow.models.tables.columns.plain_columns import is_hashable, is_missing, plain_column, plain_values


def checked_domain(values: Iterable[Any], owner: str) -> tuple[Hashable, ...]:
    """Return the values of a domain as Python values, in their order.

    Parameters
    ----------
    values : sequence
        At least one value. No two are equal or have the same text.
    owner : str
        The attribute, for messages.

    Raises
    ------
    TypeError
        If the values are one text, a set, a mapping or a DataFrame, or cannot be iterated.
    ValueError
        If there is no value, a value is missing or not hashable, or two values are equal or have the same text.
    """
    listed = _listed(values, owner)
    if not listed:
        raise ValueError(f"{owner} needs at least one value; list its domain.")
    texts: dict[str, Any] = {}
    earlier: dict[Hashable, Any] = {}
    for value in listed:
        _check_value(value, owner)
        if value in earlier:
            raise ValueError(_duplicate(earlier[value], value, owner))
        if str(value) in texts:
            raise ValueError(
                f"{owner} lists two values that both read {str(value)!r}; they are indistinguishable when published. Rename one."
            )
        earlier[value] = texts[str(value)] = value
    return listed


def _listed(values: Iterable[Any], owner: str) -> tuple[Any, ...]:
    """Return the values as a tuple; raise TypeError where they have no order of their own."""
    takes = "list the values of its domain in order, as ['a', 'b']"
    if isinstance(values, str | bytes | Set | Mapping | pd.DataFrame):
        raise TypeError(f"{owner} has its values given as a {type(values).__name__}; {takes}.")
    try:
        return plain_values(values)
    except TypeError:
        raise TypeError(f"{owner} has its values given as a {type(values).__name__}; {takes}.") from None


def _check_value(value: Any, owner: str) -> None:
    """Raise ValueError unless a value is hashable and not missing."""
    if not is_hashable(value):
        raise ValueError(f"{owner} lists {value!r}; a value is one text, number or date. Join it to a text.")
    if is_missing(value):
        raise ValueError(
            f"{owner} lists {value!r}, which marks a missing cell; leave it out, or name it, as 'unknown'."
        )


def _duplicate(first: Any, second: Any, owner: str) -> str:
    if repr(first) == repr(second):
        return f"{owner} lists {second!r} twice; list each value once."
    return f"{owner} lists {first!r} and {second!r}, which are equal; list one of them."


def inferred_domain(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    """Return the domain of a column: its sorted values, or the categories of an ordered Categorical in their order.

    Values that cannot be compared are sorted by their text.

    Raises
    ------
    ValueError
        If the column holds no value, or as `checked_domain`.
    """
    categories = _ordered_categories(column)
    values = _sorted_values(plain_column(column, "the table")) if categories is None else categories
    if not values:
        raise ValueError(
            f"the column {column.name!r} of the table is empty; a domain needs at least one value. Fill it in, or leave it out."
        )
    return checked_domain(values, f"the column {column.name!r} of the table")


def is_numeric_column(column: "pd.Series[Any]") -> bool:
    """Return whether a column has a dtype of real numbers; a dtype of truth values is not one."""
    types = pd.api.types
    return (
        types.is_numeric_dtype(column) and not types.is_bool_dtype(column) and not types.is_complex_dtype(column.dtype)
    )


def _ordered_categories(column: "pd.Series[Any]") -> tuple[Hashable, ...] | None:
    """The categories of an ordered Categorical, or of an ordered dictionary of Arrow; None for another column."""
    dtype = column.dtype
    if isinstance(dtype, pd.ArrowDtype) and getattr(dtype.pyarrow_dtype, "ordered", False):
        dtype = column.array.__arrow_array__().to_pandas().dtype
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        return tuple(dtype.categories.tolist())
    return None


def _sorted_values(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    values = column.dropna().unique().tolist()
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))
