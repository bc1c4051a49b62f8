"""Somebody with background knowledge, who watches releases and remembers."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.cascades import Cascade
from foreknow.models.compromised import Claims, CompromisedRecords
from foreknow.models.counterfeits import weigh_counterfeits
from foreknow.models.distortion import weigh_distorted
from foreknow.models.estimators import Exact, TooLarge
from foreknow.models.markov_chain import LARGEST_TABLE, MarkovChain, Transitions
from foreknow.models.people import People
from foreknow.models.priors import Prior
from foreknow.models.problem import CONTRADICTED, Estimator, Posterior, Problem, probability_rows
from foreknow.models.release import Observation
from foreknow.models.revision import chain_revision, filter_revision, filter_update, product_revision

HEARD = 1e-9
"""A smaller change of a belief is rounding, and nothing to remember."""

type Revision = Literal["product", "chain", "filter"]


@dataclass(frozen=True, eq=False)
class Memory:
    """What an adversary keeps of the releases seen so far; ``Memory()`` is that of somebody who has seen none.

    Attributes
    ----------
    releases : int
        How many releases were observed.
    rows : mapping of respondent to int
        Where each respondent's beliefs stand.
    beliefs : float array, shape (d, N, m)
        The last d beliefs of the N respondents seen, oldest first; unknown ones, at the start, are zero.
    known : int array, shape (N,)
        How many of them are known, at most d.
    joint : float array, shape (N, m^d) or (N, 0)
        For ``revision="filter"``, the law of each respondent's last values, as `filter_revision` takes it.
    """

    releases: int = 0
    rows: Mapping[Hashable, int] = field(default_factory=dict)
    beliefs: FloatArray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    known: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    joint: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    def places(self, people: People) -> IntArray:
        """Where each person's beliefs stand, -1 for one never seen: int array, shape ``(n,)``."""
        rows = self.rows
        return np.array([rows.get(respondent, -1) for respondent in people.respondents], dtype=np.int64)


