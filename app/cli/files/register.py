"""Register of persons with exact quasi-identifiers, linked to the groups of a published table."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.app.cli.files.columns import Columns, InputFiles
from foreknow.app.cli.files.published_tables import Cells, PublishedRelease
from foreknow.app.cli.files.written_tables import as_written
from foreknow.models import Categorical, History, Numeric, Observation, People, Schema
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.faults import folded

UNKNOWN = "unknown"
"""Sensitive value of the persons of a register while it is read; a true value in the file is not."""


class LinkedRelease(NamedTuple):
    """A published table with the persons of a register, as attacks read it."""

    observation: Observation  # of all persons of the register; the group is -1 where it is not determined
    undetermined: int  # number of persons who fit a group, and may be in it or not

    @property
    def time(self) -> Any:
        """The time of publication."""
        return self.observation.time


@dataclass(frozen=True, eq=False)
class Register:
    """Persons with exact quasi-identifiers, and the corpus of an adversary with the same schema.

    Attributes
    ----------
    people : dict of time to People
        The persons at each release; one entry, None, if the register has no column of the release.
    schema : Schema
        With the sensitive values of the published tables and of the corpus.
    corpus : History or None
    """

    people: dict[Any, People]
    schema: Schema
    corpus: History | None

    @classmethod
    def read(
        cls, path: Path, corpus: Path | None, columns: Columns, published: "pd.Series[Any]", times: Sequence[Any]
    ) -> "Register":
        """Read and clean a register, and a corpus.

        Parameters
        ----------
        path, corpus : Path
        columns : Columns
        published : Series
            The published sensitive values.
        times : sequence
            The times of the releases, for the persons of which a register with a column of the release is read.

        Raises
        ------
        ValueError
            As `Columns.read`; if the register has no person at a release.
        """
        files = InputFiles(columns.encoding, columns.separator, columns.missing)
        text = [columns.respondent, columns.time, *columns.categories]
        (persons,) = files.read([path], text, [columns.respondent, *columns.quasi_identifiers])
        has_times = columns.time in persons.columns
        persons = persons.assign(**{columns.sensitive: UNKNOWN} | ({} if has_times else {columns.time: 1}))
        paths = [path] if corpus is None else [path, corpus]
        tables = (persons, *files.read(paths[1:], text, columns.names, columns.time))
        persons, *others = columns.clean(tables, files.places(paths, tables))
        name = columns.sensitive
        others = [table.assign(**{name: as_written(table[name], published)}) for table in others]
        schema = columns.schema(persons, *others)
        values = _values(columns, published, *(table[columns.sensitive] for table in others))
        history = History.read(persons, schema, columns.time)
        own = replace(history.schema, values=values)
        people = {view.time if has_times else None: replace(view.people, schema=own) for view in history}
        missing = [when for when in times if has_times and when not in people]
        if missing:
            raise ValueError(
                f"{path.name} has no person at {missing[0]!r}, and the published tables have a release then; add them, or drop "
                f"the column {columns.time!r} if each person is in question at all releases."
            )
        return cls(people, own, History.read(others[0], own, columns.time) if others else None)

    def link(self, release: PublishedRelease) -> LinkedRelease:
        """The observation of a release by an adversary with the register."""
        people = replace(self.people[release.time if None not in self.people else None], time=release.time)
        group, undetermined = linked(people, release.cells)
        return LinkedRelease(Observation(people, group, release.counts, release.time), int(undetermined.sum()))


def _values(columns: Columns, *cells: "pd.Series[Any]") -> tuple[Any, ...]:
    """The distinct sensitive values, sorted; raises ValueError if two differ in letter case alone, unless such are kept."""
    values = tuple(sorted({str(cell) for column in cells for cell in column.unique().tolist()}))
    written: dict[str, str] = {}
    for value in values if columns.cleaning.equal_values != "keep" else ():
        if written.setdefault(folded(value), value) != value:
            raise ValueError(
                f"the sensitive values {written[folded(value)]!r} and {value!r} of the published tables and of the corpus differ "
                "in letter case alone; write both in one way."
            )
    return values


class _Pairs(NamedTuple):
    """Pairs of a kind of persons, those with equal quasi-identifiers, and a cell that fits them; the last cell is absence."""

    kind: IntArray
    cell: IntArray


def linked(people: People, cells: Cells) -> tuple[IntArray, BoolArray]:
    """Group of each person, -1 if absent or not the same in all assignments that fit; and a mask of the latter persons.

    An assignment gives each person at most one record: one of a cell whose labels the quasi-identifiers fit. Every record has a
    person, so the register lists everyone in the release, and may list others.

    Raises
    ------
    ValueError
        If a label is unknown, or no assignment fits.

    Notes
    -----
    One assignment is a maximum flow from kinds of persons to cells; a pair occurs in another one if and only if both are in
    one strongly connected component of the residual graph (Regin, 1996). Cost: O(c q) for the labels of c cells and q kinds, and
    that of the flow.
    """
    distinct, kind_of_person, persons = np.unique(
        people.quasi_identifiers, axis=0, return_inverse=True, return_counts=True
    )
    pairs = _pairs(people, cells, distinct)
    _check_fits(people, cells, np.bincount(pairs.cell, persons[pairs.kind], len(cells.size) + 1)[:-1])
    size = np.append(cells.size, len(people) - int(cells.size.sum()))
    flow = _assignment(pairs, persons, size)
    if flow.sum() < len(people):
        raise ValueError(
            f"--people: no assignment of the persons to the groups at {people.time!r} fits the labels and the sizes; name a "
            "register of everyone in the release, or leave --people out."
        )
    possible = _possible(pairs, flow, persons, len(size))
    group = np.append(cells.group, -1)[pairs.cell[possible]]
    lowest, highest = np.full(len(persons), len(size)), np.full(len(persons), -2)
    np.minimum.at(lowest, pairs.kind[possible], group)
    np.maximum.at(highest, pairs.kind[possible], group)
    determined = lowest == highest
    kind = kind_of_person.ravel()
    return np.where(determined, highest, -1)[kind], ~determined[kind]


def _pairs(people: People, cells: Cells, distinct: FloatArray) -> _Pairs:
    """Pairs of a kind of persons and a cell that fit; every kind fits absence."""
    attributes = zip(people.schema.quasi_identifiers.items(), distinct.T, strict=True)
    matched = [matches_of(name, kind, codes, cells.labels[name].unique()) for (name, kind), codes in attributes]
    fitting = [
        np.flatnonzero(np.logical_and.reduce([found[text] for found, text in zip(matched, row, strict=True)]))
        for row in cells.labels[list(people.schema.quasi_identifiers)].itertuples(index=False)
    ]
    fitting.append(np.arange(len(distinct)))
    return _Pairs(np.concatenate(fitting), np.repeat(np.arange(len(fitting)), [len(kinds) for kinds in fitting]))


def _assignment(pairs: _Pairs, persons: IntArray, size: IntArray) -> IntArray:
    """Number of persons of each pair, for as many persons as possible."""
    kinds, nodes = len(persons), len(persons) + len(size) + 2
    source, sink = nodes - 2, nodes - 1
    start = np.concatenate([pairs.kind, np.full(kinds, source), kinds + np.arange(len(size))])
    end = np.concatenate([kinds + pairs.cell, np.arange(kinds), np.full(len(size), sink)])
    capacity = np.concatenate([np.minimum(persons[pairs.kind], size[pairs.cell]), persons, size]).astype(np.int32)
    graph = scipy.sparse.csr_array((capacity, (start, end)), shape=(nodes, nodes))
    flow = scipy.sparse.csgraph.maximum_flow(graph, source, sink).flow
    return np.asarray(flow[pairs.kind, kinds + pairs.cell]).ravel().astype(np.int64)


def _possible(pairs: _Pairs, flow: IntArray, persons: IntArray, cells: int) -> BoolArray:
    """Return whether each pair occurs in an assignment: in the one given, or in a cycle of its residual graph."""
    kinds = len(persons)
    more, fewer = flow < persons[pairs.kind], flow > 0
    start = np.concatenate([pairs.kind[more], kinds + pairs.cell[fewer]])
    end = np.concatenate([kinds + pairs.cell[more], pairs.kind[fewer]])
    graph = scipy.sparse.csr_array(
        (np.ones(len(start), dtype=np.int8), (start, end)), shape=(kinds + cells, kinds + cells)
    )
    _, component = scipy.sparse.csgraph.connected_components(graph, connection="strong")
    return np.asarray(fewer | (component[pairs.kind] == component[kinds + pairs.cell]))


def _check_fits(people: People, cells: Cells, fitting: FloatArray) -> None:
    """Raise ValueError if fewer persons fit a cell than it has records, or the register has fewer persons than the release."""
    missing = np.flatnonzero(fitting < cells.size)
    way_out = "name a register of everyone in the release, or leave --people out"
    if len(missing):
        worst = int(missing[0])
        labels = ", ".join(f"{name} {text}" for name, text in cells.labels.iloc[worst].items())
        raise ValueError(
            f"--people: {fitting[worst]:.0f} persons fit the group with {labels} at {people.time!r}, and it has "
            f"{cells.size[worst]} records ({len(missing)} such groups); {way_out}."
        )
    if len(people) < cells.size.sum():
        raise ValueError(
            f"--people: the register has {len(people)} persons, and the release at {people.time!r} {cells.size.sum()} records; "
            f"{way_out}."
        )


ANY = "*"
"""The label that stands for every value."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LABEL_OF_NUMBERS = re.compile(
    rf"(?P<open>[\[\](])\s*(?P<low>{_NUMBER})\s*(?:,|;|-|–|\.\.|:)\s*(?P<high>{_NUMBER})\s*(?P<close>[\[\])])"
    rf"|(?P<from>{_NUMBER})\s*(?:-|–|\.\.|to)\s*(?P<to>{_NUMBER})"
    rf"|(?P<least>{_NUMBER})\s*\+"
    rf"|(?P<sign><=|>=|<|>|≤|≥)\s*(?P<bound>{_NUMBER})"
    rf"|(?P<number>{_NUMBER})|\*"
)
"""Notations of numbers: an interval with brackets, a range, a least number, a bound, one number, and any."""


