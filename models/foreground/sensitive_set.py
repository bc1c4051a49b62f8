"""Which sensitive values are told apart: all of them, or a set against all others."""

from collections.abc import Collection, Hashable
from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.lookalikes import lookalike


@dataclass(frozen=True, eq=False)
class SensitiveSet:
    """A sensitive set within a domain, or the domain itself.

    Attributes
    ----------
    domain : tuple, length m
    sensitive : int array
        The codes of the values that nobody should be linked to.
    classes : int array, shape (m,)
        What each value counts as: 0 in the set and 1 outside it, or its own code where there is no set.
    values : tuple
        The names of the classes.
    """

    domain: tuple[Hashable, ...]
    sensitive: IntArray
    classes: IntArray
    values: tuple[Hashable, ...]

    @classmethod
    def of(cls, domain: tuple[Hashable, ...], sensitive: "Collection[Hashable] | None", owner: str) -> "SensitiveSet":
        """The set within a domain; None is every value, each against all others.

        Raises
        ------
        ValueError
            If a value is not in the domain, or all of it are in the set.
        """
        codes = np.arange(len(domain))
        if sensitive is None:
            return cls(domain, codes, codes, domain)
        place = {value: code for code, value in enumerate(domain)}
        strangers = [value for value in sensitive if value not in place]
        if strangers:
            raise ValueError(
                f"{owner}: the sensitive set holds {strangers[0]!r}, which is not in the domain: {', '.join(map(repr, domain))}."
                f"{lookalike(strangers[0], domain)}"
            )
        chosen = np.sort([place[value] for value in set(sensitive)])
        if len(chosen) == len(domain):
            raise ValueError(
                f"{owner}: the sensitive set holds all {len(domain)} values of the domain, so that everybody has one; leave out "
                "those that may be known, or sensitive=None to keep every value apart."
            )
        classes = np.ones(len(domain), dtype=np.int64)
        classes[chosen] = 0
        return cls(domain, chosen, classes, (True, False))

    @property
    def is_set(self) -> bool:
        """Whether a set is told from all others, rather than every value apart."""
        return len(self.sensitive) < len(self.domain)

    def counts(self, counts: IntArray) -> IntArray:
        """Multisets by class: ``(g, m)`` to ``(g, c)``."""
        summed = np.zeros((len(counts), len(self.values)), dtype=np.int64)
        for value, kind in enumerate(self.classes):
            summed[:, kind] += counts[:, value]
        return summed

    def spread(self, rows: FloatArray, counts: IntArray) -> FloatArray:
        """Beliefs in values from beliefs in classes, ``(n, c)`` to ``(n, m)``: in proportion to the values' shares in ``counts``.

        ``counts``, shape ``(n, m)`` or ``(m,)``, is what is published where each row's person is. Of a class that is not
        there, values share alike.
        """
        if not self.is_set:
            return rows
        whole = self.counts(np.atleast_2d(counts))[:, self.classes]
        alike = 1 / np.bincount(self.classes)[self.classes]
        within = np.where(whole > 0, np.atleast_2d(counts) / np.maximum(whole, 1), alike)
        return np.asarray(rows[:, self.classes] * within)


def check_sensitive(owner: str, sensitive: object) -> "tuple[Hashable, ...] | None":
    """A sensitive set as a tuple, in its own order or sorted, or None.

    Raises
    ------
    ValueError, TypeError
        If it is empty, or no collection of values.
    """
    if sensitive is None:
        return None
    # An array of one number, without an axis, calls itself a collection.
    if isinstance(sensitive, str | bytes) or not (isinstance(sensitive, Collection) and np.iterable(sensitive)):
        raise TypeError(
            f"{owner}: sensitive is {sensitive!r}; it is a set of values, as {{{sensitive!r}}}, or None for every value."
        )
    if not all(isinstance(value, Hashable) for value in sensitive):
        raise TypeError(f"{owner}: sensitive is {sensitive!r}; it is one set of values, and holds no lists.")
    if not len(sensitive):
        raise ValueError(f"{owner}: the sensitive set is empty; name a value, or None for every value.")
    listed = (
        sorted(set(sensitive), key=str) if isinstance(sensitive, set | frozenset) else list(dict.fromkeys(sensitive))
    )
    return tuple(listed)
