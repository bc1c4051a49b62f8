"""Risk measures: gain, confidence, success rate, sure beliefs, log score, calibration. Each returns a tidy DataFrame."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.evaluation.risk.truth import LeftOut, Outcome, mean, outcomes, set_outcomes
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray


def adversary_gain(
    beliefs: Beliefs, history: History, absolute: bool = False, leaving_out: LeftOut = None
) -> pd.DataFrame:
    """Adversary gain: belief in the true value beyond its share of the group, relative to the most it could exceed it by.

    The mean of ``(p - f) / (1 - f)`` over the respondents, p being the belief in the true value and f its share of the values
    that the group publishes: 0 for an adversary who only counts, 1 for certainty, negative where p is below f.

    Parameters
    ----------
    beliefs : Beliefs
        What an attack returned.
    history : History
        The original records.
    absolute : bool
        BayFrame's measure (Equation 8): ``|p - f| / (1 - f)``, in which a belief below f counts as gain, and ``|1 - p|``
        where the group holds one value only. Otherwise JS-reduce's rho (section 7.2).
    leaving_out : CompromisedRecords or collection of respondents, optional
        Records leave their respondents out of each release they are about (BayFrame, section 6.3.2); but who is compromised
        today was perhaps known yesterday. Respondents, as ``set(records.frame["respondent"])``, are left out of all releases:
        then it says what the compromise of some tells of people who never were. The same in all measures here.

    Returns
    -------
    DataFrame
        Columns ``time``, ``gain``, ``records`` (how many it averages), ``suppressed`` and ``certain``: respondents in
        groups of one value, who are left out of rho, because it is 0/0 there: the release itself tells all. With
        ``leaving_out``, also ``compromised``, how many were left out because of it.

    Notes
    -----
    The baseline f is a share of published values. Where a release distorts values (`MASK`), f is not the rate of the truth in the
    group, and an adversary who allows for the distortion may believe less than f and be right: a gain of 0 or below is no sign
    of safety there. Read the log score (`log_score`), which has no baseline.

    A gain of 0 is no absence of risk: with ``certain`` respondents, read `total_risk`, which counts them as disclosed.
    ``absolute=True`` averages over them too, but counts a certain and right belief as a gain of ``|1 - 1| = 0``.
    """
    rows = []
    for outcome in outcomes(beliefs, history, leaving_out):
        certain = outcome.share == 1
        room = np.where(certain, 1.0, 1 - outcome.share)
        gain = (outcome.confidence - outcome.share) / room
        used = gain[~certain]
        if absolute:
            used = np.where(certain, np.abs(1 - outcome.confidence), np.abs(gain))
        rows.append(_row(outcome, "gain", used) | {"certain": int(certain.sum())})
    return pd.DataFrame(rows)


def adversary_confidence(beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> pd.DataFrame:
    """The mean belief in the true value (JS-reduce, section 7.4).

    Returns
    -------
    DataFrame
        Columns ``time``, ``confidence``, ``records`` and ``suppressed``, whose respondents are left out.
    """
    return pd.DataFrame([_row(o, "confidence", o.confidence) for o in outcomes(beliefs, history, leaving_out)])


def success_rate(beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Frequency with which the value believed most is the true one; one of q equally believed counts 1/q.

    Returns
    -------
    DataFrame
        Columns ``time``, ``success``, ``records`` and ``suppressed``, whose respondents are left out.
    """
    rows = []
    for outcome in outcomes(beliefs, history, leaving_out):
        most = outcome.belief.max(axis=1, keepdims=True)
        best = outcome.belief >= most * (1 - 1e-12)
        hit = best[np.arange(len(outcome.true)), outcome.true] / best.sum(axis=1)
        rows.append(_row(outcome, "success", hit))
    return pd.DataFrame(rows)


