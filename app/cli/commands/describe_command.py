"""The command `foreknow describe`: a first look at a file, with proposed roles and the next command."""

import codecs
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.files.columns import InputFiles
from foreknow.app.cli.files.register import is_generalized
from foreknow.app.cli.options import Encoding, MissingValues, Separator, option, option_texts, separator_character
from foreknow.app.cli.terminal import PrintedTable, continued, error_console, paragraph, say, show
from foreknow.app.cli.typed_commands import attack_of_key, line_in_options, unused_path
from foreknow.app.publication import BEGUN, MANIFEST, ONE_RELEASE, listed_in
from foreknow.models import Cleaning, ColumnRoles, Hierarchy, InputFaults
from foreknow.models.advice import settings_in
from foreknow.models.settings import counted
from foreknow.models.tables.atomic_file import scratch_folder
from foreknow.models.tables.cell_types import PERIODS, are_dates, in_periods, number_cell, ordered_times
from foreknow.models.tables.columns import check_columns
from foreknow.models.tables.faults import DistinctCells, Fault, Places, blank_as_missing, distinct_cells, folded
from foreknow.models.tables.table_files import SEPARATORS, columns_of, file_notation, likely_encoding, read_table

MAX_EXAMPLE = 20
"""Characters of the example of a column."""


