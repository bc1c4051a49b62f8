"""k-anonymity and l-diversity: distinct, frequency, entropy and recursive.

A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity", TKDD 2007.
"""

from dataclasses import dataclass
from typing import ClassVar, override

import numpy as np

from foreknow.defenses.requirements.requirement import CountsPredicate, Sense
from foreknow.defenses.requirements.summary import Summary, entropy
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import MAX_FLOAT, check_range, check_whole


@dataclass(frozen=True)
class KAnonymity(CountsPredicate):
    """k-anonymity: a group has at least k records (Samarati, TKDE 2001).

    Parameters
    ----------
    k : int
        At least 1.

    Notes
    -----
    Monotone: sizes add. Exact. Cost of a level: O(1) for each group.

    Examples
    --------
    >>> KAnonymity(3)
    KAnonymity(k=3)
    """

    k: int

    def __post_init__(self) -> None:
        check_whole("KAnonymity", "k", self.k, "records")

    def level(self, summary: Summary) -> FloatArray:
        """Number of records."""
        return summary.size.astype(float)


@dataclass(frozen=True)
class DistinctDiversity(CountsPredicate):
    """Distinct l-diversity: a group has at least l distinct sensitive values.

    Parameters
    ----------
    l : int
        At least 1.

    Notes
    -----
    Monotone: a union has every value of its parts. Exact. Cost of a level: O(m) for each group.
    """

    l: int  # noqa: E741 - the field's own letter

    def __post_init__(self) -> None:
        check_whole("DistinctDiversity", "l", self.l, "values")

    def level(self, summary: Summary) -> FloatArray:
        """Number of distinct values."""
        return np.asarray(np.count_nonzero(summary.counts, axis=1), dtype=np.float64)


@dataclass(frozen=True)
class FrequencyDiversity(CountsPredicate):
    """Frequency l-diversity: every sensitive value has a share of at most 1/l in a group.

    Parameters
    ----------
    l : float
        At least 1; it may be fractional.

    Notes
    -----
    Monotone: the shares of a union are a mean of its parts' shares. Exact. Cost of a level: O(m) for each group.

    References
    ----------
    X. Xiao, Y. Tao, "Anatomy: Simple and Effective Privacy Preservation", VLDB 2006.
    R. Wong, A. Fu, K. Wang, J. Pei, "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007.
    """

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        check_range("FrequencyDiversity", "l", self.l, 1, MAX_FLOAT, "of which one record may show a value")

    def level(self, summary: Summary) -> FloatArray:
        """Number of records over the count of the most frequent value."""
        return np.asarray(summary.size / np.maximum(summary.counts.max(axis=1), 1))


@dataclass(frozen=True)
class EntropyDiversity(CountsPredicate):
    """Entropy l-diversity: the entropy of a group's values is at least log l.

    Parameters
    ----------
    l : float
        At least 1; it may be fractional. It is a number of equally likely values.

    Notes
    -----
    Monotone: entropy is concave, and the shares of a union are a mean of its parts' shares. Exact. Cost of a level: O(m) for
    each group.
    """

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        check_range("EntropyDiversity", "l", self.l, 1, MAX_FLOAT, "of values")

    def level(self, summary: Summary) -> FloatArray:
        """Exponential of the entropy: the number of equally likely values with that entropy."""
        return np.asarray(np.exp2(entropy(summary.counts / np.maximum(summary.size, 1)[:, None])))


@dataclass(frozen=True)
class RecursiveDiversity(CountsPredicate):
    """Recursive (c, l)-diversity: ``r_1 < c (r_l + ... + r_m)``, where r are the counts in decreasing order.

    Parameters
    ----------
    c : float
        Above 0.
    l : int
        At least 1. With fewer than l distinct values the right side is 0 and the group fails.

    Notes
    -----
    Monotone (section 4 of the paper): the largest count of a union is at most the sum of its parts' largest counts, and the
    tail is at least the sum of their tails. Exact. Cost of a level: O(m log m) for each group.
    """

    c: float
    l: int  # noqa: E741

    sense: ClassVar[Sense] = "below"

    def __post_init__(self) -> None:
        check_whole("RecursiveDiversity", "l", self.l, "values")
        check_range("RecursiveDiversity", "c", self.c, 0, excluded=(0,))

    @property
    @override
    def smallest(self) -> int:
        return int(self.l)

    def level(self, summary: Summary) -> FloatArray:
        """Largest c that each group fails, ``r_1 / (r_l + ... + r_m)``; infinite if that sum is 0."""
        ranked = -np.sort(-summary.counts, axis=1)
        tail = ranked[:, int(self.l) - 1 :].sum(axis=1)
        return np.asarray(np.divide(ranked[:, 0], tail, out=np.full(len(tail), np.inf), where=tail > 0))
