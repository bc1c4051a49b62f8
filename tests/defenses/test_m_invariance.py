"""m-invariance, by hand, by the independent checker, and against an adversary who intersects signatures."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ADULT as DATA
from strategies import history_of, tables, view_of

from foreknow.defenses import Infeasible, publish
from foreknow.defenses.m_invariance import MInvariance, assign, balance, eligibility_counterfeits, past_signatures
from foreknow.evaluation import adult
from foreknow.evaluation.checks.verify import m_invariance
from foreknow.models import Grouping, History, Release, View


@st.composite
def histories(draw, values=4, people=8):
    """Up to five views: respondents come, go, return, and sometimes change their value."""
    m = draw(st.integers(1, values))
    domain, values_of, records = "abcd"[:values], {}, []
    for _ in range(draw(st.integers(1, 5))):
        present = draw(st.sets(st.sampled_from("ABCDEFGHIJ"[:people]), min_size=m))
        for who in sorted(present):
            if who not in values_of or draw(st.integers(0, 5)) == 0:
                values_of[who] = draw(st.sampled_from(domain))
        records.append(("".join(sorted(present)), "".join(values_of[who] for who in sorted(present))))
    return history_of(*records, domain=domain), m


def groups_of(release):
    """For each group, the values it shows, and its members with their values."""
    shown = {}
    for group, value in zip(release.table["group"], release.table["result"], strict=True):
        shown.setdefault(group, ([], []))[0].append(value)
    for who, group, value in zip(release.view.frame["id"], release.group, release.view.frame["result"], strict=True):
        if group >= 0:
            shown[group][1].append((who, value))
    return shown


@settings(max_examples=40)
@given(drawn=histories())
def test_histories_are_m_invariant_by_the_checker_and_by_intersection(drawn):
    """An adversary who intersects the groups of a respondent is left with at least m values."""
    history, m = drawn
    releases = publish(history, MInvariance(m))
    assert m_invariance(releases, m)["holds"].all()
    left = {}
    for release in releases:
        assert (release.group >= 0).all(), "no record is suppressed"
        for values, members in groups_of(release).values():
            assert len(set(values)) == len(values) >= m
            assert members, "every group has a true record"
            for who, value in members:
                before = left.get(who)
                left[who] = (value, set(values) & before[1] if before and before[0] == value else set(values))
                assert value in left[who][1]
                assert len(left[who][1]) >= m


@settings(max_examples=30)
@given(drawn=histories())
def test_notes_count_counterfeits_and_changes(drawn):
    history, m = drawn
    last = {}
    for release in publish(history, MInvariance(m)):
        invented = 0 if release.grouping.counterfeits is None else len(release.grouping.counterfeits)
        assert len(release.table) == len(release.view) + invented
        counted = {"counterfeits": 0, "respondents": 0}
        for note in release.grouping.notes:
            number, what = note.split()[:2]
            counted[what if what.endswith("s") else f"{what}s"] += int(number)
        now = dict(zip(release.view.frame["id"], release.view.frame["result"], strict=True))
        changed = sum(who in last and last[who] != value for who, value in now.items())
        assert counted == {"counterfeits": invented, "respondents": changed}
        last |= now


def published(view, m, past=(), **chance):
    prior = np.full((len(view), len(view.schema.values)), 1 / len(view.schema.values))
    return Release(view, MInvariance(m, **chance)(view, prior, past))


class TestFirstRelease:
    def test_neighbours_share_a_group(self):
        """One axis, two of each value: the lower a with the lower b, and the higher with the higher."""
        release = published(view_of("ABCD", "abab", [20, 21, 60, 61]), 2, deterministic=True)
        assert release.group.tolist() == [0, 0, 1, 1]
        assert release.grouping.counterfeits is None
        assert release.grouping.notes == ()

    def test_too_many_of_a_value_are_filled_up(self):
        release = published(view_of("ABCD", "aaab"), 2)
        assert sorted(values for values, _ in groups_of(release).values()) == [["a", "b"]] * 3
        assert release.grouping.notes == (
            "2 counterfeits are added because more than one in 2 new records share a value.",
        )

    def test_m_of_one_puts_each_record_alone(self):
        release = published(view_of("ABC", "aab"), 1)
        assert sorted(release.group) == [0, 1, 2]

    @given(drawn=tables(values=4), m=st.integers(1, 4))
    def test_fewest_counterfeits(self, drawn, m):
        """The least number is m times the most frequent count less n; an eligible table needs none."""
        view, _ = drawn
        if m > len(view):
            return
        release = published(view, m)
        invented = 0 if release.grouping.counterfeits is None else len(release.grouping.counterfeits)
        most = max(Counter(view.frame["result"]).values())
        assert invented == max(m * most - len(view), 0)
        assert m_invariance([release], m)["holds"].all()


class TestLaterReleases:
    FIRST = published(view_of("ABCD", "abab", [20, 21, 60, 61]), 2)

    def test_a_new_record_fills_the_gap(self):
        """D is absent. Of the new records, E has the value that C's signature needs; F and G share a group."""
        view = view_of("ABCEFG", "ababac", [20, 21, 60, 61, 40, 41], time=2)
        release = published(view, 2, (self.FIRST,))
        assert sorted(sorted(values) for values, _ in groups_of(release).values()) == [
            ["a", "b"],
            ["a", "b"],
            ["a", "c"],
        ]
        assert release.grouping.counterfeits is None

    def test_a_counterfeit_fills_it_where_no_record_can(self):
        release = published(view_of("ABC", "aba", [20, 21, 60], time=2), 2, (self.FIRST,))
        assert sorted(sorted(values) for values, _ in groups_of(release).values()) == [["a", "b"], ["a", "b"]]
        assert release.grouping.notes == ("1 counterfeit fills signatures that lack a record of one of their values.",)

    def test_a_return_has_the_signature_of_before(self):
        away = published(view_of("EF", "ac", [20, 21], time=2), 2, (self.FIRST,))
        release = published(view_of("AG", "ac", [20, 21], time=3), 2, (self.FIRST, away))
        shown = next(values for values, members in groups_of(release).values() if ("A", "a") in members)
        assert sorted(shown) == ["a", "b"]

    def test_what_another_defense_published_too_openly_cannot_be_kept(self):
        open_book = Release(self.FIRST.view, Grouping(np.arange(4)))
        release = published(view_of("ABCD", "abab", [20, 21, 60, 61], time=2), 2, (open_book,))
        assert m_invariance([release], 2)["holds"].all()
        assert release.grouping.notes == (
            "4 respondents were last published among values without theirs or fewer than 2, and are treated as new.",
        )

    def test_suppression_in_between_is_looked_over(self):
        hidden = Release(view_of("AB", "ab", time=2), Grouping(np.array([-1, -1])))
        kept = past_signatures(view_of("AB", "ab", time=3), (self.FIRST, hidden), 2)
        assert kept.values.tolist() == [[True, True, False]] * 2


