"""The command `foreknow attack`: beliefs of an adversary and their risk, of records, a run from disk, or published tables alone."""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.adversary_knowledge import KNOWLEDGE_OPTIONS, learned_from, terminal_rule
from foreknow.app.cli.attack_choices import (
    CHOICES,
    GHOSTS,
    LEARNED,
    RECORDS,
    Attacked,
    AttackOptions,
    AttackRun,
    beliefs_of,
    notice_compilation,
)
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.commands.attack_findings import (
    CORPUS,
    KNOWERS,
    Found,
    adversaries_content,
    at_risk,
    bound_lines,
    by_exposure,
    exposure_content,
    files_content,
    findings,
    goal_table,
    in_words,
    is_over,
    notice_others,
    notice_suppression,
    posterior_table,
    report_attack,
    risk_columns,
    say_files,
    shown_values,
    verdict_lines,
    write_attack,
)
from foreknow.app.cli.commands.check_folder import AT_RISK, BELIEFS, written_sums
from foreknow.app.cli.commands.noisy_runs import attacks_on, promise_table
from foreknow.app.cli.defense_choices import recorded_defense
from foreknow.app.cli.files.columns import InputFiles, notice_codes
from foreknow.app.cli.files.large_tables import large_tables, notice_interrupted, refuse_in_memory
from foreknow.app.cli.files.published_tables import PublishedFiles, PublishedRelease
from foreknow.app.cli.files.register import LinkedRelease, Register
from foreknow.app.cli.files.release_files import read_releases, read_statements
from foreknow.app.cli.files.run_settings import cleaned_as_published, notice_unchecked_key, run_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import check_pictures, check_sure, flag_of, option_text, refuse_first
from foreknow.app.cli.pictures import BELIEF, GAIN, draw_attack, draw_beliefs
from foreknow.app.cli.pictures import BELIEFS as BELIEFS_PICTURE
from foreknow.app.cli.terminal import (
    PrintedTable,
    definitions,
    error_console,
    notice,
    say,
    say_sentences,
    say_verdict,
    show,
    show_explained,
    tracked,
)
from foreknow.app.cli.typed_commands import (
    BOUNDS,
    check_lines,
    next_lines,
    paths_of,
    table_options,
    typed_lines,
    unused_path,
)
from foreknow.app.exposure import Exposure, TwoSides, exposure_of_records
from foreknow.app.noisy_publication import NoisySeries, refuse_counts, series_at
from foreknow.app.publication import (
    BEGUN,
    MANIFEST,
    ONE_RELEASE,
    PRIVATE,
    SETTINGS,
    check_no_extra_file,
    key_at,
    listed_in,
    read_json,
)
from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.evaluation.checks.program import checksum
from foreknow.evaluation.loss.generalization_loss import price, suppressed
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import Adversary, Beliefs, GhostChain, History, Release
from foreknow.models.arrays import object_array
from foreknow.models.notes import as_note
from foreknow.models.tables.atomic_file import locked

if TYPE_CHECKING:
    from foreknow.app.disk.measures import LargeMeasures
    from foreknow.app.disk.publication import LargeReleases


REPORTED = (*(each.name for each in fields(AttackOptions)), *KNOWLEDGE_OPTIONS, "groups", "knowledge", *BOUNDS)
"""Parameters that `foreknow report` reads as `foreknow attack` does, besides those of the table."""


REPORTS = "A report judges by two adversaries of its own, and reads no scenario; --attack adds a row to the table of its numbers."
"""Sentence above the proposed report, whose verdict may be another one."""


