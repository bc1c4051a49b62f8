"""Attacks and estimators of the command line: the options that each attack reads, and the object that they make."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from foreknow.app.cli.adversary_knowledge import (
    KNOWLEDGE_OPTIONS,
    Learning,
    informed_adversary,
    knowing_ghosts,
    knowing_terminal,
    learn_from_releases,
)
from foreknow.app.cli.command_shape import TABLE, given_options, refuse_unread_options
from foreknow.app.cli.files.written_tables import output_suffix
from foreknow.app.cli.options import (
    INPUT_PANEL,
    KNOWLEDGE_PANEL,
    PUBLISHED_PANEL,
    DiskOptions,
    FailOver,
    FromDisk,
    GroupColumn,
    Overwrite,
    Pictures,
    Sure,
    TableOptions,
    checked_name,
    choice_names,
    corpus_file,
    count,
    flag_of,
    make_entry_point,
    one_of,
    option,
    output_folder,
    refuse_first,
    switch,
)
from foreknow.app.cli.terminal import TimeLeft, error_console, notice, tracked
from foreknow.app.publication import SETTINGS
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
    SequentialAttack,
    SnapshotAttack,
)
from foreknow.attacks.foreground import breach_threshold
from foreknow.defenses import Defense
from foreknow.evaluation.scenario import SCENARIOS, SEQUENTIAL, Scenario, check_near
from foreknow.models import (
    ESTIMATORS,
    JOINT_SOLVERS,
    Adversary,
    Beliefs,
    Estimator,
    History,
    PathSampler,
    SampleSize,
    Schema,
)
from foreknow.models.compilation_cache import is_on_disk, keeps_code
from foreknow.models.estimators.assignments import group_beliefs
from foreknow.models.joint import JointSolver
from foreknow.models.joint.messages import sweep_over
from foreknow.models.joint.problem import with_progress

JOINT_PANEL, FOREGROUND_PANEL = "Joint attack", "Foreground attack"
RULE_PANEL = "Maximum-entropy and minimality attack"
"""Headings of the help text for the options that one attack alone reads."""

LEARNED, RECORDS = "learned", "records"
"""Sources of the adversary's knowledge without a corpus: the releases alone, and the original records."""

SAMPLER_SEED = 0
"""Seed of the solver path-sampler if --seed is left out; the same command prints the same numbers."""

DEFAULT_R = 2.0
"""The bound r of breaches if it is left out: a belief over 1/2."""

DEFAULT_L = 2
"""Distinct values that a group has by the rule of the minimality attack, if -l is left out; as in `foreknow publish`."""

ADVERSARY_OPTIONS = (*KNOWLEDGE_OPTIONS, "knowledge")
"""Options of attacks that have an adversary."""


Corpus = Annotated[
    Path | None,
    corpus_file("Records from which the adversary learned; see --knowledge for an adversary without them."),
]
SCENARIO_TEXT = f"a TOML file, or {', '.join(SCENARIOS)}. It excludes the options that it settles, but for --corpus."
"""What --scenario takes, for the help text of a command."""

SolverName = Annotated[
    str,
    option(
        f"Solver of the joint law: {', '.join(JOINT_SOLVERS)}.",
        "NAME",
        JOINT_PANEL,
        callback=one_of("a joint solver", JOINT_SOLVERS),
    ),
]


