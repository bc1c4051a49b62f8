"""The checker: right by hand, independent of what it checks, in agreement with it, and not fooled."""

import ast
import inspect
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import divergence, transport
from places import DATA as SHARED
from strategies import tables, view_of

import foreknow.defenses
from foreknow.defenses import (
    BasicBetaLikeness,
    BetaLikeness,
    BTPrivacy,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    GroupPredicate,
    JSimilarity,
    JSReduce,
    KAnonymity,
    Mondrian,
    PosteriorBound,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    all_of,
    any_of,
)
from foreknow.defenses.requirements.summary import TableCounts, summarize_groups, summarize_records
from foreknow.evaluation import adult, verify
from foreknow.evaluation.checks import definitions
from foreknow.evaluation.checks.verify import verify_table
from foreknow.models import Categorical, Exact, Grouping, Hierarchy, Numeric, Omega, Release, Schema, Sinkhorn, View

TREE = Hierarchy([("a", "low", "*"), ("b", "low", "*"), ("c", "high", "*")])
# The groups are {a, a, b}, {b, c, c, c} and {a}; the published table has 3 a, 2 b, 3 c. One record is suppressed.
VIEW = view_of("ABCDEFGHI", "aabbcccac")
RELEASE = Release(VIEW, [5, 5, 5, 6, 6, 6, 6, 8, -1])
ADULT, HIERARCHIES = SHARED / "adult", SHARED / "adult-hierarchies"


def levels(release, requirement, prior=None):
    table = verify(release, requirement, prior)
    assert table["group"].tolist() == list(range(release.groups))
    return table["level"].tolist()


