"""Checks of what measures take, and the table that they return: one row per release."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models import Beliefs, History, ItemRelease, Release
from foreknow.models.settings import check_kind, is_number


def check_releases[R](owner: str, releases: Iterable[R], kind: type = Release) -> tuple[R, ...]:
    """Releases that a measure was given, as a tuple; raises TypeError unless each is a `Release`, or another kind."""
    # A DataFrame iterates over its column names.
    many = np.iterable(releases) and not isinstance(releases, pd.DataFrame)
    listed: tuple[Any, ...] = tuple(releases) if many else (releases,)
    wrong = [each for each in listed if not isinstance(each, kind)]
    if wrong or not many:
        got = f"a {type(wrong[0]).__name__}" if wrong else f"one {type(releases).__name__}"
        way = "publish views, as publish(history, defense), or make each a Release(view, labels)"
        if kind is ItemRelease:
            way = "make each an ItemRelease(release, linking, items), or take the `release` of a SuppressedItems"
        raise TypeError(f"{owner} takes several releases, and got {got}; {way if wrong else 'put it into a list'}.")
    return listed


def check_beliefs(owner: str, beliefs: Any) -> None:
    """Raise TypeError unless beliefs are those that an attack returns."""
    takes = "takes the Beliefs that an attack returns; attack the releases, as SnapshotAttack(adversary)(releases)"
    check_kind(owner, "beliefs", beliefs, Beliefs, takes)


def check_history(owner: str, history: Any) -> None:
    """Raise TypeError unless a history of original records is one."""
    takes = "takes the original records; make a History, as History(views) or History.read(frame, schema)"
    check_kind(owner, "history", history, History, takes)


def check_least(owner: str, least: Any, most: float = 1) -> None:
    """Raise ValueError unless a lower limit of beliefs is over 0 and at most a number."""
    if not (is_number(least, 0, most) and least > 0):
        raise ValueError(f"{owner}: least is {least!r}; it is a probability over 0 and at most {most:g}.")


def release_table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Table of one row per release, with the same columns where there is no release."""
    listed = list(rows)
    return pd.DataFrame(listed) if listed else pd.DataFrame(columns=pd.Index(columns))
