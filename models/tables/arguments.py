"""Check and conversion of arguments: lists, and arrays of labels, codes, counts and probabilities."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_kind

INTEGER_LIMIT = 2.0**63
"""Smallest absolute value beyond the integers of 64 bits."""


def as_list[T](owner: str, name: str, values: Iterable[T], takes: str) -> list[T]:
    """Return an argument as a list; raise TypeError if it is one text or cannot be iterated.

    Parameters
    ----------
    owner, name : str
        The class or function, and its parameter.
    values : iterable
    takes : str
        What the parameter takes, as a predicate: "is a list of columns, as ['age']".
    """
    if isinstance(values, str | bytes):
        raise TypeError(f"{owner}: {name} is the text {str(values)[:60]!r}; it {takes}.")
    check_kind(owner, name, values, Iterable, takes)
    try:
        return list(values)
    except TypeError:  # An array without an axis.
        raise TypeError(f"{owner}: {name} is {values!r}; it {takes}.") from None


def as_integers(name: str, numbers: Any, shape: tuple[int | None, ...], takes: str) -> IntArray:
    """Return an array of integers of a given shape.

    Parameters
    ----------
    name : str
        The array, for messages, as ``"the labels of a grouping"``.
    numbers : array_like
        Integers, or floats that equal integers. An empty array is accepted in any shape that ``shape`` allows.
    shape : tuple of int or None
        The length of each axis; None for any length.
    takes : str
        The content of the array in words, for messages: "one integer per record".

    Returns
    -------
    int array
        Of dtype int64. It shares memory with ``numbers`` where that is such an array.

    Raises
    ------
    TypeError
        If the numbers are not an array of numbers, as a ragged list or None.
    ValueError
        If the shape does not fit, or a number is not an integer of 64 bits.
    """
    array = _as_array(numbers)
    if array is None or array.dtype.kind not in "iuf":
        found = f"a {type(numbers).__name__}" if array is None or not isinstance(numbers, np.ndarray) else array.dtype
        raise TypeError(f"{name} must be an array of integers, {takes}; got {found}.")
    if array.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} must be {takes}; got shape {array.shape}.")
    if array.dtype.kind == "f" and not np.array_equal(array, np.round(array)):
        raise ValueError(f"{name} must be integers, {takes}; got {array.dtype}.")
    if array.size and max(abs(float(array.max())), abs(float(array.min()))) >= INTEGER_LIMIT:
        raise ValueError(f"{name} must be integers of 64 bits, {takes}; got {array.max()}.")
    return array.astype(np.int64, copy=False)


def as_floats(owner: str, name: str, numbers: Any) -> FloatArray:
    """Return an array of floats; raise TypeError unless the argument holds real numbers.

    Parameters
    ----------
    owner, name : str
        The class or function, and its parameter.
    numbers : array_like

    Returns
    -------
    float array
        It shares memory with ``numbers`` where that is such an array.
    """
    array = _as_array(numbers)
    if array is not None and array.dtype.kind in "biufO":
        try:
            return array.astype(np.float64, copy=False)
        except (OverflowError, TypeError, ValueError):
            pass
    kind = f"an array of {numbers.dtype}" if isinstance(numbers, np.ndarray) else f"a {type(numbers).__name__}"
    raise TypeError(f"{owner}: {name} is {kind}; it is an array of real numbers.")


def _as_array(numbers: Any) -> "np.ndarray[Any, Any] | None":
    """The numbers as an array, or None if they cannot form one; Python integers in an object array become int64."""
    try:
        array = np.asarray(numbers)
    except (TypeError, ValueError):
        return None
    if array.dtype == object and all(isinstance(x, Integral) and not isinstance(x, bool) for x in array.flat):
        fits = all(abs(int(number)) < INTEGER_LIMIT for number in array.flat)
        return array.astype(np.int64) if fits else np.full(array.shape, np.inf)
    return array
