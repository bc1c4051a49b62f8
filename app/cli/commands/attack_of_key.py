"""The command that attacks a publication by its key, with the options that the settings beside the key name."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from foreknow.app.cli.commands.next_step import option_text, unused_path
from foreknow.app.cli.files.publication_settings import published_options
from foreknow.app.cli.files.run_settings import SETTINGS, plain_option
from foreknow.app.cli.option_groups import KnowledgeOptions, TableOptions
from foreknow.evaluation.checks.manifest import PRIVATE

UNKNOWN = {"records": "RECORDS", "id": "COLUMN", "qi": ["COLUMN"], "sensitive": "COLUMN"}
"""Options of a publication without settings beside its key."""


def attack_of_key(key: Path) -> str:
    """The command that attacks with a key: the file of the groups, or the folder of a publication from disk.

    The options are those of ``settings.json`` beside the key; without it, they are placeholders.
    """
    from_disk = key.is_dir()
    options = published_options((key / PRIVATE if from_disk else key.parent) / SETTINGS) or UNKNOWN
    parts = [shlex.quote(str(options.get("records", UNKNOWN["records"]))), *_options(options)]
    disk = ["--from-disk"] if from_disk else []
    return " ".join(["foreknow attack", *parts, *disk, option_text("groups", key), f"--out {unused_path('risk')}"])


def _options(options: Mapping[str, Any]) -> Iterator[str]:
    """Options of the table and of the knowledge that are not the default, as the shell reads them."""
    settings = [each for each in fields(TableOptions) if each.name != "records"]
    for setting in (*settings, *fields(KnowledgeOptions)):
        value = options.get(setting.name.strip("_").replace("_", "-"))
        if value not in (None, plain_option(_default(setting))):
            yield from (option_text(setting.name, each) for each in (value if isinstance(value, list) else [value]))
    if options.get("corpus") is not None:
        yield option_text("corpus", options["corpus"])


def _default(setting: "Field[Any]") -> Any:
    if setting.default_factory is not MISSING:
        return setting.default_factory()
    return None if setting.default is MISSING else setting.default
