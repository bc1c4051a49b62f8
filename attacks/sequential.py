"""Sequential attack: beliefs are revised from release to release."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from foreknow.attacks.attack import check_adversary
from foreknow.attacks.belief_notes import belief_notes
from foreknow.attacks.over_draws import Weighed, forward_evidence, over_draws
from foreknow.models import Adversary, Averaged, Beliefs, Memory, Release, ReleaseBeliefs


@dataclass(frozen=True)
class SequentialAttack:
    """Revision of the prior and observation, release by release (JS-reduce, section 4.5).

    Parameters
    ----------
    adversary : Adversary or Averaged

    Raises
    ------
    TypeError
        If ``adversary`` is no `Adversary`.
    ValueError
        When called, if a compromised record concerns a time without release.

    Notes
    -----
    The memory holds marginal beliefs, not their joint distribution. Where the same respondents share a group again, evidence
    is counted twice and beliefs are overconfident; the ``notes`` of the beliefs report it (`repeated_pairs`).
    """

    adversary: Adversary | Averaged

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        return over_draws(self, self.adversary, releases, _attack)


def _attack(adversary: Adversary, releases: list[Release]) -> Weighed:
    beliefs = tuple(belief for _, belief in steps(adversary, releases))
    adversary.check_claim_times([belief.observation.time for belief in beliefs])
    found = Beliefs(beliefs, notes=belief_notes(adversary, beliefs))
    return Weighed(found, partial(forward_evidence, found))


def steps(adversary: Adversary, releases: Iterable[Release]) -> Iterator[tuple[Memory, ReleaseBeliefs]]:
    """Yield the memory before each release, and the beliefs before and after it."""
    memory = Memory()
    for release in releases:
        seen = release.observation
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(memory, seen.people, seen.time, prior=prior)
        posterior = adversary.posterior(revised, seen)
        yield memory, ReleaseBeliefs(seen, prior, revised, posterior)
        memory = adversary.update_memory(memory, seen, posterior, prior=prior)
