"""Presence and relations in the joint attack from disk: the beliefs in memory, on real data whose respondents leave.

By `GroupGraph` to 1e-12, as the records are those in memory in the same order; by partitions, whose solvers have a tolerance, to
1e-4. Releases have several blocks, and withhold records.
"""

import json
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from large_history import beliefs_of, in_memory

from foreknow.app.disk import LargeTable, attack_large, measure_large, publish_large
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import JSReduce, KAnonymity, Mondrian
from foreknow.evaluation import exams, pbc
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    GroupGraph,
    GroupMessages,
    History,
    Knowledge,
    MarkovChain,
    MaxEntropy,
    Omega,
    Presence,
    Relations,
    UniformMembership,
    UniformPrior,
)

DATA = {
    "pbc": lambda: History(list(pbc())[:4]),
    "exams": lambda: exams(views=4, records=120, rng=1).history,
}


class Published:
    """Publication of a history on disk, its releases in memory, and what an adversary knows of it."""

    def __init__(self, history, folder, defense=None):
        people = history.schema.respondent
        frame = pd.concat(view.frame.assign(week=view.time) for view in history)
        frame = frame.sort_values(["week", people], ignore_index=True)
        frame.to_parquet(folder / "visits.parquet")
        self.chain = MarkovChain.fit(history, pseudo_count=0.1)
        assumed = Adversary(UniformPrior(), self.chain, estimator=Omega()) if defense is None else None
        table = LargeTable(folder / "visits.parquet", history.schema, "week")
        defense = JSReduce(3, 0.5, 0.6, patience=20) if defense is None else defense
        self.large = publish_large(table, defense, folder / "published", assumed, block=40, seed=3)
        self.releases, self.history, self.folder = in_memory(self.large, frame), history, folder
        quasi = {"age": 2} if "age" in history.schema.quasi_identifiers else None
        self.prior = ClassFrequencies.fit(history, quasi, 0.5)
        m, names = len(history.schema.values), [*history.respondents]
        # In another order than that of the identifiers, and families of three besides couples.
        np.random.default_rng(1).shuffle(names)
        edges = [*zip(names[:60:3], names[1:60:3], strict=True), *zip(names[1:30:3], names[2:30:3], strict=True)]
        self.known: dict[str, Any] = {
            "presence": Presence.fit(history, pseudo_count=0.5),
            "relations": Relations(nx.Graph(edges), 1 + np.eye(m)),
        }
        self.by_class = Presence.fit(history, {"age": 2}, pseudo_count=0.5)

    def adversary(self, *parts, **settings):
        return Adversary(self.prior, self.chain, **{part: self.known[part] for part in parts}, **settings)

    def beliefs(self, attack, name="beliefs"):
        """Beliefs of an attack from disk, and those in memory, as rows; and the manifest."""
        folder = attack_large(self.large, attack, self.folder / name)
        made, rows = attack(self.releases), []
        for number, release in enumerate(self.releases):
            names = release.view.people.respondents[release.group >= 0]
            found = beliefs_of(folder, number, len(self.history.schema.values))
            assert set(found) == set(names)
            rows += [found[who] for who in names]
        manifest = json.loads((folder / "manifest.json").read_text())
        return np.array(rows), self.rows_of(made), made, manifest

    def rows_of(self, beliefs):
        """Beliefs about the published records."""
        pairs = zip(self.releases, beliefs, strict=True)
        return np.concatenate([each.posterior.probabilities[release.group >= 0] for release, each in pairs])


@pytest.fixture(scope="module", params=DATA)
def published(request, tmp_path_factory):
    found = Published(DATA[request.param](), tmp_path_factory.mktemp(request.param))
    assert all(one.suppressed > 0 for one in found.large.releases)
    assert min(len(found.large.ranges(number)) for number in range(len(found.releases))) > 1
    return found


@pytest.mark.parametrize(
    ("parts", "gaps", "hindsight"),
    [
        (("presence",), "ignore", True),
        (("presence",), "power", True),
        (("presence",), "power", False),
        (("relations",), "power", True),
        (("relations",), "ignore", False),
        (("presence", "relations"), "ignore", True),
        (("presence", "relations"), "ignore", False),
        (("presence", "relations"), "power", True),
    ],
)
def test_the_graph_of_groups_reads_them_as_in_memory(published, parts, gaps, hindsight):
    attack = JointAttack(published.adversary(*parts, gaps=gaps), GroupGraph(), hindsight)
    rows, expected, made, manifest = published.beliefs(attack, f"{parts}-{gaps}-{hindsight}")
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-12)
    assert manifest["notes"] == [str(note) for note in made.notes]
    if hindsight:
        others = published.rows_of(JointAttack(published.adversary(gaps=gaps))(published.releases))
        assert np.abs(others - expected).max() > 0.01


@pytest.mark.parametrize(
    ("solver", "gaps", "hindsight"),
    [
        (MaxEntropy, "ignore", True),
        (MaxEntropy, "power", False),
        (GroupMessages, "power", True),
        (GroupMessages, "ignore", False),
    ],
)
def test_partitions_read_presence_as_in_memory(published, solver, gaps, hindsight):
    attack = JointAttack(published.adversary("presence", gaps=gaps), solver(1e-6, 10_000), hindsight)
    rows, expected, _, manifest = published.beliefs(attack, f"{solver.__name__}-{gaps}-{hindsight}")
    np.testing.assert_allclose(rows, expected, atol=1e-4)
    assert manifest["partitions"] >= 3
    assert manifest["shared_groups"] > 0
    assert sum(manifest["doubtful_groups"]) == 0


