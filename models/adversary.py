"""Adversaries: background knowledge, a rule of inference, and a memory of releases."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from foreknow.models.adversary_settings import check_knowledge, check_rules
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.estimators import Auto, TooLarge
from foreknow.models.knowledge.cascades import Cascade
from foreknow.models.knowledge.compromised_records import Claims, CompromisedRecords
from foreknow.models.knowledge.markov_chain import MarkovChain, Transitions
from foreknow.models.knowledge.priors import Prior
from foreknow.models.knowledge.sequences import GapRule, check_gaps
from foreknow.models.mechanisms.counterfeits import weigh_counterfeits
from foreknow.models.mechanisms.distortion import weigh_distorted
from foreknow.models.problem import CONTRADICTED, Estimator, Posterior, Problem, probability_rows
from foreknow.models.revision import chain_revision, filter_revision, filter_update, product_revision
from foreknow.models.tables.observation import Observation
from foreknow.models.tables.people import People

HEARD = 1e-9
"""A smaller change of a belief is rounding, and nothing to remember."""

LARGEST_ROW = 2**17
"""The number of probabilities that ``revision="filter"`` may keep of one respondent (1 MiB)."""

LARGEST_JOINT = 2**30
"""The number of probabilities that ``revision="filter"`` may keep of all respondents (8 GiB)."""

WAY_OUT = "Use a chain of a smaller order, as transitions.truncate(1), or revision='product' (JS-reduce, Algorithm 3)."

type Revision = Literal["filter", "product", "chain"]


@dataclass(frozen=True, eq=False)
class Memory:
    """State of an adversary after the releases seen so far; ``Memory()`` is empty.

    Attributes
    ----------
    releases : int
        The number of releases observed.
    rows : mapping of respondent to int
        The row of each of the N respondents seen.
    beliefs : float array, shape (b, N, m)
        The last b beliefs of each, oldest first; unknown ones, at the start, are zero. With a chain of order d, b is d for
        the revisions ``"product"`` and ``"chain"``, and 1 for ``"filter"``.
    known : int array, shape (N,)
        The number of values of each that were observed or stepped over, at most d.
    joint : float array, shape (N, m^d) or (N, 0)
        For ``revision="filter"`` and d > 1, the joint distribution of each respondent's last d values, as `filter_revision`
        takes it. For d = 1 that is the last belief.
    """

    releases: int = 0
    rows: Mapping[Hashable, int] = field(default_factory=dict)
    beliefs: FloatArray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    known: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    joint: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def places(self, people: People) -> IntArray:
        """Rows of each person's beliefs, -1 for one never seen: int array, shape ``(n,)``."""
        rows = self.rows
        return np.array([rows.get(respondent, -1) for respondent in people.respondents], dtype=np.int64)