def disclosures(beliefs: Beliefs, history: History, sure: float = 0.9, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Counts of the respondents of whom the adversary is sure, and of those of them of whom it is right.

    Parameters
    ----------
    beliefs : Beliefs
        What an attack returned.
    history : History
        The original records.
    sure : float
        From which belief in some value on the adversary is sure of a respondent.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Whose respondents are left out.

    Returns
    -------
    DataFrame
        Columns ``time``, ``sure`` (respondents with such a belief), ``right`` (those of them with that value in truth),
        ``expected`` (how many the adversary expects to be right: the sum of those beliefs), ``records`` and
        ``suppressed``, whose respondents are left out.
    """
    rows = []
    for outcome in outcomes(beliefs, history, leaving_out):
        most = outcome.belief.max(axis=1)
        held = most >= sure
        right = outcome.belief.argmax(axis=1)[held] == outcome.true[held]
        rows.append(
            {
                "time": outcome.time,
                "sure": int(held.sum()),
                "right": int(right.sum()),
                "expected": float(most[held].sum()),
                "records": len(outcome.true),
            }
            | outcome.missing
        )
    return pd.DataFrame(rows)


def log_score(beliefs: Beliefs, history: History, leaving_out: LeftOut = None, least: float = 2.0**-20) -> pd.DataFrame:
    """The mean logarithm of the belief in the true value, in bits: 0 at best, and best if what is believed is believed rightly.

    A proper score: on average nobody does better by believing something else than the true probabilities. Being sure and
    wrong costs most, so it tells an adversary who knows much from one who is rash.

    Parameters
    ----------
    beliefs : Beliefs
        What an attack returned.
    history : History
        The original records.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Whose respondents are left out.
    least : float
        Smaller beliefs in the truth count as this one.

    Returns
    -------
    DataFrame
        Columns ``time``, ``score``, ``records`` and ``suppressed``, whose respondents are left out.
    """
    return pd.DataFrame(
        [
            _row(outcome, "score", np.log2(np.maximum(outcome.confidence, least)))
            for outcome in outcomes(beliefs, history, leaving_out)
        ]
    )


def calibration(
    beliefs: Beliefs,
    history: History,
    bins: int = 10,
    leaving_out: LeftOut = None,
    sensitive: Collection[Hashable] | None = None,
) -> pd.DataFrame:
    """Frequency with which beliefs of each size are right, over all releases; calibrated beliefs are right as often as they say.

    Parameters
    ----------
    beliefs : Beliefs
        What an attack returned.
    history : History
        The original records.
    bins : int
        Into how many equal parts 0 to 1 is cut.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Whose respondents are left out.
    sensitive : collection of values, optional
        A set: the beliefs are then that somebody has a value of it, and right where somebody does. Left out, they are the
        beliefs in each value.

    Returns
    -------
    DataFrame
        A row per part in which there is a belief: ``low`` and ``high``, its ends (a belief on an end belongs to the higher
        part, 1 to the last); ``believed``, the mean belief; ``right``, the share of those beliefs whose value is the
        respondent's; ``beliefs``, how many there are: one for every published respondent and value, or, of a set, for every
        published respondent. Releases are not told apart; suppressed respondents are left out.
    """
    if bins < 1:
        raise ValueError(f"bins is {bins}; cut 0 to 1 into 1 part or more.")
    found: list[tuple[FloatArray, BoolArray]]
    if sensitive is None:
        found = [
            (outcome.belief.ravel(), _held(outcome).ravel()) for outcome in outcomes(beliefs, history, leaving_out)
        ]
    else:
        of_set = set_outcomes("calibration", beliefs, history, sensitive, leaving_out)
        found = [(outcome.belief, outcome.holds) for outcome in of_set]
    belief = np.concatenate([np.zeros(0), *(belief for belief, _ in found)])
    right = np.concatenate([np.zeros(0), *(held for _, held in found)])
    part = np.minimum((belief * bins).astype(np.int64), bins - 1)
    table = pd.DataFrame({"part": part, "believed": belief, "right": right}).groupby("part")
    means = table.mean()
    means.insert(0, "low", means.index / bins)
    means.insert(1, "high", (means.index + 1) / bins)
    return means.assign(beliefs=table.size()).reset_index(drop=True)


def _held(outcome: Outcome) -> BoolArray:
    """Mask of each respondent's true value: shape ``(n', m)``."""
    return np.asarray(outcome.true[:, None] == np.arange(outcome.belief.shape[1]))


def _row(outcome: Outcome, name: str, each: FloatArray) -> dict[str, object]:
    return {"time": outcome.time, name: mean(each), "records": len(each)} | outcome.missing
