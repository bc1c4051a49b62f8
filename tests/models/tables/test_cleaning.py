"""Cleaning of tables: laws over random spellings, the rules of each setting, and all faults in one error."""

import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreknow.models import Cleaning, ColumnRoles, InputFaults
from foreknow.models.tables.cleaning import CleanedTable

ROLES = ColumnRoles("disease", ("age", "town"))
MERGE = Cleaning(equal_values="merge", missing="drop", duplicates="drop")

CELLS = st.sampled_from(
    ["flu", "Flu", " flu", "FLU ", "heart  failure", "Heart failure", "Straße", "STRASSE", "", " ", None]
)
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 3), st.integers(20, 60), CELLS, CELLS), min_size=1, max_size=30
)


def table(rows):
    return pd.DataFrame(rows, columns=["id", "week", "age", "town", "disease"])


def good(records=6):
    people = np.arange(records)
    return table(
        [(f"p{i}", 1 + i % 2, 30 + i, ["Rome", "Oslo"][i % 2], ["flu", "cold"][i % 2]) for i in people.tolist()]
    )


def faults(frame, cleaning=None, roles=ROLES):
    with pytest.raises(InputFaults) as error:
        (cleaning or Cleaning())(frame, roles)
    return error.value


def plain(text):
    """The value of a spelling, by definition: strip, single spaces, case folding."""
    return " ".join(text.casefold().split())


def cleaned_or_faults(rules, frame):
    """The cleaned table, or the faults of the table."""
    try:
        return rules(frame, ROLES)
    except InputFaults as error:
        return error.faults


class TestLaws:
    @settings(max_examples=12, deadline=None)
    @given(ROWS)
    def test_nothing_is_dropped_merged_or_changed_silently(self, rows):
        frame = table(rows)
        known = frame.map(lambda cell: not isinstance(cell, str | None) or bool((cell or "").strip())) & frame.notna()
        kept = frame[known.all(axis=1)]
        kept = kept.assign(town=kept["town"].map(plain), disease=kept["disease"].map(plain)).drop_duplicates()
        result = cleaned_or_faults(MERGE, frame)
        if kept.empty or kept.duplicated(["id", "week"]).any():
            assert {fault.column for fault in result} <= ({"town", "disease"} if kept.empty else {""})
            return
        cleaned, changes = result
        assert len(cleaned) == len(frame) - sum(change.cells for change in changes if not change.column)
        for name in ("town", "disease"):
            values = set(cleaned[name])
            assert len({plain(value) for value in values}) == len(values)
            assert all(value == value.strip() for value in values)
        found = cleaned.assign(town=cleaned["town"].map(plain), disease=cleaned["disease"].map(plain))
        assert list(map(tuple, found.to_numpy())) == list(map(tuple, kept.to_numpy()))
        again, changes = Cleaning()(cleaned, ROLES)
        pd.testing.assert_frame_equal(again, cleaned)
        assert changes == ()

    @settings(max_examples=12, deadline=None)
    @given(st.lists(st.text(max_size=8), min_size=1, max_size=8), st.lists(st.text(max_size=8), min_size=1, max_size=3))
    def test_any_text_ends_in_faults_or_in_a_table(self, texts, times):
        size = len(texts)
        weeks = [times[i % len(times)] for i in range(size)]
        frame = pd.DataFrame({"id": range(size), "week": weeks, "age": texts, "town": texts[::-1], "disease": texts})
        for rules in (Cleaning(), MERGE, Cleaning("keep", "category")):
            result = cleaned_or_faults(rules, frame)
            assert len(result.table) <= size if isinstance(result, CleanedTable) else all(one.way_out for one in result)


class TestEqualValues:
    def test_one_disease_in_several_spellings_is_refused(self):
        frame = good().assign(disease=["flu", "Flu", "flu ", "flu", "cold", "cold"])
        error = faults(frame)
        assert len(error.faults) == 1
        assert "'disease' writes 1 value in several spellings" in str(error)
        assert "'flu' in 2 records (row 0), 'Flu' in 1 record (row 1)" in str(error)

    def test_they_are_merged_into_the_most_frequent(self):
        frame = good().assign(disease=["Flu", "flu ", "flu ", " cold", "cold", "COLD"])
        cleaned, changes = Cleaning("merge")(frame, ROLES)
        assert cleaned["disease"].tolist() == ["flu", "flu", "flu", "cold", "cold", "cold"]
        (change,) = changes
        assert (change.column, change.cells) == ("disease", 5)
        assert "'flu' for 'Flu' (1)" in change.sentence

    def test_they_are_kept_if_asked(self):
        genotypes = good().assign(disease=["Aa", "aa", "AA", "Aa", "aa", "AA"])
        cleaned, changes = Cleaning("keep")(genotypes, ROLES)
        assert cleaned["disease"].tolist() == genotypes["disease"].tolist()
        assert "kept apart" in changes[0].sentence

    def test_the_respondent_is_read_so_too(self):
        frame = good().assign(id=["a", "a ", "b", "c", "d", "e"])
        assert [fault.column for fault in faults(frame).faults] == ["id"]
        cleaned, _ = Cleaning("merge")(frame, ROLES)
        assert cleaned["id"].tolist() == ["a", "a", "b", "c", "d", "e"]


