"""Foreground knowledge as a PyMC model: density by hand, posterior against the Gibbs sampler and a grid."""

import itertools
import math
import re

import numpy as np
import pymc as pm
import pytest
from oracle import product_posterior
from pytensor.compile.mode import Mode
from scipy import stats

from foreknow.models import Auto, Evidence, GibbsSampling, foreground_model
from foreknow.models.estimators.convergence import mean_diagnostics

PYTHON = Mode(linker="py", optimizer=None)
"""No compilation, for numbers that are computed once."""

ERRORS = 4.5
"""Largest deviation of a mean, in standard errors; exceeded by chance once in 150,000 numbers."""

EVIDENCE = Evidence(
    np.array([0, 1, 0, 0, 1, -1, 1, 1, 0]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2, -1]),
    np.array([[1, 1], [1, 3], [0, 2]]),
    np.array([0.4, 0.6]),
)
"""Two signatures and the rest in three groups, with one respondent outside."""

TABLE = np.array([[0.3, 0.7], [0.9, 0.1]])


def likelihood(table):
    """Likelihood of each group, by a sum over all sequences of values with its multiset."""
    rows, found = np.vstack([table, EVIDENCE.rest]), []
    for j, counts in enumerate(EVIDENCE.counts):
        people = EVIDENCE.signature[EVIDENCE.group == j]
        worlds = [w for w in itertools.product((0, 1), repeat=len(people)) if w.count(0) == counts[0]]
        found.append(sum(math.prod(rows[i, s] for i, s in zip(people, w, strict=True)) for w in worlds))
    return np.array(found)


def test_the_groups_density_is_that_of_enumeration_and_the_prior_a_dirichlet_distribution():
    model = foreground_model(EVIDENCE, 5.0)
    where = {model["global_distribution"]: TABLE}
    published = pm.logp(model["published"], model.rvs_to_values[model["published"]]).eval(where, mode=PYTHON)
    assert np.allclose(np.exp(published), likelihood(TABLE))
    prior = pm.logp(model["global_distribution"], TABLE).eval(mode=PYTHON)
    assert np.allclose(prior, [stats.dirichlet(5 * EVIDENCE.rest).logpdf(row) for row in TABLE])
    whole = model.compile_logp(vars=[model["published"]], jacobian=False, mode=PYTHON)
    name = model.rvs_to_values[model["global_distribution"]].name
    free = model.rvs_to_transforms[model["global_distribution"]].forward(TABLE).eval(mode=PYTHON)
    assert whole({name: free}) == pytest.approx(np.log(likelihood(TABLE)).sum(), abs=1e-9)


def test_beliefs_are_those_of_the_table_and_the_rest_is_known():
    model = foreground_model(EVIDENCE)
    belief = model["belief"].eval({model["global_distribution"]: TABLE}, mode=PYTHON)[0]
    rows = np.vstack([TABLE, EVIDENCE.rest])[EVIDENCE.signature]
    for j, counts in enumerate(EVIDENCE.counts):
        people = EVIDENCE.group == j
        assert np.allclose(belief[people], product_posterior(rows[people], counts))
    assert np.allclose(belief[8], TABLE[0])


def test_variables_have_the_papers_names():
    model = foreground_model(EVIDENCE)
    assert model.named_vars_to_dims["global_distribution"] == ("signature", "value")
    assert model.named_vars_to_dims["published"] == ("group", "value")
    assert model.coords["signature"] == (0, 1)
    assert model.coords["group"] == ("0:0", "0:1", "0:2")


@pytest.mark.slow
def test_nuts_and_gibbs_sampling_draw_from_the_same_posterior():
    """Both agree with prior times likelihood on a grid of the prior's quantiles."""
    axis = stats.beta(2.0, 3.0).ppf((np.arange(60) + 0.5) / 60)
    grid = np.array(list(itertools.product(axis, repeat=2)))
    weights = np.array([likelihood(np.column_stack([point, 1 - point])).prod() for point in grid])
    expected = weights @ grid / weights.sum()
    with foreground_model(EVIDENCE, 5.0):
        trace = pm.sample(
            400,
            tune=400,
            chains=2,
            cores=1,
            random_seed=1,
            progressbar=False,
            nuts_sampler="pymc",
            var_names=["global_distribution"],
        )
    nuts = trace.posterior["global_distribution"].values[..., 0]
    fit = GibbsSampling(5.0, draws=1000, kept=4000, rng=np.random.default_rng(2))(EVIDENCE, Auto())
    for draws in (nuts, fit.draws[:, :, 0].reshape(4, -1, 2)):
        for i in range(2):
            values = np.ascontiguousarray(draws[:, :, i])
            ess, rhat = mean_diagnostics(values)
            assert rhat < 1.05
            assert abs(values.mean() - expected[i]) < ERRORS * values.std() / math.sqrt(ess) + 1e-3


@pytest.mark.parametrize(
    ("signature", "rest", "message"),
    [
        ([-1, -1], [0.5, 0.5], "foreground_model has 0 signatures"),
        ([0, 0], [1.0, 0.0], "the rest's distribution [1.0, 0.0]; it needs a signature, and a positive probability"),
    ],
)
def test_what_cannot_be_unknown_is_refused(signature, rest, message):
    evidence = Evidence(np.array(signature), np.zeros(2, int), np.array([[1, 1]]), np.array(rest))
    with pytest.raises(ValueError, match=re.escape(message)):
        foreground_model(evidence)


def test_concentrations_are_positive():
    with pytest.raises(ValueError, match=r"concentration is -1\.0; it is a positive finite number"):
        foreground_model(EVIDENCE, -1.0)
