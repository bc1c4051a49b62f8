"""Original records: what is accepted, what is refused, and on which scale they are measured."""

import numpy as np
import pandas as pd
import pytest
from strategies import frame_of, history_of, view_of

from foreknow.attacks import SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.models import Adversary, Categorical, ClassFrequencies, History, MarkovChain, Numeric, Schema, View

SCHEMA = Schema({"age": Numeric(0, 99), "sex": Categorical(("f", "m"))}, "result", ("a", "b"))
FRAME = pd.DataFrame(
    {
        "id": ["Ann", "Bob", "Cyd", "Dan"],
        "age": [30, 40, 50, 60],
        "sex": ["f", "m", "f", "m"],
        "result": ["a", "b", "b", "a"],
        "unused": [np.nan] * 4,
    }
)


def test_a_view_is_people_and_their_values():
    view = View(FRAME, SCHEMA, time=3)
    assert view.people.respondents.tolist() == ["Ann", "Bob", "Cyd", "Dan"]
    assert view.people.quasi_identifiers.tolist() == [[30, 0], [40, 1], [50, 0], [60, 1]]
    assert view.sensitive.tolist() == [0, 1, 1, 0]
    assert len(view) == 4
    assert repr(view) == "View(time=3, records=4)"
    assert view.people.frame.to_dict("index") == FRAME.set_index("id")[["age", "sex"]].to_dict("index")
    assert view.people.frame.index.name == "id"


def test_it_keeps_its_own_copy_of_the_records():
    frame = FRAME.copy()
    view = View(frame, SCHEMA)
    frame.loc[:, "result"] = "a"
    assert view.frame["result"].tolist() == ["a", "b", "b", "a"]


def test_open_ends_are_the_views_own_until_it_is_in_a_history():
    schema = Schema({"age": Numeric()}, "result", ("a", "b", "c"))
    first = View(frame_of("AB", "ab", [30, 40]), schema, 1)
    second = View(frame_of("CD", "ab", [20, 35]), schema, 2)
    assert first.schema.bounds.tolist() == [[30, 40]]
    history = History([first, second])
    assert [view.schema.bounds.tolist() for view in history] == [[[20, 40]]] * 2
    assert [view.people.schema.bounds.tolist() for view in history] == [[[20, 40]]] * 2


class TestAnyIndex:
    """A table's index means nothing, whatever it is."""

    ADVERSARY = Adversary(
        ClassFrequencies({"age": (45.0,)}, np.array([[0.7, 0.3], [0.2, 0.8]])),
        MarkovChain(1, np.array([[0.9, 0.1], [0.4, 0.6]])),
    )

    def told(self, first, second):
        history = History([View(first, SCHEMA, 1), View(second, SCHEMA, 2)])
        releases = publish(history, Mondrian(KAnonymity(2)), self.ADVERSARY, rng=np.random.default_rng(1))
        beliefs = SequentialAttack(self.ADVERSARY)(releases)
        return [release.table for release in releases], [beliefs.posterior(time) for time in (1, 2)]

    def strange(self, kind):
        frame = FRAME
        if kind == "filtered":
            padded = pd.concat([FRAME.assign(age=-1), FRAME], ignore_index=True)
            return padded[padded["age"] > 0]
        if kind == "column order":
            return frame[list(reversed(frame.columns))]
        indices = {
            "reversed": range(4)[::-1],
            "text": list("wxyz"),
            "all the same": [7] * 4,
            "dates": pd.date_range("2020-01-01", periods=4),
            "two levels": pd.MultiIndex.from_product([["p", "q"], [1, 2]], names=["id", "age"]),
            "named as a column": pd.Index([3, 1, 2, 0], name="result"),
        }
        return frame.set_axis(pd.Index(indices[kind]), axis=0)

    @pytest.mark.parametrize(
        "kind",
        ["filtered", "column order", "reversed", "text", "all the same", "dates", "two levels", "named as a column"],
    )
    def test_gives_the_same_release_and_the_same_beliefs(self, kind):
        tables, beliefs = self.told(FRAME, FRAME)
        strange_tables, strange_beliefs = self.told(self.strange(kind), self.strange(kind))
        for expected, found in zip(tables + beliefs, strange_tables + strange_beliefs, strict=True):
            pd.testing.assert_frame_equal(expected, found)

    def test_shuffled_rows_give_each_person_the_same_belief(self):
        shuffled = FRAME.sample(frac=1, random_state=3)
        assert shuffled["id"].tolist() != FRAME["id"].tolist()
        tables, beliefs = self.told(FRAME, FRAME)
        strange_tables, strange_beliefs = self.told(FRAME, shuffled)
        pd.testing.assert_frame_equal(strange_tables[1], tables[1])
        pd.testing.assert_frame_equal(strange_beliefs[1].loc[FRAME["id"]], beliefs[1])

    @pytest.mark.parametrize("dtype", ["category", object, "string[pyarrow]"])
    def test_any_type_of_text_column(self, dtype):
        tables, beliefs = self.told(FRAME, FRAME)
        frame = FRAME.astype({"sex": dtype, "result": dtype, "id": dtype})
        strange_tables, strange_beliefs = self.told(frame, frame)
        pd.testing.assert_frame_equal(strange_tables[1], tables[1])
        assert np.array_equal(strange_beliefs[1].to_numpy(), beliefs[1].to_numpy())


