"""Global distributions as measures read them: by release, and of one sensitive set."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from foreknow.attacks import ForegroundBeliefs
from foreknow.models import GlobalDistribution, Observation
from foreknow.models.arrays import FloatArray
from foreknow.models.foreground.secret import Secret


def knowledge(beliefs: ForegroundBeliefs) -> Iterator[tuple[Observation, tuple[GlobalDistribution, ...]]]:
    """Each release, with the global distributions it taught.

    Raises
    ------
    TypeError
        If the beliefs hold none.
    """
    if not isinstance(beliefs, ForegroundBeliefs) or len(beliefs.knowledge) != len(beliefs):
        raise TypeError(
            f"{beliefs!r} holds no global distributions; give what a ForegroundAttack returned: other attacks mine none."
        )
    return zip((release.observation for release in beliefs), beliefs.knowledge, strict=True)


def of_set(
    owner: str, distribution: GlobalDistribution, probabilities: FloatArray, sensitive: tuple[Hashable, ...] | None
) -> FloatArray:
    """The set's part of some of a distribution's probabilities: shape ``(..., s, m)`` to ``(..., s)``.

    Where the attack told the set from all other values, its part is there already; that it is the same set is not checked.

    Raises
    ------
    ValueError
        If the attack told all values apart, and the set is None, not in the domain or all of it.
    """
    if distribution.values == (True, False):
        return np.asarray(probabilities[..., 0])
    if sensitive is None:
        raise ValueError(
            f"{owner}: the attack told all values apart, so that there is no one sensitive set; name it, as sensitive={{...}}."
        )
    return np.asarray(probabilities[..., Secret.of(distribution.values, sensitive, owner).sensitive].sum(axis=-1))


def summarized(
    time: Any,
    pairs: Mapping[str, FloatArray],
    row: Callable[[FloatArray], dict[str, object]],
    by_attribute_set: bool,
) -> list[dict[str, object]]:
    """The rows of a release: one, or one per attribute set, of pairs of numbers, shape ``(k, 2)``, by attribute set."""
    if by_attribute_set:
        return [{"time": time, "attributes": name} | row(some) for name, some in pairs.items()]
    return [{"time": time} | row(np.concatenate([np.zeros((0, 2)), *pairs.values()]))]


def named(distribution: GlobalDistribution) -> str:
    """An attribute set in words."""
    return ", ".join(distribution.attributes)
