"""Releases after item suppression, verified by the independent checker for any time limit; both phases together."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreknow.defenses import (
    Infeasible,
    ItemSuppression,
    KAnonymity,
    Mondrian,
    QSCloseness,
    QSDiversity,
    publish_items,
)
from foreknow.defenses.suppression.item_suppression import removal_cost
from foreknow.evaluation import random_items, random_knowledge, verify_items
from foreknow.models import ExternalKnowledge, Linking, Numeric, Release, Schema, View

FLU = {"Flu": "Coughing, Headache, Sore Throat", "Hepatitis B": "Loss of appetite, Vomiting, Dark urine"}
VOCABULARY = [f"i{x}" for x in range(12)]


def view_of(cells, ages=None, time=1):
    """A view with these items and the quasi-identifier age."""
    ages = range(20, 20 + len(cells)) if ages is None else ages
    frame = pd.DataFrame({"id": range(len(cells)), "age": list(ages), "ward": "A", "items": list(cells)})
    return View(frame, Schema({"age": Numeric(0, 99)}, "ward", ("A",)), time)


def random_linking(rng, labels=40, size=6):
    goes = {f"L{j}": rng.choice(VOCABULARY, size, replace=False).tolist() for j in range(labels)}
    return Linking(ExternalKnowledge(goes), "items")


def random_release(seed, groups=6, items=5):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), rng.integers(2, 5, groups))
    cells = [rng.choice(VOCABULARY, rng.integers(0, items + 1), replace=False).tolist() for _ in group]
    return Release(view_of(cells), group), random_linking(rng)


REQUIREMENTS = {
    "diversity": lambda linking: QSDiversity(1, 15, linking),
    "half": lambda linking: QSDiversity(0.5, 8, linking),
    "closeness": lambda linking: QSCloseness(0.2, linking),
    "both": lambda linking: QSDiversity(1, 15, linking) & QSCloseness(0.3, linking, "uniform"),
}


@pytest.mark.parametrize("kind", REQUIREMENTS)
@pytest.mark.parametrize("settings_", [{"seconds": 0}, {"nodes": 0}, {"nodes": 50}, {"nodes": 300, "search": "plain"}])
@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_the_release_satisfies(kind, settings_, seed):
    release, linking = random_release(seed)
    requirement = REQUIREMENTS[kind](linking)
    found = ItemSuppression(requirement, **settings_)(release)
    assert verify_items(found.release, requirement)["holds"].all()
    check_report(release, linking, found)


def check_report(release, linking, found):
    """Check that groups that satisfied are unchanged, that no item is added, and the counts of the report."""
    original, published = linking.items_of(release.view), found.release.published
    for record in range(len(original)):
        assert set(published[record]) <= set(original[record])
    for row in found.groups.itertuples():
        members = np.flatnonzero(release.group == row.group)
        before, after = original.sizes[members], published.sizes[members]
        assert (row.members, row.items, row.removed) == (len(members), before.sum(), (before - after).sum())
        assert row.cost == removal_cost(before, after)
        assert (row.removed == 0) == row.satisfied
        assert row.first_cost >= row.cost - 1e-12 or math.isnan(row.first_cost)
        assert 0 < row.first_seconds <= row.seconds or math.isnan(row.first_cost)
        if row.satisfied:
            assert row.proven
            assert (row.nodes, row.seconds) == (0, 0)


@pytest.mark.parametrize("kind", REQUIREMENTS)
def test_more_nodes_improve_the_result(kind):
    release, linking = random_release(3, groups=8)
    requirement = REQUIREMENTS[kind](linking)
    found = [ItemSuppression(requirement, seconds=math.inf, nodes=nodes)(release) for nodes in (0, 20, 100, 10**6)]
    for one in found:
        check_report(release, linking, one)
    for worse, better in itertools.pairwise(found):
        assert (better.groups["cost"] <= worse.groups["cost"] + 1e-12).all()
    assert found[-1].groups["proven"].all()
    again = ItemSuppression(requirement, seconds=math.inf, nodes=100)(release)
    assert again.groups.drop(columns=["seconds", "first_seconds"]).equals(
        found[2].groups.drop(columns=["seconds", "first_seconds"])
    )


def test_without_time_failing_groups_lose_all_items():
    release, linking = random_release(1)
    found = ItemSuppression(QSDiversity(1, 15, linking), seconds=0)(release)
    failing = ~found.groups["satisfied"]
    assert failing.any()
    assert (found.groups.loc[failing, "cost"] == 1).all()
    assert not found.groups.loc[failing, "proven"].any()
    assert found.groups.loc[failing, ["first_cost", "first_seconds"]].isna().all(axis=None)


def test_the_time_limit_is_kept():
    """A search that could take hours; every group gets a part of the time."""
    rng = np.random.default_rng(0)
    cells = [rng.choice(VOCABULARY, 9, replace=False).tolist() for _ in range(40)]
    release = Release(view_of(cells), np.repeat(np.arange(4), 10))
    requirement = QSDiversity(1, 30, random_linking(rng, 60))
    ItemSuppression(requirement, seconds=0.01)(release)
    found = ItemSuppression(requirement, seconds=0.4)(release)
    assert found.groups["seconds"].sum() < 1
    assert found.groups["seconds"].min() > 0.02
    assert found.groups["first_seconds"].notna().all()
    assert not found.groups["proven"].all()
    assert verify_items(found.release, requirement)["holds"].all()


class TestFigure1:
    """The paper's four patients: the release that satisfies k-anonymity and l-diversity."""

    SYMPTOMS = ("Coughing, Headache, Sore Throat", "Coughing, Headache", "Headache, Vomiting", "Headache, Sore Throat")
    linking = Linking(ExternalKnowledge(FLU), "items")

    def release(self, group=(0, 0, 1, 1)):
        return Release(view_of(self.SYMPTOMS, [22, 25, 30, 35]), group)

    def test_the_flu_is_no_longer_certain(self):
        """One record without items links to both diseases: beliefs 3/4 and 1/4. The shorter record is cheaper: 3/2 of 10/3."""
        found = ItemSuppression(QSDiversity(3, 2, self.linking))(self.release())
        assert found.groups["satisfied"].tolist() == [False, True]
        assert found.groups["proven"].all()
        assert found.groups["cost"].tolist() == pytest.approx([9 / 20, 0])
        assert [found.release.published.sizes.tolist()] == [[3, 0, 2, 2]]

    def test_suppressed_records_show_nothing(self):
        found = ItemSuppression(QSDiversity(3, 2, self.linking))(self.release((0, 0, -1, -1)))
        assert found.release.published.sizes.tolist() == [3, 0, 0, 0]
        assert len(found.groups) == 1
        assert len(found.release.table) == 2

    def test_all_records_suppressed(self):
        found = ItemSuppression(QSDiversity(3, 2, self.linking))(self.release((-1, -1, -1, -1)))
        assert found.groups.empty
        assert found.release.published.sizes.sum() == 0
        assert "0 groups, 0 changed" in repr(found)

    def test_none_counts_as_a_label(self):
        """Vomiting and headache link to no label: certainty of none. Without the headache: certainty of hepatitis B."""
        release = self.release((0, 0, 1, 2))
        found = ItemSuppression(QSDiversity(1, 2, self.linking))(release)
        assert found.release.published[2] == ()
        assert verify_items(found.release, QSDiversity(1, 2, self.linking))["holds"].all()

    def test_no_removal_satisfies(self):
        message = (
            "ItemSuppression: group 0 of the view at 1 does not satisfy QSDiversity(c=1, l=3, linking=Linking(items='items')) "
            "(is inf, must be at most 1), and no choice of its 5 items to remove helps. Relax the requirement, or make "
            "larger groups."
        )
        with pytest.raises(Infeasible, match=re.escape(message)):
            ItemSuppression(QSDiversity(1, 3, self.linking))(self.release())

    def test_no_solution_in_time(self):
        requirement = QSCloseness(0.01, self.linking)
        with pytest.raises(Infeasible, match=r"nor any of the 0 removals examined\. Allow more seconds or nodes"):
            ItemSuppression(requirement, seconds=0)(self.release())

    def test_records_without_items(self):
        """Records without items link to every label, and lose no item."""
        view = view_of(["", "Coughing", None], [20, 21, 22])
        found = ItemSuppression(QSDiversity(1.5, 2, self.linking))(Release(view, [0, 0, 1]))
        assert found.groups["satisfied"].tolist() == [False, True]
        assert found.release.published.sizes.tolist() == [0, 0, 0]
        with pytest.raises(Infeasible, match="no choice of its 0 items"):
            ItemSuppression(QSDiversity(0.5, 2, self.linking))(Release(view, [0, 1, 0]))

    def test_progress_is_shown(self):
        seen = []

        def progress(groups):
            for group in groups:
                seen.append(group)
                yield group

        ItemSuppression(QSDiversity(3, 2, self.linking))(self.release(), progress)
        assert set(seen) == {0}


