"""Histories, releases and beliefs are equal to what is loaded from their files."""

import datetime
import os
import stat
from dataclasses import replace

import arviz
import numpy as np
import pandas as pd
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st
from public_objects import BELIEFS, FOREGROUND, HISTORY, RELEASES
from strategies import MIXED

from foreknow.models import Beliefs, Categorical, Grouping, History, Numeric, Posterior, Release, Schema, View

DOMAINS = {
    "texts": st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    "integers": st.integers(-(2**70), 2**70),
    "floats": st.floats(allow_nan=False, allow_infinity=False),
    "dates": st.dates(datetime.date(1700, 1, 1), datetime.date(2200, 1, 1)),
    "tuples": st.tuples(st.integers(0, 9), st.text("ab", max_size=2)),
}
"""Values of one kind each: of the sensitive attribute, of respondents, and of times."""

TIMES = {
    "integers": st.integers(-50, 50),
    "floats": st.floats(-5, 5),
    "texts": st.text("abc", min_size=1, max_size=4),
    "timestamps": st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)).map(pd.Timestamp),
    "dates": DOMAINS["dates"],
}


def unlike(values):
    """Texts of values differ, as those of a domain must."""
    return len(set(map(str, values))) == len(values)


@st.composite
def histories(draw):
    """Histories of respondents, values and times of any type, with a column that no schema names."""
    domain = draw(
        st.sampled_from([*DOMAINS.values()])
        .flatmap(lambda s: st.lists(s, min_size=1, max_size=3, unique=True))
        .filter(unlike)
    )
    people = draw(
        st.sampled_from([*DOMAINS.values()])
        .flatmap(lambda s: st.lists(s, min_size=1, max_size=4, unique=True))
        .filter(unlike)
    )
    towns = MIXED.quasi_identifiers["town"]
    schema = Schema({"age": Numeric(), "town": towns}, "result", tuple(domain))
    times = draw(
        st.sampled_from([*TIMES.values()])
        .flatmap(lambda s: st.lists(s, min_size=1, max_size=3, unique=True))
        .map(sorted)
    )
    views = []
    for time in times:
        here = draw(st.permutations(people))[: draw(st.integers(1, len(people)))]
        cells = {
            name: [draw(st.sampled_from(each)) for _ in here]
            for name, each in (("town", towns.values), ("result", domain))
        }
        more = draw(
            st.lists(st.none() | st.integers(0, 3) | st.text("xy", max_size=2), min_size=len(here), max_size=len(here))
        )
        ages = draw(st.lists(st.integers(0, 2**53) | st.floats(0, 99), min_size=len(here), max_size=len(here)))
        columns = {name: pd.Series(each, dtype=object) for name, each in {"id": here, **cells, "more": more}.items()}
        views.append(View(pd.DataFrame({**columns, "age": ages}), schema, time))
    return History(views)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("saved")


@settings(max_examples=40)
@given(history=histories())
def test_a_loaded_history_is_equal(history, place):
    history.save(place / "history.parquet", overwrite=True)
    assert History.load(place / "history.parquet") == history


@settings(max_examples=30)
@given(data=st.data())
def test_a_loaded_release_is_equal(data, place):
    view = data.draw(histories())[0]
    m, n = len(view.schema.values), len(view)
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    values = data.draw(st.none() | st.lists(st.integers(0, m - 1), min_size=n, max_size=n))
    groups = sorted({label for label in labels if label >= 0})
    invented = (
        st.lists(st.tuples(st.sampled_from(groups), st.integers(0, m - 1)), max_size=2) if groups else st.just([])
    )
    counterfeits = data.draw(st.none() | invented)
    grouping = Grouping(
        labels, values, counterfeits, tuple(data.draw(st.lists(st.text("ab"), max_size=2))), data.draw(st.booleans())
    )
    release = Release(view, grouping)
    release.save(place / "release.parquet", overwrite=True)
    assert Release.load(place / "release.parquet") == release


@pytest.mark.parametrize(
    "beliefs", [*BELIEFS, Beliefs(()), Beliefs((), notes=("one",))], ids=["one", "draws", "none", "note"]
)
def test_loaded_beliefs_are_equal(beliefs, tmp_path):
    assert Beliefs.from_datatree(beliefs.to_datatree()) == beliefs
    beliefs.save(tmp_path / "beliefs.nc")
    assert Beliefs.load(tmp_path / "beliefs.nc") == beliefs


@settings(max_examples=10)
@given(data=st.data())
def test_statuses_diagnostics_and_notes_are_restored(data):
    releases = []
    for first in BELIEFS[0]:
        shape, groups = first.revised.shape, len(first.observation.counts)
        rows = [
            np.array(
                data.draw(
                    st.lists(
                        st.floats(0, 1) | st.just(np.nan), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]
                    )
                )
            ).reshape(shape)
            for _ in range(4)
        ]
        kept = [row if data.draw(st.booleans()) else None for row in rows[1:]]
        rule = np.array(["Exact"] * groups, dtype=object) if data.draw(st.booleans()) else None
        divergences = np.arange(groups) if data.draw(st.booleans()) else None
        error = np.full(groups, np.nan) if data.draw(st.booleans()) else None
        status = np.array(data.draw(st.lists(st.integers(0, 3), min_size=groups, max_size=groups)))
        releases.append(replace(first, posterior=Posterior(rows[0], status, *kept, rule, error, divergences)))
    beliefs = Beliefs(tuple(releases), notes=tuple(data.draw(st.lists(st.text(max_size=3), max_size=2))))
    assert Beliefs.from_datatree(beliefs.to_datatree()) == beliefs


