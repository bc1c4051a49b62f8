"""Files of records as queries of DuckDB: Parquet as it is, CSV with the types of its columns."""

import re
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from foreknow.evaluation.large.engine import LEAST_MEMORY, Engine
from foreknow.evaluation.large.sql_files import exact_pattern

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files; all others are text."""


def read_files(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    names: Sequence[Hashable],
    categories: Sequence[Hashable],
    respondent: Hashable,
    whole: Sequence[Hashable] | None = None,
) -> duckdb.DuckDBPyRelation:
    """The records of some files, as a query that is not yet run.

    Parameters
    ----------
    connection : DuckDBPyConnection
    files : sequence of Path
    names : sequence of str
        Columns that the files must have.
    categories : sequence of str
        Columns whose cells are names: of a CSV file, they are text as it is written, as 042, or whole numbers. The types of
        other columns are found by DuckDB.
    respondent : str
        Column of the respondent, text in a CSV file.
    whole : sequence of str, optional
        Categories that are whole numbers; by default those of which all cells are, without leading zeros.

    Raises
    ------
    ValueError
        If a column is missing.
    """
    # A list of paths is allowed, but not in the annotations of DuckDB.
    paths: Any = [exact_pattern(path) for path in files]
    if all(path.suffix.lower() in PARQUET for path in files):
        relation = connection.read_parquet(paths)
        _check_columns(relation, names)
        return relation
    _check_columns(connection.read_csv(paths, header=True, all_varchar=True), names)
    text = dict.fromkeys([str(respondent), *map(str, categories)], "VARCHAR")
    relation = connection.read_csv(paths, header=True, dtype=text)
    numbers = [name for name in map(str, categories) if _is_whole(relation, name)] if whole is None else map(str, whole)
    return connection.read_csv(paths, header=True, dtype=text | dict.fromkeys(numbers, "BIGINT"))


def quoted(name: Hashable) -> str:
    """Name of a column in SQL."""
    return '"' + str(name).replace('"', '""') + '"'


def _is_whole(relation: duckdb.DuckDBPyRelation, name: str) -> bool:
    """True if all cells of a text column are whole numbers without leading zeros."""
    cell = quoted(name)
    other = relation.filter(f"{cell} IS NOT NULL AND NOT regexp_full_match({cell}, '0|-?[1-9][0-9]{{0,17}}')")
    return not other.limit(1).fetchall()


def _check_columns(relation: duckdb.DuckDBPyRelation, names: Sequence[Hashable]) -> None:
    missing = [str(name) for name in names if name not in relation.columns]
    if missing:
        other = _same_but_for_case(missing[0], relation.columns)
        raise ValueError(
            f"LargeTable: the files have no column {missing[0]!r}; they have {', '.join(map(repr, relation.columns))}."
            if other is None
            else f"LargeTable: the files have the columns {other!r} and {missing[0]!r}, whose names differ in case alone; from "
            f"disk names differ in more than case. Rename {missing[0]!r}."
        )


def _same_but_for_case(name: str, columns: Sequence[str]) -> str | None:
    """Earlier column with the name in another case, for which DuckDB renamed the later one, as ``sex_1``; None if there is none."""
    renamed = any(re.fullmatch(re.escape(name) + "_[0-9]+", column) for column in columns)
    same = [column for column in columns if column.lower() == name.lower()]
    return same[0] if renamed and same else None


def columns_of_file(path: Path) -> list[str]:
    """Names of the columns of a file.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it cannot be read.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    with Engine(LEAST_MEMORY).connection() as connection:
        is_parquet = path.suffix.lower() in PARQUET
        name = exact_pattern(path)
        read = connection.read_parquet(name) if is_parquet else connection.read_csv(name, header=True)
        return list(read.columns)
