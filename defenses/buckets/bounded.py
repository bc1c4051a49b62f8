"""Which sensitive values a defense keeps rare in every group: all of them, or those of a sensitive set."""

from collections.abc import Hashable, Iterable

import numpy as np

from foreknow.models import View
from foreknow.models.arrays import IntArray


def check_set(owner: str, sensitive: Iterable[Hashable] | None) -> tuple[Hashable, ...] | None:
    """A sensitive set as a tuple; None where there is none.

    Raises
    ------
    TypeError
        If it is one text.
    ValueError
        If it is empty, or names a value twice.
    """
    if sensitive is None:
        return None
    if isinstance(sensitive, str):
        raise TypeError(
            f"{owner}: sensitive is the text {sensitive!r}; it is a sequence of values, as ({sensitive!r},)."
        )
    values = tuple(sensitive)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"{owner}: sensitive is {values!r}; name at least one value, and each once, or leave it out.")
    return values


def bounded_kinds(
    owner: str, view: View, sensitive: tuple[Hashable, ...] | None, together: bool = True, others: bool = False
) -> IntArray:
    """The kinds that may show in at most one in l records of a group, as numbers of the values that are of each.

    Parameters
    ----------
    owner : str
        Who asks, for messages.
    view : View
        Whose domain it is.
    sensitive : tuple, optional
        The sensitive set; without one, every value is a kind of its own.
    together : bool
        Whether the set is one kind, or each of its values one.
    others : bool
        Whether each value outside the set is a kind as well.

    Returns
    -------
    int array, shape (m,)
        Each value's kind, 0 and on; -1 where it is free.

    Raises
    ------
    ValueError
        If the set names a value that the domain has not.
    """
    domain = view.schema.values
    if sensitive is None:
        return np.arange(len(domain))
    strangers = [value for value in sensitive if value not in domain]
    if strangers:
        raise ValueError(
            f"{owner}: sensitive names {strangers[0]!r}, which is no value of {view.schema.sensitive!r} in the view at "
            f"{view.time!r}; its values are {', '.join(map(str, domain[:8]))}{', ...' if len(domain) > 8 else ''}."
        )
    listed = np.array([value in sensitive for value in domain])
    own = np.ones(len(domain), dtype=bool) if others else listed.copy()
    kinds = np.full(len(domain), -1)
    if together:
        kinds[listed], own = 0, own & ~listed
    kinds[own] = int(together) + np.arange(own.sum())
    return kinds
