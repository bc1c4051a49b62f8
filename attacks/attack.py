"""Protocols of attacks and of the releases that they read."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from foreknow.models import Beliefs, Observation, Release


class Published(Protocol):
    """A published table and its observation by the worst-case adversary, as `Release` and `PublishedTable`."""

    @property
    def time(self) -> Any:
        """Time of publication."""
        ...

    @property
    def observation(self) -> Observation:
        """Members and values of each group, without their assignment."""
        ...


def each_release[P: Published](attack: object, releases: Iterable[P]) -> Iterator[P]:
    """Yield releases, each checked to have an observation.

    Raises
    ------
    TypeError
        If ``releases`` is a single release, or an element is not a release. The message names the attack.
    """
    name = type(attack).__name__
    if hasattr(releases, "observation"):
        raise TypeError(
            f"{name} takes releases in the order of time, and got one {type(releases).__name__}; put it into a list."
        )
    if not isinstance(releases, Iterable):
        raise TypeError(f"{name} takes releases in the order of time, and got a {type(releases).__name__}.")
    for release in releases:
        if not isinstance(getattr(release, "observation", None), Observation):
            raise TypeError(
                f"{name} takes releases, and got a {type(release).__name__}; publish views first, or make a PublishedTable of a "
                "table with groups."
            )
        yield release


class Attack(Protocol):
    """Protocol of attacks: frozen settings objects, called with releases."""

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations may be read."""
        ...
