"""A defense against foreground knowledge: records with similar log-odds are grouped, and the groups are attacked."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

import numpy as np

from foreknow.defenses.foreground_safe.group_attack import GroupAttack
from foreknow.defenses.foreground_safe.log_odds_points import log_odds_points
from foreknow.defenses.foreground_safe.sensitive_groups import enlarge_groups, group_around_sensitive, nearest_record
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.requirements.feasibility import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.advice import VIEW, Advice
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.foreground.attribute_signatures import (
    AttributeSets,
    SampleSize,
    check_attribute_sets,
    supported_sets,
)
from foreknow.models.foreground.expectation_maximization import ExpectationMaximization
from foreknow.models.foreground.fit import Fitting
from foreknow.models.settings import as_generator, check_flag, check_whole, stored_generator
from foreknow.models.tables.sensitive_set import SensitiveSet, as_sensitive_values


@equal_by_fields
@dataclass(frozen=True)
class ForegroundSafe:
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
        Source of the random choice among equally similar records, for experiments that must be repeated. These need
        `publish(rng=...)` too, which draws the order of the records and the numbers of the groups. Each call continues where the
        last one stopped, also from a seed. An adversary finds a seed by trying all of them. By default each call draws from
        fresh entropy.

    Raises
    ------
    TypeError, ValueError
        If a setting has the wrong type or is out of its range, or ``rng`` is given with ``deterministic``. When called, if the
        set is not in the domain or is all of it, an attribute is not a quasi-identifier, or the fit is random.
    Infeasible
        When called, if r is larger than the view, if more than one in r records are sensitive, or if a belief is still over
        1/r after ``rounds`` attacks.

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
        check_flag("ForegroundSafe", "bucketized", self.bucketized)
        check_flag("ForegroundSafe", "deterministic", self.deterministic)
        if isinstance(self.fit, type) or not callable(self.fit):
            raise TypeError(
                f"ForegroundSafe: fit is {self.fit!r}; it is a Fitting with its settings, as ExpectationMaximization()."
            )
        object.__setattr__(self, "sensitive_set", as_sensitive_values("ForegroundSafe", self.sensitive_set))
        object.__setattr__(self, "attribute_sets", check_attribute_sets("ForegroundSafe", self.attribute_sets))
        object.__setattr__(self, "rng", stored_generator("ForegroundSafe", self.rng, self.deterministic))

    @property
    def smallest(self) -> int:
        """Smallest number of records of a group, r."""
        return int(self.r)

    @property
    def _min_support(self) -> int:
        return self.support.records if isinstance(self.support, SampleSize) else self.support

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, is checked and not used."""
        prior_of(view, prior)
        sensitive_set = SensitiveSet.within(view.schema.values, self.sensitive_set, "ForegroundSafe")
        in_set = sensitive_set.classes[view.sensitive] == 0
        self._check_eligible(view, in_set)
        order = hilbert_order(view.people)
        points = self._points(view, in_set, order)
        attack = GroupAttack(1 / self.r, sensitive_set, self.attribute_sets, self._min_support, self.fit)
        labels = group_around_sensitive(points, in_set, int(self.r) - 1)
        for number in range(1, int(self.rounds) + 1):
            labels = self._without_leftovers(labels, points)
            published = self._published(labels, order)
            result = attack(Release(view, published), labels)
            if not len(result.exceeding):
                return Grouping(published, notes=_notes(number, labels, int(self.r)), bucketized=self.bucketized)
            before = labels
            labels = enlarge_groups(labels, result.exceeding, points, result.odds, in_set, int(self.r))
            if np.array_equal(labels, before):  # A single group cannot grow, and further attacks give the same result.
                break
        raise Infeasible(
            Advice(
                f"after {number} attacks there are {len(result.exceeding)} groups of the ",
                VIEW,
                f" at {view.time!r} in which mining gives a member a belief in the sensitive set over 1/r = {1 / self.r:.4g}; the "
                f"largest belief is {result.max_belief:.4g}. Raise rounds, lower r, or require more support.",
            )
        )

    def _points(self, view: View, in_set: BoolArray, order: IntArray) -> FloatArray:
        """Records as points; ties go along the order, or are random."""
        sets = supported_sets(view.people, self.attribute_sets, self._min_support)
        among_equals = order if self.deterministic else as_generator("ForegroundSafe", self.rng, optional=True)
        return log_odds_points(sets, in_set, among_equals)

    def _check_eligible(self, view: View, in_set: BoolArray) -> None:
        """Raise Infeasible if r is larger than the view, or the share of sensitive records is over 1/r."""
        n, holders = len(view), int(in_set.sum())
        check_size("r", self.r, view)
        if holders * self.r > n:
            raise Infeasible(
                Advice(
                    f"{holders} of the {n} records of the ",
                    VIEW,
                    f" at {view.time!r} have a value of the sensitive set, a share of {holders / n:.4g}; no more than 1/r = "
                    f"{1 / self.r:.4g} may. The largest r that this view allows is {n // holders}. Lower r, or name a sensitive "
                    "set that is rarer.",
                )
            )

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
