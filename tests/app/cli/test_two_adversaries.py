"""The two adversaries of `foreknow attack` without --knowledge and --corpus: verdict, --fail-over, at-risk and JSON."""

import json
import re
import time

import pytest
from commands import ROLES, read, records, run, write

from foreknow.app.cli import attack_choices
from foreknow.attacks import JointAttack

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("wide")]

SURE = ["--sure", 0.7]


@pytest.fixture
def key(tmp_path):
    """Records, and the key of a publication by Mondrian, as arguments."""
    source = write(records(), tmp_path / "r.csv")
    run("publish", source, *ROLES, "--out", tmp_path / "o", "--defense", "mondrian")
    return [source, *ROLES, "--groups", tmp_path / "o" / "private" / "groups.csv", *SURE]


def as_json(*arguments):
    return json.loads(run(*arguments, "--json", status=None).stdout)


def test_both_adversaries_are_those_of_knowledge(key, tmp_path):
    """Numbers, respondents at risk and the worst share are those of two runs with one adversary each."""
    both = as_json("attack", *key, "--out", tmp_path / "both")
    alone = {}
    for source in ("learned", "records"):
        alone[source] = as_json("attack", *key, "--knowledge", source, "--out", tmp_path / source)
    numbers = {one["adversary"]: one["exposed"] for one in both["adversaries"]}
    assert numbers == {source: found["exposed"] for source, found in alone.items()}
    assert len(set(numbers.values())) == 2
    assert both["exposed"] == max(numbers.values())
    assert both["verdict"].startswith(f"Over the default bound of 0%: {both['exposed']} of ")
    assert (both["state"], {one["state"] for one in both["adversaries"]}) == ("over", {"over"})
    assert [one["exposed"] for one in both["adversaries"]] == sorted(numbers.values(), reverse=True)
    assert both["releases"] == alone["learned"]["releases"]
    risky = read(tmp_path / "both" / "at-risk.csv")
    for source, table in risky.groupby("adversary"):
        assert set(table["respondent"]) == set(read(tmp_path / source / "at-risk.csv")["respondent"])
    assert risky.groupby("adversary").size().to_dict() == {name: number for name, number in numbers.items() if number}


def test_fail_over_is_about_the_worst_as_in_the_report(key, tmp_path):
    """Both commands print the same verdict, and end with the same status; the weaker adversary alone is not over the bound."""
    found = {one["adversary"]: one["exposed_share"] for one in as_json("attack", *key)["adversaries"]}
    bound = ["--fail-over", sum(found.values()) / 2]
    attacked = run("attack", *key, *bound, status=1).stdout
    reported = run("report", *key, *bound, "--stricter", 0, "--out", tmp_path / "r.html", status=1).stdout
    line = re.compile(r"^Over your bound of .*$", re.MULTILINE)
    assert line.search(attacked)[0] == line.search(reported)[0]
    told = run("attack", *key, *bound, "--knowledge", min(found, key=found.get)).stdout
    assert told.startswith(("Within your bound of", "Not decided for your bound of"))


def test_the_verdict_names_both_and_the_tables_say_whose_they_are(key):
    lines = run("attack", *key).stdout.splitlines()
    knows, learned = "who knows the statistics of the records", "who learned from these releases alone"
    tables = next(number for number, line in enumerate(lines) if line.startswith("The tables"))
    assert {name for line in lines[:tables] for name in (knows, learned) if name in line} == {knows, learned}
    assert lines[tables] == f"The tables are about an adversary {learned}; with --knowledge records about the other."


def test_one_adversary_is_named(key, tmp_path):
    for source, words in (("learned", "learned from these releases alone"), ("records", "statistics of the records")):
        told = run("attack", *key, "--knowledge", source).stdout
        assert words in told.splitlines()[1]
        assert "The tables are about" not in told
    corpus = write(records(seed=5), tmp_path / "c.csv")
    assert "statistics of the corpus" in run("attack", *key, "--corpus", corpus).stdout.splitlines()[1]
    assert "To the definetti attack" in run("attack", *key, "--attack", "definetti").stdout.splitlines()[1]


def test_an_error_of_one_adversary_ends_the_attack_of_the_other(key, monkeypatch):
    """The joint law beside the learning ends at its next part; here it would take an hour."""

    def an_hour(attack, _):
        for _ in attack.solver.progress(range(360_000)):
            time.sleep(0.01)

    def refuse(*_, **__):
        raise ValueError("nothing to learn from.")

    monkeypatch.setattr(JointAttack, "__call__", an_hour)
    monkeypatch.setattr(attack_choices, "learn_from_releases", refuse)
    assert str(run("attack", *key, status=1).exception) == "nothing to learn from."
