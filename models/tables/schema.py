"""Attributes, the schema of a table, and sets of sensitive values."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.settings import as_list, check_kind, is_number, shown
from foreknow.models.tables.columns import (
    MAX_EXACT_INTEGER,
    check_columns,
    checked_domain,
    inferred_domain,
    is_column_name,
    is_hashable,
    is_numeric_column,
    lookalike,
    plain_value,
    repeated,
)
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
        if column.dtype.kind not in "iufb":
            return np.array([_number(cell) for cell in column.tolist()], dtype=np.float64)
        codes = column.to_numpy().astype(np.float64)
        large = np.flatnonzero(np.abs(codes) >= MAX_EXACT_INTEGER)
        codes[large] = [_number(cell) for cell in column.iloc[large].tolist()]
        return codes

    def contains(self, codes: FloatArray) -> BoolArray:
        """Return whether each code is in the domain: bool array of the shape of ``codes``."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return np.asarray(np.isfinite(codes) & (codes >= low) & (codes <= high))

    def with_bounds_from(self, codes: FloatArray) -> "Numeric":
        """Return this attribute with its omitted bounds taken from codes, of which there is at least one."""
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
        return np.asarray(np.isfinite(codes))

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


@dataclass(frozen=True)
class Schema:
    """The roles and domains of a table's columns.

    Parameters
    ----------
    quasi_identifiers : mapping of str to Numeric or Categorical
        The attributes by which a respondent may be recognized, in the order in which algorithms take them.
    sensitive : str
        The column of the sensitive attribute.
    values : sequence
        The sensitive domain, in its order where it has one.
    respondent : str
        The column that identifies the respondent of each record.

    Raises
    ------
    TypeError
        If the quasi-identifiers are not a mapping, the type of one is neither a `Numeric` nor a `Categorical`, a column's
        name cannot be hashed, or the values are not a sequence.
    ValueError
        If there is no quasi-identifier or no value, two values are equal or have the same text, or a column has two roles.

    Examples
    --------
    >>> schema = Schema({"age": Numeric(0, 120)}, sensitive="disease", values=("cold", "flu"))
    >>> schema.bounds
    array([[  0., 120.]])
    """

    quasi_identifiers: Mapping[str, Numeric | Categorical]
    sensitive: str = "result"
    values: tuple[Hashable, ...] = field(default=())
    respondent: str = "id"

    def __post_init__(self) -> None:
        takes = "maps each column to its type, as {'age': Numeric()}; infer the types from a table with Schema.infer"
        check_kind("Schema", "quasi_identifiers", self.quasi_identifiers, Mapping, takes)
        quasi_identifiers = dict(self.quasi_identifiers)
        for role in ("sensitive", "respondent"):
            if not is_column_name(name := getattr(self, role)):
                raise TypeError(f"Schema: {role} is {name!r}; it is the name of a column, as 'result'.")
        if not quasi_identifiers:
            raise ValueError("a schema needs at least one quasi-identifier, as {'age': Numeric()}.")
        for name, kind in quasi_identifiers.items():
            takes = "is a Numeric() or a Categorical(values)"
            check_kind("Schema", f"the quasi-identifier {name!r}", kind, (Numeric, Categorical), takes)
        if twice := repeated([*quasi_identifiers, self.sensitive, self.respondent]):
            raise ValueError(
                f"the column {twice[0]!r} has two roles in the schema; give each role a column of its own."
            )
        values = checked_domain(self.values, f"the sensitive attribute {self.sensitive!r}")
        set_fields(self, quasi_identifiers=quasi_identifiers, values=values)

    def __hash__(self) -> int:
        return hash((tuple(self.quasi_identifiers.items()), self.sensitive, self.values, self.respondent))

    @classmethod
    def infer(
        cls, frame: pd.DataFrame, quasi_identifiers: Iterable[str], sensitive: str = "result", respondent: str = "id"
    ) -> "Schema":
        """Infer the domains from a table.

        A column of numbers is numeric. Any other column is categorical, with its values sorted. The domain of an ordered
        pandas Categorical is all its categories, in their order: an unused category keeps its rank, so that ordered distances
        do not depend on the values present. Drop unused categories with ``Series.cat.remove_unused_categories``. The
        categories of an unordered Categorical are not read.

        Parameters
        ----------
        frame : DataFrame
        quasi_identifiers : iterable of str
            Columns.
        sensitive, respondent : str
            Columns, as for the constructor.

        Raises
        ------
        TypeError
            If the table is not a DataFrame, or ``quasi_identifiers`` is one text or no list.
        ValueError
            If a column is missing, is duplicated or holds no value, or a cell is not one value; see `View`.
        """
        names = as_list("Schema.infer", "quasi_identifiers", quasi_identifiers, "is a list of columns, as ['age']")
        check_columns(frame, [*names, sensitive, respondent])
        attributes: dict[Any, Numeric | Categorical] = {
            name: Numeric() if is_numeric_column(frame[name]) else Categorical(inferred_domain(frame[name]))
            for name in names
        }
        return cls(attributes, sensitive, inferred_domain(frame[sensitive]), respondent)

    def codes(self, column: "pd.Series[Any]") -> FloatArray:
        """Return the positions of a column's cells in the sensitive domain: float array, shape ``(n,)``; NaN for others."""
        return positions_in(self.values, column)

    def with_bounds_from(self, codes: FloatArray) -> "Schema":
        """Return this schema with the omitted bounds of numeric domains taken from codes.

        Parameters
        ----------
        codes : float array, shape (n, d)
            At least one row.
        """
        attributes = self.quasi_identifiers.items()
        return replace(
            self,
            quasi_identifiers={name: kind.with_bounds_from(codes[:, a]) for a, (name, kind) in enumerate(attributes)},
        )

    @property
    def bounds(self) -> FloatArray:
        """The bounds of each quasi-identifier's domain, as codes: float array, shape ``(d, 2)``."""
        return np.array([kind.bounds for kind in self.quasi_identifiers.values()], dtype=np.float64)


