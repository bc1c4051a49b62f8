"""Errors of mined global probabilities, and their differences among the members of a group."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from foreknow.attacks.foreground import ForegroundBeliefs
from foreknow.evaluation.arguments import release_table
from foreknow.evaluation.risk.beliefs_and_truth import mean, original_view
from foreknow.models import History, Observation, View
from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.global_distribution import INTERVAL, GlobalDistribution
from foreknow.models.settings import check_flag, check_kind
from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values, sensitive_codes

COLUMNS = ("time", "attributes", "signature", "support", "probability", "frequency")
ERRORS = ("relative_error", "absolute_error", "signatures", "zeros")


def global_probabilities(
    beliefs: ForegroundBeliefs, history: History, sensitive_set: Collection[Hashable]
) -> pd.DataFrame:
    """Mined global probabilities of a sensitive set, beside its frequencies in the original records.

    Parameters
    ----------
    beliefs : ForegroundBeliefs
        The result of a `ForegroundAttack`.
    history : History
        The original records.
    sensitive_set : collection of values
        The set that the attack was given; any set, if the attack distinguished all values.

    Returns
    -------
    DataFrame
        One row per release, attribute set and signature: ``time``; ``attributes`` and ``signature``, as text; ``support``, the
        number of published records of the signature; ``probability``, as mined; ``frequency``, the fraction of the original
        records of the signature, suppressed ones included, that have a value of the set; and, where the fit has draws, ``low``
        and ``high``, the ends of the 90 % credible interval. Signatures without enough support are left out.

    Examples
    --------
    Example 2 of the paper, with true values that its groups allow:

    >>> from foreknow.attacks import ForegroundAttack
    >>> from foreknow.models import Categorical, History, Release, Schema, View
    >>> frame = pd.DataFrame({"id": range(6), "A": ["s1", "s2", "s1", "s1", "s2", "s2"], "X": ["x", "y", "x", "y", "y", "y"]})
    >>> view = View(frame, Schema({"A": Categorical(("s1", "s2"))}, "X", ("x", "y")))
    >>> beliefs = ForegroundAttack(sensitive_set={"x"}, support=1)([Release(view, [0, 0, 1, 1, 2, 2])])
    >>> global_probabilities(beliefs, History([view]), {"x"}).round(6).drop(columns="time")
      attributes signature  support  probability  frequency
    0          A        s1        3     0.666667   0.666667
    1          A        s2        3     0.000000   0.000000
    """
    checked = as_sensitive_values("global_probabilities", sensitive_set)
    tables = []
    for observation, distributions in global_distributions("global_probabilities", beliefs):
        view = original_view(history, observation)
        tables += [signature_table("global_probabilities", one, view, checked) for one in distributions]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=pd.Index(COLUMNS))


def global_errors(
    beliefs: ForegroundBeliefs, history: History, sensitive_set: Collection[Hashable], *, by_attribute_set: bool = False
) -> pd.DataFrame:
    """Mean errors of mined global probabilities against the frequencies in the original records.

    The relative error of a signature is ``|p - f| / f`` (foreground knowledge, section 5.1).

    Parameters
    ----------
    beliefs, history, sensitive_set
        As for `global_probabilities`.
    by_attribute_set : bool
        True for a row per attribute set; False for a row per release, over the signatures of all sets.

    Returns
    -------
    DataFrame
        Columns ``time``, and ``attributes`` with a row per attribute set; ``relative_error`` and ``absolute_error``, the mean
        relative error and the mean of ``|p - f|``; ``signatures``, their number; ``zeros``, the number of signatures of frequency
        0, which are left out of the relative error. It is NaN where none remains.
    """
    check_flag("global_errors", "by_attribute_set", by_attribute_set)
    checked = as_sensitive_values("global_errors", sensitive_set)
    rows = []
    for observation, distributions in global_distributions("global_errors", beliefs):
        view = original_view(history, observation)
        pairs = {attribute_names(one): _pairs("global_errors", one, view, checked) for one in distributions}
        rows += release_rows(observation.time, pairs, _errors, by_attribute_set)
    return release_table(rows, ["time", *["attributes"] * by_attribute_set, *ERRORS])


def signature_table(
    owner: str, distribution: GlobalDistribution, view: View, sensitive_set: tuple[Hashable, ...]
) -> pd.DataFrame:
    """Rows of `global_probabilities` for one attribute set."""
    pairs = _pairs(owner, distribution, view, sensitive_set)
    table = pd.DataFrame(
        {
            "time": [view.time] * len(pairs),
            "attributes": attribute_names(distribution),
            "signature": _signature_names(distribution),
            "support": distribution.signatures.support,
            "probability": pairs[:, 0],
            "frequency": pairs[:, 1],
        }
    )
    if distribution.fit.draws is not None:
        draws = set_probabilities(owner, distribution, distribution.fit.draws, sensitive_set)
        table["low"], table["high"] = np.quantile(draws, INTERVAL, axis=0)
    return table


def _errors(pairs: FloatArray) -> dict[str, object]:
    """Columns of `global_errors` from pairs of a probability and a frequency."""
    probability, frequency = pairs.T
    error, positive = np.abs(probability - frequency), frequency > 0
    return {
        "relative_error": mean(error[positive] / frequency[positive]),
        "absolute_error": mean(error),
        "signatures": len(error),
        "zeros": int((~positive).sum()),
    }


def _pairs(owner: str, distribution: GlobalDistribution, view: View, sensitive_set: tuple[Hashable, ...]) -> FloatArray:
    """Mined probability of each signature, and its frequency among all original records of it: shape ``(s, 2)``."""
    codes = sensitive_codes(owner, view.schema.values, sensitive_set)
    signature, s = distribution.signatures.signature, len(distribution.signatures)
    holders = signature[np.isin(view.sensitive, codes) & (signature >= 0)]
    frequency = np.bincount(holders, minlength=s) / np.bincount(signature[signature >= 0], minlength=s)
    probability = set_probabilities(owner, distribution, distribution.probabilities, sensitive_set)
    return np.column_stack([probability, frequency])


def _signature_names(distribution: GlobalDistribution) -> list[str]:
    """Each signature as text: its values, in the order of the attributes, separated by commas."""
    columns = distribution.signatures.labels.values()
    return [
        ", ".join(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)
        for labels in zip(*columns, strict=True)
    ]


DIFFERENCE_COLUMNS = ("greatest_difference", "compared", "left_out")


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
    return release_table(rows, ["time", *["attributes"] * by_attribute_set, *DIFFERENCE_COLUMNS])


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


def global_distributions(
    owner: str, beliefs: ForegroundBeliefs
) -> Iterator[tuple[Observation, tuple[GlobalDistribution, ...]]]:
    """Each release with its global distributions; ``owner`` is the measure, for error messages."""
    takes = "holds global distributions; give what a ForegroundAttack returned, because other attacks mine none"
    check_kind(owner, "beliefs", beliefs, ForegroundBeliefs, takes)
    return zip((release.observation for release in beliefs), beliefs.knowledge, strict=True)


def set_probabilities(
    owner: str, distribution: GlobalDistribution, probabilities: FloatArray, sensitive_set: tuple[Hashable, ...] | None
) -> FloatArray:
    """Probability of a sensitive set under distributions of one attribute set: shape ``(..., s, m)`` to ``(..., s)``.

    The set may be omitted where the attack was given one, which is then used.
    """
    mined = distribution.sensitive_set
    if sensitive_set is not None:
        codes = SensitiveSet.within(mined.domain, sensitive_set, owner).codes
        if not mined.is_proper_subset:
            return np.asarray(probabilities[..., codes].sum(axis=-1))
        if not np.array_equal(codes, mined.codes):
            wanted, given = (", ".join(repr(mined.domain[code]) for code in some) for some in (codes, mined.codes))
            raise ValueError(
                f"{owner}: the set asked for is {{{wanted}}}, and the attack was given {{{given}}}, the only set it has "
                f"probabilities of; attack with sensitive_set={{{wanted}}}, or with sensitive_set=None, for all values."
            )
    elif not mined.is_proper_subset:
        raise ValueError(
            f"{owner}: the attack distinguished all values, so that there is no one sensitive set; name it, as "
            "sensitive_set={...}."
        )
    return np.asarray(probabilities[..., 0])


def release_rows(
    time: Any,
    pairs: Mapping[str, FloatArray],
    measure: Callable[[FloatArray], dict[str, object]],
    by_attribute_set: bool,
) -> list[dict[str, object]]:
    """Rows of one release: one, or one for each attribute set, of the pairs of numbers that a measure compares."""
    if by_attribute_set:
        return [{"time": time, "attributes": name} | measure(some) for name, some in pairs.items()]
    return [{"time": time} | measure(np.concatenate([np.zeros((0, 2)), *pairs.values()]))]


def attribute_names(distribution: GlobalDistribution) -> str:
    """The attribute set as text: its names, separated by commas."""
    return ", ".join(distribution.attributes)
