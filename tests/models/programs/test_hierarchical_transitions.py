"""Hierarchical transitions: counts by hand, the density against SciPy, and the limits of partial pooling in closed form."""

import re

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import xarray
from pymc.model.transform.conditioning import remove_value_transforms
from pytensor.compile.mode import Mode
from scipy import stats
from strategies import history_of

from foreknow.evaluation import pbc
from foreknow.models import (
    ClassFrequencies,
    History,
    MarkovChain,
    Numeric,
    Schema,
    TransitionsByClass,
    hierarchical_markov_model,
)
from foreknow.models.programs.unknown_transitions import dirichlet_rows

INTERPRETED = Mode("py", "fast_compile")
SIGMAS = 5
CORPUS = [[0, 1, 2, 0, 1, 1], [2, 2, -1, 0, 1], [1, 0, 0, 0, 2, 1], [0], [1, 2, 2]]
CLASSES = [0, 1, 0, 1, 1]


@pytest.fixture(autouse=True)
def no_c_compiler(request):
    flags = {} if request.node.get_closest_marker("slow") else {"cxx": ""}
    with pytensor.config.change_flags(**flags):
        yield


def counts(order, corpus=CORPUS, classes=CLASSES):
    """Count of each known run of consecutive visits, one by one, by class."""
    found = np.zeros((max(classes) + 1, *(3,) * (order + 1)))
    for person, own in zip(corpus, classes, strict=True):
        for start in range(len(person) - order):
            run = tuple(person[start : start + order + 1])
            if min(run) >= 0:
                found[(own, *run)] += 1
    return found


def followed_in(model):
    return model["counts"].get_value()


@pytest.mark.parametrize("order", [1, 2])
def test_transitions_between_known_visits_are_counted(order):
    model = hierarchical_markov_model(CORPUS, CLASSES, order)
    assert np.array_equal(followed_in(model), counts(order))


def test_the_class_of_a_transition_is_that_of_its_later_record():
    ages, values = {1: (20, 60, 70), 2: (20, 20), 3: (60, None, 70)}, {1: "abc", 2: "ab", 3: "a-c"}
    rows = [
        (i, age, value, t)
        for i in ages
        for t, (age, value) in enumerate(zip(ages[i], values[i], strict=True))
        if age is not None
    ]
    schema = Schema({"age": Numeric(0, 99)}, "result", ("a", "b", "c"))
    history = History.read(pd.DataFrame(rows, columns=["id", "age", "result", "time"]), schema, time="time")
    followed = followed_in(hierarchical_markov_model(history, {"age": 2}))
    # The records of the third respondent are not of consecutive views.
    expected = np.zeros((2, 3, 3))
    expected[0, 0, 1] = expected[1, 0, 1] = expected[1, 1, 2] = 1
    assert np.array_equal(followed, expected)


def test_one_class():
    history = history_of(("ABC", "abc"), ("ABC", "bac"))
    model = hierarchical_markov_model(history, {next(iter(history.schema.quasi_identifiers)): 1})
    assert followed_in(model).shape == (1, 3, 3)
    assert followed_in(hierarchical_markov_model(history, {})).shape == (1, 3, 3)


def test_names_of_classes():
    model = hierarchical_markov_model(pbc(), {"age": 3, "sex": None})
    assert len(model.coords["class"]) == 6
    assert model.coords["class"][0].endswith(", sex f")
    assert model.coords["class"][0].startswith("age < ")
    assert model.coords["class"][-1].startswith("age >= ")


def logp_at(model, **values):
    """Log-density without the transforms of the sampler."""
    plain = remove_value_transforms(model)
    point = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    return float(plain.compile_logp(mode=INTERPRETED)(point))


def test_the_density_is_that_of_the_dirichlet_multinomial():
    rng = np.random.default_rng(0)
    found = counts(1)
    for learned in (True, False):
        model = hierarchical_markov_model(CORPUS, CLASSES, concentration=(0.5, 2.0) if learned else 3.0)
        pooled, noise = rng.dirichlet(np.ones(3), 3), rng.normal(size=(2, 3, 3))
        expected = stats.norm.logpdf(noise).sum() + sum(stats.dirichlet.logpdf(row, np.ones(3)) for row in pooled)
        concentration = 3.0
        if learned:
            concentration = 0.7
            expected += stats.lognorm.logpdf(concentration, 2.0, scale=np.exp(0.5))
        for of_class in found:
            for row, mean in zip(of_class, pooled, strict=True):
                expected += stats.dirichlet_multinomial.logpmf(row.astype(int), concentration * mean, int(row.sum()))
        given = {"concentration": concentration} if learned else {}
        assert np.isclose(logp_at(model, pooled=pooled, noise=noise, **given), expected)


def rows_given(concentrations, draws, rng):
    """Draws of rows for fixed concentrations, by the function of the noise."""
    noise = rng.normal(size=(draws, *concentrations.shape))
    return dirichlet_rows(pt.as_tensor(np.broadcast_to(concentrations, noise.shape)), pt.as_tensor(noise)).eval(
        mode=INTERPRETED
    )


@pytest.mark.parametrize(
    "concentrations", [(1.0, 1.0, 1.0), (0.02, 0.3, 2.0), (40.0, 0.5, 3.5), (1e-3, 1e-3, 1e-3), (3e6, 1e6, 5e5)]
)
def test_the_rows_have_the_dirichlet_distribution(concentrations):
    a = np.array(concentrations)
    rows = rows_given(a, 2000, np.random.default_rng(1))
    assert np.allclose(rows.sum(axis=1), 1)
    for own, column in zip(a, rows.T, strict=True):
        assert stats.kstest(column, stats.beta(own, a.sum() - own).cdf).pvalue > 1e-4 or own < 0.01
        mean = own / a.sum()
        error = np.sqrt(mean * (1 - mean) / (a.sum() + 1) / len(rows))
        assert abs(column.mean() - mean) < SIGMAS * error


