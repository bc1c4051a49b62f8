"""Foreground-knowledge attack: global distributions mined from the release, and the beliefs that follow."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.attacks.attack import Published, each_release
from foreknow.models import Auto, Beliefs, Estimator, Observation, Posterior
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.equality import equal_by_fields
from foreknow.models.foreground.attribute_signatures import (
    AttributeSets,
    AttributeSignatures,
    SampleSize,
    check_attribute_sets,
    supported_sets,
)
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.fit import ExpectationMaximization, FitStatus, Fitting
from foreknow.models.foreground.global_distribution import (
    GlobalDistribution,
    Unmatched,
    mine_global_distributions,
    posterior_beliefs,
    sampled_beliefs,
)
from foreknow.models.notes import prefixed
from foreknow.models.problem import check_is_estimator
from foreknow.models.progress import Progress, stepping
from foreknow.models.settings import MAX_FLOAT, check_choice, check_kind, check_range, check_whole
from foreknow.models.tables.people import check_one_domain
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ForegroundBeliefs(Beliefs):
    """Beliefs of the foreground attack, and the foreground knowledge behind them.

    Attributes
    ----------
    releases : tuple of ReleaseBeliefs
        The posterior of each record is that of the attribute set that gives a sensitive value the largest probability, the worst
        case. The prior and the revised prior are that set's global distribution.
    knowledge : tuple of tuple of GlobalDistribution
        For each release, the global distribution of every attribute set with enough support.
    worst : tuple of int array, shape (n,)
        For each release, the position in ``knowledge`` of the attribute set behind each record's posterior; -1 where there is
        none, and the posterior is the group's shares.
    intervals : tuple of float array, shape (n, 2), or None
        For each release, where the global distributions were sampled: ends of the 90 % credible interval of the probability of the
        sensitive set or, without a set, of the most likely value, under the same attribute set. NaN for a release without
        foreground knowledge.
    sensitive_set : SensitiveSet, optional
        The sensitive set within its domain, or all values; None where there is no release.
    notes : tuple of str
        As in `Beliefs`: that no signature has enough support, that global distributions did not converge or have several
        solutions, or that groups were computed by the law of large numbers.
    draws : BeliefDraws, optional
        None: the foreground attack has no draws of an adversary.
    """

    knowledge: tuple[tuple[GlobalDistribution, ...], ...] = ()
    worst: tuple[IntArray, ...] = ()
    intervals: tuple[FloatArray, ...] | None = None
    sensitive_set: SensitiveSet | None = None

    def __repr__(self) -> str:
        return f"ForegroundBeliefs(times={self.times!r}, attribute sets={tuple(map(len, self.knowledge))!r})"

    def over(self, r: float) -> pd.DataFrame:
        """Respondents in breach by the attack's own beliefs: their posterior of a sensitive value is over 1/r.

        The true values are not needed. Where they are known, `foreknow.evaluation.risk.breaches` measures how often such beliefs
        are right.

        Parameters
        ----------
        r : float
            The threshold is 1/r; 1 or more. A belief of 1/r to rounding (1e-9) is not over it.

        Returns
        -------
        DataFrame
            One row per release and respondent, in descending order of belief: ``time``, ``respondent``, ``group``; ``value``, the
            most likely value, without a sensitive set; ``belief``; ``share``, the group's share, which is the belief without
            foreground knowledge; ``attributes``, the attribute set; and, where distributions were sampled, ``low`` and ``high``,
            the ends of the 90 % credible interval: a ``low`` over 1/r is a breach with probability 95 %, given that attribute set.
            Respondents outside all groups are left out.

        Raises
        ------
        ValueError
            If r is under 1, or the beliefs were made without the foreground knowledge of each release.
        """
        threshold = breach_threshold(r, "ForegroundBeliefs.over")
        if not len(self.knowledge) == len(self.worst) == len(self):
            raise ValueError(
                f"{self!r} has {len(self)} releases and the global distributions of {len(self.knowledge)}; beliefs that "
                "ForegroundAttack returns have those of each."
            )
        tables = [self._breaches_of_release(number, threshold) for number in range(len(self))]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=pd.Index(COLUMNS))

    def _breaches_of_release(self, number: int, bound: float) -> pd.DataFrame:
        release, observation = self.releases[number], self.releases[number].observation
        counts = np.vstack([observation.counts, observation.counts.sum(axis=0)])
        shares = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[observation.group]
        value, belief, share = self._sensitive(release.posterior.probabilities, shares)
        rows = np.flatnonzero((belief > bound) & (observation.group >= 0))
        rows = rows[np.argsort(-belief[rows], kind="stable")]
        names = [*(", ".join(one.attributes) for one in self.knowledge[number]), ""]
        columns: dict[str, Any] = {
            "time": observation.time,
            "respondent": observation.people.respondents[rows],
            "group": observation.group[rows],
        }
        if value is not None:
            columns["value"] = [observation.people.schema.values[code] for code in value[rows]]
        columns |= {
            "belief": belief[rows],
            "share": share[rows],
            "attributes": [names[position] for position in self.worst[number][rows]],
        }
        if self.intervals is not None:
            columns["low"], columns["high"] = self.intervals[number][rows].T
        return pd.DataFrame(columns, index=range(len(rows)))

    def _sensitive(self, posterior: FloatArray, shares: FloatArray) -> tuple[IntArray | None, FloatArray, FloatArray]:
        """The most likely value of each record, None for a sensitive set; its posterior, and its share of the group."""
        sensitive_set = self.sensitive_set
        if sensitive_set is not None and sensitive_set.is_proper_subset:
            belief, share = (rows[:, sensitive_set.codes].sum(axis=1) for rows in (posterior, shares))
            return None, belief, share
        value = posterior.argmax(axis=1)
        belief, share = (np.take_along_axis(rows, value[:, None], 1)[:, 0] for rows in (posterior, shares))
        return value, belief, share


@dataclass(frozen=True)
class ForegroundAttack:
    """Estimate global distributions of attribute sets from the published groups, and use them as knowledge of the same groups.

    For each attribute set with enough support, the distribution of the sensitive values given each signature is estimated from
    the groups alone. Under it, assignments of a group's values have unequal probabilities. For each record the worst case over
    the attribute sets is reported. The adversary has no other knowledge, and each release is attacked on its own.

    Parameters
    ----------
    attribute_sets : "all", or sequence of sequences of str
        The attribute sets: every set of quasi-identifiers, or those listed.
    sensitive_set : collection of values, optional
        The sensitive set; its values are not distinguished, nor are the others. By default each value is distinguished, and
        the distribution is over all of them.
    estimator : Estimator
        Posterior rule of a group. For a sensitive set, `Auto` and `Exact` are computed in closed form.
    fit : Fitting
        Method that estimates the distributions: `ExpectationMaximization`, or `GibbsSampling`, which draws from their posterior.
    support : int or SampleSize
        Smallest number of records of a signature. Where no signature of any attribute set has it, there is no foreground knowledge,
        and the beliefs are the groups' shares; the ``notes`` of the beliefs say so.
    unmatched : {"table", "uniform", "classes", "groups"}
        Distribution of records whose signature has less support: that of the whole published table. For reproduction only: that of
        equally likely values of the sensitive domain, by which a set of 4 of 16 values has 1/4; that of equally likely classes, by
        which a set has 1/2; or the shares of the record's group. The paper writes "uniform distribution will be assumed" (section
        4.2), which allows these readings.
    progress : callable
        Function of a range that returns an iterable of the same length, as ``rich.progress.track``. One item is taken before each
        attribute set of each release. By keyword.

    Notes
    -----
    R. Wong, A. Fu, K. Wang, Y. Xu, P. Yu, "Can the Utility of Anonymized Data be Used for Privacy Breaches?",
    arXiv:0905.1755, sections 3 and 4.

    For a sensitive set, the posterior over single values divides the set's probability by the values' shares in the group:
    records with equal probability of the set have equal probability of each of its values. The worst case over attribute sets is
    no calibrated belief; it overstates, and `foreknow.evaluation.risk.breaches` measures by how much. Among attribute sets with
    equal beliefs the first, the smallest, is reported. Each counterfeit of a group is an additional record with the whole
    table's distribution. Records outside all groups have the worst case of the global distributions.

    Cost: per attribute set O(n log n) for the signatures, and that of the fit. For a sensitive set an iteration of the fit is
    O(N c) per distinct group, N records of which c have a value of the set. Under `Auto`, groups of N c over 2^18 are computed by
    the law of large numbers in O(k) for k signatures (`FitStatus.LARGE_GROUPS`), and the notes give the error. Under `Exact`, one
    group of N = 100,000 and c = 50,000 takes 4 seconds an iteration with 50 signatures and 10 with 5,000; 50,000 need over 20 GB.

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
    >>> beliefs = ForegroundAttack(sensitive_set={"x"}, support=1)([table])
    >>> beliefs.knowledge[0][0].frame.round(6)
        A  support  probability
    0  s1        3     0.666667
    1  s2        3     0.000000
    """

    attribute_sets: AttributeSets = "all"
    sensitive_set: "Sequence[Hashable] | set[Hashable] | frozenset[Hashable] | None" = None
    estimator: Estimator = field(default_factory=Auto)
    fit: Fitting = field(default_factory=ExpectationMaximization)
    support: int | SampleSize = field(default_factory=SampleSize)
    unmatched: Unmatched = "table"
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute_sets", check_attribute_sets("ForegroundAttack", self.attribute_sets))
        if self.sensitive_set is not None:
            object.__setattr__(self, "sensitive_set", as_sensitive_values("ForegroundAttack", self.sensitive_set))
        check_is_estimator("ForegroundAttack", "estimator", self.estimator)
        check_kind("ForegroundAttack", "fit", self.fit, Callable, "is a Fitting, as ExpectationMaximization()")
        check_whole("ForegroundAttack", "support", self.min_support, "records, or a SampleSize(...)")
        check_choice("ForegroundAttack", "unmatched", self.unmatched, ("table", "uniform", "classes", "groups"))

    @property
    def min_support(self) -> int:
        """Smallest number of records of a signature."""
        return self.support.records if isinstance(self.support, SampleSize) else self.support

    def __call__(self, releases: Iterable[Published]) -> ForegroundBeliefs:
        """Attack each release on its own. Only the releases' observations are read."""
        found = [self._supported(release.observation) for release in each_release(self, releases)]
        check_one_domain("ForegroundAttack", [one.observation for one in found])
        step = stepping(self.progress, range(sum(len(one.sets) for one in found)))
        results = [self._attack(one, step) for one in found]
        beliefs = tuple(result.beliefs for result in results)
        sampled = any(result.interval is not None for result in results)
        nothing = [np.full((len(result.worst), 2), np.nan) for result in results]
        intervals = [
            one if each.interval is None else each.interval for each, one in zip(results, nothing, strict=True)
        ]
        return ForegroundBeliefs(
            beliefs,
            tuple(result.knowledge for result in results),
            tuple(result.worst for result in results),
            tuple(intervals) if sampled else None,
            results[0].sensitive_set if results else None,
            notes=tuple(
                prefixed(f"at {one.beliefs.observation.time}: ", note) for one in results for note in self._notes(one)
            ),
        )

    def mine(self, observation: Observation) -> tuple[GlobalDistribution, ...]:
        """Estimate the global distribution of every attribute set with enough support, from one release."""
        found = self._supported(observation)
        step = stepping(self.progress, range(len(found.sets)))
        return tuple(distribution for distribution, _ in self._mine(found, step))

    def _supported(self, observation: Observation) -> "_Supported":
        """The attribute sets with enough support in one release."""
        sensitive_set = SensitiveSet.within(observation.people.schema.values, self.sensitive_set, "ForegroundAttack")
        sets = supported_sets(observation.people, self.attribute_sets, self.min_support, observation.group >= 0)
        return _Supported(observation, sensitive_set, tuple(sets))

    def _mine(self, found: "_Supported", step: Callable[[], None]) -> Iterator[tuple[GlobalDistribution, Evidence]]:
        """Global distribution and evidence of each attribute set; ``step`` is called before each."""

        def each() -> Iterator[AttributeSignatures]:
            for signatures in found.sets:
                step()
                yield signatures

        return mine_global_distributions(
            found.observation, found.sensitive_set, each(), self.fit, self.estimator, self.unmatched
        )

    def _attack(self, found: "_Supported", step: Callable[[], None]) -> "_ReleaseResult":
        """Attack one release: one attribute set after another, keeping the worst case of each record."""
        observation, sensitive_set = found.observation, found.sensitive_set
        worst, knowledge = WorstCase.of_shares(observation, sensitive_set), []
        for number, (distribution, evidence) in enumerate(self._mine(found, step)):
            worst = worst.updated(set_beliefs(distribution, evidence, self.estimator, len(observation.people)), number)
            knowledge.append(distribution)
        # Outside all groups, group -1, the multiset is that of the table.
        shown = np.vstack([observation.counts, observation.counts.sum(axis=0)])
        values = sensitive_set.value_probabilities(worst.posterior, shown[observation.group])
        prior = sensitive_set.value_probabilities(worst.prior, shown[-1])
        posterior = Posterior(values, np.zeros(len(observation.counts), dtype=np.int64))
        beliefs = ReleaseBeliefs(observation, prior, prior, posterior)
        return _ReleaseResult(beliefs, tuple(knowledge), worst.chosen, worst.interval, sensitive_set)

    def _notes(self, result: "_ReleaseResult") -> tuple[str, ...]:
        """Notes on a release without foreground knowledge, and on the status of the fits."""
        observation, knowledge = result.beliefs.observation, result.knowledge
        if knowledge:
            return tuple(_status_notes(knowledge))
        if not len(observation.counts):
            return ("no record is published; there is nothing to learn.",)
        # A signature has at most the support of its parts.
        every = tuple(observation.people.schema.quasi_identifiers)
        sets = every if self.attribute_sets == "all" else self.attribute_sets
        largest = max(
            supported_sets(observation.people, sets, 1, observation.group >= 0),
            key=lambda found: int(found.support.max()),
        )
        return (
            f"no signature has a support of {self.min_support:,} records; nothing is learned, and the beliefs are the groups' "
            f"shares. The largest support, {largest.support.max():,}, is that of a signature of {', '.join(largest.attributes)}; a "
            "smaller setting of support uses it.",
        )


