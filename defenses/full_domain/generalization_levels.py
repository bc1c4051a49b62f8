"""Generalization levels of a quasi-identifier, from its values to one label for all."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models import Categorical, Numeric, People
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import MAX_FLOAT, check_kind, is_number

MAX_DEFAULT_INTERVALS = 64
"""Largest number of intervals that divide a numeric domain by default."""

MAX_INTERVALS = 2**53
"""Largest number of intervals that divide a numeric domain; float64 represents all integers up to it."""

INTERVAL_TOLERANCE = 1e-9
"""Rounding error that is ignored: of a number's position, in interval widths, and of the ratio of two widths, relatively."""


@dataclass(frozen=True, eq=False)
class GeneralizationLevels:
    """Levels of a quasi-identifier.

    Attributes
    ----------
    values : int array, shape (n,)
        Value of each respondent, as a number from 0 to v - 1.
    levels : int array, shape (height + 1, v)
        Generalized value of each value at each level. All values are distinct at level 0 and equal at the last level. Values
        that are equal at one level are equal at the next.
    descriptions : tuple of str, length height + 1
        Description of each level, for notes.
    """

    values: IntArray
    levels: IntArray
    descriptions: tuple[str, ...]

    @property
    def height(self) -> int:
        """Highest level."""
        return len(self.levels) - 1


def generalization_levels(people: People, widths: Mapping[str, Sequence[float]]) -> list[GeneralizationLevels]:
    """Levels of each quasi-identifier, in the schema's order.

    Parameters
    ----------
    people : People
    widths : mapping of str to sequence of float
        Interval widths of some numeric attributes, as `checked_widths` returns them.

    Raises
    ------
    ValueError
        If an attribute with widths is not a quasi-identifier or is categorical, or a width makes over `MAX_INTERVALS`.
    """
    kinds = people.schema.quasi_identifiers
    for name in widths:
        if not isinstance(kinds.get(name), Numeric):
            wrong = "is categorical; its hierarchy has its levels" if name in kinds else "is no quasi-identifier"
            raise ValueError(
                f"widths are given for {name!r}, which {wrong}. Give them for numbers; the quasi-identifiers are "
                f"{', '.join(map(repr, kinds))}."
            )
    return [
        _of_categories(name, kind, codes)
        if isinstance(kind, Categorical)
        else _of_numbers(name, kind, codes, widths.get(name))
        for (name, kind), codes in zip(kinds.items(), people.quasi_identifiers.T, strict=True)
    ]


def checked_widths(widths: Any) -> dict[str, tuple[float, ...]]:
    """Interval widths of some attributes; those of an attribute increase, each a whole multiple of the one before.

    Raises
    ------
    TypeError
        If they are not a mapping of names to sequences of numbers, or None.
    ValueError
        If a width is not a positive number, or no whole multiple of the one before.
    """
    if widths is None:
        return {}
    takes = "is a mapping of names to increasing widths, as {'age': (5, 10, 20)}"
    check_kind("FullDomain", "widths", widths, Mapping, takes)
    checked = {}
    for name, steps in widths.items():
        if isinstance(steps, str | bytes) or not np.iterable(steps):
            raise TypeError(f"FullDomain: the widths of {name!r} are {steps!r}; the argument {takes}.")
        checked[name] = _checked_steps(name, tuple(steps))
    return checked


def _checked_steps(name: Any, steps: tuple[Any, ...]) -> tuple[float, ...]:
    """Interval widths of one attribute as floats; ValueError as in `checked_widths`."""
    if not all(is_number(width, 0, MAX_FLOAT) and width > 0 for width in steps):
        raise ValueError(f"the widths of {name!r} are {steps}; a width is a number above 0.")
    widths = tuple(map(float, steps))
    for narrow, wide in itertools.pairwise(widths):
        times = wide / narrow
        if not (1.5 < times < np.inf and abs(times - round(times)) <= INTERVAL_TOLERANCE * times):
            raise ValueError(
                f"the widths of {name!r} go from {narrow:g} to {wide:g}; each must be a whole multiple of the one before, so "
                "that intervals only merge, as 5, 10, 20 are."
            )
    return widths


def _of_categories(name: str, kind: Categorical, codes: FloatArray) -> GeneralizationLevels:
    """Levels of a categorical attribute: those of its hierarchy."""
    levels = kind.tree.levels()
    height = len(levels) - 1
    descriptions = (f"{name} as it is", *(f"{name} at level {level} of {height}" for level in range(1, height + 1)))
    return GeneralizationLevels(codes.astype(np.int64), levels, descriptions)


def _of_numbers(name: str, kind: Numeric, codes: FloatArray, widths: Sequence[float] | None) -> GeneralizationLevels:
    """Levels of a numeric attribute: its values, intervals of each width, and one interval."""
    low, high = kind.bounds
    numbers, values = np.unique(codes, return_inverse=True)
    steps = _default_widths(numbers, high - low) if widths is None else tuple(widths)
    if steps and (high - low) / MAX_INTERVALS > steps[0]:
        raise ValueError(
            f"the widths of {name!r} start at {steps[0]:g}, which divides its domain from {low:g} to {high:g} into over 2**53 "
            "intervals; give wider ones."
        )
    levels = [np.arange(len(numbers))]
    if steps:
        levels.append(np.floor((numbers - low) / steps[0] + INTERVAL_TOLERANCE).astype(np.int64))
    for narrow, wide in itertools.pairwise(steps):
        levels.append(levels[-1] // round(wide / narrow))
    levels.append(np.zeros(len(numbers), dtype=np.int64))
    intervals = (f"{name} in intervals of {step:g}" for step in steps)
    descriptions = (f"{name} as it is", *intervals, f"{name} in one interval")
    return GeneralizationLevels(values, np.array(levels, dtype=np.int64), descriptions)


def _default_widths(numbers: FloatArray, domain: float) -> tuple[float, ...]:
    """Twice the smallest difference of two numbers, doubled to at least 1/64 of the domain, and its doubles up to the domain."""
    if len(numbers) < 2:
        return ()
    width = 2 * float(np.diff(numbers).min())
    while width * MAX_DEFAULT_INTERVALS < domain:
        width *= 2
    widths = []
    while width <= domain:
        widths.append(width)
        width *= 2
    return tuple(widths)
