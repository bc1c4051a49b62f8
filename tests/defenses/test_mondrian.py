"""Mondrian against its recursion in plain Python, and its promises."""

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import (
    DistinctDiversity,
    EntropyDiversity,
    Infeasible,
    JSimilarity,
    KAnonymity,
    Mondrian,
    RecursiveDiversity,
    TCloseness,
)
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Categorical, Hierarchy, Numeric, Release, Schema, View


def judge(view, prior, k, l=1, t=1.0, j=None):  # noqa: E741
    whole = view.frame["result"].tolist()

    def satisfies(group):
        values = [whole[i] for i in group]
        return (
            len(group) >= k
            and len(set(values)) >= l
            and oracle.close(values, whole, t)
            and (j is None or oracle.divergence([prior[i] for i in group]) <= j + oracle.SLACK)
        )

    return satisfies


def distinct_codes(seed, n, d=3):
    """Codes without ties, so that each cut is unique."""
    rng = np.random.default_rng(seed)
    columns = {f"q{a}": rng.permutation(n) ** rng.integers(1, 4) for a in range(d)}
    frame = pd.DataFrame({"id": range(n), **columns, "result": rng.choice(list("abc"), n)})
    view = View(frame, Schema({name: Numeric() for name in columns}, "result", tuple("abc")))
    return view, rng.dirichlet(np.ones(3), size=3)[rng.integers(0, 3, n)]


class TestStrict:
    @given(drawn=tables(most=24), k=st.integers(1, 4))
    def test_k_anonymity_equals_the_recursion(self, drawn, k):
        view, prior = drawn
        if k <= len(view):
            found = Mondrian(KAnonymity(k))(view, prior)
            expected = oracle.mondrian(view.people.quasi_identifiers.tolist(), judge(view, prior, k), k)
            assert oracle.groups_of(found.labels) == oracle.partition(expected)

    @given(
        drawn=tables(most=20),
        k=st.integers(1, 3),
        l=st.integers(1, 2),
        t=st.sampled_from([0.2, 0.5, 1.0]),
        j=st.sampled_from([0.1, 0.5, None]),
    )
    def test_further_requirements_equal_the_recursion(self, drawn, k, l, t, j):  # noqa: E741
        view, prior = drawn
        requirement = KAnonymity(k) & DistinctDiversity(l) & TCloseness(t)
        requirement = requirement if j is None else requirement & JSimilarity(j)
        satisfies = judge(view, prior, k, l, t, j)
        if max(k, l) > len(view):
            return
        if not satisfies(range(len(view))):
            with pytest.raises(Infeasible, match="as one group does not satisfy"):
                Mondrian(requirement)(view, prior)
            return
        found = Mondrian(requirement)(view, prior)
        expected = oracle.mondrian(view.people.quasi_identifiers.tolist(), satisfies, max(k, l))
        assert oracle.groups_of(found.labels) == oracle.partition(expected)

    @pytest.mark.parametrize("seed", range(4))
    def test_larger_tables_equal_the_recursion(self, seed):
        rng = np.random.default_rng(seed)
        n = 300
        columns = {
            "age": rng.integers(0, 60, n),
            "sex": rng.choice(list("fm"), n),
            "weight": rng.normal(70, 9, n).round(),
        }
        frame = pd.DataFrame({"id": range(n), **columns, "result": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1])})
        kinds = {"age": Numeric(0, 99), "sex": Categorical(("f", "m")), "weight": Numeric()}
        view = View(frame, Schema(kinds, "result", tuple("abc")))
        prior = np.full((n, 3), 1 / 3)
        found = Mondrian(KAnonymity(4) & TCloseness(0.4))(view, prior)
        expected = oracle.mondrian(view.people.quasi_identifiers.tolist(), judge(view, prior, 4, t=0.4), 4)
        assert oracle.groups_of(found.labels) == oracle.partition(expected)
        assert len(expected) > 20

    @given(drawn=tables(most=24), k=st.integers(1, 3))
    def test_equal_records_stay_together(self, drawn, k):
        view, prior = drawn
        if k <= len(view):
            labels = Mondrian(KAnonymity(k))(view, prior).labels
            home = {}
            for row, label in zip(view.people.quasi_identifiers.tolist(), labels, strict=True):
                assert home.setdefault(tuple(row), label) == label

    def test_too_few_above_the_median_are_cut_below_it(self):
        """1 2 2 2: no record is above the median 2, so 1 is cut off. 1 1 2: the median is 1."""
        for ages, expected in (([1, 2, 2, 2], {(0,), (1, 2, 3)}), ([1, 1, 2], {(0, 1), (2,)})):
            labels = Mondrian(KAnonymity(1))(
                view_of("ABCD"[: len(ages)], "aaaa"[: len(ages)], ages), np.full((len(ages), 3), 1 / 3)
            ).labels
            assert oracle.groups_of(labels) == {frozenset(group) for group in expected}

    def test_as_printed_there_is_no_cut_below_the_median(self):
        """1 2 2 2: no record is above the median 2."""
        defense = Mondrian(KAnonymity(1), below_median=False)
        assert defense(view_of("ABCD", "aaaa", [1, 2, 2, 2]), np.full((4, 3), 1 / 3)).labels.tolist() == [0] * 4

    def test_the_widest_attribute_is_cut_first_in_units_of_the_table(self):
        """At first both span the range of the table, so that the order of the schema decides; then weight is wider."""
        frame = pd.DataFrame({"id": range(4), "age": [0, 10, 90, 100], "weight": [1, 2, 1, 2], "result": ["a"] * 4})
        for names, expected in ((["age", "weight"], {(0, 1), (2, 3)}), (["weight", "age"], {(0, 2), (1, 3)})):
            view = View(frame, Schema({name: Numeric() for name in names}, "result", ("a",)))
            labels = Mondrian(KAnonymity(2))(view, np.ones((4, 1))).labels
            assert oracle.groups_of(labels) == {frozenset(group) for group in expected}

    def test_another_attribute_is_tried_where_the_widest_does_not_satisfy(self):
        """Cut by age, each half holds one value; cut by weight, both hold two."""
        frame = pd.DataFrame(
            {"id": range(4), "age": [0, 1, 99, 100], "weight": [1, 2, 1, 2], "result": ["a", "a", "b", "b"]}
        )
        view = View(frame, Schema({"age": Numeric(), "weight": Numeric()}, "result", ("a", "b")))
        labels = Mondrian(DistinctDiversity(2))(view, np.full((4, 2), 0.5)).labels
        assert oracle.groups_of(labels) == {frozenset({0, 2}), frozenset({1, 3})}

    def test_categories_are_cut_in_the_order_of_their_tree(self):
        tree = Hierarchy([("a", "x", "*"), ("b", "y", "*"), ("c", "x", "*"), ("d", "y", "*")])
        frame = pd.DataFrame({"id": range(4), "town": list("abcd"), "result": ["a"] * 4})
        view = View(frame, Schema({"town": Categorical(tuple("abcd"), tree)}, "result", ("a",)))
        release = Release(view, Mondrian(KAnonymity(2))(view, np.ones((4, 1))))
        assert release.table["town"].tolist() == ["x", "x", "y", "y"]


