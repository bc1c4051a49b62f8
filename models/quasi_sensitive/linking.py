"""Which sensitive labels each record can be linked to, through its items."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.quasi_sensitive.external_knowledge import ExternalKnowledge
from foreknow.models.quasi_sensitive.items import Items, check_separator
from foreknow.models.tables.required_columns import check_columns
from foreknow.models.tables.view import View

type Words = NDArray[np.uint64]
"""Sets of labels, 64 to a word: label b is bit ``b % 64`` of word ``b // 64``."""

type Reading = Literal["counted", "fractional", "uniform"]
READINGS: tuple[Reading, ...] = ("counted", "fractional", "uniform")
"""Ways to count the prior belief in a label; the paper leaves it open."""


@dataclass(frozen=True)
class Linking:
    """How a view's records are linked to labels: by which items, and by what is publicly known of them.

    Parameters
    ----------
    knowledge : ExternalKnowledge
        What items give away.
    items : str
        The column of the view's frame that holds each record's items, as `Items.of` takes them. It is no quasi-identifier; it
        may be the sensitive attribute.
    separator : str
        What stands between the items of a text.

    Raises
    ------
    TypeError
        If the knowledge is not an `ExternalKnowledge`.
    ValueError
        If the separator is empty.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Schema
    >>> patients = pd.DataFrame({"id": [1, 2], "age": [22, 30], "ward": "A", "symptoms": ["cough, headache", "vomiting, headache"]})
    >>> view = View(patients, Schema({"age": Numeric()}, "ward", ("A",)))
    >>> knowledge = ExternalKnowledge({"flu": ["cough", "headache"], "hepatitis B": ["vomiting", "dark urine"]})
    >>> list(Linking(knowledge, items="symptoms")(view))
    [('flu',), ()]
    """

    knowledge: ExternalKnowledge
    items: str
    separator: str = ","

    def __post_init__(self) -> None:
        if not isinstance(self.knowledge, ExternalKnowledge):
            raise TypeError(
                f"Linking: the knowledge is a {type(self.knowledge).__name__}; make it an ExternalKnowledge, as "
                "ExternalKnowledge({'flu': ['cough']})."
            )
        check_separator(self.separator)

    def items_of(self, view: View) -> Items:
        """The items of a view's records.

        Raises
        ------
        ValueError
            If the view has no such column, or it is a quasi-identifier, which would be published with all items; if an item
            holds the separator, or two read the same, so that what is published could not be read back.
        """
        check_columns(view.frame, [self.items])
        if self.items in view.schema.quasi_identifiers:
            raise ValueError(
                f"the column {self.items!r} of items is a quasi-identifier of the view at {view.time!r}, and published as one; "
                "take it out of the schema's quasi-identifiers."
            )
        items = Items.of(view.frame[self.items], self.separator)
        self._check_readable(items, view)
        return items

    def _check_readable(self, items: Items, view: View) -> None:
        before: dict[str, Hashable] = {}
        for item in items.vocabulary:
            text = str(item)
            if self.separator in text:
                raise ValueError(
                    f"the item {item!r} of the view at {view.time!r} holds the separator {self.separator!r}, and would be read as "
                    "several where it is published; rename it, or give the Linking another separator."
                )
            if text in before:
                raise ValueError(
                    f"the items {before[text]!r} and {item!r} of the view at {view.time!r} read the same where they are published; "
                    "rename one, or write both alike."
                )
            before[text] = item

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

    def __iter__(self) -> Iterator[tuple[Hashable, ...]]:
        return (self[record] for record in range(len(self)))

    def __repr__(self) -> str:
        return f"Links({len(self)} records, {len(self.knowledge)} labels)"

    def __getitem__(self, record: int) -> tuple[Hashable, ...]:
        """The labels of one record; IndexError where there is none."""
        own = self.bits[record]
        return tuple(
            label for number, label in enumerate(self.knowledge.labels) if int(own[number // 64]) >> number % 64 & 1
        )

    def probabilities(self, records: "IntArray | list[int]") -> FloatArray:
        """The probability that each of k records has each label, and none: shape ``(k, e + 1)``; rows sum to 1.

        ``P(tp -> L) = prevalence / weight`` for the labels it links to (section 2.1). Where there is no such label the paper's
        do not sum to 1; here all of it is then on none, the last column; this is our reading.
        """
        chosen = np.asarray(records, dtype=np.int64)
        return beliefs(
            self.bits[chosen], self.weight[chosen], self.knowledge.weights, np.arange(len(chosen)), len(chosen)
        )

    def beliefs(self, group: IntArray, groups: int) -> FloatArray:
        """The posterior belief in each label of whoever is in a group, the mean of its records': beta, shape ``(g, e + 1)``.

        ``group``, shape ``(n,)``, is each record's group; -1 for none. The last column is none. The row of a group without
        records is 0. Cost: O(n e), a step for a set of 64 where it is empty.
        """
        return beliefs(self.bits, self.weight, self.knowledge.weights, group, groups)

    def prior(self, reading: Reading = "counted") -> FloatArray:
        """The prior belief in each label, and none, before anything is published: alpha, float array, shape ``(e + 1,)``.

        Parameters
        ----------
        reading : {"counted", "fractional", "uniform"}
            The paper says: "by counting the labels' accumulated frequencies in the mapped knowledge sets", and gives no
            formula.

            - ``"counted"``: in proportion to how many records link to the label, or to none, whatever else they link to and
              however common it is; closest to these words;
            - ``"fractional"``: the mean of the records' probabilities, which is the posterior if all were one group;
            - ``"uniform"``: every label alike, or as common as its prevalence, and none never. It alone does not depend on the
              records; of no records it is all there is.

        Raises
        ------
        ValueError
            If the reading is another.
        """
        if reading not in READINGS:
            raise ValueError(f"the prior's reading is {reading!r}; it is one of {', '.join(map(repr, READINGS))}.")
        weights, together = self.knowledge.weights, np.zeros(len(self), dtype=np.int64)
        if reading == "uniform" or not len(self):
            return np.append(weights / weights.sum(), 0.0)
        if reading == "fractional":
            return np.asarray(self.beliefs(together, 1)[0])
        counted = beliefs(self.bits, np.sign(self.weight), np.ones(len(weights)), together, 1)[0]
        return np.asarray(counted / counted.sum())


def links(items: Items, knowledge: ExternalKnowledge) -> Links:
    """Which labels each record can be linked to: those that go with every item it has (Definition 2).

    A record without items links to every label; the fewer items, the more labels. Cost: O(i e / 64) for i items in all.
    """
    goes = knowledge.bits(items.vocabulary)
    return Links(knowledge, *_linked(items.codes, items.starts, goes, knowledge.every, knowledge.weights))


@compiled
def _linked(
    codes: IntArray, starts: IntArray, goes: Words, every: Words, prevalence: FloatArray
) -> tuple[Words, FloatArray]:
    n = len(starts) - 1
    bits, weight = np.empty((n, len(every)), dtype=np.uint64), np.zeros(n)
    for i in range(n):
        bits[i] = every
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
    """Add a record's probabilities, times a number, to a row of beliefs in every label and none, in place."""
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
