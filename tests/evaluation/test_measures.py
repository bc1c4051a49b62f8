"""Promises of every measure: a row per release, one meaning a column, keyword-only options, no dependence on names."""

import inspect

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.attacks import SequentialAttack
from foreknow.evaluation import COLUMNS, Workload, compare
from foreknow.evaluation.datasets import DATASETS
from foreknow.evaluation.measures import ALONE, BELIEF_MEASURES, MEASURES, RELEASE_MEASURES
from foreknow.models import Adversary, Beliefs, Grouping, History, MarkovChain, Release, UniformPrior, View

TABLES = (("ABCDEF", "abbcca"), ("ABCD", "bbac"), ("ABCDE", "cabbc"))
HISTORY = history_of(*TABLES)
GROUPS = (
    Grouping([0, 0, 1, 1, 2, 2]),
    Grouping([-1] * 4),
    Grouping([1, 0, 1, 0, -1], values=[2, 0, 1, 0, 0], counterfeits=[[0, 1]]),
)
ATTACK = SequentialAttack(Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3))))
WORKLOAD = Workload.draw(HISTORY, rng=1, queries=20, selectivity=0.5, sanity_bound=0.1)
NEEDS = {"breaches": {"sensitive_set": {"a"}, "r": 2}, "query_error": {"workload": WORKLOAD}}
"""Arguments without a default that a measure takes beside its data."""


def released(history=HISTORY, groups=GROUPS):
    return tuple(Release(view, grouping) for view, grouping in zip(history, groups, strict=True))


def measured(name, history=HISTORY, groups=GROUPS, **options):
    releases = released(history, groups)
    data = (ATTACK(releases), history) if name in BELIEF_MEASURES else (releases,)
    return MEASURES[name](*data, **NEEDS.get(name, {}), **options)


def renamed(history):
    """The history with other names of respondents."""
    frames = [view.frame.assign(id=["person " + str(name) for name in view.frame["id"]]) for view in history]
    return History(View(frame, view.schema, view.time) for frame, view in zip(frames, history, strict=True))


def test_two_families_and_their_union():
    assert MEASURES == BELIEF_MEASURES | RELEASE_MEASURES
    assert not set(BELIEF_MEASURES) & set(RELEASE_MEASURES)
    assert all(name == measure.__name__ for name, measure in (MEASURES | DATASETS).items())