class TestBadView:
    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (
                {"id": ["Ann", "Bob", "Ann", "Dan"]},
                "respondent 'Ann' appears twice in the view at 3; .*Drop duplicates",
            ),
            ({"id": ["Ann", None, "Cyd", "Dan"]}, "row 1 of the view at 3 has no 'id'"),
            ({"age": [30, 40, np.nan, 60]}, "'age' of respondent 'Cyd' in the view at 3 is missing; .*Correct or drop"),
            (
                {"age": [30, 40, 50, 100]},
                "'age' of respondent 'Dan' in the view at 3 is .*100.*; it must be a number from 0 to 99",
            ),
            ({"age": [30, "forty", 50, 60]}, "'age' of respondent 'Bob' .* is 'forty'; it must be a number"),
            ({"age": [30, np.inf, 50, 60]}, "'age' of respondent 'Bob' .* is .*inf"),
            ({"sex": ["f", "m", "x", "m"]}, "'sex' of respondent 'Cyd' .* is 'x'; it must be one of f, m"),
            ({"sex": [None, "m", "f", "m"]}, "'sex' of respondent 'Ann' .* is missing"),
            (
                {"result": ["a", "b", "z", "a"]},
                "'result' of respondent 'Cyd' .* is 'z'; .*2 values of the schema.*widen the schema",
            ),
            ({"result": ["a", np.nan, "b", "a"]}, "'result' of respondent 'Bob' .* is missing"),
        ],
    )
    def test_a_bad_cell_is_one_clear_error(self, change, match):
        with pytest.raises(ValueError, match=match):
            View(FRAME.assign(**change), SCHEMA, time=3)

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            ({"age": [30, 40, 50, 100]}, "is 100; it must be"),
            ({"id": [7, 1042, 8, 1042]}, "respondent 1042 appears twice"),
            ({"id": [7, 8, 9, 1042], "age": [30, 40, 50, None]}, "'age' of respondent 1042"),
        ],
    )
    def test_numbers_are_named_as_people_write_them(self, change, match):
        with pytest.raises(ValueError, match=match):
            View(FRAME.assign(**change), SCHEMA, time=3)

    @pytest.mark.parametrize("missing", [None, "1980-01-01"])
    def test_a_date_is_no_number(self, missing):
        born = pd.to_datetime(["1990-01-01", missing, "1970-01-01", "1960-01-01"])
        with pytest.raises(
            ValueError, match=r"'born' of respondent 'Ann' in the view at 3 is Timestamp.*must be a number"
        ):
            View(FRAME.assign(born=born), Schema({"born": Numeric()}, "result", ("a", "b")), time=3)

    def test_a_column_that_stands_twice_is_named(self):
        frame = pd.concat([FRAME, FRAME[["age"]]], axis=1)
        with pytest.raises(ValueError, match=r"'age'.*twice"):
            View(frame, SCHEMA, time=3)

    @pytest.mark.parametrize("column", ["id", "age", "result"])
    def test_a_missing_column_is_named_with_those_there_are(self, column):
        with pytest.raises(ValueError, match=f"no column '{column}'; it has .*'sex'.*Rename the column"):
            View(FRAME.drop(columns=column), SCHEMA)

    def test_an_empty_view_is_refused(self):
        with pytest.raises(ValueError, match="the view at 3 has no record; leave it out"):
            View(FRAME.iloc[:0], SCHEMA, time=3)


