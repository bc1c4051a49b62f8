"""Forest plots show the intervals of the beliefs, and convergence plots the diagnostics of each group."""

import dataclasses
import itertools

import arviz_plots
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy import stats
from strategies import history_of

from foreknow.attacks import SequentialAttack
from foreknow.attacks.adversary_attack import DrawWeights, mixture
from foreknow.evaluation import belief_forest, belief_over_time, convergence_plot
from foreknow.evaluation.risk.respondent_risk import weighted_quantiles
from foreknow.models import Adversary, Averaged, Beliefs, MarkovChain, Release, Status, UniformPrior

HISTORY = history_of(("ABCD", "abca"), ("ABC", "bbc"))
RELEASES = [Release(HISTORY[0], [0, 0, 1, 1]), Release(HISTORY[1], [0, 0, 0])]
CHAINS = [MarkovChain(1, np.full((3, 3), (1 - stay) / 2) + np.eye(3) * (1.5 * stay - 0.5)) for stay in (0.4, 0.6, 0.9)]
EXACT = SequentialAttack(Adversary(UniformPrior(), CHAINS[1]))(RELEASES)
AVERAGED = SequentialAttack(
    Averaged([Adversary(UniformPrior(), chain) for chain in CHAINS], weights=[0.2, 0.5, 0.3], updated=False)
)(RELEASES)
ERRORS = np.array([[0.02, 0.03, 0.01], [0.2, 0.01, 0.05], [0, 0.1, 0.1]])


def sampled(beliefs, error=ERRORS, rhat=1.0, status=0, divergences=None):
    """Beliefs whose last release has the diagnostics of a sampler."""
    first, last = beliefs.releases
    posterior = dataclasses.replace(
        last.posterior,
        standard_error=error,
        ess=np.full(error.shape, 250.0),
        rhat=np.broadcast_to(rhat, error.shape),
        status=np.full(1, int(status)),
        divergences=divergences,
    )
    return Beliefs((first, dataclasses.replace(last, posterior=posterior)))


SAMPLED = sampled(EXACT)


def points(axes, number=0):
    """Points and labels of the rows, from the top."""
    labels = [text.get_text() for text in axes.get_yticklabels()][::-1]
    return dict(zip(labels, axes.lines[number].get_xdata()[::-1], strict=True))


def ends(axes, number):
    """Ends of the lines of a kind (outer and inner intervals of each attack), from the top."""
    return np.array([segment[:, 0] for segment in axes.collections[number].get_segments()])[::-1]


