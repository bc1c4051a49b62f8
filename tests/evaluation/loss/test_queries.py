"""Counting queries against counts by hand and plain loops over the public table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reader import JOBS, ages_of, readings, releases, view_of_rows
from strategies import view_of

from foreknow.evaluation import Workload, query_error
from foreknow.evaluation.loss.queries import query_errors
from foreknow.models import Categorical, Grouping, Numeric, Release, Schema, View


def asking(view, ages, values, sanity_bound=None):
    """A workload of one query: those of some ages (0 to 99) with some of the values a, b, c."""
    wanted = np.isin(np.arange(100), ages)[None]
    sensitive = np.isin(list("abc"), list(values))[None]
    return Workload((np.arange(100.0),), (wanted,), sensitive, np.array([1]), sanity_bound=sanity_bound)


def answer(release, ages, values, **settings):
    table = query_errors(release, asking(release.view, ages, values, **settings))
    assert len(table) == 1
    return table.iloc[0].to_dict()


class TestByHand:
    VIEW = view_of("ABCDE", "aabbc", [20, 21, 23, 40, 41])

    def test_spread_evenly_over_whole_numbers(self):
        """Three records in [20,23], of which 20 and 21 are asked for; two of the three have an a: 2 * 2/4 = 1, not 2."""
        release = Release(self.VIEW, [0, 0, 0, 1, 1])
        assert answer(release, [20, 21, 40], "a") == {
            "dimensions": 1,
            "actual": 2,
            "estimate": pytest.approx(1),
            "error": 0.5,
            "deviation": 0,
        }

    def test_several_groups_add_up(self):
        """b or c: 1 * 2/4 of the first group, 2 * 1/2 of the second; truly D alone."""
        found = answer(Release(self.VIEW, [0, 0, 0, 1, 1]), [20, 21, 40], "bc")
        assert (found["actual"], found["estimate"], found["error"]) == (1, pytest.approx(1.5), pytest.approx(0.5))

    def test_bucketized(self):
        """A and B of three are asked for, two of three values are a: 2 * 2/3."""
        release = Release(self.VIEW, Grouping(np.array([0, 0, 0, 1, 1]), bucketized=True))
        assert answer(release, [20, 21, 40], "a")["estimate"] == pytest.approx(4 / 3)

    def test_a_suppressed_record_is_missing(self):
        found = answer(Release(self.VIEW, [0, -1, 1, 2, 2]), [20, 21, 40], "a")
        assert (found["actual"], found["estimate"], found["error"]) == (2, 1, 0.5)

    def test_a_counterfeit_is_counted_as_published(self):
        grouping = Grouping(np.array([0, 0, 0, 1, 1]), counterfeits=np.array([[0, 0]]))
        assert answer(Release(self.VIEW, grouping), [20, 21, 40], "a")["estimate"] == pytest.approx(1.5)
        bucketized = Grouping(np.array([0, 0, 0, 1, 1]), counterfeits=np.array([[0, 0]]), bucketized=True)
        assert answer(Release(self.VIEW, bucketized), [20, 21, 40], "a")["estimate"] == pytest.approx(2 * 3 / 4)

    def test_nothing_published(self):
        found = answer(Release(self.VIEW, [-1] * 5), [20], "a")
        assert (found["actual"], found["estimate"], found["error"]) == (1, 0, 1)

    def test_a_query_that_counts_no_record_is_left_out(self):
        release = Release(self.VIEW, [0, 0, 0, 1, 1])
        table = query_error([release], asking(self.VIEW, [22], "a")).iloc[0]
        assert (table["queries"], table["empty"]) == (0, 1)
        assert np.isnan(table["query_mean"])

    def test_or_divided_by_the_sanity_bound(self):
        """Estimate 2 * 1/4 against a count of 0, over a tenth of five records; the bound has no effect on larger counts."""
        release = Release(self.VIEW, [0, 0, 0, 1, 1])
        assert answer(release, [22], "a", sanity_bound=0.1)["error"] == pytest.approx(0.5 / 0.5)
        assert answer(release, [20, 21, 40], "a", sanity_bound=0.1)["error"] == 0.5

    def test_mean_and_median(self):
        """Of errors 0, 0 and 1: three queries, each for one of A, B and C, where only A and B are published."""
        view = view_of("ABC", "abc", [20, 21, 22])
        wanted = np.array([np.arange(100) == age for age in (20, 21, 22)])
        workload = Workload(
            (np.arange(100.0),), (wanted,), np.ones((3, 3), dtype=bool), np.ones(3, dtype=int), redrawn=7
        )
        found = query_error([Release(view, [0, 1, -1])], workload).iloc[0].to_dict()
        assert found == {
            "time": 1,
            "query_mean": pytest.approx(1 / 3),
            "query_median": 0,
            "queries": 3,
            "empty": 0,
            "redrawn": 7,
            "deviation": 0,
        }

    def test_values_under_a_label_are_counted_one_by_one(self):
        """A nurse and a teacher become *, five jobs of which two are selected: 2 * 2/5, whatever the records."""
        view = view_of_rows([(20, "nurse", "f", "a"), (20, "teacher", "f", "a")])
        wanted = (
            np.ones((1, 6), dtype=bool),
            np.isin(JOBS.leaves, ["nurse", "pilot"])[None],
            np.array([[True, False]]),
        )
        domains = (np.arange(20.0, 26), np.arange(5.0), np.arange(2.0))
        workload = Workload(domains, wanted, np.array([[True, False, False]]), np.array([2]))
        assert query_errors(Release(view, [0, 0]), workload)["estimate"].tolist() == pytest.approx([4 / 5])


@given(release=releases(), seed=st.integers(0, 99), ranges=st.booleans())
def test_as_plain_loops_do(release, seed, ranges):
    settings = {"queries": 4, "selectivity": 0.2, "sanity_bound": 0.2, "predicates": "ranges" if ranges else "values"}
    workload = Workload.draw(release.view, rng=np.random.default_rng(seed), **settings)
    names = [sorted(ages_of(release)), list(JOBS.leaves), ["f", "m"]]
    found, read = query_errors(release, workload), readings(release)
    for q in range(len(workload)):
        asked = [
            {name for name, wanted in zip(values, column[q], strict=True) if wanted}
            for values, column in zip(names, workload.selected, strict=True)
        ]
        values = {value for value, wanted in zip("abc", workload.selected_values[q], strict=True) if wanted}
        actual = sum(
            all(cell in some for cell, some in zip(row[:3], asked, strict=True)) and row[3] in values
            for row in release.view.frame[["age", "job", "sex", "result"]].itertuples(index=False, name=None)
        )
        estimate = sum(
            sum(share for value, share in shares.items() if value in values)
            * np.prod([len(cell & some) / len(cell) for cell, some in zip(sets, asked, strict=True)])
            for sets, shares in read
        )
        assert found["actual"][q] == actual
        assert found["estimate"][q] == pytest.approx(estimate)
        assert found["error"][q] == pytest.approx(abs(actual - estimate) / max(actual, 0.2 * len(release.view)))


def test_defenses_answer_the_same_queries():
    """A release is judged the same whichever others are judged with it, and more queries than a batch are all answered."""
    view = view_of("ABCDEF", "abcabc", [20, 24, 28, 32, 36, 40])
    workload = Workload.draw(view, rng=np.random.default_rng(0), queries=300, selectivity=0.3)
    some, others = Release(view, [0, 0, 1, 1, 2, 2]), Release(view, [0, 0, 0, 1, 1, 1])
    both = query_error([some, others], workload)
    assert both["query_mean"].tolist() == [
        query_error([release], workload)["query_mean"][0] for release in (some, others)
    ]
    assert both["query_mean"][0] == pytest.approx(query_errors(some, workload)["error"].mean())
    assert both["query_mean"][0] < both["query_mean"][1]


NUMBERS = [3, 3, 4, 7, 9, 9, 12, 30, 31, 40, 41, 80]


def priced(unit, dtype=None):
    """A view with one number per record in some unit, and a binary attribute."""
    price = np.array(NUMBERS) * unit
    frame = pd.DataFrame({"id": range(12), "price": price if dtype is None else price.astype(dtype)})
    frame = frame.assign(member=list("fm" * 6), result=list("aabbccabcabc"))
    return View(frame, Schema({"price": Numeric(), "member": Categorical(("f", "m"))}, "result", ("a", "b", "c")))


class TestTheUnitDoesNotMatter:
    @pytest.mark.parametrize("predicates", ["values", "ranges"])
    @pytest.mark.parametrize(("unit", "dtype"), [(10_000, None), (10_000, float), (0.5, None), (10**9, None)])
    def test_errors_and_sizes(self, predicates, unit, dtype):
        """Prices in dollars and in hundredths of a cent: the same queries, errors and arrays."""
        settings = {"queries": 200, "selectivity": 0.2, "predicates": predicates}
        one, other = (
            Workload.draw(view, rng=np.random.default_rng(3), **settings) for view in (priced(1), priced(unit, dtype))
        )
        assert [len(domain) for domain in one.domains] == [len(domain) for domain in other.domains] == [10, 2]
        for mine, its in zip(one.selected, other.selected, strict=True):
            np.testing.assert_array_equal(mine, its)
        labels = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, -1]
        errors = [
            query_errors(Release(view, labels), workload)
            for view, workload in ((priced(1), one), (priced(unit, dtype), other))
        ]
        pd.testing.assert_frame_equal(*errors)

    def test_as_a_reader_counts_who_knows_which_numbers_occur(self):
        """Four prices lie in [300,900], 300 twice among the records: of 300, 400 and 900 asked for, 3 of 4 are covered."""
        release = Release(priced(100), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
        workload = Workload.draw(release.view, rng=np.random.default_rng(0), queries=1, sanity_bound=1)
        wanted = (np.isin(workload.domains[0], [300, 400, 900])[None], np.ones((1, 2), dtype=bool))
        asked = Workload(workload.domains, wanted, np.ones((1, 3), dtype=bool), np.array([1]))
        assert query_errors(release, asked)["estimate"].tolist() == pytest.approx([6 * 3 / 4])


class TestQueriesRestrict:
    def test_a_table_of_binary_attributes_generalized_completely(self):
        """Each query selects one of two values, so that the estimate without any information has an error."""
        rng = np.random.default_rng(5)
        columns = {name: rng.choice(["n", "y"], 200, p=[0.9, 0.1]) for name in "pqr"}
        frame = pd.DataFrame({"id": range(200), **columns, "result": rng.choice(list("ab"), 200)})
        view = View(frame, Schema(dict.fromkeys("pqr", Categorical(("n", "y"))), "result", ("a", "b")))
        workload = Workload.draw(view, rng=rng, queries=300, selectivity=0.5)
        errors = query_errors(Release(view, [0] * 200), workload)["error"]
        assert (errors > 0).all()
        assert errors.median() > 0.4
