"""Anatomy against its steps in plain Python, the values of its groups, and disclosure to an adversary who knows the algorithm."""

import itertools
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from places import ADULT
from strategies import tables, view_of

from foreknow.defenses import Anatomy, DistinctDiversity, FrequencyDiversity, Infeasible, KAnonymity, hilbert_order
from foreknow.evaluation import adult
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Numeric, Release, Schema, View

BELOW_SECONDARY = ("Preschool", "1st-4th", "5th-6th", "7th-8th")
BOUNDS = [(None, "together"), (("a", "c"), "together"), (("a", "c"), "each"), (("a", "c"), "all")]


def uniform(view):
    m = len(view.schema.values)
    return np.full((len(view), m), 1 / m)


def kinds_of(results, sensitive, bound):
    """Class of each record's value, which no two records of a group share; None where it is free."""
    if sensitive is None:
        return list(results)
    inside = {value: "the set" if bound in ("together", "all") else value for value in sensitive}
    return [inside.get(value, value if bound == "all" else None) for value in results]


def reference(view, l, sensitive=None, bound="together"):  # noqa: E741
    """Groups by the printed steps; the records of each value, in the order of the curve, join the groups in their order."""
    order = hilbert_order(view.people).tolist()
    kinds = kinds_of(view.frame["result"], sensitive, bound)
    first = [kind for kind in ("the set", *view.schema.values) if kind in kinds]
    left = {kind: kinds.count(kind) for kind in first}
    free = [record for record in order if kinds[record] is None]
    left |= dict.fromkeys(free, 1)
    precedence = {kind: place for place, kind in enumerate([*first, *free])}
    steps = []
    while sum(number > 0 for number in left.values()) >= l:
        taken = sorted((kind for kind in left if left[kind]), key=lambda kind: (-left[kind], precedence[kind]))[:l]
        for kind in taken:
            left[kind] -= 1
        steps.append(taken)
    along = sorted(range(len(steps)), key=lambda step: step * (5**0.5 - 1) / 2 % 1)
    groups = [[] for _ in steps]
    waiting = {None: list(free)} | {kind: [r for r in order if kinds[r] == kind] for kind in first}
    for group, step in enumerate(along):
        for kind in steps[step]:
            groups[group].append(waiting[kind if kind in first else None].pop(0))
    dealt = [list(group) for group in groups]
    for record in sorted(itertools.chain(*waiting.values()), key=order.index):
        able = [
            g
            for g, group in enumerate(groups)
            if kinds[record] is None or kinds[record] not in [kinds[r] for r in group]
        ]
        able = [g for g in able if len(groups[g]) == min(len(groups[other]) for other in able)]
        far = [abs(Fraction(sum(map(order.index, dealt[g])), l) - order.index(record)) for g in able]
        groups[able[far.index(min(far))]].append(record)
    return {record: group for group, members in enumerate(groups) for record in members}


def eligible(view, l, sensitive=None, bound="together"):  # noqa: E741
    counts = Counter(kind for kind in kinds_of(view.frame["result"], sensitive, bound) if kind is not None)
    return all(count * l <= len(view) for count in counts.values())


@pytest.mark.parametrize(("sensitive", "bound"), BOUNDS)
class TestSteps:
    @given(drawn=tables(most=24, values=5), l=st.integers(1, 5))
    def test_equal_the_plain_rule(self, sensitive, bound, drawn, l):  # noqa: E741
        view, prior = drawn
        assume(l <= len(view))
        if not eligible(view, l, sensitive, bound):
            with pytest.raises(Infeasible, match="The largest l that this view allows"):
                Anatomy(l, sensitive, bound)(view, prior)
            return
        labels = Anatomy(l, sensitive, bound, deterministic=True)(view, prior).labels
        assert dict(enumerate(labels.tolist())) == reference(view, l, sensitive, bound)

    @given(drawn=tables(most=24, values=5), l=st.integers(1, 4), seed=st.sampled_from([None, 1, 2]))
    def test_no_two_records_of_a_group_share_a_bounded_value(self, sensitive, bound, drawn, l, seed):  # noqa: E741
        view, prior = drawn
        assume(l <= len(view) and eligible(view, l, sensitive, bound))
        rng = None if seed is None else np.random.default_rng(seed)
        release = Release(view, Anatomy(l, sensitive, bound, deterministic=rng is None, rng=rng)(view, prior))
        kinds = kinds_of(view.frame["result"], sensitive, bound)
        sizes = np.bincount(release.group)
        assert len(sizes) == len(view) // l
        for group, size in enumerate(sizes):
            held = [
                kind for kind, label in zip(kinds, release.group, strict=True) if label == group and kind is not None
            ]
            assert size >= l
            assert len(set(held)) == len(held)
        if rng is None and len(view) % l <= 1:
            assert set(sizes) <= {l, l + 1}


