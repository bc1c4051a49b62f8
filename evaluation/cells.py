"""Cells: measurements kept in Parquet files, which survive a kill and are found again.

A cell is a mapping of names to scalars, as ``{"history": "exams", "solver": "auto", "seed": 3}``. Its key is BLAKE2b of the
canonical JSON of its description, a fingerprint of its data and the revision of its experiment. Its rows are in a file of its own,
``experiment/key.parquet``, or with those of other cells in ``experiment.parquet``; the former counts where both have them. A file
is written beside its place and renamed: one that exists is complete. The columns `OF_RUN` depend on the run, all others on the key
and the code.
"""

import ast
import glob
import inspect
import json
import pickle
import sysconfig
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec, resolve_name
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import joblib
import numba
import numpy as np
import pandas as pd
import scipy.linalg  # noqa: F401 - only libraries that are loaded can be held to one thread
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from foreknow.evaluation.checks.program import versions
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import check_kind, check_whole
from foreknow.models.tables.atomic_file import atomic_file, locked, remove_torn, scratch_folder

OF_RUN = ("code", "versions", "seconds", "peak_mib")
"""Columns in which two runs of one cell may differ: fingerprint of the code, versions, cost; also those named ``*_seconds``."""

ABANDONED_AFTER = 3600.0
"""Age in seconds after which a file that is being written is that of a killed run."""

TOLERANCE = 1e-6
"""Largest absolute plus relative difference of a number that is measured again; a relative one of 2e-8 has been seen."""

STDLIB = sysconfig.get_path("stdlib")

PLACE = ["filename", "file_row_number"]
"""Columns of the place of a row, which DuckDB adds; no cell has one of these names."""

PROGRAM = "foreknow"
"""Package whose code is in the fingerprints of all measures."""

SCALARS = "is a mapping of names to texts, finite numbers, booleans or None, as {'solver': 'auto', 'seed': 3}"

type Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Experiment:
    """Cells that one function measures.

    Parameters
    ----------
    name : str
        An identifier, that of the files of the kept cells.
    measure : callable
        Function ``measure(cell, rng)``: a tidy DataFrame of at least one row, whose index is not kept. It is defined by ``def``
        in a module, and draws from ``rng`` alone, whose seed derives from the name and the cell.
    cells : sequence of mapping
    revision : int
        Raised by hand where all cells must be measured anew. Files of an earlier revision stay until they are removed by hand.
    data : str or callable
        Fingerprint of the data, or a function of a cell that returns that of its data; it is called once for each cell and call.

    Raises
    ------
    TypeError, ValueError
        If the name is no identifier, the measure no function, a cell no mapping of names to scalars, or two cells are equal.
    """

    name: str
    measure: Callable[[Cell, np.random.Generator], pd.DataFrame]
    cells: Sequence[Cell]
    revision: int = 1
    data: str | Callable[[Cell], str] = ""

    def __post_init__(self) -> None:
        if not str(self.name).isidentifier() or not inspect.isfunction(self.measure):
            raise ValueError(
                f"Experiment: name is {self.name!r} and measure {self.measure!r}; they are an identifier and a function."
            )
        check_whole("Experiment", "revision", self.revision, "revisions")
        descriptions = set()
        for cell in self.cells:
            check_kind(f"experiment {self.name}", "a cell", cell, Mapping, SCALARS)
            for name, value in cell.items():
                is_finite = type(value) in (str, int, bool, type(None)) or (type(value) is float and isfinite(value))
                if not (isinstance(name, str) and is_finite):
                    raise ValueError(f"experiment {self.name}: {name!r} of a cell is {value!r}; a cell {SCALARS}.")
            if (description := _canonical(cell)) in descriptions:
                raise ValueError(f"experiment {self.name}: two cells are {description}, of one key; leave one out.")
            descriptions.add(description)


