"""Attribute sets, and who matches which of their signatures."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.attributes import Categorical
from foreknow.models.tables.people import People

type AttributeSets = "Literal['all'] | Sequence[str | Sequence[str]]"
"""Which attribute sets are looked at: every one of the quasi-identifiers, or those listed."""


@dataclass(frozen=True, eq=False)
class Signatures:
    """The signatures of one attribute set that enough people match (foreground knowledge, Definition 1).

    Attributes
    ----------
    attributes : tuple of str
    codes : float array, shape (s, a)
        Of each signature, the codes of its values.
    person : int array, shape (n,)
        The signature each person matches; -1 for those whose signature too few match.
    support : int array, shape (s,)
        How many match each.
    people : People
        The n people.
    """

    attributes: tuple[str, ...]
    codes: FloatArray
    person: IntArray
    support: IntArray
    people: People

    def __len__(self) -> int:
        return len(self.support)

    def __repr__(self) -> str:
        return f"Signatures({', '.join(self.attributes)}: {len(self)}, of {int(self.support.sum())} people)"

    @property
    def labels(self) -> dict[str, list[Hashable]]:
        """The values of each signature, by attribute: lists of length s."""
        kinds = self.people.schema.quasi_identifiers
        named: dict[str, list[Hashable]] = {}
        for name, column in zip(self.attributes, self.codes.T, strict=True):
            kind = kinds[name]
            named[name] = [kind.values[int(code)] if isinstance(kind, Categorical) else float(code) for code in column]
        return named


def signatures(
    people: People, attributes: Sequence[str], fewest: int = 1, among: BoolArray | None = None
) -> Signatures:
    """The signatures of an attribute set that at least ``fewest`` of some people match. Cost: O(n log n) per attribute.

    ``among``, shape ``(n,)``, says who counts; by default everybody. Others match the signatures that enough of these do.
    """
    columns = [list(people.schema.quasi_identifiers).index(name) for name in attributes]
    counted = np.ones(len(people), dtype=np.bool_) if among is None else among
    mixed = np.zeros(len(people), dtype=np.int64)
    for column in columns:
        _, code = np.unique(people.quasi_identifiers[:, column], return_inverse=True)
        _, mixed = np.unique(mixed * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    support = np.bincount(mixed[counted], minlength=int(mixed.max(initial=-1)) + 1)
    kept = np.flatnonzero(support >= max(fewest, 1))
    number = np.full(len(support), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    person = number[mixed] if len(people) else np.zeros(0, dtype=np.int64)
    _, first = np.unique(mixed, return_index=True)
    codes = people.quasi_identifiers[first[kept]][:, columns]
    return Signatures(tuple(attributes), codes, person, support[kept], people)


def supported_sets(
    people: People, attribute_sets: AttributeSets = "all", fewest: int = 1, among: BoolArray | None = None
) -> Iterator[Signatures]:
    """The attribute sets that have a signature with enough support, smaller sets first.

    A set is not counted if a part of it, with one attribute less, had no such signature: a signature is matched by no more
    people than its parts are (foreground knowledge, section 4.2).

    Raises
    ------
    ValueError
        If a set is empty, names an attribute that is no quasi-identifier, or names one twice.
    """
    names = tuple(people.schema.quasi_identifiers)
    sets = _all_sets(names) if isinstance(attribute_sets, str) else _listed(attribute_sets, names)
    failed: set[frozenset[str]] = set()
    for attributes in sets:
        whole = frozenset(attributes)
        if any(whole - {name} in failed for name in whole):
            failed.add(whole)
            continue
        found = signatures(people, attributes, fewest, among)
        if len(found):
            yield found
        else:
            failed.add(whole)


def check_attribute_sets(owner: str, attribute_sets: object) -> AttributeSets:
    """The attribute sets as tuples, or "all".

    Raises
    ------
    ValueError, TypeError
        If they are neither.
    """
    if isinstance(attribute_sets, str):
        if attribute_sets != "all":
            raise ValueError(
                f"{owner}: attribute_sets is {attribute_sets!r}; it is 'all', or a list of sets, as [{attribute_sets!r}] or "
                f"[[{attribute_sets!r}, ...]]."
            )
        return "all"
    listed = tuple(attribute_sets) if isinstance(attribute_sets, Iterable) else (None,)
    if not all(isinstance(one, Iterable) for one in listed):
        raise TypeError(f"{owner}: attribute_sets is {attribute_sets!r}; it is 'all', or a list of sets of names.")
    sets = tuple((one,) if isinstance(one, str) else tuple(one) for one in listed)
    if not sets or not all(sets):
        raise ValueError(
            f"{owner}: attribute_sets is {attribute_sets!r}; name at least one set, of one attribute or more."
        )
    return sets


def _all_sets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (chosen for size in range(1, len(names) + 1) for chosen in combinations(names, size))


def _listed(attribute_sets: "Sequence[str | Sequence[str]]", names: tuple[str, ...]) -> list[tuple[str, ...]]:
    sets = [(one,) if isinstance(one, str) else tuple(one) for one in attribute_sets]
    for attributes in sets:
        for name in attributes:
            if name not in names:
                raise ValueError(
                    f"the attribute set {attributes!r} names {name!r}, which is no quasi-identifier; there are "
                    f"{', '.join(names)}."
                )
        if len(set(attributes)) < len(attributes):
            raise ValueError(f"the attribute set {attributes!r} names an attribute twice; name each once.")
    return sorted({frozenset(one): one for one in sets}.values(), key=len)
