"""Reports of `foreknow publish`: the information loss, and notices about codes, formulas and seeds."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from foreknow.app.cli.commands.next_step import paths_of, typed_lines
from foreknow.app.cli.commands.publish_output import Output
from foreknow.app.cli.defense_text import defense_text, least_values_of
from foreknow.app.cli.files.checksums import RELEASE
from foreknow.app.cli.files.column_checks import possible_codes
from foreknow.app.cli.files.run_settings import SETTINGS
from foreknow.app.cli.printing.printed_table import PrintedTable, definitions
from foreknow.app.cli.printing.terminal import notice, say, show
from foreknow.app.report.exposure import percent
from foreknow.defenses import Defense
from foreknow.evaluation.checks.certificate import CERTIFICATE, FAILED, NOT_VERIFIED, Certificate
from foreknow.evaluation.checks.program import settings
from foreknow.evaluation.loss.generalization_loss import gcp, suppressed
from foreknow.models import Release, Schema

SUPPRESSION_TO_REPORT, MOST = 0.2, 0.5
"""Shares of suppressed records above which the command prints advice, and a warning."""


COST_TERMS = {
    "records": "number of records before suppression",
    "share": "share of the records that are suppressed",
    "gcp": "generalization of a published record: 0 exact, 1 no information",
}
"""Meaning of the columns of the cost of a publication."""


def notice_codes(schema: Schema, table: pd.DataFrame) -> None:
    """Print the quasi-identifiers that are read as numbers and may be codes."""
    if names := possible_codes(schema, table):
        options = " ".join(f"--categorical {name}" for name in names)
        notice(f"Read as numbers, with few distinct values: {', '.join(names)}. If they are codes, add {options}.")


def check_any_group(releases: Iterable[Any], defense: Defense, schema: Schema) -> None:
    """Raise ValueError if no release, in memory or on disk, has a group; with the cause, where all records have one value."""
    if any(release.groups for release in releases):
        return
    if len(schema.values) == 1 and (least := least_values_of(defense)) > 1:
        raise ValueError(
            f"{defense_text(defense)} needs {least:g} distinct values of {schema.sensitive!r} in each group, and all records have "
            f"one, {schema.values[0]!r}; any published table would tell it. Name another --sensitive column, or more records."
        )
    raise ValueError(
        f"{defense_text(defense)} finds no group of these records that satisfies its thresholds, so nothing would be "
        "published; choose weaker thresholds."
    )


def cost_per_release(releases: Sequence[Release]) -> pd.DataFrame:
    """Groups, suppressed records and generalization, one row per release."""
    cost = suppressed(releases).merge(gcp(releases)[["time", "gcp"]], on="time")
    cost.insert(1, "groups", [release.groups for release in releases])
    return cost


def suppressed_share(releases: Sequence[Release]) -> float:
    """Share of suppressed records of all releases; 0 without a record."""
    cost = suppressed(releases)
    return float(cost["suppressed"].sum() / max(cost["records"].sum(), 1))


def notice_suppression(releases: Sequence[Release]) -> None:
    """Print a warning if most records are suppressed."""
    cost = suppressed(releases)
    lost, records = int(cost["suppressed"].sum()), int(cost["records"].sum())
    if lost > MOST * records:
        notice(
            f"WARNING: {lost:,} of {records:,} records ({percent(lost / records)}) are suppressed. The table tells little, and a "
            "low risk is that of the few records that are left."
        )


def report_cost(releases: tuple[Release, ...], defense: Defense) -> None:
    """Print the information loss of a publication, and the notes that its readers need."""
    cost = cost_per_release(releases)
    shown = cost.drop(columns=[name for name in ("distorted", "counterfeits") if not cost[name].any()])
    show(PrintedTable(shown.rename(columns={"suppressed_share": "share"}), defense_text(defense)))
    show(definitions(COST_TERMS))
    show("")
    share = cost["suppressed"].sum() / cost["records"].sum()
    if share > SUPPRESSION_TO_REPORT:
        notice(
            f"{percent(share)} of the records are suppressed; choose weaker thresholds, another defense, --patience or --leftovers."
        )
    notice_suppression(releases)
    if any(release.bucketized for release in releases):
        notice(
            "Within a group, quasi-identifiers and sensitive values are sorted separately: a common row means nothing. "
            "Tell the readers of the table."
        )
    for release in releases:
        for note in release.grouping.notes:
            notice(f"at {release.time}: {note}")


def notice_risks(formulas: int, quoted: bool, seed: int | None, of_config: bool) -> None:
    """Print the number of published cells that a spreadsheet would run, and the danger of a seed."""
    if formulas and quoted:
        notice(f"{formulas} published cells begin like formulas, and were written with an apostrophe before them.")
    elif formulas:
        notice(
            f"{formulas} published cells begin like formulas (= + - @), which a spreadsheet may run; --quote-formulas writes an "
            "apostrophe before them."
        )
    if seed is not None and of_config:
        notice(
            "The seed is that of --config, so equal records and options make the same groups. A seed that is found by trial undoes "
            "the publication: keep that file private; without 'seed' in it, a new one is drawn."
        )
    elif seed is not None:
        notice(
            "--seed is for experiments: a seed that is found by trial undoes the publication. Publish without --seed."
        )


def say_paths(table: Path, key: Path) -> None:
    """Print where the published table and the key were written."""
    say(
        f"For the public: {table}, and {RELEASE} beside it.",
        f"The key, for you alone: {key}. It names the group of each record and undoes the publication: keep it apart.",
        f"The settings and the seed of this run, which undo it too: {key.parent / SETTINGS}.",
    )


def check_lines(out: Path) -> list[str]:
    """Lines that name the command that checks a publication."""
    return [
        "To check the files, and each enforced requirement that a published table shows:",
        *typed_lines(f"check {paths_of([out])}"),
    ]


def verified_lines(stated: Certificate, folder: Path) -> list[str]:
    """Lines on what the independent check of a publication found; a failing one names the files that are marked."""
    path = folder / CERTIFICATE
    if stated.verdict == NOT_VERIFIED:
        return [f"Not verified: {path} says so."]
    kept = f" The files are kept, and marked as failed in {path}." if stated.verdict == FAILED else f" See {path}."
    return [*(f"Not recomputed: {promise}" for promise in stated.enforced["unchecked"]), stated.sentence + kept]


def publication_content(
    releases: tuple[Release, ...], defense: Defense, out: Path, output: Output
) -> dict[str, object]:
    """A publication as JSON has it; the seed is in the file of settings alone."""
    return {
        "defense": settings(defense),
        "suppressed": suppressed_share(releases),
        "releases": cost_per_release(releases),
        "notes": [f"at {release.time}: {note}" for release in releases for note in release.grouping.notes],
        "published": str(out / output.table),
        "key": str(out / output.key),
        "settings": str(out / output.key.parent / SETTINGS),
    }
