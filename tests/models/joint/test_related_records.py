"""Pairs of related records in the joint law: each solver that reads them against sums over all assignments, and refusals."""

from itertools import combinations, pairwise

import joint_oracle
import networkx as nx
import numpy as np
import pytest

from foreknow.models.estimators import TooLarge
from foreknow.models.joint import group_graph
from foreknow.models.joint.enumeration import Enumeration
from foreknow.models.joint.group_graph import GroupGraph
from foreknow.models.joint.path_sampler import PathSampler
from foreknow.models.joint.problem import JointProblem, components, first_releases


def all_rows(posterior):
    return posterior.rows(np.arange(len(posterior.problem.path)))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("emission", [False, True])
def test_enumeration_is_the_sum_over_all_assignments(seed, emission):
    rng = np.random.default_rng([31, seed])
    for _ in range(30):
        arrays = joint_oracle.related(rng, joint_oracle.random_arrays(rng, emission))
        values, weight = joint_oracle.joint_law(arrays)
        expected = joint_oracle.shares(values, weight, arrays["counts"].shape[1])
        posterior = Enumeration()(JointProblem(**arrays))
        np.testing.assert_allclose(all_rows(posterior), expected, atol=1e-12)
        if not emission:
            assert posterior.log_evidence == pytest.approx(np.log(weight.sum()), abs=1e-9)


def test_a_prefix_keeps_the_pairs_of_its_releases():
    rng = np.random.default_rng(32)
    for _ in range(30):
        problem = JointProblem(**joint_oracle.related(rng, joint_oracle.random_arrays(rng)))
        for t in range(1, problem.releases + 1):
            first = first_releases(problem, t)
            when = problem.release[problem.group[problem.pairs[:, 0]]]
            np.testing.assert_array_equal(first.pairs, problem.pairs[when < t])
        inside = np.concatenate(components(problem))
        assert sorted(inside) == list(range(len(problem.path)))


def forest_of_groups(arrays):
    """True if groups have no cycle, joined by an edge where a respondent goes from one to the next, or a pair is in both."""
    group, path = arrays["group"], arrays["path"]
    when = arrays["release"][group]
    edges = {tuple(sorted(group[list(pair)])) for pair in arrays["pairs"] if len(set(group[list(pair)])) == 2}
    for i in np.unique(path):
        own = group[sorted(np.flatnonzero(path == i), key=lambda r: when[r])]
        edges |= set(pairwise(own))
    graph = nx.Graph(list(edges))
    graph.add_nodes_from(np.unique(group))
    return nx.is_forest(graph)


def cohorts(rng, kind, share):
    """Groups of 2 to 4, and of several pairs between two groups those of one release, as others make a cycle."""
    while True:
        arrays = joint_oracle.cohorts(rng, int(rng.integers(4, 9)), int(rng.integers(1, 4)), 3, kind)
        if joint_oracle.number_of_assignments(arrays) <= joint_oracle.MAX_ASSIGNMENTS:
            break
    arrays = joint_oracle.related(rng, arrays, share)
    group = arrays["group"][arrays["pairs"]]
    kept = (group[:, 0] == group[:, 1]) | (arrays["release"][group[:, 0]] == rng.choice(arrays["release"]))
    return arrays | {name: arrays[name][kept] for name in ("pairs", "pair_table")}


@pytest.mark.parametrize("seed", range(10))
def test_group_graph_is_exact_without_cycles(seed):
    """Groups of 2 to 4: relations within them, and between two groups of one release."""
    rng, between = np.random.default_rng([33, seed]), 0
    for _ in range(30):
        arrays = cohorts(rng, "closed", 0.4)
        assert forest_of_groups(arrays)
        posterior = GroupGraph()(JointProblem(**arrays))
        values, weight = joint_oracle.joint_law(arrays)
        np.testing.assert_allclose(all_rows(posterior), joint_oracle.shares(values, weight, 3), atol=1e-9)
        assert not posterior.status.any()
        assert posterior.log_evidence == pytest.approx(np.log(weight.sum()), abs=1e-7)
        between += (np.diff(arrays["group"][arrays["pairs"]]) != 0).any()
    assert between > 10


def random_problems(seed, number, emission=False, sharp=1.0):
    """Problems of random histories with chains of order 1 or 0, claims, zeros, unpublished groups, and pairs."""
    rng = np.random.default_rng(seed)
    while number:
        arrays = joint_oracle.random_arrays(rng, emission)
        if len(arrays["tables"]) < 2:
            number -= 1
            yield joint_oracle.related(rng, arrays, sharp=sharp)


def test_group_graph_says_where_it_is_exact():
    exact = 0
    for arrays in random_problems(34, 300):
        posterior = GroupGraph()(JointProblem(**arrays))
        if not posterior.status.any():
            exact += len(arrays["pairs"]) > 0
            np.testing.assert_allclose(all_rows(posterior), joint_oracle.joint_beliefs(arrays), atol=1e-9)
    assert exact > 50


def test_error_of_the_group_graph_with_cycles():
    """Mean total variation on 300 histories of groups of 2 to 4 drawn anew, with and without relations."""
    rng, errors, alone = np.random.default_rng(35), [], []
    while len(errors) < 300:
        arrays = joint_oracle.cohorts(rng, 8, 3, 3, "drawn", groups=int(rng.integers(2, 4)))
        if joint_oracle.number_of_assignments(arrays) > joint_oracle.MAX_ASSIGNMENTS:
            continue
        for found, own in ((errors, joint_oracle.related(rng, arrays, 0.1)), (alone, arrays)):
            problem = JointProblem(**own)
            found.append(
                np.abs(all_rows(GroupGraph()(problem)) - all_rows(Enumeration()(problem))).sum(axis=1).mean() / 2
            )
    # Measured: .0065, and .0026 without relations; the largest errors of a history are .32 and .36.
    assert np.mean(errors) < 0.01
    assert np.mean(alone) < 0.005


