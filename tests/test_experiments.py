"""Experiments: their kept cells are measured again, and the documentation has its numbers from them."""

import importlib
import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from places import ROOT

from foreknow.evaluation import compare_cascades
from foreknow.evaluation.cells import recompute, run
from foreknow.evaluation.papers import PAPERS, paper, reproduction
from foreknow.evaluation.papers.claims import HOLDS, LEAST_SEEDS, OPEN, all_claims, judged
from foreknow.evaluation.papers.drawing import Missing, answered
from foreknow.models import Enumeration, Noise, PriorCascade

CELLS = ROOT / "experiments" / "cells"
FINDINGS = sorted((ROOT / "docs" / "findings").glob("*.md"))
MARKED = [path for path in (ROOT / "docs").rglob("*.md") if "<!-- table: " in path.read_text(encoding="utf-8")]

MOST_WORDS, MOST_OF_ALL = 300, 9000
"""Largest number of words of a conclusion, with its table, and of all."""


@pytest.fixture(scope="module")
def experiments():
    sys.path.insert(0, str(ROOT))
    try:
        yield importlib.import_module("experiments")
    finally:
        sys.path.remove(str(ROOT))


def test_kept_cells_are_measured_again(experiments):
    """Random fast cells, during `FOREKNOW_CELLS_SECONDS`; `make cells` keeps those that changed."""
    seconds, rng = float(os.environ.get("FOREKNOW_CELLS_SECONDS", "5")), np.random.default_rng(time.time_ns())
    found = recompute(experiments.measurable(), CELLS, seconds, rng)
    assert len(found)
    assert not found.loc[found["difference"] != "", ["cell", "difference"]].to_dict("records")


@pytest.fixture(scope="module")
def tables(experiments):
    return importlib.import_module("experiments.pages").tables()


