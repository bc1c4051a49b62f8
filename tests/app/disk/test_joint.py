"""The joint attack from disk, by partitions of the respondents or by the graph of groups: the beliefs in memory, whatever the
workers."""

import json

import numpy as np
import pytest
from large_history import beliefs_of, bytes_of, in_memory, visits

from foreknow.app.disk import Engine, LargeTable, attack_large, publish_large
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import Anatomy, JSReduce, KAnonymity, Mondrian
from foreknow.models import (
    Adversary,
    GroupGraph,
    GroupMessages,
    JointAuto,
    MarkovChain,
    MaxEntropy,
    Omega,
    PathSampler,
    Status,
    UniformPrior,
)
from foreknow.models.joint import group_graph

CHAIN = MarkovChain(1, 0.6 * np.eye(4) + 0.1)
CYCLE = MarkovChain(1, np.eye(4)[[1, 2, 3, 0]])


def published_visits(tmp_path, defense, **settings):
    frame = visits(**settings)
    frame.to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    assumed = Adversary(UniformPrior(), CHAIN, estimator=Omega()) if isinstance(defense, JSReduce) else None
    return frame, publish_large(table, defense, tmp_path / "out", assumed, block=50, seed=3)


@pytest.mark.parametrize(
    ("defense", "gaps", "hindsight", "solver"),
    [
        (Mondrian(KAnonymity(4)), "ignore", True, MaxEntropy),
        (Mondrian(KAnonymity(4)), "power", False, MaxEntropy),
        (Mondrian(KAnonymity(4)), "power", False, GroupMessages),
        (Anatomy(2), "power", True, MaxEntropy),
        (Anatomy(2), "ignore", True, GroupMessages),
        (JSReduce(3, 0.6, 0.6, patience=20), "ignore", True, MaxEntropy),
        (JSReduce(3, 0.6, 0.6, patience=20), "power", True, GroupMessages),
    ],
)
def test_the_beliefs_are_those_in_memory(tmp_path, defense, gaps, hindsight, solver):
    frame, published = published_visits(tmp_path, defense)
    attack = JointAttack(Adversary(UniformPrior(), CHAIN, gaps=gaps), solver(1e-6, 10_000), hindsight)
    folder = attack_large(published, attack, tmp_path / "beliefs")
    releases = in_memory(published, frame)
    beliefs = attack(releases)
    for number, release in enumerate(releases):
        shown = release.group >= 0
        found = beliefs_of(folder, number, 4)
        assert set(found) == set(release.view.people.respondents[shown])
        rows = np.array([found[who] for who in release.view.people.respondents[shown]])
        np.testing.assert_allclose(rows, beliefs.releases[number].posterior.probabilities[shown], atol=1e-4)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["doubtful_groups"] == [0, 0, 0]
    assert manifest["partitions"] == 3
    assert manifest["shared_groups"] > 0
    assert manifest["exchanges"] > 3
    assert not (folder / "work").exists()
    blocks = 3 if solver is GroupMessages else 0
    assert {len(list((folder / f"release-{n:04d}").iterdir())) for n in range(3)} <= set(range(3, 3 + blocks + 1))
    if isinstance(defense, JSReduce):
        assert sum(one.suppressed for one in published.releases) > 0


GRAPHS = [
    (Mondrian(KAnonymity(4)), "ignore", True, GroupGraph()),
    (Mondrian(KAnonymity(4)), "power", False, GroupGraph(limit=20)),
    (Anatomy(2), "power", True, GroupGraph()),
    (JSReduce(3, 0.6, 0.6, patience=20), "ignore", True, GroupGraph(limit=20)),
    (JSReduce(3, 0.6, 0.6, patience=20), "power", False, GroupGraph()),
]
"""With and without tilted edges, blocks, and counts by a normal law."""


