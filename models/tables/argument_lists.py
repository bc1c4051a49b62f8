"""Check of arguments that are lists."""

from collections.abc import Iterable

from foreknow.models.settings import check_kind


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
