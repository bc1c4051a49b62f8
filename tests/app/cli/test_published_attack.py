"""`foreknow attack --published`: published tables alone, with a register of persons and without."""

import json

import pandas as pd
import pytest
from commands import read, records, run, write
from typer.testing import CliRunner

from foreknow.app.cli import command_line

pytestmark = pytest.mark.usefixtures("wide")


def error(*arguments):
    return str(CliRunner().invoke(command_line.app, [str(each) for each in arguments]).exception)


@pytest.fixture
def two_releases(tmp_path):
    """Eight records: four persons, in groups by age at the first release and by town at the second; values do not change.

    Ann flu, Bob cold, Cid gout, Dan flu. Ann is the only one whose groups have one value in common.
    """
    first = pd.DataFrame({"age": ["20-29"] * 2 + ["30-39"] * 2, "town": "*", "disease": ["cold", "flu", "flu", "gout"]})
    second = pd.DataFrame({"age": "*", "town": ["Rome"] * 2 + ["Lyon"] * 2, "disease": ["flu", "gout", "cold", "flu"]})
    people = pd.DataFrame(
        {"id": ["Ann", "Bob", "Cid", "Dan"], "age": [21, 29, 30, 38], "town": ["Rome", "Lyon", "Rome", "Lyon"]}
    )
    return [write(table, tmp_path / f"{name}.csv") for name, table in (("1", first), ("2", second), ("people", people))]


COLUMNS = ["--qi", "age", "--qi", "town", "--sensitive", "disease"]


class TestWithPersons:
    def test_the_beliefs_are_those_of_the_attack_with_the_originals(self, tmp_path):
        """The groups are towns, so the labels determine them; ages within a group are different."""
        table = records(people=40, present=32)
        table["group"] = table.groupby("week")["town"].rank("dense").astype(int)
        source = write(table, tmp_path / "records.csv")
        towns = ["--qi", "town", "--qi", "age", "--sensitive", "result"]
        run("attack", source, *towns, "--knowledge", "learned", "--out", tmp_path / "originals")
        table["age"] = table.groupby(["week", "group"])["age"].transform(lambda ages: f"{ages.min()}-{ages.max()}")
        published = write(table[["week", "group", "age", "town", "result"]], tmp_path / "published.csv")
        people = write(
            read(source)[["id", "week", "age", "town"]].sample(frac=1, random_state=1), tmp_path / "people.csv"
        )
        run("attack", published, "--published", "--people", people, *towns, "--out", tmp_path / "alone")
        beliefs = [
            read(tmp_path / name / "beliefs.csv").set_index(["week", "id"])[list("abc")].sort_index()
            for name in ("originals", "alone")
        ]
        pd.testing.assert_frame_equal(*beliefs, rtol=0, atol=1e-9)

    def test_eight_records_by_hand(self, two_releases, tmp_path):
        *tables, people = two_releases
        result = run(
            "attack", *tables, "--published", "--people", people, *COLUMNS, "--attack", "composition",
            "--out", tmp_path / "o", "--json", "--fail-over", 0.2, status=1,
        )  # fmt: skip
        found = json.loads(result.stdout)
        assert [(row["records"], row["groups"], row["linked"]) for row in found["releases"]] == [(4, 2, 4)] * 2
        beliefs = read(tmp_path / "o" / "beliefs.csv").set_index(["release", "id"])
        assert beliefs.loc[(1, "Ann"), ["cold", "flu", "gout"]].tolist() == [0.5, 0.5, 0]
        assert beliefs.loc[(2, "Ann"), ["cold", "flu", "gout"]].tolist() == [0, 1, 0]
        risk = read(tmp_path / "o" / "at-risk.csv")
        assert risk.loc[0, ["respondent", "time", "believed", "belief", "group_values"]].tolist() == [
            "Ann", 2, "flu", 1.0, "1 flu, 1 gout",
        ]  # fmt: skip

    def test_who_may_be_absent_is_not_linked(self, two_releases, tmp_path):
        """A fifth person fits the group 20-29, which has two records for three persons; the other group is determined."""
        first, _, people = two_releases
        more = pd.concat([read(people), pd.DataFrame({"id": ["Eve"], "age": [25], "town": ["Rome"]})])
        result = run("attack", first, "--published", "--people", write(more, tmp_path / "more.csv"), *COLUMNS, "--json")
        (row,) = json.loads(result.stdout)["releases"]
        assert (row["linked"], row["open"]) == (2, 3)
        assert "2 of 4 records are not linked" in result.stderr

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (["--knowledge", "records"], "--knowledge records needs the original records"),
            (["--groups", "key.csv"], "--groups is the key of original records"),
        ],
    )
    def test_what_needs_the_originals_is_refused(self, two_releases, more, message):
        first, _, people = two_releases
        assert message in error("attack", first, "--published", "--people", people, *COLUMNS, *more)

    def test_a_true_value_in_the_register_is_not_read(self, two_releases, tmp_path):
        first, _, people = two_releases
        told = write(read(people).assign(disease="flu"), tmp_path / "told.csv")
        run("attack", first, "--published", "--people", told, *COLUMNS, "--out", tmp_path / "told")
        run("attack", first, "--published", "--people", people, *COLUMNS, "--out", tmp_path / "not")
        assert (tmp_path / "told" / "beliefs.csv").read_text() == (tmp_path / "not" / "beliefs.csv").read_text()

    def test_an_unknown_label_is_named(self, two_releases, tmp_path):
        first, _, people = two_releases
        table = write(read(first).assign(age="young"), tmp_path / "t.csv")
        assert "'age' has the label 'young'" in error("attack", table, "--published", "--people", people, *COLUMNS)


