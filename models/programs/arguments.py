"""Conversion of the array arguments of programs."""

from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray


def as_floats(owner: str, name: str, value: Any, takes: str) -> FloatArray:
    """Return a value as a float array; raise TypeError, saying what the parameter takes, where that is impossible."""
    try:
        array = np.asarray(value)
        if value is None or array.dtype.kind == "c":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{owner}: {name} is {value!r:.60}; {takes}.") from error


def as_arrays(owner: str, name: str, values: Any, takes: str) -> list[Any]:
    """Return a list of arrays from an iterable of array-likes; raise TypeError, saying what the parameter takes, otherwise."""
    if isinstance(values, str | bytes | dict) or not np.iterable(values):
        raise TypeError(f"{owner}: {name} is {values!r:.60}; {takes}.")
    try:
        return [np.asarray(value) for value in values]
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"{owner}: {name} holds {type(values).__name__} entries that are no arrays; {takes}."
        ) from error
