"""The medical exams of JS-reduce, simulated: weekly views with known prior and transitions."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from foreknow.evaluation.datasets.disease_rates import ALZHEIMER, ENDS, HIV, LIVER, RESULTS, SEPSIS, exam_transitions
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.knowledge.class_frequencies import ClassFrequencies
from foreknow.models.knowledge.markov_chain import MarkovChain
from foreknow.models.settings import as_generator, check_array_size, is_whole
from foreknow.models.simulation import Simulation
from foreknow.models.tables.attributes import Numeric
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Schema
from foreknow.models.tables.view import View

TRAITS = {"age": (45, 74), "gender": (1, 2), "weight": (60, 89)}
SCHEMA = Schema({name: Numeric(*ends) for name, ends in TRAITS.items()}, "result", RESULTS, "id")
CUTS = {"age": (55.0, 65.0), "gender": (1.5,), "weight": (70.0, 80.0)}
"""Boundaries of the 18 classes of respondents: ages 45-54, 55-64, 65-74; both genders; 60-69, 70-79, 80-89 kg."""

TURNOVER = (16_160 - 5_000) / (23 * 5_000)
"""Share of the places that is filled anew at each view, .097. It is assumed, such that 24 views of 5,000 records hold about
16,160 respondents, the number that the paper prints."""

# Priors of first results. The paper has one for each class and prints none of them: every number is assumed. The prior of a
# class is these shares, times the factors of its age, gender and weight, normalized.
SHARES = {
    LIVER: (0.12, 0.09, 0.07, 0.035, 0.025),
    HIV: (0.01, 0.09, 0.06, 0.04),
    ALZHEIMER: (0.11, 0.09, 0.05),
    SEPSIS: (0.06, 0.06, 0.035, 0.025, 0.01),
    ENDS: (0.004, 0.016),
}
# One row per interval; the columns are liver, HIV, Alzheimer, sepsis, and the ends. Gender 1 is read as men.
AGE_FACTORS = ((1.2, 1.6, 0.3, 0.8, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0), (0.8, 0.5, 2.2, 1.2, 1.0))
GENDER_FACTORS = ((1.2, 1.4, 0.8, 1.1, 1.0), (0.8, 0.6, 1.2, 0.9, 1.0))
WEIGHT_FACTORS = ((0.9, 1.3, 1.2, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0), (1.2, 0.7, 0.8, 1.0, 1.0))
SEVERITY_FACTORS = (0.85, 1.0, 1.15)
"""Factor of each stage's share relative to the stage before it, per interval of age."""


def exams(
    views: int = 24, records: int = 5000, weeks_per_step: float = 1.0, *, rng: np.random.Generator | int
) -> Simulation:
    """Simulate the exams of one institute, with the same number of respondents in each view.

    A respondent is under care for one unbroken run of views. The first result is drawn from the prior of the respondent's class,
    each later one from the transitions after the last. A respondent recorded deceased or discharged does not return. Of the
    others, respondents drawn independently of their result leave until `TURNOVER` of the places are free; none leaves where more
    are free already. Newcomers take the free places; their age, gender and weight are uniform, and do not change.

    Parameters
    ----------
    views : int
        Number of views; their times are 1, ..., views.
    records : int
        Number of records of each view.
    weeks_per_step : float
        Weeks between two views; see `foreknow.evaluation.datasets.disease_rates.exam_transitions`.
    rng : numpy.random.Generator or int
        Random generator, or a seed. By keyword.

    Returns
    -------
    Simulation
        The history, with columns id, week (the view's number), age in years, gender (1 or 2), weight in kg, result; the prior of
        first results; the transitions. Both laws are exact.

    Raises
    ------
    ValueError
        If ``views`` or ``records`` is not a whole number of at least 1, their product is over 2^31, or ``weeks_per_step`` is not
        a positive number.
    TypeError
        If ``rng`` is neither a generator nor a seed.

    Notes
    -----
    JS-reduce, section 7.1, whose data set was not found: transitions are rebuilt from published rates, and do not depend on age,
    gender or weight. The law of first results and the rule by which respondents leave are assumed. Cost: O(views records m).

    Examples
    --------
    >>> history, prior, transitions = exams(views=3, records=100, rng=1)
    >>> history
    History(views=3, records=300)
    """
    for name, number in (("views", views), ("records", records)):
        if not is_whole(number) or isinstance(number, float):
            raise ValueError(f"{name} is {number!r}; it is a whole number of {name}, 1 or more.")
    check_array_size("exams", views=int(views), records=int(records))
    generator = as_generator("exams", rng)
    prior, transitions = _prior(), exam_transitions(weeks_per_step)
    weeks = enumerate(_weeks(int(views), int(records), prior, transitions, generator), start=1)
    return Simulation(History(View(_frame(cohort, week), SCHEMA, week) for week, cohort in weeks), prior, transitions)


