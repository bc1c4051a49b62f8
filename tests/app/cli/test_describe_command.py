"""Files that are no records, as `foreknow describe` recognizes them: published tables and hierarchies."""

import itertools
import json
import shlex

import numpy as np
import pandas as pd
import pytest
from commands import ROLES, TOWNS, proposed, read, records, run, write

from foreknow.app.cli.commands import describe_command as description
from foreknow.app.cli.commands.describe_command import first_records

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def generalized():
    """Two groups of one release, as another program publishes them."""
    rows = [("20-29", "131**", "flu"), ("20-29", "131**", "ulcer"), ("30-39", "*", "flu"), ("30-39", "*", "flu")]
    return pd.DataFrame(rows, columns=["age", "zip", "disease"])


def described(path):
    return json.loads(run("describe", path, "--json").stdout)


def roles(found):
    return {column["name"]: column["role"] for column in found["columns"]}


def typed(command):
    """The words after `foreknow`."""
    return shlex.split(command)[1:]


class TestPublishedTable:
    @pytest.mark.parametrize("defense", ["mondrian", "anatomy"])
    def test_the_proposed_commands_can_be_typed(self, tmp_path, defense):
        """With generalized cells, and with exact ones and a column of the group."""
        source = write(records(), tmp_path / "r.csv")
        run("publish", source, *ROLES, "--defense", defense, "--out", tmp_path / "o")
        found = described(tmp_path / "o" / "public" / "published.csv")
        assert found["looks like"] == "published table"
        wanted = {"week": "time", "group": "group", "age": "quasi-identifier", "town": "quasi-identifier"}
        assert roles(found) == wanted | {"result": "sensitive"}
        assert "Checked" in run(*typed(found["next"]), "-k", 2).stdout
        assert "records are in groups" in run(*typed(found["then"])).stdout

    def test_of_another_program_without_a_column_of_the_group(self, tmp_path, generalized):
        found = described(write(generalized, tmp_path / "p.csv"))
        assert found["looks like"] == "published table"
        assert typed(found["next"])[2:] == ["--qi", "age", "--qi", "zip", "--sensitive", "disease"]
        told = run("describe", tmp_path / "p.csv").stdout
        assert "'age' has cells as '20-29', 'zip' has cells as '131**'; no respondent" in told
        run(*typed(found["next"]), "-k", 2)

    def test_records_with_age_classes_of_respondents_are_records(self, tmp_path, generalized):
        found = described(write(generalized.assign(patient_id=["p", "q", "r", "s"]), tmp_path / "r.csv"))
        assert found["looks like"] == "records"
        assert found["next"].startswith("foreknow publish")

    @pytest.mark.parametrize("name", ["age_group", "blood group", "treatment group"])
    def test_a_group_of_something_else_is_no_column_of_the_group(self, tmp_path, name):
        table = pd.DataFrame({name: list("aabb"), "town": list("xyxy"), "disease": ["flu", "flu", "ulcer", "ulcer"]})
        assert described(write(table, tmp_path / "r.csv"))["looks like"] == "records"


class TestHierarchy:
    @pytest.mark.parametrize("separator", [";", ",", "\t"])
    def test_the_option_is_named(self, tmp_path, separator):
        path = tmp_path / "town.csv"
        path.write_text("".join(f"{town}{separator}{land}{separator}*\n" for town, land in TOWNS.items()))
        found = described(path)
        assert (found["looks like"], found["values"]) == ("hierarchy", 5)
        assert [level["labels"] for level in found["levels"]] == [5, 2, 1]
        told = run("describe", path).stdout
        assert f"--hierarchy COLUMN={path}" in told
        assert "looks like a generalization hierarchy" in told

    def test_records_with_a_constant_last_column_are_records(self, tmp_path):
        """Their header is a second root."""
        table = records().assign(country="x")
        assert described(write(table, tmp_path / "r.csv"))["looks like"] == "records"


def test_digits_with_leading_zeros_are_codes(tmp_path):
    """The codes are proposed as the respondent and as a quasi-identifier, of which a note says how it is published."""
    people = [f"{number:05d}" for number in range(1, 9)]
    table = pd.DataFrame({"id": people * 2, "week": [1] * 8 + [2] * 8, "zip": [f"0{n}501" for n in range(8)] * 2})
    path = write(table.assign(age=range(16), result=list("abbaabab") * 2), tmp_path / "r.csv")
    found = described(path)
    types = {column["name"]: column["type"] for column in found["columns"]}
    assert types == {"id": "code", "week": "number", "zip": "code", "age": "number", "result": "name"}
    assert roles(found)["id"] == "respondent"
    told = run("describe", path).stdout
    assert "published as intervals of numbers: zip." in told
    assert "00001" in told


