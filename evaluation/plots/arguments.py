"""Checks of the arguments of plot functions."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from foreknow.models import Beliefs
from foreknow.models.settings import check_kind, shown
from foreknow.models.tables.columns.required_columns import check_columns


def check_text(owner: str, **texts: Any) -> None:
    """Raise TypeError unless arguments are text."""
    for name, text in texts.items():
        check_kind(owner, name, text, str, "is text")


def check_label(owner: str, name: str, label: Any, takes: str) -> None:
    """Raise TypeError unless an argument can be hashed, as a time, a value or a respondent."""
    try:
        hash(label)
    except TypeError:
        raise TypeError(f"{owner}: {name} is {shown(label)}; it {takes}.") from None


def check_titled(owner: str, name: str, titled: Any, kind: type, takes: str) -> None:
    """Raise TypeError unless an argument is a mapping from titles to objects of a type."""
    advice = f'write {{"a title": {name}}}'
    if not isinstance(titled, Mapping):
        raise TypeError(f"{owner} takes a mapping of titles to {name}, and got {type(titled).__name__}; {advice}.")
    for title, value in titled.items():
        check_kind(owner, f"{name}[{title!r}]", value, kind, takes)


def as_titled(owner: str, beliefs: Any) -> dict[str, Beliefs]:
    """Return a mapping of title to beliefs; beliefs alone get an empty title. Raise TypeError or ValueError for anything else."""
    if isinstance(beliefs, Beliefs):
        return {"": beliefs}
    check_titled(owner, "beliefs", beliefs, Beliefs, "is a Beliefs, as an attack returns it")
    if not beliefs:
        raise ValueError(f"{owner}: beliefs is empty; give the beliefs of at least one attack.")
    return dict(beliefs)


def check_table(owner: str, name: str, table: Any, columns: Iterable[str], takes: str) -> None:
    """Raise TypeError or ValueError unless an argument is a DataFrame with some columns, the last of them numeric."""
    check_kind(owner, name, table, pd.DataFrame, takes)
    names = list(columns)
    check_columns(table, names)
    if not pd.api.types.is_numeric_dtype(table[names[-1]]):
        raise ValueError(
            f"{owner}: the column {names[-1]!r} holds {table[names[-1]].dtype} values; a plot shows numbers. Choose another column."
        )
