"""Control of an attack: what is told without the groups."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from foreknow.attacks.attack import Attack, each_release
from foreknow.models import Beliefs, Observation, Posterior, Release
from foreknow.models.settings import check_kind


class _Merged(NamedTuple):
    """A release whose published records are one group."""

    observation: Observation


@dataclass(frozen=True)
class WithoutGroups:
    """Control of an attack: its beliefs if each release showed one multiset, of all its published records.

    What such beliefs disclose beside the adversary's prior is told by the knowledge, by who is listed when (`Presence`), and by the
    totals; it is no fault of the groups. The difference between an attack and its control is what the groups disclose.

    Parameters
    ----------
    attack : Attack

    Notes
    -----
    The beliefs have the observations of the releases themselves, so that measures compare both with the same groups. The status
    and the diagnostics of each group are those of the merged one. Cost: that of the attack on groups of the size of a release, for
    which `GroupGraph` keeps the counts by a normal law. Where values are distorted, the number of vanished ones stays that of the
    true groups, which the merged one would show: such controls are approximate.

    Examples
    --------
    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, UniformPrior
    >>> WithoutGroups(SnapshotAttack(Adversary(UniformPrior()))).attack.adversary.prior
    UniformPrior()
    """

    attack: Attack

    def __post_init__(self) -> None:
        check_kind("WithoutGroups", "attack", self.attack, Attack, "is an attack, as JointAttack(adversary)")

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        given = [release.observation for release in each_release(self, releases)]
        beliefs = self.attack([_Merged(_merged(seen)) for seen in given])  # type: ignore[misc]
        pairs = zip(beliefs, given, strict=True)
        found = tuple(replace(one, observation=seen, posterior=_spread(one.posterior, seen)) for one, seen in pairs)
        return replace(beliefs, releases=found)


def _merged(seen: Observation) -> Observation:
    """An observation with one group of all published records; without any, the observation itself."""
    if not len(seen.counts):
        return seen
    return replace(seen, group=np.minimum(seen.group, 0), counts=seen.counts.sum(axis=0, keepdims=True))


def _spread(posterior: Posterior, seen: Observation) -> Posterior:
    """A posterior with the status and the diagnostics of the merged group for each group."""
    number = len(seen.counts)
    names = [name for name in ("status", "rule", "error", "divergences") if getattr(posterior, name) is not None]
    return replace(posterior, **{name: np.repeat(getattr(posterior, name)[:1], number) for name in names})
