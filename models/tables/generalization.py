"""Generalized quasi-identifiers of groups: interval hulls as codes, and published labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, ObjectArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.tables.attributes import Categorical
from foreknow.models.tables.people import People


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Hulls:
    """The smallest and the largest code of each group in each quasi-identifier.

    Attributes
    ----------
    low, high : float array, shape (g, d)
    """

    low: FloatArray
    high: FloatArray


def hulls(people: People, group: IntArray, groups: int) -> Hulls:
    """Return the interval hull of each group; groups are 0 to ``groups - 1`` and each has a member. Cost: O(n d)."""
    members, starts = _by_group(group, groups)
    codes = people.quasi_identifiers[members]
    return Hulls(np.minimum.reduceat(codes, starts, axis=0), np.maximum.reduceat(codes, starts, axis=0))


def published_labels(people: People, group: IntArray, groups: int) -> dict[str, ObjectArray]:
    """Return the published label of each group in each quasi-identifier, by attribute: object arrays, shape ``(g,)``.

    A number is published as the tight interval ``[low,high]``, or as the number itself if all members agree. A categorical
    value is published as the label of the lowest common ancestor in its hierarchy, which is ``*`` without a hierarchy.
    """
    hull = hulls(people, group, groups)
    published: dict[str, ObjectArray] = {}
    for a, (name, kind) in enumerate(people.schema.quasi_identifiers.items()):
        if isinstance(kind, Categorical):
            texts = _common_ancestors(kind, people.quasi_identifiers[:, a], group, groups)
        else:
            texts = [_interval(low, high) for low, high in zip(hull.low[:, a], hull.high[:, a], strict=True)]
        column = np.empty(groups, dtype=object)
        column[:] = texts
        published[name] = column
    return published


def exact_cells(people: People, rows: IntArray) -> dict[str, "list[Any] | IntArray | FloatArray"]:
    """Return the quasi-identifiers of some records as cells, by attribute; numbers are integers if all of them are whole."""
    cells: dict[str, list[Any] | IntArray | FloatArray] = {}
    for (name, kind), column in zip(people.schema.quasi_identifiers.items(), people.quasi_identifiers.T, strict=True):
        codes = column[rows]
        if isinstance(kind, Categorical):
            cells[name] = [kind.values[code] for code in codes.astype(np.int64).tolist()]
        else:
            cells[name] = codes.astype(np.int64) if (codes == np.floor(codes)).all() else codes
    return cells


def common_level(kind: Categorical, codes: FloatArray, group: IntArray, groups: int) -> IntArray:
    """Return the lowest generalization level at which each group's members have one label: int array, shape ``(g,)``."""
    members, starts = _by_group(group, groups)
    labels = kind.tree.levels()[:, codes[members].astype(np.int64)]
    is_shared = np.minimum.reduceat(labels, starts, axis=1) == np.maximum.reduceat(labels, starts, axis=1)
    return np.asarray(is_shared.argmax(axis=0), dtype=np.int64)


def _by_group(group: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """The rows of group members, sorted by group, and the position at which each group starts."""
    kept = np.flatnonzero(group >= 0)
    members = kept[np.argsort(group[kept], kind="stable")]
    return members, np.searchsorted(group[members], np.arange(groups))


def _common_ancestors(kind: Categorical, codes: FloatArray, group: IntArray, groups: int) -> list[object]:
    """The label of the lowest common ancestor of each group's members."""
    tree = kind.tree
    level = common_level(kind, codes, group, groups)
    member = np.zeros(groups, dtype=np.int64)
    kept = group >= 0
    # Any member serves: at the common level all members of a group have one label.
    member[group[kept]] = codes[kept].astype(np.int64)
    return [kind.values[leaf] if step == 0 else tree.rows[leaf][step] for leaf, step in zip(member, level, strict=True)]


def _interval(low: float, high: float) -> str:
    return number_text(low) if low == high else f"[{number_text(low)},{number_text(high)}]"


def number_text(number: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e16 else repr(float(number))
