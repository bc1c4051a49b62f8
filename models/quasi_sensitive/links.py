"""Labels that records can be linked to through their items, and the beliefs that follow."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.quasi_sensitive.external_knowledge import ExternalKnowledge
from foreknow.models.quasi_sensitive.items import Items, check_separator
from foreknow.models.settings import check_choice, check_kind
from foreknow.models.tables.columns import check_columns
from foreknow.models.tables.view import View

type Reading = Literal["counted", "fractional", "uniform"]
READINGS: tuple[Reading, ...] = ("counted", "fractional", "uniform")
"""Readings of the prior belief in a label, for which the paper gives no formula; see `Links.prior`."""

type Words = NDArray[np.uint64]
"""Sets of labels as bits, 64 to a word: label b is bit ``b % 64`` of word ``b // 64``."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Links:
    """Labels that each of n records can be linked to: K(tp) of the paper.

    Attributes
    ----------
    knowledge : ExternalKnowledge
        The e labels.
    bits : uint64 array, shape (n, w)
        Labels of each record, 64 to a word.
    weight : float array, shape (n,)
        Total prevalence of its labels: their number where no prevalence is given, 0 where it links to none.
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
        """Labels of one record; IndexError if there is no such record, as sequences raise."""
        own = self.bits[record]
        return tuple(
            label for number, label in enumerate(self.knowledge.labels) if int(own[number // 64]) >> number % 64 & 1
        )

    def probabilities(self, records: "IntArray | list[int]") -> FloatArray:
        """Probability that each of k records has each label, and last none: shape ``(k, e + 1)``; rows sum to 1.

        ``P(tp -> L) = prevalence / weight`` for the labels it links to (section 2.1). For a record that links to no label the
        paper's probabilities do not sum to 1; here the probability of none is then 1: our reading.
        """
        chosen = np.asarray(records, dtype=np.int64)
        return group_beliefs(
            self.bits[chosen], self.weight[chosen], self.knowledge.weights, np.arange(len(chosen)), len(chosen)
        )

    def beliefs(self, group: IntArray, groups: int) -> FloatArray:
        """Posterior belief in each label, and last in none, for a member of each group: beta, shape ``(g, e + 1)``.

        The mean of the probabilities of the group's records; the row of a group without records is 0.
        Cost: O(n e), one step for each empty set of 64 labels.

        Parameters
        ----------
        group : int array, shape (n,)
            Group of each record, 0 to g - 1; -1 for none.
        groups : int
            Number of groups, g.
        """
        return group_beliefs(self.bits, self.weight, self.knowledge.weights, group, groups)

    def prior(self, reading: Reading = "counted") -> FloatArray:
        """Prior belief in each label, and last in none, before any release: alpha, float array, shape ``(e + 1,)``.

        Parameters
        ----------
        reading : {"counted", "fractional", "uniform"}
            The paper says "by counting the labels' accumulated frequencies in the mapped knowledge sets", and gives no formula.

            - ``"counted"``: proportional to the number of records that link to the label, or to none, whatever else they link to
              and whatever the prevalence; closest to these words;
            - ``"fractional"``: the mean of the records' probabilities, which is the posterior if all records form one group;
            - ``"uniform"``: equal for all labels, or proportional to the prevalence, and 0 for none. Only this reading does not
              depend on the records; without records all readings are this one.

        Raises
        ------
        ValueError
            If the reading is another.
        """
        check_choice("Links.prior", "reading", reading, READINGS)
        weights, together = self.knowledge.weights, np.zeros(len(self), dtype=np.int64)
        if reading == "uniform" or not len(self):
            return np.append(weights / weights.sum(), 0.0)
        if reading == "fractional":
            return np.asarray(self.beliefs(together, 1)[0])
        counted = group_beliefs(self.bits, np.sign(self.weight), np.ones(len(weights)), together, 1)[0]
        return np.asarray(counted / counted.sum())


def links(items: Items, knowledge: ExternalKnowledge) -> Links:
    """Labels that each record can be linked to: those whose items include all items of the record (Definition 2).

    A record without items links to every label; with fewer items a record links to more labels. Cost: O(i e / 64) for i items.

    Parameters
    ----------
    items : Items
        Items of each record.
    knowledge : ExternalKnowledge
        The e labels and their items.

    Raises
    ------
    TypeError
        If an argument is of another type.
    """
    check_kind("links", "items", items, Items)
    check_kind("links", "knowledge", knowledge, ExternalKnowledge)
    item_labels = knowledge.bits(items.vocabulary)
    return Links(
        knowledge, *link_records(items.codes, items.starts, item_labels, knowledge.all_labels, knowledge.weights)
    )


@dataclass(frozen=True)
class Linking:
    """Setting of the link from records to labels: the column of items, and the external knowledge about them.

    Parameters
    ----------
    knowledge : ExternalKnowledge
        Items of each label.
    items : str
        Column of the view's frame with each record's items, in the form that `Items.from_cells` reads. It must not be a
        quasi-identifier; it may be the sensitive attribute.
    separator : str
        Text between two items of a cell.

    Raises
    ------
    TypeError
        If ``knowledge`` is no `ExternalKnowledge`, or ``items`` or ``separator`` is no text.
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
        check_kind("Linking", "knowledge", self.knowledge, ExternalKnowledge)
        check_kind("Linking", "items", self.items, str, "is the name of the column of items, as 'symptoms'")
        check_separator(self.separator)

    def items_of(self, view: View) -> Items:
        """Items of a view's records.

        Raises
        ------
        TypeError
            If ``view`` is no `View`.
        ValueError
            If the view has no such column, or it is a quasi-identifier, which would be published with all items; if an item
            contains the separator, or two items have the same text, so that the published table could not be read back.
        """
        check_kind("Linking", "view", view, View)
        check_columns(view.frame, [self.items])
        if self.items in view.schema.quasi_identifiers:
            raise ValueError(
                f"the column {self.items!r} of items is a quasi-identifier of the view at {view.time!r}, and published as one; "
                "take it out of the schema's quasi-identifiers."
            )
        items = Items.from_cells(view.frame[self.items], self.separator)
        # The published text of each item must be one that can be read back.
        by_text: dict[str, Hashable] = {}
        for item in items.vocabulary:
            text = str(item)
            if self.separator in text:
                raise ValueError(
                    f"the item {item!r} of the view at {view.time!r} contains the separator {self.separator!r}, and would be read "
                    "as several where it is published; rename it, or give the Linking another separator."
                )
            if text in by_text:
                raise ValueError(
                    f"the items {by_text[text]!r} and {item!r} of the view at {view.time!r} read the same where they are "
                    "published; rename one, or write both alike."
                )
            by_text[text] = item
        return items

    def __call__(self, view: View) -> "Links":
        """Labels of each record of a view."""
        return links(self.items_of(view), self.knowledge)


