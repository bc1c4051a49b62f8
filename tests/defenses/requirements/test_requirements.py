"""Levels of requirements against formulas for lists of records, and the summaries they read."""

import math
import operator
from collections import Counter
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import distributions, view_of

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
    KAnonymity,
    PosteriorBound,
    QSCloseness,
    QSDiversity,
    RecursiveDiversity,
    Requirement,
    Summary,
    TCloseness,
    all_of,
    any_of,
)
from foreknow.defenses.requirements.closeness import hierarchical_distance
from foreknow.defenses.requirements.requirement import AllOf, AnyOf
from foreknow.defenses.requirements.summary import TableCounts, summarize_groups, summarize_records
from foreknow.models import Exact, ExternalKnowledge, Hierarchy, Linking, Omega

DOMAIN = "abcd"
TREE = Hierarchy([("c", "x", "p", "*"), ("a", "x", "p", "*"), ("b", "y", "p", "*"), ("d", "z", "q", "*")])
"""Not in the order of the domain, and with branches of different depth."""


LETTERS = Linking(ExternalKnowledge({"x": ["a", "b"], "y": ["c", "b"]}), "result")
"""Each record's value is its one item: a says x, c says y, b either, and d neither."""
SAYS = {"a": (1, 0, 0), "b": (1 / 2, 1 / 2, 0), "c": (0, 1, 0), "d": (0, 0, 1)}


def equal_ground(i, j):
    return float(i != j)


def ordered_ground(i, j):
    return abs(i - j) / (len(DOMAIN) - 1)


def tree_ground(i, j):
    rows = {row[0]: row for row in TREE.rows}
    first, second = rows[DOMAIN[i]], rows[DOMAIN[j]]
    return next(level for level in range(4) if first[level] == second[level]) / 3


def earth_mover(ground):
    costs = [[ground(i, j) for j in range(len(DOMAIN))] for i in range(len(DOMAIN))]

    def level(values, rows, whole):
        return oracle.transport(oracle.shares(values, DOMAIN), oracle.shares(whole, DOMAIN), costs)

    return level


def size(values, rows, whole):
    return len(values)


def distinct(values, rows, whole):
    return len(set(values))


def perplexity(values, rows, whole):
    return 2 ** oracle.entropy(oracle.shares(values, DOMAIN))


def recursive(l):  # noqa: E741
    def level(values, rows, whole):
        ranked = sorted(Counter(values).values(), reverse=True)
        tail = sum(ranked[l - 1 :])
        return ranked[0] / tail if tail else math.inf

    return level


def frequency(values, rows, whole):
    return len(values) / max(Counter(values).values())


def relative_gain(capped):
    """Over the values shown: (q - p) / p where q > p; with the cap -ln p, none is small enough past it."""

    def level(values, rows, whole):
        gain = 0.0
        for s in set(values):
            q, p = values.count(s) / len(values), whole.count(s) / len(whole)
            if q > p:
                gain = max(gain, math.inf if capped and (q - p) / p > -math.log(p) + 1e-9 else (q - p) / p)
        return gain

    return level


def beyond_the_share(posterior):
    def level(values, rows, whole):
        counts = [values.count(s) for s in DOMAIN]
        rows = np.array([[0.9 * p + 0.1 / len(DOMAIN) for p in row] for row in rows])
        return (posterior(rows, counts) - [count / len(values) for count in counts]).max()

    return level


def belief_in(*inside):
    """The largest belief in a sensitive set, by Bayes, of respondents with priors over the set and its complement."""

    def level(values, rows, whole):
        having = [sum(0.9 * row[DOMAIN.index(s)] + 0.1 / len(DOMAIN) for s in inside) for row in rows]
        count = sum(value in inside for value in values)
        return oracle.exact_posterior([[p, 1 - p] for p in having], [count, len(values) - count])[:, 0].max()

    return level


def divergence(base):
    def level(values, rows, whole):
        return oracle.divergence(rows, base)

    return level


def of_labels(c_or_t):
    def level(values, rows, whole):
        return c_or_t(np.mean([SAYS[value] for value in values], axis=0), whole)

    return level


