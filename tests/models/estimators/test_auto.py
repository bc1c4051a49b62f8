"""Choice of an estimator for each group, and equality with the chosen estimator's answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from foreknow.models import Auto, BeliefPropagation, Exact, Omega, Problem, Sinkhorn, Status, SwapChain, TooLarge


def two_groups():
    """A group of three with two values (6 states), one of five with five (32 states), and one respondent outside."""
    prior = np.random.default_rng(1).dirichlet(np.ones(5), size=9)
    group = np.array([1, 0, 1, 0, 1, -1, 0, 1, 1])
    return Problem(prior, group, np.array([[1, 2, 0, 0, 0], [1, 1, 1, 1, 1]]))


def alone(problem, j):
    rows = np.flatnonzero(problem.group == j)
    return rows, Problem(problem.prior[rows], np.zeros(len(rows), int), problem.counts[j : j + 1])


@pytest.mark.parametrize(
    ("limit", "rule"),
    [
        (32, ["Exact", "Exact"]),
        (31, ["Exact", "Omega"]),
        (6, ["Exact", "Omega"]),
        (5, ["Omega", "Omega"]),
        (1, ["Omega", "Omega"]),
    ],
)
def test_the_limit_is_inclusive_and_the_rule_of_each_group_is_named(limit, rule):
    """Counted by hand: (1 + 1)(2 + 1) and 2^5."""
    posterior = Auto(limit, beyond=Omega())(two_groups())
    assert posterior.rule.tolist() == rule
    assert posterior.standard_error is None


@given(problem=problems(), limit=st.sampled_from([1, 4, 8, 16]))
def test_each_group_has_the_answer_of_its_rule(problem, limit):
    posterior = Auto(limit, beyond=Sinkhorn())(problem)
    for j, name in enumerate(posterior.rule):
        rows, part = alone(problem, j)
        rule = {"Exact": Exact(limit), "Sinkhorn": Sinkhorn()}[name]
        answer = rule(part)
        close = 1e-12 if name == "Exact" else 1e-8  # rows are normalized once more, and Sinkhorn stops at a tolerance
        assert np.allclose(posterior.probabilities[rows], answer.probabilities, rtol=0, atol=close)
        assert posterior.status[j] == answer.status[0]
        if name == "Sinkhorn":
            with pytest.raises(TooLarge):
                Exact(limit)(part)
    outside = problem.group < 0
    assert np.array_equal(posterior.probabilities[outside], problem.prior[outside])


def test_the_default_for_large_groups_is_belief_propagation():
    k = 40
    prior = np.random.default_rng(2).dirichlet(np.ones(k), size=k)
    problem = Problem(prior, np.zeros(k, int), np.ones((1, k), int))
    posterior = Auto()(problem)
    assert posterior.rule.tolist() == ["BeliefPropagation"]
    assert np.allclose(posterior.probabilities, BeliefPropagation()(problem).probabilities, rtol=0, atol=1e-9)


def test_equal_people_make_a_large_group_small():
    k = 40
    problem = Problem(np.full((k, k), 1 / k), np.zeros(k, int), np.ones((1, k), int))
    assert Auto()(problem).rule.tolist() == ["Exact"]


def test_what_a_sampler_reports_is_kept_and_nothing_is_doubted_where_it_was_not_asked():
    problem = two_groups()
    posterior = Auto(6, beyond=SwapChain(draws=20, chains=2, rng=np.random.default_rng(3)))(problem)
    rows, part = alone(problem, 1)
    sampled = SwapChain(draws=20, chains=2, rng=np.random.default_rng(3))(part)
    assert posterior.rule.tolist() == ["Exact", "SwapChain"]
    for name in ("probabilities", "standard_error", "ess", "rhat"):
        assert np.allclose(getattr(posterior, name)[rows], getattr(sampled, name), rtol=1e-9)
    assert (posterior.standard_error[rows] > 0).all()
    exact = problem.group == 0
    assert (posterior.standard_error[exact] == 0).all()
    assert np.isposinf(posterior.ess[exact]).all()
    assert (posterior.rhat[exact] == 1).all()


def test_every_group_reports_its_own_contradiction():
    prior = np.array([[1.0, 0.0], [1.0, 0.0]] * 2 + [[0.5, 0.5]])
    problem = Problem(prior, np.array([0, 0, 1, 1, 2]), np.array([[1, 1], [2, 0], [0, 1]]))
    posterior = Auto(2, beyond=BeliefPropagation())(problem)
    assert posterior.rule.tolist() == ["BeliefPropagation", "BeliefPropagation", "Exact"]
    assert posterior.status.tolist() == [Status.CONTRADICTED, Status.FINE, Status.FINE]


def crowd(k, sharpness=1.0, values=2):
    """One group of k members whose true values are drawn from their priors."""
    rng = np.random.default_rng(4)
    prior = rng.dirichlet(np.full(values, sharpness), size=k)
    truth = np.minimum((prior.cumsum(axis=1) < rng.random((k, 1))).sum(axis=1), values - 1)
    return Problem(prior, np.zeros(k, int), np.bincount(truth, minlength=values)[None])


class TestTheLawOfLargeNumbers:
    def test_a_group_of_a_hundred_thousand_is_scaled(self):
        problem = crowd(100_000)
        posterior = Auto()(problem)
        assert posterior.rule.tolist() == ["Sinkhorn"]
        assert np.allclose(posterior.probabilities, Sinkhorn()(problem).probabilities, rtol=0, atol=1e-9)
        assert 0 < posterior.error[0] < 1e-4

    @pytest.mark.parametrize(("pairs", "rule"), [(80, "Omega"), (79, "Sinkhorn")])
    def test_the_bound_on_pairs_is_inclusive(self, pairs, rule):
        """Forty members and two shown values of three: 80 pairs."""
        problem = crowd(40)
        wider = Problem(
            np.column_stack([problem.prior, np.zeros(40)]), problem.group, np.append(problem.counts, [[0]], 1)
        )
        posterior = Auto(limit=1, beyond=Omega(), pairs=pairs)(wider)
        assert posterior.rule.tolist() == [rule]
        assert np.isnan(posterior.error[0]) == (rule == "Omega")

    @pytest.mark.parametrize("values", [2, 3])
    @pytest.mark.parametrize("sharpness", [10.0, 1.0])
    def test_its_error_is_known_to_a_tenth(self, values, sharpness):
        """Against `Exact`, which can compute these groups."""
        for k in (100, 200):
            problem = crowd(k, sharpness, values)
            posterior = Auto(limit=1, pairs=1)(problem)
            error = np.abs(posterior.probabilities - Exact()(problem).probabilities).max()
            assert posterior.error[0] == pytest.approx(error, rel=0.1)

    def test_its_error_falls_as_one_over_the_size(self):
        found = [Auto(limit=1, pairs=1)(crowd(k, 10.0)).error[0] * k for k in (100, 1_000, 10_000, 100_000)]
        assert max(found) < 2 * min(found)

    def test_an_exact_group_has_no_error(self):
        assert Auto()(two_groups()).error.tolist() == [0, 0]


@pytest.mark.parametrize("pairs", [0, -3])
def test_fewer_pairs_than_one_are_refused(pairs):
    with pytest.raises(ValueError, match=f"pairs is {pairs}; it is a number of pairs of member and value, 1 or more"):
        Auto(pairs=pairs)


def test_without_groups_there_are_no_rules():
    assert Auto()(Problem(np.eye(2), np.array([-1, -1]), np.zeros((0, 2), int))).rule.tolist() == []


@pytest.mark.parametrize("limit", [0, -3])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(ValueError, match=f"limit is {limit}; it is a number of states of 32 bytes, from 1 to"):
        Auto(limit)
