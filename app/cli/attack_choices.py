"""Attacks and estimators of the command line: the options that each attack reads, and the object that they make."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import typer

from foreknow.app.cli import entry_points
from foreknow.app.cli.adversary_knowledge import Learning, learn_from_releases, learn_knowledge
from foreknow.app.cli.defense_choices import KNOWLEDGE_OPTIONS
from foreknow.app.cli.options import (
    INPUT_PANEL,
    KNOWLEDGE_PANEL,
    PUBLISHED_PANEL,
    GroupColumn,
    corpus_file,
    least_records,
    least_values,
    output_folder,
    refuse_unread_options,
)
from foreknow.app.cli.printing.terminal import TimeLeft, notice, tracked
from foreknow.attacks import (
    ATTACKS,
    Attack,
    CompositionAttack,
    ConditionalProbability,
    DeFinettiAttack,
    ForegroundAttack,
    JointAttack,
    MinimalityAttack,
    PrivacyMaxEntAttack,
    Published,
)
from foreknow.evaluation.risk.breaches import breach_threshold
from foreknow.models import (
    ESTIMATORS,
    JOINT_SOLVERS,
    Adversary,
    Beliefs,
    Estimator,
    History,
    JointSolver,
    PathSampler,
    Release,
    SampleSize,
    Schema,
)
from foreknow.models.joint.posterior import with_progress

FOREGROUND_OPTIONS = ("sensitive_set", "attribute_set", "support", "r")
"""Options of the foreground attack, which needs no prior knowledge."""

ADVERSARY_OPTIONS = (*KNOWLEDGE_OPTIONS, "knowledge")
"""Options of attacks that have an adversary."""

JOINT_OPTIONS = ("solver", "forward")
"""Options of the joint attack, besides those of its adversary."""

SAMPLER_SEED = 0
"""Seed of the solver path-sampler if --seed is left out; the same command prints the same numbers."""

DEFAULT_R = 2.0
"""The bound r of breaches if it is left out: a belief over 1/2."""

WITHOUT_ADVERSARY: dict[str, tuple[str, ...]] = {
    "foreground": FOREGROUND_OPTIONS,
    "definetti": (),
    "composition": (),
    "maxent": ("statements",),
    "minimality": ("k", "l"),
}
"""Attacks that take no adversary, with the options that each reads."""

READS_NO_ESTIMATOR = ("composition", "maxent", "minimality")
"""Attacks that do not read --estimator."""

DEFAULT_L = 2
"""Distinct values that a group has by the rule of the minimality attack, if -l is left out; as in `foreknow publish`."""

ATTACK_OPTIONS = {
    **{name: WITHOUT_ADVERSARY.get(name, ADVERSARY_OPTIONS) for name in ATTACKS},
    "joint": (*ADVERSARY_OPTIONS, *JOINT_OPTIONS),
}
"""Options that each built-in attack reads, besides those that every attack reads."""


def attack_options(name: str) -> tuple[str, ...]:
    """Options that an attack reads: built in, or of another package, which takes an `Adversary`."""
    return ATTACK_OPTIONS.get(name, ADVERSARY_OPTIONS)


def adversary_attack(name: str, adversary: Adversary, solver: JointSolver, forward: bool) -> Attack:
    """The attack of an adversary: built in, or of another package. The joint attack alone has a solver and a direction."""
    if name == "joint":
        return JointAttack(adversary, solver, hindsight=not forward)
    attack: Attack = ATTACKS[name](adversary) if name in ATTACKS else entry_points.make("attack", name, adversary)
    return attack


def solver_choice(name: str, seed: int = SAMPLER_SEED) -> JointSolver:
    """The joint solver with a name and its default settings; the one that draws has a seed."""
    return PathSampler(rng=seed) if name == "path-sampler" else JOINT_SOLVERS[name]()


def estimator_choice(name: str) -> Estimator:
    """The estimator with a name and its default settings: built in, or of another package."""
    estimator: Estimator = ESTIMATORS[name]() if name in ESTIMATORS else entry_points.make("estimator", name)
    return estimator


def attack_of_releases(
    name: str,
    estimator: Estimator,
    statements: Sequence[ConditionalProbability],
    k: int | None,
    l: int | None,  # noqa: E741
) -> Attack:
    """The attack of a name that takes neither an adversary nor a sensitive set.

    The minimality attack knows the rule of ``foreknow publish --defense mondrian -k K -l L``.
    """
    makers: dict[str, Callable[[], Attack]] = {
        "definetti": lambda: DeFinettiAttack(estimator=estimator),
        "composition": CompositionAttack,
        "maxent": lambda: PrivacyMaxEntAttack(statements),
        "minimality": lambda: MinimalityAttack(l or DEFAULT_L, k=k or 1, diversity="distinct"),
    }
    return makers[name]()


def foreground_attack(
    schema: Schema,
    sensitive_set: Sequence[str],
    attribute_sets: Sequence[str],
    support: int | None,
    r: float | None,
    estimator: Estimator,
) -> ForegroundAttack:
    """The foreground attack with options that are text; an attribute set is column names separated by commas.

    Raises
    ------
    ValueError
        If r is given without a sensitive set, or is not a finite number of at least 1.
    """
    if r is not None and not sensitive_set:
        raise ValueError(
            f"-r {r:g} is the bound of beliefs in a sensitive set, and none is given; name its values, as --sensitive-set VALUE."
        )
    breach_threshold(DEFAULT_R if r is None else r, "foreknow attack")
    values = {str(value): value for value in schema.values}
    names = schema.quasi_identifiers
    sets = [[text] if text in names else [name.strip() for name in text.split(",")] for text in attribute_sets]
    return ForegroundAttack(
        sets or "all",
        [values.get(text, text) for text in sensitive_set] or None,
        estimator,
        support=SampleSize() if support is None else support,
    )


KnowledgeSource = StrEnum("KnowledgeSource", ["learned", "records"])

JOINT_PANEL = "Joint attack"
"""Heading of the help text for the options that the joint attack alone reads."""

FOREGROUND_PANEL = "Foreground attack"
"""Heading of the help text for the options that the foreground attack alone reads."""

RULE_PANEL = "Maximum-entropy and minimality attack"
"""Heading of the help text for the options that one of these attacks reads."""


def _check_attack(name: str) -> str:
    return entry_points.checked_name("attack", name, ATTACKS)


def _check_estimator(name: str) -> str:
    return entry_points.checked_name("estimator", name, ESTIMATORS)


def _check_solver(name: str) -> str:
    if name not in JOINT_SOLVERS:
        raise typer.BadParameter(f"{name!r} is not a joint solver; choose one of {', '.join(JOINT_SOLVERS)}.")
    return name


Groups = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=INPUT_PANEL,
        help="Group of each record; by default the column 'group' of the records.",
    ),
]
Corpus = Annotated[
    Path | None,
    corpus_file("Records from which the adversary learned; see --knowledge for an adversary without them."),
]
Knowledge = Annotated[
    KnowledgeSource | None,
    typer.Option(
        metavar="SOURCE",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="The only adversary, without --corpus: learned (prior and transitions from the releases alone) or records (from the "
        "original records). By default both; the tables are about learned where a respondent is published "
        "twice, else about records.",
    ),
]
Out = Annotated[
    Path | None,
    output_folder(
        "Folder for beliefs.csv, the posterior of each respondent at every release, at-risk.csv, the exposed respondents, and "
        "settings.json; readable by you only."
    ),
]
AttackName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=_check_attack,
        help=f"Attack: {', '.join(entry_points.choice_names('attack', ATTACKS))}. joint reads all releases together, "
        "sequential remembers earlier releases, snapshot reads each release alone, retrospective smooths the beliefs about "
        "each respondent, signature knows m-invariance, "
        "foreground and definetti learn from the groups themselves, composition intersects the groups of a respondent, maxent "
        "uses --statements, minimality knows the rule of mondrian.",
    ),
]
SolverName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=_check_solver,
        rich_help_panel=JOINT_PANEL,
        help=f"Solver of the joint law: {', '.join(JOINT_SOLVERS)}.",
    ),
]
Forward = Annotated[
    bool,
    typer.Option(
        "--forward",
        rich_help_panel=JOINT_PANEL,
        help="Beliefs about each release given the releases up to it; by default given all releases, in hindsight.",
    ),
]
EstimatorName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=_check_estimator,
        help=f"Posterior estimator: {', '.join(entry_points.choice_names('estimator', ESTIMATORS))}. The joint attack has "
        "none; the sequential attack beside it reads this option.",
    ),
]
SensitiveSetValues = Annotated[
    list[str],
    typer.Option(
        metavar="VALUE",
        rich_help_panel=FOREGROUND_PANEL,
        help="Sensitive value to protect. Repeatable; by default every value is a set of its own.",
    ),
]
AttributeSets = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMNS",
        rich_help_panel=FOREGROUND_PANEL,
        help="Attribute set, such as age,sex. Repeatable; by default all subsets of the quasi-identifiers.",
    ),
]
Support = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel=FOREGROUND_PANEL,
        help="Least number of respondents with an attribute signature; 3993 by default.",
    ),
]
R = Annotated[
    float | None,
    typer.Option(
        "-r",
        min=1,
        metavar="X",
        rich_help_panel=FOREGROUND_PANEL,
        help="A belief in the sensitive set over 1/r is a breach; 2 by default.",
    ),
]
Statements = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=RULE_PANEL,
        help="For maxent: a table of statements P(value | attributes), with the columns value, low, high and attributes.",
    ),
]
K = Annotated[
    int | None,
    least_records("For minimality: least number of records of a group; 1 by default.", panel=RULE_PANEL),
]
L = Annotated[
    int | None,
    least_values("For minimality: least number of distinct values in a group; 2 by default.", panel=RULE_PANEL),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, metavar="N", help="Seed of the solver path-sampler, the one that draws."),
]


Later = Annotated[
    list[Path],
    typer.Argument(
        metavar="[RELEASE]...",
        show_default=False,
        help="With --published: the tables of further releases, in their order.",
    ),
]
Alone = Annotated[
    bool,
    typer.Option(
        "--published",
        rich_help_panel=PUBLISHED_PANEL,
        help="RECORDS is a published table, and the original records are not known: one file per release, or one with a column "
        "of the release. Labels are numbers, intervals (20-30, [20,30), 65+), values, labels of a --hierarchy, sets {a, b}, or *.",
    ),
]
People = Annotated[
    Path | None,
    typer.Option(
        "--people",
        metavar="FILE",
        rich_help_panel=PUBLISHED_PANEL,
        help="Register of everyone who is in the tables, and perhaps of others: one row per person, with --id and exact "
        "quasi-identifiers. Without it, the risk is that of an unknown member of each group.",
    ),
]


@dataclass(frozen=True)
class PublishedOptions:
    """Published tables without their original records."""

    later: Later = field(default_factory=list)
    alone: Alone = False
    people: People = None
    group: GroupColumn = None


@dataclass(frozen=True)
class AttackOptions:
    """The attack, and the options that some attacks read."""

    attack: AttackName = "joint"
    solver: SolverName = "group-messages"
    estimator: EstimatorName = "auto"
    sensitive_set: SensitiveSetValues = field(default_factory=list)
    attribute_set: AttributeSets = field(default_factory=list)
    support: Support = None
    r: R = None
    statements: Statements = None
    k: K = None
    l: L = None  # noqa: E741 - the name of the option


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
