"""Adversaries as PyMC programs, against closed forms, quadrature and enumeration; samples within their Monte Carlo errors."""

import itertools
import math
import re
import subprocess
import sys
from types import SimpleNamespace

import arviz as az
import numpy as np
import oracle
import pandas as pd
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from scipy import integrate, stats
from strategies import view_of

from foreknow.models import Beliefs, DirichletMultinomial, Posterior, Problem, Release
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.estimators.convergence import mean_diagnostics
from foreknow.models.programs.unknown_assignment import permutation_model
from foreknow.models.programs.unknown_prior import release_model
from foreknow.models.programs.unknown_reliability import compromised_model

PYTHON = Mode(linker="py", optimizer=None)
"""No compilation, for numbers that are computed once."""

ERRORS = 4.5
"""Largest deviation of a mean, in standard errors; exceeded by chance once in 150,000 numbers."""


def sampled(model, draws=1000):
    """Two chains of NUTS."""
    trace = pm.sample(
        draws, tune=1000, chains=2, cores=1, random_seed=1, progressbar=False, nuts_sampler="pymc", model=model
    )
    for name, rhat in az.rhat(trace, var_names=[variable.name for variable in model.free_RVs]).items():
        assert float(rhat.max()) < 1.01, name
    return trace


def at(variable, where):
    """Value of a variable, given the values of the variables that it depends on."""
    return variable.eval(where, mode=PYTHON)


def assert_mean(draws, expected):
    """Compare the mean over chains and draws with its expectation, within the Monte Carlo error."""
    draws = np.asarray(draws, dtype=float).reshape(*draws.shape[:2], -1)
    for value, wanted in zip(np.moveaxis(draws, -1, 0), np.ravel(expected), strict=True):
        ess, rhat = mean_diagnostics(np.ascontiguousarray(value))
        assert rhat < 1.01
        assert abs(value.mean() - wanted) <= ERRORS * value.std(ddof=1) / math.sqrt(ess) + 1e-12


