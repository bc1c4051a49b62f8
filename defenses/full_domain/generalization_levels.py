"""The levels of generalization of a quasi-identifier, from its values up to one label for all."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from foreknow.models import Categorical, Numeric, People
from foreknow.models.arrays import FloatArray, IntArray

FINEST = 64
"""Without widths, the narrowest intervals of a number are at least its domain over this many."""

ROUNDING = 1e-9
"""By how much of its width an interval begins early, for the sake of rounding."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """A quasi-identifier's levels.

    Attributes
    ----------
    values : int array, shape (n,)
        Each person's value, as a number from 0 to v - 1.
    levels : int array, shape (height + 1, v)
        The class of each value at each level. All values are apart at level 0 and together at the last; classes only
        merge from a level to the next.
    words : tuple of str, length height + 1
        What is done to the attribute at each level.
    """

    values: IntArray
    levels: IntArray
    words: tuple[str, ...]

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.levels) - 1


def ladders(people: People, widths: Mapping[str, Sequence[float]]) -> list[Ladder]:
    """The ladder of each quasi-identifier, in the schema's order.

    Parameters
    ----------
    people : People
    widths : mapping of str to sequence of float
        The widths of intervals of some numeric attributes; each is a multiple of the one before.

    Raises
    ------
    ValueError
        If an attribute with widths is not there, or categorical.
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


def check_widths(widths: Mapping[str, Sequence[float]]) -> None:
    """Raise ValueError unless the widths of each attribute increase, each a whole multiple of the one before."""
    for name, steps in widths.items():
        if not all(0 < width < np.inf for width in steps):
            raise ValueError(f"the widths of {name!r} are {tuple(steps)}; a width is a number above 0.")
        for narrow, wide in itertools.pairwise(steps):
            times = wide / narrow
            if not (times > 1.5 and abs(times - round(times)) <= ROUNDING * times):
                raise ValueError(
                    f"the widths of {name!r} go from {narrow:g} to {wide:g}; each must be a whole multiple of the one before, so "
                    "that intervals only merge, as 5, 10, 20 are."
                )


def _of_categories(name: str, kind: Categorical, codes: FloatArray) -> Ladder:
    levels = kind.tree.levels()
    height = len(levels) - 1
    words = (f"{name} as it is", *(f"{name} at level {level} of {height}" for level in range(1, height + 1)))
    return Ladder(codes.astype(np.int64), levels, words)


def _of_numbers(name: str, kind: Numeric, codes: FloatArray, widths: Sequence[float] | None) -> Ladder:
    low, high = kind.bounds
    numbers, values = np.unique(codes, return_inverse=True)
    steps = _doubled(numbers, high - low) if widths is None else tuple(widths)
    levels = [np.arange(len(numbers))]
    for narrow, wide in itertools.pairwise((0.0, *steps)):
        if narrow:
            levels.append(levels[-1] // round(wide / narrow))
        else:
            levels.append(np.floor((numbers - low) / wide + ROUNDING).astype(np.int64))
    levels.append(np.zeros(len(numbers), dtype=np.int64))
    words = (f"{name} as it is", *(f"{name} in intervals of {step:g}" for step in steps), f"{name} in one interval")
    return Ladder(values, np.array(levels, dtype=np.int64), words)


def _doubled(numbers: FloatArray, domain: float) -> tuple[float, ...]:
    """Twice the smallest difference between numbers, and on by doubling while there is more than one interval."""
    if len(numbers) < 2:
        return ()
    width = 2 * float(np.diff(numbers).min())
    while width * FINEST < domain:
        width *= 2
    steps = []
    while width <= domain:
        steps.append(width)
        width *= 2
    return tuple(steps)
