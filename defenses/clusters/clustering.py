"""Clusters of records with similar priors: the first stage of UHRA and of k-anonymity-primacy."""

import math
from typing import NamedTuple

import numpy as np
import scipy

from foreknow.defenses.clusters.pairwise_divergence import pairwise_divergence
from foreknow.defenses.requirements.drawn_prior import DrawnPrior
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models.advice import Advice, Setting, Wording
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.divergence import jensen_shannon

MAX_ROWS = 30_000
"""Largest number of rows that are clustered: the divergences of all pairs, and a copy of them, take 7.2 GB."""

MIN_SUGGESTED_TOLERANCE = 0.001
"""Least tolerance that the error on too many distinct rows suggests."""


def prior_clusters(prior: FloatArray, j: float, base: float = 2.0, tolerance: float = 0.0) -> IntArray:
    """Clusters of records, such that the priors of any two members diverge by at most j.

    Complete-linkage agglomerative clustering on the pairwise Jensen-Shannon divergence of the prior rows, cut at j: the two
    clusters with the smallest largest divergence between members are merged, repeatedly, while that is at most j.

    Parameters
    ----------
    prior : float array, shape (n, m)
        Rows are probabilities. With a `DrawnPrior`, the divergence of two records is the mean over its draws, or the largest.
    j : float
        Largest divergence, in units of ``base``.
    base : float
        Base of the divergence's logarithm.
    tolerance : float
        Distinct rows within this divergence of another one, in units of ``base``, are clustered together with it; at most
        ``j / 4``. With 0, each distinct row is clustered on its own.

    Returns
    -------
    int array, shape (n,)
        Cluster of each record, numbered from 0 in the order of first records.

    Raises
    ------
    ValueError
        If more than `MAX_ROWS` rows remain to be clustered.

    Notes
    -----
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
    """Rows that represent rows near them.

    Attributes
    ----------
    rows : int array, shape (l,)
        The leaders.
    leader_of : int array, shape (u,)
        Place in ``rows`` of each row's leader.
    radius : float array, shape (l,)
        Largest root divergence of a leader's rows from it, in root bits.
    """

    rows: IntArray
    leader_of: IntArray
    radius: FloatArray


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
