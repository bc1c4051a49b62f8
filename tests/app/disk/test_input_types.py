"""Types of the columns of a table on disk, and records without a time."""

import datetime
import re
import uuid

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from large_history import in_memory, visits

from foreknow.app.disk import LargeTable, attack_large, publish_large, verify_large
from foreknow.attacks import SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.models import Adversary, Categorical, History, MarkovChain, Numeric, Omega, UniformPrior, View

pytestmark = pytest.mark.slow

WRITERS = {"parquet": "to_parquet", "csv": "to_csv"}


def written(frame, tmp_path, suffix):
    path = tmp_path / f"visits.{suffix}"
    getattr(frame, WRITERS[suffix])(path, index=False)
    return path


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(("missing", "words"), [(1, "1 record has no 'week'"), (3, "3 records have no 'week'")])
def test_records_without_a_time_are_refused(tmp_path, suffix, missing, words):
    frame = visits().astype({"week": "Int64"})
    frame.loc[: missing - 1, "week"] = None
    table = LargeTable.infer(written(frame, tmp_path, suffix), ["age", "sex", "place"], time="week")
    with pytest.raises(ValueError, match=f"LargeTable: {words}; give a time or drop them"):
        publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")


def test_a_time_that_is_not_a_number_is_refused(tmp_path):
    frame = visits()
    week = frame["week"].to_numpy(dtype=float)
    week[5] = np.nan
    columns = pa.Table.from_pandas(frame.drop(columns="week"), preserve_index=False)
    pq.write_table(columns.append_column("week", pa.array(week, from_pandas=False)), tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    with pytest.raises(ValueError, match="1 record has no 'week'"):
        publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")


@pytest.mark.parametrize("suffix", WRITERS)
def test_booleans_and_dates_are_values(tmp_path, suffix):
    frame = visits(releases=2).assign(
        smokes=lambda rows: rows["age"] > 40,
        since=lambda rows: [datetime.date(2020, 1, 1 + place % 3) for place in rows["place"]],
    )
    table = LargeTable.infer(written(frame, tmp_path, suffix), ["smokes", "since", "age"], time="week")
    kinds = table.schema.quasi_identifiers
    assert kinds["smokes"] == Categorical((False, True))
    assert kinds["since"] == Categorical(tuple(datetime.date(2020, 1, day) for day in (1, 2, 3)))
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out", block=50)
    assert sum(one.records for one in published.releases) == len(frame)
    assert not verify_large(published, KAnonymity(4))["failing"].any()


@pytest.mark.parametrize("kind", ["TINYINT", "UBIGINT", "HUGEINT", "FLOAT", "DECIMAL(9, 2)"])
def test_numbers_have_bounds(tmp_path, kind):
    path = tmp_path / "visits.parquet"
    frame = visits()  # noqa: F841 - DuckDB reads it by its name
    duckdb.sql(f"COPY (SELECT * REPLACE (place::{kind} AS place) FROM frame) TO '{path}' (FORMAT parquet)")
    table = LargeTable.infer(path, ["place"], time="week")
    assert table.schema.quasi_identifiers["place"] == Numeric(0, 49)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        ("uuid()", "UUID"),
        ("[age, 1]", r"BIGINT\[\]"),
        ("{'a': age}", "STRUCT"),
        ("TIME '01:00'", "TIME"),
        ("'x'::BLOB", "BLOB"),
        ("TIMESTAMPTZ '2020-01-01 00:00:00+00'", "TIMESTAMP WITH TIME ZONE"),
    ],
)
@pytest.mark.parametrize("role", ["age", "result", "week"])
def test_other_types_are_refused_with_the_name_of_the_column(tmp_path, make, kind, role):
    path = tmp_path / "visits.parquet"
    frame = visits(people=20)  # noqa: F841 - DuckDB reads it by its name
    duckdb.sql(f"COPY (SELECT * REPLACE ({make} AS {role}) FROM frame) TO '{path}' (FORMAT parquet)")
    with pytest.raises(ValueError, match=f"the column '{role}' is of type {kind}.*Write it as text or as a number"):
        LargeTable.infer(path, ["age", "sex"], time="week")


@pytest.mark.parametrize("cell", [None, float("nan")], ids=["missing", "nan"])
def test_a_record_without_respondent_is_refused_as_in_memory(tmp_path, cell):
    """A NaN in a Parquet column of numbers is no missing cell."""
    frame = visits(people=20, releases=1).assign(id=lambda rows: np.arange(len(rows), dtype=float))
    path, ids = tmp_path / "visits.parquet", [cell, *frame["id"][1:]]
    pq.write_table(pa.Table.from_pandas(frame).set_column(0, "id", pa.array(ids, pa.float64())), path)
    table = LargeTable.infer(path, ["age"], time="week")
    words = "has no 'id'; every record needs a respondent. Drop the record, or fill it in."
    with pytest.raises(ValueError, match=f"^a record of the release at 0 {re.escape(words)}$"):
        publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out")
    with pytest.raises(ValueError, match=re.escape(words)):
        View(pd.read_parquet(path), table.schema, 0)


def test_times_in_nanoseconds_are_values(tmp_path):
    path = tmp_path / "visits.parquet"
    frame = visits(releases=1)  # noqa: F841 - DuckDB reads it by its name
    duckdb.sql(
        "COPY (SELECT *, make_timestamp_ns(1577836800000000000 + 86400000000000 * (age % 2)) AS since FROM frame) "
        f"TO '{path}' (FORMAT parquet)"
    )
    table = LargeTable.infer(path, ["since", "age"], time="week")
    days = tuple(datetime.datetime(2020, 1, day) for day in (1, 2))
    assert table.schema.quasi_identifiers["since"] == Categorical(days)
    assert publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out").releases[0].records > 0


def test_a_sensitive_column_of_too_many_values_is_refused(tmp_path, monkeypatch):
    path = written(visits(values=5), tmp_path, "parquet")
    monkeypatch.setattr("foreknow.app.disk.large_table.MOST_VALUES", 4)
    with pytest.raises(ValueError, match="the sensitive column 'result' has 5 values; on disk it has at most 4"):
        LargeTable.infer(path, ["age"], time="week")


@pytest.mark.parametrize("identify", [int, lambda name: str(uuid.UUID(int=int(name)))], ids=["integers", "texts"])
def test_identifiers_of_any_kind(tmp_path, identify):
    """The groups of `Mondrian` do not depend on identifiers; beliefs are named by those of the file."""
    frame = visits().assign(id=lambda rows: [identify(name[1:]) for name in rows["id"]])
    table = LargeTable.infer(written(frame, tmp_path, "parquet"), ["age", "sex", "place"], time="week")
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out", block=50, seed=1)
    adversary = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())
    folder = attack_large(published, adversary, tmp_path / "beliefs")
    releases = in_memory(published, frame)
    beliefs = SequentialAttack(adversary)(releases)
    for number, release in enumerate(releases):
        parts = sorted((folder / f"release-{number:04d}").glob("*.parquet"))
        found = pd.concat([pq.read_table(part).to_pandas() for part in parts]).set_index("respondent")
        expected = beliefs.releases[number].posterior.probabilities
        for row, who in enumerate(release.view.people.respondents):
            dense = np.zeros(4)
            dense[found.loc[who, "values"]] = found.loc[who, "probabilities"]
            np.testing.assert_allclose(dense, expected[row], atol=1e-12)
    assert not verify_large(published, KAnonymity(4))["failing"].any()
    assert sum(len(view) for view in History.read(frame, table.schema)) == sum(
        one.records for one in published.releases
    )
