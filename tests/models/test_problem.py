"""Checks of the arguments of a problem."""

import numpy as np
import pytest

from foreknow.models import Posterior, Problem

HALF = np.full((2, 2), 0.5)
PAIR = np.array([0, 0])
BOTH = np.array([[1, 1]])


def test_it_normalizes_within_the_tolerance_and_keeps_its_arguments():
    prior = np.array([[0.5, 0.5 + 5e-7], [0.3, 0.7]])
    problem = Problem(prior, PAIR, BOTH)
    assert np.array_equal(prior, [[0.5, 0.5 + 5e-7], [0.3, 0.7]])
    assert np.abs(problem.prior.sum(axis=1) - 1).max() < 1e-15
    assert problem.sizes.tolist() == [2]


def test_arrays_in_any_order_are_kept_in_one():
    """Kernels are compiled for each order of an array."""
    prior = np.asfortranarray([[0.5, 0.5], [0.9, 0.1]])
    problem = Problem(prior, [0, 0], np.asfortranarray([[1, 1], [0, 0]]), np.asfortranarray(np.ones((2, 2))))
    assert all(array.flags.c_contiguous for array in (problem.prior, problem.counts, problem.evidence))


def test_empty_groups_and_no_respondents_are_valid():
    assert Problem(HALF, np.array([-1, -1]), np.zeros((0, 2), int)).sizes.tolist() == []
    assert Problem(HALF, PAIR, np.array([[1, 1], [0, 0]])).sizes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("prior", "group", "counts", "match"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], PAIR, BOTH, r"row 1 sums to 0\.9; .*sum to 1 .*Normalize"),
        ([[0.5, 0.5], [1.5, -0.5]], PAIR, BOTH, r"row 1 sums to 1; a row must be probabilities .*Normalize"),
        ([[np.nan, 0.5], [0.5, 0.5]], PAIR, BOTH, "row 0 sums to (nan|inf)"),
        ([[0.5, 0.5], [np.inf, 0.5]], PAIR, BOTH, "row 1 sums to (nan|inf)"),
        (HALF, PAIR, np.array([[2, 1]]), "group 0 has 2 respondents and the counts .* sum to 3; .*one value per resp"),
        (HALF, PAIR, np.array([[3, -1]]), "group 0 has 2 respondents"),
        (HALF, np.array([0, 1]), BOTH, r"group has numbers from 0 to 1; .*-1\.\.0"),
        (HALF, np.array([0.0, 0.0]), BOTH, "must be whole numbers, .* got float64"),
        (HALF, np.array([0, 0, 0]), BOTH, r"needs prior \(n, m\)"),
        (np.full((2, 3), 1 / 3), PAIR, BOTH, r"needs prior \(n, m\)"),
    ],
)
def test_bad_input_is_one_clear_error(prior, group, counts, match):
    with pytest.raises(ValueError, match=match):
        Problem(np.array(prior), np.array(group), counts)


def test_a_label_that_is_too_small_is_named():
    with pytest.raises(ValueError, match="group has numbers from -2"):
        Problem(HALF, np.array([-2, 0]), np.array([[1, 0]]))


class TestEvidence:
    def test_it_is_kept_as_numbers_of_the_prior_s_shape(self):
        problem = Problem(HALF, PAIR, BOTH, np.array([[0, 2], [1, 0]]))
        assert problem.evidence.tolist() == [[0.0, 2.0], [1.0, 0.0]]
        assert problem.evidence.dtype == np.float64
        assert Problem(HALF, PAIR, BOTH).evidence is None

    @pytest.mark.parametrize(
        ("evidence", "match"),
        [
            (
                [[0, 0], [-0.5, 0]],
                r"row 1 and value 0 is -0\.5; pseudo-counts are finite and 0 or more\. Evidence against",
            ),
            ([[0, np.nan], [0, 0]], "row 0 and value 1 is nan; .*finite"),
            ([[0, 0], [0, np.inf]], "row 1 and value 1 is inf; .*finite"),
            ([[0, -1], [np.nan, 0]], "row 0 and value 1 is -1"),
            ([[0, 0]], r"shape \(1, 2\); it needs \(2, 2\), that of the prior: a pseudo-count per pair"),
            ([0, 0], r"shape \(2,\); it needs "),
            (1.0, r"shape \(\); it needs "),
        ],
    )
    def test_bad_evidence_is_one_clear_error(self, evidence, match):
        with pytest.raises(ValueError, match=match):
            Problem(HALF, PAIR, BOTH, np.array(evidence))


def test_a_posterior_without_its_last_people_keeps_everything_else():
    """Counterfeits are the last rows, and are left out of every array with one row per respondent."""
    rows = np.arange(6.0).reshape(3, 2)
    posterior = Posterior(rows, np.array([0, 2]), rows + 1, rows + 2, rows + 3, np.array(["A", "B"], dtype=object))
    first = posterior.first(2)
    of_each = (first.probabilities, first.standard_error, first.ess, first.rhat)
    assert [kept.tolist() for kept in of_each] == [(rows[:2] + more).tolist() for more in range(4)]
    assert first.status.tolist() == [0, 2]
    assert first.rule.tolist() == ["A", "B"]
    assert Posterior(rows, np.zeros(1, int)).first(1).standard_error is None
