"""Posterior of a joint problem, the protocol of its solvers, and the beliefs about each release that follow from it."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.equality import equal_by_fields
from foreknow.models.joint.building import JointHistory
from foreknow.models.joint.problem import JointProblem, first_releases
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.personal_transitions import chains_at, classes_of
from foreknow.models.problem import Posterior
from foreknow.models.progress import Progress
from foreknow.models.settings import as_floats, check_flag, check_kind, shown
from foreknow.models.tables.arguments import as_integers


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


class JointSolver(Protocol):
    """Rule that computes the posterior of a joint problem; a frozen settings object."""

    exact: ClassVar[bool]
    """True if it computes the Bayesian posterior without approximation."""

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given all releases."""
        ...

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it."""
        ...


def check_is_solver(owner: str, name: str, value: Any) -> None:
    """Raise TypeError unless a setting is a solver object."""
    if isinstance(value, type) or not callable(value) or not hasattr(value, "forward"):
        raise TypeError(
            f"{owner}: {name} is {shown(value)}; it is a joint solver, as MaxEntropy() or PathSampler(rng=1)."
        )


def with_progress(solver: JointSolver, progress: Progress) -> JointSolver:
    """The solver with a progress of its own, if it takes one; else the solver unchanged."""
    if is_dataclass(solver) and any(setting.name == "progress" for setting in fields(solver)):
        return replace(solver, progress=progress)
    return solver


def forward_by_prefixes(solver: JointSolver, problem: JointProblem, progress: Progress = iter) -> JointPosterior:
    """Posterior of each release given the releases up to it, by a solution of each prefix: T times the cost of a solver.

    One item of ``progress`` is taken before each prefix.
    """
    if not problem.releases:
        return solver(problem)
    at = problem.layout
    numbers = range(problem.releases)
    parts = [solver(first_releases(problem, t + 1)) for t, _ in zip(numbers, progress(numbers), strict=True)]
    groups = [slice(at.release_starts[t], at.release_starts[t + 1]) for t in range(len(parts))]
    beliefs = [slice(*part.starts[at.group_starts[[g.start, g.stop]]]) for part, g in zip(parts, groups, strict=True)]

    def joined(name: str) -> FloatArray | None:
        arrays = [getattr(part, name) for part in parts]
        complete = all(array is not None for array in arrays)
        return np.concatenate([array[own] for array, own in zip(arrays, beliefs, strict=True)]) if complete else None

    return JointPosterior(
        problem,
        np.concatenate([part.beliefs[own] for part, own in zip(parts, beliefs, strict=True)]),
        np.concatenate([part.status[own] for part, own in zip(parts, groups, strict=True)]),
        np.concatenate([part.gap[own] for part, own in zip(parts, groups, strict=True)]),
        max(part.rounds for part in parts),
        joined("standard_error"),
        joined("ess"),
        joined("rhat"),
        parts[0].rule,
        approximation=parts[0].approximation,
    )


def release_beliefs(
    history: JointHistory, posterior: JointPosterior, hindsight: bool = True
) -> tuple[ReleaseBeliefs, ...]:
    """Beliefs about each release of a history.

    The posterior of a record is that of the joint law. The posterior of a suppressed record that is not in the law is the
    prediction of the chain from the belief about the last record of its respondent before, or the prior.

    Parameters
    ----------
    history : JointHistory
    posterior : JointPosterior
        Of the problem of the history.
    hindsight : bool
        False if the posterior of each release is given the releases up to it: the revised prior is then the prediction from the
        beliefs after the releases before. True if it is given all releases: all of them are one observation, and the revised prior
        is the prediction of prior and transitions before any release.

    Notes
    -----
    For chains of order d over 1 predictions use the transitions after one value. Cost: O(n m^2) per release.
    """
    check_kind("release_beliefs", "history", history, JointHistory, "is a JointHistory; make one by joint_history")
    takes = "is a JointPosterior, which a joint solver returns"
    check_kind("release_beliefs", "posterior", posterior, JointPosterior, takes)
    check_flag("release_beliefs", "hindsight", hindsight)
    found = []
    unconditional = np.zeros((len(history.problem.prior), history.problem.values))
    for t, observation in enumerate(history.observations):
        prior = history.adversary.prior_rows(observation.people)
        before = history.before[t]
        some = len(before) > 0 and len(history.problem.path) > 0
        predicted = _predicted(history, t, prior, posterior.rows(np.maximum(before, 0)) if some else prior)
        revised = predicted
        if hindsight and some:
            revised = _predicted(history, t, prior, unconditional[history.problem.path[before]])
            inside = np.flatnonzero(history.record[t] >= 0)
            unconditional[history.problem.path[history.record[t][inside]]] = revised[inside]
        arrays = _posterior(history, posterior, t, predicted)
        found.append(ReleaseBeliefs(observation, prior, revised, arrays))
    return tuple(found)


def _posterior(history: JointHistory, posterior: JointPosterior, t: int, predicted: FloatArray) -> Posterior:
    """Posterior of the rows of a release, with the diagnostics of a solver that samples."""
    inside = np.flatnonzero(history.record[t] >= 0)
    record = history.record[t][inside]
    # Releases without published records at the end of the history have no entry in the layout.
    first, number = int(np.searchsorted(posterior.problem.release, t)), len(history.observations[t].counts)
    arrays: dict[str, Any] = {}
    for name, default in (("standard_error", 0.0), ("ess", np.nan), ("rhat", np.nan)):
        numbers = getattr(posterior, name)
        if numbers is not None:
            arrays[name] = np.full(predicted.shape, default)
            arrays[name][inside] = posterior.rows(record, numbers)
    beliefs = predicted.copy()
    beliefs[inside] = posterior.rows(record)
    rule = np.full(number, posterior.rule, dtype=object)
    return Posterior(beliefs, posterior.status[first : first + number], rule=rule, **arrays)


def _predicted(history: JointHistory, t: int, prior: FloatArray, belief: FloatArray) -> FloatArray:
    """Prediction of the chain for each row of a release from the belief about the last record before; the prior where none is."""
    transitions, before = history.adversary.transitions, history.before[t]
    seen = np.flatnonzero(before >= 0)
    revised = prior.copy()
    if transitions is None or not len(seen):
        return revised
    when: IntArray = history.problem.release[history.problem.group[before[seen]]]
    through, last = history.classes[before[seen]], classes_of(transitions, history.observations[t].people)[seen]
    for start in np.unique(when):
        some = when == start
        rows = seen[some]
        onward = belief[rows]
        for step in range(start + 1 if history.adversary.gaps == "power" else t, t + 1):
            onward = _stepped(onward, chains_at(transitions, step), (last if step == t else through)[some])
        totals = onward.sum(axis=1, keepdims=True)
        revised[rows] = np.divide(onward, totals, out=revised[rows], where=totals > 0)
    return revised


def _stepped(belief: FloatArray, chains: tuple[MarkovChain, ...], classes: IntArray) -> FloatArray:
    """Beliefs after one step of the chain of each row's class, by the transitions after one value."""
    if len(chains) == 1:
        return np.asarray(belief @ chains[0].tables[0])
    onward = np.zeros(belief.shape)
    for number in np.unique(classes):
        some = classes == number
        onward[some] = belief[some] @ chains[number].tables[0]
    return onward
