"""Negative association rules of a table, mined as an adversary would, and the pairs that they exclude."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from foreknow.defenses.requirements.requirement import LEVEL_TOLERANCE
from foreknow.models import Categorical, Numeric, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import check_range, check_whole

# Largest number of fuzzy terms of a numeric attribute; the degrees of all terms and distinct values are stored
MAX_TERMS = 1_000


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
    check_mining_settings("negative_rules", min_confidence, min_expectation, terms)
    items = (
        _tree_nodes(name, kind, codes) if isinstance(kind, Categorical) else _fuzzy_terms(name, kind, codes, int(terms))
        for (name, kind), codes in zip(
            view.schema.quasi_identifiers.items(), view.people.quasi_identifiers.T, strict=True
        )
    )
    table = DistinctRecords.from_view(view, tuple(items))
    supports = least_support(len(view), table.share, min_expectation)
    denials = most_general_denials(table, min_confidence, supports)
    forbidden = np.zeros((len(table.count), len(table.share)), dtype=bool)
    for denial in denials:
        forbidden[denial.rows, denial.value] = True
    rules = sorted((_rule(view, table, denial) for denial in denials), key=lambda rule: len(rule.condition))
    return NegativeRules(tuple(rules), forbidden[table.row])


@dataclass(frozen=True, eq=False)
class RuleItems:
    """Items of one quasi-identifier that rule conditions may contain."""

    attribute: str
    # Label of each item. The first item is the root, which every record satisfies; each item comes after its parent.
    labels: tuple[str, ...]
    parents: IntArray  # (v,): the next more general item of each item; the root is its own parent
    # (v, c): degree of membership, from 0 to 1, in each item of a record with each of the c distinct values
    degree: FloatArray
    cell: IntArray  # (n,): distinct value of each record, 0 to c - 1


@dataclass(frozen=True, eq=False)
class DistinctRecords:
    """The u distinct records of a view, with their numbers."""

    items: tuple[RuleItems, ...]  # one for each attribute
    row: IntArray  # (n,): distinct record of each record of the view
    count: FloatArray  # (u,): number of records that equal each distinct one
    value: IntArray  # (u,): sensitive code
    # (v, u): for each attribute, degree of membership of each distinct record in each item
    degree: tuple[FloatArray, ...]
    share: FloatArray  # (m,): share of each sensitive value in the view

    @classmethod
    def from_view(cls, view: View, items: tuple[RuleItems, ...]) -> "DistinctRecords":
        """Distinct records of a view, given the items of its attributes."""
        cells = np.column_stack([*(attribute.cell for attribute in items), view.sensitive])
        rows, row, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        degree = tuple(attribute.degree[:, rows[:, a]] for a, attribute in enumerate(items))
        share = np.bincount(view.sensitive, minlength=len(view.schema.values)) / len(view)
        return cls(items, row.reshape(-1), count.astype(np.float64), rows[:, -1], degree, share)


type Itemset = tuple[int, ...]  # one item for each attribute; 0, the root, for an attribute without a condition


class Denial(NamedTuple):
    """A condition that denies a value."""

    itemset: Itemset
    value: int
    confidence: float
    support: float
    rows: IntArray  # distinct records that satisfy the condition to a positive degree


def _rule(view: View, table: DistinctRecords, denial: Denial) -> NegativeRule:
    pairs = zip(table.items, denial.itemset, strict=True)
    condition = tuple((attribute.attribute, attribute.labels[item]) for attribute, item in pairs if item)
    expectation = -np.expm1(len(view) * np.log1p(-denial.support * table.share[denial.value]))
    value = view.schema.values[denial.value]
    return NegativeRule(condition, value, denial.confidence, denial.support, float(expectation))


def least_support(
    records: int,  # number n of records of the table
    share: FloatArray,  # (m,): share P(Y) of each value
    min_expectation: float,
) -> FloatArray:
    """Least support of a condition, minSup(Y): ``(1 - (1 - min_expectation)^(1 / n)) / P(Y)``, infinite where P(Y) is 0.

    Examples
    --------
    >>> f"{least_support(45_222, np.array([0.01]), 0.9)[0]:.3g}"
    '0.00509'
    """
    smallest = -np.expm1(np.log1p(-min_expectation) / records)
    return np.asarray(np.divide(smallest, share, out=np.full(len(share), np.inf), where=share > 0))


def check_mining_settings(owner: str, min_confidence: float, min_expectation: float, terms: int) -> None:
    """Raise ValueError if a setting of rule mining is out of its range."""
    check_range(owner, "min_confidence", min_confidence, 0, 1, "a share", excluded=(0,))
    check_range(owner, "min_expectation", min_expectation, 0, 1, "a probability", excluded=(0, 1))
    check_whole(owner, "terms", terms, "fuzzy terms", 2, MAX_TERMS)


def most_general_denials(table: DistinctRecords, min_confidence: float, least_support: FloatArray) -> list[Denial]:
    """The most general conditions that deny each value.

    Itemsets are visited in lexicographic order. As an item comes after its parent, each itemset comes after all more general
    ones. The open values of an itemset are those for which it has the least support, shape ``(m,)``, and which no more general
    itemset denies. An itemset is made narrower only while it has open values.
    """
    root: Itemset = (0,) * len(table.items)
    open_values, denials, n = {root: np.isfinite(least_support)}, list[Denial](), float(table.count.sum())

    def narrow(itemset: Itemset, first: int, rows: IntArray, degree: FloatArray) -> None:
        """Visit the itemsets with an item of one more attribute, from ``first`` on; ``degree`` is that of each of ``rows``."""
        for a in reversed(range(first, len(itemset))):
            for item in range(1, len(table.items[a].labels)):
                narrower = (*itemset[:a], item, *itemset[a + 1 :])
                values = _open_in_all_broader(table, open_values, narrower)
                if not values.any():
                    continue
                # The degree of membership is the least over the items.
                narrowed = np.minimum(degree, table.degree[a][item, rows])
                some, narrowed = rows[narrowed > 0], narrowed[narrowed > 0]
                weight = narrowed * table.count[some]
                total = float(weight.sum())
                values = values & (total / n >= least_support)
                if not values.any():
                    continue
                with_value = np.bincount(table.value[some], weight, len(table.share))
                denied = values & (with_value <= (1 - min_confidence) * total * (1 + LEVEL_TOLERANCE))
                confidence = 1 - with_value / total
                denials.extend(
                    Denial(narrower, int(v), float(confidence[v]), total / n, some) for v in np.flatnonzero(denied)
                )
                if (values & ~denied).any():
                    open_values[narrower] = values & ~denied
                    narrow(narrower, a + 1, some, narrowed)

    narrow(root, 0, np.arange(len(table.count)), np.ones(len(table.count)))
    return denials


def _open_in_all_broader(table: DistinctRecords, open_values: dict[Itemset, BoolArray], itemset: Itemset) -> BoolArray:
    """Values that are open in all itemsets that are one step more general."""
    values = table.share > 0
    for a, item in enumerate(itemset):
        if item:
            broader = (*itemset[:a], int(table.items[a].parents[item]), *itemset[a + 1 :])
            values = values & open_values.get(broader, False)
    return values


# Decimals to which positions between the peaks of fuzzy terms are rounded, so that a number on a peak has degree 1
POSITION_DECIMALS = 9


def _tree_nodes(name: str, kind: Categorical, codes: FloatArray) -> RuleItems:
    """Nodes of an attribute's hierarchy, from the root down. A node with the same leaves as its only child is left out."""
    tree = kind.tree
    levels = tree.levels()
    labels, leaves_of = ["*"], [np.ones(len(tree.rows), dtype=bool)]
    for level in range(tree.height - 1, -1, -1):
        for node in dict.fromkeys(levels[level].tolist()):
            leaves = levels[level] == node
            label = tree.rows[int(leaves.argmax())][level]
            same = [place for place, other in enumerate(leaves_of) if np.array_equal(other, leaves)]
            if not same:
                labels.append(label)
                leaves_of.append(leaves)
            elif same[0] > 0:
                labels[same[0]] = label
    degree = np.array(leaves_of)
    size = degree.sum(axis=1)
    is_ancestor = (degree[:, None] >= degree[None]).all(axis=2) & (size[:, None] > size[None])
    # The parent is the smallest ancestor; the root has none, and argmin gives 0, itself.
    ancestor_size = np.where(is_ancestor, size[:, None], len(tree.rows) + 1)
    return RuleItems(
        name, tuple(labels), ancestor_size.argmin(axis=0), degree.astype(np.float64), codes.astype(np.int64)
    )


def _fuzzy_terms(name: str, kind: Numeric, codes: FloatArray, terms: int) -> RuleItems:
    """Fuzzy terms of a number: triangles of equal width, with equidistant peaks from one end of the domain to the other."""
    low, high = kind.bounds
    numbers, cell = np.unique(codes, return_inverse=True)
    if low == high:
        return RuleItems(name, ("*",), np.zeros(1, dtype=np.int64), np.ones((1, len(numbers))), cell.reshape(-1))
    position = np.round((numbers - low) / (high - low) * (terms - 1), POSITION_DECIMALS)
    degree = np.maximum(0.0, 1 - np.abs(position[None] - np.arange(terms)[:, None]))
    labels = ("*", *(f"about {low + (high - low) * term / (terms - 1):g}" for term in range(terms)))
    parents = np.zeros(terms + 1, dtype=np.int64)
    return RuleItems(name, labels, parents, np.vstack([np.ones(len(numbers)), degree]), cell.reshape(-1))
