"""Simulation-based calibration of every program: truths from its prior, data given them, uniform ranks.

Each program has a simulator in NumPy alone, which states its law a second time. The tests are those of `CalibrationRanks`, at a
false-alarm rate of `FALSE_ALARM` for all programs together.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pymc as pm
import pytest

from foreknow.models import (
    Beliefs,
    Categorical,
    Evidence,
    History,
    Numeric,
    Posterior,
    Problem,
    Release,
    Schema,
    View,
    compromised_model,
    foreground_model,
    hierarchical_markov_model,
    history_model,
    markov_model,
    permutation_model,
    prior_model,
    release_model,
)
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.joint import JointProblem
from foreknow.models.programs import PosteriorDraws, ProgramPosterior, calibration_ranks

FALSE_ALARM = 1e-3
SIMULATIONS = 80


class Case(NamedTuple):
    """Simulator, program, its variables, and test quantities of values and data."""

    simulate: Any
    build: Any
    variables: list[str]
    quantities: Any = None
    believed: Any = None
    target_accept: float = 0.9


class WithValue(NamedTuple):
    """Posterior with the variable ``value``: a draw of one respondent's value from the belief in each draw."""

    posterior: Any
    entry: tuple[int, ...]

    def __call__(self, data, rng):
        values, divergences = self.posterior(data, rng)
        belief = values["belief"][(slice(None), *self.entry)]
        drawn = (belief.cumsum(axis=1) < rng.random((len(belief), 1))).sum(axis=1)
        return PosteriorDraws({**values, "value": drawn}, divergences)


def one_each(rng, rows):
    """A value from each row of probabilities."""
    return np.minimum((rows.cumsum(axis=1) < rng.random((len(rows), 1))).sum(axis=1), rows.shape[1] - 1)


def multisets(group, values, shape):
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (group, values), 1)
    return counts


def count_of_the_value(values, data):
    """Number of members of the first group with the value of its first member; the data begin with the counts."""
    return data[int(values["value"])]


# permutation_model

ASSIGNMENTS = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
"""All assignments of three distinct values, in the order of the program's coordinate."""


def simulated_assignment(rng):
    concentration = rng.gamma(10, 1 / 5)
    shares = rng.dirichlet(np.full(6, concentration))
    return {"shares": shares, "concentration": concentration}, int(rng.choice(6, p=shares))


def program_of_an_assignment(drawn):
    """The drawn assignment is the one with the largest sum of priors."""
    prior = np.full((3, 3), 0.05)
    prior[np.arange(3), ASSIGNMENTS[drawn]] = 0.9
    problem = Problem(prior, np.zeros(3, dtype=int), np.array([[1, 1, 1]]))
    return permutation_model(problem, lambda: pm.Gamma("concentration", 10, 5))


# release_model, foreground_model

GROUP = np.repeat(np.arange(4), 3)
CLASSES = np.array([0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1])
PAST = np.random.default_rng(8).dirichlet([1, 1], size=12)
SIGNATURE = np.array([0, 1, -1, 0, 0, 1, 1, -1, 1, 0, 1, 0])
REST = np.array([0.5, 0.3, 0.2])


def simulated_release(concentrations, rows_of, name):
    def simulate(rng):
        table = np.array([rng.dirichlet(row) for row in concentrations])
        values = one_each(rng, rows_of(rng, table))
        return {name: table, "value": values[0]}, multisets(GROUP, values, (4, len(table[0])))

    return simulate


def after_the_last_value(rng, table):
    return table[one_each(rng, PAST)]


def problem_of(counts):
    return Problem(np.full((12, counts.shape[1]), 1 / counts.shape[1]), GROUP, counts)


def count_in_the_first_group(values, counts):
    return count_of_the_value(values, counts[0])


# markov_model, hierarchical_markov_model

MISSED = np.array([0, 1, 0, 1, 0, 1, 0], dtype=bool)
"""Visits that are missing, of all sequences."""


