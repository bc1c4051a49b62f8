"""The command `foreknow attack`: the beliefs of an adversary in published groups, and their risk."""

from collections.abc import Hashable
from functools import partial
from pathlib import Path

import pandas as pd
import typer

from foreknow.attacks import Attack, JointAttack, SequentialAttack
from foreknow.evaluation.checks.manifest import MANIFEST
from foreknow.evaluation.cli.attack_choices import SAMPLER_SEED
from foreknow.evaluation.cli.command_shape import Outcome
from foreknow.evaluation.cli.commands.at_risk import at_risk
from foreknow.evaluation.cli.commands.attack_adversaries import (
    Found,
    adversaries_content,
    by_exposure,
    found_by,
    notice_others,
    sources,
    tables_line,
    verdict_lines,
)
from foreknow.evaluation.cli.commands.attack_from_disk import DiskAttack, attack_from_disk
from foreknow.evaluation.cli.commands.attack_making import (
    LEARNED,
    Attacked,
    AttackSettings,
    check_attack_options,
)
from foreknow.evaluation.cli.commands.attack_options import (
    AttackOptions,
    Corpus,
    Forward,
    Groups,
    Knowledge,
    Out,
    PublishedOptions,
    Seed,
)
from foreknow.evaluation.cli.commands.attack_output import files_content, output_names, say_files, write_attack
from foreknow.evaluation.cli.commands.attack_report import report_attack
from foreknow.evaluation.cli.commands.exposure_verdict import Exposure, is_over
from foreknow.evaluation.cli.commands.next_step import next_lines
from foreknow.evaluation.cli.commands.publish_report import notice_codes, notice_suppression, suppressed_share
from foreknow.evaluation.cli.commands.published_attack import PublishedRun, check_not_published, published_attack
from foreknow.evaluation.cli.disk_options import DiskOptions, FromDisk
from foreknow.evaluation.cli.files.atomic_output import check_output
from foreknow.evaluation.cli.files.checksums import check_key
from foreknow.evaluation.cli.files.columns import Columns
from foreknow.evaluation.cli.files.publication_settings import cleaned_as_published
from foreknow.evaluation.cli.files.release_files import read_releases
from foreknow.evaluation.cli.files.run_settings import run_settings
from foreknow.evaluation.cli.files.statement_files import read_statements
from foreknow.evaluation.cli.option_groups import KnowledgeOptions, TableOptions
from foreknow.evaluation.cli.options import FailOver, Overwrite, Sure, check_sure
from foreknow.evaluation.cli.pictures import BELIEF, GAIN, Pictures, check_pictures, draw_attack
from foreknow.evaluation.cli.printing.attack_tables import posterior_table, risk_per_release
from foreknow.evaluation.cli.printing.compilation_notice import notice_compilation
from foreknow.evaluation.cli.printing.terminal import notice, say, say_sentences, say_verdict, tracked
from foreknow.evaluation.risk.respondent_risk import respondent_risk
from foreknow.models import Beliefs, History, Release


