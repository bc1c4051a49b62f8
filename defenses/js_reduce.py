"""JS-reduce: groups whose members have similar revised priors."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.algorithms.ordered_growth import OrderedGrowth, check_growing, loosened
from foreknow.defenses.requirements.closeness import JSimilarity, TCloseness
from foreknow.defenses.requirements.diversity import KAnonymity
from foreknow.defenses.requirements.requirement import Requirement, all_of, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Hierarchy, Release, View
from foreknow.models.arrays import FloatArray

# Treatments of leftovers
LEFTOVERS: tuple[Literal["suppress", "relax", "counterfeit"], ...] = ("suppress", "relax", "counterfeit")


@dataclass(frozen=True)
class JSReduce:
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
    from any defense whose groups depend on the sensitive values (`foreknow.attacks.merge_credibility`).

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

    weighs_beliefs: ClassVar[bool] = True
    """The groups depend on the prior: J-similarity bounds its divergence within a group."""

    def __post_init__(self) -> None:
        check_growing("JSReduce", self.k, self.leftovers, LEFTOVERS, self.patience, self.judged)
        self.requirement  # noqa: B018 - its parts check t, j, base, distance and also

    @property
    def requirement(self) -> Requirement:
        """Requirement of every group."""
        return self._requirement(self.t, self.j, self.also)

    @property
    def smallest(self) -> int:
        """Smallest number of records of a group, k."""
        return int(self.k)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view, given the revised prior, shape ``(n, m)``; rows are probabilities."""
        rows = prior_of(view, prior)
        check_size("k", self.k, view)
        also = None if self.also is None else self.also.bind(view, rows)
        js, ts = loosened(self.j, math.log(rows.shape[1], self.base)), loosened(self.t, 1.0)
        rounds = [*((self.t, j) for j in js[:-1]), *((t, js[-1]) for t in ts)]
        growth = OrderedGrowth(
            self._requirement(self.t, self.j, also).bind(view, rows),
            tuple(self._requirement(t, j, also).bind(view, rows) for t, j in rounds),
            "t and j",
            also,
            self.leftovers,
            self.patience,
            self.judged,
            merge_several=False,
        )
        return growth(view, rows, hilbert_order(view.people))

    def _requirement(self, t: float, j: float, also: Requirement | None) -> Requirement:
        extra = () if also is None else (also,)
        return all_of(KAnonymity(self.k), TCloseness(t, self.distance), JSimilarity(j, self.base), *extra)
