"""Groupings, generalized labels, and releases."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, ObjectArray, object_array
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.html_tables import html_table
from foreknow.models.settings import as_generator, as_integers, as_list, check_flag, check_kind, check_shape
from foreknow.models.tables.people import Observation, People
from foreknow.models.tables.schema import Categorical, Schema
from foreknow.models.tables.view import View
from foreknow.models.tables.view_files import as_saved, read_views, write_views


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Grouping:
    """Partition of a view's records into groups, with the changes made to them.

    Parameters
    ----------
    labels : int array, shape (n,)
        The group of each record, any non-negative number; -1 if the record is suppressed.
    values : int array, shape (n,), optional
        The published sensitive codes, if the defense distorts values; the true codes otherwise.
    counterfeits : int array, shape (c, 2) or (c, 3), optional
        Invented records: the label of a group and a sensitive code each, and the row in ``places`` of the respondent whose place
        the record carries on; -1 for none, which is also meant by two columns. Kept in three columns.
    notes : tuple of str
        Notes on relaxed requirements, suppressed records and other limits that were met.
    bucketized : bool
        True if quasi-identifiers are published unchanged and only the link within each group is broken (Anatomy); otherwise
        they are generalized.
    places : People, optional
        Respondents without a record in the view whose places invented records carry on (ghosts). It is public who they are.

    Raises
    ------
    TypeError
        If an array does not hold numbers, the notes are one text, or ``bucketized`` is not True or False.
    ValueError
        If a label is not an integer of at least -1, an array has the wrong shape, a counterfeit that carries on no place is in a
        group without a record, or a place is not carried on by one counterfeit.

    Notes
    -----
    Sensitive codes are compared with the domain by `Release`.

    Examples
    --------
    >>> grouping = Grouping([7, 7, -1, 3], notes=["1 record suppressed"])
    >>> grouping.labels, grouping.notes
    (array([ 7,  7, -1,  3]), ('1 record suppressed',))
    """

    labels: IntArray
    values: IntArray | None = None
    counterfeits: IntArray | None = None
    notes: tuple[str, ...] = ()
    bucketized: bool = False
    places: People | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        labels = as_integers(
            "the labels of a grouping", self.labels, (None,), "one label per record, from -1 (suppressed) on"
        )
        if (labels < -1).any():
            raise ValueError(
                f"the labels of a grouping are integers from -1 (suppressed) on, one per record; the smallest is {labels.min()}."
            )
        values, takes = self.values, f"one sensitive code for each of the {len(labels)} records"
        if values is not None:
            values = as_integers("the published values of a grouping", values, (len(labels),), takes)
        check_kind("Grouping", "places", self.places, (People, type(None)), "is People, the respondents of ghosts")
        carried = 0 if self.places is None else len(self.places)
        counterfeits = self.counterfeits
        if counterfeits is not None or carried:
            counterfeits = _counterfeits(counterfeits, labels, carried)
        if self.places is not None:
            object.__setattr__(self, "places", replace(self.places, time=None) if carried else None)
        notes = as_list("Grouping", "notes", self.notes, "is a list of texts, as ['3 records suppressed']")
        check_flag("Grouping", "bucketized", self.bucketized)
        set_fields(self, labels=labels, values=values, counterfeits=counterfeits, notes=tuple(notes))

    @property
    def names(self) -> IntArray:
        """Labels of the groups, in increasing order: int array, shape ``(g,)``. A group may consist of ghosts alone."""
        invented = self.labels[:0] if self.counterfeits is None else self.counterfeits[:, 0]
        return np.unique(np.concatenate([self.labels[self.labels >= 0], invented]))

    def in_rows(self, rows: IntArray) -> "Grouping":
        """Return the grouping of the records in another order: record i of the result is record ``rows[i]`` of this one.

        Parameters
        ----------
        rows : int array
            Row numbers, 0 to n - 1.
        """
        return replace(self, labels=self.labels[rows], values=None if self.values is None else self.values[rows])

    def renumbered(self, rng: "np.random.Generator | int") -> "Grouping":
        """Return the same groups, numbered 0 to g - 1 in a random order; suppressed records stay at -1.

        Parameters
        ----------
        rng : numpy.random.Generator or int
            A random generator, or a seed.
        """
        rng = as_generator("Grouping.renumbered", rng)
        old = self.names
        new = np.append(rng.permutation(len(old)), -1)
        labels = new[np.where(self.labels >= 0, np.searchsorted(old, self.labels), -1)]
        if self.counterfeits is None:
            return replace(self, labels=labels)
        groups = new[np.searchsorted(old, self.counterfeits[:, 0])]
        counterfeits = np.column_stack([groups, self.counterfeits[:, 1:]])
        return replace(self, labels=labels, counterfeits=counterfeits[np.lexsort(counterfeits.T[::-1])])


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
        kept, names = decided.labels >= 0, decided.names
        group = np.full(len(view), -1, dtype=np.int64)
        group[kept] = np.searchsorted(names, decided.labels[kept])
        set_fields(self, view=view, grouping=decided, group=group, counts=_counts(view, decided, group, names))

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
        rest: dict[str, Any] = {"notes": made.notes, "bucketized": made.bucketized}
        if made.places is not None:
            rest["places"] = (made.places.respondents.tolist(), made.places.quasi_identifiers.tolist())
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
            if "places" in content:
                respondents, codes = content["places"]
                codes = np.array(codes).reshape(len(respondents), -1)
                made["places"] = People(object_array(respondents), codes, view.schema)
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

    @cached_property
    def observation(self) -> Observation:
        """The release as the worst-case adversary sees it."""
        kept, true = self.group >= 0, self.view.sensitive
        published = true if self.grouping.values is None else self.grouping.values
        distorted = kept & (published != true)
        vanished = self.counts[self.group[distorted], true[distorted]] == 0
        numbers = int(distorted.sum()), int(vanished.sum())
        ghosts, ghost_group, _ = self.ghosts
        return Observation(
            self.view.people, self.group, self.counts, self.time, *numbers, ghosts=ghosts, ghost_group=ghost_group
        )

    @property
    def ghosts(self) -> "tuple[People | None, IntArray, IntArray]":
        """Respondents whose places invented records carry on, and the group and the sensitive code of each of these records."""
        made = self.grouping
        if made.places is None or made.counterfeits is None:
            return None, *np.zeros((2, 0), dtype=np.int64)
        rows = np.argsort(made.counterfeits[:, 2])[-len(made.places) :]
        return made.places, np.searchsorted(made.names, made.counterfeits[rows, 0]), made.counterfeits[rows, 1]

    @property
    def ghost_counts(self) -> IntArray:
        """Number of ghosts in each group: int array, shape ``(g,)``. It is public, a function of who is listed."""
        return np.bincount(self.ghosts[1], minlength=self.groups)

    @property
    def everyone(self) -> "tuple[People, IntArray]":
        """Respondents of the view and those whose places are carried on, and the group of each; -1 if suppressed."""
        seen = self.observation.with_ghosts
        return seen.people, seen.group

    @property
    def unlabeled(self) -> "UnlabeledObservation":
        """The release as seen by an adversary who knows the quasi-identifiers of all respondents, and not their groups.

        Raises
        ------
        ValueError
            If the release shows exact quasi-identifiers (it is bucketized), or counterfeits.
        """
        made = self.grouping
        invented = made.counterfeits is not None and len(made.counterfeits) > 0
        if made.bucketized or invented:
            found = "exact quasi-identifiers" if made.bucketized else "counterfeits"
            raise ValueError(
                f"the release at {self.time!r} shows {found}; membership is read of generalized quasi-identifiers without "
                'counterfeits alone. Leave it out: adversary.without("membership").'
            )
        hull, seen = published_hulls(self), self.observation
        return UnlabeledObservation(seen.people, hull.low, hull.high, self.counts, self.time, seen.distorted)

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
        people, group = self.everyone
        kept = np.flatnonzero(group >= 0)
        order = kept[np.lexsort((*people.quasi_identifiers[kept].T[::-1], group[kept]))]
        cells = {
            name: _whole(column.to_numpy()) if column.dtype == np.float64 else column.tolist()
            for name, column in people[order].frame.items()
        }
        return pd.DataFrame({"group": group[order]} | cells)

    def _generalized_identifiers(self) -> pd.DataFrame:
        """Each group and its generalized quasi-identifiers."""
        published = published_labels(*self.everyone, self.groups) if self.groups else {}
        columns: dict[str, Any] = {name: published.get(name, []) for name in self.view.schema.quasi_identifiers}
        return pd.DataFrame({"group": np.arange(self.groups), **columns})


def _whole(numbers: FloatArray) -> "IntArray | FloatArray":
    """Numbers as integers if all of them are whole."""
    return numbers.astype(np.int64) if (numbers == np.floor(numbers)).all() else numbers


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
    counterfeits = np.zeros((0, 3), dtype=np.int64) if grouping.counterfeits is None else grouping.counterfeits
    codes = np.concatenate([values[kept], counterfeits[:, 1]])
    rows = np.concatenate([group[kept], np.searchsorted(names, counterfeits[:, 0])])
    if codes.size and not (codes.min() >= 0 and codes.max() < m):
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise ValueError(f"a published value has code {wrong}; the domain has codes 0 to {m - 1}.")
    return np.bincount(rows * m + codes, minlength=len(names) * m).reshape(len(names), m).astype(np.int64)


def _counterfeits(counterfeits: IntArray | None, labels: IntArray, places: int) -> IntArray:
    """The counterfeits as an array of shape ``(c, 3)``, each in a group that has a record, or carrying on a place."""
    listed = counterfeits.tolist() if isinstance(counterfeits, np.ndarray) else counterfeits
    rows = np.zeros((0, 3), dtype=np.int64)
    if listed is not None and not (isinstance(listed, list) and not listed):
        takes = "one row per invented record: the label of its group, its sensitive code, and the row of its place, -1 for none"
        rows = as_integers("the counterfeits of a grouping", counterfeits, (None, None), takes)
        if rows.shape[1] == 2:
            rows = np.column_stack([rows, np.full(len(rows), -1)])
        check_shape("the counterfeits of a grouping", rows, (len(rows), 3), takes)
    place = rows[:, 2]
    empty = np.setdiff1d(rows[place < 0, 0], labels[labels >= 0])
    if len(empty):
        raise ValueError(f"a counterfeit is in group {empty[0]}, which has no record; use the label of a group.")
    if (rows[:, 0] < 0).any():
        raise ValueError(f"a counterfeit is in group {rows[:, 0].min()}; labels of groups are 0 or more.")
    if not np.array_equal(np.sort(place[place >= 0]), np.arange(places)) or place.min(initial=0) < -1:
        raise ValueError(
            f"the counterfeits of a grouping carry on the places {np.sort(place[place >= 0]).tolist()}, and there are {places}; "
            "each row of places is carried on by one counterfeit, and -1 stands for none."
        )
    return rows


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Hulls:
    """The smallest and the largest code of each group in each quasi-identifier."""

    low: FloatArray  # (g, d)
    high: FloatArray  # (g, d)


@equal_by_fields
@dataclass(frozen=True, eq=False)
class UnlabeledObservation:
    """A release without the groups of its respondents: their quasi-identifiers, and what each group shows.

    Attributes
    ----------
    people : People
        The n respondents of the view, suppressed ones included.
    low, high : float array, shape (g, d)
        First and last code that each group shows in each quasi-identifier; of a category, those under the label.
    counts : int array, shape (g, m)
        The number of records of each sensitive value in each group.
    time : optional
        The time of the release.
    distorted : int
        Number of records published with another value than the true one.
    """

    people: People
    low: FloatArray
    high: FloatArray
    counts: IntArray
    time: Any = 0
    distorted: int = 0

    @property
    def fits(self) -> BoolArray:
        """True where the quasi-identifiers of a respondent lie within what a group shows: shape ``(n, g)``. Cost: O(n g d)."""
        found = np.ones((len(self.people), len(self.counts)), dtype=np.bool_)
        for codes, low, high in zip(self.people.quasi_identifiers.T, self.low.T, self.high.T, strict=True):
            found &= (codes[:, None] >= low) & (codes[:, None] <= high)
        return found

    @property
    def withheld(self) -> int:
        """Number of respondents without a published record."""
        return len(self.people) - int(self.counts.sum())


def hulls(people: People, group: IntArray, groups: int) -> Hulls:
    """Return the interval hull of each group; groups are 0 to ``groups - 1`` and each has a member. Cost: O(n d)."""
    members, starts = _by_group(group, groups)
    codes = people.quasi_identifiers[members]
    return Hulls(np.minimum.reduceat(codes, starts, axis=0), np.maximum.reduceat(codes, starts, axis=0))


def published_hulls(release: Release) -> Hulls:
    """Lowest and highest code of what each group of a generalized release publishes.

    They are the ends of a number's interval, and the first and the last value under a categorical attribute's label: codes are in
    the order of the hierarchy's traversal.
    """
    d = len(release.view.schema.quasi_identifiers)
    if not release.groups:
        return Hulls(np.zeros((0, d)), np.zeros((0, d)))
    people, group = release.everyone
    hull = hulls(people, group, release.groups)
    for a, kind in enumerate(people.schema.quasi_identifiers.values()):
        if isinstance(kind, Categorical):
            level = common_level(kind, people.quasi_identifiers[:, a], group, release.groups)
            first, last = _label_ranges(kind)
            code = hull.low[:, a].astype(np.int64)
            hull.low[:, a], hull.high[:, a] = first[level, code], last[level, code]
    return hull


def _label_ranges(kind: Categorical) -> tuple[IntArray, IntArray]:
    """First and last code under a value's label at each level: two int arrays, shape ``(height + 1, v)``."""
    # Codes are in the order of the tree's traversal, so the values under one label are consecutive.
    levels = kind.tree.levels()
    first, last = np.zeros_like(levels), np.zeros_like(levels)
    for level, labels in enumerate(levels):
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        sizes = np.diff(starts, append=len(labels))
        first[level], last[level] = np.repeat(starts, sizes), np.repeat(starts + sizes - 1, sizes)
    return first, last


