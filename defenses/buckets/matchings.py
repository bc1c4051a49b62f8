"""Which values the records of a bucket may have, where every value belongs to one of them and some are ruled out."""

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike

from foreknow.models.arrays import BoolArray, IntArray, compiled


def matching_diversity(forbidden: ArrayLike, values: ArrayLike) -> IntArray:
    """How many distinct values each record of a bucket may have: those with which the others can still share out the rest.

    A record may have a value if giving it one copy of that leaves a perfect matching between the other records and the
    other copies, in which nobody has a value that is forbidden to it. A bucket is l-diverse in this sense where every
    record may have at least l values.

    Parameters
    ----------
    forbidden : bool array, shape (k, m)
        Which values are ruled out for which record of the bucket.
    values : int array, shape (k,)
        The sensitive codes that the bucket shows, in any order.

    Returns
    -------
    int array, shape (k,)
        All 0 where no assignment at all is possible.

    Raises
    ------
    ValueError
        If there is not one value per record, or a value that ``forbidden`` has no column for.

    Notes
    -----
    T. Li, N. Li, ICDE 2008. By definition, without short cuts: a maximum matching (Hopcroft and Karp, by NetworkX) for each
    record and value that it is not denied. Exact. Cost: O(k^2) matchings of O(k^2.5) each.

    Examples
    --------
    The first cannot have value 0, so that of two the other must; of three, either of the others may.

    >>> matching_diversity([[True, False], [False, False]], [0, 1]).tolist()
    [1, 1]
    >>> matching_diversity([[True, False, False], [False, False, False], [False, False, False]], [1, 0, 2]).tolist()
    [2, 3, 3]
    """
    denied, shown = np.asarray(forbidden, dtype=bool), np.asarray(values, dtype=np.int64)
    if denied.ndim != 2 or shown.shape != denied.shape[:1]:
        raise ValueError(
            f"the bucket has {shown.size} values and forbidden has shape {denied.shape}; give a row per value."
        )
    if shown.size and not (shown.min() >= 0 and shown.max() < denied.shape[1]):
        wrong = shown.min() if shown.min() < 0 else shown.max()
        raise ValueError(f"a value of the bucket has code {wrong}; forbidden has columns 0 to {denied.shape[1] - 1}.")
    allowed = ~denied[:, shown]
    possible = [
        {int(shown[copy]) for copy in np.flatnonzero(allowed[record]) if _matches_without(allowed, record, int(copy))}
        for record in range(len(shown))
    ]
    return np.array([len(some) for some in possible], dtype=np.int64)


def _matches_without(allowed: BoolArray, record: int, copy: int) -> bool:
    """Whether all other records can be matched with all other copies."""
    rest = np.delete(np.delete(allowed, record, axis=0), copy, axis=1)
    graph = nx.Graph()
    records = [("record", i) for i in range(len(rest))]
    graph.add_nodes_from(records)
    graph.add_nodes_from(("copy", j) for j in range(len(rest)))
    graph.add_edges_from((("record", int(i)), ("copy", int(j))) for i, j in np.argwhere(rest))
    return len(nx.bipartite.hopcroft_karp_matching(graph, records)) == 2 * len(rest)


@compiled
def in_matchings(allowed: BoolArray) -> BoolArray:
    """Which pairs of a record and a copy of a value lie in some perfect matching: ``(k, k)`` to ``(k, k)``.

    Of one perfect matching, found by augmenting paths, each record points to the owners of the copies it is allowed; a pair
    lies in another matching where that owner leads back to the record, for then the copies can be passed around. Cost:
    O(k^3). It is `matching_diversity`'s question, answered for all pairs at once.
    """
    k = len(allowed)
    owner = np.full(k, -1, dtype=np.int64)
    possible = np.zeros((k, k), dtype=np.bool_)
    for record in range(k):
        seen = np.zeros(k, dtype=np.bool_)
        if not _augment(allowed, record, owner, seen):
            return possible
    leads = np.zeros((k, k), dtype=np.bool_)
    for record in range(k):
        for copy in range(k):
            leads[record, owner[copy]] = allowed[record, copy]
    for between in range(k):
        for record in range(k):
            if leads[record, between]:
                for other in range(k):
                    leads[record, other] = leads[record, other] or leads[between, other]
    for record in range(k):
        for copy in range(k):
            possible[record, copy] = allowed[record, copy] and leads[owner[copy], record]
    return possible


@compiled
def _augment(allowed: BoolArray, record: int, owner: IntArray, seen: BoolArray) -> bool:
    """Find the record a copy, making earlier records move on to others where need be."""
    for copy in range(len(owner)):
        if allowed[record, copy] and not seen[copy]:
            seen[copy] = True
            if owner[copy] < 0 or _augment(allowed, owner[copy], owner, seen):
                owner[copy] = record
                return True
    return False