@pytest.mark.parametrize("name", MEASURES)
class TestEveryMeasure:
    def test_a_row_per_release(self, name):
        table = measured(name)
        assert table["time"].tolist() == [1, 2, 3]
        assert table.columns[0] == "time"
        assert table.index.tolist() == [0, 1, 2]
        assert not table.columns.duplicated().any()

    def test_a_cell_is_a_number(self, name):
        assert all(pd.api.types.is_numeric_dtype(kind) for kind in measured(name).dtypes)

    def test_counts_are_never_missing(self, name):
        table = measured(name)
        counts = [column for column in table.columns if COLUMNS[column].startswith("number of")]
        assert not table[counts].isna().any(axis=None)

    def test_every_column_has_a_meaning(self, name):
        assert set(measured(name).columns) <= set(COLUMNS)
        if name in BELIEF_MEASURES:
            assert set(measured(name, leaving_out={"A"}).columns) == {*measured(name).columns, "compromised"}

    def test_shared_columns_agree(self, name):
        """Records of the view 6, 4, 5; suppressed 0, 4, 1; in groups of one value C and D of the first release: {b, c}, no."""
        table = measured(name)
        if "records" in table:
            assert table["records"].tolist() == [6, 4, 5]
        if "suppressed" in table:
            assert table["suppressed"].tolist() == [0, 4, 1]
        if "published" in table:
            assert table["published"].tolist() == [6, 0, 4]

    def test_what_is_left_out_is_said(self, name):
        """Measured and suppressed records are all records, as no group has one value."""
        table = measured(name)
        if "measured" in table:
            assert (table["measured"] + table["suppressed"]).tolist() == [6, 4, 5]

    def test_left_out_respondents_are_counted(self, name):
        if name not in BELIEF_MEASURES:
            return
        table = measured(name, leaving_out={"A", "E"})
        assert table["compromised"].tolist() == [2, 0, 1]  # E is suppressed in the last release

    def test_names_change_nothing(self, name):
        pd.testing.assert_frame_equal(measured(name), measured(name, renamed(HISTORY)))

    def test_nothing_published(self, name):
        table = measured(name, groups=[Grouping([-1] * len(view)) for view in HISTORY])
        assert table["time"].tolist() == [1, 2, 3]
        assert set(table.columns) == set(measured(name).columns)

    def test_no_release(self, name):
        data = (Beliefs(()), HISTORY) if name in BELIEF_MEASURES else ([],)
        table = MEASURES[name](*data, **NEEDS.get(name, {}))
        assert len(table) == 0
        assert list(table.columns) == list(measured(name).columns)

    def test_any_iterable_of_releases(self, name):
        if name in RELEASE_MEASURES:
            again = MEASURES[name](iter(released()), **NEEDS.get(name, {}))
            pd.testing.assert_frame_equal(measured(name), again)

    def test_options_are_keyword_only(self, name):
        parameters = inspect.signature(MEASURES[name]).parameters.values()
        options = [each for each in parameters if each.default is not each.empty]
        assert all(each.kind is each.KEYWORD_ONLY for each in options)
        data = ["beliefs", "history"] if name in BELIEF_MEASURES else ["releases"]
        needed = [each.name for each in parameters if each.default is each.empty]
        assert needed == [*data, *NEEDS.get(name, {})]
        assert (name in ALONE) == (name not in NEEDS)
        assert (name not in BELIEF_MEASURES) or "leaving_out" in {each.name for each in options}


ATTACKS = {"sequential": ATTACK}


def pairs(view, *_):
    """A defense that groups records in pairs."""
    return Grouping(np.arange(len(view)) // 2)


class TestCompareTakesWhatMeasuresTake:
    def test_leaving_out(self):
        found = compare(HISTORY, {"pairs": pairs}, ATTACKS, leaving_out={"A"}, rng=1)
        alone = BELIEF_MEASURES["risk_table"](found.beliefs["pairs", "sequential"], HISTORY, leaving_out={"A"})
        pd.testing.assert_frame_equal(found.risk().drop(columns=["defense", "attack"]), alone)
        assert found.risk()["compromised"].tolist() == [1, 1, 1]
        everybody = compare(HISTORY, {"pairs": pairs}, ATTACKS, rng=1)
        assert found.summary()["confidence"][0] != everybody.summary()["confidence"][0]
        pd.testing.assert_frame_equal(found.cost(), everybody.cost())

    def test_options_of_measures(self):
        found = compare(HISTORY, {"pairs": pairs}, ATTACKS, rng=1)
        assert found.risk(sure=0.1)["sure"].tolist() == [6, 4, 5]
        assert (found.summary(sure=0.1)["sure"] == 15).all()
        wide, narrow = found.cost(width="domain"), found.cost(width="table")
        assert (wide["gcp"] < narrow["gcp"]).all()

    def test_a_seed_is_a_generator(self):
        one, other = (compare(HISTORY, {"pairs": pairs}, ATTACKS, rng=rng) for rng in (1, np.random.default_rng(1)))
        pd.testing.assert_frame_equal(one.summary(), other.summary())

    def test_no_attack_is_an_empty_table(self):
        found = compare(HISTORY, {"pairs": pairs}, {})
        assert found.risk().empty
        assert found.summary().empty
        assert len(found.cost()) == 3

    def test_no_defense(self):
        with pytest.raises(ValueError, match="compare: defenses is empty; name at least one"):
            compare(HISTORY, {}, ATTACKS)
