"""Options that several commands share: their flags, help texts and choices."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from foreknow.app.cli.adversary_knowledge import Learning
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.memory import Revision as RevisionRule

Revision = StrEnum("Revision", ["filter", "product", "chain"])
Gaps = StrEnum("Gaps", ["ignore", "power"])

INPUT_PANEL, KNOWLEDGE_PANEL, OUTPUT_PANEL = "Input", "Knowledge of the adversary", "Output"
"""Headings of the help text under which options stand."""

PUBLISHED_PANEL = "Published tables alone"
"""Heading of the help text for the options of published tables without their original records."""

Records = Annotated[
    Path, typer.Argument(metavar="RECORDS", help="Original records: a CSV or Parquet file, one row per record.")
]
QuasiIdentifiers = Annotated[
    list[str],
    typer.Option(
        "--qi",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Column of a quasi-identifier. Repeatable: --qi age --qi sex.",
    ),
]
Respondent = Annotated[
    str, typer.Option("--id", metavar="COLUMN", rich_help_panel=INPUT_PANEL, help="Column of the respondent.")
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Column of the time; records of one time are published together. By default 'week' if there is one, otherwise "
        "the file is one release.",
    ),
]
Sensitive = Annotated[
    str,
    typer.Option("--sensitive", metavar="COLUMN", rich_help_panel=INPUT_PANEL, help="Column of the sensitive value."),
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN",
        rich_help_panel=PUBLISHED_PANEL,
        help="Column of the group; by default 'group' if there is one, else records with equal --qi are a group.",
    ),
]
Hierarchies = Annotated[
    list[str],
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        rich_help_panel=INPUT_PANEL,
        help="Generalization hierarchy of a quasi-identifier, in ARX format. Repeatable.",
    ),
]
Categorical = Annotated[
    list[str],
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        rich_help_panel=INPUT_PANEL,
        help="Quasi-identifier whose numbers are codes without an order, such as race. Repeatable.",
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        rich_help_panel=INPUT_PANEL,
        help="Encoding of your CSV and hierarchy files: latin-1, cp1252, utf-16, ...",
    ),
]
Missing = Annotated[
    list[str],
    typer.Option(
        "--missing-value",
        metavar="TEXT",
        rich_help_panel=INPUT_PANEL,
        help="Cell that means a missing value, such as NA. Repeatable. An empty cell is always missing.",
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        rich_help_panel=OUTPUT_PANEL,
        help="Print one JSON object on standard output, for programs; everything else goes to standard error.",
    ),
]
Sure = Annotated[
    float,
    typer.Option(
        "--sure",
        min=0.5,
        max=1,
        metavar="X",
        help="Belief from which an adversary is sure of a value.",
    ),
]
FailOver = Annotated[
    float | None,
    typer.Option(
        "--fail-over",
        min=0,
        max=1,
        metavar="SHARE",
        help="Greatest share of the respondents that may be exposed, from 0 to 1; over it, the exit status is 1.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", rich_help_panel=OUTPUT_PANEL, help="Replace the output of an earlier run.")
]
Classes = Annotated[
    int,
    typer.Option(
        "--classes",
        min=1,
        metavar="N",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Number of intervals of each numeric quasi-identifier in the prior.",
    ),
]
Order = Annotated[
    int,
    typer.Option(
        "--order",
        min=1,
        metavar="N",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Order of the Markov chain of sensitive values.",
    ),
]
RevisionChoice = Annotated[
    Revision,
    typer.Option(
        "--revision",
        metavar="RULE",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Revision of beliefs with --order 2 or more: filter (joint law of the last values), product (as in JS-reduce) or "
        "chain (as in BayFrame).",
    ),
]
GapsChoice = Annotated[
    Gaps,
    typer.Option(
        "--gaps",
        metavar="RULE",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Releases without a record of a respondent: ignore them, or take one step of the chain for each (power).",
    ),
]
PseudoCount = Annotated[
    float,
    typer.Option(
        "--pseudo-count",
        min=0,
        metavar="X",
        rich_help_panel=KNOWLEDGE_PANEL,
        help="Number added to every count that the adversary learns from.",
    ),
]
T = Annotated[
    float | None,
    typer.Option(
        "-t",
        min=0,
        metavar="X",
        help="Greatest distance between the distribution of a group and that of the table (t-closeness).",
    ),
]
Beta = Annotated[
    float | None,
    typer.Option(
        "--beta",
        min=0,
        metavar="X",
        help="Greatest relative increase of a value's frequency in a group over the table (enhanced beta-likeness).",
    ),
]


def least_records(help_text: str, panel: str | None = None) -> Any:
    """Option -k, with the help text and the heading of one command."""
    return typer.Option("-k", min=1, metavar="N", rich_help_panel=panel, help=help_text)


def least_values(help_text: str, panel: str | None = None) -> Any:
    """Option -l, with the help text and the heading of one command."""
    return typer.Option("-l", min=1, metavar="N", rich_help_panel=panel, help=help_text)


def output_folder(help_text: str) -> Any:
    """Option --out, with the help text of one command."""
    return typer.Option("--out", metavar="FOLDER", rich_help_panel=OUTPUT_PANEL, help=help_text)


def corpus_file(help_text: str) -> Any:
    """Option --corpus, with the help text of one command."""
    return typer.Option("--corpus", metavar="FILE", rich_help_panel=KNOWLEDGE_PANEL, help=help_text)


def learning(classes: int, order: int, pseudo_count: float, revision: Revision, gaps: Gaps) -> Learning:
    """Settings of learning from the options of a command."""
    return Learning(classes, order, pseudo_count, cast(RevisionRule, revision.value), cast(GapRule, gaps.value))


def given_options(context: typer.Context) -> frozenset[str]:
    """Names of the options that were given on the command line, or in a file of --config with another value than the default."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    from_file = {
        parameter.name
        for parameter in context.command.params
        if parameter.name in (context.default_map or {})
        # get_default would return the value of the file.
        and _differs(context.params.get(str(parameter.name)), _default(parameter))
    }
    return frozenset(
        name
        for name, source in sources.items()
        if source is not None and (source.name == "COMMANDLINE" or (source.name == "DEFAULT_MAP" and name in from_file))
    )


def check_sure(sure: float) -> None:
    """Raise ValueError unless a belief of this size is in one value only."""
    if sure <= 0.5:
        raise ValueError(f"--sure {sure:g} is not over 0.5; a belief is sure of one value only from there on, as 0.9.")


def _default(parameter: Any) -> Any:
    return parameter.default() if callable(parameter.default) else parameter.default


def _differs(value: Any, default: Any) -> bool:
    return bool(value != default and [value] != [default] and not (not value and not default))


def refuse_unread_options(context: typer.Context, kind: str, chosen: str, options: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError if an option was given that the chosen defense or attack does not read.

    Parameters
    ----------
    context : typer.Context
    kind : {"defense", "attack"}
        The option that chooses.
    chosen : str
        The chosen name.
    options : mapping of name to sequence of str
        The options that each choice reads; an option that none of them reads is read by the command itself.
    """
    specific = {name for names in options.values() for name in names}
    for name in sorted((specific - set(options[chosen])) & given_options(context)):
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        readers = ", ".join(other for other, names in options.items() if name in names)
        raise ValueError(f"{chosen} does not read {flag}; leave it out, or choose --{kind} {readers}.")
