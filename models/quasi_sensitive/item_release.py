"""A release that shows the items of its records, some of them removed; and the worst-case adversary's observation of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.quasi_sensitive.items import Items
from foreknow.models.quasi_sensitive.links import Linking, Links, links
from foreknow.models.settings import check_kind
from foreknow.models.tables.people import People
from foreknow.models.tables.release import Release


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ItemObservation:
    """Observation of the members of each group, and of its records' item sets; the link between the two is hidden.

    Attributes
    ----------
    people : People
        The n respondents of the view, suppressed ones included.
    group : int array, shape (n,)
        Group of each respondent, 0 to g - 1; -1 for a suppressed record.
    items : Items
        Items of the k published records, sorted by group, and within a group by their texts.
    shown_in : int array, shape (k,)
        Group that shows each of these item sets.
    groups : int
        Number of groups, g.
    time : optional
        Time of the release.
    """

    people: People
    group: IntArray
    items: Items
    shown_in: IntArray
    groups: int
    time: Any = 0


@equal_by_fields
@dataclass(frozen=True, eq=False)
class ItemRelease:
    """A release that shows the items of each record beside the quasi-identifiers of its group, without the respondents.

    Parameters
    ----------
    release : Release
        The groups.
    linking : Linking
        The column of the items, and the external knowledge.
    published : Items
        Published items of each record of the view: ``linking.items_of(view)`` where none is removed. Not checked: that they
        are a subset of the record's own items.

    Raises
    ------
    TypeError
        If an argument is of another type.
    ValueError
        If the number of item sets is not the number of records.

    Examples
    --------
    >>> from foreknow.models import ExternalKnowledge, Numeric, Schema, View
    >>> patients = pd.DataFrame({"id": [1, 2], "age": [30, 22], "ward": "A", "symptoms": ["headache", "headache, cough"]})
    >>> view = View(patients, Schema({"age": Numeric()}, "ward", ("A",)))
    >>> linking = Linking(ExternalKnowledge({"flu": ["cough", "headache"]}), items="symptoms")
    >>> ItemRelease(Release(view, [0, 0]), linking, linking.items_of(view)).table
       group      age         symptoms
    0      0  [22,30]  cough, headache
    1      0  [22,30]         headache
    """

    release: Release
    linking: Linking
    published: Items

    def __post_init__(self) -> None:
        check_kind("ItemRelease", "release", self.release, Release)
        check_kind("ItemRelease", "linking", self.linking, Linking)
        check_kind("ItemRelease", "published", self.published, Items)
        if len(self.published) != len(self.release.view):
            raise ValueError(
                f"ItemRelease: published has {len(self.published)} sets of items, and the view at {self.time!r} "
                f"has {len(self.release.view)} records; give one set per record, an empty one for a suppressed record."
            )

    def __repr__(self) -> str:
        return f"ItemRelease({self.release!r}, {self.published!r})"

    @property
    def time(self) -> Any:
        """Time of the view."""
        return self.release.time

    @cached_property
    def original(self) -> Items:
        """Items of each record of the view before any was removed."""
        return self.linking.items_of(self.release.view)

    @cached_property
    def links(self) -> Links:
        """Labels that each record of the view links to, by its published items."""
        return links(self.published, self.linking.knowledge)

    @cached_property
    def observation(self) -> ItemObservation:
        """The release as the worst-case adversary sees it. Items that no published record shows are not in it."""
        release, group = self.release, self.release.group
        kept = [(int(group[i]), self._text(self.published[i]), i) for i in np.flatnonzero(group >= 0).tolist()]
        order = [record for _, _, record in sorted(kept)]
        shown = Items.from_cells(self.published[record] for record in order)
        return ItemObservation(release.view.people, group, shown, group[order], release.groups, release.time)

    @property
    def table(self) -> pd.DataFrame:
        """The published table: ``group``, its quasi-identifiers, and the items of a record as a text.

        Within a group the rows are sorted by text. Of a bucketized release the exact quasi-identifiers of a group are sorted
        separately; that they share a row with items means nothing. Suppressed records are left out, and so is the
        schema's sensitive attribute: if that is another column, publish it with `Release.tables`.
        """
        seen, identifiers = self.observation, self.release.tables[0]
        rows = identifiers if self.release.bucketized else identifiers.iloc[seen.shown_in]
        texts = pd.Series([self._text(items) for items in seen.items], dtype=object)
        return rows.reset_index(drop=True).assign(**{self.linking.items: texts})

    def _text(self, items: "tuple[Any, ...]") -> str:
        """Items of a record as one text, sorted."""
        return f"{self.linking.separator} ".join(sorted(map(str, items)))
