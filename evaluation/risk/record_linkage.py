"""Record linkage: probability that an adversary with the original quasi-identifiers links records with their groups."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.evaluation.arguments import check_releases, release_table
from foreknow.models import Adversary, Categorical, Memory, People, Release
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.knowledge.membership import membership_weights
from foreknow.models.settings import check_choice, check_kind
from foreknow.models.tables.distance import node_axes
from foreknow.models.tables.release import published_hulls

type Representative = Literal["centroid", "midpoint"]
"""Point that represents a group."""

REPRESENTATIVES: tuple[Representative, ...] = ("centroid", "midpoint")


def record_linkage(releases: Iterable[Release], *, representative: Representative = "centroid") -> pd.DataFrame:
    """Probability of linking a record with its group E: ``1/|E|`` if E is the nearest group, else 0.

    The distance is Euclidean (`foreknow.models.tables.distance`, hierarchies included), between an original record and a
    group's representative. Of q groups at the same distance one is drawn at random, which gives ``1/(q |E|)``: our rule, the
    papers have none. A bucketized release shows quasi-identifiers as they are, so that the nearest groups are those that show
    the record's own. A suppressed record is an original that links with nothing, and counts with 0. Counterfeits are never
    linked, but are rows of their group E that the adversary may draw.

    Parameters
    ----------
    releases : iterable of Release
        The published releases.
    representative : {"centroid", "midpoint"}
        "centroid" is the mean of the members' points, as in microaggregation. "midpoint" is the middle of what is published,
        which a reader of a generalized release knows: the middle of an interval, the mean of all values under a label.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``linkage_sum``, the sum over the records (BayFrame, Equation 7), which equals the
        number of groups if every record is linked right; ``linkage``, that sum over the number of records (Soria-Comas et al.,
        2015; UHRA, Equation 4); ``linked``, the number of records whose own group is among the nearest; ``records``, the number
        of records of the view; ``suppressed``.

    Notes
    -----
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez, S. Martínez, t-Closeness through microaggregation, IEEE TKDE 27(11), 2015.
    Cost: that of `foreknow.evaluation.risk.record_linkage`, once per distinct vector of quasi-identifiers; with ``"midpoint"``
    also O(g v) where most of the v values are under one label.
    """
    rows = []
    for release in check_releases("record_linkage", releases):
        probability = linkage_probability(release, representative)
        rows.append(
            {
                "time": release.time,
                "linkage_sum": float(probability.sum()),
                "linkage": float(probability.mean()),
                "linked": int((probability > 0).sum()),
                "records": len(release.view),
                "suppressed": int((release.group < 0).sum()),
            }
        )
    return release_table(rows, ("time", "linkage_sum", "linkage", "linked", "records", "suppressed"))


def linkage_probability(release: Release, representative: Representative = "centroid") -> FloatArray:
    """Probability that each record is linked with its group, as in `record_linkage`: shape ``(n,)``."""
    check_choice("record_linkage", "representative", representative, REPRESENTATIVES)
    probability = np.zeros(len(release.view))
    kept = np.flatnonzero(release.group >= 0)
    if not len(kept):
        return probability
    people, group = release.view.people[kept], release.group[kept]
    vectors, first, vector = np.unique(people.quasi_identifiers, axis=0, return_index=True, return_inverse=True)
    vector = vector.ravel()
    if release.bucketized:
        pairs = np.unique(np.column_stack([vector, group]), axis=0)
        ties, nearest = np.bincount(pairs[:, 0], minlength=len(vectors)), np.ones(len(kept), dtype=bool)
    else:
        points = points_of(people, people)
        centres = points.means(group, release.groups) if representative == "centroid" else _midpoints(release, people)
        ties, nearest = nearest_groups(points, group, centres, first, vector)
    size = release.counts.sum(axis=1)[group]
    probability[kept] = np.where(nearest, 1.0 / (ties[vector] * size), 0.0)
    return probability


def group_linkage(adversary: Adversary, releases: Iterable[Release]) -> pd.DataFrame:
    """Probability that an adversary with a membership gives to the true group of each published record.

    Parameters
    ----------
    adversary : Adversary
        With a membership.
    releases : iterable of Release
        Each is read alone, as in `SnapshotAttack`.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``linkage_before``, the mean probability of the true group by the membership alone;
        ``linkage_after``, the mean belief in it given the release; ``excluded``, the number of records whose true group the
        membership rules out; ``records``, the number of published records.

    Raises
    ------
    TypeError, ValueError
        If the adversary has no membership; as `SnapshotAttack`.

    Notes
    -----
    An excluded group makes the beliefs about its release wrong, also those about other respondents. Cost: that of `SnapshotAttack`.
    """
    check_kind("group_linkage", "adversary", adversary, Adversary, "is an Adversary with a membership")
    if adversary.membership is None:
        raise ValueError("group_linkage: the adversary knows all groups; give one with membership=UniformMembership().")
    rows = []
    for number, release in enumerate(check_releases("group_linkage", releases)):
        seen, kept = release.unlabeled, np.flatnonzero(release.group >= 0)
        revised = adversary.revise(Memory(releases=number), seen.people, seen.time)
        found = adversary.posterior_without_labels(revised, seen).group[kept]
        weights = membership_weights(adversary.membership, seen)[kept]
        at = (np.arange(len(kept)), release.group[kept])
        own, before = found[at], weights[at] / weights.sum(axis=1)
        rows.append(
            {
                "time": release.time,
                "linkage_before": float(before.mean()) if len(kept) else np.nan,
                "linkage_after": float(own.mean()) if len(kept) else np.nan,
                "excluded": int((before == 0).sum()),
                "records": len(kept),
            }
        )
    return release_table(rows, ("time", "linkage_before", "linkage_after", "excluded", "records"))


class Points(NamedTuple):
    """Points with few dense axes and many sparse ones."""

    dense: FloatArray  # (n, a): numbers, and nodes of hierarchies with at least `DENSE_SHARE` of the records
    sparse: "scipy.sparse.csr_array"  # (n, b): the other nodes, with at most one entry per record and level

    def take(self, rows: IntArray) -> "Points":
        """Points of some rows."""
        return Points(self.dense[rows], self.sparse[rows])

    def distances(self, other: "Points") -> FloatArray:
        """Euclidean distance of each point from the other's point of the same row: float array, shape ``(n,)``."""
        return np.asarray(np.sqrt(_squares(self.dense - other.dense) + _norms(self.sparse - other.sparse)))

    def means(self, group: IntArray, groups: int) -> "Points":
        """Mean point of each group."""
        shares = _rows(group, 1 / np.bincount(group, minlength=groups)[group], groups).T.tocsr()
        return Points(np.asarray(shares @ self.dense), scipy.sparse.csr_array(shares @ self.sparse))


