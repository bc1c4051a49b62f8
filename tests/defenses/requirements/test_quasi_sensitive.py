"""QS diversity and closeness against the paper's definitions in fractions, its four patients, and unions of groups."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import distributions

from foreknow.defenses import (
    FullDomain,
    Infeasible,
    JSReduce,
    KAnonymity,
    Mondrian,
    QSCloseness,
    QSDiversity,
    summarize_groups,
    summarize_records,
)
from foreknow.defenses.requirements.quasi_sensitive import UNBOUNDED_L, diversity_ratio, label_distance, largest_l
from foreknow.evaluation import verify_items
from foreknow.models import ExternalKnowledge, ItemRelease, Linking, Numeric, Release, Schema, View

ITEMS = "uvwxyz"
READINGS = st.sampled_from(["counted", "fractional", "uniform"])
SURE = np.full((20, 1), 1.0)
"""Prior over the one sensitive value of these views."""


def view_of(records, ages=None):
    """A view of records with some items, in the column symptoms."""
    ages = range(len(records)) if ages is None else ages
    frame = pd.DataFrame({"id": range(len(records)), "age": list(ages), "result": "a"})
    frame["symptoms"] = pd.Series([list(items) for items in records], dtype=object)
    return View(frame, Schema({"age": Numeric(0, 99)}, "result", ("a",)))


def knowledge(items_of, prevalence=None):
    items_of = {label: list(items) for label, items in items_of.items()}
    return Linking(ExternalKnowledge(items_of, prevalence), "symptoms")


def grouped(asked, records, labels):
    """Requirement bound to some records, and the summaries of their groups."""
    view, prior = view_of(records), SURE[:1].repeat(len(records), axis=0)
    return asked.bind(view, prior), summarize_groups(summarize_records(view, prior, members=True), np.array(labels))


def levels(asked, records, labels):
    requirement, summary = grouped(asked, records, labels)
    return requirement.level(summary)


@st.composite
def linked(draw, labels=5):
    """Knowledge of a few labels, some records' items, and their groups: (items_of, prevalence, records, groups)."""
    subset = st.sets(st.sampled_from(ITEMS))
    sets = draw(st.lists(subset.filter(bool), min_size=1, max_size=labels))
    items_of = {f"L{number}": sorted(items) for number, items in enumerate(sets)}
    prevalence = None
    if draw(st.booleans()):
        prevalence = {label: draw(st.sampled_from([1, 2, 0.5, 8])) for label in items_of}
    # Items that some label has, one or two, so that records link to something more often than not.
    some = st.sampled_from(sets).flatmap(lambda own: st.sets(st.sampled_from(sorted(own)), max_size=2))
    records = draw(st.lists(some | subset, min_size=1, max_size=10))
    groups = [draw(st.integers(0, 2)) for _ in records]
    numbers = {group: number for number, group in enumerate(sorted(set(groups)))}
    return items_of, prevalence, [sorted(items) for items in records], [numbers[group] for group in groups]


def probabilities(items, items_of, prevalence):
    """P(tp -> L) in fractions, and that of no label under None."""
    own = {L: Fraction((prevalence or {}).get(L, 1)) for L, those in items_of.items() if set(items) <= set(those)}
    return {L: weight / sum(own.values()) for L, weight in own.items()} or {None: Fraction(1)}


def mean(rows):
    return {L: sum(row.get(L, Fraction(0)) for row in rows) / len(rows) for L in {L for row in rows for L in row}}


def plain_ratio(p, l, as_printed):  # noqa: E741
    p = sorted((x for x in p if x > 0), reverse=True)
    right = p[0] + sum(p[l:]) if as_printed else sum(p[l - 1 :])
    return float(p[0] / right) if right else math.inf


def plain_prior(records, items_of, prevalence, reading):
    if reading == "uniform":
        weights = {L: Fraction((prevalence or {}).get(L, 1)) for L in items_of}
        return {L: weight / sum(weights.values()) for L, weight in weights.items()}
    rows = [probabilities(items, items_of, prevalence) for items in records]
    if reading == "fractional":
        return mean(rows)
    counted = {L: sum(L in row for row in rows) for row in rows for L in row}
    return {L: Fraction(count, sum(counted.values())) for L, count in counted.items()}