@dataclass(frozen=True)
class Adversary:
    """An adversary's knowledge and way of reasoning (JS-reduce, section 4.5; BayFrame, section 4.3).

    Parameters
    ----------
    prior : Prior
        What is believed of a person never seen before: BK^sv. It may depend on the time of the release (`PriorByTime`).
    transitions : MarkovChain, IncrementalChain, InhomogeneousChain or DirichletChain, optional
        How values follow each other: BK^seq. Without it, nothing learned from one release bears on the next, and every
        revised prior is the prior.
    compromised : CompromisedRecords, optional
        What is known of some people from elsewhere: CR.
    estimator : Estimator
        How a prior and a release make a posterior. `Auto` is exact for groups of few states, and approximates the others.
    cascade : Cascade, optional
        How compromised records enter; needed where there are any.
    revision : {"filter", "product", "chain"}
        How past beliefs make the revised prior where the chain is of order 2 or more; for order 1 all three are the same.
        ``"filter"``: the joint distribution of the last values, as in a hidden Markov model (`filter_revision`); it keeps m^d
        numbers per respondent. ``"product"``: past posteriors multiplied, as JS-reduce, Algorithm 3 (`product_revision`).
        ``"chain"``: the oldest posterior carried on, as BayFrame, Equations 3 and 4 (`chain_revision`). Both keep d m
        numbers, and lose evidence that the filter has (docs/findings.md, section 10).
    gaps : {"ignore", "power"}
        What happens in releases in which a respondent is not published. ``"ignore"``: nothing; the chain leads from
        one observation to the next, as in the papers. ``"power"``: the chain takes a step at every release (for a chain
        of order 1, its power). A chain that is fit with the same ``gaps`` has the matching transitions.
    counterfeits : {"dealt", "uniform"}
        Law of the values of counterfeits. ``"dealt"``: they stand where records of a value are lacking; the law is
        estimated from the release (`weigh_counterfeits`). ``"uniform"``: each is a respondent with a
        uniform prior over the domain, as if it had been drawn before the groups were formed.
    distortion : {"counted", "ignored"}
        What is known of distorted values. ``"counted"``: their number in the release, and of how many the own value is not
        shown; the law is estimated (`weigh_distorted`). ``"ignored"``: all published values are
        taken for true.

    Raises
    ------
    TypeError
        If a setting is of another kind, as a prior in the place of the transitions.
    ValueError
        If a setting is no word it knows, ``"filter"`` would keep more than `LARGEST_ROW` numbers of a respondent, or there are
        compromised records and no cascade. When called, if it would keep more than `LARGEST_JOINT` in all, or a compromised
        record is about a value that the respondent's group does not show (see `CompromisedRecords`).

    Notes
    -----
    An adversary receives `People` and `Observation` only, which hold no true value. `revise`, `weigh` and `remember`
    are pure; `observe` is one after the other.
    """

    prior: Prior
    transitions: Transitions | None = None
    compromised: CompromisedRecords | None = None
    estimator: Estimator = field(default_factory=Auto)
    cascade: Cascade | None = None
    revision: Revision = "filter"
    gaps: GapRule = "ignore"
    counterfeits: Literal["dealt", "uniform"] = "dealt"
    distortion: Literal["counted", "ignored"] = "counted"

    def __post_init__(self) -> None:
        check_gaps(self.gaps)
        if self.revision not in ("filter", "product", "chain"):
            raise ValueError(
                f"revision is {self.revision!r}; it is 'filter' (the joint distribution of the last values), 'product' "
                "(JS-reduce, Algorithm 3) or 'chain' (BayFrame, Equations 3 and 4)."
            )
        check_knowledge(self.prior, self.transitions)
        check_rules(self.estimator, self.cascade)
        if self.transitions is not None:
            self._joint_size(self.transitions.at(0))
        if self.counterfeits not in ("dealt", "uniform"):
            raise ValueError(
                f"counterfeits is {self.counterfeits!r}; it is 'dealt' (estimated from the release) or 'uniform'."
            )
        if self.distortion not in ("counted", "ignored"):
            raise ValueError(
                f"distortion is {self.distortion!r}; it is 'counted' (their number is known) or 'ignored'."
            )
        if self.compromised is not None and not isinstance(self.compromised, CompromisedRecords):
            raise TypeError(
                f"compromised is {type(self.compromised).__name__}; it must be CompromisedRecords(frame). (An estimator is named: "
                "estimator=...)"
            )
        if self.compromised is not None and self.cascade is None:
            raise ValueError(
                "there are compromised records and no cascade; say how they enter: cascade=RemoveKnown(), PriorCascade(), "
                "PosteriorCascade() or EvidenceCascade()."
            )

    def revise(self, memory: Memory, people: People, time: Any = None) -> FloatArray:
        """The beliefs about some people before the next release: RBK^sv, shape ``(n, m)``, rows are probabilities.

        A person never seen has the prior, that of ``people.time`` where it depends on time; so has a person whose past beliefs
        have no continuation by the chain, which only a substochastic chain allows. With the release's time, the compromised
        records about it are heeded, as the cascade has it.
        """
        prior = probability_rows(self.prior(people), "the prior of the person in row").copy()
        places = memory.places(people)
        seen = np.flatnonzero(places >= 0)
        if self.transitions is not None and len(seen):
            chain = _fitting(self.transitions.at(memory.releases), prior.shape[1])
            revised = self._ahead(chain, memory, places[seen])
            totals = revised.sum(axis=1)
            alive = totals > 0
            prior[seen[alive]] = revised[alive] / totals[alive, None]
        claims = self._claims(time, people)
        return prior if claims is None or self.cascade is None else self.cascade.revise(prior, claims)

    def weigh(self, revised: FloatArray, observation: Observation) -> Posterior:
        """The posterior of a release under a revised prior: rows for the n people, none for counterfeits."""
        problem, people = observation.problem(revised), len(revised)
        estimate: Callable[[Problem], Posterior] = partial(self.estimate, observation=observation)
        if self.counterfeits == "dealt" and len(problem.group) > people:
            estimate = partial(weigh_counterfeits, people=people, weigh=estimate)
        if self.distortion == "counted" and observation.distorted:
            answer = weigh_distorted(problem, people, observation.distorted, observation.vanished, estimate)
        else:
            answer = estimate(problem)
        return answer.of_the_first(people)

    def estimate(self, problem: Problem, observation: Observation) -> Posterior:
        """The posterior of a problem of a release by the cascade and the estimator alone.

        `weigh` calls it once, or once per round where counterfeits or distorted values follow an unknown law.
        """
        claims = self._claims(observation.time, observation.people)
        contradicted = np.zeros(len(observation.counts), dtype=np.bool_)
        if claims is not None and self.distortion == "counted" and observation.distorted:
            # A group need not show what is surely known: the claim is in the prior, and removes nobody from the group.
            claims = claims.unsure
        elif claims is not None:
            contradicted[self._contradicted(claims, observation)] = True
        try:
            if claims is None or self.cascade is None:
                answer = self.estimator(problem)
            else:
                answer = self.cascade.weigh(problem, claims, self.estimator)
        except TooLarge as error:
            raise TooLarge(f"the release at {observation.time!r}: {error}") from None
        return replace(answer, status=np.where(contradicted, answer.status | CONTRADICTED, answer.status))

    def remember(self, memory: Memory, observation: Observation, posterior: Posterior) -> Memory:
        """The memory with a release's beliefs.

        People who are not published in it keep those they have, unless a compromised record changed them.
        """
        published = np.flatnonzero((observation.group >= 0) | self.affected_by_claims(memory, observation, posterior))
        people = observation.people[published]
        chain = self.transitions.at(memory.releases) if self.transitions is not None else None
        latest = posterior.probabilities[published]
        shape = (self._depth(chain), latest.shape[1], self._joint_size(chain))
        larger = _with_room(memory, people, *shape)
        places = larger.places(people)
        if self.gaps == "power" and chain is not None:
            absent = np.setdiff1d(np.arange(len(memory.rows)), places)
            if len(absent):
                ahead = self._ahead(chain, memory, absent)
                totals = ahead.sum(axis=1, keepdims=True)
                ahead = np.divide(ahead, totals, out=memory.beliefs[-1, absent].copy(), where=totals > 0)
                self._push(larger, chain, absent, ahead, None)
        self._push(larger, chain, places, latest, latest)
        return replace(larger, releases=memory.releases + 1)

    def observe(self, memory: Memory, observation: Observation) -> tuple[Posterior, Memory]:
        """The posterior of a release, and the memory with it."""
        posterior = self.weigh(self.revise(memory, observation.people, observation.time), observation)
        return posterior, self.remember(memory, observation, posterior)

    def affected_by_claims(self, memory: Memory, observation: Observation, posterior: Posterior) -> BoolArray:
        """Of whom a compromised record told something: whose belief is not what it was before without it, beyond `HEARD`."""
        affected = np.zeros(len(observation.people), dtype=np.bool_)
        claims = self._claims(observation.time, observation.people)
        if claims is not None and len(claims.rows):
            rows = np.unique(claims.rows)
            before = self.revise(memory, observation.people[rows])
            affected[rows] = (np.abs(posterior.probabilities[rows] - before) > HEARD).any(axis=1)
        return affected

    def check_times(self, times: Sequence[Any]) -> None:
        """Raise ValueError if a compromised record is about a time at which nothing was released: it would never be used."""
        for time in self.compromised.times if self.compromised is not None else ():
            if time not in times:
                raise ValueError(
                    f"a compromised record is about {time!r}, and the releases are of {', '.join(map(repr, times))}. Correct the "
                    "time, or leave the record out."
                )

    def _ahead(self, chain: MarkovChain, memory: Memory, places: IntArray) -> FloatArray:
        """The next values' distribution by the chain, given what is remembered of some people; rows may sum to less than 1."""
        if self._keeps_joint(chain):
            return filter_revision(chain, memory.joint, memory.known, places)
        rule = chain_revision if self.revision == "chain" else product_revision
        return rule(chain, memory.beliefs[:, places], memory.known[places])

    def _push(
        self,
        memory: Memory,
        chain: MarkovChain | None,
        places: IntArray,
        latest: FloatArray,
        affected_by_claims: FloatArray | None,
    ) -> None:
        """Put the latest beliefs of some people behind their earlier ones, in a memory that nobody else has seen yet."""
        if chain is not None and self._keeps_joint(chain):
            filter_update(chain, memory.joint, memory.known, places, affected_by_claims)
        memory.beliefs[:-1, places] = memory.beliefs[1:, places]
        memory.beliefs[-1, places] = latest
        memory.known[places] = np.minimum(memory.known[places] + 1, chain.order if chain is not None else 1)

    def _keeps_joint(self, chain: MarkovChain) -> bool:
        """Whether the last belief is not the whole state: for order 1 it is, under every revision."""
        return self.revision == "filter" and chain.order > 1

    def _depth(self, chain: MarkovChain | None) -> int:
        """The number of past beliefs kept of each respondent."""
        return 1 if chain is None or self._keeps_joint(chain) else chain.order

    def _joint_size(self, chain: MarkovChain | None) -> int:
        """The number of joint probabilities kept of each respondent."""
        if chain is None or not self._keeps_joint(chain):
            return 0
        size = int(chain.values**chain.order)
        if size > LARGEST_ROW:
            raise ValueError(
                f"revision='filter' with a chain of order {chain.order} over {chain.values} values keeps {size} numbers of every "
                f"respondent, more than {LARGEST_ROW}. {WAY_OUT}"
            )
        return size

    def _claims(self, time: Any, people: People) -> Claims | None:
        """The claims about a release, if there is any knowledge of that kind."""
        return None if self.compromised is None or time is None else self.compromised.at(time, people)

    def _contradicted(self, claims: Claims, observation: Observation) -> IntArray:
        """The groups that do not show a value somebody in them is said to have."""
        group = observation.group[claims.rows]
        inside = np.flatnonzero(group >= 0)
        missing = inside[observation.counts[group[inside], claims.values[inside]] == 0]
        if len(missing) and self.compromised is not None and self.compromised.contradicted == "raise":
            respondent = observation.people.respondents[claims.rows[missing[0]]]
            value = observation.people.schema.values[claims.values[missing[0]]]
            raise ValueError(
                f"a compromised record says that respondent {respondent!r} has {value!r} at {observation.time!r}, and the "
                f"group {group[missing[0]]} published then does not show it. Correct it, or report such groups with "
                "CompromisedRecords(frame, contradicted='report')."
            )
        return np.asarray(group[missing])


