"""k-anonymity-primacy: groups of k near records within clusters of similar priors, made beta-like by swaps."""

from dataclasses import dataclass
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
from foreknow.defenses.clusters.primacy_groups import primacy_groups
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.combinations import all_of
from foreknow.defenses.requirements.feasibility import check_size
from foreknow.defenses.requirements.likeness import BetaLikeness
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, GroupPredicate
from foreknow.defenses.requirements.summary import TableCounts, prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.tables.distance import scale


@dataclass(frozen=True)
class KPrimacy:
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
    Amiri, Yazdani, Shakery, Chinaei, Knowledge-Based Systems 101 (2016), "k-anonymity-primacy". Stage 1 is that of the paper.
    **Stages 2 and 3 are a reconstruction**: only their outline is known (clusters first; in each, k-anonymity and then
    beta-likeness). The steps are those of Soria-Comas et al. (TKDE 2015), "k-anonymity first", with beta-likeness for
    t-closeness. Results of this class do not apply to the authors' program.

    A group of more than k records was not satisfied with fewer. An adversary who knows the algorithm can learn from that, as from
    any defense whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

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

    weighs_beliefs: ClassVar[bool] = True
    """The clusters depend on the prior."""

    def __post_init__(self) -> None:
        check_cluster_settings("KPrimacy", self.j, self.base, self.judged, self.tolerance)
        self.requirement  # noqa: B018 - it checks k and beta

    @property
    def requirement(self) -> GroupPredicate:
        """Requirement that every group satisfies, apart from being of one cluster."""
        return all_of(KAnonymity(self.k), BetaLikeness(self.beta))

    @property
    def smallest(self) -> int:
        """Least number of records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``; the past releases do not matter."""
        rows = prior_of(view, prior)
        check_size("k", self.k, view)
        cluster = prior_clusters(rows, self.j, self.base, self.tolerance)
        is_published = self.judged == "published"
        return group_clusters(view, rows, cluster, self.k, self.requirement, self._group_cluster, is_published)

    def _group_cluster(self, cluster: Cluster) -> ClusterGrouping:
        """Steps 2 and 3."""
        values = cluster.records.counts.argmax(axis=1)
        codes, lengths = cluster.people.quasi_identifiers, scale(cluster.people.schema)
        limits = self._limits(cluster.records.table)
        return primacy_groups(codes, lengths, cluster.points, values, cluster.order, limits), []

    def _limits(self, table: TableCounts) -> GroupLimits:
        """Largest beta-like shares, ``p (1 + min(beta, -ln p))``, with the tolerance of `BetaLikeness`."""
        share = table.counts / table.counts.sum()
        gain = np.minimum(self.beta, -np.log(np.where(share > 0, share, 1.0)))
        return GroupLimits(int(self.k), share, np.inf, share * (1 + gain + LEVEL_TOLERANCE))
