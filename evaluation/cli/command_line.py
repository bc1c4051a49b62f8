"""The command `foreknow`: publish a history, attack what was published, check a published table, see the demo."""

import re
import sys
import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import pandas as pd
import typer
from rich.console import Console
from rich.text import Text

from foreknow.attacks import ATTACKS, Attack, ForegroundAttack, ForegroundBeliefs
from foreknow.defenses import publish
from foreknow.evaluation.checks.verify import verify_table
from foreknow.evaluation.cli import demo as demonstration
from foreknow.evaluation.cli import report
from foreknow.evaluation.cli.atomic_output import atomic_output, check_output, write_table
from foreknow.evaluation.cli.checksums import KEY, RELEASE, check_key, settings, write_key, write_release
from foreknow.evaluation.cli.choices import (
    ATTACK_READS,
    CHOICES,
    DEFENSE_READS,
    Thresholds,
    foreground_attack,
    generator,
)
from foreknow.evaluation.cli.formulas import formula_cells, without_formulas
from foreknow.evaluation.cli.inputs import (
    Columns,
    Learning,
    assumed,
    check_complete,
    check_encoding_read,
    check_roles,
    few_numbers,
    mine,
    private_table,
    published_table,
    releases_of,
)
from foreknow.evaluation.cli.terminal import tracked, visible
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.models import ESTIMATORS, History, Release, Schema
from foreknow.models.knowledge.sequences import GapRule
from foreknow.models.memory import Revision as RevisionRule
from foreknow.models.tables.table_files import read_table

DefenseName = StrEnum("DefenseName", list(CHOICES))  # type: ignore[misc]
AttackName = StrEnum("AttackName", list(ATTACKS))  # type: ignore[misc]
EstimatorName = StrEnum("EstimatorName", list(ESTIMATORS))  # type: ignore[misc]
Leftovers = StrEnum("Leftovers", ["suppress", "join", "relax", "counterfeit"])
Revision = StrEnum("Revision", ["filter", "product", "chain"])
Gaps = StrEnum("Gaps", ["ignore", "power"])
Infeasible = StrEnum("Infeasible", ["raise", "suppress"])

Records = Annotated[Path, typer.Argument(help="The original records: a CSV or Parquet file, one row per record.")]
Qi = Annotated[list[str], typer.Option("--qi", help="A quasi-identifier's column. Repeat it: --qi age --qi sex.")]
Id = Annotated[str, typer.Option("--id", help="The column that says whose record it is.")]
Time = Annotated[str, typer.Option("--time", help="The column by which records are published together.")]
Sensitive = Annotated[str, typer.Option("--sensitive", help="The column of the sensitive value.")]
Hierarchies = Annotated[
    list[str], typer.Option("--hierarchy", help="COLUMN=FILE, an ARX-style file of generalizations; may be repeated.")
]
Categorical = Annotated[
    list[str],
    typer.Option(
        help="A quasi-identifier whose numbers are codes, as of sex or race: an average of them means nothing. Repeat it."
    ),
]
Encoding = Annotated[
    str, typer.Option(help="The encoding of your CSV and --hierarchy files, as latin-1, cp1252 or utf-16.")
]
Missing = Annotated[
    list[str],
    typer.Option(
        "--missing-value",
        help="A cell that means: not known, as NA. Repeat it; an empty cell always does, nothing else.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output of an earlier run.")]
