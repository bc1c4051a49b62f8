"""Labels that records link to, against set inclusion in Python, and beliefs in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patients import DISEASES, FIGURE_1D, LINKING, beta, linkable, patients, possible, view_of_items

from foreknow.models import ExternalKnowledge, Items, Linking
from foreknow.models.quasi_sensitive.links import READINGS, links


def linked(sets, items_of, prevalence=None):
    return links(Items.from_cells(sets), ExternalKnowledge(items_of, prevalence))


def row_of(belief, labels):
    """The beliefs of a dictionary as a row: the labels, none last."""
    return [float(belief.get(label, 0)) for label in (*labels, None)]


def test_figure_1():
    """K of rows 1, 2 and 4 is the flu; of row 3, with headache and vomiting, nothing."""
    found = LINKING(patients())
    assert list(found) == [("Flu",), ("Flu",), (), ("Flu",)]
    assert found.beliefs(np.array(FIGURE_1D), 2).tolist() == [[1, 0, 0], [0.5, 0, 0.5]]
    assert found.prior("counted").tolist() == [0.75, 0, 0.25]
    assert found.prior("fractional").tolist() == [0.75, 0, 0.25]
    assert found.prior("uniform").tolist() == [0.5, 0.5, 0]


def test_the_three_readings_of_the_prior():
    """Of two records one links to both labels and one to the second: counted 1/3 and 2/3, fractional 1/4 and 3/4."""
    found = linked(["a", "b"], {"x": "a", "y": "a, b"})
    assert found.prior("counted").round(12).tolist() == [round(1 / 3, 12), round(2 / 3, 12), 0]
    assert found.prior("fractional").tolist() == [0.25, 0.75, 0]
    assert found.prior("uniform").tolist() == [0.5, 0.5, 0]
    assert found.prior().tolist() == found.prior("counted").tolist()


@given(linkable())
def test_a_record_links_to_the_labels_that_have_all_its_items(case):
    sets, items_of = case
    found = linked(sets, items_of)
    assert [set(found[record]) for record in range(len(sets))] == [possible(items, items_of) for items in sets]
    assert found.weight.tolist() == [len(possible(items, items_of)) for items in sets]


@given(linkable(), st.data())
def test_beliefs_are_those_of_the_definition(case, data):
    sets, items_of = case
    prevalence = (
        dict(zip(items_of, data.draw(numbers(len(items_of))), strict=True)) if data.draw(st.booleans()) else None
    )
    group = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=len(sets), max_size=len(sets))))
    found = linked(sets, items_of, prevalence)
    belief = found.beliefs(group, 3)
    for g in range(3):
        members = [items for items, place in zip(sets, group, strict=True) if place == g]
        assert belief[g] == pytest.approx(row_of(beta(members, items_of, prevalence), items_of), abs=1e-12)
    each = found.probabilities(list(range(len(sets))))
    assert each == pytest.approx(
        np.array([row_of(beta([items], items_of, prevalence), items_of) for items in sets]), abs=1e-12
    )
    assert each.sum(axis=1) == pytest.approx(1, abs=1e-12)


def numbers(size):
    return st.lists(st.integers(1, 9), min_size=size, max_size=size)


@given(linkable())
def test_priors_are_those_of_the_definition(case):
    sets, items_of = case
    found = linked(sets, items_of)
    counts = {}
    for label in (label for items in sets for label in possible(items, items_of) or {None}):
        counts[label] = counts.get(label, 0) + 1
    shares = {label: Fraction(count, sum(counts.values())) for label, count in counts.items()}
    assert found.prior("counted") == pytest.approx(row_of(shares, items_of), abs=1e-12)
    assert found.prior("fractional") == pytest.approx(row_of(beta(sets, items_of), items_of), abs=1e-12)
    assert found.prior("uniform") == pytest.approx([1 / len(items_of)] * len(items_of) + [0], abs=1e-12)


@given(linkable(), st.data())
def test_removing_items_only_adds_labels(case, data):
    sets, items_of = case
    items = Items.from_cells(sets)
    removed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(items.codes), max_size=len(items.codes))), dtype=bool
    )
    knowledge = ExternalKnowledge(items_of)
    before, after = links(items, knowledge), links(items.without(removed), knowledge)
    assert all(set(few) <= set(many) for few, many in zip(before, after, strict=True))


@given(linkable())
def test_a_record_without_items_links_to_every_label(case):
    sets, items_of = case
    items = Items.from_cells(sets)
    found = links(items.without(np.ones(len(items.codes), dtype=bool)), ExternalKnowledge(items_of))
    assert all(set(labels) == set(items_of) for labels in found)
    uniform = [1 / len(items_of)] * len(items_of) + [0]
    assert found.beliefs(np.zeros(len(sets), dtype=np.int64), 1)[0] == pytest.approx(uniform, abs=1e-12)


@given(linkable(), st.randoms(use_true_random=False))
def test_other_names_and_orders_only_rename(case, random):
    sets, items_of = case
    order = list(items_of)
    random.shuffle(order)
    names = dict(zip("abcdefghz", random.sample("ABCDEFGHZ", 9), strict=True))
    renamed = {f"label {label}": {names[item] for item in items_of[label]} for label in order}
    found = linked(sets, items_of)
    others = linked([{names[item] for item in items} for items in sets], renamed)
    for record in range(len(sets)):
        assert {f"label {label}" for label in found[record]} == set(others[record])
    for reading in READINGS:
        assert others.prior(reading) == pytest.approx(found.prior(reading)[[*order, -1]], abs=1e-12)


def test_labels_that_are_tuples():
    found = linked(["a"], {("x", 1): "a", ("y", 2): "a, b"})
    assert found[0] == (("x", 1), ("y", 2))


def test_an_item_that_no_label_has_links_to_none_and_one_that_no_record_has_is_of_no_consequence():
    assert linked(["a, z"], {"x": "a"})[0] == ()
    assert linked(["a"], {"x": "a, b, c"})[0] == ("x",)


def test_of_no_records_the_prior_is_uniform():
    for reading in READINGS:
        assert linked([], {"x": "a", "y": "b"}).prior(reading).tolist() == [0.5, 0.5, 0]


def test_the_uniform_prior_follows_the_prevalence():
    assert linked(["a"], {"x": "a", "y": "b"}, {"x": 3, "y": 1}).prior("uniform").tolist() == [0.75, 0.25, 0]


def test_a_record_that_is_not_there():
    with pytest.raises(IndexError):
        linked(["a"], DISEASES)[1]


@pytest.mark.parametrize("reading", ["count", None, 1])
def test_another_reading_is_refused(reading):
    with pytest.raises(ValueError, match="'counted', 'fractional', 'uniform'"):
        linked(["a"], DISEASES).prior(reading)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"no column 'Symptoms'.*'items'"):
        LINKING(view_of_items(["a"]))


def test_a_quasi_identifier_is_no_column_of_items():
    with pytest.raises(ValueError, match="the column 'State' of items is a quasi-identifier"):
        Linking(LINKING.knowledge, "State")(patients())


def test_a_cell_without_items_is_found():
    with pytest.raises(TypeError, match="row 1 has the items 3"):
        Linking(LINKING.knowledge, "items")(view_of_items(["a", 3]))


def test_items_that_could_not_be_read_back_are_refused():
    """Published, the first record would read as "dry" and "hot", which go with another label."""
    knowledge = ExternalKnowledge({"x": ["dry, hot"], "y": "dry, hot"})
    with pytest.raises(
        ValueError, match=r"the item 'dry, hot' of the view at 1 contains the separator ','.*another separator"
    ):
        Linking(knowledge, "items")(view_of_items([["dry, hot"], ["dry"]]))
    assert Linking(knowledge, "items", separator=";")(view_of_items([["dry, hot"], ["dry"]]))[0] == ("x",)
    with pytest.raises(ValueError, match="the items 1 and '1' of the view at 1 read the same"):
        Linking(knowledge, "items")(view_of_items([[1], ["1"]]))


def test_a_separator_separates():
    with pytest.raises(ValueError, match="separator of items is ''"):
        Linking(LINKING.knowledge, "items", separator="")


def test_knowledge_is_no_mapping():
    with pytest.raises(TypeError, match="Linking: knowledge is a dict; it is an ExternalKnowledge"):
        Linking(DISEASES, "items")
