"""Dirichlet knowledge against SciPy's Dirichlet and Beta distributions, and against its mean."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import history_of, view_of

from foreknow.models import (
    Adversary,
    Categorical,
    ClassFrequencies,
    Grouping,
    History,
    MarkovChain,
    Memory,
    Numeric,
    Release,
    Schema,
    View,
)
from foreknow.models.knowledge.dirichlet import DirichletChain, DirichletFrequencies

DRAWS = 4000
SIGMAS = 5
"""Every Monte Carlo estimate is held to five of its standard errors; a few hundred are looked at, with fixed seeds."""

CORPUS = [[0, 1, 1, 2], [1, 1], [2], [0, 2, 0]]
CLASSES = {"age": 3, "sex": None}


def history(seed):
    rng = np.random.default_rng(seed)
    schema = Schema({"age": Numeric(0, 60), "sex": Categorical(("f", "m"))}, "result", ("a", "b", "c"))
    columns = {"id": range(15), "age": rng.integers(0, 61, 15), "sex": rng.choice(["f", "m"], 15)}
    frame = pd.DataFrame(columns).assign(result=rng.choice(["a", "b", "c"], 15))
    return History([View(frame, schema, 0), View(frame[:9], schema, 1), View(frame[:4], schema, 2)])


def rows_of(knowledge):
    """The concentrations of every row, of a prior or of a chain's longest table."""
    table = knowledge.concentrations
    table = table[-1] if isinstance(table, tuple) else table
    return table.reshape(-1, table.shape[-1])


def kinds():
    rng = np.random.default_rng(0)
    return {
        "frequencies": DirichletFrequencies({"age": (30.0,)}, rng.gamma(2, 2, size=(2, 4))),
        "sharp frequencies": DirichletFrequencies({"age": (30.0,)}, rng.gamma(2, 100, size=(2, 3))),
        "chain": DirichletChain(tuple(rng.gamma(2, 2, size=(3,) * (d + 1)) for d in (1, 2))),
    }


@pytest.fixture(params=kinds())
def knowledge(request):
    return kinds()[request.param]


class TestMoments:
    def test_are_those_of_scipy(self, knowledge):
        rows = rows_of(knowledge)
        assert np.allclose(knowledge.mean.probabilities.reshape(rows.shape), [stats.dirichlet.mean(a) for a in rows])
        variances = [stats.dirichlet.var(a) for a in rows]
        assert np.allclose(knowledge.standard_deviation.reshape(rows.shape) ** 2, variances)

    @pytest.mark.parametrize("mass", [0.5, 0.95])
    def test_intervals_have_equal_tails(self, knowledge, mass):
        rows = rows_of(knowledge)
        marginal = stats.beta(rows, rows.sum(axis=1, keepdims=True) - rows)
        low, high = (end.reshape(rows.shape) for end in knowledge.interval(mass))
        assert np.allclose(marginal.cdf(low), (1 - mass) / 2)
        assert np.allclose(marginal.sf(high), (1 - mass) / 2)

    def test_a_domain_of_one_value_is_sure(self):
        knowledge = DirichletFrequencies({}, np.array([3.0]))
        assert [end.tolist() for end in knowledge.interval()] == [[1.0], [1.0]]
        assert knowledge.standard_deviation.tolist() == [0.0]

    @pytest.mark.parametrize("mass", [0, 1, -0.1, 95, float("nan")])
    def test_a_mass_that_is_none_is_one_clear_error(self, knowledge, mass):
        with pytest.raises(ValueError, match=f"mass is {mass}; .*from 0 to 1, but not 0 or 1"):
            knowledge.interval(mass)


