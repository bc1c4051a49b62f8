"""The command `foreknow compare`: its numbers are those of publish and attack."""

import json
import shlex

import pandas as pd
import pytest
from commands import ROLES, read, records, run, write

from foreknow.app.cli.commands import compare_command
from foreknow.evaluation import cells

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def source(tmp_path):
    return write(records(), tmp_path / "r.csv")


class TestCompare:
    def test_the_risk_is_that_of_publish_and_attack(self, source, tmp_path):
        """Mondrian draws nothing that changes the groups: the larger of the verdicts of the two adversaries."""
        (row,) = json.loads(run("compare", source, *ROLES, "--defense", "mondrian", "--sure", 0.7, "--json").stdout)[
            "settings"
        ]
        run("publish", source, *ROLES, "--defense", "mondrian", "--out", tmp_path / "o")
        key = tmp_path / "o" / "private" / "groups.csv"
        exposed = {
            name: json.loads(
                run("attack", source, *ROLES, "--groups", key, "--knowledge", name, "--sure", 0.7, "--json").stdout
            )["exposed"]
            for name in ("records", "learned")
        }
        assert (row["exposed_informed"], row["exposed_learned"]) == (exposed["records"], exposed["learned"])
        assert row["exposed"] == max(exposed.values())
        assert row["share"] == row["exposed"] / 30

    def test_a_sweep_ends_with_the_least_detail_lost_of_those_not_over_the_bound(self, source, tmp_path):
        arguments = ["--defense", "mondrian", "--sweep", "k=3,12", "--sure", 0.7, "--seed", 5]
        found = json.loads(run("compare", source, *ROLES, *arguments, "--json").stdout)
        free = found["settings"]
        assert found["solver"] == "group-graph"
        assert [row["setting"] for row in free] == ["mondrian k=3", "mondrian k=12"]
        assert free[0]["group_size"] < 12 <= free[1]["group_size"]
        between = (free[0]["share"] + free[1]["share"]) / 2
        told = run("compare", source, *ROLES, *arguments, "--fail-over", between, "--out", tmp_path / "c")
        assert "for your bound of" in told.stdout
        assert "The least detail lost (GCP) among them: mondrian k=12." in told.stdout
        assert "With the defaults: mondrian -k 3 -l 2; mondrian -k 12 -l 2." in told.stdout
        assert read(tmp_path / "c" / "comparison.csv")["verdict"].tolist() == ["over", "not decided"]
        words = shlex.split(told.stdout.split("Next:")[1].replace("\\\n", " "))
        assert words[words.index("--defense") + 1 : words.index("--defense") + 4] == ["mondrian", "-k", "12"]
        assert read(tmp_path / "c" / "comparison.csv")["share"].tolist() == pytest.approx(
            [row["share"] for row in free]
        )
        assert json.loads((tmp_path / "c" / "settings.json").read_text())["options"]["seed"] == 5

    def test_a_kept_comparison_is_the_same_and_goes_on(self, source, tmp_path, monkeypatch):
        arguments = [source, *ROLES, "--defense", "mondrian", "--sweep", "k=3,12", "--sure", 0.7, "--seed", 5, "--json"]
        keep = ["--keep", tmp_path / "kept"]
        plain = json.loads(run("compare", *arguments).stdout)["settings"]
        first = json.loads(run("compare", *arguments, *keep).stdout)["settings"]
        monkeypatch.setattr(compare_command, "trial", None)
        again = json.loads(run("compare", *arguments, *keep).stdout)["settings"]
        assert first == again
        assert [{**row, "seconds": 0} for row in plain] == [{**row, "seconds": 0} for row in first]
        (tmp_path / "other").mkdir()
        other = write(records(seed=2), tmp_path / "other" / "r.csv")
        told = run("compare", other, *arguments[1:], *keep, status=1)
        assert "of other data" in str(told.exception)
        assert "--keep needs a seed" in str(run("compare", source, *ROLES, *keep, status=1).exception)

    def test_cells_of_other_code_are_named_and_measured_again(self, source, tmp_path, monkeypatch):
        arguments = [source, *ROLES, "--defense", "mondrian", "--seed", 5, "--keep", tmp_path]
        run("compare", *arguments)
        monkeypatch.setattr(cells, "code_fingerprint", lambda *_: "of another version")
        told = run("compare", *arguments)
        assert "1 of the kept cells of compare are of other code; they are measured again" in " ".join(
            told.stderr.split()
        )

    def test_a_setting_that_cannot_be_made_is_a_row(self, source):
        """A patience under k, and a defense that does not read the option that is swept; the others are measured."""
        options = ["--defense", "js-reduce", "--defense", "anatomy", "--sweep", "k=3,24", "--patience", 10]
        told = run("compare", source, *ROLES, *options, "--seed", 1, "--json")
        rows = {row["setting"]: row for row in json.loads(told.stdout)["settings"]}
        assert [name for name, row in rows.items() if not row["problem"]] == ["js-reduce k=3"]
        assert "cannot be made: JSReduce: patience is 10" in rows["js-reduce k=24"]["problem"]
        assert rows["anatomy"]["problem"].startswith("cannot be made: anatomy does not read -k")
        assert "–" in run("compare", source, *ROLES, *options, "--seed", 1).stdout

    def test_patience_follows_k(self, source):
        told = run("compare", source, *ROLES, "--sweep", "k=3,96", "--seed", 1, "--json")
        assert "all records would be suppressed" in json.loads(told.stdout)["settings"][1]["problem"]

    def test_no_setting_under_the_bound_is_a_failure(self, source):
        told = run("compare", source, *ROLES, "--defense", "anatomy", "--sure", 0.6, "--fail-over", 0, status=1)
        assert told.stdout.startswith("Over your bound of 0%: every setting.")

    def test_without_a_bound_the_frontier_is_shown_and_nothing_proposed(self, source):
        """Larger groups expose fewer people and lose more detail."""
        options = ["--defense", "mondrian", "--sweep", "k=3,12", "--sure", 0.7, "--seed", 5]
        told = run("compare", source, *ROLES, *options).stdout
        assert told.startswith(
            "No setting exposes fewer people at a lower price than these: mondrian k=3, mondrian k=12. "
        )
        assert "Next:" not in told
        assert json.loads(run("compare", source, *ROLES, *options, "--json").stdout)["best"] is None

    def test_the_frontier_has_no_setting_that_another_one_beats(self):
        """The second is beaten by the first, the third exposes fewer, and the last cannot be made."""
        rows = [(5, 9, 0.1), (5, 9, 0.2), (0, None, 0.3), (None, None, None)]
        found = pd.DataFrame(rows, columns=["exposed", "at_most", "lost"]).assign(exact=False, query_error=0.1)
        assert compare_command._frontier(found) == [0, 2]
        assert compare_command._frontier(found.assign(exact=True, query_error=[0.3, 0.2, 0.1, None])) == [1, 2]

    def test_a_threshold_below_what_each_group_shows_is_said(self, source):
        told = run("compare", source, *ROLES, "--defense", "mondrian", "--sweep", "k=12", "-l", 2, "--seed", 5)
        assert "mondrian k=12: each group shows 3 values or more, over -l 2." in told.stderr

    @pytest.mark.parametrize(
        ("arguments", "named"),
        [
            (["--defense", "mondrian", "-j", 1], "none reads -j"),
            (["--sweep", "q=1"], "write --sweep k=3,5,10"),
            (["--sweep", "k=three"], "write --sweep k=3,5,10"),
            (["--defense", "anatomy", "--sweep", "k=3"], "anatomy does not read -k"),
        ],
    )
    def test_options_that_do_not_fit_are_named(self, source, arguments, named):
        assert named in str(run("compare", source, *ROLES, *arguments, status=1).exception)
