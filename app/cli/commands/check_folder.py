"""`foreknow check FOLDER`: the files of a publication against its manifest, and its requirements recomputed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.cli.commands.noisy_runs import series_defense
from foreknow.app.cli.options import DiskOptions
from foreknow.app.cli.terminal import PrintedTable, error_console, notice, say, show
from foreknow.app.exposure import TwoSides, counted_sides
from foreknow.app.noisy_publication import NoisySeries, promise_record
from foreknow.app.publication import (
    BEGUN,
    MANIFEST,
    PRIVATE,
    PUBLIC,
    RELEASE,
    SETTINGS,
    Difference,
    Listing,
    differences,
    key_at,
    listed_in,
    listing_of,
    read_json,
)
from foreknow.defenses import REQUIREMENTS, Requirement, all_of
from foreknow.evaluation.checks.certificate import CERTIFICATE, conjuncts
from foreknow.evaluation.checks.program import checksum
from foreknow.models import Numeric, Observation, People, Schema
from foreknow.models.arrays import IntArray
from foreknow.models.tables.table_files import columns_of, read_table

MOST_DIFFERENCES = 20
"""Number of files that are listed on the terminal."""


class PublishedColumns(NamedTuple):
    """Published tables, their sensitive column, their quasi-identifiers and the column of their releases."""

    tables: list[Path]
    sensitive: str
    quasi_identifiers: list[str]
    time: str | None


class Publication(NamedTuple):
    """Folder that `foreknow publish` or `publish_large` wrote, as the user named it, and that of its published tables."""

    folder: Path
    public: Path
    listing: Listing

    @property
    def on_disk(self) -> bool:
        """True if it was published from disk, and its private folder is here."""
        return (self.folder / PRIVATE / BEGUN).exists()

    @property
    def key(self) -> Path | None:
        """File of the groups, or the folder if it was published from disk; None for the public folder alone."""
        if self.on_disk:
            return self.folder
        key = key_at(self.folder)
        return None if key == self.folder else key

    @property
    def columns(self) -> PublishedColumns:
        """Files and columns of the published tables."""
        described = read_json(self.public / RELEASE)
        columns = described["columns"]
        tables = [self.public / name for name in dict.fromkeys(name.partition("/")[0] for name in described["sha256"])]
        return PublishedColumns(tables, columns["sensitive"], columns["quasi_identifiers"], columns["time"])


def publication_at(folder: Path) -> Publication:
    """Publication in a folder: that of --out, or the public folder alone.

    Raises
    ------
    ValueError
        As `listing_of`.
    """
    listing = listing_of(folder)
    return Publication(folder, folder if listing.path.parent == folder else folder / PUBLIC, listing)


def check_certified(publication: Publication) -> None:
    """Raise ValueError if a publication has no certificate, and its manifest lists none, which would be missing."""
    listed = {Path(name).name for name in publication.listing.sums} | {publication.listing.path.name}
    if CERTIFICATE not in listed and not (publication.public / CERTIFICATE).exists():
        raise ValueError(
            f"{publication.folder} has no {CERTIFICATE}, which names the requirements to recompute: publish_large wrote it, which "
            "certifies nothing, or foreknow publish was interrupted. Run that command again, or give thresholds, as -k 3."
        )


def differing_files(folder: Path, listing: Listing) -> list[Difference]:
    """Files of a folder that are changed, missing or extra; they are printed, at most `MOST_DIFFERENCES`."""
    with error_console.status("comparing checksums"):
        found = differences(folder, listing)
    if found:
        show(PrintedTable(pd.DataFrame(found[:MOST_DIFFERENCES]), f"Files of {folder}", keys=1))
    if len(found) > MOST_DIFFERENCES:
        say(f"and {len(found) - MOST_DIFFERENCES} more.")
    return found


def files_line(found: list[Difference], program: str = "foreknow publish") -> str:
    """The verdict on the files in one line, which names the first of each kind and the program that wrote the others."""
    by_state: dict[str, list[str]] = {}
    for one in found:
        by_state.setdefault(one.state, []).append(one.file)
    parts = [
        f"{first}{f' and {len(others)} more are' if others else ' is'} {state}"
        for state, (first, *others) in by_state.items()
    ]
    return f"FAILED: {'; '.join(parts)}. The files in the folder are not those of one run of {program}."


def certified_requirement(publication: Publication) -> Requirement | None:
    """Conjunction of the requirements of the certificate that published tables show; a notice names the others."""
    kinds = {kind.__name__: kind for kind in REQUIREMENTS.values()}
    parts: list[Requirement] = []
    for one in read_json(publication.public / CERTIFICATE)["enforced"]["requirements"]:
        try:
            part = kinds[one["name"]](**one["parameters"])
        except (KeyError, TypeError, ValueError):
            part = None
        if part is None:
            notice(f"Not recomputed here: {one['text']}; its definition or its settings are not in the certificate.")
        elif part.weighs_beliefs:
            notice(f"Not recomputed here: {one['text']}; it is on beliefs, which no published table shows.")
        else:
            parts.append(part)
    return all_of(*parts) if parts else None


def requirement_row(time: Any, name: Any, groups: pd.DataFrame, requirement: Requirement) -> dict[str, object]:
    """One requirement over all groups of a release, from rows of `verify_table`."""
    sense = next(part.sense for part in conjuncts(requirement) if repr(part) == name)
    failing = groups[~groups["holds"]]
    return {
        "release": time,
        "requirement": name,
        "groups": len(groups),
        "worst": groups["level"].min() if sense == "at least" else groups["level"].max(),
        "threshold": threshold_text(sense, groups["bound"].iloc[0]),
        "failing": len(failing),
        "first failing": "" if failing.empty else failing["group"].iloc[0],
    }


def large_findings(found: pd.DataFrame, requirement: Requirement) -> pd.DataFrame:
    """Findings of `verify_large` with the columns of the table that the command prints."""
    senses = found["requirement"].map({repr(part): part.sense for part in conjuncts(requirement)})
    return pd.DataFrame(
        {
            "release": found["time"],
            "requirement": found["requirement"],
            "groups": found["groups"],
            "worst": found["lowest"].where(senses == "at least", found["highest"]),
            "threshold": [threshold_text(sense, bound) for sense, bound in zip(senses, found["bound"], strict=True)],
            "failing": found["failing"],
            "first failing": "",
        }
    )


def threshold_text(sense: str, bound: float) -> str:
    """A threshold as the table of `foreknow check` prints it, as narrow as its heading.

    >>> threshold_text("at least", 12.0)
    '>= 12'
    """
    sign = {"at least": ">=", "at most": "<=", "below": "<"}[sense]
    return f"{sign} {bound:g}"


def sides_of_key(publication: Publication, disk: DiskOptions) -> TwoSides | None:
    """The verdict with two sides by the groups in the key of a publication, `counted_sides`.

    None without a key, and for distorted values.
    """
    if publication.on_disk:
        from foreknow.app.disk.bounds import counted_sides_large  # DuckDB is loaded where it is used
        from foreknow.app.disk.publication import LargeReleases

        engine = disk.engine("bounding beliefs, batches of respondents")
        return counted_sides_large(LargeReleases(publication.folder), engine=engine)
    if publication.key is None:
        return None
    tables, sensitive, _, _ = publication.columns
    respondent, time = columns_of(publication.key)[:2]
    shown = pd.concat([read_table(table, [time]) for table in tables], ignore_index=True)
    key = read_table(publication.key, [respondent, time])
    own = key[respondent].notna() & (key["ghost"].isna() if "ghost" in key.columns else True)
    if "published" in key.columns and key.loc[own, "published"].notna().any():
        return None
    shown = shown if time in shown.columns else shown.assign(**{time: key[time].iloc[0]})
    values = tuple(sorted(shown[sensitive].unique().tolist(), key=str))
    schema = Schema({"-": Numeric(0, 0)}, "value", values)

    def people(rows: pd.DataFrame) -> tuple[People, IntArray]:
        names = rows[respondent].to_numpy(dtype=object)
        return People(names, np.zeros((len(names), 1)), schema), rows["group"].to_numpy(dtype=np.int64)

    observations = []
    for number, when in enumerate(key[time].unique()):
        here, public = key[time] == when, shown[shown[time] == when]
        counts = np.zeros((int(public["group"].max()) + 1 if len(public) else 0, len(values)), dtype=np.int64)
        np.add.at(counts, (public["group"].to_numpy(), pd.Index(values).get_indexer(public[sensitive])), 1)
        ghosts, ghost_group = people(key[here & ~own & key[respondent].notna()])
        listed, group = people(key[here & own])
        observations.append(Observation(listed, group, counts, number, ghosts=ghosts, ghost_group=ghost_group))
    return counted_sides(observations)


def promise_checks(series: NoisySeries) -> list[tuple[str, bool, str]]:
    """Each claim on noisy counts, whether it holds, and what was found. One record of each respondent is a rule of a `View`."""
    noise, law = series.noise, series.law
    number, most, counted_all = len(series.times), noise["releases"], "a count for each release, cell and value"
    try:
        is_law = bool(series_defense(series))
    except ValueError:
        is_law = False
    is_promise = _rounded(noise["promise"]) == _rounded(promise_record(series.promise))
    checked = [
        ("the law of the noise is that of the settings", is_law, f"{law.law}, scale {law.scale:.4g}"),
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


BELIEFS, AT_RISK = "beliefs", "at-risk.parquet"
"""Folder of the beliefs and file of the exposed respondents in --out."""

WRITTEN = "written"
"""Key in the settings of an attack from disk: the checksums of all files beside them."""


class AttackFolder(NamedTuple):
    """Folder of ``foreknow attack --from-disk``, or of beliefs that `attack_large` wrote, as the user named it.

    ``listing`` has the checksums of all files: of the settings of a run, or of the manifest of the beliefs alone. ``settings`` is
    ``settings.json`` of the run; None for beliefs without one beside their folder.
    """

    folder: Path
    listing: Listing
    settings: Path | None

    @property
    def is_whole(self) -> bool:
        """True for the folder of a run, False for its beliefs alone."""
        return self.listing.path == self.settings


def written_sums(out: Path, scratch: Path) -> dict[str, dict[str, str]]:
    """Checksums of the beliefs and of the exposed respondents, which are in a scratch folder, for the settings."""
    manifest = out / BELIEFS / MANIFEST
    sums = {AT_RISK: checksum(scratch / AT_RISK), f"{BELIEFS}/{MANIFEST}": checksum(manifest)}
    return {WRITTEN: sums | {f"{BELIEFS}/{name}": sum_ for name, sum_ in listed_in(manifest).sums.items()}}


def attack_at(folder: Path) -> AttackFolder | None:
    """Attack from disk in a folder; None if it holds something else.

    Raises
    ------
    ValueError
        If the attack is not complete, or a file with checksums cannot be read.
    """
    if (folder / PRIVATE).is_dir():
        return None
    if _has_beliefs(folder):
        if not (folder / MANIFEST).exists():
            raise ValueError(f"{folder} holds beliefs that are not complete; run the attack that began them again.")
        beside = folder.parent / SETTINGS
        is_of_run = folder.name == BELIEFS and WRITTEN in _content(beside)
        return AttackFolder(folder, listed_in(folder / MANIFEST), beside if is_of_run else None)
    settings = folder / SETTINGS
    if WRITTEN not in _content(settings) and not _has_beliefs(folder / BELIEFS):
        return None
    if not settings.exists():
        raise ValueError(
            f"{folder} holds an attack that is not complete: {SETTINGS} is written last. Run the command that began it again, or "
            f"check its beliefs alone: foreknow check {folder / BELIEFS}."
        )
    return AttackFolder(folder, listed_in(settings, WRITTEN), settings)


def _has_beliefs(folder: Path) -> bool:
    """Return whether a folder holds beliefs of `attack_large`, complete or begun."""
    return "doubtful_groups" in _content(folder / MANIFEST) or "attack" in _content(folder / BEGUN).get("settings", {})


def _content(path: Path) -> Mapping[str, Any]:
    """Content of a JSON file; empty if it is absent or holds something else."""
    try:
        return read_json(path)
    except ValueError:
        return {}
