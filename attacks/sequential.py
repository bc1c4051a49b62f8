"""The attack of JS-reduce: belief is revised from release to release."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from foreknow.models import Adversary, Beliefs, Memory, Release, ReleaseBeliefs


@dataclass(frozen=True)
class SequentialAttack:
    """Revise, observe, remember, over a history of releases (JS-reduce, section 4.5).

    Parameters
    ----------
    adversary : Adversary
        Who attacks.

    Raises
    ------
    ValueError
        When called, if a compromised record is about a time at which nothing is released.
    """

    adversary: Adversary

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """What the adversary believes around each release. Only the releases' observations are read."""
        beliefs = tuple(belief for _, belief in steps(self.adversary, releases))
        check_times(self.adversary, [belief.observation.time for belief in beliefs])
        return Beliefs(beliefs)


def steps(adversary: Adversary, releases: Iterable[Release]) -> Iterator[tuple[Memory, ReleaseBeliefs]]:
    """What is remembered before each release, and what is believed around it."""
    memory = Memory()
    for release in releases:
        seen = release.observation
        revised = adversary.revise(memory, seen.people, seen.time)
        posterior = adversary.weigh(revised, seen)
        yield memory, ReleaseBeliefs(seen, adversary.prior(seen.people), revised, posterior)
        memory = adversary.remember(memory, seen, posterior)


def check_times(adversary: Adversary, times: Sequence[Any]) -> None:
    """Raise ValueError if a compromised record is about a time at which nothing was released: it would never be used."""
    for time in adversary.compromised.times if adversary.compromised is not None else ():
        if time not in times:
            raise ValueError(
                f"a compromised record is about {time!r}, and the releases are of {', '.join(map(repr, times))}. Correct the "
                "time, or leave the record out."
            )
