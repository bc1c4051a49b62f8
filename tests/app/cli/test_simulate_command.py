"""The command `foreknow simulate`: the simulation of the library, in the columns that other commands take."""

import json
import shlex

import pandas as pd
import pytest
from commands import read, run

from foreknow.evaluation import exams

pytestmark = pytest.mark.usefixtures("wide")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_file_is_the_simulation_of_its_seed(tmp_path, kind):
    told = run("simulate", "exams", "--releases", 3, "--records", 40, "--seed", 7, "--out", tmp_path / f"v.{kind}")
    history = exams(3, 40, rng=7).history
    table = read(tmp_path / f"v.{kind}")
    assert list(table.columns) == ["id", "week", "age", "gender", "weight", "result"]
    for view in history:
        mine = table[table["week"] == view.time].drop(columns="week").reset_index(drop=True)
        expected = view.frame[mine.columns].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine.astype(str), expected.astype(str))
    assert json.loads((tmp_path / "v.settings.json").read_text())["options"]["seed"] == 7
    words = shlex.split(told.stdout.split("Next:")[1].replace("\\\n", " "))
    run(*words[1:-1], tmp_path / "release")


def test_a_name_or_an_ending_that_is_unknown_is_named(tmp_path):
    assert "'homes' is not a simulation" in run("simulate", "homes", "--out", "x.csv", status=2).stderr
    told = run("simulate", "exams", "--out", tmp_path / "x.txt", status=1)
    assert "does not end with .csv or .parquet" in str(told.exception)
