"""Releases as files: the published table, and the key that names the group of each record."""

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.cli.files.columns import RESERVED_COLUMNS, Columns, check_roles
from foreknow.app.cli.files.written_tables import quoted_formula
from foreknow.app.publication import published_cell
from foreknow.attacks import ConditionalProbability
from foreknow.models import Categorical, Grouping, History, People, Release, Schema, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, object_array
from foreknow.models.settings import is_number
from foreknow.models.tables.columns import check_columns
from foreknow.models.tables.table_files import read_table


def published_table(releases: Iterable[Release], time: str) -> pd.DataFrame:
    """The published table of all releases; quasi-identifiers are text, because a Parquet column has one type.

    If a release has ghosts, the column ``ghosts`` has their number in the group of each row: a reader multiplies the counts of a
    group by its share of real records.
    """
    releases, tables = list(releases), []
    carried = any(release.grouping.places is not None for release in releases)
    for release in releases:
        table = release.table.astype({release.view.schema.sensitive: object})
        for name in release.view.schema.quasi_identifiers:
            table[name] = table[name].map(published_cell, na_action="ignore").astype("str")
        table.insert(0, time, release.time)
        if carried:
            table["ghosts"] = release.ghost_counts[table["group"].to_numpy()]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def key_table(releases: Iterable[Release], columns: Columns) -> pd.DataFrame:
    """The key: the group of each record, -1 if suppressed, and its published value if the release distorts values.

    A counterfeit is a row without a respondent, a ghost one of the respondent whose place it carries on, with a 1 in ``ghost``.
    """
    tables = []
    for release in releases:
        values, grouping = np.array(release.view.schema.values, dtype=object), release.grouping
        table = pd.DataFrame(
            {columns.respondent: release.view.people.respondents, columns.time: release.time, "group": release.group}
        )
        if grouping.values is not None:
            table["published"] = values[grouping.values]
        if grouping.counterfeits is not None and len(grouping.counterfeits):
            label, value, place = grouping.counterfeits.T
            rows = {"group": np.searchsorted(grouping.names, label), columns.time: release.time}
            counterfeits = pd.DataFrame({**rows, "published": values[value]})
            if grouping.places is not None:
                of = object_array([*grouping.places.respondents, None])[place]
                counterfeits = counterfeits.assign(
                    **{columns.respondent: of, "ghost": object_array([1 if each >= 0 else None for each in place])}
                )
            table = pd.concat([table, counterfeits], ignore_index=True)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def read_releases(
    records: pd.DataFrame, groups: Path | None, columns: Columns, schema: Schema
) -> tuple[History, tuple[Release, ...]]:
    """The history of a table of records and its releases, by the column ``group`` of the records or by a file of groups.

    Raises
    ------
    ValueError
        If there is no column ``group``, or the file of groups does not name every record once.

    Notes
    -----
    Where the file has ghosts, records later than all of the file are those of views that were held back, and are left out.
    """
    check_roles(records, [name for name in RESERVED_COLUMNS if name in records.columns])
    counterfeits: dict[Any, pd.DataFrame] = {}
    if groups is not None:
        key = columns.read_groups(groups, records)
        if columns.respondent in key.columns and columns.time in key.columns:
            is_counterfeit = key[columns.respondent].isna()
            if "ghost" in key.columns:
                is_counterfeit |= key["ghost"].notna()
                records = records[records[columns.time] <= key[columns.time].max()]
            counterfeits = dict(list(key[is_counterfeit].groupby(columns.time)))
            key = key[~is_counterfeit]
        records = _with_groups(records, key, groups, columns)
    elif "group" not in records.columns:
        raise ValueError(
            "the records have no column 'group'; add one, or give the file that `foreknow publish` wrote: --groups FILE."
        )
    history = History.read(records, schema, columns.time)
    releases: list[Release] = []
    last: dict[Hashable, FloatArray] = {}
    for view in history:
        release = Release(view, _grouping(view, counterfeits.get(view.time), columns, last))
        releases.append(release)
        kept = view.people[release.group >= 0]
        last |= dict(zip(kept.respondents, kept.quasi_identifiers, strict=True))
    return history, tuple(releases)


def _with_groups(records: pd.DataFrame, key: pd.DataFrame, path: Path, columns: Columns) -> pd.DataFrame:
    """Records with the columns ``group`` and, if there, ``published`` of the key."""
    record = [columns.respondent, columns.time]
    check_columns(key, [*record, "group"])
    repeated = key[key.duplicated(record)]
    if len(repeated):
        raise ValueError(
            f"{path} names respondent {repeated[record[0]].tolist()[0]!r} twice at {repeated[record[1]].tolist()[0]!r}; keep one "
            "row."
        )
    added = ["group", *(["published"] if "published" in key.columns else [])]
    records = records.drop(columns=["group", "published"], errors="ignore")
    merged = records.merge(key[[*record, *added]], on=record, how="left")
    missing = merged[merged["group"].isna()]
    if len(missing):
        raise ValueError(
            f"{path} has no group for respondent {missing[record[0]].tolist()[0]!r} at {missing[record[1]].tolist()[0]!r}; give "
            "every record a group, -1 for a suppressed record."
        )
    _check_no_other_member(key, records, record, path)
    return merged


def _check_no_other_member(key: pd.DataFrame, records: pd.DataFrame, record: list[str], path: Path) -> None:
    """Raise ValueError if a group has a member without a record at a time of the records: its counts would be too small."""
    members = key[key["group"].notna() & ~_is_suppressed(key["group"]) & key[record[1]].isin(records[record[1]])]
    found = members.merge(records[record], on=record, how="left", indicator=True)
    other = found[found["_merge"] == "left_only"]
    if len(other):
        raise ValueError(
            f"{path} has a group for respondent {other[record[0]].tolist()[0]!r} at {other[record[1]].tolist()[0]!r}, who has no "
            f"record then ({len(other):,} such rows); give all records that were published, or leave these groups out."
        )