def sequences_of(rng, tables, visits):
    """Sequences from one table of transitions each, with uniform first values."""
    order = tables.ndim - 2
    one = rng.integers(tables.shape[-1], size=(len(tables), visits))
    for t in range(order, visits):
        last = tuple(one[:, t - back] for back in range(order, 0, -1))
        one[:, t] = one_each(rng, tables[(np.arange(len(tables)), *last)])
    return one


def simulated_sequences(order, missed=()):
    def simulate(rng):
        transitions = rng.dirichlet([1.0, 1.0], size=(2,) * order)
        visits = sequences_of(rng, np.tile(transitions, (10, *(1,) * (order + 1))), 7)
        visits[:, missed] = -1
        return {"transitions": transitions}, visits

    return simulate


def simulated_classes(rng):
    pooled, concentration = rng.dirichlet([1.0, 1.0], size=2), rng.lognormal(2.3, 1)
    transitions = np.array([[rng.dirichlet(concentration * row) for row in pooled] for _ in range(2)])
    truth = {"pooled": pooled, "concentration": concentration, "transitions": transitions}
    return truth, sequences_of(rng, np.repeat(transitions, 6, axis=0), 6)


# prior_model

AGES = np.random.default_rng(3).integers(20, 80, size=40)
SEXES = np.tile(["f", "m", "m", "f"], 10)
DOMAIN = ("a", "b", "c")
SCHEMA = Schema({"age": Numeric(), "sex": Categorical(("f", "m"))}, "result", DOMAIN)


def zero_sum(rng, scale, shape):
    normal = rng.normal(0, scale, size=shape)
    return normal - normal.mean(axis=-1, keepdims=True)


def simulated_corpus(rng):
    """Values by the formula of the documentation, with the design written out: a standardized and two centered columns."""
    intercept, scale = zero_sum(rng, 2.5, 3), np.abs(rng.normal(0, 1, size=2))
    coefficients = scale[[0, 1, 1]][:, None] * zero_sum(rng, 1.0, (3, 3))
    is_female = (SEXES == "f") - (SEXES == "f").mean()
    design = np.column_stack([(AGES - AGES.mean()) / AGES.std(), is_female, -is_female])
    weights = np.exp(intercept + design @ coefficients)
    values = one_each(rng, weights / weights.sum(axis=1, keepdims=True))
    return {"intercept": intercept, "scale": scale, "coefficients": coefficients}, values


def program_of_a_corpus(values):
    frame = pd.DataFrame({"id": range(40), "age": AGES, "sex": SEXES, "result": np.array(DOMAIN)[values]})
    return prior_model(History([View(frame, SCHEMA, 1)]))


# compromised_model

NAMES = [f"r{i}" for i in range(15)]
BELIEVED = np.random.default_rng(4).dirichlet([1.0, 1.0, 1.0], size=15)


def simulated_claims(rng):
    reliability, true = rng.beta(2, 1), one_each(rng, BELIEVED)
    wrong = (true + rng.integers(1, 3, size=15)) % 3
    claimed = np.where(rng.random(15) < reliability, true, wrong)
    return {"reliability": reliability, "value": true[0]}, claimed


def program_of_claims(claimed):
    frame = pd.DataFrame({"id": NAMES, "age": 30, "sex": "f", "result": ["a", "b", "c"] * 5})
    observation = Release(View(frame, SCHEMA, 1), np.zeros(15, dtype=int)).observation
    beliefs = Beliefs((ReleaseBeliefs(observation, BELIEVED, BELIEVED, Posterior(BELIEVED, np.zeros(1, dtype=int))),))
    claims = pd.DataFrame({"respondent": NAMES, "value": np.array(DOMAIN)[claimed], "time": 1})
    return compromised_model(claims, beliefs, (2.0, 1.0))


def is_as_claimed(values, claimed):
    return values["value"] == claimed[0]


# history_model

PAIRS = np.array([[0, 0, 1, 1], [2, 3, 2, 3], [4, 5, 5, 4]])
"""Group of each of four respondents in each of three releases."""


