"""Folder of an attack from disk, or its beliefs alone, and the checksums of the files in it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from foreknow.app.cli.files.run_settings import SETTINGS
from foreknow.evaluation.checks.manifest import BEGUN, MANIFEST, PRIVATE, Difference, Listing, differences, read_json
from foreknow.evaluation.checks.program import checksum

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
    return "doubtful_groups" in _content(folder / MANIFEST) or "attack" in _content(folder / BEGUN)


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