def _midpoints(release: Release, people: People) -> Points:
    """Middle of what each group publishes, on the axes of some people."""
    hull = published_hulls(release)
    middles = [
        _middle(_column(people, name, people.quasi_identifiers[:, a]), hull.low[:, a], hull.high[:, a])
        for a, name in enumerate(people.schema.quasi_identifiers)
    ]
    sparse = scipy.sparse.hstack([middle.sparse for middle in middles], format="csr")
    return Points(np.hstack([middle.dense for middle in middles]), scipy.sparse.csr_array(sparse))


def _middle(people: People, low: FloatArray, high: FloatArray) -> Points:
    """Middle of each group's interval, or mean of all values under its label, in the only attribute of some people."""
    ((name, kind),) = people.schema.quasi_identifiers.items()
    if not isinstance(kind, Categorical):
        return points_of(_column(people, name, (low + high) / 2), people)
    values = points_of(_column(people, name, np.arange(len(kind.values), dtype=np.float64)), people)
    sizes = (high - low).astype(np.int64) + 1
    ends = np.cumsum(sizes)
    codes = np.arange(ends[-1]) - np.repeat(ends - sizes - low.astype(np.int64), sizes)
    under = scipy.sparse.csr_array(
        (np.repeat(1 / sizes, sizes), codes, np.append(0, ends)), shape=(len(sizes), len(kind.values))
    )
    return Points(np.asarray(under @ values.dense), scipy.sparse.csr_array(under @ values.sparse))


def _column(people: People, name: str, codes: FloatArray) -> People:
    """People without names and with one attribute, of the same schema."""
    schema = replace(people.schema, quasi_identifiers={name: people.schema.quasi_identifiers[name]})
    return People(np.arange(len(codes), dtype=object), codes[:, None], schema)


TIE_TOLERANCE = 1e-10
"""Largest difference of tied distances, in widths of the domain; the rounding of centroids is far smaller."""

DENSE_SHARE = 1 / 100
"""Share of the records from which on a node of a hierarchy has a dense axis, which the KD-tree searches."""

SQUARED_DISTANCE_ERROR = 1e-9
"""Upper bound of the rounding error of a squared distance that is computed from products."""

PAIRS_PER_BATCH = 2**22
"""Number of pairs of a vector and a group that are compared at a time."""


def points_of(people: People, like: People) -> Points:
    """Points of people, on the axes of others: shape ``(n, D)`` in all, with O(n) entries per level.

    Dense axes are those of nodes that are frequent among ``like``.
    """
    dense: list[FloatArray] = []
    n = len(people.quasi_identifiers)
    sparse: list[scipy.sparse.csr_array] = [scipy.sparse.csr_array((n, 0))]
    for a, kind in enumerate(people.schema.quasi_identifiers.values()):
        codes = people.quasi_identifiers[:, a]
        if not isinstance(kind, Categorical):
            low, high = kind.bounds
            dense.append(((codes - low) / (high - low) if high > low else np.zeros(n))[:, None])
            continue
        axes_of_others = node_axes(kind, like.quasi_identifiers[:, a])
        for (nodes, number, coordinate), (others, _, _) in zip(node_axes(kind, codes), axes_of_others, strict=True):
            level = _rows(nodes, np.full(len(nodes), coordinate), number).tocsc()
            frequent = np.bincount(others, minlength=number) >= DENSE_SHARE * len(others)
            dense.append(level[:, frequent].toarray())
            sparse.append(level[:, ~frequent].tocsr())
    return Points(np.hstack(dense), scipy.sparse.csr_array(scipy.sparse.hstack(sparse, format="csr")))


