"""(B, t)-privacy against its definition in plain Python, record by record, and in every defense that takes it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import divergence, omega_posterior, product_posterior
from strategies import tables, view_of

from foreknow.defenses import BTPrivacy, Infeasible, JSReduce, KAnonymity, Mondrian, grow, hilbert_order
from foreknow.defenses.requirements.requirement import AllOf
from foreknow.defenses.requirements.summary import summarize_groups, summarize_records
from foreknow.evaluation import verify
from foreknow.models import Exact, Hierarchy, Omega, Release, TooLarge

DOMAIN = "abc"
TREE = Hierarchy([("a", "low", "*"), ("c", "high", "*"), ("b", "low", "*")])
BETWEEN = {
    "equal": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
    "ordered": [[0, 0.5, 1], [0.5, 0, 0.5], [1, 0.5, 0]],
    TREE: [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]],
}
UNIFORM = np.full((12, 3), 1 / 3)


def epanechnikov(distance, bandwidth):
    x = distance / bandwidth
    return 3 / (4 * bandwidth) * (1 - x**2) if abs(x) < 1 else 0


def kernel_prior(frame, schema, bandwidth):
    """Kernel prior of each record (Li, Li, Zhang, ICDE 2009), the records' own values included."""
    people, rows = frame.to_dict("records"), []
    for q in people:
        sums = dict.fromkeys(DOMAIN, 0)
        for t in people:
            product = 1
            for name, kind in schema.quasi_identifiers.items():
                width = kind.high - kind.low
                product *= epanechnikov(abs(q[name] - t[name]) / width if width else 0, bandwidth[name])
            sums[t["result"]] += product
        rows.append([total / sum(sums.values()) for total in sums.values()])
    return rows


def smoothed(row, between, bandwidth):
    means = []
    for line in between:
        weights = [epanechnikov(distance, bandwidth) for distance in line]
        means.append(sum(p * w for p, w in zip(row, weights, strict=True)) / sum(weights))
    return [mean / sum(means) for mean in means]


def moved(view, labels, requirement, posterior):
    """Largest divergence of the members of each group."""
    names = view.schema.quasi_identifiers
    known = requirement.bandwidth
    prior = kernel_prior(view.frame, view.schema, known if isinstance(known, dict) else dict.fromkeys(names, known))
    values = view.frame["result"].tolist()
    for g in range(labels.max() + 1):
        rows = np.flatnonzero(labels == g)
        counts = [sum(values[i] == s for i in rows) for s in DOMAIN]
        after = posterior([prior[i] for i in rows], counts)
        between, b = BETWEEN[requirement.distance], requirement.smoothing
        yield max(
            divergence([smoothed(prior[i], between, b), smoothed(row, between, b)], requirement.base)
            for i, row in zip(rows, after, strict=True)
        )


@st.composite
def requirements(draw, estimator):
    return BTPrivacy(
        draw(st.sampled_from([0.1, 0.3, 0.5, 1, 1.7, {"age": 0.2, "weight": 0.9}])),
        draw(st.sampled_from([0, 0.05, 0.2, 0.4, 0.8])),
        estimator,
        draw(st.sampled_from(list(BETWEEN))),
        draw(st.sampled_from([0.4, 0.6, 1, 3])),
        draw(st.sampled_from([2, math.e, 10])),
    )


