"""The command `foreknow report`: one page on the risk of a publication, for its publisher."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.adversary_knowledge import (
    KNOWLEDGE_OPTIONS,
    Learning,
    assumed_adversary,
    informed_adversary,
    knowing_ghosts,
    learned_adversary,
)
from foreknow.app.cli.attack_choices import (
    RECORDS,
    Attacked,
    AttackOptions,
    Corpus,
    check_attack_options,
    notice_compilation,
)
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.commands.attack_findings import bound_lines
from foreknow.app.cli.commands.compare_command import COMPARED
from foreknow.app.cli.commands.noisy_runs import (
    attacks_on,
    promise_table,
    releases_table,
    series_defense,
)
from foreknow.app.cli.defense_choices import (
    DefenseOptions,
    defense_choice,
    defense_name,
    defense_options,
    defense_text,
    fresh_seed,
    recorded_defense,
    seeded_generator,
)
from foreknow.app.cli.files.release_files import read_releases, read_statements
from foreknow.app.cli.files.run_settings import (
    cleaned_as_published,
    notice_unchecked_key,
    published_options,
    run_settings,
)
from foreknow.app.cli.options import (
    INPUT_PANEL,
    KNOWLEDGE_PANEL,
    OUTPUT_PANEL,
    REPORT_PANEL,
    FailOver,
    Overwrite,
    ReadTable,
    Seed,
    Sure,
    TableOptions,
    check_sure,
    flag_of,
    option,
    option_text,
    refuse_first,
    switch,
)
from foreknow.app.cli.terminal import TimeLeft, notice, say, say_verdict, tracked
from foreknow.app.cli.typed_commands import BOUNDS, SUPPRESSED_AS_TRIED, next_lines, unused_path
from foreknow.app.exposure import worst_sides
from foreknow.app.noisy_publication import NOT_COVERED, NoisySeries, series_at
from foreknow.app.publication import SETTINGS, key_at
from foreknow.app.report.adversaries import INFORMED, LEARNED
from foreknow.app.report.page import check_packages, noisy_page
from foreknow.app.report.report import MAX_STRICTER, Report, check_page_path, report
from foreknow.app.report.sentences import advised
from foreknow.attacks import Attack
from foreknow.defenses import Defense, DistinctDiversity, Injector, KAnonymity, Mondrian, publish
from foreknow.models import History, Release
from foreknow.models.advice import Advice, message_of
from foreknow.models.joint.problem import with_progress

SHARED_OPTIONS = (*KNOWLEDGE_OPTIONS, "knowledge", "solver")
"""Options of attacks that the two adversaries of the report read, whatever the other attack is."""

DETAILS = {RECORDS: INFORMED, LEARNED: LEARNED}
"""Adversary of the tables of respondents, by the value of --knowledge."""


@dataclass(frozen=True)
class ReportRun:
    """Options of `foreknow report`."""

    context: typer.Context
    table: TableOptions
    out: Annotated[Path, option("File of the report, as report.html; readable by you only.", "FILE", OUTPUT_PANEL)]
    attacked: AttackOptions
    known: Learning
    groups: Annotated[
        Path | None,
        option(
            "Group of each record; by default the column 'group' of the records. Without either, the records are published "
            "with the default defense first, for this report alone.",
            "FILE",
            INPUT_PANEL,
        ),
    ] = None
    names: Annotated[
        bool,
        switch(
            "--names",
            "Show the identifiers of respondents; by default they have numbers in the order of exposure.",
            REPORT_PANEL,
        ),
    ] = False
    sure: Sure = 0.9
    fail_over: FailOver = None
    stricter: Annotated[
        int,
        option(
            "Number of stricter settings to try; each is published and attacked anew. 0 saves the time.",
            "N",
            REPORT_PANEL,
            min=0,
            max=MAX_STRICTER,
        ),
    ] = 3
    seed: Seed = None
    corpus: Corpus = None
    knowledge: Annotated[
        Literal["learned", "records"] | None,
        option(
            "Adversary of the tables of respondents and groups: learned (from the releases alone) or records (who knows the "
            "original records, or the --corpus). By default the one who exposes more respondents.",
            "SOURCE",
            KNOWLEDGE_PANEL,
        ),
    ] = None
    overwrite: Overwrite = False

    @property
    def inputs(self) -> list[Path]:
        """All input files."""
        files = (*self.table.files, self.groups, self.corpus, self.attacked.statements)
        return [path for path in files if path is not None]

    @property
    def settings(self) -> Path:
        """Path of the settings of the page: report.settings.json for report.html."""
        return self.out.with_suffix(f".{SETTINGS}")


DEFAULT_DEFENSE = "js-reduce"
"""Defense of a publication for the report alone; that of `foreknow publish` if --defense is left out."""


class Publication(NamedTuple):
    """A publication, the defense that made it or one that is assumed in its place, and notes for the report."""

    history: History
    releases: tuple[Release, ...]
    defense: Defense | None
    assumed: Defense | None
    notes: tuple[str, ...]


def read_or_publish(read: ReadTable, groups: Path | None, learning: Learning, seed: int) -> Publication:
    """The publication that a file of groups or the column ``group`` describes, or one with the default defense."""
    if groups is None and "group" not in read.table.columns:
        return _trial(read.history, read.corpus, learning, seed)
    history, releases = read_releases(read.table, groups, read.columns, read.schema)
    defense = None if groups is None else recorded_defense(groups)
    if groups is not None and defense is not None:
        return Publication(history, _as_published(releases, groups, defense), defense, None, ())
    k = max(min((int(release.counts.sum(axis=1).min()) for release in releases if release.groups), default=2), 2)
    assumed = Mondrian(KAnonymity(k) & DistinctDiversity(2))
    note = (
        "The defense that made the groups is not recorded beside them. The stricter settings are those of another one, "
        f"{defense_text(assumed)}, from the size of the smallest group on."
    )
    return Publication(history, releases, None, assumed, (note,))


def _as_published(releases: tuple[Release, ...], groups: Path, defense: Defense) -> tuple[Release, ...]:
    """Releases with exact quasi-identifiers where they were published so, by the settings beside the key and the defense."""
    options = published_options(groups.parent / SETTINGS) or {}
    exact = bool(options.get("bucketized") or (is_bucketized(defense) and not options.get("generalized")))
    return tuple(Release(each.view, replace(each.grouping, bucketized=exact)) for each in releases)


def is_bucketized(defense: Defense) -> bool:
    """True if a defense publishes exact quasi-identifiers unless asked otherwise."""
    return bool(getattr(defense, "bucketized", isinstance(defense, Injector)))


def _trial(history: History, corpus: History | None, learning: Learning, seed: int) -> Publication:
    """A publication with the default defense, which is not written."""
    defense = defense_choice(DEFAULT_DEFENSE).make(DefenseOptions(seed=seed))
    said = (
        f"No groups are given: the report is about a trial publication by {defense_text(defense)}, which is not kept."
    )
    notice(f"{said} foreknow publish makes one to keep.")
    releases = publish(
        history,
        defense,
        assumed_adversary(history, corpus, learning),
        infeasible="suppress",
        rng=seeded_generator(seed, 1),
        progress=lambda views: tracked(views, "publishing"),
    )
    return Publication(history, releases, defense, None, (said,))


def report_command(run: ReportRun) -> Outcome:
    r"""Run `foreknow report`; its help text has the paragraphs below.

    The page is a file for your browser, and loads nothing from the network. It has true values: keep it as you keep the records.

    It shows two adversaries, by the joint attack: one who knows the prior and the transitions of the records or of a --corpus,
    and one who learned them from the releases alone. --attack adds another attack to the table of all attacks.

    With --groups of foreknow publish, up to three stricter settings of the same defense are tried, with their price; where people
    are exposed in several releases of another defense, also the cheapest cohorts whose mean gain is bounded by 5%.


    For example:
    records.csv has the columns id, week, age, city and diagnosis:
      foreknow report records.csv --qi age --qi city --sensitive diagnosis \
        --groups release/private/groups.csv --out report.html
    """
    if (noisy := series_at(run.groups)) is not None:
        return _report_noisy(run, noisy)
    run = run if run.groups is None else replace(run, groups=key_at(run.groups))
    # Options and output are refused before a file is read, files before anything is computed.
    check_sure(run.sure)
    check_attack_options(run.context, run.attacked, SHARED_OPTIONS)
    _check_output(run)
    check_packages()
    used = fresh_seed() if run.seed is None else run.seed
    with cleaned_as_published(run.groups, run.context):
        read = run.table.read(run.corpus)
        notice_unchecked_key(run.groups, run.table.records)
        made = read_or_publish(read, run.groups, run.known, used)
    also, estimator = _also(run, read, made), run.attacked.posterior
    source = "the original records" if run.corpus is None else f"the records of {run.corpus.name}"
    corpus = made.history if read.corpus is None else read.corpus
    notice_compilation()
    with TimeLeft("attacking by two adversaries") as shown:
        found = report(
            made.releases,
            knowing_ghosts(informed_adversary(corpus, run.known, estimator), made.releases),
            partial(learned_adversary, learning=run.known, estimator=estimator, progress=shown.parts),
            also=also,
            defense=made.defense,
            assumed=made.assumed,
            defender=assumed_adversary(made.history, read.corpus, run.known),
            solver=with_progress(run.attacked.joint_solver, shown.parts),
            sure=run.sure,
            bound=run.fail_over,
            details=None if run.knowledge is None else DETAILS[run.knowledge],
            names=run.names,
            stricter=run.stricter,
            notes=[
                *made.notes,
                *read.changes,
                f"The informed adversary learned frequencies and changes of values from {source}.",
            ],
            rng=used,
            progress=shown.steps,
        )
        shown.update("drawing the page")
        found.save(run.out, overwrite=run.overwrite)
        with atomic_output(run.out.parent, run.inputs, run.overwrite) as folder:
            write_json(folder / run.settings.name, run_settings(run.context, run.inputs, used))
    share = max((each.exposed / max(each.respondents, 1) for each in found.contents.headlines.values()), default=0.0)
    told = found.verdict
    advice = [f"What to change: {told.advice}"] if told.advice else []
    say_verdict(told.sentence, told.reasons, *filter(None, [told.adversaries]), *bound_lines(run.fail_over), *advice)
    say(f"The report, for you alone: {run.out}. Open it in a browser. Seed: {used}, kept in {run.settings.name}.")
    say(*_next(run, found, made, used))
    failed = run.fail_over is not None and share > run.fail_over
    return Outcome(_content(run, found, used) | {"fail_over": run.fail_over, "failed": failed}, failed)


def _report_noisy(run: ReportRun, series: NoisySeries) -> Outcome:
    """Write a page on noisy counts: the verdict, the promise, both gains, and the limits of the promise."""
    given = given_options(run.context)
    unread = {
        f"{flag_of(name)} is not read for noisy counts; leave it out.": name in given for name in ("names", "stricter")
    }
    refuse_first(unread)
    check_sure(run.sure)
    _check_output(run)
    check_packages()
    chosen = replace(run.attacked, learning=run.known, source=run.knowledge)
    made = attacks_on(run.table, run.corpus, chosen, series, run.sure, run.context)
    lines = made.lines(run.fail_over)
    state = worst_sides([one.exposed.sides for one in made.found]).verdict(run.fail_over)
    tables = [
        promise_table(series.promise),
        made.table(f"Risk at each release, to {made.found[0].exposed.to}", run.sure),
        releases_table("Published counts", made.published),
    ]
    defense = defense_text(series_defense(series))
    html = noisy_page(state.of(run.fail_over), state.name.lower(), lines, defense, tables, NOT_COVERED)
    with atomic_output(run.out.parent, run.inputs, run.overwrite) as folder:
        page = folder / run.out.name
        page.touch(mode=0o600)
        page.write_text(html, encoding="utf-8")
        write_json(
            folder / run.settings.name, run_settings(run.context, [*run.table.files, run.corpus, series.table_path])
        )
    say_verdict(*lines, *bound_lines(run.fail_over))
    say(f"The report, for you alone: {run.out}. Open it in a browser. Its settings: {run.settings.name}.")
    return made.outcome(run.fail_over, {"page": str(run.out), "settings": str(run.settings)})


def _check_output(run: ReportRun) -> None:
    """Raise ValueError, with the option in the message, unless the page may be written."""
    try:
        check_page_path(run.out, run.overwrite, run.inputs)
        check_output(run.out.parent, [run.settings.name], run.inputs, run.overwrite)
    except ValueError as error:
        raise ValueError(Advice("--out ", message_of(error))) from None


def _also(run: ReportRun, read: ReadTable, made: Publication) -> dict[str, Attack]:
    """The attack of --attack, if it is another than the joint attack, with its name on the page."""
    stated = read_statements(run.attacked.statements, read.schema, run.table.encoding)
    if run.attacked.attack == "joint":
        return {}
    chosen = replace(run.attacked, learning=run.known, source=RECORDS)
    files = Attacked(read.schema, made.history, made.releases, read.corpus, stated, made.defense or made.assumed)
    return {f"--attack {chosen.attack}": chosen.choice.make(chosen, files)}


def _next(run: ReportRun, found: Report, made: Publication, seed: int) -> list[str]:
    """Lines that name the next command where people are exposed: publish with the setting of lowest risk, as tried, or compare."""
    if not any(each.exposed for each in found.contents.headlines.values()):
        return []
    best = advised(found.contents.stricter.to_dict("records"), run.fail_over)
    chosen = None if best is None else found.contents.tried[str(best["setting"])]
    options = None if chosen is None else defense_options(chosen)
    if chosen is None or options is None:
        present = None if made.defense is None else defense_options(made.defense)
        published = {} if run.groups is None else published_options(run.groups.parent / SETTINGS) or {}
        name, _, others = (present or str(published.get("defense", ""))).partition(" ")
        names = [option_text("defense", [name, *(each for each in COMPARED if each != name)])] if name else []
        return next_lines(run.context, "compare", *names, others, also=("solver", *BOUNDS, *KNOWLEDGE_OPTIONS))
    read, bucketized = defense_choice(defense_name(chosen)).options, made.releases[0].bucketized
    # A trial publishes the quasi-identifiers as they were, also where that is not the default of the defense.
    notation = [] if bucketized == is_bucketized(chosen) else ["--bucketized" if bucketized else "--generalized"]
    tried = (*notation, "--infeasible suppress", option_text("seed", seed))
    more = (f"--defense {options}", *tried, f"--out {unused_path('safer')}")
    lines = next_lines(run.context, "publish", *more, also=[name for name in KNOWLEDGE_OPTIONS if name in read])
    return [SUPPRESSED_AS_TRIED, *lines]


def _content(run: ReportRun, found: Report, seed: int) -> dict[str, Any]:
    """A report as JSON has it: the verdict, the headline of each adversary, and the stricter settings."""
    told, contents = found.verdict, found.contents
    return {
        "verdict": " ".join(filter(None, [told.sentence, told.reasons, told.adversaries])),
        "state": told.state,
        "advice": told.advice,
        "sure": contents.settings.sure,
        "adversaries": {
            name: {
                "respondents": each.respondents,
                "exposed": each.exposed,
                **each.sides.content,
                "known_before": each.known,
                "measures": each.table,
            }
            for name, each in contents.headlines.items()
        },
        "stricter": contents.stricter,
        "seed": seed,
        "page": str(run.out),
        "settings": str(run.settings),
        "solver": run.attacked.solver,
    }
