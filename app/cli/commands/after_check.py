"""The command to type after `foreknow check`: an attack on what was checked, or the same run again."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foreknow.app.cli.commands.attack_folder import AttackFolder
from foreknow.app.cli.commands.attack_of_key import attack_of_key
from foreknow.app.cli.commands.check_folder import Publication
from foreknow.app.cli.commands.next_step import paths_of, table_options, typed_lines, unused_path
from foreknow.app.cli.files.input_files import DEFAULT_TIME, ONE_RELEASE
from foreknow.app.cli.files.run_settings import SETTINGS
from foreknow.app.cli.printing.terminal import continued
from foreknow.evaluation.checks.manifest import PRIVATE, read_json

MOVED = "Next: move the extra files out of the folder, and check it again."
"""Line on a folder in which all differing files are extra."""


def after_files(published: Sequence[Path], given: Mapping[str, Any]) -> list[str]:
    """Lines that name the attack on published tables, from the parameters of the check."""
    return [
        "Next, what an adversary infers from the tables alone (with the originals: foreknow attack RECORDS --groups KEY):",
        *typed_lines(f"attack {paths_of(published)} --published {table_options(given)}"),
    ]


def after_folder(publication: Publication) -> list[str]:
    """Lines that name the attack on a publication: with its key, or of its public folder alone, without the originals."""
    key = publication.key
    if key is not None:
        return ["Next, what an adversary infers from it:", *continued(attack_of_key(key))]
    columns = publication.columns
    time = None if columns.time in (DEFAULT_TIME, ONE_RELEASE) else columns.time
    return after_files(columns.tables, {"qi": columns.quasi_identifiers, "sensitive": columns.sensitive, "time": time})


def after_other_files(publication: Publication, files: Sequence[Mapping[str, str]]) -> list[str]:
    """Lines that tell what to do about files that differ.

    Extra files are to be removed. For others, a new publication with the settings of this one; none where its settings differ.
    """
    if _all_extra(files):
        return [MOVED]
    kept = publication.folder / PRIVATE / SETTINGS
    if not kept.exists() or f"{PRIVATE}/{SETTINGS}" in {each["file"] for each in files}:
        return []
    command = f"publish --config {shlex.quote(str(kept))} --out {unused_path('release')}"
    return ["Next, the same publication again:", *typed_lines(command)]


def after_attack(attack: AttackFolder, files: Sequence[Mapping[str, str]]) -> list[str]:
    """Lines on the folder of an attack from disk: what to do about files that differ, or what to check next."""
    if files:
        return [MOVED] if _all_extra(files) else _attack_again(attack)
    if attack.settings is None:
        return ["Next: measure_large of foreknow.app.disk has the risk of these beliefs."]
    if not attack.is_whole:
        return ["Next, the exposed respondents too:", *typed_lines(f"check {shlex.quote(str(attack.folder.parent))}")]
    groups = str(read_json(attack.settings).get("options", {}).get("groups", ""))
    return ["Next, the publication that was attacked:", *typed_lines(f"check {shlex.quote(groups)}")] if groups else []


def _attack_again(attack: AttackFolder) -> list[str]:
    """Lines that name the same attack into another folder, with the settings of the run if there are some."""
    if attack.settings is None:
        return ["Next: run the attack again, into another folder."]
    command = f"attack --config {shlex.quote(str(attack.settings))} --out {unused_path('risk')}"
    return ["Next, the same attack again:", *typed_lines(command)]


def _all_extra(files: Sequence[Mapping[str, str]]) -> bool:
    return all(each["state"] == "extra" for each in files)
