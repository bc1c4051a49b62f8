"""Random queries: their predicates, and those drawn again."""

from math import ceil

import numpy as np
import pandas as pd
import pytest
from reader import SCHEMA, view_of_rows
from strategies import history_of, view_of

from foreknow.evaluation import Workload, query_error
from foreknow.models import Categorical, Numeric, Release, Schema, View

ROWS = [
    (age, job, sex, result) for age in range(20, 26) for job in ("nurse", "pilot") for sex in "fm" for result in "abc"
]
VIEW = view_of_rows(ROWS)
SIZES = {"age": 6, "job": 5, "sex": 2}


def draw(view=VIEW, seed=1, **settings):
    return Workload.draw(view, rng=np.random.default_rng(seed), **settings)


class TestWhatIsAskedFor:
    @pytest.mark.parametrize(("dimensions", "selectivity"), [(1, 0.05), (2, 0.1), (3, 0.3), (3, 1.0)])
    def test_as_many_values_as_the_selectivity_says(self, dimensions, selectivity):
        """ceil(|A| s^(1/(qd+1))) of each attribute in the query, but never all; all of the others."""
        workload = draw(queries=50, dimensions=dimensions, selectivity=selectivity, sanity_bound=0.1)
        share = selectivity ** (1 / (dimensions + 1))
        assert (workload.dimensions == dimensions).all()
        assert (workload.selected_values.sum(axis=1) == min(ceil(3 * share), 2)).all()
        for query in range(50):
            numbers = [int(column[query].sum()) for column in workload.selected]
            narrow = [n == min(ceil(v * share), v - 1) for n, v in zip(numbers, SIZES.values(), strict=True)]
            assert sum(narrow) == dimensions
            wide = [n == v for n, v in zip(numbers, SIZES.values(), strict=True)]
            assert all(a or b for a, b in zip(narrow, wide, strict=True))

    def test_without_the_sensitive_attribute(self):
        workload = draw(queries=20, dimensions=2, selectivity=0.25, restrict_sensitive=False, sanity_bound=0.1)
        assert workload.selected_values.all()
        assert {int(column.sum()) for column in workload.selected[0]} <= {3, 6}  # 6 sqrt(.25)

    def test_every_number_of_dimensions(self):
        found = np.bincount(draw(queries=300, sanity_bound=0.1).dimensions, minlength=4)
        assert found[0] == 0
        assert (found[1:] > 50).all()  # 100 expected, standard deviation 8

    def test_all_values_are_asked_for_alike(self):
        """Of six ages, ceil(6 / 2) = 3: each in half of the 2,000 queries, but for four standard deviations of 22."""
        workload = draw(queries=2000, dimensions=3, selectivity=1 / 16, sanity_bound=0.1)
        assert (np.abs(workload.selected[0].sum(axis=0) - 1000) < 90).all()

    def test_ranges_are_neighbours(self):
        workload = draw(queries=200, dimensions=3, selectivity=1 / 16, predicates="ranges", sanity_bound=0.1)
        codes = [np.flatnonzero(row) for row in workload.selected[0]]
        assert {tuple(row) for row in codes} == {(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5)}

    def test_sensitive_values_of_ranges_are_any(self):
        asked = draw(
            queries=200, dimensions=3, selectivity=1 / 6, predicates="ranges", sanity_bound=0.1
        ).selected_values
        assert {tuple(np.flatnonzero(row)) for row in asked} == {
            (0, 1),
            (0, 2),
            (1, 2),
        }  # two of three: 3 / 6^(1/4) is 1.9

    def test_rounding_lifts_no_whole_number(self):
        """1000 s^(1/3) is 10.000000000000002 in floating point where s is 1e-6."""
        numbers = range(1, 1001)
        schema = Schema({"a": Numeric(1, 1000), "b": Numeric(1, 1000)}, "result", ("x",))
        view = View(pd.DataFrame({"id": numbers, "a": numbers, "b": numbers, "result": "x"}), schema)
        workload = draw(view, queries=5, dimensions=2, selectivity=1e-6, sanity_bound=1)
        assert workload.selected[0].sum(axis=1).tolist() == [10] * 5

    def test_the_same_seed_draws_the_same(self):
        one, other, third = draw(queries=20), draw(queries=20), draw(queries=20, seed=2)
        assert all(np.array_equal(a, b) for a, b in zip(one.selected, other.selected, strict=True))
        assert not all(np.array_equal(a, b) for a, b in zip(one.selected, third.selected, strict=True))


