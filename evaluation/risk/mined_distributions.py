"""Global distributions as measures read them: by release, and of one sensitive set."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from foreknow.attacks import ForegroundBeliefs
from foreknow.models import GlobalDistribution, Observation
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.foreground.sensitive_set import SensitiveSet


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

    Where the attack told a set from all other values, its part is there already, and the set may be left out, as None.

    Raises
    ------
    ValueError
        If the set is not the attack's; if the attack told all values apart, and the set is None; if it is not in the domain or
        all of it.
    """
    sensitive_set = distribution.sensitive_set
    if sensitive is not None:
        asked = SensitiveSet.of(sensitive_set.domain, sensitive, owner).sensitive
        if not sensitive_set.is_set:
            return np.asarray(probabilities[..., asked].sum(axis=-1))
        _check_same(owner, sensitive_set, asked)
    elif not sensitive_set.is_set:
        raise ValueError(
            f"{owner}: the attack told all values apart, so that there is no one sensitive set; name it, as sensitive={{...}}."
        )
    return np.asarray(probabilities[..., 0])


def _check_same(owner: str, sensitive_set: SensitiveSet, asked: IntArray) -> None:
    """Raise ValueError unless a set is the attack's."""
    if not np.array_equal(asked, sensitive_set.sensitive):
        wanted, given = (
            ", ".join(repr(sensitive_set.domain[code]) for code in codes) for codes in (asked, sensitive_set.sensitive)
        )
        raise ValueError(
            f"{owner}: the set asked for is {{{wanted}}}, and the attack was given {{{given}}}, the only one that it says anything "
            f"of; attack with sensitive={{{wanted}}}, or with sensitive=None, which tells all values apart."
        )


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
