"""Memory and processes of computations on tables larger than memory."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from joblib import Parallel, delayed

from foreknow.models.extras import installing
from foreknow.models.settings import check_kind, check_range, check_whole, shown

GIB = 2**30

type BlockProgress = Callable[[Iterable[Any], int], Iterable[Any]]
"""Function of the results of the blocks and of their number; it yields them, as a progress bar does."""


@dataclass(frozen=True)
class Engine:
    """Memory and processes that a computation may use. Results do not depend on them.

    Parameters
    ----------
    memory : float
        Memory in GiB, at least 0.5. DuckDB, which sorts and joins on disk, is given half of it, since it exceeds its limit.
    workers : int
        Number of processes that treat blocks, and of DuckDB's threads.
    scratch : path, optional
        Existing folder for what DuckDB sorts on disk; by default that of the system.
    scheduler : str, optional
        Address of a Dask scheduler, as ``"tcp://10.0.0.1:8786"``, whose workers then treat the blocks. They read and write the same
        folders, by the same paths. A block whose worker dies is treated again by another one. Needs the extra ``distributed``.
    progress : callable, optional
        Function of the results of the blocks of a release and of their number, which yields the results, as a progress bar does.

    Raises
    ------
    TypeError, ValueError
        If a setting is not in its range, or ``scratch`` is no folder.
    """

    memory: float = 4.0
    workers: int = 1
    scratch: "Path | str | None" = None
    scheduler: str | None = None
    progress: BlockProgress | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_range("Engine", "memory", self.memory, 0.5, what="a number of GiB")
        check_whole("Engine", "workers", self.workers, "processes")
        if self.scratch is not None:
            check_kind("Engine", "scratch", self.scratch, (str, Path), "is the path of a folder, as '/var/tmp'")
            if not _is_folder(self.scratch):
                raise ValueError(f"Engine: scratch is {shown(str(self.scratch))}, which is no folder; make it first.")
        if self.scheduler is not None:
            check_kind("Engine", "scheduler", self.scheduler, str, "is an address, as 'tcp://10.0.0.1:8786'")
        if self.progress is not None and not callable(self.progress):
            raise TypeError(
                f"Engine: progress is {shown(self.progress)}; it is a function of the results of blocks and their number."
            )

    @contextmanager
    def connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """DuckDB without a file of its own; closed at the end of the block, with its temporary folder removed."""
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{int(self.memory * GIB / 2)}B",
            "threads": int(self.workers),
            # ORDER BY keeps its order all the same; tables without one are written with less memory.
            "preserve_insertion_order": False,
        }
        with (
            database_errors(),
            TemporaryDirectory(prefix="foreknow-", dir=self.scratch) as scratch,
            duckdb.connect(":memory:", config=settings | {"temp_directory": scratch}) as connection,
        ):
            connection.execute("SET enable_progress_bar = false")
            yield connection

    def map[A, B](self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Results of a function of each task, in the order of the tasks."""
        listed = list(tasks)
        results = self._results(function, listed)
        yield from results if self.progress is None else self.progress(results, len(listed))

    def _results[A, B](self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B]:
        if self.scheduler is not None:
            yield from _map_on_cluster(self.scheduler, function, tasks)
        elif self.workers == 1:
            yield from map(function, tasks)
        else:
            # Processes of loky start fresh, without locks and threads of this one, and serve all calls.
            yield from Parallel(int(self.workers), return_as="generator")(delayed(function)(task) for task in tasks)


def as_engine(owner: str, engine: Engine | None) -> Engine:
    """The engine of a call, by default `Engine()`; raises TypeError for anything else."""
    if engine is None:
        return Engine()
    check_kind(owner, "engine", engine, Engine, "is an Engine, as Engine(memory=4, workers=2)")
    return engine


@contextmanager
def database_errors() -> Iterator[None]:
    """Context manager in which errors of DuckDB become those of Python: OSError, MemoryError or ValueError."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if "disk space" in str(error).lower() or "max_temp_directory_size" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise MemoryError(
            f"DuckDB needs more memory than its half of Engine(memory=), and it spilled what it could: {_first_line(error)} Allow "
            "more memory."
        ) from error
    except (duckdb.IOException, duckdb.FatalException, duckdb.InternalException) as error:
        # DuckDB has no error code for a full disk.
        if "no space left" in str(error).lower():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise OSError(_first_line(error)) from error
    except duckdb.Error as error:
        raise ValueError(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _is_folder(path: "str | Path") -> bool:
    try:
        return Path(path).is_dir()
    except ValueError:
        return False


def _map_on_cluster[A, B](scheduler: str, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
    try:
        from distributed import Client
    except ImportError:
        raise ImportError(f"Engine: a scheduler needs Dask. Install it: {installing('distributed')}.") from None
    connect: Any = Client
    with connect(scheduler) as client:
        # Equal tasks are different ones: each writes files.
        yield from client.gather(client.map(function, list(tasks), pure=False))