class TestForest:
    def test_the_beliefs_of_the_table_in_decreasing_order(self):
        shown = points(belief_forest(EXACT, "b"))
        expected = EXACT.posterior(2)["b"].sort_values(ascending=False, kind="stable")
        assert list(shown) == expected.index.tolist()
        assert np.allclose(list(shown.values()), expected)

    def test_intervals_between_draws(self):
        """Draws of weights .2, .5 and .3: the 80 % interval is from the first of them to the third, in their order."""
        axes = belief_forest(AVERAGED, "b", mass=0.8)
        drawn = np.array(
            [[draw.posterior(2).loc[name, "b"] for name in points(axes)] for draw in AVERAGED.draws.beliefs]
        )
        weights = np.array([0.2, 0.5, 0.3])
        outer, inner = ends(axes, 0), ends(axes, 1)
        for row, beliefs in enumerate(drawn.T):
            order = np.argsort(beliefs)
            total = np.cumsum(weights[order])
            for shown, levels in ((outer, (0.1, 0.9)), (inner, (0.25, 0.75))):
                expected = [beliefs[order][np.flatnonzero(total >= level)[0]] for level in levels]
                assert np.allclose(shown[row], expected)
        assert "80% interval between draws" in axes.get_legend().texts[0].get_text()

    def test_monte_carlo_intervals(self):
        axes = belief_forest({"mine": SAMPLED, "exact": EXACT}, "c", respondents=list("ABC"), mass=0.95)
        error = dict(zip("ABC", ERRORS[:, 2], strict=True))
        for (name, belief), shown in zip(points(axes).items(), ends(axes, 0), strict=True):
            normal = [belief + sign * stats.norm.isf(0.025) * error[name] for sign in (-1, 1)]
            assert np.allclose(shown, np.clip(normal, 0, 1))
        assert np.ptp(ends(axes, 2), axis=1).max() == 0, "no interval of exact beliefs"
        labels = [text.get_text() for text in axes.get_legend().texts]
        assert labels == ["mine: 95% Monte Carlo interval", "exact: no interval"]

    def test_holders_and_the_release(self):
        axes = belief_forest(EXACT, "a", release=1, history=HISTORY)
        grey = {round(patch.get_y() + 0.5) for patch in axes.patches}
        labels = [text.get_text() for text in axes.get_yticklabels()]
        assert {labels[row] for row in grey} == {"A", "D"}
        assert axes.get_legend().texts[-1].get_text() == "has a"
        assert axes.get_xlabel() == "belief in result = a after release 1"

    def test_it_is_drawn(self, tmp_path):
        belief_forest({"$a": AVERAGED, "b$": SAMPLED}, "b", history=HISTORY).figure.savefig(tmp_path / "picture.png")
        assert np.ptp(mpl.image.imread(tmp_path / "picture.png")) > 0

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ((3, "a"), TypeError, "belief_forest: beliefs is 3; it is a mapping of titles"),
            (({"mine": 3}, "a"), TypeError, r"beliefs\['mine'\] is 3; it is a Beliefs"),
            (({}, "a"), ValueError, "beliefs is empty"),
            ((Beliefs(()), "a"), ValueError, "the beliefs are of no release"),
            ((EXACT, None), ValueError, "value is None; it is one of a, b, c"),
            ((EXACT, "z"), ValueError, "value is 'z'; it is one of a, b, c"),
            ((EXACT, "a", ["A", "Z"]), ValueError, "respondent 'Z' is not in the release"),
            ((EXACT, "a", "AB"), TypeError, "respondents is 'AB'; it is a list of respondents"),
            ((EXACT, "a", [["A"]]), TypeError, "a respondent is "),
            ((EXACT, "a", None, [1]), TypeError, "release is "),
            ((EXACT, "a", []), ValueError, "there is no respondent to show"),
            ((EXACT, "a", None, 7), ValueError, "the beliefs have no release at 7; there are 1, 2"),
            ((EXACT, "a", None, None, 3), TypeError, "history is 3; it is the History of the original records"),
            ((EXACT, "a", None, 1, HISTORY, 0.5), ValueError, r"mass is 0\.5; it is the mass of the outer interval"),
        ],
    )
    def test_wrong_arguments(self, arguments, error, message):
        with pytest.raises(error, match=message):
            belief_forest(*arguments)


@settings(max_examples=30)
@given(
    numbers=st.lists(st.integers(-5, 5), min_size=1, max_size=6), level=st.sampled_from([0.05, 0.25, 0.5, 0.75, 0.95])
)
def test_quantile_of_whole_weights_is_that_of_repeated_numbers(numbers, level):
    """Numbers with the weights 1, 2, 3... are repeated so often, and numpy's inverse of the empirical distribution is taken."""
    times = np.arange(1, len(numbers) + 1)
    repeated = np.quantile(np.repeat(numbers, times), level, method="inverted_cdf")
    assert weighted_quantiles(np.array(numbers, float)[:, None], times / times.sum(), level) == repeated


class TestOverTime:
    def test_a_second_number_is_the_spread(self):
        axes = belief_over_time({"draws": AVERAGED, "sampled": SAMPLED}, HISTORY, "B")
        texts = [[text.get_text() for text in panel.texts] for panel in axes]
        belief, spread = AVERAGED.posterior(2).loc["B", "b"], AVERAGED.spread(2).loc["B", "b"]
        assert spread > 0.005
        assert f"{belief:.2f}\n±{spread:.2f}" in texts[0]
        assert f"{SAMPLED.posterior(2).loc['B', 'c']:.2f}\n±0.05" in texts[1]
        title = axes[0].figure.get_suptitle()
        assert title.endswith("±: standard deviation between draws, or Monte Carlo standard error")

    def test_exact_beliefs_have_none(self):
        axes = belief_over_time(EXACT, HISTORY, "B")
        assert "±" not in axes.get_title() + "".join(text.get_text() for text in axes.texts)


