"""Roles of columns, proposed by their names and facts: respondent, time, sensitive, quasi-identifier, identifier."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from foreknow.app.cli.description.column_facts import CODES, DATES, NAMES, NUMBERS, TEXT, UNITS, ColumnFacts

RESPONDENT, TIME, SENSITIVE = "respondent", "time", "sensitive"
QUASI_IDENTIFIER, IDENTIFIER, UNUSED = "quasi-identifier", "identifier", "not used"
GROUP_ROLE = "group"
"""Role of a column of the group in a published table."""

# fmt: off
PERSONS = (
    "patient", "person", "respondent", "subject", "participant", "member", "client", "customer", "pseudonym", "pid", "mrn",
    "patnr", "insured",
)
RECORDS = ("visit", "record", "row", "encounter", "case", "order", "invoice")
TIMES = (
    "time", "date", "day", "week", "month", "quarter", "year", "visit", "wave", "period", "release", "admission", "datum",
    "tag", "woche", "monat", "quartal", "jahr",
)
VALUES = (
    "diagnosis", "diagnose", "disease", "result", "condition", "icd", "icd10", "illness", "income", "salary", "hiv",
    "treatment", "drug", "medication", "religion", "outcome", "symptom", "debt", "crime",
)
TRAITS = (
    "age", "sex", "gender", "zip", "zipcode", "postcode", "postal", "plz", "city", "town", "race", "ethnicity", "birth", "dob",
    "born", "education", "marital", "nationality", "country", "region", "county", "state", "district", "occupation", "job",
    "profession", "language", "weight", "height", "bmi", "alter", "geschlecht", "ort",
)
NAMED_PERSONS = (
    "name", "firstname", "lastname", "surname", "forename", "email", "mail", "phone", "telephone", "mobile", "ssn", "passport",
    "address", "street", "iban", "vorname",
)
# fmt: on

NEARLY_UNIQUE, MIN_RECORDS = 0.9, 20
"""Share of distinct cells, and number of records, from which a column of names identifies its respondents."""

FEW_VALUES = 200
"""Greatest number of distinct values of a sensitive column."""


class Roles(NamedTuple):
    """The proposed role of each column, by its name."""

    roles: dict[str, str]

    def of(self, role: str) -> list[str]:
        """The columns of a role."""
        return [name for name, given in self.roles.items() if given == role]

    def one(self, role: str) -> str | None:
        """The column of a role, or None."""
        return next(iter(self.of(role)), None)


def proposed_roles(table: pd.DataFrame, facts: Sequence[ColumnFacts]) -> Roles:
    """Propose a role for each column. A proposal is a guess: names decide, then types and numbers of distinct cells."""
    roles = dict.fromkeys((fact.name for fact in facts), UNUSED)
    time = _best({fact.name: _time_score(fact) for fact in facts}, 2)
    others = [fact for fact in facts if fact.name != time]
    respondent = _best({fact.name: _respondent_score(fact, table, time) for fact in others}, 2)
    others = [fact for fact in others if fact.name != respondent]
    roles |= {fact.name: IDENTIFIER for fact in others if _identifies(fact)}
    others = [fact for fact in others if roles[fact.name] != IDENTIFIER]
    sensitive = _best({fact.name: _sensitive_score(fact, last=fact is others[-1]) for fact in others}, 2)
    rest = [fact for fact in others if fact.name != sensitive]
    traits = [fact for fact in rest if _has(fact, TRAITS)] or [fact for fact in rest if fact.kind != TEXT]
    roles |= {fact.name: QUASI_IDENTIFIER for fact in traits}
    found = {RESPONDENT: respondent, TIME: time, SENSITIVE: sensitive}
    return Roles(roles | {name: role for role, name in found.items() if name is not None})


def words_of(name: str) -> list[str]:
    """The words of a column's name, in small letters.

    >>> words_of("PatientID"), words_of("date_of_birth")
    (['patient', 'id'], ['date', 'of', 'birth'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name)]


def _has(fact: ColumnFacts, words: Sequence[str]) -> bool:
    return not set(words_of(fact.name)).isdisjoint(words)


def _best(scores: dict[str, int], least: int) -> str | None:
    """The name with the highest score, the first of equal ones, if it has at least some score."""
    best = max(scores, key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] >= least else None


def _time_score(fact: ColumnFacts) -> int:
    if (
        _has(fact, ("birth", "dob", "born", "geburt", "geburtsdatum"))
        or fact.kind == UNITS
        or fact.distinct == fact.records > 1
    ):
        return 0
    is_named = _has(fact, TIMES) and "id" not in words_of(fact.name)
    return 2 * is_named + 2 * (fact.kind == DATES) + (is_named and fact.whole)


def _respondent_score(fact: ColumnFacts, table: pd.DataFrame, time: str | None) -> int:
    if fact.kind not in (NAMES, CODES, NUMBERS) or (fact.kind == NUMBERS and not fact.whole) or not fact.distinct:
        return 0
    name = 3 * _has(fact, PERSONS) + 2 * _has(fact, ("id", "nr", "no", "number", "code")) - 2 * _has(fact, RECORDS)
    if _has(fact, TRAITS) or _has(fact, VALUES):
        return 0
    record = [fact.name] if time is None else [fact.name, time]
    repeated = float(table.duplicated(record).mean()) if len(table) else 1.0
    return name + 2 * (name > 0 and repeated < 1 - NEARLY_UNIQUE)


def _identifies(fact: ColumnFacts) -> bool:
    """Return whether a column names respondents, or has another cell for nearly each record."""
    unique = fact.records >= MIN_RECORDS and fact.share_distinct >= NEARLY_UNIQUE
    named = _has(fact, NAMED_PERSONS) or (_has(fact, ("id",)) and not _has(fact, TRAITS))
    return named or (unique and (fact.kind in (NAMES, TEXT) or fact.whole) and not _has(fact, [*TRAITS, *VALUES]))


def _sensitive_score(fact: ColumnFacts, last: bool) -> int:
    if _has(fact, TRAITS) or not 2 <= fact.distinct <= FEW_VALUES or fact.kind in (DATES, TEXT):
        return 0
    return 3 * _has(fact, VALUES) + (fact.kind == NAMES) + last
