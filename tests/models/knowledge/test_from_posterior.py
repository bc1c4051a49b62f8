"""Knowledge from sampled posteriors: means and draws against NumPy, names and coordinates, and one error for each fault."""

import re
import warnings

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytest
import xarray
from pytensor.compile.mode import Mode
from strategies import history_of

from foreknow.models import (
    Adversary,
    Beliefs,
    ClassFrequencies,
    CompromisedRecords,
    Evidence,
    GivenPrior,
    MarkovChain,
    Posterior,
    Problem,
    Release,
    UniformPrior,
    compromised_model,
    foreground_model,
    history_model,
    markov_model,
    release_model,
)
from foreknow.models.beliefs import ReleaseBeliefs
from foreknow.models.foreground.fit import Fit, FitStatus
from foreknow.models.joint import JointProblem
from foreknow.models.knowledge.posterior_variable import posterior_draws

INTERPRETED = Mode("py", "fast_compile")
RNG = np.random.default_rng(0)
VALUES = ("a", "b", "c")
ROWS = RNG.dirichlet(np.ones(3), size=(2, 5, 3))
PAIRS = RNG.dirichlet(np.ones(3), size=(2, 5, 3, 3))


def tree_of(variables, dims, coords=None, **groups):
    return az.from_dict({"posterior": variables, **groups}, dims=dims, coords=coords or {})


def chain_tree(rows=ROWS, values=VALUES, last=VALUES, **groups):
    dims = {"transitions": ["last", "value"]}
    return tree_of({"transitions": rows}, dims, {"last": list(last), "value": list(values)}, **groups)


class TestMarkovChain:
    def test_it_is_the_mean_over_chains_and_draws(self):
        chain = MarkovChain.from_posterior(chain_tree(), values=VALUES)
        assert chain.order == 1
        assert np.allclose(chain.probabilities, ROWS.reshape(-1, 3, 3).mean(axis=0))

    def test_a_second_order_table_keeps_the_oldest_value_first(self):
        coords = {name: list(VALUES) for name in ("value_1", "value_2", "value")}
        tree = tree_of({"transitions": PAIRS}, {"transitions": ["value_1", "value_2", "value"]}, coords)
        assert np.allclose(MarkovChain.from_posterior(tree).probabilities, PAIRS.mean(axis=(0, 1)))

    def test_dimensions_are_read_by_name(self):
        dataset = chain_tree().posterior.to_dataset().transpose("value", "draw", "last", "chain")
        assert np.allclose(MarkovChain.from_posterior(dataset).probabilities, ROWS.mean(axis=(0, 1)))

    def test_values_are_read_by_name(self):
        swapped = [2, 0, 1]
        tree = chain_tree(
            ROWS[..., swapped, :][..., [1, 2, 0]], [VALUES[i] for i in (1, 2, 0)], [VALUES[i] for i in swapped]
        )
        assert np.allclose(MarkovChain.from_posterior(tree, values=VALUES).probabilities, ROWS.mean(axis=(0, 1)))

    def test_without_a_domain_the_rows_are_in_the_order_of_the_columns(self):
        tree = chain_tree(ROWS[..., [2, 0, 1], :], VALUES, ("c", "a", "b"))
        assert np.allclose(MarkovChain.from_posterior(tree).probabilities, ROWS.mean(axis=(0, 1)))

    def test_positions_stand_for_the_values(self):
        chain = MarkovChain.from_posterior(chain_tree(values=range(3), last=range(3)), values=VALUES)
        assert np.allclose(chain.probabilities, ROWS.mean(axis=(0, 1)))

    def test_the_posterior_of_a_tree_will_do(self):
        whole, node = chain_tree(), chain_tree().posterior
        for each in (node, node.to_dataset()):
            assert np.array_equal(
                MarkovChain.from_posterior(each).probabilities, MarkovChain.from_posterior(whole).probabilities
            )

    def test_the_variables_of_a_program_are_read(self):
        history = history_of(("AB", "ab"), ("AB", "ba"), ("AB", "aa"))
        tree = drawn(markov_model(history, order=2), "transitions")
        chain = MarkovChain.from_posterior(tree, values=history.schema.values)
        assert np.allclose(chain.probabilities, tree.posterior["transitions"].mean(("chain", "draw")).to_numpy())


