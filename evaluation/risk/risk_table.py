"""Risk table: gain, total risk, accuracy and sure beliefs of an attack in one table."""

import pandas as pd

from foreknow.evaluation.risk.adversary_gain import adversary_gain, total_risk
from foreknow.evaluation.risk.belief_accuracy import adversary_confidence, disclosures, log_score, success_rate
from foreknow.evaluation.risk.beliefs_and_truth import LeftOut
from foreknow.models import Beliefs, History


def risk_table(
    beliefs: Beliefs, history: History, *, leaving_out: LeftOut = None, sure: float = 0.9, least: float = 2.0**-20
) -> pd.DataFrame:
    """All risk measures of an attack that need no further argument, one row per release.

    Parameters
    ----------
    beliefs, history, leaving_out
        As in `adversary_gain`.
    sure, least
        As in `disclosures` and `log_score`.

    Returns
    -------
    DataFrame
        Columns ``time``; ``gain``, an average over ``published - certain`` records; ``published``, the number of published records
        that are not left out; ``suppressed``; ``compromised`` with ``leaving_out``; ``certain``; and ``total_risk``,
        ``confidence``, ``success``, ``log_score``, ``sure``, ``expected`` and ``right``, which are over all published records.

    Raises
    ------
    TypeError, ValueError
        As the measures.

    Notes
    -----
    Of beliefs with draws of uncertain knowledge (`Averaged`), it is the risk of the mixture; ``across_draws(risk_table, beliefs,
    history)`` adds the interval over the draws to each column.
    """
    table = adversary_gain(beliefs, history, leaving_out=leaving_out)
    table["measured"] += table["certain"]
    table = table.rename(columns={"measured": "published"})
    table["total_risk"] = total_risk(beliefs, history, leaving_out=leaving_out)["total_risk"]
    table["confidence"] = adversary_confidence(beliefs, history, leaving_out=leaving_out)["confidence"]
    table["success"] = success_rate(beliefs, history, leaving_out=leaving_out)["success"]
    table["log_score"] = log_score(beliefs, history, leaving_out=leaving_out, least=least)["log_score"]
    columns = ["sure", "expected", "right"]
    table[columns] = disclosures(beliefs, history, sure=sure, leaving_out=leaving_out)[columns]
    return table
