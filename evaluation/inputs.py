"""From files and options of the command line to histories, releases and knowledge."""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import (
    Adversary,
    Categorical,
    ClassFrequencies,
    Grouping,
    Hierarchy,
    History,
    IncrementalChain,
    MarkovChain,
    Numeric,
    Omega,
    Release,
    Schema,
    View,
)
from foreknow.models.arrays import IntArray
from foreknow.models.schema import check_columns
from foreknow.models.view import read_table

WRITTEN = ("group", "published")
"""The columns that `foreknow publish` adds and `foreknow attack` reads."""


@dataclass(frozen=True)
class Columns:
    """What the columns of the user's tables are called.

    Attributes
    ----------
    respondent, time, sensitive : str
    quasi_identifiers : tuple of str
    hierarchies : tuple of str
        Each ``column=file``.
    """

    respondent: str
    time: str
    sensitive: str
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[str, ...] = ()

    def read(self, path: Path) -> pd.DataFrame:
        """Read a table in which respondents are names, even where they look like numbers."""
        return read_table(path, text=[self.respondent])

    def schema(self, *tables: pd.DataFrame) -> Schema:
        """The schema whose domains are what the tables hold together, with the hierarchies attached.

        Raises
        ------
        ValueError
            If a column is missing, has two roles or a name that foreknow writes itself, or a hierarchy is not written as
            ``column=file`` or is of no quasi-identifier.
        """
        names = [self.respondent, self.time, self.sensitive, *self.quasi_identifiers]
        for name in names:
            if name in WRITTEN:
                raise ValueError(f"the column {name!r} is one that foreknow writes itself; rename yours.")
        for table in tables:
            check_roles(table, names)
        everything = pd.concat([table[names] for table in tables], ignore_index=True)
        check_times(everything[self.time])
        for name in self.quasi_identifiers:
            check_numbers(everything[name])
        schema = Schema.infer(everything, self.quasi_identifiers, self.sensitive, self.respondent)
        kinds: dict[str, Numeric | Categorical] = dict(schema.quasi_identifiers)
        for text in self.hierarchies:
            name, equals, path = text.partition("=")
            if not equals or name not in kinds:
                raise ValueError(
                    f"--hierarchy {text!r} is not COLUMN=FILE with a column named by --qi; write age=age.csv."
                )
            if [other.partition("=")[0] for other in self.hierarchies].count(name) > 1:
                raise ValueError(f"--hierarchy names {name!r} twice; give it one file.")
            kinds[name] = Categorical(_values(everything[name]), Hierarchy.read(path))
        return Schema(kinds, schema.sensitive, schema.values, schema.respondent)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an adversary mined from a corpus."""

    prior: ClassFrequencies
    transitions: MarkovChain | None


def check_roles(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError unless the table holds records, and each name is one column of single values with one role."""
    check_columns(table, names)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the column {name!r} has two roles; give each role a column of its own.")
        if table[name].dtype == object and not table[name].map(lambda cell: isinstance(cell, Hashable)).all():
            raise ValueError(
                f"the column {name!r} holds lists; a cell is one value. Split the column, or join each list."
            )
    if table.empty:
        raise ValueError("the table has no record.")


def check_times(column: "pd.Series[Any]") -> None:
    """Raise ValueError if times are text that sorts otherwise than it reads: "10" comes before "2" then."""
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return
    texts = sorted(set(column.dropna().astype(str)))
    read = sorted(texts, key=lambda text: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)])
    for one, other in zip(texts, read, strict=True):
        if one != other:
            raise ValueError(
                f"the times of {column.name!r} are text, and as text {one!r} comes before {other!r}; write them as numbers, or as "
                "dates with the year first: 2024-01."
            )


def check_numbers(column: "pd.Series[Any]") -> None:
    """Raise ValueError, naming a cell, if a column of numbers holds something else here and there."""
    if pd.api.types.is_numeric_dtype(column):
        return
    known = column.dropna()
    bad = known[pd.to_numeric(known.astype(str), errors="coerce").isna()]
    if 0 < len(bad) < len(known) / 2:
        raise ValueError(
            f"{column.name!r} holds numbers, and {bad.iloc[0]!r} in {len(bad)} of {len(known)} cells; correct them, or the column "
            "would be taken for names."
        )