def attack_command(run: AttackRun) -> Outcome:
    r"""Run `foreknow attack`; its help text has the paragraphs below.

    In technical terms: the posterior beliefs of an adversary with background knowledge about the members of the published groups,
    and the adversary's gain, confidence and success at each release.

    The attacks joint, sequential, snapshot, retrospective and signature have an adversary, who knows a prior and a Markov chain:
    learned from a --corpus or by --knowledge. Without these options there are two, as in foreknow report: one who learned from the
    releases alone, by expectation-maximization, and one who knows the statistics of the records. The verdict names both, and
    --fail-over counts the worst.

    The joint attack reasons over all respondents and all releases together, and in hindsight: later releases disclose what
    earlier ones hid. The sequential attack, release by release, is printed beside it.

    The foreground attack needs no prior knowledge: it learns global distributions from the published groups, and infers from
    them the values of the group members. With a --sensitive-set, breaches are printed as well. The definetti attack does so with
    all attributes at once, by naive Bayes.

    Composition assumes that values do not change. Maxent takes each release alone, with --statements. Minimality knows that the
    groups are those of foreknow publish --defense mondrian with -k and -l.

    A file of --groups that foreknow publish wrote must belong to the records and to the published table; the checksums beside the
    file are compared.

    With --scenario, who attacks is one name or one file, which settles the options of the adversary and the attack.

    With the folder of noisy counts in --groups, the joint attack reads them, by an adversary who knows the statistics of the
    records or of a --corpus. The gain is over the law of the values before any release, and that of an adversary who knows
    all others stands beside it.

    With --from-disk, --groups is the folder of foreknow publish --from-disk. The attack is joint (--solver
    group-messages, group-graph or max-entropy), sequential or snapshot, and the adversary learned from --corpus or from the
    records. The joint attack alone reads --presence there.

    With --published, RECORDS is a published table found elsewhere, and there are no originals: no truth to compare with. Beliefs
    are about the persons of a register (--people), who are linked to a group where the labels and the sizes of the groups
    determine it. Other records are those of unknown persons.


    Parts of the adversary's knowledge that each attack reads. Those marked - it leaves out by definition; it refuses the others:
                     joint  sequential  snapshot  retrospective  signature
      prior            x        x          x            x            x
      transitions      x        x          -            x            x
      compromised      x        x          x            x            x
      presence         x        x          -
      relations        x
      membership                           x
      mechanism        x         x          x
      program                   x          x            x            x
      own              x        x          x

    For example:
    records.csv has the columns id, week, age, city and diagnosis:
      foreknow attack records.csv --qi age --qi city --sensitive diagnosis \
        --groups release/private/groups.csv --out risk
      foreknow attack release/public/published.csv --published \
        --qi age --qi city --sensitive diagnosis
    """
    check_sure(run.sure)
    run = run.settled
    if (noisy := series_at(run.groups)) is not None:
        return _attack_noisy(run, noisy)
    if run.chosen.settled is not None:
        run.check_attack()
    if run.from_disk:
        return _attack_from_disk(run)
    run.disk.refuse_given("records are read into memory")
    check_pictures(run.pictures, run.out)
    if run.tables.published:
        return _attack_published(run)
    for name, value in {
        "a second table": run.tables.later,
        "--people": run.tables.people,
        "--group": run.tables.group,
    }.items():
        if value:
            raise ValueError(
                f"{name} is read with --published alone, where RECORDS is a published table; add it, or leave it out."
            )
    return _attack_records(run)


def _attack_records(run: AttackRun) -> Outcome:
    """Attack the groups of original records, print the risk and, with --out, write beliefs and exposed respondents."""
    run = run if run.groups is None else replace(run, groups=key_at(run.groups))
    run.check_attack()
    if run.out is not None:
        pictures = (GAIN, BELIEF) if run.pictures else ()
        check_output(run.out, [*run.names, *pictures], run.inputs, run.overwrite)
    with cleaned_as_published(run.groups, run.context):
        read, history = _read(run)
    found = findings(run.attack, read, history, run.sure)
    _, attack, beliefs, _ = found[0]
    sequential = _sequential_beside(attack, read.releases)
    verdict = verdict_lines([one.exposed for one in by_exposure(found)], run.fail_over)
    beside = f"The tables are about {found[0].exposed.to}; with --knowledge"
    say_verdict(
        *verdict, *bound_lines(run.fail_over), *(f"{beside} {other.source} about the other." for other in found[1:])
    )
    report_attack(run.attack, attack, beliefs, sequential, history, run.sure)
    notice_others(found)
    goal = goal_table(run.chosen.settled, beliefs, history)
    if run.out is not None:
        _write(run, run.out, read, history, found, sequential)
    cost = suppressed(read.releases)
    notice_suppression(cost)
    _end(run, verdict)
    content = (
        adversaries_content(found, run.fail_over)
        | {"attack": run.chosen.attack, "solver": run.chosen.solver if run.chosen.choice.solves else None}
        | {"seed": run.seed, "suppressed": price(cost).withheld}
        | {"releases": risk_columns(risk_table(beliefs, history))}
        | ({} if goal is None else {"goal": goal})
        | files_content(run)
    )
    return Outcome(content, any(is_over(one.exposed, run.fail_over) for one in found))


