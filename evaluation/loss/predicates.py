"""What a random query asks for in each attribute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

type Predicates = Literal["values", "ranges"]
"""How the values that a query asks for in one quasi-identifier lie."""


class Queries(NamedTuple):
    """Predicates of q queries: of each quasi-identifier ``(q, v)``, of the sensitive values ``(q, m)``, and of how many."""

    wanted: tuple[BoolArray, ...]
    sensitive: BoolArray
    dimensions: IntArray

    def only(self, which: BoolArray) -> "Queries":
        """Some of the queries."""
        return Queries(tuple(column[which] for column in self.wanted), self.sensitive[which], self.dimensions[which])


def joined(parts: Sequence[Queries]) -> Queries:
    """Queries one after the other."""
    columns = zip(*(part.wanted for part in parts), strict=True)
    return Queries(
        tuple(np.concatenate(column) for column in columns),
        np.concatenate([part.sensitive for part in parts]),
        np.concatenate([part.dimensions for part in parts]),
    )


@dataclass(frozen=True)
class QuerySampler:
    """Rule by which queries are drawn, before anybody counts with them; the settings are those of `Workload.draw`.

    Attributes
    ----------
    sizes : tuple of int
        How many values each quasi-identifier may take.
    m : int
        How many sensitive values there are.
    """

    sizes: tuple[int, ...]
    m: int
    dimensions: int | None
    selectivity: float
    predicates: Predicates
    sensitive: bool

    def __call__(self, queries: int, rng: np.random.Generator) -> Queries:
        """Random queries, each of which restricts every attribute in it."""
        drawn = restrictable(self.sizes)
        d = len(drawn)
        number = rng.integers(1, d + 1, queries) if self.dimensions is None else np.full(queries, self.dimensions)
        asked = np.zeros((queries, len(self.sizes)), dtype=np.bool_)
        asked[:, drawn] = _orders(rng, queries, d) < number[:, None]
        share = self.selectivity ** (1 / (number + self.sensitive))
        pick = _neighbours if self.predicates == "ranges" else _any
        wanted = tuple(pick(rng, size, how_many(size, share)) | ~asked[:, [a]] for a, size in enumerate(self.sizes))
        if not self.sensitive:
            return Queries(wanted, np.ones((queries, self.m), dtype=bool), number)
        return Queries(wanted, _any(rng, self.m, how_many(self.m, share)), number)


def restrictable(sizes: Sequence[int]) -> list[int]:
    """The attributes with at least two values: a predicate on any other restricts nothing."""
    return [a for a, size in enumerate(sizes) if size > 1]


def how_many(size: int, share: FloatArray) -> IntArray:
    """``ceil(size * share)``, at least 1 and at most ``size - 1`` of two or more values, so that the predicate restricts.

    Rounding does not lift a whole number over itself.
    """
    return np.clip(np.ceil(size * share - 1e-9), 1, max(size - 1, 1)).astype(np.int64)


def _any(rng: np.random.Generator, size: int, b: IntArray) -> BoolArray:
    return np.asarray(_orders(rng, len(b), size) < b[:, None])


def _neighbours(rng: np.random.Generator, size: int, b: IntArray) -> BoolArray:
    first = rng.integers(0, size - b + 1)[:, None]
    place = np.arange(size)
    return np.asarray((place >= first) & (place < first + b[:, None]))


def _orders(rng: np.random.Generator, rows: int, size: int) -> IntArray:
    """A random order of the first numbers in each row: int array, shape ``(rows, size)``."""
    return rng.permuted(np.tile(np.arange(size), (rows, 1)), axis=1)
