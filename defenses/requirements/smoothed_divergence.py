"""Jensen-Shannon divergence of smoothed beliefs."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from foreknow.models import Categorical, Hierarchy
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.divergence import jensen_shannon
from foreknow.models.tables.distance import tree_distances


@dataclass(frozen=True, eq=False)
class SmoothedDivergence:
    """Jensen-Shannon divergence of posteriors from the prior, both smoothed over near values.

    Attributes
    ----------
    prior : float array, shape (n, m)
        Smoothed prior of each record of the view.
    weights : float array, shape (m, m)
        Smoothing matrix, by `smoothing_weights`.
    base : float
        Base of the logarithm.
    """

    prior: FloatArray
    weights: FloatArray
    base: float

    @classmethod
    def from_prior(cls, prior: FloatArray, weights: FloatArray, base: float) -> "SmoothedDivergence":
        """Divergence from a prior of shape ``(n, m)``, not smoothed yet."""
        return cls(_smoothed(prior, weights), weights, base)

    def __call__(self, posterior: FloatArray, records: IntArray, shares: FloatArray) -> FloatArray:  # noqa: ARG002
        """Divergence of k posteriors, ``(k, m)``, of the records in the rows ``(k,)``: float array, shape ``(k,)``.

        Cost: O(k m), and O(k m^2) where values are smoothed.
        """
        return jensen_shannon(self.prior[records], _smoothed(posterior, self.weights)) / math.log2(self.base)


def smoothing_weights(
    values: tuple[Hashable, ...], distance: "Literal['equal', 'ordered'] | Hierarchy", bandwidth: float
) -> FloatArray:
    """Kernel weight of each value in the smoothed probability of another: float array, shape ``(m, m)``, rows sum to 1.

    ``w[r, s]`` is proportional to the Epanechnikov kernel of their distance, ``1 - (d_rs / b)^2`` for ``d_rs < b``, else 0.
    """
    weights = 1 - (np.minimum(_distances(values, distance), bandwidth) / bandwidth) ** 2
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _distances(values: tuple[Hashable, ...], distance: "Literal['equal', 'ordered'] | Hierarchy") -> FloatArray:
    """Distances of sensitive values, from 0 to 1: float array, shape ``(m, m)``."""
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
    """Rows with each probability replaced by the weighted mean of those of near values, then normalized."""
    if np.array_equal(weights, np.eye(len(weights))):
        return rows
    # einsum adds in the same order for every row, so that a row's result does not depend on its batch, as by a matrix product.
    means = np.einsum("is,rs->ir", rows, weights)
    return np.asarray(means / means.sum(axis=1, keepdims=True))
