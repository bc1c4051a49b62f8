"""J-similarity of the priors of a group."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from foreknow.defenses.requirements.drawn_prior import DrawnPrior, bind_draws
from foreknow.defenses.requirements.requirement import GroupPredicate, Sense, check_summary
from foreknow.defenses.requirements.summary import Summary, entropy
from foreknow.models import View
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import MAX_FLOAT, is_number


@dataclass(frozen=True)
class JSimilarity(GroupPredicate):
    """J-similarity: the Jensen-Shannon divergence of the group members' priors, equally weighted, is at most j.

    ``JS = H(mean of the rows) - mean of H(row)``, between 0 and log k for k members.

    Parameters
    ----------
    j : float
        At least 0, in units of ``base``.
    base : float
        Base of the logarithm, above 1. JS-reduce names none and cites Lin (1991), where it is 2. A bound of 0.6 nats equals
        0.87 bits.

    Raises
    ------
    ValueError
        If a setting is out of range.

    Notes
    -----
    Not monotone: the priors of a union may differ more than those of its parts. Exact. The divergence is a function of two
    sums over the members, which add when groups merge; SciPy's ``rel_entr`` would need the members' rows. Cost of a level: O(m)
    for each group.

    References
    ----------
    D. Riboni, L. Pareschi, C. Bettini, "JS-Reduce: Defending Your Data from Sequential Background Knowledge Attacks", TDSC
    2012, section 6.2.
    """

    j: float
    base: float = 2.0

    sense: ClassVar[Sense] = "at most"
    is_monotone: ClassVar[bool] = False
    weighs_beliefs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_number(self.j, 0):
            raise ValueError(f"JSimilarity: j is {self.j!r}; it is a divergence, 0 or more.")
        check_base("JSimilarity", self.base)

    @property
    @override
    def bound(self) -> float:
        return float(self.j)

    def bind(self, view: View, prior: FloatArray) -> GroupPredicate:
        """The predicate itself, or its level over the draws of a `DrawnPrior`."""
        return bind_draws(self, view, prior) if isinstance(prior, DrawnPrior) else self

    def level(self, summary: Summary) -> FloatArray:
        """Divergence of the prior rows of each group, in units of the base."""
        check_summary(self, summary)
        size = np.maximum(summary.size, 1)
        # With s the sum of k rows and h the sum of their entropies, H(s / k) - h / k = (H(s) - h) / k + log k.
        bits = (entropy(summary.prior) - summary.entropy) / size + np.log2(size)
        return np.asarray(np.maximum(bits, 0.0) / math.log2(self.base))


def check_base(owner: str, base: Any) -> None:
    """Raise ValueError unless the base of a logarithm is a finite number above 1."""
    if not is_number(base, 1, MAX_FLOAT) or base == 1:
        raise ValueError(f"{owner}: the logarithm's base is {base!r}; it must be above 1.")