@dataclass(frozen=True)
class DescribeRun:
    """Options of `foreknow describe`."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or Parquet file, one row per record.")]
    id_: Annotated[
        str | None, option("Column of the respondent, if the proposal is wrong.", "COLUMN", None, "--id")
    ] = None
    time: Annotated[str | None, option("Column of the time.", "COLUMN")] = None
    sensitive: Annotated[str | None, option("Column of the sensitive value.", "COLUMN")] = None
    encoding: Encoding = "utf-8"
    separator: Separator = None
    missing_value: MissingValues = field(default_factory=list)


def describe_command(run: DescribeRun) -> Outcome:
    """Run `foreknow describe`; its help text has the paragraphs below.

    The table has the type of each column, its numbers of distinct and of missing cells, and a proposed role. The faults that
    publishing would refuse follow, with the options that settle them, and the next command to type.

    Roles are proposed by the names and the contents of columns. They are guesses: check them, and name the right column where one
    is wrong, as faults are found for the columns of the roles. Nothing is written.

    Of a larger file the first million records are read, and the next command publishes it from disk.

    A published table, the private key of a publication and a generalization hierarchy are recognized; the next command checks and
    attacks the first, attacks with the second, or uses the third.


    For example:
      foreknow describe records.csv
    """
    if (key := publication_key(run.file)) is not None:
        return _key(run.file, key)
    files = InputFiles(run.encoding, separator_character(run.separator), tuple(run.missing_value))
    if (hierarchy := hierarchy_in(run.file, files)) is not None:
        return _hierarchy(run.file, hierarchy)
    with error_console.status("reading"):
        named = {RESPONDENT: run.id_, TIME: run.time, SENSITIVE: run.sensitive}
        description = described(run.file, files, {role: name for role, name in named.items() if name is not None})
    first = "" if description.whole else "the first "
    title = f"{run.file.name}: {first}{description.records:,} records, {len(description.facts)} columns"
    if (mark := description.separator) is not None:
        title += f", {SEPARATORS.get(mark, repr(mark))} between cells, {description.encoding}"
    show(PrintedTable(_columns(description), title))
    for text in _notes(description):
        paragraph(text)
    if description.published is None:
        before = ["Next:" if description.run and not description.run.left else "Then:"]
    else:
        before = [
            "Next, the requirements that it satisfies:",
            "Then, what an adversary infers from it (with a register of persons: --id COLUMN --people FILE):",
        ]
    commands = next_commands(description)
    for line, command in zip(before, commands, strict=True):
        say(line, *continued(command))
    return Outcome(_as_json(description) | dict(zip(("next", "then"), commands, strict=False)))


def _key(path: Path, key: Path) -> Outcome:
    """Print that a file is a private key, and the attack that reads it."""
    warning = (
        f"{path.name} is the key of a publication, as its {MANIFEST} says. WARNING: it is private. It names the group of each "
        "respondent and undoes the publication: do not publish it, and keep it apart from the published table."
    )
    paragraph(warning)
    command = attack_of_key(key)
    say("Next, what an adversary infers from the publication:", *continued(command))
    return Outcome({"file": str(path), "looks like": "key", "warning": warning, "next": command})


def _hierarchy(path: Path, hierarchy: Hierarchy) -> Outcome:
    """Print the levels of a hierarchy, and the option with which it is used."""
    columns = enumerate(zip(*hierarchy.rows, strict=True))
    rows = [{"level": level, "labels": len(set(labels)), "example": labels[0]} for level, labels in columns]
    levels = pd.DataFrame(rows)
    show(PrintedTable(levels, f"{path.name}: {len(hierarchy.leaves):,} values, {len(levels)} levels"))
    paragraph(
        f"This looks like a generalization hierarchy in ARX format, not like records: no header, and each row ends with the root "
        f"{hierarchy.rows[0][-1]!r}. It is used with records, for the column that has its values of level 0: --hierarchy "
        f"COLUMN={path}. foreknow describe RECORDS proposes the other options."
    )
    roles = f"--id COLUMN --qi COLUMN --sensitive COLUMN --hierarchy COLUMN={shlex.quote(str(path))}"
    command = f"foreknow publish RECORDS {roles} --out {unused_path('release')}"
    say("Next:", *continued(command))
    content = {"file": str(path), "looks like": "hierarchy", "values": len(hierarchy.leaves)}
    return Outcome(content | {"levels": levels, "next": command})


class ColumnFacts(NamedTuple):
    """Facts about a column.

    ``distinct`` counts the cells without the likely marks of missing ones (``marks``), which ``missing`` counts as missing. The
    example is the first cell or, among numbers with a unit, the first that has one; ``whole`` is True if every cell is a whole
    number; ``alike`` are pairs of a text and one that it may abbreviate, with their numbers; and ``role`` is proposed.
    """

    name: str
    kind: str
    records: int
    distinct: int
    missing: int
    marks: tuple[str, ...]
    example: str
    whole: bool
    alike: tuple[tuple[tuple[str, int], tuple[str, int]], ...] = ()
    role: str = ""


class DryRun(NamedTuple):
    """Faults of a file without options, with their texts, the options that settle them, the faults that stay, and what to know."""

    faults: Sequence[Fault] = ()
    lines: Sequence[str] = ()
    options: str = ""
    left: Sequence[Fault] = ()
    notes: Sequence[str] = ()


class Description(NamedTuple):
    """Everything that `foreknow describe` says about a table.

    ``run`` is None if no sensitive column is known; ``published`` has the signs of a published table, or is None. ``whole`` is
    False if the first records of a larger file are described. ``separator`` is that of the file, ``given_separator`` the one
    that the user named, if any.
    """

    path: Path
    records: int
    encoding: str | None
    separator: str | None
    facts: tuple[ColumnFacts, ...]
    run: DryRun | None
    missing: tuple[str, ...]
    published: str | None
    whole: bool
    given_separator: str | None

    def of(self, role: str) -> list[str]:
        """The columns of a role."""
        return [fact.name for fact in self.facts if fact.role == role]

    def one(self, role: str) -> str:
        """The column of a role, or a placeholder."""
        return next(iter(self.of(role)), "COLUMN")


def _columns(description: Description) -> pd.DataFrame:
    """One row per column of the file."""
    rows = [
        {
            "column": fact.name,
            "type": fact.kind,
            "distinct": fact.distinct,
            "missing": fact.missing,
            "example": fact.example if len(fact.example) <= MAX_EXAMPLE else f"{fact.example[: MAX_EXAMPLE - 3]}...",
            "proposed role": fact.role,
        }
        for fact in description.facts
    ]
    return pd.DataFrame(rows)


def _notes(description: Description) -> list[str]:
    """Paragraphs below the table: identifiers, unused columns, marks of missing cells, faults."""
    published, run = description.published, description.run or DryRun()
    needed = (*([] if published else [RESPONDENT]), QUASI_IDENTIFIER, SENSITIVE)
    identifiers, unused = description.of(IDENTIFIER), description.of(UNUSED)
    codes = [fact.name for fact in description.facts if fact.kind == CODES and fact.role == QUASI_IDENTIFIER]
    unknown = [role for role in needed if not description.of(role)]
    two = [fault.column for fault in run.faults if _two_formats(fault)]
    unsettled = [fault.column or "repeated records" for fault in run.left if not _is_repeated(fault)]
    is_repeated = any(map(_is_repeated, run.left))
    person = "If one of them names the respondents, it is the one for --id. " if RESPONDENT in unknown else ""
    of_columns: dict[str, object] = {}
    for fact in description.facts:
        for short, long in fact.alike if published is None else ():
            told = f"{fact.name}: {short[0]!r} in {counted(short[1], 'record')} and {long[0]!r} in {counted(long[1], 'record')}"
            merge = option_texts(merge=f"{fact.name}:{short[0]}={long[0]}")
            told = f"{told} look like one value; add {merge} to the command below to write the latter."
            of_columns[told] = fact.role == QUASI_IDENTIFIER
        marks = f"{fact.name}: {', '.join(map(repr, fact.marks))} probably means a missing value."
        units = f"{fact.name}: numbers with a unit, as {fact.example!r}."
        of_columns |= {marks: fact.marks, units: fact.kind == UNITS and published is None}
    notes: dict[str, object] = {
        "Records further on, and their faults, were not read.": not description.whole,
        f"This looks like a published table, not like records: {published}; no respondent.": published is not None,
        f"Identifiers are not published: {', '.join(identifiers)}.": identifiers,
        f"Not used: {', '.join(unused)}. {person}Add --qi COLUMN for each that an adversary may know.": unused,
        **of_columns,
        f"Codes with leading zeros are published as intervals of numbers: {', '.join(codes)}. Add --categorical COLUMN for "
        "each that is kept as written.": codes,
        **dict.fromkeys(run.notes, published is None),
        f"No column was recognized as {' or '.join(unknown)}; name one in the command below.": unknown,
        "Describe the file again with --id COLUMN: faults of its cells, and repeated records, were not looked for.": (
            RESPONDENT in unknown
        ),
        f"{counted(len(run.lines), 'fault')} would be refused:": run.lines,
        **{f" {number}. {line_in_options(line)}": True for number, line in enumerate(run.lines, 1)},
        f"Choose one of the two formats of {', '.join(two)}, and write it in place of {CHOSEN_FORMAT} in the command below.": (
            two and description.whole
        ),
        f"Choose the record of a respondent and time that is kept, and write it in place of {CHOSEN_RULE} below: first, "
        "last, or worst with --worst VALUE for each value.": is_repeated and description.whole,
        f"No option settles the faults of {', '.join(unsettled)}; correct the file first, and describe it again.": unsettled,
    }
    return [note for note, is_due in notes.items() if is_due]


def _as_json(description: Description) -> dict[str, object]:
    run = description.run or DryRun()
    return {
        "file": str(description.path),
        "looks like": "records" if description.published is None else "published table",
        "records": description.records,
        "whole": description.whole,
        "encoding": description.encoding,
        "separator": description.separator,
        "columns": [
            {
                "name": fact.name,
                "type": fact.kind,
                "role": fact.role,
                "distinct": fact.distinct,
                "missing": fact.missing,
                "marks of missing cells": list(fact.marks),
                "example": fact.example,
            }
            for fact in description.facts
        ],
        "faults": [
            {"column": fault.column, "records": fault.records, "message": line_in_options(line)}
            for fault, line in zip(run.faults, run.lines, strict=True)
        ],
        "unsettled": len(run.left),
    }


SEPARATOR_NAMES = {"\t": "tab"}
"""Separators that a shell does not pass, and their names."""


def next_commands(description: Description) -> tuple[str, ...]:
    """The commands to type: publish records; check a published table, and attack it."""
    path, given = shlex.quote(str(description.path)), description.given_separator
    columns = {"qi": description.of(QUASI_IDENTIFIER) or "COLUMN", "sensitive": description.one(SENSITIVE)}
    notation = {
        "encoding": None if description.encoding == "utf-8" else description.encoding,
        "separator": None if given is None else SEPARATOR_NAMES.get(given, given),
        "missing_value": description.missing,
    }
    if description.published is not None:
        options = option_texts(**columns, group=description.of(GROUP_ROLE), time=description.of(TIME), **notation)
        return f"foreknow check {path} {options}", f"foreknow attack {path} --published {options}"
    parts = [
        "foreknow publish",
        path,
        option_texts(id=description.one(RESPONDENT), time=description.of(TIME), **columns),
    ]
    numbers = [fact.name for fact in description.facts if fact.kind == UNITS and fact.role == QUASI_IDENTIFIER]
    parts += [option_texts(**notation, number=numbers), description.run.options if description.run else ""]
    parts.append("" if description.whole else "--from-disk --workers 2")
    return (" ".join([*filter(None, parts), f"--out {unused_path('release')}"]),)


MIN_VALUES = 2
"""Number of values from which a file is recognized as a hierarchy."""


def hierarchy_in(path: Path, files: InputFiles) -> Hierarchy | None:
    """The hierarchy of a file, as `Hierarchy.read` reads it; None if it is none.

    A table of records has a header, which would be a second root. Cost: the first two lines for most tables.
    """
    try:
        with path.open(encoding=files.encoding) as file:
            first, second = (file.readline().strip()[-1:] for _ in range(2))
        found = Hierarchy.read(path, files.separator, files.encoding) if first and first == second else None
    except (OSError, ValueError, LookupError):
        return None
    return found if found is not None and len(found.leaves) >= MIN_VALUES else None


MAX_DEPTH = 3
"""Number of folders above a file in which a manifest is sought: a part of a key is in ``private/groups.parquet/release-0000``."""


def publication_key(path: Path) -> Path | None:
    """The key to which a file belongs, as ``--groups`` names it: the file, or the folder of a publication from disk.

    None if no manifest above the file lists it, or it is not in the private folder.
    """
    folder = next((each for each in list(path.parents)[:MAX_DEPTH] if (each / MANIFEST).is_file()), None)
    if folder is None or path.suffix.lower() not in (".csv", ".parquet"):
        return None
    name = path.relative_to(folder).as_posix()
    try:
        listed = listed_in(folder / MANIFEST).sums
    except ValueError:
        return None
    is_listed = any(one == name or one.startswith(f"{name}/") for one in listed)
    return (folder.parent if (folder / BEGUN).exists() else path) if is_listed else None


# fmt: off
MISSING_MARKS = frozenset((
    "na", "n/a", "#n/a", "nan", "null", "none", "nil", "unknown", "missing", "not known", "?", "-", "--", ".",
    "unbekannt", "keine angabe", "k.a.", "inconnu", "desconocido", "sconosciuto",
))
# fmt: on
"""Texts that often mean a missing cell."""

NUMBERS, UNITS, CODES, DATES, NAMES, TEXT = "number", "number with unit", "code", "date", "name", "text"
"""Types of columns; a code has digits only, and begins with a zero in some cell."""

CODE = re.compile(r"0\d+")
"""A cell of digits that is not written as a number is."""

MIN_TEXT_LENGTH = 40
"""Mean number of characters of the distinct cells of a column of text."""


def column_facts(column: "pd.Series[Any]") -> ColumnFacts:
    """Facts about one column. Cost: O(n)."""
    column = blank_as_missing(column, ())
    found = distinct_cells(column)
    marks = [code for code, cell in enumerate(found.cells) if isinstance(cell, str) and folded(cell) in MISSING_MARKS]
    known = [code for code in range(len(found.cells)) if code not in set(marks)]
    missing = int(column.isna().sum()) + found.records(marks)
    kind = _kind(column, found, known)
    shown = [code for code in known if _has_unit(found.cells[code])] if kind == UNITS else known
    return ColumnFacts(
        found.name,
        kind,
        len(column),
        len(known),
        missing,
        tuple(found.cells[code] for code in marks),
        str(found.cells[shown[0]]) if shown else "",
        all(str(found.cells[code]).lstrip("+-").removesuffix(".0").isdigit() for code in known),
        _alike(found, known) if kind == NAMES else (),
    )


SHORT = 2
"""Largest number of characters of an abbreviation."""


def _alike(found: DistinctCells, known: list[int]) -> tuple[tuple[tuple[str, int], tuple[str, int]], ...]:
    """Pairs of a text of a few characters and the only longer one that begins with it, with their numbers; case is not read."""
    of_text: dict[str, list[int]] = {}
    for code in known:
        of_text.setdefault(folded(str(found.cells[code])), []).append(code)
    if len(of_text) > FEW_VALUES:
        return ()
    first = {text: max(codes, key=lambda code: int(found.number[code])) for text, codes in of_text.items()}
    told = {text: (str(found.cells[code]), found.records(of_text[text])) for text, code in first.items()}
    longer = {
        text: [other for other in told if len(text) <= SHORT < len(other) and other.startswith(text)] for text in told
    }
    return tuple((told[text], told[others[0]]) for text, others in longer.items() if len(others) == 1)


def _has_unit(cell: object) -> bool:
    number = number_cell(str(cell).strip())
    return number is not None and bool(number.unit)


def _kind(column: "pd.Series[Any]", found: DistinctCells, known: list[int]) -> str:
    """The type of most cells."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return DATES
    if pd.api.types.is_numeric_dtype(column):
        return NUMBERS
    texts = {code: str(found.cells[code]).strip() for code in known}
    half = found.records(known) / 2
    if (
        found.records([code for code, is_date in zip(texts, are_dates([*texts.values()]), strict=True) if is_date])
        > half
    ):
        return DATES
    numbers = {code: number for code, text in texts.items() if (number := number_cell(text)) is not None}
    if found.records([*numbers]) > half:
        if any(number.unit for number in numbers.values()):
            return UNITS
        return CODES if any(CODE.fullmatch(text) for text in texts.values()) else NUMBERS
    lengths = [len(text) for text in texts.values()]
    return TEXT if lengths and float(np.mean(lengths)) > MIN_TEXT_LENGTH else NAMES


