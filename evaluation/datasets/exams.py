"""The medical exams of JS-reduce, simulated: weekly views with known prior and transitions."""

from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd
import scipy

from foreknow.models.adversary import Simulation
from foreknow.models.arrays import BoolArray, FloatArray, IntArray
from foreknow.models.knowledge.class_frequencies import ClassFrequencies
from foreknow.models.knowledge.markov_chain import MarkovChain, VariableOrderChain
from foreknow.models.knowledge.personal_transitions import TransitionsByClass
from foreknow.models.settings import as_generator, check_array_size, check_flag, check_positive, check_whole, is_whole
from foreknow.models.tables.history import History
from foreknow.models.tables.people import People
from foreknow.models.tables.schema import Numeric, Schema
from foreknow.models.tables.view import View

TRAITS = {"age": (45, 74), "gender": (1, 2), "weight": (60, 89)}


LIVER = (
    "mild hepatitis C",
    "moderate hepatitis C",
    "compensated cirrhosis",
    "decompensated cirrhosis",
    "hepatocellular carcinoma",
)
HIV = ("HIV antibody-negative", "HIV asymptomatic", "pre-AIDS", "AIDS")
ALZHEIMER = ("mild Alzheimer", "moderate Alzheimer", "severe Alzheimer")
SEPSIS = ("infection without SIRS", "SIRS", "sepsis", "severe sepsis", "septic shock")
ENDS = ("deceased", "discharged")
RESULTS = (*LIVER, *HIV, *ALZHEIMER, *SEPSIS, *ENDS)
"""Sensitive domain: 17 stages, in the order of severity within each disease, and the two ends, which are final."""


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

# Factors of the rate at which a stage ends, in the same layout, for transitions by class. The paper has them by age, gender and
# weight and prints none of them: every number is assumed.
AGE_PACES = ((0.8, 0.8, 0.8, 0.8, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0), (1.25, 1.25, 1.25, 1.25, 1.0))
GENDER_PACES = ((1.2, 1.0, 1.1, 1.1, 1.0), (0.8, 1.0, 0.9, 0.9, 1.0))
WEIGHT_PACES = ((1.0, 1.3, 1.1, 1.2, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0), (1.3, 0.8, 1.0, 1.0, 1.0))


