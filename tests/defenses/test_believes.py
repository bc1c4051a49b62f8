"""Joint beliefs as the prior of a defense: the forecast against all paths, and what `publish` and `certificate` do with it."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from strategies import view_of

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import UHRA, JSReduce, KAnonymity, MInvariance, Mondrian, TCloseness, publish
from foreknow.evaluation import certificate, exams
from foreknow.models import (
    Adversary,
    Averaged,
    CompromisedRecords,
    Enumeration,
    EvidenceCascade,
    Exact,
    Grouping,
    MarkovChain,
    Presence,
    Relations,
    Release,
    UniformPrior,
)

CHAIN = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.0, 0.7]])
ADVERSARY = Adversary(UniformPrior(), MarkovChain(1, CHAIN), estimator=Exact())
FIRST = Release(view_of("ABCD", "aabc", time=1), Grouping(np.array([0, 0, 1, 1])))
SECOND = Release(view_of("ABCD", "abbc", time=2), Grouping(np.array([0, 1, 0, 1])))


def by_paths(adversary_chain, releases, weigh=lambda _: 1.0):
    """Distribution of the next value of four respondents by all paths, shape ``(4, 3)``."""
    found = np.zeros((4, 3))
    shown = [release.observation for release in releases]
    for paths in product(product(range(3), repeat=len(shown)), repeat=4):
        values = np.array(paths).reshape(4, len(shown))
        if any(
            (np.bincount(values[seen.group == g, t], minlength=3) != seen.counts[g]).any()
            for t, seen in enumerate(shown)
            for g in range(len(seen.counts))
        ):
            continue
        weight = np.prod([weigh(path) * np.prod(adversary_chain[path[:-1], path[1:]]) for path in values])
        found += weight * (adversary_chain[values[:, -1]] if len(shown) else 1 / 3)
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("releases", [[FIRST], [FIRST, SECOND]])
@pytest.mark.parametrize("hindsight", [False, True])
def test_forecast_is_the_sum_over_all_paths(releases, hindsight):
    attack = JointAttack(ADVERSARY, Enumeration(), hindsight)
    found = attack.forecast([one.observation for one in releases], view_of("ABCD", "aabc", time=3).people, 3)
    np.testing.assert_allclose(found, by_paths(CHAIN, releases), atol=1e-12)


def test_forecast_reads_presence_of_the_next_view():
    hazard = np.array([0.5, 0.1, 0.2])
    attack = JointAttack(Adversary(UniformPrior(), MarkovChain(1, CHAIN), presence=Presence(hazard)), Enumeration())
    found = attack.forecast([FIRST.observation], view_of("ABCD", "aabc", time=3).people, 3)
    np.testing.assert_allclose(found, by_paths(CHAIN, [FIRST], lambda path: 1 - hazard[path[-1]]), atol=1e-12)


def test_forecast_reads_a_compromised_record_of_the_next_view():
    known = CompromisedRecords(pd.DataFrame({"respondent": ["A"], "time": [3], "value": ["b"], "confidence": [1.0]}))
    adversary = Adversary(UniformPrior(), MarkovChain(1, CHAIN), known, cascade=EvidenceCascade())
    found = JointAttack(adversary, Enumeration()).forecast([FIRST.observation], view_of("AB", "ab", time=3).people, 3)
    np.testing.assert_allclose(found[0], [0, 1, 0], atol=1e-12)


def test_first_view_is_grouped_by_the_prior():
    people = view_of("ABCD", "aabc", time=1).people
    np.testing.assert_allclose(JointAttack(ADVERSARY).forecast([], people, 1), np.full((4, 3), 1 / 3))


@pytest.fixture(scope="module")
def simulated():
    simulation = exams(4, 100, rng=2)
    return simulation.history, Adversary(simulation.prior, simulation.transitions)


@pytest.mark.parametrize("defense", [JSReduce(3, 0.5, 0.6, patience=20), UHRA(3, 0.5, 0.6)])
def test_defense_receives_the_forward_beliefs(simulated, defense):
    """The prior of each view is the revised prior of the forward joint attack on all releases."""
    history, adversary = simulated
    received = []

    def recording(view, prior, past):
        received.append(pd.DataFrame(prior, index=view.people.respondents))
        return defense(view, prior, past)

    attack = JointAttack(adversary, hindsight=False)
    releases = publish(history, recording, believes=attack, infeasible="suppress", rng=1)
    beliefs = attack(releases)
    for number, (time, prior) in enumerate(zip(beliefs.times, received, strict=True)):
        expected = beliefs.revised(time)
        if number:
            # The forward attack carries on the belief at the last record: for others it does not know the releases since.
            before = releases[number - 1].observation
            expected = expected.loc[expected.index.isin(before.people.respondents[before.group >= 0])]
        np.testing.assert_allclose(prior.loc[expected.index].to_numpy(), expected.to_numpy(), atol=2e-3)


def test_certificate_holds_requirements_on_beliefs_under_the_same_prior(simulated):
    history, adversary = simulated
    defense, attack = JSReduce(3, 0.5, 0.6, patience=20), JointAttack(adversary)
    releases = publish(history, defense, believes=attack, infeasible="suppress", rng=1)
    found = certificate(releases, defense, believes=attack)
    assert found.verdict == "passed"
    assert found.assumed["adversary"]["infers"] == "JointAttack"
    assert certificate(releases, defense, adversary).assumed["adversary"]["infers"] == "release by release"


def test_defense_without_beliefs_is_not_affected(simulated):
    history, adversary = simulated
    defense = Mondrian(KAnonymity(3) & TCloseness(0.5))
    assert publish(history, defense, believes=JointAttack(adversary), rng=1) == publish(history, defense, rng=1)


@pytest.mark.parametrize("believes", [SequentialAttack(ADVERSARY), ADVERSARY, JointAttack(Averaged((ADVERSARY,)))])
def test_only_a_joint_attack_of_one_adversary_believes(simulated, believes):
    with pytest.raises(TypeError, match="believes is"):
        publish(simulated[0], Mondrian(KAnonymity(3)), believes=believes)


def test_what_a_forecast_does_not_read_is_refused(simulated):
    history, adversary = simulated
    pair = nx.Graph([tuple(history[0].people.respondents[:2])])
    related = replace(adversary, relations=Relations(pair, np.ones((len(history.schema.values),) * 2)))
    with pytest.raises(ValueError, match=r"forecast does not read the part 'relations'"):
        publish(history, Mondrian(KAnonymity(3)), believes=JointAttack(related))
    with pytest.raises(ValueError, match=r"earlier|increase|order|after"):
        JointAttack(adversary).forecast([SECOND.observation], FIRST.view.people, 1)
    with pytest.raises(TypeError, match="the class JointAttack"):
        publish(history, Mondrian(KAnonymity(3)), believes=JointAttack)


def test_a_believer_who_knows_the_rule_of_m_invariance_begins_without_transitions(simulated):
    history, adversary = simulated
    attack = JointAttack(adversary, signatures=True)
    assert len(publish(history, MInvariance(2, rng=1), believes=attack, rng=1)) == len(history)


def test_there_is_one_believer(simulated):
    with pytest.raises(ValueError, match="leave the argument adversary out"):
        publish(simulated[0], Mondrian(KAnonymity(3)), ADVERSARY, believes=JointAttack(ADVERSARY))