@dataclass(frozen=True)
class AttackOptions:
    """The attack, and the options that some attacks read.

    The last fields are set by the command: whether beliefs are given the releases so far; whether the adversary knows the
    rule of m-invariance; the learning and, without a corpus, the source (learned or records) of the adversary's knowledge; the seed
    of the solver that draws; and a scenario, which replaces all others.
    """

    attack: Annotated[
        str,
        option(
            f"Attack: {', '.join(choice_names('attack', ATTACKS))}. joint reads all releases together, "
            "sequential remembers earlier releases, snapshot reads each release alone, retrospective smooths the beliefs about "
            "each respondent, signature knows m-invariance, "
            "foreground and definetti learn from the groups themselves, composition intersects the groups of a respondent, maxent "
            "uses --statements, minimality knows the rule of mondrian.",
            "NAME",
            callback=lambda name: checked_name("attack", name, ATTACKS),
        ),
    ] = "joint"
    solver: SolverName = "group-graph"
    estimator: Annotated[
        str,
        option(
            f"Posterior estimator: {', '.join(choice_names('estimator', ESTIMATORS))}. The joint attack has "
            "none; the sequential attack beside it reads this option.",
            "NAME",
            callback=lambda name: checked_name("estimator", name, ESTIMATORS),
        ),
    ] = "auto"
    sensitive_set: Annotated[
        list[str],
        option(
            "Sensitive value to protect. Repeatable; by default every value is a set of its own.",
            "VALUE",
            FOREGROUND_PANEL,
        ),
    ] = field(default_factory=list)
    attribute_set: Annotated[
        list[str],
        option(
            "Attribute set, such as age,sex. Repeatable; by default all subsets of the quasi-identifiers.",
            "COLUMNS",
            FOREGROUND_PANEL,
        ),
    ] = field(default_factory=list)
    support: Annotated[
        int | None,
        option(
            "Least number of respondents with an attribute signature; 3993 by default.", "N", FOREGROUND_PANEL, min=1
        ),
    ] = None
    r: Annotated[
        float | None,
        option("A belief in the sensitive set over 1/r is a breach; 2 by default.", "X", FOREGROUND_PANEL, "-r", min=1),
    ] = None
    statements: Annotated[
        Path | None,
        option(
            "For maxent: a table of statements P(value | attributes), with the columns value, low, high and attributes.",
            "FILE",
            RULE_PANEL,
        ),
    ] = None
    k: Annotated[
        int | None, count("-k", "For minimality: least number of records of a group; 1 by default.", RULE_PANEL)
    ] = None
    l: Annotated[  # noqa: E741 - the name of the option
        int | None,
        count("-l", "For minimality: least number of distinct values in a group; 2 by default.", RULE_PANEL),
    ] = None
    forward: bool = False
    signatures: bool = False
    learning: Learning | None = None  # no group of options: a command has its own
    source: str | None = None
    seed: int = SAMPLER_SEED
    settled: Scenario | None = None

    @property
    def choice(self) -> "AttackChoice":
        """The row of the attack."""
        return attack_choice(self.attack) if self.settled is None else AttackChoice((), of_scenario, estimates=False)

    @property
    def posterior(self) -> Estimator:
        """The estimator with default settings: built in, or of another package."""
        name = self.estimator
        estimator: Estimator = ESTIMATORS[name]() if name in ESTIMATORS else make_entry_point("estimator", name)
        return estimator

    @property
    def joint_solver(self) -> JointSolver:
        """The joint solver."""
        return solver_choice(self.solver, self.seed)

    @property
    def title(self) -> str:
        """Title of the tables of the attack."""
        if self.settled is not None:
            return f"scenario {self.attack}"
        if self.choice.solves:
            return f"joint attack, {self.solver} solver, {'forward' if self.forward else 'in hindsight'}"
        return f"{self.attack} attack{f', {self.estimator} posterior' if self.choice.estimates else ''}"


class Attacked(NamedTuple):
    """Files that `foreknow attack` has read; the history is None for published tables alone, the corpus without --corpus."""

    schema: Schema
    history: History | None
    releases: Sequence[Any]
    corpus: History | None
    statements: Sequence[ConditionalProbability] = ()
    defense: Defense | None = None


class AttackChoice(NamedTuple):
    """An attack of the command line, made from the options and the files: its row in `CHOICES`.

    ``options`` are those that it reads besides those of every attack; ``estimates`` is True if it reads --estimator, and
    ``from_disk`` if it reads a publication from disk.
    """

    options: tuple[str, ...]
    make: Callable[[AttackOptions, Attacked], Attack]
    estimates: bool = True
    from_disk: bool = False

    @property
    def has_adversary(self) -> bool:
        """True if the attack has an adversary, with knowledge of a source."""
        return "knowledge" in self.options

    @property
    def solves(self) -> bool:
        """True if the attack has a joint solver."""
        return "solver" in self.options


