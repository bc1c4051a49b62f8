"""The weight of all assignments of a group, and each pair's share of it: permanents, without subtraction.

Instead of the k! assignments of k people to k published values one walks the states of a group: how much of each value
is still to be given away as the people come one by one, or how many of each kind of person are still without a value as
the values come one by one. All terms are positive, so nothing cancels, and sums are kept as logarithms, so nothing
overflows or vanishes. Everything here is compiled, and takes one group: ``weights`` of shape ``(k, d)`` for its k people
and the d distinct values it shows, ``capacity`` of shape ``(d,)``, how often it shows each.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

MOST_KINDS = 64


@compiled
def shown(prior: FloatArray, rows: IntArray, values: IntArray, doubt: float) -> FloatArray:
    """The priors of a group's members for its values, with some of the uniform distribution mixed in."""
    weights = np.zeros((len(rows), len(values)))
    for i in range(len(rows)):
        for s in range(len(values)):
            weights[i, s] = (1.0 - doubt) * prior[rows[i], values[s]] + doubt / prior.shape[1]
    return weights


@compiled
def pair_shares(weights: FloatArray, capacity: IntArray) -> tuple[bool, FloatArray]:
    """The probability that each person has each value, shape ``(k, d)``, and whether any assignment is possible at all."""
    if len(capacity) == 1:
        return bool(np.all(weights > 0.0)), np.ones_like(weights)
    kind = kinds(weights)
    people = np.bincount(kind)
    if state_count(people) < state_count(capacity):
        return _by_kind(np.log(weights), capacity, kind, people)
    return marginals(np.log(weights), capacity)


@compiled
def kinds(rows: FloatArray) -> IntArray:
    """A number per row, equal for rows that are multiples of each other: no posterior tells them apart.

    After `MOST_KINDS`, which make more states than any machine holds, every row is taken for a kind of its own.
    """
    scaled = np.zeros_like(rows)
    kind = np.zeros(len(rows), dtype=np.int64)
    first = np.zeros(len(rows), dtype=np.int64)
    found = 0
    for i in range(len(rows)):
        largest = rows[i].max()
        if largest > 0.0:
            scaled[i] = rows[i] / largest
        kind[i] = found
        for c in range(found if found <= MOST_KINDS else 0):
            if np.all(scaled[first[c]] == scaled[i]):
                kind[i] = c
                break
        if kind[i] == found:
            first[found] = i
            found += 1
    return kind


@compiled
def state_count(capacity: IntArray) -> float:
    """How many states there are: how much of each type may be taken, independently."""
    product = 1.0
    for c in capacity:
        product *= c + 1.0
    return product


@compiled
def _by_kind(weights: FloatArray, capacity: IntArray, kind: IntArray, people: IntArray) -> tuple[bool, FloatArray]:
    """The marginals where the published values come one by one, and kinds of people take them."""
    tokens = np.repeat(np.arange(len(capacity)), capacity)
    offered = np.zeros((len(tokens), len(people)))
    for i in range(len(weights)):
        for t in range(len(tokens)):
            offered[t, kind[i]] = weights[i, tokens[t]]
    found, taken = marginals(offered, people)
    shares = np.zeros_like(weights)
    for i in range(len(weights)):
        for t in range(len(tokens)):
            shares[i, tokens[t]] += taken[t, kind[i]] / people[kind[i]]
        shares[i] /= max(shares[i].sum(), 1e-300)
    return found, shares


@compiled
def marginals(weights: FloatArray, capacity: IntArray) -> tuple[bool, FloatArray]:
    """Items come one by one, each takes one of the types; type s is taken ``capacity[s]`` times in the end.

    ``weights`` are logarithms, shape ``(items, types)``. A state is how much of each type has been taken, numbered in
    mixed radix; states with equal totals make a layer, and item r leads from layer r to layer r + 1. The probability that
    item r takes type s sums, over the states of layer r, the ways there, times the weight, times the ways onward.
    """
    stride = np.ones(len(capacity), dtype=np.int64)
    for s in range(1, len(capacity)):
        stride[s] = stride[s - 1] * (capacity[s - 1] + 1)
    states = stride[-1] * (capacity[-1] + 1)
    order, starts = layers(capacity, states, len(weights))
    forward = ways_there(weights, capacity, stride, order, starts)
    if forward[-1] == -np.inf:
        return False, np.zeros(weights.shape)
    return True, _taken(weights, capacity, stride, order, starts, forward)


@compiled
def ways_there(
    weights: FloatArray, capacity: IntArray, stride: IntArray, order: IntArray, starts: IntArray
) -> FloatArray:
    """The logarithm of the weight of all ways from the empty state to each."""
    forward = np.full(len(order), -np.inf)
    forward[0] = 0.0
    terms = np.empty(len(capacity))
    for r in range(len(weights)):
        for state in order[starts[r + 1] : starts[r + 2]]:
            for s in range(len(capacity)):
                possible = (state // stride[s]) % (capacity[s] + 1) > 0
                terms[s] = forward[state - stride[s]] + weights[r, s] if possible else -np.inf
            forward[state] = log_sum(terms)
    return forward


@compiled
def _taken(
    weights: FloatArray,
    capacity: IntArray,
    stride: IntArray,
    order: IntArray,
    starts: IntArray,
    forward: FloatArray,
) -> FloatArray:
    """Each item's probabilities, gathered on the way back from the full state."""
    shares = np.zeros(weights.shape)
    backward = np.full(len(order), -np.inf)
    backward[-1] = 0.0
    terms = np.empty(len(capacity))
    for r in range(len(weights) - 1, -1, -1):
        for state in order[starts[r] : starts[r + 1]]:
            if forward[state] == -np.inf:
                continue
            for s in range(len(capacity)):
                possible = (state // stride[s]) % (capacity[s] + 1) < capacity[s]
                terms[s] = weights[r, s] + backward[state + stride[s]] if possible else -np.inf
            backward[state] = log_sum(terms)
            for s in range(len(capacity)):
                shares[r, s] += np.exp(forward[state] + terms[s] - forward[-1])
        shares[r] /= shares[r].sum()
    return shares


@compiled
def log_sum(terms: FloatArray) -> float:
    """The logarithm of the sum of numbers given by theirs."""
    largest = terms.max()
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for term in terms:
        total += np.exp(term - largest)
    return float(largest + np.log(total))


@compiled
def layers(capacity: IntArray, states: int, k: int) -> tuple[IntArray, IntArray]:
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
