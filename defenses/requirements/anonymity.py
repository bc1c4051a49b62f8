"""k-anonymity."""

from dataclasses import dataclass

from foreknow.defenses.requirements.requirement import Requirement
from foreknow.defenses.requirements.summary import Summary
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_whole


@dataclass(frozen=True)
class KAnonymity(Requirement):
    """A group has at least k records (Samarati, TKDE 2001).

    Parameters
    ----------
    k : int
        1 or more.
    """

    k: int

    def __post_init__(self) -> None:
        check_whole("KAnonymity", "k", self.k, "records")

    @property
    def bound(self) -> float:
        """The number k."""
        return float(self.k)

    @property
    def smallest(self) -> int:
        """The number k."""
        return int(self.k)

    @property
    def reads_prior(self) -> bool:
        """False: the size alone decides."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The number of records."""
        return summary.size.astype(float)
