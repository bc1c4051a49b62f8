"""Effective sample size and R-hat against ArviZ."""

import numpy as np
import pytest
from arviz_stats.base import array_stats

from foreknow.models.estimators.convergence import mean_diagnostics


def autoregressive(correlation, chains, draws, rng):
    """Autoregressive chains, started in their stationary law."""
    noise = rng.normal(size=(chains, draws))
    series = np.zeros((chains, draws))
    series[:, 0] = noise[:, 0]
    for t in range(1, draws):
        series[:, t] = correlation * series[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return series


def arviz(draws):
    of = {"chain_axis": 0, "draw_axis": 1}
    return array_stats.ess(draws, method="mean", **of), array_stats.rhat(draws, method="split", **of)


@pytest.mark.parametrize("correlation", [-0.9, -0.4, 0.0, 0.5, 0.95, 0.999])
@pytest.mark.parametrize(("chains", "draws"), [(2, 4), (3, 5), (4, 8), (2, 9), (2, 50), (4, 251), (3, 500), (8, 1000)])
def test_equals_arviz_on_autoregressive_series(correlation, chains, draws):
    rng = np.random.default_rng(chains * draws)
    for shift in (0.0, 3.0):
        series = autoregressive(correlation, chains, draws, rng) + shift * np.arange(chains)[:, None]
        assert np.allclose(mean_diagnostics(series), arviz(series), rtol=1e-9)


@pytest.mark.parametrize("draws", [10, 11, 12, 20])
def test_equals_arviz_on_short_series(draws):
    rng = np.random.default_rng(draws)
    for correlation in (0.0, 0.5, 0.9):
        for _ in range(50):
            series = autoregressive(correlation, 2, draws, rng)
            assert np.allclose(mean_diagnostics(series), arviz(series), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_unit_does_not_matter(scale):
    series = autoregressive(0.7, 4, 200, np.random.default_rng(1))
    assert np.allclose(mean_diagnostics(scale * series), arviz(series), rtol=1e-8)


def test_chains_are_left_as_they_were():
    series = autoregressive(0.5, 2, 20, np.random.default_rng(2))
    before = series.copy()
    mean_diagnostics(series)
    assert np.array_equal(series, before)


def test_where_nothing_varies_all_draws_count():
    assert mean_diagnostics(np.full((3, 10), 0.25)) == (30.0, 1.0)


def test_chains_that_stand_still_apart_are_infinitely_far():
    assert mean_diagnostics(np.repeat([[0.0], [1.0]], 10, axis=1))[1] == np.inf
