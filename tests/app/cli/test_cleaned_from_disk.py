"""Records cleaned from disk are those cleaned in memory, with the same faults, changes and publications."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from commands import run
from messy import ROLES, messy_visits

from foreknow.app.cli.files.columns import Columns
from foreknow.app.disk import Engine
from foreknow.app.disk.cleaned_records import TextNotation, clean_records
from foreknow.models import Cleaning, InputFaults

COLUMNS = Columns(
    "Patient", "Month", "Diagnosis", ("Age", "Sex", "Weight"), encoding="latin-1", missing=("NA", "?"), numbers=("Age",)
)
SETTLED = Cleaning("merge", "drop", "drop")
OPTIONS = ["--encoding", "latin-1", "--missing-value", "NA", "--missing-value", "?", "--number", "Age"]
SETTLING = [*OPTIONS, "--equal-values", "merge", "--missing", "drop", "--duplicates", "drop"]


def as_exported():
    """A messy table whose missing cells are written as NA and ?, with spaces around a respondent and the name of a column."""
    visits = messy_visits(mixed_times=False)
    visits.loc[visits["Sex"] == "", "Sex"] = "NA"
    visits.loc[visits.index[20:25], "Age"] = "?"
    visits.loc[visits.index[30], "Patient"] += " "
    return visits.rename(columns={"Sex": " Sex "})


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    path = tmp_path_factory.mktemp("messy") / "visits.csv"
    as_exported().to_csv(path, index=False, sep=";", encoding="latin-1")
    return path


def from_disk(files, columns, folder, **engine):
    notation = TextNotation(columns.encoding, columns.separator, columns.missing)
    folder.mkdir()
    return clean_records(files, columns.roles, columns.cleaning, notation, Engine(**engine), folder)


def sentences(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().err.splitlines() if "is read with" not in line]


@pytest.mark.parametrize(
    "cleaning",
    [
        SETTLED,
        replace(SETTLED, duplicates="refuse", period="quarter", merge={"Diagnosis": {"HIV": "Flu"}}),
        replace(SETTLED, equal_values="keep", time_format="%Y-%m"),
    ],
    ids=["settled", "merged by quarter", "kept apart"],
)
def test_records_and_changes_are_those_in_memory(exported, tmp_path, capsys, cleaning):
    """By period, records of one patient remain several: memory refuses them, and so does a publication from disk."""
    columns = replace(COLUMNS, cleaning=cleaning)
    (copy,), changes = from_disk([exported], columns, tmp_path / "clean")
    told = replace(columns, cleaning=replace(cleaning, repeated="last")) if cleaning.period else columns
    (expected,) = told.read(exported)
    found = pd.read_parquet(copy)
    if cleaning.period:
        found = found.drop_duplicates(["Patient", "Month"], keep="last", ignore_index=True)
    pd.testing.assert_frame_equal(
        found[expected.columns.drop("Note")], expected.drop(columns="Note"), check_dtype=False
    )
    printed = " ".join(sentences(capsys))
    other = [
        change.sentence for change in changes if change.sentence not in printed and "copies" not in change.sentence
    ]
    assert other == (["'Patient': spaces around 1 cell removed."] if cleaning.equal_values == "merge" else [])
    assert [change.cells for change in changes if "copies" in change.sentence] == ([3] if not cleaning.period else [])


def test_a_missing_cell_is_a_category(exported, tmp_path):
    """Of names alone: ages are given here as codes."""
    columns = replace(COLUMNS, numbers=(), categorical=("Age",), cleaning=replace(SETTLED, missing="category"))
    (copy,), _ = from_disk([exported], columns, tmp_path / "clean")
    (expected,) = columns.read(exported)
    pd.testing.assert_frame_equal(pd.read_parquet(copy)[["Age", "Sex"]], expected[["Age", "Sex"]], check_dtype=False)
    assert "missing" in set(expected["Age"])


def test_two_files_have_one_spelling(tmp_path):
    """The spelling of the records is rarer in both files together; numbers of a Parquet file beside those of a CSV file."""
    table = pd.DataFrame({"id": ["1", "2"], "week": [1, 1], "age": [30, 40], "result": ["flu", "flu"]})
    table.to_csv(tmp_path / "records.csv", index=False)
    other = pd.DataFrame({"id": ["1", "2", "3"], "week": 1, "age": [35, 36, 37], "result": ["Flu"] * 3})
    other.to_parquet(tmp_path / "corpus.parquet")
    columns = Columns("id", "week", "result", ("age",), cleaning=Cleaning("merge"))
    files = [tmp_path / "records.csv", tmp_path / "corpus.parquet"]
    made, (change,) = from_disk(files, columns, tmp_path / "clean")
    one, two = map(pd.read_parquet, made)
    assert ({*one["result"]}, {*two["result"]}, change.cells) == ({"Flu"}, {"Flu"}, 2)
    assert (one["age"].tolist(), two["age"].tolist()) == ([30, 40], [35, 36, 37])
    assert one["id"].tolist() == ["1", "2"]


def test_faults_are_those_in_memory(exported, tmp_path):
    """But for copies, which the publication refuses, and spaces around respondents; places are records, not lines."""
    columns = replace(COLUMNS, numbers=(), cleaning=Cleaning())
    with pytest.raises(InputFaults) as in_memory:
        columns.read(exported)
    with pytest.raises(InputFaults, match="'Age' has 5 missing cells in 3,003 records: record 21") as of_disk:
        from_disk([exported], columns, tmp_path / "clean")
    faults = [(fault.column, fault.problem, fault.records) for fault in of_disk.value.faults]
    of_cells = [fault for fault in in_memory.value.faults if fault.column not in ("", "Patient")]
    assert faults == [(fault.column, fault.problem, fault.records) for fault in of_cells]
    assert {"Age", "Sex", "Diagnosis"} == {column for column, *_ in faults}


def test_a_table_without_a_complete_record(tmp_path):
    table = pd.DataFrame({"id": ["1", ""], "week": 1, "age": ["NA", "30"], "result": "flu"})
    table.to_csv(tmp_path / "records.csv", index=False)
    columns = Columns("id", "week", "result", ("age",), missing=("NA",), cleaning=Cleaning(missing="drop"))
    with pytest.raises(InputFaults, match=r"'id' has 1 missing cell in 2 records: record 2; .*\n.*'age' has 1 missing"):
        from_disk([tmp_path / "records.csv"], columns, tmp_path / "clean")


def test_bytes_do_not_depend_on_workers(exported, tmp_path):
    columns = replace(COLUMNS, cleaning=SETTLED)
    (one,), _ = from_disk([exported], columns, tmp_path / "one")
    (two,), _ = from_disk([exported], columns, tmp_path / "two", workers=2, memory=0.5)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.usefixtures("wide")
def test_publication_and_attack_are_those_in_memory(exported, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    out = {way: tmp_path / way for way in ("memory", "disk")}
    publish = ["publish", exported, *ROLES, *SETTLING, "--defense", "mondrian", "-k", 5, "-l", 2, "--seed", 1]
    run(*publish, "--out", out["memory"])
    run(*publish, "--from-disk", "--out", out["disk"])
    columns = ["Month", "Age", "Sex", "Weight", "Diagnosis"]
    of_memory = pd.read_csv(out["memory"] / "public" / "published.csv")[columns].astype(str)
    of_disk = pd.read_parquet(out["disk"] / "public" / "published.parquet", partitioning=None)[columns].astype(str)
    assert sorted(map(tuple, of_disk.to_numpy().tolist())) == sorted(map(tuple, of_memory.to_numpy().tolist()))
    attack = ["attack", exported, *ROLES, *SETTLING, "--knowledge", "records", "--attack", "snapshot", "--json"]
    found = json.loads(run(*attack, "--from-disk", "--groups", out["disk"]).stdout)
    expected = json.loads(run(*attack, "--groups", out["disk"]).stdout)
    assert {name: found[name] for name in ("verdict", "exposed", "respondents")} == {
        name: expected[name] for name in ("verdict", "exposed", "respondents")
    }
    pd.testing.assert_frame_equal(*(pd.DataFrame(one["releases"]) for one in (found, expected)), atol=1e-9)
    kept = [*attack, "--equal-values", "keep", "--from-disk", "--groups", out["disk"]]
    (note,) = run(*kept, status=1).exception.__notes__
    assert "was published with --equal-values merge, and this command has --equal-values keep" in note
    changed = [*publish, "--equal-values", "keep", "--from-disk", "--out", out["disk"]]
    assert "is already there" in str(run(*changed, status=1).exception)
    (out["disk"] / "public" / "certificate.json").unlink()
    (out["disk"] / "private" / "manifest.json").unlink()
    assert "holds something else: a run with another cleaning" in " ".join(
        str(run(*changed, status=1).exception).split()
    )
    run(*publish, "--from-disk", "--out", out["disk"])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("foreknow-")] == []


def test_another_encoding_is_named(exported, tmp_path):
    publish = ["publish", exported, *ROLES, "--from-disk", "--out", tmp_path / "out"]
    assert "byte 152 (0xfc, in line 4) is not utf-8; with encoding='cp1252', that of Excel on Windows, it reads" in str(
        run(*publish, status=1).exception
    )
