"""Random predicates of counting queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

type Predicates = Literal["values", "ranges"]
"""Kind of predicate on a quasi-identifier: any values, or consecutive ones."""

PREDICATES: tuple[Predicates, ...] = ("values", "ranges")


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


def concatenated(parts: Sequence[Queries]) -> Queries:
    """Concatenation of several sets of queries."""
    columns = zip(*(part.selected for part in parts), strict=True)
    return Queries(
        tuple(np.concatenate(column) for column in columns),
        np.concatenate([part.selected_values for part in parts]),
        np.concatenate([part.dimensions for part in parts]),
    )


@dataclass(frozen=True)
class QuerySampler:
    """Distribution of queries before empty ones are drawn again; the settings are those of `Workload.draw`.

    Attributes
    ----------
    sizes : tuple of int
        Number of values of each quasi-identifier's domain.
    m : int
        Number of sensitive values.
    """

    sizes: tuple[int, ...]
    m: int
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
