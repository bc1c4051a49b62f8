"""Original records: views, one for each time, and histories of views."""

import itertools
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray, ObjectArray
from foreknow.models.tables.continuous_time import check_not_continuous
from foreknow.models.tables.lookalikes import lookalike
from foreknow.models.tables.people import People
from foreknow.models.tables.plain_columns import LARGEST_WHOLE, plain_column, plain_columns, plain_value, without
from foreknow.models.tables.schema import Numeric, Schema, check_columns
from foreknow.models.tables.table_files import read_table as read_table


@dataclass(frozen=True, eq=False)
class View:
    """The original records of one time, at most one per respondent.

    Parameters
    ----------
    frame : DataFrame
        One row per record, with the schema's columns; other columns are kept and not read, and any index is accepted. The
        schema's columns may have any pandas type, also nullable, dictionary-encoded or of pyarrow; the view's own ``frame``
        holds them as plain Python and NumPy values.
    schema : Schema
        The meaning of the columns. Where it leaves the ends of a numeric domain open, this view's own are taken.
    time : optional
        The time of the records; any ordered value.

    Attributes
    ----------
    people : People
        The respondents and their quasi-identifiers, in the rows' order.
    sensitive : int array, shape (n,)
        Each record's sensitive value, as its position in ``schema.values``.

    Raises
    ------
    TypeError
        If the table is not a DataFrame, or the schema not a `Schema`.
    ValueError
        If the view is empty; a column is missing or stands twice; a respondent stands twice; a cell is missing (None, NaN, NaT
        or NA), not one value (a list), or outside the domain; or a number of a quasi-identifier is infinite or beyond 2**53.
        The message names the respondent and the cell.
    """

    frame: pd.DataFrame
    schema: Schema
    time: Any = 0
    people: People = field(init=False)
    sensitive: IntArray = field(init=False)

    def __post_init__(self) -> None:
        schema, time = self.schema, plain_value(self.time)
        if not isinstance(schema, Schema):
            raise TypeError(
                f"the schema is a {type(schema).__name__}; make it a Schema, as Schema.infer(frame, ['age'])."
            )
        names = [*schema.quasi_identifiers, schema.sensitive, schema.respondent]
        check_columns(self.frame, names)
        _check_names(schema)
        if self.frame.empty:
            raise ValueError(f"the view at {time!r} has no record; leave it out of the history.")
        frame = plain_columns(self.frame.reset_index(drop=True), names, f"the view at {time!r}")
        object.__setattr__(self, "time", time)
        respondents = _respondents(frame, schema, self.time)
        codes = np.column_stack([_codes(frame, schema, name, self.time) for name in schema.quasi_identifiers])
        sensitive = _codes(frame, schema, schema.sensitive, self.time).astype(np.int64)
        schema = schema.spanning(codes)
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "people", People(respondents, codes, schema, self.time))
        object.__setattr__(self, "sensitive", sensitive)

    def __len__(self) -> int:
        return len(self.people)

    def __repr__(self) -> str:
        return f"View(time={self.time!r}, records={len(self)})"


