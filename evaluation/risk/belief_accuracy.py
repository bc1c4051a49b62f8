"""Accuracy of beliefs: confidence in the true value, success rate, sure beliefs, log score."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from foreknow.evaluation.release_table import release_table
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth, mean
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_range, is_number

RELATIVE_TIE = 1e-12
"""Largest relative difference of two beliefs that are tied."""


def adversary_confidence(beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Adversary confidence: mean belief in the true value (JS-reduce, section 7.4).

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per release: ``time``; ``confidence``, NaN where no record is published; and the numbers of records ``measured``,
        ``suppressed`` and, with ``leaving_out``, ``compromised``, as in all measures here (`foreknow.evaluation.COLUMNS`).

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`.
    """
    return _averaged("adversary_confidence", "confidence", lambda r: r.confidence, beliefs, history, leaving_out)


def success_rate(beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Success rate: fraction of respondents whose value of highest belief is the true one.

    Where q values tie for the highest belief and the true one is among them, the respondent counts 1/q.

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        As of `adversary_confidence`, with ``success``.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`.
    """
    return _averaged("success_rate", "success", hits, beliefs, history, leaving_out)


def log_score(
    beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None, least: float = 2.0**-20
) -> pd.DataFrame:
    """Log score: mean base-2 logarithm of the belief in the true value, in bits; 0 at best.

    The score is proper: its expectation is highest for the true probabilities. A sure and wrong belief costs most, so the score
    distinguishes accurate beliefs from overconfident ones.

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.
    least : float
        Lower limit, over 0 and at most 1: smaller beliefs in the true value count as this one.

    Returns
    -------
    DataFrame
        As of `adversary_confidence`, with ``log_score``.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`; if ``least`` is out of range.
    """
    if not (is_number(least, 0, 1) and least > 0):
        raise ValueError(f"log_score: least is {least!r}; it is a probability over 0 and at most 1.")

    return _averaged("log_score", "log_score", lambda r: log_scores(r, least), beliefs, history, leaving_out)


def disclosures(beliefs: Beliefs, history: History, *, sure: float = 0.9, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Numbers of sure beliefs, of those expected to be right, and of those that are right.

    Parameters
    ----------
    beliefs, history
        As in `adversary_gain`.
    sure : float
        Threshold from 0 to 1: a respondent's belief is sure if its highest probability is at least this.
    leaving_out
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        As of `adversary_confidence`, with ``sure``, the number of sure respondents; ``right``, the number of them whose value of
        highest belief is the true one; and ``expected``, the sum of their highest beliefs: the number that the adversary expects
        to be right. Fewer ``right`` than ``expected`` means overconfident beliefs.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`; if ``sure`` is out of range.
    """
    check_range("disclosures", "sure", sure, 0, 1, "the belief from which the adversary is sure")
    rows = (sure_beliefs(release, sure) for release in beliefs_and_truth("disclosures", beliefs, history, leaving_out))
    return release_table(rows, ("time", "sure", "right", "expected", "measured", "suppressed"))


def sure_beliefs(release: BeliefsAndTruth, sure: float) -> dict[str, object]:
    """Row of `disclosures`."""
    highest = release.belief.max(axis=1)
    held = highest >= sure
    right = release.belief.argmax(axis=1)[held] == release.true[held]
    return {
        "time": release.time,
        "sure": int(held.sum()),
        "right": int(right.sum()),
        "expected": float(highest[held].sum()),
        "measured": len(release.true),
    } | release.excluded


def log_scores(release: BeliefsAndTruth, least: float) -> FloatArray:
    """Base-2 logarithm of the belief in each true value, of at least ``least``: shape ``(n',)``."""
    return np.asarray(np.log2(np.maximum(release.confidence, least)))


def hits(release: BeliefsAndTruth) -> FloatArray:
    """``1/q`` where the true value is one of q values of highest belief, else 0: shape ``(n',)``."""
    best = release.belief >= release.belief.max(axis=1, keepdims=True) * (1 - RELATIVE_TIE)
    return np.asarray(best[np.arange(len(release.true)), release.true] / best.sum(axis=1))


def _averaged(
    owner: str,
    name: str,
    each: Callable[[BeliefsAndTruth], FloatArray],
    beliefs: Beliefs,
    history: History,
    leaving_out: LeftOut,
) -> pd.DataFrame:
    """Table of the mean of one number per respondent."""
    rows = (
        {"time": release.time, name: mean(each(release)), "measured": len(release.true)} | release.excluded
        for release in beliefs_and_truth(owner, beliefs, history, leaving_out)
    )
    return release_table(rows, ("time", name, "measured", "suppressed"))
