"""The meaning of a table's columns: quasi-identifiers, the sensitive attribute, the respondent."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.hierarchy import Hierarchy
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.plain_columns import LARGEST_WHOLE, is_hashable, plain_column, plain_value, plain_values


@dataclass(frozen=True)
class Numeric:
    """A quasi-identifier that is a number, kept as float64.

    Parameters
    ----------
    low, high : float, optional
        The ends of its domain. Where they are left out, the table's own smallest and largest value are taken; a
        history takes those of all its views together.

    Raises
    ------
    ValueError
        If an end is not a finite number, lies beyond ``LARGEST_WHOLE`` (2**53, the end of the range in which float64 holds
        every whole number), or ``low`` is above ``high``.
    """

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for name, end in (("low", self.low), ("high", self.high)):
            if end is None:
                continue
            if not isinstance(end, Real) or not abs(end) <= LARGEST_WHOLE:
                raise ValueError(
                    f"Numeric: an end of the domain is {end!r}, given as {name}; it is a number from -2**53 to 2**53, or left out."
                )
            object.__setattr__(self, name, plain_value(end))
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"Numeric: low is {self.low} and high {self.high}; low must not be above high.")

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """The numbers of a column: float array, shape ``(n,)``.

        NaN where a cell is not a finite number, as a date is not; infinite where it lies beyond ``LARGEST_WHOLE``, so that
        float64 may not hold it exactly.
        """
        if column.dtype == object:
            return np.array([_number(cell) for cell in column.tolist()], dtype=np.float64)
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_string_dtype(column)):
            return np.full(len(column), np.nan)
        if column.dtype.kind not in "iufb":
            return self.codes(column.astype(object))
        codes = column.to_numpy().astype(np.float64)
        large = np.flatnonzero(np.abs(codes) >= LARGEST_WHOLE)
        codes[large] = [_number(cell) for cell in column.iloc[large].tolist()]
        return codes

    def inside(self, codes: FloatArray) -> BoolArray:
        """Where the codes lie in the domain."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return np.asarray(np.isfinite(codes) & (codes >= low) & (codes <= high))

    def spanning(self, codes: FloatArray) -> "Numeric":
        """The same attribute with the ends that were left open taken from some codes."""
        low = float(codes.min()) if self.low is None else self.low
        high = float(codes.max()) if self.high is None else self.high
        return Numeric(low, high)

    @property
    def bounds(self) -> tuple[float, float]:
        """The two ends; both must be known, as they are in the schema of a view."""
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
    """A quasi-identifier with listed values, and perhaps a tree over them.

    The code of a value, in arrays, is its position in ``values``.

    Parameters
    ----------
    values : sequence
        All values it may take. With a hierarchy they are put in the order of the tree's traversal, so that
        neighbouring codes have close generalizations.
    hierarchy : Hierarchy, optional
        Without one, different values have only ``*`` in common.

    Raises
    ------
    ValueError
        If a value is listed twice, none is, two read alike, one is missing or not hashable, or the hierarchy misses one.
    """

    values: tuple[Hashable, ...]
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        values = listed_values(self.values, "a Categorical quasi-identifier")
        if self.hierarchy is not None:
            place = {leaf: position for position, leaf in enumerate(self.hierarchy.leaves)}
            missing = [value for value in values if str(value) not in place]
            if missing:
                raise ValueError(
                    f"the hierarchy has no row for {missing[0]!r}; it must name every value of the attribute. Add the "
                    "row, or take the value out of the domain."
                )
            values = tuple(sorted(values, key=lambda value: place[str(value)]))
        object.__setattr__(self, "values", values)

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """The positions of a column's cells in ``values``; NaN where a cell is not one of them."""
        return _positions(self.values, column)

    def inside(self, codes: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Where the codes lie in the domain."""
        return np.isfinite(codes)

    def spanning(self, codes: FloatArray) -> "Categorical":  # noqa: ARG002 - the same question as to a Numeric
        """Itself: its domain is listed, whatever the table holds."""
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
        """The hierarchy over exactly these values; the flat one where none was given."""
        if self.hierarchy is None:
            return Hierarchy.flat(self.values)
        wanted = {str(value) for value in self.values}
        return Hierarchy([row for row in self.hierarchy.rows if row[0] in wanted])


@dataclass(frozen=True)
class Schema:
    """The meaning of a table's columns.

    Parameters
    ----------
    quasi_identifiers : mapping of str to Numeric or Categorical
        The attributes by which a respondent may be recognized, in the order in which algorithms take them.
    sensitive : str
        The column of the sensitive value.
    values : sequence
        The sensitive domain, in its own order where it has one.
    respondent : str
        The column that says whose record it is.

    Raises
    ------
    TypeError
        If a quasi-identifier's type is neither a `Numeric` nor a `Categorical`.
    ValueError
        If no quasi-identifier or no value is named, a value is listed twice, two values read alike, or a column has two roles.
    """

    quasi_identifiers: Mapping[str, Numeric | Categorical]
    sensitive: str = "result"
    values: tuple[Hashable, ...] = field(default=())
    respondent: str = "id"

    def __post_init__(self) -> None:
        if not isinstance(self.quasi_identifiers, Mapping):
            raise TypeError(
                f"the quasi-identifiers are a {type(self.quasi_identifiers).__name__}; give each column its type, as {{'age': "
                "Numeric()}, or read the types off a table with Schema.infer."
            )
        object.__setattr__(self, "values", listed_values(self.values, f"the sensitive attribute {self.sensitive!r}"))
        object.__setattr__(self, "quasi_identifiers", dict(self.quasi_identifiers))
        if not self.quasi_identifiers:
            raise ValueError("a schema needs at least one quasi-identifier, as {'age': Numeric()}.")
        for name, kind in self.quasi_identifiers.items():
            if not isinstance(kind, Numeric | Categorical):
                raise TypeError(
                    f"the quasi-identifier {name!r} is given as {kind!r}; make it a Numeric() or a Categorical(values)."
                )
        names = [*self.quasi_identifiers, self.sensitive, self.respondent]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(
                f"the column {twice[0]!r} has two roles in the schema; give each role a column of its own."
            )

    def __hash__(self) -> int:
        return hash((tuple(self.quasi_identifiers.items()), self.sensitive, self.values, self.respondent))

    @classmethod
    def infer(
        cls, frame: pd.DataFrame, quasi_identifiers: Iterable[str], sensitive: str = "result", respondent: str = "id"
    ) -> "Schema":
        """Read the domains off a table.

        A column of numbers is numeric. Any other column is categorical with its values sorted; those of an ordered pandas
        Categorical are its categories in their order, used or not: an unused category keeps its rank on the scale, so that
        ordered distances do not depend on the values present. Drop it first with ``Series.cat.remove_unused_categories``
        where it should not count. The categories of an unordered Categorical do not matter. A `Categorical` with a hierarchy
        takes the order of its tree instead.

        Raises
        ------
        TypeError
            If the table is not a DataFrame, or ``quasi_identifiers`` is one text.
        ValueError
            If a column is missing, stands twice, holds no value, or holds cells that are no single values; see `View`.
        """
        if isinstance(quasi_identifiers, str):
            raise TypeError(
                f"quasi_identifiers is the text {quasi_identifiers!r}; it is a list of columns, as [{quasi_identifiers!r}]."
            )
        names = list(quasi_identifiers)
        check_columns(frame, [*names, sensitive, respondent])
        kinds: dict[str, Numeric | Categorical] = {
            name: Numeric() if _is_number(frame[name]) else Categorical(_domain(frame[name])) for name in names
        }
        return cls(kinds, sensitive, _domain(frame[sensitive]), respondent)

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """The positions of a column's cells in the sensitive domain; NaN where a cell is not in it."""
        return _positions(self.values, column)

    def spanning(self, codes: FloatArray) -> "Schema":
        """The same schema with the ends of numeric domains that were left open taken from codes of shape ``(n, d)``."""
        attributes = self.quasi_identifiers.items()
        return replace(
            self, quasi_identifiers={name: kind.spanning(codes[:, a]) for a, (name, kind) in enumerate(attributes)}
        )

    @property
    def bounds(self) -> FloatArray:
        """The ends of each quasi-identifier's domain in codes: float array, shape ``(d, 2)``."""
        return np.array([kind.bounds for kind in self.quasi_identifiers.values()], dtype=np.float64)


def check_columns(frame: pd.DataFrame, names: Iterable[Hashable]) -> None:
    """Raise an error, naming the column and those there are, if a column is missing or stands twice.

    Raises
    ------
    TypeError
        If the table is not a DataFrame.
    ValueError
        If a column is missing or stands twice, or column names have several levels.
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
        if name not in columns:
            raise ValueError(
                f"the table has no column {name!r}; it has {', '.join(map(repr, columns))}.{lookalike(name, columns)} Rename the "
                "column, or name another in the schema."
            )
        if columns.count(name) > 1:
            raise ValueError(f"the column {name!r} stands twice in the table; rename or drop one.")


def _is_number(column: "pd.Series[Any]") -> bool:
    types = pd.api.types
    return (
        types.is_numeric_dtype(column) and not types.is_bool_dtype(column) and not types.is_complex_dtype(column.dtype)
    )


def _domain(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    """The categories of an ordered Categorical in their order; of another column the values, sorted."""
    scale = _ordered_categories(column)
    values = _sorted_values(plain_column(column, "the table")) if scale is None else scale
    if not values:
        raise ValueError(
            f"the column {column.name!r} of the table is empty; a domain needs at least one value. Fill it in, or leave it out."
        )
    return listed_values(values, f"the column {column.name!r} of the table")


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


def _positions(values: tuple[Hashable, ...], column: "pd.Series[Any]") -> FloatArray:
    index: IntArray = pd.Index(values, dtype=object, tupleize_cols=False).get_indexer(
        pd.Index(column, dtype=object, tupleize_cols=False)
    )
    return np.where(index < 0, np.nan, index.astype(np.float64))


def _number(cell: Any) -> float:
    """The number in a cell: NaN if it is none or not finite, infinite if it lies beyond ``LARGEST_WHOLE``."""
    if isinstance(cell, str) and "_" in cell:
        return np.nan
    try:
        number = float(cell)
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        return np.nan
    if abs(number) < LARGEST_WHOLE:
        return number
    if not np.isfinite(number):
        return np.nan
    exact = Decimal(cell) if isinstance(cell, str) else cell
    return number if abs(number) == LARGEST_WHOLE and exact == number else np.inf


def listed_values(values: Iterable[Any], of: str) -> tuple[Hashable, ...]:
    """The values of a domain as Python values; raises unless there is one, and all can be told apart."""
    listed = plain_values(values)
    if not listed:
        raise ValueError(f"{of} needs at least one value; list its domain.")
    texts: dict[str, Any] = {}
    seen: dict[Hashable, Any] = {}
    for value in listed:
        if not is_hashable(value):
            raise ValueError(f"{of} lists {value!r}; a value is one text, number or date. Join it to a text.")
        if pd.api.types.is_scalar(value) and pd.isna(value):
            raise ValueError(
                f"{of} lists {value!r}, which marks a missing cell; leave it out, or name it, as 'unknown'."
            )
        if value in seen:
            other = seen[value]
            raise ValueError(
                f"{of} lists {value!r} twice; list each value once."
                if repr(other) == repr(value)
                else f"{of} lists {other!r} and {value!r}, which are equal; list one of them."
            )
        if str(value) in texts:
            raise ValueError(
                f"{of} lists two values that both read {str(value)!r}; published, they could not be told apart. Rename one."
            )
        seen[value] = texts[str(value)] = value
    return listed
