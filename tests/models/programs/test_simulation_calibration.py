"""Ranks and tests of simulation-based calibration, with conjugate posteriors in closed form."""

import copy
import math
import re

import numpy as np
import pymc as pm
import pytest

from foreknow.models.programs import CalibrationRanks, PosteriorDraws, ProgramPosterior, calibration_ranks

DRAWS = 63


def simulate_frequencies(rng):
    """Three frequencies with a uniform prior, and the counts of 20 values."""
    frequencies = rng.dirichlet([1.0, 1.0, 1.0])
    return {"frequencies": frequencies}, rng.multinomial(20, frequencies)


def dirichlet_posterior(concentration):
    return lambda counts, rng: {"frequencies": rng.dirichlet(concentration + counts, size=DRAWS)}


def simulate_mean(rng):
    """A standard normal mean, and one observation of variance 1: the posterior is N(y / 2, 1 / 2)."""
    mean = rng.normal()
    return {"mean": mean}, mean + rng.normal()


def normal_posterior(width=1.0, shift=0.0):
    return lambda y, rng: {"mean": y / 2 + shift + width * math.sqrt(0.5) * rng.normal(size=DRAWS)}


def p_value(simulate, posterior, simulations=100, quantities=None, seed=1):
    return calibration_ranks(simulate, posterior, simulations, quantities, rng=seed).uniformity()["adjusted"].min()


class TestPower:
    def test_conjugate_posteriors_are_calibrated(self):
        assert p_value(simulate_frequencies, dirichlet_posterior(1.0)) > 0.001
        assert p_value(simulate_mean, normal_posterior()) > 0.001

    def test_a_prior_that_is_too_narrow_is_found(self):
        assert p_value(simulate_frequencies, dirichlet_posterior(10.0)) < 1e-3

    @pytest.mark.parametrize("wrong", [{"width": 0.5}, {"width": 2.0}, {"shift": 0.5}, {"shift": -0.5}])
    def test_a_wrong_width_and_a_wrong_place_are_found(self, wrong):
        table = calibration_ranks(simulate_mean, normal_posterior(**wrong), 100, rng=1).uniformity()
        found, other = ("dispersion", "location") if "width" in wrong else ("location", "dispersion")
        assert table[found].item() < 1e-3
        assert table[found].item() < table[other].item()
        if "shift" in wrong:
            assert (table["mean_quantile"].item() < 0.5) == (wrong["shift"] > 0)

    def test_a_quantity_that_reads_the_data_finds_a_posterior_that_does_not(self):
        """The prior in place of the posterior has uniform ranks: Modrák et al., section 3."""

        def prior(_, rng):
            return {"mean": rng.normal(size=DRAWS)}

        quantities = {"squared error": lambda values, y: float((values["mean"] - y) ** 2)}
        assert p_value(simulate_mean, prior) > 0.001
        assert p_value(simulate_mean, prior, quantities=quantities) < 1e-3
        assert p_value(simulate_mean, normal_posterior(), quantities=quantities) > 0.001

    def test_a_quantity_reads_the_variables_alone(self):
        seen = []
        calibration_ranks(
            lambda _: ({"x": 0.0}, None),
            lambda *_: {"x": np.zeros(3)},
            simulations=1,
            quantities={name: lambda values, _: seen.append(set(values)) or 0.0 for name in ("first", "second")},
            rng=1,
        )
        assert seen == [{"x"}] * 8

    @pytest.mark.slow
    def test_of_calibrated_programs_few_are_refused(self):
        """At 5 %, of 200 independent tests at most 21 but for one time in 1,000: a binomial quantile."""
        found = [p_value(simulate_frequencies, dirichlet_posterior(1.0), 20, seed=seed) for seed in range(200)]
        assert sum(p < 0.05 for p in found) <= 21


