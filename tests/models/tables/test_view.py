"""Views and histories: accepted and refused tables, common bounds, and times."""

import dataclasses

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


def test_records_in_another_order():
    order = np.array([2, 0, 3, 1])
    view, ordered = View(FRAME.iloc[order], SCHEMA, time=3), View(FRAME, SCHEMA, time=3).in_order(order)
    assert ordered.frame.equals(view.frame)
    assert ordered.people.respondents.tolist() == view.people.respondents.tolist()
    assert ordered.sensitive.tolist() == view.sensitive.tolist()
    assert ordered.table_counts.tolist() == view.table_counts.tolist()
    assert len(dataclasses.replace(ordered, time=4).in_order(order)) == 4


def test_it_keeps_its_own_copy_of_the_records():
    frame = FRAME.copy()
    view = View(frame, SCHEMA)
    frame.loc[:, "result"] = "a"
    assert view.frame["result"].tolist() == ["a", "b", "b", "a"]


def test_omitted_bounds_are_those_of_the_view_or_of_the_history():
    schema = Schema({"age": Numeric()}, "result", ("a", "b", "c"))
    first = View(frame_of("AB", "ab", [30, 40]), schema, 1)
    second = View(frame_of("CD", "ab", [20, 35]), schema, 2)
    assert first.schema.bounds.tolist() == [[30, 40]]
    history = History([first, second])
    assert [view.schema.bounds.tolist() for view in history] == [[[20, 40]]] * 2
    assert [view.people.schema.bounds.tolist() for view in history] == [[[20, 40]]] * 2


class TestAnyIndex:
    """The index of a table is not read."""

    ADVERSARY = Adversary(
        ClassFrequencies({"age": (45.0,)}, np.array([[0.7, 0.3], [0.2, 0.8]])),
        MarkovChain(1, np.array([[0.9, 0.1], [0.4, 0.6]])),
    )

    def releases_and_beliefs(self, first, second):
        history = History([View(first, SCHEMA, 1), View(second, SCHEMA, 2)])
        releases = publish(history, Mondrian(KAnonymity(2)), self.ADVERSARY, rng=np.random.default_rng(1))
        beliefs = SequentialAttack(self.ADVERSARY)(releases)
        return [release.table for release in releases], [beliefs.posterior(time) for time in (1, 2)]

    def with_index(self, kind):
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
        tables, beliefs = self.releases_and_beliefs(FRAME, FRAME)
        other_tables, other_beliefs = self.releases_and_beliefs(self.with_index(kind), self.with_index(kind))
        for expected, found in zip(tables + beliefs, other_tables + other_beliefs, strict=True):
            pd.testing.assert_frame_equal(expected, found)

    def test_shuffled_rows_give_each_person_the_same_belief(self):
        shuffled = FRAME.sample(frac=1, random_state=3)
        assert shuffled["id"].tolist() != FRAME["id"].tolist()
        tables, beliefs = self.releases_and_beliefs(FRAME, FRAME)
        other_tables, other_beliefs = self.releases_and_beliefs(FRAME, shuffled)
        pd.testing.assert_frame_equal(other_tables[1], tables[1])
        pd.testing.assert_frame_equal(other_beliefs[1].loc[FRAME["id"]], beliefs[1])

    @pytest.mark.parametrize("dtype", ["category", object, "string[pyarrow]"])
    def test_any_type_of_text_column(self, dtype):
        tables, beliefs = self.releases_and_beliefs(FRAME, FRAME)
        frame = FRAME.astype({"sex": dtype, "result": dtype, "id": dtype})
        other_tables, other_beliefs = self.releases_and_beliefs(frame, frame)
        pd.testing.assert_frame_equal(other_tables[1], tables[1])
        assert np.array_equal(other_beliefs[1].to_numpy(), beliefs[1].to_numpy())


class TestBadView:
    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (
                {"id": ["Ann", "Bob", "Ann", "Dan"]},
                "respondent 'Ann' appears twice in the view at 3; .*Drop duplicates",
            ),
            ({"id": ["Ann", None, "Cyd", "Dan"]}, "row 1 of the view at 3 has no 'id'"),
            (
                {"age": [30, 40, np.nan, 60]},
                "'age' of respondent 'Cyd' in the view at 3 is missing; .*drop the record\\.$",
            ),
            (
                {"age": [30, 40, 50, 100]},
                "'age' of respondent 'Dan' in the view at 3 is .*100.*; it must be a number from 0 to 99.*widen",
            ),
            ({"age": [30, "forty", 50, 60]}, "'age' of respondent 'Bob' .* is 'forty'; it must be a number"),
            ({"age": [30, np.inf, 50, 60]}, "'age' of respondent 'Bob' .* is .*inf.*drop the record\\.$"),
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


