"""Bounds on beliefs: tiny worlds by enumeration, roles, sources of a shift, and publications of cohorts."""

import bounds_oracle
import numpy as np
import pandas as pd
import pytest
from bounds_oracle import ABSENT, PUBLISHED, WITHHELD, World, compared, floored_world, odd_world, random_world
from strategies import history_of

from foreknow.attacks import JointAttack
from foreknow.defenses import Cohorts, KAnonymity, Mondrian, publish
from foreknow.evaluation import bound, exams, expected_gain_bound, leaving_shift, odds_shift, role_anonymity
from foreknow.evaluation.risk import bounds
from foreknow.evaluation.risk.bounds import TERMS
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    Enumeration,
    GhostChain,
    Grouping,
    History,
    MarkovChain,
    People,
    Presence,
    Release,
    UniformPrior,
    View,
)

WORLDS = 500
CHAIN = MarkovChain(1, np.array([[0.8, 0.2], [0.3, 0.7]]))
PAIR = np.array([[0.6, 0.4], [0.2, 0.8]])


def world(state, *, prior=None, chains=None, ghost=None, group=None, power=True, **rest):
    """A world of two values whose settings are plain; all are in one group."""
    state = np.array(state)
    ghost = np.zeros(state.shape, dtype=bool) if ghost is None else np.array(ghost, dtype=bool)
    group = np.where((state == PUBLISHED) | ghost, 0 if group is None else group, -1)
    none = dict.fromkeys(("ghost_chain", "leave", "pause", "back", "claim", "pair"))
    prior = np.full((len(state), 2), 0.5) if prior is None else np.array(prior)
    chains = np.stack([CHAIN.probabilities] * 2) if chains is None else chains
    own_class = np.arange(len(state)) % 2
    settings = {
        "prior": prior,
        "chains": chains,
        "own_class": own_class,
        "state": state,
        "ghost": ghost,
        "group": group,
    }
    return World(**settings, power=power, **(none | rest))


