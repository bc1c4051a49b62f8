"""UHRA: groups within clusters of similar priors, refined to reduce the distances within groups."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from foreknow.defenses.algorithms.clustering import Cluster, ClusterGrouping, ClusteringDefense
from foreknow.defenses.algorithms.group_index import (
    GroupLimits,
    Partition,
    index_groups,
    join_nearest,
    keeps_limits,
    move_record,
    nearer_groups,
    nearest_group,
    partition_of,
    squared_distance_within,
)
from foreknow.defenses.algorithms.growth import grow
from foreknow.defenses.requirements.closeness import TCloseness
from foreknow.defenses.requirements.diversity import KAnonymity
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, all_of
from foreknow.defenses.requirements.summary import Summary, summarize_groups
from foreknow.models import Hierarchy
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.notes import Note
from foreknow.models.settings import check_whole


class GroupRule(NamedTuple):
    """Conditions that every group keeps."""

    limits: GroupLimits  # the conditions that compiled kernels check
    # A requirement that is evaluated in addition, record by record, if the limits do not express everything
    predicate: GroupPredicate | None = None


@dataclass(frozen=True)
class UHRA(ClusteringDefense):
    """Clusters of records with similar priors; groups grown in each cluster and refined by moves of records.

    1. Records are clustered so that the priors of any two members of a cluster diverge by at most j (`prior_clusters`).
       Clusters of fewer than k records are suppressed.
    2. Within a cluster, groups are grown along `nearest_point_order`, each until it is k-anonymous and t-close. Each leftover
       joins the nearest group that stays so with it, or is suppressed.
    3. Each record of the cluster moves to the nearest group, if both groups stay k-anonymous and t-close, repeatedly until no
       record moves (`refine`).

    Parameters
    ----------
    k : int
        Least number of records of a group.
    t : float
        Largest earth mover's distance of a group's values from the table's.
    j : float
        Largest Jensen-Shannon divergence of the priors of any two members, in units of ``base``.
    base : float
        Base of the divergence's logarithm, above 1.
    distance : "equal", "ordered" or Hierarchy
        Ground distance of t-closeness.
    also : Requirement, optional
        A further requirement of every group, as ``EntropyDiversity(3)``.
    patience : int, optional
        Largest number of records of an unsatisfied group; then its oldest record is set aside and later joins any group that
        may take it. None is the printed rule, under which one group that cannot be satisfied sets aside the rest of its cluster.
    repaired : bool
        If True, records that fit no group of their cluster form one with the fewest nearest groups that make it satisfy, the
        whole cluster at worst. The paper suppresses them, although its Lemma 2 says that a cluster which is t-close as a whole
        can be published; this setting makes that true.
    sweeps : int
        Largest number of sweeps of step 3, none with 0; a note says if records still moved in the last one.
    judged : {"published", "view"}
        Table to whose distribution of values the published groups are close, as in `JSReduce`. With ``"published"``, a group
        that fails against the published table is merged with a neighbour of its cluster.
    tolerance : float
        Priors within this divergence of another one, in units of ``base``, are clustered together with it; at most ``j / 4``
        (`prior_clusters`). Large views need it: with 0, at most 30,000 distinct priors can be clustered.

    Notes
    -----
    Amiri, Khan, Anjum, Syed, Rehman, Appl. Sci. 13:4091 (2023), Algorithms 1 and 2. ``judged="view"`` gives these algorithms,
    with two choices that they leave open. Leftovers join the *nearest* group (theirs: any). A record moves only if that brings it
    nearer by more than rounding, with centroids that follow each move, so that step 3 ends. The paper clusters all records;
    clustering the distinct prior rows gives the same. It states neither the base of the logarithm nor the ground distance.

    Where t hardly binds, as on a binary attribute with t of .5 or more, groups are grown to k records, which none may leave. Then
    step 3 has little effect.

    Cost: O(u^2 m) for u distinct prior rows, or what ``tolerance`` leaves of them; the order; O(n m) to grow groups of bounded
    size; O(n sqrt(g) D) for each sweep (`refine`). ``also``, and distances other than "equal", are evaluated record by record:
    about a millisecond for each record that has a nearer group.

    Examples
    --------
    >>> UHRA(3, 0.5, 0.6).requirement
    KAnonymity(k=3) & TCloseness(t=0.5)
    """

    k: int
    t: float
    j: float
    base: float = 2.0
    distance: "Literal['equal', 'ordered'] | Hierarchy" = "equal"
    also: Requirement | None = None
    patience: int | None = None
    repaired: bool = False
    sweeps: int = 1000
    judged: Literal["published", "view"] = "published"
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        check_whole("UHRA", "sweeps", self.sweeps, "sweeps over all records", 0)
        if self.patience is not None:
            check_whole("UHRA", "patience", self.patience, "records")
        super().__post_init__()

    @property
    def requirement(self) -> Requirement:
        """Requirement that every group satisfies, apart from being of one cluster."""
        extra: tuple[Requirement, ...] = () if self.also is None else (self.also,)
        return all_of(KAnonymity(self.k), TCloseness(self.t, self.distance), *extra)

    def _group_cluster(self, requirement: GroupPredicate, cluster: Cluster) -> ClusterGrouping:
        """Steps 2 and 3. A requirement that limits do not express is a predicate: of the distances only "equal" is a limit."""
        is_equal, table = self.distance == "equal", cluster.records.table.shares
        t, most = float(self.t) if is_equal else np.inf, np.full(len(table), np.inf)
        limits = GroupLimits(int(self.k), table, t, most)
        rule = GroupRule(limits, None if is_equal and self.also is None else requirement)
        labels = utility_groups(
            cluster.records, cluster.points, cluster.order, requirement, rule, self.repaired, self.patience
        )
        refined = refine(cluster.records, cluster.points, labels, rule, int(self.sweeps))
        kind = "records of {clusters:a cluster|clusters with a total size} of {size} still moved after {sweeps} sweeps."
        note = Note(kind, clusters=1, size=len(labels), sweeps=str(self.sweeps))
        return refined.labels, [] if refined.converged or not self.sweeps else [note]


def utility_groups(
    records: Summary,  # each record of a cluster as a group of its own
    points: FloatArray,  # (n, D): coordinates of the records, by `foreknow.models.tables.distance.points`
    order: IntArray,  # (n,): the records, first to last
    requirement: GroupPredicate,  # requirement that every group satisfies
    rule: GroupRule,  # the same requirement, as `refine` reads it
    repaired: bool,  # if True, leftovers that no group may take are merged with the nearest groups (`merge_leftovers`)
    patience: int | None = None,  # largest number of records of an unsatisfied group, as in `grow`
) -> IntArray:
    """Grow groups along an order, and put leftovers, one by one, into the nearest group that may take them.

    Return an int array of shape (n,): group of each record, 0 to g - 1; -1 for leftovers.
    """
    growth = grow(records, order, requirement, patience)
    labels = np.full(len(order), -1, dtype=np.int64)
    for number, members in enumerate(growth.groups):
        labels[members] = number
    labels = place_leftovers(records, points, labels, growth.left, rule)
    return merge_leftovers(records, points, labels, requirement) if repaired else labels


def merge_leftovers(records: Summary, points: FloatArray, labels: IntArray, requirement: GroupPredicate) -> IntArray:
    """Merge all leftovers into one group, with the nearest other groups in turn, until it satisfies.

    Distances are between the centroids of the groups and that of the leftovers; ties go to the lowest group. If all records
    together do not satisfy, the labels are unchanged. So a cluster that satisfies as a whole is published, as one group at worst.
    """
    left = labels < 0
    if not left.any():
        return labels
    trial = summarize_groups(records[left], np.zeros(int(left.sum()), dtype=np.int64))
    if requirement(trial)[0]:
        return np.where(left, labels.max() + 1, labels)
    if left.all():
        return labels
    groups = summarize_groups(records, labels)
    centroids = index_groups(points, records.counts.argmax(axis=1), labels, records.counts.shape[1]).centroids
    merged = np.zeros(len(groups), dtype=bool)
    for group in np.argsort(((centroids - points[left].mean(axis=0)) ** 2).sum(axis=1), kind="stable"):
        trial, merged[group] = trial + groups[int(group)], True
        if requirement(trial)[0]:
            return np.unique(np.where(left | merged[labels], len(groups), labels), return_inverse=True)[1]
    return labels


# Least decrease of a record's squared distance to its centroid for which it moves; it exceeds rounding errors
MIN_DECREASE = 1e-12


class Refined(NamedTuple):
    """Result of the refinement."""

    labels: IntArray  # (n,): group of each record
    sweeps: int  # number of sweeps over all records
    converged: bool  # True if no record moved in the last sweep


class _Clock(NamedTuple):
    """Times of events, as numbers of moves; kept from sweep to sweep.

    A record that was refused by a group is not tried again before that group or its own has changed.
    """

    group_changed: IntArray  # (g,): time of the last change of each group
    record_tried: IntArray  # (n,): time of the last search for each record; -1 before the first


def refine(
    records: Summary,  # each record as a group of its own
    points: FloatArray,  # (n, D): coordinates of the records, by `foreknow.models.tables.distance.points`
    labels: IntArray,  # (n,): group of each record, 0 to g - 1; records with label -1 stay in none
    rule: GroupRule,  # conditions on both groups after a move
    sweeps: int,  # largest number of sweeps
) -> Refined:
    """Move each record to the nearest group, if both groups keep the rule, in sweeps over all records.

    Amiri et al., Appl. Sci. 13:4091 (2023), Algorithm 2, step 2, and equation 1: a group that a record would break is at infinite
    distance from it, and its own group is at distance 0 if it would break without it. The search for the nearest group is
    exact. The paper does not say when centroids are computed, and under its printed rule records may alternate for ever. Here
    centroids follow each move, and a record moves only if its squared distance to the centroid decreases by more than
    `MIN_DECREASE`.

    The sweeps end. Let c be the centroid of the own group A, of a records, and c' that of the other group B, of b records, both
    before the move of x. The sum of the squared distances of all records to their centroids falls by ``a / (a - 1) |x - c|^2`` as
    x leaves A, and rises by ``b / (b + 1) |x - c'|^2`` as it joins B. It falls by more than ``|x - c|^2 - |x - c'|^2``, which
    is more than the margin. The sum is never negative, so that the number of moves is finite.

    Cost of a sweep: O(n (sqrt(g) + m) D) where groups are apart, O(n g D) at most. A predicate is called for each record that has
    a nearer group, unless it was refused before and neither group has changed since.
    """
    labels = labels.copy()
    if not (labels >= 0).any():
        return Refined(labels, sweeps, True)
    values = records.counts.argmax(axis=1)
    clock = _Clock(np.zeros(int(labels.max()) + 1, dtype=np.int64), np.full(len(labels), -1))
    for sweep in range(1, sweeps + 1):
        # The index is made anew: its boxes only grow, and its sums collect rounding errors.
        partition = partition_of(points, values, labels, records.counts.shape[1])
        if rule.predicate is None:
            moved = _sweep(partition, rule.limits)
        else:
            moved = _sweep_with_predicate(records, partition, rule.limits, rule.predicate, clock)
        if not moved:
            return Refined(labels, sweep, True)
    return Refined(labels, sweeps, False)


def place_leftovers(
    records: Summary, points: FloatArray, labels: IntArray, rows: IntArray, rule: GroupRule
) -> IntArray:
    """Labels after some records, one by one, have joined the nearest group that keeps the rule with them, if there is one."""
    labels = labels.copy()
    if not (labels >= 0).any() or not len(rows):
        return labels
    partition = partition_of(points, records.counts.argmax(axis=1), labels, records.counts.shape[1])
    if rule.predicate is None:
        join_nearest(partition, rows, rule.limits)
        return labels
    members = members_by_group(labels)
    for row in rows:
        candidates = nearer_groups(partition.groups, points[row], partition.values[row], rule.limits)
        group = first_accepting_group(records, members, int(row), candidates, rule.predicate)
        if group >= 0:
            members[group].append(int(row))
            move_record(partition, row, group)
    return labels


@compiled
def _sweep(partition: Partition, limits: GroupLimits) -> int:
    """Number of records that moved in one sweep; the partition is changed in place."""
    moved = 0
    for row in range(len(partition.labels)):
        group = _nearer_group(partition, row, limits)
        if group >= 0:
            move_record(partition, row, group)
            moved += 1
    return moved


@compiled
def _nearer_group(partition: Partition, row: int, limits: GroupLimits) -> int:
    """The nearest group to which the limits allow a record to move, or -1."""
    own, point, value = partition.labels[row], partition.points[row], partition.values[row]
    if own < 0 or not keeps_limits(partition.groups, own, value, -1, limits):
        return -1
    return int(nearest_group(partition.groups, point, value, limits, own, _search_limit(partition, row)))


@compiled
def _search_limit(partition: Partition, row: int) -> float:
    """Squared distance to its own centroid, less the margin, below which a group is nearer to a record than its own."""
    own = partition.labels[row]
    return squared_distance_within(partition.points[row], partition.groups.centroids[own], np.inf) - MIN_DECREASE


@compiled
def _first_movable(partition: Partition, limits: GroupLimits, start: int) -> int:
    """The first record, from one on, that the limits allow to move; n if there is none."""
    for row in range(start, len(partition.labels)):
        if _nearer_group(partition, row, limits) >= 0:
            return row
    return len(partition.labels)


def _sweep_with_predicate(
    records: Summary, partition: Partition, limits: GroupLimits, predicate: GroupPredicate, clock: _Clock
) -> int:
    """Number of records that moved in one sweep, where both groups also satisfy a predicate."""
    members, moved, row = members_by_group(partition.labels), 0, _first_movable(partition, limits, 0)
    while row < len(partition.labels):
        own = int(partition.labels[row])
        group = _accepting_group(records, partition, limits, predicate, clock, members, row)
        clock.record_tried[row] = clock.group_changed.max()
        if group >= 0:
            move_record(partition, row, group)
            members[own].remove(row)
            members[group].append(row)
            clock.group_changed[[own, group]] = clock.group_changed.max() + 1
            moved += 1
        row = _first_movable(partition, limits, row + 1)
    return moved


type MemberLists = list[list[int]]  # the records of each group


def _accepting_group(
    records: Summary,
    partition: Partition,
    limits: GroupLimits,
    predicate: GroupPredicate,
    clock: _Clock,
    members: MemberLists,
    row: int,
) -> int:
    """The nearest group that may take a record from its own, or -1."""
    own, point, value = int(partition.labels[row]), partition.points[row], partition.values[row]
    candidates = nearer_groups(partition.groups, point, value, limits, own, _search_limit(partition, row))
    changed = np.maximum(clock.group_changed[candidates], clock.group_changed[own])
    candidates = candidates[changed > clock.record_tried[row]]
    if not len(candidates) or not is_dispensable(records, members[own], row, predicate):
        return -1
    return first_accepting_group(records, members, row, candidates, predicate)


FIRST_BATCH = 8  # number of candidate groups that are evaluated first; each further batch has twice as many

MAX_BATCHES = 40  # largest number of batches, more than any number of groups needs


def members_by_group(labels: IntArray) -> MemberLists:
    """Records of each group 0 to g - 1."""
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)]


def first_accepting_group(
    records: Summary, members: MemberLists, row: int, candidates: IntArray, predicate: GroupPredicate
) -> int:
    """The first of some groups that satisfies a predicate with a further record, or -1.

    Candidates are evaluated in batches of growing size, as most searches end early.
    """
    ends = FIRST_BATCH * (2 ** np.arange(1, MAX_BATCHES) - 1)
    batches = np.split(candidates, ends[ends < len(candidates)]) if len(candidates) else []
    for batch in batches:
        satisfied = predicate(_with_record(records, members, row, batch))
        if satisfied.any():
            return int(batch[satisfied.argmax()])
    return -1


def is_dispensable(records: Summary, members: list[int], row: int, predicate: GroupPredicate) -> bool:
    """Return whether a group satisfies a predicate without one of its members."""
    others = [other for other in members if other != row]
    return bool(predicate(summarize_groups(records[np.array(others)], np.zeros(len(others), dtype=np.int64)))[0])


def _with_record(records: Summary, members: MemberLists, row: int, candidates: IntArray) -> Summary:
    """Summaries of some groups with a further record each."""
    rows = [[*members[group], row] for group in candidates]
    labels = np.repeat(np.arange(len(rows)), [len(group) for group in rows])
    return summarize_groups(records[np.concatenate(rows)], labels)
