"""Sets of sensitive values to protect, and their one check."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.tables.columns.lookalikes import lookalike

VALUES_SHOWN = 12
"""Largest number of values of a domain in an error message."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class SensitiveSet:
    """A sensitive set within a domain, as a partition of the domain into classes of values.

    `SensitiveSet.within` makes one. A proper subset makes two classes, the set and its complement; without a set, each value is a
    class of its own.

    Attributes
    ----------
    domain : tuple, length m
    codes : int array
        Codes of the values of the set, ascending.
    classes : int array, shape (m,)
        Class of each value: 0 in the set and 1 outside it, or the value's own code without a set.
    class_labels : tuple, length c
        ``(True, False)``, or the domain without a set.
    """

    domain: tuple[Hashable, ...]
    codes: IntArray
    classes: IntArray
    class_labels: tuple[Hashable, ...]

    @classmethod
    def within(
        cls, domain: tuple[Hashable, ...], sensitive_set: "Collection[Hashable] | None", owner: str
    ) -> "SensitiveSet":
        """Make the set within a domain; None makes each value a class.

        Parameters
        ----------
        domain : tuple
            The m sensitive values.
        sensitive_set : collection of values, optional
        owner : str
            The class or function that takes the set, for error messages.

        Raises
        ------
        ValueError, TypeError
            As `as_sensitive_values`; if a value is not in the domain, or the set is the whole domain.
        """
        if sensitive_set is None:
            every = np.arange(len(domain))
            return cls(domain, every, every, domain)
        codes = sensitive_codes(owner, domain, sensitive_set)
        if len(codes) == len(domain):
            raise ValueError(
                f"{owner}: the sensitive set holds all {len(domain)} values of the domain, so that every record has one; leave out "
                "those that may be disclosed, or give no set to protect each value on its own."
            )
        classes = np.ones(len(domain), dtype=np.int64)
        classes[codes] = 0
        return cls(domain, codes, classes, (True, False))

    @property
    def is_proper_subset(self) -> bool:
        """True for two classes, a set and its complement; False where each value is a class."""
        return len(self.codes) < len(self.domain)

    def class_counts(self, counts: IntArray) -> IntArray:
        """Multisets by class: shape ``(g, m)`` to ``(g, c)``."""
        summed = np.zeros((len(counts), len(self.class_labels)), dtype=np.int64)
        for value, number in enumerate(self.classes):
            summed[:, number] += counts[:, value]
        return summed

    def value_probabilities(self, rows: FloatArray, counts: IntArray) -> FloatArray:
        """Probabilities of values from probabilities of classes: shape ``(n, c)`` to ``(n, m)``.

        Within a class, values have probabilities in proportion to their shares in ``counts``, shape ``(n, m)`` or ``(m,)``: the
        published multiset of each row's group. Values of a class with counts of 0 have equal probabilities.
        """
        if not self.is_proper_subset:
            return rows
        whole = self.class_counts(np.atleast_2d(counts))[:, self.classes]
        equal = 1 / np.bincount(self.classes)[self.classes]
        within = np.where(whole > 0, np.atleast_2d(counts) / np.maximum(whole, 1), equal)
        return np.asarray(rows[:, self.classes] * within)


def sensitive_codes(owner: str, domain: tuple[Hashable, ...], sensitive_set: Collection[Hashable]) -> IntArray:
    """Codes of the values of a sensitive set in a domain, ascending.

    Raises
    ------
    ValueError, TypeError
        As `as_sensitive_values`; if a value is not in the domain.
    """
    code = {value: number for number, value in enumerate(domain)}
    values = as_sensitive_values(owner, sensitive_set)
    unknown = [value for value in values if value not in code]
    if unknown:
        listed = ", ".join(map(repr, domain[:VALUES_SHOWN])) + (", ..." if len(domain) > VALUES_SHOWN else "")
        raise ValueError(
            f"{owner}: the sensitive set holds {unknown[0]!r}, which is not in the domain: {listed}."
            f"{lookalike(unknown[0], domain)}"
        )
    return np.sort([code[value] for value in values])


def as_sensitive_values(owner: str, sensitive_set: object) -> tuple[Hashable, ...]:
    """The values of a sensitive set as a tuple: in the given order, or sorted where a ``set`` is given.

    Parameters
    ----------
    owner : str
        The class or function that takes the set, for error messages.
    sensitive_set : collection of values
        A list, tuple, set, array or Series; text is no collection.

    Raises
    ------
    TypeError
        If it is no collection, or holds a value that is not hashable.
    ValueError
        If it is empty, or names a value twice.
    """
    # An array of one number, without an axis, is a Collection and cannot be iterated.
    is_collection = isinstance(sensitive_set, Collection) and np.iterable(sensitive_set)
    if isinstance(sensitive_set, str | bytes) or not isinstance(sensitive_set, Collection) or not is_collection:
        shown = repr(sensitive_set)
        example = shown if isinstance(sensitive_set, str | bytes | int | float) else "'flu', 'cold'"
        raise TypeError(
            f"{owner}: sensitive_set is {shown[:60]}; it is a set of values, as {{{example}}}. Put a single value into a set."
        )
    values = tuple(sensitive_set)
    for value in values:
        if not _is_hashable(value):
            raise TypeError(
                f"{owner}: sensitive_set holds the {type(value).__name__} {value!r:.60}; it is one set of hashable values of the "
                "domain. Give one flat list of values."
            )
    if not values:
        raise ValueError(f"{owner}: the sensitive set is empty; name at least one value.")
    distinct = dict.fromkeys(values)
    if len(distinct) < len(values):
        twice = next(value for number, value in enumerate(values) if value in values[:number])
        raise ValueError(f"{owner}: the sensitive set names {twice!r} twice; name each value once.")
    return tuple(sorted(values, key=str)) if isinstance(sensitive_set, set | frozenset) else values


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
