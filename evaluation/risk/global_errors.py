"""Errors of mined global probabilities against the frequencies in the original records."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.attacks import ForegroundBeliefs
from foreknow.evaluation.release_table import release_table
from foreknow.evaluation.risk.beliefs_and_truth import mean, original_view
from foreknow.evaluation.risk.mined_distributions import (
    attribute_names,
    global_distributions,
    release_rows,
    set_probabilities,
)
from foreknow.models import GlobalDistribution, History, View
from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.beliefs import INTERVAL
from foreknow.models.settings import check_flag
from foreknow.models.tables.sensitive_set import as_sensitive_values, sensitive_codes

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

    Raises
    ------
    ValueError, TypeError
        If the beliefs are not those of a foreground attack; if the set is empty, not in the domain, the whole domain, or not
        the attack's; if the history is not the one published.

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

    Raises
    ------
    ValueError, TypeError
        As `global_probabilities`.
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
