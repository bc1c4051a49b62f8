"""Weight of all assignments of one group, and the belief in each pair of respondent and value.

An assignment weighs the product of its priors, so the total weight is a permanent; neither SciPy nor NumPy has one. The kernels
here take one group: ``weights`` of shape ``(k, d)`` for its k members and its d distinct shown values, and ``capacity`` of shape
``(d,)``, the count of each shown value. Sums over assignments are computed in `forward_backward`.
"""

import math

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments.forward_backward import forward_backward, state_count

MAX_COMPARED_KINDS = 64
"""Number of kinds of rows after which `proportional_rows` compares no more: a larger number exceeds every limit of states."""

MIN_DIVISOR = 1e-300
"""Lower bound of divisors, against division by 0."""


@compiled
def shown_priors(prior: FloatArray, rows: IntArray, values: IntArray, doubt: float) -> FloatArray:
    """Priors of a group's members for its shown values, with a weight ``doubt`` of the uniform distribution mixed in."""
    weights = np.zeros((len(rows), len(values)))
    for i in range(len(rows)):
        for s in range(len(values)):
            weights[i, s] = (1.0 - doubt) * prior[rows[i], values[s]] + doubt / prior.shape[1]
    return weights


@compiled
def write_group_beliefs(group_belief: FloatArray, rows: IntArray, values: IntArray, belief: FloatArray) -> None:
    """Copy a group's beliefs, shape ``(k, d)``, into the rows of its members; values that are not shown get 0."""
    for i in range(len(rows)):
        belief[rows[i]] = 0.0
        for s in range(len(values)):
            belief[rows[i], values[s]] = group_belief[i, s]


@compiled
def group_beliefs(weights: FloatArray, capacity: IntArray) -> tuple[bool, FloatArray]:
    """True if any assignment is possible, and the exact belief in each pair, shape ``(k, d)``."""
    if len(capacity) == 1:
        return bool(np.all(weights > 0.0)), np.ones_like(weights)
    log_weight, belief = log_weight_and_beliefs(np.log(weights), capacity, proportional_rows(weights))
    return log_weight > -np.inf, belief


@compiled
def log_weight_and_beliefs(weights: FloatArray, capacity: IntArray, kind: IntArray) -> tuple[float, FloatArray]:
    """Logarithm of the total weight of all distinct assignments, and the belief in each pair, shape ``(k, d)``.

    The sum runs over members, with values as types, or over published values, with kinds of members as types, whichever has
    fewer states.

    Parameters
    ----------
    weights : float array, shape (k, d)
        Logarithms of priors.
    capacity : int array, shape (d,)
        Count of each value, at least 1; sums to k.
    kind : int array, shape (k,)
        Numbers from 0, equal for members whose rows are equal up to a factor.
    """
    members_of_kind = np.bincount(kind)
    if state_count(members_of_kind) >= state_count(capacity):
        return forward_backward(weights, capacity)
    factor = 0.0
    first = np.full(len(members_of_kind), -1, dtype=np.int64)
    for i in range(len(weights)):
        if weights[i].max() == -np.inf:
            return -np.inf, np.zeros_like(weights)
        if first[kind[i]] < 0:
            first[kind[i]] = i
        factor += weights[i].max() - weights[first[kind[i]]].max()
    log_weight, belief = _by_published_value(weights, capacity, kind, first)
    return log_weight + factor + _log_permutations(members_of_kind) - _log_permutations(capacity), belief


@compiled
def _by_published_value(
    weights: FloatArray, capacity: IntArray, kind: IntArray, first: IntArray
) -> tuple[float, FloatArray]:
    """Sum over the k published values, each of which goes to a kind of members; ``first`` is a member of each kind."""
    members_of_kind = np.bincount(kind)
    published = np.repeat(np.arange(len(capacity)), capacity)
    weights_of_kinds = np.zeros((len(published), len(members_of_kind)))
    for t in range(len(published)):
        for c in range(len(members_of_kind)):
            weights_of_kinds[t, c] = weights[first[c], published[t]]
    log_weight, belief_of_kinds = forward_backward(weights_of_kinds, members_of_kind)
    belief = np.zeros_like(weights)
    for i in range(len(weights)):
        for t in range(len(published)):
            belief[i, published[t]] += belief_of_kinds[t, kind[i]] / members_of_kind[kind[i]]
        belief[i] /= max(belief[i].sum(), MIN_DIVISOR)
    return log_weight, belief


@compiled
def _log_permutations(counts: IntArray) -> float:
    """Sum of ``log(c!)`` over the counts."""
    total = 0.0
    for c in counts:
        total += math.lgamma(c + 1.0)
    return total


@compiled
def proportional_rows(rows: FloatArray) -> IntArray:
    """Label of each row, equal for rows that are multiples of each other; the posterior is equal for such respondents.

    Labels count from 0. After `MAX_COMPARED_KINDS` labels each further row gets a label of its own.
    """
    scaled = np.zeros_like(rows)
    kind = np.zeros(len(rows), dtype=np.int64)
    first = np.zeros(len(rows), dtype=np.int64)
    kinds = 0
    for i in range(len(rows)):
        largest = rows[i].max()
        if largest > 0.0:
            scaled[i] = rows[i] / largest
        kind[i] = kinds
        for c in range(kinds if kinds <= MAX_COMPARED_KINDS else 0):
            if np.all(scaled[first[c]] == scaled[i]):
                kind[i] = c
                break
        if kind[i] == kinds:
            first[kinds] = i
            kinds += 1
    return kind
