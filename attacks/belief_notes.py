"""Notes of an attack: what its beliefs leave out or approximate, in sentences."""

from collections.abc import Sequence

import numpy as np

from foreknow.attacks.repeated_pairs import overconfident
from foreknow.models import Adversary, ReleaseBeliefs, Status


def belief_notes(adversary: Adversary, releases: Sequence[ReleaseBeliefs], signatures: bool = False) -> tuple[str, ...]:
    """One sentence for each reason to trust the beliefs of an attack less.

    Parameters
    ----------
    adversary : Adversary
    releases : sequence of ReleaseBeliefs
        In the order of time.
    signatures : bool
        Whether the attack reads the sets of values that groups show (`SignatureAttack`).

    Returns
    -------
    tuple of str
        On repeated evidence (`overconfident`), on the law of counterfeits, on groups that were approximated by the law of large
        numbers, and on estimates that did not converge. Cost: O(n) per release.
    """
    return (
        *overconfident(adversary, [one.observation for one in releases]),
        *([] if signatures else _counterfeits(adversary, releases)),
        *_large(releases),
        *_unconverged(releases),
    )


def _counterfeits(adversary: Adversary, releases: Sequence[ReleaseBeliefs]) -> list[str]:
    seen = [one.observation for one in releases]
    number = sum(int(one.counts.sum() - (one.group >= 0).sum()) for one in seen)
    if not number:
        return []
    law = (
        "Their law follows from how often the prior expects each value in that release; where it is wrong, beliefs are too sure."
        if adversary.counterfeits == "estimated"
        else "They are taken for respondents with a uniform prior, which no defense draws them from."
    )
    return [
        f"{number:,} published records are counterfeits. {law} Of m-invariance, which keeps the set of values that a respondent's "
        "groups show, this attack does not read that set: SignatureAttack (--attack signature) does."
    ]


def _large(releases: Sequence[ReleaseBeliefs]) -> list[str]:
    errors = np.concatenate(
        [np.zeros(0), *(one.posterior.error for one in releases if one.posterior.error is not None)]
    )
    large = errors[errors > 0]
    if not len(large):
        return []
    return [
        f"{len(large):,} groups are too large to be computed exactly; the law of large numbers (Sinkhorn) errs by some "
        f"{large.max():.1e} in a probability there, at most."
    ]


def _unconverged(releases: Sequence[ReleaseBeliefs]) -> list[str]:
    number = sum(int((one.posterior.status & Status.UNCONVERGED > 0).sum()) for one in releases)
    if not number:
        return []
    groups = sum(len(one.observation.counts) for one in releases)
    return [
        f"the beliefs in {number:,} of {groups:,} groups did not converge (their status is UNCONVERGED); trust them less."
    ]
