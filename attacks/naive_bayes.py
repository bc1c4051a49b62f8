"""Naive Bayes over quasi-identifiers: levels of the attributes, and the law fitted to weighted records."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from foreknow.models import Categorical, Observation
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.group_rows import group_sums


class AttributeLevels(NamedTuple):
    """Levels of the quasi-identifiers of all records of some releases.

    Attributes
    ----------
    levels : int array, shape (n, d)
        Level of each record in each attribute. The levels of all attributes are numbered through, 0 to L - 1.
    attribute : int array, shape (L,)
        Attribute of each level.
    """

    levels: IntArray
    attribute: IntArray


def attribute_levels(observations: Sequence[Observation], bins: int) -> AttributeLevels:
    """Return levels of the records of some releases: categorical values, and quantile bins of numbers.

    A numeric attribute with at most ``bins`` distinct published numbers has a level for each. Any other is cut at the
    quantiles 1 / bins, 2 / bins, ... of its published numbers; a number on a cut belongs to the bin above it.

    Parameters
    ----------
    observations : sequence of Observation
        At least one; they have the same quasi-identifiers.
    bins : int

    Notes
    -----
    The numbers are those of the group members themselves, which the worst-case adversary knows; published intervals are not
    read. Cost: O(n d log n).
    """
    codes = np.vstack([seen.people.quasi_identifiers for seen in observations])
    published = np.concatenate([seen.group >= 0 for seen in observations])
    columns, sizes = list[IntArray](), list[int]()
    for a, kind in enumerate(observations[0].people.schema.quasi_identifiers.values()):
        if isinstance(kind, Categorical):
            level, size = codes[:, a].astype(np.int64), len(kind.values)
        else:
            cuts = _cuts(codes[published, a], bins)
            level, size = np.searchsorted(cuts, codes[:, a], side="right"), len(cuts) + 1
        columns.append(level + sum(sizes))
        sizes.append(size)
    levels = np.column_stack(columns) if columns else np.zeros((len(codes), 0), dtype=np.int64)
    return AttributeLevels(np.asarray(levels, dtype=np.int64), np.repeat(np.arange(len(sizes)), sizes))


def _cuts(numbers: FloatArray, bins: int) -> FloatArray:
    """Increasing cuts of a numeric attribute: float array, shape ``(L - 1,)``."""
    distinct = np.unique(numbers)
    if len(distinct) <= bins:
        return distinct[1:]
    return np.unique(np.quantile(numbers, np.arange(1, bins) / bins, method="inverted_cdf"))


class NaiveBayes(NamedTuple):
    """Distribution of the sensitive value, and of each attribute given it.

    Attributes
    ----------
    log_prior : float array, shape (m,)
        Logarithm of P(s).
    log_likelihood : float array, shape (L, m)
        Logarithm of P(level | s); for each value the levels of one attribute sum to 1.
    """

    log_prior: FloatArray
    log_likelihood: FloatArray

    def rows(self, levels: IntArray) -> FloatArray:
        """P(s | levels) of some records, from levels of shape ``(n, d)``: float array, shape ``(n, m)``. Cost: O(n m d)."""
        scores = np.tile(self.log_prior, (len(levels), 1))
        for column in levels.T:
            scores += self.log_likelihood[column]
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fit_naive_bayes(levels: AttributeLevels, weights: FloatArray, pseudo_count: float) -> NaiveBayes:
    """Return the law of weighted records, with Laplace's pseudo-counts.

    ::

        P(s) = (w(s) + c) / (w + m c),    P(level | s) = (w(level, s) + c) / (w(s) + L_a c)

    Parameters
    ----------
    levels : AttributeLevels
    weights : float array, shape (n, m)
        Weight of each value for each record; zeros for a record that is not counted.
    pseudo_count : float
        c, a positive number.

    Notes
    -----
    The maximum of the posterior under Dirichlet distributions with parameters c + 1. Cost: O(n m d).
    """
    in_all = weights.sum(axis=0) + pseudo_count
    sizes = np.bincount(levels.attribute)
    counts = np.full((len(levels.attribute), weights.shape[1]), float(pseudo_count))
    for column in levels.levels.T:
        counts += group_sums(weights, np.ascontiguousarray(column), len(counts))
    totals = weights.sum(axis=0) + pseudo_count * sizes[levels.attribute][:, None]
    return NaiveBayes(np.log(in_all / in_all.sum()), np.log(counts / totals))
