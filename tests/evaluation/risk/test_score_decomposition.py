"""Scores and their decomposition, against other programs, brute force and sums by hand."""

import numpy as np
import pandas as pd
import pytest
from given_beliefs import given_beliefs
from hypothesis import given
from hypothesis import strategies as st

from foreknow.evaluation import brier_score, reliability_curve, score_decomposition
from foreknow.evaluation.risk.reliability_curve import Tallies, recalibrated

RNG = np.random.default_rng(2)
POSTERIORS = [RNG.dirichlet([0.4] * 3, 40).round(2) for _ in range(2)]
POSTERIORS = [rows / rows.sum(axis=1, keepdims=True) for rows in POSTERIORS]
TRUTHS = [RNG.integers(0, 3, 40) for _ in range(2)]
BELIEFS, HISTORY = given_beliefs(TRUTHS, POSTERIORS)


def cells():
    """All beliefs beside their outcomes, as plain lists."""
    pairs = [
        (p, float(value == true))
        for truths, rows in zip(TRUTHS, POSTERIORS, strict=True)
        for true, row in zip(truths, rows, strict=True)
        for value, p in enumerate(row)
    ]
    return np.array(pairs).T


def terms(**options):
    return score_decomposition(BELIEFS, HISTORY, **options).set_index("term")["amount"]


def min_max(tallies):
    """Isotonic regression by its min-max formula: the largest over i <= u of the smallest over j >= u of the mean of i to j."""
    u = len(tallies.belief)

    def mean(i, j):
        return tallies.events[i : j + 1].sum() / tallies.total[i : j + 1].sum()

    return [max(min(mean(i, j) for j in range(place, u)) for i in range(place + 1)) for place in range(u)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=9))
def test_recalibration_is_the_min_max_formula(numbers):
    events, others = np.array(numbers, dtype=float).T
    tallies = Tallies(np.linspace(0, 1, len(events)), events, others)
    np.testing.assert_allclose(recalibrated(tallies), min_max(tallies), atol=1e-12)


def test_scores_by_hand():
    p, y = cells()
    assert terms()["score"] == pytest.approx(3 * np.mean((p - y) ** 2))
    by_record = [
        ((row - np.eye(3)[true]) ** 2).sum()
        for truths, rows in zip(TRUTHS, POSTERIORS, strict=True)
        for true, row in zip(truths, rows, strict=True)
    ]
    assert terms()["score"] == pytest.approx(np.mean(by_record))
    assert terms()["uncertainty"] == pytest.approx(1 - 1 / 3)
    probability = np.maximum(np.where(y == 1, p, 1 - p), 0.01)
    assert terms(score="log", least=0.01)["score"] == pytest.approx(-3 * np.log2(probability).mean())


