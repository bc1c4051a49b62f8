"""Clusters of records with similar priors: the first stage of UHRA and of k-anonymity-primacy."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree

from foreknow.defenses.requirements.member_predicate import members_of
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, GroupPredicate, Sense
from foreknow.defenses.requirements.summary import LOG_FLOOR, Summary
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.divergence import jensen_shannon

MOST_ROWS = 30_000
"""The largest number of rows that are clustered: the divergences of all pairs, and a copy of them, take 7.2 GB."""

FIRST_TOLERANCE = 0.001
"""The least tolerance that the error of too many distinct rows suggests."""


def prior_clusters(prior: FloatArray, j: float, base: float = 2.0, tolerance: float = 0.0) -> IntArray:
    """Clusters of records such that the priors of any two of a cluster diverge by at most j.

    Complete-linkage agglomerative clustering on the pairwise Jensen-Shannon divergence of the prior rows, cut at j: the
    two clusters whose farthest members are nearest are merged, again and again, while these are within j.

    Parameters
    ----------
    prior : float array, shape (n, m)
        Rows are probabilities.
    j : float
        The largest divergence, in units of ``base``.
    base : float
        The base of the divergence's logarithm.
    tolerance : float
        Distinct rows within this divergence of another one, in units of ``base``, are clustered together with it, at most
        ``j / 4``. Without it all distinct rows are clustered on their own.

    Returns
    -------
    int array, shape (n,)
        Each record's cluster, numbered from 0 by their first records.

    Raises
    ------
    ValueError
        If more than `MOST_ROWS` rows are left to be clustered.

    Notes
    -----
    Amiri et al., Appl. Sci. 13:4091 (2023), Algorithm 1, step 1. The distinct rows are clustered, in lexicographic order, so
    that neither the order of the records nor how many are alike matters. As equal rows diverge by 0 and as much from
    all others, clustering all records joins them first, and then does the same. Pairs equally far apart are merged in the
    order SciPy comes upon them, and which clusters come out may depend on that: each is within j in any case, but not
    always would merging in another order have made the same ones.

    With a tolerance, distinct rows are first assigned to leaders (`assign_leaders`), and the leaders are clustered. Let r be the
    largest root divergence of a leader's rows from it. As the root of the divergence is a metric (Endres, Schindelin, IEEE
    Trans. Inf. Theory 49, 2003), two leaders count as ``(sqrt(JS) + r + r')^2`` apart, which bounds the divergence of any
    two of their rows. So any two records of a cluster are within j whatever the tolerance. The clusters equal those without
    tolerance where no two distinct rows are within it; otherwise they may be other or finer ones: there can be more clusters,
    and so more records in clusters of fewer than k, which UHRA and KPrimacy suppress. As r is at most ``sqrt(tolerance)`` and a
    leader is itself a row, two clusters stay apart only if a pair of their members, two leaders, has a root divergence over
    ``sqrt(j) - 2 sqrt(tolerance)``.

    Cost: O(u^2 m) time and 8 u^2 bytes for u distinct rows, or leaders; O(n m log n) to find the distinct rows, and a search of
    a k-d tree for each leader.

    Examples
    --------
    >>> prior_clusters(np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.9, 0.1]]), j=0.1).tolist()
    [0, 1, 0, 0]
    """
    rows, which = np.unique(prior, axis=0, return_inverse=True)
    leaders = assign_leaders(rows, tolerance * math.log2(base))
    few = len(leaders.rows)
    if few > MOST_ROWS:
        raise ValueError(
            f"the prior has {len(rows)} distinct rows, of which {few} are left to cluster at a tolerance of {tolerance:g}, and at "
            f"most {MOST_ROWS} can be. {_way_out(j, tolerance)}"
        )
    if few == 1:
        return np.zeros(len(prior), dtype=np.int64)
    most = (j + LEVEL_TOLERANCE) * math.log2(base)
    merges = linkage(pairwise_divergence(rows[leaders.rows], most + LEVEL_TOLERANCE, leaders.radius), method="complete")
    cluster = fcluster(merges, most, criterion="distance")[leaders.of[which.reshape(-1)]]
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def _way_out(j: float, tolerance: float) -> str:
    """The next step where too many rows are left: a tolerance five times as large, j / 4 at most."""
    coarser = "lower the number of distinct priors by coarser classes of the quasi-identifiers"
    if tolerance >= j / 4:
        return f"The tolerance is at its largest, j / 4: raise j, or {coarser}."
    larger = min(float(f"{max(5 * tolerance, FIRST_TOLERANCE):.3g}"), j / 4)
    return f"Give the defense tolerance={larger} (at most j / 4 = {j / 4:g}), or {coarser}."


class Leaders(NamedTuple):
    """Rows that stand for others near them.

    Attributes
    ----------
    rows : int array, shape (l,)
        The leaders.
    of : int array, shape (u,)
        The place in ``rows`` of each row's leader.
    radius : float array, shape (l,)
        The largest root divergence of a leader's rows from it, in root bits.
    """

    rows: IntArray
    of: IntArray
    radius: FloatArray


def assign_leaders(rows: FloatArray, tolerance: float) -> Leaders:
    """Leaders such that each of some distinct distributions diverges by at most a tolerance, in bits, from its leader.

    The first row without a leader becomes one, and leads all such rows in reach of it, until all are led. In reach is what lies
    within ``sqrt(tolerance)`` in Euclidean distance between roots of probabilities, for ``JS(p, q) <= sum (sqrt p - sqrt q)^2``
    bits. Cost: a search of a k-d tree for each leader.
    """
    everyone = np.arange(len(rows))
    if tolerance == 0:
        return Leaders(everyone, everyone, np.zeros(len(rows)))
    roots, leader = np.sqrt(rows), np.full(len(rows), -1)
    tree = cKDTree(roots)
    for row in everyone:
        if leader[row] < 0:
            near = np.array(tree.query_ball_point(roots[row], math.sqrt(tolerance)))
            leader[near[leader[near] < 0]] = row
    leaders, of = np.unique(leader, return_inverse=True)
    radius = np.zeros(len(leaders))
    np.maximum.at(radius, of, np.sqrt(jensen_shannon(rows, rows[leader])))
    return Leaders(leaders, of, radius)


def pairwise_divergence(rows: FloatArray, most: float = np.inf, radius: FloatArray | None = None) -> FloatArray:
    """The Jensen-Shannon divergence of every two rows, in bits: a condensed array, as SciPy takes it.

    ``JS(p, q) = 1 + sum_s (p log p + q log q - (p + q) log(p + q)) / 2``, where only values that both can have count. It
    is at least ``1 - sum_s sqrt(p q)``, for ``h(x) <= 2 sqrt(x (1 - x))`` bits; pairs of which that is over ``most`` get it
    instead, without a logarithm: complete linkage cut at ``most`` does not tell larger numbers apart. With a ``radius`` of
    each row, shape ``(u,)``, the divergence is ``(sqrt(JS) + r + r')^2``. Cost: O(u^2 m).
    """
    around = np.zeros(len(rows)) if radius is None else radius
    return _pairwise(rows, rows * np.log2(np.maximum(rows, LOG_FLOOR)), np.sqrt(rows), most, around)


# Not `jensen_shannon`: the bound skips most logarithms of the u^2 pairs, and nothing of shape (u, u, m) is allocated.
@compiled
def _pairwise(rows: FloatArray, weighted: FloatArray, roots: FloatArray, most: float, radius: FloatArray) -> FloatArray:
    n, m = rows.shape
    found = np.empty(n * (n - 1) // 2)
    place = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[place] = _least(roots[i], roots[j])
            if found[place] <= most:
                bits = 2.0
                for s in range(m):
                    if rows[i, s] > 0.0 and rows[j, s] > 0.0:
                        both = rows[i, s] + rows[j, s]
                        bits += weighted[i, s] + weighted[j, s] - both * np.log2(both)
                found[place] = max(bits / 2, 0.0)
                if radius[i] + radius[j] > 0.0:
                    found[place] = (np.sqrt(found[place]) + radius[i] + radius[j]) ** 2
            place += 1
    return found


@compiled
def _least(root: FloatArray, other: FloatArray) -> float:
    overlap = 0.0
    for s in range(len(root)):
        overlap += root[s] * other[s]
    return 1 - overlap


@dataclass(frozen=True, eq=False)
class WithinCluster(GroupPredicate):
    """The members of a group are of one cluster, so that merging groups keeps their priors within j of each other.

    Parameters
    ----------
    cluster : int array, shape (n,)
        Each record's cluster.
    """

    cluster: IntArray

    sense: ClassVar[Sense] = "at most"
    bound: ClassVar[float] = 0.0
    reads_prior: ClassVar[bool] = False
    reads_members: ClassVar[bool] = True

    def level(self, summary: Summary) -> FloatArray:
        """Largest difference between the numbers of the members' clusters: 0 where all are of one."""
        members = members_of(self, summary)
        cluster, starts = self.cluster[members.records], members.starts[:-1]
        apart = np.maximum.reduceat(cluster, starts) - np.minimum.reduceat(cluster, starts)
        return np.asarray(apart, dtype=np.float64)