class TestLevels:
    @given(drawn=linked(), l=st.integers(1, 6), as_printed=st.booleans())
    def test_diversity_is_the_definition(self, drawn, l, as_printed):  # noqa: E741
        items_of, prevalence, records, groups = drawn
        found = levels(QSDiversity(1, l, knowledge(items_of, prevalence), as_printed), records, groups)
        for g, level in enumerate(found):
            rows = [
                probabilities(items, items_of, prevalence)
                for items, group in zip(records, groups, strict=True)
                if group == g
            ]
            assert level == pytest.approx(plain_ratio(mean(rows).values(), l, as_printed), rel=1e-9)

    @given(drawn=linked(), reading=READINGS)
    def test_closeness_is_the_definition(self, drawn, reading):
        items_of, prevalence, records, groups = drawn
        found = levels(QSCloseness(0.4, knowledge(items_of, prevalence), reading), records, groups)
        alpha = plain_prior(records, items_of, prevalence, reading)
        for g, level in enumerate(found):
            rows = [
                probabilities(items, items_of, prevalence)
                for items, group in zip(records, groups, strict=True)
                if group == g
            ]
            beta = mean(rows)
            squares = [(beta.get(L, 0) - alpha.get(L, 0)) ** 2 for L in {*beta, *alpha}]
            assert level == pytest.approx(math.sqrt(sum(squares)), abs=1e-9)

    def test_more_labels_than_a_word_has_bits(self):
        """150 labels over 30 items, each record with two items of some label."""
        rng = np.random.default_rng(5)
        items_of = {number: sorted(rng.choice(30, 12, replace=False).tolist()) for number in range(150)}
        records = [rng.choice(items_of[int(rng.integers(150))], 2, replace=False).tolist() for _ in range(40)]
        groups = (np.arange(40) % 7).tolist()
        rows = [probabilities(items, items_of, None) for items in records]
        alpha = plain_prior(records, items_of, None, "counted")
        by_group = [mean(rows[g::7]) for g in range(7)]
        for l in (1, 2, 30, 90):  # noqa: E741
            found = levels(QSDiversity(1, l, knowledge(items_of)), records, groups)
            assert found == pytest.approx([plain_ratio(beta.values(), l, False) for beta in by_group], rel=1e-9)
        assert levels(QSCloseness(1, knowledge(items_of)), records, groups) == pytest.approx(
            [math.dist(*zip(*((beta.get(L, 0), alpha.get(L, 0)) for L in items_of), strict=True)) for beta in by_group]
        )

    @given(drawn=linked(), l=st.integers(1, 4), reading=READINGS, data=st.data())
    def test_names_and_their_order_do_not_matter(self, drawn, l, reading, data):  # noqa: E741
        items_of, prevalence, records, groups = drawn
        renamed = dict(zip(ITEMS, data.draw(st.permutations(range(6))), strict=True))
        order = data.draw(st.permutations(list(items_of)))
        other = {L + "'": [renamed[item] for item in items_of[L]] for L in order}
        common = None if prevalence is None else {L + "'": p for L, p in prevalence.items()}
        others = [[renamed[item] for item in items] for items in records]
        for kind, setting in ((QSDiversity, (1, l)), (QSCloseness, (1,))):
            also = {"prior": reading} if kind is QSCloseness else {}
            first = levels(kind(*setting, knowledge(items_of, prevalence), **also), records, groups)
            assert levels(kind(*setting, knowledge(other, common), **also), others, groups) == pytest.approx(first)

    def test_the_whole_view_is_what_the_fractional_prior_is_of(self):
        records = ["uv", "", "z", "v"]
        linking = knowledge({"L": "uv", "M": "vw"})
        assert levels(QSCloseness(0, linking, "fractional"), records, [0] * 4) == pytest.approx([0])
        assert grouped(QSCloseness(0, linking, "fractional"), records, [0] * 4)[0].bound == 0
        # alpha: L 3/6, M 2/6 and none 1/6 of the links; beta: (1 + 1/2 + 1/2) / 4, (1/2 + 1/2) / 4, and 1/4
        assert levels(QSCloseness(0, linking), records, [0] * 4) == pytest.approx([math.sqrt(2) / 12])


