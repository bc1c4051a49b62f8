"""Log-probability of published multisets, against enumeration, whole numbers and finite differences."""

import itertools
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import oracle
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import given
from pytensor.compile.mode import Mode
from pytensor.gradient import NullTypeGradError, verify_grad
from strategies import problems

from foreknow.models import Exact, TooLarge
from foreknow.models.programs.log_permanent import LogPermanent, called_weights_and_beliefs, weights_and_beliefs

PYTHON = Mode(linker="py", optimizer=None)
"""No compilation: `perform` computes the numbers."""


def weight_by_enumeration(prior, counts):
    """Sum over all distinct assignments of the values to the members."""
    shown = np.repeat(np.arange(len(counts)), counts)
    return sum(math.prod(prior[i][s] for i, s in enumerate(way)) for way in set(itertools.permutations(shown.tolist())))


def numbers(prior, group, counts, row=None):
    """Log-weights and beliefs, computed without PyTensor."""
    with np.errstate(divide="ignore"):
        log_prior = np.log(np.asarray(prior, float))
    return weights_and_beliefs(log_prior, np.asarray(counts), *LogPermanent(group, row).layout())


class TestNumbers:
    @given(problem=problems())
    def test_value_and_belief_are_those_of_enumeration(self, problem):
        weight, belief = numbers(problem.prior, problem.group, problem.counts)
        for j, counts in enumerate(problem.counts):
            rows = problem.group == j
            expected = weight_by_enumeration(problem.prior[rows], counts)
            assert np.isclose(np.exp(weight[j]), expected, rtol=1e-10, atol=0)
            posterior = oracle.product_posterior(problem.prior[rows], counts)
            assert np.allclose(belief[rows], 0 if posterior is None else posterior, atol=1e-12)
            assert (weight[j] == -np.inf) == (posterior is None)
        assert np.allclose(belief[problem.group < 0], problem.prior[problem.group < 0])

    @given(problem=problems())
    def test_named_rows_change_nothing(self, problem):
        """The result is the same with a row per kind and with a row per respondent."""
        kinds, row = np.unique(problem.prior, axis=0, return_inverse=True)
        weight, belief = numbers(problem.prior, problem.group, problem.counts)
        by_kind = numbers(kinds, problem.group, problem.counts, row)
        assert np.allclose(by_kind[0], weight, rtol=1e-12, atol=1e-12)
        assert np.allclose(by_kind[1], belief, atol=1e-12)

    @given(problem=problems(possible=True))
    def test_the_same_belief_as_exact(self, problem):
        belief = numbers(problem.prior, problem.group, problem.counts)[1]
        assert np.allclose(belief, Exact()(problem).probabilities, atol=1e-12)

    @pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-30, 1e-300])
    def test_sixty_people_and_two_values_in_whole_numbers(self, small):
        """Priors with a product that has few digits left or underflows: 1e-300 to the power of 59."""
        rng = np.random.default_rng(3)
        k, shown = 60, [1, 59]
        exact = [(1 - Fraction(small) * int(w), Fraction(small) * int(w)) for w in rng.integers(1, 9, size=k)]
        weight, belief = numbers([[float(p) for p in row] for row in exact], [0] * k, [shown])
        one_has_it = sum(row[0] * math.prod(other[1] for other in exact if other is not row) for row in exact)
        expected = math.log(one_has_it.numerator) - math.log(one_has_it.denominator)
        assert np.isclose(weight[0], expected, rtol=1e-12)
        assert np.allclose(belief, oracle.exact_posterior(exact, shown), rtol=1e-9)

    def test_what_vanishes_on_the_way_is_found_again(self):
        """The forward pass needs states 1e-400 as likely as others that have no continuation."""
        prior = [[1, 1e-20]] * 20 + [[1, 0]] * 20
        weight, belief = numbers(prior, [0] * 40, [[20, 20]])
        assert np.isclose(weight[0], 20 * math.log(1e-20))
        assert np.allclose(belief, [[0, 1]] * 20 + [[1, 0]] * 20)

    def test_more_ways_than_numbers(self):
        """1e330 sequences, for 1100 members with equal rows that are not named as equal."""
        weight, belief = numbers([[0.5, 0.5]] * 1100, [0] * 1100, [[550, 550]])
        assert np.isclose(weight[0], math.lgamma(1101) - 2 * math.lgamma(551) - 1100 * math.log(2))
        assert np.allclose(belief, 0.5)

    def test_a_thousand_alike_have_the_binomial(self):
        weight, belief = numbers([[0.2, 0.5, 0.3]], [0] * 1000, [[150, 550, 300]], [0] * 1000)
        orders = math.lgamma(1001) - sum(math.lgamma(c + 1) for c in (150, 550, 300))
        assert np.isclose(weight[0], orders + 150 * math.log(0.2) + 550 * math.log(0.5) + 300 * math.log(0.3))
        assert np.allclose(belief, [0.15, 0.55, 0.3])

    @pytest.mark.parametrize("counts", [[[1, 1, 1]], [[3, 0, 0], [0, 1, 0]], [[3, 0, -1]]])
    def test_counts_of_another_size_are_impossible(self, counts):
        weight, belief = numbers(np.full((2, 3), 1 / 3), [0, 0], counts)
        assert (weight == -np.inf).all()
        assert (belief == 0).all()

    def test_an_empty_group_is_certain(self):
        weight, _ = numbers([[0.5, 0.5]], [1], [[0, 0], [1, 0], [0, 0]])
        assert np.allclose(weight, [0, math.log(0.5), 0])

    def test_no_number_gives_no_number(self):
        weight, _ = numbers([[np.nan, 0.5], [0.5, 0.5]], [0, 0], [[1, 1]])
        assert np.isnan(weight).all()

    def test_through_the_address_and_from_any_layout(self):
        rng = np.random.default_rng(4)
        log_prior, counts = np.log(rng.dirichlet(np.ones(3), size=8)), np.array([[2, 1, 1], [0, 3, 1]])
        layout = LogPermanent([0, 1] * 4).layout()
        expected = weights_and_beliefs(log_prior, counts, *layout)
        found = called_weights_and_beliefs(np.asfortranarray(log_prior), np.asfortranarray(counts), *layout)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


