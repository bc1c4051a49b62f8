"""Roles of a table's columns: quasi-identifiers, the sensitive attribute, the respondent."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray
from foreknow.models.tables.arguments import as_floats, as_list
from foreknow.models.tables.attributes import Categorical, Numeric, positions_in
from foreknow.models.tables.columns.domains import checked_domain, inferred_domain, is_numeric_column
from foreknow.models.tables.columns.required_columns import check_columns, is_column_name


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
        if not isinstance(self.quasi_identifiers, Mapping):
            raise TypeError(
                f"the quasi-identifiers are a {type(self.quasi_identifiers).__name__}; give each column its type, as {{'age': "
                "Numeric()}, or infer the types from a table with Schema.infer."
            )
        object.__setattr__(self, "quasi_identifiers", dict(self.quasi_identifiers))
        _check_roles(self.quasi_identifiers, self.sensitive, self.respondent)
        object.__setattr__(self, "values", checked_domain(self.values, f"the sensitive attribute {self.sensitive!r}"))

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
        codes = as_floats("Schema.with_bounds_from", "codes", codes)
        if codes.ndim != 2 or codes.shape[1] != len(self.quasi_identifiers) or not len(codes):
            raise ValueError(
                f"the codes have shape {codes.shape}; give at least one row, with one column per quasi-identifier, of which "
                f"there are {len(self.quasi_identifiers)}."
            )
        attributes = self.quasi_identifiers.items()
        return replace(
            self,
            quasi_identifiers={name: kind.with_bounds_from(codes[:, a]) for a, (name, kind) in enumerate(attributes)},
        )

    @property
    def bounds(self) -> FloatArray:
        """The bounds of each quasi-identifier's domain, as codes: float array, shape ``(d, 2)``."""
        return np.array([kind.bounds for kind in self.quasi_identifiers.values()], dtype=np.float64)


def _check_roles(quasi_identifiers: Mapping[str, Numeric | Categorical], sensitive: str, respondent: str) -> None:
    """Raise an error unless each column has one role and each quasi-identifier a type."""
    for role, name in (("sensitive", sensitive), ("respondent", respondent)):
        if not is_column_name(name):
            raise TypeError(f"Schema: {role} is {name!r}; it is the name of a column, as 'result'.")
    if not quasi_identifiers:
        raise ValueError("a schema needs at least one quasi-identifier, as {'age': Numeric()}.")
    for name, kind in quasi_identifiers.items():
        if not isinstance(kind, Numeric | Categorical):
            raise TypeError(
                f"the quasi-identifier {name!r} is given as {kind!r}; make it a Numeric() or a Categorical(values)."
            )
    names = [*quasi_identifiers, sensitive, respondent]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"the column {twice[0]!r} has two roles in the schema; give each role a column of its own.")
