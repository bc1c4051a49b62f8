"""Small evidence for tests of samplers, and the test of a mean over chains."""

import math

import numpy as np

from foreknow.models import Evidence
from foreknow.models.estimators.convergence import mean_diagnostics

ERRORS = 4.5
"""Largest difference of a mean from its expectation, in standard errors: exceeded by chance once in 150,000 numbers."""

SMALL = Evidence(
    np.array([0, 1, 0, 0, 1, -1, 1, 1, 0, 1, 1, -1, 0, 0, 1, 0]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, -1]),
    np.array([[1, 1], [1, 3], [0, 2], [3, 1], [2, 1]]),
    np.array([0.4, 0.6]),
)
"""Two signatures and the rest in five groups, one of them of one value, with one record outside."""

MANY = Evidence(
    np.array([0, 1, 0, 0, 1, -1, 1, 1, 0, 1]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2, 3, 3]),
    np.array([[1, 1, 0], [2, 1, 1], [0, 0, 2], [0, 1, 1]]),
    np.array([0.5, 0.2, 0.3]),
)
"""Two signatures and the rest in four groups, for three values."""


def assert_mean(values, expected, slack=0.0):
    """The mean over chains and draws is the expected one, within the error at its effective sample size."""
    values = np.ascontiguousarray(values, dtype=float)
    ess, rhat = mean_diagnostics(values)
    assert rhat < 1.02
    assert abs(values.mean() - expected) <= ERRORS * values.std(ddof=1) / math.sqrt(ess) + slack
