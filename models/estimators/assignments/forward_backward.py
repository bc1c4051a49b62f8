"""Forward-backward sums over the states of a group: total weight and marginal probabilities, without subtraction.

Items come one by one, and each takes one of d types; type s is taken ``capacity[s]`` times in all. The items are members and the
types values, or the items published values and the types kinds of members. A state is the number of items of each type taken so
far, so there are ``prod_s (capacity[s] + 1)`` states instead of k! assignments. All terms are positive: nothing cancels. Sums are
kept as logarithms where plain floats would overflow or vanish. SciPy's ``logsumexp`` cannot be called from compiled kernels;
`log_sum_exp` replaces it.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled

MAX_PLAIN_SEQUENCES = 1e100
"""Largest number of sequences of types that is summed without logarithms."""

MIN_PLAIN_WEIGHT = 1e-150
"""Smallest total weight, relative to the largest weight of each item, that is summed without logarithms.

Terms below the smallest float, 1e-308, are lost. At most `MAX_PLAIN_SEQUENCES` of them are negligible beside this weight.
"""


@compiled
def state_count(capacity: IntArray) -> float:
    """Number of states, ``prod_s (capacity[s] + 1)``, as a float."""
    product = 1.0
    for c in capacity:
        product *= c + 1.0
    return product


@compiled
def forward_backward(weights: FloatArray, capacity: IntArray) -> tuple[float, FloatArray]:
    """Logarithm of the total weight of all sequences of types, and the probability that each item takes each type.

    States are numbered in mixed radix; those with equal totals are a layer, and item r leads from layer r to layer r + 1. The
    probability that item r takes type s is the sum, over the states of layer r, of the forward weight times the weight of the
    step times the backward weight.

    Parameters
    ----------
    weights : float array, shape (k, d)
        Logarithms of the weight of each type for each item.
    capacity : int array, shape (d,)
        Sums to k.

    Returns
    -------
    float, and float array of shape (k, d)
        -inf and zeros if no sequence is possible.
    """
    stride = np.ones(len(capacity), dtype=np.int64)
    for s in range(1, len(capacity)):
        stride[s] = stride[s - 1] * (capacity[s - 1] + 1)
    states = stride[-1] * (capacity[-1] + 1)
    log_weight, belief = _plain_sums(weights, capacity, stride, states)
    if log_weight > -np.inf:
        return log_weight, belief
    order, starts = _layers(capacity, states, len(weights))
    forward = _log_forward(weights, capacity, stride, order, starts)
    if forward[-1] == -np.inf:
        return -np.inf, np.zeros(weights.shape)
    return forward[-1], _log_backward(weights, capacity, stride, order, starts, forward)


@compiled
def _plain_sums(weights: FloatArray, capacity: IntArray, stride: IntArray, states: int) -> tuple[float, FloatArray]:
    """The same sums without logarithms, ten times as fast; -inf and zeros where they would lose precision.

    The weights of each item are scaled to a maximum of 1.
    """
    k, d = weights.shape
    belief = np.zeros((k, d))
    if k * np.log(d) > np.log(MAX_PLAIN_SEQUENCES):
        return -np.inf, belief
    scaled, scale = np.zeros((k, d)), 0.0
    for r in range(k):
        largest = weights[r].max()
        if largest == -np.inf:
            return -np.inf, belief
        scale += largest
        for s in range(d):
            scaled[r, s] = np.exp(weights[r, s] - largest)
    forward = _plain_forward(scaled, capacity, stride, states)
    if forward[-1] < MIN_PLAIN_WEIGHT:
        return -np.inf, belief
    _plain_backward(scaled, capacity, stride, forward, belief)
    for r in range(k):
        belief[r] /= belief[r].sum()
    return np.log(forward[-1]) + scale, belief


@compiled
def _plain_forward(scaled: FloatArray, capacity: IntArray, stride: IntArray, states: int) -> FloatArray:
    """Weight of all sequences from the empty state to each state.

    States are visited by their numbers, so that every predecessor comes first. ``taken`` has the digits of the state's number:
    the number of items of each type; ``total`` is their sum. The inner ``while`` loop adds 1 to the number, with carries.
    """
    forward, taken, total = np.zeros(states), np.zeros(len(capacity), dtype=np.int64), 0
    forward[0] = 1.0
    for state in range(1, states):
        s = 0
        while taken[s] == capacity[s]:
            total -= taken[s]
            taken[s] = 0
            s += 1
        taken[s] += 1
        total += 1
        for s in range(len(capacity)):
            if taken[s] > 0:
                forward[state] += forward[state - stride[s]] * scaled[total - 1, s]
    return forward


@compiled
def _plain_backward(
    scaled: FloatArray, capacity: IntArray, stride: IntArray, forward: FloatArray, belief: FloatArray
) -> None:
    """Add the weight of each step to ``belief``, from the full state down; the ``while`` loop subtracts 1, with borrows."""
    backward, taken, total = np.zeros(len(forward)), capacity.copy(), capacity.sum()
    backward[-1] = 1.0
    for state in range(len(forward) - 2, -1, -1):
        s = 0
        while taken[s] == 0:
            taken[s] = capacity[s]
            total += capacity[s]
            s += 1
        taken[s] -= 1
        total -= 1
        for s in range(len(capacity)):
            if taken[s] < capacity[s]:
                step = scaled[total, s] * backward[state + stride[s]]
                backward[state] += step
                belief[total, s] += forward[state] * step


@compiled
def _log_forward(
    weights: FloatArray, capacity: IntArray, stride: IntArray, order: IntArray, starts: IntArray
) -> FloatArray:
    """Logarithm of the weight of all sequences from the empty state to each state."""
    forward = np.full(len(order), -np.inf)
    forward[0] = 0.0
    terms = np.empty(len(capacity))
    for r in range(len(weights)):
        for state in order[starts[r + 1] : starts[r + 2]]:
            for s in range(len(capacity)):
                possible = (state // stride[s]) % (capacity[s] + 1) > 0
                terms[s] = forward[state - stride[s]] + weights[r, s] if possible else -np.inf
            forward[state] = log_sum_exp(terms)
    return forward


@compiled
def _log_backward(
    weights: FloatArray, capacity: IntArray, stride: IntArray, order: IntArray, starts: IntArray, forward: FloatArray
) -> FloatArray:
    """Probability that each item takes each type, by the backward pass from the full state."""
    belief = np.zeros(weights.shape)
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
            backward[state] = log_sum_exp(terms)
            for s in range(len(capacity)):
                belief[r, s] += np.exp(forward[state] + terms[s] - forward[-1])
        belief[r] /= belief[r].sum()
    return belief


@compiled
def log_sum_exp(terms: FloatArray) -> float:
    """``log(sum(exp(terms)))``, -inf where all terms are."""
    largest = terms.max()
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for term in terms:
        total += np.exp(term - largest)
    return float(largest + np.log(total))


@compiled
def _layers(capacity: IntArray, states: int, k: int) -> tuple[IntArray, IntArray]:
    """States sorted by their totals, and the start of each total's run; a counting sort in O(states)."""
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
