"""The attack of JS-reduce: belief is revised from release to release."""

from collections.abc import Iterable
from dataclasses import dataclass

from foreknow.models import Adversary, Beliefs, Memory, Release, ReleaseBeliefs


@dataclass(frozen=True)
class SequentialAttack:
    """Revise, observe, remember, over a history of releases (JS-reduce, section 4.5).

    Parameters
    ----------
    adversary : Adversary
        Who attacks.
    """

    adversary: Adversary

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """What the adversary believes around each release. Only the releases' observations are read."""
        memory, beliefs = Memory(), []
        for release in releases:
            seen = release.observation
            revised = self.adversary.revise(memory, seen.people)
            posterior = self.adversary.weigh(revised, seen)
            memory = self.adversary.remember(memory, seen, posterior)
            beliefs.append(ReleaseBeliefs(seen, self.adversary.prior(seen.people), revised, posterior))
        return Beliefs(tuple(beliefs))