CUTS = {"age": (30.0,), "sex": (0.5, 1.5)}


class TestClassFrequencies:
    DRAWS = RNG.dirichlet(np.ones(3), size=(1, 4, 2, 3))

    def test_one_dimension_of_classes_or_one_per_attribute(self):
        mean = self.DRAWS.mean(axis=(0, 1))
        flat = tree_of({"frequencies": self.DRAWS.reshape(1, 4, 6, 3)}, {"frequencies": ["class", "value"]})
        named = tree_of({"frequencies": self.DRAWS}, {"frequencies": ["age", "sex", "value"]})
        for tree in (flat, named):
            assert np.allclose(ClassFrequencies.from_posterior(tree, CUTS).probabilities, mean)

    def test_without_cuts_there_is_one_class(self):
        for shape, dims in (((1, 4, 3), ["value"]), ((1, 4, 1, 3), ["class", "value"])):
            tree = tree_of({"frequencies": self.DRAWS[:, :, 0, 0].reshape(shape)}, {"frequencies": dims})
            mean = self.DRAWS[:, :, 0, 0].mean(axis=(0, 1))
            assert np.allclose(ClassFrequencies.from_posterior(tree, {}).probabilities, mean)

    def test_other_classes_are_refused(self):
        tree = tree_of({"frequencies": self.DRAWS.reshape(1, 4, 6, 3)}, {"frequencies": ["class", "value"]})
        with pytest.raises(ValueError, match=re.escape("(6,) classes, and the cuts make (2,)")):
            ClassFrequencies.from_posterior(tree, {"age": (30.0,)})


class TestOtherKnowledge:
    CLAIMS = pd.DataFrame({"respondent": ["A", "B"], "value": ["x", "y"], "time": [1, 2]})

    def tree(self):
        variables = {"reliability": np.array([[0.6, 0.8]]), "right": np.array([[[0.1, 0.9], [0.3, 0.7]]])}
        return tree_of(variables, {"right": ["claim"]}, {"claim": ["B at 2", "A at 1"]})

    def test_claims_have_the_reliability_of_their_source(self):
        known = CompromisedRecords.from_posterior(self.tree(), self.CLAIMS)
        assert np.allclose(known.frame["confidence"], 0.7)

    def test_claims_have_their_own_probability(self):
        known = CompromisedRecords.from_posterior(self.tree(), self.CLAIMS, "right")
        assert np.allclose(known.frame["confidence"], [0.8, 0.2])

    def test_another_claim_is_refused(self):
        with pytest.raises(ValueError, match="no claim 'C at 1'"):
            CompromisedRecords.from_posterior(self.tree(), self.CLAIMS.replace("A", "C"), "right")

    def test_beliefs_are_a_prior(self):
        people = history_of(("ABC", "abc"))[0].people
        tree = tree_of({"belief": ROWS[:, :, None]}, {"belief": ["release", "respondent", "value"]})
        prior = GivenPrior.from_posterior(tree, list("BAC"), values=people.schema.values)
        assert np.allclose(prior(people), ROWS.mean(axis=(0, 1))[[1, 0, 2]])

    def test_beliefs_of_two_releases_are_no_prior(self):
        tree = tree_of({"belief": PAIRS}, {"belief": ["release", "respondent", "value"]})
        with pytest.raises(ValueError, match="has 3 releases, and a prior is of one"):
            GivenPrior.from_posterior(tree)
        with pytest.raises(ValueError, match=r"respondents has shape .*one for each row of 'belief'"):
            GivenPrior.from_posterior(tree.posterior.to_dataset().isel(release=[0]), ["A", "B"])

    def test_a_global_distribution_keeps_its_draws(self):
        tree = tree_of({"global_distribution": ROWS}, {"global_distribution": ["signature", "value"]})
        fit = Fit.from_posterior(tree)
        assert np.allclose(fit.probabilities, ROWS.mean(axis=(0, 1)))
        assert np.array_equal(fit.draws, ROWS.reshape(-1, 3, 3))
        assert np.allclose(fit.ess, az.ess(tree, method="mean")["global_distribution"])
        assert np.allclose(fit.rhat, az.rhat(tree, method="split")["global_distribution"])

    def test_a_fit_that_diverged_has_a_status(self):
        tree = tree_of(
            {"global_distribution": ROWS},
            {"global_distribution": ["signature", "value"]},
            sample_stats={"diverging": np.eye(2, 5, dtype=bool)},
        )
        with pytest.warns(UserWarning, match="NUTS diverged in 2 draws"):
            assert Fit.from_posterior(tree).status == FitStatus.UNCONVERGED


