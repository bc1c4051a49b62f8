"""UHRA: groups within clusters of similar priors, refined towards the least distance within groups."""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from foreknow.defenses.clusters.clustered import Cluster, Grouped, check_clustered, group_clusters
from foreknow.defenses.clusters.clustering import prior_clusters
from foreknow.defenses.clusters.nearest_group import Limits
from foreknow.defenses.clusters.refinement import Rule, refine
from foreknow.defenses.clusters.utility_groups import utility_groups
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.closeness import TCloseness
from foreknow.defenses.requirements.requirement import GroupPredicate, Requirement, all_of, check_size
from foreknow.defenses.requirements.summary import TableCounts, prior_of
from foreknow.models import Grouping, Hierarchy, Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_whole


@dataclass(frozen=True)
class UHRA:
    """Cluster records by their priors; in each cluster, grow groups and move records to nearer ones.

    1. The records are clustered so that the priors of any two of a cluster diverge by at most j (`prior_clusters`);
       clusters of fewer than k records are suppressed.
    2. Within a cluster, groups are grown along the order of nearest point next, each until it is k-anonymous and t-close.
       The records left over join, one by one, the nearest group that stays so with them, or are suppressed.
    3. Each record of the cluster moves to the nearest group, if both groups stay k-anonymous and t-close, again and again
       until none moves (`refine`).

    Parameters
    ----------
    k : int
        The fewest records of a group.
    t : float
        The largest earth mover's distance of a group's values from the table's.
    j : float
        The largest Jensen-Shannon divergence of the priors of any two members, in units of ``base``.
    base : float
        The base of the divergence's logarithm.
    distance : "equal", "ordered" or Hierarchy
        The ground distance of t-closeness.
    also : Requirement, optional
        What else every group must satisfy, as ``EntropyDiversity(3)``.
    patience : int, optional
        The most records a group may reach unsatisfied before its oldest one is set aside; then it joins whatever group may
        take it. None is the printed rule, under which one group that cannot be satisfied sets aside the rest of its cluster.
    repaired : bool
        Whether records that fit no group of their cluster make one with as many of the nearest groups as they need, the
        whole cluster at worst. The paper suppresses them, though its Lemma 2 says that a cluster which is t-close as a
        whole can be published: so it is with this.
    sweeps : int
        The most times that step 3 visits a cluster's records; that it stopped there is said in the notes.
    judged : {"published", "view"}
        Against which distribution of values groups must be close in the end, as in `JSReduce`. ``"published"`` then merges
        a group that fails against the published table with a neighbour of its cluster (`settle`).
    tolerance : float
        Priors within this divergence of another one, in units of ``base``, are clustered together with it, at most ``j / 4``.
        Large views need it. Any two members of a cluster diverge by at most j all the same;
        clusters may be finer (`prior_clusters`). With 0, each distinct prior is clustered on its own, up to 30,000 of them.

    Raises
    ------
    ValueError
        If a setting is out of its range; when called, if the prior has more distinct rows than can be clustered at this
        tolerance.
    Infeasible
        When called, if k is larger than the view.

    Notes
    -----
    Amiri, Khan, Anjum, Syed, Rehman, Appl. Sci. 13:4091 (2023), Algorithms 1 and 2. With ``judged="view"`` it is those
    algorithms, but for what they leave open: leftovers join the *nearest* group (theirs: any); and a record moves only if
    that brings it nearer by more than rounding, with centroids that follow each move, which is why step 3 ends. The
    paper clusters all records; clustering the distinct prior rows gives the same. It gives no base of the logarithm and no
    ground distance.

    A group of more than k records was not satisfied with fewer. Who knows the rule can learn from that, as from any defense
    whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

    Where t hardly binds, as on a binary attribute with t of .5 or more, groups are grown to k records, which none may leave:
    then step 3 has little to do.

    Cost: O(u^2 m) for u distinct prior rows, or what ``tolerance`` leaves of them; then the order, O(n m) to grow groups
    of bounded size, and O(n sqrt(g) D) a sweep (`refine`). ``also``, and other distances than "equal", are asked record by
    record: a millisecond or so for each that has a nearer group.

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
    """Its clusters are of like priors."""

    def __post_init__(self) -> None:
        check_clustered("UHRA", self.j, self.base, self.judged, self.tolerance)
        check_whole("UHRA", "sweeps", self.sweeps, "visits to all records")
        if self.patience is not None:
            check_whole("UHRA", "patience", self.patience, "records")
        self.requirement  # noqa: B018 - it checks k and t

    @property
    def requirement(self) -> Requirement:
        """The requirement that every group satisfies, besides being of one cluster."""
        extra = () if self.also is None else (self.also,)
        return all_of(KAnonymity(self.k), TCloseness(self.t, self.distance), *extra)

    @property
    def smallest(self) -> int:
        """The fewest records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``."""
        check_size("k", self.k, view)
        rows = prior_of(view, prior)
        requirement = self.requirement.bind(view, rows)
        cluster = prior_clusters(rows, self.j, self.base, self.tolerance)
        settled = self.judged == "published"
        grouped = partial(self._grouped, requirement)
        return group_clusters(view, rows, cluster, self.k, requirement, grouped, settled)

    def _grouped(self, requirement: GroupPredicate, cluster: Cluster) -> Grouped:
        rule = self._rule(cluster.records.table, requirement)
        labels = utility_groups(
            cluster.records, cluster.points, cluster.order, requirement, rule, self.repaired, self.patience
        )
        refined = refine(cluster.records, cluster.points, labels, rule, int(self.sweeps))
        note = f"records of a cluster of {len(labels)} still moved after {self.sweeps} sweeps."
        return refined.labels, [] if refined.settled else [note]

    def _rule(self, whole: TableCounts, requirement: GroupPredicate) -> Rule:
        equal = self.distance == "equal"
        limits = Limits(
            int(self.k),
            whole.counts / whole.counts.sum(),
            float(self.t) if equal else np.inf,
            np.full(len(whole.counts), np.inf),
        )
        return Rule(limits, None if equal and self.also is None else requirement)
