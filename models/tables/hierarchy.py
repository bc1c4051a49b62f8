"""Trees of generalizations over the values of a categorical attribute."""

import csv
import io
import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.tables.table_files import check_encoding, undecodable


@dataclass(frozen=True)
class Hierarchy:
    """A tree of generalizations: from each value, its labels up to the one root.

    Parameters
    ----------
    rows : sequence of sequences of str
        One row per value: the value itself, then its generalizations, the last of them the root, as in ARX's
        hierarchy files. All rows are equally long. They are kept in the order of the tree's traversal, so that
        values which share a parent are neighbours.

    Raises
    ------
    ValueError
        If there is no row, rows differ in length, a value stands twice, a label has two parents, a label is above itself
        with another between, or there is more than one root.

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
        object.__setattr__(self, "rows", _checked([tuple(str(label) for label in row) for row in rows]))

    @classmethod
    def read(cls, path: str | Path, separator: str = ";", encoding: str = "utf-8") -> "Hierarchy":
        """Read an ARX-style file: no header, one row per value, the leftmost column the raw value.

        Parameters
        ----------
        path : path
        separator : str
            One character, between the labels of a row.
        encoding : str
            The encoding of the file. A byte order mark is skipped.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is not in that encoding or not text with separators, Python has no such encoding, the separator is
            not one character, or as the constructor does; the message names the file.
        """
        if not (isinstance(separator, str) and len(separator) == 1):
            raise ValueError(f"the separator of a hierarchy file is {separator!r}; it is one character, as ';'.")
        if not Path(path).is_file():
            raise FileNotFoundError(f"there is no file {path}; name a hierarchy file.")
        check_encoding(encoding)
        try:
            text = Path(path).read_bytes().decode(encoding).removeprefix("\ufeff")
        except UnicodeError:
            raise ValueError(f"{path} cannot be read as a hierarchy: {undecodable(Path(path), encoding)}") from None
        try:
            lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
            return cls([[label.strip() for label in row] for row in lines if row])
        except (ValueError, csv.Error) as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def of(cls, graph: "nx.DiGraph[Any]") -> "Hierarchy":
        """Read a directed graph of labels, its edges from the more general to the less, its leaves the values.

        Where a value lies nearer to the root than another, its own label fills the levels below. Cost: O(size).

        Raises
        ------
        ValueError
            If the graph has a cycle or more than one root, a label has two parents, or there is no value below a root.

        Examples
        --------
        >>> Hierarchy.of(nx.DiGraph([("*", "airways"), ("airways", "flu"), ("airways", "cold"), ("*", "grief")])).rows
        (('flu', 'airways', '*'), ('cold', 'airways', '*'), ('grief', 'grief', '*'))
        """
        return cls(_rows(graph))

    @classmethod
    def flat(cls, values: Iterable[Hashable]) -> "Hierarchy":
        """The hierarchy of height 1: each value, and above it ``*``."""
        return cls([(str(value), "*") for value in values])

    @property
    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of the tree's traversal."""
        return tuple(row[0] for row in self.rows)

    @property
    def height(self) -> int:
        """Number of steps from a value to the root."""
        return len(self.rows[0]) - 1

    @property
    def tree(self) -> "nx.DiGraph[Any]":
        """The tree as a graph: nodes ``(level, label)``, edges from the more general to the less; level 0 is a value."""
        graph: nx.DiGraph[Any] = nx.DiGraph()
        for row in self.rows:
            nodes = list(enumerate(row))
            graph.add_edges_from((parent, child) for child, parent in itertools.pairwise(nodes))
        return graph

    def levels(self) -> IntArray:
        """The label of each value at each level, as numbers: int array, shape ``(height + 1, values)``.

        Two values have equal numbers at a level exactly where they share their generalization there. Cost: O(size).
        """
        columns = [[row[level] for row in self.rows] for level in range(self.height + 1)]
        return np.array([np.unique(column, return_inverse=True)[1] for column in columns], dtype=np.int64)

    def generalize(self, values: Iterable[Hashable]) -> str:
        """The label of the lowest common ancestor of some values.

        Raises
        ------
        ValueError
            If there is none, or the hierarchy does not have one of them.
        """
        wanted = {str(value) for value in values}
        missing = sorted(wanted - set(self.leaves))
        if missing or not wanted:
            raise ValueError(
                f"the hierarchy has no row for {missing[0]!r}." if missing else "there is no value to generalize."
            )
        rows = [row for row in self.rows if row[0] in wanted]
        return next(str(labels[0]) for labels in zip(*rows, strict=True) if len(set(labels)) == 1)


