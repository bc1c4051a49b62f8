"""Presence against the enumeration of all paths, written from the definition, and its laws."""

from itertools import pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest

from foreknow.attacks import JointAttack, SequentialAttack, WithoutGroups
from foreknow.models import (
    Adversary,
    Averaged,
    Categorical,
    Enumeration,
    GivenPrior,
    GroupGraph,
    Grouping,
    GroupMessages,
    History,
    JointAuto,
    LearnedKnowledge,
    MarkovChain,
    MaxEntropy,
    Presence,
    Release,
    Schema,
    Status,
    UniformPrior,
    View,
    Visits,
)

VALUES = ("a", "b", "c")


def schema(values=VALUES):
    return Schema({"sex": Categorical(("f", "m"))}, "result", values, "id")


def random_history(rng, people=4, releases=4, values=3, share=0.75, pauses=True):
    """Releases of people who come, pause and go, with groups at random; up to the first one without any."""
    own = schema(VALUES[:values])
    starts = rng.integers(0, 2, people)
    starts[0] = 0
    ends = rng.integers(1, releases + 1, people)
    views, labels = [], []
    for t in range(releases):
        here = [i for i in range(people) if starts[i] <= t < max(ends[i], starts[i] + 1)]
        if pauses:
            here = [i for i in here if rng.random() < share or t == starts[i]]
        if not here:
            break
        frame = pd.DataFrame(
            {"id": here, "sex": rng.choice(["f", "m"], len(here)), "result": rng.choice(own.values, len(here))}
        )
        views.append(View(frame, own, t))
        labels.append(rng.integers(0, 2, len(here)))
    return [Release(view, label) for view, label in zip(views, labels, strict=True)]


def random_knowledge(rng, values, people=4, pause=True):
    prior = GivenPrior(
        pd.DataFrame(rng.dirichlet(np.ones(values), people), index=range(people), columns=VALUES[:values])
    )
    chain = MarkovChain(1, rng.dirichlet(np.full(values, 0.6), values))
    chances = rng.dirichlet(np.ones(3), values).T
    presence = Presence(chances[0], chances[1], rng.uniform(0.2, 1)) if pause else Presence(chances[0])
    return prior, chain, presence


def factor_of_path(path, listed, last, presence):
    """Probability of the departures, pauses and stays of one respondent, up to a constant; ``path[t]`` is the value at t."""
    leave, pause, back = presence.leave, presence.pause, presence.back
    weight = 1.0
    for t, s in path.items():
        later = [u for u in listed if u > t]
        if t == last:
            continue
        if not later:
            weight *= leave[s] + (0 if pause is None else pause[s] * (1 - back) ** (last - t - 1))
        elif later[0] == t + 1:
            weight *= 1 - leave[s] - (0 if pause is None else pause[s])
        else:
            weight *= 1 - leave[s] if pause is None else pause[s]
    return weight


def beliefs_by_paths(releases, prior, chain, presence):
    """Beliefs given all of some releases, by the sum over all values that agree with every group."""
    m, last = len(releases[0].observation.people.schema.values), len(releases) - 1
    places, listed = [], {}
    for t, release in enumerate(releases):
        for i in release.observation.people.respondents:
            places.append((t, i))
            listed.setdefault(i, []).append(t)
    groups = []
    for t, release in enumerate(releases):
        seen = release.observation
        for g, counts in enumerate(seen.counts):
            members = [(t, i) for i, own in zip(seen.people.respondents, seen.group, strict=True) if own == g]
            shown = [s for s in range(m) for _ in range(counts[s])]
            groups.append([dict(zip(members, one, strict=True)) for one in set(permutations(shown))])
    found, total = {place: np.zeros(m) for place in places}, 0.0
    rows = {i: np.asarray(prior.frame.loc[i]) for i in listed}
    for choice in product(*groups):
        values = {place: s for part in choice for place, s in part.items()}
        weight = 1.0
        for i, times in listed.items():
            path = {t: values[t, i] for t in times}
            weight *= rows[i][path[times[0]]] * factor_of_path(path, times, last, presence)
            for t, u in pairwise(times):
                weight *= chain.probabilities[path[t], path[u]]
        total += weight
        for place, s in values.items():
            found[place][s] += weight
    return {place: row / total for place, row in found.items()}


