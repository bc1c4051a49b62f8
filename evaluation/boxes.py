"""Tables as boxes over the domains of the quasi-identifiers: what a reader of a release counts with."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from foreknow.models import Categorical, Numeric, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.generalization import Hulls, common_level, hulls

type Domains = tuple[FloatArray, ...]
"""The codes that each quasi-identifier may take, rising."""


EVERYBODY = slice(None)


class Boxes(NamedTuple):
    """Records, of which it is known in which box of the domains they lie, and how many of them have each value.

    Attributes
    ----------
    low, high : int array, shape (c, d)
        The first and the last code of each box, as positions in the domains; both belong to it.
    weights : float array, shape (c, m)
        How many records of each sensitive value lie in it.
    """

    low: IntArray
    high: IntArray
    weights: FloatArray

    @property
    def volume(self) -> FloatArray:
        """Number of vectors of the domains in each box: float array, shape ``(c,)``."""
        return np.asarray(np.prod(self.high - self.low + 1.0, axis=1))


def domains(views: Iterable[View]) -> Domains:
    """Domains of the quasi-identifiers of views of one schema.

    A categorical attribute has all values of the schema. A numeric attribute has the different numbers of the views, whole or
    not, suppressed records included; a reader of a release is assumed to know them. Domains therefore do not depend on the
    unit: a column in cents has as many values as in dollars. Cost: O(n d log n) for n records in all.
    """
    views = tuple(views)
    columns = np.concatenate([view.people.quasi_identifiers for view in views]).T
    kinds = views[0].schema.quasi_identifiers.values()
    return tuple(_domain(kind, codes) for kind, codes in zip(kinds, columns, strict=True))


def original_boxes(view: View, domains: Domains, rows: "BoolArray | slice" = EVERYBODY) -> Boxes:
    """The original records, or some of them: a box of one vector for each that occurs. Cost: O(n d log n)."""
    places = positions(view.people.quasi_identifiers[rows], domains, view)
    distinct, which = np.unique(places, axis=0, return_inverse=True)
    m = len(view.schema.values)
    weights = np.bincount(which.ravel() * m + view.sensitive[rows], minlength=len(distinct) * m)
    return Boxes(distinct, distinct, weights.reshape(-1, m).astype(np.float64))


def published_boxes(release: Release, domains: Domains) -> Boxes:
    """Contents of a release: suppressed records are missing, counterfeits cannot be told and are there.

    Generalized, a box for each group, with its sensitive values. Bucketized, one for each vector that a group shows, with
    as many records as show it, whose sensitive values are in the proportion of the group's. Cost: O(n d log n).
    """
    if not release.bucketized:
        hull = published_hulls(release)
        low, high = (positions(codes, domains, release.view) for codes in (hull.low, hull.high))
        return Boxes(low, high, release.counts.astype(np.float64))
    kept = release.group >= 0
    places = positions(release.view.people.quasi_identifiers[kept], domains, release.view)
    rows, times = np.unique(np.column_stack([release.group[kept], places]), axis=0, return_counts=True)
    shares = release.counts / np.maximum(release.counts.sum(axis=1, keepdims=True), 1)
    return Boxes(rows[:, 1:], rows[:, 1:], times[:, None] * shares[rows[:, 0]])


def published_hulls(release: Release) -> Hulls:
    """The smallest and the largest code under what each group of a generalized release is published as.

    A number's are the ends of the interval; a categorical attribute's are the first and the last value under the label, as
    codes stand in the order of the hierarchy's traversal.
    """
    d = len(release.view.schema.quasi_identifiers)
    if not release.groups:
        return Hulls(np.zeros((0, d)), np.zeros((0, d)))
    people = release.view.people
    hull = hulls(people, release.group, release.groups)
    for a, kind in enumerate(people.schema.quasi_identifiers.values()):
        if isinstance(kind, Categorical):
            level = common_level(kind, people.quasi_identifiers[:, a], release.group, release.groups)
            first, last = _under(kind)
            code = hull.low[:, a].astype(np.int64)
            hull.low[:, a], hull.high[:, a] = first[level, code], last[level, code]
    return hull


def positions(codes: FloatArray, domains: Domains, view: View) -> IntArray:
    """Positions of codes of shape ``(c, d)`` in the domains."""
    places = np.zeros(codes.shape, dtype=np.int64)
    for a, domain in enumerate(domains):
        places[:, a] = np.minimum(np.searchsorted(domain, codes[:, a]), len(domain) - 1)
        strange = domain[places[:, a]] != codes[:, a]
        if strange.any():
            name = list(view.schema.quasi_identifiers)[a]
            raise ValueError(
                f"{name!r} is {codes[strange.argmax(), a]} in the view at {view.time!r}, which is none of the {len(domain)} "
                "values that the queries know of; draw the workload from all views of the history."
            )
    return places


def _domain(kind: Numeric | Categorical, codes: FloatArray) -> FloatArray:
    if isinstance(kind, Categorical):
        return np.arange(len(kind.values), dtype=np.float64)
    return np.unique(codes)


def _under(kind: Categorical) -> tuple[IntArray, IntArray]:
    """The first and the last code that share a value's label at each level: two int arrays, shape ``(height + 1, v)``."""
    # Values stand in the order of the tree's traversal: those under one label are neighbours.
    levels = kind.tree.levels()
    first, last = np.zeros_like(levels), np.zeros_like(levels)
    for at, labels in enumerate(levels):
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        sizes = np.diff(starts, append=len(labels))
        first[at], last[at] = np.repeat(starts, sizes), np.repeat(starts + sizes - 1, sizes)
    return first, last
