"""Checks of what measures take, and the table that they return: one row per release."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.attacks import LabelBeliefs
from foreknow.models import Beliefs, History, ItemRelease, Observation, PublishedTable, Release, View

ITEM_RELEASES = "make each an ItemRelease(release, linking, items), or take the `release` of a SuppressedItems"
"""Way to releases that show items, in an error message."""


def check_releases[R](owner: str, releases: Iterable[R], kind: type = Release) -> tuple[R, ...]:
    """Return the releases that a measure was given as a tuple.

    Parameters
    ----------
    owner : str
        The measure.
    releases : iterable of Release
    kind : type
        The type of each release: `Release` or `ItemRelease`.

    Raises
    ------
    TypeError
        If ``releases`` is one release, or an element is not of the type; the message names the way to releases.
    """
    if not np.iterable(releases):
        one = "one" if isinstance(releases, kind) else "a"
        way = ITEM_RELEASES if kind is ItemRelease else _way_to_releases(releases)
        way = "put it into a list" if isinstance(releases, kind) else way
        raise TypeError(f"{owner} takes several releases, and got {one} {type(releases).__name__}; {way}.")
    # A DataFrame iterates over its column names; the error names the DataFrame, not a column.
    listed: tuple[Any, ...] = (releases,) if isinstance(releases, pd.DataFrame) else tuple(releases)
    for each in listed:
        if not isinstance(each, kind):
            held = "" if each is releases else f" that holds {_with_article(each)}"
            raise TypeError(
                f"{owner} takes several releases, each of the type {kind.__name__}, and got {_with_article(releases)}{held}; "
                f"{ITEM_RELEASES if kind is ItemRelease else _way_to_releases(each)}."
            )
    return listed


def check_beliefs(owner: str, beliefs: Any) -> None:
    """Raise TypeError unless beliefs are those that an attack returns."""
    if isinstance(beliefs, Beliefs):
        return
    way = "attack the releases, as SnapshotAttack(adversary)(releases)"
    if isinstance(beliefs, LabelBeliefs):
        way = "LabelBeliefs are about labels, not sensitive values: use label_disclosure"
    raise TypeError(
        f"{owner}: beliefs is a {type(beliefs).__name__}; it takes the Beliefs that an attack returns; {way}."
    )


def check_history(history: Any) -> None:
    """Raise TypeError unless a history of original records is one."""
    if isinstance(history, History):
        return
    held = next(iter(history), None) if isinstance(history, list | tuple | Beliefs) else None
    shown = f"a {type(history).__name__}" + ("" if held is None else f" that holds a {type(held).__name__}")
    way = "make one, as History(views)" if isinstance(held, View) else "pass the History that was published"
    raise TypeError(f"beliefs are measured against the original records, a History, and got {shown}; {way}.")


def check_influence(owner: str, graph: Any) -> None:
    """Raise TypeError or ValueError unless a graph is one that `foreknow.attacks.Influence` returns."""
    import networkx as nx

    if not isinstance(graph, nx.DiGraph):
        raise TypeError(
            f"{owner}: graph is a {type(graph).__name__}; it takes the directed graph that an Influence returns, as "
            "Influence(adversary)(releases, respondent, value, time)."
        )
    wanted = {"bits", "distance", "release"}
    places = graph.nodes(data=True)
    if not places or not all(
        isinstance(place, tuple) and len(place) == 2 and wanted <= set(data) for place, data in places
    ):
        raise ValueError(
            f"{owner}: the graph of {len(graph)} nodes is no graph of influence, whose nodes are pairs (respondent, time) with "
            "the attributes bits, distance and release; give the one that an Influence returns."
        )


def _way_to_releases(given: object) -> str:
    """The way from something that is no release to releases."""
    if isinstance(given, View | History):
        return "publish the views first, as publish(history, defense), or make a Release(view, labels)"
    if isinstance(given, Beliefs | LabelBeliefs):
        return "pass the releases that were attacked, not the beliefs"
    if isinstance(given, pd.DataFrame | PublishedTable | Observation):
        return "a measure reads the original records too: make a Release(view, labels)"
    return "publish views, as publish(history, defense), or make each a Release(view, labels)"


def _with_article(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def release_table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Table of one row per release, with the same columns where there is no release."""
    listed = list(rows)
    return pd.DataFrame(listed) if listed else pd.DataFrame(columns=pd.Index(columns))