class TestPrinted:
    """The formula of definition 3 as printed, which is lax."""

    @given(drawn=linked(), c=st.sampled_from([1, 1.5, 30]), l=st.sampled_from([1, 2, 5, 30, 3000]))
    def test_the_printed_formula_holds_of_every_group_at_the_paper_s_c(self, drawn, c, l):  # noqa: E741
        items_of, prevalence, records, groups = drawn
        asked, summary = grouped(QSDiversity(c, l, knowledge(items_of, prevalence), as_printed=True), records, groups)
        assert asked(summary).all()

    @pytest.mark.parametrize("c", [1, 1.5, 30])
    def test_the_corrected_one_does_not(self, c):
        """Both have the flu, and no other label is linked."""
        linking = knowledge({"flu": "uv", "cold": "xy"})
        for as_printed in (True, False):
            asked, summary = grouped(QSDiversity(c, 2, linking, as_printed), ["u", "uv"], [0, 0])
            assert asked(summary).tolist() == [as_printed]

    def test_below_1_the_printed_one_asks_something(self):
        """Beliefs of 1/2, 1/4, 1/4: with l = 1, 1/2 <= c (1/2 + 1/4 + 1/4)."""
        linking = knowledge({"L": "u", "M": "v", "N": "w"})
        found = levels(QSDiversity(0.5, 1, linking, as_printed=True), ["u", "u", "v", "w"], [0] * 4)
        assert found == pytest.approx([1 / 2])
        assert levels(QSDiversity(0.5, 2, linking, as_printed=True), ["u", "u", "v", "w"], [0] * 4) == pytest.approx(
            [2 / 3]
        )


class TestFigure1:
    """Four patients in two groups, which k-anonymity and l-diversity call safe for k = l = 2."""

    linking = knowledge(
        {"flu": ["cough", "headache", "sore throat"], "hepatitis B": ["loss of appetite", "vomiting", "dark urine"]}
    )
    records = (
        ["cough", "headache", "sore throat"],
        ["cough", "headache"],
        ["headache", "vomiting"],
        ["headache", "sore throat"],
    )

    def holds(self, asked):
        requirement, summary = grouped(asked, self.records, [0, 0, 1, 1])
        return requirement(summary).tolist()

    def test_the_first_group_has_the_flu(self):
        """However lax c is, for any l of 2 or more; in the second one links to the flu and one to nothing."""
        assert self.holds(QSDiversity(1, 2, self.linking)) == [False, True]
        assert self.holds(QSDiversity(10**6, 2, self.linking)) == [False, True]
        assert self.holds(QSDiversity(10**6, 3, self.linking)) == [False, False]
        assert self.holds(QSDiversity(1, 1, self.linking)) == [True, True]
        assert self.holds(QSDiversity(1, 2, self.linking, as_printed=True)) == [True, True]

    def test_how_far_beliefs_moved(self):
        """Three link to the flu and one to nothing, in any reading but the uniform: (3/4, 0, 1/4)."""
        for reading in ("counted", "fractional"):
            found = levels(QSCloseness(0.4, self.linking, reading), self.records, [0, 0, 1, 1])
            assert found == pytest.approx([math.sqrt(2) / 4] * 2)
        found = levels(QSCloseness(0.4, self.linking, "uniform"), self.records, [0, 0, 1, 1])
        assert found == pytest.approx([math.sqrt(1 / 2), math.sqrt(1 / 2)])

    def test_without_items_every_label_is_possible(self):
        assert levels(QSDiversity(1, 2, self.linking), [[], []], [0, 0]) == pytest.approx([1])

    def test_who_links_to_nothing_is_known_not_to(self):
        assert levels(QSDiversity(1, 2, self.linking), ["zz", "zz"], [0, 0]).tolist() == [math.inf]