@pytest.mark.slow
def test_importing_the_programs_imports_no_sampler():
    """The import of PyMC takes seconds; it happens when a model is made."""
    code = "import sys, foreknow.models.programs; sys.exit(bool({'pymc', 'pytensor'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestPermutationModel:
    """BayFrame, Examples 2 and 4: Cayla, Dior and Elisa; Cancer-II, GERD, Depression."""

    prior = np.array([[0.74293, 0.00738, 0.24969], [0.00371, 0.95916, 0.03713], [0.00371, 0.95916, 0.03713]])
    known = np.array([[0, 0, 0], [0, 0.97, 0], [0, 0, 0.95]])
    group, counts = np.zeros(3, int), np.ones((1, 3), int)

    def problem(self, **evidence):
        return Problem(self.prior / self.prior.sum(axis=1, keepdims=True), self.group, self.counts, **evidence)

    @pytest.mark.slow
    def test_constant(self):
        model = permutation_model(self.problem())
        assert model.coords["assignment"] == ("0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0")
        assert model.coords["respondent"] == model.coords["value"] == (0, 1, 2)
        trace = sampled(model)
        assert trace.posterior["belief"].dims == ("chain", "draw", "respondent", "value")
        assert_mean(trace.posterior["belief"].values, np.full((3, 3), 2 / 7) + np.eye(3) / 7)
        assert_mean(trace.posterior["shares"].values, [2 / 7] + [1 / 7] * 5)

    @pytest.mark.slow  # compiled by PyMC and sampled by NUTS
    def test_cascaded_is_the_closed_form_and_the_derived_numbers(self):
        problem = self.problem(evidence=self.known)
        expected = DirichletMultinomial(ties="first")(problem).probabilities
        printed = [[0.4539, 0.2721, 0.2740], [0.2721, 0.5434, 0.1845], [0.2740, 0.1845, 0.5415]]
        assert np.allclose(expected, printed, atol=5e-5)
        assert_mean(sampled(permutation_model(problem)).posterior["belief"].values, expected)

    @pytest.mark.slow
    def test_hierarchical_is_one_integral(self):
        """Given the concentration c, the draw has probability ``(c + 1.92) / (6 c + 3.84)``, and beliefs are the closed form."""
        evidence = np.array([2.92, 1, 1.95, 1, 1, 1.97]) - 1
        has = np.array(
            [[[way[i] == s for s in range(3)] for i in range(3)] for way in itertools.permutations(range(3))], float
        )

        def weighed(c):
            drawn = (c + evidence[0]) / (c + evidence).sum()
            return (
                stats.gamma(10, scale=0.2).pdf(c)
                * drawn
                * np.append(((c + evidence + np.eye(6)[0]) / (c + evidence).sum()), [1, c])
            )

        total, _ = integrate.quad_vec(lambda c: weighed(c)[6:], 0, 60)
        share, _ = integrate.quad_vec(
            lambda c: weighed(c)[:6] * (c + evidence).sum() / ((c + evidence).sum() + 1), 0, 60
        )
        model = permutation_model(self.problem(evidence=self.known), lambda: pm.Gamma("concentration", 10, 5))
        trace = sampled(model, 2000)
        assert_mean(trace.posterior["concentration"].values, total[1] / total[0])
        assert_mean(trace.posterior["belief"].values, np.tensordot(share / total[0], has, axes=1))

    def test_equal_values_are_distinguished_and_others_left_out(self):
        """Three members with values a, a, b have six assignments of published values; respondents are named by rows."""
        prior = np.array([[0.5, 0.5], [0.1, 0.9], [0.9, 0.1], [0.6, 0.4]])
        problem = Problem(prior, np.array([-1, 0, 0, 0]), np.array([[2, 1]]))
        model = permutation_model(problem)
        assert model.coords["respondent"] == (1, 2, 3)
        shares = np.arange(1.0, 7) / 21
        belief = at(model["belief"], where={model["shares"]: shares})
        assert np.allclose(belief[0], [(1 + 2 + 3 + 4) / 21, (5 + 6) / 21])
        drawn = model.rvs_to_values[model["drawn"]].eval()
        assert drawn.tolist() == [0, 0, 0, 0, 1, 0], "row 1 has b, in the first of two permutations of a"

    @pytest.mark.parametrize(
        ("group", "counts", "message"),
        [
            ([0, 1], [[1, 0], [0, 1]], "has 2 groups, with [1, 1] respondents"),
            ([-1, -1], [[0, 0]], "has 1 groups, with [0] respondents"),
            (
                [0] * 8,
                [[8, 0]],
                "the group has 8 respondents, and permutation_model lists the 8! assignments of at most 7",
            ),
        ],
    )
    def test_refused_problems(self, group, counts, message):
        problem = Problem(np.full((len(group), 2), 0.5), np.array(group), np.array(counts))
        with pytest.raises(ValueError, match=re.escape(message)):
            permutation_model(problem)

    @pytest.mark.parametrize("concentration", [0, -1.0, np.inf, np.nan])
    def test_refused_concentrations(self, concentration):
        with pytest.raises(ValueError, match=rf"the concentration is {concentration}; it is a positive number"):
            permutation_model(self.problem(), concentration)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
GRID = np.array(list(itertools.product((NODES + 1) / 2, repeat=2)))
AREA = np.array([a * b / 4 for a, b in itertools.product(WEIGHTS, repeat=2)])
"""Weights of Gauss-Legendre quadrature on the unit square, exact for polynomials of two probabilities."""


def tables(point):
    """Two distributions of two values from the first probability of each."""
    return np.column_stack([point, 1 - np.asarray(point)])


def enumerated(rows, counts):
    """Probability of a multiset if each member draws from a row of its own, by a sum over all sequences of values."""
    m = len(counts)
    return sum(
        math.prod(row[s] for row, s in zip(rows, drawn, strict=True))
        for drawn in itertools.product(range(m), repeat=len(rows))
        if np.bincount(drawn, minlength=m).tolist() == list(counts)
    )


@pytest.fixture(scope="module")
def small():
    """Ten respondents of two classes in three groups of one release, one of them suppressed, and draws of two adversaries."""
    group = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, -1])
    counts = np.array([[2, 1], [3, 0], [1, 2]])
    classes = np.array([0, 0, 1, 0, 0, 1, 1, 1, 0, 1])
    past = np.where(np.arange(10)[:, None] % 2, [0.9, 0.1], [0.2, 0.8])
    problem = Problem(np.full((10, 2), 0.5), group, counts)
    found = SimpleNamespace(problem=problem, priors={}, models={}, traces={})
    for name, given, weights in (("classes", classes, np.eye(2)[classes]), ("past", past, past)):
        model = release_model([problem], **{name: [given]})
        trace = sampled(model, 1500)
        pm.compute_log_likelihood(trace, model=model, progressbar=False)
        found.priors[name] = np.array([weights @ tables(point) for point in GRID])
        found.models[name], found.traces[name] = model, trace
    return found


