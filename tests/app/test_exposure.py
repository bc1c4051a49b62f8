"""One rule of exposure: by hand, against a loop over the records, and as SQL."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.app import exposed
from foreknow.app.exposure import exposure_of_records, is_exposing

BELIEFS = st.sampled_from([0.0, 0.5, 0.89, 0.9, 0.95, 1.0])


@st.composite
def records(draw):
    """Records of up to four respondents at up to three releases, in the order of the releases."""
    places = [(time, person) for time in range(3) for person in "abcd" if draw(st.booleans())]
    belief, prior = (np.array([draw(BELIEFS) for _ in places], dtype=float) for _ in range(2))
    time, respondent = (np.array([place[k] for place in places], dtype=object) for k in range(2))
    return {"respondent": respondent, "time": time, "belief": belief, "prior": prior}


@given(records())
def test_equal_to_a_loop_over_the_records(found):
    people, exposing, sure_before = {}, {}, set()
    for person, time, belief, prior in zip(*found.values(), strict=True):
        people.setdefault(person, []).append((belief, time))
        if belief >= 0.9 and prior < 0.9:
            exposing.setdefault(person, []).append((belief, time))
        if prior >= 0.9:
            sure_before.add(person)
    made = exposure_of_records(found, 0.9)
    assert (made.respondents, made.exposed, made.known) == (
        len(people),
        len(exposing),
        len(sure_before - set(exposing)),
    )
    assert made.first == min((time for each in exposing.values() for _, time in each), default=None)
    for row in made.people.itertuples():
        belief, time = max(exposing.get(row.respondent, people[row.respondent]), key=lambda one: (one[0], -one[1]))
        assert (row.belief, row.time, row.exposed) == (belief, time, row.respondent in exposing)
    assert made.people["belief"].is_monotonic_decreasing
    assert set(made.at_risk["respondent"]) == set(exposing)


@given(records(), BELIEFS)
def test_the_same_rule_in_sql(found, sure):
    with duckdb.connect() as connection:
        connection.register("records", pd.DataFrame(found).astype({"belief": float, "prior": float}))
        rule = is_exposing(duckdb.ColumnExpression("belief"), duckdb.ColumnExpression("prior"), sure)
        told = connection.sql(f"SELECT {rule} FROM records").fetchall()
    assert [row for (row,) in told] == is_exposing(found["belief"], found["prior"], sure).tolist()


def test_sure_is_a_probability():
    with pytest.raises(ValueError, match="exposed: sure"):
        exposed(None, None, 1.5)
