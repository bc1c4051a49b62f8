"""Defenses of the command line: the options that each reads, the object that they make, and a defense as its options."""

import inspect
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer

import foreknow.defenses
from foreknow.app.cli.adversary_knowledge import KNOWLEDGE_OPTIONS
from foreknow.app.cli.command_shape import given_options
from foreknow.app.cli.options import (
    NOISY_PANEL,
    Beta,
    T,
    choice_names,
    count,
    flag_of,
    installed,
    load_entry_point,
    make_entry_point,
    option,
    option_text,
    switch,
)
from foreknow.app.publication import DEFENSE, PUBLIC, RELEASE
from foreknow.defenses import (
    BKAA,
    DEFENSES,
    MASK,
    UHRA,
    Anatomy,
    BetaLikeness,
    Cohorts,
    Defense,
    DistinctDiversity,
    FullDomain,
    Injector,
    JSReduce,
    KAnonymity,
    KPrimacy,
    MInvariance,
    Mondrian,
    NoisyCounts,
    NoisyDefense,
    Requirement,
    TCloseness,
    all_of,
)
from foreknow.defenses.algorithms.nearest_point import build_tree
from foreknow.defenses.injector import bucketize
from foreknow.defenses.mondrian import cut_parts
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.evaluation.checks.program import settings
from foreknow.models import MarkovChain
from foreknow.models.settings import is_number

OF_OPTION: dict[str, type[Requirement]] = {
    "k": KAnonymity,
    "l": DistinctDiversity,
    "t": TCloseness,
    "beta": BetaLikeness,
}
"""Requirement of each option that defines one."""

REQUIREMENT_OPTIONS = tuple(OF_OPTION)
"""Options that define a requirement."""