@settings(max_examples=25)
@given(drawn=tables(most=20, values=5), l=st.integers(1, 4), bucketized=st.booleans())
def test_is_verified(drawn, l, bucketized):  # noqa: E741
    view, prior = drawn
    assume(l <= len(view) and eligible(view, l))
    release = Release(view, Anatomy(l, bucketized=bucketized)(view, prior))
    assert verify(release, KAnonymity(l) & FrequencyDiversity(l) & DistinctDiversity(l))["holds"].all()


def test_by_hand():
    """Most frequent first: a and b, a and b, a and c. The remaining b joins the third group, which has no b."""
    view = view_of("ABCDEFG", "aaabbbc", [10, 20, 30, 11, 21, 31, 32])
    release = Release(view, Anatomy(2)(view, uniform(view)))
    shown = sorted("".join(rows) for _, rows in release.table.groupby("group")["result"])
    assert shown == ["ab", "ab", "abc"]
    assert release.bucketized
    assert not Release(view, Anatomy(2, bucketized=False)(view, uniform(view))).bucketized


def test_close_records_are_put_together_where_values_allow():
    """Two records of each value in each of three distant towns: every pair is of one town."""
    ages = [1, 1, 2, 2, 50, 50, 51, 51, 98, 98, 99, 99]
    view = view_of("ABCDEFGHIJKL", "abab" * 3, ages)
    labels = Anatomy(2, deterministic=True)(view, uniform(view)).labels
    assert all(len({age // 40 for age, group in zip(ages, labels, strict=True) if group == g}) == 1 for g in labels)


@pytest.mark.parametrize(("l", "sensitive"), [(2, None), (4, None), (3, ("a",))])
def test_chance_decides_which_records(l, sensitive):  # noqa: E741
    view = view_of("ABCDEFGH", "abcdabcd", domain="abcd")
    draws = [
        Anatomy(l, sensitive, rng=np.random.default_rng(seed))(view, uniform(view)).labels.tolist()
        for seed in (1, 1, 2)
    ]
    assert draws[0] == draws[1] != draws[2]
    lasting = Anatomy(l, sensitive, rng=np.random.default_rng(1))
    assert len({tuple(lasting(view, uniform(view)).labels) for _ in range(5)}) > 1


class FixedDraws(np.random.Generator):
    """Generator with given draws: an order of records, and the place of every choice among the candidates."""

    def __init__(self, order, place):
        super().__init__(np.random.PCG64(0))
        self.order, self.place = order, place

    def permutation(self, n):  # noqa: ARG002 - as NumPy has it
        return np.array(self.order)

    def choice(self, able):
        return able[self.place * len(able) // 60]


def surest(views, anatomies):
    """Largest belief about any value of an adversary who knows the algorithm, all views being equally likely."""
    weights = defaultdict(Counter)
    for view in views:
        values, prior = view.sensitive.tolist(), uniform(view)
        for anatomy in anatomies:
            labels = anatomy(view, prior).labels.tolist()
            weights[tuple(labels), tuple(sorted(zip(labels, values, strict=True)))][tuple(values)] += 1
    return max(
        Fraction(sum(weight for world, weight in worlds.items() if world[person] == value), worlds.total())
        for worlds in weights.values()
        for person, value in itertools.product(range(len(views[0])), range(3))
    )


@pytest.mark.slow
@pytest.mark.parametrize("results", ["aabb", "aabc", "aabbc"])
def test_only_chance_hides_how_records_were_chosen(results):
    """Over all views of these values and all random choices, the largest belief is one half.

    Without random choices an adversary can be certain as soon as three values are shown.
    """
    n = len(results)
    views = [view_of("ABCDE"[:n], world) for world in sorted(set(itertools.permutations(results)))]
    # A residue has a choice of one group or two; places 0 and 30 of 60 choose each of two equally often.
    places = (0, 30) if n % 2 else (0,)
    chances = [FixedDraws(order, place) for order in itertools.permutations(range(n)) for place in places]
    assert surest(views, [Anatomy(2, rng=chance) for chance in chances]) == Fraction(1, 2)
    assert surest(views, [Anatomy(2, deterministic=True)]) == (1 if "c" in results else Fraction(1, 2))


@pytest.fixture(scope="module")
def census():
    if not (ADULT / "adult.data").is_file():
        pytest.skip(f"UCI Adult is not at {ADULT}")
    return adult(ADULT, "education", ("age", "workclass", "marital-status", "occupation", "race"))[0]


class TestAdult:
    def test_one_value_is_a_third_of_the_records(self, census):
        """HS-grad has 14,783 of 45,222 records, counted in the file."""
        assert Anatomy(3)(census, uniform(census)).labels.max() + 1 == 45_222 // 3
        with pytest.raises(
            Infeasible, match=r"'HS-grad' is the value of 14783 of the 45222 .* l that this view allows is 3"
        ):
            Anatomy(4)(census, uniform(census))

    @pytest.mark.parametrize("l", [2, 4, 10])
    def test_each_group_holds_at_most_one_below_secondary(self, census, l):  # noqa: E741
        """Section 5.1 and 3 of the foreground-knowledge paper: l or l + 1 records, 3.46 percent of all below secondary."""
        release = Release(census, Anatomy(l, BELOW_SECONDARY)(census, uniform(census)))
        below = release.counts[:, [census.schema.values.index(value) for value in BELOW_SECONDARY]].sum(axis=1)
        assert Counter(below.tolist()) == {1: 1566, 0: 45_222 // l - 1566}
        assert set(release.counts.sum(axis=1)) <= {l, l + 1}


class TestBadInput:
    @pytest.mark.parametrize(
        ("given", "error", "match"),
        [
            ({"l": 0}, ValueError, "Anatomy: l is 0; it is a number of records and values, 1 or more"),
            ({"l": 2.5}, ValueError, "Anatomy: l is 2.5"),
            ({"l": 2, "sensitive_set": "ab"}, TypeError, r"sensitive_set is 'ab'; it is a set of values"),
            ({"l": 2, "sensitive_set": ()}, ValueError, "sensitive_set is ..; it is a set of values"),
            ({"l": 2, "sensitive_set": ("a", "a")}, ValueError, "names 'a' twice; name each value once"),
            (
                {"l": 2, "sensitive_set": ("a",), "bound": "some"},
                ValueError,
                "bound is 'some'; it is one of 'together', 'each', 'all'",
            ),
            ({"l": 2, "bound": "each"}, ValueError, "bound is 'each' and there is no sensitive set"),
            ({"l": 2, "rng": "x"}, TypeError, "Anatomy: rng is 'x'; it is a generator"),
        ],
    )
    def test_settings(self, given, error, match):
        with pytest.raises(error, match=match):
            Anatomy(**given)

    def test_l_over_the_records(self):
        view = view_of("AB", "ab")
        with pytest.raises(ValueError, match="l is 3 and the view at 1 has 2 records; lower l"):
            Anatomy(3)(view, uniform(view))

    def test_a_value_that_is_too_frequent(self):
        view = view_of("ABCDE", "aaabc")
        with pytest.raises(
            Infeasible,
            match=r"^'a' is the value of 3 of the 5 records of the view at 1, a share of 0\.6; at most 1/l = 0\.5 may share "
            r"one\. The largest l that this view allows is 1\. Lower l",
        ):
            Anatomy(2)(view, uniform(view))

    def test_a_set_that_is_too_frequent(self):
        view = view_of("ABCDE", "aabbc")
        with pytest.raises(Infeasible, match=r"^'a' or 'c' is the value of 3 of the 5 records"):
            Anatomy(2, ("c", "a"))(view, uniform(view))
        Anatomy(2, ("c", "a"), "each")(view, uniform(view))

    def test_a_value_that_the_view_does_not_know(self):
        view = view_of("AB", "ab")
        with pytest.raises(
            ValueError,
            match="the sensitive set holds 'z', which is not in the domain: 'a', 'b', 'c'",
        ):
            Anatomy(2, ("a", "z"))(view, uniform(view))


def test_all_alike_but_for_their_values():
    """Records with equal quasi-identifiers are grouped in the order of the view."""
    frame = pd.DataFrame({"id": range(6), "age": 5, "result": list("aabbcc")})
    view = View(frame, Schema({"age": Numeric()}, "result", ("a", "b", "c")))
    assert sorted(map(tuple, Release(view, Anatomy(3)(view, uniform(view))).counts)) == [(1, 1, 1)] * 2
