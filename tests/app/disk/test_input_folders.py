"""Input files and folders whose names DuckDB would read as columns, and several files with columns of other orders and types."""

import datetime

import numpy as np
import pandas as pd
import pytest
from large_history import bytes_of, visits

from foreknow.app.disk import (
    Engine,
    LargeTable,
    attack_large,
    measure_large,
    publish_large,
    verify_large,
)
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import DistinctDiversity, JSReduce, KAnonymity, Mondrian, TCloseness
from foreknow.models import Adversary, GroupMessages, MarkovChain, Omega, UniformPrior

pytestmark = pytest.mark.slow

ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, 0.6 * np.eye(4) + 0.1), estimator=Omega())
COLUMNS = ["age", "sex", "place"]
NAMED = ["rank=1/value=0", "group=0/respondent=p1", "step=0/q0=3", "result=v0/week=1"]


def on_disk(path, frame):
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", NAMED)
def test_a_folder_named_as_a_column_changes_nothing(tmp_path, name):
    """DuckDB reads ``value=0`` in a path as a column ``value``, unless it is told not to."""
    source = on_disk(tmp_path / "r.parquet", visits(people=120))
    table, made = LargeTable.infer(source, COLUMNS, time="week"), []
    requirement = KAnonymity(5) & DistinctDiversity(3) & TCloseness(0.3)
    for folder in (tmp_path / "plain", tmp_path / name):
        folder.mkdir(parents=True)
        engine = Engine(scratch=folder)
        published = publish_large(
            table, JSReduce(3, 0.5, 0.6), folder / "out", ADVERSARY, block=40, seed=7, engine=engine
        )
        verdicts = verify_large(published, requirement, engine=engine)
        attacks = {"sequential": SequentialAttack(ADVERSARY), "joint": JointAttack(ADVERSARY, GroupMessages())}
        beliefs = {
            each: attack_large(published, attack, folder / each, engine=engine) for each, attack in attacks.items()
        }
        risks = [measure_large(published, each, ADVERSARY, engine=engine).risk for each in beliefs.values()]
        made.append(([bytes_of(folder / each) for each in ("out", *beliefs)], verdicts, *risks))
    (plain, *tables), (named, *others) = made
    assert plain == named
    for one, other in zip(tables, others, strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["age=30", "sex=f", "week=2", "id=3", "result=v0"])
def test_a_file_in_a_folder_named_as_a_column(tmp_path, suffix, name):
    frame = visits(people=60)
    plain, named = (on_disk(tmp_path / each / f"r.{suffix}", frame) for each in ("plain", name))
    one, other = (LargeTable.infer(path, COLUMNS, time="week") for path in (plain, named))
    assert one.schema == other.schema
    made = [
        publish_large(each, Mondrian(KAnonymity(4)), path.parent / "out", seed=1)
        for each, path in ((one, plain), (other, named))
    ]
    assert bytes_of(made[0].folder / "public") == bytes_of(made[1].folder / "public")


@pytest.mark.parametrize("suffixes", [("parquet", "parquet"), ("csv", "csv")])
def test_several_files_are_one_table_by_the_names_of_their_columns(tmp_path, suffixes):
    frame = visits(people=80)
    first, second = frame[frame["week"] < 2], frame[frame["week"] == 2]
    whole = on_disk(tmp_path / f"whole.{suffixes[0]}", frame)
    files = [
        on_disk(tmp_path / f"first.{suffixes[0]}", first),
        on_disk(tmp_path / f"second.{suffixes[1]}", second[list(frame.columns)[::-1]].assign(more=1.5)),
        on_disk(tmp_path / f"empty.{suffixes[0]}", frame[:0]),
    ]
    one, other = (LargeTable.infer(each, COLUMNS, time="week") for each in (whole, files))
    assert one.schema == other.schema
    for number, table in enumerate((one, other)):
        publish_large(table, Mondrian(KAnonymity(4)), tmp_path / str(number), seed=1)
    assert bytes_of(tmp_path / "0" / "public") == bytes_of(tmp_path / "1" / "public")


@pytest.mark.parametrize("column", ["region", "result"])
def test_csv_and_parquet_files_are_one_table(tmp_path, column):
    """Codes of a CSV file are whole numbers where those of the Parquet file are, and text where they are text."""
    frame = visits(people=80).assign(region=lambda each: each["age"] // 30)
    for cells in (frame[column].astype(str), frame["region"]):
        changed = frame.assign(**{column: cells})
        files = [
            on_disk(tmp_path / "a.parquet", changed[changed["week"] < 2]),
            on_disk(tmp_path / "b.csv", changed[changed["week"] == 2]),
        ]
        whole = on_disk(tmp_path / "c.parquet", changed)
        one, other = (
            LargeTable.infer(each, ["age", "region"], time="week", categorical=["region"]) for each in (whole, files)
        )
        assert one.schema == other.schema


def test_numbers_of_two_types_are_not_rounded(tmp_path):
    frame = visits(people=40)
    files = [on_disk(tmp_path / "a.parquet", frame[frame["week"] == 0])]
    files.append(on_disk(tmp_path / "b.parquet", frame[frame["week"] == 1].assign(age=90.75)))
    assert LargeTable.infer(files, COLUMNS, time="week").schema.quasi_identifiers["age"].bounds[1] == 90.75


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [
        ("id", 1, 0.4),
        ("id", 1, "p"),
        ("result", 1, 1.4),
        ("result", True, 2),
        ("age", 20, "old"),
        ("week", datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12)),
    ],
)
def test_columns_of_two_types_are_refused(tmp_path, column, first, second):
    """DuckDB would convert the cells of the second file to the type of the first one, and so round times and identifiers."""
    frame = visits(people=4, releases=1)
    files = [
        on_disk(tmp_path / name, frame.assign(**{column: pd.Series([cell] * len(frame), frame.index)}))
        for name, cell in (("a.parquet", first), ("b.parquet", second))
    ]
    with pytest.raises(
        ValueError, match=rf"the column '{column}' is of type .* in .*a\.parquet, and of type .* in .*b\.parq"
    ):
        LargeTable.infer(files, COLUMNS, time="week")


@pytest.mark.parametrize("role", ["sex", "result", "week"])
def test_whole_numbers_beyond_64_bits_are_refused(tmp_path, role):
    frame = visits(people=4, releases=1).assign(**{role: np.uint64(2**64 - 1)})
    table = on_disk(tmp_path / "r.parquet", frame)
    with pytest.raises(ValueError, match=rf"the column '{role}' holds 18446744073709551615; .* whole numbers from"):
        publish_large(
            LargeTable.infer(table, COLUMNS, time="week", categorical=["sex"]),
            Mondrian(KAnonymity(2)),
            tmp_path / "out",
        )


def test_zero_has_no_sign(tmp_path):
    frame = visits(people=20, releases=1).assign(
        age=-0.0, result=[0.0, -0.0] * 8 + [1.0] * (len(visits(people=20, releases=1)) - 16)
    )
    schema = LargeTable.infer(on_disk(tmp_path / "r.parquet", frame), COLUMNS, time="week").schema
    assert not np.signbit([*schema.quasi_identifiers["age"].bounds, *schema.values]).any()