def cases(number, seed):
    """Random histories that are possible under random knowledge."""
    for rng in np.random.default_rng(seed).spawn(number):
        values = int(rng.integers(2, 4))
        releases = random_history(rng, values=values, releases=int(rng.integers(2, 5)))
        yield releases, *random_knowledge(rng, values, pause=rng.random() < 0.7)


@pytest.mark.parametrize("seed", range(3))
def test_beliefs_in_hindsight_and_forward_are_those_of_the_sum_over_all_paths(seed):
    for releases, prior, chain, presence in cases(12, seed):
        adversary = Adversary(prior, chain, presence=presence)
        found = JointAttack(adversary, Enumeration())(releases)
        forward = JointAttack(adversary, Enumeration(), hindsight=False)(releases)
        exact = beliefs_by_paths(releases, prior, chain, presence)
        for t, one in enumerate(found):
            first = beliefs_by_paths(releases[: t + 1], prior, chain, presence)
            for row, i in enumerate(one.observation.people.respondents):
                np.testing.assert_allclose(one.posterior.probabilities[row], exact[t, i], atol=1e-12)
                np.testing.assert_allclose(forward.releases[t].posterior.probabilities[row], first[t, i], atol=1e-12)


SOLVERS = [GroupGraph(), GroupMessages(), MaxEntropy(), JointAuto()]


def wide(rng, values):
    """Histories of six people in pairs and more; what a solver that approximates is compared on."""
    releases = random_history(rng, people=6, values=values, releases=4, share=0.9)
    return releases, *random_knowledge(rng, values, people=6)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda one: type(one).__name__)
def test_each_solver_reads_presence_as_enumeration_does(solver):
    errors, exact_errors = [], []
    for rng in np.random.default_rng(11).spawn(300):
        releases, prior, chain, presence = wide(rng, 3)
        adversary = Adversary(prior, chain, presence=presence)
        exact, found = (JointAttack(adversary, one)(releases) for one in (Enumeration(), solver))
        for one, own in zip(exact, found, strict=True):
            off = np.abs(one.posterior.probabilities - own.posterior.probabilities).sum(axis=1) / 2
            errors.extend(off)
            sure = own.posterior.status[own.observation.group] == 0
            exact_errors.extend(off[sure])
    assert np.mean(errors) < (0.005 if solver in (SOLVERS[0], SOLVERS[3]) else 0.08)
    if isinstance(solver, GroupGraph):
        assert len(exact_errors) > len(errors) / 3
        assert max(exact_errors) < 1e-9


def test_equal_hazards_change_no_belief():
    for releases, prior, chain, _ in cases(10, 5):
        m = chain.values
        flat = Presence(np.full(m, 0.2), np.full(m, 0.3), 0.5)
        for attack in (lambda one: JointAttack(one, Enumeration()), SequentialAttack):
            without = attack(Adversary(prior, chain))(releases)
            read = attack(Adversary(prior, chain, presence=flat))(releases)
            for one, other in zip(without, read, strict=True):
                np.testing.assert_allclose(one.posterior.probabilities, other.posterior.probabilities, atol=1e-12)


def view(ids, results, time, values=VALUES):
    return View(pd.DataFrame({"id": list(ids), "sex": "f", "result": list(results)}), schema(values), time)


def test_certain_hazards_decide():
    # One of two has the value c and leaves with certainty; A leaves.
    releases = [Release(view("AB", "ca", 0), [0, 0]), Release(view("B", "a", 1), [0])]
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), presence=Presence([0, 0, 1]))
    found = JointAttack(adversary)(releases).posterior(0)
    assert found["c"].round(12).to_list() == [1, 0]