class TestKernels:
    """Kernels of one row, which the search for items to suppress calls."""

    @given(drawn=st.data(), c=st.sampled_from([0.1, 0.3, 0.5, 1, 2, 20]), as_printed=st.booleans())
    def test_the_largest_l_is_the_last_that_holds(self, drawn, c, as_printed):
        row = drawn.draw(distributions(drawn.draw(st.integers(1, 7))))
        most = largest_l(row, float(c), as_printed)
        for l in range(1, 10):  # noqa: E741
            assert (diversity_ratio(row, l, as_printed) <= c + 1e-9) == (l <= most)
        assert (most == UNBOUNDED_L) == (as_printed and c >= 1)

    def test_by_hand(self):
        row = np.array([0.2, 0.5, 0.0, 0.1, 0.2])
        for printed, expected in ((False, [0.5, 1, 5 / 3, 5, math.inf]), (True, [0.5, 5 / 8, 5 / 6, 1, 1])):
            assert [diversity_ratio(row, rank, printed) for rank in range(1, 6)] == pytest.approx(expected)
        assert [largest_l(row, c, False) for c in (0.4, 0.5, 1.0, 2.0, 5.0, 1e6)] == [0, 1, 2, 3, 4, 4]
        assert [largest_l(row, c, True) for c in (0.4, 0.5, 0.9)] == [0, 1, 3]
        assert label_distance(row, row[::-1].copy()) == pytest.approx(math.sqrt(2) * 0.4)

    def test_what_rounding_leaves_of_a_label_is_no_label(self):
        """Adding and taking away a record leaves 1e-17 or so."""
        row = np.array([0.5, 0.5, 1e-17, -1e-17, 0.0])
        assert diversity_ratio(row, 3, False) == math.inf
        assert largest_l(row, 1e6, False) == 2
        assert diversity_ratio(np.zeros(3), 1, False) == math.inf
        assert largest_l(np.zeros(3), 1.0, False) == 0


class TestUnions:
    @given(
        drawn=linked(),
        c=st.sampled_from([0.4, 0.6, 1, 2, 4]),
        l=st.integers(1, 4),
        as_printed=st.booleans(),
    )
    def test_of_diverse_groups_are_diverse(self, drawn, c, l, as_printed):  # noqa: E741
        items_of, prevalence, records, groups = drawn
        asked = QSDiversity(c, l, knowledge(items_of, prevalence), as_printed)
        assert asked.is_monotone
        self.kept(asked, records, groups)

    @given(drawn=linked(), reading=READINGS, t=st.sampled_from([0.1, 0.3, 0.5, 0.8]))
    def test_of_close_groups_are_close_and_no_farther_than_the_mean(self, drawn, reading, t):
        items_of, prevalence, records, groups = drawn
        asked = QSCloseness(t, knowledge(items_of, prevalence), reading)
        assert asked.is_monotone
        self.kept(asked, records, groups)
        parts, whole = levels(asked, records, groups), levels(asked, records, [0] * len(records))
        assert whole[0] <= np.average(parts, weights=np.bincount(groups)) + 1e-12

    def kept(self, asked, records, groups):
        requirement, summary = grouped(asked, records, groups)
        assert requirement.is_monotone
        good = np.flatnonzero(requirement(summary))
        for i in good:
            for j in good[good != i]:
                assert requirement(summary[int(i)] + summary[int(j)])[0]

    def test_parts_of_diverse_groups_need_not_be(self):
        asked = QSDiversity(1, 2, knowledge({"L": "u", "M": "v"}))
        assert levels(asked, ["u", "v"], [0, 0]).tolist() == [1]
        assert levels(asked, ["u", "v"], [0, 1]).tolist() == [math.inf] * 2


