"""Progress of what takes seconds: within a setting of compare, the check after publish, and the reasons of at-risk.csv."""

import pytest
from commands import ROLES, records, run, write

from foreknow.app.cli.commands import attack_findings, compare_command, publish_command
from foreknow.app.cli.terminal import TimeLeft

pytestmark = pytest.mark.slow


@pytest.fixture
def texts():
    """Texts that were shown."""
    return []


@pytest.fixture
def recording(texts):
    """A `TimeLeft` that keeps its texts."""

    class Recording(TimeLeft):
        def _show(self, step):
            texts.append(step.text(0.0))
            super()._show(step)

    return Recording


def test_within_a_setting_of_compare(tmp_path, monkeypatch, recording, texts):
    """Releases, rounds of learning and parts of the joint law by two adversaries, of each of two settings."""
    monkeypatch.setattr(compare_command, "TimeLeft", recording)
    run("compare", write(records(), tmp_path / "r.csv"), *ROLES, "--defense", "mondrian", "--sweep", "k=3,5")
    phases = [
        "publishing",
        "attack by the informed adversary",
        "learning from the releases",
        "attack by the one who learned",
    ]
    titles = [f"mondrian k={k}: {phase} ({{}} of 8" for k in (3, 5) for phase in phases]
    for number, title in enumerate(titles, 1):
        told = [text for text in texts if text.startswith(title.format(number))]
        assert any("part 1 of " in text for text in told)
        assert all(text.count("part ") <= 1 for text in told)


def test_a_setting_that_publishes_nothing_takes_all_its_phases(tmp_path, monkeypatch, recording, texts):
    monkeypatch.setattr(compare_command, "TimeLeft", recording)
    run("compare", write(records(), tmp_path / "r.csv"), *ROLES, "--defense", "mondrian", "--sweep", "k=25,3")
    assert any(text.startswith("mondrian k=3: publishing (5 of 8") for text in texts)


def test_the_reasons_of_at_risk(tmp_path, monkeypatch, recording, texts):
    """Three prefixes, and the exposed respondents, for each of two adversaries."""
    monkeypatch.setattr(attack_findings, "TimeLeft", recording)
    source, out = write(records(), tmp_path / "r.csv"), tmp_path / "o"
    run("publish", source, *ROLES, "--defense", "mondrian", "--out", out)
    run("attack", source, *ROLES, "--groups", out / "private" / "groups.csv", "--sure", 0.7, "--out", tmp_path / "risk")
    assert sum("(part 3 of 3" in text for text in texts) >= 2
    assert {text.split(" (")[0] for text in texts} == {"finding the releases that exposed them"}


def test_the_check_after_publish(tmp_path, monkeypatch):
    bars = []
    tracked = publish_command.tracked

    def recorded(things, description):
        for thing in tracked(things, description):
            bars.append((description, thing.time))
            yield thing

    monkeypatch.setattr(publish_command, "tracked", recorded)
    source = write(records(), tmp_path / "r.csv")
    run("publish", source, *ROLES, "--defense", "mondrian", "--out", tmp_path / "o")
    assert bars == [(what, week) for what in ("publishing", "verifying") for week in (1, 2, 3)]
