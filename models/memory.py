"""State of an adversary between releases, and pure functions on it."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from foreknow.models.advice import Advice, Setting
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.revision import chain_revision, filter_revision, filter_update, product_revision
from foreknow.models.settings import check_kind
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
    """

    releases: int = 0
    rows: Mapping[Hashable, int] = field(default_factory=dict)
    beliefs: FloatArray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    known: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    joint: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    classes: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        takes = "is made by Adversary.observe; write Memory() for one without releases"
        check_kind("Memory", "releases", self.releases, int, takes)
        check_kind("Memory", "rows", self.rows, Mapping, takes)
        for name in ("beliefs", "known", "joint", "classes"):
            check_kind("Memory", name, getattr(self, name), np.ndarray, takes)
        if self.beliefs.ndim != 3 or {self.beliefs.shape[1], *self.known.shape, len(self.joint)} != {len(self.rows)}:
            raise ValueError(
                f"Memory: there are {len(self.rows)} rows, beliefs of shape {self.beliefs.shape}, known of shape "
                f"{self.known.shape} and joint of shape {self.joint.shape}; all describe the same N respondents. It {takes}."
            )

        if not len(self.classes):
            object.__setattr__(self, "classes", np.zeros(len(self.rows), dtype=np.int64))

    def rows_of(self, people: People) -> IntArray:
        """Row of each respondent, -1 for a respondent never seen: int array, shape ``(n,)``."""
        check_kind("Memory.rows_of", "people", people, People, "is People, as view.people")
        rows = self.rows
        return np.array([rows.get(respondent, -1) for respondent in people.respondents], dtype=np.int64)


def joint_size(chain: MarkovChain | None, revision: Revision) -> int:
    """Number of joint probabilities kept for each respondent: m^d, or 0 where the last beliefs are the whole state.

    Raises
    ------
    ValueError
        If the number is over `MAX_JOINT_PER_RESPONDENT`.
    """
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
    """Distribution of the next value of some respondents, as `predict`, by the chain of the class of each.

    Parameters
    ----------
    memory, revision, rows
        As for `predict`.
    chains : tuple of MarkovChain
        Transitions to the next release, of each class.
    classes : int array, shape (n,)
        Class of each respondent.
    """
    if len(chains) == 1:
        return predict(memory, chains[0], revision, rows)
    predicted = np.zeros((len(rows), chains[0].values))
    for number in np.unique(classes):
        some = np.flatnonzero(classes == number)
        predicted[some] = predict(memory, chains[number], revision, rows[some])
    return predicted


def predict(memory: Memory, chain: MarkovChain, revision: Revision, rows: IntArray) -> FloatArray:
    """Distribution of the next value of some respondents, given the memory: float array, shape ``(n, m)``.

    Parameters
    ----------
    memory : Memory
    chain : MarkovChain
        Transitions to the next release.
    revision : {"filter", "product", "chain"}
    rows : int array, shape (n,)
        Rows of the memory.

    Returns
    -------
    float array, shape (n, m)
        Rows sum to less than 1 where rows of the chain do.
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
    """Memory with the beliefs of one more release.

    Parameters
    ----------
    memory : Memory
        Not changed.
    chains : tuple of MarkovChain
        Transitions to this release, of each class; empty without transitions.
    revision : {"filter", "product", "chain"}
    gaps : {"ignore", "power"}
        With ``"power"``, respondents of the memory who are not among ``people`` take one step of the chain of their class in
        the memory (`with_classes`).
    people : People
        Respondents observed in this release.
    beliefs : float array, shape (n, m)
        Posterior belief of each of them.
    classes : int array, shape (n,)
        Class of each of them.

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
    rows = _with_new_rows(memory.rows, people)
    state = _copied(memory, len(rows), depth, beliefs.shape[1], size)
    observed = np.array([rows[respondent] for respondent in people.respondents], dtype=np.int64)
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
    return Memory(memory.releases + 1, rows, *state, classes=latest)


class _Arrays(NamedTuple):
    """Arrays of a memory that is being made: `_append` writes into them."""

    beliefs: FloatArray
    known: IntArray
    joint: FloatArray


def _with_new_rows(rows: Mapping[Hashable, int], people: People) -> dict[Hashable, int]:
    extended = dict(rows)
    for respondent in people.respondents:
        extended.setdefault(respondent, len(extended))
    return extended


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