class TestByHand:
    @pytest.mark.parametrize(
        ("requirement", "expected"),
        [
            (KAnonymity(3), [3, 4, 1]),
            (DistinctDiversity(2), [2, 2, 1]),
            (EntropyDiversity(1.8), [3 / 2 ** (2 / 3), 4 / 3 ** (3 / 4), 1]),  # e.g. (2/3)^(-2/3) (1/3)^(-1/3)
            (RecursiveDiversity(1, 1), [2 / 3, 3 / 4, 1]),
            (RecursiveDiversity(3, 2), [2, 3, math.inf]),
            (RecursiveDiversity(3, 3), [math.inf] * 3),
            (FrequencyDiversity(1.4), [3 / 2, 4 / 3, 1]),
            (BasicBetaLikeness(0.8), [(2 / 3) / (3 / 8) - 1, (3 / 4) / (3 / 8) - 1, 8 / 3 - 1]),
            (BetaLikeness(0.8), [7 / 9, math.inf, math.inf]),  # -ln 3/8 is .98
            (TCloseness(0.4), [7 / 24 + 2 / 24, 3 / 8, 5 / 8]),
            (TCloseness(0.4, "ordered"), [(7 / 24 + 9 / 24) / 2, (3 / 8 + 3 / 8) / 2, (5 / 8 + 3 / 8) / 2]),
            (TCloseness(0.4, TREE), [9 / 24, 3 / 8, 2 / 8 * 1 / 2 + 3 / 8]),  # the last moves 2/8 of a to b, a step up
        ],
    )
    def test_what_each_group_attains(self, requirement, expected):
        assert levels(RELEASE, requirement) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("requirement", "expected"),
        [
            (KAnonymity(3), [True, True, False]),
            (KAnonymity(4), [False, True, False]),
            (DistinctDiversity(2), [True, True, False]),
            (EntropyDiversity(1.8), [True, False, False]),
            (RecursiveDiversity(3, 2), [True, False, False]),  # strictly less
            (RecursiveDiversity(1, 1), [True, True, False]),
            (FrequencyDiversity(1.4), [True, False, False]),
            (BasicBetaLikeness(1), [True, True, False]),
            (BetaLikeness(9), [True, False, False]),
            (TCloseness(0.375), [True, True, False]),
            (TCloseness(0.3749), [False, False, False]),
            (TCloseness(0.34, "ordered"), [True, False, False]),
            (TCloseness(0.5, TREE), [True, True, True]),
        ],
    )
    def test_whether_it_holds(self, requirement, expected):
        table = verify(RELEASE, requirement)
        assert table["holds"].tolist() == expected
        assert set(table["bound"]) == {requirement.bound}
        assert set(table["requirement"]) == {repr(requirement)}

    def test_the_salaries_of_the_t_closeness_paper(self):
        """Li, Li, Venkatasubramanian 2007: {3, 4, 5} is .375 and {6, 8, 11} .167 from 3, ..., 11 thousand."""
        salaries, groups = [3, 4, 5, 6, 8, 11, 7, 9, 10], ["first"] * 3 + ["second"] * 3 + ["third"] * 3
        table = pd.DataFrame({"salary": salaries, "group": groups, "age": ["*"] * 9})
        found = verify_table(table, "salary", range(3, 12), TCloseness(0.2, "ordered"))
        assert found["group"].tolist() == ["first", "second", "third"]
        assert found["level"].tolist() == pytest.approx([0.375, 1 / 6, 17 / 72])
        assert found["holds"].tolist() == [False, True, False]

    def test_ordered_closeness_of_two_values(self):
        table = pd.DataFrame({"result": list("aabb"), "group": [1, 1, 1, 2]})
        found = verify_table(table, "result", "ab", TCloseness(0.2, "ordered"))
        assert found["level"].tolist() == pytest.approx([2 / 3 - 1 / 2, 1 / 2])

    def test_the_divergence_of_the_paper_s_third_group(self):
        """Worked by hand: .53999 bits are .37429 nats."""
        release = Release(view_of("AC", "ab", domain="ab"), [0, 0])
        prior = np.array([[0.31, 0.05], [0.02, 0.31]])
        prior /= prior.sum(axis=1, keepdims=True)
        assert levels(release, JSimilarity(0.6), prior) == pytest.approx([0.53999], abs=1e-5)
        assert levels(release, JSimilarity(0.6, math.e), prior) == pytest.approx([0.37429], abs=1e-5)
        assert verify(release, JSimilarity(0.54), prior)["holds"].tolist() == [True]
        assert verify(release, JSimilarity(0.53), prior)["holds"].tolist() == [False]

    def test_similarity_reads_each_group_s_own_members(self):
        """Certain and opposite: 1 bit; equal: 0; suppressed records do not count."""
        release = Release(view_of("ABCDE", "abcab"), [1, 0, 1, 0, -1])
        prior = np.array([[1, 0, 0], [0, 0.5, 0.5], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]], dtype=float)
        assert levels(release, JSimilarity(0.5), prior) == pytest.approx([0, 1])

    def test_similarity_is_not_on_the_table(self):
        with pytest.raises(ValueError, match="give the checker the prior"):
            verify(RELEASE, JSimilarity(0.5))
        with pytest.raises(ValueError, match="give the checker the prior"):
            verify_table(RELEASE.table, "result", "abc", KAnonymity(2) & JSimilarity(0.5))

    def test_the_posterior_of_one_of_three(self):
        """One of three has HIV, with priors .05, .05 and .3; the third's posterior is .58209, exactly .80282."""
        release = Release(view_of("ABCD", "abbb", domain="ab"), [0, 0, 0, -1])
        prior = np.array([[0.05, 0.95], [0.05, 0.95], [0.3, 0.7], [1.0, 0.0]])
        assert levels(release, PosteriorBound(0.4, Omega()), prior) == pytest.approx([0.58209 - 1 / 3], abs=1e-5)
        assert levels(release, PosteriorBound(0.4, Exact()), prior) == pytest.approx([0.80282 - 1 / 3], abs=1e-5)
        # The other two have b with 76/89, the third a with 39/67.
        belief = PosteriorBound(0.4, Omega(), quantity="belief")
        assert levels(release, belief, prior) == pytest.approx([76 / 89])
        assert levels(release, replace(belief, sensitive_set=("a",)), prior) == pytest.approx([39 / 67])
        assert verify(release, PosteriorBound(0.4, Omega()), prior)["holds"].tolist() == [True]
        assert verify(release, PosteriorBound(0.4, Exact()), prior)["holds"].tolist() == [False]

    def test_how_far_a_belief_moved(self):
        """Of ages 20, 24, 50, 60 in a domain of width 40; at 50, 50 weighs 1 and 60 weighs 1 - (.25 / .5)^2 = 3/4."""
        frame = pd.DataFrame({"id": range(4), "age": [20, 24, 50, 60], "result": list("aaab")})
        view = View(frame, Schema({"age": Numeric()}, "result", ("a", "b")))
        # With a, a the third is sure of a. With a, b the columns sum to 10/7 and 4/7, so that the fourth has .3 and 1.
        third = divergence([[4 / 7, 3 / 7], [1, 0]])
        fourth = divergence([[3 / 7, 4 / 7], [3 / 13, 10 / 13]])
        assert levels(Release(view, [0, 1, 0, 1]), BTPrivacy(0.5, 0.3)) == pytest.approx([third, fourth])
        assert levels(Release(view, [0, 1, 0, -1]), BTPrivacy({"age": 0.5}, 0.3, base=math.e)) == pytest.approx(
            [third * math.log(2), 0]
        )
        assert levels(Release(view, [0, 0, 1, 1]), BTPrivacy(0.5, 0.3)) == pytest.approx([0, 0])

    @pytest.mark.parametrize("distance", ["ordered", Hierarchy([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")])])
    def test_near_values_are_taken_together(self, distance):
        """A third has b, the others a; with b = 1, a value half as far as the farthest weighs 3/4."""
        schema = Schema({"sex": Categorical(("f", "m"))}, "result", tuple("abc"))
        view = View(pd.DataFrame({"id": range(3), "sex": list("fff"), "result": list("aab")}), schema)
        if distance == "ordered":
            rows = {"prior": [11 / 21, 7 / 21, 3 / 21], "a": [40 / 61, 21 / 61, 0], "b": [15 / 44, 14 / 44, 15 / 44]}
        else:
            rows = {"prior": [11 / 21, 10 / 21, 0], "a": [4 / 7, 3 / 7, 0], "b": [3 / 7, 4 / 7, 0]}
        found = levels(Release(view, [0, 0, 1]), BTPrivacy(0.5, 0.3, distance=distance, smoothing=1))
        assert found == pytest.approx([divergence([rows["prior"], rows[value]]) for value in "ab"])

    def test_a_far_cell_of_a_hierarchy_weighs_less(self):
        """In a tree of height 2, siblings lie 1/2 apart: with B = 1 they weigh 3/4, and others nothing."""
        jobs = Categorical(tuple("ncs"), Hierarchy([("n", "care", "*"), ("c", "care", "*"), ("s", "craft", "*")]))
        frame = pd.DataFrame({"id": range(3), "job": list("ncs"), "result": list("abb")})
        view = View(frame, Schema({"job": jobs}, "result", ("a", "b")))
        first, second = divergence([[4 / 7, 3 / 7], [1, 0]]), divergence([[3 / 7, 4 / 7], [0, 1]])
        assert levels(Release(view, [0, 1, 2]), BTPrivacy(1, 0.3)) == pytest.approx([first, second, 0])

    def test_cells_are_read_as_the_schema_reads_them(self):
        """Ages may stand in the table as text, and categories be of several types."""
        frame = pd.DataFrame({"id": range(3), "age": list("132"), "ward": [1, "x", 1], "result": list("abb")})
        view = View(frame, Schema({"age": Numeric(), "ward": Categorical((1, "x"))}, "result", ("a", "b")))
        # Of the same ward, the third is 1 from the first over 2: with B = 1 each weighs 3/4 for the other.
        found = levels(Release(view, [0, 1, 2]), BTPrivacy(1, 0.3))
        assert found == pytest.approx([divergence([[4 / 7, 3 / 7], [1, 0]]), 0, divergence([[3 / 7, 4 / 7], [0, 1]])])

    def test_beliefs_are_not_on_the_table(self):
        with pytest.raises(ValueError, match=r"PosteriorBound speaks of beliefs.*the release and the prior"):
            verify(RELEASE, KAnonymity(2) & PosteriorBound(0.5))
        for requirement in (PosteriorBound(0.5), BTPrivacy(0.5, 0.5)):
            with pytest.raises(ValueError, match=r"speaks of beliefs.*use verify with the release"):
                verify_table(RELEASE.table, "result", "abc", requirement)

    def test_conjuncts_have_rows_of_their_own(self):
        table = verify(RELEASE, KAnonymity(3) & DistinctDiversity(2) & TCloseness(0.4))
        assert table[["group", "requirement", "level", "bound", "holds"]].equals(table)
        assert len(table) == 9
        assert table.groupby("group")["holds"].all().tolist() == [True, True, False]

    def test_a_disjunction_counts_what_holds(self):
        either = any_of(KAnonymity(4), RecursiveDiversity(2.5, 2), all_of(KAnonymity(1), DistinctDiversity(1)))
        table = verify(RELEASE, either)
        assert table["level"].tolist() == [2, 2, 1]
        assert table["bound"].tolist() == [1, 1, 1]
        assert table["holds"].all()
        assert verify(RELEASE, KAnonymity(9) | DistinctDiversity(2))["holds"].tolist() == [True, True, False]

    def test_nothing_published(self):
        table = verify(Release(VIEW, [-1] * 9), KAnonymity(2) & TCloseness(0.1))
        assert list(table.columns) == ["group", "requirement", "level", "bound", "holds"]
        assert table.empty

    def test_one_value_and_one_group(self):
        release = Release(view_of("ABC", "aaa"), [0, 0, 0])
        asked = KAnonymity(3) & DistinctDiversity(1) & EntropyDiversity(1) & TCloseness(0) & TCloseness(0, "ordered")
        assert verify(release, asked)["holds"].all()

    def test_a_bare_table(self):
        """Any column names but ``group``, any order of rows, values that are no text."""
        table = pd.DataFrame(
            {"x": ["*"] * 5, "grade": [2, 1, 1, 2, 2], "group": ["q", "p", "q", "p", "q"]}, index=range(5, 0, -1)
        )
        found = verify_table(table, "grade", (1, 2), KAnonymity(3) & DistinctDiversity(2)).set_index(
            ["group", "requirement"]
        )
        assert found["level"].to_dict() == {
            ("q", "KAnonymity(k=3)"): 3,
            ("p", "KAnonymity(k=3)"): 2,
            ("q", "DistinctDiversity(l=2)"): 2,
            ("p", "DistinctDiversity(l=2)"): 2,
        }

    def test_what_it_does_not_know_is_refused(self):
        class Pretty(GroupPredicate):
            bound = 1.0

            def level(self, summary):
                return np.ones(len(summary))

            def __call__(self, summary):
                return self.level(summary) >= 1

        with pytest.raises(TypeError, match="the checker does not know"):
            verify(RELEASE, Pretty())


class TestIndependence:
    @pytest.mark.parametrize("module", [inspect.getmodule(verify), definitions])
    def test_it_takes_only_the_names_of_requirements(self, module):
        tree = ast.parse(inspect.getsource(module))
        own = ("foreknow.evaluation.arguments", definitions.__name__)
        taken = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("foreknow") for alias in node.names)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("foreknow"):
                assert node.module in (
                    *("foreknow.defenses", "foreknow.models", "foreknow.models.arrays", "foreknow.models.settings"),
                    "foreknow.defenses.requirements.requirement",
                    *own,
                )
                taken += [alias.name for alias in node.names if node.module == "foreknow.defenses"]
                assert "KernelPrior" not in [alias.name for alias in node.names]
        assert taken
        for name in taken:
            assert issubclass(getattr(foreknow.defenses, name), Requirement)
        # A class is compared with, never called; and no requirement is asked for its own level.
        called = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not called & set(taken)
        assert not {"level", "bind"} & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}

    def test_it_works_where_no_requirement_does(self, monkeypatch):
        def broken(*_):
            raise AssertionError

        asked = (KAnonymity(3) & TCloseness(0.4) & JSimilarity(5.0)) & (DistinctDiversity(2) | EntropyDiversity(2))
        asked &= (
            BTPrivacy(0.5, 1) & PosteriorBound(1) & (BetaLikeness(1) | FrequencyDiversity(1) | BasicBetaLikeness(1))
        )
        for name in foreknow.defenses.__all__:
            kind = getattr(foreknow.defenses, name)
            if inspect.isclass(kind) and issubclass(kind, Requirement) and kind is not Requirement:
                for method in ("level", "__call__", "bind"):
                    monkeypatch.setattr(kind, method, broken, raising=False)
        found = verify(RELEASE, asked, np.full((9, 3), 1 / 3))
        assert found["holds"].groupby(found["group"]).all().tolist() == [True, True, False]


BELIEFS = st.builds(
    PosteriorBound,
    st.sampled_from([0, 0.1, 0.3, 0.6]),
    st.sampled_from([Omega(), Exact(), Sinkhorn()]),
    st.none(),
    st.sampled_from(["gain", "belief"]),
) | st.builds(
    BTPrivacy,
    st.sampled_from([0.2, 0.5, 1.5, {"age": 0.1, "weight": 3}]),
    st.sampled_from([0, 0.1, 0.3, 0.6]),
    st.sampled_from([Omega(), Exact()]),
    st.sampled_from(["equal", "ordered", TREE]),
    st.sampled_from([0.4, 0.6, 2]),
    st.sampled_from([2, math.e]),
)
REQUIREMENTS = st.one_of(
    st.builds(KAnonymity, st.integers(1, 5)),
    st.builds(DistinctDiversity, st.integers(1, 3)),
    st.builds(EntropyDiversity, st.sampled_from([1, 1.3, 1.5, 2, 3])),
    st.builds(RecursiveDiversity, st.sampled_from([0.5, 1, 2, 3]), st.integers(1, 3)),
    st.builds(TCloseness, st.sampled_from([0, 0.125, 0.25, 0.3, 0.5, 1]), st.sampled_from(["equal", "ordered", TREE])),
    st.builds(JSimilarity, st.sampled_from([0, 0.2, 0.5, 1]), st.sampled_from([2, math.e])),
    st.builds(FrequencyDiversity, st.sampled_from([1, 1.5, 2, 3])),
    st.builds(BasicBetaLikeness, st.sampled_from([0, 0.3, 1, 2])),
    st.builds(BetaLikeness, st.sampled_from([0, 0.3, 1, 2])),
    BELIEFS,
)
COMBINED = st.lists(REQUIREMENTS, min_size=1, max_size=3).map(lambda some: all_of(*some)) | st.lists(
    REQUIREMENTS, min_size=2, max_size=3
).map(lambda some: any_of(*some))


def enforced(requirement, view, prior, release):
    """A requirement bound as in a defense, and the summaries it is evaluated on."""
    bound = requirement.bind(view, prior)
    records = summarize_records(view, prior, members=bound.reads_members)
    table = TableCounts(view.schema.values, release.counts.sum(axis=0))
    return bound, summarize_groups(records, release.group, table)


class TestAgreement:
    @given(drawn=tables(), data=st.data(), requirement=REQUIREMENTS | BELIEFS)
    def test_level_by_level(self, drawn, data, requirement):
        """Levels of the checker, read from the table, equal those of the defense, read from summaries, for any grouping."""
        view, prior = drawn
        labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(view), max_size=len(view)))
        release = Release(view, np.array(labels))
        found = verify(release, requirement, prior)
        requirement, groups = enforced(requirement, view, prior, release)
        if release.groups:
            np.testing.assert_allclose(found["level"], requirement.level(groups), atol=1e-9)
            np.testing.assert_array_equal(found["holds"], requirement(groups))
        else:
            assert found.empty

    @given(drawn=tables(most=12), data=st.data(), requirement=COMBINED)
    def test_combinations_hold_where_the_defense_says_so(self, drawn, data, requirement):
        view, prior = drawn
        labels = data.draw(st.lists(st.integers(0, 2), min_size=len(view), max_size=len(view)))
        release = Release(view, np.array(labels))
        found = verify(release, requirement, prior).groupby("group", sort=True)["holds"].all()
        requirement, groups = enforced(requirement, view, prior, release)
        np.testing.assert_array_equal(found, requirement(groups))

    @given(drawn=tables(), requirement=COMBINED, strict=st.booleans())
    def test_what_mondrian_publishes_passes(self, drawn, requirement, strict):
        view, prior = drawn
        try:
            grouping = Mondrian(requirement, strict)(view, prior)
        except ValueError:  # not even the whole view satisfies it
            whole = verify(Release(view, [0] * len(view)), requirement, prior)
            assert not whole["holds"].all() or requirement.smallest > len(view)
            return
        assert verify(Release(view, grouping), requirement, prior)["holds"].all()

    @given(
        drawn=tables(),
        k=st.integers(1, 4),
        t=st.sampled_from([0, 0.2, 0.4, 1]),
        j=st.sampled_from([0, 0.3, 1, 2]),
        distance=st.sampled_from(["equal", "ordered", TREE]),
        also=st.none() | REQUIREMENTS,
        leftovers=st.sampled_from(["suppress", "counterfeit"]),
        patience=st.none() | st.integers(4, 8),
    )
    def test_what_js_reduce_publishes_passes(self, drawn, k, t, j, distance, also, leftovers, patience):
        view, prior = drawn
        if k > len(view):
            return
        defense = JSReduce(k, t, j, distance=distance, also=also, leftovers=leftovers, patience=patience)
        assert verify(Release(view, defense(view, prior)), defense.requirement, prior)["holds"].all()

    @given(drawn=tables(), k=st.integers(1, 4), t=st.sampled_from([0, 0.2, 0.4]), j=st.sampled_from([0, 0.3, 1]))
    def test_relaxed_groups_are_counted_as_failing(self, drawn, k, t, j):
        view, prior = drawn
        if k > len(view):
            return
        defense = JSReduce(k, t, j, leftovers="relax")
        grouping = defense(view, prior)
        release = Release(view, grouping)
        found = verify(release, defense.requirement, prior).groupby("group")["holds"].all()
        told = [note for note in grouping.notes if "groups do not satisfy" in note]
        said = f"{int((~found).sum())} of {release.groups} groups do not satisfy"
        assert [note.startswith(said) for note in told] == ([True] if not found.all() else [])

    @given(drawn=tables(), data=st.data(), distance=st.sampled_from(["equal", "ordered", TREE]))
    def test_closeness_is_the_cheapest_transport(self, drawn, data, distance):
        view, _ = drawn
        labels = data.draw(st.lists(st.integers(0, 2), min_size=len(view), max_size=len(view)))
        ground = {
            "equal": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
            "ordered": [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]],
            TREE: [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]],
        }[distance]
        release = Release(view, np.array(labels))
        everything = view.frame["result"].tolist()
        whole = [everything.count(value) / len(everything) for value in "abc"]
        for group, level in enumerate(levels(release, TCloseness(1, distance))):
            shown = release.table[release.table["group"] == group]["result"].tolist()
            share = [shown.count(value) / len(shown) for value in "abc"]
            assert level == pytest.approx(transport(share, whole, ground), abs=1e-7)

    @given(drawn=tables(), base=st.sampled_from([2, math.e, 10]))
    def test_similarity_is_the_divergence_of_the_priors(self, drawn, base):
        view, prior = drawn
        release = Release(view, [0] * len(view))
        assert levels(release, JSimilarity(1, base), prior) == pytest.approx(
            [divergence(prior.tolist(), base)], abs=1e-9
        )