class TestRelaxed:
    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize(("k", "l", "t"), [(1, 1, 1.0), (3, 1, 1.0), (2, 2, 0.5)])
    def test_equals_the_recursion_where_there_are_no_ties(self, seed, k, l, t):  # noqa: E741
        view, prior = distinct_codes(seed, 40 + seed)
        requirement = KAnonymity(k) & DistinctDiversity(l) & TCloseness(t)
        found = Mondrian(requirement, strict=False)(view, prior)
        expected = oracle.mondrian(
            view.people.quasi_identifiers.tolist(), judge(view, prior, k, l, t), max(k, l), strict=False
        )
        assert oracle.groups_of(found.labels) == oracle.partition(expected)

    @given(drawn=tables(most=24), k=st.integers(1, 4))
    def test_halves_until_no_group_holds_2k_whatever_the_ties(self, drawn, k):
        """Every cut into halves is allowed under k-anonymity alone, even of equal records."""
        view, prior = drawn
        if k <= len(view):
            sizes = np.bincount(Mondrian(KAnonymity(k), strict=False)(view, prior).labels)

            def halved(n):
                return [n] if n < 2 * k else sorted(halved(n // 2) + halved(n - n // 2))

            assert sorted(sizes.tolist()) == halved(len(view))


class TestPromises:
    REQUIREMENTS = (
        KAnonymity(3),
        KAnonymity(2) & EntropyDiversity(1.5),
        KAnonymity(2) & RecursiveDiversity(4, 2),
        KAnonymity(2) & TCloseness(0.4, "ordered"),
        KAnonymity(2) & JSimilarity(0.3),
        KAnonymity(2) & (DistinctDiversity(2) | TCloseness(0.6)),
    )

    @pytest.mark.parametrize("strict", [True, False])
    @pytest.mark.parametrize("requirement", REQUIREMENTS, ids=repr)
    @given(drawn=tables(most=24))
    def test_every_group_satisfies(self, requirement, strict, drawn):
        view, prior = drawn
        if requirement.smallest > len(view):
            return
        try:
            grouping = Mondrian(requirement, strict)(view, prior)
        except Infeasible:
            return
        assert (grouping.labels >= 0).all()
        assert not grouping.notes
        assert verify(Release(view, grouping), requirement, prior=prior)["holds"].all()

    def test_a_table_that_cannot_satisfy_is_infeasible(self):
        view = view_of("ABCD", "aaaa")
        with pytest.raises(
            Infeasible,
            match=r"as one group does not satisfy DistinctDiversity\(l=2\) \(is 1, must be at least 2\)",
        ):
            Mondrian(KAnonymity(2) & DistinctDiversity(2))(view, np.full((4, 3), 1 / 3))

    def test_k_larger_than_the_view(self):
        with pytest.raises(
            ValueError,
            match=r"KAnonymity\(k=5\) needs groups of 5 records, and the view at 1 has 4; lower the requirement",
        ):
            Mondrian(KAnonymity(5))(view_of("ABCD", "aaab"), np.full((4, 3), 1 / 3))

    def test_settings_read_back(self):
        assert Mondrian(KAnonymity(3)) == Mondrian(KAnonymity(3), strict=True)
        assert (
            repr(Mondrian(KAnonymity(3), strict=False))
            == "Mondrian(requirement=KAnonymity(k=3), strict=False, below_median=True)"
        )

    @pytest.mark.parametrize("shape", [(3, 3), (5, 3), (4, 2)])
    def test_a_prior_of_another_shape_is_one_clear_error(self, shape):
        with pytest.raises(ValueError, match="prior"):
            Mondrian(KAnonymity(2) & JSimilarity(0.5))(view_of("ABCD", "aaab"), np.full(shape, 1 / shape[1]))
