"""Kullback-Leibler divergence against sums over all vectors, by hand and by plain loops."""

import itertools
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reader import JOBS, ages_of, readings, releases, view_of_rows
from strategies import view_of

from foreknow.evaluation import kl_loss
from foreknow.models import Grouping, Numeric, Release, Schema, View


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


def view_with(doses):
    """A view of one number per record."""
    frame = pd.DataFrame({"id": range(len(doses)), "dose": doses, "result": list("ababa")[: len(doses)]})
    return View(frame, Schema({"dose": Numeric()}, "result", ("a", "b")))


def divergence(p, q):
    """Of two dicts of weights, each normalized."""
    total, mass = sum(p.values()), sum(q.values())
    if not total:
        return float("nan")
    if any(not q.get(x) for x in p):
        return float("inf")
    return sum(w / total * log2(w / total / (q[x] / mass)) for x, w in p.items())


def by_loops(release, penalize_suppressed):
    """The two divergences, from the original frame and the public table."""
    frame = release.view.frame[["age", "job", "sex", "result"]]
    rows = frame if penalize_suppressed else frame[release.group >= 0]
    read = readings(release)
    if penalize_suppressed:
        left_out = int((release.group < 0).sum())
        everywhere = [ages_of(release), set(JOBS.leaves), {"f", "m"}]
        read = [*read, (everywhere, dict.fromkeys("abc", left_out / 3))]
    p, q = {}, {}
    for row in rows.itertuples(index=False, name=None):
        p[row] = p.get(row, 0) + 1
    for sets, shares in read:
        volume = len(sets[0]) * len(sets[1]) * len(sets[2])
        for x in itertools.product(*sets):
            for value, weight in shares.items():
                q[*x, value] = q.get((*x, value), 0) + weight / volume
    return divergence(marginal(p), marginal(q)), divergence(p, q)


def marginal(weights):
    found = {}
    for (*x, _), weight in weights.items():
        found[tuple(x)] = found.get(tuple(x), 0) + weight
    return found


class TestByHand:
    def test_a_group_spread_over_its_interval(self):
        """Ages 20 and 23 become [20,23], of which 21 and 22 occur as well: each of the four ages has a quarter, not half, a
        bit. Both values may be either's."""
        assert only(kl_loss([Release(view_of("ABCD", "abab", [20, 23, 21, 22]), [0, 0, -1, -1])])) == {
            "time": 1, "identifiers": pytest.approx(1), "joint": pytest.approx(2), "measured": 2, "suppressed": 2,
        }  # fmt: skip

    def test_the_unit_does_not_matter(self):
        """Ages in years and in seconds."""
        found = [
            only(kl_loss([Release(view_with(np.array([20, 23, 21, 40, 22]) * unit), [0, 0, -1, 1, 1])]))
            for unit in (1, 31_556_952, 0.001)
        ]
        assert found[0] == found[1] == found[2]

    def test_groups_that_overlap_add_up(self):
        """[20,21] and [21,22], two records each: 1/4, 2/4, 1/4 for ages that had 1/4, 2/4, 1/4."""
        release = Release(view_of("ABCD", "aaaa", [20, 21, 21, 22]), [0, 0, 1, 1])
        assert only(kl_loss([release]))["joint"] == pytest.approx(0)

    def test_published_as_it_is(self):
        found = only(kl_loss([Release(view_of("ABC", "abb", [20, 20, 30]), [0, 1, 2])]))
        assert (found["identifiers"], found["joint"]) == (0, 0)

    def test_bucketized_loses_only_the_link(self):
        release = Release(view_of("AB", "ab", [20, 23]), Grouping(np.array([0, 0]), bucketized=True))
        found = only(kl_loss([release]))
        assert (found["identifiers"], found["joint"]) == (pytest.approx(0), pytest.approx(1))

    def test_suppressed_records_are_left_out_or_blurred_completely(self):
        """A is published; B may be of either age with any of 3 values: p = 1/2 each, q(A) = (1 + 1/2) / 2, q(B) = 1/4."""
        release = Release(view_of("AB", "ab", [20, 30]), [0, -1])
        left_out = only(kl_loss([release]))
        assert (left_out["identifiers"], left_out["joint"], left_out["measured"], left_out["suppressed"]) == (
            0,
            0,
            1,
            1,
        )
        found = only(kl_loss([release], penalize_suppressed=True))
        assert found["identifiers"] == pytest.approx(0.5 * log2(1 / 1.5) + 0.5 * log2(2))
        assert found["joint"] == pytest.approx(0.5 * log2(1 / (1 + 1 / 6)) + 0.5 * log2(6))
        assert found["measured"] == 2

    def test_nothing_published(self):
        release = Release(view_of("AB", "ab", [20, 30]), [-1, -1])
        found = only(kl_loss([release]))
        np.testing.assert_equal([found["identifiers"], found["joint"], found["measured"]], [np.nan, np.nan, 0])
        assert only(kl_loss([release], penalize_suppressed=True))["joint"] == pytest.approx(log2(6 / 2))

    def test_a_distorted_value_may_be_nowhere(self):
        found = only(
            kl_loss([Release(view_of("AB", "ab", [20, 30]), Grouping(np.array([0, 1]), values=np.array([1, 1])))])
        )
        assert (found["identifiers"], found["joint"]) == (0, float("inf"))

    def test_numbers_that_are_not_whole_are_those_of_the_view(self):
        schema = Schema({"dose": Numeric()}, "result", ("a",))
        view = View(pd.DataFrame({"id": range(3), "dose": [0.5, 0.75, 2.5], "result": ["a"] * 3}), schema)
        assert only(kl_loss([Release(view, [0, -1, 0])]))["identifiers"] == pytest.approx(log2(3 / 2))


@given(release=releases(), penalize=st.booleans())
def test_as_plain_loops_do(release, penalize):
    found = only(kl_loss([release], penalize_suppressed=penalize))
    identifiers, joint = by_loops(release, penalize)
    assert found["identifiers"] == pytest.approx(identifiers, nan_ok=True, abs=1e-12)
    assert found["joint"] == pytest.approx(joint, nan_ok=True, abs=1e-12)


def test_one_row_per_release():
    rows = [(20, "nurse", "f", "a"), (21, "doctor", "f", "b")]
    table = kl_loss([Release(view_of_rows(rows, time), labels) for time, labels in ((1, [0, 1]), (2, [0, 0]))])
    assert table["time"].tolist() == [1, 2]
    assert table["joint"].tolist() == pytest.approx([0, 2])  # four vectors and two values for two records
