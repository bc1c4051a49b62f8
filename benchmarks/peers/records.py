"""What every runner shares: the records, the hierarchies, the clock. It runs in the environment of each program."""

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
    """Adult's records: ``row``, the quasi-identifiers and the sensitive attribute."""
    return pd.read_csv(folder / "records.csv")


def ladder(folder: Path, name: str) -> pd.DataFrame:
    """A hierarchy: one row per value, from the value itself to ``*``; ages are whole numbers."""
    table = pd.read_csv(folder / "hierarchies" / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    return table.assign(**{"0": table[0].astype(int)}).rename(columns={"0": "number"}) if name == "age" else table


def in_order(folder: Path, name: str) -> list[str]:
    """A categorical attribute's values such that those under one label stand together."""
    table = ladder(folder, name)
    return table.sort_values(list(table.columns[::-1]), kind="stable")[0].tolist()


def interval(low: float, high: float) -> str:
    """A number's published range, as the judge reads it."""
    return f"{low:g}" if low == high else f"[{low:g},{high:g}]"


def clocked(work, compiles: bool = False):
    """The last result, and the seconds of three runs after one that warms up; of one alone if that is a long one.

    Where the first run compiles, it is never the one that counts.
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
    """The most memory this process has had, in MiB; imports and data included."""
    status = Path("/proc/self/status")
    if status.exists():  # what the system counts otherwise starts from the memory of the process that started this one
        return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def hand_over(published: pd.DataFrame, seconds: list, folder: Path, name: str, **more: object) -> None:
    """Write what was published, and print what was measured as one line of JSON."""
    path = folder / "published" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    published.to_csv(path, index=False)
    print(json.dumps({"seconds": seconds, "peak": peak(), "path": str(path), **more}))


def asked() -> tuple[Path, str]:
    """The folder and the call of the command line."""
    return Path(sys.argv[1]), sys.argv[2]