@pytest.mark.parametrize("page", MARKED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_tables_are_those_of_the_cells(tables, page):
    text = page.read_text(encoding="utf-8")
    assert importlib.import_module("experiments.pages").filled(text, tables) == text


def test_the_page_of_the_reproduction_is_that_of_its_cells(tables):
    papers = [paper(name) for name in PAPERS]
    text = (ROOT / "docs" / "reproduction" / "index.md").read_text(encoding="utf-8")
    assert reproduction.page(papers, tables) == text


def test_a_claim_has_one_value_for_each_seed(tables):
    """Else the interval would be of more numbers than there are independent ones."""
    for claim in all_claims():
        for query in filter(None, (claim.query, claim.strongest, *(each.query for each in claim.reading))):
            with suppress(Missing):
                assert not answered(query, tables)["seed"].duplicated().any(), claim.number


@pytest.mark.parametrize("page", FINDINGS, ids=lambda path: path.stem)
def test_each_table_of_the_findings_is_made_from_cells(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [
        number for number, line in enumerate(lines) if line.startswith("|") and not lines[number - 1].startswith("|")
    ]
    assert not [lines[number] for number in heads if not lines[number - 2].startswith("<!-- table: ")]


def conclusions(page):
    """Sections of a page of the findings."""
    return re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def test_conclusions_are_short_and_listed():
    """A word has a letter or a digit; half widths of intervals are left out."""
    index, words = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8"), {}
    for page in FINDINGS:
        for part in conclusions(page):
            title = part.partition("\n")[0]
            words[title] = len(re.findall(r"(?<!± )(?<!\S)\S*\w\S*", part))
            assert f"[{title}](findings/{page.name}#" in index
    assert {title: number for title, number in words.items() if number > MOST_WORDS} == {}
    assert sum(words.values()) <= MOST_OF_ALL


PARTS = (r"^(\| |!\[)", r"^\*\*How sure:\*\* ", r"^\*\*For publishers:\*\* ", r"^Experiments?: ")
"""Table or picture, certainty, what it means for publishers, link to the experiment."""


@pytest.mark.parametrize("page", FINDINGS, ids=lambda path: path.stem)
def test_conclusions_have_all_parts(page):
    parts = {part.partition("\n")[0]: part for part in conclusions(page)}
    assert not [title for title, part in parts.items() if not all(re.search(one, part, re.MULTILINE) for one in PARTS)]


@pytest.mark.parametrize("page", ["papers-hold", "papers-fail"])
def test_claims_stand_on_the_page_of_their_verdict(tables, page):
    """With too few seeds the mean decides; an open verdict of enough seeds is named in the text."""
    wrong = {}
    for part in conclusions(ROOT / "docs" / "findings" / f"{page}.md"):
        text = " ".join(line for line in part.splitlines() if not line.startswith("|"))
        numbers = re.search(r"pages\.verdicts\(([\d, ]+)\)", part)
        asked = [claim for claim in all_claims() if numbers and str(claim.number) in numbers[1].split(", ")]
        for claim, own, *_ in judged(asked, tables):
            if own.seeds < LEAST_SEEDS:
                low, high = claim.at_least, claim.at_most
                holds = (low is None or own.mean >= low) and (high is None or own.mean <= high)
            elif own.verdict == OPEN:
                holds = None
            else:
                holds = re.match(f"{HOLDS}(?! in part)", own.verdict) is not None
            if holds != (page == "papers-hold") and not (holds is None and OPEN in text):
                wrong[claim.number] = own
    assert not wrong


@pytest.mark.usefixtures("experiments")
@pytest.mark.parametrize("size", [2, 3])
def test_small_histories_of_cascades_are_solved_exactly(monkeypatch, size):
    """The sums over all assignments at once, which the experiment uses, against the enumeration of the package."""
    cascades = importlib.import_module("experiments.cascades")
    monkeypatch.setattr(cascades, "HISTORIES", {size: 5})
    releases, adversary = cascades.small_histories(size, 0.5, np.random.default_rng(size))
    told = cascades.claims(releases, 0.7, "each", np.arange, np.random.default_rng(1))
    known = {"": replace(adversary, compromised=told, cascade=PriorCascade())}
    one, other = (
        compare_cascades(releases, {"none": None}, known, solver=solver)
        for solver in (cascades.SmallHistories(2 * size), Enumeration())
    )
    pd.testing.assert_frame_equal(one, other, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("experiments")
def test_redrawn_worlds_of_one_publication(tmp_path):
    """Pairs of `pbc`: `GroupGraph` is calibrated, `GroupMessages` expects too few of its sure beliefs to be right."""
    experiment = importlib.import_module("experiments.redrawn_worlds").REDRAWN_WORLDS
    assert len(experiment.cells) == 3 * 10 * 2
    cells = [cell for cell in experiment.cells if (cell["history"], cell["defense"]) == ("pbc", "Anatomy(2)")]
    rows = run([replace(experiment, cells=cells)], tmp_path).set_index("solver")
    assert (rows["beliefs"] == 9290).all()
    assert rows.loc["group-messages", "z"] > 3
    assert abs(rows.loc["group-graph", "z"]) < 3
    assert abs(rows.loc["group-graph", "difference"]) < 3 * rows.loc["group-graph", "standard_error"]


def test_exact_counts_with_noise_while_a_batch_is_open_keep_their_bound():
    """Four members, of whom two leave one after the other: the mean gain over the law is below ``1 - (1 - 1/a)(1 - G)``."""
    prior, paths = np.array([0.8, 0.2]), list(product((0, 1), repeat=3))
    chain = 0.95 * np.eye(2) + 0.05 * prior
    weight = {path: prior[path[0]] * chain[path[0], path[1]] * chain[path[1], path[2]] for path in paths}
    # Value 1 in all four, in three while the batch is open, and in the two who stay; and the value of a member at a time.
    joint = np.zeros((4, 3, 5, 4, 3, 2))
    for world in product(paths, repeat=4):
        counts = (
            sum(path[0] for path in world),
            sum(path[1] for path in world[1:]),
            sum(path[2] for path in world[2:]),
        )
        for (i, path), t in product(enumerate(world), range(3)):
            joint[(i, t, *counts, path[t])] += np.prod([weight[each] for each in world])
    published, held = np.arange(-16, 20), np.arange(4)[:, None]
    for noise in (Noise("gaussian", 1.0), Noise("laplace", 0.5)):
        both = noise.log_probability(published - (3 - held)), noise.log_probability(published - held)
        law = np.exp(both[0][:, :, None] + both[1][:, None, :]).reshape(4, -1)
        seen = np.einsum("itabcv,by->itaycv", joint, law)
        belief = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1e-300)
        gains = (seen * (belief - prior) / (1 - prior)).sum(axis=(2, 3, 4, 5))
        assert 0.5 < gains.max() < 1 - 0.5 * (1 - noise.gain(1))
