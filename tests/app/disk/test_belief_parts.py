"""Content of the parts of beliefs on disk: positive beliefs alone, and one row for each respondent seen."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from large_history import beliefs_of, in_memory, visits

from foreknow.app.disk import LargeTable, attack_large, publish_large
from foreknow.app.disk import attack as attack_module
from foreknow.app.disk import publication as publication_module
from foreknow.app.disk.parts import part_paths
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.defenses import JSReduce, KAnonymity, Mondrian
from foreknow.models import Adversary, GroupMessages, MarkovChain, MaxEntropy, Omega, UniformPrior

VALUES = 8
CHAIN = MarkovChain(1, 0.6 * np.eye(VALUES) + 0.4 / VALUES)
NEIGHBORS = MarkovChain(1, 0.5 * (np.eye(VALUES) + np.roll(np.eye(VALUES), 1, axis=1)))
"""A chain with zeros: a value stays, or becomes the next one."""


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


def constant_visits():
    """Visits in which each respondent keeps one value, which `NEIGHBORS` allows."""
    frame = visits(people=80, values=VALUES)
    return frame.assign(result=[f"v{int(name[1:]) % VALUES}" for name in frame["id"]])


@pytest.mark.parametrize(
    "attack",
    [
        SequentialAttack(Adversary(UniformPrior(), NEIGHBORS, estimator=Omega())),
        JointAttack(Adversary(UniformPrior(), NEIGHBORS), GroupMessages(1e-2)),
        JointAttack(Adversary(UniformPrior(), NEIGHBORS), MaxEntropy(1e-2)),
    ],
    ids=["sequential", "group-messages", "max-entropy"],
)
def test_only_positive_beliefs_are_kept(tmp_path, attack):
    frame = constant_visits()
    published = publish_large(on_disk(tmp_path, frame), Mondrian(KAnonymity(3)), tmp_path / "out", block=25, seed=3)
    folder = attack_large(published, attack, tmp_path / "beliefs")
    releases = in_memory(published, frame)
    left_out = 0
    for number, (release, expected) in enumerate(zip(releases, attack(releases), strict=True)):
        for part in part_paths(folder, number):
            table = pq.read_table(part)
            kept = table["probabilities"].combine_chunks().flatten().to_numpy()
            assert (kept > 0).all()
            left_out += len(table) * VALUES - len(kept)
        shown, found = release.group >= 0, beliefs_of(folder, number, VALUES)
        rows = np.array([found[who] for who in release.view.people.respondents[shown]])
        in_the_same_groups = expected.posterior.probabilities[shown]
        np.testing.assert_array_equal(rows > 0, in_the_same_groups > 0)
    assert left_out > 0


def published_respondents(published, release):
    """Respondents of a release, without suppressed ones."""
    tables = [
        pq.read_table(part).to_pandas() for part in part_paths(published.folder / "private" / "groups.parquet", release)
    ]
    return {who for table in tables for who in table.loc[table["group"] >= 0, "id"]}


@pytest.fixture
def merged(monkeypatch):
    """For each file of merged beliefs, its respondents, and the number of such files that lie beside it."""
    found, merge = [], attack_module.write_last

    def recorded(*arguments):
        path = merge(*arguments)
        respondents = pq.read_table(path)["respondent"].to_pylist()
        found.append((respondents, len(list(path.parent.glob("beliefs-*.parquet")))))
        return path

    for module in (attack_module, publication_module):
        monkeypatch.setattr(module, "write_last", recorded)
    return found


@pytest.mark.parametrize("releases", [2, 6])
@pytest.mark.parametrize("step", ["publish", "attack"])
def test_earlier_beliefs_have_one_row_for_each_respondent_seen(tmp_path, merged, releases, step):
    """Their number is at most that of the people, whatever the number of releases; the file of the last release alone is kept."""
    people = 80
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    table = on_disk(tmp_path, visits(people=people, releases=releases, values=VALUES))
    defense = JSReduce(3, 0.9, 0.9, patience=5) if step == "publish" else Mondrian(KAnonymity(4))
    published = publish_large(table, defense, tmp_path / "out", adversary, block=40, seed=1)
    if step == "attack":
        merged.clear()
        attack_large(published, adversary, tmp_path / "beliefs")
    assert len(merged) == releases - 1
    seen = set()
    for release, (respondents, files) in enumerate(merged):
        seen |= published_respondents(published, release)
        assert sorted(respondents) == sorted(seen)
        assert len(respondents) <= people
        assert files == 1
