"""Files and columns in queries of DuckDB, whose paths and names may hold quotes and characters of patterns."""

import re
from collections.abc import Hashable
from pathlib import Path


def parquet_of(*paths: Path) -> str:
    """Rows of some Parquet files, as a table of a query; a folder named as ``value=0`` is not read as a column."""
    return f"read_parquet([{', '.join(_text(exact_pattern(path)) for path in paths)}], hive_partitioning = false)"


def quoted(name: Hashable) -> str:
    """Name of a column in SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def to_parquet(path: Path, in_place: bool = False) -> str:
    """Destination of a query that copies its rows; ``in_place`` writes into a file that exists, which keeps its permissions."""
    return f"TO {_text(str(path))} (FORMAT parquet{', USE_TMP_FILE false' * in_place})"


def exact_pattern(path: Path) -> str:
    """Pattern that matches one path: DuckDB takes the name of each file that it reads for a pattern."""
    return re.sub(r"([*?[])", r"[\1]", str(path))


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