class _Supported(NamedTuple):
    """A release, its sensitive set, and the attribute sets with enough support."""

    observation: Observation
    sensitive_set: SensitiveSet
    sets: tuple[AttributeSignatures, ...]


class _ReleaseResult(NamedTuple):
    beliefs: ReleaseBeliefs
    knowledge: tuple[GlobalDistribution, ...]
    worst: IntArray
    interval: FloatArray | None
    sensitive_set: SensitiveSet


def _status_notes(knowledge: tuple[GlobalDistribution, ...]) -> Iterator[str]:
    unconverged, several, large = (
        [one for one in knowledge if status in one.status]
        for status in (FitStatus.UNCONVERGED, FitStatus.SEVERAL, FitStatus.LARGE_GROUPS)
    )
    if unconverged:
        yield (
            f"the global distribution of {_counted(unconverged, knowledge)} did not converge (its status is UNCONVERGED): give the "
            "fit more iterations or draws, set a larger support, or treat its numbers as approximate."
        )
    if several:
        starts = max(one.fit.starts for one in several)
        yield (
            f"the global distribution of {_counted(several, knowledge)} has several solutions (its status is SEVERAL); the "
            f"most likely of those found from {starts} starts is used, and the others are in fit.others."
        )
    if large:
        yield (
            f"for {_counted(large, knowledge)} groups too large to be computed exactly were computed by the law of large numbers "
            f"(its status is LARGE_GROUPS); its largest correction of a probability is {max(one.fit.error for one in large):.1e}, "
            "and the remaining error is of the order of its square. estimator=Exact() computes them exactly."
        )


