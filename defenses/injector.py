"""Injector: buckets that stay diverse for an adversary who mines negative rules from the table."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.negative_rules import check_mining_settings, negative_rules
from foreknow.defenses.publish import SizedDefense
from foreknow.defenses.requirements.requirement import Infeasible
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.assignments import possible_pairs
from foreknow.models.notes import Note
from foreknow.models.settings import as_generator, check_whole, stored_generator


@equal_by_fields
@dataclass(frozen=True)
class Injector(SizedDefense):
    """Buckets that are diverse under the negative rules of the view, which the defense mines first.

    A bucket shows at least l values, each once. Each of its records has at least l possible values: for each of these there is an
    assignment of the bucket's values that gives the record that value and no record a denied one.

    Parameters
    ----------
    l : int
        Least number of possible values of each record, 1 or more.
    min_confidence : float
        Least confidence of a rule, above 0 and at most 1. Below 1, rules have exceptions, and an adversary who believes a rule
        excludes the true value of these records as well. They are protected as all others are, which few buckets can do, so that
        many records may be suppressed.
    min_expectation : float
        Least probability of an exception to the rule by chance, if condition and value were independent.
    terms : int
        Number of fuzzy terms of a numeric attribute in rules, 2 or more.
    deterministic : bool
        If True, records that are close on a Hilbert curve are grouped, and nothing is drawn; then an insider derives the values of
        others with certainty, as of `Anatomy`. For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, as of `Anatomy`.

    Raises
    ------
    Infeasible
        When called, if l is larger than the view, a value has more than one in l records, or no bucket can be formed.

    Notes
    -----
    T. Li, N. Li, ICDE 2008, for the rules (`negative_rules`) and the condition on buckets. The forming of buckets is a
    reconstruction from a few lines of the paper. Let N(s) be the number of remaining records with value s plus the number that
    are denied s. A bucket starts with a record of the value of the largest N. It takes further values in turn: always the value
    of the largest N among the records that are compatible with all members, where neither is denied the other's value. When no
    further bucket can be completed, each remaining record joins the nearest bucket without its value in which every record, by
    the matchings, still has l possible values; otherwise it is suppressed. That no bucket shows a value twice is Anatomy's
    rule; it makes buckets diverse also for an adversary without rules.

    Of the records of one value, the first along a random order starts a bucket, and the nearest to that one in the order joins.
    With ``deterministic`` the order is that of a Hilbert curve. The choice is greedy: for l above 2, a bucket may be given up
    that other choices would complete. The prior is not read.

    Records with equal values and equal denied values are exchangeable in the random choices. An adversary who knows this
    algorithm therefore learns nothing about two members of a bucket with the same denied values. The order of the values
    depends on the number of records that are denied each; what it discloses about members with different denied values is not
    bounded.

    Cost: that of the rules, and O(n l c), with c the number of distinct pairs of a value and a set of denied values.

    Examples
    --------
    >>> Injector(2)
    Injector(l=2, min_confidence=1.0, min_expectation=0.9, terms=5, deterministic=False, rng=None)
    """

    l: int  # noqa: E741 - the field's own letter
    min_confidence: float = 1.0
    min_expectation: float = 0.9
    terms: int = 5
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("Injector", "l", self.l, "values")
        check_mining_settings("Injector", self.min_confidence, self.min_expectation, self.terms)
        object.__setattr__(self, "rng", stored_generator("Injector", self.rng, self.deterministic))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view into buckets; the prior, shape ``(n, m)``, and the past releases do not matter."""
        self._checked_prior(view, prior)
        counts = np.bincount(view.sensitive)
        self._check_share(view, repr(view.schema.values[int(counts.argmax())]), int(counts.max()))
        rules = negative_rules(view, self.min_confidence, self.min_expectation, self.terms)
        rng = None if self.deterministic else as_generator("Injector", self.rng, optional=True)
        order = hilbert_order(view.people) if rng is None else rng.permutation(len(view))
        types = record_types(rules.forbidden, view.sensitive, order)
        labels = bucketize(types, int(self.l))
        if not (labels >= 0).any():
            raise Infeasible.of_view(
                f"the {len(rules)} negative rules of the ",
                view.time,
                f" leave no {self.l} records that may all have each other's values. Lower l, or mine fewer "
                "rules: raise min_confidence or min_expectation.",
            )
        labels = assign_residues(types, labels, int(self.l))
        suppressed = int((labels < 0).sum())
        kind = "{records:,} {records:record fits|records fit} no bucket and {records:is|are} suppressed."
        notes = (Note(kind, records=suppressed),) if suppressed else ()
        return Grouping(labels, notes=notes, bucketized=True)


