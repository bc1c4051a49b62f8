"""Published tables of a release, and the observation of the worst-case adversary."""

import dataclasses
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import DistinctDiversity, KAnonymity, TCloseness
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Categorical, Grouping, Hierarchy, Numeric, Observation, People, Release, Schema, View

TREE = Hierarchy(
    [
        ("Rome", "Italy", "Europe", "*"),
        ("Milan", "Italy", "Europe", "*"),
        ("Paris", "France", "Europe", "*"),
        ("Lima", "Peru", "America", "*"),
    ]
)
SCHEMA = Schema(
    {"age": Numeric(0, 99), "town": Categorical(TREE.leaves, TREE), "sex": Categorical(("f", "m"))},
    "result",
    ("a", "b", "c"),
)
FRAME = pd.DataFrame(
    {
        "id": [f"person-{i}" for i in range(7)],
        "age": [31, 30, 45.5, 45.5, 60, 61, 62],
        "town": ["Rome", "Milan", "Rome", "Rome", "Paris", "Rome", "Lima"],
        "sex": ["f", "f", "m", "f", "m", "m", "m"],
        "result": ["b", "a", "c", "c", "a", "b", "a"],
    }
)
VIEW = View(FRAME, SCHEMA, time=9)
LABELS = np.array([5, 5, 2, 2, 8, 8, 8])


class TestTable:
    def test_intervals_and_common_ancestors(self):
        """Groups are numbered in the order of their labels; rows follow the order of the domain."""
        expected = pd.DataFrame(
            {
                "group": [0, 0, 1, 1, 2, 2, 2],
                "age": ["45.5"] * 2 + ["[30,31]"] * 2 + ["[60,62]"] * 3,
                "town": ["Rome"] * 2 + ["Italy"] * 2 + ["*"] * 3,
                "sex": ["*"] * 2 + ["f"] * 2 + ["m"] * 3,
                "result": ["c", "c", "a", "b", "a", "a", "b"],
            }
        )
        assert Release(VIEW, LABELS).table.astype(object).equals(expected.astype(object))

    def test_an_inner_label(self):
        table = Release(VIEW, [0, 0, 0, 0, 0, 0, -1]).table
        assert set(table["town"]) == {"Europe"}

    def test_it_holds_no_respondent(self):
        table = Release(VIEW, LABELS).table
        assert list(table.columns) == ["group", "age", "town", "sex", "result"]
        assert isinstance(table.index, pd.RangeIndex)
        assert not table.astype(str).apply(lambda column: column.str.contains("person")).any(axis=None)

    @given(drawn=tables(), data=st.data())
    def test_each_group_shows_the_multiset_of_its_members(self, drawn, data):
        view, _ = drawn
        labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view))))
        release = Release(view, labels)
        shown = {group: Counter(rows["result"]) for group, rows in release.table.groupby("group")}
        names = sorted(set(labels.tolist()) - {-1})
        assert shown == {g: Counter(view.frame["result"][labels == name]) for g, name in enumerate(names)}
        assert release.groups == len(names)
        for g, name in enumerate(names):
            ages = view.frame["age"][labels == name]
            interval = f"[{ages.min()},{ages.max()}]" if ages.min() < ages.max() else str(ages.min())
            assert set(release.table["age"][release.table["group"] == g]) == {interval}

    def test_the_order_of_records_leaves_no_trace(self):
        reversed_view = View(FRAME.iloc[::-1], SCHEMA, time=9)
        assert Release(reversed_view, LABELS[::-1]).table.equals(Release(VIEW, LABELS).table)

    def test_all_suppressed(self):
        release = Release(VIEW, [-1] * 7)
        assert list(release.table.columns) == ["group", "age", "town", "sex", "result"]
        assert len(release.table) == release.groups == 0
        assert repr(release) == "Release(time=9, groups=0, suppressed=7)"

    def test_intervals_hold_their_members_however_large_the_numbers(self):
        frame = FRAME.assign(age=[1234561, 1234562, 1234563, 1234564, 1234565, 1234566, 1234567])
        schema = Schema({"age": Numeric()}, "result", ("a", "b", "c"))
        table = Release(View(frame, schema), [0, 0, 1, 1, 2, 2, 2]).table
        assert set(table["age"]) == {"[1234561,1234562]", "[1234563,1234564]", "[1234565,1234567]"}


