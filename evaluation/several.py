"""The check that a measure of releases is given several."""

from collections.abc import Iterable


def several[R](owner: str, releases: Iterable[R]) -> Iterable[R]:
    """The releases, unchanged.

    Raises
    ------
    TypeError
        If there is one release, not in a list.
    """
    if not isinstance(releases, Iterable):
        raise TypeError(f"{owner} takes several releases, and got one {type(releases).__name__}; put it into a list.")
    return releases
