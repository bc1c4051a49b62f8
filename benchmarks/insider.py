"""An insider attack on a bucketizer: the insider knows its rule, the groups and one member's value, and derives other values."""

import numpy as np
import pandas as pd

from foreknow.defenses import hilbert_order
from foreknow.models import Numeric, Release, Schema, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray


def crowd(people: int, values: str, rng: np.random.Generator) -> View:
    """A view of respondents with two random quasi-identifiers, and equally frequent values in random order."""
    frame = pd.DataFrame({"id": range(people), "age": rng.random(people), "weight": rng.random(people)})
    frame["value"] = rng.permutation(np.resize(list(values), people))
    return View(frame, Schema({"age": Numeric(0, 1), "weight": Numeric(0, 1)}, "value", tuple(values)))


class Groups:
    """Groups of two members with two values, and the assignments that the publisher's rule allows.

    In the rule of `Anatomy(2, deterministic=True)`, the i-th record of a value along the Hilbert curve is in the i-th group that
    shows the value. With ``by_signature``, as in `MInvariance`, it is in the i-th of the groups of one signature.
    """

    def __init__(self, release: Release, by_signature: bool) -> None:
        members = np.array([np.flatnonzero(release.group == g) for g in range(release.groups)])
        self.values = np.array([np.flatnonzero(counts) for counts in release.counts])
        self.of = release.group
        self.rank = np.argsort(hilbert_order(release.view.people)).astype(float)[members]
        self.truth = (release.view.sensitive[members[:, 0]] != self.values[:, 0]).astype(int)
        signature = np.unique(self.values, axis=0, return_inverse=True)[1].reshape(-1) if by_signature else 0
        key = signature * (self.values.max() + 1) + self.values.T
        self.chains = [np.nonzero((key == one).T) for one in np.unique(key)]

    def possible(self, known: int | None) -> BoolArray:
        """Assignments of each group that the rule allows, given the assignment of the group of a known member.

        The records of a value must be in the order of the groups that show the value. The search removes assignments that no
        choice in the earlier or later groups can complete, until nothing changes.
        """
        allowed = np.ones((len(self.values), 2), dtype=bool)
        if known is not None:
            allowed[self.of[known], 1 - self.truth[self.of[known]]] = False
        struck = True
        while struck:
            struck = False
            for group, slot in self.chains:
                place = np.column_stack([self.rank[group, slot], self.rank[group, 1 - slot]])
                fits = allowed[group] & _in_order(place, allowed[group])
                struck |= bool((fits != allowed[group]).any())
                allowed[group] = fits
        return allowed

    def claimed(self, known: int) -> tuple[float, float]:
        """Share of the other groups whose assignment is certain for an insider, and the share where it is correct."""
        allowed = self.possible(known)
        sure = allowed.sum(axis=1) == 1
        sure[self.of[known]] = False
        others = len(sure) - 1
        return sure.sum() / others, (sure & (allowed.argmax(axis=1) == self.truth)).sum() / others


def _in_order(place: FloatArray, allowed: BoolArray) -> BoolArray:
    """Return whether each place of a chain leaves places for the groups before and after it."""
    low = np.where(allowed, place, np.inf).min(axis=1)
    high = np.where(allowed, place, -np.inf).max(axis=1)
    before = np.append(-np.inf, np.maximum.accumulate(np.where(np.isfinite(low), low, -np.inf))[:-1])
    after = np.append(np.minimum.accumulate(np.where(np.isfinite(high), high, np.inf)[::-1])[::-1][1:], np.inf)
    return (place > before[:, None]) & (place < after[:, None])


def claims(release: Release, by_signature: bool, insiders: IntArray) -> FloatArray:
    """Shares claimed and correctly claimed by each insider: float array, shape ``(i, 2)``."""
    groups = Groups(release, by_signature)
    return np.array([groups.claimed(int(known)) for known in insiders])
