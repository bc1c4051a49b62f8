"""Options by which commands read, clean or refuse the files of the user."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, cast

import typer

from foreknow.app.cli.options import INPUT_PANEL
from foreknow.models import Cleaning
from foreknow.models.tables.cleaning.missing_cells import Missing as MissingRule
from foreknow.models.tables.cleaning.repeated_records import Duplicates as DuplicatesRule
from foreknow.models.tables.cleaning.spellings import EqualValues as EqualValuesRule

EqualValues = StrEnum("EqualValues", ["refuse", "merge", "keep"])
MissingCells = StrEnum("MissingCells", ["refuse", "drop", "category"])
Duplicates = StrEnum("Duplicates", ["refuse", "drop"])

NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
"""Separators by name: a shell passes no tab."""

Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        rich_help_panel=INPUT_PANEL,
        help="Character between the cells of your CSV files: ';', tab, ... By default found from the file.",
    ),
]
EqualValuesChoice = Annotated[
    EqualValues,
    typer.Option(
        "--equal-values",
        metavar="RULE",
        rich_help_panel=INPUT_PANEL,
        help="Values that differ in spaces and letter case only, as 'Flu' and 'flu': refuse the file, merge them into the most "
        "frequent spelling, or keep them as different values.",
    ),
]
MissingChoice = Annotated[
    MissingCells,
    typer.Option(
        "--missing",
        metavar="RULE",
        rich_help_panel=INPUT_PANEL,
        help="Missing cells: refuse the file, drop their records, or make them a category of their own.",
    ),
]
DuplicatesChoice = Annotated[
    Duplicates,
    typer.Option(
        "--duplicates",
        metavar="RULE",
        rich_help_panel=INPUT_PANEL,
        help="Exact copies of records: refuse the file, or drop all but the first.",
    ),
]
TimeFormat = Annotated[
    list[str],
    typer.Option(
        "--time-format",
        metavar="FORMAT",
        rich_help_panel=INPUT_PANEL,
        help="Notation of the times, if it is not recognized or has two readings: %d/%m/%Y, %m/%d/%y, ... Repeatable: "
        "one for each notation of the file.",
    ),
]
Numbers = Annotated[
    list[str],
    typer.Option(
        "--number",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Quasi-identifier of numbers with a unit, as 43 y; the unit is removed. Repeatable.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="CHARACTER",
        rich_help_panel=INPUT_PANEL,
        help="Decimal sign: a comma or a point. By default a comma too, where it cannot separate thousands.",
    ),
]


def cleaning(
    equal_values: EqualValues,
    missing: MissingCells,
    duplicates: Duplicates,
    time_format: Sequence[str],
    decimal: str | None,
) -> Cleaning:
    """Settings of cleaning from the options of a command."""
    return Cleaning(
        cast(EqualValuesRule, equal_values.value),
        cast(MissingRule, missing.value),
        cast(DuplicatesRule, duplicates.value),
        time_format=time_format or None,
        decimal=decimal,
    )


def separator_character(text: str | None) -> str | None:
    """The character of a separator that may be given by its name."""
    return None if text is None else NAMED_SEPARATORS.get(text.lower(), text)
