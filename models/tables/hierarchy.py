"""Generalization hierarchies of categorical attributes."""

import csv
import io
import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foreknow.models.advice import Advice, message_of
from foreknow.models.arrays import IntArray
from foreknow.models.settings import check_kind
from foreknow.models.tables.arguments import as_list
from foreknow.models.tables.files.text_encodings import check_encoding, existing_file, undecodable
from foreknow.models.tables.hierarchy_rows import checked_rows, rows_of_graph

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
        object.__setattr__(self, "rows", checked_rows(_labels(rows)))

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
        if separator is not None and not (isinstance(separator, str) and len(separator) == 1):
            raise ValueError(f"the separator of a hierarchy file is {separator!r}; it is one character, as ';'.")
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
        return cls(rows_of_graph(graph))

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


def _labels(rows: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows as tuples of text; raises TypeError unless each is a sequence of labels."""
    takes = "one sequence of labels per value, from the value to the root, as [('flu', 'airways', '*')]"
    try:
        listed = [row if isinstance(row, str) else [str(label) for label in row] for row in rows]
    except TypeError:
        raise TypeError(f"the rows of a hierarchy are given as {rows!r}; give {takes}.") from None
    for row in listed:
        if isinstance(row, str):
            raise TypeError(f"a row of a hierarchy is the text {row!r}; give {takes}.")
    return [tuple(row) for row in listed]


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