class TestPlainValues:
    """A view holds Python and NumPy values, for any types of the table."""

    def test_numpy_texts_are_texts_in_a_release(self):
        frame = FRAME.assign(
            **{name: pd.Series(map(np.str_, FRAME[name]), dtype=object) for name in ("id", "sex", "result")}
        )
        schema = Schema(
            {"age": Numeric(0, 99), "sex": Categorical(np.array(["f", "m"]))}, "result", np.array(["a", "b"])
        )
        view = View(frame, schema, np.int64(3))
        (release,) = publish([view], Mondrian(KAnonymity(1)))
        assert type(view.time) is int
        assert {type(cell) for name in ("sex", "result") for cell in release.table[name]} == {str}
        assert {type(respondent) for respondent in view.people.respondents} == {str}

    def test_respondents_and_times_never_pass_through_float(self):
        large = 2**53 + 1
        frame = frame_of([large, large - 1, large], "aba", [1, 2, 3]).assign(week=[large - 1, large, large])
        for dtype in ("int64", "Int64", "int64[pyarrow]", object):
            history = History.read(
                frame.astype({"id": dtype, "week": dtype}), Schema({"age": Numeric()}, "result", ("a", "b"))
            )
            assert history.times == (large - 1, large)
            assert history.respondents == (large, large - 1)

    @pytest.mark.parametrize(("results", "types"), [([1, 0.5], {int, float}), ([1, 2], {int})])
    def test_sensitive_numbers_are_published_as_they_are(self, results, types):
        frame = frame_of("AB", "ab").assign(result=pd.Series(results, dtype=object))
        (release,) = publish([View(frame, Schema.infer(frame, ["age"]))], Mondrian(KAnonymity(1)))
        assert {type(cell) for cell in release.table["result"].tolist()} == types
        assert {type(cell) for cell in release.tables[1]["result"].tolist()} == types

    def test_whole_numbers_are_published_exactly_up_to_2_53(self):
        ages = [2**53 - 3, 2**53 - 1, -(2**53), 2**53]
        frame = frame_of("ABCD", "abab", ages)
        (release,) = publish([View(frame, Schema({"age": Numeric()}, "result", ("a", "b")))], Mondrian(KAnonymity(1)))
        assert sorted(map(int, release.table["age"])) == sorted(ages)
        with pytest.raises(
            ValueError, match=r"'age' of respondent 'B' .* is 9007199254740993; .* 2\*\*53 = 9007199254740992. Declare"
        ):
            View(frame_of("AB", "ab", [1, 2**53 + 1]), Schema({"age": Numeric()}, "result", ("a", "b")))
        codes = Schema({"age": Categorical((1, 2**53 + 1))}, "result", ("a", "b"))
        (release,) = publish([View(frame_of("AB", "ab", [1, 2**53 + 1]), codes)], Mondrian(KAnonymity(1)))
        assert set(release.table["age"]) == {1, 2**53 + 1}

    def test_all_rows_with_a_missing_cell_are_named(self):
        frame = FRAME.assign(age=pd.Series([30, pd.NA, 50, pd.NA], dtype="Int64"))
        with pytest.raises(
            ValueError, match=r"'age' of respondent 'Bob' in the view at 3 is missing \(rows 1, 3 have no 'age'\)"
        ):
            View(frame, SCHEMA, 3)

    @pytest.mark.parametrize("name", ["group", "count"])
    def test_names_that_a_release_adds_are_refused(self, name):
        frame = FRAME.rename(columns={"result": name})
        with pytest.raises(
            ValueError, match=f"the column '{name}' has the name of a column that a release adds; rename"
        ):
            View(frame, Schema({"age": Numeric()}, name, ("a", "b")))

    def test_columns_named_by_numbers(self):
        frame = FRAME.rename(columns={"age": 1, "result": 2, "id": 0})
        (release,) = publish([View(frame, Schema.infer(frame, [1], 2, 0))], Mondrian(KAnonymity(2)))
        assert release.table.columns.tolist() == ["group", 1, 2]

    @pytest.mark.parametrize(
        ("build", "match"),
        [
            (lambda: View(FRAME.to_dict(), SCHEMA), "the table is a dict; it is a DataFrame"),
            (lambda: View(FRAME, {"age": Numeric()}), "View: schema is {'age': .*; it is a Schema"),
        ],
    )
    def test_other_kinds_of_tables_are_refused(self, build, match):
        with pytest.raises(TypeError, match=match):
            build()


