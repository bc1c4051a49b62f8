"""Items of a release by group, and work arrays of one group: removed items, and beliefs in labels that follow from the others.

A cell is one item of one record of the group; the cells of a record are consecutive.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.models import Items, Linking, Links, Release
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.group_rows import group_rows
from foreknow.models.quasi_sensitive.label_sets import Words, add_record, total_prevalence
from foreknow.models.quasi_sensitive.links import links


class LabelWorkspace(NamedTuple):
    """Mutable work arrays of a group of k records with s cells over e labels in w words.

    The first six arrays are read only, and may be shared by groups. `set_cell` writes the last five in place; each workspace
    owns them. It is a NamedTuple because compiled code takes no dataclass.

    Attributes
    ----------
    item_labels : uint64 array, shape (u, w)
        Labels of each item of the vocabulary, as a bit set.
    item : int array, shape (s,)
        Position in the vocabulary of each cell's item.
    owner : int array, shape (s,)
        Record of each cell.
    starts : int array, shape (k + 1,)
        First cell of each record.
    all_labels : uint64 array, shape (w,)
        Set of all labels.
    prevalence : float array, shape (e,)
    removed : bool array, shape (s,)
        Removed cells.
    left : int array, shape (k,)
        Number of items that each record has left.
    bits : uint64 array, shape (k, w)
        Labels that each record links to, by the items left.
    weight : float array, shape (k,)
        Total prevalence of these labels.
    belief : float array, shape (e + 1,)
        Mean of the records' probabilities; the last entry is for no label.
    """

    item_labels: Words
    item: IntArray
    owner: IntArray
    starts: IntArray
    all_labels: Words
    prevalence: FloatArray
    removed: BoolArray
    left: IntArray
    bits: Words
    weight: FloatArray
    belief: FloatArray


def label_workspace(
    item_labels: Words, item: IntArray, sizes: IntArray, all_labels: Words, prevalence: FloatArray
) -> LabelWorkspace:
    """Workspace of a group with nothing removed.

    ``item``, shape ``(s,)``, lists the items of one record after the other; ``sizes``, shape ``(k,)``, is the number of items
    of each record.
    """
    k = len(sizes)
    work = LabelWorkspace(
        item_labels,
        item,
        np.repeat(np.arange(k), sizes),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        all_labels,
        prevalence,
        np.zeros(len(item), dtype=np.bool_),
        sizes.astype(np.int64),
        np.empty((k, len(all_labels)), dtype=np.uint64),
        np.zeros(k),
        np.zeros(len(prevalence) + 1),
    )
    _link_group(work)
    return work


def fresh_workspace(work: LabelWorkspace) -> LabelWorkspace:
    """Separate workspace of the same group, with nothing removed."""
    return label_workspace(work.item_labels, work.item, np.diff(work.starts), work.all_labels, work.prevalence)


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


@compiled
def _link_group(work: LabelWorkspace) -> None:
    """Link all records, and add their probabilities to the beliefs."""
    k = len(work.left)
    for i in range(k):
        _link_record(work, i)
        add_record(work.bits[i], work.weight[i], work.prevalence, 1.0 / k, work.belief)


@compiled
def _link_record(work: LabelWorkspace, i: int) -> None:
    """Write the labels of record i, by the items it has left, and their total prevalence."""
    bits = work.bits[i]
    bits[:] = work.all_labels
    for cell in range(work.starts[i], work.starts[i + 1]):
        if not work.removed[cell]:
            bits &= work.item_labels[work.item[cell]]
    work.weight[i] = total_prevalence(bits, work.prevalence)


@compiled
def set_cell(work: LabelWorkspace, cell: int, removed: bool) -> None:
    """Remove a cell or restore it, in place. Cost: O(w) for each item of the record, O(1) for each label it links to."""
    i, k = work.owner[cell], len(work.left)
    add_record(work.bits[i], work.weight[i], work.prevalence, -1.0 / k, work.belief)
    work.removed[cell] = removed
    work.left[i] += -1 if removed else 1
    _link_record(work, i)
    add_record(work.bits[i], work.weight[i], work.prevalence, 1.0 / k, work.belief)


@compiled
def set_removed(work: LabelWorkspace, removed: BoolArray) -> None:
    """Remove and restore cells, in place, until the removed cells are those of ``removed``, shape ``(s,)``."""
    for cell in np.flatnonzero(work.removed != removed):
        set_cell(work, int(cell), removed[cell])
