"""Data sets: tables as histories, and simulations with exact background knowledge."""

from collections.abc import Callable
from typing import Any

from foreknow.evaluation.datasets.adult import adult, adult_history
from foreknow.evaluation.datasets.exams import exams
from foreknow.evaluation.datasets.households import households
from foreknow.evaluation.datasets.pbc import pbc
from foreknow.evaluation.datasets.random_items import adult_with_items

DATASETS: dict[str, Callable[..., Any]] = {
    "adult": adult,
    "adult_history": adult_history,
    "adult_with_items": adult_with_items,
    "exams": exams,
    "households": households,
    "pbc": pbc,
}
"""Data sets by name: functions that return a `History`, or a tuple of a history and what is known of it: `exams` its laws, in a
`Simulation`, and `adult_with_items` the public knowledge that its items link to."""
