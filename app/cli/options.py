"""Options that several commands share, as annotations of fields, and the groups of them: the table, and the engine on disk.

The options of a command are the fields of one frozen dataclass, which may hold groups that are dataclasses; see `as_command`.
"""

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import pandas as pd
import typer

from foreknow.app.cli.files.columns import Columns, time_column
from foreknow.app.cli.printing.terminal import tracked
from foreknow.models import Cleaning, History, Schema

if TYPE_CHECKING:
    from foreknow.app.disk import Engine

INPUT_PANEL, KNOWLEDGE_PANEL, OUTPUT_PANEL = "Input", "Knowledge of the adversary", "Output"
PUBLISHED_PANEL, DISK_PANEL = "Published tables alone", "Tables larger than memory"
"""Headings of the help text under which options stand."""

MEMORY, WORKERS = 4.0, 1
"""Memory in GiB and number of processes of an engine, if they are left out."""

NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
"""Separators by name: a shell passes no tab."""


def option(text: str, metavar: str | None = None, panel: str | None = None, *flags: str, **more: Any) -> Any:
    """An option with its help text; its flag is the name of the field, unless others are given."""
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel, **more)


def switch(flag: str, text: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return option(text, None, panel, flag)


GroupColumn = Annotated[
    str | None,
    option(
        "Column of the group; by default 'group' if there is one, else records with equal --qi are a group.",
        "COLUMN",
        PUBLISHED_PANEL,
    ),
]
Encoding = Annotated[
    str, option("Encoding of your CSV and hierarchy files: latin-1, cp1252, utf-16, ...", "NAME", INPUT_PANEL)
]
MissingValues = Annotated[
    list[str],
    option(
        "Cell that means a missing value, such as NA. Repeatable. An empty cell is always missing.",
        "TEXT",
        INPUT_PANEL,
    ),
]
Separator = Annotated[
    str | None,
    option(
        "Character between the cells of your CSV files: ';', tab, ... By default found from the file.",
        "CHARACTER",
        INPUT_PANEL,
    ),
]
EqualValues = Annotated[
    Literal["refuse", "merge", "keep"],
    option(
        "Values that differ in spaces and letter case only, as 'Flu' and 'flu': refuse the file, merge them into the most "
        "frequent spelling, or keep them as different values.",
        "RULE",
        INPUT_PANEL,
    ),
]
MissingCells = Annotated[
    Literal["refuse", "drop", "category"],
    option(
        "Missing cells: refuse the file, drop their records, or make them a category of their own.",
        "RULE",
        INPUT_PANEL,
    ),
]
TimeFormats = Annotated[
    list[str],
    option(
        "Notation of the times, if it is not recognized or has two readings: %d/%m/%Y, %m/%d/%y, ... Repeatable: "
        "one for each notation of the file.",
        "FORMAT",
        INPUT_PANEL,
    ),
]
Sure = Annotated[float, option("Belief from which an adversary is sure of a value.", "X", min=0.5, max=1)]
FailOver = Annotated[
    float | None,
    option(
        "Greatest share of the respondents that may be exposed, from 0 to 1; over it, the exit status is 1.",
        "SHARE",
        min=0,
        max=1,
    ),
]
Pictures = Annotated[
    bool, switch("--pictures", "Draw pictures too, in the folder 'pictures' within that of --out.", OUTPUT_PANEL)
]
Overwrite = Annotated[bool, switch("--overwrite", "Replace the output of an earlier run.", OUTPUT_PANEL)]
FromDisk = Annotated[
    bool,
    switch(
        "--from-disk",
        "Read and write Parquet files release by release, without a table in memory. RECORDS is a Parquet or CSV file.",
        DISK_PANEL,
    ),
]
T = Annotated[
    float | None,
    option(
        "Greatest distance between the distribution of a group and that of the table (t-closeness).",
        "X",
        None,
        "-t",
        min=0,
    ),
]
Beta = Annotated[
    float | None,
    option(
        "Greatest relative increase of a value's frequency in a group over the table (enhanced beta-likeness).",
        "X",
        min=0,
    ),
]


def count(flag: str, text: str, panel: str | None = None) -> Any:
    """An option of a number of at least 1, as -k."""
    return option(text, "N", panel, flag, min=1)


def output_folder(text: str) -> Any:
    """Option --out, with the help text of one command."""
    return option(text, "FOLDER", OUTPUT_PANEL)


def corpus_file(text: str) -> Any:
    """Option --corpus, with the help text of one command."""
    return option(text, "FILE", KNOWLEDGE_PANEL)


def separator_character(text: str | None) -> str | None:
    """The character of a separator that may be given by its name."""
    return None if text is None else NAMED_SEPARATORS.get(text.lower(), text)


def check_sure(sure: float) -> None:
    """Raise ValueError unless a belief of this size is in one value only."""
    if sure <= 0.5:
        raise ValueError(f"--sure {sure:g} is not over 0.5; a belief is sure of one value only from there on, as 0.9.")


@dataclass(frozen=True)
class TableOptions:
    """The table of records, the roles of its columns, and the rules by which it is cleaned."""

    records: Annotated[
        Path, typer.Argument(metavar="RECORDS", help="Original records: a CSV or Parquet file, one row per record.")
    ]
    qi: Annotated[
        list[str], option("Column of a quasi-identifier. Repeatable: --qi age --qi sex.", "COLUMN", INPUT_PANEL)
    ]
    sensitive: Annotated[str, option("Column of the sensitive value.", "COLUMN", INPUT_PANEL)]
    id_: Annotated[str, option("Column of the respondent.", "COLUMN", INPUT_PANEL, "--id")] = "id"
    time: Annotated[
        str | None,
        option(
            "Column of the time; records of one time are published together. By default 'week' if there is one, otherwise "
            "the file is one release.",
            "COLUMN",
            INPUT_PANEL,
        ),
    ] = None
    hierarchy: Annotated[
        list[str],
        option(
            "Generalization hierarchy of a quasi-identifier, in ARX format. Repeatable.", "COLUMN=FILE", INPUT_PANEL
        ),
    ] = field(default_factory=list)
    categorical: Annotated[
        list[str],
        option(
            "Quasi-identifier whose numbers are codes without an order, such as race. Repeatable.",
            "COLUMN",
            INPUT_PANEL,
        ),
    ] = field(default_factory=list)
    encoding: Encoding = "utf-8"
    missing_value: MissingValues = field(default_factory=list)
    separator: Separator = None
    equal_values: EqualValues = "refuse"
    missing: MissingCells = "refuse"
    duplicates: Annotated[
        Literal["refuse", "drop"],
        option("Exact copies of records: refuse the file, or drop all but the first.", "RULE", INPUT_PANEL),
    ] = "refuse"
    time_format: TimeFormats = field(default_factory=list)
    number: Annotated[
        list[str],
        option(
            "Quasi-identifier of numbers with a unit, as 43 y; the unit is removed. Repeatable.", "COLUMN", INPUT_PANEL
        ),
    ] = field(default_factory=list)
    decimal: Annotated[
        str | None,
        option(
            "Decimal sign: a comma or a point. By default a comma too, where it cannot separate thousands.",
            "CHARACTER",
            INPUT_PANEL,
        ),
    ] = None

    @property
    def columns(self) -> Columns:
        """The columns of the tables, with the notation of their files; the column of the time is looked up in the file."""
        mark = separator_character(self.separator)
        return self.columns_at(time_column(self.time, self.records, self.encoding, mark))

    def columns_at(self, time: str) -> Columns:
        """The columns of the tables, with a column of the time."""
        return Columns(
            self.id_,
            time,
            self.sensitive,
            tuple(self.qi),
            hierarchies=tuple(self.hierarchy),
            categorical=tuple(self.categorical),
            encoding=self.encoding,
            missing=tuple(self.missing_value),
            separator=separator_character(self.separator),
            numbers=tuple(self.number),
            cleaning=Cleaning(
                self.equal_values,
                self.missing,
                self.duplicates,
                time_format=self.time_format or None,
                decimal=self.decimal,
            ),
        )

    def read(self, corpus: Path | None = None) -> "ReadTable":
        """The records and those of a corpus, with one schema."""
        columns = self.columns
        table, *others = columns.read(*(path for path in (self.records, corpus) if path is not None))
        schema = columns.schema(table, *others)
        return ReadTable(columns, schema, table, History.read(others[0], schema, columns.time) if others else None)

    @property
    def files(self) -> list[Path]:
        """The files that the options name: the records, and the hierarchies."""
        return [self.records, *(Path(text.partition("=")[2]) for text in self.hierarchy)]


class ReadTable(NamedTuple):
    """A table of records that was read, and the history of the corpus, if there is one."""

    columns: Columns
    schema: Schema
    table: pd.DataFrame
    corpus: History | None

    @property
    def history(self) -> History:
        """The history of the records."""
        return History.read(self.table, self.schema, self.columns.time)


@dataclass(frozen=True)
class DiskOptions:
    """The engine of a command that reads tables larger than memory; None if an option was left out."""

    memory: Annotated[
        float | None,
        option(
            "Memory for sorts and joins, without the blocks of the processes; 4 by default. Results do not depend on it.",
            "GB",
            DISK_PANEL,
            min=0.5,
        ),
    ] = None
    workers: Annotated[
        int | None,
        option("Number of processes; 1 by default. Results do not depend on it.", "N", DISK_PANEL, min=1),
    ] = None
    scheduler: Annotated[
        str | None,
        option(
            "Dask scheduler, as tcp://10.0.0.1:8786, whose workers treat the blocks and share the folders.",
            "ADDRESS",
            DISK_PANEL,
        ),
    ] = None
    scratch: Annotated[
        Path | None,
        option(
            "Existing folder for what is sorted on disk, which the workers of --scheduler share; by default that of the system.",
            "FOLDER",
            DISK_PANEL,
        ),
    ] = None

    def engine(self, description: str) -> "Engine":
        """The engine, whose blocks are shown by a progress bar with a description and the time left."""
        from foreknow.app.disk import Engine  # DuckDB is loaded where it is used

        # A process whose memory has grown ends between two blocks, and another takes its place.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        return Engine(
            MEMORY if self.memory is None else self.memory,
            WORKERS if self.workers is None else self.workers,
            self.scratch,
            self.scheduler,
            progress=lambda results, number: tracked(results, description, number),
        )

    def refuse_given(self, reason: str, block: int | None = None) -> None:
        """Raise ValueError if an option of the engine, or --block, was given, with the reason why it is not read."""
        for name, value in {**vars(self), "block": block}.items():
            if value is not None:
                raise ValueError(
                    f"--{name} is read with --from-disk alone; {reason}. Leave it out, or add --from-disk."
                )
