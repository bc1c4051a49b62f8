"""Data sets, defenses and clocks that several scripts share: simulated exams, Adult, and ten defenses."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from foreknow.evaluation import adult
from foreknow.models import View

sys.path.append(str(Path(__file__).resolve().parents[1]))
from experiments.subjects import seeded, subject, ten

__all__ = ["seeded", "subject", "ten"]

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
HIERARCHIES = ADULT.parent / "adult-hierarchies"
ADULT_QI = ("age", "sex", "race", "marital-status", "education")

LOW = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
"""Sensitive set of Adult: education "before secondary", 3.46 % of the records."""


class MissingData(Exception):  # noqa: N818 - the name says what is wrong
    """Raised if the data of a figure is missing."""


type Work = Callable[[], object]
"""What a figure times."""


class Figure(NamedTuple):
    """A timed figure; with ``own_clock``, the work itself returns the seconds."""

    limit: float | None
    prepare: Callable[[], Work]
    own_clock: bool = False


def timed[T](work: Callable[[], T], clock: Callable[[], float] = time.process_time) -> tuple[T, float]:
    """Result of a work, and its seconds: of the processor, or of another clock."""
    start = clock()
    return work(), clock() - start


def check_adult() -> None:
    if not ADULT.exists():
        raise MissingData(f"{ADULT.name}: UCI Adult is not beside the project")


def census(rows: int | None) -> View:
    """View of Adult, or of a bootstrap with the given number of rows."""
    check_adult()
    (view,) = adult(ADULT, sensitive="occupation", quasi_identifiers=ADULT_QI)
    if rows is None:
        return view
    frame = view.frame.sample(rows, replace=True, random_state=1).reset_index(drop=True)
    return View(frame.assign(id=np.arange(rows)), view.schema)