def _attack_noisy(run: AttackRun, series: NoisySeries) -> Outcome:
    """Attack noisy counts by the joint adversary, and by one who knows all others; print both gains beside the promise."""
    run = replace(run, groups=series.table_path)
    run.check_attack()
    if run.out is not None:
        check_output(run.out, run.names, run.inputs, run.overwrite)
    made = attacks_on(run.table, run.corpus, run.attack, series, run.sure, run.context)
    verdict = made.lines(run.fail_over)
    say_verdict(*verdict, *bound_lines(run.fail_over))
    show_explained(made.table(run.attack.title, run.sure), promise_table(series.promise))
    if run.out is not None:
        names = {"value": "believed"}
        columns = ["respondent", "time", "believed", "belief", "prior", "adversary"]
        risky = [one.exposed.at_risk.assign(adversary=one.source or "") for one in by_exposure(made.found)]
        beliefs = posterior_table(made.found[0].beliefs, run.table.columns.time).rename(columns={"group": "cell"})
        write_attack(
            run, run.out, beliefs, pd.concat(risky, ignore_index=True).rename(columns=names)[columns], lambda _: None
        )
    _end(run, verdict)
    return made.outcome(run.fail_over, {"attack": run.chosen.attack} | files_content(run))


def _end(run: AttackRun, verdict: Sequence[str]) -> None:
    """Print the verdict again, where the files are, and the next command."""
    say_sentences(*verdict)
    if run.chosen.solver == "path-sampler":
        say(f"Seed: {run.seed}.")
    if run.out is not None:
        say_files(run)
    say_sentences(REPORTS)
    say(*next_lines(run.context, "report", f"--out {unused_path('report.html')}", also=REPORTED))


def _read(run: AttackRun) -> tuple[Attacked, History]:
    """The records and their releases, the corpus and the statements, with one schema."""
    records = run.table.read(run.corpus)
    history, releases = read_releases(records.table, run.groups, records.columns, records.schema)
    notice_unchecked_key(run.groups, run.table.records)
    notice_codes(records.schema, records.table)
    stated = read_statements(run.chosen.statements, records.schema, run.table.encoding)
    defense = None if run.groups is None else recorded_defense(run.groups, "Cohorts")
    return Attacked(records.schema, history, releases, records.corpus, stated, defense), history


def _sequential_beside(attack: Attack, releases: Sequence[Release]) -> Beliefs | None:
    """Beliefs of the sequential attack of the same adversary, for comparison with the joint attack; None for other attacks."""
    if not isinstance(attack, JointAttack):
        return None
    return SequentialAttack(attack.adversary)(tracked(releases, "attacking release by release"))


def _write(
    run: AttackRun, out: Path, read: Attacked, history: History, found: list[Found], sequential: Beliefs | None
) -> None:
    """Write beliefs, settings, pictures, and the respondents exposed to each adversary, the worst first."""
    _, _, beliefs, exposed = found[0]
    time = run.table.columns.time
    drawn = {run.chosen.attack: beliefs} | ({} if sequential is None else {"sequential": sequential})
    people = exposed.at_risk if exposed.exposed else exposed.people  # in decreasing order of the belief
    person: Hashable | None = people["respondent"].tolist()[0] if len(people) else None
    draw = partial(draw_attack, attacks=drawn, history=history, person=person, time=time)
    risky = []
    for one in by_exposure(found):
        beside = sequential if one is found[0] else _sequential_beside(one.attack, read.releases)
        table = at_risk(one.exposed, one.attack, one.beliefs, beside, read)
        risky.append(table.assign(adversary=one.source or ""))
    filled = pd.concat([table for table in risky if len(table)] or risky[:1], ignore_index=True)
    with error_console.status("writing"):
        write_attack(run, out, posterior_table(beliefs, time), filled, draw)


DISK_SOLVERS = ("group-messages", "group-graph", "max-entropy")
"""Solvers of the joint attack on a publication from disk, the default first."""

IN_MEMORY = (
    "published", "people", "group", "sensitive_set", "attribute_set", "support", "r", "statements", "k", "l", "seed",
    "pictures",
)  # fmt: skip
"""Options of `foreknow attack` that are read without --from-disk alone."""


