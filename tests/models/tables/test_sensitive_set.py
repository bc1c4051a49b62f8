"""Sensitive sets: classes of values, and one error for each wrong set."""

import re

import numpy as np
import pandas as pd
import pytest

from foreknow.models.tables.schema import SensitiveSet, as_sensitive_values, sensitive_codes


class TestSensitiveSet:
    """A sensitive set and its complement, or each value on its own."""

    DOMAIN = ("flu", "hiv", "cold", "cancer")

    def test_a_set_is_two_classes(self):
        sensitive_set = SensitiveSet.within(self.DOMAIN, {"hiv", "cancer"}, "F")
        assert sensitive_set.class_labels == (True, False)
        assert sensitive_set.codes.tolist() == [1, 3]
        assert sensitive_set.class_counts(np.array([[1, 2, 3, 4]])).tolist() == [[6, 4]]

    def test_beliefs_are_spread_by_the_groups_shares(self):
        sensitive_set = SensitiveSet.within(self.DOMAIN, {"hiv", "cancer"}, "F")
        spread = sensitive_set.value_probabilities(
            np.array([[0.6, 0.4], [0.5, 0.5]]), np.array([[1, 1, 0, 3], [0, 0, 1, 1]])
        )
        assert np.allclose(spread, [[0.4, 0.15, 0, 0.45], [0, 0, 0.5, 0.5]])
        assert np.allclose(
            sensitive_set.value_probabilities(np.array([[0.6, 0.4]]), np.array([[2, 0, 2, 0]])), [[0.2, 0.3, 0.2, 0.3]]
        )

    def test_none_keeps_every_value_apart(self):
        sensitive_set = SensitiveSet.within(self.DOMAIN, None, "F")
        rows, counts = np.array([[0.1, 0.2, 0.3, 0.4]]), np.array([[1, 0, 2, 3]])
        assert sensitive_set.class_labels == self.DOMAIN
        assert sensitive_set.class_counts(counts).tolist() == counts.tolist()
        assert sensitive_set.value_probabilities(rows, counts) is rows

    def test_a_set_in_a_domain_of_two_is_still_set_against_other(self):
        sensitive_set = SensitiveSet.within(("no", "yes"), ["yes"], "F")
        assert np.allclose(sensitive_set.value_probabilities(np.array([[0.9, 0.1]]), np.array([1, 1])), [[0.1, 0.9]])

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (
                {"plague"},
                "F: the sensitive set holds 'plague', which is not in the domain: 'flu', 'hiv', 'cold', 'cancer'.",
            ),
            (DOMAIN, "F: the sensitive set holds all 4 values of the domain, so that every record has one; leave out"),
        ],
    )
    def test_unknown_values_or_all(self, values, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            SensitiveSet.within(self.DOMAIN, values, "F")

    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            (
                "hiv",
                TypeError,
                "F: sensitive_set is 'hiv'; it is a set of values of the domain, as {'flu', 'cold'}.",
            ),
            (b"hiv", TypeError, "it is a set of values"),
            (3, TypeError, "F: sensitive_set is 3; it is a set of values"),
            (None, TypeError, "F: sensitive_set is None; it is a set of values"),
            (np.array("hiv"), TypeError, "it is a set of values"),
            ([["hiv"]], ValueError, "F: sensitive_set is [['hiv']]; it is a set of values"),
            ([("hiv", ["flu"])], ValueError, "F: sensitive_set is [('hiv', ['flu'])]; it is a set of values"),
            (np.array([["hiv"]]), ValueError, "it is a set of values"),
            (
                set(),
                ValueError,
                "F: sensitive_set is set(); it is a set of values",
            ),
            (["hiv", "flu", "hiv"], ValueError, "F: the sensitive set names 'hiv' twice; name each value once."),
        ],
    )
    def test_no_set(self, values, error, message):
        for check in (lambda: as_sensitive_values("F", values), lambda: sensitive_codes("F", self.DOMAIN, values)):
            with pytest.raises(error, match=re.escape(message)):
                check()

    @pytest.mark.parametrize(
        "values", [["hiv", "flu"], ("hiv", "flu"), np.array(["hiv", "flu"]), pd.Series(["hiv", "flu"], index=[5, 6])]
    )
    def test_ordered_collections_keep_their_order(self, values):
        assert as_sensitive_values("F", values) == ("hiv", "flu")

    @pytest.mark.parametrize("values", [{"hiv", "flu"}, frozenset(["hiv", "flu"])])
    def test_sets_are_sorted(self, values):
        assert as_sensitive_values("F", values) == ("flu", "hiv")

    def test_long_domains_are_shortened(self):
        with pytest.raises(ValueError, match=r"'x', which is not in the domain: 0, 1, .*, 11, \.\.\.\."):
            SensitiveSet.within(tuple(range(40)), ["x"], "F")
