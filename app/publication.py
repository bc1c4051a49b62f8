"""Layout of a publication, in memory and from disk: names, columns and modes of its files, and their checksums.

::

    public/                 for everyone
        published.csv       time, group, quasi-identifiers as text, sensitive value; or published.parquet
        release.json        program, defense, times, columns of the table, checksums of its files; of cohorts with terminal values,
                            the number of respondents who reached one
        certificate.json    requirements that were verified
    private/                for the publisher alone, with mode 0700 and files with mode 0600
        groups.csv          the key: respondent, time, group; or groups.parquet
        defense.json        the defense with the chain of its ghosts, which no public file has; not of other defenses
        settings.json       options and versions, with which the run can be repeated
        manifest.json       checksums of all other files, and of the records

From disk, ``published.parquet`` and ``groups.parquet`` are folders of parts, which are read as one table. The key then has more
columns (``_rank``, ``_q0`` to ``_qd`` and ``_value``), and ``private`` has also ``begun.json``, ``done`` and ``beliefs``.

``release.json`` holds nothing private: no seed, and no checksum of the records or of the key, which would confirm a guess.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from foreknow.app.atomic_output import write_json
from foreknow.defenses import Defense, NoisyDefense
from foreknow.evaluation.checks.certificate import CERTIFICATE
from foreknow.evaluation.checks.program import checksum, defense_record, settings
from foreknow.models.program_version import program_version
from foreknow.models.tables.release import number_text

PUBLIC, PRIVATE = "public", "private"
"""Folders of a publication: the published table, and the key of the publisher."""

TABLE, EXPERIMENT, KEY = "published", "not-for-release", "groups"
"""Names of the published table, of that of an experiment, and of the key, without their endings."""

PARTS = ".parquet"
"""Ending of a table, and of the folder of its parts."""

RELEASE, DEFENSE, SETTINGS, MANIFEST, BEGUN = (
    "release.json",
    "defense.json",
    "settings.json",
    "manifest.json",
    "begun.json",
)
"""Names of the files beside them. ``begun.json`` is the first file of a run from disk."""

REACHED = "reached_terminal"
"""Number of respondents who reached a terminal value, in ``release.json`` of a series by `Cohorts`."""

ONE_RELEASE = "release"
"""Column of the time of a table without one: all its records are one release, with the time 1."""

WORK_OF_RUNS = re.compile(
    r"((private/|\.)foreknow-[A-Za-z0-9.]*-[0-9]{1,7}-[0-9]+-[a-z0-9_]{8}|\.next/(private|public))/.*"
)
"""Names of files that a run writes while it lasts: a measurement by workers, an output folder within a publication, or the
publication that will replace it."""


def published_cell(cell: Any) -> str:
    """A published quasi-identifier as text; numbers as in the intervals of generalized ones."""
    return number_text(cell) if isinstance(cell, float) else str(cell)


def write_release(
    public: Path,
    sums: Mapping[str, str],
    times: Iterable[Any],
    defense: Defense | NoisyDefense,
    columns: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> None:
    """Write ``release.json``: ``sums`` of the files of the published table, and ``columns``: time, sensitive, quasi_identifiers."""
    about: dict[str, Any] = {"program": program_version(), "defense": settings(defense, public=True)}
    about["settings"] = defense_record(defense, public=True)
    about["times"] = [str(time) for time in times]
    about |= {"columns": dict(columns), "sha256": dict(sums)}
    write_json(public / RELEASE, about | dict(more or {}), private=False)


def write_defense(private: Path, defense: Defense | NoisyDefense) -> list[Path]:
    """Write ``defense.json`` if ``release.json`` leaves a part of the defense out; return the files."""
    record, path = defense_record(defense), private / DEFENSE
    if record == defense_record(defense, public=True):
        return []
    write_json(path, {"settings": record})
    return [path]


def write_manifest(
    private: Path, records: Mapping[str, str], sums: Mapping[str, str], more: Mapping[str, Any] | None = None
) -> None:
    """Write ``manifest.json``: checksums of the files of records, and ``sums`` of all files, by their names from ``private``."""
    about = {"program": program_version(), "records": dict(records)}
    write_json(private / MANIFEST, about | dict(more or {}) | {"sha256": dict(sums)})


def sums_below(folder: Path, private: Path, pattern: str = "*") -> dict[str, str]:
    """Checksums of the files below a folder, by their names relative to ``private``. Cost: one reading of them."""
    files = [path for path in sorted(folder.rglob(pattern)) if path.is_file()]
    return {path.relative_to(private, walk_up=True).as_posix(): checksum(path) for path in files}


def key_at(groups: Path) -> Path:
    """The key in the folder of a publication; a path of anything else unchanged."""
    return next(iter(sorted((groups / PRIVATE).glob(f"{KEY}.*"))), groups)


def check_key(key: Path, records: Path) -> bool:
    """Return whether ``manifest.json`` lists a key; if it does, compare the checksums of the files of its run and of the records.

    A file that is not there is not compared.

    Raises
    ------
    ValueError
        If a checksum differs, or ``manifest.json`` cannot be read.
    """
    path = key.parent / MANIFEST
    if not path.exists():
        return False
    sums, known = listed_in(path).sums, listed_in(path, "records").sums
    if not any(PurePosixPath(name).parts[0] == key.name for name in sums):
        return False
    for name, expected in sums.items():
        if (key.parent / name).exists() and checksum(key.parent / name) != expected:
            raise ValueError(
                f"{key.parent / name} is not the file that was written with {path}; they are of different runs, or one was "
                "changed. Give the files of one run; groups can be published again."
            )
    if checksum(records) not in known.values():
        raise ValueError(
            f"{records} is not the file that {key} was made from: its checksum is not the one in {path}. Give that file."
        )
    return True


class Listing(NamedTuple):
    """Checksums of files, by their names relative to the folder of the listing; ``path`` is its file."""

    path: Path
    sums: Mapping[str, str]


def listed_in(path: Path, name: str = "sha256") -> Listing:
    """Listing of a JSON file, which has the checksums under a name.

    Raises
    ------
    ValueError
        If it cannot be read, or has none.
    """
    sums = read_json(path).get(name)
    if not isinstance(sums, dict):
        raise ValueError(f"{path} has no checksums; it is not a file that foreknow wrote.")
    return Listing(path, sums)


class Difference(NamedTuple):
    """File that differs from its listing: ``state`` is changed, missing, extra or unreadable."""

    file: str
    state: str


def listing_of(folder: Path) -> Listing:
    """Listing of a publication, or, of its public folder alone, that of the certificate.

    Raises
    ------
    ValueError
        If the folder holds neither, or it cannot be read.
    """
    manifest, certificate = folder / PRIVATE / MANIFEST, folder / CERTIFICATE
    if manifest.exists():
        return listed_in(manifest)
    if certificate.exists():
        return listed_in(certificate, "files")
    if (folder / PRIVATE / BEGUN).exists():
        raise ValueError(f"{folder} holds a publication that is not complete; run the command that began it again.")
    raise ValueError(
        f"{folder} is no publication: it has neither {PRIVATE}/{MANIFEST} nor {CERTIFICATE}. Name the folder of --out of "
        "foreknow publish, or its public folder, or that of foreknow attack --from-disk, or published tables with --sensitive."
    )


def differences(folder: Path, listing: Listing, within: Sequence[str] = ("",)) -> list[Difference]:
    """Files of a publication that are changed, missing or extra, by their names relative to the folder.

    ``within`` are the beginnings of the names that are compared.

    Every file of the folder and below is extra, unless it is listed or of a run that lasts. Links to folders are not followed:
    one in which no file is listed is extra itself. Cost: O(bytes).
    """
    base, start = listing.path.parent, tuple(within)
    sums = {_name(folder, base / name): sum_ for name, sum_ in listing.sums.items()}
    found = [Difference(name, _state(folder / name, sum_)) for name, sum_ in sums.items() if name.startswith(start)]
    extra = [Difference(name, "extra") for name in extra_files(folder, listing) if name.startswith(start)]
    return [one for one in found if one.state] + extra


def extra_files(folder: Path, listing: Listing) -> list[str]:
    """Names of the files of a folder and below that its publication does not list, in order."""
    known = {_name(folder, listing.path.parent / name) for name in listing.sums} | {_name(folder, listing.path)}
    known |= {str(above) for name in known for above in PurePosixPath(name).parents}
    present = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
    names = {path.relative_to(folder).as_posix() for path in present} - known
    return sorted(name for name in names if not WORK_OF_RUNS.fullmatch(name))


def check_no_extra_file(folder: Path, listing: Listing) -> None:
    """Raise ValueError if a folder that would be replaced holds a file that no run wrote."""
    if extra := extra_files(folder, listing):
        raise ValueError(
            f"{folder / extra[0]} is not of the run that would be replaced ({len(extra)} such files); move it, or name another "
            "folder."
        )


def _state(path: Path, expected: str) -> str:
    """Empty if a file is as listed."""
    if not path.exists():
        return "missing"
    try:
        return "" if checksum(path) == expected else "changed"
    except OSError:
        return "unreadable"


def _name(folder: Path, path: Path) -> str:
    """Name of a path relative to a folder, without following links."""
    return Path(os.path.relpath(path, folder)).as_posix()


def read_json(path: Path) -> dict[str, Any]:
    """Content of a JSON file that holds an object.

    Raises
    ------
    ValueError
        If it cannot be read, or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is not a file that foreknow wrote; run the command again, into another folder.")
    return content
