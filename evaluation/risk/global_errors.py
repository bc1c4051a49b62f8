"""What a release taught of the population, held against the population."""

from collections.abc import Collection, Hashable

import numpy as np
import pandas as pd

from foreknow.attacks import ForegroundBeliefs
from foreknow.evaluation.risk.beliefs_and_truth import check_set, mean, original_view
from foreknow.evaluation.risk.mined_distributions import knowledge, named, of_set, summarized
from foreknow.models import GlobalDistribution, History, View
from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.sensitive_set import SensitiveSet

COLUMNS = ("time", "attributes", "signature", "support", "probability", "frequency")


def global_probabilities(beliefs: ForegroundBeliefs, history: History, sensitive: Collection[Hashable]) -> pd.DataFrame:
    """Every mined global probability of a sensitive set, beside how often the original table has it.

    Parameters
    ----------
    beliefs : ForegroundBeliefs
        What a `ForegroundAttack` returned.
    history : History
        The original records.
    sensitive : collection of values
        The set the attack was given; any set, if the attack told all values apart.

    Returns
    -------
    DataFrame
        One row per release, attribute set and signature: ``time``; ``attributes`` and ``signature``, in words; ``support``, how
        many published people match it; ``probability``, as it was mined; ``frequency``, the share of the people who match it
        in the original table, suppressed ones among them, who have a value of the set; and, where the fit has draws, ``low``
        and ``high``, the ends of the 90 % credible interval. Signatures without support are left out.

    Raises
    ------
    ValueError, TypeError
        If the beliefs are no foreground attack's; if the set is empty, not in the domain or all of it, or not
        the attack's; if the history is not
        the one published.

    Examples
    --------
    Example 2 of the paper, with truths that its groups allow:

    >>> from foreknow.attacks import ForegroundAttack
    >>> from foreknow.models import Categorical, History, Release, Schema, View
    >>> frame = pd.DataFrame({"id": range(6), "A": ["s1", "s2", "s1", "s1", "s2", "s2"], "X": ["x", "y", "x", "y", "y", "y"]})
    >>> view = View(frame, Schema({"A": Categorical(("s1", "s2"))}, "X", ("x", "y")))
    >>> beliefs = ForegroundAttack(sensitive={"x"}, support=1)([Release(view, [0, 0, 1, 1, 2, 2])])
    >>> global_probabilities(beliefs, History([view]), {"x"}).round(6).drop(columns="time")
      attributes signature  support  probability  frequency
    0          A        s1        3     0.666667   0.666667
    1          A        s2        3     0.000000   0.000000
    """
    checked = check_set("global_probabilities", sensitive)
    tables = []
    for seen, found in knowledge(beliefs):
        view = original_view(history, seen)
        tables += [mined_and_true("global_probabilities", one, view, checked) for one in found]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=pd.Index(COLUMNS))


def global_errors(
    beliefs: ForegroundBeliefs, history: History, sensitive: Collection[Hashable], by_attribute_set: bool = False
) -> pd.DataFrame:
    """How far mined global probabilities are from the original table's frequencies, on average over the signatures.

    The relative error is ``|p - f| / f`` (foreground knowledge, section 5.1).

    Parameters
    ----------
    beliefs, history, sensitive
        As `global_probabilities` has them.
    by_attribute_set : bool
        Whether each attribute set has a row; otherwise a release has one, over the signatures of all.

    Returns
    -------
    DataFrame
        Columns ``time``, and ``attributes`` if each set has a row; ``relative`` and ``absolute``, the mean relative error and the
        mean of ``|p - f|``; ``signatures``, how many there are; ``zeros``, how many of them have a frequency of 0 and so are
        left out of the relative error, which is NaN where none is left.

    Raises
    ------
    ValueError, TypeError
        As `global_probabilities`.
    """
    checked = check_set("global_errors", sensitive)
    rows = []
    for seen, found in knowledge(beliefs):
        view = original_view(history, seen)
        pairs = {named(one): _pairs("global_errors", one, view, checked) for one in found}
        rows += summarized(seen.time, pairs, _errors, by_attribute_set)
    return pd.DataFrame(rows)


def mined_and_true(
    owner: str, distribution: GlobalDistribution, view: View, sensitive: tuple[Hashable, ...]
) -> pd.DataFrame:
    """The rows of `global_probabilities` that are of one attribute set."""
    pairs = _pairs(owner, distribution, view, sensitive)
    table = pd.DataFrame(
        {
            "time": [view.time] * len(pairs),
            "attributes": named(distribution),
            "signature": _words(distribution),
            "support": distribution.signatures.support,
            "probability": pairs[:, 0],
            "frequency": pairs[:, 1],
        }
    )
    if distribution.fit.draws is not None:
        each = of_set(owner, distribution, distribution.fit.draws, sensitive)
        table["low"], table["high"] = np.quantile(each, [0.05, 0.95], axis=0)
    return table


def _errors(pairs: FloatArray) -> dict[str, object]:
    probability, frequency = pairs.T
    error, there = np.abs(probability - frequency), frequency > 0
    return {
        "relative": mean(error[there] / frequency[there]),
        "absolute": mean(error),
        "signatures": len(error),
        "zeros": int((~there).sum()),
    }


def _pairs(owner: str, distribution: GlobalDistribution, view: View, sensitive: tuple[Hashable, ...]) -> FloatArray:
    """Each signature's mined probability, and its frequency among all people who match it: shape ``(s, 2)``."""
    codes = SensitiveSet.of(view.schema.values, sensitive, owner).sensitive
    person, s = distribution.signatures.person, len(distribution.signatures)
    holders = person[np.isin(view.sensitive, codes) & (person >= 0)]
    frequency = np.bincount(holders, minlength=s) / np.bincount(person[person >= 0], minlength=s)
    return np.column_stack([of_set(owner, distribution, distribution.probabilities, sensitive), frequency])


def _words(distribution: GlobalDistribution) -> list[str]:
    """Each signature in words: its values, in the order of the attributes."""
    columns = distribution.signatures.labels.values()
    return [
        ", ".join(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)
        for labels in zip(*columns, strict=True)
    ]