class Interval(NamedTuple):
    """An interval of numbers; an open end is not part of it."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def contains(self, numbers: FloatArray) -> BoolArray:
        """Return whether each number is in the interval."""
        above = numbers > self.low if self.open_low else numbers >= self.low
        below = numbers < self.high if self.open_high else numbers <= self.high
        return np.asarray(above & below)


def interval_of(text: str) -> Interval | None:
    """The numbers that a label stands for, or None if it is no label of numbers.

    >>> interval_of("[20, 30)")
    Interval(low=20.0, high=30.0, open_low=False, open_high=True)
    >>> interval_of("20-30"), interval_of("65+") == interval_of(">=65")
    (Interval(low=20.0, high=30.0, open_low=False, open_high=False), True)
    """
    found = _LABEL_OF_NUMBERS.fullmatch(text)
    if found is None:
        return None
    sign = found["sign"] or ""
    is_upper, is_strict = sign in ("<", "<=", "≤"), sign in ("<", ">")
    low = found["low"] or found["from"] or found["least"] or found["number"] or (None if is_upper else found["bound"])
    high = found["high"] or found["to"] or found["number"] or (found["bound"] if is_upper else None)
    return Interval(
        -np.inf if low is None else float(low),
        np.inf if high is None else float(high),
        found["open"] in ("]", "(") or (is_strict and not is_upper),
        found["close"] in ("[", ")") or (is_strict and is_upper),
    )


def is_generalized(text: str) -> bool:
    """Return whether a label stands for several values by its form: an interval, a set, a masked text or ``*``.

    >>> [text for text in ("[20,30)", "{a, b}", "131**", "*", "65+", "20", "flu") if is_generalized(text)]
    ['[20,30)', '{a, b}', '131**', '*', '65+']
    """
    interval = interval_of(text)
    is_interval = interval is not None and interval.low < interval.high
    return is_interval or text.endswith(ANY) or (text.startswith("{") and text.endswith("}"))


def codes_of(text: str, kind: Categorical, leaves: Mapping[str, list[int]]) -> list[int] | None:
    """The codes of the values that a label stands for, or None if it is unknown; a set is written ``{a, b}``."""
    if text == ANY:
        return list(range(len(kind.values)))
    if text in leaves:
        return leaves[text]
    if text.startswith("{") and text.endswith("}"):
        parts = [leaves.get(part.strip()) for part in text[1:-1].split(",")]
        return None if None in parts else sorted({code for part in parts for code in part or []})
    return None


def leaves_of(kind: Categorical) -> dict[str, list[int]]:
    """The codes of the values below each label of a hierarchy, and of each value itself."""
    found: dict[str, list[int]] = {}
    by_value = {str(value): code for code, value in enumerate(kind.values)}
    for row in kind.tree.rows:
        for label in dict.fromkeys(row):
            found.setdefault(label, []).append(by_value[row[0]])
    return found


def matches_of(
    name: str, kind: Numeric | Categorical, codes: FloatArray, labels: Iterable[str]
) -> dict[str, BoolArray]:
    """For each label of a quasi-identifier, whether each code is among its values: bool arrays, shape ``(q,)``.

    Raises
    ------
    ValueError
        If a label is unknown.
    """
    leaves, matches = leaves_of(kind) if isinstance(kind, Categorical) else {}, {}
    for text in labels:
        if isinstance(kind, Numeric) and (interval := interval_of(text)) is not None:
            matches[text] = interval.contains(codes)
        elif isinstance(kind, Categorical) and (found := codes_of(text, kind, leaves)) is not None:
            matches[text] = np.isin(codes, found)
        else:
            takes = (
                "it is a number, an interval as [20,30], [20,30), 20-30, <20 or 65+, or *"
                if isinstance(kind, Numeric)
                else f"it is a value of the persons, a label of --hierarchy {name}=FILE, a set as {{a, b}}, or *; the persons have "
                f"{', '.join(repr(str(value)) for value in kind.values[:5])}{', ...' * (len(kind.values) > 5)}"
            )
            raise ValueError(f"{name!r} has the label {text!r}, which is not understood; {takes}.")
    return matches
