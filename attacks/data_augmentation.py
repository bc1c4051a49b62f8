"""Sequential attack by an adversary who learns the transitions from the releases: draws of the law, moved at each release."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from foreknow.attacks.adversary_attack import DrawWeights, mixture
from foreknow.attacks.attack import check_adversary, each_release
from foreknow.attacks.belief_notes import belief_notes
from foreknow.models import (
    Adversary,
    Averaged,
    Beliefs,
    DirichletChain,
    MarkovChain,
    Memory,
    Observation,
    Release,
    TransitionsByClass,
)
from foreknow.models.arrays import FloatArray, IntArray
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.equality import equal_by_fields
from foreknow.models.knowledge.personal_transitions import chains_at, classes_of
from foreknow.models.progress import Progress, stepping
from foreknow.models.settings import as_generator, check_whole

# Way out of an `Averaged` adversary
AVERAGED = "It draws the laws itself: give Adversary(prior, DirichletChain.fit(corpus))."

type _Law = MarkovChain | TransitionsByClass  # draw of the transitions

# Counts of steps, of each class and each length of the sequence before, in the shapes of the concentrations
type _Counts = tuple[tuple[FloatArray, ...], ...]


@equal_by_fields
@dataclass(frozen=True)
class DataAugmentationAttack:
    """Sequential attack with unknown transitions, which the releases teach: a mixture over draws that each release moves.

    The transitions have a Dirichlet distribution, as of a corpus (`DirichletChain`). Each of the draws has a law A, the counts C
    of the steps that it has seen, and a memory. At each release, ``sweeps`` times:

    1. Compute the beliefs under A, as `SequentialAttack`.
    2. Draw the present value of each published respondent from these beliefs, and the value before given it (the last d values
       for order d): the counts c.
    3. Draw A from ``Dirichlet(concentrations + C + c)``.

    The beliefs under the last A are those of the draw; the result is their mixture with equal weights.

    Parameters
    ----------
    adversary : Adversary
        With a `DirichletChain`, or `TransitionsByClass` whose chains are of this type. For order 2 or more with
        ``revision="filter"``.
    draws : int
        Number of draws of the law.
    sweeps : int
        Number of moves of each draw at each release.
    progress : callable
        Function of a range that returns an iterable of the same length, as ``rich.progress.track``. One item is taken before each
        release of each draw. By keyword.
    rng : numpy.random.Generator or int
        Random generator of the draws, or a seed. By keyword.

    Notes
    -----
    An `Averaged` adversary weighs its draws and never moves them. All draws of a small corpus are far from the law; after two
    releases one of them has all weight (docs/findings/adversary.md). Moved draws remain draws of the posterior.

    Data augmentation (Tanner, Wong 1987), with the counts of past steps as sufficient statistics, as in the particle filters of
    Storvik (2002) and Carvalho, Johannes, Lopes and Polson (2010, particle learning); here particles are not weighed and
    not resampled. Exact, as the numbers of draws and sweeps grow, where the groups show each value with certainty, and at the
    first two releases of a respondent among others who are seen once. Otherwise approximate: as in `SequentialAttack`, beliefs
    are marginal; the values of group members are drawn independently; and earlier values are not drawn again.

    A respondent with l < d known values steps by the table for sequences of l values, and this table alone counts the step. With
    classes a step counts in the class of the respondent at the release to which it leads.

    ``revised`` is that of the law before the release. Counts of steps over a gap are those between the two publications with
    ``gaps="ignore"``, and those of the last step with ``gaps="power"``.

    Cost: ``draws * (sweeps + 1)`` times that of `SequentialAttack`.

    Examples
    --------
    >>> from foreknow.models import UniformPrior
    >>> unknown = DirichletChain((np.full((3, 3), 0.5),))
    >>> DataAugmentationAttack(Adversary(UniformPrior(), unknown), rng=1).draws
    24
    """

    reads: ClassVar[tuple[str, ...]] = ("prior", "transitions", "compromised", "program")
    ignores: ClassVar[tuple[str, ...]] = ()

    adversary: Adversary
    draws: int = 24
    sweeps: int = 3
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    rng: "np.random.Generator | int" = field(kw_only=True)

    def __post_init__(self) -> None:
        check_adversary(self, self.adversary, averaged=AVERAGED)
        _check_transitions(self.adversary)
        check_whole("DataAugmentationAttack", "draws", self.draws, "draws of the law")
        check_whole("DataAugmentationAttack", "sweeps", self.sweeps, "moves of each draw at a release")
        as_generator("DataAugmentationAttack", self.rng)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release, with the draws. Only observations are read."""
        each = [beliefs for beliefs, _ in self._attacks(releases)]
        return mixture(each, DrawWeights.equal(len(each), len(each[0])))

    def learned(self, releases: Iterable[Release]) -> Averaged:
        """Adversary with the laws after the last release, one for each draw, with weights that later evidence does not change.

        For another attack on the same releases, ``JointAttack(attack.learned(releases))``, or for a publisher who assumes what
        these releases have taught. Cost: that of the attack.
        """
        laws = [law for _, law in self._attacks(releases)]
        return Averaged(tuple(replace(self.adversary, transitions=law) for law in laws), updated=False)

    def _attacks(self, releases: Iterable[Release]) -> list[tuple[Beliefs, _Law]]:
        """Beliefs of each draw, and its law after the last release."""
        seen = [release.observation for release in each_release(self, releases)]
        self.adversary.check_claim_times([one.time for one in seen])
        rng = as_generator("DataAugmentationAttack", self.rng)
        # A generator for each draw: later releases change no beliefs about earlier ones.
        step = stepping(self.progress, range(int(self.draws) * len(seen)))
        return [self._attack(seen, one, step) for one in rng.spawn(int(self.draws))]

    def _attack(
        self, seen: list[Observation], rng: np.random.Generator, step: Callable[[], None]
    ) -> tuple[Beliefs, _Law]:
        """Beliefs of one draw, and its law after the last release; ``step`` is called before each release."""
        known = _dirichlet_chains(self.adversary)
        counts = tuple(tuple(np.zeros(table.shape) for table in chain.concentrations) for chain in known)
        state = _DrawState(_drawn_law(self.adversary, counts, rng), counts, Memory())
        found = []
        for one in seen:
            step()
            beliefs, state = self._observe(state, one, rng)
            found.append(beliefs)
        return Beliefs(tuple(found), notes=belief_notes(self.adversary, found)), state.law

    def _observe(
        self, state: "_DrawState", seen: Observation, rng: np.random.Generator
    ) -> "tuple[ReleaseBeliefs, _DrawState]":
        """Beliefs around one release, and the state of the draw after it."""
        adversary, memory = replace(self.adversary, transitions=state.law), state.memory
        prior = adversary.prior_rows(seen.people)
        revised = adversary.revise(memory, seen.people, seen.time, prior=prior)
        posterior = adversary.posterior(revised, seen)
        law, counts = state.law, state.counts
        if (before := _Before.of(memory, seen, law)) is not None:
            for _ in range(int(self.sweeps)):
                drawn = before.drawn_steps(law, posterior.probabilities, rng)
                counts = tuple(tuple(map(np.add, *tables)) for tables in zip(state.counts, drawn, strict=True))
                law = _drawn_law(self.adversary, counts, rng)
                adversary = replace(self.adversary, transitions=law)
                posterior = adversary.posterior(adversary.revise(memory, seen.people, seen.time, prior=prior), seen)
        memory = adversary.update_memory(memory, seen, posterior, prior=prior)
        return ReleaseBeliefs(seen, prior, revised, posterior), _DrawState(law, counts, memory)


