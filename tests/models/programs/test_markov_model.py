"""Density of the Markov model against the sum over all completions, and its posterior against the closed form.

Only the sampler is compiled. PyTensor's Python interpreter computes densities and predictive draws, since their compilation
would take longer than the tests.
"""

import itertools
import math
import subprocess
import sys
from collections import Counter

import arviz as az
import numpy as np
import pymc as pm
import pytensor
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymc.model.transform.conditioning import remove_value_transforms
from pytensor.compile.mode import Mode
from scipy import stats
from strategies import history_of

from foreknow.models.knowledge.dirichlet import DirichletChain
from foreknow.models.programs import unknown_transitions as missing_visits
from foreknow.models.programs.unknown_transitions import markov_model

M = 3
INTERPRETED = Mode("py", "fast_compile")
SIGMAS = 5

visits = st.lists(st.lists(st.integers(-1, M - 1), max_size=7), min_size=1, max_size=4).filter(
    lambda people: any(sum(value >= 0 for value in person) > 1 for person in people)
)

CORPUS = [
    [0, 1, -1, 2, 0],
    [0, 1, -1, 2, 0],
    [-1, 2, 2, 1, 1, -1, -1, 0, 1, -1],
    [1, -1, 0, -1, 1, 0, 0],
    [2, 0, 1],
    [-1, -1],
    [0],
]
"""Repeated respondents; gaps at the start, in the middle, alternating and at the end; respondents without a transition."""


@pytest.fixture(autouse=True)
def no_c_compiler():
    """No C compilation, neither of inner graphs nor of folded constants."""
    with pytensor.config.change_flags(cxx=""):
        yield


def trimmed(person):
    known = [place for place, value in enumerate(person) if value >= 0]
    return person[known[0] : known[-1] + 1] if known else []


def log_probability(person, table, open_values=None):
    """Log-probability of one respondent's known values given the first ones, by a sum over all completions."""
    order, m = table.ndim - 1, table.shape[-1]
    person = trimmed(person)
    missing = [place for place, value in enumerate(person) if value < 0]
    terms = []
    open_values = range(m) if open_values is None else open_values
    for completion in itertools.product(open_values, repeat=len(missing)):
        values = list(person)
        for place, value in zip(missing, completion, strict=True):
            values[place] = value
        logs = [math.log(table[tuple(values[end - order : end + 1])]) for end in range(order, len(values))]
        terms.append(math.fsum(logs) - sum(place < order for place in missing) * math.log(len(open_values)))
    return np.logaddexp.reduce(terms)


def transitions_of(people, order):
    """Count of each run of known visits, one by one."""
    runs = [tuple(person[at : at + order + 1]) for person in people for at in range(len(person) - order)]
    return Counter(run for run in runs if min(run) >= 0)


def log_density(people, table, concentration):
    """Log-density of rows and data: prior, likelihood, and the number of orders of each table of counts."""
    order, m = table.ndim - 1, table.shape[-1]
    followed = transitions_of(people, order)
    total = sum(log_probability(person, table) for person in people)
    for before in itertools.product(range(m), repeat=order):
        total += stats.dirichlet.logpdf(table[before], concentration[before])
        counts = [followed[(*before, value)] for value in range(m)]
        total += math.lgamma(sum(counts) + 1) - sum(math.lgamma(count + 1) for count in counts)
    return total


def density(model):
    plain = remove_value_transforms(model)
    return plain.compile_fn(plain.logp(), mode=INTERPRETED)