class TestLimits:
    """With a fixed concentration k and pooled rows p, the mean of a class's row is ``(k p + n) / (k + sum of n)``."""

    POOLED = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]])

    def mean_rows(self, concentration, corpus=CORPUS, classes=CLASSES):
        """Mean and standard error of the model's rows, pooled rows given."""
        model = hierarchical_markov_model(corpus, classes, concentration=concentration, values=3)
        noise = np.random.default_rng(2).normal(size=(400, max(classes) + 1, 3, 3))
        rows = pytensor.function(
            [model["pooled"], model["noise"]], model["transitions"], mode=INTERPRETED, on_unused_input="ignore"
        )
        drawn = np.array([rows(self.POOLED, each) for each in noise])
        return drawn.mean(axis=0), drawn.std(axis=0) / np.sqrt(len(drawn)) + 1e-12

    @pytest.mark.parametrize("concentration", [0.5, 20.0])
    def test_closed_form(self, concentration):
        found = counts(1)
        mean, error = self.mean_rows(concentration)
        expected = (concentration * self.POOLED + found) / (concentration + found.sum(axis=-1, keepdims=True))
        assert (np.abs(mean - expected) < SIGMAS * error + 1e-9).all()

    def test_without_data_a_class_has_the_pooled_rows(self):
        mean, error = self.mean_rows(5.0, [[0, 1], [0]], [0, 1])
        assert (np.abs(mean[1] - self.POOLED) < SIGMAS * error[1]).all()

    def test_with_infinite_data_a_class_is_fit_alone(self):
        many = [CORPUS[0] * 3000]
        alone = MarkovChain.fit(many, values=3).probabilities
        mean, _ = self.mean_rows(5.0, [*many, [0]], [0, 1])
        assert np.allclose(mean[0], alone, atol=2e-3)

    def test_a_weak_concentration_is_separate_fits(self):
        mean, error = self.mean_rows(1e-6)
        for number, of_class in enumerate(counts(1)):
            totals = of_class.sum(axis=-1)
            for row in np.flatnonzero(totals):
                expected = of_class[row] / totals[row]
                assert (np.abs(mean[number, row] - expected) < SIGMAS * error[number, row] + 1e-5).all()

    def test_a_strong_concentration_is_one_fit(self):
        mean, _ = self.mean_rows(1e10)
        assert np.allclose(mean, self.POOLED, atol=1e-4)
        # The pooled rows then have the posterior of one fit, Dirichlet(1 + all counts).
        model, noise = hierarchical_markov_model(CORPUS, CLASSES, concentration=1e8), np.zeros((2, 3, 3))
        rng, total = np.random.default_rng(3), counts(1).sum(axis=0)
        one, other = rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3), 3)
        ours = logp_at(model, pooled=one, noise=noise) - logp_at(model, pooled=other, noise=noise)
        assert np.isclose(ours, (total * np.log(one / other)).sum(), atol=1e-4)


def test_its_posterior_is_knowledge_by_class():
    history = pbc()
    classes = {"sex": None}
    model = hierarchical_markov_model(history, classes)
    drawn = pm.sample_prior_predictive(
        3, model=model, var_names=["transitions"], random_seed=1, compile_kwargs={"mode": INTERPRETED}
    )
    tree = xarray.DataTree.from_dict({"posterior": drawn.prior.to_dataset()})
    cuts = ClassFrequencies.fit(history, classes).cuts
    fitted = TransitionsByClass.from_posterior(tree, cuts, values=history.schema.values)
    mean = drawn.prior["transitions"].mean(("chain", "draw")).to_numpy()
    assert np.allclose([chain.probabilities for chain in fitted.chains], mean)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: hierarchical_markov_model(CORPUS, [0, 1]),
            ValueError,
            "classes must be one class of 0 to",
        ),
        (
            lambda: hierarchical_markov_model([[0, -1, 1]], [0]),
            ValueError,
            "no respondent has 2 known values of consecutive visits",
        ),
        (lambda: hierarchical_markov_model(CORPUS, CLASSES, 6), ValueError, "no person has more than 6 values"),
        (
            lambda: hierarchical_markov_model(CORPUS, CLASSES, concentration=0),
            ValueError,
            "concentration is 0; it is a positive",
        ),
        (lambda: hierarchical_markov_model(CORPUS, CLASSES, concentration=(1, -1)), ValueError, "standard deviation"),
        (
            lambda: hierarchical_markov_model(CORPUS, CLASSES, concentration=1e13),
            ValueError,
            "over 1e+12 use markov_model",
        ),
        (lambda: hierarchical_markov_model(CORPUS, CLASSES, values=2), ValueError, "the sequences hold 2"),
    ],
)
def test_each_fault_has_one_clear_error(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2])
def test_it_is_sampled_on_a_real_history(order):
    model = hierarchical_markov_model(pbc(), {"age": 3, "sex": None}, order)
    names = ["pooled", "concentration", "transitions"]
    trace = pm.sample(
        1000, model=model, var_names=names, chains=4, cores=1, random_seed=1, progressbar=False, nuts_sampler="pymc"
    )
    assert max(float(az.rhat(trace)[name].max()) for name in names) < 1.01
    assert int(trace.sample_stats["diverging"].sum()) == 0
