"""Tables on disk from the options of a command, and the options that are read in memory alone."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from foreknow.app.cli.command_shape import given_options
from foreknow.app.cli.files.columns import DEFAULT_TIME
from foreknow.app.cli.options import TableOptions, flag_of
from foreknow.app.cli.terminal import notice
from foreknow.models import Categorical, Hierarchy, Schema

if TYPE_CHECKING:
    from foreknow.app.disk import LargeTable

UNREAD = (
    "encoding", "missing_value", "separator", "equal_values", "missing", "duplicates", "repeated", "worst", "per", "ids", "merge",
    "time_format", "number", "decimal",
)  # fmt: skip
"""Options of the table that need it in memory."""


def refuse_in_memory(context: typer.Context, *names: str) -> None:
    """Raise ValueError if an option was given that a command does not read with --from-disk."""
    for name in sorted({*UNREAD, *names} & given_options(context)):
        flag = flag_of(name)
        way = "Clean the file first" if name in UNREAD else f"Leave {flag} out"
        raise ValueError(
            f"{flag} is not read with --from-disk. {way}, or leave out --from-disk if the table fits into memory."
        )


def large_tables(options: TableOptions, corpus: Path | None = None) -> "tuple[LargeTable, LargeTable | None]":
    """The table of records on disk and that of the corpus, with one schema.

    Raises
    ------
    ValueError
        If a column is missing, a hierarchy does not fit, or the times are text.
    """
    from foreknow.app.disk.large_table import LargeTable, columns_of_file  # DuckDB is loaded where it is used

    files = [path for path in (options.records, corpus) if path is not None]
    trees = dict(text.partition("=")[::2] for text in options.hierarchy)
    named = [*options.categorical, *trees]
    time = options.time
    if time is None and DEFAULT_TIME in columns_of_file(options.records):
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
        kinds[name] = replace(kind, hierarchy=Hierarchy.read(path))
    schema = Schema(kinds, options.sensitive, table.schema.values, options.id_)
    return LargeTable(options.records, schema, time), None if corpus is None else LargeTable(corpus, schema, time)


def notice_interrupted(folder: Path, done: Path) -> None:
    """Print how many whole blocks an interrupted run left in the folder of a command, by their records in ``done``."""
    from foreknow.app.disk.parts import whole_blocks

    if number := whole_blocks(done):
        notice(f"An interrupted run left {number:,} whole {'blocks' if number > 1 else 'block'} in {folder}.")
