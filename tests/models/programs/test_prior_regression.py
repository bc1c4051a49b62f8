"""Prior by regression: the design and the density against NumPy and SciPy, and held-out records of a simulated law."""

import re

import arviz as az
import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytest
import xarray
from pymc.model.transform.conditioning import remove_value_transforms
from pytensor.compile.mode import Mode
from scipy import stats
from scipy.special import log_softmax, softmax

from foreknow.evaluation import pbc
from foreknow.models import (
    Categorical,
    ClassFrequencies,
    History,
    Numeric,
    RegressionDesign,
    RegressionPrior,
    Schema,
    View,
    prior_model,
)
from foreknow.models.knowledge.posterior_variable import posterior_draws
from foreknow.testing import check_prior

INTERPRETED = Mode("py", "fast_compile")
SCHEMA = Schema(
    {"age": Numeric(0, 99), "sex": Categorical(("f", "m")), "town": Categorical(tuple("xyz"))}, "result", tuple("abc")
)


@pytest.fixture(autouse=True)
def no_c_compiler(request):
    flags = {} if request.node.get_closest_marker("slow") else {"cxx": ""}
    with pytensor.config.change_flags(**flags):
        yield


def history_with(n, rng, views=1):
    """Records whose value depends on age and sex, not on the town."""
    parts = []
    for time_ in range(views):
        ages, sexes, towns = rng.integers(20, 80, n), rng.integers(2, size=n), rng.integers(3, size=n)
        logits = np.stack([np.zeros(n), (ages - 50) / 15, 1.5 * sexes - 0.5], axis=1)
        values = [rng.choice(3, p=row) for row in softmax(logits, axis=1)]
        columns = {
            "id": range(n),
            "age": ages,
            "sex": [("f", "m")[s] for s in sexes],
            "town": [tuple("xyz")[t] for t in towns],
        }
        parts.append(View(pd.DataFrame(columns | {"result": ["abc"[v] for v in values]}), SCHEMA, time_))
    return History(parts)


HISTORY = history_with(12, np.random.default_rng(0), views=2)
PEOPLE = HISTORY[1].people


class TestDesign:
    def test_columns_are_centered(self):
        design = RegressionDesign.fit(HISTORY)
        assert design.features == ("age", "sex f", "sex m", "town x", "town y", "town z")
        assert design.attribute_of.tolist() == [0, 1, 1, 2, 2, 2]
        rows = np.concatenate([design(view.people) for view in HISTORY])
        assert np.allclose(rows.mean(axis=0), 0)
        assert np.isclose(rows[:, 0].std(), 1)
        assert np.allclose(np.ptp(rows[:, 1:], axis=0), 1)

    def test_the_history_and_not_the_people_give_the_scale(self):
        design = RegressionDesign.fit(HISTORY, ("town", "age"))
        ages = np.concatenate([view.people.quasi_identifiers[:, 0] for view in HISTORY])
        assert design.features[-1] == "age"
        assert np.allclose(design(PEOPLE[:3])[:, -1], (PEOPLE.quasi_identifiers[:3, 0] - ages.mean()) / ages.std())

    def test_a_number_that_never_changes_has_a_column_of_zeros(self):
        frame = pd.DataFrame({"id": [1, 2], "age": 30, "sex": "f", "town": "x", "result": ["a", "b"]})
        rows = RegressionDesign.fit(History([View(frame, SCHEMA, 1)]))(PEOPLE)
        assert np.isfinite(rows).all()

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: RegressionDesign.fit(3), TypeError, "history is 3; it is a History"),
            (lambda: RegressionDesign.fit(HISTORY, "age"), TypeError, "attributes is 'age'; it is a tuple"),
            (
                lambda: RegressionDesign.fit(HISTORY, ["ages"]),
                ValueError,
                "'ages' is no quasi-identifier; there are age, sex, town",
            ),
            (lambda: RegressionDesign.fit(HISTORY, ["age", "age"]), ValueError, "stands twice"),
            (lambda: RegressionDesign.fit(HISTORY)(pbc()[0].people), ValueError, "'town' is missing in the people"),
            (lambda: RegressionDesign.fit(HISTORY)(3), TypeError, "people is 3; it is People"),
        ],
    )
    def test_each_fault_has_one_clear_error(self, call, error, message):
        with pytest.raises(error, match=re.escape(message)):
            call()


def coefficients_of(rng, draws=()):
    return rng.normal(size=(*draws, 3)), rng.normal(size=(*draws, 6, 3))


