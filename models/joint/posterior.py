"""Posterior of a joint problem."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.problem import JointProblem
from foreknow.models.settings import as_floats
from foreknow.models.tables.arguments import as_integers

if TYPE_CHECKING:
    from foreknow.models.joint.solver import JointSolver


@equal_by_fields
@dataclass(frozen=True, eq=False)
class JointPosterior:
    """Posterior beliefs about all records of a history.

    Attributes
    ----------
    problem : JointProblem
    beliefs : float array, shape (B,)
        Belief in each possible value of each record; those of record r are at ``starts[r]`` to ``starts[r + 1]``.
    status : int array, shape (G,)
        `Status` of each group.
    gap : float array, shape (G,)
        Share of the records of each group by which its expected counts differ from the published ones (total variation); 0 for
        solvers that keep the counts.
    rounds : int
        Sweeps of an iteration.
    standard_error, ess, rhat : float array, shape (B,), optional
        Monte Carlo diagnostics of each belief, from solvers that sample.
    rule : str
        Name of the solver.
    log_evidence : float, optional
        Logarithm of the probability of all published counts, from exact solvers.
    log_tilted : float, optional
        Negative dual of minimum relative entropy, from `MaxEntropy`. `joint_log_evidence` completes it.
    relaxed : JointPosterior, optional
        Posterior of `MaxEntropy` with which the solver started; `joint_log_evidence` reads it.
    approximation : joint solver, optional
        `MaxEntropy` or `GroupMessages`, where it approximates the law of some records.
    """

    problem: JointProblem
    beliefs: FloatArray
    status: IntArray
    gap: FloatArray
    rounds: int = 0
    standard_error: FloatArray | None = None
    ess: FloatArray | None = None
    rhat: FloatArray | None = None
    rule: str = ""
    log_evidence: float | None = None
    log_tilted: float | None = None
    relaxed: "JointPosterior | None" = None
    approximation: "JointSolver | None" = None

    @property
    def starts(self) -> IntArray:
        """Position of the first belief of each record, and the number of beliefs: int array, shape ``(R + 1,)``."""
        return belief_starts(self.problem)

    def rows(self, records: IntArray, numbers: FloatArray | None = None) -> FloatArray:
        """Beliefs about some records over the whole domain: float array, shape ``(len(records), m)``."""
        records = as_integers("the records of JointPosterior.rows", records, (None,), "row numbers")
        if records.size and not (records.min() >= 0 and records.max() < len(self.problem.group)):
            wrong = records.min() if records.min() < 0 else records.max()
            raise ValueError(
                f"JointPosterior.rows: record {wrong} is not one of the {len(self.problem.group)} records; records are numbers "
                "from 0 on."
            )
        at, group = self.problem.layout, self.problem.group[records]
        width = np.diff(at.value_starts)[group]
        row = np.repeat(np.arange(len(records)), width)
        place = np.arange(len(row)) - np.repeat(np.cumsum(width) - width, width)
        dense = np.zeros((len(records), self.problem.values))
        source = self.beliefs if numbers is None else self._numbers(numbers)
        dense[row, at.values[at.value_starts[group][row] + place]] = source[self.starts[records][row] + place]
        return dense

    def _numbers(self, numbers: FloatArray) -> FloatArray:
        """Check numbers that replace the beliefs."""
        takes = "is a float array, one number for each of the beliefs"
        checked = as_floats("JointPosterior.rows", "numbers", numbers, takes)
        if checked.shape != self.beliefs.shape:
            raise ValueError(
                f"JointPosterior.rows: numbers has the shape {checked.shape}; it {takes}, shape {self.beliefs.shape}."
            )
        return checked


def belief_starts(problem: JointProblem) -> IntArray:
    """Position of the first belief of each record, in record order, and the number of beliefs."""
    width = np.diff(problem.layout.value_starts)[problem.group]
    return np.concatenate([[0], np.cumsum(width)]).astype(np.int64)


def record_beliefs(problem: JointProblem, states: FloatArray) -> FloatArray:
    """Beliefs in the last value of each state: normalized sums over the states of each record, shape ``(B,)``."""
    at, starts = problem.layout, belief_starts(problem)
    width = np.diff(starts)
    record = np.repeat(np.arange(len(width)), np.diff(at.state_starts))
    place = (np.arange(len(record)) - at.state_starts[record]) % width[record]
    beliefs = np.bincount(starts[record] + place, weights=states, minlength=int(starts[-1]))
    totals = np.add.reduceat(beliefs, starts[:-1]) if len(width) else beliefs
    return np.asarray(beliefs / np.repeat(totals, width))
