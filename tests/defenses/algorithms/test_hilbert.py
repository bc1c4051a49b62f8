"""Hilbert curve: every cell once, with steps of length 1."""

import itertools

import numpy as np
import pandas as pd
import pytest

from foreknow.defenses import hilbert_order
from foreknow.defenses.algorithms.hilbert import hilbert_words
from foreknow.models import Categorical, Hierarchy, Numeric, Schema, View


def grid(d, bits):
    return np.array(list(itertools.product(range(2**bits), repeat=d)), dtype=np.uint64)


@pytest.mark.parametrize(("d", "bits"), [(1, 4), (2, 1), (2, 3), (2, 5), (3, 1), (3, 3), (4, 2), (4, 3), (5, 2)])
class TestIndex:
    def test_is_a_bijection(self, d, bits):
        assert sorted(hilbert_words(grid(d, bits), bits)[:, 0].tolist()) == list(range(2 ** (d * bits)))

    def test_neighbours_on_the_curve_are_one_step_apart(self, d, bits):
        points = grid(d, bits)
        along = points[np.argsort(hilbert_words(points, bits)[:, 0])].astype(int)
        assert (np.abs(np.diff(along, axis=0)).sum(axis=1) == 1).all()
        assert along[0].tolist() == [0] * d

    def test_every_half_is_walked_before_the_next(self, d, bits):
        """The curve is hierarchical: dropping the last bit of every coordinate drops d bits of the index."""
        if bits > 1:
            points = grid(d, bits)
            coarse = hilbert_words(points, bits)[:, 0] >> np.uint64(d)
            cells = [tuple(cell) for cell in (points >> np.uint64(1)).tolist()]
            assert len(set(zip(cells, coarse.tolist(), strict=True))) == len(set(cells))


def test_words_continue_where_one_number_ends():
    """Seven axes of ten bits make 70: the order is that of the 70-bit number."""
    points = np.random.default_rng(0).integers(0, 2**10, size=(200, 7), dtype=np.uint64)
    words = hilbert_words(points, 10)
    assert words.shape == (200, 2)
    places = [int(high) << 64 | int(low) for high, low in words]
    assert max(places) < 2**70
    coarse = hilbert_words(points >> np.uint64(1), 9)[:, 0]
    assert [place >> 7 for place in places] == coarse.tolist()


class TestOrder:
    def people(self, columns, kinds):
        n = len(next(iter(columns.values())))
        frame = pd.DataFrame({"id": range(n), **columns, "result": "a"})
        return View(frame, Schema(kinds, "result", ("a",))).people

    def test_scales_every_domain_onto_one_grid(self):
        """Domains 0 to 63 and 0 to 630 make 64 cells each."""
        rng = np.random.default_rng(1)
        cells = np.array([divmod(c, 64) for c in rng.permutation(4096)[:300]])
        people = self.people(
            {"age": cells[:, 0], "weight": 10 * cells[:, 1]}, {"age": Numeric(0, 63), "weight": Numeric(0, 630)}
        )
        assert np.array_equal(hilbert_order(people), np.argsort(hilbert_words(cells.astype(np.uint64), 6)[:, 0]))

    def test_takes_more_bits_for_more_distinct_values(self):
        values = np.random.default_rng(2).permutation(1024)
        people = self.people({"age": values, "weight": 0 * values}, {"age": Numeric(0, 1023), "weight": Numeric(0, 1)})
        points = np.column_stack([values, 0 * values]).astype(np.uint64)
        assert np.array_equal(hilbert_order(people), np.argsort(hilbert_words(points, 10)[:, 0]))

    def test_one_attribute_is_its_own_order(self):
        values = np.array([5.0, 1.5, 99, 1.5, 0])
        assert hilbert_order(self.people({"age": values}, {"age": Numeric(0, 99)})).tolist() == [4, 1, 3, 0, 2]

    def test_records_in_one_cell_keep_their_order(self):
        people = self.people({"age": [7, 7, 7], "weight": [1, 1, 1]}, {"age": Numeric(), "weight": Numeric()})
        assert hilbert_order(people).tolist() == [0, 1, 2]

    def test_more_than_64_bits(self):
        """Twelve attributes of 6 bits; the first half of the first axis comes first."""
        rng = np.random.default_rng(3)
        columns = {f"q{a}": rng.integers(0, 64, 100) for a in range(12)}
        people = self.people(columns, {name: Numeric(0, 63) for name in columns})
        points = np.column_stack(list(columns.values())).astype(np.uint64)
        places = [int(high) << 64 | int(low) for high, low in hilbert_words(points, 6)]
        assert hilbert_order(people).tolist() == sorted(range(100), key=places.__getitem__)
        low = columns["q0"][hilbert_order(people)] < 32
        assert low[: low.sum()].all()

    def test_a_hierarchy_s_neighbours_stay_close(self):
        tree = Hierarchy([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*"), ("d", "y", "*")])
        people = self.people({"town": list("abcd")}, {"town": Categorical(tuple("abcd"), tree)})
        assert ["abcd"[i] for i in hilbert_order(people)] == ["a", "c", "b", "d"]

    def test_every_generalization_is_met_in_one_run(self):
        """For any order of the hierarchy's rows and of the records, with another, constant attribute."""
        rng = np.random.default_rng(4)
        rows = [(f"v{i}", f"third {i // 3}", f"ninth {i // 9}", "*") for i in range(27)]
        tree = Hierarchy([rows[i] for i in rng.permutation(27)])
        town = rng.permutation(np.repeat([row[0] for row in rows], 2))
        kinds = {"age": Numeric(0, 9), "town": Categorical(tree.leaves, tree)}
        met = town[hilbert_order(self.people({"age": np.zeros(54), "town": town}, kinds))]
        labels = {row[0]: row for row in rows}
        for level in range(3):
            runs = [label for label, _ in itertools.groupby(labels[value][level] for value in met)]
            assert len(runs) == len(set(runs)) == 3 ** (3 - level)
