"""Knowledge learned from disk, and the risk of an attack on disk: those in memory."""

import numpy as np
import pandas as pd
import pytest
from large_history import in_memory, visits

from foreknow.attacks import SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.evaluation import adversary_confidence, adversary_gain
from foreknow.evaluation.cli.adversary_knowledge import Learning, assumed_adversary, class_intervals, learn_knowledge
from foreknow.evaluation.cli.commands.exposure_verdict import exposure
from foreknow.evaluation.large import Engine, LargeTable, attack_large, publish_large
from foreknow.evaluation.large.exposure import large_exposure
from foreknow.evaluation.large.knowledge import learn_from_disk
from foreknow.models import Adversary, History, Omega, UniformPrior

ENGINE = Engine()


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


@pytest.mark.parametrize("gaps", ["ignore", "power"])
def test_the_knowledge_is_that_in_memory(tmp_path, gaps):
    frame = visits(people=80)
    table, learning = on_disk(tmp_path, frame), Learning(gaps=gaps)
    classes = class_intervals(table.schema, learning, len(frame))
    found = learn_from_disk(table, classes, learning.pseudo_count, gaps, ENGINE)
    history = History.read(frame, table.schema, "week")
    expected, assumed = learn_knowledge(history, learning), assumed_adversary(history, None, learning)
    assert found.prior == expected.prior
    np.testing.assert_allclose(found.transitions.probabilities, expected.transitions.probabilities, rtol=1e-13)
    for one, other in zip(found.before.chains, assumed.transitions.chains, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-13)


def test_respondents_with_one_record_have_no_transitions(tmp_path):
    frame = visits(people=80, releases=1)
    found = learn_from_disk(on_disk(tmp_path, frame), {}, 0.1, "ignore", ENGINE)
    assert found.transitions is None
    assert found.before is None


def test_the_risk_is_that_in_memory(tmp_path):
    frame = visits(people=150)
    table = on_disk(tmp_path, frame)
    learned = learn_from_disk(table, {"sex": None}, 0.1, "ignore", ENGINE)
    adversary = Adversary(learned.prior, learned.transitions, estimator=Omega())
    published = publish_large(table, Mondrian(KAnonymity(2)), tmp_path / "out", block=50)
    folder = attack_large(published, adversary, tmp_path / "beliefs")
    found = large_exposure(published, folder, adversary, 0.6, tmp_path / "at-risk.parquet", ENGINE)
    history = History.read(frame, table.schema, "week")
    beliefs = SequentialAttack(adversary)(in_memory(published, frame))
    gain, confidence = adversary_gain(beliefs, history), adversary_confidence(beliefs, history)
    np.testing.assert_allclose(found.releases["gain"], gain["gain"], atol=1e-12)
    assert found.releases[["measured", "suppressed", "certain"]].equals(gain[["measured", "suppressed", "certain"]])
    np.testing.assert_allclose(found.releases["confidence"], confidence["confidence"], atol=1e-12)
    expected = exposure(beliefs, history, 0.6)
    assert 0 < found.exposed == len(expected.people)
    assert (found.respondents, found.known) == (expected.respondents, expected.known)
    assert published.releases[found.first].time == expected.first
    listed = pd.read_parquet(tmp_path / "at-risk.parquet")
    assert set(listed["respondent"]) == set(expected.people["respondent"])
    by_name = expected.people.set_index("respondent").loc[listed["respondent"]]
    np.testing.assert_allclose(listed["belief"], by_name["belief"], atol=1e-12)
    assert listed["value"].tolist() == by_name["value"].tolist()
    assert not (tmp_path / "at-risk.work").exists()


def test_a_certain_prior_is_known_before(tmp_path):
    frame = visits(people=60, releases=1, values=1)
    table = on_disk(tmp_path, frame)
    published = publish_large(table, Mondrian(KAnonymity(2)), tmp_path / "out")
    adversary = Adversary(UniformPrior(), estimator=Omega())
    folder = attack_large(published, adversary, tmp_path / "beliefs")
    found = large_exposure(published, folder, adversary, 0.9, tmp_path / "at-risk.parquet", ENGINE)
    assert (found.exposed, found.known, found.first) == (0, len(frame), None)