@dataclass(frozen=True)
class DefenseOptions:
    """Options that define a defense; those that are None have a default of each defense.

    ``seed`` is that of a defense that draws, ``given`` are the options that were given on the command line.
    """

    k: Annotated[int, count("-k", "Least number of records in a group.")] = 3
    l: Annotated[  # noqa: E741 - the name of the option
        int | None,
        count(
            "-l",
            "Least number of distinct sensitive values in a group, 2 by default; for anatomy and mask, a value has at most "
            "1/l of a group. With js-reduce, bkaa and uhra, -l 1 requires no diversity.",
        ),
    ] = None
    t: T = None
    beta: Beta = None
    j: Annotated[
        float | None,
        option(
            "Greatest Jensen-Shannon divergence between the beliefs about members of a group; 0.6 by default.",
            "X",
            None,
            "-j",
            min=0,
        ),
    ] = None
    m: Annotated[
        int | None,
        count("-m", "m-invariance: number of distinct values in a group's signature; 2 by default."),
    ] = None
    a: Annotated[
        int | None,
        option("cohorts: least number of people of a cell who leave together; 10 by default.", "N", None, "-a", min=2),
    ] = None
    size: Annotated[
        int | None,
        option(
            "cohorts: least number of people of a cell, a or at least 2 a; 4 a by default. Those who have waited for --wait "
            "releases form a smaller one, of at least a.",
            "N",
            min=2,
        ),
    ] = None
    departures: Annotated[
        Literal["ghosts", "withdraw", "lag", "retire"] | None,
        option(
            "cohorts: what hides that one of a cell has left. Invented records carry on the place until a have left (ghosts, the "
            "default); others are withdrawn with each who leaves (withdraw), first those who leave within --lag releases (lag); or "
            "the cell ends (retire).",
            "RULE",
        ),
    ] = None
    lag: Annotated[
        int,
        option("cohorts: releases by which publication is delayed with --departures lag; 1 by default.", "N", min=0),
    ] = 0
    ends: Annotated[
        int,
        option(
            "cohorts: number of records before a departure that are withheld. As many releases at the end are held back.",
            "N",
            min=0,
        ),
    ] = 0
    terminal: Annotated[
        list[str],
        option("cohorts: a sensitive value that ends a course; who has it counts as departed. Repeatable.", "VALUE"),
    ] = field(default_factory=list)
    wait: Annotated[
        int,
        option("cohorts: number of releases for which people wait for a cell of full size.", "N", min=0),
    ] = 1
    priors: Annotated[
        float,
        option(
            "cohorts: largest difference of the revised priors of a cell, in nats (Hilbert's projective metric); it enters the "
            "bound. Over 0, respondents who return find a cell sooner.",
            "X",
            min=0,
        ),
    ] = 0.0
    leftovers: Annotated[
        Literal["suppress", "join", "relax", "counterfeit"] | None,
        option(
            "js-reduce, bkaa: records that fit no group are suppressed (suppress, default of js-reduce), added to a group "
            "(join, default of bkaa), grouped with relaxed thresholds (relax), or completed by counterfeits (counterfeit).",
            "RULE",
        ),
    ] = None
    patience: Annotated[
        int | None,
        option(
            "js-reduce, bkaa: greatest number of records of a group that does not satisfy yet; by default 50, or 4 k if that is "
            "more. 0 means no limit, as printed in the papers.",
            "N",
            min=0,
        ),
    ] = None
    tolerance: Annotated[
        float,
        option(
            "uhra, k-primacy: distance within which beliefs are clustered as one, for more than 30,000 distinct beliefs.",
            "X",
            min=0,
        ),
    ] = 0.0
    deterministic: Annotated[
        bool,
        switch(
            "--deterministic",
            "anatomy, injector, m-invariance: group neighbours instead of drawing. Queries are answered more precisely, but "
            "an adversary who knows the rule and the value of one respondent infers most of the others.",
        ),
    ] = False
    cells: Annotated[
        int,
        option(
            "Number of cells of quasi-identifiers, with about equal numbers of people at the first release.",
            "N",
            NOISY_PANEL,
            min=1,
        ),
    ] = 16
    releases: Annotated[
        int | None,
        option(
            "Largest number of releases that the series will ever have. The noise is set for all of them, whether "
            "they are published or not.",
            "N",
            NOISY_PANEL,
            min=1,
        ),
    ] = None
    epsilon: Annotated[
        float | None,
        option("Epsilon of pure differential privacy of a respondent's whole path.", "X", NOISY_PANEL, min=0),
    ] = None
    rho: Annotated[
        float | None,
        option("Rho of zero-concentrated differential privacy of a respondent's whole path.", "X", NOISY_PANEL, min=0),
    ] = None
    gain: Annotated[
        float | None,
        option(
            "Largest mean gain over the prior of an adversary who knows all others, 0 to 1. Recommended in the "
            "place of --epsilon and --rho.",
            "X",
            NOISY_PANEL,
            min=0,
            max=1,
        ),
    ] = None
    noise: Annotated[
        Literal["gaussian", "laplace"] | None,
        option("Law of the noise; laplace with --epsilon, else gaussian.", "LAW", NOISY_PANEL),
    ] = None
    processing: Annotated[
        Literal["none", "nonnegative", "totals"],
        option(
            "Counts published beside the noisy ones: none; these with negative ones as 0 (nonnegative); or whole "
            "numbers that sum to the number of people of each cell (totals). It costs nothing of the promise.",
            "RULE",
            NOISY_PANEL,
        ),
    ] = "none"
    clamped: Annotated[
        bool, switch("--clamped", "Publish negative noisy counts as 0, and not the counts themselves.", NOISY_PANEL)
    ] = False
    seed: int | None = None
    given: frozenset[str] = frozenset()

    def of_run(self, context: typer.Context, seed: int) -> "DefenseOptions":
        """The options of a run of a command, with its seed."""
        return replace(self, seed=seed, given=given_options(context))

    @property
    def most_unsatisfied(self) -> int | None:
        """The patience of a defense: by default that of `usual_patience`; None, no limit, for 0."""
        return usual_patience(self.k) if self.patience is None else self.patience or None

    @property
    def randomness(self) -> dict[str, Any]:
        """Keywords of a defense that assigns records to buckets: a random generator, or ``deterministic``."""
        return {"deterministic": True} if self.deterministic else {"rng": seeded_generator(self.seed)}

    def requirements(self, *own: str) -> list[Requirement]:
        """Distinct l-diversity, t-closeness and enhanced beta-likeness whose thresholds are given, without those named."""
        values = {name: getattr(self, name) for name in REQUIREMENT_OPTIONS if name not in ("k", *own)}
        return [OF_OPTION[name](value) for name, value in values.items() if value is not None]  # type: ignore[call-arg]

    @property
    def requirement(self) -> Requirement:
        """k-anonymity and the other requirements whose thresholds are given."""
        return all_of(KAnonymity(self.k), *self.requirements())

    def requirement_besides(self, own: str) -> Requirement | None:
        """The requirement besides k-anonymity and a defense's own threshold, or None; l = 1 requires nothing, None is 2."""
        parts = self.with_diversity.requirements(own, *(["l"] if self.l == 1 else []))
        return all_of(*parts) if parts else None

    @property
    def least_values(self) -> int:
        """The option l; 2 if it was left out, so that no group has a single value."""
        return 2 if self.l is None else self.l

    @property
    def with_diversity(self) -> "DefenseOptions":
        """The same options with `least_values`."""
        return replace(self, l=self.least_values)


