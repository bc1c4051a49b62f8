"""Spellings that two files, or two languages, write differently."""

import pandas as pd
import pytest
from commands import ROLES, TOWNS, records, run, write
from typer.testing import CliRunner

from foreknow.app.cli import command_line
from foreknow.models import InputFaults


@pytest.mark.parametrize(
    ("months", "told"),
    [
        (["März 2024", "Juni 2024"], True),
        (["Mai 2024", "April 2024"], True),  # the second is English too
        (["first", "second"], False),
    ],
)
def test_months_of_other_languages(tmp_path, months, told):
    table = pd.DataFrame({"id": [1, 2], "week": months, "age": [30, 40], "result": ["a", "b"]})
    source = write(table, tmp_path / "r.csv")
    result = CliRunner().invoke(
        command_line.app, ["publish", source, "--qi", "age", "--sensitive", "result", "--out", str(tmp_path / "o")]
    )
    assert isinstance(result.exception, InputFaults)
    assert ("names of months are read in English alone" in str(result.exception)) == told


def test_letter_case_of_a_hierarchy(tmp_path):
    table = records(people=12, present=12)
    source = write(table, tmp_path / "r.csv")
    rows = [f"{town.upper() if town == 'Rome' else town};{TOWNS[town]};*" for town in sorted(set(table["town"]))]
    tree = tmp_path / "town.csv"
    tree.write_text("\n".join(rows))
    command = [
        "publish",
        source,
        *ROLES,
        "--hierarchy",
        f"town={tree}",
        "--defense",
        "mondrian",
        "--out",
        str(tmp_path / "o"),
    ]
    refused = CliRunner().invoke(command_line.app, command)
    assert "writes 'ROME', and the records 'Rome' (1 such values)" in str(refused.exception)
    merged = run(*command, "--equal-values", "merge")
    assert "are read as the records write them" in merged.stderr
    assert "ROME" not in (tmp_path / "o" / "public" / "published.csv").read_text()
