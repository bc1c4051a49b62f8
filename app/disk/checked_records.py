"""Faults of the records of a table on disk, found before anything is written."""

import duckdb

from foreknow.app.disk.source import LargeTable
from foreknow.app.disk.sql_files import quoted
from foreknow.models.settings import counted


def check_records(table: LargeTable, connection: duckdb.DuckDBPyConnection) -> None:
    """Raise ValueError if a cell is missing, or a respondent has two records in one release.

    `publish_large` finds the same faults release by release. Cost: two readings of the table, and an aggregation on disk.
    """
    schema, relation = table.schema, table.relation(connection)
    names = [schema.respondent, *schema.quasi_identifiers, schema.sensitive]
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    missing = [f"count(*) FILTER ({_missing(name, kinds[name])})" for name in names]
    numbers = relation.aggregate(", ".join(missing)).fetchall()[0]
    for name, number in zip(names, numbers, strict=True):
        if number:
            raise ValueError(
                f"LargeTable: {name!r} is missing in {counted(number, 'record')}; write a value, or drop records without one."
            )
    key = [quoted(schema.respondent), *([] if table.time is None else [quoted(table.time)])]
    columns = ", ".join(f"{column} AS {name}" for column, name in zip(key, ("respondent", "time"), strict=False))
    twice = relation.aggregate(f"{columns}, count(*) AS records", ", ".join(key)).filter("records > 1").limit(1)
    # DuckDB itself needs pytz for a time with zone.
    for row in twice.to_arrow_table().to_pylist():
        where = "" if table.time is None else f" in the release at {row['time']!r}"
        raise ValueError(
            f"respondent {row['respondent']!r} appears twice{where}; a release holds one record per respondent. Drop duplicates, "
            "or name the column of times."
        )


def _missing(name: str, kind: str) -> str:
    """Condition of a missing cell, which may be a NaN."""
    return f"{quoted(name)} IS NULL" + (f" OR isnan({quoted(name)})" if kind in ("FLOAT", "DOUBLE") else "")
