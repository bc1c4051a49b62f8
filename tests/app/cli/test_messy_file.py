"""A messy file of 3,000 records, and each of its faults alone, through the command line."""

import json
import re
import shlex
from collections import Counter

import pandas as pd
import pytest
from commands import read, records, run, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from messy import DISEASES, ROLES, clean_visits, lines_of, messy_visits
from wrong_input import main

from foreknow.app.cli.files.columns import Columns
from foreknow.models import Cleaning, History, InputFaults

pytestmark = pytest.mark.slow

COLUMNS = Columns("Patient", "Month", "Diagnosis", ("Age", "Sex", "Weight"), numbers=("Age",))
SETTLED = Columns(
    "Patient",
    "Month",
    "Diagnosis",
    ("Age", "Sex", "Weight"),
    numbers=("Age",),
    cleaning=Cleaning("merge", "drop", "drop"),
)
MONDRIAN = ["--defense", "mondrian", "-l", 2]


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """The file with all faults, as Excel on Windows writes it."""
    path = tmp_path_factory.mktemp("messy") / "visits.csv"
    messy_visits().to_csv(path, index=False, sep=";", encoding="cp1252")
    return path


@pytest.fixture(scope="module")
def error(messy):
    """The error of the file without an option that settles a fault."""
    with pytest.raises(InputFaults, match="6 faults") as error:
        Columns("Patient", "Month", "Diagnosis", ("Age", "Sex", "Weight"), encoding="cp1252").read(messy)
    return error.value


class TestAllFaults:
    def test_each_is_named_with_its_count(self, error):
        visits = messy_visits()
        with_unit = int(visits["Age"].str.contains("y").sum())
        spelled = visits["Diagnosis"].isin(DISEASES)
        assert {(fault.column, fault.records) for fault in error.faults} == {
            ("Age", with_unit), ("Month", len(visits)), ("Sex", int((visits["Sex"] == "").sum())),
            ("Diagnosis", int((~spelled).sum())), ("", 2), ("", 3),
        }  # fmt: skip

    def test_the_lines_are_those_of_the_file(self, error, messy):
        """Notes of two lines stand before them."""
        (sex,) = (fault for fault in error.faults if fault.column == "Sex")
        line = next(text for text in error.lines if text.startswith("'Sex'"))
        assert list(map(int, re.findall(r"line (\d+)", line))) == lines_of(messy, "cp1252", ";;")[:3]
        assert sex.records > 3

    def test_the_command_names_options(self, messy, tmp_path, capsys, monkeypatch):
        status, text = main(
            capsys, monkeypatch, "publish", messy, *ROLES, "--encoding", "cp1252", "--out", tmp_path / "out"
        )
        assert status == 2
        assert max(map(len, text.split("error:")[0].splitlines())) <= 80
        assert "visits.csv is read with semicolons between its cells." in text
        together = "--number Age --missing drop --equal-values merge --duplicates drop"
        assert "or in one that is named by --time-format." in text
        assert text.splitlines()[-1].startswith(
            f"error: 6 faults in the file. Some are settled by: {together}; 2 and 5 stay open ("
        )
        for python in ("='", "numbers=", "[", "pandas"):
            assert python not in text
        assert not (tmp_path / "out").exists()


def test_what_is_settled_is_published_and_said(tmp_path):
    visits = messy_visits(mixed_times=False)
    visits.to_csv(tmp_path / "visits.csv", index=False, sep=";", encoding="cp1252")
    options = ["--number", "Age", "--equal-values", "merge", "--missing", "drop", "--duplicates", "drop"]
    source = [tmp_path / "visits.csv", *ROLES, "--encoding", "cp1252", *options]
    done = run("publish", *source, *MONDRIAN, "--out", tmp_path / "out")
    public = read(tmp_path / "out" / "public" / "published.csv")
    assert set(public["Diagnosis"]) == set(DISEASES)
    assert len(public) == len(visits[visits["Sex"] != ""].drop_duplicates())
    groups = public.groupby(["Month", "group"])["Diagnosis"].nunique()
    assert groups.min() >= 2
    for words in ("the unit 'years' removed", "read as the decimal sign", "dropped for missing cells: 'Sex'", "3 copies of",
                  "8 values in several spellings merged"):  # fmt: skip
        assert words in done.stderr
    key = tmp_path / "out" / "private" / "groups.csv"
    run("attack", *source, "--groups", key, "--attack", "snapshot", "--knowledge", "records")


