"""The attack of JS-reduce: belief is revised from release to release."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from foreknow.attacks.attack import each_release
from foreknow.attacks.belief_notes import belief_notes
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

    Notes
    -----
    The memory holds each person's beliefs, not their joint law. Where the same people share a group again, the same evidence
    is counted again, and the beliefs are overconfident; their ``notes`` say so where it concerns many pairs
    (`repeated_pairs`).
    """

    adversary: Adversary

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs around each release. Only the releases' observations are read."""
        beliefs = tuple(belief for _, belief in steps(self.adversary, each_release(self, releases)))
        self.adversary.check_claim_times([belief.observation.time for belief in beliefs])
        return Beliefs(beliefs, notes=belief_notes(self.adversary, beliefs))


def steps(adversary: Adversary, releases: Iterable[Release]) -> Iterator[tuple[Memory, ReleaseBeliefs]]:
    """The memory before each release, and the beliefs around it."""
    memory = Memory()
    for release in releases:
        seen = release.observation
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(memory, seen.people, seen.time, prior=prior)
        posterior = adversary.posterior(revised, seen)
        yield memory, ReleaseBeliefs(seen, prior, revised, posterior)
        memory = adversary.update_memory(memory, seen, posterior, prior=prior)
