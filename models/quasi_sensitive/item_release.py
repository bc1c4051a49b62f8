"""A release whose records show their items, some of them left out."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from foreknow.models.generalization import labels
from foreknow.models.quasi_sensitive.items import Items
from foreknow.models.quasi_sensitive.linking import Linking, Links, links
from foreknow.models.release import Release


@dataclass(frozen=True, eq=False)
class ItemRelease:
    """A view's groups, generalized, with each record's items beside them; who of the group has which is not said.

    Parameters
    ----------
    release : Release
        The groups.
    linking : Linking
        Which column holds the items, and what they give away.
    published : Items
        The items that are shown of each record of the view; what is left out is in `original` and not here.
    """

    release: Release
    linking: Linking
    published: Items

    def __post_init__(self) -> None:
        if len(self.published) != len(self.release.view):
            raise ValueError(
                f"items of {len(self.published)} records are to be published, and the view has {len(self.release.view)}; give one "
                "set per record."
            )

    @property
    def original(self) -> Items:
        """The items of each record before any was left out."""
        return self.linking.items_of(self.release.view)

    @property
    def links(self) -> Links:
        """Which labels each record can be linked to, by what is published of it."""
        return links(self.published, self.linking.knowledge)

    @property
    def table(self) -> pd.DataFrame:
        """What the public sees: ``group``, its generalized quasi-identifiers, and a record's items, as a text.

        Within a group the records stand in the order of their items. Suppressed records are not there, nor is the schema's
        sensitive attribute: publish that with `Release.tables` if it is another one.
        """
        release, separator = self.release, self.linking.separator + " "
        kept = np.flatnonzero(release.group >= 0)
        shown = [separator.join(sorted(map(str, self.published[int(record)]))) for record in kept]
        rows = pd.DataFrame({"group": release.group[kept], self.linking.items: shown})
        rows = rows.sort_values(["group", self.linking.items], kind="stable", ignore_index=True)
        identifiers = labels(release.view.people, release.group, release.groups) if release.groups else {}
        for place, (name, column) in enumerate(identifiers.items(), start=1):
            rows.insert(place, name, np.asarray(column, dtype=object)[rows["group"].to_numpy()])
        return rows
