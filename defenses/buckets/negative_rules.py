"""Negative association rules of a table: who, by what is publicly known, never has which sensitive value."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from foreknow.defenses.buckets.rule_items import items_of
from foreknow.defenses.buckets.rule_mining import Denial, Table, mine
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.settings import check_whole


@dataclass(frozen=True)
class NegativeRule:
    """Who meets a condition does not have a value.

    Attributes
    ----------
    condition : tuple of (str, str)
        Attributes, each with a value, a generalization of its hierarchy, or about which number.
    value : Hashable
        The sensitive value.
    confidence : float
        The share of those who meet the condition that do not have it: ``1 - P(XY) / P(X)``.
    support : float
        The share of the table that meets the condition, ``P(X)``.
    expectation : float
        How probably somebody would meet the condition and have the value if the two were independent.
    """

    condition: tuple[tuple[str, str], ...]
    value: Hashable
    confidence: float
    support: float
    expectation: float

    def __str__(self) -> str:
        return " and ".join(f"{name} is {label}" for name, label in self.condition) + f" => not {self.value}"


@dataclass(frozen=True, eq=False)
class NegativeRules:
    """The rules of a table, and what they say of its records.

    Attributes
    ----------
    rules : tuple of NegativeRule
        The most general ones, with fewer conditions first.
    forbidden : bool array, shape (n, m)
        Which values the rules deny to which record.
    """

    rules: tuple[NegativeRule, ...]
    forbidden: BoolArray

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[NegativeRule]:
        return iter(self.rules)


def negative_rules(
    view: View, min_confidence: float = 1.0, min_expectation: float = 0.9, terms: int = 5
) -> NegativeRules:
    """The negative association rules X => not Y of a view: what anybody may learn from it of its own respondents.

    X asks of one or more quasi-identifiers for a value, or a generalization below the root of its hierarchy; Y is one
    sensitive value. A rule has ``1 - P(XY) / P(X) >= min_confidence`` and ``1 - (1 - P(X) P(Y))^n >= min_expectation``,
    that is ``P(X) >= minSup(Y)``, `least_support`. Only the most general rules are listed: one whose conditions are
    narrower denies its value to nobody else.

    Parameters
    ----------
    view : View
    min_confidence : float
        Above 0, at most 1. At 1, the default, X and Y never meet, so that no record is denied its own value. Below 1 a rule
        has exceptions, and it denies their own value to them too; a rare value is soon denied to almost everybody.
    min_expectation : float
        Above 0, below 1. It keeps out rules that hold because their condition or their value is rare.
    terms : int
        How many fuzzy terms a number has, 2 or more: "about c", for as many c from the one end of its domain to the other,
        equally far apart. A number x is a member of degree ``max(0, 1 - |x - c| / step)``, which sum to 1.

    Returns
    -------
    NegativeRules

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    T. Li, N. Li, ICDE 2008. A record is a member of X of the least degree among X's items, ``P(X)`` is the mean of these
    degrees over all records, and ``P(XY)`` that of the degrees of the records with Y, over all as well; without numbers they
    are shares of records. Which fuzzy terms the paper took is not known here, nor which records a rule then applies to: here
    to all that are members of any degree, which at confidence 1 is where no record has Y.

    Exact: every itemset that is frequent enough for some value which no more general rule denies is visited, after all that
    are more general. Cost: O(sum of the records of these itemsets), their number at worst exponential in that of attributes.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Categorical, Schema
    >>> frame = pd.DataFrame({"id": range(40), "sex": ["M", "F"] * 20, "illness": ["flu", "flu", "prostate", "flu"] * 10})
    >>> sexes = {"sex": Categorical(("M", "F"))}
    >>> rules = negative_rules(View(frame, Schema(sexes, "illness", ("flu", "prostate"))))
    >>> [str(rule) for rule in rules]
    ['sex is F => not prostate']
    >>> rules.forbidden[:2].tolist()
    [[False, False], [False, True]]
    """
    check_settings("negative_rules", min_confidence, min_expectation, terms)
    table = Table.of(view, items_of(view, int(terms)))
    denials = mine(table, min_confidence, least_support(len(view), table.share, min_expectation))
    forbidden = np.zeros((len(table.count), len(table.share)), dtype=bool)
    for denial in denials:
        forbidden[denial.rows, denial.value] = True
    rules = sorted((_rule(view, table, denial) for denial in denials), key=lambda rule: len(rule.condition))
    return NegativeRules(tuple(rules), forbidden[table.row])


def _rule(view: View, table: Table, denial: Denial) -> NegativeRule:
    condition = tuple((of.attribute, of.labels[i]) for of, i in zip(table.items, denial.itemset, strict=True) if i)
    expectation = -np.expm1(len(view) * np.log1p(-denial.support * table.share[denial.value]))
    value = view.schema.values[denial.value]
    return NegativeRule(condition, value, denial.confidence, denial.support, float(expectation))


def least_support(records: int, share: FloatArray, min_expectation: float) -> FloatArray:
    """minSup(Y) for values of some shares in a table: ``(1 - (1 - min_expectation)^(1 / n)) / P(Y)``.

    >>> f"{least_support(45_222, np.array([0.01]), 0.9)[0]:.3g}"
    '0.00509'
    """
    smallest = -np.expm1(np.log1p(-min_expectation) / records)
    return np.asarray(np.divide(smallest, share, out=np.full(len(share), np.inf), where=share > 0))


def check_settings(owner: str, min_confidence: float, min_expectation: float, terms: int) -> None:
    """Raise ValueError if a setting of the mining is out of its range."""
    if not 0 < min_confidence <= 1:
        raise ValueError(f"{owner}: min_confidence is {min_confidence}; it is a share above 0, at most 1.")
    if not 0 < min_expectation < 1:
        raise ValueError(f"{owner}: min_expectation is {min_expectation}; it is a probability above 0 and below 1.")
    check_whole(owner, "terms", terms, "fuzzy terms")
    if terms < 2:
        raise ValueError(f"{owner}: terms is {terms}; one term holds every number alike. Take 2 or more.")
