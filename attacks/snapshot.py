"""Snapshot attack: each release alone, without memory."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from foreknow.attacks.attack import check_adversary
from foreknow.attacks.belief_notes import belief_notes
from foreknow.attacks.over_draws import ReleaseEvidence, Weighed, over_draws, single_evidence
from foreknow.models import Adversary, Averaged, Beliefs, Memory, Release, ReleaseBeliefs


@dataclass(frozen=True)
class SnapshotAttack:
    """Observation of each release with the prior, without memory of earlier releases (JS-reduce, section 7.3).

    Parameters
    ----------
    adversary : Adversary or Averaged
        Only its prior, compromised records and settings of inference are read.

    Raises
    ------
    TypeError
        If ``adversary`` is no `Adversary`.
    ValueError
        When called, if a compromised record concerns a time without release.
    """

    adversary: Adversary | Averaged

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        return over_draws(self, self.adversary, releases, _attack)


def _attack(adversary: Adversary, releases: list[Release]) -> Weighed:
    beliefs = []
    for release in releases:
        seen = release.observation
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(Memory(), seen.people, seen.time, prior=prior)
        beliefs.append(ReleaseBeliefs(seen, prior, revised, adversary.posterior(revised, seen)))
    adversary.check_claim_times([belief.observation.time for belief in beliefs])
    found = Beliefs(tuple(beliefs), notes=belief_notes(replace(adversary, transitions=None), beliefs))
    return Weighed(found, lambda: ReleaseEvidence.alone(single_evidence(found)))
