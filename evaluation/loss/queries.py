"""Relative errors of counting queries answered from a release, and the workloads they are drawn from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from foreknow.evaluation.arguments import check_releases, check_share, release_table
from foreknow.evaluation.boxes import Boxes, Domains, check_same_columns, domains, original_boxes, published_boxes
from foreknow.models import NoisyRelease, Release, View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import as_generator, check_choice, check_flag, check_kind, check_whole, is_whole

type Predicates = Literal["values", "ranges"]
"""Kind of predicate on a quasi-identifier: any values, or consecutive ones."""


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Workload:
    """Queries ``COUNT(*) WHERE A_1 in V_1 AND ... AND S in V_S``; draw them by `Workload.draw`.

    Attributes
    ----------
    domains : tuple of float arrays, shape (v,)
        Codes that each quasi-identifier may take, rising.
    selected : tuple of bool arrays, shape (q, v)
        Codes that each query selects: all of an attribute without a predicate.
    selected_values : bool array, shape (q, m)
        Sensitive values that each query selects.
    dimensions : int array, shape (q,)
        Number of quasi-identifiers with a predicate.
    redrawn : int
        Number of queries that counted no record and were replaced.
    sanity_bound : float, optional
        Share of the records by which an error is divided at least; None where queries that count no record were replaced.
    """

    domains: Domains
    selected: tuple[BoolArray, ...]
    selected_values: BoolArray
    dimensions: IntArray
    redrawn: int = 0
    sanity_bound: float | None = None

    @classmethod
    def draw(
        cls,
        views: "View | Iterable[View]",
        *,
        rng: "np.random.Generator | int",
        queries: int = 10_000,
        dimensions: int | None = None,
        selectivity: float = 0.05,
        predicates: Predicates = "values",
        restrict_sensitive: bool = True,
        sanity_bound: float | None = None,
    ) -> "Workload":
        """Draw queries by the rule of Xiao and Tao (VLDB 2006): random attributes, and random values of each.

        A query of qd quasi-identifiers and the sensitive attribute selects ``b = ceil(|A| s^(1/(qd+1)))`` distinct values of each
        attribute A, at most ``|A| - 1``: every predicate restricts. With independent, uniform records it would count about the
        share s of them. It counts less where attributes have few values: of a binary attribute it selects one. Attributes of one
        value get no predicate.

        Parameters
        ----------
        views : View, History or iterable of View
            The views to publish, which give the domains.
        rng : numpy.random.Generator or int
            Random generator, or a seed.
        queries : int
            Number of queries.
        dimensions : int, optional
            qd, from 1 to the number of quasi-identifiers with at least two values. By default it is drawn for each query,
            uniformly.
        selectivity : float
            s, over 0 and at most 1.
        predicates : {"values", "ranges"}
            "values" selects any values of a quasi-identifier (Xiao and Tao). "ranges" selects consecutive ones (JS-reduce, section
            7.5); categorical ones are in the order of the hierarchy. Sensitive values are any.
        restrict_sensitive : bool
            If False, there is no predicate on the sensitive attribute, and b has the exponent ``1/qd``.
        sanity_bound : float, optional
            Treatment of queries that count no record of one of the views, whose relative error is not defined. By default they
            are drawn again, which favours dense regions. A share, as .001, keeps them and divides all errors by that share of the
            records where the count is less.

        Raises
        ------
        TypeError
            If ``views`` are no views, or ``rng`` is no generator or seed.
        ValueError
            If a number is out of range, no quasi-identifier has two values, the workload would be too large, or nearly no query
            counts a record.

        Notes
        -----
        Xiao and Tao say neither that empty queries are drawn again nor that b stays under ``|A|``. With ``b = |A|`` a predicate
        selects every record, and tables of binary attributes are judged by queries that restrict nothing. The bound is from
        Garofalakis and Kumar (ACM TODS 30(1), 2005). Cost: O(q v) memory for v values of the domains, and the time of one
        `query_error` per view where queries are drawn again.
        """
        rng = as_generator("Workload.draw", rng)
        listed = _checked_views(views)
        known, m = domains(listed), len(listed[0].schema.values)
        sizes = tuple(len(domain) for domain in known)
        _check(queries, dimensions, selectivity, predicates, restrict_sensitive, sanity_bound, sizes)
        sampler = QuerySampler(sizes, m, dimensions, selectivity, predicates, restrict_sensitive)
        if sanity_bound is not None:
            return cls(known, *sampler(int(queries), rng), sanity_bound=sanity_bound)
        tables = [original_boxes(view, known) for view in listed]
        return cls(known, *_nonempty(sampler, tables, int(queries), rng))

    def __len__(self) -> int:
        return len(self.selected_values)

    def __repr__(self) -> str:
        return f"Workload(queries={len(self)}, redrawn={self.redrawn}, sanity_bound={self.sanity_bound})"

    def count(self, boxes: Boxes) -> FloatArray:
        """Number of records that each query counts, if those of a box are spread evenly over it: float array, shape ``(q,)``."""
        return query_counts(boxes, self.selected, self.selected_values)


def query_error(
    releases: Iterable[Release | NoisyRelease], workload: Workload, *, raw: bool = False, progress: Progress = iter
) -> pd.DataFrame:
    """Relative error of counting queries over a workload: ``|act - est| / act`` (Xiao and Tao, VLDB 2006).

    ``act`` is the count of original records, and ``est`` the count that a reader of the release expects. In a generalized
    release, the records of a group are spread evenly over the vectors of the domain in its box; the domain of a number is the
    set of numbers that occur (`foreknow.evaluation.boxes.domains`), whatever their unit. In a bucketized release, the records
    of a group with selected quasi-identifiers have the selected sensitive values in the group's proportion. Suppressed records
    are missing from ``est``, and so are part of the error. Counterfeits are published, and are counted in it. Ghosts, whose number
    in each group is published, are not: the counts of a group of c records with g ghosts are multiplied by ``(c - g) / c``.
    Noisy counts are spread evenly over the vectors of the domain in their cell; those of a cell without any are left out.

    Parameters
    ----------
    releases : iterable of Release or NoisyRelease
        The published releases.
    workload : Workload
        The queries, from `Workload.draw`. Draw them once, from all views, so that defenses answer the same ones.
    raw : bool
        True to answer from noisy counts as they are, and not from the processed ones that are published beside them.
    progress : callable
        Function of the releases that returns an iterable of the same length, as ``rich.progress.track``. One item is taken before
        each release.

    Returns
    -------
    DataFrame
        One row per release. Columns ``time``; ``query_mean`` (Xiao and Tao; foreground knowledge) and ``query_median`` (JS-reduce,
        Figure 8b) of the errors; ``queries``, the number of queries they are over; ``empty``, the number left out because they
        count no record of this view and there is no sanity bound; ``redrawn``, the number replaced for the same reason when the
        workload was drawn.

    Notes
    -----
    The estimate with ghosts is ``sum over groups of f K (c - g) / c``, where K records of the group have selected values and the
    query selects the share f of its box. If the ghosts of a group are as likely any of its places, the number of real records with
    selected values is hypergeometric, and the estimate is unbiased, with the variance ``sum of f^2 (c - g) q (1 - q) g / (c - 1)``,
    ``q = K / c``, besides that of spreading records over the box. It is biased where leaving depends on the value and ghosts are
    not drawn by the chain of those who stay.

    Cost: O(q (c d + p)) for c groups, or distinct vectors in a group where the release is bucketized, that show p pairs of a
    group and a value; and the same for the distinct vectors of each view.

    Examples
    --------
    >>> import pandas as pd
    >>> from foreknow.models import Numeric, Release, Schema, View
    >>> frame = pd.DataFrame({"id": range(4), "age": [20, 21, 22, 29], "result": list("abba")})
    >>> view = View(frame, Schema({"age": Numeric(20, 29)}, "result", ("a", "b")))
    >>> workload = Workload.draw(view, rng=1, queries=100, selectivity=0.5)
    >>> releases = [Release(view, [0, 1, 2, 3]), Release(view, [-1, -1, -1, -1])]
    >>> query_error(releases, workload)[["query_mean", "query_median", "queries"]]
       query_mean  query_median  queries
    0         0.0           0.0      100
    1         1.0           1.0      100
    """
    check_kind("query_error", "workload", workload, Workload)
    check_progress("query_error", progress, "the releases")
    checked = check_releases("query_error", releases, Release, NoisyRelease)
    actual: dict[View, FloatArray] = {}
    rows = []
    for release, _ in zip(checked, progress(checked), strict=True):
        if release.view not in actual:
            actual[release.view] = actual_counts(release.view, workload)
        errors = query_errors(release, workload, actual=actual[release.view], raw=raw)["error"]
        rows.append(
            {
                "time": release.time,
                "query_mean": float(errors.mean()),
                "query_median": float(errors.median()),
                "queries": int(errors.count()),
                "empty": int(errors.isna().sum()),
                "redrawn": workload.redrawn,
            }
        )
    return release_table(rows, ("time", "query_mean", "query_median", "queries", "empty", "redrawn"))


def query_errors(
    release: Release | NoisyRelease, workload: Workload, *, actual: FloatArray | None = None, raw: bool = False
) -> pd.DataFrame:
    """Counts and relative error of each query on one release, one row per query; see `query_error`.

    Parameters
    ----------
    release : Release or NoisyRelease
        The published release.
    workload : Workload
        The queries.
    actual : float array, shape (q,), optional
        The `actual_counts` of the release's view, where they are known from another release of it.
    raw : bool
        As in `query_error`.

    Returns
    -------
    DataFrame
        Columns ``dimensions``, the number of quasi-identifiers with a predicate; ``actual`` and ``estimate``, numbers of records;
        ``error``, NaN where a query counts no record and there is no sanity bound.
    """
    takes = "takes one Release; make one, as Release(view, labels), or use query_error for several"
    check_kind("query_errors", "release", release, (Release, NoisyRelease), takes)
    check_kind("query_errors", "workload", workload, Workload)
    check_flag("query_errors", "raw", raw)
    counted = actual_counts(release.view, workload) if actual is None else np.asarray(actual)
    if counted.shape != (len(workload),):
        raise ValueError(
            f"query_errors: actual has the shape {counted.shape}; it holds one count for each of the {len(workload)} queries."
        )
    estimate = workload.count(published_boxes(release, workload.domains, raw))
    least = 0.0 if workload.sanity_bound is None else workload.sanity_bound * len(release.view)
    divisor = np.maximum(counted, least)
    error = np.divide(np.abs(counted - estimate), divisor, out=np.full(len(divisor), np.nan), where=divisor > 0)
    columns = {"dimensions": workload.dimensions, "actual": counted, "estimate": estimate, "error": error}
    return pd.DataFrame(columns)


def actual_counts(view: View, workload: Workload) -> FloatArray:
    """Number of original records that each query counts: float array, shape ``(q,)``."""
    check_same_columns(view, len(workload.domains), workload.selected_values.shape[1])
    return workload.count(original_boxes(view, workload.domains))


MAX_SELECTED_CODES = 2**30
"""Largest product of the number of queries and the size of a domain: the entries of a mask."""

MAX_DRAWS_PER_QUERY = 20
"""Largest number of queries drawn for each that is kept."""


class Queries(NamedTuple):
    """Predicates of q queries.

    Attributes
    ----------
    selected : tuple of bool arrays, shape (q, v)
        Codes of each quasi-identifier that each query selects.
    selected_values : bool array, shape (q, m)
        Sensitive values that each query selects.
    dimensions : int array, shape (q,)
        Number of quasi-identifiers with a predicate.
    """

    selected: tuple[BoolArray, ...]
    selected_values: BoolArray
    dimensions: IntArray

    def subset(self, rows: BoolArray) -> "Queries":
        """Queries of some rows."""
        return Queries(
            tuple(column[rows] for column in self.selected), self.selected_values[rows], self.dimensions[rows]
        )


@dataclass(frozen=True)
class QuerySampler:
    """Distribution of queries before empty ones are drawn again; the settings are those of `Workload.draw`."""

    sizes: tuple[int, ...]  # number of values of each quasi-identifier's domain
    m: int  # number of sensitive values
    dimensions: int | None
    selectivity: float
    predicates: Predicates
    restrict_sensitive: bool

    def __call__(self, queries: int, rng: np.random.Generator) -> Queries:
        """Draw queries, each with a restricting predicate on every attribute in it."""
        attributes = restrictable(self.sizes)
        d = len(attributes)
        number = rng.integers(1, d + 1, queries) if self.dimensions is None else np.full(queries, self.dimensions)
        restricted = np.zeros((queries, len(self.sizes)), dtype=np.bool_)
        restricted[:, attributes] = _random_orders(rng, queries, d) < number[:, None]
        share = self.selectivity ** (1 / (number + self.restrict_sensitive))
        draw = _random_ranges if self.predicates == "ranges" else _random_values
        selected = tuple(
            draw(rng, size, predicate_size(size, share)) | ~restricted[:, [a]] for a, size in enumerate(self.sizes)
        )
        if not self.restrict_sensitive:
            return Queries(selected, np.ones((queries, self.m), dtype=bool), number)
        return Queries(selected, _random_values(rng, self.m, predicate_size(self.m, share)), number)


def _nonempty(
    sampler: QuerySampler, tables: list[Boxes], queries: int, rng: np.random.Generator
) -> tuple[tuple[BoolArray, ...], BoolArray, IntArray, int]:
    """Queries that count a record of every table, and the number of those drawn again."""
    kept: list[Queries] = []
    redrawn, missing = 0, queries
    while missing:
        drawn = sampler(missing, rng)
        nonempty = np.all([query_counts(table, drawn.selected, drawn.selected_values) > 0 for table in tables], axis=0)
        kept.append(drawn.subset(nonempty))
        missing -= int(nonempty.sum())
        redrawn += int((~nonempty).sum())
        if redrawn > MAX_DRAWS_PER_QUERY * (queries + 50):
            raise ValueError(
                f"of {redrawn + queries - missing} queries drawn, {queries - missing} count a record; raise the selectivity "
                f"({sampler.selectivity}), lower the dimensions, or keep empty queries by a sanity_bound."
            )
    columns = zip(*(part.selected for part in kept), strict=True)
    values, dimensions = (np.concatenate(column) for column in list(zip(*kept, strict=True))[1:])
    return tuple(map(np.concatenate, columns)), values, dimensions, redrawn


def _checked_views(views: Any) -> tuple[View, ...]:
    listed = (views,) if isinstance(views, View) or not np.iterable(views) else tuple(views)
    for view in listed:
        check_kind("Workload.draw", "views", view, View, "holds the views to be published, as a History")
    return listed


def _check(
    queries: Any,
    dimensions: Any,
    selectivity: Any,
    predicates: Any,
    restrict_sensitive: Any,
    sanity_bound: Any,
    sizes: tuple[int, ...],
) -> None:
    """Raise ValueError or TypeError unless the settings of a draw are in range."""
    check_whole("Workload.draw", "queries", queries, "queries")
    most = len(restrictable(sizes))
    if not most or (dimensions is not None and not (is_whole(dimensions) and dimensions <= most)):
        raise ValueError(
            f"dimensions is {dimensions!r} and the views have {most} quasi-identifiers of two or more values, which a query can "
            "restrict; it is a number from 1 to that. Draw the workload from all views."
        )
    check_share("Workload.draw", "selectivity", selectivity)
    check_choice("Workload.draw", "predicates", predicates, PREDICATES)
    check_flag("Workload.draw", "restrict_sensitive", restrict_sensitive)
    if sanity_bound is not None:
        check_share("Workload.draw", "sanity_bound", sanity_bound)
    if queries * max(sizes) > MAX_SELECTED_CODES:
        raise ValueError(
            f"{queries} queries over a quasi-identifier of {max(sizes)} values are more than a workload holds; lower their number, "
            "or round the column."
        )


PREDICATES: tuple[Predicates, ...] = ("values", "ranges")


def restrictable(sizes: Sequence[int]) -> list[int]:
    """Attributes with at least two values; a predicate on another restricts nothing."""
    return [a for a, size in enumerate(sizes) if size > 1]


def predicate_size(size: int, share: FloatArray) -> IntArray:
    """Number of values that a predicate selects: ``ceil(size * share)``, at least 1 and at most ``size - 1``.

    Of one value it is 1. The product is lowered by 1e-9, so that rounding lifts no whole number.
    """
    return np.clip(np.ceil(size * share - 1e-9), 1, max(size - 1, 1)).astype(np.int64)


def _random_values(rng: np.random.Generator, size: int, number: IntArray) -> BoolArray:
    return np.asarray(_random_orders(rng, len(number), size) < number[:, None])


def _random_ranges(rng: np.random.Generator, size: int, number: IntArray) -> BoolArray:
    first = rng.integers(0, size - number + 1)[:, None]
    code = np.arange(size)
    return np.asarray((code >= first) & (code < first + number[:, None]))


def _random_orders(rng: np.random.Generator, rows: int, size: int) -> IntArray:
    """Random permutation of 0 to size - 1 in each row: int array, shape ``(rows, size)``."""
    return rng.permuted(np.tile(np.arange(size), (rows, 1)), axis=1)


QUERIES_PER_BATCH = 256
"""Number of queries computed at a time, whose partial products fit into the processor's cache."""


