"""Joint attack: all respondents and all releases in one law, with knowledge that is given or learned from the releases."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from foreknow.attacks.adversary_attack import AdversaryAttack, ReleaseEvidence, Weighed, forward_evidence
from foreknow.attacks.attack import check_order_1, each_release
from foreknow.attacks.belief_notes import joint_notes
from foreknow.attacks.signature import signature_evidence
from foreknow.models import (
    JOINT_SOLVERS,
    Adversary,
    Averaged,
    Beliefs,
    GhostChain,
    GroupGraph,
    LearnedKnowledge,
    Observation,
    People,
    Release,
    joint_history,
)
from foreknow.models.adversary import check_reads, readers_among
from foreknow.models.arrays import FloatArray
from foreknow.models.averaged import check_rule_reads
from foreknow.models.joint.building import JointHistory, release_beliefs
from foreknow.models.joint.learned_knowledge import check_learned_order
from foreknow.models.joint.max_entropy import joint_log_evidence
from foreknow.models.joint.problem import JointProblem, JointSolver, check_is_solver, solved
from foreknow.models.joint.signatures import SignatureRule, read_signatures, signature_rule
from foreknow.models.knowledge.markov_chain import check_pseudo_count
from foreknow.models.knowledge.sequences import GAPS, GapRule
from foreknow.models.mechanisms import SignatureLaw
from foreknow.models.progress import Progress
from foreknow.models.settings import check_choice, check_flag
from foreknow.models.tables.columns import check_order


@dataclass(frozen=True)
class JointAttack(AdversaryAttack):
    """Beliefs under the joint law of all respondents and all releases.

    Each respondent has a chain with the prior and the transitions of the adversary; each group conditions the values of its
    members on the published multiset. Other attacks keep the marginal beliefs of each respondent from release to release; the
    joint law keeps what the releases say together: later releases about earlier ones, and members of a group about each other.

    Parameters
    ----------
    adversary : Adversary or Averaged
        Its revision and law of counterfeits are rules of release-by-release inference, and have no meaning here; its estimator
        reads only distorted values and signatures. Compromised records are a likelihood under `EvidenceCascade` and `RemoveKnown`,
        and a mixture under `PriorCascade` (`foreknow.models.joint.building.claim_evidence`); other cascades are refused.
        `Enumeration`, `GroupGraph`, `JointAuto` and `PathSampler` read its relations.
    solver : JointSolver
        `GroupGraph` by default; `JOINT_SOLVERS` lists all. All but `Enumeration` take ``progress=``.
    hindsight : bool
        True for beliefs about each release given all releases, False for beliefs given the releases up to it.
    signatures : bool
        True if the adversary knows that the releases are of m-invariance, and its rule: a respondent keeps the set of values
        that the group shows, as long as the value stays the same (`foreknow.models.joint.signatures.signature_rule`).

    Notes
    -----
    Exact as far as the solver is. None of the five papers has the joint law; each of their adversaries approximates its
    marginals, one release at a time. The ``notes`` of the beliefs name an approximate solver, contradicted or unconverged groups,
    counterfeits and distorted values.

    A counterfeit is a respondent of one record with a uniform prior: ``counterfeits`` of the adversary is not read. With
    ``signatures`` the law of the counterfeits and the shares of the signatures are those that `SignatureAttack` estimates
    forward, release by release; so is the channel of distorted values. Cost: that of the solver; with ``hindsight=False`` a
    small multiple of it; with ``signatures`` also that of `SignatureAttack`. With ``hindsight=False`` the belief about a
    respondent who is not published is carried on from the one at the last record, given the releases up to that record;
    `forecast` carries it on given all releases so far.

    Draws of an `Averaged` adversary are weighed by `joint_log_evidence`, and with ``hindsight=False`` by the evidence of the
    forward attack. With ``signatures`` the probability of all signatures is in the weights, given the shares under each draw.
    """

    reads = ("prior", "transitions", "compromised", "presence", "relations", "mechanism", "own")
    reads_noise = True

    solver: JointSolver = field(default_factory=GroupGraph)
    hindsight: bool = True
    signatures: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_is_solver("JointAttack", "solver", self.solver)
        check_rule_reads(self.solver, self.adversary, readers_among(JOINT_SOLVERS.values()))
        if self.signatures:
            check_order_1(self, self.adversary)
        if not self.hindsight and isinstance(self.adversary, Averaged):
            self._check_weights(self.adversary)

    def _check_weights(self, averaged: Averaged) -> None:
        """Raise ValueError if the evidence of a forward attack, by which draws are weighed, does not read their relations."""
        if averaged.updated and any(one.relations is not None for one in averaged.adversaries):
            raise ValueError(
                "JointAttack: the weights of draws going forward do not read relations; attack in hindsight, or give "
                "Averaged(..., updated=False)."
            )

    def forecast(self, observations: Sequence[Observation], people: People, time: Any) -> FloatArray:
        """Beliefs before a view is published, carried on by the chain: float array, shape ``(n, m)``.

        Given the releases so far, the compromised records of ``time``, and that these respondents are listed then. With
        ``publish(..., believes=attack)`` it is the prior that the defense receives.

        Parameters
        ----------
        observations : sequence of Observation
            Of the earlier releases, in the order of time; there may be none.
        people : People
            Of the n respondents of the next view.
        time
            Time of the next view.

        Raises
        ------
        TypeError
            For an `Averaged` adversary.
        ValueError
            For relations: those whose first common release is the next view are not known yet.

        Notes
        -----
        A release that shows no group is the last one; its beliefs in hindsight are the forecast, also with ``hindsight=False``.
        Cost: that of the solver.
        """
        if not isinstance(self.adversary, Adversary):
            raise TypeError(
                "JointAttack.forecast: the adversary is Averaged; give one Adversary, or publish(..., adversary=averaged)."
            )
        check_reads("JointAttack.forecast", self.adversary, [part for part in self.reads if part != "relations"])
        if observations:
            check_order(observations[-1].time, time)
        none = np.zeros((0, len(people.schema.values)), dtype=np.int64)
        listed = Observation(people, np.full(len(people), -1), none, time)
        posed = _posed(self, self.adversary, [*observations, listed])
        return release_beliefs(posed.history, self.solver(posed.problem))[-1].posterior.probabilities

    def _attack(self, adversary: Adversary, releases: list[Release]) -> Weighed:
        observations = [release.observation for release in releases]
        adversary.check_claim_times([observation.time for observation in observations])
        history, problem, laws, rule = _posed(self, adversary, observations)
        posterior = solved(self.solver, problem, self.hindsight, history.known_after if history.learns_late else None)
        found = release_beliefs(history, posterior, self.hindsight)
        beliefs = Beliefs(found, notes=joint_notes(adversary, posterior, self.solver, found, self.signatures))
        if not self.hindsight:
            weight = partial(signature_evidence, laws) if self.signatures else partial(forward_evidence, beliefs)
            return Weighed(beliefs, weight)
        zero, first = np.zeros(len(beliefs)), rule.log_evidence(history.problem.prior) if rule else 0.0
        return Weighed(beliefs, lambda: ReleaseEvidence(zero, zero + joint_log_evidence(posterior) + first))


class _Posed(NamedTuple):
    """Joint problem of an attack: that of the history, under the rule of m-invariance if it is known."""

    history: JointHistory
    problem: JointProblem
    laws: tuple[SignatureLaw, ...]
    rule: SignatureRule | None


def _posed(attack: JointAttack, adversary: Adversary, observations: list[Observation]) -> _Posed:
    history = joint_history(adversary, observations)
    if not attack.signatures or not history.problem.tables:
        return _Posed(history, history.problem, (), None)
    _, laws = read_signatures(adversary.without("presence", "relations"), observations)
    rule = signature_rule(history.problem, laws)
    return _Posed(history, rule.under(history.problem), laws, rule)


@dataclass(frozen=True)
class LearnedAttack:
    """Joint attack of an adversary who knows nothing but the releases.

    Prior and transitions are learned from the attacked releases by expectation-maximization (`LearnedKnowledge.fit`); then
    `JointAttack` computes the beliefs with them.

    Parameters
    ----------
    classes, pseudo_count, gaps, order
        As in `LearnedKnowledge.fit`.
    solver, hindsight, signatures
        As in `JointAttack`. Knowledge is learned from all releases, also with ``hindsight=False``. With ``signatures`` the
        knowledge is learned under the rule of m-invariance, too.
    presence : bool
        True to learn the chances of leaving and pausing after each value as well, and to read presence. By keyword.
    progress : callable
        Progress of the learning, as in `LearnedKnowledge.fit`. The solver has a progress of its own. By keyword.

    Notes
    -----
    The beliefs take the learned law as known: its error is no part of them. The ``notes`` of the beliefs have the number of rounds,
    the notes of the learned knowledge, and those of the joint attack. With one release, or where no respondent is published
    twice, there are no transitions and no rule, and the notes say so. Cost: that of `LearnedKnowledge.fit` and of `JointAttack`.
    """

    classes: Mapping[str, int | None] | None = None
    pseudo_count: float = 0.1
    gaps: GapRule = "ignore"
    order: int = 1
    solver: JointSolver = field(default_factory=GroupGraph)
    hindsight: bool = True
    signatures: bool = field(default=False, kw_only=True)
    presence: bool = field(default=False, kw_only=True)
    progress: Progress = field(default=iter, kw_only=True, repr=False, compare=False)
    reads_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_pseudo_count("LearnedAttack", self.pseudo_count)
        check_flag("LearnedAttack", "presence", self.presence)
        check_choice("LearnedAttack", "gaps", self.gaps, GAPS)
        check_learned_order("LearnedAttack", self.order, self.signatures, self.presence)
        check_is_solver("LearnedAttack", "solver", self.solver)

    def __call__(self, releases: Iterable[Release]) -> Beliefs:
        """Beliefs before and after each release. Only observations are read."""
        attacked = tuple(each_release(self, releases, reads_ghosts=True))
        learned = LearnedKnowledge.fit(
            attacked,
            classes=self.classes,
            pseudo_count=self.pseudo_count,
            gaps=self.gaps,
            order=self.order,
            signatures=self.signatures,
            presence=self.presence,
            progress=self.progress,
        )
        given = any(release.observation.ghosts is not None for release in attacked)
        mechanism = GhostChain() if given else None
        adversary = Adversary(
            learned.prior, learned.transitions, gaps=self.gaps, presence=learned.presence, mechanism=mechanism
        )
        signatures = self.signatures and learned.transitions is not None
        beliefs = JointAttack(adversary, self.solver, self.hindsight, signatures=signatures)(attacked)
        first = f"Prior and transitions were learned from the releases alone, in {learned.rounds} rounds."
        return Beliefs(beliefs.releases, notes=(first, *learned.notes, *beliefs.notes))