Classes = Annotated[
    int, typer.Option(min=1, help="Into how many classes the prior cuts each numeric quasi-identifier.")
]
Order = Annotated[int, typer.Option(min=1, help="How many past values the chain looks back over.")]
HowRevised = Annotated[
    Revision,
    typer.Option(
        help="With --order 2 and more, how past beliefs make the next: the joint law of the last values, or as the papers of "
        "JS-reduce (product) and BayFrame (chain)."
    ),
]
HowGaps = Annotated[
    Gaps,
    typer.Option(
        help="What happens in releases in which a person is not published: nothing, or the chain takes a step."
    ),
]
Pseudo = Annotated[float, typer.Option(min=0, help="Added to every count that is mined.")]
K = Annotated[int, typer.Option("-k", min=1, help="The fewest records of a group.")]
L = Annotated[int | None, typer.Option("-l", min=1, help="The fewest distinct sensitive values of a group.")]
Diversity = Annotated[
    int | None,
    typer.Option(
        "-l",
        min=1,
        help="The fewest distinct sensitive values of a group; for anatomy and mask, one in how many may show a value. 2 by "
        "default; js-reduce, bkaa and uhra ask nothing of the kind with -l 1.",
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

PUBLIC, PRIVATE = "public", "private"
"""The folders of what `foreknow publish` writes."""

MUCH = 0.2
"""The share of suppressed records from which `publish` says so."""

ADVICE = (
    (r" Use [^.]*(SwapChain|Auto)\(.*", " Choose --estimator auto."),
    (
        r" Round them, as .*",
        " Round them in the file, or name a column of weeks, months or years, as --time month.",
    ),
    (r"\bencoding is ('[^']*')", r"--encoding is \1"),
    (r"\bGive the defense tolerance=([0-9.e-]*[0-9])", r"Say --tolerance \1"),
    (r"^SignatureAttack needs transitions of order 1;.*", "The signature attack needs --order 1."),
    (r"\b(revision|gaps|leftovers|infeasible|encoding)=['\"]([a-z0-9-]+)['\"]", r"--\1 \2"),
)
"""What errors advise in Python, and what to do at the command line instead."""

LONGEST = 1000
"""The characters of an error that are printed: a cell in it may be of any length."""

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
    overwrite: Overwrite = False,
) -> None:
    """Publish a real medical follow-up, once as the literature calls safe and with JS-reduce, and attack it."""
    check_output(out, demonstration.FILES, overwrite=overwrite)
    notices.print(
        "Mayo Clinic, primary biliary cirrhosis: a third of the patients\nteach the adversary, two thirds are published."
    )
    found = demonstration.run(progress=lambda names: tracked(names, "publishing and attacking", notices))
    with notices.status("drawing"), atomic_output(out, overwrite=overwrite) as folder:
        demonstration.pictures(found, folder)
        names = ", ".join(sorted(file.name for file in folder.iterdir()))
    for part in report.demo(found):
        console.print(part)
    _say(f"Pictures and tables are in {out}:", f"  {names}")


@app.command("publish")
def publish_command(
    context: typer.Context,
    records: Records,
    qi: Qi,
    out: Annotated[Path, typer.Option(help="The folder to write public/published.csv and private/groups.csv into.")],
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
    categorical: Categorical = [],  # noqa: B006
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006
    defense: Annotated[DefenseName, typer.Option(help="How records are grouped.")] = DefenseName["js-reduce"],
    k: K = 3,
    l: Diversity = None,  # noqa: E741
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
        typer.Option(
            min=0,
            help="For experiments only: draws that repeat. A seed can be found by trying, and undoes the publication; left out, "
            "128 bits of fresh entropy are drawn.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            min=0,
            help="uhra, k-primacy: beliefs within this distance are clustered as one, for over 30,000 different ones.",
        ),
    ] = 0.0,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="anatomy, injector, m-invariance: put neighbours together instead of drawing. Queries are answered better; who "
            "knows the rule and one person's value reads most of the others'.",
        ),
    ] = False,
    infeasible: Annotated[
        Infeasible,
        typer.Option(
            help="A release that cannot be published: stop with an error, or suppress all its records and go on."
        ),
    ] = Infeasible["raise"],
    bucketized: Annotated[
        bool | None,
        typer.Option(
            "--bucketized/--generalized",
            help="Publish quasi-identifiers as they are beside each group's values, or blurred; as the defense has it.",
            show_default=False,
        ),
    ] = None,
    quote_formulas: Annotated[
        bool,
        typer.Option(
            "--quote-formulas",
            help="Write an apostrophe before published cells that a spreadsheet would run: those that begin with = + - @.",
        ),
    ] = False,
    overwrite: Overwrite = False,
    classes: Classes = 3,
    order: Order = 1,
    pseudo_count: Pseudo = 0.1,
    revision: HowRevised = Revision["filter"],
    gaps: HowGaps = Gaps["ignore"],
) -> None:
    """Group the records of every release, and write what the public may see.

    OUT/public is for the public: published.csv, and release.json, which says how it was made. OUT/private is the key:
    groups.csv says who is in which group (-1: suppressed; a row without a respondent is a counterfeit), and undoes the
    publication. Only you may read it; it is what `foreknow attack` reads. Where t is left out it is 0.5 for js-reduce and uhra,
    and beta 5 for bkaa and k-primacy. js-reduce, bkaa, uhra and k-primacy assume an adversary who knows the class frequencies of
    the records, and the chain of those before each release; as all of them count, publish a release once, and name a --corpus
    for the next.
    """
    choice = CHOICES[defense.value]
    _refuse_unread(context, "defense", defense.value, DEFENSE_READS)
    sources = [path for path in (records, corpus) if path is not None]
    ending = records.suffix.lower()
    public, private = Path(PUBLIC, f"published{ending}"), Path(PRIVATE, f"groups{ending}")
    names = [public, Path(PUBLIC, RELEASE), private, Path(PRIVATE, KEY)]
    check_output(out, names, sources, overwrite)
    _check_alone(out, public)
    columns = Columns(
        id_, time, sensitive, tuple(qi), tuple(hierarchy), tuple(categorical), encoding, tuple(missing_value)
    )
    tables = columns.read(*sources)
    schema = columns.schema(*tables)
    history = History.read(tables[0], schema, time)
    _tell_codes(schema, tables[0])
    kept = None if leftovers is None else leftovers.value
    asked = Thresholds(k, l, t, j, beta, m, kept, patience or None, seed, deterministic, tolerance)
    chosen = choice.make(asked)
    defender = None
    if choice.believes:
        learned = None if corpus is None else History.read(tables[1], schema, time)
        defender = assumed(history, learned, _learning(classes, order, pseudo_count, revision, gaps))
    releases = publish(
        history,
        chosen,
        defender,
        bucketized,
        infeasible=cast(Any, infeasible.value),
        rng=generator(seed, 1),
        progress=lambda views: tracked(views, "publishing", notices),
    )
    if not any(release.groups for release in releases):
        raise ValueError(
            f"{settings(chosen)} finds no group of these records that satisfies, and would publish nothing; ask for less."
        )
    shown = published_table(releases, time)
    formulas = formula_cells(shown)
    with atomic_output(out, sources, overwrite) as folder:
        (folder / PUBLIC).mkdir(mode=0o755)
        (folder / PRIVATE).mkdir(mode=0o700)
        write_table(without_formulas(shown) if quote_formulas else shown, folder / public)
        write_release(folder / public, releases, chosen)
        write_table(private_table(releases, columns), folder / private, private=True)
        write_key(folder / private, folder / public, records)
    _tell(releases, settings(chosen))
    _tell_formulas(formulas, quote_formulas)
    if seed is not None:
        _notice("--seed is for experiments: who finds it by trying undoes the draws. Publish without it.")
    _say(
        f"For the public: {out / public}, and {RELEASE} beside it.",
        f"The key, for you alone: {out / private}. It says who is in which group and undoes the publication: keep it apart.",
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
        Path | None,
        typer.Option(
            help="A folder for beliefs.csv, the posterior of everybody at every release; only you may read it."
        ),
    ] = None,
    overwrite: Overwrite = False,
    id_: Id = "id",
    time: Time = "week",
    hierarchy: Hierarchies = [],  # noqa: B006
    categorical: Categorical = [],  # noqa: B006
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006
    attack: Annotated[
        AttackName,
        typer.Option(help="With memory, each release alone, looking back, or by what the groups themselves teach."),
    ] = AttackName["sequential"],
    estimator: Annotated[EstimatorName, typer.Option(help="How a prior and a release make a belief.")] = EstimatorName[
        "auto"
    ],
    sensitive_set: Annotated[
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
    revision: HowRevised = Revision["filter"],
    gaps: HowGaps = Gaps["ignore"],
) -> None:
    """Attack what was published, and say how much of the truth it gives away at each release.

    The foreground attack needs no knowledge: it learns from the published groups what the people of each kind have, and turns
    that against everybody in them. It says what it learned, and with a --sensitive-set whom it links to it. A file of --groups that
    `foreknow publish` wrote must belong to the records and to the published table: the checksums beside it say so.
    """
    _refuse_unread(context, "attack", attack.value, ATTACK_READS)
    sources = [path for path in (records, corpus) if path is not None]
    believed = f"beliefs{records.suffix.lower()}"
    keep = [*sources, *([] if groups is None else [groups])]
    if out is not None:
        check_output(out, [believed], keep, overwrite)
    columns = Columns(
        id_, time, sensitive, tuple(qi), tuple(hierarchy), tuple(categorical), encoding, tuple(missing_value)
    )
    tables = columns.read(*sources)
    schema = columns.schema(*tables)
    history, releases = releases_of(tables[0], groups, columns, schema)
    if groups is not None and not check_key(groups, records):
        _notice(f"No {KEY} beside {groups} lists it: it is not checked that it belongs to {records}.")
    _tell_codes(schema, tables[0])
    rule = ESTIMATORS[estimator.value]()
    attacker: Attack
    if attack.value == "foreground":
        attacker = foreground_attack(schema, sensitive_set, attribute_set, support, r, rule)
    else:
        if corpus is None:
            _notice("No --corpus: the adversary's knowledge is mined from the published records themselves.")
        learning = _learning(classes, order, pseudo_count, revision, gaps)
        known = mine(History.read(tables[-1], schema, time), learning)
        attacker = ATTACKS[attack.value](learning.adversary(known.prior, known.transitions, rule))
    beliefs = attacker(tracked(releases, "attacking", notices))
    if out is not None:
        with atomic_output(out, keep, overwrite) as folder:
            write_table(report.posteriors(beliefs, time), folder / believed, private=True)
    if isinstance(attacker, ForegroundAttack) and isinstance(beliefs, ForegroundBeliefs):
        _tell_learned(beliefs, history, attacker.sensitive, r or 2)
    for part in report.attacked(beliefs, history, f"{attack.value} attack, {estimator.value} posterior"):
        console.print(part, markup=False)
    for note in beliefs.notes:
        _notice(note)
    if out is not None:
        _say(f"Everybody's posterior beliefs, for you alone: {out / believed}.")


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
    encoding: Encoding = "utf-8",
    missing_value: Missing = [],  # noqa: B006
) -> None:
    """Recompute what was asked of groups from a published table alone; exit status 1 if one requirement fails."""
    check_encoding_read(encoding, [published])
    table = read_table(published, [sensitive], encoding, ("", *missing_value))
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
        _notice(
            f"{lost:.0%} of the records are suppressed; loosen the thresholds, or try another defense, --patience or --leftovers."
        )
    if any(release.bucketized for release in releases):
        _notice(
            "Within a group, quasi-identifiers and sensitive values are sorted on their own: that they share a row says nothing. "
            "Say so to whom you publish."
        )
    for release in releases:
        for note in release.grouping.notes:
            _notice(f"at {release.time}: {note}")


