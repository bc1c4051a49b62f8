"""Quasi-sensitive values: Shi, Xiong, Fung, Anonymizing Data with Quasi-Sensitive Attribute Values, CIKM 2010."""

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.defenses import (
    ItemSuppression,
    KAnonymity,
    Mondrian,
    QSCloseness,
    QSDiversity,
    Requirement,
    publish_items,
)
from foreknow.defenses.suppression.item_suppression import SearchOrder
from foreknow.evaluation.cells import Cell, Experiment
from foreknow.evaluation.datasets.random_items import adult_with_items
from foreknow.evaluation.loss.generalization_loss import gcp
from foreknow.evaluation.papers.figures import ADULT, Figure, Paper, adult_folder
from foreknow.models import Linking, View

L, C, T = (10, 20, 30, 40), (0.5, 1.0, 2.0), (0.2, 0.3, 0.4, 0.5)
"""Values of the parameters; the paper gives the defaults l = 30, c = 1, t = .4."""

K = (1, 2, 3, 5, 10, 20)

SEARCHES: tuple[SearchOrder, ...] = ("printed", "plain")

NODES, LADDER = 500, (100, 300, 1000)
"""Number of removals to examine in each group, and others at the defaults."""

SEEDS = range(1, 11)
"""Seeds of records, items and labels; the paper has one data set."""


class Subject(NamedTuple):
    """A reading of the data: number of items, what the Poisson number counts, and k of Figure 5."""

    vocabulary: int
    counted: Literal["label", "item"]
    k: int


SUBJECTS = {
    "220 items": Subject(220, "label", 5),
    "200 items": Subject(200, "label", 2),
    "270 items": Subject(270, "label", 2),
    "270 items, 100 labels each": Subject(270, "item", 2),
}


@lru_cache(1)
def data(subject: str, seed: int) -> tuple[View, Linking]:
    """3,000 records of Adult with 9 items each, and 3,000 labels."""
    vocabulary, counted, *_ = SUBJECTS[subject]
    (view,), linking = adult_with_items(adult_folder(), vocabulary=vocabulary, counted=counted, rng=seed)
    return view, linking


def suppressed(
    view: View, k: int, requirement: Requirement, search: SearchOrder, nodes: int, rng: np.random.Generator
) -> dict[str, object]:
    """Means over the groups of Mondrian: cost of removal, of the first solution too, and shares of those that fail."""
    suppression = ItemSuppression(requirement, seconds=math.inf, nodes=nodes, search=search)
    result = publish_items(view, Mondrian(KAnonymity(k)), suppression, rng=rng)
    groups = result.groups
    failing = groups[~groups["satisfied"]]
    return {
        "search": search,
        "nodes": nodes,
        "k": k,
        "failing": round(len(failing) / len(groups), 4),
        "cost": round(float(groups["cost"].mean()), 6),
        "first_cost": round(float(failing["first_cost"].sum() / len(groups)), 6),
        "solved": round(float(failing["first_cost"].notna().mean()), 4) if len(failing) else 1.0,
        "proven": round(float(failing["proven"].mean()), 4) if len(failing) else 1.0,
        "gcp": round(float(gcp([result.release.release])["gcp"].iloc[0]), 5),
    }


