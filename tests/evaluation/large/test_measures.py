"""Measures of releases on disk equal those in memory."""

import numpy as np
import pandas as pd
import pytest
from large_history import in_memory, visits

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import JSReduce, KAnonymity, Mondrian
from foreknow.evaluation import (
    adversary_confidence,
    adversary_gain,
    average_group_size,
    brier_score,
    discernibility,
    disclosures,
    log_score,
    success_rate,
    suppressed,
    total_risk,
)
from foreknow.evaluation.large import Engine, LargeTable, attack_large, measure_large, publish_large
from foreknow.evaluation.risk.respondent_risk import respondent_risk
from foreknow.models import Adversary, History, MarkovChain, MaxEntropy, Omega, UniformPrior

CHAIN = MarkovChain(1, 0.9 * np.eye(4) + 0.025)
ADVERSARY = Adversary(UniformPrior(), CHAIN, estimator=Omega())


def published_visits(tmp_path, defense, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    return publish_large(table, defense, tmp_path / "out", ADVERSARY, block=60, seed=3)


@pytest.mark.parametrize(
    ("defense", "attack"),
    [
        (JSReduce(3, 0.6, 0.6, patience=20), SequentialAttack(ADVERSARY)),
        (Mondrian(KAnonymity(2)), JointAttack(ADVERSARY, MaxEntropy(1e-8, 20_000))),
    ],
    ids=["sequential", "joint"],
)
def test_the_measures_are_those_in_memory(tmp_path, defense, attack):
    frame = visits()
    published = published_visits(tmp_path, defense, frame)
    found = measure_large(published, attack_large(published, attack, tmp_path / "beliefs"), ADVERSARY, sure=0.8)
    releases = in_memory(published, frame)
    history, beliefs = History([release.view for release in releases]), attack(releases)
    tables = [measure(beliefs, history) for measure in (adversary_confidence, success_rate, log_score, brier_score)]
    tables += [
        adversary_gain(beliefs, history)[["gain"]],
        total_risk(beliefs, history),
        disclosures(beliefs, history, sure=0.8),
    ]
    expected = pd.concat(tables, axis=1)
    expected = expected.loc[:, ~expected.columns.duplicated()]
    pd.testing.assert_frame_equal(found.risk, expected[found.risk.columns], atol=1e-5, rtol=1e-5)
    tables = [average_group_size(releases), discernibility(releases), suppressed(releases)]
    expected = pd.concat(tables, axis=1)
    expected = expected.loc[:, ~expected.columns.duplicated()]
    pd.testing.assert_frame_equal(found.loss, expected[found.loss.columns])
    people = respondent_risk(beliefs, history)
    assert found.published_respondents == len(people)
    assert found.exposed == int(((people["belief"] >= 0.8) & (people["prior"] < 0.8)).sum())
    assert found.exposed > 0


def test_measures_do_not_depend_on_the_memory(tmp_path):
    published = published_visits(tmp_path, JSReduce(3, 0.6, 0.6, patience=20), visits())
    beliefs = attack_large(published, ADVERSARY, tmp_path / "beliefs")
    one, other = (measure_large(published, beliefs, ADVERSARY, engine=Engine(memory)) for memory in (1, 3))
    assert one.risk.equals(other.risk)
    assert one.loss.equals(other.loss)


def test_a_sure_prior_is_not_exposed(tmp_path):
    frame = visits(releases=1)
    published = published_visits(tmp_path, Mondrian(KAnonymity(2)), frame)
    beliefs = attack_large(published, ADVERSARY, tmp_path / "beliefs")
    assert measure_large(published, beliefs, ADVERSARY, sure=0.2).exposed == 0


def test_beliefs_about_other_releases_are_refused(tmp_path):
    published = published_visits(tmp_path, Mondrian(KAnonymity(4)), visits())
    (tmp_path / "other").mkdir()
    other = published_visits(tmp_path / "other", JSReduce(3, 0.3, 0.6, patience=20), visits(seed=2))
    beliefs = attack_large(other, ADVERSARY, tmp_path / "beliefs")
    with pytest.raises(ValueError, match="not those about its published records"):
        measure_large(published, beliefs, ADVERSARY)
    with pytest.raises(ValueError, match="has none about a release"):
        measure_large(published, tmp_path / "none", ADVERSARY)
