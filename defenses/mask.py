"""MASK: groups that show a sensitive set too often are distorted to look like other groups."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from foreknow.defenses.buckets.bounded import bounded_kinds
from foreknow.defenses.mondrian import Mondrian
from foreknow.defenses.publish import Defense
from foreknow.defenses.requirements.anonymity import KAnonymity
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, Infeasible, Requirement
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.foreground.sensitive_set import SensitiveSet, as_sensitive_values
from foreknow.models.settings import as_generator, check_whole, stored_generator


@dataclass(frozen=True)
class MASK:
    """Group records without reading sensitive values, then change the values of groups with too many sensitive ones.

    No group depends on a sensitive value, so that nobody learns anything from how records were grouped. A group is
    violating if more than one in l of its records show the sensitive set. V such groups are masked: each draws, from the
    shares of the l - 1 times V other groups with the highest ones, the share that it is to show. Of the groups that look
    like one of these, at most one in l was violating, on average over what is drawn. (Without a sensitive set, "like one of these"
    is by the largest share, of whatever value: of the groups in which a certain value is most frequent, more may have been.)

    Parameters
    ----------
    k : int
        The fewest records of a group.
    l : int
        One in l records of a published group may show the sensitive set; in the paper l is m, the bound on what an
        adversary who knows of minimality may believe.
    sensitive : sequence of values, optional
        The sensitive set. Without one, every value is bounded on its own: a group's share is that of its most frequent
        value, and `FrequencyDiversity` of l holds in what is published.
    grouped : function of a Requirement to a defense
        What groups the view under ``KAnonymity(k)``: `Mondrian`, or another that reads no sensitive value (not checked).
    bucketized : bool
        Whether quasi-identifiers are published as they are, or generalized.
    rng : numpy.random.Generator or int, optional
        Draws the shares, and which records are changed into what, for experiments that must be repeated; these need
        `publish(rng=...)` too, which draws the order of the records and the numbers of the groups. Each call continues where the
        last one stopped. A seed is found by trying all of them. By default each call draws from fresh entropy.

    Raises
    ------
    ValueError
        If k, l or the sensitive set is none; when called, if k is larger than the view, the view knows no such value or no
        other, or ``grouped`` changes values itself.
    Infeasible
        When called, if every group is violating, so that there is none to look like; or a group cannot be made to satisfy
        with the values there are.

    Notes
    -----
    Wong, Fu, Wang, Pei, VLDB 2007. Grouping, masking and the guarantee are a reconstruction of the paper's:
    the choice of the groups to look like, by the highest shares (ties to the first group), is likely; what values are
    changed into is our reading. A group of n records that is to show the share p keeps the whole number nearest to p n,
    or n / l if that is less: for groups of other sizes than those they imitate the guarantee holds as nearly as shares can
    be equal. Records are chosen at random among the sensitive ones; each takes a value, drawn from the group's own others
    as often as they occur in it, or from the table's where it has none. Without a sensitive set, values that are at the
    group's bound are not taken. Where fewer groups satisfy than are to be imitated, all are, and a note says how much is
    missing. What was changed is counted in a note.

    Cost: that of grouping, O(g m), and O(m) for every changed record.

    Examples
    --------
    >>> MASK(2, 3, sensitive=("flu", "HIV")).sensitive
    ('flu', 'HIV')
    """

    k: int
    l: int  # noqa: E741 - the field's own letter
    sensitive: tuple[Hashable, ...] | None = None
    grouped: Callable[[Requirement], Defense] = Mondrian
    bucketized: bool = False
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("MASK", "k", self.k, "records")
        check_whole("MASK", "l", self.l, "records, of which one may be sensitive")
        object.__setattr__(self, "rng", stored_generator("MASK", self.rng))
        if self.sensitive is not None:
            object.__setattr__(self, "sensitive", as_sensitive_values("MASK", self.sensitive))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:
        """Group a view; the prior, shape ``(n, m)``, matters only to a defense that groups by it."""
        prior_of(view, prior)
        kinds = bounded_kinds("MASK", view, self.sensitive)
        SensitiveSet.of(view.schema.values, self.sensitive, "MASK")
        grouping = replace(self.grouped(KAnonymity(self.k))(view, prior, past), bucketized=self.bucketized)
        if grouping.values is not None or grouping.counterfeits is not None:
            raise ValueError(
                "MASK: what groups the view changes values itself; MASK alone may. Group by another defense."
            )
        groups = Release(view, grouping)
        share = _shares(groups.counts, kinds)
        violating = share > 1 / self.l + LEVEL_TOLERANCE
        if not violating.any():
            return grouping
        likened = self._likened(share, violating, view)
        values, changed = self._masked(groups, kinds, violating, share[likened])
        notes = [f"{changed} records of {violating.sum()} groups show another value than their own."]
        if len(likened) < (self.l - 1) * violating.sum():
            notes.append(
                f"{len(likened)} groups satisfy and are looked like, {(int(self.l) - 1) * violating.sum()} should be: of those "
                f"that look alike a share of {violating.sum() / (violating.sum() + len(likened)):.4g} was violating."
            )
        return replace(grouping, values=values, notes=(*grouping.notes, *notes))

    @property
    def smallest(self) -> int:
        """The fewest records of a group, k."""
        return int(self.k)

    def _likened(self, share: FloatArray, violating: BoolArray, view: View) -> IntArray:
        """The groups that the violating ones are to look like."""
        order = np.argsort(-share, kind="stable")
        likened = order[~violating[order]][: (int(self.l) - 1) * int(violating.sum())]
        if not len(likened):
            raise Infeasible(
                f"MASK: in all {len(share)} groups of the view at {view.time!r} more than one in l = {self.l} records are "
                "sensitive, and there is none to make them look like. Lower l, raise k, or name a rarer sensitive set."
            )
        return likened

    def _masked(
        self, groups: Release, kinds: IntArray, violating: BoolArray, shares: FloatArray
    ) -> tuple[IntArray, int]:
        """The values to be published, and how many of them are not the record's own."""
        values = groups.view.sensitive.copy()
        by_group = np.argsort(groups.group, kind="stable")
        starts = np.searchsorted(groups.group[by_group], np.arange(groups.groups + 1))
        rng = as_generator("MASK", self.rng, optional=True)
        table, bounded = np.bincount(values, minlength=len(kinds)), int(kinds.max()) + 1
        for group, share in zip(np.flatnonzero(violating), rng.choice(shares, violating.sum()), strict=True):
            rows = by_group[starts[group] : starts[group + 1]]
            most = np.append(np.full(bounded, self._most(len(rows), share, kinds)), len(rows))
            values[rows] = _within(most, values[rows], np.where(kinds < 0, bounded, kinds), table, rng)
        return values, int((values != groups.view.sensitive).sum())

    def _most(self, size: int, share: float, kinds: IntArray) -> int:
        """Number of records of each kind that a group may keep."""
        most, allowed = int(np.floor(share * size + 0.5)), size // int(self.l)
        needed = 0 if self.sensitive else math.ceil(size / len(kinds))
        if needed > allowed:
            raise Infeasible(
                f"MASK: no group of {size} records can show each of {len(kinds)} values in at most one in l = {self.l} of "
                "them. Lower l, raise k, or name a sensitive set."
            )
        return max(min(most, allowed), needed)


