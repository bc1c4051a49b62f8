"""Memory and processes of computations on tables larger than memory."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from joblib import Parallel, delayed

from foreknow.models.settings import check_range, check_whole

GIB = 2**30


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
        folders, by the same paths. A block whose worker dies is treated again by another one. Needs ``foreknow[distributed]``.

    Raises
    ------
    TypeError, ValueError
        If a setting is not in its range.
    """

    memory: float = 4.0
    workers: int = 1
    scratch: "Path | str | None" = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        check_range("Engine", "memory", self.memory, 0.5, what="a number of GiB")
        check_whole("Engine", "workers", self.workers, "processes")

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
            TemporaryDirectory(prefix="foreknow-", dir=self.scratch) as scratch,
            duckdb.connect(":memory:", config=settings | {"temp_directory": scratch}) as connection,
        ):
            yield connection

    def map[A, B](self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Results of a function of each task, in the order of the tasks."""
        if self.scheduler is not None:
            yield from _map_on_cluster(self.scheduler, function, tasks)
        elif self.workers == 1:
            yield from map(function, tasks)
        else:
            # Processes of loky start fresh, without locks and threads of this one, and serve all calls.
            yield from Parallel(int(self.workers), return_as="generator")(delayed(function)(task) for task in tasks)


def _map_on_cluster[A, B](scheduler: str, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("Engine: a scheduler needs Dask: pip install 'foreknow[distributed]'") from None
    connect: Any = Client
    with connect(scheduler) as client:
        # Equal tasks are different ones: each writes files.
        yield from client.gather(client.map(function, list(tasks), pure=False))
