"""Messages along the paths of a joint problem, and the tilts of its groups, as compiled kernels read and overwrite them."""

from typing import NamedTuple

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.joint.layout import Layout
from foreknow.models.joint.problem import JointProblem


class Factors(NamedTuple):
    """Factors of a joint problem beside those of the groups: priors of paths, evidence, and channels of distorted values."""

    path: IntArray
    group: IntArray
    prior: FloatArray
    evidence: FloatArray
    evidence_row: IntArray
    emission: FloatArray
    emission_row: IntArray


class Messages(NamedTuple):
    """Messages of the tilted law of all paths.

    Attributes
    ----------
    forward : float array, shape (S,)
        Law of the state of each record given the earlier records, its evidence and the tilts up to it; sums to 1.
    backward : float array, shape (S,)
        Likelihood of the later records given the state of each record, scaled to a maximum of 1.
    tilt : float array, shape (V,)
        Factor of each published value of each group; 1 in groups that publish nothing.
    """

    forward: FloatArray
    backward: FloatArray
    tilt: FloatArray


def factors_of(problem: JointProblem) -> Factors:
    """Factors of a problem."""
    return Factors(
        problem.path,
        problem.group,
        problem.prior,
        problem.evidence,
        problem.evidence_row,
        problem.emission,
        problem.emission_row,
    )


def first_messages(problem: JointProblem) -> Messages:
    """Messages before any iteration: all 1, and tilts 0 for values that a group does not publish."""
    at = problem.layout
    constrained = np.repeat(problem.constrained, np.diff(at.value_starts))
    states = int(at.state_starts[-1])
    return Messages(np.ones(states), np.ones(states), np.where(constrained & (at.shown == 0), 0.0, 1.0))


def copied(messages: Messages) -> Messages:
    """Copy of messages, which an iteration may overwrite."""
    return Messages(*(part.copy() for part in messages))


@compiled
def multiply_evidence(message: FloatArray, r: int, start: int, width: int, at: Layout, factors: Factors) -> None:
    """Multiply the evidence of a record into a message over its states."""
    row = factors.evidence_row[r]
    if row >= 0:
        for begin in range(0, len(message), width):
            for s in range(width):
                message[begin + s] *= factors.evidence[row, at.values[start + s]]
