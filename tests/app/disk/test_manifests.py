"""Manifests on disk: notes on beliefs as in memory, checksums of all files, and folders without one."""

import json
import re

import numpy as np
import pytest
from large_history import in_memory, visits

from foreknow.app.disk import LargeTable, attack_large, measure_large, publish_large
from foreknow.app.disk.publication import LargeReleases
from foreknow.app.publication import Listing, differences
from foreknow.attacks import JointAttack, SequentialAttack
from foreknow.attacks.belief_notes import repeated_pairs
from foreknow.defenses import KAnonymity, Mondrian
from foreknow.models import Adversary, Auto, GroupMessages, MarkovChain, MaxEntropy, Omega, UniformPrior

CHAIN = MarkovChain(1, 0.6 * np.eye(4) + 0.1)


def on_disk(tmp_path, frame):
    frame.to_parquet(tmp_path / "visits.parquet")
    return LargeTable.infer(tmp_path / "visits.parquet", ["age", "sex", "place"], time="week")


def test_evidence_that_is_counted_twice_is_told_as_in_memory(tmp_path):
    frame = visits(people=120)
    published = publish_large(on_disk(tmp_path, frame), Mondrian(KAnonymity(4)), tmp_path / "out", block=50)
    attack = SequentialAttack(Adversary(UniformPrior(), CHAIN, estimator=Omega()))
    found = json.loads((attack_large(published, attack, tmp_path / "beliefs") / "manifest.json").read_text())
    releases = in_memory(published, frame)
    assert found["repeated_pairs"] == repeated_pairs(release.observation for release in releases)
    assert found["repeated_pairs"] > 0.25
    assert tuple(found["notes"]) == attack(releases).notes
    crowded = SequentialAttack(Adversary(UniformPrior(), CHAIN, estimator=Auto(limit=1, pairs=1)))
    found = json.loads((attack_large(published, crowded, tmp_path / "crowded") / "manifest.json").read_text())
    assert tuple(found["notes"]) == crowded(releases).notes
    assert "groups are too large for an exact posterior" in found["notes"][1]
    alone = attack_large(published, Adversary(UniformPrior(), estimator=Omega()), tmp_path / "alone")
    assert json.loads((alone / "manifest.json").read_text())["notes"] == []


def test_groups_that_contradict_the_knowledge_are_told(tmp_path):
    published = publish_large(
        on_disk(tmp_path, visits(people=100, releases=2)), Mondrian(KAnonymity(4)), tmp_path / "out", block=50
    )
    never = MarkovChain(1, np.eye(4)[[1, 2, 3, 0]])
    adversary = Adversary(UniformPrior(), never, estimator=Omega())
    for attack in (SequentialAttack(adversary), JointAttack(adversary, MaxEntropy(1e-2, 20))):
        folder = attack_large(published, attack, tmp_path / type(attack).__name__)
        found = json.loads((folder / "manifest.json").read_text())
        groups, doubtful = sum(one.groups for one in published.releases), sum(found["doubtful_groups"])
        assert doubtful > 0
        words = rf"{doubtful} of {groups} groups contradicts? the adversary's knowledge, or the beliefs in them did not"
        assert any(re.match(words, note) for note in found["notes"])


def test_the_manifest_of_beliefs_lists_its_files(tmp_path):
    published = publish_large(on_disk(tmp_path, visits()), Mondrian(KAnonymity(4)), tmp_path / "out", block=50)
    adversary = Adversary(UniformPrior(), CHAIN, estimator=Omega())
    for attack in (SequentialAttack(adversary), JointAttack(adversary, GroupMessages())):
        folder = attack_large(published, attack, tmp_path / type(attack).__name__)
        content = json.loads((folder / "manifest.json").read_text())
        listing = Listing(folder / "manifest.json", content["sha256"])
        assert differences(folder, listing) == []
        assert set(content["versions"]) >= {"duckdb", "pyarrow", "numba"}
        part = folder / "release-0001" / "part-00000.parquet"
        part.write_bytes(part.read_bytes()[:-1] + b"x")
        with pytest.raises(
            ValueError, match=r"release-0001/part-00000\.parquet of .* is changed; run the attack again"
        ):
            measure_large(published, folder, adversary)
        part.unlink()
        with pytest.raises(ValueError, match=r"part-00000\.parquet of .* is missing"):
            measure_large(published, folder, adversary)


@pytest.mark.parametrize(
    "content",
    ["[]", "3", "null", "{}", '{"sha256": {}, "records": "0", "program": "foreknow"}', '{"settings": []}', "x"],
)
def test_what_is_no_publication_from_disk_is_named(tmp_path, content):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "manifest.json").write_text(content)
    with pytest.raises(ValueError, match=f"{tmp_path.name} is not a publication from disk; leave out --from-disk"):
        LargeReleases(tmp_path)
