"""Figures of a paper: each is a query over the rows of experiments, in the setting of the paper."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from foreknow.evaluation.cells import Cell, Experiment
from foreknow.models.tables.table_files import existing_file

FOLDER_OF_ADULT = "FOREKNOW_ADULT"
"""Environment variable: folder of adult.data and adult.test of the UCI Machine Learning Repository."""

ADULT = "789c84f6c3f90a6b9332f6cdb77cf689 48a26e54f6ef52267e6d97bba33b716a"
"""BLAKE2b of adult.data and of adult.test: the fingerprint of the data of all experiments on Adult."""


@dataclass(frozen=True)
class Figure:
    """Figure or table of a paper.

    Parameters
    ----------
    name : str
        Its number in the paper, as ``"4c"`` or ``"Table 3"``.
    title : str
        What it shows.
    query : str
        SQL of DuckDB over tables that have the names of the experiments; its columns are ``x``, ``y``, ``seed``, and ``line``
        and ``panel`` where there are several. Rows that differ in the seed alone are averaged.
    kind : {"curves", "points", "bars", "table"}
        ``"points"``: the query also has ``point``, as the release of a map of risk and loss, and both x and y are averaged.
    x_label, y_label : str
    setting : str
        What the paper states of its setting beside that of all its figures.
    readings : sequence of str
        What the paper leaves open here, beside the readings of all its figures, and the choice taken, one sentence each.
    marks : mapping of str to float
        Heights that the text of the paper states, with what they are.
    printed : sequence of (panel, line, x, y)
        Values that the paper prints; panel and line are texts, empty where there is one. A table has them in brackets, or in a row
        of its own for a line that was not measured; for a map, x and y are ranges, each a least and a largest value.
    log : bool
        Logarithmic vertical axis.
    within : pair of float
        Least and largest value that y can have, and x of a map; intervals end there.
    point_label : str
        What the points of a map stand for.
    """

    name: str
    title: str
    query: str
    kind: Literal["curves", "points", "bars", "table"]
    x_label: str
    y_label: str
    setting: str = ""
    readings: Sequence[str] = ()
    marks: Mapping[str, float] = field(default_factory=dict)
    printed: Sequence[tuple[str, str, Any, Any]] = ()
    log: bool = False
    within: tuple[float, float] = (-math.inf, math.inf)
    point_label: str = ""

    @property
    def file(self) -> str:
        """Name of its picture, without the ending."""
        return "-".join(self.name.lower().replace("(", " ").replace(")", " ").split())


@dataclass(frozen=True)
class Paper:
    """A paper: its experiments and figures.

    Parameters
    ----------
    name, citation : str
    experiments : sequence of Experiment
        Those of ``--full``. The data of one that reads Adult is `ADULT`.
    figures : sequence of Figure
    fast : callable
        True of the cells that ``--fast`` measures.
    setting : str
        What the paper states of the setting of all figures.
    readings : sequence of str
        What it leaves open in all of them, and the choice taken, one sentence each.
    """

    name: str
    citation: str
    experiments: Sequence[Experiment]
    figures: Sequence[Figure]
    fast: Callable[[Cell], bool]
    setting: str = ""
    readings: Sequence[str] = ()


@cache
def adult_folder() -> Path:
    """Folder of Adult, from the environment variable `FOLDER_OF_ADULT`.

    Raises
    ------
    FileNotFoundError
        If the variable is not set, or a file is not there.
    ValueError
        If the files are not those of the UCI Machine Learning Repository.
    """
    folder = Path(os.environ.get(FOLDER_OF_ADULT, ""))
    if not folder.name:
        raise FileNotFoundError(f"{FOLDER_OF_ADULT} is not set; it names the folder of adult.data and adult.test.")
    parts = [existing_file(folder / name, "it is a file of UCI Adult") for name in ("adult.data", "adult.test")]
    found = " ".join(blake2b(Path(part).read_bytes(), digest_size=16).hexdigest() for part in parts)
    if found != ADULT:
        raise ValueError(
            f"{folder} does not hold the adult.data and adult.test of the UCI Machine Learning Repository, byte by byte; "
            "experiments on other records have other results."
        )
    return folder
