"""Register of persons with exact quasi-identifiers, and the releases as an adversary with a register sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.formulas import as_written
from foreknow.app.cli.files.input_files import InputFiles
from foreknow.app.cli.published.linkage import linked
from foreknow.app.cli.published.tables import PublishedRelease
from foreknow.models import History, Observation, People, Schema
from foreknow.models.tables.cleaning.spellings import folded

UNKNOWN = "unknown"
"""Sensitive value of the persons of a register while it is read; a true value in the file is not."""


class LinkedRelease(NamedTuple):
    """A published table with the persons of a register, as attacks read it.

    Attributes
    ----------
    observation : Observation
        Of all persons of the register; the group is -1 where it is not determined.
    undetermined : int
        Number of persons who fit a group, and may be in it or not.
    """

    observation: Observation
    undetermined: int

    @property
    def time(self) -> Any:
        """The time of publication."""
        return self.observation.time


@dataclass(frozen=True, eq=False)
class Register:
    """Persons with exact quasi-identifiers, and the corpus of an adversary with the same schema.

    Attributes
    ----------
    people : dict of time to People
        The persons at each release; one entry, None, if the register has no column of the release.
    schema : Schema
        With the sensitive values of the published tables and of the corpus.
    corpus : History or None
    """

    people: dict[Any, People]
    schema: Schema
    corpus: History | None

    @classmethod
    def read(
        cls, path: Path, corpus: Path | None, columns: Columns, published: "pd.Series[Any]", times: Sequence[Any]
    ) -> "Register":
        """Read and clean a register, and a corpus.

        Parameters
        ----------
        path, corpus : Path
        columns : Columns
        published : Series
            The published sensitive values.
        times : sequence
            The times of the releases, for the persons of which a register with a column of the release is read.

        Raises
        ------
        ValueError
            As `Columns.read`; if the register has no person at a release.
        """
        files = InputFiles(columns.encoding, columns.separator, columns.missing)
        text = [columns.respondent, columns.time, *columns.categories]
        (persons,) = files.read([path], text, [columns.respondent, *columns.quasi_identifiers])
        has_times = columns.time in persons.columns
        persons = persons.assign(**{columns.sensitive: UNKNOWN} | ({} if has_times else {columns.time: 1}))
        paths = [path] if corpus is None else [path, corpus]
        tables = (persons, *files.read(paths[1:], text, columns.names, columns.time))
        persons, *others = columns.clean(tables, files.places(paths, tables))
        name = columns.sensitive
        others = [table.assign(**{name: as_written(table[name], published)}) for table in others]
        schema = columns.schema(persons, *others)
        values = _values(columns, published, *(table[columns.sensitive] for table in others))
        history = History.read(persons, schema, columns.time)
        own = replace(history.schema, values=values)
        people = {view.time if has_times else None: replace(view.people, schema=own) for view in history}
        missing = [when for when in times if has_times and when not in people]
        if missing:
            raise ValueError(
                f"{path.name} has no person at {missing[0]!r}, and the published tables have a release then; add them, or drop "
                f"the column {columns.time!r} if each person is in question at all releases."
            )
        return cls(people, own, History.read(others[0], own, columns.time) if others else None)

    def link(self, release: PublishedRelease) -> LinkedRelease:
        """The observation of a release by an adversary with the register."""
        people = replace(self.people[release.time if None not in self.people else None], time=release.time)
        found = linked(people, release.cells)
        return LinkedRelease(
            Observation(people, found.group, release.counts, release.time), int(found.undetermined.sum())
        )


def _values(columns: Columns, *cells: "pd.Series[Any]") -> tuple[Any, ...]:
    """The distinct sensitive values, sorted; raises ValueError if two differ in letter case alone, unless such are kept."""
    values = tuple(sorted({str(cell) for column in cells for cell in column.unique().tolist()}))
    written: dict[str, str] = {}
    for value in values if columns.cleaning.equal_values != "keep" else ():
        if written.setdefault(folded(value), value) != value:
            raise ValueError(
                f"the sensitive values {written[folded(value)]!r} and {value!r} of the published tables and of the corpus differ "
                "in letter case alone; write both in one way."
            )
    return values
