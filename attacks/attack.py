"""What every attack is."""

from collections.abc import Iterable
from typing import Any, Protocol

from foreknow.models import Beliefs, Observation, Release


class Published(Protocol):
    """Something published, of which an attack reads what the worst-case adversary sees: `Release`, `PublishedTable`."""

    @property
    def time(self) -> Any:
        """When it was published."""
        ...

    @property
    def observation(self) -> Observation:
        """Who is in each group, and each group's values."""
        ...


class Attack(Protocol):
    """An adversary at work; a frozen settings object."""

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """What is believed around each release. Only the releases' observations may be read."""
        ...
