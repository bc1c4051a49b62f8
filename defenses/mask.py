"""MASK: distortion of groups that show a sensitive set too often, so that they imitate other groups."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace

import numpy as np

from foreknow.defenses.anatomy import value_classes
from foreknow.defenses.mondrian import Mondrian
from foreknow.defenses.publish import Defense, SizedDefense
from foreknow.defenses.requirements.diversity import KAnonymity
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, Infeasible, Requirement
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.notes import Note
from foreknow.models.settings import as_generator, check_whole, stored_generator
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values

CHANGED = (
    "{changed:,} {changed:record|records} of {groups:,} {groups:group|groups} "
    "{changed:shows another value than its|show another value than their} own."
)
FEW_IMITATED = (
    "{imitated:,} {imitated:group satisfies and is|groups satisfy and are} imitated, {wanted} should be: of the groups that look "
    "alike a share of {share:.4g} was violating."
)


@equal_by_fields
@dataclass(frozen=True)
class MASK(SizedDefense):
    """Groups made without reading sensitive values, then distorted where the sensitive set is too frequent.

    No group depends on a sensitive value, so that the grouping itself discloses nothing. A group violates if more than one in l
    of its records show the sensitive set. The V violating groups are masked. Each draws the share that it will show from the
    shares of the (l - 1) V satisfying groups with the highest ones, which it imitates. Of the groups that look like one of
    these, at most one in l was violating, in expectation over the draws. (Without a sensitive set, groups look alike if their
    largest shares are equal, of whatever value; of the groups in which a given value is most frequent, more may have violated.)

    Parameters
    ----------
    k : int
        Least number of records of a group.
    l : int
        At most one in l records of a published group shows the sensitive set. The paper writes m for it: the bound on the belief
        of an adversary who knows of minimality.
    sensitive_set : collection of values, optional
        The sensitive set. Without one, each value is bounded on its own: the share of a group is that of its most frequent
        value, and `FrequencyDiversity` of l holds in what is published.
    grouped : callable
        Maps a requirement, ``KAnonymity(k)``, to the defense that groups the view: `Mondrian`, or another that reads no
        sensitive value (not checked).
    bucketized : bool
        If True, quasi-identifiers are published unchanged; otherwise they are generalized.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, as of `Anatomy`.

    Raises
    ------
    ValueError
        When called, if a value of the sensitive set is not in the domain, the set is the whole domain, or the defense of
        ``grouped`` distorts values or adds counterfeits itself.
    Infeasible
        When called, if k is larger than the view; if every group violates, so that there is none to imitate; or if no distortion
        makes a group satisfy.

    Notes
    -----
    Wong, Fu, Wang, Pei, VLDB 2007. Grouping, masking and the guarantee are a reconstruction. The choice of the imitated groups,
    by the highest shares (ties to the first group), is likely that of the paper; the choice of the new values is our reading.
    A group of n records that is to show the share p keeps the integer nearest to p n, or n / l if that is less. For groups of
    other sizes than those they imitate, the guarantee holds up to the rounding of shares. The changed records are drawn uniformly
    among the sensitive ones. Each takes a value drawn from the group's own other values in proportion to their counts, or from
    the table's values if the group has none. Without a sensitive set, values at the group's bound are not taken. If fewer groups
    satisfy than are to be imitated, all are imitated, and a note gives the resulting share. A note counts the distorted values.

    Cost: that of grouping, O(g m), and O(m) for each distorted value.

    Examples
    --------
    >>> MASK(2, 3, sensitive_set=("flu", "HIV")).sensitive_set
    ('flu', 'HIV')
    """

    k: int
    l: int  # noqa: E741 - the field's own letter
    sensitive_set: tuple[Hashable, ...] | None = None
    grouped: Callable[[Requirement], Defense] = Mondrian
    bucketized: bool = False
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("MASK", "k", self.k, "records")
        check_whole("MASK", "l", self.l, "records, of which one may be sensitive")
        # A requirement, or a defense with its settings, is callable too, and has the property ``smallest``.
        has_settings = hasattr(self.grouped, "smallest") and not isinstance(self.grouped, type)
        if has_settings or not callable(self.grouped):
            raise TypeError(
                f"MASK: grouped is {self.grouped!r:.60}; it is a function from a requirement to a defense, as Mondrian without "
                "arguments."
            )
        object.__setattr__(self, "rng", stored_generator("MASK", self.rng))
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("MASK", self.sensitive_set))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:
        """Group a view; the prior, shape ``(n, m)``, is only passed on to the defense of ``grouped``."""
        prior_of(view, prior)
        classes = value_classes("MASK", view, self.sensitive_set)
        SensitiveSet.within(view.schema.values, self.sensitive_set, "MASK")
        grouping = replace(self.grouped(KAnonymity(self.k))(view, prior, past), bucketized=self.bucketized)
        if grouping.values is not None or grouping.counterfeits is not None:
            raise ValueError(
                "MASK: the defense of grouped distorts values or adds counterfeits, which only MASK may do. Group by another "
                "defense, as Mondrian."
            )
        groups = Release(view, grouping)
        share = _largest_shares(groups.counts, classes)
        violating = share > 1 / self.l + LEVEL_TOLERANCE
        if not violating.any():
            return grouping
        imitated = self._imitated(share, violating, view)
        values, changed = self._distorted_values(groups, classes, violating, share[imitated])
        number, wanted = int(violating.sum()), (int(self.l) - 1) * int(violating.sum())
        notes = [Note(CHANGED, changed=changed, groups=number)]
        if len(imitated) < wanted:
            few = {"imitated": len(imitated), "wanted": wanted, "share": number / (number + len(imitated))}
            notes.append(Note(FEW_IMITATED, **few))
        return replace(grouping, values=values, notes=(*grouping.notes, *notes))

    def _imitated(self, share: FloatArray, violating: BoolArray, view: View) -> IntArray:
        """The satisfying groups that the violating ones imitate."""
        order = np.argsort(-share, kind="stable")
        imitated = order[~violating[order]][: (int(self.l) - 1) * int(violating.sum())]
        if not len(imitated):
            raise Infeasible.of_view(
                f"MASK: in all {len(share)} groups of the ",
                view.time,
                f" more than one in l = {self.l} records are sensitive, so that there is none to imitate. "
                "Lower l, raise k, or give a rarer sensitive set.",
            )
        return imitated

    def _distorted_values(
        self, groups: Release, classes: IntArray, violating: BoolArray, shares: FloatArray
    ) -> tuple[IntArray, int]:
        """The values to publish, shape ``(n,)``, and the number of records whose value is distorted."""
        values = groups.view.sensitive.copy()
        by_group = np.argsort(groups.group, kind="stable")
        starts = np.searchsorted(groups.group[by_group], np.arange(groups.groups + 1))
        rng = as_generator("MASK", self.rng, optional=True)
        table, bounded = np.bincount(values, minlength=len(classes)), int(classes.max()) + 1
        # Free values are one more class, without a bound.
        every_class = np.where(classes < 0, bounded, classes)
        for group, share in zip(np.flatnonzero(violating), rng.choice(shares, violating.sum()), strict=True):
            rows = by_group[starts[group] : starts[group + 1]]
            most = np.append(np.full(bounded, self._class_limit(len(rows), share, classes)), len(rows))
            values[rows] = _distorted(values[rows], every_class, most, table, rng)
        return values, int((values != groups.view.sensitive).sum())

    def _class_limit(self, size: int, share: float, classes: IntArray) -> int:
        """Largest number of records of each class in a group that is to show a share."""
        nearest, allowed = int(np.floor(share * size + 0.5)), size // int(self.l)
        needed = 0 if self.sensitive_set else math.ceil(size / len(classes))
        if needed > allowed:
            raise Infeasible(
                f"MASK: no group of {size} records can show each of {len(classes)} values in at most one in l = {self.l} of "
                "them. Lower l, raise k, or give a sensitive set."
            )
        return max(min(nearest, allowed), needed)


def _distorted(
    values: IntArray,  # (k,): sensitive codes of the group
    classes: IntArray,  # (m,): class of each value
    most: IntArray,  # (c,): largest number of records of each class
    table: IntArray,  # (m,): counts of the values in the view
    rng: np.random.Generator,
) -> IntArray:
    """Values of a group after the fewest changes that leave each class at most a number of records."""
    values, own = values.copy(), np.bincount(values, minlength=len(classes))
    count = np.bincount(classes[values], minlength=len(most))
    surplus = np.maximum(count - most, 0)
    kept = count - surplus
    changed = [
        rng.choice(np.flatnonzero(classes[values] == number), surplus[number], replace=False)
        for number in np.flatnonzero(surplus)
    ]
    for record in np.concatenate(changed):
        has_room = (kept < most)[classes]
        weights = next(weights for weights in (own * has_room, table * has_room, 1 * has_room) if weights.any())
        values[record] = rng.choice(len(classes), p=weights / weights.sum())
        kept[classes[values[record]]] += 1
    return values


def _largest_shares(counts: IntArray, classes: IntArray) -> FloatArray:
    """Share of the most frequent class in each group: ``(g, m)`` to ``(g,)``."""
    in_class = np.zeros((len(classes), int(classes.max()) + 1), dtype=np.int64)
    bounded = np.flatnonzero(classes >= 0)
    in_class[bounded, classes[bounded]] = 1
    return np.asarray((counts @ in_class).max(axis=1) / counts.sum(axis=1))
