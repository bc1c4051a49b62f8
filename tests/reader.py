"""Contents of a release, read from the public table alone, one row at a time; and a strategy for releases."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from foreknow.models import Categorical, Grouping, Hierarchy, Numeric, Release, Schema, View

JOBS = Hierarchy(
    [
        ("nurse", "medical", "*"),
        ("doctor", "medical", "*"),
        ("teacher", "school", "*"),
        ("tutor", "school", "*"),
        ("pilot", "pilot", "*"),
    ]
)
UNDER = {
    "medical": {"nurse", "doctor"},
    "school": {"teacher", "tutor"},
    "*": {"nurse", "doctor", "teacher", "tutor", "pilot"},
}
AGES = set(range(20, 26))
SCHEMA = Schema(
    {"age": Numeric(20, 25), "job": Categorical(JOBS.leaves, JOBS), "sex": Categorical(("f", "m"))},
    "result",
    ("a", "b", "c"),
)


def ages_of(release):
    """The domain of the ages: those that occur in the view."""
    return set(release.view.frame["age"])


def cells(row, ages):
    """Values of age, job and sex that a published row may have, among all ages that occur."""
    ends = [int(float(end)) for end in str(row["age"]).strip("[]").split(",")]
    job, sex = row["job"], row["sex"]
    return [
        {age for age in ages if ends[0] <= age <= ends[-1]},
        UNDER.get(job, {job}),
        {"f", "m"} if sex == "*" else {sex},
    ]


def readings(release):
    """Number of records of each sensitive value per published row: pairs of sets of values and a dict of numbers."""
    if not release.bucketized:
        return [(cells(row, ages_of(release)), {row["result"]: 1.0}) for row in release.table.to_dict("records")]
    identifiers, sensitive = release.tables
    found = []
    for row in identifiers.to_dict("records"):
        shown = sensitive[sensitive["group"] == row["group"]]
        shares = shown["count"] / shown["count"].sum()
        found.append((cells(row, ages_of(release)), dict(zip(shown["result"], shares, strict=True))))
    return found


def view_of_rows(rows, time=1):
    """A view with ages 20 to 25, jobs and sexes, of rows (age, job, sex, result)."""
    frame = pd.DataFrame(rows, columns=["age", "job", "sex", "result"])
    return View(frame.assign(id=range(len(rows))), SCHEMA, time)


@st.composite
def releases(draw, most=10):
    """A release of a few records, generalized or bucketized, with suppressed ones and perhaps a counterfeit."""
    row = st.tuples(
        st.sampled_from(sorted(AGES)), st.sampled_from(JOBS.leaves), st.sampled_from("fm"), st.sampled_from("abc")
    )
    view = view_of_rows(draw(st.lists(row, min_size=1, max_size=most)))
    labels = draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view)))
    counterfeits = [[max(labels), draw(st.integers(0, 2))]] if max(labels) >= 0 and draw(st.booleans()) else None
    return Release(view, Grouping(np.array(labels), counterfeits=counterfeits, bucketized=draw(st.booleans())))
