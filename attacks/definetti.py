"""deFinetti attack: an adversary who learns a classifier from the groups themselves."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import scipy

from foreknow.attacks.attack import Published, each_release, group_shares
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import Adversary, Auto, Beliefs, Categorical, Estimator, Observation, Schema, UniformPrior
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.estimators.assignments import group_sums
from foreknow.models.problem import UNCONVERGED, check_is_estimator
from foreknow.models.settings import check_choice, check_iteration, check_positive, check_whole

type Assignments = Literal["soft", "hard"]
type LearnedFrom = Literal["release", "past", "all"]

EQUAL_SHARES = 1e-12  # largest difference of two shares that counts as none


@dataclass(frozen=True)
class DeFinettiAttack:
    """Learn naive Bayes over all quasi-identifiers from the published groups, and use it as knowledge of the same groups.

    The records of a table are exchangeable, so that the groups teach how the sensitive value depends on the quasi-identifiers.
    From the shares of each group as first beliefs, three steps are repeated:

    1. Fit P(s) and P(attribute | s) to the records, weighted by the beliefs.
    2. Compute the prior of each record, ``P(s) Π_a P(q_a | s)``, normalized.
    3. Compute the beliefs from these priors and the counts of each group, by the estimator.

    With ``assignments="hard"`` step 1 counts each record once, with the value that the most probable assignment of its group
    gives it (maximum matching), as in the paper.

    Parameters
    ----------
    assignments : {"soft", "hard"}
        ``"soft"``: expectation-maximization. It climbs to a maximum of the likelihood of the groups, times the Dirichlet
        densities of the pseudo-counts. ``"hard"``: the likelihood of the best assignment is climbed instead.
    learned_from : {"release", "past", "all"}
        Releases from which the law is learned: each release alone, all up to it, or all of them. A respondent counts once for
        each release. With ``"all"`` later releases change the beliefs about earlier ones, and their prior.
    bins : int
        Number of quantile bins of a numeric attribute with more distinct numbers; the adversary knows the numbers of the group
        members. A categorical attribute has one level per value of its domain.
    pseudo_count : float
        Laplace's pseudo-count of each value and of each level given a value.
    estimator : Estimator
        Rule of step 3.
    tolerance : float
        Largest change of a belief between two rounds at which the soft attack stops; the hard attack stops when no assignment
        changes.
    rounds : int
        Largest number of rounds. If it is reached, the status of all groups has ``UNCONVERGED``.

    Notes
    -----
    D. Kifer, "Attacks on Privacy and deFinetti's Theorem", SIGMOD 2009. The paper starts at a random assignment; here the start
    is its expectation, so that the result is the same in every call. The hard attack's beliefs are those of step 3 under the
    last fit, not the last assignment itself. In its matching, ties go to the smaller quasi-identifiers, then names.

    Exact steps with an exact estimator; the fit is a point estimate, and its own uncertainty is not in the beliefs. The fit may
    be one of several maxima. Where all groups show the same shares, the groups teach nothing, and the ``notes`` say so.
    Counterfeits and distorted values are treated as by an `Adversary` with default settings.

    `Auto` is slow where groups have dozens of members and many values; ``estimator=Sinkhorn()`` is fast there.

    Cost: per round that of the estimator and O(n m d); the hard attack adds O(k^3) for each group of k members.

    Examples
    --------
    The last two groups tell that smokers are ill; the first group is inferred from them.

    >>> import pandas as pd
    >>> from foreknow.models import PublishedTable
    >>> rows = [("yes", "ill", 1), ("no", "well", 1), ("yes", "ill", 2), ("yes", "ill", 2), ("no", "well", 3), ("no", "well", 3)]
    >>> table = PublishedTable(pd.DataFrame(rows, columns=["smokes", "state", "group"]), sensitive="state")
    >>> beliefs = DeFinettiAttack()([table])
    >>> beliefs.posterior(0).round(2).iloc[:2].to_numpy().tolist()
    [[0.93, 0.07], [0.07, 0.93]]
    """

    assignments: Assignments = "soft"
    learned_from: LearnedFrom = "release"
    bins: int = 8
    pseudo_count: float = 1.0
    estimator: Estimator = field(default_factory=Auto)
    tolerance: float = 1e-3
    rounds: int = 200

    def __post_init__(self) -> None:
        check_choice("DeFinettiAttack", "assignments", self.assignments, ("soft", "hard"))
        check_choice("DeFinettiAttack", "learned_from", self.learned_from, ("release", "past", "all"))
        check_whole("DeFinettiAttack", "bins", self.bins, "bins")
        check_positive("DeFinettiAttack", "pseudo_count", self.pseudo_count, "added to each count")
        check_is_estimator("DeFinettiAttack", "estimator", self.estimator)
        check_iteration("DeFinettiAttack", self.tolerance, self.rounds)

    def __call__(self, releases: Iterable[Published]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read; the prior is the learned law's."""
        seen = [release.observation for release in each_release(self, releases)]
        beliefs = tuple(self._beliefs(seen))
        return Beliefs(beliefs, notes=(*_uninformative(seen), *belief_notes(self._adversary, beliefs)))

    @property
    def _adversary(self) -> Adversary:
        """An adversary whose rules compute the beliefs; its prior is not read."""
        return Adversary(UniformPrior(), estimator=self.estimator)

    def _beliefs(self, seen: list[Observation]) -> list[ReleaseBeliefs]:
        if self.learned_from == "release":
            return [self._learn([one])[0] for one in seen]
        for one, other in pairwise(seen):
            _check_alike(one, other)
        if self.learned_from == "all":
            return self._learn(seen) if seen else []
        return [self._learn(seen[: number + 1])[-1] for number in range(len(seen))]

    def _learn(self, seen: Sequence[Observation]) -> list[ReleaseBeliefs]:
        """Beliefs about some releases, by the law that is learned from all of them."""
        levels = attribute_levels(seen, int(self.bins))
        parts = np.cumsum([len(one.people) for one in seen])[:-1]
        weights = np.vstack([group_shares(one) for one in seen])
        prior, change = weights, np.inf
        for _ in range(int(self.rounds)):
            prior = fit_naive_bayes(levels, weights, self.pseudo_count).rows(levels.levels)
            previous, weights = weights, self._weights(seen, np.split(prior, parts))
            change = float(np.abs(weights - previous).max(initial=0.0))
            if change <= self._stop:
                break
        beliefs = [
            ReleaseBeliefs(one, rows, rows, self._adversary.posterior(rows, one))
            for one, rows in zip(seen, np.split(prior, parts), strict=True)
        ]
        if change <= self._stop:
            return beliefs
        posteriors = [replace(one.posterior, status=one.posterior.status | UNCONVERGED) for one in beliefs]
        return [replace(one, posterior=posterior) for one, posterior in zip(beliefs, posteriors, strict=True)]

    @property
    def _stop(self) -> float:
        """Largest change of a weight at which the rounds stop."""
        return float(self.tolerance) if self.assignments == "soft" else 0.0

    def _weights(self, seen: Sequence[Observation], priors: Sequence[FloatArray]) -> FloatArray:
        """Weight of each value of each record for the next fit, zeros for records that are not published: shape ``(n, m)``."""
        if self.assignments == "hard":
            return np.vstack([best_assignment(one, rows) for one, rows in zip(seen, priors, strict=True)])
        beliefs = [self._adversary.posterior(rows, one).probabilities for one, rows in zip(seen, priors, strict=True)]
        published = np.concatenate([one.group >= 0 for one in seen])
        return np.asarray(np.vstack(beliefs) * published[:, None])