class DefenseChoice(NamedTuple):
    """A defense of the command line, made from the options: its row in `BUILT_IN`.

    ``options`` are those that it reads besides those of every defense; ``kernel`` is a compiled function, if one takes
    more than some seconds to compile.
    """

    options: tuple[str, ...]
    make: Callable[[DefenseOptions], Defense]
    kernel: Callable[..., Any] | None = None

    @property
    def assumes_adversary(self) -> bool:
        """True if the defense reads the beliefs of an adversary."""
        return KNOWLEDGE_OPTIONS[0] in self.options


def usual_patience(k: int) -> int:
    """Greatest number of records of a group of js-reduce and bkaa that does not satisfy yet, unless one is given."""
    return max(50, 4 * k)


def seeded_generator(seed: int | None, stream: int = 0) -> np.random.Generator:
    """A random generator from a seed, or from 128 bits of the operating system's entropy if there is none.

    Generators with one seed and different streams are independent. A seed can be found by trial.
    """
    return np.random.default_rng(None if seed is None else [seed, stream])


def fresh_seed() -> int:
    """A seed of 128 bits of the operating system's entropy, which cannot be found by trial."""
    return secrets.randbits(128)


def _default(value: Any, default: Any) -> Any:
    return default if value is None else value


GROWING_OPTIONS = (*REQUIREMENT_OPTIONS, "j", "leftovers", "patience", *KNOWLEDGE_OPTIONS)
CLUSTERING_OPTIONS = ("k", "beta", "j", "tolerance", *KNOWLEDGE_OPTIONS)


OF_COHORTS = ("departures", "lag", "ends", "terminal", "wait", "priors")
"""Settings of cohorts that are written where they differ from the default."""


def _cohorts(options: DefenseOptions) -> Cohorts:
    """Cohorts without a chain for the ghosts, which the command learns."""
    if options.lag and options.departures != "lag":
        raise ValueError("--lag delays a publication with --departures lag alone; add that, or leave --lag out.")
    return Cohorts(
        _default(options.a, 10),
        _default(options.size, 4 * _default(options.a, 10)),
        _default(options.departures, "ghosts"),
        ends=options.ends,
        terminal=tuple(options.terminal),
        wait=options.wait,
        priors=options.priors,
        lag=options.lag,
        rng=seeded_generator(options.seed),
    )


