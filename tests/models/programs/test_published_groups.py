"""Observed groups of a program: likelihood and posterior by enumeration, gradient by finite differences, and learning."""

import itertools
import re

import numpy as np
import oracle
import pymc as pm
import pytest
from scipy import stats

from foreknow.models import Exact, Problem, ProgramEstimator, observe_groups
from foreknow.models.programs import release_predictive

GROUP = np.array([0, 0, 0, 1, 1, 2, 2, -1])
COUNTS = np.array([[2, 1, 0], [1, 0, 1], [0, 2, 0]])
PRIOR = np.random.default_rng(1).dirichlet(np.ones(3), size=8)
PRIOR[0] = [0.0, 0.6, 0.4]
PROBLEM = Problem(PRIOR, GROUP, COUNTS)


def trusting(problem):
    """Knowledge that holds with an unknown weight; otherwise the two first values are equally likely, and the third excluded."""
    with pm.Model() as model:
        trust = pm.Uniform("trust")
        rows = trust * pm.Data("knowledge", problem.prior) + (1 - trust) * np.array([0.5, 0.5, 0.0])
        pm.Deterministic("belief", observe_groups(problem, rows))
    return model


def mixed(trust):
    return trust * PRIOR + (1 - trust) * np.array([0.5, 0.5, 0.0])


def probability(rows):
    """Probability of all published multisets: each group's sum over its distinct assignments."""
    total = 1.0
    for j, counts in enumerate(COUNTS):
        members = np.flatnonzero(j == GROUP)
        assignments = set(itertools.permutations(np.repeat(np.arange(3), counts)))
        total *= sum(np.prod(rows[members, list(values)]) for values in assignments)
    return total


def posterior(rows):
    """Posterior of each respondent by enumeration; the prior outside all groups."""
    belief = rows.copy()
    for j, counts in enumerate(COUNTS):
        belief[j == GROUP] = oracle.product_posterior(rows[j == GROUP], counts)
    return belief


MODEL = trusting(PROBLEM)


def at(trust):
    return {"trust_interval__": np.log(trust / (1 - trust))}


class TestLaw:
    @pytest.mark.parametrize("trust", [0.1, 0.5, 0.9])
    def test_likelihood_and_belief_by_enumeration(self, trust):
        found = float(np.sum(MODEL.compile_logp(vars=MODEL.observed_RVs)(at(trust))))
        assert np.isclose(found, np.log(probability(mixed(trust))), rtol=0, atol=1e-10)
        (belief,) = MODEL.compile_fn(MODEL.replace_rvs_by_values([MODEL["belief"]]), inputs=MODEL.value_vars)(at(trust))
        assert np.allclose(belief, posterior(mixed(trust)), rtol=0, atol=1e-10)

    def test_gradient_by_finite_differences(self):
        """The first respondent's prior excludes the third value under one law; the gradient stays finite."""
        step, place, density = 1e-5, at(0.4)["trust_interval__"], MODEL.compile_logp()
        ends = [float(density({"trust_interval__": place + sign * step})) for sign in (-1, 1)]
        assert np.allclose(MODEL.compile_dlogp()(at(0.4)), (ends[1] - ends[0]) / (2 * step), rtol=1e-5)

    def test_impossible_values_have_no_gradient(self):
        """Value 1 is excluded for the first member under every trust: beliefs are certain, and the gradient is 0 and not NaN."""
        with pm.Model() as model:
            trust = pm.Uniform("trust")
            rows = trust * np.array([[1.0, 0.0], [0.5, 0.5]]) + (1 - trust) * np.array([[1.0, 0.0], [0.5, 0.5]])
            observe_groups(Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]])), rows)
        gradient = model.compile_dlogp()({"trust_interval__": 0.0})
        assert np.allclose(gradient, 0.0)


class TestLearning:
    @pytest.mark.slow
    def test_a_program_learns_from_the_release(self):
        """Ten pairs with the priors (a, 1 - a) and (1 - a, a), a = 1/2 + .4 trust, that show both values.

        A pair has the probability a^2 + (1 - a)^2, and its first member the first value with a^2 / (a^2 + (1 - a)^2).
        """

        def uncertain(problem):
            with pm.Model() as model:
                trust = pm.Uniform("trust")
                rows = trust * pm.Data("knowledge", problem.prior) + (1 - trust) / 2
                pm.Deterministic("belief", observe_groups(problem, rows))
            return model

        problem = Problem(
            np.tile([[0.9, 0.1], [0.1, 0.9]], (10, 1)), np.repeat(np.arange(10), 2), np.ones((10, 2), int)
        )
        a = 0.5 + 0.4 * (np.arange(10_000) + 0.5) / 10_000
        pair = a**2 + (1 - a) ** 2
        learned, not_learned = (np.average(a**2 / pair, weights=weight) for weight in (pair**10, None))
        found = ProgramEstimator(uncertain, draws=250, chains=2, per="release", rng=1)(problem)
        error = found.standard_error.max()
        assert np.allclose(found.probabilities[::2, 0], learned, rtol=0, atol=4 * error)
        assert learned - not_learned > 10 * error

    @pytest.mark.slow
    def test_predictive_draws(self):
        """One group of two, priors 1/2: the number of distinct values has the mean 1.5."""
        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[2, 0]]))
        with pm.Model() as model:
            observe_groups(problem, pm.Beta("share", 1, 1) * 0 + pm.math.constant(np.full((2, 2), 0.5)))
        draws = pm.sample_prior_predictive(2000, model=model, random_seed=1)
        found = release_predictive(draws, problem).set_index("statistic").loc["distinct_values", "simulated_mean"]
        assert abs(found - 1.5) < stats.norm.isf(1e-5) * 0.5 / np.sqrt(2000)


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("problem", "prior", "error", "message"),
        [
            (PROBLEM, PRIOR[:1], ValueError, "observe_groups: prior has 1 rows, and the problem 8 respondents"),
            (PROBLEM, PRIOR[1:], ValueError, "observe_groups: prior has 7 rows, and the problem 8 respondents"),
            (PROBLEM, PRIOR[:, 1:], ValueError, "observe_groups: prior has 2 columns, and the problem 3 values"),
        ],
    )
    def test_each_has_one_clear_error(self, problem, prior, error, message):
        with pm.Model(), pytest.raises(error, match=re.escape(message)):
            observe_groups(problem, prior)

    def test_without_a_model(self):
        with pytest.raises(TypeError, match="observe_groups: there is no model"):
            observe_groups(PROBLEM, PRIOR)


def test_known_priors_are_the_exact_posterior():
    with pm.Model() as model:
        belief = observe_groups(PROBLEM, pm.Data("prior", PRIOR))
    expected = Exact()(PROBLEM).probabilities
    assert np.allclose(model.compile_fn([belief], inputs=[])({})[0], expected, rtol=0, atol=1e-10)
