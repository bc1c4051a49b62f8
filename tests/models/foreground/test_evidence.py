"""What fits are given: enough people, their signatures, the sensitive set, and groups as cells and parts."""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import evidences

from foreknow.models import Evidence, PublishedTable, SampleSize
from foreknow.models.foreground.sensitive_set import SensitiveSet, check_sensitive
from foreknow.models.foreground.signatures import check_attribute_sets, signatures, supported_sets


@pytest.fixture(scope="module")
def people():
    """A hundred people with four attributes, some values of which are rare."""
    rng = np.random.default_rng(5)
    columns = {name: rng.choice(list("uvwxyz")[: i + 2], 100, p=_falling(i + 2)) for i, name in enumerate("ABCD")}
    frame = pd.DataFrame({**columns, "group": np.arange(100) // 4, "X": rng.choice(["h", "f"], 100)})
    return PublishedTable(frame, sensitive="X").observation.people


def _falling(number):
    weights = 0.3 ** np.arange(number)
    return weights / weights.sum()


class TestSampleSize:
    """Theorem 1."""

    def test_printed(self):
        assert SampleSize(0.01, 0.9).records == 3993
        assert SampleSize().records == 3993

    def test_the_smallest_that_may_be_asked_for(self):
        """ln 2 - ln(1e-320) is 737.5, over 2e-12; 2 / 1e-320 itself is too large for a float."""
        assert SampleSize(1e-6, 1e-320).records == pytest.approx((np.log(2) + 320 * np.log(10)) / 2e-12, rel=1e-4)

    @given(st.floats(0.003, 0.4), st.floats(0.01, 1.9))
    def test_the_fewest_that_the_bound_allows(self, epsilon, sigma):
        n = SampleSize(epsilon, sigma).records
        assert 2 * math.exp(-2 * n * epsilon**2) <= sigma * (1 + 1e-9)
        assert n == 1 or 2 * math.exp(-2 * (n - 1) * epsilon**2) > sigma * (1 - 1e-9)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"epsilon": 0}, "SampleSize: epsilon is 0; it is a difference of probabilities, from 1e-06 to 1."),
            (
                {"epsilon": 1e-200},
                "SampleSize: epsilon is 1e-200; it is a difference of probabilities, from 1e-06 to 1.",
            ),
            ({"epsilon": 1e300}, "epsilon is 1e+300"),
            ({"epsilon": None}, "SampleSize: epsilon is None; it is a difference of probabilities"),
            ({"sigma": "a"}, "SampleSize: sigma is 'a'; it is a probability"),
            ({"sigma": float("nan")}, "sigma is nan"),
            ({"epsilon": float("inf")}, "epsilon is inf"),
            ({"sigma": 0}, "SampleSize: sigma is 0; it is a probability, over 0 (above 2 it asks nothing)."),
            ({"sigma": 2.5}, "sigma is 2.5"),
        ],
    )
    def test_out_of_range(self, settings, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            SampleSize(**settings)


class TestSignatures:
    """Definition 1, and the pruning of section 4.2."""

    @pytest.mark.parametrize("fewest", [1, 3, 10, 40, 101])
    def test_as_counted_one_by_one(self, people, fewest):
        rows = people.quasi_identifiers[:, [0, 3, 1]]
        tally = Counter(map(tuple, rows.tolist()))
        found = signatures(people, ("A", "D", "B"), fewest)
        assert {tuple(code): n for code, n in zip(found.codes.tolist(), found.support.tolist(), strict=True)} == {
            code: n for code, n in tally.items() if n >= fewest
        }
        for row, signature in zip(rows, found.person, strict=True):
            if signature >= 0:
                assert (found.codes[signature] == row).all()
            else:
                assert tally[tuple(row.tolist())] < fewest

    @pytest.mark.parametrize("fewest", [1, 2, 8, 20, 60, 90, 101])
    def test_pruned_sets_are_those_that_counting_all_finds(self, people, fewest):
        """A signature is matched by no more people than its parts: whatever is skipped had none with enough."""
        every = [c for size in range(1, 5) for c in itertools.combinations("ABCD", size)]
        wanted = [names for names in every if len(signatures(people, names, fewest))]
        assert [found.attributes for found in supported_sets(people, "all", fewest)] == wanted

    def test_listed_sets_come_once_and_smaller_ones_first(self, people):
        found = supported_sets(people, [("B", "A"), "C", ("A", "B"), ["D"]])
        assert [set(one.attributes) for one in found] == [{"C"}, {"D"}, {"A", "B"}]

    def test_labels_are_the_tables_own(self, people):
        found = signatures(people, ("A",))
        assert found.labels == {"A": ["u", "v"]}

    @pytest.mark.parametrize(
        ("sets", "message"),
        [
            (
                [("A", "Z")],
                "the attribute set ('A', 'Z') names 'Z', which is no quasi-identifier; there are A, B, C, D.",
            ),
            ([("A", "A")], "the attribute set ('A', 'A') names an attribute twice; name each once."),
        ],
    )
    def test_sets_that_are_not_columns(self, people, sets, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            list(supported_sets(people, sets))

    @pytest.mark.parametrize(
        ("sets", "error", "message"),
        [
            (
                "every",
                ValueError,
                "F: attribute_sets is 'every'; it is 'all', or a list of sets, as ['every'] or [['every', ...]].",
            ),
            ([], ValueError, "F: attribute_sets is []; name at least one set, of one attribute or more."),
            ([()], ValueError, "name at least one set"),
            (3, TypeError, "F: attribute_sets is 3; it is 'all', or a list of sets of names."),
        ],
    )
    def test_no_sets(self, sets, error, message):
        with pytest.raises(error, match=re.escape(message)):
            check_attribute_sets("F", sets)


class TestSecret:
    """A sensitive set against all others, or every value."""

    DOMAIN = ("flu", "hiv", "cold", "cancer")

    def test_a_set_is_two_classes(self):
        sensitive_set = SensitiveSet.of(self.DOMAIN, {"hiv", "cancer"}, "F")
        assert sensitive_set.values == (True, False)
        assert sensitive_set.sensitive.tolist() == [1, 3]
        assert sensitive_set.counts(np.array([[1, 2, 3, 4]])).tolist() == [[6, 4]]

    def test_beliefs_are_spread_by_the_groups_shares(self):
        sensitive_set = SensitiveSet.of(self.DOMAIN, {"hiv", "cancer"}, "F")
        spread = sensitive_set.spread(np.array([[0.6, 0.4], [0.5, 0.5]]), np.array([[1, 1, 0, 3], [0, 0, 1, 1]]))
        assert np.allclose(spread, [[0.4, 0.15, 0, 0.45], [0, 0, 0.5, 0.5]])
        assert np.allclose(
            sensitive_set.spread(np.array([[0.6, 0.4]]), np.array([[2, 0, 2, 0]])), [[0.2, 0.3, 0.2, 0.3]]
        )

    def test_none_keeps_every_value_apart(self):
        sensitive_set = SensitiveSet.of(self.DOMAIN, None, "F")
        rows, counts = np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[1, 0, 2, 3]])
        assert sensitive_set.values == self.DOMAIN
        assert sensitive_set.counts(counts).tolist() == counts.tolist()
        assert sensitive_set.spread(rows, counts) is rows

    def test_a_set_in_a_domain_of_two_is_still_set_against_other(self):
        sensitive_set = SensitiveSet.of(("no", "yes"), ["yes"], "F")
        assert np.allclose(sensitive_set.spread(np.array([[0.9, 0.1]]), np.array([1, 1])), [[0.1, 0.9]])

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (
                {"plague"},
                "F: the sensitive set holds 'plague', which is not in the domain: 'flu', 'hiv', 'cold', 'cancer'.",
            ),
            (DOMAIN, "F: the sensitive set holds all 4 values of the domain, so that everybody has one; leave out"),
        ],
    )
    def test_unknown_values_or_all(self, values, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            SensitiveSet.of(self.DOMAIN, values, "F")

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            ("hiv", TypeError, "F: sensitive is 'hiv'; it is a set of values, as {'hiv'}, or None for every value."),
            (set(), ValueError, "F: the sensitive set is empty; name a value, or None for every value."),
        ],
    )
    def test_no_set(self, values, error, message):
        with pytest.raises(error, match=re.escape(message)):
            check_sensitive("F", values)