class TestMissing:
    FRAME = good().assign(
        town=["Rome", None, "  ", "Oslo", "Rome", "Oslo"], disease=["flu", "flu", "cold", None, "flu", "cold"]
    )

    def test_refused_with_counts_of_each_column(self):
        error = faults(self.FRAME)
        assert [(fault.column, fault.records) for fault in error.faults] == [("disease", 1), ("town", 2)]
        assert "'town' has 2 missing cells in 6 records: row 1, row 2" in str(error)

    def test_dropped_with_counts_of_each_column(self):
        cleaned, (change,) = Cleaning(missing="drop")(self.FRAME, ROLES)
        assert cleaned["id"].tolist() == ["p0", "p4", "p5"]
        assert change.sentence == "3 records of 6 dropped for missing cells: 'disease' in 1, 'town' in 2."

    def test_a_category(self):
        cleaned, changes = Cleaning(missing="category")(self.FRAME, ROLES)
        assert cleaned["town"].tolist() == ["Rome", "missing", "missing", "Oslo", "Rome", "Oslo"]
        assert cleaned["disease"].tolist()[3] == "missing"
        assert sorted(change.cells for change in changes) == [1, 2]

    def test_a_number_a_time_and_a_respondent_are_no_category(self):
        frame = good().assign(age=[1, None, 3, 4, 5, 6], week=[1, 2, None, 2, 1, 2], id=["a", "b", "c", "d", None, "f"])
        error = faults(frame, Cleaning(missing="category"))
        assert [fault.column for fault in error.faults] == ["id", "week", "age"]
        cleaned, _ = Cleaning(missing="drop")(frame, ROLES)
        assert cleaned[["id", "week", "age"]].to_numpy().tolist() == [["a", 1, 1], ["d", 2, 4], ["f", 2, 6]]

    def test_texts_that_mean_missing(self):
        frame = good().assign(town=["Rome", "NA", "?", "Oslo", "Rome", "Oslo"])
        assert Cleaning()(frame, ROLES).table["town"].tolist()[1] == "NA"
        cleaned, _ = Cleaning(missing="drop", missing_texts=["NA", "?"])(frame, ROLES)
        assert len(cleaned) == 4


class TestNumbers:
    @pytest.mark.parametrize(
        ("cells", "numbers"),
        [
            (["43 y", "44y", "45", "46 yrs", "47 years", "48 Y."], [43, 44, 45, 46, 47, 48]),
            (["1,5 kg", "2 kg", "3 kg", "4,25 kg", "5", "6"], [1.5, 2, 3, 4.25, 5, 6]),
            ([" 43", "44 ", "45", "46", "47", "48"], [43, 44, 45, 46, 47, 48]),
        ],
    )
    def test_units_are_removed_if_asked(self, cells, numbers):
        roles = ColumnRoles("disease", ("age", "town"), numbers=("age",))
        cleaned, _ = Cleaning()(good().assign(age=cells), roles)
        assert cleaned["age"].tolist() == numbers

    @pytest.mark.parametrize(
        ("cells", "words"),
        [
            (["43 y", "44 y", "45", "46", "47", "48"], "numbers with the unit 'years' in 2 cells: '43 y' (row 0)"),
            (["43 y", "4 months", "45", "46", "47", "48"], "numbers in 2 units: '43 y' in 1 record (row 0)"),
            (["43 y", "x", "45", "46", "47", "48"], "other text in 1 of 6 cells: 'x' (row 1)"),
            (["1,234", "5,678", "45", "46", "47", "48"], "commas, which may separate thousands: '1,234' (row 0)"),
            (["1,5", "5.6", "45", "46", "47", "48"], "commas, which may separate thousands: '1,5' (row 0)"),
        ],
    )
    def test_what_is_not_a_plain_number_is_refused(self, cells, words):
        assert words in str(faults(good().assign(age=cells)))

    def test_decimal_commas(self):
        cleaned, changes = Cleaning()(good().assign(age=["1,5", "2", "3,25", "4", "5", "6"]), ROLES)
        assert cleaned["age"].tolist() == [1.5, 2, 3.25, 4, 5, 6]
        assert "comma of 2 cells" in changes[0].sentence
        cleaned, _ = Cleaning(decimal=",")(good().assign(age=["1,234", "2", "3", "4", "5", "6"]), ROLES)
        assert cleaned["age"].tolist()[0] == 1.234

    @pytest.mark.parametrize("cells", [["40-49", "50-59"] * 3, ["young", "old"] * 3, ["007", "08"] * 3])
    def test_names_stay(self, cells):
        cleaned, changes = Cleaning()(good().assign(age=cells), ROLES)
        assert cleaned["age"].tolist() == cells
        assert changes == ()

    def test_infinite(self):
        assert "1 infinite number" in str(faults(good().assign(age=[1.0, np.inf, 3, 4, 5, 6])))


