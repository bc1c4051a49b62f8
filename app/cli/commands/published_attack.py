"""Attack on published tables alone: beliefs about the persons of a register, or the risk of an unknown member of each group."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.attack_choices import LEARNED, RECORDS, Attacked, AttackRun, beliefs_of
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.commands.attack_findings import (
    CORPUS,
    fail_over_lines,
    files_content,
    in_words,
    posterior_table,
    say_files,
    shown_values,
    write_attack,
)
from foreknow.app.cli.files.columns import InputFiles
from foreknow.app.cli.files.published_tables import PublishedFiles, PublishedRelease
from foreknow.app.cli.files.register import LinkedRelease, Register
from foreknow.app.cli.files.release_files import read_statements
from foreknow.app.cli.files.run_settings import run_settings
from foreknow.app.cli.files.written_tables import write_table
from foreknow.app.cli.options import flag_of, option_text, refuse_first
from foreknow.app.cli.pictures import BELIEFS, draw_beliefs
from foreknow.app.cli.terminal import PrintedTable, definitions, notice, say, say_sentences, say_verdict, show, tracked
from foreknow.app.cli.typed_commands import BOUNDS, paths_of, table_options, typed_lines
from foreknow.app.exposure import Exposure, exposure_of_records
from foreknow.app.publication import ONE_RELEASE, SETTINGS
from foreknow.models import Beliefs
from foreknow.models.arrays import object_array
from foreknow.models.notes import as_note

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


def published_attack(run: AttackRun) -> Outcome:
    """Attack published tables with a register of persons, or measure the risk of an unknown member of each group."""
    _check_options(run)
    if run.out is not None:
        check_output(run.out, [*run.names, *([BELIEFS] if run.pictures else [])], run.inputs, run.overwrite)
    columns = run.table.columns_at(run.table.time or ONE_RELEASE)
    sensitive, files = columns.sensitive, InputFiles(columns.encoding, columns.separator, columns.missing)
    shown = columns.quasi_identifiers, run.tables.group, run.table.time
    read = PublishedFiles(_paths(run), sensitive, *shown, files, columns.cleaning)
    records, time = read.read()
    if run.tables.people is None:
        values = tuple(sorted(records[sensitive].unique().tolist()))
        return _unknown_members(run, read.releases(records, time, values), values, time)
    columns = run.table.columns_at(time or ONE_RELEASE)
    times = [] if time is None else records[time].unique().tolist()
    register = Register.read(run.tables.people, run.corpus, columns, records[sensitive], times)
    return _persons(run, register, read.releases(records, time, register.schema.values), time or ONE_RELEASE)


def _paths(run: AttackRun) -> tuple[Path, ...]:
    """The published tables."""
    return (run.table.records, *run.tables.later)


def _check_options(run: AttackRun) -> None:
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


def _persons(run: AttackRun, register: Register, published: Sequence[PublishedRelease], time: str) -> Outcome:
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
    verdict = _verdict(found, expected)
    say_verdict(verdict, *_fail_over_lines(run, found.share))
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
    return _outcome(run, verdict, found.share, content | {"expected": expected})


def _verdict(found: Exposure, expected: float) -> str:
    """The verdict in one line."""
    if not found.respondents:
        return "No person of the register is linked to a group, so nothing is inferred about one."
    n, number = found.respondents, found.exposed
    known = f" ({found.known:,} more had one before any release)" if found.known else ""
    if not number:
        return f"None of {n:,} linked persons is exposed to {found.to}: no belief in a value reaches {found.sure:g}{known}."
    return (
        f"{number:,} of {n:,} linked persons {'are' if number > 1 else 'is'} exposed to {found.to}: a belief of at least "
        f"{found.sure:g} in a value at some release{known}; the adversary expects {expected:.1f} of these values to be "
        "true. Without the originals this is not checked."
    )


def _unknown_members(
    run: AttackRun, published: Sequence[PublishedRelease], values: Sequence[Any], time: str | None
) -> Outcome:
    """The risk of an unknown member of each group."""
    groups = member_risk(published, values, run.sure)
    table = members_per_release(groups)
    records, sure = int(table["records"].sum()), int(table["sure"].sum())
    share = sure / records if records else 0.0
    verdict = (
        f"{sure:,} of {records:,} records are in groups in which a member has one value with a probability of at least "
        f"{run.sure:g}."
    )
    say_verdict(verdict, *_fail_over_lines(run, share))
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
    return _outcome(run, verdict, share, {"releases": table, "groups": groups})


def _fail_over_lines(run: AttackRun, share: float) -> list[str]:
    """The line on --fail-over, if it was given."""
    return fail_over_lines(share, run.fail_over, "persons" if run.tables.people else "records")


def _outcome(run: AttackRun, verdict: str, share: float, content: dict[str, Any]) -> Outcome:
    """The outcome, after --fail-over and the next command."""
    say(*_fail_over_lines(run, share))
    failed = run.fail_over is not None and share > run.fail_over
    paths, options = paths_of(_paths(run)), table_options(run.context.params)
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
