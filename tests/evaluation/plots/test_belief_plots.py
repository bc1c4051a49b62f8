"""Plots of beliefs show the numbers of the tables, and gaps where times are missing."""

import itertools
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from strategies import history_of, view_of

from foreknow.attacks import SequentialAttack
from foreknow.evaluation import belief_over_time, gain_over_time
from foreknow.evaluation.plots.risk_utility import group_sizes
from foreknow.evaluation.plots.style import COLORS, LINES
from foreknow.models import Adversary, History, MarkovChain, Release, UniformPrior

RISK = pd.DataFrame(
    [
        (defense, attack, time, round(0.1 * d + 0.01 * a + 0.001 * time, 3), 1 - 0.1 * d)
        for (d, defense), (a, attack), time in itertools.product(
            enumerate(["halved", "alike"]), enumerate(["memory", "snapshot", "guess"]), (1, 2, 4)
        )
    ],
    columns=["defense", "attack", "time", "gain", "confidence"],
)
RISK.loc[(RISK["defense"] == "alike") & (RISK["time"] == 2), "gain"] = np.nan
HISTORY = history_of(("ABC", "abc"), ("BC", "bb"), ("ACB", "cca"))
CHAIN = MarkovChain(1, np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]))
BELIEFS = SequentialAttack(Adversary(UniformPrior(), CHAIN))(
    [Release(HISTORY[0], [0, 0, 0]), Release(HISTORY[1], [-1, -1]), Release(HISTORY[2], [0, 1, 0])]
)