GHOSTS = "Ghosts carry on the places of respondents who left; the adversary takes them to follow the same Markov chain."
"""Notice on releases with ghosts."""


def adversary_of(chosen: AttackOptions, read: Attacked) -> Adversary:
    """The adversary with knowledge of a corpus, of the releases or of the records, and notices of which, and of ghosts."""
    learned = _learned_adversary(chosen, read)
    adversary = knowing_ghosts(learned, read.releases)
    if adversary is not learned:
        notice(GHOSTS)
    told = knowing_terminal(adversary, read.releases, read.defense)
    if told is not adversary:
        notice(
            "Members who are listed and withheld have a terminal value, by the rule of the defense; the adversary reads this."
        )
    return told


def _learned_adversary(chosen: AttackOptions, read: Attacked) -> Adversary:
    learning, corpus = chosen.learning or Learning(), read.corpus
    if corpus is None and chosen.source in (None, LEARNED):
        with TimeLeft("learning prior and transitions from the releases") as shown:
            learned = learn_from_releases(read.releases, learning, shown.parts, chosen.signatures)
        what = "the prior" if learned.transitions is None else "prior and transitions"
        notice(f"An adversary learned {what} from the releases alone, in {learned.rounds} rounds.")
        for note in learned.notes:
            notice(f"Learned knowledge: {note}")
        return learning.adversary(learned.prior, learned.transitions, chosen.posterior, learned.presence)
    if corpus is None:
        notice("An adversary learns from the published records themselves, more than an outsider knows.")
        corpus = read.history
    assert corpus is not None
    return informed_adversary(corpus, learning, chosen.posterior)


def of_scenario(chosen: AttackOptions, read: Attacked) -> Attack:
    """The attack of a scenario, with a notice of what was learned from the releases."""
    scenario = chosen.settled
    assert scenario is not None
    history = read.history if scenario.reads_history else None
    with error_console.status("learning what the adversary knows"):
        attack, notes = scenario.attack(history, read.corpus, rng=chosen.seed).on(read.releases)
    for note in notes:
        notice(f"Learned knowledge: {note}")
    return attack


def read_scenario(text: str) -> Scenario:
    """The scenario of a built-in name or of a file.

    Raises
    ------
    ValueError
        If it is neither, or a scenario of the command line does not read its settings.
    """
    if not Path(text).suffix and not Path(text).is_file():
        check_near("--scenario", "a built-in scenario or a file", text, list(SCENARIOS))
    scenario = SCENARIOS[text] if text in SCENARIOS else Scenario.read(text)
    if scenario.compromised:
        raise ValueError(
            f"--scenario {text}: compromised = {scenario.compromised:g} is not read on the command line, whose verdict counts all "
            "respondents; use Scenario.attack in Python, or leave it out."
        )
    return scenario


def check_scenarios(
    context: typer.Context, scenarios: Mapping[str, Scenario], has_corpus: bool, allowed: Sequence[str]
) -> None:
    """Raise ValueError if an option is given beside --scenario that it settles, or a corpus is missing or not read.

    ``scenarios`` are by their names on the command line; ``allowed`` are the options that are read beside them.
    """
    for name in sorted(given_options(context) - {*TABLE, *allowed, "scenario", "corpus"}):
        raise ValueError(
            f"--scenario and {flag_of(name)} exclude each other: the scenario says who attacks. Leave one of them out, or "
            "write the setting into the file of the scenario."
        )
    readers = {text: scenario.law for text, scenario in scenarios.items() if scenario.reads_corpus}
    for text, law in readers.items():
        if not has_corpus:
            raise ValueError(
                f"--scenario {text} has the law {law!r}: name the records of other people by --corpus FILE."
            )
    if has_corpus and not readers and "corpus" not in allowed:
        raise ValueError(f"--scenario {', '.join(scenarios)} does not read --corpus; leave it out.")


