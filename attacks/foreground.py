"""The attack that needs no background knowledge: the published groups teach the population's patterns."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from foreknow.attacks.attack import Published, each_release
from foreknow.attacks.foreground_beliefs import ForegroundBeliefs
from foreknow.models import Auto, Estimator, Observation, Posterior, ReleaseBeliefs
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.expectation import believed
from foreknow.models.foreground.expectation_maximization import ExpectationMaximization
from foreknow.models.foreground.fit import FitStatus, Fitting
from foreknow.models.foreground.global_distribution import GlobalDistribution
from foreknow.models.foreground.mining import Unmatched, mine_global_distributions
from foreknow.models.foreground.sample_size import SampleSize
from foreknow.models.foreground.sampled_beliefs import sampled_beliefs
from foreknow.models.foreground.sensitive_set import SensitiveSet, check_sensitive
from foreknow.models.foreground.signatures import AttributeSets, check_attribute_sets, supported_sets

ROUNDING = 1e-12
"""By how much one attribute set must say more than another to be worse."""


@dataclass(frozen=True)
class ForegroundAttack:
    """Learn the global distribution of attribute sets from the published groups, and turn it against the people in them.

    Of each attribute set with enough support, the distribution of the sensitive values among the people of each signature is
    found from the groups alone; under it, some assignments of a group's values are likelier than others. The worst over the
    attribute sets is reported for everybody. Nothing else is known beforehand; each release is taken alone.

    Parameters
    ----------
    attribute_sets : "all", or sequence of sequences of str
        Which attribute sets to look at: each set of quasi-identifiers, or those listed.
    sensitive : collection of values, optional
        The set nobody should be linked to; its values are not told apart, nor are the others. Left out, every value is one
        of its own, and all are weighed at once.
    estimator : Estimator
        The posterior rule of a group. For a sensitive set, `Auto` and `Exact` are computed in closed form.
    fit : Fitting
        How the distributions are found: `ExpectationMaximization`, `Newton`, or `GibbsSampling`, which gives a posterior
        over them.
    support : int or SampleSize
        The smallest number of people who match a signature. Where no signature of any attribute set has as many there is no
        foreground knowledge, and the groups' shares are believed; the beliefs' ``notes`` say so.
    unmatched : {"table", "uniform"}
        The distribution of people whose signature fewer match: the whole published table's, or that of equally likely values of
        the sensitive domain, so that a set of 4 of 16 values has 1/4. The paper says that "uniform distribution will be assumed"
        (section 4.2), and either may be meant.

    Raises
    ------
    ValueError, TypeError
        If a setting is out of its range, or a class in place of a setting of it; when called, if an attribute set is not among
        the quasi-identifiers, the sensitive set not in the domain or all of it, or releases differ in their domain.

    Notes
    -----
    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, "Can the Utility of Anonymized Data be Used for Privacy Breaches?",
    arXiv:0905.1755, sections 3 and 4.

    The posterior over values of a sensitive set spreads the set's probability by their shares in the group: people who are
    alike in having one of the set are alike in which. The worst over attribute sets is no belief anybody should hold; it
    overstates (`foreknow.evaluation.risk.breaches` measures by how much). Of attribute sets that say the same, the first is taken:
    the smallest. People in groups that show a counterfeit are joined by as many strangers, of whom the whole table's
    distribution is believed. Of people outside all groups the worst of the global distributions is believed.

    Cost: per attribute set O(n log n) for the signatures, and the fit's; for a sensitive set a round of the fit is O(N c) per
    kind of group, N people of whom c have a value of it. With `Auto`, groups of N c over 2^18 are computed by the law of large
    numbers in O(k) for k signatures (`FitStatus.LARGE_GROUPS`), and the notes give the error. With `Exact`, one group of
    N = 100,000 and c = 50,000 takes 4 seconds a round with 50 signatures and 10 with 5,000; 50,000 do not fit into 20 GB.

    Examples
    --------
    Example 2 of the paper:

    >>> import pandas as pd
    >>> from foreknow.models import PublishedTable
    >>> table = PublishedTable(
    ...     pd.DataFrame(
    ...         {"A": ["s1", "s2", "s1", "s1", "s2", "s2"], "group": [1, 1, 2, 2, 3, 3], "X": ["x", "y", "x", "y", "y", "z"]}
    ...     ),
    ...     sensitive="X",
    ... )
    >>> beliefs = ForegroundAttack(sensitive={"x"}, support=1)([table])
    >>> beliefs.knowledge[0][0].frame.round(6)
        A  support  probability
    0  s1        3     0.666667
    1  s2        3     0.000000
    """

    attribute_sets: AttributeSets = "all"
    sensitive: "Sequence[Hashable] | set[Hashable] | frozenset[Hashable] | None" = None
    estimator: Estimator = field(default_factory=Auto)
    fit: Fitting = field(default_factory=ExpectationMaximization)
    support: int | SampleSize = field(default_factory=SampleSize)
    unmatched: Unmatched = "table"

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute_sets", check_attribute_sets("ForegroundAttack", self.attribute_sets))
        object.__setattr__(self, "sensitive", check_sensitive("ForegroundAttack", self.sensitive))
        _check_setting("estimator", self.estimator, hasattr(self.estimator, "exact"), "an Estimator, as Exact()")
        _check_setting("fit", self.fit, not hasattr(self.fit, "exact"), "a Fitting, as ExpectationMaximization()")
        _check_support(self.support)
        if self.unmatched not in ("table", "uniform"):
            raise ValueError(
                f"ForegroundAttack: unmatched is {self.unmatched!r}; it is 'table' (the table's shares) or 'uniform' "
                "(equally likely values)."
            )

    @property
    def fewest(self) -> int:
        """Number of people who must match a signature."""
        return self.support.records if isinstance(self.support, SampleSize) else int(self.support)

    def __call__(self, releases: Iterable[Published]) -> ForegroundBeliefs:
        """Learn from each release, and weigh what that says of everybody in it. Only the releases' observations are read."""
        found = [self._learned(release.observation) for release in each_release(self, releases)]
        beliefs = tuple(one.beliefs for one in found)
        _check_domains([one.observation for one in beliefs])
        sampled = any(one.interval is not None for one in found)
        return ForegroundBeliefs(
            beliefs,
            tuple(one.knowledge for one in found),
            tuple(one.worst for one in found),
            tuple(_or_unknown(one.interval, len(one.worst)) for one in found) if sampled else None,
            found[0].sensitive_set if found else None,
            notes=tuple(f"at {one.beliefs.observation.time}: {note}" for one in found for note in self._notes(one)),
        )

    def mine(self, observation: Observation) -> tuple[GlobalDistribution, ...]:
        """The global distribution of every attribute set with enough support, from one release."""
        return tuple(distribution for distribution, _ in self._mined(observation, self._secret(observation)))

    def _secret(self, seen: Observation) -> SensitiveSet:
        return SensitiveSet.of(seen.people.schema.values, self.sensitive, "ForegroundAttack")

    def _mined(self, seen: Observation, sensitive_set: SensitiveSet) -> Iterator[tuple[GlobalDistribution, Evidence]]:
        return mine_global_distributions(
            seen, sensitive_set, self.attribute_sets, self.fewest, self.fit, self.estimator, self.unmatched
        )

    def _learned(self, seen: Observation) -> "_Learned":
        """Learn from one release: each attribute set in turn, for everybody the worst so far."""
        sensitive_set = self._secret(seen)
        worst, knowledge = _Worst.before(seen, sensitive_set), []
        for number, (distribution, evidence) in enumerate(self._mined(seen, sensitive_set)):
            worst = worst.or_(_weighed(distribution, evidence, self.estimator, len(seen.people)), number)
            knowledge.append(distribution)
        values = sensitive_set.spread(worst.posterior, _shown(seen))
        prior = sensitive_set.spread(worst.prior, seen.counts.sum(axis=0))
        posterior = Posterior(values, np.zeros(len(seen.counts), dtype=np.int64))
        beliefs = ReleaseBeliefs(seen, prior, prior, posterior)
        return _Learned(beliefs, tuple(knowledge), worst.chosen, worst.interval, sensitive_set)

    def _notes(self, learned: "_Learned") -> tuple[str, ...]:
        """Notes about a release that taught nothing, and about fits that did not settle."""
        seen, knowledge = learned.beliefs.observation, learned.knowledge
        if knowledge:
            return tuple(_of_the_fits(knowledge))
        if not len(seen.counts):
            return ("nobody is published, and there is nothing to learn.",)
        # A signature is matched by no more people than its parts are.
        sets = tuple(seen.people.schema.quasi_identifiers) if self.attribute_sets == "all" else self.attribute_sets
        most = max(supported_sets(seen.people, sets, 1, seen.group >= 0), key=lambda found: int(found.support.max()))
        return (
            f"no signature is matched by {self.fewest:,} people; nothing is learned, and the groups' shares are believed. Most, "
            f"{most.support.max():,}, match one of {', '.join(most.attributes)}; a smaller support learns from fewer people.",
        )