def test_a_withheld_record_is_no_departure():
    # The adversary sees that A is listed at the second release, outside all groups.
    releases = [Release(view("AB", "ca", 0), [0, 0]), Release(view("AB", "ca", 1), [-1, 0])]
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), presence=Presence([0.1, 0.1, 0.6]))
    found = JointAttack(adversary)(releases).posterior(0)
    np.testing.assert_allclose(found["c"], [0.5, 0.5])


@pytest.mark.parametrize(("gaps", "order"), [("ignore", 1), ("power", 1), ("ignore", 2)])
def test_the_sequential_attack_is_the_filter_of_one_person(gaps, order):
    """A person beside counterfeits, of whom later releases tell nothing: going forward loses nothing."""
    rng = np.random.default_rng(3)
    for _ in range(25):
        chances = rng.dirichlet(np.ones(3), 3).T
        presence = Presence(chances[0], chances[1], 0.4)
        chain = MarkovChain(order, rng.dirichlet(np.ones(3), (3,) * order))
        prior = GivenPrior(pd.DataFrame(rng.dirichlet(np.ones(3), 3), index=range(3), columns=VALUES))
        releases = []
        for t in range(5):
            # The person 0 comes and goes; the others keep the views from being empty, and their values are published.
            ids = [0, 1, 2] if t in (0, 4) or rng.random() < 0.6 else [1, 2]
            frame = pd.DataFrame({"id": ids, "sex": "f", "result": rng.choice(VALUES, len(ids))})
            labels = [0, 1, 2] if len(ids) == 3 and (t == 0 or rng.random() < 0.8) else [-1, 1, 2][-len(ids) :]
            labels = np.where(np.array(labels) > 0, np.array(labels) - (0 not in labels), labels)
            counterfeits = [(0, rng.integers(3))] if 0 in labels and len(ids) == 3 and labels[0] == 0 else None
            releases.append(Release(View(frame, schema(), t), Grouping(labels, counterfeits=counterfeits)))
        adversary = Adversary(prior, chain, presence=presence, gaps=gaps, counterfeits="uniform")
        joint = JointAttack(adversary, Enumeration(), hindsight=False)(releases)
        for one, other in zip(joint, SequentialAttack(adversary)(releases), strict=True):
            # Of a withheld record the joint attack predicts by the last value alone.
            rows = slice(None) if order == 1 else one.observation.group >= 0
            np.testing.assert_allclose(
                other.posterior.probabilities[rows], one.posterior.probabilities[rows], atol=1e-12
            )


def leaving_history(rng, people=600, releases=6, pauses=False):
    """A history of known hazards: its views, its chain and its presence."""
    chain = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.05, 0.15, 0.8]])
    leave, pause, back = np.array([0.02, 0.1, 0.5]), np.array([0.2, 0.05, 0.02]) * pauses, 0.5
    values, state = rng.integers(0, 3, people), np.zeros(people, dtype=int)
    views = []
    for t in range(releases):
        here = np.flatnonzero(state == 0)
        frame = pd.DataFrame({"id": here, "sex": "f", "result": np.array(VALUES)[values[here]]})
        views.append(View(frame, schema(), t))
        draw = rng.random(people)
        away = state == 1
        # A pause begins with one release of absence; then all who are away may come back.
        state[away & (draw < back)] = 0
        gone, rests = draw < leave[values], draw < leave[values] + pause[values]
        state[here] = np.where(gone[here], 2, np.where(rests[here], 3, 0))
        moved = np.flatnonzero(state == 0)
        values[moved] = [rng.choice(3, p=chain[s]) for s in values[moved]]
        state[state == 3] = 1
    return History(views), Presence(leave, pause, back) if pauses else Presence(leave)


def test_fit_counts_what_follows_each_value():
    # a: A stays, then leaves; B stays. b: C stays twice, D stays, then leaves.
    records = (("ABCD", "aabb"), ("ABCD", "aabb"), ("BC", "ab"))
    found = Presence.fit(History([view(ids, results, t, ("a", "b")) for t, (ids, results) in enumerate(records)]))
    np.testing.assert_allclose(found.leave, [1 / 4, 1 / 4])
    assert found.pause is None