@dataclass(frozen=True, eq=False)
class History:
    """Views in the order of time, of one schema.

    Parameters
    ----------
    views : iterable of View
        In strictly increasing order of ``time``. Where their schema leaves the ends of a numeric domain open, those
        of all views together are taken, so that every view is measured on one scale.

    Raises
    ------
    ValueError
        If there is no view, the times do not increase, or the views' schemas differ.
    """

    views: tuple[View, ...]

    def __init__(self, views: Iterable[View]) -> None:
        views = tuple(views)
        if not views:
            raise ValueError("a history needs at least one view.")
        for before, after in itertools.pairwise(views):
            check_order(before.time, after.time)
        object.__setattr__(self, "views", _on_one_scale(views))

    @classmethod
    def read(cls, source: "str | Path | pd.DataFrame", schema: Schema, time: str = "week") -> "History":
        """Read a history from one table of all records: a DataFrame, or the path of a CSV or Parquet file.

        Parameters
        ----------
        source : DataFrame or path
            One row per record.
        schema : Schema
            What the columns mean.
        time : str
            The column by which records are split into views; its distinct values, sorted, are the times.

        Raises
        ------
        ValueError
            If the file is of another kind; a column is missing; a time is missing or infinite; times are fractional numbers or
            times of day, and more than half of the views would hold a single record; or as `View` does.
        """
        frame = source if isinstance(source, pd.DataFrame) else read_table(source)
        check_columns(frame, [time])
        if frame.empty:
            raise ValueError("the table has no record; a history needs at least one view.")
        frame = frame.reset_index(drop=True)
        rows = _by_time(_times(frame[time]))
        check_not_continuous(time, [(when, len(records)) for when, records in rows])
        return cls(View(frame.iloc[records], schema, when) for when, records in rows)

    def __len__(self) -> int:
        return len(self.views)

    def __iter__(self) -> Iterator[View]:
        return iter(self.views)

    def __getitem__(self, position: int) -> View:
        return self.views[position]

    def __repr__(self) -> str:
        return f"History(views={len(self)}, records={sum(map(len, self.views))})"

    @property
    def schema(self) -> Schema:
        """The schema of every view."""
        return self.views[0].schema

    @property
    def times(self) -> tuple[Any, ...]:
        """The views' times."""
        return tuple(view.time for view in self.views)

    @property
    def respondents(self) -> tuple[Hashable, ...]:
        """Everybody seen at least once, in the order of first appearance."""
        return tuple(dict.fromkeys(r for view in self.views for r in view.people.respondents))

    def until(self, time: Any) -> "History":
        """The views up to and including a time."""
        if not self.views[0].time <= time:
            raise ValueError(f"no view is of {time!r} or before; the first is of {self.views[0].time!r}.")
        return History(view for view in self.views if view.time <= time)

    def of(self, respondents: Iterable[Hashable]) -> "History":
        """The same history with only some people's records; views without any of them are left out."""
        wanted = set(respondents)
        column = self.schema.respondent
        frames = [(view, view.frame[view.frame[column].isin(wanted)]) for view in self.views]
        if not any(len(rows) for _, rows in frames):
            raise ValueError(
                f"none of the {len(wanted)} respondents is in the history; name some of history.respondents."
            )
        return History(View(rows, view.schema, view.time) for view, rows in frames if len(rows))


def check_order(before: Any, after: Any) -> None:
    """Raise ValueError unless one time lies before the other."""
    try:
        increasing = bool(before < after)
    except TypeError:
        increasing = False
    if not increasing:
        raise ValueError(
            f"time {after!r} comes after time {before!r}; times must increase, one view or release each. Sort them, or read "
            "the records with History.read."
        )