def _attack_from_disk(run: AttackRun) -> Outcome:
    """Attack a publication from disk, print its risk and, with --out, keep beliefs and exposed respondents.

    An interrupted run goes on.
    """
    from foreknow.app.disk.engine import shared_folder  # DuckDB is loaded where it is used

    if "solver" not in given_options(run.context):
        run = replace(run, chosen=replace(run.chosen, solver=DISK_SOLVERS[0]))
    published = _checked(run)
    joint = run.chosen.choice.solves
    notice_compilation(run.chosen.solver if joint else None, run.chosen.estimator, learns=False)
    adversary = _adversary(run, published)
    if run.out is None:
        with shared_folder(run.disk.engine("attacking"), published.folder / PRIVATE) as folder:
            told = _attack(run, published, adversary, folder / BELIEFS)
            found = _measured(run, published, adversary, folder / BELIEFS, folder)
    else:
        told = _attack(run, published, adversary, run.out / BELIEFS)
        with atomic_output(run.out, [run.table.records], run.overwrite) as folder:
            found = _measured(run, published, adversary, run.out / BELIEFS, folder)
            (folder / AT_RISK).chmod(0o600)
            settings = run_settings(run.context, [*run.table.files, run.corpus])
            write_json(folder / SETTINGS, settings | written_sums(run.out, folder))
    releases = risk_columns(found.risk.rename(columns={"measured": "published"}))
    show(PrintedTable(releases, run.attack.title))
    for note in told["notes"]:
        notice(note)
    exposed = Exposure(
        sure=run.sure,
        respondents=found.published_respondents,
        exposed=found.exposed,
        known=found.known,
        first=found.first,
        people=pd.DataFrame(),
        to=KNOWERS[RECORDS if run.corpus is None else CORPUS],
        upper=found.sides,
    )
    say_sentences(*verdict_lines([exposed], run.fail_over), *bound_lines(run.fail_over))
    if run.out is not None:
        say(
            f"Beliefs, for you alone: {run.out / BELIEFS}. Exposed respondents: {run.out / AT_RISK}.",
            f"Settings: {run.out / SETTINGS}.",
            "To compare these files with their checksums:",
            *typed_lines(f"check {paths_of([run.out])}"),
        )
    assert run.groups is not None
    say(*check_lines(run.groups))
    made = {"attack": run.chosen.attack, "solver": run.chosen.solver if joint else None, "releases": releases}
    files = [] if run.out is None else [str(run.out / each) for each in (BELIEFS, AT_RISK, SETTINGS)]
    doubts = {name: told[name] for name in ("doubtful_groups", "notes")}
    content: dict[str, Any] = exposure_content(exposed, run.fail_over) | made | doubts | {"files": files}
    return Outcome(content, is_over(exposed, run.fail_over))


def _checked(run: AttackRun) -> "LargeReleases":
    """The publication, if all options are read from disk and belong together."""
    from foreknow.app.disk.publication import LargeReleases

    refuse_in_memory(run.context, *IN_MEMORY)
    name, solver, in_memory = run.chosen.attack, run.chosen.solver, "needs all releases in memory. From disk:"
    row, others = run.chosen.choice, ", ".join(each for each, choice in CHOICES.items() if choice.from_disk)
    run.check_attack()
    refuse_first(
        {
            f"--attack {name} {in_memory} {others}; or leave out --from-disk.": not row.from_disk,
            f"--solver {solver} {in_memory} {', '.join(DISK_SOLVERS)}; or leave out --from-disk.": (
                row.solves and solver not in DISK_SOLVERS
            ),
            "--estimator is not read by the joint attack from disk; leave it out, or choose --attack sequential, snapshot.": (
                row.solves and "estimator" in given_options(run.context)
            ),
            f"--presence is not read by --attack {name} from disk; leave it out, or choose --attack joint.": (
                run.known.presence and not row.solves
            ),
            f"--order {run.known.order} is not read with --from-disk; the adversary has order 1.": run.known.order != 1,
            f"--knowledge learned {in_memory} --knowledge records, or --corpus FILE.": run.knowledge == LEARNED,
            "--from-disk needs --groups FOLDER, the folder of foreknow publish --from-disk.": (
                run.groups is None or not run.groups.is_dir()
            ),
        }
    )
    if run.out is not None:
        check_output(run.out, [AT_RISK, SETTINGS], [run.table.records], run.overwrite)
    assert run.groups is not None
    published = LargeReleases(run.groups)
    _check_records(run, published)
    key = key_at(run.groups)
    if terminal_rule(recorded_defense(key, "Cohorts")) is not None:
        raise ValueError(
            f"{run.groups} was published with --terminal, whose rule tells values, and is read in memory alone: "
            f"{option_text('groups', key)}, without --from-disk."
        )
    return published


