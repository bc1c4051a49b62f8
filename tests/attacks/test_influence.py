"""Influence of one record against two attacks and their divergences in plain Python."""

import dataclasses
import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import view_of

from foreknow.attacks import Influence, JointAttack, SequentialAttack
from foreknow.models import (
    Adversary,
    CompromisedRecords,
    DirichletMultinomial,
    Enumeration,
    EvidenceCascade,
    MarkovChain,
    PosteriorCascade,
    PriorCascade,
    Relations,
    Release,
    RemoveKnown,
)
from foreknow.models.problem import jensen_shannon as divergence_bits

MIN_REPORTED_BITS = 1e-6
CHAIN = MarkovChain(1, 0.7 * np.eye(3) + 0.3 * np.random.default_rng(9).dirichlet(np.ones(3), size=3))
"""Values tend to stay, so that influence carries far."""

RECORDS = (
    ("ABCDE", "abcab", [0, 0, 0, 1, 1]),
    ("ABDFG", "bbcaa", [0, 1, 0, 1, -1]),
    ("ABCFG", "cbaac", [2, 0, 2, 0, 2]),
    ("DEFGH", "abbca", [0, 1, 0, 1, 1]),
)


@dataclasses.dataclass(frozen=True)
class ByName:
    """Prior in which every respondent has a positive row."""

    def __call__(self, people):
        rows = [np.random.default_rng([5, ord(r)]).dirichlet(np.full(3, 9)) for r in people.respondents]
        return np.array(rows)


def released(records=RECORDS):
    return [Release(view_of(ids, results, time=t), labels) for t, (ids, results, labels) in enumerate(records, 1)]


def frame(*claims):
    return pd.DataFrame(list(claims), columns=["respondent", "value", "time", "confidence"])


def adversary_of(cascade=None, *claims, **settings):
    known = CompromisedRecords(frame(*claims)) if claims else None
    return Adversary(
        ByName(), **({"transitions": CHAIN} | settings), compromised=known, cascade=cascade or RemoveKnown()
    )


def entropy_bits(row):
    return -sum(p * math.log2(p) for p in row if p > 0)


def jensen_shannon(one, other):
    middle = [(p + q) / 2 for p, q in zip(one, other, strict=True)]
    return max(entropy_bits(middle) - (entropy_bits(one) + entropy_bits(other)) / 2, 0.0)


def expected_bits(adversary, releases, *record):
    """{(respondent, time): divergence} of two attacks, with the record and without."""
    before = adversary.compromised.frame.to_numpy().tolist() if adversary.compromised is not None else []
    told = dataclasses.replace(adversary, compromised=CompromisedRecords(frame(*before, record)))
    without, with_record = SequentialAttack(adversary)(releases), SequentialAttack(told)(releases)
    return {
        (r, old.observation.time): jensen_shannon(p, q)
        for old, new in zip(without, with_record, strict=True)
        for r, p, q in zip(
            old.observation.people.respondents, old.posterior.probabilities, new.posterior.probabilities, strict=True
        )
    }


def published(releases):
    """{(respondent, time): group} of the published records."""
    return {
        (r, release.time): int(g)
        for release in releases
        for r, g in zip(release.view.people.respondents, release.group, strict=True)
        if g >= 0
    }


def next_of(place, places):
    """Next release in which the same respondent is published."""
    later = sorted(time for r, time in places if r == place[0] and time > place[1])
    return (place[0], later[0]) if later else None


def assert_is_the_influence_of(graph, adversary, releases, *record):
    source, bits, places = (record[0], record[2]), expected_bits(adversary, releases, *record), published(releases)
    assert graph.graph["source"] == source
    reached = {place for place, b in bits.items() if b >= MIN_REPORTED_BITS and place in places}
    for place, data in graph.nodes(data=True):
        assert data["bits"] == pytest.approx(bits[place], abs=1e-9)
        assert data["release"] == [release.time for release in releases].index(place[1])
        assert data["group"] == places.get(place, -1)
    for one, other, data in graph.edges(data=True):
        if data["through"] == "group":
            assert one[1] == other[1]
            assert places[one] == places[other]
            assert one != other
        else:
            assert data["through"] == "time"
            assert other == next_of(one, places)
    assert set(graph) == reached | {source}
    assert dict(graph.nodes("distance")) == nx.single_source_shortest_path_length(graph, source)
    whole = nx.DiGraph()
    whole.add_node(source)
    for place in graph:
        mates = [p for p in graph if p != place and p[1] == place[1] and places.get(p) == places.get(place, -2)]
        whole.add_edges_from((place, mate) for mate in mates)
        if place in places and next_of(place, places) in graph:
            whole.add_edge(place, next_of(place, places))
            assert graph.edges[place, next_of(place, places)]["through"] == "time"
    assert dict(graph.nodes("distance")) == nx.single_source_shortest_path_length(whole, source)


