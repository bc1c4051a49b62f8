"""Clusters of records with similar priors, and groups of near records within them."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import scipy

from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.defenses.algorithms.ordered_growth import enforce_on_published
from foreknow.defenses.publish import READS, SizedDefense
from foreknow.defenses.requirements.closeness import check_base
from foreknow.defenses.requirements.requirement import (
    LEVEL_TOLERANCE,
    GroupPredicate,
    Requirement,
    Sense,
    members_of,
)
from foreknow.defenses.requirements.summary import LOG_FLOOR, DrawnPrior, Summary, summarize_records
from foreknow.models import Grouping, People, Release, View
from foreknow.models.advice import Advice, Setting, Wording
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.notes import Note
from foreknow.models.problem import jensen_shannon
from foreknow.models.settings import check_choice, check_range
from foreknow.models.tables.distance import points

# Largest number of rows that are clustered: the divergences of all pairs, and a copy of them, take 7.2 GB
MAX_ROWS = 30_000

MIN_SUGGESTED_TOLERANCE = 0.001  # least tolerance that the error on too many distinct rows suggests


def prior_clusters(
    # (n, m): rows are probabilities. With a `DrawnPrior`, the divergence of two records is the mean over its draws, or
    # the largest.
    prior: FloatArray,
    j: float,  # largest divergence, in units of `base`
    base: float = 2.0,  # base of the divergence's logarithm
    # Distinct rows within this divergence of another one, in units of `base`, are clustered together with it; at most
    # `j / 4`. With 0, each distinct row is clustered on its own.
    tolerance: float = 0.0,
) -> IntArray:
    """Clusters of records, such that the priors of any two members diverge by at most j.

    Complete-linkage agglomerative clustering on the pairwise Jensen-Shannon divergence of the prior rows, cut at j: the two
    clusters with the smallest largest divergence between members are merged, repeatedly, while that is at most j.

    Return an int array of shape (n,): cluster of each record, numbered from 0 in the order of first records.

    Amiri et al., Appl. Sci. 13:4091 (2023), Algorithm 1, step 1. The distinct rows are clustered, in lexicographic order, so that
    neither the order of the records nor the number of equal rows matters. Equal rows diverge by 0 and equally from all others;
    clustering all records would merge them first, and then do the same. Pairs of equal divergence are merged in SciPy's order,
    and the clusters may depend on it. Every cluster is within j in any case.

    With a tolerance, distinct rows are first assigned to leaders (`assign_leaders`), and the leaders are clustered. Let r be the
    largest root divergence of a leader's rows from it. The root of the divergence is a metric (Endres, Schindelin, IEEE Trans.
    Inf. Theory 49, 2003). Two leaders therefore get the distance ``(sqrt(JS) + r + r')^2``, which bounds the divergence of any
    two of their rows, so that any two records of a cluster are within j for any tolerance. The clusters equal those without
    tolerance if no two distinct rows are within it. Otherwise they may be other or finer ones: there can be more clusters, and so
    more records in clusters of fewer than k, which UHRA and KPrimacy suppress. Since r is at most ``sqrt(tolerance)`` and a
    leader is itself a row, two clusters stay apart only if two of their leaders have a root divergence over
    ``sqrt(j) - 2 sqrt(tolerance)``.

    Cost: O(u^2 m) time and 8 u^2 bytes for u distinct rows or leaders; O(n m log n) for the distinct rows, and one search of a
    k-d tree for each leader.

    Examples
    --------
    >>> prior_clusters(np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.9, 0.1]]), j=0.1).tolist()
    [0, 1, 0, 0]
    """
    blocks = _blocks(prior)
    rows, row_of = np.unique(np.hstack(blocks), axis=0, return_inverse=True)
    each = np.split(rows, len(blocks), axis=1)
    leaders = assign_leaders(rows, tolerance * math.log2(base), len(blocks))
    count = len(leaders.rows)
    if count > MAX_ROWS:
        raise ValueError(
            Advice(
                f"the prior has {len(rows)} distinct rows, of which {count} are left to cluster at a tolerance of {tolerance:g}, "
                f"and at most {MAX_ROWS} can be. ",
                _way_out(j, tolerance),
            )
        )
    if count == 1:
        return np.zeros(len(prior), dtype=np.int64)
    most = (j + LEVEL_TOLERANCE) * math.log2(base)
    apart = [pairwise_divergence(block[leaders.rows], most + LEVEL_TOLERANCE, leaders.radius) for block in each]
    merges = scipy.cluster.hierarchy.linkage(np.maximum.reduce(apart), method="complete")
    cluster = scipy.cluster.hierarchy.fcluster(merges, most, criterion="distance")[
        leaders.leader_of[row_of.reshape(-1)]
    ]
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def _blocks(prior: FloatArray) -> list[FloatArray]:
    """Distributions whose largest divergence is that of two records: the prior, or what the draws of a `DrawnPrior` give.

    The mean divergence over draws is the divergence of the joint distributions of draw and value.
    """
    if not isinstance(prior, DrawnPrior):
        return [np.asarray(prior)]
    if prior.groups == "worst":
        return prior.counted
    return [np.hstack([weight * draw for weight, draw in zip(prior.weights, prior.draws, strict=True)])]


def _way_out(j: float, tolerance: float) -> str:
    """Advice where too many rows are left: a tolerance five times as large, at most j / 4."""
    coarser = "lower the number of distinct priors by coarser classes of the quasi-identifiers"
    if tolerance >= j / 4:
        return f"The tolerance is at its largest, j / 4: raise j, or {coarser}."
    larger = min(float(f"{max(5 * tolerance, MIN_SUGGESTED_TOLERANCE):.3g}"), j / 4)
    give, rest = Wording("Give the defense ", "Say "), f" (at most j / 4 = {j / 4:g}), or {coarser}."
    return Advice(give, Setting("tolerance", larger), rest)


class Leaders(NamedTuple):
    """Rows that represent rows near them."""

    rows: IntArray  # (l,): the leaders
    leader_of: IntArray  # (u,): place in `rows` of each row's leader
    radius: FloatArray  # (l,): largest root divergence of a leader's rows from it, in root bits


def assign_leaders(rows: FloatArray, tolerance: float, blocks: int = 1) -> Leaders:
    """Leaders of distinct distributions, each of which diverges by at most a tolerance, in bits, from its leader.

    With several ``blocks``, a row holds that many distributions of equal length, and its divergence is the largest of theirs.

    The first row without a leader becomes a leader, of all rows without one in its reach, until every row has a leader. In reach
    are rows within ``sqrt(tolerance)`` in Euclidean distance between roots of probabilities, since
    ``JS(p, q) <= sum (sqrt p - sqrt q)^2`` bits. Cost: one search of a k-d tree for each leader.
    """
    every_row = np.arange(len(rows))
    if tolerance == 0:
        return Leaders(every_row, every_row, np.zeros(len(rows)))
    roots, leader = np.sqrt(rows), np.full(len(rows), -1)
    tree = scipy.spatial.cKDTree(roots)
    for row in every_row:
        if leader[row] < 0:
            near = np.array(tree.query_ball_point(roots[row], math.sqrt(tolerance)))
            leader[near[leader[near] < 0]] = row
    leaders, leader_of = np.unique(leader, return_inverse=True)
    radius = np.zeros(len(leaders))
    for block in np.split(rows, blocks, axis=1):
        np.maximum.at(radius, leader_of, np.sqrt(jensen_shannon(block, block[leader])))
    return Leaders(leaders, leader_of, radius)


def pairwise_divergence(
    rows: FloatArray,  # (u, m): distributions
    most: float = np.inf,  # the limit, in bits
    # (u,), optional: adds to the root divergence: the result is `(sqrt(JS) + r + r')^2`
    radius: FloatArray | None = None,
) -> FloatArray:
    """Jensen-Shannon divergence of each pair of rows, in bits, or a lower bound where that is over a limit.

    ``JS(p, q) = 1 + sum_s (p log p + q log q - (p + q) log(p + q)) / 2``, summed over the values that have positive probability
    in both rows. It is at least ``1 - sum_s sqrt(p q)``, since ``h(x) <= 2 sqrt(x (1 - x))`` bits. A pair whose lower bound is
    over ``most`` gets the bound, which takes no logarithm: complete linkage cut at ``most`` does not distinguish larger numbers.

    Return a float array of shape (u (u - 1) / 2,): condensed, as SciPy takes it.

    Cost: O(u^2 m). `foreknow.models.problem.jensen_shannon` would take most of the u^2 m logarithms for nothing, and allocate
    an array of shape (u, u, m).
    """
    added = np.zeros(len(rows)) if radius is None else radius
    return _pairwise(rows, rows * np.log2(np.maximum(rows, LOG_FLOOR)), np.sqrt(rows), most, added)


@compiled
def _pairwise(rows: FloatArray, weighted: FloatArray, roots: FloatArray, most: float, radius: FloatArray) -> FloatArray:
    n, m = rows.shape
    divergence = np.empty(n * (n - 1) // 2)
    place = 0
    for i in range(n):
        for j in range(i + 1, n):
            # The lower bound 1 - sum_s sqrt(p q), without a logarithm.
            overlap = 0.0
            for s in range(m):
                overlap += roots[i, s] * roots[j, s]
            divergence[place] = 1 - overlap
            if divergence[place] <= most:
                # JS(p, q) = 1 + sum_s (p log p + q log q - (p + q) log(p + q)) / 2
                bits = 2.0
                for s in range(m):
                    if rows[i, s] > 0.0 and rows[j, s] > 0.0:
                        both = rows[i, s] + rows[j, s]
                        bits += weighted[i, s] + weighted[j, s] - both * np.log2(both)
                divergence[place] = max(bits / 2, 0.0)
                if radius[i] + radius[j] > 0.0:
                    divergence[place] = (np.sqrt(divergence[place]) + radius[i] + radius[j]) ** 2
            place += 1
    return divergence


@dataclass(frozen=True, eq=False)
class Cluster:
    """Records of one cluster, at least k."""

    records: Summary  # each record as a group of its own; its `table` is the view
    people: People  # the respondents
    points: FloatArray  # (n, D): coordinates of the records, by `foreknow.models.tables.distance.points`
    order: IntArray  # (n,): the records in `nearest_point_order`


# Group of each record within its cluster, 0 to g - 1 or -1, and notes
type ClusterGrouping = tuple[IntArray, Sequence[str]]


class ClusteringDefense(SizedDefense):
    """Group each cluster of at least k records on its own, and suppress the records of all others."""

    k: int
    j: float
    base: float
    judged: Literal["published", "view"]
    tolerance: float

    reads: ClassVar[tuple[str, ...]] = READS  # the clusters depend on the prior
    ignores: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        owner, tolerance = type(self).__name__, self.tolerance
        check_range(owner, "j", self.j, 0, what="a divergence")
        check_base(owner, self.base)
        check_range(owner, "tolerance", tolerance, 0, float(self.j) / 4, "a divergence of at most j / 4")
        check_choice(owner, "judged", self.judged, ("published", "view"))
        self.requirement  # noqa: B018 - its parts check the other settings

    @property
    @abstractmethod
    def requirement(self) -> Requirement:
        """Requirement that every group satisfies, apart from being of one cluster."""

    @abstractmethod
    def _group_cluster(self, requirement: GroupPredicate, cluster: Cluster) -> ClusterGrouping:
        """Groups of one cluster, by the bound requirement."""

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``; the past releases do not matter."""
        prior = self._checked_prior(view, prior)
        requirement = self.requirement.bind(view, prior)
        cluster, is_enforced = prior_clusters(prior, self.j, self.base, self.tolerance), self.judged == "published"
        records = summarize_records(view, prior, requirement.reads_members or is_enforced)
        summaries = records if requirement.reads_members else replace(records, members=None)
        coordinates, size = points(view.people), np.bincount(cluster)
        labels, order, notes = np.full(len(view), -1, dtype=np.int64), list[IntArray](), list[str]()
        for rows in np.split(np.argsort(cluster, kind="stable"), np.cumsum(size)[:-1]):
            if len(rows) < self.k:
                order.append(rows)
                continue
            people = view.people[rows]
            along = nearest_point_order(people)
            own = Cluster(summaries[rows], people, coordinates[rows], along)
            within, more = self._group_cluster(requirement, own)
            labels[rows] = np.where(within >= 0, within + labels.max() + 1, -1)
            order.append(rows[along])
            notes += more
        in_small = int(size[size < self.k].sum())
        counts = {SMALL_CLUSTERS: in_small, UNFIT: int((labels < 0).sum()) - in_small}
        notes += [Note(kind, records=number, k=str(self.k)) for kind, number in counts.items() if number]
        if is_enforced:
            rank, rule = np.argsort(np.concatenate(order)), requirement & WithinCluster(cluster)
            labels, more = enforce_on_published(records, labels, rank, rule)
            notes += more
        return Grouping(labels, notes=tuple(notes))


SMALL_CLUSTERS = "{records:,} {records:record|records} of clusters of fewer than {k} {records:is|are} suppressed."
UNFIT = "{records:,} {records:record fits|records fit} no group of their cluster and {records:is|are} suppressed."


@dataclass(frozen=True, eq=False)
class WithinCluster(GroupPredicate):
    """All members of a group are of one cluster, so that merging groups keeps their priors within j of each other."""

    cluster: IntArray  # (n,): cluster of each record

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
