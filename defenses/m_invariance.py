"""m-invariance: each respondent keeps the same set of possible sensitive values from release to release."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.publish import SizedDefense
from foreknow.defenses.requirements.requirement import Infeasible
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.notes import Note
from foreknow.models.settings import as_generator, check_whole, stored_generator

FILLING = (
    "{number:,} {number:counterfeit fills|counterfeits fill} signatures that lack a record of one of their values."
)
ELIGIBILITY = (
    "{number:,} {number:counterfeit is|counterfeits are} added because more than one in {m} new records share a value."
)
CHANGED = (
    "{number:,} {number:respondent has|respondents have} another value than when last published, and {number:is|are} treated "
    "as new."
)
UNFIT = (
    "{number:,} {number:respondent was|respondents were} last published among values without theirs or fewer than {m}, and "
    "{number:is|are} treated as new."
)


@equal_by_fields
@dataclass(frozen=True)
class MInvariance(SizedDefense):
    """Groups of at least m distinct sensitive values, each shown once, and the same for a respondent at every release.

    Parameters
    ----------
    m : int
        Least number of values of a group, 1 or more.
    deterministic : bool
        If True, records that are close on a Hilbert curve are grouped, and nothing is drawn; then an insider derives the values of
        others with certainty, as of `Anatomy`. For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, as of `Anatomy`.

    Raises
    ------
    ValueError
        When called, if ``past`` does not hold releases of the same sensitive domain.
    Infeasible
        When called, if the view has fewer than m records, or the sensitive domain fewer than m values.

    Notes
    -----
    Xiao, Tao, SIGMOD 2007: a reconstruction of the paper's four phases.

    1. *Division*: respondents who were published before (survivors) go into one bucket for each signature, the set of values of
       the group they were in.
    2. *Balancing*: a bucket needs each value of its signature equally often. It takes in new records where there are any, and
       counterfeits for the rest.
    3. *Assignment*: equal numbers of the remaining new records of each of the most frequent values go into the bucket of these
       values, in steps, until none remains (`foreknow.defenses.m_invariance.assign`).
    4. *Split*: the records of each value of a bucket are put in a random order. The bucket's groups are the first record of each
       value, the second of each, and so on; a value with counterfeits is spread evenly. With ``deterministic`` the order is
       that of a Hilbert curve. The split of the paper is not known here.

    If more than one in m of the new records share a value, after the balancing or in the first view, counterfeits of other
    values are added until they are eligible. The number of counterfeits of both kinds is the least that these buckets allow at
    each release. No record is suppressed, and every group has a true record.

    Signatures are invariant for respondents whose value has not changed. A respondent with another value than when last published,
    a case which the paper does not cover, is treated as new, as footnote 2 of JS-reduce reads the definition; a note counts them.
    Nor does the paper cover a return after an absence: a respondent who returns with the same value has the signature of the
    last release that shows the record. From one change of value to the next, the groups of a respondent therefore have at least m
    values in common.

    New records are drawn uniformly, both into buckets and into groups. In a first release all assignments of a group's values to
    its members are therefore equally likely, also for an adversary who knows the algorithm and the values of some respondents
    (enumerated in the tests). In later releases the algorithm still discloses two facts, since it needs the fewest counterfeits.
    New records that balance a bucket have the values that its survivors lack; an adversary who knows one of them may know
    others. A counterfeit never shows the value that is most frequent in its bucket, so that its group's records are more likely
    to have that value.

    The random order costs utility where quasi-identifiers are generalized: the extent of a group is that of m records drawn from a
    bucket. On three views of 2,000 exams, the normalized certainty penalty is .38 instead of .27 for m = 2, and .74 instead of
    .50 for m = 5. Publish with ``publish(..., bucketized=True)`` to keep quasi-identifiers exact. Pairing near records where
    possible does not help: a pair of distant records then discloses that the values around it are unbalanced, and an insider who
    knows one of these values knows the others. With ``deterministic`` this is extreme, as with `Anatomy`.

    Cost: O(n log n + n m + b m^2) for b buckets, and the reading of the past.

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

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:
        """Group a view after the releases so far; the prior, shape ``(n, m)``, does not matter."""
        self._checked_prior(view, prior)
        m, domain = int(self.m), len(view.schema.values)
        if m > domain:
            raise Infeasible(
                f"m is {m} and the sensitive domain has {domain} values; a group needs m different ones. Lower m."
            )
        signatures = past_signatures(view, past, m)
        rng = None if self.deterministic else as_generator("MInvariance", self.rng, optional=True)
        plan = plan_buckets(view.sensitive, signatures.values, m, rng)
        rank = np.argsort(hilbert_order(view.people) if rng is None else rng.permutation(len(view)))
        bucket = fill_buckets(plan, view.sensitive, rank)
        labels = split_buckets(plan, bucket, view.sensitive, rank)
        counterfeits = lacking_values(plan, labels, view.sensitive)
        notes = _notes(signatures, len(counterfeits), plan.eligibility_counterfeits, m)
        return Grouping(labels, counterfeits=counterfeits if len(counterfeits) else None, notes=notes)