class TestUnknownMembers:
    def test_the_risk_is_the_share_of_the_group(self, two_releases, tmp_path):
        tables = two_releases[:2]
        certain = write(read(tables[1]).assign(disease=["flu", "flu", "cold", "flu"]), tmp_path / "3.csv")
        result = run("attack", tables[0], certain, "--published", *COLUMNS, "--out", tmp_path / "o", "--json")
        found = json.loads(result.stdout)
        assert [(row["time"], row["certain"], row["highest"], row["sure"]) for row in found["releases"]] == [
            (1, 0, 0.5, 0), (2, 2, 0.75, 2),
        ]  # fmt: skip
        assert found["share"] == 2 / 8
        groups = read(tmp_path / "o" / "groups.csv")
        assert groups.loc[0, ["release", "group", "records", "believed", "share"]].tolist() == [
            2,
            "*, Rome",
            2,
            "flu",
            1.0,
        ]

    def test_options_about_persons_are_refused(self, two_releases):
        assert "--solver: without a register" in error(
            "attack", two_releases[0], "--published", *COLUMNS, "--solver", "path-sampler"
        )

    def test_options_of_published_tables_need_the_flag(self, two_releases):
        assert "--people is read with --published alone" in error(
            "attack", two_releases[0], *COLUMNS, "--people", two_releases[2]
        )
        assert "a second table is read with" in error("attack", *two_releases[:2], *COLUMNS)


class TestCheck:
    def test_one_file_per_release_and_groups_of_equal_labels(self, two_releases):
        tables = two_releases[:2]
        found = json.loads(run("check", *tables, *COLUMNS, "-k", 2, "-l", 2, "--json").stdout)
        assert [row["release"] for row in found["requirements"]] == [1, 1, 2, 2]
        assert [row["groups"] for row in found["requirements"]] == [2] * 4
        assert not found["failed"]
        failing = run("check", *tables, *COLUMNS, "-k", 3, "--json", status=1)
        assert json.loads(failing.stdout)["requirements"][0]["first failing"] == "20-29, *"

    def test_a_release_in_two_files_is_refused(self, two_releases, tmp_path):
        table = write(read(two_releases[0]).assign(week=1), tmp_path / "t.csv")
        assert "both have records of the release" in error("check", table, table, *COLUMNS)
