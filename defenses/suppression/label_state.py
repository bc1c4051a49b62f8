"""A group while items are taken from it: what is believed of its labels, kept up to date one record at a time.

A cell is an item of a record of the group; the cells of one record stand together.
"""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.quasi_sensitive.linking import Words, add_record, weight_of


class LabelState(NamedTuple):
    """A group of k records with some of its s cells removed. Removing moves it: the last five arrays are the state's own.

    Attributes
    ----------
    goes : uint64 array, shape (u, w)
        The labels that go with each item there is; shared by all groups.
    item : int array, shape (s,)
        Which of them each cell is.
    owner : int array, shape (s,)
        The record of each cell.
    starts : int array, shape (k + 1,)
        Where each record's cells start.
    every : uint64 array, shape (w,)
        Every label there is.
    prevalence : float array, shape (e,)
    removed : bool array, shape (s,)
    left : int array, shape (k,)
        How many items each record has left.
    bits : uint64 array, shape (k, w)
        The labels that each record links to by these.
    weight : float array, shape (k,)
        The sum of their prevalences.
    belief : float array, shape (e + 1,)
        The mean of the records' probabilities.
    """

    goes: Words
    item: IntArray
    owner: IntArray
    starts: IntArray
    every: Words
    prevalence: FloatArray
    removed: BoolArray
    left: IntArray
    bits: Words
    weight: FloatArray
    belief: FloatArray


def label_state(goes: Words, item: IntArray, sizes: IntArray, every: Words, prevalence: FloatArray) -> LabelState:
    """A group with nothing removed: ``item`` are the items of its first record, of its second, and so on; ``sizes`` how many."""
    k = len(sizes)
    state = LabelState(
        goes,
        item,
        np.repeat(np.arange(k), sizes),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        every,
        prevalence,
        np.zeros(len(item), dtype=np.bool_),
        sizes.astype(np.int64),
        np.empty((k, len(every)), dtype=np.uint64),
        np.zeros(k),
        np.zeros(len(prevalence) + 1),
    )
    _link(state)
    return state


def unmoved(state: LabelState) -> LabelState:
    """The same group on its own, with nothing removed."""
    return label_state(state.goes, state.item, np.diff(state.starts), state.every, state.prevalence)


@compiled
def _link(state: LabelState) -> None:
    k = len(state.left)
    for i in range(k):
        _link_record(state, i)
        add_record(state.bits[i], state.weight[i], state.prevalence, 1.0 / k, state.belief)


@compiled
def _link_record(state: LabelState, i: int) -> None:
    """The labels of one record, by what it has left."""
    bits = state.bits[i]
    bits[:] = state.every
    for cell in range(state.starts[i], state.starts[i + 1]):
        if not state.removed[cell]:
            bits &= state.goes[state.item[cell]]
    state.weight[i] = weight_of(bits, state.prevalence)


@compiled
def move(state: LabelState, cell: int, removed: bool) -> None:
    """Remove a cell, or put it back, in place. Cost: O(w) for each item of the record, O(1) for each label it links to."""
    i, k = state.owner[cell], len(state.left)
    add_record(state.bits[i], state.weight[i], state.prevalence, -1.0 / k, state.belief)
    state.removed[cell] = removed
    state.left[i] += -1 if removed else 1
    _link_record(state, i)
    add_record(state.bits[i], state.weight[i], state.prevalence, 1.0 / k, state.belief)


@compiled
def set_removed(state: LabelState, removed: BoolArray) -> None:
    """Remove and put back cells, in place, until just those named are removed."""
    for cell in np.flatnonzero(state.removed != removed):
        move(state, int(cell), removed[cell])
