"""Brier and log score, decomposed into miscalibration, discrimination and uncertainty."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_share, release_table
from foreknow.evaluation.risk.beliefs_and_truth import (
    BeliefsAndTruth,
    Forecasts,
    LeftOut,
    beliefs_and_truth,
    forecasts,
    true_values,
)
from foreknow.evaluation.risk.reliability_curve import (
    TERMS,
    Decomposition,
    Score,
    as_bootstrap,
    check_bins,
    decomposed,
    distinct_beliefs,
)
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_choice

COLUMNS = (
    "time", "brier_score", "miscalibration", "discrimination", "uncertainty", "within_bins", "calibration_error", "measured",
    "suppressed",
)  # fmt: skip


def brier_score(
    beliefs: Beliefs,
    history: History,
    *,
    decomposition: Decomposition = "isotonic",
    bins: int = 10,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Brier score of each release: mean over records of ``sum over values of (p - truth)^2``, decomposed; 0 at best, 2 at worst.

    p is the belief in a value, and truth is 1 for the true value, else 0::

        brier_score = miscalibration - discrimination + uncertainty + within_bins

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    decomposition, bins
        See `score_decomposition`.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``brier_score``; ``miscalibration``, ``discrimination``, ``uncertainty`` and
        ``within_bins``, its terms; ``calibration_error``, the expected calibration error; all NaN where no record is published;
        ``measured``, the number of records; ``suppressed``, which are left out; and ``compromised`` with ``leaving_out``.

    Notes
    -----
    See `score_decomposition`, which pools the releases and has intervals. Cost: O(n m log(n m)) per release.
    """
    check_choice("brier_score", "decomposition", decomposition, ("isotonic", "bins"))
    parts = check_bins("brier_score", bins)
    measured = beliefs_and_truth("brier_score", beliefs, history, leaving_out)
    return release_table((_brier_row(release, decomposition, parts) for release in measured), COLUMNS)


def score_decomposition(
    beliefs: Beliefs,
    history: History,
    *,
    score: Score = "brier",
    decomposition: Decomposition = "isotonic",
    bins: int = 10,
    sensitive_set: Collection[Hashable] | None = None,
    least: float = 2.0**-20,
    leaving_out: LeftOut = None,
    draws: int = 0,
    level: float = 0.9,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Decomposition of the Brier or log score of all beliefs of an attack, with intervals by bootstrap over respondents.

    A forecast is the belief p that a respondent has a value (or a value of the set), and y is 1 if it is so, else 0. The mean
    loss of the forecasts is ``(p - y)^2`` or ``-log2 |p + y - 1|``, and decomposes into::

        score = miscalibration - discrimination + uncertainty + within_bins

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack; its releases are pooled.
    history : History
        The original records.
    score : {"brier", "log"}
    decomposition : {"isotonic", "bins"}
        Rule that recalibrates beliefs. ``"isotonic"``: isotonic regression of y on p (CORP; Dimitriadis, Gneiting, Jordan
        2021), which needs no bins. ``"bins"``: the observed frequency of the bin (Murphy 1973).
    bins : int
        Number of equal parts of 0 to 1, of ``"bins"`` and of the expected calibration error.
    sensitive_set : collection of values, optional
        Sensitive set: a record then has one forecast. By default it has m of them, whose losses are summed.
    least : float
        Lower limit of probabilities in the log score, over 0 and at most 1/2.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.
    draws, level, rng
        See `reliability_curve`.

    Returns
    -------
    DataFrame
        One row per term. Columns ``term`` and ``amount``; with ``draws``, ``corrected``, the amount less its bootstrap bias, and
        ``low`` and ``high``, the basic interval. The terms, per record:

        - ``score``, the mean loss;
        - ``miscalibration`` (reliability), the loss that recalibration removes: 0 for calibrated beliefs;
        - ``discrimination`` (resolution), the loss that recalibrated beliefs save against the overall frequency;
        - ``uncertainty``, the loss of the overall frequency;
        - ``within_bins``, the loss of the beliefs less that of the mean belief of each bin; 0 for ``"isotonic"``;
        - ``calibration_error``, the expected calibration error: mean over forecasts of ``|observed - believed|`` of their bin.

        NaN where no record is published.

    Raises
    ------
    TypeError, ValueError
        As `reliability_curve`; if a choice or a number is none of those above.

    Notes
    -----
    Without a set, all values have one recalibration and one overall frequency, 1/m: the uncertainty of the Brier score is
    ``1 - 1/m``. Beliefs that agree to nine decimals are one.

    The miscalibration and the expected calibration error are over 0 for calibrated beliefs too, because they are fitted to the
    same records; the more so, the fewer the records. ``corrected`` and the interval reduce this bias, so that the amount may
    lie over ``high``. A negative end counts as 0; the interval of ``within_bins``, which may be negative, is the percentile
    interval. The bias is not removed: of 120,000 simulated records with calibrated, continuous beliefs the interval of the
    isotonic miscalibration was 0.9e-4 to 1.7e-4, without 0. A small positive ``low`` is no evidence of miscalibration.
    Respondents are drawn with all their records (`reliability_curve`). Cost: O(c log c) for c forecasts, and O(c) per draw.
    """
    owner = "score_decomposition"
    check_choice(owner, "score", score, ("brier", "log"))
    check_choice(owner, "decomposition", decomposition, ("isotonic", "bins"))
    parts, bootstrap = check_bins(owner, bins), as_bootstrap(owner, draws, level, rng)
    check_share(owner, "least", least, 0.5)
    found = forecasts(owner, beliefs, history, sensitive_set, leaving_out)
    distinct = distinct_beliefs(found)

    def terms(weights: FloatArray | None) -> list[float]:
        return _per_record(decomposed(distinct.tallies(weights), score, decomposition, parts, least), found)

    table = pd.DataFrame({"term": TERMS, "amount": terms(None)})
    if not bootstrap.draws:
        return table
    drawn = [terms(weights) for batch in bootstrap.weights(found.respondents) for weights in batch]
    estimate, drawn_terms = table["amount"].to_numpy(), np.array(drawn).reshape(-1, len(TERMS))
    table["corrected"], table["low"], table["high"] = bootstrap.reflected(estimate, drawn_terms)
    # The terms within bins are the only ones that may be negative: their interval is the percentile interval.
    row = TERMS.index("within_bins")
    low, high = bootstrap.interval(drawn_terms[:, [row]])
    table.loc[row, ["corrected", "low", "high"]] = [estimate[row], low[0], high[0]]
    return table


def _per_record(by_name: dict[str, float], found: Forecasts) -> list[float]:
    """Terms per record: losses summed over the forecasts of a record. The calibration error is per forecast."""
    return [value * (1 if name == "calibration_error" else found.per_record) for name, value in by_name.items()]


def _brier_row(release: BeliefsAndTruth, decomposition: Decomposition, bins: int) -> dict[str, object]:
    n, m = release.belief.shape
    found = Forecasts(release.belief.ravel(), true_values(release).ravel(), np.repeat(np.arange(n), m), n, m)
    by_name = decomposed(distinct_beliefs(found).tallies(), "brier", decomposition, bins, 1.0)
    terms = dict(zip(COLUMNS[1:7], _per_record(by_name, found), strict=True))
    return {"time": release.time} | terms | {"measured": n} | release.excluded