def run(
    experiments: Sequence[Experiment], folder: "str | Path", *, workers: int = 1, progress: Progress = iter
) -> pd.DataFrame:
    """Measure the cells that are missing or stale, each into ``folder/experiment/key.parquet``, and `read` all.

    Parameters
    ----------
    workers : int
        Number of processes. Each measures one cell at a time, so that rows do not depend on their number. Libraries of linear
        algebra and kernels of Numba have one thread in each; threads that a measure starts itself are not limited.
    progress : callable
        Function of the cells to measure that returns an iterable of the same length, as ``rich.progress.track``.

    Raises
    ------
    TypeError, ValueError
        If a measure returns no DataFrame, an empty one, or a column of another meaning; if all kept cells of an experiment and its
        revision are of other data; if a file in the folder is torn or none of cells; or if another run writes into the folder. An
        error in a measure has a note that names the cell; cells measured before stay.
    """
    check_whole("run", "workers", workers, "processes")
    check_progress("run", progress, "the cells to measure")
    tasks, place = _tasks(experiments), Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with locked(place):
        kept = _kept(tasks, place)
        _check_data(tasks, kept, place)
        remove_torn(place, ABANDONED_AFTER)
        left = [task for key, task in tasks.items() if key not in set(kept.loc[~kept["stale"], "key"])]
        results = Parallel(workers, return_as="generator_unordered")(delayed(_keep)(task, place) for task in left)
        with warnings.catch_warnings():
            # joblib replaces a worker whose memory grew, and loses nothing.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
            for _ in zip(progress([str(task) for task in left]), results, strict=True):
                pass
        return _kept(tasks, place)


def read(experiments: Sequence[Experiment], folder: "str | Path") -> pd.DataFrame:
    """Rows of all kept cells, in the order of the cells, and behind them of cells that no experiment has any more.

    Returns
    -------
    DataFrame
        ``experiment``, the description, the measured columns, ``key``, ``revision``, ``data``, `OF_RUN`, and ``stale``: True if
        other code measured the row, or no experiment has its key. ``seconds`` are of the processor, with compilation of kernels.
        ``peak_mib`` is the largest resident memory of the process during the cell, with imports and with what the process kept of
        earlier cells: an upper bound; NaN on other systems than Linux.
    """
    return _kept(_tasks(experiments), Path(folder))


def pack(experiments: Sequence[Experiment], folder: "str | Path") -> None:
    """Move the rows of the cells of each experiment into one file, ``folder/experiment.parquet``; `read` gives the same rows.

    Raises
    ------
    ValueError
        If a file in the folder is torn or none of cells, or a run writes into the folder.
    """
    place = Path(folder)
    with locked(place):
        for each in experiments:
            packed, paths = place / f"{each.name}.parquet", _paths(place, [each.name])
            if not (loose := [path for path in paths if path != packed]):
                continue
            with atomic_file(packed, private=False) as scratch, _cells(paths) as cells:
                rows, to = f"SELECT * EXCLUDE ({', '.join(PLACE)}) FROM cells", str(scratch).replace("'", "''")
                options = "FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false"
                cells.query("cells", f"COPY ({rows} ORDER BY key, file_row_number) TO '{to}' ({options})")
            for path in loose:
                path.unlink()
            with suppress(OSError):  # The folder has other files.
                (place / each.name).rmdir()


def recompute(
    experiments: Sequence[Experiment], folder: "str | Path", seconds: float, rng: np.random.Generator, fast: float = 5.0
) -> pd.DataFrame:
    """Measure kept cells again in random order, also those of other code, and compare; nothing is written.

    Parameters
    ----------
    seconds : float
        Time within which a cell is begun; at least one is.
    fast : float
        Largest number of seconds that a chosen cell took.

    Returns
    -------
    DataFrame
        One row per cell: ``cell``, ``key`` and ``difference``, the first one of over `TOLERANCE` in words, or an empty text.
    """
    end, tasks = time.monotonic() + seconds, _tasks(experiments)
    kept = _kept(tasks, Path(folder))
    chosen = kept.loc[kept["key"].isin(list(tasks)) & (kept["seconds"] <= fast), "key"].unique()
    found: list[tuple[str, str, str]] = []
    for key in rng.permutation(np.array(chosen, dtype=object)):
        if found and time.monotonic() > end:
            break
        with scratch_folder() as scratch:
            # Read together, so that their columns are of one type.
            new, old = _keep(tasks[key], scratch), _paths(Path(folder), [tasks[key].experiment])
            with _cells(old, beside=[new]) as cells:
                rows = cells.filter(f"key = '{key}'").df().drop(columns=[*OF_RUN]).filter(regex="(?<!_seconds)$")
        is_new = rows["filename"] == str(new)
        before, again = (rows[own].drop(columns=PLACE).reset_index(drop=True) for own in (~is_new, is_new))
        try:
            pd.testing.assert_frame_equal(before, again, check_dtype=False, rtol=TOLERANCE, atol=TOLERANCE)
            found.append((str(tasks[key]), key, ""))
        except AssertionError as error:
            found.append((str(tasks[key]), key, str(error)))
    return pd.DataFrame(found, columns=pd.Index(["cell", "key", "difference"]))


