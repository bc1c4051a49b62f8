"""What a random query asks for in each attribute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray

type Predicates = Literal["values", "ranges"]
"""How the values that a query asks for in one quasi-identifier lie."""


class Asked(NamedTuple):
    """What q queries ask for: of each quasi-identifier ``(q, v)``, of the sensitive values ``(q, m)``, and of how many."""

    wanted: tuple[BoolArray, ...]
    sensitive: BoolArray
    dimensions: IntArray

    def only(self, which: BoolArray) -> "Asked":
        """Some of the queries."""
        return Asked(tuple(column[which] for column in self.wanted), self.sensitive[which], self.dimensions[which])


def joined(parts: Sequence[Asked]) -> Asked:
    """Queries one after the other."""
    columns = zip(*(part.wanted for part in parts), strict=True)
    return Asked(
        tuple(np.concatenate(column) for column in columns),
        np.concatenate([part.sensitive for part in parts]),
        np.concatenate([part.dimensions for part in parts]),
    )


@dataclass(frozen=True)
class Draw:
    """How queries are drawn, before anybody counts with them; the settings are those of `Workload.draw`.

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

    def __call__(self, queries: int, rng: np.random.Generator) -> Asked:
        """So many random queries."""
        d = len(self.sizes)
        number = rng.integers(1, d + 1, queries) if self.dimensions is None else np.full(queries, self.dimensions)
        asked = _orders(rng, queries, d) < number[:, None]
        share = self.selectivity ** (1 / (number + self.sensitive))
        pick = _neighbours if self.predicates == "ranges" else _any
        wanted = tuple(pick(rng, size, how_many(size, share)) | ~asked[:, [a]] for a, size in enumerate(self.sizes))
        if not self.sensitive:
            return Asked(wanted, np.ones((queries, self.m), dtype=bool), number)
        return Asked(wanted, _any(rng, self.m, how_many(self.m, share)), number)


def how_many(size: int, share: FloatArray) -> IntArray:
    """``ceil(size * share)``, where rounding does not lift a whole number over itself, from 1 to all."""
    return np.clip(np.ceil(size * share - 1e-9), 1, size).astype(np.int64)


def _any(rng: np.random.Generator, size: int, b: IntArray) -> BoolArray:
    return np.asarray(_orders(rng, len(b), size) < b[:, None])


def _neighbours(rng: np.random.Generator, size: int, b: IntArray) -> BoolArray:
    first = rng.integers(0, size - b + 1)[:, None]
    place = np.arange(size)
    return np.asarray((place >= first) & (place < first + b[:, None]))


def _orders(rng: np.random.Generator, rows: int, size: int) -> IntArray:
    """A random order of the first numbers in each row: int array, shape ``(rows, size)``."""
    return rng.permuted(np.tile(np.arange(size), (rows, 1)), axis=1)
