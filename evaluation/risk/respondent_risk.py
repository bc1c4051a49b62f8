"""Risk of each respondent: the highest belief in the true value, and the release that led to it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_beliefs
from foreknow.evaluation.risk.beliefs_and_truth import BeliefsAndTruth, LeftOut, beliefs_and_truth
from foreknow.evaluation.risk.central_intervals import interval_of
from foreknow.evaluation.risk.forecasts import numbered
from foreknow.models import Beliefs, History
from foreknow.models.arrays import FloatArray, ObjectArray
from foreknow.models.settings import check_flag, check_whole

INTERVAL_MASS = 0.9
"""Mass of the interval of a belief."""

type Records = dict[str, np.ndarray[Any, Any]]
"""Columns with one entry per published record."""


def respondent_risk(
    beliefs: Beliefs,
    history: History,
    *,
    most: int | None = None,
    show_values: bool = True,
    leaving_out: LeftOut = None,
) -> pd.DataFrame:
    """Highest belief in the true value of each respondent over all releases, and the release at which it was reached.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    most : int, optional
        Number of respondents to return, those of highest risk. By default all.
    show_values : bool
        If False, the column of true values is left out. The table still shows who is at risk: keep it as the records are kept.
    leaving_out : CompromisedRecords or collection of respondents, optional
        See `adversary_gain`.

    Returns
    -------
    DataFrame
        One row per respondent with a published record that is not left out, in decreasing order of the belief; ties are in the
        order of first appearance. Columns ``respondent``; ``belief``, the highest belief in the true value; ``low`` and
        ``high``, its 90 % interval over the draws of uncertain knowledge (`Averaged`), or for the Monte Carlo error of an estimator
        that samples, otherwise NaN; ``time``, the release
        (the first of several with the same belief); ``value``, the true value there; ``before``, the belief in it before that
        release, and ``prior``, before any release; ``rise``, belief less ``before``; ``share``, the value's share of the
        published group; ``members``, the number of group members; ``releases``, the number of releases with a record.

    Raises
    ------
    TypeError, ValueError
        As `adversary_gain`; if ``most`` is no whole number of 1 or more.

    Notes
    -----
    The highest of several beliefs is chosen after the fact, with the truth known, so it overstates what the adversary can know
    to be right; compare `calibration`. An interval does not allow for this choice, nor for wrong knowledge. Cost: O(n log n)
    for n records in all.
    """
    check_flag("respondent_risk", "show_values", show_values)
    if most is not None:
        check_whole("respondent_risk", "most", most, "respondents")
    table = worst_records(record_risk("respondent_risk", beliefs, history, leaving_out))[:most]
    return table if show_values else table.drop(columns="value")


def record_risk(owner: str, beliefs: Beliefs, history: History, leaving_out: LeftOut = None) -> Records:
    """Columns of `respondent_risk` of each published record, in the order of the releases; ``owner`` is for error messages."""
    check_beliefs(owner, beliefs)
    measured = beliefs_and_truth(owner, beliefs, history, leaving_out)
    each = [_NONE, *(_records(one, beliefs, t) for t, one in enumerate(measured))]
    return {name: np.concatenate([columns[name] for columns in each]) for name in _NONE}


def worst_records(records: Records) -> pd.DataFrame:
    """Record of highest belief of each respondent, among the exposed ones if ``records`` has a column ``exposed``.

    In decreasing order of the belief; ties are in the order of first appearance. ``releases`` is the number of records.
    """
    number = numbered({}, records["respondent"])
    exposed = records.get("exposed", np.zeros(len(number), dtype=np.bool_))
    order = np.lexsort((-records["belief"], ~exposed, number))
    highest = order[np.diff(number[order], prepend=-1) != 0]
    highest = highest[np.argsort(-records["belief"][highest], kind="stable")]
    table = pd.DataFrame({name: column[highest] for name, column in records.items()}).infer_objects()
    table["releases"] = np.bincount(number)[number[highest]] if len(highest) else np.zeros(0, dtype=np.int64)
    return table


_NONE: Records = (
    {"respondent": np.empty(0, dtype=object)}
    | {name: np.zeros(0) for name in ("belief", "low", "high")}
    | {name: np.empty(0, dtype=object) for name in ("time", "value")}
    | {name: np.zeros(0) for name in ("before", "prior", "rise", "share")}
    | {"members": np.zeros(0, dtype=np.int64)}
)
"""Columns of a release without records."""


def _records(one: BeliefsAndTruth, beliefs: Beliefs, t: int) -> Records:
    """Columns of release number t, one entry per measured record."""
    release = beliefs.releases[t]
    people = release.observation.people
    belief, before, prior = (
        stage[one.rows, one.true] for stage in (release.posterior.probabilities, release.revised, release.prior)
    )
    low, high = _interval(one, beliefs, t)
    return {
        "respondent": people.respondents[one.rows],
        "belief": belief,
        "low": low,
        "high": high,
        "time": as_objects([one.time] * len(belief)),
        "value": as_objects(people.schema.values)[one.true],
        "before": before,
        "prior": prior,
        "rise": belief - before,
        "share": one.share,
        "members": np.bincount(release.observation.group[release.observation.group >= 0])[one.group],
    }


def _interval(one: BeliefsAndTruth, beliefs: Beliefs, t: int) -> tuple[FloatArray, FloatArray]:
    """Ends of the 90 % interval of beliefs in true values; NaN for beliefs without draws or a Monte Carlo error."""
    if beliefs.draws is None and beliefs.releases[t].posterior.standard_error is None:
        return np.full(len(one.rows), np.nan), np.full(len(one.rows), np.nan)
    return interval_of(beliefs, t, INTERVAL_MASS, (one.rows, one.true))


def as_objects(labels: Sequence[Any]) -> ObjectArray:
    """One-dimensional object array of labels, which may be tuples."""
    array = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        array[place] = label
    return array