class TestHistory:
    HISTORY = history_of(("AB", "ab"), ("BC", "bc"), ("AC", "ac"))

    def test_it_is_a_sequence_of_views(self):
        assert len(self.HISTORY) == 3
        assert self.HISTORY.times == (1, 2, 3)
        assert self.HISTORY.respondents == ("A", "B", "C")
        assert self.HISTORY[1].time == 2
        assert [view.time for view in self.HISTORY] == [1, 2, 3]
        assert repr(self.HISTORY) == "History(views=3, records=6)"

    def test_until_is_inclusive(self):
        assert self.HISTORY.until(2).times == (1, 2)

    def test_of_keeps_some_people(self):
        some = self.HISTORY.of(["B"])
        assert some.times == (1, 2)
        assert [view.people.respondents.tolist() for view in some] == [["B"], ["B"]]
        assert some.schema == self.HISTORY.schema

    @pytest.mark.parametrize("times", [(2, 1), (1, 1), (1, float("nan"))])
    def test_times_must_increase(self, times):
        with pytest.raises(ValueError, match=r"comes after time .*; times must increase.* Sort them, or read"):
            History(view_of("AB", "ab", time=time) for time in times)

    def test_times_of_different_kinds_are_one_clear_error(self):
        with pytest.raises(ValueError, match="times must increase"):
            History(view_of("AB", "ab", time=time) for time in ("week 1", 2))

    def test_it_needs_a_view(self):
        with pytest.raises(ValueError, match="needs at least one view"):
            History([])

    def test_one_schema(self):
        with pytest.raises(ValueError, match=r"the view at 2 has another schema than the one at 1; .*the same Schema"):
            History([view_of("AB", "ab", time=1), view_of("AB", "ab", time=2, domain="abcd")])

    @pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
    def test_read(self, kind, tmp_path):
        frame = pd.concat([view.frame.assign(week=view.time) for view in self.HISTORY]).sample(frac=1, random_state=1)
        source = frame
        if kind == "csv":
            source = tmp_path / "records.csv"
            frame.to_csv(source, index=False)
        elif kind == "parquet":
            source = str(tmp_path / "records.parquet")
            frame.to_parquet(source)
        history = History.read(source, self.HISTORY.schema)
        assert history.times == (1, 2, 3)
        for found, expected in zip(history, self.HISTORY, strict=True):
            values = dict(zip(expected.people.respondents, expected.sensitive, strict=True))
            assert dict(zip(found.people.respondents, found.sensitive, strict=True)) == values

    @pytest.mark.parametrize(
        ("change", "settings", "match"),
        [
            ({}, {"time": "year"}, "no column 'year'"),
            ({"week": [1, None]}, {}, "row 1 has no 'week'; every record needs its time"),
        ],
    )
    def test_read_needs_times(self, change, settings, match):
        frame = frame_of("AB", "ab").assign(week=1).assign(**change)
        with pytest.raises(ValueError, match=match):
            History.read(frame, self.HISTORY.schema, **settings)

    def test_read_needs_records(self):
        with pytest.raises(ValueError, match="the table has no record"):
            History.read(frame_of("AB", "ab").assign(week=1).iloc[:0], self.HISTORY.schema)

    def test_read_knows_two_kinds_of_file(self, tmp_path):
        with pytest.raises(ValueError, match=r"ends in '\.xls'; a table is read from \.csv or \.parquet"):
            History.read(tmp_path / "records.xls", self.HISTORY.schema)
        with pytest.raises(FileNotFoundError, match="there is no file"):
            History.read(tmp_path / "records.csv", self.HISTORY.schema)
        (tmp_path / "records.parquet").write_text("no parquet")
        with pytest.raises(ValueError, match="cannot be read as parquet"):
            History.read(tmp_path / "records.parquet", self.HISTORY.schema)


def test_nothing_left_of_a_history_is_one_clear_error():
    history = history_of(("AB", "ab"), ("AC", "ba"))
    with pytest.raises(ValueError, match="none of the 1 respondents is in the history"):
        history.of(["Z"])
    with pytest.raises(ValueError, match="no view is of 0 or before; the first is of 1"):
        history.until(0)