def _check_alike(one: Observation, other: Observation) -> None:
    """Raise ValueError unless two releases have the same attributes and the same sensitive domain."""
    a, b = one.people.schema, other.people.schema
    if a.values != b.values or _attributes(a) != _attributes(b):
        raise ValueError(
            f"DeFinettiAttack: the quasi-identifiers or the sensitive domain at {other.time!r} are not those at {one.time!r}; "
            'learn from each release alone, by learned_from="release", or give all tables one schema.'
        )


def _attributes(schema: Schema) -> list[tuple[str, tuple[Hashable, ...] | None]]:
    """Each quasi-identifier with the values of its domain, None for a number."""
    return [
        (name, kind.values if isinstance(kind, Categorical) else None)
        for name, kind in schema.quasi_identifiers.items()
    ]


def _uninformative(seen: Sequence[Observation]) -> Iterator[str]:
    """Notes on releases whose groups all show the same shares."""
    for one in seen:
        shares = one.counts / np.maximum(one.counts.sum(axis=1, keepdims=True), 1)
        if len(shares) and np.ptp(shares, axis=0).max() < EQUAL_SHARES:
            yield (
                f"at {one.time}: all groups show the same shares of the sensitive values; they do not tell how the value depends "
                "on the quasi-identifiers."
            )


class AttributeLevels(NamedTuple):
    """Levels of the quasi-identifiers of all records of some releases."""

    # (n, d): level of each record in each attribute. The levels of all attributes are numbered through, 0 to L - 1.
    levels: IntArray
    attribute: IntArray  # (L,): attribute of each level


