"""Kernel prior: value frequencies of similar respondents in a corpus."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.posterior_variable import VALUE, posterior_variable
from foreknow.models.problem import probability_rows
from foreknow.models.settings import check_flag, check_kind, check_positive
from foreknow.models.tables.distance import distances
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical, Numeric, Schema

WEIGHTS_PER_CHUNK = 2**18
"""Number of kernel weights held at once, in a few arrays of this size (2 MiB each), which fit into a cache."""


class OwnRecords(NamedTuple):
    """Records of one respondent in a corpus.

    Attributes
    ----------
    points : int array, shape (p,)
        Distinct points of the corpus at which the records lie.
    counts : float array, shape (p, m)
        Number of the records with each value at each of these points.
    """

    points: IntArray
    counts: FloatArray


@equal_by_fields
@dataclass(frozen=True, eq=False)
class KernelPrior:
    """Nadaraya-Watson estimate of the value frequencies in a corpus, with more weight for similar respondents.

    For a respondent with the quasi-identifiers q, over all records t of the corpus,

        P(s | q) = sum_t [t has s] K(q, t) / sum_t K(q, t),    K(q, t) = product_a k(d_a(q, t) / B_a),

    with the Epanechnikov kernel ``k(x) = 1 - x^2`` for ``|x| < 1``, else 0, and a bandwidth B_a per attribute. The
    distance d_a of two numbers is their difference divided by the width of the domain of the corpus (0 where the width is 0).
    The distance of two categorical values is the height of their lowest common ancestor divided by the height of the
    hierarchy; without a hierarchy, it is 0 for equal values and 1 otherwise. Every record of every view counts. `fit` makes it.

    A smaller B_a is sharper knowledge of the association between attribute a and the value. As all B_a approach 0, the prior
    approaches the frequencies among exact matches; as they grow, the frequencies of the whole corpus. The inequality is
    strict: with a bandwidth of at most 1, values at distance 1 have no weight, so in a categorical attribute without hierarchy
    only equal values have weight. A bandwidth over 1 gives weight to all values.

    Parameters
    ----------
    schema : Schema
        Schema of the corpus.
    bandwidth : mapping of str to float
        Bandwidth B_a of every attribute.
    points : float array, shape (c, d)
        Distinct quasi-identifiers of the corpus, in codes.
    counts : float array, shape (c, m)
        Number of records with each value at each point.
    own : mapping of respondent to OwnRecords
        Records that are left out of the sums of their own respondent; empty without ``leave_one_out``.

    Notes
    -----
    Where no record has weight (a respondent far from all records, or without others by ``leave_one_out``), the prior is the
    frequencies of the whole corpus, without the respondent's own records if these are left out. If no record remains, it is
    uniform. The paper has no such case: its adversary knows the table that is published, so the queried record has weight.

    Exact, up to rounding. Cost of a call: O(N_q N_c (d + m)) for N_q distinct queries and N_c = c distinct vectors of
    quasi-identifiers, in chunks of `WEIGHTS_PER_CHUNK` weights. Since the kernel is a product, it can also be applied to one
    attribute at a time, over the grid of all combinations of the v_a codes of each: O(m product_a v_a sum_a v_a). The
    cheaper of the two is used, the grid only where it fits into memory; they agree up to rounding. With
    ``leave_one_out``, each respondent with records in the corpus is a query of its own, and the grid is not used for them.

    References
    ----------
    T. Li, N. Li, J. Zhang, "Modeling and Integrating Background Knowledge in Data Anonymization", ICDE 2009. The
    constant 3 / (4 B_a) of the kernel cancels and is left out. The paper chooses B_a in (0, 1].

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

    @classmethod
    def fit(
        cls, history: History, bandwidth: "float | Mapping[str, float]", leave_one_out: bool = False
    ) -> "KernelPrior":
        """Count every record of a history at its quasi-identifiers.

        Parameters
        ----------
        history : History
            Corpus with true values.
        bandwidth : float, or mapping of str to float
            One positive number for all attributes, or one for each, as ``{"age": 0.2, "sex": 0.5}``.
        leave_one_out : bool
            True to leave out all records of a respondent, in all views, from the prior of that respondent.

        Raises
        ------
        TypeError
            If ``history`` is no `History`, or ``leave_one_out`` not True or False.
        ValueError
            If a bandwidth is not a positive number, an attribute has none, or one is named that is no quasi-identifier.

        Notes
        -----
        The paper has no ``leave_one_out``: its prior of a respondent includes the own record. Where exact matches are rare and
        the bandwidth small, that record dominates the sum, and the prior contains the value that the adversary wants to
        infer. This matters where the corpus is the history that is published or attacked.

        Cost: O(r log r) for r records.
        """
        check_kind("KernelPrior.fit", "history", history, History)
        check_flag("KernelPrior.fit", "leave_one_out", leave_one_out)
        sizes = _bandwidths(history.schema, bandwidth)
        codes = np.concatenate([view.people.quasi_identifiers for view in history])
        values = np.concatenate([view.sensitive for view in history])
        points, point = np.unique(codes, axis=0, return_inverse=True)
        m = len(history.schema.values)
        counts = _tally(point.reshape(-1), values, len(points), m)
        own = _own_records(history, point.reshape(-1), values, m) if leave_one_out else {}
        return cls(history.schema, sizes, points, counts, own)

    @classmethod
    def from_posterior(
        cls,
        tree: Any,
        people: People,
        bandwidth: "float | Mapping[str, float]",
        variable: str = "belief",
        values: Sequence[Hashable] | None = None,
        leave_one_out: bool = False,
    ) -> "KernelPrior":
        """Kernel prior of a corpus whose values are uncertain: beliefs of a sampled PyMC model count as fractions of a record.

        Parameters
        ----------
        tree
            As for `MarkovChain.from_posterior`.
        people : People
            Respondents of the corpus, in the order of the model, as ``release.observation.people``.
        bandwidth
            As for `fit`.
        variable : str
            With the dimensions chain and draw, and ``respondent, value``; or ``release, respondent, value`` with one release.
        values : sequence, optional
            Sensitive domain, as for `MarkovChain.from_posterior`. By default that of the people.
        leave_one_out : bool
            As for `fit`.

        Raises
        ------
        TypeError, ValueError
            As `MarkovChain.from_posterior` and `fit`, or if the number of respondents does not fit.

        Notes
        -----
        The prior is linear in the counts, and their total weight does not depend on the values. So the prior of the mean beliefs
        is the mean of the priors of the draws, exactly. The beliefs contain the evidence of the releases that the model saw: as
        the prior of an attack on the same releases they count it twice.

        The corpus and the bandwidths are the only unknowns of a kernel prior. For a posterior of bandwidths the mean of the
        priors is not the prior of the mean: take draws, by ``Averaged.from_posterior(tree, lambda draw:
        Adversary(KernelPrior.fit(corpus, float(draw.posterior["bandwidth"]))))``.
        """
        owner = "KernelPrior.from_posterior"
        check_kind(owner, "people", people, People)
        check_flag(owner, "leave_one_out", leave_one_out)
        sizes = _bandwidths(people.schema, bandwidth)
        orders = [("respondent", VALUE), ("release", "respondent", VALUE)]
        domain = people.schema.values if values is None else values
        mean = posterior_variable(tree, variable, orders, domain).mean
        shape = (len(people), len(people.schema.values))
        if mean.shape not in (shape, (1, *shape)):
            raise ValueError(
                f"{owner}: {variable!r} has the shape {mean.shape} besides chain and draw, and the people need {shape}; select one "
                "release, and give its people."
            )
        rows = probability_rows(mean.reshape(shape), "the mean belief of respondent in row")
        points, point = np.unique(people.quasi_identifiers, axis=0, return_inverse=True)
        counts = np.zeros((len(points), shape[1]))
        np.add.at(counts, point.reshape(-1), rows)
        records = zip(people.respondents, point.reshape(-1, 1), rows[:, None], strict=True)
        own = {name: OwnRecords(where, row) for name, where, row in records} if leave_one_out else {}
        return cls(people.schema, sizes, points, counts, own)

    def __call__(self, people: People) -> FloatArray:
        """Distribution of each respondent: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If the people have other quasi-identifiers or sensitive values than the corpus; the ends of numeric domains
            may differ.
        """
        check_kind("KernelPrior", "people", people, People)
        codes = self._codes(people)
        number = {respondent: place for place, respondent in enumerate(self.own)}
        owner = [number.get(respondent, -1) for respondent in people.respondents]
        queries, inverse = np.unique(np.column_stack([codes, owner]), axis=0, return_inverse=True)
        records = [*self.own.values(), OwnRecords(np.zeros(0, dtype=np.int64), np.zeros((0, self.counts.shape[1])))]
        own = [records[int(place)] for place in queries[:, -1]]
        sums = self._sums(queries[:, :-1], own)
        # Without weight: the frequencies of the corpus without own records, or uniform.
        for row in np.flatnonzero(sums.sum(axis=1) == 0):
            sums[row] = self.counts.sum(axis=0) - own[row].counts.sum(axis=0)
            sums[row] += not sums[row].any()
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))[inverse.reshape(-1)]

    def _codes(self, people: People) -> FloatArray:
        """Quasi-identifiers of people, in the order of the corpus."""
        names = list(people.schema.quasi_identifiers)
        kinds, known = (
            {name: Numeric() if isinstance(kind, Numeric) else kind for name, kind in schema.quasi_identifiers.items()}
            for schema in (people.schema, self.schema)
        )
        if kinds != known or people.schema.values != self.schema.values:
            raise ValueError(
                f"KernelPrior: the people have the quasi-identifiers {', '.join(names)}, or domains, that are not those of the "
                f"corpus ({', '.join(self.bandwidth)}); use one Schema for both, with one hierarchy for each column."
            )
        return people.quasi_identifiers[:, [names.index(name) for name in self.bandwidth]]

    def _sums(self, queries: FloatArray, own: list[OwnRecords]) -> FloatArray:
        """Weighted counts around some quasi-identifiers, each without its own records: float array, shape ``(b, m)``."""
        known, sought = axes(self.points), axes(queries)
        if not any(len(left_out.points) for left_out in own) and grid_is_cheaper(sought, known, self.counts.shape[1]):
            return grid_sums(self.schema, self.bandwidth, sought, known, self.counts)
        sums, size = np.zeros((len(queries), self.counts.shape[1])), max(1, WEIGHTS_PER_CHUNK // len(self.points))
        for start in range(0, len(queries), size):
            chunk = slice(start, start + size)
            sums[chunk] = self._chunk_sums(queries[chunk], own[chunk])
        return sums

    def _chunk_sums(self, queries: FloatArray, own: list[OwnRecords]) -> FloatArray:
        """Weighted counts with the weights of all pairs in memory.

        Points that hold own records are summed separately, since a difference of large sums would lose digits.
        """
        weights = np.ones((len(queries), len(self.points)))
        for a, (name, kind) in enumerate(self.schema.quasi_identifiers.items()):
            weights *= kernel(kind, self.bandwidth[name], queries[:, a], self.points[:, a])
        near = [weights[row, left_out.points] for row, left_out in enumerate(own)]
        for row, left_out in enumerate(own):
            weights[row, left_out.points] = 0
        sums = weights @ self.counts
        for row, left_out in enumerate(own):
            sums[row] += near[row] @ (self.counts[left_out.points] - left_out.counts)
        return np.asarray(sums)


def _bandwidths(schema: Schema, bandwidth: "float | Mapping[str, float]") -> Mapping[str, float]:
    """Bandwidth of each attribute, in the order of the schema."""
    names = schema.quasi_identifiers
    given = bandwidth if isinstance(bandwidth, Mapping) else dict.fromkeys(names, bandwidth)
    if set(given) != set(names):
        raise ValueError(
            f"the bandwidth names {', '.join(map(str, given))}, and the quasi-identifiers are {', '.join(names)}; "
            "give one for each, or one number for all."
        )
    for name, size in given.items():
        what = "small for sharp knowledge of the association of the attribute and the value, over 1 for little of it"
        check_positive("KernelPrior", f"the bandwidth of {name!r}", size, what)
    return {name: float(given[name]) for name in names}


def _tally(points: IntArray, values: IntArray, c: int, m: int) -> FloatArray:
    """Number of records with each value at each of c points: float array, shape ``(c, m)``."""
    return np.bincount(points * m + values, minlength=c * m).reshape(c, m).astype(np.float64)


def _own_records(history: History, points: IntArray, values: IntArray, m: int) -> dict[Hashable, OwnRecords]:
    """Own records of each respondent, given the point and value of every record."""
    number: dict[Hashable, int] = {}
    person = np.array([number.setdefault(r, len(number)) for view in history for r in view.people.respondents])
    order = np.argsort(person, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(person[order])) + 1)
    own = {}
    for respondent, records in zip(number, parts, strict=True):
        where, place = np.unique(points[records], return_inverse=True)
        own[respondent] = OwnRecords(where, _tally(place, values[records], len(where), m))
    return own


