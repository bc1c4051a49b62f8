"""Folder of an attack on disk: made, or taken over from an interrupted run of the same attack."""

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foreknow.app.disk.parts import has_files, make_folder, make_private, read_json, remove_torn, write_json
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.disk.setting_checksums import (
    check_versions,
    differing_settings,
    object_checksum,
    others_text,
)
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.evaluation.checks.manifest import BEGUN, MANIFEST
from foreknow.evaluation.checks.program import checksum, versions
from foreknow.evaluation.file_lock import locked


class AlreadyAttacked(ValueError):  # noqa: N818 - a state, as AlreadyPublished is
    """A folder holds the complete beliefs of the same attack."""


@contextmanager
def begun_attack(folder: Path, published: LargeReleases, attack: SequentialAttack | JointAttack) -> Iterator[None]:
    """Context manager that makes the folder of an attack, or takes it over from an interrupted run of the same attack.

    Its file ``begun.json`` names the publication by its checksum and the attack by that of its settings, and holds the versions of
    the packages. The folder is locked.

    Raises
    ------
    ValueError
        If the folder holds something else or cannot be written to, another run is writing into it, or it was begun with other
        versions.
    AlreadyAttacked
        If it holds the beliefs of this attack.
    """
    settings = _settings(published, attack)
    make_folder("attack_large", folder, 0o700)
    with locked(folder):
        if has_files(folder):
            _check_begun(folder, settings)
            remove_torn(folder)
        else:
            make_private("attack_large", folder)
            write_json(folder / BEGUN, settings | {"versions": versions()})
        yield


def check_publication(folder: Path, published: LargeReleases) -> None:
    """Raise ValueError if the beliefs of a folder are about another publication than a given one, wherever this lies now."""
    begun = read_json(folder / BEGUN)
    if not isinstance(begun, dict) or begun.get("publication") != _publication(published):
        raise ValueError(
            f"measure_large: the beliefs of {folder} are about another publication than {published.folder}; name the folder of an "
            "attack on it."
        )


def _publication(published: LargeReleases) -> str:
    """Checksum that identifies a publication."""
    return checksum(published.folder / "private" / MANIFEST)


def _check_begun(folder: Path, settings: dict[str, Any]) -> None:
    """Raise ValueError unless an interrupted run with these settings and the present versions left a folder."""
    begun = folder / BEGUN
    kept = read_json(begun) if begun.is_file() else None
    others = differing_settings(kept, settings) if isinstance(kept, dict) else []
    if others or not isinstance(kept, dict):
        what = f": it has {others_text(others)}" if others else ""
        raise ValueError(
            f"attack_large: {folder} exists, and not from an interrupted run of this attack{what}; name a folder that does not "
            "exist."
        )
    if (folder / MANIFEST).exists():
        raise AlreadyAttacked(
            f"attack_large: {folder} holds the beliefs of this attack; name a folder that does not exist."
        )
    check_versions("attack_large", folder, kept.get("versions"))


def _settings(published: LargeReleases, attack: SequentialAttack | JointAttack) -> dict[str, Any]:
    """Settings on which the result depends."""
    joint = (attack.hindsight, repr(attack.solver)) if isinstance(attack, JointAttack) else ()
    return {
        "program": f"foreknow {importlib.metadata.version('foreknow')}",
        "publication": _publication(published),
        "attack": object_checksum((type(attack).__name__, attack.adversary, *joint)),
    }
