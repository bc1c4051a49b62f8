"""Figures of quasi-sensitive attributes for the benchmarks: linking, and the search for items to remove. Reads UCI Adult."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from subjects import ADULT, HIERARCHIES, Figure, Work, check_adult, seeded

from foreknow.defenses import (
    ItemSuppression,
    KAnonymity,
    Mondrian,
    QSCloseness,
    QSDiversity,
    Requirement,
    publish,
    summarize_groups,
    summarize_records,
)
from foreknow.evaluation import adult, adult_with_items, random_items, random_knowledge
from foreknow.models import Linking, UniformPrior, View

SETTINGS = ((200, 2), (220, 5))
"""Number of different items, and k. With fewer items, or larger groups, no item need be removed."""


@cache
def subject(vocabulary: int) -> tuple[View, Linking]:
    """3,000 records of Adult with random items, and their linking."""
    check_adult()
    (view,), linking = adult_with_items(ADULT, vocabulary=vocabulary, hierarchies=HIERARCHIES, rng=seeded(2010))
    return view, linking


def linking_the_census() -> Work:
    """Work of linking all records of Adult, with 300 items."""
    check_adult()
    rng = seeded(2010)
    view = random_items(adult(ADULT, "salary-class", ("age", "sex"))[0], vocabulary=300, rng=rng)
    linking = Linking(random_knowledge(vocabulary=300, rng=rng), "items")
    return lambda: linking(view)


def linking_and_checking(items: int, k: int, make: Callable[[Linking], Requirement]) -> Work:
    """Work from the table to the level of every group."""
    view, linking = subject(items)
    (release,) = publish([view], Mondrian(KAnonymity(k)), rng=seeded(1))
    prior = UniformPrior()(view.people)

    def work() -> object:
        bound = make(linking).bind(view, prior)
        return bound.level(summarize_groups(summarize_records(view, prior, members=True), release.group))

    return work


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
