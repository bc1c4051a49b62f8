"""k-anonymity-primacy: clusters of like beliefs, in them groups of k near records, made beta-like by swaps."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from foreknow.defenses.clusters.clustered import Cluster, Grouped, check_clustered, group_clusters
from foreknow.defenses.clusters.clustering import prior_clusters
from foreknow.defenses.clusters.nearest_group import Limits
from foreknow.defenses.clusters.primacy_groups import primacy_groups
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.likeness import BetaLikeness
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, GroupPredicate, all_of, check_size
from foreknow.defenses.requirements.summary import TableCounts, prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray
from foreknow.models.tables.distance import scale


@dataclass(frozen=True)
class KPrimacy:
    """Cluster records by their priors; in each cluster, group k near records and make groups beta-like.

    1. The records are clustered so that the priors of any two of a cluster diverge by at most j (`prior_clusters`);
       clusters of fewer than k records are suppressed.
    2. Within a cluster, the first record left along the order of nearest point next is grouped with the k - 1 nearest that
       are left. While the group is not beta-like, the next nearest record replaces a member, of the value for which the
       largest excess of a share over its limit becomes smallest, and of these the farthest; or it is added, where no
       replacement lessens the excess; or it is passed over, where adding does not either.
    3. A group that stays too unlike joins, as a whole, the group of the nearest centroid that is beta-like with it. The
       records of those that find none, and the last, fewer than k, join the nearest group that stays beta-like, one by
       one, or are suppressed.

    Parameters
    ----------
    k : int
        The fewest records of a group.
    beta : float
        The largest relative gain of a value's share, as in `BetaLikeness` (enhanced).
    j : float
        The largest Jensen-Shannon divergence of the priors of any two members, in units of ``base``.
    base : float
        The base of the divergence's logarithm.
    judged : {"published", "view"}
        Against which distribution of values groups must be beta-like in the end. ``"published"`` then merges a group that
        fails against the published table with a neighbour of its cluster (`settle`).
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
    Amiri, Yazdani, Shakery, Chinaei, Knowledge-Based Systems 101 (2016), "k-anonymity-primacy". Stage 1 is theirs. **Stages 2
    and 3 are a reconstruction**: only their outline is known (clusters first; in each, k-anonymity and then
    beta-likeness), and the steps are those of Soria-Comas et al. (TKDE 2015), "k-anonymity first", with beta-likeness for
    t-closeness. Figures of this class say nothing of the authors' program.

    A group of more than k records was not satisfied with fewer. Who knows the rule can learn from that, as from any defense
    whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

    Cost: O(u^2 m) for u distinct prior rows, or what ``tolerance`` leaves of them, and O(n (n + u d) / k) for the
    groups of a cluster of n records with u distinct vectors of quasi-identifiers.

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
    """Its clusters are of like priors."""

    def __post_init__(self) -> None:
        check_clustered("KPrimacy", self.j, self.base, self.judged, self.tolerance)
        self.requirement  # noqa: B018 - it checks k and beta

    @property
    def requirement(self) -> GroupPredicate:
        """The requirement that every group satisfies, besides being of one cluster."""
        return all_of(KAnonymity(self.k), BetaLikeness(self.beta))

    @property
    def smallest(self) -> int:
        """The fewest records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``."""
        check_size("k", self.k, view)
        rows = prior_of(view, prior)
        cluster = prior_clusters(rows, self.j, self.base, self.tolerance)
        return group_clusters(view, rows, cluster, self.k, self.requirement, self._grouped, self.judged == "published")

    def _grouped(self, cluster: Cluster) -> Grouped:
        values = cluster.records.counts.argmax(axis=1)
        codes, lengths = cluster.people.quasi_identifiers, scale(cluster.people.schema)
        limits = self._limits(cluster.records.table)
        return primacy_groups(codes, lengths, cluster.points, values, cluster.order, limits), []

    def _limits(self, whole: TableCounts) -> Limits:
        """The largest shares that are beta-like: ``p (1 + min(beta, -ln p))``, forgiving what `BetaLikeness` does."""
        table = whole.counts / whole.counts.sum()
        gain = np.minimum(self.beta, -np.log(np.where(table > 0, table, 1.0)))
        return Limits(int(self.k), table, np.inf, table * (1 + gain + LEVEL_TOLERANCE))
