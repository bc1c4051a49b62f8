"""A defense against foreground knowledge: people whom mining makes alike are grouped, and the result is mined again."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

import numpy as np

from foreknow.defenses.foreground_safe.alike_groups import around_each, grown, nearest_record
from foreknow.defenses.foreground_safe.alike_points import alike_points
from foreknow.defenses.foreground_safe.group_attack import GroupAttack
from foreknow.defenses.growing.hilbert import hilbert_order
from foreknow.defenses.randomness import check_generator, generator
from foreknow.defenses.requirements.requirement import Infeasible, check_size
from foreknow.defenses.requirements.summary import prior_of
from foreknow.models import Grouping, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.foreground.attribute_signatures import (
    AttributeSets,
    SampleSize,
    check_attribute_sets,
    supported_sets,
)
from foreknow.models.foreground.expectation_maximization import ExpectationMaximization
from foreknow.models.foreground.fit import Fitting
from foreknow.models.foreground.sensitive_set import SensitiveSet, as_sensitive_values
from foreknow.models.settings import check_whole


@dataclass(frozen=True)
class ForegroundSafe:
    """Group everybody who has a sensitive value with people who are as likely to, until mining the groups links nobody to it.

    Each record with a value of the sensitive set is put together with the r - 1 others that are most like it: in the share
    of the set among those who match the same signatures, for all attribute sets. Then the groups are attacked as by
    `ForegroundAttack`. A group in which somebody is over 1/r takes in more of those who are like it, and the groups are attacked
    again, until nobody is. All other records are grouped r by r along a Hilbert curve.

    Parameters
    ----------
    r : int
        Nobody has a value of the set with a probability over 1/r.
    sensitive : collection of values
        The set nobody should be linked to.
    attribute_sets : "all", or sequence of sequences of str
        Which attribute sets an attack may look at.
    support : int or SampleSize
        How many people must match a signature for an attack to learn of it.
    fit : Fitting
        How an attack finds the global distributions; one that gives the same answer every time.
    rounds : int
        After how many attacks to give up.
    bucketized : bool
        Whether quasi-identifiers are published as they are, or generalized.
    deterministic : bool
        Among records that are equally like another, take the nearest along a Hilbert curve, and draw nothing: an adversary who
        knows this rule may tell which record of a group is the sensitive one. Use it for experiments only.
    rng : numpy.random.Generator, optional
        Draws which of several records that are equally like another join it, for experiments that must be repeated; these need
        `publish(rng=...)` too, which draws the order of the records and the numbers of the groups. Each call continues where the
        last one stopped. A seed is found by trying all of them. By default each call draws from fresh entropy.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its range, or ``rng`` is given with ``deterministic``; when called, if the set is not in the
        domain or all of it, an attribute set is not among the quasi-identifiers, or the fit draws.
    Infeasible
        When called, if r is larger than the view, more than one in r records have a value of the set, or somebody is still over
        1/r after ``rounds`` attacks.

    Notes
    -----
    Ours. R. Wong et al., arXiv:0905.1755, section 7, leave a defense to the future, and see that "the chance of privacy breaches is
    lower if each group contains tuples with 'similar' global probabilities". What is returned has been attacked: under the
    global distribution of every attribute set with enough support, as the same fit finds it in this very release, every group
    satisfies ``PosteriorBound(1 / r, Auto(), sensitive, "belief")``. That is all it promises. Told of 3,993 people, drawn groups of
    two on Adult leave 82 to 86 % of the sensitive people over 1/2 to an attack with support 500 (16 % with ``deterministic``; none
    if told of 500): give the smallest support that an adversary may use. An attack with less support, other
    attribute sets or another fit (another of several solutions, `FitStatus.SEVERAL`) may find somebody. So may one who knows
    this rule: a sensitive record is the middle of its group. Among people who match the same signatures, the random choice
    hides which is; in groups that had to grow it cannot.

    People who match the same signatures are alike whatever is learned; where they are enough, r of them are a group. Likeness is
    the Euclidean distance of log-odds, one per attribute set, of the table's shares with half a record added to each side.
    A group that must grow takes in one record for eight that it has, at least, and at most doubles; with no free record left
    it joins the nearest group. A single group tells nothing but its share to a fit that begins there; one of several starts, the
    default where a fit is cheap, may find that all of one signature have the value, so that a small view is refused.

    Cost: per attack that of `ForegroundAttack`; a search of a k-d tree for each sensitive record, and O(n a) for each that must
    grow, with a attribute sets. Where signatures are of few people each, as with ``support=1`` and thousands of different numbers,
    groups that must grow join one another into a huge one, whose attack costs O(N c): 4,000 records take 40 seconds, and 8,000
    minutes. Ask for more support, name attribute sets, or give numbers as ranges.

    Examples
    --------
    Of each sex two are ill of four. In groups of one sex there is nothing to learn but that:

    >>> import pandas as pd
    >>> from foreknow.models import Categorical, Schema
    >>> frame = pd.DataFrame({"id": range(8), "sex": list("fmfmfmfm"), "result": ["ill"] * 4 + ["well"] * 4})
    >>> view = View(frame, Schema({"sex": Categorical(("f", "m"))}, "result", ("ill", "well")))
    >>> grouping = ForegroundSafe(2, {"ill"}, support=1, deterministic=True)(view, np.full((8, 2), 0.5))
    >>> frame["sex"].groupby(grouping.labels).agg("".join).tolist()
    ['ff', 'mm', 'ff', 'mm']
    """

    r: int
    sensitive: Collection[Hashable]
    attribute_sets: AttributeSets = "all"
    support: int | SampleSize = field(default_factory=SampleSize)
    fit: Fitting = field(default_factory=ExpectationMaximization)
    rounds: int = 50
    bucketized: bool = True
    deterministic: bool = field(default=False, kw_only=True)
    rng: np.random.Generator | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("ForegroundSafe", "r", self.r, "records")
        check_whole("ForegroundSafe", "rounds", self.rounds, "attacks")
        check_whole("ForegroundSafe", "support", self._fewest, "people")
        if self.sensitive is None:
            raise TypeError("ForegroundSafe: sensitive is None; name the values that nobody should be linked to.")
        if isinstance(self.fit, type) or not callable(self.fit):
            raise TypeError(f"ForegroundSafe: fit is {self.fit!r}; it is a Fitting, as ExpectationMaximization().")
        check_generator("ForegroundSafe", self.rng, self.deterministic)
        object.__setattr__(self, "sensitive", as_sensitive_values("ForegroundSafe", self.sensitive))
        object.__setattr__(self, "attribute_sets", check_attribute_sets("ForegroundSafe", self.attribute_sets))

    @property
    def smallest(self) -> int:
        """The fewest records of a group, r."""
        return int(self.r)

    @property
    def _fewest(self) -> int:
        return self.support.records if isinstance(self.support, SampleSize) else self.support

    def __call__(self, view: View, prior: FloatArray, past: tuple[Release, ...] = ()) -> Grouping:  # noqa: ARG002
        """Group a view; the prior, shape ``(n, m)``, does not matter."""
        prior_of(view, prior)
        sensitive_set = SensitiveSet.of(view.schema.values, self.sensitive, "ForegroundSafe")
        sensitive = sensitive_set.classes[view.sensitive] == 0
        self._check_eligible(view, sensitive)
        order = hilbert_order(view.people)
        sets = supported_sets(view.people, self.attribute_sets, self._fewest)
        points = alike_points(sets, sensitive, order if self.deterministic else generator(self.rng))
        mining = GroupAttack(1 / self.r, sensitive_set, self.attribute_sets, self._fewest, self.fit)
        labels = around_each(points, sensitive, int(self.r) - 1)
        for attack in range(1, int(self.rounds) + 1):
            labels = self._without_leftovers(labels, points)
            published = self._published(labels, order)
            found = mining(Release(view, published), labels)
            if not len(found.over):
                return Grouping(published, notes=_notes(attack, labels, int(self.r)), bucketized=self.bucketized)
            labels = grown(labels, found.over, points, found.odds, sensitive, int(self.r))
        raise Infeasible(
            f"after {self.rounds} attacks there are {len(found.over)} groups of the view at {view.time!r} left in which mining "
            f"finds somebody with a sensitive value with more than 1/r = {1 / self.r:.4g}; of the likeliest it believes "
            f"{found.likeliest:.4g}. "
            "Raise rounds, lower r, or ask for more support."
        )

    def _check_eligible(self, view: View, sensitive: BoolArray) -> None:
        n, holders = len(view), int(sensitive.sum())
        check_size("r", self.r, view)
        if holders * self.r > n:
            raise Infeasible(
                f"{holders} of the {n} records of the view at {view.time!r} have a value of the sensitive set, a share of "
                f"{holders / n:.4g}; no more than 1/r = {1 / self.r:.4g} may. The largest r that this view allows is "
                f"{n // holders}. Lower r, or name a sensitive set that is rarer."
            )

    def _without_leftovers(self, labels: IntArray, points: FloatArray) -> IntArray:
        """Free records that are too few for a group join that of the nearest record."""
        free = np.flatnonzero(labels < 0)
        if not 0 < len(free) < self.r:
            return labels
        joined, inside = labels.copy(), labels >= 0
        for record in free:
            joined[record] = labels[nearest_record(points, inside, points[record])]
        return joined

    def _published(self, labels: IntArray, order: IntArray) -> IntArray:
        """The labels, with the free records r by r along an order; the last group has up to r - 1 more."""
        labels, free = labels.copy(), order[labels[order] < 0]
        groups = len(free) // int(self.r)
        labels[free] = labels.max(initial=-1) + 1 + np.minimum(np.arange(len(free)) // int(self.r), groups - 1)
        return labels


def _notes(attacks: int, labels: IntArray, r: int) -> tuple[str, ...]:
    """Counts of the attacks on the groups, and the size that these had to reach."""
    size = np.bincount(labels[labels >= 0])
    if not len(size):
        return ()
    return (
        f"{len(size)} groups hold the sensitive values, of {size.min()} to {size.max()} records; {int((size > r).sum())} have more "
        f"than r = {r}. Attack {attacks} found nobody over 1/r.",
    )
