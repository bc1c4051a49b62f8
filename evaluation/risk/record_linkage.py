"""How many records an intruder links with their groups, who knows the original quasi-identifiers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack

from foreknow.evaluation.boxes import published_hulls
from foreknow.evaluation.risk.nearest_groups import Points, nearest_groups, points_of
from foreknow.evaluation.several import several
from foreknow.models import Categorical, People, Release
from foreknow.models.arrays import FloatArray

type Representative = Literal["centroid", "midpoint"]
"""Where a group stands."""


def record_linkage(releases: Iterable[Release], representative: Representative = "centroid") -> pd.DataFrame:
    """The probability of linking a record with its group: ``1/|E|`` if its own group E is the nearest, else 0.

    The distance is the Euclidean one of `foreknow.models.tables.distance`, hierarchies included, between an original record and a
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
    Cost: that of `foreknow.evaluation.risk.nearest_groups`, once per distinct vector of quasi-identifiers; with ``"midpoint"``,
    where most values are under one label, O(groups values) as well.
    """
    rows = []
    for release in several("record_linkage", releases):
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
        where = points_of(people, people)
        centres = where.means(group, release.groups) if representative == "centroid" else _midpoints(release, people)
        ties, nearest = nearest_groups(where, group, centres, first, which.ravel())
    size = release.counts.sum(axis=1)[group]
    probability[kept] = np.where(nearest, 1.0 / (ties[which.ravel()] * size), 0.0)
    return probability


def _midpoints(release: Release, people: People) -> Points:
    """The middle of what each group publishes, on the axes of some people."""
    hull = published_hulls(release)
    middles = [
        _middle(_column(people, name, people.quasi_identifiers[:, a]), hull.low[:, a], hull.high[:, a])
        for a, name in enumerate(people.schema.quasi_identifiers)
    ]
    sparse = hstack([middle.sparse for middle in middles], format="csr")
    return Points(np.hstack([middle.dense for middle in middles]), csr_array(sparse))


def _middle(people: People, low: FloatArray, high: FloatArray) -> Points:
    """The middle of each group's interval or label in the only attribute of some people: the mean of all values under it."""
    ((name, kind),) = people.schema.quasi_identifiers.items()
    if not isinstance(kind, Categorical):
        return points_of(_column(people, name, (low + high) / 2), people)
    values = points_of(_column(people, name, np.arange(len(kind.values), dtype=np.float64)), people)
    sizes = (high - low).astype(np.int64) + 1
    ends = np.cumsum(sizes)
    codes = np.arange(ends[-1]) - np.repeat(ends - sizes - low.astype(np.int64), sizes)
    under = csr_array((np.repeat(1 / sizes, sizes), codes, np.append(0, ends)), shape=(len(sizes), len(kind.values)))
    return Points(np.asarray(under @ values.dense), csr_array(under @ values.sparse))


def _column(people: People, name: str, codes: FloatArray) -> People:
    """Nameless people known by one attribute, of the same schema."""
    schema = replace(people.schema, quasi_identifiers={name: people.schema.quasi_identifiers[name]})
    return People(np.arange(len(codes), dtype=object), codes[:, None], schema)
