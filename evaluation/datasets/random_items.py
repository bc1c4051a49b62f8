"""Random items and random external knowledge: the synthetic half of the experiments on quasi-sensitive attributes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from foreknow.evaluation.datasets.adult import adult
from foreknow.models import ExternalKnowledge, Linking, View

VOCABULARY = 200
"""How many different items there are, unless the caller says otherwise; the paper does not say. On it depends how many of
3,000 labels a record of 9 items links to: of U items, ``3000 * 100^9 / (U (U - 1) ... (U - 8))`` on average, 55 of 160, 19 of 180,
7 of 200, 1.3 of 240, .2 of 300. With 160 every record alone has the paper's default of 30 labels, and nothing need be left out;
with 300 five records in six link to none before anything is."""

IDENTIFYING = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
"""The paper has 8 quasi-identifiers of Adult and does not name them; these are those for which ARX has hierarchies."""


def random_items(
    view: View,
    items_per_record: int = 9,
    vocabulary: int = VOCABULARY,
    column: str = "items",
    *,
    rng: np.random.Generator,
) -> View:
    """Give every record of a view items, drawn without replacement, all equally likely.

    Parameters
    ----------
    view : View
        The records.
    items_per_record : int
        How many items each gets.
    vocabulary : int
        How many different items there are.
    column : str
        What the column is called; one that is not there yet.
    rng : Generator
        What is drawn from.

    Returns
    -------
    View
        The same, with a column of texts such as ``"item 3, item 17"``.

    Raises
    ------
    ValueError
        If more items are asked for than there are, or the view has such a column.

    Notes
    -----
    Nothing ties the items to the person, or to each other, as in the paper's experiment: a record's labels are those that
    happen to have its items, and none of them is true. Cost: O(n vocabulary).
    """
    if not 0 <= items_per_record <= vocabulary:
        raise ValueError(
            f"items_per_record is {items_per_record}, of a vocabulary of {vocabulary}; a record has 0 items to {vocabulary}."
        )
    if column in view.frame.columns:
        raise ValueError(f"the view at {view.time!r} has a column {column!r}; name another for the items.")
    drawn = rng.random((len(view), vocabulary)).argsort(axis=1)[:, :items_per_record]
    texts = [", ".join(_names(sorted(row))) for row in drawn.tolist()]
    return View(view.frame.assign(**{column: texts}), view.schema, view.time)


def random_knowledge(
    labels: int = 3000, mean_items: float = 100.0, vocabulary: int = VOCABULARY, *, rng: np.random.Generator
) -> ExternalKnowledge:
    """Labels that go with random items: how many follows a Poisson distribution, at least 1 and at most all there are.

    Parameters
    ----------
    labels : int
        How many labels, called ``"label 1"``, ...
    mean_items : float
        The mean of the Poisson distribution.
    vocabulary : int
        How many different items there are; the same as of `random_items`.
    rng : Generator
        What is drawn from.

    Raises
    ------
    ValueError
        If there is no label or no item, or the mean is negative.

    Notes
    -----
    Shi, Xiong, Fung, section 3: "3000 pieces of knowledge labels linked to random QS terms whose appearance in each tuple follows
    a Poisson distribution with lambda = 100", read as above. Cost: O(labels vocabulary).

    Examples
    --------
    >>> random_knowledge(labels=30, mean_items=3, vocabulary=10, rng=np.random.default_rng(1))
    ExternalKnowledge(30 labels, 10 items)
    """
    for name, number, least in (("labels", labels, 1), ("vocabulary", vocabulary, 1), ("mean_items", mean_items, 0)):
        if not number >= least:
            raise ValueError(f"{name} is {number}; it must be {least} or more.")
    sizes = np.clip(rng.poisson(mean_items, labels), 1, vocabulary).tolist()
    orders = rng.random((labels, vocabulary)).argsort(axis=1).tolist()
    return ExternalKnowledge(
        {
            f"label {number}": _names(sorted(order[:size]))
            for number, (order, size) in enumerate(zip(orders, sizes, strict=True), 1)
        }
    )


def adult_with_items(
    folder: str | Path,
    records: int = 3000,
    vocabulary: int = VOCABULARY,
    hierarchies: str | Path | None = None,
    *,
    rng: np.random.Generator,
) -> tuple[View, Linking]:
    """The data of the paper's experiments: records of Adult with 9 random items each, and 3,000 labels with some 100.

    Parameters
    ----------
    folder, hierarchies : path
        As `adult` takes them.
    records : int
        How many records are drawn from the table, without replacement; they stay in its order.
    vocabulary : int
        How many different items there are.
    rng : Generator
        What is drawn from.

    Returns
    -------
    view : View
        8 quasi-identifiers, `IDENTIFYING`, with the domains of the whole table; the salary class is the sensitive attribute,
        and a column ``items``.
    linking : Linking
        Of these items with the labels.
    """
    whole = adult(folder, "salary-class", IDENTIFYING, hierarchies)
    if not 1 <= records <= len(whole):
        raise ValueError(f"records is {records}; the table has {len(whole)}, draw 1 or more of them.")
    chosen = np.sort(rng.choice(len(whole), records, replace=False))
    view = random_items(View(whole.frame.iloc[chosen], whole.schema), vocabulary=vocabulary, rng=rng)
    return view, Linking(random_knowledge(vocabulary=vocabulary, rng=rng), "items")


def _names(numbers: Sequence[int]) -> list[str]:
    return [f"item {number + 1}" for number in numbers]
