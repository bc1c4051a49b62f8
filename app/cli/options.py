"""Options that several commands share, as annotations of fields, and the groups of them: the table, and the engine on disk.

The options of a command are the fields of one frozen dataclass, which may hold groups that are dataclasses; see `as_command`.
"""

import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import pandas as pd
import typer

from foreknow.app.cli.files.columns import Columns, time_column
from foreknow.app.cli.terminal import notice, tracked
from foreknow.models import Cleaning, History, Schema

if TYPE_CHECKING:
    from foreknow.app.disk import Engine


INPUT_PANEL, KNOWLEDGE_PANEL, OUTPUT_PANEL = "Input", "Knowledge of the adversary", "Output"
PUBLISHED_PANEL, DISK_PANEL, REPORT_PANEL = "Published tables alone", "Tables larger than memory", "Report"
NOISY_PANEL = "Noisy counts"
"""Headings of the help text under which options stand."""

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
TimeFormat = Annotated[
    str | None,
    option(
        "Notation of the times, if it is not recognized or has two readings: %d/%m/%Y, %m/%d/%y, ...",
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
Seed = Annotated[
    int | None,
    option(
        "Seed of intervals, samples and trial publications; by default a new one, which the report names.",
        "N",
        REPORT_PANEL,
        min=0,
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


def flag_of(name: str) -> str:
    """The flag of an option, from the name of its parameter.

    >>> flag_of("k"), flag_of("missing_value"), flag_of("id_")
    ('-k', '--missing-value', '--id')
    """
    name = name.strip("_").replace("_", "-")
    return f"-{name}" if len(name) == 1 else f"--{name}"


def option_text(name: str, value: Any) -> str:
    """An option as the shell reads it, from the name of its parameter; once for each of several values, empty for none.

    >>> option_text("qi", ["birth year", "sex"]), option_text("forward", True), option_text("time", None)
    ("--qi 'birth year' --qi sex", '--forward', '')
    """
    if isinstance(value, bool):
        return flag_of(name) if value else ""
    values = value if isinstance(value, list | tuple) else [] if value is None else [value]
    return " ".join(f"{flag_of(name)} {shlex.quote(str(each))}" for each in values)


def option_texts(**values: Any) -> str:
    """Options as the shell reads them, by the names of their parameters; those without a value are left out."""
    return " ".join(filter(None, (option_text(name, value) for name, value in values.items())))


def count(flag: str, text: str, panel: str | None = None) -> Any:
    """An option of a number of at least 1, as -k."""
    return option(text, "N", panel, flag, min=1)


def output_folder(text: str) -> Any:
    """Option --out, with the help text of one command."""
    return option(text, "FOLDER", OUTPUT_PANEL)


def corpus_file(text: str) -> Any:
    """Option --corpus, with the help text of one command."""
    return option(text, "FILE", KNOWLEDGE_PANEL)


def one_of(kind: str, names: Collection[str]) -> Callable[[str], str]:
    """A function that returns a name if it is one of some, and raises BadParameter otherwise."""

    def checked(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"{name!r} is not {kind}; choose one of {', '.join(names)}.")
        return name

    return checked


def separator_character(text: str | None) -> str | None:
    """The character of a separator that may be given by its name."""
    return None if text is None else NAMED_SEPARATORS.get(text.lower(), text)


def check_sure(sure: float) -> None:
    """Raise ValueError unless a belief of this size is in one value only."""
    if sure <= 0.5:
        raise ValueError(f"--sure {sure:g} is not over 0.5; a belief is sure of one value only from there on, as 0.9.")


def refuse_first(faults: Mapping[str, object]) -> None:
    """Raise ValueError with the first message whose value is true."""
    for message, is_fault in faults.items():
        if is_fault:
            raise ValueError(message)


def check_pictures(pictures: bool, out: Path | None) -> None:
    """Raise ValueError if pictures are asked for and there is no folder for them."""
    if pictures and out is None:
        raise ValueError("--pictures are files, and no folder is named; name one by --out.")


def merges(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Texts to write as others, by column, of --merge.

    >>> merges(["Sex:F=Female", "Sex:M=Male"])
    {'Sex': {'F': 'Female', 'M': 'Male'}}
    """
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        column, colon, pair = text.partition(":")
        before, equals, after = pair.partition("=")
        if not (colon and equals and before and after):
            raise ValueError(f"--merge {text!r} is not COLUMN:TEXT=TEXT; write Sex:F=Female.")
        found.setdefault(column, {})[before] = after
    return found


type Settle = Callable[[Schema, tuple[pd.DataFrame, ...]], tuple[Schema, tuple[pd.DataFrame, ...]]]
"""Schema and tables of a domain that is fixed, from those that were read."""


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
    repeated: Annotated[
        Literal["refuse", "first", "last", "worst"],
        option(
            "Different records of a respondent at one time: refuse the file; keep the first or the last of the file, or the one "
            "with the worst value, by the order of --worst.",
            "RULE",
            INPUT_PANEL,
        ),
    ] = "refuse"
    worst: Annotated[
        list[str],
        option(
            "A sensitive value, the worst first. Repeatable: all of them, for --repeated worst.", "VALUE", INPUT_PANEL
        ),
    ] = field(default_factory=list)
    per: Annotated[
        Literal["week", "month", "quarter", "year"] | None,
        option("Period of one release: days become weeks, months, quarters or years.", "PERIOD", INPUT_PANEL),
    ] = None
    ids: Annotated[
        Literal["refuse", "text", "number"],
        option(
            "Respondents that are equal as numbers, as 000013 and 13: refuse the file; different respondents (text); one "
            "respondent (number).",
            "RULE",
            INPUT_PANEL,
        ),
    ] = "refuse"
    merge: Annotated[
        list[str],
        option("Text that is written as another one, as Sex:F=Female. Repeatable.", "COLUMN:TEXT=TEXT", INPUT_PANEL),
    ] = field(default_factory=list)
    time_format: TimeFormat = None
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
                time_format=self.time_format,
                decimal=self.decimal,
                repeated=self.repeated,
                worst=tuple(self.worst),
                period=self.per,
                ids=self.ids,
                merge=merges(self.merge),
            ),
        )

    def read(self, corpus: Path | None = None, settle: Settle | None = None) -> "ReadTable":
        """The records and those of a corpus, with one schema: that of their values, or the one of ``settle``."""
        columns, changes = self.columns, list[str]()

        def tell(sentence: str) -> None:
            notice(sentence)
            changes.append(sentence)

        tables = columns.read(*(path for path in (self.records, corpus) if path is not None), tell=tell)
        schema = columns.schema(*tables)
        if settle is not None:
            schema, tables = settle(schema, tables)
        table, *others = tables
        known = History.read(others[0], schema, columns.time) if others else None
        return ReadTable(columns, schema, table, known, tuple(changes))

    @property
    def files(self) -> list[Path]:
        """The files that the options name: the records, and the hierarchies."""
        return [self.records, *(Path(text.partition("=")[2]) for text in self.hierarchy)]


class ReadTable(NamedTuple):
    """A table of records that was read, the history of the corpus, if there is one, and what cleaning changed, in sentences."""

    columns: Columns
    schema: Schema
    table: pd.DataFrame
    corpus: History | None
    changes: tuple[str, ...]

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

    workers_within: Annotated[
        float | None,
        option(
            "Seconds that a --scheduler without workers is given until there is one; 60 by default.",
            "S",
            DISK_PANEL,
            min=0,
        ),
    ] = None

    def engine(self, description: str) -> "Engine":
        """The engine, whose blocks are shown by a progress bar with a description and the time left."""
        from foreknow.app.disk import Engine  # DuckDB is loaded where it is used

        # A process whose memory has grown ends between two blocks, and another takes its place.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
        given: dict[str, Any] = {name: value for name, value in vars(self).items() if value is not None}
        return Engine(**given, progress=lambda results, number: tracked(results, description, number))

    def refuse_given(self, reason: str, block: int | None = None) -> None:
        """Raise ValueError if an option of the engine, or --block, was given, with the reason why it is not read."""
        for name, value in {**vars(self), "block": block}.items():
            if value is not None:
                raise ValueError(
                    f"{flag_of(name)} is read with --from-disk alone; {reason}. Leave it out, or add --from-disk."
                )


Kind = Literal["defense", "attack", "estimator"]

WITH_ARTICLE = {"defense": "a defense", "attack": "an attack", "estimator": "an estimator"}


def installed(kind: Kind) -> tuple[EntryPoint, ...]:
    """Entry points of the installed packages for one kind of object, in the order of their names."""
    return tuple(sorted(entry_points(group=f"foreknow.{kind}s"), key=lambda entry: (entry.name, entry.value)))


def choice_names(kind: Kind, built_in: Collection[str]) -> tuple[str, ...]:
    """Names that an option of the command line accepts: the built-in ones, then those of other packages."""
    return (*built_in, *dict.fromkeys(entry.name for entry in installed(kind) if entry.name not in built_in))


def checked_name(kind: Kind, name: str, built_in: Collection[str]) -> str:
    """Return a name if it denotes one object.

    Raises
    ------
    ValueError
        If an installed package uses a built-in name, or two packages use the same name.
    typer.BadParameter
        If nothing has this name.
    """
    found, a_kind = installed(kind), WITH_ARTICLE[kind]
    for other in (*built_in, name):
        packages = ["foreknow"] * (other in built_in) + [_package(entry) for entry in found if entry.name == other]
        if len(packages) > 1:
            raise ValueError(
                f"the packages {' and '.join(packages)} name {a_kind} {other!r}; uninstall all but one of them."
            )
    return one_of(a_kind, choice_names(kind, built_in))(name)


def load_entry_point(kind: Kind, name: str) -> Callable[..., Any]:
    """Load the class or function that another package names.

    Raises
    ------
    ValueError
        If it cannot be loaded, or cannot be called.
    """
    (entry,) = (entry for entry in installed(kind) if entry.name == name)
    named = f"the {kind} {name!r} of the package {_package(entry)}"
    try:
        factory = entry.load()
    except Exception as error:
        raise ValueError(f"{named} cannot be loaded from {entry.value!r}: {error}.") from error
    if not callable(factory):
        raise ValueError(f"{named} is {entry.value!r}; name a class or a function in its entry point.")
    return factory  # type: ignore[no-any-return]


def make_entry_point(kind: Kind, name: str, *arguments: Any, **options: Any) -> Any:
    """Make the object that another package names.

    Raises
    ------
    ValueError
        If its class or function does not take these arguments, or makes something that cannot be called.
    """
    factory = load_entry_point(kind, name)
    try:
        made = factory(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"the {kind} {name!r} cannot be made: {error}.") from error
    if not callable(made):
        raise ValueError(
            f"the {kind} {name!r} is a {type(made).__name__}, which cannot be called; see CONTRIBUTING.md for its protocol."
        )
    return made


def _package(entry: EntryPoint) -> str:
    return "(unknown)" if entry.dist is None else entry.dist.name