def _check_records(run: AttackRun, published: "LargeReleases") -> None:
    """Raise ValueError unless the records are those that were published, with the same roles of their columns."""
    from foreknow.app.disk.publication import input_checksums

    schema = published.schema
    roles = {*schema.quasi_identifiers}, schema.sensitive, schema.respondent
    refuse_first(
        {
            f"{run.groups} was published with --qi {' --qi '.join(map(str, schema.quasi_identifiers))} --sensitive "
            f"{schema.sensitive} --id {schema.respondent}; give the same.": (
                ({*run.table.qi}, run.table.sensitive, run.table.id_) != roles
            ),
            f"{run.table.records} is not the file that {run.groups} was made from: its checksum is another. Give that file, or "
            "publish again.": checksum(run.table.records) not in input_checksums(published),
        }
    )


def _adversary(run: AttackRun, published: "LargeReleases") -> Adversary:
    """The adversary, who knows the records or a corpus."""
    if run.corpus is None:
        notice("No --corpus: the adversary learns from the published records themselves, more than an outsider knows.")
    engine = run.disk.engine("learning, blocks of a release")
    with cleaned_as_published(key_at(published.folder), run.context):
        tables = large_tables(run.table, run.context, engine, run.corpus)
        source = tables[0] if tables[1] is None else tables[1]
        # The beliefs have the codes of the publication.
        coded = type(source)(source.files, published.schema, source.time)
        learned = learned_from(coded, run.known, engine)
    adversary = run.known.adversary(learned.prior, learned.transitions, run.attack.posterior, learned.presence)
    if not any(one.ghosts for one in published.releases):
        return adversary
    notice(GHOSTS)
    return replace(adversary, mechanism=GhostChain())


def _remove_earlier(out: Path) -> None:
    """Remove the beliefs, the exposed respondents and the settings of an earlier run from disk, if no run holds a lock.

    Raises
    ------
    ValueError
        If complete beliefs have a file beside them that would be removed, too.
    """
    from foreknow.app.disk.begun_runs import remove_run

    beliefs = out / BELIEFS
    if not (beliefs / BEGUN).exists():
        return
    with locked(out), locked(beliefs):
        if (beliefs / MANIFEST).exists():
            check_no_extra_file(beliefs, listed_in(beliefs / MANIFEST))
        for name in (AT_RISK, SETTINGS):
            (out / name).unlink(missing_ok=True)
        remove_run(beliefs)


def _attack(run: AttackRun, published: "LargeReleases", adversary: Adversary, beliefs: Path) -> dict[str, Any]:
    """Write the beliefs, unless a run that was killed before their measures were written has done so; return their manifest.

    With --overwrite, those of an earlier run are removed, once the attack is known to be possible.
    """
    from foreknow.app.disk import attack_large
    from foreknow.app.disk.attack import checked_attack
    from foreknow.app.disk.begun_runs import AlreadyComplete

    is_snapshot = run.chosen.attack == "snapshot"
    attack: SequentialAttack | JointAttack = SequentialAttack(
        adversary.without("transitions") if is_snapshot else adversary
    )
    blocks = "blocks of a release"
    if run.chosen.choice.solves:
        attack = JointAttack(adversary, run.attack.joint_solver, hindsight=not run.forward, signatures=run.signatures)
        blocks = "partitions of the respondents"
    if run.out is not None and run.overwrite:
        checked_attack(published, attack)
        _remove_earlier(run.out)
    notice_interrupted(beliefs, beliefs / "work")
    with suppress(AlreadyComplete):
        attack_large(published, attack, beliefs, engine=run.disk.engine(f"attacking, {blocks}"))
    return read_json(beliefs / MANIFEST)


def _measured(
    run: AttackRun, published: "LargeReleases", adversary: Adversary, beliefs: Path, folder: Path
) -> "LargeMeasures":
    """The measures, with both sides of the verdict; the exposed respondents are written."""
    from foreknow.app.disk import bound_large, measure_large
    from foreknow.app.disk.engine import shared_folder

    engine = run.disk.engine("measuring, blocks of a release")
    bounds, cause = None, FORWARD
    with shared_folder(engine, published.private) as work:
        if not (run.chosen.choice.solves and run.forward):
            bounding = run.disk.engine("bounding beliefs, batches of respondents")
            try:
                bounds = bound_large(published, adversary, work / "bounds", engine=bounding)
            except ValueError as error:
                cause = str(error).rstrip(".")
        found = measure_large(
            published, beliefs, adversary, sure=run.sure, at_risk=folder / AT_RISK, bounds=bounds, engine=engine
        )
    if bounds is None:
        found = replace(found, sides=TwoSides(found.exposed, found.published_respondents, None, cause))
    return found