def searches(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Figure 5: QS (c, l)-diversity by the two searches, over l at c = 1, and over c at l = 30; at the defaults for 270 items."""
    view, linking = data(cell["subject"], cell["seed"])
    k, seed = SUBJECTS[cell["subject"]].k, int(rng.integers(2**32))
    settings = [*((1.0, l) for l in L), *((c, 30) for c in C if c != 1)]  # noqa: E741
    rows: list[dict[str, object]] = []
    for c, l in settings if SUBJECTS[cell["subject"]].vocabulary < 270 else [(1.0, 30)]:  # noqa: E741
        requirement = QSDiversity(c, l, linking)
        for search in SEARCHES:
            found = suppressed(view, k, requirement, search, NODES, np.random.default_rng(seed))
            rows.append({"c": c, "l": l, **found})
    return pd.DataFrame(rows)


def budgets(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Figure 5 at its defaults, over the number of removals that are examined; with the search of this package."""
    view, linking = data(cell["subject"], cell["seed"])
    k, seed = SUBJECTS[cell["subject"]].k, int(rng.integers(2**32))
    orders: tuple[SearchOrder, ...] = (*SEARCHES, "adaptive")
    return pd.DataFrame(
        [
            suppressed(view, k, QSDiversity(1, 30, linking), search, nodes, np.random.default_rng(seed))
            for nodes in LADDER
            for search in orders
        ]
    )


def closeness(cell: Cell, rng: np.random.Generator) -> pd.DataFrame:
    """Figure 6: QS t-closeness over t and k, and by generalization alone, as a requirement of Mondrian."""
    view, linking = data(cell["subject"], cell["seed"])
    rows: list[dict[str, object]] = []
    for t in T:
        requirement = QSCloseness(t, linking)
        rows += [{"t": t, **suppressed(view, k, requirement, "printed", NODES, rng)} for k in K]
        alone = publish_items(view, Mondrian(KAnonymity(1) & requirement), ItemSuppression(requirement), rng=rng)
        loss = float(gcp([alone.release.release])["gcp"].iloc[0])
        rows.append(
            {"t": t, "search": "generalization only", "cost": float(alone.groups["cost"].mean()), "gcp": round(loss, 5)}
        )
    return pd.DataFrame(rows)


EXPERIMENTS = (
    Experiment(
        "quasi_sensitive_searches",
        searches,
        [{"subject": subject, "seed": seed} for seed in SEEDS for subject in SUBJECTS],
        data=ADULT,
    ),
    Experiment(
        "quasi_sensitive_budgets", budgets, [{"subject": "220 items", "seed": seed} for seed in SEEDS], data=ADULT
    ),
    Experiment(
        "quasi_sensitive_closeness",
        closeness,
        [{"subject": "220 items", "seed": seed} for seed in SEEDS],
        data=ADULT,
    ),
)

READINGS = (
    "The number of items is not given. With 220, and labels of Poisson(100) items, a record links to 3 labels on average; "
    "with 200, to 7; with 270, to .4.",
    "Read as the occurrences of an item, Poisson(100) fixes the vocabulary: 27,000 / 100 = 270. Where an item is in Poisson(100) "
    "labels, a label has 9 items on average, and almost no record links to one: then QS t-closeness, whose prior is that of the "
    "table, asks nothing.",
    "k is 5 for 220 items and 2 otherwise. The 8 quasi-identifiers are not named: those taken are the attributes "
    "of Adult for which hierarchies are published; Mondrian uses none of these.",
    "The limit of 10 s is 500 removals examined in each group, so that no cost depends on the machine.",
    "QS (c, l)-diversity is the corrected one: as printed it is satisfied by any group where c is at least 1.",
    "The adaptive search orders the tails by the printed rule alone, with ties to the cheaper and then the earlier item.",
)
SETTING = "3,000 tuples of Adult, 8 quasi-identifiers, 9 items each, 3,000 labels, Poisson(100); Mondrian; 10 s an experiment."


def by_search(name: str, along: str, where: str) -> Figure:
    """Figure 5."""
    query = f"""SELECT {along} AS x, cost AS y, CASE search WHEN 'printed' THEN 'adaptive' ELSE 'plain' END AS line,
        subject AS panel, seed FROM quasi_sensitive_searches
        WHERE {where} AND subject NOT LIKE '270%' ORDER BY subject DESC, line, x"""
    return Figure(
        name,
        f"cost of removing items for QS (c, l)-diversity, over {along}",
        query,
        "curves",
        along,
        "mean cost of a group (Eq. 1)",
        f"{where}.",
        log=True,
        within=(0, math.inf),
    )


FIGURES = (
    by_search("5 over l", "l", "c = 1"),
    by_search("5 over c", "c", "l = 30"),
    Figure(
        "5, readings",
        "the cost at c = 1, l = 30 under all readings of the items",
        "SELECT CASE search WHEN 'printed' THEN 'adaptive' ELSE 'plain' END AS x, cost AS y, subject AS line, seed "
        "FROM quasi_sensitive_searches WHERE c = 1 AND l = 30 ORDER BY subject, x",
        "table",
        "",
        "mean cost of a group",
    ),
    Figure(
        "5 over removals",
        "the same at c = 1, l = 30, over the number of removals examined: not in the paper",
        "SELECT nodes AS x, cost AS y, CASE search WHEN 'printed' THEN 'adaptive' WHEN 'adaptive' THEN 'adaptive, with additions' "
        "ELSE 'plain' END AS line, seed FROM quasi_sensitive_budgets ORDER BY line, x",
        "curves",
        "removals examined in a group",
        "mean cost of a group (Eq. 1)",
        readings=("The additions restore items that a solution need not remove, and begin once with each record.",),
        log=True,
        within=(0, math.inf),
    ),
    Figure(
        "6a",
        "cost of removing items for QS t-closeness, over t squared and k",
        "SELECT t * t AS x, cost AS y, CASE WHEN k IS NULL THEN search ELSE 'k = ' || k::INT END AS line, seed "
        "FROM quasi_sensitive_closeness ORDER BY k, x",
        "curves",
        "t squared",
        "mean cost of a group (Eq. 1)",
        "Different k, k = 1 and generalization only among them.",
        within=(0, math.inf),
    ),
    Figure(
        "6b",
        "information loss of generalization, over t squared and k",
        "SELECT t * t AS x, gcp AS y, CASE WHEN k IS NULL THEN search ELSE 'k = ' || k::INT END AS line, seed "
        "FROM quasi_sensitive_closeness ORDER BY k, x",
        "curves",
        "t squared",
        "GCP, 0 to 1",
        readings=("Generalization only is Mondrian with QS t-closeness as its requirement; the loss is GCP.",),
        within=(0, 1),
    ),
)

PAPER = Paper(
    "quasi-sensitive",
    "Shi, Xiong, Fung, Anonymizing Data with Quasi-Sensitive Attribute Values, CIKM 2010",
    EXPERIMENTS,
    FIGURES,
    lambda cell: bool(cell["seed"] == 1),
    SETTING,
    READINGS,
)
