"""Negative association rules of a view: conditions on quasi-identifiers that exclude a sensitive value."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from foreknow.defenses.buckets.rule_items import rule_items
from foreknow.defenses.buckets.rule_mining import Denial, DistinctRecords, most_general_denials
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_kind, check_whole, is_number

MAX_TERMS = 1_000
"""Largest number of fuzzy terms of a numeric attribute; the degrees of all terms and distinct values are stored."""


@dataclass(frozen=True)
class NegativeRule:
    """Rule of the form X => not Y: a record that satisfies the condition does not have the value.

    Attributes
    ----------
    condition : tuple of (str, str)
        Attributes with an item each: a value, a generalization of the hierarchy, or a fuzzy term.
    value : Hashable
        The sensitive value.
    confidence : float
        Share of the records that satisfy the condition and do not have the value: ``1 - P(XY) / P(X)``.
    support : float
        Share of the view that satisfies the condition: ``P(X)``.
    expectation : float
        Probability of at least one exception among n records if condition and value were independent:
        ``1 - (1 - P(X) P(Y))^n``.
    """

    condition: tuple[tuple[str, str], ...]
    value: Hashable
    confidence: float
    support: float
    expectation: float

    def __str__(self) -> str:
        return " and ".join(f"{name} is {label}" for name, label in self.condition) + f" => not {self.value}"


@equal_by_fields
@dataclass(frozen=True, eq=False)
class NegativeRules:
    """Negative rules of a view, and the values that they deny to its records.

    Attributes
    ----------
    rules : tuple of NegativeRule
        The most general rules, those with fewer conditions first.
    forbidden : bool array, shape (n, m)
        True where the rules deny a value to a record.
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
    """Negative association rules X => not Y of a view, which an adversary can learn from it.

    X names, for one or more quasi-identifiers, a value or a generalization below the root of its hierarchy; Y is one sensitive
    value. A rule has ``1 - P(XY) / P(X) >= min_confidence`` and ``1 - (1 - P(X) P(Y))^n >= min_expectation``; the latter is
    ``P(X) >= minSup(Y)``, see `least_support`. Only the most general rules are listed: a rule with a narrower condition denies
    its value to no further record.

    Parameters
    ----------
    view : View
    min_confidence : float
        Above 0, at most 1. At 1, the default, a rule has no exception, so that no record is denied its own value. Below 1, a
        rule has exceptions and denies them their own value; a rare value is then denied to almost all records.
    min_expectation : float
        Above 0, below 1. It excludes rules that hold because their condition or their value is rare.
    terms : int
        Number of fuzzy terms "about c" of a numeric attribute, 2 or more. The peaks c are equidistant, from one end of the
        domain to the other. The degree of membership of x is ``max(0, 1 - |x - c| / step)``; the degrees sum to 1.

    Returns
    -------
    NegativeRules

    Raises
    ------
    TypeError
        If ``view`` is not a View.
    ValueError
        If a setting is out of its range.

    Notes
    -----
    T. Li, N. Li, ICDE 2008. The degree of membership of a record in X is the least over the items of X. ``P(X)`` is the mean
    degree over all records; ``P(XY)`` is the sum of the degrees of the records with Y, over n. Without numeric attributes both
    are shares of records. The paper does not print its fuzzy terms, nor the records to which a rule with such a term applies.
    Here it applies to all records of positive degree; at confidence 1, none of them has Y.

    Exact: every itemset is visited that has the least support of some value which no more general itemset denies. Cost: O(sum
    of the numbers of records of these itemsets). Their number is exponential in the number of attributes at worst.

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
    check_kind("negative_rules", "view", view, View, "is a View; make one by View(frame, schema)")
    check_mining_settings("negative_rules", min_confidence, min_expectation, terms)
    table = DistinctRecords.from_view(view, rule_items(view, int(terms)))
    supports = least_support(len(view), table.share, min_expectation)
    denials = most_general_denials(table, min_confidence, supports)
    forbidden = np.zeros((len(table.count), len(table.share)), dtype=bool)
    for denial in denials:
        forbidden[denial.rows, denial.value] = True
    rules = sorted((_rule(view, table, denial) for denial in denials), key=lambda rule: len(rule.condition))
    return NegativeRules(tuple(rules), forbidden[table.row])


def _rule(view: View, table: DistinctRecords, denial: Denial) -> NegativeRule:
    pairs = zip(table.items, denial.itemset, strict=True)
    condition = tuple((attribute.attribute, attribute.labels[item]) for attribute, item in pairs if item)
    expectation = -np.expm1(len(view) * np.log1p(-denial.support * table.share[denial.value]))
    value = view.schema.values[denial.value]
    return NegativeRule(condition, value, denial.confidence, denial.support, float(expectation))


def least_support(records: int, share: FloatArray, min_expectation: float) -> FloatArray:
    """Least support of a condition, minSup(Y): ``(1 - (1 - min_expectation)^(1 / n)) / P(Y)``, infinite where P(Y) is 0.

    Parameters
    ----------
    records : int
        Number n of records of the table.
    share : float array, shape (m,)
        Share P(Y) of each value.
    min_expectation : float

    Examples
    --------
    >>> f"{least_support(45_222, np.array([0.01]), 0.9)[0]:.3g}"
    '0.00509'
    """
    smallest = -np.expm1(np.log1p(-min_expectation) / records)
    return np.asarray(np.divide(smallest, share, out=np.full(len(share), np.inf), where=share > 0))


def check_mining_settings(owner: str, min_confidence: float, min_expectation: float, terms: int) -> None:
    """Raise ValueError if a setting of rule mining is out of its range."""
    if not (is_number(min_confidence, 0, 1) and min_confidence > 0):
        raise ValueError(f"{owner}: min_confidence is {min_confidence!r}; it is a share above 0 and at most 1.")
    if not (is_number(min_expectation, 0, 1) and 0 < min_expectation < 1):
        raise ValueError(f"{owner}: min_expectation is {min_expectation!r}; it is a probability above 0 and below 1.")
    check_whole(owner, "terms", terms, "fuzzy terms")
    if terms < 2:
        raise ValueError(f"{owner}: terms is {terms}; a single term holds every number. Give 2 or more.")
    if terms > MAX_TERMS:
        raise ValueError(f"{owner}: terms is {terms:g}; it is at most {MAX_TERMS}. Give fewer terms.")
