"""Adversary: background knowledge and the rules by which it is revised from release to release."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from foreknow.models.advice import Advice, Wording, message_of
from foreknow.models.arrays import BoolArray, FloatArray, IntArray, object_array
from foreknow.models.estimators import ESTIMATORS, Auto, TooLarge
from foreknow.models.knowledge.cascades import Cascade
from foreknow.models.knowledge.compromised_records import Claims, CompromisedRecords
from foreknow.models.knowledge.ghost_chain import GhostChain
from foreknow.models.knowledge.markov_chain import MarkovChain, VariableOrderChain, check_domain_size
from foreknow.models.knowledge.membership import (
    Component,
    Membership,
    MembershipPosterior,
    connected_components,
    membership_posterior,
)
from foreknow.models.knowledge.parts import (
    Knowledge,
    RevisedTransitions,
    Visits,
    evidence_of,
    overrides,
    product,
    weighed,
)
from foreknow.models.knowledge.personal_transitions import AnyTransitions, PersonalTransitions, chains_at, classes_of
from foreknow.models.knowledge.presence import Presence
from foreknow.models.knowledge.priors import Prior
from foreknow.models.knowledge.relations import Relations
from foreknow.models.knowledge.sequences import GAPS, GapRule
from foreknow.models.mechanisms import Channel, counterfeit_posterior, distortion_posterior, fit_channel
from foreknow.models.memory import (
    NO_FACTORS,
    GhostName,
    Memory,
    Revision,
    joint_size,
    predict_by_class,
    remember,
    with_absent,
    with_classes,
    with_late,
    with_listed,
)
from foreknow.models.problem import CONTRADICTED, Estimator, Posterior, Problem, check_is_estimator, probability_rows
from foreknow.models.settings import as_floats, as_list, check_choice, check_kind, check_shape, counted, shown
from foreknow.models.tables.history import History
from foreknow.models.tables.people import Observation, People
from foreknow.models.tables.release import UnlabeledObservation

PARTS = ("prior", "transitions", "compromised", "presence", "relations", "membership", "mechanism", "program")
"""Names of the parts of knowledge, beside those of one's own."""

OWN = "own"
"""Name by which attacks declare that they read parts of one's own."""

MIN_CHANGE_OF_BELIEF = 1e-9
"""Smallest difference between two probabilities that counts as a change; less is rounding error."""


