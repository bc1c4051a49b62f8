"""Input files of the command line: their notation, the columns that they have, and the places of their records."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from foreknow.app.cli.printing.terminal import notice
from foreknow.models.tables.cleaning.faults import Places
from foreknow.models.tables.cleaning.spellings import folded, stripped
from foreknow.models.tables.files.line_numbers import SourceFile, places_in
from foreknow.models.tables.files.separators import SEPARATORS
from foreknow.models.tables.files.table_files import columns_of, file_notation, read_table

ONE_RELEASE = "release"
"""Time of a table without a column of the time: all its records are one release, with the time 1."""

DEFAULT_TIME = "week"
"""The column of the time if none is named."""


@dataclass(frozen=True)
class InputFiles:
    """Notation of the user's files.

    Attributes
    ----------
    encoding : str
    separator : str or None
        None: found from the first records of each file.
    missing : tuple of str
        Cells that mean a missing value, besides the empty one.
    """

    encoding: str = "utf-8"
    separator: str | None = None
    missing: tuple[str, ...] = ()

    def read(
        self, paths: Sequence[Path], text: Sequence[str], names: Sequence[str], time: str | None = None
    ) -> tuple[pd.DataFrame, ...]:
        """Read tables; column names lose the spaces around them, and a table without the time `ONE_RELEASE` gets it.

        Parameters
        ----------
        paths : sequence of Path
        text : sequence of str
            Columns that are read as text.
        names : sequence of str
            Columns that the tables must have.
        time : str, optional

        Raises
        ------
        ValueError
            If a file cannot be read, or has not all columns.
        """
        return tuple(self._read(path, text, names, time) for path in paths)

    def places(self, paths: Sequence[Path], tables: Sequence[pd.DataFrame]) -> Places:
        """The places of the records of tables, as `read` returned them."""
        files = [
            SourceFile(path, len(table), *file_notation(path, self.encoding, self.separator))
            for path, table in zip(paths, tables, strict=True)
        ]
        return lambda rows: places_in(files, rows)

    def _read(self, path: Path, text: Sequence[str], names: Sequence[str], time: str | None) -> pd.DataFrame:
        written = columns_of(path, self.encoding, self.separator)
        spaced = {name: stripped(name) for name in written if name != stripped(name)}
        as_written = {plain: name for name, plain in spaced.items()}
        columns = [as_written.get(name, name) for name in text]
        table = read_table(path, columns, self.encoding, ("", *self.missing), self.separator).rename(columns=spaced)
        self._notice_notation(path, spaced)
        if time == ONE_RELEASE and time not in table.columns:
            table = table.assign(**{time: 1})
        check_named(path, table, names)
        return table

    def _notice_notation(self, path: Path, spaced: dict[str, str]) -> None:
        """Print the separator if it was found and is no comma, and the names that lost spaces."""
        _, separator = file_notation(path, self.encoding, self.separator)
        if self.separator is None and separator not in (None, ","):
            notice(f"{path.name} is read with {SEPARATORS[str(separator)]} between its cells.")
        if spaced:
            notice(f"{path.name}: spaces around the column names {', '.join(map(repr, spaced.values()))} removed.")


def check_named(path: Path, table: pd.DataFrame, names: Sequence[str]) -> None:
    """Raise ValueError, naming all of them, if columns are missing."""
    missing = [name for name in dict.fromkeys(names) if name not in table.columns]
    if not missing:
        return
    columns = [str(name) for name in table.columns]
    alike = {name: next((other for other in columns if folded(other) == folded(name)), None) for name in missing}
    hints = "".join(f" For {name!r}, write {other!r}." for name, other in alike.items() if other)
    plural = "column" if len(missing) == 1 else "columns"
    listed = ", ".join(map(repr, columns[:20])) + (", ..." if len(columns) > 20 else "")
    raise ValueError(
        f"{path.name} has no {plural} {', '.join(map(repr, missing))}; it has {listed}.{hints} Name the columns by --id, --time, "
        f"--qi and --sensitive; foreknow describe {path} proposes them."
    )


def time_column(named: str | None, path: Path, encoding: str, separator: str | None) -> str:
    """The column of the time: the one named, else ``week`` if the file has it, else `ONE_RELEASE`, with a notice.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if named is not None:
        return named
    names = [stripped(name) for name in columns_of(path, encoding, separator)]
    if DEFAULT_TIME in names:
        return DEFAULT_TIME
    if ONE_RELEASE not in names:
        notice(f"No --time, and no column {DEFAULT_TIME!r}: {path.name} is read as one release.")
    return ONE_RELEASE
