"""What a rule's condition may ask of a quasi-identifier: a value, a generalization, or to be about a number."""

from dataclasses import dataclass

import numpy as np

from foreknow.models import Categorical, Numeric, View
from foreknow.models.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Items:
    """The items of one quasi-identifier.

    Attributes
    ----------
    attribute : str
    labels : tuple of str
        Each item's; the first is the root, which asks for nothing, and every item stands after its parent.
    parents : int array, shape (v,)
        The next more general item of each; the root's is itself.
    degree : float array, shape (v, c)
        How far a record with each of c cells is a member of each item, from 0 to 1.
    cell : int array, shape (n,)
        Each record's cell.
    """

    attribute: str
    labels: tuple[str, ...]
    parents: IntArray
    degree: FloatArray
    cell: IntArray


def items_of(view: View, terms: int) -> tuple[Items, ...]:
    """The items of every quasi-identifier of a view, numbers having some fuzzy terms."""
    columns = view.people.quasi_identifiers.T
    return tuple(
        _values(name, kind, codes) if isinstance(kind, Categorical) else _terms(name, kind, codes, terms)
        for (name, kind), codes in zip(view.schema.quasi_identifiers.items(), columns, strict=True)
    )


def _values(name: str, kind: Categorical, codes: FloatArray) -> Items:
    """The nodes of an attribute's tree, from the root down; of a node and its only child, the child."""
    tree = kind.tree
    levels = tree.levels()
    labels, extents = ["*"], [np.ones(len(tree.rows), dtype=bool)]
    for level in range(tree.height - 1, -1, -1):
        for node in dict.fromkeys(levels[level].tolist()):
            extent = levels[level] == node
            label = tree.rows[int(extent.argmax())][level]
            same = [place for place, other in enumerate(extents) if np.array_equal(other, extent)]
            if not same:
                labels.append(label)
                extents.append(extent)
            elif same[0] > 0:
                labels[same[0]] = label
    degree = np.array(extents)
    around = (degree[:, None] >= degree[None]).all(axis=2) & (degree.sum(axis=1)[:, None] > degree.sum(axis=1)[None])
    sizes = np.where(around, degree.sum(axis=1)[:, None], len(tree.rows) + 1)
    return Items(name, tuple(labels), sizes.argmin(axis=0), degree.astype(np.float64), codes.astype(np.int64))


def _terms(name: str, kind: Numeric, codes: FloatArray, terms: int) -> Items:
    """A number's fuzzy terms: triangles of equal width whose peaks lie equally far apart over the domain."""
    low, high = kind.bounds
    numbers, cell = np.unique(codes, return_inverse=True)
    if low == high:
        return Items(name, ("*",), np.zeros(1, dtype=np.int64), np.ones((1, len(numbers))), cell.reshape(-1))
    place = np.round((numbers - low) / (high - low) * (terms - 1), 9)
    degree = np.maximum(0.0, 1 - np.abs(place[None] - np.arange(terms)[:, None]))
    labels = ("*", *(f"about {low + (high - low) * term / (terms - 1):g}" for term in range(terms)))
    parents = np.zeros(terms + 1, dtype=np.int64)
    return Items(name, labels, parents, np.vstack([np.ones(len(numbers)), degree]), cell.reshape(-1))
