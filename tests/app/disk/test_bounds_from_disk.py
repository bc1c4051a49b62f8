"""Sizes of atoms and bounds from disk: the numbers in memory, with ghosts, returners and any adversary that bounds read."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from large_history import CHAIN, KNOWN, beliefs_of, in_memory, on_disk, panel, published_in_memory, visits

from foreknow.app.disk import Engine, LargeTable, bound_large, publish_large, role_anonymity_large
from foreknow.app.disk.bounds import counted_sides_large
from foreknow.app.exposure import counted_sides
from foreknow.defenses import Cohorts, KAnonymity, Mondrian
from foreknow.evaluation import bound, role_anonymity
from foreknow.evaluation.risk import bounds as module
from foreknow.models import (
    Adversary,
    ClassFrequencies,
    CompromisedRecords,
    EvidenceCascade,
    GhostChain,
    GivenPrior,
    History,
    MarkovChain,
    Presence,
    UniformPrior,
)


@pytest.fixture(scope="module")
def cohorts(tmp_path_factory):
    """A publication with ghosts and returners, and its releases in memory."""
    folder, frame = tmp_path_factory.mktemp("cohorts"), panel(160, 5, leave=0.2, back=0.3)
    table = on_disk(folder, frame)

    def defense(rng=None):
        return Cohorts(2, 6, transitions=CHAIN, priors=3.0, wait=2, rng=rng)

    published = publish_large(table, defense(), folder / "out", KNOWN, seed=4)
    releases = published_in_memory(table, frame, defense, KNOWN, 4)
    assert sum(one.ghosts for one in published.releases) > 10
    return published, releases, History.read(frame, table.schema, "week")


@pytest.fixture(scope="module")
def mondrian(tmp_path_factory):
    """A publication in blocks, without ghosts, and its releases in memory."""
    folder, frame = tmp_path_factory.mktemp("mondrian"), visits()
    frame.to_parquet(folder / "visits.parquet")
    table = LargeTable.infer(folder / "visits.parquet", ["age", "sex", "place"], time="week")
    published = publish_large(table, Mondrian(KAnonymity(4)), folder / "out", block=60)
    return published, in_memory(published, frame), History.read(frame, table.schema, "week")


@pytest.mark.parametrize("name", ["cohorts", "mondrian"])
def test_atoms_are_those_in_memory(name, request, tmp_path):
    published, releases, _ = request.getfixturevalue(name)
    folder = role_anonymity_large(published, tmp_path / "atoms", engine=Engine(1, 2))
    found = pd.concat([pq.read_table(part).to_pandas() for part in sorted(folder.glob("*.parquet"))])
    expected, order = role_anonymity(releases), ["time", "ghost", "respondent"]
    pd.testing.assert_frame_equal(
        found.sort_values(order).reset_index(drop=True),
        expected.sort_values(order).reset_index(drop=True),
        check_dtype=False,
    )
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []


OTHER = GhostChain(MarkovChain(1, 0.2 * np.eye(3) + 0.8 / 3))
LEAVING = Presence(np.array([0.05, 0.1, 0.4]), np.array([0.1, 0.05, 0.1]), 0.3)
KNOWERS = {
    "alike": lambda _: {"prior": UniformPrior(), "transitions": CHAIN},
    "without a chain": lambda prior: {"prior": prior},
    "classes": lambda prior: {"prior": prior, "transitions": CHAIN},
    "steps in gaps": lambda prior: {"prior": prior, "transitions": CHAIN, "gaps": "power"},
    "another chain of ghosts": lambda prior: {"prior": prior, "transitions": CHAIN, "mechanism": OTHER},
    "presence": lambda prior: {"prior": prior, "transitions": CHAIN, "presence": LEAVING},
}


def check_bounds(folder, releases, adversary):
    """Bounds of a folder on all published records, and on no other ones, are those in memory."""
    expected = bound(releases, adversary)
    for t, (seen, upper) in enumerate(zip(expected.observations, expected.upper, strict=True)):
        shown = seen.group >= 0
        found = beliefs_of(folder, t, upper.shape[1])
        assert set(found) == set(seen.people.respondents[shown])
        rows = np.array([found[who] for who in seen.people.respondents[shown]])
        np.testing.assert_allclose(rows, upper[shown], rtol=0, atol=1e-12)


@pytest.mark.parametrize("block", [1, 100, 10**6])
@pytest.mark.parametrize("name", KNOWERS)
def test_bounds_are_those_in_memory(cohorts, tmp_path, name, block):
    published, releases, history = cohorts
    knowledge = KNOWERS[name](ClassFrequencies.fit(history, {"sex": None}, 0.5))
    adversary = Adversary(**{"mechanism": GhostChain()} | knowledge)
    folder = bound_large(published, adversary, tmp_path / "bounds", block=block)
    parts = len([*folder.rglob("part-*.parquet")])
    assert parts == len(releases) if block == 10**6 else parts > 2 * len(releases)
    check_bounds(folder, releases, adversary)


def test_bounds_of_releases_without_ghosts(mondrian, tmp_path):
    published, releases, _ = mondrian
    chain = MarkovChain(1, 0.6 * np.eye(4) + 0.1)
    for number, adversary in enumerate([Adversary(UniformPrior(), chain), Adversary(UniformPrior())]):
        check_bounds(bound_large(published, adversary, tmp_path / f"{number}", block=50), releases, adversary)


@pytest.mark.parametrize("name", ["cohorts", "mondrian"])
def test_the_verdict_by_the_groups_alone_is_that_in_memory(name, request):
    published, releases, _ = request.getfixturevalue(name)
    observations = [one.observation for one in releases]
    found = [counted_sides_large(published, sure) for sure in (0.5, 0.7, 0.9)]
    assert found == [counted_sides(observations, sure) for sure in (0.5, 0.7, 0.9)]
    assert any(one.exposed < (one.at_most or 0) < one.respondents for one in found)
    assert found[0].at_most is None


@pytest.mark.parametrize("kinds", [2, 200])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_atoms_of_many_kinds_do_not_depend_on_the_batch(tmp_path, monkeypatch, order, kinds):
    """A prior of a later cell is met first in another cell, which is of another batch."""
    monkeypatch.setattr(module, "MAX_KINDS", kinds)
    people, listed = np.r_[0:12, 0:24], np.repeat([0, 1], [12, 24])
    columns = {"id": people, "age": 30 + people % 2, "sex": np.array(["f", "m"])[people // 12], "week": listed}
    frame = pd.DataFrame(columns | {"result": np.array(["u", "v", "w"])[people % 3]})
    table = on_disk(tmp_path, frame)
    rows = np.array([[0.3, 0.3, 0.4], [0.32, 0.33, 0.35], [0.4, 0.3, 0.3]])[list(order)]
    published = publish_large(table, Cohorts(12, 12), tmp_path / "out", Adversary(UniformPrior()), seed=3)
    releases = published_in_memory(table, frame, lambda rng: Cohorts(12, 12, rng=rng), Adversary(UniformPrior()), 3)
    beliefs = pd.DataFrame(rows[[2] * 12 + [0, 1, 2] * 4], range(24), ["u", "v", "w"])
    adversary = Adversary(GivenPrior(beliefs), CHAIN)
    assert bound(releases, adversary).upper[1][12:].max() < 0.9
    for block in (1, 10**6):
        check_bounds(bound_large(published, adversary, tmp_path / f"{block}", block=block), releases, adversary)


def test_what_is_refused(mondrian, tmp_path):
    published, _, history = mondrian
    frame = pd.DataFrame({"respondent": ["p1"], "time": [0], "value": ["v1"], "confidence": [1.0]})
    adversary = Adversary(UniformPrior(), cascade=EvidenceCascade(), compromised=CompromisedRecords(frame))
    with pytest.raises(ValueError, match=r"bound_large.*compromised"):
        bound_large(published, adversary, tmp_path / "a")
    with pytest.raises(ValueError, match="transitions are of order 2"):
        bound_large(published, Adversary(UniformPrior(), MarkovChain(2, np.full((4, 4, 4), 0.25))), tmp_path / "b")
    assert not list(tmp_path.iterdir())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for make in (role_anonymity_large, lambda *arguments: bound_large(arguments[0], KNOWN, arguments[1])):
        with pytest.raises(ValueError, match="holds something else; name a folder that does not exist"):
            make(published, tmp_path / "full")
    with pytest.raises(TypeError, match="published is"):
        role_anonymity_large(history, tmp_path / "c")
