"""Minimum relative entropy: the law nearest to the chains whose expected counts are the published ones."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.estimators.exact import log_evidence
from foreknow.models.joint.messages import (
    Messages,
    copied,
    expected_steps,
    first_messages,
    fit_tilts,
    log_weight,
    scratch_of,
    thresholds,
    write_record_weights,
)
from foreknow.models.joint.problem import (
    JointPosterior,
    JointProblem,
    belief_starts,
    check_no_pairs,
    record_beliefs,
    sub_problem,
)
from foreknow.models.problem import CONTRADICTED, DOUBT, ROW_PARTS, UNCONVERGED, Problem, rows_of_counts
from foreknow.models.progress import Progress, check_progress, no_step, stepping
from foreknow.models.settings import check_iteration

MIN_CONTRADICTION = 1e-2
"""Probability of impossible steps of a record from which its group is reported as contradicted."""


@dataclass(frozen=True)
class MaxEntropy:
    """Law of all paths nearest to the chains in relative entropy, among those whose expected counts are the published ones.

    The multiset of each group is relaxed to an expectation. The minimizer of KL(Q || product of chains) then has one factor for
    each group and published value, and keeps the respondents independent::

        Q_i(x) ~ P_i(x_1) product over t of A(x_t | x_t-1) tilt[g(i, t), x_t]

    The dual, ``sum n_gs log tilt_gs - sum_i log Z_i(tilt)``, is concave. Block coordinate ascent maximizes it: for each group,
    Sinkhorn scaling of the weights that all other releases give to its members, then new forward and backward messages to the
    records before and after. Only groups whose messages have changed are visited again.

    Parameters
    ----------
    tolerance : float
        Largest share of the records of a group by which its expected counts may differ from the published ones (total
        variation, ``sum over s of |expected_s - n_s| / 2k``) when the iteration stops.
    rounds : int
        Largest number of visits of all groups, on average. Groups that need more are reported as `Status.UNCONVERGED`.
    progress : callable
        Function of the parts of a solution that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken before each part: the sweeps of each threshold of `foreknow.models.joint.messages.thresholds`, or each release of
        `forward`.

    Notes
    -----
    An approximation: exact counts become expected ones, so that members of a group are independent given the tilts. It is
    underconfident in small groups, which `GroupMessages` and `GroupGraph`, the default of `JointAttack`, correct. One release alone
    is `Sinkhorn`. The result is unique where it exists: respondents of equal knowledge and equal groups have equal beliefs.
    Where the knowledge has zeros, a doubt of `DOUBT` is mixed into it; a group whose members take impossible steps with a
    probability of at least `MIN_CONTRADICTION` has `Status.CONTRADICTED`.

    Noisy counts are a soft constraint: minimum of ``KL(Q || chains) - sum of the log-likelihoods of the expected counts``. On 300
    random histories of cells of 1 to 5 members for each scale of a Gaussian or Laplace law, the mean total variation from the
    beliefs of `Enumeration` is .035 or less at scales .3 and .5, .02 at 1, .008 at 2, .004 at 4 and .002 at 8; in cells of one
    member it is 0 but for the tolerance. **The mean gain is understated**, as what a member's own value does to the counts is left
    out: 1,600 respondents in 16 cells over 24 releases of scale 10.4 have .0046, and .0071 by `PathSampler`, which is calibrated.

    Relatives: multi-marginal Schrodinger bridges and Sinkhorn belief propagation (Singh, Haasler, Zhang, Karlsson, Chen, "Inference
    with aggregate data", 2020), collective graphical models (Sheldon, Dietterich, 2011), Privacy-MaxEnt (Du, Teng, Zhu, 2008),
    which has one release. None of the five papers has it.

    Cost: O(S d) for each round, S states of d values. The number of rounds depends on the groups and on the tolerance: on the
    releases of `UHRA` (24 x 5,000 exams) it is 62 for a tolerance of 1 %, 120 for half a percent and 573 for .1 %.
    """

    tolerance: float = 5e-3
    rounds: int = 1000
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    exact: ClassVar[bool] = False
    reads: ClassVar[tuple[str, ...]] = ROW_PARTS

    def __post_init__(self) -> None:
        check_iteration("MaxEntropy", self.tolerance, self.rounds)
        check_progress("MaxEntropy", self.progress, "the parts of a solution")

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history: beliefs of each release given all releases."""
        return self.fit(problem, step=stepping(self.progress, thresholds(self.tolerance))).posterior

    def fit(
        self, problem: JointProblem, start: Messages | None = None, step: Callable[[], None] | None = None
    ) -> "TiltedLaw":
        """Posterior of a whole history, and the expected number of each transition.

        ``start`` holds the messages of a fitted law of the same groups, from which the iteration starts. ``step`` is called before
        the sweeps of each threshold.
        """
        check_no_pairs("MaxEntropy", problem)
        law, impossible = with_doubt(problem)
        at, messages = law.layout, first_messages(law) if start is None else copied(start)
        gap, pending = np.zeros(len(law.counts)), np.full(len(law.counts), np.inf)
        limit = float(self.rounds) * max(len(gap), 1)
        visits = fit_tilts(
            len(gap), at, messages, scratch_of(law), pending, gap, float(self.tolerance), limit, step or no_step
        )
        steps, ruled_out = expected_steps(at, messages, impossible, (0, len(law.path)))
        beliefs = record_beliefs(law, messages.forward * messages.backward)
        posterior = self._posterior(problem, law, beliefs, ruled_out, gap, visits, log_weight(at, messages.tilt))
        return TiltedLaw(posterior, steps, messages)

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it: the messages of one prefix start those of the next.

        Cost: a small multiple of that of the whole history, as the tilts of earlier releases change little.
        """
        return self.fit_forward(problem, stepping(self.progress, range(problem.releases)))[0]

    def fit_forward(
        self, problem: JointProblem, step: Callable[[], None] | None = None
    ) -> tuple[JointPosterior, FloatArray]:
        """Posterior of each release given the releases up to it, and the weights of its records without their groups.

        The weights, shape ``(B,)``, are those of each possible value given the releases before. ``step`` is called before each
        release.
        """
        check_no_pairs("MaxEntropy", problem)
        law, impossible = with_doubt(problem)
        at, messages, scratch = law.layout, first_messages(law), scratch_of(law)
        gap, pending = np.zeros(len(law.counts)), np.full(len(law.counts), np.inf)
        starts, kept, final = belief_starts(law), np.zeros(len(messages.forward)), np.zeros(len(gap))
        ruled_out, weights, visits = np.zeros(len(law.path)), np.zeros(int(starts[-1])), 0
        for t in range(law.releases):
            (step or no_step)()
            first, last = int(at.release_starts[t]), int(at.release_starts[t + 1])
            limit = float(self.rounds) * max(last, 1)
            visits += fit_tilts(last, at, messages, scratch, pending, gap, float(self.tolerance), limit)
            records = (int(at.group_starts[first]), int(at.group_starts[last]))
            ruled_out += expected_steps(at, messages, impossible, records)[1]
            write_record_weights(weights, (first, last), starts, at, messages, scratch)
            states = slice(at.state_starts[records[0]], at.state_starts[records[1]])
            kept[states] = messages.forward[states]
            final[first:last] = gap[first:last]
        return self._posterior(problem, law, record_beliefs(law, kept), ruled_out, final, visits), weights

    def _posterior(
        self,
        problem: JointProblem,
        law: JointProblem,
        beliefs: FloatArray,
        ruled_out: FloatArray,
        gap: FloatArray,
        visits: int,
        log_tilted: float | None = None,
    ) -> JointPosterior:
        """Posterior of a fitted law, with the status of its groups."""
        status = np.where(gap > self.tolerance, UNCONVERGED, 0) | contradicted_groups(problem, law, ruled_out, beliefs)
        rounds = -(-visits // max(len(gap), 1))
        return JointPosterior(
            problem, beliefs, status, gap, rounds, rule="MaxEntropy", log_tilted=log_tilted, approximation=self
        )


class TiltedLaw(NamedTuple):
    """Law of minimum relative entropy: posterior, messages, and ``steps``, shape ``(Q, m)``.

    ``steps`` is the expected number of each transition, by row of the ``table`` of the layout.
    """

    posterior: JointPosterior
    steps: FloatArray
    messages: Messages


def with_doubt(problem: JointProblem) -> tuple[JointProblem, BoolArray]:
    """Problem without zeros in its knowledge, and the entries of its transition tables that were zero.

    A uniform distribution of weight `DOUBT` is mixed into the tables and the priors that have a zero.
    """
    m = problem.values
    impossible = problem.layout.table == 0
    if not impossible.any() and (problem.prior > 0).all():
        return problem, impossible
    tables = tuple((1 - DOUBT) * table + DOUBT / m for table in problem.tables)
    return replace(problem, prior=(1 - DOUBT) * problem.prior + DOUBT / m, tables=tables), impossible


def contradicted_groups(
    problem: JointProblem, law: JointProblem, ruled_out: FloatArray, beliefs: FloatArray
) -> IntArray:
    """Status of each group: contradicted where a member takes an impossible step or starts at an impossible value."""
    first = np.flatnonzero(problem.layout.previous < 0)
    posterior = JointPosterior(law, beliefs, np.zeros(len(law.counts), dtype=np.int64), np.zeros(len(law.counts)))
    ruled_out[first] = (posterior.rows(first) * (problem.prior[problem.path[first]] == 0)).sum(axis=1)
    worst = np.zeros(len(problem.counts))
    np.maximum.at(worst, problem.group, ruled_out)
    if len(problem.evidence):
        # Evidence that rules out every value.
        nothing = (problem.evidence_row >= 0) & ~problem.evidence.any(axis=1)[problem.evidence_row]
        worst[problem.group[nothing]] = 1.0
    return np.where(worst >= MIN_CONTRADICTION, CONTRADICTED, 0)


class ChainLaw(NamedTuple):
    """Law of the values of all respondents.

    ``prior``, shape ``(c, m)``, is the distribution of the first value in each class; ``tables``, shapes
    ``(m, m), (m, m, m), ...``, are the transitions after 1, ..., d known values, none where no respondent has two records.
    ``presence``, shape ``(o, m)``, has the chances of o outcomes after each value (`Outcomes`); none without presence.
    """

    prior: FloatArray
    tables: tuple[FloatArray, ...]
    presence: FloatArray = np.zeros((0, 0))


def expected_counts(law: TiltedLaw, classes: IntArray, number: int, powers: IntArray, chain: ChainLaw) -> ChainLaw:
    """Expected numbers of first values of each class and of transitions under a fitted law, in the shapes of ``chain``.

    ``classes``, shape ``(respondents,)``, is the class of each path of a respondent, ``number`` the number of classes, and
    ``powers``, shape ``(K,)``, the number of steps of each transition table, of which ``chain`` has the single ones.

    Exact given the law. A transition over g steps adds the expected numbers of its g single steps, given both of its ends.
    Cost: O(R m + K g m^3).
    """
    problem = law.posterior.problem
    first = np.flatnonzero((problem.layout.previous < 0) & (problem.path < problem.respondents))
    started = np.zeros((number, problem.values))
    np.add.at(started, classes[problem.path[first]], law.posterior.rows(first))
    tables, offset = [], 0
    for length, table in enumerate(chain.tables, start=1):
        rows = len(powers) * problem.values**length
        counts = law.steps[offset : offset + rows].reshape(len(powers), *table.shape)
        tables.append(_single_steps(counts, powers, table) if len(chain.tables) == 1 else counts.sum(axis=0))
        offset += rows
    return ChainLaw(started, tuple(tables))


def most_likely(counts: ChainLaw, pseudo_count: float, before: ChainLaw) -> ChainLaw:
    """Law that maximizes the likelihood of expected counts plus pseudo-counts; a row without counts keeps its law before."""
    prior = rows_of_counts(counts.prior, pseudo_count, before.prior)
    pairs = zip(counts.tables, before.tables, strict=True)
    presence = rows_of_counts(counts.presence.T, pseudo_count, before.presence.T).T
    return ChainLaw(prior, tuple(rows_of_counts(count, pseudo_count, table) for count, table in pairs), presence)


def weighted_change(before: ChainLaw, after: ChainLaw, counts: ChainLaw) -> float:
    """Largest mean of the total variations between the rows of two laws, weighted by expected counts.

    The largest is over the prior, the longest table, and the chances of presence.
    """
    parts = [(before.prior, after.prior, counts.prior), (before.presence.T, after.presence.T, counts.presence.T)]
    parts += [(before.tables[-1], after.tables[-1], counts.tables[-1])] if counts.tables else []
    changes = []
    for old, new, count in parts:
        weight = count.sum(axis=-1)
        changes.append(float((weight * np.abs(old - new).sum(axis=-1) / 2).sum() / max(float(weight.sum()), 1e-300)))
    return max(changes)


def log_density(law: ChainLaw, pseudo_count: float) -> float:
    """Logarithm of the Dirichlet density with ``1 + pseudo_count`` at a law, up to a constant."""
    if pseudo_count == 0:
        return 0.0
    return float(
        pseudo_count * sum(np.log(np.maximum(rows, 1e-300)).sum() for rows in (law.prior, *law.tables, law.presence))
    )


def _single_steps(counts: FloatArray, powers: IntArray, table: FloatArray) -> FloatArray:
    """Expected number of single steps, from the expected number of transitions over several steps, shape ``(K, m, m)``."""
    steps = np.zeros(table.shape)
    for power in np.unique(powers).tolist():
        over = counts[powers == power].sum(axis=0)
        if power == 1:
            steps += over
            continue
        ahead = [np.linalg.matrix_power(table, step) for step in range(power + 1)]
        ratio = np.divide(over, ahead[power], out=np.zeros_like(over), where=ahead[power] > 0)
        for step in range(power):
            steps += table * (ahead[step].T @ ratio @ ahead[power - 1 - step].T)
    return steps


def with_law(
    problem: JointProblem, law: ChainLaw, classes: IntArray, powers: IntArray
) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Prior of each path, and transition tables of each chain, of a problem under a law."""
    prior = problem.prior.copy()
    prior[: problem.respondents] = law.prior[classes]
    if len(law.tables) == 1:
        lengths, number = np.unique(powers, return_inverse=True)
        stacked = np.stack([np.linalg.matrix_power(law.tables[0], power) for power in lengths.tolist()])
        return prior, (np.minimum(stacked, 1.0)[number.reshape(-1)],)
    return prior, tuple(np.stack([table] * len(powers)) for table in law.tables)


def joint_log_evidence(posterior: JointPosterior) -> float:
    """Log-probability of all published counts, by which the releases weigh one knowledge against another.

    Parameters
    ----------
    posterior : JointPosterior
        Of an exact solver, of `GroupGraph`, of `MaxEntropy`, or of a solver that starts with it and keeps its posterior. For the
        posterior of another solver, `MaxEntropy` solves the problem.

    Notes
    -----
    Exact for `Enumeration`, and for `GroupGraph` where the graph of groups has no cycle; with cycles it is the Bethe free energy
    (Yedidia, Freeman, Weiss 2005). Where `GroupGraph` keeps counts by tilts or needs a doubt, that of `MaxEntropy` is returned.

    For `MaxEntropy`, with Q the tilted law, ``log P(counts) = -KL(Q || P) + log Q(counts)``, where the probability of all counts
    under Q is approximated by the product over groups (`log_evidence`). It is exact for one release with small groups; what it
    neglects are correlations under Q between the counts of groups that share respondents. Counts of distorted values are treated
    as counts of own values in the second term. Cost: that of `log_evidence` on all groups.

    With relations the sum of the law over all values is divided out, by `Enumeration` without the counts, which raises TooLarge
    for large families. Where `GroupGraph` keeps counts by tilts, or `PathSampler` solves, ValueError is raised; so it is for noisy
    counts without `Enumeration`.
    """
    if posterior.log_evidence is not None:
        return posterior.log_evidence - _log_of_relations(posterior.problem)
    check_no_pairs(
        "joint_log_evidence of an approximate posterior",
        posterior.problem,
        "Enumeration() has it, and GroupGraph() where it uses no tilt; Averaged(..., updated=False) needs none",
    )
    if posterior.problem.noisy.any():
        raise ValueError(
            "joint_log_evidence: the counts are noisy, and their probability is known of Enumeration() alone. Use it, or "
            "Averaged(..., updated=False), which needs none."
        )
    if posterior.log_tilted is None:
        posterior = posterior.relaxed or MaxEntropy()(posterior.problem)
    assert posterior.log_tilted is not None
    problem = posterior.problem
    published = np.where(problem.constrained[problem.group], problem.group, -1)
    counts = np.where(problem.constrained[:, None], problem.counts, 0)
    rows = posterior.rows(np.arange(len(problem.path)))
    return posterior.log_tilted + float(log_evidence(Problem(rows, published, counts)).sum())


def _log_of_relations(problem: JointProblem) -> float:
    """Logarithm of the sum over all values of chains and relations, without releases and evidence; 0 without relations."""
    if not len(problem.pairs):
        return 0.0
    from foreknow.models.joint.enumeration import Enumeration

    free = replace(problem, counts=0 * problem.counts, evidence_row=np.full(len(problem.path), -1))
    related = np.flatnonzero(np.isin(problem.path, problem.path[problem.pairs]))
    found = Enumeration()(sub_problem(free, related)).log_evidence
    assert found is not None
    return found
