"""Noisy counts on the command line: the series and the ledger of a publication, its promise, its check and its attack."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.attack_choices import Attacked, AttackOptions, check_noisy_attack
from foreknow.app.cli.command_shape import Outcome, given_options
from foreknow.app.cli.commands.attack_findings import (
    Found,
    adversaries_content,
    by_exposure,
    findings,
    is_over,
    notice_others,
    verdict_lines,
)
from foreknow.app.cli.defense_choices import NOISY, NOISY_SETTINGS, read_defense
from foreknow.app.cli.files.run_settings import cleaned_as_published, notice_unchecked_key, published_options
from foreknow.app.cli.options import Settle, TableOptions, flag_of, option_texts, refuse_first
from foreknow.app.cli.terminal import ExplainedTable, error_console, notice
from foreknow.app.ledger import Ledger, Unit
from foreknow.app.noisy_publication import (
    NOT_FOR_RELEASE,
    REPEATABLE,
    ROUNDING,
    NoisySeries,
    in_domain,
    promise_record,
    series_at,
)
from foreknow.app.publication import PRIVATE, RELEASE, SETTINGS, differences, listing_of
from foreknow.attacks import OthersKnown
from foreknow.defenses import NoisyCounts, Promise
from foreknow.evaluation.risk.adversary_gain import risk_table
from foreknow.models import History, MarkovChain, NoisyRelease, Schema
from foreknow.models.settings import counted
from foreknow.models.tables.table_files import existing_file

PublishRun = Any
"""Options of `foreknow publish`: ``PublishRun`` of its module, which imports this one."""

ADDED = ("cell", "noisy_count", "count")
"""Columns that the published table has besides those of the records."""


def series_of(run: PublishRun) -> NoisySeries | None:
    """The series that a publication of noisy counts goes on with, if its files are as they were written; None for a new one.

    Raises ValueError if it is none, or an option is given that is not read, or that the series settles.
    """
    refuse_first(
        {
            f"{NOISY} holds the records in memory; leave --from-disk out. Tables larger than memory are published in groups, as by "
            "--defense cohorts.": run.from_disk,
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
    run.disk.refuse_given("records are read into memory", run.block)
    if run.series is None:
        return None
    series = series_at(run.series)
    if series is None:
        raise ValueError(
            f"--series {run.series} holds no noisy counts; name the folder of --out of foreknow publish --defense {NOISY}."
        )
    if found := differences(run.series, listing_of(run.series)):
        raise ValueError(
            f"{run.series / found[0].file} is {found[0].state}; the series goes on from files as they were written."
        )
    options = published_options(series.settings)
    if options is None:
        raise ValueError(
            f"--series {run.series} has no {PRIVATE}/{SETTINGS}, which tells the ledger that it was spent in; name the whole "
            "folder of --out."
        )
    settled = ", ".join(map(flag_of, sorted(given_options(run.context) & {*NOISY_SETTINGS, "values", "public_values"})))
    ledger, is_experiment = options.get("ledger"), not series.for_release
    # A ledger that was moved is compared by what it holds.
    is_other = run.ledger is None or (
        ledger and Path(ledger).exists() and run.ledger.resolve() != Path(ledger).resolve()
    )
    refuse_first(
        {
            f"--series {run.series} has the cells, the noise and the domain already; leave {settled} out.": settled,
            f"--series {run.series} was spent in the ledger {ledger}; name it by --ledger.": ledger is not None
            and is_other,
            f"--series {run.series} is for release; leave --for-experiment out.": run.for_experiment
            and not is_experiment,
            f"--series {run.series} is an experiment, and not for release; add --for-experiment.": is_experiment
            and not run.for_experiment,
        }
    )
    return series


def series_defense(series: NoisySeries) -> NoisyCounts:
    """The defense of a series; ValueError if it has another law of the noise than that which is published."""
    recorded: Any = read_defense(series.described["settings"])
    is_noisy = isinstance(recorded, NoisyCounts) and np.isclose(recorded.scale, series.law.scale, rtol=ROUNDING)
    if not is_noisy or replace(recorded.law, scale=series.law.scale) != series.law:
        raise ValueError(
            f"{series.public / RELEASE} has settings and a law of the noise that do not fit; give the files as they were written."
        )
    return recorded  # type: ignore[no-any-return]


def domain_of(run: PublishRun, series: NoisySeries | None) -> Settle:
    """The rule that puts the records and a corpus in the domain that is public."""
    columns = run.table.columns
    if taken := [name for name in columns.names if name in ADDED]:
        raise ValueError(f"the column {taken[0]!r} has the name of one that {NOISY} publishes; rename yours.")
    if series is not None:
        return series.settle
    if run.values is None and not run.public_values:
        raise ValueError(
            f"The domain of {columns.sensitive!r} must be public: values read off the records would tell which of them occur. List "
            "every value that may occur in a file, one a line, by --values FILE. If those of the records are public anyway, as the "
            "choices of a form of which each was taken, add --public-values."
        )
    if run.values is None:
        return in_domain
    domain = tuple(_values_of(run.values, run.table.encoding))
    return lambda schema, tables: in_domain(replace(schema, values=domain), tables)


def _values_of(path: Path, encoding: str) -> list[Any]:
    """The domain in a file of one value a line: whole numbers if all are."""
    text = existing_file(path, "--values takes a text file of one value a line").read_text(encoding=encoding)
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if len(lines) < 2:
        raise ValueError(f"--values {path} lists {counted(len(lines), 'value')}; list all that may occur, one a line.")
    numbers = [line.removeprefix("-") for line in lines]
    whole = all(each.isdecimal() and (each == "0" or not each.startswith("0")) for each in numbers)
    return [int(line) for line in lines] if whole else lines


def ledger_of(run: PublishRun, defense: NoisyCounts, schema: Schema, published: Sequence[Any]) -> Ledger | None:
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


def counts_table(releases: Sequence[NoisyRelease], time: str) -> pd.DataFrame:
    """The published table of all releases."""
    tables = [one.table.astype({one.view.schema.sensitive: object}) for one in releases]
    for table, one in zip(tables, releases, strict=True):
        table.insert(0, time, one.time)
    return pd.concat(tables, ignore_index=True)


def kept_by_publisher(
    run: PublishRun, defense: NoisyCounts, published: int, ledger: Ledger | None
) -> tuple[list[str], dict[str, Any]]:
    """Lines on what the publisher keeps of a publication, and what JSON has of it, after notices of the noise."""
    left, settings = defense.releases - published, f"Settings: {run.out / PRIVATE / SETTINGS}."
    if run.for_experiment:
        notice(NOT_FOR_RELEASE)
        lines = [f"{settings} The seed in them takes the noise off."]
    else:
        kept = "" if run.ledger else " A --ledger refuses the second one."
        notice(
            "The output is not repeatable: OpenDP draws the noise, and takes no seed. Keep it: the same command draws other noise, "
            f"and two draws of one release break the promise.{kept}"
        )
        lines = [f"{settings} There is no key, no seed and no noise to keep secret."]
    later = option_texts(series=run.out, ledger=run.ledger, for_experiment=run.for_experiment)
    lines.append(
        f"Releases that the promise still covers: {left}.{f' To publish later ones: {later}.' if left else ''}"
    )
    content = {
        "promise": promise_record(defense.promise),
        "for_release": not run.for_experiment,
        "repeatable": REPEATABLE[not run.for_experiment],
        "left": left,
        "ledger": None if ledger is None else str(ledger.path),
    }
    return [*lines, *([] if ledger is None else [_left_line(ledger)])], content


def _left_line(ledger: Ledger) -> str:
    """Line on the budget that is left to the respondent who has spent most of it."""
    left = float(ledger.spent()["left"].min())
    return (
        f"Ledger, for you alone: {ledger.path}. The respondent who has spent most has {left:.3g} of {ledger.budget:.3g} "
        f"{ledger.unit} left. Keep it with a backup: no release may be published without it."
    )


RELEASE_TERMS = {
    "records": "number of records, which is public",
    "smallest": "number of records of the smallest cell",
    "counts": "number of published counts: cells times values",
    "error": "standard deviation of a noisy count, in records",
}
"""Meaning of the columns of a publication."""


def releases_table(title: str, releases: Sequence[NoisyRelease]) -> ExplainedTable:
    """Records, cells and counts of each release, and the standard deviation of a count."""
    rows = []
    for one in releases:
        sizes = np.bincount(one.group, minlength=len(one.made.cells))
        row = {"time": one.time, "records": len(one.view), "cells": len(sizes), "smallest": int(sizes.min())}
        rows.append(row | {"counts": one.counts.size, "error": float(np.sqrt(one.made.noise.variance))})
    return ExplainedTable(title, pd.DataFrame(rows), RELEASE_TERMS)


HOUSEHOLDS = (2, 4)
"""Numbers of related respondents for whom a promise is told."""


def promise_table(promise: Promise, chain: MarkovChain | None = None) -> ExplainedTable:
    """All forms of a promise as text, and those for households.

    The epsilon of one release is told only where a chain says what all releases give away of it.
    """
    rows = promise.frame(chain).to_numpy().tolist()
    for members in HOUSEHOLDS:
        epsilon, rho = promise.household(members)
        at_delta = ""
        if np.isinf(epsilon):
            # Noise of this scale has the rho of the household for one respondent.
            alike = replace(promise.noise, scale=promise.noise.scale / members)
            epsilon, at_delta = replace(promise, noise=alike).epsilon_delta, f" at delta {promise.delta:g}"
        rows += [[f"epsilon of a household of {members}{at_delta}", epsilon], [f"rho of a household of {members}", rho]]
    found = pd.DataFrame(rows, columns=pd.Index(["promise", "value"]))
    texts = [each if isinstance(each, str) else "none" if np.isinf(each) else f"{each:.3g}" for each in found["value"]]
    title = f"Promise to each respondent, for {counted(promise.releases, 'release')} together"
    return ExplainedTable(title, found.assign(value=texts))


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

    series: NoisySeries
    found: list[Found]
    published: Sequence[NoisyRelease]
    releases: pd.DataFrame
    gain: float
    others_known: float | None

    def lines(self, fail_over: float | None) -> list[str]:
        """The verdict on each adversary, and both gains beside the promise."""
        of_known = "not measured" if self.others_known is None else f"{self.others_known:.3f}"
        return [
            *([] if self.series.for_release else [NOT_FOR_RELEASE]),
            *verdict_lines([one.exposed for one in by_exposure(self.found)], fail_over),
            f"Gain over the law, mean over all records: {self.gain:.3f}; with all others known {of_known}, "
            f"promised for any prior and any values: at most {self.series.promise.gain:.3f} on average over the noise.",
        ]

    def table(self, title: str, sure: float) -> ExplainedTable:
        """Risk at each release."""
        terms = {name: text.format(sure=sure) for name, text in ATTACK_TERMS.items() if name in self.releases}
        return ExplainedTable(title, self.releases, terms)

    def outcome(self, fail_over: float | None, more: Mapping[str, Any]) -> Outcome:
        """The findings as JSON has them, and the exit status."""
        promise = promise_record(self.series.promise)
        content = {"releases": self.releases, "promise": promise, "for_release": self.series.for_release}
        content |= {"gain_over_law": self.gain, "gain_others_known": self.others_known}
        failed = any(is_over(one.exposed, fail_over) for one in self.found)
        return Outcome(adversaries_content(self.found, fail_over) | content | dict(more), failed)


def attacks_on(
    table: TableOptions, corpus: Path | None, chosen: AttackOptions, series: NoisySeries, sure: float, context: Any
) -> Attacks:
    """The attacks of each adversary on a series, of the records that it was made from."""
    check_noisy_attack(chosen, given_options(context))
    notice_unchecked_key(series.settings, table.records)
    with cleaned_as_published(series.settings, context):
        read = table.read(corpus, series.settle)
    releases = series.releases(read.history)
    history = History([one.view for one in releases])
    found = findings(chosen, Attacked(read.schema, history, releases, read.corpus), history, sure)
    for note in found[0].beliefs.notes:
        notice(note)
    notice_others(found)
    return Attacks(series, found, releases, *_over_law(found[0], releases, history, sure))


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