@pytest.mark.parametrize(("rule", "expected"), [("merge", ["P1", "P1"]), ("keep", ["p1 ", "P1"])])
def test_a_key_of_the_user_is_read_like_the_records(rule, expected, tmp_path):
    (tmp_path / "key.csv").write_text("Patient,Month,group\np1 ,02/2024,0\nP1,01/2025,1\n")
    columns = Columns("Patient", "Month", "Diagnosis", ("Age",), cleaning=Cleaning(rule))
    key = columns.read_groups(tmp_path / "key.csv", pd.DataFrame({"Patient": ["P1"]}))
    assert key["Patient"].tolist() == expected
    assert key["Month"].tolist() == ["2024-02", "2025-01"]


@pytest.mark.parametrize(
    ("separator", "encoding"), [(",", "utf-8-sig"), (";", "cp1252"), ("\t", "utf-8"), ("|", "utf-16")]
)
def test_notations_of_files_give_one_history(separator, encoding, tmp_path):
    """Oracle: the Parquet file of the same cells."""
    visits = messy_visits(mixed_times=False).head(400)
    visits.to_csv(tmp_path / "v.csv", index=False, sep=separator, encoding=encoding)
    visits.assign(Sex=visits["Sex"].replace("", None)).to_parquet(tmp_path / "v.parquet", index=False)
    name = "utf-8" if encoding == "utf-8-sig" else encoding
    columns = Columns(*("Patient", "Month", "Diagnosis", ("Age", "Sex", "Weight")), encoding=name, numbers=("Age",),
                      cleaning=SETTLED.cleaning)  # fmt: skip
    (text,), (plain,) = columns.read(tmp_path / "v.csv"), SETTLED.read(tmp_path / "v.parquet")
    pd.testing.assert_frame_equal(text, plain, check_dtype=False)
    one, other = (History.read(table, SETTLED.schema(table), "Month") for table in (text, plain))
    assert one.schema == other.schema
    assert one.times == other.times == ("2024-01", "2024-02")


def test_a_clean_file_is_read_without_a_word(tmp_path, capsys):
    source = write(clean_visits(patients=30, months=2), tmp_path / "v.csv")
    (table,) = COLUMNS.read(tmp_path / source)
    pd.testing.assert_frame_equal(table, clean_visits(patients=30, months=2), check_dtype=False)
    assert capsys.readouterr().err == ""


class TestOneRelease:
    def test_publish_attack_and_check_without_a_time(self, tmp_path):
        table = records(weeks=(1,)).drop(columns="week")
        source = write(table, tmp_path / "r.csv")
        roles = ["--qi", "age", "--qi", "town", "--sensitive", "result"]
        done = run("publish", source, *roles, *MONDRIAN, "--out", tmp_path / "o")
        assert "r.csv is read as one release" in done.stderr
        key = tmp_path / "o" / "private" / "groups.csv"
        run("attack", source, *roles, "--groups", key, "--attack", "snapshot", "--knowledge", "records")
        checked = run("check", tmp_path / "o" / "public" / "published.csv", "--sensitive", "result", "-k", 3, "-l", 2)
        assert len(re.findall(r"^ *1 ", checked.stdout, re.MULTILINE)) == 2

    def test_several_records_of_a_respondent_need_a_time(self, tmp_path, capsys, monkeypatch):
        source = write(records().rename(columns={"week": "visit"}), tmp_path / "r.csv")
        arguments = ["--qi", "age", "--sensitive", "result", "--out", tmp_path / "o"]
        _, error = main(capsys, monkeypatch, "publish", source, *arguments)
        assert "several records, and all records have one time" in error
        assert "name the column of the time, as --time month" in error


class TestCheck:
    TABLE = pd.DataFrame({"group": [0, 0, 1, 1], "result": ["flu", "Flu ", "cold", "flu"]})

    def test_one_disease_in_two_spellings_is_not_two_diverse(self, tmp_path, capsys, monkeypatch):
        source = write(self.TABLE, tmp_path / "p.csv")
        status, error = main(capsys, monkeypatch, "check", source, "--sensitive", "result", "-l", 2)
        assert (status, "--equal-values merge" in error) == (2, True)
        merged = run("check", source, "--sensitive", "result", "-l", 2, "--equal-values", "merge", status=1)
        assert "1 value in several spellings merged" in merged.stderr
        run("check", source, "--sensitive", "result", "-l", 2, "--equal-values", "keep")


