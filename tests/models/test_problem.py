"""What is checked where a problem is posed."""

import numpy as np
import pytest

from foreknow.models import Problem

HALF = np.full((2, 2), 0.5)
PAIR = np.array([0, 0])
BOTH = np.array([[1, 1]])


def test_it_normalizes_within_the_tolerance_and_keeps_its_arguments():
    prior = np.array([[0.5, 0.5 + 5e-7], [0.3, 0.7]])
    problem = Problem(prior, PAIR, BOTH)
    assert np.array_equal(prior, [[0.5, 0.5 + 5e-7], [0.3, 0.7]])
    assert np.abs(problem.prior.sum(axis=1) - 1).max() < 1e-15
    assert problem.sizes.tolist() == [2]


def test_empty_groups_and_nobody_at_all_are_problems_too():
    assert Problem(HALF, np.array([-1, -1]), np.zeros((0, 2), int)).sizes.tolist() == []
    assert Problem(HALF, PAIR, np.array([[1, 1], [0, 0]])).sizes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("prior", "group", "counts", "match"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], PAIR, BOTH, r"row 1 sums to 0\.9; .*sum to 1 .*Normalize"),
        ([[0.5, 0.5], [1.5, -0.5]], PAIR, BOTH, r"row 1 holds the negative number -0\.5; .*Normalize"),
        ([[np.nan, 0.5], [0.5, 0.5]], PAIR, BOTH, "row 0 holds NaN or an infinity"),
        ([[0.5, 0.5], [np.inf, 0.5]], PAIR, BOTH, "row 1 holds NaN or an infinity"),
        (HALF, PAIR, np.array([[2, 1]]), "group 0 has 2 respondents and the counts .* sum to 3; .*one value per resp"),
        (HALF, PAIR, np.array([[3, -1]]), "group 0 has 2 respondents"),
        (HALF, np.array([0, 1]), BOTH, r"group holds 1, and there are 1 groups; .*-1\.\.0"),
        (HALF, np.array([0.0, 0.0]), BOTH, "must be whole numbers; got float64"),
        (HALF, np.array([0, 0, 0]), BOTH, r"needs prior \(n, m\)"),
        (np.full((2, 3), 1 / 3), PAIR, BOTH, r"needs prior \(n, m\)"),
    ],
)
def test_bad_input_is_one_clear_error(prior, group, counts, match):
    with pytest.raises(ValueError, match=match):
        Problem(np.array(prior), np.array(group), counts)


def test_a_label_that_is_too_small_is_named():
    with pytest.raises(ValueError, match="group holds -2"):
        Problem(HALF, np.array([-2, 0]), np.array([[1, 0]]))
