"""The source of a defense's random choices: the generator it was given, or fresh entropy from the operating system."""

import numpy as np


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator given, or a new one of 128 bits of entropy from the operating system.

    A new generator is made at each call and is not stored, so that nobody can draw its numbers again.
    """
    return np.random.default_rng() if rng is None else rng


def check_generator(owner: str, rng: object, deterministic: bool = False) -> None:
    """Raise TypeError unless ``rng`` is a generator or None, and ValueError if a deterministic setting is given one."""
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"{owner}: rng is {rng!r}; it is a generator, as numpy.random.default_rng(1) for an experiment, or left out to "
            "draw from fresh entropy."
        )
    if rng is not None and deterministic:
        raise ValueError(f"{owner}: deterministic=True draws nothing, and rng is given; leave out one of them.")