FORWARD = "from disk bounds are on beliefs given all releases, and do not hold for those given the releases up to each (--forward)"
"""Reason for which there is no bound."""


READ_WITHOUT_PEOPLE = {
    "records", "later", "published", "group", "qi", "sensitive", "time", "encoding", "missing_value", "separator", "equal_values",
    "missing", "time_format", "sure", "fail_over", "out", "pictures", "overwrite", "as_json", "config",
}  # fmt: skip
"""Parameters that are read without a register of persons."""

LINKED_TERMS = {
    "linked": "number of persons whose group is determined",
    "open": "number of persons who fit a group, and may be in it or not",
    "highest": "mean over the linked persons of the belief in their most probable value",
    "sure": "number of linked persons with a belief of at least --sure",
    "expected": "sum of these beliefs: the number of them that the adversary expects to be right",
}
"""Meaning of the columns of `linked_per_release`."""

MEMBER_TERMS = {
    "smallest": "number of records of the smallest group",
    "certain": "number of records in groups with a single value",
    "highest": "mean over the records of the share of the most frequent value of their group",
    "sure": "number of records in groups in which that share is at least --sure",
}
"""Meaning of the columns of `members_per_release`."""

PERSON_COLUMNS = ("respondent", "time", "believed", "belief", "prior", "share", "group", "group_values")
"""Columns of the persons at risk."""


def _attack_published(run: AttackRun) -> Outcome:
    """Attack published tables with a register of persons, or measure the risk of an unknown member of each group."""
    _check_published_options(run)
    refuse_counts(_published_paths(run), "attack the original records, with its folder as --groups")
    if run.out is not None:
        check_output(run.out, [*run.names, *([BELIEFS_PICTURE] if run.pictures else [])], run.inputs, run.overwrite)
    columns = run.table.columns_at(run.table.time or ONE_RELEASE)
    sensitive, files = columns.sensitive, InputFiles(columns.encoding, columns.separator, columns.missing)
    shown = columns.quasi_identifiers, run.tables.group, run.table.time
    read = PublishedFiles(_published_paths(run), sensitive, *shown, files, columns.cleaning)
    records, time = read.read()
    if run.tables.people is None:
        values = tuple(sorted(records[sensitive].unique().tolist()))
        return _attack_unknown_members(run, read.releases(records, time, values), values, time)
    columns = run.table.columns_at(time or ONE_RELEASE)
    times = [] if time is None else records[time].unique().tolist()
    register = Register.read(run.tables.people, run.corpus, columns, records[sensitive], times)
    return _attack_persons(run, register, read.releases(records, time, register.schema.values), time or ONE_RELEASE)


def _published_paths(run: AttackRun) -> tuple[Path, ...]:
    return (run.table.records, *run.tables.later)


def _check_published_options(run: AttackRun) -> None:
    """Raise ValueError if an option is given that published tables alone, without or with persons, do not answer."""
    given = [] if run.tables.people else sorted(given_options(run.context) - READ_WITHOUT_PEOPLE)
    refuse_first(
        {
            "--groups is the key of original records, and --published has none; name the column of the group by --group.": (
                run.groups is not None
            ),
            "--knowledge records needs the original records, and --published has none; name a --corpus.": (
                run.knowledge == RECORDS
            ),
            f"{', '.join(map(flag_of, given))}: without a register of persons, records are linked by their group "
            "alone, and an unknown member has each value with its share of the group. Name the register by --people FILE, or "
            "leave it out.": given,
        }
    )
    run.check_attack()


