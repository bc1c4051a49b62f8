"""The weight of all assignments of a group, and each pair's share of it: permanents, without subtraction.

Instead of the k! assignments of k people to k published values one walks the states of a group: how much of each value
is still to be given away as the people come one by one, or how many of each kind of person are still without a value as
the values come one by one. All terms are positive, so nothing cancels, and sums are kept as logarithms, so nothing
overflows or vanishes; where plain numbers cannot either, they are used. Everything here is compiled, and takes one group:
``weights`` of shape ``(k, d)`` for its k people and the d distinct values it shows, ``capacity`` of shape ``(d,)``, how often
it shows each.
"""

import math

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

MOST_KINDS = 64

MOST_WAYS, LEAST_WHOLE = 1e100, 1e-150
"""Up to how many ways, and down to which weight of them all, a group is walked without logarithms."""


@compiled
def shown(prior: FloatArray, rows: IntArray, values: IntArray, doubt: float) -> FloatArray:
    """The priors of a group's members for its values, with some of the uniform distribution mixed in."""
    weights = np.zeros((len(rows), len(values)))
    for i in range(len(rows)):
        for s in range(len(values)):
            weights[i, s] = (1.0 - doubt) * prior[rows[i], values[s]] + doubt / prior.shape[1]
    return weights


@compiled
def put(shares: FloatArray, rows: IntArray, values: IntArray, belief: FloatArray) -> None:
    """Write a group's shares of its shown values into the rows of its members; values it does not show get 0."""
    for i in range(len(rows)):
        belief[rows[i]] = 0.0
        for s in range(len(values)):
            belief[rows[i], values[s]] = shares[i, s]


@compiled
def pair_shares(weights: FloatArray, capacity: IntArray) -> tuple[bool, FloatArray]:
    """The probability that each person has each value, shape ``(k, d)``, and whether any assignment is possible at all."""
    if len(capacity) == 1:
        return bool(np.all(weights > 0.0)), np.ones_like(weights)
    weight, shares = weight_and_shares(np.log(weights), capacity, kinds(weights))
    return weight > -np.inf, shares


@compiled
def weight_and_shares(weights: FloatArray, capacity: IntArray, kind: IntArray) -> tuple[float, FloatArray]:
    """The logarithm of the weight of all distinct assignments, and the probability of each pair, shape ``(k, d)``.

    ``weights`` are logarithms; people of one ``kind`` (numbers from 0) have the same, up to a factor each.
    """
    people = np.bincount(kind)
    if state_count(people) >= state_count(capacity):
        return walk(weights, capacity)
    tokens = np.repeat(np.arange(len(capacity)), capacity)
    offered, factor = np.zeros((len(tokens), len(people))), 0.0
    first = np.full(len(people), -1, dtype=np.int64)
    for i in range(len(weights)):
        if weights[i].max() == -np.inf:
            return -np.inf, np.zeros_like(weights)
        if first[kind[i]] < 0:
            first[kind[i]] = i
            for t in range(len(tokens)):
                offered[t, kind[i]] = weights[i, tokens[t]]
        factor += weights[i].max() - weights[first[kind[i]]].max()
    whole, taken = walk(offered, people)
    shares = np.zeros_like(weights)
    for i in range(len(weights)):
        for t in range(len(tokens)):
            shares[i, tokens[t]] += taken[t, kind[i]] / people[kind[i]]
        shares[i] /= max(shares[i].sum(), 1e-300)
    return whole + factor + _log_orders(people) - _log_orders(capacity), shares


@compiled
def _log_orders(capacity: IntArray) -> float:
    """The logarithm of the number of orders in which things of some types, all told apart, can stand."""
    total = 0.0
    for c in capacity:
        total += math.lgamma(c + 1.0)
    return total


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
def walk(weights: FloatArray, capacity: IntArray) -> tuple[float, FloatArray]:
    """Items come one by one, each takes one of the types; type s is taken ``capacity[s]`` times in the end.

    ``weights`` are logarithms, shape ``(items, types)``. A state is how much of each type has been taken, numbered in
    mixed radix; states with equal totals make a layer, and item r leads from layer r to layer r + 1. The probability that
    item r takes type s sums, over the states of layer r, the ways there, times the weight, times the ways onward. Returned
    are the logarithm of the weight of all ways, -inf if there is none, and these probabilities.
    """
    stride = np.ones(len(capacity), dtype=np.int64)
    for s in range(1, len(capacity)):
        stride[s] = stride[s - 1] * (capacity[s - 1] + 1)
    states = stride[-1] * (capacity[-1] + 1)
    whole, shares = _plain_walk(weights, capacity, stride, states)
    if whole > -np.inf:
        return whole, shares
    order, starts = _layers(capacity, states, len(weights))
    forward = _ways_there(weights, capacity, stride, order, starts)
    if forward[-1] == -np.inf:
        return -np.inf, np.zeros(weights.shape)
    return forward[-1], _taken(weights, capacity, stride, order, starts, forward)


@compiled
def _plain_walk(weights: FloatArray, capacity: IntArray, stride: IntArray, states: int) -> tuple[float, FloatArray]:
    """The same walk without logarithms, ten times as fast; -inf where that would not be safe.

    Each item's weights are scaled to a largest of 1, so that with at most `MOST_WAYS` ways what vanishes below the smallest
    number is nothing beside a whole of at least `LEAST_WHOLE`. States are visited in the order of their numbers, which
    leads from less to more; ``digits`` is how much of each type a state has taken, ``r`` how much of all.
    """
    k, d = weights.shape
    shares, forward, backward = np.zeros((k, d)), np.zeros(states), np.zeros(states)
    if k * np.log(d) > np.log(MOST_WAYS):
        return -np.inf, shares
    scaled, scale = np.zeros((k, d)), 0.0
    for r in range(k):
        largest = weights[r].max()
        if largest == -np.inf:
            return -np.inf, shares
        scale += largest
        for s in range(d):
            scaled[r, s] = np.exp(weights[r, s] - largest)
    forward[0], backward[-1] = 1.0, 1.0
    digits, r = np.zeros(d, dtype=np.int64), 0
    for state in range(1, states):
        s = 0
        while digits[s] == capacity[s]:
            r -= digits[s]
            digits[s] = 0
            s += 1
        digits[s] += 1
        r += 1
        for s in range(d):
            if digits[s] > 0:
                forward[state] += forward[state - stride[s]] * scaled[r - 1, s]
    if forward[-1] < LEAST_WHOLE:
        return -np.inf, shares
    for state in range(states - 2, -1, -1):
        s = 0
        while digits[s] == 0:
            digits[s] = capacity[s]
            r += capacity[s]
            s += 1
        digits[s] -= 1
        r -= 1
        for s in range(d):
            if digits[s] < capacity[s]:
                onward = scaled[r, s] * backward[state + stride[s]]
                backward[state] += onward
                shares[r, s] += forward[state] * onward
    for r in range(k):
        shares[r] /= shares[r].sum()
    return np.log(forward[-1]) + scale, shares


@compiled
def _ways_there(
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
