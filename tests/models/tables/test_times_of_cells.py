"""Times in many notations: their order, and the notations that are refused."""

import datetime
import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreknow.models import Cleaning, ColumnRoles, History, Schema
from foreknow.models.tables.cell_types import ordered_times

FORMATS = [
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%Y-%m", "%Y/%m", "%m/%Y", "%m-%Y",
    "%m.%Y", "%Y.%m", "%b %Y", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ",
]  # fmt: skip
DATES = st.lists(st.dates(datetime.date(1990, 1, 1), datetime.date(2040, 12, 28)), min_size=1, max_size=8)


def times(cells, time_format=None):
    column, faults, changes = ordered_times(pd.Series(cells, name="month"), time_format)
    return column.tolist(), faults, changes


@settings(max_examples=25, deadline=None)
@given(DATES, st.sampled_from(FORMATS))
def test_the_order_is_that_of_time(dates, form):
    """Oracle: the order of datetime.date, at the precision of the notation."""
    written = [datetime.datetime.combine(date, datetime.time()).strftime(form) for date in dates]
    precise = dates if "%d" in form else [date.replace(day=1) for date in dates]
    cells, faults, _ = times([*written, *written])
    assert not faults
    for (one, first), (other, second) in itertools.product(zip(precise, cells, strict=False), repeat=2):
        assert (one < other) == (first < second)
        assert (one == other) == (first == second)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["02/2024", "01/2025"], ["2024-02", "2025-01"]),
        (["2024-1", "2024-10"], ["2024-01", "2024-10"]),
        (["Sept 2024", "May 2024"], ["2024-09", "2024-05"]),
        (["Q1 2025", "Q2 2024"], ["2025-Q1", "2024-Q2"]),
        (["13/01/2024", "02/03/2024"], ["2024-01-13", "2024-03-02"]),
        (["01/13/2024", "02/03/2024"], ["2024-01-13", "2024-02-03"]),
        (["2024-01-15T23:30:00+02:00"], ["2024-01-15T21:30:00"]),
        (["2024-01-15 00:00"], ["2024-01-15"]),
        (["7", " 10"], [7, 10]),
        ([2023, 2024], [2023, 2024]),
        (["1.5", "2"], [1.5, 2]),
        (["w09", "w10"], ["w09", "w10"]),
        (["baseline"], ["baseline"]),
        ([pd.Timestamp("2024-01-15"), pd.Timestamp("2024-02-15")], ["2024-01-15", "2024-02-15"]),
        ([datetime.date(2024, 1, 15)], ["2024-01-15"]),
        (["10.2024", "01.2025"], ["2024-10", "2025-01"]),
        (["1.2024", "10.2024"], [1.2024, 10.2024]),
        (["2024Q1", "q2/2024"], ["2024-Q1", "2024-Q2"]),
    ],
)
def test_notations(cells, expected):
    assert times(cells)[:2] == (expected, [])


@pytest.mark.parametrize(
    ("cells", "problem", "way_out"),
    [
        (
            ["2024-01", "2024-02", "01/2024"],
            "times in several notations",
            "as 2024-01, or in one that is named by time_format",
        ),
        (
            ["16/02/2024", "2024-03-17", "2024-03-18"],
            "times in several notations",
            "as 2024-03-17 (in a spreadsheet, the date",
        ),
        (["2024-03-17", "2024-03"], "times in several notations", "one notation"),
        (
            ["2024-03-17 10:30", "2024-03-18 11:30", "2024-03"],
            "times in several notations",
            "as 2024-03-17 (in a spreadsheet",
        ),
        (["2024-01", "2024"], "dates that do not exist", "one notation"),
        (["2024-01", "unknown"], "times in several notations", "missing_texts"),
        (["2024-01", "März 2024"], "times in several notations", "months are read in English alone"),
        (["2024-01", "Q2 2024"], "times in several notations", "one notation"),
        (
            ["01/02/2024", "03/04/2024"],
            "cannot be told apart (2024-02-01 or 2024-01-02)",
            "time_format='%d/%m/%Y' or time_format='%m/%d",
        ),
        (["13/02/2024", "02/13/2024"], "times in several notations", "as 2024-02-13"),
        (["2024-13", "2024-01"], "do not exist", "correct"),
        (["31/02/2024", "01/02/2024"], "do not exist", "correct"),
        (["01/02/24", "02/02/24"], "year of two digits", "time_format"),
        (["Jan", "Feb"], "months without a year", "2024-01"),
        (["7", "week 8"], "times in several notations", "numbers"),
        (["before", "after"], "no order in time", "numbers"),
        (["wave 2", "wave 10"], "'wave 10' comes before 'wave 2'", "numbers"),
        (["2024-01-15 10:30", "2024-01-15 10:31"], "times of day, which make 2 releases", "weeks"),
    ],
)
def test_what_is_refused(cells, problem, way_out):
    _, (fault,), _ = times(cells)
    assert problem in fault.problem
    assert way_out in fault.way_out


def test_several_notations_name_the_first_of_each_with_counts():
    _, (fault,), _ = times(["2024-01", "2024-02", "01/2024"])
    assert [(example.row, example.text) for example in fault.examples] == [
        (0, "'2024-01' in 2 records"),
        (2, "'01/2024' in 1 record"),
    ]


def test_a_given_format():
    assert times(["03/04/24", "05/04/24"], "%d/%m/%y")[0] == ["2024-04-03", "2024-04-05"]
    assert times(["2024", "2023"], "%Y")[0] == [2024, 2023]
    _, (fault,), _ = times(["03/04/24", "x"], "%d/%m/%y")
    assert "'%d/%m/%y'" in fault.problem
    assert fault.examples[0].text == "'x'"


def test_missing_times_stay_missing():
    assert pd.isna(times(["2024-01", None])[0][1])
    assert times([2024.0, None])[0][0] == 2024


def test_a_history_refuses_dates_that_sort_otherwise_as_text():
    frame = pd.DataFrame({"id": [1, 2], "age": [30, 40], "result": ["a", "b"], "week": ["02/2024", "01/2025"]})
    schema = Schema.infer(frame, ["age"])
    with pytest.raises(ValueError, match=r"as text '01/2025' comes before '02/2024'; .*Cleaning\(\)"):
        History.read(frame, schema)
    cleaned, _ = Cleaning()(frame, ColumnRoles("result", ["age"]))
    assert History.read(cleaned, schema).times == ("2024-02", "2025-01")
    assert History.read(frame.assign(week=["w2", "w1"]), schema).times == ("w1", "w2")
