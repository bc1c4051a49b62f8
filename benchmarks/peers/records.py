"""Records, hierarchies and timing for all runners. The file runs in the environment of each program."""

import json
import resource
import sys
import time
from pathlib import Path

import pandas as pd

QUASI_IDENTIFIERS = ["age", "sex", "race", "marital-status", "education"]
CATEGORICAL = QUASI_IDENTIFIERS[1:]
SENSITIVE = "occupation"
K, L, T = 5, 2, 0.5
LONG = 5.0
RUNS = 3


def records(folder: Path) -> pd.DataFrame:
    """Records of Adult: ``row``, the quasi-identifiers and the sensitive attribute."""
    return pd.read_csv(folder / "records.csv")


def ladder(folder: Path, name: str) -> pd.DataFrame:
    """Hierarchy as rows, one per value, from the value itself to ``*``; ages are whole numbers."""
    table = pd.read_csv(folder / "hierarchies" / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    return table.assign(**{"0": table[0].astype(int)}).rename(columns={"0": "number"}) if name == "age" else table


def in_order(folder: Path, name: str) -> list[str]:
    """Values of a categorical attribute, ordered so that values under one label are adjacent."""
    table = ladder(folder, name)
    return table.sort_values(list(table.columns[::-1]), kind="stable")[0].tolist()


def interval(low: float, high: float) -> str:
    """Published interval of a number, in the form that ``judged.py`` reads."""
    return f"{low:g}" if low == high else f"[{low:g},{high:g}]"


def clocked(work, compiles: bool = False):
    """Last result, and the seconds of three runs after a warm-up run; of one run alone if it is long.

    A first run that compiles is never counted.
    """
    seconds: list[float] = []
    for run in range(1 + RUNS):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
        if seconds[-1] > LONG and (run or not compiles):
            return result, seconds[-1:]
    return result, seconds[1:]


def peak() -> float:
    """Peak memory of this process in MiB, including imports and data."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss starts from the memory of the parent process
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def hand_over(published: pd.DataFrame, seconds: list, folder: Path, name: str, **more: object) -> None:
    """Write the published table, and print the measurements as one line of JSON."""
    path = folder / "published" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    published.to_csv(path, index=False)
    print(json.dumps({"seconds": seconds, "peak": peak(), "path": str(path), **more}))


def asked() -> tuple[Path, str]:
    """Folder and call, from the command line."""
    return Path(sys.argv[1]), sys.argv[2]
