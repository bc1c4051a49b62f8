"""Knowledge learned from disk is that in memory."""

import numpy as np
import pytest
from large_history import visits

from foreknow.app.cli.adversary_knowledge import Learning, assumed_adversary, informed_adversary
from foreknow.app.disk import Engine, LargeTable
from foreknow.app.disk.knowledge import learn_from_disk
from foreknow.models import History, Presence
from foreknow.models.knowledge.class_frequencies import class_intervals

ENGINE = Engine()


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


@pytest.mark.parametrize("gaps", ["ignore", "power"])
def test_the_knowledge_is_that_in_memory(tmp_path, gaps):
    frame = visits(people=80)
    table, learning = on_disk(tmp_path, frame), Learning(gaps=gaps)
    classes = class_intervals(table.schema, learning.classes, len(frame))
    found = learn_from_disk(table, classes, learning.pseudo_count, gaps, ENGINE)
    history = History.read(frame, table.schema, "week")
    expected, assumed = informed_adversary(history, learning), assumed_adversary(history, None, learning)
    assert found.prior == expected.prior
    np.testing.assert_allclose(found.transitions.probabilities, expected.transitions.probabilities, rtol=1e-13)
    for one, other in zip(found.before.chains, assumed.transitions.chains, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-13)


def test_respondents_with_one_record_have_no_transitions(tmp_path):
    frame = visits(people=80, releases=1)
    found = learn_from_disk(on_disk(tmp_path, frame), {}, 0.1, "ignore", ENGINE)
    assert found.transitions is None
    assert found.before is None


@pytest.mark.parametrize("data", [lambda: visits(people=80), lambda: visits(people=80, releases=1)])
@pytest.mark.parametrize("pseudo_count", [0.1, 2.0])
def test_presence_is_that_in_memory(tmp_path, data, pseudo_count):
    """With pauses, and with one release, which tells nothing."""
    frame = data()
    table = on_disk(tmp_path, frame)
    found = learn_from_disk(table, {}, pseudo_count, "ignore", ENGINE, presence=True).presence
    expected = Presence.fit(History.read(frame, table.schema, "week"), pseudo_count=pseudo_count)
    np.testing.assert_allclose(found.leave, expected.leave, rtol=1e-12)
    assert (found.back is None) == (expected.back is None) == (len(set(frame["week"])) == 1)
    if found.back is not None:
        np.testing.assert_allclose([found.back, *found.pause], [expected.back, *expected.pause], rtol=1e-12)
