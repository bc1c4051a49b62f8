"""Priors: beliefs before any release."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import SequentialAttack, SnapshotAttack
from foreknow.defenses import publish
from foreknow.models import (
    Adversary,
    Categorical,
    ClassFrequencies,
    DirichletFrequencies,
    GivenPrior,
    Grouping,
    History,
    MarkovChain,
    Numeric,
    Observation,
    People,
    PriorByTime,
    PublishedTable,
    Schema,
    UniformPrior,
    View,
)

SCHEMA = Schema({"age": Numeric(0, 60), "sex": Categorical(("f", "m")), "weight": Numeric()}, "result", ("a", "b", "c"))


def corpus(seed, sizes=(12, 9)):
    rng = np.random.default_rng(seed)
    views = []
    for time, n in enumerate(sizes):
        columns = {
            "id": range(n),
            "age": rng.integers(0, 61, n),
            "sex": rng.choice(["f", "m"], n),
            "weight": rng.integers(40, 100, n),
            "result": rng.choice(["a", "b", "c"], n),
        }
        views.append(View(pd.DataFrame(columns), SCHEMA, time))
    return History(views)


def test_uniform():
    people = view_of("ABC", "abc", domain="abcd").people
    assert np.array_equal(UniformPrior()(people), np.full((3, 4), 0.25))


class TestClassFrequencies:
    @given(seed=st.integers(0, 10**6), pseudo_count=st.sampled_from([0.0, 0.5]))
    def test_equals_pandas(self, seed, pseudo_count):
        """Three bands of age, [0, 20), [20, 40), [40, 60], and the sexes, counted by groupby."""
        history = corpus(seed)
        fitted = ClassFrequencies.fit(history, {"age": 3, "sex": None}, pseudo_count)
        records = pd.concat([view.frame for view in history], ignore_index=True)
        bands = pd.cut(records["age"], [0, 20, 40, 61], right=False, labels=False)
        classes = pd.MultiIndex.from_product([range(3), ["f", "m"]])
        seen = records.groupby([bands.rename("band"), "sex", "result"]).size()
        counts = pd.DataFrame(
            {value: [seen.get((*each, value), 0) + pseudo_count for each in classes] for value in "abc"}, index=classes
        )
        whole = records["result"].value_counts().reindex(["a", "b", "c"], fill_value=0).to_numpy() / len(records)
        expected = counts.div(counts.sum(axis=1), axis=0)
        expected[expected.isna().any(axis=1)] = whole
        assert fitted.probabilities.shape == (3, 2, 3)
        assert np.allclose(fitted.probabilities.reshape(6, 3), expected.to_numpy(float))
        for view in history:
            classes = pd.MultiIndex.from_arrays(
                [pd.cut(view.frame["age"], [0, 20, 40, 61], right=False, labels=False), view.frame["sex"]]
            )
            assert np.allclose(fitted(view.people), expected.loc[classes].to_numpy(float))

    def test_a_code_on_a_cut_belongs_above_it(self):
        prior = ClassFrequencies({"age": (20.0, 40.0)}, np.eye(3))
        people = view_of("ABCDE", "aaaaa", ages=[0, 19, 20, 40, 60]).people
        assert prior(people).argmax(axis=1).tolist() == [0, 0, 1, 2, 2]

    def test_open_ends_are_the_corpus_own(self):
        """Weights from 40 to 80 in two classes are cut at 60."""
        frame = pd.DataFrame(
            {"id": range(4), "age": 1, "sex": "f", "weight": [40, 59, 60, 80], "result": ["a", "a", "b", "c"]}
        )
        prior = ClassFrequencies.fit(History([View(frame, SCHEMA)]), {"weight": 2})
        assert prior.cuts == {"weight": (60.0,)}
        assert np.allclose(prior.probabilities, [[1, 0, 0], [0, 0.5, 0.5]])

    @pytest.mark.parametrize(
        ("classes", "pseudo_count", "match"),
        [
            ({"height": 3}, 0, "'height' is no quasi-identifier; .*age, sex, weight"),
            ({"sex": 3}, 0, "'sex' has 2 values and one class for each, not 3; write None"),
            ({"age": 0}, 0, "'age' is 0; it is a number of intervals of equal width, from 1"),
            ({"age": None}, 0, "'age' is None; it is a number of intervals"),
            ({"age": 3}, -1, "pseudo_count is -1; .*at least 0"),
            ({"age": 3}, float("nan"), "pseudo_count is nan"),
        ],
    )
    def test_bad_settings_are_one_clear_error(self, classes, pseudo_count, match):
        with pytest.raises(ValueError, match=match):
            ClassFrequencies.fit(corpus(0), classes, pseudo_count)

    @pytest.mark.parametrize("fit", [ClassFrequencies.fit, DirichletFrequencies.fit])
    @pytest.mark.parametrize("classes", [["age"], "age", {"age"}, [("age", 3)], 3])
    def test_classes_map_attributes_to_numbers(self, fit, classes):
        with pytest.raises(
            TypeError, match=r"classes is .*; it maps each attribute to its number of classes, as \{'age': 3"
        ):
            fit(corpus(0), classes)

    def test_people_without_the_attribute_are_one_clear_error(self):
        prior = ClassFrequencies({"height": (150.0,)}, np.eye(2))
        with pytest.raises(ValueError, match="'height' is no quasi-identifier"):
            prior(view_of("AB", "ab", domain="ab").people)

    @pytest.mark.parametrize(
        ("rows", "match"),
        [
            (np.eye(2), r"the cuts make classes \(3,\) and the probabilities have shape \(2, 2\)"),
            ([[1, 0], [0.5, 0.4], [0, 1]], r"the distribution of class 1 sums to 0\.9"),
            ([[1, 0], [0.5, 0.5], [np.nan, 1]], "the distribution of class 2 sums to nan"),
        ],
    )
    def test_bad_tables_are_one_clear_error(self, rows, match):
        with pytest.raises(ValueError, match=match):
            ClassFrequencies({"age": (20.0, 40.0)}, np.array(rows))


SHARES = {1: [0.9, 0.1, 0.0], 2: [0.5, 0.5, 0.0], 3: [0.1, 0.9, 0.0]}
"""The beliefs in a, b and c at the times 1, 2 and 3."""


class TestPriorByTime:
    PRIOR = PriorByTime({time: ClassFrequencies({}, np.array(row)) for time, row in SHARES.items()})
    VIEWS = tuple(view_of(ids, "ab", time=time) for time, ids in ((1, "AB"), (2, "AC"), (3, "AD")))

    def test_is_the_prior_of_the_people_s_time(self):
        for view in self.VIEWS:
            assert np.array_equal(self.PRIOR(view.people), [SHARES[view.time]] * 2)
            assert np.array_equal(self.PRIOR(view.people[1:]), [SHARES[view.time]])

    def test_of_a_published_table_and_of_any_observation_it_is_that_of_the_release(self):
        rows = pd.DataFrame({"age": [20, 30], "group": [1, 1], "result": ["a", "b"]})
        table = PublishedTable(rows, sensitive="result", time=2)
        people = People(np.array(["A"], dtype=object), np.zeros((1, 3)), SCHEMA)
        for seen in (table.observation, Observation(people, np.array([0]), np.array([[1, 0, 0]]), 2)):
            assert np.array_equal(self.PRIOR(seen.people), [SHARES[2]] * len(seen.people))

    @pytest.mark.parametrize("attack", [SequentialAttack, SnapshotAttack])
    def test_people_first_seen_later_have_that_time_s_prior(self, attack):
        """A group of two respondents with one prior and two values gives each value probability 1/2."""
        chain = MarkovChain(1, np.eye(3))
        adversary = Adversary(self.PRIOR, chain)
        seen = []

        def group_all(view, prior, past):
            seen.append(dict(zip(view.people.respondents, prior, strict=True)))
            return Grouping(np.zeros(len(view), dtype=int))

        beliefs = attack(adversary)(publish(self.VIEWS, group_all, adversary))
        for time, newcomer, prior in ((1, "B", seen[0]), (2, "C", seen[1]), (3, "D", seen[2])):
            assert np.array_equal(prior[newcomer], SHARES[time])
            assert np.array_equal(beliefs.prior(time).loc[newcomer], SHARES[time])
            assert np.array_equal(beliefs.revised(time).loc[newcomer], SHARES[time])
            again = SHARES[time] if time == 1 or attack is SnapshotAttack else [0.5, 0.5, 0]
            assert np.allclose(beliefs.revised(time).loc["A"], again)
        assert np.allclose(seen[1]["A"], [0.5, 0.5, 0])

    def test_a_time_without_a_prior_is_one_clear_error(self):
        with pytest.raises(ValueError, match=r"no prior of the time 7; there are those of 1, 2, 3\. Give one"):
            self.PRIOR(view_of("A", "a", time=7).people)

    @pytest.mark.parametrize("priors", [UniformPrior(), [UniformPrior()], {1: [0.5, 0.5]}])
    def test_it_maps_times_to_priors(self, priors):
        with pytest.raises(TypeError, match="it maps each time to a Prior"):
            PriorByTime(priors)


class TestGivenPrior:
    FRAME = pd.DataFrame(
        [[0.2, 0.3, 0.5], [0.1, 0.0, 0.9], [1.0, 0.0, 0.0]], index=["Z", "A", "B"], columns=["c", "a", "b"]
    )
    PEOPLE = view_of("ABZ", "abc").people

    def test_rows_by_respondent_and_columns_by_value(self):
        assert GivenPrior(self.FRAME)(self.PEOPLE).tolist() == [[0, 0.9, 0.1], [0, 0, 1], [0.3, 0.5, 0.2]]

    def test_numbers_as_respondents(self):
        frame = self.FRAME.set_axis([10, 20, 30])
        people = View(pd.DataFrame({"id": [30, 10], "age": [1, 2], "result": ["a", "b"]}), self.PEOPLE.schema).people
        assert GivenPrior(frame)(people).tolist() == [[0, 0, 1], [0.3, 0.5, 0.2]]

    @pytest.mark.parametrize(
        ("row", "match"),
        [
            ([0.1, 0.0, 0.8], r"the prior of respondent 'A' sums to 0\.9; .*sum to 1 .*Normalize"),
            ([-0.1, 0.2, 0.9], "the prior of respondent 'A' sums to 1; a row must be probabilities"),
            ([np.nan, 0.1, 0.9], "the prior of respondent 'A' sums to nan"),
            ([np.inf, 0.0, 0.0], "the prior of respondent 'A' sums to (nan|inf)"),
        ],
    )
    def test_a_row_that_is_no_distribution_is_one_clear_error(self, row, match):
        frame = self.FRAME.copy()
        frame.loc["A"] = row
        with pytest.raises(ValueError, match=match):
            GivenPrior(frame)

    def test_a_cell_that_is_no_number_is_named_with_its_respondent(self):
        frame = self.FRAME.astype(object)
        frame.loc["A", "c"] = "often"
        with pytest.raises(ValueError, match="respondent 'A'"):
            GivenPrior(frame)

    def test_one_row_per_respondent(self):
        with pytest.raises(ValueError, match="respondent 'Z' has two rows in the prior; keep one"):
            GivenPrior(self.FRAME.set_axis(["Z", "A", "Z"]))

    def test_each_respondent_needs_a_row(self):
        with pytest.raises(ValueError, match="no row for respondent 'B'; add one"):
            GivenPrior(self.FRAME.drop(index="B"))(self.PEOPLE)

    @pytest.mark.parametrize("columns", [["c", "a", "x"], ["c", "a", "B"]])
    def test_columns_are_the_domain(self, columns):
        with pytest.raises(
            ValueError, match=r"the prior's columns and the sensitive domain differ in .*one column per value"
        ):
            GivenPrior(self.FRAME.set_axis(columns, axis=1))(self.PEOPLE)

    def test_one_column_per_value(self):
        frame = pd.DataFrame([[0.2, 0.3, 0.25, 0.25]] * 3, index=["Z", "A", "B"], columns=["c", "a", "b", "b"])
        with pytest.raises(ValueError, match="'b'"):
            GivenPrior(frame)(self.PEOPLE)


@pytest.mark.parametrize("classes", [{"age": 2**28}, {"age": 2**14, "weight": 2**14}])
def test_more_classes_than_a_machine_holds_are_refused(classes):
    with pytest.raises(ValueError, match=r"from 1 to 134,217,728|fewer intervals"):
        ClassFrequencies.fit(corpus(1), classes)
