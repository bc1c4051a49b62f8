"""k-anonymity."""

from dataclasses import dataclass
from typing import ClassVar

from foreknow.defenses.requirement import Requirement
from foreknow.defenses.summary import Summary
from foreknow.models.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class KAnonymity(Requirement):
    """A group has at least k records (Samarati, TKDE 2001).

    Parameters
    ----------
    k : int
        1 or more.
    """

    k: int

    reads_prior: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.k != int(self.k) or self.k < 1:
            raise ValueError(f"KAnonymity: k is {self.k}; it is a number of records, 1 or more.")

    @property
    def bound(self) -> float:
        """K."""
        return float(self.k)

    @property
    def smallest(self) -> int:
        """K."""
        return int(self.k)

    def level(self, summary: Summary) -> FloatArray:
        """The number of records."""
        return summary.size.astype(float)

    def __call__(self, summary: Summary) -> BoolArray:
        """Whether each group has k records."""
        return self.level(summary) >= self.bound
