"""Wrong arguments of every public function on items: one TypeError or ValueError, never an error from inside."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patients import DISEASES, FIGURE_1D, KNOWLEDGE, LINKING, patients

from foreknow.attacks import LinkingAttack
from foreknow.attacks.linking import LabelBeliefs, ReleaseLabelBeliefs
from foreknow.defenses import ItemSuppression, KAnonymity, Mondrian, QSCloseness, QSDiversity, publish_items
from foreknow.defenses.suppression.item_suppression import COLUMNS, SuppressedItems
from foreknow.evaluation import (
    items_lost,
    label_disclosure,
    random_items,
    random_knowledge,
    verify_items,
)
from foreknow.models import ExternalKnowledge, History, ItemRelease, Items, Linking, Release, UniformPrior, links

pytestmark = pytest.mark.slow

VIEW = patients()
RELEASE = Release(VIEW, FIGURE_1D)
ITEMS = LINKING.items_of(VIEW)
SHOWN = ItemRelease(RELEASE, LINKING, ITEMS)
SEEN = SHOWN.observation
LINKED = SHOWN.links
DIVERSE = QSDiversity(3, 2, LINKING)
BELIEFS = LinkingAttack(LINKING)([RELEASE])
SUPPRESSION = ItemSuppression(DIVERSE, nodes=20)
RESULT = SuppressedItems(SHOWN, pd.DataFrame([[0] * len(COLUMNS)], columns=COLUMNS))
TABLE = pd.DataFrame({"label": ["flu", "cold"], "items": ["cough", "cough, itch"]})


class Opaque:
    """An object of no use to any function."""


WRONG = (
    *(None, True, False, 0, 1, -1, 2.5, 1e300, -(10**30), 10**400, math.nan, math.inf, 1j, Decimal("0.5"), Fraction(1, 3)),
    *("", " ", "a", "none", "\udc80", b"a", (), [], {}, set(), [1], ["a"], [None], [[1]], (1, (2, [3])), {"a": 1}, {1: []}),
    *({"flu": {}}, {"a": 0.5, "none": 0.5}, {"a": "b", "none": 1}, range(3), iter([1]), Opaque, Opaque(), len, pd.NA, pd.NaT),
    *(np.array(1), np.array([]), np.array([0.2, 0.3, 0.5]), np.array([[1]]), np.array(["a"]), np.array([None], dtype=object)),
    *(np.array([3, 0, -5, 9]), np.array([True] * 4), np.arange(4), np.arange(4, dtype=np.uint8), np.array([2j]), np.float32(2)),
    *(pd.Series([1.0, 2.0]), pd.Series({"Flu": 1}), pd.DataFrame(), TABLE, np.random.default_rng(1), KAnonymity(2)),
    *(KAnonymity(2) & DIVERSE, DIVERSE, QSCloseness(0.4, LINKING), Mondrian(KAnonymity(2)), Mondrian, UniformPrior()),
    *(VIEW, History([VIEW]), [VIEW], RELEASE, [RELEASE], SHOWN, SEEN, ITEMS, LINKED, LINKING, KNOWLEDGE, BELIEFS, RESULT),
)  # fmt: skip
"""Values of many kinds; some of them are right for some parameters."""

CALLS = {
    "ExternalKnowledge": (ExternalKnowledge, {"items_of": DISEASES, "prevalence": None}),
    "ExternalKnowledge.read": (
        ExternalKnowledge.read,
        {"table": TABLE, "label": "label", "items": "items", "separator": ","},
    ),
    "Items.from_cells": (Items.from_cells, {"cells": ["a, b", "b"], "separator": ","}),
    "Linking": (Linking, {"knowledge": KNOWLEDGE, "items": "Symptoms", "separator": ","}),
    "Linking.items_of": (LINKING.items_of, {"view": VIEW}),
    "Linking()": (LINKING, {"view": VIEW}),
    "Links.prior": (LINKED.prior, {"reading": "counted"}),
    "links": (links, {"items": ITEMS, "knowledge": KNOWLEDGE}),
    "ItemRelease": (ItemRelease, {"release": RELEASE, "linking": LINKING, "published": ITEMS}),
    "LinkingAttack": (LinkingAttack, {"linking": LINKING, "prior": "counted"}),
    "LinkingAttack()": (LinkingAttack(LINKING), {"releases": [RELEASE]}),
    "ReleaseLabelBeliefs": (
        ReleaseLabelBeliefs,
        {"observation": SEEN, "prior": np.array([0.5, 0.5, 0]), "posterior": np.zeros((2, 3))},
    ),
    "ReleaseLabelBeliefs.of_row": (BELIEFS.releases[0].of_row, {"row": 0}),
    "LabelBeliefs": (LabelBeliefs, {"knowledge": KNOWLEDGE, "releases": BELIEFS.releases}),
    "LabelBeliefs.certain": (BELIEFS.certain, {"sure": 0.9}),
    "ItemSuppression": (
        ItemSuppression,
        {"requirement": DIVERSE, "seconds": 1, "nodes": 20, "search": "adaptive"},
    ),
    "ItemSuppression()": (SUPPRESSION, {"release": RELEASE, "progress": iter}),
    "SuppressedItems": (SuppressedItems, {"release": RESULT.release, "groups": RESULT.groups}),
    "publish_items": (
        publish_items,
        {
            "views": VIEW,
            "defense": Mondrian(KAnonymity(2)),
            "suppression": SUPPRESSION,
            "adversary": None,
            "progress": iter,
            "rng": 1,
        },
    ),
    "random_items": (
        random_items,
        {"view": VIEW, "items_per_record": 2, "vocabulary": 5, "column": "bought", "rng": 1},
    ),
    "random_knowledge": (random_knowledge, {"labels": 3, "mean_items": 2, "vocabulary": 5, "rng": 1}),
    "items_lost": (items_lost, {"releases": [SHOWN]}),
    "label_disclosure": (label_disclosure, {"beliefs": BELIEFS, "sure": 0.9}),
    "verify_items": (
        verify_items,
        {"release": SHOWN, "requirement": DIVERSE, "label_prior": None},
    ),
}
"""Each public function with arguments that it takes."""

OTHER_OWNERS = {
    *(("publish_items", "defense"), ("ItemSuppression()", "release")),
    *(("ReleaseLabelBeliefs.of_row", "row"), ("LabelBeliefs", "releases")),
}
"""Parameters that another function of the package takes and checks, or that the package fills itself."""


def wrong_values(parameter):
    """Values for a parameter. An error inside a function of the caller's, as ``progress``, is the caller's own."""
    return [value for value in WRONG if parameter != "progress" or not callable(value)]


def one_clear_error(function, arguments):
    """Call the function; it returns, or raises TypeError or ValueError with a message."""
    try:
        function(**arguments)
    except (TypeError, ValueError) as error:
        assert str(error)  # noqa: PT017 - the call may also succeed


@pytest.mark.parametrize("name", CALLS)
def test_the_right_arguments_are_taken(name):
    function, arguments = CALLS[name]
    function(**arguments)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        (name, parameter)
        for name, (_, arguments) in CALLS.items()
        for parameter in arguments
        if (name, parameter) not in OTHER_OWNERS
    ],
)
def test_one_wrong_argument(name, parameter):
    function, arguments = CALLS[name]
    for value in wrong_values(parameter):
        one_clear_error(function, arguments | {parameter: value})


@settings(max_examples=300)
@given(st.data())
def test_several_wrong_arguments(data):
    name = data.draw(st.sampled_from(sorted(CALLS)))
    function, arguments = CALLS[name]
    changed = data.draw(st.sets(st.sampled_from(sorted(arguments)), min_size=1))
    values = {
        parameter: data.draw(st.sampled_from(wrong_values(parameter)))
        for parameter in changed
        if (name, parameter) not in OTHER_OWNERS
    }
    one_clear_error(function, arguments | values)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: Items.from_cells("cough, fever"), TypeError, "cells is 'cough, fever'; it is a column"),
        (lambda: Linking(KNOWLEDGE, 3), TypeError, "items is 3; it is the name of the column of items"),
        (lambda: ItemRelease(RELEASE, LINKING, [["a"]] * 4), TypeError, r"published is .*linking\.items_of"),
        (lambda: ItemRelease(VIEW, LINKING, ITEMS), TypeError, r"release is View.*Release\(view, labels\)"),
        (lambda: BELIEFS.certain(2), ValueError, "sure is 2; it is a number from 0 to 1"),
        (lambda: LinkingAttack(LINKING, {}), TypeError, "prior is {}; it is one of"),
        (lambda: LinkingAttack(LINKING)(3), TypeError, "it is a list of ItemReleases or Releases"),
        (lambda: publish_items([RELEASE], None, SUPPRESSION), TypeError, "views in the order of time: a History, or a list"),
        (lambda: publish_items(VIEW, None, SUPPRESSION), TypeError, "None is no defense"),
        (lambda: random_items(VIEW, 2, 5, rng="1"), TypeError, "random_items: rng is '1'; it is a generator"),
        (lambda: items_lost([RELEASE]), TypeError, "one of the releases is Release.*; it is an ItemRelease, as"),
        (lambda: verify_items(SHOWN, 3), TypeError, "requirement is 3; it is a requirement, as KAnonymity\\(3\\)"),
        (lambda: verify_items(SHOWN, DIVERSE, [1]), TypeError, "label_prior is .*it is a mapping"),
    ],
)  # fmt: skip
def test_the_message_says_the_rule_the_value_and_the_way_out(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_an_integer_seed_draws_as_its_generator():
    frames = [random_items(VIEW, 2, 5, "bought", rng=rng).frame for rng in (7, np.random.default_rng(7))]
    assert frames[0].equals(frames[1])
    known = [random_knowledge(3, 2, 5, rng=rng).items_of for rng in (7, np.random.default_rng(7))]
    assert known[0] == known[1]
    tables = [
        publish_items(VIEW, Mondrian(KAnonymity(2)), SUPPRESSION, rng=rng).release.table
        for rng in (7, np.random.default_rng(7))
    ]
    assert tables[0].equals(tables[1])
