"""Noisy counts on the command line: how they are published and go on as a series, checked and attacked."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.defense_choices import (
    NOISY,
    NOISY_SETTINGS,
    defense_text,
    fresh_seed,
    read_defense,
    seeded_generator,
)
from foreknow.app.cli.files.columns import notice_codes
from foreknow.app.cli.files.run_settings import published_options, run_settings
from foreknow.app.cli.files.written_tables import formula_cells, write_table
from foreknow.app.cli.options import flag_of, refuse_first, separator_character
from foreknow.app.cli.terminal import PrintedTable, definitions, error_console, notice, say, show, tracked
from foreknow.app.cli.typed_commands import check_lines, next_lines, unused_path
from foreknow.app.noisy_publication import (
    REPEATABLE,
    NoisySeries,
    noise_record,
    noisy_certificate,
    promise_record,
    series_at,
    with_values,
)
from foreknow.app.publication import (
    MANIFEST,
    PRIVATE,
    PUBLIC,
    RELEASE,
    SETTINGS,
    differences,
    listed_in,
    listing_of,
    sums_below,
    write_manifest,
    write_release,
)
from foreknow.defenses import NoisyCounts, Promise
from foreknow.defenses.noisy_counts import opendp
from foreknow.evaluation.checks.certificate import CERTIFICATE, checksums_of
from foreknow.evaluation.checks.program import checksum, settings
from foreknow.models import History, MarkovChain, NoisyRelease, Schema
from foreknow.models.settings import counted
from foreknow.models.tables.faults import stripped
from foreknow.models.tables.table_files import read_table

if TYPE_CHECKING:
    from foreknow.app.cli.commands.check_command import CheckRun
    from foreknow.app.cli.commands.publish_command import PublishRun

OF_GROUPS = (
    "bucketized", "generalized", "infeasible", "no_verify", "pictures", "from_disk", "block", "memory", "workers", "scheduler",
    "scratch",
)  # fmt: skip
"""Options of `foreknow publish` that are read for groups alone."""

ADDED = ("cell", "noisy_count", "count")
"""Columns that the published table has besides those of the records."""

RELEASE_TERMS = {
    "records": "number of records, which is public",
    "smallest": "number of records of the smallest cell",
    "counts": "number of published counts: cells times values",
    "error": "standard deviation of a noisy count, in records",
}
"""Meaning of the columns of a publication."""


def publish_noisy(run: "PublishRun") -> Outcome:
    """Publish noisy counts of the views of a table, or of those that are new in a series, and print the promise."""
    series = _series(run)
    defense = _defense(run, series)
    if not run.for_experiment:
        opendp()
    inside = [run.published, *(Path(PUBLIC, name) for name in (RELEASE, CERTIFICATE))]
    check_output(run.out, [*inside, *(Path(PRIVATE, name) for name in (MANIFEST, SETTINGS))], run.inputs, run.overwrite)
    history, schema, corpus = _read(run, series)
    before = () if series is None else series.releases(history)
    views = history.views[len(before) :]
    refuse_first(
        {
            f"All {len(history)} releases of the records are published in {run.series} already.": not views,
            f"The records have {len(history)} releases, and the noise is set for {defense.releases}: more would pass the promise. "
            "Publish fewer, or begin a series of its own with more --releases.": len(history) > defense.releases,
        }
    )
    seed = (fresh_seed() if run.seed is None else run.seed) if run.for_experiment else None
    if seed is not None:
        defense = replace(defense, rng=seeded_generator(seed, 2 + len(before)))
    releases = [*before]
    for view in tracked(views, "publishing"):
        prior = np.full((len(view), len(schema.values)), 1 / len(schema.values))
        releases.append(NoisyRelease(view, defense(view, prior, tuple(releases))))
    with error_console.status("writing"):
        formulas = _write(run, releases, defense, seed)
    chain = None if corpus is None else MarkovChain.fit(corpus, 1, run.known.pseudo_count)
    return _told(run, releases, len(before), defense, chain, formulas)


def _series(run: "PublishRun") -> NoisySeries | None:
    """The series that goes on, if its files are as they were written, and no option is given that it settles."""
    given = given_options(run.context)
    refuse_first(
        {f"{NOISY} does not read {flag_of(name)}; leave it out.": name in given for name in OF_GROUPS}
        | {
            f"--seed is not read by {NOISY}: OpenDP draws the noise and takes no seed, as one that is found takes the noise off. "
            "For an experiment add --for-experiment, which draws by NumPy and marks the output as not for release.": (
                run.seed is not None and not run.for_experiment
            ),
            "--values and --public-values exclude each other; leave one out.": run.values and run.public_values,
        }
    )
    if run.series is None:
        return None
    settled = sorted(given & {*NOISY_SETTINGS, "values", "public_values"})
    if settled:
        raise ValueError(
            f"--series {run.series} has the cells, the noise and the domain already; leave {', '.join(map(flag_of, settled))} out."
        )
    series = series_at(run.series)
    if series is None:
        raise ValueError(
            f"--series {run.series} holds no noisy counts; name the folder of --out of foreknow publish --defense {NOISY}."
        )
    if found := differences(run.series, listing_of(run.series)):
        raise ValueError(
            f"{run.series / found[0].file} is {found[0].state}; the series goes on from files as they were written."
        )
    if series.noise["for_release"] == run.for_experiment:
        way_out = "leave --for-experiment out" if run.for_experiment else "add --for-experiment"
        raise ValueError(
            f"--series {run.series} is {'' if series.noise['for_release'] else 'an experiment, and not '}for release; {way_out}."
        )
    return series


def _defense(run: "PublishRun", series: NoisySeries | None) -> NoisyCounts:
    """The defense of the options, or that of the series."""
    if series is None:
        made: Any = run.choice.make(run.thresholds)
        assert isinstance(made, NoisyCounts)
        return made
    recorded: Any = read_defense(series.described["settings"])
    if not isinstance(recorded, NoisyCounts) or not np.isclose(recorded.scale, series.law.scale, rtol=1e-9):
        raise ValueError(
            f"{series.public / RELEASE} has settings and a law of the noise that do not fit; the series cannot go on."
        )
    return recorded


def _read(run: "PublishRun", series: NoisySeries | None) -> tuple[History, Schema, History | None]:
    """The records and a corpus, in the domain that is public."""
    columns = run.table.columns
    if taken := [name for name in columns.names if name in ADDED]:
        raise ValueError(f"the column {taken[0]!r} has the name of one that {NOISY} publishes; rename yours.")
    domain = None if run.values is None else _values_of(run.values, run.table.encoding)
    if series is None and domain is None and not run.public_values:
        raise ValueError(
            f"The domain of {columns.sensitive!r} must be public: values read off the records would tell which of them occur. List "
            "every value that may occur in a file, one a line, by --values FILE. If those of the records are public anyway, as the "
            "choices of a form of which each was taken, add --public-values."
        )
    table, *others = columns.read(*(path for path in (run.table.records, run.corpus) if path is not None))
    schema = columns.schema(table, *others)
    notice_codes(schema, table)
    if series is not None:
        table, schema = series.in_domain(table, schema)
    elif domain is not None:
        table, schema = with_values(table, schema, domain)
    history = History.read(table, schema, columns.time)
    known = None
    if others:
        other, _ = with_values(others[0], schema, schema.values)
        known = History.read(other, schema, columns.time)
    return history, schema, known


def _values_of(path: Path, encoding: str) -> list[Any]:
    """The domain in a file of one value a line: whole numbers if all are."""
    lines = list(dict.fromkeys(line.strip() for line in path.read_text(encoding=encoding).splitlines() if line.strip()))
    if len(lines) < 2:
        raise ValueError(f"--values {path} lists {counted(len(lines), 'value')}; list all that may occur, one a line.")
    numbers = [line.removeprefix("-") for line in lines]
    whole = all(each.isdecimal() and (each == "0" or not each.startswith("0")) for each in numbers)
    return [int(line) for line in lines] if whole else lines


def _write(run: "PublishRun", releases: list[NoisyRelease], defense: NoisyCounts, seed: int | None) -> int:
    """Write the publication; return the number of cells that begin like formulas."""
    time = run.table.columns.time
    tables = [one.table.astype({one.view.schema.sensitive: object}) for one in releases]
    for table, one in zip(tables, releases, strict=True):
        table.insert(0, time, one.time)
    table = pd.concat(tables, ignore_index=True)
    with atomic_output(run.out, run.inputs, run.overwrite) as folder:
        (folder / PUBLIC).mkdir(mode=0o755)
        (folder / PRIVATE).mkdir(mode=0o700)
        write_table(table, folder / run.published, formulas=not run.quotes_formulas)
        sums = {run.published.name: checksum(folder / run.published)}
        noise: dict[str, Any] = {"noise": noise_record(releases, defense.promise)}
        times = [one.time for one in releases]
        write_release(folder / PUBLIC, sums, times, defense, run.table.columns.published, noise)
        files = checksums_of([folder / run.published, folder / PUBLIC / RELEASE])
        noisy_certificate(releases, defense, files).write(folder / PUBLIC / CERTIFICATE)
        write_json(folder / PRIVATE / SETTINGS, run_settings(run.context, run.inputs, seed))
        sums = sums_below(folder / PRIVATE, folder / PRIVATE) | sums_below(folder / PUBLIC, folder / PRIVATE)
        write_manifest(folder / PRIVATE, {str(run.table.records): checksum(run.table.records)}, sums)
    return formula_cells(table)


def _told(
    run: "PublishRun",
    releases: list[NoisyRelease],
    before: int,
    defense: NoisyCounts,
    chain: MarkovChain | None,
    formulas: int,
) -> Outcome:
    """Print what was published and the promise, where the files are, and the next commands."""
    rows = releases_table(releases)
    promise, left = defense.promise, defense.releases - len(releases)
    show(PrintedTable(rows, defense_text(defense)))
    show(definitions(RELEASE_TERMS))
    show("")
    show_promise(promise, chain)
    if before:
        notice(
            f"{counted(before, 'release')} of {run.series} are as they were; {counted(len(releases) - before, 'release')} new."
        )
    if formulas and not run.quotes_formulas:
        notice(
            f"{formulas} published cells begin like formulas (= + - @); --quote-formulas writes an apostrophe before them."
        )
    if run.for_experiment:
        notice("NOT FOR RELEASE: the noise was drawn by NumPy, from a generator that can be seeded.")
    else:
        notice(
            "The output is not repeatable: OpenDP draws the noise, and takes no seed. Keep it; the same command draws other noise."
        )
    table = run.out / run.published
    say(
        f"For the public: {table}, with {RELEASE} and {CERTIFICATE} beside it.",
        f"Settings: {run.out / PRIVATE / SETTINGS}. There is no key, no seed and no noise to keep secret.",
        f"Releases that the promise still covers: {left}. To publish later ones: --series {run.out}.",
        *check_lines(run.out),
    )
    say(*next_lines(run.context, "attack", f"--groups {run.out}", f"--out {unused_path('risk')}", also=("corpus",)))
    content = {
        "defense": settings(defense),
        "releases": rows,
        "promise": promise_record(promise),
        "repeatable": REPEATABLE[not run.for_experiment],
        "for_release": not run.for_experiment,
        "left": left,
        "published": str(table),
        "settings": str(run.out / PRIVATE / SETTINGS),
    }
    return Outcome(content)


def releases_table(releases: "list[NoisyRelease]") -> pd.DataFrame:
    """Records, cells and counts of each release, and the standard deviation of a count."""
    rows = []
    for one in releases:
        sizes = np.bincount(one.group, minlength=len(one.made.cells))
        row = {"time": one.time, "records": len(one.view), "cells": len(sizes), "smallest": int(sizes.min())}
        rows.append(row | {"counts": one.counts.size, "error": float(np.sqrt(one.made.noise.variance))})
    return pd.DataFrame(rows)


def show_promise(promise: Promise, chain: MarkovChain | None = None) -> None:
    """Print all forms of a promise; the epsilon of one release only where a chain tells what all releases give away of it."""
    found = promise.frame(chain)
    found["value"] = [
        each if isinstance(each, str) else "none" if np.isinf(each) else f"{each:.3g}" for each in found["value"]
    ]
    show(PrintedTable(found, f"Promise to each respondent, for {counted(promise.releases, 'release')} together"))


NONE_OF_GROUPS = "noisy counts have no groups, so no requirement of groups applies"
"""Reason for which thresholds are refused, and said by a check."""

TOLERANCE = 1e-9
"""Relative rounding error of a number of a promise."""


def check_noisy(run: "CheckRun", series: NoisySeries) -> Outcome:
    """Recompute the promise of noisy counts from their settings, and check the published table against it."""
    given = [name for name in ("k", "l", "t", "beta", "out", "pictures") if getattr(run, name) not in (None, False)]
    if given:
        raise ValueError(f"{', '.join(map(flag_of, given))}: {NONE_OF_GROUPS}. Leave them out; the promise is checked.")
    found = pd.DataFrame(promise_checks(series), columns=pd.Index(["check", "holds", "found"]))
    failing = found[~found["holds"]]
    verdict = f"FAILED: {failing['check'].iloc[0]} ({failing['found'].iloc[0]})." if len(failing) else PROMISE_HOLDS
    show(
        PrintedTable(found.assign(holds=found["holds"].map({True: "yes", False: "NO"})), f"{series.public}, recomputed")
    )
    show_promise(series.promise)
    if not series.noise["for_release"]:
        notice("NOT FOR RELEASE: the noise was drawn by NumPy, from a generator that can be seeded.")
    say(f"{NONE_OF_GROUPS.capitalize()}.", verdict)
    content = {"failed": bool(len(failing)), "verdict": verdict, "files": [], "requirements": [], "checks": found}
    return Outcome(content | {"promise": promise_record(series.promise)}, bool(len(failing)))


PROMISE_HOLDS = "Passed: the files are as listed, and the table and the promise are those of the settings."


def promise_checks(series: NoisySeries) -> list[tuple[str, bool, str]]:
    """Each claim on noisy counts, whether it holds, and what was found."""
    noise, defense, law = series.noise, read_defense(series.described["settings"]), series.law
    same = isinstance(defense, NoisyCounts) and defense.law.law == law.law and defense.law.clamped == law.clamped
    scale = defense.scale if isinstance(defense, NoisyCounts) else np.nan
    rows = [
        ("the law of the noise is that of the settings", same and bool(np.isclose(scale, law.scale, rtol=TOLERANCE))),
        ("the promise is that of the noise", _rounded(noise["promise"]) == _rounded(promise_record(series.promise))),
    ]
    checked = [(text, holds, f"{law.law}, scale {law.scale:.4g}") for text, holds in rows]
    number, most = len(series.times), noise["releases"]
    checked.append(("no more releases than the noise is set for", number <= most, f"{number} of {most}"))
    try:
        counts = series.counts()
    except (ValueError, KeyError) as error:
        return [*checked, ("a count for each release, cell and value", False, str(error))]
    table = series.read_table()
    size = " x ".join(map(str, counts.shape))
    checked.append(("a count for each release, cell and value", True, size))
    whole = bool((counts == np.round(counts)).all() and (not law.clamped or (counts >= 0).all()))
    checked.append(
        ("noisy counts are whole numbers" + (", none negative" if law.clamped else ""), whole, f"{counts.size}")
    )
    labels = table.groupby("cell")[list(series.columns["quasi_identifiers"])].nunique()
    checked.append(
        ("cells are the same in all releases", bool((labels == 1).all(axis=None)), f"{len(series.cells)} cells")
    )
    return [*checked, *_record_checks(series)]


def _rounded(record: Mapping[str, Any]) -> Any:
    """A record with nine digits of each number."""
    return json.loads(json.dumps(record), parse_float=lambda text: f"{float(text):.9g}")


def _record_checks(series: NoisySeries) -> list[tuple[str, bool, str]]:
    """At most one record of each respondent in a release, where the records are still as they were published."""
    private = series.public.parent / PRIVATE
    options = published_options(private / SETTINGS)
    if options is None:
        return []
    path = Path(options["records"])
    if not path.exists() or checksum(path) not in listed_in(private / MANIFEST, "records").sums.values():
        notice(
            f"{path} does not hold the records of this publication: that each respondent has one is not checked again."
        )
        return []
    separator = separator_character(options.get("separator"))
    table = read_table(path, [options["id"]], options["encoding"], separator=separator).rename(columns=stripped)
    time = series.columns["time"]
    if options["duplicates"] == "drop":
        table = table.drop_duplicates()
    twice = int(table.duplicated([options["id"], *([time] if time in table.columns else [])]).sum())
    return [("one record of each respondent in a release", not twice, f"{twice} more")]
