"""Relations between respondents, with the compatibility of the values of two at their first common release."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.settings import MAX_FLOAT, as_floats, check_kind, check_range, counted
from foreknow.models.tables.columns import lookalike
from foreknow.models.tables.history import History

if TYPE_CHECKING:
    import networkx as nx

ROUNDS, CONVERGED = 1000, 1e-12
"""Largest number of rounds in which a fitted table is scaled to its marginals, and the change of a factor at which it stops."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Relations:
    r"""Graph of related respondents, and a table of compatibility of their values: households, siblings, contacts.

    The law of the paths is multiplied once for each edge, at the first release t in which both respondents are published::

        p(paths) ~ product over respondents of their chains * product over edges {i, j} of table[kind][x_i,t, x_j,t]

    Later common releases have no factor of their own: a ratio that is multiplied at each release would count one relation many
    times. What one value tells of the other later is carried by the chains.

    Parameters
    ----------
    graph : networkx.Graph
        Nodes are respondents, each listed in some release. An edge may have the attribute ``kind``.
    table : float array, shape (m, m), or mapping of kind to such an array
        Positive factors of the values of two related respondents, in the order of the schema, symmetric. One array is that of all
        edges, of any kind. A ratio of the joint to the product of the marginal probabilities keeps marginals (`fit`); a table of
        ones is no knowledge.

    Raises
    ------
    TypeError
        If the graph is no undirected networkx.Graph without parallel edges, or a table is no array of numbers.
    ValueError
        If a table is not square, symmetric, positive and finite, tables differ in shape, an edge joins a respondent to itself, or
        there is no table of the kind of an edge.

    Notes
    -----
    Two respondents who are never published together have no factor. Without releases the law of a related pair at the first common
    release is ``P_i(x) table[x, y] P_j(y)``, normalized, with the marginals that the chains have there. None of the five papers has
    relations. Memory: that of the graph, which is copied.

    Examples
    --------
    Two siblings, who have the same value twice as often as by chance:

    >>> import networkx as nx
    >>> siblings = Relations(nx.Graph([("ann", "bob")]), [[1.0, 0.5], [0.5, 1.0]])
    >>> siblings
    Relations(respondents=2, edges=1, kinds=1)
    """

    graph: "nx.Graph[Any]"
    table: FloatArray | Mapping[Any, FloatArray]

    name = "relations"

    def __post_init__(self) -> None:
        _check_graph("Relations", self.graph)
        import networkx as nx

        by_kind = isinstance(self.table, Mapping)
        given: Mapping[Hashable, Any] = self.table if isinstance(self.table, Mapping) else {None: self.table}
        tables = {
            kind: _checked_table(table, f"the table of {kind!r}" if by_kind else "table")
            for kind, table in given.items()
        }
        if not tables:
            raise ValueError("Relations: there is no table; give one of each kind of edge, or leave relations out.")
        if len({table.shape for table in tables.values()}) > 1:
            raise ValueError(
                f"Relations: tables have the shapes {[table.shape for table in tables.values()]}; all have one domain."
            )
        if by_kind:
            for one, other, kind in self.graph.edges(data="kind"):
                if kind not in tables:
                    raise ValueError(
                        f"Relations: the edge of {one!r} and {other!r} has the kind {kind!r}, and there are tables of "
                        f"{', '.join(map(repr, tables)) or 'no kind'}. Give a table of it, or remove such edges from the graph."
                    )
        set_fields(self, graph=nx.freeze(self.graph.copy()), table=tables if by_kind else tables[None])

    def __repr__(self) -> str:
        respondents, edges = self.graph.number_of_nodes(), self.graph.number_of_edges()
        return f"Relations(respondents={respondents}, edges={edges}, kinds={len(self.kinds)})"

    @property
    def kinds(self) -> tuple[Hashable, ...]:
        """Kinds of edges with a table each; one, None, if there is one table for all."""
        return tuple(self.table) if isinstance(self.table, Mapping) else (None,)

    @property
    def tables(self) -> FloatArray:
        """Tables in the order of ``kinds``: float array, shape ``(K, m, m)``."""
        return np.stack(list(self.table.values())) if isinstance(self.table, Mapping) else self.table[None]

    @classmethod
    def fit(cls, history: History, graph: "nx.Graph[Any]", pseudo_count: float = 0.5) -> "Relations":
        """Estimate the table of each kind of edge from a history with true values.

        Parameters
        ----------
        history : History
        graph : networkx.Graph
            Relations of respondents of the history.
        pseudo_count : float
            Number c added to the observed and to the expected number of pairs, O and E, of each pair of values.

        Returns
        -------
        Relations
            ``(O + c) / (E + c)``, scaled as below. Apply it to other respondents by ``Relations(their_graph, fitted.table)``.

        Raises
        ------
        ValueError
            If a pair of values of a kind is not observed and ``pseudo_count`` is 0, a kind has no two respondents who are listed
            together, or a respondent of the graph is in no view.

        Notes
        -----
        O counts unordered pairs of values at the first view that lists both; where a release withholds one, the factor enters later
        than it was fitted. E is its expectation for independent values with the frequencies p of both ends. Without a pseudo-count,
        ``p_x table[x, y] p_y`` is the observed distribution. With one, ratios are shrunk towards 1 (as in Norén, Hopstadius, Bate,
        2013), most where few pairs are expected, and the table is scaled on both sides so that its marginals are p. So the law
        without releases has the fitted marginals and the fitted table of a pair at its first common release, if both have the
        marginal p there by prior and chain, and no other edge.

        Cost: O(records + edges + K m^2 rounds).
        """
        check_kind("Relations.fit", "history", history, History)
        _check_graph("Relations.fit", graph)
        check_range("Relations.fit", "pseudo_count", pseudo_count, 0, MAX_FLOAT, "added to pairs")
        views, m = list(history), len(history.schema.values)
        kinds = list(dict.fromkeys(kind for _, _, kind in graph.edges(data="kind")))
        found = first_meetings("Relations.fit", graph, [view.people.respondents for view in views])
        counts = np.zeros((len(kinds), m, m))
        for edge, (one, other) in zip(found.edge, found.rows, strict=True):
            values = views[found.release[edge]].sensitive[[one, other]]
            counts[kinds.index(found.kind[edge])][tuple(values)] += 1
        tables = {
            kind: _fitted_ratio(count + count.T, float(pseudo_count), kind, history.schema.values)
            for kind, count in zip(kinds, counts, strict=True)
        }
        return cls(graph, tables[None] if kinds == [None] else tables)


