"""Access of measures to mined global distributions: by release, and for one sensitive set."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from foreknow.attacks import ForegroundBeliefs
from foreknow.models import GlobalDistribution, Observation
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.settings import check_kind
from foreknow.models.tables.sensitive_set import SensitiveSet


def global_distributions(
    owner: str, beliefs: ForegroundBeliefs
) -> Iterator[tuple[Observation, tuple[GlobalDistribution, ...]]]:
    """Yield each release with its global distributions.

    Parameters
    ----------
    owner : str
        The measure, for error messages.
    beliefs : ForegroundBeliefs

    Raises
    ------
    TypeError
        If the beliefs are not those of a `ForegroundAttack`.
    ValueError
        If they lack the global distributions of a release.
    """
    takes = "holds global distributions; give what a ForegroundAttack returned, because other attacks mine none"
    check_kind(owner, "beliefs", beliefs, ForegroundBeliefs, takes)
    if len(beliefs.knowledge) != len(beliefs):
        raise ValueError(
            f"{owner}: beliefs has {len(beliefs)} releases and the global distributions of {len(beliefs.knowledge)}; give what a "
            "ForegroundAttack returned."
        )
    return zip((release.observation for release in beliefs), beliefs.knowledge, strict=True)


def set_probabilities(
    owner: str, distribution: GlobalDistribution, probabilities: FloatArray, sensitive_set: tuple[Hashable, ...] | None
) -> FloatArray:
    """Probability of a sensitive set under distributions of one attribute set: shape ``(..., s, m)`` to ``(..., s)``.

    Parameters
    ----------
    owner : str
        The measure, for error messages.
    distribution : GlobalDistribution
        Says which classes the last axis has.
    probabilities : float array, shape (..., s, m)
    sensitive_set : tuple, optional
        May be omitted where the attack was given a sensitive set, which is then used.

    Raises
    ------
    ValueError
        If the set is not the attack's; if the attack distinguished all values and the set is None; if the set is not in the domain
        or is the whole domain.
    """
    mined = distribution.sensitive_set
    if sensitive_set is not None:
        codes = SensitiveSet.within(mined.domain, sensitive_set, owner).codes
        if not mined.is_proper_subset:
            return np.asarray(probabilities[..., codes].sum(axis=-1))
        _check_same(owner, mined, codes)
    elif not mined.is_proper_subset:
        raise ValueError(
            f"{owner}: the attack distinguished all values, so that there is no one sensitive set; name it, as "
            "sensitive_set={...}."
        )
    return np.asarray(probabilities[..., 0])


def _check_same(owner: str, mined: SensitiveSet, codes: IntArray) -> None:
    """Raise ValueError unless a set is the attack's."""
    if not np.array_equal(codes, mined.codes):
        wanted, given = (", ".join(repr(mined.domain[code]) for code in some) for some in (codes, mined.codes))
        raise ValueError(
            f"{owner}: the set asked for is {{{wanted}}}, and the attack was given {{{given}}}, the only set it has probabilities "
            f"of; attack with sensitive_set={{{wanted}}}, or with sensitive_set=None, which distinguishes all values."
        )


def release_rows(
    time: Any,
    pairs: Mapping[str, FloatArray],
    measure: Callable[[FloatArray], dict[str, object]],
    by_attribute_set: bool,
) -> list[dict[str, object]]:
    """Rows of one release in a table of a measure: one row, or one for each attribute set.

    Parameters
    ----------
    time
        Time of the release.
    pairs : mapping of str to float array, shape (k, 2)
        The two numbers that are compared, by attribute set.
    measure : callable
        Takes an array of pairs, shape ``(k, 2)``, and returns the columns of a row.
    by_attribute_set : bool
    """
    if by_attribute_set:
        return [{"time": time, "attributes": name} | measure(some) for name, some in pairs.items()]
    return [{"time": time} | measure(np.concatenate([np.zeros((0, 2)), *pairs.values()]))]


def attribute_names(distribution: GlobalDistribution) -> str:
    """The attribute set as text: its names, separated by commas."""
    return ", ".join(distribution.attributes)
