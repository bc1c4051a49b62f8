"""Minimality attack: Mondrian run on all tables, worlds counted in plain Python, and the paper's closed form."""

import itertools
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreknow.attacks import MinimalityAttack
from foreknow.attacks.minimality import merge_credibility
from foreknow.defenses import DistinctDiversity, FrequencyDiversity, KAnonymity, Mondrian
from foreknow.models import Grouping, Numeric, Release, Schema, Status, View

VALUES = "abc"


def view_of(codes, values, domain=VALUES):
    """A view of respondents with numeric quasi-identifiers, shape ``(n, d)``."""
    codes = np.asarray(codes).reshape(len(values), -1)
    names = [f"q{a}" for a in range(codes.shape[1])]
    frame = pd.DataFrame(codes, columns=names).assign(id=range(len(values)), ill=list(values))
    return View(frame, Schema({name: Numeric(0, 99) for name in names}, "ill", tuple(domain), "id"))


def shown(release):
    """Members and values of each group, as a reader of a release sees them."""
    return tuple(
        sorted((tuple(np.flatnonzero(release.group == g)), tuple(release.counts[g])) for g in range(release.groups))
    )


def posteriors(defense, codes, domain=VALUES):
    """For each release that the defense makes of some table: a release, and beliefs over the tables that lead to it."""
    n = len(codes)
    tables, examples = defaultdict(list), {}
    for table in itertools.product(range(len(domain)), repeat=n):
        view = view_of(codes, [domain[s] for s in table], domain)
        try:
            release = Release(view, defense(view, np.full((n, len(domain)), 1 / len(domain)), ()))
        except ValueError:
            continue
        tables[shown(release)].append(table)
        examples[shown(release)] = release
    for seen, possible in tables.items():
        rows = np.array(possible)
        yield examples[seen], np.stack([(rows == s).mean(axis=0) for s in range(len(domain))], axis=1)


class TestMondrian:
    """The defense itself, run on every table of six respondents with one quasi-identifier: the attack is exact."""

    @pytest.mark.parametrize("codes", [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 9], [3, 3, 3, 3, 7, 8]])
    @pytest.mark.parametrize(
        ("requirement", "options"),
        [
            (FrequencyDiversity(2), {}),
            (KAnonymity(2) & DistinctDiversity(2), {"k": 2, "diversity": "distinct"}),
            (KAnonymity(3) & FrequencyDiversity(1.5), {"k": 3, "l": 1.5}),
        ],
    )
    def test_beliefs_are_those_over_all_tables(self, codes, requirement, options):
        attack = MinimalityAttack(**{"l": 2, **options})
        checked = 0
        for release, expected in posteriors(Mondrian(requirement), codes):
            beliefs = attack([release])
            np.testing.assert_allclose(beliefs.releases[0].posterior.probabilities, expected, atol=1e-12)
            assert not beliefs.releases[0].posterior.status.any()
            checked += 1
        assert checked > 10

    def test_the_rule_discloses_something(self):
        """By hand: four a and two b in halves of 4 and 2. A half has one value by aaaa-bb (1 world) or aabb-aa (6 worlds)."""
        defense = Mondrian(KAnonymity(2) & DistinctDiversity(2))
        table = view_of([3, 3, 3, 3, 7, 8], "aabbaa")
        release = Release(table, defense(table, np.full((6, 3), 1 / 3), ()))
        assert release.groups == 1
        beliefs = MinimalityAttack(2, k=2, diversity="distinct")([release]).posterior(0)
        np.testing.assert_allclose(beliefs["a"], [4 / 7] * 4 + [6 / 7] * 2)

    def test_several_attributes_exclude_no_true_table(self):
        """With two attributes the cuts of larger parts are not read: every excluded table is rightly excluded."""
        codes = [[0, 3], [1, 9], [2, 0], [3, 7], [4, 1], [5, 5]]
        for release, expected in posteriors(Mondrian(FrequencyDiversity(2)), codes, "ab"):
            found = MinimalityAttack(2)([release]).releases[0]
            assert not found.posterior.status.any()
            assert ((found.posterior.probabilities > 0) | (expected == 0)).all()


def by_worlds(codes, values, rule, violates, smallest):
    """Beliefs over all assignments of one group in which each admissible partition has a violating part."""
    codes, n = np.asarray(codes), len(values)
    partitions = []
    if rule == "classes":
        partitions.append([[i for i in range(n) if tuple(codes[i]) == kind] for kind in {tuple(c) for c in codes}])
    else:
        for column in codes.T:
            median = sorted(column)[(n - 1) // 2]
            if sum(column > median) >= smallest:
                lower = [i for i in range(n) if column[i] <= median]
            else:
                lower = [i for i in range(n) if column[i] < median]
            partitions.append([lower, [i for i in range(n) if i not in lower]])
    partitions = [p for p in partitions if len(p) > 1 and min(map(len, p)) >= smallest]
    worlds = [
        world
        for world in itertools.permutations(values)
        if all(any(violates([world[i] for i in part]) for part in partition) for partition in partitions)
    ]
    if not worlds:
        return None
    return np.array([[sum(w[i] == s for w in worlds) / len(worlds) for s in VALUES] for i in range(n)])


@settings(deadline=None)
@given(
    codes=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6),
    seed=st.integers(0, 100),
    rule=st.sampled_from(["cuts", "classes"]),
    kind=st.sampled_from(["frequency", "distinct", "set"]),
    l=st.sampled_from([1.5, 2, 3]),
    k=st.integers(1, 3),
)
def test_equals_the_count_over_all_assignments(codes, seed, rule, kind, l, k):  # noqa: E741
    values = np.random.default_rng(seed).choice(list(VALUES), len(codes)).tolist()
    violates = {
        "frequency": lambda part: max(map(part.count, VALUES)) * l > len(part) + 1e-9,
        "distinct": lambda part: len(set(part)) < l,
        "set": lambda part: sum(v in "ab" for v in part) * l > len(part) + 1e-9,
    }[kind]
    smallest = k if kind == "set" else max(k, int(np.ceil(l)))
    options = (
        {"diversity": "distinct"} if kind == "distinct" else {"sensitive_set": {"a", "b"}} if kind == "set" else {}
    )
    found = MinimalityAttack(l, k=k, rule=rule, **options)([Release(view_of(codes, values), [0] * len(codes))])
    expected = by_worlds(codes, values, rule, violates, smallest)
    if kind == "set" and expected is not None:
        # Within the set, and outside it, values have the shares of the group.
        share = np.array([values.count(v) for v in VALUES], dtype=float)
        both = expected[:, :2].sum(axis=1, keepdims=True)
        inside = share[:2] / share[:2].sum() if share[:2].sum() else np.full(2, 0.5)
        expected = np.hstack([both * inside, expected[:, 2:]])
    rows, status = found.releases[0].posterior.probabilities, found.releases[0].posterior.status[0]
    if expected is None:
        expected = np.array([values.count(v) / len(values) for v in VALUES])
        assert status == Status.CONTRADICTED
        assert any("would have been divided by this rule" in note for note in found.notes)
    else:
        assert status == Status.FINE
    np.testing.assert_allclose(rows, np.broadcast_to(expected, rows.shape), atol=1e-12)