class TestDrawnAgain:
    def test_every_query_counts_a_record_in_every_view(self):
        views = [VIEW, view_of_rows(ROWS[::7], time=2)]
        workload = draw(views, queries=200, selectivity=0.05)
        assert workload.redrawn > 0
        for view in views:
            table = query_error([Release(view, range(len(view)))], workload).iloc[0]
            assert (table["queries"], table["empty"], table["query_mean"], table["redrawn"]) == (
                200,
                0,
                0,
                workload.redrawn,
            )

    def test_the_empty_ones_stay_under_a_sanity_bound(self):
        workload = draw(queries=200, selectivity=0.05, sanity_bound=0.01)
        assert (len(workload), workload.redrawn) == (200, 0)
        assert query_error([Release(VIEW, range(len(VIEW)))], workload)["queries"].tolist() == [200]

    def test_a_history_is_many_views(self):
        history = history_of(("ABC", "abc"), ("AB", "ba"))
        assert len(draw(history, queries=10, selectivity=0.5)) == 10

    def test_no_record_to_count(self):
        """One query in a hundred counts a record."""
        schema = Schema({"a": Numeric(), "b": Numeric()}, "result", ("x",))
        view = View(pd.DataFrame({"id": range(100), "a": range(100), "b": range(100), "result": "x"}), schema)
        words = r"count a record; raise the selectivity \(1e-06\), lower the dimensions, or .* sanity_bound"
        with pytest.raises(ValueError, match=words):
            draw(view, queries=100, dimensions=2, selectivity=1e-6)


class TestEveryPredicateRestricts:
    VIEW = View(
        pd.DataFrame({"id": range(4), "age": 30, "sex": list("ffmm"), "result": list("abab")}),
        Schema({"age": Numeric(), "sex": Categorical(("f", "m"))}, "result", ("a", "b")),
    )

    @pytest.mark.parametrize("predicates", ["values", "ranges"])
    @pytest.mark.parametrize("selectivity", [0.05, 0.6, 1.0])
    def test_a_proper_subset_of_each_attribute_in_the_query(self, predicates, selectivity):
        """The age is the same for all: no query is about it, and the one dimension is the sex, of which one value is asked."""
        workload = draw(self.VIEW, queries=40, selectivity=selectivity, predicates=predicates)
        assert (workload.dimensions == 1).all()
        assert workload.selected[0].all()
        assert (workload.selected[1].sum(axis=1) == 1).all()
        assert (workload.selected_values.sum(axis=1) == 1).all()

    def test_dimensions_are_those_with_two_values(self):
        with pytest.raises(
            ValueError, match="dimensions is 2 and the views have 1 quasi-identifiers of two or more values"
        ):
            draw(self.VIEW, dimensions=2)

    def test_nothing_to_restrict(self):
        view = View(
            pd.DataFrame({"id": [1, 2], "age": 30, "result": ["a", "b"]}),
            Schema({"age": Numeric()}, "result", ("a", "b")),
        )
        with pytest.raises(ValueError, match="the views have 0 quasi-identifiers of two or more values"):
            draw(view)


class TestDomains:
    def test_whole_numbers_as_they_are_in_all_views(self):
        assert draw(view_of("AB", "ab"), queries=1, selectivity=1).domains[0].tolist() == [20, 21]

    def test_other_numbers_as_they_are_in_all_views(self):
        schema = Schema({"dose": Numeric(0, 3)}, "result", ("a",))
        views = [
            View(pd.DataFrame({"id": [1, 2], "dose": d, "result": ["a", "a"]}), schema) for d in ([0.5, 1], [2.5, 1])
        ]
        assert draw(views, queries=1, selectivity=1).domains[0].tolist() == [0.5, 1, 2.5]

    def test_a_value_the_workload_does_not_know(self):
        schema = Schema({"dose": Numeric(0, 3)}, "result", ("a",))
        views = [
            View(pd.DataFrame({"id": [1, 2], "dose": [d, 1], "result": ["a", "a"]}), schema, d) for d in (0.5, 2.5)
        ]
        with pytest.raises(
            ValueError, match=r"'dose' is 2.5 in the view at 2.5, which is none of the 2 values .* all views"
        ):
            query_error([Release(views[1], [0, 1])], draw(views[0], queries=1, selectivity=1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"queries": 0}, "queries is 0; it is a number of queries"),
        (
            {"dimensions": 0},
            "dimensions is 0 and the views have 3 quasi-identifiers of two .* values, .*; it is a number from 1 to that",
        ),
        ({"dimensions": 4}, "dimensions is 4"),
        ({"selectivity": 0.0}, r"selectivity is 0.0; it is a number over 0"),
        ({"selectivity": 1.5}, r"selectivity is 1.5"),
        ({"predicates": "boxes"}, "predicates is 'boxes'; it is one of 'values', 'ranges'"),
        ({"sanity_bound": 0.0}, "sanity_bound is 0.0; it is a number over 0"),
        ({"queries": 10**9}, "1000000000 queries over a quasi-identifier of 6 values are more than a workload holds"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        draw(**settings)


def test_it_says_what_it_is():
    assert repr(draw(queries=3, sanity_bound=0.5)) == "Workload(queries=3, redrawn=0, sanity_bound=0.5)"
    assert len(SCHEMA.quasi_identifiers) == len(SIZES)
