"""Figures as queries over cells, verdicts on claims, and the command `foreknow reproduce`, on a paper of one experiment."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from places import ROOT

from foreknow.evaluation.cells import Experiment
from foreknow.evaluation.papers import PAPERS, paper, reproduction
from foreknow.evaluation.papers.claims import Claim, Decision, Further, Reading, all_claims
from foreknow.evaluation.papers.drawing import Missing, answered, interval, means, with_interval
from foreknow.evaluation.papers.figures import ADULT, FOLDER_OF_ADULT, Figure, Paper, adult_folder
from foreknow.evaluation.papers.reproduction import (
    counted,
    markdown_table,
    measure,
    measured,
    page,
    stale_cells,
    tables,
    verdicts_of,
    write_page,
    write_pictures,
)

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
        }
        | more
    )


TABLE = figure(
    name="Table 2", kind="table", query="SELECT release::DOUBLE AS x, gain AS y, seed FROM tiny_gain",
    printed=[("", "", 1, 0.5), ("", "of another program", 2, 0.25)],
)  # fmt: skip
TINY = Paper(
    "tiny",
    "A tiny paper",
    [Experiment("tiny_gain", noise, [{"seed": seed} for seed in SEEDS])],
    [figure(), figure(name="4", kind="bars"), TABLE],
    lambda cell: cell["seed"] == 1,
    "Two releases of all.",
    ["k is 3."],
)
CLAIM = Claim(
    1, "tiny", "7.3", "The gain grows beyond .15.", "experiment", True, value="largest gain",
    query="SELECT seed, max(gain) AS value FROM tiny_gain GROUP BY seed", at_least=0.15,
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("reproduction")
    measure([TINY], path, full=True)
    return path


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
    for part in (
        "Two releases. The base of the logarithm is 2. 5 seeds.",
        "A tiny paper. Two releases of all.\n\n- k is 3.\n",
    ):
        assert part in text
    assert text.count("k is 3.") == 1
    head, _, other, measured = (line for line in text.splitlines() if line.startswith("|"))
    assert head == "| gain | release 1 | release 2 |"
    assert measured.count("(printed 0.5)") == 1
    assert other == "| of another program |  | 0.25 |"
    assert "<td>" in (folder / "index.html").read_text()


def test_a_figure_without_cells_is_named(tmp_path):
    found = tables([TINY], tmp_path)
    with pytest.raises(Missing, match="tiny_gain"):
        means(figure(), found)
    assert "Not measured: there are no cells of tiny_gain" in page([TINY], found)


def test_a_page_has_main_claims_first_then_details_then_theory(folder, monkeypatch):
    decided = {"tolerance": 0.01, "tolerance_from": "rounding", "printed": "beyond .15"}
    theory = Claim(
        3,
        "tiny",
        "4",
        "A lemma.",
        "theory",
        False,
        shown_by=["a sentence", "tests/test_a.py::test_lemma"],
        verdict="holds",
    )
    claims = [
        theory,
        replace(CLAIM, number=2, main=False, not_applicable="it is about loss"),
        replace(CLAIM, **decided),
    ]
    monkeypatch.setattr(reproduction, "all_claims", lambda: claims)
    found = tables([TINY], folder)
    text = page([TINY], found)
    parts = [
        text.index(part)
        for part in ("### Claims of tiny\n", "| 1 | The", "#### Details", "| 2 | The", "#### Theory", "| 3 | A")
    ]
    assert parts == sorted(parts)
    assert "(7.3) | largest gain: at least 0.15 ± 0.01 (rounding) | beyond .15 |" in text
    assert "| holds | none |\n\nNo joint adversary: it is about loss (2).\n" in text
    assert "| 3 | A lemma. (4) | holds | a sentence; `test_lemma` in `tests/test_a.py` |" in text
    assert counted(verdicts_of([TINY], found)) == {("tiny", "holds"): 3}


def test_a_page_has_the_values_of_other_readings(folder, monkeypatch):
    twice = Reading("twice", "SELECT seed, 2 * max(gain) AS value FROM tiny_gain GROUP BY seed")
    monkeypatch.setattr(reproduction, "all_claims", lambda: [replace(CLAIM, at_least=0.5, reading=[twice])])
    found = tables([TINY], folder)
    value = with_interval(*interval(answered(twice.query, found)["value"]))
    assert f"Other readings of claim 1: twice: {value}." in page([TINY], found)


def test_readings_of_two_axes_are_a_table(folder, monkeypatch):
    """The claim as it stands is the first cell; the greatest of five gains, and multiples of it."""
    forms = {("a", "x"): 1, ("a", "y"): 2, ("b", "x"): 3, ("b", "y"): 4}
    own, *others = (
        Reading(", ".join(words), f"SELECT seed, {times} AS value FROM tiny_gain GROUP BY seed", words=words)
        for words, times in forms.items()
    )
    claim = replace(CLAIM, query=own.query, at_least=0.5, reads="a, x", reading=others)
    monkeypatch.setattr(reproduction, "all_claims", lambda: [claim])
    text = page([TINY], tables([TINY], folder))
    assert (
        "| readings of claim 1 | x | y |\n| --- | --- | --- |\n| a | 1 ± 0 | 2 ± 0 |\n| b | 3 ± 0 | 4 ± 0 |\n" in text
    )


def test_a_measured_value_has_its_seeds_and_their_ends():
    decision = Decision("holds", mean=0.25, half=0.1, seeds=3, ends=(0.2, 0.31))
    assert measured(decision) == "0.25 ± 0.10 (3; 0.2 to 0.31)"
    assert measured(decision._replace(half=0.0, ends=(0.25, 0.25))) == "0.25 ± 0 (3)"
    assert measured(Decision()) == ""


def test_claims_of_too_few_seeds_have_a_side(tmp_path, monkeypatch):
    measure([TINY], tmp_path)
    claims = [CLAIM, replace(CLAIM, number=2, at_least=0.3)]
    monkeypatch.setattr(reproduction, "all_claims", lambda: claims)
    sides = counted(verdicts_of([TINY], tables([TINY], tmp_path)))
    assert sides == {("tiny", "provisionally: holds"): 1, ("tiny", "provisionally: does not hold"): 1}


def test_cells_of_other_code_are_counted_and_marked(folder):
    found = tables([TINY], folder)
    assert stale_cells(found) == {}
    rows = found["tiny_gain"]
    others = {"tiny_gain": rows.assign(stale=rows["seed"] < 3)}
    assert stale_cells(others) == {"tiny_gain": "2 of 5"}
    text = page([TINY], others, stale_cells(others))
    assert "Cells measured by other code: 2 of 5 of tiny_gain." in text
    assert text.count("5 seeds, some cells of other code.") == 3


def test_a_table_in_markdown_keeps_its_columns():
    assert markdown_table(["a", "b|c"], [[1, "x"]]) == ["| a | b\\|c |", "| --- | --- |", "| 1 | x |"]


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
        for file, _, test in (each.partition("::") for each in claim.shown_by):
            text = (ROOT / file).read_text(encoding="utf-8") if test else ""
            names = test.partition("[")[0].split("::") if test else []
            assert all(re.search(rf"^\s*(class|def) {each}\b", text, re.M) for each in names), test
    assert all(each.data in ("", ADULT) for each in own.experiments)


@pytest.mark.parametrize("name", ["uhra", "quasi-sensitive"])
def test_figures_are_drawn_from_the_kept_cells(name, tmp_path):
    """Those of the other papers are drawn from small cells, in the tests of their modules."""
    own, kept = paper(name), ROOT / "docs" / "reproduction"
    write_pictures([own], tables([own], kept), tmp_path)
    drawn = {f"{name}-{figure.file}.png" for figure in own.figures if figure.kind != "table"}
    assert {path.name for path in tmp_path.iterdir()} == drawn


def test_a_page_names_further_adversaries_where_they_are_measured(folder, monkeypatch):
    names = (
        "joint",
        "joint, presence read",
        "presence read without groups",
        "learned from the releases",
        "upper bound",
    )
    gains = [
        (seed, "own", name, gain) for seed in SEEDS for name, gain in zip(names, (0.2, 0.3, 0.1, 0.4, 1), strict=True)
    ]
    further = pd.DataFrame(gains, columns=["seed", "defense", "adversary", "gain"])
    claim = replace(CLAIM, further=Further("further", "own", 0.25))
    monkeypatch.setattr(reproduction, "all_claims", lambda: [claim])
    found = tables([TINY], folder) | {"further": pd.DataFrame()}
    assert "further adversaries" not in page([TINY], found).partition("## Claims")[2]
    assert (
        "Claim 1 against further adversaries (mean signed gain at most 0.25, 5 seeds): presence above its control: holds: "
        "0.2 ± 0; learned from the releases: does not hold: 0.4 ± 0; two-sided: cannot be judged: 0.20 to 1.00."
        in page([TINY], found | {"further": further})
    )