class TestCounts:
    """Bucket plans, against computation record by record."""

    counts = st.lists(st.integers(0, 12), min_size=1, max_size=7)

    @given(counts=counts, data=st.data())
    def test_counterfeits_make_eligible_with_the_fewest(self, counts, data):
        m = data.draw(st.integers(1, len(counts)))
        counts = np.array(counts)
        seed = data.draw(st.sampled_from([None, 1, 2]))
        counterfeits = eligibility_counterfeits(
            counts, counts, m, None if seed is None else np.random.default_rng(seed)
        )
        total = counts + counterfeits
        assert (counterfeits >= 0).all()
        assert m * total.max() <= total.sum()
        assert total.max() == counts.max(), "more would need more"
        assert counterfeits.sum() == max(m * counts.max() - counts.sum(), 0)

    def test_counterfeits_are_drawn_in_proportion_to_the_table(self):
        """Four c, two b and one a need one counterfeit: b twice as often as a, never c, nor d, which has no record."""
        counts, rng = np.array([1, 2, 4, 0]), np.random.default_rng(1)
        draws = np.sum([eligibility_counterfeits(counts, counts, 2, rng) for _ in range(450)], axis=0)
        assert draws.sum() == 450
        assert draws[2] == draws[3] == 0
        assert abs(draws[0] - 150) <= 5 * 10, "five standard deviations of a count of draws with probability 1/3"

    @given(counts=counts, data=st.data())
    def test_all_records_are_assigned_to_signatures_of_m_or_more(self, counts, data):
        m = data.draw(st.integers(1, len(counts)))
        counts = np.array(counts)
        counts = counts + eligibility_counterfeits(counts, counts, m)
        chosen, records = assign(counts, m)
        assert (chosen.sum(axis=1) >= m).all()
        assert (records >= 1).all()
        assert (chosen * records[:, None]).sum(axis=0).tolist() == counts.tolist()

    @given(counts=counts, data=st.data())
    def test_each_step_is_the_first_and_largest_that_leaves_the_rest_eligible(self, counts, data):
        m = data.draw(st.integers(1, len(counts)))
        left = np.array(counts) + eligibility_counterfeits(np.array(counts), np.array(counts), m)
        for chosen, records in zip(*assign(left, m), strict=True):
            ranked = sorted(range(len(left)), key=lambda value: -left[value])

            def fits(b, a, left=left, ranked=ranked):
                after = [left[v] - a * (v in ranked[:b]) for v in range(len(left))]
                return min(after) >= 0 and m * max(after) <= sum(after)

            b = next(b for b in range(m, len(left) + 1) if fits(b, 1))
            assert set(np.flatnonzero(chosen)) == set(ranked[:b])
            assert records == max(a for a in range(1, max(left) + 1) if fits(b, a))
            left = left - chosen * records

    @given(data=st.data())
    def test_balancing_by_record_and_the_fewest_counterfeits(self, data):
        """No other numbers of new records by value need fewer counterfeits in total."""
        v, b = data.draw(st.integers(2, 3)), data.draw(st.integers(1, 2))
        m = data.draw(st.integers(1, v))
        buckets = (
            np.array(
                [
                    data.draw(st.sampled_from([s for s in itertools.product([0, 1], repeat=v) if any(s)]))
                    for _ in range(b)
                ]
            )
            > 0
        )
        survivors = np.array([[data.draw(st.integers(0, 3)) if held else 0 for held in bucket] for bucket in buckets])
        fresh = np.array(data.draw(st.lists(st.integers(0, 4), min_size=v, max_size=v)))
        taken = balance(buckets, survivors, fresh)
        lacking = [
            [max(s) - n if held else 0 for n, held in zip(s, bucket, strict=True)]
            for s, bucket in zip(survivors.tolist(), buckets, strict=True)
        ]
        left = fresh.tolist()
        for row, bucket in enumerate(lacking):
            for value, wanted in enumerate(bucket):
                assert taken[row, value] == min(wanted, left[value])
                left[value] -= min(wanted, left[value])
        want = np.sum(lacking, axis=0)

        def needed(moved):
            rest = fresh - moved
            return want.sum() - sum(moved) + max(m * rest.max() - rest.sum(), 0)

        choices = itertools.product(*(range(min(w, f) + 1) for w, f in zip(want, fresh, strict=True)))
        assert needed(taken.sum(axis=0)) == min(needed(np.array(moved)) for moved in choices)


