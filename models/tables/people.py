"""Respondents and their quasi-identifiers."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray
from foreknow.models.tables.schema import Categorical, Schema


@dataclass(frozen=True, eq=False)
class People:
    """Respondents with their quasi-identifiers. It holds no sensitive value.

    Parameters
    ----------
    respondents : object array, shape (n,)
        Their names.
    quasi_identifiers : float array, shape (n, d)
        For each respondent and attribute a number, or a categorical value's position in the schema's ``values``.
    schema : Schema
        The meaning of the columns; the ends of every numeric domain are known.
    time : optional
        The time of their records, for a `Prior` that depends on it.
    """

    respondents: ObjectArray
    quasi_identifiers: FloatArray
    schema: Schema
    time: Any = None

    def __repr__(self) -> str:
        return f"People({len(self)}, known by {', '.join(self.schema.quasi_identifiers)})"

    def __len__(self) -> int:
        return len(self.respondents)

    def __getitem__(self, rows: "IntArray | BoolArray | slice") -> "People":
        return replace(self, respondents=self.respondents[rows], quasi_identifiers=self.quasi_identifiers[rows])

    def rows(self, respondent: Hashable) -> list[int]:
        """The rows of a respondent: one, or none."""
        return [row for row, somebody in enumerate(self.respondents) if somebody == respondent]

    @property
    def frame(self) -> pd.DataFrame:
        """The people as a table: one row per respondent, in order, the quasi-identifiers as columns."""
        columns = {
            name: _cells(kind, codes)
            for (name, kind), codes in zip(self.schema.quasi_identifiers.items(), self.quasi_identifiers.T, strict=True)
        }
        return pd.DataFrame(columns, index=pd.Index(self.respondents, name=self.schema.respondent, tupleize_cols=False))


def _cells(kind: object, codes: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.generic]]":
    if isinstance(kind, Categorical):
        values = np.empty(len(kind.values), dtype=object)
        values[:] = kind.values
        return values[codes.astype(np.int64)]
    return codes