@pytest.mark.parametrize("part", range(10))
def test_no_belief_is_above_its_bound(part):
    """A tenth of `WORLDS` each; the outcomes of a world are drawn. `experiments/tiny_worlds.py` has many more."""
    found = []
    for seed in range(part * WORLDS // 10, (part + 1) * WORLDS // 10):
        rng = np.random.default_rng(seed)
        found.append(compared(random_world(rng), bound, 4, rng))
    assert max(each.excess for each in found) < 1e-9
    assert sum(each.reached > 0.95 for each in found) >= len(found) / 100


def test_no_belief_is_above_its_bound_in_any_order_of_records():
    """Not as `Cohorts` has them: records withheld before, between and after ghosts, and known from elsewhere."""
    for seed in range(120):
        rng = np.random.default_rng(20_000 + seed)
        one = odd_world(rng)
        if (one.state != ABSENT).any(axis=0).all():
            assert compared(one, bound, 3, rng).excess < 1e-9


def test_no_belief_forward_is_above_its_bound():
    for seed in range(60):
        rng = np.random.default_rng(10_000 + seed)
        assert compared(random_world(rng), bound, 3, rng, hindsight=False).excess < 1e-9


@pytest.mark.parametrize("part", range(3))
def test_a_belief_passes_its_bound_by_the_probability_of_paths_set_aside(part):
    """In each outcome of worlds of at most 30. The mean of that probability is at most delta, the sum over members of the atom."""
    aside, better, passed = 0, 0, 0
    for seed in range(part * 25, (part + 1) * 25):
        rng = np.random.default_rng(seed)
        one, delta = floored_world(rng), float(rng.choice([1e-6, 1e-3, 0.05, 0.5]))
        found, knows = bounds_oracle.outcomes(one), bounds_oracle.adversary(one)
        if not 0 < len(found) <= 30:
            continue
        apart, sums = bounds_oracle.apart(one)
        mean = sum(apart.values()) / sum(total for total, _ in found.values())
        for key, (total, each) in found.items():
            seen = bounds_oracle.observations(one, key)
            bounds = bound(seen, knows, delta=delta)
            column = odds_shift(seen, knows, delta=delta).set_index("respondent")["delta"]
            allowed = column.reindex(range(len(mean)), fill_value=0.0).to_numpy()
            assert bounds.delta == allowed.max() <= delta
            some = allowed > 0
            assert (mean[some] <= allowed[some] * (1 + 1e-9)).all()
            if one.pair is None:
                np.testing.assert_allclose(allowed[some], sums[some], rtol=1e-9)
            aside += some.any()
            pure = bound(seen, knows) if some.any() else bounds
            for t, release in enumerate(seen):
                rows = np.flatnonzero(release.group >= 0)
                who, upper = release.people.respondents[rows].astype(int), bounds.upper[t][rows]
                excess = each[who, t] / total - upper
                assert (excess <= (some * apart[key] / total)[who, None] + 1e-9).all()
                assert (upper <= pure.upper[t][rows] + 1e-12).all()
                better += (upper < pure.upper[t][rows] - 0.05).any()
                passed += (excess > 0.05).any()
    assert min(aside, better, passed) > 0


def test_forward_sets_aside_the_paths_up_to_each_release():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        one = floored_world(rng)
        found, knows = list(bounds_oracle.outcomes(one)), bounds_oracle.adversary(one)
        seen = bounds_oracle.observations(one, found[rng.integers(len(found))])
        forward = bound(seen, knows, False, 0.5)
        each = [bound(seen[: t + 1], knows, True, 0.5) for t in range(len(seen))]
        assert forward.delta == max(now.delta for now in each)
        for t, now in enumerate(each):
            np.testing.assert_array_equal(forward.upper[t], now.upper[t])


RARE = 1e-4


def test_a_rare_step_is_set_aside():
    """By one of two classes the value b never follows a; three of four members have the other class.

    Without delta the fourth has no bound, and the others are three. The sum over the three of two steps into b, with delta.
    """
    chains = np.array([[[1 - RARE, RARE], [0.3, 0.7]], [[1, 0], [0.3, 0.7]]])
    one = world([[2] * 3] * 4, chains=chains)._replace(own_class=np.array([0, 0, 0, 1]))
    knows, seen = bounds_oracle.adversary(one), bounds_oracle.observations(one, ((2, 2),) * 3)
    assert bound(seen, knows).upper[2][[0, 3]].tolist() == [pytest.approx([2 / 3] * 2), [1, 1]]
    found = bound(seen, knows, delta=1e-3)
    odds = (1 - RARE) ** -2
    np.testing.assert_allclose(found.upper[2], odds / (1 + odds), rtol=1e-12)
    # From a: at once, or after a step in a. From b: a step into a, and one out of it.
    assert found.delta == pytest.approx(3 * (0.5 * (RARE + (1 - RARE) * RARE) + 0.5 * 0.3 * RARE))
    assert bound(seen, knows, delta=3e-4).upper[2][3].tolist() == [1, 1]
    shifts = odds_shift(seen, knows, delta=1e-3)
    assert shifts["epsilon"].tolist() == pytest.approx([np.log(odds)] * 4)
    assert shifts["from_transitions"].tolist() == pytest.approx([np.log(odds)] * 4)
    assert np.isinf(odds_shift(seen, knows)["epsilon"]).all()


def test_relations_multiply_the_probability_set_aside():
    """The first of two members has b with .001, before the third, who surely has a, makes it 9 times likelier."""
    prior, table = [[0.999, 0.001], [1, 0], [1, 0]], np.array([[1.0, 9.0], [9.0, 1.0]])
    one = world([[2]] * 3, prior=prior, group=np.array([[0], [0], [1]]), pair=(0, 2, table))
    (apart, _), found = bounds_oracle.apart(one), bounds_oracle.outcomes(one)
    mean = sum(apart.values())[0] / sum(total for total, _ in found.values())
    seen = bounds_oracle.observations(one, ((1, 1), (1, 0)))
    assert mean == pytest.approx(0.009 / 1.008)
    allowed = bound(seen, bounds_oracle.adversary(one), delta=0.01).delta
    assert mean < allowed == pytest.approx(0.009)


def test_places_of_who_returned_are_not_set_aside():
    """The law of the later place depends on the counts of the earlier one."""
    one = world(
        [[2, 2, 2], [2, 0, 2], [2, 2, 2]], ghost=[[0] * 3, [0, 1, 0], [0] * 3], prior=[[1, 0], [0.999, 0.001], [1, 0]]
    )
    for key in bounds_oracle.outcomes(one):
        assert bound(bounds_oracle.observations(one, key), bounds_oracle.adversary(one), delta=0.5).delta == 0


def places_of(one):
    """Respondents of one place: those who are not published after ghosts."""
    last = [np.flatnonzero(row == PUBLISHED).max(initial=-1) for row in one.state]
    return [who for who, t in enumerate(last) if not one.ghost[who, : t + 1].any() and t >= 0]


def test_the_shift_is_the_range_of_the_log_ratio_of_path_laws():
    compared_pairs = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        one = random_world(rng)._replace(pair=None)
        keys = list(bounds_oracle.outcomes(one))
        if not keys:
            continue
        seen = bounds_oracle.observations(one, keys[rng.integers(len(keys))])
        table = odds_shift(seen, bounds_oracle.adversary(one)).drop_duplicates("respondent").set_index("respondent")
        single = places_of(one)
        for i in single:
            same = [j for j in range(len(one.state)) if j != i and (one.group[j] == one.group[i]).all()]
            if set(same) - set(single) or not same:
                continue
            shown = {t: set(np.flatnonzero(seen[t].counts[g])) for t, g in _groups_of(one, i).items()}
            expected = max(bounds_oracle.shift_of_laws(one, i, j, shown) for j in same)
            assert table.loc[i, "epsilon"] == pytest.approx(expected, abs=1e-9)
            assert table.loc[i, "atom"] == len(same) + 1
            compared_pairs += np.isfinite(expected) and expected > 0
    assert compared_pairs > 40


def _groups_of(one, who):
    """Group of a respondent's place at each release that publishes it, as the row of an observation."""
    times = np.flatnonzero(one.group[who] >= 0)
    return {t: np.searchsorted(np.unique(one.group[one.group[:, t] >= 0, t]), one.group[who, t]) for t in times}


def test_the_shift_is_at_most_the_sum_of_its_sources():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        one = random_world(rng)
        keys = list(bounds_oracle.outcomes(one))
        if keys:
            seen = bounds_oracle.observations(one, keys[rng.integers(len(keys))])
            table = odds_shift(seen, bounds_oracle.adversary(one), hindsight=bool(seed % 2))
            assert (table["epsilon"] <= table[list(TERMS)].sum(axis=1) + 1e-9).all()
            assert (table[[*TERMS, "epsilon"]] >= 0).all(axis=None)


def test_many_kinds_are_compared_with_one_of_them_and_stay_above_the_beliefs(monkeypatch):
    monkeypatch.setattr(bounds, "MAX_KINDS", 1)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        assert compared(random_world(rng), bound, 3, rng).excess < 1e-9


def test_two_kinds_have_the_same_shifts_by_comparison_with_one_of_them(monkeypatch):
    """Two members of each law: those of one law differ in no source."""
    one = world([[2] * 3] * 4, chains=np.stack([CHAIN.probabilities, PAIR]))
    knows, seen = bounds_oracle.adversary(one), bounds_oracle.observations(one, ((2, 2),) * 3)
    exact = odds_shift(seen, knows)
    monkeypatch.setattr(bounds, "MAX_KINDS", 1)
    pd.testing.assert_frame_equal(odds_shift(seen, knows), exact)


def test_beliefs_are_the_shares_where_the_exchange_changes_nothing():
    """Theorem 1 with equality: one atom, equal laws, ghosts by the chain; and the bounds are the shares as well."""
    leaves = [[2, 2, 2], [2, 2, 2], [2, 0, 0], [2, 2, 0]]
    ghosts = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [0, 0, 1]]
    one = world(leaves, ghost=ghosts, prior=[[0.7, 0.3]] * 4)
    for key, (total, each) in bounds_oracle.outcomes(one).items():
        seen = bounds_oracle.observations(one, key)
        upper = bound(seen, bounds_oracle.adversary(one)).upper
        for t, release in enumerate(seen):
            share = release.counts[0] / 4
            for row, who in enumerate(release.people.respondents):
                np.testing.assert_allclose(each[who, t] / total, share, rtol=0, atol=1e-12)
                np.testing.assert_allclose(upper[t][row], share, rtol=0, atol=1e-12)


