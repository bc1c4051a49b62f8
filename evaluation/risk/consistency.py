"""Consistency test of calibration: the miscalibration of outcomes that are drawn from the beliefs themselves."""

from collections.abc import Collection, Hashable
from typing import Literal

import numpy as np
import pandas as pd

from foreknow.evaluation.risk.beliefs_and_truth import LeftOut
from foreknow.evaluation.risk.calibration import check_bins
from foreknow.evaluation.risk.forecasts import Forecasts, forecasts
from foreknow.evaluation.risk.recalibration import Decomposition, Score, decomposed, distinct_beliefs
from foreknow.evaluation.risk.respondent_bootstrap import as_bootstrap
from foreknow.models import Beliefs, History
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import check_choice, check_whole, is_number

type Dependence = Literal["respondents", "records"]

MEASURES = ("miscalibration", "calibration_error")
"""Terms of a decomposition that are 0 for calibrated beliefs, apart from chance."""


def consistency_test(
    beliefs: Beliefs,
    history: History,
    *,
    dependence: Dependence = "respondents",
    score: Score = "brier",
    decomposition: Decomposition = "isotonic",
    bins: int = 10,
    sensitive_set: Collection[Hashable] | None = None,
    least: float = 2.0**-20,
    leaving_out: LeftOut = None,
    draws: int = 200,
    level: float = 0.9,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Miscalibration beside its distribution for a calibrated adversary, by draws of the true values from the beliefs.

    Miscalibration is fitted to the records, so that it is over 0 for calibrated beliefs too. This is the test of whether it is
    larger than chance explains (consistency resampling; Broecker, Smith 2007).

    Parameters
    ----------
    beliefs, history
        As in `score_decomposition`.
    dependence : {"respondents", "records"}
        Draws of the values. ``"records"``: independent. ``"respondents"``: by one uniform number for all records of a
        respondent, so that equal beliefs in several releases have equal values.
    score, decomposition, bins, sensitive_set, least, leaving_out
        As in `score_decomposition`.
    draws : int
        Number of draws of the values of all records, at least 1.
    level : float
        Probability of ``high``, over 0 and under 1.
    rng : numpy.random.Generator or int, optional
        Random generator of the draws, or a seed. By default fresh entropy.

    Returns
    -------
    DataFrame
        One row for ``miscalibration`` and one for ``calibration_error``. Columns ``term``; ``amount``, that of the true values;
        ``calibrated``, the mean over the draws; ``calibrated_high``, their quantile of probability ``level``; ``p_value``, the
        share of the draws, counting the true values as one, that reach the amount. NaN where no record is published.

    Raises
    ------
    TypeError, ValueError
        As `score_decomposition`; if ``dependence`` is not one of its choices, or ``draws`` is 0.

    Notes
    -----
    With independent records, the test is exact apart from the draws. The values of a respondent in several releases are
    dependent, which beliefs about single records do not tell: ``"records"`` then draws too small miscalibrations, and
    ``"respondents"`` mostly too large ones, where beliefs move little. Draws do not keep the multisets of the groups. In a group,
    values repel each other, so that both draws are cautious there. Cost: O(c log c) for c forecasts, and O(c) per draw.

    Examples
    --------
    Beliefs of .8 of which half are right:

    >>> from foreknow.attacks import SnapshotAttack
    >>> from foreknow.models import Adversary, GivenPrior, Numeric, Omega, Release, Schema, View
    >>> names = [f"p{number}" for number in range(40)]
    >>> results = ["ill", "well", "well", "ill"] * 10
    >>> frame = pd.DataFrame({"id": names, "age": 30, "result": results})
    >>> view = View(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> prior = pd.DataFrame({"ill": [0.8, 0.8, 0.2, 0.2] * 10, "well": [0.2, 0.2, 0.8, 0.8] * 10}, index=names)
    >>> beliefs = SnapshotAttack(Adversary(GivenPrior(prior), estimator=Omega()))([Release(view, np.zeros(40, int))])
    >>> table = consistency_test(beliefs, History([view]), rng=1)
    >>> table.round(3)
                    term  amount  calibrated  calibrated_high  p_value
    0     miscalibration    0.18       0.008             0.02    0.005
    1  calibration_error    0.30       0.048             0.10    0.005
    """
    owner = "consistency_test"
    check_choice(owner, "dependence", dependence, ("respondents", "records"))
    check_choice(owner, "score", score, ("brier", "log"))
    check_choice(owner, "decomposition", decomposition, ("isotonic", "bins"))
    check_whole(owner, "draws", draws, "draws")
    parts, settings = check_bins(owner, bins), as_bootstrap(owner, draws, level, rng)
    if not (is_number(least, 0, 0.5) and least > 0):
        raise ValueError(f"{owner}: least is {least!r}; it is a probability over 0 and at most 1/2.")
    found = forecasts(owner, beliefs, history, sensitive_set, leaving_out)
    distinct = distinct_beliefs(found)

    def measured(outcome: BoolArray) -> list[float]:
        tallies = distinct._replace(found=found._replace(outcome=outcome)).tallies()
        by_name = decomposed(tallies, score, decomposition, parts, least)
        return [by_name["miscalibration"] * found.per_record, by_name["calibration_error"]]

    value = np.array(measured(found.outcome))
    drawn = np.array([measured(drawn_outcomes(found, dependence, settings.rng)) for _ in range(settings.draws)])
    reached = (1 + (drawn >= value - 1e-12).sum(axis=0)) / (1 + settings.draws)
    return pd.DataFrame(
        {
            "term": MEASURES,
            "amount": value,
            "calibrated": drawn.mean(axis=0),
            "calibrated_high": np.quantile(drawn, settings.level, axis=0),
            "p_value": np.where(np.isnan(value), np.nan, reached),
        }
    )


def drawn_outcomes(found: Forecasts, dependence: Dependence, rng: np.random.Generator) -> BoolArray:
    """Outcomes of all forecasts for values that are drawn from the beliefs about each record: shape ``(c,)``."""
    belief = found.belief.reshape(-1, found.per_record)
    of_record = found.respondent.reshape(-1, found.per_record)[:, 0]
    uniform = rng.random(found.respondents)[of_record] if dependence == "respondents" else rng.random(len(belief))
    if found.per_record == 1:
        return np.asarray(uniform < found.belief)
    ends = belief.cumsum(axis=1)[:, :-1]
    value = (uniform[:, None] >= ends).sum(axis=1)
    return np.asarray(value[:, None] == np.arange(found.per_record)).ravel()
