"""Fields of records and settings: equality where they hold arrays, tables or random generators, and checked values."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd


def equal_by_fields[T](kind: type[T]) -> type[T]:
    """Class decorator of a frozen dataclass: objects of one class are equal if the values of their fields are.

    Arrays and tables are compared by shape and content, where NaN equals NaN; random generators by their state, so that equal
    ones draw the same numbers next. Equal objects have one hash. The hash reads no content of arrays and takes O(fields).
    Comparison costs O(size) for equal objects.
    """
    own: Any = kind
    own.__eq__ = _equal_fields
    own.__hash__ = _hash_of_fields
    return kind


def set_fields(record: object, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is made: checked arguments, and fields that follow from them."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are of one type, or both text, and have equal content.

    Arrays, tables, graphs, random generators and dataclasses are compared by content, containers item by item, and NaN equals
    NaN. Other values are compared by ``==``.
    """
    if one is other:
        return True
    if isinstance(one, str) and isinstance(other, str):
        return str(one) == str(other)  # a note with numbers is equal to its text
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return _same_arrays(one, other)
    if isinstance(one, pd.DataFrame | pd.Series | pd.Index):
        return _same_tables(one, other)
    if _is_of(one, "xarray"):
        return bool(one.identical(other))
    if isinstance(one, Mapping):
        return len(one) == len(other) and all(key in other and same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.random.Generator):
        return same(one.bit_generator.state, other.bit_generator.state)
    if _is_of(one, "networkx"):
        return bool(one.graph == other.graph and one.nodes == other.nodes and one.adj == other.adj)
    if isinstance(one, partial):
        return same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords))
    if dataclasses.is_dataclass(one) and type(one).__eq__ is object.__eq__:
        return _same_fields(one, other)
    return bool(one == other) or (isinstance(one, float | np.floating) and bool(np.isnan(one) and np.isnan(other)))


def _is_of(value: Any, library: str) -> bool:
    """Return whether the class of a value is of a library, which is not imported for it."""
    return type(value).__module__.split(".")[0] == library


def _same_arrays(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype == object or other.dtype == object:
        return all(map(same, one.ravel().tolist(), other.ravel().tolist()))
    floats = one.dtype.kind in "fc" and other.dtype.kind in "fc"
    return bool(np.array_equal(one, other, equal_nan=floats))


def _same_tables(one: Any, other: Any) -> bool:
    """Return whether two tables of one type have equal labels, dtypes and cells, also cells that are arrays or sets."""
    if isinstance(one, pd.Index):
        return one.dtype == other.dtype and same(list(one.names), list(other.names)) and bool(one.equals(other))
    if not (one.shape == other.shape and same(one.index, other.index)):
        return False
    if isinstance(one, pd.Series):
        return same(one.name, other.name) and one.dtype == other.dtype and _same_arrays(_cells(one), _cells(other))
    return same(one.columns, other.columns) and all(
        same(one.iloc[:, place], other.iloc[:, place]) for place in range(one.shape[1])
    )


def _cells(column: "pd.Series[Any]") -> Any:
    return column.to_numpy(dtype=column.dtype if isinstance(column.dtype, np.dtype) else object)


def _same_fields(one: Any, other: Any) -> bool:
    return all(same(getattr(one, name), getattr(other, name)) for name in _compared(one))


def _equal_fields(self: Any, other: object) -> Any:
    """Return whether two objects are of one class and have equal fields."""
    if type(self) is not type(other):
        return NotImplemented
    return self is other or _same_fields(self, other)


def _hash_of_fields(self: Any) -> int:
    """Hash of the class and of the fields as far as they are short and hashable."""
    return hash((type(self), *(_part(getattr(self, name)) for name in _compared(self))))


def _compared(record: Any) -> Iterable[str]:
    """Names of the fields that are compared: those that construction takes; the others follow from them."""
    return [each.name for each in dataclasses.fields(record) if each.compare and each.init]


def _part(value: Any) -> object:
    """Hashable part of a value: equal for equal values."""
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, str | int | type(None)):
        return value
    return len(value) if isinstance(value, Sequence | Mapping | pd.DataFrame) else None
