"""Reasons of exposures, against the same found one by one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from strategies import history_of

from foreknow.app.report import respondents
from foreknow.app.report.respondents import LEAST_CHANGE, MATES, PEOPLE_COLUMNS, Pseudonyms, exposed_people, reason
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.evaluation import exposing_members, respondent_risk
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    CompromisedRecords,
    EvidenceCascade,
    GroupGraph,
    History,
    MarkovChain,
    Release,
)


def one_by_one(people, releases, attack, hindsight, sequential, names):
    """Rows of `exposed_people`: for each person, one attack for each prefix, and one call for the group members."""
    codes = {value: code for code, value in enumerate(releases[0].view.schema.values)}
    forward = replace(attack, hindsight=False)(releases)
    order, rows = [release.time for release in releases], []
    for record in people.to_dict("records"):
        respondent, time = record["respondent"], record["time"]
        t, row = order.index(time), forward.at(time).observation.people.rows(respondent)[0]
        each = []
        for stop in range(t + 1, len(releases) + 1):
            told = attack.adversary.compromised
            known = None if told is None else replace(told, frame=told.frame[told.frame["time"].isin(order[:stop])])
            found = replace(attack, adversary=replace(attack.adversary, compromised=known))(releases[:stop])
            each.append(found.at(time).posterior.probabilities[row, codes[record["value"]]])
        rises = np.diff(each)
        raised = len(rises) > 0 and rises.max() >= LEAST_CHANGE and each[-1] - each[0] >= LEAST_CHANGE
        mates = exposing_members(sequential, respondent, time, value=record["value"], most=MATES)
        observation = forward.at(time).observation
        filled = record | {
            "person": names(respondent),
            "records": observation.counts[observation.group[row]].sum(),
            "forward": forward.at(time).posterior.probabilities[row, codes[record["value"]]],
            "together": False,
            "earlier": any((one.group[one.view.people.rows(respondent)] >= 0).any() for one in releases[:t]),
            "later": order[t + 1 + rises.argmax()] if raised else None,
            "mates": tuple(map(names, mates.loc[mates["contribution"] >= LEAST_CHANGE, "respondent"])),
        }
        rows.append(filled | {"reason": reason(filled)})
    return pd.DataFrame(rows, dtype=object)[[*PEOPLE_COLUMNS]]


def given(seed, compromised=False):
    """Arguments of `exposed_people` about all respondents of a random history with suppressed records."""
    rng = np.random.default_rng(seed)
    lists = ["".join(sorted(rng.permutation(list("ABCDEFGHIJ"))[: rng.integers(6, 10)])) for _ in range(4)]
    history = history_of(*((who, "".join(rng.choice(list("aabc"), len(who)))) for who in lists))
    releases = [Release(view, _groups(rng, view)) for view in history]
    frame = pd.DataFrame({"respondent": ["A"], "value": ["a"], "time": [history[0].time], "confidence": [0.9]})
    known = CompromisedRecords(frame) if compromised and "A" in lists[0] else None
    chain = MarkovChain(1, rng.dirichlet(np.ones(len(history.schema.values)), len(history.schema.values)))
    cascade = None if known is None else EvidenceCascade()
    adversary = Adversary(ClassFrequencies.fit(history, {}, 0.5), chain, compromised=known, cascade=cascade)
    attack = JointAttack(adversary, GroupGraph())
    hindsight, sequential = attack(releases), SequentialAttack(adversary)(releases)
    people = respondent_risk(hindsight, History([release.view for release in releases])).assign(exposed=True)
    return people, releases, attack, hindsight, sequential, Pseudonyms.of(people["respondent"], True)


def _groups(rng, view):
    """Groups of three records at random; one record is suppressed."""
    labels = np.repeat(np.arange(len(view)), 3)[: len(view)]
    labels[-1:] = labels[0]
    return np.where(rng.permutation(len(view)) == 0, -1, rng.permutation(labels))


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_reasons_of_all_at_once_are_those_one_by_one(seed, forward):
    arguments = given(seed, compromised=seed % 2 == 0)
    expected = one_by_one(*arguments)
    beliefs = replace(arguments[2], hindsight=False)(arguments[1]) if forward else None
    found = exposed_people(*arguments, forward=beliefs, most=100)
    assert found["reason"].tolist() == expected["reason"].tolist()
    for name in ("forward", "belief", "share"):
        np.testing.assert_allclose(found[name].astype(float), expected[name].astype(float), atol=1e-12)
    for name in ("later", "mates", "earlier", "records", "person"):
        assert found[name].tolist() == expected[name].tolist(), name


def test_large_histories_have_the_belief_release_by_release_and_no_later_release(monkeypatch):
    people, releases, attack, hindsight, sequential, names = given(1)
    monkeypatch.setattr(respondents, "MAX_PREFIX_RECORDS", 1)
    monkeypatch.setattr(JointAttack, "__call__", lambda *_: pytest.fail("no prefix is solved"))
    found = exposed_people(people, releases, attack, hindsight, sequential, names, most=100)
    codes = {value: code for code, value in enumerate(releases[0].view.schema.values)}
    for row in found.itertuples():
        one = sequential.at(row.time)
        of_row = one.posterior.probabilities[one.observation.people.rows(row.respondent)[0]]
        assert row.forward == of_row[codes[row.value]]
        assert "hen later" not in row.reason
        assert ("All releases read together" in row.reason) == (
            abs(row.belief - row.forward) >= LEAST_CHANGE and row.share < 1
        )
    assert found["together"].all()
    assert found["later"].isna().all()
    assert found["reason"].str.contains("All releases read together raised it to").any()
