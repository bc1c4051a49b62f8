"""Injector: buckets that stay diverse for an adversary who mines negative rules from the table, and the mining of these rules."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.anatomy import value_classes
from foreknow.defenses.publish import SizedDefense
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, Infeasible
from foreknow.models import Categorical, Grouping, Numeric, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.estimators.assignments import possible_pairs
from foreknow.models.notes import Note
from foreknow.models.settings import as_generator, check_range, check_whole, stored_generator
from foreknow.models.tables.schema import as_sensitive_values


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
    sensitive_set : collection of values, optional
        The sensitive set. A bucket then shows at most one of its values, which at least l of the bucket's records may have; other
        values may be shared, and count once for each record that has them. By default every value is protected.
    deterministic : bool
        If True, records that are close on a Hilbert curve are grouped, and nothing is drawn; then an insider derives the values of
        others with certainty, as of `Anatomy`. For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, as of `Anatomy`.

    Raises
    ------
    Infeasible
        When called, if l is larger than the view, a value or the set has more than one in l records, or no bucket can be formed.

    Notes
    -----
    T. Li, N. Li, ICDE 2008, for the rules (`negative_rules`) and the condition on buckets. The forming of buckets is a
    reconstruction from a few lines of the paper. Let N(s) be the number of remaining records with value s plus the number that
    are denied s. A bucket starts with a record of the value of the largest N. It takes further values in turn: always the value
    of the largest N among the records that are compatible with all members, where neither is denied the other's value. When no
    further bucket can be completed, each remaining record joins the nearest bucket without its value in which every record, by
    the matchings, still has l possible values; otherwise it is suppressed. That no bucket shows a value twice is Anatomy's
    rule; it makes buckets diverse also for an adversary without rules. With a sensitive set, N of the set counts the records with,
    or denied, a value of it, and N of other values is 0. Records of the set start the first buckets. The set is for the
    foreground paper; this one has none, and then no l over 3 is possible where a value has a third of the records.

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
    Injector(l=2, min_confidence=1.0, min_expectation=0.9, terms=5, sensitive_set=None, deterministic=False, rng=None)
    """

    l: int  # noqa: E741 - the field's own letter
    min_confidence: float = 1.0
    min_expectation: float = 0.9
    terms: int = 5
    sensitive_set: tuple[Hashable, ...] | None = None
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("Injector", "l", self.l, "values")
        check_mining_settings("Injector", self.min_confidence, self.min_expectation, self.terms)
        object.__setattr__(self, "rng", stored_generator("Injector", self.rng, self.deterministic))
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("Injector", self.sensitive_set))

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view into buckets; the prior, shape ``(n, m)``, and the past releases do not matter."""
        self._checked_prior(view, prior)
        classes = value_classes("Injector", view, self.sensitive_set)
        self._check_classes(view, classes)
        rules = negative_rules(view, self.min_confidence, self.min_expectation, self.terms)
        rng = None if self.deterministic else as_generator("Injector", self.rng, optional=True)
        order = hilbert_order(view.people) if rng is None else rng.permutation(len(view))
        owners = 1 if self.sensitive_set is None else int(self.l)
        types = record_types(rules.forbidden, view.sensitive, order, classes, owners)
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
    kind: IntArray  # (c,): class of the value; records of one class share no bucket. The last class is free.
    # (c, k): for each class, number of times that a record counts in N: if it has a value of it, and if it is denied one
    weight: IntArray
    # (c, c): True if records of two types may share a bucket: by their classes, and because neither type is denied its own
    # value or the other's
    compatible: BoolArray
    owners: int  # least number of records of a bucket that may have each value that is not free
    starts: IntArray  # (c + 1,): start of each type's records in `records`
    records: IntArray  # (n,): records, by type and then by rank
    type_of: IntArray  # (n,): type of each record
    rank: IntArray  # (n,): place of each record in the order
    order: IntArray  # (n,): record of each rank
    place: IntArray  # (n,): place of each record in `records`


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

    No member has a value of the record's class, some member may have the record's value, and the record may have the values of at
    least l - 1 members.
    """
    newcomer, free = types.type_of[record], types.weight.shape[1] - 1
    own, possible, is_possible_for_member, member = types.value[newcomer], 0, False, buckets.first[bucket]
    while member >= 0:
        number = types.type_of[member]
        if types.kind[number] == types.kind[newcomer] != free:
            return False
        if not types.denied[newcomer, types.value[number]]:
            possible += 1
        is_possible_for_member = is_possible_for_member or not types.denied[number, own]
        member = buckets.following[member]
    return is_possible_for_member and possible >= l - 1


