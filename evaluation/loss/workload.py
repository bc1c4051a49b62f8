"""Workloads: random counting queries, drawn once and put to every release."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.evaluation.boxes import Boxes, Domains, domains, original_boxes
from foreknow.evaluation.loss.query_counts import query_counts
from foreknow.evaluation.loss.query_sampler import (
    PREDICATES,
    Predicates,
    Queries,
    QuerySampler,
    concatenated,
    restrictable,
)
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.settings import as_generator, check_choice, check_flag, check_kind, is_number, is_whole

MAX_SELECTED_CODES = 2**30
"""Largest product of the number of queries and the size of a domain: the entries of a mask."""

MAX_DRAWS_PER_QUERY = 20
"""Largest number of queries drawn for each that is kept."""


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

    Raises
    ------
    TypeError, ValueError
        If an array has another kind or shape.
    """

    domains: Domains
    selected: tuple[BoolArray, ...]
    selected_values: BoolArray
    dimensions: IntArray
    redrawn: int = 0
    sanity_bound: float | None = None

    def __post_init__(self) -> None:
        arrays = self.domains, self.selected, (self.selected_values, self.dimensions)
        if not all(isinstance(part, tuple) and all(isinstance(each, np.ndarray) for each in part) for part in arrays):
            raise TypeError(
                "Workload: domains and selected are tuples of arrays, selected_values and dimensions are arrays; draw a workload, "
                "as Workload.draw(views, rng=1)."
            )
        queries = (len(np.atleast_1d(self.dimensions)),)
        shapes = [(*queries, len(domain)) for domain in self.domains if domain.ndim == 1]
        if (
            [mask.shape for mask in self.selected] != shapes
            or self.selected_values.shape[:-1] != queries
            or any(mask.dtype != np.bool_ for mask in (*self.selected, self.selected_values))
        ):
            raise ValueError(
                f"Workload: {len(self.domains)} domains and {queries[0]} queries need a Boolean mask of shape (queries, domain) "
                "per quasi-identifier, and selected_values of shape (queries, sensitive values); draw a workload, as "
                "Workload.draw(views, rng=1)."
            )

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
        check_kind("Workload.count", "boxes", boxes, Boxes, "is the Boxes of a release")
        return query_counts(boxes, self.selected, self.selected_values)


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
    return *concatenated(kept), redrawn


def _checked_views(views: Any) -> tuple[View, ...]:
    """Check the views to draw from."""
    listed = (views,) if isinstance(views, View) or not np.iterable(views) else tuple(views)
    for view in listed:
        if not isinstance(view, View):
            held = "" if view is views else f" that holds a {type(view).__name__}"
            raise TypeError(
                f"Workload.draw: views is a {type(views).__name__}{held}; it takes a View, a History or several views: those to be "
                "published."
            )
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
    if not is_whole(queries):
        raise ValueError(f"queries is {queries!r}; a workload has at least one.")
    most = len(restrictable(sizes))
    if not most:
        raise ValueError(
            "no quasi-identifier has two values, so a query can restrict none; draw the workload from all views."
        )
    if dimensions is not None and not (is_whole(dimensions) and dimensions <= most):
        raise ValueError(
            f"dimensions is {dimensions!r} and the table has {most} quasi-identifiers of two or more values; a query has "
            f"predicates on 1 to {most}."
        )
    if not (is_number(selectivity, 0, 1) and selectivity > 0):
        raise ValueError(
            f"selectivity is {selectivity!r}; it is the share of the records counted, over 0 and at most 1."
        )
    check_choice("Workload.draw", "predicates", predicates, PREDICATES)
    check_flag("Workload.draw", "restrict_sensitive", restrict_sensitive)
    if sanity_bound is not None and not (is_number(sanity_bound, 0, 1) and sanity_bound > 0):
        raise ValueError(f"sanity_bound is {sanity_bound!r}; it is a share of the records, over 0 and at most 1.")
    if queries * max(sizes) > MAX_SELECTED_CODES:
        raise ValueError(
            f"{queries} queries over a quasi-identifier of {max(sizes)} values are more than a workload holds; lower their number, "
            "or round the column."
        )