def ratio(belief, whole):
    """With l = 2."""
    ranked = sorted(belief, reverse=True)
    return ranked[0] / sum(ranked[1:]) if sum(ranked[1:]) else math.inf


def printed_ratio(belief, whole):
    """With l = 1."""
    return max(belief)


def distance(belief, whole):
    """From the prior in proportion to the number of records that link to a label."""
    linked = np.array([math.ceil(share) for value in whole for share in SAYS[value]]).reshape(-1, 3).sum(axis=0)
    return math.dist(belief, linked / linked.sum())


UP, DOWN = oracle.SLACK, -oracle.SLACK
CASES = {
    "k-anonymity": (KAnonymity(3), size, operator.ge, DOWN),
    "distinct": (DistinctDiversity(2), distinct, operator.ge, DOWN),
    "entropy": (EntropyDiversity(2.5), perplexity, operator.ge, DOWN),
    "frequency": (FrequencyDiversity(1.5), frequency, operator.ge, DOWN),
    "basic beta": (BasicBetaLikeness(0.5), relative_gain(False), operator.le, UP),
    "beta": (BetaLikeness(0.5), relative_gain(True), operator.le, UP),
    "posterior": (PosteriorBound(0.2, Omega()), beyond_the_share(oracle.omega_posterior), operator.le, UP),
    "posterior, exact": (PosteriorBound(0.2, Exact()), beyond_the_share(oracle.product_posterior), operator.le, UP),
    "posterior of a set": (PosteriorBound(0.6, Exact(), ("a", "c"), "belief"), belief_in("a", "c"), operator.le, UP),
    "recursive": (RecursiveDiversity(2.0, 2), recursive(2), operator.lt, 0.0),
    "recursive, l = 1": (RecursiveDiversity(0.75, 1), recursive(1), operator.lt, 0.0),
    "recursive, l = 3": (RecursiveDiversity(3.5, 3), recursive(3), operator.lt, 0.0),
    "equal": (TCloseness(0.3), earth_mover(equal_ground), operator.le, UP),
    "ordered": (TCloseness(0.2, "ordered"), earth_mover(ordered_ground), operator.le, UP),
    "hierarchical": (TCloseness(0.25, TREE), earth_mover(tree_ground), operator.le, UP),
    "divergence": (JSimilarity(0.4), divergence(2.0), operator.le, UP),
    "divergence in nats": (JSimilarity(0.4, math.e), divergence(math.e), operator.le, UP),
    "labels": (QSDiversity(1.5, 2, LETTERS), of_labels(ratio), operator.le, UP),
    "labels, as printed": (QSDiversity(0.6, 1, LETTERS, as_printed=True), of_labels(printed_ratio), operator.le, UP),
    "labels, close": (QSCloseness(0.3, LETTERS), of_labels(distance), operator.le, UP),
}
"""Each requirement, its level for a list of values, of priors and of the whole table's values, and how it is held. For the
posterior bounds a tenth of every prior is the uniform one, so that no group contradicts it. `BTPrivacy`, whose prior is of
the records' quasi-identifiers, has a file of its own."""


NAMED = {"Hierarchy": TREE, "Linking": lambda items: {"result": LETTERS}[items], "inf": math.inf}
"""Names in the repr of a requirement that do not rebuild their object."""


@st.composite
def grouped(draw):
    """Records in at most three groups: (view, prior, labels)."""
    n = draw(st.integers(1, 14))
    results = draw(st.lists(st.sampled_from(DOMAIN), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
    numbers = {label: i for i, label in enumerate(sorted(set(labels) - {-1}))} | {-1: -1}
    kinds = draw(st.lists(distributions(len(DOMAIN)), min_size=1, max_size=3))
    prior = np.array([kinds[draw(st.integers(0, len(kinds) - 1))] for _ in range(n)])
    view = view_of([f"p{i}" for i in range(n)], results, domain=DOMAIN)
    return view, prior, np.array([numbers[label] for label in labels])


def members(view, prior, labels):
    """Per group: its values and its priors, as lists."""
    results = view.frame["result"].tolist()
    for g in range(labels.max(initial=-1) + 1):
        yield [results[i] for i in np.flatnonzero(labels == g)], prior[labels == g].tolist()


def asked(name, view, prior, labels):
    """A requirement bound to a view, and the summaries of its groups."""
    prior = 0.9 * prior + 0.1 / len(DOMAIN) if "posterior" in name else prior
    bound = CASES[name][0].bind(view, prior)
    return bound, summarize_groups(summarize_records(view, prior, members=bound.reads_members), labels)


def test_every_requirement_is_here():
    public = [getattr(foreknow.defenses, name) for name in foreknow.defenses.__all__]
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Requirement)}
    there = {type(requirement) for requirement, *_ in CASES.values()}
    assert kinds - {Requirement, GroupPredicate, AllOf, AnyOf} == there | {BTPrivacy}