class _Task(NamedTuple):
    """A cell, with all that its measurement and its file need."""

    experiment: str
    measure: Callable[[Cell, np.random.Generator], pd.DataFrame]
    cell: dict[str, Any]
    identity: dict[str, Any]
    code: str

    def __str__(self) -> str:
        return f"{self.experiment} {_canonical(self.cell)}"


def _tasks(experiments: Sequence[Experiment]) -> dict[str, _Task]:
    """Tasks of all cells by their keys, in order."""
    tasks: dict[str, _Task] = {}
    for each in experiments:
        code = code_fingerprint(each.measure)
        for cell in map(dict, each.cells):
            data = each.data(cell) if callable(each.data) else each.data
            identity = {"experiment": each.name, "revision": each.revision, "data": data}
            key = _digest(identity | {"cell": cell})
            if key in tasks:
                raise ValueError(f"two cells are {tasks[key]}; experiments have different names, and cells too.")
            tasks[key] = _Task(each.name, each.measure, cell, identity | {"key": key}, code)
    return tasks


def _kept(tasks: Mapping[str, _Task], folder: Path) -> pd.DataFrame:
    """Table of `read`."""
    order = {key: number for number, key in enumerate(tasks)}
    others = [path.stem for path in folder.glob("*.parquet")] + [
        path.parent.name for path in folder.glob("*/*.parquet")
    ]
    last = ["key", "revision", "data", *OF_RUN]
    tables = [pd.DataFrame(columns=pd.Index(["experiment", *last, *PLACE]))]
    # One experiment after another: columns of one name may be of different types.
    for name in dict.fromkeys([*(task.experiment for task in tasks.values()), *sorted(others)]):
        if paths := _paths(folder, [name]):
            with _cells(paths) as cells:
                tables.append(cells.df())
    tables = tables[1:] or tables
    names = Counter(name for table in tables for name in table)
    # Whole numbers that other experiments lack stay whole.
    whole = [
        [name for name in table if names[name] < len(tables) and table[name].dtype.kind in "iu"] for table in tables
    ]
    tables = [table.astype(dict.fromkeys(own, object)) for table, own in zip(tables, whole, strict=True)]
    rows = pd.concat(tables, ignore_index=True).copy()
    rows = rows.sort_values(
        "key", key=lambda keys: keys.map(order).fillna(len(order)), kind="stable", ignore_index=True
    )
    rows = rows[[*(name for name in rows if name not in [*last, *PLACE]), *last]]
    current = [key in tasks and tasks[key].code == code for key, code in zip(rows["key"], rows["code"], strict=True)]
    return rows.assign(stale=~np.array(current, dtype=bool))


def _check_data(tasks: Mapping[str, _Task], kept: pd.DataFrame, folder: Path) -> None:
    """Raise ValueError if all kept cells of an experiment are of other data."""
    given = {(task.experiment, task.identity["revision"]): set[str]() for task in tasks.values()}
    for task in tasks.values():
        given[task.experiment, task.identity["revision"]].add(task.identity["data"])
    for place, rows in kept.groupby(["experiment", "revision"]):
        found = set(rows["data"])
        if place in given and not found & given[place]:
            raise ValueError(
                f"{folder}: it has cells of the experiment {place[0]} of other data, with the fingerprint {min(found)!r} for "
                f"{min(given[place])!r}; name another folder for these data."
            )


