"""Options that several commands share: their flags, help texts and choices."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from foreknow.app.cli.adversary_knowledge import Learning
from foreknow.app.cli.files.columns import Columns, time_column
from foreknow.app.cli.printing.terminal import tracked
from foreknow.models import Cleaning
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.memory import Revision as RevisionRule
from foreknow.models.tables.cleaning.missing_cells import Missing as MissingRule
from foreknow.models.tables.cleaning.repeated_records import Duplicates as DuplicatesRule
from foreknow.models.tables.cleaning.spellings import EqualValues as EqualValuesRule

if TYPE_CHECKING:
    from foreknow.app.disk import Engine


Revision = StrEnum("Revision", ["filter", "product", "chain"])
Gaps = StrEnum("Gaps", ["ignore", "power"])

INPUT_PANEL, KNOWLEDGE_PANEL, OUTPUT_PANEL = "Input", "Knowledge of the adversary", "Output"
"""Headings of the help text under which options stand."""

PUBLISHED_PANEL = "Published tables alone"
"""Heading of the help text for the options of published tables without their original records."""

Records = Annotated[
    Path, typer.Argument(metavar="RECORDS", help="Original records: a CSV or Parquet file, one row per record.")
]
QuasiIdentifiers = Annotated[
    list[str],
    typer.Option(
        "--qi",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Column of a quasi-identifier. Repeatable: --qi age --qi sex.",
    ),
]
Respondent = Annotated[
    str, typer.Option("--id", metavar="COLUMN", rich_help_panel=INPUT_PANEL, help="Column of the respondent.")
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Column of the time; records of one time are published together. By default 'week' if there is one, otherwise "
        "the file is one release.",
    ),
]
Sensitive = Annotated[
    str,
    typer.Option("--sensitive", metavar="COLUMN", rich_help_panel=INPUT_PANEL, help="Column of the sensitive value."),
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN",
        rich_help_panel=PUBLISHED_PANEL,
        help="Column of the group; by default 'group' if there is one, else records with equal --qi are a group.",
    ),
]
Hierarchies = Annotated[
    list[str],
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        rich_help_panel=INPUT_PANEL,
        help="Generalization hierarchy of a quasi-identifier, in ARX format. Repeatable.",
    ),
]
Categorical = Annotated[
    list[str],
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Quasi-identifier whose numbers are codes without an order, such as race. Repeatable.",
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        rich_help_panel=INPUT_PANEL,
        help="Encoding of your CSV and hierarchy files: latin-1, cp1252, utf-16, ...",
    ),
]
Missing = Annotated[
    list[str],
    typer.Option(
        "--missing-value",
        metavar="TEXT",
        rich_help_panel=INPUT_PANEL,
        help="Cell that means a missing value, such as NA. Repeatable. An empty cell is always missing.",
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        rich_help_panel=OUTPUT_PANEL,
        help="Print one JSON object on standard output, for programs; everything else goes to standard error.",
    ),
]
Sure = Annotated[
    float,
    typer.Option(
        "--sure",
        min=0.5,
        max=1,
        metavar="X",
        help="Belief from which an adversary is sure of a value.",
    ),
]
FailOver = Annotated[
    float | None,
    typer.Option(
        "--fail-over",
        min=0,
        max=1,
        metavar="SHARE",
        help="Greatest share of the respondents that may be exposed, from 0 to 1; over it, the exit status is 1.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", rich_help_panel=OUTPUT_PANEL, help="Replace the output of an earlier run.")
]
Classes = Annotated[
    int,
    typer.Option(
        "--classes",
        min=1,
        metavar="N",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Number of intervals of each numeric quasi-identifier in the prior.",
    ),
]
Order = Annotated[
    int,
    typer.Option(
        "--order",
        min=1,
        metavar="N",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Order of the Markov chain of sensitive values.",
    ),
]
RevisionChoice = Annotated[
    Revision,
    typer.Option(
        "--revision",
        metavar="RULE",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Revision of beliefs with --order 2 or more: filter (joint law of the last values), product (as in JS-reduce) or "
        "chain (as in BayFrame).",
    ),
]
GapsChoice = Annotated[
    Gaps,
    typer.Option(
        "--gaps",
        metavar="RULE",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Releases without a record of a respondent: ignore them, or take one step of the chain for each (power).",
    ),
]
PseudoCount = Annotated[
    float,
    typer.Option(
        "--pseudo-count",
        min=0,
        metavar="X",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Number added to every count that the adversary learns from.",
    ),
]
T = Annotated[
    float | None,
    typer.Option(
        "-t",
        min=0,
        metavar="X",
        help="Greatest distance between the distribution of a group and that of the table (t-closeness).",
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        "--beta",
        min=0,
        metavar="X",
        help="Greatest relative increase of a value's frequency in a group over the table (enhanced beta-likeness).",
    ),
]


def least_records(help_text: str, panel: str | None = None) -> Any:
    """Option -k, with the help text and the heading of one command."""
    return typer.Option("-k", min=1, metavar="N", rich_help_panel=panel, help=help_text)


def least_values(help_text: str, panel: str | None = None) -> Any:
    """Option -l, with the help text and the heading of one command."""
    return typer.Option("-l", min=1, metavar="N", rich_help_panel=panel, help=help_text)


def output_folder(help_text: str) -> Any:
    """Option --out, with the help text of one command."""
    return typer.Option("--out", metavar="FOLDER", rich_help_panel=OUTPUT_PANEL, help=help_text)


def corpus_file(help_text: str) -> Any:
    """Option --corpus, with the help text of one command."""
    return typer.Option("--corpus", metavar="FILE", rich_help_panel=KNOWLEDGE_PANEL, help=help_text)


def learning(classes: int, order: int, pseudo_count: float, revision: Revision, gaps: Gaps) -> Learning:
    """Settings of learning from the options of a command."""
    return Learning(classes, order, pseudo_count, cast(RevisionRule, revision.value), cast(GapRule, gaps.value))


def given_options(context: typer.Context) -> frozenset[str]:
    """Names of the options that were given on the command line, or in a file of --config with another value than the default."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    from_file = {
        parameter.name
        for parameter in context.command.params
        if parameter.name in (context.default_map or {})
        # get_default would return the value of the file.
        and _differs(context.params.get(str(parameter.name)), _default(parameter))
    }
    return frozenset(
        name
        for name, source in sources.items()
        if source is not None and (source.name == "COMMANDLINE" or (source.name == "DEFAULT_MAP" and name in from_file))
    )


