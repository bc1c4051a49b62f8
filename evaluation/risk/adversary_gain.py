"""Adversary gain, and total risk: the gain with groups of one value counted as disclosed."""

import math

import numpy as np
import pandas as pd

from foreknow.evaluation.release_table import release_table
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth, mean
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import check_flag


def adversary_gain(
    beliefs: Beliefs, history: History, *, absolute: bool = False, leaving_out: LeftOut = None
) -> pd.DataFrame:
    """Adversary gain: mean of ``(p - f) / (1 - f)`` over the respondents.

    p is the belief in the true value, and f the value's share of the published group. The gain is 0 for an adversary without
    background knowledge, 1 for certainty, and negative where p is below f on average.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    absolute : bool
        If False, rho of JS-reduce (section 7.2). If True, Equation 8 of BayFrame: ``|p - f| / (1 - f)``, in which a belief below
        f counts as gain, and ``|1 - p|`` where the group holds one value only.
    leaving_out : CompromisedRecords or collection of respondents, optional
        Compromised records leave their respondents out of each release they are about (BayFrame, section 6.3.2). A respondent
        compromised in one release may have been reached through another release before. A collection of respondents, as
        ``set(records.frame["respondent"])``, is left out of all releases: the measure is then about respondents that were never
        compromised. The same in all risk measures.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``gain``, NaN where it averages no record; ``measured``, the number of records it
        averages; ``suppressed``; ``certain``, the number of published records in groups of one value; and ``compromised`` with
        ``leaving_out``. Suppressed and left-out records are not averaged. Neither are certain ones, unless ``absolute``: the
        formula is 0/0 there.

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, or the history is no `History`.
    ValueError
        If the history is not the one that was published.

    Notes
    -----
    f is a share of published values. Where a release distorts values (`MASK`), f is not the rate of the true value in the group.
    An adversary who allows for the distortion may believe less than f and be right, so a gain of 0 or below is no sign of safety
    there. The log score (`log_score`) has no baseline.

    A gain of 0 is no absence of risk: `total_risk` counts ``certain`` respondents as disclosed. ``absolute=True`` averages over
    them too, but counts a certain and right belief as a gain of ``|1 - 1| = 0``.
    """
    check_flag("adversary_gain", "absolute", absolute)
    measured = beliefs_and_truth("adversary_gain", beliefs, history, leaving_out)
    return release_table(
        (_gain(release, absolute) for release in measured), ("time", "gain", "measured", "suppressed", "certain")
    )


def _gain(release: BeliefsAndTruth, absolute: bool) -> dict[str, object]:
    gain, certain = gains(release)
    used = np.where(certain, np.abs(1 - release.confidence), np.abs(gain)) if absolute else gain[~certain]
    row: dict[str, object] = {"time": release.time, "gain": mean(used), "measured": len(used)}
    return row | release.excluded | {"certain": int(certain.sum())}


def gains(release: BeliefsAndTruth) -> tuple[FloatArray, BoolArray]:
    """Gain of each record, and True for those in groups of one value, whose gain is of no meaning: shapes ``(n',)``."""
    certain = release.share == 1
    gain = (release.confidence - release.share) / np.where(certain, 1.0, 1 - release.share)
    return np.asarray(gain), np.asarray(certain)


def total_risk(beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Total risk: the share of records in groups of one value, plus the mean gain of the others.

    With c the share of the published records whose group shows one value only, their own, and rho the mean gain of the other
    records (`adversary_gain`)::

        total risk = c + (1 - c) max(rho, 0)

    It is between c and 1, and equals the gain where c is 0 and the gain is not negative. A negative rho counts as 0: it does not
    offset what groups of one value disclose.

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        As of `adversary_gain`, with ``total_risk`` for ``gain``, NaN where no record is measured; ``measured`` includes the
        certain records.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`.

    Notes
    -----
    Neither published measure shows groups of one value. Rho of JS-reduce (section 7.2) is 0/0 there and leaves them out.
    Equation 8 of BayFrame sets the gain to ``|1 - p|`` there; an adversary who reads the group has p = 1, so that complete
    disclosure counts as a gain of 0. Here it counts as 1, the value of ``(p - f) / (1 - f)`` for a certain belief at any share
    f < 1. The formula is ours; neither paper has it.

    With distorted values (`MASK`) the total risk may be 0 although the adversary learns; see `adversary_gain`.

    Examples
    --------
    Two of four respondents share a group of one value. An adversary without background knowledge gains nothing in the other:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, History, Numeric, RandomWorlds, Release, Schema, UniformPrior
    >>> frame = pd.DataFrame({"id": range(4), "week": 1, "age": [20, 21, 22, 29], "result": list("aaab")})
    >>> history = History.read(frame, Schema({"age": Numeric()}, "result", ("a", "b")))
    >>> attack = SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds()))
    >>> beliefs = attack([Release(history[0], [0, 0, 1, 1])])
    >>> adversary_gain(beliefs, history)["gain"].tolist(), total_risk(beliefs, history)["total_risk"].tolist()
    ([0.0], [0.5])
    """
    table = adversary_gain(beliefs, history, leaving_out=leaving_out)
    risks = [
        with_certain(gain, measured, certain)
        for gain, measured, certain in zip(table["gain"], table["measured"], table["certain"], strict=True)
    ]
    table = table.assign(gain=risks, measured=table["measured"] + table["certain"]).rename(
        columns={"gain": "total_risk"}
    )
    first = ["time", "total_risk", "measured", "certain"]
    return table[[*first, *table.columns.drop(first)]]


def with_certain(gain: float, measured: float, certain: float) -> float:
    """Total risk of a mean gain over some records and of further records in groups of one value; NaN without records."""
    if measured + certain == 0:
        return math.nan
    gained = max(gain, 0.0) * measured if measured else 0.0
    return float(certain + gained) / (measured + certain)
