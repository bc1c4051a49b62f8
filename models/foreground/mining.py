"""Mining a release: the global distribution of every attribute set with enough support, from the published groups."""

from collections.abc import Iterator

import numpy as np

from foreknow.models.arrays import IntArray
from foreknow.models.foreground.evidence import Evidence
from foreknow.models.foreground.fit import Fitting
from foreknow.models.foreground.global_distribution import GlobalDistribution
from foreknow.models.foreground.secret import Secret
from foreknow.models.foreground.signatures import AttributeSets, supported_sets
from foreknow.models.problem import Estimator
from foreknow.models.release import Observation


def mined(
    seen: Observation, secret: Secret, attribute_sets: AttributeSets, fewest: int, fit: Fitting, estimator: Estimator
) -> Iterator[tuple[GlobalDistribution, Evidence]]:
    """Each attribute set's global distribution, with the evidence it was found from (foreground knowledge, Algorithm 1).

    Of people whose signature fewer than ``fewest`` match, the distribution of the whole published table is taken. Evidence is
    about the observed people and, behind them, one stranger for each counterfeit.
    """
    counts = secret.counts(seen.counts)
    rest = counts.sum(axis=0) / counts.sum() if counts.any() else np.full(counts.shape[1], 1 / counts.shape[1])
    group = _with_strangers(seen)
    strangers = np.full(len(group) - len(seen.group), -1, dtype=np.int64)
    for signatures in supported_sets(seen.people, attribute_sets, fewest, seen.group >= 0):
        evidence = Evidence(np.concatenate([signatures.person, strangers]), group, counts, rest)
        yield GlobalDistribution(signatures, secret, fit(evidence, estimator), rest), evidence


def _with_strangers(seen: Observation) -> IntArray:
    """Everybody's group, with those of counterfeits behind."""
    people = np.bincount(seen.group[seen.group >= 0], minlength=len(seen.counts))
    invented = seen.counts.sum(axis=1) - people
    return np.concatenate([seen.group, np.repeat(np.arange(len(seen.counts)), invented)])