class TestDistortion:
    def test_published_values_replace_the_true_ones(self):
        view = view_of("ABCD", "abca")
        release = Release(view, Grouping(np.array([0, 0, 1, 1]), values=np.array([0, 1, 1, 1])))
        assert release.table["result"].tolist() == ["a", "b", "b", "b"]
        assert release.counts.tolist() == [[1, 1, 0], [0, 2, 0]]

    def test_counterfeits_are_shown_and_become_respondents_with_uniform_priors(self):
        view = view_of("ABCD", "abca")
        release = Release(view, Grouping(np.array([3, 3, 7, -1]), counterfeits=np.array([[7, 0], [7, 2], [3, 1]])))
        assert release.table["group"].tolist() == [0, 0, 0, 1, 1, 1]
        assert release.table["result"].tolist() == ["a", "b", "b", "a", "c", "c"]
        prior = np.array([[0.2, 0.3, 0.5]] * 4)
        problem = release.observation.problem(prior)
        assert problem.group.tolist() == [0, 0, 1, -1, 0, 1, 1]
        assert np.allclose(problem.prior, [*prior, *[[1 / 3] * 3] * 3])
        assert problem.counts.tolist() == [[1, 2, 0], [1, 0, 2]]

    @pytest.mark.parametrize(
        ("build", "match"),
        [
            (
                lambda: Grouping(np.array([0, -2])),
                r"integers from -1 \(suppressed\) on, one per record; the smallest is -2",
            ),
            (lambda: Grouping(np.array([[0, 1]])), "must be one label per record, .* got shape"),
            (
                lambda: Grouping(np.array([0.5, 1])),
                "the labels of a grouping must be integers of 64 bits, one label per record, .* got float64",
            ),
            (
                lambda: Grouping(np.array([0, 0]), values=np.array([1])),
                r"the published values of a grouping must be .* each of the 2 records; got shape \(1,\)",
            ),
            (
                lambda: Grouping(np.array([0, 0]), counterfeits=np.array([[4, 1]])),
                "a counterfeit is in group 4, which has no record",
            ),
            (
                lambda: Release(view_of("AB", "ab"), Grouping(np.array([0, 0]), values=np.array([1, 3]))),
                "value has code 3",
            ),
        ],
    )
    def test_bad_groupings_are_one_clear_error(self, build, match):
        with pytest.raises(ValueError, match=match):
            build()

    def test_a_negative_code_is_named(self):
        with pytest.raises(ValueError, match="value has code -1"):
            Release(view_of("AB", "ab"), Grouping(np.array([0, 0]), counterfeits=np.array([[0, -1]])))

    def test_whole_numbers_in_any_type_are_labels(self):
        assert Release(view_of("AB", "ab"), [1.0, 1.0]).group.tolist() == [0, 0]


@pytest.mark.parametrize("labels", [[0] * 6, [0] * 8, []])
def test_one_label_per_record(labels):
    with pytest.raises(
        ValueError, match=rf"has {len(labels)} labels and the view at 9 has 7 records; give one label per record"
    ):
        Release(VIEW, labels)


def leaves(thing):
    """All values that can be reached from an object through its fields."""
    if dataclasses.is_dataclass(thing):
        found = {name: leaves(value) for name, value in vars(thing).items()}
        assert set(found) == {field.name for field in dataclasses.fields(thing)}, "no attribute besides the fields"
        return found
    if isinstance(thing, dict):
        return {key: leaves(value) for key, value in thing.items()}
    return thing.tolist() if isinstance(thing, np.ndarray) else thing


