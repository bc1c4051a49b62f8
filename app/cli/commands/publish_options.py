"""Options of `foreknow publish` alone: their flags, help texts and choices."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from foreknow.app.cli import entry_points
from foreknow.app.cli.defense_choices import BUILT_IN, DefenseOptions
from foreknow.app.cli.options import (
    OUTPUT_PANEL,
    Beta,
    T,
    corpus_file,
    least_records,
    least_values,
    output_folder,
)

Leftovers = StrEnum("Leftovers", ["suppress", "join", "relax", "counterfeit"])
Infeasible = StrEnum("Infeasible", ["raise", "suppress"])


def _check_defense(name: str) -> str:
    return entry_points.checked_name("defense", name, BUILT_IN)


Out = Annotated[
    Path,
    output_folder("Folder for public/published.csv and private/groups.csv."),
]
Corpus = Annotated[
    Path | None,
    corpus_file(
        "Records from which the assumed adversary learned; by default the records themselves. Read by defenses that "
        "assume an adversary: js-reduce, bkaa, uhra, k-primacy."
    ),
]
DefenseName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=_check_defense,
        help=f"Defense that groups the records: {', '.join(entry_points.choice_names('defense', BUILT_IN))}.",
    ),
]
K = Annotated[int, least_records("Least number of records in a group.")]
L = Annotated[
    int | None,
    least_values(
        "Least number of distinct sensitive values in a group, 2 by default; for anatomy and mask, a value has at most "
        "1/l of a group. With js-reduce, bkaa and uhra, -l 1 requires no diversity."
    ),
]
J = Annotated[
    float | None,
    typer.Option(
        "-j",
        min=0,
        metavar="X",
        help="Greatest Jensen-Shannon divergence between the beliefs about members of a group; 0.6 by default.",
    ),
]
M = Annotated[
    int | None,
    typer.Option(
        "-m",
        min=1,
        metavar="N",
        help="m-invariance: number of distinct values in a group's signature; 2 by default.",
    ),
]
LeftoversRule = Annotated[
    Leftovers | None,
    typer.Option(
        metavar="RULE",
        help="js-reduce, bkaa: records that fit no group are suppressed (suppress, default of js-reduce), added to a group "
        "(join, default of bkaa), grouped with relaxed thresholds (relax), or completed by counterfeits (counterfeit).",
    ),
]
Patience = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="js-reduce, bkaa: greatest number of records of a group that does not satisfy yet; 0 means no limit, as printed "
        "in the papers.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Seed for repeatable experiments. A seed can be found by trial, and undoes the publication. By default, 128 "
        "bits of fresh entropy, which are kept beside the key.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="X",
        help="uhra, k-primacy: distance within which beliefs are clustered as one, for more than 30,000 distinct beliefs.",
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic",
        help="anatomy, injector, m-invariance: group neighbours instead of drawing. Queries are answered more precisely, but "
        "an adversary who knows the rule and the value of one respondent infers most of the others.",
    ),
]
InfeasibleRule = Annotated[
    Infeasible,
    typer.Option(
        metavar="RULE",
        help="A release that cannot be published: stop with an error (raise), or suppress all its records (suppress).",
    ),
]
Bucketized = Annotated[
    bool,
    typer.Option(
        "--bucketized",
        rich_help_panel=OUTPUT_PANEL,
        help="Publish exact quasi-identifiers, whatever the default of the defense.",
    ),
]
Generalized = Annotated[
    bool,
    typer.Option(
        "--generalized",
        rich_help_panel=OUTPUT_PANEL,
        help="Publish generalized quasi-identifiers, whatever the default of the defense.",
    ),
]
NoVerify = Annotated[
    bool,
    typer.Option(
        "--no-verify",
        rich_help_panel=OUTPUT_PANEL,
        help="Do not recompute the requirements from what is published; certificate.json then says that nothing was verified.",
    ),
]
QuoteFormulas = Annotated[
    bool | None,
    typer.Option(
        "--quote-formulas/--keep-formulas",
        rich_help_panel=OUTPUT_PANEL,
        show_default=False,
        help="Write an apostrophe before published cells that a spreadsheet would run as formulas, those that begin with =, +, - "
        "or @, or write them unchanged. By default they get one in CSV files, and stay in Parquet files.",
    ),
]


@dataclass(frozen=True)
class ThresholdOptions:
    """Thresholds and rules that define a defense."""

    k: K = 3
    l: L = None  # noqa: E741 - the name of the option
    t: T = None
    beta: Beta = None
    j: J = None
    m: M = None
    leftovers: LeftoversRule = None
    patience: Patience = 50
    tolerance: Tolerance = 0.0
    deterministic: Deterministic = False

    def options(self, seed: int, given: frozenset[str]) -> DefenseOptions:
        """The options as a defense is made of them."""
        rule, limit = None if self.leftovers is None else self.leftovers.value, self.patience or None
        return DefenseOptions(
            self.k,
            self.l,
            self.t,
            self.j,
            self.beta,
            self.m,
            rule,
            limit,
            seed,
            self.deterministic,
            self.tolerance,
            given,
        )