@pytest.mark.parametrize("solver", [GroupGraph(), MaxEntropy(1e-6, 10_000)])
def test_presence_by_class_of_quasi_identifiers(published, solver):
    attack = JointAttack(Adversary(published.prior, published.chain, presence=published.by_class), solver)
    rows, expected, *_ = published.beliefs(attack, f"class-{type(solver).__name__}")
    np.testing.assert_allclose(rows, expected, atol=1e-12 if isinstance(solver, GroupGraph) else 1e-4)


def test_presence_without_transitions(published):
    attack = JointAttack(Adversary(published.prior, presence=published.known["presence"]))
    rows, expected, *_ = published.beliefs(attack, "without-transitions")
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-12)


def test_a_chance_of_0_for_those_who_left_is_a_contradiction_as_in_memory(published):
    m = len(published.history.schema.values)
    adversary = Adversary(published.prior, published.chain, presence=Presence(np.zeros(m)))
    for solver in (GroupGraph(), MaxEntropy(1e-3, 1000)):
        *_, made, manifest = published.beliefs(JointAttack(adversary, solver), f"zero-{type(solver).__name__}")
        expected = [int((one.posterior.status & 1).sum()) for one in made]
        assert sum(expected) > 0
        assert all(found >= number for found, number in zip(manifest["doubtful_groups"], expected, strict=True))


def test_measures_of_an_adversary_who_reads_both(published):
    adversary = published.adversary("presence", "relations")
    folder = attack_large(published.large, JointAttack(adversary), published.folder / "measured")
    assert (measure_large(published.large, folder, adversary).risk["gain"] > 0).any()


def test_a_relative_who_is_withheld_in_all_releases_is_no_error_and_one_in_no_release_is(published):
    shown = {who for each in published.releases for who in each.view.people.respondents[each.group >= 0]}
    hidden = [who for who in published.history.respondents if who not in shown]
    assert hidden
    some, m = next(iter(shown)), len(published.history.schema.values)
    for name, other in (("hidden", hidden[0]), ("absent", "unknown")):
        relations = Relations(nx.Graph([(some, other)]), 1 + np.eye(m))
        attack = JointAttack(Adversary(published.prior, published.chain, relations=relations))
        if name == "absent":
            with pytest.raises(ValueError, match="1 respondent in no release, as 'unknown'"):
                attack_large(published.large, attack, published.folder / name)
        else:
            rows, expected, *_ = published.beliefs(attack, name)
            np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-12)


class Severity(Knowledge):
    """A part of one's own."""

    name = "severity"


def test_what_is_not_read_from_disk_is_one_error(tmp_path):
    history = DATA["exams"]()
    found = Published(history, tmp_path, Mondrian(KAnonymity(3)))
    presence, relations = found.known["presence"], found.known["relations"]

    def refused(attack, match):
        with pytest.raises(ValueError, match=match):
            attack_large(found.large, attack, tmp_path / "beliefs")
        assert not (tmp_path / "beliefs").exists()

    for solver in (GroupMessages(), MaxEntropy()):
        with pytest.raises(ValueError, match="does not read the part 'relations'"):
            JointAttack(Adversary(found.prior, found.chain, relations=relations), solver)
    sequential = SequentialAttack(Adversary(found.prior, found.chain, presence=presence))
    refused(sequential, "SequentialAttack from disk does not read the part 'presence' .*, which JointAttack reads")
    refused(Adversary(found.prior, membership=UniformMembership()), "does not read the part 'membership'")
    refused(JointAttack(Adversary(found.prior, own=(Severity(),))), "does not read the part 'severity'")
    with pytest.raises(ValueError, match=r"publish_large does not read the part 'presence'.*without\('presence'\)"):
        publish_large(
            LargeTable(tmp_path / "visits.parquet", history.schema, "week"),
            Mondrian(KAnonymity(3)),
            tmp_path / "again",
            Adversary(found.prior, found.chain, presence=presence),
        )


def test_a_run_with_other_relations_does_not_go_on_and_one_whose_graph_was_read_does(tmp_path, monkeypatch):
    from foreknow.app.disk import attack as module

    found = Published(DATA["exams"](), tmp_path, Mondrian(KAnonymity(3)))
    first, m = found.adversary("relations"), len(found.history.schema.values)

    def interrupted(*_):
        raise OSError("interrupted")

    monkeypatch.setattr(module, "write_json", interrupted)
    with pytest.raises(OSError, match="interrupted"):
        attack_large(found.large, JointAttack(first), tmp_path / "beliefs")
    monkeypatch.undo()
    other = Relations(nx.Graph([*first.relations.graph.edges][:1]), 1 + np.eye(m))
    with pytest.raises(ValueError, match="holds something else"):
        attack_large(
            found.large, JointAttack(Adversary(found.prior, found.chain, relations=other)), tmp_path / "beliefs"
        )
    assert first.relations.graph.degree
    attack_large(found.large, JointAttack(first), tmp_path / "beliefs")
