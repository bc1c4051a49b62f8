"""The distance between what is believed before and after a release: the divergence of smoothed distributions."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from foreknow.defenses.requirements.summary import entropy
from foreknow.models import Categorical, Hierarchy
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.tables.distance import tree_distances


@dataclass(frozen=True, eq=False)
class Divergence:
    """The Jensen-Shannon divergence of beliefs from what they were, both smoothed.

    Attributes
    ----------
    before : float array, shape (n, m)
        What was believed, smoothed.
    bits : float array, shape (n,)
        The entropies of its rows.
    weights : float array, shape (m, m)
        What `smoothing` gives.
    base : float
        Of the logarithm.
    """

    before: FloatArray
    bits: FloatArray
    weights: FloatArray
    base: float

    @classmethod
    def since(cls, prior: FloatArray, weights: FloatArray, base: float) -> "Divergence":
        """The divergence from a prior of shape ``(n, m)``."""
        before = _smoothed(prior, weights)
        return cls(before, entropy(before), weights, base)

    def __call__(self, posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG002
        """How far some posteriors, ``(k, m)``, of the records in some rows have moved: float array, shape ``(k,)``.

        Cost: O(k m), and O(k m^2) at most where values are mixed.
        """
        return _bits_between(self.before, self.bits, _smoothed(posterior, self.weights), records) / math.log2(self.base)


def smoothing(
    values: tuple[Hashable, ...], distance: "Literal['equal', 'ordered'] | Hierarchy", bandwidth: float
) -> FloatArray:
    """How much each value counts in the mean that stands for another: float array, shape ``(m, m)``, rows sum to 1.

    ``w[r, s]`` is the Epanechnikov kernel of their distance, ``1 - (d_rs / b)^2`` for ``d_rs < b``, else 0.
    """
    weights = 1 - (np.minimum(_between(values, distance), bandwidth) / bandwidth) ** 2
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _between(values: tuple[Hashable, ...], distance: "Literal['equal', 'ordered'] | Hierarchy") -> FloatArray:
    """How far sensitive values lie apart, from 0 to 1: float array, shape ``(m, m)``."""
    m = len(values)
    if distance == "equal":
        return 1 - np.eye(m)
    if distance == "ordered":
        return np.asarray(np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / max(m - 1, 1))
    assert isinstance(distance, Hierarchy)
    kind = Categorical(values, distance)
    place = np.array([kind.values.index(value) for value in values])
    return tree_distances(kind)[np.ix_(place, place)]


def _smoothed(rows: FloatArray, weights: FloatArray) -> FloatArray:
    return rows if np.array_equal(weights, np.eye(len(weights))) else _means(rows, weights)


@compiled
def _means(rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Each row's values' means over those near them. They do not keep the row's sum; it is made 1 again."""
    means = np.zeros(rows.shape)
    for i in range(len(rows)):
        total = 0.0
        for s in range(rows.shape[1]):
            if rows[i, s] > 0.0:
                for r in range(rows.shape[1]):
                    means[i, r] += weights[r, s] * rows[i, s]
        for r in range(rows.shape[1]):
            total += means[i, r]
        for r in range(rows.shape[1]):
            means[i, r] /= total
    return means


@compiled
def _bits_between(before: FloatArray, bits: FloatArray, after: FloatArray, rows: IntArray) -> FloatArray:
    """The entropy of the mean of each row and its row before, less the mean of their entropies."""
    found = np.zeros(len(after))
    for i in range(len(after)):
        total = -bits[rows[i]] / 2
        for s in range(after.shape[1]):
            mean = (before[rows[i], s] + after[i, s]) / 2
            if mean > 0.0:
                total -= mean * np.log2(mean)
            if after[i, s] > 0.0:
                total += after[i, s] * np.log2(after[i, s]) / 2
        found[i] = max(total, 0.0)
    return found
