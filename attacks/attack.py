"""What every attack is."""

from collections.abc import Iterable
from typing import Protocol

from foreknow.models import Beliefs, Release


class Attack(Protocol):
    """An adversary at work; a frozen settings object."""

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """What is believed around each release. Only the releases' observations may be read."""
        ...