class TestLargeFile:
    """Files with more records than are read; here 5."""

    @pytest.fixture
    def _five(self, monkeypatch):
        monkeypatch.setattr(description, "MOST_RECORDS", 5)

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    @pytest.mark.usefixtures("_five")
    def test_the_first_records_are_described_and_the_table_is_published_from_disk(self, tmp_path, suffix):
        source = write(records(), tmp_path / f"r.{suffix}")
        found = described(source)
        assert (found["records"], found["whole"], found["file"]) == (5, False, str(source))
        assert found["next"].endswith("--from-disk --workers 2 --out release")
        told = run("describe", source).stdout
        assert f"r.{suffix}: the first 5 records" in told
        assert "Records further on, and their faults, were not read." in told
        run(*typed(found["next"])[:-4], "--defense", "mondrian", "--out", tmp_path / "out")

    @pytest.mark.usefixtures("_five")
    def test_the_faults_that_were_read_are_settled_from_disk(self, tmp_path):
        table = records().assign(age=lambda rows: rows["age"].astype(str) + " y")
        found = described(write(table, tmp_path / "r.csv"))
        assert "--number age --from-disk" in found["next"]
        told = run(*typed(found["next"])[:-4], "--from-disk", "--defense", "mondrian", "--out", tmp_path / "out").stderr
        assert "'age': the unit 'years' removed from 72 cells." in told

    @pytest.mark.usefixtures("_five")
    def test_a_file_of_as_many_records_is_described_whole(self, tmp_path):
        found = described(write(records().head(5), tmp_path / "r.csv"))
        assert (found["records"], found["whole"]) == (5, True)
        assert "--from-disk" not in found["next"]

    @pytest.mark.parametrize("ending", ["\n", "\r\n"])
    def test_a_cell_with_line_breaks_is_one_record(self, tmp_path, ending):
        """The first two records of three, the first of four lines."""
        text = ending.join(["id,said", '1,"a', '""b""', "", 'c"', "2,d", "3,e", ""])
        (tmp_path / "r.csv").write_bytes(text.encode())
        with first_records(tmp_path / "r.csv", 2) as read:
            assert read.read_bytes().decode() == text[: text.index("3,e")]
            assert len(pd.read_csv(read)) == 2
        assert not read.exists()
        with first_records(tmp_path / "r.csv", 3) as read:
            assert read == tmp_path / "r.csv"

    def test_utf_16_is_described_whole(self, tmp_path):
        (tmp_path / "r.csv").write_text("id,said\n1,a\n2,b\n", encoding="utf-16")
        with first_records(tmp_path / "r.csv", 1) as read:
            assert read == tmp_path / "r.csv"

    @pytest.mark.usefixtures("_five")
    def test_a_file_that_is_no_parquet_is_told_by_its_name(self, tmp_path):
        (tmp_path / "r.parquet").write_text("no parquet")
        assert str(tmp_path / "r.parquet") in str(run("describe", tmp_path / "r.parquet", status=None).exception)


