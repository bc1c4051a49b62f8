"""Histories: the views of a table over time."""

import itertools
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice
from foreknow.models.equality import equal_by_fields
from foreknow.models.html_tables import html_table
from foreknow.models.settings import as_list, check_kind
from foreknow.models.tables.cell_types import NO_ORDER, ordered_times
from foreknow.models.tables.columns import (
    check_columns,
    check_not_continuous,
    check_order,
    check_time,
    is_hashable,
    precedes,
    rows_by_time,
)
from foreknow.models.tables.schema import Numeric, Schema
from foreknow.models.tables.table_files import read_table
from foreknow.models.tables.view import View
from foreknow.models.tables.view_files import read_views, write_views


@equal_by_fields
@dataclass(frozen=True, eq=False)
class History:
    """Views of one schema, in order of time.

    Parameters
    ----------
    views : iterable of View
        In strictly increasing order of ``time``. An omitted bound of a numeric domain is taken from all views together, so
        that every view is measured on one scale.

    Raises
    ------
    TypeError
        If the views are not an iterable of `View`.
    ValueError
        If there is no view, the times do not increase, or the views' schemas differ.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": ["Ann", "Bob", "Ann"], "age": [31, 45, 31], "result": list("aba"), "week": [1, 1, 2]})
    >>> history = History.read(frame, Schema.infer(frame, ["age"]))
    >>> history, history.times
    (History(views=2, records=3), (1, 2))
    >>> history.of(["Bob"])
    History(views=1, records=1)
    """

    views: tuple[View, ...]

    def __init__(self, views: Iterable[View]) -> None:
        listed = tuple(as_list("History", "views", views, "is a list of views, as [View(frame, schema, time)]"))
        takes = "is a View, as View(frame, schema, time); read one table of all records with History.read"
        for view in listed:
            check_kind("History", "one of the views", view, View, takes)
        if not listed:
            raise ValueError("a history needs at least one view.")
        for before, after in itertools.pairwise(listed):
            check_order(before.time, after.time)
        object.__setattr__(self, "views", _with_common_bounds(listed))

    @classmethod
    def read(
        cls, source: "str | Path | pd.DataFrame", schema: Schema, time: str = "week", encoding: str = "utf-8"
    ) -> "History":
        """Read a history from one table of all records.

        Parameters
        ----------
        source : DataFrame or path
            One row per record: a DataFrame, or the path of a CSV or Parquet file. A named index is a column.
        schema : Schema
            The meaning of the columns.
        time : str
            The column that divides the records into views. Its distinct values, sorted, are the times. Texts sort by the
            alphabet, so names such as ``baseline`` and ``follow-up`` must be in this order.
        encoding : str
            The encoding of a CSV file.

        Raises
        ------
        TypeError
            If an argument is of another type.
        ValueError
            If the file is neither CSV nor Parquet, or is not in the encoding; a column is missing; a time is missing or
            infinite; times are fractional numbers or times of day, and more than half of the views would hold a single
            record; numbers or dates are text that does not sort in the order of time, as ``02/2024`` or ``week 10``; or as
            `View` does.
        FileNotFoundError
            If there is no such file.
        """
        takes = "is a DataFrame, or the path of a .csv or .parquet file"
        check_kind("History.read", "source", source, (pd.DataFrame, str, PathLike), takes)
        check_kind("History.read", "schema", schema, Schema, "is a Schema, as Schema.infer(frame, ['age'])")
        frame = source if isinstance(source, pd.DataFrame) else read_table(source, encoding=encoding)
        levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
        frame = (frame.reset_index(levels) if levels else frame).reset_index(drop=True)
        check_columns(frame, [time])
        if frame.empty:
            raise ValueError("the table has no record; a history needs at least one view.")
        _check_text_sorts(frame[time])
        rows = rows_by_time(frame[time])
        check_not_continuous(time, [(when, len(records)) for when, records in rows])
        return cls(View(frame.iloc[records], schema, when) for when, records in rows)

    def save(self, path: "str | Path", *, overwrite: bool = False) -> None:
        """Write the views to a Parquet file with one row per record, which `load` reads without a schema.

        The column ``foreknow:time`` has the times; the schema is in the metadata of the file. The file is written completely or not
        at all, and only its owner can read it. Cost: O(n d).

        Parameters
        ----------
        path : path
            A name that ends in ``.parquet``.
        overwrite : bool
            True to replace an earlier file.

        Raises
        ------
        ValueError
            If the name has another ending, there is no such folder, or, without ``overwrite``, the file is already there; if a
            column cannot be restored exactly, or two columns have one name.
        """
        write_views("History.save", path, self.views, overwrite)

    @classmethod
    def load(cls, path: "str | Path") -> "History":
        """Read the history that `save` wrote, equal to what it was.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file holds something else.
        """
        return cls(read_views("History.load", path)[0])

    def __len__(self) -> int:
        return len(self.views)

    def __iter__(self) -> Iterator[View]:
        return iter(self.views)

    def __getitem__(self, position: int) -> View:
        return self.views[position]

    def __repr__(self) -> str:
        return f"History(views={len(self)}, records={sum(map(len, self.views))})"

    def _repr_html_(self) -> str:
        schema, people = self.schema, len(self.respondents)
        facts: dict[str, object] = {"views": len(self), "records": sum(map(len, self.views)), "respondents": people}
        facts |= {
            "sensitive": f"{schema.sensitive} ({len(schema.values)} values)",
            "known by": ", ".join(schema.quasi_identifiers),
        }
        return html_table("History", facts, ["time", "records"], [[view.time, len(view)] for view in self.views])

    @property
    def schema(self) -> Schema:
        """The schema of every view."""
        return self.views[0].schema

    @property
    def times(self) -> tuple[Any, ...]:
        """The times of the views."""
        return tuple(view.time for view in self.views)

    @property
    def respondents(self) -> tuple[Hashable, ...]:
        """The respondents of all views, in order of first appearance."""
        return tuple(dict.fromkeys(r for view in self.views for r in view.people.respondents))

    def until(self, time: Any) -> "History":
        """Return the views up to and including a time.

        Raises
        ------
        ValueError
            If every view is later, or the time cannot be compared with those of the views.
        """
        time, first = check_time("History.until", time), self.views[0].time
        if not (precedes(first, time) or first == time):
            raise ValueError(f"History.until: no view is of {time!r} or before; the first is of {first!r}.")
        return History(view for view in self.views if not precedes(time, view.time))

    def of(self, respondents: Iterable[Hashable]) -> "History":
        """Return the history of some respondents. A view without any of them is omitted.

        Parameters
        ----------
        respondents : iterable
            Respondents of the history; others are ignored, unless none is in it.

        Raises
        ------
        TypeError
            If the respondents are one text or cannot be iterated.
        ValueError
            If none is in the history.
        """
        takes = "is a list of respondents, as some of history.respondents"
        wanted = set(filter(is_hashable, as_list("History.of", "respondents", respondents, takes)))
        chosen = [[respondent in wanted for respondent in view.people.respondents] for view in self.views]
        frames = [(view, view.frame[rows]) for view, rows in zip(self.views, chosen, strict=True)]
        if not any(len(rows) for _, rows in frames):
            raise ValueError(
                f"none of the {len(wanted)} respondents is in the history; name some of history.respondents."
            )
        return History(View(rows, view.schema, view.time) for view, rows in frames if len(rows))


