"""Signatures of m-invariance: the set of sensitive values of the group in which each respondent was last published."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from foreknow.models import Release, View
from foreknow.models.arrays import BoolArray
from foreknow.models.settings import check_kind


class Signatures(NamedTuple):
    """Signatures of a view's respondents.

    Attributes
    ----------
    values : bool array, shape (n, m)
        Signature of each respondent, as a set of sensitive values; empty if there is none to keep.
    changed : int
        Number of respondents whose sensitive value differs from the one last published.
    unfit : int
        Number of respondents with an unchanged value, whose last group lacked that value or had too few values.
    """

    values: BoolArray
    changed: int
    unfit: int


def past_signatures(view: View, past: tuple[Release, ...], least: int) -> Signatures:
    """Set of sensitive values of the group in which each respondent of a view was last published.

    A respondent who was absent or suppressed for some releases keeps the signature from before. A respondent has no signature
    to keep if the sensitive value has changed since, or if the last group had fewer than ``least`` values or not the
    respondent's own (by another defense, or another m).

    Parameters
    ----------
    view : View
    past : tuple of Release
        The releases so far, in the order of time.
    least : int
        Least number of values of a signature, m.

    Raises
    ------
    TypeError
        If ``past`` is not a tuple or list of releases.
    ValueError
        If a past release has another sensitive domain.

    Notes
    -----
    Cost: O(n m + the number of records of the past).
    """
    _check_past(view, past)
    values = np.zeros((len(view), len(view.schema.values)), dtype=bool)
    last_value = np.full(len(view), -1, dtype=np.int64)
    unseen: dict[Hashable, int] = {respondent: row for row, respondent in enumerate(view.people.respondents)}
    for release in reversed(past):
        shown = release.counts > 0
        records = zip(release.view.people.respondents, release.group, release.view.sensitive, strict=True)
        for respondent, group, value in records:
            if group >= 0 and respondent in unseen:
                row = unseen.pop(respondent)
                values[row], last_value[row] = shown[group], value
        if not unseen:
            break
    changed = (last_value >= 0) & (last_value != view.sensitive)
    has_own = values[np.arange(len(view)), view.sensitive]
    unfit = (last_value >= 0) & ~changed & (~has_own | (values.sum(axis=1) < least))
    values[changed | unfit] = False
    return Signatures(values, int(changed.sum()), int(unfit.sum()))


def _check_past(view: View, past: tuple[Release, ...]) -> None:
    check_kind("MInvariance", "past", past, (tuple, list), "is a tuple of releases, in the order of time")
    for release in past:
        check_kind(
            "MInvariance", "a past release", release, Release, "is a Release; make one by Release(view, grouping)"
        )
        if release.view.schema.values != view.schema.values:
            raise ValueError(
                f"the release at {release.time!r} has another sensitive domain than the view at {view.time!r}; signatures are "
                "sets of values of one domain. Build every view with the same Schema."
            )
