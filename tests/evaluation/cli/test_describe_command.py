"""Files that are no records, as `foreknow describe` recognizes them: published tables and hierarchies."""

import json
import shlex

import pandas as pd
import pytest
from commands import ROLES, TOWNS, records, run, write

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
        assert "Passed" in run(*typed(found["next"]), "-k", 2).stdout
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
