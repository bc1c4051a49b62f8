"""A release whose records show their items, some of them left out; and what the worst-case adversary holds of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from foreknow.models.arrays import IntArray
from foreknow.models.quasi_sensitive.items import Items
from foreknow.models.quasi_sensitive.linking import Linking, Links, links
from foreknow.models.tables.people import People
from foreknow.models.tables.release import Release


@dataclass(frozen=True, eq=False)
class ItemObservation:
    """Who is in each group, and the item sets of each group's records; not who of the group has which.

    Attributes
    ----------
    people : People
        Everybody whose record was taken, suppressed ones included.
    group : int array, shape (n,)
        Each person's group, 0 to g - 1; -1 for those who are not published.
    items : Items
        The items of the k published records, in the order of their groups, and within a group of their texts.
    shown_in : int array, shape (k,)
        The group in which each of these sets is shown.
    groups : int
        How many groups there are: g.
    time : optional
        When it was published.
    """

    people: People
    group: IntArray
    items: Items
    shown_in: IntArray
    groups: int
    time: Any = 0


@dataclass(frozen=True, eq=False)
class ItemRelease:
    """A view's groups, with each record's items beside the group's quasi-identifiers; who of the group has which is not said.

    Parameters
    ----------
    release : Release
        The groups.
    linking : Linking
        Which column holds the items, and what they give away.
    published : Items
        The items that are shown of each record of the view: ``linking.items_of(view)`` where none is left out. That they are
        the record's own is not checked.

    Raises
    ------
    ValueError
        If there is not one set per record.

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
        if len(self.published) != len(self.release.view):
            raise ValueError(
                f"items of {len(self.published)} records are to be published, and the view at {self.time!r} has "
                f"{len(self.release.view)}; give one set per record, an empty one for a suppressed record."
            )

    def __repr__(self) -> str:
        return f"ItemRelease({self.release!r}, {self.published!r})"

    @property
    def time(self) -> Any:
        """The view's time."""
        return self.release.time

    @cached_property
    def original(self) -> Items:
        """The items of each record before any was left out."""
        return self.linking.items_of(self.release.view)

    @cached_property
    def links(self) -> Links:
        """Which labels each record of the view can be linked to, by what is published of it."""
        return links(self.published, self.linking.knowledge)

    @cached_property
    def observation(self) -> ItemObservation:
        """What the worst-case adversary holds, and nothing more. Items that are published nowhere are not in it."""
        release, group = self.release, self.release.group
        kept = [(int(group[i]), self._text(self.published[i]), i) for i in np.flatnonzero(group >= 0).tolist()]
        order = [record for _, _, record in sorted(kept)]
        shown = Items.of(self.published[record] for record in order)
        return ItemObservation(release.view.people, group, shown, group[order], release.groups, release.time)

    @property
    def table(self) -> pd.DataFrame:
        """What the public sees: ``group``, its quasi-identifiers, and a record's items, as a text.

        Within a group the records stand in the order of their texts; where quasi-identifiers are published as they are, these are
        sorted on their own, and that they share a row with items means nothing. Suppressed records are not there, nor is the
        schema's sensitive attribute: publish that with `Release.tables` if it is another one.
        """
        seen, identifiers = self.observation, self.release.tables[0]
        rows = identifiers if self.release.bucketized else identifiers.iloc[seen.shown_in]
        texts = pd.Series([self._text(items) for items in seen.items], dtype=object)
        return rows.reset_index(drop=True).assign(**{self.linking.items: texts})

    def _text(self, items: "tuple[Any, ...]") -> str:
        return f"{self.linking.separator} ".join(sorted(map(str, items)))
