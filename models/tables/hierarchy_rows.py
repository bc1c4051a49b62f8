"""Rows of a generalization hierarchy: checks that they form a tree, their order, and conversion from a graph."""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx


type Row = tuple[str, ...]


def checked_rows(rows: list[Row]) -> tuple[Row, ...]:
    """Return rows of labels in the order of the tree's traversal; raise ValueError unless they form a tree.

    Parameters
    ----------
    rows : list of tuples of str
        From a value to the root, one per value.
    """
    _check_lengths(rows)
    _check_values(rows)
    _check_parents(rows)
    _check_acyclic(rows)
    _check_one_meaning(rows)
    roots = {row[-1] for row in rows}
    if len(roots) > 1:
        raise ValueError(
            f"the hierarchy has {len(roots)} roots ({', '.join(sorted(roots))}); add a column with one root."
        )
    return tuple(sorted(rows, key=_traversal_key(rows)))


def _check_lengths(rows: list[Row]) -> None:
    """Raise ValueError unless all rows have one length, of at least 2."""
    if not rows:
        raise ValueError("a hierarchy needs at least one value; this one has no row.")
    longest, shortest = max(map(len, rows)), min(rows, key=len)
    if longest < 2:
        raise ValueError("the rows of a hierarchy name only the values; add at least one more label to each, the root.")
    if len(shortest) < longest:
        row = f"the row of {shortest[0]!r}" if shortest else "a row"
        raise ValueError(
            f"{row} has {len(shortest)} labels where another has {longest}; every row names the value and all its "
            "generalizations up to the root. Repeat a label to fill a short row."
        )


def _check_values(rows: list[Row]) -> None:
    """Raise ValueError if a value has two rows."""
    values: set[str] = set()
    for row in rows:
        if row[0] in values:
            raise ValueError(f"the value {row[0]!r} has two rows; keep one.")
        values.add(row[0])


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
    """Raise ValueError if a label is its own ancestor; a label repeated at consecutive levels is not."""
    levels = [set(column) for column in zip(*rows, strict=True)]
    if len(set().union(*levels)) == sum(map(len, levels)):
        return
    steps = {(parent, child) for row in rows for child, parent in itertools.pairwise(row) if child != parent}
    import networkx as nx

    _refuse_cycle(nx.DiGraph(sorted(steps)))


def _check_one_meaning(rows: list[Row]) -> None:
    """Raise ValueError if a label stands for two sets of values, at two levels, neither of which contains the other."""
    # One may contain the other: a repeated label, or a value with the name of the root.
    extents: dict[str, set[str]] = {}
    for level, column in enumerate(zip(*rows, strict=True)):
        for label, extent in _extents(rows, column).items():
            known = extents.setdefault(label, extent)
            if not (known <= extent or extent <= known):
                raise ValueError(
                    f"{label!r} stands for {', '.join(sorted(known))} at one level and for {', '.join(sorted(extent))} at "
                    f"level {level}; a published label must mean one thing. Rename one of the labels."
                )


def _extents(rows: list[Row], column: Row) -> dict[str, set[str]]:
    """The values under each label of a level."""
    values: dict[str, set[str]] = {}
    for row, label in zip(rows, column, strict=True):
        values.setdefault(label, set()).add(row[0])
    return values


def _refuse_cycle(graph: "nx.DiGraph[Any]") -> None:
    """Raise ValueError if a graph of labels, with edges from general to specific, has a cycle."""
    import networkx as nx

    try:
        cycle = nx.find_cycle(graph)
    except nx.NetworkXNoCycle:
        return
    upwards = [repr(edge[1]) for edge in reversed(cycle)]
    raise ValueError(
        f"the hierarchy has a cycle: {upwards[0]} generalizes to {', that to '.join([*upwards[1:], upwards[0]])}; no label is "
        "above itself. Rename one of the labels, or remove a step."
    )


def _traversal_key(rows: list[Row]) -> Callable[[Row], list[int]]:
    """A key that sorts rows in the order of the tree's traversal, children in the order of their first appearance."""
    first: dict[tuple[int, str], int] = {}
    for position, row in enumerate(rows):
        for level, label in enumerate(row):
            first.setdefault((level, label), position)
    return lambda row: [first[level, label] for level, label in reversed(list(enumerate(row)))]


def rows_of_graph(graph: "nx.DiGraph[Any]") -> list[list[str]]:
    """Return the path from each leaf of a tree to its root; a short path repeats its leaf to the length of the longest.

    Raises
    ------
    ValueError
        If the graph is empty or is not a tree with edges away from one root.
    """
    if not graph:
        raise ValueError("a hierarchy needs at least one value; this graph has no node.")
    _refuse_cycle(graph)
    label = next((node for node, parents in graph.in_degree if parents > 1), None)
    if label is not None:
        above = " and to ".join(repr(str(parent)) for parent in graph.predecessors(label))
        raise ValueError(
            f"{str(label)!r} generalizes to {above}; a tree has one parent per label, and its edges go from the more "
            "general label to the less. Remove an edge, or reverse them all."
        )
    roots = [str(node) for node, parents in graph.in_degree if parents == 0]
    if len(roots) > 1:
        raise ValueError(
            f"the hierarchy has {len(roots)} roots ({', '.join(sorted(roots))}); add a node above them, or remove the others."
        )
    paths = [_path_to_root(graph, node) for node, children in graph.out_degree if children == 0]
    longest = max(map(len, paths))
    return [[path[0]] * (longest - len(path)) + path for path in paths]


def _path_to_root(graph: "nx.DiGraph[Any]", node: Any) -> list[str]:
    path = [node]
    while parents := list(graph.predecessors(path[-1])):
        path.append(parents[0])
    return [str(label) for label in path]
