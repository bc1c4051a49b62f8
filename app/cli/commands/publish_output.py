"""Files of `foreknow publish`: the published table with its description, and the key."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foreknow.app.cli.files.atomic_output import atomic_output, check_output, output_suffix, write_table
from foreknow.app.cli.files.checksums import RELEASE, write_key, write_release
from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.formulas import formula_cells
from foreknow.app.cli.files.release_files import key_table, published_table
from foreknow.app.cli.files.run_settings import SETTINGS, write_settings
from foreknow.app.cli.pictures import GROUP_SIZES, draw_publication
from foreknow.defenses import Defense
from foreknow.evaluation.checks.certificate import CERTIFICATE, Certificate, checksums_of
from foreknow.evaluation.checks.manifest import BEGUN, MANIFEST
from foreknow.models import Release

PUBLIC, PRIVATE = "public", "private"
"""Folders of the output."""


@dataclass(frozen=True)
class Output:
    """Output folder of a publication.

    Attributes
    ----------
    records : Path
        The records that are published.
    folder : Path
    sources : list of Path
        Input files, which are not overwritten.
    overwrite : bool
    pictures : bool
        Whether pictures are drawn, beside the key.
    """

    records: Path
    folder: Path
    sources: list[Path]
    overwrite: bool
    pictures: bool = False

    @property
    def table(self) -> Path:
        """Name of the published table within the folder; its file format is that of the records."""
        return Path(PUBLIC, f"published{output_suffix(self.records)}")

    @property
    def key(self) -> Path:
        """Name of the key within the folder."""
        return Path(PRIVATE, f"groups{output_suffix(self.records)}")


def checked_output(records: Path, corpus: Path | None, out: Path, overwrite: bool, pictures: bool) -> Output:
    """Output folder, if the published table and the key may be written there.

    Raises
    ------
    ValueError
        As `check_output`; if the public folder holds a published table in the other file format, or the folder a publication from
        disk, which would remain there.
    """
    output = Output(records, out, [path for path in (records, corpus) if path is not None], overwrite, pictures)
    table, key = output.table, output.key
    names = [table, *(Path(PUBLIC, name) for name in (RELEASE, CERTIFICATE))]
    names += [key, *(Path(PRIVATE, name) for name in (MANIFEST, SETTINGS))]
    check_output(out, [*names, *([Path(PRIVATE, GROUP_SIZES)] if pictures else [])], output.sources, overwrite)
    if (out / PRIVATE / BEGUN).exists():
        raise ValueError(
            f"{out} holds a publication from disk, whose files would remain; name another folder, or --from-disk."
        )
    other = out / table.with_suffix(".csv" if table.suffix == ".parquet" else ".parquet")
    if other.exists():
        raise ValueError(
            f"{other} is there from another run, and would be published beside {table.name}; move it away, or name another folder."
        )
    return output


def quotes_formulas(output: Output, asked: bool | None) -> bool:
    """True if formulas of the published table get an apostrophe: as asked, or by default in a CSV file."""
    return output.table.suffix == ".csv" if asked is None else asked


def write_output(
    output: Output,
    releases: tuple[Release, ...],
    defense: Defense,
    columns: Columns,
    quote_formulas: bool | None,
    run: dict[str, Any],
    stated: Certificate,
) -> int:
    """Write the published table, its description, its certificate, the key and the settings of the run.

    Returns the number of cells that begin like formulas.
    """
    table = published_table(releases, columns.time)
    with atomic_output(output.folder, output.sources, output.overwrite) as folder:
        (folder / PUBLIC).mkdir(mode=0o755)
        (folder / PRIVATE).mkdir(mode=0o700)
        write_table(table, folder / output.table, formulas=not quotes_formulas(output, quote_formulas))
        write_release(folder / output.table, releases, defense, columns.published)
        public = [folder / output.table, folder / PUBLIC / RELEASE]
        replace(stated, files=checksums_of(public)).write(folder / PUBLIC / CERTIFICATE)
        write_table(key_table(releases, columns), folder / output.key, private=True)
        write_settings(folder / PRIVATE / SETTINGS, run)
        if output.pictures:
            draw_publication(folder / PRIVATE, releases, type(defense).__name__)
        write_key(folder / output.key, folder / output.table, output.records)
    return formula_cells(table)
