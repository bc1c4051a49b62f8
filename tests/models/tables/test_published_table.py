"""Published tables: their observation, releases of this package read back, and the errors for invalid tables."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.attacks import ForegroundAttack
from foreknow.models import Categorical, Grouping, Numeric, PublishedTable, Release, Schema, View

SCHEMA = Schema({"age": Numeric(), "town": Categorical(("A", "B"))}, "result", tuple("abc"))


def rows_of(text, **more):
    """A table of rows written as group, town and disease, a letter each: "1Ax 1By"."""
    cells = pd.DataFrame([list(row) for row in text.split()], columns=["group", "town", "disease"])
    return cells.assign(**more)


def values_of(*rows, columns=("group", "disease", "count")):
    return pd.DataFrame(rows, columns=list(columns)[: len(rows[0])])


TWO = rows_of("1Ax 1By 2By 2Bz").drop(columns="disease")


@st.composite
def releases(draw, bucketized=True):
    """A release of respondents with two ages and two towns; some are suppressed, some groups have counterfeits."""
    n = draw(st.integers(1, 14))
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n).filter(lambda some: max(some) >= 0)))
    invented = draw(st.lists(st.tuples(st.sampled_from(labels[labels >= 0].tolist()), st.integers(0, 2)), max_size=2))
    columns = {name: draw(st.lists(st.sampled_from(of), min_size=n, max_size=n)) for name, of in CELLS.items()}
    grouping = Grouping(labels, counterfeits=np.array(invented).reshape(-1, 2), bucketized=bucketized)
    return Release(View(pd.DataFrame(columns).assign(id=range(n)), SCHEMA, 3), grouping)


CELLS = {"age": [9, 10], "town": "AB", "result": "abc"}


def published_beliefs(beliefs, release):
    """The published respondents by group and quasi-identifiers, with the belief in each value, sorted and rounded."""
    people = beliefs.at(3).observation
    frame = people.people.frame.reset_index(drop=True).assign(group=people.group)
    shown = [value for value in "abc" if value in beliefs.posterior(3).columns]
    frame[shown] = beliefs.posterior(3)[shown].to_numpy().round(6) + 0.0
    frame = frame[frame["group"] >= 0].astype({"age": float})
    return frame.sort_values(list(frame.columns)).reset_index(drop=True)


def both(release):
    """A release as one published table, and as two; if generalized, counterfeits are taken for respondents."""
    identifiers, values = release.tables
    settings = {"sensitive": "result", "time": 3, "counterfeits": release.bucketized}
    return (
        PublishedTable(release.table, **settings),
        PublishedTable(identifiers, values=values, **settings),
    )


class TestObservation:
    def test_who_is_in_each_group_and_its_values(self):
        seen = PublishedTable(rows_of("2Ax 1By 2By 1Ax 2Bz"), "disease", time=7).observation
        assert seen.people.respondents.tolist() == [0, 1, 2, 3, 4]
        assert seen.people.frame["town"].tolist() == list("ABBAB")
        assert seen.people.schema.values == ("x", "y", "z")
        assert seen.group.tolist() == [1, 0, 1, 0, 1]
        assert seen.counts.tolist() == [[1, 1, 0], [1, 1, 1]]
        assert seen.time == 7

    def test_two_tables_are_the_same(self):
        one = PublishedTable(rows_of("1Ax 1By 2By 2Bz"), "disease").observation
        counted = values_of(("2", "z", 1), ("1", "y", 1), ("2", "y", 1.0), ("1", "x", 1), ("1", "z", 0))
        listed = values_of(("2", "z"), ("1", "y"), ("2", "y"), ("1", "x"))
        for values in (counted, listed):
            other = PublishedTable(TWO, "disease", values=values).observation
            assert np.array_equal(other.group, one.group)
            assert np.array_equal(other.counts, one.counts)

    def test_the_link_within_a_row_is_not_read(self):
        one, other = rows_of("1Ax 1By 2By 2Bz"), rows_of("1Ay 1Bx 2Bz 2By")
        assert np.array_equal(*(PublishedTable(rows, "disease").observation.counts for rows in (one, other)))

    def test_a_row_per_group_is_of_as_many_people_as_it_has_values(self):
        rows = pd.DataFrame({"group": [1, 2], "age": ["[20,29]", "30"]})
        seen = PublishedTable(rows, "disease", values=values_of((1, "x", 2), (1, "y", 1), (2, "y", 1))).observation
        assert seen.people.respondents.tolist() == [0, 1, 2, 3]
        assert seen.people.frame["age"].tolist() == ["[20,29]"] * 3 + ["30"]
        assert seen.group.tolist() == [0, 0, 0, 1]

    def test_columns_of_other_names_and_any_index(self):
        rows = rows_of("1Ax 1By").set_axis(["cluster", "count", "row"], axis=1).set_index(pd.Index([7, 7]))
        seen = PublishedTable(rows, "row", "cluster").observation
        assert list(seen.people.schema.quasi_identifiers) == ["count"]
        assert seen.people.respondents.tolist() == [0, 1]

    def test_only_the_named_quasi_identifiers(self):
        table = PublishedTable(rows_of("1Ax 1By", week=3), "disease", quasi_identifiers=["town"])
        assert repr(table.observation.people) == "People(2, known by town)"

    def test_cells_of_any_kind(self):
        """Numbers are sorted as numbers, intervals as intervals, and cells that cannot be compared by their text."""
        rows = pd.DataFrame(
            {
                "group": pd.Categorical(["b", "b", "a"]),
                "age": pd.cut(pd.Series([1, 15, 8]), [0, 9, 20]),
                "weight": [10, 9, 100],
                "code": [1, "x", (2, 3)],
                "disease": [3, 20, 3],
            }
        )
        schema = PublishedTable(rows, "disease").observation.people.schema
        assert schema.quasi_identifiers["weight"].values == (9, 10, 100)
        assert schema.quasi_identifiers["age"].values == (pd.Interval(0, 9), pd.Interval(9, 20))
        assert schema.quasi_identifiers["code"].values == ((2, 3), 1, "x")
        assert schema.values == (3, 20)

    def test_groups_are_one_number_whole_or_not(self):
        """A group column may be integers in one table and floats in the other."""
        values = values_of((1.0, "x", 1), (1.0, "y", 1), (2.0, "y", 1), (2.0, "z", 1))
        seen = PublishedTable(TWO.astype({"group": int}), "disease", values=values).observation
        assert seen.counts.sum(axis=1).tolist() == [2, 2]

    def test_repr(self):
        assert (
            repr(PublishedTable(rows_of("1Ax 1By"), "disease", time=3)) == "PublishedTable(time=3, people=2, groups=1)"
        )


class TestOwnReleases:
    ATTACK = ForegroundAttack(sensitive_set={"a"}, support=1)

    @given(release=releases())
    def test_bucketized(self, release):
        """The attack on the published table gives the beliefs of the attack on the release; the domain is the values shown."""
        shown = [value for value, counts in zip("abc", release.counts.sum(axis=0), strict=True) if counts]
        if "a" not in shown or shown == ["a"]:
            return
        kept = release.view.frame[release.group >= 0]  # The table has no row of a suppressed respondent.
        invented = release.grouping.counterfeits
        grouping = Grouping(release.grouping.labels[release.group >= 0], counterfeits=invented, bucketized=True)
        published = Release(View(kept, SCHEMA, 3), grouping)
        expected = published_beliefs(self.ATTACK([published]), published)
        for table in both(release):
            found = published_beliefs(self.ATTACK([table]), release)
            pd.testing.assert_frame_equal(found, expected[found.columns], check_dtype=False, atol=1e-5)

    @given(release=releases(bucketized=False))
    def test_generalized(self, release):
        """Respondents of one label have equal beliefs: the frequencies of the group."""
        shown = release.counts.sum(axis=0)
        if not shown[0] or shown[0] == shown.sum():
            return
        for table in both(release):
            beliefs = self.ATTACK([table])
            group, counts = beliefs.at(3).observation.group, release.counts
            assert np.array_equal(np.bincount(group), counts.sum(axis=1))
            expected = (counts[:, 0] / counts.sum(axis=1))[group]
            assert np.allclose(beliefs.posterior(3)["a"], expected, atol=1e-9)


@pytest.mark.parametrize("how", ["one table", "two tables"])
def test_a_census_in_a_second(how):
    """45,222 respondents are read in 0.2 s on two cores; a Python loop would take several seconds."""
    rng, n = np.random.default_rng(1), 45_222
    rows = pd.DataFrame(
        {"group": np.arange(n) // 4, "age": rng.integers(17, 90, n), "town": rng.choice(list("ABCDE"), n)}
    )
    values = pd.DataFrame({"group": np.arange(n) // 4, "disease": rng.choice(list("uvwxyz"), n)})
    begun = time.perf_counter()
    if how == "one table":
        table = PublishedTable(rows.assign(disease=values["disease"]), "disease")
    else:
        table = PublishedTable(rows, "disease", values=values.value_counts().reset_index())
    assert time.perf_counter() - begun < 5
    assert table.observation.counts.sum() == n


def of_two(*values, **settings):
    return lambda: PublishedTable(TWO, "disease", values=values_of(*values), **settings)


def of_one(text="1Ax 1By", sensitive="disease", how=None, **settings):
    return lambda: PublishedTable((how or (lambda rows: rows))(rows_of(text)), sensitive, **settings)


def cell(column, value):
    return lambda rows: rows.assign(**{column: [*rows[column].tolist()[:-1], value]})


BAD = {
    "no group": (of_one(group="cluster"), ValueError, "no column 'cluster'"),
    "no sensitive value": (of_one(sensitive="illness"), ValueError, "no column 'illness'"),
    "no quasi-identifier": (of_one(quasi_identifiers=["age"]), ValueError, "no column 'age'"),
    "nothing to know people by": (of_one(how=lambda rows: rows.drop(columns="town")), ValueError, "their quasi-identifiers"),
    "none named": (of_one(quasi_identifiers=[]), ValueError, "their quasi-identifiers"),
    "quasi-identifiers as text": (of_one(quasi_identifiers="town"), TypeError, "is 'town'; it is a list of columns"),
    "the sensitive one among them": (of_one(quasi_identifiers=["town", "disease"]), ValueError, "'disease' has two roles"),
    "the group among them": (of_one(quasi_identifiers=["group"]), ValueError, "'group' has two roles"),
    "one twice": (of_one(quasi_identifiers=["town", "town"]), ValueError, "'town' has two roles"),
    "the group as sensitive": (of_one(sensitive="group"), ValueError, "'group' has two roles"),
    "a column twice": (
        of_one(how=lambda rows: pd.concat([rows, rows["town"]], axis=1)), ValueError, "'town' appears twice",
    ),
    "no frame": (lambda: PublishedTable([["1", "A", "x"]], "disease"), TypeError, "the table is a list; it is a DataFrame"),
    "a file of values": (lambda: PublishedTable(TWO, "disease", values="st.csv"), TypeError, "the table is a str"),
    "no row": (of_one(how=lambda rows: rows.iloc[:0]), ValueError, "no row"),
    "only counterfeits": (of_one(how=lambda rows: rows.assign(town=None), counterfeits=True), ValueError, "no row"),
    "a missing group": (of_one(how=cell("group", None)), ValueError, "row 1 of the published table has no 'group'"),
    "a missing label": (of_one(how=cell("town", None)), ValueError, "row 1 of the published table has no 'town'"),
    "a missing value": (of_one(how=cell("disease", np.nan)), ValueError, "row 1 of the published table has no 'disease'"),
    "some labels missing": (
        of_one(how=lambda rows: cell("town", None)(rows).assign(age=3), counterfeits=True), ValueError, "row 1.*no 'town'",
    ),
    "a missing value in the second": (of_two(("1", "x"), ("1", None)), ValueError, "row 1 of the table of values has no"),
    "no column in the second": (of_two(("1",)), ValueError, "no column 'disease'"),
    "lists": (of_one(how=lambda rows: rows.assign(disease=[["x"], ["y"]])), ValueError, "'disease'.*holds lists"),
    "groups that read alike": (of_one(how=lambda rows: rows.assign(group=[1, "1"])), ValueError, "two groups read '1'"),
    "groups that read alike in two tables": (
        of_two((1, "x", 1), (1, "y", 1), (2, "y", 1), (2, "z", 1)), ValueError, "read '1': 1 and '1'|read '1': '1' and 1",
    ),
    "labels that read alike": (of_one(how=lambda rows: rows.assign(town=[1, "1"])), ValueError, "indistinguishable"),
    "too few values": (of_two(("1", "x", 1), ("2", "y", 2)), ValueError, "group '1' has 2 respondents and 1 values"),
    "too many": (of_two(("1", "x", 2), ("1", "y", 1), ("2", "y", 2)), ValueError, "2 respondents and 3 values.*counterfeits"),
    "too few, with counterfeits": (
        of_two(("1", "x", 1), ("2", "y", 2), counterfeits=True), ValueError, "has 2 respondents and 1 values",
    ),
    "people without values": (of_two(("1", "x", 2)), ValueError, "group '2' has 2 respondents and 0 values"),
    "values without people": (
        of_two(("1", "x", 2), ("2", "x", 2), ("3", "x", 1), counterfeits=True), ValueError, "'3' has 0 respondents and 1 values",
    ),
    "half a value": (of_two(("1", "x", 1.5), ("1", "y", 0.5)), ValueError, "row 0.*has the count 1.5"),
    "less than none": (of_two(("1", "x", 3), ("1", "y", -1)), ValueError, "row 1.*has the count -1"),
    "a count as a word": (of_two(("1", "x", "two")), ValueError, "has the count 'two'; a count is an integer"),
    "no count": (of_two(("1", "x", 2), ("2", "x", np.nan)), ValueError, "row 1.*has the count nan"),
    "more than there are": (
        of_two(("1", "x", 1), ("1", "y", 1e18)), ValueError, "row 1 .* the count 1e.18; .* the sum at most 2,147,483,648",
    ),
    "an endless count": (of_two(("1", "x", np.inf)), ValueError, "has the count inf"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_one_clear_error(case):
    make, kind, words = BAD[case]
    with pytest.raises(kind, match=words) as error:
        make()
    assert "np." not in str(error.value)


def test_any_type_of_column_is_the_same_table():
    rows = pd.DataFrame({"age": [1, 2, 2], "group": ["x", "x", "y"], "disease": ["a", "b", "b"]})
    plain = PublishedTable(rows, sensitive="disease")
    for types in (
        {"age": "Int64", "group": "category", "disease": "string[pyarrow]"},
        {"age": "int64[pyarrow]", "group": object, "disease": "category"},
    ):
        found = PublishedTable(rows.astype(types), sensitive="disease").observation
        assert found.counts.tolist() == plain.observation.counts.tolist()
        assert found.people.schema == plain.observation.people.schema
    texts = rows.assign(disease=pd.Series(map(np.str_, rows["disease"]), dtype=object))
    assert repr(PublishedTable(texts, sensitive="disease").observation.people.schema.values) == "('a', 'b')"