RESPONDENT, TIME, SENSITIVE = "respondent", "time", "sensitive"
QUASI_IDENTIFIER, IDENTIFIER, UNUSED = "quasi-identifier", "identifier", "not used"
GROUP_ROLE = "group"
"""Role of a column of the group in a published table."""

# fmt: off
PERSONS = (
    "patient", "person", "respondent", "subject", "participant", "member", "client", "customer", "pseudonym", "pid", "mrn",
    "patnr", "patienten", "patientennr", "patientnr", "patientid", "patid", "patientennummer", "insured",
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


def proposed_roles(table: pd.DataFrame, facts: Sequence[ColumnFacts], named: Mapping[str, str]) -> dict[str, str]:
    """Propose a role for each column but those that are named by role.

    A proposal is a guess: names decide, then types and numbers of distinct cells.
    """
    roles = dict.fromkeys((fact.name for fact in facts), UNUSED)
    free = [fact for fact in facts if fact.name not in named.values()]
    time = named.get(TIME) or _best({fact.name: _time_score(fact) for fact in free}, 2)
    others = [fact for fact in free if fact.name != time]
    respondent = named.get(RESPONDENT) or _best({fact.name: _respondent_score(fact, table, time) for fact in others}, 2)
    others = [fact for fact in others if fact.name != respondent]
    roles |= {fact.name: IDENTIFIER for fact in others if _identifies(fact)}
    others = [fact for fact in others if roles[fact.name] != IDENTIFIER]
    sensitive = named.get(SENSITIVE) or _best(
        {fact.name: _sensitive_score(fact, last=fact is others[-1]) for fact in others}, 2
    )
    rest = [fact for fact in others if fact.name != sensitive]
    traits = [fact for fact in rest if _has(fact, TRAITS)] or [fact for fact in rest if fact.kind != TEXT]
    roles |= {fact.name: QUASI_IDENTIFIER for fact in traits}
    found = {RESPONDENT: respondent, TIME: time, SENSITIVE: sensitive}
    return roles | {name: role for role, name in found.items() if name is not None}


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
    unique = fact.records >= MIN_RECORDS and fact.distinct >= NEARLY_UNIQUE * max(fact.records - fact.missing, 1)
    named = _has(fact, NAMED_PERSONS) or (_has(fact, ("id",)) and not _has(fact, TRAITS))
    return named or (unique and (fact.kind in (NAMES, TEXT) or fact.whole) and not _has(fact, [*TRAITS, *VALUES]))


def _sensitive_score(fact: ColumnFacts, last: bool) -> int:
    if _has(fact, TRAITS) or not 2 <= fact.distinct <= FEW_VALUES or fact.kind in (DATES, TEXT):
        return 0
    return 3 * _has(fact, VALUES) + (fact.kind == NAMES) + last


GROUP_WORDS, GROUP_ADDITIONS = ("group", "bucket", "cluster"), ("id", "number", "no", "nr", "label", "qi")
"""Words of the name of a column of the group, of which one is needed, and words beside them."""

MIN_GENERALIZED = 0.5
"""Share of generalized cells in some column from which a table without a column of the group looks published."""


def group_column(facts: Sequence[ColumnFacts]) -> str | None:
    """The column of the group, by its name and its repeated cells; None without one."""
    for fact in facts:
        words = {*words_of(fact.name)}
        is_named = _has(fact, GROUP_WORDS) and words <= {*GROUP_WORDS, *GROUP_ADDITIONS}
        if is_named and fact.distinct < fact.records:
            return fact.name
    return None


def signs_of_publication(table: pd.DataFrame, facts: Sequence[ColumnFacts], group: str | None) -> str | None:
    """The signs of a published table in a table without a respondent; None if there are too few. Cost: O(n)."""
    cells = {}
    for name in (fact.name for fact in facts if fact.name != group and fact.kind != DATES):
        column = table[name]
        distinct = (cell for cell in column.dropna().unique() if isinstance(cell, str))
        cells[name] = column[column.isin([cell for cell in distinct if is_generalized(cell.strip())])]
    if group is None and max(map(len, cells.values()), default=0) < MIN_GENERALIZED * len(table):
        return None
    named = [] if group is None else [f"{group!r} is a column of the group"]
    shown = [f"{name!r} has cells as {str(found.iloc[0])!r}" for name, found in cells.items() if len(found)]
    return ", ".join([*named, *shown])


SETTLING = {"equal_values": "merge", "missing": "drop", "duplicates": "drop", "ids": "number"}
"""Settings of `Cleaning` that settle faults."""

CHOSEN_FORMAT, CHOSEN_RULE = "FORMAT", "RULE"
"""Placeholders of the format and of the rule that the user chooses."""

MOST_RELEASES = 12
"""Number of days from which a period is proposed that makes at most as many releases."""


def dry_run(
    path: Path, table: pd.DataFrame, files: InputFiles, roles: ColumnRoles, alike: Mapping[str, Mapping[str, str]]
) -> DryRun:
    """Clean a table without options but a period of many days, and then with those that its faults name.

    Where times have two readings, each is tried, and the one with the fewest faults counts. ``alike`` has by column the
    abbreviations whose merging is proposed, folded.
    """
    places = files.places([path], [table])
    period, notes = _releases(table, roles)
    notes = [*notes, *_changing(table, roles, alike)]
    found = _faults(Cleaning(period=period), table, roles, places)
    if not found.faults:
        return DryRun(options=option_texts(per=period), notes=notes)
    advised = [(fault.column, setting) for fault in found.faults for setting in settings_in(fault.way_out)]
    names = {setting.name for _, setting in advised}
    chosen: dict[str, Any] = {name: value for name, value in SETTLING.items() if name in names} | {"period": period}
    numbers = dict.fromkeys(column for column, setting in advised if setting.name == "numbers")
    known = replace(roles, numbers=tuple(numbers))
    formats = next(filter(None, map(_two_formats, found.faults)), [])
    readings = [Cleaning(**chosen, time_format=one) for one in formats] or [Cleaning(**chosen)]
    left = min((_faults(reading, table, known, places).faults for reading in readings), key=len)
    placeholders = {"time_format": CHOSEN_FORMAT if formats else None}
    placeholders["repeated"] = CHOSEN_RULE if any(map(_is_repeated, left)) else None
    options = option_texts(per=chosen.pop("period"), **chosen, **placeholders)
    return DryRun(found.faults, found.lines, options, left, notes)


FIXED = (
    "sex",
    "gender",
    "birth",
    "born",
    "dob",
    "race",
    "ethnicity",
    "geschlecht",
    "geburt",
    "geburtsdatum",
    "geburtsjahr",
)
"""Words of the names of columns that do not change from record to record of a respondent."""


def _changing(table: pd.DataFrame, roles: ColumnRoles, alike: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Numbers of respondents whose fixed quasi-identifiers change, but for spaces, letter case and abbreviations."""
    notes = []
    for name in roles.quasi_identifiers if roles.respondent is not None else ():
        if not set(words_of(name)).isdisjoint(FIXED):
            cells = table[name].map(lambda cell: folded(str(cell)), na_action="ignore").replace(dict(alike[name]))
            several = int(cells.groupby(table[roles.respondent]).nunique().gt(1).sum())
            if several:
                people = counted(several, "respondent has", "respondents have")
                notes.append(f"{name}: {people} more than one value; correct the records, as it should not change.")
    return notes


def _releases(table: pd.DataFrame, roles: ColumnRoles) -> tuple[Any, list[str]]:
    """The period to propose, None for few times; and the releases in words."""
    times, misread, _ = ordered_times(table[roles.time])
    if roles.time == ONE_RELEASE or roles.respondent is None or misread:
        return None, []
    number, records = times.nunique(), table[roles.respondent].value_counts()
    said = (
        f"{roles.time} has {counted(number, 'time')}, of {times.value_counts().median():,.0f} records in the median; "
        f"respondents with one record: {(records == 1).sum():,} of {len(records):,}."
    )
    if number <= MOST_RELEASES:
        return None, [said]
    for period in PERIODS:
        of_period, faults, _ = in_periods(times, period)
        if not faults and (few := of_period.nunique()) <= MOST_RELEASES:
            return period, [f"{said} Each time would be a release; --per {period} makes {few}."]
    return None, [f"{said} Each time is a release."]


def _is_repeated(fault: Fault) -> bool:
    """True for records of one respondent and time that differ."""
    return any(one.name == "repeated" for one in settings_in(fault.way_out))


def _faults(rules: Cleaning, table: pd.DataFrame, roles: ColumnRoles, places: Places) -> InputFaults:
    try:
        rules.together([table], roles, places)
    except InputFaults as error:
        return error
    return InputFaults((), ())


def _two_formats(fault: Fault) -> list[str]:
    """The two formats of times with two readings; empty for other faults."""
    return [one.value for one in settings_in(fault.way_out) if one.name == "time_format"]


MOST_RECORDS = 1_000_000
"""Number of records that are read."""


@contextmanager
def first_records(path: Path, most: int) -> Iterator[Path]:
    """Context manager that yields a scratch file with the first records of a file, or the file itself if it has no more.

    A CSV in UTF-16 is taken whole, and so is a file that cannot be read, of which its reader tells the fault.
    """
    with scratch_folder() as folder:
        scratch = folder / path.name
        write = _first_rows if path.suffix.lower() == ".parquet" else _first_lines
        yield scratch if path.is_file() and write(path, scratch, most) else path


def _first_rows(path: Path, scratch: Path, most: int) -> bool:
    """Write the first rows of a Parquet file; False if it has no more, or is none."""
    try:
        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows <= most:
                return False
            rows = pa.Table.from_batches(file.iter_batches(most)).slice(0, most)
    except (pa.ArrowException, OSError):
        return False
    pq.write_table(rows, scratch)
    return True


def _first_lines(path: Path, scratch: Path, most: int) -> bool:
    """Write the first records of a CSV; False if it has no more. A line that ends within quotation marks is followed by another."""
    with path.open("rb") as file, scratch.open("wb") as copy:
        begun, records = False, -1  # The first line has the names.
        for line in file:
            if records < 0 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return False
            if records == most and not begun:
                return True
            begun ^= line.count(b'"') % 2 == 1
            records += not begun
            copy.write(line)
    return False


def described(path: Path, files: InputFiles, named: Mapping[str, str] = MappingProxyType({})) -> Description:
    """Describe a file, a large one by its `first_records`; ``named`` has the columns that the user named, by role.

    If it is not UTF-8 and no other encoding is named, the likely one is used.

    Raises
    ------
    ValueError
        If the file cannot be read, or has no record.
    """
    with first_records(path, MOST_RECORDS) as read:
        encoding = likely_encoding(read) if files.encoding == "utf-8" and read.is_file() else files.encoding
        codec, mark = file_notation(read, encoding, files.separator)
        # Read as they are written: types are those of the cells.
        names = columns_of(read, encoding, files.separator)
        table = read_table(read, names, encoding, ("", *files.missing), mark)
        table = table.rename(columns={name: str(name).strip() for name in table.columns})
        if table.empty:
            raise ValueError(f"{path} has no record.")
        check_columns(table, named.values(), str(path))
        facts = tuple(column_facts(table[name]) for name in table.columns)
        roles, published = _roles(table, facts, named)
        facts = tuple(fact._replace(role=roles[fact.name]) for fact in facts)
        used = [fact for fact in facts if fact.role in (RESPONDENT, TIME, SENSITIVE, QUASI_IDENTIFIER)]
        marks = tuple(dict.fromkeys([*files.missing, *(text for fact in used for text in fact.marks)]))
        run = _tried(read, facts, InputFiles(encoding, mark, marks))
        whole = read == path
    return Description(path, len(table), codec, mark, facts, run, marks, published, whole, files.separator)


def _roles(
    table: pd.DataFrame, facts: tuple[ColumnFacts, ...], named: Mapping[str, str]
) -> tuple[dict[str, str], str | None]:
    """The roles, and the signs of a published table: of one without a respondent."""
    group = group_column(facts)
    roles = proposed_roles(table, [fact for fact in facts if fact.name != group], named)
    published = None if RESPONDENT in roles.values() else signs_of_publication(table, facts, group)
    if published is None:
        return proposed_roles(table, facts, named), None
    return roles | ({} if group is None else {group: GROUP_ROLE}), published


def _tried(path: Path, facts: tuple[ColumnFacts, ...], files: InputFiles) -> DryRun | None:
    """The dry run of cleaning, if there are columns for it; without a respondent, repeated records are not looked for."""
    by_role = {fact.role: fact.name for fact in reversed(facts)}
    sensitive, respondent, when = by_role.get(SENSITIVE), by_role.get(RESPONDENT), by_role.get(TIME, ONE_RELEASE)
    traits = [fact for fact in facts if fact.role == QUASI_IDENTIFIER]
    if sensitive is None or not traits:
        return None
    columns = [fact.name for fact in traits]
    names = tuple(fact.name for fact in traits if fact.kind == NAMES)
    person = [] if respondent is None else [respondent]
    (table,) = files.read([path], [*person, when, sensitive], [*person, sensitive, *columns], when)
    alike = {fact.name: {folded(short): folded(long) for (short, _), (long, _) in fact.alike} for fact in traits}
    return dry_run(path, table, files, ColumnRoles(sensitive, tuple(columns), respondent, when, names), alike)
