"""Observations of releases, checked."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from foreknow.models.settings import shown
from foreknow.models.tables.observation import Observation

WAY_OUT = "Publish views first, as publish(history, defense)."


def each_observation(owner: str, releases: Iterable[Any]) -> tuple[Observation, ...]:
    """Observations of releases, or of observations themselves.

    Raises
    ------
    TypeError
        If ``releases`` is one release, or an element is neither a release nor an observation. ``owner`` is named.
    ValueError
        If there is no release.
    """
    takes = "releases or observations in the order of time"
    if isinstance(releases, Observation) or hasattr(releases, "observation"):
        raise TypeError(f"{owner} takes {takes}, and got one {type(releases).__name__}; put it into a list.")
    if isinstance(releases, str | bytes | dict) or not np.iterable(releases):
        raise TypeError(f"{owner} takes {takes}, and got {shown(releases)}. {WAY_OUT}")
    observations = []
    for release in releases:
        observation = release if isinstance(release, Observation) else getattr(release, "observation", None)
        if not isinstance(observation, Observation):
            raise TypeError(f"{owner} takes {takes}, and got {shown(release)}. {WAY_OUT}")
        observations.append(observation)
    if not observations:
        raise ValueError(f"{owner}: there is no release; give one or more, in the order of time.")
    return tuple(observations)