def _tell_learned(
    beliefs: ForegroundBeliefs, history: History, sensitive_set: Collection[Hashable] | None, r: float
) -> None:
    """Print what the groups taught, and whom it links to a secret value."""
    sets = max(map(len, beliefs.knowledge), default=0)
    if sets:
        most = f", of {sets} the {report.SHOWN} worst" if sets > report.SHOWN else ""
        console.print(report.table(report.mined(beliefs), f"Global distributions{most}"))
        console.print(report.MINED, markup=False)
    if sensitive_set is not None:
        console.print(report.table(report.linked(beliefs, history, sensitive_set, r), f"Breaches, r = {r:g}"))
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


def _check_alone(out: Path, public: Path) -> None:
    """Raise ValueError if a published table of the other kind of file lies in the public folder, and would stay there."""
    other = out / public.with_suffix(".csv" if public.suffix == ".parquet" else ".parquet")
    if other.exists():
        raise ValueError(
            f"{other} is there, of another run, and would be published beside {public.name}; move it away, or name another folder."
        )


def _learning(classes: int, order: int, pseudo_count: float, revision: Revision, gaps: Gaps) -> Learning:
    return Learning(classes, order, pseudo_count, cast(RevisionRule, revision.value), cast(GapRule, gaps.value))


def _tell_codes(schema: Schema, table: pd.DataFrame) -> None:
    """Print the quasi-identifiers that are taken as numbers and may be codes."""
    if few := few_numbers(schema, table):
        codes = " ".join(f"--categorical {name}" for name in few)
        _notice(f"Taken as numbers, of few values: {', '.join(few)}. If they are codes, say {codes}.")


