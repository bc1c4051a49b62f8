"""JS-reduce: groups whose members an adversary cannot tell apart by what is already believed of them."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from foreknow.defenses.anonymity import KAnonymity
from foreknow.defenses.closeness import TCloseness
from foreknow.defenses.growth import grow
from foreknow.defenses.hilbert import hilbert_order
from foreknow.defenses.leftovers import join_nearest, relax, settle, suppress
from foreknow.defenses.requirement import Infeasible, Requirement, all_of, check_whole
from foreknow.defenses.similarity import JSimilarity
from foreknow.defenses.summary import Summary, prior_of, summarize_groups, summarize_records
from foreknow.models import Grouping, Hierarchy, Release, View
from foreknow.models.arrays import FloatArray, IntArray

STEP = 1.25
"""By how much t and j are multiplied in each round of relaxing."""

TIGHTEST = 1e-3
"""From where relaxing starts for thresholds that are smaller."""


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
        under j, and then t, loosened by `STEP` as often as needed, the last few, fewer than k, joining the nearest group
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
        (`settle`), so that all that is published satisfies (except what ``"relax"`` notes).

    Raises
    ------
    ValueError
        If a setting is out of its range; when called, if k is larger than the view.
    Infeasible
        When called with ``leftovers="relax"``, if a record can be neither grouped nor joined.

    Notes
    -----
    Riboni, Pareschi, Bettini, TDSC 2012, Algorithm 4. With ``patience=None`` and ``judged="view"`` it is that algorithm to
    the letter. The order of the curve's axes and its scale are `hilbert_order`'s. Cost: O(n d) to order and O(n m) to grow
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

    def __post_init__(self) -> None:
        if self.judged not in ("published", "view"):
            raise ValueError(f"JSReduce: judged is {self.judged!r}; it is 'published' or 'view'.")
        if self.patience is not None:
            check_whole("JSReduce", "patience", self.patience, "records")
        if self.leftovers not in ("suppress", "relax", "counterfeit"):
            raise ValueError(f"JSReduce: leftovers is {self.leftovers!r}; it is 'suppress', 'relax' or 'counterfeit'.")
        if self.patience is not None and self.patience < self.k:
            raise ValueError(
                f"JSReduce: patience is {self.patience}, and no group has fewer than k = {self.k} records; raise it."
            )
        self.requirement  # noqa: B018 - it checks k, t and j

    @property
    def requirement(self) -> Requirement:
        """What every group satisfies."""
        return self._requirement(self.t, self.j)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view under the defender's revised prior, shape ``(n, m)``."""
        if self.k > len(view):
            raise ValueError(
                f"k is {self.k} and the view at {view.time!r} has {len(view)} records; lower k, or publish more at once."
            )
        rows = prior_of(view, prior)
        given = self if self.also is None else replace(self, also=self.also.given(view, rows))
        return given._grouped(view, rows)

    def _grouped(self, view: View, prior: FloatArray) -> Grouping:
        records = summarize_records(view, prior, self.requirement.reads_members)
        order = hilbert_order(view.people)
        labels = np.full(len(view), -1, dtype=np.int64)
        for number, members in enumerate(grow(records, order, self.requirement, self.patience).groups):
            labels[members] = number
        rank = np.empty(len(view), dtype=np.int64)
        rank[order] = np.arange(len(view))
        if self.leftovers == "suppress":
            return suppress(records, labels, rank, self.requirement, settled=self.judged == "published")
        answer = self._counterfeit if self.leftovers == "counterfeit" else self._relax
        return answer(records, labels, rank)

    def _requirement(self, t: float, j: float) -> Requirement:
        extra = () if self.also is None else (self.also,)
        return all_of(KAnonymity(self.k), TCloseness(t, self.distance), JSimilarity(j, self.base), *extra)

    def _counterfeit(self, records: Summary, labels: IntArray, rank: IntArray) -> Grouping:
        labels, values, notes = join_nearest(records, labels, rank, self.requirement, distort=True)
        published = replace(records, counts=np.eye(records.counts.shape[1], dtype=np.int64)[values])
        unplaced = int((labels < 0).sum())
        more: list[str] = []
        if self.judged == "published":
            labels, more = settle(published, labels, rank, self.requirement)
        if unplaced:
            notes.append(f"{unplaced} records fit no group with any value and are suppressed.")
        notes += more
        return Grouping(labels, values=values, notes=tuple(notes))

    def _relax(self, records: Summary, labels: IntArray, rank: IntArray) -> Grouping:
        of_j = _steps(self.j, math.log(records.counts.shape[1], self.base))
        rounds = 1 + of_j + _steps(self.t, 1.0)

        def loosened(i: int) -> Requirement:
            j, t = max(self.j, TIGHTEST) * STEP ** min(i, of_j + 1), max(self.t, TIGHTEST) * STEP ** max(i - of_j, 0)
            return self._requirement(t if i > of_j else self.t, j)

        labels, notes = relax(records, labels, rank, loosened, rounds, self.patience)
        last = int((labels < 0).sum())
        labels, _, _ = join_nearest(records, labels, rank, loosened(rounds), distort=False)
        if (labels < 0).any():
            raise Infeasible(
                f"{int((labels < 0).sum())} records fit no group of {self.k} or more, even with t and j loosened all the way; "
                f"leave out {self.also!r}, or suppress them with leftovers='suppress'."
            )
        if last:
            notes.append(f"the last {last} leftover records joined the nearest group, whatever its t and j.")
        groups = summarize_groups(records, labels)
        failing = np.flatnonzero(~self.requirement(groups))
        if len(failing):
            notes.append(f"{len(failing)} of {len(groups)} groups do not satisfy {self.requirement!r}.")
        return Grouping(labels, notes=tuple(notes))


def _steps(start: float, end: float) -> int:
    """How often a threshold must be loosened to reach the most that any group can have."""
    start = max(start, TIGHTEST)
    return math.ceil(math.log(end / start, STEP)) if start < end else 0