BUILT_IN: dict[str, DefenseChoice] = {
    "js-reduce": DefenseChoice(
        GROWING_OPTIONS,
        lambda o: JSReduce(
            o.k,
            _default(o.t, 0.5),
            _default(o.j, 0.6),
            also=o.requirement_besides("t"),
            leftovers=_default(o.leftovers, "suppress"),
            patience=o.most_unsatisfied,
        ),
    ),
    "bkaa": DefenseChoice(
        GROWING_OPTIONS,
        lambda o: BKAA(
            o.k,
            _default(o.beta, 5.0),
            _default(o.j, 0.6),
            also=o.requirement_besides("beta"),
            leftovers=_default(o.leftovers, "join"),
            patience=o.most_unsatisfied,
        ),
        build_tree,
    ),
    "uhra": DefenseChoice(
        ("l", "t", *CLUSTERING_OPTIONS),
        lambda o: UHRA(
            o.k, _default(o.t, 0.5), _default(o.j, 0.6), also=o.requirement_besides("t"), tolerance=o.tolerance
        ),
        build_tree,
    ),
    "k-primacy": DefenseChoice(
        CLUSTERING_OPTIONS,
        lambda o: KPrimacy(o.k, _default(o.beta, 5.0), _default(o.j, 0.6), tolerance=o.tolerance),
        build_tree,
    ),
    "mondrian": DefenseChoice(REQUIREMENT_OPTIONS, lambda o: Mondrian(o.with_diversity.requirement), cut_parts),
    "full-domain": DefenseChoice(REQUIREMENT_OPTIONS, lambda o: FullDomain(o.with_diversity.requirement)),
    "anatomy": DefenseChoice(("l", "deterministic"), lambda o: Anatomy(o.least_values, **o.randomness)),
    "mask": DefenseChoice(("k", "l"), lambda o: MASK(o.k, o.least_values, rng=seeded_generator(o.seed)), cut_parts),
    "injector": DefenseChoice(("l", "deterministic"), lambda o: Injector(o.least_values, **o.randomness), bucketize),
    "cohorts": DefenseChoice(
        ("a", "size", *OF_COHORTS, "terminal_over", *KNOWLEDGE_OPTIONS),
        _cohorts,
    ),
    "m-invariance": DefenseChoice(("m", "deterministic"), lambda o: MInvariance(_default(o.m, 2), **o.randomness)),
}
"""The defenses of `DEFENSES` that need no sensitive set."""

NOISY = "noisy-counts"
"""Name of the defense that publishes noisy counts in place of groups."""

NOISY_SETTINGS = ("cells", "releases", "epsilon", "rho", "gain", "noise", "processing", "clamped")
"""Options that define noisy counts."""

NOISY_FILES = ("values", "public_values", "series", "ledger", "budget", "again", "for_experiment")
"""Options of `foreknow publish` that noisy counts alone read."""


def _noisy_counts(options: DefenseOptions) -> Any:
    """Noisy counts whose noise OpenDP draws."""
    given = [name for name in ("epsilon", "rho", "gain") if getattr(options, name) is not None]
    if options.releases is None:
        raise ValueError(
            f"{NOISY} needs --releases, the largest number of releases that the series will ever have: the noise of each count is "
            "set so that all of them together keep the promise. Give a number that will suffice, as --releases 24."
        )
    if len(given) != 1:
        found = "none is given" if not given else f"{' and '.join(map(flag_of, given))} are given"
        raise ValueError(
            f"one of --epsilon, --rho and --gain sets the noise of {NOISY}, and {found}. Give --gain 0.1 for a mean gain of at "
            "most a tenth by an adversary who knows all others."
        )
    return NoisyCounts(**{name: getattr(options, name) for name in NOISY_SETTINGS})


CHOICES: dict[str, DefenseChoice] = BUILT_IN | {
    NOISY: DefenseChoice(
        (*NOISY_SETTINGS, "corpus", "pseudo_count", *NOISY_FILES),
        _noisy_counts,
    )
}
"""The defenses of the command line: those that group records, and noisy counts."""

FLAGS = {each.name: flag_of(each.name) for each in fields(DefenseOptions)}
"""The flag of each option that another package's defense may have as a parameter."""


def defense_choice(name: str) -> DefenseChoice:
    """The defense with a name: built in, or of another package."""
    if name in CHOICES:
        return CHOICES[name]
    parameters = inspect.signature(load_entry_point("defense", name)).parameters
    read = [name for name in FLAGS if name in parameters]
    read += REQUIREMENT_OPTIONS if "requirement" in parameters else ()
    return DefenseChoice((*read, *KNOWLEDGE_OPTIONS), lambda options: _of_package(name, options))


