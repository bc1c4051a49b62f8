"""What is published at one time, and what the worst-case adversary holds of it."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.problem import Problem
from foreknow.models.tables.generalization import labels
from foreknow.models.tables.grouping import Grouping
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Schema
from foreknow.models.tables.view import View


@dataclass(frozen=True, eq=False)
class Observation:
    """A release as the worst-case adversary sees it: who is in each group, and each group's values, not the link.

    Parameters
    ----------
    people : People
        Everybody whose record was taken, suppressed ones included. Their ``time`` becomes that of the release.
    group : int array, shape (n,)
        Each person's group, 0 to g - 1; -1 for those who are not published.
    counts : int array, shape (g, m)
        How often each value was published in each group. Where a group shows more values than it has people, the rest
        are counterfeits.
    time : optional
        When it was published.
    distorted : int
        Number of people who are published with another value than their own.
    vanished : int
        Number of them whose own value their group does not show.

    Notes
    -----
    The two numbers are of the whole release, and say of no respondent or group more than of another.
    """

    people: People
    group: IntArray
    counts: IntArray
    time: Any = 0
    distorted: int = 0
    vanished: int = 0

    def __post_init__(self) -> None:
        if self.people.time != self.time:
            object.__setattr__(self, "people", replace(self.people, time=self.time))

    def problem(self, prior: FloatArray) -> Problem:
        """The estimation problem under a prior of shape ``(n, m)``, as if no value were distorted.

        Counterfeits become respondents after the n people, with uniform rows. `Adversary.weigh` reads neither as they stand here.
        """
        groups, m = self.counts.shape
        invented = self.counts.sum(axis=1) - np.bincount(self.group[self.group >= 0], minlength=groups)
        if not invented.any():
            return Problem(prior, self.group, self.counts)
        strangers = np.repeat(np.arange(groups), invented)
        rows = np.full((len(strangers), m), 1.0 / m)
        return Problem(np.vstack([prior, rows]), np.concatenate([self.group, strangers]), self.counts)


@dataclass(frozen=True, eq=False)
class Release:
    """A view, and how it is published.

    Parameters
    ----------
    view : View
        The original records.
    grouping : Grouping or int array
        What the defense decided, or just its labels.

    Attributes
    ----------
    group : int array, shape (n,)
        The labels as consecutive numbers 0 to g - 1; -1 where suppressed.
    counts : int array, shape (g, m)
        The published multiset of each group, counterfeits included.

    Raises
    ------
    ValueError
        If there is not one label per record, or a published value is not in the domain.
    """

    view: View
    grouping: Grouping
    group: IntArray = field(init=False)
    counts: IntArray = field(init=False)

    def __init__(self, view: View, grouping: Grouping | ArrayLike) -> None:
        decided = grouping if isinstance(grouping, Grouping) else Grouping(np.asarray(grouping))
        if len(decided.labels) != len(view):
            raise ValueError(
                f"the grouping has {len(decided.labels)} labels and the view at {view.time!r} {len(view)} records; give "
                "one label per record, in the view's order, -1 for a suppressed one."
            )
        kept = decided.labels >= 0
        names, consecutive = np.unique(decided.labels[kept], return_inverse=True)
        group = np.full(len(view), -1, dtype=np.int64)
        group[kept] = consecutive
        object.__setattr__(self, "view", view)
        object.__setattr__(self, "grouping", decided)
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "counts", _counts(view, decided, group, names))

    def __repr__(self) -> str:
        return f"Release(time={self.time!r}, groups={self.groups}, suppressed={int((self.group < 0).sum())})"

    @property
    def time(self) -> Any:
        """The view's time."""
        return self.view.time

    @property
    def groups(self) -> int:
        """Number of published groups."""
        return len(self.counts)

    @property
    def observation(self) -> Observation:
        """The release as the worst-case adversary sees it."""
        kept, true = self.group >= 0, self.view.sensitive
        shown = true if self.grouping.values is None else self.grouping.values
        other = kept & (shown != true)
        vanished = self.counts[self.group[other], true[other]] == 0
        return Observation(self.view.people, self.group, self.counts, self.time, int(other.sum()), int(vanished.sum()))

    @property
    def table(self) -> pd.DataFrame:
        """The published table: the group, its generalized quasi-identifiers, and one row per published value.

        There is no respondent, and suppressed records are not there. Within a group the rows stand in the order of the
        sensitive domain: a random order can be undone by whoever learns its seed, this one says nothing. Of a bucketized
        release, the exact quasi-identifiers of a group are sorted on their own and its sensitive values on theirs; that
        they share a row means nothing, and the rows of counterfeits have no quasi-identifiers.
        """
        identifiers, schema = self.tables[0], self.view.schema
        group, value = np.nonzero(self.counts)
        times = self.counts[group, value]
        rows = np.repeat(group, times)
        if self.bucketized:
            firsts, sizes = np.searchsorted(rows, rows), np.bincount(identifiers["group"], minlength=self.groups)
            place = np.arange(len(rows)) - firsts
            known = place < sizes[rows]
            shown = identifiers if known.all() else identifiers.astype(object)
            starts = np.cumsum(sizes) - sizes
            table = shown.reindex(np.where(known, starts[rows] + place, -1)).reset_index(drop=True)
        else:
            table = identifiers.iloc[rows].reset_index(drop=True)
        table["group"] = rows
        table[schema.sensitive] = _cells(schema, np.repeat(value, times))
        return table

    @property
    def bucketized(self) -> bool:
        """Whether the quasi-identifiers are published as they are."""
        return self.grouping.bucketized

    @property
    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The same as two tables, as Anatomy publishes them: quasi-identifiers by group, and sensitive values by group.

        Returns
        -------
        identifiers : DataFrame
            ``group`` and the quasi-identifiers. Generalized, one row per group; bucketized, one per record, sorted.
        sensitive : DataFrame
            ``group``, the sensitive attribute and ``count``: one row per group and value it shows.
        """
        schema, people = self.view.schema, self.view.people
        if self.bucketized:
            kept = np.flatnonzero(self.group >= 0)
            order = kept[np.lexsort((*people.quasi_identifiers[kept].T[::-1], self.group[kept]))]
            identifiers = self.view.frame.iloc[order][list(schema.quasi_identifiers)].reset_index(drop=True)
            identifiers.insert(0, "group", self.group[order])
        else:
            published = labels(people, self.group, self.groups) if self.groups else {}
            columns: dict[str, Any] = {name: published.get(name, []) for name in schema.quasi_identifiers}
            identifiers = pd.DataFrame({"group": np.arange(self.groups), **columns})
        group, value = np.nonzero(self.counts)
        shown = _cells(schema, value)
        return identifiers, pd.DataFrame({"group": group, schema.sensitive: shown, "count": self.counts[group, value]})


def _cells(schema: Schema, codes: IntArray) -> "pd.Series[Any]":
    """Sensitive values as a column; values of several types stay what they are, as 1 beside 0.5."""
    cells = [schema.values[code] for code in codes]
    return pd.Series(cells, dtype=None if len(set(map(type, schema.values))) == 1 else object)


def _counts(view: View, grouping: Grouping, group: IntArray, names: IntArray) -> IntArray:
    m = len(view.schema.values)
    values = view.sensitive if grouping.values is None else grouping.values
    kept = group >= 0
    invented = np.zeros((0, 2), dtype=np.int64) if grouping.counterfeits is None else grouping.counterfeits
    codes = np.concatenate([values[kept], invented[:, 1]])
    rows = np.concatenate([group[kept], np.searchsorted(names, invented[:, 0])])
    if codes.size and not (codes.min() >= 0 and codes.max() < m):
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise ValueError(f"a published value has code {wrong}; the domain has codes 0 to {m - 1}.")
    return np.bincount(rows * m + codes, minlength=len(names) * m).reshape(len(names), m).astype(np.int64)
