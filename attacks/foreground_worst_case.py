"""Worst case of the foreground attack over attribute sets, record by record."""

from typing import NamedTuple

import numpy as np

from foreknow.models import Estimator, GlobalDistribution, Observation
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.beliefs import posterior_beliefs, sampled_beliefs
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.tables.sensitive_set import SensitiveSet

MIN_DIFFERENCE = 1e-12
"""Smallest difference of beliefs by which one attribute set counts as worse than another: smaller ones are rounding."""


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
