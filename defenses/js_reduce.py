"""JS-reduce: groups whose members an adversary cannot tell apart by what is already believed of them."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from foreknow.defenses.growing.along_an_order import AlongAnOrder, check_growing, loosened
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.closeness import TCloseness
from foreknow.defenses.requirements.requirement import Requirement, all_of, check_size
from foreknow.defenses.requirements.similarity import JSimilarity
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Hierarchy, Release, View
from foreknow.models.arrays import FloatArray

ANSWERS: tuple[Literal["suppress", "relax", "counterfeit"], ...] = ("suppress", "relax", "counterfeit")


@dataclass(frozen=True)
class JSReduce:
    """Grow groups along a Hilbert curve until they are k-anonymous, t-close, and alike in the defender's revised prior.

    Parameters
    ----------
    k : int
        The fewest records of a group.
    t : float
        The largest earth mover's distance of a group's values from the table's.
    j : float
        The largest Jensen-Shannon divergence of the members' revised priors, in units of ``base``.
    base : float
        The base of the divergence's logarithm.
    distance : "equal", "ordered" or Hierarchy
        The ground distance of t-closeness.
    also : Requirement, optional
        What else every group must satisfy, as ``EntropyDiversity(3)``.
    leftovers : {"suppress", "relax", "counterfeit"}
        What becomes of records that fit no group (section 6.3). They are left out. Or they are grouped among themselves
        under j, and then t, loosened by a quarter as often as needed, the last few, fewer than k, joining the nearest group
        whatever its t and j then are: nobody is left out, and those groups are not protected as asked. Or they join the
        nearest group that keeps the requirement, with a counterfeit value where their own breaks it, and are left out
        only where none does.
    patience : int, optional
        The most records a group may reach unsatisfied before its oldest one is set aside as a leftover. None is the
        printed rule, under which one group that cannot be satisfied leaves out the rest of the table.
    judged : {"published", "view"}
        Against which distribution of values groups must be close in the end. The paper judges them against the view's,
        suppressed records included, as they are grown. ``"published"`` then makes sure of what anybody can check: a group
        that fails against the published table by a hair, because others were left out, is merged with a neighbour
        (`foreknow.defenses.growing.enforce_on_published`), so that all that is published satisfies (except what ``"relax"`` notes).

    Raises
    ------
    ValueError
        If a setting is out of its range.
    Infeasible
        When called, if k is larger than the view; or with ``leftovers="relax"``, if a record can be neither grouped nor
        joined.

    Notes
    -----
    Riboni, Pareschi, Bettini, TDSC 2012, Algorithm 4. With ``patience=None`` and ``judged="view"`` it is that algorithm to
    the letter. The order of the curve's axes and its scale are `hilbert_order`'s.

    t-closeness alone does not prevent groups of one value: where a value has the share f of the table, a group of that value
    is at most t away as soon as ``f >= 1 - t`` (with ``"equal"``), so that t = 0.5 allows it for any value of half of the
    records. Such a group discloses its members' values. Ask for diversity as well: ``also=DistinctDiversity(2)``.

    A group of more than k records was not satisfied with fewer. Who knows the rule can learn from that, as from any defense
    whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

    Cost: O(n d) to order and O(n m) to grow
    groups of bounded size; with ``"counterfeit"``, O(m) more for each leftover and each of the nearest groups it asks.

    Examples
    --------
    >>> JSReduce(3, 0.5, 0.6).requirement
    KAnonymity(k=3) & TCloseness(t=0.5) & JSimilarity(j=0.6, base=2.0)
    """

    k: int
    t: float
    j: float
    base: float = 2.0
    distance: "Literal['equal', 'ordered'] | Hierarchy" = "equal"
    also: Requirement | None = None
    leftovers: Literal["suppress", "relax", "counterfeit"] = "suppress"
    patience: int | None = None
    judged: Literal["published", "view"] = "published"

    weighs_beliefs: ClassVar[bool] = True
    """Groups are bounded by their members' revised priors."""

    def __post_init__(self) -> None:
        check_growing("JSReduce", self.k, self.leftovers, ANSWERS, self.patience, self.judged)
        self.requirement  # noqa: B018 - it checks k, t and j

    @property
    def requirement(self) -> Requirement:
        """The requirement that every group satisfies."""
        return self._requirement(self.t, self.j, self.also)

    @property
    def smallest(self) -> int:
        """The fewest records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``."""
        check_size("k", self.k, view)
        rows = prior_of(view, prior)
        also = None if self.also is None else self.also.bind(view, rows)
        js, ts = loosened(self.j, math.log(rows.shape[1], self.base)), loosened(self.t, 1.0)
        rounds = [*((self.t, j) for j in js[:-1]), *((t, js[-1]) for t in ts)]
        grouped = AlongAnOrder(
            self._requirement(self.t, self.j, also).bind(view, rows),
            tuple(self._requirement(t, j, also).bind(view, rows) for t, j in rounds),
            "t and j",
            also,
            self.leftovers,
            self.patience,
            self.judged,
            several=False,
        )
        return grouped(view, rows, hilbert_order(view.people))

    def _requirement(self, t: float, j: float, also: Requirement | None) -> Requirement:
        extra = () if also is None else (also,)
        return all_of(KAnonymity(self.k), TCloseness(t, self.distance), JSimilarity(j, self.base), *extra)