def exams(
    views: int = 24,
    records: int = 5000,
    weeks_per_step: float = 1.0,
    *,
    order: int = 1,
    by_class: bool = False,
    rng: np.random.Generator | int,
) -> Simulation:
    """Simulate the exams of one institute, with the same number of respondents in each view.

    A respondent is under care for one unbroken run of views. The first result is drawn from the prior of the respondent's class,
    each later one from the transitions after the last ``order`` results. A respondent recorded deceased or discharged does not
    return. Of the others, respondents drawn independently of their result leave until `TURNOVER` of the places are free; none
    leaves where more are free already. Newcomers take the free places; their age, gender and weight are uniform, and do not change.

    Parameters
    ----------
    views : int
        Number of views; their times are 1, ..., views.
    records : int
        Number of records of each view.
    weeks_per_step : float
        Weeks between two views; see `foreknow.evaluation.datasets.exams.exam_transitions`.
    order : int
        Number of last results that the next one depends on, as in `exam_transitions`. By keyword.
    by_class : bool
        True if the pace depends on age, gender and weight, as in the paper's section 7.1. By keyword.
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
        If ``views``, ``records`` or ``order`` is not a whole number of at least 1, the product of the first two is over 2^31, or
        ``weeks_per_step`` is not a positive number.
    TypeError
        If ``rng`` is neither a generator nor a seed.

    Notes
    -----
    JS-reduce, section 7.1, whose data set was not found: transitions are rebuilt from published rates. The law of first results
    and the rule by which respondents leave are assumed. Cost: O(views records m).

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
    prior, transitions = _prior(), exam_transitions(weeks_per_step, order=order, by_class=by_class)
    laws = _laws(weeks_per_step, order, by_class)
    weeks = enumerate(_weeks(int(views), int(records), prior, laws, generator), start=1)
    return Simulation(History(View(_frame(cohort, week), SCHEMA, week) for week, cohort in weeks), prior, transitions)


class _Cohort(NamedTuple):
    """Respondents under care, one per place: traits of shape ``(n, 3)``, the others of shape ``(n,)``."""

    ids: IntArray
    traits: IntArray
    results: IntArray  # codes
    lasting: IntArray  # number of last results that are equal
    classes: IntArray


def _prior() -> ClassFrequencies:
    sizes = [len(stages) for stages in SHARES]
    disease = np.repeat(np.arange(len(sizes)), sizes)
    stage = np.concatenate([np.arange(size) for size in sizes]) * (disease < len(sizes) - 1)
    age = np.array(AGE_FACTORS)[:, disease] * np.array(SEVERITY_FACTORS)[:, None] ** stage
    gender, weight = np.array(GENDER_FACTORS)[:, disease], np.array(WEIGHT_FACTORS)[:, disease]
    laws = np.concatenate([*SHARES.values()]) * age[:, None, None] * gender[:, None] * weight
    return ClassFrequencies(CUTS, laws / laws.sum(axis=-1, keepdims=True))


def _weeks(
    views: int, records: int, prior: ClassFrequencies, laws: FloatArray, rng: np.random.Generator
) -> Iterator[_Cohort]:
    cohort = _newcomers(records, 1, prior, rng)
    seen = records
    yield cohort
    for _ in range(views - 1):
        free = _free(cohort.results, rng)
        newcomers = _newcomers(int(free.sum()), seen + 1, prior, rng)
        number = np.minimum(cohort.lasting, laws.shape[1]) - 1
        results = _draw(laws[cohort.classes if len(laws) > 1 else 0, number, cohort.results], rng)
        lasting = np.where(results == cohort.results, cohort.lasting + 1, 1)
        cohort = cohort._replace(results=results, lasting=lasting)
        cohort = _Cohort(*(_filled(old, free, new) for old, new in zip(cohort, newcomers, strict=True)))
        seen += len(newcomers.ids)
        yield cohort


def _newcomers(people: int, first_id: int, prior: ClassFrequencies, rng: np.random.Generator) -> _Cohort:
    ids = np.arange(first_id, first_id + people)
    low, high = np.array([*TRAITS.values()]).T
    traits = rng.integers(low, high + 1, size=(people, len(TRAITS)))
    who = People(ids.astype(object), traits.astype(np.float64), SCHEMA)
    return _Cohort(ids, traits, _draw(prior(who), rng), np.ones(people, dtype=np.int64), prior.classes(who))


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


WEEKS_PER_YEAR = 52.1775
DAYS_PER_WEEK = 7

type Rates = dict[str, dict[str, float]]
"""Probabilities of the other stages after one step, by stage; the remainder is the probability of staying."""

# Per year. Siebert et al., Gut 52 (2003), but for decompensated cirrhosis to carcinoma, HEP-SIM (BMJ Open).
# Assumed: remission is a discharge; decompensated patients die as those with diuretic-sensitive ascites; transplants
# (.022 a year) are left out; there is no other cause of death.
LIVER_PER_YEAR: Rates = {
    "mild hepatitis C": {"moderate hepatitis C": 0.041, "discharged": 0.002},
    "moderate hepatitis C": {"compensated cirrhosis": 0.073, "hepatocellular carcinoma": 0.001},
    "compensated cirrhosis": {"decompensated cirrhosis": 0.040, "hepatocellular carcinoma": 0.015},
    "decompensated cirrhosis": {"hepatocellular carcinoma": 0.068, "deceased": 0.110},
    "hepatocellular carcinoma": {"deceased": 0.860},
}

# Per year. NACC-UDS: Spackman et al., Current Alzheimer Research (2012), PMC3690579. Mild to moderate and moderate to
# severe are the remainders of its printed rates (stay .774 and .501). Assumed: the severe stage ends only in death.
ALZHEIMER_PER_YEAR: Rates = {
    "mild Alzheimer": {"moderate Alzheimer": 0.158, "severe Alzheimer": 0.013, "deceased": 0.055},
    "moderate Alzheimer": {"mild Alzheimer": 0.070, "severe Alzheimer": 0.214, "deceased": 0.215},
    "severe Alzheimer": {"deceased": 0.480},
}

# Mean months in each stage. Longini et al., Statistics in Medicine 8:831 (1989). Assumed: waiting is exponential.
HIV_MONTHS = {"HIV antibody-negative": 2.2, "HIV asymptomatic": 52.6, "pre-AIDS": 62.9, "AIDS": 23.6}

# Per day. Rangel-Frausto et al., Clinical Infectious Diseases 27:185-190 (1998), abstract; it also prints that .65 of
# sepsis, .68 of severe sepsis and .61 of septic shock stay.
SEPSIS_PER_DAY: Rates = {
    "sepsis": {"severe sepsis": 0.09, "deceased": 0.005},
    "severe sepsis": {"septic shock": 0.026, "deceased": 0.009},
    "septic shock": {"deceased": 0.079},
}

# Per day, all assumed: the split of the remainder of the printed rows, and the two rows that are not printed.
SEPSIS_PER_DAY_ASSUMED: Rates = {
    "infection without SIRS": {"SIRS": 0.05, "sepsis": 0.02, "deceased": 0.001, "discharged": 0.079},
    "SIRS": {"sepsis": 0.05, "severe sepsis": 0.01, "septic shock": 0.002, "deceased": 0.003, "discharged": 0.135},
    "sepsis": {"SIRS": 0.20, "discharged": 0.055},
    "severe sepsis": {"SIRS": 0.10, "sepsis": 0.16, "discharged": 0.025},
    "septic shock": {"SIRS": 0.03, "sepsis": 0.07, "severe sepsis": 0.211},
}


@overload
def exam_transitions(weeks_per_step: float = 1.0) -> MarkovChain: ...


@overload
def exam_transitions(weeks_per_step: float = 1.0, *, order: int = 1, by_class: bool = False) -> Any: ...


def exam_transitions(weeks_per_step: float = 1.0, *, order: int = 1, by_class: bool = False) -> Any:
    """Markov chain over the exam results, for a step of some weeks.

    For the chronic diseases it is ``expm(Q_year * weeks / 52.1775 + Q_hiv * weeks)``, where Q_year generates the annual rates and
    Q_hiv leaves each stage at the rate 1 over its mean duration. For sepsis it is the daily matrix to the power ``7 * weeks``; a
    fraction of a day is taken from the generator of the daily matrix.

    Parameters
    ----------
    order : int
        Number d of last results that the next one depends on. If k of them are equal at the end, the rate at which the stage ends
        is multiplied by 2 k / (d + 1), which is 1 on average over k: the longer a stage has lasted, the sooner it ends. The
        factors are assumed; a source of the paper has laws of the time in a stage (Di Biase et al. 2007). By keyword.
    by_class : bool
        True if the rate is also multiplied by factors of age, gender and weight, all assumed. By keyword.

    Returns
    -------
    MarkovChain, VariableOrderChain or TransitionsByClass
        Over `RESULTS`; a `VariableOrderChain` for an order of 2 or more; one chain for each of 18 classes with ``by_class``.
        Deceased and discharged are absorbing.

    Notes
    -----
    A rate multiplied by f makes the probability p of staying p^f; the others are scaled in proportion.

    The logarithm of a printed matrix has negative rates where a transition of several steps is printed as 0: the annual table has
    no death from cirrhosis, although carcinoma follows it and kills. Negative rates are set to 0 and the diagonal is reset.
    Therefore 52.1775 weeks give the annual rates exactly from decompensated cirrhosis, carcinoma and severe Alzheimer, and to
    within .022 from other stages (mild Alzheimer stays .752, printed .774).

    Examples
    --------
    >>> chain = exam_transitions()
    >>> float(chain.probabilities[RESULTS.index("AIDS"), RESULTS.index("deceased")].round(4))
    0.0097
    """
    laws = _laws(weeks_per_step, order, by_class)
    if order == 1:
        chains: tuple[Any, ...] = tuple(MarkovChain(1, law) for law in laws[:, 0])
    else:
        m = len(RESULTS)
        # Context 1 + (k - 1) m + s is the result s, k times.
        oldest, rest = np.arange(order * m) % m, np.maximum(np.arange(order * m) - m + 1, 0)
        chains = tuple(
            VariableOrderChain(
                order, np.append(0, oldest), np.append(0, rest), np.vstack([np.full((1, m), 1 / m), *law])
            )
            for law in laws
        )
    return TransitionsByClass(CUTS, chains) if by_class else chains[0]


def _laws(weeks_per_step: float, order: int, by_class: bool) -> FloatArray:
    """Distributions of the next result by class, number of equal last results, and last result: shape ``(c, d, m, m)``."""
    check_positive("exams", "weeks_per_step", weeks_per_step, "the weeks between two records")
    check_whole("exams", "order", order, "last results")
    check_flag("exams", "by_class", by_class)
    weekly = _generator(_matrix(LIVER_PER_YEAR, ALZHEIMER_PER_YEAR)) / WEEKS_PER_YEAR + _hiv_generator()
    sepsis = _matrix(SEPSIS_PER_DAY, SEPSIS_PER_DAY_ASSUMED)
    # Each factor leaves the stages of the other diseases unchanged, so the product is the chain of all diseases.
    chain = scipy.linalg.expm(weekly * weeks_per_step) @ _power(sepsis, DAYS_PER_WEEK * weeks_per_step)
    law = MarkovChain(1, np.clip(chain, 0.0, None)).probabilities
    pace = np.ones((1, len(RESULTS)))
    if by_class:
        disease = np.repeat(np.arange(len(SHARES)), [len(stages) for stages in SHARES])
        age, gender, weight = (np.array(paces)[:, disease] for paces in (AGE_PACES, GENDER_PACES, WEIGHT_PACES))
        pace = (age[:, None, None] * gender[:, None] * weight).reshape(-1, len(RESULTS))
    if order == 1 and not by_class:
        return law[None, None]
    factors = 2 * np.arange(1, order + 1) / (order + 1)
    stay = np.diag(law) ** (pace[:, None] * factors[:, None])
    leaves = 1 - np.diag(law)
    scale = np.divide(1 - stay, leaves, out=np.zeros_like(stay), where=leaves > 0)
    laws = law * scale[..., None]
    laws[..., np.arange(len(law)), np.arange(len(law))] = stay
    return laws


def _matrix(*tables: Rates) -> FloatArray:
    """Transition matrix of one step over all results; a result without rates is kept."""
    matrix = np.zeros((len(RESULTS), len(RESULTS)))
    for table in tables:
        for stage, rates in table.items():
            for following, probability in rates.items():
                matrix[RESULTS.index(stage), RESULTS.index(following)] = probability
    return matrix + np.diag(1.0 - matrix.sum(axis=1))


def _hiv_generator() -> FloatArray:
    """Generator of Longini's stages in sequence, in rates per week."""
    generator = np.zeros((len(RESULTS), len(RESULTS)))
    for stage, following in zip(HIV, (*HIV[1:], "deceased"), strict=True):
        weeks = HIV_MONTHS[stage] * WEEKS_PER_YEAR / 12
        generator[RESULTS.index(stage), RESULTS.index(following)] = 1 / weeks
    return generator - np.diag(generator.sum(axis=1))


def _generator(matrix: FloatArray) -> FloatArray:
    """Logarithm of a transition matrix, with negative rates set to 0."""
    rates = np.clip(np.real(scipy.linalg.logm(matrix)), 0.0, None)
    np.fill_diagonal(rates, 0.0)
    return np.asarray(rates - np.diag(rates.sum(axis=1)))


def _power(matrix: FloatArray, exponent: float) -> FloatArray:
    whole, rest = divmod(round(exponent, 9), 1.0)
    power = np.linalg.matrix_power(matrix, int(whole))
    return np.asarray(power @ scipy.linalg.expm(_generator(matrix) * rest)) if rest else power
