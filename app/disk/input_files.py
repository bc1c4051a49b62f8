"""Files of records as queries of DuckDB: Parquet as it is, CSV with the types of its columns."""

import re
from collections.abc import Collection, Hashable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from foreknow.app.disk.engine import LEAST_MEMORY, Engine
from foreknow.app.disk.input_columns import NUMBERS, WHOLE
from foreknow.app.disk.sql_files import exact_pattern, quoted

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
        other columns are found by DuckDB, in each file.
    respondent : str
        Column of the respondent, text in a CSV file.
    whole : sequence of str, optional
        Categories that are whole numbers; by default those of which all cells are, without leading zeros.

    Raises
    ------
    ValueError
        If a column is missing in a file, or has another type than in the first one.
    """
    for path in files:
        _check_columns(path, _read(connection, path, None), names)
    types = dict.fromkeys([str(respondent), *map(str, categories)], "VARCHAR")
    as_text = [(path, _read(connection, path, types)) for path in files]
    if whole is None:
        whole = [name for name in map(str, categories) if all(_is_whole(*each, name) for each in as_text)]
    types |= dict.fromkeys(map(str, whole), "BIGINT")
    relations = [(path, _read(connection, path, types)) for path in files]
    return relations[0][1] if len(files) == 1 else _united(relations, list(map(str, names)), types)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET


def _read(connection: duckdb.DuckDBPyConnection, path: Path, types: dict[str, str] | None) -> duckdb.DuckDBPyRelation:
    """Records of one file; a CSV file with the given types of columns, or all text. A folder named as ``age=30`` is no column."""
    name = exact_pattern(path)
    if _is_parquet(path):
        return connection.read_parquet(name, hive_partitioning=False)
    if types is None:
        return connection.read_csv(name, header=True, all_varchar=True, hive_partitioning=False)
    return connection.read_csv(name, header=True, dtype=types, hive_partitioning=False)


def _united(
    relations: Sequence[tuple[Path, duckdb.DuckDBPyRelation]], names: Sequence[str], exact: Collection[str]
) -> duckdb.DuckDBPyRelation:
    """Records of several files, by the names of their columns. Files without a record are left out, unless all are.

    Raises
    ------
    ValueError
        If a column has another type than in the first file; two types of whole numbers are alike, and two types of numbers in a
        column that is not of ``exact``.
    """
    columns = ", ".join(map(quoted, dict.fromkeys(names)))
    filled = [one for one in relations if one[1].project("1").limit(1).fetchall()] or relations
    (first, united), *others = [(path, relation.project(columns)) for path, relation in filled]
    kinds = list(zip(united.columns, united.types, strict=True))
    for path, relation in others:
        for (name, kind), other in zip(kinds, relation.types, strict=True):
            if not _are_alike(kind, other, name in exact):
                raise ValueError(
                    f"LargeTable: the column {name!r} is of type {kind} in {first}, and of type {other} in {path}; write it in one "
                    "type in all files."
                )
        united = united.union(relation)
    return united


def _are_alike(kind: Any, other: Any, exactly: bool) -> bool:
    """True if the cells of two columns of DuckDB have one common type in which none is rounded."""
    both = {kind.id, other.id}
    return kind == other or both <= WHOLE or (both <= NUMBERS and not exactly)


def _is_whole(path: Path, relation: duckdb.DuckDBPyRelation, name: str) -> bool:
    """True if all cells of a column are whole numbers: of a CSV file, in which it is text, without leading zeros."""
    if _is_parquet(path):
        return dict(zip(relation.columns, relation.types, strict=True))[name].id in WHOLE
    cell = quoted(name)
    other = relation.filter(f"{cell} IS NOT NULL AND NOT regexp_full_match({cell}, '0|-?[1-9][0-9]{{0,17}}')")
    return not other.limit(1).fetchall()


def _check_columns(path: Path, relation: duckdb.DuckDBPyRelation, names: Sequence[Hashable]) -> None:
    missing = [str(name) for name in names if name not in relation.columns]
    if missing:
        other = _same_but_for_case(missing[0], relation.columns)
        raise ValueError(
            f"LargeTable: {path} has no column {missing[0]!r}; it has {', '.join(map(repr, relation.columns))}."
            if other is None
            else f"LargeTable: {path} has the columns {other!r} and {missing[0]!r}, whose names differ in case alone; from "
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
        return list(_read(connection, path, None).columns)