def drawn(axes, tmp_path):
    """The figure of the axes as pixels, drawn without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.ravel(axes)[0].figure.savefig(tmp_path / "picture.png")
    return mpl.image.imread(tmp_path / "picture.png")


class TestGain:
    def test_a_line_per_defense_and_attack_with_the_table_s_numbers(self):
        lines = gain_over_time(RISK).lines
        pairs = list(itertools.product(["halved", "alike"], ["memory", "snapshot", "guess"]))
        assert len(lines) == len(pairs) + 1  # and the zero line
        for line, (defense, attack) in zip(lines, pairs, strict=False):
            rows = RISK[(RISK["defense"] == defense) & (RISK["attack"] == attack)]
            np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4])  # 3 is missing, and breaks the line
            assert np.isnan(line.get_ydata()[2])
            np.testing.assert_array_equal(np.delete(line.get_ydata(), 2), rows["gain"])
        np.testing.assert_array_equal(lines[-1].get_ydata(), [0, 0])

    def test_a_colour_per_defense_and_a_kind_of_line_per_attack(self):
        axes = gain_over_time(RISK)
        lines = np.array(axes.lines[:-1]).reshape(2, 3)
        colours = np.vectorize(lambda line: to_hex(line.get_color()).upper())(lines)
        assert [len(set(row)) for row in colours] == [1, 1]
        assert len(set(colours[:, 0])) == 2
        kinds = np.vectorize(lambda line: line.get_linestyle())(lines)
        assert [len(set(column)) for column in kinds.T] == [1, 1, 1]
        assert len(set(kinds[0])) == 3
        shown = {
            text.get_text(): handle
            for text, handle in zip(axes.get_legend().texts, axes.get_legend().legend_handles, strict=True)
        }
        assert list(shown) == ["halved", "alike", "memory", "snapshot", "guess"]
        assert [to_hex(shown[name].get_color()).upper() for name in ("halved", "alike")] == colours[:, 0].tolist()
        assert [shown[name].get_linestyle() for name in ("memory", "snapshot", "guess")] == kinds[0].tolist()

    def test_another_measure_and_the_words(self):
        axes = gain_over_time(RISK, "week", "confidence")
        np.testing.assert_array_equal(axes.lines[3].get_ydata(), [0.9, 0.9, np.nan, 0.9])
        assert axes.get_xlabel() == "week"
        assert "confidence" in axes.get_ylabel()
        assert "confidence" in axes.get_title()

    def many(self, defenses, attacks):
        return pd.DataFrame(
            [(f"d{d}", f"a{a}", 1, d + a / 10) for d in range(defenses) for a in range(attacks)],
            columns=["defense", "attack", "time", "gain"],
        )

    def test_a_panel_per_attack(self, tmp_path):
        panels = gain_over_time(self.many(10, 3), panel="attack")
        assert [axes.get_title() for axes in panels] == ["attack: a0", "attack: a1", "attack: a2"]
        assert "gain" in panels[0].figure.get_suptitle()
        for a, axes in enumerate(panels):
            assert [line.get_ydata()[0] for line in axes.lines[:-1]] == [d + a / 10 for d in range(10)]
            assert {line.get_linestyle() for line in axes.lines[:-1]} == {"-"}
        assert [text.get_text() for text in panels[-1].figure.legends[0].texts] == [f"d{d}" for d in range(10)]
        assert drawn(panels, tmp_path).std() > 0

    def test_a_panel_per_defense(self):
        panels = gain_over_time(self.many(2, 5), panel="defense")
        assert [axes.get_title() for axes in panels] == ["defense: d0", "defense: d1"]
        for d, axes in enumerate(panels):
            assert [line.get_ydata()[0] for line in axes.lines[:-1]] == [d + a / 10 for a in range(5)]
            assert len({line.get_color() for line in axes.lines[:-1]}) == 5
        assert [text.get_text() for text in panels[-1].figure.legends[0].texts] == [f"a{a}" for a in range(5)]

    def test_more_attacks_than_dashes_of_several_defenses(self):
        with pytest.raises(ValueError, match=r'several defenses and 4 attacks.* give panel="attack"'):
            gain_over_time(self.many(2, len(LINES) + 1))
        with pytest.raises(ValueError, match="gain_over_time: panel is 'time'; it is one of 'attack', 'defense'"):
            gain_over_time(self.many(2, 2), panel="time")

    def test_no_two_of_many_defenses_look_alike(self):
        axes = gain_over_time(self.many(len(COLORS) + 5, 1))
        looks = {(line.get_color(), line.get_marker()) for line in axes.lines[:-1]}
        assert len(looks) == len(COLORS) + 5

    def test_more_attacks_than_kinds_of_line(self, tmp_path):
        axes = gain_over_time(self.many(1, len(LINES) + 1))
        assert len(axes.lines) == len(LINES) + 2
        assert drawn(axes, tmp_path).std() > 0


class TestBelief:
    def test_a_panel_per_publication_with_the_person_s_posteriors(self):
        panels = belief_over_time({"first": BELIEFS, "again": BELIEFS}, HISTORY, "B", "week")
        assert [axes.get_title() for axes in panels] == ["first", "again"]
        for axes in panels:
            shown = axes.images[0].get_array()
            assert shown.shape == (3, 3)  # values by releases
            for column, time in enumerate((1, 2, 3)):
                np.testing.assert_allclose(shown[:, column], BELIEFS.posterior(time).loc["B", ["a", "b", "c"]])
            assert axes.images[0].get_clim() == (0, 1)
            assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3"]
            assert axes.get_xlabel() == "week"
        assert [text.get_text() for text in panels[0].get_yticklabels()] == ["a", "b", "c"]  # shared with the other
        assert panels[0].get_ylim() == panels[1].get_ylim()
        assert "B" in panels[0].figure.get_suptitle()

    def test_the_numbers_are_written_in_their_cells(self):
        axes = belief_over_time(BELIEFS, HISTORY, "A")
        written = {text.get_position(): text.get_text() for text in axes.texts}
        expected = {}
        for column, time in ((0, 1), (2, 3)):
            row = BELIEFS.posterior(time).loc["A", ["a", "b", "c"]].to_numpy()
            expected |= {(column, s): f"{p:.2f}" for s, p in enumerate(row) if p >= 0.005}
        assert written == expected

    def test_frames_are_the_truth(self):
        """B has b, b, a; A has a and c and has no record at week 2."""
        for who, truth in (("B", [(0, 1), (1, 1), (2, 0)]), ("A", [(0, 0), (2, 2)])):
            axes = belief_over_time(BELIEFS, HISTORY, who)
            frames = [tuple(p.get_center().round(6)) for p in axes.patches if not p.get_fill()]
            assert frames == truth
            assert all(p.get_zorder() > axes.images[0].get_zorder() for p in axes.patches if not p.get_fill())

    @pytest.mark.slow
    def test_two_panels_in_a_row(self, tmp_path):
        panels = belief_over_time({f"p{i}": BELIEFS for i in range(6)}, HISTORY, "B")
        assert panels.shape == (6,)
        assert list(panels) == [axes for axes in panels[0].figure.axes if axes.images]
        assert [axes.get_title() for axes in panels] == [f"p{i}" for i in range(6)]
        assert len({axes.get_subplotspec().rowspan.start for axes in panels}) == 3
        assert drawn(panels, tmp_path).std() > 0

    def test_it_can_be_drawn(self, tmp_path):
        assert drawn(belief_over_time(BELIEFS, HISTORY, "B"), tmp_path).std() > 0


class TestGroupSizes:
    def test_bars_are_shares_of_the_records(self):
        view, later = view_of("ABCDEFGH", "aabbccab"), view_of("ABCDEFGH", "aabbccab", time=2)
        releases = {
            "one": (Release(view, [0, 0, 0, 1, 1, 1, 2, -1]), Release(later, [0, 0, 0, 0, 0, 1, 1, -1])),
            "none": (Release(view, [-1] * 8),),
        }
        axes = group_sizes(releases)
        heights = [[bar.get_height() for bar in container] for container in axes.containers]
        # suppressed, then sizes 1 to 5, of 16 and of 8 records
        np.testing.assert_allclose(heights, [[2 / 16, 1 / 16, 2 / 16, 6 / 16, 0, 5 / 16], [1, 0, 0, 0, 0, 0]])
        for container in axes.containers:
            middles = [bar.get_x() + bar.get_width() / 2 for bar in container]
            np.testing.assert_allclose(np.round(middles), [-2, 1, 2, 3, 4, 5])
        ticks = dict(zip(axes.get_xticks(), [label.get_text() for label in axes.get_xticklabels()], strict=True))
        assert ticks == {-2: "suppressed", 1: "1", 2: "2", 3: "3", 4: "4", 5: "5"}
        assert [text.get_text() for text in axes.get_legend().texts] == ["one", "none"]

    def test_more_than_four_have_a_row_each(self, tmp_path):
        view = view_of("ABCD", "abab")
        labels = {"a": [0, 0, 1, 1], "b": [0, 0, 0, 0], "c": [0, 1, 2, 3], "d": [0, 0, -1, -1], "e": [-1] * 4}
        axes = group_sizes({name: (Release(view, group),) for name, group in labels.items()})
        rows = {tick: label.get_text() for tick, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
        heights = {rows[bars[0].get_y()]: [round(bar.get_height(), 12) for bar in bars] for bars in axes.containers}
        assert list(heights) == list("abcde")
        assert sorted(rows, reverse=True) == [bars[0].get_y() for bars in axes.containers]
        assert heights == {
            "a": [0, 0, 1, 0, 0], "b": [0, 0, 0, 0, 1], "c": [0, 1, 0, 0, 0], "d": [0.5, 0, 0.5, 0, 0], "e": [1, 0, 0, 0, 0],
        }  # fmt: skip
        assert drawn(axes, tmp_path).std() > 0

    def test_bars_do_not_overlap(self):
        releases = {name: (Release(view_of("ABCD", "abab"), [0, 0, 1, 1]),) for name in "xyz"}
        edges = sorted(
            (bar.get_x(), bar.get_x() + bar.get_width()) for bars in group_sizes(releases).containers for bar in bars
        )
        assert all(right <= left + 1e-12 for (_, right), (left, _) in itertools.pairwise(edges))

    def large(self):
        """Groups of 28, 30 and 42."""
        ids, labels = [f"p{i}" for i in range(100)], [0] * 28 + [1] * 30 + [2] * 42
        return group_sizes({"one": (Release(view_of(ids, "ab" * 50, ages=[30] * 100), labels),)})

    def test_the_largest_groups_share_a_bar(self):
        heights = [bar.get_height() for bar in self.large().containers[0]]
        np.testing.assert_allclose([heights[28], heights[30], sum(heights)], [0.28, 0.72, 1])

    def test_the_bar_of_the_largest_groups_says_so(self):
        axes = self.large()
        ticks = dict(zip(axes.get_xticks(), [label.get_text() for label in axes.get_xticklabels()], strict=True))
        assert ticks.get(30) == "30+"

    def test_nothing_published(self, tmp_path):
        axes = group_sizes({"none": (Release(view_of("AB", "ab"), [-1, -1]),)})
        assert [bar.get_height() for bar in axes.containers[0]] == [1]
        assert drawn(axes, tmp_path).std() > 0


class TestGaps:
    """Missing times break a line, and are hatched in a heat map."""

    def risk(self, times):
        rows = [(defense, "snapshot", time, 0.1) for defense in ("halved", "alike") for time in times]
        return pd.DataFrame(rows, columns=["defense", "attack", "time", "gain"])

    def test_a_year_that_no_release_has(self):
        line = gain_over_time(self.risk([0, 1, 2, 5, 6])).lines[0]
        heights = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
        assert np.isnan(heights.pop(3.5))
        assert heights == dict.fromkeys([0, 1, 2, 5, 6], 0.1)

    @pytest.mark.parametrize("times", [[1, 2, 3], ["2024-01", "2024-02", "2024-03"]])
    def test_a_year_that_one_line_lacks(self, times):
        risk = self.risk(times)
        lines = gain_over_time(risk[(risk["defense"] == "halved") | (risk["time"] != times[1])]).lines
        assert np.isnan(lines[0].get_ydata()).tolist() == [False] * 3
        assert np.isnan(lines[1].get_ydata()).tolist() == [False, True, False]

    def test_dates(self):
        """Months have 28 to 31 days; none is missing but April."""
        times = pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", "2024-05-01", "2024-06-01"])
        assert np.isnan(gain_over_time(self.risk(list(times))).lines[0].get_ydata()).sum() == 1

    def hatched(self, axes):
        return {patch.get_center()[0].round(6) for patch in axes.patches if patch.get_hatch()}

    def test_a_release_without_a_record(self, tmp_path):
        axes = belief_over_time(BELIEFS, HISTORY, "A")
        assert self.hatched(axes) == {1}
        assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3"]
        assert np.ma.getmaskarray(axes.images[0].get_array()).all(axis=0).tolist() == [False, True, False]
        assert "hatched: no record" in axes.get_title()
        assert drawn(axes, tmp_path).std() > 0
        assert "hatched" not in belief_over_time(BELIEFS, HISTORY, "B").get_title()

    def test_years_without_a_release(self):
        views = [view_of("ABC", "abc", time=time) for time in (1, 2, 5, 6)]
        beliefs = SequentialAttack(Adversary(UniformPrior()))([Release(view, [0, 0, 0]) for view in views])
        axes = belief_over_time(beliefs, History(views), "A")
        assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3–4", "5", "6"]
        assert self.hatched(axes) == {2}


class TestReadableInGrey:
    """No two lines of one panel differ by the dash alone."""

    @pytest.mark.parametrize(
        ("defenses", "attacks", "panel"),
        [
            (1, 8, None),
            (8, 1, None),
            (2, 3, None),
            (4, 3, None),
            (2, 4, "attack"),
            (11, 5, "attack"),
            (2, 11, "defense"),
        ],
    )
    def test_markers(self, defenses, attacks, panel):
        lines = {None: defenses * attacks, "attack": defenses, "defense": attacks}[panel]
        for axes in np.ravel(gain_over_time(TestGain().many(defenses, attacks), panel=panel)):
            looks = [(line.get_marker(), line.get_fillstyle()) for line in axes.lines[:-1]]
            assert len(set(looks)) == len(looks) == lines

    def test_the_legend_has_them(self):
        axes = gain_over_time(TestGain().many(1, 8))
        assert [text.get_text() for text in axes.get_legend().texts] == [f"a{number}" for number in range(8)]
        assert len({handle.get_marker() for handle in axes.get_legend().legend_handles}) == 8
        assert axes.get_title().endswith("\ndefense: d0")


@pytest.mark.parametrize("rest", [("5",), (HISTORY,), ()])
def test_a_belief_over_time_without_history_or_respondent_is_one_clear_error(rest):
    with pytest.raises(TypeError, match=r"belief_over_time: (history|respondent) is .*; it "):
        belief_over_time({"only": BELIEFS}, *rest)
