"""Experiments of the foreground-knowledge paper: queries on rows of every cell, and measures that need no data set."""

import numpy as np
import pandas as pd
import pytest

from foreknow.defenses import MASK, Anatomy
from foreknow.evaluation.papers.claims import all_claims, judged
from foreknow.evaluation.papers.drawing import answered, draw, means
from foreknow.evaluation.papers.foreground import (
    LOW,
    PAPER,
    PRINTED,
    READINGS,
    STARTS,
    SUPPORTS,
    binary,
    foreground_starts,
    released,
)
from foreknow.models import Numeric, Schema, View

VARIANTS = {
    "foreground_anatomy": [
        *({"support": PRINTED, "unmatched": name} for name in READINGS),
        *({"support": support, "unmatched": "table"} for support in SUPPORTS),
        {"support": 1, "unmatched": "learned"},
    ],
    "foreground_starts": [{"starts": number} for number in STARTS],
    "foreground_techniques": [{"attacker": name} for name in ("paper", "500 records", "learned")],
}
MEASURED = {
    "foreground_anatomy": "belief breached flagged relative_error absolute_error complement_error",
    "foreground_techniques": "breached flagged delta query_error group_size attack_seconds making_seconds known precision "
    "expected brier brier_of_shares auc top top_by_chance",
    "foreground_case": "probability_clerk probability_craft frequency_clerk frequency_craft pair_by_probability "
    "pair_by_frequency craft_is_holder",
    "foreground_intervals": "breached breached_surely flagged flagged_surely precision precision_surely",
    "foreground_starts": "missed worst",
}


@pytest.fixture(scope="module")
def rows():
    """Random numbers in each measured column, for each cell."""
    rng, tables = np.random.default_rng(1), {}
    for each in PAPER.experiments:
        variants = VARIANTS.get(each.name, [{}])
        table = pd.DataFrame(
            [cell | one for cell in each.cells for one in variants[: None if cell.get("strong", True) else 1]]
        )
        for column in MEASURED.get(each.name, "").split():
            table[column] = rng.random(len(table))
        tables[each.name] = table
    return tables


@pytest.mark.parametrize("figure", PAPER.figures, ids=lambda figure: figure.name)
def test_each_figure_has_a_point_for_each_of_its_cells(figure, rows):
    found = means(figure, rows)
    assert found["y"].notna().all()
    if figure.kind == "curves":
        own = found[found["panel"].isin(["", "attack of the paper"])]
        assert all(sorted(x) == [3, 4, 5, 6, 7, 8] for _, x in own.groupby("line")["x"])
        assert found["seeds"].max() == 10
        draw(figure, found).canvas.draw()
    else:
        assert {x for _, _, x, _ in figure.printed} <= set(found["x"])


def test_each_claim_gives_one_value_for_each_seed(rows):
    claims = [claim for claim in all_claims() if claim.paper == "foreground"]
    assert [claim.number for claim in claims] == [*range(82, 103)]
    for claim in claims:
        for query in (claim.query, claim.strongest, *(each.query for each in claim.reading)):
            if query:
                found = answered(query, rows)
                assert found["seed"].is_unique
                assert found["value"].notna().sum() >= 3
    assert all(verdict.own.verdict for verdict in judged(claims, rows))


@pytest.mark.parametrize("defense", [Anatomy(2, LOW, rng=1), MASK(2, 2, LOW, rng=1)])
def test_the_release_of_two_values_shows_the_set_as_often(defense):
    """The sensitive set is one in three of twelve records, and MASK distorts some."""
    values = [LOW[0], "Bachelors", "Masters", LOW[1], "HS-grad", "HS-grad"] * 2
    frame = pd.DataFrame({"id": range(12), "age": [20, 21, 22, 20, 23, 24] * 2, "education": values})
    schema = Schema({"age": Numeric()}, "education", (*LOW, "Bachelors", "HS-grad", "Masters"))
    release = released(View(frame, schema), defense)
    two = binary(release)
    assert two.counts.tolist() == [[row[:4].sum(), row[4:].sum()] for row in release.counts]
    assert (two.view.frame["education"] == "low").tolist() == [value in LOW for value in values]


def test_more_starts_miss_no_more_of_the_best_solutions():
    found = foreground_starts({"releases": 8, "seed": 1}, np.random.default_rng(1))
    assert found["starts"].tolist() == [1, 2, 4, 8]
    assert found["missed"].is_monotonic_decreasing
    assert found["worst"].is_monotonic_decreasing
