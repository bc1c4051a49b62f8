"""Boxes over the domains of the quasi-identifiers: original and published records in the form that counting reads."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from foreknow.models import Categorical, NoisyRelease, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.tables.release import published_hulls

type Domains = tuple[FloatArray, ...]
"""Codes that each quasi-identifier may take, rising."""

ALL_ROWS = slice(None)


class Boxes(NamedTuple):
    """Boxes of the domains, with the number of records of each sensitive value in each."""

    # low, high (c, d): first and last code of each box, as positions in the domains; both belong to it
    low: IntArray
    high: IntArray
    weights: FloatArray  # (c, m): number of records of each sensitive value

    @property
    def volume(self) -> FloatArray:
        """Number of vectors of the domains in each box: float array, shape ``(c,)``."""
        return np.asarray(np.prod(self.high - self.low + 1.0, axis=1))


def domains(views: Iterable[View]) -> Domains:
    """Domains of the quasi-identifiers of views of one schema.

    A categorical attribute has all values of the schema. A numeric attribute has the distinct numbers of the views, suppressed
    records included; a reader of a release is assumed to know them. Domains do not depend on the unit: a column in cents has
    the same number of values as in dollars. Cost: O(n d log n) for n records in all.
    """
    views = tuple(views)
    if not views:
        raise ValueError("there is no view, so there are no domains; pass the views that are published.")
    for view in views[1:]:
        check_same_columns(view, len(views[0].schema.quasi_identifiers), len(views[0].schema.values))
    columns = np.concatenate([view.people.quasi_identifiers for view in views]).T
    kinds = views[0].schema.quasi_identifiers.values()
    return tuple(
        np.arange(len(kind.values), dtype=np.float64) if isinstance(kind, Categorical) else np.unique(codes)
        for kind, codes in zip(kinds, columns, strict=True)
    )


def original_boxes(view: View, domains: Domains, rows: "BoolArray | slice" = ALL_ROWS) -> Boxes:
    """Boxes of the original records, or of some rows: one per distinct vector. Cost: O(n d log n)."""
    places = positions(view.people.quasi_identifiers[rows], domains, view)
    distinct, vector = np.unique(places, axis=0, return_inverse=True)
    m = len(view.schema.values)
    weights = np.bincount(vector.ravel() * m + view.sensitive[rows], minlength=len(distinct) * m)
    return Boxes(distinct, distinct, weights.reshape(-1, m).astype(np.float64))


def published_boxes(release: Release | NoisyRelease, domains: Domains, raw: bool = False) -> Boxes:
    """Boxes of a release, without suppressed records and with counterfeits, which a reader cannot distinguish from records.

    A generalized release has one box per group, with its sensitive values. A bucketized release has one per vector that a group
    shows, with the number of records that show it, whose sensitive values are in the group's proportions. The counts of a group of
    c records, g of them ghosts, are multiplied by ``(c - g) / c``, its published share of real records. Noisy counts have one box
    per cell that holds a vector of the domains, with the processed counts if there are some, or with ``raw`` the noisy ones. Cost:
    O(n d log n).
    """
    if isinstance(release, NoisyRelease):
        made, pairs = release.made, list(enumerate(domains))
        low = np.column_stack([np.searchsorted(domain, made.cells.above[:, a], side="right") for a, domain in pairs])
        high = np.column_stack([np.searchsorted(domain, made.cells.to[:, a], side="right") - 1 for a, domain in pairs])
        counts = made.counts if raw or made.processed is None else made.processed
        some = (low <= high).all(axis=1)
        return Boxes(low[some], high[some], counts[some].astype(np.float64))
    totals = np.maximum(release.counts.sum(axis=1, keepdims=True), 1)
    real = 1 - release.ghost_counts[:, None] / totals
    if not release.bucketized:
        hull = published_hulls(release)
        low, high = (positions(codes, domains, release.view) for codes in (hull.low, hull.high))
        return Boxes(low, high, release.counts * real)
    people, group = release.everyone
    kept = group >= 0
    places = positions(people.quasi_identifiers[kept], domains, release.view)
    rows, times = np.unique(np.column_stack([group[kept], places]), axis=0, return_counts=True)
    shares = release.counts / totals * real
    return Boxes(rows[:, 1:], rows[:, 1:], times[:, None] * shares[rows[:, 0]])


def positions(codes: FloatArray, domains: Domains, view: View) -> IntArray:
    """Positions of codes of shape ``(c, d)`` in the domains."""
    places = np.zeros(codes.shape, dtype=np.int64)
    for a, domain in enumerate(domains):
        places[:, a] = np.minimum(np.searchsorted(domain, codes[:, a]), len(domain) - 1)
        unknown = domain[places[:, a]] != codes[:, a]
        if unknown.any():
            name = list(view.schema.quasi_identifiers)[a]
            raise ValueError(
                f"{name!r} is {codes[unknown.argmax(), a]} in the view at {view.time!r}, which is none of the {len(domain)} "
                "values of the workload's domain; draw the workload from all views of the history."
            )
    return places


def check_same_columns(view: View, d: int, m: int) -> None:
    """Raise ValueError unless a view has d quasi-identifiers and m sensitive values."""
    schema = view.schema
    if (len(schema.quasi_identifiers), len(schema.values)) != (d, m):
        raise ValueError(
            f"the view at {view.time!r} has {len(schema.quasi_identifiers)} quasi-identifiers and {len(schema.values)} sensitive "
            f"values, and the workload's views have {d} and {m}; draw the workload from the views that are published."
        )