def test_bins_by_hand():
    """Murphy's three terms from the bins of a plain loop, and the calibration error."""
    p, y = cells()
    number = np.minimum((p * 5).astype(int), 4)
    reliability = resolution = error = 0.0
    for b in set(number.tolist()):
        inside = number == b
        believed, observed, share = p[inside].mean(), y[inside].mean(), inside.mean()
        reliability += share * (believed - observed) ** 2
        resolution += share * (observed - y.mean()) ** 2
        error += share * abs(believed - observed)
    found = terms(decomposition="bins", bins=5)
    assert found["miscalibration"] == pytest.approx(3 * reliability)
    assert found["discrimination"] == pytest.approx(3 * resolution)
    assert found["calibration_error"] == pytest.approx(error)


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("decomposition", ["isotonic", "bins"])
@pytest.mark.parametrize("sensitive", [None, {"a", "c"}])
def test_the_terms_add_up_and_none_is_negative(score, decomposition, sensitive):
    found = terms(score=score, decomposition=decomposition, sensitive_set=sensitive)
    total = found["miscalibration"] - found["discrimination"] + found["uncertainty"] + found["within_bins"]
    assert found["score"] == pytest.approx(total)
    assert (found.drop("within_bins") >= -1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("score", ["brier", "log"])
def test_against_scoringrules(score):
    scoringrules = pytest.importorskip("scoringrules")
    p, y = cells()
    if score == "brier":
        assert terms()["score"] == pytest.approx(3 * scoringrules.brier_score(y, p).mean())
    else:
        inside = np.clip(p, 2.0**-20, 1 - 2.0**-20)
        expected = 3 * scoringrules.log_score(y, inside).mean() / np.log(2)
        assert terms(score="log")["score"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("score", ["brier", "log"])
def test_against_model_diagnostics(score):
    scoring = pytest.importorskip("model_diagnostics.scoring")
    p, y = cells()
    inside = p if score == "brier" else np.clip(p, 1e-4, 1 - 1e-4)
    rule = scoring.SquaredError() if score == "brier" else scoring.LogLoss()
    expected = scoring.decompose(y_obs=y, y_pred=inside, scoring_function=rule)
    unit = 1 if score == "brier" else np.log(2)
    found = terms(score=score, least=1e-4)
    for name in ("score", "miscalibration", "discrimination", "uncertainty"):
        assert found[name] == pytest.approx(3 * expected[name][0] / unit, rel=1e-3), name


def test_a_row_per_release_is_the_same_decomposition():
    table = brier_score(BELIEFS, HISTORY, decomposition="bins", bins=4)
    for number, row in table.iterrows():
        alone, history = given_beliefs([TRUTHS[number]], [POSTERIORS[number]])
        found = score_decomposition(alone, history, decomposition="bins", bins=4).set_index("term")["amount"]
        assert row["brier_score"] == pytest.approx(found["score"])
        for name in ("miscalibration", "discrimination", "uncertainty", "within_bins", "calibration_error"):
            assert row[name] == pytest.approx(found[name])


class TestIntervals:
    def test_of_copied_tables(self):
        """The terms of each draw are those of the tables with copied respondents."""
        table = score_decomposition(BELIEFS, HISTORY, draws=12, level=0.5, rng=4).set_index("term")
        drawn = []
        for weights in np.random.default_rng(4).multinomial(40, np.full(40, 1 / 40), size=12):
            rows = np.repeat(np.arange(40), weights)
            copies = given_beliefs([true[rows] for true in TRUTHS], [some[rows] for some in POSTERIORS])
            drawn.append(score_decomposition(*copies).set_index("term")["amount"])
        drawn = pd.DataFrame(drawn)
        for name in ("score", "miscalibration", "discrimination"):
            value = table.loc[name, "amount"]
            ends = 2 * value - np.quantile(drawn[name], [0.75, 0.25])
            np.testing.assert_allclose(table.loc[name, ["low", "high"]].to_numpy(float), np.maximum(ends, 0))
            assert table.loc[name, "corrected"] == pytest.approx(max(2 * value - drawn[name].mean(), 0))

    def test_overconfidence_is_found_and_calibration_is_not_refused(self):
        """Beliefs .9 of which .6 are right have the miscalibration 2 (.3)^2 = .18, and beliefs of .6 none."""
        rng = np.random.default_rng(8)
        true = (rng.random(400) >= 0.6).astype(int)
        found = {}
        for believed in (0.9, 0.6):
            rows = np.tile([believed, 1 - believed], (400, 1))
            table = score_decomposition(*given_beliefs([true], [rows]), draws=200, rng=1).set_index("term")
            found[believed] = table.loc["miscalibration"]
        assert found[0.9]["low"] <= 0.18 <= found[0.9]["high"]
        assert found[0.9]["low"] > 0.1
        assert found[0.6]["low"] == 0


class TestCurve:
    def test_it_is_the_min_max_formula_at_each_belief(self):
        p, y = cells()
        distinct = np.unique(p.round(9))
        events = np.array([y[p.round(9) == each].sum() for each in distinct])
        others = np.array([(1 - y[p.round(9) == each]).sum() for each in distinct])
        curve = reliability_curve(BELIEFS, HISTORY, draws=0)
        expected = min_max(Tallies(distinct, events, others))
        np.testing.assert_allclose(np.interp(distinct, curve["believed"], curve["observed"]), expected, atol=1e-9)
        assert curve["beliefs"].sum() == len(p)
        assert curve["believed"].is_monotonic_increasing
        assert curve["observed"].is_monotonic_increasing

    def test_numbers_give_the_histogram(self):
        p, _ = cells()
        curve = reliability_curve(BELIEFS, HISTORY, draws=0)
        part = np.minimum((curve["believed"] * 20).astype(int), 19)
        expected = np.bincount(np.minimum((p.round(9) * 20).astype(int), 19), minlength=20)
        np.testing.assert_array_equal(np.bincount(part, curve["beliefs"], minlength=20), expected)

    def test_the_band_is_around_the_curve(self):
        curve = reliability_curve(BELIEFS, HISTORY, draws=100, level=0.99, rng=1)
        inside = (curve["observed_low"] <= curve["observed"] + 1e-9) & (
            curve["observed"] <= curve["observed_high"] + 1e-9
        )
        assert inside.mean() > 0.95
        again = reliability_curve(BELIEFS, HISTORY, draws=100, level=0.99, rng=1)
        pd.testing.assert_frame_equal(curve, again)


def test_nothing_published():
    nothing = given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]])
    assert score_decomposition(*nothing, draws=2, rng=1)[["amount", "low", "high"]].isna().all(axis=None)
    assert len(reliability_curve(*nothing, draws=2, rng=1)) == 0
    assert brier_score(*nothing).drop(columns=["time", "measured", "suppressed"]).isna().all(axis=None)
