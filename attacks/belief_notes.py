"""Notes on the beliefs of an attack: repeated evidence, counterfeits, approximations, convergence."""

from collections.abc import Sequence

import numpy as np

from foreknow.attacks.repeated_pairs import overconfident
from foreknow.models import Adversary, ReleaseBeliefs, Status
from foreknow.models.notes import Note


def belief_notes(
    adversary: Adversary, releases: Sequence[ReleaseBeliefs], signatures: bool = False
) -> tuple[Note, ...]:
    """Sentences that name what the beliefs of an attack leave out or approximate.

    Parameters
    ----------
    adversary : Adversary
    releases : sequence of ReleaseBeliefs
        In the order of time.
    signatures : bool
        True if the attack reads the sets of values that groups show (`SignatureAttack`).

    Returns
    -------
    tuple of Note
        On repeated evidence (`overconfident`), the law of counterfeits, groups approximated by the law of large numbers, and
        estimates that did not converge. Cost: O(n) per release.
    """
    return (
        *overconfident(adversary, [one.observation for one in releases]),
        *([] if signatures else _counterfeits(adversary, releases)),
        *_approximated(releases),
        *unconverged(releases),
    )


def _counterfeits(adversary: Adversary, releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    seen = [one.observation for one in releases]
    number = sum(int(one.counts.sum() - (one.group >= 0).sum()) for one in seen)
    if not number:
        return []
    law = (
        "Their law is estimated from the prior's expectation of each value; where the prior is wrong, beliefs are overconfident."
        if adversary.counterfeits == "estimated"
        else "They are treated as respondents with a uniform prior; no defense draws them so."
    )
    kind = (
        "{counterfeits:,} published records are counterfeits. {law} m-invariance keeps the set of values of a respondent's groups; "
        "this attack does not read that set, and SignatureAttack (--attack signature) does."
    )
    return [Note(kind, counterfeits=number, law=law)]


def _approximated(releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    errors = np.concatenate(
        [np.zeros(0), *(one.posterior.error for one in releases if one.posterior.error is not None)]
    )
    return approximation_notes(int((errors > 0).sum()), float(np.max(errors, where=errors > 0, initial=0.0)))


def approximation_notes(groups: int, largest: float) -> list[Note]:
    """Note on the number of groups that `Auto` approximates by `Sinkhorn`, with the largest estimated error; empty for none."""
    if not groups:
        return []
    kind = (
        "{groups:,} groups are too large for an exact posterior; the law of large numbers (Sinkhorn) is used, with an estimated "
        "error of at most {largest:.1e} in a probability."
    )
    return [Note(kind, groups=groups, largest=largest)]


def unconverged(releases: Sequence[ReleaseBeliefs]) -> list[Note]:
    """Number of groups whose beliefs did not converge, and of divergent draws, as a note; nothing if all converged."""
    number = sum(int((one.posterior.status & Status.UNCONVERGED > 0).sum()) for one in releases)
    if not number:
        return []
    groups = sum(len(one.observation.counts) for one in releases)
    counts = [one.posterior.divergences for one in releases if one.posterior.divergences is not None]
    divergent = sum(int((count > 0).sum()) for count in counts)
    numbers = {"number": number, "groups": groups}
    if not divergent:
        return [
            Note("the beliefs in {number:,} of {groups:,} groups did not converge (status UNCONVERGED).", **numbers)
        ]
    kind = (
        "the beliefs in {number:,} of {groups:,} groups did not converge (status UNCONVERGED, {divergent:,} of them with "
        "{draws:,} divergent draws)."
    )
    return [Note(kind, **numbers, divergent=divergent, draws=sum(int(count.sum()) for count in counts))]