class TestPublishItems:
    def view(self, seed, time=1):
        rng = np.random.default_rng(seed)
        cells = [rng.choice(VOCABULARY, 4, replace=False).tolist() for _ in range(24)]
        return view_of(cells, rng.integers(0, 60, 24), time)

    def test_the_two_phases(self):
        linking = random_linking(np.random.default_rng(5))
        requirement = QSDiversity(1, 15, linking)
        costs = []
        for k in (1, 3, 8, 24):
            found = publish_items(self.view(0), Mondrian(KAnonymity(k)), ItemSuppression(requirement, nodes=2000))
            assert verify_items(found.release, KAnonymity(k) & requirement)["holds"].all()
            costs.append(found.groups["cost"].mean())
        assert costs == sorted(costs, reverse=True)
        assert costs[-1] < costs[0]

    def test_several_views(self):
        linking = random_linking(np.random.default_rng(6))
        suppression = ItemSuppression(QSDiversity(1, 15, linking), nodes=200)
        views = [self.view(1, 1), self.view(2, 2)]
        found = publish_items(views, Mondrian(KAnonymity(4)), suppression)
        assert [one.release.release.time for one in found] == [1, 2]
        alone, again = (
            publish_items(views[1], Mondrian(KAnonymity(4)), suppression, rng=np.random.default_rng(1)).release.table
            for _ in range(2)
        )
        assert alone.equals(again)
        # The numbers of the groups are random; their content is not, because all ages differ.
        shown = [
            sorted(tuple(rows["items"].tolist()) for _, rows in table.groupby("group"))
            for table in (alone, found[1].release.table)
        ]
        assert shown[0] == shown[1]