def _keep(task: _Task, folder: Path) -> Path:
    """Measure one cell, and write its file."""
    table, *cost = _measured(task)
    check_kind(f"cell {task}", "its measure", table, pd.DataFrame, "returns a DataFrame of tidy rows")
    about = task.identity | dict(zip(OF_RUN, (task.code, json.dumps(versions()), *cost), strict=True))
    names = [*task.cell, *map(str, table), *about, "stale", *PLACE]
    if table.empty or len({name.lower() for name in names}) < len(names):
        raise ValueError(
            f"cell {task}: its measure gave {table.shape} rows and columns of the names {names}; it has at least one "
            "row, and each name once."
        )
    path = folder / task.experiment / f"{task.identity['key']}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    described = pd.DataFrame({"experiment": task.experiment, **task.cell}, index=range(len(table)))
    with atomic_file(path, private=False) as scratch:
        rows = pd.concat([described, table.reset_index(drop=True)], axis=1).assign(**about)
        # Of a few rows, statistics, dictionaries and the schema of Arrow are four fifths of a file; Zstandard halves one of many.
        rows.to_parquet(
            scratch, index=False, compression="zstd", write_statistics=False, use_dictionary=False, store_schema=False
        )
    return path


def _measured(task: _Task) -> tuple[pd.DataFrame, float, float]:
    """Result of the measure of one cell, computed on one thread, with its processor seconds and the peak of memory in MiB."""
    rng = np.random.default_rng(int(_digest({"experiment": task.experiment, "cell": task.cell}), 16))
    with ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        stack.callback(numba.set_num_threads, numba.get_num_threads())
        numba.set_num_threads(1)
        is_reset, start = _reset_peak(), time.process_time()
        try:
            table = task.measure(dict(task.cell), rng)
        except Exception as error:
            error.add_note(f"in the cell {task}")
            raise
        return table, time.process_time() - start, _peak() if is_reset else float("nan")


def _reset_peak() -> bool:
    """Reset the peak of resident memory of this process; False where the system cannot."""
    try:
        return Path("/proc/self/clear_refs").write_text("5") > 0
    except OSError:
        return False