class TestRecords:
    def test_named_columns_take_their_roles_and_their_faults_are_found(self, tmp_path):
        """An id whose name tells nothing, which two cells write as other numbers: 07 and 7 may be one respondent."""
        table = pd.DataFrame(
            {
                "key7": ["07", "7", "8", "9"],
                "age": [30, 31, 40, 50],
                "stay": ["a", "b", "b", "a"],
                "disease": list("xyxy"),
            }
        )
        path = write(table, tmp_path / "r.csv")
        before = described(path)
        assert "respondent" not in roles(before).values()
        assert "Describe the file again with --id COLUMN" in run("describe", path).stdout
        found = json.loads(run("describe", path, "--id", "key7", "--sensitive", "stay", "--json").stdout)
        assert (roles(found)["key7"], roles(found)["stay"]) == ("respondent", "sensitive")
        assert "--id key7" in found["next"]
        assert "--ids" in found["next"]
        with pytest.raises(ValueError, match="no column 'keys'; it has 'key7'"):
            raise run("describe", path, "--id", "keys", status=None).exception

    def test_dates_with_two_readings_leave_the_format_to_choose(self, tmp_path):
        table = records().rename(columns={"week": "visit date"})
        days = {week: f"{place:02}/01/2024" for place, week in enumerate(sorted(table["visit date"].unique()), 2)}
        path = write(table.assign(**{"visit date": table["visit date"].map(days)}), tmp_path / "r.csv")
        found = described(path)
        assert found["unsettled"] == 0
        told = run("describe", path).stdout
        assert "Choose one of the two formats of visit date, and write it in place of FORMAT" in told
        assert "No option settles" not in told
        words = typed(found["next"])
        words[words.index("FORMAT")] = "%d/%m/%Y"
        run(*words[:-1], tmp_path / "o", "--defense", "mondrian")

    def test_the_example_of_numbers_with_a_unit_has_the_unit(self, tmp_path):
        ages = records()["age"].astype(str)
        ages[ages.index[3:]] += " y"
        path = write(records().assign(age=ages), tmp_path / "r.csv")
        assert f"age: numbers with a unit, as '{ages.iloc[3:].iloc[0]}'." in run("describe", path).stdout


class TestHospital:
    """Days, several records of a patient and month, ids with and without zeros, and abbreviations."""

    @pytest.fixture
    def visits(self, tmp_path):
        rng, rows = np.random.default_rng(1), []
        for patient in range(60):
            woman = rng.random() < 0.5
            for month, day in itertools.product((1, 2, 3, 4), rng.choice(28, 2, replace=False) + 1):
                sex = rng.choice(["F", "Female"] if woman else ["M", "male"])
                name = f"{patient:06d}" if rng.random() < 0.95 else f"{patient}.0"
                rows.append(
                    (name, f"{day:02d}.{month:02d}.2024", 20 + patient, sex, rng.choice(["I10", "J45 ", "E11"]))
                )
        frame = pd.DataFrame(rows, columns=["PatNr", "Datum", "Alter", "Geschlecht", "Diagnose"])
        frame.loc[0, "Geschlecht"] = "F" if frame.loc[0, "Geschlecht"] in ("M", "male") else "male"
        frame.to_csv(tmp_path / "h.csv", index=False, sep=";", encoding="latin-1")
        return tmp_path / "h.csv", frame

    def test_the_command_that_is_proposed_publishes(self, visits, tmp_path):
        path, frame = visits
        told = " ".join(run("describe", path).stdout.split())
        days, people = frame["Datum"].nunique(), frame["PatNr"].nunique()
        assert f"Datum has {days} times, of" in told
        assert f" of {people}. Each time would be a release; --per month makes 4." in told
        assert "Geschlecht: 1 respondent has more than one value; correct the records" in told
        assert "look like one value; add --merge Geschlecht:F=Female to the command below to write the latter." in told
        assert "Choose the record of a respondent and time that is kept, and write it in place of RULE below" in told
        (words,) = proposed(run("describe", path).stdout)
        assert {"--per", "--ids", "--repeated"} < set(words)
        frame.rename(columns={"PatNr": "Patientennr"}).to_csv(tmp_path / "other.csv", index=False, sep=";")
        (others,) = proposed(run("describe", tmp_path / "other.csv").stdout)
        assert others[others.index("--id") + 1] == "Patientennr"
        words = ["last" if word == "RULE" else word for word in words]
        done = run(*words[:-1], tmp_path / "out", "--defense", "mondrian", "--merge", "Geschlecht:F=Female")
        assert sorted(read(tmp_path / "out" / "public" / "published.csv")["Datum"].unique()) == [
            f"2024-{month:02d}" for month in (1, 2, 3, 4)
        ]
        assert "the last is kept" in done.stderr
        key = read(tmp_path / "out" / "private" / "groups.csv")
        assert len(key) == 60 * 4
        attack = proposed(done.stdout)[-1]
        assert "--per month" in " ".join(attack)
        run(*attack[:-1], tmp_path / "risk")


def test_faults_are_listed_without_a_respondent(tmp_path):
    table = records().drop(columns="id").assign(result=lambda rows: rows["result"].where(rows.index % 5 > 0, " A "))
    found = described(write(table, tmp_path / "r.csv"))
    assert "respondent" not in roles(found).values()
    assert [fault["column"] for fault in found["faults"]] == ["result"]
