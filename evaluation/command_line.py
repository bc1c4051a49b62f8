"""The command `foreknow`: publish a history, attack what was published, check a published table, see the demo."""

import sys
from collections.abc import Collection, Hashable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track

from foreknow.attacks import ATTACKS, Attack, ForegroundAttack, ForegroundBeliefs
from foreknow.defenses import publish
from foreknow.evaluation import demo as demonstration
from foreknow.evaluation import report
from foreknow.evaluation.choices import ATTACK_READS, CHOICES, DEFENSE_READS, Thresholds, foreground_attack
from foreknow.evaluation.cost import gcp, suppressed
from foreknow.evaluation.inputs import (
    Columns,
    assumed,
    check_complete,
    check_roles,
    mine,
    private_table,
    published_table,
    releases_of,
)
from foreknow.evaluation.verify import verify_table
from foreknow.evaluation.whole_files import whole_files, write_table
from foreknow.models import ESTIMATORS, Adversary, History, Release
from foreknow.models.view import read_table

DefenseName = StrEnum("DefenseName", list(CHOICES))  # type: ignore[misc]
AttackName = StrEnum("AttackName", list(ATTACKS))  # type: ignore[misc]
EstimatorName = StrEnum("EstimatorName", list(ESTIMATORS))  # type: ignore[misc]
Leftovers = StrEnum("Leftovers", ["suppress", "join", "relax", "counterfeit"])

Records = Annotated[Path, typer.Argument(help="The original records: a CSV or Parquet file, one row per record.")]
Qi = Annotated[list[str], typer.Option("--qi", help="A quasi-identifier's column. Repeat it: --qi age --qi sex.")]
Id = Annotated[str, typer.Option("--id", help="The column that says whose record it is.")]
Time = Annotated[str, typer.Option("--time", help="The column by which records are published together.")]
Sensitive = Annotated[str, typer.Option("--sensitive", help="The column of the sensitive value.")]
Hierarchies = Annotated[
    list[str], typer.Option("--hierarchy", help="COLUMN=FILE, an ARX-style file of generalizations; may be repeated.")
]
Classes = Annotated[
    int, typer.Option(min=1, help="Into how many classes the prior cuts each numeric quasi-identifier.")
]
Order = Annotated[int, typer.Option(min=1, help="How many past values the chain looks back over.")]
Pseudo = Annotated[float, typer.Option(min=0, help="Added to every count that is mined.")]
K = Annotated[int, typer.Option("-k", min=1, help="The fewest records of a group.")]
L = Annotated[
    int | None,
    typer.Option(
        "-l",
        min=1,
        help="The fewest distinct sensitive values of a group; for anatomy and mask, one in how many may show a value.",
    ),
]
T = Annotated[
    float | None, typer.Option("-t", min=0, help="The largest distance of a group's values from the table's.")
]
Beta = Annotated[
    float | None,
    typer.Option(
        min=0, help="How much more frequent, relative to the table, a value may be in a group (enhanced beta-likeness)."
    ),
]

MUCH = 0.2
"""The share of suppressed records from which `publish` says so."""

console = Console()
notices = Console(stderr=True)
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="What can someone who already knows something learn from the tables you publish?",
)


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="The folder for pictures and tables.")] = Path("demo-output"),
) -> None:
    """Publish a real medical follow-up, once as the literature calls safe and with JS-reduce, and attack it."""
    notices.print(
        "Mayo Clinic, primary biliary cirrhosis: a third of the patients\nteach the adversary, two thirds are published."
    )
    found = demonstration.run(
        progress=lambda names: track(names, "publishing and attacking", console=notices, transient=True)
    )
    with notices.status("drawing"), whole_files(out) as folder:
        demonstration.pictures(found, folder)
        names = ", ".join(sorted(file.name for file in folder.iterdir()))
    for part in report.demo(found):
        console.print(part)
    console.print(f"Pictures and tables are in {out}:\n  {names}", markup=False)


