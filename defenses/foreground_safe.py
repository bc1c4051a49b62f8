"""ForegroundSafe: groups whose mined global distributions disclose no respondent beyond a bound."""

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy

from foreknow.defenses.algorithms.hilbert import hilbert_order
from foreknow.defenses.publish import SizedDefense
from foreknow.defenses.requirements.belief_bounds import PosteriorBound
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE, Infeasible
from foreknow.defenses.requirements.summary import summarize_groups, summarize_records
from foreknow.models import Auto, Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.foreground.attribute_signatures import (
    AttributeSets,
    AttributeSignatures,
    SampleSize,
    check_attribute_sets,
    supported_sets,
)
from foreknow.models.foreground.fit import ExpectationMaximization, Fitting
from foreknow.models.foreground.global_distribution import mine_global_distributions
from foreknow.models.settings import as_generator, check_kind, check_whole, stored_generator
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values


@equal_by_fields
@dataclass(frozen=True)
class ForegroundSafe(SizedDefense):
    """Group each sensitive record with records of similar odds, until mining the groups gives no belief over 1/r.

    A sensitive record has a value of the sensitive set. It is grouped with the r - 1 most similar other records: in each attribute
    set, by the share of sensitive records among the records of the same signature. The groups are attacked as by
    `ForegroundAttack`. A group with a belief over 1/r takes more of the records most similar to it, and the groups are attacked
    again, until no belief is over 1/r. All other records are grouped r by r along a Hilbert curve.

    Parameters
    ----------
    r : int
        No member has a value of the sensitive set with a probability over 1/r.
    sensitive_set : collection of values
        The sensitive set.
    attribute_sets : "all", or sequence of sequences of str
        Attribute sets that an attack may use.
    support : int or SampleSize
        Smallest number of records of a signature from which an attack mines it.
    fit : Fitting
        Method by which an attack finds the global distributions; one that is not random.
    rounds : int
        Largest number of attacks.
    bucketized : bool
        If True, exact quasi-identifiers are published; if False, they are generalized.
    deterministic : bool
        If True, ties between equally similar records go to the nearest along a Hilbert curve, and nothing is drawn. An adversary
        who knows this rule may infer which record of a group is the sensitive one. For experiments only.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random choices, as of `Anatomy`.

    Raises
    ------
    ValueError
        When called, if the set is not in the domain or is all of it, an attribute is not a quasi-identifier, or the fit is random.
    Infeasible
        When called, if r is larger than the view, if more than one in r records are sensitive, or if a belief is still over 1/r
        after ``rounds`` attacks.

    Notes
    -----
    A defense of this package. R. Wong et al., arXiv:0905.1755, section 7, leave one to future work, and note that "the chance of
    privacy breaches is lower if each group contains tuples with 'similar' global probabilities". The returned groups have been
    attacked: under the global distribution of every attribute set with enough support, as the same fit finds it in this
    release, every group satisfies ``PosteriorBound(1 / r, Auto(), sensitive_set, "belief")``. Nothing more is guaranteed.

    With a support of 3,993, random groups of two on Adult leave 82 to 86 % of the sensitive respondents with a belief over 1/2
    under an attack with support 500 (16 % with ``deterministic``; none if the defense has support 500). Give the smallest
    support that an adversary may use. An attack with less support, other attribute sets or another fit (another one of several
    solutions, `FitStatus.SEVERAL`) may find beliefs over 1/r. So may an adversary who knows this rule: a sensitive record is the
    middle of its group. Among records of the same signatures the random choice hides which one it is; in groups that had to
    grow it does not.

    Records of the same signatures have equal odds under every global distribution; where they are enough, r of them are a
    group. Similarity is the Euclidean distance of log-odds, one per attribute set, of the table's shares with half a record
    added to each side. A group that must grow takes at least one record for each eight members, and at most doubles; without a
    free record it joins the nearest group. A single group shows only its share to a fit that starts there. A fit with several
    starting points, the default where it is cheap, may find a solution in which all records of a signature have the value, so
    that a small view is infeasible.

    Cost: for each attack that of `ForegroundAttack`; a search of a k-d tree for each sensitive record, and O(n a) for each group
    that must grow, with a attribute sets. Where signatures have few records each, as with ``support=1`` and thousands of distinct
    numbers, groups that must grow join into one large group, whose attack costs O(N c) for N members with c sensitive records:
    4,000 records take 40 seconds, and 8,000 minutes. Require more support, name attribute sets, or give numbers as ranges.

    Examples
    --------
    Two of four women and two of four men are ill. Groups of one sex show only these shares:

    >>> import pandas as pd
    >>> from foreknow.models import Categorical, Schema
    >>> frame = pd.DataFrame({"id": range(8), "sex": list("fmfmfmfm"), "result": ["ill"] * 4 + ["well"] * 4})
    >>> view = View(frame, Schema({"sex": Categorical(("f", "m"))}, "result", ("ill", "well")))
    >>> grouping = ForegroundSafe(2, {"ill"}, support=1, deterministic=True)(view, np.full((8, 2), 0.5))
    >>> frame["sex"].groupby(grouping.labels).agg("".join).tolist()
    ['ff', 'mm', 'ff', 'mm']
    """

    r: int
    sensitive_set: Collection[Hashable]
    attribute_sets: AttributeSets = "all"
    support: int | SampleSize = field(default_factory=SampleSize)
    fit: Fitting = field(default_factory=ExpectationMaximization)
    rounds: int = 50
    bucketized: bool = True
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("ForegroundSafe", "r", self.r, "records")
        check_whole("ForegroundSafe", "rounds", self.rounds, "attacks")
        check_whole("ForegroundSafe", "support", self._min_support, "records")
        check_kind("ForegroundSafe", "fit", self.fit, Callable, "is a Fitting, as ExpectationMaximization()")
        set_fields(
            self,
            sensitive_set=as_sensitive_values("ForegroundSafe", self.sensitive_set),
            attribute_sets=check_attribute_sets("ForegroundSafe", self.attribute_sets),
            rng=stored_generator("ForegroundSafe", self.rng, self.deterministic),
        )

    @property
    def _min_support(self) -> int:
        return self.support.records if isinstance(self.support, SampleSize) else self.support

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, is checked and not used."""
        self._checked_prior(view, prior)
        sensitive_set = SensitiveSet.within(view.schema.values, self.sensitive_set, "ForegroundSafe")
        in_set = sensitive_set.classes[view.sensitive] == 0
        self._check_share(
            view, "one of the sensitive set", int(in_set.sum()), ", or name a sensitive set that is rarer"
        )
        order = hilbert_order(view.people)
        sets = supported_sets(view.people, self.attribute_sets, self._min_support)
        among_equals = order if self.deterministic else as_generator("ForegroundSafe", self.rng, optional=True)
        points = log_odds_points(sets, in_set, among_equals)
        labels = group_around_sensitive(points, in_set, int(self.r) - 1)
        for number in range(1, int(self.rounds) + 1):
            labels = self._without_leftovers(labels, points)
            published = self._published(labels, order)
            result = self._attack(Release(view, published), labels, sensitive_set)
            if not len(result.exceeding):
                return Grouping(published, notes=_notes(number, labels, int(self.r)), bucketized=self.bucketized)
            before = labels
            labels = enlarge_groups(labels, result.exceeding, points, result.odds, in_set, int(self.r))
            if np.array_equal(labels, before):  # A single group cannot grow, and further attacks give the same result.
                break
        raise Infeasible.of_view(
            f"after {number} attacks there are {len(result.exceeding)} groups of the ",
            view.time,
            f" in which mining gives a member a belief in the sensitive set over 1/r = {1 / self.r:.4g}; the "
            f"largest belief is {result.max_belief:.4g}. Raise rounds, lower r, or require more support.",
        )

    def _attack(self, release: Release, labels: IntArray, sensitive_set: SensitiveSet) -> "GroupAttackResult":
        """The attack of `ForegroundAttack` on the groups 0 to g - 1; groups with label -1 hold no value of the set."""
        view, observation, domain = release.view, release.observation, sensitive_set.domain
        # The bound is bound to each mined prior below; the summaries' own prior is not read.
        uniform = np.full((len(view), len(domain)), 1 / len(domain))
        groups = summarize_groups(summarize_records(view, uniform, members=True), labels)
        bound = PosteriorBound(1 / self.r, Auto(), [domain[code] for code in sensitive_set.codes], "belief")
        level, odds = np.zeros(len(groups)), np.ones((len(view), 0))
        sets = supported_sets(observation.people, self.attribute_sets, self._min_support, observation.group >= 0)
        for mined, _ in mine_global_distributions(observation, sensitive_set, sets, self.fit, Auto()):
            if mined.fit.draws is not None:
                raise ValueError(
                    f"the fit, {self.fit!r}, is random, so that two attacks differ; give one that is not, as "
                    "ExpectationMaximization()."
                )
            prior = sensitive_set.value_probabilities(mined.prior, observation.counts.sum(axis=0))
            level = np.maximum(level, bound.bind(view, prior).level(groups))
            probability = np.minimum(mined.prior[:, :1], 1.0 - COMPLEMENT_FLOOR)
            odds = np.hstack([odds, probability / (1.0 - probability)])
        exceeding = np.flatnonzero(level > 1 / self.r + LEVEL_TOLERANCE)
        order = np.argsort(-level[exceeding], kind="stable")
        return GroupAttackResult(exceeding[order], odds, float(level.max(initial=0.0)))

    def _without_leftovers(self, labels: IntArray, points: FloatArray) -> IntArray:
        """Labels in which free records that are too few for a group have joined the group of the nearest record."""
        free = np.flatnonzero(labels < 0)
        if not 0 < len(free) < self.r:
            return labels
        joined, in_group = labels.copy(), labels >= 0
        for record in free:
            joined[record] = labels[nearest_record(points, in_group, points[record])]
        return joined

    def _published(self, labels: IntArray, order: IntArray) -> IntArray:
        """Labels with the free records grouped r by r along an order; the last group has up to r - 1 more."""
        labels, free = labels.copy(), order[labels[order] < 0]
        groups = len(free) // int(self.r)
        labels[free] = labels.max(initial=-1) + 1 + np.minimum(np.arange(len(free)) // int(self.r), groups - 1)
        return labels


def _notes(attacks: int, labels: IntArray, r: int) -> tuple[str, ...]:
    """Note of the number of attacks and the sizes of the groups."""
    size = np.bincount(labels[labels >= 0])
    if not len(size):
        return ()
    return (
        f"{len(size)} groups hold the sensitive values, of {size.min()} to {size.max()} records; {int((size > r).sum())} have more "
        f"than r = {r}. Attack {attacks} gave no belief over 1/r.",
    )


COMPLEMENT_FLOOR = 1e-12  # smallest value of 1 - p in the odds p / (1 - p)


class GroupAttackResult(NamedTuple):
    """Result of an attack on groups."""

    # Groups with a member whose belief exceeds the bound, by their largest belief in descending order
    exceeding: IntArray
    # (n, a): odds of each respondent of having a value of the sensitive set before the groups are observed again, under
    # the global distribution of each attribute set
    odds: FloatArray
    max_belief: float  # largest belief of any member of any group


MAX_DISTANCE_OF_EQUALS = 1e-8  # largest distance of two records that match the same signatures


def log_odds_points(
    sets: Iterable[AttributeSignatures],  # signatures of the same n records, one item for each attribute set
    in_set: BoolArray,  # (n,): True for the records with a value of the sensitive set
    # (n,), or Generator: an order of the records, along which records that match the same signatures in all attribute
    # sets are near each other; or a generator of random positions
    among_equals: "IntArray | np.random.Generator",
) -> FloatArray:
    """One coordinate per attribute set: the log-odds of the sensitive set among all records of the same signature.

    Half a record is added to each side, so that all log-odds are finite. A record without a supported signature has the log-odds of
    the whole table.

    Return a float array of shape (n, 1 + a): the first coordinate separates equal records. Records that match the same signatures
    in all sets are nearer to each other than to any other record, and no two records are at the same point.

    These are the odds that an attack could mine at best. Cost: O(n a log n).
    """
    n = len(in_set)
    matched, columns = np.zeros((n, 0), dtype=np.int64), []
    for signatures in sets:
        # The last entry, of the whole table, is that of signature -1.
        in_signature = in_set & (signatures.signature >= 0)
        holders = np.append(np.bincount(signatures.signature[in_signature], minlength=len(signatures)), in_set.sum())
        size = np.append(signatures.support, n)
        columns.append(np.log((holders + 0.5) / (size - holders + 0.5))[signatures.signature])
        matched = np.column_stack([matched, signatures.signature])
    position = among_equals.random(n) if isinstance(among_equals, np.random.Generator) else np.argsort(among_equals) / n
    if columns:
        position = position + 2 * np.unique(matched, axis=0, return_inverse=True)[1].reshape(-1)
    return np.column_stack([MAX_DISTANCE_OF_EQUALS * position, *columns])


# A group that must grow takes at least one record for each 8 members, and at most one for each member
MEMBERS_PER_ADDED_RECORD = 8


def group_around_sensitive(
    points: FloatArray,  # (n, d)
    in_set: BoolArray,  # (n,): True for sensitive records. There are at least `others` times as many free records.
    others: int,  # number of free records of a group
) -> IntArray:
    """Groups of one sensitive record and its nearest free records; records whose free neighbours are near come first.

    Return an int array of shape (n,): group of each record, from 0; -1 for the remaining free records.

    Cost: one search of a k-d tree for each group, and O(n log n).
    """
    labels, centers = np.full(len(points), -1, dtype=np.int64), np.flatnonzero(in_set)
    if len(centers) and others:
        free = FreeRecordIndex(points, ~in_set)
        centers = centers[np.argsort(free.distances(points[centers], others), kind="stable")]
        for group, center in enumerate(centers):
            labels[free.nearest(labels < 0, points[center], others)] = group
    labels[centers] = np.arange(len(centers))
    return labels


def enlarge_groups(
    labels: IntArray,  # (n,): group of each record, 0 to g - 1; -1 for free records
    failing: IntArray,  # groups that must grow, in the order in which they choose free records
    points: FloatArray,  # (n, d)
    odds: FloatArray,  # (n, a): odds of each record under each of a global distributions
    in_set: BoolArray,  # (n,)
    r: int,
) -> IntArray:
    """Add records to some groups towards the bound ``r c max w <= sum w``, by which no posterior exceeds 1/r.

    In a group with c values of the sensitive set, let w be each member's odds of having one. The posterior of a member is at most
    ``c max w / sum w``; with ``c = 1`` this is the largest posterior (foreground knowledge, Equation 3).

    Return an int array of shape (n,): labels from 0 without gaps. Every failing group has more records; that they suffice is not
    checked.

    A group takes the nearest free records until the bound holds, but at most doubles, because the global distributions change with
    the groups. Without a free record it joins the group of the nearest record; without another group it stays as it is.
    Cost: O(n a) per group.
    """
    labels = labels.copy()
    index = FreeRecordIndex(points, labels < 0)
    for group in failing:
        members = np.flatnonzero(labels == group)
        if not len(members):
            continue
        center = points[members].mean(axis=0)
        near = index.nearest(labels < 0, center, len(members))
        if len(near):
            number = _number_needed(odds[members], odds[near], int(in_set[members].sum()), r)
            labels[near[:number]] = group
        elif (labels != group).any():
            labels[members] = labels[nearest_record(points, labels != group, center)]
    kept = labels >= 0
    labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return labels


def nearest_record(points: FloatArray, among: BoolArray, target: FloatArray) -> int:
    """Record nearest to a point among the marked ones; ties go to the lowest row. Cost: O(n d)."""
    rows = np.flatnonzero(among)
    return int(rows[((points[rows] - target) ** 2).sum(axis=1).argmin()])


def _number_needed(members: FloatArray, near: FloatArray, c: int, r: int) -> int:
    """Number of near records, the first ones, with which the bound holds; all of them if they do not suffice."""
    sums = members.sum(axis=0) + np.cumsum(near, axis=0)
    largest = np.maximum(members.max(axis=0), np.maximum.accumulate(near, axis=0))
    least = -(-len(members) // MEMBERS_PER_ADDED_RECORD)
    holds = (r * c * largest <= sums).all(axis=1)[least - 1 :]
    return least + int(holds.argmax()) if holds.any() else len(near)


class FreeRecordIndex:
    """Nearest-neighbour index of the records that are free at first."""

    def __init__(self, points: FloatArray, free: BoolArray) -> None:
        self._rows = np.flatnonzero(free)
        self._tree = scipy.spatial.cKDTree(points[self._rows])

    def distances(self, points: FloatArray, number: int) -> FloatArray:
        """Distance of each point to its ``number``-th nearest record."""
        return np.asarray(self._tree.query(points, [number])[0][:, 0])

    def nearest(self, free: BoolArray, target: FloatArray, number: int) -> IntArray:
        """At most ``number`` nearest records that are still free, nearest first.

        The tree keeps the records that are no longer free, so that the query is repeated with more neighbours until enough of
        them are free.
        """
        queried, size = 0, len(self._rows)
        rows = self._rows[:0]
        while len(rows) < number and queried < size:
            queried = min(max(2 * number, 4 * queried), size)
            neighbours = np.atleast_1d(self._tree.query(target, queried)[1])
            rows = self._rows[neighbours][free[self._rows[neighbours]]]
        return rows[:number]