def query_counts(boxes: Boxes, selected: tuple[BoolArray, ...], selected_values: BoolArray) -> FloatArray:
    """Number of records that each query counts, if the records of a box are spread evenly over it.

    Returns
    -------
    float array, shape (q,)
        ``sum_c (sum_{s selected} weights[c, s]) prod_a (selected codes of a in the box / codes of a in the box)``: exact counts
        where boxes are single vectors. Cost: O(q (c d + p)), p being the number of pairs of a box and a value in it.
    """
    counts = np.zeros(len(selected_values))
    intervals = [
        np.unique(pair, axis=0, return_inverse=True)
        for pair in np.stack([boxes.low, boxes.high], axis=2).swapaxes(0, 1)
    ]
    interval = np.stack([numbers.ravel() for _, numbers in intervals], axis=1)
    for start in range(0, len(counts), QUERIES_PER_BATCH):
        batch = slice(start, start + QUERIES_PER_BATCH)
        shares = [_shares(ends, column[batch]) for (ends, _), column in zip(intervals, selected, strict=True)]
        starts = np.cumsum([0, *(len(share) for share in shares)])[:-1]
        values = np.ascontiguousarray(selected_values[batch].T, dtype=np.float64)
        counts[batch] = _sum_of_products(np.vstack(shares), interval + starts, values, boxes.weights)
    return counts


def _shares(ends: IntArray, selected: BoolArray) -> FloatArray:
    """Share of the codes of each interval that each query selects: float array, shape ``(u, q)``."""
    below = np.zeros((selected.shape[1] + 1, len(selected)))
    np.cumsum(selected.T, axis=0, out=below[1:])
    return np.asarray((below[ends[:, 1] + 1] - below[ends[:, 0]]) / (ends[:, 1] - ends[:, 0] + 1)[:, None])


@compiled
def _sum_of_products(shares: FloatArray, interval: IntArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """``sum_c (sum_s weights[c, s] values[s, q]) prod_a shares[interval[c, a], q]`` for each q."""
    queries = values.shape[1]
    total = np.zeros(queries)
    product = np.empty(queries)
    for c in range(len(interval)):
        product[:] = 0.0
        for s in range(len(values)):
            # Most boxes hold few values: zeros are skipped before the loop over queries.
            if weights[c, s] != 0:
                for q in range(queries):
                    product[q] += weights[c, s] * values[s, q]
        for a in range(interval.shape[1]):
            row = shares[interval[c, a]]
            for q in range(queries):
                product[q] *= row[q]
        for q in range(queries):
            total[q] += product[q]
    return total