@pytest.mark.parametrize(("defense", "gaps", "hindsight", "solver"), GRAPHS)
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_graph_of_groups_is_that_in_memory(tmp_path, monkeypatch, defense, gaps, hindsight, solver, workers):
    """Views in memory are sorted by respondent, as groups on disk are; each release has several blocks."""
    monkeypatch.setattr(group_graph, "MANY_RECORDS", 1)
    frame, published = published_visits(tmp_path, defense)
    assert len(published.ranges(0)) > 1
    frame = frame.sort_values(["week", "id"], ignore_index=True)
    attack = JointAttack(Adversary(UniformPrior(), CHAIN, gaps=gaps), solver, hindsight)
    folder = attack_large(published, attack, tmp_path / "beliefs", engine=Engine(1, workers))
    releases = in_memory(published, frame)
    beliefs = attack(releases)
    for number, release in enumerate(releases):
        found, shown = beliefs_of(folder, number, 4), release.group >= 0
        assert set(found) == set(release.view.people.respondents[shown])
        rows = np.array([found[who] for who in release.view.people.respondents[shown]])
        np.testing.assert_allclose(rows, beliefs.releases[number].posterior.probabilities[shown], rtol=0, atol=1e-9)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["doubtful_groups"] == [0, 0, 0]
    assert manifest["notes"] == [str(note) for note in beliefs.notes]
    assert len(manifest["notes"]) == (manifest["graph_shares"]["exact"] < 1)
    assert not (folder / "work").exists()


def test_the_notes_name_group_messages_and_how_much_it_understates(tmp_path):
    _, published = published_visits(tmp_path, Mondrian(KAnonymity(4)))
    attack = JointAttack(Adversary(UniformPrior(), CHAIN), GroupMessages(1e-2))
    (note,) = json.loads((attack_large(published, attack, tmp_path / "beliefs") / "manifest.json").read_text())["notes"]
    assert note.startswith("the joint law is approximated (GroupMessages)")
    assert "understates what the releases disclose" in note
    assert "97%, 88% and 74% of the sure beliefs that GroupGraph" in note


@pytest.mark.parametrize("solver", [GroupMessages(), GroupGraph()])
@pytest.mark.parametrize("hindsight", [True, False])
def test_a_release_of_which_nothing_is_published(tmp_path, solver, hindsight):
    frame = visits(releases=2)
    frame[(frame["week"] == 0) | (frame.index % 100 == 0)].to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    published = publish_large(table, Mondrian(KAnonymity(10)), tmp_path / "out", block=50, seed=3)
    assert [one.groups > 0 for one in published.releases] == [True, False]
    attack = JointAttack(Adversary(UniformPrior(), CHAIN), solver, hindsight)
    folder = attack_large(published, attack, tmp_path / "beliefs")
    assert [len(beliefs_of(folder, number, 4)) for number in range(2)] == [len(frame[frame["week"] == 0]), 0]


@pytest.mark.parametrize("hindsight", [True, False])
def test_a_partition_without_a_member_in_the_last_release(tmp_path, hindsight):
    frame = visits(releases=2)
    frame = frame[(frame["week"] == 0) | (frame["age"] < 25)]
    frame.to_parquet(tmp_path / "visits.parquet")
    table = LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")
    published = publish_large(table, Mondrian(KAnonymity(4)), tmp_path / "out", block=20, seed=3)
    attack = JointAttack(Adversary(UniformPrior(), CHAIN), GroupMessages(1e-6, 10_000), hindsight)
    folder, releases = attack_large(published, attack, tmp_path / "beliefs"), in_memory(published, frame)
    for number, release in enumerate(attack(releases)):
        found, people = beliefs_of(folder, number, 4), releases[number].view.people.respondents
        rows = np.array([found[who] for who in people[releases[number].group >= 0]])
        np.testing.assert_allclose(rows, release.posterior.probabilities[releases[number].group >= 0], atol=1e-4)


