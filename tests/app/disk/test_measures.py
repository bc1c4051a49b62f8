"""Measures of releases on disk equal those in memory."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from large_history import in_memory, visits

from foreknow.app import exposed
from foreknow.app.disk import Engine, LargeTable, attack_large, bound_large, measure_large, publish_large
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
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    GroupMessages,
    History,
    MarkovChain,
    MaxEntropy,
    Omega,
    PriorByTime,
    UniformPrior,
)

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


@pytest.mark.parametrize(
    "attack",
    [SequentialAttack, lambda adversary: JointAttack(adversary, GroupMessages(1e-8, 20_000))],
    ids=["sequential", "joint"],
)
def test_the_exposed_respondents_are_those_of_the_command_in_memory(tmp_path, attack):
    frame = visits(people=150)
    often_v0 = (frame["sex"] == "m") & (frame["place"] > 0) & (frame["result"] != "v3")
    frame["result"] = frame["result"].mask(often_v0, "v0")
    published = published_visits(tmp_path, Mondrian(KAnonymity(2)), frame)
    prior = ClassFrequencies.fit(History.read(frame, published.schema, "week"), {"sex": None}, 0.1)
    adversary = Adversary(prior, CHAIN, estimator=Omega())
    sure, at_risk = 0.6, tmp_path / "at-risk.parquet"
    folder = attack_large(published, attack(adversary), tmp_path / "beliefs")
    bounds = bound_large(published, adversary, tmp_path / "bounds")
    found = measure_large(published, folder, adversary, sure=sure, at_risk=at_risk, bounds=bounds)
    releases = in_memory(published, frame)
    history, beliefs = History([release.view for release in releases]), attack(adversary)(releases)
    expected = exposed(beliefs, history, sure, adversary=adversary)
    assert found.sides == expected.sides
    assert min(found.exposed, found.known, found.published_respondents - found.exposed - found.known) > 0
    assert (found.published_respondents, found.exposed, found.known, found.first) == expected[1:5]
    listed = pd.read_parquet(at_risk)
    columns = ["respondent", "time", "value", "belief", "prior"]
    assert list(listed) == columns
    assert listed["belief"].is_monotonic_decreasing
    by_name = [table[columns].sort_values("respondent", ignore_index=True) for table in (listed, expected.at_risk)]
    pd.testing.assert_frame_equal(*by_name, atol=1e-5, check_dtype=False)


@pytest.mark.parametrize("releases", [1, 2])
@pytest.mark.parametrize("sure", [0.45, 0.6, 0.8])
def test_both_sides_of_the_verdict_are_those_in_memory(tmp_path, releases, sure):
    """Of one release, a group is an atom, and the bound is near the share; of several, some atoms are single respondents."""
    frame = visits(releases=releases)
    frame["result"] = frame["result"].mask((frame["sex"] == "m") & (frame["place"] > 10), "v0")
    published = published_visits(tmp_path, Mondrian(KAnonymity(8)), frame)
    history = History.read(frame, published.schema, "week")
    adversary = Adversary(ClassFrequencies.fit(history, {"sex": None}, 0.1), CHAIN)
    folder = attack_large(published, JointAttack(adversary, GroupMessages(1e-8, 20_000)), tmp_path / "beliefs")
    bounds = bound_large(published, adversary, tmp_path / "bounds", block=100)
    found = measure_large(published, folder, adversary, sure=sure, bounds=bounds)
    beliefs = JointAttack(adversary, GroupMessages(1e-8, 20_000))(in_memory(published, frame))
    assert found.sides == exposed(beliefs, history, sure, adversary=adversary).sides
    assert (releases == 1) == (found.sides.not_decided == 0)
    assert measure_large(published, folder, adversary, sure=sure).sides is None


@pytest.mark.parametrize("sure_week", [0, 1])
def test_a_sure_prior_at_one_release_does_not_excuse_another(tmp_path, sure_week):
    """Each record is a group, so that all beliefs are 1: the release whose values were not known before exposes all."""
    frame = visits(people=40, releases=2)
    frame = frame[frame["id"].duplicated(keep=False)].assign(place=lambda rows: rows["id"].str[1:].astype(int))
    frame["result"] = frame["result"].where(frame["week"] != sure_week, "v0")
    published = published_visits(tmp_path, Mondrian(KAnonymity(1)), frame)
    history = History.read(frame, published.schema, "week")
    of_v0 = ClassFrequencies.fit(History([history.views[sure_week]]), {}, 0.1)
    adversary = Adversary(PriorByTime({sure_week: of_v0, 1 - sure_week: UniformPrior()}))
    folder = attack_large(published, adversary, tmp_path / "beliefs")
    found = measure_large(published, folder, adversary)
    expected = exposed(SequentialAttack(adversary)(in_memory(published, frame)), history, 0.9)
    people = frame["id"].nunique()
    assert (found.exposed, found.known, found.first) == (people, 0, 1 - sure_week)
    assert expected[1:5] == (people, people, 0, 1 - sure_week)


def test_a_certain_prior_is_known_before(tmp_path):
    frame = visits(people=60, releases=1, values=1)
    published = published_visits(tmp_path, Mondrian(KAnonymity(2)), frame)
    adversary = Adversary(UniformPrior(), estimator=Omega())
    folder = attack_large(published, adversary, tmp_path / "beliefs")
    found = measure_large(published, folder, adversary, at_risk=tmp_path / "at-risk.parquet")
    assert (found.exposed, found.known, found.first) == (0, len(frame), None)
    assert pd.read_parquet(tmp_path / "at-risk.parquet").empty
    with pytest.raises(ValueError, match=r"at-risk\.parquet exists; name a file that does not"):
        measure_large(published, folder, adversary, at_risk=tmp_path / "at-risk.parquet")


@pytest.mark.slow
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
    with pytest.raises(ValueError, match="are about another publication than"):
        measure_large(published, beliefs, ADVERSARY)
    for name in ("begun.json", "manifest.json"):
        (beliefs / name).unlink()
    with pytest.raises(ValueError, match="not those about its published records"):
        measure_large(published, beliefs, ADVERSARY)
    with pytest.raises(ValueError, match="has none about the release at 0"):
        measure_large(published, tmp_path / "none", ADVERSARY)


@pytest.mark.parametrize("attack", [SequentialAttack, partial(JointAttack, solver=GroupMessages())])
def test_a_release_without_published_records(tmp_path, attack):
    published = published_visits(tmp_path, Mondrian(KAnonymity(500)), visits(people=50))
    found = measure_large(published, attack_large(published, attack(ADVERSARY), tmp_path / "beliefs"), ADVERSARY)
    assert found.loss["suppressed"].tolist() == [one.records for one in published.releases]
    assert (found.risk["measured"].tolist(), found.published_respondents) == ([0, 0, 0], 0)
