"""Every measure of risk in one table."""

import pandas as pd

from foreknow.evaluation.risk.belief_measures import (
    adversary_confidence,
    adversary_gain,
    disclosures,
    log_score,
    success_rate,
)
from foreknow.evaluation.risk.total_risk import total_risk
from foreknow.evaluation.risk.truth import LeftOut
from foreknow.models import Beliefs, History


def risk_table(beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> pd.DataFrame:
    """All measures of risk, one row per release.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    leaving_out : CompromisedRecords or collection of respondents, optional
        As in `adversary_gain`.

    Returns
    -------
    DataFrame
        The columns of `adversary_gain`, of which ``records`` counts those averaged by ``gain``; ``total_risk``;
        ``confidence``; ``success``; ``log_score``, the score of `log_score`; and ``sure``, ``expected`` and ``right`` of
        `disclosures`. These are over all published records, ``records + certain``. Fewer ``right`` than ``expected``, or a log
        score below a weaker attack's, mean overconfident beliefs.
    """
    table = adversary_gain(beliefs, history, leaving_out=leaving_out)
    table["total_risk"] = total_risk(beliefs, history, leaving_out)["total_risk"]
    table["confidence"] = adversary_confidence(beliefs, history, leaving_out)["confidence"]
    table["success"] = success_rate(beliefs, history, leaving_out)["success"]
    table["log_score"] = log_score(beliefs, history, leaving_out)["score"]
    surely = ["sure", "expected", "right"]
    table[surely] = disclosures(beliefs, history, leaving_out=leaving_out)[surely]
    return table