class Buckets(NamedTuple):
    """Buckets as linked lists of records."""

    first: IntArray  # (b,): first member of each bucket
    following: IntArray  # (n,): member after each record; -1 after the last
    by_position: IntArray  # (b,): buckets, sorted by position
    position: IntArray  # (b,): lowest rank of the members of each of these, ascending


class RecordTypes(NamedTuple):
    """Types of records: records of one type have the same value and the same denied values.

    Records of one type are exchangeable, apart from their rank. Types are sorted by value; of one value, the types with more
    denied values come first.
    """

    value: IntArray  # (c,): sensitive code of each type
    denied: BoolArray  # (c, m): values that are ruled out for it
    # (c, c): True if records of two types may share a bucket: their values differ, and neither type is denied its own
    # value or the other's
    compatible: BoolArray
    starts: IntArray  # (c + 1,): start of each type's records in `records`
    records: IntArray  # (n,): records, by type and then by rank
    type_of: IntArray  # (n,): type of each record
    rank: IntArray  # (n,): place of each record in the order


def assign_residues(types: RecordTypes, labels: IntArray, l: int) -> IntArray:  # noqa: E741 - the defense's own letter
    """Assign each residue to the nearest bucket without its value in which each record then has at least l possible values.

    Return an int array of shape (n,): the labels; -1 for residues that fit no bucket.

    Residues are taken type by type, each once. If a residue fits no bucket, no other residue of its type does. Cost: O(b l) for
    each residue that joins and each type that fails; O(k^3) for each bucket of k records that is tried.

    Parameters
    ----------
    types : RecordTypes
    labels : int array, shape (n,)
        Bucket of each record, 0 to b - 1; -1 for residues.
    l : int
        Least number of possible values of each record, by `possible_pairs`.
    """
    placed, rank = labels.copy(), types.rank
    order = np.lexsort((rank, labels))[np.count_nonzero(labels < 0) :]
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    following = np.full(len(labels), -1, dtype=np.int64)
    following[order[:-1]] = np.where(np.diff(labels[order]) == 0, order[1:], -1)
    lowest = rank[order[starts]]
    by_position = np.argsort(lowest)
    _assign(types, Buckets(order[starts], following, by_position, lowest[by_position]), placed, l)
    return placed


@compiled
def _assign(types: RecordTypes, buckets: Buckets, labels: IntArray, l: int) -> None:  # noqa: E741
    failed_type = -1
    for record in types.records:
        if labels[record] >= 0 or types.type_of[record] == failed_type:
            continue
        bucket = _nearest_bucket(types, buckets, record, l)
        if bucket < 0:
            failed_type = types.type_of[record]
            continue
        labels[record] = bucket
        buckets.following[record] = buckets.first[bucket]
        buckets.first[bucket] = record


@compiled
def _nearest_bucket(types: RecordTypes, buckets: Buckets, record: int, l: int) -> int:  # noqa: E741
    """The nearest bucket by position that a record may join, or -1. The search goes outwards in both directions."""
    rank = types.rank[record]
    later = np.searchsorted(buckets.position, rank)
    earlier = later - 1
    while earlier >= 0 or later < len(buckets.position):
        backwards = later == len(buckets.position)
        if not backwards and earlier >= 0:
            backwards = rank - buckets.position[earlier] <= buckets.position[later] - rank
        bucket = buckets.by_position[earlier] if backwards else buckets.by_position[later]
        if _may_join(types, buckets, record, bucket, l) and _stays_diverse(types, buckets, record, bucket, l):
            return int(bucket)
        if backwards:
            earlier -= 1
        else:
            later += 1
    return -1