class Meetings(NamedTuple):
    """First common release of the ends of each edge of a graph."""

    kind: list[Any]  # length E: kind of each edge; None where the edge has none
    release: IntArray  # (E,): first release of both; -1 for none
    edge: IntArray  # (P,): edges whose ends meet
    rows: IntArray  # (P, 2): row of each end in the arrays of that release


def first_meetings(
    owner: str,
    graph: "nx.Graph[Any]",
    respondents: Sequence[np.ndarray[Any, Any]],
    published: Sequence[np.ndarray[Any, Any]] | None = None,
) -> Meetings:
    """First release in which both ends of each edge are published.

    Parameters
    ----------
    owner : str
        At the beginning of messages.
    graph : networkx.Graph
    respondents : sequence of array, shapes (n,)
        Respondents who are listed in each release.
    published : sequence of bool array, shapes (n,), optional
        Those who are published; all by default.

    Raises
    ------
    ValueError
        If a node of the graph is listed in no release.

    Notes
    -----
    Cost: O(records + edges).
    """
    place: dict[Hashable, dict[int, int]] = {node: {} for node in graph}
    # The releases of a respondent as bits, so that those of two have one intersection.
    bits, listed = dict.fromkeys(graph, 0), set()
    for t, names in enumerate(respondents):
        shown = np.ones(len(names), dtype=np.bool_) if published is None else published[t]
        for row, (name, seen) in enumerate(zip(names.tolist(), shown.tolist(), strict=True)):
            if name in place:
                listed.add(name)
                if seen:
                    place[name][t], bits[name] = row, bits[name] | 1 << t
    absent = [node for node in graph if node not in listed]
    if absent:
        everyone = (name for names in respondents for name in names.tolist())
        raise ValueError(
            f"{owner}: the graph of relations has {counted(len(absent), 'respondent')} in no release, as {absent[0]!r}; "
            f"leave them out: graph.subgraph(respondents of the releases).{lookalike(absent[0], everyone)}"
        )
    edges = list(graph.edges(data="kind"))
    common = [bits[one] & bits[other] for one, other, _ in edges]
    release = np.array([(both & -both).bit_length() - 1 for both in common], dtype=np.int64)
    met = np.flatnonzero(release >= 0)
    rows = [[place[edges[edge][side]][int(release[edge])] for side in range(2)] for edge in met.tolist()]
    return Meetings([kind for _, _, kind in edges], release, met, np.array(rows, dtype=np.int64).reshape(-1, 2))


