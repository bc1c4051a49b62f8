"""The original records: one view per time, and the history they make."""

import itertools
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.people import People
from foreknow.models.schema import Numeric, Schema, check_columns
from foreknow.models.table_files import read_table as read_table


@dataclass(frozen=True, eq=False)
class View:
    """The original records of one time, at most one per respondent.

    Parameters
    ----------
    frame : DataFrame
        One row per record, with the schema's columns; other columns are left aside, and any index is accepted.
    schema : Schema
        What the columns mean. Where it leaves the ends of a numeric domain open, this view's own are taken.
    time : optional
        When the records were taken; any ordered value.

    Attributes
    ----------
    people : People
        The respondents and their quasi-identifiers, in the rows' order.
    sensitive : int array, shape (n,)
        Each record's sensitive value, as its position in ``schema.values``.

    Raises
    ------
    ValueError
        If the view is empty, a column is missing, a respondent stands twice, or a cell is missing or outside the
        domain; the message names the respondent and the cell.
    """

    frame: pd.DataFrame
    schema: Schema
    time: Any = 0
    people: People = field(init=False)
    sensitive: IntArray = field(init=False)

    def __post_init__(self) -> None:
        schema = self.schema
        check_columns(self.frame, [*schema.quasi_identifiers, schema.sensitive, schema.respondent])
        if self.frame.empty:
            raise ValueError(f"the view at {self.time!r} has no record; leave it out of the history.")
        frame = self.frame.reset_index(drop=True)
        respondents = _respondents(frame, schema, self.time)
        codes = np.column_stack([_codes(frame, schema, name, self.time) for name in schema.quasi_identifiers])
        sensitive = _codes(frame, schema, schema.sensitive, self.time).astype(np.int64)
        schema = schema.spanning(codes)
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "people", People(respondents, codes, schema))
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
            If the file is of another kind, a column is missing, a time is missing, or as `View` does.
        """
        frame = source if isinstance(source, pd.DataFrame) else read_table(source)
        check_columns(frame, [time])
        if frame.empty:
            raise ValueError("the table has no record; a history needs at least one view.")
        missing = frame[time].isna().to_numpy()
        if missing.any():
            raise ValueError(
                f"row {int(missing.argmax())} has no {time!r}; every record needs its time. Drop it, or fill it in."
            )
        groups = frame.reset_index(drop=True).groupby(time, sort=True)
        return cls(View(rows, schema, time=when) for when, rows in groups)

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
        """What the columns of every view mean."""
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


def _respondents(frame: pd.DataFrame, schema: Schema, time: Any) -> "np.ndarray[Any, np.dtype[np.object_]]":
    column = frame[schema.respondent]
    if column.isna().any():
        row = int(column.isna().to_numpy().argmax())
        raise ValueError(
            f"row {row} of the view at {time!r} has no {schema.respondent!r}; every record needs a respondent."
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
        inside, domain = np.isfinite(codes), f"one of the {len(schema.values)} values of the schema"
    else:
        kind = schema.quasi_identifiers[name]
        codes = kind.codes(column)
        inside, domain = kind.inside(codes), kind.domain
    if not inside.all():
        row = int((~inside).argmax())
        who, cell = frame[schema.respondent].tolist()[row], column.tolist()[row]
        wrong = "is missing" if pd.isna(cell) else f"is {cell!r}"
        raise ValueError(
            f"{name!r} of respondent {who!r} in the view at {time!r} {wrong}; it must be {domain}. Correct or drop the "
            "record, or widen the schema."
        )
    return codes


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
    """What must be equal across the views of a history: all but the ends of numeric domains."""
    kinds = [
        (name, Numeric() if isinstance(kind, Numeric) else kind) for name, kind in schema.quasi_identifiers.items()
    ]
    return (kinds, schema.sensitive, schema.values, schema.respondent)