def _checked(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    if not rows:
        raise ValueError("a hierarchy needs at least one value; this one has no row.")
    widths = {len(row) for row in rows}
    if widths == {1}:
        raise ValueError("the rows of a hierarchy name only the values; add at least one more label to each, the root.")
    if len(widths) > 1:
        short = min(rows, key=len)
        raise ValueError(
            f"the row of {short[0]!r} has {len(short)} labels where another has {max(widths)}; every row names the "
            "value and all its generalizations up to the root. Repeat a label to fill a short row."
        )
    seen: set[str] = set()
    parents: dict[tuple[int, str], str] = {}
    for row in rows:
        if row[0] in seen:
            raise ValueError(f"the value {row[0]!r} stands in two rows; keep one.")
        seen.add(row[0])
        for level, (label, parent) in enumerate(itertools.pairwise(row)):
            if parents.setdefault((level, label), parent) != parent:
                raise ValueError(
                    f"{label!r} generalizes to {parents[level, label]!r} and to {parent!r} at level {level + 1}; a tree "
                    "has one parent per label. Rename one of the labels."
                )
    _check_acyclic(rows)
    _check_one_meaning(rows)
    roots = {row[-1] for row in rows}
    if len(roots) > 1:
        raise ValueError(
            f"the hierarchy has {len(roots)} roots ({', '.join(sorted(roots))}); add a column with one root."
        )
    return tuple(sorted(rows, key=_traversal(rows)))


def _check_acyclic(rows: list[tuple[str, ...]]) -> None:
    """Raise ValueError if a label is above itself; that it stands on several levels in a row only fills them."""
    levels = [set(column) for column in zip(*rows, strict=True)]
    if len(set().union(*levels)) == sum(map(len, levels)):
        return
    steps = {(parent, child) for row in rows for child, parent in itertools.pairwise(row) if child != parent}
    _refuse_cycle(nx.DiGraph(sorted(steps)))


def _check_one_meaning(rows: list[tuple[str, ...]]) -> None:
    """Raise ValueError if a label stands for some values at one level and for others at another.

    For more of them, as where a value is called as the root is, it may.
    """
    extents: dict[str, set[str]] = {}
    for level, column in enumerate(zip(*rows, strict=True)):
        under: dict[str, set[str]] = {}
        for row, label in zip(rows, column, strict=True):
            under.setdefault(label, set()).add(row[0])
        for label, extent in under.items():
            known = extents.setdefault(label, extent)
            if not (known <= extent or extent <= known):
                raise ValueError(
                    f"{label!r} stands for {', '.join(sorted(extents[label]))} at one level and for {', '.join(sorted(extent))} at "
                    f"level {level}; a published label must mean one thing. Rename one of the labels."
                )


def _refuse_cycle(graph: "nx.DiGraph[Any]") -> None:
    try:
        around = nx.find_cycle(graph)
    except nx.NetworkXNoCycle:
        return
    upwards = [repr(child) for _, child in reversed(around)]
    raise ValueError(
        f"the hierarchy has a cycle: {upwards[0]} generalizes to {', that to '.join([*upwards[1:], upwards[0]])}; no label is "
        "above itself. Rename one of the labels, or take a step out."
    )


def _rows(graph: "nx.DiGraph[Any]") -> list[list[str]]:
    """The path from every leaf of a tree to its root, filled at the leaf to equal lengths."""
    if not graph:
        raise ValueError("a hierarchy needs at least one value; this graph has no node.")
    _refuse_cycle(graph)
    crowded = next((node for node, parents in graph.in_degree if parents > 1), None)
    if crowded is not None:
        above = " and to ".join(repr(str(parent)) for parent in graph.predecessors(crowded))
        raise ValueError(
            f"{str(crowded)!r} generalizes to {above}; a tree has one parent per label, and its edges go from the more "
            "general label to the less. Take an edge out, or turn them all around."
        )
    roots = [str(node) for node, parents in graph.in_degree if parents == 0]
    if len(roots) > 1:
        raise ValueError(
            f"the hierarchy has {len(roots)} roots ({', '.join(sorted(roots))}); add a node above them, or take out the others."
        )
    return _filled([_upwards(graph, node) for node, children in graph.out_degree if children == 0])


def _upwards(graph: "nx.DiGraph[Any]", node: Any) -> list[str]:
    path = [node]
    while parents := list(graph.predecessors(path[-1])):
        path.append(parents[0])
    return [str(label) for label in path]


def _filled(paths: list[list[str]]) -> list[list[str]]:
    longest = max(map(len, paths))
    return [[path[0]] * (longest - len(path)) + path for path in paths]


def _traversal(rows: list[tuple[str, ...]]) -> Any:
    """The key that sorts rows as the tree is traversed, children in the order in which they first appear."""
    first: dict[tuple[int, str], int] = {}
    for position, row in enumerate(rows):
        for level, label in enumerate(row):
            first.setdefault((level, label), position)
    return lambda row: [first[level, label] for level, label in reversed(list(enumerate(row)))]