class TestReleaseModel:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["classes", "past"])
    def test_belief_is_that_of_quadrature(self, small, name):
        """The weight of an assignment is a polynomial of the two unknown probabilities."""
        problem, priors = small.problem, small.priors[name]
        evidence = np.ones(len(GRID))
        beliefs = priors.copy()
        for j, counts in enumerate(problem.counts):
            rows = problem.group == j
            evidence *= [enumerated(prior[rows], counts) for prior in priors]
            beliefs[:, rows] = [oracle.product_posterior(prior[rows], counts) for prior in priors]
        posterior = AREA * evidence / (AREA @ evidence)
        trace = small.traces[name]
        assert_mean(trace.posterior["belief"].values[:, :, 0], np.tensordot(posterior, beliefs, axes=1))
        table = trace.posterior["frequencies" if name == "classes" else "transitions"]
        assert_mean(table.values, tables(posterior @ GRID))

    # Three groups are few: the shape of one of them is near the limit of .7 of this warning.
    @pytest.mark.filterwarnings("ignore:Estimated shape parameter of Pareto:UserWarning")
    @pytest.mark.slow
    def test_log_likelihood_per_group_and_two_adversaries_compared(self, small):
        traces = small.traces
        likelihood = traces["classes"].log_likelihood["published"]
        assert likelihood.dims == ("chain", "draw", "group")
        assert likelihood.coords["group"].values.tolist() == ["0:0", "0:1", "0:2"]
        table = traces["classes"].posterior["frequencies"].values[1, 7]
        prior = np.eye(2)[[0, 0, 1, 0, 0, 1, 1, 1, 0]] @ table
        expected = [enumerated(prior[3 * j : 3 * j + 3], counts) for j, counts in enumerate(small.problem.counts)]
        assert np.allclose(np.exp(likelihood.values[1, 7]), expected)
        compared = az.compare(traces, round_to="none")
        assert set(compared.index) == {"classes", "past"}
        assert np.isfinite(compared["elpd"]).all()
        assert np.isclose(compared["weight"].sum(), 1)

    def test_prior_predictive_draws_have_the_law_of_the_density(self, small):
        """Frequencies of every multiset of the first group against the integral of its probability."""
        draws = pm.sample_prior_predictive(2000, model=small.models["classes"], random_seed=2)
        published = draws.prior_predictive["published"].values[0]
        assert (published.sum(axis=-1) == 3).all()
        assert (published >= 0).all()
        for first in range(4):
            chance = AREA @ [enumerated(prior[:3], (first, 3 - first)) for prior in small.priors["classes"]]
            seen = (published[:, 0, 0] == first).mean()
            assert abs(seen - chance) < ERRORS * math.sqrt(chance * (1 - chance) / 2000)

    def test_posterior_predictive_draws_have_the_margins(self, small):
        model, trace = small.models["past"], small.traces["past"]
        draws = pm.sample_posterior_predictive(trace, model=model, random_seed=3, progressbar=False)
        published = draws.posterior_predictive["published"]
        assert published.dims == ("chain", "draw", "group", "value")
        assert (published.sum("value") == 3).all()
        prior = np.where(np.arange(10)[:, None] % 2, [0.9, 0.1], [0.2, 0.8])
        expected = (prior @ trace.posterior["transitions"].values)[:, :, :9].reshape(2, -1, 3, 3, 2).sum(axis=3)
        assert_mean((published.values - expected)[..., 0], np.zeros(3))

    def test_releases_of_several_sizes(self):
        """Two releases of three values, with five respondents (one suppressed) and with two; no compilation."""
        problems = [
            Problem(np.full((5, 3), 1 / 3), np.array([1, 0, 1, -1, 0]), np.array([[1, 1, 0], [0, 0, 2]])),
            Problem(np.full((2, 3), 1 / 3), np.array([0, 0]), np.array([[1, 0, 1]])),
        ]
        classes = [np.array([0, 1, 1, 2, 2]), np.array([2, 0])]
        model = release_model(problems, classes, concentration=np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]))
        table = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1]])
        where = {model["frequencies"]: table}
        likelihood = at(pm.logp(model["published"], model.rvs_to_values[model["published"]]), where=where)
        groups = [(table[[1, 2]], (1, 1, 0)), (table[[0, 1]], (0, 0, 2)), (table[[2, 0]], (1, 0, 1))]
        assert np.allclose(np.exp(likelihood), [enumerated(rows, counts) for rows, counts in groups])
        others = np.array([[2, 0, 0], [0, 1, 1], [2, 0, 0]])
        likelihood = at(pm.logp(model["published"], others), where=where)
        assert np.allclose(
            np.exp(likelihood), [enumerated(rows, counts) for (rows, _), counts in zip(groups, others, strict=True)]
        )
        first, second = at(model["belief_0"], where=where), at(model["belief_1"], where=where)
        assert np.allclose(first[[1, 4]], oracle.product_posterior(*groups[0]))
        assert np.allclose(first[[0, 2]], oracle.product_posterior(*groups[1]))
        assert np.allclose(first[3], table[2])
        assert np.allclose(second, oracle.product_posterior(*groups[2]))
        assert np.allclose(
            at(pm.logp(model["frequencies"], table), where={}),
            [stats.dirichlet(a).logpdf(row) for a, row in zip([[1, 2, 3], [4, 5, 6], [7, 8, 9]], table, strict=True)],
        )

    def test_releases_of_one_size_share_an_axis(self):
        problem = Problem(np.full((2, 2), 0.5), np.array([0, 0]), np.array([[1, 1]]))
        model = release_model([problem] * 3, past=[np.eye(2)] * 3, concentration=0.5)
        assert model.named_vars_to_dims["belief"] == ("release", "respondent", "value")
        assert at(model["belief"], where={model["transitions"]: tables([0.9, 0.6])}).shape == (3, 2, 2)
        assert model.coords["group"] == ("0:0", "1:0", "2:0")

    problem = Problem(np.full((2, 2), 0.5), np.array([0, 0]), np.array([[1, 1]]))
    known = Problem(problem.prior, problem.group, problem.counts, evidence=np.ones((2, 2)))
    wide = Problem(np.full((2, 3), 1 / 3), problem.group, np.array([[1, 1, 0]]))
    codes, rows = np.array([0, 1]), np.eye(2)

    @pytest.mark.parametrize(
        ("problems", "settings", "message"),
        [
            ([], {"classes": []}, "there are no problems"),
            ([problem, wide], {"classes": [codes, codes]}, "the problems have [2, 3] values"),
            ([known], {"classes": [codes]}, "a problem has evidence"),
            ([problem], {}, "neither of classes and past"),
            ([problem], {"classes": [codes], "past": [rows]}, "both of classes and past"),
            (
                [problem],
                {"classes": [codes, codes]},
                "classes have the shapes [(2,), (2,)], and the problems need [(2,)]",
            ),
            ([problem], {"classes": [codes[:1]]}, "classes have the shapes [(1,)], and the problems need [(2,)]"),
            ([problem], {"classes": [codes - 1]}, "from -1 to 0; they must be whole numbers"),
            ([problem], {"classes": [codes + 0.5]}, "the classes are float64 from 0.5 to 1.5"),
            ([problem], {"classes": [codes + 1], "concentration": rows + 1}, "from 1 to 2; they must be whole numbers"),
            ([problem], {"past": [rows[:1]]}, "past have the shapes [(1, 2)], and the problems need [(2, 2)]"),
            ([problem], {"past": [rows * 2]}, "past of release 0, row 0 sums to 2"),
            (
                [problem],
                {"past": [rows], "concentration": 0.0},
                "concentration is 0.0; it is a positive finite number",
            ),
            (
                [problem],
                {"past": [rows], "concentration": np.ones((3, 2))},
                "release_model: concentration has shape (3, 2)",
            ),
        ],
    )
    def test_refused(self, problems, settings, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            release_model(problems, **settings)


def beliefs_of(*releases):
    """Beliefs after releases of respondents A, B, ..., each in a group of one, from a posterior per release."""
    found = []
    for time, posterior in enumerate(releases, start=1):
        posterior = np.array(posterior, float)
        view = view_of("ABCDEFG"[: len(posterior)], "a" * len(posterior), time=time, domain="abc"[: posterior.shape[1]])
        observation = Release(view, np.arange(len(posterior))).observation
        prior = np.full(posterior.shape, 1 / posterior.shape[1])
        found.append(ReleaseBeliefs(observation, prior, prior, Posterior(posterior, np.zeros(len(posterior), int))))
    return Beliefs(tuple(found))


def claims_of(*claims):
    return pd.DataFrame(claims, columns=["respondent", "value", "time"])


class TestCompromisedModel:
    believed = ([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9], [0.3, 0.3, 0.4]], [[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
    claims = claims_of(*map(tuple, ("Aa1", "Ba1", "Cc1", "Ab2", "Bc2"))).astype({"time": int})
    p = np.array([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
    named = np.array([0, 0, 2, 1, 2])

    @pytest.mark.slow
    def test_against_quadrature(self):
        """Bayes' rule over the correctness of claims, the true values and the reliability."""

        def joint(r):
            """Joint probability of each claim and each true value."""
            likelihood = np.array([[r if s == n else (1 - r) / 2 for s in range(3)] for n in self.named])
            return self.p * likelihood

        def weighed(r):
            by_value = joint(r)
            claim = by_value.sum(axis=1)
            density = stats.beta(2, 1.5).pdf(r) * claim.prod()
            return density * np.concatenate([[1, r], (by_value / claim[:, None]).ravel()])

        integral, _ = integrate.quad_vec(weighed, 0, 1)
        belief = (integral[2:] / integral[0]).reshape(5, 3)
        model = compromised_model(self.claims.assign(confidence="?"), beliefs_of(*self.believed), (2, 1.5))
        assert model.coords["claim"] == ("A at 1", "B at 1", "C at 1", "A at 2", "B at 2")
        assert model.coords["value"] == ("a", "b", "c")
        trace = sampled(model)
        assert_mean(trace.posterior["reliability"].values, integral[1] / integral[0])
        assert_mean(trace.posterior["belief"].values, belief)
        assert_mean(trace.posterior["right"].values, belief[np.arange(5), self.named])
        draws = pm.sample_posterior_predictive(trace, model=model, random_seed=3, progressbar=False)
        assert draws.posterior_predictive["claimed"].dims == ("chain", "draw", "claim")

    @pytest.mark.slow
    def test_claims_that_the_releases_decide_are_counted(self):
        """Three confirmed, one contradicted: Beta(1 + 3, 2 + 1)."""
        decided = np.eye(3)[[0, 1, 2, 0]]
        model = compromised_model(
            claims_of(("A", "a", 1), ("B", "b", 1), ("C", "c", 1), ("D", "b", 1)), beliefs_of(decided)
        )
        grid = np.linspace(0.01, 0.99, 99)
        r, claimed = model["reliability"], model["claimed"]
        likelihood = np.array(
            [at(pm.logp(claimed, model.rvs_to_values[claimed]), where={r: value}).sum() for value in grid]
        )
        expected = stats.beta(4, 2).logpdf(grid)
        assert np.ptp(likelihood - expected) < 1e-9
        assert np.allclose(at(model["right"], where={r: 0.6}), [1, 1, 1, 0])
        assert np.allclose(at(model["belief"], where={r: 0.6}), decided)

    def test_prior_predictive_claims(self):
        """With r uniform a claim names the value s with the probability ``p / 2 + (1 - p) / 4``."""
        model = compromised_model(self.claims, beliefs_of(*self.believed))
        draws = pm.sample_prior_predictive(2000, model=model, random_seed=4).prior_predictive["claimed"].values[0]
        for claim, s in itertools.product(range(5), range(3)):
            chance = self.p[claim, s] / 2 + (1 - self.p[claim, s]) / 4
            assert abs((draws[:, claim] == s).mean() - chance) < ERRORS * math.sqrt(chance * (1 - chance) / 2000)

    def test_repeated_claims_count_once(self):
        twice = pd.concat([self.claims, self.claims])
        assert len(compromised_model(twice, beliefs_of(*self.believed)).coords["claim"]) == 5

    @pytest.mark.parametrize(
        ("claims", "message"),
        [
            (claims_of(), "there are 0 claims"),
            (
                claims_of(("A", "a", 9)),
                "a compromised record is about 9, and the times of the releases are 1",
            ),
            (claims_of(("G", "a", 1)), "respondent 'G' at 1, who has no record in that view"),
            (claims_of(("C", "a", 2)), "respondent 'C' at 2, who has no record in that view"),
            (
                claims_of(("A", "flu", 1)),
                "with value 'flu' at 1 is about a value that is not in the sensitive domain (a, b, c)",
            ),
            (claims_of(("A", "a", 1), ("A", "b", 1)), "two different claims about one respondent at one time"),
            (claims_of(("A", "a", 1)).drop(columns="time"), "no column 'time'"),
        ],
    )
    def test_refused_claims(self, claims, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            compromised_model(claims, beliefs_of(*self.believed))

    def test_refused_domain_and_reliability(self):
        with pytest.raises(ValueError, match="one value, so that every claim is right"):
            compromised_model(claims_of(("A", "a", 1)), beliefs_of(np.ones((2, 1))))
        with pytest.raises(ValueError, match="reliability is 0; it is a positive"):
            compromised_model(self.claims, beliefs_of(*self.believed), (0, 1))