def _foreground(chosen: AttackOptions, read: Attacked) -> ForegroundAttack:
    """The foreground attack; an attribute set is column names separated by commas.

    Raises
    ------
    ValueError
        If r is given without a sensitive set, or is not a finite number of at least 1.
    """
    if chosen.r is not None and not chosen.sensitive_set:
        raise ValueError(
            f"-r {chosen.r:g} is the bound of beliefs in a sensitive set, and none is given; name its values, as "
            "--sensitive-set VALUE."
        )
    breach_threshold(DEFAULT_R if chosen.r is None else chosen.r, "foreknow attack")
    values = {str(value): value for value in read.schema.values}
    names = read.schema.quasi_identifiers
    sets = [[text] if text in names else [name.strip() for name in text.split(",")] for text in chosen.attribute_set]
    return ForegroundAttack(
        sets or "all",
        [values.get(text, text) for text in chosen.sensitive_set] or None,
        chosen.posterior,
        support=SampleSize() if chosen.support is None else chosen.support,
    )


def _of_an_adversary(make: Callable[[Adversary], Attack], from_disk: bool = False) -> AttackChoice:
    """The row of an attack that has an adversary and no setting."""
    return AttackChoice(ADVERSARY_OPTIONS, lambda o, read: make(adversary_of(o, read)), from_disk=from_disk)


CHOICES: dict[str, AttackChoice] = {
    "joint": AttackChoice(
        (*ADVERSARY_OPTIONS, "solver", "forward", "signatures"),
        lambda o, read: JointAttack(
            adversary_of(o, read), o.joint_solver, hindsight=not o.forward, signatures=o.signatures
        ),
        from_disk=True,
    ),
    "sequential": _of_an_adversary(SequentialAttack, from_disk=True),
    "snapshot": _of_an_adversary(SnapshotAttack, from_disk=True),
    "foreground": AttackChoice(("sensitive_set", "attribute_set", "support", "r"), _foreground),
    "definetti": AttackChoice((), lambda o, _: DeFinettiAttack(estimator=o.posterior)),
    "composition": AttackChoice((), lambda *_: CompositionAttack(), estimates=False),
    "maxent": AttackChoice(("statements",), lambda _, read: PrivacyMaxEntAttack(read.statements), estimates=False),
    # The rule of foreknow publish --defense mondrian -k K -l L.
    "minimality": AttackChoice(
        ("k", "l"), lambda o, _: MinimalityAttack(o.l or DEFAULT_L, k=o.k or 1, diversity="distinct"), estimates=False
    ),
}
"""Attacks with settings or from disk. Others of `ATTACKS`, and those of other packages, take an adversary alone."""


def attack_choice(name: str) -> AttackChoice:
    """The row of an attack: built in, or of another package, which takes an `Adversary`."""
    if name in CHOICES:
        return CHOICES[name]
    return _of_an_adversary(ATTACKS[name] if name in ATTACKS else partial(make_entry_point, "attack", name))


def solver_choice(name: str, seed: int = SAMPLER_SEED) -> JointSolver:
    """The joint solver with a name and its default settings; the one that draws has a seed."""
    return PathSampler(rng=seed) if name == "path-sampler" else JOINT_SOLVERS[name]()


def check_attack_options(context: typer.Context, chosen: AttackOptions, shared: Sequence[str] = ()) -> None:
    """Raise ValueError if an option is given that the attack does not read, or options do not fit together.

    The options ``shared`` are read by the command, whatever the attack is.
    """
    rows = {name: (*attack_choice(name).options, *shared) for name in (*ATTACKS, chosen.attack)}
    refuse_unread_options(context, "attack", chosen.attack, rows)
    rule = ATTACKS.get(chosen.attack)
    read = {*getattr(rule, "reads", ()), *getattr(rule, "ignores", ())}
    if rule is not None and "presence" in given_options(context) and "presence" not in read:
        raise ValueError(
            f"--attack {chosen.attack} does not read --presence; leave it out, or choose joint or sequential."
        )
    if chosen.attack == "maxent" and chosen.statements is None:
        raise ValueError(
            "maxent takes --statements, and none are given; without them, beliefs are the shares of each group."
        )


