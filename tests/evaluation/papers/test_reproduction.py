"""Figures as queries over cells, verdicts on claims, and the command `foreknow reproduce`, on a paper of one experiment."""

import pandas as pd
import pytest
from places import ROOT
from scipy.stats import ttest_1samp

from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.papers import PAPERS, paper
from foreknow.evaluation.papers.claims import all_claims
from foreknow.evaluation.papers.drawing import Missing, answered, draw, means
from foreknow.evaluation.papers.figures import ADULT, FOLDER_OF_ADULT, Figure, Paper, adult_folder
from foreknow.evaluation.papers.reproduction import measure, page, tables, write_page, write_pictures

SEEDS = range(1, 6)


def noise(cell, rng):
    """A gain that grows with the release."""
    return pd.DataFrame({"release": [1, 2], "gain": [0.1, 0.2] + 0.01 * rng.normal(size=2)})


def figure(**more):
    return Figure(
        **{
            "name": "3",
            "title": "gain by release",
            "query": "SELECT release AS x, gain AS y, seed FROM tiny_gain",
            "kind": "curves",
            "x_label": "release",
            "y_label": "gain",
            "setting": "Two releases.",
            "readings": ("The base of the logarithm is 2.",),
            "marks": {".12 in the text": 0.12},
            "printed": [("", "", 1, 0.1)],
        }
        | more
    )


TABLE = figure(name="Table 2", kind="table", printed=[("", "", 1, 0.5)])
TINY = Paper(
    "tiny",
    "A tiny paper",
    [Experiment("tiny_gain", noise, [{"seed": seed} for seed in SEEDS])],
    [figure(), figure(name="4", kind="bars"), TABLE],
    lambda cell: cell["seed"] == 1,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("reproduction")
    measure([TINY], path, full=True)
    return path


def test_means_and_intervals_are_those_of_students_t(folder):
    rows = tables([TINY], folder)["tiny_gain"]
    found = means(figure(), {"tiny_gain": rows})
    for x, y, half, seeds in found[["x", "y", "half", "seeds"]].itertuples(index=False):
        values = rows.loc[rows["release"] == x, "gain"]
        low, high = ttest_1samp(values, 0).confidence_interval(0.95)
        assert (y - half, y + half, seeds) == (pytest.approx(low), pytest.approx(high), 5)


def test_fast_measures_some_cells_and_full_adds_the_others(tmp_path):
    for full, seeds in ((False, [1]), (True, [*SEEDS])):
        measure([TINY], tmp_path, full=full)
        assert sorted(set(tables([TINY], tmp_path)["tiny_gain"]["seed"])) == seeds


def test_the_page_has_each_figure_with_its_setting_and_the_printed_values(folder):
    found = tables([TINY], folder)
    write_pictures([TINY], found, folder)
    text = page([TINY], found)
    write_page(text, folder)
    assert {path.name for path in folder.glob("*.png")} == {"tiny-3.png", "tiny-4.png"}
    for part in ("Two releases.", "- The base of the logarithm is 2.", "(printed 0.5)", "over 5 seeds"):
        assert part in text
    assert "<td>" in (folder / "index.html").read_text()


def test_a_figure_without_cells_is_named(tmp_path):
    found = tables([TINY], tmp_path)
    with pytest.raises(Missing, match="tiny_gain"):
        means(figure(), found)
    assert "Not measured: there are no cells of tiny_gain" in page([TINY], found)


def test_drawing_takes_panels_and_lines(folder):
    rows = means(
        figure(query="SELECT release AS x, gain AS y, seed, 'a' AS line, seed % 2 || '' AS panel FROM tiny_gain"),
        tables([TINY], folder),
    )
    assert len(draw(figure(), rows).axes) == 2


def test_adult_must_be_that_of_the_repository(tmp_path, monkeypatch):
    adult_folder.cache_clear()
    monkeypatch.setenv(FOLDER_OF_ADULT, str(tmp_path))
    for name in ("adult.data", "adult.test"):
        (tmp_path / name).write_text("39, State-gov")
    with pytest.raises(ValueError, match="byte by byte"):
        adult_folder()


@pytest.mark.parametrize("name", PAPERS)
def test_queries_of_each_paper_read_its_experiments(name):
    """Every table that a figure or a claim reads is an experiment of the paper, and every test of a claim exists."""
    own = paper(name)
    empty = {each.name: pd.DataFrame() for each in own.experiments}
    for each in own.figures:
        with pytest.raises(Missing):
            answered(each.query, empty)
    for claim in (each for each in all_claims() if each.paper == name):
        for query in filter(None, (claim.query, claim.strongest, *(each.query for each in claim.reading))):
            with pytest.raises(Missing):
                answered(query, empty)
        file, _, test = claim.shown_by.partition("::")
        assert not test or f"def {test.split('::')[-1].partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")
    assert all(each.data in ("", ADULT) for each in own.experiments)
