"""Attack by naive Bayes that is learned from the published groups themselves."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from foreknow.attacks.attack import Published, each_release
from foreknow.attacks.belief_notes import belief_notes
from foreknow.attacks.best_assignment import best_assignment
from foreknow.attacks.group_shares import group_shares
from foreknow.attacks.naive_bayes import attribute_levels, fit_naive_bayes
from foreknow.models import (
    Adversary,
    Auto,
    Beliefs,
    Categorical,
    Estimator,
    Observation,
    ReleaseBeliefs,
    Schema,
    UniformPrior,
)
from foreknow.models.arrays import FloatArray
from foreknow.models.estimators.arguments import check_is_estimator, check_iteration, check_positive
from foreknow.models.problem import UNCONVERGED
from foreknow.models.settings import check_choice, check_whole

type Assignments = Literal["soft", "hard"]
type LearnedFrom = Literal["release", "past", "all"]

MAX_BINS = 2**20
"""Largest number of bins of a numeric attribute."""

EQUAL_SHARES = 1e-12
"""Largest difference of two shares that counts as none."""


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

    Raises
    ------
    TypeError, ValueError
        If a setting is of another kind or out of its range. When called, if releases that are learned from together differ in
        their quasi-identifiers or their sensitive domain.

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
        check_whole("DeFinettiAttack", "bins", self.bins, f"bins, at most {MAX_BINS:,}")
        if self.bins > MAX_BINS:
            raise ValueError(f"DeFinettiAttack: bins is {self.bins!r}; it is a number of bins, at most {MAX_BINS:,}.")
        check_positive("DeFinettiAttack", "pseudo_count", self.pseudo_count, "added to each count")
        check_is_estimator("DeFinettiAttack", "estimator", self.estimator)
        check_iteration("DeFinettiAttack", self.tolerance, self.rounds)

    def __call__(self, releases: Iterable[Published]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read; the prior is the learned law's."""
        seen = [release.observation for release in each_release(self, releases)]
        beliefs = tuple(self._beliefs(seen))
        notes = (*_uninformative(seen), *belief_notes(self._adversary, beliefs))
        return Beliefs(beliefs, notes=notes)

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
        beliefs = [self._belief(one, rows) for one, rows in zip(seen, np.split(prior, parts), strict=True)]
        return beliefs if change <= self._stop else [_unconverged(one) for one in beliefs]

    @property
    def _stop(self) -> float:
        """Largest change of a weight at which the rounds stop."""
        return float(self.tolerance) if self.assignments == "soft" else 0.0

    def _belief(self, seen: Observation, prior: FloatArray) -> ReleaseBeliefs:
        return ReleaseBeliefs(seen, prior, prior, self._adversary.posterior(prior, seen))

    def _weights(self, seen: Sequence[Observation], priors: Sequence[FloatArray]) -> FloatArray:
        """Weight of each value of each record for the next fit, zeros for records that are not published: shape ``(n, m)``."""
        if self.assignments == "hard":
            return np.vstack([best_assignment(one, rows) for one, rows in zip(seen, priors, strict=True)])
        beliefs = [self._adversary.posterior(rows, one).probabilities for one, rows in zip(seen, priors, strict=True)]
        published = np.concatenate([one.group >= 0 for one in seen])
        return np.asarray(np.vstack(beliefs) * published[:, None])


def _unconverged(belief: ReleaseBeliefs) -> ReleaseBeliefs:
    posterior = belief.posterior
    return replace(belief, posterior=replace(posterior, status=posterior.status | UNCONVERGED))


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
