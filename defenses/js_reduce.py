"""JS-reduce: groups whose members have similar revised priors."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.algorithms.ordered_growth import GrowingDefense, Leftovers, loosened
from foreknow.defenses.requirements.closeness import JSimilarity, TCloseness
from foreknow.defenses.requirements.diversity import KAnonymity
from foreknow.defenses.requirements.requirement import Requirement, all_of
from foreknow.models import Hierarchy


@dataclass(frozen=True)
class JSReduce(GrowingDefense):
    """Grow groups along a Hilbert curve until they are k-anonymous, t-close and J-similar in the members' revised priors.

    Parameters
    ----------
    k : int
        Smallest number of records of a group.
    t : float
        Largest earth mover's distance between the distribution of sensitive values in a group and in the table.
    j : float
        Largest Jensen-Shannon divergence of the members' revised priors, in units of ``base``.
    base : float
        Base of the divergence's logarithm, over 1.
    distance : "equal", "ordered" or Hierarchy
        Ground distance of t-closeness.
    also : Requirement, optional
        Further requirement of every group, as ``EntropyDiversity(3)``.
    leftovers : {"suppress", "relax", "counterfeit"}
        Treatment of records that fit no group (section 6.3).

        - ``"suppress"``: they are not published.
        - ``"relax"``: they form groups of their own, with j, then t, multiplied by 1.25 as often as needed. The last few, fewer
          than k, join the nearest group, whatever its t and j then are. No record is suppressed; these groups do not satisfy
          the requirement.
        - ``"counterfeit"``: they join the nearest group that then still satisfies, with a counterfeit sensitive value where
          their own violates the requirement. They are suppressed where there is no such group.
    patience : int, optional
        Largest number of records of an unsatisfying group; its first record is then set aside as a leftover. None is the
        printed rule, by which one group that never satisfies takes all remaining records as leftovers.
    judged : {"published", "view"}
        Table whose distribution of values the published groups must be close to. The paper takes the view, suppressed
        records included, as growth does. With ``"published"``, a group that fails against the published table is merged with
        a neighbour (`foreknow.defenses.algorithms.ordered_growth`). A reader of the release can then verify that every
        group satisfies, except those that a note of ``"relax"`` reports.

    Raises
    ------
    Infeasible
        When called, if k is larger than the view; or with ``leftovers="relax"``, if a record can be neither grouped nor joined to a
        group.

    Notes
    -----
    Riboni, Pareschi, Bettini, TDSC 2012, Algorithm 4. ``patience=None`` with ``judged="view"`` is that algorithm as printed.
    `hilbert_order` documents the order of the curve's axes and its scale.

    t-closeness alone does not exclude groups of one value. Where a value has the share f of the table, a group of only that
    value has a distance of at most t if ``f >= 1 - t`` (with ``"equal"``): t = 0.5 allows it for any value of half of the
    records. Such a group discloses its members' values. Require diversity as well: ``also=DistinctDiversity(2)``.

    A group of more than k records did not satisfy with fewer records. An adversary who knows the rule can learn from that, as
    from any defense whose groups depend on the sensitive values (`foreknow.attacks.minimality.merge_credibility`).

    Cost: O(n d) for the order and O(n m) for growing groups of bounded size; with ``"counterfeit"``, O(m) more for each
    leftover and each of the nearest groups that are evaluated for it.

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

    _treatments: ClassVar[tuple[Leftovers, ...]] = ("suppress", "relax", "counterfeit")
    _bounded: ClassVar[str] = "t"
    _merges_several: ClassVar[bool] = False
    _order = staticmethod(hilbert_order)

    def _looser(self, n: int) -> list[float]:  # noqa: ARG002
        return loosened(self.t, 1.0)

    def _requirement(self, t: float, j: float, also: Requirement | None) -> Requirement:
        extra: tuple[Requirement, ...] = () if also is None else (also,)
        return all_of(KAnonymity(self.k), TCloseness(t, self.distance), JSimilarity(j, self.base), *extra)