def _check_graph(owner: str, graph: Any) -> None:
    import networkx as nx

    takes = "is a networkx.Graph of related respondents, as nx.Graph([('ann', 'bob')])"
    check_kind(owner, "graph", graph, nx.Graph, takes)
    if graph.is_directed() or graph.is_multigraph():
        raise TypeError(
            f"{owner}: graph is a {type(graph).__name__}; it {takes}: edges without direction, one for two of them."
        )
    loop = next(iter(nx.selfloop_edges(graph)), None)
    if loop is not None:
        raise ValueError(
            f"{owner}: the graph has an edge of {loop[0]!r} to itself; an edge joins two respondents. Remove it."
        )


def _checked_table(given: Any, name: str) -> FloatArray:
    """A table as an array; TypeError or ValueError unless it is square, positive, finite and symmetric."""
    table = as_floats("Relations", name, given, "is a float array of shape (m, m), positive and symmetric")
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"Relations: {name} has shape {table.shape}; it has one row and one column for each value.")
    wrong = ~(np.isfinite(table) & (table > 0))
    if wrong.any():
        x, y = np.argwhere(wrong)[0]
        raise ValueError(
            f"Relations: {name} is {table[x, y]:g} at [{x}, {y}]; it is positive and finite. For what hardly happens give a small "
            "number, as 1e-6."
        )
    uneven = np.argwhere(~np.isclose(table, table.T, rtol=1e-9, atol=0))
    if len(uneven):
        x, y = uneven[0]
        raise ValueError(
            f"Relations: {name} is {table[x, y]:g} at [{x}, {y}] and {table[y, x]:g} at [{y}, {x}]; it is symmetric, as edges "
            "have no direction. Give the mean of both."
        )
    table = table.copy()
    table.setflags(write=False)
    return table


def _fitted_ratio(counts: FloatArray, pseudo_count: float, kind: Any, values: Sequence[Any]) -> FloatArray:
    """Ratio of observed to expected pairs with pseudo-counts, with marginals kept; ``counts`` has both orders of each pair."""
    total = counts.sum()
    what = "Relations.fit: " + ("" if kind is None else f"among edges of the kind {kind!r}, ")
    if not total:
        raise ValueError(f"{what}no two related respondents are listed in one view; leave such edges out of the graph.")
    share = counts.sum(axis=0) / total
    if pseudo_count == 0 and not counts.all():
        x, y = np.argwhere(counts == 0)[0]
        raise ValueError(f"{what}no pair has the values {values[x]!r} and {values[y]!r}; give a pseudo_count over 0.")
    # In both orders each, but for a pair of equal values, which has one.
    orders = 2.0 - np.eye(len(share))
    observed, expected = counts * orders / 2, np.outer(share, share) * total * orders / 2
    table = (observed + pseudo_count) / (expected + pseudo_count)
    factor = np.ones(len(share))
    for _ in range(ROUNDS):
        before, factor = factor, np.sqrt(factor / (table @ (share * factor)))
        if np.abs(factor - before).max() < CONVERGED:
            break
    return np.asarray(table * np.outer(factor, factor))
