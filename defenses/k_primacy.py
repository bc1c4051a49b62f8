"""k-anonymity-primacy: groups of k near records within clusters of similar priors, made beta-like by swaps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from foreknow.defenses.algorithms.clustering import Cluster, ClusterGrouping, ClusteringDefense
from foreknow.defenses.algorithms.group_index import (
    GroupLimits,
    Partition,
    join_nearest,
    move_record,
    partition_of,
    squared_distance_within,
)
from foreknow.defenses.requirements.closeness import BetaLikeness
from foreknow.defenses.requirements.diversity import KAnonymity
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, GroupPredicate, all_of
from foreknow.defenses.requirements.summary import TableCounts
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.tables.distance import Scale, scale, squared_distance


@dataclass(frozen=True)
class KPrimacy(ClusteringDefense):
    """Clusters of records with similar priors; in each cluster, groups of k near records that are made beta-like.

    1. Records are clustered so that the priors of any two members of a cluster diverge by at most j (`prior_clusters`).
       Clusters of fewer than k records are suppressed.
    2. Within a cluster, the first remaining record along `nearest_point_order` is grouped with the k - 1 nearest remaining ones.
       The excess of a value is its share less its limit. While the group is not beta-like, the next nearest record replaces a
       member: of the value for which the largest excess becomes smallest, the farthest. If no replacement reduces the largest
       excess, the record is added; if that does not reduce it either, the record is skipped.
    3. A group that does not become beta-like joins, as a whole, the group with the nearest centroid that is beta-like with it.
       The records of groups that find none, and the last fewer than k records, join the nearest group that stays beta-like, one
       by one, or are suppressed.

    Parameters
    ----------
    k : int
        Least number of records of a group.
    beta : float
        Largest relative gain of a value's share, as in `BetaLikeness` (enhanced).
    j : float
        Largest Jensen-Shannon divergence of the priors of any two members, in units of ``base``.
    base : float
        Base of the divergence's logarithm, above 1.
    judged : {"published", "view"}
        Table against whose distribution of values the published groups are beta-like. With ``"published"``, a group that fails
        against the published table is merged with a neighbour of its cluster.
    tolerance : float
        Priors within this divergence of another one, in units of ``base``, are clustered together with it; at most ``j / 4``
        (`prior_clusters`). Large views need it: with 0, at most 30,000 distinct priors can be clustered.

    Notes
    -----
    Amiri, Yazdani, Shakery, Chinaei, Knowledge-Based Systems 101 (2016), "k-anonymity-primacy". Stage 1 is that of the paper.
    **Stages 2 and 3 are a reconstruction**: only their outline is known (clusters first; in each, k-anonymity and then
    beta-likeness). The steps are those of Soria-Comas et al. (TKDE 2015), "k-anonymity first", with beta-likeness for
    t-closeness. Results of this class do not apply to the authors' program.

    Cost: O(u^2 m) for u distinct prior rows, or what ``tolerance`` leaves of them, and O(n (n + u d) / k) for the groups of a
    cluster of n records with u distinct vectors of quasi-identifiers.

    Examples
    --------
    >>> KPrimacy(3, 1.0, 0.6).requirement
    KAnonymity(k=3) & BetaLikeness(beta=1.0)
    """

    k: int
    beta: float
    j: float
    base: float = 2.0
    judged: Literal["published", "view"] = "published"
    tolerance: float = 0.0

    @property
    def requirement(self) -> GroupPredicate:
        """Requirement that every group satisfies, apart from being of one cluster."""
        return all_of(KAnonymity(self.k), BetaLikeness(self.beta))

    def _limits(self, table: TableCounts) -> GroupLimits:
        """Largest beta-like shares: ``p (1 + min(beta, -ln p))``, with the tolerance of `BetaLikeness`."""
        share = table.shares
        gain = np.minimum(self.beta, -np.log(np.where(share > 0, share, 1.0)))
        return GroupLimits(int(self.k), share, np.inf, share * (1 + gain + LEVEL_TOLERANCE))

    def _group_cluster(self, requirement: GroupPredicate, cluster: Cluster) -> ClusterGrouping:  # noqa: ARG002
        """Steps 2 and 3."""
        values, limits = cluster.records.counts.argmax(axis=1), self._limits(cluster.records.table)
        codes, lengths = cluster.people.quasi_identifiers, scale(cluster.people.schema)
        return primacy_groups(codes, lengths, cluster.points, values, cluster.order, limits), []


SKIP, ADD = -1, -2
"""Changes of a group by a record, other than to replace a record of a value (0 to m - 1): none, or to add it."""


def primacy_groups(
    codes: FloatArray,  # (n, d): quasi-identifiers
    scale: Scale,  # scale of their distances
    points: FloatArray,  # (n, D): coordinates with the same distances, for centroids
    values: IntArray,  # (n,): sensitive codes
    order: IntArray,  # (n,): order in which records become seeds
    limits: GroupLimits,  # least number of records, k, and largest shares
) -> IntArray:
    """Group a cluster's records, k near ones at a time, so that each group keeps the limits.

    Return an int array of shape (n,): group of each record, 0 to g - 1; -1 if no group may take it.

    A reconstruction, see `KPrimacy`. Cost: O(n (n + u d) / k) for u distinct vectors of quasi-identifiers, and O(n) for each
    change of a group.
    """
    distinct, code_of = np.unique(codes, axis=0, return_inverse=True)
    labels, failed = _seeded_groups(distinct, code_of.reshape(-1), scale, values, order, limits)
    if not (labels >= 0).any():
        return labels
    partition = partition_of(points, values, labels, len(limits.share))
    for number in range(int(failed.max(initial=-1)) + 1):
        _merge_with_nearest(partition, np.flatnonzero(failed == number), limits)
    join_nearest(partition, order[labels[order] < 0], limits)
    return labels


@compiled
def _seeded_groups(
    codes: FloatArray, code_of: IntArray, scale: Scale, values: IntArray, order: IntArray, limits: GroupLimits
) -> tuple[IntArray, IntArray]:
    """Group of each record, and the failed group it is in, which does not keep the limits; -1 for none.

    ``codes`` are the distinct vectors of quasi-identifiers, and ``code_of`` is the vector of each record.
    """
    n, k = len(order), limits.smallest
    labels, failed = np.full(n, -1), np.full(n, -1)
    free, distance = np.ones(n, dtype=np.bool_), np.empty(n)
    groups = failures = 0
    left = np.sort(order)
    for seed in order:
        if not free[seed]:
            continue
        left = left[free[left]]
        if len(left) < k:
            break
        _distances(codes, code_of, scale, seed, left, distance)
        members = _nearest(left, distance, k)
        free[members] = False
        members, keeps = _improve(members, left, distance, free, values, limits)
        if keeps:
            labels[members] = groups
            groups += 1
        else:
            failed[members] = failures
            failures += 1
    return labels, failed


@compiled
def _distances(
    codes: FloatArray, code_of: IntArray, scale: Scale, seed: int, left: IntArray, distance: FloatArray
) -> None:
    """Write the squared distances of remaining records from a seed, which are computed once for each distinct vector.

    The seed gets -1, so that it is nearer than records with equal quasi-identifiers.
    """
    of_code = np.empty(len(codes))
    for code in range(len(codes)):
        of_code[code] = squared_distance(scale, codes[code_of[seed]], codes[code])
    for row in left:
        distance[row] = of_code[code_of[row]]
    distance[seed] = -1.0


@compiled
def _nearest(left: IntArray, distance: FloatArray, k: int) -> IntArray:
    """The k nearest records, nearest first, by insertion; ties go to the lowest row, as ``left`` is sorted."""
    nearest = np.full(k, -1)
    count = 0
    for row in left:
        if count == k and distance[row] >= distance[nearest[k - 1]]:
            continue
        place = min(count, k - 1)
        while place > 0 and distance[row] < distance[nearest[place - 1]]:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place] = row
        count = min(count + 1, k)
    return nearest


@compiled
def _improve(
    members: IntArray, left: IntArray, distance: FloatArray, free: BoolArray, values: IntArray, limits: GroupLimits
) -> tuple[IntArray, bool]:
    """Swap or add the next nearest records while this reduces the largest excess; True if none remains."""
    counts = np.zeros(len(limits.share), dtype=np.int64)
    for row in members:
        counts[values[row]] += 1
    last = members[-1]
    while largest_excess(counts, len(members), limits.share) > 0.0:
        change = best_changes(counts, len(members), limits.share)
        last = _next_useful(left, distance, free, values, change, last)
        if last < 0:
            return members, False
        value = values[last]
        if change[value] == ADD:
            members = np.append(members, last)
        else:
            place = _farthest(members, distance, values, change[value])
            free[members[place]] = True
            counts[change[value]] -= 1
            members[place] = last
        free[last] = False
        counts[value] += 1
    return members, True


@compiled
def largest_excess(counts: IntArray, size: int, share: FloatArray) -> float:
    """Largest excess of a value's share over its limit; 0 if there is none."""
    most = 0.0
    for s in range(len(counts)):
        most = max(most, counts[s] / size - share[s])
    return most


