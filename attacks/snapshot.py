"""The attack of somebody who looks at each release alone."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from foreknow.attacks.attack import each_release
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import Adversary, Beliefs, Memory, Release, ReleaseBeliefs


@dataclass(frozen=True)
class SnapshotAttack:
    """Observe each release as if it were the first: the prior, and no memory (JS-reduce, section 7.3).

    Parameters
    ----------
    adversary : Adversary
        Who attacks; of the knowledge only the prior and the compromised records are used.
    """

    adversary: Adversary

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs around each release. Only the releases' observations are read."""
        beliefs = []
        for release in each_release(self, releases):
            seen = release.observation
            prior = self.adversary.prior_rows(seen.people)
            revised = self.adversary.revise(Memory(), seen.people, seen.time, prior=prior)
            posterior = self.adversary.posterior(revised, seen)
            beliefs.append(ReleaseBeliefs(seen, prior, revised, posterior))
        self.adversary.check_claim_times([belief.observation.time for belief in beliefs])
        return Beliefs(tuple(beliefs), notes=belief_notes(replace(self.adversary, transitions=None), beliefs))
