"""Generalization hierarchies of categorical attributes."""

import csv
import io
import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.advice import Advice, message_of
from foreknow.models.arrays import IntArray
from foreknow.models.settings import as_list, check_kind, counted
from foreknow.models.tables.columns import repeated
from foreknow.models.tables.table_files import check_encoding, check_separator, existing_file, undecodable

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Hierarchy:
    """A generalization tree over the values of a categorical attribute: the labels of each value up to one root.

    Parameters
    ----------
    rows : sequence of sequences of str
        One row per value: the value itself, then its generalizations, ending with the root, as in ARX's hierarchy files. All
        rows have equal length. They are sorted in the order of the tree's traversal, so that values with one parent are
        neighbours.

    Raises
    ------
    TypeError
        If the rows are not sequences of labels.
    ValueError
        If there is no row, rows differ in length, a value has two rows, a label has two parents, a label is its own ancestor
        with another label between, a label stands for different values at two levels, or there is more than one root.

    Examples
    --------
    >>> tree = Hierarchy([("flu", "airways", "*"), ("ulcer", "stomach", "*"), ("cold", "airways", "*")])
    >>> tree.leaves
    ('flu', 'cold', 'ulcer')
    >>> tree.generalize(["flu", "cold"])
    'airways'
    """

    rows: tuple[tuple[str, ...], ...]

    def __init__(self, rows: Iterable[Sequence[str]]) -> None:
        takes = "one sequence of labels per value, from the value to the root, as [('flu', 'airways', '*')]"
        listed = as_list("Hierarchy", "rows", rows, f"holds {takes}")
        if wrong := [row for row in listed if isinstance(row, str) or not np.iterable(row)]:
            raise TypeError(f"a row of a hierarchy is {wrong[0]!r}; give {takes}.")
        object.__setattr__(self, "rows", checked_rows([tuple(map(str, row)) for row in listed]))

    @classmethod
    def read(cls, path: "str | Path", separator: str | None = None, encoding: str = "utf-8") -> "Hierarchy":
        """Read an ARX hierarchy file: no header, one row per value, the leftmost column the raw value.

        Parameters
        ----------
        path : path
        separator : str, optional
            One character, between the labels of a row. By default a semicolon, as in ARX, or the comma or tab that gives all rows
            the same number of labels, at least 2. A label that holds the separator is in quotes.
        encoding : str
            The encoding of the file. A byte order mark is skipped.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        TypeError
            If the path is neither a text nor a path.
        ValueError
            If the file is not in that encoding or not text with separators, Python has no such encoding, the separator is
            not one character, or as the constructor does. The message names the file.
        """
        check_separator(separator)
        takes = "is the path of a hierarchy file, as 'hierarchy.csv'"
        check_kind("Hierarchy.read", "path", path, (str, PathLike), takes)
        path = existing_file(path, "name a hierarchy file")
        check_encoding(encoding)
        try:
            text = path.read_bytes().decode(encoding).removeprefix("\ufeff")
        except UnicodeError:
            raise ValueError(Advice(f"{path} cannot be read as a hierarchy: ", undecodable(path, encoding))) from None
        try:
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator or _separator(text))
            return cls([[label.strip() for label in row] for row in lines if row])
        except (ValueError, csv.Error) as error:
            raise ValueError(Advice(f"{path}: ", message_of(error))) from None

    @classmethod
    def from_graph(cls, graph: "nx.DiGraph[Any]") -> "Hierarchy":
        """Make a hierarchy from a directed graph of labels, with edges from general to specific and values as leaves.

        Where a value is nearer to the root than another, its own label fills the levels below. Cost: O(size).

        Raises
        ------
        TypeError
            If the graph is not a directed one.
        ValueError
            If the graph has a cycle or more than one root, a label has two parents, or there is no value below a root.

        Examples
        --------
        >>> import networkx as nx
        >>> Hierarchy.from_graph(nx.DiGraph([("*", "airways"), ("airways", "flu"), ("airways", "cold"), ("*", "grief")])).rows
        (('flu', 'airways', '*'), ('cold', 'airways', '*'), ('grief', 'grief', '*'))
        """
        import networkx as nx

        takes = "is a networkx.DiGraph with edges from general to specific labels, as nx.DiGraph([('*', 'flu')])"
        check_kind("Hierarchy.from_graph", "graph", graph, nx.DiGraph, takes)
        if not graph or not nx.is_arborescence(graph):
            raise ValueError(
                "the graph of a hierarchy is no tree: each label has one parent, all are below one root, and edges go from the "
                "more general label to the less, as nx.DiGraph([('*', 'flu')]). Remove an edge, reverse them all, or add a root."
            )
        (root,) = (node for node, parents in graph.in_degree if parents == 0)
        from_root = nx.single_source_shortest_path(graph, root)
        paths = [list(map(str, from_root[node][::-1])) for node, children in graph.out_degree if children == 0]
        longest = max(map(len, paths))
        return cls([path[0]] * (longest - len(path)) + path for path in paths)

    @classmethod
    def flat(cls, values: Iterable[Hashable]) -> "Hierarchy":
        """Return the hierarchy of height 1, with ``*`` above each value."""
        return cls([(str(value), "*") for value in _value_list("Hierarchy.flat", values)])

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of the tree's traversal."""
        return tuple(row[0] for row in self.rows)

    @property
    def height(self) -> int:
        """Number of generalization steps from a value to the root."""
        return len(self.rows[0]) - 1

    @property
    def tree(self) -> "nx.DiGraph[Any]":
        """The tree as a graph: nodes ``(level, label)``, edges from general to specific; values have level 0."""
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        for row in self.rows:
            nodes = list(enumerate(row))
            graph.add_edges_from((parent, child) for child, parent in itertools.pairwise(nodes))
        return graph

    def levels(self) -> IntArray:
        """Return the label of each value at each generalization level, as numbers: int array, shape ``(height + 1, v)``.

        Two values have equal numbers at a level if and only if they have one label there. Cost: O(size).
        """
        columns = [[row[level] for row in self.rows] for level in range(self.height + 1)]
        return np.array([np.unique(column, return_inverse=True)[1] for column in columns], dtype=np.int64)

    def generalize(self, values: Iterable[Hashable]) -> str:
        """Return the label of the lowest common ancestor of some values.

        Raises
        ------
        TypeError
            If the values are one text or cannot be iterated.
        ValueError
            If there is no value, or the hierarchy lacks one.
        """
        wanted = {str(value) for value in _value_list("Hierarchy.generalize", values)}
        missing = sorted(wanted - set(self.leaves))
        if missing or not wanted:
            raise ValueError(
                f"the hierarchy has no row for {missing[0]!r}." if missing else "there is no value to generalize."
            )
        rows = [row for row in self.rows if row[0] in wanted]
        return next(str(labels[0]) for labels in zip(*rows, strict=True) if len(set(labels)) == 1)