@compiled
def best_changes(counts: IntArray, size: int, share: FloatArray) -> IntArray:
    """Change of a group by a record of each value: the value it replaces, `ADD` or `SKIP`; shape ``(m,)``.

    The replacement with the smallest excess is chosen; ties go to the lowest value. If no replacement reduces the excess, the
    record is added if that does.
    """
    now = largest_excess(counts, size, share)
    change = np.full(len(counts), SKIP)
    for s in range(len(counts)):
        counts[s] += 1
        change[s] = _best_replacement(counts, size, share, s, now)
        if change[s] == SKIP and largest_excess(counts, size + 1, share) < now:
            change[s] = ADD
        counts[s] -= 1
    return change


@compiled
def _best_replacement(counts: IntArray, size: int, share: FloatArray, added: int, now: float) -> int:
    """The value whose removal reduces the excess most, given counts with one record added, or `SKIP`."""
    least, best = now, SKIP
    for other in range(len(counts)):
        if other != added and counts[other] > 0:
            counts[other] -= 1
            after = largest_excess(counts, size, share)
            counts[other] += 1
            if after < least:
                least, best = after, other
    return best


@compiled
def _next_useful(
    left: IntArray, distance: FloatArray, free: BoolArray, values: IntArray, change: IntArray, last: int
) -> int:
    """The nearest free record beyond the last one, by distance and then row, that changes the group, or -1."""
    nearest = -1
    for row in left:
        is_beyond = distance[row] > distance[last] or (distance[row] == distance[last] and row > last)
        is_useful = free[row] and is_beyond and change[values[row]] != SKIP
        if is_useful and (nearest < 0 or distance[row] < distance[nearest]):
            nearest = row
    return nearest