@dataclass(frozen=True)
class Adversary:
    """Background knowledge of an adversary and its rules of inference (JS-reduce, section 4.5; BayFrame, section 4.3).

    Parameters
    ----------
    prior : Prior
        Belief in the value of a respondent not seen before: BK^sv. It may depend on the time of the release (`PriorByTime`).
    transitions : MarkovChain, ChainByRelease, DirichletChain or TransitionsByClass, optional
        Distribution of a value given earlier values: BK^seq. Without it, releases are independent, and every revised prior is
        the prior. It may depend on the person (`PersonalTransitions`).
    compromised : CompromisedRecords, optional
        Values of some respondents, known from other sources: CR.
    estimator : Estimator
        Rule that computes the posterior from a prior and a release. `Auto` is exact for groups of few states, and approximates
        the others.
    cascade : Cascade, optional
        Rule by which compromised records enter; required if there are any.
    revision : {"filter", "product", "chain"}
        Rule that computes the revised prior from past beliefs, for a chain of order 2 or more; for order 1 the three are
        equal. ``"filter"``: the joint distribution of the last values, as in a hidden Markov model (`filter_revision`); it
        keeps m^d numbers per respondent. ``"product"``: product of past posteriors, as in JS-reduce, Algorithm 3
        (`product_revision`). ``"chain"``: prediction from the oldest posterior, as in BayFrame, Equations 3 and 4
        (`chain_revision`). The last two keep d m numbers per respondent, and lose evidence that the filter keeps
        (docs/findings/reading.md).
    gaps : {"ignore", "power"}
        Treatment of releases in which a respondent is not published. ``"ignore"``: none; the chain leads from one observation
        to the next, as in the papers. ``"power"``: the chain takes a step at every release (for a chain of order 1, its
        power). Fit the chain with the same ``gaps``.
    counterfeits : {"estimated", "uniform"}
        Distribution of the values of counterfeits. ``"estimated"``: counterfeits replace missing records of a value, and their
        distribution is estimated from the release (`counterfeit_posterior`). ``"uniform"``: each counterfeit is a respondent
        with a uniform prior over the domain. The joint attack has the uniform one, whatever the setting.
    distortion : {"counted", "ignored"}
        Knowledge of distorted values. ``"counted"``: their number in the release, and the number of those whose own value is
        absent from their group; the distribution is estimated (`distortion_posterior`). ``"ignored"``: all published values
        are taken as true.
    presence : Presence, optional
        Chances of leaving and pausing after each value, so that being listed or not is evidence. By keyword, as ``own``.
    relations : Relations, optional
        Who is related to whom, and how compatible their values are. By keyword.
    membership : Membership, optional
        Probability that each respondent is in each group, as `UniformMembership`. By default each respondent's group is known,
        which is the worst case. By keyword.
    mechanism : GhostChain, optional
        How the values of ghosts are drawn, the records that carry on the places of respondents who left. Releases with ghosts are
        refused without it. By keyword.
    own : tuple of Knowledge
        Parts of one's own (`Knowledge`).

    Raises
    ------
    TypeError
        If a setting is of another kind, as an array for the prior.
    ValueError
        If a setting is not one of its choices, ``"filter"`` would keep more than `MAX_JOINT_PER_RESPONDENT` numbers of a
        respondent, or there are compromised records and no cascade. When called, if it would keep more than
        `MAX_JOINT_IN_ALL` numbers, or the group of a respondent does not show the value of a compromised record (see
        `CompromisedRecords`).

    Notes
    -----
    An adversary receives `People` and `Observation` only, which hold no true value. All methods are pure. `observe` is
    `revise`, `posterior` and `update_memory` in this order; an attack that needs the intermediate results calls these.
    """

    prior: Prior
    transitions: AnyTransitions | None = None
    compromised: CompromisedRecords | None = None
    estimator: Estimator = field(default_factory=Auto)
    cascade: Cascade | None = None
    revision: Revision = "filter"
    gaps: GapRule = "ignore"
    counterfeits: Literal["estimated", "uniform"] = "estimated"
    distortion: Literal["counted", "ignored"] = "counted"
    presence: Presence | None = field(default=None, kw_only=True)
    relations: Relations | None = field(default=None, kw_only=True)
    membership: Membership | None = field(default=None, kw_only=True)
    mechanism: GhostChain | None = field(default=None, kw_only=True)
    own: tuple[Knowledge, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        check_choice("Adversary", "gaps", self.gaps, GAPS)
        check_choice("Adversary", "revision", self.revision, ("filter", "product", "chain"))
        check_choice("Adversary", "counterfeits", self.counterfeits, ("estimated", "uniform"))
        check_choice("Adversary", "distortion", self.distortion, ("counted", "ignored"))
        check_knowledge(self.prior, self.transitions, self.compromised)
        check_is_estimator("Adversary", "estimator", self.estimator)
        takes = "is an object: RemoveKnown(), PriorCascade(), PosteriorCascade() or EvidenceCascade()"
        check_kind("Adversary", "cascade", self.cascade, (Cascade, type(None)), takes)
        check_kind("Adversary", "presence", self.presence, (Presence, type(None)), "is Presence(leave), or None")
        check_kind(
            "Adversary", "relations", self.relations, (Relations, type(None)), "is Relations(graph, table), or None"
        )
        check_kind(
            "Adversary", "mechanism", self.mechanism, (GhostChain, type(None)), "is GhostChain(transitions), or None"
        )
        if self.membership is not None:
            check_kind("Adversary", "membership", self.membership, Callable, "is UniformMembership(), or None")
            # Of the parts, an estimator meets the membership alone; the others are in its rows.
            read = (OWN, *(name for name in PARTS if name != "membership"), *getattr(self.estimator, "reads", ()))
            readers = readers_among(rule() for rule in ESTIMATORS.values())
            check_reads(type(self.estimator).__name__, self, read, readers=readers)
            if self.cascade is not None and type(self.cascade).posterior is not Cascade.posterior:
                raise ValueError(
                    f"Adversary: {self.cascade!r} weighs the assignments of one group, and with a membership there is none; give "
                    "RemoveKnown(), PriorCascade() or EvidenceCascade()."
                )
        own = tuple(as_list("Adversary", "own", self.own, "is a tuple of Knowledge"))
        object.__setattr__(self, "own", own)
        check_own_parts(own)
        without = [part.name for part in own if overrides(part, "step_factor")]
        if self.transitions is None and without:
            raise ValueError(
                f"Adversary: the part {without[0]!r} has a factor of the transitions, and there are none; give transitions."
            )
        if self.transitions is not None:
            joint_size(chains_at(self.transitions, 0)[0], self.revision)
        if self.compromised is not None and self.cascade is None:
            raise ValueError(
                "Adversary: there are compromised records and no cascade; give the rule by which they enter: "
                "cascade=RemoveKnown(), PriorCascade(), PosteriorCascade() or EvidenceCascade()."
            )

    @property
    def parts(self) -> dict[str, Any]:
        """Parts of the knowledge that there are, by their names: fields, the estimator if it is a program, and those of ``own``."""
        given = {name: getattr(self, name) for name in PARTS if name != "program"}
        given["program"] = self.estimator if has_program(self.estimator) else None
        return {name: part for name, part in given.items() if part is not None} | {part.name: part for part in self.own}

    def without(self, *names: str) -> "Adversary":
        """The adversary without some parts of the knowledge.

        Parameters
        ----------
        *names : str
            Names of ``parts``; a part that there is not is left out as well. Not the prior: give another one, as `UniformPrior`.
            Without ``"program"`` the estimator is `Auto`; without ``"transitions"`` parts with a factor of them go as well.

        Raises
        ------
        ValueError
            If a name is that of no part, or of the prior.
        """
        fixed = {name: None for name in PARTS if name not in ("prior", "program")}
        own = [part.name for part in self.own]
        unknown = [name for name in names if name not in (*fixed, "program", *own)]
        if unknown:
            raise ValueError(
                f"Adversary.without: {unknown[0]!r} is no part that can be left out; these are "
                f"{', '.join(map(repr, (*fixed, 'program', *own)))}."
            )
        changes: dict[str, Any] = {name: None for name in names if name in fixed}
        if "transitions" in names:
            names = (*names, *(part.name for part in self.own if overrides(part, "step_factor")))
        if "program" in names and has_program(self.estimator):
            changes["estimator"] = Auto()
        return replace(self, own=tuple(part for part in self.own if part.name not in names), **changes)

    def __getstate__(self) -> dict[str, Any]:
        """The settings, without what was computed of them: pickled bytes of equal adversaries are equal."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def known_transitions(self) -> AnyTransitions | None:
        """Transitions with what the parts of one's own say of them."""
        own = tuple(part for part in self.own if overrides(part, "step_factor"))
        return RevisedTransitions(self.transitions, own) if self.transitions is not None and own else self.transitions

    @property
    def witnesses(self) -> tuple[Knowledge, ...]:
        """Parts that may have evidence of single records."""
        own = tuple(part for part in self.own if overrides(part, "evidence"))
        return own if self.presence is None else (self.presence, *own)

    def prior_rows(self, people: People) -> FloatArray:
        """Prior of some respondents, checked and normalized: float array, shape ``(n, m)``.

        Raises
        ------
        ValueError
            If the prior returns another shape, or a row that is not a distribution.
        """
        check_kind("Adversary", "people", people, People)
        takes = "is a float array of shape (n, m): one distribution per respondent"
        rows = as_floats("Adversary", "the result of prior(people)", self.prior(people), takes)
        shape = (len(people), len(people.schema.values))
        check_shape("Adversary: the result of prior(people)", rows, shape, "one distribution per respondent")
        rows = probability_rows(rows, "the prior of the person in row")
        if self.own:
            factors = product(self.own, "prior_factor", shape, people)
            rows = rows if factors is None else weighed(rows, factors)
        return rows

    def revise(
        self, memory: Memory, people: People, time: Any = None, *, prior: FloatArray | None = None
    ) -> FloatArray:
        """Revised prior of some respondents before the next release: RBK^sv, shape ``(n, m)``, rows are probabilities.

        Parameters
        ----------
        memory : Memory
        people : People
        time : optional
            Time of the release. With it, the cascade applies the compromised records of that time.
        prior : float array, shape (n, m), optional
            Result of `prior_rows` for these respondents, where it is already computed.

        Returns
        -------
        float array, shape (n, m)
            The prior for a respondent never seen, and for one whose past beliefs have no continuation by the chain, which
            only a substochastic chain allows.
        """
        check_kind("Adversary.revise", "memory", memory, Memory, "is a Memory; the first is Memory()")
        revised = (self.prior_rows(people) if prior is None else prior).copy()
        rows = memory.rows_of(people)
        seen = np.flatnonzero(rows >= 0)
        if self.known_transitions is not None and len(seen):
            memory = with_listed(memory, people)
            chains = chains_at(self.known_transitions, memory.releases)
            check_domain_size(chains[0], revised.shape[1])
            classes = classes_of(self.known_transitions, people)
            predicted = predict_by_class(memory, chains, self.revision, rows[seen], classes[seen])
            totals = predicted.sum(axis=1)
            continued = totals > 0
            revised[seen[continued]] = predicted[continued] / totals[continued, None]
        if self.witnesses:
            told = evidence_of(self.witnesses, Visits.of_now(people, memory.releases))
            revised = revised if told is None else weighed(revised, told)
        claims = self.claims(time, people)
        return revised if claims is None or self.cascade is None else self.cascade.revise(revised, claims)

    def with_ghosts(
        self, memory: Memory, observation: Observation, revised: FloatArray, prior: FloatArray | None = None
    ) -> tuple[Observation, FloatArray, FloatArray | None]:
        """A release with ghosts as respondents, and the rows of ghosts behind those of tables; the arguments without ghosts.

        The first ghost of a place begins with the beliefs about the respondent, and takes a step of the chain of ``mechanism``.
        Ghosts have beliefs of their own, so that one who returns is believed to have gone on from the last record. Presence and
        parts of one's own tell nothing of them.

        Parameters
        ----------
        memory : Memory
            Before the release.
        observation : Observation
        revised : float array, shape (n, m)
            Result of `revise` for its people.
        prior : float array, shape (n, m), optional
            Result of `prior_rows`, where it is already computed.

        Returns
        -------
        observation : Observation
            As `Observation.with_ghosts`; ghosts are named by `GhostName`, under which memories have them.
        revised, prior : float array, shape (n + ghosts, m)
        """
        ghosts = observation.ghosts
        if ghosts is None:
            return observation, revised, prior
        before = memory.ghosts
        known = replace(ghosts, respondents=object_array([before.get(each, each) for each in ghosts.respondents]))
        names = [before.get(each, GhostName(each, observation.time)) for each in ghosts.respondents]
        named = replace(ghosts, respondents=object_array(names))
        chain = None if self.mechanism is None else self.mechanism.transitions
        steps = replace(self, transitions=chain or self.transitions, presence=None, own=())
        own = self.prior_rows(ghosts)
        stepped = steps.revise(replace(memory, late=NO_FACTORS), known, prior=own)
        every = np.vstack([self.prior_rows(observation.people) if prior is None else prior, own])
        return replace(observation, ghosts=named).with_ghosts, np.vstack([revised, stepped]), every

    def posterior(self, revised: FloatArray, observation: Observation) -> Posterior:
        """Posterior of a release under a revised prior: rows for its n respondents, none for counterfeits.

        It reads the group of each respondent, and refuses a membership.
        """
        if self.membership is not None:
            raise ValueError(
                "Adversary.posterior reads the group of each respondent, and the adversary has a membership instead; use "
                'SnapshotAttack, or adversary.without("membership").'
            )
        problem, people = observation.problem(revised), len(revised)
        estimate: Callable[[Problem], Posterior] = partial(self.problem_posterior, observation=observation)
        if self.counterfeits == "estimated" and len(problem.group) > people:
            estimate = partial(counterfeit_posterior, people=people, estimate=estimate)
        if self.distortion == "counted" and observation.distorted:
            answer = distortion_posterior(problem, people, observation.distorted, observation.vanished, estimate)
        else:
            answer = estimate(problem)
        return answer.first(people)

    def posterior_without_labels(self, revised: FloatArray, seen: UnlabeledObservation) -> MembershipPosterior:
        """Posterior of a release by the membership, and the belief in each group, shape ``(n, g + 1)`` (`membership_posterior`).

        Compromised records are read of the revised prior, where those of confidence 1 have one-hot rows.
        """
        if seen.distorted and self.distortion == "counted":
            raise ValueError(
                f"the release at {seen.time!r} has distorted values, whose law needs the groups; give "
                'Adversary(..., distortion="ignored"), or leave the membership out: adversary.without("membership").'
            )
        components, claims = self.membership_components(seen), self.claims(seen.time, seen.people)
        known = None
        if claims is not None and self.cascade is not None:
            known = partial(self.cascade.posterior, claims=claims, estimator=self.estimator)
        try:
            return membership_posterior(components, revised, seen.counts, self.estimator, known)
        except TooLarge as error:
            raise TooLarge(Advice(f"the release at {seen.time!r}: ", message_of(error))) from None

    def membership_components(self, seen: UnlabeledObservation) -> list[Component]:
        """Connected components of a release by the membership.

        Raises
        ------
        ValueError
            If there is no membership, or no group that may be a respondent's shows the value of a compromised record.
        """
        check_kind(
            "Adversary.membership_components", "seen", seen, UnlabeledObservation, "is the unlabeled of a Release"
        )
        if self.membership is None:
            raise ValueError(
                "Adversary.membership_components: there is no membership; give one, as UniformMembership()."
            )
        components, claims = connected_components(self.membership, seen), self.claims(seen.time, seen.people)
        if claims is not None and self.compromised is not None and self.compromised.contradicted == "raise":
            shown = np.vstack([seen.counts > 0, np.ones((1, seen.counts.shape[1]), dtype=np.bool_)])
            rows = np.ones((len(seen.people), seen.counts.shape[1]), dtype=np.bool_)
            for component in components:
                rows[component.rows] = shown[np.concatenate(component.groups)].any(axis=0)
            missing = np.flatnonzero(~rows[claims.rows, claims.values])
            if len(missing):
                respondent = seen.people.respondents[claims.rows[missing[0]]]
                value = seen.people.schema.values[claims.values[missing[0]]]
                raise ValueError(
                    f"a compromised record says that respondent {respondent!r} has {value!r} at {seen.time!r}, and no group that "
                    "may be theirs shows it. Correct it, or report such groups with "
                    "CompromisedRecords(frame, contradicted='report')."
                )
        return components

    def channel(self, revised: FloatArray, observation: Observation) -> Channel | None:
        """Channel of the distorted values of a release, estimated from it; None where none is distorted or counted."""
        if self.distortion != "counted" or not observation.distorted:
            return None
        estimate: Callable[[Problem], Posterior] = partial(self.problem_posterior, observation=observation)
        numbers = (len(revised), observation.distorted, observation.vanished)
        return fit_channel(observation.problem(revised), *numbers, estimate)[0]

    def problem_posterior(self, problem: Problem, observation: Observation) -> Posterior:
        """Posterior of a problem of a release by the cascade and the estimator, without a law of the mechanism.

        `posterior` calls it once, or once per round where the distribution of counterfeits or distorted values is estimated.
        """
        claims = self.claims(observation.time, observation.people)
        contradicted = np.zeros(len(observation.counts), dtype=np.bool_)
        if claims is not None and self.distortion == "counted" and observation.distorted:
            # A group need not show a value known with certainty: the claim is in the prior, and no member is removed.
            claims = claims.unsure
        elif claims is not None:
            contradicted[self.contradicted_groups(claims, observation)] = True
        try:
            if claims is None or self.cascade is None:
                answer = self.estimator(problem)
            else:
                answer = self.cascade.posterior(problem, claims, self.estimator)
        except TooLarge as error:
            raise TooLarge(Advice(f"the release at {observation.time!r}: ", message_of(error))) from None
        return replace(answer, status=np.where(contradicted, answer.status | CONTRADICTED, answer.status))

    def update_memory(
        self, memory: Memory, observation: Observation, posterior: Posterior, *, prior: FloatArray | None = None
    ) -> Memory:
        """Memory with the beliefs of one more release; ``memory`` itself is not changed.

        Respondents who are not published in the release keep their beliefs, unless a compromised record changed them.
        ``prior`` is the result of `prior_rows`, where it is already computed.
        """
        affected = self.affected_by_claims(memory, observation, posterior, prior=prior)
        if self.gaps == "power" and self.witnesses:
            # Evidence about a withheld record is in the posterior.
            affected |= memory.rows_of(observation.people) >= 0
        observed = np.flatnonzero((observation.group >= 0) | affected)
        people, beliefs = observation.people[observed], posterior.probabilities[observed]
        chains: tuple[MarkovChain, ...] = ()
        classes = np.zeros(len(observation.people), dtype=np.int64)
        if self.known_transitions is not None:
            chains = chains_at(self.known_transitions, memory.releases)
            classes = classes_of(self.known_transitions, observation.people)
        if isinstance(self.known_transitions, PersonalTransitions):
            memory = with_classes(memory, observation.people, classes)
        ghosts = {each.respondent: each for each in observation.people.respondents[observation.listed :]}
        if not self.witnesses or not chains:
            after = remember(memory, chains, self.revision, self.gaps, people, beliefs, classes[observed])
            return replace(after, ghosts=ghosts)
        memory = with_listed(memory, observation.people[: observation.listed])
        if self.gaps == "power":
            memory = with_absent(memory, observation.people[: observation.listed])
        after = remember(memory, chains, self.revision, self.gaps, people, beliefs, classes[observed])
        late = self._late(people, memory.releases)
        late[:, observed >= observation.listed] = 1.0  # presence tells nothing of ghosts
        return replace(with_late(after, people, late), ghosts=ghosts)

    def _late(self, people: People, release: int) -> FloatArray:
        """Factors of the values of a release if respondents are listed again, at the next one and later: shape ``(2, n, m)``.

        The evidence given that, as a multiple of what is known at the release.
        """
        now = Visits.of_now(people, release)
        known = evidence_of(self.witnesses, now)
        shape = (2, len(people), len(people.schema.values))
        late = np.ones(shape)
        for number in range(2):
            found = evidence_of(self.witnesses, now.seen_again(release + 1 + number))
            if found is not None:
                late[number] = (
                    found if known is None else np.divide(found, known, out=np.zeros(shape[1:]), where=known > 0)
                )
        return late

    def observe(self, memory: Memory, observation: Observation) -> tuple[Posterior, Memory]:
        """Posterior of a release, and the memory with it."""
        check_kind("Adversary.observe", "observation", observation, Observation)
        prior = self.prior_rows(observation.people)
        posterior = self.posterior(self.revise(memory, observation.people, observation.time, prior=prior), observation)
        return posterior, self.update_memory(memory, observation, posterior, prior=prior)

    def affected_by_claims(
        self, memory: Memory, observation: Observation, posterior: Posterior, *, prior: FloatArray | None = None
    ) -> BoolArray:
        """True for respondents whose belief a compromised record changed by more than `MIN_CHANGE_OF_BELIEF`.

        The posterior is compared with the revised prior without claims. ``prior`` is the result of `prior_rows`, where it is
        already computed.
        """
        affected = np.zeros(len(observation.people), dtype=np.bool_)
        claims = self.claims(observation.time, observation.people)
        if claims is not None and len(claims.rows):
            rows = np.unique(claims.rows)
            without = self.revise(memory, observation.people[rows], prior=None if prior is None else prior[rows])
            affected[rows] = (np.abs(posterior.probabilities[rows] - without) > MIN_CHANGE_OF_BELIEF).any(axis=1)
        return affected

    def check_claim_times(self, times: Sequence[Any]) -> None:
        """Raise ValueError if a compromised record is about a time without a release: it would never be used."""
        if self.compromised is not None:
            self.compromised.check_times(times)

    def claims(self, time: Any, people: People) -> Claims | None:
        """Compromised records of a time, as rows of some respondents; None if there are none or no time is given."""
        return None if self.compromised is None or time is None else self.compromised.at(time, people)

    def contradicted_groups(self, claims: Claims, observation: Observation) -> IntArray:
        """Groups that do not show a claimed value of one of their members, none of noisy counts; raises ValueError if asked to."""
        if observation.noise is not None:
            return np.zeros(0, dtype=np.int64)
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


def has_program(estimator: Any) -> bool:
    """True if an estimator is a program of PyMC, or has one among its settings."""
    inside = vars(estimator).values() if hasattr(estimator, "__dict__") else ()
    return any(getattr(each, "is_program", False) for each in (estimator, *inside))


def check_reads(
    owner: str,
    adversary: Adversary,
    reads: Sequence[str],
    ignores: Sequence[str] = (),
    readers: Callable[[str], Sequence[str]] = lambda _: (),
) -> None:
    """Raise ValueError if an adversary has a part of knowledge that is neither read nor ignored by definition.

    Parameters
    ----------
    owner : str
        What does not read it, at the beginning of the message.
    adversary : Adversary
    reads, ignores : sequence of str
        Names of parts; `OWN` stands for those of one's own.
    readers : callable
        Function of the name of a part that returns who reads it.
    """
    own = {part.name for part in adversary.own}
    for name in adversary.parts:
        kind = OWN if name in own else name
        if kind in (*reads, *ignores):
            continue
        others = readers(kind)
        listed = " and ".join([", ".join(others[:-1]), others[-1]] if others[1:] else others)
        by = f", which {listed} {'read' if others[1:] else 'reads'}" if others else ""
        text = (
            f"{owner} does not read the part {name!r} of the adversary's knowledge{by}. Leave it out knowingly: "
            f"adversary.without({name!r})."
        )
        raise ValueError(Advice(Wording(text, f"{owner} does not read --{name}{by}; leave it out.")))


def readers_among(rules: Iterable[Any]) -> Callable[[str], list[str]]:
    """Function of a part of knowledge that returns the names of the rules, classes or objects, that read it."""
    return lambda part: [
        getattr(rule, "__name__", type(rule).__name__) for rule in rules if part in getattr(rule, "reads", ())
    ]


def check_knows_ghosts(adversary: Adversary, time: Any, ghosts: int) -> None:
    """Raise ValueError if the release of a time has ghosts, and the adversary does not know how they are drawn."""
    if ghosts and adversary.mechanism is None:
        raise ValueError(
            f"the release at {time!r} has {counted(ghosts, 'ghost')}, which carry on the places of "
            "respondents who left, and the adversary does not know how they are drawn; give Adversary(..., "
            "mechanism=GhostChain()), for ghosts by the adversary's own transitions, or GhostChain(transitions)."
        )


def check_own_parts(own: tuple[Any, ...]) -> None:
    """Raise TypeError or ValueError unless parts of one's own are `Knowledge` with a name each."""
    for part in own:
        check_kind(
            "Adversary", "a part of own", part, Knowledge, "is an object of a class that extends Knowledge, with a name"
        )
    names = [part.name for part in own]
    taken = [name for name in names if name in (*PARTS, OWN) or names.count(name) > 1 or not name]
    if taken:
        raise ValueError(
            f"Adversary: a part of own has the name {taken[0]!r}; each has one that no other part has, and that is not among "
            f"{', '.join(PARTS)}."
        )


def check_knowledge(prior: Any, transitions: Any, compromised: Any) -> None:
    """Raise TypeError unless the prior, the transitions and the compromised records are of their kinds.

    A prior is called with people; transitions have ``at(release)``, which returns a `MarkovChain`, or the methods of
    `PersonalTransitions`. Transitions and compromised records may be None.
    """
    maps = (
        "maps people to probabilities, as UniformPrior(), ClassFrequencies.fit(history, classes), or GivenPrior(frame) of one row "
        "per respondent and one column per value. The prior stands first"
    )
    check_kind("Adversary", "prior", prior, Callable, maps)
    takes = "must be CompromisedRecords(frame)"
    check_kind("Adversary", "compromised", compromised, (CompromisedRecords, type(None)), takes)
    if transitions is None:
        return
    try:
        chains = tuple(chains_at(transitions, 0))
    except (TypeError, ValueError, LookupError, AttributeError):
        chains = ()
    if not chains or not all(isinstance(chain, MarkovChain | VariableOrderChain) for chain in chains):
        raise TypeError(
            f"Adversary: transitions is {shown(transitions)}; it is a chain over the sensitive values, as "
            "MarkovChain(1, array) or MarkovChain.fit(history), or TransitionsByClass(classes, chains)."
        )


class Simulation(NamedTuple):
    """Simulated history, with the exact distributions that generated it.

    Attributes
    ----------
    history : History
        Original records.
    prior : Prior
        Distribution of the first value of each respondent: BK^sv, exact.
    transitions : MarkovChain, VariableOrderChain or TransitionsByClass
        Distribution of each value given the values before: BK^seq, exact.
    """

    history: History
    prior: Prior
    transitions: Any
