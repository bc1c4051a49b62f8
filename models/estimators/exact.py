"""The Bayesian posterior: an assignment weighs the product of its priors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.members import members
from foreknow.models.problem import DOUBT, Posterior, Problem, Status

CONTRADICTED = int(Status.CONTRADICTED)
BALANCING_ROUNDS = 8


class TooLarge(ValueError):  # noqa: N818 - the name says what is wrong, as DESIGN 3.3 fixes it
    """A group has more states than the estimator may visit."""


@dataclass(frozen=True)
class Exact:
    """Each assignment of a group weighs the product of the priors it uses; the belief is the exact posterior.

    Instead of the k! assignments it walks the states of a group: how much of each value is still to be given away as
    the people come one by one, or how many of each kind of person (people with equal priors) are still without a value
    as the values come one by one, whichever is fewer. There are ``prod_s (n_s + 1)`` of the former. All terms are
    positive, so nothing cancels; layers are rescaled, so nothing overflows.

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    limit : int
        The most states a group may have; memory is 32 bytes each.

    Raises
    ------
    TooLarge
        When called, if a group passes the limit; it names the group and the way out. Nothing is computed then.

    Notes
    -----
    Exact to rounding. Cost: O(states * distinct values) per group. This is the posterior of the random-assignment model
    of Li, Li and Zhang (ICDE 2009), there a ratio of permanents; the walk is in METHODS, section 14 ("column DP").
    """

    limit: int = 2**22
    exact: ClassVar[bool] = True

    def __call__(self, problem: Problem) -> Posterior:
        """The posterior of a whole release."""
        order, starts = members(problem.group, len(problem.counts))
        states = _states(problem.prior, problem.counts, order, starts)
        if states.size and states.max() > self.limit:
            worst = int(states.argmax())
            raise TooLarge(
                f"group {worst} has {problem.sizes[worst]} respondents and {states[worst]:.3g} states, more than the limit of "
                f"{self.limit}. Use Omega(), an approximation, or Exact(limit=...) if there is memory for it (32 bytes a state)."
            )
        return Posterior(*_posteriors(problem.prior, problem.counts, order, starts))


@compiled
def _kinds(rows: FloatArray) -> IntArray:
    """A number per row, equal for equal rows."""
    kind = np.zeros(len(rows), dtype=np.int64)
    first = np.zeros(len(rows), dtype=np.int64)
    found = 0
    for i in range(len(rows)):
        kind[i] = found
        for c in range(found):
            if np.all(rows[first[c]] == rows[i]):
                kind[i] = c
                break
        if kind[i] == found:
            first[found] = i
            found += 1
    return kind


@compiled
def _product(capacity: IntArray) -> float:
    product = 1.0
    for c in capacity:
        product *= c + 1.0
    return product


@compiled
def _shown(prior: FloatArray, rows: IntArray, values: IntArray) -> FloatArray:
    """The priors of a group's members for its values, each row scaled to a largest entry of 1."""
    weights = np.zeros((len(rows), len(values)))
    for i in range(len(rows)):
        for s in range(len(values)):
            weights[i, s] = prior[rows[i], values[s]]
        largest = weights[i].max()
        if largest > 0.0:
            weights[i] /= largest
    return weights