class TestSample:
    def test_has_the_mean_and_the_variance(self, knowledge):
        """The errors of N draws' mean and variance have the variances v / N and about (mu_4 - v^2) / N."""
        rng = np.random.default_rng(1)
        rows = rows_of(knowledge)
        draws = np.array([knowledge.sample(rng=rng).probabilities for _ in range(DRAWS)]).reshape(DRAWS, *rows.shape)
        marginal = stats.beta(rows, rows.sum(axis=1, keepdims=True) - rows)
        v = marginal.var()
        fourth = (marginal.stats(moments="k") + 3) * v**2
        assert (np.abs(draws.mean(axis=0) - marginal.mean()) < SIGMAS * np.sqrt(v / DRAWS)).all()
        assert (np.abs(draws.var(axis=0) - v) < SIGMAS * np.sqrt((fourth - v**2) / DRAWS)).all()

    def test_values_of_a_row_are_correlated_as_in_scipy(self):
        """The error of a covariance of N draws has about the variance (v_i v_j + c^2) / N, or less than twice that."""
        a = np.array([2.0, 3.0, 5.0])
        rng = np.random.default_rng(2)
        draws = np.array([DirichletFrequencies({}, a).sample(rng=rng).probabilities for _ in range(DRAWS)])
        expected = stats.dirichlet.cov(a)
        v = np.diag(expected)
        allowed = SIGMAS * np.sqrt(2 * (np.outer(v, v) + expected**2) / DRAWS)
        assert (np.abs(np.cov(draws.T) - expected) < allowed).all()

    @pytest.mark.parametrize("concentration", [1e-3, 0.3])
    def test_small_concentrations_give_sharp_rows_and_not_nothing(self, concentration):
        """The share of draws under a bound is that of the Beta marginal, within its binomial error."""
        knowledge = DirichletFrequencies({}, np.full(3, concentration))
        rng = np.random.default_rng(3)
        draws = np.array([knowledge.sample(rng=rng).probabilities for _ in range(DRAWS)])
        for bound in (1e-100, 1e-6, 0.1, 0.5, 1 - 1e-6):
            share = stats.beta(concentration, 2 * concentration).cdf(bound)
            error = np.sqrt(share * (1 - share) / DRAWS)
            assert (np.abs((draws < bound).mean(axis=0) - share) <= SIGMAS * error + 1e-12).all()

    def test_is_knowledge(self, knowledge):
        """Constructors refuse other arrays; rows and tables keep their shapes."""
        drawn = knowledge.sample(rng=np.random.default_rng(4))
        assert isinstance(drawn, type(knowledge.mean))
        assert drawn.probabilities.shape == knowledge.mean.probabilities.shape
        assert np.allclose(drawn.probabilities.sum(axis=-1), 1)
        if isinstance(drawn, MarkovChain):
            assert [table.shape for table in drawn.tables] == [table.shape for table in knowledge.mean.tables]

    def test_depends_on_the_generator_alone(self, knowledge):
        one, two = (knowledge.sample(rng=np.random.default_rng(5)).probabilities for _ in range(2))
        assert np.array_equal(one, two)


class TestFrequencies:
    @given(seed=st.integers(0, 10**6), concentration=st.sampled_from([0.01, 1.0, 7.0]))
    def test_the_mean_is_the_point_with_pseudo_counts(self, seed, concentration):
        corpus = history(seed)
        point = ClassFrequencies.fit(corpus, CLASSES, pseudo_count=concentration)
        knowledge = DirichletFrequencies.fit(corpus, CLASSES, concentration)
        assert knowledge.cuts == point.cuts
        assert np.allclose(knowledge.mean.probabilities, point.probabilities, rtol=1e-12)
        assert np.allclose(knowledge(corpus[0].people), point(corpus[0].people), rtol=1e-12)

    def test_concentrations_are_counts_and_the_prior_s(self):
        """Three bands of age: 0 to 33, 33 to 66, 66 to 99."""
        corpus = History([view_of("ABCDE", "aabca", ages=[10, 20, 30, 40, 90])])
        knowledge = DirichletFrequencies.fit(corpus, {"age": 3}, concentration=0.5)
        assert knowledge.concentrations.tolist() == [[2.5, 1.5, 0.5], [0.5, 0.5, 1.5], [1.5, 0.5, 0.5]]

    @pytest.mark.parametrize(
        ("table", "match"),
        [
            (np.ones((2, 3)), r"the cuts make classes \(3,\)"),
            ([[1, 1], [1, 0], [1, 1]], r"the concentration of value 1 in class \(1,\) is 0; .*positive"),
            ([[1, 1], [1, 1], [np.nan, 1]], r"the concentration of value 0 in class \(2,\) is nan"),
            ([[1, 1], [1, 1], [np.inf, 1]], "is inf"),
        ],
    )
    def test_bad_tables_are_one_clear_error(self, table, match):
        with pytest.raises(ValueError, match=match):
            DirichletFrequencies({"age": (20.0, 40.0)}, np.array(table))


