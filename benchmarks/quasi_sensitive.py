"""Experiments of the quasi-sensitive paper: ``python benchmarks/quasi_sensitive.py [section ...]``, some minutes on two cores.

Prints the tables of docs/findings.md on quasi-sensitive attributes, and draws Figures 5 and 6 into docs/. Reads Adult from
../shared/data/adult. Source: Shi, Xiong, Fung, CIKM 2010.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Canvas
from subjects import ADULT, HIERARCHIES, Figure, Work, check_adult, seeded
from tables import DOCS, Row, print_sections

from foreknow.defenses import (
    ItemSuppression,
    KAnonymity,
    Mondrian,
    QSCloseness,
    QSDiversity,
    Requirement,
    publish,
    publish_items,
    summarize_groups,
    summarize_records,
)
from foreknow.evaluation import adult, adult_with_items, gcp, random_items, random_knowledge
from foreknow.models import Linking, UniformPrior, View

SECONDS = 10.0
"""Time limit of each experiment in the paper."""

SETTINGS = ((200, 2), (220, 5))
"""Number of different items, and k. With fewer items, or larger groups, no item need be removed."""


@cache
def subject(vocabulary: int) -> tuple[View, Linking]:
    """3,000 records of Adult with random items, and their linking."""
    check_adult()
    (view,), linking = adult_with_items(ADULT, vocabulary=vocabulary, hierarchies=HIERARCHIES, rng=seeded(2010))
    return view, linking


def suppressed(vocabulary: int, k: int, requirement: Requirement, search: str = "adaptive") -> Row:
    """Cost of the two phases: means over all groups, and over the groups that fail."""
    view, _ = subject(vocabulary)
    result = publish_items(view, Mondrian(KAnonymity(k)), ItemSuppression(requirement, seconds=SECONDS, search=search))
    groups = result.groups
    failing = groups[~groups["satisfied"]]
    return {
        "groups": len(groups),
        "failing": len(failing),
        "cost": float(groups["cost"].mean()),
        "first": float(failing["first_cost"].sum() / max(len(groups), 1)),
        "proven": float(failing["proven"].mean()),
        "milliseconds": 1000 * float(failing["first_seconds"].median()),
        "gcp": float(gcp([result.release.release])["gcp"][0]),
    }


def figure_5() -> Iterator[Row]:
    """Figure 5: removal cost of QS (c, l)-diversity by both searches, over l (c = 1) and over c (l = 30), in 10 s each."""
    settings = [*((1.0, l) for l in (10, 20, 30, 40, 50)), *((c, 30) for c in (0.5, 2.0, 3.0))]  # noqa: E741
    rows = [
        {"vocabulary": vocabulary, "k": k, "c": c, "l": l, "search": search}
        | suppressed(vocabulary, k, QSDiversity(c, l, subject(vocabulary)[1]), search)
        for (vocabulary, k), (c, l), search in product(SETTINGS, settings, ("adaptive", "plain"))  # noqa: E741
    ]
    figure, panels = canvas("QS (c, l)-diversity: removal of items, searched for 10 s", sharey=True)
    for panel, (axis, fixed, at) in zip(panels, (("l", "c", 1.0), ("c", "l", 30)), strict=True):
        shown = pd.DataFrame(rows).query(f"{fixed} == {at}").sort_values(axis)
        for (vocabulary, k, search), of_search in shown.groupby(["vocabulary", "k", "search"]):
            color, style = {200: "C0", 220: "C3"}[vocabulary], "-o" if search == "adaptive" else "--s"
            label = f"{search}, {vocabulary} items, k = {k}"
            panel.plot(of_search[axis], of_search["cost"], style, color=color, markerfacecolor="white", label=label)
        panel.set(
            xticks=sorted(set(shown[axis])), xlabel=f"{axis}, at {fixed} = {at:g}", title=f"Removal cost over {axis}"
        )
    panels[0].set_ylabel(COST)
    panels[0].legend(frameon=False)
    figure.savefig(DOCS / "quasi-sensitive-5.png", dpi=110)
    return iter(rows)


COST = "mean removal cost of a group (Eq. 1)"


def canvas(title: str, **shared: bool) -> tuple[Canvas, Any]:
    figure = Canvas(figsize=(10, 4), layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(1, 2, **shared)


def figure_6() -> Iterator[Row]:
    """Figure 6: removal cost and generalization loss of QS t-closeness, over t squared and k, in 10 s each."""
    rows = [
        {"k": k, "t": t, "t^2": t * t} | suppressed(220, k, QSCloseness(t, subject(220)[1]))
        for k, t in product((1, 2, 3, 5, 10, 20), (0.2, 0.3, 0.4, 0.5))
    ]
    figure, (left, right) = canvas("QS t-closeness in two phases: larger groups need fewer removals")
    table = pd.DataFrame(rows)
    for k, of_size in table.groupby("k"):
        left.plot(of_size["t^2"], of_size["cost"], "-o", label=f"k = {k}")
    left.set(xlabel="t squared, the paper's axis", ylabel=COST, title="Cost of suppression")
    left.legend(frameon=False)
    by_k = table.drop_duplicates("k")
    right.plot(by_k["k"], by_k["gcp"], "-o", color="black")
    right.set(xticks=by_k["k"], xlabel="k", ylabel="GCP, 0 to 1", title="Loss by generalization, for every t")
    figure.savefig(DOCS / "quasi-sensitive-6.png", dpi=110)
    return iter(rows)


def never_worse() -> Iterator[Row]:
    """Comparison of the costs of the adaptive and the plain search by group, after equal times: 10 ms each, 1 s and 10 s."""
    for vocabulary, k in SETTINGS:
        view, linking = subject(vocabulary)
        requirement, phase_1 = QSDiversity(1, 30, linking), Mondrian(KAnonymity(k))
        failing = int((~publish_items(view, phase_1, ItemSuppression(requirement, 0)).groups["satisfied"]).sum())
        for seconds in (0.01 * failing, 1.0, SECONDS):
            adaptive, plain = (
                publish_items(view, phase_1, ItemSuppression(requirement, seconds=seconds, search=search)).groups[
                    "cost"
                ]
                for search in ("adaptive", "plain")
            )
            row = {"items": vocabulary, "k": k, "seconds": seconds, "failing": failing, "groups": len(plain)}
            higher, lower = (adaptive > plain + 1e-12).sum(), (adaptive < plain - 1e-12).sum()
            yield row | {"higher": higher, "lower": lower, "adaptive": adaptive.mean(), "plain": plain.mean()}


def linking_and_checking(items: int, k: int, make: Callable[[Linking], Requirement]) -> Work:
    """Work from the table to the level of every group."""
    view, linking = subject(items)
    (release,) = publish([view], Mondrian(KAnonymity(k)), rng=seeded(1))
    prior = UniformPrior()(view.people)

    def work() -> object:
        bound = make(linking).bind(view, prior)
        return bound.level(summarize_groups(summarize_records(view, prior, members=True), release.group))

    return work


def linking_the_census() -> Work:
    """Work of linking all records of Adult, with 300 items."""
    check_adult()
    rng = seeded(2010)
    view = random_items(adult(ADULT, "salary-class", ("age", "sex"))[0], vocabulary=300, rng=rng)
    linking = Linking(random_knowledge(vocabulary=300, rng=rng), "items")
    return lambda: linking(view)


def first_solution(items: int, k: int, make: Callable[[Linking], Requirement]) -> Callable[[], float]:
    """Seconds to the first solution of the median group that fails; infinite without one.

    The time of linking, of all groups at once, is not counted.
    """
    view, linking = subject(items)
    (release,) = publish([view], Mondrian(KAnonymity(k)), rng=seeded(1))
    suppression = ItemSuppression(make(linking))

    def work() -> float:
        groups = suppression(release).groups
        return float(groups[~groups["satisfied"]]["first_seconds"].fillna(np.inf).median())

    return work


REQUIREMENTS: dict[str, Callable[[Linking], Requirement]] = {
    "QSDiversity(1, 30)": lambda linking: QSDiversity(1, 30, linking),
    "QSCloseness(.4)": lambda linking: QSCloseness(0.4, linking),
}
"""Requirements with the paper's default settings."""

QUASI_SENSITIVE_FIGURES: dict[str, Figure] = {
    **{
        f"3,000 records x 3,000 labels, {items} items: linking, and {name} of every group, k={k}": Figure(
            2.0, partial(linking_and_checking, items, k, make)
        )
        for items, k in SETTINGS
        for name, make in REQUIREMENTS.items()
    },
    "Adult 45,222 x 3,000 labels, 300 items: linking": Figure(5.0, linking_the_census),
    **{
        f"3,000 records x 3,000 labels, {items} items: the median group's first suppression for {name}, k={k}": Figure(
            0.01, partial(first_solution, items, k, make), own_clock=True
        )
        for items, k in SETTINGS
        for name, make in REQUIREMENTS.items()
    },
}

if __name__ == "__main__":
    print_sections((figure_5, figure_6, never_worse))
