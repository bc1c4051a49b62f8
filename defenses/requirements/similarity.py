"""J-similarity: what is believed of the members of a group differs little (JS-reduce, section 6.2)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.defenses.requirements.requirement import Requirement, Sense
from foreknow.defenses.requirements.summary import Summary, entropy
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import GREATEST_FLOAT, is_number


@dataclass(frozen=True)
class JSimilarity(Requirement):
    """The Jensen-Shannon divergence of the members' priors, equally weighted, is at most j.

    ``JS = H(mean of the rows) - mean of H(row)``. It is between 0 and log k.

    Parameters
    ----------
    j : float
        0 or more.
    base : float
        The base of the logarithm. The paper names none and cites Lin (1991), who has 2; 0.6 nats are 0.87 bits, so the
        same j accepts other groups in another base.
    """

    j: float
    base: float = 2.0
    sense: ClassVar[Sense] = "at most"

    def __post_init__(self) -> None:
        if not is_number(self.j, 0):
            raise ValueError(f"JSimilarity: j is {self.j}; it is a divergence, 0 or more.")
        if not is_number(self.base, 1, GREATEST_FLOAT) or self.base == 1:
            raise ValueError(f"JSimilarity: the logarithm's base is {self.base}; it must be above 1.")

    @property
    def bound(self) -> float:
        """The divergence j."""
        return float(self.j)

    @property
    def weighs_beliefs(self) -> bool:
        """True."""
        return True

    def level(self, summary: Summary) -> FloatArray:
        """The divergence of each group's prior rows, in units of the base."""
        size = np.maximum(summary.size, 1)
        # The entropy of a sum over its size: that of the sum, as if it were a distribution, over the size, plus log size.
        bits = (entropy(summary.prior) - summary.entropy) / size + np.log2(size)
        return np.asarray(np.maximum(bits, 0.0) / math.log2(self.base))