MAX_GRID_CELLS = 2**24
"""Largest number of cells of a grid, 8 bytes each; two grids are held at once."""


class Axis(NamedTuple):
    """One attribute of a grid."""

    codes: FloatArray  # (v,): distinct codes of some rows
    place: IntArray  # position in ``codes`` of the code of each row


def kernel(kind: Numeric | Categorical, bandwidth: float, some: FloatArray, others: FloatArray) -> FloatArray:
    """Epanechnikov kernel between codes of an attribute, ``max(1 - (distance / bandwidth)^2, 0)``: shape ``(b, c)``."""
    return np.asarray(1 - (np.minimum(distances(kind, some, others), bandwidth) / bandwidth) ** 2)


def axes(codes: FloatArray) -> tuple[Axis, ...]:
    """Axes of a grid that holds rows of codes of shape ``(c, d)``. Cost: O(c d log c)."""
    return tuple(Axis(*np.unique(column, return_inverse=True)) for column in codes.T)


def grid_is_cheaper(queries: tuple[Axis, ...], known: tuple[Axis, ...], values: int) -> bool:
    """Return whether a grid fits into memory, and needs less work than one kernel weight for each pair of rows.

    Step a replaces the codes of attribute a of the known rows by those of the queries. The work of a step is the size of the
    grid before it times the number of codes after it.
    """
    before, after = [len(axis.codes) for axis in known], [len(axis.codes) for axis in queries]
    sizes = [values * math.prod(after[:a]) * math.prod(before[a:]) for a in range(len(before) + 1)]
    work = sum(size * codes for size, codes in zip(sizes, after, strict=False))
    return max(sizes) <= MAX_GRID_CELLS and work <= len(queries[0].place) * len(known[0].place) * (len(before) + values)


def grid_sums(
    schema: Schema,
    bandwidth: Mapping[str, float],
    queries: tuple[Axis, ...],
    known: tuple[Axis, ...],
    counts: FloatArray,
) -> FloatArray:
    """Sum of the counts at the known rows, weighted by their kernel with each query row: float array, shape ``(b, m)``.

    ``counts``, shape ``(c, m)``, holds the counts at the c known rows, which are distinct. Terms are never negative, so a sum
    without weight is exactly 0. Cost: see `grid_is_cheaper`.
    """
    grid = np.zeros((*(len(axis.codes) for axis in known), counts.shape[1]))
    grid[tuple(axis.place for axis in known)] = counts
    for (name, kind), there, here in zip(schema.quasi_identifiers.items(), queries, known, strict=True):
        # The first axis is summed over and becomes the last one, so after all attributes the values are the first axis.
        weights = kernel(kind, bandwidth[name], there.codes, here.codes)
        grid = (weights @ grid.reshape(len(here.codes), -1)).T
    cells = grid.reshape(counts.shape[1], *(len(axis.codes) for axis in queries))
    return np.moveaxis(cells, 0, -1)[tuple(axis.place for axis in queries)]
