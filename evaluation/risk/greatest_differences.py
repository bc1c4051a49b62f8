"""How unlike the people of a group are in what a release taught of the population."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.attacks import ForegroundBeliefs
from foreknow.evaluation.risk.beliefs_and_truth import check_set, mean
from foreknow.evaluation.risk.mined_distributions import knowledge, named, of_set, summarized
from foreknow.models import GlobalDistribution, Observation
from foreknow.models.arrays import FloatArray


def greatest_differences(
    beliefs: ForegroundBeliefs, sensitive: Collection[Hashable] | None = None, by_attribute_set: bool = False
) -> pd.DataFrame:
    """The greatest less the least global probability of a sensitive set within a group, on average.

    What the paper calls Delta (foreground knowledge, section 5.2, measurement 4): the larger it is, the more a global
    distribution tells the people of a group apart.

    Parameters
    ----------
    beliefs : ForegroundBeliefs
        What a `ForegroundAttack` returned.
    sensitive : collection of values, optional
        The set, where the attack told all values apart; otherwise it is the attack's, and need not be named.
    by_attribute_set : bool
        Whether each attribute set has a row; otherwise a release has one, over all pairs of a group and an attribute set.

    Returns
    -------
    DataFrame
        Columns ``time``, and ``attributes`` if each set has a row; ``difference``, the mean over pairs of a group and an
        attribute set; ``groups``, how many pairs these are; ``left_out``, in how many more no member's signature has enough
        support. Only members whose signature has it are compared; one alone differs by 0.

    Raises
    ------
    ValueError, TypeError
        If the beliefs are no foreground attack's; if a set is needed and not given, empty, not in the domain or
        all of it, or not the attack's.

    Notes
    -----
    Cost: O(n) per attribute set.

    Examples
    --------
    In Example 2 of the paper f is (2/3, 0), and one group of three holds both signatures:

    >>> from foreknow.attacks import ForegroundAttack
    >>> from foreknow.models import PublishedTable
    >>> table = PublishedTable(
    ...     pd.DataFrame(
    ...         {"A": ["s1", "s2", "s1", "s1", "s2", "s2"], "group": [1, 1, 2, 2, 3, 3], "X": ["x", "y", "x", "y", "y", "z"]}
    ...     ),
    ...     sensitive="X",
    ... )
    >>> greatest_differences(ForegroundAttack(sensitive={"x"}, support=1)([table])).round(6)
       time  difference  groups  left_out
    0     0    0.222222       3         0
    """
    checked = None if sensitive is None else check_set("greatest_differences", sensitive)
    rows = []
    for seen, found in knowledge(beliefs):
        pairs = {named(one): _ends(one, seen, checked) for one in found}
        rows += summarized(seen.time, pairs, _apart, by_attribute_set)
    return pd.DataFrame(rows)


def _apart(ends: FloatArray) -> dict[str, object]:
    difference = ends[:, 1] - ends[:, 0]
    known = ~np.isnan(difference)
    return {"difference": mean(difference[known]), "groups": int(known.sum()), "left_out": int((~known).sum())}


def _ends(distribution: GlobalDistribution, seen: Observation, sensitive: tuple[Hashable, ...] | None) -> FloatArray:
    """The least and the greatest probability among each group's supported members, NaN where there are none: ``(g, 2)``."""
    probability = of_set("greatest_differences", distribution, distribution.probabilities, sensitive)
    person = distribution.signatures.person
    inside = (person >= 0) & (seen.group >= 0)
    ends = np.tile([np.inf, -np.inf], (len(seen.counts), 1))
    np.minimum.at(ends[:, 0], seen.group[inside], probability[person[inside]])
    np.maximum.at(ends[:, 1], seen.group[inside], probability[person[inside]])
    return np.where(np.isfinite(ends), ends, np.nan)
