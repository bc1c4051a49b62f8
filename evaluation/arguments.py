"""Checks of what measures take, and the table that they return: one row per release."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from foreknow.models import Beliefs, History, Release
from foreknow.models.settings import as_list, check_kind, is_number


def check_releases[R](owner: str, releases: Iterable[R], *kinds: type) -> tuple[R, ...]:
    """Releases that a measure was given, as a tuple; raises TypeError unless each is a `Release`, or of other kinds."""
    known = kinds or (Release,)
    takes = f"takes several {' or '.join(kind.__name__ for kind in known)} objects; put a single one into a list"
    listed = tuple(as_list(owner, "releases", releases, takes))
    for each in listed:
        several = "is a release, as publish returns them" if len(known) > 1 else ""
        check_kind(owner, "one of the releases", each, known if several else known[0], several)
    return listed


def check_beliefs(owner: str, beliefs: Any) -> None:
    """Raise TypeError unless beliefs are those that an attack returns."""
    takes = "takes the Beliefs that an attack returns; attack the releases, as SnapshotAttack(adversary)(releases)"
    check_kind(owner, "beliefs", beliefs, Beliefs, takes)


def check_history(owner: str, history: Any) -> None:
    """Raise TypeError unless a history of original records is one."""
    takes = "takes the original records; make a History, as History(views) or History.read(frame, schema)"
    check_kind(owner, "history", history, History, takes)


def check_share(owner: str, name: str, value: Any, most: float = 1) -> None:
    """Raise ValueError unless a probability or a share is over 0 and at most a number."""
    if not (is_number(value, 0, most) and value > 0):
        raise ValueError(f"{owner}: {name} is {value!r}; it is a number over 0 and at most {most:g}.")


def release_table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Table of one row per release, with the same columns where there is no release."""
    listed = list(rows)
    return pd.DataFrame(listed) if listed else pd.DataFrame(columns=pd.Index(columns))