def _peak() -> float:
    """Peak of resident memory since the last reset, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024


def _paths(folder: Path, experiments: Sequence[str]) -> list[Path]:
    """Files of the cells of some experiments, in order: that of many cells, and those of one."""
    each = (
        path
        for name in experiments
        for path in (folder / f"{name}.parquet", *sorted((folder / name).glob("*.parquet")))
    )
    return [path for path in each if path.exists()]


@contextmanager
def _cells(paths: Sequence[Path], beside: Sequence[Path] = ()) -> Iterator[duckdb.DuckDBPyRelation]:
    """Context manager that yields the rows of some files with their `PLACE`, in order, but those that a file of one cell replaces.

    A column that a file does not have is missing in its rows. Files ``beside`` replace no rows. ValueError if a file is torn, or
    has other rows than those of the cells that its name tells.
    """
    wrong = "is no file of kept cells; move it elsewhere, and cells that it held are measured again"
    names = [glob.escape(str(path)) for path in (*paths, *beside)]
    try:
        with duckdb.connect(":memory:", config={"threads": 1}) as connection:
            rows = connection.read_parquet(
                names, union_by_name=True, hive_partitioning=False, filename=True, file_row_number=True
            )
            needed = ["filename", "experiment", "key", "revision", "data", *OF_RUN[:3]]
            found = rows.project(", ".join(name for name in needed if name in rows.columns)).distinct().df()
            for name, *described in found.reindex(columns=needed).itertuples(index=False):
                path, (experiment, key, *_) = Path(name), described
                is_named = path.stem == experiment or (path.parent.name, path.stem) == (experiment, key)
                if not is_named or any(map(pd.isna, described)):
                    raise ValueError(f"{path} {wrong}.")
            own = ", ".join("'" + path.stem.replace("'", "''") + "'" for path in paths)
            yield rows.filter(f"parse_filename(filename, true) = key OR key NOT IN ({own})")
    except duckdb.IOException as error:
        raise OSError(str(error)) from error
    except duckdb.Error as error:
        raise ValueError(
            f"{paths[0].parent}: a file in it {wrong}. DuckDB says: {str(error).splitlines()[0]}"
        ) from error


def _canonical(content: Mapping[str, Any]) -> str:
    return json.dumps(dict(content), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _digest(content: Mapping[str, Any]) -> str:
    return blake2b(_canonical(content).encode(), digest_size=16).hexdigest()


class _Classes(pickle.Pickler):
    """Pickler that collects the classes and functions of all objects in what it dumps."""

    def __init__(self) -> None:
        super().__init__(BytesIO())
        self.found: dict[Any, None] = {}

    def reducer_override(self, given: Any) -> Any:
        """Note the class of an object, and leave its reduction to pickle."""
        self.found[given if isinstance(given, type) or inspect.isfunction(given) else type(given)] = None
        return NotImplemented


def fingerprint(*given: Any) -> str:
    """Fingerprint of objects: their state, as `joblib.hash` has it, and the code of their classes and functions.

    The code of foreknow is left out, as it is in that of a measure: a new version makes cells stale, and is no change of the data.

    Raises
    ------
    ValueError
        If an object cannot be pickled, or a class or function is defined in no file, as in a notebook.
    """
    classes = _Classes()
    try:
        classes.dump(given)
        own = [
            each
            for each in classes.found
            if each.__module__ == "__main__"
            or (each.__module__.split(".")[0] != PROGRAM and _own_file(each.__module__) is not None)
        ]
        return _digest({"state": joblib.hash(given)} | ({"code": code_fingerprint(*own)} if own else {}))
    except (pickle.PicklingError, AttributeError, TypeError, OSError) as error:
        raise ValueError(
            f"a kept cell needs objects that can be pickled, whose classes and functions are in files: {error}. Define them in a "
            "module, by def and class."
        ) from error


def code_fingerprint(*given: Callable[..., Any]) -> str:
    """BLAKE2b of the code of the modules of functions and classes, and of all modules that these import, directly or not.

    Comments, layout and texts that stand alone, as docstrings, are left out. Modules are those of foreknow but this one, and those
    that are not installed. A name that a package has from one of its modules leads to that module alone. Names that are computed
    are not followed.
    Cost: one parse of each file in a process, 2 s for all of foreknow.
    """
    for cached in (_owner, _own_file):  # A module may have moved since the last call.
        cached.cache_clear()
    found: dict[str, str] = {}
    waiting = {each.__module__: Path(inspect.getfile(each)) for each in given}
    while waiting:
        module, path = waiting.popitem()
        found[module], imports = _parsed(module, path.name == "__init__.py", path.read_text(encoding="utf-8"))
        for source, name, _ in imports:
            owner = _owner(source, name)
            if owner not in {*found, __name__} and (own := _own_file(owner)) is not None:
                waiting[owner] = own
    return _digest(found)


@cache
def _parsed(module: str, is_package: bool, text: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Digest of the code of a module, and of each import the module, the name that is read from it, and the name that is bound."""
    tree, imports, package = ast.parse(text), [], module if is_package else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(alias.name, "", "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            imports += [(source, alias.name, alias.asname or alias.name) for alias in node.names]
    for node in ast.walk(tree):
        for block in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, block, None), list):
                setattr(node, block, [each for each in statements if not _is_text(each)])
    return blake2b(ast.unparse(tree).encode(), digest_size=16).hexdigest(), imports


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def _owner(module: str, name: str) -> str:
    """Module that has a name: a package may import it from another module, or have a module of that name."""
    path = _own_file(module)
    if not name or path is None or path.name != "__init__.py":
        return module
    for source, original, bound in _parsed(module, True, path.read_text(encoding="utf-8"))[1]:
        if bound == name and source != module:
            return _owner(source, original)
    return f"{module}.{name}" if _own_file(f"{module}.{name}") is not None else module


@cache
def _own_file(module: str) -> Path | None:
    """File of a module of foreknow, or of one that is not installed; None for others."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    path = Path(spec.origin) if spec is not None and spec.origin is not None else Path()
    is_installed = "site-packages" in path.parts or path.is_relative_to(STDLIB)
    return path if path.suffix == ".py" and (module.partition(".")[0] == "foreknow" or not is_installed) else None


def keys(experiments: Sequence[Experiment]) -> list[str]:
    """Keys of all cells of some experiments, in order: rows of `read` with other keys are of cells that no experiment has."""
    return list(_tasks(experiments))