def _attack_persons(run: AttackRun, register: Register, published: Sequence[PublishedRelease], time: str) -> Outcome:
    """The beliefs of an adversary with a register."""
    releases = [register.link(release) for release in tracked(published, "linking persons")]
    chosen, choice = run.chosen, run.chosen.choice
    stated = read_statements(chosen.statements, register.schema, run.table.encoding)
    attack = choice.make(run.attack, Attacked(register.schema, None, releases, register.corpus, stated))
    beliefs = beliefs_of(chosen.attack, attack, releases)
    source = LEARNED if run.corpus is None else CORPUS
    found = exposed_linked(beliefs, run.sure, in_words(source if choice.has_adversary else None, chosen.attack))
    table = linked_per_release(beliefs, releases, run.sure)
    # The number of the believed values that the adversary expects to be true.
    expected = float(found.at_risk["belief"].sum())
    verdict = _linked_verdict(found, expected, run.fail_over)
    say_verdict(verdict, *bound_lines(run.fail_over))
    show(PrintedTable(table, f"{run.attack.title}, published tables alone"))
    show(definitions(LINKED_TERMS))
    records, unlinked = int(table["records"].sum()), int((table["records"] - table["linked"]).sum())
    if unlinked:
        notice(
            f"{unlinked:,} of {records:,} records are not linked: the register and the groups do not determine "
            "whose they are. They count as records of unknown persons, each value equally likely beforehand. Persons who are not "
            "linked are not counted, though more may be inferred about them."
        )
    for note in beliefs.notes:
        # Counterfeits are the records of unknown persons, of which the notice above speaks.
        if "counterfeits" not in as_note(note).of:
            notice(note)
    if run.out is not None:
        highest = np.concatenate(
            [one.posterior.probabilities[one.observation.group >= 0].max(axis=1) for one in beliefs]
        )
        what, of = "belief in the most probable value", "linked records"
        draw = partial(draw_beliefs, beliefs=highest, records=np.ones(len(highest)), sure=run.sure, what=what, of=of)
        write_attack(run, run.out, posterior_table(beliefs, time), found.at_risk[list(PERSON_COLUMNS)], draw)
        say_files(run)
    say_sentences(verdict)
    content = {"attack": chosen.attack, "seed": run.seed, "releases": table}
    content |= {"linked": found.respondents, "believed": found.exposed, "known_before": found.known}
    return _published_outcome(run, verdict, found.share, content | {"expected": expected})


def _linked_verdict(found: Exposure, expected: float, fail_over: float | None) -> str:
    """The verdict in one line."""
    if not found.respondents:
        return "No person of the register is linked to a group, so nothing is inferred about one."
    n, number, verdict = found.respondents, found.exposed, found.sides.verdict(fail_over).of(fail_over)
    known = f" ({found.known:,} more had one before any release)" if found.known else ""
    if not number:
        told = f"{verdict}: none of {n:,} linked persons is exposed to {found.to}"
        return f"{told}; no belief in a value reaches {found.sure:g}{known}."
    return (
        f"{verdict}: {number:,} of {n:,} linked persons {'are' if number > 1 else 'is'} exposed to {found.to}: a belief of at "
        f"least {found.sure:g} in a value at some release{known}; the adversary expects {expected:.1f} of these values to be "
        "true. Without the originals this is not checked."
    )


def _attack_unknown_members(
    run: AttackRun, published: Sequence[PublishedRelease], values: Sequence[Any], time: str | None
) -> Outcome:
    """The risk of an unknown member of each group."""
    groups = member_risk(published, values, run.sure)
    table = members_per_release(groups)
    records, sure = int(table["records"].sum()), int(table["sure"].sum())
    share = sure / records if records else 0.0
    verdict = (
        f"{TwoSides(sure, records, None).verdict(run.fail_over).of(run.fail_over)}: {sure:,} of {records:,} records are in groups "
        f"in which a member has one value with a probability of at least {run.sure:g}."
    )
    say_verdict(verdict, *bound_lines(run.fail_over))
    show(PrintedTable(table, "Unknown members of the groups, by release"))
    show(definitions(MEMBER_TERMS))
    if run.out is not None:
        name = run.names[0]
        with atomic_output(run.out, run.inputs, run.overwrite) as folder:
            write_table(groups.rename(columns={"time": time or ONE_RELEASE}), folder / name)
            write_json(folder / SETTINGS, run_settings(run.context, run.inputs))
            if run.pictures:
                shares, weights = groups["share"].to_numpy(), groups["records"].to_numpy(dtype=np.float64)
                draw_beliefs(
                    folder, shares, weights, run.sure, "share of the most frequent value of the group", "records"
                )
        say(f"Each group: {run.out / name}. How it was made: {SETTINGS} beside it.")
    say_sentences(verdict)
    return _published_outcome(run, verdict, share, {"releases": table, "groups": groups})