class TestChain:
    @given(order=st.integers(1, 3), concentration=st.sampled_from([0.01, 1.0, 7.0]))
    def test_the_mean_is_the_point_with_pseudo_counts(self, order, concentration):
        point = MarkovChain.fit(CORPUS, order, pseudo_count=concentration)
        knowledge = DirichletChain.fit(CORPUS, order, concentration)
        assert knowledge.order == knowledge.mean.order == order
        assert knowledge.values == 3
        for ours, table in zip(knowledge.at(4).tables, point.tables, strict=True):
            assert np.allclose(ours, table, rtol=1e-12)

    def test_concentrations_are_counts_and_the_prior_s(self):
        """0 is followed by 1, 2; 1 by 1, 1, 2; 2 by 0; then 01 by 1, 11 by 2, 02 by 0."""
        knowledge = DirichletChain.fit(iter(CORPUS), order=2, concentration=0.5)
        assert knowledge.concentrations[0].tolist() == [[0.5, 1.5, 1.5], [0.5, 2.5, 1.5], [1.5, 0.5, 0.5]]
        expected = np.full((3, 3, 3), 0.5)
        for run in ((0, 1, 1), (1, 1, 2), (0, 2, 0)):
            expected[run] += 1
        assert np.array_equal(knowledge.concentrations[1], expected)

    def test_a_history_is_its_people_s_records(self):
        corpus = history_of(("AB", "ab"), ("AC", "bc"), ("BCA", "acb"))
        expected = DirichletChain.fit([[0, 1, 1], [1, 0], [2, 2]])
        assert np.array_equal(DirichletChain.fit(corpus).concentrations[0], expected.concentrations[0])

    def test_truncate_looks_back_less(self):
        knowledge = DirichletChain.fit(CORPUS, order=3)
        two = knowledge.truncate(2)
        assert two.order == 2
        assert np.array_equal(two.concentrations[1], knowledge.concentrations[1])
        assert knowledge.truncate(9).order == 3
        with pytest.raises(ValueError, match="steps is 0; it is a number of past values"):
            knowledge.truncate(0)

    @pytest.mark.parametrize(
        ("tables", "match"),
        [
            ((), r"needs a table for sequences of 1, 2, \.\.\., order values.*got \[\]"),
            ((np.ones((2, 3)),), r"got \[\(2, 3\)\]"),
            ((np.ones((2, 2, 2)),), r"got \[\(2, 2, 2\)\]"),
            ((np.ones((2, 2)), np.ones((3, 3, 3))), "needs a table"),
            ((np.array([[1.0, 1], [-2, 1]]),), r"the concentration of value 0 in the sequence \(1,\) is -2"),
        ],
    )
    def test_bad_tables_are_one_clear_error(self, tables, match):
        with pytest.raises(ValueError, match=match):
            DirichletChain(tables)

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"order": 0}, "order is 0; it is a number of past values"),
            ({"values": 2}, "the sequences hold 2"),
            ({"order": 40}, "smaller order"),
        ],
    )
    def test_what_cannot_be_counted_is_one_clear_error(self, settings, match):
        with pytest.raises(ValueError, match=match):
            DirichletChain.fit(CORPUS, **settings)


@pytest.mark.parametrize("concentration", [0, -1, float("nan"), float("inf")])
def test_a_concentration_that_is_not_positive_is_one_clear_error(concentration):
    for fit in (
        lambda: DirichletFrequencies.fit(history(0), CLASSES, concentration),
        lambda: DirichletChain.fit(CORPUS, 1, concentration),
    ):
        with pytest.raises(ValueError, match=f"concentration is {concentration}; .*positive finite number"):
            fit()


def test_an_adversary_reasons_with_the_mean():
    corpus = history(0)
    uncertain = Adversary(DirichletFrequencies.fit(corpus, CLASSES), DirichletChain.fit(corpus, order=2))
    point = Adversary(ClassFrequencies.fit(corpus, CLASSES, 1.0), MarkovChain.fit(corpus, 2, pseudo_count=1.0))
    memories = [Memory(), Memory()]
    for view in corpus:
        observation = Release(view, Grouping(np.arange(len(view)) // 3)).observation
        (ours, mine), (theirs, other) = (
            adversary.observe(memory, observation)
            for adversary, memory in zip((uncertain, point), memories, strict=True)
        )
        assert np.allclose(ours.probabilities, theirs.probabilities)
        memories = [mine, other]
