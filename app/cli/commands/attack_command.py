"""The command `foreknow attack`: the beliefs of an adversary in published groups, and their risk."""

import typer

from foreknow.app.cli.attack_choices import SAMPLER_SEED
from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.attack_from_disk import attack_from_disk
from foreknow.app.cli.commands.attack_options import (
    AttackOptions,
    Corpus,
    Forward,
    Groups,
    Knowledge,
    Out,
    PublishedOptions,
    Seed,
)
from foreknow.app.cli.commands.attack_records import attack_records
from foreknow.app.cli.commands.attack_run import AttackRun
from foreknow.app.cli.commands.published_attack import check_not_published, published_attack
from foreknow.app.cli.disk_options import DiskOptions, FromDisk
from foreknow.app.cli.option_groups import KnowledgeOptions, TableOptions
from foreknow.app.cli.options import FailOver, Overwrite, Sure, check_sure
from foreknow.app.cli.pictures import Pictures


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
    """Tell who is at risk: the persons whose sensitive value a reader can infer from all that you published, when, and why.

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

    With --from-disk, --groups is the folder of foreknow publish --from-disk. The attack is joint (--solver group-messages or
    max-entropy), sequential or snapshot, and the adversary learned from --corpus or from the records.

    With --published, RECORDS is a published table found elsewhere, and there are no originals: no truth to compare with. Beliefs
    are about the persons of a register (--people), who are linked to a group where the labels and the sizes of the groups
    determine it. Other records are those of unknown persons.
    """
    check_sure(sure)
    run = AttackRun(
        context, table, tables, chosen, known, disk, groups, sure, fail_over, seed, forward, corpus, knowledge, out, pictures,
        overwrite,
    )  # fmt: skip
    if from_disk:
        return attack_from_disk(run)
    disk.refuse_given("records are read into memory")
    if tables.alone:
        return published_attack(run)
    check_not_published(run)
    return attack_records(run)