class TestLevels:
    """Each example is drawn once and evaluated by all requirements."""

    @given(drawn=grouped())
    def test_level_is_the_formula_and_the_call_compares_it(self, drawn):
        view, prior, labels = drawn
        whole = view.frame["result"].tolist()
        for name, (_, formula, compare, slack) in CASES.items():
            requirement, summary = asked(name, view, prior, labels)
            level, holds = requirement.level(summary), requirement(summary)
            assert level.shape == holds.shape == (len(summary),), name
            assert holds.dtype == bool, name
            assert np.array_equal(holds, compare(level, requirement.bound + slack)), name
            for g, (values, rows) in enumerate(members(view, prior, labels)):
                expected = formula(values, rows, whole)
                assert level[g] == pytest.approx(expected, abs=1e-7), name
                if slack == 0 or abs(expected - requirement.bound) > 1e-6:
                    assert holds[g] == compare(expected, requirement.bound), name

    @given(drawn=grouped())
    def test_smaller_groups_than_the_smallest_fail(self, drawn):
        for name in CASES:
            requirement, summary = asked(name, *drawn)
            assert not requirement(summary)[summary.size < requirement.smallest].any(), name

    @given(drawn=grouped())
    def test_levels_that_do_not_read_the_prior_do_not_need_it(self, drawn):
        for name in CASES:
            requirement, whole = asked(name, *drawn)
            without = replace(whole, prior=whole.prior * 0, entropy=whole.entropy * 0)
            if not requirement.reads_prior:
                assert np.array_equal(requirement.level(whole), requirement.level(without)), name


@pytest.mark.parametrize("name", CASES)
class TestConformance:
    def test_no_group_at_all(self, name):
        view = view_of("AB", "ab", domain=DOMAIN)
        requirement, nothing = asked(name, view, np.full((2, 4), 0.25), np.array([-1, -1]))
        assert requirement(nothing).shape == (0,)

    def test_is_a_value_with_a_readable_name(self, name):
        requirement = CASES[name][0]
        assert requirement == eval(repr(requirement), globals() | NAMED)
        assert hash(requirement) is not None

    def test_is_named_bounded_and_held_alike_for_every_view(self, name):
        requirement = CASES[name][0]
        given, _ = asked(name, view_of("AB", "ab", domain=DOMAIN), np.full((2, 4), 0.25), np.array([0, 0]))
        for what in ("bound", "sense", "smallest", "is_monotone", "weighs_beliefs"):
            assert getattr(given, what) == getattr(requirement, what)
        assert repr(given) == repr(requirement)


def test_bounds_are_inclusive_but_for_recursive_diversity():
    """Three of a, one of b, in a table of four a, two b, two c: EMD 1/4, entropy of (3/4, 1/4), r_1 / r_2 = 3."""
    view = view_of("ABCDEFGH", "aaabaccb", domain=DOMAIN)
    prior = np.repeat([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0]], 4, axis=0)
    group = summarize_groups(summarize_records(view, prior), np.array([0, 0, 0, 0, -1, -1, -1, -1]))
    bits = oracle.entropy([0.75, 0.25])
    for requirement in (
        KAnonymity(4),
        DistinctDiversity(2),
        EntropyDiversity(2**bits),
        TCloseness(0.25),
        JSimilarity(0),
    ):
        assert requirement(group)[0]
    for requirement in (
        *(KAnonymity(5), DistinctDiversity(3), EntropyDiversity(2**bits + 1e-6), TCloseness(0.25 - 1e-6)),
        RecursiveDiversity(3, 2),
    ):
        assert not requirement(group)[0]
    assert RecursiveDiversity(3 + 1e-9, 2)(group)[0]


