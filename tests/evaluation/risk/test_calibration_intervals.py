"""Intervals of the reliability curve: respondents are drawn with all their records."""

import numpy as np
import pytest
from given_beliefs import dependent_beliefs, given_beliefs

from foreknow.evaluation import reliability_curve
from foreknow.evaluation.risk.reliability_curve import as_bootstrap

BELIEFS, HISTORY = given_beliefs([[0, 1, 1]], [np.full((3, 3), 1 / 3)])


def test_the_interval_is_that_of_copied_tables():
    """All records have one belief: the curve of a draw is the share of holders among its respondents, copied as often as drawn."""
    beliefs, history = dependent_beliefs(np.random.default_rng(4))
    row = reliability_curve(beliefs, history, sensitive_set={"a"}, draws=30, level=0.8, rng=3).iloc[0]
    holds = np.concatenate([view.frame[view.schema.sensitive].to_numpy() == "a" for view in history])
    owner = np.concatenate([view.frame[view.schema.respondent].to_numpy() for view in history])
    names = list(dict.fromkeys(owner.tolist()))
    drawn = np.random.default_rng(3).multinomial(len(names), np.full(len(names), 1 / len(names)), size=30)
    shares = []
    for weights in drawn:
        copies = [hit for hit, name in zip(holds, owner, strict=True) for _ in range(int(weights[names.index(name)]))]
        shares.append(np.mean(copies))
    assert row["observed"] == pytest.approx(holds.mean())
    assert (row["observed_low"], row["observed_high"]) == pytest.approx(tuple(np.quantile(shares, [0.1, 0.9])))


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
        reliability_curve(
            *dependent_beliefs(np.random.default_rng(1), releases=t), sensitive_set={"a"}, draws=400, rng=1
        )
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
        row = reliability_curve(*dependent_beliefs(rng), sensitive_set={"a"}, draws=100, rng=rng).iloc[0]
        covered += row["observed_low"] <= 0.3 <= row["observed_high"]
    assert 0.9 - 3 * np.sqrt(0.9 * 0.1 / 200) - 0.02 <= covered / 200 <= 0.98


@pytest.mark.parametrize(
    ("options", "words"),
    [({"draws": -1}, "draws is -1"), ({"draws": 2.5}, "draws is 2.5"), ({"level": 1}, "level is 1; it is the prob")],
)
def test_wrong_settings(options, words):
    with pytest.raises(ValueError, match=f"reliability_curve: {words}"):
        reliability_curve(BELIEFS, HISTORY, **options)


def test_no_beliefs():
    table = reliability_curve(*given_beliefs([[0, 1]], [np.eye(2)], labels=[[-1, -1]]), draws=3, rng=1)
    assert len(table) == 0
    assert "observed_low" in table


def test_a_set_outside_the_domain():
    with pytest.raises(ValueError, match="reliability_curve: the sensitive set holds 'd'"):
        reliability_curve(BELIEFS, HISTORY, sensitive_set={"a", "d"})
