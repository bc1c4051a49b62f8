"""k-anonymity."""

from dataclasses import dataclass
from typing import ClassVar, override

from foreknow.defenses.requirements.requirement import GroupPredicate, check_summary
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_whole


@dataclass(frozen=True)
class KAnonymity(GroupPredicate):
    """k-anonymity: a group has at least k records (Samarati, TKDE 2001).

    Parameters
    ----------
    k : int
        At least 1.

    Raises
    ------
    ValueError
        If k is not a whole number of at least 1.

    Notes
    -----
    Monotone: sizes add. Exact. Cost of a level: O(1) for each group.

    Examples
    --------
    >>> KAnonymity(3)
    KAnonymity(k=3)
    """

    k: int

    reads_prior: ClassVar[bool] = False
    is_monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole("KAnonymity", "k", self.k, "records")

    @property
    @override
    def bound(self) -> float:
        return float(self.k)

    @property
    @override
    def smallest(self) -> int:
        return int(self.k)

    def level(self, summary: Summary) -> FloatArray:
        """Number of records."""
        check_summary(self, summary)
        return summary.size.astype(float)