class TestDensity:
    @pytest.mark.parametrize("order", [1, 2, 3])
    def test_is_the_sum_over_all_completions(self, order):
        rng = np.random.default_rng(order)
        shape = (M,) * (order + 1)
        concentration = rng.gamma(2, size=shape)
        logp = density(markov_model(CORPUS, order, concentration))
        for _ in range(5):
            table = rng.dirichlet(np.ones(M), size=(M,) * order)
            assert np.isclose(logp({"transitions": table}), log_density(CORPUS, table, concentration), rtol=1e-10)

    def test_nothing_underflows(self):
        """Each known visit of the stretch has a probability of about 1e-120 or less."""
        people = [[0, 0, -1, 0, -1, 0, -1, 0, -1, 0, 1]]
        table = np.broadcast_to([1e-120, 0.5, 0.5], (M, M, M))
        expected = log_probability(people[0], table)
        assert expected < -1000
        logp = density(markov_model(people, 2, values=M))
        assert np.isclose(logp({"transitions": table}), log_density(people, table, np.ones((M, M, M))), rtol=1e-10)

    def test_a_gap_is_a_power_of_the_table(self):
        """Order 1: from 0 over two missing visits to 1 is the third power."""
        table = np.random.default_rng(4).dirichlet(np.ones(M), size=M)
        logp = density(markov_model([[0, -1, -1, 1]], values=M))
        expected = np.log(np.linalg.matrix_power(table, 3)[0, 1]) + M * math.log(math.gamma(M))
        assert np.isclose(logp({"transitions": table}), expected, rtol=1e-12)

    @pytest.mark.parametrize("order", [1, 2])
    def test_a_value_that_is_never_missed_is_in_no_completion(self, order):
        people = [[0, -1, 2], [0, -1, -1, 1, 1], [1, -1, 0, 1, -1, 2]]
        logp = density(markov_model(people, order, values=M, never_missed=[2]))
        everything = density(markov_model(people, order, values=M))
        table = np.random.default_rng(6).dirichlet(np.ones(M), size=(M,) * order)
        gaps = missing_visits.stretches_with_missing(missing_visits.known_visits(people, M)[0], order)
        expected = sum(
            times * (log_probability(stretch, table, [0, 1]) - log_probability(stretch, table))
            for stretch, times in zip(gaps.visits.tolist(), gaps.occurrences, strict=True)
        )
        assert np.isclose(logp({"transitions": table}) - everything({"transitions": table}), expected, rtol=1e-10)

    @pytest.mark.parametrize("order", [1, 2])
    def test_gradient_is_that_of_finite_differences(self, order):
        """Central differences of step h err by about h^2 and eps |f| / h: 1e-8 or so of the gradient's size."""
        model = markov_model(CORPUS, order)
        function = model.logp_dlogp_function(ravel_inputs=True, mode=INTERPRETED)
        function.set_extra_values({})
        x = np.random.default_rng(order).normal(size=(M - 1) * M**order)
        _, gradient = function(x)
        h = 1e-4
        for place in range(len(x)):
            step = h * (np.arange(len(x)) == place)
            difference = (function(x + step)[0] - function(x - step)[0]) / (2 * h)
            assert np.isclose(difference, gradient[place], rtol=1e-6, atol=1e-6)


class TestFactors:
    """Counts and stretches of the visits, without PyTensor."""

    @given(people=visits, order=st.integers(1, 3), seed=st.integers(0, 9))
    def test_counts_and_stretches_are_the_whole_probability(self, people, order, seed):
        table = np.random.default_rng(seed).dirichlet(np.ones(M), size=(M,) * order)
        known, domain = missing_visits.known_visits(people, M)
        followed, gaps = (
            missing_visits.known_transitions(known, order, M),
            missing_visits.stretches_with_missing(known, order),
        )
        assert len(domain) == M
        parts = [log_probability(stretch, table) for stretch in gaps.visits.tolist()]
        total = (followed * np.log(table)).sum() + sum(gaps.occurrences * parts)
        assert np.isclose(total, sum(log_probability(person, table) for person in people if trimmed(person)))

    @given(people=visits, order=st.integers(1, 3))
    def test_counts_are_those_of_known_visits(self, people, order):
        followed = missing_visits.known_transitions(missing_visits.known_visits(people, M)[0], order, M)
        expected = transitions_of(people, order)
        assert {run: followed[run] for run in np.ndindex(followed.shape) if followed[run]} == expected

    def test_stretches_end_at_known_visits_and_equal_ones_are_one(self):
        gaps = missing_visits.stretches_with_missing(missing_visits.known_visits(CORPUS, M)[0], 1)
        assert dict(zip(map(tuple, gaps.visits.tolist()), gaps.occurrences.tolist(), strict=True)) == {
            (1, -1, 2, -1): 2,
            (1, -1, -1, 0): 1,
            (1, -1, 0, -1): 1,
            (0, -1, 1, -1): 1,
        }

    def test_of_a_history_the_views_in_between_are_missing_visits(self):
        """Abe: a, absent, b; Bea: from the second view on; Cid: until the first."""
        history = history_of(("AC", "ac"), ("B", "b"), ("AB", "bc"), ("B", "a"))
        model = markov_model(history)
        assert list(model.coords["value"]) == ["a", "b", "c"]
        known, _ = missing_visits.known_visits(history, None)
        assert [person.tolist() for person in known] == [[0, -1, 1], [2], [1, 2, 0]]

    def test_names_and_dimensions(self):
        model = markov_model(CORPUS, order=2)
        assert model.named_vars_to_dims["transitions"] == ("value_1", "value_2", "value")
        assert [variable.name for variable in (*model.observed_RVs, *model.potentials)] == ["followed", "gaps"]
        assert not markov_model([[0, 1, 1]]).potentials, "no visit is missing"