def attack_command(
    context: typer.Context,
    table: TableOptions,
    tables: PublishedOptions,
    chosen: AttackOptions,
    known: KnowledgeOptions,
    disk: DiskOptions,
    groups: Groups = None,
    sure: Sure = 0.9,
    fail_over: FailOver = None,
    seed: Seed = SAMPLER_SEED,
    forward: Forward = False,
    corpus: Corpus = None,
    knowledge: Knowledge = None,
    out: Out = None,
    pictures: Pictures = False,
    from_disk: FromDisk = False,
    overwrite: Overwrite = False,
) -> Outcome:
    """Attack published groups, and print the risk at each release: the adversary's gain, confidence and success.

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

    With --from-disk, --groups is the folder of foreknow publish --from-disk. The attack is joint (--solver group-messages or
    max-entropy), sequential or snapshot, and the adversary learned from --corpus or from the records.

    With --published, RECORDS is a published table found elsewhere, and there are no originals: no truth to compare with. Beliefs
    are about the persons of a register (--people), who are linked to a group where the labels and the sizes of the groups
    determine it. Other records are those of unknown persons.
    """
    if from_disk:
        check_sure(sure)
        return attack_from_disk(
            DiskAttack(
                context,
                table,
                chosen,
                known.learning,
                groups,
                sure,
                fail_over,
                forward,
                corpus,
                knowledge,
                out,
                disk,
                overwrite,
            )
        )
    disk.refuse_given("records are read into memory")
    if tables.alone:
        return published_attack(
            PublishedRun(
                context,
                table,
                tables,
                chosen,
                known,
                groups,
                sure,
                fail_over,
                seed,
                forward,
                corpus,
                knowledge,
                out,
                pictures,
                overwrite,
            )
        )
    check_not_published(tables)
    # Options and output folders are refused before a file is read, files before anything is computed.
    check_sure(sure)
    check_pictures(pictures, out)
    check_attack_options(context, chosen.attack, chosen.statements, corpus, knowledge)
    keep = [path for path in (*table.files, corpus, groups, chosen.statements) if path is not None]
    names = output_names(table.records)
    if out is not None:
        check_output(out, [*names, *((GAIN, BELIEF) if pictures else ())], keep, overwrite)
    columns = table.columns
    with cleaned_as_published(groups, context):
        read = _read(columns, table.records, groups, corpus, chosen.statements)
    source = None if knowledge is None else knowledge.value
    settings = AttackSettings.of(chosen, forward, source, known.learning, seed)
    adversaries = sources(settings, read)
    if adversaries != (None,):
        solver = settings.solver if settings.name == "joint" else None
        notice_compilation(solver, settings.estimator, LEARNED in adversaries)
    found = [found_by(source, settings, read, sure) for source in adversaries]
    _, attacker, beliefs, exposed = found[0]
    sequential = _sequential_beside(attacker, read.releases)
    verdict = verdict_lines(found, fail_over)
    say_verdict(*verdict, *tables_line(found))
    report_attack(settings, attacker, beliefs, sequential, read.history)
    notice_others(found)
    if out is not None:
        risky = _at_risk(found, read)
        used = run_settings(context, keep, seed)
        drawn = {chosen.attack: beliefs} | ({} if sequential is None else {"sequential": sequential})
        person = _most_exposed(exposed, beliefs, read.history)
        draw = partial(draw_attack, attacks=drawn, history=read.history, person=person, time=columns.time)
        tables_of = (posterior_table(beliefs, columns.time), risky)
        write_attack(out, names, *tables_of, used, keep, overwrite, draw if pictures else None)
    notice_suppression(read.releases)
    say_sentences(*verdict)
    if chosen.solver == "path-sampler":
        say(f"Seed: {seed}.")
    if out is not None:
        say_files(out, names, pictures)
    say(*next_lines(context, "report", "--out report.html", also=("groups", "corpus")))
    return Outcome(
        adversaries_content(found, fail_over)
        | {"attack": chosen.attack, "solver": chosen.solver if chosen.attack == "joint" else None, "seed": seed}
        | {"suppressed": suppressed_share(read.releases)}
        | {"releases": risk_per_release(beliefs, read.history)}
        | files_content(out, names),
        any(is_over(one.exposed, fail_over) for one in found),
    )


def _at_risk(found: list[Found], read: Attacked) -> pd.DataFrame:
    """Respondents exposed to each adversary, the worst first, with the adversary in the last column."""
    tables = []
    for one in by_exposure(found):
        sequential = _sequential_beside(one.attack, read.releases)
        table = at_risk(one.exposed, one.attack, one.beliefs, sequential, read)
        tables.append(table.assign(adversary=one.source or ""))
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def _most_exposed(found: Exposure, beliefs: Beliefs, history: History) -> Hashable | None:
    """The respondent with the highest belief in the true value: an exposed one, if there is any."""
    people = found.people if len(found.people) else respondent_risk(beliefs, history, most=1)
    return people["respondent"].tolist()[0] if len(people) else None


def _read(
    columns: Columns, records: Path, groups: Path | None, corpus: Path | None, statements: Path | None
) -> Attacked:
    """The records and their releases, the corpus and the statements, with one schema."""
    tables = columns.read(*(path for path in (records, corpus) if path is not None))
    schema = columns.schema(*tables)
    history, releases = read_releases(tables[0], groups, columns, schema)
    _notice_unchecked_key(groups, records)
    notice_codes(schema, tables[0])
    taught = None if corpus is None else History.read(tables[1], schema, columns.time)
    stated = [] if statements is None else read_statements(statements, schema, columns.encoding)
    return Attacked(schema, history, releases, taught, stated)


def _notice_unchecked_key(groups: Path | None, records: Path) -> None:
    """Print a notice if no checksums beside the file of groups list it.

    Raises
    ------
    ValueError
        As `check_key`, if the checksums are those of other files.
    """
    if groups is not None and not check_key(groups, records):
        notice(f"No {MANIFEST} beside {groups} lists it: it is not checked that it belongs to {records}.")


def _sequential_beside(attack: Attack, releases: tuple[Release, ...]) -> Beliefs | None:
    """Beliefs of the sequential attack of the same adversary, for comparison with the joint attack; None for other attacks."""
    if not isinstance(attack, JointAttack):
        return None
    return SequentialAttack(attack.adversary)(tracked(releases, "attacking release by release"))