LEFT = {"state": [[2, 2], [2, 0]], "ghost": [[0, 0], [0, 1]]}

SOURCES = {
    "from_priors": ({"prior": [[0.6, 0.4], [0.2, 0.8]]}, 6.0),
    "from_transitions": ({"chains": np.stack([CHAIN.probabilities, PAIR])}, 3.0),
    "from_ghosts": (LEFT | {"ghost_chain": PAIR}, 3.0),
    "from_last_record": (LEFT | {"leave": np.array([0.1, 0.4])}, 6.0),
    "from_compromised": ({"claim": (0, 0, 1, 0.9)}, 9.0),
    "from_relations": ({"pair": (0, 2, np.array([[2.0, 1.0], [1.0, 3.0]]))}, 3.0),
}
"""Settings of a world that differ between two members, and the range of the ratio of both laws, by hand."""


@pytest.mark.parametrize("source", SOURCES)
def test_each_source_has_a_column(source):
    settings, ratio = SOURCES[source]
    one = world(**({"state": [[2, 2], [2, 2]]} | settings))
    if source == "from_relations":
        one = world([[2, 2]] * 3, group=np.array([[0, 0], [0, 0], [1, 1]]), **settings)
    full = max(bounds_oracle.outcomes(one), key=lambda key: sum(min(counts) for counts in key))
    table = odds_shift(bounds_oracle.observations(one, full), bounds_oracle.adversary(one)).iloc[0]
    assert table[source] == pytest.approx(np.log(ratio))
    assert (table[[name for name in TERMS if name != source]] == 0).all()
    assert 0 < table["epsilon"] <= np.log(ratio) + 1e-12