class TestRepeatedRecords:
    def test_copies_are_refused_or_dropped(self):
        frame = pd.concat([good(), good().iloc[[1, 1]]], ignore_index=True)
        assert "2 records are copies of others: 'p1' at 2 (row 6), 'p1' at 2 (row 7)" in str(faults(frame))
        cleaned, (change,) = Cleaning(duplicates="drop")(frame, ROLES)
        pd.testing.assert_frame_equal(cleaned, good())
        assert (change.column, change.cells) == ("", 2)

    def test_different_records_of_one_respondent_at_one_time_are_refused(self):
        frame = pd.concat([good(), good().iloc[[1]].assign(disease="flu")], ignore_index=True)
        error = faults(frame, Cleaning(duplicates="drop"))
        assert "1 respondent has several records at one time, which differ in 'disease'" in str(error)
        assert "(row 1), 'p1' at 2 (row 6); keep one record of each respondent and time, as by repeated='first'" in str(
            error
        )
        assert "choose a period" in str(error)
        frame = frame.assign(week=pd.to_datetime("2024-01-01") + pd.to_timedelta(40 * frame["week"], "D"))
        assert "choose a period" not in str(faults(frame, Cleaning(period="month")))

    @settings(max_examples=30, deadline=None)
    @given(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2), st.sampled_from(["flu", "cold", "HIV"])), min_size=1)
    )
    def test_one_of_each_is_kept(self, rows):
        """Oracle: the first or last of each group of pandas, and the one of least rank; nothing else changes."""
        frame = table([(who, week, 30, "Rome", disease) for who, week, disease in rows])
        worst = ["HIV", "flu", "cold"]
        least = frame.iloc[frame["disease"].map(worst.index).sort_values(kind="stable").index]
        for rule, rows_of in (("first", frame), ("last", frame[::-1]), ("worst", least)):
            kept = rows_of.drop_duplicates(["id", "week"]).sort_index().reset_index(drop=True)
            cleaned, changes = Cleaning(repeated=rule, worst=worst if rule == "worst" else ())(frame, ROLES)
            pd.testing.assert_frame_equal(cleaned, kept, check_dtype=False)
            assert sum(change.cells for change in changes) == len(frame) - len(kept)

    def test_what_is_lost_is_counted(self):
        frame = pd.concat([good(), good().iloc[[1]].assign(disease="flu"), good().iloc[[2]]], ignore_index=True)
        _, (change,) = Cleaning(repeated="last")(frame, ROLES)
        assert change.sentence == (
            "2 respondents and times with several records: the last is kept, 2 records left out, 1 of them with another value of "
            "'disease'."
        )
        error = faults(frame, Cleaning(repeated="worst", worst=["flu"]))
        assert "'disease' has 1 value that the order of the worst lacks: 'cold' (row 1), ..." in str(error)

    def test_two_tables_may_have_one_respondent(self):
        tables, changes = Cleaning().together([good(), good()], ROLES, lambda rows: list(map(str, rows)))
        assert [len(one) for one in tables] == [6, 6]
        assert changes == ()


