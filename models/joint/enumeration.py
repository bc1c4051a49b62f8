"""Exact joint posterior by enumeration of the states of each component, and the choice of a solver for each component."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from foreknow.models.advice import Advice, Wording
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators.exact import TooLarge
from foreknow.models.joint.group_graph import GroupGraph
from foreknow.models.joint.problem import (
    JointPosterior,
    JointProblem,
    JointSolver,
    belief_starts,
    check_is_solver,
    components,
    forward_by_prefixes,
    sub_problem,
    with_progress,
)
from foreknow.models.problem import CONTRADICTED, DOUBT, ROW_PARTS
from foreknow.models.progress import Progress, check_progress
from foreknow.models.settings import check_state_limit


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
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "relations")

    def __post_init__(self) -> None:
        check_state_limit("Enumeration", self.limit)

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history."""
        found = enumerate_components(problem, self.limit, stop=True)
        if len(found.unfit):
            raise _too_large(problem, found.unfit, int(self.limit))
        gap = np.zeros(len(problem.counts))
        return JointPosterior(
            problem, found.beliefs, found.status, gap, rule="Enumeration", log_evidence=found.log_evidence
        )

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it; each prefix is solved anew."""
        return forward_by_prefixes(self, problem)


class Enumerated(NamedTuple):
    """Result of `enumerate_components`.

    ``beliefs`` of records left out are 0. ``unfit`` are the records of components that exceed the limit, ascending.
    ``log_evidence`` is the log-probability of the published counts of the enumerated components.
    """

    beliefs: FloatArray
    status: IntArray
    unfit: IntArray
    log_evidence: float


def enumerate_components(problem: JointProblem, limit: int, stop: bool) -> Enumerated:
    """Beliefs by enumeration of each component whose transitions are within a limit; ``stop`` at the first one that exceeds it."""
    starts = belief_starts(problem)
    beliefs, status = np.zeros(starts[-1]), np.zeros(len(problem.counts), dtype=np.int64)
    unfit: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    log_evidence = 0.0
    factors, doubtful = log_factors(problem), log_factors(problem, DOUBT)
    for records in components(problem):
        elimination = eliminate(problem, factors, records, limit)
        if elimination is not None and elimination.log_total == -np.inf:
            status[problem.group[records]] |= CONTRADICTED
            elimination = eliminate(problem, doubtful, records, limit)
        if elimination is None:
            unfit.append(records)
            if stop:
                break
            continue
        log_evidence += elimination.log_total
        for record, belief in value_weights(elimination, np.diff(starts)):
            beliefs[starts[record] : starts[record + 1]] = belief
    return Enumerated(beliefs, status, np.sort(np.concatenate(unfit)), log_evidence)


class LogFactors(NamedTuple):
    """Logarithms of the factors of a joint problem, in the shapes of `JointProblem`."""

    prior: FloatArray
    tables: tuple[FloatArray, ...]
    evidence: FloatArray
    emission: FloatArray
    pairs: FloatArray


class Step(NamedTuple):
    """Transitions between the states before and after one record.

    ``before``, ``after`` and ``value`` are the states and the position of the record's value among those of its group,
    ``log_factor`` the factor of each transition, and ``log_weight`` the weight of all assignments of earlier records that lead to
    each state before.
    """

    record: int
    before: IntArray
    after: IntArray
    value: IntArray
    log_factor: FloatArray
    log_weight: FloatArray


class Elimination(NamedTuple):
    """Steps over all records of a component, and the log-weight of all its assignments: minus infinity if none is possible."""

    steps: list[Step]
    log_total: float


def _too_large(problem: JointProblem, records: IntArray, limit: int) -> TooLarge:
    numbers = (np.unique(problem.path[records]), np.unique(problem.group[records]))
    paths, groups = (", ".join(map(str, each[:6].tolist())) + ", ..." * (len(each) > 6) for each in numbers)
    return TooLarge(
        Advice(
            f"the component of {len(numbers[0])} respondents (paths {paths}) who share {len(numbers[1])} groups ({groups}) has "
            f"more than {limit} transitions between joint states. ",
            Wording(
                "Use MaxEntropy() or PathSampler(rng=...), which approximate, JointAuto(), which enumerates only small components, "
                "or Enumeration(limit=...) if there is memory (60 bytes each).",
                "Choose --solver auto.",
            ),
        )
    )


MAX_KEY = 2**62
"""Bound of the integers that number rows of several columns."""


class States(NamedTuple):
    """Joint states between two records, as columns of equal length.

    ``known`` has the codes of the last d values of each path with a later record, oldest first; ``left`` the number of records that
    are still to be published with each value of the current group, or so far if its counts are noisy; ``related`` the value of each
    record with a pair whose other record is to come, and the number of these pairs.
    """

    log_weight: FloatArray
    known: dict[int, tuple[IntArray, ...]]
    left: tuple[IntArray, ...]
    related: dict[int, tuple[IntArray, int]] = {}  # noqa: RUF012 - never changed


def log_factors(problem: JointProblem, doubt: float = 0.0) -> LogFactors:
    """Logarithms of the factors of a problem, with a doubt mixed in.

    The uniform distribution is mixed into rows of probabilities with the weight ``doubt``, and the largest likelihood of a record's
    evidence into its others.
    """
    m = max(problem.values, 1)
    likeliest = problem.evidence.max(axis=1, keepdims=True, initial=0.0)
    likeliest[likeliest == 0.0] = 1.0
    with np.errstate(divide="ignore"):
        return LogFactors(
            np.log((1 - doubt) * problem.prior + doubt / m),
            tuple(np.log((1 - doubt) * table + doubt / m) for table in problem.tables),
            np.log((1 - doubt) * problem.evidence + doubt * likeliest),
            np.log((1 - doubt) * problem.emission + doubt / m),
            np.log(problem.pair_tables),
        )


def eliminate(problem: JointProblem, factors: LogFactors, records: IntArray, limit: float) -> Elimination | None:
    """Sum over the values of all records of a component; None if the transitions are more than ``limit``.

    Records are taken one by one, by release and group; in a group, records that end a path come first, and records that begin one
    come last. A state has the last d values of each path with a later record, and the counts that the current group has left to
    publish. Cost: O(transitions * columns of a state), and a sort of the transitions.
    """
    at = problem.layout
    following, previous = at.following[records] >= 0, at.previous[records] >= 0
    order = records[np.lexsort((following & ~previous, following | ~previous, problem.group[records]))]
    states, steps, tried, log_total, group = States(np.zeros(1), {}, ()), [], 0, 0.0, -1
    ends = np.append(np.diff(problem.group[order]) != 0, True)
    for r, closing in zip(order.tolist(), ends.tolist(), strict=True):
        if problem.group[r] != group:
            # All counts of a new group are left to publish.
            group = int(problem.group[r])
            shown = at.shown[at.value_starts[group] : at.value_starts[group + 1]].astype(np.int64)
            options = len(shown) ** (2 if problem.emission_row[group] >= 0 and shown.any() else 1)
            left = tuple(np.full(len(states.log_weight), count) for count in shown.tolist())
            states = states._replace(left=left if shown.any() or problem.count_start[group, 0] >= 0 else ())
        tried += len(states.log_weight) * options
        if tried > limit:
            return None
        step, states = _advance(problem, factors, r, states, closing)
        if not len(step.before):
            return Elimination([], -np.inf)
        top = states.log_weight.max()
        log_total += float(top)
        states = states._replace(log_weight=states.log_weight - top)
        steps.append(step)
    # After the last record no path goes on and nothing is left to publish: there is one state, of log-weight 0.
    return Elimination(steps, log_total)


def value_weights(elimination: Elimination, width: IntArray) -> list[tuple[int, FloatArray]]:
    """Records of a component with the beliefs in each of their values, from the backward pass over its steps.

    ``width``, shape ``(R,)``, is the number of possible values of each record.
    """
    beliefs = []
    onward = np.zeros(1)
    for step in reversed(elimination.steps):
        log_edge = step.log_factor + onward[step.after]
        whole = step.log_weight[step.before] + log_edge
        weight = np.bincount(step.value, weights=np.exp(whole - whole.max()), minlength=int(width[step.record]))
        beliefs.append((step.record, weight / weight.sum()))
        onward = log_sums(log_edge, step.before, len(step.log_weight))
        onward -= onward.max()
    return beliefs


def log_sums(logs: FloatArray, place: IntArray, size: int) -> FloatArray:
    """Logarithm of the sum of ``exp(logs)`` at each place: float array, shape ``(size,)``; minus infinity where there is none."""
    top = np.full(size, -np.inf)
    np.maximum.at(top, place, logs)
    top[np.isneginf(top)] = 0.0
    sums = np.bincount(place, weights=np.exp(logs - top[place]), minlength=size)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(sums))


def _advance(problem: JointProblem, factors: LogFactors, r: int, states: States, closing: bool) -> tuple[Step, States]:
    """Transitions over the values of a record, the last one of its group if ``closing``, and the states after it."""
    at, path, group = problem.layout, int(problem.path[r]), int(problem.group[r])
    values = at.values[at.value_starts[group] : at.value_starts[group + 1]]
    row, claim, past = problem.emission_row[group], problem.evidence_row[r], states.known.get(path, ())
    noisy = bool(problem.count_start[group, 0] >= 0)
    # log P(x), or log A(x | the last values), plus log e(x): shape (states or 1, m).
    log_factor = factors.tables[len(past) - 1][problem.chain[r]][past] if past else factors.prior[path][None]
    log_factor = log_factor + factors.evidence[claim] if claim >= 0 else log_factor
    # log of the table of each pair whose other record has a value.
    pairs = at.related[at.related_starts[r] : at.related_starts[r + 1]].tolist()
    others = [int(at.pairs[pair].sum()) - r for pair in pairs]
    for pair, other in zip(pairs, others, strict=True):
        if other in states.related:
            log_factor = log_factor + factors.pairs[at.pair_table[pair]][states.related[other][0]]
    log_factor = np.broadcast_to(log_factor[..., values], (len(states.log_weight), len(values)))[..., None]
    if states.left and not noisy:
        # A value is published only while its count is not used up; through a channel it differs from the own value.
        left = np.stack(states.left, axis=1) > 0
        if row >= 0:
            log_factor = log_factor + factors.emission[row][np.ix_(values, values)]
        possible = np.isfinite(log_factor) & (left[:, :, None] if row < 0 else left[:, None, :])
    else:
        possible = np.isfinite(log_factor)
    before, value, channel = np.nonzero(possible)
    published = value if row < 0 else channel
    step_factor = log_factor[before, value, channel]
    known = {p: tuple(column[before] for column in columns) for p, columns in states.known.items() if p != path}
    if at.following[r] >= 0:
        recent = (*(column[before] for column in past), values[value])
        known[path] = recent[-max(problem.order, 1) :]
    sign = 1 if noisy else -1
    remaining = tuple(column[before] + sign * (published == s) for s, column in enumerate(states.left))
    if noisy and closing:
        # All values of the group are known: the likelihood of its noisy counts.
        start = problem.count_start[group]
        step_factor = step_factor + sum(problem.count_logs[start[s] + column] for s, column in enumerate(remaining))
        remaining = ()
    # The value of a record is kept until all its pairs have a factor.
    related = {q: (column[before], waiting - others.count(q)) for q, (column, waiting) in states.related.items()}
    related[r] = values[value], sum(other not in states.related for other in others)
    related = {q: (column, waiting) for q, (column, waiting) in related.items() if waiting}
    columns = [*(column for columns in known.values() for column in columns), *remaining]
    columns += [column for column, _ in related.values()]
    after, first = _row_numbers(columns, len(before))
    step = Step(r, before, after, value, step_factor, states.log_weight)
    log_weight = log_sums(states.log_weight[before] + step_factor, after, len(first))
    kept = {p: tuple(column[first] for column in columns) for p, columns in known.items()}
    held = {q: (column[first], waiting) for q, (column, waiting) in related.items()}
    return step, States(log_weight, kept, tuple(column[first] for column in remaining), held)


def _row_numbers(columns: list[IntArray], rows: int) -> tuple[IntArray, IntArray]:
    """Number of each row among the distinct rows of some columns, and the first of each: shapes ``(rows,)``, ``(distinct,)``."""
    key, bound = np.zeros(rows, dtype=np.int64), 1
    for column in columns if rows else []:
        base = int(column.max()) + 1
        if bound * base >= MAX_KEY:
            _, key = np.unique(key, return_inverse=True)
            bound = rows
        key, bound = key * base + column, bound * base
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number, first


@dataclass(frozen=True)
class JointAuto:
    """`Enumeration` for components with few transitions, another solver for the rest of the history.

    The posterior's ``rule`` says how many records and groups each solver has. Where the other solver samples, its diagnostics are
    kept; enumerated beliefs have the standard error 0, an infinite effective sample size and the R-hat 1.

    Parameters
    ----------
    limit : int
        Largest number of transitions of a component for `Enumeration`; 2^16 take some 20 milliseconds.
    otherwise : joint solver
        Solver of the other components, all together: `GroupGraph`, `GroupMessages`, `MaxEntropy` or ``PathSampler(rng=...)``.
    progress : callable, optional
        That of ``otherwise``, by default its own; `forward` has one part for each release.

    Examples
    --------
    >>> problem = JointProblem([[0.9, 0.1], [0.5, 0.5]], (), [0, 1], [0, 0], [0, 0], [[1, 1]], [0])
    >>> posterior = JointAuto()(problem)
    >>> posterior.rows(np.array([0, 1])).round(3).tolist(), posterior.rule
    ([[0.9, 0.1], [0.1, 0.9]], 'Enumeration: 2 records in 1 group')
    """

    limit: int = 2**16
    otherwise: JointSolver = field(default_factory=GroupGraph)
    progress: Progress | None = field(default=None, kw_only=True, repr=False, compare=False)
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "relations")

    def __post_init__(self) -> None:
        check_state_limit("JointAuto", self.limit)
        check_is_solver("JointAuto", "otherwise", self.otherwise)
        if self.progress is not None:
            check_progress("JointAuto", self.progress, "the parts of a solution")

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history."""
        beliefs, status, rest, log_evidence = enumerate_components(problem, self.limit, stop=False)
        gap, enumerated = np.zeros(len(problem.counts)), np.ones(len(problem.path), dtype=np.bool_)
        enumerated[rest] = False
        rule = _share_rule("Enumeration", problem, np.flatnonzero(enumerated))
        if not len(rest):
            return JointPosterior(problem, beliefs, status, gap, rule=rule, log_evidence=log_evidence)
        otherwise = self.otherwise if self.progress is None else with_progress(self.otherwise, self.progress)
        posterior = otherwise(sub_problem(problem, rest))
        groups = np.unique(problem.group[rest])
        place = np.flatnonzero(np.repeat(~enumerated, np.diff(belief_starts(problem))))
        beliefs[place] = posterior.beliefs
        status[groups] |= posterior.status
        gap[groups] = posterior.gap
        diagnostics: dict[str, Any] = {}
        for name, exact in (("standard_error", 0.0), ("ess", np.inf), ("rhat", 1.0)):
            if (numbers := getattr(posterior, name)) is not None:
                diagnostics[name] = np.full(len(beliefs), exact)
                diagnostics[name][place] = numbers
        other = _share_rule(posterior.rule or type(self.otherwise).__name__, problem, rest)
        return JointPosterior(
            problem,
            beliefs,
            status,
            gap,
            posterior.rounds,
            **diagnostics,
            rule="; ".join(filter(None, (rule, other))),
            log_evidence=None if posterior.log_evidence is None else log_evidence + posterior.log_evidence,
            approximation=posterior.approximation,
        )

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it; each prefix is solved anew."""
        if self.progress is None:
            return forward_by_prefixes(self, problem)
        return forward_by_prefixes(replace(self, progress=iter), problem, self.progress)


def _share_rule(name: str, problem: JointProblem, records: IntArray) -> str:
    if not len(records):
        return ""
    groups = len(np.unique(problem.group[records]))
    return f"{name}: {len(records)} record{'s'[: len(records) != 1]} in {groups} group{'s'[: groups != 1]}"
