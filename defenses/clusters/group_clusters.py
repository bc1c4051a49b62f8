"""Grouping of each cluster on its own, shared by UHRA and k-anonymity-primacy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from foreknow.defenses.growing.enforce_on_published import enforce_on_published
from foreknow.defenses.growing.nearest_point import nearest_point_order
from foreknow.defenses.requirements.member_predicate import members_of
from foreknow.defenses.requirements.requirement import GroupPredicate, Sense
from foreknow.defenses.requirements.summary import Summary, summarize_records
from foreknow.models import Grouping, People, View
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.notes import Note
from foreknow.models.settings import MAX_FLOAT, check_choice, check_range, is_number
from foreknow.models.tables.distance import points


@dataclass(frozen=True, eq=False)
class Cluster:
    """Records of one cluster, at least k.

    Attributes
    ----------
    records : Summary
        Each record as a group of its own; its ``table`` is the view.
    people : People
        The respondents.
    points : float array, shape (n, D)
        Coordinates of the records, by `foreknow.models.tables.distance.points`.
    order : int array, shape (n,)
        The records in `nearest_point_order`.
    """

    records: Summary
    people: People
    points: FloatArray
    order: IntArray


type ClusterGrouping = tuple[IntArray, Sequence[str]]
"""Group of each record within its cluster, 0 to g - 1 or -1, and notes."""


def check_cluster_settings(owner: str, j: Any, base: Any, judged: Any, tolerance: Any) -> None:
    """Raise ValueError if a setting of clustering or of the final check is out of its range."""
    check_range(owner, "j", j, 0, what="a divergence")
    if not (is_number(base, 1, MAX_FLOAT) and base > 1):
        raise ValueError(f"{owner}: base is {base!r}; it is the base of a logarithm, a finite number above 1.")
    if not is_number(tolerance, 0, float(j) / 4):
        raise ValueError(f"{owner}: tolerance is {tolerance!r}; it is a divergence from 0 to j / 4 = {j / 4:g}.")
    check_choice(owner, "judged", judged, ("published", "view"))


def group_clusters(
    view: View,
    prior: FloatArray,
    cluster: IntArray,
    k: int,
    requirement: GroupPredicate,
    group_cluster: Callable[[Cluster], ClusterGrouping],
    enforced_on_published: bool,
) -> Grouping:
    """Group each cluster of at least k records on its own, and suppress the records of all others.

    Parameters
    ----------
    view : View
    prior : float array, shape (n, m)
    cluster : int array, shape (n,)
        Cluster of each record, by `prior_clusters`.
    k : int
        Least number of records of a cluster.
    requirement : GroupPredicate
        Requirement that every group satisfies.
    group_cluster : callable
        Groups one cluster.
    enforced_on_published : bool
        If True, groups that fail against the published table are merged within their cluster (`enforce_on_published`).
    """
    records = summarize_records(view, prior, requirement.reads_members or enforced_on_published)
    summaries = records if requirement.reads_members else replace(records, members=None)
    coordinates = points(view.people)
    labels = np.full(len(view), -1, dtype=np.int64)
    size = np.bincount(cluster)
    order: list[IntArray] = []
    notes: list[str] = []
    for rows in np.split(np.argsort(cluster, kind="stable"), np.cumsum(size)[:-1]):
        if len(rows) < k:
            order.append(rows)
            continue
        people = view.people[rows]
        along = nearest_point_order(people)
        within, more = group_cluster(Cluster(summaries[rows], people, coordinates[rows], along))
        labels[rows] = np.where(within >= 0, within + labels.max() + 1, -1)
        order.append(rows[along])
        notes += more
    notes += _suppression_notes(labels, int(size[size < k].sum()), k)
    if enforced_on_published:
        rank = np.empty(len(view), dtype=np.int64)
        rank[np.concatenate(order)] = np.arange(len(view))
        labels, more = enforce_on_published(records, labels, rank, requirement & WithinCluster(cluster))
        notes += more
    return Grouping(labels, notes=tuple(notes))


def _suppression_notes(labels: IntArray, in_small_clusters: int, k: int) -> list[Note]:
    others = int((labels < 0).sum()) - in_small_clusters
    small = "{records:,} {records:record|records} of clusters of fewer than {k} {records:is|are} suppressed."
    unfit = "{records:,} {records:record fits|records fit} no group of their cluster and {records:is|are} suppressed."
    return [
        *([Note(small, records=in_small_clusters, k=str(k))] if in_small_clusters else []),
        *([Note(unfit, records=others)] if others else []),
    ]


@dataclass(frozen=True, eq=False)
class WithinCluster(GroupPredicate):
    """All members of a group are of one cluster, so that merging groups keeps their priors within j of each other.

    Parameters
    ----------
    cluster : int array, shape (n,)
        Cluster of each record.
    """

    cluster: IntArray

    sense: ClassVar[Sense] = "at most"
    bound: ClassVar[float] = 0.0
    reads_prior: ClassVar[bool] = False
    reads_members: ClassVar[bool] = True

    def level(self, summary: Summary) -> FloatArray:
        """Largest difference between the numbers of the members' clusters: 0 if all are of one cluster."""
        members = members_of(self, summary)
        cluster, starts = self.cluster[members.records], members.starts[:-1]
        difference = np.maximum.reduceat(cluster, starts) - np.minimum.reduceat(cluster, starts)
        return np.asarray(difference, dtype=np.float64)
