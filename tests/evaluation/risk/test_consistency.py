"""Consistency test of calibration: its draws follow the beliefs, and its p-values are uniform for calibrated beliefs."""

import numpy as np
import pytest
from given_beliefs import dependent_beliefs, given_beliefs

from foreknow.evaluation import consistency_test, score_decomposition
from foreknow.evaluation.risk.beliefs_and_truth import forecasts
from foreknow.evaluation.risk.reliability_curve import drawn_outcomes


def calibrated(rng, respondents=60, releases=1):
    """Beliefs from which the true values are drawn, independently for each record."""
    rows = [rng.dirichlet([0.6, 0.6, 0.6], respondents) for _ in range(releases)]
    truths = [(row.cumsum(axis=1)[:, :-1] <= rng.random(respondents)[:, None]).sum(axis=1) for row in rows]
    return given_beliefs(truths, rows)


class TestDraws:
    @pytest.mark.parametrize("dependence", ["respondents", "records"])
    def test_each_record_has_one_value_with_the_probabilities_of_its_beliefs(self, dependence):
        rng = np.random.default_rng(1)
        found = forecasts("test", *calibrated(rng, 5, 2), None, None)
        drawn = np.array([drawn_outcomes(found, dependence, rng) for _ in range(4000)])
        assert (drawn.reshape(len(drawn), -1, 3).sum(axis=2) == 1).all()
        error = np.sqrt(found.belief * (1 - found.belief) / len(drawn))
        assert (np.abs(drawn.mean(axis=0) - found.belief) <= 4.5 * error + 1e-12).all()

    def test_equal_beliefs_about_a_respondent_have_equal_values(self):
        beliefs, history = dependent_beliefs(np.random.default_rng(2), respondents=20, releases=3)
        found = forecasts("test", beliefs, history, None, None)
        rng = np.random.default_rng(3)
        same = drawn_outcomes(found, "respondents", rng).reshape(3, 20, 2)
        other = drawn_outcomes(found, "records", rng).reshape(3, 20, 2)
        assert (same == same[0]).all()
        assert not (other == other[0]).all()

    def test_a_set_has_one_forecast_of_each_record(self):
        found = forecasts("test", *calibrated(np.random.default_rng(4), 8), {"a", "b"}, None)
        assert drawn_outcomes(found, "records", np.random.default_rng(5)).shape == (8,)


class TestPValues:
    @pytest.mark.slow
    def test_they_are_uniform_for_calibrated_beliefs(self):
        """Kolmogorov-Smirnov: the largest difference of 150 p-values from the uniform law is under 1.95 / sqrt(150) at 1e-3.

        A p-value has the steps of its 49 draws, 1/50.
        """
        rng = np.random.default_rng(6)
        found = [
            consistency_test(*calibrated(rng), dependence="records", draws=49, rng=rng)["p_value"] for _ in range(150)
        ]
        for p in np.array(found).T:
            steps = np.arange(1, len(p) + 1) / len(p)
            assert np.abs(np.sort(p) - steps).max() < 1.95 / np.sqrt(len(p)) + 1 / 50

    def test_they_are_small_for_overconfident_beliefs(self):
        rng = np.random.default_rng(7)
        rows = rng.dirichlet([0.6, 0.6, 0.6], 200)
        truth = (rows.cumsum(axis=1)[:, :-1] <= rng.random(200)[:, None]).sum(axis=1)
        sharper = rows**4 / (rows**4).sum(axis=1, keepdims=True)
        table = consistency_test(*given_beliefs([truth], [sharper]), draws=99, rng=rng).set_index("term")
        assert (table["p_value"] == 0.01).all()
        assert (table["amount"] > table["calibrated_high"]).all()

    def test_the_same_values_in_all_releases_are_no_miscalibration(self):
        """Of 60 respondents with one value in four releases, independent draws reject calibrated beliefs, drawn respondents do not.

        The observed rate differs by more than two standard errors of 240 records, and less than two of 60 respondents.
        """
        beliefs, history = given_beliefs([(np.arange(60) >= 24).astype(int)] * 4, [np.tile([0.3, 0.7], (60, 1))] * 4)
        by_records, by_respondents = (
            consistency_test(beliefs, history, dependence=kind, draws=199, rng=8).set_index("term")["p_value"]
            for kind in ("records", "respondents")
        )
        assert by_records["miscalibration"] < 0.03 < 0.05 < by_respondents["miscalibration"]


class TestTable:
    def test_the_value_is_that_of_the_decomposition(self):
        beliefs, history = calibrated(np.random.default_rng(9), releases=2)
        for options in ({}, {"score": "log"}, {"decomposition": "bins", "bins": 4}, {"sensitive_set": {"a"}}):
            terms = score_decomposition(beliefs, history, **options).set_index("term")["amount"]
            table = consistency_test(beliefs, history, draws=3, rng=1, **options).set_index("term")
            for term in ("miscalibration", "calibration_error"):
                assert table["amount"][term] == pytest.approx(terms[term])

    def test_no_published_record(self):
        table = consistency_test(*given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]]), draws=2, rng=1)
        assert table[["amount", "calibrated", "p_value"]].isna().all().all()

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"draws": 0}, "draws is 0"),
            ({"dependence": "groups"}, "dependence is 'groups'"),
            ({"least": 1}, "least is 1"),
            ({"level": 0}, "level is 0"),
        ],
    )
    def test_wrong_settings(self, options, words):
        with pytest.raises(ValueError, match=words):
            consistency_test(*calibrated(np.random.default_rng(1), 4), **options)