def _counted(some: list[GlobalDistribution], of: tuple[GlobalDistribution, ...]) -> str:
    return f"{len(some)} of {len(of)} attribute sets, {', '.join(some[0].attributes)} first,"


def breach_threshold(r: float, owner: str) -> float:
    """Return the threshold that a belief must exceed to be a breach: 1/r, plus an allowance for rounding."""
    check_range(owner, "r", r, 1, MAX_FLOAT, "as a breach is a belief over 1/r")
    return 1 / r + ROUNDING_ERROR


ROUNDING_ERROR = 1e-9  # largest excess of a belief over 1/r that counts as rounding, not as a breach

# Columns of `ForegroundBeliefs.over` that are always there
COLUMNS = ("time", "respondent", "group", "belief", "share", "attributes")


# Smallest difference of beliefs by which one attribute set counts as worse than another: smaller ones are rounding
MIN_DIFFERENCE = 1e-12


class SetBeliefs(NamedTuple):
    """Beliefs from one attribute set: prior and posterior, shape ``(n, c)``, and the posterior's interval, ``(n, 2)``."""

    prior: FloatArray
    posterior: FloatArray
    interval: FloatArray | None


class WorstCase(NamedTuple):
    """For each record, the beliefs from the attribute set so far that gives a sensitive value the largest probability.

    ``chosen`` is the number of that set, -1 where there is none; ``classes`` the number of classes that are sensitive.
    """

    prior: FloatArray
    posterior: FloatArray
    interval: FloatArray | None
    chosen: IntArray
    classes: int

    @classmethod
    def of_shares(cls, observation: Observation, sensitive_set: SensitiveSet) -> "WorstCase":
        """Beliefs before any attribute set: the table's shares and the groups'; uniform where nothing is published."""
        shown = np.vstack([observation.counts, observation.counts.sum(axis=0)])
        counts = sensitive_set.class_counts(shown if shown.any() else np.ones_like(shown))
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        prior = np.tile(shares[-1], (len(observation.people), 1))
        chosen = np.full(len(observation.people), -1, dtype=np.int64)
        classes = 1 if sensitive_set.is_proper_subset else len(sensitive_set.class_labels)
        return cls(prior, shares[observation.group], None, chosen, classes)

    def updated(self, beliefs: SetBeliefs, number: int) -> "WorstCase":
        """The worst case with one more attribute set."""
        before, now = (rows[:, : self.classes].max(axis=1) for rows in (self.posterior, beliefs.posterior))
        worse = (now > before + MIN_DIFFERENCE) | (self.chosen < 0)
        rows, interval = worse[:, None], beliefs.interval
        if interval is not None and self.interval is not None:
            interval = np.where(rows, interval, self.interval)
        return WorstCase(
            np.where(rows, beliefs.prior, self.prior),
            np.where(rows, beliefs.posterior, self.posterior),
            interval,
            np.where(worse, number, self.chosen),
            self.classes,
        )


def set_beliefs(distribution: GlobalDistribution, evidence: Evidence, estimator: Estimator, n: int) -> SetBeliefs:
    """Beliefs in the first n records of the evidence, those of the release; the others are counterfeits."""
    prior, draws = distribution.prior, distribution.fit.draws
    if draws is None:
        return SetBeliefs(prior, posterior_beliefs(evidence, estimator, distribution.probabilities)[:n], None)
    sampled = sampled_beliefs(evidence, estimator, draws)
    rows, value = np.arange(n), np.zeros(n, dtype=np.int64)
    if not distribution.sensitive_set.is_proper_subset:
        value = sampled.mean[:n].argmax(axis=1)
    return SetBeliefs(prior, sampled.mean[:n], np.column_stack([sampled.low[rows, value], sampled.high[rows, value]]))