@compiled
def _may_join(types: RecordTypes, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Return whether three necessary conditions of diversity hold, in O(k).

    No member has the record's value, some member may have it, and the record may have the values of at least l - 1 members.
    """
    newcomer = types.type_of[record]
    own, possible, is_possible_for_member, member = types.value[newcomer], 0, False, buckets.first[bucket]
    while member >= 0:
        number = types.type_of[member]
        if types.value[number] == own:
            return False
        if not types.denied[newcomer, types.value[number]]:
            possible += 1
        is_possible_for_member = is_possible_for_member or not types.denied[number, own]
        member = buckets.following[member]
    return is_possible_for_member and possible >= l - 1


@compiled
def _stays_diverse(types: RecordTypes, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Return whether each record of a bucket with a further record has at least l possible values.

    All values of the bucket differ, so that each has capacity 1.
    """
    members = [types.type_of[record]]
    member = buckets.first[bucket]
    while member >= 0:
        members.append(types.type_of[member])
        member = buckets.following[member]
    k = len(members)
    weights = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            weights[i, j] = 0.0 if types.denied[members[i], types.value[members[j]]] else 1.0
    exists, pairs = possible_pairs(weights, np.ones(k, dtype=np.int64))
    if not exists:
        return False
    return bool((pairs.sum(axis=1) >= l).all())


def record_types(
    forbidden: BoolArray,  # (n, m): values that are ruled out for each record
    values: IntArray,  # (n,): sensitive codes
    order: IntArray,  # (n,): order in which similar records are close
) -> RecordTypes:
    """Types of some records."""
    keys = np.column_stack([values, -forbidden.sum(axis=1), np.packbits(forbidden, axis=1)])
    distinct, type_of = np.unique(keys, axis=0, return_inverse=True)
    type_of = type_of.reshape(-1)
    rank = np.argsort(order)
    records = np.lexsort((rank, type_of))
    starts = np.searchsorted(type_of[records], np.arange(len(distinct) + 1))
    value, denied = values[records[starts[:-1]]], forbidden[records[starts[:-1]]]
    may_have = ~denied[:, value]
    own = may_have.diagonal()
    compatible = may_have & may_have.T & (value[:, None] != value) & own[:, None] & own
    return RecordTypes(value, denied, compatible, starts, records, type_of, rank)


class _Remaining(NamedTuple):
    """Records that are in no bucket yet; changed in place.

    Places are positions in ``RecordTypes.records``. ``next_place`` and ``previous_place``, shape ``(n + 1,)``, are union-find
    forests: the root of a place is the nearest remaining place from it onwards, or one past the nearest before it.
    """

    left: IntArray  # (c,): number of remaining records of each type
    seeds: IntArray  # (c,): number of records of each type that may start a bucket
    # (m,): N(s) of each value: number of records that have the value, plus number that are denied it
    priority: IntArray
    # next_place, previous_place (n + 1,)
    next_place: IntArray
    previous_place: IntArray


@compiled
def bucketize(types: RecordTypes, l: int) -> IntArray:  # noqa: E741 - the field's own letter
    """Buckets of l records, each of which may have every value of its bucket.

    A type whose bucket could not be completed starts no other bucket, but may join one.

    Return an int array of shape (n,): bucket of each record, numbered from 0; -1 for residues.

    Cost: O(n (l c + m) + n log n), with c types.
    """
    labels = np.full(len(types.records), -1, dtype=np.int64)
    remaining = _all_remaining(types)
    bucket = np.empty(l, dtype=np.int64)
    buckets = 0
    while True:
        seed = _most_urgent_seed(types, remaining)
        if seed < 0:
            return labels
        if not _fill_bucket(types, remaining, seed, bucket):
            remaining.seeds[types.type_of[types.records[seed]]] = 0
            continue
        for place in bucket:
            labels[types.records[place]] = buckets
            _remove(types, remaining, int(place))
        buckets += 1


@compiled
def _all_remaining(types: RecordTypes) -> _Remaining:
    n, left = len(types.records), types.starts[1:] - types.starts[:-1]
    seeds, priority = left.copy(), np.zeros(types.denied.shape[1], dtype=np.int64)
    for number in range(len(left)):
        _add_priority(priority, types, number, left[number])
        if types.denied[number, types.value[number]]:
            seeds[number] = 0
    return _Remaining(left, seeds, priority, np.arange(n + 1), np.arange(n + 1))


@compiled
def _remove(types: RecordTypes, remaining: _Remaining, place: int) -> None:
    """Take the record at a place out of the remaining ones."""
    number = types.type_of[types.records[place]]
    remaining.next_place[place], remaining.previous_place[place + 1] = place + 1, place
    remaining.left[number] -= 1
    remaining.seeds[number] = min(remaining.seeds[number], remaining.left[number])
    _add_priority(remaining.priority, types, number, -1)


@compiled
def _add_priority(priority: IntArray, types: RecordTypes, number: int, records: int) -> None:
    """Add some records of a type to the priority of its own value and of the values it is denied."""
    priority[types.value[number]] += records
    for value in range(len(priority)):
        if types.denied[number, value]:
            priority[value] += records


@compiled
def _root(links: IntArray, place: int) -> int:
    """Root of a place in a union-find forest, with path compression."""
    end = place
    while links[end] != end:
        end = links[end]
    while links[place] != end:
        links[place], place = end, links[place]
    return end


@compiled
def _most_urgent_seed(types: RecordTypes, remaining: _Remaining) -> int:
    """Place of the first record of the first type with the value of the highest priority that can start a bucket, or -1."""
    best = -1
    for number in range(len(remaining.seeds)):
        is_higher = best < 0 or remaining.priority[types.value[number]] > remaining.priority[types.value[best]]
        if remaining.seeds[number] > 0 and is_higher:
            best = number
    return -1 if best < 0 else _root(remaining.next_place, types.starts[best])


@compiled
def _fill_bucket(types: RecordTypes, remaining: _Remaining, seed: int, bucket: IntArray) -> bool:
    """Fill a bucket with places, from its seed on; return whether it could be completed.

    Each further record has the value of the highest priority among the types that are compatible with all members. Of the
    records with that value, it is the nearest to the seed.
    """
    rank = types.rank[types.records[seed]]
    fits = remaining.left > 0
    bucket[0] = seed
    for size in range(1, len(bucket)):
        last = types.type_of[types.records[bucket[size - 1]]]
        value = -1
        for number in range(len(fits)):
            fits[number] = fits[number] and types.compatible[last, number]
            if fits[number] and (value < 0 or remaining.priority[types.value[number]] > remaining.priority[value]):
                value = types.value[number]
        if value < 0:
            return False
        bucket[size] = _nearest_of_value(types, remaining, fits, value, rank)
    return True


@compiled
def _nearest_of_value(types: RecordTypes, remaining: _Remaining, fits: BoolArray, value: int, rank: int) -> int:
    """Place of the record nearest to a rank among the types that fit and have a value; at least one does."""
    nearest = -1
    for number in range(len(fits)):
        if fits[number] and types.value[number] == value:
            place = _nearest_of_type(types, remaining, number, rank)
            if nearest < 0 or _rank_distance(types, place, rank) < _rank_distance(types, nearest, rank):
                nearest = place
    return nearest


@compiled
def _rank_distance(types: RecordTypes, place: int, rank: int) -> int:
    return int(abs(types.rank[types.records[place]] - rank))


@compiled
def _nearest_of_type(types: RecordTypes, remaining: _Remaining, number: int, rank: int) -> int:
    """Place of the remaining record of a type that is nearest to a rank; at least one remains."""
    low, high = types.starts[number], types.starts[number + 1]
    while low < high:
        middle = (low + high) // 2
        if types.rank[types.records[middle]] < rank:
            low = middle + 1
        else:
            high = middle
    later = _root(remaining.next_place, low)
    earlier = _root(remaining.previous_place, low) - 1
    if later >= types.starts[number + 1]:
        return earlier
    if earlier < types.starts[number]:
        return later
    return earlier if _rank_distance(types, earlier, rank) <= _rank_distance(types, later, rank) else later
