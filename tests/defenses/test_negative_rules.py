"""Negative rules, against a count over all itemsets, a number worked by hand, and the cross tables of Adult."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import DATA

from foreknow.defenses.injector import least_support, negative_rules
from foreknow.evaluation import adult
from foreknow.models import Categorical, Hierarchy, Numeric, Schema, View

CITIES = {"Rome": "Italy", "Pisa": "Italy", "Bern": "Swiss", "Bonn": "Germany"}
TREE = Hierarchy([(city, land, "*") for city, land in CITIES.items()])
SCHEMA = Schema(
    {"city": Categorical(tuple(CITIES), TREE), "sex": Categorical(("M", "F")), "age": Numeric(0, 8)},
    "result",
    tuple("abc"),
)


def view_of(rows):
    """A view of tuples of city, sex, age and result."""
    frame = pd.DataFrame(rows, columns=["city", "sex", "age", "result"])
    return View(frame.assign(id=range(len(rows))), SCHEMA, 1)


@st.composite
def views(draw):
    """Table whose rows occur up to four times, so that some absences are significant."""
    cells = st.tuples(*map(st.sampled_from, (tuple(CITIES), "MF", range(9), "aaabbc")))
    rows = draw(st.lists(cells, min_size=1, max_size=9)) * draw(st.integers(1, 4))
    return view_of(rows if len(rows) > 1 else rows * 2)


def conditions(terms):
    """For each attribute every label, with the more general labels, and the degree of a cell in it."""
    lands = set(CITIES.values())
    # Swiss and Germany have one city each, which stands for them.
    cities = {city: {CITIES[city]} for city in CITIES} | {land: set() for land in lands if land == "Italy"}
    peaks = [Fraction(8 * i, terms - 1) for i in range(terms)]
    step = Fraction(8, terms - 1)
    return {
        "city": {c: (broader, lambda cell, c=c: Fraction(c in (cell, CITIES[cell]))) for c, broader in cities.items()},
        "sex": {s: (set(), lambda cell, s=s: Fraction(cell == s)) for s in "MF"},
        "age": {
            f"about {float(p):g}": (set(), lambda cell, p=p: max(Fraction(0), 1 - abs(cell - p) / step)) for p in peaks
        },
    }


def all_rules(view, min_confidence, min_expectation, terms):
    """All rules: condition and value to (confidence, support, expectation, membership)."""
    found, n, offers = {}, len(view), conditions(terms)
    rows = view.frame.to_dict("records")
    for labels in itertools.product(*([None, *offer] for offer in offers.values())):
        condition = {name: label for name, label in zip(offers, labels, strict=True) if label is not None}
        if not condition:
            continue
        degree = [min(offers[name][label][1](row[name]) for name, label in condition.items()) for row in rows]
        for value in "abc":
            x = sum(degree) / n
            y = Fraction(sum(row["result"] == value for row in rows), n)
            xy = sum(d for d, row in zip(degree, rows, strict=True) if row["result"] == value) / n
            expectation = 1 - (1 - x * y) ** n
            if x > 0 and 1 - xy / x >= Fraction(min_confidence) and expectation >= Fraction(min_expectation):
                member = [d > 0 for d in degree]
                found[tuple(condition.items()), value] = (1 - xy / x, x, expectation, member)
    return found


def is_broader(one, other, terms):
    """Return whether the other condition implies the first, by the hierarchies, and they differ."""
    offers, narrow = conditions(terms), dict(other)
    return one != other and all(
        name in narrow and (label == narrow[name] or label in offers[name][narrow[name]][0]) for name, label in one
    )


@given(
    view=views(),
    confidence=st.sampled_from(("1", "1", "0.8", "0.5")),
    expectation=st.sampled_from(("0.13", "0.37", "0.9")),
    terms=st.integers(2, 3),
)
def test_the_rules_are_the_most_general_of_all(view, confidence, expectation, terms):
    mined = negative_rules(view, float(confidence), float(expectation), terms)
    every = all_rules(view, confidence, expectation, terms)
    most_general = {
        (condition, value): measures
        for (condition, value), measures in every.items()
        if not any(value == v and is_broader(c, condition, terms) for c, v in every)
    }
    assert {(rule.condition, rule.value) for rule in mined} == set(most_general)
    assert len(mined) == len(most_general)
    for rule in mined:
        measures = most_general[rule.condition, rule.value][:3]
        assert np.allclose((rule.confidence, rule.support, rule.expectation), [float(x) for x in measures])
    denied = np.zeros((len(view), 3), dtype=bool)
    for (_, value), (*_, member) in every.items():
        denied[member, "abc".index(value)] = True
    assert np.array_equal(mined.forbidden, denied), "narrower rules deny nothing more"


@given(view=views(), expectation=st.sampled_from((0.01, 0.37, 0.9)), terms=st.integers(2, 12))
def test_no_record_is_denied_its_own_value_by_a_rule_without_exceptions(view, expectation, terms):
    mined = negative_rules(view, 1.0, expectation, terms)
    assert not mined.forbidden[np.arange(len(view)), view.sensitive].any()
    assert all(rule.confidence == 1 for rule in mined)


def test_a_rule_with_exceptions_denies_them_their_own_value():
    rows = [("Rome", "M", 0, "a")] * 9 + [("Rome", "M", 0, "b")] + [("Bern", "F", 0, "b")] * 10
    mined = negative_rules(view_of(rows), 0.9, 0.9)
    assert "sex is M => not b" in [str(rule) for rule in mined]
    assert next(rule.confidence for rule in mined if rule.value == "b") == pytest.approx(0.9)
    assert mined.forbidden[9].tolist() == [False, True, False]
    assert not negative_rules(view_of(rows), 0.91, 0.9).forbidden[:10, 1].any()


def test_a_land_denies_what_none_of_its_cities_has():
    rows = [("Rome", "M", 0, "a"), ("Pisa", "M", 0, "a"), ("Bonn", "M", 0, "b"), ("Bern", "M", 0, "b")] * 5
    assert [str(rule) for rule in negative_rules(view_of(rows))] == [
        "city is Italy => not b",
        "city is Bern => not a",
        "city is Bonn => not a",
    ]


def test_a_number_denies_as_far_as_its_term_reaches():
    """The term "about 4" covers ages over 0 and under 8, where no record has b."""
    rows = [("Rome", "M", age, "b" if age in (0, 8) else "a") for age in (0, 1, 4, 7, 8)] * 6
    mined = negative_rules(view_of(rows), terms=3)
    assert [str(rule) for rule in mined] == ["age is about 4 => not b"]
    assert mined.rules[0].support == pytest.approx((0.25 + 1 + 0.25) / 5)
    assert mined.forbidden[:5, 1].tolist() == [False, True, True, True, False]


def test_what_is_alike_in_all_has_no_rules():
    frame = pd.DataFrame({"id": range(40), "age": 30, "land": "Italy", "result": list("ab") * 20})
    schema = Schema({"age": Numeric(), "land": Categorical(("Italy",))}, "result", tuple("abc"))
    mined = negative_rules(View(frame, schema))
    assert len(mined) == 0
    assert not mined.forbidden.any()


def test_least_support_is_the_worked_number():
    """Worked by hand: n = 45,222, minExp = .9, P(Y) = .01 gives 5.09e-3, some 230 records."""
    least = least_support(45_222, np.array([0.01, 0.0]), 0.9)
    assert least[0] == pytest.approx(5.09e-3, rel=1e-3)
    assert round(least[0] * 45_222) == 230
    assert 1 - (1 - least[0] * 0.01) ** 45_222 == pytest.approx(0.9)
    assert np.isinf(least[1]), "a value without records has no finite support"


@pytest.mark.parametrize("confidence", [0, -0.1, 1.01, np.nan])
def test_a_confidence_that_is_no_share_is_refused(confidence):
    with pytest.raises(ValueError, match="min_confidence is"):
        negative_rules(view_of([("Rome", "M", 0, "a")]), confidence)


@pytest.mark.parametrize("expectation", [0, 1, 1.5, np.nan])
def test_an_expectation_that_is_no_probability_between_is_refused(expectation):
    with pytest.raises(ValueError, match="min_expectation is"):
        negative_rules(view_of([("Rome", "M", 0, "a")]), 1.0, expectation)


@pytest.mark.parametrize("terms", [0, 1, 2.5, np.nan])
def test_too_few_terms_are_refused(terms):
    with pytest.raises(ValueError, match="terms is"):
        negative_rules(view_of([("Rome", "M", 0, "a")]), terms=terms)


def test_rules_of_one_value_on_adult_are_the_empty_cells_of_its_cross_tables():
    if not (DATA / "adult" / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA / 'adult'}")
    attributes = ("workclass", "marital-status", "occupation", "race")
    (view,) = adult(DATA / "adult", sensitive="education", quasi_identifiers=attributes)
    mined = negative_rules(view)
    empty = set()
    for name in attributes:
        table = pd.crosstab(view.frame[name], view.frame["education"])
        x, y = table.sum(axis=1) / len(view), table.sum(axis=0) / len(view)
        expectation = 1 - (1 - np.outer(x, y)) ** len(view)
        rows, columns = np.nonzero((table.to_numpy() == 0) & (expectation >= 0.9))
        empty |= {(name, table.index[r], table.columns[c]) for r, c in zip(rows, columns, strict=True)}
    assert {(*rule.condition[0], rule.value) for rule in mined if len(rule.condition) == 1} == empty
    assert not mined.forbidden[np.arange(len(view)), view.sensitive].any()
    for rule in list(mined)[::50]:
        meets = np.logical_and.reduce([view.frame[name] == label for name, label in rule.condition])
        assert not (view.frame.loc[meets, "education"] == rule.value).any()
        assert meets.mean() == pytest.approx(rule.support)
