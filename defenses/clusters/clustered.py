"""What UHRA and k-anonymity-primacy share: clusters by beliefs, groups within each, groups judged as published."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from foreknow.defenses.clusters.clustering import WithinCluster
from foreknow.defenses.growing.enforce_on_published import enforce_on_published
from foreknow.defenses.growing.nearest_point import nearest_point_order
from foreknow.defenses.requirements.requirement import GroupPredicate
from foreknow.defenses.requirements.summary import Summary, summarize_records
from foreknow.models import Grouping, People, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.distance import points


@dataclass(frozen=True, eq=False)
class Cluster:
    """The records of one cluster, of k or more.

    Attributes
    ----------
    records : Summary
        Every record as a group of its own; its ``whole`` is the view.
    people : People
        Their respondents.
    points : float array, shape (n, D)
        Where they lie, by `foreknow.models.tables.distance.points`.
    order : int array, shape (n,)
        The records in the order of nearest point next.
    """

    records: Summary
    people: People
    points: FloatArray
    order: IntArray


type Grouped = tuple[IntArray, list[str]]
"""Each record's group within its cluster, 0 to g - 1 or -1, and notes."""


def check_clustered(owner: str, j: float, base: float, judged: str, tolerance: float) -> None:
    """Raise ValueError unless the settings of clustering and judging are in their ranges."""
    if not j >= 0:
        raise ValueError(f"{owner}: j is {j}; it is a divergence, 0 or more.")
    if not base > 1:
        raise ValueError(f"{owner}: the logarithm's base is {base}; it must be above 1.")
    if not 0 <= tolerance <= j / 4:
        raise ValueError(f"{owner}: tolerance is {tolerance}; it is a divergence from 0 to j / 4 = {j / 4:g}.")
    if judged not in ("published", "view"):
        raise ValueError(f"{owner}: judged is {judged!r}; it is 'published' or 'view'.")


def group_clusters(
    view: View,
    prior: FloatArray,
    cluster: IntArray,
    k: int,
    requirement: GroupPredicate,
    grouped: Callable[[Cluster], Grouped],
    settled: bool,
) -> Grouping:
    """Group each cluster of at least k records on its own, and suppress all others.

    Parameters
    ----------
    view : View
    prior : float array, shape (n, m)
    cluster : int array, shape (n,)
        Each record's cluster, by `prior_clusters`.
    k : int
        The fewest records of a cluster.
    requirement : GroupPredicate
        What every group must satisfy.
    grouped : callable
        How a cluster is grouped.
    settled : bool
        Whether groups are made to satisfy against the published table in the end, by merging them within their cluster.
    """
    records = summarize_records(view, prior, requirement.reads_members or settled)
    asked = records if requirement.reads_members else replace(records, members=None)
    place = points(view.people)
    labels = np.full(len(view), -1, dtype=np.int64)
    size = np.bincount(cluster)
    order: list[IntArray] = []
    notes: list[str] = []
    members = np.split(np.argsort(cluster, kind="stable"), np.cumsum(size)[:-1])
    for number, rows in enumerate(members):
        if size[number] >= k:
            people = view.people[rows]
            along = nearest_point_order(people)
            found, more = grouped(Cluster(asked[rows], people, place[rows], along))
            labels[rows] = np.where(found >= 0, found + labels.max() + 1, -1)
            rows = rows[along]
            notes += more
        order.append(rows)
    few = int(size[size < k].sum())
    if few:
        notes.append(f"{few} records of clusters of fewer than {k} are suppressed.")
    if (labels < 0).sum() > few:
        notes.append(f"{int((labels < 0).sum()) - few} records fit no group of their cluster and are suppressed.")
    if settled:
        rank = np.empty(len(view), dtype=np.int64)
        rank[np.concatenate(order)] = np.arange(len(view))
        labels, more = enforce_on_published(records, labels, rank, requirement & WithinCluster(cluster))
        notes += more
    return Grouping(labels, notes=tuple(notes))
