"""m-invariance: a respondent who is published again stays hidden among the same sensitive values."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.m_invariance.assignment import assign, balance, padding, served
from foreknow.defenses.m_invariance.signatures import Signatures, signatures
from foreknow.defenses.requirements.requirement import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import as_generator, check_whole, stored_generator


@dataclass(frozen=True)
class MInvariance:
    """Groups of at least m different sensitive values, each shown once, the same for a respondent at every release.

    Parameters
    ----------
    m : int
        1 or more.
    deterministic : bool
        Put records together that lie close on a Hilbert curve, as far as the values allow, and draw nothing. The cost: an
        insider who knows this rule, the groups and one person's value derives the values of most other people of the same
        signature with certainty, at any table size (see Notes). Use it for experiments only.
    rng : numpy.random.Generator or int, optional
        Source of the random choices, for experiments that must be repeated; these need `publish(rng=...)` too, which draws the
        order of the records and the numbers of the groups. Each call continues where the last one stopped. A seed is found by
        trying all of them. By default each call draws from fresh entropy.

    Raises
    ------
    ValueError
        If m is out of its range, or ``rng`` is given with ``deterministic``.
    Infeasible
        When called, if the view has fewer than m records, or the sensitive domain fewer than m values.

    Notes
    -----
    Xiao, Tao, SIGMOD 2007: a reconstruction of the paper's four phases.

    1. *Division*: respondents who were published before go into a bucket per signature, the set of values of the group
       they were in.
    2. *Balancing*: a bucket needs each value of its signature equally often. It takes in what there is of new records, and
       counterfeits for the rest.
    3. *Assignment*: of the new records that are left, equally many of each of the most frequent values go into the bucket
       of these values, in steps, until none is left (`foreknow.defenses.m_invariance.assignment.assign`).
    4. *Split*: a bucket's records of each value are put in a random order, and its groups are the first of each, the second
       of each, and so on, spread evenly where counterfeits fill up. With ``deterministic`` the order is that of a Hilbert
       curve. The paper's own split is not known here.

    Where more than one in m of the new records share a value, as they may after the balancing or in the first view, as many
    counterfeits of other values are added as make them eligible. Both kinds together are as few as these buckets allow at
    each release, nobody is suppressed, and every group has a true record.

    Signatures are invariant for respondents whose value has not changed. Who has another value than when last published,
    which the paper does not cover, is treated as new, as footnote 2 of JS-reduce reads the definition; the notes say how
    many. Nor does the paper cover a return after an absence: who returns with the same value has the signature of the last
    release that shows the record. So the sets of values among which a respondent is hidden, from one change of value to the
    next, have at least m in common.

    New records are drawn uniformly, both into buckets and into groups. In a first release all assignments of a group's
    values to its members are therefore equally likely, also for an adversary who knows the rule and the values of some
    people (enumerated in the tests). In later releases the rule still tells two things, as the algorithm needs the fewest
    counterfeits. New records that balance a bucket have the values that its survivors lack; who knows one of them may know
    others. A counterfeit never shows the value that is most frequent in its bucket, so that its group's records are more
    likely to have that value.

    The random order costs utility where quasi-identifiers are generalized: groups are as wide as m records drawn from a bucket
    (on three views of 2,000 exams, a normalized certainty penalty of .38 instead of .27 for m = 2, and .74 instead of .50 for
    m = 5). Publish with
    ``publish(..., bucketized=True)`` to keep quasi-identifiers exact. A rule that pairs near records where it can does not
    help: a pair that lies far apart then says that the values around it are unbalanced, and an insider who knows one of them
    knows the others. With ``deterministic`` this is extreme, as with `Anatomy`.

    Cost: O(n log n + n m + b m^2) and the reading of the past, with b the buckets.

    Examples
    --------
    >>> MInvariance(3)
    MInvariance(m=3, deterministic=False, rng=None)
    """

    m: int
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("MInvariance", "m", self.m, "values")
        object.__setattr__(self, "rng", stored_generator("MInvariance", self.rng, self.deterministic))

    @property
    def smallest(self) -> int:
        """The fewest records of a view, m."""
        return int(self.m)

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:
        """Group a view after the releases so far; the prior, shape ``(n, m)``, does not matter."""
        prior_of(view, prior)
        m, domain = int(self.m), len(view.schema.values)
        check_size("m", m, view)
        if m > domain:
            raise Infeasible(
                f"m is {m} and the sensitive domain has {domain} values; a group needs m different ones. Lower m."
            )
        kept = signatures(view, past, m)
        rng = None if self.deterministic else as_generator("MInvariance", self.rng, optional=True)
        plan = _plan(view.sensitive, kept.values, m, rng)
        rank = np.empty(len(view), dtype=np.int64)
        rank[hilbert_order(view.people) if rng is None else rng.permutation(len(view))] = np.arange(len(view))
        bucket = _filled(plan, view.sensitive, rank)
        labels = _split(plan, bucket, view.sensitive, rank)
        counterfeits = _lacking(plan, labels, view.sensitive)
        notes = _notes(kept, len(counterfeits) - plan.padded, plan.padded, m)
        return Grouping(labels, counterfeits=counterfeits if len(counterfeits) else None, notes=notes)


class _Plan(NamedTuple):
    """Contents of every signature's bucket.

    Attributes
    ----------
    signatures : bool array, shape (b, v)
    bucket : int array, shape (n,)
        The bucket of each survivor; -1 for new records.
    fresh : int array, shape (b, v)
        How many new records of each value go into each bucket.
    groups : int array, shape (b,)
        How many groups each bucket is split into.
    padded : int
        How many counterfeits there are because too many new records share a value.
    """

    signatures: BoolArray
    bucket: IntArray
    fresh: IntArray
    groups: IntArray
    padded: int


def _plan(sensitive: IntArray, kept: BoolArray, m: int, rng: np.random.Generator | None) -> _Plan:
    """Division, balancing and assignment."""
    old = np.flatnonzero(kept.any(axis=1))
    domain = kept.shape[1]
    divided, place = np.unique(kept[old], axis=0, return_inverse=True)
    survivors = np.bincount(place * domain + sensitive[old], minlength=divided.size).reshape(divided.shape)
    everything = np.bincount(sensitive, minlength=domain)
    fresh = everything - survivors.sum(axis=0)
    taken = balance(divided, survivors, fresh)
    rest = fresh - taken.sum(axis=0)
    invented = padding(rest, everything, m, rng)
    dealt, records = assign(rest + invented, m)
    true = served(dealt * records[:, None], rest)
    signatures, merged = np.unique(np.concatenate([divided, dealt]), axis=0, return_inverse=True)
    groups, joining = np.zeros(len(signatures), dtype=np.int64), np.zeros(signatures.shape, dtype=np.int64)
    np.add.at(groups, merged, np.concatenate([survivors.max(axis=1, initial=0), records]))
    np.add.at(joining, merged, np.concatenate([taken, true]))
    bucket = np.full(len(sensitive), -1, dtype=np.int64)
    bucket[old] = merged[place]
    return _Plan(signatures, bucket, joining, groups, int(invented.sum()))


def _filled(plan: _Plan, sensitive: IntArray, rank: IntArray) -> IntArray:
    """The bucket of every record: each bucket's share of a value's new records is spread along the order."""
    bucket, value = np.nonzero(plan.fresh)
    size = plan.fresh[bucket, value]
    place = (np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + 0.5) / np.repeat(size, size)
    order = np.lexsort((np.repeat(bucket, size), place, np.repeat(value, size)))
    fresh = np.flatnonzero(plan.bucket < 0)
    filled = plan.bucket.copy()
    filled[fresh[np.lexsort((rank[fresh], sensitive[fresh]))]] = np.repeat(bucket, size)[order]
    return filled


def _split(plan: _Plan, bucket: IntArray, sensitive: IntArray, rank: IntArray) -> IntArray:
    """The group of every record: of each value in a bucket the first along the order, the second, ..."""
    cell = bucket * plan.signatures.shape[1] + sensitive
    order = np.lexsort((rank, cell))
    size = np.bincount(cell)
    first = np.cumsum(size) - size
    place = np.empty(len(cell), dtype=np.int64)
    place[order] = np.arange(len(cell)) - first[cell[order]]
    return np.asarray((np.cumsum(plan.groups) - plan.groups)[bucket] + place * plan.groups[bucket] // size[cell])


def _lacking(plan: _Plan, labels: IntArray, sensitive: IntArray) -> IntArray:
    """The counterfeits: what each group lacks of its signature."""
    lacking = np.repeat(plan.signatures, plan.groups, axis=0)
    lacking[labels, sensitive] = False
    return np.argwhere(lacking)


def _notes(kept: Signatures, balancing: int, padded: int, m: int) -> tuple[str, ...]:
    notes = []
    if balancing:
        notes.append(f"{balancing} counterfeits stand where a signature lacks a record of one of its values.")
    if padded:
        notes.append(f"{padded} counterfeits stand where more than one in {m} new records share a value.")
    if kept.changed:
        notes.append(f"{kept.changed} respondents have another value than when last published, and are treated as new.")
    if kept.unfit:
        notes.append(
            f"{kept.unfit} respondents were last published among values without theirs or fewer than {m}, and are treated as new."
        )
    return tuple(notes)
