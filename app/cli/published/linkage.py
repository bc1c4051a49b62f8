"""Persons of a register linked to the groups of a published table, where no other assignment fits."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.app.cli.published.labels import Labels
from foreknow.models import People
from foreknow.models.arrays import BoolArray, FloatArray, IntArray


class Cells(NamedTuple):
    """Distinct rows of labels of the groups of one release: a generalized group is one cell, a bucketized one several.

    Attributes
    ----------
    labels : DataFrame
        One row per cell and one column per quasi-identifier, as text.
    group : int array, shape (c,)
    size : int array, shape (c,)
        Number of published records.
    """

    labels: pd.DataFrame
    group: IntArray
    size: IntArray


class Links(NamedTuple):
    """Groups of persons.

    Attributes
    ----------
    group : int array, shape (n,)
        -1 if the person is not in the release, or the group is not determined.
    undetermined : bool array, shape (n,)
        Persons who are in different groups, or in none, in different assignments that fit.
    """

    group: IntArray
    undetermined: BoolArray


class _Pairs(NamedTuple):
    """Pairs of a kind of persons, those with equal quasi-identifiers, and a cell that fits them; the last cell is absence."""

    kind: IntArray
    cell: IntArray


def linked(people: People, cells: Cells) -> Links:
    """Group of each person who has the same group in all assignments that fit.

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
    return Links(np.where(determined, highest, -1)[kind], ~determined[kind])


def _pairs(people: People, cells: Cells, distinct: FloatArray) -> _Pairs:
    """Pairs of a kind of persons and a cell that fit; every kind fits absence."""
    columns = [
        Labels(name, kind, distinct[:, place])
        for place, (name, kind) in enumerate(people.schema.quasi_identifiers.items())
    ]
    fitting = []
    for row in cells.labels[list(people.schema.quasi_identifiers)].itertuples(index=False):
        matched = [column.matches(text) for column, text in zip(columns, row, strict=True)]
        fitting.append(np.flatnonzero(np.logical_and.reduce(matched)))
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
