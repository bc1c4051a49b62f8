"""Starts of a sampler: paths drawn forward in time, group by group, with the messages of `MaxEntropy` from later releases.

Uniform random assignments of groups take many steps that the chain rules out, and the moves of a sampler remove them slowly. Here
each group is arranged given the values before, so that fewer such steps remain. The law of maximum entropy looks ahead: it is wider
than the joint law, because it keeps counts in expectation.
"""

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.joint_draws import Assignment, independent_start, values_beside
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.max_entropy import MaxEntropy, with_doubt
from foreknow.models.joint.messages import Factors, factors_of
from foreknow.models.joint.problem import JointProblem
from foreknow.models.joint.record_redraws import drawn_place

FITTED = MaxEntropy(tolerance=1e-2)
"""Solver whose messages look ahead."""

EXCHANGES = 30
"""Exchanges of two values of a group for each of its records."""


def later_messages(problem: JointProblem) -> FloatArray:
    """Likelihood of the later releases given the value of each record, by `MaxEntropy`: float array, shape ``(S,)``.

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
    return FITTED.fit(problem).messages.backward


def path_start(problem: JointProblem, later: FloatArray, rng: np.random.Generator) -> Assignment:
    """Random assignment of each group, given those of the earlier releases.

    Parameters
    ----------
    problem : JointProblem
        With a chain of order 1 or 0.
    later : float array, shape (S,)
        Result of `later_messages`.
    rng : numpy.random.Generator

    Notes
    -----
    A group begins at a uniform random arrangement, and pairs of its records exchange their values or keep them, in proportion to
    the weights of both. This is exact as `EXCHANGES` grows where the weights are positive. Groups with distorted values start as
    in `independent_start`. Cost: O(S + m R + R `EXCHANGES`).
    """
    random, law = independent_start(problem, rng), with_doubt(problem)[0]
    fixed = problem.constrained & (problem.emission_row < 0)
    distorted = problem.constrained & (problem.emission_row >= 0)
    kind = np.where(fixed, 1, np.where(distorted, 2, 0))
    _draw_groups(random.own, law.layout, factors_of(law), later, kind, rng)
    return Assignment(random.own, random.published, values_beside(problem.layout, random.own))


@compiled
def _draw_groups(
    own: IntArray, at: Layout, factors: Factors, later: FloatArray, kind: IntArray, rng: np.random.Generator
) -> None:
    """Draw the values of each group in the order of time: ``kind`` is 0 for free values, 1 for a multiset, 2 for no change."""
    m = at.table.shape[1]
    for g in range(len(kind)):
        first, size = at.group_starts[g], at.group_starts[g + 1] - at.group_starts[g]
        start, width = at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
        if kind[g] == 2:
            continue
        weights = np.zeros((size, m))
        for i in range(size):
            r = first + i
            p, claim = at.previous[r], factors.evidence_row[r]
            row = at.state_rows[at.state_starts[p] + _place(at, factors.group[p], own[p])] if p >= 0 else 0
            for s in range(width):
                x = at.values[start + s]
                weight = at.table[row, x] if p >= 0 else factors.prior[factors.path[r], x]
                weights[i, x] = weight * later[at.state_starts[r] + s]
                if claim >= 0:
                    weights[i, x] *= factors.evidence[claim, x]
            if kind[g] == 0:
                own[r] = drawn_place(weights[i], rng)
        if kind[g] == 1 and size > 1:
            for _ in range(EXCHANGES * size):
                a, b = int(rng.random() * size), int(rng.random() * (size - 1))
                b += b >= a
                x, y = own[first + a], own[first + b]
                keep, swap = weights[a, x] * weights[b, y], weights[a, y] * weights[b, x]
                if rng.random() * (keep + swap) < swap:
                    own[first + a], own[first + b] = y, x


@compiled
def _place(at: Layout, g: int, x: int) -> int:
    """Position of a value among the possible values of a group."""
    for s in range(at.value_starts[g + 1] - at.value_starts[g]):
        if at.values[at.value_starts[g] + s] == x:
            return s
    return 0
