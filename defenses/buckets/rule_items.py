"""Items of rule conditions: values and generalizations of categorical attributes, fuzzy terms of numeric ones."""

from dataclasses import dataclass

import numpy as np

from foreknow.models import Categorical, Numeric, View
from foreknow.models.arrays import FloatArray, IntArray

POSITION_DECIMALS = 9
"""Decimals to which positions between the peaks of fuzzy terms are rounded, so that a number on a peak has degree 1."""


@dataclass(frozen=True, eq=False)
class RuleItems:
    """Items of one quasi-identifier that rule conditions may contain.

    Attributes
    ----------
    attribute : str
    labels : tuple of str, length v
        Label of each item. The first item is the root, which every record satisfies; each item comes after its parent.
    parents : int array, shape (v,)
        The next more general item of each item; the root is its own parent.
    degree : float array, shape (v, c)
        Degree of membership, from 0 to 1, in each item of a record with each of the c distinct values.
    cell : int array, shape (n,)
        Distinct value of each record, 0 to c - 1.
    """

    attribute: str
    labels: tuple[str, ...]
    parents: IntArray
    degree: FloatArray
    cell: IntArray


def rule_items(view: View, terms: int) -> tuple[RuleItems, ...]:
    """Items of each quasi-identifier of a view; a numeric one has some number of fuzzy terms."""
    columns = view.people.quasi_identifiers.T
    return tuple(
        _tree_nodes(name, kind, codes) if isinstance(kind, Categorical) else _fuzzy_terms(name, kind, codes, terms)
        for (name, kind), codes in zip(view.schema.quasi_identifiers.items(), columns, strict=True)
    )


def _tree_nodes(name: str, kind: Categorical, codes: FloatArray) -> RuleItems:
    """Nodes of an attribute's hierarchy, from the root down. A node with the same leaves as its only child is left out."""
    tree = kind.tree
    levels = tree.levels()
    labels, leaves_of = ["*"], [np.ones(len(tree.rows), dtype=bool)]
    for level in range(tree.height - 1, -1, -1):
        for node in dict.fromkeys(levels[level].tolist()):
            leaves = levels[level] == node
            label = tree.rows[int(leaves.argmax())][level]
            same = [place for place, other in enumerate(leaves_of) if np.array_equal(other, leaves)]
            if not same:
                labels.append(label)
                leaves_of.append(leaves)
            elif same[0] > 0:
                labels[same[0]] = label
    degree = np.array(leaves_of)
    size = degree.sum(axis=1)
    is_ancestor = (degree[:, None] >= degree[None]).all(axis=2) & (size[:, None] > size[None])
    # The parent is the smallest ancestor; the root has none, and argmin gives 0, itself.
    ancestor_size = np.where(is_ancestor, size[:, None], len(tree.rows) + 1)
    return RuleItems(
        name, tuple(labels), ancestor_size.argmin(axis=0), degree.astype(np.float64), codes.astype(np.int64)
    )


def _fuzzy_terms(name: str, kind: Numeric, codes: FloatArray, terms: int) -> RuleItems:
    """Fuzzy terms of a number: triangles of equal width, with equidistant peaks from one end of the domain to the other."""
    low, high = kind.bounds
    numbers, cell = np.unique(codes, return_inverse=True)
    if low == high:
        return RuleItems(name, ("*",), np.zeros(1, dtype=np.int64), np.ones((1, len(numbers))), cell.reshape(-1))
    position = np.round((numbers - low) / (high - low) * (terms - 1), POSITION_DECIMALS)
    degree = np.maximum(0.0, 1 - np.abs(position[None] - np.arange(terms)[:, None]))
    labels = ("*", *(f"about {low + (high - low) * term / (terms - 1):g}" for term in range(terms)))
    parents = np.zeros(terms + 1, dtype=np.int64)
    return RuleItems(name, labels, parents, np.vstack([np.ones(len(numbers)), degree]), cell.reshape(-1))
