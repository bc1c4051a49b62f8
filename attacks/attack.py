"""The protocol of attacks, and what they read of releases."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from foreknow.models import Beliefs, Observation, Release


class Published(Protocol):
    """Something published, of which an attack reads what the worst-case adversary sees: `Release`, `PublishedTable`."""

    @property
    def time(self) -> Any:
        """Time of publication."""
        ...

    @property
    def observation(self) -> Observation:
        """Each group's members and values, as the adversary sees them."""
        ...


def each_release[P: Published](attack: object, releases: Iterable[P]) -> Iterator[P]:
    """The releases, one after another, each checked to have an observation.

    Raises
    ------
    TypeError
        If ``releases`` is one release, or an element is no release; it names the attack.
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
    """An adversary at work; a frozen settings object."""

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs around each release. Only the releases' observations may be read."""
        ...
