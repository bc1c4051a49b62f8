"""The sequences of values of all people, and the counts of their subsequences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.tables.history import History

type GapRule = Literal["ignore", "power"]

MISSING = -1
"""The code of a visit of which no value is known."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """All sequences, one person's after another's.

    Attributes
    ----------
    values : int array, shape (r,)
        The r values, in the order of person and time.
    before : int array, shape (r,)
        The number of values that precede each in its run. A run is all of a person's values or, where gaps count
        (``"power"``), those of consecutive visits.
    visit : int array, shape (r,)
        The number of the visit of each value: the view of a history, or the position in a sequence.
    domain : int
        The size m of the sensitive domain.
    """

    values: IntArray
    before: IntArray
    visit: IntArray
    domain: int

    @classmethod
    def of(
        cls, source: "History | Iterable[Sequence[int]]", domain: int | None = None, gaps: GapRule = "ignore"
    ) -> "Sequences":
        """Everybody's values in a history, or sequences of codes; the domain is the history's, or as large as needed.

        Raises
        ------
        ValueError
            If ``gaps`` is another word, or a value lies outside the domain.
        """
        check_gaps(gaps)
        of_history = isinstance(source, History)
        person, visit, values = _of_history(source) if isinstance(source, History) else _of_sequences(source)
        if not of_history and gaps == "power":
            person, visit, values = (part[values != MISSING] for part in (person, visit, values))
        domain = len(source.schema.values) if isinstance(source, History) else domain or int(values.max(initial=0)) + 1
        wrong = values[(values < 0) | (values >= domain)]
        if len(wrong):
            missing = "; a missing visit (-1) needs gaps='power'" if wrong[0] == MISSING else ""
            raise ValueError(
                f"the sequences hold {wrong[0]}; values are positions 0 to {domain - 1} in the sensitive domain{missing}."
            )
        first = np.diff(person, prepend=-1) != 0
        if gaps == "power":
            first |= np.diff(visit, prepend=0) != 1
        places = np.arange(len(person))
        before = places - np.maximum.accumulate(np.where(first, places, 0))
        return cls(values, before, visit, domain)

    @property
    def longest(self) -> int:
        """The length of the longest run."""
        return int(self.before.max(initial=-1)) + 1

    def followed(self, length: int, visit: int | None = None) -> FloatArray:
        """Count of each value after each sequence of that length: shape ``(m,) * (length + 1)``.

        For length 0: how often each value followed another. With a visit, only where the value that follows is of it.
        """
        counted = self.before >= max(length, 1)
        return self._count(np.flatnonzero(counted if visit is None else counted & (self.visit == visit)), length + 1)

    def occurring(self, length: int) -> FloatArray:
        """Count of each sequence of that length, followed or not: shape ``(m,) * length``."""
        return self._count(np.flatnonzero(self.before >= length - 1), length)

    def _count(self, ends: IntArray, length: int) -> FloatArray:
        """Count of each sequence of that length among those that end at some places."""
        cell = np.zeros(len(ends), dtype=np.int64)
        for back in range(length - 1, -1, -1):
            cell = cell * self.domain + self.values[ends - back]
        counts = np.bincount(cell, minlength=self.domain**length)
        return counts.reshape((self.domain,) * length).astype(np.float64)


def check_gaps(gaps: str) -> None:
    """Raise ValueError unless ``gaps`` is one of its two words."""
    if gaps not in ("ignore", "power"):
        raise ValueError(f"gaps is {gaps!r}; it is 'ignore' (the papers) or 'power' (a step at every release).")


def check_longest(order: int, longest: int, gaps: GapRule = "ignore") -> None:
    """Raise ValueError if no run has ``order + 1`` values, so that no sequence of ``order`` is followed by anything."""
    row, way_out = (
        (" in consecutive views", ", or count across gaps with gaps='ignore'") if gaps == "power" else ("", "")
    )
    if longest < 2:
        raise ValueError(
            f"the corpus holds no two values of one person{row}, so nothing follows anything; mine a longer one{way_out}."
        )
    if order >= longest:
        raise ValueError(
            f"the order is {order}, and nobody has more than {longest} values{row}; a chain of that order needs {order + 1} of "
            f"one person. Choose an order of at most {longest - 1}, or a longer history{way_out}."
        )


def _of_history(history: History) -> tuple[IntArray, IntArray, IntArray]:
    """A number per record for its person, increasing; its view; and its value, each person's in the order of time."""
    numbers: dict[object, int] = {}
    person = np.array([numbers.setdefault(r, len(numbers)) for view in history for r in view.people.respondents])
    visit = np.repeat(np.arange(len(history)), [len(view) for view in history])
    order = np.argsort(person, kind="stable")
    return person[order], visit[order], np.concatenate([view.sensitive for view in history])[order]


def _of_sequences(sequences: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray, IntArray]:
    """The person, the visit and the value of every element of some sequences."""
    person, values = end_to_end(sequences)
    return person, np.arange(len(person)) - np.searchsorted(person, person), values


def end_to_end(sequences: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """The person of each value, as increasing numbers, and the values of all sequences, one after another."""
    parts = [np.asarray(list(sequence)) for sequence in sequences]
    for part in parts:
        if part.size and not np.issubdtype(part.dtype, np.integer):
            raise ValueError(
                f"a sequence holds {part.dtype} values; values are whole numbers, positions in the sensitive domain."
            )
    person = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return person, np.concatenate([np.zeros(0, dtype=np.int64), *(part.astype(np.int64) for part in parts)])