@pytest.mark.parametrize("emission", [False, True])
def test_path_sampler_has_the_law_of_enumeration(emission):
    """Errors in standard errors on random histories, chains of orders 0 to 2: each bounded, and of the right size as a whole."""
    rng, scores = np.random.default_rng([36, emission]), []
    for number in range(30):
        arrays = joint_oracle.related(rng, joint_oracle.random_arrays(rng, emission))
        problem = JointProblem(**arrays)
        found = PathSampler(1000, chains=4, rng=number)(problem)
        exact = Enumeration()(problem).beliefs
        scores.append((found.beliefs - exact) / np.maximum(found.standard_error, 1e-9))
        assert np.abs(found.beliefs - exact).max() < 0.1
    scores = np.concatenate(scores)
    assert np.abs(scores).max() < 6
    assert np.sqrt((scores**2).mean()) < 1.3


def test_path_sampler_moves_two_related_records_together():
    """Values of couples hardly ever differ, and each member is in another group: one value cannot change alone."""
    table = np.array([[1.0, 1e-6], [1e-6, 1.0]])
    arrays = {
        "prior": np.array([[0.7, 0.3], [0.4, 0.6], [0.5, 0.5], [0.5, 0.5], [0.2, 0.8], [0.5, 0.5]]),
        "tables": (),
        "path": np.arange(6),
        "group": np.array([0, 0, 0, 1, 1, 1]),
        "chain": np.zeros(6, dtype=int),
        "counts": np.array([[1, 2], [1, 2]]),
        "release": np.zeros(2, dtype=int),
        "pairs": np.array([[0, 3], [1, 4], [2, 5]]),
        "pair_table": np.zeros(3, dtype=int),
        "pair_tables": table[None],
    }
    found = PathSampler(2000, chains=4, anneal=0, rng=1)(JointProblem(**arrays))
    np.testing.assert_allclose(all_rows(found), joint_oracle.joint_beliefs(arrays), atol=0.03)
    assert not found.status.any()


def test_edges_of_several_pairs_are_split_in_large_groups():
    """With the smallest limit each pair between groups is an edge of its own, and its message is approximate."""
    rng, errors = np.random.default_rng(37), []
    for _ in range(60):
        arrays = cohorts(rng, "closed", 0.3)
        problem = JointProblem(**arrays)
        found = GroupGraph(limit=1)(problem)
        errors.append(np.abs(all_rows(found) - all_rows(Enumeration()(problem))).sum(axis=1).mean() / 2)
    # Measured: .026, and .015 without relations.
    assert np.mean(errors) < 0.04


def test_beliefs_of_the_group_graph_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(group_graph, "MANY_RECORDS", 1)
    rng = np.random.default_rng(38)
    problem = JointProblem(**joint_oracle.related(rng, joint_oracle.cohorts(rng, 24, 3, 3, "drawn", groups=6), 0.05))
    one, two = (GroupGraph(workers=workers)(problem).beliefs for workers in (1, 3))
    np.testing.assert_array_equal(one, two)


def test_members_whom_relations_link_are_not_split():
    m, k = 8, 8
    pairs = list(combinations(range(k), 2))
    arrays = {
        "prior": np.full((20, m), 1 / m),
        "tables": (),
        "path": np.arange(20),
        "group": np.zeros(20, dtype=int),
        "chain": np.zeros(20, dtype=int),
        "counts": np.array([[3] * 6 + [1, 1]]),
        "release": [0],
        "pair_tables": [np.ones((m, m)) + np.eye(m)],
    }
    with pytest.raises(TooLarge, match="8 members of group 0 are linked by relations"):
        GroupGraph()(JointProblem(**arrays, pairs=pairs, pair_table=np.zeros(len(pairs), dtype=int)))
    few = pairs[:3]
    posterior = GroupGraph(limit=100)(JointProblem(**arrays, pairs=few, pair_table=[0] * 3))
    assert np.isfinite(posterior.beliefs).all()


PAIR = {
    "prior": np.full((2, 2), 0.5),
    "tables": (),
    "path": [0, 1],
    "group": [0, 1],
    "chain": [0, 0],
    "counts": [[1, 0], [0, 1]],
}
ONES = np.ones((1, 2, 2))


@pytest.mark.parametrize(
    ("release", "pairs", "table", "tables", "message"),
    [
        ([0, 0], [[0, 2]], [0], ONES, "none of 2 and 1"),
        ([0, 0], [[0, 1]], [1], ONES, "none of 2 and 1"),
        ([0, 1], [[0, 1]], [0], ONES, "not of two records of one release"),
        ([0, 0], [[0, 0]], [0], ONES, "not of two records of one release"),
        ([0, 0], [[0, 1]], [0], ONES - np.eye(2), "positive, finite and symmetric"),
        ([0, 0], [[0, 1]], [0], ONES + np.triu(np.ones((2, 2)), 1), "positive, finite and symmetric"),
        ([0, 0], [[0, 1]], [0], np.ones((1, 3, 3)), "pair_tables has shape"),
        ([0, 0], [[0, 1]], [0, 0], ONES, "pair_table has shape"),
        ([0, 0], [[0]], [0], ONES, "pairs has shape"),
    ],
)
def test_wrong_pairs_are_refused(release, pairs, table, tables, message):
    with pytest.raises(ValueError, match=message):
        JointProblem(**PAIR, release=release, pairs=pairs, pair_table=table, pair_tables=tables)