CASCADES = {
    "remove": (RemoveKnown(), 1.0, {}),
    "prior": (PriorCascade(), 0.8, {}),
    "posterior": (PosteriorCascade(), 0.9, {"estimator": DirichletMultinomial()}),
    "evidence": (EvidenceCascade(), 0.7, {}),
}


@pytest.mark.parametrize("cascade", CASCADES)
class TestOracle:
    @pytest.mark.parametrize("record", [("A", "a", 1), ("D", "c", 2), ("E", "b", 1), ("F", "b", 3), ("H", "a", 4)])
    @pytest.mark.parametrize("gaps", ["ignore", "power"])
    def test_equals_two_attacks_and_shortest_paths_between_changed_beliefs(self, cascade, record, gaps):
        how, confidence, settings = CASCADES[cascade]
        adversary = adversary_of(how, gaps=gaps, **settings)
        graph = Influence(adversary)(released(), *record, confidence)
        assert len(graph) > 1
        assert_is_the_influence_of(graph, adversary, released(), *record, confidence)

    def test_with_other_compromised_records(self, cascade):
        how, confidence, settings = CASCADES[cascade]
        adversary = adversary_of(how, ("B", "b", 1, 1.0), ("F", "a", 2, confidence), **settings)
        graph = Influence(adversary)(released(), "A", "a", 1, confidence)
        assert_is_the_influence_of(graph, adversary, released(), "A", "a", 1, confidence)

    def test_a_record_that_the_adversary_has_already_cannot_be_followed(self, cascade):
        how, confidence, settings = CASCADES[cascade]
        adversary = adversary_of(how, ("A", "a", 1, confidence), **settings)
        with pytest.raises(ValueError, match="already has a record that respondent 'A' has 'a' at 1; leave it out"):
            Influence(adversary)(released(), "A", "a", 1, confidence)

    def test_without_transitions_it_stays_in_its_release(self, cascade):
        how, confidence, settings = CASCADES[cascade]
        adversary = adversary_of(how, transitions=None, **settings)
        graph = Influence(adversary)(released(), "A", "a", 1, confidence)
        assert set(graph) == {("A", 1), ("B", 1), ("C", 1)}
        assert set(graph.edges) == {(("A", 1), ("B", 1)), (("A", 1), ("C", 1))}
        assert dict(graph.nodes("distance")) == {("A", 1): 0, ("B", 1): 1, ("C", 1): 1}


