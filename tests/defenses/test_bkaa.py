"""BKAA against its algorithm in plain Python, its treatment of leftovers, and its promises."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import oracle
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import tables, view_of

from foreknow.defenses import (
    BKAA,
    BasicBetaLikeness,
    BetaLikeness,
    DistinctDiversity,
    GroupPredicate,
    Infeasible,
    JSimilarity,
    KAnonymity,
    TCloseness,
)
from foreknow.defenses.algorithms.nearest_point import nearest_point_order
from foreknow.evaluation.checks.verify import verify
from foreknow.models import Release

settings_of = st.builds(
    dict,
    k=st.integers(1, 4),
    beta=st.sampled_from([None, 0.2, 0.5, 1, 3]),
    j=st.sampled_from([0.05, 0.3, 0.6, 2.0]),
    enhanced=st.booleans(),
    patience=st.sampled_from([None, 4, 6]),
)


def beta_like(values, whole, beta, enhanced):
    """Cao and Karras, definitions 2 and 3, for lists of values; always true without a bound."""
    for s in set(values) if beta is not None else ():
        p, q = whole.count(s) / len(whole), values.count(s) / len(values)
        if q > p and (q - p) / p > (min(beta, -math.log(p)) if enhanced else beta) + oracle.SLACK:
            return False
    return True


def satisfies(view, prior, k, beta, j, enhanced):
    """Return whether a group satisfies in a table: ``(group, published records)``."""
    results = view.frame["result"].tolist()

    def judge(group, published):
        return (
            len(group) >= k
            and beta_like([results[i] for i in group], [results[i] for i in published], beta, enhanced)
            and oracle.divergence([prior[i] for i in group]) <= j + oracle.SLACK
        )

    return judge


def insert(groups, left, order, good):
    """Algorithm 1, lines 16 to 24, with the nearest group along the order: the groups with the records that joined."""
    rank = {record: place for place, record in enumerate(order)}
    groups, grown = [list(group) for group in groups], [list(group) for group in groups]

    def distance(number, record):
        """Distance to the nearest record of the group as grown; ties go to the earlier one."""
        return min((abs(rank[member] - rank[record]), rank[member]) for member in grown[number])

    for record in sorted(left, key=rank.get):
        for number in sorted(range(len(groups)), key=lambda number: distance(number, record)):
            if good([*groups[number], record]):
                groups[number].append(record)
                break
    return groups


def enforced(groups, order, good, nearest=32):
    """As `oracle.enforce_on_published`; a failing group is merged with the fewest nearest groups with which it satisfies."""
    start = {record: place for place, record in enumerate(order)}
    while True:
        published = [record for group in groups for record in group]
        position = [min(start[record] for record in group) for group in groups]
        content = dict(enumerate(map(list, groups)))
        failing = [g for g in content if not good(content[g], published)]
        if not failing:
            return groups
        for g in failing:
            if g not in content or good(content[g], published):
                continue
            others = sorted((o for o in content if o != g), key=lambda o: (abs(position[o] - position[g]), o))[:nearest]
            firsts = [others[: i + 1] for i in range(len(others))]
            for some in [*([o] for o in others), *firsts]:
                together = [record for o in [*some, g] for record in content[o]]
                if good(together, published):
                    for o in [*some, g]:
                        del content[o]
                    content[some[0]] = together
                    break
        groups = [group for group in content.values() if good(group, published)]


def algorithm_1(view, prior, k, beta, j, enhanced, patience):
    """Groups as grown, groups with the records that joined, and groups that satisfy in the published table."""
    good, everybody = satisfies(view, prior, k, beta, j, enhanced), range(len(view))
    order = nearest_point_order(view.people).tolist()
    grown, left = oracle.grow(order, lambda group: good(group, everybody), patience)
    joined = insert(grown, left, order, lambda group: good(group, everybody))
    return oracle.partition(grown), oracle.partition(joined), oracle.partition(enforced(joined, order, good))


def larger(seed):
    """120 records of three values, one of them rare, and of three kinds of priors."""
    rng = np.random.default_rng(seed)
    n = 120
    view = view_of(
        [f"p{i}" for i in range(n)], rng.choice(list("abc"), n, p=[0.6, 0.35, 0.05]), ages=rng.integers(0, 90, n)
    )
    return view, rng.dirichlet(np.full(3, 0.4), size=3)[rng.integers(0, 3, n)]


LARGER = {"k": 4, "beta": 1, "j": 0.5, "enhanced": True, "patience": 15}


class TestAsPrinted:
    @given(drawn=tables(most=20), settings=settings_of)
    def test_equals_the_algorithm(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        _, joined, kept = algorithm_1(view, prior, **settings)
        assert oracle.groups_of(BKAA(**settings, judged="view")(view, prior).labels) == joined
        assert oracle.groups_of(BKAA(**settings)(view, prior).labels) == kept

    @given(drawn=tables(most=20), k=st.integers(1, 4), t=st.sampled_from([0.2, 0.5]), j=st.sampled_from([0.3, 2.0]))
    def test_t_closeness_in_place_of_beta_likeness(self, drawn, k, t, j):
        """Section 6.3.4: k-anonymity, t-closeness and J-similarity, as of JS-reduce."""
        view, prior = drawn
        if k > len(view):
            return
        results, order = view.frame["result"].tolist(), nearest_point_order(view.people).tolist()
        alike = satisfies(view, prior, k, None, j, True)

        def good(group):
            return alike(group, order) and oracle.close([results[i] for i in group], results, t)

        joined = insert(*oracle.grow(order, good, None), order, good)
        found = BKAA(k, None, j, also=TCloseness(t), judged="view")(view, prior)
        assert oracle.groups_of(found.labels) == oracle.partition(joined)

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("enhanced", [False, True])
    @pytest.mark.parametrize("patience", [None, 15])
    def test_equals_the_algorithm_on_larger_tables(self, seed, enhanced, patience):
        view, prior = larger(seed)
        settings = LARGER | {"enhanced": enhanced, "patience": patience}
        _, joined, kept = algorithm_1(view, prior, **settings)
        assert oracle.groups_of(BKAA(**settings, judged="view")(view, prior).labels) == joined
        assert oracle.groups_of(BKAA(**settings)(view, prior).labels) == kept

    def test_the_larger_tables_reach_what_they_are_for(self):
        """Over these draws records join groups, others do not, and groups are merged, by several too."""
        joins = refused = merges = several = 0
        for seed in range(6):
            view, prior = larger(seed)
            for patience in (None, 15):
                grown, joined, kept = algorithm_1(view, prior, **LARGER | {"patience": patience})
                inside = [set().union(*groups) for groups in (grown, joined)]
                joins += len(inside[1] - inside[0])
                refused += len(view) - len(inside[1])
                merges += len(kept - joined)
                several += any(sum(old < new for old in joined) > 2 for new in kept)
        assert min(joins, refused, merges, several) > 0

    @given(drawn=tables(most=20), settings=settings_of, leftovers=st.sampled_from(["join", "suppress", "counterfeit"]))
    def test_whatever_is_published_satisfies(self, drawn, settings, leftovers):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        defense = BKAA(**settings, leftovers=leftovers)
        grouping = defense(view, prior)
        assert verify(Release(view, grouping), defense.requirement, prior=prior)["holds"].all()
        said = sum(int(note.split()[0]) for note in grouping.notes if note.endswith("suppressed."))
        assert said == (grouping.labels < 0).sum()
        if leftovers != "counterfeit":
            assert grouping.values is None


def test_by_hand():
    """Ages 20 to 26 and 50, in order from 50, whose prior is certain of c. Groups with that record diverge; the others pair up.

    This takes patience. Without it no group closes, because the first record stays in the open group.
    """
    view = view_of("ABCDEFGH", "abababac", ages=[20, 21, 22, 23, 24, 25, 26, 50])
    prior = np.array([[0.5, 0.5, 0]] * 7 + [[0, 0, 1.0]])
    printed = BKAA(2, 7, 0.1, enhanced=False)(view, prior)
    assert (printed.labels == -1).all()
    assert printed.notes == ("8 records fit no group and are suppressed.",)
    patient = BKAA(2, 7, 0.1, enhanced=False, patience=4)(view, prior)
    assert oracle.groups_of(patient.labels) == {frozenset(pair) for pair in [(6, 5), (4, 3), (2, 1, 0)]}
    assert patient.notes == (
        "1 leftover record joined a group.",
        "1 record fits no group and is suppressed.",
    )


def test_enhanced_or_basic():
    """Three quarters of the records have a. A gain of 1/3 is certainty, which basic beta-likeness allows and enhanced does not."""
    view = view_of("ABCD", "aaab", domain="ab")
    prior = np.full((4, 2), 0.5)
    assert oracle.groups_of(BKAA(1, 3, 1.0, enhanced=False)(view, prior).labels) == {frozenset({i}) for i in range(4)}
    assert oracle.groups_of(BKAA(1, 3, 1.0)(view, prior).labels) == {frozenset(range(4))}
    assert BKAA(2, 3, 1).requirement == KAnonymity(2) & BetaLikeness(3) & JSimilarity(1)
    assert BKAA(2, 3, 1, enhanced=False, base=math.e).requirement == KAnonymity(2) & BasicBetaLikeness(3) & JSimilarity(
        1, math.e
    )


class TestRelax:
    @given(drawn=tables(most=20), settings=settings_of)
    @example(drawn=(view_of("ABCD", "aaab"), np.full((4, 3), 1 / 3)), settings={"k": 2, "beta": 0, "j": 0.0})
    def test_all_records_are_published_and_failures_are_noted(self, drawn, settings):
        view, prior = drawn
        if settings["k"] > len(view):
            return
        defense = BKAA(**settings, leftovers="relax")
        grouping = defense(view, prior)
        release = Release(view, grouping)
        assert (grouping.labels >= 0).all()
        assert np.bincount(release.group).min() >= settings["k"]
        verdict = verify(release, defense.requirement, prior=prior).groupby("group")["holds"].all()
        said = [note.split()[0:3:2] for note in grouping.notes if "groups do not satisfy" in note]
        assert said == ([[str((~verdict).sum()), str(len(verdict))]] if (~verdict).any() else [])

    def test_what_no_loosening_helps_is_infeasible(self):
        with pytest.raises(
            Infeasible, match=r"4 records .* with beta and j loosened all the way; leave out DistinctDiversity\(l=2\)"
        ):
            BKAA(2, 1, 0.5, also=DistinctDiversity(2), leftovers="relax")(
                view_of("ABCD", "aaaa"), np.full((4, 3), 1 / 3)
            )


def test_a_counterfeit_value_where_the_own_one_breaks_the_group():
    """c has a share of 1/8 in the table, and beta forbids 1/2 in a group; so the last record, which has c, shows a."""
    view = view_of("ABCDEFGH", "abababac", ages=[30, 31, 32, 33, 34, 35, 36, 20], domain="abc")
    grouping = BKAA(2, 1, 1.0, enhanced=False, leftovers="counterfeit", patience=2, judged="view")(
        view, np.full((8, 3), 1 / 3)
    )
    assert (grouping.labels >= 0).all()
    assert grouping.values.tolist()[:7] == view.sensitive.tolist()[:7]
    assert grouping.values[7] != 2
    assert any(note.endswith("1 of them with a counterfeit sensitive value.") for note in grouping.notes)


@given(drawn=tables(most=20), leftovers=st.sampled_from(["join", "suppress", "counterfeit"]))
def test_what_else_is_asked_is_kept(drawn, leftovers):
    view, prior = drawn
    defense = BKAA(2, 2, 0.6, also=DistinctDiversity(2), leftovers=leftovers, patience=5)
    release = Release(view, defense(view, prior))
    assert verify(release, defense.requirement, prior=prior)["holds"].all()


@dataclass(frozen=True)
class Consistent(GroupPredicate):
    """Predicate that the members given for a group have its size and its values."""

    shown: tuple[int, ...]

    @property
    def bound(self):
        return 1.0

    @property
    def reads_members(self):
        return True

    def level(self, summary):
        starts, m = summary.members.starts, summary.counts.shape[1]
        shown = [np.array(self.shown)[summary.members.records[i:j]] for i, j in itertools.pairwise(starts)]
        assert len(shown) == len(summary)
        return np.array(
            [float((np.bincount(s, minlength=m) == c).all()) for s, c in zip(shown, summary.counts, strict=True)]
        )


@given(drawn=tables(most=20), leftovers=st.sampled_from(["join", "suppress", "relax"]))
def test_requirements_receive_the_group_members(drawn, leftovers):
    """A requirement that fails for inconsistent members changes nothing."""
    view, prior = drawn
    defense = BKAA(2, 1, 0.6, leftovers=leftovers, patience=5)
    asking = replace(defense, also=Consistent(tuple(view.sensitive.tolist())))
    assert np.array_equal(defense(view, prior).labels, asking(view, prior).labels)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"k": 0}, "k is 0; it is a number of records, 1 or more"),
        ({"beta": -1}, "BetaLikeness: beta is -1"),
        ({"j": -1}, "j is -1; it is a number of at least 0, a divergence"),
        ({"base": 1}, "base is 1; it is a number above 1"),
        ({"leftovers": "drop"}, "BKAA: leftovers is 'drop'; it is one of 'join', 'suppress', 'relax', 'counterfeit'"),
        ({"judged": "table"}, "BKAA: judged is 'table'; it is one of 'published', 'view'"),
        (
            {"patience": 2},
            "BKAA: patience is 2; it is a number of records, as no group has fewer than k, 3 or more",
        ),
    ],
)
def test_bad_settings_are_one_clear_error(settings, match):
    with pytest.raises(ValueError, match=match):
        BKAA(**{"k": 3, "beta": 5, "j": 0.6} | settings)


def test_k_larger_than_the_view():
    with pytest.raises(ValueError, match="k is 5 and the view at 1 has 4 records; lower k, or publish more at once"):
        BKAA(5, 3, 0.6)(view_of("ABCD", "aaab"), np.full((4, 3), 1 / 3))
