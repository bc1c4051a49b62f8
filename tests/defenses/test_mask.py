"""MASK against its choice of groups in plain Python, its changes, and the share of violating groups among equal ones."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from places import ADULT
from strategies import tables, view_of

from foreknow.defenses import MASK, FrequencyDiversity, Infeasible, KAnonymity, Mondrian
from foreknow.evaluation import adult
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Grouping, Release

BELOW_SECONDARY = ("Preschool", "1st-4th", "5th-6th", "7th-8th")


def uniform(view):
    m = len(view.schema.values)
    return np.full((len(view), m), 1 / m)


def rng(seed=1):
    return np.random.default_rng(seed)


def share_of(values, sensitive):
    counts = Counter(values)
    most = max(counts.values()) if sensitive is None else sum(counts[value] for value in sensitive)
    return most / len(values)


def group_values(view, labels, codes=None):
    values = view.frame["result"] if codes is None else [view.schema.values[code] for code in codes]
    return {g: [value for value, label in zip(values, labels, strict=True) if label == g] for g in sorted(set(labels))}


def plan(before, l, sensitive):  # noqa: E741
    """The violating groups, and the shares of those they imitate."""
    shares = {g: share_of(values, sensitive) for g, values in before.items()}
    violating = [g for g in shares if shares[g] > 1 / l + 1e-9]
    others = sorted((g for g in shares if g not in violating), key=lambda g: (-shares[g], g))
    return violating, [shares[g] for g in others[: (l - 1) * len(violating)]]


def fewest(size, sensitive, m):
    return 0 if sensitive else -(-size // m)


@pytest.mark.parametrize("sensitive", [None, ("a",), ("a", "c")])
@given(drawn=tables(most=24, values=4), k=st.integers(1, 4), l=st.integers(1, 4), seed=st.integers(0, 3))
def test_each_violating_group_takes_on_a_share_of_the_others(sensitive, drawn, k, l, seed):  # noqa: E741
    view, prior = drawn
    assume(k <= len(view))
    labels = Mondrian(KAnonymity(k))(view, prior).labels.tolist()
    before = group_values(view, labels)
    violating, shares = plan(before, l, sensitive)
    impossible = any(fewest(len(before[g]), sensitive, 4) > len(before[g]) // l for g in violating)
    try:
        grouping = MASK(k, l, sensitive, rng=rng(seed))(view, prior)
    except Infeasible:
        assert violating
        assert impossible or not shares
        return
    assert grouping.labels.tolist() == labels
    if not violating:
        assert grouping.values is None
        return
    after = group_values(view, labels, grouping.values)
    for g, values in before.items():
        if g not in violating:
            assert after[g] == values
            continue
        size, shown = len(values), share_of(after[g], sensitive) * len(values)
        wanted = {min(int(share * size + 0.5), size // l) for share in shares}
        assert round(shown) in {max(one, fewest(size, sensitive, 4)) for one in wanted}
        check_changes(values, after[g], set(sensitive or ()), Counter(view.frame["result"]))
    if sensitive is None:
        assert verify(Release(view, grouping), KAnonymity(k) & FrequencyDiversity(l))["holds"].all()
    changed = sum(x != y for g in before for x, y in zip(before[g], after[g], strict=True))
    assert re.fullmatch(
        rf"{changed} records? of {len(violating)} groups? shows? another value .* own\.", grouping.notes[0]
    )
    assert (len(grouping.notes) == 2) == (len(shares) < (l - 1) * len(violating))


def check_changes(before, after, sensitive, table):
    """Only values of the set are changed, into other values of the group, or else of the table."""
    new = [(x, y) for x, y in zip(before, after, strict=True) if x != y]
    if sensitive:
        assert all(x in sensitive and y not in sensitive for x, y in new)
        own, whole = set(before) - sensitive, set(table) - sensitive
        assert all(y in own or (not own and (y in whole or not whole)) for _, y in new)


def towns(*results):
    """One group under KAnonymity(k) for each text of k results; its respondents have one age."""
    ages = [age for age, group in enumerate(results) for _ in group]
    return view_of(range(len(ages)), "".join(results), ages)


class TestLooks:
    @pytest.mark.slow
    @pytest.mark.parametrize("l", [2, 3, 4])
    def test_of_groups_that_look_alike_one_in_l_was_violating(self, l):  # noqa: E741
        """Two groups violate; the 2 (l - 1) highest others show 2, or 3, of 12 records. Each share is drawn in proportion to its
        number of groups, so that one in l of the groups that show it was violating, in expectation.
        """
        others = [
            "a" * (3 if i == 0 and l < 4 else 2) + "b" * (9 if i == 0 and l < 4 else 10) for i in range(2 * (l - 1))
        ]
        view = towns("a" * 7 + "c" * 5, "a" * 12, *others, "b" * 12, "ab" + "b" * 10)
        defense = MASK(12, l, ("a",), rng=rng(l))
        runs = 300
        looked, was = Counter(), Counter()
        for _ in range(runs):
            shown = Release(view, defense(view, uniform(view))).counts[:, 0]
            looked.update(shown.tolist())
            was.update(shown[:2].tolist())
        for share in {group.count("a") for group in others}:
            alike = sum(group.count("a") == share for group in others)
            chance = alike / len(others)
            slack = 5 * np.sqrt(2 * chance * (1 - chance) / runs) * runs
            assert abs(was[share] - 2 * chance * runs) <= slack
            assert looked[share] == was[share] + alike * runs
            assert was[share] * l <= looked[share] + l * slack

    def test_what_records_are_changed_into_is_drawn_from_the_group_s_others(self):
        """At most one of four a remains among 4 a, 1 b and 3 c; a changed record becomes b with probability 1/4, else c."""
        view = towns("aaaabccc", "abbbbbbb", "cccccccc")
        defense, runs = MASK(8, 3, ("a",), rng=rng(7)), 500
        became = Counter()
        for _ in range(runs):
            counts = Release(view, defense(view, uniform(view))).counts[0] - np.array([0, 1, 3])
            assert counts[0] in (0, 1)
            became.update({"b": int(counts[1]), "c": int(counts[2])})
        draws = became.total()
        assert abs(became["b"] - draws / 4) <= 5 * np.sqrt(draws * 3 / 16)

    def test_every_sensitive_record_is_as_likely_to_be_changed(self):
        view = towns("aabb", "aaab", "bbbb", "bbab")
        defense, runs = MASK(4, 2, ("a",), rng=rng(3)), 400
        kept = np.zeros(4)
        for _ in range(runs):
            kept += defense(view, uniform(view)).values[4:8] == 0
        assert kept[3] == 0
        assert kept[:3].sum() == 2 * runs
        assert (abs(kept[:3] - 2 * runs / 3) <= 5 * np.sqrt(runs * 2 / 9)).all()

    def test_a_group_of_sensitive_records_takes_values_of_the_table(self):
        view = towns("aa", "bb")
        assert Release(view, MASK(2, 2, ("a",), rng=rng())(view, uniform(view))).counts.tolist() == [
            [0, 2, 0],
            [0, 2, 0],
        ]

    def test_too_few_groups_to_look_like_are_said(self):
        view = towns("aaac", "aabb", "aaaa")
        notes = MASK(4, 2, ("a",), rng=rng())(view, uniform(view)).notes
        assert notes == (
            "3 records of 2 groups show another value than their own.",
            "1 group satisfies and is imitated, 2 should be: of the groups that look alike a share of 0.6667 was violating.",
        )


def test_what_groups_is_a_setting():
    view = towns("aabb", "abbc", "bbca", "aaac")

    class Halves:
        def __init__(self, requirement):
            assert requirement == KAnonymity(4)

        def __call__(self, view, prior, past):  # noqa: ARG002 - a defense
            return Grouping(np.arange(len(view)) // 8, notes=("halved",))

    for bucketized in (False, True):
        grouping = MASK(4, 2, ("a",), Halves, bucketized, rng=rng())(view, uniform(view))
        assert grouping.labels.tolist() == [0] * 8 + [1] * 8
        assert grouping.notes == ("halved",)
        assert grouping.bucketized is bucketized


def test_suppressed_records_stay_suppressed_and_as_they_are():
    view = towns("aaab", "bbbb", "aaaa")

    def but_the_last(requirement):
        return lambda *_: Grouping(np.repeat([0, 1, -1], 4))

    grouping = MASK(4, 2, ("a",), but_the_last, rng=rng())(view, uniform(view))
    assert grouping.labels[8:].tolist() == [-1] * 4
    assert grouping.values[8:].tolist() == [0] * 4
    assert Release(view, grouping).counts.tolist() == [[0, 4, 0]] * 2


def test_the_same_seed_gives_the_same_and_another_call_goes_on():
    view = towns("aaab", "aabb", "aaaa", "abbb", "abbc")
    same = [MASK(4, 2, ("a",), rng=rng(5))(view, uniform(view)).values.tolist() for _ in range(2)]
    assert same[0] == same[1]
    lasting = MASK(4, 2, ("a",), rng=rng(5))
    assert len({tuple(lasting(view, uniform(view)).values) for _ in range(6)}) > 1


@pytest.fixture(scope="module")
def census():
    if not (ADULT / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {ADULT}")
    return adult(ADULT, "education", ("age", "workclass", "marital-status", "occupation", "race"))[0]


class TestAdult:
    @pytest.mark.parametrize(("l", "most", "size"), [(2, 8, 23), (10, 5, 113)])
    def test_the_paper_s_largest_frequencies(self, census, l, most, size):  # noqa: E741
        """Foreground knowledge, section 3: at l = 2, 8 of a group of 23; at l = 10, C(113, 5) = 140,364,532 worlds."""
        release = Release(census, MASK(l, l, BELOW_SECONDARY, rng=rng())(census, uniform(census)))
        below = release.counts[:, [census.schema.values.index(value) for value in BELOW_SECONDARY]].sum(axis=1)
        sizes = release.counts.sum(axis=1)
        assert below.max() == most
        assert sizes[below == most].max() == size
        assert (below * l <= sizes).all()


class TestBadInput:
    @pytest.mark.parametrize(
        ("settings", "error", "match"),
        [
            ({"k": 0, "l": 2}, ValueError, "MASK: k is 0; it is a number of records"),
            ({"k": 2, "l": 1.5}, ValueError, "MASK: l is 1.5; it is a number of records"),
            (
                {"k": 2, "l": 2, "sensitive_set": "flu"},
                TypeError,
                "sensitive_set is 'flu'; it is a set of values",
            ),
            ({"k": 2, "l": 2, "sensitive_set": []}, ValueError, "at least one"),
            ({"k": 2, "l": 2, "rng": "x"}, TypeError, "MASK: rng is 'x'; it is a generator"),
            (
                {"k": 2, "l": 2, "grouped": 3},
                TypeError,
                "MASK: grouped is 3; it is a function from a requirement to a defense",
            ),
        ],
    )
    def test_settings(self, settings, error, match):
        with pytest.raises(error, match=match):
            MASK(**{"rng": rng()} | settings)

    def test_k_over_the_records(self):
        with pytest.raises(ValueError, match="the view at 1 has 4"):
            MASK(5, 2, rng=rng())(towns("aabb"), np.full((4, 3), 1 / 3))

    @pytest.mark.parametrize(
        ("results", "l", "sensitive", "error", "match"),
        [
            (
                ("aaab", "aaaa"),
                2,
                ("a",),
                Infeasible,
                "in all 2 groups of the view at 1 more than one in l = 2 records are sensitive",
            ),
            (
                ("aabc", "bbbb"),
                2,
                ("z",),
                ValueError,
                "the sensitive set holds 'z', which is not in the domain",
            ),
            (("aabc", "bbbb"), 2, ("a", "b", "c"), ValueError, "the sensitive set holds all 3 values of the domain"),
            (
                ("aabbcc", "aaab"),
                3,
                None,
                Infeasible,
                "no group of 4 records can show each of 3 values in at most one in l = 3",
            ),
        ],
    )
    def test_what_cannot_be_masked(self, results, l, sensitive, error, match):  # noqa: E741
        view = towns(*results)
        with pytest.raises(error, match=match):
            MASK(4, l, sensitive, rng=rng())(view, uniform(view))

    def test_another_that_changes_values(self):
        view = towns("aaaa", "bbbc")

        def distorting(requirement):
            return lambda *_: Grouping(np.repeat([0, 1], 4), values=np.zeros(8, int))

        with pytest.raises(ValueError, match="distorts values or adds counterfeits, which only MASK may do"):
            MASK(2, 2, ("a",), distorting, rng=rng())(view, uniform(view))
