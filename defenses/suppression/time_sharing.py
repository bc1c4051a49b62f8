"""Searches of many groups within one bound on time: a first solution for each, then as much improvement as there is time for."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from foreknow.defenses.suppression.item_search import ItemSearch, advanced

type Progress = Callable[[list[int]], Iterable[int]]
"""What groups go through while they are searched, as ``rich.progress.track``."""

BETWEEN_LOOKS = 100
"""After how many removals of a group the clock is read."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """The search of one group, and how it went.

    Attributes
    ----------
    search : ItemSearch
    seconds : float
        How long it has been searched.
    first_cost, first_seconds : float
        What its first solution cost, in the units of ``1/w``, and after how long it was found; NaN without one.
    """

    search: ItemSearch
    seconds: float = 0.0
    first_cost: float = np.nan
    first_seconds: float = np.nan

    def done(self, nodes: float, first: bool) -> bool:
        """Whether nothing is to be done: all is searched, as much is examined as may be, or one solution is wanted and found."""
        search = self.search
        return search.finished or search.examined >= nodes or (first and search.best is not None)


def share_time(
    attempts: Mapping[int, Attempt], until: float, nodes: float, first: bool, progress: Progress
) -> dict[int, Attempt]:
    """The attempts at all groups after they were gone on with, to a first solution or beyond.

    Each group gets an equal part of the time left, and what it does not use goes to those after it; what all leave is shared
    out again.

    Parameters
    ----------
    attempts : mapping of group to Attempt
        Spent: they share arrays with those returned.
    until : float
        When to end, by ``time.perf_counter``.
    nodes : float
        How many removals to examine of each group.
    first : bool
        Whether to stop at a group's first solution.
    progress : Progress
        Called once for each round.
    """
    shared = dict(attempts)
    while time.perf_counter() < until and (open_ := [g for g, one in shared.items() if not one.done(nodes, first)]):
        for place, group in enumerate(progress(open_)):
            now = time.perf_counter()
            end = now + (until - now) / (len(open_) - place)
            while time.perf_counter() < end and not shared[group].done(nodes, first):
                shared[group] = _gone_on(shared[group], nodes)
    return shared


def _gone_on(attempt: Attempt, nodes: float) -> Attempt:
    began, before = time.perf_counter(), attempt.search
    more = int(min(BETWEEN_LOOKS, nodes - before.examined))
    search = advanced(before, more, first=before.best is None)
    spent = attempt.seconds + time.perf_counter() - began
    if before.best is None and search.best is not None:
        return Attempt(search, spent, search.lowest, spent)
    return replace(attempt, search=search, seconds=spent)
