"""Nearest groups of each record, in the space of `foreknow.models.tables.distance.points`, for any number of categories."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack
from scipy.spatial import cKDTree

from foreknow.models import Categorical, People
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.distance import node_axes

TIE = 1e-10
"""Distances that differ by less, in widths of the domain, are equal; rounding of centroids lies far below."""

FREQUENT = 1 / 100
"""The share of the records from which a node of a hierarchy has an axis of the tree that is searched."""

ROUNDING = 1e-9
"""By how much a squared distance may be off that is computed from products."""

PAIRS = 2**22
"""The number of pairs of a vector and a group that are compared at a time."""


class Points(NamedTuple):
    """Points with few dense axes and many sparse ones.

    Attributes
    ----------
    dense : float array, shape (n, a)
        Numbers, and the nodes of hierarchies with at least the share `FREQUENT` of the records.
    sparse : sparse float array, shape (n, b)
        The other nodes: as many entries per record as levels.
    """

    dense: FloatArray
    sparse: csr_array

    def at(self, rows: IntArray) -> "Points":
        """Some of the points."""
        return Points(self.dense[rows], self.sparse[rows])

    def apart(self, other: "Points") -> FloatArray:
        """The Euclidean distance of each point from another's point in the same place: float array, shape ``(n,)``."""
        return np.asarray(np.sqrt(_squares(self.dense - other.dense) + _norms(self.sparse - other.sparse)))

    def means(self, group: IntArray, groups: int) -> "Points":
        """The mean point of each group."""
        shares = _rows(group, 1 / np.bincount(group, minlength=groups)[group], groups).T.tocsr()
        return Points(np.asarray(shares @ self.dense), csr_array(shares @ self.sparse))


def points_of(people: People, like: People) -> Points:
    """The points of people, on the axes of others: shape ``(n, D)`` in all, with O(n) entries per level.

    Dense axes are of nodes that are frequent among ``like``.
    """
    dense: list[FloatArray] = []
    n = len(people.quasi_identifiers)
    sparse: list[csr_array] = [csr_array((n, 0))]
    for a, kind in enumerate(people.schema.quasi_identifiers.values()):
        codes = people.quasi_identifiers[:, a]
        if not isinstance(kind, Categorical):
            low, high = kind.bounds
            dense.append(((codes - low) / (high - low) if high > low else np.zeros(n))[:, None])
            continue
        shown = node_axes(kind, like.quasi_identifiers[:, a])
        for (nodes, number, coordinate), (seen, _, _) in zip(node_axes(kind, codes), shown, strict=True):
            level = _rows(nodes, np.full(len(nodes), coordinate), number).tocsc()
            frequent = np.bincount(seen, minlength=number) >= FREQUENT * len(seen)
            dense.append(level[:, frequent].toarray())
            sparse.append(level[:, ~frequent].tocsr())
    return Points(np.hstack(dense), csr_array(hstack(sparse, format="csr")))


def nearest_groups(
    where: Points, group: IntArray, centres: Points, first: IntArray, which: IntArray
) -> tuple[IntArray, BoolArray]:
    """The number of groups nearest to each distinct vector, and the records whose own group is one of them.

    Parameters
    ----------
    where : Points
        The n records.
    group : int array, shape (n,)
        The group of each.
    centres : Points
        The point of each group.
    first : int array, shape (u,)
        A record with each distinct vector.
    which : int array, shape (n,)
        The vector of each record.

    Returns
    -------
    ties : int array, shape (u,)
        1 for vectors that no record's own group is nearest to.
    nearest : bool array, shape (n,)

    Notes
    -----
    With x = (x_d, x_s) and c = (c_d, c_s) for the dense and the sparse axes, ``|x - c|^2 = |x_d - c_d|^2 + |c_s|^2 + |x_s|^2
    - 2 x_s.c_s``. A KD-tree of ``(c_d, |c_s|)`` finds the nearest groups as if all products were 0; the groups with a product
    over 0 share a rare node with x and are compared one by one. Exact; distances within `TIE` are ties. Cost: that of a KD-tree
    of few axes, and O(pairs of a vector and a group with a rare node in common): with v equally frequent values, u/v times the
    number of groups that hold a value, summed over the values, and not v times the number of all groups.
    """
    vectors = where.at(first)
    constant = _norms(vectors.sparse)
    reach = np.column_stack([centres.dense, np.sqrt(_norms(centres.sparse))])
    tree = cKDTree(reach, balanced_tree=False, compact_nodes=False)
    start = np.column_stack([vectors.dense, np.zeros(len(first))])
    least = np.sqrt(tree.query(start)[0] ** 2 + constant)
    pairs = _closest(vectors, centres, least)
    np.minimum.at(least, pairs.vector, pairs.distance)

    nearest = where.apart(centres.at(group)) <= least[which] + TIE
    asked = np.unique(which[nearest])
    radius = np.sqrt(np.maximum((least + TIE) ** 2 - constant, 0))
    found = np.ones(len(first), dtype=np.int64)
    found[asked] = tree.query_ball_point(start[asked], radius[asked], return_length=True)
    as_if = np.sqrt(_squares(start[pairs.vector] - reach[pairs.group])) <= radius[pairs.vector]
    truly = pairs.distance <= least[pairs.vector] + TIE
    np.add.at(found, pairs.vector, truly.astype(np.int64) - as_if)
    return np.where(np.isin(np.arange(len(first)), asked), found, 1), nearest


class _Pairs(NamedTuple):
    """Vectors and groups with a rare node in common, and how far they are apart."""

    vector: IntArray
    group: IntArray
    distance: FloatArray


def _closest(vectors: Points, centres: Points, least: FloatArray) -> _Pairs:
    """The pairs that are as close as the closest of their vector, or might be but for rounding."""
    holders = np.bincount(centres.sparse.indices, minlength=centres.sparse.shape[1]).astype(np.float64)
    batch = np.cumsum((vectors.sparse != 0) @ holders) // PAIRS
    found = [_Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    norms = _norms(centres.sparse)
    for rows in np.split(np.arange(len(least)), np.flatnonzero(np.diff(batch)) + 1):
        some = vectors.at(rows)
        product = (some.sparse @ centres.sparse.T).tocoo()
        row, group = product.coords
        apart = _squares(some.dense[row] - centres.dense[group])
        apart += norms[group] + _norms(some.sparse)[row] - 2 * product.data
        best = least[rows] ** 2
        np.minimum.at(best, row, apart)
        close = apart <= best[row] + ROUNDING
        row, group = row[close], group[close]
        found.append(_Pairs(rows[row], group.astype(np.int64), some.at(row).apart(centres.at(group))))
    return _Pairs(*map(np.concatenate, zip(*found, strict=True)))


def _rows(columns: IntArray, entries: FloatArray, number: int) -> csr_array:
    """A sparse array with one entry per row."""
    return csr_array((entries, columns, np.arange(len(columns) + 1)), shape=(len(columns), number))


def _squares(rows: FloatArray) -> FloatArray:
    return np.asarray((rows**2).sum(axis=1))


def _norms(rows: csr_array) -> FloatArray:
    return np.asarray(rows.power(2).sum(axis=1)).ravel()
