r"""Belief propagation on the graph of groups: the solver of the joint law that counts shared evidence once.

Nodes are the groups, each with the arrangements of its multiset over its members; an edge leads from group g to group h for the
set C of members whose next record after g is in h. With u and v the arrangements of C in g and h, and ``phi`` the priors of first
records and all evidence, the joint law is exactly::

    p(x) ~ product over groups of phi_g(x_g) * product over edges of product over i in C of A_i(u_i, v_i)

Messages between *persons* and groups treat the members of C apart, and count what they share once for each of them. Messages
between groups are joint over C, and exact wherever the graph has no cycle::

    M_gh(v) = sum over u of b_g\h(u) product over i in C of A_i(u_i, v_i)

with ``b_g\h`` the belief of g without the message from h, summed over the other members.

Between groups of one release with related members, A is the table of each pair. The product is applied member by member: an array
over (values of the later members in g, values of the earlier ones in h), so that the cost is the sum of the sizes of these arrays
and not the product of all arrangements.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar, NamedTuple

import numba
import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from foreknow.models.arrays import BoolArray, FloatArray, IntArray, compiled, inlined
from foreknow.models.joint.graph_parts import (
    COUNTS_BY_NORMAL,
    COUNTS_IN_BLOCK,
    Parts,
    ValueArray,
    Zeros,
    blocks_of,
    ends_of,
    write_own_weights,
)
from foreknow.models.joint.group_messages import GroupMessages, tilted_messages
from foreknow.models.joint.max_entropy import MaxEntropy, TiltedLaw
from foreknow.models.joint.messages import thresholds
from foreknow.models.joint.problem import (
    JointPosterior,
    JointProblem,
    JointSolver,
    Layout,
    belief_starts,
    components,
    forward_by_prefixes,
    sub_problem,
    without_pairs,
)
from foreknow.models.problem import CONTRADICTED, CYCLES, DOUBT, ROW_PARTS, TILTED, UNCONVERGED
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

NOISY_SWEEPS = 20
"""Sweeps of each of two chains for noisy counts."""

MANY_RECORDS = 5000
"""Number of records from which the groups of a release are visited by several threads."""

MOST_TOGETHER = 25_000
"""Largest number of records of which each thread solves a prefix; of more, two prefixes are solved at a time, to save memory."""

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

TILT_ROUNDS = 20
"""Largest number of rounds in which a visit fits the tilts of a group."""

TILT_TOLERANCE = 1e-4
"""Deviation of the expected counts, as a share of the members, at which it stops."""

LEAST_TILT = 1e-100
"""Smallest tilt of a value, relative to the largest."""

MOST_TILT = 1e100
"""Largest tilt before it is scaled."""

LATTICE_VARIANCE = 1 / 6
"""Variance added to each count of a normal law, since counts are whole numbers; it also bounds densities where beliefs are sharp.
Of 1/24, 1/12 and 1/6 the last had the least error against exact sums in groups of real publications."""


class GraphMessages(NamedTuple):
    """State of the iteration."""

    # (keys,): message that arrives at each port, over the arrangements of its edge's members there; largest entry 1
    message: FloatArray
    # (V,): factor of each shown value of groups that have tilted edges or keep their counts by a normal law
    tilt: FloatArray
    # (2, ports): change of the message at each port since its group last sent its messages forward and backward, in total variation
    pending: FloatArray
    threshold: FloatArray  # (G,): largest pending change with which a group is not visited
    contradicted: BoolArray  # (G,): groups whose messages left no possible arrangement
    # (keys of edges of relations,): messages within a release, which arrive after all of its groups were visited (`deliver`)
    staged: FloatArray


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

    Noisy counts are solved by `PathSampler`, with `NOISY_SWEEPS` sweeps of two chains of a fixed seed; those of chains of a higher
    order, or beside exact counts, by `MaxEntropy`, which understates what they tell.

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
    reads: ClassVar[tuple[str, ...]] = (*ROW_PARTS, "relations")

    def __post_init__(self) -> None:
        check_whole("GroupGraph", "limit", self.limit, "arrangements", most=MAX_ARRANGEMENTS)
        check_iteration("GroupGraph", self.tolerance, self.sweeps)
        check_progress("GroupGraph", self.progress, "the parts of a solution")
        check_folder("GroupGraph", "scratch", self.scratch)
        if self.workers is not None:
            check_whole("GroupGraph", "workers", self.workers, "threads")

    def __call__(self, problem: JointProblem) -> JointPosterior:
        """Posterior of a whole history: beliefs of each release given all releases."""
        if problem.noisy.any():
            return self._noisy(problem)(problem)
        if problem.order > 1:
            return _all_tilted(GroupMessages(progress=self.progress)(problem))
        step = stepping(self.progress, range(len(thresholds(MaxEntropy().tolerance)) + int(self.sweeps)))
        return self._solved(problem, step)

    def forward(self, problem: JointProblem) -> JointPosterior:
        """Posterior of each release given the releases up to it: each prefix is solved anew, T times the cost of a solution.

        The messages of the prefix before, as a start, send its evidence around cycles again. Each thread solves
        a prefix. Of more than `MOST_TOGETHER` records two are solved at a time, and with ``scratch`` one.
        """
        if problem.noisy.any():
            return self._noisy(problem).forward(problem)
        if problem.order > 1:
            return _all_tilted(GroupMessages(progress=self.progress).forward(problem))
        workers = threads_of(self.workers)
        together = workers if len(problem.path) <= MOST_TOGETHER else min(workers, 2)
        together = together if self.scratch is None else 1
        one = replace(self, progress=iter, workers=-(-workers // together))
        return forward_by_prefixes(one, problem, self.progress, threads=together)

    def _noisy(self, problem: JointProblem) -> JointSolver:
        """Solver of noisy counts."""
        from foreknow.models.joint.path_sampler import PathSampler

        if problem.order > 1 or problem.constrained.any():
            return MaxEntropy(progress=self.progress)
        return PathSampler(NOISY_SWEEPS, chains=2, progress=self.progress, rng=0)

    def _solved(self, problem: JointProblem, step: Callable[[], None], doubted: bool = False) -> JointPosterior:
        """Posterior of a problem; components that the knowledge contradicts are solved apart, with a doubt mixed in."""
        if not len(problem.path):
            return self._posterior(problem, np.zeros(0), np.zeros(len(problem.counts), dtype=np.int64), 0)
        zeros: Zeros = np.zeros if self.scratch is None else partial(mapped_zeros, Path(self.scratch))
        most = MOST_ARRANGEMENTS if self.scratch is None else np.inf
        parts, contradicted = blocks_of(problem, self.limit, most, zeros)
        approximate = parts.tilted.any() or (parts.mode == COUNTS_BY_NORMAL).any()
        fit: TiltedLaw | None = None
        distorted = (problem.emission_row >= 0).any()
        if approximate or distorted:
            fit = MaxEntropy().fit(problem if distorted else without_pairs(problem), step=step)
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
        write_all(at, parts, now, np.arange(len(status)), starts, beliefs, self.workers)
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
    """Messages of the law of `MaxEntropy`, or 1 without it; each group is to be visited. ``zeros`` is that of `blocks_of`."""
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


def write_all(
    at: Layout,
    parts: Parts,
    now: GraphMessages,
    groups: IntArray,
    starts: IntArray,
    beliefs: FloatArray,
    workers: int | None = None,
) -> None:
    """Write the beliefs about the records of some groups, by several threads; arguments as for `write_beliefs`."""
    write = partial(write_beliefs, at, parts, now, starts=starts, beliefs=beliefs)
    if (threads := _threads(at, workers)) == 1:
        write(groups)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, [groups[number::threads].copy() for number in range(threads)]))


def _threads(at: Layout, workers: int | None = None) -> int:
    """Number of threads for a history: one for a small one."""
    return threads_of(workers) if len(at.group) >= MANY_RECORDS else 1


def threads_of(workers: int | None = None) -> int:
    """Number of threads: as given, or one for each processor, and at most those that Numba may use."""
    return int(workers or min(cpu_count(), numba.get_num_threads()))


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
        parts = blocks_of(problem, limit, MOST_ARRANGEMENTS)[0]
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
        write_all(at, parts, now, self._read, self._starts, beliefs)
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
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

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


@compiled
def sweep(
    at: Layout, parts: Parts, now: GraphMessages, groups: IntArray, side: int, damping: float, outward: FloatArray
) -> None:
    """Visit some groups in turn if the changes of the messages to them are over their threshold; arguments as for `visit`.

    Groups of one release write to other places, and may be visited at the same time.
    """
    for g in groups:
        if waiting(parts, now, g, side) > now.threshold[g]:
            visit(at, parts, now, g, side, damping, outward)


@compiled
def waiting(parts: Parts, now: GraphMessages, g: int, side: int) -> float:
    """Sum of the pending changes of the messages to a group."""
    total = 0.0
    for port in parts.ports[parts.port_starts[parts.block_starts[g]] : parts.port_starts[parts.block_starts[g + 1]]]:
        total += now.pending[side, port]
    return total


@compiled
def groups_over(parts: Parts, now: GraphMessages) -> BoolArray:
    """Groups to which messages have changed by more than their threshold: bool array, shape ``(G,)``."""
    over = np.zeros(len(now.threshold), dtype=np.bool_)
    for g in range(len(over)):
        over[g] = max(waiting(parts, now, g, 0), waiting(parts, now, g, 1)) > now.threshold[g]
    return over


@compiled
def visit(at: Layout, parts: Parts, now: GraphMessages, g: int, side: int, damping: float, outward: FloatArray) -> None:
    """Send the messages of a group by its edges of one side, 0 to later groups, 1 to earlier ones, and by those of relations.

    ``damping`` is the share of the former message.

    ``outward``, of the length of the messages or 0 if they are not wanted, is overwritten with the weights of the arrangements at
    all ports of the group without the messages there, scaled to a largest one of 1.
    """
    first, last = parts.block_starts[g], parts.block_starts[g + 1]
    if first == last:
        return
    weights, within = block_weights(parts, now, first, last), len(at.group)
    outside, tilts, _ = count_weights(at, parts, now, g, weights)
    for port in parts.ports[parts.port_starts[first] : parts.port_starts[last]]:
        now.pending[side, port] = 0.0
    for b in range(first, last):
        own = weights[parts.arrangement_starts[b] - parts.arrangement_starts[first] :]
        at_code = parts.code_starts[b] - parts.code_starts[first]
        for port in parts.ports[parts.port_starts[b] : parts.port_starts[b + 1]]:
            related = parts.edge_members[parts.edge_starts[port // 2]] >= within
            if port % 2 != side and not related and not len(outward):
                continue
            counts = (tilts if parts.tilted[port // 2] else outside)[at_code:]
            out = weights_at_port(parts, now, b, port, own, counts)
            if len(outward):
                outward[parts.key_starts[port] : parts.key_starts[port + 1]] = out / max(out.max(), 1e-300)
            if related:
                stage(at, parts, now, port, out)
            elif port % 2 == side:
                send(at, parts, now, g, port, out, damping)


@compiled
def weights_at_port(
    parts: Parts, now: GraphMessages, b: int, port: int, weights: FloatArray, counts: FloatArray
) -> FloatArray:
    """Weight of each arrangement of the members of a port, without its message; ``weights`` and ``counts`` are those of block b."""
    low, out = parts.arrangement_starts[b], np.zeros(parts.key_starts[port + 1] - parts.key_starts[port])
    for a in range(low, parts.arrangement_starts[b + 1]):
        factor = counts[parts.code[a]]
        if factor > 0.0:
            where = parts.positions[parts.position_starts[port] + a - low]
            message = now.message[parts.key_starts[port] + where]
            # Divided where the message is positive, else multiplied anew.
            if message > 1e-200:
                out[where] += factor * weights[a - low] / message
            else:
                out[where] += factor * weight_without(parts, now, b, a, port)
    return out


@compiled
def log_evidence(at: Layout, parts: Parts, now: GraphMessages) -> float:
    """Log-probability of all published counts by the Bethe free energy, where no counts are kept by tilts.

    With Z_g the sum of the weights of group g and its messages, and c the factor by which the message to the earlier group of an
    edge is scaled, the evidence is the product of Z_g over groups, times c / Z_h over edges into groups h. Exact without cycles.
    """
    found = 0.0
    for g in range(len(parts.block_starts) - 1):
        first, last = parts.block_starts[g], parts.block_starts[g + 1]
        if first == last:
            continue
        weights = block_weights(parts, now, first, last)
        outside, _, total = count_weights(at, parts, now, g, weights)
        found += total
        for b in range(first, last):
            low, at_code = parts.arrangement_starts[b], parts.code_starts[b] - parts.code_starts[first]
            own = weights[low - parts.arrangement_starts[first] :]
            of_block = 0.0
            for a in range(low, parts.arrangement_starts[b + 1]):
                of_block += own[a - low] * outside[at_code + parts.code[a]]
            if parts.mode[g] == COUNTS_IN_BLOCK:
                found += np.log(of_block)
            for port in parts.ports[parts.port_starts[b] : parts.port_starts[b + 1]]:
                if port % 2 == 1:
                    out = weights_at_port(parts, now, b, port, own, outside[at_code:])
                    found += np.log(through(at, parts, port // 2, 1, out).max()) - np.log(of_block)
    return found


@compiled
def block_weights(parts: Parts, now: GraphMessages, first: int, last: int) -> FloatArray:
    """Weight of each arrangement of some blocks by the knowledge and the messages of all their ports."""
    begin = parts.arrangement_starts[first]
    weights = parts.weight[begin : parts.arrangement_starts[last]].copy()
    for b in range(first, last):
        low, high = parts.arrangement_starts[b], parts.arrangement_starts[b + 1]
        for port in parts.ports[parts.port_starts[b] : parts.port_starts[b + 1]]:
            index, start = parts.position_starts[port] - low, parts.key_starts[port]
            for a in range(low, high):
                weights[a - begin] *= now.message[start + parts.positions[index + a]]
    return weights


@compiled
def weight_without(parts: Parts, now: GraphMessages, b: int, a: int, left_out: int) -> float:
    """Weight of an arrangement without the message of one port."""
    weight = float(parts.weight[a])
    for port in parts.ports[parts.port_starts[b] : parts.port_starts[b + 1]]:
        if port != left_out:
            index = parts.position_starts[port] + a - parts.arrangement_starts[b]
            weight *= now.message[parts.key_starts[port] + parts.positions[index]]
    return weight


@compiled
def count_weights(
    at: Layout, parts: Parts, now: GraphMessages, g: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Weight of the counts of each block, by its codes: of what the other blocks show, and by tilts.

    The first is the probability that the other blocks complete the multiset, the second the product of the tilts of the block's
    values, for groups with tilted edges. The third is the logarithm of the sum of the weights of all arrangements of a group with
    `COUNTS_BY_BLOCKS`, and 0 for others.
    """
    first, last = parts.block_starts[g], parts.block_starts[g + 1]
    start = parts.code_starts[first]
    ones = np.ones(parts.code_starts[last] - start)
    if parts.mode[g] == COUNTS_IN_BLOCK:
        return ones, ones, 0.0
    by_code = np.zeros(len(ones))
    begin, log_total = parts.arrangement_starts[first], 0.0
    for b in range(first, last):
        low, high = parts.arrangement_starts[b], parts.arrangement_starts[b + 1]
        total = 0.0
        for a in range(low, high):
            by_code[parts.code_starts[b] - start + parts.code[a]] += weights[a - begin]
            total = max(total, by_code[parts.code_starts[b] - start + parts.code[a]])
        if total > 0.0:
            for c in range(parts.code_starts[b] - start, parts.code_starts[b + 1] - start):
                by_code[c] /= total
        log_total += np.log(total)
    by_normal = parts.mode[g] == COUNTS_BY_NORMAL
    some_tilted = by_normal
    for b in range(first, last):
        for port in parts.ports[parts.port_starts[b] : parts.port_starts[b + 1]]:
            some_tilted |= parts.tilted[port // 2]
    places = code_places(parts, g) if some_tilted else np.zeros(0, dtype=np.int64)
    tilts = fit_tilts(at, parts, now, g, by_code, places) if some_tilted else ones
    if by_normal:
        width = at.value_starts[g + 1] - at.value_starts[g]
        return normal_counts(parts, g, by_code * tilts, places, width) * tilts, tilts, 0.0
    outside, log_sums = sums_over_counts(at, parts, g, by_code)
    return outside, tilts, log_total + log_sums


@compiled
def code_places(parts: Parts, g: int) -> IntArray:
    """Position in the values of all arrangements of one with each code of the blocks of a group, shape ``(codes,)``."""
    first, last = parts.block_starts[g], parts.block_starts[g + 1]
    start = parts.code_starts[first]
    places = np.zeros(parts.code_starts[last] - start, dtype=np.int64)
    for b in range(first, last):
        size, low = parts.member_starts[b + 1] - parts.member_starts[b], parts.arrangement_starts[b]
        for a in range(low, parts.arrangement_starts[b + 1]):
            places[parts.code_starts[b] - start + parts.code[a]] = parts.value_starts[b] + (a - low) * size
    return places


@compiled
def normal_counts(parts: Parts, g: int, weights: FloatArray, places: IntArray, width: int) -> FloatArray:
    """Density of the counts that each code of a block leaves to the other blocks, relative to that of their mean.

    ``weights`` are those of the codes under the tilts, so that the mean counts of all blocks are the published ones; ``places`` are
    those of `code_places`, ``width`` is the number of values. With d the deviation of a code from the mean of its block, K the
    inverse of the covariance of the counts of the other blocks, and L the sum over them of the mean of (d' K d) d, the logarithm is
    ``d' K (L - d) / 2``: normal density and skewness at -d, an Edgeworth series up to the order 1 / members. `LATTICE_VARIANCE` is
    added to each variance.

    Not exact: against exact sums in groups of five real publications, of 4 to 13 members on average, beliefs in codes are off by
    .002 to .02 in total variation on average (by the tilts alone .01 to .13). Cost: O(codes c^2 + blocks m^3) for blocks of c
    members.
    """
    first, start = parts.block_starts[g], parts.code_starts[parts.block_starts[g]]
    blocks, share = parts.block_starts[g + 1] - first, weights.copy()
    mean, within = np.zeros((blocks, width)), np.zeros((blocks, width, width))
    total = LATTICE_VARIANCE * np.eye(width)
    for b in range(blocks):
        own, size = _codes_of(parts, first + b, start)
        of_block = share[own].sum()
        if of_block > 0.0:
            share[own] /= of_block
        for c in range(own.start, own.stop):
            values = parts.values[places[c] : places[c] + size]
            for s in values:
                mean[b, s] += share[c]
                for r in values:
                    within[b, s, r] += share[c]
        within[b] -= np.outer(mean[b], mean[b])
        total += within[b]
    skews, inverse = np.zeros((blocks, width)), np.linalg.inv(total)
    for b in range(blocks):
        own, size = _codes_of(parts, first + b, start)
        toward, squares = inverse @ mean[b], 0.0
        for c in range(own.start, own.stop):
            values = parts.values[places[c] : places[c] + size]
            squared = share[c] * _squared(values, inverse, toward, mean[b])
            squares += squared
            for s in values:
                skews[b, s] += squared
        skews[b] -= squares * mean[b]
    skew, density = skews.sum(axis=0), np.zeros(len(weights))
    for b in range(blocks):
        own, size = _codes_of(parts, first + b, start)
        others, top = np.linalg.inv(total - within[b]), -np.inf
        pull, toward = others @ (skew - skews[b]), others @ mean[b]
        for c in range(own.start, own.stop):
            values = parts.values[places[c] : places[c] + size]
            for s in values:
                density[c] += pull[s]
            density[c] = (density[c] - _squared(values, others, toward, mean[b])) / 2.0
            top = max(top, density[c])
        for c in range(own.start, own.stop):
            density[c] = np.exp(density[c] - top)
    return density


@inlined
def _codes_of(parts: Parts, b: int, start: int) -> tuple[slice, int]:
    """Codes of a block among those of its group, which begin at ``start``, and the number of its members."""
    own = slice(parts.code_starts[b] - start, parts.code_starts[b + 1] - start)
    return own, parts.member_starts[b + 1] - parts.member_starts[b]


@inlined
def _squared(values: ValueArray, matrix: FloatArray, toward: FloatArray, mean: FloatArray) -> float:
    """Quadratic form of a symmetric matrix in the counts of values less their mean; ``toward`` is the matrix times the mean."""
    squared = 0.0
    for s in range(len(mean)):
        squared += toward[s] * mean[s]
    for s in values:
        squared -= 2.0 * toward[s]
        for r in values:
            squared += matrix[s, r]
    return squared


@compiled
def sums_over_counts(at: Layout, parts: Parts, g: int, by_code: FloatArray) -> tuple[FloatArray, float]:
    """Probability, up to a factor for each block, that the other blocks complete the multiset, by the codes of each block.

    The second result is the logarithm of the weight of the whole multiset.

    Forward and backward over the blocks; a state is the code of the counts that the blocks so far show, of as many records as they
    have members. Positive terms only. Cost: O(states * codes of a block).
    """
    first, last, states = parts.block_starts[g], parts.block_starts[g + 1], parts.states[g]
    start, begin = parts.code_starts[first], at.value_starts[g]
    width, members = at.value_starts[g + 1] - begin, at.group_starts[g + 1] - at.group_starts[g]
    # Counts as bit fields, each with a guard bit which a difference below 0 sets.
    shift, base = np.zeros(width + 1, dtype=np.int64), np.zeros(width, dtype=np.int64)
    guard = 0
    for s in range(width):
        base[s] = int(at.shown[begin + s]) + 1
        bits = 1
        while 2**bits < base[s]:
            bits += 1
        shift[s + 1] = shift[s] + bits + 1
        guard |= 1 << (shift[s + 1] - 1)
    left, total = np.zeros(states, dtype=np.int64), np.zeros(states, dtype=np.int64)
    layers = np.zeros(members + 2, dtype=np.int64)
    for state in range(states):
        rest = state
        for s in range(width):
            number = rest % base[s]
            rest //= base[s]
            total[state] += number
            left[state] |= (base[s] - 1 - number) << shift[s]
        layers[total[state] + 1] += 1
    for layer in range(members + 1):
        layers[layer + 1] += layers[layer]
    order, filled = np.zeros(states, dtype=np.int64), layers.copy()
    for state in range(states):
        order[filled[total[state]]] = state
        filled[total[state]] += 1
    packed = np.zeros(len(by_code), dtype=np.int64)
    for c in range(len(by_code)):
        rest = parts.codes[start + c]
        for s in range(width):
            packed[c] |= (rest % base[s]) << shift[s]
            rest //= base[s]
    behind, ahead, outside = np.zeros(states), np.zeros(states), np.zeros(len(by_code))
    behind[0] = ahead[states - 1] = 1.0
    shown, log_total = 0, 0.0
    for b in range(first, last):
        after = shown + parts.member_starts[b + 1] - parts.member_starts[b]
        low, high = parts.code_starts[b] - start, parts.code_starts[b + 1] - start
        for place in range(layers[shown], layers[shown + 1]):
            state = order[place]
            if behind[state] > 0.0:
                for c in range(low, high):
                    if by_code[c] > 0.0 and (left[state] - packed[c]) & guard == 0:
                        behind[state + parts.codes[start + c]] += by_code[c] * behind[state]
        log_total += np.log(_scale(behind, order, layers[after], layers[after + 1]))
        shown = after
    for b in range(last - 1, first - 1, -1):
        shown -= parts.member_starts[b + 1] - parts.member_starts[b]
        low, high = parts.code_starts[b] - start, parts.code_starts[b + 1] - start
        for place in range(layers[shown], layers[shown + 1]):
            state = order[place]
            if behind[state] > 0.0:
                total_ahead = 0.0
                for c in range(low, high):
                    if (left[state] - packed[c]) & guard == 0:
                        onward = ahead[state + parts.codes[start + c]]
                        outside[c] += behind[state] * onward
                        total_ahead += by_code[c] * onward
                ahead[state] = total_ahead
        _scale(ahead, order, layers[shown], layers[shown + 1])
    return outside, log_total


@inlined
def _scale(weights: FloatArray, order: IntArray, low: int, high: int) -> float:
    """Scale the weights of the states of a layer to a largest one of 1; return the largest before."""
    top = 0.0
    for place in range(low, high):
        top = max(top, weights[order[place]])
    if top > 0.0:
        for place in range(low, high):
            weights[order[place]] /= top
    return top


@compiled
def fit_tilts(
    at: Layout, parts: Parts, now: GraphMessages, g: int, by_code: FloatArray, places: IntArray
) -> FloatArray:
    """Fit the tilts of a group so that the expected counts of independent blocks are the published ones; their product by code."""
    first, last = parts.block_starts[g], parts.block_starts[g + 1]
    start, begin, width = parts.code_starts[first], at.value_starts[g], at.value_starts[g + 1] - at.value_starts[g]
    tilt, product = now.tilt[begin : begin + width], np.zeros(len(by_code))
    members = at.group_starts[g + 1] - at.group_starts[g]
    expected = np.zeros(width)
    for turn in range(TILT_ROUNDS + 1):
        expected[:] = 0.0
        for b in range(first, last):
            own, size = _codes_of(parts, b, start)
            total = 0.0
            for c in range(own.start, own.stop):
                product[c] = 1.0
                for s in parts.values[places[c] : places[c] + size]:
                    product[c] *= tilt[s]
                total += product[c] * by_code[c]
            if total > 0.0:
                for c in range(own.start, own.stop):
                    for s in parts.values[places[c] : places[c] + size]:
                        expected[s] += product[c] * by_code[c] / total
        off, largest = 0.0, 0.0
        for s in range(width):
            off += abs(expected[s] - at.shown[begin + s])
        if off <= 2.0 * TILT_TOLERANCE * members or turn == TILT_ROUNDS:
            break
        for s in range(width):
            if expected[s] > 0.0:
                tilt[s] = min(tilt[s] * at.shown[begin + s] / expected[s], MOST_TILT)
            largest = max(largest, tilt[s])
        for s in range(width):
            tilt[s] = max(tilt[s] / largest, LEAST_TILT)
    return product


@compiled
def send(at: Layout, parts: Parts, now: GraphMessages, g: int, port: int, out: FloatArray, damping: float) -> None:
    """Pass weights of the arrangements at one end of an edge through the transitions.

    The message at the other port is overwritten; the change is added to what is pending there.
    """
    edge, side = port // 2, port % 2
    arrived = through(at, parts, edge, side, out)
    if not arrive(parts, now, side, 2 * edge + 1 - side, arrived, damping):
        now.contradicted[g] = True


@compiled
def stage(at: Layout, parts: Parts, now: GraphMessages, port: int, out: FloatArray) -> None:
    """Write the message of a port of an edge of relations, which `deliver` passes on."""
    other, base = port + 1 - 2 * (port % 2), parts.key_starts[-1] - len(now.staged)
    now.staged[parts.key_starts[other] - base : parts.key_starts[other + 1] - base] = through(
        at, parts, port // 2, port % 2, out
    )


@compiled
def deliver(at: Layout, parts: Parts, now: GraphMessages, side: int, release: int, damping: float) -> None:
    """Let the messages between the groups of a release arrive.

    They are sent in both directions whenever a group is visited. So that the order of the visits does not matter, none arrives
    before all groups of the release were visited.
    """
    records, base = len(at.group), parts.key_starts[-1] - len(now.staged)
    low, high = at.group_starts[at.release_starts[release]], at.group_starts[at.release_starts[release + 1]]
    edges, pairs = parts.edge_members[parts.edge_starts[:-1]], at.pairs[:, 0].copy()
    first = np.searchsorted(edges, records + np.searchsorted(pairs, low))
    last = np.searchsorted(edges, records + np.searchsorted(pairs, high))
    for port in range(2 * first, 2 * last):
        arrived = now.staged[parts.key_starts[port] - base : parts.key_starts[port + 1] - base].copy()
        if not arrive(parts, now, side, port, arrived, damping):
            now.contradicted[at.group[ends_of(at, edges[port // 2])[port % 2]]] = True


@compiled
def arrive(parts: Parts, now: GraphMessages, side: int, other: int, arrived: FloatArray, damping: float) -> bool:
    """Overwrite the message at a port, and add the change to what is pending there; False if it leaves no possible arrangement."""
    top, port = 0.0, other + 1 - 2 * (other % 2)
    for x in arrived:
        top = max(top, x)
    old = now.message[parts.key_starts[other] : parts.key_starts[other + 1]]
    possible = 0.0 < top < np.inf
    if not possible:
        arrived[:] = 1.0
        top = 1.0
    total_old = total_new = 0.0
    for i in range(len(old)):
        arrived[i] /= top
        if damping > 0.0:
            arrived[i] = (1.0 - damping) * arrived[i] + damping * old[i]
        total_old += old[i]
        total_new += arrived[i]
    change = 0.0
    for i in range(len(old)):
        change += abs(arrived[i] / total_new - old[i] / total_old) / 2.0
        old[i] = arrived[i]
    now.pending[:, other] += change
    now.pending[side, port] += damping * change
    return possible


@compiled
def through(at: Layout, parts: Parts, edge: int, side: int, out: FloatArray) -> FloatArray:
    """Sum over the arrangements at one end of an edge of their weight times the transitions, for each arrangement at the other."""
    c = parts.edge_starts[edge + 1] - parts.edge_starts[edge]
    state = out.reshape((len(out), 1)) if side == 0 else out.reshape((1, len(out)))
    for step in range(c):
        state = _one_member(at, parts, edge, step if side == 0 else c - 1 - step, side, state)
    return state.reshape(state.size)


@compiled
def _one_member(at: Layout, parts: Parts, edge: int, j: int, side: int, state: FloatArray) -> FloatArray:
    """Apply the transitions of member j of an edge, forward (side 0) or backward.

    ``state[s, q]`` is the weight of the values s of the members from number j on where they leave, and q of the first j where they
    arrive; the result has j + 1 for j, and the other way round backward.
    """
    levels, leave, arrive = _levels(parts, edge)
    s_first, s_last, q_first, q_last = (
        levels[leave + j],
        levels[leave + j + 1],
        levels[arrive + j + 1],
        levels[arrive + j + 2],
    )
    a = member_transitions(at, parts.edge_members[parts.edge_starts[edge] + j])
    runs, links = _runs(parts, q_first, q_last, a.shape[1])
    shape = (levels[leave + j + 2] - s_last, q_last - q_first)
    if side == 1:
        shape = (s_last - s_first, q_first - levels[arrive + j])
    onward = np.zeros(shape)
    for s in range(s_last - s_first):
        row, shorter = parts.digit[s_first + s], parts.link[s_first + s]
        for y in range(a.shape[1]):
            step = a[row, y]
            if step == 0.0:
                continue  # With all arrangements of its run.
            if side == 0:
                for q in range(runs[y], runs[y + 1]):
                    onward[shorter, q] += state[s, links[q]] * step
            else:
                for q in range(runs[y], runs[y + 1]):
                    onward[s, links[q]] += state[shorter, q] * step
    return onward


@inlined
def _levels(parts: Parts, edge: int) -> tuple[IntArray, int, int]:
    """Starts of levels, and where those of the two ports of an edge begin among them."""
    leave = 2 * (parts.edge_starts[edge] + edge)
    return parts.level_starts, leave, leave + parts.edge_starts[edge + 1] - parts.edge_starts[edge] + 1


@inlined
def _runs(parts: Parts, first: int, last: int, width: int) -> tuple[IntArray, NDArray[np.int32]]:
    """First entry of a level with each digit, which follow each other, and the links of its entries."""
    return np.searchsorted(parts.digit[first:last], np.arange(width + 1)), parts.link[first:last]


@compiled
def expected_steps(at: Layout, parts: Parts, outward: FloatArray, edges: IntArray) -> FloatArray:
    """Expected number of each transition of some edges, shape ``(Q, m)``: sums of the pair marginals of consecutive records.

    The pair marginal of the arrangements u and v at the ends of an edge is ``b_gh(u) b_hg(v) product over i of A_i(u_i, v_i)``, of
    beliefs ``outward`` (`visit`) without the messages of the edge. Exact as these are. Cost: that of the messages of two sweeps.
    """
    steps = np.zeros(at.table.shape)
    for edge in edges:
        middle = parts.key_starts[2 * edge + 1]
        leaving, arriving = (
            outward[parts.key_starts[2 * edge] : middle],
            outward[middle : parts.key_starts[2 * edge + 2]],
        )
        _add_pairs(at, parts, edge, leaving, arriving, steps)
    return steps


@compiled
def _add_pairs(
    at: Layout, parts: Parts, edge: int, leaving: FloatArray, arriving: FloatArray, steps: FloatArray
) -> None:
    """Add the pair marginals of the members of an edge to the expected steps, given the weights at its two ends."""
    levels, leave, arrive = _levels(parts, edge)
    first, c = parts.edge_starts[edge], parts.edge_starts[edge + 1] - parts.edge_starts[edge]
    # ahead[s, q]: weight of all that is later, for the states of `_one_member`; before[j] is that of all that is earlier.
    before = [leaving.copy().reshape((len(leaving), 1))]
    for j in range(c - 1):
        before.append(_one_member(at, parts, edge, j, 0, before[j]))
    ahead = arriving.copy().reshape((1, len(arriving)))
    for j in range(c - 1, -1, -1):
        r = parts.edge_members[first + j]
        a, start = member_transitions(at, r), at.value_starts[at.group[at.following[r]]]
        pairs = np.zeros(a.size)
        s_first, q_first = levels[leave + j], levels[arrive + j + 1]
        runs, links = _runs(parts, q_first, levels[arrive + j + 2], a.shape[1])
        for s in range(levels[leave + j + 1] - s_first):
            x, source, rest = parts.digit[s_first + s], before[j][s], ahead[parts.link[s_first + s]]
            for y in range(a.shape[1]):
                weight = 0.0
                for q in range(runs[y], runs[y + 1]):
                    weight += source[links[q]] * rest[q]
                pairs[x * a.shape[1] + y] += weight * a[x, y]
        total = pairs.sum()
        if total > 0.0:
            for x in range(a.shape[0]):
                row = at.state_rows[at.state_starts[r] + x]
                for y in range(a.shape[1]):
                    steps[row, at.values[start + y]] += pairs[x * a.shape[1] + y] / total
        if j > 0:
            ahead = _one_member(at, parts, edge, j, 1, ahead)


@compiled
def member_transitions(at: Layout, r: int) -> FloatArray:
    """Transitions from the shown values of a record to those of the next one of its path; the table of a pair for its link."""
    one, two = ends_of(at, r)
    g, h = at.group[one], at.group[two]
    width, after = at.value_starts[g + 1] - at.value_starts[g], at.value_starts[h + 1] - at.value_starts[h]
    a = np.zeros((width, after))
    if r >= len(at.group):
        table = at.pair_tables[at.pair_table[r - len(at.group)]]
        for x in range(width):
            for y in range(after):
                a[x, y] = table[at.values[at.value_starts[g] + x], at.values[at.value_starts[h] + y]]
        return a
    for x in range(width):
        row = at.state_rows[at.state_starts[r] + x]
        for y in range(after):
            a[x, y] = at.table[row, at.values[at.value_starts[h] + y]]
    return a


@compiled
def write_beliefs(
    at: Layout, parts: Parts, now: GraphMessages, groups: IntArray, starts: IntArray, beliefs: FloatArray
) -> None:
    """Beliefs in each possible value of each record of some groups."""
    for g in groups:
        first, last = parts.block_starts[g], parts.block_starts[g + 1]
        if first == last:
            continue
        weights = block_weights(parts, now, first, last)
        begin, start = parts.arrangement_starts[first], parts.code_starts[first]
        outside = count_weights(at, parts, now, g, weights)[0]
        for b in range(first, last):
            low, high = parts.arrangement_starts[b], parts.arrangement_starts[b + 1]
            size, place, total = parts.member_starts[b + 1] - parts.member_starts[b], parts.value_starts[b], 0.0
            for a in range(low, high):
                weight = weights[a - begin] * outside[parts.code_starts[b] - start + parts.code[a]]
                total += weight
                for i in range(size):
                    r = parts.members[parts.member_starts[b] + i]
                    beliefs[starts[r] + parts.values[place]] += weight
                    place += 1
            for i in range(size):
                r = parts.members[parts.member_starts[b] + i]
                for position in range(starts[r], starts[r + 1]):
                    beliefs[position] = beliefs[position] / total if total > 0.0 else 1.0 / (starts[r + 1] - starts[r])
            if not total > 0.0:
                now.contradicted[g] = True


@compiled
def start_messages(
    at: Layout, parts: Parts, starts: IntArray, arriving: FloatArray, leaving: FloatArray, message: FloatArray
) -> None:
    """Messages of independent members: products of weights of their values, shape ``(B,)``, ``arriving`` at ports of side 1.

    Those of relations stay as they are.
    """
    for port in range(len(parts.key_starts) - 1):
        edge, side = port // 2, port % 2
        first, last = parts.edge_starts[edge], parts.edge_starts[edge + 1]
        c, base = last - first, 2 * (first + edge) + side * (last - first + 1)
        if parts.edge_members[first] >= len(at.group):
            continue
        top = 0.0
        for key in range(parts.key_starts[port], parts.key_starts[port + 1]):
            place, weight = key - parts.key_starts[port], 1.0
            for step in range(c):
                j = step if side == 0 else c - step
                entry = parts.level_starts[base + j] + place
                q = parts.edge_members[first + (j if side == 0 else j - 1)]
                r = at.following[q] if side == 1 else q
                weight *= (arriving if side == 1 else leaving)[starts[r] + parts.digit[entry]]
                place = parts.link[entry]
            message[key] = weight
            top = max(top, weight)
        for key in range(parts.key_starts[port], parts.key_starts[port + 1]):
            message[key] = message[key] / top if top > 0.0 else 1.0


@compiled
def arriving_weights(at: Layout, starts: IntArray, forward: FloatArray) -> FloatArray:
    """Weight of each value of each record by the record before, from its forward message in `Messages`; 1 for a first record."""
    weights = np.ones(starts[-1])
    for r in range(len(at.group)):
        p = at.previous[r]
        if p < 0:
            continue
        a = member_transitions(at, p)
        for s in range(starts[r + 1] - starts[r]):
            total = 0.0
            for u in range(starts[p + 1] - starts[p]):
                total += forward[starts[p] + u] * a[u, s]
            weights[starts[r] + s] = total
    return weights
