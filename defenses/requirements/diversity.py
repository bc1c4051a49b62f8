"""l-diversity in four forms (Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, TKDD 2007)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.defenses.requirements.requirement import ROUNDING, Requirement, Sense
from foreknow.defenses.requirements.summary import Summary, entropy
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import GREATEST_FLOAT, check_whole, is_number


@dataclass(frozen=True)
class DistinctDiversity(Requirement):
    """A group has at least l distinct sensitive values.

    Parameters
    ----------
    l : int
        1 or more.
    """

    l: int  # noqa: E741 - the field's own letter

    def __post_init__(self) -> None:
        check_whole("DistinctDiversity", "l", self.l, "values")

    @property
    def bound(self) -> float:
        """The number l."""
        return float(self.l)

    @property
    def smallest(self) -> int:
        """The number l."""
        return int(self.l)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The number of distinct values."""
        return np.asarray(np.count_nonzero(summary.counts, axis=1), dtype=np.float64)


@dataclass(frozen=True)
class FrequencyDiversity(Requirement):
    """No sensitive value is shown by more than one in l records of a group (Xiao, Tao, VLDB 2006; Wong et al., VLDB 2007).

    Parameters
    ----------
    l : float
        1 or more; it need not be whole.
    """

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        if not is_number(self.l, 1, GREATEST_FLOAT):
            raise ValueError(
                f"FrequencyDiversity: l is {self.l}; one in l records may show a value, so it is 1 or more."
            )

    @property
    def bound(self) -> float:
        """The number l."""
        return float(self.l)

    @property
    def smallest(self) -> int:
        """The number l, rounded up: of fewer records, one is already too large a share."""
        return math.ceil(self.l - ROUNDING)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The records of a group over those that show its most frequent value."""
        return np.asarray(summary.size / np.maximum(summary.counts.max(axis=1), 1))


@dataclass(frozen=True)
class EntropyDiversity(Requirement):
    """The entropy of a group's values is at least log l: they are as uncertain as l equally likely ones.

    Parameters
    ----------
    l : float
        1 or more; it need not be whole.
    """

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        if not is_number(self.l, 1, GREATEST_FLOAT):
            raise ValueError(f"EntropyDiversity: l is {self.l}; it is a number of values, 1 or more.")

    @property
    def bound(self) -> float:
        """The number l."""
        return float(self.l)

    @property
    def smallest(self) -> int:
        """The number l, rounded up: k records have at most log k of entropy."""
        return math.ceil(self.l - ROUNDING)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """2 to the entropy in bits: the number of equally likely values with that entropy."""
        return np.asarray(np.exp2(entropy(summary.counts / np.maximum(summary.size, 1)[:, None])))


@dataclass(frozen=True)
class RecursiveDiversity(Requirement):
    """Recursive (c, l)-diversity: ``r_1 < c (r_l + ... + r_m)``, the counts r sorted from the largest.

    Parameters
    ----------
    c : float
        Above 0.
    l : int
        1 or more. With fewer than l distinct values the right side is 0 and the requirement fails.
    """

    c: float
    l: int  # noqa: E741

    sense: ClassVar[Sense] = "below"

    def __post_init__(self) -> None:
        check_whole("RecursiveDiversity", "l", self.l, "values")
        if not is_number(self.c, 0) or self.c == 0:
            raise ValueError(f"RecursiveDiversity: c is {self.c}; it must be above 0.")

    @property
    def bound(self) -> float:
        """The number c, which the level must stay below."""
        return float(self.c)

    @property
    def smallest(self) -> int:
        """The number l."""
        return int(self.l)

    @property
    def reads_prior(self) -> bool:
        """False: the values alone decide."""
        return False

    def level(self, summary: Summary) -> FloatArray:
        """The smallest c the group does not keep: ``r_1 / (r_l + ... + r_m)``, infinite where that sum is 0."""
        ranked = -np.sort(-summary.counts, axis=1)
        tail = ranked[:, int(self.l) - 1 :].sum(axis=1)
        return np.asarray(np.divide(ranked[:, 0], tail, out=np.full(len(tail), np.inf), where=tail > 0))
