"""Experiments of quasi-sensitive attributes on the four patients of the paper's Figure 1, whose costs are a few fractions."""

import numpy as np
import pandas as pd
import pytest

from foreknow.defenses import QSCloseness, QSDiversity
from foreknow.evaluation.papers import quasi_sensitive
from foreknow.evaluation.papers.claims import all_claims
from foreknow.evaluation.papers.drawing import answered, means
from foreknow.models import ExternalKnowledge, Linking, Numeric, Schema, View

SYMPTOMS = ("cough, headache, sore throat", "cough, headache", "headache, vomiting", "headache, sore throat")
LINKING = Linking(
    ExternalKnowledge(
        {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    ),
    "symptoms",
)
CLAIMS = [claim for claim in all_claims() if claim.paper == "quasi-sensitive" and claim.query]


def patients(times=1):
    ages = [22, 25, 30, 35] * times
    frame = pd.DataFrame({"id": range(len(ages)), "age": ages, "symptoms": SYMPTOMS * times})
    return View(frame, Schema({"age": Numeric(22, 35)}, "symptoms", SYMPTOMS))


@pytest.mark.parametrize("search", ["printed", "plain", "adaptive"])
def test_means_are_those_of_the_groups(search):
    """The first two patients have the flu for certain: p = (1,) fails. One of them must show no item, so that p = (3/4, 1/4).

    The removal of all their items costs 1/3 + 1/2 + 1 and 1/2 + 1. The other group satisfies. Ages have widths 3 and 5 of 13.
    """
    row = quasi_sensitive.suppressed(patients(), 2, QSDiversity(3, 2, LINKING), search, 500, np.random.default_rng(1))
    least = (1 / 2 + 1) / (1 / 3 + 1 / 2 + 1 + 1 / 2 + 1)
    assert row["cost"] == pytest.approx((least + 0) / 2, abs=1e-6)
    assert (row["failing"], row["solved"], row["proven"]) == (0.5, 1, 1)
    assert row["gcp"] == pytest.approx((2 * 3 / 13 + 2 * 5 / 13) / 4, abs=1e-5)
    assert row["cost"] <= row["first_cost"] <= 1 / 2


def test_without_groups_that_fail_all_are_solved():
    row = quasi_sensitive.suppressed(patients(), 4, QSDiversity(3, 2, LINKING), "plain", 500, np.random.default_rng(1))
    assert (row["failing"], row["cost"], row["solved"], row["gcp"]) == (0, 0, 1, 1)


@pytest.fixture(scope="module")
def tables():
    """Rows of the first seed, on ten times the patients and with requirements that they can satisfy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quasi_sensitive, "data", lambda *_: (patients(10), LINKING))
        patch.setattr(quasi_sensitive, "QSDiversity", lambda c, _, linking: QSDiversity(3 + c, 2, linking))
        patch.setattr(quasi_sensitive, "QSCloseness", lambda t, linking: QSCloseness(t + 0.5, linking))
        return {
            each.name: pd.concat(
                each.measure(cell, np.random.default_rng(1)).assign(**cell) for cell in each.cells if cell["seed"] == 1
            )
            for each in quasi_sensitive.EXPERIMENTS
        }


def test_generalization_alone_removes_nothing(tables):
    rows = tables["quasi_sensitive_closeness"].set_index("search")
    assert (rows.loc["generalization only", "cost"] == 0).all()


def test_every_figure_and_claim_has_a_value(tables):
    for figure in quasi_sensitive.PAPER.figures:
        assert means(figure, tables)["y"].notna().all()
    for claim in CLAIMS:
        for query in (claim.query, *(each.query for each in claim.reading)):
            assert answered(query, tables)["seed"].to_list() == [1]