def simulated_history(rng):
    frequencies, transitions = rng.dirichlet([1.0, 1.0], size=1), rng.dirichlet([1.0, 1.0], size=2)
    values = np.empty((3, 4), dtype=np.int64)
    values[0] = one_each(rng, np.tile(frequencies, (4, 1)))
    for t in (1, 2):
        values[t] = one_each(rng, transitions[values[t - 1]])
    truth = {"frequencies": frequencies, "transitions": transitions, "value": values[0, 0]}
    return truth, multisets(PAIRS.ravel(), values.ravel(), (6, 2))


def program_of_a_history(counts):
    order = np.argsort(PAIRS.ravel(), kind="stable")
    path = np.tile(np.arange(4), 3)[order]
    half = np.full((4, 2), 0.5)
    problem = JointProblem(
        half, (half[None, :2],), path, PAIRS.ravel()[order], np.zeros(12, dtype=int), counts, np.repeat([0, 1, 2], 2)
    )
    return history_model(problem)


CASES = {
    "permutation_model": Case(
        simulated_assignment,
        program_of_an_assignment,
        ["shares", "concentration"],
        {"share of the assignment drawn": lambda values, drawn: values["shares"][drawn]},
    ),
    "release_model, classes": Case(
        simulated_release(np.ones((2, 3)), lambda _, table: table[CLASSES], "frequencies"),
        lambda counts: release_model([problem_of(counts)], [CLASSES]),
        ["frequencies", "belief"],
        {"count of the value": count_in_the_first_group},
        believed=(0, 0),
    ),
    "release_model, transitions": Case(
        simulated_release(np.ones((2, 2)), after_the_last_value, "transitions"),
        lambda counts: release_model([problem_of(counts)], past=[PAST]),
        ["transitions", "belief"],
        {"count of the value": count_in_the_first_group},
        believed=(0, 0),
    ),
    "foreground_model": Case(
        simulated_release(
            np.tile(5 * REST, (2, 1)), lambda _, table: np.vstack([table, REST])[SIGNATURE], "global_distribution"
        ),
        lambda counts: foreground_model(Evidence(SIGNATURE, GROUP, counts, REST), 5.0),
        ["global_distribution", "belief"],
        {"count of the value": count_in_the_first_group},
        believed=(0, 0),
    ),
    "markov_model, missing visits": Case(
        simulated_sequences(1, MISSED), lambda visits: markov_model(visits, values=2), ["transitions"]
    ),
    "markov_model, order 2": Case(
        simulated_sequences(2), lambda visits: markov_model(visits, 2, values=2), ["transitions"]
    ),
    "hierarchical_markov_model": Case(
        simulated_classes,
        lambda visits: hierarchical_markov_model(visits, np.repeat([0, 1], 6), values=2),
        ["pooled", "concentration", "transitions"],
        target_accept=0.95,
    ),
    "prior_model": Case(
        simulated_corpus, program_of_a_corpus, ["intercept", "scale", "coefficients"], target_accept=0.95
    ),
    "compromised_model": Case(
        simulated_claims,
        program_of_claims,
        ["reliability", "belief"],
        {"as claimed": is_as_claimed},
        believed=(0,),
    ),
    "history_model": Case(
        simulated_history,
        program_of_a_history,
        ["frequencies", "transitions", "belief"],
        {"count of the value": count_in_the_first_group},
        believed=(0,),
    ),
}


def ranks_of(case, build=None):
    settings = {"draws": 31, "thinning": 5, "warmup": 200, "target_accept": case.target_accept}
    posterior = ProgramPosterior(build or case.build, case.variables, **settings)
    if case.believed is not None:
        posterior = WithValue(posterior, case.believed)
    return calibration_ranks(case.simulate, posterior, SIMULATIONS, case.quantities, rng=2026)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_program_is_calibrated(name):
    table = ranks_of(CASES[name]).uniformity()
    assert table["adjusted"].min() > FALSE_ALARM / len(CASES), table


@pytest.mark.slow
def test_a_program_with_another_prior_is_found():
    """Frequencies drawn from a uniform distribution, and a program with a concentration of 10."""
    case = CASES["release_model, classes"]
    wrong = ranks_of(case, lambda counts: release_model([problem_of(counts)], [CLASSES], concentration=10.0))
    assert wrong.uniformity()["adjusted"].min() < FALSE_ALARM / len(CASES)
