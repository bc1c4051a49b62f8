"""Ghosts read release by release: a ghost is a member who takes a step of its own chain."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, SequentialAttack, SnapshotAttack
from foreknow.models import (
    Adversary,
    Averaged,
    GhostChain,
    GivenPrior,
    Grouping,
    MarkovChain,
    Numeric,
    People,
    Release,
    Schema,
    View,
)
from foreknow.models.estimators.exact import log_evidence

SCHEMA = Schema({"age": Numeric(0, 9)}, "result", ("a", "b"))
CHAIN = MarkovChain(1, np.array([[0.8, 0.2], [0.3, 0.7]]))
OTHER = MarkovChain(1, np.array([[0.1, 0.9], [0.6, 0.4]]))
KNOWN = Adversary(
    GivenPrior(pd.DataFrame([[0.6, 0.4]] * 4, columns=["a", "b"], index=list("pqrs"))), CHAIN, mechanism=GhostChain()
)


def release(time, listed, values, groups, ghosts=()):
    """A release of some people; ``ghosts`` has the respondent, the group and the value of each."""
    view = View(pd.DataFrame({"id": listed, "age": 1, "result": values}), SCHEMA, time)
    if not ghosts:
        return Release(view, Grouping(np.array(groups)))
    names = np.array([*(name for name, _, _ in ghosts), None], dtype=object)[:-1]
    places = People(names, np.ones((len(ghosts), 1)), view.schema)
    made = np.array([(group, value, row) for row, (_, group, value) in enumerate(ghosts)])
    return Release(view, Grouping(np.array(groups), counterfeits=made, places=places))


FIRST = release(1, ["p", "q", "r", "s"], ["a", "b", "a", "b"], [0, 0, 1, 1])
LISTED = [
    FIRST,
    release(2, ["p", "q", "r", "s"], ["a", "a", "b", "b"], [0, 0, 1, 1]),
    release(3, ["p", "q", "r", "s"], ["b", "a", "b", "a"], [0, 0, 1, 1]),
]
CARRIED_ON = [
    FIRST,
    release(2, ["p", "r", "s"], ["a", "b", "b"], [0, 1, 1], [("q", 0, 0)]),
    release(3, ["p", "r", "s"], ["b", "b", "a"], [0, 1, 1], [("q", 0, 0)]),
]


def test_a_ghost_of_the_same_chain_is_as_the_respondent():
    listed, carried_on = ([*SequentialAttack(KNOWN)(each)] for each in (LISTED, CARRIED_ON))
    for one, other in zip(listed, carried_on, strict=True):
        rows = [one.observation.people.rows(name)[0] for name in other.observation.people.respondents]
        np.testing.assert_allclose(other.posterior.probabilities, one.posterior.probabilities[rows], atol=1e-12)


def test_a_ghost_takes_a_step_of_its_own_chain():
    adversary = replace(KNOWN, mechanism=GhostChain(OTHER))
    second = [*SequentialAttack(adversary)(CARRIED_ON)][1].posterior.probabilities[0]
    # After the first release both members have one half; the group then shows a twice.
    np.testing.assert_allclose(second, [1, 0])
    mixed = [FIRST, release(2, ["p", "r", "s"], ["a", "b", "b"], [0, 1, 1], [("q", 0, 1)])]
    p, ghost = np.full(2, 0.5) @ CHAIN.probabilities, np.full(2, 0.5) @ OTHER.probabilities
    expected = p[0] * ghost[1] / (p[0] * ghost[1] + p[1] * ghost[0])
    assert [*SequentialAttack(adversary)(mixed)][1].posterior.probabilities[0, 0] == pytest.approx(expected)


def test_who_returns_has_gone_on_from_the_last_record():
    """The ghost's beliefs are its own: a record that is listed and withheld keeps those of the respondent."""
    back = release(3, ["p", "q", "r", "s"], ["b", "a", "b", "a"], [0, -1, 1, 1], [("q", 0, 0)])
    found = [*SequentialAttack(KNOWN)([*CARRIED_ON[:2], back])]
    np.testing.assert_allclose(found[2].revised[1], np.full(2, 0.5) @ CHAIN.probabilities)
    assert len(found[2].posterior.probabilities) == 4


def test_a_snapshot_takes_a_ghost_for_a_member_of_the_prior():
    listed, carried_on = ([*SnapshotAttack(KNOWN)(each)] for each in (LISTED, CARRIED_ON))
    np.testing.assert_allclose(carried_on[2].posterior.probabilities[0], listed[2].posterior.probabilities[0])


def test_the_rule_of_ghosts_must_be_known():
    with pytest.raises(ValueError, match="does not know how they are drawn"):
        SequentialAttack(replace(KNOWN, mechanism=None))(CARRIED_ON)


@pytest.mark.parametrize("attack", [SequentialAttack, lambda averaged: JointAttack(averaged, hindsight=False)])
def test_draws_are_weighed_by_releases_with_ghosts(attack):
    """The weights are the probabilities of the multisets by each draw, with the ghosts among the members."""
    draws = [replace(KNOWN, transitions=one) for one in (CHAIN, OTHER)]
    beliefs = attack(Averaged(draws))(CARRIED_ON[:2])
    each = [[*attack(one)(CARRIED_ON[:2])] for one in draws]
    evidence = [sum(float(log_evidence(one.problem).sum()) for one in beliefs) for beliefs in each]
    weights = np.exp(np.array(evidence) - max(evidence))
    np.testing.assert_allclose(beliefs.draws.weights[-1], weights / weights.sum())
    assert weights.min() / weights.sum() < 0.49