class Signatures(NamedTuple):
    """Signatures of a view's respondents."""

    # (n, m): signature of each respondent, as a set of sensitive values; empty if there is none to keep
    values: BoolArray
    changed: int  # number of respondents whose sensitive value differs from the one last published
    # Number of respondents with an unchanged value, whose last group lacked that value or had too few values
    unfit: int


def _notes(signatures: Signatures, counterfeits: int, for_eligibility: int, m: int) -> tuple[Note, ...]:
    numbers = {
        FILLING: counterfeits - for_eligibility,
        ELIGIBILITY: for_eligibility,
        CHANGED: signatures.changed,
        UNFIT: signatures.unfit,
    }
    return tuple(Note(kind, number=number, m=str(m)) for kind, number in numbers.items() if number > 0)


class BucketPlan(NamedTuple):
    """Contents of the bucket of each signature."""

    signatures: BoolArray  # (b, v): signature of each bucket, a set of the v values
    bucket: IntArray  # (n,): bucket of each survivor; -1 for new records
    fresh: IntArray  # (b, v): number of new records of each value that go into each bucket
    groups: IntArray  # (b,): number of groups that each bucket is split into
    eligibility_counterfeits: int  # number of counterfeits that are needed because too many new records share a value


def plan_buckets(
    sensitive: IntArray,  # (n,): sensitive codes
    kept: BoolArray,  # (n, v): signature of each survivor; empty for new records
    m: int,
    rng: np.random.Generator | None,  # draws the values of counterfeits
) -> BucketPlan:
    """Division, balancing and assignment."""
    survivors = np.flatnonzero(kept.any(axis=1))
    domain = kept.shape[1]
    divided, place = np.unique(kept[survivors], axis=0, return_inverse=True)
    counts = np.bincount(place * domain + sensitive[survivors], minlength=divided.size).reshape(divided.shape)
    frequency = np.bincount(sensitive, minlength=domain)
    fresh = frequency - counts.sum(axis=0)
    balancing = balance(divided, counts, fresh)
    rest = fresh - balancing.sum(axis=0)
    counterfeits = eligibility_counterfeits(rest, frequency, m, rng)
    assigned, records = assign(rest + counterfeits, m)
    assigned_fresh = allocate(assigned * records[:, None], rest)
    signatures, merged = np.unique(np.concatenate([divided, assigned]), axis=0, return_inverse=True)
    groups, joining = np.zeros(len(signatures), dtype=np.int64), np.zeros(signatures.shape, dtype=np.int64)
    np.add.at(groups, merged, np.concatenate([counts.max(axis=1, initial=0), records]))
    np.add.at(joining, merged, np.concatenate([balancing, assigned_fresh]))
    bucket = np.full(len(sensitive), -1, dtype=np.int64)
    bucket[survivors] = merged[place]
    return BucketPlan(signatures, bucket, joining, groups, int(counterfeits.sum()))