@app.command("publish")
def publish_command(
    context: typer.Context,
    records: Records,
    qi: Qi,
    out: Annotated[Path, typer.Option(help="The folder to write published.csv and groups.csv into.")],
    sensitive: Sensitive,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="What the defender of js-reduce, bkaa, uhra, k-primacy learned from; by default the published records."
        ),
    ] = None,
    id_: Id = "id",
    time: Time = "week",
    hierarchy: Hierarchies = [],  # noqa: B006 - Typer reads it, nobody writes it
    defense: Annotated[DefenseName, typer.Option(help="How records are grouped.")] = DefenseName["js-reduce"],
    k: K = 3,
    l: L = None,  # noqa: E741
    t: T = None,
    beta: Beta = None,
    j: Annotated[
        float | None,
        typer.Option(
            "-j", min=0, help="The largest divergence of what is believed of a group's members; 0.6 by default."
        ),
    ] = None,
    m: Annotated[
        int | None,
        typer.Option("-m", min=1, help="m-invariance: how many different values every group keeps; 2 by default."),
    ] = None,
    leftovers: Annotated[
        Leftovers | None,
        typer.Option(
            help="js-reduce, bkaa: what becomes of records that fit no group; suppress, and for bkaa join, by default."
        ),
    ] = None,
    patience: Annotated[
        int,
        typer.Option(
            min=0, help="js-reduce, bkaa: how large a group may grow unsatisfied; 0: without limit, as printed."
        ),
    ] = 50,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="anatomy, mask: a number that makes their chance repeatable; keep it to yourself."),
    ] = None,
    bucketized: Annotated[
        bool | None,
        typer.Option(
            "--bucketized/--generalized",
            help="Publish quasi-identifiers as they are beside each group's values, or blurred; as the defense has it.",
            show_default=False,
        ),
    ] = None,
    classes: Classes = 3,
    order: Order = 1,
    pseudo_count: Pseudo = 0.1,
) -> None:
    """Group the records of every release, and write what the public may see.

    published.csv is for the public. groups.csv says who stands in which group (-1: suppressed; nobody's row is a
    counterfeit): keep it to yourself; it is what `foreknow attack` reads. Where t is left out it is 0.5 for js-reduce and
    uhra, beta 5 for bkaa and k-primacy, and l 2 for mondrian, full-domain, anatomy, mask and injector. js-reduce, bkaa, uhra
    and k-primacy assume an adversary who knows the class frequencies of the records, and the chain of those before each
    release; as all of them count, publish a release once, and name a --corpus for the next.
    """
    choice = CHOICES[defense.value]
    _refuse_unread(context, "defense", defense.value, DEFENSE_READS)
    columns = Columns(id_, time, sensitive, tuple(qi), tuple(hierarchy))
    table = columns.read(records)
    learned = table if corpus is None else columns.read(corpus)
    schema = columns.schema(*([table] if corpus is None else [table, learned]))
    history = History.read(table, schema, time)
    enough = max(50, k) if patience is None else patience
    asked = Thresholds(k, l, t, j, beta, m, None if leftovers is None else leftovers.value, enough or None, seed)
    chosen = choice.make(asked)
    defender = None
    if choice.believes:
        defender = assumed(
            history, None if corpus is None else History.read(learned, schema, time), classes, order, pseudo_count
        )
    views = track(history.views, "publishing", console=notices, transient=True)
    releases = publish(views, chosen, defender, bucketized)
    if not any(release.groups for release in releases):
        raise ValueError(
            f"{chosen!r} finds no group of these records that satisfies, and would publish nothing; ask for less."
        )
    ending = records.suffix.lower()
    with whole_files(out, keep=[path for path in (records, corpus) if path is not None]) as folder:
        write_table(published_table(releases, time), folder / f"published{ending}")
        write_table(private_table(releases, columns), folder / f"groups{ending}")
    _tell(releases, f"{chosen!r}")
    console.print(
        f"For the public: {out / f'published{ending}'}.\nFor you alone: {out / f'groups{ending}'}.", markup=False
    )


