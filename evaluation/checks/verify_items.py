"""Independent checker of releases that show items."""

import math
from collections.abc import Hashable, Mapping

import pandas as pd
from numpy.typing import ArrayLike

from foreknow.defenses import Requirement
from foreknow.evaluation.checks.label_definitions import ShownItems
from foreknow.evaluation.checks.verify import verdicts
from foreknow.models import ItemRelease
from foreknow.models.settings import check_kind, is_number

PROBABILITY_TOLERANCE = 1e-6
"""Largest difference of the sum of a prior from 1."""


def verify_items(
    release: ItemRelease,
    requirement: Requirement,
    label_prior: Mapping[Hashable, float] | None = None,
    prior: ArrayLike | None = None,
) -> pd.DataFrame:
    """Verify a requirement for each group of a release that shows items, recomputed from the published table.

    Parameters
    ----------
    release : ItemRelease
        Its items are read from its table.
    requirement : Requirement
        Parts that are not about labels are checked as in `verify`.
    label_prior : mapping of label to float, optional
        Prior belief in each label, and in ``"none"``: the alpha of `QSCloseness`. It is of the items before any was removed, which
        no public table shows. By default it is computed from the column of the release's view, as the requirement's
        ``prior`` reads it; ``"uniform"`` needs neither.
    prior : float array or DataFrame, shape (n, m), optional
        As in `verify`.

    Returns
    -------
    DataFrame
        As in `verify`.

    Raises
    ------
    ValueError
        If the requirement is about another column of items, ``label_prior`` is no distribution, or as `verify` raises.
    TypeError
        If the release or the prior is of another type, or the checker has no definition of the requirement.

    Notes
    -----
    Items are compared by their texts, as a table shows them. Suppressed records, and counterfeits, which have no items, are not
    counted. Cost: O(e) for each item of a record and e labels: seconds for 3,000 records and 3,000 labels.
    """
    if not isinstance(release, ItemRelease):
        raise TypeError(
            f"verify_items takes an ItemRelease, and got {type(release).__name__}; make one, as "
            "ItemRelease(release, linking, linking.items_of(release.view)), or use verify if the requirement is not about items."
        )
    check_kind(
        "verify_items", "requirement", requirement, Requirement, "is a Requirement, as QSDiversity(1, 5, linking)"
    )
    if label_prior is not None:
        _check_label_prior(label_prior)
    linking = release.linking
    shown = ShownItems(
        release.table, linking.items, linking.separator, release.release.view.frame[linking.items].tolist(), label_prior
    )
    return verdicts(release.release, requirement, prior, shown)


def _check_label_prior(label_prior: Mapping[Hashable, float]) -> None:
    """Raise an error unless the prior is a distribution over labels."""
    check_kind(
        "verify_items", "label_prior", label_prior, Mapping, "is a mapping of each label, and 'none', to a probability"
    )
    numbers = list(label_prior.values())
    if (
        not all(is_number(p, 0, 1 + PROBABILITY_TOLERANCE) for p in numbers)
        or abs(sum(numbers) - 1) > PROBABILITY_TOLERANCE
    ):
        total = sum(p for p in numbers if is_number(p, -math.inf))
        raise ValueError(
            f"verify_items: label_prior sums to {total:g}, or holds something else than numbers from 0 to 1; normalize it."
        )