class TestPrior:
    DESIGN = RegressionDesign.fit(HISTORY)

    def test_a_row_is_the_softmax_of_its_logits(self):
        intercept, coefficients = coefficients_of(np.random.default_rng(1))
        prior = RegressionPrior(self.DESIGN, intercept, coefficients)
        expected = softmax(intercept + self.DESIGN(PEOPLE) @ coefficients, axis=1)
        assert np.allclose(prior(PEOPLE), expected)
        check_prior(prior, PEOPLE)

    def test_rows_are_averaged_over_draws_and_not_coefficients(self):
        intercept, coefficients = coefficients_of(np.random.default_rng(2), (7,))
        rows = softmax(intercept[:, None] + self.DESIGN(PEOPLE) @ coefficients, axis=-1)
        assert np.allclose(RegressionPrior(self.DESIGN, intercept, coefficients)(PEOPLE), rows.mean(axis=0))

    def tree(self, draws=(2, 5)):
        intercept, coefficients = coefficients_of(np.random.default_rng(3), draws)
        dims = {"intercept": ["value"], "coefficients": ["feature", "value"]}
        coords = {"feature": list(self.DESIGN.features), "value": list("abc")}
        return az.from_dict(
            {"posterior": {"intercept": intercept, "coefficients": coefficients}}, dims=dims, coords=coords
        )

    def test_it_keeps_the_draws_of_a_posterior(self):
        tree = self.tree()
        values = {
            name: tree.posterior[name].to_numpy().reshape(10, *tree.posterior[name].shape[2:])
            for name in tree.posterior
        }
        expected = RegressionPrior(self.DESIGN, values["intercept"], values["coefficients"])(PEOPLE)
        assert np.allclose(RegressionPrior.from_posterior(tree, self.DESIGN)(PEOPLE), expected)
        rows = [RegressionPrior.from_posterior(draw, self.DESIGN)(PEOPLE) for draw in posterior_draws(tree, 10)]
        assert np.allclose(np.mean(rows, axis=0), expected)
        assert len(RegressionPrior.from_posterior(tree, self.DESIGN, draws=3).intercept) == 3

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda _: RegressionPrior(3, 0, 0), TypeError, "design is 3; it is a RegressionDesign"),
            (
                lambda self: RegressionPrior(self.DESIGN, np.zeros(2), np.zeros((6, 3))),
                ValueError,
                "for 6 features and 3 values",
            ),
            (
                lambda self: RegressionPrior(self.DESIGN, np.zeros((0, 3)), np.zeros((0, 6, 3))),
                ValueError,
                "have the draws before",
            ),
            (lambda self: RegressionPrior.from_posterior(self.tree(), self.DESIGN, draws=0), ValueError, "draws is 0"),
            (
                lambda self: RegressionPrior.from_posterior(self.tree(), RegressionDesign.fit(HISTORY, ("age",))),
                ValueError,
                "those of the design age; give the design of the model",
            ),
            (
                lambda self: RegressionPrior.from_posterior(self.tree(), self.DESIGN, values=tuple("abd")),
                ValueError,
                "they differ in 'c'",
            ),
        ],
    )
    def test_each_fault_has_one_clear_error(self, call, error, message):
        with pytest.raises(error, match=re.escape(message)):
            call(self)


class TestModel:
    def test_the_density(self):
        rng = np.random.default_rng(4)
        model = remove_value_transforms(prior_model(HISTORY, scale=2.0))
        scale = rng.gamma(2.0, size=3)
        intercept, standardized = rng.normal(size=3), rng.normal(size=(6, 3))
        intercept -= intercept.mean()
        standardized -= standardized.mean(axis=1, keepdims=True)
        design = RegressionDesign.fit(HISTORY)
        coefficients = scale[design.attribute_of][:, None] * standardized
        expected = stats.halfnorm.logpdf(scale, scale=2.0).sum()
        for view in HISTORY:
            rows = log_softmax(intercept + design(view.people) @ coefficients, axis=1)
            expected += rows[np.arange(len(view)), view.sensitive].sum()
        # A normal density on the plane of sums 0 has one dimension less.
        for row, deviation in ((intercept, 2.5), *((each, 1.0) for each in standardized)):
            expected += stats.norm.logpdf(row, scale=deviation).sum() + np.log(np.sqrt(2 * np.pi) * deviation)
        point = {"intercept": intercept, "scale": scale, "standardized": standardized}
        assert np.isclose(float(model.compile_logp(mode=INTERPRETED)(point)), expected)

    def test_its_draws_are_read_by_the_prior(self):
        model = prior_model(HISTORY)
        names = ["intercept", "coefficients"]
        drawn = pm.sample_prior_predictive(
            4, model=model, var_names=names, random_seed=1, compile_kwargs={"mode": INTERPRETED}
        )
        tree = xarray.DataTree.from_dict({"posterior": drawn.prior.to_dataset()})
        prior = RegressionPrior.from_posterior(tree, RegressionDesign.fit(HISTORY))
        assert prior.coefficients.shape == (4, 6, 3)
        check_prior(prior, PEOPLE)

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: prior_model(HISTORY[0]), TypeError, "it is a History; make one by History"),
            (lambda: prior_model(HISTORY, ()), ValueError, "there are 0 attributes and 3 values"),
            (lambda: prior_model(HISTORY, scale=0), ValueError, "scale is 0; it is a positive finite number"),
        ],
    )
    def test_each_fault_has_one_clear_error(self, call, error, message):
        with pytest.raises(error, match=re.escape(message)):
            call()