class TestDraws:
    def test_as_many_draws_as_there_are_give_each_once(self):
        chains = [MarkovChain.from_posterior(draw).probabilities for draw in posterior_draws(chain_tree(), 10)]
        assert np.allclose(chains, ROWS.reshape(10, 3, 3))

    def test_fewer_are_equidistant_over_all_chains(self):
        tree = tree_of({"x": np.arange(100.0).reshape(4, 25)}, {})
        assert [draw.posterior["x"].item() for draw in posterior_draws(tree, 4)] == [12.0, 37.0, 62.0, 87.0]

    def test_variables_of_a_draw_stay_together(self):
        variables = {"x": np.arange(12.0).reshape(2, 6), "y": -np.arange(12.0).reshape(2, 6)}
        for draw in posterior_draws(tree_of(variables, {}), 5):
            assert draw.posterior["x"].item() == -draw.posterior["y"].item()

    def test_a_tree_of_one_draw_gives_that_draw(self):
        (draw,) = posterior_draws(chain_tree(ROWS[:1, :1]), 1)
        assert np.allclose(MarkovChain.from_posterior(draw).probabilities, ROWS[0, 0])

    def test_divergences_are_reported_once(self):
        tree = chain_tree(sample_stats={"diverging": np.ones((2, 5), dtype=bool)})
        with pytest.warns(UserWarning, match="NUTS diverged in 10 draws"):
            draws = posterior_draws(tree, 2)
        MarkovChain.from_posterior(draws[0])  # a warning would be an error here

    @pytest.mark.parametrize("number", [0, 11, 1.5, None])
    def test_a_wrong_number_is_refused(self, number):
        with pytest.raises(ValueError, match="number is"):
            posterior_draws(chain_tree(), number)


def drawn(model, *names):
    """Tree of 3 draws from the prior of a program, as if they were of its posterior."""
    options = {"var_names": [*names], "random_seed": 1, "compile_kwargs": {"mode": INTERPRETED}}
    with pytensor.config.change_flags(cxx=""), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The effect of Potentials")
        found = pm.sample_prior_predictive(3, model=model, **options)
    return xarray.DataTree.from_dict({"posterior": found.prior.to_dataset()})


