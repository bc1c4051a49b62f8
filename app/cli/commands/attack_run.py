"""Options of `foreknow attack`."""

from pathlib import Path
from typing import NamedTuple

import typer

from foreknow.app.cli.commands.attack_making import AttackSettings
from foreknow.app.cli.commands.attack_options import AttackOptions, KnowledgeSource, PublishedOptions
from foreknow.app.cli.disk_options import DiskOptions
from foreknow.app.cli.option_groups import KnowledgeOptions, TableOptions


class AttackRun(NamedTuple):
    """Options of `foreknow attack`."""

    context: typer.Context
    table: TableOptions
    tables: PublishedOptions
    chosen: AttackOptions
    known: KnowledgeOptions
    disk: DiskOptions
    groups: Path | None
    sure: float
    fail_over: float | None
    seed: int
    forward: bool
    corpus: Path | None
    knowledge: KnowledgeSource | None
    out: Path | None
    pictures: bool
    overwrite: bool

    @property
    def inputs(self) -> list[Path]:
        """All input files."""
        others = (self.tables.people, self.corpus, self.groups, self.chosen.statements)
        return [*self.table.files, *self.tables.later, *(path for path in others if path is not None)]

    @property
    def settings(self) -> AttackSettings:
        """The options that describe the attack."""
        source = None if self.knowledge is None else self.knowledge.value
        return AttackSettings.of(self.chosen, self.forward, source, self.known.learning, self.seed)
