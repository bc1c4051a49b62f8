"""The command `foreknow run`: cells, the table, what it goes on with, and what it refuses."""

import json

import numpy as np
import pytest
from commands import read, records, run, write

from foreknow.app.cli.commands import run_command
from foreknow.app.cli.commands.run_command import read_grid
from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian, publish
from foreknow.evaluation import risk_table
from foreknow.evaluation.scenario import Scenario
from foreknow.models import History, Schema

pytestmark = pytest.mark.usefixtures("wide")

EXPERIMENT = """
seeds = [1, 2]
scenarios = ["mine.toml"]

[history]
records = "r.csv"
qi = ["age", "town"]
sensitive = "result"

[knowledge]
order = [1, 2]

[[defense]]
name = "mondrian"
k = [3, 12]

[[defense]]
name = "js-reduce"
k = 3
"""
MINE = 'law = "known"\nsolver = "sequential"\nestimator = "omega"\ntime = "forward"\n'


@pytest.fixture
def experiment(tmp_path):
    write(records(), tmp_path / "r.csv")
    (tmp_path / "mine.toml").write_text(MINE)
    path = tmp_path / "e.toml"
    path.write_text(EXPERIMENT)
    return path


def test_a_cell_is_a_publication_and_an_attack(experiment, tmp_path):
    told = run("run", experiment, "--out", tmp_path / "t.csv", "--json")
    table = read(tmp_path / "t.csv")
    assert json.loads(told.stdout)["cells"] == 2 * (2 + 2)
    assert len(table) == 2 * (2 + 2) * 3
    assert table.groupby("defense")["order"].nunique().to_dict() == {"js-reduce": 2, "mondrian": 0}
    assert sorted(path.name for path in (tmp_path / "e.cells").iterdir()) == ["grid"]

    frame = records()
    history = History.read(frame, Schema.infer(frame, ["age", "town"], "result"))
    releases = publish(history, Mondrian(KAnonymity(12) & DistinctDiversity(2)))
    beliefs = Scenario.read(tmp_path / "mine.toml").attack(history)(releases)
    own = table[(table["k"] == 12) & (table["seed"] == 2)]
    for name in ("gain", "confidence", "sure"):
        assert np.allclose(own[name], risk_table(beliefs, history)[name])


def test_a_killed_run_goes_on_to_the_same_table(experiment, tmp_path, monkeypatch):
    run("run", experiment, "--out", tmp_path / "t.csv")
    made = sorted((tmp_path / "e.cells" / "grid").iterdir())
    for path in made[::2]:
        path.unlink()
    published, plain = [], run_command.publish
    monkeypatch.setattr(run_command, "publish", lambda *given, **named: published.append(1) or plain(*given, **named))
    run("run", experiment, "--out", tmp_path / "again.parquet")
    first, again = (read(tmp_path / name).drop(columns="seconds") for name in ("t.csv", "again.parquet"))
    assert len(published) == len(made[::2])
    assert np.allclose(first.select_dtypes("number"), again[first.select_dtypes("number").columns], equal_nan=True)


WRONG = {
    "no seed": ("seeds = [1, 2]", "", "seeds is None; an experiment has distinct whole numbers"),
    "a fraction": ("seeds = [1, 2]", "seeds = [1.5]", r"seeds is \[1.5\]"),
    "a key": ("seeds = [1, 2]", "seed = [1, 2]", "'seed' is not a key. The nearest is 'seeds'"),
    "a key of the history": ("sensitive =", "sensitve =", "'sensitve' is not a key. The nearest is 'sensitive'"),
    "an option": ("k = [3, 12]", "q = 3", "the defense mondrian: 'q' is not a key"),
    "an option of another": ("k = [3, 12]", "k = 3\nj = 0.5", "the defense mondrian: 'j' is not a key"),
    "a defense": ('"mondrian"', '"mondrain"', "The nearest is 'mondrian'"),
    "a scenario": ('"mine.toml"', '"release-only"', "The nearest is 'releases-only'"),
    "a corpus": ('"mine.toml"', '"auxiliary"', "the scenario auxiliary reads a corpus"),
    "a measure": ("seeds =", 'measures = ["gpc"]\nseeds =', "The nearest is 'gcp'"),
    "a measure with settings": (
        "seeds =",
        'measures = ["breaches"]\nseeds =',
        "is not a measure that needs no setting",
    ),
    "knowledge": ("order = [1, 2]", 'order = "two"', "order has 'two'; it takes values such as 1"),
    "a threshold": ("k = [3, 12]", "k = [0, 12]", "k is 0"),
    "no history": ('[history]\nrecords = "r.csv"', "[history]", "there is no records"),
    "a file": ('"r.csv"', '"absent.csv"', "absent.csv"),
    "no TOML": ("seeds = [1, 2]", "seeds = 1, 2", "e.toml: "),
}


@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_experiment_is_refused_before_anything_is_measured(experiment, tmp_path, change):
    before, after, message = WRONG[change]
    assert before in EXPERIMENT
    experiment.write_text(EXPERIMENT.replace(before, after, 1))
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        run_command.experiment_of(read_grid(experiment))
    assert not (tmp_path / "e.cells").exists()


def test_cells_of_other_records_are_refused(experiment, tmp_path):
    experiment.write_text(EXPERIMENT.replace("[3, 12]", "3").replace("[1, 2]", "[1]"))
    run("run", experiment)
    write(records(seed=2), tmp_path / "r.csv")
    assert "cells of the experiment grid of other data" in str(run("run", experiment, status=1).exception)
    run("run", experiment, "--keep", tmp_path / "other")
