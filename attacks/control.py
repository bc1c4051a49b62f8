"""Two ends of an attack: what is told without the groups, and with the values of all other respondents known."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from foreknow.attacks.attack import Attack, each_release
from foreknow.models import Beliefs, History, Noise, Observation, Posterior, Release
from foreknow.models.settings import check_kind


class _Regrouped(NamedTuple):
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

    Noisy counts are summed over the C cells of a release, and the noise of a sum is taken to be a discrete Gaussian law of C times
    the variance. That is very nearly the law of a sum of Gaussian noises, and an approximation for Laplace noises. Clamped counts
    are refused: the law of their sum depends on the true ones.

    Examples
    --------
    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, UniformPrior
    >>> WithoutGroups(SnapshotAttack(Adversary(UniformPrior()))).attack.adversary.prior
    UniformPrior()
    """

    attack: Attack
    reads_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_kind("WithoutGroups", "attack", self.attack, Attack, "is an attack, as JointAttack(adversary)")

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        given = [release.observation for release in each_release(self, releases, reads_ghosts=True)]
        beliefs = self.attack([_Regrouped(_merged(seen)) for seen in given])  # type: ignore[misc]
        pairs = zip(beliefs, given, strict=True)
        found = tuple(replace(one, observation=seen, posterior=_spread(one.posterior, seen)) for one, seen in pairs)
        return replace(beliefs, releases=found)


def _merged(seen: Observation) -> Observation:
    """An observation with one group of all published records; without any, the observation itself."""
    if not len(seen.counts):
        return seen
    group, ghost_group = np.minimum(seen.group, 0), np.zeros_like(seen.ghost_group)
    counts, noise = seen.counts.sum(axis=0, keepdims=True), seen.noise
    if noise is not None and len(seen.counts) > 1:
        if noise.clamped:
            raise ValueError(
                f"WithoutGroups: negative counts of the release at {seen.time!r} are published as 0, and the noise of their sum "
                "has no law of its own; measure over the law, as baseline='law'."
            )
        # A noise of a scale far below 1 has a smaller variance, which would make likelihoods infinite.
        noise = Noise("gaussian", float(np.sqrt(len(seen.counts) * max(noise.variance, noise.scale**2))))
    return replace(seen, group=group, ghost_group=ghost_group, counts=counts, noise=noise)


def _spread(posterior: Posterior, seen: Observation) -> Posterior:
    """A posterior with the status and the diagnostics of the merged group for each group."""
    number = len(seen.counts)
    names = [name for name in ("status", "rule", "error", "divergences") if getattr(posterior, name) is not None]
    spread: dict[str, Any] = {name: np.repeat(getattr(posterior, name)[:1], number) for name in names}
    return replace(posterior, unknown_draws=(), **spread)


@dataclass(frozen=True)
class OthersKnown:
    """An attack on each respondent, given the true values of all others: exact knowledge of the data but for one record.

    The adversary of differential privacy, and of ``ExactDataKnowledge`` in TAPAS (Houssiau et al. 2022). The known values are taken
    out of each group, so that each respondent is alone with the counterfeits of the group; the attack then runs as it is.

    Parameters
    ----------
    attack : Attack
    history : History
        The original records.

    Raises
    ------
    TypeError, ValueError
        If the attack or the history is something else. When called, if the history is not the one that was published, a release
        distorts values, whose owners are unknown, or it has ghosts, which would be in the groups of several respondents at once.

    Notes
    -----
    Exact as far as the attack is. Without counterfeits every attack has a belief of 1 in the own value of each published record. A
    counterfeit of a group of k is one in each of k groups here: an adversary who estimates its law (`Adversary.counterfeits`)
    reads it k times. The beliefs have the observations of the releases themselves. The status of a group is that of all its
    members; other diagnostics of groups are left out. Cost: that of the attack on n groups of one respondent and the counterfeits.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, Numeric, Schema, UniformPrior
    >>> frame = pd.DataFrame({"id": ["A", "B"], "week": 1, "age": [20, 21], "result": ["ill", "well"]})
    >>> history = History.read(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> attack = OthersKnown(SnapshotAttack(Adversary(UniformPrior())), history)
    >>> attack([Release(history[0], [0, 0])]).posterior(1).loc["A"].tolist()
    [1.0, 0.0]
    """

    attack: Attack
    history: History
    reads_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_kind("OthersKnown", "attack", self.attack, Attack, "is an attack, as JointAttack(adversary)")
        check_kind("OthersKnown", "history", self.history, History)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Observations are read, and the values that are known."""
        given = [release.observation for release in each_release(self, releases)]
        beliefs = self.attack([_Regrouped(self._alone(seen)) for seen in given])  # type: ignore[misc]
        pairs = zip(beliefs, given, strict=True)
        found = tuple(replace(one, observation=seen, posterior=_gathered(one.posterior, seen)) for one, seen in pairs)
        return replace(beliefs, releases=found)

    def _alone(self, seen: Observation) -> Observation:
        """An observation in which each respondent is alone with the own value and the counterfeits of the group."""
        if seen.distorted:
            raise ValueError(
                f"OthersKnown: the release at {seen.time!r} distorts {seen.distorted} values, so that the values of the "
                "others do not say what a group shows of the last one. Attack it without OthersKnown."
            )
        view = next((view for view in self.history if view.time == seen.time), None)
        inside = np.flatnonzero(seen.group >= 0)
        left = seen.counts.copy()
        same = view is not None and np.array_equal(view.people.respondents, seen.people.respondents)
        own = view.sensitive[inside] if view is not None and same else np.zeros(0, dtype=np.int64)
        if same:
            np.subtract.at(left, (seen.group[inside], own), 1)
        if not same or (seen.noise is None and (left < 0).any()):
            raise ValueError(
                f"OthersKnown: the history does not have the records that were published at {seen.time!r}; give the one that was "
                "published."
            )
        group = np.full(len(seen.group), -1)
        group[inside] = np.arange(len(inside))
        counts = left[seen.group[inside]]
        counts[np.arange(len(inside)), own] += 1
        return replace(seen, group=group, counts=counts)


def _gathered(posterior: Posterior, seen: Observation) -> Posterior:
    """A posterior with the status of all members for each group, without other diagnostics of groups."""
    status = np.zeros(len(seen.counts), dtype=np.int64)
    np.bitwise_or.at(status, seen.group[seen.group >= 0], posterior.status)
    return replace(posterior, status=status, rule=None, error=None, divergences=None, unknown_draws=())
