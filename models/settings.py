"""What a setting must be: a number in a range, or a whole one."""

import math
import sys
from numbers import Real
from typing import Any

LARGEST = sys.float_info.max
"""The largest number that is not infinite."""


def is_number(given: Any, least: float, most: float = math.inf) -> bool:
    """Whether something is a number in a range, ends included; it may be infinite. True and False are none."""
    is_real = isinstance(given, Real) and not isinstance(given, bool)
    return is_real and bool(least <= given <= most)


def is_whole(given: Any, least: int = 1) -> bool:
    """Whether something is a whole number, so many or more, and not infinite: 2, or 2.0."""
    return is_number(given, least, LARGEST) and bool(given == int(given))


def check_whole(owner: str, letter: str, number: float, what: str) -> None:
    """Raise ValueError unless a setting is a whole number of something, 1 or more."""
    if not is_whole(number):
        raise ValueError(f"{owner}: {letter} is {number}; it is a number of {what}, 1 or more.")
