"""Releases that show items: the published table, and the worst-case adversary's observation."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import FIGURE_1D, LINKING, linkable, patients, possible, view_of_items

from foreknow.models import ExternalKnowledge, Grouping, ItemRelease, Items, Linking, Release


def item_release(view, grouping, linking, removed=None):
    """A release of a view's items, without those removed."""
    items = linking.items_of(view)
    return ItemRelease(Release(view, grouping), linking, items if removed is None else items.without(np.array(removed)))


@st.composite
def item_releases(draw):
    """Small groups, some records suppressed, some items removed: (release, item sets, removed)."""
    sets, items_of = draw(linkable(labels=5))
    view, linking = view_of_items(sets), Linking(ExternalKnowledge(items_of), "items")
    labels = draw(st.lists(st.integers(-1, 2), min_size=len(sets), max_size=len(sets)))
    number = sum(map(len, sets))
    removed = np.array(draw(st.lists(st.booleans(), min_size=number, max_size=number)), dtype=bool)
    bucketized = draw(st.booleans())
    release = item_release(view, Grouping(np.array(labels), bucketized=bucketized), linking, removed)
    return release, sets, removed


def test_figure_1d():
    """Figure 1(d), except the ages: an interval is published as tight as possible."""
    table = item_release(patients(), FIGURE_1D, LINKING).table
    assert table.columns.tolist() == ["group", "Age", "Gender", "State", "Symptoms"]
    assert table.to_numpy().tolist() == [
        [0, "[22,25]", "M", "GA", "Coughing, Headache"],
        [0, "[22,25]", "M", "GA", "Coughing, Headache, Sore throat"],
        [1, "[30,35]", "F", "TX", "Headache, Sore throat"],
        [1, "[30,35]", "F", "TX", "Headache, Vomiting"],
    ]


def test_removed_items_are_not_shown():
    release = item_release(patients(), FIGURE_1D, LINKING, [False, False, True, False, True, True, False, True, False])
    assert release.table["Symptoms"].tolist() == ["Coughing", "Coughing, Headache", "Sore throat", "Vomiting"]
    assert list(release.links) == [("Flu",), ("Flu",), ("Hepatitis B",), ("Flu",)]
    assert release.original[0] == ("Coughing", "Headache", "Sore throat")


def test_a_record_without_items_is_shown_with_an_empty_text():
    table = item_release(patients(), FIGURE_1D, LINKING, [True] * 9).table
    assert table["Symptoms"].tolist() == [""] * 4


def test_suppressed_records_are_not_shown():
    table = item_release(patients(), [-1, 5, -1, 3], LINKING).table
    assert table[["group", "Symptoms"]].to_numpy().tolist() == [[0, "Headache, Sore throat"], [1, "Coughing, Headache"]]


def test_the_table_is_empty_if_all_records_are_suppressed():
    release = item_release(patients(), [-1] * 4, LINKING)
    assert release.table.columns.tolist() == ["group", "Age", "Gender", "State", "Symptoms"]
    assert len(release.table) == len(release.observation.items) == release.observation.groups == 0


def test_exact_quasi_identifiers_are_not_beside_their_items():
    """Both are sorted within the group: Ann, the youngest, is not in the first row with her symptoms."""
    release = item_release(patients(), Grouping(np.array(FIGURE_1D), bucketized=True), LINKING)
    assert release.table[["group", "Age", "Symptoms"]].to_numpy().tolist() == [
        [0, 22, "Coughing, Headache"],
        [0, 25, "Coughing, Headache, Sore throat"],
        [1, 30, "Headache, Sore throat"],
        [1, 35, "Headache, Vomiting"],
    ]


def test_the_time_is_the_views():
    release = item_release(patients(time="March"), FIGURE_1D, LINKING)
    assert (release.time, release.observation.time) == ("March", "March")


@given(item_releases())
def test_each_group_shows_the_items_of_its_records(case):
    release, sets, removed = case
    left = iter(~removed)
    record_items = [[item for item, kept in zip(own, left, strict=False) if kept] for own in release.original]
    group, seen = release.release.group, release.observation
    wanted = Counter((g, frozenset(own)) for g, own in zip(group.tolist(), record_items, strict=True) if g >= 0)
    assert Counter(zip(seen.shown_in.tolist(), map(frozenset, seen.items), strict=True)) == wanted
    table = release.table
    texts = [frozenset(text.split(", ")) - {""} for text in table["items"]]
    assert Counter(zip(table["group"].tolist(), texts, strict=True)) == wanted
    assert [set(own) for own in release.original] == [set(own) for own in sets]
    items_of = release.linking.knowledge.items_of
    assert [set(labels) for labels in release.links] == [possible(own, items_of) for own in record_items]


@given(item_releases(), st.randoms(use_true_random=False))
def test_the_assignment_of_items_within_a_group_is_hidden(case, random):
    """A permutation of the item sets within each group changes neither the observation, its vocabulary included, nor the table."""
    release, _, _ = case
    group, order = release.release.group, np.arange(len(release.published))
    for g in range(-1, release.release.groups):
        members = np.flatnonzero(group == g).tolist()
        order[members] = random.sample(members, len(members))
    permuted = Items.from_cells(release.published[record] for record in order.tolist())
    other = ItemRelease(release.release, release.linking, permuted)
    one, two = release.observation, other.observation
    assert [set(items) for items in one.items] == [set(items) for items in two.items]
    assert set(one.items.vocabulary) == set(two.items.vocabulary) == {item for items in one.items for item in items}
    assert one.shown_in.tolist() == two.shown_in.tolist()
    assert release.table.equals(other.table)


def test_one_set_for_each_record():
    with pytest.raises(ValueError, match=r"published has 1 sets of items, and the view at 1 has 4 records"):
        ItemRelease(Release(patients(), FIGURE_1D), LINKING, Items.from_cells(["Coughing"]))
