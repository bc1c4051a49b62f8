"""Knowledge learned from disk is that in memory."""

import numpy as np
import pytest
from large_history import visits

from foreknow.app.cli.adversary_knowledge import Learning, assumed_adversary, informed_adversary
from foreknow.app.disk import Engine, LargeTable
from foreknow.app.disk.knowledge import learn_from_disk
from foreknow.models import History
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
