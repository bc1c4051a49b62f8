"""Intervals of calibration: respondents are drawn with all their records."""

import numpy as np
import pandas as pd
import pytest
from given_beliefs import dependent_beliefs, given_beliefs

from foreknow.evaluation import calibration
from foreknow.evaluation.risk.reliability_curve import as_bootstrap

RNG = np.random.default_rng(5)
POSTERIORS = [RNG.dirichlet([0.5, 0.5, 0.5], 9) for _ in range(3)]
TRUTHS = [RNG.integers(0, 3, 9) for _ in range(3)]
IDS = [range(9), range(3, 12), range(1, 10)]
BELIEFS, HISTORY = given_beliefs(TRUTHS, POSTERIORS, ids=IDS)


def copied(weights, low, high):
    """Observed frequency in a bin among copied records: each respondent's records, as many times as it is drawn."""
    hits = [
        true == value
        for truths, rows, names in zip(TRUTHS, POSTERIORS, IDS, strict=True)
        for true, row, name in zip(truths, rows, names, strict=True)
        for value, p in enumerate(row)
        if low <= p < high or (high == p == 1)
        for _ in range(int(weights[name]))
    ]
    return np.mean(hits) if hits else np.nan


def test_the_interval_is_that_of_copied_tables():
    """All names are seen in the order 0 to 11, so weights are in the order of the names."""
    table = calibration(BELIEFS, HISTORY, bins=4, draws=30, level=0.8, rng=3)
    drawn = np.random.default_rng(3).multinomial(12, np.full(12, 1 / 12), size=30)
    for row in table.itertuples():
        frequencies = [copied(weights, row.bin_low, row.bin_high) for weights in drawn]
        assert row.observed_low == pytest.approx(np.nanquantile(frequencies, 0.1))
        assert row.observed_high == pytest.approx(np.nanquantile(frequencies, 0.9))


def test_no_draws_and_draws_have_the_same_frequencies():
    without, drawn = calibration(BELIEFS, HISTORY), calibration(BELIEFS, HISTORY, draws=5, rng=1)
    pd.testing.assert_frame_equal(without, drawn[without.columns])
    assert [*drawn.columns[-2:]] == ["observed_low", "observed_high"]
    pd.testing.assert_frame_equal(drawn, calibration(BELIEFS, HISTORY, draws=5, rng=np.random.default_rng(1)))


def test_batches_draw_the_same_weights(monkeypatch):
    whole = np.vstack(list(as_bootstrap("test", 7, 0.9, 2).weights(5)))
    monkeypatch.setattr("foreknow.evaluation.risk.reliability_curve.WEIGHTS_PER_BATCH", 10)
    batches = list(as_bootstrap("test", 7, 0.9, 2).weights(5))
    assert [len(batch) for batch in batches] == [2, 2, 2, 1]
    np.testing.assert_array_equal(whole, np.vstack(batches))
    assert (whole.sum(axis=1) == 5).all()


def test_dependent_records_do_not_count_as_new_ones():
    """With the same value in four releases the interval is that of one release; independent ones would halve it."""
    four, one = (
        calibration(*dependent_beliefs(np.random.default_rng(1), releases=t), sensitive_set={"a"}, draws=400, rng=1)
        for t in (4, 1)
    )
    assert four["beliefs"].iloc[0] == 4 * one["beliefs"].iloc[0]
    columns = ["observed", "observed_low", "observed_high"]
    np.testing.assert_allclose(four[columns], one[columns])


@pytest.mark.slow
def test_intervals_cover_the_rate():
    """Of 200 histories, the 90 % interval holds the true rate at least .9 - 3 sqrt(.9 .1 / 200) - .02 of the time.

    The .02 is the known undercoverage of a percentile interval of a share among 60.
    """
    rng, covered = np.random.default_rng(11), 0
    for _ in range(200):
        row = calibration(*dependent_beliefs(rng), sensitive_set={"a"}, draws=100, rng=rng).iloc[0]
        covered += row["observed_low"] <= 0.3 <= row["observed_high"]
    assert 0.9 - 3 * np.sqrt(0.9 * 0.1 / 200) - 0.02 <= covered / 200 <= 0.98


@pytest.mark.parametrize(
    ("options", "words"),
    [({"draws": -1}, "draws is -1"), ({"draws": 2.5}, "draws is 2.5"), ({"level": 1}, "level is 1; it is the prob")],
)
def test_wrong_settings(options, words):
    with pytest.raises(ValueError, match=f"calibration: {words}"):
        calibration(BELIEFS, HISTORY, **options)


def test_no_beliefs():
    table = calibration(*given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]]), draws=3, rng=1)
    assert len(table) == 0
    assert "observed_low" in table