def held_out(prior, history):
    """Mean log2 probability of the true values."""
    return np.mean(
        np.concatenate([np.log2(prior(view.people)[np.arange(len(view)), view.sensitive]) for view in history])
    )


class TestLimits:
    """One attribute with two values: separate frequencies with many records, one set of frequencies with a scale of nearly 0."""

    SHARES = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])

    def prior_of(self, records, scale):
        """Rows of a woman and of a man, learned from a corpus with exactly these shares in each sex."""
        counts = np.round(records * self.SHARES).astype(int)
        cells = [(sex, value) for sex in range(2) for value in range(3) for _ in range(counts[sex, value])]
        columns = {"id": range(len(cells)), "age": 40, "sex": [("f", "m")[sex] for sex, _ in cells], "town": "x"}
        view = View(pd.DataFrame(columns | {"result": ["abc"[value] for _, value in cells]}), SCHEMA, 1)
        corpus = History([view])
        model = prior_model(corpus, ["sex"], scale=scale)
        trace = pm.sample(
            500,
            model=model,
            chains=2,
            cores=1,
            random_seed=1,
            progressbar=False,
            nuts_sampler="pymc",
            target_accept=0.95,
        )
        regression = RegressionPrior.from_posterior(trace, RegressionDesign.fit(corpus, ["sex"]))
        return regression(view.people)[[0, -1]]

    @pytest.mark.slow
    def test_with_many_records_each_class_has_its_own_frequencies(self):
        """The prior moves a frequency by some 1 / n, and the sampler by sqrt(p (1 - p) / n / draws): .001 and .0005."""
        assert np.allclose(self.prior_of(2000, 1.0), self.SHARES, atol=0.005)

    @pytest.mark.slow
    def test_with_a_scale_of_nearly_zero_there_is_one_fit(self):
        """A coefficient of some 1e-4 moves no frequency by more than that; the intercepts are those of all records."""
        rows = self.prior_of(2000, 1e-4)
        assert np.allclose(rows[0], rows[1], atol=5e-4)
        assert np.allclose(rows, self.SHARES.mean(axis=0), atol=0.005)


@pytest.mark.slow
def test_few_records_of_many_attributes_are_predicted_better_than_by_cells():
    rng = np.random.default_rng(5)
    corpus, others = history_with(60, rng), history_with(4000, rng)
    trace = pm.sample(
        500,
        model=prior_model(corpus),
        chains=2,
        cores=1,
        random_seed=1,
        progressbar=False,
        nuts_sampler="pymc",
        target_accept=0.95,
    )
    regression = RegressionPrior.from_posterior(trace, RegressionDesign.fit(corpus))
    cells = ClassFrequencies.fit(corpus, {"age": 3, "sex": None, "town": None}, pseudo_count=1.0)
    assert held_out(regression, others) > held_out(cells, others) + 0.02
    scales = trace.posterior["scale"].mean(("chain", "draw"))
    assert float(scales.sel(attribute="town")) < float(scales.min("attribute")) + 1e-9


@pytest.mark.slow
def test_it_is_sampled_on_a_real_history():
    trace = pm.sample(
        1000,
        model=prior_model(pbc()),
        cores=1,
        chains=4,
        random_seed=1,
        progressbar=False,
        nuts_sampler="pymc",
        target_accept=0.95,
    )
    assert max(float(each.max()) for each in az.rhat(trace).data_vars.values()) < 1.01
    assert int(trace.sample_stats["diverging"].sum()) <= 4, "one in a thousand draws"
