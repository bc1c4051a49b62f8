"""Ledger: the privacy loss that the noisy releases of a series have spent on each respondent, in one private file.

The file is Parquet: ``respondent``, ``releases`` and ``amount``, one row for each respondent with a record in any release. The
metadata of its schema hold JSON under ``foreknow.ledger``: ``version``, ``unit``, ``budget``, ``series``, and ``releases``, with
``time``, ``amount``, ``respondents`` (their number), ``written`` and ``state`` of each.

It names respondents, and outlives the publications that it counts: keep it in a private folder outside of theirs, with a backup.
Its mode is 0600. The empty file ``.NAME.lock`` beside it is that of its lock.
"""

import json
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from foreknow.models import Categorical, Schema
from foreknow.models.advice import Advice, Setting
from foreknow.models.equality import equal_by_fields, set_fields
from foreknow.models.settings import MAX_FLOAT, as_list, check_choice, check_flag, check_kind, check_range, counted
from foreknow.models.tables.atomic_file import atomic_file, locked

type Unit = Literal["rho", "epsilon"]
UNITS: tuple[Unit, ...] = ("rho", "epsilon")

VERSION = 1
"""Version of the file format."""

ABOUT = b"foreknow.ledger"
"""Key of the metadata of the schema."""

TOTALS = pa.schema([("respondent", pa.string()), ("releases", pa.int64()), ("amount", pa.float64())])

ROUNDING = 1e-9
"""Share by which a sum of floats may pass the budget: 24 amounts of a 24th of it may be spent."""

UNSPENT = "nothing may be published where it cannot be spent. Free space, or change permissions"
MARKED_BEGUN = 'the release is published, and stays "begun" in it, with its amount spent, as it should be'