def check_sure(sure: float) -> None:
    """Raise ValueError unless a belief of this size is in one value only."""
    if sure <= 0.5:
        raise ValueError(f"--sure {sure:g} is not over 0.5; a belief is sure of one value only from there on, as 0.9.")


def _default(parameter: Any) -> Any:
    return parameter.default() if callable(parameter.default) else parameter.default


def _differs(value: Any, default: Any) -> bool:
    return bool(value != default and [value] != [default] and not (not value and not default))


def refuse_unread_options(context: typer.Context, kind: str, chosen: str, options: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError if an option was given that the chosen defense or attack does not read.

    Parameters
    ----------
    context : typer.Context
    kind : {"defense", "attack"}
        The option that chooses.
    chosen : str
        The chosen name.
    options : mapping of name to sequence of str
        The options that each choice reads; an option that none of them reads is read by the command itself.
    """
    specific = {name for names in options.values() for name in names}
    for name in sorted((specific - set(options[chosen])) & given_options(context)):
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        readers = ", ".join(other for other, names in options.items() if name in names)
        raise ValueError(f"{chosen} does not read {flag}; leave it out, or choose --{kind} {readers}.")


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


DISK_PANEL = "Tables larger than memory"
"""Heading of the help text under which the options stand."""

MEMORY, WORKERS = 4.0, 1
"""Memory in GiB and number of processes of an engine, if they are left out."""

FromDisk = Annotated[
    bool,
    typer.Option(
        "--from-disk",
        rich_help_panel=DISK_PANEL,
        help="Read and write Parquet files release by release, without a table in memory. RECORDS is a Parquet or CSV file.",
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        "--memory",
        min=0.5,
        metavar="GB",
        rich_help_panel=DISK_PANEL,
        help="Memory for sorts and joins, without the blocks of the processes; 4 by default. Results do not depend on it.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        rich_help_panel=DISK_PANEL,
        help="Number of processes; 1 by default. Results do not depend on it.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        rich_help_panel=DISK_PANEL,
        help="Dask scheduler, as tcp://10.0.0.1:8786, whose workers treat the blocks and share the folders.",
    ),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        "--scratch",
        metavar="FOLDER",
        rich_help_panel=DISK_PANEL,
        help="Existing folder for what is sorted on disk, which the workers of --scheduler share; by default that of the system.",
    ),
]

Block = Annotated[
    int | None,
    typer.Option(
        "--block",
        min=1,
        metavar="N",
        rich_help_panel=DISK_PANEL,
        help="Least number of records that are grouped together; 131072 by default. Groups depend on it.",
    ),
]


@dataclass(frozen=True)
class DiskOptions:
    """The engine of a command that reads tables larger than memory; None if an option was left out."""

    memory: Memory = None
    workers: Workers = None
    scheduler: Scheduler = None
    scratch: Scratch = None

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
        given = {"memory": self.memory, "workers": self.workers, "scheduler": self.scheduler, "scratch": self.scratch}
        for name, value in (given | {"block": block}).items():
            if value is not None:
                raise ValueError(
                    f"--{name} is read with --from-disk alone; {reason}. Leave it out, or add --from-disk."
                )


@dataclass(frozen=True)
class TableOptions:
    """The table of records, the roles of its columns, and the rules by which it is cleaned."""

    records: Records
    qi: QuasiIdentifiers
    sensitive: Sensitive
    id_: Respondent = "id"
    time: Time = None
    hierarchy: Hierarchies = field(default_factory=list)
    categorical: Categorical = field(default_factory=list)
    encoding: Encoding = "utf-8"
    missing_value: Missing = field(default_factory=list)
    separator: Separator = None
    equal_values: EqualValuesChoice = EqualValues["refuse"]
    missing: MissingChoice = MissingCells["refuse"]
    duplicates: DuplicatesChoice = Duplicates["refuse"]
    time_format: TimeFormat = field(default_factory=list)
    number: Numbers = field(default_factory=list)
    decimal: Decimal = None

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
            tuple(self.hierarchy),
            tuple(self.categorical),
            self.encoding,
            tuple(self.missing_value),
            separator_character(self.separator),
            tuple(self.number),
            cleaning(self.equal_values, self.missing, self.duplicates, self.time_format, self.decimal),
        )

    @property
    def files(self) -> list[Path]:
        """The files that the options name: the records, and the hierarchies."""
        return [self.records, *(Path(text.partition("=")[2]) for text in self.hierarchy)]


@dataclass(frozen=True)
class KnowledgeOptions:
    """Settings by which an adversary learns and revises beliefs."""

    classes: Classes = 3
    order: Order = 1
    pseudo_count: PseudoCount = 0.1
    revision: RevisionChoice = Revision["filter"]
    gaps: GapsChoice = Gaps["ignore"]

    @property
    def learning(self) -> Learning:
        """The settings as the adversary takes them."""
        return learning(self.classes, self.order, self.pseudo_count, self.revision, self.gaps)
