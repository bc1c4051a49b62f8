"""Tables on disk from the options of a command, cleaned if options ask for it, and the options that are read in memory alone."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import typer

from foreknow.app.cli.command_shape import given_options
from foreknow.app.cli.files.columns import DEFAULT_TIME, check_encoding_used, check_named
from foreknow.app.cli.options import TableOptions, flag_of
from foreknow.app.cli.terminal import error_console, notice
from foreknow.app.publication import ONE_RELEASE
from foreknow.models import Categorical, Hierarchy, Schema
from foreknow.models.tables.atomic_file import scratch_folder
from foreknow.models.tables.faults import stripped
from foreknow.models.tables.table_files import columns_of

if TYPE_CHECKING:
    from foreknow.app.disk import Engine, LargeTable

UNREAD = ("repeated", "worst", "ids")
"""Options of the table that need it in memory."""

CLEANING = {
    "encoding", "separator", "missing_value", "equal_values", "missing", "duplicates", "per", "merge", "time_format", "number",
    "decimal",
}  # fmt: skip
"""Options with which records on disk are cleaned, into a copy."""


def refuse_in_memory(context: typer.Context, *names: str) -> None:
    """Raise ValueError if an option was given that a command does not read with --from-disk."""
    for name in sorted({*UNREAD, *names} & given_options(context)):
        flag = flag_of(name)
        way = "Clean the file first" if name in UNREAD else f"Leave {flag} out"
        raise ValueError(
            f"{flag} is not read with --from-disk. {way}, or leave out --from-disk if the table fits into memory."
        )


def large_tables(
    options: TableOptions, context: typer.Context, engine: "Engine", corpus: Path | None = None
) -> "tuple[LargeTable, LargeTable | None]":
    """The table of records on disk and that of the corpus, with one schema.

    With an option of `CLEANING` they are clean copies, which are removed when the command ends.

    Raises
    ------
    ValueError
        If a column is missing, a hierarchy does not fit, or the times are text; or, as `InputFaults`, with the faults of cells.
    """
    from foreknow.app.disk.large_table import LargeTable, columns_of_file  # DuckDB is loaded where it is used

    files = [path for path in (options.records, corpus) if path is not None]
    trees = dict(text.partition("=")[::2] for text in options.hierarchy)
    named = [*options.categorical, *trees]
    time, source = options.time, list[Path]()
    if given_options(context) & CLEANING:
        time = options.columns.time
        time = None if time == ONE_RELEASE else time
        source, files = (
            files,
            _cleaned(files, options, time, engine, context.with_resource(scratch_folder(engine.scratch))),
        )
    elif time is None and DEFAULT_TIME in columns_of_file(options.records):
        time = DEFAULT_TIME
    elif time is None:
        notice(f"No --time, and no column {DEFAULT_TIME!r}: {options.records.name} is read as one release.")
    table = LargeTable.infer(files, options.qi, options.sensitive, options.id_, time, named)
    kinds = dict(table.schema.quasi_identifiers)
    for name, path in trees.items():
        if name not in kinds:
            raise ValueError(f"--hierarchy {name}={path}: {name!r} is not a column named by --qi; write age=age.csv.")
        kind = kinds[name]
        assert isinstance(kind, Categorical)
        kinds[name] = replace(kind, hierarchy=Hierarchy.read(path, encoding=options.encoding))
    schema = Schema(kinds, options.sensitive, table.schema.values, options.id_)
    tables = [LargeTable(path, schema, time, source[place : place + 1]) for place, path in enumerate(files)]
    return tables[0], None if corpus is None else tables[1]


def _cleaned(files: list[Path], options: TableOptions, time: str | None, engine: "Engine", folder: Path) -> list[Path]:
    """Clean copies of files in a folder; each change is printed."""
    from foreknow.app.disk.cleaned_records import TextNotation, clean_records

    columns = options.columns_at(time or ONE_RELEASE)
    roles = replace(columns.roles, time=time)
    check_encoding_used(columns.encoding, files)
    for path in files:
        written = map(stripped, columns_of(path, columns.encoding, columns.separator))
        check_named(path, pd.DataFrame(columns=[*written]), roles.names)
    notation = TextNotation(columns.encoding, columns.separator, columns.missing)
    with error_console.status("reading and cleaning"):
        made, changes = clean_records(files, roles, columns.cleaning, notation, engine, folder)
    for change in changes:
        notice(change.sentence)
    return made


def notice_interrupted(folder: Path, done: Path) -> None:
    """Print how many whole blocks an interrupted run left in the folder of a command, by their records in ``done``."""
    from foreknow.app.disk.parts import whole_blocks

    if number := whole_blocks(done):
        notice(f"An interrupted run left {number:,} whole {'blocks' if number > 1 else 'block'} in {folder}.")
