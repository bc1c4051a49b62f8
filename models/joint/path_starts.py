"""Starts of a sampler: whole paths drawn from the law of `MaxEntropy`, repaired so that every group shows its multiset.

The law of maximum entropy is wider than the joint law, because it keeps counts in expectation. Its draws are overdispersed starts
(Gelman and Rubin 1992), and nearer to the joint law than uniform random assignments.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.joint_draws import Assignment, independent_start, values_beside
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.max_entropy import MaxEntropy
from foreknow.models.joint.messages import Messages
from foreknow.models.joint.problem import JointProblem

FITTED = MaxEntropy(tolerance=1e-2)
"""Solver whose law the paths are drawn from."""


def fitted_messages(problem: JointProblem) -> Messages:
    """Messages of the law of maximum entropy, from which `path_start` draws. Cost: that of `MaxEntropy`.

    Raises
    ------
    ValueError
        If the chain of values is of an order over 1.
    """
    if problem.order > 1:
        raise ValueError(
            f"PathSampler: start='paths' draws the paths of chains of order 1, and this chain has order {problem.order}. Use "
            "start='random'."
        )
    return FITTED.fit(problem).messages


def path_start(problem: JointProblem, messages: Messages, rng: np.random.Generator) -> Assignment:
    """Random assignment of each group: paths from a fitted law, and other values where a group lacks or repeats one.

    Parameters
    ----------
    problem : JointProblem
        With a chain of order 1 or 0.
    messages : Messages
        As `fitted_messages` returns them.
    rng : numpy.random.Generator

    Notes
    -----
    Where a group has more records of a value than it shows, random ones of these get the missing values in random order. Groups
    with distorted values start as in `independent_start`. Cost: O(S d + R).
    """
    random = independent_start(problem, rng)
    own = np.zeros(len(problem.path), dtype=np.int64)
    _draw_paths(own, problem.layout, problem.group, messages.forward, rng)
    distorted = problem.constrained & (problem.emission_row >= 0)
    own[distorted[problem.group]] = random.own[distorted[problem.group]]
    shown = np.where((problem.constrained & ~distorted)[:, None], problem.counts, -1)
    _repair(own, problem.layout.group_starts, np.ascontiguousarray(shown, dtype=np.int64), rng)
    return Assignment(own, random.published, values_beside(problem.layout, own))


@compiled
def _draw_paths(own: IntArray, at: Layout, group: IntArray, forward: FloatArray, rng: np.random.Generator) -> None:
    """Backward sampling: the last value of each path from its filtered law, and each earlier one given the value after it."""
    weights = np.zeros(at.table.shape[1] + 1)
    for r in range(len(own) - 1, -1, -1):
        start, low, after = at.value_starts[group[r]], at.state_starts[r], at.following[r]
        width, total = at.state_starts[r + 1] - low, 0.0
        for s in range(width):
            weights[s] = forward[low + s] * (at.table[at.state_rows[low + s], own[after]] if after >= 0 else 1.0)
            total += weights[s]
        rest, place = rng.random() * total, 0
        while place < width - 1 and rest >= weights[place]:
            rest -= weights[place]
            place += 1
        own[r] = at.values[start + place]


@compiled
def _repair(own: IntArray, group_starts: IntArray, shown: IntArray, rng: np.random.Generator) -> None:
    """Give random records of values that a group has too often the values that it lacks; ``shown`` is -1 for groups to leave."""
    m = shown.shape[1]
    order, missing = np.zeros(len(own), dtype=np.int64), np.zeros(len(own), dtype=np.int64)
    lacking = np.zeros(m, dtype=np.int64)
    for g in range(len(shown)):
        first, size = group_starts[g], group_starts[g + 1] - group_starts[g]
        if shown[g, 0] < 0:
            continue
        lacking[:] = shown[g]
        for i in range(size):
            other = int(rng.random() * (i + 1))
            order[i], order[other] = order[other], first + i
            lacking[own[first + i]] -= 1
        loose = 0
        for i in range(size):
            if lacking[own[order[i]]] < 0:
                lacking[own[order[i]]] += 1
                order[loose] = order[i]
                loose += 1
        number = 0
        for x in range(m):
            for _ in range(lacking[x]):
                other = int(rng.random() * (number + 1))
                missing[number], missing[other] = missing[other], x
                number += 1
        for i in range(number):
            own[order[i]] = missing[i]
