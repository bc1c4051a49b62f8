"""Types of quasi-identifiers: numeric and categorical attributes, their domains and codes."""

from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import check_kind, is_number
from foreknow.models.tables.arguments import as_floats
from foreknow.models.tables.columns.domains import checked_domain
from foreknow.models.tables.columns.plain_columns import MAX_EXACT_INTEGER, plain_value
from foreknow.models.tables.hierarchy import Hierarchy


@dataclass(frozen=True)
class Numeric:
    """A numeric quasi-identifier, stored as float64.

    Parameters
    ----------
    low, high : float, optional
        The bounds of its domain, inclusive. An omitted bound is the smallest or largest value of the table; in a history, of
        all its views together.

    Raises
    ------
    ValueError
        If a bound is not a finite number, its absolute value exceeds ``MAX_EXACT_INTEGER`` (2**53, the end of the range in
        which float64 represents every integer), or ``low`` is above ``high``.

    Examples
    --------
    >>> Numeric(0, 120).domain
    'a number from 0 to 120'
    """

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for name, bound in (("low", self.low), ("high", self.high)):
            if bound is None:
                continue
            if not is_number(bound, -MAX_EXACT_INTEGER, MAX_EXACT_INTEGER):
                raise ValueError(
                    f"Numeric: {name} is {bound!r}; a bound of the domain is a number from -2**53 to 2**53, or left out."
                )
            object.__setattr__(self, name, plain_value(bound))
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"Numeric: low is {self.low} and high {self.high}; low must not be above high.")

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """Return the numbers of a column: float array, shape ``(n,)``.

        A cell that is not a finite number, as a date, is NaN. A number beyond ``MAX_EXACT_INTEGER``, which float64 may not
        represent exactly, is infinite.
        """
        check_kind("Numeric.codes", "column", column, pd.Series, "is a column, as frame['age']")
        if column.dtype == object:
            return np.array([_number(cell) for cell in column.tolist()], dtype=np.float64)
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_string_dtype(column)):
            return np.full(len(column), np.nan)
        if column.dtype.kind not in "iufb":
            return self.codes(column.astype(object))
        codes = column.to_numpy().astype(np.float64)
        large = np.flatnonzero(np.abs(codes) >= MAX_EXACT_INTEGER)
        codes[large] = [_number(cell) for cell in column.iloc[large].tolist()]
        return codes

    def contains(self, codes: FloatArray) -> BoolArray:
        """Return whether each code is in the domain: bool array of the shape of ``codes``."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        codes = as_floats("Numeric.contains", "codes", codes)
        return np.asarray(np.isfinite(codes) & (codes >= low) & (codes <= high))

    def with_bounds_from(self, codes: FloatArray) -> "Numeric":
        """Return this attribute with its omitted bounds taken from codes, of which there is at least one."""
        codes = as_floats("Numeric.with_bounds_from", "codes", codes)
        if not codes.size:
            raise ValueError("Numeric.with_bounds_from: there is no code; give at least one.")
        low = float(codes.min()) if self.low is None else self.low
        high = float(codes.max()) if self.high is None else self.high
        return Numeric(low, high)

    @property
    def bounds(self) -> tuple[float, float]:
        """The two bounds; both must be known, as in the schema of a view."""
        if self.low is None or self.high is None:
            raise ValueError("this Numeric has no low or no high; the schema of a view or a history has both.")
        return self.low, self.high

    @property
    def domain(self) -> str:
        """The domain in words, for messages."""
        low = "-2**53" if self.low is None else self.low
        return f"a number from {low} to {'2**53' if self.high is None else self.high}"


@dataclass(frozen=True)
class Categorical:
    """A categorical quasi-identifier with a listed domain and an optional generalization hierarchy.

    The code of a value, in arrays, is its position in ``values``.

    Parameters
    ----------
    values : sequence
        The domain. With a hierarchy, values are sorted in the order of the tree's traversal, so that neighbouring codes have
        close generalizations.
    hierarchy : Hierarchy, optional
        The generalization tree over the values. Without it, different values generalize to ``*``.

    Raises
    ------
    TypeError
        If the values are not a sequence, or the hierarchy is not a `Hierarchy`.
    ValueError
        If there is no value, a value is missing or not hashable, two values are equal or have the same text, or the hierarchy
        lacks a value.

    Examples
    --------
    >>> Categorical(("f", "m")).domain
    'one of f, m'
    """

    values: tuple[Hashable, ...]
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        values = checked_domain(self.values, "a Categorical quasi-identifier")
        if self.hierarchy is not None:
            takes = "is a Hierarchy, as Hierarchy(rows) or Hierarchy.read(path), or left out"
            check_kind("Categorical", "hierarchy", self.hierarchy, Hierarchy, takes)
            position = {leaf: place for place, leaf in enumerate(self.hierarchy.leaves)}
            missing = [value for value in values if str(value) not in position]
            if missing:
                raise ValueError(
                    f"the hierarchy has no row for {missing[0]!r}; it must name every value of the attribute. Add the "
                    "row, or take the value out of the domain."
                )
            values = tuple(sorted(values, key=lambda value: position[str(value)]))
        object.__setattr__(self, "values", values)

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """Return the positions of a column's cells in ``values``: float array, shape ``(n,)``; NaN for another cell."""
        return positions_in(self.values, column)

    def contains(self, codes: FloatArray) -> BoolArray:
        """Return whether each code is in the domain: bool array of the shape of ``codes``."""
        return np.asarray(np.isfinite(as_floats("Categorical.contains", "codes", codes)))

    def with_bounds_from(self, codes: FloatArray) -> "Categorical":  # noqa: ARG002 - the same call as for a Numeric
        """Return this attribute itself: its domain is listed."""
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest code."""
        return 0.0, float(len(self.values) - 1)

    @property
    def domain(self) -> str:
        """The domain in words, for messages."""
        return f"one of {', '.join(map(str, self.values[:8]))}{', ...' if len(self.values) > 8 else ''}"

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy over exactly these values; the flat one if none was given."""
        if self.hierarchy is None:
            return Hierarchy.flat(self.values)
        wanted = {str(value) for value in self.values}
        return Hierarchy([row for row in self.hierarchy.rows if row[0] in wanted])


def positions_in(values: tuple[Hashable, ...], column: "pd.Series[Any]") -> FloatArray:
    """Return the positions of a column's cells in a domain: float array, shape ``(n,)``; NaN for another cell."""
    check_kind("codes", "column", column, pd.Series, "is a column, as frame['age']")
    index: IntArray = pd.Index(values, dtype=object, tupleize_cols=False).get_indexer(
        pd.Index(column, dtype=object, tupleize_cols=False)
    )
    return np.where(index < 0, np.nan, index.astype(np.float64))


def _number(cell: Any) -> float:
    """The number in a cell: NaN if there is none or it is not finite, infinite if it is beyond ``MAX_EXACT_INTEGER``."""
    if isinstance(cell, str) and "_" in cell:
        return np.nan
    try:
        number = float(cell)
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return np.nan
    if abs(number) < MAX_EXACT_INTEGER:
        return number
    if not np.isfinite(number):
        return np.nan
    exact = Decimal(cell) if isinstance(cell, str) else cell
    return number if abs(number) == MAX_EXACT_INTEGER and exact == number else np.inf