def test_every_field_is_in_the_file(tmp_path):
    releases = []
    for first in BELIEFS[0]:
        (n, m), g = first.revised.shape, len(first.observation.counts)
        numbers = [np.full((n, m), each) for each in (0.5, np.nan, 1.5)]
        rule = np.array(["Exact"] * g, dtype=object)
        posterior = Posterior(first.revised + 0.25, np.arange(g), *numbers, rule, np.full(g, 0.1), np.arange(g))
        releases.append(replace(first, posterior=posterior))
    beliefs = Beliefs(tuple(releases), notes=("a note",))
    beliefs.save(tmp_path / "beliefs.nc")
    assert Beliefs.load(tmp_path / "beliefs.nc") == beliefs


def test_arviz_and_xarray_open_the_file(tmp_path):
    BELIEFS[0].save(tmp_path / "beliefs.nc")
    with xarray.open_datatree(tmp_path / "beliefs.nc", engine="h5netcdf") as tree:
        assert np.allclose(tree["posterior"]["belief"].sel(release=2, respondent="A"), BELIEFS[0].posterior(2).loc["A"])
    assert set(arviz.from_netcdf(tmp_path / "beliefs.nc").children) >= {"prior", "revised", "posterior"}


def test_beliefs_of_a_subclass_come_back_as_beliefs(tmp_path):
    FOREGROUND.save(tmp_path / "beliefs.nc")
    assert Beliefs.load(tmp_path / "beliefs.nc") == Beliefs(FOREGROUND.releases, notes=FOREGROUND.notes)


def test_other_programs_read_the_table_of_a_history(tmp_path):
    HISTORY.save(tmp_path / "history.parquet")
    table = pd.read_parquet(tmp_path / "history.parquet")
    assert table.columns.tolist() == ["foreknow:time", "id", "age", "result"]
    assert table["foreknow:time"].tolist() == [1, 1, 1, 2, 2]
    assert table["result"].tolist() == list("abcba")


SAVED = [(HISTORY, "history.parquet"), (RELEASES[0], "release.parquet"), (BELIEFS[0], "beliefs.nc")]


@pytest.mark.parametrize(("each", "name"), SAVED, ids=["history", "release", "beliefs"])
class TestFiles:
    def test_nothing_is_replaced_unasked(self, each, name, tmp_path):
        (tmp_path / name).write_text("before")
        with pytest.raises(ValueError, match=r"is already there; .* overwrite=True"):
            each.save(tmp_path / name)
        assert (tmp_path / name).read_text() == "before"
        each.save(tmp_path / name, overwrite=True)
        assert type(each).load(tmp_path / name) == each

    def test_a_failed_write_leaves_nothing(self, each, name, tmp_path, monkeypatch):
        monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            each.save(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_only_the_owner_reads_it(self, each, name, tmp_path):
        each.save(tmp_path / name)
        assert os.name == "nt" or stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600

    def test_wrong_names(self, each, name, tmp_path):
        with pytest.raises(ValueError, match="name a file that ends in"):
            each.save(tmp_path / "file.txt")
        with pytest.raises(ValueError, match="there is no folder"):
            each.save(tmp_path / "missing" / name)
        with pytest.raises(FileNotFoundError, match="there is no file"):
            type(each).load(tmp_path / name)
        (tmp_path / name).write_text("something else")
        with pytest.raises(ValueError, match="is not a file that"):
            type(each).load(tmp_path / name)


def test_a_file_of_another_class_is_named(tmp_path):
    HISTORY.save(tmp_path / "history.parquet")
    with pytest.raises(ValueError, match=r"holds a History; read it with History.load"):
        Release.load(tmp_path / "history.parquet")


def test_a_column_that_cannot_be_saved_is_named(tmp_path):
    frame = HISTORY[0].frame.assign(function=[len] * 3)
    with pytest.raises(ValueError, match="builtin_function_or_method, which cannot be saved"):
        History([View(frame, HISTORY.schema, 1)]).save(tmp_path / "history.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_tree_of_another_origin_is_refused():
    with pytest.raises(ValueError, match="no 'foreknow'"):
        Beliefs.from_datatree(xarray.DataTree())
    with pytest.raises(TypeError, match="is a DataTree"):
        Beliefs.from_datatree({})


def test_categories_of_further_columns(tmp_path):
    frame = HISTORY[0].frame.assign(more=pd.Categorical(list("xyx"), ["y", "x", "z"], ordered=True))
    history = History([View(frame, Schema({"age": Categorical((20, 21, 22))}, "result", tuple("abc")), 1)])
    history.save(tmp_path / "history.parquet")
    assert History.load(tmp_path / "history.parquet") == history
