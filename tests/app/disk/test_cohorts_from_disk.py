"""Cohorts from disk: the releases, the published rows, the key and the beliefs are those in memory, whatever the engine."""

import json
from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from large_history import CHAIN, KNOWN, beliefs_of, bytes_of, on_disk, panel, published_in_memory

from foreknow.app.cli.files.columns import Columns
from foreknow.app.cli.files.release_files import key_table, published_table
from foreknow.app.disk import Engine, attack_large, measure_large, publish_large, verify_large
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import publication as module
from foreknow.app.disk.publication import LargeReleases
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import Cohorts, JSimilarity, KAnonymity
from foreknow.evaluation import adversary_confidence, adversary_gain, average_group_size, discernibility
from foreknow.models import (
    Adversary,
    GhostChain,
    GivenPrior,
    GroupGraph,
    GroupMessages,
    History,
    MarkovChain,
    MaxEntropy,
    Presence,
    Relations,
    UniformPrior,
)

COLUMNS = Columns("id", "week", "result", ("age", "sex"))


def rows(folder):
    """All rows of the parts of a folder, without the columns of codes."""
    table = pd.concat([pq.read_table(part).to_pandas() for part in sorted(folder.rglob("*.parquet"))])
    return table[[name for name in table if not name.startswith("_")]].reset_index(drop=True)


def check_same(published, releases):
    tables = published_table(releases, "week"), key_table(releases, COLUMNS)
    for expected, name in zip(tables, ("public/published.parquet", "private/groups.parquet"), strict=True):
        pd.testing.assert_frame_equal(rows(published.folder / name), expected, check_dtype=False)
    for one, release in zip(published.releases, releases, strict=True):
        numbers = (len(release.view), release.groups, (release.group < 0).sum(), release.ghost_counts.sum())
        assert (one.records, one.groups, one.suppressed, one.ghosts) == numbers
        assert one.notes == tuple(map(str, release.grouping.notes))


SETTINGS = {
    "ghosts": {},
    "ends": {"ends": 1},
    "terminal": {"terminal": ("w",), "wait": 2},
    "withdraw": {"departures": "withdraw"},
    "lag": {"departures": "lag", "lag": 2},
    "retire": {"departures": "retire"},
}


@pytest.mark.parametrize("more", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("gaps", ["ignore", "power"])
def test_the_releases_are_those_in_memory(tmp_path, more, gaps):
    frame, adversary = panel(), Adversary(UniformPrior(), CHAIN, gaps=gaps)
    table = on_disk(tmp_path, frame)

    def defense(rng=None):
        return Cohorts(3, 6, transitions=CHAIN, rng=rng, **more)

    published = publish_large(table, defense(), tmp_path / "out", adversary, seed=9, engine=Engine(1, 2))
    releases = published_in_memory(table, frame, defense, adversary, 9)
    check_same(published, releases)
    if "terminal" in more:
        ended = frame.loc[frame["result"] == "w", "id"].nunique()
        assert defense().reached_terminal(releases) == published.reached_terminal(defense(), Engine()) == ended > 0
    if more.get("departures", "ghosts") == "ghosts":
        assert sum(one.ghosts for one in published.releases) > 0
        assert max(len(release.grouping.notes) for release in releases) > 1


@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0, 0.4), st.floats(0, 0.5), st.integers(0, 1))
@settings(max_examples=8, deadline=None)
def test_any_panel(tmp_path_factory, seed, a, leave, back, ends):
    folder, frame = tmp_path_factory.mktemp("any"), panel(60, 4, seed, leave, back)
    table = on_disk(folder, frame)

    def defense(rng=None):
        return Cohorts(a, 2 * a, transitions=CHAIN, priors=0.5, ends=ends, rng=rng)

    published = publish_large(table, defense(), folder / "out", KNOWN, seed=seed)
    check_same(published, published_in_memory(table, frame, defense, KNOWN, seed))


def test_priors_that_read_respondents_and_the_rule_of_the_ghosts(tmp_path):
    """Adversaries that blocks of other defenses cannot read."""
    frame = panel()
    table = on_disk(tmp_path, frame)
    names = sorted(frame["id"].unique().tolist())
    beliefs = np.where(np.arange(len(names))[:, None] % 2, [0.5, 0.3, 0.2], [0.2, 0.2, 0.6])
    prior = GivenPrior(pd.DataFrame(beliefs, names, ["u", "v", "w"]))
    adversary = Adversary(prior, CHAIN, mechanism=GhostChain(MarkovChain(1, 0.3 * np.eye(3) + 0.7 / 3)))

    def defense(rng=None):
        return Cohorts(3, 6, transitions=CHAIN, rng=rng)

    published = publish_large(table, defense(), tmp_path / "out", adversary, seed=2)
    check_same(published, published_in_memory(table, frame, defense, adversary, 2))


