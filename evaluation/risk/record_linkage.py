"""Record linkage: probability that an adversary with the original quasi-identifiers links records with their groups."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
import scipy

from foreknow.evaluation.arguments import check_releases
from foreknow.evaluation.boxes import published_hulls
from foreknow.evaluation.release_table import release_table
from foreknow.evaluation.risk.nearest_groups import Points, nearest_groups, points_of
from foreknow.models import Categorical, People, Release
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_choice

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

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If ``representative`` is neither of the two.

    Notes
    -----
    J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez, S. Martínez, t-Closeness through microaggregation, IEEE TKDE 27(11), 2015.
    Cost: that of `foreknow.evaluation.risk.nearest_groups`, once per distinct vector of quasi-identifiers; with ``"midpoint"``
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