@compiled
def _farthest(members: IntArray, distance: FloatArray, values: IntArray, value: int) -> int:
    """Place of the farthest member with a value; ties go to the highest row."""
    farthest = -1
    for i in range(len(members)):
        if values[members[i]] == value:
            is_farther = farthest < 0 or distance[members[i]] > distance[members[farthest]]
            if is_farther or (distance[members[i]] == distance[members[farthest]] and members[i] > members[farthest]):
                farthest = i
    return farthest


@compiled
def _merge_with_nearest(partition: Partition, rows: IntArray, limits: GroupLimits) -> None:
    """Put records together into the group with the nearest centroid that keeps the limits with them, if there is one."""
    groups = partition.groups
    centroid = np.zeros(partition.points.shape[1])
    for row in rows:
        centroid += partition.points[row] / len(rows)
    best, nearest = np.inf, -1
    for group in range(len(groups.size)):
        distance = squared_distance_within(centroid, groups.centroids[group], best)
        if distance < best:
            counts = groups.counts[group].copy()
            for row in rows:
                counts[partition.values[row]] += 1
            if largest_excess(counts, groups.size[group] + len(rows), limits.share) <= 0.0:
                best, nearest = distance, group
    if nearest >= 0:
        for row in rows:
            move_record(partition, row, nearest)
