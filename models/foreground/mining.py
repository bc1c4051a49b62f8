"""Mining a release: the global distribution of every attribute set with enough support, from the published groups."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.fit import Fitting
from foreknow.models.foreground.global_distribution import GlobalDistribution
from foreknow.models.foreground.sensitive_set import SensitiveSet
from foreknow.models.foreground.signatures import AttributeSets, supported_sets
from foreknow.models.problem import Estimator
from foreknow.models.tables.observation import Observation

type Unmatched = Literal["table", "uniform"]
"""The distribution of people whose signature too few match: the whole table's, or that of equally likely values."""


def mine_global_distributions(
    seen: Observation,
    sensitive_set: SensitiveSet,
    attribute_sets: AttributeSets,
    fewest: int,
    fit: Fitting,
    estimator: Estimator,
    unmatched: Unmatched = "table",
) -> Iterator[tuple[GlobalDistribution, Evidence]]:
    """Each attribute set's global distribution, with the evidence it was found from (foreground knowledge, Algorithm 1).

    People whose signature fewer than ``fewest`` match have the distribution of the whole published table, or with
    ``unmatched="uniform"`` that of equally likely values of the sensitive domain. Evidence is about the observed people and, behind
    them, one stranger for each counterfeit.
    """
    counts = sensitive_set.counts(seen.counts)
    shown = (
        counts
        if counts.any() and unmatched == "table"
        else sensitive_set.counts(np.ones((1, len(sensitive_set.domain)), dtype=np.int64))
    )
    rest = shown.sum(axis=0) / shown.sum()
    group = _with_strangers(seen)
    strangers = np.full(len(group) - len(seen.group), -1, dtype=np.int64)
    for signatures in supported_sets(seen.people, attribute_sets, fewest, seen.group >= 0):
        evidence = Evidence(np.concatenate([signatures.person, strangers]), group, counts, rest)
        yield GlobalDistribution(signatures, sensitive_set, fit(evidence, estimator), rest), evidence


def _with_strangers(seen: Observation) -> IntArray:
    """Everybody's group, with those of counterfeits behind."""
    people = np.bincount(seen.group[seen.group >= 0], minlength=len(seen.counts))
    invented = seen.counts.sum(axis=1) - people
    return np.concatenate([seen.group, np.repeat(np.arange(len(seen.counts)), invented)])
