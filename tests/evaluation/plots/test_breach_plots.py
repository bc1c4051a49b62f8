"""Plots of breaches show the numbers of the tables."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from strategies import view_of

from foreknow.attacks import SnapshotAttack
from foreknow.evaluation import breach_curve, breaches
from foreknow.models import Adversary, Exact, GivenPrior, History, Release

VIEW = view_of("ABCDEFG", "xxyyyxy", domain="xy")
HISTORY = History([VIEW])
PRIOR = GivenPrior(
    pd.DataFrame({"x": (p := np.array([0.8, 0.3, 0.6, 0.2, 0.5, 0.4, 0.4])), "y": 1 - p}, index=list("ABCDEFG"))
)
BELIEFS = SnapshotAttack(Adversary(PRIOR, estimator=Exact()))([Release(VIEW, [0, 0, 0, 1, 1, 2, 2])])
"""A, B and C, two of them with x; D and E without x; F and G, one of them with x."""


def drawn(panels, tmp_path):
    """The figure of the panels as pixels, drawn without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panels[0].figure.savefig(tmp_path / "picture.png")
    return mpl.image.imread(tmp_path / "picture.png")


def at(line, threshold):
    """Height of a step curve at a place."""
    return line.get_ydata()[np.searchsorted(line.get_xdata(), threshold, side="right") - 1]


def curves(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


class TestCurve:
    @pytest.mark.parametrize("r", [1, 1.2, 1.5, 2, 3, 7, 50])
    def test_at_each_threshold_it_is_the_table(self, r):
        """Away from the ends of the steps, where rounding decides."""
        r = r * 1.0001
        left, right = (curves(axes) for axes in breach_curve(BELIEFS, HISTORY, {"x"}))
        found = breaches(BELIEFS, HISTORY, {"x"}, r).iloc[0]
        assert at(left["holders: attack"], 1 / r) == pytest.approx(found["breached"])
        assert at(left["non-holders: attack"], 1 / r) == pytest.approx(found["flagged"])
        assert at(left["holders: group shares"], 1 / r) == pytest.approx(found["breached_of_shares"])
        for name, column in (("observed", "precision"), ("expected by the attack", "expected_precision"),
                             ("expected from group shares", "expected_precision_of_shares")):  # fmt: skip
            assert at(right[name], 1 / r) == pytest.approx(found[column], nan_ok=True)

    def test_steps_are_strict(self):
        """A, B and C share 2/3: not over 2/3 itself."""
        line = curves(breach_curve(BELIEFS, HISTORY, {"x"})[0])["holders: group shares"]
        assert line.get_drawstyle() == "steps-post"
        np.testing.assert_allclose(line.get_xdata(), [0, 1 / 2, 2 / 3, 1], atol=1e-9)
        np.testing.assert_allclose(line.get_ydata(), [1, 2 / 3, 0, 0])

    def test_a_marked_threshold_has_its_numbers(self, tmp_path):
        panels = breach_curve(BELIEFS, HISTORY, {"x"}, r=2)
        found = breaches(BELIEFS, HISTORY, {"x"}, 2).iloc[0]
        written = [[text.get_text() for text in axes.texts] for axes in panels]
        assert written == [[f"{found['breached']:.1%}", f"{found['flagged']:.1%}"], [f"{found['precision']:.1%}"]]
        assert "3 holders among 7 records" in panels[0].figure.get_suptitle()
        assert drawn(panels, tmp_path).std() > 0

    @pytest.mark.slow
    def test_no_holder_or_no_published_record(self, tmp_path):
        for labels, true in (([0] * 7, "yyyyyyy"), ([-1] * 7, "xxyyyxy")):
            view = view_of("ABCDEFG", true, domain="xy")
            beliefs = SnapshotAttack(Adversary(PRIOR))([Release(view, labels)])
            panels = breach_curve(beliefs, History([view]), {"x"}, r=2)
            assert drawn(panels, tmp_path).std() > 0

    def test_who_is_left_out(self):
        panels = breach_curve(BELIEFS, HISTORY, {"x"}, leaving_out={"A"})
        assert "2 holders among 6 records" in panels[0].figure.get_suptitle()

    def test_errors(self):
        with pytest.raises(ValueError, match=r"breach_curve: r is 0\.5"):
            breach_curve(BELIEFS, HISTORY, {"x"}, r=0.5)
        with pytest.raises(ValueError, match="breach_curve: the sensitive set holds 'z'"):
            breach_curve(BELIEFS, HISTORY, {"z"})
