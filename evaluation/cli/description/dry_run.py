"""The cleaning of a file with proposed roles, tried: its faults, the options that settle them, and those that stay."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from foreknow.evaluation.cli.files.input_files import InputFiles
from foreknow.models import Cleaning, ColumnRoles, InputFaults
from foreknow.models.tables.cleaning.faults import Change, Fault

FORMATS = r"time_format=(\[[^]]*\])(?! \()"
"""Pattern of the formats of times that a fault names, unless one of them has two readings."""


class DryRun(NamedTuple):
    """Faults of a file without options, the options that settle them, what is changed then, and the faults that stay."""

    faults: tuple[Fault, ...]
    lines: tuple[str, ...]
    options: tuple[str, ...]
    changes: tuple[Change, ...]
    left: tuple[Fault, ...]


def dry_run(path: Path, table: pd.DataFrame, files: InputFiles, roles: ColumnRoles) -> DryRun:
    """Clean a table without options, and then with those that its faults name."""
    places = files.places([path], [table])
    try:
        _, changes = Cleaning().together([table], roles, places)
    except InputFaults as error:
        faults = error
    else:
        return DryRun((), (), (), changes, ())
    rules, options = _settled(faults.faults)
    numbers = [fault.column for fault in faults.faults if "numbers=[" in fault.way_out]
    known = ColumnRoles(
        roles.sensitive, roles.quasi_identifiers, roles.respondent, roles.time, roles.categorical, tuple(numbers)
    )
    try:
        _, changes = rules.together([table], known, places)
    except InputFaults as error:
        return DryRun(faults.faults, faults.lines, options, (), error.faults)
    return DryRun(faults.faults, faults.lines, options, changes, ())


def _settled(faults: Sequence[Fault]) -> tuple[Cleaning, tuple[str, ...]]:
    """Settings of cleaning that settle faults, and the same as options of the command line."""
    ways = " ".join(fault.way_out for fault in faults)
    merge, drop, copies = "equal_values='merge'" in ways, "missing='drop'" in ways, "duplicates='drop'" in ways
    formats = re.findall(r"'([^']*)'", listed[1]) if (listed := re.search(FORMATS, ways)) else None
    rules = Cleaning(
        "merge" if merge else "refuse",
        "drop" if drop else "refuse",
        "drop" if copies else "refuse",
        time_format=formats,
    )
    chosen = {"--equal-values merge": merge, "--missing drop": drop, "--duplicates drop": copies}
    times = [f"--time-format {shlex.quote(one)}" for one in formats or ()]
    return rules, (*(option for option, is_chosen in chosen.items() if is_chosen), *times)
