"""Random items and random external knowledge: synthetic data for experiments on quasi-sensitive attributes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from foreknow.evaluation.datasets.adult import adult
from foreknow.models import ExternalKnowledge, History, Linking, View
from foreknow.models.arrays import IntArray
from foreknow.models.settings import (
    as_generator,
    check_array_size,
    check_choice,
    check_kind,
    check_range,
    is_number,
    is_whole,
)

DEFAULT_VOCABULARY_SIZE = 200
"""Default number of different items. The paper does not state it, and it determines how many labels a record links to.

With U items, 3,000 labels of Poisson(100) items and 9 items per record, a record links to
``3000 * 100^9 / (U (U - 1) ... (U - 8))`` labels on average: 55 for U = 160, 19 for 180, 7 for 200, 1.3 for 240, .2 for 300. With
160 every record links to at least the paper's default of 30 labels, and no item need be removed; with 300 five records in six
link to none.
"""

MAX_ITEMS_OR_LABELS = 2**31 - 1
"""Largest number of items or labels."""

MAX_POISSON_MEAN = 1e18
"""Largest mean that NumPy's Poisson distribution takes, rounded down."""

ADULT_IDENTIFIERS = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
"""Quasi-identifiers of Adult: those for which ARX has hierarchies. The paper has 8 and does not name them."""


def random_items(
    view: View,
    items_per_record: int = 9,
    vocabulary: int = DEFAULT_VOCABULARY_SIZE,
    column: str = "items",
    *,
    rng: np.random.Generator | int,
) -> View:
    """Add a column of random items to a view, drawn uniformly without replacement for each record.

    Parameters
    ----------
    view : View
    items_per_record : int
        Number of items of each record.
    vocabulary : int
        Number of different items.
    column : str
        Name of the new column.
    rng : numpy.random.Generator or int
        Generator, or seed.

    Returns
    -------
    View
        The same records, with a column of texts as ``"item 3, item 17"``.

    Notes
    -----
    Items are independent of the respondent and of each other, as in the paper's experiment: the labels of a record are those
    that happen to have its items, and none of them is true. Cost: O(n vocabulary).

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Schema
    >>> people = pd.DataFrame({"id": [1, 2], "age": [22, 30], "ward": "A"})
    >>> view = View(people, Schema({"age": Numeric()}, "ward", ("A",)))
    >>> random_items(view, items_per_record=2, vocabulary=2, rng=1).frame["items"].tolist()
    ['item 1, item 2', 'item 1, item 2']
    """
    generator = as_generator("random_items", rng)
    check_kind("random_items", "view", view, View)
    if not (_is_size(vocabulary, 0) and _is_size(items_per_record, 0) and items_per_record <= vocabulary):
        raise ValueError(
            f"random_items: items_per_record is {items_per_record!r}, and vocabulary {vocabulary!r}; they are whole numbers, and a "
            "record has 0 items to all of the vocabulary."
        )
    if column in view.frame.columns:
        raise ValueError(
            f"random_items: the view at {view.time!r} has a column {column!r}; give another name for the column of items."
        )
    check_array_size("random_items", records=len(view), items_of_the_vocabulary=int(vocabulary))
    drawn = generator.random((len(view), int(vocabulary))).argsort(axis=1)[:, : int(items_per_record)]
    texts = [", ".join(_names(sorted(row))) for row in drawn.tolist()]
    return View(view.frame.assign(**{column: texts}), view.schema, view.time)


