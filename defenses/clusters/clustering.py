"""Clusters of records of whom much the same is believed: the first stage of UHRA and of k-anonymity-primacy."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from foreknow.defenses.requirements.requirement import ROUNDING, Requirement, Sense
from foreknow.defenses.requirements.summary import SMALLEST, Summary
from foreknow.models.arrays import FloatArray, IntArray, compiled

MOST_ROWS = 30_000
"""The most distinct prior rows that are clustered: the divergences of all pairs, and a copy of them, take 7.2 GB."""


def prior_clusters(prior: FloatArray, j: float, base: float = 2.0) -> IntArray:
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

    Returns
    -------
    int array, shape (n,)
        Each record's cluster, numbered from 0 by their first records.

    Raises
    ------
    ValueError
        If there are more than `MOST_ROWS` distinct rows.

    Notes
    -----
    Amiri et al., Appl. Sci. 13:4091 (2023), Algorithm 1, step 1. The distinct rows are clustered, in lexicographic order, so
    that neither the order of the records nor how many are alike matters. As equal rows diverge by 0 and as much from
    all others, clustering all records joins them first, and then does the same. Pairs equally far apart are merged in the
    order SciPy comes upon them, and which clusters come out may depend on that: each is within j in any case, but not
    always would merging in another order have made the same ones.

    Cost: O(u^2 m) time and 8 u^2 bytes for u distinct rows, O(n m log n) to find these.

    Examples
    --------
    >>> prior_clusters(np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.9, 0.1]]), j=0.1).tolist()
    [0, 1, 0, 0]
    """
    rows, which = np.unique(prior, axis=0, return_inverse=True)
    if len(rows) > MOST_ROWS:
        raise ValueError(
            f"the prior has {len(rows)} distinct rows, and at most {MOST_ROWS} can be clustered; use a prior that tells fewer "
            "people apart, or round its rows."
        )
    if len(rows) == 1:
        return np.zeros(len(prior), dtype=np.int64)
    most = (j + ROUNDING) * math.log2(base)
    merges = linkage(pairwise_divergence(rows, most + ROUNDING), method="complete")
    cluster = fcluster(merges, most, criterion="distance")[which.reshape(-1)]
    _, first, number = np.unique(cluster, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def pairwise_divergence(rows: FloatArray, most: float = np.inf) -> FloatArray:
    """The Jensen-Shannon divergence of every two rows, in bits: a condensed array, as SciPy takes it.

    ``JS(p, q) = 1 + sum_s (p log p + q log q - (p + q) log(p + q)) / 2``, where only values that both can have count. It
    is at least ``1 - sum_s sqrt(p q)``, for ``h(x) <= 2 sqrt(x (1 - x))`` bits; pairs of which that is over ``most`` get it
    instead, without a logarithm: complete linkage cut at ``most`` does not tell larger numbers apart. Cost: O(u^2 m).
    """
    return _pairwise(rows, rows * np.log2(np.maximum(rows, SMALLEST)), np.sqrt(rows), most)


@compiled
def _pairwise(rows: FloatArray, weighted: FloatArray, roots: FloatArray, most: float) -> FloatArray:
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
            place += 1
    return found


@compiled
def _least(root: FloatArray, other: FloatArray) -> float:
    overlap = 0.0
    for s in range(len(root)):
        overlap += root[s] * other[s]
    return 1 - overlap


@dataclass(frozen=True, eq=False)
class WithinCluster(Requirement):
    """The members of a group are of one cluster, so that merging groups keeps their priors within j of each other.

    Parameters
    ----------
    cluster : int array, shape (n,)
        Each record's cluster.
    """

    cluster: IntArray

    sense: ClassVar[Sense] = "at most"

    @property
    def bound(self) -> float:
        """No step from one cluster to another."""
        return 0.0

    @property
    def reads_prior(self) -> bool:
        """False: the clusters are given."""
        return False

    @property
    def reads_members(self) -> bool:
        """True: sums do not tell clusters apart."""
        return True

    def level(self, summary: Summary) -> FloatArray:
        """How far apart the numbers of the members' clusters are: 0 where all are of one."""
        members = summary.members
        if members is None:
            raise ValueError("WithinCluster needs to know who is in each group; make summaries with members=True.")
        cluster, starts = self.cluster[members.records], members.starts[:-1]
        apart = np.maximum.reduceat(cluster, starts) - np.minimum.reduceat(cluster, starts)
        return np.asarray(apart, dtype=np.float64)
