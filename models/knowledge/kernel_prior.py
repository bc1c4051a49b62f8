"""What an adversary believes who has seen a corpus and compares people with it: a kernel regression."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.knowledge.kernel_grid import axes, grid_sums, is_cheaper, kernel
from foreknow.models.tables.attributes import Numeric
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Schema

CHUNK = 2**18
"""How many kernel weights are held at once; a few arrays of so many numbers (2 MiB each), which fit a cache."""


class OwnRecords(NamedTuple):
    """A respondent's own records in a corpus.

    Attributes
    ----------
    points : int array, shape (p,)
        The corpus's points at which they lie, each once.
    counts : float array, shape (p, m)
        How many of them have each value there.
    """

    points: IntArray
    counts: FloatArray


@dataclass(frozen=True, eq=False)
class KernelPrior:
    """The values of a corpus's records, those of similar people weighing more: a Nadaraya-Watson estimate.

    For a person with the quasi-identifiers q, over all records t of the corpus,

        P(s | q) = sum_t [t has s] K(q, t) / sum_t K(q, t),    K(q, t) = product_a k(d_a(q, t) / B_a),

    with the Epanechnikov kernel ``k(x) = 1 - x^2`` for ``|x| < 1``, else 0, and a bandwidth B_a per attribute. The
    distance d_a of two numbers is their difference over the width of the corpus's domain (0 where that has no width);
    of two categorical values the height of their lowest common ancestor over the height of the hierarchy; without a
    hierarchy, 0 if they are equal, else 1. Every record of every view counts. Build it with `fit`.

    The smaller B_a, the sharper the knowledge of how attribute a and the value go together. As every B_a goes to 0
    the prior becomes the frequencies among exact matches; as it grows, those of the whole corpus. The inequality is
    strict: with a bandwidth of 1 or less, two values at distance 1 never meet, so that of a categorical attribute
    without hierarchy only equal values do. A bandwidth over 1 mixes them.

    Parameters
    ----------
    schema : Schema
        The corpus's schema.
    bandwidth : mapping of str to float
        The B_a, one for every attribute.
    points : float array, shape (c, d)
        The distinct quasi-identifiers of the corpus, in codes.
    counts : float array, shape (c, m)
        How many records have each value at each point.
    own : mapping of respondent to OwnRecords
        The records left out of their respondent's own sums; empty without ``leave_one_out``.

    Raises
    ------
    ValueError
        If a bandwidth is not a positive number, an attribute has none, or one is named that is no quasi-identifier.

    Notes
    -----
    Where no record has any weight (a person far from everybody, or left alone by ``leave_one_out``), the prior is the
    frequencies of the whole corpus, without the respondent's own records if these are left out; if nothing is left
    then, it is uniform. The paper has no such case: its adversary knows the very table that is published, so that the
    queried record always has weight.

    Exact, up to rounding. Cost of a call: O(N_q N_c (d + m)) for N_q distinct and N_c = c distinct vectors of
    quasi-identifiers, in chunks of `CHUNK` weights. As the kernel is a product, it can as well be applied to one
    attribute at a time, over the grid of all combinations of the v_a codes of each: O(m product_a v_a sum_a v_a). The
    cheaper way is taken, the grid only where it fits (`kernel_grid`); the two agree up to rounding. With ``leave_one_out``,
    people count as distinct if they have records in the corpus, and those who have are never asked about on the grid.

    References
    ----------
    T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009. The
    kernel's constant 3 / (4 B_a) cancels and is left out. The paper takes B_a from (0, 1].

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import View
    >>> records = pd.DataFrame({"id": range(4), "age": [20, 24, 50, 60], "result": ["flu", "flu", "flu", "ulcer"]})
    >>> view = View(records, Schema({"age": Numeric()}, "result", ("flu", "ulcer")))
    >>> KernelPrior.fit(History([view]), bandwidth=0.5)(view.people).round(2)
    array([[1.  , 0.  ],
           [1.  , 0.  ],
           [0.57, 0.43],
           [0.43, 0.57]])
    """

    schema: Schema
    bandwidth: Mapping[str, float]
    points: FloatArray = field(repr=False)
    counts: FloatArray = field(repr=False)
    own: Mapping[Hashable, OwnRecords] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", _bandwidths(self.schema, self.bandwidth))

    @classmethod
    def fit(
        cls, history: History, bandwidth: "float | Mapping[str, float]", leave_one_out: bool = False
    ) -> "KernelPrior":
        """Count a corpus: every record of a history, at its quasi-identifiers.

        Parameters
        ----------
        history : History
            The corpus, with its true values.
        bandwidth : float, or mapping of str to float
            One positive number for all attributes, or one for each, as ``{"age": 0.2, "sex": 0.5}``.
        leave_one_out : bool
            Whether all records of a respondent, in all views, are left out when that respondent is asked about.

        Raises
        ------
        ValueError
            If a bandwidth is not a positive number, an attribute has none, or one is named that is no quasi-identifier.

        Notes
        -----
        The paper has no ``leave_one_out``: its prior of a person sums over that person's own record too. Where exact
        matches are rare and the bandwidth small, that record is most of the sum, and the "prior" tells what the
        adversary was to find out. It matters wherever the corpus is the history that is published or attacked.

        Cost: O(r log r) for r records.
        """
        sizes = _bandwidths(history.schema, bandwidth)
        codes = np.concatenate([view.people.quasi_identifiers for view in history])
        values = np.concatenate([view.sensitive for view in history])
        points, point = np.unique(codes, axis=0, return_inverse=True)
        m = len(history.schema.values)
        counts = _tally(point.reshape(-1), values, len(points), m)
        own = _own_records(history, point.reshape(-1), values, m) if leave_one_out else {}
        return cls(history.schema, sizes, points, counts, own)

    def __call__(self, people: People) -> FloatArray:
        """Each person's distribution: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If the people have other quasi-identifiers or sensitive values than the corpus; the ends of numeric domains
            may differ.
        """
        codes = self._codes(people)
        number = {respondent: place for place, respondent in enumerate(self.own)}
        owner = [number.get(respondent, -1) for respondent in people.respondents]
        asked, inverse = np.unique(np.column_stack([codes, owner]), axis=0, return_inverse=True)
        records = [*self.own.values(), OwnRecords(np.zeros(0, dtype=np.int64), np.zeros((0, self.counts.shape[1])))]
        own = [records[int(place)] for place in asked[:, -1]]
        return self._distributions(self._sums(asked[:, :-1], own), own)[inverse.reshape(-1)]

    def _codes(self, people: People) -> FloatArray:
        """The people's quasi-identifiers, in the order of the corpus's."""
        names = list(people.schema.quasi_identifiers)
        odd = sorted(set(names) ^ set(self.bandwidth))
        if odd:
            raise ValueError(
                f"{odd[0]!r} is a quasi-identifier of the people or of the corpus, not of both; describe them alike."
            )
        if people.schema.values != self.schema.values:
            raise ValueError(
                f"the people's sensitive domain {people.schema.values} is not the corpus's, {self.schema.values}; use "
                "one Schema for both."
            )
        for name, kind in self.schema.quasi_identifiers.items():
            other = people.schema.quasi_identifiers[name]
            if other != kind and not (isinstance(kind, Numeric) and isinstance(other, Numeric)):
                raise ValueError(
                    f"{name!r} is {other.domain} for the people and {kind.domain} in the corpus; use one Schema for "
                    "both, with one hierarchy."
                )
        return people.quasi_identifiers[:, [names.index(name) for name in self.bandwidth]]

    def _sums(self, asked: FloatArray, own: list[OwnRecords]) -> FloatArray:
        """The weighted counts around some quasi-identifiers, each without some records: float array, shape ``(b, m)``."""
        known, wanted = axes(self.points), axes(asked)
        if not any(len(left.points) for left in own) and is_cheaper(wanted, known, self.counts.shape[1]):
            return grid_sums(self.schema, self.bandwidth, wanted, known, self.counts)
        sums, size = np.zeros((len(asked), self.counts.shape[1])), max(1, CHUNK // len(self.points))
        for start in range(0, len(asked), size):
            chunk = slice(start, start + size)
            sums[chunk] = self._chunk_sums(asked[chunk], own[chunk])
        return sums

    def _chunk_sums(self, asked: FloatArray, own: list[OwnRecords]) -> FloatArray:
        """The same, with a weight for each pair held at once.

        Points that hold own records are summed apart, so that nothing is lost in a difference of large sums.
        """
        weights = np.ones((len(asked), len(self.points)))
        for a, (name, kind) in enumerate(self.schema.quasi_identifiers.items()):
            weights *= kernel(kind, self.bandwidth[name], asked[:, a], self.points[:, a])
        near = [weights[row, left.points] for row, left in enumerate(own)]
        for row, left in enumerate(own):
            weights[row, left.points] = 0
        sums = weights @ self.counts
        for row, left in enumerate(own):
            sums[row] += near[row] @ (self.counts[left.points] - left.counts)
        return np.asarray(sums)

    def _distributions(self, sums: FloatArray, own: list[OwnRecords]) -> FloatArray:
        """The sums as shares, and what the class says instead where they are 0."""
        for alone in np.flatnonzero(sums.sum(axis=1) == 0):
            sums[alone] = self.counts.sum(axis=0) - own[alone].counts.sum(axis=0)
            sums[alone] += not sums[alone].any()
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def _bandwidths(schema: Schema, bandwidth: "float | Mapping[str, float]") -> Mapping[str, float]:
    """A bandwidth per attribute, in the schema's order."""
    names = schema.quasi_identifiers
    given = bandwidth if isinstance(bandwidth, Mapping) else dict.fromkeys(names, bandwidth)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"the bandwidth names {unknown[0]!r}, which is no quasi-identifier; name {', '.join(names)}.")
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(
            f"the bandwidth of {missing[0]!r} is missing; give one for every quasi-identifier, or one number for all."
        )
    for name, size in given.items():
        if not (isinstance(size, Real) and math.isfinite(size) and size > 0):
            raise ValueError(
                f"the bandwidth of {name!r} is {size!r}; it must be a positive number: small for sharp knowledge of how "
                "the attribute and the value go together, over 1 to ignore much of it."
            )
    return {name: float(given[name]) for name in names}


def _tally(points: IntArray, values: IntArray, c: int, m: int) -> FloatArray:
    """How many records have each value at each of c points: float array, shape ``(c, m)``."""
    return np.bincount(points * m + values, minlength=c * m).reshape(c, m).astype(np.float64)


def _own_records(history: History, points: IntArray, values: IntArray, m: int) -> dict[Hashable, OwnRecords]:
    """Everybody's own records, given the point and value of every record."""
    number: dict[Hashable, int] = {}
    person = np.array([number.setdefault(r, len(number)) for view in history for r in view.people.respondents])
    order = np.argsort(person, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(person[order])) + 1)
    own = {}
    for respondent, records in zip(number, parts, strict=True):
        where, place = np.unique(points[records], return_inverse=True)
        own[respondent] = OwnRecords(where, _tally(place, values[records], len(where), m))
    return own
