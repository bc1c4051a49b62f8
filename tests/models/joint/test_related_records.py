"""Pairs of related records in the joint law: each solver that reads them against sums over all assignments, and refusals."""

import joint_oracle
import networkx as nx
import numpy as np
import pytest

from foreknow.models.joint.enumeration import Enumeration
from foreknow.models.joint.group_graph import GroupGraph
from foreknow.models.joint.problem import JointProblem, components, first_releases


def all_rows(posterior):
    return posterior.rows(np.arange(len(posterior.problem.path)))


def without(arrays):
    return {name: array for name, array in arrays.items() if not name.startswith("pair")}


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
    """True if groups, joined by respondents who go from one to the next and by pairs, have no cycle, with one edge for each two groups."""
    group, path = arrays["group"], arrays["path"]
    when = arrays["release"][group]
    edges = {tuple(sorted(group[list(pair)])) for pair in arrays["pairs"] if len(set(group[list(pair)])) == 2}
    for i in np.unique(path):
        own = group[sorted(np.flatnonzero(path == i), key=lambda r: when[r])]
        edges |= set(zip(own[:-1], own[1:], strict=True))
    graph = nx.Graph(list(edges))
    graph.add_nodes_from(np.unique(group))
    return nx.is_forest(graph)


def cohorts(rng, kind, share, **options):
    while True:
        people, groups = int(rng.integers(4, 9)), 2
        arrays = joint_oracle.cohorts(rng, people, int(rng.integers(1, 4)), 3, kind, groups=groups)
        if joint_oracle.number_of_assignments(arrays) <= joint_oracle.MAX_ASSIGNMENTS:
            return joint_oracle.related(rng, arrays, share, **options)


@pytest.mark.parametrize("seed", range(10))
def test_group_graph_is_exact_without_cycles(seed):
    """Groups of 2 to 4: relations within them, and between two groups of one release."""
    rng, across, within = np.random.default_rng([33, seed]), 0, 0
    for _ in range(30):
        arrays = cohorts(rng, "closed", 0.4, across=bool(rng.random() < 0.2) and None)
        group = arrays["group"][arrays["pairs"]]
        if rng.random() < 0.5:
            # Pairs between groups at one release only, as several are a cycle.
            last = arrays["release"][group].max(initial=0)
            kept = (group[:, 0] == group[:, 1]) | (arrays["release"][group[:, 0]] == last)
            arrays |= {name: arrays[name][kept] for name in ("pairs", "pair_table")}
            group = group[kept]
        if not forest_of_groups(arrays):
            continue
        across, within = across + (group[:, 0] != group[:, 1]).any(), within + (group[:, 0] == group[:, 1]).any()
        posterior = GroupGraph()(JointProblem(**arrays))
        values, weight = joint_oracle.joint_law(arrays)
        np.testing.assert_allclose(all_rows(posterior), joint_oracle.shares(values, weight, 3), atol=1e-9)
        assert not posterior.status.any()
        assert posterior.log_evidence == pytest.approx(np.log(weight.sum()), abs=1e-7)
    assert across > 2
    assert within > 2