@equal_by_fields
@dataclass(frozen=True, eq=False)
class Ledger:
    """Account of what noisy releases have spent on each respondent; amounts of one respondent add up, and none passes the budget.

    Made by `create`, or by `read` for a file that exists. It holds no totals: each method reads the file.

    Parameters
    ----------
    path : path
        A ``.parquet`` file.
    unit : {"rho", "epsilon"}
        Of all amounts: rho of zero-concentrated, or epsilon of pure differential privacy.
    budget : float
        Largest amount of one respondent over all releases. It cannot be changed later.
    series : mapping
        Data that the ledger belongs to, as `series_of` describes it.

    Notes
    -----
    Respondents and times are compared as text, so that 1, 1.0 and "1" are one respondent. Not checked: that identifiers stay
    those of the same people, and that the file is no old backup. A file system without locks, as some of networks, does not keep
    two processes apart. Cost of `spend`: two writes of the file, O(respondents).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from foreknow.models import Numeric
    >>> series = Ledger.series_of("visits", Schema({"age": Numeric()}, "illness", ("flu", "gout")))
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(Path(folder, "ledger.parquet"), "rho", 0.25, series)
    ...     with ledger.spend({1: ["Ann", "Bob"]}, 0.125):
    ...         pass  # the release is written here
    ...     ledger.spent().to_dict("list")
    {'respondent': ['Ann', 'Bob'], 'releases': [1, 1], 'amount': [0.125, 0.125], 'left': [0.125, 0.125]}
    """

    path: Path
    unit: Unit
    budget: float
    series: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_kind("Ledger", "path", self.path, (str, Path), "is the path of a .parquet file")
        check_choice("Ledger", "unit", self.unit, UNITS)
        check_range("Ledger", "budget", self.budget, 0, MAX_FLOAT, f"in {self.unit}", excluded=(0,))
        check_kind("Ledger", "series", self.series, Mapping, "is the result of Ledger.series_of(name, schema)")
        # A link stays one, and the file is that of all links to it; a series is as JSON gives it back.
        series = json.loads(json.dumps(dict(self.series), default=str))
        set_fields(self, path=Path(self.path).resolve(), budget=float(self.budget), series=series)
        if self.path.suffix != ".parquet":
            raise ValueError(f"{self.path}: a ledger is a Parquet file; name one that ends in .parquet.")

    @staticmethod
    def series_of(name: str, schema: Schema) -> dict[str, Any]:
        """Description of a series of releases: its name, columns and sensitive domain; nothing of any record."""
        columns = schema.quasi_identifiers.items()
        return {
            "name": str(name),
            "respondent": str(schema.respondent),
            "sensitive": str(schema.sensitive),
            "values": [str(value) for value in schema.values],
            "quasi_identifiers": {
                str(a): "category" if isinstance(kind, Categorical) else "number" for a, kind in columns
            },
        }

    @classmethod
    def create(cls, path: "str | Path", unit: Unit, budget: float, series: Mapping[str, Any]) -> "Ledger":
        """Ledger of a new series, in a new file; a folder that does not exist is made, with mode 0700.

        Raises
        ------
        ValueError
            If the file exists or cannot be written, or an argument is out of range.
        """
        ledger = cls(path, unit, budget, series)  # type: ignore[arg-type]
        with _unwritable(ledger.path):
            ledger.path.parent.mkdir(0o700, parents=True, exist_ok=True)
        with _held(ledger.path):
            if ledger.path.exists():
                raise ValueError(
                    f"{path} is already there, and a new ledger would forget what it holds; go on with it by Ledger.read, or name "
                    "another file."
                )
            _write(ledger, [], TOTALS.empty_table())
        return ledger

    @classmethod
    def read(cls, path: "str | Path", unit: Unit | None = None, series: Mapping[str, Any] | None = None) -> "Ledger":
        """Ledger of a file, which is read whole; ``unit`` and ``series`` are those that it must have.

        Raises
        ------
        FileNotFoundError
            If there is no file.
        ValueError
            If it is torn, no ledger or of another version, or of another unit or series.
        """
        ledger, _, _ = _read(Path(path))
        if unit not in (None, ledger.unit):
            raise ValueError(
                f"{path} counts {ledger.unit}, and this release spends {unit}; set its noise by {ledger.unit}."
            )
        others = [name for name, each in (series or {}).items() if ledger.series.get(name) != each]
        if others:
            raise ValueError(
                f"{path} is the ledger of the series {ledger.series.get('name')!r}, which differs from this one "
                f"in {' and '.join(others)}; name the ledger of this series."
            )
        return ledger

    def spend(
        self, respondents: Mapping[Any, Iterable[Hashable]], amount: float, again: bool = False
    ) -> "ExitStack[Any]":
        """Spend an amount on each respondent of each release of a publication, before it is written.

        When this returns, the amounts are on disk, with the state "begun". The result is a context manager: the publication is
        written in its block, whose end marks the releases "published" and frees the lock of the ledger. After an error in the
        block, or if the process is killed, they stay begun and their amounts stay spent.

        Parameters
        ----------
        respondents : mapping of times to iterables
            The respondents with a record at each time.
        amount : float
            Privacy loss of one release for one respondent, in the unit of the ledger, as ``Promise(noise, 1).rho``.
        again : bool
            True to spend once more on a time that the ledger has: a release that is repeated draws its noise anew.

        Raises
        ------
        ValueError
            With nothing spent: if a respondent would pass the budget, or is in a release twice; a time is in the ledger and not
            ``again``; another process holds the lock; or the file cannot be read or written, or is of another ledger.
        """
        takes = "maps the time of each release to its respondents"
        check_kind("Ledger.spend", "respondents", respondents, Mapping, takes)
        check_range("Ledger.spend", "amount", amount, 0, MAX_FLOAT, f"in {self.unit}", excluded=(0,))
        check_flag("Ledger.spend", "again", again)
        spends = [(_text(time), _rows(each, time, float(amount))) for time, each in respondents.items()]
        with ExitStack() as stack:
            stack.enter_context(_held(self.path))
            ledger, before, totals = _read(self.path)
            if ledger != self:
                raise ValueError(f"{self.path} is another ledger than the one that was read; read it again.")
            known = [one for one in before if one["time"] in dict(spends)]
            if known and not again:
                time, state, written = (known[-1][name] for name in ("time", "state", "written"))
                raise ValueError(
                    Advice(
                        f"{self.path}: the release at {time} is {state} since {written}, and its amount is spent. A release "
                        "that is repeated draws its noise anew and spends once more: set ",
                        Setting("again", True),
                        " for it.",
                    )
                )
            rows = pa.concat_tables([totals, *(each for _, each in spends)]).group_by("respondent", use_threads=False)
            totals = rows.aggregate([("releases", "sum"), ("amount", "sum")]).rename_columns(TOTALS.names)
            amounts = totals["amount"].to_numpy()
            if over := int((amounts > self.budget * (1 + ROUNDING)).sum()):
                raise ValueError(
                    f"{self.path}: {counted(over, 'respondent')} of {len(amounts):,} would pass the budget of {self.budget:g} "
                    f"{self.unit}, the most by a total of {amounts.max():g} with {amount:g} a release. Nothing is spent. Leave "
                    "their records out (Ledger.spent lists what is left), or publish with more noise."
                )
            facts = {"amount": float(amount), "written": datetime.now(UTC).isoformat(timespec="seconds")}
            begun = [{"time": time, "respondents": len(each), **facts} for time, each in spends]

            def write(state: str, failed: str) -> None:
                _write(self, [*before, *({**one, "state": state} for one in begun)], totals, failed)

            write("begun", UNSPENT)
            stack.push(lambda kind, *_: write("published", MARKED_BEGUN) if kind is None else None)
            return stack.pop_all()

    def spent(self) -> pd.DataFrame:
        """Totals: a row of ``respondent`` as text, ``releases``, ``amount`` and ``left`` for each in the ledger."""
        table: pd.DataFrame = _read(self.path)[2].to_pandas()
        return table.assign(left=(self.budget - table["amount"]).clip(lower=0))

    def missing(self, times: Iterable[Any]) -> list[Any]:
        """Those of some times at which the ledger has no release."""
        known = {one["time"] for one in _read(self.path)[1]}
        return [time for time in times if _text(time) not in known]

    @property
    def releases(self) -> pd.DataFrame:
        """Releases in the order of their spends: ``time``, ``amount``, ``respondents``, ``written`` and ``state``."""
        return pd.DataFrame(_read(self.path)[1], columns=["time", "amount", "respondents", "written", "state"])


