"""What the columns of a table mean: quasi-identifiers, the sensitive value, the respondent."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.hierarchy import Hierarchy


@dataclass(frozen=True)
class Numeric:
    """A quasi-identifier that is a number.

    Parameters
    ----------
    low, high : float, optional
        The ends of its domain. Where they are left out, the table's own smallest and largest value are taken; a
        history takes those of all its views together.
    """

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if end is not None and not np.isfinite(end):
                raise ValueError(f"Numeric: an end of the domain is {end}; it is a number, or left out.")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"Numeric: low is {self.low} and high {self.high}; low must not be above high.")

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """The numbers of a column; NaN where a cell is not a number, as a date is not."""
        if pd.api.types.is_datetime64_any_dtype(column):
            return np.full(len(column), np.nan)
        numbers = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
        return np.where(column.isna(), np.nan, numbers)

    def inside(self, codes: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
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
        match self.low, self.high:
            case None, None:
                return "a number"
            case low, None:
                return f"a number of at least {low}"
            case None, high:
                return f"a number of at most {high}"
        return f"a number from {self.low} to {self.high}"


@dataclass(frozen=True)
class Categorical:
    """A quasi-identifier with listed values, and perhaps a tree over them.

    Its code, wherever arrays are used, is the position in ``values``.

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
        If a value is listed twice, none is, or the hierarchy misses one.
    """

    values: tuple[Hashable, ...]
    hierarchy: Hierarchy | None = None

    def __post_init__(self) -> None:
        values = tuple(self.values)
        _check_listed(values, "a Categorical quasi-identifier")
        texts = [str(value) for value in values]
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise ValueError(
                f"a Categorical quasi-identifier lists two values that both read {twice!r}; published, they could not be told "
                "apart. Rename one."
            )
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
    """What the columns of a table mean.

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
    ValueError
        If no quasi-identifier or no value is named, a value stands twice, or a column has two roles.
    """

    quasi_identifiers: Mapping[str, Numeric | Categorical]
    sensitive: str = "result"
    values: tuple[Hashable, ...] = field(default=())
    respondent: str = "id"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "quasi_identifiers", dict(self.quasi_identifiers))
        if not self.quasi_identifiers:
            raise ValueError("a schema needs at least one quasi-identifier, as {'age': Numeric()}.")
        _check_listed(self.values, f"the sensitive attribute {self.sensitive!r}")
        names = [*self.quasi_identifiers, self.sensitive, self.respondent]
        twice = sorted({name for name in names if names.count(name) > 1})
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
        """Read the domains off a table: a column of numbers is numeric, any other categorical with sorted values.

        Raises
        ------
        ValueError
            If a column is not there.
        """
        names = list(quasi_identifiers)
        check_columns(frame, [*names, sensitive, respondent])
        kinds: dict[str, Numeric | Categorical] = {
            name: Numeric() if _is_number(frame[name]) else Categorical(_sorted_values(frame[name])) for name in names
        }
        return cls(kinds, sensitive, _sorted_values(frame[sensitive]), respondent)

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


def check_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise ValueError, naming the column and those there are, if one is missing or stands twice."""
    for name in names:
        if name not in frame.columns:
            raise ValueError(
                f"the table has no column {name!r}; it has {', '.join(map(repr, frame.columns))}. Rename the column, or "
                "name another in the schema."
            )
        if list(frame.columns).count(name) > 1:
            raise ValueError(f"the column {name!r} stands twice in the table; rename or drop one.")


def _is_number(column: "pd.Series[Any]") -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _sorted_values(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    values = column.dropna().unique().tolist()
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))


def _positions(values: tuple[Hashable, ...], column: "pd.Series[Any]") -> FloatArray:
    index: IntArray = pd.Index(values, dtype=object).get_indexer(pd.Index(column, dtype=object))
    return np.where(index < 0, np.nan, index.astype(np.float64))


def _check_listed(values: tuple[Hashable, ...], of: str) -> None:
    if not values:
        raise ValueError(f"{of} needs at least one value; list its domain.")
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise ValueError(f"{of} lists {twice!r} twice; list each value once.")
