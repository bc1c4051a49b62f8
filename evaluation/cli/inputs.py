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
    Estimator,
    Grouping,
    Hierarchy,
    History,
    IncrementalChain,
    MarkovChain,
    Numeric,
    Omega,
    Release,
    Schema,
    Transitions,
    View,
)
from foreknow.models.arrays import IntArray
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.memory import Revision
from foreknow.models.tables.plain_columns import LARGEST_WHOLE, is_hashable
from foreknow.models.tables.schema import check_columns
from foreknow.models.tables.table_files import read_table

WRITTEN = ("group", "published")
"""The columns that `foreknow publish` adds and `foreknow attack` reads."""

FEW = 10
"""A numeric quasi-identifier of at most this many values may be a code."""


@dataclass(frozen=True)
class Columns:
    """Names of the columns of the user's tables, and how their files are written.

    Attributes
    ----------
    respondent, time, sensitive : str
    quasi_identifiers : tuple of str
    hierarchies : tuple of str
        Each ``column=file``.
    categorical : tuple of str
        Quasi-identifiers whose numbers are codes.
    encoding : str
        The encoding of CSV and hierarchy files that foreknow has not written.
    missing : tuple of str
        Cells of such files that are missing, beside the empty one.

    Raises
    ------
    ValueError
        If a column has a name that foreknow writes itself, or one that is categorical is no quasi-identifier.
    """

    respondent: str
    time: str
    sensitive: str
    quasi_identifiers: tuple[str, ...]
    hierarchies: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if name in WRITTEN:
                raise ValueError(f"the column {name!r} is one that foreknow writes itself; rename yours.")
        for name in self.categorical:
            if name not in self.quasi_identifiers:
                raise ValueError(
                    f"--categorical {name!r} is no column named by --qi; add --qi {name}, or leave it out."
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that have a role."""
        return (self.respondent, self.time, self.sensitive, *self.quasi_identifiers)

    @property
    def coded(self) -> tuple[str, ...]:
        """The columns whose cells are names of categories, whatever they look like."""
        told = [*self.categorical, *(text.partition("=")[0] for text in self.hierarchies)]
        return (self.sensitive, *(name for name in self.quasi_identifiers if name in told))

    def read(self, *paths: Path) -> tuple[pd.DataFrame, ...]:
        """Read tables of records: respondents as text, categories as they are written.

        Where all tables write the categories of a column as whole numbers, they are numbers; ``042`` or ``250.10`` in one
        cell makes them text.

        Raises
        ------
        ValueError
            If a file cannot be read, a column is missing or has two roles, or an encoding is given and no file is text.
        """
        if not self.hierarchies:
            check_encoding_read(self.encoding, paths)
        text = [self.respondent, *self.coded]
        tables = tuple(read_table(path, text, self.encoding, ("", *self.missing)) for path in paths)
        for table in tables:
            check_roles(table, self.names)
        for name in self.coded:
            if all(_all_whole(table[name]) for table in tables):
                tables = tuple(table.assign(**{name: table[name].astype(np.int64)}) for table in tables)
        return tables

    def read_groups(self, path: Path) -> pd.DataFrame:
        """Read who is in which group, as `foreknow publish` writes it."""
        return read_table(path, [self.respondent, "published"])

    def schema(self, *tables: pd.DataFrame) -> Schema:
        """The schema whose domains are what the tables, as `read` gives them, hold together, with the hierarchies attached.

        Raises
        ------
        ValueError
            If a cell is missing or infinite, numbers are mixed with words or too large, times do not sort as they read, or a
            hierarchy is not written as ``column=file`` or is of no quasi-identifier.
        """
        everything = pd.concat([table[[*self.names]] for table in tables], ignore_index=True)
        check_times(everything[self.time])
        for name in self.quasi_identifiers:
            if name not in self.categorical:
                check_numbers(everything[name])
        schema = Schema.infer(everything, self.quasi_identifiers, self.sensitive, self.respondent)
        for table in tables:
            self._check_cells(table)
        kinds: dict[str, Numeric | Categorical] = dict(schema.quasi_identifiers)
        for name in self.categorical:
            kinds[name] = Categorical(_values(everything[name]))
        for text in self.hierarchies:
            name, equals, path = text.partition("=")
            if not equals or name not in kinds:
                raise ValueError(
                    f"--hierarchy {text!r} is not COLUMN=FILE with a column named by --qi; write age=age.csv."
                )
            if [other.partition("=")[0] for other in self.hierarchies].count(name) > 1:
                raise ValueError(f"--hierarchy names {name!r} twice; give it one file.")
            kinds[name] = Categorical(_values(everything[name]), Hierarchy.read(path, encoding=self.encoding))
        return Schema(kinds, schema.sensitive, schema.values, schema.respondent)

    def _check_cells(self, table: pd.DataFrame) -> None:
        """Raise ValueError if a sensitive value or a quasi-identifier is missing or infinite."""
        for name in (self.sensitive, *self.quasi_identifiers):
            column = table[name]
            wrong = column.isna().to_numpy()
            if column.dtype == np.float64 and name not in self.coded:
                wrong = wrong | np.isinf(column.to_numpy())
            if wrong.any():
                row = int(wrong.argmax())
                who, when, cell = (table[role].tolist()[row] for role in (self.respondent, self.time, name))
                found = "is missing" if pd.isna(cell) else f"is {cell}, which is no number of a quasi-identifier"
                more = f" ({int(wrong.sum())} such cells)" if wrong.sum() > 1 else ""
                raise ValueError(
                    f"{name!r} of respondent {who!r} at {when!r} {found}{more}; correct it, or drop the record."
                )


@dataclass(frozen=True)
class Learning:
    """Settings of the learning and memory of an adversary of the command line.

    Attributes
    ----------
    classes : int
        The intervals of each numeric quasi-identifier.
    order : int
        The number of past values that the chain looks back over.
    pseudo_count : float
        Added to every count.
    revision, gaps
        As `Adversary` has them.
    """

    classes: int = 3
    order: int = 1
    pseudo_count: float = 0.1
    revision: Revision = "filter"
    gaps: GapRule = "ignore"

    def adversary(self, prior: ClassFrequencies, transitions: Transitions | None, estimator: Estimator) -> Adversary:
        """An adversary of this knowledge."""
        return Adversary(prior, transitions, estimator=estimator, revision=self.revision, gaps=self.gaps)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Knowledge that an adversary mined from a corpus."""

    prior: ClassFrequencies
    transitions: MarkovChain | None


def check_encoding_read(encoding: str, paths: Sequence[Path]) -> None:
    """Raise ValueError if an encoding other than UTF-8 is given and no file is a CSV, so that it would not be read."""
    if encoding != "utf-8" and not any(path.suffix.lower() == ".csv" for path in paths):
        raise ValueError(
            f"--encoding {encoding} is not read: {', '.join(map(str, paths))} {'is' if len(paths) == 1 else 'are'} no CSV; leave "
            "it out."
        )


def check_roles(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError unless the table holds records, and each name is one column of single values with one role."""
    check_columns(table, names)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the column {name!r} has two roles; give each role a column of its own.")
        if table[name].dtype == object and not table[name].map(is_hashable).all():
            raise ValueError(
                f"the column {name!r} holds lists; a cell is one value. Split the column, or join each list."
            )
    if table.empty:
        raise ValueError("the table has no record.")


def check_times(column: "pd.Series[Any]") -> None:
    """Raise ValueError if times are text that sorts otherwise than it reads: "10" comes before "2" then."""
    known = column.dropna()
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return
    if pd.api.types.infer_dtype(known) == "integer":
        return
    texts = sorted(set(known.astype(str)))
    for one, other in zip(texts, sorted(texts, key=_as_read), strict=True):
        if one != other:
            raise ValueError(
                f"the times of {column.name!r} are text, and as text {one!r} comes before {other!r}; write them as numbers, or as "
                "dates with the year first: 2024-01."
            )


def _as_read(text: str) -> list[object]:
    """A key that sorts numbers within a text as numbers, of any length."""
    parts = re.split(r"([0-9]+)", text)
    return [(len(part.lstrip("0")), part.lstrip("0")) if place % 2 else part for place, part in enumerate(parts)]


def check_numbers(column: "pd.Series[Any]") -> None:
    """Raise ValueError, naming a cell, if a column of numbers holds words here and there, or whole numbers that floats round."""
    known = column.dropna()
    if pd.api.types.infer_dtype(known) == "integer":
        large = next((int(cell) for cell in known.tolist() if abs(cell) > LARGEST_WHOLE), None)
        if large is not None:
            raise ValueError(
                f"{column.name!r} holds {large}, and quasi-identifiers that are numbers are exact up to 2^53 = {LARGEST_WHOLE}; "
                f"name it --categorical {column.name} if it is a code, or write it in a larger unit."
            )
    if pd.api.types.is_numeric_dtype(column):
        return
    bad = known[pd.to_numeric(known.astype(str), errors="coerce").isna()]
    if 0 < len(bad) < len(known) / 2:
        raise ValueError(
            f"{column.name!r} holds numbers, and {bad.iloc[0]!r} in {len(bad)} of {len(known)} cells; correct them, say which "
            f"cells are missing, as --missing-value NA, or name the column --categorical {column.name} if its numbers are codes."
        )


def few_numbers(schema: Schema, table: pd.DataFrame) -> list[str]:
    """Numeric quasi-identifiers of at most `FEW` values, all whole numbers, as codes have."""
    names = [name for name, kind in schema.quasi_identifiers.items() if isinstance(kind, Numeric)]
    found = {name: table[name].dropna().unique() for name in names}
    return [name for name, values in found.items() if len(values) <= FEW and (values % 1 == 0).all()]


def check_complete(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError, naming the row and the column, if a cell is missing."""
    for name in names:
        missing = table[name].isna().to_numpy()
        if missing.any():
            raise ValueError(f"row {int(missing.argmax())} has no {name!r}; fill it in, or drop the row.")


def mine(corpus: History, learning: Learning) -> Knowledge:
    """Class frequencies and the chain of a corpus; no chain where nobody is seen twice.

    A numeric quasi-identifier has ``learning.classes`` intervals, a categorical one its values; one that would make more
    classes than the corpus has records tells none apart.
    """
    cuts: dict[str, int | None] = {}
    cells, records = 1, sum(map(len, corpus))
    for name, kind in corpus.schema.quasi_identifiers.items():
        parts = learning.classes if isinstance(kind, Numeric) else len(kind.values)
        if cells * parts <= records:
            cuts[name], cells = parts, cells * parts
    prior = ClassFrequencies.fit(corpus, cuts, learning.pseudo_count)
    if len(corpus.respondents) == records:
        return Knowledge(prior, None)
    return Knowledge(prior, MarkovChain.fit(corpus, learning.order, learning.pseudo_count, gaps=learning.gaps))


def assumed(history: History, corpus: History | None, learning: Learning) -> Adversary:
    """The adversary that a defender assumes: one who mined a corpus, or the published history and the chain of what came before."""
    known = mine(history if corpus is None else corpus, learning)
    own = corpus is None and known.transitions is not None
    chain: Transitions | None = known.transitions
    if own:
        chain = IncrementalChain.fit(history, learning.order, learning.pseudo_count, gaps=learning.gaps)
    return learning.adversary(known.prior, chain, Omega())


def published_table(releases: Iterable[Release], time: str) -> pd.DataFrame:
    """The published table of all releases; generalized values are text, for Parquet has one type a column."""
    tables = []
    for release in releases:
        table = release.table.astype(dict.fromkeys(release.view.schema.quasi_identifiers, str))
        table.insert(0, time, release.time)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def private_table(releases: Iterable[Release], columns: Columns) -> pd.DataFrame:
    """The key: each record's group, -1 if suppressed, and its published value where this is not its own.

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
        told = columns.read_groups(groups)
        if columns.respondent in told.columns and columns.time in told.columns:
            nobody = told[columns.respondent].isna()
            invented, told = (
                dict(list(told[nobody].groupby(columns.time))),
                told[~nobody],
            )
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
    named = {str(value): value for value in view.schema.values}
    codes = view.schema.codes(cells.map(lambda cell: named.get(cell, cell)))
    strange = cells[np.isnan(codes) & (cells.notna().to_numpy() if own is not None else True)]
    if len(strange):
        raise ValueError(
            f"the column 'published' holds {strange.tolist()[0]!r} at {view.time!r}, and the records have no such sensitive value; "
            "correct it, or drop the column where every record is published with its own."
        )
    return codes.astype(np.int64) if own is None else np.where(np.isnan(codes), own, codes).astype(np.int64)


def _all_whole(column: "pd.Series[Any]") -> bool:
    """Whether every cell is a whole number of 64 bits, or the text that such a number is written as."""
    if isinstance(column.dtype, pd.StringDtype):
        return bool(column.str.fullmatch(r"0|-?[1-9][0-9]{0,17}").all())
    return isinstance(column.dtype, np.dtype) and column.dtype.kind == "i"


def _values(column: "pd.Series[Any]") -> tuple[Hashable, ...]:
    values = column.dropna().unique().tolist()
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=str))