def test_withheld_records_are_evidence_about_the_last_published_one():
    """The chain contracts what leaving tells, by each record withheld before it."""
    leave = np.array([0.05, 0.6])
    shifts = []
    for withheld in range(3):
        state = np.full((2, 4), PUBLISHED)
        state[1, 1:], state[1, 1 : 1 + withheld] = ABSENT, WITHHELD
        one = world(state, ghost=[[0] * 4, [0, 1, 1, 1]], leave=leave)
        seen = bounds_oracle.observations(one, ((1, 1),) * 4)
        evidence = leave
        for _ in range(withheld):
            evidence = (1 - leave) * (CHAIN.probabilities @ evidence)
        found = odds_shift(seen, bounds_oracle.adversary(one))["from_last_record"].iloc[0]
        ratio = np.log(evidence / (1 - leave))
        # The stayer's factor of the last release is missing, those of releases 1 and 2 are in the column "leaving".
        assert found == pytest.approx(abs(ratio[1] - ratio[0]))
        shifts.append(found)
    assert shifts[0] > shifts[1] > shifts[2]


@pytest.mark.parametrize("mechanism", ["own", "stayers"])
@pytest.mark.parametrize("ends", [0, 1, 2])
@pytest.mark.parametrize("ghosts", [1, 2, 3])
def test_the_shift_by_leaving_is_at_least_the_exact_one_of_two_members(mechanism, ends, ghosts):
    """By `odds_shift`, whose range is held to enumerated laws above; one ghost reaches the sum but for the chain's last term."""
    leave = np.array([0.05, 0.6])
    length = 1 + max(ghosts, ends + 1)
    state = np.full((2, length), PUBLISHED)
    state[1, 1:], state[1, 1 : 1 + ends] = ABSENT, WITHHELD
    chain = GhostChain.of_stayers(CHAIN, Presence(leave)).transitions.probabilities if mechanism == "stayers" else None
    ghost = np.zeros((2, length), dtype=bool)
    ghost[1, 1:] = True
    one = world(state, ghost=ghost, leave=leave, ghost_chain=chain)
    exact = odds_shift(bounds_oracle.observations(one, ((1, 1),) * length), bounds_oracle.adversary(one))[
        "epsilon"
    ].max()
    row = leaving_shift(CHAIN, Presence(leave), ends).set_index("mechanism").loc[mechanism]
    assert exact <= row["leaving_step"] + (length - 1) * row["ghost_step"] + row["last_ghost"] + 1e-12
    if mechanism == "own" and length == 2:
        assert exact == pytest.approx(row["leaving_step"])