def _of_package(name: str, options: DefenseOptions) -> Defense:
    """The defense of another package, made from the options that have the names of its parameters.

    An option that was left out is the parameter's own default, if it has one. ``rng`` is a generator seeded by ``--seed``, and
    ``requirement`` the conjunction of k-anonymity and the thresholds given.

    Raises
    ------
    ValueError
        If a parameter without a default has no option, or its option was left out.
    """
    parameters = inspect.signature(load_entry_point("defense", name)).parameters.values()
    named = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    required = {each.name for each in named if each.default is each.empty}
    values: dict[str, Any] = {
        option: getattr(options, option) for option in FLAGS if option in required | options.given
    }
    values["rng"] = seeded_generator(options.seed)
    if "requirement" in required or not options.given.isdisjoint(REQUIREMENT_OPTIONS):
        values["requirement"] = options.with_diversity.requirement
    arguments = {each.name: values[each.name] for each in named if values.get(each.name) is not None}
    missing = [each.name for each in named if each.name in required - set(arguments)]
    if missing:
        needs = ", ".join(
            f"{parameter} (give {FLAGS[parameter]})" if parameter in FLAGS else f"{parameter} (there is no such option)"
            for parameter in missing
        )
        raise ValueError(
            f"the defense {name!r} needs {needs}; use a defense whose parameters have defaults or options, or call "
            "foreknow.defenses.publish in Python."
        )
    return make_entry_point("defense", name, **arguments)  # type: ignore[no-any-return]


def stated_requirement(name: str, options: DefenseOptions) -> Requirement | None:
    """Requirement of the thresholds that the defense of another package reads: those given, and its own defaults.

    None for a built-in defense, which states its requirement, and for one that reads no threshold.
    """
    if name in CHOICES:
        return None
    parameters = inspect.signature(load_entry_point("defense", name)).parameters
    stated = []
    for each in [each for each in OF_OPTION if each in parameters]:
        own = parameters[each].default
        value = getattr(options, each) if each in options.given or own is inspect.Parameter.empty else own
        stated += [OF_OPTION[each](value)] if is_number(value, 0) else []  # type: ignore[call-arg]
    return all_of(*stated) if stated else None


THRESHOLDS = ("k", "l", "t", "j", "beta", "m", "a", "size")
"""Settings of defenses and requirements that are options with the same names; they are always written."""

OTHERS = ("leftovers", "patience", "tolerance", "deterministic", *OF_COHORTS)
"""Settings of defenses that are options with the same names, written where they differ from the default."""


def defense_text(defense: Defense | NoisyDefense) -> str:
    """The name and the options of a defense; its Python expression if no options of a built-in defense make it.

    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> defense_text(Mondrian(KAnonymity(3) & DistinctDiversity(2)))
    'mondrian -k 3 -l 2'
    >>> defense_text(Mondrian(KAnonymity(3))).startswith("Mondrian(requirement=KAnonymity(k=3)")
    True
    """
    return defense_options(defense) or settings(defense)


def defense_options(defense: Defense | NoisyDefense) -> str | None:
    """The name and the options of a built-in or installed defense; None if no options make an equal one.

    >>> from foreknow.defenses import DistinctDiversity, KAnonymity, Mondrian
    >>> defense_options(Mondrian(KAnonymity(6) & DistinctDiversity(2)))
    'mondrian -k 6 -l 2'
    """
    name = defense_name(defense)
    if isinstance(defense, NoisyCounts):
        settled = {each: getattr(defense, each) for each in CHOICES[NOISY].options if hasattr(defense, each)}
        given = {each: value for each, value in settled.items() if value not in (None, False, "none")}
        return " ".join([NOISY, *(option_text(each, value) for each, value in given.items())])
    if name not in choice_names("defense", BUILT_IN):
        return None
    choice = defense_choice(name)
    found = _options(defense, choice) if name in BUILT_IN else _same_named(defense, choice)
    if isinstance(defense, Cohorts):
        defense = replace(defense, transitions=None)  # learned by the command
    try:
        made = choice.make(DefenseOptions(**found, given=frozenset(found)))
    except ValueError:
        return None
    if settings(made) != settings(defense):
        return None
    return " ".join([name, *(option_text(setting, value) for setting, value in found.items())])


def defense_name(defense: Defense | NoisyDefense) -> str:
    """The name of a built-in or installed defense, as ``--defense`` takes it; the name of the class of another."""
    kinds = {name: kind for name, kind in (DEFENSES | {NOISY: NoisyCounts}).items() if name in CHOICES}
    if (found := next((name for name, kind in kinds.items() if type(defense) is kind), None)) is not None:
        return found
    return next((name for name, kind in _of_packages() if type(defense) is kind), type(defense).__name__)


