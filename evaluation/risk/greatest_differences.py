"""Differences of mined global probabilities among the members of a group."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.attacks import ForegroundBeliefs
from foreknow.evaluation.release_table import release_table
from foreknow.evaluation.risk.beliefs_and_truth import mean
from foreknow.evaluation.risk.mined_distributions import (
    attribute_names,
    global_distributions,
    release_rows,
    set_probabilities,
)
from foreknow.models import GlobalDistribution, Observation
from foreknow.models.arrays import FloatArray
from foreknow.models.settings import check_flag
from foreknow.models.tables.sensitive_set import as_sensitive_values

COLUMNS = ("greatest_difference", "compared", "left_out")


def greatest_differences(
    beliefs: ForegroundBeliefs, sensitive_set: Collection[Hashable] | None = None, *, by_attribute_set: bool = False
) -> pd.DataFrame:
    """Mean over groups of the range of the global probabilities of a sensitive set: the largest minus the smallest.

    The paper calls it Delta (foreground knowledge, section 5.2, measurement 4). The larger it is, the more a global distribution
    distinguishes the members of a group.

    Parameters
    ----------
    beliefs : ForegroundBeliefs
        The result of a `ForegroundAttack`.
    sensitive_set : collection of values, optional
        The set, where the attack distinguished all values; otherwise the attack's set is used.
    by_attribute_set : bool
        True for a row per attribute set; False for a row per release, over all pairs of a group and an attribute set.

    Returns
    -------
    DataFrame
        Columns ``time``, and ``attributes`` with a row per attribute set; ``greatest_difference``, the mean over pairs of a group
        and an attribute set; ``compared``, the number of these pairs; ``left_out``, the number of pairs in which no member's
        signature has enough support. Only members whose signature has it are compared; a single one has the difference 0.

    Raises
    ------
    ValueError, TypeError
        If the beliefs are not those of a foreground attack; if a set is needed and omitted; if the set is empty, not in the
        domain, the whole domain, or not the attack's.

    Notes
    -----
    Cost: O(n) per attribute set.

    Examples
    --------
    In Example 2 of the paper f is (2/3, 0), and one group of three has records of both signatures:

    >>> from foreknow.attacks import ForegroundAttack
    >>> from foreknow.models import PublishedTable
    >>> table = PublishedTable(
    ...     pd.DataFrame(
    ...         {"A": ["s1", "s2", "s1", "s1", "s2", "s2"], "group": [1, 1, 2, 2, 3, 3], "X": ["x", "y", "x", "y", "y", "z"]}
    ...     ),
    ...     sensitive="X",
    ... )
    >>> greatest_differences(ForegroundAttack(sensitive_set={"x"}, support=1)([table])).round(6)
       time  greatest_difference  compared  left_out
    0     0             0.222222         3         0
    """
    check_flag("greatest_differences", "by_attribute_set", by_attribute_set)
    checked = None if sensitive_set is None else as_sensitive_values("greatest_differences", sensitive_set)
    rows = []
    for observation, distributions in global_distributions("greatest_differences", beliefs):
        pairs = {attribute_names(one): _extremes(one, observation, checked) for one in distributions}
        rows += release_rows(observation.time, pairs, _differences, by_attribute_set)
    return release_table(rows, ["time", *["attributes"] * by_attribute_set, *COLUMNS])


def _differences(extremes: FloatArray) -> dict[str, object]:
    """Columns of `greatest_differences` from the extremes of groups."""
    difference = extremes[:, 1] - extremes[:, 0]
    compared = ~np.isnan(difference)
    return {
        "greatest_difference": mean(difference[compared]),
        "compared": int(compared.sum()),
        "left_out": int((~compared).sum()),
    }


def _extremes(
    distribution: GlobalDistribution, observation: Observation, sensitive_set: tuple[Hashable, ...] | None
) -> FloatArray:
    """Smallest and largest probability among each group's members of supported signatures, NaN without any: ``(g, 2)``."""
    probability = set_probabilities("greatest_differences", distribution, distribution.probabilities, sensitive_set)
    signature, group = distribution.signatures.signature, observation.group
    inside = (signature >= 0) & (group >= 0)
    extremes = np.tile([np.inf, -np.inf], (len(observation.counts), 1))
    np.minimum.at(extremes[:, 0], group[inside], probability[signature[inside]])
    np.maximum.at(extremes[:, 1], group[inside], probability[signature[inside]])
    return np.where(np.isfinite(extremes), extremes, np.nan)
