"""Breaches by hand, by plain loops, and properties that hold for all beliefs."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import history_of, tables, view_of

from foreknow.attacks import ForegroundAttack, SnapshotAttack
from foreknow.evaluation import breaches
from foreknow.models import (
    Adversary,
    Beliefs,
    Categorical,
    GivenPrior,
    Grouping,
    History,
    Posterior,
    RandomWorlds,
    Release,
    Schema,
    UniformPrior,
    View,
)
from foreknow.models.beliefs import ReleaseBeliefs

IDS, TRUE, GROUPS = "ABCDEFGH", "xyxyzxyx", [0, 0, 0, 1, 1, 2, 2, -1]
"""Holders of x: A and C of ABC, none of DE, F of FG; H is suppressed."""
P = [0.9, 0.6, 0.5, 0.0, 0.0, 0.5, 0.5, 0.4]


def believing(view, labels, of_x, domain="xyz"):
    """Beliefs in x with given probabilities; the other values share the rest."""
    release = Release(view, labels if isinstance(labels, Grouping) else np.array(labels))
    of_x = np.array(of_x, dtype=float)
    rows = np.column_stack([of_x, *[(1 - of_x) / (len(domain) - 1)] * (len(domain) - 1)])
    status = np.zeros(len(release.counts), dtype=np.int64)
    return Beliefs((ReleaseBeliefs(release.observation, rows, rows, Posterior(rows, status)),))


def example(of_x=P, true=TRUE, labels=GROUPS):
    history = history_of((IDS, true), domain="xyz")
    return believing(history[0], labels, of_x), history


def counting(view, labels):
    return SnapshotAttack(Adversary(UniformPrior(), estimator=RandomWorlds()))([Release(view, np.array(labels))])


def only(table):
    assert len(table) == 1
    return table.iloc[0].to_dict()


class TestByHand:
    def test_the_paper_s_three(self):
        """Over 1/2 are A, who has x, and B, who has not; .5 itself is not over it."""
        found = only(breaches(*example(), {"x"}, 2))
        assert found["breached"] == pytest.approx(1 / 3)  # of A, C and F
        assert found["flagged"] == pytest.approx(1 / 4)  # of B, D, E and G
        assert found["belief_of_holders"] == pytest.approx((0.9 + 0.5 + 0.5) / 3)

    def test_what_they_hide(self):
        found = only(breaches(*example(), {"x"}, 2))
        assert found["base_rate"] == pytest.approx(3 / 7)
        assert found["precision"] == pytest.approx(1 / 2)
        assert found["expected_precision"] == pytest.approx((0.9 + 0.6) / 2)
        assert found["expected_precision_of_shares"] == pytest.approx(2 / 3)
        assert found["lift"] == pytest.approx((1 / 2) / (3 / 7))
        assert found["breached_of_shares"] == pytest.approx(2 / 3)  # A and C, two of whose three have it

    def test_scores(self):
        found = only(breaches(*example(), {"x"}, 2))
        assert found["brier"] == pytest.approx((0.1**2 + 0.6**2 + 0.5**2 + 0 + 0 + 0.5**2 + 0.5**2) / 7)
        assert found["brier_of_shares"] == pytest.approx((1 / 9 + 4 / 9 + 1 / 9 + 0 + 0 + 1 / 4 + 1 / 4) / 7)
        assert found["auc"] == pytest.approx((4 + 2.5 + 2.5) / 12)  # A; C and F, tied with G and under B
        assert found["auc_of_shares"] == pytest.approx((3.5 + 3.5 + 2.5) / 12)

    def test_within_groups(self):
        """A over B, C under B, F and G tied; of ABC A and B are named, of FG each with 1/2."""
        found = only(breaches(*example(), {"x"}, 2))
        assert found["auc_within"] == pytest.approx(1.5 / 3)
        assert found["top_c_precision"] == pytest.approx((1 + 0.5) / 3)
        assert found["top_c_by_chance"] == pytest.approx((2 * 2 / 3 + 1 * 1 / 2) / 3)
        counts = {name: found[name] for name in ("mixed", "holders", "measured", "suppressed")}
        assert counts == {"mixed": 5, "holders": 3, "measured": 7, "suppressed": 1}

    def test_a_set_of_two_values_is_the_sum(self):
        """Of {x, y}: the others have z with (1 - P) / 2, so p is (1 + P) / 2."""
        found = only(breaches(*example(), {"x", "y"}, 4 / 3))  # over 3/4 are A and B, who have x and y
        assert found["belief_of_holders"] == pytest.approx(
            np.mean([(1 + p) / 2 for p in (0.9, 0.6, 0.5, 0.0, 0.5, 0.5)])
        )
        assert (found["breached"], found["flagged"], found["precision"]) == (pytest.approx(2 / 6), 0, 1)

    @pytest.mark.parametrize(("r", "over"), [(1, ""), (1.5, "A"), (2, "AB"), (2.5, "ABCFG"), (1e6, "ABCFG")])
    def test_thresholds(self, r, over):
        found = only(breaches(*example(), {"x"}, r))
        assert found["breached"] == pytest.approx(len(set(over) & set("ACF")) / 3)
        assert found["flagged"] == pytest.approx(len(set(over) & set("BDEG")) / 4)

    def test_a_share_of_exactly_one_in_r_is_no_breach(self):
        """Three values with .1 each are .30000000000000004 together."""
        view = view_of("ABCDEFGHIJ", "abcddddddd", domain="abcd")
        found = only(breaches(counting(view, [0] * 10), History([view]), {"a", "b", "c"}, 10 / 3))
        assert (found["breached"], found["flagged"], found["breached_of_shares"]) == (0, 0, 0)
        assert math.isnan(found["precision"])

    def test_one_row_per_release(self):
        history = history_of((IDS, TRUE), (IDS, "yyyyyyyz"), domain="xyz")
        both = Beliefs(tuple(release for view in history for release in believing(view, GROUPS, P).releases))
        table = breaches(both, history, {"x"}, 2)
        assert table["time"].tolist() == [1, 2]
        assert table["holders"].tolist() == [3, 0]


class TestNothingToMeasure:
    def test_no_record_has_a_value_of_the_set(self):
        found = only(breaches(*example(true="yyzyzyyz"), {"x"}, 2))
        assert (found["flagged"], found["precision"], found["base_rate"]) == (pytest.approx(2 / 7), 0, 0)
        assert found["brier"] == pytest.approx(np.mean(np.array(P[:7]) ** 2))
        missing = {name for name, value in found.items() if isinstance(value, float) and math.isnan(value)}
        assert missing == {
            "breached", "belief_of_holders", "breached_of_shares", "lift", "auc", "auc_of_shares", "auc_within", "top_c_precision",
            "top_c_by_chance",
        }  # fmt: skip

    def test_all_records_have_a_value_of_the_set(self):
        found = only(breaches(*example(true="xxxxxxxx"), {"x"}, 2))
        assert (found["base_rate"], found["precision"], found["lift"], found["mixed"]) == (1, 1, 1, 0)
        assert math.isnan(found["flagged"])
        assert math.isnan(found["auc_within"])

    def test_no_belief_is_over_the_threshold(self):
        found = only(breaches(*example([0.1] * 8), {"x"}, 2))
        assert (found["breached"], found["flagged"]) == (0, 0)
        assert all(
            math.isnan(found[name])
            for name in ("precision", "expected_precision", "expected_precision_of_shares", "lift")
        )

    def test_all_are_suppressed(self):
        found = only(breaches(*example(labels=[-1] * 8), {"x"}, 2))
        assert (found["measured"], found["suppressed"], found["holders"]) == (0, 8, 0)
        assert all(math.isnan(found[name]) for name in ("breached", "flagged", "brier", "auc", "base_rate"))

    def test_no_release(self):
        assert breaches(Beliefs(()), example()[1], {"x"}, 2).empty


class TestWhoIsLeftOut:
    def test_named_respondents_are(self):
        found = only(breaches(*example(), {"x"}, 2, leaving_out={"A", "H"}))
        assert (found["measured"], found["suppressed"], found["compromised"]) == (6, 1, 1)
        assert (found["breached"], found["flagged"]) == (0, pytest.approx(1 / 4))
        assert found["auc_within"] == pytest.approx((0 + 0.5) / 2)

    def test_suppressed_people_are_whatever_is_believed(self):
        one, history = example()
        other, _ = example([*P[:7], 1.0])
        assert only(breaches(one, history, {"x"}, 2)) == only(breaches(other, history, {"x"}, 2))

    def test_counterfeits_are_in_the_shares_alone(self):
        view = view_of("AB", "xy", domain="xyz")
        invented = Grouping(np.array([0, 0]), counterfeits=np.array([[0, 0], [0, 0]]))
        found = only(breaches(believing(view, invented, [0.9, 0.9]), History([view]), {"x"}, 2))
        assert (found["measured"], found["expected_precision_of_shares"]) == (2, pytest.approx(3 / 4))

    def test_the_truth_is_the_original_value_not_the_published_one(self):
        view = view_of("ABC", "xyy", domain="xyz")
        distorted = Grouping(np.array([0, 0, 0]), values=np.array([1, 1, 1]))
        found = only(breaches(believing(view, distorted, [0.0, 0.0, 0.0]), History([view]), {"x"}, 2))
        assert (found["holders"], found["brier"], found["brier_of_shares"]) == (
            1,
            pytest.approx(1 / 3),
            pytest.approx(1 / 3),
        )


@st.composite
def believed(draw):
    """A small release with suppressed people, and beliefs with many ties."""
    view, _ = draw(tables(most=9))
    n = len(view)
    labels = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    of_a = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 0.7, 1]), min_size=n, max_size=n))
    return view, np.array(labels), np.array(of_a, dtype=float)


class TestLaws:
    @given(drawn=believed(), r=st.sampled_from([1, 1.5, 2, 4, 10]))
    def test_every_number_is_that_of_plain_loops(self, drawn, r):
        view, labels, of_a = drawn
        found = only(breaches(believing(view, labels, of_a, "abc"), History([view]), {"a"}, r))
        people = [
            (p, value == "a", np.mean([v == "a" for v, g in zip(view.frame["result"], labels, strict=True) if g == label]), label)
            for p, value, label in zip(of_a, view.frame["result"], labels, strict=True) if label >= 0
        ]  # fmt: skip
        mean = lambda each: sum(each) / len(each) if each else math.nan  # noqa: E731
        won = lambda p, q: 1 if p > q else 0.5 if p == q else 0  # noqa: E731
        over = [one for one in people if one[0] > 1 / r + 1e-9]
        pairs = [(one, other) for one in people for other in people if one[1] and not other[1]]
        together = [(one, other) for one, other in pairs if one[3] == other[3]]
        expected = {
            "breached": mean([p > 1 / r + 1e-9 for p, has, _, _ in people if has]),
            "flagged": mean([p > 1 / r + 1e-9 for p, has, _, _ in people if not has]),
            "belief_of_holders": mean([p for p, has, _, _ in people if has]),
            "breached_of_shares": mean([share > 1 / r + 1e-9 for _, has, share, _ in people if has]),
            "base_rate": mean([has for _, has, _, _ in people]),
            "precision": mean([has for _, has, _, _ in over]),
            "expected_precision": mean([p for p, _, _, _ in over]),
            "expected_precision_of_shares": mean([share for _, _, share, _ in over]),
            "brier": mean([(p - has) ** 2 for p, has, _, _ in people]),
            "brier_of_shares": mean([(share - has) ** 2 for _, has, share, _ in people]),
            "auc": mean([won(one[0], other[0]) for one, other in pairs]),
            "auc_of_shares": mean([won(round(one[2], 9), round(other[2], 9)) for one, other in pairs]),
            "auc_within": mean([won(one[0], other[0]) for one, other in together]),
            "mixed": len({id(one) for pair in together for one in pair}),
        }
        near = {name: pytest.approx(value, abs=1e-12, nan_ok=True) for name, value in expected.items()}
        assert {name: found[name] for name in expected} == near

    @given(drawn=believed())
    def test_who_knows_all_is_right(self, drawn):
        view, labels, _ = drawn
        truth = view.sensitive == 0
        found = only(breaches(believing(view, labels, truth, "abc"), History([view]), {"a"}, 2))
        assert found["brier"] == 0 or found["measured"] == 0
        for name in ("auc", "auc_within", "top_c_precision", "breached", "precision"):
            assert found[name] == 1 or math.isnan(found[name])
        assert found["flagged"] == 0 or math.isnan(found["flagged"])

    @given(drawn=believed())
    def test_who_only_counts_cannot_tell_within_a_group(self, drawn):
        view, labels, _ = drawn
        found = only(breaches(counting(view, labels), History([view]), {"a"}, 2))
        assert found["auc_within"] == 0.5 or found["mixed"] == 0
        for name, of_shares in (("top_c_precision", "top_c_by_chance"), ("brier", "brier_of_shares"), ("auc", "auc_of_shares"),
                                ("expected_precision", "expected_precision_of_shares"), ("expected_precision", "precision"),
                                ("breached", "breached_of_shares")):  # fmt: skip
            assert found[name] == pytest.approx(found[of_shares], nan_ok=True)

    @given(drawn=believed(), data=st.data())
    def test_the_order_of_people_changes_nothing(self, drawn, data):
        view, labels, of_a = drawn
        order = np.array(data.draw(st.permutations(range(len(view)))))
        turned = type(view)(view.frame.iloc[order], view.schema, view.time)
        one = only(breaches(believing(view, labels, of_a, "abc"), History([view]), {"a"}, 2))
        other = only(breaches(believing(turned, labels[order], of_a[order], "abc"), History([turned]), {"a"}, 2))
        assert other == {name: pytest.approx(value, nan_ok=True) for name, value in one.items()}

    @given(drawn=believed(), r=st.sampled_from([1, 1.5, 2, 4, 10]))
    def test_a_larger_r_never_has_fewer_breaches(self, drawn, r):
        view, labels, of_a = drawn
        beliefs, history = believing(view, labels, of_a, "abc"), History([view])
        less, more = (only(breaches(beliefs, history, {"a"}, each)) for each in (r, 2 * r))
        for name in ("breached", "flagged"):
            assert not less[name] > more[name]


def test_the_paper_s_first_example():
    """Two of s1 and two of s2 in one group with two x, f = (.5, .2): 8/11 and 3/11, worked by hand."""
    view = view_of("ABCD", "xxyy", domain="xy")
    prior = GivenPrior(pd.DataFrame({"x": [0.5, 0.5, 0.2, 0.2], "y": [0.5, 0.5, 0.8, 0.8]}, index=list("ABCD")))
    beliefs = SnapshotAttack(Adversary(prior))([Release(view, [0] * 4)])
    found = only(breaches(beliefs, History([view]), {"x"}, 2))
    assert found["belief_of_holders"] == found["expected_precision"] == pytest.approx(8 / 11)
    assert (found["breached"], found["flagged"], found["precision"], found["auc_within"]) == (1, 0, 1, 1)
    assert found["brier"] == pytest.approx((3 / 11) ** 2)


class TestErrors:
    @pytest.mark.parametrize("r", [0, 0.99, -2, math.nan, math.inf, 10**400, None, "2", True, {2}])
    def test_r(self, r):
        with pytest.raises(ValueError, match=r"breaches: r is .*; it is a number of at least 1"):
            breaches(*example(), {"x"}, r)

    @pytest.mark.parametrize(
        ("sensitive", "error", "words"),
        [
            ({"w"}, ValueError, r"holds 'w', which is not in the domain: 'x', 'y', 'z'"),
            (set("xyz"), ValueError, "all 3 values"),
            (set(), ValueError, "at least one"),
            ("x", TypeError, "is 'x'; it is a set of values"),
            (None, TypeError, "sensitive_set is None; it is a set of values"),
        ],
    )
    def test_the_sensitive_set(self, sensitive, error, words):
        with pytest.raises(error, match=words):
            breaches(*example(), sensitive, 2)

    def test_another_history(self):
        with pytest.raises(ValueError, match="give the history that was published"):
            breaches(example()[0], history_of((IDS[::-1], TRUE), domain="xyz"), {"x"}, 2)


def test_foreground_beliefs_are_measured_too():
    """Example 2: with f = (2/3, 0) every value is certain, but in the second group, where both are of s1."""
    frame = pd.DataFrame({"id": range(6), "A": ["s1", "s2", "s1", "s1", "s2", "s2"], "X": list("xyxyyy")})
    view = View(frame, Schema({"A": Categorical(("s1", "s2"))}, "X", ("x", "y")))
    beliefs = ForegroundAttack(sensitive_set={"x"}, support=1)([Release(view, [0, 0, 1, 1, 2, 2])])
    found = only(breaches(beliefs, History([view]), {"x"}, 2))
    assert (found["breached"], found["flagged"]) == (0.5, 0)
    assert found["auc_within"] == pytest.approx((1 + 0.5) / 2)
