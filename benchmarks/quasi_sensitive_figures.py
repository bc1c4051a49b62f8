"""Benchmark figures of linking items to labels, and of removing items."""

from collections.abc import Callable
from functools import partial

import numpy as np
from quasi_sensitive import SETTINGS, subject
from subjects import ADULT, Figure, check_adult

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
from foreknow.evaluation import adult, random_items, random_knowledge
from foreknow.models import Linking, Release, UniformPrior, View


def diversity(linking: Linking) -> Requirement:
    """QS diversity with the paper's default settings."""
    return QSDiversity(1, 30, linking)


def closeness(linking: Linking) -> Requirement:
    """QS closeness with the paper's default setting."""
    return QSCloseness(0.4, linking)


def grouped(items: int, k: int) -> tuple[Release, View, Linking]:
    """Groups of 3,000 records of Adult, with 9 items each out of ``items``, and 3,000 labels."""
    check_adult()
    view, linking = subject(items)
    return publish([view], Mondrian(KAnonymity(k)), rng=np.random.default_rng(1))[0], view, linking


def linking_and_checking(items: int, k: int, asked: Callable[[Linking], Requirement]) -> Callable[[], object]:
    """Work from the table to the level of every group."""
    release, view, linking = grouped(items, k)
    prior = UniformPrior()(view.people)

    def work() -> object:
        bound = asked(linking).bind(view, prior)
        return bound.level(summarize_groups(summarize_records(view, prior, members=True), release.group))

    return work


def linking_the_census() -> Callable[[], object]:
    """Work of linking all records of Adult, with 300 items."""
    check_adult()
    rng = np.random.default_rng(2010)
    view = random_items(adult(ADULT, "salary-class", ("age", "sex"))[0], vocabulary=300, rng=rng)
    linking = Linking(random_knowledge(vocabulary=300, rng=rng), "items")
    return lambda: linking(view)


def first_solution(items: int, k: int, make: Callable[[Linking], Requirement]) -> Callable[[], float]:
    """Seconds to the first solution of the median group that fails; infinite without one.

    The time of linking, of all groups at once, is not counted.
    """
    release, _, linking = grouped(items, k)
    suppression = ItemSuppression(make(linking))

    def work() -> float:
        groups = suppression(release).groups
        failing = groups[~groups["satisfied"]]
        return float(failing["first_seconds"].fillna(np.inf).median())

    return work


REQUIREMENTS: dict[str, Callable[[Linking], Requirement]] = {
    "QSDiversity(1, 30)": diversity,
    "QSCloseness(.4)": closeness,
}

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