class TestSummary:
    @given(drawn=grouped())
    def test_the_summary_of_merged_groups_is_the_sum(self, drawn):
        view, prior, labels = drawn
        records = summarize_records(view, prior)
        merged = summarize_groups(records, np.where(labels >= 0, 0, -1))
        parts = summarize_groups(records, labels)
        total = parts[0] if len(parts) else merged
        for g in range(1, len(parts)):
            total = total + parts[g]
        for field in ("size", "counts", "prior", "entropy"):
            assert np.allclose(getattr(total, field), getattr(merged, field), atol=1e-12)

    @given(drawn=grouped())
    def test_a_summary_counts_and_adds_up_its_members(self, drawn):
        view, prior, labels = drawn
        summary = summarize_groups(summarize_records(view, prior), labels)
        for g, (values, rows) in enumerate(members(view, prior, labels)):
            assert summary.size[g] == len(values)
            assert summary.counts[g].tolist() == [values.count(s) for s in DOMAIN]
            assert np.allclose(summary.prior[g], np.sum(rows, axis=0))
            assert summary.entropy[g] == pytest.approx(sum(map(oracle.entropy, rows)))
        assert summary.table.counts.tolist() == [view.frame["result"].tolist().count(s) for s in DOMAIN]
        assert summary.table.values == tuple(DOMAIN)

    def test_a_batch_of_one_joins_each_of_many(self):
        view = view_of("ABCD", "abca", domain=DOMAIN)
        records = summarize_records(view, np.eye(4))
        joined = records[slice(0, 3)] + records[3]
        assert joined.size.tolist() == [2, 2, 2]
        assert joined.counts.tolist() == [[2, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]

    def test_a_batch_is_a_sequence_of_groups_and_no_array(self):
        records = summarize_records(view_of("ABC", "abc", domain=DOMAIN), np.eye(4)[:3])
        assert [group.counts.argmax() for group in records] == [0, 1, 2]
        assert records[-1].counts.tolist() == records[np.int64(2)].counts.tolist() == [[0, 0, 1, 0]]
        with pytest.raises(TypeError, match=r"a Summary is no array; take its fields"):
            np.asarray(records)


class TestReferenceValues:
    def closeness(self, distance, group):
        """Salaries of 3k to 11k, nine equally likely values (Li, Li, Venkatasubramanian, ICDE 2007, section 4)."""
        salaries = tuple(range(3, 12))
        counts = np.array([[int(salary in group) for salary in salaries]])
        whole = TableCounts(salaries, np.ones(9, dtype=int))
        return TCloseness(0, distance).level(Summary(np.array([3]), counts, np.zeros((1, 9)), np.zeros(1), whole))[0]

    def test_salaries(self):
        assert self.closeness("ordered", {3, 4, 5}) == pytest.approx(0.375)
        assert self.closeness("ordered", {6, 8, 11}) == pytest.approx(0.1667, abs=5e-5)
        assert self.closeness("equal", {3, 4, 5}) == pytest.approx(2 / 3)

    def test_income_bounds_t_closeness(self):
        """Of (.752, .248), a pure group lies .752 or .248 away."""
        whole = TableCounts(("<=50K", ">50K"), np.array([752, 248]))
        pure = Summary(np.array([5, 5]), np.array([[0, 5], [5, 0]]), np.zeros((2, 2)), np.zeros(2), whole)
        assert np.allclose(TCloseness(0.5).level(pure), [0.752, 0.248])
        assert TCloseness(0.5)(pure).tolist() == [False, True]
        assert np.allclose(TCloseness(0.5, "ordered").level(pure), [0.752, 0.248])

    def test_one_value_is_no_distance_from_itself(self):
        whole = TableCounts(("a",), np.array([7]))
        group = Summary(np.array([2]), np.array([[2]]), np.ones((1, 1)), np.zeros(1), whole)
        for distance in ("equal", "ordered", Hierarchy.flat(["a"])):
            assert TCloseness(0, distance).level(group)[0] == 0

    @given(seed=st.integers(0, 10**6))
    def test_hierarchical_distance_is_optimal_transport_on_other_trees(self, seed):
        rng = np.random.default_rng(seed)
        m, height = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        label = np.array([np.arange(m)] + [np.zeros(m, int)] * height)
        for level in range(height - 1, 0, -1):
            label[level] = label[level + 1] * 3 + rng.integers(0, 3, size=m)
        label[1:height] = np.sort(label[1:height], axis=1)
        for level in range(1, height):
            # A refinement of the level above it: a label is the pair of both.
            label[level] = np.unique(label[level : height + 1].T[:, ::-1], axis=0, return_inverse=True)[1]
        rows = [tuple(f"{level}-{x}" if level else str(x) for level, x in enumerate(column)) for column in label.T]
        tree = Hierarchy(rng.permutation(np.array(rows, dtype=object)).tolist())
        have, want = rng.dirichlet(np.full(m, 0.5), size=2)
        common = [[next(h for h in range(height + 1) if a[h] == b[h]) / height for b in rows] for a in rows]
        found = hierarchical_distance((have - want)[None], tree, tuple(map(str, range(m))))[0]
        assert found == pytest.approx(oracle.transport(have, want, common), abs=1e-8)


class TestBetaLikeness:
    """In a table of four a, two b and two c: p is 1/2, 1/4 and 1/4; -ln p is .693 and 1.386."""

    whole = TableCounts(tuple("abc"), np.array([4, 2, 2]))

    def levels(self, requirement, *counts):
        counts = np.array(counts)
        zeros = np.zeros((len(counts), 3))
        return requirement.level(Summary(counts.sum(axis=1), counts, zeros, zeros[:, 0], self.whole)).tolist()

    def test_by_hand(self):
        groups = [2, 1, 1], [1, 1, 0], [3, 1, 1], [0, 0, 1], [1, 0, 1], [4, 1, 0]
        assert self.levels(BasicBetaLikeness(1), *groups) == pytest.approx([0, 1, 0.2, 3, 1, 0.6])
        # Gains of b: 3 > 1.386. Of a in the last: .6 < .693.
        assert self.levels(BetaLikeness(1), *groups) == pytest.approx([0, 1, 0.2, math.inf, 1, 0.6])

    def test_only_the_enhanced_one_keeps_frequent_values_from_certainty(self):
        """Only a: it gains 1, which beta = 1 allows, but not -ln 1/2."""
        assert self.levels(BasicBetaLikeness(1), [3, 0, 0]) == [1]
        assert self.levels(BetaLikeness(1), [3, 0, 0]) == [math.inf]

    def test_a_value_the_table_lacks_is_never_allowed(self):
        whole = TableCounts(tuple("ab"), np.array([3, 0]))
        group = Summary(np.array([2, 2]), np.array([[1, 1], [2, 0]]), np.zeros((2, 2)), np.zeros(2), whole)
        for requirement in (BasicBetaLikeness(9), BetaLikeness(9)):
            assert requirement.level(group).tolist() == [math.inf, 0]
            assert requirement(group).tolist() == [False, True]

    def test_a_table_of_one_value_gains_nothing(self):
        whole = TableCounts(("a",), np.array([5]))
        group = Summary(np.array([2]), np.array([[2]]), np.zeros((1, 1)), np.zeros(1), whole)
        assert BasicBetaLikeness(0)(group)[0]
        assert BetaLikeness(0)(group)[0]

    @given(drawn=grouped(), beta=st.sampled_from([0, 0.2, 0.5, 1, 3]))
    def test_unions_of_satisfying_groups_satisfy(self, drawn, beta):
        view, prior, labels = drawn
        groups = summarize_groups(summarize_records(view, prior), labels)
        for requirement in (BasicBetaLikeness(beta), BetaLikeness(beta)):
            good = np.flatnonzero(requirement(groups))
            for i in good:
                assert requirement(groups[good] + groups[int(i)])[good != i].all()

    @given(drawn=grouped(), beta=st.sampled_from([0.2, 0.5, 1, 3]))
    def test_the_enhanced_one_asks_more(self, drawn, beta):
        view, prior, labels = drawn
        groups = summarize_groups(summarize_records(view, prior), labels)
        assert BasicBetaLikeness(beta)(groups)[BetaLikeness(beta)(groups)].all()


class TestCombining:
    A, B, C = KAnonymity(2), DistinctDiversity(2), TCloseness(0.5)

    @given(drawn=grouped())
    def test_and_or_mean_what_they_say(self, drawn):
        view, prior, labels = drawn
        summary = summarize_groups(summarize_records(view, prior), labels)
        a, b, c = (requirement(summary) for requirement in (self.A, self.B, self.C))
        assert np.array_equal((self.A & self.B & self.C)(summary), a & b & c)
        assert np.array_equal((self.A | self.B | self.C)(summary), a | b | c)
        assert np.array_equal(((self.A & self.B) | self.C)(summary), (a & b) | c)
        assert np.array_equal((self.A & (self.B | self.C))(summary), a & (b | c))

    @given(drawn=grouped())
    def test_the_level_is_how_many_hold(self, drawn):
        view, prior, labels = drawn
        summary = summarize_groups(summarize_records(view, prior), labels)
        holding = sum(requirement(summary).astype(float) for requirement in (self.A, self.B, self.C))
        for both, bound in ((self.A & self.B & self.C, 3), (self.A | self.B | self.C, 1)):
            assert np.array_equal(both.level(summary), holding)
            assert both.bound == bound
            assert np.array_equal(both(summary), holding >= bound)

    def test_they_are_laid_open_and_read_as_claims(self):
        assert self.A & self.B & self.C == all_of(self.A, self.B, self.C) == AllOf((self.A, self.B, self.C))
        assert self.A | self.B | self.C == any_of(self.A, self.B, self.C) == AnyOf((self.A, self.B, self.C))
        assert all_of(self.A) is any_of(self.A) is self.A
        assert repr(KAnonymity(3) & TCloseness(0.5)) == "KAnonymity(k=3) & TCloseness(t=0.5)"
        assert repr(self.A & (self.B | self.C)) == "KAnonymity(k=2) & (DistinctDiversity(l=2) | TCloseness(t=0.5))"
        assert repr((self.A & self.B) | self.C) == "(KAnonymity(k=2) & DistinctDiversity(l=2)) | TCloseness(t=0.5)"
        assert repr(TCloseness(0.5, "ordered")) == "TCloseness(t=0.5, distance='ordered')"
        assert repr(TCloseness(0.5, TREE)) == "TCloseness(t=0.5, distance=Hierarchy)"
        assert eval(repr(self.A & (self.B | self.C))) == self.A & (self.B | self.C)

    def test_the_smallest_group_worth_trying(self):
        assert (KAnonymity(3) & DistinctDiversity(5)).smallest == 5
        assert (KAnonymity(3) | DistinctDiversity(5)).smallest == 3
        assert EntropyDiversity(2.5).smallest == 3
        assert EntropyDiversity(3).smallest == 3
        assert TCloseness(0).smallest == 1

    def test_nothing_to_combine_is_one_clear_error(self):
        with pytest.raises(ValueError, match="requirement"):
            all_of()


@pytest.mark.parametrize(
    ("build", "match"),
    [
        (lambda: KAnonymity(0), "KAnonymity: k is 0; it is a number of records, 1 or more"),
        (lambda: KAnonymity(2.5), r"KAnonymity: k is 2\.5"),
        (lambda: DistinctDiversity(0), "DistinctDiversity: l is 0; it is a number of values, 1 or more"),
        (lambda: EntropyDiversity(0.5), r"EntropyDiversity: l is 0\.5"),
        (lambda: EntropyDiversity(math.nan), "EntropyDiversity: l is nan"),
        (lambda: RecursiveDiversity(0, 2), "RecursiveDiversity: c is 0; it is a number above 0"),
        (lambda: RecursiveDiversity(1, 1.5), r"RecursiveDiversity: l is 1\.5"),
        (lambda: TCloseness(-0.1), r"TCloseness: t is -0\.1; it is a number of at least 0, a distance"),
        (lambda: TCloseness(math.nan), "TCloseness: t is nan"),
        (lambda: TCloseness(0.5, "euclid"), "TCloseness: distance is 'euclid'; it is 'equal', 'ordered' or a Hierarchy"),
        (lambda: JSimilarity(-1), "JSimilarity: j is -1; it is a number of at least 0, a divergence"),
        (lambda: JSimilarity(0.5, 1), "JSimilarity: the logarithm's base is 1; it is a number above 1"),
        (lambda: KAnonymity(math.nan), "KAnonymity: k is nan"),
        (lambda: FrequencyDiversity(0.9), r"FrequencyDiversity: l is 0\.9; it is a number of at least 1"),
        (lambda: BasicBetaLikeness(-1), "BasicBetaLikeness: beta is -1; it is a number of at least 0, a relative gain"),
        (lambda: BetaLikeness(math.nan), "BetaLikeness: beta is nan"),
        (lambda: BetaLikeness(math.inf), "BetaLikeness: beta is inf"),
        (lambda: PosteriorBound(-0.1), r"PosteriorBound: most is -0\.1; it is a number from 0 to 1, a probability"),
        (lambda: PosteriorBound(1.1), r"PosteriorBound: most is 1\.1"),
        (lambda: PosteriorBound(1.1, quantity="belief"), r"most is 1\.1; it is a number from 0 to 1"),
        (lambda: PosteriorBound(0.5, quantity="share"), "PosteriorBound: quantity is 'share'; it is one of 'gain', 'belief'"),
        (lambda: PosteriorBound(0.5, sensitive_set=()), "PosteriorBound: sensitive_set is ..; it is a set of values"),
        (lambda: QSDiversity(0, 2, LETTERS), "QSDiversity: c is 0; it is a positive finite number"),
        (lambda: QSDiversity(-0.5, 2, LETTERS), "QSDiversity: c is -0.5"),
        (lambda: QSDiversity(math.inf, 2, LETTERS), "QSDiversity: c is inf"),
        (lambda: QSDiversity(math.nan, 2, LETTERS), "QSDiversity: c is nan"),
        (lambda: QSDiversity(1, 0, LETTERS), "QSDiversity: l is 0; it is a number of labels, from 1"),
        (lambda: QSDiversity(1, 2.5, LETTERS), r"QSDiversity: l is 2\.5"),
        (lambda: QSDiversity(1, math.nan, LETTERS), "QSDiversity: l is nan"),
        (lambda: QSCloseness(-0.1, LETTERS), r"QSCloseness: t is -0\.1; it is a number of at least 0, a distance"),
        (lambda: QSCloseness(math.nan, LETTERS), "QSCloseness: t is nan"),
        (lambda: QSCloseness(1, LETTERS, "even"), "QSCloseness: prior is 'even'; it is one of 'counted', 'fractional', 'uniform'"),
    ],
)  # fmt: skip
def test_bad_settings_are_one_clear_error(build, match):
    with pytest.raises(ValueError, match=match):
        build()


def test_a_value_the_hierarchy_lacks_is_named():
    view = view_of("AB", "ab", domain="abe")
    with pytest.raises(ValueError, match="the hierarchy of TCloseness has no row for the sensitive value 'e'; add it"):
        TCloseness(0.5, TREE)(summarize_records(view, np.full((2, 3), 1 / 3)))


@pytest.mark.parametrize(
    "combined",
    [
        lambda: KAnonymity(3) and DistinctDiversity(2),
        lambda: KAnonymity(3) or DistinctDiversity(2),
        lambda: not KAnonymity(3),
        lambda: bool(KAnonymity(3) & DistinctDiversity(2)),
        lambda: bool(KAnonymity(3) | DistinctDiversity(2)),
        lambda: 1 if JSimilarity(0.5) else 0,
    ],
)
def test_and_or_and_not_are_refused_for_they_would_drop_a_requirement(combined):
    with pytest.raises(
        TypeError, match=r"has no truth value.*Write & .*KAnonymity\(3\) & DistinctDiversity\(2\), and \|"
    ):
        combined()
