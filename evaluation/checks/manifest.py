"""Manifest of a publication: the checksums of its files, against which a folder is compared."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from foreknow.evaluation.checks.certificate import CERTIFICATE
from foreknow.evaluation.checks.program import checksum

MANIFEST = "manifest.json"
"""Name of the file, beside the key of a publication. Names in it are relative to its folder."""

PRIVATE = "private"
"""Folder of the publisher in a publication."""

PUBLIC = ("public", "release")
"""Folders of the published tables in a publication: one table, or the parts of tables on disk."""


class Listing(NamedTuple):
    """Checksums of files, by their names relative to the folder of the listing; ``path`` is its file."""

    path: Path
    sums: Mapping[str, str]


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
        return Listing(manifest, _sums(manifest, "sha256"))
    if certificate.exists():
        return Listing(certificate, _sums(certificate, "files"))
    begun = folder / PRIVATE / "begun.json"
    if begun.exists():
        raise ValueError(f"{folder} holds a publication that is not complete; run the command that began it again.")
    raise ValueError(
        f"{folder} is no publication: it has neither {PRIVATE}/{MANIFEST} nor {CERTIFICATE}. Name the folder of --out of "
        "foreknow publish, or its public folder, or published tables with --sensitive."
    )


def differences(folder: Path, listing: Listing) -> list[Difference]:
    """Files of a publication that are changed, missing or extra; extra ones are sought where files are listed. Cost: O(bytes)."""
    base = listing.path.parent
    found = [Difference(_from(folder, base / name), _state(base / name, sum_)) for name, sum_ in listing.sums.items()]
    listed = {(base / name).resolve() for name in listing.sums} | {listing.path.resolve()}
    folders = {path.parent for path in listed} | {base.resolve()}
    public = [part for name in PUBLIC if (part := folder / name).is_dir()] if base != folder else [folder]
    present = [path for each in folders if each.is_dir() for path in each.iterdir()]
    present += [path.resolve() for each in public for path in each.rglob("*")]
    extra = {path for path in present if path.is_file() and path not in listed}
    return [one for one in found if one.state] + [Difference(_from(folder, path), "extra") for path in sorted(extra)]


def _state(path: Path, expected: str) -> str:
    """Empty if a file is as listed."""
    if not path.exists():
        return "missing"
    try:
        return "" if checksum(path) == expected else "changed"
    except OSError:
        return "unreadable"


def _from(folder: Path, path: Path) -> str:
    return path.resolve().relative_to(folder.resolve(), walk_up=True).as_posix()


def _sums(path: Path, name: str) -> Mapping[str, str]:
    sums = read_object(path).get(name)
    if not isinstance(sums, dict):
        raise ValueError(f"{path} has no checksums; it is not a file that foreknow wrote.")
    return sums


def read_object(path: Path) -> dict[str, Any]:
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
        raise ValueError(f"{path} is not a file that foreknow wrote; publish again.")
    return content
