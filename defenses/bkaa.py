"""BKAA: near neighbours of whom an adversary believes alike, in groups of which no value becomes much likelier."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from foreknow.defenses.growing.along_an_order import AlongAnOrder, Leftovers, check_growing, loosened
from foreknow.defenses.growing.nearest_point import nearest_point_order
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.likeness import BasicBetaLikeness, BetaLikeness
from foreknow.defenses.requirements.requirement import Requirement, all_of, check_size
from foreknow.defenses.requirements.similarity import JSimilarity
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import FloatArray

ANSWERS: tuple[Leftovers, ...] = ("join", "suppress", "relax", "counterfeit")


@dataclass(frozen=True)
class BKAA:
    """Grow groups from record to nearest record until they are k-anonymous, beta-like, and alike in what is believed.

    Parameters
    ----------
    k : int
        The fewest records of a group.
    beta : float
        How much likelier a value may be in a group than in the table, as `BetaLikeness` has it.
    j : float
        The largest Jensen-Shannon divergence of the members' revised priors, in units of ``base``.
    enhanced : bool
        Whether beta-likeness is the enhanced one, or the basic one; the paper does not say which it takes.
    base : float
        The base of the divergence's logarithm.
    also : Requirement, optional
        What else every group must satisfy, as ``EntropyDiversity(3)``.
    leftovers : {"join", "suppress", "relax", "counterfeit"}
        What becomes of records that fit no group. They join the nearest group along the order in which the requirement
        then still holds, and are left out where there is none: the printed rule, which leaves open which of several
        groups it is. Or they are left out. Or they are grouped among themselves under j, and then beta, loosened by a
        quarter as often as needed, and in the end without beta, the last few joining the nearest group: nobody is left
        out, and those groups are not protected as asked. Or they join the nearest group, with a counterfeit value where
        their own breaks the requirement. The last two are the paper's two other solutions.
    patience : int, optional
        The most records a group may reach unsatisfied before its oldest one is set aside as a leftover. None is the
        printed rule, under which one group that cannot be satisfied makes leftovers of all that remain.
    judged : {"published", "view"}
        Against which distribution of values groups must be beta-like in the end: that of what is published, for which
        groups that fail are merged with neighbours (`enforce_on_published`), or that of the view, as grown.

    Raises
    ------
    ValueError
        If a setting is out of its range.
    Infeasible
        When called, if k is larger than the view; or with ``leftovers="relax"``, if a record can be neither grouped nor
        joined.

    Notes
    -----
    BayFrame, section 5.2, Algorithm 1, which takes beta and then asks for J-similarity only; the text asks for all three.
    With ``patience=None`` and ``judged="view"`` it is that algorithm. The order is `nearest_point_order`.

    A group of more than k records was not satisfied with fewer. Who knows the rule can learn from that, as from any defense
    whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

    Cost: that of
    the order, and O(n m) to grow groups of bounded size; O(m) more for each leftover and each group that it asks, which
    is all of them where none takes it in.

    Examples
    --------
    >>> BKAA(3, 5, 0.6).requirement
    KAnonymity(k=3) & BetaLikeness(beta=5) & JSimilarity(j=0.6, base=2.0)
    """

    k: int
    beta: float
    j: float
    enhanced: bool = True
    base: float = 2.0
    also: Requirement | None = None
    leftovers: Leftovers = "join"
    patience: int | None = None
    judged: Literal["published", "view"] = "published"

    weighs_beliefs: ClassVar[bool] = True
    """Groups are bounded by their members' revised priors."""

    def __post_init__(self) -> None:
        check_growing("BKAA", self.k, self.leftovers, ANSWERS, self.patience, self.judged)
        self.requirement  # noqa: B018 - it checks k, beta and j

    @property
    def requirement(self) -> Requirement:
        """The requirement that every group satisfies."""
        return self._requirement(self.beta, self.j, self.also)

    @property
    def smallest(self) -> int:
        """The fewest records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``."""
        check_size("k", self.k, view)
        rows = prior_of(view, prior)
        also = None if self.also is None else self.also.bind(view, rows)
        js = loosened(self.j, math.log(rows.shape[1], self.base))
        betas = loosened(self.beta, math.log(len(view)) if self.enhanced else len(view) - 1)
        rounds = [*((self.beta, j) for j in js[:-1]), *((beta, js[-1]) for beta in betas), (None, js[-1])]
        grouped = AlongAnOrder(
            self._requirement(self.beta, self.j, also).bind(view, rows),
            tuple(self._requirement(beta, j, also).bind(view, rows) for beta, j in rounds),
            "beta and j",
            also,
            self.leftovers,
            self.patience,
            self.judged,
            several=True,
        )
        return grouped(view, rows, nearest_point_order(view.people))

    def _requirement(self, beta: float | None, j: float, also: Requirement | None) -> Requirement:
        likeness = BetaLikeness if self.enhanced else BasicBetaLikeness
        parts = (None if beta is None else likeness(beta), JSimilarity(j, self.base), also)
        return all_of(KAnonymity(self.k), *(part for part in parts if part is not None))