class TestEvidence:
    """Groups as cells of people of one signature, and signatures as parts."""

    @given(evidences(groups=5))
    def test_cells_hold_every_group_of_two_values(self, evidence):
        cells, written = evidence.cells, Counter()
        for kind, (begin, end) in enumerate(itertools.pairwise(cells.starts)):
            pairs = sorted(zip(cells.signature[begin:end].tolist(), cells.size[begin:end].tolist(), strict=True))
            written[(int(cells.holding[kind]), *pairs)] += int(cells.times[kind])
        assert len(written) == len(cells.holding)
        expected, settled = Counter(), np.zeros((evidence.signatures + 1, 2), dtype=int)
        for j, (having, lacking) in enumerate(evidence.counts):
            inside = evidence.place[evidence.group == j].tolist()
            if having and lacking:
                expected[(int(having), *sorted(Counter(inside).items()))] += 1
            else:
                np.add.at(settled, (inside, int(having == 0)), 1)
        assert written == expected
        assert (cells.settled == settled).all()
        for row, cell in enumerate(cells.of_person):
            open_ = evidence.group[row] >= 0 and (evidence.counts[evidence.group[row]] > 0).all()
            assert (cell >= 0) == open_
            assert cell < 0 or cells.signature[cell] == evidence.place[row]

    @given(evidences(values=3, largest=3, groups=6, signatures=6))
    def test_parts_are_joined_by_groups_of_several_values(self, evidence):
        """By joining labels until nothing changes."""
        label = list(range(evidence.signatures))
        mixed = [j for j, counts in enumerate(evidence.counts) if (counts > 0).sum() > 1]
        for _ in range(evidence.signatures):
            for j in mixed:
                together = [i for i in evidence.signature[evidence.group == j] if i >= 0]
                least = min((label[i] for i in together), default=0)
                label = [least if old in {label[i] for i in together} else old for old in label]
        part = evidence.part
        for one, other in itertools.combinations(range(evidence.signatures), 2):
            assert (part[one] == part[other]) == (label[one] == label[other])
        assert part[-1] == len(set(label))

    @given(evidences(values=3))
    def test_shares_are_means_of_the_groups(self, evidence):
        for i in range(evidence.signatures):
            rows = [
                evidence.counts[j] / evidence.counts[j].sum()
                for j in evidence.group[(evidence.signature == i) & (evidence.group >= 0)]
            ]
            assert np.allclose(evidence.shares[i], np.mean(rows, axis=0) if rows else evidence.rest)
            assert evidence.support[i] == len(rows)

    @pytest.mark.parametrize(
        ("signature", "group", "counts", "rest", "message"),
        [
            ([0, -2], [0, 0], [[1, 1]], [0.5, 0.5], "signatures are whole numbers from -1 on; got int64, -2."),
            ([0.0, 1.0], [0, 0], [[1, 1]], [0.5, 0.5], "signatures are whole numbers from -1 on; got float64, 0.0."),
            ([0, 1], [0, 0], [[1, 2]], [0.5, 0.5], "group 0 has 2 respondents and the counts [1, 2]"),
            ([0, 1], [0, 0], [[1, 1]], [0.5, 0.4], "the rest's distribution, row 0 sums to 0.9"),
        ],
    )
    def test_bad_arrays(self, signature, group, counts, rest, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            Evidence(np.array(signature), np.array(group), np.array(counts), np.array(rest))

    def test_cells_of_three_values(self):
        evidence = Evidence(np.zeros(3, int), np.zeros(3, int), np.array([[1, 1, 1]]), np.ones(3) / 3)
        with pytest.raises(ValueError, match=r"cells are of two values; the counts have 3\."):
            evidence.cells  # noqa: B018 - it checks