@compiled
def _stays_diverse(types: RecordTypes, buckets: Buckets, record: int, bucket: int, l: int) -> bool:  # noqa: E741
    """Return whether each record of a bucket with a further record has at least l possible values, and each value its owners.

    The value of each member is a value of capacity 1; those of free members may be equal.
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
    for j in range(k):
        if types.kind[members[j]] < types.weight.shape[1] - 1 and pairs[:, j].sum() < types.owners:
            return False
    return bool((pairs.sum(axis=1) >= l).all())


def record_types(
    forbidden: BoolArray,  # (n, m): values that are ruled out for each record
    values: IntArray,  # (n,): sensitive codes
    order: IntArray,  # (n,): order in which similar records are close
    classes: IntArray,  # (m,): class of each value; -1 for a free value
    owners: int = 1,
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
    own, free = may_have.diagonal(), int(classes.max()) + 1
    kind = np.where(classes < 0, free, classes)[value]
    compatible = may_have & may_have.T & ((kind[:, None] != kind) | (kind == free)) & own[:, None] & own
    counted = [(kind == number) + denied[:, classes == number].any(axis=1).astype(np.int64) for number in range(free)]
    weight = np.column_stack([*counted, np.zeros(len(kind), dtype=np.int64)])
    place = np.argsort(records)
    return RecordTypes(value, denied, kind, weight, compatible, owners, starts, records, type_of, rank, order, place)


class _Remaining(NamedTuple):
    """Records that are in no bucket yet; changed in place.

    Places are positions in ``RecordTypes.records``. ``next_place`` and ``previous_place``, shape ``(n + 1,)``, are union-find
    forests: the root of a place is the nearest remaining place from it onwards, or one past the nearest before it.
    """

    left: IntArray  # (c,): number of remaining records of each type
    seeds: IntArray  # (c,): number of records of each type that may start a bucket
    # (k,): N of each class: number of records that have a value of it, plus number that are denied one; 0 for the free one
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
    seeds, priority = left.copy(), np.zeros(types.weight.shape[1], dtype=np.int64)
    for number in range(len(left)):
        priority += left[number] * types.weight[number]
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
    remaining.priority[:] -= types.weight[number]


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
    """Place of the first record of the first type with the class of the highest priority that can start a bucket, or -1."""
    best = -1
    for number in range(len(remaining.seeds)):
        is_higher = best < 0 or remaining.priority[types.kind[number]] > remaining.priority[types.kind[best]]
        if remaining.seeds[number] > 0 and is_higher:
            best = number
    return -1 if best < 0 else _root(remaining.next_place, types.starts[best])


@compiled
def _fill_bucket(types: RecordTypes, remaining: _Remaining, seed: int, bucket: IntArray) -> bool:
    """Fill a bucket with places, from its seed on; return whether it could be completed.

    Each further record has the class of the highest priority among the types that are compatible with all members. Of the
    records of that class, it is the nearest to the seed.
    """
    rank = types.rank[types.records[seed]]
    fits = remaining.left > 0
    bucket[0] = seed
    for size in range(1, len(bucket)):
        last = types.type_of[types.records[bucket[size - 1]]]
        kind = -1
        for number in range(len(fits)):
            fits[number] = fits[number] and types.compatible[last, number]
            if fits[number] and (kind < 0 or remaining.priority[types.kind[number]] > remaining.priority[kind]):
                kind = types.kind[number]
        if kind < 0:
            return False
        if kind < types.weight.shape[1] - 1:
            bucket[size] = _nearest_of_class(types, remaining, fits, kind, rank)
        else:
            bucket[size] = _nearest_free(types, remaining, fits, rank, bucket[:size])
        if bucket[size] < 0:
            return False
    return True


@compiled
def _nearest_free(types: RecordTypes, remaining: _Remaining, fits: BoolArray, rank: int, taken: IntArray) -> int:
    """Place of the free record nearest to a rank among the types that fit, without the places taken, or -1.

    Free types are many, and most of their records fit, so that ranks are searched outwards.
    """
    free = types.weight.shape[1] - 1
    for distance in range(1, len(types.rank)):
        nearest = -1
        for other in (rank - distance, rank + distance):
            if other < 0 or other >= len(types.rank):
                continue
            record = types.order[other]
            place, number = types.place[record], types.type_of[record]
            if not fits[number] or types.kind[number] != free:
                continue
            is_left = remaining.next_place[place] == place and place not in taken
            if is_left and (nearest < 0 or number < types.type_of[types.records[nearest]]):
                nearest = place
        if nearest >= 0:
            return nearest
    return -1


@compiled
def _nearest_of_class(types: RecordTypes, remaining: _Remaining, fits: BoolArray, kind: int, rank: int) -> int:
    """Place of the record nearest to a rank among the types that fit and have a class; at least one does."""
    nearest = -1
    for number in range(len(fits)):
        if fits[number] and types.kind[number] == kind:
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


# Largest number of fuzzy terms of a numeric attribute; the degrees of all terms and distinct values are stored
MAX_TERMS = 1_000


@dataclass(frozen=True)
class NegativeRule:
    """Rule of the form X => not Y: a record that satisfies the condition does not have the value.

    Attributes
    ----------
    condition : tuple of (str, str)
        Attributes with an item each: a value, a generalization of the hierarchy, or a fuzzy term.
    value : Hashable
        The sensitive value.
    confidence : float
        Share of the records that satisfy the condition and do not have the value: ``1 - P(XY) / P(X)``.
    support : float
        Share of the view that satisfies the condition: ``P(X)``.
    expectation : float
        Probability of at least one exception among n records if condition and value were independent:
        ``1 - (1 - P(X) P(Y))^n``.
    """

    condition: tuple[tuple[str, str], ...]
    value: Hashable
    confidence: float
    support: float
    expectation: float

    def __str__(self) -> str:
        return " and ".join(f"{name} is {label}" for name, label in self.condition) + f" => not {self.value}"


@equal_by_fields
@dataclass(frozen=True, eq=False)
class NegativeRules:
    """Negative rules of a view, and the values that they deny to its records."""

    rules: tuple[NegativeRule, ...]  # the most general rules, those with fewer conditions first
    forbidden: BoolArray  # (n, m): True where the rules deny a value to a record

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[NegativeRule]:
        return iter(self.rules)


def negative_rules(
    view: View, min_confidence: float = 1.0, min_expectation: float = 0.9, terms: int = 5
) -> NegativeRules:
    """Negative association rules X => not Y of a view, which an adversary can learn from it.

    X names, for one or more quasi-identifiers, a value or a generalization below the root of its hierarchy; Y is one sensitive
    value. A rule has ``1 - P(XY) / P(X) >= min_confidence`` and ``1 - (1 - P(X) P(Y))^n >= min_expectation``; the latter is
    ``P(X) >= minSup(Y)``, see `least_support`. Only the most general rules are listed: a rule with a narrower condition denies
    its value to no further record.

    Parameters
    ----------
    view : View
    min_confidence : float
        Above 0, at most 1. At 1, the default, a rule has no exception, so that no record is denied its own value. Below 1, a
        rule has exceptions and denies them their own value; a rare value is then denied to almost all records.
    min_expectation : float
        Above 0, below 1. It excludes rules that hold because their condition or their value is rare.
    terms : int
        Number of fuzzy terms "about c" of a numeric attribute, 2 or more. The peaks c are equidistant, from one end of the
        domain to the other. The degree of membership of x is ``max(0, 1 - |x - c| / step)``; the degrees sum to 1.

    Returns
    -------
    NegativeRules

    Notes
    -----
    T. Li, N. Li, ICDE 2008. The degree of membership of a record in X is the least over the items of X. ``P(X)`` is the mean
    degree over all records; ``P(XY)`` is the sum of the degrees of the records with Y, over n. Without numeric attributes both
    are shares of records. The paper does not print its fuzzy terms, nor the records to which a rule with such a term applies.
    Here it applies to all records of positive degree; at confidence 1, none of them has Y.

    Exact: every itemset is visited that has the least support of some value which no more general itemset denies. Cost: O(sum
    of the numbers of records of these itemsets). Their number is exponential in the number of attributes at worst.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Categorical, Schema
    >>> frame = pd.DataFrame({"id": range(40), "sex": ["M", "F"] * 20, "illness": ["flu", "flu", "prostate", "flu"] * 10})
    >>> sexes = {"sex": Categorical(("M", "F"))}
    >>> rules = negative_rules(View(frame, Schema(sexes, "illness", ("flu", "prostate"))))
    >>> [str(rule) for rule in rules]
    ['sex is F => not prostate']
    >>> rules.forbidden[:2].tolist()
    [[False, False], [False, True]]
    """
    check_mining_settings("negative_rules", min_confidence, min_expectation, terms)
    items = (
        _tree_nodes(name, kind, codes) if isinstance(kind, Categorical) else _fuzzy_terms(name, kind, codes, int(terms))
        for (name, kind), codes in zip(
            view.schema.quasi_identifiers.items(), view.people.quasi_identifiers.T, strict=True
        )
    )
    table = DistinctRecords.from_view(view, tuple(items))
    supports = least_support(len(view), table.share, min_expectation)
    denials = most_general_denials(table, min_confidence, supports)
    forbidden = np.zeros((len(table.count), len(table.share)), dtype=bool)
    for denial in denials:
        forbidden[denial.rows, denial.value] = True
    rules = sorted((_rule(view, table, denial) for denial in denials), key=lambda rule: len(rule.condition))
    return NegativeRules(tuple(rules), forbidden[table.row])


@dataclass(frozen=True, eq=False)
class RuleItems:
    """Items of one quasi-identifier that rule conditions may contain."""

    attribute: str
    # Label of each item. The first item is the root, which every record satisfies; each item comes after its parent.
    labels: tuple[str, ...]
    parents: IntArray  # (v,): the next more general item of each item; the root is its own parent
    # (v, c): degree of membership, from 0 to 1, in each item of a record with each of the c distinct values
    degree: FloatArray
    cell: IntArray  # (n,): distinct value of each record, 0 to c - 1


@dataclass(frozen=True, eq=False)
class DistinctRecords:
    """The u distinct records of a view, with their numbers."""

    items: tuple[RuleItems, ...]  # one for each attribute
    row: IntArray  # (n,): distinct record of each record of the view
    count: FloatArray  # (u,): number of records that equal each distinct one
    value: IntArray  # (u,): sensitive code
    # (v, u): for each attribute, degree of membership of each distinct record in each item
    degree: tuple[FloatArray, ...]
    share: FloatArray  # (m,): share of each sensitive value in the view

    @classmethod
    def from_view(cls, view: View, items: tuple[RuleItems, ...]) -> "DistinctRecords":
        """Distinct records of a view, given the items of its attributes."""
        cells = np.column_stack([*(attribute.cell for attribute in items), view.sensitive])
        rows, row, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        degree = tuple(attribute.degree[:, rows[:, a]] for a, attribute in enumerate(items))
        share = np.bincount(view.sensitive, minlength=len(view.schema.values)) / len(view)
        return cls(items, row.reshape(-1), count.astype(np.float64), rows[:, -1], degree, share)


type Itemset = tuple[int, ...]  # one item for each attribute; 0, the root, for an attribute without a condition


class Denial(NamedTuple):
    """A condition that denies a value."""

    itemset: Itemset
    value: int
    confidence: float
    support: float
    rows: IntArray  # distinct records that satisfy the condition to a positive degree


def _rule(view: View, table: DistinctRecords, denial: Denial) -> NegativeRule:
    pairs = zip(table.items, denial.itemset, strict=True)
    condition = tuple((attribute.attribute, attribute.labels[item]) for attribute, item in pairs if item)
    expectation = -np.expm1(len(view) * np.log1p(-denial.support * table.share[denial.value]))
    value = view.schema.values[denial.value]
    return NegativeRule(condition, value, denial.confidence, denial.support, float(expectation))


def least_support(
    records: int,  # number n of records of the table
    share: FloatArray,  # (m,): share P(Y) of each value
    min_expectation: float,
) -> FloatArray:
    """Least support of a condition, minSup(Y): ``(1 - (1 - min_expectation)^(1 / n)) / P(Y)``, infinite where P(Y) is 0.

    Examples
    --------
    >>> f"{least_support(45_222, np.array([0.01]), 0.9)[0]:.3g}"
    '0.00509'
    """
    smallest = -np.expm1(np.log1p(-min_expectation) / records)
    return np.asarray(np.divide(smallest, share, out=np.full(len(share), np.inf), where=share > 0))


def check_mining_settings(owner: str, min_confidence: float, min_expectation: float, terms: int) -> None:
    """Raise ValueError if a setting of rule mining is out of its range."""
    check_range(owner, "min_confidence", min_confidence, 0, 1, "a share", excluded=(0,))
    check_range(owner, "min_expectation", min_expectation, 0, 1, "a probability", excluded=(0, 1))
    check_whole(owner, "terms", terms, "fuzzy terms", 2, MAX_TERMS)


def most_general_denials(table: DistinctRecords, min_confidence: float, least_support: FloatArray) -> list[Denial]:
    """The most general conditions that deny each value.

    Itemsets are visited in lexicographic order. As an item comes after its parent, each itemset comes after all more general
    ones. The open values of an itemset are those for which it has the least support and which no more general itemset denies, as
    the bits of an integer. An itemset is made narrower only while it has open values.
    """
    root: Itemset = (0,) * len(table.items)
    parents = [attribute.parents.tolist() for attribute in table.items]
    open_values, denials, n = {root: _bits(np.isfinite(least_support))}, list[Denial](), float(table.count.sum())

    def open_in_all_broader(itemset: Itemset, last: int) -> int:
        """Values that are open in all itemsets that are one step more general; no attribute after ``last`` has a condition."""
        values = -1
        for a in range(last, -1, -1):
            if item := itemset[a]:
                values &= open_values.get((*itemset[:a], parents[a][item], *itemset[a + 1 :]), 0)
                if not values:
                    break
        return values

    def narrow(itemset: Itemset, first: int, rows: IntArray, degree: FloatArray) -> None:
        """Visit the itemsets with an item of one more attribute, from ``first`` on; ``degree`` is that of each of ``rows``."""
        for a in reversed(range(first, len(itemset))):
            for item in range(1, len(parents[a])):
                narrower = (*itemset[:a], item, *itemset[a + 1 :])
                values = open_in_all_broader(narrower, a)
                if not values:
                    continue
                # The degree of membership is the least over the items.
                narrowed = np.minimum(degree, table.degree[a][item, rows])
                some, narrowed = rows[narrowed > 0], narrowed[narrowed > 0]
                weight = narrowed * table.count[some]
                total = float(weight.sum())
                values &= _bits(total / n >= least_support)
                if not values:
                    continue
                with_value = np.bincount(table.value[some], weight, len(table.share))
                denied = values & _bits(with_value <= (1 - min_confidence) * total * (1 + LEVEL_TOLERANCE))
                denials.extend(
                    Denial(narrower, v, float(1 - with_value[v] / total), total / n, some)
                    for v in range(len(with_value))
                    if denied >> v & 1
                )
                if values & ~denied:
                    open_values[narrower] = values & ~denied
                    narrow(narrower, a + 1, some, narrowed)

    narrow(root, 0, np.arange(len(table.count)), np.ones(len(table.count)))
    return denials


def _bits(chosen: BoolArray) -> int:
    """The chosen values as the bits of an integer."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


