"""Pairs of people who share a group again: evidence that attacks from release to release count twice."""

from collections import Counter
from collections.abc import Hashable, Iterable

from foreknow.models import Adversary, Observation

LEAST_SHARE = 0.25
"""The share of repeated pairs from which an attack's notes say that evidence is counted twice.

Measured (3,000 simulated accounts, 6 releases by JSReduce, a share of the ages drawn anew each month): at .27 the sequential
attack is wrong in 5.0 % to 5.4 % of its sure beliefs where it expects 3.8 % to 4.2 %, at .74 in 7 % to 8 % where it expects
5 %; at .01 as often as it expects."""


def repeated_pairs(observations: Iterable[Observation]) -> float:
    """Share of the pairs of group members who also shared a group when each of them was last published.

    The pairs are those of one group of one release in which both people were published before, summed over all releases.
    A pair is repeated if the last earlier publication of both was in the same group of the same release: 1 for a closed
    cohort whose groups never change, about (k - 1) / (n - 1) for groups of k drawn anew from n people.

    Parameters
    ----------
    observations : iterable of Observation
        In the order of time.

    Returns
    -------
    float
        From 0 to 1; 0 where there is no pair. Exact. Cost: O(n) per release: pairs are counted by the sizes of groups, and of
        their parts from one earlier group.
    """
    last: dict[Hashable, tuple[int, int]] = {}
    repeated = pairs = 0
    for number, seen in enumerate(observations):
        published = [
            (who, group)
            for who, group in zip(seen.people.respondents.tolist(), seen.group.tolist(), strict=True)
            if group >= 0
        ]
        before = [(last[who], group) for who, group in published if who in last]
        pairs += _pairs(group for _, group in before)
        repeated += _pairs(before)
        last.update((who, (number, group)) for who, group in published)
    return repeated / pairs if pairs else 0.0


def overconfident(adversary: Adversary, observations: Iterable[Observation]) -> tuple[str, ...]:
    """The note that evidence is counted twice, where `repeated_pairs` is `LEAST_SHARE` or more; else none.

    Without transitions nothing is carried from release to release, and nothing is counted twice.
    """
    share = 0.0 if adversary.transitions is None else repeated_pairs(observations)
    if share < LEAST_SHARE:
        return ()
    return (
        f"{share:.0%} of the pairs of people in a group shared one before: the attack counts this evidence twice and tends "
        "to be overconfident. Compare expected with right, and the log score with a snapshot attack's.",
    )


def _pairs(parts: Iterable[Hashable]) -> int:
    """The number of pairs within equal parts."""
    return sum(size * (size - 1) // 2 for size in Counter(parts).values())
