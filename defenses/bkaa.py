"""BKAA: groups of near records whose revised priors are similar, and in which no value becomes much more likely."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.defenses.algorithms.ordered_growth import GrowingDefense, Leftovers, loosened
from foreknow.defenses.requirements.closeness import BasicBetaLikeness, BetaLikeness, JSimilarity
from foreknow.defenses.requirements.diversity import KAnonymity
from foreknow.defenses.requirements.requirement import Requirement, all_of


@dataclass(frozen=True)
class BKAA(GrowingDefense):
    """Grow groups along the nearest-point order until they are k-anonymous, beta-like and J-similar in the revised priors.

    Parameters
    ----------
    k : int
        Smallest number of records of a group.
    beta : float or None
        Largest relative increase of a value's share from the table to a group, as in `BetaLikeness`. None, only for reproduction,
        leaves beta-likeness out; with ``also=TCloseness(t)`` it is the privacy model of JS-reduce, as in section 6.3.4.
    j : float
        Largest Jensen-Shannon divergence of the members' revised priors, in units of ``base``.
    enhanced : bool
        If True, enhanced beta-likeness; if False, basic. The paper does not say which it takes.
    base : float
        Base of the divergence's logarithm, over 1.
    also : Requirement, optional
        Further requirement of every group, as ``EntropyDiversity(3)``.
    leftovers : {"join", "suppress", "relax", "counterfeit"}
        Treatment of records that fit no group. ``"join"`` is the printed rule, which does not say which of several groups is
        taken; ``"relax"`` and ``"counterfeit"`` are the paper's two other solutions.

        - ``"join"``: they join the nearest group along the order that then still satisfies, and are suppressed where there
          is none.
        - ``"suppress"``: they are not published.
        - ``"relax"``: they form groups of their own, with j, then beta, multiplied by 1.25 as often as needed, and last
          without beta. The last few join the nearest group. No record is suppressed; these groups do not satisfy the
          requirement.
        - ``"counterfeit"``: they join the nearest group, with a counterfeit sensitive value where their own violates the
          requirement.
    patience : int, optional
        As in `JSReduce`.
    judged : {"published", "view"}
        Table against which the published groups must be beta-like: the published one, for which failing groups are merged
        with neighbours (`foreknow.defenses.algorithms.ordered_growth`), or the view, as grown.

    Raises
    ------
    Infeasible
        When called, if k is larger than the view; or with ``leftovers="relax"``, if a record can be neither grouped nor joined to a
        group.

    Notes
    -----
    BayFrame, section 5.2, Algorithm 1. The algorithm takes beta as input and then tests J-similarity only; the text requires all
    three, as here. ``patience=None`` with ``judged="view"`` is that algorithm. The order is `nearest_point_order`.

    Cost: that of the order, and O(n m) for growing groups of bounded size; O(m) more for each leftover and each group that is
    evaluated for it, which are all groups where none takes it.

    Examples
    --------
    >>> BKAA(3, 5, 0.6).requirement
    KAnonymity(k=3) & BetaLikeness(beta=5) & JSimilarity(j=0.6, base=2.0)
    """

    k: int
    beta: float | None
    j: float
    enhanced: bool = True
    base: float = 2.0
    also: Requirement | None = None
    leftovers: Leftovers = "join"
    patience: int | None = None
    judged: Literal["published", "view"] = "published"

    _treatments: ClassVar[tuple[Leftovers, ...]] = ("join", "suppress", "relax", "counterfeit")
    _bounded: ClassVar[str] = "beta"
    _merges_several: ClassVar[bool] = True
    _order = staticmethod(nearest_point_order)

    def _looser(self, n: int) -> list[float | None]:
        return [*([] if self.beta is None else loosened(self.beta, math.log(n) if self.enhanced else n - 1)), None]

    def _requirement(self, beta: float | None, j: float, also: Requirement | None) -> Requirement:
        likeness = BetaLikeness if self.enhanced else BasicBetaLikeness
        parts = (None if beta is None else likeness(beta), JSimilarity(j, self.base), also)
        return all_of(KAnonymity(self.k), *(part for part in parts if part is not None))
