"""Exposed respondents: the one rule by which attack, report and compare judge a publication, in memory and on disk."""

from typing import Any, NamedTuple

import pandas as pd

from foreknow.evaluation.risk.respondent_risk import Records, record_risk, worst_records
from foreknow.models import Beliefs, History
from foreknow.models.settings import check_range


class Exposure(NamedTuple):
    """Exposed respondents of one attack.

    Attributes
    ----------
    sure : float
        Belief from which an adversary is sure.
    respondents : int
        Number of respondents with a published record.
    exposed : int
        Number of them with a record that `is_exposing`.
    known : int
        Number of the others with a sure belief before any release.
    first : object
        Time of the first release with an exposing record; None if no respondent is exposed.
    people : DataFrame
        One row per respondent, in decreasing order of the belief: `respondent_risk` of the exposing record of highest belief,
        or of the record of highest belief where none is exposing, with ``exposed``. Empty where the respondents are on disk.
    to : str
        The adversary or the attack, in words.
    """

    sure: float
    respondents: int
    exposed: int
    known: int
    first: Any
    people: pd.DataFrame
    to: str = "the attack"

    @property
    def share(self) -> float:
        """Share of the respondents that is exposed."""
        return self.exposed / self.respondents if self.respondents else 0.0

    @property
    def at_risk(self) -> pd.DataFrame:
        """Rows of the exposed respondents."""
        return self.people[self.people["exposed"]].reset_index(drop=True)


def is_exposing(belief: Any, prior: Any, sure: float) -> Any:
    """True where a belief in a value is sure, and the belief in the same value before any release was not.

    Parameters
    ----------
    belief, prior : float array, or DuckDB expression
        Beliefs in one value of each record after all releases, and before any. In hindsight, or as the attack has them.
    sure : float
        Belief from which an adversary is sure.

    Examples
    --------
    >>> import numpy as np
    >>> is_exposing(np.array([0.95, 0.95, 0.5]), np.array([0.2, 0.92, 0.2]), 0.9)
    array([ True, False, False])
    >>> from duckdb import ColumnExpression
    >>> str(is_exposing(ColumnExpression("belief"), ColumnExpression("prior"), 0.9))
    '(("belief" >= 0.9::DOUBLE) AND (NOT ("prior" >= 0.9::DOUBLE)))'
    """
    return (belief >= sure) & ~is_known(prior, sure)


def is_known(prior: Any, sure: float) -> Any:
    """True where an adversary is sure of the value of a record before any release; shapes as `is_exposing`."""
    return prior >= sure


def exposed(beliefs: Beliefs, history: History, sure: float = 0.9, *, to: str = "the attack") -> Exposure:
    """Respondents who are exposed by the beliefs in their true values.

    A respondent is exposed if, at some release, the belief in the true value is sure, and the belief in that value before any
    release was not. A sure prior at one release does not excuse what another release discloses.

    Parameters
    ----------
    beliefs : Beliefs
        The result of an attack.
    history : History
        The original records.
    sure : float
        Belief from which an adversary is sure, 0 to 1.
    to : str
        The adversary or the attack, in words.

    Raises
    ------
    TypeError, ValueError
        As `respondent_risk`; if ``sure`` is not from 0 to 1.

    Notes
    -----
    Cost: O(n log n) for n records in all.

    Examples
    --------
    >>> from foreknow.attacks import SequentialAttack
    >>> from foreknow.models import Adversary, History, Numeric, Release, Schema, UniformPrior
    >>> frame = pd.DataFrame({"id": list("abcd"), "week": 1, "age": [3, 4, 7, 8], "result": ["ill", "ill", "well", "ill"]})
    >>> history = History.read(frame, Schema({"age": Numeric()}, "result", ("ill", "well")))
    >>> found = exposed(SequentialAttack(Adversary(UniformPrior()))([Release(history[0], [0, 0, 1, 1])]), history)
    >>> found.exposed, found.respondents, found.at_risk["respondent"].tolist()
    (2, 4, ['a', 'b'])
    """
    check_range("exposed", "sure", sure, 0, 1, "the belief from which an adversary is sure")
    return exposure_of_records(record_risk("exposed", beliefs, history), sure, to)


def exposure_of_records(records: Records, sure: float, to: str = "the attack") -> Exposure:
    """Exposed respondents by columns ``respondent``, ``time``, ``belief`` and ``prior`` of records, in the order of releases."""
    exposing = is_exposing(records["belief"], records["prior"], sure)
    people = worst_records(records | {"exposed": exposing})
    known = {*records["respondent"][is_known(records["prior"], sure)]} - {*records["respondent"][exposing]}
    first = records["time"][exposing.argmax()] if exposing.any() else None
    return Exposure(sure, len(people), int(people["exposed"].sum()), len(known), first, people, to)
