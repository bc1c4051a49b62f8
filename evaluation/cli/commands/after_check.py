"""The command to type after `foreknow check`: an attack on what was checked, or a new publication."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foreknow.evaluation.checks.manifest import PRIVATE
from foreknow.evaluation.cli.commands.attack_of_key import attack_of_key
from foreknow.evaluation.cli.commands.check_folder import Publication
from foreknow.evaluation.cli.commands.next_step import paths_of, table_options, typed_lines, unused_path
from foreknow.evaluation.cli.files.input_files import DEFAULT_TIME, ONE_RELEASE
from foreknow.evaluation.cli.files.run_settings import SETTINGS
from foreknow.evaluation.cli.printing.terminal import continued


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
    if all(each["state"] == "extra" for each in files):
        return ["Next: move the extra files out of the folder, and check it again."]
    kept = publication.folder / PRIVATE / SETTINGS
    if not kept.exists() or f"{PRIVATE}/{SETTINGS}" in {each["file"] for each in files}:
        return []
    command = f"publish --config {shlex.quote(str(kept))} --out {unused_path('release')}"
    return ["Next, the same publication again:", *typed_lines(command)]
