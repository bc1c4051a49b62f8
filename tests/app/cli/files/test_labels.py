"""Published labels of numbers."""

import numpy as np
import pytest

from foreknow.app.cli.files.register import interval_of

AGES = np.array([19.0, 20, 25, 29.5, 30, 31])


@pytest.mark.parametrize(
    ("label", "inside"),
    [
        ("20-30", [20, 25, 29.5, 30]),
        ("20 – 30", [20, 25, 29.5, 30]),
        ("20..30", [20, 25, 29.5, 30]),
        ("20 to 30", [20, 25, 29.5, 30]),
        ("[20,30]", [20, 25, 29.5, 30]),
        ("[20, 30)", [20, 25, 29.5]),
        ("[20;30[", [20, 25, 29.5]),
        ("(20, 30]", [25, 29.5, 30]),
        ("]20,30[", [25, 29.5]),
        ("29.5", [29.5]),
        ("-5-20", [19, 20]),
        ("<20", [19]),
        ("<= 20", [19, 20]),
        (">30", [31]),
        ("≥30", [30, 31]),
        ("30+", [30, 31]),
        ("*", list(AGES)),
    ],
)
def test_labels_of_numbers(label, inside):
    assert AGES[interval_of(label).contains(AGES)].tolist() == inside


@pytest.mark.parametrize("label", ["", "young", "20-", "[20,30", "20-30-40", "1/2"])
def test_other_texts_are_no_labels_of_numbers(label):
    assert interval_of(label) is None
