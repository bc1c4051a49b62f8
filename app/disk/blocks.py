"""Blocks of a sorted table: ranges of ranks that depend on nothing but the number of records."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foreknow.models import People, Schema
from foreknow.models.arrays import IntArray

BLOCK_RECORDS = 2**17
"""Default number of records of a block."""

MOST_BLOCKS = 100_000
"""Largest number of blocks of a release, whose parts have numbers of five digits."""

GROUPS_OF_A_BLOCK = 2**32
"""Upper limit of the number of groups of a block: the label of a group is block times limit plus its number in the block."""


def block_ranges(records: int, block: int) -> list[tuple[int, int]]:
    """First rank of each block and of the next one: blocks of at least ``block`` records and less than twice as many.

    The numbers of records of two blocks differ by at most one. A table of fewer records is one block.
    """
    number = max(1, records // block)
    edges = [place * records // number for place in range(number + 1)]
    return list(pairwise(edges))


def read_block(path: Path, start: int, stop: int) -> pa.Table:
    """Rows ``start`` to ``stop`` of a Parquet file; only the row groups that hold them are read."""
    with pq.ParquetFile(path) as file:
        chosen: list[int] = []
        first = before = 0
        for number in range(file.num_row_groups):
            rows = file.metadata.row_group(number).num_rows
            if before < stop and before + rows > start:
                first = first if chosen else before
                chosen.append(number)
            before += rows
        return file.read_row_groups(chosen, use_threads=False).slice(start - first, stop - start)


def people_of(block: pa.Table, schema: Schema, time: Any) -> People:
    """Respondents of a block, with their numbers in the block as identifiers: no Python object is made for each."""
    codes = np.column_stack([block[f"q{a}"].to_numpy() for a in range(len(schema.quasi_identifiers))])
    numbers: Any = np.arange(len(block))
    return People(numbers, codes, schema, time)


def groups_of(label: IntArray, value: IntArray, m: int) -> tuple[IntArray, IntArray]:
    """Groups numbered from 0, -1 for suppressed records, and the number of records of each value in each."""
    shown = label >= 0
    names, number = np.unique(label[shown], return_inverse=True)
    group = np.full(len(label), -1, dtype=np.int64)
    group[shown] = number
    counts = np.bincount(number * m + value[shown].astype(np.int64), minlength=len(names) * m)
    return group, counts.reshape(len(names), m).astype(np.int64)
