"""Releases: views as they are published."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.models.arrays import IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.html_tables import html_table
from foreknow.models.settings import check_kind
from foreknow.models.tables.files.view_files import as_saved, read_views, write_views
from foreknow.models.tables.generalization import exact_cells, published_labels
from foreknow.models.tables.grouping import Grouping
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.schema import Schema
from foreknow.models.tables.view import View


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Release:
    """A view and its grouping: what is published at one time.

    Parameters
    ----------
    view : View
        The original records.
    grouping : Grouping or int array, shape (n,)
        The decision of a defense, or only its labels.

    Attributes
    ----------
    group : int array, shape (n,)
        The labels as consecutive numbers 0 to g - 1, in increasing order of the labels; -1 if suppressed.
    counts : int array, shape (g, m)
        The published multiset of each group: the number of records of each value, counterfeits included.

    Raises
    ------
    TypeError
        If the view is not a `View`, or the grouping is neither a `Grouping` nor an array of integers.
    ValueError
        If the number of labels is not the number of records, or a published value is not in the domain.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": ["Ann", "Bob"], "age": [31, 45], "result": ["b", "a"]})
    >>> Release(View(frame, Schema.infer(frame, ["age"])), [0, 0]).table
       group      age result
    0      0  [31,45]      a
    1      0  [31,45]      b
    """

    view: View
    grouping: Grouping
    group: IntArray = field(init=False)
    counts: IntArray = field(init=False)

    def __init__(self, view: View, grouping: Grouping | ArrayLike) -> None:
        check_kind("Release", "view", view, View, "is a View, as View(frame, schema, time) or history[0]")
        decided = grouping if isinstance(grouping, Grouping) else Grouping(grouping)  # type: ignore[arg-type]
        if len(decided.labels) != len(view):
            raise ValueError(
                f"the grouping has {len(decided.labels)} labels and the view at {view.time!r} has {len(view)} records; give "
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

    def _repr_html_(self) -> str:
        facts = {
            "time": self.time,
            "records": len(self.view),
            "suppressed": int((self.group < 0).sum()),
            "groups": self.groups,
        }
        facts |= {"bucketized": "yes"} if self.bucketized else {}
        sizes = self.counts.sum(axis=1)
        facts |= {"group sizes": f"{sizes.min()} to {sizes.max()}"} if self.groups else {}
        return html_table("Release", facts, notes=self.grouping.notes)

    def save(self, path: "str | Path", *, overwrite: bool = False) -> None:
        """Write the original records and their grouping to a Parquet file, which `load` reads.

        The column ``foreknow:label`` has the group of each record, ``foreknow:value`` the published sensitive code where a defense
        distorts values. The file is for the publisher: it holds respondents and true values, and only its owner can read it;
        ``table`` is what is published. It is written completely or not at all. Cost: O(n d).

        Parameters
        ----------
        path : path
            A name that ends in ``.parquet``.
        overwrite : bool
            True to replace an earlier file.

        Raises
        ------
        ValueError
            As `History.save` does.
        """
        made = self.grouping
        columns = {"label": made.labels.tolist()} | ({} if made.values is None else {"value": made.values.tolist()})
        rest = {"notes": made.notes, "bucketized": made.bucketized}
        counterfeits = None if made.counterfeits is None else made.counterfeits.tolist()
        write_views("Release.save", path, [self.view], overwrite, columns, counterfeits=counterfeits, **rest)

    @classmethod
    def load(cls, path: "str | Path") -> "Release":
        """Read the release that `save` wrote, equal to what it was.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file holds something else.
        """
        views, content, columns = read_views("Release.load", path)
        with as_saved("Release.load", path):
            (view,) = views
            made = {name: content[name] for name in ("counterfeits", "notes", "bucketized")}
            return cls(view, Grouping(columns["label"], columns.get("value"), **made))  # type: ignore[arg-type]

    @property
    def time(self) -> Any:
        """The time of the view."""
        return self.view.time

    @property
    def groups(self) -> int:
        """Number of published groups."""
        return len(self.counts)

    @property
    def bucketized(self) -> bool:
        """True if the quasi-identifiers are published unchanged."""
        return self.grouping.bucketized

    @property
    def observation(self) -> Observation:
        """The release as the worst-case adversary sees it."""
        kept, true = self.group >= 0, self.view.sensitive
        published = true if self.grouping.values is None else self.grouping.values
        distorted = kept & (published != true)
        vanished = self.counts[self.group[distorted], true[distorted]] == 0
        return Observation(
            self.view.people, self.group, self.counts, self.time, int(distorted.sum()), int(vanished.sum())
        )

    @property
    def table(self) -> pd.DataFrame:
        """The published table: one row per published value, with its group and quasi-identifiers.

        The table holds no respondent and no suppressed record. Rows of a group stand in the order of the sensitive domain: a
        random order can be undone with its seed, this order carries no information. In a bucketized release the exact
        quasi-identifiers of a group are sorted, and its sensitive values are sorted separately, so that a shared row links
        nothing; rows of counterfeits have no quasi-identifiers.
        """
        identifiers, schema = self.tables[0], self.view.schema
        group, value = np.nonzero(self.counts)
        multiplicity = self.counts[group, value]
        rows = np.repeat(group, multiplicity)
        table = self._bucket_rows(identifiers, rows) if self.bucketized else identifiers.iloc[rows]
        table = table.reset_index(drop=True)
        table["group"] = rows
        table[schema.sensitive] = _cells(schema, np.repeat(value, multiplicity))
        return table

    def _bucket_rows(self, identifiers: pd.DataFrame, rows: IntArray) -> pd.DataFrame:
        """The exact quasi-identifiers of each group, followed by missing rows for its counterfeits."""
        sizes = np.bincount(identifiers["group"], minlength=self.groups)
        position = np.arange(len(rows)) - np.searchsorted(rows, rows)
        known = position < sizes[rows]
        shown = identifiers if known.all() else identifiers.astype(object)
        starts = np.cumsum(sizes) - sizes
        return shown.reindex(np.where(known, starts[rows] + position, -1))

    @property
    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The release as the two tables of Anatomy (Xiao, Tao 2006): quasi-identifiers and sensitive values by group.

        Returns
        -------
        identifiers : DataFrame
            ``group`` and the quasi-identifiers. Generalized: one row per group. Bucketized: one row per record, sorted.
        values : DataFrame
            ``group``, the sensitive attribute and ``count``: one row per group and value that it shows.
        """
        group, value = np.nonzero(self.counts)
        name, cells = self.view.schema.sensitive, _cells(self.view.schema, value)
        values = pd.DataFrame({"group": group, name: cells, "count": self.counts[group, value]})
        return (self._exact_identifiers() if self.bucketized else self._generalized_identifiers()), values

    def _exact_identifiers(self) -> pd.DataFrame:
        """The group and the exact quasi-identifiers of each published record, sorted.

        They are made from codes: the spelling, types and attributes of the view's columns are those of suppressed records too.
        """
        people = self.view.people
        kept = np.flatnonzero(self.group >= 0)
        order = kept[np.lexsort((*people.quasi_identifiers[kept].T[::-1], self.group[kept]))]
        cells = exact_cells(people, order)
        return pd.DataFrame({"group": self.group[order], **cells})

    def _generalized_identifiers(self) -> pd.DataFrame:
        """Each group and its generalized quasi-identifiers."""
        published = published_labels(self.view.people, self.group, self.groups) if self.groups else {}
        columns: dict[str, Any] = {name: published.get(name, []) for name in self.view.schema.quasi_identifiers}
        return pd.DataFrame({"group": np.arange(self.groups), **columns})