@dataclass(frozen=True)
class Adversary:
    """An adversary's knowledge and way of reasoning (JS-reduce, section 4.5; BayFrame, section 4.3).

    Parameters
    ----------
    prior : Prior
        What is believed of a person never seen before: BK^sv.
    transitions : MarkovChain or IncrementalChain, optional
        How values follow each other: BK^seq. Without it, nothing learned from one release bears on the next, and every
        revised prior is the prior.
    compromised : CompromisedRecords, optional
        What is known of some people from elsewhere: CR.
    estimator : Estimator
        How a prior and a release make a posterior.
    cascade : Cascade, optional
        How compromised records enter; needed where there are any.
    revision : {"product", "chain", "filter"}
        How past beliefs make the revised prior, where the chain looks back over several values; for a chain of order 1 all
        three are the same. ``"product"``: past posteriors multiplied, as JS-reduce, Algorithm 3 (`product_revision`).
        ``"chain"``: the oldest posterior carried on, as BayFrame, Equations 3 and 4 (`chain_revision`). ``"filter"``: the
        joint law of the last values (`filter_revision`).
    gaps : {"ignore", "power"}
        What happens in releases in which a respondent is not published. ``"ignore"``: nothing; the chain leads from
        one observation to the next, as in the papers. ``"power"``: the chain takes a step at every release (for a chain
        of order 1, its power).
    counterfeits : {"dealt", "uniform"}
        Law of the values of counterfeits. ``"dealt"``: they stand where records of a value are lacking; the law is
        estimated from the release (`foreknow.models.counterfeits.weigh_counterfeits`). ``"uniform"``: each is a respondent with a
        uniform prior over the domain, as if it had been drawn before the groups were formed.
    distortion : {"counted", "ignored"}
        What is known of distorted values. ``"counted"``: their number in the release, and of how many the own value is not
        shown; the law is estimated (`foreknow.models.distortion.weigh_distorted`). ``"ignored"``: all published values are
        taken for true.

    Raises
    ------
    ValueError
        If a setting is no word it knows, or there are compromised records and no cascade. When called, if a compromised
        record is about a value that the respondent's group does not show (see `CompromisedRecords`).

    Notes
    -----
    An adversary receives `People` and `Observation` only, which hold no true value. `revise`, `weigh` and `remember`
    are pure; `observe` is one after the other.
    """

    prior: Prior
    transitions: Transitions | None = None
    compromised: CompromisedRecords | None = None
    estimator: Estimator = field(default_factory=Exact)
    cascade: Cascade | None = None
    revision: Revision = "product"
    gaps: Literal["ignore", "power"] = "ignore"
    counterfeits: Literal["dealt", "uniform"] = "dealt"
    distortion: Literal["counted", "ignored"] = "counted"

    def __post_init__(self) -> None:
        if self.gaps not in ("ignore", "power"):
            raise ValueError(
                f"gaps is {self.gaps!r}; it is 'ignore' (the papers) or 'power' (a step at every release)."
            )
        if self.revision not in ("product", "chain", "filter"):
            raise ValueError(
                f"revision is {self.revision!r}; it is 'product' (JS-reduce), 'chain' (BayFrame) or 'filter' (the joint law)."
            )
        if self.counterfeits not in ("dealt", "uniform"):
            raise ValueError(
                f"counterfeits is {self.counterfeits!r}; it is 'dealt' (estimated from the release) or 'uniform'."
            )
        if self.distortion not in ("counted", "ignored"):
            raise ValueError(
                f"distortion is {self.distortion!r}; it is 'counted' (their number is known) or 'ignored'."
            )
        for name, setting in (("estimator", self.estimator), ("cascade", self.cascade)):
            if isinstance(setting, type):
                raise TypeError(
                    f"{name} is the class {setting.__name__}; write {name}={setting.__name__}(...), a setting of it."
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
        """What is believed of some people before the next release: RBK^sv, shape ``(n, m)``, rows are probabilities.

        Somebody never seen has the prior; so has somebody whose past beliefs the chain gives no continuation at all,
        which only a substochastic chain can do. With the release's time, the compromised records about it are in it, as the
        cascade has it.
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
        published = np.flatnonzero((observation.group >= 0) | self.told(memory, observation, posterior))
        people = observation.people[published]
        chain = self.transitions.at(memory.releases) if self.transitions is not None else None
        latest = posterior.probabilities[published]
        larger = _with_room(memory, people, chain.order if chain else 1, latest.shape[1], self._joint_size(chain))
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

    def told(self, memory: Memory, observation: Observation, posterior: Posterior) -> BoolArray:
        """Of whom a compromised record told something: whose belief is not what it was before without it, beyond `HEARD`."""
        told = np.zeros(len(observation.people), dtype=np.bool_)
        claims = self._claims(observation.time, observation.people)
        if claims is not None and len(claims.rows):
            rows = np.unique(claims.rows)
            before = self.revise(memory, observation.people[rows])
            told[rows] = (np.abs(posterior.probabilities[rows] - before) > HEARD).any(axis=1)
        return told

    def check_times(self, times: Sequence[Any]) -> None:
        """Raise ValueError if a compromised record is about a time at which nothing was released: it would never be used."""
        for time in self.compromised.times if self.compromised is not None else ():
            if time not in times:
                raise ValueError(
                    f"a compromised record is about {time!r}, and the releases are of {', '.join(map(repr, times))}. Correct the "
                    "time, or leave the record out."
                )

    def _ahead(self, chain: MarkovChain, memory: Memory, places: IntArray) -> FloatArray:
        """Where the chain leads from what is remembered of some people; rows may sum to less than 1."""
        known = memory.known[places]
        if self.revision == "filter":
            return filter_revision(chain, memory.joint[places], known)
        rule = product_revision if self.revision == "product" else chain_revision
        return rule(chain, memory.beliefs[:, places], known)

    def _push(
        self, memory: Memory, chain: MarkovChain | None, places: IntArray, latest: FloatArray, told: FloatArray | None
    ) -> None:
        """Put the latest beliefs of some people behind their earlier ones, in a memory that nobody else has seen yet."""
        if self.revision == "filter" and chain is not None:
            memory.joint[places] = filter_update(chain, memory.joint[places], memory.known[places], told)
        memory.beliefs[:-1, places] = memory.beliefs[1:, places]
        memory.beliefs[-1, places] = latest
        memory.known[places] = np.minimum(memory.known[places] + 1, len(memory.beliefs))

    def _joint_size(self, chain: MarkovChain | None) -> int:
        if self.revision != "filter" or chain is None:
            return 0
        size = int(chain.values**chain.order)
        if size > LARGEST_TABLE // 2**10:
            raise ValueError(
                f"revision='filter' with a chain of order {chain.order} over {chain.values} values keeps {size} numbers for "
                "every respondent; truncate the chain, or use revision='product'."
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
    beliefs = np.zeros((depth, len(rows), values))
    known = np.zeros(len(rows), dtype=np.int64)
    joint = np.zeros((len(rows), sequences))
    if len(memory.rows):
        kept = min(depth, len(memory.beliefs))
        beliefs[depth - kept :, : len(memory.rows)] = memory.beliefs[len(memory.beliefs) - kept :]
        known[: len(memory.rows)] = np.minimum(memory.known, depth)
        joint[: len(memory.rows)] = memory.joint
    return Memory(memory.releases, rows, beliefs, known, joint)


def _fitting(chain: MarkovChain, values: int) -> MarkovChain:
    if chain.values != values:
        raise ValueError(
            f"the transitions are over {chain.values} values and the prior over {values}; both must be over the sensitive "
            "domain, in its order."
        )
    return chain
