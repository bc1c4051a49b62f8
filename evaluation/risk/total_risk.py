"""Total risk: disclosure by groups of one value and the adversary's gain in the other groups, in one number."""

import math

import pandas as pd

from foreknow.evaluation.risk.belief_measures import adversary_gain
from foreknow.evaluation.risk.truth import LeftOut
from foreknow.models import Beliefs, History


def total_risk(beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> pd.DataFrame:
    """Risk over all published records: groups of one value count as disclosed, the other records with their mean gain.

    With c the share of the published records in groups that show only the record's own value, and rho the mean gain of the
    others (`adversary_gain`)::

        total risk = c + (1 - c) max(rho, 0)

    It is at least c, so that it is 0 only if no group shows one value; it equals the gain where there is no such group and
    the gain is not negative; it is at most 1. A negative
    rho counts as 0 and does not make up for what the groups disclose.

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
        One row per release. Columns ``time``; ``total_risk``, NaN where nobody is published; ``records``, the published
        records, all of which are counted; ``certain``, those in groups of one value; ``suppressed``, which are left out; and
        ``compromised`` with ``leaving_out``.

    Notes
    -----
    Both published measures hide groups of one value. JS-reduce's rho (section 7.2) is 0/0 there and leaves them out.
    BayFrame's Equation 8 sets the gain to ``|1 - p|`` there, p being the belief in the true value; an adversary who reads the
    group has p = 1, so that complete disclosure counts as a gain of 0. Here it counts as 1, the value of
    ``(p - f) / (1 - f)`` for a certain belief at any share f < 1. The formula is ours; neither paper has it.

    The share f is one of published values. For releases with distorted values (`MASK`) rho, and so the total risk, may be 0
    although the adversary learns: read `log_score`, which has no baseline.

    Examples
    --------
    Two of four people share a group of one value. Counting alone gains nothing from the other group:

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
    table["gain"] = [
        with_certain(gain, records, certain)
        for gain, records, certain in zip(table["gain"], table["records"], table["certain"], strict=True)
    ]
    table["records"] += table["certain"]
    found = table.rename(columns={"gain": "total_risk"})
    first = ["time", "total_risk", "records", "certain"]
    return found[[*first, *found.columns.drop(first)]]


def with_certain(gain: float, records: float, certain: float) -> float:
    """The total risk of a mean gain over some records and of further records in groups of one value; NaN without records."""
    if records + certain == 0:
        return math.nan
    gained = max(gain, 0.0) * records if records else 0.0
    return float(certain + gained) / (records + certain)