class _Learned(NamedTuple):
    """The lessons of one release."""

    beliefs: ReleaseBeliefs
    knowledge: tuple[GlobalDistribution, ...]
    worst: IntArray
    interval: FloatArray | None
    sensitive_set: SensitiveSet


class _Weighed(NamedTuple):
    """Everybody's beliefs from one attribute set: prior and posterior ``(n, c)``, and the posterior's interval."""

    prior: FloatArray
    posterior: FloatArray
    interval: FloatArray | None


class _Worst(NamedTuple):
    """For everybody, what follows from the attribute set that makes a sensitive value likeliest, of those heard so far."""

    prior: FloatArray
    posterior: FloatArray
    interval: FloatArray | None
    chosen: IntArray
    classes: int

    @classmethod
    def before(cls, seen: Observation, sensitive_set: SensitiveSet) -> "_Worst":
        """Nothing heard: the table's shares, and the groups'; where nothing is published, all values alike."""
        shown = np.vstack([seen.counts, seen.counts.sum(axis=0)])
        counts = sensitive_set.counts(shown if shown.any() else np.ones_like(shown))
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        prior = np.tile(shares[-1], (len(seen.people), 1))
        chosen = np.full(len(seen.people), -1, dtype=np.int64)
        classes = 1 if sensitive_set.is_set else len(sensitive_set.values)
        return cls(prior, shares[seen.group], None, chosen, classes)

    def or_(self, weighed: _Weighed, number: int) -> "_Worst":
        """With one more attribute set heard; what is worse by rounding alone is not."""
        before, now = (posterior[:, : self.classes].max(axis=1) for posterior in (self.posterior, weighed.posterior))
        worse = (now > before + ROUNDING) | (self.chosen < 0)
        rows, interval = worse[:, None], weighed.interval
        if interval is not None and self.interval is not None:
            interval = np.where(rows, interval, self.interval)
        return _Worst(
            np.where(rows, weighed.prior, self.prior),
            np.where(rows, weighed.posterior, self.posterior),
            interval,
            np.where(worse, number, self.chosen),
            self.classes,
        )