def test_without_transitions_each_release_is_sinkhorn(tmp_path):
    _, published = published_visits(tmp_path, Mondrian(KAnonymity(4)))
    prior = UniformPrior()
    joint = attack_large(published, JointAttack(Adversary(prior), MaxEntropy(1e-8)), tmp_path / "joint")
    sequential = attack_large(published, SequentialAttack(Adversary(prior, estimator=Omega())), tmp_path / "omega")
    for number in range(3):
        found, expected = (beliefs_of(folder, number, 4) for folder in (joint, sequential))
        np.testing.assert_allclose([found[who] for who in expected], list(expected.values()), atol=1e-6)


@pytest.mark.slow
def test_contradicted_groups_are_among_the_doubtful_ones(tmp_path):
    frame, published = published_visits(tmp_path, Mondrian(KAnonymity(4)))
    attack = JointAttack(Adversary(UniformPrior(), CYCLE), MaxEntropy(1e-3, 2000))
    folder = attack_large(published, attack, tmp_path / "beliefs")
    releases = in_memory(published, frame)
    expected = [int((one.posterior.status & 1).sum()) for one in attack(releases)]
    found = json.loads((folder / "manifest.json").read_text())["doubtful_groups"]
    assert sum(expected) > 0
    assert all(
        number <= doubtful <= release.groups
        for number, doubtful, release in zip(expected, found, releases, strict=True)
    )


@pytest.mark.parametrize("hindsight", [True, False])
def test_contradicted_groups_of_the_graph_are_those_in_memory(tmp_path, hindsight):
    frame, published = published_visits(tmp_path, Mondrian(KAnonymity(4)), people=60)
    attack = JointAttack(Adversary(UniformPrior(), CYCLE), GroupGraph(), hindsight)
    folder = attack_large(published, attack, tmp_path / "beliefs")
    beliefs = attack(in_memory(published, frame.sort_values(["week", "id"], ignore_index=True)))
    expected = [int((one.posterior.status & Status.CONTRADICTED > 0).sum()) for one in beliefs]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert sum(expected) > 0
    assert manifest["doubtful_groups"] == expected
    assert any("contradict the adversary's knowledge" in note for note in manifest["notes"])


@pytest.mark.slow
@pytest.mark.parametrize("hindsight", [True, False])
def test_the_same_bytes_whatever_the_memory(tmp_path, hindsight):
    _, published = published_visits(tmp_path, Anatomy(2))
    # A progress that cannot be sent to workers is that of the solver, which is not read.
    solver = GroupMessages(progress=lambda parts: parts)
    attack, made = JointAttack(Adversary(UniformPrior(), CHAIN), solver, hindsight), []
    for memory in (1, 3):
        made.append(bytes_of(attack_large(published, attack, tmp_path / f"{memory}", engine=Engine(memory))))
    assert made[0] == made[1]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_same_bytes_with_processes_and_on_a_cluster(tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs foreknow[distributed]")
    _, published = published_visits(tmp_path, Anatomy(2))
    attack = JointAttack(Adversary(UniformPrior(), CHAIN), GroupMessages())
    made = [bytes_of(attack_large(published, attack, tmp_path / f"{n}", engine=Engine(1, n))) for n in (1, 2)]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        engine = Engine(scheduler=cluster.scheduler_address)
        made.append(bytes_of(attack_large(published, attack, tmp_path / "cluster", engine=engine)))
    assert made[0] == made[1] == made[2]


def test_attacks_that_need_the_table_in_memory_are_named(tmp_path):
    _, published = published_visits(tmp_path, Mondrian(KAnonymity(4)))
    adversary = Adversary(UniformPrior(), CHAIN)
    solvers = (PathSampler(rng=1), JointAuto())
    for attack in (
        *(JointAttack(adversary, solver) for solver in solvers),
        JointAttack(adversary, GroupMessages(), signatures=True),
    ):
        with pytest.raises(ValueError, match="needs all records in memory"):
            attack_large(published, attack, tmp_path / "beliefs")
    with pytest.raises(TypeError, match="attack is 'joint'"):
        attack_large(published, "joint", tmp_path / "beliefs")