def random_knowledge(
    labels: int = 3000,
    mean_items: float = 100.0,
    vocabulary: int = DEFAULT_VOCABULARY_SIZE,
    *,
    counted: Literal["label", "item"] = "label",
    rng: np.random.Generator | int,
) -> ExternalKnowledge:
    """Labels with random items: the number of items of a label follows a Poisson distribution, clipped to 1 and the vocabulary.

    Parameters
    ----------
    labels : int
        Number of labels; they are named ``"label 1"``, ``"label 2"``, ...
    mean_items : float
        Mean of the Poisson distribution.
    vocabulary : int
        Number of different items; the same as in `random_items`.
    counted : {"label", "item"}
        With ``"item"``, which is offered for reproduction, the number of *labels of an item* is the Poisson number, clipped to 1
        and ``labels``. A label that no item has then gets one at random.
    rng : numpy.random.Generator or int
        Generator, or seed.

    Notes
    -----
    P. Shi, L. Xiong, B. Fung, CIKM 2010, section 3: "3000 pieces of knowledge labels linked to random QS terms whose appearance in
    each tuple follows a Poisson distribution with lambda = 100". The tuples are the labels, or the appearances those of a term.
    Cost: O(labels vocabulary).

    Examples
    --------
    >>> random_knowledge(labels=30, mean_items=3, vocabulary=10, rng=1)
    ExternalKnowledge(30 labels, 10 items)
    """
    generator = as_generator("random_knowledge", rng)
    for name, number in (("labels", labels), ("vocabulary", vocabulary)):
        if not _is_size(number, 1):
            raise ValueError(
                f"random_knowledge: {name} is {number!r}; it is a whole number from 1 to {MAX_ITEMS_OR_LABELS}."
            )
    check_range("random_knowledge", "mean_items", mean_items, 0, MAX_POISSON_MEAN)
    check_choice("random_knowledge", "counted", counted, ("label", "item"))
    labels, vocabulary = int(labels), int(vocabulary)
    check_array_size("random_knowledge", labels=labels, items_of_the_vocabulary=vocabulary)
    rows, columns = (labels, vocabulary) if counted == "label" else (vocabulary, labels)
    sizes = np.clip(generator.poisson(float(mean_items), rows), 1, columns)
    orders, chosen = generator.random((rows, columns)).argsort(axis=1), np.zeros((rows, columns), dtype=np.bool_)
    np.put_along_axis(chosen, orders, np.arange(columns) < sizes[:, None], axis=1)
    of_label = chosen if counted == "label" else chosen.T
    without = np.flatnonzero(~of_label.any(axis=1))
    of_label[without, generator.integers(vocabulary, size=len(without))] = True
    return ExternalKnowledge({f"label {number}": _names(np.flatnonzero(row)) for number, row in enumerate(of_label, 1)})


def adult_with_items(
    folder: str | Path,
    records: int = 3000,
    vocabulary: int = DEFAULT_VOCABULARY_SIZE,
    hierarchies: str | Path | None = None,
    *,
    counted: Literal["label", "item"] = "label",
    rng: np.random.Generator | int,
) -> tuple[History, Linking]:
    """Data of the paper's experiments: records of Adult with 9 random items each, and 3,000 labels with 100 items on average.

    Parameters
    ----------
    folder : path
        As in `adult`.
    records : int
        Number of records drawn from the table without replacement; they keep its order.
    vocabulary : int
        Number of different items.
    hierarchies : path, optional
        As in `adult`.
    counted : {"label", "item"}
        As in `random_knowledge`.
    rng : numpy.random.Generator or int
        Generator, or seed.

    Returns
    -------
    history : History
        One view, with 8 quasi-identifiers, `ADULT_IDENTIFIERS`, with the domains of the whole table; the salary class as the
        sensitive attribute; and the column ``items``.
    linking : Linking
        Link from these items to the labels.
    """
    generator = as_generator("adult_with_items", rng)
    (table,) = adult(folder, "salary-class", ADULT_IDENTIFIERS, hierarchies)
    if not is_whole(records) or records > len(table):
        raise ValueError(
            f"adult_with_items: records is {records!r}; the table has {len(table)}, and at least 1 of them is drawn."
        )
    chosen = np.sort(generator.choice(len(table), int(records), replace=False))
    view = random_items(View(table.frame.iloc[chosen], table.schema), vocabulary=vocabulary, rng=generator)
    return History([view]), Linking(random_knowledge(vocabulary=vocabulary, counted=counted, rng=generator), "items")


def _is_size(value: object, least: int) -> bool:
    """Return whether a value is a number of items or labels."""
    return is_whole(value, least) and is_number(value, least, MAX_ITEMS_OR_LABELS)


def _names(numbers: Sequence[int] | IntArray) -> list[str]:
    """Names of items by their numbers, from 0."""
    return [f"item {number + 1}" for number in numbers]