def _cells(schema: Schema, codes: IntArray) -> "pd.Series[Any]":
    """Sensitive values as a column; values of several types keep theirs, as 1 beside 0.5."""
    shown, position = np.unique(codes, return_inverse=True)
    cells = [schema.values[code] for code in shown]
    column = pd.Series(cells, dtype=None if len(set(map(type, cells))) == 1 else object)
    return column.take(position).reset_index(drop=True)


def _counts(view: View, grouping: Grouping, group: IntArray, names: IntArray) -> IntArray:
    """The multiset of each group; raises ValueError if a published code is not in the domain."""
    m = len(view.schema.values)
    values = view.sensitive if grouping.values is None else grouping.values
    kept = group >= 0
    counterfeits = np.zeros((0, 2), dtype=np.int64) if grouping.counterfeits is None else grouping.counterfeits
    codes = np.concatenate([values[kept], counterfeits[:, 1]])
    rows = np.concatenate([group[kept], np.searchsorted(names, counterfeits[:, 0])])
    if codes.size and not (codes.min() >= 0 and codes.max() < m):
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise ValueError(f"a published value has code {wrong}; the domain has codes 0 to {m - 1}.")
    return np.bincount(rows * m + codes, minlength=len(names) * m).reshape(len(names), m).astype(np.int64)