def fill_buckets(plan: BucketPlan, sensitive: IntArray, rank: IntArray) -> IntArray:
    """Bucket of each record, shape ``(n,)``; the new records of a value that a bucket takes are spread along the order."""
    bucket, value = np.nonzero(plan.fresh)
    size = plan.fresh[bucket, value]
    place = (np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + 0.5) / np.repeat(size, size)
    order = np.lexsort((np.repeat(bucket, size), place, np.repeat(value, size)))
    fresh = np.flatnonzero(plan.bucket < 0)
    filled = plan.bucket.copy()
    filled[fresh[np.lexsort((rank[fresh], sensitive[fresh]))]] = np.repeat(bucket, size)[order]
    return filled


def split_buckets(plan: BucketPlan, bucket: IntArray, sensitive: IntArray, rank: IntArray) -> IntArray:
    """Split: group of each record, shape ``(n,)``.

    The i-th group of a bucket has the i-th record, along the order, of each value. A value with fewer records than groups is
    spread evenly over them.
    """
    cell = bucket * plan.signatures.shape[1] + sensitive
    order = np.lexsort((rank, cell))
    size = np.bincount(cell)
    first = np.cumsum(size) - size
    place = np.empty(len(cell), dtype=np.int64)
    place[order] = np.arange(len(cell)) - first[cell[order]]
    return np.asarray((np.cumsum(plan.groups) - plan.groups)[bucket] + place * plan.groups[bucket] // size[cell])


def lacking_values(plan: BucketPlan, labels: IntArray, sensitive: IntArray) -> IntArray:
    """Counterfeits: the values of its signature that each group lacks, as pairs of group and code, shape ``(c, 2)``."""
    lacking = np.repeat(plan.signatures, plan.groups, axis=0)
    lacking[labels, sensitive] = False
    return np.argwhere(lacking)


def balance(
    buckets: BoolArray,  # (b, v): signature of each bucket, a set of the v values
    survivors: IntArray,  # (b, v): number of records of each value in each bucket
    fresh: IntArray,  # (v,): number of new records of each value
) -> IntArray:
    """Balancing: number of new records of each value that each bucket takes in.

    A bucket is balanced if it has each value of its signature as often as its most frequent one. It takes in all records that it
    lacks while there are any; earlier buckets come first. A record taken in saves one counterfeit here and costs at most one
    among the remaining records (`eligibility_counterfeits`), so that no other choice needs fewer counterfeits.

    Return an int array of shape (b, v).
    """
    return allocate(np.where(buckets, survivors.max(axis=1, initial=0)[:, None] - survivors, 0), fresh)


def allocate(wanted: IntArray, available: IntArray) -> IntArray:
    """Number of units that each row receives in each column, ``(b, v)``, of ``(v,)`` available ones; earlier rows come first."""
    before = np.cumsum(wanted, axis=0) - wanted
    return np.asarray(np.clip(available - before, 0, wanted))


def eligibility_counterfeits(
    rest: IntArray,  # (v,): number of new records of each value
    frequency: IntArray,  # (v,): number of records of each value in the view
    m: int,  # at most v
    # Draws the value of each counterfeit in proportion to `frequency` among the values that are below the most frequent
    # one, so that counterfeits resemble records. Without it, the values with the most new records are filled first; of
    # equal ones, the values with the highest frequency.
    rng: np.random.Generator | None = None,
) -> IntArray:
    """Least number of counterfeits of each value that makes the new records m-eligible: int array, shape ``(v,)``.

    Records are m-eligible if no value has more than one in m of them. No value is filled beyond the most frequent one, since
    more counterfeits would then be needed.
    """
    needed = max(m * int(rest.max()) - int(rest.sum()), 0)
    if rng is not None:
        return _draw_values(rest.max() - rest, frequency, needed, rng)
    order = np.lexsort((-frequency, -rest))
    room = rest.max() - rest[order]
    counterfeits = np.zeros_like(rest)
    counterfeits[order] = np.clip(needed - (np.cumsum(room) - room), 0, room)
    return counterfeits


def _draw_values(room: IntArray, frequency: IntArray, needed: int, rng: np.random.Generator) -> IntArray:
    """Counts of a number of values drawn in proportion to frequency, none above its room; of frequency 0, drawn evenly."""
    drawn = np.zeros_like(room)
    while drawn.sum() < needed:
        below = drawn < room
        weight = frequency * below if (frequency * below).any() else below
        drawn = np.minimum(drawn + rng.multinomial(needed - drawn.sum(), weight / weight.sum()), room)
    return drawn


def assign(
    rest: IntArray,  # (v,): number of records of each value; m times the largest is at most the sum
    m: int,
) -> tuple[BoolArray, IntArray]:
    """Assignment: eligible records go to signatures, equally many of each value of a signature.

    Each step assigns a records of each of the b most frequent values. Here b, at least m, is the smallest number that leaves the
    others eligible for some ``a >= 1``, and a is the largest such number. A step always exists: let q be the integer part of the
    number of records over m. One record of each value with q records can be assigned, or of the m most frequent values.

    Returns
    -------
    signatures : bool array, shape (s, v)
        One for each step.
    records : int array, shape (s,)
        Number of records of each of its values.
    """
    left, signatures, records = rest.copy(), [], []
    while left.any():
        values, number = _assignment_step(left, m)
        left[values] -= number
        signatures.append(np.isin(np.arange(len(left)), values))
        records.append(number)
    return np.array(signatures, dtype=bool).reshape(-1, len(rest)), np.array(records, dtype=np.int64)


def _assignment_step(left: IntArray, m: int) -> tuple[IntArray, int]:
    """The b values of a step, and the number a of records of each.

    With counts sorted in descending order and b values of them taken a times, the rest is eligible if m times its largest count
    is at most its sum. That gives two bounds on a: from the count in place b, which is untouched, and, for b > m, from the
    largest count less a.
    """
    order = np.argsort(-left, kind="stable")
    counts, total = left[order], int(left.sum())
    b = np.arange(m, len(left) + 1)
    a = np.minimum(counts[m - 1 :], (total - m * np.append(counts[m:], 0)) // b)
    a[1:] = np.minimum(a[1:], (total - m * counts[0]) // (b[1:] - m))
    first = int(np.argmax(a >= 1))
    return order[: b[first]], int(a[first])


def past_signatures(
    view: View,
    past: tuple[Release, ...],  # the releases so far, in the order of time
    least: int,  # least number of values of a signature, m
) -> Signatures:
    """Set of sensitive values of the group in which each respondent of a view was last published.

    A respondent who was absent or suppressed for some releases keeps the signature from before. A respondent has no signature
    to keep if the sensitive value has changed since, or if the last group had fewer than ``least`` values or not the
    respondent's own (by another defense, or another m).

    Cost: O(n m + the number of records of the past).
    """
    for release in past:
        if release.view.schema.values != view.schema.values:
            raise ValueError(
                f"the release at {release.time!r} has another sensitive domain than the view at {view.time!r}; signatures are "
                "sets of values of one domain. Build every view with the same Schema."
            )
    values = np.zeros((len(view), len(view.schema.values)), dtype=bool)
    last_value = np.full(len(view), -1, dtype=np.int64)
    unseen: dict[Hashable, int] = {respondent: row for row, respondent in enumerate(view.people.respondents)}
    for release in reversed(past):
        shown = release.counts > 0
        records = zip(release.view.people.respondents, release.group, release.view.sensitive, strict=True)
        for respondent, group, value in records:
            if group >= 0 and respondent in unseen:
                row = unseen.pop(respondent)
                values[row], last_value[row] = shown[group], value
        if not unseen:
            break
    changed = (last_value >= 0) & (last_value != view.sensitive)
    has_own = values[np.arange(len(view)), view.sensitive]
    unfit = (last_value >= 0) & ~changed & (~has_own | (values.sum(axis=1) < least))
    values[changed | unfit] = False
    return Signatures(values, int(changed.sum()), int(unfit.sum()))
