"""The first records of a large file, by which `foreknow describe` describes it."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

MOST_RECORDS = 1_000_000
"""Number of records that are read."""


@contextmanager
def first_records(path: Path, most: int) -> Iterator[Path]:
    """Context manager that yields a scratch file with the first records of a file, or the file itself if it has no more.

    A CSV in UTF-16 is taken whole, and so is a file that cannot be read, of which its reader tells the fault.
    """
    with TemporaryDirectory(prefix="foreknow-") as folder:
        scratch = Path(folder) / path.name
        write = _first_rows if path.suffix.lower() == ".parquet" else _first_lines
        yield scratch if path.is_file() and write(path, scratch, most) else path


def _first_rows(path: Path, scratch: Path, most: int) -> bool:
    """Write the first rows of a Parquet file; False if it has no more, or is none."""
    try:
        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows <= most:
                return False
            rows = pa.Table.from_batches(file.iter_batches(most)).slice(0, most)
    except (pa.ArrowException, OSError):
        return False
    pq.write_table(rows, scratch)
    return True


def _first_lines(path: Path, scratch: Path, most: int) -> bool:
    """Write the first records of a CSV; False if it has no more. A line that ends within quotation marks is followed by another."""
    with path.open("rb") as file, scratch.open("wb") as copy:
        begun, records = False, -1  # The first line has the names.
        for line in file:
            if records < 0 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return False
            if records == most and not begun:
                return True
            begun ^= line.count(b'"') % 2 == 1
            records += not begun
            copy.write(line)
    return False