class TestInDefenses:
    @given(drawn=linked(), data=st.data(), l=st.integers(1, 3), t=st.sampled_from([0.2, 0.5, 0.9]))
    def test_what_mondrian_publishes_passes(self, drawn, data, l, t):  # noqa: E741
        items_of, prevalence, records, _ = drawn
        assume(len(records) > 1)
        view = view_of(records, data.draw(st.lists(st.integers(0, 9), min_size=len(records), max_size=len(records))))
        linking = knowledge(items_of, prevalence)
        for asked in (
            KAnonymity(2) & QSDiversity(2, l, linking),
            KAnonymity(2) & QSCloseness(t, linking, "fractional"),
        ):
            try:
                groups = Mondrian(asked)(view, SURE[: len(view)])
            except Infeasible:
                groups = np.zeros(len(view), dtype=int)
                assert not self.table(view, groups, linking, asked)["holds"].all()
                continue
            assert self.table(view, groups, linking, asked)["holds"].all()

    def table(self, view, groups, linking, asked):
        return verify_items(ItemRelease(Release(view, groups), linking, linking.items_of(view)), asked)

    def test_mondrian_cuts_where_both_halves_are_diverse(self):
        """Ages 0 to 7; each item says one label. Halves of u, v, u, v can be cut again, those of u, u, v, v cannot."""
        linking = knowledge({"L": "u", "M": "v"})
        asked = KAnonymity(2) & QSDiversity(1, 2, linking)
        for records, sizes in (("uvuvuvuv", [2, 2, 2, 2]), ("uuvvuuvv", [4, 4]), ("uuuuvvvv", [8])):
            labels = Mondrian(asked)(view_of(records), SURE[:8]).labels
            assert np.bincount(labels).tolist() == sizes

    def test_full_domain_counts_on_unions(self):
        """Without recoding, each patient is alone, and sure."""
        linking = knowledge({"L": "u", "M": "v"})
        asked = FullDomain(QSDiversity(1, 2, linking), widths={"age": (2, 4)})
        assert asked(view_of("uvuv"), SURE[:4]).labels.tolist() == [0, 0, 1, 1]

    def test_either_will_do(self):
        """A requirement on labels beside another, in a disjunction, and beside a defense's own."""
        linking = knowledge({"L": "u", "M": "v"})
        asked = KAnonymity(4) | QSDiversity(1, 2, linking)
        assert np.bincount(Mondrian(asked)(view_of("uvuuuuvv"), SURE[:8]).labels).tolist() == [4, 4]
        view = view_of("uuvvuv")
        grown = JSReduce(2, 1, 1, also=QSDiversity(1, 2, linking), patience=6)(view, SURE[:6])
        assert verify_items(
            ItemRelease(Release(view, grown), linking, linking.items_of(view)), QSDiversity(1, 2, linking)
        )["holds"].all()
        assert (grown.labels >= 0).all()


class TestErrors:
    @pytest.mark.parametrize("make", [lambda given: QSDiversity(1, 2, given), lambda given: QSCloseness(1, given)])
    def test_what_is_no_linking(self, make):
        with pytest.raises(
            TypeError, match=r"linking is ExternalKnowledge\(1 labels, 1 items\); it holds .* give a Linking"
        ):
            make(ExternalKnowledge({"L": ["u"]}))

    @pytest.mark.parametrize("asked", [QSDiversity(1, 2, knowledge({"L": "u"})), QSCloseness(1, knowledge({"L": "u"}))])
    def test_without_members_there_is_no_level(self, asked):
        view = view_of("uv")
        with pytest.raises(ValueError, match=r"reads who is in each group.*members=True"):
            asked.bind(view, SURE[:2])(summarize_records(view, SURE[:2]))

    def test_more_labels_than_numbers_can_count(self):
        with pytest.raises(
            ValueError,
            match="QSDiversity: l is 9223372036854775808; it is a number of labels, from 1 to 4,611,686,018,427,387,904",
        ):
            QSDiversity(1, 2**63, knowledge({"L": "u"}))

    def test_a_column_that_is_not_there(self):
        asked = QSDiversity(1, 2, Linking(ExternalKnowledge({"L": ["u"]}), "purchases"))
        with pytest.raises(ValueError, match="purchases"):
            Mondrian(asked)(view_of("uv"), SURE[:2])
