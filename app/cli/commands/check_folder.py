"""`foreknow check FOLDER`: the files of a publication against its manifest, and its requirements recomputed."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from foreknow.app.cli.files.release_files import RELEASE
from foreknow.app.cli.files.run_settings import SETTINGS
from foreknow.app.cli.printing.printed_table import PrintedTable
from foreknow.app.cli.printing.terminal import error_console, notice, say, show
from foreknow.defenses import REQUIREMENTS, Requirement, all_of
from foreknow.evaluation.checks.certificate import FINDINGS, conjuncts
from foreknow.evaluation.checks.manifest import (
    BEGUN,
    CERTIFICATE,
    MANIFEST,
    PRIVATE,
    PUBLIC,
    Difference,
    Listing,
    checksum,
    differences,
    listing_of,
    read_json,
)

MOST_DIFFERENCES = 20
"""Number of files that are listed on the terminal."""

SIGNS = {"at least": ">=", "at most": "<=", "below": "<"}
"""Sign of each relation of a level to its bound."""


class PublishedColumns(NamedTuple):
    """Published tables, their sensitive column, their quasi-identifiers and the column of their releases."""

    tables: list[Path]
    sensitive: str
    quasi_identifiers: list[str]
    time: str | None


class Publication(NamedTuple):
    """Folder that `foreknow publish` or `publish_large` wrote.

    Attributes
    ----------
    folder : Path
        As the user named it.
    public : Path
        Folder of the published tables.
    listing : Listing
    """

    folder: Path
    public: Path
    listing: Listing

    @property
    def described(self) -> dict[str, Any]:
        """Content of ``release.json``: the columns of the published tables, their files and times."""
        return read_json(self.public / RELEASE)

    @property
    def certified(self) -> dict[str, Any]:
        """Content of ``certificate.json``."""
        return read_json(self.public / CERTIFICATE)

    @property
    def on_disk(self) -> bool:
        """True if it was published from disk, in parts."""
        return (self.folder / PRIVATE / BEGUN).exists() or "parts" in self.described

    @property
    def key(self) -> Path | None:
        """File of the groups, or the folder if it was published from disk; None for the public folder alone."""
        private = self.folder / PRIVATE
        if not private.is_dir():
            return None
        return self.folder if self.on_disk else next(iter(sorted(private.glob("groups.*"))), None)

    @property
    def columns(self) -> PublishedColumns:
        """Files and columns of the published tables.

        Raises
        ------
        ValueError
            If ``release.json`` names none.
        """
        try:
            content = self.described
            columns = content["columns"]
            tables = [self.public / name for name in content["sha256"]]
            return PublishedColumns(tables, columns["sensitive"], columns["quasi_identifiers"], columns["time"])
        except (KeyError, TypeError):
            raise ValueError(
                f"{self.public / RELEASE} names no columns; check its tables: foreknow check TABLE --sensitive COLUMN."
            ) from None


def publication_at(folder: Path) -> Publication:
    """Publication in a folder: that of --out, or the public folder alone.

    Raises
    ------
    ValueError
        As `listing_of`.
    """
    listing = listing_of(folder)
    within = next((folder / name for name in PUBLIC if (folder / name).is_dir()), folder)
    return Publication(folder, within if listing.path.parent != folder else folder, listing)


def check_certified(publication: Publication) -> None:
    """Raise ValueError if a publication has no certificate, and its manifest lists none, which would be missing."""
    listed = {Path(name).name for name in publication.listing.sums} | {publication.listing.path.name}
    if CERTIFICATE not in listed and not (publication.public / CERTIFICATE).exists():
        raise ValueError(
            f"{publication.folder} has no {CERTIFICATE}, which names the requirements to recompute: publish_large wrote it, which "
            "certifies nothing, or foreknow publish was interrupted. Run that command again, or give thresholds, as -k 3."
        )


def differing_files(publication: Publication) -> list[Difference]:
    """Files of a publication that are changed, missing or extra; they are printed."""
    with error_console.status("comparing checksums"):
        found = differences(publication.folder, publication.listing)
    if not found:
        number = len(publication.listing.sums)
        say(f"{number} files are as {publication.listing.path.relative_to(publication.folder)} lists them.")
        return []
    show_differences(publication.folder, found)
    return found


def show_differences(folder: Path, found: list[Difference]) -> None:
    """Print the files of a folder that differ, at most `MOST_DIFFERENCES`."""
    show(PrintedTable(pd.DataFrame(found[:MOST_DIFFERENCES]), f"Files of {folder}", keys=1))
    if len(found) > MOST_DIFFERENCES:
        say(f"and {len(found) - MOST_DIFFERENCES} more.")


def files_line(found: list[Difference], program: str = "foreknow publish") -> str:
    """The verdict on the files in one line, which names the first of each kind and the program that wrote the others."""
    by_state: dict[str, list[str]] = {}
    for one in found:
        by_state.setdefault(one.state, []).append(one.file)
    parts = [
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} {'is' if len(names) == 1 else 'are'} {state}"
        for state, names in by_state.items()
    ]
    return f"FAILED: {'; '.join(parts)}. The files in the folder are not those of one run of {program}."


def certified_requirement(publication: Publication) -> Requirement | None:
    """Conjunction of the requirements of the certificate that published tables show; a notice names the others.

    Raises
    ------
    ValueError
        If the certificate is not one that foreknow wrote.
    """
    kinds = {kind.__name__: kind for kind in REQUIREMENTS.values()}
    parts: list[Requirement] = []
    try:
        for one in publication.certified["enforced"]["requirements"]:
            part = _made(kinds, one["name"], one["parameters"])
            if part is None or part.weighs_beliefs:
                notice(f"Not recomputed here, only at publication: {one['text']}.")
            else:
                parts.append(part)
    except (KeyError, TypeError):
        raise ValueError(
            f"{publication.public / CERTIFICATE} is not a certificate that foreknow wrote; publish again."
        ) from None
    return all_of(*parts) if parts else None


def large_findings(found: pd.DataFrame, requirement: Requirement) -> pd.DataFrame:
    """Findings of `verify_large` with the columns of the table that the command prints."""
    senses = {repr(part): part.sense for part in conjuncts(requirement)}
    assert list(found.columns) == FINDINGS
    rows = [
        {
            "release": row["time"],
            "requirement": row["requirement"],
            "groups": row["groups"],
            "worst": row["lowest"] if senses[row["requirement"]] == "at least" else row["highest"],
            "threshold": threshold_text(senses[row["requirement"]], row["bound"]),
            "failing": row["failing"],
            "first failing": "",
        }
        for row in found.to_dict("records")
    ]
    return pd.DataFrame(rows)


def threshold_text(sense: str, bound: float) -> str:
    """A threshold as the table of `foreknow check` prints it, as narrow as its heading.

    >>> threshold_text("at least", 12.0)
    '>= 12'
    """
    return f"{SIGNS[sense]} {bound:g}"


def _made(kinds: Mapping[str, type[Requirement]], name: str, parameters: Mapping[str, Any]) -> Requirement | None:
    """A requirement of the certificate; None if it has settings that are no numbers or names."""
    try:
        return kinds[name](**parameters)
    except (KeyError, TypeError, ValueError):
        return None


BELIEFS, AT_RISK = "beliefs", "at-risk.parquet"
"""Folder of the beliefs and file of the exposed respondents in --out."""

WRITTEN = "written"
"""Key in the settings of an attack from disk: the checksums of the files beside them."""


class AttackFolder(NamedTuple):
    """Folder of ``foreknow attack --from-disk``, or of beliefs that `attack_large` wrote.

    Attributes
    ----------
    folder : Path
        As the user named it.
    listing : Listing
        Checksums of all files: of the manifest of the beliefs and, with the exposed respondents, of the settings.
    settings : Path or None
        ``settings.json`` of the run; None for beliefs without one beside their folder.
    """

    folder: Path
    listing: Listing
    settings: Path | None

    @property
    def is_whole(self) -> bool:
        """True for the folder of a run, False for its beliefs alone."""
        return self.listing.path.name == SETTINGS

    @property
    def listings(self) -> str:
        """Subject and verb of a sentence on the files that list the others."""
        return f"{SETTINGS} and {BELIEFS}/{MANIFEST} list" if self.is_whole else f"{MANIFEST} lists"

    def differences(self) -> list[Difference]:
        """Files that are changed, missing or extra; none of the beliefs is extra if their manifest cannot be read."""
        found = differences(self.folder, self.listing)
        if self.is_whole and f"{BELIEFS}/{BEGUN}" not in self.listing.sums:
            return [one for one in found if one.state != "extra" or not one.file.startswith(f"{BELIEFS}/")]
        return found


def written_sums(out: Path, scratch: Path) -> dict[str, dict[str, str]]:
    """Checksums of the manifest of the beliefs and of the exposed respondents, which are in a scratch folder, for the settings."""
    return {
        WRITTEN: {AT_RISK: checksum(scratch / AT_RISK), f"{BELIEFS}/{MANIFEST}": checksum(out / BELIEFS / MANIFEST)}
    }


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
        beside = folder.parent / SETTINGS
        is_of_run = folder.name == BELIEFS and WRITTEN in _content(beside)
        return AttackFolder(folder, _listing_of_beliefs(folder), beside if is_of_run else None)
    if WRITTEN in _content(folder / SETTINGS) or _has_beliefs(folder / BELIEFS):
        return AttackFolder(folder, _listing_of_run(folder), folder / SETTINGS)
    return None


def _listing_of_beliefs(folder: Path) -> Listing:
    """Listing of the manifest of beliefs."""
    if not (folder / MANIFEST).exists():
        raise ValueError(f"{folder} holds beliefs that are not complete; run the attack that began them again.")
    return Listing(folder / MANIFEST, _sums(folder / MANIFEST, "sha256"))


def _listing_of_run(folder: Path) -> Listing:
    """Listing of the settings and of the manifest of the beliefs; of the settings alone if the manifest cannot be read."""
    settings = folder / SETTINGS
    if not settings.exists():
        raise ValueError(
            f"{folder} holds an attack that is not complete: {SETTINGS} is written last. Run the command that began it again, or "
            f"check its beliefs alone: foreknow check {folder / BELIEFS}."
        )
    sums = dict(_sums(settings, WRITTEN))
    with suppress(ValueError):
        beliefs = _sums(folder / BELIEFS / MANIFEST, "sha256")
        sums |= {f"{BELIEFS}/{name}": sum_ for name, sum_ in beliefs.items()}
    return Listing(settings, sums)


def _has_beliefs(folder: Path) -> bool:
    """Return whether a folder holds beliefs of `attack_large`, complete or begun."""
    return "doubtful_groups" in _content(folder / MANIFEST) or "attack" in _content(folder / BEGUN).get("settings", {})


def _sums(path: Path, key: str) -> Mapping[str, str]:
    sums = _content(path).get(key)
    if not isinstance(sums, dict):
        raise ValueError(
            f"{path} has no checksums of the files of an attack; run the attack again, into another folder."
        )
    return sums


def _content(path: Path) -> Mapping[str, Any]:
    """Content of a JSON file; empty if it is absent or holds something else."""
    try:
        return read_json(path)
    except ValueError:
        return {}