class TestPrograms:
    """The variables of each program are those that the knowledge reads."""

    def test_release_model(self):
        release = Problem(np.full((4, 2), 0.5), np.array([0, 0, 1, 1]), np.array([[2, 0], [1, 1]]))
        tree = drawn(release_model([release], classes=[np.array([0, 0, 0, 1])]), "frequencies")
        known = ClassFrequencies.from_posterior(tree, {"age": (30.0,)}, values=("a", "b"))
        assert np.allclose(known.probabilities, tree.posterior["frequencies"].mean(("chain", "draw")))
        tree = drawn(release_model([release], past=[np.full((4, 2), 0.5)]), "transitions")
        assert MarkovChain.from_posterior(tree, values=("a", "b")).order == 1

    def test_history_model(self):
        half = np.full((2, 2), 0.5)
        problem = JointProblem(half, (half[None],), [0, 1, 0, 1], [0, 0, 1, 1], [0] * 4, [[1, 1], [2, 0]], [0, 1])
        tree = drawn(history_model(problem), "frequencies", "transitions")
        assert ClassFrequencies.from_posterior(tree, {}).probabilities.shape == (2,)
        assert MarkovChain.from_posterior(tree).values == 2

    def test_foreground_model(self):
        group, counts = np.repeat([0, 1, 2], 2), np.array([[1, 1], [1, 1], [0, 2]])
        evidence = Evidence(np.array([0, 1, 0, 0, 1, 1]), group, counts, np.array([1 / 3, 2 / 3]))
        fit = Fit.from_posterior(drawn(foreground_model(evidence), "global_distribution"))
        assert fit.probabilities.shape == (2, 2)
        assert fit.rhat is None

    def test_compromised_model(self):
        history = history_of(("AB", "ab"))
        claims = pd.DataFrame({"respondent": ["A", "B"], "value": ["a", "b"], "time": 1})
        rows = np.full((2, 3), 1 / 3)
        seen = Release(history[0], [0, 0]).observation
        beliefs = Beliefs((ReleaseBeliefs(seen, rows, rows, Posterior(rows, np.zeros(1, int))),))
        tree = drawn(compromised_model(claims, beliefs), "reliability", "right")
        for variable in ("reliability", "right"):
            known = CompromisedRecords.from_posterior(tree, claims, variable)
            mean = tree.posterior[variable].mean(("chain", "draw")).to_numpy()
            assert np.allclose(known.frame["confidence"], mean)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"prior": chain_tree()},
                "prior is a DataTree; it maps people to probabilities",
            ),
            (
                {"transitions": chain_tree()},
                "transitions is a DataTree; it is a chain over the sensitive values",
            ),
        ],
    )
    def test_a_tree_itself_is_no_knowledge(self, options, message):
        with pytest.raises(TypeError, match=re.escape(message)):
            Adversary(**({"prior": UniformPrior()} | options))


def with_nan():
    rows = ROWS.copy()
    rows[0, 0, 0, 0] = np.nan
    return chain_tree(rows)


@pytest.mark.parametrize(
    ("tree", "options", "error", "message"),
    [
        (None, {}, TypeError, "tree is None; it is a DataTree with the group posterior, as pymc.sample returns"),
        (ROWS, {}, TypeError, "tree is an array of shape (2, 5, 3, 3)"),
        (az.from_dict({"prior": {"x": np.zeros((1, 2))}}), {}, ValueError, "no draws: its dimensions are nothing"),
        (xarray.DataTree(), {}, ValueError, "no draws: its dimensions are nothing"),
        (xarray.Dataset({"x": ("draw", [1.0])}), {}, ValueError, "no draws: its dimensions are"),
        (
            chain_tree(),
            {"variable": "transition"},
            ValueError,
            "no variable 'transition'; it has 'transitions'.",
        ),
        (chain_tree(), {"variable": 3}, TypeError, "variable is 3; it is the name of a variable"),
        (
            tree_of({"transitions": ROWS}, {"transitions": ["before", "after"]}),
            {},
            ValueError,
            "has the dimensions (chain, draw, before, after); it needs (chain, draw, last, value)",
        ),
        (with_nan(), {}, ValueError, "has draws that are not finite numbers"),
        (chain_tree().posterior.to_dataset().isel(draw=[]), {}, ValueError, "has no draws: its dimensions"),
        (chain_tree(), {"values": ("a", "b", "z")}, ValueError, "they differ in 'c'"),
        (chain_tree(), {"values": ("a", "b")}, ValueError, "has 3 values and the domain 2; they differ in 'c'"),
        (
            chain_tree(values="123", last="123"),
            {"values": (1, 2, 3)},
            ValueError,
            "The types differ: '1' is text, and 1 a number",
        ),
        (chain_tree(last=("a", "b", "z")), {}, ValueError, "the coordinate 'last' of 'transitions'"),
        (chain_tree(), {"values": "abc"}, TypeError, "values is 'abc'; it is the sensitive domain"),
        (chain_tree(ROWS * 2), {}, ValueError, "every row must be a distribution"),
    ],
)
def test_each_fault_has_one_clear_error(tree, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        MarkovChain.from_posterior(tree, **options)


def test_divergences_are_never_averaged_silently():
    tree = chain_tree(sample_stats={"diverging": np.eye(2, 5, dtype=bool)})
    with pytest.warns(UserWarning, match="NUTS diverged in 2 draws, so that the posterior may be biased"):
        MarkovChain.from_posterior(tree)
