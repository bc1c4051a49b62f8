"""The attack that the options of `foreknow attack` describe."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import typer

from foreknow.app.cli.adversary_knowledge import Learning, learn_from_releases, learn_knowledge
from foreknow.app.cli.attack_choices import (
    ATTACK_OPTIONS,
    SAMPLER_SEED,
    WITHOUT_ADVERSARY,
    adversary_attack,
    attack_of_releases,
    attack_options,
    estimator_choice,
    foreground_attack,
    solver_choice,
)
from foreknow.app.cli.commands.attack_options import AttackOptions, KnowledgeSource
from foreknow.app.cli.options import refuse_unread_options
from foreknow.app.cli.printing.terminal import notice, tracked
from foreknow.app.cli.printing.time_left import TimeLeft
from foreknow.attacks import Attack, ConditionalProbability, JointAttack, Published
from foreknow.models import Adversary, Beliefs, History, Release, Schema
from foreknow.models.joint.solver import with_progress

LEARNED, RECORDS = "learned", "records"
"""Sources of the adversary's knowledge without a corpus: the releases alone, and the original records."""


class AttackSettings(NamedTuple):
    """Options that describe an attack, as `foreknow attack` reads them.

    Attributes
    ----------
    source : {"learned", "records"} or None
        Source of the adversary's knowledge without a corpus; None if the attack has no adversary, or there is a corpus.
    """

    name: str
    estimator: str
    solver: str
    forward: bool
    sensitive_set: Sequence[str]
    attribute_set: Sequence[str]
    support: int | None
    r: float | None
    k: int | None
    l: int | None  # noqa: E741 - the name of the option
    source: str | None
    learning: Learning
    seed: int = SAMPLER_SEED

    @classmethod
    def of(
        cls, chosen: AttackOptions, forward: bool, source: str | None, learning: Learning, seed: int = SAMPLER_SEED
    ) -> "AttackSettings":
        """The settings from the options of a command."""
        o = chosen
        return cls(
            o.attack, o.estimator, o.solver, forward, o.sensitive_set, o.attribute_set, o.support, o.r, o.k, o.l, source,
            learning, seed,
        )  # fmt: skip


class Source(Protocol):
    """Input of an attack: the original records or None, the releases, and the corpus or None."""

    @property
    def schema(self) -> Schema: ...  # noqa: D102
    @property
    def history(self) -> History | None: ...  # noqa: D102
    @property
    def releases(self) -> Sequence[Published]: ...  # noqa: D102
    @property
    def corpus(self) -> History | None: ...  # noqa: D102
    @property
    def statements(self) -> Sequence[ConditionalProbability]: ...  # noqa: D102


class Attacked(NamedTuple):
    """Files that `foreknow attack` has read; without a --corpus, ``corpus`` is None."""

    schema: Schema
    history: History
    releases: tuple[Release, ...]
    corpus: History | None
    statements: Sequence[ConditionalProbability]


class AttackedAlone(NamedTuple):
    """Published tables that `foreknow attack --published` has read, with the persons of a register."""

    schema: Schema
    history: None
    releases: Sequence[Published]
    corpus: History | None
    statements: Sequence[ConditionalProbability]


def chosen_attack(chosen: AttackSettings, read: Source) -> Attack:
    """The attack of some options, with the knowledge that it needs."""
    estimator = estimator_choice(chosen.estimator)
    if chosen.name == "foreground":
        return foreground_attack(
            read.schema, chosen.sensitive_set, chosen.attribute_set, chosen.support, chosen.r, estimator
        )
    if chosen.name in WITHOUT_ADVERSARY:
        return attack_of_releases(chosen.name, estimator, read.statements, chosen.k, chosen.l)
    return adversary_attack(
        chosen.name, _adversary(chosen, read), solver_choice(chosen.solver, chosen.seed), chosen.forward
    )


def _adversary(chosen: AttackSettings, read: Source) -> Adversary:
    """The adversary with knowledge of a corpus, of the releases or of the records, and a notice of which."""
    estimator = estimator_choice(chosen.estimator)
    if read.corpus is None and (chosen.source or LEARNED) == LEARNED:
        with TimeLeft("learning prior and transitions from the releases") as shown:
            learned = learn_from_releases(read.releases, chosen.learning, shown.parts)
        what = "the prior" if learned.transitions is None else "prior and transitions"
        notice(f"An adversary learned {what} from the releases alone, in {learned.rounds} rounds.")
        for note in learned.notes:
            notice(f"Learned knowledge: {note}")
        return chosen.learning.adversary(learned.prior, learned.transitions, estimator)
    if read.corpus is None:
        notice("An adversary learns from the published records themselves, more than an outsider knows.")
    corpus = read.history if read.corpus is None else read.corpus
    assert corpus is not None
    knowledge = learn_knowledge(corpus, chosen.learning)
    return chosen.learning.adversary(knowledge.prior, knowledge.transitions, estimator)


def has_transitions(releases: Sequence[Published]) -> bool:
    """True if a respondent is published in two releases."""
    seen: set[object] = set()
    for release in releases:
        observation = release.observation
        published = set(observation.people[observation.group >= 0].respondents)
        if seen & published:
            return True
        seen |= published
    return False


def check_attack_options(
    context: typer.Context,
    attack: str,
    statements: Path | None,
    corpus: Path | None,
    knowledge: KnowledgeSource | None,
) -> None:
    """Raise ValueError if an option is given that the attack does not read, or options do not fit together."""
    refuse_unread_options(context, "attack", attack, {**ATTACK_OPTIONS, attack: attack_options(attack)})
    if attack == "maxent" and statements is None:
        raise ValueError(
            "maxent takes --statements, and none are given; without them, beliefs are the shares of each group."
        )
    if corpus is not None and knowledge is not None:
        raise ValueError(
            f"--corpus and --knowledge {knowledge.value} exclude each other: with a corpus, the adversary learned from it."
        )


def beliefs_of(name: str, attack: Attack, releases: Sequence[Any]) -> Beliefs:
    """The beliefs of an attack.

    Raises
    ------
    ValueError
        If an attack of another package returns something else.
    """
    if isinstance(attack, JointAttack):
        given = "all releases" if attack.hindsight else "the releases so far"
        with TimeLeft(f"computing the joint law given {given}") as shown:
            return replace(attack, solver=with_progress(attack.solver, shown.parts))(releases)
    beliefs = attack(tracked(releases, "attacking"))
    if not isinstance(beliefs, Beliefs):
        raise ValueError(f"the attack {name!r} returned a {type(beliefs).__name__}; an attack returns Beliefs.")
    return beliefs
