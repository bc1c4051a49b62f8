"""Hint for error messages: values of equal text and different types, as the text '5' and the number 5."""

from collections.abc import Iterable
from numbers import Number, Real
from typing import Any


def lookalike(value: Any, domain: Iterable[Any]) -> str:
    """Return a sentence that names the value of a domain with the text of a given value and another type.

    The sentence begins with a space. It is empty if there is no such value. Cost: O(m).

    Examples
    --------
    >>> lookalike("5", (1, 5))
    " The types differ: '5' is text, and 5 a number; convert one of them."
    >>> lookalike("x", (1, 5))
    ''
    """
    for other in domain:
        if type(other) is not type(value) and _reads_like(value, other):
            return f" The types differ: {value!r} is {_kind(value)}, and {other!r} {_kind(other)}; convert one of them."
    return ""


def _reads_like(one: Any, other: Any) -> bool:
    """Return whether two values have the same text, or a text is that of a number."""
    if str(one).strip() == str(other).strip():
        return True
    if isinstance(one, str) == isinstance(other, str):
        return False
    text, number = (one, other) if isinstance(one, str) else (other, one)
    try:
        return isinstance(number, Real) and float(text) == float(number)
    except (ValueError, OverflowError):
        return False


def _kind(value: Any) -> str:
    """The type of a value in words."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "a truth value"
    return "a number" if isinstance(value, Number) else f"a {type(value).__name__}"