class _Cohort(NamedTuple):
    """Respondents under care, one per place: ids and codes of results of shape ``(n,)``, traits of shape ``(n, 3)``."""

    ids: IntArray
    traits: IntArray
    results: IntArray


def _prior() -> ClassFrequencies:
    sizes = [len(stages) for stages in SHARES]
    disease = np.repeat(np.arange(len(sizes)), sizes)
    stage = np.concatenate([np.arange(size) for size in sizes]) * (disease < len(sizes) - 1)
    age = np.array(AGE_FACTORS)[:, disease] * np.array(SEVERITY_FACTORS)[:, None] ** stage
    gender, weight = np.array(GENDER_FACTORS)[:, disease], np.array(WEIGHT_FACTORS)[:, disease]
    laws = np.concatenate([*SHARES.values()]) * age[:, None, None] * gender[:, None] * weight
    return ClassFrequencies(CUTS, laws / laws.sum(axis=-1, keepdims=True))


def _weeks(
    views: int, records: int, prior: ClassFrequencies, transitions: MarkovChain, rng: np.random.Generator
) -> Iterator[_Cohort]:
    cohort = _newcomers(records, 1, prior, rng)
    seen = records
    yield cohort
    for _ in range(views - 1):
        free = _free(cohort.results, rng)
        newcomers = _newcomers(int(free.sum()), seen + 1, prior, rng)
        cohort = cohort._replace(results=_draw(transitions.probabilities[cohort.results], rng))
        cohort = _Cohort(*(_filled(old, free, new) for old, new in zip(cohort, newcomers, strict=True)))
        seen += len(newcomers.ids)
        yield cohort


def _newcomers(people: int, first_id: int, prior: ClassFrequencies, rng: np.random.Generator) -> _Cohort:
    ids = np.arange(first_id, first_id + people)
    low, high = np.array([*TRAITS.values()]).T
    traits = rng.integers(low, high + 1, size=(people, len(TRAITS)))
    law = prior(People(ids.astype(object), traits.astype(np.float64), SCHEMA))
    return _Cohort(ids, traits, _draw(law, rng))


def _free(results: IntArray, rng: np.random.Generator) -> BoolArray:
    """Mask of the places that are free at the next view."""
    free = results >= len(RESULTS) - len(ENDS)
    # Rounded up or down by chance, so that the share is right on average for any number of records.
    wanted = int(TURNOVER * len(results) + rng.random())
    leaving = max(wanted - int(free.sum()), 0)
    free[rng.choice(np.flatnonzero(~free), leaving, replace=False)] = True
    return free


def _filled(old: IntArray, free: BoolArray, new: IntArray) -> IntArray:
    filled = old.copy()
    filled[free] = new
    return filled


def _draw(laws: FloatArray, rng: np.random.Generator) -> IntArray:
    """Random value of each row's distribution."""
    cumulative = laws.cumsum(axis=1)
    # The division by the last entry makes it exactly 1, so that no value after the last possible one is drawn.
    below = cumulative / cumulative[:, -1:] <= rng.random(len(laws))[:, None]
    return np.asarray(below.sum(axis=1))


def _frame(cohort: _Cohort, week: int) -> pd.DataFrame:
    traits = dict(zip(TRAITS, cohort.traits.T, strict=True))
    return pd.DataFrame(
        {"id": cohort.ids, "week": week, **traits, "result": np.array(RESULTS, dtype=object)[cohort.results]}
    )