def _weighed(distribution: GlobalDistribution, evidence: Evidence, estimator: Estimator, n: int) -> _Weighed:
    prior, draws = distribution.of_people, distribution.fit.draws
    if draws is None:
        return _Weighed(prior, believed(evidence, estimator, distribution.probabilities)[:n], None)
    found = sampled_beliefs(evidence, estimator, draws)
    rows, first = np.arange(n), np.zeros(n, dtype=np.int64)
    if not distribution.sensitive_set.is_set:
        first = found.mean[:n].argmax(axis=1)
    return _Weighed(prior, found.mean[:n], np.column_stack([found.low[rows, first], found.high[rows, first]]))


def _shown(seen: Observation) -> IntArray:
    """The multiset of each person's group; outside all groups, the table's. Shape ``(n, m)``."""
    return np.vstack([seen.counts, seen.counts.sum(axis=0)])[seen.group]


def _or_unknown(interval: FloatArray | None, n: int) -> FloatArray:
    return np.full((n, 2), np.nan) if interval is None else interval


def _of_the_fits(knowledge: tuple[GlobalDistribution, ...]) -> Iterator[str]:
    """Sentences for the statuses of the global distributions."""
    unsettled, several, large = (
        [one for one in knowledge if status in one.status]
        for status in (FitStatus.UNCONVERGED, FitStatus.SEVERAL, FitStatus.LARGE_GROUPS)
    )
    if unsettled:
        yield (
            f"the global distribution of {_counted(unsettled, knowledge)} did not converge (its status is UNCONVERGED): give the "
            "fit more rounds or draws, ask for more support, or trust its numbers less."
        )
    if several:
        starts = max(one.fit.starts for one in several)
        yield (
            f"the global distribution of {_counted(several, knowledge)} has several solutions (its status is SEVERAL); the "
            f"likeliest of those found from {starts} starts is believed, and the others are in fit.others."
        )
    if large:
        yield (
            f"for {_counted(large, knowledge)} groups too large to be computed exactly were computed by the law of large numbers "
            f"(its status is LARGE_GROUPS); its largest correction of a probability is {max(one.fit.error for one in large):.1e}, "
            "and the error left is of the order of its square. estimator=Exact() computes them exactly."
        )


def _counted(some: list[GlobalDistribution], of: tuple[GlobalDistribution, ...]) -> str:
    return f"{len(some)} of {len(of)} attribute sets, {', '.join(some[0].attributes)} first,"


def _check_setting(name: str, setting: object, right: bool, wanted: str) -> None:
    if isinstance(setting, type):
        raise TypeError(
            f"ForegroundAttack: {name} is the class {setting.__name__}; write {name}={setting.__name__}(...), a setting of it."
        )
    if not (callable(setting) and right):
        raise TypeError(f"ForegroundAttack: {name} is {setting!r}; it is {wanted}.")


def _check_support(support: object) -> None:
    if isinstance(support, SampleSize):
        return
    if isinstance(support, bool) or not isinstance(support, int | float | np.integer):
        raise TypeError(f"ForegroundAttack: support is {support!r}; it is a number of people, or a SampleSize(...).")
    if not (support >= 1 and float(support).is_integer()):
        raise ValueError(
            f"ForegroundAttack: support is {support}; it is a number of people, 1 or more, or a SampleSize(...)."
        )


def _check_domains(seen: list[Observation]) -> None:
    """Raise ValueError unless all releases are of one sensitive domain, as those of a history are."""
    for one, other in pairwise(seen):
        if one.people.schema.values != other.people.schema.values:
            raise ValueError(
                f"the sensitive domain at {other.time!r} is not that at {one.time!r}; attack each release on its own, or give all "
                "tables one domain."
            )