@app.command("attack")
def attack_command(
    context: typer.Context,
    records: Records,
    qi: Qi,
    sensitive: Sensitive,
    groups: Annotated[
        Path | None, typer.Option(help="Who stands in which group; by default the records' own column 'group'.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(help="Records the adversary learned from; by default the published ones, the most there is."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A folder for beliefs.csv, the posterior of everybody at every release.")
    ] = None,
    id_: Id = "id",
    time: Time = "week",
    hierarchy: Hierarchies = [],  # noqa: B006
    attack: Annotated[
        AttackName,
        typer.Option(help="With memory, each release alone, looking back, or by what the groups themselves teach."),
    ] = AttackName["sequential"],
    estimator: Annotated[EstimatorName, typer.Option(help="How a prior and a release make a belief.")] = EstimatorName[
        "exact"
    ],
    secret: Annotated[
        list[str],
        typer.Option(
            help="foreground: a value nobody should be linked to. Repeat it; left out, every value is weighed on its own."
        ),
    ] = [],  # noqa: B006
    attribute_set: Annotated[
        list[str],
        typer.Option(
            help="foreground: columns that are looked at together, as age,sex. Repeat it; left out, all sets of --qi."
        ),
    ] = [],  # noqa: B006
    support: Annotated[
        int | None,
        typer.Option(min=1, help="foreground: how many people must share their values of a set; 3993 by default."),
    ] = None,
    r: Annotated[
        float | None,
        typer.Option("-r", min=1, help="foreground: a belief in a secret value over 1/r is a breach; 2 by default."),
    ] = None,
    classes: Classes = 3,
    order: Order = 1,
    pseudo_count: Pseudo = 0.1,
) -> None:
    """Attack what was published, and say how much of the truth it gives away at each release.

    The foreground attack needs no knowledge: it learns from the published groups what the people of each kind have, and turns
    that against everybody in them. It says what it learned, and with a --secret whom it links to it.
    """
    _refuse_unread(context, "attack", attack.value, ATTACK_READS)
    columns = Columns(id_, time, sensitive, tuple(qi), tuple(hierarchy))
    table = columns.read(records)
    learned = table if corpus is None else columns.read(corpus)
    schema = columns.schema(*([table] if corpus is None else [table, learned]))
    history, releases = releases_of(table, groups, columns, schema)
    rule = ESTIMATORS[estimator.value]()
    attacker: Attack
    if attack.value == "foreground":
        attacker = foreground_attack(schema, secret, attribute_set, support, r, rule)
    else:
        if corpus is None:
            notices.print("No --corpus: the adversary's knowledge is mined from the published records themselves.")
        known = mine(History.read(learned, schema, time), classes, order, pseudo_count)
        attacker = ATTACKS[attack.value](Adversary(known.prior, known.transitions, estimator=rule))
    beliefs = attacker(track(releases, "attacking", console=notices, transient=True))
    if out is not None:
        with whole_files(out, keep=[path for path in (records, groups, corpus) if path is not None]) as folder:
            write_table(report.posteriors(beliefs, time), folder / f"beliefs{records.suffix.lower()}")
    if isinstance(attacker, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
        _tell_learned(beliefs, history, attacker.sensitive, r or 2)
    for part in report.attacked(beliefs, history, f"{attack.value} attack, {estimator.value} posterior"):
        console.print(part, markup=False)
    for note in beliefs.notes:
        notices.print(note, markup=False)
    if out is not None:
        console.print(f"Everybody's posterior beliefs: {out / f'beliefs{records.suffix.lower()}'}.", markup=False)


@app.command("check")
def check_command(
    published: Annotated[Path, typer.Argument(help="A published table: CSV or Parquet, one row per published record.")],
    sensitive: Sensitive,
    group: Annotated[str, typer.Option(help="The column of the group.")] = "group",
    time: Annotated[
        str | None,
        typer.Option(
            help="The column of the release; by default 'week' where there is one, else the table is one release."
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="The fewest records of a group; 3 if nothing else is asked.")
    ] = None,
    l: L = None,  # noqa: E741
    t: T = None,
    beta: Beta = None,
) -> None:
    """Recompute what was asked of groups from a published table alone; exit status 1 if one requirement fails."""
    table = read_table(published)
    if time is None and "week" in table.columns and "week" not in (group, sensitive):
        time = "week"
    roles = [group, sensitive, *([] if time is None else [time])]
    check_roles(table, roles)
    check_complete(table, roles)
    if time is None and (mixed := report.differing(table, group, sensitive)):
        raise ValueError(
            f"{mixed!r} differs within groups, so the table holds several releases, or groups of the same number that are not "
            f"one; say which column tells releases apart, as --time {mixed}."
        )
    nothing_else = (l, t, beta) == (None, None, None)
    asked = Thresholds(3 if k is None and nothing_else else k or 1, l, t, beta=beta).requirement
    values = tuple(sorted(table[sensitive].unique().tolist(), key=str))
    tables = [("all", table)] if time is None else list(table.groupby(time, sort=True))
    verdicts = []
    for when, rows in tables:
        rows = rows[[group, sensitive]].set_axis(["group", "value"], axis=1)
        verdict = verify_table(rows, "value", values, asked)
        verdicts += [
            report.verdict(when, name, part, asked) for name, part in verdict.groupby("requirement", sort=False)
        ]
    console.print(report.table(pd.DataFrame(verdicts), f"{published.name}, recomputed"))
    if any(verdict["failing"] for verdict in verdicts):
        raise typer.Exit(1)


def _tell(releases: tuple[Release, ...], title: str) -> None:
    """Print what a publication cost, and what its reader must be told."""
    cost = suppressed(releases).merge(gcp(releases)[["time", "normalized"]], on="time")
    cost = cost if cost["counterfeits"].any() else cost.drop(columns=["counterfeits"])
    cost.insert(1, "groups", [release.groups for release in releases])
    console.print(report.table(cost.rename(columns={"normalized": "gcp"}), title))
    lost = cost["suppressed"].sum() / cost["records"].sum()
    if lost > MUCH:
        notices.print(
            f"{lost:.0%} of the records are suppressed; loosen the thresholds, or try another defense, --patience or --leftovers."
        )
    if any(release.bucketized for release in releases):
        notices.print(
            "Within a group, quasi-identifiers and sensitive values are sorted on their own: that they share a row says\n"
            "nothing. Say so to whom you publish."
        )
    for release in releases:
        for note in release.grouping.notes:
            notices.print(f"at {release.time}: {note}", markup=False)


def _tell_learned(beliefs: ForegroundBeliefs, history: History, secret: Collection[Hashable] | None, r: float) -> None:
    """Print what the groups taught, and whom it links to a secret value."""
    sets = max(map(len, beliefs.knowledge), default=0)
    if sets:
        most = f", of {sets} the {report.SHOWN} worst" if sets > report.SHOWN else ""
        console.print(report.table(report.mined(beliefs), f"Global distributions{most}"))
        console.print(report.MINED, markup=False)
    if secret is not None:
        console.print(report.table(report.linked(beliefs, history, secret, r), f"Breaches, r = {r:g}"))
        console.print(report.BREACHES, markup=False)


def _refuse_unread(context: typer.Context, kind: str, chosen: str, reads: Mapping[str, Sequence[str]]) -> None:
    """Raise ValueError if an option was given that the chosen defense or attack does not read."""
    every = {name for names in reads.values() for name in names}
    for name in sorted(every - set(reads[chosen])):
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
            readers = ", ".join(other for other, names in reads.items() if name in names)
            raise ValueError(f"{chosen} does not read {option}; leave it out, or choose --{kind} {readers}.")


def main() -> None:
    """Run the command; bad input ends it with status 2 and one sentence."""
    try:
        app()
    except (ValueError, OSError, ModuleNotFoundError, MemoryError, OverflowError) as error:
        notices.print(f"[bold red]error:[/] {escape(str(error).strip())}", highlight=False, soft_wrap=True)
        sys.exit(2)
