"""Retroactive leak: change of the beliefs about each release by later releases."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs
from foreknow.evaluation.release_table import release_table
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth, mean
from foreknow.models import Beliefs, History
from foreknow.models.settings import check_range, is_number

COLUMNS = (
    "time", "log_score_forward", "log_score_hindsight", "leak", "sure_forward", "sure_hindsight", "newly_sure", "newly_right",
    "total_variation", "measured", "suppressed",
)  # fmt: skip


def retroactive_leak(
    forward: Beliefs,
    hindsight: Beliefs,
    history: History,
    *,
    sure: float = 0.9,
    least: float = 2.0**-20,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Retroactive leak: mean rise of the log2 probability of the true values of each release by later releases, in bits.

    Parameters
    ----------
    forward : Beliefs
        Beliefs about each release given the releases up to it, as of ``JointAttack(adversary, hindsight=False)``.
    hindsight : Beliefs
        Beliefs about the same releases given all of them, as of ``JointAttack(adversary)``.
    history : History
        The original records.
    sure : float
        Threshold from 0 to 1, as in `disclosures`.
    least : float
        Lower limit of a belief in a true value, over 0 and at most 1, as in `log_score`.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``log_score_forward`` and ``log_score_hindsight``, the `log_score` of each;
        ``leak``, their difference; ``sure_forward`` and ``sure_hindsight``, the share of respondents with a sure belief;
        ``newly_sure``, the share with a sure belief in hindsight only; ``newly_right``, the share newly sure whose value of
        highest belief is the true one; ``total_variation``, the mean of ``sum |hindsight - forward| / 2``; all NaN where no
        record is published; ``measured``; ``suppressed``; and ``compromised`` with ``leaving_out``.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`; if the two are not about the same releases; if ``sure`` or ``least`` is out of range.

    Notes
    -----
    The leak is negative where later releases mislead the adversary. If both beliefs are posteriors of one law, its expectation
    under that law is not negative. The last release has no later one: its leak is 0 if the forward and the hindsight rule agree
    there. Cost: O(n m) per release.
    """
    owner = "retroactive_leak"
    check_range(owner, "sure", sure, 0, 1, "the belief from which the adversary is sure")
    if not (is_number(least, 0, 1) and least > 0):
        raise ValueError(f"{owner}: least is {least!r}; it is a probability over 0 and at most 1.")
    for beliefs in (forward, hindsight):
        check_beliefs(owner, beliefs)
    _check_same_releases(forward, hindsight)
    both = (beliefs_and_truth(owner, beliefs, history, leaving_out) for beliefs in (forward, hindsight))
    return release_table(_rows(zip(*both, strict=True), sure, least), COLUMNS)


def _rows(
    both: "zip[tuple[BeliefsAndTruth, BeliefsAndTruth]]", sure: float, least: float
) -> Iterator[dict[str, object]]:
    for before, after in both:
        scores = [mean(np.log2(np.maximum(one.confidence, least))) for one in (before, after)]
        was, now = (one.belief.max(axis=1) >= sure for one in (before, after))
        right = after.belief.argmax(axis=1) == after.true
        yield {
            "time": before.time,
            "log_score_forward": scores[0],
            "log_score_hindsight": scores[1],
            "leak": scores[1] - scores[0],
            "sure_forward": mean(was),
            "sure_hindsight": mean(now),
            "newly_sure": mean(now & ~was),
            "newly_right": mean(now & ~was & right),
            "total_variation": mean(np.abs(after.belief - before.belief).sum(axis=1) / 2),
            "measured": len(before.true),
        } | before.excluded


def _check_same_releases(forward: Beliefs, hindsight: Beliefs) -> None:
    """Raise ValueError unless two beliefs are about the same releases."""
    if forward.times != hindsight.times:
        raise ValueError(
            f"retroactive_leak: forward is about the releases at {forward.times!r} and hindsight about those at "
            f"{hindsight.times!r}; attack the same releases twice."
        )
    for one, other in zip(forward, hindsight, strict=True):
        seen, again = one.observation, other.observation
        same = np.array_equal(seen.people.respondents, again.people.respondents)
        if not (same and np.array_equal(seen.group, again.group) and np.array_equal(seen.counts, again.counts)):
            raise ValueError(
                f"retroactive_leak: forward and hindsight are about different publications at {seen.time!r}; attack the same "
                "releases twice."
            )
