"""Which level vectors of a full-domain generalization satisfy, and which of them are minimal (Incognito)."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from foreknow.models.arrays import BoolArray, IntArray

type Node = tuple[int, ...]

MOST_NODES = 2**24
"""How many level vectors are searched at most; each takes a few bytes."""


def minimal_nodes(heights: Sequence[int], holds: Callable[[Node], bool], monotone: bool) -> list[Node]:
    """The satisfying nodes of a lattice below which no other satisfies.

    A node is a level per attribute, from 0 to its height; it lies below another where no level of it is higher. At its
    highest level an attribute says nothing, so that a node with some attributes there is the generalization by the others
    alone.

    Parameters
    ----------
    heights : sequence of int, length d
        The highest level of each attribute.
    holds : callable
        Whether a node satisfies.
    monotone : bool
        Whether every node above a satisfying one satisfies. Then verdicts are spread and few nodes are asked about, as in
        Incognito; otherwise each is.

    Returns
    -------
    list of tuple of int
        In lexicographic order; none where no node satisfies.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Incognito", SIGMOD 2005. Subsets of attributes are searched from the smaller to the
    larger, and in each the nodes from the lower to the higher. What satisfies makes everything above it satisfy (roll-up);
    what fails makes everything below it fail, so that a larger subset's nodes are not asked about where a part of them
    failed (subset pruning). The paper goes through a subset's nodes by height; here they come in lexicographic order, which
    also has everything below a node before it, so that the same ones are asked about. Cost: O(d nodes) and the asking.

    Examples
    --------
    >>> minimal_nodes([2, 2], lambda node: sum(node) >= 2, monotone=True)
    [(0, 2), (1, 1), (2, 0)]
    """
    shape = tuple(height + 1 for height in heights)
    if math.prod(shape) > MOST_NODES:
        raise ValueError(
            f"{len(shape)} attributes of {', '.join(map(str, heights))} levels make {math.prod(shape):,} level vectors, and a "
            f"search looks at no more than {MOST_NODES:,}; give fewer levels (widths=) or fewer quasi-identifiers."
        )
    satisfying, settled = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for node in _from_few_attributes(heights) if monotone else itertools.product(*map(range, shape)):
        if settled[node]:
            continue
        verdict = holds(node)
        spread: tuple[slice, ...] = tuple(slice(level, None) if verdict else slice(level + 1) for level in node)
        where = spread if monotone else node
        satisfying[where], settled[where] = verdict, True
    return [tuple(node) for node in np.argwhere(_minimal(satisfying)).tolist()]


def _from_few_attributes(heights: Sequence[int]) -> Iterator[Node]:
    """All nodes, those with many attributes at their highest level first, and within a choice of these lexicographically."""
    places = range(len(heights))
    for size in range(len(heights) + 1):
        for chosen in itertools.combinations(places, size):
            yield from itertools.product(*(range(heights[a]) if a in chosen else (heights[a],) for a in places))


def _minimal(satisfying: BoolArray) -> BoolArray:
    """Where a node satisfies and none other below it does."""
    reached = satisfying.copy()
    for axis in range(satisfying.ndim):
        reached = np.logical_or.accumulate(reached, axis=axis)
    above = np.zeros_like(satisfying)
    for axis in range(satisfying.ndim):
        above |= np.roll(reached, 1, axis) & (_level(satisfying.shape, axis) > 0)
    return np.asarray(satisfying & ~above)


def _level(shape: tuple[int, ...], axis: int) -> IntArray:
    return np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
