"""Law of the values of counterfeits in a joint problem, estimated together with the beliefs."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.group_rows import group_sums
from foreknow.models.joint.posterior import JointPosterior
from foreknow.models.joint.problem import JointProblem
from foreknow.models.mechanisms.counterfeits import (
    assignment_weights,
    counterfeit_weights,
    normalized_rows,
    signature_numbers,
)
from foreknow.models.problem import UNCONVERGED

MAX_SOLUTIONS = 20
"""Largest number of solutions of the joint problem."""

SOLUTION_TOLERANCE = 1e-2
"""Largest change of the expected number of counterfeits of a value in a group at which the estimation stops."""


def solve_with_counterfeits(problem: JointProblem, solve: Callable[[JointProblem], JointPosterior]) -> JointPosterior:
    """Posterior of a joint problem whose counterfeits replace missing records (`counterfeit_posterior`).

    Parameters
    ----------
    problem : JointProblem
        Counterfeits are the paths after its ``respondents``.
    solve : function of a JointProblem to a JointPosterior
        It is called once if there are no counterfeits, and otherwise until their law does not change.

    Returns
    -------
    JointPosterior
        ``UNCONVERGED`` is set in groups with counterfeits if the law still changed after `MAX_SOLUTIONS` solutions.

    Notes
    -----
    The law of one release is that of `counterfeit_posterior`; expected numbers are those given all releases that ``solve`` reads.
    Approximate. Cost: that of each solution and O(G m).
    """
    invented = np.flatnonzero(problem.path >= problem.respondents)
    if not len(invented):
        return solve(problem)
    group = problem.group[invented]
    number = np.bincount(group, minlength=len(problem.counts))
    expected = problem.counts * (number / np.maximum(problem.counts.sum(axis=1), 1))[:, None]
    change = np.inf
    for _ in range(MAX_SOLUTIONS):
        prior = problem.prior.copy()
        prior[problem.path[invented]] = _weights(problem, expected)[group]
        posterior = solve(replace(problem, prior=prior))
        sums = group_sums(posterior.rows(invented), group, len(problem.counts))
        previous, expected = expected, np.minimum(sums, problem.counts)
        change = float(np.abs(expected - previous).max(initial=0.0))
        if change <= SOLUTION_TOLERANCE:
            break
    late = (number > 0) & (change > SOLUTION_TOLERANCE)
    return replace(posterior, status=np.where(late, posterior.status | UNCONVERGED, posterior.status))


def _weights(problem: JointProblem, expected: FloatArray) -> FloatArray:
    """Distribution of a counterfeit of each group, from the other groups of its release: float array, shape ``(G, m)``."""
    weights = np.full(expected.shape, 1.0 / problem.values)
    starts: IntArray = problem.layout.release_starts
    for t in range(problem.releases):
        part = slice(starts[t], starts[t + 1])
        counts, here = problem.counts[part], expected[part]
        signature = signature_numbers(counts)
        rows = counterfeit_weights(counts, here, signature) * assignment_weights(counts, here, signature)
        weights[part] = np.where(rows.any(axis=1, keepdims=True), normalized_rows(rows), weights[part])
    return weights
