"""Attacking groups by what they teach: in which of them mining finds somebody over a bound, and what it learned."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.posterior_bound import PosteriorBound
from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.defenses.requirements.summary import summarize_groups, summarize_records
from foreknow.models import Auto, Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.attribute_signatures import AttributeSets
from foreknow.models.foreground.fit import Fitting
from foreknow.models.foreground.global_distribution import mine_global_distributions
from foreknow.models.foreground.sensitive_set import SensitiveSet

SURE = 1e-12
"""How near to 1 a probability may be whose odds are taken."""


class GroupAttackResult(NamedTuple):
    """What an attack found.

    Attributes
    ----------
    over : int array
        The groups in which somebody is over the bound, the worst first.
    odds : float array, shape (n, a)
        Everybody's odds of having a value of the set before the groups are seen again, under each attribute set's global
        distribution.
    likeliest : float
        The largest belief of anybody in any group.
    """

    over: IntArray
    odds: FloatArray
    likeliest: float


@dataclass(frozen=True, eq=False)
class GroupAttack:
    """The attack of `foreknow.attacks.ForegroundAttack` on groups that are not published yet.

    Parameters
    ----------
    most : float
        What nobody's belief may be over.
    sensitive_set : SensitiveSet
        The set that it is a belief in.
    attribute_sets, fewest, fit
        As in `foreknow.models.foreground.global_distribution.mine_global_distributions`.
    """

    most: float
    sensitive_set: SensitiveSet
    attribute_sets: AttributeSets
    fewest: int
    fit: Fitting

    def __call__(self, release: Release, labels: IntArray) -> GroupAttackResult:
        """What it finds in some groups of a release, 0 to g - 1; those of label -1 show no value of the set.

        Raises
        ------
        ValueError
            If the fit draws.

        Notes
        -----
        Exact, given the fit: everybody's belief is that of the attack. Cost: that of the attack.
        """
        view, seen, domain = release.view, release.observation, self.sensitive_set.domain
        anything = np.full((len(view), len(domain)), 1 / len(domain))
        groups = summarize_groups(summarize_records(view, anything, members=True), labels)
        values = [domain[code] for code in self.sensitive_set.codes]
        bound = PosteriorBound(self.most, Auto(), values, "belief")
        level, odds = np.zeros(len(groups)), np.ones((len(view), 0))
        for distribution, _ in mine_global_distributions(
            seen, self.sensitive_set, self.attribute_sets, self.fewest, self.fit, Auto()
        ):
            if distribution.fit.draws is not None:
                raise ValueError(
                    f"the fit, {self.fit!r}, draws its answer, so that no two attacks find the same; give one that does not, "
                    "as ExpectationMaximization() or Newton()."
                )
            learned = distribution.prior
            prior = self.sensitive_set.value_probabilities(learned, seen.counts.sum(axis=0))
            level = np.maximum(level, bound.bind(view, prior).level(groups))
            having = np.minimum(learned[:, :1], 1.0 - SURE)
            odds = np.hstack([odds, having / (1.0 - having)])
        over = np.flatnonzero(level > self.most + LEVEL_TOLERANCE)
        return GroupAttackResult(over[np.argsort(-level[over], kind="stable")], odds, float(level.max(initial=0.0)))
