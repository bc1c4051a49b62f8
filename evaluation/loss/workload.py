"""Random counting queries, drawn once and put to every release."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from foreknow.evaluation.boxes import Boxes, Domains, domains, original_boxes
from foreknow.evaluation.loss.answers import answers
from foreknow.evaluation.loss.predicates import Predicates, Queries, QuerySampler, joined, restrictable
from foreknow.models import View
from foreknow.models.arrays import BoolArray, FloatArray, IntArray

LARGEST = 2**30
"""How many pairs of a query and a value a workload may hold."""

PATIENCE = 20
"""How many queries may be drawn for each that is kept."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries ``COUNT(*) WHERE A_1 in V_1 AND ... AND S in V_S``; draw them with `Workload.draw`.

    Attributes
    ----------
    domains : tuple of float arrays
        The codes that each quasi-identifier may take.
    wanted : tuple of bool arrays, shape (q, v)
        Which of them each query asks for: all of an attribute that is not in it.
    sensitive : bool array, shape (q, m)
        Which sensitive values each query asks for.
    dimensions : int array, shape (q,)
        How many quasi-identifiers are in it.
    redrawn : int
        How many queries that counted nobody were replaced.
    sanity_bound : float, optional
        The share of the records that an error is at least divided by; None where queries that count nobody were replaced.
    """

    domains: Domains
    wanted: tuple[BoolArray, ...]
    sensitive: BoolArray
    dimensions: IntArray
    redrawn: int = 0
    sanity_bound: float | None = None

    @classmethod
    def draw(
        cls,
        views: "View | Iterable[View]",
        *,
        rng: np.random.Generator,
        queries: int = 10_000,
        dimensions: int | None = None,
        selectivity: float = 0.05,
        predicates: Predicates = "values",
        sensitive: bool = True,
        sanity_bound: float | None = None,
    ) -> "Workload":
        """Draw queries as Xiao and Tao do (VLDB 2006): random attributes, of each of them random values.

        A query of qd quasi-identifiers and the sensitive attribute asks for ``b = ceil(|A| s^(1/(qd+1)))`` different values
        of each attribute A, at most ``|A| - 1``: every predicate restricts. It would count about the share s of independent,
        uniform records; less where attributes have few values, as of a binary attribute a query asks for one value. Attributes
        of one value are not drawn.

        Parameters
        ----------
        views : View, History or iterable of View
            What will be published: the domains are theirs.
        rng : Generator
            What is drawn from.
        queries : int
            How many.
        dimensions : int, optional
            qd, from 1 to the number of quasi-identifiers with at least two values. Left out, it is drawn for each query,
            uniformly.
        selectivity : float
            s, over 0, at most 1.
        predicates : {"values", "ranges"}
            Whether the values asked for of a quasi-identifier are any (Xiao and Tao), or neighbours (JS-reduce, section 7.5):
            categorical ones are in the order of the hierarchy. Sensitive values are any.
        sensitive : bool
            Whether the sensitive attribute is asked for too; if not, b has the exponent ``1/qd``.
        sanity_bound : float, optional
            What becomes of queries that count nobody in one of the views, whose relative error is not defined. Left out, they
            are drawn again, which favours crowded places. A share, as .001: they stay, and all errors are divided by that share
            of the records where the count is less.

        Raises
        ------
        ValueError
            If a number is out of range, no quasi-identifier has two values, the workload would be too large, or nearly no query
            counts anybody.

        Notes
        -----
        Xiao and Tao do not say whether they drew again, nor that b stays under ``|A|``; with ``b = |A|`` a predicate asks for
        everybody, and tables of binary attributes are judged by queries that restrict nothing. The bound is Garofalakis and
        Kumar's (ACM TODS 30(1), 2005).
        Cost: O(q v) memory for v values of the domains, and the time of one `query_error` per view where queries are drawn again.
        """
        views = (views,) if isinstance(views, View) else tuple(views)
        known, m = domains(views), len(views[0].schema.values)
        sizes = [len(domain) for domain in known]
        _check(queries, dimensions, selectivity, predicates, sanity_bound, sizes)
        draw = QuerySampler(tuple(sizes), m, dimensions, selectivity, predicates, sensitive)
        if sanity_bound is not None:
            return cls(known, *draw(queries, rng), sanity_bound=sanity_bound)
        tables = [original_boxes(view, known) for view in views]
        kept: list[Queries] = []
        redrawn, missing = 0, queries
        while missing:
            asked = draw(missing, rng)
            counts_somebody = np.all([answers(table, asked.wanted, asked.sensitive) > 0 for table in tables], axis=0)
            kept.append(asked.only(counts_somebody))
            missing -= int(counts_somebody.sum())
            redrawn += int((~counts_somebody).sum())
            if redrawn > PATIENCE * (queries + 50):
                raise ValueError(
                    f"of {redrawn + queries - missing} queries drawn, {queries - missing} count anybody; raise the selectivity "
                    f"({selectivity}), ask fewer dimensions, or keep the empty ones with a sanity_bound."
                )
        return cls(known, *joined(kept), redrawn)

    def __len__(self) -> int:
        return len(self.sensitive)

    def __repr__(self) -> str:
        return f"Workload(queries={len(self)}, redrawn={self.redrawn}, sanity_bound={self.sanity_bound})"

    def count(self, boxes: Boxes) -> FloatArray:
        """Number of records that each query counts, if those of a box are spread evenly over it: float array, shape ``(q,)``."""
        return answers(boxes, self.wanted, self.sensitive)


def _check(
    queries: int,
    dimensions: int | None,
    selectivity: float,
    predicates: str,
    sanity_bound: float | None,
    sizes: list[int],
) -> None:
    if queries < 1:
        raise ValueError(f"queries is {queries}; a workload has at least one.")
    most = len(restrictable(sizes))
    if not most:
        raise ValueError("no quasi-identifier has two values, and a query could restrict none; draw it from all views.")
    if dimensions is not None and not 1 <= dimensions <= most:
        raise ValueError(
            f"dimensions is {dimensions} and the table has {most} quasi-identifiers of two or more values; a query asks for 1 to "
            f"{most}."
        )
    if not 0 < selectivity <= 1:
        raise ValueError(f"selectivity is {selectivity}; it is the share of the records counted, over 0 and at most 1.")
    if predicates not in ("values", "ranges"):
        raise ValueError(f'predicates is {predicates!r}; a query asks for "values" or "ranges".')
    if sanity_bound is not None and not 0 < sanity_bound <= 1:
        raise ValueError(f"sanity_bound is {sanity_bound}; it is a share of the records, over 0 and at most 1.")
    if queries * max(sizes) > LARGEST:
        raise ValueError(
            f"{queries} queries over a quasi-identifier of {max(sizes)} values are more than a workload holds; ask fewer, or round "
            "the column."
        )