def test_fit_finds_the_law_with_pauses():
    history, true = leaving_history(np.random.default_rng(1), people=20_000, pauses=True)
    found = Presence.fit(history)
    np.testing.assert_allclose(found.leave, true.leave, atol=0.02)
    np.testing.assert_allclose(found.pause, true.pause, atol=0.02)
    assert abs(found.back - true.back) < 0.04


def test_known_values_teach_the_relative_frequencies():
    history, _ = leaving_history(np.random.default_rng(2), people=80)
    releases = [Release(view, np.arange(len(view))) for view in history]
    learned = LearnedKnowledge.fit(releases, pseudo_count=0, presence=True)
    np.testing.assert_allclose(learned.presence.leave, Presence.fit(history).leave, atol=1e-9)


@pytest.mark.parametrize("pauses", [False, True])
def test_hazards_are_learned_from_the_releases_alone(pauses):
    rng = np.random.default_rng(4)
    history, true = leaving_history(rng, people=3000, pauses=pauses)
    releases = [Release(view, rng.permutation(len(view)) // 4) for view in history]
    learned = LearnedKnowledge.fit(releases, presence=True).presence
    np.testing.assert_allclose(learned.leave, true.leave, atol=0.06)
    if pauses:
        np.testing.assert_allclose(learned.pause, true.pause, atol=0.06)
        assert abs(learned.back - true.back) < 0.1


def test_the_control_is_the_attack_itself_where_releases_have_one_group():
    for releases, prior, chain, presence in cases(6, 9):
        attack = JointAttack(Adversary(prior, chain, presence=presence), Enumeration())
        one = [Release(each.view, np.zeros(len(each.view), dtype=int)) for each in releases]
        for found, control in zip(attack(one), WithoutGroups(attack)(releases), strict=True):
            np.testing.assert_allclose(control.posterior.probabilities, found.posterior.probabilities, atol=1e-12)
            assert len(control.posterior.status) == len(control.observation.counts)


def test_what_leaving_tells_is_in_the_control():
    # A leaves, and leaving tells c: the groups add nothing.
    releases = [Release(view("AB", "ca", 0), [0, 0]), Release(view("B", "a", 1), [0])]
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), presence=Presence([0, 0, 1]))
    assert WithoutGroups(JointAttack(adversary))(releases).posterior(0)["c"].round(12).to_list() == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 1.2],), r"leave is 1.2 at \[1\]; chances are from 0 to 1"),
        (([0.1, np.nan],), r"leave is nan at \[1\]"),
        (([0.6, 0.1], [0.5, 0.1], 0.5), r"leave \+ pause is 1.1 at \[0\]"),
        (([0.1, 0.1], [0.5], 0.5), r"leave has shape \(2,\) and pause \(1,\)"),
        (([0.1, 0.1], [0.5, 0.1]), "give back, the chance of returning"),
        (([0.1, 0.1], [0.5, 0.1], 0.0), "give back, the chance of returning"),
        (([0.1, 0.1], [0.5, 0.1], 1.5), "back"),
        (([0.1, 0.1], None, None, {"sex": (0.5,)}), r"the cuts make classes \(2,\)"),
    ],
)
def test_faults_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Presence(*arguments)


def test_chances_of_another_domain_are_named():
    releases = [Release(view("AB", "ca", 0), [0, 0]), Release(view("B", "a", 1), [0])]
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), presence=Presence([0, 0.5]))
    with pytest.raises(ValueError, match="chances for 2 values, and the domain has 3"):
        JointAttack(adversary)(releases)


def test_what_presence_rules_out_is_a_contradiction_that_is_named():
    # By the chances no one leaves, and A leaves.
    releases = [Release(view("AB", "ca", 0), [0, 0]), Release(view("B", "a", 1), [0])]
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), presence=Presence([0, 0, 0]))
    found = JointAttack(adversary)(releases)
    assert any("group 0 at 0, of 'A', 'B'" in note for note in found.notes)


def test_a_value_without_a_record_needs_a_pseudo_count():
    history = History([view("AB", "ab", 0), view("A", "a", 1)])
    with pytest.raises(ValueError, match="no record before the last release has the value 'c'"):
        Presence.fit(history)
    assert Presence.fit(history, pseudo_count=1).leave.round(3).tolist() == [0.333, 0.667, 0.5]


