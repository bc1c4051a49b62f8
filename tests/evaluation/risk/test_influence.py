"""Tables of influence against plain sums over the graph's places."""

from collections import defaultdict

import networkx as nx
import numpy as np
import pytest
from strategies import view_of

from foreknow.attacks import Influence
from foreknow.evaluation.risk.information_flow import influence_by_distance, influence_by_release
from foreknow.models import Adversary, MarkovChain, Release, RemoveKnown, UniformPrior


def by_hand():
    """A at 2 reaches B at the same release and, through herself, A and C at 10 (later, though '10' < '2')."""
    graph = nx.DiGraph(source=("A", 2))
    graph.add_node(("A", 2), bits=0.5, distance=0, release=1, group=0)
    graph.add_node(("A", 10), bits=0.3, distance=1, release=2, group=4)
    graph.add_node(("B", 2), bits=0.1, distance=1, release=1, group=0)
    graph.add_node(("C", 10), bits=0.2, distance=2, release=2, group=4)
    graph.add_node(("A", 11), bits=0.25, distance=2, release=3, group=4)
    return graph


def attacked():
    rng = np.random.default_rng(3)
    chain = MarkovChain(1, rng.dirichlet(np.full(3, 0.3), size=3))
    releases = []
    for t in range(1, 6):
        people = rng.permutation(list("ABCDEFGHIJKL"))[:9]
        results = rng.choice(list("abc"), 9)
        releases.append(Release(view_of(people, results, time=t), [0, 0, 0, 1, 1, 1, 2, 2, 2]))
    view = releases[0].view
    adversary = Adversary(UniformPrior(), chain, cascade=RemoveKnown())
    return Influence(adversary)(releases, view.people.respondents[0], "abc"[view.sensitive[0]], 1)


def test_by_distance_by_hand():
    table = influence_by_distance(by_hand())
    assert list(table.columns) == ["distance", "places", "respondents", "mean_bits", "max_bits", "total_bits"]
    expected = [[0, 1, 1, 0.5, 0.5, 0.5], [1, 2, 2, 0.2, 0.3, 0.4], [2, 2, 2, 0.225, 0.25, 0.45]]
    assert np.allclose(table.to_numpy(dtype=float), expected)


def test_by_release_by_hand():
    table = influence_by_release(by_hand())
    assert list(table.columns) == ["time", "places", "mean_bits", "max_bits", "total_bits"]
    assert table["time"].tolist() == [2, 10, 11]
    expected = [[2, 2, 0.3, 0.5, 0.6], [10, 2, 0.25, 0.3, 0.5], [11, 1, 0.25, 0.25, 0.25]]
    assert np.allclose(table.to_numpy(dtype=float), expected)


@pytest.mark.parametrize(("table", "key"), [(influence_by_distance, "distance"), (influence_by_release, "time")])
@pytest.mark.parametrize("graph", [by_hand, attacked])
def test_they_sum_up_the_places(table, key, graph):
    graph = graph()
    found, parts = table(graph), defaultdict(list)
    for place, data in graph.nodes(data=True):
        parts[data["distance"] if key == "distance" else place[1]].append((place[0], data["bits"]))
    assert found[key].tolist() == sorted(parts)
    assert found["places"].sum() == len(graph)
    assert found["total_bits"].sum() == pytest.approx(sum(bits for _, bits in graph.nodes("bits")))
    for _, row in found.iterrows():
        bits = [b for _, b in parts[row[key]]]
        assert row["places"] == len(bits)
        assert row["mean_bits"] == pytest.approx(sum(bits) / len(bits))
        assert row["max_bits"] == pytest.approx(max(bits))
        assert row["total_bits"] == pytest.approx(sum(bits))
        if "respondents" in found:
            assert row["respondents"] == len({r for r, _ in parts[row[key]]})


def test_an_attack_reaches_several_distances():
    """Otherwise the test above would show little."""
    assert influence_by_distance(attacked())["distance"].max() >= 3


def test_the_record_alone():
    graph = nx.DiGraph(source=("A", 1))
    graph.add_node(("A", 1), bits=0.0, distance=0, release=0, group=-1)
    assert influence_by_distance(graph).to_numpy(dtype=float).tolist() == [[0, 1, 1, 0, 0, 0]]
    assert influence_by_release(graph)["total_bits"].tolist() == [0]
