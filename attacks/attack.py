"""Protocol of attacks, and what several attacks read of releases."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from foreknow.models import Adversary, Averaged, Beliefs, Observation, Release
from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import FloatArray
from foreknow.models.averaged import check_rule_reads
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.knowledge.personal_transitions import chains_at
from foreknow.models.notes import prefixed
from foreknow.models.settings import check_kind, counted

# End of a message on an argument that holds no releases
WAY_OUT = (
    "Publish views first, as publish(history, defense), or make a PublishedTable of a table with groups; put one release into a "
    "list."
)


class Published(Protocol):
    """A published table and its observation by the worst-case adversary, as `Release` and `PublishedTable`."""

    @property
    def time(self) -> Any:
        """Time of publication."""
        ...

    @property
    def observation(self) -> Observation:
        """Members and values of each group, without their assignment."""
        ...


def each_release[P: Published](attack: object, releases: Iterable[P], reads_ghosts: bool | None = None) -> Iterator[P]:
    """Yield releases, each checked to have an observation; a TypeError names the attack.

    An attack that does not read the part ``mechanism`` refuses releases with ghosts, unless ``reads_ghosts``; one without
    the class attribute ``reads_noise`` refuses noisy counts.
    """
    if reads_ghosts is None:
        reads_ghosts = "mechanism" in getattr(attack, "reads", ())
    for release in releases if np.iterable(releases) and not hasattr(releases, "observation") else (None,):
        if not isinstance(getattr(release, "observation", None), Observation):
            raise TypeError(
                f"{type(attack).__name__} takes a list of releases in the order of time, and got a {type(releases).__name__}. "
                f"{WAY_OUT}"
            )
        assert release is not None
        if release.observation.ghosts is not None and not reads_ghosts:
            raise ValueError(
                f"{type(attack).__name__} does not read ghosts, and the release at {release.time!r} has "
                f"{counted(len(release.observation.ghosts), 'record')} that carry on the places of respondents who left; "
                "JointAttack and SequentialAttack read them, by an adversary with mechanism=GhostChain(), and LearnedAttack."
            )
        if release.observation.noise is not None and not getattr(attack, "reads_noise", False):
            raise ValueError(
                f"{type(attack).__name__} does not read noisy counts, as those at {release.observation.time!r}; JointAttack does."
            )
        yield release


def beliefs_of_each(
    observations: Iterable[Observation], attack: Callable[[Observation], tuple[ReleaseBeliefs, Iterable[str]]]
) -> Beliefs:
    """Beliefs about each release by an attack on one, whose notes begin with the time of the release."""
    found = [attack(observation) for observation in observations]
    notes = (prefixed(f"at {belief.observation.time}: ", note) for belief, of_release in found for note in of_release)
    return Beliefs(tuple(belief for belief, _ in found), notes=tuple(notes))


def check_adversary(attack: object, adversary: Any, averaged: str | None = None) -> None:
    """Raise TypeError unless an argument is an `Adversary` or an `Averaged` one, ValueError for a part that is not read.

    The attack has the class attributes ``reads`` and ``ignores``, names of parts. ``averaged`` is the reason for which it takes no
    `Averaged` adversary, None if it takes one.
    """
    name = type(attack).__name__
    takes = f"is an Adversary, as Adversary(UniformPrior()){f', and not Averaged. {averaged}' if averaged else ''}"
    check_kind(name, "adversary", adversary, Adversary if averaged else (Adversary, Averaged), takes.removesuffix("."))
    check_rule_reads(attack, adversary, readers)


def readers(part: str) -> list[str]:
    """Names of the attacks that read a part of knowledge."""
    return [name for name, reads, _ in attack_parts() if part in reads]


def attack_parts() -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Name of each attack by an adversary, the parts of knowledge that it reads, and those that it ignores by definition."""
    from foreknow import attacks

    found = [getattr(attacks, name) for name in attacks.__all__]
    return [(one.__name__, one.reads, one.ignores) for one in found if hasattr(one, "reads")]


def check_order_1(attack: object, adversary: Adversary | Averaged) -> None:
    """Raise ValueError unless each adversary has transitions of order 1; the message names the attack."""
    for one in adversary.adversaries if isinstance(adversary, Averaged) else (adversary,):
        order = None if one.transitions is None else chains_at(one.transitions, 0)[0].order
        if order != 1:
            name = type(attack).__name__
            have, way_out = ("missing", "Give a chain") if order is None else (order, "Truncate the chain")
            text = (
                f"{name} needs transitions of order 1; the adversary's are {have}. {way_out}, or use SequentialAttack."
            )
            in_options = {
                "SignatureAttack": "The signature attack needs --order 1.",
                "JointAttack": "--signatures needs --order 1, and a respondent who is published twice.",
            }
            raise ValueError(Advice(Wording(text, in_options.get(name, text))))


@runtime_checkable
class Attack(Protocol):
    """Protocol of attacks: frozen settings objects, called with releases."""

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations may be read."""
        ...


def group_shares(observation: Observation) -> FloatArray:
    """Share of each value in the group of each record, zeros for records outside all groups: float array, shape ``(n, m)``."""
    counts = observation.counts
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.vstack([shares, np.zeros(counts.shape[1])])[observation.group])


def table_shares(observation: Observation) -> FloatArray:
    """Share of each value in the published table, uniform if nothing is published: float array, shape ``(m,)``."""
    counts = observation.counts.sum(axis=0)
    m = len(counts)
    return np.asarray(counts / counts.sum()) if counts.sum() else np.full(m, 1 / m)