def check_noisy_attack(chosen: AttackOptions, given: Collection[str]) -> None:
    """Raise ValueError if an option is given by which groups alone are attacked."""
    settled, joint = chosen.settled, "noisy counts are read by the joint attack alone"
    refuse_first(
        {
            f"--attack {chosen.attack} reads groups, and {joint}; leave --attack out, or choose --scenario exact-but-one.": (
                settled is None and chosen.attack != "joint"
            ),
            f"--scenario {chosen.attack} has a solver or knowledge of groups, and {joint}. Set a joint solver, knows = 'group' or "
            "'others', and no mechanism.": settled is not None
            and (settled.solver == SEQUENTIAL or settled.mechanism == "rule"),
        }
        | {
            f"{flag_of(name)} is not read for noisy counts; leave it out.": name in given
            for name in ("signatures", "estimator", "pictures", "from_disk")
        }
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


@dataclass(frozen=True)
class PublishedOptions:
    """Published tables without their original records."""

    later: Annotated[
        list[Path],
        typer.Argument(
            metavar="[RELEASE]...",
            show_default=False,
            help="With --published: the tables of further releases, in their order.",
        ),
    ] = field(default_factory=list)
    published: Annotated[
        bool,
        switch(
            "--published",
            "RECORDS is a published table, and the original records are not known: one file per release, or one with a column "
            "of the release. Labels are numbers, intervals (20-30, [20,30), 65+), values, labels of a --hierarchy, sets {a, b}, "
            "or *.",
            PUBLISHED_PANEL,
        ),
    ] = False
    people: Annotated[
        Path | None,
        option(
            "Register of everyone who is in the tables, and perhaps of others: one row per person, with --id and exact "
            "quasi-identifiers. Without it, the risk is that of an unknown member of each group.",
            "FILE",
            PUBLISHED_PANEL,
        ),
    ] = None
    group: GroupColumn = None


@dataclass(frozen=True)
class AttackRun:
    """Options of `foreknow attack`."""

    context: typer.Context
    table: TableOptions
    tables: PublishedOptions
    chosen: AttackOptions
    known: Learning
    disk: DiskOptions
    groups: Annotated[
        Path | None,
        option("Group of each record; by default the column 'group' of the records.", "FILE", INPUT_PANEL),
    ] = None
    scenario: Annotated[
        list[str],
        # A list, so that a second one is refused: of an option with one value, the last is taken in silence.
        typer.Option(
            show_default=False,
            metavar="FILE_OR_NAME",
            rich_help_panel=KNOWLEDGE_PANEL,
            help=f"Who attacks: {SCENARIO_TEXT}",
        ),
    ] = field(default_factory=list)
    sure: Sure = 0.9
    fail_over: FailOver = None
    seed: Annotated[int, option("Seed of the solver path-sampler, the one that draws.", "N", min=0)] = SAMPLER_SEED
    forward: Annotated[
        bool,
        switch(
            "--forward",
            "Beliefs about each release given the releases up to it; by default given all releases, in hindsight.",
            JOINT_PANEL,
        ),
    ] = False
    signatures: Annotated[
        bool,
        switch(
            "--signatures",
            "The adversary knows that the releases are of m-invariance: a respondent whose value stays keeps the set of values of "
            "the group. The knowledge is learned with this rule, too.",
            JOINT_PANEL,
        ),
    ] = False
    corpus: Corpus = None
    knowledge: Annotated[
        Literal["learned", "records"] | None,
        option(
            "The only adversary, without --corpus: learned (prior and transitions from the releases alone) or records (from the "
            "original records). By default both; the tables are about learned where a respondent is published "
            "twice, else about records.",
            "SOURCE",
            KNOWLEDGE_PANEL,
        ),
    ] = None
    out: Annotated[
        Path | None,
        output_folder(
            "Folder for beliefs.csv, the posterior of each respondent at every release, at-risk.csv, the exposed respondents, and "
            "settings.json; readable by you only."
        ),
    ] = None
    pictures: Pictures = False
    from_disk: FromDisk = False
    overwrite: Overwrite = False

    @property
    def inputs(self) -> list[Path]:
        """All input files."""
        named = [Path(text) for text in self.scenario if text not in SCENARIOS]
        others = (self.tables.people, self.corpus, self.groups, self.chosen.statements, *named)
        return [*self.table.files, *self.tables.later, *(path for path in others if path is not None)]

    @property
    def attack(self) -> AttackOptions:
        """The attack with all options that describe it."""
        return replace(
            self.chosen,
            forward=self.forward if self.chosen.settled is None else self.chosen.settled.time == "forward",
            signatures=self.signatures,
            learning=self.known,
            source=self.knowledge,
            seed=self.seed,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the output files, in the file format of the records; the last one is that of the settings."""
        unknown = self.tables.published and self.tables.people is None
        suffix = output_suffix(self.table.records)
        return (*(f"{name}{suffix}" for name in (["groups"] if unknown else ["beliefs", "at-risk"])), SETTINGS)

    def check_attack(self) -> None:
        """Raise ValueError if an option is given that the attack does not read, or options do not fit together."""
        if self.chosen.settled is not None:
            settled = dict.fromkeys(self.scenario, self.chosen.settled)
            check_scenarios(self.context, settled, self.corpus is not None, BESIDE_SCENARIO)
            return
        check_attack_options(self.context, self.chosen)
        if self.corpus is not None and self.knowledge is not None:
            raise ValueError(
                f"--corpus and --knowledge {self.knowledge} exclude each other: with a corpus, the adversary learned from it."
            )

    @property
    def settled(self) -> "AttackRun":
        """The run with its scenario, if there is one, in the place of the options that it settles."""
        if not self.scenario:
            return self
        if self.scenario[1:]:
            raise ValueError(
                f"--scenario is given {len(self.scenario)} times, as {' and '.join(self.scenario)}; foreknow attack takes one. "
                "Leave the others out, or compare them by foreknow compare."
            )
        scenario, name = read_scenario(self.scenario[0]), Path(self.scenario[0]).stem
        return replace(self, sure=scenario.threshold, chosen=replace(self.chosen, attack=name, settled=scenario))


BESIDE_SCENARIO = ("groups", "fail_over", "seed", "out", "pictures", "overwrite", "as_json", "config")
"""Options of `foreknow attack` that are read with --scenario, besides those of the table and the corpus."""


def notice_compilation(solver: str | None = None, estimator: str = "auto", learns: bool = True) -> None:
    """Print a notice if an attack will compile its kernels.

    Parameters
    ----------
    solver, estimator : str
        Their names on the command line; no solver without a joint attack.
    learns : bool
        True if an adversary learns from the releases.
    """
    if learns or solver in (
        "group-graph",
        "group-messages",
        "max-entropy",
    ):  # solvers with this kernel, as has learning
        notice_if_compiled(sweep_over)
    elif estimator in ("auto", "exact"):  # the estimators with this kernel
        notice_if_compiled(group_beliefs)


def notice_if_compiled(kernel: Callable[..., Any], duration: str = "about a minute") -> None:
    """Print a notice if a kernel will be compiled when it is called, with the time that all kernels beside it take."""
    if is_on_disk(kernel):
        return
    later = (
        "later runs take seconds"
        if keeps_code(kernel)
        else "no folder is writable to keep them, name one in NUMBA_CACHE_DIR"
    )
    notice(f"Compiling kernels once, {duration}; {later}.")
