r"""Belief propagation on the graph of groups: the solver of the joint law that counts shared evidence once.

Nodes are the groups, each with the arrangements of its multiset over its members; an edge leads from group g to group h for the
set C of members whose next record after g is in h. With u and v the arrangements of C in g and h, and ``phi`` the priors of first
records and all evidence, the joint law is exactly::

    p(x) ~ product over groups of phi_g(x_g) * product over edges of product over i in C of A_i(u_i, v_i)

Messages between *persons* and groups treat the members of C apart, and count what they share once for each of them. Messages
between groups are joint over C, and exact wherever the graph has no cycle::

    M_gh(v) = sum over u of b_g\h(u) product over i in C of A_i(u_i, v_i)

with ``b_g\h`` the belief of g without the message from h, summed over the other members.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar

import numba
import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.joint.graph_messages import (
    GraphMessages,
    arriving_weights,
    deliver,
    expected_steps,
    groups_over,
    log_evidence,
    start_messages,
    sweep,
    write_beliefs,
)
from foreknow.models.joint.graph_parts import COUNTS_BY_NORMAL, Parts, Zeros, parts_of, write_own_weights
from foreknow.models.joint.group_messages import GroupMessages, tilted_messages
from foreknow.models.joint.max_entropy import MaxEntropy, TiltedLaw
from foreknow.models.joint.messages import thresholds
from foreknow.models.joint.problem import (
    JointPosterior,
    JointProblem,
    Layout,
    belief_starts,
    check_no_pairs,
    components,
    forward_by_prefixes,
    sub_problem,
    without_pairs,
)
from foreknow.models.problem import CONTRADICTED, CYCLES, DOUBT, TILTED, UNCONVERGED
from foreknow.models.progress import Progress, check_progress, stepping
from foreknow.models.settings import check_folder, check_iteration, check_whole

UNDAMPED = 8
"""Number of sweeps before messages are damped, if a solver has more."""

DAMPING = 0.5
"""Share of the former message in the mean of an update after that."""

MOST_SWEEPS = 1000
"""Largest number of sweeps of groups that no cycle reaches. One or two are enough for most; each turn of a path of groups back in
time may need one more."""

LEARNING_DAMPING = 0.3
"""The same for messages of `GraphLaw`, each of which is sent under another law."""

EDGE_PARTS = 8
"""Number of parts of the edges whose expected steps are summed apart."""

MANY_RECORDS = 5000
"""Number of records from which the groups of a release are visited by several threads."""

ROUNDING = 1e-13
"""Largest change of the messages to a group that no cycle reaches that is not passed on, in total variation."""

NEVER_VISITED = 1e9
"""Pending change of the messages to a group that was never visited."""

MOST_ARRANGEMENTS = 5_250_000
"""Largest number of arrangements of all blocks, above which their limit is lowered. With messages and edges they take 50 to 70
bytes each on `exams`, more where a block has over five edges, and at most twice as much while they are built: .7 GB. On `exams`
24 x 5,000 the limit is 2,500: two thirds of the time that 10,000 takes, with log scores from .029 higher (UHRA) to .010 lower
(JSReduce), and up to 8 % fewer sure beliefs (FullDomain). Learned laws are as near the true one, in a third of the time."""

MAX_ARRANGEMENTS = 1_000_000
"""Largest limit of arrangements of one block; ten members with distinct values have 3.6 million."""


EXACT_PAIRS = "Enumeration() and PathSampler(rng=...) do"
"""Solvers that read relations with chains of any order and with distorted values."""


@dataclass(frozen=True)
class GroupGraph:
    """Posterior of the joint law by messages between groups that share several members.

    Parameters
    ----------
    limit : int
        Largest number of arrangements of a block of a group: its members whom edges link. Above it, the largest edges are split by
        member and carry the tilts of `MaxEntropy`, which keep counts in expectation, unless the group is one block still. Counts
        of a group of many blocks are kept by a normal law with its skewness. Lowered where all blocks would have more than
        `MOST_ARRANGEMENTS`, which bound time and memory; the posterior's ``approximation`` and a note have the limit that was used.
    tolerance : float
        Largest change of the messages to a group that a cycle or a tilt reaches, in total variation, that is not passed on.
    sweeps : int
        Largest number of sweeps forward and backward in time over these groups, from the messages of `MaxEntropy` where there are
        tilts. More of them send the same evidence around cycles again: where respondents hardly change their values, beliefs are
        often sure without reason. Groups that no cycle reaches are swept until they are exact.
    progress : callable
        Function of the parts of a solution that returns an iterable of the same length, as ``rich.progress.track``. One item is
        taken before each sweep, or before each release of `forward`.
    scratch : path, optional
        Existing folder of files that take the place of the arrays of arrangements and messages: they are mapped, and no longer in
        memory at once, and the limit is not lowered. By default all is in memory.
    workers : int, optional
        Number of threads, by default that of the processors. Beliefs do not depend on it.

    Notes
    -----
    The status of a group says how good its beliefs are (docs/methods/how-joint-computes.md). 0: exact to rounding; no cycle and no
    tilt reaches it. `Status.CYCLES`: the graph has a cycle somewhere in its component, as members meet again, directly or through
    others; some evidence is counted more than once, about once for each sweep. `Status.TILTED`: its counts are kept by a normal
    law, or an edge of it by tilts.
    `Status.UNCONVERGED`: no cycle reaches it, and `MOST_SWEEPS` sweeps were not enough.
    `Status.CONTRADICTED`: the knowledge rules out what the group shows, or its neighbours together with it; the beliefs of its
    component are those of the same knowledge mixed with the uniform distribution of weight `DOUBT`.

    Related members of a group are of one block, which is not split; the pairs of related members of two groups of a release are one
    more edge between them, whose messages arrive after the visit of all groups of the release.

    Closed cohorts, and groups whose graph is a tree, are exact within the limit. Chains of an order above 1 are solved by
    `GroupMessages`; groups with distorted values have the tilts of `MaxEntropy`. Sources: Yedidia, Freeman, Weiss (2005), region
    graphs; Vats, Moura (2011), block graphs. None of the five papers has it.

    Cost of a sweep: for each edge, at most the number of its arrangements at one end times that at the other, mostly much
    less; for each group, its arrangements times its edges, and its states of counts times the codes of its blocks.

    Examples
    --------
    Two respondents who keep their values, known apart at the second release:

    >>> stays = np.array([[[0.9, 0.1], [0.1, 0.9]]])
    >>> together = {"group": [0, 0, 1, 2], "counts": [[1, 1], [1, 0], [0, 1]], "release": [0, 1, 1]}
    >>> problem = JointProblem([[0.5, 0.5], [0.5, 0.5]], (stays,), [0, 1, 0, 1], chain=[0, 0, 0, 0], **together)
    >>> GroupGraph()(problem).rows(np.array([0, 1])).round(3).tolist()
    [[0.988, 0.012], [0.012, 0.988]]
    """

    limit: int = 10_000
    tolerance: float = 1e-2
    sweeps: int = 2
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    scratch: "Path | str | None" = field(default=None, kw_only=True, repr=False, compare=False)
    workers: int | None = field(default=None, kw_only=True, repr=False, compare=False)
    exact: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_whole("GroupGraph", "limit", self.limit, "arrangements", most=MAX_ARRANGEMENTS)
        check_iteration("GroupGraph", self.tolerance, self.sweeps)
        check_progress("GroupGraph", self.progress, "the parts of a solution")
        check_folder("GroupGraph", "scratch", self.scratch)
        if self.workers is not None:
            check_whole("GroupGraph", "workers", self.workers, "threads")

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history: beliefs of each release given all releases."""
        if problem.order > 1:
            check_no_pairs("GroupGraph with chains of an order above 1", problem, EXACT_PAIRS)
            return _all_tilted(GroupMessages(progress=self.progress)(problem))
        step = stepping(self.progress, range(len(thresholds(MaxEntropy().tolerance)) + int(self.sweeps)))
        return self._solved(problem, step)

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it: each prefix is solved anew, T times the cost of a solution.

        The messages of the prefix before, as a start, send its evidence around cycles again.
        """
        if problem.order > 1:
            check_no_pairs("GroupGraph with chains of an order above 1", problem, EXACT_PAIRS)
            return _all_tilted(GroupMessages(progress=self.progress).forward(problem))
        return forward_by_prefixes(replace(self, progress=iter), problem, self.progress)

    def _solved(self, problem: JointProblem, step: Callable[[], None], doubted: bool = False) -> JointPosterior:
        """Posterior of a problem; components that the knowledge contradicts are solved apart, with a doubt mixed in."""
        if not len(problem.path):
            return self._posterior(problem, np.zeros(0), np.zeros(len(problem.counts), dtype=np.int64), 0)
        zeros: Zeros = np.zeros if self.scratch is None else partial(mapped_zeros, Path(self.scratch))
        most = MOST_ARRANGEMENTS if self.scratch is None else np.inf
        if (problem.emission_row >= 0).any():
            check_no_pairs("GroupGraph with distorted values", problem, EXACT_PAIRS)
        parts, contradicted = parts_of(problem, self.limit, most, zeros)
        approximate = parts.tilted.any() or (parts.mode == COUNTS_BY_NORMAL).any()
        fit: TiltedLaw | None = None
        if approximate or (problem.emission_row >= 0).any():
            fit = MaxEntropy().fit(without_pairs(problem), step=step)
        posterior = None
        if not contradicted.any() or doubted:
            now = first_messages(problem, parts, fit, zeros)
            posterior, contradicted = self._propagated(problem, parts, now, fit, step)
        if posterior is not None and (doubted or not contradicted.any()):
            return replace(posterior, status=posterior.status | np.where(contradicted, CONTRADICTED, 0))
        return self._apart(problem, contradicted, step)

    def _apart(self, problem: JointProblem, contradicted: BoolArray, step: Callable[[], None]) -> JointPosterior:
        """Posterior of components with contradicted groups under doubt, and of the others as they are."""
        bad = [part for part in components(problem) if contradicted[problem.group[part]].any()]
        inside = np.zeros(len(problem.path), dtype=np.bool_)
        inside[np.concatenate(bad)] = True
        beliefs, status = np.zeros(int(belief_starts(problem)[-1])), np.zeros(len(problem.counts), dtype=np.int64)
        rounds, limit, width = 0, self.limit, np.diff(belief_starts(problem))
        for doubted in (True, False):
            records = np.flatnonzero(inside == doubted)
            if not len(records):
                continue
            some = sub_problem(problem, records)
            found = self._solved(_doubted(some) if doubted else some, step, doubted)
            beliefs[np.repeat(inside == doubted, width)] = found.beliefs
            # Groups without counts may be in both parts.
            status[np.unique(problem.group[records])] |= found.status
            rounds = max(rounds, found.rounds)
            assert isinstance(found.approximation, GroupGraph)
            limit = min(limit, found.approximation.limit)
        status |= np.where(contradicted, CONTRADICTED, 0)
        return replace(self, limit=limit)._posterior(problem, beliefs, status, rounds)

    def _propagated(
        self, problem: JointProblem, parts: Parts, now: GraphMessages, fit: TiltedLaw | None, step: Callable[[], None]
    ) -> tuple[JointPosterior, BoolArray]:
        """Posterior after the sweeps, and the groups where messages left no possible arrangement."""
        at, starts = problem.layout, belief_starts(problem)
        status, component = structure_status(problem, parts)
        approximate, beliefs = status > 0, np.zeros(int(starts[-1]))
        if fit is not None:
            _weigh_distorted(problem, parts, fit, starts)
        rounds = self._swept(problem, parts, now, approximate, step)
        write_beliefs(at, parts, now, np.arange(len(status)), starts, beliefs)
        # Where messages are exact in the end, none is before all of the component are.
        over = groups_over(parts, now) & ~approximate
        status |= np.where(np.isin(component, component[over]), UNCONVERGED, 0)
        posterior = replace(self, limit=parts.limit)._posterior(problem, beliefs, status, rounds)
        if fit is not None:
            posterior = replace(posterior, relaxed=None if len(problem.pairs) else fit.posterior)
        elif not now.contradicted.any():
            posterior = replace(posterior, log_evidence=log_evidence(at, parts, now))
        return posterior, now.contradicted

    def _swept(
        self,
        problem: JointProblem,
        parts: Parts,
        now: GraphMessages,
        approximate: BoolArray,
        step: Callable[[], None],
    ) -> int:
        """Sweep until no change is over its threshold; return the number of sweeps.

        ``approximate`` are the groups that are left out after the largest number of sweeps.
        """
        now.threshold[:] = np.where(approximate, self.tolerance, ROUNDING)
        for done in range(MOST_SWEEPS):
            if done < self.sweeps:
                step()
            elif done == self.sweeps:
                now.threshold[approximate] = np.inf
                if not groups_over(parts, now).any():
                    return done
            damping = DAMPING if UNDAMPED <= done < self.sweeps else 0.0
            for side in range(2):
                send_all(problem.layout, parts, now, side, damping, np.zeros(0), self.workers)
            if not groups_over(parts, now).any():
                return done + 1
        return MOST_SWEEPS

    def _posterior(self, problem: JointProblem, beliefs: FloatArray, status: IntArray, rounds: int) -> JointPosterior:
        gap = np.zeros(len(problem.counts))
        return JointPosterior(problem, beliefs, status, gap, rounds, rule="GroupGraph", approximation=self)


def _all_tilted(posterior: JointPosterior) -> JointPosterior:
    return replace(posterior, status=posterior.status | TILTED)


def mapped_zeros(folder: Path, length: int, number: type[np.generic]) -> NDArray[Any]:
    """Array of zeros in a file of a folder, which the operating system reads and writes back; it is removed with the array."""
    if not length:
        return np.zeros(0, dtype=number)
    with TemporaryFile(dir=folder) as file:
        if hasattr(os, "posix_fallocate"):
            # A full disk is an OSError here; later it would be a signal that ends the process.
            os.posix_fallocate(file.fileno(), 0, length * np.dtype(number).itemsize)
        # Without the class of the map, for which kernels would be compiled again.
        return np.asarray(np.memmap(file, number, "w+", shape=(length,)))


def first_messages(
    problem: JointProblem, parts: Parts, fit: TiltedLaw | None, zeros: Zeros = np.zeros
) -> GraphMessages:
    """Messages of the law of `MaxEntropy`, or 1 without it; each group is to be visited. ``zeros`` is that of `parts_of`."""
    at, starts, groups = problem.layout, belief_starts(problem), len(problem.counts)
    first = parts.edge_members[parts.edge_starts[:-1]]
    message = zeros(int(parts.key_starts[-1]), np.float64)
    message[:] = 1.0
    now = GraphMessages(
        message,
        np.ones(len(at.values)),
        np.full((2, 2 * len(parts.tilted)), NEVER_VISITED),
        np.zeros(groups),
        np.zeros(groups, dtype=np.bool_),
        np.ones(int(parts.key_starts[-1] - parts.key_starts[2 * np.searchsorted(first, len(at.group))])),
    )
    if fit is not None:
        now.tilt[:] = fit.messages.tilt
        arriving = arriving_weights(at, starts, fit.messages.forward)
        start_messages(at, parts, starts, arriving, fit.messages.backward, now.message)
    return now


def send_all(
    at: Layout,
    parts: Parts,
    now: GraphMessages,
    side: int,
    damping: float,
    outward: FloatArray,
    workers: int | None = None,
) -> None:
    """Send the messages of all groups one way in time, those of a release by several threads; arguments as for `visit`."""
    releases = list(enumerate(np.split(np.arange(len(now.threshold)), at.release_starts[1:-1])))[:: 1 - 2 * side]
    send = partial(sweep, at, parts, now, side=side, damping=damping, outward=outward)
    if (threads := _threads(at, workers)) == 1 and not len(now.staged):
        send(np.concatenate([own for _, own in releases]))
        return
    with ThreadPoolExecutor(threads) as pool:
        for t, own in releases:
            # Contiguous, as kernels are compiled for the layout of their arguments.
            list(pool.map(send, [own[number::threads].copy() for number in range(threads)]))
            if len(now.staged):
                deliver(at, parts, now, side, t, damping)


def _threads(at: Layout, workers: int | None = None) -> int:
    """Number of threads for a history: one for a small one, and at most those that Numba may use."""
    return int(workers or min(cpu_count(), numba.get_num_threads())) if len(at.group) >= MANY_RECORDS else 1


class GraphLaw:
    """Expected first values and transitions under one law after another of the same history, by the graph of groups.

    Parameters
    ----------
    problem : JointProblem
        With chains of order 1, and without zeros.
    fit : TiltedLaw
        Law of `MaxEntropy`, with which the messages start.
    limit : int
        As for `GroupGraph`, lowered where there would be more than `MOST_ARRANGEMENTS`. Edges that are split carry the message
        of each member by the counts of the others. Evidence of members who stay together is then counted more than once, while
        tilts miss what exact counts tell; in sums over all respondents, as learning needs them, the second error is the larger one.
    damping : float
        Share of the former message in an update; 0 where the graph has no cycle.
    everywhere : bool
        True for beliefs about all records, False for those in groups with first records.

    Notes
    -----
    Each call sends the messages of all groups one way in time, forward and backward in turn. Cost: that of half a sweep.
    """

    def __init__(
        self,
        problem: JointProblem,
        fit: TiltedLaw,
        limit: int,
        damping: float = LEARNING_DAMPING,
        everywhere: bool = False,
    ) -> None:
        self._problem, self._fit, self._starts = problem, fit, belief_starts(problem)
        parts = parts_of(problem, limit, MOST_ARRANGEMENTS)[0]
        self._parts = parts._replace(tilted=np.zeros_like(parts.tilted))
        self._now = first_messages(problem, self._parts, fit)
        self._damping = damping
        self._outward, self._side = np.ones(len(self._now.message)), 1
        self._read = np.unique(problem.group if everywhere else problem.group[problem.layout.previous < 0])
        self(problem.layout)

    def __call__(self, at: Layout) -> TiltedLaw:
        """Law of the chains under a layout of the history; its beliefs are those of the groups that are read."""
        problem, parts, now, groups = self._problem, self._parts, self._now, len(self._problem.counts)
        write_own_weights(at, parts)
        _weigh_distorted(problem, parts, self._fit, self._starts)
        now.pending[:], self._side = NEVER_VISITED, 1 - self._side
        send_all(at, parts, now, self._side, self._damping, self._outward)
        beliefs = np.zeros(int(self._starts[-1]))
        write_beliefs(at, parts, now, self._read, self._starts, beliefs)
        posterior = JointPosterior(problem, beliefs, np.zeros(groups, dtype=np.int64), np.zeros(groups))
        # A fixed number of parts, so that sums do not depend on the number of threads.
        chunks = np.array_split(np.arange(len(parts.tilted)), EDGE_PARTS)
        with ThreadPoolExecutor(_threads(at)) as pool:
            steps = np.sum(list(pool.map(partial(expected_steps, at, parts, self._outward), chunks)), axis=0)
        return TiltedLaw(posterior, steps, self._fit.messages)


def _doubted(problem: JointProblem) -> JointProblem:
    """Problem with the uniform distribution of weight `DOUBT` mixed into all knowledge."""
    m, likeliest = problem.values, problem.evidence.max(axis=1, keepdims=True, initial=0.0)
    return replace(
        problem,
        prior=(1 - DOUBT) * problem.prior + DOUBT / m,
        tables=tuple((1 - DOUBT) * table + DOUBT / m for table in problem.tables),
        evidence=(1 - DOUBT) * problem.evidence + DOUBT * likeliest,
    )


def structure_status(problem: JointProblem, parts: Parts) -> tuple[IntArray, IntArray]:
    """`CYCLES` and `TILTED` of each group by the structure of the graph, and a component of each.

    The status is 0 where messages are exact once they have converged.
    An edge with one possible arrangement at an end couples nothing and is no part of a cycle. Cost: O(edges).
    """
    groups, edges = len(problem.counts), len(parts.tilted)
    tied = problem.constrained & (problem.emission_row < 0)
    # Nodes: groups with counts, and behind them the blocks of other groups.
    block_group = np.repeat(np.arange(groups), np.diff(parts.block_starts))
    block_node = np.where(tied[block_group], block_group, groups + np.arange(len(block_group)))
    port_node = np.zeros(2 * edges, dtype=np.int64)
    port_node[parts.ports] = np.repeat(block_node, np.diff(parts.port_starts))
    out, into = port_node[::2], port_node[1::2]
    choices = np.diff(parts.key_starts).reshape(edges, 2).min(axis=1, initial=2)
    couples = choices > 1
    size = groups + len(block_group)
    ends = (out[couples], into[couples])
    label = connected_components(coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(size, size)), False)[1]
    nodes = np.bincount(label)
    own = np.zeros(size, dtype=np.bool_)
    own[block_node[((parts.mode == COUNTS_BY_NORMAL) | (problem.emission_row >= 0))[block_group]]] = True
    own[out[parts.tilted & couples]] = own[into[parts.tilted & couples]] = True
    spread = np.bincount(label, weights=own) > 0
    cyclic = np.bincount(label[ends[0]], minlength=len(nodes)) > nodes - 1
    reached = np.where((cyclic | spread)[label], CYCLES, 0) | np.where(own, TILTED, 0)
    status = np.zeros(groups, dtype=np.int64)
    np.bitwise_or.at(status, block_group, reached[block_node])
    return status, label[:groups]


def _weigh_distorted(problem: JointProblem, parts: Parts, fit: TiltedLaw, starts: IntArray) -> None:
    """Multiply the weights of records of distorted groups by the likelihood of their group under the tilts."""
    distorted = problem.emission_row >= 0
    if not distorted.any():
        return
    likelihoods = tilted_messages(problem, fit.messages).likelihoods
    for b in np.flatnonzero(distorted[np.repeat(np.arange(len(distorted)), np.diff(parts.block_starts))]).tolist():
        span = slice(parts.arrangement_starts[b], parts.arrangement_starts[b + 1])
        values = parts.values[parts.value_starts[b] : parts.value_starts[b + 1]]
        parts.weight[span] *= likelihoods[starts[parts.members[parts.member_starts[b]]] + values]
