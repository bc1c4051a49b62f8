"""Engine of computations on tables larger than memory: DuckDB for queries on files, and processes for blocks."""

import errno
import os
import re
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from foreknow.models.advice import Advice, Setting
from foreknow.models.settings import check_folder, check_kind, check_range, check_whole, installing, shown
from foreknow.models.tables.atomic_file import atomic_file, scratch_folder

GIB = 2**30

LEAST_MEMORY = 0.5
"""Smallest memory of an engine, in GiB."""

KILLED = (
    "as systems do when memory runs out. Use fewer workers or smaller blocks, and run it again; a publication or a sequential "
    "attack goes on after the last whole block."
)
"""End of the message on a killed process."""

type BlockProgress = Callable[[Iterable[Any], int], Iterable[Any]]
"""Function of the results of the blocks and of their number; it yields them, as a progress bar does."""


@dataclass(frozen=True)
class Engine:
    """Memory of DuckDB and number of processes of a computation. Results do not depend on them.

    Parameters
    ----------
    memory : float
        Memory in GiB, at least 0.5, for DuckDB, which sorts and joins on disk: its limit is half of it, since it exceeds its limit.
        Blocks are not bounded by it: each worker holds one block, whose memory is in proportion to the number of its records.
    workers : int
        Number of processes that treat blocks, each on one thread, and of DuckDB's threads. With ``scheduler``, of DuckDB's alone.
    scratch : path, optional
        Existing folder for what DuckDB sorts on disk, and for the files of `measure_large` and `verify_large`; by default that of
        the system. With a scheduler, the default for these files is ``private`` of the publication, which the workers share.
    scheduler : str, optional
        Address of a Dask scheduler, as ``"tcp://10.0.0.1:8786"``, whose workers then treat the blocks. They read and write the same
        folders, by the same paths. A block whose worker dies is treated again by another one. Needs the extra ``distributed``.
    workers_within : float
        Seconds that a scheduler without workers is given until there is one; a warning tells after 10.
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
    workers_within: float = 60.0
    progress: BlockProgress | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_range("Engine", "memory", self.memory, LEAST_MEMORY, what="a number of GiB")
        check_whole("Engine", "workers", self.workers, "processes")
        check_folder("Engine", "scratch", self.scratch)
        check_range("Engine", "workers_within", self.workers_within, 0, what="a number of seconds")
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
            scratch_folder(self.scratch) as scratch,
            duckdb.connect(":memory:", config=settings | {"temp_directory": str(scratch)}) as connection,
        ):
            # Times with zone are written, and hashed as text, in the zone of the session.
            connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
            yield connection

    def map[A, B](self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Results of a function of each task, in the order of the tasks.

        Raises
        ------
        ChildProcessError
            If a process was killed.
        """
        listed = list(tasks)
        results = self._results(partial(_on_one_thread, function), listed)
        yield from results if self.progress is None else self.progress(results, len(listed))

    def _results[A, B](self, function: Callable[[A], B], tasks: list[A]) -> Iterator[B]:
        if self.scheduler is not None:
            return _map_on_cluster(self.scheduler, self.workers_within, function, tasks)
        if self.workers == 1:
            return map(function, tasks)
        return _map_on_processes(int(self.workers), function, tasks)


def as_engine(owner: str, engine: Engine | None) -> Engine:
    """The engine of a call, by default `Engine()`; raises TypeError for anything else."""
    if engine is None:
        return Engine()
    check_kind(owner, "engine", engine, Engine, "is an Engine, as Engine(memory=4, workers=2)")
    return engine


@contextmanager
def shared_folder(engine: Engine, beside: Path) -> Iterator[Path]:
    """Temporary folder that all workers of an engine can read: in its ``scratch``, or ``beside`` if it has a scheduler alone."""
    is_beside = engine.scratch is None and engine.scheduler is not None
    if is_beside and not os.access(beside, os.W_OK | os.X_OK):
        raise ValueError(
            f"Engine: {beside} cannot be written to by this user, and the workers of {engine.scheduler} would read files there; "
            "give scratch= (--scratch), a folder that they share."
        )
    with scratch_folder(beside if is_beside else engine.scratch) as folder:
        yield folder.absolute()


