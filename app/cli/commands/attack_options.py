"""Options of `foreknow attack` alone: their flags, help texts and choices."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from foreknow.app.cli import entry_points
from foreknow.app.cli.options import (
    INPUT_PANEL,
    KNOWLEDGE_PANEL,
    PUBLISHED_PANEL,
    GroupColumn,
    corpus_file,
    least_records,
    least_values,
    output_folder,
)
from foreknow.attacks import ATTACKS
from foreknow.models import ESTIMATORS, JOINT_SOLVERS

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
