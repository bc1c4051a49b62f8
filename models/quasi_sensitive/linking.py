"""Which sensitive labels each record can be linked to, through its items."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.quasi_sensitive.external_knowledge import ExternalKnowledge
from foreknow.models.quasi_sensitive.items import Items
from foreknow.models.schema import check_columns
from foreknow.models.view import View

type Words = NDArray[np.uint64]
"""Sets of labels, 64 to a word."""

type Reading = Literal["counted", "fractional", "uniform"]
READINGS: tuple[Reading, ...] = ("counted", "fractional", "uniform")
"""How the prior belief in a label is counted (METHODS B.2)."""

NONE = "none"
"""What a record links to that links to no label."""


@dataclass(frozen=True)
class Linking:
    """How a view's records are linked to labels: by which items, and by what is publicly known of them.

    Parameters
    ----------
    knowledge : ExternalKnowledge
        What items give away.
    items : str
        The column of the view's frame that holds each record's items, as `Items.of` takes them. It may be any column, the
        sensitive attribute among them.
    separator : str
        What stands between the items of a text.
    """

    knowledge: ExternalKnowledge
    items: str
    separator: str = ","

    def items_of(self, view: View) -> Items:
        """The items of a view's records.

        Raises
        ------
        ValueError
            If the view has no such column.
        """
        check_columns(view.frame, [self.items])
        return Items.of(view.frame[self.items], self.separator)

    def __call__(self, view: View) -> "Links":
        """The labels of each record of a view."""
        return links(self.items_of(view), self.knowledge)


@dataclass(frozen=True, eq=False)
class Links:
    """The labels that each of n records can be linked to: K(tp) of the paper.

    Attributes
    ----------
    knowledge : ExternalKnowledge
    bits : uint64 array, shape (n, w)
        Each record's labels, 64 to a word.
    weight : float array, shape (n,)
        The sum of its labels' prevalences; their number where no prevalence is given. 0 where it links to none.
    """

    knowledge: ExternalKnowledge
    bits: Words
    weight: FloatArray

    def __len__(self) -> int:
        return len(self.weight)

    def __getitem__(self, record: int) -> tuple[Any, ...]:
        """The labels of one record."""
        return tuple(np.array(self.knowledge.labels, dtype=object)[self.probabilities([record])[0, :-1] > 0])

    def probabilities(self, records: "IntArray | list[int]") -> FloatArray:
        """The probability that each of some records has each label, and none: shape ``(k, e + 1)``; rows sum to 1.

        ``P(tp -> L) = prevalence / weight`` for the labels it links to (section 2.1); all of it is on none where there is no such
        label (METHODS B.2).
        """
        chosen = np.asarray(records, dtype=np.int64)
        return beliefs(
            self.bits[chosen], self.weight[chosen], self.knowledge.weights, np.arange(len(chosen)), len(chosen)
        )

    def beliefs(self, group: IntArray, groups: int) -> FloatArray:
        """The posterior belief in each label of whoever is in a group, the mean of its records': beta, shape ``(g, e + 1)``.

        ``group``, shape ``(n,)``, is each record's group; -1 for none. The last column is none. Cost: O(n e / 64) and O(1) for each
        label a record links to.
        """
        return beliefs(self.bits, self.weight, self.knowledge.weights, group, groups)

    def prior(self, reading: Reading = "counted") -> FloatArray:
        """The prior belief in each label, and none, before anything is published: alpha, float array, shape ``(e + 1,)``.

        - ``"counted"``: in proportion to the number of records that link to it, the paper's words;
        - ``"fractional"``: the mean of the records' probabilities, the belief if all were one group;
        - ``"uniform"``: every label alike (or as common as its prevalence), and none never: this alone does not depend on the
          records.
        """
        if reading not in READINGS:
            raise ValueError(f"the prior's reading is {reading!r}; it is one of {', '.join(map(repr, READINGS))}.")
        if reading == "uniform":
            weights = self.knowledge.weights
            return np.append(weights / weights.sum(), 0.0)
        if reading == "fractional":
            return np.asarray(self.beliefs(np.zeros(len(self), dtype=np.int64), 1)[0])
        counted = np.zeros(len(self.knowledge) + 1)
        _count(self.bits, self.weight, counted)
        return counted / max(counted.sum(), 1.0)


def links(items: Items, knowledge: ExternalKnowledge) -> Links:
    """Which labels each record can be linked to: those that go with every item it has (Definition 2).

    A record without items links to every label. Cost: O(i e / 64) for i items in all.
    """
    goes = knowledge.bits(items.vocabulary)
    every = knowledge.bits(knowledge.vocabulary)
    labels = np.bitwise_or.reduce(every, axis=0)
    return Links(knowledge, *_linked(items.codes, items.starts, goes, labels, knowledge.weights))


@compiled
def _linked(
    codes: IntArray, starts: IntArray, goes: Words, labels: Words, prevalence: FloatArray
) -> tuple[Words, FloatArray]:
    n = len(starts) - 1
    bits, weight = np.empty((n, len(labels)), dtype=np.uint64), np.zeros(n)
    for i in range(n):
        bits[i] = labels
        for place in range(starts[i], starts[i + 1]):
            bits[i] &= goes[codes[place]]
        weight[i] = weight_of(bits[i], prevalence)
    return bits, weight


@compiled
def weight_of(bits: Words, prevalence: FloatArray) -> float:
    """The sum of the prevalences of a set of labels."""
    total = 0.0
    for word in range(len(bits)):
        left = bits[word]
        label = 64 * word
        while left != 0:
            if left & np.uint64(1):
                total += prevalence[label]
            left >>= np.uint64(1)
            label += 1
    return total


@compiled
def beliefs(bits: Words, weight: FloatArray, prevalence: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """The mean of the probabilities of each group's records, as `Links.beliefs` has it."""
    found, size = np.zeros((groups, len(prevalence) + 1)), np.zeros(groups)
    for i in range(len(group)):
        if group[i] >= 0:
            size[group[i]] += 1.0
            add_record(bits[i], weight[i], prevalence, 1.0, found[group[i]])
    for g in range(groups):
        if size[g] > 0.0:
            found[g] /= size[g]
    return found


@compiled
def add_record(bits: Words, weight: float, prevalence: FloatArray, times: float, belief: FloatArray) -> None:
    """Add a record's probabilities, times a number, to a row of beliefs in every label and none."""
    if weight <= 0.0:
        belief[-1] += times
        return
    for word in range(len(bits)):
        left = bits[word]
        label = 64 * word
        while left != 0:
            if left & np.uint64(1):
                belief[label] += times * prevalence[label] / weight
            left >>= np.uint64(1)
            label += 1


@compiled
def _count(bits: Words, weight: FloatArray, counted: FloatArray) -> None:
    ones = np.ones(len(counted) - 1)
    for i in range(len(bits)):
        add_record(bits[i], 1.0 if weight[i] > 0.0 else 0.0, ones, 1.0, counted)
