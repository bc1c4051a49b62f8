"""Among which sensitive values each respondent was last hidden: what m-invariance must keep."""

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from foreknow.models import Release, View
from foreknow.models.arrays import BoolArray


class Signatures(NamedTuple):
    """The signatures of a view's respondents.

    Attributes
    ----------
    values : bool array, shape (n, m)
        The values of the group in which each was last published; no value where there is nothing to keep.
    changed : int
        How many were last published with another sensitive value.
    unfit : int
        How many have their old value, but were last published among values without it, or too few.
    """

    values: BoolArray
    changed: int
    unfit: int


def signatures(view: View, past: tuple[Release, ...], least: int) -> Signatures:
    """The set of sensitive values of the group in which each respondent was last published.

    However long ago that was: somebody who was absent or suppressed for a while has the signature of before. Who has
    another sensitive value than then, or was published among fewer than ``least`` values or without the own one (by
    another defense, or another m), has nothing to keep. Cost: O(n m + the records of the past).

    Raises
    ------
    ValueError
        If a past release has another sensitive domain.
    """
    values = np.zeros((len(view), len(view.schema.values)), dtype=bool)
    before = np.full(len(view), -1, dtype=np.int64)
    missing: dict[Hashable, int] = {who: row for row, who in enumerate(view.people.respondents)}
    for release in reversed(past):
        _check_domain(view, release)
        shown = release.counts > 0
        published = zip(release.view.people.respondents, release.group, release.view.sensitive, strict=True)
        for who, group, value in published:
            if group >= 0 and who in missing:
                row = missing.pop(who)
                values[row], before[row] = shown[group], value
        if not missing:
            break
    changed = (before >= 0) & (before != view.sensitive)
    own = values[np.arange(len(view)), view.sensitive]
    unfit = (before >= 0) & ~changed & (~own | (values.sum(axis=1) < least))
    values[changed | unfit] = False
    return Signatures(values, int(changed.sum()), int(unfit.sum()))


def _check_domain(view: View, release: Release) -> None:
    if release.view.schema.values != view.schema.values:
        raise ValueError(
            f"the release at {release.time!r} has another sensitive domain than the view at {view.time!r}; signatures are sets of "
            "values of one domain. Build every view with the same Schema."
        )