class TestSampling:
    @pytest.mark.slow
    def test_without_missing_visits_it_is_the_closed_form(self):
        """Means and mean squared deviations within five of their Monte Carlo errors, from their effective sample sizes."""
        people = np.random.default_rng(6).integers(0, 2, (5, 12)).tolist()
        prior = DirichletChain.fit([[0, 0, 1, 1, 0]]).concentrations[-1]
        model = markov_model(people, concentration=prior)
        trace = pm.sample(
            1000, tune=500, chains=2, cores=1, model=model, random_seed=7, progressbar=False, nuts_sampler="pymc"
        )
        assert float(az.rhat(trace).transitions.max()) < 1.01
        a = prior + DirichletChain.fit(people).concentrations[-1] - 1
        marginal = stats.beta(a, a.sum(axis=1, keepdims=True) - a)
        v = marginal.var()
        fourth = (marginal.stats(moments="k") + 3) * v**2
        draws = trace.posterior.transitions
        squares = (draws - marginal.mean()) ** 2
        for drawn, mean, variance in ((draws, marginal.mean(), v), (squares, v, fourth - v**2)):
            error = np.sqrt(variance / az.ess(drawn).to_numpy())
            assert (np.abs(drawn.mean(("chain", "draw")) - mean) < SIGMAS * error).all()

    def test_predictive_draws_are_tables_of_transitions(self):
        """As many from each value as were seen, and from the prior's rows; PyMC says that it leaves the potential out."""
        model = markov_model(CORPUS)
        with pytest.warns(UserWarning, match="effect of Potentials"):
            drawn = pm.sample_prior_predictive(500, model=model, random_seed=8, compile_kwargs={"mode": INTERPRETED})
        followed, rows = drawn.prior_predictive.followed, drawn.prior.transitions
        totals = drawn.observed_data.followed.sum("value")
        assert (followed.sum("value") == totals).all()
        assert drawn.observed_data.followed.to_numpy()[0].tolist() == [1, 4, 0]
        with pytest.warns(UserWarning, match="effect of Potentials"):
            again = pm.sample_posterior_predictive(
                drawn.prior, model=model, random_seed=9, progressbar=False, compile_kwargs={"mode": INTERPRETED}
            ).posterior_predictive.followed
        n = totals.to_numpy()[:, None]
        p = rows.to_numpy()[0]
        error = np.sqrt((n * p * (1 - p)).sum(axis=0)) / 500
        assert (np.abs((again.to_numpy()[0] - n * p).mean(axis=0)) < SIGMAS * error).all()


class TestErrors:
    @pytest.mark.parametrize(
        ("sequences", "settings", "match"),
        [
            ([[0, 1]], {"order": 0}, "markov_model: order is 0; it is a number of past values"),
            ([[0, 1]], {"order": 27}, r"2\^28 probabilities.*smaller order"),
            ([[0, -2]], {}, "the sequences hold -2; .* or -1 for a missing visit"),
            ([[0, 3]], {"values": 3}, "the sequences hold 3; values are positions 0 to 2"),
            ([[0, 0.5]], {}, "it holds whole numbers, positions"),
            ([[0, -1], [1], []], {}, "no person has more than 1 values"),
            ([], {}, "no person has more than"),
            ([[0, 1]], {"never_missed": [2]}, "2 is not in the sensitive domain, 0, 1"),
            ([[0, 1]], {"concentration": 0}, "concentration is 0.*positive finite number"),
            ([[0, 1]], {"concentration": np.ones((3, 3))}, r"has shape \(3, 3\).*\(2, 2\)"),
            ([[0, 1]], {"concentration": np.array([[1, 1], [-1, 1]])}, r"value 0 in row \(1,\) is -1"),
        ],
    )
    def test_bad_input_is_one_clear_error(self, sequences, settings, match):
        with pytest.raises((TypeError, ValueError), match=match):
            markov_model(sequences, **settings)


@pytest.mark.slow
def test_pymc_is_imported_only_when_a_model_is_built():
    said = "import sys, foreknow.models.programs.unknown_transitions; print({'pymc', 'pytensor'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True).stdout == "set()\n"
