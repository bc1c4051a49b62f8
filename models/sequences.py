"""Everybody's values in the order of time, end to end, and how often sequences of them occur."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.view import History


@dataclass(frozen=True, eq=False)
class Sequences:
    """All sequences end to end.

    Attributes
    ----------
    values : int array, shape (r,)
        The r values, one person's after the other's.
    before : int array, shape (r,)
        How many of the same person stand before each.
    domain : int
        The size m of the sensitive domain.
    """

    values: IntArray
    before: IntArray
    domain: int

    @classmethod
    def of(cls, source: "History | Iterable[Sequence[int]]", domain: int | None = None) -> "Sequences":
        """Everybody's values in a history, or sequences of codes; the domain is the history's, or as large as needed.

        Raises
        ------
        ValueError
            If no person has two values, or a value lies outside the domain.
        """
        person, values = _of_history(source) if isinstance(source, History) else end_to_end(source)
        places = np.arange(len(person))
        first = np.diff(person, prepend=-1) != 0
        before = places - np.maximum.accumulate(np.where(first, places, 0))
        if not (before > 0).any():
            raise ValueError(
                "the corpus holds no two values of one person, so nothing follows anything; mine a longer one."
            )
        domain = len(source.schema.values) if isinstance(source, History) else domain or int(values.max()) + 1
        if values.min() < 0 or values.max() >= domain:
            wrong = values.min() if values.min() < 0 else values.max()
            raise ValueError(
                f"the sequences hold {wrong}; values are positions 0 to {domain - 1} in the sensitive domain."
            )
        return cls(values, before, domain)

    @property
    def longest(self) -> int:
        """How many values the person with the most has."""
        return int(self.before.max()) + 1

    def followed(self, length: int) -> FloatArray:
        """How often each sequence of that length was followed by each value: shape ``(m,) * (length + 1)``.

        For length 0: how often each value followed another.
        """
        return self._count(np.flatnonzero(self.before >= max(length, 1)), length + 1)

    def occurring(self, length: int) -> FloatArray:
        """How often each sequence of that length occurred, followed or not: shape ``(m,) * length``."""
        return self._count(np.flatnonzero(self.before >= length - 1), length)

    def _count(self, ends: IntArray, length: int) -> FloatArray:
        """How often each sequence of that length occurs among those that end at some places."""
        cell = np.zeros(len(ends), dtype=np.int64)
        for back in range(length - 1, -1, -1):
            cell = cell * self.domain + self.values[ends - back]
        counts = np.bincount(cell, minlength=self.domain**length)
        return counts.reshape((self.domain,) * length).astype(np.float64)


def check_longest(order: int, longest: int) -> None:
    """Raise ValueError if nobody has ``order + 1`` values, so that no sequence of ``order`` is followed by anything."""
    if order >= longest:
        raise ValueError(
            f"the order is {order}, and nobody has more than {longest} values; a chain of that order needs {order + 1} of one "
            f"person. Choose an order of at most {longest - 1}, or a longer history."
        )


def _of_history(history: History) -> tuple[IntArray, IntArray]:
    """A number per record for its person, increasing, and the values, each person's in the order of time."""
    numbers: dict[object, int] = {}
    person = np.array([numbers.setdefault(r, len(numbers)) for view in history for r in view.people.respondents])
    order = np.argsort(person, kind="stable")
    return person[order], np.concatenate([view.sensitive for view in history])[order]


def end_to_end(sequences: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Whose each value is, as increasing numbers, and the values of all sequences, one after another."""
    parts = [np.asarray(list(sequence)) for sequence in sequences]
    for part in parts:
        if part.size and not np.issubdtype(part.dtype, np.integer):
            raise ValueError(
                f"a sequence holds {part.dtype} values; values are whole numbers, positions in the sensitive domain."
            )
    person = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return person, np.concatenate([np.zeros(0, dtype=np.int64), *(part.astype(np.int64) for part in parts)])