def published_labels(people: People, group: IntArray, groups: int) -> dict[str, ObjectArray]:
    """Return the published label of each group in each quasi-identifier, by attribute: object arrays, shape ``(g,)``.

    A number is published as the tight interval ``[low,high]``, or as the number itself if all members agree. A categorical
    value is published as the label of the lowest common ancestor in its hierarchy, which is ``*`` without a hierarchy.
    """
    hull = hulls(people, group, groups)
    published: dict[str, ObjectArray] = {}
    for a, (name, kind) in enumerate(people.schema.quasi_identifiers.items()):
        if isinstance(kind, Categorical):
            texts = _common_ancestors(kind, people.quasi_identifiers[:, a], group, groups)
        else:
            texts = [_interval(low, high) for low, high in zip(hull.low[:, a], hull.high[:, a], strict=True)]
        published[name] = object_array(texts)
    return published


def common_level(kind: Categorical, codes: FloatArray, group: IntArray, groups: int) -> IntArray:
    """Return the lowest generalization level at which each group's members have one label: int array, shape ``(g,)``."""
    members, starts = _by_group(group, groups)
    labels = kind.tree.levels()[:, codes[members].astype(np.int64)]
    is_shared = np.minimum.reduceat(labels, starts, axis=1) == np.maximum.reduceat(labels, starts, axis=1)
    return np.asarray(is_shared.argmax(axis=0), dtype=np.int64)


def _by_group(group: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The rows of group members, sorted by group, and the position at which each group starts."""
    kept = np.flatnonzero(group >= 0)
    members = kept[np.argsort(group[kept], kind="stable")]
    return members, np.searchsorted(group[members], np.arange(groups))


def _common_ancestors(kind: Categorical, codes: FloatArray, group: IntArray, groups: int) -> list[object]:
    """The label of the lowest common ancestor of each group's members."""
    tree = kind.tree
    level = common_level(kind, codes, group, groups)
    member = np.zeros(groups, dtype=np.int64)
    kept = group >= 0
    # Any member serves: at the common level all members of a group have one label.
    member[group[kept]] = codes[kept].astype(np.int64)
    return [kind.values[leaf] if step == 0 else tree.rows[leaf][step] for leaf, step in zip(member, level, strict=True)]


def _interval(low: float, high: float) -> str:
    return number_text(low) if low == high else f"[{number_text(low)},{number_text(high)}]"


def number_text(number: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e16 else repr(float(number))
