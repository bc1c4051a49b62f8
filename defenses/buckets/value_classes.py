"""Classes of sensitive values whose frequency in a group is bounded."""

from collections.abc import Hashable

import numpy as np

from foreknow.models import View
from foreknow.models.arrays import IntArray
from foreknow.models.tables.sensitive_set import sensitive_codes


def value_classes(
    owner: str,
    view: View,
    sensitive_set: tuple[Hashable, ...] | None,
    set_as_one: bool = True,
    bound_others: bool = False,
) -> IntArray:
    """Class of each sensitive value; a defense bounds the number of records of each class in a group.

    Parameters
    ----------
    owner : str
        The defense, for error messages.
    view : View
        The view with the sensitive domain, of m values.
    sensitive_set : tuple, optional
        The sensitive set. Without one, each value is a class of its own.
    set_as_one : bool
        If True, the set is one class; otherwise each of its values is a class.
    bound_others : bool
        If True, each value outside the set is a class as well; otherwise these values are free.

    Returns
    -------
    int array, shape (m,)
        Classes are numbered from 0; -1 for a free value.

    Raises
    ------
    ValueError
        If the set has a value that is not in the domain.
    """
    domain = view.schema.values
    if sensitive_set is None:
        return np.arange(len(domain))
    in_set = np.zeros(len(domain), dtype=bool)
    in_set[sensitive_codes(owner, domain, sensitive_set)] = True
    alone = np.ones(len(domain), dtype=bool) if bound_others else in_set.copy()
    classes = np.full(len(domain), -1)
    if set_as_one:
        classes[in_set], alone = 0, alone & ~in_set
    classes[alone] = int(set_as_one) + np.arange(alone.sum())
    return classes
