"""Log-odds points: coordinates by hand, and nearest records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import mixed_tables, view_of

from foreknow.defenses import hilbert_order
from foreknow.defenses.foreground_safe import log_odds_points
from foreknow.models.foreground.attribute_signatures import attribute_signatures, supported_sets


def test_log_odds_by_hand():
    """One of three is ill at age 20, both at 30. The only record at 40 has too little support: the share of the table, 3/6."""
    view = view_of("ABCDEF", "abbaab", [20, 20, 20, 30, 30, 40])
    found = attribute_signatures(view.people, ["age"], min_support=2)
    points = log_odds_points([found], view.frame["result"].to_numpy() == "a", np.arange(6))
    assert points[:, 1] == pytest.approx(np.log([1.5 / 2.5] * 3 + [2.5 / 0.5] * 2 + [3.5 / 3.5]))
    assert np.ptp(points[:, 0]) < 1e-6


@given(drawn=mixed_tables(), fewest=st.integers(1, 4), chance=st.booleans())
def test_who_matches_the_same_signatures_is_nearest(drawn, fewest, chance):
    view, _ = drawn
    sets = list(supported_sets(view.people, "all", fewest))
    points = log_odds_points(
        sets, view.sensitive == 0, np.random.default_rng(1) if chance else hilbert_order(view.people)
    )
    matched = np.array([[int(found.signature[i]) for found in sets] for i in range(len(view))]).reshape(len(view), -1)
    distance = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    same = (matched[:, None] == matched).all(axis=2)
    assert (distance[~np.eye(len(view), dtype=bool)] > 0).all()
    assert all(distance[i][same[i]].max() < distance[i][~same[i]].min(initial=np.inf) for i in range(len(view)))


def test_without_any_set_the_order_alone_counts():
    points = log_odds_points([], np.array([True, False, False]), np.array([2, 0, 1]))
    assert points.shape == (3, 1)
    assert np.argsort(points[:, 0]).tolist() == [2, 0, 1]
