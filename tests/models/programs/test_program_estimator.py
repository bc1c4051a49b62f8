"""PyMC programs as estimators: against closed forms and enumeration, in attacks and defenses, and wrong programs."""

import copy
import dataclasses
import itertools
import re

import numpy as np
import oracle
import pymc as pm
import pytensor.tensor as pt
import pytest
from arviz_stats.base import array_stats

from foreknow.attacks import SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian, PosteriorBound, publish
from foreknow.models import (
    DirichletMultinomial,
    Exact,
    Mixed,
    Problem,
    ProgramEstimator,
    Status,
    TooLarge,
    permutation_model,
    release_model,
)
from foreknow.models.programs import program_estimator
from foreknow.models.programs import program_estimator as part_summary
from foreknow.models.programs.compiled_program import CompiledProgram, ProgramDraws
from foreknow.models.programs.log_permanent import LogPermanent
from foreknow.testing import check_estimator, examples

ERRORS = 4.0
"""Largest deviation of a mean, in standard errors."""


def problem_of(sizes, seed=0, outside=0):
    """Random priors over three values, and counts drawn from them."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.repeat(np.arange(len(sizes)), sizes), np.full(outside, -1)])
    prior = rng.dirichlet(np.ones(3), size=len(group))
    counts = np.zeros((len(sizes), 3), int)
    for row in np.flatnonzero(group >= 0):
        counts[group[row], rng.choice(3, p=prior[row])] += 1
    return Problem(prior, group, counts)


PROBLEM = problem_of([2, 3, 3], outside=1)


def certain_law(problem):
    """The exact posterior as a program without unknown quantities."""
    with np.errstate(divide="ignore"):
        log_prior = np.log(problem.prior)
    with pm.Model() as model:
        belief = LogPermanent(problem.group).belief(pm.Data("log_prior", log_prior), pm.Data("counts", problem.counts))
        pm.Deterministic("belief", belief)
    return model


def uncertain_law(problem):
    """A mixture of the exact posterior and the shares, with an unknown weight of mean 2/3."""
    shares = (problem.counts / problem.sizes[:, None])[problem.group]
    with pm.Model(coords=dict(zip(("respondent", "value"), map(range, problem.prior.shape), strict=True))) as model:
        weight = pm.Beta("weight", 2, 1)
        exact = pm.Data("exact", Exact()(problem).probabilities)
        pm.Deterministic(
            "belief", weight * exact + (1 - weight) * pm.Data("shares", shares), dims=("respondent", "value")
        )
    return model


class MeanOfUncertainLaw:
    """Posterior mean of the belief of `uncertain_law`, in closed form."""

    exact = True

    def __call__(self, problem):
        exact = Exact()(problem)
        inside = problem.group >= 0
        belief = exact.probabilities.copy()
        shares = (problem.counts / problem.sizes[:, None])[problem.group[inside]]
        belief[inside] = 2 / 3 * belief[inside] + 1 / 3 * shares
        return dataclasses.replace(exact, probabilities=belief)


def tiny(build, **settings):
    return ProgramEstimator(build, **({"draws": 8, "chains": 2, "rng": 1} | settings))


def assert_within_errors(posterior, expected):
    deviation = np.abs(posterior.probabilities - expected)
    assert (deviation <= ERRORS * posterior.standard_error + 1e-9).all(), deviation.max()


class TestTruth:
    def test_a_program_without_unknown_quantities_is_evaluated(self):
        """Groups one by one, and the release at once; rows outside all groups keep the prior."""
        for per in ("group", "release"):
            posterior = tiny(certain_law, per=per)(PROBLEM)
            for j, counts in enumerate(PROBLEM.counts):
                rows = PROBLEM.group == j
                expected = oracle.product_posterior(PROBLEM.prior[rows], counts)
                assert np.allclose(posterior.probabilities[rows], expected, rtol=0, atol=1e-12)
            assert np.array_equal(posterior.probabilities[-1], PROBLEM.prior[-1])
            assert posterior.status.tolist() == [Status.FINE] * 3
            assert posterior.divergences.tolist() == [0] * 3
            assert (posterior.standard_error == 0).all()
            assert (posterior.rhat == 1).all()
            assert (posterior.ess == 16).all()

    @pytest.mark.slow
    def test_the_posterior_is_a_mixture(self, monkeypatch):
        """A weight w of Beta(2, 1) has the mean square 1/2, and the square of its mean is 4/9."""
        kept, summarize_chains = [], part_summary.summarize_chains

        def recorded(draws):
            kept.append(draws)
            return summarize_chains(draws)

        monkeypatch.setattr(part_summary, "summarize_chains", recorded)

        def squared(problem):
            with pm.Model() as model:
                weight = pm.Beta("weight", 2, 1)
                pm.Deterministic("belief", pt.stack([weight**2, 1 - weight**2]) * np.ones((2, 1)))
            return model

        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]))
        posterior = tiny(squared, draws=1000)(problem)
        assert_within_errors(posterior, np.full((2, 2), 0.5))
        assert posterior.standard_error.max() < (1 / 2 - 4 / 9) / ERRORS
        axes = {"chain_axis": -2, "draw_axis": -1}
        assert np.allclose(posterior.standard_error, array_stats.mcse(kept[0], method="mean", **axes), rtol=1e-2)
        assert np.allclose(posterior.ess, array_stats.ess(kept[0], method="mean", **axes))
        assert np.allclose(posterior.rhat, array_stats.rhat(kept[0], method="split", **axes))

    @pytest.mark.slow
    def test_permutation_model_is_the_closed_form(self):
        """Two groups of three members, which are compiled once, and evidence."""
        problem = dataclasses.replace(problem_of([3, 3], seed=1), evidence=np.eye(3)[[0, 1, 2, 0, 1, 2]])
        estimator = ProgramEstimator(permutation_model, draws=200, chains=2, reads_evidence=True, rng=1)
        posterior = estimator(problem)
        assert_within_errors(posterior, DirichletMultinomial(ties="first")(problem).probabilities)
        assert len(estimator._programs._programs) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(3))
    def test_permutation_model_on_random_groups(self, seed):
        problem = problem_of([2, 3, 4, 2, 3, 4, 1], seed, outside=1)
        posterior = ProgramEstimator(permutation_model, rng=seed)(problem)
        assert_within_errors(posterior, DirichletMultinomial(ties="first")(problem).probabilities)
        assert posterior.status.tolist() == [Status.FINE] * 7
        assert posterior.standard_error.max() < 0.02

    @pytest.mark.slow
    @pytest.mark.parametrize("per", ["group", "release"])
    def test_release_model_given_its_population(self, per):
        """Concentrations of 10^6 fix the prior up to .001."""

        def population(problem):
            classes = np.arange(len(problem.prior))
            return release_model([problem], [classes], concentration=1e6 * problem.prior + 1e-3)

        problem = problem_of([2, 3, 4, 3], seed=5, outside=2)
        posterior = ProgramEstimator(population, draws=300, chains=2, per=per, rng=1)(problem)
        deviation = np.abs(posterior.probabilities - Exact()(problem).probabilities)
        assert (deviation <= ERRORS * posterior.standard_error + 1e-4).all()
        assert posterior.status.tolist() == [Status.FINE] * 4

    @pytest.mark.slow
    def test_a_discrete_variable(self):
        """A source that is right with an unknown probability of mean .7, as a Bernoulli variable."""

        def source(problem):
            with pm.Model() as model:
                right = pm.Bernoulli("right", pm.Beta("reliability", 7, 3))
                pm.Deterministic("belief", pt.switch(right, np.eye(2), 1 - np.eye(2)))
            return model

        problem = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]))
        posterior = tiny(source, draws=500)(problem)
        assert_within_errors(posterior, 0.3 + 0.4 * np.eye(2))

    @pytest.mark.slow
    def test_nutpie_agrees(self):
        pytest.importorskip("nutpie")
        estimator = ProgramEstimator(permutation_model, chains=2, nuts_sampler="nutpie", rng=1)
        problem = problem_of([3, 3], seed=1)
        assert_within_errors(estimator(problem), DirichletMultinomial(ties="first")(problem).probabilities)


class TestStatus:
    def test_divergences(self):
        """A wall in the density, of height e^5000: trajectories that meet it diverge. The groups of two meet it."""

        def wall(problem):
            with pm.Model() as model:
                x = pm.Normal("x", initval=-1.0)
                height = pm.Data("height", 5000.0 * (problem.sizes[0] == 2))
                pm.Potential("wall", pt.switch(x > 0, -height, 0.0))
                pm.Deterministic("belief", pt.as_tensor(np.tile([0.5, 0.5, 0.0], (len(problem.prior), 1))) + 0 * x)
            return model

        problem = problem_of([2, 3, 8], outside=1)
        posterior = Mixed(small=tiny(wall, draws=50), large=Exact(), size=3)(problem)
        assert posterior.status.tolist() == [Status.UNCONVERGED, Status.FINE, Status.FINE]
        assert (posterior.rhat == 1).all()
        assert 0 < posterior.divergences[0] <= 100, "at most the kept draws"
        assert posterior.divergences[1:].tolist() == [0, 0]
        assert np.array_equal(posterior.first(2).divergences, posterior.divergences)

    @pytest.mark.parametrize(("per", "expected"), [("group", [7, 0, 7]), ("release", [7, 7, 7])])
    def test_divergences_of_each_group(self, monkeypatch, per, expected):
        """A sampler that reports 7 divergent draws of each part with a group of two."""
        sample = CompiledProgram.sample
        monkeypatch.setattr(
            CompiledProgram,
            "sample",
            lambda self, settings, seeds: sample(self, settings, seeds)._replace(
                values={"belief": np.tile(self.evaluate({})["belief"], (2, 8, 1, 1))},
                divergences=7 * (self.evaluate({})["belief"].shape[0] != 3),
            ),
        )
        posterior = tiny(certain_law, per=per)(problem_of([2, 3, 2]))
        assert posterior.divergences.tolist() == expected
        assert (posterior.status > 0).tolist() == (posterior.divergences > 0).tolist()

    def test_chains_that_disagree(self, monkeypatch):
        """With one program per group one group is reported, and of a release the group of the respondent alone."""
        rng = np.random.default_rng(0)

        def disagreeing(self, settings, seeds):
            rows = self.evaluate(self.initial_point(0))["belief"]
            belief = np.tile(rows, (2, 20, 1, 1)) + 0.0
            if np.allclose(rows[-1], first[-1]):
                weight = rng.random(20) * 0.01 + np.array([[0.1], [0.8]])
                belief[:, :, -1] = np.stack([weight, 1 - weight, 0 * weight], axis=-1)
            return ProgramDraws({"belief": belief}, 0)

        monkeypatch.setattr(CompiledProgram, "sample", disagreeing)
        problem = problem_of([2, 3])
        first = Exact()(problem).probabilities
        for per in ("group", "release"):
            posterior = tiny(certain_law, per=per)(problem)
            assert posterior.status.tolist() == [Status.FINE, Status.UNCONVERGED]
            assert posterior.rhat.max() > 1.05

    def test_a_density_of_zero_is_a_contradiction(self):
        def never(problem):
            with pm.Model() as model:
                pm.Normal("x")
                pm.Potential("never", pt.constant(-np.inf))
                pm.Deterministic("belief", pt.as_tensor(problem.prior))
            return model

        posterior = tiny(never)(PROBLEM)
        assert posterior.status.tolist() == [Status.CONTRADICTED] * 3
        shares = PROBLEM.counts / PROBLEM.sizes[:, None]
        assert np.array_equal(posterior.probabilities[:-1], shares[PROBLEM.group[:-1]])
        assert np.array_equal(posterior.probabilities[-1], PROBLEM.prior[-1])


class TestCompilation:
    def test_equal_shapes_are_compiled_once(self):
        estimator = tiny(uncertain_law)
        first, second = estimator(PROBLEM), estimator(PROBLEM)
        assert len(estimator._programs._programs) == 2, "groups of two and of three members"
        assert not np.array_equal(first.probabilities, second.probabilities)
        assert np.array_equal(tiny(uncertain_law)(PROBLEM).probabilities, first.probabilities)

    def test_constants_make_another_program(self):
        def shares(problem):
            with pm.Model() as model:
                pm.Deterministic(
                    "belief", pt.as_tensor(np.tile(problem.counts / problem.sizes, (len(problem.prior), 1)))
                )
            return model

        problem = Problem(np.full((4, 2), 0.5), np.array([0, 0, 1, 1]), np.array([[1, 1], [2, 0]]))
        estimator = tiny(shares)
        assert np.array_equal(estimator(problem).probabilities, [[0.5, 0.5]] * 2 + [[1, 0]] * 2)
        assert len(estimator._programs._programs) == 2

    def test_equal_groups_are_sampled_once(self):
        calls = []

        def counted(problem):
            calls.append(problem)
            return certain_law(problem)

        problem = Problem(np.full((6, 2), 0.5), np.array([0, 0, 1, 1, 2, 2]), np.array([[1, 1], [2, 0], [1, 1]]))
        tiny(counted, max_groups=2)(problem)
        assert len(calls) == 2

    def test_a_copy_compiles_anew(self):
        estimator = tiny(certain_law)
        estimator(PROBLEM)
        assert estimator._programs._programs
        assert not copy.deepcopy(estimator)._programs._programs


class TestConformance:
    def test_the_kit_without_unknown_quantities(self):
        possible = itertools.islice(examples.problems(), 0, None, 2)
        check_estimator(tiny(certain_law), problems=possible)

    @pytest.mark.slow
    def test_the_kit_with_a_sampled_program(self):
        check_estimator(tiny(uncertain_law), problems=[problem_of([2, 1], outside=1)])

    @pytest.mark.slow
    def test_the_kit_with_permutation_model(self):
        check_estimator(tiny(permutation_model, reads_evidence=True), problems=[problem_of([2, 3, 1], outside=1)])

    def test_permutation_model_reads_evidence_and_others_refuse_it(self):
        problem = dataclasses.replace(PROBLEM, evidence=np.zeros(PROBLEM.prior.shape))
        with pytest.raises(ValueError, match=r"has evidence .*ProgramEstimator"):
            tiny(certain_law)(problem)

    def test_without_groups(self):
        nothing = Problem(np.array([[0.2, 0.8]]), np.array([-1]), np.zeros((0, 2), int))
        for per in ("group", "release"):
            assert np.array_equal(tiny(certain_law, per=per)(nothing).probabilities, nothing.prior)


class TestInUse:
    def test_in_small_groups_alone(self):
        """A group of eight is left to another estimator."""
        problem = problem_of([2, 8])
        small = Mixed(small=tiny(certain_law), large=Exact(), size=3)
        assert np.allclose(small(problem).probabilities, Exact()(problem).probabilities, rtol=0, atol=1e-12)
        assert small(problem).rule.tolist() == ["ProgramEstimator", "Exact"]

    def test_in_an_attack(self):
        """Each release is sampled with the prior that the attack revises, as the mixture of the exact posterior and the shares."""
        adversary = dataclasses.replace(examples.adversary(), estimator=tiny(uncertain_law))
        found = SequentialAttack(adversary)(examples.releases())
        for release in found:
            expected = MeanOfUncertainLaw()(release.observation.problem(release.revised))
            assert_within_errors(release.posterior, expected.probabilities)
            assert release.posterior.standard_error.max() > 0
        exact = SequentialAttack(examples.adversary())(examples.releases())
        last = [list(beliefs)[-1].revised for beliefs in (found, exact)]
        assert not np.allclose(*last), "the sampled beliefs are the next release's knowledge"

    @pytest.mark.slow
    def test_in_publish_and_in_a_requirement(self):
        """The groups are those of the mixture in closed form: no level is between .83 and .99, and the bound changes groups."""
        groups = []
        for estimator in (tiny(uncertain_law, max_groups=10_000), MeanOfUncertainLaw(), None):
            bound = KAnonymity(2)
            adversary = examples.adversary()
            if estimator is not None:
                bound = bound & PosteriorBound(0.9, estimator=estimator, quantity="belief")
                adversary = dataclasses.replace(adversary, estimator=estimator)
            published = publish(examples.history(2, 8), Mondrian(bound), adversary, rng=1)
            groups.append([release.group.tolist() for release in published])
        assert groups[0] == groups[1] != groups[2]


def returning(belief, dims=None):
    """A program with a constant belief."""

    def build(problem):
        with pm.Model(coords={"respondent": range(2), "value": range(2)}) as model:
            pm.Deterministic("belief", pt.as_tensor(np.asarray(belief, float)), dims=dims)
        return model

    return build


def raising(error):
    """A program with a mistake, or that refuses."""

    def build(problem):
        raise error

    return build


def without_belief(problem):
    with pm.Model() as model:
        pm.Deterministic("beliefs", pt.as_tensor(problem.prior))
    return model


def not_a_number(problem):
    with pm.Model() as model:
        pm.Potential("nan", pm.Normal("x") * np.nan)
        pm.Deterministic("belief", pt.as_tensor(problem.prior))
    return model


def mismatched(problem):
    with pm.Model() as model:
        pm.Deterministic("belief", pm.Data("two", np.ones((2, 2))) + pm.Data("three", np.ones((3, 2))))
    return model


def large(problem):
    with pm.Model() as model:
        pm.Normal("x", shape=20_000)
        pm.Deterministic("belief", pt.as_tensor(problem.prior))
    return model


PAIR = Problem(np.full((2, 2), 0.5), np.zeros(2, int), np.array([[1, 1]]))


class TestWrongPrograms:
    @pytest.mark.parametrize(
        ("build", "error", "message"),
        [
            (lambda _: 3, TypeError, "the result of build for group 0 is 3; it is a pymc.Model"),
            (
                without_belief,
                ValueError,
                "the model of group 0 has no deterministic variable 'belief' (it has beliefs)",
            ),
            (returning([0.5, 0.5]), ValueError, "the belief of group 0 has shape (2,); it must be (2, 2)"),
            (returning(np.full((2, 2, 2), 0.5)), ValueError, "has shape (2, 2, 2); it must be (2, 2)"),
            (
                returning(np.eye(2), ("value", "respondent")),
                ValueError,
                "the belief of group 0 has the dims value, respondent; they end in respondent, value",
            ),
            (
                returning([[0.5, 0.5], [np.nan, 1]]),
                ValueError,
                "group 0, draw 0 of chain 0: the belief in row 1 sums to nan",
            ),
            (
                returning([[-0.5, 1.5], [0, 1]]),
                ValueError,
                "the belief in row 0 sums to 1; a row must be probabilities",
            ),
            (returning([[0.5, 0.5], [0.5, 0.6]]), ValueError, "the belief in row 1 sums to 1.1"),
            (
                raising(TooLarge("at most 1 member")),
                TooLarge,
                "ProgramEstimator: build refuses group 0: at most 1 member",
            ),
            (raising(ValueError("no such group")), ValueError, "build stops at group 0: ValueError: no such group"),
            (raising(KeyError("age")), ValueError, "ProgramEstimator: build stops at group 0: KeyError: 'age'"),
            (raising(AssertionError()), ValueError, "ProgramEstimator: build stops at group 0: AssertionError: "),
            (raising(TypeError("a list")), TypeError, "ProgramEstimator: build stops at group 0: TypeError: a list"),
            (not_a_number, ValueError, "ProgramEstimator: group 0: its log-density is nan at a starting point"),
            (mismatched, ValueError, "ProgramEstimator: group 0: its model cannot be computed: "),
            (large, TooLarge, "ProgramEstimator: group 0: its model has 20,000 unknown numbers, more than 16,384"),
        ],
    )
    def test_the_message_says_what_was_found(self, build, error, message):
        with pytest.raises(error, match=re.escape(message)) as raised:
            tiny(build)(PAIR)
        assert raised.type is error, "only a refusal of a large group is TooLarge"

    def test_the_release_is_named(self):
        with pytest.raises(ValueError, match="build stops at the release: ZeroDivisionError: by 0"):
            tiny(raising(ZeroDivisionError("by 0")), per="release")(PAIR)

    def test_a_group_that_a_program_refuses(self):
        with pytest.raises(
            TooLarge, match=r"build refuses group 1: the group has 8 respondents, and permutation_model"
        ):
            tiny(permutation_model)(problem_of([1, 8]))

    def test_too_many_groups(self):
        with pytest.raises(TooLarge, match=r"has 3 different groups, more than max_groups=2\. Raise max_groups"):
            tiny(certain_law, max_groups=2)(PROBLEM)

    def test_too_many_draws(self):
        with pytest.raises(
            TooLarge, match=r"group 0 has 4 pairs of respondent and value; 2 chains of 2000000000 draws"
        ):
            tiny(certain_law, draws=2_000_000_000)(PAIR)

    @pytest.mark.parametrize(
        ("settings", "error", "message"),
        [
            ({"draws": 0}, ValueError, "ProgramEstimator: draws is 0; it is a number of draws, from 8 to"),
            ({"chains": 1}, ValueError, "chains is 1; it is a number of chains, from 2"),
            ({"warmup": 0}, ValueError, "warmup is 0; it is a number of draws, 1 or more"),
            ({"per": "record"}, ValueError, "per is 'record'; it is one of 'group', 'release'"),
            ({"nuts_sampler": "stan"}, ValueError, "nuts_sampler is 'stan'; it is one of 'pymc', 'nutpie'"),
            ({"target_accept": 1}, ValueError, "target_accept is 1; it is a number from 0.01 to 0.999"),
            ({"max_groups": 0}, ValueError, "max_groups is 0; it is a number of groups, 1 or more"),
            ({"reads_evidence": 1}, TypeError, "reads_evidence is 1; it is True or False"),
            ({"rng": None}, TypeError, "rng is None; it is a generator"),
            ({"build": 3}, TypeError, "build is 3; it is a function from a Problem to a pymc.Model"),
            ({"build": Exact}, TypeError, "build is the class Exact"),
        ],
    )
    def test_settings(self, settings, error, message):
        with pytest.raises(error, match=re.escape(message)):
            ProgramEstimator(**({"build": certain_law, "rng": 1} | settings))

    def test_nutpie_that_is_not_installed(self, monkeypatch):
        monkeypatch.setattr(program_estimator, "find_spec", lambda _: None)
        with pytest.raises(ValueError, match=r"which is not installed\. Install it by pip install '\.\[nutpie\]'"):
            tiny(certain_law, nuts_sampler="nutpie")

    def test_nutpie_samples_no_discrete_variable(self, monkeypatch):
        def discrete(problem):
            with pm.Model() as model:
                pm.Bernoulli("right", 0.7)
                pm.Deterministic("belief", pt.as_tensor(problem.prior))
            return model

        monkeypatch.setattr(program_estimator, "find_spec", lambda _: True)
        with pytest.raises(
            ValueError, match=r"group 0: nuts_sampler='nutpie' samples continuous variables, and right is"
        ):
            tiny(discrete, nuts_sampler="nutpie")(PAIR)