def test_the_same_bytes_whatever_the_engine_and_after_an_interruption(tmp_path, monkeypatch):
    table, made = on_disk(tmp_path, panel()), []
    defense = Cohorts(3, 6, transitions=CHAIN, rng=1)
    for number, engine in enumerate([Engine(1), Engine(2, 2)]):
        publish_large(table, defense, tmp_path / f"{number}", KNOWN, seed=7, engine=engine)
        made.append(bytes_of(tmp_path / f"{number}"))
    assert made[0] == made[1]
    write, calls = module.write_part, []

    def fails(path, *arguments, **more):
        calls.append(path)
        if len(calls) == 9:
            raise KeyboardInterrupt
        write(path, *arguments, **more)

    monkeypatch.setattr(module, "write_part", fails)
    with pytest.raises(KeyboardInterrupt):
        publish_large(table, defense, tmp_path / "killed", KNOWN, seed=7)
    monkeypatch.undo()
    for other in (MarkovChain(1, 0.5 * np.eye(3) + 0.5 / 3), None):
        with pytest.raises(ValueError, match="another"):
            publish_large(table, Cohorts(3, 6, transitions=other), tmp_path / "killed", KNOWN, seed=7)
    publish_large(table, defense, tmp_path / "killed", KNOWN, seed=7)
    assert bytes_of(tmp_path / "killed") == made[0]


def test_without_ghosts_no_column_and_all_else_from_disk(tmp_path):
    table = on_disk(tmp_path, panel(leave=0))
    published = publish_large(table, Cohorts(3, 6), tmp_path / "out", KNOWN, seed=7)
    for name in ("public/published.parquet", "private/groups.parquet"):
        assert not {"ghost", "ghosts", "published"} & set(rows(published.folder / name))
    attack_large(published, KNOWN, tmp_path / "beliefs")
    assert not verify_large(published, KAnonymity(6))["failing"].any()
    with pytest.raises(ValueError, match="has no beliefs of an assumed adversary"):
        verify_large(published, JSimilarity(0.5), KNOWN)


@pytest.fixture(scope="module", params=[0, 1], ids=["returners", "withheld beside ghosts"])
def carried(request, tmp_path_factory):
    """A publication with ghosts and returners, and its releases in memory."""
    folder, frame = tmp_path_factory.mktemp("carried"), panel(160, 5, leave=0.2, back=0.3)
    table = on_disk(folder, frame)

    def defense(rng=None):
        return Cohorts(2, 6, transitions=CHAIN, priors=3.0, wait=2, ends=request.param, rng=rng)

    published = publish_large(table, defense(), folder / "out", KNOWN, seed=4)
    releases = published_in_memory(table, frame, defense, KNOWN, 4)
    assert sum(one.ghosts for one in published.releases) > 10
    beside = [set(one.observation.ghosts.respondents) & set(one.view.people.respondents) for one in releases[1:]]
    assert any(beside)
    return published, releases


OTHER = GhostChain(MarkovChain(1, 0.2 * np.eye(3) + 0.8 / 3))
LEAVING = Presence(np.array([0.05, 0.1, 0.4]), np.array([0.1, 0.05, 0.1]), 0.3)


def check_beliefs(carried, attack, folder, atol=1e-9):
    """Beliefs about all published respondents, and about no ghost, and notes are those in memory; return the manifest."""
    published, releases = carried
    attack_large(published, attack, folder)
    made = attack(releases)
    for number, (release, one) in enumerate(zip(releases, made, strict=True)):
        names, found = release.view.people.respondents[release.group >= 0], beliefs_of(folder, number, 3)
        assert set(found) == set(names)
        rows = np.array([found[who] for who in names])
        np.testing.assert_allclose(rows, one.posterior.probabilities[release.group >= 0], rtol=0, atol=atol)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["notes"] == list(map(str, made.notes))
    return manifest


@pytest.mark.parametrize("read", [(), ("presence",), ("presence", "relations")])
@pytest.mark.parametrize("gaps", ["ignore", "power"])
@pytest.mark.parametrize("mechanism", [GhostChain(), OTHER], ids=["own chain", "other chain"])
def test_the_graph_of_groups_reads_ghosts_as_in_memory(carried, tmp_path, read, gaps, mechanism):
    names = sorted({who for release in carried[1] for who in release.view.people.respondents})
    couples = Relations(nx.Graph([*zip(names[::3], names[1::3], strict=False)]), 1 + np.eye(3))
    parts = {"presence": LEAVING, "relations": couples}
    known = {name: parts[name] for name in read}
    adversary = Adversary(UniformPrior(), CHAIN, gaps=gaps, mechanism=mechanism, **known)
    for hindsight in (True, False):
        manifest = check_beliefs(carried, JointAttack(adversary, GroupGraph(), hindsight), tmp_path / f"{hindsight}")
        assert manifest["returned"] > 0
        assert "published again after ghosts" in manifest["notes"][-1]