class TestLevel:
    @pytest.mark.parametrize(("estimator", "posterior"), [(Omega(), omega_posterior), (Exact(), product_posterior)])
    @given(data=st.data(), drawn=tables(most=8, ages=4))
    def test_is_the_definition(self, estimator, posterior, data, drawn):
        view, prior = drawn
        asked = data.draw(requirements(estimator))
        labels = np.unique(
            data.draw(st.lists(st.integers(0, 2), min_size=len(view), max_size=len(view))), return_inverse=True
        )[1]
        groups = summarize_groups(summarize_records(view, prior, members=True), labels)
        level = asked.bind(view, prior).level(groups)
        assert level == pytest.approx(list(moved(view, labels, asked, posterior)), abs=1e-9)
        assert (asked.bind(view, prior)(groups) == (level <= asked.t + 1e-9)).all()

    def test_by_hand(self):
        """One of two equal records has a: prior and posterior of both are 1/2, so that the divergence is 0."""
        view = view_of("ABC", "abb", ages=[30, 30, 99], domain=DOMAIN)
        records = summarize_records(view, UNIFORM[:3], members=True)
        asked = BTPrivacy(0.1, 0.5).bind(view, UNIFORM[:3])
        groups = summarize_groups(records, np.array([0, 0, 1]))
        assert asked.level(groups).tolist() == pytest.approx([0, 0])
        # Alone, A moves from (1/2, 1/2) to (1, 0): H(3/4, 1/4) - H(1/2, 1/2) / 2.
        alone = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25)) - 0.5
        assert asked.level(records).tolist() == pytest.approx([alone, alone, 0])

    def test_the_prior_of_the_defense_is_not_read(self):
        view = view_of("ABCD", "abca", domain=DOMAIN)
        labels = np.array([0, 0, 1, 1])
        found = []
        for prior in (UNIFORM[:4], np.eye(3)[[0, 1, 2, 0]]):
            groups = summarize_groups(summarize_records(view, prior, members=True), labels)
            found.append(BTPrivacy(0.5, 0.3).bind(view, prior).level(groups))
        assert np.array_equal(*found)

    def test_one_estimate_for_all_groups_of_a_batch(self):
        problems = []

        class Counting(Omega):
            def __call__(self, problem):
                problems.append(problem)
                return super().__call__(problem)

        view = view_of("ABCD", "abca", domain=DOMAIN)
        records = summarize_records(view, UNIFORM[:4], members=True)
        BTPrivacy(0.5, 0.3, Counting()).bind(view, UNIFORM[:4])(records + records[0])
        assert [len(problem.counts) for problem in problems] == [4]


class TestSkyline:
    def test_is_the_conjunction(self):
        asked = BTPrivacy.skyline([(0.2, 0.9), ({"age": 0.5}, 0.6)], distance="ordered")
        assert asked == AllOf(
            (BTPrivacy(0.2, 0.9, distance="ordered"), BTPrivacy({"age": 0.5}, 0.6, distance="ordered"))
        )
        assert BTPrivacy.skyline([(0.2, 0.9)]) == BTPrivacy(0.2, 0.9)

    def test_each_has_its_own_prior(self):
        view = view_of("ABCD", "abca", ages=[20, 30, 50, 90], domain=DOMAIN)
        given_ = BTPrivacy.skyline([(0.05, 0.5), (2, 0.5)]).bind(view, UNIFORM[:4])
        assert not np.array_equal(given_.parts[0].measure.prior, given_.parts[1].measure.prior)

    def test_no_pair_is_one_clear_error(self):
        with pytest.raises(ValueError, match="there is no requirement to combine"):
            BTPrivacy.skyline([])


class TestInDefenses:
    @given(
        drawn=tables(most=12),
        asked=st.sampled_from(
            [
                BTPrivacy(0.5, 0.3),
                BTPrivacy({"age": 0.3, "weight": 2}, 0.1, distance="ordered"),
                BTPrivacy.skyline([(0.3, 0.5), (1, 0.2)], estimator=Exact()),
            ]
        ),
        strict=st.booleans(),
    )
    def test_what_mondrian_publishes_passes(self, drawn, asked, strict):
        view, prior = drawn
        if len(view) < 3:
            return
        try:
            grouping = Mondrian(KAnonymity(3) & asked, strict)(view, prior)
        except Infeasible:
            assert not verify(Release(view, [0] * len(view)), asked)["holds"].all()
            return
        assert verify(Release(view, grouping), KAnonymity(3) & asked)["holds"].all()

    @given(
        drawn=tables(most=12),
        leftovers=st.sampled_from(["suppress", "counterfeit"]),
        patience=st.none() | st.just(4),
        asked=requirements(Omega()),
    )
    def test_what_js_reduce_publishes_passes(self, drawn, leftovers, patience, asked):
        view, prior = drawn
        defense = JSReduce(2, 0.6, 0.8, also=asked, leftovers=leftovers, patience=patience)
        assert verify(Release(view, defense(view, prior)), defense.requirement, prior)["holds"].all()

    @given(drawn=tables(most=12))
    def test_groups_that_are_grown_satisfy(self, drawn):
        view, prior = drawn
        asked = KAnonymity(2) & BTPrivacy(0.5, 0.2)
        labels = np.full(len(view), -1)
        records = summarize_records(view, prior, members=True)
        for number, members in enumerate(grow(records, hilbert_order(view.people), asked.bind(view, prior)).groups):
            labels[members] = number
        assert verify(Release(view, labels), asked)["holds"].all()

    def test_a_group_too_large_for_the_estimator_stops_the_defense(self):
        """All twelve with ten different priors and three values: more than two states."""
        view = view_of("ABCDEFGHIJKL", "abcabcabcabc", domain=DOMAIN)
        with pytest.raises(TooLarge, match="Auto"):
            Mondrian(KAnonymity(3) & BTPrivacy(0.3, 0.5, Exact(limit=2)))(view, UNIFORM)


