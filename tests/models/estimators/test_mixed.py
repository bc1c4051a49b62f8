"""Estimator of BayFrame's experiments: the size of large groups, and the effect of evidence in them."""

import dataclasses

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from foreknow.models import (
    DirichletMultinomial,
    Exact,
    Mixed,
    Omega,
    PosteriorCascade,
    PriorCascade,
    Problem,
    Sinkhorn,
    SwapChain,
)
from foreknow.models.knowledge.compromised_records import Claims


def by_hand(prior, counts, evidence, size, drop):
    """Beliefs of a group: the Dirichlet rule up to a size, above it the Omega-estimate of priors with evidence."""
    if len(prior) <= size:
        return oracle.dirichlet_posterior(prior, counts, evidence=evidence)
    with_evidence = prior if drop else (prior + evidence) / (1 + evidence.sum(axis=1, keepdims=True))
    return oracle.omega_posterior(with_evidence, counts)


@given(problem=problems(possible=True), size=st.integers(0, 5), drop=st.booleans(), data=st.data())
def test_each_group_has_its_rule_and_evidence_is_read_as_said(problem, size, drop, data):
    shape = problem.prior.shape
    entries = st.sampled_from([0.0, 0.0, 0.5, 0.95])
    evidence = np.array(data.draw(st.lists(entries, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])))
    evidence = evidence.reshape(shape)
    told = dataclasses.replace(problem, evidence=evidence)
    found = Mixed(size=size, evidence="drop" if drop else "prior")(told)
    for j, counts in enumerate(problem.counts):
        rows = np.flatnonzero(problem.group == j)
        assert found.rule[j] == ("DirichletMultinomial" if len(rows) <= size else "Omega")
        expected = by_hand(problem.prior[rows], counts, evidence[rows], size, drop)
        assert np.allclose(found.probabilities[rows], expected, rtol=1e-9, atol=1e-12)
    outside = problem.group < 0
    assert np.array_equal(found.probabilities[outside], told.prior[outside])


def test_the_default_is_bayframe_s_with_groups_of_eight():
    assert Mixed() == Mixed(DirichletMultinomial(), Omega(), 8, "drop")
    prior = np.random.default_rng(1).dirichlet(np.ones(2), size=17)
    group = np.repeat([0, 1], [8, 9])
    found = Mixed()(Problem(prior, group, np.array([[4, 4], [4, 5]])))
    assert found.rule.tolist() == ["DirichletMultinomial", "Omega"]


class TestDefinition6:
    """Nine members and two values; a claim gives the first b with confidence .9, and its prior favours a."""

    PROBLEM = Problem(np.array([[0.8, 0.2]] + [[0.5, 0.5]] * 8), np.zeros(9, int), np.array([[4, 5]]))
    CLAIM = Claims(np.array([0]), np.array([1]), np.array([0.9]))

    def belief(self, cascade, estimator, claims=CLAIM):
        prior = cascade.revise(self.PROBLEM.prior, claims)
        problem = Problem(prior, self.PROBLEM.group, self.PROBLEM.counts)
        return cascade.posterior(problem, claims, estimator).probabilities[0, 1]

    def test_says_nothing_in_a_large_group(self):
        untold = Omega()(self.PROBLEM).probabilities[0, 1]
        assert self.belief(PosteriorCascade(), Mixed()) == pytest.approx(untold)

    def test_is_said_by_the_prior_where_that_is_asked_for(self):
        """(.8, .2 + .9) / 1.9; columns then sum to .8 / 1.9 + 4 and 1.1 / 1.9 + 4."""
        a, b = 4 * (0.8 / 1.9) / (0.8 / 1.9 + 4), 5 * (1.1 / 1.9) / (1.1 / 1.9 + 4)
        assert self.belief(PosteriorCascade(), Mixed(evidence="prior")) == pytest.approx(b / (a + b))

    def test_the_prior_cascade_says_more_either_way(self):
        """By Equation 5 the prior of b is .9 + .1 * .2, for nine members as for any other number."""
        told = [self.belief(PriorCascade(), Mixed(evidence=word)) for word in ("drop", "prior")]
        assert told[0] == told[1] > self.belief(PosteriorCascade(), Mixed(evidence="prior")) + 0.2

    def test_counts_in_a_small_group_as_without_large_ones(self):
        alone = self.belief(PosteriorCascade(), DirichletMultinomial())
        assert self.belief(PosteriorCascade(), Mixed(size=9)) == pytest.approx(alone)

    def test_the_size_is_that_of_the_rest_of_a_group(self):
        """A record of confidence 1 is removed, so eight of nine members are left."""
        problem, sure = self.PROBLEM, Claims(np.array([8]), np.array([0]), np.array([1.0]))
        found = PosteriorCascade().posterior(problem, sure, Mixed())
        assert found.rule.tolist() == ["DirichletMultinomial"]

    def test_a_small_estimator_that_cannot_read_it_refuses_it(self):
        told = dataclasses.replace(self.PROBLEM, evidence=np.zeros((9, 2)))
        with pytest.raises(ValueError, match=r"has evidence .*Exact.* cannot read it"):
            Mixed(small=Exact())(told)


def test_what_a_sampler_reports_is_kept():
    prior = np.random.default_rng(2).dirichlet(np.ones(3), size=9)
    problem = Problem(prior, np.repeat([0, 1], [5, 4]), np.array([[2, 2, 1], [2, 1, 1]]))
    found = Mixed(Sinkhorn(), SwapChain(draws=8, chains=2, rng=np.random.default_rng(1)), size=4)(problem)
    assert found.rule.tolist() == ["SwapChain", "Sinkhorn"]
    assert (found.standard_error[:5] > 0).any()
    assert (found.standard_error[5:] == 0).all()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"size": -1}, ValueError, r"size is -1; it is a number of members, 0 or more"),
        ({"size": 2.5}, ValueError, r"size is 2\.5"),
        ({"size": True}, ValueError, r"size is True"),
        ({"evidence": "ignore"}, ValueError, r"evidence is 'ignore'; it is one of 'drop', 'prior'"),
        (
            {"small": DirichletMultinomial},
            TypeError,
            r"small is the class DirichletMultinomial; it is an estimator object",
        ),
        ({"large": Omega}, TypeError, r"large is the class Omega"),
    ],
)
def test_bad_settings_are_one_clear_error(settings, error, message):
    with pytest.raises(error, match=message):
        Mixed(**settings)
