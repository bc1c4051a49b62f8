"""Views: the original records of one time."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray, ObjectArray, object_array
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.settings import check_kind
from foreknow.models.tables.columns import (
    MAX_EXACT_INTEGER,
    check_columns,
    check_time,
    describe_missing,
    lookalike,
    plain_columns,
)
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Numeric, Schema


@equal_by_fields
@dataclass(frozen=True, eq=False)
class View:
    """The original records of one time, at most one per respondent.

    Parameters
    ----------
    frame : DataFrame
        One row per record, with the schema's columns. Other columns are kept and not read; any index is accepted. The
        schema's columns may have any pandas dtype, also nullable, dictionary-encoded or of pyarrow. The attribute ``frame``
        holds them as plain Python and NumPy values.
    schema : Schema
        The meaning of the columns. An omitted bound of a numeric domain is taken from this view.
    time : optional
        The time of the records: a number, a date, a text or another value that can be ordered.

    Attributes
    ----------
    people : People
        The respondents and their quasi-identifiers, in the order of the rows.
    sensitive : int array, shape (n,)
        The sensitive code of each record: the position of its value in ``schema.values``.
    table_counts : int array, shape (m,)
        Number of records of each value in the whole table: in the view, unless it is a part of a larger table.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, the schema is not a `Schema`, or the time cannot be ordered.
    ValueError
        If the view is empty; a column is missing or duplicated; a respondent appears twice; a cell is missing (None, NaN, NaT
        or NA), is not one value (a list), or is outside the domain; or a number of a quasi-identifier is infinite or beyond
        2**53. The message names the respondent and the cell.

    Notes
    -----
    Cost: O(n d).

    Examples
    --------
    >>> frame = pd.DataFrame({"id": ["Ann", "Bob"], "age": [31, 45], "disease": ["flu", "cold"]})
    >>> view = View(frame, Schema({"age": Numeric()}, "disease", ("cold", "flu")), time=3)
    >>> view, view.sensitive
    (View(time=3, records=2), array([1, 0]))
    """

    frame: pd.DataFrame
    schema: Schema
    time: Any = 0
    people: People = field(init=False)
    sensitive: IntArray = field(init=False)
    table_counts: IntArray = field(init=False)

    def __post_init__(self) -> None:
        schema, time = self.schema, check_time("View", self.time)
        check_kind("View", "schema", schema, Schema, "is a Schema, as Schema.infer(frame, ['age'])")
        names = [*schema.quasi_identifiers, schema.sensitive, schema.respondent]
        check_columns(self.frame, names)
        if (added := added_column(schema)) is not None:
            raise ValueError(f"the column {added!r} has the name of a column that a release adds; rename yours.")
        if self.frame.empty:
            raise ValueError(f"the view at {time!r} has no record; leave it out of the history.")
        frame = plain_columns(self.frame.reset_index(drop=True), names, f"the view at {time!r}")
        respondents = _respondents(frame, schema, time)
        codes = np.column_stack([_codes(frame, schema, name, time) for name in schema.quasi_identifiers])
        sensitive = _codes(frame, schema, schema.sensitive, time).astype(np.int64)
        schema = schema.with_bounds_from(codes)
        people, counts = People(respondents, codes, schema, time), np.bincount(sensitive, minlength=len(schema.values))
        set_fields(self, time=time, frame=frame, schema=schema, people=people, sensitive=sensitive, table_counts=counts)

    @classmethod
    def from_codes(cls, people: People, sensitive: IntArray, table_counts: IntArray | None = None) -> "View":
        """View of records that are already codes, as a part of a larger table.

        Parameters
        ----------
        people : People
            Respondents and quasi-identifiers; its time is that of the view.
        sensitive : int array, shape (n,)
            Codes of the sensitive values.
        table_counts : int array, shape (m,), optional
            Number of records of each value in the whole table; by default, in the view.

        Notes
        -----
        Nothing is checked. Cost: O(n d).
        """
        view, schema, time = object.__new__(cls), people.schema, people.time
        frame = people.frame.reset_index()
        frame[schema.sensitive] = object_array(schema.values)[sensitive]
        counts = np.bincount(sensitive, minlength=len(schema.values)) if table_counts is None else table_counts
        set_fields(view, frame=frame, schema=schema, time=time, people=people, sensitive=sensitive, table_counts=counts)
        return view

    def in_order(self, order: IntArray) -> "View":
        """View of the same records in another order: ``order`` is a permutation of its rows, which is not checked."""
        view = object.__new__(_Reordered)
        set_fields(
            view, schema=self.schema, time=self.time, table_counts=self.table_counts, source=self.frame, order=order
        )
        set_fields(view, people=self.people[order], sensitive=self.sensitive[order])
        return view

    def __len__(self) -> int:
        return len(self.people)

    def __repr__(self) -> str:
        return f"View(time={self.time!r}, records={len(self)})"


class _Reordered(View):
    """View in another order than its table, which is put into this order when it is first read: few defenses read it."""

    source: pd.DataFrame
    order: IntArray

    @cached_property
    def frame(self) -> pd.DataFrame:
        return self.source.take(self.order).reset_index(drop=True)


def added_column(schema: Schema, case_matters: bool = True) -> str | None:
    """The published column with the name of one that a release adds; None if there is none."""
    added = {"group": (*schema.quasi_identifiers, schema.sensitive), "count": (schema.sensitive,)}
    names = ((own, name) for own, names in added.items() for name in names)
    return next((name for own, name in names if own in (name, name if case_matters else name.lower())), None)


def _respondents(frame: pd.DataFrame, schema: Schema, time: Any) -> ObjectArray:
    """The respondent of each record, each at most once."""
    column = frame[schema.respondent]
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{describe_missing(missing, column.name, f'the view at {time!r}')}; every record needs a respondent. Drop the record, "
            "or fill it in."
        )
    twice = column[column.duplicated()]
    if len(twice):
        raise ValueError(
            f"respondent {twice.tolist()[0]!r} appears twice in the view at {time!r}; a view holds one record per respondent. "
            "Drop duplicates, or split the view."
        )
    return object_array(column.tolist())


def _codes(frame: pd.DataFrame, schema: Schema, name: str, time: Any) -> FloatArray:
    """The codes of a column; raises unless every cell is in its domain."""
    column = frame[name]
    if name == schema.sensitive:
        codes = schema.codes(column)
        inside = np.isfinite(codes)
    else:
        kind = schema.quasi_identifiers[name]
        codes = kind.codes(column)
        inside = kind.contains(codes)
    if not inside.all():
        row = int((~inside).argmax())
        respondent = frame[schema.respondent].tolist()[row]
        place = f"{name!r} of respondent {respondent!r} in the view at {time!r}"
        raise ValueError(_bad_cell(column, name, schema, row, codes[row], place))
    return codes


def _bad_cell(column: "pd.Series[Any]", name: str, schema: Schema, row: int, code: float, place: str) -> str:
    """The message for a cell outside its domain: missing, too large, or another value."""
    kind = schema.quasi_identifiers.get(name)
    domain = f"one of the {len(schema.values)} values of the schema" if kind is None else kind.domain
    missing, cell = column.isna().to_numpy(), column.tolist()[row]
    if missing[row]:
        others = f" ({describe_missing(missing, name)})" if missing.sum() > 1 else ""
        return f"{place} is missing{others}; it must be {domain}. Correct or drop the record."
    if np.isinf(code):
        return (
            f"{place} is {cell!r}; a numeric quasi-identifier is stored as float64, in which integers are exact up to 2**53 = "
            f"{MAX_EXACT_INTEGER}. Declare the column Categorical, or rescale it."
        )
    values = schema.values if kind is None else () if isinstance(kind, Numeric) else kind.values
    widen = "" if isinstance(kind, Numeric) and np.isnan(code) else ", or widen the schema"
    return f"{place} is {cell!r}; it must be {domain}.{lookalike(cell, values)} Correct or drop the record{widen}."