def test_a_shift_by_leaving_is_infinite_where_a_value_excludes_it():
    shift = leaving_shift(CHAIN, Presence(np.array([0.0, 0.5])))
    assert np.isinf(shift["leaving_step"]).all()
    with pytest.raises(ValueError, match="all values are terminal"):
        leaving_shift(CHAIN, Presence(np.array([0.1, 0.5])), terminal=[0, 1])
    with pytest.raises(ValueError, match="one chance for each"):
        leaving_shift(CHAIN, Presence(np.full(3, 0.1)))


def test_who_is_known_is_taken_out_of_the_group():
    """Of three members one is known to have the first value; the other two share the rest of the multiset."""
    one = world([[2], [2], [2]], claim=(0, 0, 0, 1.0))._replace(own_class=np.zeros(3, dtype=int))
    seen = bounds_oracle.observations(one, ((2, 1),))
    np.testing.assert_allclose(bound(seen, bounds_oracle.adversary(one)).upper[0], [[1, 0], [0.5, 0.5], [0.5, 0.5]])


def test_what_is_known_of_a_withheld_record_is_not_known_of_the_ghost():
    """The second respondent leaves after a withheld record, of which the value is known, while a ghost carries on."""
    one = world([[2, 2], [2, 1]], ghost=[[0, 0], [0, 1]], claim=(1, 1, 0, 1.0))
    assert compared(one, bound, 99, np.random.default_rng(0)).excess < 1e-9


def test_knowledge_that_a_return_refutes_bounds_nothing():
    """By a chain that never moves A cannot be back among values that A's old group did not show."""
    views = history_of(("AB", "ab"), ("C", "a"), ("ADEF", "cccd"), domain="abcd")
    people = People(views[0].people.respondents, views[0].people.quasi_identifiers, views.schema)
    gone = Grouping([-1], counterfeits=[[0, 0, 0], [0, 1, 1]], places=people)
    seen = [Release(views[0], [0, 0]), Release(views[1], gone), Release(views[2], [0, 0, 0, 0])]
    still = Adversary(UniformPrior(), MarkovChain(1, np.eye(4)), mechanism=GhostChain())
    assert (bound(seen, still).frame().loc[["A", "B"]].iloc[:, 0] == 1).all()


def releases(labels, texts, **ghosts):
    """Releases of a history of texts, each of letters for respondents and values."""
    views = history_of(*texts, domain="ab")
    return [
        Release(view, Grouping(each, **ghosts.get(f"t{t}", {})))
        for t, (view, each) in enumerate(zip(views, labels, strict=True))
    ]


def test_a_role_follows_the_place():
    """B leaves after the first release, a ghost carries on, and B comes back at a place of its own."""
    views = history_of(("ABC", "aab"), ("AC", "ab"), ("ABC", "aba"), domain="ab")
    people = People(views[0].people.respondents[1:2], views[0].people.quasi_identifiers[1:2], views.schema)
    carried = Grouping([0, 0], counterfeits=[[0, 0, 0]], places=people)
    table = role_anonymity([Release(views[0], [0, 0, 0]), Release(views[1], carried), Release(views[2], [0, 1, 0])])
    assert table["respondent"].tolist() == list("ABCACBABC")
    assert table["ghost"].tolist() == [False] * 5 + [True] + [False] * 3
    assert table["cell"].tolist() == [3] * 6 + [2, 1, 2]
    assert table["atom"].tolist() == [3] * 6 + [2, 1, 2]
    assert table["atom_all"].tolist() == [2, 1, 2, 2, 2, 1, 2, 1, 2]