def _within(most: IntArray, values: IntArray, kinds: IntArray, table: IntArray, rng: np.random.Generator) -> IntArray:
    """A group's values after as few of them were changed as leave no kind of value more than its most records."""
    values, own = values.copy(), np.bincount(values, minlength=len(kinds))
    surplus = np.maximum(np.bincount(kinds[values], minlength=len(most)) - most, 0)
    held = np.bincount(kinds[values], minlength=len(most)) - surplus
    over = np.flatnonzero(surplus)
    changed = [rng.choice(np.flatnonzero(kinds[values] == kind), surplus[kind], replace=False) for kind in over]
    for record in np.concatenate(changed):
        room = (held < most)[kinds]
        weights = next(weights for weights in (own * room, table * room, 1 * room) if weights.any())
        values[record] = rng.choice(len(kinds), p=weights / weights.sum())
        held[kinds[values[record]]] += 1
    return values


def _shares(counts: IntArray, kinds: IntArray) -> FloatArray:
    """The share of each group's records that are of its most frequent kind: float array, shape ``(g,)``."""
    of_kind = np.zeros((len(kinds), int(kinds.max()) + 1), dtype=np.int64)
    bounded = np.flatnonzero(kinds >= 0)
    of_kind[bounded, kinds[bounded]] = 1
    return np.asarray((counts @ of_kind).max(axis=1) / counts.sum(axis=1))