class TestObservation:
    def test_it_holds_people_groups_counts_and_time(self):
        names = [
            "people",
            "group",
            "counts",
            "time",
            "distorted",
            "vanished",
            "ghosts",
            "ghost_group",
            "listed",
            "noise",
        ]
        assert [field.name for field in dataclasses.fields(Observation)] == names
        names = ["respondents", "quasi_identifiers", "schema", "time"]
        assert [field.name for field in dataclasses.fields(People)] == names
        release = Release(VIEW, LABELS)
        observation = release.observation
        assert observation is release.observation
        assert observation.time == 9
        assert observation.group.tolist() == [1, 1, 0, 0, 2, 2, 2]
        assert observation.counts.tolist() == [[0, 0, 2], [1, 1, 0], [2, 1, 0]]
        assert "result" not in observation.people.frame.columns

    def test_nothing_in_it_depends_on_the_link_within_groups(self):
        """Permute true values within groups: all that is reachable from the observation, and the table, stay equal."""
        exchanged = FRAME.assign(result=["a", "b", "c", "c", "b", "a", "a"])
        before, after = (Release(View(frame, SCHEMA, time=9), LABELS) for frame in (FRAME, exchanged))
        assert leaves(before.observation) == leaves(after.observation)
        assert before.table.equals(after.table)


HOSPITAL = pd.DataFrame(
    {
        "id": ["Bob", *range(2, 7), "Alice", 8],
        "age": [23, 27, 35, 59, 61, 65, 65, 70],
        "sex": list("MMMMFFFF"),
        "zipcode": [11000, 13000, 59000, 12000, 54000, 25000, 25000, 30000],
        "disease": ["pneumonia", "dyspepsia", "dyspepsia", "pneumonia", "flu", "gastritis", "flu", "bronchitis"],
    }
)
HOSPITAL_SCHEMA = Schema(
    {"age": Numeric(), "sex": Categorical(("F", "M")), "zipcode": Numeric()},
    "disease",
    ("bronchitis", "dyspepsia", "flu", "gastritis", "pneumonia"),
)


def both(view, labels, **more):
    """A bucketized release, and the same release generalized."""
    return tuple(Release(view, Grouping(np.asarray(labels), bucketized=way, **more)) for way in (True, False))


def parts(table, columns):
    """Each group's rows of some columns, as a multiset."""
    found = {group: Counter() for group in table["group"].tolist()}
    for group, *cells in zip(table["group"].tolist(), *(table[name].tolist() for name in columns), strict=True):
        found[group][tuple(cells)] += 1
    return found


