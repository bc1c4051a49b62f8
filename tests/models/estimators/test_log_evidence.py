"""Log-probability of published multisets, against enumeration of all values."""

import itertools

import numpy as np
import pytest

from foreknow.models import Problem
from foreknow.models.estimators.exact import log_evidence


def enumerated(prior, counts):
    """Probability of a multiset as the sum over all values of independent members."""
    k, m = prior.shape
    return sum(
        np.prod([prior[i, s] for i, s in enumerate(values)])
        for values in itertools.product(range(m), repeat=k)
        if (np.bincount(values, minlength=m) == counts).all()
    )


def drawn_group(rng, k, m):
    prior = rng.dirichlet(np.ones(m), k)
    values = [rng.choice(m, p=row) for row in prior]
    return prior, np.bincount(values, minlength=m)


class TestLogEvidence:
    @pytest.mark.parametrize("seed", range(10))
    def test_small_groups_are_those_of_enumeration(self, seed):
        rng = np.random.default_rng(seed)
        groups = [drawn_group(rng, int(rng.integers(1, 6)), 3) for _ in range(4)]
        group = np.repeat(np.arange(4), [len(prior) for prior, _ in groups])
        problem = Problem(np.concatenate([p for p, _ in groups]), group, np.array([c for _, c in groups]))
        wanted = [np.log(enumerated(prior, counts)) for prior, counts in groups]
        assert log_evidence(problem) == pytest.approx(wanted, abs=1e-9)

    def test_the_saddle_point_approaches_the_sum_in_large_groups(self):
        rng = np.random.default_rng(5)
        errors = []
        for k in (10, 40, 160):
            prior, counts = drawn_group(rng, k, 3)
            problem = Problem(prior, np.zeros(k, dtype=int), counts[None])
            errors.append(abs(log_evidence(problem, limit=1) - log_evidence(problem, limit=2**22))[0])
        assert errors[0] < 0.15
        assert errors[2] < 0.01

    def test_records_outside_groups_and_empty_groups_have_no_effect(self):
        problem = Problem(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([-1, 1]), np.array([[0, 0], [0, 1]]))
        assert log_evidence(problem) == pytest.approx([0.0, np.log(0.6)])

    def test_impossible_counts_are_finite_and_small(self):
        problem = Problem(np.array([[1.0, 0.0]]), np.array([0]), np.array([[0, 1]]))
        assert -40 < log_evidence(problem)[0] < -20

    def test_certain_beliefs_of_a_large_group_have_a_probability_of_at_most_one(self):
        problem = Problem(np.eye(3)[[0, 1, 2, 0]], np.zeros(4, dtype=int), np.array([[2, 1, 1]]))
        assert log_evidence(problem, limit=1)[0] == pytest.approx(0.0, abs=1e-6)
