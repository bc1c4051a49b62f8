"""Respondents and their quasi-identifiers."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_kind
from foreknow.models.tables.arguments import as_floats
from foreknow.models.tables.attributes import Categorical, Numeric
from foreknow.models.tables.columns.plain_columns import is_hashable, is_missing
from foreknow.models.tables.columns.times import check_time
from foreknow.models.tables.schema import Schema


@equal_by_fields
@dataclass(frozen=True, eq=False)
class People:
    """Respondents and their quasi-identifiers, without sensitive values.

    Parameters
    ----------
    respondents : object array, shape (n,)
        Their identifiers. That they are distinct is not checked.
    quasi_identifiers : float array, shape (n, d)
        Codes: the number of a numeric attribute, or the position of a categorical value in the schema's ``values``.
    schema : Schema
        The meaning of the columns. The bounds of every numeric domain are known.
    time : optional
        The time of their records, for a `Prior` that depends on it.

    Raises
    ------
    TypeError
        If the respondents are not an array, the codes are not numbers, or the schema is not a `Schema`.
    ValueError
        If the shapes do not fit, or a code is not finite or not the position of a categorical value.

    Notes
    -----
    Codes of numeric attributes are not compared with the bounds of their domains. Cost of the checks: O(n d).

    Examples
    --------
    >>> schema = Schema({"age": Numeric(0, 120), "sex": Categorical(("f", "m"))}, "disease", ("cold", "flu"))
    >>> People(np.array(["Ann", "Bob"], dtype=object), np.array([[31.0, 0], [45, 1]]), schema).frame.to_dict("index")
    {'Ann': {'age': 31.0, 'sex': 'f'}, 'Bob': {'age': 45.0, 'sex': 'm'}}
    """

    respondents: ObjectArray
    quasi_identifiers: FloatArray
    schema: Schema
    time: Any = None

    def __post_init__(self) -> None:
        check_kind("People", "schema", self.schema, Schema, "is a Schema, as view.schema")
        takes = "is an array of identifiers, as np.array(['Ann', 'Bob'], dtype=object)"
        check_kind("People", "respondents", self.respondents, np.ndarray, takes)
        object.__setattr__(self, "quasi_identifiers", as_floats("People", "quasi_identifiers", self.quasi_identifiers))
        d = len(self.schema.quasi_identifiers)
        if self.respondents.ndim != 1 or self.quasi_identifiers.shape != (len(self.respondents), d):
            raise ValueError(
                f"People: respondents have shape {self.respondents.shape} and quasi_identifiers {self.quasi_identifiers.shape}; "
                f"give n identifiers and codes of shape (n, {d}), one column per quasi-identifier of the schema."
            )
        for a, (name, kind) in enumerate(self.schema.quasi_identifiers.items()):
            _check_codes(name, kind, self.quasi_identifiers[:, a])
        if self.time is not None:
            object.__setattr__(self, "time", check_time("People", self.time))

    def __repr__(self) -> str:
        return f"People({len(self)}, known by {', '.join(map(str, self.schema.quasi_identifiers))})"

    def __len__(self) -> int:
        return len(self.respondents)

    def __getitem__(self, rows: "IntArray | BoolArray | slice") -> "People":
        takes = "is an array of row numbers, a boolean array or a slice, as people[:10]"
        check_kind("People", "the index", rows, (np.ndarray, slice), takes)
        try:
            respondents, codes = self.respondents[rows], self.quasi_identifiers[rows]
        except (IndexError, TypeError):
            raise ValueError(
                f"People: the index {rows!r} selects no rows of {len(self)} respondents; it {takes}."
            ) from None
        return replace(self, respondents=respondents, quasi_identifiers=codes)

    def rows(self, respondent: Hashable) -> list[int]:
        """Return the rows of a respondent: one, or none. Cost: O(n)."""
        if not is_hashable(respondent) or is_missing(respondent):
            raise TypeError(f"People.rows: respondent is {respondent!r}; it is one of people.respondents.")
        return [row for row, identifier in enumerate(self.respondents) if identifier == respondent]

    @property
    def frame(self) -> pd.DataFrame:
        """A table of the quasi-identifiers: one row per respondent, in order, indexed by respondent."""
        columns = {
            name: _cells(kind, codes)
            for (name, kind), codes in zip(self.schema.quasi_identifiers.items(), self.quasi_identifiers.T, strict=True)
        }
        return pd.DataFrame(columns, index=pd.Index(self.respondents, name=self.schema.respondent, tupleize_cols=False))


def _check_codes(name: str, kind: Numeric | Categorical, codes: FloatArray) -> None:
    """Raise ValueError unless codes are finite, and positions of values where the attribute is categorical."""
    if not np.isfinite(codes).all():
        row = int((~np.isfinite(codes)).argmax())
        raise ValueError(f"People: the code of {name!r} in row {row} is {codes[row]}; a code is a finite number.")
    if isinstance(kind, Categorical):
        wrong = (codes < 0) | (codes >= len(kind.values)) | (codes != np.floor(codes))
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"People: the code of {name!r} in row {row} is {codes[row]:g}; a code is the position of one of its "
                f"{len(kind.values)} values, from 0 to {len(kind.values) - 1}."
            )


def _cells(kind: Numeric | Categorical, codes: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.generic]]":
    """The codes of an attribute as cells of a table."""
    if isinstance(kind, Categorical):
        values = np.empty(len(kind.values), dtype=object)
        values[:] = kind.values
        return values[codes.astype(np.int64)]
    return codes
