"""Relations against the enumeration of all values, written from the definition; their estimate, laws and refusals."""

from dataclasses import replace
from itertools import permutations, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import KAnonymity, Mondrian, publish
from foreknow.evaluation import simulated_families, solver_calibration
from foreknow.models import (
    Adversary,
    Averaged,
    Categorical,
    Enumeration,
    GivenPrior,
    GroupGraph,
    GroupMessages,
    History,
    JointAuto,
    MarkovChain,
    MaxEntropy,
    Relations,
    Release,
    Schema,
    UniformPrior,
    View,
    history_model,
    joint_history,
)
from foreknow.models.joint import JointProblem

VALUES = ("a", "b", "c")
SCHEMA = Schema({"sex": Categorical(("f", "m"))}, "result", VALUES, "id")


def view(ids, values, time):
    frame = pd.DataFrame({"id": list(ids), "result": [VALUES[value] for value in values]}).assign(sex="f")
    return View(frame, SCHEMA, time)


def symmetric(rng, m=3):
    table = np.exp(rng.normal(size=(m, m)))
    return table + table.T


def random_case(rng):
    """Releases of up to five respondents, some absent and some withheld; prior rows, chain, and relations of two kinds."""
    people = "vwxyz"[: rng.integers(3, 6)]
    releases = []
    for t in range(int(rng.integers(1, 4))):
        ids = [one for one in people if t == 0 or rng.random() < 0.8] or [people[0]]
        releases.append(Release(view(ids, rng.integers(3, size=len(ids)), t), rng.integers(-1, 2, size=len(ids))))
    graph = nx.Graph()
    graph.add_edges_from(
        (one, other, {"kind": str(rng.choice(["couple", "siblings"]))})
        for one, other in permutations(people, 2)
        if one < other and rng.random() < 0.5
    )
    relations = Relations(graph, {"couple": symmetric(rng), "siblings": symmetric(rng)})
    prior = pd.DataFrame(rng.dirichlet(np.ones(3), len(people)), index=list(people), columns=list(VALUES))
    return releases, prior, rng.dirichlet(np.ones(3), 3), relations


def law(releases, prior, step, relations):
    """Values of all published records, one dict of (respondent, release) for each assignment, and their weights."""
    options = []
    for t, release in enumerate(releases):
        for g in set(release.group.tolist()) - {-1}:
            rows = np.flatnonzero(release.group == g)
            keys = [(release.view.people.respondents[row], t) for row in rows]
            shown = [int(value) for value in release.view.sensitive[rows]]
            options.append([dict(zip(keys, each, strict=True)) for each in sorted(set(permutations(shown)))])
    worlds = [{key: value for part in parts for key, value in part.items()} for parts in product(*options)]
    return worlds, np.array([weight_of(world, prior, step, relations) for world in worlds])


def weight_of(world, prior, step, relations):
    """Weight of the values of all published records, by the definition."""
    weight, last = 1.0, max((t for _, t in world), default=-1)
    for one, t in world:
        before = [s for s in range(t) if (one, s) in world]
        weight *= step[world[one, before[-1]], world[one, t]] if before else prior.loc[one].iloc[world[one, t]]
    for one, other, kind in relations.graph.edges(data="kind"):
        both = [t for t in range(last + 1) if (one, t) in world and (other, t) in world]
        if both:
            weight *= relations.table[kind][world[one, both[0]], world[other, both[0]]]
    return weight


def beliefs_of(releases, *known):
    worlds, weights = law(releases, *known)
    found = {}
    for key in worlds[0]:
        found[key] = np.bincount([world[key] for world in worlds], weights=weights, minlength=3) / weights.sum()
    return found


@pytest.mark.parametrize("seed", range(60))
def test_the_joint_attack_is_the_law_of_the_definition(seed):
    rng = np.random.default_rng([41, seed])
    releases, prior, step, relations = random_case(rng)
    adversary = Adversary(GivenPrior(prior), MarkovChain(1, step), relations=relations)
    whole = JointAttack(adversary, Enumeration())(releases)
    forward = JointAttack(adversary, Enumeration(), hindsight=False)(releases)
    prefixes = [beliefs_of(releases[: t + 1], prior, step, relations) for t in range(len(releases))]
    for t, release in enumerate(releases):
        people = release.view.people.respondents
        for row in np.flatnonzero(release.group >= 0):
            rows = [each.releases[t].posterior.probabilities[row] for each in (whole, forward)]
            np.testing.assert_allclose(rows[0], prefixes[-1][people[row], t], atol=1e-12)
            np.testing.assert_allclose(rows[1], prefixes[t][people[row], t], atol=1e-12)