class _DrawState(NamedTuple):
    """Draw of the law, counts of the steps that it has seen, and memory."""

    law: _Law
    counts: _Counts
    memory: Memory


class _Before(NamedTuple):
    """Published respondents of a release who were seen before."""

    # rows, classes, known (k,): row in the release, class, and number of known values of each, in a fixed order
    rows: IntArray
    classes: IntArray
    known: IntArray
    beliefs: FloatArray  # (k, m^d): probability of each sequence of the known values, in the layout of `Memory.joint`

    @classmethod
    def of(cls, memory: Memory, seen: Observation, law: _Law) -> "_Before | None":
        """None where no published respondent was seen before. The order of the records does not matter."""
        place = memory.rows_of(seen.people)
        rows = np.flatnonzero((place >= 0) & (seen.group >= 0))
        if not len(rows):
            return None
        rows = np.array(sorted(rows, key=lambda row: repr(seen.people.respondents[row])), dtype=np.int64)
        joint = memory.joint if memory.joint.shape[1] else memory.beliefs[-1]
        return cls(rows, classes_of(law, seen.people)[rows], memory.known[place[rows]], joint[place[rows]])

    def drawn_steps(self, law: _Law, posterior: FloatArray, rng: np.random.Generator) -> _Counts:
        """Counts of the steps to a drawn present value from drawn values before."""
        chains, m = chains_at(law, 0), posterior.shape[1]
        now = _drawn_values(posterior[self.rows], rng)
        weights = np.zeros(self.beliefs.shape)
        for own, length in np.unique(np.stack([self.classes, self.known], axis=1), axis=0):
            some = np.flatnonzero((self.classes == own) & (self.known == length))
            table = chains[own].tables[length - 1].reshape(-1, m)
            weights[some, : len(table)] = self.beliefs[some, : len(table)] * table[:, now[some]].T
        # Where the law excludes the drawn value, as after a contradiction, the values before are drawn from their beliefs alone.
        weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, self.beliefs)
        before = _drawn_values(weights, rng)
        counts = [[np.zeros(table.shape) for table in chain.tables] for chain in chains]
        for own, length, sequence, value in zip(self.classes, self.known, before, now, strict=True):
            counts[own][length - 1].reshape(-1, m)[sequence, value] += 1.0
        return tuple(map(tuple, counts))


