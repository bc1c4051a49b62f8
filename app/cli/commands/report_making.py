"""Publication of `foreknow report`: read from files, or made with the default defense, and the defense that made it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from foreknow.app.cli.adversary_knowledge import (
    Learning,
    assumed_adversary,
    learn_from_releases,
    learn_knowledge,
)
from foreknow.app.cli.defense_choices import DefenseOptions, defense_choice, seeded_generator
from foreknow.app.cli.defense_text import defense_text
from foreknow.app.cli.files.checksums import RELEASE
from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.publication_settings import published_options
from foreknow.app.cli.files.release_files import read_releases
from foreknow.app.cli.files.run_settings import SETTINGS
from foreknow.app.cli.printing.terminal import notice, tracked
from foreknow.app.report.stricter import read_defense
from foreknow.defenses import Defense, DistinctDiversity, Injector, KAnonymity, Mondrian, publish
from foreknow.models import Adversary, Estimator, History, Release, Schema
from foreknow.models.progress import Progress

DEFAULT_DEFENSE = "js-reduce"
"""Defense of a publication for the report alone; that of `foreknow publish` if --defense is left out."""


class Publication(NamedTuple):
    """A publication, the defense that made it or one that is assumed in its place, and notes for the report."""

    history: History
    releases: tuple[Release, ...]
    defense: Defense | None
    assumed: Defense | None
    notes: tuple[str, ...]


def read_or_publish(
    table: pd.DataFrame,
    groups: Path | None,
    columns: Columns,
    schema: Schema,
    corpus: History | None,
    learning: Learning,
    seed: int,
) -> Publication:
    """The publication that a file of groups or the column ``group`` describes, or one with the default defense."""
    if groups is None and "group" not in table.columns:
        return _trial(History.read(table, schema, columns.time), corpus, learning, seed)
    history, releases = read_releases(table, groups, columns, schema)
    defense = None if groups is None else recorded_defense(groups)
    if groups is not None and defense is not None:
        return Publication(history, _as_published(releases, groups, defense), defense, None, ())
    k = max(min((int(release.counts.sum(axis=1).min()) for release in releases if release.groups), default=2), 2)
    assumed = Mondrian(KAnonymity(k) & DistinctDiversity(2))
    note = (
        "The defense that made the groups is not recorded beside them. The stricter settings are those of another one, "
        f"{defense_text(assumed)}, from the size of the smallest group on."
    )
    return Publication(history, releases, None, assumed, (note,))


def _as_published(releases: tuple[Release, ...], groups: Path, defense: Defense) -> tuple[Release, ...]:
    """Releases with exact quasi-identifiers where they were published so, by the settings beside the key and the defense."""
    options = published_options(groups.parent / SETTINGS) or {}
    exact = bool(options.get("bucketized") or (is_bucketized(defense) and not options.get("generalized")))
    return tuple(Release(each.view, replace(each.grouping, bucketized=exact)) for each in releases)


def is_bucketized(defense: Defense) -> bool:
    """True if a defense publishes exact quasi-identifiers unless asked otherwise."""
    return bool(getattr(defense, "bucketized", isinstance(defense, Injector)))


def recorded_defense(groups: Path) -> Defense | None:
    """The defense that `foreknow publish` wrote beside its output, if the file of groups is there."""
    for path in (groups.parent.parent / "public" / RELEASE, groups.parent / RELEASE):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))["settings"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return read_defense(record)
    return None


def informed_of(corpus: History, learning: Learning, estimator: Estimator) -> Adversary:
    """The adversary who knows the prior and the transitions of a corpus."""
    knowledge = learn_knowledge(corpus, learning)
    return learning.adversary(knowledge.prior, knowledge.transitions, estimator)


def learned_of(
    releases: Sequence[Release], learning: Learning, estimator: Estimator, progress: Progress = iter
) -> Adversary:
    """The adversary who learned prior and transitions from releases alone."""
    learned = learn_from_releases(releases, learning, progress)
    return learning.adversary(learned.prior, learned.transitions, estimator)


def _trial(history: History, corpus: History | None, learning: Learning, seed: int) -> Publication:
    """A publication with the default defense, which is not written."""
    defense = defense_choice(DEFAULT_DEFENSE).make(DefenseOptions(seed=seed))
    said = (
        f"No groups are given: the report is about a trial publication by {defense_text(defense)}, which is not kept."
    )
    notice(f"{said} foreknow publish makes one to keep.")
    releases = publish(
        history,
        defense,
        assumed_adversary(history, corpus, learning),
        infeasible="suppress",
        rng=seeded_generator(seed, 1),
        progress=lambda views: tracked(views, "publishing"),
    )
    return Publication(history, releases, defense, None, (said,))