class TestPaper:
    def test_the_worked_example(self):
        """By hand: two of six records are HIV; only if both are of the first class does one in two of a class have HIV."""
        view = view_of([0, 0, 1, 1, 1, 1], "abacbc", VALUES)
        beliefs = MinimalityAttack(2, {"a"}, rule="classes")([Release(view, [0] * 6)])
        np.testing.assert_allclose(beliefs.posterior(0)["a"], [1, 1, 0, 0, 0, 0])
        assert (
            "largest credibility of a sensitive value is 1.000; m-confidentiality holds for m up to 1"
            in beliefs.notes[1]
        )

    @given(first=st.integers(1, 30), second=st.integers(1, 30), l=st.integers(1, 4), share=st.floats(0, 1))
    @settings(deadline=None)
    def test_two_classes_are_the_closed_form(self, first, second, l, share):  # noqa: E741
        sensitive = round(share * (first + second))
        values = "a" * sensitive + "b" * (first + second - sensitive)
        release = Release(view_of([0] * first + [1] * second, values), [0] * (first + second))
        found = MinimalityAttack(l, {"a"}, rule="classes")([release])
        beliefs = found.posterior(0)["a"].to_numpy()
        try:
            expected = merge_credibility(first, second, sensitive, l)
        except ValueError:
            assert found.releases[0].posterior.status[0] == Status.CONTRADICTED
            return
        np.testing.assert_allclose(beliefs, np.repeat(expected, [first, second]), atol=1e-9)


class TestLimits:
    def test_groups_with_too_many_worlds_keep_their_shares(self):
        view = view_of(range(9), "abcabcabc")
        beliefs = MinimalityAttack(3, rule="classes", limit=2)([Release(view, [0] * 9)])
        assert beliefs.releases[0].posterior.status[0] == Status.FINE  # classes of one record disclose nothing
        view = view_of([0] * 3 + [1] * 6, "abcabcabc")
        beliefs = MinimalityAttack(3, rule="classes", limit=2)([Release(view, [0] * 9)])
        assert beliefs.releases[0].posterior.status[0] == Status.UNCONVERGED
        np.testing.assert_allclose(beliefs.posterior(0), 1 / 3)
        assert any("more than 2 worlds" in note for note in beliefs.notes)

    def test_distorted_values_and_counterfeits_are_not_read(self):
        view = view_of([0, 0, 1, 1], "abca")
        distorted = Release(view, Grouping(np.zeros(4, dtype=int), values=np.array([0, 1, 1, 0])))
        beliefs = MinimalityAttack(2, rule="classes")([distorted])
        np.testing.assert_allclose(beliefs.posterior(0).iloc[0], [0.5, 0.5, 0])
        assert "1 values are distorted" in beliefs.notes[0]
        invented = Release(view, Grouping(np.zeros(4, dtype=int), counterfeits=np.array([[0, 2]])))
        np.testing.assert_allclose(MinimalityAttack(2, rule="classes")([invented]).posterior(0), [[0.4, 0.2, 0.4]] * 4)

    def test_suppressed_records_keep_the_shares_of_the_table(self):
        beliefs = MinimalityAttack(2)([Release(view_of(range(5), "ababc"), [0, 0, 0, 0, -1])])
        assert beliefs.posterior(0).iloc[4].tolist() == [0.5, 0.5, 0.0]

    @pytest.mark.parametrize(
        ("arguments", "options", "match"),
        [
            ((0.5,), {}, "l is 0.5; it is a number of at least 1"),
            (("2",), {}, "l is '2'"),
            ((2, "a"), {}, "sensitive_set is 'a'; it is a set of values"),
            ((2,), {"k": 0}, "k is 0; it is a number of records"),
            ((2,), {"rule": "merge"}, "rule is 'merge'; it is one of 'cuts', 'classes'"),
            ((2,), {"diversity": None}, "diversity is None; it is one of 'frequency', 'distinct'"),
            ((2,), {"limit": 0}, "limit is 0; it is a number of states"),
            ((2, {"a"}), {"diversity": "distinct"}, "distinct l-diversity counts all values"),
        ],
    )
    def test_wrong_settings(self, arguments, options, match):
        with pytest.raises((TypeError, ValueError), match=f"MinimalityAttack: {match}"):
            MinimalityAttack(*arguments, **options)
