"""Plots of reliability and of the retroactive leak show the numbers of their tables."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from given_beliefs import given_beliefs

from foreknow.evaluation import leak_plot, reliability_curve, reliability_plot, retroactive_leak

RNG = np.random.default_rng(4)
POSTERIORS = [RNG.dirichlet([0.5, 0.5, 0.5], 30) for _ in range(3)]
TRUTHS = [RNG.integers(0, 3, 30) for _ in range(3)]
BELIEFS, HISTORY = given_beliefs(TRUTHS, POSTERIORS)
CURVE = reliability_curve(BELIEFS, HISTORY, rng=1, draws=20)
SHARPER = given_beliefs(TRUTHS, [rows**2 / (rows**2).sum(axis=1, keepdims=True) for rows in POSTERIORS])[0]
LEAK = retroactive_leak(BELIEFS, SHARPER, HISTORY, sure=0.6)


def drawn(panels, tmp_path):
    """The figure of the panels as pixels, drawn without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panels.flat[0].figure.savefig(tmp_path / "picture.png")
    return mpl.image.imread(tmp_path / "picture.png")


class TestReliability:
    def test_the_curve_the_band_and_the_numbers(self):
        upper, lower = reliability_plot({"mine": CURVE})[:, 0]
        diagonal, curve = upper.lines
        np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
        np.testing.assert_array_equal(curve.get_xydata(), CURVE[["believed", "observed"]])
        band = upper.collections[0].get_paths()[0].vertices
        assert band[:, 1].min() == CURVE["observed_low"].min()
        assert band[:, 1].max() == CURVE["observed_high"].max()
        heights = np.array([bar.get_height() for bar in lower.patches])
        number = np.minimum((np.concatenate([rows.ravel() for rows in POSTERIORS]) * 20).astype(int), 19)
        np.testing.assert_array_equal(heights, np.bincount(number, minlength=20))

    def test_without_a_band(self):
        upper, _ = reliability_plot({"mine": CURVE.drop(columns=["observed_low", "observed_high"])})[:, 0]
        assert not upper.collections

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [1, 2, 3, 4, 7])
    def test_a_panel_for_each_attack(self, number, tmp_path):
        panels = reliability_plot({f"attack {each} for $5": CURVE for each in range(number)})
        assert panels.shape == (2, number)
        assert set(panels.flat) == set(panels[0, 0].figure.axes)
        assert [axes.get_title()[:8] for axes in panels[0]] == [f"attack {each}" for each in range(number)]
        assert [axes.get_ylabel() != "" for axes in panels[0]] == [each % 3 == 0 for each in range(number)]
        assert drawn(panels, tmp_path).shape[1] <= 1100  # within a notebook at 100 dots per inch

    def test_nothing_published(self, tmp_path):
        nothing = reliability_curve(*given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]]), draws=2, rng=1)
        drawn(reliability_plot({"nothing": nothing}), tmp_path)

    def test_no_curves(self):
        with pytest.raises(ValueError, match="reliability_plot: curves is empty; give at least one"):
            reliability_plot({})


class TestLeak:
    def test_the_numbers_of_the_table(self, tmp_path):
        left, middle, right = panels = leak_plot(LEAK, "week")
        for axes, measure in ((left, "log_score"), (middle, "sure")):
            forward, hindsight = axes.lines
            np.testing.assert_array_equal(forward.get_ydata(), LEAK[f"{measure}_forward"])
            np.testing.assert_array_equal(hindsight.get_ydata(), LEAK[f"{measure}_hindsight"])
            assert axes.get_xlabel() == "week"
        np.testing.assert_array_equal(right.lines[1].get_ydata(), LEAK["leak"])
        assert drawn(panels, tmp_path).shape[1] <= 1200
        assert [text.get_text() for text in right.get_legend().texts] == ["forward", "in hindsight", "difference"]

    @pytest.mark.parametrize(
        "times",
        [
            ["2024-1", "2024-2 for $1", "$2"],
            [1, 2, 9],
            list(pd.to_datetime(["2024-01-01", "2024-01-08", "2024-03-01"])),
        ],
    )
    def test_any_times(self, times, tmp_path):
        drawn(leak_plot(LEAK.assign(time=times)), tmp_path)

    def test_a_gap_breaks_the_lines(self):
        line = leak_plot(LEAK.assign(time=[1, 2, 9]))[0].lines[0]
        assert np.isnan(line.get_ydata()).tolist() == [False, False, True, False]

    @pytest.mark.slow
    def test_missing_numbers_and_no_release(self, tmp_path):
        drawn(leak_plot(LEAK.assign(leak=np.nan, log_score_forward=np.nan)), tmp_path)
        drawn(leak_plot(LEAK.head(0)), tmp_path)

    def test_a_repeated_time(self):
        with pytest.raises(ValueError, match="a time of the table is repeated"):
            leak_plot(pd.concat([LEAK, LEAK]))
