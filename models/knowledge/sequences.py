"""Sequences of values of all respondents, and counts of their subsequences."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.settings import as_list, check_choice, check_whole, counted, shown
from foreknow.models.tables.history import History

type GapRule = Literal["ignore", "power"]
GAPS: tuple[GapRule, ...] = ("ignore", "power")

MISSING = -1
"""Code of a visit without a known value."""

MAX_TRANSITIONS = 2**27
"""Largest number of transition probabilities of a chain (1 GiB)."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of all respondents, one after another."""

    values: IntArray  # (r,): the r values, sorted by respondent and time
    # (r,): number of values that precede each value in its run. A run is all values of a respondent or, where gaps count
    # (``"power"``), those of consecutive visits.
    before: IntArray
    visit: IntArray  # (r,): number of the visit of each value: the view of a history, or the position in a sequence
    domain: int  # size m of the sensitive domain
    counted: BoolArray | None = None  # (r,): True for the values whose arrival `followed` counts; all by default

    @classmethod
    def from_source(
        cls, source: "History | Iterable[Sequence[int]]", domain: int | None = None, gaps: GapRule = "ignore"
    ) -> "Sequences":
        """Sequences of a history, or of codes; the domain is that of the history, or the largest code plus one.

        Raises
        ------
        TypeError
            If the source is neither a history nor sequences of integers.
        ValueError
            If ``gaps`` is not one of its choices, or a value lies outside the domain.
        """
        check_choice("fit", "gaps", gaps, GAPS)
        if isinstance(source, History):
            order, domain = record_order(source), len(source.schema.values)
            visit = np.repeat(np.arange(len(source)), [len(view) for view in source])[order]
            person, values = _numbers(source)[order], np.concatenate([view.sensitive for view in source])[order]
        else:
            person, values = end_to_end(source)
            visit = np.arange(len(person)) - np.searchsorted(person, person)
            if gaps == "power":
                person, visit, values = (part[values != MISSING] for part in (person, visit, values))
            domain = domain or int(values.max(initial=0)) + 1
        wrong = values[(values < 0) | (values >= domain)]
        if len(wrong):
            missing = Advice("; a missing visit (-1) needs ", Setting("gaps", "power")) if wrong[0] == MISSING else ""
            positions = f"values are positions 0 to {domain - 1} in the sensitive domain"
            raise ValueError(Advice(f"the sequences hold {wrong[0]}; {positions}", missing, "."))
        first = np.diff(person, prepend=-1) != 0
        if gaps == "power":
            first |= np.diff(visit, prepend=0) != 1
        places = np.arange(len(person))
        before = places - np.maximum.accumulate(np.where(first, places, 0))
        return cls(values, before, visit, int(domain))

    @property
    def longest(self) -> int:
        """Length of the longest run."""
        return int(self.before.max(initial=-1)) + 1

    def followed(self, length: int) -> FloatArray:
        """Count of each value after each sequence of ``length`` values: shape ``(m,) * (length + 1)``.

        For length 0: the number of times each value follows another.
        """
        counted = self.before >= max(length, 1)
        return self._count(np.flatnonzero(counted if self.counted is None else counted & self.counted), length + 1)

    def ending_in(self, counted: BoolArray) -> "Sequences":
        """The same sequences, of which `followed` counts only the arrivals at some values: bool array, shape ``(r,)``."""
        return replace(self, counted=counted)

    def occurring(self, length: int) -> FloatArray:
        """Count of each sequence of ``length`` values, with or without a continuation: shape ``(m,) * length``."""
        return self._count(np.flatnonzero(self.before >= length - 1), length)

    def _count(self, ends: IntArray, length: int) -> FloatArray:
        """Count of each sequence of ``length`` values among those that end at some places."""
        cell = np.zeros(len(ends), dtype=np.int64)
        for back in range(length - 1, -1, -1):
            cell = cell * self.domain + self.values[ends - back]
        counts = np.bincount(cell, minlength=self.domain**length)
        return counts.reshape((self.domain,) * length).astype(np.float64)


def sequences_for_order(
    source: "History | Iterable[Sequence[int]]", order: int, values: int | None, gaps: GapRule
) -> Sequences:
    """Sequences of a corpus from which a chain of some order can be fit.

    Raises
    ------
    TypeError, ValueError
        As `Sequences.from_source`; or if the order is not a whole number of at least 1, ``values`` is not one, the chain would have
        more than `MAX_TRANSITIONS` probabilities, or no run has ``order + 1`` values.
    """
    check_whole("fit", "order", order, "past values")
    if values is not None:
        check_whole("fit", "values", values, "values in the sensitive domain")
    sequences = Sequences.from_source(source, values if values is None else int(values), gaps)
    check_chain_size(order, sequences.domain)
    check_longest(order, sequences.longest, gaps)
    return sequences


def check_chain_size(order: int, values: int, chains: int = 1) -> None:
    """Raise ValueError if chains over ``values`` values have more than `MAX_TRANSITIONS` probabilities."""
    if math.log2(chains) + (order + 1) * math.log2(values) > math.log2(MAX_TRANSITIONS) + 1e-9:
        raise ValueError(
            f"{counted(chains, 'chain')} of order {order} over {values} values, with {values}^{order + 1} probabilities each, "
            f"exceed {MAX_TRANSITIONS} in all; choose a smaller order."
        )


def check_longest(order: int, longest: int, gaps: GapRule = "ignore") -> None:
    """Raise ValueError if no run has ``order + 1`` values, so that no sequence of ``order`` values has a continuation."""
    across = Advice(", or count across gaps with ", Setting("gaps", "ignore"))
    row, way_out = (" in consecutive views", across) if gaps == "power" else ("", "")
    shorter = f", or an order of at most {longest - 1}" if longest > 1 else ""
    if order >= longest:
        raise ValueError(
            Advice(
                f"the order is {order}, and no person has more than {longest} values{row}; a chain of that order needs {order + 1} "
                f"of one person. Use a longer history, or another corpus{shorter}",
                way_out,
                ".",
            )
        )


def record_order(history: History) -> IntArray:
    """Order of the records of all views, one view after another, by respondent and time: that of `Sequences`."""
    return np.argsort(_numbers(history), kind="stable")


def _numbers(history: History) -> IntArray:
    """Number of the respondent of each record, in the order of first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(r, len(numbers)) for view in history for r in view.people.respondents])


def end_to_end(sequences: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Respondent of each value, as increasing numbers, and the values of all sequences, one after another."""
    takes = "is a History, or one sequence of value positions for each person, as [[0, 1], [1, 1, 0]]"
    listed = as_list("fit", "sequences", sequences, takes)
    parts = [_codes(number, sequence) for number, sequence in enumerate(listed)]
    person = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return person, np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _codes(number: int, sequence: Any) -> IntArray:
    try:
        codes = np.asarray(list(sequence))
    except (TypeError, ValueError):
        codes = np.zeros((0, 0))
    if codes.ndim != 1 or (codes.size and not np.issubdtype(codes.dtype, np.integer)):
        raise TypeError(
            f"sequence {number} is {shown(sequence)}; it holds whole numbers, positions in the sensitive domain, as [0, 1]. "
            "A History may stand in place of all sequences."
        )
    return codes.astype(np.int64)
