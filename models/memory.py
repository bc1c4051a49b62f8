"""State of an adversary between releases, and the revised priors that follow from it."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count, filterfalse, repeat
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import FloatArray, IntArray, compiled
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.markov_chain import MarkovChain, VariableOrderChain
from foreknow.models.knowledge.parts import weighed
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.tables.people import People

type Revision = Literal["filter", "product", "chain"]

MAX_JOINT_PER_RESPONDENT = 2**17
"""Largest number of joint probabilities that ``revision="filter"`` keeps for one respondent (1 MiB)."""

MAX_JOINT_IN_ALL = 2**30
"""Largest number of joint probabilities that ``revision="filter"`` keeps for all respondents together (8 GiB)."""

FILTER = Setting("revision", "filter")

SMALLER_STATE = Advice(
    "Use a chain of a smaller order, as transitions.truncate(1), or ",
    Setting("revision", "product"),
    " (JS-reduce, Algorithm 3).",
)


NO_FACTORS = np.ones((2, 0, 0))
"""Factors of a memory without any."""


class GhostName(NamedTuple):
    """Name of a ghost among respondents: whose place it carries on, since when."""

    respondent: Hashable
    since: Hashable


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Memory:
    """State of an adversary after the releases seen so far; ``Memory()`` is empty.

    Attributes
    ----------
    releases : int
        Number of releases observed.
    rows : mapping of respondent to int
        Row of each of the N respondents seen.
    beliefs : float array, shape (b, N, m)
        Last b beliefs of each respondent, oldest first; zero where fewer are known. With a chain of order d, b is d for the
        revisions ``"product"`` and ``"chain"``, and 1 for ``"filter"``.
    known : int array, shape (N,)
        Number of values of each respondent that were observed or stepped over, at most d.
    joint : float array, shape (N, m^d) or (N, 0)
        For ``revision="filter"`` and d > 1, the joint distribution of the last d values of each respondent, in the layout of
        `filter_revision`. For d = 1 this is the last belief, and the array is empty.
    classes : int array, shape (N,)
        Class last seen of each respondent, for transitions by class; 0 for others.
    late : float array, shape (2, N, m) or (2, 0, 0)
        Factors of the last belief of each respondent, for one who is listed at the next release and for one who is listed later; 1
        where they have been multiplied. Empty without knowledge that has evidence.
    seen : int array, shape (N,)
        Number of the release of the last belief of each respondent.
    ghosts : mapping of respondent to GhostName
        Names in ``rows`` of the ghosts of the last release, by the respondents whose places they carry on.
    """

    releases: int = 0
    rows: Mapping[Hashable, int] = field(default_factory=dict)
    beliefs: FloatArray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    known: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    joint: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    classes: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    late: FloatArray = field(default_factory=lambda: NO_FACTORS)
    seen: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    ghosts: Mapping[Hashable, GhostName] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("classes", "seen"):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.zeros(len(self.rows), dtype=np.int64))

    def rows_of(self, people: People) -> IntArray:
        """Row of each respondent, -1 for a respondent never seen: int array, shape ``(n,)``."""
        return np.fromiter(map(self.rows.get, people.respondents, repeat(-1)), np.int64, len(people))


def with_listed(memory: Memory, people: People) -> Memory:
    """Memory after some of its respondents are listed again at the next release, which is evidence of their last value.

    Beliefs that the evidence excludes stay. Cost: one copy of the beliefs; nothing without `Memory.late`.
    """
    rows = memory.rows_of(people)
    rows = rows[rows >= 0]
    if not memory.late.size or not len(rows):
        return memory
    later = (memory.seen[rows] < memory.releases - 1).astype(np.int64)
    return _weighed(memory, rows, memory.late[later, rows])


def with_absent(memory: Memory, people: People) -> Memory:
    """Memory after the respondents who are not among some people are absent, as of those who return later.

    The memory of a respondent matters for those who return alone.
    """
    rows = np.setdiff1d(np.arange(len(memory.rows)), memory.rows_of(people))
    return _weighed(memory, rows, memory.late[1, rows]) if memory.late.size and len(rows) else memory


def with_late(memory: Memory, people: People, late: FloatArray) -> Memory:
    """Memory with the factors of `Memory.late`, shape ``(2, n, m)``, of its respondents among the people of its last release."""
    rows = memory.rows_of(people)
    known = np.flatnonzero(rows >= 0)
    factors = memory.late.copy() if memory.late.size else np.ones((2, len(memory.rows), late.shape[2]))
    seen = memory.seen.copy()
    factors[:, rows[known]], seen[rows[known]] = late[:, known], memory.releases - 1
    return replace(memory, late=factors, seen=seen)


def _weighed(memory: Memory, rows: IntArray, factors: FloatArray) -> Memory:
    """Memory with the last value of some respondents weighed by factors, once."""
    beliefs, joint, late = memory.beliefs.copy(), memory.joint.copy(), memory.late.copy()
    late[:, rows] = 1.0
    beliefs[-1, rows] = weighed(beliefs[-1, rows], factors)
    if joint.shape[1]:
        # The last value varies fastest, whether all or fewer of the last values are known.
        repeated = np.tile(factors, joint.shape[1] // factors.shape[1])
        joint[rows] = weighed(joint[rows], repeated)
    return replace(memory, beliefs=beliefs, joint=joint, late=late)


def joint_size(chain: MarkovChain | None, revision: Revision) -> int:
    """Number of joint probabilities kept for each respondent: m^d, or 0 where the last beliefs are the whole state.

    Raises
    ------
    ValueError
        If the number is over `MAX_JOINT_PER_RESPONDENT`, or the chain is of variable order and the revision not ``"product"``.
    """
    if isinstance(chain, VariableOrderChain) and revision != "product":
        raise ValueError(
            Advice(
                "a chain of variable order needs ",
                Setting("revision", "product"),
                "; or give one of order 1, as chain.truncate(1).",
            )
        )
    if chain is None or revision != "filter" or chain.order == 1:
        return 0
    size = int(chain.values**chain.order)
    if size > MAX_JOINT_PER_RESPONDENT:
        raise ValueError(
            Advice(
                FILTER,
                f" with a chain of order {chain.order} over {chain.values} values keeps {size} numbers of every respondent, more "
                f"than {MAX_JOINT_PER_RESPONDENT}. ",
                SMALLER_STATE,
            )
        )
    return size


def with_classes(memory: Memory, people: People, classes: IntArray) -> Memory:
    """Memory with the classes of those of its respondents who are among some people; ``memory`` itself is not changed."""
    rows = memory.rows_of(people)
    latest = memory.classes.copy()
    latest[rows[rows >= 0]] = classes[rows >= 0]
    return replace(memory, classes=latest)


def predict_by_class(
    memory: Memory, chains: tuple[MarkovChain, ...], revision: Revision, rows: IntArray, classes: IntArray
) -> FloatArray:
    """Distribution of the next value of some respondents, as `predict`, by the chain of the class of each, shape ``(n,)``."""
    if len(chains) == 1:
        return predict(memory, chains[0], revision, rows)
    predicted = np.zeros((len(rows), chains[0].values))
    for number in np.unique(classes):
        some = np.flatnonzero(classes == number)
        predicted[some] = predict(memory, chains[number], revision, rows[some])
    return predicted


def predict(memory: Memory, chain: MarkovChain, revision: Revision, rows: IntArray) -> FloatArray:
    """Distribution of the next value of the respondents at some rows of a memory: float array, shape ``(n, m)``.

    ``chain`` leads to the next release. Rows sum to less than 1 where rows of the chain do.
    """
    if joint_size(chain, revision):
        return filter_revision(chain, memory.joint, memory.known, rows)
    rule = chain_revision if revision == "chain" else product_revision
    return rule(chain, memory.beliefs[:, rows], memory.known[rows])


def remember(
    memory: Memory,
    chains: tuple[MarkovChain, ...],
    revision: Revision,
    gaps: GapRule,
    people: People,
    beliefs: FloatArray,
    classes: IntArray,
) -> Memory:
    """Memory with the beliefs about the people of one more release, shape ``(n, m)``; ``memory`` itself is not changed.

    ``chains`` leads to this release, one for each class, and is empty without transitions. ``classes``, shape ``(n,)``, is the
    class of each of the people. With ``gaps="power"``, respondents of the memory who are not among them take one step of the
    chain of their class in the memory (`with_classes`).

    Raises
    ------
    ValueError
        If the order of the chain differs from that of earlier releases, or the joint probabilities of all respondents are
        more than `MAX_JOINT_IN_ALL`.

    Notes
    -----
    Cost: one copy of the arrays of the memory, and the cost of `filter_update` for ``revision="filter"``.
    """
    first = chains[0] if chains else None
    size = joint_size(first, revision)
    depth = 1 if first is None or size else first.order
    new = dict.fromkeys(filterfalse(memory.rows.__contains__, people.respondents))
    rows = {**memory.rows, **dict(zip(new, count(len(memory.rows)), strict=False))} if new else memory.rows
    state = _copied(memory, len(rows), depth, beliefs.shape[1], size)
    observed = np.fromiter(map(rows.__getitem__, people.respondents), np.int64, len(people))
    latest = np.zeros(len(rows), dtype=np.int64)
    latest[: len(memory.rows)] = memory.classes
    latest[observed] = classes
    if gaps == "power" and chains:
        absent = np.setdiff1d(np.arange(len(memory.rows)), observed)
        if len(absent):
            predicted = predict_by_class(memory, chains, revision, absent, latest[absent])
            totals = predicted.sum(axis=1, keepdims=True)
            # Where the chain has no continuation the last belief stays.
            stepped = np.divide(predicted, totals, out=memory.beliefs[-1, absent].copy(), where=totals > 0)
            _append(state, chains, absent, latest[absent], stepped, None)
    _append(state, chains, observed, classes, beliefs, beliefs)
    grown = len(rows) - len(memory.rows)
    late = np.pad(memory.late, ((0, 0), (0, grown), (0, 0)), constant_values=1.0) if memory.late.size else memory.late
    return Memory(memory.releases + 1, rows, *state, classes=latest, late=late, seen=np.pad(memory.seen, (0, grown)))


class _Arrays(NamedTuple):
    """Arrays of a memory that is being made: `_append` writes into them."""

    beliefs: FloatArray
    known: IntArray
    joint: FloatArray


def _copied(memory: Memory, respondents: int, depth: int, values: int, size: int) -> _Arrays:
    """Copies of the arrays of a memory, with rows for new respondents and room for ``depth`` beliefs."""
    before = len(memory.rows)
    if before and memory.joint.shape[1] != size:
        raise ValueError(
            Advice("the transitions change their order between two releases; ", FILTER, " needs one order.")
        )
    if respondents * size > MAX_JOINT_IN_ALL:
        raise ValueError(
            Advice(
                FILTER,
                f" keeps {size} numbers of each of {respondents} respondents, more than {MAX_JOINT_IN_ALL} (8 GiB). ",
                SMALLER_STATE,
            )
        )
    beliefs = np.zeros((depth, respondents, values))
    known = np.zeros(respondents, dtype=np.int64)
    joint = np.zeros((respondents, size))
    if before:
        kept = min(depth, len(memory.beliefs))
        beliefs[depth - kept :, :before] = memory.beliefs[len(memory.beliefs) - kept :]
        known[:before] = memory.known if size else np.minimum(memory.known, depth)
        joint[:before] = memory.joint
    return _Arrays(beliefs, known, joint)


def _append(
    arrays: _Arrays,
    chains: tuple[MarkovChain, ...],
    rows: IntArray,
    classes: IntArray,
    latest: FloatArray,
    posterior: FloatArray | None,
) -> None:
    """Append the latest beliefs of some rows, in place; ``posterior`` is None for a step without a release."""
    beliefs, known, joint = arrays
    if joint.shape[1]:
        for number, chain in enumerate(chains):
            some = np.flatnonzero(classes == number)
            filter_update(chain, joint, known, rows[some], None if posterior is None else posterior[some])
    beliefs[:-1, rows] = beliefs[1:, rows]
    beliefs[-1, rows] = latest
    known[rows] = np.minimum(known[rows] + 1, chains[0].order if chains else 1)


def product_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """Distribution of the next value if past values are independent draws from past beliefs: the rule of JS-reduce.

    ``sum over sequences of probability(next | sequence) * product of the beliefs in the values of the sequence``

    Parameters
    ----------
    chain : MarkovChain or VariableOrderChain
        Of order d.
    past : float array, shape (d, n, m)
        Last d beliefs about n respondents, oldest first; where fewer are known they are at the end.
    known : int array, shape (n,)
        Number of known beliefs about each respondent, 1 to d.

    Returns
    -------
    float array, shape (n, m)
        Rows are not normalized: they sum to less than 1 where the rows of the chain do.

    Notes
    -----
    JS-reduce, Algorithm 3. Beliefs in values before the last d sum to 1 and drop out. Each belief already contains the evidence
    of the earlier ones, so their product counts evidence twice (docs/findings/reading.md). It is not the joint
    distribution of the last values, which `filter_revision` reads.

    Cost: O(n m^2) for d = 1; in general O(n m) times the number of sequences with positive probability. Of a chain of variable
    order only its contexts with positive probability count.
    """
    if isinstance(chain, VariableOrderChain):
        return _over_contexts(chain.longer, chain.probabilities, chain.substochastic, past, known)
    revised = np.zeros(past.shape[1:])
    for length, table in enumerate(chain.tables, start=1):
        rows = np.flatnonzero(known == length)
        if length == 1:
            revised[rows] = past[-1, rows] @ table
        elif len(rows):
            flat = table.reshape(-1, table.shape[-1])
            revised[rows] = _over_sequences(flat, np.ascontiguousarray(past[-length:, rows]))
    return revised


@compiled
def _over_sequences(table: FloatArray, past: FloatArray) -> FloatArray:
    """Sum over sequences of past values; ``table`` has one row per sequence, numbered with the oldest value first.

    The sequences of positive probability are enumerated step by step: ``sequences`` holds their numbers, ``weights`` their
    probabilities.
    """
    d, n, m = past.shape
    revised = np.zeros((n, m))
    for i in range(n):
        sequences, weights = np.zeros(1, dtype=np.int64), np.ones(1)
        for step in range(d):
            sequences, weights = _extended(sequences, weights, past[step, i])
        for a in range(len(sequences)):
            for s in range(m):
                revised[i, s] += weights[a] * table[sequences[a], s]
    return revised


@compiled
def _over_contexts(
    longer: IntArray, rows: FloatArray, substochastic: bool, past: FloatArray, known: IntArray
) -> FloatArray:
    """Sum over contexts of past values, from the newest value to the oldest, depth first.

    The weight of a context is the probability that the known past values end in it. Where a context has no longer one, the weight
    of the values before it stays at its row, or is lost in a substochastic chain.
    """
    d, n, m = past.shape
    revised = np.zeros((n, m))
    context, depth, weight = np.zeros(d * m + 1, np.int64), np.zeros(d * m + 1, np.int64), np.zeros(d * m + 1)
    for i in range(n):
        context[0], depth[0], weight[0] = 0, 0, 1.0
        waiting = 1
        while waiting:
            waiting -= 1
            here, length, rest = context[waiting], depth[waiting], weight[waiting]
            if length < known[i]:
                whole, rest = rest, 0.0
                for s in range(m):
                    belief = past[d - 1 - length, i, s]
                    if belief > 0.0 and longer[here, s] >= 0:
                        context[waiting], depth[waiting] = longer[here, s], length + 1
                        weight[waiting] = whole * belief
                        waiting += 1
                    elif not substochastic:
                        rest += whole * belief
            if rest > 0.0:
                revised[i] += rest * rows[here]
    return revised


@compiled
def _extended(sequences: IntArray, weights: FloatArray, belief: FloatArray) -> tuple[IntArray, FloatArray]:
    """All sequences followed by each value of positive probability, and their weights."""
    support = np.flatnonzero(belief > 0.0)
    longer = np.zeros(len(sequences) * len(support), dtype=np.int64)
    products = np.zeros(len(longer))
    for a in range(len(sequences)):
        for b in range(len(support)):
            longer[a * len(support) + b] = sequences[a] * len(belief) + support[b]
            products[a * len(support) + b] = weights[a] * belief[support[b]]
    return longer, products


def chain_revision(chain: MarkovChain, past: FloatArray, known: IntArray) -> FloatArray:
    """Distribution of the next value by the chain alone, from the oldest of the last d beliefs: the rule of BayFrame.

    ``sum over s_1 .. s_d of belief_1(s_1) * probability(s_2 | s_1) * ... * probability(next | s_1 .. s_d)``

    Parameters and result are those of `product_revision`.

    Notes
    -----
    BayFrame, Equations 3 and 4. The evidence of the d - 1 later releases is not used; for d = 1 the result is that of
    `product_revision`. The paper uses one-step transitions between the first d values; here they are the ``tables`` of the
    chain, which is the same for d up to 2. Cost: O(n m^2), and O(m^(d + 1)) once.
    """
    revised = np.zeros(past.shape[1:])
    paths = np.eye(chain.values)
    for length, table in enumerate(chain.tables, start=1):
        m = chain.values
        onward = paths[:, :, None] * table.reshape(-1, m)[None]
        rows = np.flatnonzero(known == length)
        revised[rows] = past[-length, rows] @ onward.sum(axis=1)
        # Row s of `paths` holds the weight of each sequence that starts with s, numbered as the rows of the next table.
        paths = onward.reshape(m, -1)
    return revised


def filter_revision(chain: MarkovChain, joint: FloatArray, known: IntArray, rows: IntArray | None = None) -> FloatArray:
    """Distribution of the next value under the joint distribution of the last d values: prediction step of the forward filter.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (N, m^d)
        Probability of each sequence of the last d values of a respondent, numbered with the oldest value first. Where only
        l < d values are known, the first m^l columns hold the probabilities of their sequences. `filter_update` makes it.
    known : int array, shape (N,)
        Number of known values of each respondent, 1 to d.
    rows : int array, shape (n,), optional
        Rows of ``joint`` to predict from; all by default.

    Returns
    -------
    float array, shape (n, m)
        Rows sum to less than 1 where the rows of the chain do.

    Notes
    -----
    The hidden Markov model has the releases as its observations. Exact for one respondent whose releases depend on this
    respondent alone. Evidence from groups is treated as independent from release to release, which it is not where the same
    respondents share a group again (docs/findings/reading.md). Neither paper has this rule. Cost: O(n m^(d + 1)) time,
    and no memory of size m^d beside ``joint``.
    """
    rows = np.arange(len(joint)) if rows is None else rows
    revised = np.zeros((len(rows), chain.values))
    for length, table in enumerate(chain.tables, start=1):
        some = np.flatnonzero(known[rows] == length)
        _predict(joint, rows, some, table.reshape(-1, chain.values), revised)
    return revised


@compiled
def _predict(joint: FloatArray, rows: IntArray, some: IntArray, table: FloatArray, revised: FloatArray) -> None:
    """Add ``joint[rows[some]] @ table`` to ``revised[some]``; without a copy of the rows, which BLAS would need."""
    for i in some:
        belief = joint[rows[i]]
        for q in range(len(table)):
            if belief[q] > 0.0:
                for s in range(table.shape[1]):
                    revised[i, s] += belief[q] * table[q, s]


def filter_update(
    chain: MarkovChain, joint: FloatArray, known: IntArray, rows: IntArray, posterior: FloatArray | None = None
) -> None:
    """Update the joint distribution of the last d values in place, by a release or by a step of the chain without one.

    The weight of a sequence continued by the value s is the product of the probability of the sequence, the transition
    probability of s after it, and the likelihood ``posterior(s) / revised(s)`` of s. Then the oldest value is summed out. A
    value with ``revised(s) = 0`` and a positive posterior follows every sequence with the same probability.

    Parameters
    ----------
    chain : MarkovChain
        Of order d.
    joint : float array, shape (N, m^d)
        As for `filter_revision`; **overwritten** in ``rows``.
    known : int array, shape (N,)
        Number of known values of each respondent before this step, 0 to d.
    rows : int array, shape (n,)
        Rows to update; no row twice.
    posterior : float array, shape (n, m), optional
        Beliefs after the release. Without it, the chain takes a step without observation.

    Notes
    -----
    A respondent without known values starts with the posterior. Where the chain has no continuation (rows of a
    substochastic chain) the last value stays. Cost: O(n m^(d + 1)) time, and O(m^d) memory for any n.
    """
    lengths, m = known[rows], chain.values
    new = np.flatnonzero(lengths == 0)
    if posterior is not None:
        joint[rows[new], :m] = posterior[new]
    beliefs = np.zeros((0, m)) if posterior is None else posterior
    for length, table in enumerate(chain.tables, start=1):
        some = np.flatnonzero(lengths == length)
        sequences = table.reshape(-1, m)
        kept = len(sequences) if length < chain.order else len(sequences) // m
        _continue(joint, rows, some, sequences, beliefs, np.zeros((kept, m)), np.zeros(kept))


@compiled
def _continue(
    joint: FloatArray,
    rows: IntArray,
    some: IntArray,
    table: FloatArray,
    posterior: FloatArray,
    longer: FloatArray,
    weight: FloatArray,
) -> None:
    """Continue the sequences of ``joint[rows[some]]`` by one value; ``longer`` and ``weight`` are scratch space.

    ``longer[q, s]`` is the probability of the sequence q followed by s, where q lacks its oldest value if d are known;
    ``weight[q]`` is the probability of q alone.
    """
    sequences, m = table.shape
    kept = len(weight)
    for i in some:
        belief = joint[rows[i]]
        # longer[q, s] = sum over the oldest value of P(sequence) A(s | sequence); weight[q] without s.
        longer[:] = 0.0
        weight[:] = 0.0
        for q in range(sequences):
            if belief[q] > 0.0:
                weight[q % kept] += belief[q]
                for s in range(m):
                    longer[q % kept, s] += belief[q] * table[q, s]
        if len(posterior):
            _reweigh(longer, weight, posterior[i])
        if longer.sum() == 0.0:
            # The chain has no continuation: the last value stays.
            for q in range(sequences):
                longer[q % kept, q % m] += belief[q]
        # Law of the sequences with the new value, normalized.
        total = longer.sum()
        for q in range(kept):
            for s in range(m):
                belief[q * m + s] = longer[q, s] / total


@compiled
def _reweigh(longer: FloatArray, weight: FloatArray, posterior: FloatArray) -> None:
    """Scale the columns of ``longer`` in place so that they sum to the posterior of the last value."""
    for s in range(len(posterior)):
        revised = longer[:, s].sum()
        for q in range(len(weight)):
            if revised > 0.0:
                longer[q, s] = longer[q, s] / revised * posterior[s]
            else:
                longer[q, s] = weight[q] * posterior[s]
