"""Layout of a publication of noisy counts, and the series that goes on with it.

::

    public/                 for everyone
        published.csv       time, cell, its quasi-identifiers as text, sensitive value, noisy_count and, if processed, count
        release.json        as of groups (`foreknow.app.publication`), and ``noise``: its law, the promise, the domain, the cells
        certificate.json    the promise, and what is assumed
    private/                for the publisher alone
        settings.json       options and versions
        manifest.json       checksums of all other files, and of the records

There is no key, as the cell of each record follows from its quasi-identifiers, and no seed: the noise cannot be drawn again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from foreknow.app.publication import PRIVATE, PUBLIC, RELEASE, SETTINGS, read_json
from foreknow.defenses import NoisyCounts, Promise
from foreknow.defenses.noisy_counts import PRIORS
from foreknow.evaluation.checks.certificate import PROMISED, Certificate
from foreknow.evaluation.checks.program import settings
from foreknow.models import Categorical, Cells, History, NoisyRelease, NoisyTable, Numeric, Schema
from foreknow.models.arrays import FloatArray
from foreknow.models.noise import Noise
from foreknow.models.tables.table_files import read_table

REPEATABLE = {
    True: "No: OpenDP draws the noise and takes no seed, so that none can be found that takes the noise off. No noise is kept.",
    False: "Yes, by the seed of the publisher: for experiments, not for release.",
}
"""Statement on the noise that was drawn for a release, or for an experiment."""

NOT_FOR_RELEASE = "NOT FOR RELEASE: the noise was drawn by NumPy, from a generator that can be seeded."
"""Statement on an experiment."""

ROUNDING = 1e-9
"""Relative rounding error of a number of a promise."""

NOT_COVERED = (
    "Who is listed at each release, with which quasi-identifiers: both are taken as public, and cells are cut by them.",
    "Respondents with more than one record in a release; each has at most one.",
    "Whether a sensitive value is missing, where the publisher leaves such records out.",
    "Related respondents, as of a household: h of them have h times the epsilon and h^2 times the rho of one.",
    "Other publications about the same respondents, by this or another publisher.",
    "What follows from statistics of all respondents, which the counts are published for.",
    "The records that the publisher keeps.",
)
"""Limits of the promise."""


class NoisySeries(NamedTuple):
    """Releases of a publication of noisy counts: its public folder, and the content of its ``release.json``."""

    public: Path
    described: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Folder of the whole publication; the public one where it stands alone."""
        return self.public.parent if self.public.name == PUBLIC else self.public

    @property
    def settings(self) -> Path:
        """File of the settings, in the private folder; `check_key` reads the manifest beside it."""
        return self.folder / PRIVATE / SETTINGS

    @property
    def for_release(self) -> bool:
        """False for an experiment, whose noise was drawn by NumPy."""
        return bool(self.noise["for_release"])

    @property
    def noise(self) -> Mapping[str, Any]:
        """Statements of ``release.json`` on the noise."""
        found: Mapping[str, Any] = self.described["noise"]
        return found

    @property
    def law(self) -> Noise:
        """Law of the noise."""
        return Noise(self.noise["law"], self.noise["scale"], self.noise["clamped"])

    @property
    def promise(self) -> Promise:
        """The promise for all releases that the series may have."""
        return Promise(self.law, self.noise["releases"])

    @property
    def times(self) -> list[str]:
        """Times of the releases so far, as text."""
        return list(self.described["times"])

    @property
    def table_path(self) -> Path:
        """File of the published table."""
        return self.public / str(next(iter(self.described["sha256"])))

    @property
    def columns(self) -> Mapping[str, Any]:
        """Columns of the published table by their roles: time, sensitive, quasi_identifiers."""
        found: Mapping[str, Any] = self.described["columns"]
        return found

    @property
    def cells(self) -> Cells:
        """The cells of all releases."""
        ends = self.noise["cells"]
        return Cells(_ends(ends["above"], -np.inf), _ends(ends["to"], np.inf))

    def read_table(self) -> pd.DataFrame:
        """The published table, with quasi-identifiers and values as text."""
        text = [*self.columns["quasi_identifiers"], self.columns["sensitive"]]
        return read_table(self.table_path, text, "utf-8")

    def counts(self, column: str = "noisy_count") -> FloatArray:
        """Counts of a column: float array, shape ``(releases, cells, values)``; ValueError if there is not one for each."""
        table = self.read_table()
        shape = (len(self.times), len(self.cells), len(self.noise["sensitive_values"]))
        numbers, place = pd.factorize(table[self.columns["time"]])[0], np.arange(len(table))
        whole = len(table) == np.prod(shape) and np.array_equal(numbers, place // (shape[1] * shape[2]))
        if not (whole and (table["cell"] == place // shape[2] % shape[1]).all()):
            raise ValueError(
                f"{self.table_path} has not one row for each of {shape[0]} releases, {shape[1]} cells and {shape[2]} values, in "
                "their order; it is not as it was published."
            )
        return table[column].to_numpy(dtype=np.float64).reshape(shape)

    def settle(self, schema: Schema, tables: tuple[pd.DataFrame, ...]) -> tuple[Schema, tuple[pd.DataFrame, ...]]:
        """Schema and tables in the domain of the series, `in_domain`; quasi-identifiers may have further values."""
        known = self.noise["quasi_identifiers"]
        if list(schema.quasi_identifiers) != list(known) or schema.sensitive != self.columns["sensitive"]:
            options = " ".join(f"--qi {name}" for name in known)
            raise ValueError(
                f"{self.public} was published with {options} --sensitive {self.columns['sensitive']}; give the same."
            )
        columns = {name: pd.concat([table[name] for table in tables]) for name in known}
        kinds = {
            name: _joined(name, kind, known[name], columns[name]) for name, kind in schema.quasi_identifiers.items()
        }
        return in_domain(replace(schema, quasi_identifiers=kinds, values=tuple(self.noise["sensitive_values"])), tables)

    def releases(self, history: History) -> tuple[NoisyRelease, ...]:
        """The releases, with the views that they are of, the first ones of a history.

        Raises
        ------
        ValueError
            If the first views of the history have other times, or the published table is not whole.
        """
        views = [view for view in history if str(view.time) in self.times]
        if [str(view.time) for view in history][: len(self.times)] != self.times:
            missing = [time for time in self.times if time not in {str(view.time) for view in views}]
            what = f"have no release at {missing[0]}" if missing else "have one before the last that is published"
            raise ValueError(
                f"{self.public} has releases at {', '.join(self.times)}, and the records {what}. Give all records of the series, "
                "the new ones at the end."
            )
        counts = self.counts().astype(np.int64)
        is_processed = "count" in self.read_table().columns
        processed = self.counts("count") if is_processed else [None] * len(views)
        cells, law = self.cells, self.law
        return tuple(
            NoisyRelease(view, NoisyTable(cells, noisy, law, more, self.for_release))
            for view, noisy, more in zip(views, counts, processed, strict=True)
        )


def series_at(folder: Path | None) -> NoisySeries | None:
    """The noisy counts in the folder of a publication, in its public folder, or beside a file there; None for anything else."""
    for public in () if folder is None else (folder / PUBLIC, folder, folder.parent):
        if (public / RELEASE).is_file():
            described = read_json(public / RELEASE)
            return NoisySeries(public, described) if "noise" in described else None
    return None


def refuse_counts(paths: Sequence[Path], way_out: str) -> None:
    """Raise ValueError if a published table has noisy counts, whose rows are no records."""
    for path in paths:
        if path.is_file() and series_at(path) is not None:
            raise ValueError(f"{path} has noisy counts, and its rows are no records; {way_out}.")


def in_domain(schema: Schema, tables: tuple[pd.DataFrame, ...]) -> tuple[Schema, tuple[pd.DataFrame, ...]]:
    """A schema, and tables whose sensitive cells are text where its domain has text; ValueError if one is not in the domain."""
    return schema, tuple(_in_domain(table, schema) for table in tables)


def _in_domain(table: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    column = table[schema.sensitive]
    if any(isinstance(value, str) for value in schema.values):
        column = column.astype(str)
    unknown = column[~column.isin(list(schema.values))]
    if len(unknown):
        raise ValueError(
            f"the records have {unknown.iloc[0]!r} in {schema.sensitive!r}, which is not in the domain of {len(schema.values)} "
            "values. The domain is fixed before the first release: list every value that may occur, or correct the records."
        )
    return table.assign(**{schema.sensitive: column})


def noise_record(releases: Sequence[NoisyRelease], promise: Promise) -> dict[str, Any]:
    """Statements of ``release.json`` on the noise, as JSON has them."""
    last, made = releases[-1], releases[0].made
    kinds = last.view.schema.quasi_identifiers.items()
    is_for_release = all(one.made.for_release for one in releases)
    return {
        "law": made.noise.law,
        "scale": made.noise.scale,
        "clamped": made.noise.clamped,
        "releases": promise.releases,
        "for_release": is_for_release,
        "repeatable": REPEATABLE[is_for_release],
        "promise": promise_record(promise),
        "sensitive_values": list(last.view.schema.values),
        "quasi_identifiers": {
            name: {"values": list(kind.values)}
            if isinstance(kind, Categorical)
            else {"low": kind.low, "high": kind.high}
            for name, kind in kinds
        },
        "cells": {"above": _finite(made.cells.above), "to": _finite(made.cells.to)},
    }


def promise_record(promise: Promise) -> dict[str, Any]:
    """A promise as JSON has it: all its forms, epsilon null if there is no pure one."""
    return {
        "epsilon": promise.epsilon if np.isfinite(promise.epsilon) else None,
        "epsilon_at_delta": promise.epsilon_delta,
        "delta": promise.delta,
        "rho": promise.rho,
        "gain": promise.gain,
        "belief_in_1_of_1000": {f"{prior:g}": promise.quantile(prior) for prior in PRIORS},
    }


def noisy_certificate(releases: Sequence[NoisyRelease], defense: NoisyCounts) -> Certificate:
    """Certificate of noisy counts, without files: the promise, and its limits."""
    made = releases[0].made
    numbers = [{"time": str(one.time), "records": len(one.view), "cells": len(made.cells)} for one in releases]
    is_for_release = all(one.made.for_release for one in releases)
    enforced = {
        "defense": settings(defense),
        "requirements": [],
        "unchecked": [],
        "promise": promise_record(defense.promise),
        "seed": REPEATABLE[is_for_release],
    }
    assumed = {
        "adversary": {"knows": "every other respondent's whole path, and any prior about the respondent"},
        "not_covered": list(NOT_COVERED),
    }
    return Certificate(PROMISED, enforced, {"verified": False, "releases": numbers}, assumed, {})


def _joined(name: str, kind: Numeric | Categorical, known: Mapping[str, Any], column: "pd.Series[Any]") -> Any:
    """A quasi-identifier with the values that are known and those of a column."""
    if isinstance(kind, Categorical) != ("values" in known):
        raise ValueError(
            f"{name!r} was published as {'categories' if 'values' in known else 'numbers'}, and the records have it as the other; "
            "give the same --categorical and --hierarchy."
        )
    if isinstance(kind, Categorical):
        return Categorical(tuple(dict.fromkeys([*known["values"], *kind.values])))
    numbers = kind.codes(column)
    return Numeric(min(known["low"], float(numbers.min())), max(known["high"], float(numbers.max())))


def _ends(rows: Sequence[Sequence[float | None]], open_end: float) -> FloatArray:
    return np.array([[open_end if end is None else end for end in row] for row in rows], dtype=np.float64)


def _finite(ends: FloatArray) -> list[list[float | None]]:
    """Ends as JSON has them: null where open."""
    return [[end if np.isfinite(end) else None for end in row] for row in ends.tolist()]