class TestAdult:
    @pytest.mark.skipif(not ADULT.is_dir(), reason="the Adult table is not here")
    @pytest.mark.skipif(not HIERARCHIES.is_dir(), reason="ARX's hierarchies are not here")
    def test_closeness_over_the_tree_of_education(self):
        """ARX's tree over 16 educations, of which half are in the groups."""
        tree = Hierarchy.read(HIERARCHIES / "adult_hierarchy_education.csv")
        (view,) = adult(ADULT, sensitive="education", quasi_identifiers=["age", "sex"])
        view = View(view.frame.iloc[:1200], view.schema)
        prior = np.full((1200, 16), 1 / 16)
        asked = KAnonymity(5) & TCloseness(0.2, tree)
        release = Release(view, Mondrian(asked)(view, prior))
        assert release.groups > 20
        assert verify(release, asked)["holds"].all()
        some = Release(view, np.random.default_rng(1).integers(-1, 60, 1200))
        requirement, groups = enforced(asked.parts[1], view, prior, some)
        np.testing.assert_allclose(levels(some, requirement), requirement.level(groups), atol=1e-12)


class TestBrokenReleases:
    """A release that was sound, changed in one place."""

    view = view_of("ABCDEFGHIJKL", "abcabcabcabc")
    asked = KAnonymity(3) & DistinctDiversity(3) & TCloseness(0.2)

    def sound(self):
        grouping = Mondrian(self.asked)(self.view, np.full((12, 3), 1 / 3))
        release = Release(self.view, grouping)
        assert release.groups == 4
        assert verify(release, self.asked)["holds"].all()
        return release

    def failing(self, release):
        found = verify(release, self.asked)
        return {(row.group, row.requirement.split("(")[0]) for row in found[~found["holds"]].itertuples()}

    def test_a_record_put_into_another_group(self):
        labels = self.sound().group.copy()
        labels[0] = 3  # A, with a, was in group 0
        assert self.failing(Release(self.view, labels)) == {
            (0, "KAnonymity"),
            (0, "DistinctDiversity"),
            (0, "TCloseness"),
        }

    def test_a_record_left_out(self):
        labels = self.sound().group.copy()
        labels[4] = -1  # E, with b, was in group 1; of the others .333 less 3/11 is left
        assert self.failing(Release(self.view, labels)) == {
            (1, "KAnonymity"),
            (1, "DistinctDiversity"),
            (1, "TCloseness"),
        }

    def test_a_value_published_wrongly(self):
        values = self.view.sensitive.copy()
        values[8] = 0  # I, with c, in group 2
        assert self.failing(Release(self.view, Grouping(self.sound().group, values=values))) == {
            (2, "DistinctDiversity"),
            (2, "TCloseness"),
        }

    def test_values_of_two_groups_exchanged_in_the_table(self):
        table = self.sound().table
        table.loc[[0, 4], "result"] = table.loc[[4, 0], "result"].to_numpy()  # a of group 0 for b of group 1
        found = verify_table(table, "result", "abc", self.asked)
        assert set(found[~found["holds"]]["group"]) == {0, 1}
        assert found[found["requirement"] == "KAnonymity(k=3)"]["holds"].all()

    def test_groups_merged_in_the_table_are_larger_not_sounder(self):
        table = self.sound().table.assign(group=0)
        assert verify_table(table, "result", "abc", KAnonymity(12) & TCloseness(0))["holds"].all()
        assert not verify_table(table, "result", "abc", KAnonymity(13))["holds"].any()


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        (np.full((9, 3), np.nan), "row 0 of the prior"),
        (np.tile([1.5, -0.5, 0.0], (9, 1)), "row 0 of the prior"),
        (np.full((9, 3), 2 / 3), "row 0 of the prior"),
        (np.full((8, 3), 1 / 3), r"shape \(8, 3\); the release has 9 records and 3 values"),
        (np.full((9, 2), 1 / 2), r"shape \(9, 2\)"),
    ],
)
def test_what_is_no_prior_certifies_nothing(prior, match):
    with pytest.raises(ValueError, match=match):
        verify(RELEASE, JSimilarity(0.6), prior)


@pytest.mark.parametrize(("rows", "columns"), [("BACDEFGHI", "abc"), ("ABCDEFGIH", "abc"), ("ABCDEFGHI", "acb")])
def test_labels_of_a_prior_are_those_of_the_view(rows, columns):
    """Rows in another order come before or after those of the view."""
    prior = pd.DataFrame(np.full((9, 3), 1 / 3), index=list(rows), columns=list(columns))
    with pytest.raises(ValueError, match="rows or columns are not the release's respondents or values"):
        verify(RELEASE, JSimilarity(0.6), prior)
    given = pd.DataFrame(np.full((9, 3), 1 / 3), index=list("ABCDEFGHI"), columns=list("abc"))
    assert verify(RELEASE, JSimilarity(0.6), given)["level"].tolist() == pytest.approx([0, 0, 0])
