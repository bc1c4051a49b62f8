"""Exact joint posterior, by enumeration of the states of each component."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.arguments import check_state_limit
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.joint.components import components
from foreknow.models.joint.elimination import Elimination, LogFactors, eliminate, log_factors, value_weights
from foreknow.models.joint.posterior import JointPosterior, belief_starts
from foreknow.models.joint.problem import JointProblem, check_joint_problem
from foreknow.models.joint.solver import forward_by_prefixes
from foreknow.models.problem import CONTRADICTED, DOUBT


@dataclass(frozen=True)
class Enumeration:
    """Exact posterior of the joint law, for small histories and closed cohorts.

    The law is a product over connected components of respondents who share groups. In each, the values of the records are summed
    over one by one, forward and backward in time. A state has the last d values of each respondent who appears again, and the
    counts that the current group has left to publish. A closed cohort of k respondents with distinct values has about
    ``(k! / (k/2)!)^2`` states in the middle of a release: 144 for k = 4, 14,400 for 6, 2.8 million for 8.

    Where the knowledge rules out every assignment of a component, the beliefs are those of the same knowledge with a doubt of
    `DOUBT` mixed in, and the groups of its records have `Status.CONTRADICTED`.

    Parameters
    ----------
    limit : int
        Largest number of transitions of one component: pairs of a state and a value of the next record. Memory: about 60 bytes for
        each. 2^22 take some seconds.

    Raises
    ------
    TooLarge
        When called, if a component exceeds the limit; the message names its respondents and groups.
    ValueError
        If the limit is not a whole number in its range.
    TypeError
        When called with anything but a `JointProblem`.

    Notes
    -----
    Exact to rounding: all terms are positive, and sums are kept as logarithms. Cost: O(transitions * respondents of the component).

    Examples
    --------
    Two respondents who keep their values, known apart at the second release:

    >>> stays = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    >>> prior = np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> problem = JointProblem(
    ...     prior, (stays,), path=[0, 1, 0, 1], group=[0, 0, 1, 2], chain=[0, 0, 0, 0],
    ...     counts=[[1, 1], [1, 0], [0, 1]], release=[0, 1, 1],
    ... )
    >>> Enumeration()(problem).rows(np.array([0, 1])).round(3).tolist()
    [[0.988, 0.012], [0.012, 0.988]]
    """

    limit: int = 2**22
    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_state_limit("Enumeration", self.limit)

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history."""
        check_joint_problem(self, problem)
        found = enumerate_components(problem, self.limit, stop=True)
        if len(found.unfit):
            raise TooLarge(_too_large(problem, found.unfit, int(self.limit)))
        gap = np.zeros(len(problem.counts))
        return JointPosterior(
            problem, found.beliefs, found.status, gap, rule="Enumeration", log_evidence=found.log_evidence
        )

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it; each prefix is solved anew."""
        check_joint_problem(self, problem)
        return forward_by_prefixes(self, problem)


class Enumerated(NamedTuple):
    """Result of `enumerate_components`.

    Attributes
    ----------
    beliefs : float array, shape (B,)
        Those of records left out are 0.
    status : int array, shape (G,)
    unfit : int array
        Records of components that exceed the limit, ascending.
    log_evidence : float
        Log-probability of the published counts of the enumerated components.
    """

    beliefs: FloatArray
    status: IntArray
    unfit: IntArray
    log_evidence: float


def enumerate_components(problem: JointProblem, limit: int, stop: bool) -> Enumerated:
    """Beliefs by enumeration of each component whose transitions are within a limit.

    Parameters
    ----------
    problem : JointProblem
    limit : int
    stop : bool
        True to stop at the first component that exceeds the limit.
    """
    starts = belief_starts(problem)
    beliefs, status = np.zeros(starts[-1]), np.zeros(len(problem.counts), dtype=np.int64)
    unfit: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    log_evidence = 0.0
    parts, factors, doubtful = components(problem), log_factors(problem), log_factors(problem, DOUBT)
    for component in range(len(parts)):
        records = parts.records(component)
        solved = _solve(problem, records, factors, doubtful, limit)
        if solved is None:
            unfit.append(records)
            if stop:
                break
            continue
        elimination, contradicted = solved
        log_evidence += elimination.log_total
        status[problem.group[records]] |= CONTRADICTED if contradicted else 0
        for record, belief in value_weights(elimination, np.diff(starts)):
            beliefs[starts[record] : starts[record + 1]] = belief
    return Enumerated(beliefs, status, np.sort(np.concatenate(unfit)), log_evidence)


def _solve(
    problem: JointProblem, records: IntArray, factors: LogFactors, doubtful: LogFactors, limit: int
) -> tuple[Elimination, bool] | None:
    """Elimination of a component, and True if doubt had to be mixed in; None above the limit."""
    elimination = eliminate(problem, factors, records, limit)
    contradicted = elimination is not None and elimination.log_total == -np.inf
    if contradicted:
        elimination = eliminate(problem, doubtful, records, limit)
    return None if elimination is None else (elimination, contradicted)


def _too_large(problem: JointProblem, records: IntArray, limit: int) -> str:
    paths, groups = np.unique(problem.path[records]), np.unique(problem.group[records])
    return Advice(
        f"the component of {len(paths)} respondents (paths {_first(paths)}) who share {len(groups)} groups ({_first(groups)}) has "
        f"more than {limit} transitions between joint states. ",
        Wording(
            "Use MaxEntropy() or PathSampler(rng=...), which approximate, JointAuto(), which enumerates only small components, or "
            "Enumeration(limit=...) if there is memory (60 bytes each).",
            "Choose --solver auto.",
        ),
    )


def _first(numbers: IntArray) -> str:
    return ", ".join(map(str, numbers[:6].tolist())) + (", ..." if len(numbers) > 6 else "")