class TestPeriods:
    @settings(max_examples=30, deadline=None)
    @given(st.lists(st.dates(date(2019, 12, 20), date(2026, 1, 10)), min_size=1, unique=True))
    def test_days_are_those_of_the_calendar(self, days):
        frame = table([(f"p{i}", day.isoformat(), 30, "Rome", "flu") for i, day in enumerate(days)])
        iso = [day.isocalendar() for day in days]
        expected = {
            "week": [f"{one.year}-W{one.week:02d}" for one in iso],
            "month": [f"{day:%Y-%m}" for day in days],
            "quarter": [f"{day.year}-Q{(day.month + 2) // 3}" for day in days],
            "year": [day.year for day in days],
        }
        for period, times in expected.items():
            cleaned, changes = Cleaning(period=period)(frame, ROLES)
            assert cleaned["week"].tolist() == times
            assert changes[-1].sentence.endswith("one release each.")
            again = Cleaning()(cleaned, ROLES)
            assert (again.table["week"].tolist(), again.changes) == (times, ())

    @pytest.mark.parametrize(
        ("times", "period"), [([1, 2], "month"), (["2024-01", "2024-02"], "week"), ([2024, 2025], "month")]
    )
    def test_times_that_tell_no_period(self, times, period):
        error = faults(good(2).assign(week=times), Cleaning(period=period))
        assert f"'week' has times that tell no {period}" in str(error)
        assert str(error).endswith(f"write dates, or leave out period={period!r}.")


class TestIdentifiers:
    IDS = ("000013", "13", "13.0", "7", "p1", "0")

    def test_equal_numbers_are_a_fault_two_or_one(self):
        frame = good().assign(id=self.IDS)
        error = str(faults(frame))
        assert "'id' writes 1 number in several ways: '000013' in 1 record (row 0), '13' in 1 record (row 1)" in error
        assert error.endswith(
            "set ids='number' if they are the same respondents, or ids='text' if they are different ones."
        )
        assert Cleaning(ids="text")(frame, ROLES).table["id"].tolist() == list(self.IDS)
        # Weeks alternate: the first and the third of them are one respondent at one time.
        cleaned = Cleaning(ids="number", repeated="first")(frame, ROLES).table
        assert cleaned["id"].tolist() == ["000013", "000013", "7", "p1", "0"]

    @given(st.lists(st.integers(0, 10**12), unique=True, min_size=1, max_size=8))
    def test_different_numbers_are_different(self, numbers):
        frame = good(len(numbers)).assign(id=list(map(str, numbers)))
        assert Cleaning()(frame, ROLES).table["id"].tolist() == list(map(str, numbers))


def test_texts_are_written_as_others():
    frame = good().assign(town=["F", "Female", "F", "M", "M", "male"])
    cleaned, changes = Cleaning(merge={"town": {"F": "Female", "M": "male"}})(frame, ROLES)
    assert cleaned["town"].tolist() == ["Female"] * 3 + ["male"] * 3
    assert [change.cells for change in changes] == [2, 2]
    assert "'town' has no cell 'x'" in str(faults(frame, Cleaning(merge={"town": {"x": "y"}})))
    with pytest.raises(ValueError, match="merge names 'nothing', which is none of"):
        Cleaning(merge={"nothing": {"x": "y"}})(frame, ROLES)


def test_all_faults_are_in_one_error():
    frame = good(8).assign(
        week=["2024-01", "01/2024"] * 4,
        age=["43 y"] * 8,
        town=["Rome", "rome"] + ["Oslo"] * 6,
        disease=["flu", None] + ["cold"] * 6,
    )
    error = faults(pd.concat([frame, frame.iloc[[4]]], ignore_index=True))
    assert [fault.column for fault in error.faults] == ["age", "week", "disease", "town", ""]
    assert str(error).startswith("5 faults:\n'age' has numbers")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"equal_values": "join"}, ValueError),
        ({"missing": "fill"}, ValueError),
        ({"duplicates": None}, ValueError),
        ({"missing_texts": "NA"}, TypeError),
        ({"missing_texts": [1]}, TypeError),
        ({"time_format": 7}, TypeError),
        ({"time_format": "%d"}, ValueError),
        ({"time_format": ["%Y-%m", "%m/%Y"]}, TypeError),
        ({"decimal": ";"}, ValueError),
        ({"repeated": "best"}, ValueError),
        ({"repeated": "worst"}, ValueError),
        ({"worst": ("flu",)}, ValueError),
        ({"period": "day"}, ValueError),
        ({"ids": "int"}, ValueError),
        ({"merge": [("F", "Female")]}, TypeError),
        ({"merge": {"sex": "F"}}, TypeError),
    ],
)
def test_settings_that_are_none(arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        Cleaning(**arguments)


def test_the_error_can_be_pickled():
    error = faults(good().assign(disease=["flu", "Flu", "flu ", "flu", "cold", None]))
    other = pickle.loads(pickle.dumps(error))
    assert (str(other), other.faults) == (str(error), error.faults)