def positions_in(values: tuple[Hashable, ...], column: "pd.Series[Any]") -> FloatArray:
    """Return the positions of a column's cells in a domain: float array, shape ``(n,)``; NaN for another cell."""
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


VALUES_SHOWN = 12
"""Largest number of values of a domain in an error message."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SensitiveSet:
    """A sensitive set within a domain, as a partition of the domain into classes of values.

    `SensitiveSet.within` makes one. A proper subset makes two classes, the set and its complement; without a set, each value is a
    class of its own.

    Attributes
    ----------
    domain : tuple, length m
    codes : int array
        Codes of the values of the set, ascending.
    classes : int array, shape (m,)
        Class of each value: 0 in the set and 1 outside it, or the value's own code without a set.
    class_labels : tuple, length c
        ``(True, False)``, or the domain without a set.
    """

    domain: tuple[Hashable, ...]
    codes: IntArray
    classes: IntArray
    class_labels: tuple[Hashable, ...]

    @classmethod
    def within(
        cls, domain: tuple[Hashable, ...], sensitive_set: "Collection[Hashable] | None", owner: str
    ) -> "SensitiveSet":
        """Make the set within a domain; None makes each value a class.

        Parameters
        ----------
        domain : tuple
            The m sensitive values.
        sensitive_set : collection of values, optional
        owner : str
            The class or function that takes the set, for error messages.

        Raises
        ------
        ValueError, TypeError
            As `as_sensitive_values`; if a value is not in the domain, or the set is the whole domain.
        """
        if sensitive_set is None:
            every = np.arange(len(domain))
            return cls(domain, every, every, domain)
        codes = sensitive_codes(owner, domain, sensitive_set)
        if len(codes) == len(domain):
            raise ValueError(
                f"{owner}: the sensitive set holds all {len(domain)} values of the domain, so that every record has one; leave out "
                "those that may be disclosed, or give no set to protect each value on its own."
            )
        classes = np.ones(len(domain), dtype=np.int64)
        classes[codes] = 0
        return cls(domain, codes, classes, (True, False))

    @property
    def is_proper_subset(self) -> bool:
        """True for two classes, a set and its complement; False where each value is a class."""
        return len(self.codes) < len(self.domain)

    def class_counts(self, counts: IntArray) -> IntArray:
        """Multisets by class: shape ``(g, m)`` to ``(g, c)``."""
        summed = np.zeros((len(counts), len(self.class_labels)), dtype=np.int64)
        for value, number in enumerate(self.classes):
            summed[:, number] += counts[:, value]
        return summed

    def value_probabilities(self, rows: FloatArray, counts: IntArray) -> FloatArray:
        """Probabilities of values from probabilities of classes: shape ``(n, c)`` to ``(n, m)``.

        Within a class, values have probabilities in proportion to their shares in ``counts``, shape ``(n, m)`` or ``(m,)``: the
        published multiset of each row's group. Values of a class with counts of 0 have equal probabilities.
        """
        if not self.is_proper_subset:
            return rows
        whole = self.class_counts(np.atleast_2d(counts))[:, self.classes]
        equal = 1 / np.bincount(self.classes)[self.classes]
        within = np.where(whole > 0, np.atleast_2d(counts) / np.maximum(whole, 1), equal)
        return np.asarray(rows[:, self.classes] * within)


def sensitive_codes(owner: str, domain: tuple[Hashable, ...], sensitive_set: Collection[Hashable]) -> IntArray:
    """Codes of the values of a sensitive set in a domain, ascending.

    Raises
    ------
    ValueError, TypeError
        As `as_sensitive_values`; if a value is not in the domain.
    """
    code = {value: number for number, value in enumerate(domain)}
    values = as_sensitive_values(owner, sensitive_set)
    unknown = [value for value in values if value not in code]
    if unknown:
        listed = ", ".join(map(repr, domain[:VALUES_SHOWN])) + (", ..." if len(domain) > VALUES_SHOWN else "")
        raise ValueError(
            f"{owner}: the sensitive set holds {unknown[0]!r}, which is not in the domain: {listed}."
            f"{lookalike(unknown[0], domain)}"
        )
    return np.sort([code[value] for value in values])


def as_sensitive_values(owner: str, sensitive_set: Collection[Hashable]) -> tuple[Hashable, ...]:
    """The values of a sensitive set as a tuple: in the given order, or sorted where a ``set`` is given.

    Parameters
    ----------
    owner : str
        The class or function that takes the set, for error messages.
    sensitive_set : collection of values
        A list, tuple, set, array or Series; text is no collection.

    Raises
    ------
    TypeError
        If it is text or cannot be iterated.
    ValueError
        If it is empty, holds a value that is not hashable, or names a value twice.
    """
    takes = "is a set of values of the domain, as {'flu', 'cold'}"
    values = tuple(as_list(owner, "sensitive_set", sensitive_set, takes))
    if not values or not all(map(is_hashable, values)):
        raise ValueError(f"{owner}: sensitive_set is {shown(sensitive_set)}; it {takes}, at least one.")
    if twice := repeated(values):
        raise ValueError(f"{owner}: the sensitive set names {twice[0]!r} twice; name each value once.")
    return tuple(sorted(values, key=str)) if isinstance(sensitive_set, set | frozenset) else values