def _drawn_values(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """One value for each row of weights: int array, shape ``(k,)``."""
    total = np.cumsum(weights, axis=1)
    return np.asarray((total > rng.random(len(total))[:, None] * total[:, -1:]).argmax(axis=1))


def _dirichlet_chains(adversary: Adversary) -> tuple[DirichletChain, ...]:
    """Knowledge of each class; one for all respondents."""
    known = adversary.transitions
    given = known.chains if isinstance(known, TransitionsByClass) else (known,)
    return tuple(chain for chain in given if isinstance(chain, DirichletChain))


def _drawn_law(adversary: Adversary, counts: _Counts, rng: np.random.Generator) -> _Law:
    """Draw of the transitions given counts of steps."""
    known, pairs = adversary.transitions, zip(_dirichlet_chains(adversary), counts, strict=True)
    posteriors = [DirichletChain(tuple(map(np.add, chain.concentrations, tables))) for chain, tables in pairs]
    drawn = tuple(posterior.sample(rng=rng) for posterior in posteriors)
    return TransitionsByClass(known.classes, drawn) if isinstance(known, TransitionsByClass) else drawn[0]


def _check_transitions(adversary: Adversary) -> None:
    """Raise TypeError or ValueError unless the transitions are Dirichlet, and memory has the joint distribution of d values."""
    known, owner = adversary.transitions, "DataAugmentationAttack"
    given = known.chains if isinstance(known, TransitionsByClass) else (known,)
    if not all(isinstance(chain, DirichletChain) for chain in given):
        raise TypeError(
            f"{owner}: the adversary's transitions are a {type(given[0]).__name__}; they are a DirichletChain, or a "
            "TransitionsByClass of such: DirichletChain.fit(corpus), or DirichletChain((np.full((m, m), 0.5),)) where nothing is "
            "known."
        )
    order = _dirichlet_chains(adversary)[0].order
    if order > 1 and adversary.revision != "filter":
        raise ValueError(
            f"{owner}: the adversary's transitions are of order {order}, and its revision {adversary.revision!r} keeps no joint "
            "distribution of the last values to draw from; use revision='filter', or transitions.truncate(1)."
        )
