"""Minimal satisfying nodes of a lattice of level vectors (Incognito)."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from foreknow.models.arrays import BoolArray, IntArray

type Node = tuple[int, ...]

MAX_NODES = 2**24
"""Largest number of level vectors of a search; each takes a few bytes."""


def minimal_nodes(heights: Sequence[int], satisfies: Callable[[Node], bool], monotone: bool) -> list[Node]:
    """Satisfying nodes of a lattice below which no other node satisfies.

    A node is a level for each attribute, from 0 to its height. It lies below another node if none of its levels is higher. At its
    highest level an attribute has one value, so that a node with some attributes at their highest level is the generalization
    by the others alone.

    Parameters
    ----------
    heights : sequence of int, length d
        Highest level of each attribute.
    satisfies : callable
        Function of a node that returns True if the node satisfies.
    monotone : bool
        True if every node above a satisfying one satisfies. Results are then propagated and few nodes are evaluated, as in
        Incognito; otherwise every node is evaluated.

    Returns
    -------
    list of tuple of int
        Minimal nodes in lexicographic order; empty if no node satisfies.

    Raises
    ------
    ValueError
        If there are more than `MAX_NODES` nodes.

    Notes
    -----
    LeFevre, DeWitt, Ramakrishnan, "Incognito", SIGMOD 2005. Subsets of attributes are searched from the smaller to the larger,
    and the nodes of each subset from the lower to the higher. Every node above a satisfying one satisfies (roll-up), and every
    node below a failing one fails. A node of a larger subset is therefore not evaluated where its part in a smaller subset
    failed (subset pruning). The paper takes the nodes of a subset by height; here they are in lexicographic order, in which
    every node follows those below it too, so that the same nodes are evaluated. Cost: O(d nodes), and the evaluations.

    Examples
    --------
    >>> minimal_nodes([2, 2], lambda node: sum(node) >= 2, monotone=True)
    [(0, 2), (1, 1), (2, 0)]
    """
    shape = tuple(height + 1 for height in heights)
    if math.prod(shape) > MAX_NODES:
        raise ValueError(
            f"{len(shape)} attributes of {', '.join(map(str, heights))} levels make {math.prod(shape):,} level vectors, and a "
            f"search evaluates at most {MAX_NODES:,}; give fewer levels (widths=) or fewer quasi-identifiers."
        )
    satisfying, decided = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for node in _by_subsets(heights) if monotone else itertools.product(*map(range, shape)):
        if decided[node]:
            continue
        result = satisfies(node)
        above_or_below: tuple[slice, ...] = tuple(slice(level, None) if result else slice(level + 1) for level in node)
        where = above_or_below if monotone else node
        satisfying[where], decided[where] = result, True
    return [tuple(node) for node in np.argwhere(_minimal(satisfying)).tolist()]


def _by_subsets(heights: Sequence[int]) -> Iterator[Node]:
    """All nodes by the subset of attributes below their highest level: small subsets first, each in lexicographic order."""
    places = range(len(heights))
    for size in range(len(heights) + 1):
        for subset in itertools.combinations(places, size):
            yield from itertools.product(*(range(heights[a]) if a in subset else (heights[a],) for a in places))


def _minimal(satisfying: BoolArray) -> BoolArray:
    """Satisfying nodes without a satisfying node below: bool array of the same shape."""
    reached = satisfying.copy()
    for axis in range(satisfying.ndim):
        reached = np.logical_or.accumulate(reached, axis=axis)
    above = np.zeros_like(satisfying)
    for axis in range(satisfying.ndim):
        above |= np.roll(reached, 1, axis) & (_levels_along(satisfying.shape, axis) > 0)
    return np.asarray(satisfying & ~above)


def _levels_along(shape: tuple[int, ...], axis: int) -> IntArray:
    """Levels of one attribute, in a shape that broadcasts over the lattice."""
    return np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