def check_complete(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError, naming the row and the column, if a cell is missing."""
    for name in names:
        missing = table[name].isna().to_numpy()
        if missing.any():
            raise ValueError(f"row {int(missing.argmax())} has no {name!r}; fill it in, or drop the row.")


def mine(corpus: History, classes: int, order: int, pseudo_count: float) -> Knowledge:
    """Class frequencies and the chain of a corpus; no chain where nobody is seen twice.

    A numeric quasi-identifier has ``classes`` intervals, a categorical one its values; one that would make more classes
    than the corpus has records tells none apart.
    """
    cuts: dict[str, int | None] = {}
    cells, records = 1, sum(map(len, corpus))
    for name, kind in corpus.schema.quasi_identifiers.items():
        parts = classes if isinstance(kind, Numeric) else len(kind.values)
        if cells * parts <= records:
            cuts[name], cells = parts, cells * parts
    prior = ClassFrequencies.fit(corpus, cuts, pseudo_count)
    if len(corpus.respondents) == records:
        return Knowledge(prior, None)
    return Knowledge(prior, MarkovChain.fit(corpus, order, pseudo_count))


def assumed(history: History, corpus: History | None, classes: int, order: int, pseudo_count: float) -> Adversary:
    """Whom a defender assumes: one who mined a corpus, or the published history itself, the chain then of what came before."""
    known = mine(history if corpus is None else corpus, classes, order, pseudo_count)
    own = corpus is None and known.transitions is not None
    chain = IncrementalChain.fit(history, order, pseudo_count) if own else known.transitions
    return Adversary(known.prior, chain, estimator=Omega())


def published_table(releases: Iterable[Release], time: str) -> pd.DataFrame:
    """What the public sees of all releases, one table; generalized values are text, for Parquet has one type a column."""
    tables = []
    for release in releases:
        table = release.table.astype(dict.fromkeys(release.view.schema.quasi_identifiers, str))
        table.insert(0, time, release.time)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def private_table(releases: Iterable[Release], columns: Columns) -> pd.DataFrame:
    """Who was published in which group, -1 for nobody's, and with which value where it is not their own.

    A counterfeit is a row without a respondent.
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
            names = np.unique(grouping.labels[grouping.labels >= 0])
            rows = {"group": np.searchsorted(names, grouping.counterfeits[:, 0]), columns.time: release.time}
            invented = pd.DataFrame({**rows, "published": values[grouping.counterfeits[:, 1]]})
            table = pd.concat([table, invented], ignore_index=True)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def releases_of(
    records: pd.DataFrame, groups: Path | None, columns: Columns, schema: Schema
) -> tuple[History, tuple[Release, ...]]:
    """The history of a table of records, and how it was published: by its column ``group``, or by a file of groups.

    Raises
    ------
    ValueError
        If there is no column ``group``, or the file of groups does not name every record once.
    """
    for name in WRITTEN:
        if name in records.columns:
            check_roles(records, [name])
    invented: dict[Any, pd.DataFrame] = {}
    if groups is not None:
        told = columns.read(groups)
        if columns.respondent in told.columns and columns.time in told.columns:
            nobody = told[columns.respondent].isna()
            invented, told = dict(list(told[nobody].groupby(columns.time))), told[~nobody]
        records = _with_groups(records, told, groups, columns)
    elif "group" not in records.columns:
        raise ValueError(
            "the records have no column 'group'; add one, or give the file that `foreknow publish` wrote: --groups FILE."
        )
    history = History.read(records, schema, columns.time)
    return history, tuple(Release(view, _grouping(view, invented.get(view.time))) for view in history)


def _with_groups(records: pd.DataFrame, groups: pd.DataFrame, path: Path, columns: Columns) -> pd.DataFrame:
    keys = [columns.respondent, columns.time]
    check_columns(groups, [*keys, "group"])
    twice = groups[groups.duplicated(keys)]
    if len(twice):
        raise ValueError(
            f"{path} names respondent {twice[keys[0]].tolist()[0]!r} twice at {twice[keys[1]].tolist()[0]!r}; keep one row."
        )
    wanted = [*keys, "group", *(["published"] if "published" in groups.columns else [])]
    records = records.drop(columns=["group", "published"], errors="ignore")
    merged = records.merge(groups[wanted], on=keys, how="left")
    missing = merged[merged["group"].isna()]
    if len(missing):
        raise ValueError(
            f"{path} has no group for respondent {missing[keys[0]].tolist()[0]!r} at {missing[keys[1]].tolist()[0]!r}; give every "
            "record one, -1 for a suppressed one."
        )
    return merged


def _grouping(view: View, invented: pd.DataFrame | None = None) -> Grouping:
    """The groups of a view's column, and the counterfeits that a file of groups adds."""
    column = view.frame["group"]
    suppressed = column.isna() | (column.astype(str).isin(["-1", "-1.0"]))
    codes, names = pd.factorize(column, sort=True)
    labels = np.where(suppressed, -1, codes)
    counterfeits = None
    if invented is not None:
        labelled = pd.Index(names).get_indexer(pd.Index(invented["group"]))
        if (labelled < 0).any() or "published" not in invented.columns:
            raise ValueError(
                f"a counterfeit at {view.time!r} (a row without a respondent) stands in a group that has no record, or shows no "
                "value; give it the group of others and a value in the column 'published'."
            )
        counterfeits = np.column_stack([labelled, _published(view, invented["published"], None)])
    if "published" not in view.frame.columns:
        return Grouping(labels, counterfeits=counterfeits)
    return Grouping(labels, _published(view, view.frame["published"], view.sensitive), counterfeits)


def _published(view: View, cells: "pd.Series[Any]", own: IntArray | None) -> IntArray:
    """The codes of published values; where a cell is missing, the record's own, if it has one."""
    codes = view.schema.codes(cells)
    strange = cells[np.isnan(codes) & (cells.notna().to_numpy() if own is not None else True)]
    if len(strange):
        raise ValueError(
            f"the column 'published' holds {strange.tolist()[0]!r} at {view.time!r}, and the records have no such sensitive value; "
            "correct it, or drop the column where every record is published with its own."
        )
    return codes.astype(np.int64) if own is None else np.where(np.isnan(codes), own, codes).astype(np.int64)


def _values(column: "pd.Series[Any]") -> tuple[object, ...]:
    return tuple(column.dropna().unique().tolist())
