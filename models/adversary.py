"""Somebody with background knowledge, who watches releases and remembers."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.estimators import Exact
from foreknow.models.markov_chain import MarkovChain, Transitions
from foreknow.models.people import People
from foreknow.models.priors import Prior
from foreknow.models.problem import Estimator, Posterior, probability_rows
from foreknow.models.release import Observation
from foreknow.models.revision import product_revision


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
    """

    releases: int = 0
    rows: Mapping[Hashable, int] = field(default_factory=dict)
    beliefs: FloatArray = field(default_factory=lambda: np.zeros((1, 0, 0)))
    known: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def places(self, people: People) -> IntArray:
        """Where each person's beliefs stand, -1 for one never seen: int array, shape ``(n,)``."""
        rows = self.rows
        return np.array([rows.get(respondent, -1) for respondent in people.respondents], dtype=np.int64)


@dataclass(frozen=True)
class Adversary:
    """An adversary's knowledge and way of reasoning (JS-reduce, section 4.5 and Figure 1).

    Parameters
    ----------
    prior : Prior
        What is believed of a person never seen before: BK^sv.
    transitions : MarkovChain or IncrementalChain, optional
        How values follow each other: BK^seq. Without it, nothing learned from one release bears on the next, and every
        revised prior is the prior.
    estimator : Estimator
        How a prior and a release make a posterior.
    gaps : {"ignore", "power"}
        What happens in releases in which a respondent is not published. ``"ignore"``: nothing; the chain leads from
        one observation to the next, as in the papers. ``"power"``: the chain takes a step at every release (for a chain
        of order 1, its power).

    Notes
    -----
    An adversary receives `People` and `Observation` only, which hold no true value. `revise`, `weigh` and `remember`
    are pure; `observe` is one after the other.
    """

    prior: Prior
    transitions: Transitions | None = None
    estimator: Estimator = field(default_factory=Exact)
    gaps: Literal["ignore", "power"] = "ignore"

    def __post_init__(self) -> None:
        if self.gaps not in ("ignore", "power"):
            raise ValueError(
                f"gaps is {self.gaps!r}; it is 'ignore' (the papers) or 'power' (a step at every release)."
            )

    def revise(self, memory: Memory, people: People) -> FloatArray:
        """What is believed of some people before the next release: RBK^sv, shape ``(n, m)``, rows are probabilities.

        Somebody never seen has the prior; so has somebody whose past beliefs the chain gives no continuation at all,
        which only a substochastic chain can do.
        """
        prior = probability_rows(self.prior(people), "the prior of the person in row").copy()
        places = memory.places(people)
        seen = np.flatnonzero(places >= 0)
        if self.transitions is None or not len(seen):
            return prior
        chain = _fitting(self.transitions.at(memory.releases), prior.shape[1])
        revised = product_revision(chain, memory.beliefs[:, places[seen]], memory.known[places[seen]])
        totals = revised.sum(axis=1)
        alive = totals > 0
        prior[seen[alive]] = revised[alive] / totals[alive, None]
        return prior

    def weigh(self, revised: FloatArray, observation: Observation) -> Posterior:
        """The posterior of a release under a revised prior: rows for the n people, none for counterfeits."""
        posterior = self.estimator(observation.problem(revised))
        return Posterior(posterior.probabilities[: len(revised)], posterior.status)

    def remember(self, memory: Memory, observation: Observation, posterior: Posterior) -> Memory:
        """The memory with a release's beliefs; people who are not published in it keep those they have."""
        published = np.flatnonzero(observation.group >= 0)
        people = observation.people[published]
        depth = self.transitions.at(memory.releases).order if self.transitions is not None else 1
        rows, beliefs, known = _with_room(memory, people, depth, posterior.probabilities.shape[1])
        places = np.array([rows[respondent] for respondent in people.respondents], dtype=np.int64)
        if self.gaps == "power" and self.transitions is not None:
            absent = np.setdiff1d(np.arange(len(memory.rows)), places)
            ahead = product_revision(self.transitions.at(memory.releases), beliefs[:, absent], known[absent])
            totals = ahead.sum(axis=1, keepdims=True)
            ahead = np.divide(ahead, totals, out=beliefs[-1, absent].copy(), where=totals > 0)
            _push(beliefs, known, absent, ahead)
        _push(beliefs, known, places, posterior.probabilities[published])
        return Memory(memory.releases + 1, rows, beliefs, known)

    def observe(self, memory: Memory, observation: Observation) -> tuple[Posterior, Memory]:
        """The posterior of a release, and the memory with it."""
        posterior = self.weigh(self.revise(memory, observation.people), observation)
        return posterior, self.remember(memory, observation, posterior)


def _with_room(
    memory: Memory, people: People, depth: int, values: int
) -> tuple[dict[Hashable, int], FloatArray, IntArray]:
    """Copies of the memory's parts, with rows for people who are new to it."""
    rows = dict(memory.rows)
    for respondent in people.respondents:
        rows.setdefault(respondent, len(rows))
    beliefs = np.zeros((depth, len(rows), values))
    known = np.zeros(len(rows), dtype=np.int64)
    if len(memory.rows):
        kept = min(depth, len(memory.beliefs))
        beliefs[depth - kept :, : len(memory.rows)] = memory.beliefs[len(memory.beliefs) - kept :]
        known[: len(memory.rows)] = np.minimum(memory.known, depth)
    return rows, beliefs, known


def _push(beliefs: FloatArray, known: IntArray, places: IntArray, latest: FloatArray) -> None:
    """Put the latest beliefs of some people behind their earlier ones, in arrays that are the caller's own."""
    beliefs[:-1, places] = beliefs[1:, places]
    beliefs[-1, places] = latest
    known[places] = np.minimum(known[places] + 1, len(beliefs))


def _fitting(chain: MarkovChain, values: int) -> MarkovChain:
    if chain.values != values:
        raise ValueError(
            f"the transitions are over {chain.values} values and the prior over {values}; both must be over the sensitive "
            "domain, in its order."
        )
    return chain
