"""Attack on groups before they are published: the groups in which a belief exceeds a bound, and the mined odds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.posterior_bound import PosteriorBound
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.defenses.requirements.summary import summarize_groups, summarize_records
from foreknow.models import Auto, Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.attribute_signatures import AttributeSets, supported_sets
from foreknow.models.foreground.fit import Fitting
from foreknow.models.foreground.global_distribution import GlobalDistribution, mine_global_distributions
from foreknow.models.tables.sensitive_set import SensitiveSet

COMPLEMENT_FLOOR = 1e-12
"""Smallest value of 1 - p in the odds p / (1 - p)."""


class GroupAttackResult(NamedTuple):
    """Result of an attack on groups.

    Attributes
    ----------
    exceeding : int array
        Groups with a member whose belief exceeds the bound, by their largest belief in descending order.
    odds : float array, shape (n, a)
        Odds of each respondent of having a value of the sensitive set before the groups are observed again, under the global
        distribution of each attribute set.
    max_belief : float
        Largest belief of any member of any group.
    """

    exceeding: IntArray
    odds: FloatArray
    max_belief: float


@dataclass(frozen=True, eq=False)
class GroupAttack:
    """The attack of `foreknow.attacks.ForegroundAttack` on groups that are not published yet.

    Parameters
    ----------
    max_belief : float
        Bound that no belief may exceed.
    sensitive_set : SensitiveSet
        The set that beliefs are about.
    attribute_sets, min_support
        As in `foreknow.models.foreground.attribute_signatures.supported_sets`.
    fit : Fitting
        As in `foreknow.models.foreground.global_distribution.mine_global_distributions`.
    """

    max_belief: float
    sensitive_set: SensitiveSet
    attribute_sets: AttributeSets
    min_support: int
    fit: Fitting

    def __call__(self, release: Release, labels: IntArray) -> GroupAttackResult:
        """Attack the groups 0 to g - 1 of a release; groups with label -1 hold no value of the set.

        Raises
        ------
        ValueError
            If the fit is random.

        Notes
        -----
        Exact, given the fit: the beliefs are those of the attack. Cost: that of the attack.
        """
        view, observation, domain = release.view, release.observation, self.sensitive_set.domain
        # The bound is bound to each mined prior below; the summaries' own prior is not read.
        uniform = np.full((len(view), len(domain)), 1 / len(domain))
        groups = summarize_groups(summarize_records(view, uniform, members=True), labels)
        bound = PosteriorBound(self.max_belief, Auto(), [domain[code] for code in self.sensitive_set.codes], "belief")
        level, odds = np.zeros(len(groups)), np.ones((len(view), 0))
        for distribution in self._mined(release):
            prior = self.sensitive_set.value_probabilities(distribution.prior, observation.counts.sum(axis=0))
            level = np.maximum(level, bound.bind(view, prior).level(groups))
            probability = np.minimum(distribution.prior[:, :1], 1.0 - COMPLEMENT_FLOOR)
            odds = np.hstack([odds, probability / (1.0 - probability)])
        exceeding = np.flatnonzero(level > self.max_belief + LEVEL_TOLERANCE)
        order = np.argsort(-level[exceeding], kind="stable")
        return GroupAttackResult(exceeding[order], odds, float(level.max(initial=0.0)))

    def _mined(self, release: Release) -> Iterator[GlobalDistribution]:
        """Global distribution of each attribute set, by a fit that is not random."""
        observation = release.observation
        sets = supported_sets(observation.people, self.attribute_sets, self.min_support, observation.group >= 0)
        for distribution, _ in mine_global_distributions(observation, self.sensitive_set, sets, self.fit, Auto()):
            if distribution.fit.draws is not None:
                raise ValueError(
                    f"the fit, {self.fit!r}, is random, so that two attacks differ; give one that is not, as "
                    "ExpectationMaximization()."
                )
            yield distribution
