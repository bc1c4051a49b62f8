"""The cleaning of a file with proposed roles, tried: its faults, the options that settle them, and those that stay."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from foreknow.app.cli.files.input_files import InputFiles
from foreknow.models import Cleaning, ColumnRoles, InputFaults
from foreknow.models.tables.cleaning.faults import Change, Fault

FORMATS = r"time_format=(\[[^]]*\])(?! \()"
"""Pattern of the formats of times that a fault names, unless one of them has two readings."""

TWO_FORMATS = re.compile(r"set time_format='([^']*)' or time_format='([^']*)'")
"""Pattern of the advice of a fault where times have two readings, and the user knows which is meant."""

CHOSEN_FORMAT = "FORMAT"
"""Placeholder of the format that the user chooses."""


class DryRun(NamedTuple):
    """Faults of a file without options, the options that settle them, what is changed then, and the faults that stay."""

    faults: tuple[Fault, ...]
    lines: tuple[str, ...]
    options: tuple[str, ...]
    changes: tuple[Change, ...]
    left: tuple[Fault, ...]

    @property
    def to_choose(self) -> list[str]:
        """Columns of times with two readings: the user chooses the format, and the options hold `CHOSEN_FORMAT`."""
        return [fault.column for fault in self.faults if TWO_FORMATS.fullmatch(fault.way_out)]


def dry_run(path: Path, table: pd.DataFrame, files: InputFiles, roles: ColumnRoles) -> DryRun:
    """Clean a table without options, and then with those that its faults name.

    Where times have two readings, each is tried, and the one with the fewest faults counts.
    """
    places = files.places([path], [table])
    try:
        _, changes = Cleaning().together([table], roles, places)
    except InputFaults as error:
        faults = error
    else:
        return DryRun((), (), (), changes, ())
    numbers = [fault.column for fault in faults.faults if "numbers=[" in fault.way_out]
    known = ColumnRoles(
        roles.sensitive, roles.quasi_identifiers, roles.respondent, roles.time, roles.categorical, tuple(numbers)
    )
    tried: list[DryRun] = []
    for formats in _readings(faults.faults):
        rules, options = _settled(faults.faults, formats)
        try:
            _, changes = rules.together([table], known, places)
        except InputFaults as error:
            tried.append(DryRun(faults.faults, faults.lines, options, (), error.faults))
        else:
            tried.append(DryRun(faults.faults, faults.lines, options, changes, ()))
    return min(tried, key=lambda run: len(run.left))


def _readings(faults: Sequence[Fault]) -> list[list[str] | None]:
    """The formats of times that faults name, once for each reading; None if they name no format."""
    for fault in faults:
        if two := TWO_FORMATS.fullmatch(fault.way_out):
            return [[one] for one in two.groups()]
    listed = re.search(FORMATS, " ".join(fault.way_out for fault in faults))
    return [re.findall(r"'([^']*)'", listed[1]) if listed else None]


def _settled(faults: Sequence[Fault], formats: list[str] | None) -> tuple[Cleaning, tuple[str, ...]]:
    """Settings of cleaning that settle faults, and the same as options of the command line."""
    ways = " ".join(fault.way_out for fault in faults)
    merge, drop, copies = "equal_values='merge'" in ways, "missing='drop'" in ways, "duplicates='drop'" in ways
    rules = Cleaning(
        "merge" if merge else "refuse",
        "drop" if drop else "refuse",
        "drop" if copies else "refuse",
        time_format=formats,
    )
    chosen = {"--equal-values merge": merge, "--missing drop": drop, "--duplicates drop": copies}
    written = [CHOSEN_FORMAT] if len(_readings(faults)) > 1 else formats or []
    times = [f"--time-format {shlex.quote(one)}" for one in written]
    return rules, (*(option for option, is_chosen in chosen.items() if is_chosen), *times)
