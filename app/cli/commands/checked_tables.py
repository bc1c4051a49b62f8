"""Requirements recomputed from published tables: files, or the folder of a publication."""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from foreknow.app.cli.command_shape import Outcome
from foreknow.app.cli.commands.check_folder import (
    Publication,
    certified_requirement,
    check_certified,
    differing_files,
    files_line,
    large_findings,
    threshold_text,
)
from foreknow.app.cli.disk_options import DiskOptions
from foreknow.app.cli.files.input_files import InputFiles
from foreknow.app.cli.input_options import Duplicates, EqualValues, MissingCells, cleaning
from foreknow.app.cli.printing.terminal import say
from foreknow.app.cli.published.tables import GROUP, PublishedFiles
from foreknow.defenses import AllOf, Requirement
from foreknow.evaluation.checks.verify import verify_table


class Checked(NamedTuple):
    """Requirements recomputed from published tables.

    Attributes
    ----------
    found : DataFrame
        One row for each release and requirement.
    by_group : DataFrame
        Levels of all groups; without rows for tables on disk.
    title : str
        Name of the tables.
    inputs : list of Path
        Files whose checksums the settings record.
    """

    found: pd.DataFrame
    by_group: pd.DataFrame
    title: str
    inputs: list[Path]


def check_files(files: PublishedFiles, requirement: Requirement) -> Checked:
    """Requirements recomputed from published tables in memory."""
    table, time = files.read()
    title = ", ".join(path.name for path in files.paths)
    return Checked(*_findings(table, time, files.sensitive, requirement), title, list(files.paths))


def check_publication(
    publication: Publication, requirement: Requirement | None, disk: DiskOptions, pictures: bool
) -> Checked | Outcome:
    """Requirements recomputed from a publication; the outcome alone where files differ or there is nothing to recompute."""
    if requirement is None:
        check_certified(publication)
    if files := differing_files(publication):
        say(files_line(files))
        return Outcome({"failed": True, "verdict": files_line(files), "files": [one._asdict() for one in files]}, True)
    requirement = certified_requirement(publication) if requirement is None else requirement
    if requirement is None:
        say("The certificate names no requirement that published tables show.")
        return Outcome({"failed": False, "files": []})
    if publication.on_disk:
        return _check_on_disk(publication, requirement, disk, pictures)
    disk.refuse_given("check reads these tables in memory")
    tables, sensitive, quasi_identifiers, time = publication.columns
    notation = InputFiles("utf-8", None, ())
    rules = cleaning(EqualValues["refuse"], MissingCells["refuse"], Duplicates["refuse"], [], None)
    files_of = PublishedFiles(tuple(tables), sensitive, tuple(quasi_identifiers), None, time, notation, rules)
    return check_files(files_of, requirement)


def _check_on_disk(publication: Publication, requirement: Requirement, disk: DiskOptions, pictures: bool) -> Checked:
    """Requirements recomputed from the parts of a publication from disk."""
    from foreknow.app.disk import LargeReleases, verify_large  # DuckDB is loaded where it is used

    if pictures:
        raise ValueError(
            f"--pictures is read for tables in memory; {publication.folder} was published from disk. Leave it out."
        )
    if publication.public == publication.folder:
        raise ValueError(
            f"{publication.folder} is the public folder alone of a publication in parts; its files are as certified. To recompute "
            "requirements, check the parts of each release: foreknow check release-0000/*.parquet --sensitive COLUMN."
        )
    published = LargeReleases(publication.folder)
    found = large_findings(
        verify_large(published, requirement, engine=disk.engine("checking, blocks of a release")), requirement
    )
    return Checked(found, pd.DataFrame(), str(publication.folder), [publication.listing.path])


def _findings(
    table: pd.DataFrame, time: str | None, sensitive: str, requirement: Requirement
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row for each release and requirement, and the levels of all groups."""
    values = tuple(sorted(table[sensitive].unique().tolist(), key=str))
    rows, by_group = [], []
    for when, release in [("all", table)] if time is None else list(table.groupby(time, sort=True)):
        groups = release[[GROUP, sensitive]].set_axis(["group", "value"], axis=1)
        levels = verify_table(groups, "value", values, requirement)
        by_group.append(levels.assign(release=when))
        rows += [
            _requirement_row(when, name, part, requirement) for name, part in levels.groupby("requirement", sort=False)
        ]
    return pd.DataFrame(rows), pd.concat(by_group, ignore_index=True)


def _requirement_row(time: Any, name: Any, groups: pd.DataFrame, requirement: Requirement) -> dict[str, object]:
    """One requirement over all groups of a release, from rows of `verify_table`."""
    parts = requirement.parts if isinstance(requirement, AllOf) else (requirement,)
    sense = next(part.sense for part in parts if repr(part) == name)
    failing = groups[~groups["holds"]]
    return {
        "release": time,
        "requirement": name,
        "groups": len(groups),
        "worst": groups["level"].min() if sense == "at least" else groups["level"].max(),
        "threshold": threshold_text(sense, groups["bound"].iloc[0]),
        "failing": len(failing),
        "first failing": "" if failing.empty else failing["group"].iloc[0],
    }