# Decimals to which positions between the peaks of fuzzy terms are rounded, so that a number on a peak has degree 1
POSITION_DECIMALS = 9


def _tree_nodes(name: str, kind: Categorical, codes: FloatArray) -> RuleItems:
    """Nodes of an attribute's hierarchy, from the root down. A node with the same leaves as its only child is left out."""
    tree = kind.tree
    levels = tree.levels()
    labels, leaves_of = ["*"], [np.ones(len(tree.rows), dtype=bool)]
    for level in range(tree.height - 1, -1, -1):
        for node in dict.fromkeys(levels[level].tolist()):
            leaves = levels[level] == node
            label = tree.rows[int(leaves.argmax())][level]
            same = [place for place, other in enumerate(leaves_of) if np.array_equal(other, leaves)]
            if not same:
                labels.append(label)
                leaves_of.append(leaves)
            elif same[0] > 0:
                labels[same[0]] = label
    degree = np.array(leaves_of)
    size = degree.sum(axis=1)
    is_ancestor = (degree[:, None] >= degree[None]).all(axis=2) & (size[:, None] > size[None])
    # The parent is the smallest ancestor; the root has none, and argmin gives 0, itself.
    ancestor_size = np.where(is_ancestor, size[:, None], len(tree.rows) + 1)
    return RuleItems(
        name, tuple(labels), ancestor_size.argmin(axis=0), degree.astype(np.float64), codes.astype(np.int64)
    )


def _fuzzy_terms(name: str, kind: Numeric, codes: FloatArray, terms: int) -> RuleItems:
    """Fuzzy terms of a number: triangles of equal width, with equidistant peaks from one end of the domain to the other."""
    low, high = kind.bounds
    numbers, cell = np.unique(codes, return_inverse=True)
    if low == high:
        return RuleItems(name, ("*",), np.zeros(1, dtype=np.int64), np.ones((1, len(numbers))), cell.reshape(-1))
    position = np.round((numbers - low) / (high - low) * (terms - 1), POSITION_DECIMALS)
    degree = np.maximum(0.0, 1 - np.abs(position[None] - np.arange(terms)[:, None]))
    labels = ("*", *(f"about {low + (high - low) * term / (terms - 1):g}" for term in range(terms)))
    parents = np.zeros(terms + 1, dtype=np.int64)
    return RuleItems(name, labels, parents, np.vstack([np.ones(len(numbers)), degree]), cell.reshape(-1))