class TestSettings:
    @pytest.mark.parametrize("bandwidth", [0.5, {"age": 0.5, "weight": 1}])
    @pytest.mark.parametrize("distance", ["equal", TREE])
    def test_is_a_value_with_a_readable_name(self, bandwidth, distance):
        asked = BTPrivacy(bandwidth, 0.3, distance=distance)
        assert eval(repr(asked), {"BTPrivacy": BTPrivacy, "Omega": Omega, "Hierarchy": TREE}) == asked
        assert hash(asked) == hash(BTPrivacy(bandwidth, 0.3, distance=distance))
        assert (asked.smallest, asked.is_monotone, asked.weighs_beliefs, asked.sense) == (1, False, False, "at most")

    def test_is_named_and_bounded_alike_for_every_view(self):
        view = view_of("ABC", "abc", domain=DOMAIN)
        asked = BTPrivacy(0.5, 0.3)
        given_ = asked.bind(view, UNIFORM[:3])
        assert repr(given_) == repr(asked)
        assert (given_.bound, given_.smallest, given_.reads_prior, given_.reads_members) == (0.3, 1, False, True)

    @pytest.mark.parametrize(
        ("settings", "match"),
        [
            ({"bandwidth": 0}, "BTPrivacy: bandwidth is 0; it is a positive finite number"),
            ({"bandwidth": {"age": -1}}, "BTPrivacy: bandwidth is -1"),
            ({"t": -0.1}, r"BTPrivacy: t is -0\.1; it is a number of at least 0, a divergence"),
            ({"t": math.nan}, "BTPrivacy: t is nan"),
            ({"distance": "euclid"}, "BTPrivacy: distance is 'euclid'; it is 'equal', 'ordered' or a Hierarchy"),
            ({"smoothing": math.inf}, "BTPrivacy: smoothing is inf; it is a positive finite number"),
            ({"base": 1}, "BTPrivacy: the logarithm's base is 1; it is a number above 1"),
        ],
    )
    def test_bad_settings_are_one_clear_error(self, settings, match):
        with pytest.raises(ValueError, match=match):
            BTPrivacy(**({"bandwidth": 0.5, "t": 0.3} | settings))

    def test_a_bandwidth_of_no_attribute_is_one_clear_error(self):
        with pytest.raises(ValueError, match="the bandwidth names height"):
            Mondrian(BTPrivacy({"height": 0.5}, 0.3))(view_of("AB", "ab"), UNIFORM[:2])

    def test_a_value_the_hierarchy_lacks_is_one_clear_error(self):
        view = view_of("AB", "ae", domain="ae")
        with pytest.raises(ValueError, match="the hierarchy has no row for 'e'"):
            BTPrivacy(0.5, 0.3, distance=TREE).bind(view, np.full((2, 2), 0.5))

    def test_without_members_there_is_no_level(self):
        view = view_of("AB", "ab")
        asked, prior = BTPrivacy(0.5, 0.3), UNIFORM[:2]
        with pytest.raises(ValueError, match=r"reads who is in each group.*members=True"):
            asked.bind(view, prior)(summarize_records(view, prior))


def test_how_near_people_are_is_measured_over_the_schema_s_domain():
    """The domain is 0 to 99, whatever the range of the records."""
    view, prior = view_of("AB", "ab", ages=[20, 30], domain="ab"), np.full((2, 2), 0.5)
    weight = 1 - (10 / 99 / 0.5) ** 2
    expected = divergence([[1 / (1 + weight), weight / (1 + weight)], [1, 0]])
    level = BTPrivacy(0.5, 0.3).bind(view, prior).level(summarize_records(view, prior, members=True))
    assert level == pytest.approx([expected] * 2)