def test_places_filled_again_are_another_atom():
    """C and D leave, E and F come: revised priors are equal (1/2), values stay, and the belief in b is 1/3 or 1/6, not 1/4."""
    seen = releases([[0] * 4, [0] * 4], [("ABCD", "aabb"), ("ABEF", "abaa")])
    adversary = Adversary(UniformPrior(), MarkovChain(1, np.eye(2)))
    believed = JointAttack(adversary, Enumeration())(seen).releases[1].posterior.probabilities
    np.testing.assert_allclose(believed[:, 1], [1 / 3, 1 / 3, 1 / 6, 1 / 6], rtol=0, atol=1e-12)
    assert (believed <= bound(seen, adversary).upper[1] + 1e-12).all()
    assert role_anonymity(seen)["atom_all"].tolist() == [2] * 8


def test_not_published_is_a_role():
    table = role_anonymity(releases([[0, 0, 0], [-1, 0, -1]], [("ABC", "aab"), ("ABC", "aab")]))
    assert table["atom_all"].tolist() == [2, 1, 2, 1]
    assert role_anonymity([]).empty


def test_atoms_are_places_of_equal_rows():
    """Labels by refinement are those of sequences of groups, counted one by one."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        one = random_world(rng)
        keys = list(bounds_oracle.outcomes(one))
        if not keys or len(places_of(one)) < len(one.state):
            continue
        table = role_anonymity(bounds_oracle.observations(one, keys[0]))
        for t in range(one.state.shape[1]):
            now = table[table["time"] == t].set_index("respondent")
            for who, row in now.iterrows():
                assert row["atom"] == (one.group[:, : t + 1] == one.group[who, : t + 1]).all(axis=1).sum()
                assert row["atom_all"] == (one.group == one.group[who]).all(axis=1).sum()


def test_without_transitions_each_release_is_bounded_alone():
    """Releases are independent for this adversary, so that an atom is a group, whatever was before."""
    seen = releases([[0, 0, 1, 1], [0, 1, 0, 1]], [("ABCD", "abab"), ("ABCD", "abba")])
    table = bound(seen, Adversary(UniformPrior())).frame()
    np.testing.assert_allclose(table, 0.5)


def test_the_frame_has_the_largest_bound_or_that_of_the_true_value():
    views = history_of(("ABC", "aab"), ("ABD", "bab"), domain="ab")
    found = bound([Release(views[0], [0, 0, 0]), Release(views[1], [0, 0, -1])], Adversary(UniformPrior()))
    assert found.frame().index.tolist() == list("ABC")
    assert found.frame().columns.tolist() == [view.time for view in views]
    np.testing.assert_allclose(found.frame().iloc[:, 0], 2 / 3)
    np.testing.assert_allclose(found.frame(views).iloc[:, 0], [2 / 3, 2 / 3, 1 / 3])
    assert np.isnan(found.frame().iloc[2, 1])
    assert (found.upper[1][2] == 1).all()
    with pytest.raises(ValueError, match=r"view 0 of the history has other respondents"):
        found.frame(History([views[1]]))


@pytest.mark.parametrize("hindsight", [True, False])
@pytest.mark.parametrize(("a", "size"), [(3, 3), (2, 4)])
def test_no_attack_on_cohorts_passes_the_bound(a, size, hindsight):
    """Six or eight people, of whom one or two leave; beliefs are enumerated."""
    rng = np.random.default_rng(a)
    names = "ABCDEFGH"[: 2 * size]
    stay = [names, names, names[1:], names[1:-1] if a == 2 else names[1:]]
    views = history_of(*((each, "".join(rng.choice(list("ab"), len(each)))) for each in stay), domain="ab")
    published = publish(views, Cohorts(a, size, transitions=CHAIN, rng=1), Adversary(UniformPrior(), CHAIN))
    adversary = Adversary(UniformPrior(), CHAIN, mechanism=GhostChain())
    beliefs = JointAttack(adversary, Enumeration(), hindsight=hindsight)(published)
    upper = bound(published, adversary, hindsight).upper
    atoms = role_anonymity(published)
    for t, (believed, most) in enumerate(zip(beliefs.releases, upper, strict=True)):
        seen = published[t].observation
        shown = seen.group >= 0
        belief = believed.posterior.probabilities[shown]
        assert (belief <= most[shown] + 1e-9).all()
        of = atoms[(atoms["time"] == seen.time) & ~atoms["ghost"]]
        whole = (of["atom_all" if hindsight else "atom"] == of["cell"]).to_numpy()
        share = (seen.counts / seen.counts.sum(axis=1, keepdims=True))[seen.group[shown]]
        np.testing.assert_allclose(belief[whole], share[whole], rtol=0, atol=1e-9)
        np.testing.assert_allclose(most[shown][whole], share[whole], rtol=0, atol=1e-9)
        assert whole.any()


def test_a_closed_panel_in_cohorts_is_bounded_by_the_share():
    """People of `exams` who are in all views: at no price, the bound is the published share."""
    simulation = exams(views=4, records=400, rng=1)
    always = set.intersection(*(set(view.people.respondents) for view in simulation.history))
    rows = [np.flatnonzero([name in always for name in view.people.respondents]) for view in simulation.history]
    views = [
        View(view.frame.iloc[each], view.schema, view.time) for view, each in zip(simulation.history, rows, strict=True)
    ]
    closed = History(views)
    prior = ClassFrequencies.fit(simulation.history, {"age": 2, "gender": 2}, pseudo_count=1)
    adversary = Adversary(prior, simulation.transitions)
    published = publish(closed, Cohorts(5, 20, transitions=simulation.transitions, rng=1), adversary)
    upper = bound(published, adversary).upper
    for release, most in zip(published, upper, strict=True):
        seen = release.observation
        shown = seen.group >= 0
        share = (seen.counts / seen.counts.sum(axis=1, keepdims=True))[seen.group[shown]]
        assert shown.mean() > 0.8
        np.testing.assert_allclose(most[shown], share, rtol=0, atol=1e-9)
    mondrian = publish(simulation.history, Mondrian(KAnonymity(5)), adversary)
    assert bound(mondrian, adversary).frame().max(axis=1).mean() > 0.8


def test_expected_gain_is_that_of_who_is_told_the_multiset_of_every_atom():
    """All arrangements of a group of c values in atoms of a, by enumeration of those of one member's atom."""
    from itertools import combinations

    for c, a, count in [(6, 2, 1), (6, 3, 2), (6, 3, 5), (5, 2, 3)]:
        values = np.arange(c) < count
        # Member 0 has the value; the other members of the atom are any a - 1 others.
        others = [values[list(chosen)].sum() for chosen in combinations(range(1, c), a - 1)]
        gain = (np.mean([(1 + more) / a for more in others]) - count / c) / (1 - count / c)
        assert expected_gain_bound(a, c) == pytest.approx(gain)
    assert expected_gain_bound(4, 4) == expected_gain_bound(1, 1) == 0


def test_bad_input_is_refused():
    published = releases([[0, 0]], [("AB", "ab")])
    with pytest.raises(ValueError, match=r"an atom has 3 members and its group 2"):
        expected_gain_bound(3, 2)
    with pytest.raises(ValueError, match=r"transitions are of order 2; bounds are for chains of order 1"):
        bound(published, Adversary(UniformPrior(), MarkovChain(2, np.full((2, 2, 2), 0.5))))
    views = history_of(("AB", "ab"), domain="ab")
    with pytest.raises(ValueError, match=r"1 values are distorted"):
        bound([Release(views[0], Grouping([0, 0], values=[1, 1]))], Adversary(UniformPrior()))
    with pytest.raises(TypeError, match="put a single one into a list"):
        role_anonymity(published[0])
    with pytest.raises(TypeError, match="adversary"):
        odds_shift(published, UniformPrior())
    for measure in (bound, odds_shift):
        with pytest.raises(ValueError, match=r"delta is 1\.0; it is a number from 0 to 1, but not 1"):
            measure(published, Adversary(UniformPrior()), delta=1.0)
    assert bound([], Adversary(UniformPrior())).frame().empty
    assert odds_shift([], Adversary(UniformPrior())).empty
