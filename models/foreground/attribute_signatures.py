"""Attribute sets, their signatures, and the support that a signature needs.

An attribute set is a set of quasi-identifiers. A signature is a combination of its values, and its support is the number of
records with that combination (foreground knowledge, Definition 1).
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import as_list, check_positive, check_range
from foreknow.models.tables.columns import check_quasi_identifiers
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical

type AttributeSets = "Literal['all'] | Sequence[str | Sequence[str]]"
"""Every set of quasi-identifiers, or a list of sets; an attribute name alone is a set of one."""

MIN_EPSILON = 1e-6
"""Smallest error of a `SampleSize`: it needs 4 * 10^11 records at the default ``sigma``."""


@dataclass(frozen=True)
class SampleSize:
    """Smallest number of records whose frequencies are within ``epsilon`` of the probabilities, by Hoeffding's bound.

    ``records >= ln(2 / sigma) / (2 epsilon^2)`` (foreground knowledge, Theorem 1): a larger error has a probability of at most
    ``sigma``.

    Parameters
    ----------
    epsilon : float
        Largest error, as a difference of probabilities; from `MIN_EPSILON` to 1.
    sigma : float
        Largest probability of a larger error; over 0. The paper calls it confidence: at its value of 0.9, nine
        samples in ten may miss.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    Notes
    -----
    The bound holds for a random sample with observed values. The records of a signature are no random sample, and only the
    multisets of their groups are observed. The number bounds neither of these errors; `GibbsSampling` estimates the second.

    Examples
    --------
    >>> SampleSize(0.01, 0.9).records
    3993
    """

    epsilon: float = 0.01
    sigma: float = 0.9

    def __post_init__(self) -> None:
        check_range("SampleSize", "epsilon", self.epsilon, MIN_EPSILON, 1, "a difference of probabilities")
        check_positive("SampleSize", "sigma", self.sigma, "a probability")

    @property
    def records(self) -> int:
        """Number of records, 1 or more."""
        return max(math.ceil((math.log(2) - math.log(self.sigma)) / (2 * self.epsilon**2)), 1)


@dataclass(frozen=True, eq=False)
class AttributeSignatures:
    """Signatures of one attribute set with enough support (foreground knowledge, Definition 1).

    Attributes
    ----------
    attributes : tuple of str, length a
    codes : float array, shape (s, a)
        Codes of the values of each signature.
    signature : int array, shape (n,)
        Signature of each record; -1 for records whose signature has too little support.
    support : int array, shape (s,)
        Number of records of each signature.
    people : People
        The n respondents.
    """

    attributes: tuple[str, ...]
    codes: FloatArray
    signature: IntArray
    support: IntArray
    people: People

    def __len__(self) -> int:
        return len(self.support)

    def __repr__(self) -> str:
        return f"AttributeSignatures({', '.join(self.attributes)}: {len(self)}, of {int(self.support.sum())} records)"

    @property
    def labels(self) -> dict[str, list[Hashable]]:
        """Values of each signature, by attribute: lists of length s."""
        kinds = self.people.schema.quasi_identifiers
        labels: dict[str, list[Hashable]] = {}
        for name, column in zip(self.attributes, self.codes.T, strict=True):
            kind = kinds[name]
            labels[name] = [kind.values[int(code)] if isinstance(kind, Categorical) else float(code) for code in column]
        return labels


def attribute_signatures(
    people: People, attributes: Sequence[str], min_support: int = 1, among: BoolArray | None = None
) -> AttributeSignatures:
    """Return the signatures of an attribute set that have enough support.

    Parameters
    ----------
    people : People
    attributes : sequence of str
        Quasi-identifiers of the schema; this is not checked.
    min_support : int
        Smallest number of counted records of a signature.
    among : bool array, shape (n,), optional
        True for the records that are counted; all by default. The others are assigned to the signatures that remain.

    Notes
    -----
    Cost: O(n log n) per attribute.
    """
    return _signatures_of(people, attributes, min_support, among, {})


def _signatures_of(
    people: People,
    attributes: Sequence[str],
    min_support: int,
    among: BoolArray | None,
    codes_of: dict[int, IntArray],
) -> AttributeSignatures:
    """The same; ``codes_of`` keeps the numbers of the values of each quasi-identifier for further sets."""
    columns = [list(people.schema.quasi_identifiers).index(name) for name in attributes]
    counted = np.ones(len(people), dtype=np.bool_) if among is None else among
    combination = np.zeros(len(people), dtype=np.int64)
    for column in columns:
        if column not in codes_of:
            codes_of[column] = np.unique(people.quasi_identifiers[:, column], return_inverse=True)[1]
        code = codes_of[column]
        _, combination = np.unique(combination * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    support = np.bincount(combination[counted], minlength=int(combination.max(initial=-1)) + 1)
    kept = np.flatnonzero(support >= max(min_support, 1))
    number = np.full(len(support), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    signature = number[combination] if len(people) else np.zeros(0, dtype=np.int64)
    first = np.zeros(len(support), dtype=np.int64)
    first[combination[::-1]] = np.arange(len(people))[::-1]  # the last to be written is the first record
    codes = people.quasi_identifiers[first[kept]][:, columns]
    return AttributeSignatures(tuple(attributes), codes, signature, support[kept], people)


def supported_sets(
    people: People, attribute_sets: AttributeSets = "all", min_support: int = 1, among: BoolArray | None = None
) -> Iterator[AttributeSignatures]:
    """Yield the attribute sets that have a signature with enough support, smaller sets first.

    A set is skipped without counting if a subset with one attribute less has no such signature: a signature has at most the support
    of its parts (foreground knowledge, section 4.2).

    Raises
    ------
    ValueError
        If a set is empty, names an attribute that is no quasi-identifier, or names one twice.
    """
    names = tuple(people.schema.quasi_identifiers)
    given = check_attribute_sets("supported_sets", attribute_sets)
    every = (chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size))
    sets = every if isinstance(given, str) else _listed_sets(given, names)
    unsupported: set[frozenset[str]] = set()
    codes_of: dict[int, IntArray] = {}
    for attributes in sets:
        whole = frozenset(attributes)
        if any(whole - {name} in unsupported for name in whole):
            unsupported.add(whole)
            continue
        found = _signatures_of(people, attributes, min_support, among, codes_of)
        if len(found):
            yield found
        else:
            unsupported.add(whole)


def check_attribute_sets(owner: str, attribute_sets: Any) -> AttributeSets:
    """Return the attribute sets as tuples, or "all".

    Raises
    ------
    ValueError, TypeError
        If they are neither.
    """
    if isinstance(attribute_sets, str) and attribute_sets == "all":
        return "all"
    takes = "is 'all', or a list of sets of names, as ['age', ['age', 'sex']]"
    sets = tuple(
        (one,) if isinstance(one, str) else tuple(as_list(owner, "an attribute set", one, takes))
        for one in list[Any](as_list(owner, "attribute_sets", attribute_sets, takes))
    )
    if not sets or not all(sets):
        raise ValueError(f"{owner}: attribute_sets is {attribute_sets!r}; it {takes}, one at least.")
    return sets


def _listed_sets(sets: Sequence[Any], names: tuple[str, ...]) -> list[tuple[str, ...]]:
    for attributes in sets:
        check_quasi_identifiers(f"the attribute set {attributes!r}", attributes, names)
    return sorted({frozenset(one): one for one in sets}.values(), key=len)