class TestOperation:
    group, row = (0, 1, 0, -1, 1, 1), (0, 1, 1, 2, 2, 0)
    counts = np.array([[1, 1, 0], [1, 1, 1]])

    def test_gradient_is_that_of_finite_differences(self):
        rng = np.random.default_rng(5)
        log_prior = np.log(rng.dirichlet(np.ones(3), size=3))
        verify_grad(
            lambda x: LogPermanent(self.group, self.row)(x, self.counts), [log_prior], rng=rng, mode=PYTHON, eps=1e-6
        )

    def test_compiled_value_belief_and_gradient(self):
        """The gradient sums the beliefs of respondents who share a row; an impossible pair has gradient 0."""
        operation, x = LogPermanent(self.group, self.row), pt.dmatrix()
        weight, belief = operation(x, self.counts), operation.belief(x, self.counts)
        weighed = (weight * np.array([2.0, 3.0])).sum()
        function = pytensor.function([x], [weight, belief, pt.grad(weighed, x)], on_unused_input="raise")
        prior = np.array([[0.6, 0.4, 0.0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
        with np.errstate(divide="ignore"):
            found = function(np.log(prior))
        people = prior[list(self.row)]
        expected = np.zeros_like(prior)
        for j, factor in enumerate((2, 3)):
            rows = [i for i, of in enumerate(self.group) if of == j]
            posterior = oracle.product_posterior(people[rows], self.counts[j])
            assert np.isclose(np.exp(found[0][j]), weight_by_enumeration(people[rows], self.counts[j]))
            assert np.allclose(found[1][rows], posterior)
            np.add.at(expected, [self.row[i] for i in rows], factor * posterior)
        assert np.allclose(found[2], expected)
        assert np.allclose(found[1][3], prior[2])

    def test_impossible_groups_have_no_gradient(self):
        x = pt.dmatrix()
        weight = LogPermanent([0, 0])(x, [[1, 1]])
        log_prior = np.array([[0.0, -np.inf], [0.0, -np.inf]])
        assert weight.eval({x: log_prior}, mode=PYTHON) == [-np.inf]
        assert (pt.grad(weight.sum(), x).eval({x: log_prior}, mode=PYTHON) == 0).all()

    def test_no_gradient_of_the_posterior(self):
        x = pt.dmatrix()
        with pytest.raises(NullTypeGradError, match="the gradient of the posterior; only that of the log-probability"):
            pt.grad(LogPermanent([0, 0]).belief(x, [[1, 1]]).sum(), x)

    def test_equal_by_settings(self):
        assert LogPermanent([0, 0, 1]) == LogPermanent(np.array([0, 0, 1]), [0, 1, 2])
        assert hash(LogPermanent([0, 0, 1])) == hash(LogPermanent((0, 0, 1)))
        assert LogPermanent([0, 0, 1]) != LogPermanent([0, 1, 1])
        assert LogPermanent([0, 0]) != LogPermanent([0, 0], [0, 0])
        assert pickle.loads(pickle.dumps(LogPermanent([0, 1]))) == LogPermanent([0, 1])

    def test_counts_may_be_unknown_until_it_runs(self):
        counts = pt.lmatrix()
        weight = LogPermanent([0, 0])(np.log([[0.9, 0.1], [0.4, 0.6]]), counts)
        assert np.allclose(np.exp(weight.eval({counts: [[1, 1]]}, mode=PYTHON)), 0.58)
        assert np.allclose(np.exp(weight.eval({counts: [[2, 0]]}, mode=PYTHON)), 0.36)


class TestRefused:
    def test_too_large_groups(self):
        k = 30
        counts = np.vstack([np.eye(k, dtype=int)[0] * 2, np.ones((1, k), int)])
        group = [0, 0, *[1] * k]
        message = "group 1 has 30 respondents and 1.07e+09 states, more than the limit of 4194304"
        for kind in (np.int64, np.int8):
            with pytest.raises(TooLarge, match=re.escape(message)):
                LogPermanent(group)(np.zeros((k + 2, k)), counts.astype(kind))
        alike = LogPermanent(group, [0] * (k + 2))(np.zeros((1, k)), counts)
        assert np.isclose(alike.eval(mode=PYTHON)[1], math.lgamma(k + 1))

    def test_the_limit_is_a_setting(self):
        prior, counts = np.log(np.full((3, 2), 0.5)), [[1, 2]]
        assert np.isclose(np.exp(LogPermanent([0] * 3, limit=6)(prior, counts).eval(mode=PYTHON)), 3 / 8)
        with pytest.raises(TooLarge, match="3 respondents and 6 states, more than the limit of 5"):
            LogPermanent([0] * 3, limit=5)(prior, counts)

    def test_rows_of_other_people(self):
        with pytest.raises(ValueError, match="2 respondents by their groups and 3 by their rows"):
            LogPermanent([0, 0], [0, 1, 2])
        with pytest.raises(ValueError, match="the group -2 or row 0; groups go from -1"):
            LogPermanent([0, -2])
        with pytest.raises(ValueError, match="the group 0 or row -1; groups go from -1"):
            LogPermanent([0, 0], [0, -1])

    def test_counts_that_lack_a_group_or_are_no_whole_numbers(self):
        with pytest.raises(ValueError, match="there are 2 groups and counts of 1"):
            LogPermanent([0, 1])(np.zeros((2, 2)), [[1, 0]])
        with pytest.raises(TypeError, match="counts are float64"):
            LogPermanent([0, 0])(np.zeros((2, 2)), [[1.0, 1.0]])

    def test_rows_and_groups_that_are_not_there_when_it_runs(self):
        log_prior, counts = pt.dmatrix(), pt.lmatrix()
        weight = LogPermanent([0, 1])(log_prior, counts)
        with pytest.raises(ValueError, match="row is not in the log-prior"):
            weight.eval({log_prior: np.zeros((1, 2)), counts: [[1, 0], [0, 1]]}, mode=PYTHON)
        with pytest.raises(ValueError, match="counts need a row for every group"):
            weight.eval({log_prior: np.zeros((2, 2)), counts: [[1, 0]]}, mode=PYTHON)


def test_code_that_pytensor_keeps_is_of_one_state_of_the_sources(monkeypatch):
    from pytensor.link.numba.dispatch.basic import numba_funcify_and_cache_key

    permanent, keys = LogPermanent([0, 0]), []
    node = permanent.make_node(np.zeros((2, 2)), np.array([[1, 1]]))
    for version in (1, 1, 2):
        monkeypatch.setattr("foreknow.models.programs.log_permanent.CODE_VERSION", version)
        keys.append(numba_funcify_and_cache_key(permanent, node=node)[1])
    assert keys[0] == keys[1] != keys[2]
