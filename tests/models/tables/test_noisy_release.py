"""Cells of quasi-identifiers, and the release of noisy counts in them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MIXED, mixed_tables, tables, view_of

from foreknow.models import Noise, NoisyRelease, NoisyTable, Numeric, Schema, View
from foreknow.models.tables.noisy_release import Cells

NOISE = Noise("laplace", 2.0)


def boxes_of(cells, codes):
    """Number of cells that hold each row of codes, by definition."""
    inside = (codes[:, None] > cells.above) & (codes[:, None] <= cells.to)
    return inside.all(axis=2).sum(axis=1)


def codes_of(schema, rng, number=200):
    """Random codes of a domain, and of numbers outside it."""
    ends = [kind.bounds for kind in schema.quasi_identifiers.values()]
    return np.column_stack([rng.integers(low - 2, high + 3, number) for low, high in ends]).astype(float)


class TestEqualCounts:
    @given(st.one_of(tables(), mixed_tables()), st.integers(1, 12))
    def test_each_code_is_in_one_cell(self, drawn, number):
        view, _ = drawn
        cells = Cells.equal_counts(view.people, number)
        assert 1 <= len(cells) <= number
        codes = codes_of(view.schema, np.random.default_rng(number))
        assert (boxes_of(cells, np.vstack([codes, view.people.quasi_identifiers])) == 1).all()
        # No cell is empty of those from whom it was cut.
        assert np.bincount(cells.of(view.people), minlength=len(cells)).min() > 0

    @given(mixed_tables(), st.integers(2, 12), st.randoms())
    def test_values_and_order_are_not_read(self, drawn, number, random):
        view, _ = drawn
        rows = random.sample(range(len(view)), len(view))
        other = View.from_codes(view.people[rows], np.zeros(len(view), int))
        assert Cells.equal_counts(other.people, number) == Cells.equal_counts(view.people, number)

    @given(st.integers(1, 9), st.integers(2, 12), st.integers(1, 3), st.integers(0, 99))
    def test_counts_are_equal_without_ties(self, number, factor, columns, seed):
        """A cut rounds by half a respondent at most, of which at most two thirds go to a half of the box."""
        n, rng = number * factor + seed % number, np.random.default_rng(seed)
        frame = pd.DataFrame({f"q{a}": rng.permutation(n) for a in range(columns)} | {"id": range(n), "result": "a"})
        view = View(frame, Schema({f"q{a}": Numeric() for a in range(columns)}, "result", ("a",)), 1)
        sizes = np.bincount(Cells.equal_counts(view.people, number).of(view.people))
        assert len(sizes) == number
        assert np.abs(sizes - n / number).max() <= 1.5

    def test_equal_people_are_one_cell(self):
        view = view_of("ABCD", "abca", [30] * 4)
        assert len(Cells.equal_counts(view.people, 4)) == 1

    @pytest.mark.parametrize(("people", "number"), [("ABC", 3), (None, 0), (None, 2.5)])
    def test_wrong_input(self, people, number):
        view = view_of("ABC", "abc")
        with pytest.raises((TypeError, ValueError), match=r"Cells.equal_counts: (people|number) is"):
            Cells.equal_counts(view.people if people is None else people, number)


class TestGrid:
    def test_is_the_product_of_cuts(self):
        cells = Cells.grid(MIXED, {"age": [2, 5], "sex": "each"})
        assert len(cells) == 6
        labels = cells.labels(MIXED)
        assert labels["age"].tolist() == ["[0,2]", "[0,2]", "(2,5]", "(2,5]", "(5,9]", "(5,9]"]
        assert labels["sex"].tolist() == ["f", "m"] * 3
        assert set(labels["town"]) == {"*"}
        assert (boxes_of(cells, codes_of(MIXED, np.random.default_rng(1))) == 1).all()

    def test_without_cuts_there_is_one_cell(self):
        cells = Cells.grid(MIXED, {})
        assert cells.labels(MIXED).iloc[0].tolist() == ["*", "*", "*"]

    def test_cut_categories_are_listed(self):
        cells = Cells(np.array([[-np.inf] * 3, [1, -np.inf, -np.inf]]), np.array([[1, np.inf, np.inf], [np.inf] * 3]))
        towns = MIXED.quasi_identifiers["town"].values
        assert cells.labels(MIXED)["town"].tolist() == [", ".join(towns[:2]), ", ".join(towns[2:])]

    @pytest.mark.parametrize(
        ("cuts", "message"),
        [
            ({"height": [3]}, r"'height' is no quasi-identifier; they are town, age, sex"),
            ({"sex": [0.5]}, "'sex' has categories, and its cuts are 'each', or left out"),
            ({"age": "each"}, "Cells.grid: cuts"),
            ({"age": [np.nan]}, "Cells.grid: cuts"),
            ({"age": ["old"]}, "Cells.grid: cuts"),
        ],
    )
    def test_wrong_input(self, cuts, message):
        with pytest.raises((TypeError, ValueError), match=message):
            Cells.grid(MIXED, cuts)


class TestCells:
    def test_first_box_holds_a_respondent_of_two(self):
        cells = Cells([[-np.inf], [0.0]], [[25.0], [np.inf]])
        assert cells.of(view_of("AB", "ab", [21, 30]).people).tolist() == [0, 1]

    def test_respondent_outside(self):
        with pytest.raises(ValueError, match="respondent 'B' is in no cell; cells cover the domain"):
            Cells([[0.0]], [[25.0]]).of(view_of("AB", "ab", [21, 30]).people)

    def test_other_columns(self):
        with pytest.raises(ValueError, match="cells have 3 quasi-identifiers, and the view 1"):
            Cells.grid(MIXED, {}).of(view_of("AB", "ab").people)

    @pytest.mark.parametrize(
        ("above", "to"),
        [([[0.0]], [[0.0]]), ([0.0], [1.0]), (np.zeros((0, 1)), np.zeros((0, 1))), ([[0.0]], [[1.0, 2.0]])],
    )
    def test_wrong_boxes(self, above, to):
        with pytest.raises(ValueError, match="Cells: above has shape"):
            Cells(above, to)


class TestRelease:
    CELLS = Cells([[-np.inf], [21.0]], [[21.0], [np.inf]])

    def release(self, counts=((1, -2, 0), (3, 1, 1)), **more):
        return NoisyRelease(view_of("ABCD", "abca", time=5), NoisyTable(self.CELLS, np.array(counts), NOISE, **more))

    def test_is_what_an_adversary_sees(self):
        release = self.release()
        seen = release.observation
        assert (release.time, seen.time, seen.noise) == (5, 5, NOISE)
        assert release.group.tolist() == seen.group.tolist() == [0, 0, 1, 1]
        assert seen.counts.tolist() == [[1, -2, 0], [3, 1, 1]]
        with pytest.raises(
            ValueError, match="the counts of the release at 5 are noisy, and show no multiset; use JointAttack"
        ):
            seen.problem(np.full((4, 3), 1 / 3))

    def test_table(self):
        table = self.release(processed=np.ones((2, 3))).table
        assert table.columns.tolist() == ["cell", "age", "result", "noisy_count", "count"]
        assert table["age"].tolist() == ["[0,21]"] * 3 + ["(21,99]"] * 3
        assert table["result"].tolist() == list("abcabc")
        assert table["noisy_count"].tolist() == [1, -2, 0, 3, 1, 1]
        assert "count" not in self.release().table

    def test_nothing_of_the_values_is_published_beside_the_counts(self):
        one = self.release()
        other = NoisyRelease(View.from_codes(one.view.people, np.zeros(4, int)), one.made)
        pd.testing.assert_frame_equal(one.table, other.table)
        assert one.observation == other.observation

    def test_equality(self):
        assert self.release() == self.release()
        assert self.release() != self.release(for_release=False)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"cells": 3}, "NoisyTable: cells is"),
            ({"noise": 2.0}, "NoisyTable: noise is"),
            ({"counts": [[1, 2, 3]]}, "one row for each of the 2 cells"),
            ({"counts": [[1.5, 2, 3], [1, 2, 3]]}, "the counts of a NoisyTable"),
            ({"processed": np.ones((2, 2))}, r"processed has shape \(2, 2\), and counts \(2, 3\)"),
            ({"for_release": "no"}, "NoisyTable: for_release is"),
        ],
    )
    def test_wrong_tables(self, change, message):
        given = {"cells": self.CELLS, "counts": np.zeros((2, 3), int), "noise": NOISE} | change
        with pytest.raises((TypeError, ValueError), match=message):
            NoisyTable(**given)

    def test_wrong_releases(self):
        table = NoisyTable(self.CELLS, np.zeros((2, 2), int), NOISE)
        with pytest.raises(ValueError, match="the counts are of 2 values, and the domain of the view at 1 has 3"):
            NoisyRelease(view_of("AB", "ab"), table)
        with pytest.raises(TypeError, match="NoisyRelease: made is"):
            NoisyRelease(view_of("AB", "ab"), np.zeros((2, 3)))
        with pytest.raises(ValueError, match="respondent 'A' is in no cell"):
            NoisyRelease(view_of("AB", "ab"), NoisyTable(Cells([[50.0]], [[60.0]]), np.zeros((1, 3), int), NOISE))
