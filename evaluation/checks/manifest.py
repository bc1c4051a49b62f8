"""Manifest of a publication: the checksums of its files, against which a folder is compared."""

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from foreknow.defenses import Defense

CERTIFICATE = "certificate.json"
"""Name of the file of a certificate."""

MANIFEST = "manifest.json"
"""Name of the file, beside the key of a publication. Names in it are relative to its folder."""

BEGUN = "begun.json"
"""Name of the file of a run from disk that is written first, beside its manifest."""

PRIVATE = "private"
"""Folder of the publisher in a publication."""

PUBLIC = ("public", "release")
"""Folders of the published tables in a publication: one table, or the parts of tables on disk."""

WORK_OF_RUNS = re.compile(r"(private/foreknow|\.foreknow-[A-Za-z0-9.]*-[0-9]{1,7})-[a-z0-9_]{8}/.*")
"""Names of files that a run writes while it lasts: a measurement by workers, or an output folder within a publication."""


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
    if (folder / PRIVATE / BEGUN).exists():
        raise ValueError(f"{folder} holds a publication that is not complete; run the command that began it again.")
    raise ValueError(
        f"{folder} is no publication: it has neither {PRIVATE}/{MANIFEST} nor {CERTIFICATE}. Name the folder of --out of "
        "foreknow publish, or its public folder, or that of foreknow attack --from-disk, or published tables with --sensitive."
    )


def differences(folder: Path, listing: Listing) -> list[Difference]:
    """Files of a publication that are changed, missing or extra, by their names relative to the folder.

    Every file of the folder and below is extra, unless it is listed or of a run that lasts. Links to folders are not followed:
    one in which no file is listed is extra itself. Cost: O(bytes).
    """
    base = listing.path.parent
    sums = {_name(folder, base / name): sum_ for name, sum_ in listing.sums.items()}
    found = [Difference(name, _state(folder / name, sum_)) for name, sum_ in sums.items()]
    return [one for one in found if one.state] + [Difference(name, "extra") for name in extra_files(folder, listing)]


def extra_files(folder: Path, listing: Listing) -> list[str]:
    """Names of the files of a folder and below that its publication does not list, in order."""
    known = {_name(folder, listing.path.parent / name) for name in listing.sums} | {_name(folder, listing.path)}
    known |= {str(above) for name in known for above in PurePosixPath(name).parents}
    return sorted({*_present(folder)} - known)


def _present(folder: Path) -> Iterator[str]:
    """Names of the files and links of a folder and below, but for those of runs that last."""
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or not path.is_dir()) and not WORK_OF_RUNS.fullmatch(name):
            yield name


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


def _sums(path: Path, name: str) -> Mapping[str, str]:
    sums = read_json(path).get(name)
    if not isinstance(sums, dict):
        raise ValueError(f"{path} has no checksums; it is not a file that foreknow wrote.")
    return sums


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
        raise ValueError(f"{path} is not a file that foreknow wrote; publish into another folder.")
    return content


PACKAGES = ("foreknow", "numpy", "scipy", "pandas", "numba", "duckdb", "pyarrow")
"""Packages whose versions are recorded."""


def settings(defense: Defense) -> str:
    """A defense and its settings as text, without its random generator."""
    if not dataclasses.is_dataclass(defense):
        return repr(defense)
    shown = [field.name for field in dataclasses.fields(defense) if field.repr and field.name != "rng"]
    return f"{type(defense).__name__}({', '.join(f'{name}={_setting(getattr(defense, name))}' for name in shown)})"


def defense_record(value: Any) -> Any:
    """A defense, or a setting of one, as JSON has it: the name of the class and the settings, without the random generator.

    Examples
    --------
    >>> from foreknow.defenses import KAnonymity
    >>> defense_record(KAnonymity(3))
    {'class': 'KAnonymity', 'k': 3}
    """
    if isinstance(value, type):
        return {"class": "type", "name": value.__name__}
    if dataclasses.is_dataclass(value):
        shown = [field.name for field in dataclasses.fields(value) if field.init and field.repr and field.name != "rng"]
        return {"class": type(value).__name__} | {name: defense_record(getattr(value, name)) for name in shown}
    if isinstance(value, Mapping):
        return {"class": "dict", "items": [[defense_record(key), defense_record(each)] for key, each in value.items()]}
    if isinstance(value, tuple | list | set | frozenset):
        return [defense_record(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else {"class": repr(value)}


def checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits. Cost: one reading of the file, a bounded piece at a time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def _setting(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else repr(value)