@contextmanager
def database_errors() -> Iterator[None]:
    """Context manager in which errors of DuckDB become those of Python: OSError, MemoryError or ValueError."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if "disk space" in str(error).lower() or "max_temp_directory_size" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise MemoryError(
            "DuckDB needs more memory than its half of what Engine(memory=), or --memory of the command, allows, and it spilled "
            f"what it could: {_first_line(error)} Allow more memory."
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


def _on_one_thread[A, B](function: Callable[[A], B], task: A) -> B:
    """Result of a function, whose products of matrices use one thread: processes are what `Engine` counts."""
    with threadpool_limits(1):
        return function(task)


def _map_on_processes[A, B](workers: int, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
    """Results of the processes of loky, which start fresh, without locks and threads of this one, and serve all calls."""
    try:
        yield from Parallel(workers, return_as="generator")(delayed(function)(task) for task in tasks)
    except TerminatedWorkerError as error:
        # Loky keeps the error until the interpreter ends, and with its traceback the frames and connections of the callers.
        error.__traceback__ = None
        raise ChildProcessError(f"one of {workers} processes was killed, {KILLED}") from error


SOON = 10.0
"""Seconds after which a message tells that there are no workers yet."""


def _wait_for_workers(client: Any, scheduler: str, within: float) -> None:
    """Wait until a scheduler has a worker. Raise ValueError if it has none after some seconds."""
    start = f"dask worker {scheduler} starts some"
    for seconds in (min(SOON, within), max(within - SOON, 0.0)):
        try:
            return client.wait_for_workers(1, timeout=seconds)  # type: ignore[no-any-return]
        except TimeoutError:
            if seconds == SOON < within:
                warnings.warn(f"{scheduler} has no workers yet; {start}. Waiting {within:g} s for them.", stacklevel=2)
    longer = Setting("workers_within", 10 * within)
    raise ValueError(
        Advice(f"Engine: {scheduler} has no workers after {within:g} s; {start}. To wait longer: ", longer, ".")
    )


def _map_on_cluster[A, B](scheduler: str, within: float, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
    """Results of the workers of a Dask cluster, each given as soon as those before it are, and then forgotten."""
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise ImportError(f"Engine: a scheduler needs Dask. Install it: {installing('distributed')}.") from None
    connect: Any = Client
    with connect(scheduler) as client:
        _wait_for_workers(client, scheduler, within)
        # Equal tasks are different ones: each writes files.
        futures = client.map(function, list(tasks), pure=False)[::-1]
        while futures:
            try:
                result = futures.pop().result()
            except KilledWorker as error:
                raise ChildProcessError(f"workers of {scheduler} were killed, {KILLED}") from error
            yield result


def parquet_of(*paths: Path) -> str:
    """Rows of some Parquet files, as a table of a query; a folder named as ``value=0`` is not read as a column."""
    return f"read_parquet([{', '.join(literal(exact_pattern(path)) for path in paths)}], hive_partitioning = false)"


def quoted(name: Hashable) -> str:
    """Name of a column in SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def write_rows(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> Path:
    """Write the rows of a query into a Parquet file, whole or not at all, which its owner alone can read."""
    with atomic_file(path) as scratch:
        # Written in place, so that the file keeps its permissions.
        connection.execute(f"COPY ({query}) TO {literal(str(scratch))} (FORMAT parquet, USE_TMP_FILE false)")
    return path


def exact_pattern(path: Path) -> str:
    """Pattern that matches one path: DuckDB takes the name of each file that it reads for a pattern."""
    return re.sub(r"([*?[])", r"[\1]", str(path))


def literal(text: str) -> str:
    """Text in SQL."""
    return "'" + text.replace("'", "''") + "'"