def test_terminal_values_have_a_chance_over_the_bound_in_each_class():
    """Of the three values, c leaves with .9 and .6, a with .7 and .5, b with .1 and 1."""
    by_sex = Presence([[0.7, 0.1, 0.9], [0.5, 1.0, 0.6]], cuts={"sex": (0.5,)})
    assert by_sex.terminal("abc") == ("c",)
    assert by_sex.terminal("abc", over=0.4) == ("c", "a")
    assert by_sex.terminal("abc", over=0.6) == ()
    assert Presence([0.5, 0.5, 0.6]).terminal((1, 2, 3), 0) == (3, 1, 2)
    with pytest.raises(ValueError, match="chances for 3 values, and 2 values"):
        by_sex.terminal("ab")
    with pytest.raises(ValueError, match="over is 2"):
        by_sex.terminal("abc", over=2)


def test_classes_have_chances_of_their_own():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"id": range(400), "sex": rng.choice(["f", "m"], 400), "result": rng.choice(VALUES, 400)})
    leaves = rng.random(400) < np.where(frame["sex"] == "f", 0.7, 0.1)
    history = History([View(frame, schema(), 0), View(frame[~leaves], schema(), 1)])
    found = Presence.fit(history, {"sex": None})
    women = frame["sex"] == "f"
    for s, value in enumerate(VALUES):
        own = frame["result"] == value
        np.testing.assert_allclose(found.leave[:, s], [leaves[women & own].mean(), leaves[~women & own].mean()])
    told = found.evidence(Visits(history[0].people, 0, 1, np.where(leaves, -1, 1)))
    np.testing.assert_allclose(told[leaves & women], np.tile(found.leave[0], (int((leaves & women).sum()), 1)))


def test_draws_have_the_mean_and_spread_of_their_posterior():
    history = History([view("ABCDEF", "aabbcc", 0), view("ACE", "abc", 1)])
    draws = Presence.draws(history, 4000, pseudo_count=1, rng=1)
    drawn = np.stack([one.leave for one in draws])
    # Beta(2, 2) for each value: one of two leaves.
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(drawn.var(axis=0), 1 / 20, atol=0.005)
    found = JointAttack(Averaged([Adversary(UniformPrior(), presence=one) for one in draws[:5]]))(
        [Release(each, np.zeros(len(each), dtype=int)) for each in history]
    )
    assert len(found) == 2


def test_permuting_the_truth_within_groups_changes_no_belief():
    for releases, prior, chain, presence in cases(6, 21):
        attack = JointAttack(Adversary(prior, chain, presence=presence))
        for one, other in zip(attack(releases), attack([exchanged(each) for each in releases]), strict=True):
            np.testing.assert_array_equal(one.posterior.probabilities, other.posterior.probabilities)


def exchanged(release):
    frame = release.view.frame.copy()
    values = frame["result"].to_numpy().copy()
    for g in set(release.group.tolist()):
        rows = np.flatnonzero(release.group == g)
        values[rows] = values[rows[::-1]]
    return Release(View(frame.assign(result=values), release.view.schema, release.view.time), release.group)


@pytest.mark.parametrize("solver", [Enumeration(), *SOLVERS], ids=lambda one: type(one).__name__)
def test_every_solver_names_what_presence_rules_out(solver):
    releases = [Release(view("AB", "ca", 0), [0, 0]), Release(view("B", "a", 1), [0])]
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), presence=Presence([0, 0, 0]))
    found = JointAttack(adversary, solver)(releases).releases[0].posterior
    assert found.status[0] & Status.CONTRADICTED
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    forward = JointAttack(adversary, solver, hindsight=False)(releases)
    np.testing.assert_allclose(forward.releases[0].posterior.probabilities.sum(axis=1), 1)


def test_chances_may_sum_to_one_with_rounding():
    a, b = 24 / 13, 9 / 13
    Presence([a / (a + b)], [b / (a + b)], 0.5)
