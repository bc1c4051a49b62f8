"""The README's examples run as printed, and print what stands below them."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import run

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    command.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for command in block.replace("\\\n", " ").splitlines()
]


def test_every_example_shows_what_it_prints():
    assert len(EXAMPLES) == README.count("```python") == 1


@pytest.mark.parametrize(("code", "shown"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_prints_what_the_readme_shows(code, shown):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert [line.rstrip() for line in printed.getvalue().splitlines()] == [line.rstrip() for line in shown.splitlines()]


def visits():
    """The table of the README: 80 people in three months, whose diagnoses mostly stay."""
    rng = np.random.default_rng(1)
    diagnoses = np.array(["flu", "asthma", "diabetes", "depression", "hiv"])
    people = pd.DataFrame(
        {"person": range(80), "age": rng.integers(20, 80, 80), "city": rng.choice(["Rome", "Milan"], 80)}
    )
    current, months = rng.integers(0, 5, 80), []
    for month in ("2024-01", "2024-02", "2024-03"):
        current = np.where(rng.random(80) < 0.8, current, rng.integers(0, 5, 80))
        months.append(people.assign(month=month, diagnosis=diagnoses[current]))
    return pd.concat(months, ignore_index=True)


def test_the_commands_run_one_after_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visits().to_csv("visits.csv", index=False)
    names = []
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        assert program == "foreknow"
        names.append(arguments[0])
        assert run(*arguments, status=None).exit_code == 0, command
    assert names == ["describe", "publish", "attack", "report", "check"]
    page = (Path(__file__).parents[1] / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    written = [path.relative_to("release") for path in Path("release").rglob("*.*")] + list(Path().glob("report.*"))
    assert len(written) == 8
    assert [path for path in written if f"`{path.as_posix()}`" not in page] == []


def test_no_command_stands_outside_a_block_that_runs():
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert {kind for kind, text in blocks if re.search(r"^(\$ )?foreknow ", text, re.MULTILINE)} == {"console"}
