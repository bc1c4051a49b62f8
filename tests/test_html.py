"""HTML of objects in notebooks: numbers of the object, and text that is only text."""

import numpy as np
import pandas as pd
import pytest
from public_objects import BELIEFS, HISTORY, RELEASES

from foreknow.attacks import SnapshotAttack
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.evaluation import compare
from foreknow.models import Adversary, Grouping, History, Release, Schema, UniformPrior, View

COMPARISON = compare(
    HISTORY, {"<script>": Mondrian(KAnonymity(2))}, {"s": SnapshotAttack(Adversary(UniformPrior()))}, rng=1
)
STRANGE = "<script>alert(1)</script>"


def test_numbers_of_a_release():
    shown = RELEASES[0]._repr_html_()
    assert "time: 1, records: 3, suppressed: 0, groups: 2, group sizes: 2 to 2" in shown
    assert shown.count("<p>one note</p>") == 1


def test_an_empty_release():
    assert "suppressed: 3, groups: 0" in Release(HISTORY[0], [-1, -1, -1])._repr_html_()


def test_numbers_of_a_history():
    shown = HISTORY._repr_html_()
    assert "views: 2, records: 5, respondents: 3, sensitive: result (3 values), known by: age" in shown


def test_numbers_of_beliefs():
    cells = BELIEFS[0]._repr_html_()
    assert cells.count("<tr>") == 1 + len(BELIEFS[0])
    assert "releases: 2, values: 3" in cells


def test_numbers_of_a_comparison():
    shown = COMPARISON._repr_html_()
    assert "records: 5, releases of each defense: 2" in shown
    assert "&lt;script&gt;</td>" in shown


def test_a_long_table_says_what_it_leaves_out():
    views = [View(HISTORY[0].frame, HISTORY.schema, time) for time in range(20)]
    assert "and 8 more" in History(views)._repr_html_()


@pytest.mark.parametrize("make", [lambda release: release, lambda release: History([release.view])])
def test_text_is_escaped(make):
    frame = pd.DataFrame({"id": [STRANGE], STRANGE: [1], "result": [STRANGE]})
    view = View(frame, Schema.infer(frame, [STRANGE]), time=STRANGE)
    release = Release(view, Grouping(np.array([0]), notes=(STRANGE,)))
    shown = make(release)._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
