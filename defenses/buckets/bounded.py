"""Which sensitive values a defense keeps rare in every group: all of them, or those of a sensitive set."""

from collections.abc import Hashable

import numpy as np

from foreknow.models import View
from foreknow.models.arrays import IntArray
from foreknow.models.foreground.sensitive_set import sensitive_codes


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
    listed = np.zeros(len(domain), dtype=bool)
    listed[sensitive_codes(owner, domain, sensitive)] = True
    own = np.ones(len(domain), dtype=bool) if others else listed.copy()
    kinds = np.full(len(domain), -1)
    if together:
        kinds[listed], own = 0, own & ~listed
    kinds[own] = int(together) + np.arange(own.sum())
    return kinds