class TestNumbers:
    def test_quantiles_of_ties_are_uniform_between_their_ends(self):
        """One draw of four is smaller, and two are equal: between 1/5 and 4/5."""
        ranks = calibration_ranks(
            lambda _: ({"x": 3}, None), lambda *_: {"x": np.array([1, 3, 3, 5])}, simulations=500, rng=1
        )
        scaled = (ranks.quantiles["x"] - 0.2) / 0.6
        assert scaled.min() > 0
        assert scaled.max() < 1
        assert abs(scaled.mean() - 0.5) < 4 / math.sqrt(12 * 500)

    def test_p_values_of_one_simulation(self):
        """The Kolmogorov-Smirnov distance of one number u is max(u, 1 - u) = d, and P(D >= d) is 2 (1 - d)."""
        ranks = CalibrationRanks({"a": np.array([[0.9, 0.4]]), "b": np.array([0.5])}, np.zeros(1, dtype=int))
        table = ranks.uniformity()
        assert table["quantity"].tolist() == ["a[0]", "a[1]", "b"]
        np.testing.assert_allclose(table["mean_quantile"], [0.9, 0.4, 0.5])
        np.testing.assert_allclose(table["location"], [0.2, 0.8, 1.0])
        np.testing.assert_allclose(table["dispersion"], [0.4, 0.4, 0.0])
        np.testing.assert_allclose(table["adjusted"], [1.0, 1.0, 0.0])

    def test_divergences_are_counted(self):
        posterior = lambda _, rng: PosteriorDraws({"mean": rng.normal(size=4)}, 2)  # noqa: E731
        assert calibration_ranks(simulate_mean, posterior, 3, rng=1).divergences.tolist() == [2, 2, 2]

    def test_a_tree_for_arviz(self):
        ranks = calibration_ranks(simulate_frequencies, dirichlet_posterior(1.0), 5, rng=1)
        group = ranks.to_datatree()["prior_sbc"]["frequencies"]
        assert group.sizes["chain"] == 1
        np.testing.assert_array_equal(group.values[0], ranks.quantiles["frequencies"])

    def test_a_seed_repeats_the_ranks(self):
        once, again = (calibration_ranks(simulate_mean, normal_posterior(), 5, rng=3) for _ in range(2))
        np.testing.assert_array_equal(once.quantiles["mean"], again.quantiles["mean"])


def growing():
    """Simulator whose second truth has another shape."""
    sizes = iter([2, 3])

    def simulate(_):
        size = next(sizes)
        return {"x": np.zeros(size)}, size

    return simulate


