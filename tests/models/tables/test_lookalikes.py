"""Hints in error messages: values of equal text and different types."""

import numpy as np
import pandas as pd
import pytest
from strategies import frame_of, view_of

from foreknow.models import CompromisedRecords, GivenPrior, Schema, View
from foreknow.models.tables.columns import lookalike
from foreknow.models.tables.schema import SensitiveSet


@pytest.mark.parametrize(
    ("value", "domain", "hint"),
    [
        ("5", (1, 5), " The types differ: '5' is text, and 5 a number; convert one of them."),
        (5, ("4", "5"), " The types differ: 5 is a number, and '5' text; convert one of them."),
        ("5", (5.0,), " The types differ: '5' is text, and 5.0 a number; convert one of them."),
        ("True", (True, False), " The types differ: 'True' is text, and True a truth value; convert one of them."),
        ("x", (1, 5), ""),
        (6, (5, "7"), ""),
    ],
)
def test_the_hint(value, domain, hint):
    assert lookalike(value, domain) == hint


class TestMessages:
    HINT = "'5' is text, and 5 a number"

    def view(self):
        frame = frame_of("AB", [1, 5])
        return View(frame, Schema.infer(frame, ["age"]))

    def test_a_cell_of_a_view(self):
        view = self.view()
        with pytest.raises(ValueError, match=self.HINT):
            View(view.frame.assign(result=["5", "1"]), view.schema)

    def test_a_sensitive_set(self):
        with pytest.raises(ValueError, match="not in the domain: 1, 5. The types differ: " + self.HINT):
            SensitiveSet.within((1, 5), {"5"}, "ForegroundAttack")

    def test_a_claim(self):
        claims = {"respondent": ["A"], "value": ["5"], "time": [0], "confidence": [1.0]}
        with pytest.raises(ValueError, match=r"not in the sensitive domain \(1, 5\). The types differ: " + self.HINT):
            CompromisedRecords(pd.DataFrame(claims)).at(0, self.view().people)

    def test_respondents_of_a_prior(self):
        view = View(frame_of([1, 5], "ab"), view_of("AB", "ab").schema)
        prior = GivenPrior(pd.DataFrame(np.full((2, 3), 1 / 3), index=["1", "5"], columns=list("abc")))
        with pytest.raises(
            ValueError, match=r"no row for respondent 1; add one\. The types differ: 1 is a number, and '1' text"
        ):
            prior(view.people)