def _value_list(owner: str, values: Iterable[Hashable]) -> list[Hashable]:
    return as_list(owner, "values", values, "is a list of values, as ['flu', 'cold']")


def _separator(text: str) -> str:
    """The separator of a hierarchy file: the first of semicolon, comma and tab by which all rows have the same 2 or more labels."""
    for separator in ";,\t":
        try:
            lengths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row}
        except csv.Error:
            continue
        if len(lengths) == 1 and min(lengths) > 1:
            return separator
    return ";"


type Row = tuple[str, ...]


def checked_rows(rows: list[Row]) -> tuple[Row, ...]:
    """Return rows of labels in the order of the tree's traversal; raise ValueError unless they form a tree.

    Parameters
    ----------
    rows : list of tuples of str
        From a value to the root, one per value.
    """
    if not rows:
        raise ValueError("a hierarchy needs at least one value; this one has no row.")
    longest, shortest = max(map(len, rows)), min(rows, key=len)
    if len(shortest) < max(longest, 2):
        raise ValueError(
            f"the row {shortest!r} has {counted(len(shortest), 'label')} and needs {max(longest, 2)}: every row names the value "
            "and all its generalizations up to the root. Repeat a label to fill a short row."
        )
    if twice := repeated(row[0] for row in rows):
        raise ValueError(f"the value {twice[0]!r} has two rows; keep one.")
    _check_parents(rows)
    _check_acyclic(rows)
    _check_one_meaning(rows)
    roots = {row[-1] for row in rows}
    if len(roots) > 1:
        raise ValueError(
            f"the hierarchy has {len(roots)} roots ({', '.join(sorted(roots))}); add a column with one root."
        )
    # In the order of the tree's traversal, children in the order of their first appearance.
    first: dict[tuple[int, str], int] = {}
    for position, row in enumerate(rows):
        for node in enumerate(row):
            first.setdefault(node, position)
    return tuple(sorted(rows, key=lambda row: [first[node] for node in reversed([*enumerate(row)])]))


def _check_parents(rows: list[Row]) -> None:
    """Raise ValueError if a label has two parents."""
    parents: dict[tuple[int, str], str] = {}
    for row in rows:
        for level, (label, parent) in enumerate(itertools.pairwise(row)):
            if parents.setdefault((level, label), parent) != parent:
                raise ValueError(
                    f"{label!r} generalizes to {parents[level, label]!r} and to {parent!r} at level {level + 1}; a tree "
                    "has one parent per label. Rename one of the labels."
                )


def _check_acyclic(rows: list[Row]) -> None:
    """Raise ValueError if a label is its own ancestor; a label repeated at consecutive levels is not.

    In a tree in which each label has one meaning, a cycle lies within a row.
    """
    for row in rows:
        if twice := repeated(label for label, _ in itertools.groupby(row)):
            raise ValueError(
                f"the hierarchy has a cycle: in the row of {row[0]!r}, {twice[0]!r} stands above another label and below it; no "
                "label is above itself. Rename one of the labels, or remove a step."
            )


def _check_one_meaning(rows: list[Row]) -> None:
    """Raise ValueError if a label stands for two sets of values, at two levels, neither of which contains the other."""
    # One may contain the other: a repeated label, or a value with the name of the root.
    extents: dict[str, set[str]] = {}
    for level, column in enumerate(zip(*rows, strict=True)):
        below: defaultdict[str, set[str]] = defaultdict(set)
        for row, label in zip(rows, column, strict=True):
            below[label].add(row[0])
        for label, extent in below.items():
            known = extents.setdefault(label, extent)
            if not (known <= extent or extent <= known):
                raise ValueError(
                    f"{label!r} stands for {', '.join(sorted(known))} at one level and for {', '.join(sorted(extent))} at "
                    f"level {level}; a published label must mean one thing. Rename one of the labels."
                )
