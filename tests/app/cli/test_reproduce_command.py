"""The command `foreknow reproduce` on a paper of one experiment: what it measures, writes, goes on with, and refuses."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from commands import run

from foreknow.app.cli.commands import reproduce_command
from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.papers.figures import ADULT, FOLDER_OF_ADULT, Figure, Paper

pytestmark = pytest.mark.usefixtures("wide")


def gain(cell, rng):
    return pd.DataFrame({"release": [1, 2], "gain": rng.random(2)})


def of_census(cell, rng):
    raise AssertionError("there is no Adult")


def figure(name, table):
    return Figure(
        name, "gain", f"SELECT release AS x, gain AS y, seed FROM {table}", "curves", "release", "gain", "Two."
    )


CELLS = [{"seed": seed} for seed in (1, 2, 3)]
TINY = Paper(
    "tiny",
    "A tiny paper",
    [Experiment("tiny_gain", gain, CELLS), Experiment("tiny_census", of_census, CELLS, data=ADULT)],
    [figure("3", "tiny_gain"), figure("6", "tiny_census")],
    lambda cell: cell["seed"] == 1,
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(reproduce_command, "paper", lambda _: TINY)
    monkeypatch.delenv(FOLDER_OF_ADULT, raising=False)


def kept(folder):
    return pd.read_parquet(folder / "cells" / "tiny_gain.parquet").drop_duplicates("key")[["key", "seconds"]]


def test_fast_then_full_goes_on_and_adult_is_left_out_aloud(tmp_path):
    told = run("reproduce", "js-reduce", "--out", tmp_path, "--workers", 1)
    assert "tiny_census; they are left out" in told.stderr
    before = kept(tmp_path)
    told = run("reproduce", "js-reduce", "--out", tmp_path, "--workers", 1, "--full", "--json")
    assert len(before) == 1
    assert len(kept(tmp_path)) == 3
    assert len(before.merge(kept(tmp_path))) == 1
    assert json.loads(told.stdout) == {"claims": {}, "stale": {}, "page": str(tmp_path / "index.html")}
    assert "no cells of tiny_census" in (tmp_path / "index.md").read_text()
    assert (tmp_path / "tiny-3.png").stat().st_size > 1000


def test_cells_of_other_code_that_a_run_does_not_ask_for_are_named(tmp_path):
    run("reproduce", "js-reduce", "--out", tmp_path, "--workers", 1, "--full")
    file = tmp_path / "cells" / "tiny_gain.parquet"
    pd.read_parquet(file).assign(code="of another day").to_parquet(file)
    told = run("reproduce", "js-reduce", "--out", tmp_path, "--workers", 1)
    assert "other code measured 2 of 3 cells of tiny_gain" in " ".join(told.stderr.split())
    assert "2 of 3 of tiny_gain" in (tmp_path / "index.md").read_text()
    assert "other code" not in run("reproduce", "js-reduce", "--out", tmp_path, "--workers", 1, "--full").stderr


def test_a_figure_is_found_by_its_number(tmp_path):
    run("reproduce", "js-reduce", "Figure 3", "--out", tmp_path, "--workers", 1)
    assert "there are 3, 6" in str(run("reproduce", "js-reduce", "7", "--out", tmp_path, status=1).exception)
    assert "name its folder by --adult" in str(
        run("reproduce", "js-reduce", "6", "--out", tmp_path, status=1).exception
    )
    assert "one of a paper" in str(run("reproduce", "all", "3", "--out", tmp_path, status=1).exception)
    assert "'js' is not a paper" in run("reproduce", "js", status=2).stderr


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert "no reproduction" in str(run("reproduce", "js-reduce", "--out", tmp_path, status=1).exception)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_figure_without_fast_cells_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce_command, "paper", lambda _: replace(TINY, fast=lambda _: False))
    asked = ["reproduce", "js-reduce", "3", "--out", tmp_path, "--workers", 1]
    assert "--full measures them" in run(*asked).stderr.replace("\n", " ")
    assert "--full measures them" not in run(*asked, "--full").stderr.replace("\n", " ")
