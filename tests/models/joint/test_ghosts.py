"""Ghosts in the joint law, against a brute force over all values of all respondents and ghosts."""

from dataclasses import replace

import joint_oracle
import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack
from foreknow.models import (
    Adversary,
    Enumeration,
    GhostChain,
    GivenPrior,
    GroupGraph,
    Grouping,
    MarkovChain,
    Numeric,
    PathSampler,
    People,
    Presence,
    Release,
    Schema,
    View,
)
from foreknow.models.joint.building import joint_history

SCHEMA = Schema({"age": Numeric(0, 9)}, "result", ("a", "b"))


def releases_of(people, values, groups):
    """Releases with ghosts; the value of a withheld record is arbitrary."""
    found = []
    for t, shown in enumerate(groups):
        listed = [i for i, person in enumerate(people) if t in person["listed"]]
        group = {i: g for g, members in enumerate(shown) for i in members}
        own = [i for i in listed if t in people[i]["places"] and t not in people[i]["ghosts"]]
        ghosts = [i for i in group if t in people[i]["ghosts"]]
        if not listed:
            break
        cells = ["ab"[values[i][t] if i in own else 0] for i in listed]
        view = View(pd.DataFrame({"id": listed, "age": 1, "result": cells}), SCHEMA, t)
        names = np.array([*ghosts, None], dtype=object)[:-1]
        places = People(names, np.ones((len(ghosts), 1)), view.schema) if ghosts else None
        made = [(group[i], values[i][t], row) for row, i in enumerate(ghosts)]
        labels = [group[i] if i in own else -1 for i in listed]
        found.append(Release(view, Grouping(labels, counterfeits=np.array(made).reshape(-1, 3), places=places)))
    return found


def adversary_of(knowledge):
    prior, table, ghost, leave, power, _ = knowledge
    return Adversary(
        GivenPrior(pd.DataFrame(prior, columns=["a", "b"])),
        MarkovChain(1, table),
        presence=None if leave is None else Presence(leave),
        gaps="power" if power else "ignore",
        mechanism=GhostChain(MarkovChain(1, ghost)),
    )


def worlds(seed, number, returners=False):
    """Random histories, with the beliefs of the brute force."""
    rng, found = np.random.default_rng(seed), 0
    while found < number:
        people, values, groups, counts, knowledge = joint_oracle.random_ghosts(rng, returners)
        releases = releases_of(people, values, groups)
        if len(releases) < len(groups):
            continue
        found += 1
        yield people, releases, joint_oracle.ghost_beliefs(people, groups, counts, knowledge), knowledge


def differences(people, history, posterior, expected):
    """Difference of the beliefs in each place from what is expected."""
    for t, observation in enumerate(history.observations):
        names = observation.people.respondents.tolist()
        for row, record in enumerate(history.record[t]):
            if record >= 0 and observation.group[row] >= 0:
                place = people[names[row]]["places"].index(t)
                belief = posterior.rows(np.array([record]))[0]
                yield np.abs(belief - expected[names[row]][place]).max()


@pytest.mark.parametrize("seed", range(10))
def test_equals_the_brute_force(seed):
    """Of 200 histories: ghosts of another chain than the adversary's, presence, withheld records, both rules of gaps."""
    for people, releases, expected, knowledge in worlds([31, seed], 20):
        adversary = adversary_of(knowledge)
        history = joint_history(adversary, [release.observation for release in releases])
        for solver, near in ((Enumeration(), 1e-10), (GroupGraph(), 0.35)):
            posterior = solver(history.problem)
            assert max(differences(people, history, posterior, expected)) < near
        beliefs = JointAttack(adversary, Enumeration())(releases)
        for t, release in enumerate(releases):
            table = beliefs.posterior(t)
            for i in np.asarray(release.view.people.respondents)[release.group >= 0]:
                place = people[i]["places"].index(t)
                np.testing.assert_allclose(table.loc[i], expected[i][place], atol=1e-10)


def test_the_histories_have_all_cases():
    seen = {"ghosts": 0, "withheld": 0, "presence": 0, "power": 0, "ghosts alone": 0}
    for people, releases, _, knowledge in worlds([31, 0], 60):
        seen["ghosts"] += any(person["ghosts"] for person in people)
        seen["withheld"] += any(set(person["listed"]) & set(person["ghosts"]) for person in people)
        seen["presence"] += knowledge[3] is not None
        seen["power"] += knowledge[4]
        seen["ghosts alone"] += any(
            len(set(release.group[release.group >= 0])) < release.groups for release in releases
        )
    assert min(seen.values()) > 5


def test_propagation_is_near_and_a_sampler_converges():
    errors = []
    for number, (people, releases, expected, knowledge) in enumerate(worlds([32], 25)):
        history = joint_history(adversary_of(knowledge), [release.observation for release in releases])
        errors += list(differences(people, history, GroupGraph()(history.problem), expected))
        if number < 3:
            posterior = PathSampler(300, rng=number)(history.problem)
            assert max(differences(people, history, posterior, expected)) < 0.12
    assert np.mean(errors) < 0.02


def test_a_ghost_taken_for_a_stranger_gives_another_answer():
    """The same records without places: uniform counterfeits, each a respondent of one record."""
    off = []
    for people, releases, _, knowledge in worlds([33], 40):
        if not any(person["ghosts"] for person in people):
            continue
        strangers = []
        for release in releases:
            made = release.grouping.counterfeits
            alone = made is not None and len(set(made[:, 0]) - set(release.grouping.labels)) > 0
            made = None if made is None or alone else made[:, :2]
            strangers.append(Release(release.view, replace(release.grouping, counterfeits=made, places=None)))
        adversary = replace(adversary_of(knowledge), presence=None)
        with_chain = JointAttack(adversary, Enumeration())(releases)
        without = JointAttack(adversary, Enumeration())(strangers)
        off.append(
            max(np.abs(with_chain.posterior(t) - without.posterior(t)).to_numpy().max() for t in range(len(releases)))
        )
    assert np.mean(np.array(off) > 0.05) > 0.3


def test_the_branch_of_ghosts_that_is_cut_off_for_who_returns():
    """The law is approximate where a respondent is published again: ghosts are then a path of their own, with the prior."""
    found = {True: [], False: []}
    for people, releases, expected, knowledge in worlds([34], 150, returners=True):
        history = joint_history(adversary_of(knowledge), [release.observation for release in releases])
        back = any(person["ghosts"] and max(person["places"]) > max(person["ghosts"]) for person in people)
        found[back] += list(differences(people, history, Enumeration()(history.problem), expected))
        said = JointAttack(history.adversary, Enumeration())(releases).notes
        assert any("published again after ghosts" in note for note in said) == back
    assert max(found[False]) < 1e-10
    assert len(found[True]) > 100
    assert np.mean(found[True]) < 0.06
    assert np.quantile(found[True], 0.9) < 0.2
