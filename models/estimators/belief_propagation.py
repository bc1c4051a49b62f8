"""Bethe approximation of the exact posterior, by belief propagation between members and published values."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled
from foreknow.models.estimators.assignments import group_beliefs, weights_and_possible_pairs, write_group_beliefs
from foreknow.models.problem import CONTRADICTED, ROW_PARTS, UNCONVERGED, Posterior, Problem, group_rows
from foreknow.models.settings import check_iteration, check_range


@dataclass(frozen=True)
class BeliefPropagation:
    """Fixed point of the messages between a group's k members and its k published values.

    With A[i, j] the prior of member i for the j-th published value, messages and beliefs are::

        nu[i, j] = A[i, j] / sum over j' != j of A[i, j'] mu[j', i]        mu[j, i] = 1 / sum over i' != i of nu[i', j]
        belief[i, j] = nu[i, j] mu[j, i] / (1 + nu[i, j] mu[j, i])

    At a fixed point the belief is a minimum of the Bethe free energy, which is convex here. Equal published values have
    equal messages, which are stored once. Messages are kept as logarithms.

    Pairs that no possible assignment contains and members with one possible value are removed first. The remaining members
    fall into connected components, which share no possible value. A component of two members is computed exactly, and so is
    one whose possible pairs form a single cycle: its free energy has no single minimum.

    Where the knowledge rules out every assignment of a group, the belief is that of the same knowledge with a doubt of
    `DOUBT` mixed in, reported as `Status.CONTRADICTED`.

    Parameters
    ----------
    tolerance : float
        Largest change of a belief in an iteration at which the iteration stops.
    iterations : int
        Largest number of iterations; a group that needs more is reported as `Status.UNCONVERGED`.
    damping : float
        Weight of the old message in each iteration, at least 0 and below 1.

    Notes
    -----
    An approximation, closer to `Exact` than `Sinkhorn` where priors are sharp; exact for two members or fewer. Cost: O(k d)
    per iteration for k members and d distinct values.

    It is overconfident where members are few or knowledge is sharp. It is certain of an assignment, at finite odds, if the
    matrix of odds against it, ``A[i, value of j] / A[i, value of i]`` off the diagonal, has a spectral radius below 1. For
    example, three members with prior .8 for distinct values and .1 for each other's get belief 1, where `Exact` gives .967.

    P. Vontobel, "The Bethe permanent of a nonnegative matrix", IEEE Transactions on Information Theory 59 (2013);
    B. Huang, T. Jebara (2009).
    """

    tolerance: float = 1e-10
    iterations: int = 2_000
    damping: float = 0.2
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "membership")

    def __post_init__(self) -> None:
        check_iteration("BeliefPropagation", self.tolerance, self.iterations)
        check_range("BeliefPropagation", "damping", self.damping, 0, 1, "0.2 by default", excluded=(1,))

    def __call__(self, problem: Problem) -> Posterior:
        """Posterior of a whole release."""
        problem.refuse_evidence(self)
        order, starts = group_rows(problem.group, len(problem.counts))
        settings = (float(self.tolerance), int(self.iterations), float(self.damping))
        return Posterior(*_beliefs_and_status(problem.prior, problem.counts, order, starts, *settings))


@compiled
def _beliefs_and_status(
    prior: FloatArray,
    counts: IntArray,
    order: IntArray,
    starts: IntArray,
    tolerance: float,
    iterations: int,
    damping: float,
) -> tuple[FloatArray, IntArray]:
    belief = prior.copy()
    status = np.zeros(len(counts), dtype=np.int64)
    for j in range(len(counts)):
        rows = order[starts[j] : starts[j + 1]]
        values = np.flatnonzero(counts[j])
        possible, weights, pairs = weights_and_possible_pairs(prior, rows, values, counts[j][values])
        converged, of_group = _group(weights, pairs, counts[j][values], tolerance, iterations, damping)
        status[j] = (0 if possible else CONTRADICTED) | (0 if converged else UNCONVERGED)
        write_group_beliefs(of_group, rows, values, belief)
    return belief, status


@compiled
def _group(
    weights: FloatArray, pairs: BoolArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """True if a group's messages converged, and its beliefs, component by component."""
    # Members with one possible value have it; the others share the counts that are left, component by component.
    belief, left, undecided = np.zeros(pairs.shape), capacity.copy(), np.zeros(len(pairs), dtype=np.bool_)
    for i in range(len(pairs)):
        undecided[i] = pairs[i].sum() > 1
        if not undecided[i]:
            only = int(np.argmax(pairs[i]))
            belief[i, only] = 1.0
            left[only] -= 1
    component = _components(pairs, undecided)
    converged = True
    for number in range(component.max() + 1 if len(component) else 0):
        # Members of the component, the values left that they can have, and their weights, 0 for impossible pairs.
        rows = np.flatnonzero(component == number)
        reached = np.zeros(len(capacity), dtype=np.bool_)
        for member in rows:
            reached |= pairs[member]
        values = np.flatnonzero(reached & (left > 0))
        part = np.zeros((len(rows), len(values)))
        for row in range(len(rows)):
            for place in range(len(values)):
                if pairs[rows[row], values[place]]:
                    part[row, place] = weights[rows[row], values[place]]
        met, of_part = _component_beliefs(part, left[values], tolerance, iterations, damping)
        converged = converged and met
        for row in range(len(rows)):
            for place in range(len(values)):
                belief[rows[row], values[place]] = of_part[row, place]
    return converged, belief


@compiled
def _components(pairs: BoolArray, undecided: BoolArray) -> IntArray:
    """Number of each undecided member's connected component, through shared possible values; -1 for the others."""
    component = np.full(len(pairs), -1, dtype=np.int64)
    number = 0
    for first in range(len(pairs)):
        if component[first] >= 0 or not undecided[first]:
            continue
        reached = pairs[first].copy()
        component[first] = number
        grown = True
        while grown:
            grown = False
            for i in range(len(pairs)):
                if undecided[i] and component[i] < 0 and (pairs[i] & reached).any():
                    component[i] = number
                    reached |= pairs[i]
                    grown = True
        number += 1
    return component


@compiled
def _component_beliefs(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """True if the messages of a component converged, and its beliefs; small ones and cycles are computed exactly."""
    if len(weights) <= 2 or len(capacity) == 1:
        return group_beliefs(weights, capacity)
    pairs = weights > 0.0
    if len(capacity) == len(weights) and np.all(pairs.sum(axis=1) == 2) and np.all(pairs.sum(axis=0) == 2):
        return True, _cycle_beliefs(weights, pairs)
    return pass_messages(np.log(weights), capacity, tolerance, iterations, damping)


@compiled
def _cycle_beliefs(weights: FloatArray, pairs: BoolArray) -> FloatArray:
    """Exact beliefs of a component with two assignments: each member has two possible values, each value two members.

    The walk goes from a member to its other value and on to the other member of that value, until the cycle is closed; it
    collects the pairs of one assignment and the log-odds of that assignment.
    """
    first_assignment = np.zeros(weights.shape, dtype=np.bool_)
    member, log_odds = 0, 0.0
    value = int(np.argmax(pairs[0]))
    for _ in range(len(weights)):
        first_assignment[member, value] = True
        other = int(np.argmax(pairs[member] & (np.arange(len(weights)) != value)))
        log_odds += np.log(weights[member, value]) - np.log(weights[member, other])
        rivals = pairs[:, other].copy()
        rivals[member] = False
        member, value = int(np.argmax(rivals)), other
    probability = logistic(log_odds)
    belief = np.zeros(weights.shape)
    for i in range(len(weights)):
        for s in range(len(weights)):
            if pairs[i, s]:
                belief[i, s] = probability if first_assignment[i, s] else 1.0 - probability
    return belief


MIN_LOG_ODDS = -700.0
"""Log-odds below which a probability is 0; exp(710) overflows."""


@compiled
def pass_messages(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, FloatArray]:
    """True if the largest change of a belief fell to the tolerance, and the beliefs, with rows scaled to 1.

    Messages are kept as logarithms where plain floats would overflow or vanish (`plain_messages`).

    ``weights``, shape ``(k, d)``, are logarithms of priors, -inf for pairs that are ruled out; ``capacity``, shape ``(d,)``, is the
    count of each value.
    """
    in_range, converged, plain = plain_messages(weights, capacity, tolerance, iterations, damping)
    if in_range:
        return converged, _rows_to_one(plain)
    k, d = weights.shape
    from_members, from_values, belief = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for _ in range(iterations):
        update_members(weights, from_values, capacity, from_members)
        update_values(from_members, damping, from_values)
        change = 0.0
        for i in range(k):
            for s in range(d):
                updated = logistic(from_members[i, s] + from_values[i, s]) * capacity[s]
                change = max(change, abs(updated - belief[i, s]))
                belief[i, s] = updated
        if change <= tolerance:
            return True, _rows_to_one(belief)
    return False, _rows_to_one(belief)


@compiled
def update_members(weights: FloatArray, from_values: FloatArray, capacity: IntArray, from_members: FloatArray) -> None:
    """Write the messages of members: the weight of a value over the sum for all other published values.

    The sum includes the other published values equal to this one. Sums over the values before and after each value leave it
    out without a subtraction, in O(k d).
    """
    k, d = weights.shape
    times, equal = np.zeros(d), np.zeros(d)
    for s in range(d):
        times[s] = np.log(capacity[s])
        equal[s] = np.log(capacity[s] - 1.0) if capacity[s] > 1 else -np.inf
    before, after = np.full(d + 1, -np.inf), np.full(d + 1, -np.inf)
    for i in range(k):
        for s in range(d):
            before[s + 1] = np.logaddexp(before[s], weights[i, s] + from_values[i, s] + times[s])
        for s in range(d - 1, -1, -1):
            after[s] = np.logaddexp(after[s + 1], weights[i, s] + from_values[i, s] + times[s])
        for s in range(d):
            others = np.logaddexp(before[s], after[s + 1])
            from_members[i, s] = weights[i, s] - np.logaddexp(others, weights[i, s] + from_values[i, s] + equal[s])


@compiled
def update_values(from_members: FloatArray, damping: float, from_values: FloatArray) -> None:
    """Write the messages of values: one over the sum of the messages of all other members, damped."""
    k, d = from_members.shape
    before, after = np.zeros(k + 1), np.zeros(k + 1)
    for s in range(d):
        before[0], after[k] = -np.inf, -np.inf
        for i in range(k):
            before[i + 1] = np.logaddexp(before[i], from_members[i, s])
        for i in range(k - 1, -1, -1):
            after[i] = np.logaddexp(after[i + 1], from_members[i, s])
        for i in range(k):
            undamped = -np.logaddexp(before[i], after[i + 1])
            from_values[i, s] = damping * from_values[i, s] + (1.0 - damping) * undamped


@compiled
def logistic(log_odds: float) -> float:
    """Probability of some log-odds; 0 below `MIN_LOG_ODDS`.

    SciPy's ``expit`` cannot be called from compiled kernels.
    """
    return 1.0 / (1.0 + np.exp(-log_odds)) if log_odds > MIN_LOG_ODDS else 0.0


@compiled
def _rows_to_one(belief: FloatArray) -> FloatArray:
    for i in range(len(belief)):
        belief[i] /= belief[i].sum()
    return belief


MIN_PLAIN_MESSAGE, MAX_PLAIN_MESSAGE = 1e-140, 1e140
"""Range of weights and messages that are kept without logarithms: a product of two is a normal float."""


@compiled
def plain_messages(
    weights: FloatArray, capacity: IntArray, tolerance: float, iterations: int, damping: float
) -> tuple[bool, bool, FloatArray]:
    """True if all messages are in range, true if they converged, and the beliefs, whose columns sum to the capacities.

    The parameters are those of `pass_messages`. Cost: O(k d) for each iteration.
    """
    k, d = weights.shape
    scaled, from_members, from_values, belief = np.zeros((k, d)), np.zeros((k, d)), np.ones((k, d)), np.zeros((k, d))
    if k == 1 or d == 1:
        return False, False, belief
    # A[i, s], relative to the largest of the member.
    for i in range(k):
        largest = weights[i].max()
        for s in range(d):
            scaled[i, s] = np.exp(weights[i, s] - largest)
            if not scaled[i, s] >= MIN_PLAIN_MESSAGE:
                return False, False, belief
    before, after = np.zeros(d + 1), np.zeros(d + 1)
    above, below = np.zeros(k + 1), np.zeros(k + 1)
    for _ in range(iterations):
        # nu[i, s]: weight of a value over the sum for all other published values.
        for i in range(k):
            for s in range(d):
                before[s + 1] = before[s] + scaled[i, s] * from_values[i, s] * capacity[s]
            for s in range(d - 1, -1, -1):
                after[s] = after[s + 1] + scaled[i, s] * from_values[i, s] * capacity[s]
            for s in range(d):
                equal = scaled[i, s] * from_values[i, s] * (capacity[s] - 1.0)
                from_members[i, s] = scaled[i, s] / (before[s] + after[s + 1] + equal)
        # mu[s, i]: one over the sum of nu of all other members, damped in logarithms.
        least, largest = MAX_PLAIN_MESSAGE, MIN_PLAIN_MESSAGE
        for s in range(d):
            for i in range(k):
                above[i + 1] = above[i] + from_members[i, s]
            for i in range(k - 1, -1, -1):
                below[i] = below[i + 1] + from_members[i, s]
            for i in range(k):
                undamped = 1.0 / (above[i] + below[i + 1])
                from_values[i, s] = undamped * (from_values[i, s] / undamped) ** damping
                least = min(least, from_members[i, s], from_values[i, s])
                largest = max(largest, from_members[i, s], from_values[i, s])
        if not (least >= MIN_PLAIN_MESSAGE and largest <= MAX_PLAIN_MESSAGE):
            return False, False, belief
        # belief[i, s] = n_s nu mu / (1 + nu mu) for a value that is shown n_s times.
        change = 0.0
        for i in range(k):
            for s in range(d):
                odds = from_members[i, s] * from_values[i, s]
                updated = odds / (1.0 + odds) * capacity[s]
                change = max(change, abs(updated - belief[i, s]))
                belief[i, s] = updated
        if change <= tolerance:
            return True, True, belief
    return True, False, belief
