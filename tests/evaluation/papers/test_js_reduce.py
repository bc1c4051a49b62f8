"""The experiments of JS-reduce at a small size: every figure and claim reads what they measure."""

import numpy as np
import pytest

from foreknow.evaluation.papers import js_reduce
from foreknow.evaluation.papers.claims import all_claims
from foreknow.evaluation.papers.drawing import answered, draw, means

CLAIMS = [claim for claim in all_claims() if claim.paper == "js-reduce" and claim.query]


@pytest.fixture(scope="module")
def tables():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "RECORDS": 60,
            "SMALLER_CORPORA": (50, 40),
            "QUERIES": 50,
            "SELECTIVITIES": (0.01, 0.2),
        }.items():
            patch.setattr(js_reduce, name, value)
        rng = np.random.default_rng(1)
        found = {}
        for each in js_reduce.EXPERIMENTS:
            first = min(cell["seed"] for cell in each.cells)
            cells = [cell | {"seed": 1} for cell in each.cells if cell["seed"] == first]
            parts = [each.measure(cell, rng).assign(**cell, seconds=1.0) for cell in cells]
            found[each.name] = js_reduce.pd.concat(parts)
    return found


def test_every_figure_is_drawn_with_each_line(tables):
    for figure in (each for each in js_reduce.FIGURES if each.kind != "table"):
        draw(figure, means(figure, tables)).canvas.draw()
    lines = {figure.name: len(set(means(figure, tables)["line"])) for figure in js_reduce.FIGURES}
    assert lines["3"] == 5
    assert lines["3 (variants)"] == 3
    assert lines["4a"] == lines["4b"] == lines["4c"] == 7
    assert lines["6"] == 4
    assert lines["7"] == 4
    assert lines["8a"] == 5
    assert lines["Section 7.4"] == 10


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.number))
def test_every_query_of_a_claim_gives_one_row_per_seed(claim, tables):
    for query in filter(None, (claim.query, claim.strongest, *(each.query for each in claim.reading))):
        assert answered(query, tables)[["seed", "value"]].shape == (1, 2)


def test_the_adversary_of_one_step_is_that_of_the_law_of_order_1(tables):
    """Without a past, the chain cut to one step is the chain."""
    rows = tables["js_reduce_existing"].query("law == 'order 1' and variant == 'strict'")
    gains = rows.pivot_table(index=["technique", "release"], columns="attacker", values="gain")
    np.testing.assert_allclose(gains["DK"], gains["1-step DK"], atol=1e-4)
