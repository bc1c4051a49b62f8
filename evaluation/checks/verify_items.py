"""The independent checker of releases that show items."""

from collections.abc import Hashable, Mapping

import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses import Requirement
from foreknow.evaluation.checks.label_definitions import ShownItems
from foreknow.evaluation.checks.verify import verdicts
from foreknow.models import ItemRelease


def verify_items(
    release: ItemRelease,
    requirement: Requirement,
    label_prior: Mapping[Hashable, float] | None = None,
    prior: ArrayLike | None = None,
) -> pd.DataFrame:
    """Whether each group of a release that shows items satisfies a requirement, recomputed from what is published.

    Parameters
    ----------
    release : ItemRelease
        What was published: the items are read off its table.
    requirement : Requirement
        What it should satisfy. Whatever is not about labels is checked as `verify` does.
    label_prior : mapping of label to float, optional
        The prior belief in each label, and in ``"none"`` of them: the alpha of `QSCloseness`. It is of the items before any
        was left out, which no public table shows; left out, it is made of the column of the release's view, as the
        requirement's ``prior`` reads it. "uniform" needs neither.
    prior : float array or DataFrame, shape (n, m), optional
        As `verify` has it.

    Returns
    -------
    DataFrame
        As `verify` has it.

    Raises
    ------
    ValueError
        If the requirement is about another column of items, ``label_prior`` does not sum to 1, or as `verify` has it.
    TypeError
        If the release is of another kind, or the checker does not know the requirement.

    Notes
    -----
    Items are compared by their texts, as a table shows them. Suppressed records, and counterfeits, who have no items, count
    nowhere.
    Cost: O(e) for each item of a record, of e labels: seconds for 3,000 records and 3,000 labels.
    """
    if not isinstance(release, ItemRelease):
        raise TypeError(
            f"verify_items takes an ItemRelease, and got {type(release).__name__}; make one, as "
            "ItemRelease(release, linking, linking.items_of(release.view)), or use verify if nothing asked is about items."
        )
    if label_prior is not None and not (
        min(label_prior.values(), default=-1.0) >= 0 and abs(sum(label_prior.values()) - 1) <= 1e-6
    ):
        raise ValueError(f"label_prior sums to {sum(label_prior.values())}, or is below 0 somewhere; normalize it.")
    linking = release.linking
    shown = ShownItems(
        release.table, linking.items, linking.separator, release.release.view.frame[linking.items].tolist(), label_prior
    )
    return verdicts(release.release, requirement, prior, shown)
