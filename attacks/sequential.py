"""The attack of JS-reduce: belief is revised from release to release."""

from collections.abc import Iterable, Sequence
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
        memory, beliefs = Memory(), []
        for release in releases:
            seen = release.observation
            revised = self.adversary.revise(memory, seen.people, seen.time)
            posterior = self.adversary.weigh(revised, seen)
            memory = self.adversary.remember(memory, seen, posterior)
            beliefs.append(ReleaseBeliefs(seen, self.adversary.prior(seen.people), revised, posterior))
        check_times(self.adversary, [belief.observation.time for belief in beliefs])
        return Beliefs(tuple(beliefs))


def check_times(adversary: Adversary, times: Sequence[Any]) -> None:
    """Raise ValueError if a compromised record is about a time at which nothing was released: it would never be used."""
    for time in adversary.compromised.times if adversary.compromised is not None else ():
        if time not in times:
            raise ValueError(
                f"a compromised record is about {time!r}, and the releases are of {', '.join(map(repr, times))}. Correct the "
                "time, or leave the record out."
            )
