"""Rankings of beliefs against a double loop over respondents and all draws of ties."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.evaluation.risk.breaches import top_c_precision, within_group_auc


@st.composite
def ordered(draw, most=9):
    """Beliefs with many ties, who holds, and groups with gaps in their numbers."""
    n = draw(st.integers(0, most))
    belief = draw(st.lists(st.sampled_from([0, 0.1, 0.2, 0.5, 1 / 3, 1]), min_size=n, max_size=n))
    holds = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    group = draw(st.lists(st.sampled_from([0, 1, 3]), min_size=n, max_size=n))
    return np.array(belief, dtype=float), np.array(holds, dtype=bool), np.array(group, dtype=np.int64)


def by_loop(belief, holds, group):
    """Every pair of a holder and another of one group."""
    won = [
        1 if belief[i] > belief[j] else 0.5 if belief[i] == belief[j] else 0
        for i, j in itertools.permutations(range(len(belief)), 2)
        if holds[i] and not holds[j] and group[i] == group[j]
    ]
    return sum(won) / len(won) if won else math.nan


def by_draws(belief, holds, group):
    """Mean over all orders of each group's members by decreasing belief."""
    found = 0.0
    for name in set(group.tolist()):
        members = np.flatnonzero(group == name)
        c = int(holds[members].sum())
        orders = [
            order for order in itertools.permutations(members)
            if all(belief[one] >= belief[other] for one, other in itertools.pairwise(order))
        ]  # fmt: skip
        found += sum(holds[list(order[:c])].sum() for order in orders) / len(orders)
    return found / holds.sum() if holds.any() else math.nan


@given(drawn=ordered(most=12))
def test_pairs_are_those_of_a_double_loop(drawn):
    assert within_group_auc(*drawn) == pytest.approx(by_loop(*drawn), abs=1e-12, nan_ok=True)


@given(drawn=ordered(most=6))
def test_names_are_the_mean_over_all_draws(drawn):
    assert top_c_precision(*drawn) == pytest.approx(by_draws(*drawn), abs=1e-12, nan_ok=True)


@given(drawn=ordered())
def test_turned_around_it_is_the_rest(drawn):
    belief, holds, group = drawn
    assert within_group_auc(-belief, holds, group) == pytest.approx(
        1 - within_group_auc(belief, holds, group), nan_ok=True
    )


@given(drawn=ordered())
def test_only_the_order_matters(drawn):
    belief, holds, group = drawn
    for measure in (within_group_auc, top_c_precision):
        assert measure(belief**3, holds, group) == pytest.approx(measure(belief, holds, group), nan_ok=True)


def test_what_differs_by_rounding_only_is_a_tie():
    three_tenths = 0.1 + 0.1 + 0.1
    assert three_tenths > 0.3
    tied = (np.array([0.3, three_tenths]), np.array([True, False]), np.zeros(2, dtype=np.int64))
    assert (within_group_auc(*tied), top_c_precision(*tied)) == (0.5, 0.5)


def test_many_people_are_ranked_exactly():
    """A holder and another at each of n levels: n ties, and each holder beats those of the levels below. Exactly 1/2."""
    n = 50_000
    belief, holds = np.repeat(np.arange(n) / n, 2), np.tile([True, False], n)
    assert within_group_auc(belief, holds, np.zeros(2 * n, dtype=np.int64)) == 0.5