@compiled
def link_records(
    codes: IntArray, starts: IntArray, item_labels: Words, all_labels: Words, prevalence: FloatArray
) -> tuple[Words, FloatArray]:
    """Labels of each record, shape ``(n, w)``, and their total prevalence, shape ``(n,)``."""
    n = len(starts) - 1
    bits, weight = np.empty((n, len(all_labels)), dtype=np.uint64), np.zeros(n)
    for i in range(n):
        bits[i] = all_labels
        for place in range(starts[i], starts[i + 1]):
            bits[i] &= item_labels[codes[place]]
        weight[i] = total_prevalence(bits[i], prevalence)
    return bits, weight


@compiled
def total_prevalence(bits: Words, prevalence: FloatArray) -> float:
    """Sum of the prevalences of a set of labels."""
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
def group_beliefs(bits: Words, weight: FloatArray, prevalence: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Mean of the probabilities of each group's records, as in `Links.beliefs`."""
    belief, size = np.zeros((groups, len(prevalence) + 1)), np.zeros(groups)
    for i in range(len(group)):
        if group[i] >= 0:
            size[group[i]] += 1.0
            add_record(bits[i], weight[i], prevalence, 1.0, belief[group[i]])
    for g in range(groups):
        if size[g] > 0.0:
            belief[g] /= size[g]
    return belief


@compiled
def add_record(bits: Words, weight: float, prevalence: FloatArray, times: float, belief: FloatArray) -> None:
    """Add ``times`` a record's probabilities to a row of beliefs in each label and none, shape ``(e + 1,)``, in place."""
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