def test_draws_are_weighed_by_the_probability_of_the_releases():
    rng, read = np.random.default_rng(42), 0
    while read < 10:
        releases, prior, step, relations = random_case(rng)
        keys = [*law(releases, prior, step, relations)[0][0]]
        if not 0 < len(keys) < 8:
            continue
        drawn = [Relations(relations.graph, {kind: symmetric(rng) for kind in relations.kinds}) for _ in range(3)]
        # Without releases every value of every record is possible.
        free = [dict(zip(keys, values, strict=True)) for values in product(range(3), repeat=len(keys))]
        known = [(prior, step, each) for each in drawn]
        evidence = [law(releases, *each)[1].sum() / sum(weight_of(world, *each) for world in free) for each in known]
        beliefs = [beliefs_of(releases, *each) for each in known]
        averaged = Averaged([Adversary(GivenPrior(prior), MarkovChain(1, step), relations=each) for each in drawn])
        for solver in (Enumeration(), GroupGraph()):
            found = JointAttack(averaged, solver)(releases).releases
            if not any(each.posterior.status.any() for each in found):
                read += not solver.exact
                for one, t in keys:
                    row = releases[t].view.people.respondents.tolist().index(one)
                    expected = np.average([each[one, t] for each in beliefs], axis=0, weights=evidence)
                    np.testing.assert_allclose(found[t].posterior.probabilities[row], expected, atol=1e-9)


# --- estimates ---------------------------------------------------------------------------------------------------------


def corpus_of(rng, couples=400):
    """Two views; half of the couples are together in the second one only, after other values of one of them."""
    graph, first, second = nx.Graph(), [], []
    joint = symmetric(rng)
    pairs = [divmod(int(cell), 3) for cell in rng.choice(9, couples, p=(joint / joint.sum()).ravel())]
    for i, (x, y) in enumerate(pairs):
        graph.add_edge(f"p{i}", f"q{i}")
        both = (f"p{i}", x), (f"q{i}", y)
        if i % 2:
            first += both
            second += [(one, int(rng.integers(3))) for one, _ in both]
        else:
            first.append((f"p{i}", int(rng.integers(3))))
            second += both
    return History([view(*zip(*rows, strict=True), t) for t, rows in enumerate((first, second))]), graph, pairs


@pytest.mark.parametrize("seed", range(5))
def test_fitted_tables_are_those_of_pairs_at_first_common_views(seed):
    history, graph, pairs = corpus_of(np.random.default_rng([43, seed]))
    counts = np.zeros((3, 3))
    for x, y in pairs:
        counts[x, y] += 0.5 / len(pairs)
        counts[y, x] += 0.5 / len(pairs)
    share = counts.sum(axis=0)
    found = Relations.fit(history, graph, pseudo_count=0)
    np.testing.assert_allclose(found.table, counts / np.outer(share, share), atol=1e-9)
    smooth = Relations.fit(history, graph, pseudo_count=5).table
    np.testing.assert_allclose(smooth @ share, 1.0, atol=1e-9)
    # Shrunk towards 1.
    assert np.abs(np.log(smooth)).max() < np.abs(np.log(found.table)).max()
    np.testing.assert_allclose(Relations.fit(history, graph, 1e9).table, 1.0, atol=1e-6)


def test_without_releases_the_marginals_and_the_table_of_a_pair_are_the_fitted_ones():
    """For two respondents of one edge each, whose prior and stationary law are the marginals of the table."""
    history, graph, pairs = corpus_of(np.random.default_rng(44))
    table = Relations.fit(history, graph).table
    share = np.bincount(np.ravel(pairs), minlength=3) / (2 * len(pairs))
    joint = share[:, None] * table * share
    step = 0.6 * np.eye(3) + 0.4 * share
    # Three releases that publish no value: the two meet at the second one.
    arrays = {
        "prior": [share, share],
        "tables": (step[None],),
        "path": [0, 0, 1, 0, 1],
        "group": [0, 1, 1, 2, 2],
        "chain": [0] * 5,
        "counts": np.zeros((3, 3), dtype=int),
        "release": [0, 1, 2],
        "pairs": [[1, 2]],
        "pair_table": [0],
        "pair_tables": [table],
    }
    found = Enumeration()(JointProblem(**arrays))
    np.testing.assert_allclose(found.rows(np.arange(5)), np.tile(share, (5, 1)), atol=1e-9)
    for x in range(3):
        known = arrays | {"evidence": np.eye(3)[[x]], "evidence_row": [-1, 0, -1, -1, -1]}
        given_x = Enumeration()(JointProblem(**known)).rows(np.array([2]))[0]
        np.testing.assert_allclose(given_x, joint[x] / joint[x].sum(), atol=1e-9)