def _tell_formulas(cells: int, quoted: bool) -> None:
    """Print how many published cells a spreadsheet would run."""
    if cells and quoted:
        _notice(f"{cells} published cells begin like formulas, and have an apostrophe before them now.")
    elif cells:
        _notice(
            f"{cells} published cells begin like formulas (= + - @), which a spreadsheet may run; --quote-formulas writes an "
            "apostrophe before them."
        )


def _say(*lines: str) -> None:
    """Print lines on standard output, whatever text of files is in them."""
    for line in lines:
        console.print(visible(line), markup=False, highlight=False, soft_wrap=True)


def _notice(line: str) -> None:
    """Print a line on standard error, whatever text of files is in it."""
    notices.print(visible(line), markup=False, highlight=False, soft_wrap=True)


def _in_options(error: Exception) -> str:
    """An error's text, with the settings that it names in Python as options of the command."""
    text = str(error).strip()
    for python, option in ADVICE:
        text = re.sub(python, option, text)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} [...] {text[-LONGEST // 2 :]}"
    return text


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _notice(f"warning: {message}")


def main() -> None:
    """Run the command; bad input ends it with status 2 and one sentence."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (ValueError, OSError, ModuleNotFoundError, MemoryError, OverflowError) as error:
        message = Text.assemble(("error:", "bold red"), " ", visible(_in_options(error)))
        notices.print(message, highlight=False, soft_wrap=True)
        sys.exit(2)