def _times(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The time of each record, by which records are split into views."""
    times = plain_column(column, "the table")
    missing = times.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{without(missing, column.name)}; every record needs its time. Drop the record, or fill it in."
        )
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        scale = [time for time in column.dtype.categories.tolist() if time in set(times)]
        for before, after in itertools.pairwise(scale):
            if not before < after:
                raise ValueError(
                    f"the times of {column.name!r} are ordered categories, in which {before!r} comes before {after!r}; as values "
                    "they sort otherwise. Write times as numbers or dates, as the category codes: frame[time].cat.codes."
                )
    return times


def _by_time(times: "pd.Series[Any]") -> list[tuple[Any, IntArray]]:
    """Each time, in increasing order, and the rows of its records."""
    codes, found = pd.factorize(times)
    values = [plain_value(when) for when in found.tolist()]
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        kinds = {type(when): when for when in values}
        raise ValueError(
            f"the times of {times.name!r} cannot be ordered, as {' and '.join(map(repr, list(kinds.values())[:2]))}; write all "
            "times as numbers, dates or texts."
        ) from None
    rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    return [(values[code], rows[code]) for code in order]


def _check_names(schema: Schema) -> None:
    """Raise ValueError if a column to be published has the name of one that a release adds."""
    added = ["group"] if "group" in (*schema.quasi_identifiers, schema.sensitive) else []
    added += ["count"] if schema.sensitive == "count" else []
    if added:
        raise ValueError(f"the column {added[0]!r} has the name of a column that a release adds; rename yours.")


def _respondents(frame: pd.DataFrame, schema: Schema, time: Any) -> ObjectArray:
    column = frame[schema.respondent]
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(
            f"{without(missing, column.name, f'the view at {time!r}')}; every record needs a respondent. Drop the record, or fill "
            "it in."
        )
    twice = column[column.duplicated()]
    if len(twice):
        raise ValueError(
            f"respondent {twice.tolist()[0]!r} appears twice in the view at {time!r}; a view holds one record per respondent. "
            "Drop duplicates, or split the view."
        )
    respondents = np.empty(len(column), dtype=object)
    respondents[:] = column.tolist()
    return respondents


def _codes(frame: pd.DataFrame, schema: Schema, name: str, time: Any) -> FloatArray:
    """A column as codes, every cell in its domain."""
    column = frame[name]
    if name == schema.sensitive:
        codes = schema.codes(column)
        inside, domain, values = (
            np.isfinite(codes),
            f"one of the {len(schema.values)} values of the schema",
            schema.values,
        )
    else:
        kind = schema.quasi_identifiers[name]
        codes = kind.codes(column)
        inside, domain, values = kind.inside(codes), kind.domain, () if isinstance(kind, Numeric) else kind.values
    if inside.all():
        return codes
    row, missing = int((~inside).argmax()), column.isna().to_numpy()
    cell = column.tolist()[row]
    place = f"{name!r} of respondent {frame[schema.respondent].tolist()[row]!r} in the view at {time!r}"
    if missing[row]:
        others = f" ({without(missing, name)})" if missing.sum() > 1 else ""
        raise ValueError(f"{place} is missing{others}; it must be {domain}. Correct or drop the record.")
    if np.isinf(codes[row]):
        raise ValueError(
            f"{place} is {cell!r}; a numeric quasi-identifier is kept as float64, in which whole numbers are exact up to 2**53 = "
            f"{LARGEST_WHOLE}. Declare the column Categorical, or rescale it."
        )
    widened = "" if name != schema.sensitive and not values and np.isnan(codes[row]) else ", or widen the schema"
    raise ValueError(
        f"{place} is {cell!r}; it must be {domain}.{lookalike(cell, values)} Correct or drop the record{widened}."
    )


def _on_one_scale(views: tuple[View, ...]) -> tuple[View, ...]:
    """The views with the domains of all of them together."""
    schema = views[0].schema
    for view in views:
        if _shape(view.schema) != _shape(schema):
            raise ValueError(
                f"the view at {view.time!r} has another schema than the one at {views[0].time!r}; a history has one. "
                "Build every view with the same Schema."
            )
    bounds = np.array([view.schema.bounds for view in views])
    attributes = {
        name: Numeric(float(bounds[:, a, 0].min()), float(bounds[:, a, 1].max())) if isinstance(kind, Numeric) else kind
        for a, (name, kind) in enumerate(schema.quasi_identifiers.items())
    }
    whole = replace(schema, quasi_identifiers=attributes)
    return tuple(view if view.schema == whole else View(view.frame, whole, view.time) for view in views)


def _shape(schema: Schema) -> tuple[object, ...]:
    """The part of a schema that all views of a history share: everything but the ends of numeric domains."""
    kinds = [
        (name, Numeric() if isinstance(kind, Numeric) else kind) for name, kind in schema.quasi_identifiers.items()
    ]
    return (kinds, schema.sensitive, schema.values, schema.respondent)