# --- laws --------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_laws(seed):
    """A table of ones is no knowledge; a constant factor, and the values within groups, change no belief."""
    rng = np.random.default_rng(seed)
    releases, prior, step, relations = random_case(rng)
    plain = Adversary(GivenPrior(prior), MarkovChain(1, step))

    def beliefs(tables, shown=releases):
        known = (
            plain
            if tables is None
            else Adversary(plain.prior, plain.transitions, relations=Relations(relations.graph, tables))
        )
        return np.concatenate([each.posterior.probabilities for each in JointAttack(known, Enumeration())(shown)])

    np.testing.assert_allclose(beliefs(np.full((3, 3), 7.0)), beliefs(None), atol=1e-12)
    found = beliefs(relations.table)
    scaled = {kind: table * scale for (kind, table), scale in zip(relations.table.items(), (3.0, 0.01), strict=True)}
    np.testing.assert_allclose(beliefs(scaled), found, atol=1e-12)
    permuted = []
    for release in releases:
        values = release.view.sensitive.copy()
        for g in np.unique(release.group):
            rows = np.flatnonzero(release.group == g)
            values[rows] = values[rng.permutation(rows)]
        permuted.append(Release(View.from_codes(release.view.people, values), release.group))
    np.testing.assert_allclose(beliefs(relations.table, permuted), found, atol=1e-12)


def test_simulated_families_have_their_law():
    """Frequencies of the pairs of couples without children, and of all first values of the rest, against the law."""
    history, _, transitions, relations = simulated_families(2, 4000, 1.0, rng=1)
    values = history[0].sensitive
    couples = [part for part in nx.connected_components(relations.graph) if len(part) == 2]
    counts = np.zeros((5, 5))
    for one, other in map(sorted, couples):
        counts[values[one], values[other]] += 1
    shares = np.array([0.4, 0.2, 0.15, 0.15, 0.1])
    expected = shares[:, None] * relations.table["couple"] * shares
    expected *= len(couples) / expected.sum()
    assert (
        (counts - expected) ** 2 / expected
    ).sum() < 55  # chi-squared, 24 degrees of freedom: 55 has a probability of 3e-4
    steps = np.zeros((5, 5))
    np.add.at(steps, (values, history[1].sensitive), 1)
    assert (np.abs(steps / steps.sum(axis=1, keepdims=True) - transitions.probabilities) < 0.03).all()


# --- refusals ----------------------------------------------------------------------------------------------------------

ONES, EDGE = np.ones((3, 3)), nx.Graph([("p", "q")])
WRONG = [
    ((EDGE, ONES[:2]), ValueError, "one row and one column"),
    ((EDGE, np.arange(9).reshape(3, 3)), ValueError, r"is 0 at \[0, 0\]; it is positive"),
    ((EDGE, ONES + np.triu(ONES, 1)), ValueError, r"2 at \[0, 1\] and 1 at \[1, 0\]; it is symmetric"),
    ((EDGE, np.where(np.eye(3), np.nan, 1)), ValueError, "positive and finite"),
    ((EDGE, "ones"), TypeError, "float array"),
    ((EDGE, {"couple": ONES}), ValueError, "'p' and 'q' has the kind None"),
    ((nx.Graph([("p", "p")]), ONES), ValueError, "'p' to itself"),
    ((nx.DiGraph([("p", "q")]), ONES), TypeError, "without direction"),
    (([("p", "q")], ONES), TypeError, "networkx.Graph"),
    ((nx.Graph([("p", "q", {"kind": 1})]), {1: ONES, 2: np.ones((2, 2))}), ValueError, "one domain"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), WRONG)
def test_wrong_relations_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        Relations(*arguments)


def releases_of_two(groups=(0, 0)):
    return [Release(view("pq", (0, 1), 0), np.array(groups))]