class TestOrderOfCurves:
    """Figures 5 and 6 on random items: the order of the curves, after 1,000 removals in each group instead of seconds."""

    rng = np.random.default_rng(2010)
    frame = pd.DataFrame({"id": range(80), "age": rng.integers(0, 99, 80), "ward": "A"})
    view = random_items(View(frame, Schema({"age": Numeric(0, 99)}, "ward", ("A",))), 9, 60, rng=rng)
    linking = Linking(random_knowledge(500, 30, 60, rng=rng), "items")

    def cost(self, requirement, k, search="adaptive"):
        found = publish_items(
            self.view, Mondrian(KAnonymity(k)), ItemSuppression(requirement, math.inf, 1000, search=search)
        )
        return found.groups["cost"].mean()

    @pytest.mark.parametrize(("c", "l"), [(1, 10), (1, 20), (1, 30), (0.5, 20), (2, 20)])
    def test_adaptive_costs_less_than_plain(self, c, l):  # noqa: E741
        adaptive, plain = (self.cost(QSDiversity(c, l, self.linking), 2, search) for search in ("adaptive", "plain"))
        assert 0 < adaptive < plain

    def test_stricter_diversity_costs_more(self):
        over_l = [self.cost(QSDiversity(1, l, self.linking), 2) for l in (10, 20, 30)]  # noqa: E741
        over_c = [self.cost(QSDiversity(c, 20, self.linking), 2) for c in (2, 1, 0.5)]
        assert over_l == sorted(over_l)
        assert over_c == sorted(over_c)

    def test_closeness_costs_less_with_larger_groups_and_distances(self):
        costs = np.array([[self.cost(QSCloseness(t, self.linking), k) for t in (0.2, 0.3, 0.4)] for k in (1, 2, 4)])
        assert (np.diff(costs, axis=0) <= 0).all()
        assert (np.diff(costs, axis=1) <= 0).all()
        assert costs[0, 0] > costs[-1, -1]


class TestBadInput:
    linking = Linking(ExternalKnowledge(FLU), "items")

    @pytest.mark.parametrize(
        ("settings", "error", "match"),
        [
            ({"requirement": KAnonymity(2)}, TypeError, "KAnonymity(k=2) is not about items; give a QSDiversity"),
            ({"requirement": None}, TypeError, "None is not about items"),
            ({"seconds": -1}, ValueError, "seconds is -1; it is a number of at least 0, a time limit"),
            ({"seconds": math.nan}, ValueError, "seconds is nan"),
            ({"nodes": 1.5}, ValueError, "nodes is 1.5; it is a number of nodes, or None, 0 or more"),
            ({"nodes": -1}, ValueError, "nodes is -1"),
            ({"nodes": math.inf}, ValueError, "nodes is inf"),
            ({"search": "best"}, ValueError, "search is 'best'; it is one of 'adaptive', 'printed', 'plain'"),
        ],
    )
    def test_settings(self, settings, error, match):
        with pytest.raises(error, match=re.escape(match)):
            ItemSuppression(**{"requirement": QSDiversity(1, 2, self.linking)} | settings)

    def test_a_part_that_is_not_about_items(self):
        with pytest.raises(TypeError, match=r"is not about items; .* leave the others to the defense that groups"):
            ItemSuppression(QSDiversity(1, 2, self.linking) & KAnonymity(2))

    def test_two_ways_of_linking(self):
        other = Linking(ExternalKnowledge({"Flu": "Coughing"}), "items")
        with pytest.raises(ValueError, match="link items to labels in different ways; give all of them one Linking"):
            ItemSuppression(QSDiversity(1, 2, self.linking) & QSCloseness(0.4, other))