def nearest_groups(
    points: Points, group: IntArray, centres: Points, first: IntArray, vector: IntArray
) -> tuple[IntArray, BoolArray]:
    """Number of groups nearest to each distinct vector, and mask of the records whose own group is one of them.

    Returns
    -------
    ties : int array, shape (u,)
        1 for vectors of which no record's own group is nearest.
    nearest : bool array, shape (n,)

    Notes
    -----
    With x = (x_d, x_s) and c = (c_d, c_s) for the dense and the sparse axes, ``|x - c|^2 = |x_d - c_d|^2 + |c_s|^2 + |x_s|^2
    - 2 x_s.c_s``. A KD-tree of ``(c_d, |c_s|)`` finds the nearest groups as if all products were 0. Groups with a product over 0
    share a rare node with x and are compared one by one. Exact; distances within `TIE_TOLERANCE` are ties. Cost: that of a
    KD-tree of few axes, and O(pairs of a vector and a group with a rare node in common). With v equally frequent values these are
    u/v times the number of groups that hold a value, summed over the values; not v times the number of all groups.
    """
    vectors = points.take(first)
    constant = _norms(vectors.sparse)
    places = np.column_stack([centres.dense, np.sqrt(_norms(centres.sparse))])
    tree = scipy.spatial.cKDTree(places, balanced_tree=False, compact_nodes=False)
    start = np.column_stack([vectors.dense, np.zeros(len(first))])
    least = np.sqrt(tree.query(start)[0] ** 2 + constant)
    pairs = _closest_pairs(vectors, centres, least)
    np.minimum.at(least, pairs.vector, pairs.distance)

    nearest = points.distances(centres.take(group)) <= least[vector] + TIE_TOLERANCE
    searched = np.unique(vector[nearest])
    radius = np.sqrt(np.maximum((least + TIE_TOLERANCE) ** 2 - constant, 0))
    ties = np.ones(len(first), dtype=np.int64)
    ties[searched] = tree.query_ball_point(start[searched], radius[searched], return_length=True)
    # The tree counts a pair with a rare node in common as if its product were 0: replace that by the true comparison.
    in_tree = np.sqrt(_squares(start[pairs.vector] - places[pairs.group])) <= radius[pairs.vector]
    in_truth = pairs.distance <= least[pairs.vector] + TIE_TOLERANCE
    np.add.at(ties, pairs.vector, in_truth.astype(np.int64) - in_tree)
    return np.where(np.isin(np.arange(len(first)), searched), ties, 1), nearest


class _Pairs(NamedTuple):
    """Vectors and groups with a rare node in common, and their distances."""

    vector: IntArray
    group: IntArray
    distance: FloatArray


def _closest_pairs(vectors: Points, centres: Points, least: FloatArray) -> _Pairs:
    """Pairs at the least distance of their vector, within the rounding error."""
    holders = np.bincount(centres.sparse.indices, minlength=centres.sparse.shape[1]).astype(np.float64)
    batch = np.cumsum((vectors.sparse != 0) @ holders) // PAIRS_PER_BATCH
    closest = [_Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    norms = _norms(centres.sparse)
    for rows in np.split(np.arange(len(least)), np.flatnonzero(np.diff(batch)) + 1):
        part = vectors.take(rows)
        product = (part.sparse @ centres.sparse.T).tocoo()
        row, group = product.coords
        squared = _squares(part.dense[row] - centres.dense[group])
        squared += norms[group] + _norms(part.sparse)[row] - 2 * product.data
        best = least[rows] ** 2
        np.minimum.at(best, row, squared)
        close = squared <= best[row] + SQUARED_DISTANCE_ERROR
        row, group = row[close], group[close]
        closest.append(_Pairs(rows[row], group.astype(np.int64), part.take(row).distances(centres.take(group))))
    return _Pairs(*map(np.concatenate, zip(*closest, strict=True)))


def _rows(columns: IntArray, entries: FloatArray, number: int) -> "scipy.sparse.csr_array":
    """Sparse array with one entry per row."""
    return scipy.sparse.csr_array((entries, columns, np.arange(len(columns) + 1)), shape=(len(columns), number))


def _squares(rows: FloatArray) -> FloatArray:
    return np.asarray((rows**2).sum(axis=1))


def _norms(rows: "scipy.sparse.csr_array") -> FloatArray:
    return np.asarray(rows.power(2).sum(axis=1)).ravel()