class TestDescribe:
    def test_roles_faults_and_the_next_command(self, messy, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        shown = run("describe", messy)
        assert max(map(len, shown.stdout.splitlines())) <= 80
        for column, role in {"Patient": "respondent", "Month": "time", "Age": "quasi-identifier", "Sex": "quasi-identifier",
                             "Weight": "quasi-identifier", "Diagnosis": "sensitive", "Note": "not used"}.items():  # fmt: skip
            assert re.search(rf"^{column} .* {role} *$", shown.stdout, re.MULTILINE), column
        assert "6 faults would be refused" in shown.stdout
        assert "No option settles the faults of Month; correct the file first" in " ".join(shown.stdout.split())
        assert "Choose the record of a respondent and time" in shown.stdout

    def test_the_next_command_runs(self, tmp_path):
        """On the file without the faults that no option settles."""
        path = tmp_path / "my visits.csv"
        messy_visits(mixed_times=False).head(900).to_csv(path, index=False, sep=";", encoding="cp1252")
        shown = run("describe", path).stdout
        command = shlex.split(shown.split("Next:")[1].replace("\\\n", " "))
        assert command[:2] == ["foreknow", "publish"]
        run(*command[1:-1], tmp_path / "out", *MONDRIAN)
        assert (tmp_path / "out" / "public" / "published.csv").exists()

    def test_json(self, messy):
        found = json.loads(run("describe", messy, "--json").stdout)
        assert (found["records"], found["separator"], found["encoding"]) == (3004, ";", "cp1252")
        assert Counter(column["role"] for column in found["columns"])["quasi-identifier"] == 3
        assert {column["name"]: column["type"] for column in found["columns"]}["Age"] == "number with unit"
        assert len(found["faults"]) == 6
        assert found["unsettled"] == 2
        assert "--time-format" not in found["next"]

    def test_identifiers_and_marks_of_missing_cells(self, tmp_path):
        table = clean_visits(30, 2).assign(Name=[f"Ann {i}" for i in range(60)])
        table.loc[3, "Sex"] = "n/a"
        found = json.loads(run("describe", write(table, tmp_path / "v.csv"), "--json").stdout)
        assert {column["name"]: column["role"] for column in found["columns"]}["Name"] == "identifier"
        assert "--missing-value n/a --missing drop" in found["next"]


def test_missing_columns_are_named_together_with_their_spelling(tmp_path, capsys, monkeypatch):
    source = write(clean_visits(10, 1), tmp_path / "v.csv")
    arguments = [
        "--id",
        "patient",
        "--time",
        "Month",
        "--qi",
        "Years",
        "--sensitive",
        "Diagnosis",
        "--out",
        tmp_path / "o",
    ]
    _, error = main(capsys, monkeypatch, "publish", source, *arguments)
    assert "has no columns 'patient', 'Years'; it has 'Patient', 'Month'" in error
    assert "For 'patient', write 'Patient'." in error


@pytest.mark.parametrize(
    "content", ['Rome;"Europe, south";*\nOslo;north;*\n', 'Rome,"Europe, south",*\nOslo,north,*\n']
)
def test_hierarchies_with_commas(content, tmp_path):
    (tmp_path / "town.csv").write_text(content)
    table = clean_visits(10, 1).assign(Sex=["Rome", "Oslo"] * 5)
    columns = Columns("Patient", "Month", "Diagnosis", ("Sex",), hierarchies=(f"Sex={tmp_path / 'town.csv'}",))
    assert columns.schema(table).quasi_identifiers["Sex"].hierarchy.rows[0] == ("Rome", "Europe, south", "*")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_ends_in_a_table_or_in_one_clear_error(data, tmp_path):
    content = bytearray(clean_visits(6, 2).to_csv(index=False, sep=data.draw(st.sampled_from(",;\t"))).encode())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.one_of(
                st.binary(max_size=3), st.sampled_from([b";", b",", b'"', b"\n", b"\r", b"\xff", b"\0", b" ", b"NA"])
            )
        )
    (tmp_path / "v.csv").write_bytes(bytes(content))
    try:
        (table,) = Columns("Patient", "Month", "Diagnosis", ("Age", "Sex")).read(tmp_path / "v.csv")
    except ValueError as error:
        text = str(error)
    else:
        text = f"{len(table)} records."
    assert len(text) < 4000
    assert text.endswith(".")
