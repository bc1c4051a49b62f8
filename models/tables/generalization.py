"""Generalized quasi-identifiers: what a group has in common, as codes and as the public reads it."""

from dataclasses import dataclass

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, ObjectArray
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Categorical


@dataclass(frozen=True, eq=False)
class Hulls:
    """The smallest and the largest code of every group in every quasi-identifier.

    Attributes
    ----------
    low, high : float array, shape (g, d)
    """

    low: FloatArray
    high: FloatArray


def hulls(people: People, group: IntArray, groups: int) -> Hulls:
    """The interval hull of each group; groups are 0 to ``groups - 1`` and each has a member. Cost: O(n d)."""
    kept = group >= 0
    order = np.argsort(group[kept], kind="stable")
    codes = people.quasi_identifiers[kept][order]
    starts = np.searchsorted(group[kept][order], np.arange(groups))
    return Hulls(np.minimum.reduceat(codes, starts, axis=0), np.maximum.reduceat(codes, starts, axis=0))


def labels(people: People, group: IntArray, groups: int) -> dict[str, ObjectArray]:
    """What each group's members are published as: per quasi-identifier, an object array of shape ``(g,)``.

    A number is published as the tight interval ``[low,high]``, or plainly where all members agree; a categorical value
    as the label of the lowest common ancestor in its hierarchy, ``*`` where it has none.
    """
    hull = hulls(people, group, groups)
    published: dict[str, ObjectArray] = {}
    for a, (name, kind) in enumerate(people.schema.quasi_identifiers.items()):
        if isinstance(kind, Categorical):
            texts = _ancestors(kind, people.quasi_identifiers[:, a], group, groups)
        else:
            texts = [_interval(low, high) for low, high in zip(hull.low[:, a], hull.high[:, a], strict=True)]
        column = np.empty(groups, dtype=object)
        column[:] = texts
        published[name] = column
    return published


def common_level(kind: Categorical, codes: FloatArray, group: IntArray, groups: int) -> IntArray:
    """The lowest level of the hierarchy at which each group's members share their label: int array, shape ``(g,)``."""
    levels = kind.tree.levels()
    kept = group >= 0
    order = np.argsort(group[kept], kind="stable")
    members = codes[kept][order].astype(np.int64)
    starts = np.searchsorted(group[kept][order], np.arange(groups))
    at = levels[:, members]
    shared = np.minimum.reduceat(at, starts, axis=1) == np.maximum.reduceat(at, starts, axis=1)
    return np.asarray(shared.argmax(axis=0), dtype=np.int64)


def _ancestors(kind: Categorical, codes: FloatArray, group: IntArray, groups: int) -> list[object]:
    tree = kind.tree
    level = common_level(kind, codes, group, groups)
    anyone = np.zeros(groups, dtype=np.int64)
    kept = group >= 0
    anyone[group[kept]] = codes[kept].astype(np.int64)
    return [kind.values[leaf] if step == 0 else tree.rows[leaf][step] for leaf, step in zip(anyone, level, strict=True)]


def _interval(low: float, high: float) -> str:
    return _number(low) if low == high else f"[{_number(low)},{_number(high)}]"


def _number(number: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e16 else repr(float(number))
