"""Headline risk of an adversary: exposed respondents and mean beliefs in true values, with intervals."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from foreknow.app.exposure import exposed
from foreknow.app.report.adversaries import Inference
from foreknow.evaluation.risk.adversary_gain import RELATIVE_TIE
from foreknow.evaluation.risk.beliefs_and_truth import beliefs_and_truth, mean, numbered
from foreknow.evaluation.risk.reliability_curve import Bootstrap
from foreknow.models import History
from foreknow.models.arrays import FloatArray, IntArray

MEASURES = ("exposed", "confidence", "confidence_of_shares", "success", "success_of_shares")
"""Measures of `Headline.table`, in its order."""


class Headline(NamedTuple):
    """Risk of one adversary over all releases, in hindsight.

    Attributes
    ----------
    respondents : int
        Number of respondents with a published record.
    exposed : int
        Number of them who are `exposed`.
    known : int
        Number of the others with a sure belief in their true value before any release.
    sure, right : int
        Number of records with a sure belief, and of those whose value of highest belief is the true one.
    table : DataFrame
        One row per measure: ``measure``, ``value``, ``low``, ``high``. ``exposed`` is the share of the respondents;
        ``confidence`` and ``success`` are means over the published records, and ``confidence_of_shares`` and
        ``success_of_shares`` the same of an adversary who believes the shares of each group.
    people : DataFrame
        `Exposure.people`; exposed respondents first, then by the belief and the prior.
    shares : tuple of float
        Mean share of the true values in their groups, one for each release; NaN without a published record.
    """

    respondents: int
    exposed: int
    known: int
    sure: int
    right: int
    table: pd.DataFrame
    people: pd.DataFrame
    shares: tuple[float, ...]

    def value(self, measure: str) -> float:
        """Value of a measure."""
        return float(self.table.loc[self.table["measure"] == measure, "value"].iloc[0])


def headline(one: Inference, history: History, sure: float, bootstrap: Bootstrap) -> Headline:
    """Risk of an adversary in hindsight.

    The interval of the share of exposed respondents is that of Clopper and Pearson (1934), which is not a point for no exposed
    respondent. Those of the means are percentile intervals of a bootstrap over respondents. Cost: O(n m), and O(N) per draw.
    """
    found = exposed(one.hindsight, history, sure)
    people, number = found.people, found.exposed
    order = np.lexsort((people["prior"], -people["belief"].round(9), ~people["exposed"]))
    people = people.iloc[order].reset_index(drop=True)
    sums, sure_beliefs, right = _sums(one, history, sure)
    n = len(people)
    low, high = (0.0, 1.0)
    if n:
        interval = scipy.stats.binomtest(number, n).proportion_ci(bootstrap.level, "exact")
        low, high = float(interval.low), float(interval.high)
    rows = [("exposed", number / n if n else np.nan, low, high)]
    value = sums[:, 1:].sum(axis=0) / max(sums[:, 0].sum(), 1)
    drawn = [np.zeros((0, value.size))]
    for weights in bootstrap.weights(len(sums)):
        total = weights @ sums
        drawn.append(total[:, 1:] / total[:, :1])
    lower, upper = bootstrap.interval(np.concatenate(drawn))
    rows += list(zip(MEASURES[1:], value.tolist(), lower.tolist(), upper.tolist(), strict=True))
    table = pd.DataFrame(rows, columns=pd.Index(["measure", "value", "low", "high"]))
    return Headline(n, number, found.known, sure_beliefs, right, table, people, _shares(one, history))


def _shares(one: Inference, history: History) -> tuple[float, ...]:
    """Mean share of the true values in their groups at each release."""
    return tuple(mean(measured.share) for measured in beliefs_and_truth("report", one.hindsight, history))


def _sums(one: Inference, history: History, sure: float) -> tuple[FloatArray, int, int]:
    """Sums over the records of each respondent: float array, shape ``(N, 5)``; numbers of sure and of sure and right beliefs.

    The columns are the number of records, and the sums of the belief in the true value, of its share of the group, and of the
    hits of the best guess by the belief and by the share.
    """
    numbers: dict[object, int] = {}
    owners, rows = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 5))]
    held = right = 0
    for release, measured in zip(one.hindsight, beliefs_and_truth("report", one.hindsight, history), strict=True):
        owners.append(numbered(numbers, release.observation.people.respondents[measured.rows]))
        hits, hits_of_shares = (_hits(rule, measured.true) for rule in (measured.belief, measured.shares))
        each = [np.ones(len(measured.true)), measured.confidence, measured.share, hits, hits_of_shares]
        rows.append(np.column_stack(each))
        is_sure = measured.belief.max(axis=1, initial=0) >= sure
        held += int(is_sure.sum())
        right += int((measured.belief.argmax(axis=1) == measured.true)[is_sure].sum())
    owner, table = np.concatenate(owners), np.concatenate(rows)
    sums = [np.bincount(owner, column, minlength=len(numbers)) for column in table.T]
    return np.column_stack(sums), held, right


def _hits(belief: FloatArray, true: IntArray) -> FloatArray:
    """``1/q`` where the true value is one of q values of highest belief, else 0: shape ``(n',)``."""
    best = belief >= belief.max(axis=1, keepdims=True, initial=0) * (1 - RELATIVE_TIE)
    return np.asarray(best[np.arange(len(true)), true] / np.maximum(best.sum(axis=1), 1))