def test_respondents_in_no_release_are_named():
    graph = nx.Graph([("p", "q"), ("q", "absent")])
    adversary = Adversary(UniformPrior(), relations=Relations(graph, ONES))
    with pytest.raises(ValueError, match=r"1 respondent in no release, as 'absent'; .*graph.subgraph"):
        JointAttack(adversary)(releases_of_two())
    few = Relations(graph.subgraph("pq"), ONES)
    JointAttack(Adversary(UniformPrior(), relations=few))(releases_of_two())
    with pytest.raises(ValueError, match=r"Relations.fit: .* in no release"):
        Relations.fit(History([releases_of_two()[0].view]), graph)


def test_a_withheld_respondent_is_listed_and_has_no_factor():
    table = np.where(np.eye(3) > 0, 9.0, 1.0)
    adversary = Adversary(UniformPrior(), relations=Relations(EDGE, table))
    assert not len(joint_history(adversary, [each.observation for each in releases_of_two((0, -1))]).problem.pairs)


def test_a_table_of_another_domain_is_refused():
    adversary = Adversary(UniformPrior(), relations=Relations(EDGE, np.ones((2, 2))))
    with pytest.raises(ValueError, match="tables are of 2 values, and the domain has 3"):
        JointAttack(adversary)(releases_of_two())


def test_a_fit_names_what_is_missing():
    history = History([releases_of_two()[0].view])
    with pytest.raises(ValueError, match="no pair has the values 'a' and 'a'; give a pseudo_count over 0"):
        Relations.fit(history, EDGE, pseudo_count=0)
    apart = History([view("p", (0,), 0), view("q", (0,), 1)])
    with pytest.raises(ValueError, match="no two related respondents are listed in one view"):
        Relations.fit(apart, EDGE)


def test_who_does_not_read_relations_refuses_and_names_the_way_out():
    adversary = Adversary(
        UniformPrior(), MarkovChain(1, np.full((3, 3), 1 / 3)), relations=Relations(EDGE, ONES + np.eye(3))
    )
    releases = releases_of_two()
    problem = joint_history(adversary, [each.observation for each in releases]).problem
    refusing = (MaxEntropy(), GroupMessages(), JointAuto(1, otherwise=MaxEntropy()), history_model)
    for solver in (*refusing, *(each.forward for each in refusing[:3])):
        with pytest.raises(
            ValueError, match=r"does not read relations, .* 1 pair .*GroupGraph.*without\('relations'\)"
        ):
            solver(problem)
    order_2 = Adversary(UniformPrior(), MarkovChain(2, np.full((3, 3, 3), 1 / 3)), relations=adversary.relations)
    with pytest.raises(ValueError, match=r"does not read relations, .* GroupGraph.* where chains are of order 1"):
        JointAttack(order_2)(releases)
    with pytest.raises(
        ValueError, match=r"SequentialAttack does not read the part 'relations'.*which JointAttack read"
    ):
        SequentialAttack(adversary)
    with pytest.raises(ValueError, match="Mondrian does not read the part 'relations'"):
        publish(History([releases[0].view]), Mondrian(KAnonymity(2)), adversary, rng=1)
    with pytest.raises(ValueError, match="solver_calibration does not read relations"):
        solver_calibration(JointAttack(adversary), releases, worlds=1, rng=1)
    assert "relations" not in adversary.without("relations").parts
    with pytest.raises(TypeError, match="is Relations"):
        Adversary(UniformPrior(), relations=EDGE)


def test_weights_that_do_not_read_relations_are_refused():
    pair = Adversary(UniformPrior(), relations=Relations(nx.Graph([("A", "B")]), np.ones((3, 3))))
    with pytest.raises(ValueError, match=r"going forward do not read relations; .* updated=False"):
        JointAttack(Averaged([pair, pair]), hindsight=False)
    JointAttack(Averaged([pair, pair], updated=False), hindsight=False)


def test_distorted_values_with_relations_are_refused_by_the_group_graph():
    seen = view_of("AB", "ab")
    pair = Adversary(UniformPrior(), relations=Relations(nx.Graph([("A", "B")]), np.ones((3, 3))))
    distorted = replace(Release(seen, [0, 0]).observation, distorted=1)
    with pytest.raises(
        ValueError, match=r"does not read relations, .*PathSampler.* do, and GroupGraph.* no value is distorted"
    ):
        GroupGraph()(joint_history(pair, [distorted]).problem)


def test_without_a_table_there_are_no_relations():
    with pytest.raises(ValueError, match="there is no table"):
        Relations(nx.Graph([("A", "B")]), {})