class TestConvergence:
    def test_a_group_has_the_largest_rhat_of_its_members(self):
        rhat = np.array([[1.0, 1.01, 1.02], [1.2, 1, 1], [1, 1, 1]])
        beliefs = sampled(EXACT, rhat=rhat, status=Status.UNCONVERGED, divergences=np.array([3]))
        (upper, fine), (lower, _) = convergence_plot({"mine": beliefs, "fine": SAMPLED}, "week")
        entries = lower.get_legend().legend_handles
        assert [(entry.get_label(), entry.get_marker()) for entry in entries] == [
            ("group", "o"),
            ("unconverged group", "X"),
        ]
        assert upper.lines[2].get_ydata().tolist() == [1.2]
        assert upper.lines[1].get_ydata().tolist() == []
        assert fine.lines[1].get_ydata().tolist() == [1.0]
        assert lower.lines[2].get_ydata().tolist() == [250]
        assert upper.get_title() == "mine\n1 of 1 sampled groups unconverged,\n1 with divergent draws"
        assert fine.get_title() == "fine\n0 of 1 sampled groups unconverged,\n0 with divergent draws"
        assert lower.get_xlabel() == "week"

    def test_groups_without_unknown_quantities_are_left_out(self):
        constant = sampled(EXACT, error=np.full((3, 3), 1e-17))
        assert belief_forest(constant, "a").get_legend().texts[0].get_text() == "no interval"
        assert convergence_plot(constant)[0, 0].get_title().startswith("0 of 0 sampled groups")

    def test_it_is_drawn(self, tmp_path):
        convergence_plot({"$a": SAMPLED, "b$": SAMPLED})[0, 0].figure.savefig(tmp_path / "picture.png")
        assert np.ptp(mpl.image.imread(tmp_path / "picture.png")) > 0

    @pytest.mark.parametrize("titles", [["2,000 draws"], ["100 draws", "2,000 draws"]])
    def test_titles_and_legend_are_whole_and_apart(self, titles):
        panels = convergence_plot(dict.fromkeys(titles, SAMPLED))
        figure = panels[0, 0].figure
        FigureCanvasAgg(figure).draw()
        texts = [*(panel.title for panel in panels[0]), panels[1, 0].get_legend()]
        texts += [text for panel in panels.flat for text in panel.texts]
        boxes = [text.get_window_extent() for text in texts]
        assert len(boxes) == 3 * len(titles) + 1
        assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))

    def test_beliefs_without_draws(self):
        with pytest.raises(ValueError, match=r"the beliefs have no R-hat, because their estimator does not sample"):
            convergence_plot(EXACT)
        with pytest.raises(ValueError, match=r"beliefs\['mine'\] have no R-hat"):
            convergence_plot({"mine": AVERAGED})

    def test_a_mixture_has_the_points_of_its_samplers(self):
        whole = mixture([SAMPLED] * 2, DrawWeights.equal(2, len(SAMPLED)))
        one, other = (convergence_plot(each).ravel() for each in (SAMPLED, whole))
        assert one[0].lines[1].get_ydata() == pytest.approx(other[0].lines[1].get_ydata())
        assert 2 * one[1].lines[1].get_ydata() == pytest.approx(other[1].lines[1].get_ydata())


@pytest.mark.parametrize("name", ["plot_forest", "plot_trace", "plot_dist", "plot_ridge"])
def test_arviz_plots_the_draws(name):
    """Its plots take the tree of beliefs with draws as it is."""
    coords = {"release": [2], "respondent": ["A", "B"], "value": ["b", "c"]}
    getattr(arviz_plots, name)(AVERAGED.to_datatree(), coords=coords, backend="matplotlib")
    plt.close("all")