@compiled
def _states(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> FloatArray:
    """How many states each group has, by values or by kinds of people, whichever is fewer."""
    states = np.ones(len(counts))
    for j in range(len(counts)):
        values = np.flatnonzero(counts[j])
        by_value = _product(counts[j][values])
        if by_value > 4096.0:
            weights = _shown(prior, order[starts[j] : starts[j + 1]], values)
            by_value = min(by_value, _product(np.bincount(_kinds(weights))))
        states[j] = by_value
    return states


@compiled
def _posteriors(prior: FloatArray, counts: IntArray, order: IntArray, starts: IntArray) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        if len(rows) == 0:
            continue
        values = np.flatnonzero(counts[j])
        capacity = counts[j][values]
        weights = _shown(prior, rows, values)
        found, shares = _group(weights, capacity)
        if not found:
            status[j] = CONTRADICTED
            found, shares = _group(weights * (1.0 - DOUBT) + DOUBT, capacity)
        for i in range(len(rows)):
            belief[rows[i]] = 0.0
            for s in range(len(values)):
                belief[rows[i], values[s]] = shares[i, s]
    return belief, status


@compiled
def _group(weights: FloatArray, capacity: IntArray) -> tuple[bool, FloatArray]:
    """The marginals of one group, and whether any assignment is possible."""
    if len(capacity) == 1:
        return bool(np.all(weights > 0.0)), np.ones_like(weights)
    balanced = _balanced(weights, capacity)
    kind = _kinds(weights)
    people = np.bincount(kind)
    if _product(people) < _product(capacity):
        return _by_kind(balanced, capacity, kind, people)
    return _marginals(balanced, capacity)


@compiled
def _by_kind(weights: FloatArray, capacity: IntArray, kind: IntArray, people: IntArray) -> tuple[bool, FloatArray]:
    """The marginals where the published values come one by one, and kinds of people take them."""
    tokens = np.repeat(np.arange(len(capacity)), capacity)
    offered = np.zeros((len(tokens), len(people)))
    for i in range(len(weights)):
        for t in range(len(tokens)):
            offered[t, kind[i]] = weights[i, tokens[t]]
    found, taken = _marginals(offered, people)
    shares = np.zeros_like(weights)
    for i in range(len(weights)):
        for t in range(len(tokens)):
            shares[i, tokens[t]] += taken[t, kind[i]] / people[kind[i]]
        shares[i] /= max(shares[i].sum(), 1e-300)
    return found, shares


@compiled
def _balanced(weights: FloatArray, capacity: IntArray) -> FloatArray:
    """Rows and columns rescaled towards sums of 1 and ``capacity``.

    No posterior depends on these scales; they keep the walk's numbers near each other.
    """
    weights = weights.copy()
    for _ in range(BALANCING_ROUNDS):
        for s in range(weights.shape[1]):
            total = weights[:, s].sum()
            if total > 0.0:
                weights[:, s] *= capacity[s] / total
        for i in range(weights.shape[0]):
            total = weights[i].sum()
            if total > 0.0:
                weights[i] /= total
    return weights


@compiled
def _marginals(weights: FloatArray, capacity: IntArray) -> tuple[bool, FloatArray]:
    """Items come one by one, each takes one of the types; type s is taken ``capacity[s]`` times in the end.

    A state is how much of each type has been taken, numbered in mixed radix; states with equal totals make a layer, and
    item r leads from layer r to layer r + 1. The probability that item r takes type s sums, over the states of layer r,
    the ways there, times the weight, times the ways onward.
    """
    k, types = weights.shape
    stride = np.ones(types, dtype=np.int64)
    for s in range(1, types):
        stride[s] = stride[s - 1] * (capacity[s - 1] + 1)
    states = stride[-1] * (capacity[-1] + 1)
    order, starts = _layers(capacity, states, k)
    shares = np.zeros((k, types))

    forward = np.zeros(states)
    forward[0] = 1.0
    for r in range(k):
        largest = 0.0
        for state in order[starts[r + 1] : starts[r + 2]]:
            ways = 0.0
            for s in range(types):
                if (state // stride[s]) % (capacity[s] + 1) > 0:
                    ways += forward[state - stride[s]] * weights[r, s]
            forward[state] = ways
            largest = max(largest, ways)
        if largest == 0.0:
            return False, shares
        for state in order[starts[r + 1] : starts[r + 2]]:
            forward[state] /= largest

    backward = np.zeros(states)
    backward[states - 1] = 1.0
    for r in range(k - 1, -1, -1):
        largest = 0.0
        for state in order[starts[r] : starts[r + 1]]:
            ways = 0.0
            for s in range(types):
                if (state // stride[s]) % (capacity[s] + 1) < capacity[s]:
                    onward = weights[r, s] * backward[state + stride[s]]
                    ways += onward
                    shares[r, s] += forward[state] * onward
            backward[state] = ways
            largest = max(largest, ways)
        for state in order[starts[r] : starts[r + 1]]:
            backward[state] /= largest
        total = shares[r].sum()
        if total == 0.0:
            return False, shares
        shares[r] /= total
    return True, shares


@compiled
def _layers(capacity: IntArray, states: int, k: int) -> tuple[IntArray, IntArray]:
    """The states sorted by their totals, and where each total's run starts."""
    total = np.zeros(states, dtype=np.int64)
    size = 1
    for c in capacity:
        for digit in range(1, c + 1):
            total[digit * size : (digit + 1) * size] = total[:size] + digit
        size *= c + 1
    starts = np.zeros(k + 2, dtype=np.int64)
    for state in range(states):
        starts[total[state] + 1] += 1
    starts = np.cumsum(starts)
    order = np.zeros(states, dtype=np.int64)
    place = starts.copy()
    for state in range(states):
        order[place[total[state]]] = state
        place[total[state]] += 1
    return order, starts
