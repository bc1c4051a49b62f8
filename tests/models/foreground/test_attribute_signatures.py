"""Signatures of attribute sets, their support, and the sample size that bounds it."""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreknow.models import PublishedTable, SampleSize
from foreknow.models.foreground.attribute_signatures import attribute_signatures, check_attribute_sets, supported_sets


@pytest.fixture(scope="module")
def people():
    """A hundred respondents with four attributes, some values of which are rare."""
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
    def test_the_min_support_that_the_bound_allows(self, epsilon, sigma):
        n = SampleSize(epsilon, sigma).records
        assert 2 * math.exp(-2 * n * epsilon**2) <= sigma * (1 + 1e-9)
        assert n == 1 or 2 * math.exp(-2 * (n - 1) * epsilon**2) > sigma * (1 - 1e-9)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            (
                {"epsilon": 0},
                "SampleSize: epsilon is 0; it is a number from 1e-06 to 1, a difference of probabilities.",
            ),
            (
                {"epsilon": 1e-200},
                "SampleSize: epsilon is 1e-200; it is a number from 1e-06 to 1, a difference of probabilities.",
            ),
            ({"epsilon": 1e300}, "epsilon is 1e+300"),
            ({"epsilon": None}, "SampleSize: epsilon is None; it is a number from 1e-06 to 1"),
            ({"sigma": "a"}, "SampleSize: sigma is 'a'; it is a positive finite number"),
            ({"sigma": float("nan")}, "sigma is nan"),
            ({"epsilon": float("inf")}, "epsilon is inf"),
            ({"sigma": 0}, "SampleSize: sigma is 0; it is a positive finite number, a probability."),
        ],
    )
    def test_out_of_range(self, settings, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            SampleSize(**settings)


class TestSignatures:
    """Definition 1, and the pruning of section 4.2."""

    @pytest.mark.parametrize("min_support", [1, 3, 10, 40, 101])
    def test_as_counted_one_by_one(self, people, min_support):
        rows = people.quasi_identifiers[:, [0, 3, 1]]
        tally = Counter(map(tuple, rows.tolist()))
        found = attribute_signatures(people, ("A", "D", "B"), min_support)
        assert {tuple(code): n for code, n in zip(found.codes.tolist(), found.support.tolist(), strict=True)} == {
            code: n for code, n in tally.items() if n >= min_support
        }
        for row, signature in zip(rows, found.signature, strict=True):
            if signature >= 0:
                assert (found.codes[signature] == row).all()
            else:
                assert tally[tuple(row.tolist())] < min_support

    @pytest.mark.parametrize("min_support", [1, 2, 8, 20, 60, 90, 101])
    def test_pruned_sets_are_those_that_counting_all_finds(self, people, min_support):
        """The support of a signature is at most that of its parts, so that skipped sets have no supported signature."""
        every = [c for size in range(1, 5) for c in itertools.combinations("ABCD", size)]
        wanted = [names for names in every if len(attribute_signatures(people, names, min_support))]
        assert [found.attributes for found in supported_sets(people, "all", min_support)] == wanted

    def test_listed_sets_come_once_and_smaller_ones_first(self, people):
        found = supported_sets(people, [("B", "A"), "C", ("A", "B"), ["D"]])
        assert [set(one.attributes) for one in found] == [{"C"}, {"D"}, {"A", "B"}]

    def test_labels_are_the_tables_own(self, people):
        found = attribute_signatures(people, ("A",))
        assert found.labels == {"A": ["u", "v"]}

    @pytest.mark.parametrize(
        ("sets", "message"),
        [
            (
                [("A", "Z")],
                "the attribute set ('A', 'Z'): 'Z' is no quasi-identifier; there are A, B, C, D.",
            ),
            ([("A", "A")], "the attribute set ('A', 'A'): the quasi-identifier 'A' stands twice; name it once."),
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
                TypeError,
                "F: attribute_sets is 'every'; it is 'all', or a list of sets of names, as ['age',",
            ),
            ([], ValueError, "F: attribute_sets is []; it is 'all', or a list of sets of names"),
            ([()], ValueError, "one at least"),
            (3, TypeError, "F: attribute_sets is 3; it is 'all', or a list of sets of names"),
        ],
    )
    def test_no_sets(self, sets, error, message):
        with pytest.raises(error, match=re.escape(message)):
            check_attribute_sets("F", sets)
