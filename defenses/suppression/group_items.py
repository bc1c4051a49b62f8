"""Items of a release by group, and the cost of removing some of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from foreknow.defenses.suppression.label_workspace import LabelWorkspace, label_workspace
from foreknow.models import Items, Linking, Links, Release
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.group_rows import group_rows
from foreknow.models.quasi_sensitive.linking import Words, links


def removal_cost(before: ArrayLike, after: ArrayLike) -> float:
    """Cost T of removing items from k records, as a fraction of the cost of removing all of them.

    The removal of an item from a record with w items costs ``1 / w``. A record reduced from w to u items costs
    ``1 / w + ... + 1 / (u + 1)``, whichever items are removed. T is the sum over the records, divided by the same sum for u = 0;
    it is 0 where there is no item.

    Parameters
    ----------
    before, after : int array, shape (k,)
        Number of items of each record before and after. Not checked: ``after <= before``.

    Returns
    -------
    float
        From 0 to 1. Cost: O(k + w).

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, Equation 1.

    Examples
    --------
    >>> round(removal_cost([2, 3], [1, 3]), 4)  # 1/2 of 1/2 + 1 and 1/3 + 1/2 + 1
    0.15
    """
    first, left = np.asarray(before, dtype=np.int64), np.asarray(after, dtype=np.int64)
    worth = harmonic_numbers(int(first.max(initial=0)))
    total = worth[first].sum()
    return float((worth[first] - worth[left]).sum() / total) if total > 0 else 0.0


def harmonic_numbers(largest: int) -> FloatArray:
    """Harmonic numbers ``1 + 1/2 + ... + 1/w`` for w = 0 to ``largest``: float array, shape ``(largest + 1,)``."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, largest + 1))])


@dataclass(frozen=True, eq=False)
class GroupItems:
    """Items of a release, and the records of each group.

    Attributes
    ----------
    items : Items
        Items of all n records of the view.
    links : Links
        Labels that these records link to.
    item_labels : uint64 array, shape (u, w)
        Labels of each item of the vocabulary, as a bit set.
    members : tuple of int arrays
        Records of each group.
    """

    items: Items
    links: Links
    item_labels: Words
    members: tuple[IntArray, ...]

    @classmethod
    def from_release(cls, release: Release, linking: Linking) -> "GroupItems":
        """Items of a release. Cost: O(i e / 64) for i items and e labels."""
        items = linking.items_of(release.view)
        order, starts = group_rows(release.group, release.groups)
        own = tuple(np.split(order, starts)[1:-1])
        return cls(items, links(items, linking.knowledge), linking.knowledge.bits(items.vocabulary), own)

    def cells(self, group: int) -> IntArray:
        """Positions in ``items.codes`` of the items of a group, one record after the other: shape ``(s,)``."""
        sizes = self.items.sizes[self.members[group]]
        places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.repeat(self.items.starts[self.members[group]], sizes) + places

    def workspace(self, group: int) -> LabelWorkspace:
        """Workspace of a group with nothing removed."""
        item, sizes = self.items.codes[self.cells(group)], self.items.sizes[self.members[group]]
        knowledge = self.links.knowledge
        return label_workspace(self.item_labels, item, sizes, knowledge.all_labels, knowledge.weights)