def _text(cell: Any) -> str:
    """A respondent or time as text; whole floats, as pandas reads integers beside missing cells, as integers."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _rows(respondents: Iterable[Hashable], time: Any, amount: float) -> pa.Table:
    """Rows that a release adds to the totals."""
    given = as_list("Ledger.spend", "respondents", respondents, "is a list of respondents, as view.people.respondents")
    texts = pa.array(map(_text, given), pa.string())
    if len(texts.unique()) < len(given):
        raise ValueError(
            f"Ledger.spend: a respondent appears twice in the release at {time!r}, where identifiers are compared as text; a "
            "release holds one record per respondent. Drop duplicates."
        )
    return pa.table([texts, np.ones(len(given), dtype=np.int64), np.full(len(given), amount)], schema=TOTALS)


def _read(path: Path) -> tuple[Ledger, list[dict[str, Any]], pa.Table]:
    """Ledger, releases and totals of a file."""
    if not path.exists():
        raise FileNotFoundError(
            f"there is no ledger {path}; name its file, or make one by Ledger.create before the first release of a series."
        )
    version = VERSION
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = json.loads(file.schema_arrow.metadata[ABOUT])
            version, releases = about["version"], about["releases"]
            totals = file.read(use_threads=False).replace_schema_metadata(None)
        ledger = Ledger(path, about["unit"], about["budget"], about["series"])
        records = pc.sum(totals["releases"]).as_py() or 0
        if version == VERSION and totals.schema == TOTALS and records == sum(one["respondents"] for one in releases):
            return ledger, releases, totals
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException):
        pass  # The file is not as it was written, whatever the error.
    if version != VERSION:
        raise ValueError(
            f"{path} is a ledger of version {version}, and this foreknow reads {VERSION}; update foreknow."
        )
    raise ValueError(
        f"{path} cannot be read as a ledger: it is torn, changed, or another file. Restore its latest backup; a new ledger would "
        "forget what was spent."
    )


def _write(ledger: Ledger, releases: list[dict[str, Any]], totals: pa.Table, failed: str = UNSPENT) -> None:
    """Write a ledger whole or not at all, and to the disk itself, so that a loss of power forgets nothing."""
    about = {"unit": ledger.unit, "budget": ledger.budget, "series": ledger.series, "releases": releases}
    table = totals.replace_schema_metadata({ABOUT: json.dumps({"version": VERSION, **about})})
    with _unwritable(ledger.path, failed):
        with atomic_file(ledger.path) as scratch:
            pq.write_table(table, scratch, compression="zstd", write_page_checksum=True)
            _to_disk(scratch, os.O_RDWR)
        if os.name != "nt":
            _to_disk(ledger.path.parent, os.O_RDONLY)


def _to_disk(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Lock of a ledger, which one process has at a time. Scratch files of killed ones are removed."""
    with ExitStack() as stack:
        with _unwritable(path):
            lock = path.with_name(f".{path.name}.lock")
            lock.touch(0o600)
            try:
                stack.enter_context(locked(lock))
            except ValueError:
                raise ValueError(f"{path}: another process publishes with this ledger; wait for its end.") from None
            for torn in path.parent.glob(".*.writing"):
                if torn.name.startswith(f".{path.name[:100]}."):
                    torn.unlink()
        yield


@contextmanager
def _unwritable(path: Path, what: str = UNSPENT) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error.strerror or error}): {what}.") from None
