"""Options of tables larger than memory: --from-disk, and the memory and the processes of its engine."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foreknow.app.cli.printing.terminal import tracked

if TYPE_CHECKING:
    from foreknow.app.disk import Engine

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