@st.composite
def histories(draw):
    """Two to four releases without suppressed records, in up to three groups of two or more, and a record."""
    releases = []
    for t in range(1, draw(st.integers(2, 4)) + 1):
        ids = draw(st.lists(st.sampled_from("ABCDEFGH"), min_size=2, max_size=8, unique=True))
        results = draw(st.lists(st.sampled_from("abc"), min_size=len(ids), max_size=len(ids)))
        groups = draw(st.integers(1, max(len(ids) // 3, 1)))
        releases.append(Release(view_of(ids, results, time=t), [i % groups for i in range(len(ids))]))
    first = draw(st.sampled_from(releases[:2]))
    row = draw(st.integers(0, len(first.view) - 1))
    return releases, (first.view.people.respondents[row], "abc"[first.view.sensitive[row]], first.time)


@given(drawn=histories())
@settings(max_examples=25)
def test_every_changed_belief_is_in_the_graph(drawn):
    """Priors and chain are positive; the next test covers groups that leave no doubt."""
    releases, record = drawn
    adversary = adversary_of(EvidenceCascade())
    bits, places = expected_bits(adversary, releases, *record, 0.9), published(releases)
    graph = Influence(adversary)(releases, *record, 0.9)
    assert {place for place, b in bits.items() if b >= 2 * MIN_REPORTED_BITS and place in places} <= set(graph)
    assert all(b >= MIN_REPORTED_BITS / 2 for place, b in graph.nodes("bits") if place != graph.graph["source"])


def test_a_respondent_may_be_reached_sooner_at_a_later_release():
    """A is absent at 2. The path to P at 3 has two steps; the path to P at 2, through B, has three."""
    releases = released((("AB", "ab", [0, 0]), ("BP", "ab", [0, 0]), ("AP", "ab", [0, 0])))
    adversary = adversary_of()
    graph = Influence(adversary)(releases, "A", "a", 1)
    assert graph.nodes["P", 2]["distance"] == 3
    assert graph.nodes["P", 3]["distance"] == 2
    assert graph.edges[("P", 2), ("P", 3)]["through"] == "time"
    assert_is_the_influence_of(graph, adversary, releases, "A", "a", 1, 1.0)


class TestWhereALinkIsHidden:
    """A passes through a release that leaves no doubt about her value, so that influence is not visible there."""

    def test_a_path_through_others_goes_around(self):
        """A and B at 1; A alone at 2, where her value is certain, and B with C; then all three: the group reaches A again."""
        releases = released((("AB", "ab", [0, 0]), ("ABC", "abc", [0, 1, 1]), ("ABC", "abc", [0, 0, 0])))
        adversary = adversary_of()
        graph = Influence(adversary)(releases, "A", "a", 1)
        assert ("A", 2) not in graph
        assert nx.shortest_path_length(graph, ("A", 1), ("A", 3)) == 4
        assert_is_the_influence_of(graph, adversary, releases, "A", "a", 1, 1.0)

    def test_no_edge_skips_a_release(self):
        """The same with a record about B: the path of A from 1 to 3 does not pass A alone at 2."""
        releases = released((("AB", "ab", [0, 0]), ("ABC", "abc", [0, 1, 1]), ("ABC", "abc", [0, 0, 0])))
        adversary = adversary_of()
        graph = Influence(adversary)(releases, "B", "b", 1)
        assert ("A", 2) not in graph
        assert_is_the_influence_of(graph, adversary, releases, "B", "b", 1, 1.0)

    def test_with_a_longer_chain_influence_skips_a_release(self):
        """With order 2, A's value at 1 affects 3, although at 2 A is alone and her value certain."""
        chain = MarkovChain(2, np.random.default_rng(2).dirichlet(np.ones(3), size=(3, 3)))
        releases = released((("AB", "ab", [0, 0]), ("A", "a", [0]), ("AC", "bc", [0, 0])))
        adversary = adversary_of(transitions=chain)
        bits = expected_bits(adversary, releases, "A", "a", 1, 1.0)
        assert bits["A", 2] < MIN_REPORTED_BITS < bits["A", 3]
        assert {("A", 1), ("B", 1), ("A", 3), ("C", 3)} <= set(Influence(adversary)(releases, "A", "a", 1))


def test_beliefs_about_suppressed_records_change_too():
    """A is not published at 2; the belief about A there is the chain's, which the record at 1 changes."""
    releases = released((("AB", "ab", [0, 0]), ("ABC", "abc", [-1, 0, 0])))
    adversary = adversary_of()
    assert expected_bits(adversary, releases, "B", "b", 1, 1.0)["A", 2] > MIN_REPORTED_BITS
    assert ("A", 2) in Influence(adversary)(releases, "B", "b", 1)


def test_suppressed_records_spread_to_no_group():
    graph = Influence(adversary_of())(released((("ABC", "abc", [-1, 0, 0]),)), "A", "a", 1)
    assert list(graph) == [("A", 1)]
    assert graph.nodes["A", 1]["group"] == -1
    assert graph.nodes["A", 1]["bits"] > 0


def test_a_larger_threshold_leaves_out_more():
    every = Influence(adversary_of())(released(), "A", "a", 1)
    strong = Influence(adversary_of(), least=0.05)(released(), "A", "a", 1)
    assert {place for place, b in every.nodes("bits") if b >= 0.05} >= set(strong)
    assert 1 < len(strong) < len(every)
    assert all(b >= 0.05 for _, b in strong.nodes("bits"))


def test_any_iterable_of_releases_and_an_unmodified_adversary():
    adversary = adversary_of()
    graph = Influence(adversary)(iter(released()), "A", "a", 1)
    assert nx.utils.graphs_equal(graph, Influence(adversary)(released(), "A", "a", 1))
    assert adversary.compromised is None


class TestErrors:
    def test_the_adversary_needs_a_cascade(self):
        with pytest.raises(
            ValueError, match=r"no cascade, so that no record can spread; give it one, as PriorCascade\(\)"
        ):
            Influence(Adversary(ByName(), CHAIN))

    @pytest.mark.parametrize(
        ("record", "message"),
        [
            (("Q", "a", 1), "'Q' at 1, who has no record"),
            (("A", "z", 1), "not in the sensitive domain"),
            (("A", "a", 7), "about 7, and the times of the releases are 1, 2, 3, 4"),
            (("D", "c", 1), "does not show it"),
            (("A", "a", 1, 0.0), "over 0 and at most 1"),
            (("A", "a", 1, 0.5), "RemoveKnown takes only 1"),
        ],
    )
    def test_the_record_must_fit(self, record, message):
        with pytest.raises(ValueError, match=message):
            Influence(adversary_of())(released(), *record)

    def test_a_record_that_contradicts_the_others(self):
        with pytest.raises(ValueError, match="sum to 2"):
            Influence(adversary_of(None, ("A", "a", 1, 1.0)))(released(), "A", "b", 1)


class TestDivergence:
    @given(data=st.data())
    def test_is_jensen_shannon_in_bits(self, data):
        m, n = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
        row = st.lists(st.sampled_from((0, 0, 1, 2, 1e-6, 1000)), min_size=m, max_size=m).filter(any)
        one, other = (np.array([data.draw(row) for _ in range(n)], dtype=float) for _ in range(2))
        one, other = one / one.sum(axis=1, keepdims=True), other / other.sum(axis=1, keepdims=True)
        found = divergence_bits(one, other)
        assert np.allclose(found, [jensen_shannon(p, q) for p, q in zip(one, other, strict=True)], atol=1e-12)
        assert (found >= 0).all()

    def test_by_hand(self):
        """One bit for two certainties; h(1/4) - 1/2 = .311278 for (1, 0) and (.5, .5)."""
        assert divergence_bits(np.eye(2), np.eye(2)[::-1]).tolist() == [1, 1]
        assert divergence_bits(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))[0] == pytest.approx(0.311278, abs=5e-7)


# --- under the joint law ----------------------------------------------------------------------------------------------


def joint(adversary):
    return JointAttack(adversary, Enumeration())


def changed(adversary, releases, *record):
    """Places whose beliefs under the joint law differ with the record, by two attacks."""
    told = dataclasses.replace(adversary, compromised=CompromisedRecords(frame(record)))
    return {
        (r, old.observation.time)
        for old, new in zip(joint(adversary)(releases), joint(told)(releases), strict=True)
        for r, bits in zip(
            old.observation.people.respondents,
            divergence_bits(old.posterior.probabilities, new.posterior.probabilities),
            strict=True,
        )
        if bits >= MIN_REPORTED_BITS
    }


@given(drawn=histories())
@settings(max_examples=15)
def test_the_joint_law_is_reached_in_both_directions_of_time(drawn):
    releases, record = drawn
    adversary = adversary_of(EvidenceCascade())
    graph = Influence(adversary, attack=joint)(releases, *record, 0.9)
    reachable = nx.node_connected_component(_by_groups_and_time(releases), (record[0], record[2]))
    assert set(graph) <= changed(adversary, releases, *record, 0.9) | {graph.graph["source"]}
    assert set(graph) <= reachable


def _by_groups_and_time(releases):
    whole, places = nx.Graph(), published(releases)
    whole.add_nodes_from(places)
    whole.add_edges_from(
        (a, b) for a in places for b in places if a != b and (a[0] == b[0] or (a[1], places[a]) == (b[1], places[b]))
    )
    return whole


def test_the_joint_law_tells_earlier_values():
    """A and B meet at 1; the record is about A at 2, alone with C. Only the joint law tells of B at 1."""
    releases = released((("AB", "ab", [0, 0]), ("AC", "ac", [0, 0])))
    adversary = adversary_of()
    assert ("B", 1) not in Influence(adversary)(releases, "A", "a", 2)
    graph = Influence(adversary, attack=joint)(releases, "A", "a", 2)
    assert graph.nodes["B", 1]["distance"] == 2
    assert graph.edges[("A", 2), ("A", 1)]["through"] == "time"


def test_relatives_are_reached_without_a_common_group():
    releases = released((("ABCD", "abab", [0, 0, 1, 1]),))
    relations = Relations(nx.Graph([("A", "C")]), np.array([[1, 0.1, 0.1], [0.1, 1, 0.1], [0.1, 0.1, 1]]))
    adversary = adversary_of(EvidenceCascade(), relations=relations)
    graph = Influence(adversary, attack=joint)(releases, "A", "a", 1, 0.9)
    assert dict(graph.nodes("distance")) == {("A", 1): 0, ("B", 1): 1, ("C", 1): 1, ("D", 1): 2}
    assert graph.edges[("A", 1), ("C", 1)]["through"] == "relation"
    with pytest.raises(ValueError, match="relations"):
        Influence(adversary)
