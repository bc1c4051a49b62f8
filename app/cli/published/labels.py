"""Published labels of quasi-identifiers: the values that a label stands for."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from foreknow.models import Categorical, Numeric
from foreknow.models.arrays import BoolArray, FloatArray

ANY = "*"
"""The label that stands for every value."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_INTERVAL = re.compile(rf"([\[\](])\s*({_NUMBER})\s*(?:,|;|-|–|\.\.|:)\s*({_NUMBER})\s*([\[\])])")
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})")
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_FROM = re.compile(rf"({_NUMBER})\s*\+")


class Interval(NamedTuple):
    """An interval of numbers; an open end is not part of it."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def contains(self, numbers: FloatArray) -> BoolArray:
        """Return whether each number is in the interval."""
        above = numbers > self.low if self.open_low else numbers >= self.low
        below = numbers < self.high if self.open_high else numbers <= self.high
        return np.asarray(above & below)


def interval_of(text: str) -> Interval | None:
    """The numbers that a label stands for, or None if it is no label of numbers.

    >>> interval_of("[20, 30)")
    Interval(low=20.0, high=30.0, open_low=False, open_high=True)
    >>> interval_of("20-30"), interval_of("65+") == interval_of(">=65")
    (Interval(low=20.0, high=30.0, open_low=False, open_high=False), True)
    """
    if text == ANY:
        return Interval(-np.inf, np.inf)
    if re.fullmatch(_NUMBER, text):
        return Interval(float(text), float(text))
    if found := _INTERVAL.fullmatch(text):
        return Interval(float(found[2]), float(found[3]), found[1] != "[", found[4] != "]")
    if found := _RANGE.fullmatch(text):
        return Interval(float(found[1]), float(found[2]))
    if found := _FROM.fullmatch(text):
        return Interval(float(found[1]), np.inf)
    if found := _BOUND.fullmatch(text):
        bound, strict = float(found[2]), found[1] in "<>"
        return (
            Interval(-np.inf, bound, False, strict) if found[1] in ("<", "<=", "≤") else Interval(bound, np.inf, strict)
        )
    return None


def is_generalized(text: str) -> bool:
    """Return whether a label stands for several values by its form: an interval, a set, a masked text or ``*``.

    >>> [text for text in ("[20,30)", "{a, b}", "131**", "*", "65+", "20", "flu") if is_generalized(text)]
    ['[20,30)', '{a, b}', '131**', '*', '65+']
    """
    interval = interval_of(text)
    is_interval = interval is not None and interval.low < interval.high
    return is_interval or text.endswith(ANY) or (text.startswith("{") and text.endswith("}"))


def codes_of(text: str, kind: Categorical, leaves: Mapping[str, list[int]]) -> list[int] | None:
    """The codes of the values that a label stands for, or None if it is unknown; a set is written ``{a, b}``."""
    if text == ANY:
        return list(range(len(kind.values)))
    if text in leaves:
        return leaves[text]
    if text.startswith("{") and text.endswith("}"):
        parts = [leaves.get(part.strip()) for part in text[1:-1].split(",")]
        return None if None in parts else sorted({code for part in parts for code in part or []})
    return None


def leaves_of(kind: Categorical) -> dict[str, list[int]]:
    """The codes of the values below each label of a hierarchy, and of each value itself."""
    found: dict[str, list[int]] = {}
    by_value = {str(value): code for code, value in enumerate(kind.values)}
    for row in kind.tree.rows:
        if row[0] not in by_value:
            continue
        code = by_value[row[0]]
        for label in dict.fromkeys(row):
            found.setdefault(label, []).append(code)
    return found


class Labels:
    """Labels of one quasi-identifier, compared with codes; each label is read once."""

    def __init__(self, name: str, kind: Numeric | Categorical, codes: FloatArray) -> None:
        self.name, self.kind, self.codes = name, kind, codes
        self.leaves = leaves_of(kind) if isinstance(kind, Categorical) else {}
        self.known: dict[str, BoolArray] = {}

    def matches(self, text: str) -> BoolArray:
        """Return whether each code is among the values that a label stands for: bool array, shape ``(q,)``.

        Raises
        ------
        ValueError
            If the label is unknown.
        """
        if text not in self.known:
            self.known[text] = self._matches(text)
        return self.known[text]

    def _matches(self, text: str) -> BoolArray:
        if isinstance(self.kind, Categorical):
            found = codes_of(text, self.kind, self.leaves)
            if found is not None:
                return np.isin(self.codes, found)
            takes = (
                f"it is a value of the persons, a label of --hierarchy {self.name}=FILE, a set as {{a, b}}, or *; the persons "
                f"have {', '.join(repr(str(value)) for value in self.kind.values[:5])}{', ...' * (len(self.kind.values) > 5)}"
            )
        else:
            interval = interval_of(text)
            if interval is not None:
                return interval.contains(self.codes)
            takes = "it is a number, an interval as [20,30], [20,30), 20-30, <20 or 65+, or *"
        raise ValueError(f"{self.name!r} has the label {text!r}, which is not understood; {takes}.")
