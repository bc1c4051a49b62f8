"""Records of one respondent at one time: exact copies are dropped or refused, different ones are refused."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import counted
from foreknow.models.tables.cleaning.faults import MAX_EXAMPLES, Change, Example, Fault, shown

type Duplicates = Literal["refuse", "drop"]

DUPLICATES = ("refuse", "drop")


def without_copies(
    table: pd.DataFrame, record: list[str], rule: Duplicates, by: str
) -> tuple[BoolArray, list[Fault], list[Change]]:
    """The rows that are no copy of an earlier row, and the faults or changes.

    Parameters
    ----------
    table : DataFrame
        The columns that are read; its index holds the positions of the rows.
    record : list of str
        The columns of the respondent and the time.
    rule : {"refuse", "drop"}
        Copies in all columns are a fault, or dropped. Different records of one respondent at one time are always a fault.
    by : str
        The column of the number of the table: a respondent may be in two.
    """
    twice = table.duplicated([by, *record], keep=False).to_numpy()
    if not twice.any():
        return np.ones(len(table), dtype=np.bool_), [], []
    copies = np.zeros(len(table), dtype=np.bool_)
    copies[twice] = table[twice].duplicated().to_numpy()
    others = table[~copies]
    differing = others[others.duplicated([by, *record], keep=False)]
    if len(differing) and len(table[record[-1]].drop_duplicates()) == 1:
        return ~copies, [_one_time(differing, record)], []
    faults = [_different(differing, [by, *record])] if len(differing) else []
    number = int(copies.sum())
    if number and rule == "refuse":
        faults.append(_copied(table[copies], record, number))
    changes = [Change("", number, f"{counted(number, 'copy')} of records dropped.")] if number else []
    return ~copies, faults, changes


def _examples(rows: pd.DataFrame, text: Callable[["pd.Series[Any]"], str]) -> tuple[Example, ...]:
    """Rows as examples, by the positions in their index."""
    return tuple(Example(place, text(rows.loc[place])) for place in rows.index.tolist())


def _named(row: "pd.Series[Any]", record: list[str]) -> str:
    respondent, time = row[record[-2]], row[record[-1]]
    return f"{shown(respondent)} at {time}"


def _one_time(repeated: pd.DataFrame, record: list[str]) -> Fault:
    """The fault of a table that has probably a column of the time, which is not named."""
    respondents = int(repeated[record[0]].drop_duplicates().size)
    verb = "has" if respondents == 1 else "have"
    problem = f"{counted(respondents, 'respondent')} {verb} several records, and all records have one time"
    pair = repeated.sort_values(record[0], kind="stable", key=lambda cells: cells.map(str)).head(2)
    examples = _examples(pair, lambda row: shown(row[record[0]]))
    time = Setting("time", "month")
    way_out = Advice("name the column of the time, as ", time, ", or keep one record of each respondent")
    return Fault("", problem, examples, len(repeated), way_out)


def _copied(copies: pd.DataFrame, record: list[str], number: int) -> Fault:
    problem = "is a copy of another" if number == 1 else "are copies of others"
    examples = _examples(copies.head(MAX_EXAMPLES), lambda row: _named(row, record))
    way_out = Advice("set ", Setting("duplicates", "drop", settles=True), " to drop them")
    return Fault("", f"{counted(number, 'record')} {problem}", examples, number, way_out)


def _different(differing: pd.DataFrame, record: list[str]) -> Fault:
    """The fault of respondents with several records at one time, with both rows of the first."""
    pairs = differing.sort_values(record, kind="stable", key=lambda cells: cells.map(str)).head(2)
    columns = [name for name in differing.columns if name not in record]
    unequal = [name for name in columns if len(pairs[name].drop_duplicates()) > 1]
    respondents = len(differing.drop_duplicates(record))
    problem = (
        f"{counted(respondents, 'respondent')} {'has' if respondents == 1 else 'have'} several records at one time, which "
        f"differ in {', '.join(map(repr, unequal))}"
    )
    examples = _examples(pairs, lambda row: _named(row, record))
    return Fault("", problem, examples, len(differing), "keep one record of each respondent and time")