class TestBucketized:
    def test_the_two_tables_of_anatomy(self):
        """Xiao, Tao, VLDB 2006, the hospital of eight patients: 2-diverse, in two groups of four."""
        release, _ = both(View(HOSPITAL, HOSPITAL_SCHEMA), [1] * 4 + [2] * 4)
        identifiers, values = release.tables
        assert identifiers.to_numpy().tolist() == [
            [0, 23, "M", 11000],
            [0, 27, "M", 13000],
            [0, 35, "M", 59000],
            [0, 59, "M", 12000],
            [1, 61, "F", 54000],
            [1, 65, "F", 25000],
            [1, 65, "F", 25000],
            [1, 70, "F", 30000],
        ]
        assert values.to_numpy().tolist() == [
            [0, "dyspepsia", 2],
            [0, "pneumonia", 2],
            [1, "bronchitis", 1],
            [1, "flu", 2],
            [1, "gastritis", 1],
        ]
        assert list(identifiers.columns) == ["group", "age", "sex", "zipcode"]
        assert list(values.columns) == ["group", "disease", "count"]

    def test_generalized_each_group_has_one_row_of_quasi_identifiers(self):
        _, release = both(View(HOSPITAL, HOSPITAL_SCHEMA), [1] * 4 + [2] * 4)
        identifiers, values = release.tables
        assert identifiers.to_numpy().tolist() == [
            [0, "[23,59]", "M", "[11000,59000]"],
            [1, "[61,70]", "F", "[25000,54000]"],
        ]
        assert values["count"].tolist() == [2, 2, 1, 2, 1]

    @given(drawn=tables(), data=st.data())
    def test_a_table_tells_each_group_s_two_multisets(self, drawn, data):
        view, _ = drawn
        labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view))))
        release, generalized = both(view, labels)
        names = sorted(set(labels.tolist()) - {-1})
        members = view.frame[labels >= 0].assign(group=[names.index(label) for label in labels if label >= 0])
        table = release.table
        assert parts(table, ["age", "weight"]) == parts(members, ["age", "weight"])
        assert parts(table, ["result"]) == parts(members, ["result"]) == parts(generalized.table, ["result"])
        assert list(table.columns) == ["group", "age", "weight", "result"]
        assert isinstance(table.index, pd.RangeIndex)

    @given(drawn=tables(), data=st.data())
    def test_and_nothing_beyond_them(self, drawn, data):
        """Permute values within groups and reorder the records: the published tables stay equal."""
        view, _ = drawn
        labels = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=len(view), max_size=len(view))))
        order = np.array(data.draw(st.permutations(range(len(view)))))
        results = view.frame["result"].to_numpy().copy()
        for name in set(labels.tolist()) - {-1}:
            rows = np.flatnonzero(labels == name)
            results[rows] = results[data.draw(st.permutations(rows.tolist()))]
        exchanged = View(view.frame.assign(result=results).iloc[order], view.schema, view.time)
        (before, _), (after, _) = both(view, labels), both(exchanged, labels[order])
        assert before.table.equals(after.table)
        assert all(x.equals(y) for x, y in zip(before.tables, after.tables, strict=True))

    def test_rows_stand_in_the_order_of_their_domains(self):
        """Ages and values are sorted separately: the oldest age is beside the last value of the domain, without a link."""
        release, _ = both(view_of("ABC", "cab", [50, 40, 30]), [0, 0, 0])
        assert release.table.to_numpy().tolist() == [[0, 30, "a"], [0, 40, "b"], [0, 50, "c"]]

    def test_it_holds_no_respondent(self):
        release, _ = both(VIEW, LABELS)
        for table in (release.table, *release.tables):
            assert "id" not in table.columns
            assert not table.astype(str).apply(lambda column: column.str.contains("person")).any(axis=None)

    def test_counterfeits_are_values_without_quasi_identifiers(self):
        """The rows of both tables reveal the number of counterfeits, but not which values are counterfeit."""
        counterfeits = np.array([[7, 0], [7, 2], [3, 1]])
        release, _ = both(view_of("ABCD", "abca", [1, 2, 3, 4]), [3, 3, 7, -1], counterfeits=counterfeits)
        identifiers, values = release.tables
        assert identifiers.to_numpy().tolist() == [[0, 1.0], [0, 2.0], [1, 3.0]]
        assert values.to_numpy().tolist() == [[0, "a", 1], [0, "b", 2], [1, "a", 1], [1, "c", 2]]
        table = release.table
        assert table["result"].tolist() == ["a", "b", "b", "a", "c", "c"]
        assert table["age"].isna().tolist() == [False, False, True, False, True, True]

    def test_published_values_replace_the_true_ones(self):
        release, _ = both(view_of("ABCD", "abca"), [0, 0, 1, 1], values=np.array([0, 1, 1, 1]))
        assert release.tables[1].to_numpy().tolist() == [[0, "a", 1], [0, "b", 1], [1, "b", 2]]

    def test_all_suppressed(self):
        release, _ = both(VIEW, [-1] * 7)
        assert list(release.table.columns) == ["group", "age", "town", "sex", "result"]
        assert [len(table) for table in (release.table, *release.tables)] == [0, 0, 0]

    def test_the_worst_case_adversary_holds_the_same(self):
        """The adversary knows the members of each group, however the quasi-identifiers are published."""
        bucketized, generalized = both(VIEW, LABELS)
        assert leaves(bucketized.observation) == leaves(generalized.observation)

    def test_it_is_verified_as_any_other(self):
        bucketized, generalized = both(VIEW, LABELS)
        requirement = KAnonymity(3) & DistinctDiversity(2) & TCloseness(0.3)
        verdicts = verify(bucketized, requirement)
        assert verdicts.equals(verify(generalized, requirement))
        assert verdicts["holds"].tolist() == [False, False, True, False, True, True, False, True, True]
