"""Snapshot attack: each release alone, without memory."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from foreknow.attacks.attack import check_adversary, each_release
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import Adversary, Beliefs, Memory, Release, ReleaseBeliefs


@dataclass(frozen=True)
class SnapshotAttack:
    """Observation of each release with the prior, without memory of earlier releases (JS-reduce, section 7.3).

    Parameters
    ----------
    adversary : Adversary
        Only its prior, compromised records and settings of inference are read.

    Raises
    ------
    TypeError
        If ``adversary`` is no `Adversary`.
    ValueError
        When called, if a compromised record concerns a time without release.
    """

    adversary: Adversary

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        beliefs = []
        for release in each_release(self, releases):
            seen = release.observation
            prior = self.adversary.prior_rows(seen.people)
            revised = self.adversary.revise(Memory(), seen.people, seen.time, prior=prior)
            posterior = self.adversary.posterior(revised, seen)
            beliefs.append(ReleaseBeliefs(seen, prior, revised, posterior))
        self.adversary.check_claim_times([belief.observation.time for belief in beliefs])
        return Beliefs(tuple(beliefs), notes=belief_notes(replace(self.adversary, transitions=None), beliefs))