def _is_suppressed(groups: "pd.Series[Any]") -> "pd.Series[bool]":
    return groups.astype(str).isin(["-1", "-1.0"])


def _grouping(
    view: View, counterfeits: pd.DataFrame | None, columns: Columns, last: Mapping[Hashable, FloatArray]
) -> Grouping:
    """The grouping of a view by its columns ``group`` and ``published``, with the counterfeits of a file of groups.

    ``last`` has the quasi-identifiers published last of each respondent, which are those of a ghost.
    """
    column = view.frame["group"]
    suppressed = column.isna() | _is_suppressed(column)
    made = pd.DataFrame({"group": [], "published": []}) if counterfeits is None else counterfeits
    ghost = made["ghost"].notna().to_numpy() if "ghost" in made.columns else np.zeros(len(made), dtype=np.bool_)
    codes, names = pd.factorize(pd.concat([column, made["group"][ghost].astype(column.dtype)]), sort=True)
    labels = np.where(suppressed, -1, codes[: len(column)])
    places = None
    if ghost.any():
        named = object_array(made[columns.respondent][ghost].tolist())
        if unknown := [each for each in named if each not in last]:
            raise ValueError(
                f"the key has a ghost of respondent {unknown[0]!r} at {view.time!r}, of whom no earlier record is published; give "
                "the records of all releases."
            )
        places = People(named, np.array([last[each] for each in named]), view.schema)
    values = None if "published" not in view.frame.columns else view.frame["published"]
    published = None if values is None or values.isna().all() else _published_codes(view, values, view.sensitive)
    rows = None if counterfeits is None else _counterfeit_codes(view, pd.Index(names), made, ghost)
    return Grouping(labels, published, rows, places=places)


def _counterfeit_codes(view: View, names: "pd.Index[Any]", counterfeits: pd.DataFrame, ghost: BoolArray) -> IntArray:
    """Group label, value code and row of the place of each counterfeit, -1 for none: shape ``(c, 3)``."""
    labels = names.get_indexer(pd.Index(counterfeits["group"]))
    if (labels < 0).any() or "published" not in counterfeits.columns:
        raise ValueError(
            f"a counterfeit at {view.time!r} (a row without a respondent) has a group without a record, or has no published value; "
            "give it a group of records and a value in the column 'published'."
        )
    values = _published_codes(view, counterfeits["published"], None)
    return np.column_stack([labels, values, np.where(ghost, np.cumsum(ghost) - 1, -1)])


def _published_codes(view: View, cells: "pd.Series[Any]", own: IntArray | None) -> IntArray:
    """Codes of published values; a missing cell has the record's own value, if ``own`` gives one."""
    named = {quoted_formula(str(value)): value for value in view.schema.values}
    named |= {str(value): value for value in view.schema.values}
    codes = view.schema.codes(cells.map(lambda cell: named.get(cell, cell)))
    unknown = cells[np.isnan(codes) & (cells.notna().to_numpy() if own is not None else True)]
    if len(unknown):
        raise ValueError(
            f"the column 'published' holds {unknown.tolist()[0]!r} at {view.time!r}, which is no sensitive value of the records; "
            "correct it, or drop the column if every record is published with its own value."
        )
    return codes.astype(np.int64) if own is None else np.where(np.isnan(codes), own, codes).astype(np.int64)


def read_statements(path: Path | None, schema: Schema, encoding: str = "utf-8") -> list[ConditionalProbability]:
    """Read statements, none without a file, one per row: columns ``value``, ``low``, ``high`` (optional), and quasi-identifiers.

    An empty cell of a quasi-identifier is no condition. A numeric attribute has a number or a range, as ``20..29``. An empty
    ``high``, or none, states the probability ``low``.

    Raises
    ------
    ValueError
        If a column is missing or unknown, or a cell does not fit the schema.
    """
    if path is None:
        return []
    names = list(schema.quasi_identifiers)
    table = read_table(path, (*names, "value", "low", "high"), encoding).fillna("").astype(str)
    missing = [name for name in ("value", "low") if name not in table.columns]
    unknown = [name for name in table.columns if name not in (*names, "value", "low", "high")]
    if missing or unknown:
        found = f"no column {missing[0]!r}" if missing else f"the column {unknown[0]!r}"
        raise ValueError(
            f"{path} has {found}; statements have value, low, high and quasi-identifiers: {', '.join(names)}."
        )
    return [_statement(path, number, cells, schema) for number, cells in enumerate(table.to_dict("records"), 2)]


def _statement(path: Path, line: int, cells: dict[Hashable, Any], schema: Schema) -> ConditionalProbability:
    place = f"{path}, row {line}"
    values = {str(value): value for value in schema.values}
    given = {
        name: _condition(place, name, kind, cells[name])
        for name, kind in schema.quasi_identifiers.items()
        if cells.get(name)
    }
    high = cells.get("high")
    return ConditionalProbability(
        values.get(cells["value"], cells["value"]),
        given,
        _number(place, "low", cells["low"]),
        _number(place, "high", high) if high else None,
    )


def _condition(place: str, name: str, kind: Any, cell: str) -> Any:
    if isinstance(kind, Categorical):
        return {str(value): value for value in kind.values}.get(cell, cell)
    low, dots, high = cell.partition("..")
    return (_number(place, name, low), _number(place, name, high)) if dots else _number(place, name, cell)


def _number(place: str, name: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = float("nan")
    if not is_number(number, -float("inf")):
        raise ValueError(f"{place}: {name} is {cell!r}; it is a number, or for a quasi-identifier a range as 20..29.")
    return number