class TestErrors:
    def test_m_is_a_whole_number(self):
        with pytest.raises(ValueError, match=r"MInvariance: m is 1\.5; it is a number of values, 1 or more"):
            MInvariance(1.5)

    def test_more_than_there_are_records(self):
        with pytest.raises(ValueError, match="m is 3 and the view at 1 has 2 records; lower m"):
            published(view_of("AB", "ab"), 3)

    def test_more_than_there_are_values(self):
        with pytest.raises(Infeasible, match=r"m is 4 and the sensitive domain has 3 values; .*Lower m"):
            published(view_of("ABCD", "abca"), 4)

    def test_another_domain(self):
        with pytest.raises(ValueError, match="the release at 1 has another sensitive domain than the view at 2"):
            published(view_of("AB", "ab", time=2, domain="abcd"), 2, (TestLaterReleases.FIRST,))


def test_adult_in_two_overlapping_halves():
    if not (DATA / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {DATA}")
    (whole,) = adult(DATA, sensitive="occupation", quasi_identifiers=["age", "race"])
    frame = whole.frame
    views = History([View(frame[:30_000], whole.schema, 1), View(frame[15_000:], whole.schema, 2)])
    checked = m_invariance(publish(views, MInvariance(4)), 4)
    assert checked["holds"].all()
    assert checked["followed"].tolist() == [0, 15_000]