class TestTimes:
    """Times that make a view of each record are refused, unless the views are passed explicitly."""

    SCHEMA = Schema({"age": Numeric(0, 99)}, "result", ("a", "b"))

    def read(self, times):
        n = len(times)
        return History.read(frame_of(range(n), "ab" * (n // 2), [30] * n).assign(week=times), self.SCHEMA)

    @pytest.mark.parametrize(
        ("times", "way"),
        [
            (np.linspace(0, 7, 1026), r"as frame\[column\].round\(\)"),
            (pd.date_range("2020-01-01", periods=1026, freq="7h"), r"as frame\[column\].dt.floor\('D'\)"),
        ],
    )
    def test_continuous_times_are_refused(self, times, way):
        with pytest.raises(
            ValueError, match=r"'week' are continuous, .* 1,026 views, 1,026 of them of one record; .*" + way
        ):
            self.read(times)

    @pytest.mark.parametrize(
        "times",
        [
            [1, 2, 3, 4],
            [1.0, 2.0, 3.0, 4.0],
            [0.5, 0.5, 1.5, 1.5],
            pd.date_range("2020-01-01", periods=4),
            pd.to_datetime(["2020-01-01 08:00", "2020-01-01 08:00", "2020-01-01 16:00", "2020-01-01 16:00"]),
            ["2020-01", "2020-02", "2020-03", "2020-04"],
        ],
    )
    def test_others_are_taken(self, times):
        assert self.read(times).times == tuple(sorted(set(times)))

    def test_to_insist_pass_the_views(self):
        frame = frame_of("AB", "ab").assign(week=[0.5, 1.5])
        with pytest.raises(ValueError, match=r"pass the views yourself: History\(View"):
            History.read(frame, self.SCHEMA)
        assert History(View(rows, self.SCHEMA, time) for time, rows in frame.groupby("week")).times == (0.5, 1.5)

    @pytest.mark.parametrize(
        ("times", "match"),
        [
            ([1, np.inf], "a time of 'week' is inf; a time is a finite number"),
            (["a", 1], "the times of 'week' cannot be ordered, as 'a' and 1; write all"),
            (
                pd.Categorical(["post", "pre"], ["pre", "post"], ordered=True),
                "'pre' comes before 'post'; as values they sort otherwise",
            ),
            ([[1], [2]], r"the column 'week' of the table holds lists, as \[1\] in row 0"),
            (pd.array([1, None], dtype="Int64"), "row 1 has no 'week'; every record needs its time"),
        ],
    )
    def test_times_without_an_order_are_one_clear_error(self, times, match):
        with pytest.raises(ValueError, match=match):
            self.read(times)

    def test_an_ordered_scale_that_sorts_as_it_is(self):
        assert self.read(pd.Categorical([2, 1], [1, 2, 3], ordered=True)).times == (1, 2)


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

    def test_of_keeps_some_respondents(self):
        some = self.HISTORY.of(["B"])
        assert some.times == (1, 2)
        assert [view.people.respondents.tolist() for view in some] == [["B"], ["B"]]
        assert some.schema == self.HISTORY.schema

    @pytest.mark.parametrize("times", [(2, 1), (1, 1)])
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

    @pytest.mark.parametrize("table", ["arrow and index", "windows", "numbered columns"])
    def test_read_any_long_table(self, table, tmp_path):
        """The same five records, as a survey, a spreadsheet and an array may have them."""
        records = [(2, "é", 1.5, "x"), (10, "b", 2.5, "y"), (2, "b", 2.5, "x"), (10, "é", 1.5, "x"), (2, "c", 9.0, "y")]
        frame = pd.DataFrame(records, columns=["wave", "who", "dose", "seen"])
        schema, time, settings, (first, last) = (
            Schema({"dose": Numeric()}, "seen", ("x", "y"), "who"),
            "wave",
            {},
            (2, 10),
        )
        if table == "arrow and index":
            frame["wave"] = pd.PeriodIndex([f"2024-{wave:02}" for wave in frame["wave"]], freq="M")
            frame = frame.astype({"dose": "double[pyarrow]", "seen": "category"}).set_index(["wave", "who"])
            first, last = pd.Period("2024-02"), pd.Period("2024-10")
        elif table == "windows":
            frame.to_csv(tmp_path / "a.txt", sep=";", index=False, encoding="cp1252")
            frame, settings = tmp_path / "a.txt", {"encoding": "cp1252"}
        else:
            frame = frame.set_axis([0, 1, 2, 3], axis=1).set_axis([5] * 5)
            schema, time = Schema({2: Numeric()}, 3, ("x", "y"), 1), 0
        history = History.read(frame, schema, time, **settings)
        assert history.times == (first, last)
        assert [view.people.respondents.tolist() for view in history] == [["é", "b", "c"], ["b", "é"]]
        assert [view.people.quasi_identifiers.ravel().tolist() for view in history] == [[1.5, 2.5, 9.0], [2.5, 1.5]]
        assert [view.sensitive.tolist() for view in history] == [[0, 0, 1], [1, 0]]

    @pytest.mark.parametrize(
        ("times", "match"),
        [
            (["10", "2"], "are text, and as text '10' comes before '2'; clean the table first, as Cleaning"),
            (["wave 10", "wave 2"], "as text 'wave 10' comes before 'wave 2'; write them as numbers"),
            (["January", "February"], "'week' has months without a year; write year and month"),
            (["9", "10", "follow-up"], "'week' has times in several notations"),
            (["2024-01", "02/2024"], "'week' has times in several notations; correct them, or write all times in one"),
        ],
    )
    def test_text_that_does_not_sort_in_the_order_of_time_is_refused(self, times, match):
        with pytest.raises(ValueError, match=match):
            History.read(frame_of("ABC"[: len(times)], "aba"[: len(times)]).assign(week=times), self.HISTORY.schema)

    def test_names_sort_by_the_alphabet(self):
        read = History.read(frame_of("AB", "ab").assign(week=["follow-up", "baseline"]), self.HISTORY.schema)
        assert read.times == ("baseline", "follow-up")

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
        with pytest.raises(ValueError, match=r"ends in '\.xls'; a table is read from \.csv, \.tsv, \.txt or \.parquet"):
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
