"""Data sets: real tables as views, and simulations with exact background knowledge."""

from collections.abc import Callable
from typing import Any

from foreknow.evaluation.datasets.adult import adult
from foreknow.evaluation.datasets.exams import exams
from foreknow.evaluation.datasets.pbc import pbc
from foreknow.evaluation.datasets.random_items import adult_with_items

DATASETS: dict[str, Callable[..., Any]] = {
    "adult": adult,
    "adult_with_items": adult_with_items,
    "exams": exams,
    "pbc": pbc,
}
"""Data sets by name: functions that return a `View`, a `History` or a `Simulation`."""