def _published_outcome(run: AttackRun, verdict: str, share: float, content: dict[str, Any]) -> Outcome:
    """The outcome, after the next command."""
    failed = run.fail_over is not None and share > run.fail_over
    paths, options = paths_of(_published_paths(run)), table_options(run.context.params)
    if run.tables.people:
        command = f"check {paths} {options}"
    else:
        bounds = [option_text(name, run.context.params[name]) for name in BOUNDS if name in given_options(run.context)]
        command = " ".join([f"attack {paths} --published {options}", *bounds, "--id COLUMN --people FILE"])
    say("Next:", *typed_lines(command))
    return Outcome(
        {"verdict": verdict, "sure": run.sure, "share": share, "fail_over": run.fail_over, "failed": failed}
        | content
        | files_content(run),
        failed,
    )


def exposed_linked(beliefs: Beliefs, sure: float, to: str) -> Exposure:
    """Linked persons who are exposed by the belief in their most probable value, whether it is true or not."""
    rows: list[dict[str, Any]] = []
    for release in beliefs:
        seen, belief = release.observation, release.posterior.probabilities
        for row in np.flatnonzero(seen.group >= 0).tolist():
            code, counts = int(belief[row].argmax()), seen.counts[seen.group[row]]
            cells = (
                seen.people.respondents[row],
                seen.time,
                seen.people.schema.values[code],
                float(belief[row, code]),
                float(release.prior[row, code]),
                counts[code] / counts.sum(),
                int(seen.group[row]),
                shown_values(counts, seen.people.schema.values),
            )
            rows.append(dict(zip(PERSON_COLUMNS, cells, strict=True)))
    columns = {name: object_array([row[name] for row in rows]) for name in PERSON_COLUMNS}
    columns |= {name: columns[name].astype(float) for name in ("belief", "prior")}
    return exposure_of_records(columns, sure, to)


def linked_per_release(beliefs: Beliefs, releases: Sequence[LinkedRelease], sure: float) -> pd.DataFrame:
    """Linked persons and their beliefs, one row per release."""
    rows = []
    for found, release in zip(beliefs, releases, strict=True):
        seen = found.observation
        inside = seen.group >= 0
        highest = found.posterior.probabilities[inside].max(axis=1, initial=0)
        rows.append(
            {
                "time": seen.time,
                "records": int(seen.counts.sum()),
                "groups": len(seen.counts),
                "linked": int(inside.sum()),
                "open": release.undetermined,
                "highest": float(highest.mean()) if inside.any() else np.nan,
                "sure": int((highest >= sure).sum()),
                "expected": float(highest[highest >= sure].sum()),
            }
        )
    return pd.DataFrame(rows)


def member_risk(releases: Sequence[PublishedRelease], values: Sequence[Any], sure: float) -> pd.DataFrame:
    """Most frequent value of each group and its share, one row per group, in decreasing order of the share.

    An unknown member has each value with its share of the group.

    Returns
    -------
    DataFrame
        Columns ``time``, ``group``, ``records``, ``values``, the number of different ones; ``believed``, the most frequent value;
        ``share``, its share; ``sure``, whether it is at least ``sure``; ``group_values``.
    """
    rows = [
        {
            "time": release.time,
            "group": name,
            "records": int(counts.sum()),
            "values": int((counts > 0).sum()),
            "believed": values[int(counts.argmax())],
            "share": counts.max() / counts.sum(),
            "sure": bool(counts.max() / counts.sum() >= sure),
            "group_values": shown_values(counts, values),
        }
        for release in releases
        for name, counts in zip(release.names, release.counts, strict=True)
    ]
    return pd.DataFrame(rows).sort_values("share", ascending=False, kind="stable").reset_index(drop=True)


def members_per_release(groups: pd.DataFrame) -> pd.DataFrame:
    """Risk of an unknown member by release, from rows of `member_risk`."""
    weighted = groups.assign(
        highest=groups["share"] * groups["records"],
        certain=groups["records"].where(groups["values"] == 1, 0),
        sure=groups["records"].where(groups["sure"], 0),
    )
    table = weighted.groupby("time", sort=True).agg(
        records=("records", "sum"),
        groups=("group", "size"),
        smallest=("records", "min"),
        certain=("certain", "sum"),
        highest=("highest", "sum"),
        sure=("sure", "sum"),
    )
    table["highest"] /= table["records"]
    return table.reset_index()
