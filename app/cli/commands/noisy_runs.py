"""Noisy counts on the command line: how they are published and go on as a series, checked and attacked."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.atomic_output import atomic_output, check_output, write_json
from foreknow.app.cli.attack_choices import LEARNED, Attacked, AttackOptions, AttackRun, notice_compilation
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.commands.attack_findings import (
    Found,
    adversaries_content,
    by_exposure,
    files_content,
    found_by,
    is_over,
    notice_others,
    posterior_table,
    say_files,
    sources,
    verdict_lines,
    write_attack,
)
from foreknow.app.cli.defense_choices import (
    NOISY,
    NOISY_SETTINGS,
    defense_text,
    fresh_seed,
    read_defense,
    seeded_generator,
)
from foreknow.app.cli.files.columns import Columns, notice_codes
from foreknow.app.cli.files.run_settings import cleaned_as_published, published_options, run_settings
from foreknow.app.cli.files.written_tables import formula_cells, write_table
from foreknow.app.cli.options import TableOptions, flag_of, refuse_first
from foreknow.app.cli.terminal import (
    PrintedTable,
    definitions,
    error_console,
    notice,
    say,
    say_sentences,
    say_verdict,
    show,
    tracked,
)
from foreknow.app.cli.typed_commands import check_lines, next_lines, unused_path
from foreknow.app.ledger import Ledger, Unit
from foreknow.app.noisy_publication import (
    REPEATABLE,
    NoisySeries,
    in_domain,
    noise_record,
    noisy_certificate,
    promise_record,
    series_at,
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
from foreknow.attacks import OthersKnown
from foreknow.defenses import NoisyCounts, Promise
from foreknow.defenses.noisy_counts import opendp
from foreknow.evaluation.checks.certificate import CERTIFICATE, checksums_of
from foreknow.evaluation.checks.program import checksum, settings
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.evaluation.scenario import SEQUENTIAL
from foreknow.models import History, MarkovChain, NoisyRelease, Schema
from foreknow.models.settings import counted
from foreknow.models.tables.table_files import existing_file

type PublishRun = Any
"""Options of `foreknow publish`: ``PublishRun`` of its module, which imports this one."""

type CheckRun = Any
"""Options of `foreknow check`, likewise."""

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


def publish_noisy(run: PublishRun) -> Outcome:
    """Publish noisy counts of the views of a table, or of those that are new in a series, and print the promise."""
    series = _series(run)
    defense = _defense(run, series)
    if not run.for_experiment:
        opendp()
    inside = [run.published, *(Path(PUBLIC, name) for name in (RELEASE, CERTIFICATE))]
    check_output(run.out, [*inside, *(Path(PRIVATE, name) for name in (MANIFEST, SETTINGS))], run.inputs, run.overwrite)
    history, corpus = _read(run, series)
    before = () if series is None else series.releases(history)
    views = history.views[len(before) :]
    refuse_first(
        {
            f"All {len(history)} releases of the records are published in {run.series} already.": not views,
            f"The records have {len(history)} releases, and the noise is set for {defense.releases}: more would pass the promise. "
            "Publish fewer, or begin a series of its own with more --releases.": len(history) > defense.releases,
            "--overwrite would draw the noise anew, and both draws tell of the same records; give another --out, or a --ledger, "
            "which counts both.": run.overwrite and run.out.exists() and not run.for_experiment and run.ledger is None,
        }
    )
    seed = (fresh_seed() if run.seed is None else run.seed) if run.for_experiment else None
    if seed is not None:
        defense = replace(defense, rng=seeded_generator(seed, 2 + len(before)))
    releases, ledger = [*before], _ledger(run, defense, history.schema, [one.time for one in before])
    people = {view.time: view.people.respondents for view in views}
    # What is spent is on disk before noise is drawn: a run that is killed has spent it.
    with nullcontext() if ledger is None else ledger.spend(people, _amount(ledger, defense), run.again):
        for view in tracked(views, "publishing"):
            prior = np.full((len(view), len(view.schema.values)), np.nan)  # not read
            releases.append(NoisyRelease(view, defense(view, prior, tuple(releases))))
        with error_console.status("writing"):
            formulas = _write(run, releases, defense, seed)
    chain = None if corpus is None else MarkovChain.fit(corpus, 1, run.known.pseudo_count)
    return _told(run, releases, len(before), defense, chain, formulas, ledger)


def _ledger(run: PublishRun, defense: NoisyCounts, schema: Schema, published: Sequence[Any]) -> Ledger | None:
    """The ledger in which the releases are spent, as those at the published times were; a new one if there is no file."""
    path = run.ledger
    if path is None:
        return None
    unit: Unit = "rho" if defense.epsilon is None else "epsilon"
    series = Ledger.series_of(schema.sensitive, schema)
    if path.exists():
        if run.budget is not None:
            raise ValueError(f"--budget is that of a new ledger, and {path} has one; leave it out.")
        ledger = Ledger.read(path, unit, series)
        if missing := ledger.missing(published):
            raise ValueError(
                f"{path} has no release at {missing[0]!r}, which {run.series} publishes: that series was spent in another ledger, "
                "or in none. Name its own."
            )
        return ledger
    if run.series is not None:
        raise ValueError(
            f"there is no {path}, and a new ledger would not know what the releases of {run.series} have spent; name theirs."
        )
    whole = getattr(defense.promise, unit)
    return Ledger.create(path, unit, whole if run.budget is None else run.budget, series)


def _amount(ledger: Ledger, defense: NoisyCounts) -> float:
    """Amount that one release spends, in the unit of a ledger."""
    return float(getattr(Promise(defense.law, 1), ledger.unit))


def _series(run: PublishRun) -> NoisySeries | None:
    """The series that goes on, if its files are as they were written, and no option is given that it settles."""
    given = given_options(run.context)
    refuse_first(
        {f"{NOISY} does not read {flag_of(name)}; leave it out.": name in given for name in OF_GROUPS}
        | {
            f"--seed is not read by {NOISY}: OpenDP draws the noise and takes no seed, as one that is found takes the noise off. "
            "For an experiment add --for-experiment, which draws by NumPy and marks the output as not for release.": (
                run.seed is not None and not run.for_experiment
            ),
            "--ledger is not read with --for-experiment, which publishes nothing; leave it out.": run.ledger
            and run.for_experiment,
            f"--ledger {run.ledger} is in the folder of --out, and would be lost with it; name a place outside of it.": (
                run.ledger is not None and run.out.resolve() in run.ledger.resolve().parents
            ),
            "--budget and --again are read with --ledger FILE; name one, or leave them out.": (
                run.ledger is None and (run.budget is not None or run.again)
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
    options = published_options(series.folder / PRIVATE / SETTINGS)
    if options is None:
        raise ValueError(
            f"--series {run.series} has no {PRIVATE}/{SETTINGS}, which tells the ledger that it was spent in; name the whole "
            "folder of --out."
        )
    spent_in = options.get("ledger")
    if spent_in is not None and (run.ledger is None or _differ(run.ledger, Path(spent_in))):
        raise ValueError(f"--series {run.series} was spent in the ledger {spent_in}; name it by --ledger.")
    if series.noise["for_release"] == run.for_experiment:
        way_out = "leave --for-experiment out" if run.for_experiment else "add --for-experiment"
        raise ValueError(
            f"--series {run.series} is {'' if series.noise['for_release'] else 'an experiment, and not '}for release; {way_out}."
        )
    return series


def _differ(path: Path, recorded: Path) -> bool:
    """True if a path is another file than a recorded one that is still there."""
    return recorded.exists() and path.resolve() != recorded.resolve()


def _defense(run: PublishRun, series: NoisySeries | None) -> NoisyCounts:
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


def _read(run: PublishRun, series: NoisySeries | None) -> tuple[History, History | None]:
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

    def settled(schema: Schema, tables: Sequence[pd.DataFrame]) -> Schema:
        if series is not None:
            return series.schema(schema, tables)
        return schema if domain is None else replace(schema, values=tuple(domain))

    return _histories(columns, run.table.records, run.corpus, settled)


def _histories(
    columns: Columns, records: Path, corpus: Path | None, settled: Callable[[Schema, Sequence[pd.DataFrame]], Schema]
) -> tuple[History, History | None]:
    """The histories of the records and of a corpus, with the schema that is settled from the inferred one and the tables."""
    tables = columns.read(*(path for path in (records, corpus) if path is not None))
    inferred = columns.schema(*tables)
    notice_codes(inferred, tables[0])
    schema = settled(inferred, tables)
    found = [History.read(in_domain(table, schema), schema, columns.time) for table in tables]
    return found[0], None if corpus is None else found[1]


def _values_of(path: Path, encoding: str) -> list[Any]:
    """The domain in a file of one value a line: whole numbers if all are."""
    text = existing_file(path, "--values takes a text file of one value a line").read_text(encoding=encoding)
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if len(lines) < 2:
        raise ValueError(f"--values {path} lists {counted(len(lines), 'value')}; list all that may occur, one a line.")
    numbers = [line.removeprefix("-") for line in lines]
    whole = all(each.isdecimal() and (each == "0" or not each.startswith("0")) for each in numbers)
    return [int(line) for line in lines] if whole else lines


def _write(run: PublishRun, releases: list[NoisyRelease], defense: NoisyCounts, seed: int | None) -> int:
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
        repeatable = {"repeatable": REPEATABLE[not run.for_experiment]}
        write_json(folder / PRIVATE / SETTINGS, run_settings(run.context, run.inputs, seed) | repeatable)
        sums = sums_below(folder / PRIVATE, folder / PRIVATE) | sums_below(folder / PUBLIC, folder / PRIVATE)
        write_manifest(folder / PRIVATE, {str(run.table.records): checksum(run.table.records)}, sums)
    return formula_cells(table)


def _told(
    run: PublishRun,
    releases: list[NoisyRelease],
    before: int,
    defense: NoisyCounts,
    chain: MarkovChain | None,
    formulas: int,
    ledger: Ledger | None,
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
        kept = "" if run.ledger else " A --ledger refuses the second one."
        notice(
            "The output is not repeatable: OpenDP draws the noise, and takes no seed. Keep it: the same command draws other noise, "
            f"and two draws of one release break the promise.{kept}"
        )
    table = run.out / run.published
    say(
        f"For the public: {table}, with {RELEASE} and {CERTIFICATE} beside it.",
        f"Settings: {run.out / PRIVATE / SETTINGS}. There is no key, no seed and no noise to keep secret.",
        f"Releases that the promise still covers: {left}. To publish later ones: --series {run.out}.",
        *([] if ledger is None else [_left_line(ledger)]),
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
        "ledger": None if ledger is None else str(ledger.path),
        "published": str(table),
        "settings": str(run.out / PRIVATE / SETTINGS),
    }
    return Outcome(content)


def _left_line(ledger: Ledger) -> str:
    """Line on the budget that is left to the respondent who has spent most of it."""
    left = float(ledger.spent()["left"].min())
    return (
        f"Ledger, for you alone: {ledger.path}. The respondent who has spent most has {left:.3g} of {ledger.budget:.3g} "
        f"{ledger.unit} left. Keep it with a backup: no release may be published without it."
    )


def refuse_noisy(paths: Sequence[Path], way_out: str) -> None:
    """Raise ValueError if a published table has noisy counts, whose rows are no records."""
    for path in paths:
        if path.is_file() and series_at(path) is not None:
            raise ValueError(f"{path} has noisy counts, and its rows are no records; {way_out}.")


def releases_table(releases: Sequence[NoisyRelease]) -> pd.DataFrame:
    """Records, cells and counts of each release, and the standard deviation of a count."""
    rows = []
    for one in releases:
        sizes = np.bincount(one.group, minlength=len(one.made.cells))
        row = {"time": one.time, "records": len(one.view), "cells": len(sizes), "smallest": int(sizes.min())}
        rows.append(row | {"counts": one.counts.size, "error": float(np.sqrt(one.made.noise.variance))})
    return pd.DataFrame(rows)


def promise_title(promise: Promise) -> str:
    """Title of a table of a promise."""
    return f"Promise to each respondent, for {counted(promise.releases, 'release')} together"


def promise_table(promise: Promise, chain: MarkovChain | None = None) -> pd.DataFrame:
    """All forms of a promise as text; the epsilon of one release only where a chain tells what all releases give away of it."""
    found = promise.frame(chain)
    texts = [each if isinstance(each, str) else "none" if np.isinf(each) else f"{each:.3g}" for each in found["value"]]
    return found.assign(value=texts)


def show_promise(promise: Promise, chain: MarkovChain | None = None) -> None:
    """Print a promise."""
    show(PrintedTable(promise_table(promise, chain), promise_title(promise)))


DRAWN_ANEW = "Restore the files from a backup. Publishing again draws other noise, and two draws of one release break the promise."
"""Advice where files of noisy counts are not as they were written."""

NONE_OF_GROUPS = "noisy counts have no groups, so no requirement of groups applies"
"""Reason for which thresholds are refused, and said by a check."""

TOLERANCE = 1e-9
"""Relative rounding error of a number of a promise."""


def check_noisy(run: CheckRun, series: NoisySeries) -> Outcome:
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
    """Each claim on noisy counts, whether it holds, and what was found. One record of each respondent is a rule of a `View`."""
    noise, law, defense = series.noise, series.law, read_defense(series.described["settings"])
    number, most, counted_all = len(series.times), noise["releases"], "a count for each release, cell and value"
    is_law = isinstance(defense, NoisyCounts) and np.isclose(defense.scale, law.scale, rtol=TOLERANCE)
    is_law = is_law and (defense.law.law, defense.law.clamped) == (law.law, law.clamped)  # type: ignore[union-attr]
    is_promise = _rounded(noise["promise"]) == _rounded(promise_record(series.promise))
    checked = [
        ("the law of the noise is that of the settings", bool(is_law), f"{law.law}, scale {law.scale:.4g}"),
        ("the promise is that of the noise", is_promise, f"rho {series.promise.rho:.4g}"),
        ("no more releases than the noise is set for", number <= most, f"{number} of {most}"),
    ]
    try:
        counts, table = series.counts(), series.read_table()
    except (ValueError, KeyError) as error:
        return [*checked, (counted_all, False, str(error))]
    labels = table.groupby("cell")[list(series.columns["quasi_identifiers"])].nunique()
    is_whole = (counts == np.round(counts)).all() and (not law.clamped or (counts >= 0).all())
    return [
        *checked,
        (counted_all, True, " x ".join(map(str, counts.shape))),
        (f"noisy counts are whole numbers{', none negative' * law.clamped}", bool(is_whole), f"{counts.size}"),
        ("cells are the same in all releases", bool((labels == 1).all(axis=None)), f"{len(labels)} cells"),
    ]


def _rounded(record: Mapping[str, Any]) -> Any:
    """A record with nine digits of each number."""
    return json.loads(json.dumps(record), parse_float=lambda text: f"{float(text):.9g}")


ATTACK_TERMS = {
    "gain": "mean of (belief in the true value - b) / (1 - b), where b is its probability before any release",
    "others known": "the same gain of an adversary who knows all values of the others, as the promise assumes",
    "success": "share of records whose most probable value is the true value",
    "confidence": "mean belief in the true value",
    "sure": "number of beliefs of at least {sure:g}",
    "right": "number of sure beliefs that are right",
}
"""Meaning of the columns of an attack on noisy counts."""


class Attacks(NamedTuple):
    """Findings of each adversary on noisy counts; those of each release are of the first one, with gains over the law.

    ``others_known`` is None for clamped counts, from which those of the others cannot be taken out.
    """

    found: list[Found]
    published: list[NoisyRelease]
    releases: pd.DataFrame
    gain: float
    others_known: float | None

    def lines(self, promise: Promise, fail_over: float | None) -> list[str]:
        """The verdict on each adversary, and both gains beside the promise."""
        of_known = "not measured" if self.others_known is None else f"{self.others_known:.3f}"
        return [
            *verdict_lines(self.found, fail_over),
            f"Gain over the law, mean over all records: {self.gain:.3f}; with all others known {of_known}, "
            f"promised for any prior and any values: at most {promise.gain:.3f} on average over the noise.",
        ]

    def terms(self, sure: float) -> dict[str, str]:
        """Meaning of the columns of the table of the releases."""
        return {name: text.format(sure=sure) for name, text in ATTACK_TERMS.items() if name in self.releases}

    def content(self, promise: Promise, fail_over: float | None) -> dict[str, Any]:
        """The findings as JSON has them."""
        gains: dict[str, Any] = {"gain_over_law": self.gain, "gain_others_known": self.others_known}
        found = {"releases": self.releases, "promise": promise_record(promise)}
        return adversaries_content(self.found, fail_over) | gains | found


def attacks_on(
    table: TableOptions, corpus: Path | None, chosen: AttackOptions, series: NoisySeries, sure: float, context: Any
) -> Attacks:
    """The attacks of each adversary on a series, of the records that it was made from."""
    _check_noisy_attack(chosen, given_options(context))
    _check_unchanged(series, table.records)
    with cleaned_as_published(series.folder / PRIVATE / SETTINGS, context):
        everything, known = _histories(table.columns, table.records, corpus, series.schema)
    releases: Any = series.releases(everything)
    history = History([one.view for one in releases])
    read = Attacked(history.schema, history, releases, known)
    adversaries = sources(chosen, read)
    notice_compilation(chosen.solver, chosen.estimator, LEARNED in adversaries)
    found = [found_by(replace(chosen, source=source), read, history, sure) for source in adversaries]
    for note in found[0].beliefs.notes:
        notice(note)
    notice_others(found)
    return Attacks(found, list(releases), *_over_law(found[0], releases, history, sure))


def attack_noisy(run: AttackRun, series: NoisySeries) -> Outcome:
    """Attack noisy counts by the joint adversary, and by one who knows all others; print both gains beside the promise."""
    run = replace(run, groups=series.table_path)
    run.check_attack()
    if run.out is not None:
        check_output(run.out, run.names, run.inputs, run.overwrite)
    made = attacks_on(run.table, run.corpus, run.attack, series, run.sure, run.context)
    verdict = made.lines(series.promise, run.fail_over)
    say_verdict(*verdict)
    show(PrintedTable(made.releases, run.attack.title))
    show(definitions(made.terms(run.sure)))
    show("")
    show_promise(series.promise)
    if run.out is not None:
        columns = ["respondent", "time", "value", "belief", "prior"]
        risky = [one.exposed.at_risk[columns].assign(adversary=one.source or "") for one in by_exposure(made.found)]
        beliefs = posterior_table(made.found[0].beliefs, run.table.columns.time).rename(columns={"group": "cell"})
        write_attack(run, run.out, beliefs, pd.concat(risky, ignore_index=True), lambda _: None)
    say_sentences(*verdict)
    if run.out is not None:
        say_files(run)
    say(*next_lines(run.context, "report", f"--groups {series.folder}", f"--out {unused_path('report.html')}"))
    content = made.content(series.promise, run.fail_over) | {"attack": run.chosen.attack} | files_content(run)
    return Outcome(content, any(is_over(one.exposed, run.fail_over) for one in made.found))


def _over_law(one: Found, releases: Any, history: History, sure: float) -> tuple[pd.DataFrame, float, float | None]:
    """Risk of each release with gains over the law, with that of an adversary who knows all others, and both means."""
    table = risk_table(one.beliefs, history, sure=sure, baseline="law").rename(columns={"published": "records"})
    if not releases[0].made.noise.clamped:
        known = one.beliefs
        if not isinstance(one.attack, OthersKnown):
            with error_console.status("attacking with all others known"):
                known = OthersKnown(one.attack, history)(releases)
        table["others known"] = risk_table(known, history, sure=sure, baseline="law")["gain"]
    records = table["records"].to_numpy(dtype=float)
    mean, others = (
        float(np.average(table[name], weights=records)) if name in table else None for name in ("gain", "others known")
    )
    assert mean is not None
    return table[[name for name in ("time", "records", *ATTACK_TERMS) if name in table]], mean, others


def _check_noisy_attack(chosen: AttackOptions, given: Collection[str]) -> None:
    """Raise ValueError if an option is given by which groups alone are attacked."""
    settled, joint = chosen.settled, "noisy counts are read by the joint attack alone"
    refuse_first(
        {
            f"--attack {chosen.attack} reads groups, and {joint}; leave --attack out, or choose --scenario exact-but-one.": (
                settled is None and chosen.attack != "joint"
            ),
            f"--scenario {chosen.attack} has a solver or knowledge of groups, and {joint}. Set a joint solver, knows = 'group' or "
            "'others', and no mechanism.": settled is not None
            and (settled.solver == SEQUENTIAL or settled.mechanism == "rule"),
        }
        | {
            f"{flag_of(name)} is not read for noisy counts; leave it out.": name in given
            for name in ("signatures", "estimator", "pictures", "from_disk")
        }
    )


def _check_unchanged(series: NoisySeries, records: Path) -> None:
    """Raise ValueError unless the published files and the records are those of one run, where its checksums are here."""
    folder = series.folder
    manifest = folder / PRIVATE / MANIFEST
    if not manifest.exists():
        notice(f"No {manifest}: it is not checked that {series.public} belongs to {records}.")
        return
    if found := differences(folder, listed_in(manifest), (f"{PUBLIC}/",)):
        raise ValueError(f"{folder / found[0].file} is {found[0].state}; it is not as it was published.")
    if checksum(records) not in listed_in(manifest, "records").sums.values():
        raise ValueError(
            f"{records} is not the file that {folder} was made from: its checksum is not the one in {manifest}. Give that file."
        )