def _of_packages() -> Iterator[tuple[str, type]]:
    """Classes of the defenses of other packages that can be loaded, with their names; functions that make one have none."""
    for name in dict.fromkeys(entry.name for entry in installed("defense")):
        try:
            kind: Any = load_entry_point("defense", name)
        except ValueError:
            continue
        if isinstance(kind, type):
            yield name, kind


def _same_named(defense: Any, choice: DefenseChoice) -> dict[str, Any]:
    """Values of the options that have the names of settings of a defense, or of thresholds of its requirements."""
    own = thresholds(defense) | {name: getattr(defense, name) for name in FLAGS if hasattr(defense, name)}
    return {name: own[name] for name in FLAGS if name in choice.options and own.get(name) is not None}


def _options(defense: Any, choice: DefenseChoice) -> dict[str, Any]:
    """Values of the options that a defense reads: all thresholds, and the others where they are not the default."""
    own = {"l": 1} | thresholds(defense)  # l = 1 requires nothing
    found: dict[str, Any] = {name: own[name] for name in THRESHOLDS if name in own and name in choice.options}
    usual = choice.make(DefenseOptions(k=int(own.get("k", 3))))
    # The lag of other cohorts is their ends.
    unread = {"lag"} if getattr(defense, "departures", "lag") != "lag" else set()
    others = [name for name in OTHERS if name in choice.options and hasattr(defense, name) and name not in unread]
    changed = {name: getattr(defense, name) for name in others if getattr(defense, name) != getattr(usual, name)}
    return found | {name: 0 if value is None else value for name, value in changed.items()}  # 0 is no limit


def thresholds(part: Any) -> dict[str, float]:
    """Thresholds of a defense and of the requirements in it, by name; those of the defense count before others."""
    if isinstance(part, type) or not (isinstance(part, tuple) or is_dataclass(part)):
        return {}
    own = {} if isinstance(part, tuple) else {each.name: getattr(part, each.name) for each in fields(part)}
    parts = part if isinstance(part, tuple) else own.values()
    found = {name: value for each in parts for name, value in thresholds(each).items()}
    return found | {name: value for name, value in own.items() if name in THRESHOLDS and is_number(value, 0)}


def read_defense(record: Any) -> Defense | None:
    """The defense of a record that `defense_record` made; None for anything else.

    Classes are looked up among the public names of `foreknow.defenses`, combinations of requirements and the defenses that other
    packages have installed alone.

    Examples
    --------
    >>> read_defense({"class": "Anatomy", "l": 3}).l
    3
    >>> read_defense({"class": "open", "file": "x"}) is None
    True
    """
    try:
        made = _made(record)
    except (KeyError, TypeError, ValueError):
        return None
    return made if type(made) in (*DEFENSES.values(), NoisyCounts, *(kind for _, kind in _of_packages())) else None


def recorded_defense(groups: Path, kind: str | None = None) -> Defense | None:
    """The defense, of a class or of any, that `foreknow publish` wrote beside its output, if the file of groups is there."""
    for path in (groups.parent / DEFENSE, groups.parent.parent / PUBLIC / RELEASE, groups.parent / RELEASE):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))["settings"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return read_defense(record) if kind in (None, record.get("class")) else None
    return None


def _made(record: Any) -> Any:
    if isinstance(record, list):
        return tuple(map(_made, record))
    if not isinstance(record, dict):
        return record
    name, rest = record["class"], {key: each for key, each in record.items() if key != "class"}
    if name == "dict":
        return {_made(key): _made(each) for key, each in rest["items"]}
    return _classes()[rest["name"]] if name == "type" else _classes()[name](**{key: _made(rest[key]) for key in rest})


def _classes() -> dict[str, type]:
    """Classes of which a defense is made, by their names."""
    public = [getattr(foreknow.defenses, name) for name in foreknow.defenses.__all__]
    known = (*(kind for _, kind in _of_packages()), AllOf, AnyOf, MarkovChain, *public)
    return {each.__name__: each for each in known if isinstance(each, type)}
