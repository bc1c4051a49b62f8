"""UHRA: groups within clusters of similar priors, refined to reduce the distances within groups."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from foreknow.defenses.clusters.clustering import prior_clusters
from foreknow.defenses.clusters.group_clusters import (
    Cluster,
    ClusterGrouping,
    check_cluster_settings,
    group_clusters,
)
from foreknow.defenses.clusters.group_index import GroupLimits
from foreknow.defenses.clusters.refinement import GroupRule, refine
from foreknow.defenses.clusters.utility_groups import utility_groups
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.closeness import TCloseness
from foreknow.defenses.requirements.combinations import all_of
from foreknow.defenses.requirements.feasibility import check_size
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement
from foreknow.defenses.requirements.summary import TableCounts, prior_of
from foreknow.models import Grouping, Hierarchy, Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_flag, check_kind, check_whole


@dataclass(frozen=True)
class UHRA:
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
        Largest number of sweeps of step 3; a note says if records still moved in the last one.
    judged : {"published", "view"}
        Table to whose distribution of values the published groups are close, as in `JSReduce`. With ``"published"``, a group
        that fails against the published table is merged with a neighbour of its cluster.
    tolerance : float
        Priors within this divergence of another one, in units of ``base``, are clustered together with it; at most ``j / 4``.
        Large views need it. Any two members of a cluster still diverge by at most j; clusters may be finer (`prior_clusters`).
        With 0, each distinct prior is clustered on its own, up to 30,000 of them.

    Raises
    ------
    TypeError, ValueError
        If a setting has the wrong type or range; when called, if the prior has more distinct rows than can be clustered at this
        tolerance.
    Infeasible
        When called, if k is larger than the view.

    Notes
    -----
    Amiri, Khan, Anjum, Syed, Rehman, Appl. Sci. 13:4091 (2023), Algorithms 1 and 2. ``judged="view"`` gives these algorithms,
    with two choices that they leave open. Leftovers join the *nearest* group (theirs: any). A record moves only if that brings it
    nearer by more than rounding, with centroids that follow each move, so that step 3 ends. The paper clusters all records;
    clustering the distinct prior rows gives the same. It states neither the base of the logarithm nor the ground distance.

    A group of more than k records was not satisfied with fewer. An adversary who knows the algorithm can learn from that, as from
    any defense whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

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

    weighs_beliefs: ClassVar[bool] = True
    """The clusters depend on the prior."""

    def __post_init__(self) -> None:
        check_cluster_settings("UHRA", self.j, self.base, self.judged, self.tolerance)
        check_whole("UHRA", "sweeps", self.sweeps, "sweeps over all records")
        check_flag("UHRA", "repaired", self.repaired)
        if self.patience is not None:
            check_whole("UHRA", "patience", self.patience, "records")
        if self.also is not None:
            check_kind("UHRA", "also", self.also, Requirement, "is a requirement, as EntropyDiversity(3), or None")
        self.requirement  # noqa: B018 - it checks k and t

    @property
    def requirement(self) -> Requirement:
        """Requirement that every group satisfies, apart from being of one cluster."""
        extra = () if self.also is None else (self.also,)
        return all_of(KAnonymity(self.k), TCloseness(self.t, self.distance), *extra)

    @property
    def smallest(self) -> int:
        """Least number of records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``; the past releases do not matter."""
        rows = prior_of(view, prior)
        check_size("k", self.k, view)
        requirement = self.requirement.bind(view, rows)
        cluster = prior_clusters(rows, self.j, self.base, self.tolerance)
        group_cluster = partial(self._group_cluster, requirement)
        return group_clusters(view, rows, cluster, self.k, requirement, group_cluster, self.judged == "published")

    def _group_cluster(self, requirement: GroupPredicate, cluster: Cluster) -> ClusterGrouping:
        """Steps 2 and 3."""
        rule = self._rule(cluster.records.table, requirement)
        labels = utility_groups(
            cluster.records, cluster.points, cluster.order, requirement, rule, self.repaired, self.patience
        )
        refined = refine(cluster.records, cluster.points, labels, rule, int(self.sweeps))
        note = f"records of a cluster of {len(labels)} still moved after {self.sweeps} sweeps."
        return refined.labels, [] if refined.converged else [note]

    def _rule(self, table: TableCounts, requirement: GroupPredicate) -> GroupRule:
        """The requirement as limits, and as a predicate if limits do not express it: only "equal" distance is a limit."""
        is_equal = self.distance == "equal"
        limits = GroupLimits(
            int(self.k),
            table.counts / table.counts.sum(),
            float(self.t) if is_equal else np.inf,
            np.full(len(table.counts), np.inf),
        )
        return GroupRule(limits, None if is_equal and self.also is None else requirement)
