"""Compiled kernels over the assignments of one group: weights, beliefs, support, best assignments."""

import math

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.problem import DOUBT

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

    The sum runs over members, with values as types, or over published values, with kinds of members as types, whichever has fewer
    states. ``weights``, shape ``(k, d)``, are logarithms of priors; ``capacity``, shape ``(d,)``, is the count of each value, at
    least 1, and sums to k; ``kind``, shape ``(k,)``, numbers members from 0, equally where their rows are equal up to a factor.
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
    # Published value t goes to a kind of members; a member of the kind has it with the kind's belief over the kind's size.
    published = np.repeat(np.arange(len(capacity)), capacity)
    weights_of_kinds, belief = np.zeros((len(published), len(members_of_kind))), np.zeros_like(weights)
    for t in range(len(published)):
        for c in range(len(members_of_kind)):
            weights_of_kinds[t, c] = weights[first[c], published[t]]
    log_weight, belief_of_kinds = forward_backward(weights_of_kinds, members_of_kind)
    for i in range(len(weights)):
        for t in range(len(published)):
            belief[i, published[t]] += belief_of_kinds[t, kind[i]] / members_of_kind[kind[i]]
        belief[i] /= max(belief[i].sum(), MIN_DIVISOR)
    return log_weight + factor + _log_permutations(members_of_kind) - _log_permutations(capacity), belief


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

    A state k is the number of items of each type, ``k_s <= n_s``. With P[r, s] the weight of type s for item r::

        F(k + e_s) += F(k) P[r, s],    B(k) += P[r, s] B(k + e_s),    belief[r, s] = sum over k of F(k) P[r, s] B(k + e_s) / W

    where r is the total of k, and W = F(n). States are numbered in mixed radix; those of total r are layer r.

    Parameters
    ----------
    weights : float array, shape (k, d)
        Logarithms of the weight of each type for each item.
    capacity : int array, shape (d,)
        n; sums to k.

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
    return _log_sums(weights, capacity, stride, states)


@compiled
def _plain_sums(weights: FloatArray, capacity: IntArray, stride: IntArray, states: int) -> tuple[float, FloatArray]:
    """The same sums without logarithms, ten times as fast; -inf and zeros where they would lose precision."""
    k, d = weights.shape
    belief = np.zeros((k, d))
    if k * np.log(d) > np.log(MAX_PLAIN_SEQUENCES):
        return -np.inf, belief
    # P[r, s], scaled to a maximum of 1 for each item.
    scaled, scale = np.zeros((k, d)), 0.0
    for r in range(k):
        largest = weights[r].max()
        if largest == -np.inf:
            return -np.inf, belief
        scale += largest
        for s in range(d):
            scaled[r, s] = np.exp(weights[r, s] - largest)
    # F: states by their numbers, so that every predecessor comes first. ``taken`` has the digits k_s, ``total`` is their sum; the
    # inner ``while`` loop adds 1 to the number, with carries.
    forward, taken, total = np.zeros(states), np.zeros(d, dtype=np.int64), 0
    forward[0] = 1.0
    for state in range(1, states):
        s = 0
        while taken[s] == capacity[s]:
            total -= taken[s]
            taken[s] = 0
            s += 1
        taken[s] += 1
        total += 1
        for s in range(d):
            if taken[s] > 0:
                forward[state] += forward[state - stride[s]] * scaled[total - 1, s]
    if forward[-1] < MIN_PLAIN_WEIGHT:  # W = F(n)
        return -np.inf, belief
    # B, and F P B, from the full state down; the ``while`` loop subtracts 1, with borrows.
    backward = np.zeros(states)
    backward[-1] = 1.0
    for state in range(states - 2, -1, -1):
        s = 0
        while taken[s] == 0:
            taken[s] = capacity[s]
            total += capacity[s]
            s += 1
        taken[s] -= 1
        total -= 1
        for s in range(d):
            if taken[s] < capacity[s]:
                step = scaled[total, s] * backward[state + stride[s]]
                backward[state] += step
                belief[total, s] += forward[state] * step
    for r in range(k):
        belief[r] /= belief[r].sum()
    return np.log(forward[-1]) + scale, belief


