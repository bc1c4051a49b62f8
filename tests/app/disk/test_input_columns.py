"""Columns of a table on disk that are refused: names that a release adds, dates without an exact value, types of respondents."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from large_history import visits

from foreknow.app.disk import Engine, LargeTable, publish_large, verify_large
from foreknow.defenses import Anatomy, KAnonymity, Mondrian
from foreknow.models import Categorical, Numeric, Schema

pytestmark = pytest.mark.slow

ROLES = ["age", "sex", "place"]


def replaced(path, columns, people=40, releases=2):
    """A Parquet file of visits with some columns replaced by an expression of DuckDB."""
    frame = visits(people=people, releases=releases)  # noqa: F841 - DuckDB reads it by its name
    duckdb.sql(f"COPY (SELECT * REPLACE ({columns}) FROM frame) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize(
    ("column", "name"), [("place", "group"), ("place", "Group"), ("result", "group"), ("result", "COUNT")]
)
def test_names_that_a_release_adds_are_refused(tmp_path, column, name):
    visits(people=40, releases=1).rename(columns={column: name}).to_parquet(tmp_path / "v.parquet")
    roles = [name if role == column else role for role in ROLES]
    sensitive = name if column == "result" else "result"
    with pytest.raises(ValueError, match=f"LargeTable: the column '{name}' has the name of a column that a release"):
        LargeTable.infer(tmp_path / "v.parquet", roles, sensitive, time="week")
    kinds = {role: Categorical(("f", "m")) if role == "sex" else Numeric() for role in roles}
    with pytest.raises(ValueError, match="rename yours"):
        LargeTable(tmp_path / "v.parquet", Schema(kinds, sensitive, ("v0", "v1")), "week")


@pytest.mark.parametrize(
    ("role", "name"), [("id", "group"), ("week", "Group"), ("id", "_rank"), ("id", "_value"), ("week", "_q1")]
)
def test_names_that_the_key_adds_are_refused(tmp_path, role, name):
    visits(people=40, releases=1).rename(columns={role: name}).to_parquet(tmp_path / "v.parquet")
    respondent, time = (name if one == role else one for one in ("id", "week"))
    with pytest.raises(ValueError, match=f"LargeTable: the column '{name}' has the name of a column that a release"):
        LargeTable.infer(tmp_path / "v.parquet", ROLES, respondent=respondent, time=time)


def test_the_column_of_one_release_is_added(tmp_path):
    visits(people=40, releases=1).rename(columns={"age": "release"}).to_parquet(tmp_path / "v.parquet")
    with pytest.raises(ValueError, match="LargeTable: the column 'release' has the name of a column that a release"):
        LargeTable.infer(tmp_path / "v.parquet", ["release", "sex"])


@pytest.mark.parametrize("defense", [Mondrian(KAnonymity(3)), Anatomy(2)], ids=["mondrian", "anatomy"])
@pytest.mark.parametrize(
    "names",
    [
        {"id": "rank", "week": "count", "age": "respondent", "sex": "value", "place": "q0", "result": "code"},
        {"id": "h", "week": "r", "age": "label", "sex": "code", "place": "cell", "result": "records"},
        {"id": "value", "week": "key", "age": "q1", "sex": "q0", "place": "time", "result": "respondent"},
        {"id": "step", "week": "number", "age": "values", "sex": "domain1", "place": "key", "result": "probabilities"},
    ],
)
def test_other_names_do_not_collide(tmp_path, names, defense):
    """The published parts are those of columns with other names."""
    tables = []
    for number, new in enumerate([{}, names]):
        path, out = tmp_path / f"{number}.parquet", tmp_path / f"out{number}"
        visits(people=60, releases=2).rename(columns=new).to_parquet(path)
        role = {name: new.get(name, name) for name in ("id", "week", "result", *ROLES)}
        table = LargeTable.infer(path, [role[name] for name in ROLES], role["result"], role["id"], role["week"])
        published = publish_large(table, defense, out, block=20, seed=1)
        assert not verify_large(published, KAnonymity(2))["failing"].any()
        parts = [pq.read_table(part) for part in sorted((out / "public").rglob("part-*.parquet"))]
        tables.append(
            pa.concat_tables(parts).select(["group", *(role[name] for name in (*ROLES, "result"))]).to_pydict().values()
        )
    assert list(tables[0]) == list(tables[1])


DAYS = {
    "nanoseconds": ("make_timestamp_ns(1577836800000000123 + 1000 * {number})", "2020-01-01 00:00:00.00000[0-9]123"),
    "infinite date": ("CASE WHEN {number} = 0 THEN DATE '2000-01-01' ELSE DATE 'infinity' END", "infinity"),
    "infinite time": ("CASE WHEN {number} = 0 THEN TIMESTAMP '2000-01-01' ELSE '-infinity' END", "-infinity"),
    "year 12000": ("DATE '12000-01-01' + {number}::INT", "12000-01-0[1-4]"),
    "year 44 BC": ("DATE '0044-03-15 (BC)' + {number}::INT", r"0044-03-1[5-8] \(BC\)"),
}
"""Expressions of a number, and what the message names."""


@pytest.mark.parametrize("kind", DAYS)
@pytest.mark.parametrize("role", ["week", "result", "age"])
def test_dates_without_an_exact_value_are_refused(tmp_path, kind, role):
    number = {"week": "week", "result": "substr(result, 2)::BIGINT", "age": "(age % 3)"}[role]
    make, told = DAYS[kind]
    path = replaced(tmp_path / "v.parquet", f"{make.format(number=number)} AS {role}")
    words = f"LargeTable: the column '{role}' holds {told}; dates and times are of the years"
    with Engine().connection() as connection, pytest.raises(ValueError, match=words):
        LargeTable.infer(path, ROLES, time="week").times(connection)


def test_times_of_a_table_with_its_own_schema_are_checked(tmp_path):
    good = LargeTable.infer(replaced(tmp_path / "g.parquet", "week AS week"), ROLES, time="week")
    path = replaced(tmp_path / "v.parquet", "make_timestamp_ns(1577836800000000123 + week) AS week")
    table = LargeTable(path, good.schema, "week")
    with (
        Engine().connection() as connection,
        pytest.raises(ValueError, match=r"'week' holds .*; dates and times are of"),
    ):
        table.times(connection)


def test_both_zeros_are_one_time(tmp_path):
    path = replaced(tmp_path / "v.parquet", "CASE week WHEN 0 THEN '-0.0'::DOUBLE ELSE 0.0 END AS week")
    with Engine().connection() as connection:
        assert LargeTable.infer(path, ROLES, time="week").times(connection) == [0.0]


@pytest.mark.parametrize("unit", ["timestamp_s", "timestamp_ms", "timestamp", "timestamp_ns"])
def test_the_last_microsecond_is_a_time(tmp_path, unit):
    """Times with whole microseconds are read in each unit."""
    days = "TIMESTAMP '2000-01-01 23:59:59' + to_days(week::INT)"
    path = replaced(tmp_path / "v.parquet", f"({days})::{unit} AS week")
    published = publish_large(LargeTable.infer(path, ROLES, time="week"), Mondrian(KAnonymity(3)), tmp_path / "out")
    assert [str(one.time) for one in published.releases] == ["2000-01-01 23:59:59", "2000-01-02 23:59:59"]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        ("{'a': id}", "STRUCT"),
        ("[id]", r"VARCHAR\[\]"),
        ("MAP([id], [1])", "MAP"),
        ("to_days(substr(id, 2)::INT)", "INTERVAL"),
    ],
)
def test_respondents_are_single_cells(tmp_path, make, kind):
    good = LargeTable.infer(replaced(tmp_path / "g.parquet", "id AS id"), ROLES, time="week")
    path = replaced(tmp_path / "v.parquet", f"{make} AS id")
    words = f"the column 'id' is of type {kind}.*, or that of the respondents UUIDs or binary cells"
    with pytest.raises(ValueError, match=words):
        LargeTable.infer(path, ROLES, time="week")
    with pytest.raises(ValueError, match=words):
        publish_large(LargeTable(path, good.schema, "week"), Mondrian(KAnonymity(3)), tmp_path / "out")


@pytest.mark.parametrize(
    "make",
    [
        "md5(id)::UUID",
        "encode(id)",
        "substr(id, 2)::DECIMAL(9, 2)",
        "DATE '2000-01-01' + substr(id, 2)::INT",
        "TIME '00:00:00' + to_seconds(substr(id, 2)::INT)",
        "TIMESTAMPTZ '2000-01-01 00:00:00+00' + to_days(substr(id, 2)::INT)",
    ],
)
def test_respondents_of_other_scalar_types(tmp_path, make):
    """The groups of `Mondrian` do not depend on the type of the identifiers."""
    path = replaced(tmp_path / "v.parquet", f"{make} AS id")
    published = publish_large(
        LargeTable.infer(path, ROLES, time="week"), Mondrian(KAnonymity(3)), tmp_path / "out", seed=1
    )
    assert sum(one.records for one in published.releases) == len(visits(people=40, releases=2))


@pytest.mark.parametrize("make", ["id", "TIMESTAMPTZ '2000-01-01 00:00:00+00' + to_days(substr(id, 2)::INT)"])
def test_two_records_of_a_respondent_are_refused(tmp_path, make):
    path = replaced(tmp_path / "v.parquet", f"{make} AS id", people=10, releases=2)
    table = LargeTable.infer(path, ROLES)
    with pytest.raises(
        ValueError, match=r"respondent .* appears twice in the release at [01]; .* name the column of times"
    ):
        publish_large(table, Mondrian(KAnonymity(3)), tmp_path / "out")


@pytest.mark.parametrize(("cell", "told"), [("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"), ("1e300", r"1e\+300")])
def test_numbers_without_bounds_are_refused(tmp_path, cell, told):
    path = replaced(
        tmp_path / "v.parquet", f"CASE place WHEN 3 THEN '{cell}'::DOUBLE ELSE place END AS place", people=200
    )
    with pytest.raises(
        ValueError, match=rf"LargeTable: the column 'place' holds numbers from .*{told}.*; they are from"
    ):
        LargeTable.infer(path, ROLES, time="week")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("time", ["week", None])
def test_a_table_without_a_record_is_refused(tmp_path, suffix, time):
    path, frame = tmp_path / f"v.{suffix}", visits()
    empty = frame.iloc[:0]
    empty.to_parquet(path) if suffix == "parquet" else empty.to_csv(path, index=False)
    with pytest.raises(ValueError, match=rf"LargeTable: .*v\.{suffix} has no record; .*Name a file with records"):
        LargeTable.infer(path, ROLES, time=time)
    kinds = {"age": Numeric(0, 99), "sex": Categorical(("f", "m")), "place": Numeric(0, 99)}
    table = LargeTable(path, Schema(kinds, "result", ("v0", "v1")), time)
    with pytest.raises(ValueError, match="has no record"):
        publish_large(table, Mondrian(KAnonymity(3)), tmp_path / "out")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_names_that_differ_in_case_alone_are_refused(tmp_path, suffix):
    path, frame = tmp_path / f"v.{suffix}", visits(people=40, releases=1).rename(columns={"sex": "Sex"})
    frame["sex"] = np.arange(len(frame)) % 3
    pq.write_table(pa.Table.from_pandas(frame), path) if suffix == "parquet" else frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"has no column 'sex'; it has .*'Sex'.*'sex_1'"):
        LargeTable.infer(path, ["age", "sex"])
    assert LargeTable.infer(path, ["age", "Sex"]).schema.quasi_identifiers["Sex"] == Categorical(("f", "m"))
    with pytest.raises(ValueError, match="no column 'Age'; it has 'id', 'age'"):
        LargeTable.infer(path, ["Age"])