def _with_room(memory: Memory, people: People, depth: int, values: int, sequences: int) -> Memory:
    """A copy of the memory with rows for people who are new to it."""
    rows = dict(memory.rows)
    for respondent in people.respondents:
        rows.setdefault(respondent, len(rows))
    if len(memory.rows) and memory.joint.shape[1] != sequences:
        raise ValueError("the transitions change their order between two releases; revision='filter' needs one order.")
    if len(rows) * sequences > LARGEST_JOINT:
        raise ValueError(
            f"revision='filter' keeps {sequences} numbers of each of {len(rows)} respondents, more than {LARGEST_JOINT} (8 GiB). "
            f"{WAY_OUT}"
        )
    beliefs = np.zeros((depth, len(rows), values))
    known = np.zeros(len(rows), dtype=np.int64)
    joint = np.zeros((len(rows), sequences))
    if len(memory.rows):
        kept = min(depth, len(memory.beliefs))
        beliefs[depth - kept :, : len(memory.rows)] = memory.beliefs[len(memory.beliefs) - kept :]
        known[: len(memory.rows)] = memory.known if sequences else np.minimum(memory.known, depth)
        joint[: len(memory.rows)] = memory.joint
    return Memory(memory.releases, rows, beliefs, known, joint)


def _fitting(chain: MarkovChain, values: int) -> MarkovChain:
    if chain.values != values:
        raise ValueError(
            f"the transitions are over {chain.values} values and the prior over {values}; both must be over the sensitive "
            "domain, in its order."
        )
    return chain
