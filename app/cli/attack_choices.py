"""Attacks and estimators of the command line: the options that each attack reads, and the object that they make."""

from collections.abc import Callable, Sequence

from foreknow.app.cli import entry_points
from foreknow.app.cli.defense_choices import KNOWLEDGE_OPTIONS
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
)
from foreknow.evaluation.risk.breaches import breach_threshold
from foreknow.models import (
    ESTIMATORS,
    JOINT_SOLVERS,
    Adversary,
    Estimator,
    JointSolver,
    PathSampler,
    SampleSize,
    Schema,
)

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
