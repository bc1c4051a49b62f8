"""Adversary gain, total risk, and the accuracy of beliefs: confidence, success rate, sure beliefs, log score."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs, check_share, release_table
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth, mean
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import check_flag, check_range, shown

type Baseline = Literal["share", "law"] | Beliefs
"""Belief over which a gain is measured: the share of the group, the law without any release, or the beliefs of a control."""


def adversary_gain(
    beliefs: Beliefs,
    history: History,
    *,
    absolute: bool = False,
    leaving_out: LeftOut = None,
    baseline: Baseline = "share",
) -> pd.DataFrame:
    """Adversary gain: mean of ``(p - f) / (1 - f)`` over the respondents.

    p is the belief in the true value, and f by default the value's share of the published group. The gain is 0 for an adversary
    without background knowledge, 1 for certainty, and negative where p is below f on average.

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
    baseline : {"share", "law"} or Beliefs
        f: the share of the group; the law of the value without any release (`ReleaseBeliefs.law`), which noisy counts have as
        well; or a control's belief in the true value, as of `WithoutGroups`.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``gain``, NaN where it averages no record; ``measured``, the number of records it
        averages; ``suppressed``; ``certain``, the number of published records with f = 1; and ``compromised`` with
        ``leaving_out``. Suppressed and left-out records are not averaged. Neither are certain ones, unless ``absolute``: the
        formula is 0/0 there.

    Raises
    ------
    TypeError
        If the beliefs are no `Beliefs`, or the history is no `History`.
    ValueError
        If the history is not the one that was published; if counts are noisy, and f is the share; if the attack keeps no law; or
        if the control is of other releases or respondents.

    Notes
    -----
    Over the law a group of c has a gain of 1/c on average, by its counts alone.

    f is a share of published values. Where a release distorts values (`MASK`), f is not the rate of the true value in the group.
    An adversary who allows for the distortion may believe less than f and be right, so a gain of 0 or below is no sign of safety
    there. The log score (`log_score`) has no baseline.

    A gain of 0 is no absence of risk: `total_risk` counts ``certain`` respondents as disclosed. ``absolute=True`` averages over
    them too, but counts a certain and right belief as a gain of ``|1 - 1| = 0``.
    """
    check_flag("adversary_gain", "absolute", absolute)
    rows = []
    measured = beliefs_and_truth("adversary_gain", beliefs, history, leaving_out)
    for release, rows_of in zip(measured, _baselines("adversary_gain", beliefs, baseline), strict=True):
        gain, certain = gains(release, None if rows_of is None else rows_of[release.rows, release.true])
        used = np.where(certain, np.abs(1 - release.confidence), np.abs(gain)) if absolute else gain[~certain]
        row = {"time": release.time, "gain": mean(used), "measured": len(used)}
        rows.append(row | release.excluded | {"certain": int(certain.sum())})
    return release_table(rows, ("time", "gain", "measured", "suppressed", "certain"))


def _baselines(owner: str, beliefs: Beliefs, baseline: Baseline) -> list[FloatArray | None]:
    """Beliefs of the baseline about each release, shapes ``(n, m)``; None for shares."""
    check_beliefs(owner, beliefs)
    if isinstance(baseline, Beliefs):
        same = baseline.times == beliefs.times and all(
            np.array_equal(one.observation.people.respondents, other.observation.people.respondents)
            for one, other in zip(beliefs, baseline, strict=True)
        )
        if not same:
            raise ValueError(
                f"{owner}: baseline has beliefs about other releases or respondents; attack the same releases with the control."
            )
        return [one.posterior.probabilities for one in baseline]
    takes = 'is "share", "law", or the Beliefs of a control'
    if not isinstance(baseline, str) or baseline not in ("share", "law"):
        raise ValueError(f"{owner}: baseline is {shown(baseline)}; it {takes}.")
    if baseline == "share":
        return [None] * len(beliefs)
    if any(one.law is None for one in beliefs):
        raise ValueError(
            f'{owner}: these beliefs have no law without releases, which baseline="law" needs; JointAttack keeps it. Give '
            "baseline= the beliefs of a control otherwise."
        )
    return [one.law for one in beliefs]


NEAR_CERTAIN = 1e-9
"""Distance from 1 below which a baseline counts as 1."""


def gains(release: BeliefsAndTruth, baseline: FloatArray | None = None) -> tuple[FloatArray, BoolArray]:
    """Gain of each record over a baseline, by default the share, and True where that is 1 and no gain is defined: ``(n',)``."""
    f = release.share if baseline is None else baseline
    certain = f > 1 - NEAR_CERTAIN
    gain = (release.confidence - f) / np.where(certain, 1.0, 1 - f)
    return np.asarray(gain), np.asarray(certain)


def total_risk(
    beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None, baseline: Baseline = "share"
) -> pd.DataFrame:
    """Total risk: the share of records in groups of one value, plus the mean gain of the others.

    With c the share of the published records whose group shows one value only, their own, and rho the mean gain of the other
    records (`adversary_gain`)::

        total risk = c + (1 - c) max(rho, 0)

    It is between c and 1, and equals the gain where c is 0 and the gain is not negative. A negative rho counts as 0: it does not
    offset what groups of one value disclose.

    Parameters
    ----------
    beliefs, history, leaving_out, baseline
        As in `adversary_gain`. Over another baseline than the share c counts as 0: what is certain there no group tells.

    Returns
    -------
    DataFrame
        As of `adversary_gain`, with ``total_risk`` for ``gain``, NaN where no record is measured; ``measured`` includes the
        certain records.

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
    table = adversary_gain(beliefs, history, leaving_out=leaving_out, baseline=baseline)
    of_shares = isinstance(baseline, str) and baseline == "share"
    risks = [
        with_certain(gain, measured, certain if of_shares else 0)
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
    """
    check_share("log_score", "least", least)
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
    """
    check_range("disclosures", "sure", sure, 0, 1, "the belief from which the adversary is sure")
    rows = (sure_beliefs(release, sure) for release in beliefs_and_truth("disclosures", beliefs, history, leaving_out))
    return release_table(rows, ("time", "sure", "right", "expected", "measured", "suppressed"))


def sure_beliefs(release: BeliefsAndTruth, sure: float) -> dict[str, Any]:
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


def hits(release: BeliefsAndTruth, scores: FloatArray | None = None) -> FloatArray:
    """``1/q`` where the true value is one of q values of highest belief, or highest ``scores``, else 0: shape ``(n',)``."""
    scores = release.belief if scores is None else scores
    best = scores >= scores.max(axis=1, keepdims=True) * (1 - RELATIVE_TIE)
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


def risk_table(
    beliefs: Beliefs,
    history: History,
    *,
    leaving_out: LeftOut = None,
    sure: float = 0.9,
    least: float = 2.0**-20,
    baseline: Baseline = "share",
) -> pd.DataFrame:
    """All risk measures of an attack that need no further argument, one row per release.

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.
    sure, least
        As in `disclosures` and `log_score`.
    baseline
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        Columns ``time``; ``gain``, an average over ``published - certain`` records; ``published``, the number of published records
        that are not left out; ``suppressed``; ``compromised`` with ``leaving_out``; ``certain``; and ``total_risk``,
        ``confidence``, ``success``, ``log_score``, ``sure``, ``expected`` and ``right``, which are over all published records.

    Notes
    -----
    Of beliefs with draws of uncertain knowledge (`Averaged`), it is the risk of the mixture; ``across_draws(risk_table, beliefs,
    history)`` adds the interval over the draws to each column.
    """
    table = adversary_gain(beliefs, history, leaving_out=leaving_out, baseline=baseline)
    table["measured"] += table["certain"]
    table = table.rename(columns={"measured": "published"})
    table["total_risk"] = total_risk(beliefs, history, leaving_out=leaving_out, baseline=baseline)["total_risk"]
    table["confidence"] = adversary_confidence(beliefs, history, leaving_out=leaving_out)["confidence"]
    table["success"] = success_rate(beliefs, history, leaving_out=leaving_out)["success"]
    table["log_score"] = log_score(beliefs, history, leaving_out=leaving_out, least=least)["log_score"]
    columns = ["sure", "expected", "right"]
    table[columns] = disclosures(beliefs, history, sure=sure, leaving_out=leaving_out)[columns]
    return table


WORST = ("gain", "total_risk", "log_score", "right_share")
"""Measures of which the highest value is the worst case."""


def with_right_share(risk: pd.DataFrame) -> pd.DataFrame:
    """Risk table with ``right_share``, the number of sure and right beliefs over that of published records."""
    published = risk["published"].to_numpy(dtype=float)
    right = risk["right"].to_numpy(dtype=float)
    share = np.divide(right, published, out=np.full(len(risk), np.nan), where=published > 0)
    return risk.assign(right_share=share)


def worst_attacks(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Largest value of each measure of `WORST` among the rows with equal keys, and the attack of that row.

    Returns
    -------
    DataFrame
        The keys, and for each measure its largest value and, in ``<measure>_attack``, the first attack that reaches it; NaN and
        None where no attack has a number.
    """
    columns = [*keys, *(name for measure in WORST for name in (measure, f"{measure}_attack"))]
    rows = []
    for _, group in table.groupby(list(keys), sort=False):
        row = {key: group[key].iloc[0] for key in keys}
        for measure in WORST:
            values = group[measure].to_numpy(dtype=float)
            known = np.flatnonzero(~np.isnan(values))
            best = known[values[known].argmax()] if len(known) else None
            row[measure] = np.nan if best is None else values[best]
            row[f"{measure}_attack"] = None if best is None else group["attack"].iloc[best]
        rows.append(row)
    return pd.DataFrame(rows, columns=pd.Index(columns))