@compiled
def _log_sums(weights: FloatArray, capacity: IntArray, stride: IntArray, states: int) -> tuple[float, FloatArray]:
    """The same sums with logarithms, layer by layer."""
    k, d = weights.shape
    order, starts = _layers(capacity, states, k)
    forward, backward, terms = np.full(states, -np.inf), np.full(states, -np.inf), np.empty(d)
    belief = np.zeros((k, d))
    # log F
    forward[0] = 0.0
    for r in range(k):
        for state in order[starts[r + 1] : starts[r + 2]]:
            for s in range(d):
                possible = (state // stride[s]) % (capacity[s] + 1) > 0
                terms[s] = forward[state - stride[s]] + weights[r, s] if possible else -np.inf
            forward[state] = log_sum_exp(terms)
    if forward[-1] == -np.inf:
        return -np.inf, belief
    # log B, and F P B / W
    backward[-1] = 0.0
    for r in range(k - 1, -1, -1):
        for state in order[starts[r] : starts[r + 1]]:
            if forward[state] == -np.inf:
                continue
            for s in range(d):
                possible = (state // stride[s]) % (capacity[s] + 1) < capacity[s]
                terms[s] = weights[r, s] + backward[state + stride[s]] if possible else -np.inf
            backward[state] = log_sum_exp(terms)
            for s in range(d):
                belief[r, s] += np.exp(forward[state] + terms[s] - forward[-1])
        belief[r] /= belief[r].sum()
    return forward[-1], belief


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


@compiled
def possible_pairs(weights: FloatArray, capacity: IntArray) -> tuple[bool, BoolArray]:
    """True if an assignment of positive weight exists, and the pairs that occur in at least one of them, shape ``(k, d)``.

    ``weights``, shape ``(k, d)``, rules a pair out by 0; ``capacity``, shape ``(d,)``, is the count of each value, 1 or more, and
    sums to k. Where no assignment exists, the pairs are those of positive weight.

    One assignment is found by augmenting paths. Consider the directed graph on values with an edge from a member's assigned
    value to each value allowed for the member. Another pair (i, s) is possible exactly if s and the value of i lie on a common
    cycle. Cost: O(k d) where nothing is ruled out, else O(k d^2 + d^3).
    """
    allowed = weights > 0.0
    if allowed.all():
        return True, allowed
    assigned, complete = _matching(allowed, capacity)
    if not complete:
        return False, allowed
    reachable = np.zeros((len(capacity), len(capacity)), dtype=np.bool_)
    for i in range(len(assigned)):
        reachable[assigned[i]] |= allowed[i]
    for middle in range(len(capacity)):
        for s in range(len(capacity)):
            if reachable[s, middle]:
                reachable[s] |= reachable[middle]
    for i in range(len(assigned)):
        for s in range(len(capacity)):
            allowed[i, s] = allowed[i, s] and (s == assigned[i] or reachable[s, assigned[i]])
    return True, allowed


@compiled
def weights_and_possible_pairs(
    prior: FloatArray, rows: IntArray, values: IntArray, capacity: IntArray
) -> tuple[bool, FloatArray, BoolArray]:
    """True if an assignment is possible, the group's weights, and its possible pairs.

    Where no assignment is possible, a doubt of `DOUBT` is mixed into the weights and all pairs are possible.
    """
    weights = shown_priors(prior, rows, values, 0.0)
    possible, pairs = possible_pairs(weights, capacity)
    if not possible:
        weights = shown_priors(prior, rows, values, DOUBT)
        pairs = weights > 0.0
    return possible, weights, pairs


@compiled
def _matching(allowed: BoolArray, capacity: IntArray) -> tuple[IntArray, bool]:
    """Allowed value of each member within the capacities, and True if every member got one; one augmenting path a member."""
    assigned = np.full(len(allowed), -1, dtype=np.int64)
    left = capacity.copy()
    for member in range(len(allowed)):
        end, reached_by = _free_value(allowed, assigned, left, member)
        if end < 0:
            return assigned, False
        left[end] -= 1
        # Along the path each member moves to the value that was reached by it, back to the new member.
        mover = -1
        while mover != member:
            mover = reached_by[end]
            end, assigned[mover] = assigned[mover], end
    return assigned, True


@compiled
def _free_value(allowed: BoolArray, assigned: IntArray, left: IntArray, member: int) -> tuple[int, IntArray]:
    """A value with capacity left that a path from the member reaches, or -1, and the member that reached each value.

    Breadth-first search over values. From a value the search goes on to the values allowed for its holders, who are among the
    members before this one.
    """
    d = len(left)
    reached_by = np.full(d, -1, dtype=np.int64)
    queue, queued = np.zeros(d, dtype=np.int64), 0
    for s in range(d):
        if allowed[member, s]:
            reached_by[s] = member
            queue[queued] = s
            queued += 1
    place = 0
    while place < queued:
        value = queue[place]
        place += 1
        if left[value] > 0:
            return value, reached_by
        for holder in range(member):
            if assigned[holder] != value:
                continue
            for s in range(d):
                if allowed[holder, s] and reached_by[s] < 0:
                    reached_by[s] = holder
                    queue[queued] = s
                    queued += 1
    return -1, reached_by


SUM_TOLERANCE = 1e-12
"""Largest difference, for each of k members, between sums of k priors that count as equal."""


@compiled
def average_of_best(prior: FloatArray, counts: IntArray, best: IntArray, limit: int) -> tuple[float, FloatArray]:
    """Number of states of the best assignments, and the fraction of them in which each member has each value: shape ``(k, m)``.

    ``best``, shape ``(k,)``, is the value of each member in one best assignment. Any assignment within the pairs of `_tied_pairs`
    is a best one, so the fractions are exact beliefs for equal priors of these pairs. Above ``limit`` states the fractions are 0.
    """
    values = np.flatnonzero(counts)
    own = np.searchsorted(values, best)
    tied = _tied_pairs(prior[:, values], own)
    average, states = np.zeros(prior.shape), 1.0
    if tied.sum() > len(prior):
        states = min(state_count(counts[values]), state_count(np.bincount(proportional_rows(tied))))
        if states > limit:
            return states, average
        tied = group_beliefs(tied, counts[values])[1]
    for i in range(len(prior)):
        for s in range(len(values)):
            average[i, values[s]] = tied[i, s]
    return states, average


@compiled
def _tied_pairs(prior: FloatArray, own: IntArray) -> FloatArray:
    """1 for each pair that occurs in a best assignment, 0 for the others: float array, shape ``(k, d)``.

    Let member i take value s instead of its own. Then members move on from s, each to the value of the next, until the value of
    i is filled again. The pair occurs in a best assignment exactly if the least loss of such a cycle is 0: the loss of the first
    step plus the length of the shortest path between the two values.
    """
    k, d = prior.shape
    loss = np.full((d, d), np.inf)
    for i in range(k):
        for s in range(d):
            loss[own[i], s] = min(loss[own[i], s], prior[i, own[i]] - prior[i, s])
    for middle in range(d):
        for s in range(d):
            for t in range(d):
                loss[s, t] = min(loss[s, t], loss[s, middle] + loss[middle, t])
    tied = np.zeros((k, d))
    for i in range(k):
        for s in range(d):
            if s == own[i] or prior[i, own[i]] - prior[i, s] + loss[s, own[i]] <= SUM_TOLERANCE * k:
                tied[i, s] = 1.0
    return tied


@compiled
def drawn_place(weights: FloatArray, rng: np.random.Generator) -> int:
    """Position drawn with probabilities in proportion to weights, which are at least 0 and not all 0."""
    rest, chosen = rng.random() * weights.sum(), 0
    for place in range(len(weights)):
        if weights[place] > 0.0:
            chosen = place
            rest -= weights[place]
            if rest < 0.0:
                break
    return chosen


@compiled
def group_sums(rows: FloatArray, group: IntArray, groups: int) -> FloatArray:
    """Sum of the rows of each group: float array, shape ``(g, m)``. Rows of group -1 are left out. Cost: O(n m)."""
    sums = np.zeros((groups, rows.shape[1]))
    for i in range(len(rows)):
        if group[i] >= 0:
            for s in range(rows.shape[1]):
                sums[group[i], s] += rows[i, s]
    return sums