def _check_text_sorts(column: "pd.Series[Any]") -> None:
    """Raise ValueError if times are numbers or dates written as text, whose order is not that of time."""
    if not pd.api.types.is_string_dtype(column) or column.dropna().empty:
        return
    texts = pd.Series(sorted({text for text in column.dropna().tolist() if isinstance(text, str)}), name=column.name)
    times, faults, _ = ordered_times(texts)
    for fault in faults:
        if fault.problem != NO_ORDER:
            ways = (fault.way_out, ". Cleaning has settings for such tables.")
            raise ValueError(Advice(f"{column.name!r} {fault.problem}; ", *ways))
    if faults:
        return
    for place, (before, after) in enumerate(itertools.pairwise(times.tolist())):
        if not before < after:
            raise ValueError(
                f"the times of {column.name!r} are text, and as text {texts[place]!r} comes before {texts[place + 1]!r}; clean the "
                f"table first, as Cleaning()(frame, ColumnRoles(time={column.name!r})), or write numbers as numbers and the year "
                "of a date first."
            )


def _with_common_bounds(views: tuple[View, ...]) -> tuple[View, ...]:
    """The views with the numeric domains of all of them together."""
    schema = views[0].schema
    for view in views:
        if _without_bounds(view.schema) != _without_bounds(schema):
            raise ValueError(
                f"the view at {view.time!r} has another schema than the one at {views[0].time!r}; a history has one. "
                "Build every view with the same Schema."
            )
    bounds = np.array([view.schema.bounds for view in views])
    attributes = {
        name: Numeric(float(bounds[:, a, 0].min()), float(bounds[:, a, 1].max())) if isinstance(kind, Numeric) else kind
        for a, (name, kind) in enumerate(schema.quasi_identifiers.items())
    }
    common = replace(schema, quasi_identifiers=attributes)
    return tuple(view if view.schema == common else View(view.frame, common, view.time) for view in views)


def _without_bounds(schema: Schema) -> tuple[object, ...]:
    """The part of a schema that all views of a history share: everything but the bounds of numeric domains."""
    # A list, not a mapping: the order of the attributes is that of the codes.
    kinds = [
        (name, Numeric() if isinstance(kind, Numeric) else kind) for name, kind in schema.quasi_identifiers.items()
    ]
    return (kinds, schema.sensitive, schema.values, schema.respondent)