def attribute_levels(
    observations: Sequence[Observation],  # at least one; they have the same quasi-identifiers
    bins: int,
) -> AttributeLevels:
    """Return levels of the records of some releases: categorical values, and quantile bins of numbers.

    A numeric attribute with at most ``bins`` distinct published numbers has a level for each. Any other is cut at the
    quantiles 1 / bins, 2 / bins, ... of its published numbers; a number on a cut belongs to the bin above it.

    The numbers are those of the group members themselves, which the worst-case adversary knows; published intervals are not
    read. Cost: O(n d log n).
    """
    codes = np.vstack([seen.people.quasi_identifiers for seen in observations])
    published = np.concatenate([seen.group >= 0 for seen in observations])
    columns, sizes = list[IntArray](), list[int]()
    for a, kind in enumerate(observations[0].people.schema.quasi_identifiers.values()):
        if isinstance(kind, Categorical):
            level, size = codes[:, a].astype(np.int64), len(kind.values)
        else:
            cuts = _cuts(codes[published, a], bins)
            level, size = np.searchsorted(cuts, codes[:, a], side="right"), len(cuts) + 1
        columns.append(level + sum(sizes))
        sizes.append(size)
    levels = np.column_stack(columns) if columns else np.zeros((len(codes), 0), dtype=np.int64)
    return AttributeLevels(np.asarray(levels, dtype=np.int64), np.repeat(np.arange(len(sizes)), sizes))


def _cuts(numbers: FloatArray, bins: int) -> FloatArray:
    """Increasing cuts of a numeric attribute: float array, shape ``(L - 1,)``."""
    distinct = np.unique(numbers)
    if len(distinct) <= bins:
        return distinct[1:]
    return np.unique(np.quantile(numbers, np.arange(1, bins) / bins, method="inverted_cdf"))


class NaiveBayes(NamedTuple):
    """Distribution of the sensitive value, and of each attribute given it."""

    log_prior: FloatArray  # (m,): logarithm of P(s)
    log_likelihood: FloatArray  # (L, m): logarithm of P(level | s); for each value the levels of one attribute sum to 1

    def rows(self, levels: IntArray) -> FloatArray:
        """P(s | levels) of some records, from levels of shape ``(n, d)``: float array, shape ``(n, m)``. Cost: O(n m d)."""
        scores = np.tile(self.log_prior, (len(levels), 1))
        for column in levels.T:
            scores += self.log_likelihood[column]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fit_naive_bayes(
    levels: AttributeLevels,
    weights: FloatArray,  # (n, m): weight of each value for each record; zeros for a record that is not counted
    pseudo_count: float,  # c, a positive number
) -> NaiveBayes:
    """Return the law of weighted records, with Laplace's pseudo-counts.

    ::

        P(s) = (w(s) + c) / (w + m c),    P(level | s) = (w(level, s) + c) / (w(s) + L_a c)

    The maximum of the posterior under Dirichlet distributions with parameters c + 1. Cost: O(n m d).
    """
    in_all = weights.sum(axis=0) + pseudo_count
    sizes = np.bincount(levels.attribute)
    counts = np.full((len(levels.attribute), weights.shape[1]), float(pseudo_count))
    for column in levels.levels.T:
        counts += group_sums(weights, np.ascontiguousarray(column), len(counts))
    totals = weights.sum(axis=0) + pseudo_count * sizes[levels.attribute][:, None]
    return NaiveBayes(np.log(in_all / in_all.sum()), np.log(counts / totals))


def best_assignment(
    observation: Observation,
    prior: FloatArray,  # (n, m): positive
) -> FloatArray:
    """Assignment of each group with the largest product of priors: 1 for each assigned pair, shape ``(n, m)``.

    A maximum matching of each group on the logarithms, by SciPy. Where a group shows more values than it has members, the
    values that fit best are assigned. Among equal assignments the order of the members by quasi-identifiers, then names, decides,
    not that of the rows. Rows outside all groups are zeros. Cost: O(k^3) for each group of k members.
    """
    order = _canonical_order(observation)
    starts = np.searchsorted(observation.group[order], np.arange(len(observation.counts) + 1))
    cost, chosen = -np.log(prior), np.zeros(prior.shape)
    for j, counts in enumerate(observation.counts):
        rows = order[starts[j] : starts[j + 1]]
        values = np.repeat(np.arange(len(counts)), counts)
        members, places = scipy.optimize.linear_sum_assignment(cost[np.ix_(rows, values)])
        chosen[rows[members], values[places]] = 1.0
    return chosen


def _canonical_order(observation: Observation) -> IntArray:
    """Rows sorted by group, quasi-identifiers and names, whatever the order of the records."""
    people = observation.people
    names = np.array([str(name) for name in people.respondents], dtype=np.str_)
    return np.asarray(np.lexsort((names, *people.quasi_identifiers.T[::-1], observation.group)), dtype=np.int64)