@pytest.mark.parametrize(("presence", "gaps"), [(None, "ignore"), (LEAVING, "power")], ids=["none", "presence"])
@pytest.mark.parametrize("partitions", [1, 2])
def test_partitions_read_ghosts_as_in_memory(carried, tmp_path, monkeypatch, presence, gaps, partitions):
    def ranges(published, release):
        records = published.releases[release].records + published.releases[release].ghosts
        return list(pairwise(records * part // partitions for part in range(partitions + 1)))

    monkeypatch.setattr(LargeReleases, "ranges", ranges)
    adversary = Adversary(UniformPrior(), CHAIN, gaps=gaps, mechanism=OTHER, presence=presence)
    for hindsight, solver in ((True, GroupMessages), (False, MaxEntropy)):
        attack, folder = JointAttack(adversary, solver(1e-6, 10_000), hindsight), tmp_path / solver.__name__
        manifest = check_beliefs(carried, attack, folder, 1e-9 if partitions == 1 else 1e-4)
        assert manifest["partitions"] == partitions
        assert (manifest["shared_groups"] > 0) == (partitions > 1)


@pytest.mark.parametrize("chain", [CHAIN, None])
@pytest.mark.parametrize("gaps", ["ignore", "power"])
def test_the_sequential_attack_reads_ghosts_as_in_memory(carried, tmp_path, chain, gaps):
    for number, mechanism in enumerate([GhostChain(), OTHER]):
        attack = SequentialAttack(Adversary(UniformPrior(), chain, gaps=gaps, mechanism=mechanism))
        check_beliefs(carried, attack, tmp_path / f"{number}")


def test_an_interrupted_sequential_attack_reads_the_ghosts_that_it_wrote(carried, tmp_path, monkeypatch):
    adversary, write, written = Adversary(UniformPrior(), CHAIN, mechanism=OTHER), attack_module.write_part, []

    def fails(path, part):
        written.append(path)
        if len(written) == 5:
            raise KeyboardInterrupt
        write(path, part)

    monkeypatch.setattr(attack_module, "write_part", fails)
    with pytest.raises(KeyboardInterrupt):
        attack_large(carried[0], adversary, tmp_path / "beliefs")
    attack_large(carried[0], adversary, tmp_path / "beliefs")
    attack_large(carried[0], adversary, tmp_path / "whole")
    assert bytes_of(tmp_path / "beliefs") == bytes_of(tmp_path / "whole")


def test_ghosts_are_in_no_measure_but_for_the_shares_of_their_groups(carried, tmp_path):
    published, releases = carried
    adversary = Adversary(UniformPrior(), CHAIN, mechanism=GhostChain())
    attack_large(published, JointAttack(adversary), tmp_path / "beliefs")
    found = measure_large(published, tmp_path / "beliefs", adversary)
    beliefs, history = JointAttack(adversary)(releases), History([release.view for release in releases])
    names = ["gain", "confidence", "suppressed"]
    expected = adversary_gain(beliefs, history).join(adversary_confidence(beliefs, history)[["confidence"]])
    pd.testing.assert_frame_equal(found.risk[names], expected[names])
    for table in (average_group_size(releases), discernibility(releases)):
        pd.testing.assert_frame_equal(found.loss[list(table)], table)


def test_what_is_refused(tmp_path):
    table = on_disk(tmp_path, panel())
    published = publish_large(table, Cohorts(3, 6, transitions=CHAIN), tmp_path / "out", KNOWN)
    for attack in (KNOWN, JointAttack(KNOWN)):
        with pytest.raises(
            ValueError, match=r"the release at 1 has \d+ ghosts.* give Adversary\(\.\.\., mechanism=GhostCh"
        ):
            attack_large(published, attack, tmp_path / "beliefs")
    assert not (tmp_path / "beliefs").exists()
    with pytest.raises(ValueError, match="give adversary="):
        publish_large(table, Cohorts(3), tmp_path / "a")
    with pytest.raises(ValueError, match="the last 5 of 5 views are held back"):
        publish_large(table, Cohorts(3, ends=5), tmp_path / "b", KNOWN)
    with pytest.raises(ValueError, match="there is no chain by which ghosts carry on"):
        publish_large(table, Cohorts(3, 6), tmp_path / "c", KNOWN)
    twice = pd.concat([panel(), panel()[:1]])
    with pytest.raises(ValueError, match="appears twice in the release at"):
        publish_large(on_disk(tmp_path / "twice", twice), Cohorts(3), tmp_path / "d", KNOWN)
