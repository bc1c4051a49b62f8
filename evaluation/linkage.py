"""How many records an intruder links with their groups, who knows the original quasi-identifiers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from foreknow.evaluation.boxes import published_hulls
from foreknow.models import Categorical, Numeric, People, Release
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.distance import points
from foreknow.models.generalization import Hulls
from foreknow.models.members import group_sums

type Representative = Literal["centroid", "midpoint"]
"""Where a group stands."""

TIE = 1e-10
"""Distances that differ by less, in widths of the domain, are equal; rounding of centroids lies far below."""


def record_linkage(releases: Iterable[Release], representative: Representative = "centroid") -> pd.DataFrame:
    """The probability of linking a record with its group: ``1/|E|`` if its own group E is the nearest, else 0.

    The distance is the Euclidean one of `foreknow.models.distance`, hierarchies included, between an original record and a
    group's representative. Of g groups equally near, one is picked at random, ``1/(g |E|)``: a rule of ours, the papers
    have none. A bucketized release shows quasi-identifiers as they are, so that the nearest groups are those that show the
    record's own. A suppressed record is an original that links with nothing, and counts with 0; counterfeits are never
    linked, but are rows of their group E, and an intruder may pick one.

    Parameters
    ----------
    releases : iterable of Release
        What was published.
    representative : {"centroid", "midpoint"}
        The mean of the members' points, as in microaggregation; or the middle of what is published, which a reader of a
        generalized release knows: of an interval its middle, of a label the mean of all values under it.

    Returns
    -------
    DataFrame
        Columns ``time``; ``sum`` over the records (BayFrame, Equation 7), which is the number of groups if every record is
        linked right; ``mean``, that sum over the number of records (Soria-Comas et al., 2015; UHRA, Equation 4);
        ``linked``, the records whose own group is among the nearest; ``records`` (of the view), ``suppressed``.

    Notes
    -----
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez, S. Martínez, t-Closeness through microaggregation, IEEE TKDE 27(11), 2015.
    Cost: that of a KD-tree of the groups, asked once per distinct vector of quasi-identifiers.
    """
    rows = []
    for release in releases:
        probability = linkage_probability(release, representative)
        rows.append(
            {
                "time": release.time,
                "sum": float(probability.sum()),
                "mean": float(probability.mean()),
                "linked": int((probability > 0).sum()),
                "records": len(release.view),
                "suppressed": int((release.group < 0).sum()),
            }
        )
    return pd.DataFrame(rows)


def linkage_probability(release: Release, representative: Representative = "centroid") -> FloatArray:
    """The probability with which each record is linked with its group, as `record_linkage` has it: shape ``(n,)``."""
    if representative not in ("centroid", "midpoint"):
        raise ValueError(f'representative is {representative!r}; a group stands at its "centroid" or its "midpoint".')
    probability = np.zeros(len(release.view))
    kept = np.flatnonzero(release.group >= 0)
    if not len(kept):
        return probability
    people, group = release.view.people[kept], release.group[kept]
    vectors, first, which = np.unique(people.quasi_identifiers, axis=0, return_index=True, return_inverse=True)
    if release.bucketized:
        pairs = np.unique(np.column_stack([which.ravel(), group]), axis=0)
        ties, nearest = np.bincount(pairs[:, 0], minlength=len(vectors)), np.ones(len(kept), dtype=bool)
    else:
        where = points(people)
        centres = _centroids(where, group, release.groups) if representative == "centroid" else _midpoints(release)
        ties, nearest = _nearest(where, group, centres, first, which.ravel())
    size = release.counts.sum(axis=1)[group]
    probability[kept] = np.where(nearest, 1.0 / (ties[which.ravel()] * size), 0.0)
    return probability


def _nearest(
    where: FloatArray, group: IntArray, centres: FloatArray, first: IntArray, which: IntArray
) -> tuple[IntArray, BoolArray]:
    """How many groups are nearest to each distinct vector, and of which records the own group is one of them."""
    tree = cKDTree(centres, balanced_tree=False, compact_nodes=False)
    least, _ = tree.query(where[first])
    own = np.sqrt(((where - centres[group]) ** 2).sum(axis=1))
    nearest = own <= least[which] + TIE
    asked = np.unique(which[nearest])
    ties = np.ones(len(first), dtype=np.int64)
    ties[asked] = tree.query_ball_point(where[first][asked], least[asked] + TIE, return_length=True)
    return ties, nearest


def _centroids(where: FloatArray, group: IntArray, groups: int) -> FloatArray:
    return np.asarray(group_sums(where, group, groups) / np.bincount(group, minlength=groups)[:, None])


def _midpoints(release: Release) -> FloatArray:
    people, hull = release.view.people, published_hulls(release)
    kinds = people.schema.quasi_identifiers.items()
    return np.hstack([_middle(people, name, kind, hull, a) for a, (name, kind) in enumerate(kinds)])


def _middle(people: People, name: str, kind: Numeric | Categorical, hull: Hulls, a: int) -> FloatArray:
    """The middle of what each group publishes in one attribute, in that attribute's axes."""
    schema = replace(people.schema, quasi_identifiers={name: kind})
    low, high = hull.low[:, a], hull.high[:, a]
    if isinstance(kind, Numeric):
        return points(People(people.respondents[:0], ((low + high) / 2)[:, None], schema))
    codes = np.arange(len(kind.values), dtype=np.float64)[:, None]
    so_far = np.pad(np.cumsum(points(People(people.respondents[:0], codes, schema)), axis=0), ((1, 0), (0, 0)))
    return np.asarray((so_far[high.astype(int) + 1] - so_far[low.astype(int)]) / (high - low + 1)[:, None])