X = ({"x": np.zeros(2)}, None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: calibration_ranks(simulate_mean, normal_posterior(), 0, rng=1), ValueError, "simulations is 0"),
        (
            lambda: calibration_ranks(lambda _: ({"mean": np.nan}, 1), normal_posterior(), rng=1),
            ValueError,
            "a number is not finite in the truth of 'mean'",
        ),
        (
            lambda: calibration_ranks(simulate_mean, lambda *_: {"other": [1.0]}, rng=1),
            ValueError,
            "the posterior has no draws of 'mean' (it has other)",
        ),
        (
            lambda: calibration_ranks(simulate_mean, lambda *_: {"mean": [np.nan]}, rng=1),
            ValueError,
            "a number is not finite in draws of 'mean'",
        ),
        (
            lambda: calibration_ranks(simulate_mean, lambda *_: {"mean": []}, rng=1),
            ValueError,
            "draws of 'mean' have shape (0,), and the truth ()",
        ),
        (
            lambda: calibration_ranks(lambda _: X, lambda *_: {"x": np.zeros(2)}, rng=1),
            ValueError,
            "draws of 'x' have shape (2,), and the truth (2,)",
        ),
        (
            lambda: calibration_ranks(growing(), lambda size, _: {"x": np.zeros((1, size))}, 2, rng=1),
            ValueError,
            "the truth of simulation 1 has 'x' of shape (3,)",
        ),
        (
            lambda: calibration_ranks(simulate_mean, normal_posterior(), 1, {"a": lambda *_: np.nan}, rng=1),
            ValueError,
            "a number is not finite in the quantity 'a'",
        ),
        (
            lambda: calibration_ranks(simulate_mean, normal_posterior(), 1, {"mean": lambda *_: 1.0}, rng=1),
            ValueError,
            "'mean' is a variable of the truth and a quantity. Rename",
        ),
    ],
)
def test_each_fault_has_one_clear_error(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def normal_program(data):
    with pm.Model() as model:
        mean = pm.Normal("mean")
        pm.Normal("seen", mean, observed=pm.Data("y", data))
        pm.Deterministic("pair", pm.math.stack([mean, -mean]))
    return model


def discrete_program(data):
    """A rate from {1, 5}, each with probability 1/2, and a weight; the belief is neither of them."""
    with pm.Model() as model:
        high = pm.Bernoulli("high", 0.5)
        weight = pm.Beta("weight", 2, 1)
        pm.Deterministic("rate", 1 + 4 * high)
        pm.Deterministic("belief", pm.math.stack([7.0 + 0 * weight, 8.0]))
        pm.Poisson("seen", 1 + 4 * high, observed=pm.Data("count", data))
    return model


def impossible_program(data):
    with pm.Model() as model:
        mean = pm.Normal("mean")
        pm.Potential("never", pm.math.switch(mean < np.inf, -np.inf, 0.0))
    return model


def undefined_program(data):
    with pm.Model() as model:
        pm.Potential("undefined", pm.Normal("mean") * np.nan)
    return model


def stopping_program(data):
    raise KeyError("week")


def known_program(_):
    with pm.Model() as model:
        pm.Deterministic("mean", pm.math.constant(1.0))
    return model


class TestProgramPosterior:
    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ((3, ["mean"]), TypeError, "build is 3; it is a function"),
            ((normal_program, "mean"), TypeError, "variables is 'mean'; it is a list of names"),
            ((normal_program, []), TypeError, "variables is []; it is a list of names"),
            ((normal_program, ["mean"], 0), ValueError, "draws is 0"),
            ((normal_program, ["mean"], 5, 0), ValueError, "thinning is 0"),
            ((normal_program, ["mean"], 5, 1, 0), ValueError, "warmup is 0"),
            ((normal_program, ["mean"], 5, 1, 1, 2), ValueError, "target_accept is 2"),
        ],
    )
    def test_settings(self, arguments, error, message):
        with pytest.raises(error, match=re.escape(message)):
            ProgramPosterior(*arguments)

    @pytest.mark.parametrize(
        ("build", "name", "error", "message"),
        [
            (lambda _: 3, "mean", TypeError, "the result of build for the data is 3; it is a pymc.Model"),
            (normal_program, "other", ValueError, "the model has no variable 'other' (it has mean, y, seen, pair)"),
            (known_program, "mean", ValueError, "the model has no free variable"),
            (
                impossible_program,
                "mean",
                ValueError,
                "ProgramPosterior: the density of the model is 0 at 10 starting points",
            ),
            (
                undefined_program,
                "mean",
                ValueError,
                "ProgramPosterior: the data: its log-density is nan at a starting point",
            ),
            (stopping_program, "mean", ValueError, "ProgramPosterior: build stops at the data: KeyError: 'week'"),
        ],
    )
    def test_wrong_programs(self, build, name, error, message):
        with pytest.raises(error, match=re.escape(message)):
            ProgramPosterior(build, [name])(np.array([1.0]), np.random.default_rng(1))

    def test_a_wrong_generator(self):
        with pytest.raises(TypeError, match="ProgramPosterior: rng is None; it is a generator"):
            ProgramPosterior(normal_program, ["mean"])(np.array([1.0]), None)

    def test_a_seed_in_place_of_a_generator_and_a_copy(self):
        posterior = ProgramPosterior(normal_program, ["mean"], draws=4, thinning=1, warmup=4)
        once = posterior(np.array([1.0]), 1).values["mean"]
        np.testing.assert_array_equal(posterior(np.array([1.0]), np.random.default_rng(1)).values["mean"], once)
        assert posterior._programs._programs
        assert not copy.deepcopy(posterior)._programs._programs

    def test_data_of_equal_shapes_share_a_compilation(self):
        posterior = ProgramPosterior(normal_program, ["mean"], draws=1, thinning=1, warmup=1)
        for size in (1, 2, 1):
            posterior(np.ones(size), 1)
        assert len(posterior._programs._programs) == 2

    @pytest.mark.slow
    def test_a_discrete_variable_with_a_continuous_one(self):
        """P(high | 4) = Poisson(4; 5) / (Poisson(4; 5) + Poisson(4; 1)); the weight keeps its Beta(2, 1) of mean 2/3."""
        posterior = ProgramPosterior(discrete_program, ["weight", "high", "rate"], draws=1000, thinning=2)
        values, _ = posterior(4, 1)
        high = 5**4 * math.exp(-5) / (5**4 * math.exp(-5) + math.exp(-1))
        assert set(values["high"]) == {0, 1}
        np.testing.assert_array_equal(values["rate"], 1 + 4 * values["high"])
        assert abs(values["high"].mean() - high) < 5 * math.sqrt(high * (1 - high) / 1000)
        assert abs(values["weight"].mean() - 2 / 3) < 5 * math.sqrt(1 / 18 / 1000)
        assert values["weight"].max() < 1

    @pytest.mark.slow
    def test_draws_are_those_of_the_conjugate_posterior(self):
        """N(y / 2, 1 / 2) with independent draws, for two data sets by one compilation."""
        posterior = ProgramPosterior(normal_program, ["pair", "mean"], draws=1000)
        for y in (-1.0, 3.0):
            values, divergences = posterior(np.array([y]), np.random.default_rng(1))
            assert divergences == 0
            assert values["pair"].shape == (1000, 2)
            np.testing.assert_array_equal(values["pair"], np.column_stack([values["mean"], -values["mean"]]))
            assert abs(values["mean"].mean() - y / 2) < 4 * math.sqrt(0.5 / 1000)
            assert abs(values["mean"].std() / math.sqrt(0.5) - 1) < 4 / math.sqrt(2 * 1000)
            centered = values["mean"] - y / 2
            assert abs((centered[1:] * centered[:-1]).mean() / 0.5) < 4 / math.sqrt(1000)
        assert len(posterior._programs._programs) == 1

    @pytest.mark.slow
    def test_arviz_draws_the_ranks(self):
        import arviz_plots as azp

        ranks = calibration_ranks(simulate_frequencies, dirichlet_posterior(1.0), 50, rng=1)
        drawn = azp.plot_ecdf_pit(ranks.to_datatree(), backend="none")
        assert drawn.viz["plot"].to_dataset()["frequencies"].sizes == {"frequencies_dim_0": 3}
